//! What a program costs by its text: operations and bytes, before anything is fused.

use std::ops::Add;

use crate::aval::element_count;
use crate::jaxpr::{Atom, Aval, ClosedJaxpr, Eqn, Jaxpr, require_types};
use crate::prims::Prim;

/// Operations and bytes. Numbers that do not fit stay at the largest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Arithmetic operations on elements: a multiplication, a comparison, a conversion is one. Products count two for each
    /// term, factorisations as their textbooks do.
    pub flops: u64,
    /// Values of functions such as exponentials, sines and powers.
    pub transcendentals: u64,
    /// Bytes that equations read and write, if each wrote its results to memory.
    pub bytes: u64,
}

impl Cost {
    fn flops(flops: u64) -> Cost {
        Cost {
            flops,
            ..Cost::default()
        }
    }

    fn transcendentals(transcendentals: u64) -> Cost {
        Cost {
            transcendentals,
            ..Cost::default()
        }
    }

    fn times(self, count: u64) -> Cost {
        Cost {
            flops: self.flops.saturating_mul(count),
            transcendentals: self.transcendentals.saturating_mul(count),
            bytes: self.bytes.saturating_mul(count),
        }
    }

    fn max(self, other: Cost) -> Cost {
        Cost {
            flops: self.flops.max(other.flops),
            transcendentals: self.transcendentals.max(other.transcendentals),
            bytes: self.bytes.max(other.bytes),
        }
    }
}

impl Add for Cost {
    type Output = Cost;

    fn add(self, other: Cost) -> Cost {
        Cost {
            flops: self.flops.saturating_add(other.flops),
            transcendentals: self.transcendentals.saturating_add(other.transcendentals),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

/// The cost of a program.
///
/// A `scan` counts each of its steps; a `while` one, since nobody knows how often it turns; a `cond` its dearest branch. Of operations
/// on types of which only the text is known, the bytes of the known ones count.
///
/// ```
/// use jaxide_core::{cost, parse};
/// let product = parse("{ lambda ; a:f32[4,8] b:f32[8,2]. let
///     c:f32[4,2] = dot_general[dimension_numbers=(([1], [0]), ([], []))] a b
///     d:f32[4,2] = exp c
///   in (d,) }")?;
/// let cost = cost(&product.jaxpr);
/// assert_eq!((cost.flops, cost.transcendentals), (2 * 4 * 8 * 2, 4 * 2));
/// # Ok::<(), jaxide_core::ParseError>(())
/// ```
pub fn cost(jaxpr: &Jaxpr) -> Cost {
    let each = jaxpr.eqns.iter().map(|eqn| equation(jaxpr, eqn));
    each.fold(Cost::default(), Cost::add)
}

fn equation(jaxpr: &Jaxpr, eqn: &Eqn) -> Cost {
    let inputs: Vec<Aval> = eqn.inputs.iter().map(|&atom| jaxpr.aval(atom)).collect();
    let outputs: Vec<Aval> = (eqn.outputs.iter())
        .map(|&var| jaxpr.aval(Atom::Var(var)))
        .collect();
    primitive_cost(&eqn.prim, &inputs, &outputs)
}

/// The cost of a primitive on operands and results of these types, as [`cost()`] counts it.
///
/// ```
/// use jaxide_core::{Aval, DType, prims, primitive_cost};
/// let array = Aval::new(DType::F32, &[10]);
/// let cost = primitive_cost(&prims::Neg.into(), &[array.clone()], &[array]);
/// assert_eq!((cost.flops, cost.bytes), (10, 80));
/// ```
pub fn primitive_cost(prim: &Prim, inputs: &[Aval], outputs: &[Aval]) -> Cost {
    let work = Work { inputs, outputs };
    if require_types(prim, inputs).is_err() {
        return Cost {
            bytes: work.traffic(),
            ..Cost::default()
        };
    }
    work.of(prim)
}

/// Number of elements of an array.
fn elements(aval: &Aval) -> u64 {
    element_count(&aval.shape).map_or(u64::MAX, |count| count as u64)
}

/// Operands and results of an equation.
struct Work<'a> {
    inputs: &'a [Aval],
    outputs: &'a [Aval],
}

impl Work<'_> {
    /// Elements of operand `k`, none where there is no such operand.
    fn input(&self, k: usize) -> u64 {
        self.inputs.get(k).map_or(0, elements)
    }

    fn results(&self) -> u64 {
        self.outputs.first().map_or(0, elements)
    }

    fn all_inputs(&self) -> u64 {
        let counts = self.inputs.iter().map(elements);
        counts.fold(0, u64::saturating_add)
    }

    /// Bytes that are read and written.
    fn traffic(&self) -> u64 {
        let arrays = self.inputs.iter().chain(self.outputs);
        arrays
            .map(|aval| elements(aval).saturating_mul(aval.dtype.size() as u64))
            .fold(0, u64::saturating_add)
    }

    /// Matrices of operand `k`, and the lengths of their two axes.
    fn matrices(&self, k: usize) -> (u64, u64, u64) {
        match self.inputs.get(k).map(|aval| &aval.shape[..]) {
            Some([batch @ .., rows, columns]) => {
                let count = element_count(batch).map_or(u64::MAX, |count| count as u64);
                (count, *rows as u64, *columns as u64)
            }
            Some(_) | None => (0, 0, 0),
        }
    }

    /// `numerator / denominator` × the longer length × the square of the shorter one, for each matrix.
    fn factorisation(&self, numerator: u64, denominator: u64) -> Cost {
        let (count, rows, columns) = self.matrices(0);
        let (long, short) = (rows.max(columns), rows.min(columns));
        let one = short
            .saturating_mul(short)
            .saturating_mul(long)
            .saturating_mul(numerator)
            / denominator;
        Cost::flops(one.saturating_mul(count))
    }

    fn own(&self, per: u64, each: u64) -> Cost {
        Cost::flops(per.saturating_mul(each))
    }

    /// A sub-program, which accounts for its own memory.
    fn called(&self, closed: &ClosedJaxpr) -> Cost {
        cost(&closed.jaxpr)
    }

    fn of(&self, prim: &Prim) -> Cost {
        let results = self.results();
        let moved = Cost {
            bytes: self.traffic(),
            ..Cost::default()
        };
        let log2 = |count: u64| u64::from(count.max(2).ilog2());
        match prim {
            // One operation for each element of the result.
            Prim::Neg(_)
            | Prim::Sign(_)
            | Prim::Abs(_)
            | Prim::Floor(_)
            | Prim::Ceil(_)
            | Prim::Round(_)
            | Prim::IsFinite(_)
            | Prim::Square(_)
            | Prim::Not(_)
            | Prim::PopulationCount(_)
            | Prim::Clz(_)
            | Prim::Conj(_)
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
            | Prim::NextAfter(_)
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
            | Prim::SelectN(_)
            | Prim::ConvertElementType(_)
            | Prim::Frexp(_)
            | Prim::Ldexp(_) => self.own(1, results) + moved,
            Prim::OneMinusSquare(_) | Prim::Clamp(_) => self.own(2, results) + moved,
            Prim::IntegerPow(power) => {
                let y = power.y.unsigned_abs().max(1);
                let products = u64::from(y.ilog2() + y.count_ones() - 1);
                self.own(products + u64::from(power.y < 0), results) + moved
            }
            Prim::Polynomial(_) => {
                let coefficients = self.inputs.len().saturating_sub(1) as u64;
                self.own(2 * coefficients.saturating_sub(1), results) + moved
            }
            Prim::Exp(_)
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
            | Prim::Erf(_)
            | Prim::Erfc(_)
            | Prim::ErfInv(_)
            | Prim::Lgamma(_)
            | Prim::Digamma(_)
            | Prim::BesselI0e(_)
            | Prim::BesselI1e(_)
            | Prim::Pow(_)
            | Prim::Atan2(_)
            | Prim::Igamma(_)
            | Prim::Igammac(_)
            | Prim::IgammaGradA(_)
            | Prim::Polygamma(_)
            | Prim::Zeta(_)
            | Prim::RegularizedIncompleteBeta(_) => Cost::transcendentals(results) + moved,
            // Elements are moved and nothing is computed.
            Prim::Real(_)
            | Prim::Imag(_)
            | Prim::Complex(_)
            | Prim::StopGradient(_)
            | Prim::BitcastConvertType(_)
            | Prim::CopyArray(_)
            | Prim::CopyP(_)
            | Prim::PlaceName(_)
            | Prim::Iota(_)
            | Prim::Iota2x32Shape(_)
            | Prim::XlaMetadataValue(_)
            | Prim::Empty(_)
            | Prim::EmptyArray(_)
            | Prim::BroadcastInDim(_)
            | Prim::BroadcastTo(_)
            | Prim::Reshape(_)
            | Prim::Transpose(_)
            | Prim::Squeeze(_)
            | Prim::Slice(_)
            | Prim::Pad(_)
            | Prim::Rev(_)
            | Prim::Concatenate(_)
            | Prim::Split(_)
            | Prim::Stack(_)
            | Prim::Unstack(_)
            | Prim::Tile(_)
            | Prim::DynamicSlice(_)
            | Prim::DynamicUpdateSlice(_)
            | Prim::Gather(_)
            | Prim::Scatter(_)
            | Prim::LuPivotsToPermutation(_)
            | Prim::RandomWrap(_)
            | Prim::RandomUnwrap(_)
            | Prim::RandomClone(_)
            | Prim::OptimizationBarrier(_)
            | Prim::PlatformIndex(_)
            | Prim::DevicePut(_)
            | Prim::Reshard(_)
            | Prim::ShardingConstraint(_)
            | Prim::DceSink(_)
            | Prim::DebugPrint(_)
            | Prim::PureCallback(_)
            | Prim::DebugCallback(_)
            | Prim::IoCallback(_)
            | Prim::NewRef(_)
            | Prim::RefGet(_)
            | Prim::RefSwap(_)
            | Prim::FreezeRef(_)
            | Prim::Pvary(_)
            | Prim::AllGather(_)
            | Prim::AllToAll(_)
            | Prim::Ppermute(_)
            | Prim::AxisIndex(_) => moved,
            // An operation for each update.
            Prim::ScatterAdd(_)
            | Prim::ScatterSub(_)
            | Prim::ScatterMul(_)
            | Prim::ScatterMin(_)
            | Prim::ScatterMax(_) => self.own(1, self.input(2)) + moved,
            Prim::RefAddUpdate(_) => self.own(1, self.input(1)) + moved,
            // An operation for each element of the operands.
            Prim::ReduceSum(_)
            | Prim::ReduceMax(_)
            | Prim::ReduceMin(_)
            | Prim::ReduceProd(_)
            | Prim::ReduceAnd(_)
            | Prim::ReduceOr(_)
            | Prim::ReduceXor(_)
            | Prim::Argmax(_)
            | Prim::Argmin(_)
            | Prim::Cumsum(_)
            | Prim::Cumprod(_)
            | Prim::Cummax(_)
            | Prim::Cummin(_)
            | Prim::Nonzero(_)
            | Prim::Psum(_)
            | Prim::Pmax(_)
            | Prim::Pmin(_)
            | Prim::PsumInvariant(_)
            | Prim::ReduceScatter(_) => self.own(1, self.all_inputs()) + moved,
            Prim::Cumlogsumexp(_) => {
                Cost::transcendentals(self.input(0)) + self.own(2, self.input(0)) + moved
            }
            Prim::Reduce(reduce) => {
                Cost {
                    bytes: 0,
                    ..self.called(&reduce.jaxpr)
                }
                .times(self.input(0))
                    + moved
            }
            Prim::Sort(sort) => {
                let length = (self.inputs.first())
                    .and_then(|aval| aval.shape.get(sort.dimension).copied())
                    .unwrap_or(0) as u64;
                self.own(log2(length), self.input(0)) + moved
            }
            Prim::TopK(top) => self.own(log2(top.k as u64), self.input(0)) + moved,
            Prim::ApproxTopK(top) => self.own(log2(top.k as u64), self.input(0)) + moved,
            Prim::SearchSorted(_) => self.own(log2(self.input(0)), self.input(1)) + moved,
            Prim::ReduceWindowSum(window) => self.window(&window.window_dimensions) + moved,
            Prim::ReduceWindowMax(window) => self.window(&window.window_dimensions) + moved,
            Prim::ReduceWindowMin(window) => self.window(&window.window_dimensions) + moved,
            Prim::SelectAndGatherAdd(window) => self.window(&window.window_dimensions) + moved,
            Prim::ReduceWindow(window) => {
                let turns = self.window(&window.window_dimensions).flops;
                let body = self.called(&window.jaxpr);
                Cost { bytes: 0, ..body }.times(turns) + moved
            }
            // A window for each element of the source.
            Prim::SelectAndScatter(window) => {
                self.source_window(1, &window.window_dimensions) + moved
            }
            Prim::SelectAndScatterAdd(window) => {
                self.source_window(0, &window.window_dimensions) + moved
            }
            Prim::ConvGeneralDilated(convolution) => {
                let features = &convolution.dimension_numbers.rhs_spec;
                let kernel = &self.inputs[1];
                let out = features
                    .first()
                    .map_or(1, |&axis| kernel.shape[axis])
                    .max(1);
                let terms = elements(kernel) / out as u64;
                self.own(terms.saturating_mul(2), results) + moved
            }
            Prim::DotGeneral(dot) => {
                let contracted = &dot.dimension_numbers.lhs_contracting;
                self.product(contracted.iter().copied()) + moved
            }
            // Each row of the left operand meets one group of the right one.
            Prim::RaggedDotGeneral(_) => {
                let terms = self.inputs[0].shape.last().copied().unwrap_or(1) as u64;
                self.own(terms.saturating_mul(2), results) + moved
            }
            Prim::ScaledDot(_) => {
                let axis = self.inputs[0].shape.len().saturating_sub(1);
                self.product([axis].into_iter()) + moved
            }
            Prim::Cholesky(_) => self.factorisation(1, 3) + moved,
            Prim::CholeskyUpdate(_) => {
                let (count, rows, columns) = self.matrices(0);
                self.own(rows.saturating_mul(columns).saturating_mul(4), count) + moved
            }
            Prim::Lu(_) => self.factorisation(2, 3) + moved,
            Prim::Geqrf(_) | Prim::Geqp3(_) => self.factorisation(4, 3) + moved,
            Prim::Qr(_) => self.factorisation(8, 3) + moved,
            Prim::HouseholderProduct(_) => self.factorisation(4, 3) + moved,
            Prim::Ormqr(_) => {
                let (_, _, reflectors) = self.matrices(0);
                self.own(reflectors.saturating_mul(4), results) + moved
            }
            Prim::Eigh(_) => self.factorisation(9, 1) + moved,
            Prim::Eig(_) | Prim::Schur(_) => self.factorisation(25, 1) + moved,
            Prim::Svd(_) => self.factorisation(22, 1) + moved,
            Prim::Hessenberg(_) => self.factorisation(10, 3) + moved,
            Prim::Tridiagonal(_) => self.factorisation(4, 3) + moved,
            Prim::TridiagonalSolve(_) => self.own(8, results) + moved,
            Prim::TriangularSolve(_) => {
                let (_, rows, _) = self.matrices(0);
                self.own(rows, results) + moved
            }
            Prim::SymmetricProduct(_) => {
                let (_, _, columns) = self.matrices(0);
                self.own(columns.saturating_mul(2), results) + moved
            }
            Prim::Fft(fft) => {
                let points = element_count(&fft.fft_lengths).map_or(u64::MAX, |n| n as u64);
                self.own(5 * log2(points), results.max(self.input(0))) + moved
            }
            // Twenty rounds of an addition, a rotation and an exclusive or, for two words.
            Prim::Threefry2x32(_) => self.own(100, results) + moved,
            Prim::Threefry4x32(_) => self.own(200, results) + moved,
            // Ten rounds of wide products and exclusive ors, for two words each.
            Prim::Philox2x32(_) => self.own(40, results) + moved,
            Prim::Philox4x32(_) => self.own(80, results) + moved,
            Prim::RandomBits(_)
            | Prim::RandomSeed(_)
            | Prim::RandomSplit(_)
            | Prim::RandomFoldIn(_)
            | Prim::RngBitGenerator(_) => {
                let largest = self.outputs.iter().map(elements).max().unwrap_or(0);
                self.own(50, largest) + moved
            }
            Prim::RandomGamma(_) => Cost::transcendentals(results.saturating_mul(4)) + moved,
            Prim::Cond(cond) => {
                let branches = cond.branches.0.iter().map(|branch| self.called(branch));
                branches.fold(Cost::default(), Cost::max)
            }
            Prim::While(turn) => self.called(&turn.cond_jaxpr) + self.called(&turn.body_jaxpr),
            Prim::Scan(scan) => self.called(&scan.jaxpr).times(scan.length as u64),
            Prim::Jit(call) => self.called(&call.jaxpr),
            Prim::EvalJaxpr(call) => self.called(&call.call_jaxpr),
            Prim::ClosedCall(call) => self.called(&call.call_jaxpr),
            Prim::CustomJvpCall(call) => self.called(&call.call_jaxpr),
            Prim::CustomVjpCall(call) => self.called(&call.call_jaxpr),
            Prim::CustomVmapCall(call) => self.called(&call.call),
            Prim::Remat(call) => self.called(&call.jaxpr),
            Prim::CustomLinearSolve(solve) => self.called(&solve.jaxprs.solve),
            Prim::LinearCall(call) => self.called(&call.callee),
            Prim::CustomRoot(root) => self.called(&root.solve_jaxpr),
            Prim::Composite(call) => self.called(&call.call_jaxpr),
            Prim::RematOpt(call) => self.called(&call.fwd_jaxpr),
            Prim::XlaMetadataCall(call) => self.called(&call.jaxpr),
            Prim::RunState(state) => self.called(&state.jaxpr),
            Prim::ShardMap(map) => self.called(&map.jaxpr),
            Prim::Pmap(map) => self.called(&map.call_jaxpr).times(map.axis_size as u64),
            // Placeholders whose programs are rules, which have not been written out yet.
            Prim::CustomLin(_) | Prim::RootLinearMap(_) => moved,
            // What it does is not known.
            Prim::CallExported(_) | Prim::Foreign(_) => moved,
        }
    }

    /// An operation for each element of each window.
    fn window(&self, window: &[usize]) -> Cost {
        let size = element_count(window).map_or(u64::MAX, |count| count as u64);
        self.own(size, self.results())
    }

    fn source_window(&self, source: usize, window: &[usize]) -> Cost {
        let size = element_count(window).map_or(u64::MAX, |count| count as u64);
        self.own(size, self.input(source))
    }

    /// A product whose terms run over these axes of the left operand.
    fn product(&self, contracted: impl Iterator<Item = usize>) -> Cost {
        let shape = &self.inputs[0].shape;
        let terms = contracted
            .map(|axis| shape[axis] as u64)
            .fold(2, u64::saturating_mul);
        self.own(terms, self.results())
    }
}
