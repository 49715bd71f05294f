//! Algebraic laws, applied equation by equation.
//!
//! # What a law may do
//!
//! 1. **Same values.** For every input, infinities, subnormal numbers and -0.0 included, the results have the same bits;
//!    where a result is NaN it stays NaN (its payload is nobody's business). Hence `x + 0` stays (`-0.0 + 0.0` is
//!    `0.0`) while `x + -0.0` and `x - 0.0` go; `x * 0` and `x - x` stay (infinities and NaN); `x * 1` goes for real
//!    but not for complex numbers (the cross terms `b * 0` can be NaN); sums are never reordered.
//! 2. **Same types**, weakness included: a law that would change the type of a result does not apply.
//! 3. **Never worse.** The new equation costs at most what the old one did, and no new equation is needed beside it.
//!    A law may look through definitions but does not copy them.
//! 4. **An end.** Each law removes an equation, shortens a chain of equations, or replaces a primitive by one that no
//!    law changes back.
//! 5. **Values, not derivatives.** Passes run behind the transformations. What is written for its own sake stays:
//!    `stop_gradient`, `optimization_barrier`, `name`, checkpoints, effects.
//!
//! What is left behind unused is for [`dce`](super::dce()).

use crate::dtype::DType;
use crate::jaxpr::{Atom, Atoms, Aval, ClosedJaxpr, Dims, Eqn, Jaxpr, Literal, Scalar, VarMap};
use crate::prims::{BroadcastInDim, Mul, Prim, SelectN, Slice, Transpose};
use std::collections::HashMap;
use std::sync::Arc;

/// Applies the laws in order of equations, innermost sub-jaxprs first. A jaxpr to which none applies stays the same object, and
/// one that is used twice stays one.
pub fn rewrite(jaxpr: &ClosedJaxpr) -> ClosedJaxpr {
    if jaxpr.jaxpr.has_captures() {
        return jaxpr.clone();
    }
    nested(jaxpr, &mut HashMap::new())
}

/// What became of sub-jaxprs; the old object is kept so that its address stays its own.
type Done = HashMap<*const Jaxpr, (Arc<Jaxpr>, ClosedJaxpr)>;

fn nested(closed: &ClosedJaxpr, done: &mut Done) -> ClosedJaxpr {
    let key = Arc::as_ptr(&closed.jaxpr);
    if let Some((_, new)) = done.get(&key) {
        return new.clone();
    }
    let mut changed = false;
    for eqn in &closed.jaxpr.eqns {
        eqn.prim.visit(&mut |sub| {
            changed |= !Arc::ptr_eq(&nested(sub, done).jaxpr, &sub.jaxpr);
        });
    }
    let mut new = closed.clone();
    if changed {
        for eqn in &mut Arc::make_mut(&mut new.jaxpr).eqns {
            eqn.prim.visit_mut(&mut |sub| *sub = nested(sub, done));
        }
    }
    if let Some(rewritten) = rewritten(&new.jaxpr) {
        new = ClosedJaxpr::new(rewritten, new.consts);
    }
    done.insert(key, (closed.jaxpr.clone(), new.clone()));
    new
}

/// What an equation with one result amounts to.
// Short-lived: one at a time, on the stack.
#[allow(clippy::large_enum_variant)]
enum Simpler {
    /// Something there already.
    Atom(Atom),
    /// A simpler equation.
    Eqn(Prim, Atoms),
}

type Law = fn(&Scope, &Eqn) -> Option<Simpler>;

/// The laws by topic.
const LAWS: [Law; 5] = [arithmetic, logic, conversions, shapes, boxes];

/// Laws tried on one equation at most; chains are shortened link by link.
const MOST_STEPS: usize = 16;

/// The jaxpr after the laws, `None` if none applies.
fn rewritten(jaxpr: &Jaxpr) -> Option<Jaxpr> {
    let mut scope = Scope {
        jaxpr,
        changed: HashMap::new(),
        definitions: VarMap::new(),
        replaced: VarMap::new(),
    };
    for (index, eqn) in jaxpr.eqns.iter().enumerate() {
        scope.add(index, eqn);
    }
    if scope.changed.is_empty() {
        return None;
    }
    let mut eqns = Vec::with_capacity(jaxpr.eqns.len());
    for (index, eqn) in jaxpr.eqns.iter().enumerate() {
        match scope.changed.remove(&index) {
            None => eqns.push(eqn.clone()),
            Some(Some(new)) => eqns.push(new),
            Some(None) => {}
        }
    }
    let mut new = jaxpr.clone();
    new.eqns = eqns;
    new.outvars = jaxpr.outvars.iter().map(|&atom| scope.read(atom)).collect();
    Some(new)
}

/// What is read so far.
struct Scope<'a> {
    jaxpr: &'a Jaxpr,
    /// What became of equations, by their places; `None` where nothing is left.
    changed: HashMap<usize, Option<Eqn>>,
    /// The equations that variables are results of.
    definitions: VarMap<usize>,
    /// What stands in place of variables.
    replaced: VarMap<Atom>,
}

impl Scope<'_> {
    fn read(&self, atom: Atom) -> Atom {
        let replaced = atom.var().and_then(|var| self.replaced.get(var));
        replaced.copied().unwrap_or(atom)
    }

    /// Applies the laws to an equation until none applies.
    fn add(&mut self, index: usize, eqn: &Eqn) {
        let mut new = None;
        if eqn.inputs.iter().any(|&atom| self.read(atom) != atom) {
            let mut eqn = eqn.clone();
            eqn.inputs = eqn.inputs.iter().map(|&atom| self.read(atom)).collect();
            new = Some(eqn);
        }
        for _ in 0..MOST_STEPS {
            match self.simpler(new.as_ref().unwrap_or(eqn)) {
                None => break,
                Some(Simpler::Atom(atom)) => {
                    self.replaced.insert(eqn.outputs[0], atom);
                    self.changed.insert(index, None);
                    return;
                }
                Some(Simpler::Eqn(prim, inputs)) => {
                    let new = new.get_or_insert_with(|| eqn.clone());
                    new.prim = prim;
                    new.inputs = inputs;
                }
            }
        }
        if let Some(new) = new {
            self.changed.insert(index, Some(new));
        }
        for &var in &eqn.outputs {
            self.definitions.insert(var, index);
        }
    }

    /// The first law that applies and keeps the type.
    fn simpler(&self, eqn: &Eqn) -> Option<Simpler> {
        let [var] = eqn.outputs.as_slice() else {
            return None;
        };
        let aval = self.jaxpr.aval_of(*var);
        LAWS.iter().find_map(|law| {
            law(self, eqn).filter(|simpler| match simpler {
                Simpler::Atom(atom) => self.aval(*atom) == *aval,
                Simpler::Eqn(prim, inputs) => {
                    let inputs: Vec<Aval> = inputs.iter().map(|&atom| self.aval(atom)).collect();
                    let results = prim.rules().abstract_eval(&inputs);
                    results.is_ok_and(|results| results.as_slice() == std::slice::from_ref(aval))
                }
            })
        })
    }

    fn aval(&self, atom: Atom) -> Aval {
        self.jaxpr.aval(atom)
    }

    /// The equation that an operand is the result of.
    fn definition(&self, atom: Atom) -> Option<&Eqn> {
        let index = *self.definitions.get(atom.var()?)?;
        match self.changed.get(&index) {
            None => Some(&self.jaxpr.eqns[index]),
            Some(new) => new.as_ref(),
        }
    }

    /// The literal that an operand repeats.
    fn scalar(&self, atom: Atom) -> Option<Literal> {
        atom.literal().or_else(|| {
            let eqn = self.definition(atom)?;
            matches!(eqn.prim, Prim::BroadcastInDim(_)).then_some(())?;
            eqn.inputs.first()?.literal()
        })
    }

    /// Whether an operand repeats a literal with this property.
    fn is(&self, atom: Atom, property: fn(Scalar) -> bool) -> bool {
        self.scalar(atom)
            .is_some_and(|literal| property(literal.value))
    }
}

fn is_one(value: Scalar) -> bool {
    value.as_f64() == Some(1.0)
}

fn is_zero(value: Scalar) -> bool {
    value.as_f64().is_some_and(|value| value.to_bits() == 0)
}

fn is_minus_zero(value: Scalar) -> bool {
    value
        .as_f64()
        .is_some_and(|value| value.to_bits() == (-0.0_f64).to_bits())
}

/// Numbers: neutral operands, inverses that meet, operations that change nothing a second time.
fn arithmetic(scope: &Scope, eqn: &Eqn) -> Option<Simpler> {
    let (&x, y) = (eqn.inputs.first()?, eqn.inputs.get(1).copied());
    let dtype = scope.aval(x).dtype;
    let inner = scope.definition(x);
    if let (Prim::Mul(Mul { out_dtype: None }), Some(y)) = (&eqn.prim, y) {
        // x * 1 = 1 * x = x
        let real = !dtype.is_complex();
        let other = if real && scope.is(y, is_one) {
            Some(x)
        } else {
            (real && scope.is(x, is_one)).then_some(y)
        };
        return other.map(Simpler::Atom);
    }
    if let (Prim::Add(_) | Prim::AddAny(_), Some(y)) = (&eqn.prim, y) {
        // x + -0.0 = x; x + 0 = x for integers
        let neutral = if dtype.is_integer() {
            is_zero
        } else {
            is_minus_zero
        };
        let other = if scope.is(y, neutral) {
            Some(x)
        } else {
            scope.is(x, neutral).then_some(y)
        };
        return other.map(Simpler::Atom);
    }
    if let (Prim::Sub(_), Some(y)) = (&eqn.prim, y) {
        // x - 0 = x
        return scope.is(y, is_zero).then_some(Simpler::Atom(x));
    }
    if let (Prim::Div(_), Some(y)) = (&eqn.prim, y) {
        // x / 1 = x
        if !dtype.is_complex() && scope.is(y, is_one) {
            return Some(Simpler::Atom(x));
        }
        // x / 2^k = x * 2^-k: both are the rounded value of the same number.
        let inverse = y.literal().and_then(reciprocal)?;
        return Some(Simpler::Eqn(
            Mul { out_dtype: None }.into(),
            Atoms::from_slice(&[x, inverse]),
        ));
    }
    if let Prim::IntegerPow(power) = &eqn.prim {
        // x^1 = x
        return (power.y == 1).then_some(Simpler::Atom(x));
    }
    if let (Prim::Max(_) | Prim::Min(_), Some(y)) = (&eqn.prim, y) {
        // max(x, x) = min(x, x) = x
        return (x == y).then_some(Simpler::Atom(x));
    }
    if let (Prim::Complex(_), Some(y)) = (&eqn.prim, y) {
        // complex(real z, imag z) = z
        let (real, imag) = (inner?, scope.definition(y)?);
        let parts = matches!((&real.prim, &imag.prim), (Prim::Real(_), Prim::Imag(_)));
        return (parts && real.inputs == imag.inputs).then(|| Simpler::Atom(real.inputs[0]));
    }
    let inner = inner?;
    let outer = &eqn.prim;
    // -(-x) = x
    if let (Prim::Neg(_), Prim::Neg(_)) = (outer, &inner.prim) {
        return Some(Simpler::Atom(inner.inputs[0]));
    }
    // conj(conj z) = z
    if let (Prim::Conj(_), Prim::Conj(_)) = (outer, &inner.prim) {
        return Some(Simpler::Atom(inner.inputs[0]));
    }
    // real(complex(x, y)) = x
    if let (Prim::Real(_), Prim::Complex(_)) = (outer, &inner.prim) {
        return Some(Simpler::Atom(inner.inputs[0]));
    }
    // imag(complex(x, y)) = y
    if let (Prim::Imag(_), Prim::Complex(_)) = (outer, &inner.prim) {
        return Some(Simpler::Atom(inner.inputs[1]));
    }
    // |-x| = |x|
    if let (Prim::Abs(_), Prim::Neg(_)) = (outer, &inner.prim) {
        return Some(Simpler::Eqn(outer.clone(), inner.inputs.clone()));
    }
    // ||x|| = |x|, and rounding a second time changes nothing.
    let once = matches!(
        outer,
        Prim::Abs(_) | Prim::Floor(_) | Prim::Ceil(_) | Prim::Round(_)
    );
    (once && inner.prim == *outer).then_some(Simpler::Atom(x))
}

/// `1 / c` when both are exact: `c` is a power of two whose reciprocal is a normal number of the same type.
fn reciprocal(literal: Literal) -> Option<Atom> {
    let bits = match literal.dtype {
        DType::F32 => 126,
        DType::F64 => 1022,
        DType::F16 => 14,
        DType::BF16 => 126,
        _ => return None,
    };
    let value = literal.value.as_f64()?;
    let power_of_two = value.is_normal() && value.to_bits() << 12 == 0;
    let exponent = value.abs().log2();
    let value = Scalar::Float(value.recip());
    (power_of_two && exponent.abs() <= f64::from(bits))
        .then_some(Atom::Lit(Literal { value, ..literal }))
}

/// Bits, truth and choices.
fn logic(scope: &Scope, eqn: &Eqn) -> Option<Simpler> {
    let (&x, y) = (eqn.inputs.first()?, eqn.inputs.get(1).copied());
    if let (Prim::And(_) | Prim::Or(_), Some(y)) = (&eqn.prim, y)
        && x == y
    {
        // x & x = x | x = x
        return Some(Simpler::Atom(x));
    }
    if let (Prim::Or(_) | Prim::Xor(_), Some(y)) = (&eqn.prim, y) {
        // x | 0 = x ^ 0 = x
        let other = if scope.is(y, is_zero) {
            Some(x)
        } else {
            scope.is(x, is_zero).then_some(y)
        };
        return other.map(Simpler::Atom);
    }
    let shift = matches!(
        eqn.prim,
        Prim::ShiftLeft(_) | Prim::ShiftRightLogical(_) | Prim::ShiftRightArithmetic(_)
    );
    if let (true, Some(y)) = (shift, y) {
        // x << 0 = x >> 0 = x
        return scope.is(y, is_zero).then_some(Simpler::Atom(x));
    }
    if let (Prim::Not(_), Some(inner)) = (&eqn.prim, scope.definition(x)) {
        // !!x = x
        return matches!(inner.prim, Prim::Not(_)).then(|| Simpler::Atom(inner.inputs[0]));
    }
    if let Prim::SelectN(_) = &eqn.prim {
        return choice(scope, x, &eqn.inputs[1..]);
    }
    None
}

/// Choices that are settled, or asked the wrong way round.
fn choice(scope: &Scope, which: Atom, cases: &[Atom]) -> Option<Simpler> {
    // select_n(p, x, x) = x
    let first = *cases.first()?;
    if cases.iter().all(|&case| case == first) {
        return Some(Simpler::Atom(first));
    }
    // select_n(k, x0, x1, ...) = xk
    if let Some(literal) = scope.scalar(which) {
        let index = usize::try_from(literal.value.as_integer()?).ok()?;
        return cases.get(index).map(|&case| Simpler::Atom(case));
    }
    // select_n(!p, x, y) = select_n(p, y, x)
    let inner = scope.definition(which)?;
    let ([no, yes], Prim::Not(_), DType::Bool) = (cases, &inner.prim, scope.aval(which).dtype)
    else {
        return None;
    };
    let inputs = Atoms::from_slice(&[inner.inputs[0], *yes, *no]);
    Some(Simpler::Eqn(SelectN {}.into(), inputs))
}

/// Conversions and copies that change nothing.
fn conversions(scope: &Scope, eqn: &Eqn) -> Option<Simpler> {
    let &x = eqn.inputs.first()?;
    if let Prim::CopyArray(_) | Prim::CopyP(_) = &eqn.prim {
        // copy x = x
        return Some(Simpler::Atom(x));
    }
    let Prim::ConvertElementType(convert) = &eqn.prim else {
        return None;
    };
    // A conversion to the type that it is: the type that must stay makes sure of it.
    if scope.aval(x).dtype == convert.new_dtype {
        return Some(Simpler::Atom(x));
    }
    // There and back, over a type that holds every value.
    let inner = scope.definition(x)?;
    let origin = *inner.inputs.first()?;
    let (narrow, wide) = (scope.aval(origin).dtype, scope.aval(x).dtype);
    (matches!(inner.prim, Prim::ConvertElementType(_)) && widens(narrow, wide))
        .then_some(Simpler::Atom(origin))
}

/// Whether every value of one type is a value of the other.
fn widens(from: DType, to: DType) -> bool {
    let float = matches!(
        (from, to),
        (DType::F16 | DType::BF16, DType::F32 | DType::F64)
            | (DType::F32, DType::F64)
            | (DType::C64, DType::C128)
    );
    let signed = matches!(
        (from, to),
        (DType::I8 | DType::U8, DType::I16 | DType::I32 | DType::I64)
            | (DType::I16 | DType::U16, DType::I32 | DType::I64)
            | (DType::I32 | DType::U32, DType::I64)
    );
    let unsigned = matches!(
        (from, to),
        (DType::U8, DType::U16 | DType::U32 | DType::U64)
            | (DType::U16, DType::U32 | DType::U64)
            | (DType::U32, DType::U64)
    );
    float || signed || unsigned
}

/// Axes: arrangements that change nothing, and arrangements of arrangements.
fn shapes(scope: &Scope, eqn: &Eqn) -> Option<Simpler> {
    let &[x] = eqn.inputs.as_slice() else {
        return None;
    };
    let inner = scope.definition(x);
    if let Prim::Transpose(outer) = &eqn.prim {
        // Axes in their order.
        if outer
            .permutation
            .iter()
            .copied()
            .eq(0..outer.permutation.len())
        {
            return Some(Simpler::Atom(x));
        }
        // transpose(transpose(x, p), q) = transpose(x, p[q])
        let inner_eqn = inner?;
        let Prim::Transpose(inner) = &inner_eqn.prim else {
            return None;
        };
        let permutation = outer
            .permutation
            .iter()
            .map(|&axis| inner.permutation[axis])
            .collect();
        return Some(Simpler::Eqn(
            Transpose { permutation }.into(),
            inner_eqn.inputs.clone(),
        ));
    }
    if let Prim::Reshape(outer) = &eqn.prim {
        if outer.dimensions.is_some() {
            return None;
        }
        // The shape that it has.
        if scope.aval(x).shape.as_slice() == outer.new_sizes.as_slice() {
            return Some(Simpler::Atom(x));
        }
        // reshape(reshape x) = reshape x; also of added and removed axes of length 1.
        let inner_eqn = inner?;
        let plain = matches!(inner_eqn.prim, Prim::Squeeze(_))
            || matches!(&inner_eqn.prim, Prim::Reshape(inner) if inner.dimensions.is_none());
        return plain.then(|| Simpler::Eqn(eqn.prim.clone(), inner_eqn.inputs.clone()));
    }
    if let Prim::BroadcastInDim(outer) = &eqn.prim {
        // The shape that it has.
        let rank = outer.broadcast_dimensions.len();
        let in_order = outer.broadcast_dimensions.iter().copied().eq(0..rank);
        if in_order && scope.aval(x).shape.as_slice() == outer.shape.as_slice() {
            return Some(Simpler::Atom(x));
        }
        // broadcast(broadcast x) = broadcast x
        let inner_eqn = inner?;
        let (Prim::BroadcastInDim(inner), [origin]) =
            (&inner_eqn.prim, inner_eqn.inputs.as_slice())
        else {
            return None;
        };
        let dims = inner.broadcast_dimensions.iter();
        let prim = BroadcastInDim {
            broadcast_dimensions: dims.map(|&axis| outer.broadcast_dimensions[axis]).collect(),
            shape: outer.shape.clone(),
        };
        return Some(Simpler::Eqn(prim.into(), Atoms::from_slice(&[*origin])));
    }
    if let Prim::Rev(outer) = &eqn.prim {
        // No axes; the same axes twice.
        if outer.dimensions.is_empty() {
            return Some(Simpler::Atom(x));
        }
        let inner = inner?;
        return (inner.prim == eqn.prim).then(|| Simpler::Atom(inner.inputs[0]));
    }
    let prim = &eqn.prim;
    // No axes. (A sum over none adds to 0.0, which -0.0 feels.)
    let no_axes = matches!(prim, Prim::Squeeze(squeeze) if squeeze.dimensions.is_empty())
        || matches!(prim, Prim::ReduceMax(reduce) if reduce.axes.is_empty())
        || matches!(prim, Prim::ReduceMin(reduce) if reduce.axes.is_empty())
        || matches!(prim, Prim::ReduceAnd(reduce) if reduce.axes.is_empty())
        || matches!(prim, Prim::ReduceOr(reduce) if reduce.axes.is_empty());
    // One part, one repetition.
    let one = matches!(prim, Prim::Concatenate(_))
        || matches!(prim, Prim::Split(split) if split.sizes.len() == 1)
        || matches!(prim, Prim::Tile(tile) if tile.reps.iter().all(|&count| count == 1));
    (no_axes || one).then_some(Simpler::Atom(x))
}

/// Boxes that are the whole array, and boxes whose place is known.
fn boxes(scope: &Scope, eqn: &Eqn) -> Option<Simpler> {
    let (&x, y) = (eqn.inputs.first()?, eqn.inputs.get(1).copied());
    let shape = scope.aval(x).shape;
    if let Prim::Slice(slice) = &eqn.prim {
        // Everything.
        let whole = slice.start_indices.iter().all(|&start| start == 0)
            && slice.limit_indices.as_slice() == shape.as_slice()
            && slice.strides.iter().flatten().all(|&stride| stride == 1);
        return whole.then_some(Simpler::Atom(x));
    }
    if let Prim::Pad(pad) = &eqn.prim {
        // Nothing added.
        return pad
            .padding_config
            .iter()
            .all(|&edges| edges == (0, 0, 0))
            .then_some(Simpler::Atom(x));
    }
    if let (Prim::DynamicUpdateSlice(_), Some(y)) = (&eqn.prim, y) {
        // Everything written.
        return (scope.aval(y).shape == shape).then_some(Simpler::Atom(y));
    }
    let Prim::DynamicSlice(slice) = &eqn.prim else {
        return None;
    };
    // Everything read.
    if slice.slice_sizes.as_slice() == shape.as_slice() {
        return Some(Simpler::Atom(x));
    }
    // A start that is known, moved so that the box fits.
    let starts = eqn.inputs[1..]
        .iter()
        .zip(&slice.slice_sizes)
        .zip(shape.iter());
    let start_indices: Dims = starts
        .map(|((&start, &length), &size)| {
            let start = scope.scalar(start)?.value.as_integer()?;
            let last = i128::try_from(size.checked_sub(length)?).ok()?;
            usize::try_from(start.clamp(0, last)).ok()
        })
        .collect::<Option<_>>()?;
    let ends = start_indices.iter().zip(&slice.slice_sizes);
    let prim = Slice {
        limit_indices: ends.map(|(&start, &length)| start + length).collect(),
        start_indices,
        strides: None,
    };
    Some(Simpler::Eqn(prim.into(), Atoms::from_slice(&[x])))
}
