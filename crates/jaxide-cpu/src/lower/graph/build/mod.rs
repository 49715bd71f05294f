//! jaxpr → [`Graph`]: calls are inlined, every primitive becomes operations of the graph.

mod collective;
mod control;
mod dot;
mod elementwise;
mod float_parts;
mod hoist;
mod indexing;
mod random;
mod reduction;
mod select_scatter;
mod shape;
mod state;
mod window;

use super::scope::FrameKind;
use super::{Call, Combine, Graph, MapOp, Op, Scope, ValueId};
use jaxide_core::prims::{Name, Prim};
use jaxide_core::{
    Atom, Aval, AvalKind, ClosedJaxpr, DType, Eqn, Error, ErrorKind, Jaxpr, Result, Tensor, VarMap,
    byte_size,
};
use smallvec::SmallVec;
use std::collections::HashMap;

/// How deep calls and loops may nest; a program beyond that is refused instead of exhausting the stack.
const MAX_DEPTH: usize = 400;

/// Builds the graph of a closed jaxpr.
///
/// # Errors
/// When a primitive has no native form, values of constants are not known, or an array is too large.
pub(crate) fn build(closed: &ClosedJaxpr) -> Result<Graph> {
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
        cells: Vec::new(),
        axes: HashMap::new(),
        depth: 0,
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

fn check_array(aval: &Aval) -> Result<()> {
    byte_size(&aval.shape, aval.dtype)?;
    if aval.kind == AvalKind::Ref {
        return Err(Error::unsupported(
            "a reference cannot be an argument of a compiled program",
        ));
    }
    Ok(())
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
    /// Current contents of the mutable references.
    cells: Vec<ValueId>,
    /// Sizes of the named axes in scope.
    axes: HashMap<Name, usize>,
    depth: usize,
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
        for eqn in &jaxpr.eqns {
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
            let results = self.prim(&application).map_err(place)?;
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
        self.scope
            .one(Op::Const(index as u32), &[], tensor.dtype(), tensor.shape())
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
    fn library(&mut self, app: &Application<'_>) -> Result<Bindings> {
        let args = self.values(app.args)?;
        let results: Vec<(DType, &[usize])> = app
            .results
            .iter()
            .map(|aval| (aval.dtype, &aval.shape[..]))
            .collect();
        let call = Op::Call(Call::Prim(app.eqn.prim.clone()));
        Ok(self
            .scope
            .emit(call, &args, &results)
            .into_iter()
            .map(Binding::Value)
            .collect())
    }

    fn prim(&mut self, app: &Application<'_>) -> Result<Bindings> {
        let one = |value: Result<ValueId>| {
            value.map(|value| Bindings::from_slice(&[Binding::Value(value)]))
        };
        if let Some(op) = elementwise::map_op(&app.eqn.prim) {
            return one(self.elementwise(op, app));
        }
        match &app.eqn.prim {
            // Elements.
            Prim::Neg(_)
            | Prim::Sign(_)
            | Prim::Abs(_)
            | Prim::Floor(_)
            | Prim::Ceil(_)
            | Prim::IsFinite(_)
            | Prim::Exp(_)
            | Prim::Exp2(_)
            | Prim::Expm1(_)
            | Prim::Log(_)
            | Prim::Log2(_)
            | Prim::Log1p(_)
            | Prim::Sqrt(_)
            | Prim::Rsqrt(_)
            | Prim::Cbrt(_)
            | Prim::Sin(_)
            | Prim::Cos(_)
            | Prim::Tan(_)
            | Prim::Asin(_)
            | Prim::Acos(_)
            | Prim::Atan(_)
            | Prim::Sinh(_)
            | Prim::Cosh(_)
            | Prim::Tanh(_)
            | Prim::Asinh(_)
            | Prim::Acosh(_)
            | Prim::Atanh(_)
            | Prim::Logistic(_)
            | Prim::Square(_)
            | Prim::OneMinusSquare(_)
            | Prim::Erf(_)
            | Prim::Erfc(_)
            | Prim::ErfInv(_)
            | Prim::Lgamma(_)
            | Prim::Digamma(_)
            | Prim::BesselI0e(_)
            | Prim::BesselI1e(_)
            | Prim::Real(_)
            | Prim::Imag(_)
            | Prim::Not(_)
            | Prim::PopulationCount(_)
            | Prim::Clz(_)
            | Prim::Conj(_)
            | Prim::IntegerPow(_)
            | Prim::Round(_)
            | Prim::ReducePrecision(_)
            | Prim::Add(_)
            | Prim::AddAny(_)
            | Prim::Sub(_)
            | Prim::Mul(_)
            | Prim::Mulhi(_)
            | Prim::Div(_)
            | Prim::Rem(_)
            | Prim::Max(_)
            | Prim::Min(_)
            | Prim::Pow(_)
            | Prim::Atan2(_)
            | Prim::NextAfter(_)
            | Prim::Complex(_)
            | Prim::And(_)
            | Prim::Or(_)
            | Prim::Xor(_)
            | Prim::ShiftLeft(_)
            | Prim::ShiftRightArithmetic(_)
            | Prim::ShiftRightLogical(_)
            | Prim::Equal(_)
            | Prim::NotEqual(_)
            | Prim::Less(_)
            | Prim::LessEqual(_)
            | Prim::Greater(_)
            | Prim::GreaterEqual(_)
            | Prim::EqualTotal(_)
            | Prim::LessTotal(_)
            | Prim::LessEqualTotal(_)
            | Prim::Igamma(_)
            | Prim::Igammac(_)
            | Prim::IgammaGradA(_)
            | Prim::Polygamma(_)
            | Prim::Zeta(_)
            | Prim::RegularizedIncompleteBeta(_)
            | Prim::Clamp(_)
            | Prim::SelectN(_)
            | Prim::ConvertElementType(_) => Err(Error::new(
                ErrorKind::Internal,
                "an elementwise primitive without an operation",
            )),
            Prim::StopGradient(_)
            | Prim::CopyArray(_)
            | Prim::CopyP(_)
            | Prim::PlaceName(_)
            | Prim::Reshard(_)
            | Prim::ShardingConstraint(_)
            | Prim::RandomClone(_)
            | Prim::OptimizationBarrier(_)
            | Prim::DevicePut(_)
            | Prim::Pvary(_) => Ok(Bindings::from_slice(app.args)),
            Prim::Polynomial(_) => one(self.polynomial(app)),
            Prim::BitcastConvertType(_) => one(self.bitcast(app)),
            Prim::Frexp(_) => self.frexp(app),
            Prim::Ldexp(_) => one(self.ldexp(app)),

            // Shapes.
            Prim::Iota(params) => one(Ok(self.scope.iota(
                params.dtype,
                &params.shape,
                params.dimension,
            ))),
            Prim::Empty(_) => one(self.zeros(&app.results[0])),
            Prim::BroadcastInDim(params) => {
                one(self.broadcast_in_dim(&params.broadcast_dimensions, app))
            }
            Prim::Reshape(params) => one(self.reshape(params, app)),
            Prim::Transpose(params) => one(self.transpose(&params.permutation, app)),
            Prim::Squeeze(_) => one(self.squeeze(app)),
            Prim::Slice(params) => one(self.slice(params, app)),
            Prim::Pad(params) => one(self.pad(&params.padding_config, app)),
            Prim::Rev(params) => one(self.rev(&params.dimensions, app)),
            Prim::Concatenate(params) => one(self.concatenate(params.dimension, app)),
            Prim::Split(params) => self.split(params.axis, &params.sizes, app),
            Prim::Stack(params) => one(self.stack(params.axis, app)),
            Prim::Unstack(params) => self.unstack(params.axis, app),
            Prim::Tile(params) => one(self.tile(&params.reps, app)),

            // Indexing.
            Prim::DynamicSlice(_) => one(self.dynamic_slice(app)),
            Prim::DynamicUpdateSlice(_) => one(self.dynamic_update_slice(app)),
            Prim::Gather(params) => one(self.gather(params, app)),
            Prim::Scatter(params) => {
                let function = params.update_jaxpr.0.as_ref();
                one(self.scatter(
                    &params.dimension_numbers,
                    params.mode,
                    Combine::Replace,
                    function,
                    app,
                ))
            }
            Prim::ScatterAdd(params) => one(self.scatter(
                &params.dimension_numbers,
                params.mode,
                Combine::Add,
                None,
                app,
            )),
            Prim::ScatterSub(params) => one(self.scatter(
                &params.dimension_numbers,
                params.mode,
                Combine::Sub,
                None,
                app,
            )),
            Prim::ScatterMul(params) => one(self.scatter(
                &params.dimension_numbers,
                params.mode,
                Combine::Mul,
                None,
                app,
            )),
            Prim::ScatterMin(params) => one(self.scatter(
                &params.dimension_numbers,
                params.mode,
                Combine::Min,
                None,
                app,
            )),
            Prim::ScatterMax(params) => one(self.scatter(
                &params.dimension_numbers,
                params.mode,
                Combine::Max,
                None,
                app,
            )),

            // Reductions.
            Prim::ReduceSum(params) => one(self.reduce(Combine::Add, &params.axes, app)),
            Prim::ReduceMax(params) => one(self.reduce(Combine::Max, &params.axes, app)),
            Prim::ReduceMin(params) => one(self.reduce(Combine::Min, &params.axes, app)),
            Prim::ReduceProd(params) => one(self.reduce(Combine::Mul, &params.axes, app)),
            Prim::ReduceAnd(params) => one(self.reduce(Combine::And, &params.axes, app)),
            Prim::ReduceOr(params) => one(self.reduce(Combine::Or, &params.axes, app)),
            Prim::ReduceXor(params) => one(self.reduce(Combine::Xor, &params.axes, app)),
            Prim::Argmax(params) => one(self.arg_reduce(true, &params.axes, app)),
            Prim::Argmin(params) => one(self.arg_reduce(false, &params.axes, app)),
            Prim::Reduce(params) => self.reduce_with(params, app),
            Prim::Cumsum(_)
            | Prim::Cumprod(_)
            | Prim::Cummax(_)
            | Prim::Cummin(_)
            | Prim::Cumlogsumexp(_)
            | Prim::Sort(_)
            | Prim::TopK(_)
            | Prim::ApproxTopK(_)
            | Prim::Nonzero(_)
            | Prim::SearchSorted(_) => self.library(app),

            // Windows.
            Prim::ReduceWindowSum(_) | Prim::ReduceWindowMax(_) | Prim::ReduceWindowMin(_) => {
                one(self.reduce_window(app))
            }
            Prim::ReduceWindow(params) => self.reduce_window_with(params, app),
            Prim::SelectAndScatter(params) => one(self.select_and_scatter(params, app)),
            Prim::SelectAndScatterAdd(params) => one(self.select_and_scatter_add(params, app)),
            Prim::SelectAndGatherAdd(params) => one(self.select_and_gather_add(params, app)),
            Prim::ConvGeneralDilated(_) => self.library(app),

            // Linear algebra.
            Prim::DotGeneral(params) => one(self.dot_general(params, app)),
            Prim::ScaledDot(params) => one(self.scaled_dot(params, app)),
            Prim::SymmetricProduct(params) => one(self.symmetric_product(params, app)),
            Prim::RaggedDotGeneral(_)
            | Prim::Cholesky(_)
            | Prim::CholeskyUpdate(_)
            | Prim::Lu(_)
            | Prim::LuPivotsToPermutation(_)
            | Prim::Qr(_)
            | Prim::Geqrf(_)
            | Prim::Geqp3(_)
            | Prim::HouseholderProduct(_)
            | Prim::Ormqr(_)
            | Prim::Eigh(_)
            | Prim::Eig(_)
            | Prim::Svd(_)
            | Prim::Schur(_)
            | Prim::Hessenberg(_)
            | Prim::Tridiagonal(_)
            | Prim::TridiagonalSolve(_)
            | Prim::TriangularSolve(_)
            | Prim::Fft(_) => self.library(app),

            // Random numbers.
            Prim::Threefry2x32(_) => self.threefry(app),
            Prim::RandomBits(params) => self.random_bits(params, app),
            Prim::RandomSeed(params) => one(self.random_seed(params, app)),
            Prim::RandomWrap(_) | Prim::RandomUnwrap(_) => one(self.random_words(app)),
            Prim::RandomSplit(params) => one(self.random_split(params, app)),
            Prim::RandomFoldIn(_) => one(self.random_fold_in(app)),
            Prim::RandomGamma(_) | Prim::RngBitGenerator(_) => self.library(app),

            // Control flow and calls.
            Prim::Cond(params) => self.cond(params, app),
            Prim::While(params) => self.while_loop(params, app),
            Prim::Scan(params) => self.scan(params, app),
            Prim::Jit(params) => self.inline(&params.jaxpr, app.args),
            Prim::EvalJaxpr(params) => self.inline(&params.call_jaxpr, app.args),
            Prim::ClosedCall(params) => self.inline(&params.call_jaxpr, app.args),
            Prim::CustomJvpCall(params) => self.inline(&params.call_jaxpr, app.args),
            Prim::CustomVjpCall(params) => self.inline(&params.call_jaxpr, app.args),
            Prim::CustomVmapCall(params) => self.inline(&params.call, app.args),
            Prim::Remat(params) => self.inline(&params.jaxpr, app.args),
            Prim::LinearCall(params) => self.inline(&params.callee, app.args),
            Prim::Composite(params) => self.inline(&params.call_jaxpr, app.args),
            Prim::CustomRoot(params) => self.custom_root(params, app),
            Prim::CustomLinearSolve(params) => self.custom_linear_solve(params, app),
            Prim::PlatformIndex(params) => one(self.platform_index(params)),
            Prim::DceSink(_) => Ok(Bindings::new()),
            Prim::DebugPrint(_) => self.library(app),
            Prim::CustomLin(_) => Err(Error::unsupported(
                "a custom derivative that was not transposed cannot run",
            )),
            Prim::RootLinearMap(_) => Err(Error::unsupported(
                "the function of a root is not part of the text, so its linear map cannot run",
            )),
            Prim::PureCallback(_) | Prim::IoCallback(_) => Err(Error::unsupported(
                "a callback into the host language cannot be compiled",
            )),

            // State.
            Prim::NewRef(_) => self.new_ref(app),
            Prim::RefGet(params) => one(self.ref_get(&params.indices, app)),
            Prim::RefSwap(params) => one(self.ref_swap(&params.indices, app)),
            Prim::RefAddUpdate(params) => self.ref_add(&params.indices, app),
            Prim::FreezeRef(_) => one(self.value(app.args[0])),
            Prim::RunState(params) => self.run_state(params, app),

            // Named axes.
            Prim::Psum(params) => self.collective(&params.axes, Some(Combine::Add), app),
            Prim::PsumInvariant(params) => self.collective(&params.axes, Some(Combine::Add), app),
            Prim::Pmax(params) => self.collective(&params.axes, Some(Combine::Max), app),
            Prim::Pmin(params) => self.collective(&params.axes, Some(Combine::Min), app),
            Prim::AllGather(params) => one(self.all_gather(params, app)),
            Prim::AllToAll(params) => self.all_to_all(params, app),
            Prim::ReduceScatter(params) => one(self.reduce_scatter(params, app)),
            Prim::Ppermute(params) => one(self.ppermute(params, app)),
            Prim::AxisIndex(params) => one(self.axis_index(params)),
            Prim::ShardMap(params) => self.shard_map(params, app),
            Prim::Pmap(params) => self.pmap(params, app),
        }
    }

    fn inline(&mut self, closed: &ClosedJaxpr, args: &[Binding]) -> Result<Bindings> {
        self.call(closed, args).map(Bindings::from_vec)
    }

    /// Zeros of a type.
    fn zeros(&mut self, aval: &Aval) -> Result<ValueId> {
        let bytes = smallvec::smallvec![0; aval.dtype.size()];
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
