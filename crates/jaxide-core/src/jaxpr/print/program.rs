//! Writes a program as a document: definitions, binders, equations, parameters.

use super::PrintOptions;
use super::hoist::Hoisted;
use super::names::{FreshNames, VarName, name_alike, unnamed_are_found, unused_results};
use crate::document::{Document, Parts, Style};
use crate::error::Source;
use crate::jaxpr::parse::foreign::{Layout, is_one_value, shifted};
use crate::jaxpr::{Atom, Aval, ClosedJaxpr, Eqn, Jaxpr, Literal, Var, VarMap};
use crate::prims::{ParamValue, Prim, PyValue, RefIndex, RefIndices, indexed_shape};

/// The text of a whole program, its hoisted sub-jaxprs first.
pub(super) fn write(jaxpr: &Jaxpr, options: &PrintOptions) -> String {
    let hoisted = Hoisted::find(jaxpr);
    let parts = Parts::new();
    let mut writer = Writer {
        options,
        names: FreshNames::avoiding(hoisted.all_names()),
        hoisted: &hoisted,
        document: Document::new(&parts, options.width, options.color),
    };
    for (name, definition) in &hoisted.definitions {
        writer.document.text("let ");
        writer.document.text(name);
        writer.document.text(" = ");
        writer.jaxpr(definition, VarMap::new());
        writer.document.text(" in");
        writer.document.line_break(" ");
    }
    writer.jaxpr(jaxpr, unused_results(jaxpr));
    writer.document.layout()
}

struct Writer<'a, 'd> {
    options: &'a PrintOptions,
    names: FreshNames,
    hoisted: &'a Hoisted,
    document: Document<'d>,
}

/// A jaxpr whose equations are being written, with the names its variables have so far.
struct Scope<'a> {
    jaxpr: &'a Jaxpr,
    names: VarMap<VarName>,
}

impl Scope<'_> {
    /// The variable's name, a fresh one if it has none.
    fn name(&mut self, var: Var, fresh: &mut FreshNames) -> VarName {
        if self.jaxpr.var(var).is_some_and(|info| info.dropped) {
            return VarName::Unused;
        }
        let shared = self.jaxpr.var(var).map(|info| info.shared);
        if let Some(&name) = self.names.get(var) {
            shared
                .into_iter()
                .for_each(|shared| fresh.share(shared, name));
            return name;
        }
        let known = shared.and_then(|shared| fresh.of_shared(shared));
        let name = known.unwrap_or_else(|| fresh.fresh());
        shared
            .into_iter()
            .for_each(|shared| fresh.share(shared, name));
        self.names.insert(var, name);
        name
    }
}

impl Writer<'_, '_> {
    /// `{ lambda consts; args. let equations in (results) }`, with some variables named already.
    fn jaxpr(&mut self, jaxpr: &Jaxpr, names: VarMap<VarName>) {
        let scope = &mut Scope { jaxpr, names };
        self.document.open();
        self.document.indent(2);
        self.document.text("{ ");
        self.document.styled("lambda ", Style::Keyword);
        let listed = jaxpr.constvars.iter().copied();
        let listed: Vec<Var> = listed.filter(|&var| !jaxpr.is_captured(var)).collect();
        self.binders(scope, &listed);
        self.document.text("; ");
        self.binders(scope, &jaxpr.invars);
        if self.options.classic {
            self.document.text(".");
            self.document.line_break(" ");
            self.document.styled("let ", Style::Keyword);
            self.document.indent(4);
        } else {
            self.document.text(". ");
            self.document.styled("let", Style::Keyword);
            self.document.indent(2);
            self.document.line_break(" ");
        }
        for (index, eqn) in jaxpr.eqns.iter().enumerate() {
            if index > 0 {
                self.document.line_break("; ");
            }
            self.equation(scope, eqn);
        }
        self.document.dedent();
        self.document.line_break(" ");
        self.document.styled("in ", Style::Keyword);
        self.document.text("(");
        self.atoms(scope, &jaxpr.outvars, ",");
        self.document
            .text(if jaxpr.outvars.len() == 1 { ",)" } else { ")" });
        self.document.dedent();
        self.document.text(" }");
        self.document.close();
    }

    /// Variables with their types, filled.
    fn binders(&mut self, scope: &mut Scope<'_>, vars: &[Var]) {
        self.document.indent(2);
        self.document.open();
        for (index, &var) in vars.iter().enumerate() {
            if index > 0 {
                self.document.fill();
            }
            let name = scope.name(var, &mut self.names);
            self.document.text(&name.text());
            if !self.options.classic {
                self.document
                    .styled(&format!(":{}", scope.jaxpr.aval_of(var)), Style::Type);
            }
        }
        self.document.close();
        self.document.dedent();
    }

    /// Operands or results, filled.
    fn atoms(&mut self, scope: &mut Scope<'_>, atoms: &[Atom], separator: &str) {
        self.document.indent(2);
        self.document.open();
        for (index, &atom) in atoms.iter().enumerate() {
            if index > 0 {
                self.document.text(separator);
                self.document.fill();
            }
            self.atom(scope, atom);
        }
        self.document.close();
        self.document.dedent();
    }

    fn atom(&mut self, scope: &mut Scope<'_>, atom: Atom) {
        let text = match atom {
            Atom::Var(var) => scope.name(var, &mut self.names).text(),
            Atom::Lit(Literal { value, .. }) if self.options.classic => value.to_string(),
            Atom::Lit(literal) => literal.to_string(),
        };
        self.document.text(&text);
    }

    fn equation(&mut self, scope: &mut Scope<'_>, eqn: &Eqn) {
        let remark = self.options.sources && eqn.source != Source::Unknown;
        if remark {
            self.document.remark(eqn.source.to_string());
        }
        if let Prim::RefGet(get) = &eqn.prim {
            return self.ref_get(scope, eqn, &get.indices);
        } else if let Prim::RefSwap(swap) = &eqn.prim {
            return self.ref_swap(scope, eqn, &swap.indices);
        } else if let Prim::RefAddUpdate(update) = &eqn.prim {
            return self.ref_add_update(scope, eqn, &update.indices);
        }
        let body_names = self.call_names(scope, eqn);
        if !eqn.outputs.is_empty() {
            self.binders(scope, &eqn.outputs);
            self.document.text(" = ");
        }
        self.document.text(eqn.prim.name());
        self.params(&eqn.prim, body_names);
        self.document.text(" ");
        self.atoms(scope, &eqn.inputs, "");
    }

    /// The names that the body of a `jit` takes over from the equation, unless it is hoisted.
    fn call_names(&mut self, scope: &mut Scope<'_>, eqn: &Eqn) -> VarMap<VarName> {
        let mut names = VarMap::new();
        let Prim::Jit(jit) = &eqn.prim else {
            return names;
        };
        let body = &jit.jaxpr.jaxpr;
        if self.hoisted.name(body).is_some() {
            return names;
        }
        let results: Vec<Atom> = eqn.outputs.iter().map(|&var| Atom::Var(var)).collect();
        if body.invars.len() == eqn.inputs.len() {
            let vars = body.invars.iter().map(|&var| Some(var));
            name_alike(&mut names, vars, &eqn.inputs, |var| {
                scope.name(var, &mut self.names)
            });
        }
        if body.outvars.len() == results.len() {
            let vars = body.outvars.iter().map(|atom| atom.var());
            name_alike(&mut names, vars, &results, |var| {
                scope.name(var, &mut self.names)
            });
        }
        let results: Vec<Aval> = results.iter().map(|&atom| scope.jaxpr.aval(atom)).collect();
        if !unnamed_are_found(body, &names, &results) {
            names.retain(|_, name| *name != VarName::Unused);
        }
        names
    }

    /// `[key=value key=value]`; a nested jaxpr starts with `body_names`.
    fn params(&mut self, prim: &Prim, body_names: VarMap<VarName>) {
        let params = prim.params();
        let is_foreign = matches!(prim, Prim::Foreign(_));
        if params.is_empty() {
            return;
        }
        let mut body_names = Some(body_names);
        self.document.open();
        self.document.indent(2);
        self.document.text("[");
        self.document.line_break("");
        for (index, (key, value)) in params.iter().enumerate() {
            if index > 0 {
                self.document.line_break(" ");
            }
            self.document.text(key);
            self.document.text("=");
            match value {
                // JAX takes an empty tuple for one of jaxprs, and breaks it where it does not fit.
                ParamValue::Py(PyValue::Tuple(items)) if items.is_empty() => self.jaxpr_tuple(&[]),
                ParamValue::Py(PyValue::Opaque(text)) if is_foreign => self.value(text),
                ParamValue::Py(value) => self.document.text(&value.to_string()),
                ParamValue::Jaxpr(jaxpr) => {
                    self.sub_jaxpr(jaxpr, body_names.take().unwrap_or_default());
                }
                ParamValue::Jaxprs(jaxprs) => self.jaxpr_tuple(jaxprs),
                ParamValue::NamedJaxprs { name, fields } => {
                    let text = self.named_jaxprs(name, fields);
                    self.document.text(&text);
                }
            }
        }
        self.document.dedent();
        self.document.line_break("");
        self.document.text("]");
        self.document.close();
    }

    /// The value of a parameter as it was written. Its layout alone tells where it ends: it gets a line of its own where a
    /// part of it would be read as a parameter otherwise.
    fn value(&mut self, text: &str) {
        let value = text.to_owned();
        let broken = move |indent| {
            if is_one_value(&value, Layout::Lines(indent)) {
                value.clone()
            } else {
                shifted(&value, indent)
            }
        };
        let one_line = is_one_value(text, Layout::Flat);
        self.document.text_by_indent(text, one_line, broken);
    }

    /// A nested jaxpr, or its name when it is hoisted.
    fn sub_jaxpr(&mut self, closed: &ClosedJaxpr, names: VarMap<VarName>) {
        match self.hoisted.name(&closed.jaxpr) {
            Some(name) => self.document.text(name),
            None => self.jaxpr(&closed.jaxpr, names),
        }
    }

    /// `({ ... } { ... })`, without commas.
    fn jaxpr_tuple(&mut self, jaxprs: &[ClosedJaxpr]) {
        self.document.open();
        self.document.indent(2);
        self.document.text("(");
        self.document.line_break("");
        for (index, jaxpr) in jaxprs.iter().enumerate() {
            if index > 0 {
                self.document.line_break(" ");
            }
            self.sub_jaxpr(jaxpr, VarMap::new());
        }
        self.document.dedent();
        self.document.line_break("");
        self.document.text(")");
        self.document.close();
    }

    /// A named tuple: JAX prints it through `repr`, so each jaxpr is a program of its own at the left margin.
    fn named_jaxprs(&self, name: &str, fields: &[(String, Option<ClosedJaxpr>)]) -> String {
        let options = PrintOptions {
            sources: false,
            color: false,
            ..*self.options
        };
        let fields: Vec<String> = fields
            .iter()
            .map(|(key, jaxpr)| match jaxpr {
                Some(closed) => format!("{key}={}", write(&closed.jaxpr, &options)),
                None => format!("{key}=None"),
            })
            .collect();
        format!("{name}({})", fields.join(", "))
    }

    /// `c:f32[2] <- b[0:2]`
    fn ref_get(&mut self, scope: &mut Scope<'_>, eqn: &Eqn, indices: &RefIndices) {
        self.binders(scope, &eqn.outputs);
        self.document.text(" <- ");
        self.reference(scope, &eqn.inputs, 1, indices);
    }

    /// `b[0] <- x`, or `c:f32[], b[0] <- b[0], x` where the old value is used.
    fn ref_swap(&mut self, scope: &mut Scope<'_>, eqn: &Eqn, indices: &RefIndices) {
        let unused = eqn
            .outputs
            .first()
            .is_some_and(|&var| scope.names.get(var) == Some(&VarName::Unused));
        if !unused {
            self.binders(scope, &eqn.outputs);
            self.document.text(", ");
            self.reference(scope, &eqn.inputs, 2, indices);
        } else {
            self.reference(scope, &eqn.inputs, 2, indices);
        }
        self.document.text(" <- ");
        if !unused {
            self.reference(scope, &eqn.inputs, 2, indices);
            self.document.text(", ");
        }
        if let Some(&value) = eqn.inputs.get(1) {
            self.atom(scope, value);
        }
    }

    /// `b[0] += x`
    fn ref_add_update(&mut self, scope: &mut Scope<'_>, eqn: &Eqn, indices: &RefIndices) {
        self.reference(scope, &eqn.inputs, 2, indices);
        self.document.text(" += ");
        if let Some(&value) = eqn.inputs.get(1) {
            self.atom(scope, value);
        }
    }

    /// `b[i,0:2]`: the first operand, indexed; index operands start at `first_index`.
    fn reference(
        &mut self,
        scope: &mut Scope<'_>,
        operands: &[Atom],
        first_index: usize,
        indices: &RefIndices,
    ) {
        let Some(&reference) = operands.first() else {
            return;
        };
        let mut text = match reference {
            Atom::Var(var) => scope.name(var, &mut self.names).text(),
            Atom::Lit(literal) => literal.to_string(),
        };
        if indices.is_empty() {
            text.push_str("[...]");
        }
        let mut shape = scope.jaxpr.aval(reference).shape;
        let mut rest = operands.get(first_index..).unwrap_or(&[]);
        for indexer in indices {
            let avals: Vec<_> = rest.iter().map(|&atom| scope.jaxpr.aval(atom)).collect();
            let mut operand = || match rest.split_first() {
                Some((&atom, after)) => {
                    rest = after;
                    match atom {
                        Atom::Var(var) => scope.name(var, &mut self.names).text(),
                        Atom::Lit(Literal { value, .. }) => value.to_string(),
                    }
                }
                None => "?".to_owned(),
            };
            let axes: Vec<String> = indexer
                .iter()
                .zip(shape.iter().copied().chain(std::iter::repeat(0)))
                .map(|(index, dim)| match *index {
                    RefIndex::Slice {
                        start,
                        size,
                        stride,
                    } => slice_text(start, size, stride, dim),
                    RefIndex::DynamicSlice { size, stride } => {
                        let start = operand();
                        format!("{start}:{start}+{size}{}", stride_text(stride))
                    }
                    RefIndex::Operand => operand(),
                })
                .collect();
            text.push_str(&format!("[{}]", axes.join(",")));
            shape = indexed_shape(&shape, indexer, &avals);
        }
        self.document.text(&text);
    }
}

/// `0:2` of an axis of length `dim`, whose ends are left out.
fn slice_text(start: usize, size: usize, stride: usize, dim: usize) -> String {
    let end = start.saturating_add(size);
    let start = if start == 0 {
        String::new()
    } else {
        start.to_string()
    };
    let end = if end == dim {
        String::new()
    } else {
        end.to_string()
    };
    format!("{start}:{end}{}", stride_text(stride))
}

/// JAX leaves strides out, and what it prints cannot be told from a slice without gaps; here they are shown.
fn stride_text(stride: usize) -> String {
    if stride == 1 {
        String::new()
    } else {
        format!(":{stride}")
    }
}
