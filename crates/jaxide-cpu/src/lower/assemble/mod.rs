//! Plan → [`Program`]: every stored value gets its place, every step its statement.
//!
//! Results are written where they are wanted: an output, a slice of a stacked result, the buffer that a loop reads next. Arrays that are
//! updated are updated in place when nothing else reads them any more.

mod control;
mod inherit;
mod liveness;
mod place;

use super::emit::{self, Operand};
use super::fuse::{Item, Nest, Plan, Root, Steps, Storage};
use super::graph::{Def, Graph, NodeId, Op, Region, ValueId};
use super::library;
use super::program::{
    Base, Dynamic, LibraryCall, Output, OutputSource, Place, Program, Step, Stmt, alone, overlay,
    parallel, tiles,
};
use crate::lanes::Body;
use crate::narrow;
use crate::stages::{Stage, StageTimes};
use jaxide_core::{Error, ErrorKind, Result, Shape};
use liveness::LastUses;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet, FxHasher};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Assembles a planned program.
///
/// # Errors
/// When an operation has no kernel, or a nest is too large for a lane program.
pub(crate) fn assemble(
    graph: &Graph,
    plan: &Plan,
    donated: &[usize],
    times: &mut StageTimes,
) -> Result<Program> {
    let mut assembler = Assembler::new(graph, plan);
    assembler.donated = donated
        .iter()
        .filter_map(|&k| graph.root.params.get(k).copied())
        .collect();
    let body = times.measure(Stage::Loops, || assembler.root())?;
    times.shift(Stage::Loops, Stage::Lanes, assembler.in_lanes);
    let mut program = assembler.program;
    program.body = body;
    times.measure(Stage::Loops, || {
        overlay::assign(&mut program);
        tiles::assign(&mut program);
        parallel::assign(&mut program);
        alone::assign(&mut program);
    });
    Ok(program)
}

impl<'a> Assembler<'a> {
    fn new(graph: &'a Graph, plan: &'a Plan) -> Assembler<'a> {
        let program = Program {
            inputs: graph
                .root
                .params
                .iter()
                .map(|&param| (graph.dtype(param), Shape::from_slice(graph.shape(param))))
                .collect(),
            outputs: Vec::new(),
            overwritten: Vec::new(),
            consts: graph.consts.clone(),
            temps: Vec::new(),
            offsets: Vec::new(),
            arena: 0,
            loops: 0,
            pointers: 0,
            kernels: Vec::new(),
            scopes: HashMap::default(),
            origins: HashMap::default(),
            calls: Vec::new(),
            tiles: Vec::new(),
            parallel: Vec::new(),
            body: Vec::new(),
        };
        Assembler {
            graph,
            plan,
            places: HashMap::default(),
            partials: HashMap::default(),
            scratches: HashMap::default(),
            program,
            donated: HashSet::default(),
            lent: HashSet::default(),
            borrowed: HashSet::default(),
            bodies: HashMap::default(),
            in_lanes: Duration::ZERO,
        }
    }
}

/// The node that makes a root.
fn made_by(graph: &Graph, root: &Root) -> Option<NodeId> {
    match root {
        Root::Store(value) | Root::Fold { value, .. } => graph.def(*value),
        Root::Control(id) | Root::Update(id) | Root::Scatter(id) => Some(*id),
    }
}

struct Assembler<'a> {
    graph: &'a Graph,
    plan: &'a Plan,
    /// Places of values that own memory.
    places: HashMap<ValueId, Place>,
    /// Partial results of reductions.
    partials: HashMap<ValueId, Place>,
    /// Where reductions in several nests leave what is not their result.
    scratches: HashMap<ValueId, Place>,
    program: Program,
    /// Arguments that may be overwritten.
    donated: HashSet<ValueId>,
    /// Values whose place a temporary has before them.
    lent: HashSet<ValueId>,
    /// Parameters of regions whose memory is not the region's alone: slices of arrays around a loop, and what a loop's condition
    /// looks at.
    borrowed: HashSet<ValueId>,
    /// The lane programs that kernels have, by what makes them equal.
    bodies: HashMap<u64, SmallVec<[Arc<Body>; 1]>>,
    /// Time that lane programs took.
    in_lanes: Duration,
}

/// Where results of a region should go, by position; `None` leaves it open.
type Targets = Vec<Option<Place>>;

impl Assembler<'_> {
    fn root(&mut self) -> Result<Vec<Stmt>> {
        let graph = self.graph;
        let region = &graph.root;
        for (k, &param) in region.params.iter().enumerate() {
            self.places.insert(param, Place::at(Base::Input(narrow(k))));
        }
        let uses = LastUses::of(self, region, &self.plan.steps, &[]);
        let mut targets: Targets = Vec::new();
        for (k, &result) in region.results.iter().enumerate() {
            let source = match self.output_source(k, result, &uses) {
                OutputSource::Computed => self.source_in_argument(result, &uses),
                other => other,
            };
            let computed = source == OutputSource::Computed;
            targets.push(computed.then(|| Place::at(Base::Output(narrow(k)))));
            self.program.outputs.push(Output {
                dtype: graph.dtype(result),
                shape: Shape::from_slice(graph.shape(result)),
                source,
            });
        }
        self.region(region, &self.plan.steps, &targets, &[])
    }

    fn output_source(&self, k: usize, result: ValueId, uses: &LastUses) -> OutputSource {
        let graph = self.graph;
        let whole = |value: ValueId| graph.value(value).bytes() == graph.value(result).bytes();
        let owner = self.plan.stored.owner(result);
        if let Some(input) = graph.root.params.iter().position(|&param| param == owner)
            && whole(owner)
        {
            return OutputSource::Input(narrow(input));
        }
        if let Some(Op::Const(index)) = graph.op(owner)
            && whole(owner)
        {
            return OutputSource::Const(*index);
        }
        if let Some(other) = graph.root.results[..k]
            .iter()
            .position(|&other| other == result)
        {
            return OutputSource::Same(narrow(other));
        }
        // The last of the updates that were made in an argument's memory.
        let first = uses.first_version(owner);
        match graph.root.params.iter().position(|&param| param == first) {
            Some(input) if first != owner && whole(owner) => OutputSource::Donated(narrow(input)),
            _ => OutputSource::Computed,
        }
    }

    /// A computed result, made in the memory of a donated argument if one is free for it.
    fn source_in_argument(&mut self, result: ValueId, uses: &LastUses) -> OutputSource {
        let owner = self.plan.stored.owner(result);
        let whole = self.graph.value(owner).bytes() == self.graph.value(result).bytes();
        if !whole || self.places.contains_key(&owner) {
            return OutputSource::Computed;
        }
        let Some((input, param)) = self.heir_of_argument(owner, &self.plan.steps, uses) else {
            return OutputSource::Computed;
        };
        self.donated.remove(&param);
        self.places
            .insert(owner, Place::at(Base::Input(narrow(input))));
        // Until the argument is read no more, its memory is not the result's.
        self.lent.insert(owner);
        self.program.overwritten.push(narrow(input));
        OutputSource::Donated(narrow(input))
    }

    /// The statements of a region whose results go to `targets`, and which may overwrite what it is `given` from around it.
    fn region(
        &mut self,
        region: &Region,
        steps: &Steps,
        targets: &[Option<Place>],
        given: &[ValueId],
    ) -> Result<Vec<Stmt>> {
        let graph = self.graph;
        for &id in &region.nodes {
            if let Op::Const(index) = graph.node(id).op {
                self.places
                    .insert(graph.node(id).results[0], Place::at(Base::Const(index)));
            }
        }
        let uses = LastUses::of(self, region, steps, given);
        // Results that are made here are made in place.
        for (&result, target) in region.results.iter().zip(targets) {
            let Some(target) = target else { continue };
            // An array that updates are made in: the first version goes where the last one is wanted.
            let owner = uses.first_version(self.plan.stored.owner(result));
            let made =
                uses.makes(owner) && graph.value(owner).bytes() == graph.value(result).bytes();
            if made && !self.places.contains_key(&owner) {
                self.places.insert(owner, target.clone());
            }
        }
        let mut stmts = Vec::new();
        for (k, item) in steps.items.iter().enumerate() {
            self.item(k, item, (region, steps), &uses, &mut stmts)?;
        }
        for (&result, target) in region.results.iter().zip(targets) {
            let Some(target) = target else { continue };
            let from = self.place(result)?;
            let bytes = graph.value(result).bytes();
            if from != *target && bytes > 0 {
                stmts.push(Stmt::Copy {
                    from,
                    to: target.clone(),
                    bytes,
                });
            }
        }
        Ok(stmts)
    }

    fn item(
        &mut self,
        k: usize,
        item: &Item,
        of: (&Region, &Steps),
        uses: &LastUses,
        stmts: &mut Vec<Stmt>,
    ) -> Result<()> {
        match item {
            Item::Nest(nest) => self.nest(k, nest, of, uses, stmts),
            Item::Call(id) => self.call(k, *id, of, uses, stmts),
            Item::Loop(id, regions) => match &self.graph.node(*id).op {
                Op::Scan { .. } => self.scan(*id, &regions[0], stmts),
                _ => self.while_loop(*id, &regions[0], &regions[1], stmts),
            },
            Item::Branch(id, regions) => self.branch(*id, regions, uses, stmts),
        }
    }

    fn nest(
        &mut self,
        k: usize,
        nest: &Nest,
        of: (&Region, &Steps),
        uses: &LastUses,
        stmts: &mut Vec<Stmt>,
    ) -> Result<()> {
        let graph = self.graph;
        for root in &nest.roots {
            match root {
                Root::Store(value)
                    if !self.places.contains_key(value)
                        && let Some(place) = self.inherited(k, *value, of, uses) =>
                {
                    self.places.insert(*value, place);
                }
                Root::Store(value) | Root::Fold { value, .. } => {
                    self.place_or_new(*value);
                }
                Root::Control(id) => {
                    for &value in &graph.node(*id).results {
                        if self.storage(value).is_some() {
                            self.place_or_new(value);
                        }
                    }
                }
                Root::Update(id) | Root::Scatter(id) => self.updated(k, *id, uses, stmts)?,
            }
        }
        if nest.domain.contains(&0) {
            // Loops without turns write nothing: reductions of nothing are constants of the graph.
            let unwritten = nest.roots.iter().find_map(|root| match root {
                Root::Fold { value, .. } => (graph.value(*value).len() > 0).then_some(*value),
                Root::Store(_) | Root::Control(_) | Root::Update(_) | Root::Scatter(_) => None,
            });
            return match unwritten {
                None => Ok(()),
                Some(value) => Err(Error::new(
                    ErrorKind::Internal,
                    format!(
                        "a reduction over {:?} leaves its result {:?} unwritten",
                        nest.domain,
                        graph.shape(value)
                    ),
                )),
            };
        }
        if let [Root::Scatter(id)] = nest.roots.as_slice()
            && let Some((call, read)) = self.scatter_call(*id)
        {
            let mut operands = Vec::with_capacity(3);
            for value in read.into_iter().chain([graph.node(*id).results[0]]) {
                operands.push(self.place(value)?);
            }
            self.program.calls.push(call);
            let call = narrow(self.program.calls.len() - 1);
            self.name_step(Step::Call(call), [*id]);
            stmts.push(Stmt::Call { call, operands });
            return Ok(());
        }
        let name = format!("k{}", self.program.kernels.len());
        let start = Instant::now();
        let kernels = match nest.roots.as_slice() {
            [Root::Scatter(id)] => {
                emit::scatter(graph, &self.plan.stored, *id, &name).map(|kernel| vec![kernel])
            }
            _ => emit::nest_kernels(graph, &self.plan.stored, nest, &name),
        };
        self.in_lanes += start.elapsed();
        let kernels = match kernels {
            Ok(kernels) => kernels,
            // Plans keep nests far below what a lane program can have.
            Err(refusal) => {
                return Err(Error::unsupported(format!(
                    "a loop nest over {:?} cannot be made: {refusal:?}",
                    nest.domain
                )));
            }
        };
        for mut kernel in kernels {
            let mut operands = Vec::with_capacity(kernel.operands.len());
            for &operand in &kernel.operands {
                operands.push(self.operand(nest, operand)?);
            }
            self.share(&mut kernel.body);
            self.program.kernels.push(kernel);
            let kernel = narrow(self.program.kernels.len() - 1);
            let nodes = nest.roots.iter().filter_map(|root| made_by(graph, root));
            self.name_step(Step::Kernel(kernel), nodes);
            stmts.push(Stmt::Nest { kernel, operands });
        }
        Ok(())
    }

    /// Makes a lane program that of the kernels before which do the same.
    fn share(&mut self, body: &mut Arc<Body>) {
        let mut hasher = FxHasher::default();
        body.substance().hash(&mut hasher);
        let equal = self.bodies.entry(hasher.finish()).or_default();
        let same = equal
            .iter()
            .find(|other| other.substance() == body.substance());
        match same {
            Some(same) => *body = Arc::clone(same),
            None => equal.push(Arc::clone(body)),
        }
    }

    fn operand(&mut self, nest: &Nest, operand: Operand) -> Result<Place> {
        match operand {
            Operand::Value(value) => self.place(value),
            Operand::Window(value) => {
                let node = self.defining_node(value)?;
                let args = &self.graph.node(node).args;
                let sizes = self.graph.shape(value).to_vec();
                self.window(args[0], &args[1..], &sizes)
            }
            Operand::Result(value) => {
                let updates = nest.roots.iter().find_map(|root| match root {
                    Root::Update(id) if self.graph.node(*id).results[0] == value => Some(*id),
                    _ => None,
                });
                match updates {
                    None => self.place(value),
                    Some(id) => {
                        let args = &self.graph.node(id).args;
                        let sizes = self.graph.shape(args[1]).to_vec();
                        self.window(value, &args[2..], &sizes)
                    }
                }
            }
            Operand::Scratch(value) => {
                if let Some(place) = self.scratches.get(&value) {
                    return Ok(place.clone());
                }
                let node = self.defining_node(value)?;
                let element = self.graph.dtype(self.graph.node(node).args[0]).size();
                let place = self.new_temp(self.graph.value(value).len() * element);
                self.scratches.insert(value, place.clone());
                Ok(place)
            }
            Operand::Partials(value, count) => {
                if let Some(place) = self.partials.get(&value) {
                    return Ok(place.clone());
                }
                let node = self.defining_node(value)?;
                let operand = self.graph.node(node).args[0];
                let element = self.graph.dtype(operand).size() + self.graph.dtype(value).size();
                let place = self.new_temp(self.graph.value(value).len() * count * element);
                self.partials.insert(value, place.clone());
                Ok(place)
            }
        }
    }

    fn defining_node(&self, value: ValueId) -> Result<NodeId> {
        match self.graph.value(value).def {
            Def::Node(id, _) => Ok(id),
            Def::Param => Err(Error::new(
                ErrorKind::Internal,
                "a parameter is not computed",
            )),
        }
    }

    /// The call that makes a scatter, if there is one whose operands are stored.
    fn scatter_call(&self, id: NodeId) -> Option<(LibraryCall, SmallVec<[ValueId; 2]>)> {
        let node = self.graph.node(id);
        let Op::Scatter(spec) = &node.op else {
            return None;
        };
        let stored = |value| self.storage(value).is_some();
        let found = library::scatter(self.graph, node, spec, stored);
        found.filter(|(_, read)| read.iter().all(|&arg| stored(arg)))
    }

    /// The box of a stored array at starts that are stored or known.
    fn window(&mut self, of: ValueId, starts: &[ValueId], sizes: &[usize]) -> Result<Place> {
        let graph = self.graph;
        let mut place = self.place(of)?;
        let layout = emit::Layout::dense(graph.shape(of));
        for (axis, &start) in starts.iter().enumerate() {
            let most = graph.shape(of)[axis] as i64 - sizes[axis] as i64;
            let stride = layout.strides[axis] * graph.dtype(of).size() as i64;
            if most == 0 {
                continue;
            }
            if let Some(known) = graph.int_elements(start) {
                place.offset += known[0].clamp(0, most) * stride;
                continue;
            }
            let index = self.place(start)?;
            place.dynamic.push(Dynamic {
                index,
                dtype: graph.dtype(start),
                most,
                stride,
            });
        }
        Ok(place)
    }

    /// The array that an update writes into: that of its operand where nothing reads it any more, else a copy.
    fn updated(
        &mut self,
        k: usize,
        id: NodeId,
        uses: &LastUses,
        stmts: &mut Vec<Stmt>,
    ) -> Result<()> {
        let graph = self.graph;
        let node = graph.node(id);
        let (x, result) = (node.args[0], node.results[0]);
        if uses.can_update(k, x) && !self.places.contains_key(&result) {
            let place = self.place(x)?;
            if let Base::Input(input) = place.base
                && !self.program.overwritten.contains(&input)
            {
                self.program.overwritten.push(input);
            }
            self.places.insert(result, place);
            return Ok(());
        }
        let from = self.place(x)?;
        let to = self.place_or_new(result);
        if from != to {
            stmts.push(Stmt::Copy {
                from,
                to,
                bytes: graph.value(x).bytes(),
            });
        }
        Ok(())
    }

    fn call(
        &mut self,
        k: usize,
        id: NodeId,
        of: (&Region, &Steps),
        uses: &LastUses,
        stmts: &mut Vec<Stmt>,
    ) -> Result<()> {
        let graph = self.graph;
        let node = graph.node(id);
        let call = match &node.op {
            Op::Call(call) => library::kernel(graph, call, &node.args, &node.results)?,
            other => library::row_kernel(graph, node)
                .ok_or_else(|| Error::unsupported(format!("{other} has no kernel")))?,
        };
        let mut operands = Vec::new();
        for &arg in &node.args {
            operands.push(self.place(arg)?);
        }
        for &result in &node.results {
            if !self.places.contains_key(&result)
                && let Some(place) = self.inherited(k, result, of, uses)
            {
                self.places.insert(result, place);
            }
            operands.push(self.place_or_new(result));
        }
        self.program.calls.push(call);
        let call = narrow(self.program.calls.len() - 1);
        self.name_step(Step::Call(call), [id]);
        stmts.push(Stmt::Call { call, operands });
        Ok(())
    }

    /// Notes the named scopes whose operations a step computes, and the equations: those of its nodes, and of what is computed
    /// on the way to them without being stored.
    fn name_step(&mut self, step: Step, nodes: impl IntoIterator<Item = NodeId>) {
        let graph = self.graph;
        if graph.scopes.is_empty() && graph.origins.is_empty() {
            return;
        }
        let (mut seen, mut scopes, mut origins) =
            (HashSet::default(), BTreeSet::new(), BTreeSet::new());
        let mut open: Vec<NodeId> = nodes.into_iter().collect();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            scopes.extend(graph.scopes.get(&id).map(|scope| scope.names()));
            origins.extend(graph.origins.get(&id).map(|origin| (id, origin.clone())));
            let args = graph.node(id).args.iter();
            let fused = args.filter(|&&arg| self.plan.stored.get(arg).is_none());
            open.extend(fused.filter_map(|&arg| graph.def(arg)));
        }
        if !scopes.is_empty() {
            self.program
                .scopes
                .insert(step, scopes.into_iter().collect());
        }
        if !origins.is_empty() {
            let mut names: Vec<_> = origins.into_iter().map(|(_, origin)| origin).collect();
            names.dedup();
            self.program.origins.insert(step, names);
        }
    }

    fn storage(&self, value: ValueId) -> Option<&Storage> {
        self.plan.stored.get(value)
    }
}
