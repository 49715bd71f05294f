//! What the crate gives beside what the evaluator gives.

use jaxide::{Array, Tensor};

use super::number::Num;
use super::program::{Kind, Ty};
use super::reference::{Value, unit};
use super::run::dtype;

/// What went wrong, in words.
pub(crate) type Outcome = Result<(), String>;

/// A computed number may be so many of its errors away.
const SLACK: f64 = 8.0;

/// The numbers of an array.
pub(crate) fn numbers(array: &Tensor) -> Vec<f64> {
    let number = |at| array.scalar_at(at).expect("a number").as_complex().0;
    (0..array.len()).map(number).collect()
}

/// Type and elements of a result: part 0 is the value, 1 and 2 are derivatives.
pub(crate) fn same(what: &str, got: &Array, want: &Value, part: usize) -> Outcome {
    let ty = &want.ty;
    if (got.dtype(), got.shape()) != (dtype(ty.kind), &ty.shape[..]) {
        return Err(format!("{what} is {}, not {ty:?}", got.aval()));
    }
    let got = numbers(&got.value());
    if !ty.kind.is_float() {
        return match (got.iter().zip(&want.ints)).position(|(&got, &want)| got != want as f64) {
            Some(at) => Err(format!(
                "{what}, element {at}: {}, not {}",
                got[at], want.ints[at]
            )),
            None => Ok(()),
        };
    }
    let slack = tolerance(ty, &want.floats, part);
    for (at, (got, want)) in got.iter().zip(&want.floats).enumerate() {
        let allowed = SLACK * want.e[part] + slack;
        let distance = (got - want.c[part]).abs();
        if distance.is_nan() || distance > allowed {
            return Err(format!(
                "{what}, element {at}: {got}, not {} (within {allowed:e})",
                want.c[part]
            ));
        }
    }
    Ok(())
}

/// What any element of an array may be away: of a derivative also a part of the largest, since reverse mode adds in
/// another order.
fn tolerance(ty: &Ty, wanted: &[Num], part: usize) -> f64 {
    let largest = wanted
        .iter()
        .map(|want| want.c[part].abs())
        .fold(0.0, f64::max);
    let units = if part == 0 { 0.0 } else { 64.0 };
    let tiny = if ty.kind == Kind::F32 { 1e-36 } else { 1e-300 };
    units * unit(ty.kind) * largest + tiny
}

/// Results one after the other.
pub(crate) fn all_same(
    what: &str,
    got: &[Array],
    want: &[std::rc::Rc<Value>],
    part: usize,
) -> Outcome {
    if got.len() != want.len() {
        return Err(format!("{what}: {} results, not {}", got.len(), want.len()));
    }
    for (index, (got, want)) in got.iter().zip(want).enumerate() {
        // Only floats have derivatives.
        if part == 0 || want.ty.kind.is_float() {
            same(&format!("{what}, result {index}"), got, want, part)?;
        }
    }
    Ok(())
}

/// The same bits.
pub(crate) fn identical(what: &str, got: &[Array], want: &[Array]) -> Outcome {
    for (index, (got, want)) in got.iter().zip(want).enumerate() {
        let (got, want) = (got.value(), want.value());
        if got.bytes() != want.bytes() || got.aval() != want.aval() {
            return Err(format!("{what}, result {index}: other bits"));
        }
    }
    Ok(())
}
