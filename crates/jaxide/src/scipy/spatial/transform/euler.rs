//! Angles around axes.

use jaxide_core::Error;

use super::formulas::{at_least_1d, of_each, product, truth};
use crate::array::Array;
use crate::idx;
use crate::numpy::{remainder, where_};
use crate::scipy::operands::constant;
use crate::trace::raise;
use crate::{lax, numpy};

const PI: f64 = std::f64::consts::PI;

/// The axes of a sequence, and whether they turn too.
#[track_caller]
fn axes(operation: &str, seq: &str, count: std::ops::RangeInclusive<usize>) -> (Vec<usize>, bool) {
    let of = |names: &str| {
        seq.chars()
            .map(|name| names.find(name))
            .collect::<Option<Vec<usize>>>()
    };
    let axes = of("xyz")
        .map(|axes| (axes, false))
        .or(of("XYZ").map(|axes| (axes, true)));
    match axes {
        Some((axes, turning))
            if count.contains(&axes.len()) && axes.windows(2).all(|pair| pair[0] != pair[1]) =>
        {
            (axes, turning)
        }
        _ => {
            let error = format!(
                "{} to {} axes of `xyz`, or of `XYZ`, are needed, with no neighbours equal, and {seq:?} is given",
                count.start(),
                count.end()
            );
            raise(Error::parameter(error).in_operation(operation));
        }
    }
}

#[track_caller]
pub(super) fn quaternion(seq: &str, angles: &Array, degrees: bool) -> Array {
    const NAME: &str = "Rotation::from_euler";
    let (axes, turning) = axes(NAME, seq, 1..=3);
    let angles = at_least_1d(angles);
    super::check_last(NAME, &angles, axes.len());
    of_each([(&angles, 1), (&numbered(&axes), 1)], |[angles, axes]| {
        let radians = &angles * constant(&angles, PI / 180.0);
        let angles = where_(&truth(degrees), radians, &angles);
        let turn = |at: i64| elementary(&axes.index(at), &angles.index(at));
        let mut result = turn(0);
        for at in 1..axes.shape()[0] as i64 {
            let quat = turn(at);
            let inside = product(&result, &quat);
            result = where_(&truth(turning), inside, product(&quat, &result));
        }
        result
    })
}

/// The numbers of axes as an array.
fn numbered(axes: &[usize]) -> Array {
    Array::from(axes.iter().map(|&axis| axis as i32).collect::<Vec<i32>>())
}

/// The quaternion of a turn around one of the three axes.
#[track_caller]
fn elementary(axis: &Array, angle: &Array) -> Array {
    let quat = numpy::zeros([4], angle.dtype());
    let quat = quat.at(3).set((angle / 2.0).cos());
    quat.at(axis).set((angle / 2.0).sin())
}

/// By the method of Bernardes and Viollet.
#[track_caller]
pub(super) fn angles(seq: &str, quat: &Array, degrees: bool) -> Array {
    let (axes, turning) = axes("Rotation::as_euler", seq, 3..=3);
    of_each([(quat, 1), (&numbered(&axes), 1)], |[quat, axes]| {
        angles_of(&quat, &axes, truth(!turning), truth(degrees))
    })
}

#[track_caller]
fn angles_of(quat: &Array, axes: &Array, extrinsic: Array, degrees: Array) -> Array {
    let first = where_(&extrinsic, 0, 2);
    let third = where_(&extrinsic, 2, 0);
    let axes = where_(&extrinsic, axes, axes.index(idx![..; -1]));
    let [i, j, k] = [0, 1, 2].map(|at| axes.index(at));
    let symmetric = i.equal(&k);
    // Where two axes are the same, the third one.
    let k = where_(&symmetric, 3 - &i - &j, k);
    let order = (&i - &j) * (&j - &k) * (&k - &i);
    let sign = lax::copy(&numpy::floor_divide(order, 2)).astype(quat.dtype());
    let part = |at: &Array| quat.index(at);
    let real = || quat.index(3);
    let a = where_(&symmetric, real(), real() - part(&j));
    let b = where_(&symmetric, part(&i), part(&i) + part(&k) * &sign);
    let c = where_(&symmetric, part(&j), part(&j) + real());
    let d = where_(&symmetric, part(&k) * &sign, part(&k) * &sign - part(&i));
    let mut angles = numpy::zeros([3], quat.dtype());
    let middle = 2 * numpy::arctan2(&numpy::hypot(&c, &d), &numpy::hypot(&a, &b));
    angles = angles.at(1).set(middle);
    let pi = constant(quat, PI);
    let small = constant(quat, 1e-7);
    let at_half = (angles.index(1) - &pi).abs().le(&small);
    let case = where_(&at_half, 2, 0);
    let at_zero = angles.index(1).abs().le(&small);
    let case = where_(&at_zero, 1, case);
    let half_sum = numpy::arctan2(&b, &a);
    let half_difference = numpy::arctan2(&d, &c);
    // Where the middle angle leaves one degree of freedom, the first angle decides alone, and the last one is 0.
    let is_zero = case.equal(1);
    let doubled: Array = 2 * &half_sum;
    let alone = where_(
        &is_zero,
        doubled,
        2 * &half_difference * where_(&extrinsic, -1, 1),
    );
    angles = angles.at(0).set(alone);
    let regular = case.equal(0);
    let difference = &half_sum - &half_difference;
    let own = angles.index(&first);
    angles = angles.at(&first).set(where_(&regular, difference, own));
    let regular = case.equal(0);
    let sum = half_sum + half_difference;
    let own = angles.index(&third);
    angles = angles.at(&third).set(where_(&regular, sum, own));
    let own = angles.index(&third);
    let signed = angles.index(&third) * sign;
    angles = angles.at(&third).set(where_(&symmetric, own, signed));
    let own = angles.index(1);
    let turned = angles.index(1) - constant(quat, PI / 2.0);
    angles = angles.at(1).set(where_(&symmetric, own, turned));
    let angles = remainder(&(angles + &pi), 2.0 * PI) - pi;
    let in_degrees = &angles * constant(quat, 180.0 / PI);
    where_(&degrees, in_degrees, angles)
}
