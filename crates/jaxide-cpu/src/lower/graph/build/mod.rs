//! jaxpr → [`Graph`]: calls are inlined, every primitive becomes operations of the graph.

mod carried;
mod collective;
mod control;
mod dot;
mod elementwise;
mod float_fields;
mod hoist;
mod indexing;
mod interleave;
mod lay_out;
mod primitive;
mod random;
mod reduction;
mod scan;
mod select_scatter;
mod shape;
mod state;
mod stencil;
mod sums;
mod window;
mod window_steps;

use super::scope::FrameKind;
use super::{Call, Graph, MapOp, Op, Routine, Scope, ValueId};
use crate::narrow;
use interleave::Sparse;
use jaxide_core::prims::{ConvGeneralDilated, Fft, FftType, Name, TriangularSolve};
use jaxide_core::simplify::has_effect;
use jaxide_core::{
    Atom, Aval, AvalKind, ClosedJaxpr, DType, Eqn, Error, ErrorKind, Jaxpr, Result, Source, Tensor,
    VarMap, byte_size,
};
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// How deep calls and loops may nest; a program beyond that is refused instead of exhausting the stack.
const MAX_DEPTH: usize = 400;

/// Builds the graph of a closed jaxpr; with the origins of its nodes if they are to be `named`.
///
/// # Errors
/// When a primitive has no native form, values of constants are not known, or an array is too large.
pub(crate) fn build(closed: &ClosedJaxpr, lanes: Lanes, named: bool) -> Result<Graph> {
    closed.check_consts()?;
    let avals = closed.in_avals();
    for aval in &avals {
        check_array(aval)?;
    }
    let params: Vec<(DType, &[usize])> = avals
        .iter()
        .map(|aval| (aval.dtype, &aval.shape[..]))
        .collect();
    let mut build = Build {
        scope: Scope::new(&params),
        lanes,
        cells: Vec::new(),
        axes: HashMap::default(),
        depth: 0,
        around: None,
        named,
        sparse: HashMap::default(),
    };
    let args: Vec<Binding> = build
        .scope
        .graph
        .root
        .params
        .iter()
        .map(|&value| Binding::Value(value))
        .collect();
    let results = build.call(closed, &args)?;
    let results = results
        .into_iter()
        .map(|binding| build.value(binding))
        .collect::<Result<_>>()?;
    Ok(build.scope.finish(results))
}

/// How a loop whose condition is one per lane goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lanes {
    /// Each lane for itself: in a lane program, with its state in registers.
    Apart,
    /// All lanes as long as one of them does; those that have stopped keep their values.
    Together,
}

/// `equation 2 (scan): equation 0 (add)`, counted from 0 in each body.
fn origin(outer: Option<&str>, k: usize, eqn: &Eqn) -> Arc<str> {
    let name = eqn.prim.name();
    let own = match eqn.source {
        Source::Unknown => format!("equation {k} ({name})"),
        source => format!("equation {k} ({name}, {source})"),
    };
    match outer {
        Some(outer) => format!("{outer}: {own}").into(),
        None => own.into(),
    }
}

fn check_array(aval: &Aval) -> Result<()> {
    byte_size(&aval.shape, aval.dtype)?;
    match aval.kind {
        AvalKind::Array | AvalKind::Token => Ok(()),
        AvalKind::Ref => Err(Error::unsupported(
            "a reference cannot be an argument of a compiled program",
        )),
        AvalKind::Opaque { .. } => Err(Error::unsupported(format!(
            "an argument has the type {aval}, of which only its text is known"
        ))),
    }
}

/// What a variable stands for.
#[derive(Clone, Copy, Debug)]
enum Binding {
    /// An array.
    Value(ValueId),
    /// A mutable reference, by its place in [`Build::cells`].
    Cell(usize),
}

/// Results of a primitive.
type Bindings = SmallVec<[Binding; 2]>;

struct Build {
    scope: Scope,
    lanes: Lanes,
    /// Current contents of the mutable references.
    cells: Vec<ValueId>,
    /// Sizes of the named axes in scope.
    axes: HashMap<Name, usize>,
    depth: usize,
    /// The named scope around the body of the `jit` that is read.
    around: Option<jaxide_core::Scope>,
    /// Whether nodes get the names of their equations.
    named: bool,
    /// What arrays with places between their elements are made of.
    sparse: HashMap<ValueId, Sparse>,
}

/// One equation with its operands bound.
struct Application<'a> {
    eqn: &'a Eqn,
    args: &'a [Binding],
    /// Types of the results.
    results: Vec<Aval>,
}

impl Application<'_> {
    /// The only result's element type.
    fn dtype(&self) -> DType {
        self.results[0].dtype
    }

    /// The only result's shape.
    fn shape(&self) -> &[usize] {
        &self.results[0].shape
    }
}

impl Build {
    /// Inlines a call.
    fn call(&mut self, closed: &ClosedJaxpr, args: &[Binding]) -> Result<Vec<Binding>> {
        if closed.consts.len() != closed.jaxpr.constvars.len() {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "an inner jaxpr has constants whose values are not known",
            ));
        }
        if args.len() != closed.jaxpr.invars.len() {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "a jaxpr of {} arguments is given {}",
                    closed.jaxpr.invars.len(),
                    args.len()
                ),
            ));
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!("calls and loops are nested more than {MAX_DEPTH} deep"),
            ));
        }
        let mut env = VarMap::new();
        for (&var, tensor) in closed.jaxpr.constvars.iter().zip(&closed.consts) {
            env.insert(var, Binding::Value(self.constant(tensor)));
        }
        for (&var, &arg) in closed.jaxpr.invars.iter().zip(args) {
            env.insert(var, arg);
        }
        let results = self.body(&closed.jaxpr, &mut env)?;
        self.depth -= 1;
        Ok(results)
    }

    fn body(&mut self, jaxpr: &Jaxpr, env: &mut VarMap<Binding>) -> Result<Vec<Binding>> {
        for (k, eqn) in jaxpr.eqns.iter().enumerate() {
            let place = |error: Error| error.in_operation(eqn.prim.name()).at(eqn.source);
            let args: SmallVec<[Binding; 4]> = eqn
                .inputs
                .iter()
                .map(|&atom| self.atom(env, atom))
                .collect::<Result<_>>()
                .map_err(place)?;
            let results: Vec<Aval> = eqn
                .outputs
                .iter()
                .map(|&var| jaxpr.aval_of(var).clone())
                .collect();
            for aval in &results {
                byte_size(&aval.shape, aval.dtype).map_err(place)?;
            }
            let application = Application {
                eqn,
                args: &args,
                results,
            };
            let own = eqn.source.scope();
            let named = self.around.map_or(own, |around| Some(around.join(own)));
            self.scope.named = named;
            let outer = self.scope.origin.clone();
            if self.named {
                self.scope.origin = Some(origin(outer.as_deref(), k, eqn));
            }
            let around = self.around;
            if matches!(eqn.prim, jaxide_core::Prim::Jit(_)) {
                self.around = named;
            }
            let results = self.apply(&application).map_err(place)?;
            self.scope.graph.reach.check().map_err(place)?;
            self.around = around;
            self.scope.origin = outer;
            debug_assert_eq!(results.len(), eqn.outputs.len(), "{}", eqn.prim.name());
            for (&var, &binding) in eqn.outputs.iter().zip(&results) {
                if let Binding::Value(value) = binding {
                    debug_assert_eq!(
                        (self.scope.graph.dtype(value), self.scope.graph.shape(value)),
                        (jaxpr.aval_of(var).dtype, &jaxpr.aval_of(var).shape[..]),
                        "{}",
                        eqn.prim.name()
                    );
                }
                env.insert(var, binding);
            }
        }
        jaxpr
            .outvars
            .iter()
            .map(|&atom| self.atom(env, atom))
            .collect()
    }

    /// The results of an equation. Equal loops, branches and calls are built once.
    fn apply(&mut self, app: &Application<'_>) -> Result<Bindings> {
        let prim = &app.eqn.prim;
        let Some(args) = self.mergeable(app) else {
            return self.prim(app);
        };
        if let Some(known) = self.scope.known_call(prim, &args) {
            return Ok(known.iter().map(|&value| Binding::Value(value)).collect());
        }
        let results = self.prim(app)?;
        let values = results.iter().map(|binding| match *binding {
            Binding::Value(value) => Some(value),
            Binding::Cell(_) => None,
        });
        if let Some(values) = values.collect() {
            self.scope.remember_call(prim, &args, values);
        }
        Ok(results)
    }

    /// The operands of a pure equation with jaxprs inside; nodes of other equations are merged one by one.
    fn mergeable(&self, app: &Application<'_>) -> Option<Vec<ValueId>> {
        let prim = &app.eqn.prim;
        let mut calls = false;
        prim.visit(&mut |_| calls = true);
        // Named axes are of the place, not of the equation.
        if !calls || !self.axes.is_empty() || has_effect(prim) {
            return None;
        }
        let args = app.args.iter().map(|binding| match *binding {
            Binding::Value(value) => Some(value),
            Binding::Cell(_) => None,
        });
        args.collect()
    }

    fn atom(&mut self, env: &VarMap<Binding>, atom: Atom) -> Result<Binding> {
        match atom {
            Atom::Var(var) => env.get(var).copied().ok_or_else(|| {
                Error::new(
                    ErrorKind::Internal,
                    "a variable is used before its definition",
                )
            }),
            Atom::Lit(literal) => Ok(Binding::Value(self.scope.splat(
                literal.value,
                literal.dtype,
                &[],
            )?)),
        }
    }

    /// A captured array; one of equal elements needs no memory.
    fn constant(&mut self, tensor: &Tensor) -> ValueId {
        let size = tensor.dtype().size();
        let bytes = tensor.bytes();
        if size > 0 && !bytes.is_empty() {
            let first = &bytes[..size];
            if bytes.chunks_exact(size).all(|element| element == first) {
                return self
                    .scope
                    .splat_bytes(first.into(), tensor.dtype(), tensor.shape());
            }
        }
        let consts = &mut self.scope.graph.consts;
        let same = consts
            .iter()
            .position(|old| old.shape() == tensor.shape() && old == tensor);
        let index = same.unwrap_or_else(|| {
            consts.push(tensor.clone());
            consts.len() - 1
        });
        self.scope.one(
            Op::Const(narrow(index)),
            &[],
            tensor.dtype(),
            tensor.shape(),
        )
    }

    /// The array behind a binding; a reference gives its contents.
    fn value(&self, binding: Binding) -> Result<ValueId> {
        match binding {
            Binding::Value(value) => Ok(value),
            Binding::Cell(cell) => Ok(self.cells[cell]),
        }
    }

    fn values(&self, bindings: &[Binding]) -> Result<SmallVec<[ValueId; 4]>> {
        bindings
            .iter()
            .map(|&binding| self.value(binding))
            .collect()
    }

    /// A call of the runtime.
    fn routine<P: Clone + Into<Routine>>(
        &mut self,
        params: &P,
        app: &Application<'_>,
    ) -> Result<Bindings> {
        let args = self.values(app.args)?;
        let results: Vec<(DType, &[usize])> = app
            .results
            .iter()
            .map(|aval| (aval.dtype, &aval.shape[..]))
            .collect();
        let call = Op::Call(Call::Routine(params.clone().into()));
        Ok(self
            .scope
            .emit(call, &args, &results)
            .into_iter()
            .map(Binding::Value)
            .collect())
    }

    /// Transforms; a forward one of numbers that are complex because they were converted is one of real numbers, half the work.
    fn fft(&mut self, params: &Fft, app: &Application<'_>) -> Result<Bindings> {
        let args = self.values(app.args)?;
        let parts = match app.dtype() {
            DType::C64 => DType::F32,
            _ => DType::F64,
        };
        let real = match args[..] {
            [whole] if params.fft_type == FftType::Fft => self.scope.converted(whole),
            _ => None,
        };
        let Some(real) = real.filter(|&x| !self.scope.dtype(x).is_complex()) else {
            return self.routine(params, app);
        };
        let real = self.map(MapOp::Convert, &[real], parts);
        let call = Op::Call(Call::Routine(params.clone().into()));
        let result = self.scope.one(call, &[real], app.dtype(), app.shape());
        Ok(Bindings::from_elem(Binding::Value(result), 1))
    }

    /// Convolutions; a complex one is made of three of real numbers, for which the runtime has kernels: with (a + ib) (c + id), those of
    /// (a + b) c, a (d - c) and b (c + d).
    fn convolution(
        &mut self,
        params: &ConvGeneralDilated,
        app: &Application<'_>,
    ) -> Result<Bindings> {
        let dtype = app.dtype();
        let args = self.values(app.args)?;
        if let Some(sum) = self.stencil(params, &args, app) {
            return Ok(Bindings::from_elem(Binding::Value(sum), 1));
        }
        let parts = match dtype {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            _ => return self.routine(params, app),
        };
        if args.iter().any(|&arg| self.scope.dtype(arg) != dtype) {
            return self.routine(params, app);
        }
        let [(a, b), (c, d)] = [args[0], args[1]].map(|arg| {
            let mut part = |op| self.map(op, &[arg], parts);
            (part(MapOp::Real), part(MapOp::Imag))
        });
        let operands = [
            (self.map(MapOp::Add, &[a, b], parts), c),
            (a, self.map(MapOp::Sub, &[d, c], parts)),
            (b, self.map(MapOp::Add, &[c, d], parts)),
        ];
        let [both, left, right] = operands.map(|(left, right)| {
            let call = Op::Call(Call::Routine(params.clone().into()));
            self.scope.one(call, &[left, right], parts, app.shape())
        });
        let real = self.map(MapOp::Sub, &[both, right], parts);
        let imaginary = self.map(MapOp::Add, &[both, left], parts);
        let result = self.map(MapOp::Complex, &[real, imaginary], dtype);
        Ok(Bindings::from_elem(Binding::Value(result), 1))
    }

    /// Systems with a triangular matrix: of floats of 16 bits the runtime solves them in 32.
    fn triangular_solve(
        &mut self,
        params: &TriangularSolve,
        app: &Application<'_>,
    ) -> Result<Bindings> {
        let dtype = app.dtype();
        if !matches!(dtype, DType::F16 | DType::BF16) {
            return self.routine(params, app);
        }
        let args = self.values(app.args)?;
        let wide: Vec<ValueId> = args
            .into_iter()
            .map(|arg| self.converted(arg, DType::F32))
            .collect();
        let call = Op::Call(Call::Routine(params.clone().into()));
        let solved = self.scope.one(call, &wide, DType::F32, app.shape());
        Ok(Bindings::from_slice(&[Binding::Value(
            self.converted(solved, dtype),
        )]))
    }

    fn inline(&mut self, closed: &ClosedJaxpr, args: &[Binding]) -> Result<Bindings> {
        self.call(closed, args).map(Bindings::from_vec)
    }

    /// Zeros of a type.
    fn zeros(&mut self, aval: &Aval) -> Result<ValueId> {
        let bytes = Tensor::zeros(&[], aval.dtype)?.bytes().into();
        Ok(self.scope.splat_bytes(bytes, aval.dtype, &aval.shape))
    }

    /// The parameters of a region for values of these types.
    fn region(
        &mut self,
        kind: FrameKind,
        avals: &[Aval],
        body: impl FnOnce(&mut Build, &[ValueId]) -> Result<Vec<ValueId>>,
    ) -> Result<super::Region> {
        for aval in avals {
            byte_size(&aval.shape, aval.dtype)?;
        }
        let types: Vec<(DType, &[usize])> = avals
            .iter()
            .map(|aval| (aval.dtype, &aval.shape[..]))
            .collect();
        let params = self.scope.open_region(kind, &types);
        let results = body(self, &params)?;
        Ok(self.scope.close_region(params, results))
    }

    fn map(&mut self, op: MapOp, args: &[ValueId], dtype: DType) -> ValueId {
        self.scope.map(op, args, dtype)
    }
}
