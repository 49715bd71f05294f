//! Divisors and multiples of integers.

use jaxide_core::Error;

use super::super::arithmetic::constant;
use super::super::{abs, any, check_broadcast, floor_divide, multiply};
use super::choice::where_;
use super::floats::to_one_shape;
use crate::array::{Array, promote_dtypes};
use crate::control::while_loop;
use crate::lax;
use crate::trace::{library, raise};

/// Greatest common divisor of integers, by Euclid's algorithm.
///
/// # Panics
/// When shapes do not broadcast, or numbers are not integers.
///
/// ```
/// use jaxide::numpy;
/// assert_eq!(numpy::gcd([12, -18, 0], 8).to_vec::<i32>(), [4, 2, 8]);
/// ```
#[track_caller]
pub fn gcd(x1: impl Into<Array>, x2: impl Into<Array>) -> Array {
    let _named = crate::trace::named("gcd");
    let (x1, x2) = (x1.into(), x2.into());
    check("gcd", &x1, &x2);
    divisor(&x1, &x2)
}

#[track_caller]
fn check(operation: &str, x1: &Array, x2: &Array) {
    check_broadcast(operation, &[x1, x2]);
    let (dtype, _) = crate::array::result_dtype(operation, &[x1, x2]);
    if !dtype.is_integer() {
        let error = format!(
            "integers are needed, and {} and {} are given",
            x1.aval(),
            x2.aval()
        );
        raise(Error::dtype(error).in_operation(operation));
    }
}

#[track_caller]
fn divisor(x1: &Array, x2: &Array) -> Array {
    library("gcd", "", [x1, x2], |operands| {
        let [x1, x2] = promote_dtypes("gcd", operands);
        let [x1, x2] = to_one_shape("gcd", [&x1, &x2]);
        let init = (abs(&x1), abs(&x2));
        let (divisor, _) = while_loop(
            |(_, x2): (Array, Array)| any(&lax::ne(&x2, &constant(&x2, 0)), ()),
            |(x1, x2): (Array, Array)| {
                let zero = constant(&x2, 0);
                let next = where_(lax::ne(&x2, &zero), &x2, &x1);
                let more = lax::ne(&x2, &zero);
                let rest = where_(more, lax::rem(&x1, &x2), &zero);
                let larger = where_(lax::lt(&next, &rest), &rest, &next);
                (larger, where_(lax::lt(&next, &rest), &next, &rest))
            },
            init,
        );
        divisor
    })
}

/// Least common multiple of integers; zero beside zero.
///
/// # Panics
/// When shapes do not broadcast, or numbers are not integers.
///
/// ```
/// use jaxide::numpy;
/// assert_eq!(numpy::lcm([4, 0], 6).to_vec::<i32>(), [12, 0]);
/// ```
#[track_caller]
pub fn lcm(x1: impl Into<Array>, x2: impl Into<Array>) -> Array {
    let _named = crate::trace::named("lcm");
    let (x1, x2) = (x1.into(), x2.into());
    check("lcm", &x1, &x2);
    library("lcm", "", [&x1, &x2], |operands| {
        let [x1, x2] = promote_dtypes("lcm", operands);
        let (x1, x2) = (abs(&x1), abs(&x2));
        let divisor = divisor(&x1, &x2);
        let zero = constant(&divisor, 0);
        let vanishes = lax::eq(&divisor, &zero);
        let multiple = multiply(&x1, floor_divide(&x2, &divisor));
        where_(vanishes, zero, multiple)
    })
}
