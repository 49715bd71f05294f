//! A module as a table.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::slice;

use comfy_table::CellAlignment;
use comfy_table::presets::UTF8_FULL;
use jaxide::core::prims::Prim;
use jaxide::core::{Atom, Aval, Jaxpr, primitive_cost};
use jaxide::tree::Pytree;
use jaxide::{Array, Result, make_jaxpr_of};

use crate::graph::{Def, Flatten, LeafContent, Style};
use crate::observe::{Observed, observe, scope};
use crate::print::{Sizes, grouped, root, sizes};
use crate::{KindRef, Module, Path};

/// What [`tabulate`] gives; printed, a table.
#[derive(Clone, Debug)]
pub struct Table {
    name: String,
    kinds: Vec<KindRef>,
    rows: Vec<Row>,
}

/// A module of the table.
#[derive(Clone, Debug, Default)]
struct Row {
    path: Path,
    name: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
    flops: Option<u64>,
    /// By the name of their kind.
    variables: BTreeMap<&'static str, Variables>,
}

/// Variables of a kind.
#[derive(Clone, Debug, Default)]
struct Variables {
    /// Those that are attributes of this very module.
    own: Vec<String>,
    /// Those of the module and its parts.
    all: Sizes,
}

/// A table of a module and its parts: path, type, what goes in and comes out, arithmetic operations, and variables with their sizes by
/// kind. `call` is applied to a copy of the module and `args`, which may be [specifications](Array::spec); nothing is computed.
///
/// Operations are counted from the jaxpr, before anything is fused: a product counts two for each term. What goes in and comes out is known of
/// layers of this crate and of methods with [`observed`](crate::observed); a variable that several modules share stands with the first.
///
/// ```
/// use jaxide_nnx::{self as nnx, Linear, Module, Rngs, observed};
/// use jaxide::{Array, DType, nn};
/// #[derive(Clone, Module)]
/// struct Mlp { hidden: Linear, out: Linear }
/// impl Mlp {
///     #[observed]
///     fn call(&self, x: &Array) -> Array { self.out.call(&nn::relu(&self.hidden.call(x))) }
/// }
/// let rngs = Rngs::new(0);
/// let mlp = Mlp { hidden: Linear::new(2, 8, &rngs, ()), out: Linear::new(8, 1, &rngs, ()) };
/// let table = nnx::tabulate(&mlp, |mlp: &Mlp, x: Array| mlp.call(&x), Array::spec(DType::F32, [4, 2]))?;
/// assert_eq!(table.flops("hidden"), Some(2 * 4 * 2 * 8 + 4 * 8));
/// assert_eq!(table.parameters(), 33);
/// println!("{table}");
/// # Ok::<(), nnx::Error>(())
/// ```
///
/// # Errors
/// When `call` cannot be traced with these arguments.
pub fn tabulate<M, Args, Out>(
    module: &M,
    call: impl Fn(&M, Args) -> Out,
    args: Args,
) -> Result<Table>
where
    M: Module + Clone + 'static,
    Args: Pytree<Array> + Clone + 'static,
    Out: Pytree<Array>,
{
    let calls = RefCell::new(Vec::new());
    let traced = |module: M, args: Args| {
        let (out, seen) = observe(&module, || call(&module, args));
        calls.replace(seen);
        out
    };
    let jaxpr = make_jaxpr_of(&traced, (module.clone(), args))?;
    let mut table = Table::of(module);
    table.note(&calls.into_inner(), &jaxpr.jaxpr);
    Ok(table)
}

impl Table {
    /// The rows without calls.
    fn of(module: &impl Module) -> Self {
        let flat = Flatten::of(module);
        let mut rows = Vec::new();
        modules(&mut flat.defs.iter(), &Path::default(), &mut rows);
        let name = rows
            .first()
            .map_or_else(String::new, |row| row.name.clone());
        let mut table = Table {
            name,
            kinds: Vec::new(),
            rows,
        };
        for leaf in &flat.leaves {
            if let LeafContent::Variable(variable) = &leaf.content {
                table.variable(&leaf.path, root(variable.kind()), variable.value().arrays());
            }
        }
        table.kinds.sort_by_key(|kind| kind.name());
        table.rows.retain(|row| row.name != "RngStream");
        table
    }

    /// Adds a variable to the module whose attribute it is, and to all around that.
    fn variable(&mut self, path: &Path, kind: KindRef, arrays: &[Array]) {
        if arrays.is_empty() {
            return;
        }
        if !self.kinds.contains(&kind) {
            self.kinds.push(kind);
        }
        for row in &mut self.rows {
            let Some(below) = path.strip_prefix(&row.path[..]) else {
                continue;
            };
            let variables = row.variables.entry(kind.name()).or_default();
            variables.all = variables.all + sizes(arrays);
            if let [name] = below {
                let types: Vec<String> = arrays.iter().map(described).collect();
                variables.own.push(format!("{name}: {}", types.join(", ")));
            }
        }
    }

    /// Adds what was seen of calls: of the first what goes in and comes out, of all of them the operations.
    fn note(&mut self, calls: &[Observed], jaxpr: &Jaxpr) {
        let mut flops = BTreeMap::new();
        count(jaxpr, 1, &[], &mut flops);
        for (number, call) in calls.iter().enumerate() {
            let Some(row) = self.rows.iter_mut().find(|row| row.path == call.path) else {
                continue;
            };
            if row.outputs.is_empty() {
                row.inputs = call.inputs.iter().map(described).collect();
                row.outputs = call.outputs.iter().map(described).collect();
            }
            let one = flops.get(&scope(number)).copied().unwrap_or(0);
            row.flops = Some(row.flops.unwrap_or(0) + one);
        }
    }

    fn row(&self, path: impl Into<Path>) -> Option<&Row> {
        let path = path.into();
        self.rows.iter().find(|row| row.path == path)
    }

    /// Arithmetic operations of the calls of the part at `path`, if any was seen.
    pub fn flops(&self, path: impl Into<Path>) -> Option<u64> {
        self.row(path)?.flops
    }

    /// All variables of the whole module.
    fn total(&self) -> Sizes {
        let all = self.rows.first().map(|row| row.variables.values());
        let sizes = all.into_iter().flatten().map(|variables| variables.all);
        sizes.fold(Sizes::default(), std::ops::Add::add)
    }

    /// The number of elements of all variables of the whole module.
    pub fn parameters(&self) -> usize {
        self.total().elements
    }
}

/// `float32[4,2]`.
fn described(array: &Array) -> String {
    let lengths: Vec<String> = array.shape().iter().map(usize::to_string).collect();
    format!("{}[{}]", array.dtype().numpy_name(), lengths.join(","))
}

/// Adds a row for each module of the next place of a graph.
fn modules(defs: &mut slice::Iter<'_, Def>, path: &Path, rows: &mut Vec<Row>) {
    match defs.next() {
        Some(Def::Node(node)) => {
            if matches!(node.style, Style::Module | Style::Object) {
                rows.push(Row {
                    path: path.clone(),
                    name: node.name.to_string(),
                    ..Row::default()
                });
            }
            for key in node.keys.iter() {
                modules(defs, &path.child(key.clone()), rows);
            }
        }
        Some(Def::Shared(_) | Def::Any(_)) => modules(defs, path, rows),
        Some(
            Def::Variable { .. }
            | Def::Ref(_)
            | Def::Array
            | Def::Data(_)
            | Def::Leaf(_)
            | Def::Static(_)
            | Def::None,
        )
        | None => {}
    }
}

/// Adds operations to each of the scopes that they stand in, of which some, `outside`, have them already.
fn count(jaxpr: &Jaxpr, times: u64, outside: &[&str], flops: &mut BTreeMap<String, u64>) {
    for eqn in &jaxpr.eqns {
        let names = eqn.source.scope().map_or("", |scope| scope.names());
        let names: Vec<&str> = names.split('/').collect();
        let inputs: Vec<Aval> = eqn.inputs.iter().map(|&atom| jaxpr.aval(atom)).collect();
        let outputs = eqn.outputs.iter().map(|&var| jaxpr.aval(Atom::Var(var)));
        let cost = primitive_cost(&eqn.prim, &inputs, &outputs.collect::<Vec<_>>());
        for name in names.iter().filter(|name| !outside.contains(name)) {
            *flops.entry((*name).to_owned()).or_default() += cost.flops.saturating_mul(times);
        }
        let inside = [outside, &names[..]].concat();
        // Branches and loops whose turns nobody knows are counted by what is around them alone.
        if let Prim::Scan(scan) = &eqn.prim {
            let turns = times.saturating_mul(scan.length as u64);
            count(&scan.jaxpr.jaxpr, turns, &inside, flops);
        } else if let Prim::Jit(call) = &eqn.prim {
            count(&call.jaxpr.jaxpr, times, &inside, flops);
        } else if let Prim::Remat(call) = &eqn.prim {
            count(&call.jaxpr.jaxpr, times, &inside, flops);
        }
    }
}

impl Row {
    fn cells(&self, kinds: &[KindRef]) -> Vec<String> {
        let mut cells = vec![
            self.path.to_string(),
            self.name.clone(),
            self.inputs.join("\n"),
            self.outputs.join("\n"),
            self.flops.map_or_else(String::new, grouped),
        ];
        cells.extend(
            kinds
                .iter()
                .map(|kind| match self.variables.get(kind.name()) {
                    Some(variables) => {
                        let mut lines = variables.own.clone();
                        lines.push(variables.all.text());
                        lines.join("\n")
                    }
                    None => String::new(),
                }),
        );
        cells
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = comfy_table::Table::new();
        table.load_style(UTF8_FULL);
        let heads = ["path", "type", "inputs", "outputs", "flops"].into_iter();
        table.set_header(heads.chain(self.kinds.iter().map(|kind| kind.name())));
        for row in &self.rows {
            table.add_row(row.cells(&self.kinds));
        }
        if let Some(column) = table.column_mut(4) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        writeln!(f, "{}\n{table}", self.name)?;
        write!(f, "Total: {}", self.total().text())
    }
}
