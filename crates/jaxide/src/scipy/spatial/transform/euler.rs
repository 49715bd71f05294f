//! Angles around axes.

use jaxide_core::Error;

use super::formulas::{of_each, product, vector};
use crate::array::Array;
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
    let angles = if angles.ndim() == 0 {
        lax::reshape(angles, [1])
    } else {
        angles.clone()
    };
    super::check_last(NAME, &angles, axes.len());
    let angles = if degrees {
        &angles * constant(&angles, PI / 180.0)
    } else {
        angles
    };
    of_each([(&angles, 1)], |[angles]| {
        let quats = axes.iter().enumerate().map(|(at, &axis)| {
            let half = angles.index(at as i64) / 2.0;
            let mut parts = [(); 4].map(|()| numpy::full_like(&half, 0));
            parts[3] = half.cos();
            parts[axis] = half.sin();
            vector(&parts)
        });
        let joined = quats.reduce(|result, quat| match turning {
            true => product(&result, &quat),
            false => product(&quat, &result),
        });
        joined.expect("there is an axis")
    })
}

/// By the method of Bernardes and Viollet.
#[track_caller]
pub(super) fn angles(seq: &str, quat: &Array, degrees: bool) -> Array {
    let (mut axes, turning) = axes("Rotation::as_euler", seq, 3..=3);
    if turning {
        axes.reverse();
    }
    let [i, j] = [axes[0], axes[1]];
    let symmetric = i == axes[2];
    let k = if symmetric { 3 - i - j } else { axes[2] };
    of_each([(quat, 1)], |[quat]| {
        let places = Places {
            i,
            j,
            k,
            symmetric,
            turning,
        };
        angles_of(&quat, &places, degrees)
    })
}

/// The axes of a sequence, and the third one where two are the same.
struct Places {
    i: usize,
    j: usize,
    k: usize,
    symmetric: bool,
    turning: bool,
}

#[track_caller]
fn angles_of(quat: &Array, places: &Places, degrees: bool) -> Array {
    let &Places {
        i,
        j,
        k,
        symmetric,
        turning,
    } = places;
    let parts = [0, 1, 2, 3].map(|at| quat.index(at));
    let sign =
        ((i as i32 - j as i32) * (j as i32 - k as i32) * (k as i32 - i as i32)).div_euclid(2);
    let signed = &parts[k] * f64::from(sign);
    let [a, b, c, d] = if symmetric {
        [parts[3].clone(), parts[i].clone(), parts[j].clone(), signed]
    } else {
        [
            &parts[3] - &parts[j],
            &parts[i] + &signed,
            &parts[j] + &parts[3],
            signed - &parts[i],
        ]
    };
    let length = |x: &Array, y: &Array| hypotenuse(x, y);
    let middle: Array = 2 * numpy::arctan2(&length(&c, &d), &length(&a, &b));
    let pi = constant(quat, PI);
    let small = constant(quat, 1e-7);
    let at_zero = middle.abs().le(&small);
    let at_half = (&middle - &pi).abs().le(small) & !&at_zero;
    let regular = !(&at_zero | &at_half);
    let half_sum = numpy::arctan2(&b, &a);
    let half_difference = numpy::arctan2(&d, &c);
    // Where two axes are the same, one angle decides alone, and the other one is 0.
    let back = if turning { 1.0 } else { -1.0 };
    let alone = where_(&at_zero, 2 * &half_sum, 2 * &half_difference * back);
    let zero = numpy::full_like(&alone, 0);
    let difference = &half_sum - &half_difference;
    let sum = half_sum + half_difference;
    let (first, third) = if turning {
        (sum, difference)
    } else {
        (difference, sum)
    };
    let mut first = where_(&regular, first, alone);
    let mut third = where_(&regular, third, zero);
    let mut middle = middle;
    if !symmetric {
        if turning {
            first *= f64::from(sign);
        } else {
            third *= f64::from(sign);
        }
        middle -= constant(quat, PI / 2.0);
    }
    let angles = vector(&[first, middle, third]);
    let angles = remainder(&(angles + &pi), constant(quat, 2.0 * PI)) - pi;
    if degrees {
        angles * constant(quat, 180.0 / PI)
    } else {
        angles
    }
}

/// The length of a vector of two numbers, without overflow.
#[track_caller]
fn hypotenuse(x: &Array, y: &Array) -> Array {
    let (x, y) = (x.abs(), y.abs());
    let larger = numpy::maximum(&x, &y);
    let smaller = numpy::minimum(&x, &y);
    let is_zero = larger.equal(0);
    let safe = where_(&is_zero, 1.0, &larger);
    let ratio = smaller / &safe;
    where_(&is_zero, 0.0, &safe * numpy::sqrt(&(1 + &ratio * &ratio)))
}
