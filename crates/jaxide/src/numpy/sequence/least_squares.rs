//! Least squares by singular values, for the fit of polynomials.

use jaxide_core::prims::{DotDimensionNumbers, DotPrecision, Precision};
use jaxide_core::{DType, Dims};

use crate::array::{Array, promote_dtypes};
use crate::lax;
use crate::numpy::nested::constant;
use crate::numpy::place::at;
use crate::numpy::{self, finfo};
use crate::numpy::{position_type, where_};
use crate::trace::library;
use crate::trace::library::library_call;

/// The solution of a system, and what is known of it.
pub(super) struct Solution {
    pub(super) x: Array,
    pub(super) residuals: Array,
    pub(super) rank: Array,
    pub(super) singular_values: Array,
}

/// The `x` for which `a x` is nearest to `b`, a vector or columns.
#[track_caller]
pub(super) fn least_squares(a: &Array, b: &Array, rcond: f64) -> Solution {
    let operands = [a.clone(), b.clone(), Array::from(rcond)];
    let mut results = library_call("_lstsq", "", &operands, |operands| {
        let [a, b] = promote_dtypes("lstsq", [&operands[0], &operands[1]]);
        solved(&a, &b, &operands[2])
    });
    let singular_values = results.swap_remove(3);
    let rank = results.swap_remove(2);
    let residuals = results.swap_remove(1);
    Solution {
        x: results.swap_remove(0),
        residuals,
        rank,
        singular_values,
    }
}

#[track_caller]
fn product(a: &Array, b: &Array) -> Array {
    let numbers = DotDimensionNumbers {
        lhs_contracting: Dims::from_slice(&[1]),
        rhs_contracting: Dims::from_slice(&[0]),
        ..Default::default()
    };
    let exact = Some(DotPrecision::Operands(
        Precision::Highest,
        Precision::Highest,
    ));
    lax::dot_general(a, b, numbers, exact, Some(a.dtype()))
}

#[track_caller]
fn solved(a: &Array, b: &Array, rcond: &Array) -> Vec<Array> {
    let single = b.ndim() == 1;
    let b = if single {
        lax::expand_dims(b, 1)
    } else {
        b.clone()
    };
    let dtype = a.dtype();
    let negative = lax::lt(rcond, &Array::from(0.0));
    let epsilon = constant(finfo(dtype).eps, real(dtype));
    let rcond = where_(&negative, &epsilon, rcond);
    let parts = library_call("svd", "", std::slice::from_ref(a), |x| {
        let (u, s, vt) = lax::linalg::svd(&x[0], false);
        vec![u, s, vt]
    });
    let (u, s, vt) = (&parts[0], &parts[1], &parts[2]);
    let positive = lax::gt(s, &constant(0, s.dtype()));
    let least = lax::mul(&lax::copy(&rcond), &at(s, 0, 0));
    let used = lax::bitwise_and(&positive, &lax::ge(s, &least));
    let rank = lax::reduce_sum(&lax::convert_element_type(&used, position_type(a)), 0);
    let safe = where_(&used, s, &Array::from(1));
    let inverse = lax::div(&constant(1.0, s.dtype()), &safe);
    let inverse = where_(&used, &inverse, &Array::from(0));
    let inverse = lax::expand_dims(&inverse, 1);
    let adjoint = |x: &Array| {
        let x = if x.dtype().is_complex() {
            lax::conj(x)
        } else {
            x.clone()
        };
        lax::transpose(&x, ())
    };
    let weights = product(&adjoint(u), &b);
    let x = product(&adjoint(vt), &numpy::multiply(&inverse, &weights));
    let difference = lax::sub(&b, &product(a, &x));
    let norm = library("norm", "", [&difference], |[x]| {
        let squares = if x.dtype().is_complex() {
            lax::real(&lax::mul(x, &lax::conj(x)))
        } else {
            lax::mul(x, x)
        };
        lax::sqrt(&lax::reduce_sum(&squares, 0))
    });
    let residuals = lax::integer_pow(&norm, 2);
    let x = if single {
        lax::reshape(&x, [a.shape()[1]])
    } else {
        x
    };
    vec![x, residuals, rank, s.clone()]
}

fn real(dtype: DType) -> DType {
    match dtype {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        real => real,
    }
}
