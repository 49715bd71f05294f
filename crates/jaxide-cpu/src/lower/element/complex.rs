//! Complex numbers: pairs of real and imaginary part.

use super::super::graph::MapOp;
use super::Element;
use crate::lanes::{Builder, Value, math};
use smallvec::smallvec;

type Pair = (Value, Value);

/// An operation on complex numbers; comparisons and parts give one value.
pub(super) fn complex(b: &mut Builder, op: MapOp, x: &[Element]) -> Option<Element> {
    let pair = |k: usize| -> Pair { (x[k][0], x[k][1]) };
    let parts = |k: usize| [x[k][0], x[k][1]];
    let element = |z: [Value; 2]| Element::from_slice(&z);
    Some(match (op, x.len()) {
        (MapOp::Neg, 1) => {
            let (re, im) = pair(0);
            smallvec![b.neg(re), b.neg(im)]
        }
        (MapOp::Conj, 1) => {
            let (re, im) = pair(0);
            smallvec![re, b.neg(im)]
        }
        (MapOp::Real, 1) => smallvec![pair(0).0],
        (MapOp::Imag, 1) => smallvec![pair(0).1],
        (MapOp::Square, 1) => square(b, pair(0)),
        (MapOp::OneMinusSquare, 1) => {
            let (re, im) = pair(0);
            let one = b.float(b.ty(re), 1.0);
            let (plus, minus, back) = (b.add(one, re), b.sub(one, re), b.neg(im));
            mul(b, (plus, im), (minus, back))
        }
        (MapOp::IntegerPow(n), 1) => {
            let product = power(b, pair(0), n.unsigned_abs());
            if n >= 0 {
                return Some(product);
            }
            let ty = b.ty(product[0]);
            let one = [b.float(ty, 1.0), b.float(ty, 0.0)];
            element(math::complex::div(b, one, [product[0], product[1]]))
        }
        (MapOp::IsFinite, 1) => {
            let infinity = b.float(b.ty(x[0][0]), f64::INFINITY);
            let [re, im] = parts(0).map(|part| {
                let size = b.abs(part);
                b.lt(size, infinity)
            });
            smallvec![b.and(re, im)]
        }
        (MapOp::Clamp, 3) => {
            let above = less(b, pair(0), pair(1), false);
            let above = super::select(b, above, &x[1], &x[0]);
            let below = less(b, (above[0], above[1]), pair(2), false);
            super::select(b, below, &above, &x[2])
        }
        (MapOp::Abs, 1) => smallvec![math::complex::abs(b, parts(0))],
        (MapOp::Sign, 1) => element(math::complex::sign(b, parts(0))),
        (MapOp::Function(function), 1) => element(function.complex_lanes()?(b, parts(0))),
        (MapOp::Div, 2) => element(math::complex::div(b, parts(0), parts(1))),
        (MapOp::Pow, 2) => element(math::complex::pow(b, parts(0), parts(1))),
        (MapOp::Atan2, 2) => element(math::complex::atan2(b, parts(0), parts(1))),
        (MapOp::Add, 2) => {
            let ((a, c), (d, e)) = (pair(0), pair(1));
            smallvec![b.add(a, d), b.add(c, e)]
        }
        (MapOp::Sub, 2) => {
            let ((a, c), (d, e)) = (pair(0), pair(1));
            smallvec![b.sub(a, d), b.sub(c, e)]
        }
        (MapOp::Mul, 2) => mul(b, pair(0), pair(1)),
        (MapOp::Eq | MapOp::EqTotal, 2) => {
            let ((a, c), (d, e)) = (pair(0), pair(1));
            let (re, im) = (b.eq(a, d), b.eq(c, e));
            smallvec![b.and(re, im)]
        }
        (MapOp::Ne, 2) => {
            let ((a, c), (d, e)) = (pair(0), pair(1));
            let (re, im) = (b.ne(a, d), b.ne(c, e));
            smallvec![b.or(re, im)]
        }
        (MapOp::Lt, 2) => smallvec![less(b, pair(0), pair(1), false)],
        (MapOp::Le, 2) => smallvec![less(b, pair(0), pair(1), true)],
        (MapOp::Gt, 2) => smallvec![less(b, pair(1), pair(0), false)],
        (MapOp::Ge, 2) => smallvec![less(b, pair(1), pair(0), true)],
        (MapOp::Max, 2) => {
            let first = less(b, pair(1), pair(0), false);
            super::select(b, first, &x[0], &x[1])
        }
        (MapOp::Min, 2) => {
            let first = less(b, pair(0), pair(1), false);
            super::select(b, first, &x[0], &x[1])
        }
        _ => return None,
    })
}

fn mul(b: &mut Builder, (a, c): Pair, (d, e): Pair) -> Element {
    let (ad, ce) = (b.mul(a, d), b.mul(c, e));
    let (ae, cd) = (b.mul(a, e), b.mul(c, d));
    smallvec![b.sub(ad, ce), b.add(ae, cd)]
}

/// The real part as a product of sum and difference, and 0 where that is an exact cancellation.
fn square(b: &mut Builder, (re, im): Pair) -> Element {
    let ty = b.ty(re);
    let (sum, difference) = (b.add(re, im), b.sub(re, im));
    let real = b.mul(difference, sum);
    let (size, other) = (b.abs(re), b.abs(im));
    let (zero, infinity) = (b.float(ty, 0.0), b.float(ty, f64::INFINITY));
    let (same, finite) = (b.eq(size, other), b.lt(size, infinity));
    let balanced = b.and(same, finite);
    let real = b.select(balanced, zero, real);
    let product = b.mul(re, im);
    smallvec![real, b.add(product, product)]
}

/// Lexicographic: by the real parts, and by the imaginary ones where those are equal.
fn less(b: &mut Builder, (a, c): Pair, (d, e): Pair, or_equal: bool) -> Value {
    let (below, same) = (b.lt(a, d), b.eq(a, d));
    let second = if or_equal { b.le(c, e) } else { b.lt(c, e) };
    let tie = b.and(same, second);
    b.or(below, tie)
}

fn power(b: &mut Builder, x: Pair, n: u64) -> Element {
    let ty = b.ty(x.0);
    let mut rest = n;
    let mut square = x;
    let mut product: Option<Pair> = None;
    while rest > 0 {
        if rest & 1 == 1 {
            product = Some(match product {
                None => square,
                Some(p) => {
                    let v = mul(b, p, square);
                    (v[0], v[1])
                }
            });
        }
        rest >>= 1;
        if rest > 0 {
            let v = mul(b, square, square);
            square = (v[0], v[1]);
        }
    }
    match product {
        Some((re, im)) => smallvec![re, im],
        None => smallvec![b.float(ty, 1.0), b.float(ty, 0.0)],
    }
}
