//! Every primitive → operations of the graph: the one list of native forms.

use super::{Application, Binding, Bindings, Build};
use crate::lower::functions::function_of_one_number;
use crate::lower::graph::{Combine, MapOp, ValueId};
use jaxide_core::prims::{Prim, RoundingMethod};
use jaxide_core::{Error, Result};

impl Build {
    /// The operations of one equation.
    ///
    /// # Errors
    /// When the primitive has no native form for these operands.
    pub(super) fn prim(&mut self, app: &Application<'_>) -> Result<Bindings> {
        let one = |value: Result<ValueId>| {
            value.map(|value| Bindings::from_slice(&[Binding::Value(value)]))
        };
        match &app.eqn.prim {
            // Elements.
            Prim::Neg(_) => one(self.elementwise(MapOp::Neg, app)),
            Prim::Sign(_) => one(self.elementwise(MapOp::Sign, app)),
            Prim::Abs(_) => one(self.elementwise(MapOp::Abs, app)),
            Prim::Floor(_) => one(self.elementwise(MapOp::Floor, app)),
            Prim::Ceil(_) => one(self.elementwise(MapOp::Ceil, app)),
            Prim::IsFinite(_) => one(self.elementwise(MapOp::IsFinite, app)),
            function_of_one_number!() => one(self.function(app)),
            Prim::Square(_) => one(self.elementwise(MapOp::Square, app)),
            Prim::OneMinusSquare(_) => one(self.elementwise(MapOp::OneMinusSquare, app)),
            Prim::Real(_) => one(self.elementwise(MapOp::Real, app)),
            Prim::Imag(_) => one(self.elementwise(MapOp::Imag, app)),
            Prim::Conj(_) => one(self.elementwise(MapOp::Conj, app)),
            Prim::Not(_) => one(self.elementwise(MapOp::Not, app)),
            Prim::PopulationCount(_) => one(self.elementwise(MapOp::Popcount, app)),
            Prim::Clz(_) => one(self.elementwise(MapOp::Clz, app)),
            Prim::IntegerPow(params) => one(self.elementwise(MapOp::IntegerPow(params.y), app)),
            Prim::Round(params) => one(self.elementwise(
                match params.rounding_method {
                    RoundingMethod::AwayFromZero => MapOp::RoundAway,
                    RoundingMethod::ToNearestEven => MapOp::RoundEven,
                },
                app,
            )),
            Prim::ReducePrecision(params) => one(self.elementwise(
                MapOp::ReducePrecision {
                    exponent: params.exponent_bits,
                    mantissa: params.mantissa_bits,
                },
                app,
            )),
            Prim::Add(_) | Prim::AddAny(_) => one(self.elementwise(MapOp::Add, app)),
            Prim::Sub(_) => one(self.elementwise(MapOp::Sub, app)),
            Prim::Mul(_) => one(self.elementwise(MapOp::Mul, app)),
            Prim::Mulhi(_) => one(self.elementwise(MapOp::MulHi, app)),
            Prim::Div(_) => one(self.elementwise(MapOp::Div, app)),
            Prim::Rem(_) => one(self.elementwise(MapOp::Rem, app)),
            Prim::Max(_) => one(self.elementwise(MapOp::Max, app)),
            Prim::Min(_) => one(self.elementwise(MapOp::Min, app)),
            Prim::Pow(_) => one(self.elementwise(MapOp::Pow, app)),
            Prim::Atan2(_) => one(self.elementwise(MapOp::Atan2, app)),
            Prim::NextAfter(_) => one(self.elementwise(MapOp::NextAfter, app)),
            Prim::Complex(_) => one(self.elementwise(MapOp::Complex, app)),
            Prim::And(_) => one(self.elementwise(MapOp::And, app)),
            Prim::Or(_) => one(self.elementwise(MapOp::Or, app)),
            Prim::Xor(_) => one(self.elementwise(MapOp::Xor, app)),
            Prim::ShiftLeft(_) => one(self.elementwise(MapOp::ShiftLeft, app)),
            Prim::ShiftRightArithmetic(_) => {
                one(self.elementwise(MapOp::ShiftRightArithmetic, app))
            }
            Prim::ShiftRightLogical(_) => one(self.elementwise(MapOp::ShiftRightLogical, app)),
            Prim::Equal(_) => one(self.elementwise(MapOp::Eq, app)),
            Prim::NotEqual(_) => one(self.elementwise(MapOp::Ne, app)),
            Prim::Less(_) => one(self.elementwise(MapOp::Lt, app)),
            Prim::LessEqual(_) => one(self.elementwise(MapOp::Le, app)),
            Prim::Greater(_) => one(self.elementwise(MapOp::Gt, app)),
            Prim::GreaterEqual(_) => one(self.elementwise(MapOp::Ge, app)),
            Prim::EqualTotal(_) => one(self.elementwise(MapOp::EqTotal, app)),
            Prim::LessTotal(_) => one(self.elementwise(MapOp::LtTotal, app)),
            Prim::LessEqualTotal(_) => one(self.elementwise(MapOp::LeTotal, app)),
            Prim::Igamma(_) => one(self.elementwise(MapOp::Igamma, app)),
            Prim::Igammac(_) => one(self.elementwise(MapOp::Igammac, app)),
            Prim::IgammaGradA(_) => one(self.elementwise(MapOp::IgammaGradA, app)),
            Prim::Polygamma(_) => one(self.elementwise(MapOp::Polygamma, app)),
            Prim::Zeta(_) => one(self.elementwise(MapOp::Zeta, app)),
            Prim::RegularizedIncompleteBeta(_) => {
                one(self.elementwise(MapOp::RegularizedIncompleteBeta, app))
            }
            Prim::Clamp(_) => one(self.elementwise(MapOp::Clamp, app)),
            Prim::SelectN(_) => one(self.elementwise(MapOp::Select, app)),
            Prim::ConvertElementType(_) => one(self.elementwise(MapOp::Convert, app)),
            Prim::StopGradient(_)
            | Prim::CopyArray(_)
            | Prim::CopyP(_)
            | Prim::PlaceName(_)
            | Prim::Reshard(_)
            | Prim::XlaMetadataValue(_)
            | Prim::ShardingConstraint(_)
            | Prim::RandomClone(_)
            | Prim::OptimizationBarrier(_)
            | Prim::DevicePut(_)
            | Prim::Pvary(_) => Ok(Bindings::from_slice(app.args)),
            Prim::Polynomial(_) => one(self.polynomial(app)),
            Prim::BitcastConvertType(params) => one(self.bitcast(params, app)),
            Prim::Frexp(_) => self.frexp(app),
            Prim::Ldexp(_) => one(self.ldexp(app)),

            // Shapes.
            Prim::Iota(params) => one(Ok(self.scope.iota(
                params.dtype,
                &params.shape,
                params.dimension,
            ))),
            Prim::Empty(_) | Prim::EmptyArray(_) => one(self.zeros(&app.results[0])),
            Prim::BroadcastTo(params) => {
                let rank = self.scope.shape(self.value(app.args[0])?).len();
                one(self.broadcast_in_dim(&params.in_dim(rank)?.broadcast_dimensions, app))
            }
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
                let apply = match &params.update_jaxpr.0 {
                    None => None,
                    Some(function) => match self.scalar_region(function)? {
                        None => return self.routine(params, app),
                        region => region,
                    },
                };
                one(self.scatter(
                    &params.dimension_numbers,
                    params.mode,
                    Combine::Replace,
                    apply,
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
            Prim::Cumsum(params) => self.routine(params, app),
            Prim::Cumprod(params) => self.routine(params, app),
            Prim::Cummax(params) => self.routine(params, app),
            Prim::Cummin(params) => self.routine(params, app),
            Prim::Cumlogsumexp(params) => self.routine(params, app),
            Prim::Sort(params) => self.routine(params, app),
            Prim::TopK(params) => self.routine(params, app),
            Prim::ApproxTopK(params) => self.routine(params, app),
            Prim::Nonzero(params) => self.routine(params, app),
            Prim::SearchSorted(params) => self.routine(params, app),

            // Windows.
            Prim::ReduceWindowSum(_) | Prim::ReduceWindowMax(_) | Prim::ReduceWindowMin(_) => {
                one(self.reduce_window(app))
            }
            Prim::ReduceWindow(params) => self.reduce_window_with(params, app),
            Prim::SelectAndScatter(params) => self.select_and_scatter(params, app),
            Prim::SelectAndScatterAdd(params) => one(self.select_and_scatter_add(params, app)),
            Prim::SelectAndGatherAdd(params) => one(self.select_and_gather_add(params, app)),
            Prim::ConvGeneralDilated(params) => self.convolution(params, app),

            // Linear algebra.
            Prim::DotGeneral(params) => one(self.dot_general(params, app)),
            Prim::ScaledDot(params) => one(self.scaled_dot(params, app)),
            Prim::SymmetricProduct(params) => one(self.symmetric_product(params, app)),
            Prim::RaggedDotGeneral(params) => self.ragged_dot(params, app),
            Prim::Cholesky(params) => self.routine(params, app),
            Prim::CholeskyUpdate(params) => self.routine(params, app),
            Prim::Lu(params) => self.routine(params, app),
            Prim::LuPivotsToPermutation(params) => self.routine(params, app),
            Prim::Qr(params) => self.routine(params, app),
            Prim::Geqrf(params) => self.routine(params, app),
            Prim::Geqp3(params) => self.routine(params, app),
            Prim::HouseholderProduct(params) => self.routine(params, app),
            Prim::Ormqr(params) => self.routine(params, app),
            Prim::Eigh(params) => self.routine(params, app),
            Prim::Eig(params) => self.routine(params, app),
            Prim::Svd(params) => self.routine(params, app),
            Prim::Schur(params) => self.routine(params, app),
            Prim::Hessenberg(params) => self.routine(params, app),
            Prim::Tridiagonal(params) => self.routine(params, app),
            Prim::TridiagonalSolve(params) => self.routine(params, app),
            Prim::TriangularSolve(params) => self.triangular_solve(params, app),
            Prim::Fft(params) => self.fft(params, app),

            // Random numbers.
            Prim::Threefry2x32(_) => self.threefry(app),
            Prim::Threefry4x32(params) => {
                let cipher = params.expand(&self.avals(app.args)?)?;
                self.inline(&cipher, app.args)
            }
            Prim::Philox4x32(params) => {
                let cipher = params.expand(&self.avals(app.args)?)?;
                self.inline(&cipher, app.args)
            }
            Prim::Philox2x32(params) => {
                let cipher = params.expand(&self.avals(app.args)?)?;
                self.inline(&cipher, app.args)
            }
            Prim::Iota2x32Shape(params) => self.inline(&params.expand()?, app.args),
            Prim::RandomBits(params) => self.random_bits(params, app),
            Prim::RandomSeed(params) => one(self.random_seed(params, app)),
            Prim::RandomWrap(_) | Prim::RandomUnwrap(_) => one(self.random_words(app)),
            Prim::RandomSplit(params) => one(self.random_split(params, app)),
            Prim::RandomFoldIn(_) => one(self.random_fold_in(app)),
            Prim::RandomGamma(params) => self.routine(params, app),
            Prim::RngBitGenerator(params) => self.routine(params, app),

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
            Prim::RematOpt(params) => self.inline(&params.fwd_jaxpr, app.args),
            Prim::XlaMetadataCall(params) => self.inline(&params.jaxpr, app.args),
            Prim::CallExported(params) => Err(params.refused()),
            Prim::Composite(params) => self.inline(&params.call_jaxpr, app.args),
            Prim::CustomRoot(params) => self.custom_root(params, app),
            Prim::CustomLinearSolve(params) => self.custom_linear_solve(params, app),
            Prim::PlatformIndex(params) => one(self.platform_index(params)),
            Prim::DceSink(_) => Ok(Bindings::new()),
            Prim::DebugPrint(params) => self.routine(params, app),
            Prim::CustomLin(_) => Err(Error::unsupported(
                "a custom derivative that was not transposed cannot run",
            )),
            Prim::RootLinearMap(params) => self.inline(&params.expand()?, app.args),
            Prim::PureCallback(_) | Prim::IoCallback(_) | Prim::DebugCallback(_) => Err(
                Error::unsupported("a callback into the host language cannot be compiled"),
            ),

            Prim::Foreign(params) => Err(params.refused("compiled")),

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
}
