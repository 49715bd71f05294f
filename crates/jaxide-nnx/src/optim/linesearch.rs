//! How far to go along a direction.

use jaxide::tree::{Pytree, Tree};
use jaxide::{Array, DType, Error, cond, lax, numpy, raise, value_and_grad_of, while_loop};

use super::lbfgs::{add_scaled, dot, number_dtype};
use super::{
    At, GradientTransformation, Objective, Transform, TransformState, number, part, parts, value,
    zip,
};

/// What [`scale_by_zoom_linesearch`] takes.
#[derive(Clone, Copy, Debug)]
pub struct ZoomLinesearch {
    /// How many lengths are tried.
    pub max_linesearch_steps: i32,
    /// The greatest length.
    pub max_learning_rate: Option<f64>,
    /// By how much the conditions may be missed.
    pub tol: f64,
    /// What a length that is too small is multiplied by.
    pub increase_factor: f64,
    /// The part of the slope that the value must fall by.
    pub slope_rtol: f64,
    /// The part of the slope that may remain.
    pub curv_rtol: f64,
    /// How much the value may rise, relative to itself, for the slope alone to decide.
    pub approx_dec_rtol: Option<f64>,
    /// The least interval that is divided.
    pub stepsize_precision: f64,
    /// Whether the first length that is tried is the last one that was taken, instead of 1.
    pub keep_last: bool,
}

/// What a line search of [`lbfgs`](super::lbfgs) takes: 20 lengths, the first of them 1.
impl Default for ZoomLinesearch {
    fn default() -> Self {
        ZoomLinesearch {
            max_linesearch_steps: 20,
            max_learning_rate: None,
            tol: 0.0,
            increase_factor: 2.0,
            slope_rtol: 1e-4,
            curv_rtol: 0.9,
            approx_dec_rtol: Some(1e-6),
            stepsize_precision: 1e-5,
            keep_last: false,
        }
    }
}

/// Steps of a length at which the function falls enough and its slope is small (the conditions of Wolfe), or nearly: a length is doubled until an
/// interval has one, and the interval is divided by cubic and quadratic interpolation (Nocedal and Wright, 1999, algorithms 3.5
/// and 3.6). For [`update_with`](GradientTransformation::update_with), behind what gives a direction.
pub fn scale_by_zoom_linesearch(o: ZoomLinesearch) -> GradientTransformation {
    GradientTransformation::new(Zoom(o))
}

/// Value and gradient of `f` at parameters: those that the line search in `state` has found there already, or computed.
///
/// # Panics
/// When there is no line search in `state`, or `f` gives no scalar of floating point.
#[track_caller]
pub fn value_and_grad_from_state<P: Pytree<Array> + Clone + 'static>(
    f: impl Fn(P) -> Array,
    params: &P,
    state: &TransformState,
) -> (Array, P) {
    let Some(state) = found(state) else {
        raise(
            Error::parameter("there is no line search in the state")
                .in_operation("value_and_grad_from_state"),
        );
    };
    let known = (number(state, 1), value::<P>(part(state, 2)));
    let usable = numpy::isfinite(&known.0);
    cond(
        usable,
        |(_, known): (P, (Array, P))| known,
        |(params, known): (P, (Array, P))| {
            let (value, gradient) = value_and_grad_of(&|params: P| f(params), params);
            (value.astype(known.0.dtype()), gradient)
        },
        (params.clone(), known),
    )
}

/// The state of the line search in a state.
fn found(state: &Tree<Array>) -> Option<&Tree<Array>> {
    if state.head().is_some_and(|head| head.type_name() == NAME) {
        return Some(state);
    }
    state.children().iter().find_map(|child| found(child))
}

const NAME: &str = "ScaleByZoomLinesearchState";

struct Zoom(ZoomLinesearch);

/// A length, and the function there.
#[derive(Clone, Pytree)]
struct Point {
    length: Array,
    value: Array,
    slope: Array,
}

/// A search that goes on.
#[derive(Clone, Pytree)]
struct Search {
    count: Array,
    /// The last length that was tried.
    last: Point,
    grad: Tree<Array>,
    decrease_error: Array,
    curvature_error: Array,
    interval_found: Array,
    done: Array,
    failed: Array,
    /// The end of the interval where the function is less, and the other one.
    low: Point,
    high: Point,
    /// A third length, for cubic interpolation.
    reference: Point,
    /// The best length that makes the function fall enough.
    safe: Point,
    safe_grad: Tree<Array>,
}

/// What `Pytree` of a choice is made of: either, leaf by leaf.
fn choose<T: Pytree<Array>>(condition: &Array, yes: &T, no: &T) -> T {
    let chosen = zip(&[&Tree::from_value(yes), &Tree::from_value(no)], |leaves| {
        numpy::where_(condition, leaves[0], leaves[1]).astype(leaves[1].dtype())
    });
    value(&chosen)
}

fn or(x: &Array, y: &Array) -> Array {
    numpy::logical_or(x, y)
}

fn and(x: &Array, y: &Array) -> Array {
    numpy::logical_and(x, y)
}

fn not(x: &Array) -> Array {
    numpy::logical_not(x)
}

/// How much more than nothing; infinite where that is not a number.
fn violation(x: &Array) -> Array {
    let x = numpy::maximum(x, 0.0);
    numpy::where_(numpy::isnan(&x), f64::INFINITY, &x).astype(x.dtype())
}

/// Where the cubic is least that has value and slope of `a` and the values of `b` and `c`.
fn cubic_minimum(a: &Point, b: &Point, c: &Point) -> Array {
    let slope = &a.slope;
    let (db, dc) = (&b.length - &a.length, &c.length - &a.length);
    let denominator = (&db * &dc).square() * (&db - &dc);
    let (eb, ec) = (
        &b.value - &a.value - slope * &db,
        &c.value - &a.value - slope * &dc,
    );
    let third = (dc.square() * &eb - db.square() * &ec) / &denominator;
    let second = (-(&dc * dc.square()) * eb + &db * db.square() * ec) / denominator;
    let radical = second.square() - 3.0 * &third * slope;
    &a.length + (-second + lax::sqrt(&radical)) / (3.0 * third)
}

/// Where the parabola is least that has value and slope of `a` and the value of `b`.
fn quadratic_minimum(a: &Point, b: &Point) -> Array {
    let db = &b.length - &a.length;
    let second = (&b.value - &a.value - &a.slope * &db) / db.square();
    &a.length - &a.slope / (2.0 * second)
}

/// Conditions on a new point.
struct Judged {
    decrease_error: Array,
    curvature_error: Array,
    /// The worse of both is no more than allowed.
    good: Array,
    /// The function falls enough.
    safe: Array,
}

impl ZoomLinesearch {
    fn judge(&self, new: &Point, start: &Point) -> Judged {
        let fall = &new.value - &start.value - self.slope_rtol * &new.length * &start.slope;
        let decrease_error = match self.approx_dec_rtol {
            Some(tolerance) => {
                let by_slope = &new.slope - (2.0 * self.slope_rtol - 1.0) * &start.slope;
                let rise = &new.value - &start.value - tolerance * numpy::abs(&start.value);
                numpy::minimum(numpy::maximum(by_slope, rise), fall)
            }
            None => fall,
        };
        let decrease_error = violation(&decrease_error);
        let curvature_error =
            violation(&(numpy::abs(&new.slope) - self.curv_rtol * numpy::abs(&start.slope)));
        let error = numpy::maximum(&decrease_error, &curvature_error);
        Judged {
            good: numpy::less_equal(error, self.tol),
            safe: numpy::less_equal(&decrease_error, self.tol),
            decrease_error,
            curvature_error,
        }
    }

    /// The next length as long as no interval is known, and whether it is the greatest.
    fn longer(&self, search: &Search, guess: &Array) -> (Array, Array) {
        let larger = self.increase_factor * &search.last.length;
        let length = numpy::where_(numpy::equal(&search.count, 0), guess, larger);
        match self.max_learning_rate {
            Some(most) => (
                numpy::minimum(&length, most),
                numpy::greater_equal(length, most),
            ),
            None => (length, Array::from(false)),
        }
    }

    /// The next length inside of an interval, and whether that is too small to be divided.
    fn middle(&self, search: &Search) -> (Array, Array) {
        let (low, high) = (&search.low, &search.high);
        let width = numpy::abs(&(&high.length - &low.length));
        let left = numpy::minimum(&high.length, &low.length);
        let right = numpy::maximum(&high.length, &low.length);
        let inside = |x: &Array, margin: f64| {
            let margin = margin * &width;
            and(
                &numpy::greater(x, &left + &margin),
                &numpy::less(x, &right - margin),
            )
        };
        let cubic = cubic_minimum(low, high, &search.reference);
        let quadratic = quadratic_minimum(low, high);
        let half = (&low.length + &high.length) / 2.0;
        let middle = numpy::where_(inside(&quadratic, 0.1), &quadratic, half);
        let middle = numpy::where_(inside(&cubic, 0.2), &cubic, middle);
        (middle, numpy::less_equal(width, self.stepsize_precision))
    }

    /// What is known after a length was tried as long as no interval is known.
    fn search(&self, old: &Search, new: &Point, judged: &Judged, greatest: &Array) -> Search {
        let rises = and(
            &numpy::greater_equal(&new.value, &old.last.value),
            &numpy::greater(&old.count, 0),
        );
        let set_high = or(&numpy::greater(&judged.decrease_error, 0.0), &rises);
        let set_low = and(&numpy::greater_equal(&new.slope, 0.0), &not(&set_high));
        let interval_found = or(&or(&set_high, &set_low), &judged.good);
        let low = choose(&set_low, new, &old.last);
        Search {
            done: or(&judged.good, &and(greatest, &not(&interval_found))),
            interval_found,
            high: choose(&set_low, &old.last, new),
            reference: low.clone(),
            low,
            safe: choose(&judged.safe, new, &old.safe),
            ..old.clone()
        }
    }

    /// What is known after a length inside of the interval was tried.
    fn zoom(&self, old: &Search, new: &Point, judged: &Judged) -> Search {
        let set_high = or(
            &numpy::greater(&judged.decrease_error, 0.0),
            &numpy::greater_equal(&new.value, &old.low.value),
        );
        let secant = &new.slope * (&old.high.length - &old.low.length);
        let turn = and(&numpy::greater_equal(secant, 0.0), &not(&set_high));
        let better = and(&judged.safe, &numpy::less(&new.value, &old.safe.value));
        Search {
            done: judged.good.clone(),
            high: choose(&turn, &old.low, &choose(&set_high, new, &old.high)),
            low: choose(&set_high, &old.low, new),
            reference: choose(&or(&set_high, &turn), &old.high, &old.low),
            safe: choose(&better, new, &old.safe),
            ..old.clone()
        }
    }

    /// One length more.
    fn step(&self, old: Search, start: &Point, guess: &Array, on_line: &OnLine<'_>) -> Search {
        let zooming = old.interval_found.clone();
        let ((longer, greatest), (middle, narrow)) = (self.longer(&old, guess), self.middle(&old));
        let length = numpy::where_(&zooming, middle, longer).astype(old.last.length.dtype());
        let (new, grad) = on_line(&length);
        let judged = self.judge(&new, start);
        let searched = self.search(&old, &new, &judged, &greatest);
        let zoomed = self.zoom(&old, &new, &judged);
        let next: Search = choose(&zooming, &zoomed, &searched);

        let is_safe = numpy::equal(&next.safe.length, &new.length);
        let is_safe = and(&is_safe, &judged.safe);
        let spent = numpy::greater_equal(&old.count + 1, self.max_linesearch_steps);
        let has_safe = numpy::greater(&next.safe.length, 0.0);
        let stuck = and(&and(&zooming, &narrow), &has_safe);
        let failed = and(&or(&spent, &stuck), &not(&next.done));
        let safe_grad = choose(&is_safe, &grad, &old.safe_grad);
        let outside = numpy::isinf(&judged.decrease_error);
        let step_back = and(&failed, &or(&has_safe, &outside));
        Search {
            count: &old.count + 1,
            last: choose(&step_back, &next.safe, &new),
            grad: choose(&step_back, &safe_grad, &grad),
            decrease_error: judged.decrease_error,
            curvature_error: judged.curvature_error,
            safe_grad,
            failed,
            ..next
        }
    }
}

/// The function at a length, and its gradient there.
type OnLine<'a> = dyn Fn(&Array) -> (Point, Tree<Array>) + 'a;

impl Zoom {
    fn run(
        &self,
        direction: &Tree<Array>,
        at: &At<'_>,
        objective: &Objective<'_>,
        last: &Array,
    ) -> Search {
        let dtype = number_dtype(at.params);
        let zero = Array::zeros((), dtype);
        let on_line = |length: &Array| {
            let (value, gradient) = (objective.function)(&add_scaled(at.params, length, direction));
            let slope = dot(&gradient, direction).astype(dtype);
            let point = Point {
                length: length.clone(),
                value: value.astype(dtype),
                slope,
            };
            (point, gradient)
        };
        let start = Point {
            length: zero.clone(),
            value: objective.value.astype(dtype),
            slope: dot(direction, &objective.gradient).astype(dtype),
        };
        let guess = if self.0.keep_last {
            last.clone()
        } else {
            Array::ones((), dtype)
        };
        let (no, infinite) = (Array::from(false), numpy::full((), f64::INFINITY, dtype));
        let init = Search {
            count: Array::zeros((), DType::I32),
            last: start.clone(),
            grad: objective.gradient.clone(),
            decrease_error: infinite.clone(),
            curvature_error: infinite,
            interval_found: no.clone(),
            done: no.clone(),
            failed: no,
            low: start.clone(),
            high: start.clone(),
            reference: start.clone(),
            safe: start.clone(),
            safe_grad: objective.gradient.clone(),
        };
        while_loop(
            |search: Search| not(&or(&search.done, &search.failed)),
            |search: Search| self.0.step(search, &start, &guess, &on_line),
            init,
        )
    }
}

fn state(rate: Array, value: Array, grad: Tree<Array>, info: [Array; 3]) -> Tree<Array> {
    let names = ["num_linesearch_steps", "decrease_error", "curvature_error"];
    let info = names.into_iter().zip(info.map(Tree::Leaf)).collect();
    parts(
        NAME,
        vec![
            ("learning_rate", Tree::Leaf(rate)),
            ("value", Tree::Leaf(value)),
            ("grad", grad),
            ("info", parts("ZoomLinesearchInfo", info)),
        ],
    )
}

impl Transform for Zoom {
    fn init(&self, params: &Tree<Array>) -> Tree<Array> {
        let dtype = number_dtype(params);
        let infinite = || numpy::full((), f64::INFINITY, dtype);
        let zeros = zip(&[params], |p| numpy::zeros_like(p[0], ()));
        let info = [Array::zeros((), DType::I32), infinite(), infinite()];
        state(Array::ones((), dtype), infinite(), zeros, info)
    }

    fn update(
        &self,
        updates: Tree<Array>,
        before: &Tree<Array>,
        at: &At<'_>,
    ) -> (Tree<Array>, Tree<Array>) {
        let Some(objective) = at.objective else {
            raise(
                Error::parameter("a line search needs the function: `update_with` takes it")
                    .in_operation("scale_by_zoom_linesearch"),
            );
        };
        let search = self.run(&updates, at, objective, &number(before, 0));
        let rate = search.last.length;
        let scaled = zip(&[&updates], |u| (&rate * u[0]).astype(u[0].dtype()));
        let info = [search.count, search.decrease_error, search.curvature_error];
        (scaled, state(rate, search.last.value, search.grad, info))
    }
}
