//! Functions given by cases.

use std::sync::atomic::{AtomicU64, Ordering};

use jaxide_core::{DType, Error};

use super::apply::vectorize;
use crate::array::{Array, as_dtype, result_dtype};
use crate::control::switch;
use crate::lax;
use crate::numpy::cumsum;
use crate::numpy::nested::{constant, named};
use crate::numpy::place::cut;
use crate::numpy::{astype, broadcast_arrays, concatenate, stack};
use crate::trace::raise;

/// The element of `choicelist` whose condition is the first that is true, `default` where none is.
///
/// # Panics
/// When there are no conditions or not as many choices, or shapes do not broadcast.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([1, 2, 3, 4]);
/// let y = numpy::select(&[x.lt(2), x.gt(3)], &[&x * 10, -&x], 0);
/// assert_eq!(y.to_vec::<i32>(), [10, 0, 0, -4]);
/// ```
#[track_caller]
pub fn select(condlist: &[Array], choicelist: &[Array], default: impl Into<Array>) -> Array {
    let _named = crate::trace::named("select");
    const OPERATION: &str = "select";
    if condlist.len() != choicelist.len() || condlist.is_empty() {
        raise(
            Error::parameter(format!(
                "{} conditions and {} choices are given",
                condlist.len(),
                choicelist.len()
            ))
            .in_operation(OPERATION),
        );
    }
    let choices: Vec<Array> = std::iter::once(default.into())
        .chain(choicelist.to_vec())
        .collect();
    let (dtype, weak) = result_dtype(OPERATION, &choices.iter().collect::<Vec<_>>());
    let choices: Vec<Array> = choices.iter().map(|x| as_dtype(x, dtype, weak)).collect();
    let conditions: Vec<Array> = std::iter::once(constant(false, DType::Bool))
        .chain(condlist.to_vec())
        .collect();
    let conditions = stack(&broadcast_arrays(&conditions), 0);
    let which = lax::argmax(&astype(&conditions, DType::Bool), 0, DType::I32);
    let all: Vec<Array> = std::iter::once(which).chain(choices).collect();
    let all = broadcast_arrays(&all);
    lax::select_n(&all[0], &all[1..])
}

/// A case of [`piecewise`].
#[derive(Clone)]
pub enum Piece<'a> {
    /// A number.
    Value(Array),
    /// A function of scalars.
    Function(&'a dyn Fn(Array) -> Array),
}

impl<T: Into<Array>> From<T> for Piece<'_> {
    fn from(value: T) -> Self {
        Piece::Value(value.into())
    }
}

/// The case of `funclist` whose condition is the first that is true, applied to the elements of `x`; the last of `funclist`, if
/// there is one more than conditions, where none is, and 0 otherwise. The result has the element type of `x`.
///
/// # Panics
/// When there are not as many cases as conditions, or one more.
///
/// ```
/// use jaxide::{Array, numpy::{self, Piece}};
/// let x = Array::from([-2.0f32, 0.5, 3.0]);
/// let cases = [Piece::from(-1.0), Piece::Function(&|x| x * 2.0)];
/// let y = numpy::piecewise(&x, &[x.lt(0), x.gt(1)], &cases);
/// assert_eq!(y.to_vec::<f32>(), [-1.0, 0.0, 6.0]);
/// ```
#[track_caller]
pub fn piecewise(x: &Array, condlist: &[Array], funclist: &[Piece<'_>]) -> Array {
    let _named = crate::trace::named("piecewise");
    // A call is another function than all calls before, whose cases may be others.
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let count = condlist.len();
    let pieces: Vec<Piece<'_>> = if funclist.len() == count + 1 {
        let (last, others) = funclist.split_at(count);
        others.iter().chain(last).cloned().collect()
    } else if funclist.len() == count {
        std::iter::once(Piece::from(0))
            .chain(funclist.iter().cloned())
            .collect()
    } else {
        raise(
            Error::parameter(format!(
                "{} cases are given for {count} conditions",
                funclist.len()
            ))
            .in_operation("piecewise"),
        )
    };
    let conditions: Vec<Array> = condlist
        .iter()
        .map(|condition| lax::expand_dims(&astype(condition, DType::Bool), 0))
        .collect();
    let mut operands = vec![x.clone(), concatenate(&conditions, 0)];
    operands.extend(pieces.iter().filter_map(|piece| match piece {
        Piece::Value(value) => Some(value.clone()),
        Piece::Function(_) => None,
    }));
    let key = CALLS.fetch_add(1, Ordering::Relaxed).to_string();
    named("_piecewise", &key, &operands, |operands| {
        let (x, conditions) = (&operands[0], &operands[1]);
        let first = cut(conditions, 0, 0, 1.min(count));
        let none = lax::full(first.shape(), false, DType::Bool);
        let which = cumsum(&concatenate(&[none, conditions.clone()], 0), 0);
        let which = lax::argmax(&which, 0, DType::I32);
        let dtype = x.dtype();
        let cases = |scalars: &[Array]| {
            let mut values = operands[2..].iter();
            let branches = pieces.iter().map(|piece| {
                let value = match piece {
                    Piece::Value(_) => values.next().cloned(),
                    Piece::Function(_) => None,
                };
                move |x: Array| match (piece, value) {
                    (Piece::Function(f), _) => astype(&f(x), dtype),
                    (Piece::Value(given), value) => {
                        astype(&lax::copy(&value.unwrap_or(given.clone())), dtype)
                    }
                }
            });
            vec![switch(
                scalars[0].clone(),
                branches.collect::<Vec<_>>(),
                scalars[1].clone(),
            )]
        };
        vectorize(cases, ())(&[which, x.clone()]).swap_remove(0)
    })
}
