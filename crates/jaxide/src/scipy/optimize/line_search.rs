//! A step along a direction that satisfies the strong conditions of Wolfe: algorithms 3.5 and 3.6 of Nocedal and Wright.

use jaxide_core::DType;
use jaxide_tree::Pytree;

use super::dot;
use crate::array::Array;
use crate::control::while_loop;
use crate::numpy::where_;
use crate::scipy::operands::constant;
use crate::{lax, numpy, value_and_grad_of};

/// What a line search found.
pub(super) struct Found {
    pub(super) failed: Array,
    /// How often function and gradient were evaluated.
    pub(super) evaluations: Array,
    /// The length of the step.
    pub(super) length: Array,
    /// Value and gradient at its end.
    pub(super) value: Array,
    pub(super) gradient: Array,
    /// 0, 1 for a failure, 3 for too many steps.
    pub(super) status: Array,
}

/// The function along the direction: where it begins, and what is known there.
struct Along<'a> {
    fun: &'a dyn Fn(Array) -> Array,
    x: &'a Array,
    direction: &'a Array,
    value: &'a Array,
    slope: Array,
    gradient: &'a Array,
}

impl Along<'_> {
    /// Value, slope and gradient at a length.
    #[track_caller]
    fn at(&self, length: &Array) -> Point {
        let length = length.astype(self.direction.dtype());
        let x = self.x + length * self.direction;
        let (value, gradient) = value_and_grad_of(&|x: Array| (self.fun)(x), x);
        let slope = dot(&gradient, self.direction);
        Point {
            value,
            slope,
            gradient,
        }
    }

    /// Whether the decrease is not sufficient.
    #[track_caller]
    fn too_high(&self, length: &Array, value: &Array) -> Array {
        let bound = self.value + constant(length, 1e-4) * length * &self.slope;
        value.gt(bound)
    }

    /// Whether the slope is flat enough.
    #[track_caller]
    fn flat(&self, slope: &Array) -> Array {
        slope.abs().le(constant(slope, -0.9) * &self.slope)
    }
}

struct Point {
    value: Array,
    slope: Array,
    gradient: Array,
}

/// The chosen step.
#[derive(Clone, Pytree)]
struct Star {
    length: Array,
    value: Array,
    slope: Array,
    gradient: Array,
}

impl Star {
    #[track_caller]
    fn chosen(which: &Array, new: &Star, old: &Star) -> Star {
        Star {
            length: where_(which, &new.length, &old.length),
            value: where_(which, &new.value, &old.value),
            slope: where_(which, &new.slope, &old.slope),
            gradient: where_(which, &new.gradient, &old.gradient),
        }
    }
}

/// An end of an interval.
#[derive(Clone, Pytree)]
struct End {
    length: Array,
    value: Array,
    slope: Array,
}

impl End {
    #[track_caller]
    fn chosen(which: &Array, new: &End, old: &End) -> End {
        End {
            length: where_(which, &new.length, &old.length),
            value: where_(which, &new.value, &old.value),
            slope: where_(which, &new.slope, &old.slope),
        }
    }
}

#[derive(Clone, Pytree)]
struct Zoom {
    done: Array,
    failed: Array,
    steps: Array,
    low: End,
    high: End,
    /// The end that was given up last.
    recent: [Array; 2],
    star: Star,
}

/// The minimum of the cubic through three points, the slope at the first.
#[track_caller]
fn cubic_minimum(a: &End, b: [&Array; 2], c: [&Array; 2]) -> Array {
    let slope = &a.slope;
    let db = b[0] - &a.length;
    let dc = c[0] - &a.length;
    let square = lax::integer_pow(&(&db * &dc), 2);
    let denominator = square * (&db - &dc);
    let rest_b = b[1] - &a.value - slope * &db;
    let rest_c = c[1] - &a.value - slope * &dc;
    let first = lax::integer_pow(&dc, 2) * &rest_b - lax::integer_pow(&db, 2) * &rest_c;
    let second = -lax::integer_pow(&dc, 3) * rest_b + lax::integer_pow(&db, 3) * rest_c;
    let (first, second) = (first / &denominator, second / denominator);
    let radical = &second * &second - 3.0 * &first * slope;
    &a.length + (radical.sqrt() - second) / (3.0 * first)
}

/// The minimum of the parabola through two points, the slope at the first.
#[track_caller]
fn parabola_minimum(a: &End, b: &End) -> Array {
    let db = &b.length - &a.length;
    let curvature = (&b.value - &a.value - &a.slope * &db) / lax::integer_pow(&db, 2);
    &a.length - &a.slope / (2.0 * curvature)
}

/// A step between two lengths of which the lower has a smaller value.
#[track_caller]
fn zoom(along: &Along<'_>, low: End, high: End, pass: &Array) -> Zoom {
    let middle = |x: &Array, y: &Array| (x + y) / 2.0;
    let init = Zoom {
        done: Array::from(false).astype(DType::Bool),
        failed: Array::from(false).astype(DType::Bool),
        steps: Array::from(0),
        recent: [
            middle(&low.length, &high.length),
            middle(&low.value, &high.value),
        ],
        star: Star {
            length: constant(&low.length, 1.0),
            value: low.value.clone(),
            slope: low.slope.clone(),
            gradient: along.gradient.clone(),
        },
        low,
        high,
    };
    while_loop(
        |zoom: Zoom| !zoom.done & !pass & !zoom.failed,
        |zoom: Zoom| zoom_step(along, zoom),
        init,
    )
}

#[track_caller]
fn zoom_step(along: &Along<'_>, zoom: Zoom) -> Zoom {
    let Zoom {
        done,
        failed,
        steps,
        low,
        high,
        recent,
        star,
    } = zoom;
    let width = &high.length - &low.length;
    let first = numpy::minimum(&high.length, &low.length);
    let last = numpy::maximum(&high.length, &low.length);
    let threshold = if width.dtype() == DType::F64 {
        1e-10
    } else {
        1e-5
    };
    let failed = failed | width.le(constant(&width, threshold));
    let inside = |x: &Array, part: f64| {
        let margin = constant(&width, part) * &width;
        x.gt(&first + &margin) & x.lt(&last - margin)
    };
    let cubic = cubic_minimum(&low, [&high.length, &high.value], [&recent[0], &recent[1]]);
    let use_cubic = steps.gt(0) & inside(&cubic, 0.2);
    let parabola = parabola_minimum(&low, &high);
    let use_parabola = !&use_cubic & inside(&parabola, 0.1);
    let bisection = (&low.length + &high.length) / 2.0;
    let use_bisection = !&use_cubic & !&use_parabola;
    let length = where_(&use_cubic, cubic, &recent[0]);
    let length = where_(&use_parabola, parabola, length);
    let length = where_(&use_bisection, bisection, length);
    let Point {
        value,
        slope,
        gradient,
    } = along.at(&length);
    let point = End {
        length: length.clone(),
        value: value.astype(low.value.dtype()),
        slope: slope.astype(low.slope.dtype()),
    };
    let to_high = along.too_high(&length, &point.value) | point.value.ge(&low.value);
    let is_star = along.flat(&point.slope) & !&to_high;
    let rising = (&point.slope * (&high.length - &low.length)).ge(0.0);
    let high_to_low = rising & !&to_high & !&is_star;
    let to_low = !&to_high & !&is_star;
    let old_high = [high.length.clone(), high.value.clone()];
    let keep = |which: &Array, new: &[Array; 2], old: &[Array; 2]| {
        [
            where_(which, &new[0], &old[0]),
            where_(which, &new[1], &old[1]),
        ]
    };
    let recent = keep(&to_high, &old_high, &recent);
    let high = End::chosen(&to_high, &point, &high);
    let new_star = Star {
        length,
        value: point.value.clone(),
        slope: point.slope.clone(),
        gradient: gradient.astype(star.gradient.dtype()),
    };
    let star = Star::chosen(&is_star, &new_star, &star);
    let done = &is_star | done;
    let recent = keep(
        &high_to_low,
        &[high.length.clone(), high.value.clone()],
        &recent,
    );
    let high = End::chosen(&high_to_low, &low, &high);
    let old_low = [low.length.clone(), low.value.clone()];
    let recent = keep(&(&to_low & !&high_to_low), &old_low, &recent);
    let low = End::chosen(&to_low, &point, &low);
    let steps = steps + 1;
    let failed = failed | steps.ge(30);
    Zoom {
        done,
        failed,
        steps,
        low,
        high,
        recent,
        star,
    }
}

#[derive(Clone, Pytree)]
struct Search {
    done: Array,
    failed: Array,
    step: Array,
    before: End,
    evaluations: Array,
    star: Star,
}

/// A step from `x` along `direction`; value and gradient are those at `x`, `before` is the value of the step before.
#[track_caller]
pub(super) fn line_search(
    fun: &dyn Fn(Array) -> Array,
    [x, direction]: [&Array; 2],
    [value, gradient]: [&Array; 2],
    before: Option<&Array>,
    maxiter: usize,
) -> Found {
    let slope = dot(gradient, direction);
    let along = Along {
        fun,
        x,
        direction,
        value,
        slope: slope.clone(),
        gradient,
    };
    let start = match before {
        None => constant(value, 1.0),
        Some(before) => {
            let candidate = constant(value, 2.02) * (value - before) / &slope;
            where_(&candidate.gt(1), 1.0, candidate)
        }
    };
    let zero = constant(&start, 0.0);
    let init = Search {
        done: Array::from(false).astype(DType::Bool),
        failed: Array::from(false).astype(DType::Bool),
        step: Array::from(1),
        before: End {
            length: zero.clone(),
            value: value.clone(),
            slope: slope.clone(),
        },
        evaluations: Array::from(0),
        star: Star {
            length: zero,
            value: value.clone(),
            slope,
            gradient: gradient.clone(),
        },
    };
    let limit = maxiter as i32;
    let Search {
        done,
        failed,
        step,
        evaluations,
        star,
        ..
    } = while_loop(
        |search: Search| !search.done & search.step.le(limit) & !search.failed,
        |search: Search| search_step(&along, &start, search),
        init,
    );
    let late = step.gt(limit);
    let status = where_(&failed, 1, where_(&late, 3, 0));
    let length = star.length;
    let length = if length.dtype() == DType::F64 {
        length
    } else {
        let tiny = constant(&length, 1e-8);
        where_(&length.abs().lt(&tiny), length.sign() * tiny, &length)
    };
    Found {
        failed: failed | !done,
        evaluations,
        length,
        value: star.value,
        gradient: star.gradient,
        status,
    }
}

#[track_caller]
fn search_step(along: &Along<'_>, start: &Array, search: Search) -> Search {
    let Search {
        done,
        failed,
        step,
        before,
        evaluations,
        star,
    } = search;
    let length = where_(&step.equal(1), start, &before.length * 2.0);
    let Point {
        value,
        slope,
        gradient,
    } = along.at(&length);
    let point = End {
        length: length.clone(),
        value: value.astype(before.value.dtype()),
        slope: slope.astype(before.slope.dtype()),
    };
    let higher = point.value.ge(&before.value) & step.gt(1);
    let to_first = along.too_high(&length, &point.value) | higher;
    let is_star = along.flat(&point.slope) & !&to_first;
    let to_second = point.slope.ge(0.0) & !&to_first & !&is_star;
    let first = zoom(along, before.clone(), point.clone(), &!&to_first);
    let second = zoom(along, point.clone(), before, &!&to_second);
    let evaluations = evaluations + 1 + &first.steps + &second.steps;
    let own = Star {
        length,
        value: point.value.clone(),
        slope: point.slope.clone(),
        gradient: gradient.astype(star.gradient.dtype()),
    };
    let star = Star::chosen(&to_first, &first.star, &star);
    let star = Star::chosen(&is_star, &own, &star);
    let star = Star::chosen(&to_second, &second.star, &star);
    let failed = (&to_first & first.failed) | (&to_second & second.failed) | failed;
    Search {
        done: done | to_first | is_star | to_second,
        failed,
        step: step + 1,
        before: point,
        evaluations,
        star,
    }
}
