//! Formulas of one quaternion, of which there may be more along leading axes.

use jaxide_core::DType;

use crate::array::Array;
use crate::idx;
use crate::numpy::parts::vectorized;
use crate::numpy::{remainder, where_};
use crate::scipy::operands::constant;
use crate::trace::library;
use crate::{lax, numpy};

/// `f` of operands with so many axes, as which they are given last; leading axes broadcast.
#[track_caller]
pub(super) fn of_each<const N: usize>(
    operands: [(&Array, usize); N],
    f: impl Fn([Array; N]) -> Array,
) -> Array {
    let cores = operands.map(|(_, rank)| rank);
    let operands = operands.map(|(x, _)| x.clone());
    let one = |own: &[Array]| vec![f(std::array::from_fn(|at| own[at].clone()))];
    vectorized("Rotation", &cores, &operands, &one).swap_remove(0)
}

/// A vector of numbers.
#[track_caller]
pub(super) fn vector(parts: &[Array]) -> Array {
    let parts: Vec<Array> = parts.iter().map(|x| lax::expand_dims(x, [0])).collect();
    lax::concatenate(&parts, 0)
}

/// `jnp.atleast_1d`.
#[track_caller]
pub(super) fn at_least_1d(x: &Array) -> Array {
    library("atleast_1d", "", [x], |[x]| match x.ndim() {
        0 => lax::expand_dims(x, [0]),
        _ => x.clone(),
    })
}

/// A vector with a number behind.
#[track_caller]
fn extended(x: &Array, last: &Array) -> Array {
    let first = at_least_1d(x);
    lax::concatenate(&[first, at_least_1d(last)], 0)
}

/// A truth value with an element type of its own.
pub(super) fn truth(value: bool) -> Array {
    Array::from(value).astype(DType::Bool)
}

#[track_caller]
fn norm(x: &Array) -> Array {
    numpy::dot(x, x).sqrt()
}

#[track_caller]
pub(super) fn normalized(quat: &Array) -> Array {
    of_each([(quat, 1)], |[quat]| {
        let norm = norm(&quat);
        quat / norm
    })
}

#[track_caller]
pub(super) fn inverse(quat: &Array) -> Array {
    let signs = crate::scipy::operands::numbers(&[-1.0, -1.0, -1.0, 1.0], quat.dtype());
    of_each([(quat, 1)], |[quat]| quat * &signs)
}

/// The quaternion with a real part that is not negative; of 0, the first other part that is none.
#[track_caller]
pub(super) fn canonical(quat: &Array) -> Array {
    of_each([(quat, 1)], |[quat]| {
        let negative = quat.lt(0);
        let zero = quat.equal(0);
        let mut decided = negative.index(3);
        for at in 0..3 {
            let mut zeros = zero.index(3);
            for before in 0..at {
                zeros &= zero.index(before);
            }
            decided |= zeros & negative.index(at);
        }
        where_(&decided, -&quat, &quat)
    })
}

#[track_caller]
pub(super) fn product(p: &Array, q: &Array) -> Array {
    of_each([(p, 1), (q, 1)], |[p, q]| {
        let cross = numpy::cross(&p.slice(..3), &q.slice(..3), ());
        let part = |at: i64| p.index(3) * q.index(at) + q.index(3) * p.index(at) + cross.index(at);
        let [x, y, z] = [0, 1, 2].map(part);
        let w = p.index(3) * q.index(3)
            - p.index(0) * q.index(0)
            - p.index(1) * q.index(1)
            - p.index(2) * q.index(2);
        vector(&[x, y, z, w])
    })
}

#[track_caller]
pub(super) fn as_matrix(quat: &Array) -> Array {
    of_each([(quat, 1)], |[quat]| {
        let [x, y, z, w] = [0, 1, 2, 3].map(|at| quat.index(at));
        let [x2, y2, z2, w2] = [&x, &y, &z, &w].map(|x| x * x);
        let products = [(&x, &y), (&z, &w), (&x, &z), (&y, &w), (&y, &z), (&x, &w)];
        let [xy, zw, xz, yw, yz, xw] = products.map(|(x, y)| x * y);
        let rows = [
            [&x2 - &y2 - &z2 + &w2, 2 * (&xy - &zw), 2 * (&xz + &yw)],
            [2 * (&xy + &zw), -&x2 + &y2 - &z2 + &w2, 2 * (&yz - &xw)],
            [2 * (&xz - &yw), 2 * (&yz + &xw), -&x2 - &y2 + &z2 + &w2],
        ];
        let rows = rows.map(|row| lax::expand_dims(&vector(&row), [0]));
        lax::concatenate(&rows, 0)
    })
}

#[track_caller]
pub(super) fn applied(matrix: &Array, vector: &Array, inverse: bool) -> Array {
    of_each([(matrix, 2), (vector, 1)], |[matrix, vector]| {
        let transposed = matrix.t();
        let matrix = where_(&truth(inverse), transposed, matrix);
        numpy::matmul(&matrix, &vector)
    })
}

#[track_caller]
pub(super) fn as_mrp(quat: &Array) -> Array {
    of_each([(quat, 1)], |[quat]| {
        let sign = where_(&quat.index(3).lt(0), -1.0, 1.0);
        let denominator: Array = 1.0 + &sign * quat.index(3);
        sign * quat.slice(..3) / denominator
    })
}

#[track_caller]
pub(super) fn as_rotvec(quat: &Array, degrees: bool) -> Array {
    of_each([(quat, 1)], |[quat]| {
        let negative = quat.index(3).lt(0);
        let quat = where_(&negative, -&quat, &quat);
        let length = norm(&quat.slice(..3));
        let angle: Array = 2.0 * numpy::arctan2(&length, &quat.index(3));
        let square = &angle * &angle;
        let small = 2 + &square / 12 + 7 * &square * &square / 2880;
        let large = &angle / (&angle / 2).sin();
        let scale = where_(&angle.le(constant(&angle, 1e-3)), small, large);
        let in_degrees = &scale * constant(&scale, 180.0 / std::f64::consts::PI);
        let scale = where_(&truth(degrees), in_degrees, scale);
        scale * lax::copy(&quat.slice(..3))
    })
}

#[track_caller]
pub(super) fn from_rotvec(rotvec: &Array, degrees: bool) -> Array {
    of_each([(rotvec, 1)], |[rotvec]| {
        let radians = &rotvec * constant(&rotvec, std::f64::consts::PI / 180.0);
        let rotvec = where_(&truth(degrees), radians, rotvec);
        let angle = norm(&rotvec);
        let square = &angle * &angle;
        let small = 0.5 - &square / 48 + &square * &square / 3840;
        let large = (&angle / 2).sin() / &angle;
        let scale = where_(&angle.le(constant(&angle, 1e-3)), small, large);
        extended(&(scale * rotvec), &(angle / 2).cos())
    })
}

#[track_caller]
pub(super) fn from_mrp(mrp: &Array) -> Array {
    of_each([(mrp, 1)], |[mrp]| {
        let above = numpy::dot(&mrp, &mrp) + 1;
        let doubled = 2 * &mrp;
        extended(&doubled, &(2 - &above)) / above
    })
}

#[track_caller]
pub(super) fn magnitude(quat: &Array) -> Array {
    of_each([(quat, 1)], |[quat]| {
        let length = norm(&quat.slice(..3));
        2.0 * numpy::arctan2(&length, &quat.index(3).abs())
    })
}

/// From the largest of the diagonal and the trace, so that nothing cancels.
#[track_caller]
pub(super) fn from_matrix(matrix: &Array) -> Array {
    of_each([(matrix, 2)], |[matrix]| {
        let m = |row: i64, column: i64| matrix.index(idx![row, column]);
        let trace = m(0, 0) + m(1, 1) + m(2, 2);
        let decision = vector(&[m(0, 0), m(1, 1), m(2, 2), trace]);
        let i = lax::argmax(&decision, 0, DType::I32);
        let j = remainder(&(&i + 1), 3);
        let k = remainder(&(&j + 1), 3);
        let m = |row: &Array, column: &Array| matrix.index(idx![row, column]);
        let mut quat = numpy::empty([4], matrix.dtype());
        quat = quat.at(&i).set(1 - decision.index(3) + 2 * m(&i, &i));
        quat = quat.at(&j).set(m(&j, &i) + m(&i, &j));
        quat = quat.at(&k).set(m(&k, &i) + m(&i, &k));
        quat = quat.at(3).set(m(&k, &j) - m(&j, &k));
        let m = |row: i64, column: i64| matrix.index(idx![row, column]);
        let mut last = numpy::empty([4], matrix.dtype());
        last = last.at(0).set(m(2, 1) - m(1, 2));
        last = last.at(1).set(m(0, 2) - m(2, 0));
        last = last.at(2).set(m(1, 0) - m(0, 1));
        last = last.at(3).set(1 + decision.index(3));
        let quat = where_(&i.not_equal(3), quat, last);
        normalized(&quat)
    })
}
