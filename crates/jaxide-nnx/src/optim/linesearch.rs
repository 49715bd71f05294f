//! The line search of Nocedal and Wright, algorithms 3.5 and 3.6: an interval is searched for, and zoomed into.

use jaxide::tree::{Pytree, Tree};
use jaxide::{Array, DType, Error, Result, lax, numpy, value_and_grad_of};

use super::GradientTransformation;
use super::transform::Extra;
use super::tree::{self, Arrays, add_scaled, dot, named, number, select};

/// Which learning rate a line search tries first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialGuess {
    /// 1: for Newton's method and those like it.
    One,
    /// That of the step before: for gradient descent.
    Keep,
}

/// What [`scale_by_zoom_linesearch`] takes.
#[derive(Clone, Copy, Debug)]
pub struct ZoomLinesearch {
    /// How many times the function is evaluated at most.
    pub max_linesearch_steps: i32,
    /// The largest learning rate, if there is one.
    pub max_learning_rate: Option<f64>,
    /// By how much the conditions may be violated.
    pub tol: f64,
    /// By what the learning rate grows while the interval is searched for.
    pub increase_factor: f64,
    /// The part of the slope by which the function has to decrease.
    pub slope_rtol: f64,
    /// The part of the slope that may remain.
    pub curv_rtol: f64,
    /// How near values are, as a part of the first, where a decrease is seen by slopes alone.
    pub approx_dec_rtol: Option<f64>,
    /// The length of an interval in which one stops with a decrease.
    pub stepsize_precision: f64,
    /// Which learning rate is tried first.
    pub initial_guess_strategy: InitialGuess,
}

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
            initial_guess_strategy: InitialGuess::Keep,
        }
    }
}

/// A place on the line: how far along it is, and the function and its slope there.
#[derive(Clone, Pytree)]
struct Point {
    at: Array,
    value: Array,
    slope: Array,
}

/// What a search knows.
#[derive(Clone, Pytree)]
struct Search {
    count: Array,
    /// The last place, with the gradient there and by how much it violates the conditions.
    last: Point,
    grad: Arrays,
    decrease_error: Array,
    curvature_error: Array,
    found: Array,
    done: Array,
    failed: Array,
    /// The ends of the interval: the function is smaller at `low`, which may be above `high`.
    low: Point,
    high: Point,
    /// A third place for cubic interpolation.
    reference: Point,
    /// The best place with a decrease.
    safe: Point,
    safe_grad: Arrays,
}

/// The line of a search, and what it begins with.
struct Line<'a> {
    options: ZoomLinesearch,
    params: &'a Arrays,
    updates: &'a Arrays,
    value_fn: &'a dyn Fn(Arrays) -> Array,
    dtype: DType,
    start: Point,
    guess: Array,
}

fn pick(condition: &Array, x: &Point, y: &Point) -> Point {
    let either = |x, y| numpy::where_(condition, x, y);
    Point {
        at: either(&x.at, &y.at),
        value: either(&x.value, &y.value),
        slope: either(&x.slope, &y.slope),
    }
}

/// At least 0, and infinite where it is not a number.
fn violation(error: &Array) -> Array {
    let least = numpy::maximum(error, 0.0);
    numpy::where_(numpy::isnan(&least), f64::INFINITY, &least)
}

/// Where a cubic through three points, with the slope at the first, is least; not a number where it is nowhere.
fn cubic_minimum(a: &Point, b: &Point, c: &Point) -> Array {
    let (db, dc) = (&b.at - &a.at, &c.at - &a.at);
    let denominator = (&db * &dc).square() * (&db - &dc);
    let (fb, fc) = (
        &b.value - &a.value - &a.slope * &db,
        &c.value - &a.value - &a.slope * &dc,
    );
    let cubic = (dc.square() * &fb - db.square() * &fc) / &denominator;
    let quadratic = (db.square() * &db * &fc - dc.square() * &dc * &fb) / &denominator;
    let radical = quadratic.square() - 3.0 * &cubic * &a.slope;
    &a.at + (lax::sqrt(&radical) - quadratic) / (3.0 * cubic)
}

/// Where a parabola through two points, with the slope at the first, is least.
fn quadratic_minimum(a: &Point, b: &Point) -> Array {
    let db = &b.at - &a.at;
    let curvature = (&b.value - &a.value - &a.slope * &db) / db.square();
    &a.at - &a.slope / (2.0 * curvature)
}

impl Line<'_> {
    fn point(&self, at: Array) -> (Point, Arrays) {
        let params = add_scaled(self.params, &at, self.updates);
        let (value, grad) = value_and_grad_of(&|params: Arrays| (self.value_fn)(params), params);
        let slope = dot(&grad.map(numpy::conj), self.updates).astype(self.dtype);
        let value = value.astype(self.dtype);
        (Point { at, value, slope }, grad)
    }

    /// By how much the decrease is too small.
    fn decrease_error(&self, point: &Point) -> Array {
        let (o, start) = (&self.options, &self.start);
        let exact = &point.value - &start.value - o.slope_rtol * &point.at * &start.slope;
        let Some(near) = o.approx_dec_rtol else {
            return violation(&exact);
        };
        let by_slope = &point.slope - (2.0 * o.slope_rtol - 1.0) * &start.slope;
        let increase = &point.value - &start.value - near * numpy::abs(&start.value);
        let approximate = numpy::maximum(by_slope, increase);
        violation(&numpy::minimum(approximate, exact))
    }

    /// By how much the slope is too large.
    fn curvature_error(&self, point: &Point) -> Array {
        let most = self.options.curv_rtol * numpy::abs(&self.start.slope);
        violation(&(numpy::abs(&point.slope) - most))
    }

    fn begin(&self, grad: &Arrays) -> Search {
        let no = || Array::scalar(false);
        let infinite = || Array::scalar(f32::INFINITY).astype(self.dtype);
        Search {
            count: Array::scalar(0i32),
            last: self.start.clone(),
            grad: grad.clone(),
            decrease_error: infinite(),
            curvature_error: infinite(),
            found: no(),
            done: no(),
            failed: no(),
            low: self.start.clone(),
            high: self.start.clone(),
            reference: self.start.clone(),
            safe: self.start.clone(),
            safe_grad: grad.clone(),
        }
    }

    /// What both phases do with a new place: its errors, whether it is safe to stop there, and whether the search ends.
    fn seen(&self, s: &Search, point: &Point, grad: Arrays, better: &Array) -> Search {
        let (decrease_error, curvature_error) =
            (self.decrease_error(point), self.curvature_error(point));
        let error = numpy::maximum(&decrease_error, &curvature_error);
        let safe = decrease_error.le(self.options.tol) & better;
        Search {
            count: tree::next(&s.count),
            last: point.clone(),
            done: error.le(self.options.tol),
            safe: pick(&safe, point, &s.safe),
            safe_grad: select(&safe, &grad, &s.safe_grad),
            grad,
            decrease_error,
            curvature_error,
            ..s.clone()
        }
    }

    fn last_step(&self, s: &Search) -> Array {
        s.count.ge(self.options.max_linesearch_steps)
    }

    /// A larger step, until it is too large.
    fn search_interval(&self, s: Search) -> Search {
        let first = numpy::equal(&s.count, 0);
        let larger = self.options.increase_factor * &s.last.at;
        let at = numpy::where_(&first, &self.guess, larger).astype(self.dtype);
        let (at, largest) = match self.options.max_learning_rate {
            Some(most) => (numpy::minimum(&at, most), at.ge(most)),
            None => (at, Array::scalar(false)),
        };
        let (point, grad) = self.point(at);
        let mut new = self.seen(&s, &point, grad, &Array::scalar(true));
        let rises = point.value.ge(&s.last.value) & !first;
        let to_high = new.decrease_error.gt(0.0) | rises;
        let to_low = point.slope.ge(0.0) & !&to_high;
        new.low = pick(&to_low, &point, &s.last);
        new.high = pick(&to_low, &s.last, &point);
        new.reference = new.low.clone();
        new.found = to_high | to_low | &new.done;
        // Beyond the largest step, no smaller slope is to be found.
        new.done = &new.done | (largest & !&new.found);
        new.failed = self.last_step(&new) & !&new.done;
        new
    }

    /// A place between the ends, by the interpolation of the highest degree that is well inside.
    fn between(&self, s: &Search) -> Array {
        let length = numpy::abs(&(&s.high.at - &s.low.at));
        let least = numpy::minimum(&s.high.at, &s.low.at);
        let most = numpy::maximum(&s.high.at, &s.low.at);
        let inside = |at: &Array, margin: f64| {
            at.gt(&least + margin * &length) & at.lt(&most - margin * &length)
        };
        let cubic = cubic_minimum(&s.low, &s.high, &s.reference);
        let quadratic = quadratic_minimum(&s.low, &s.high);
        let middle = (&s.low.at + &s.high.at) / 2.0;
        let other = numpy::where_(inside(&quadratic, 0.1), quadratic, middle);
        numpy::where_(inside(&cubic, 0.2), cubic, other)
    }

    /// A smaller interval.
    fn zoom(&self, s: Search) -> Search {
        let (point, grad) = self.point(self.between(&s));
        let better = point.value.lt(&s.safe.value);
        let mut new = self.seen(&s, &point, grad, &better);
        let to_high = new.decrease_error.gt(0.0) | point.value.ge(&s.low.value);
        let across = (&point.slope * (&s.high.at - &s.low.at)).ge(0.0);
        let low_to_high = across & !&to_high;
        new.high = pick(&to_high, &point, &pick(&low_to_high, &s.low, &s.high));
        new.low = pick(&to_high, &s.low, &point);
        new.reference = pick(&(&to_high | low_to_high), &s.high, &s.low);
        let length = numpy::abs(&(&s.high.at - &s.low.at));
        let small = length.le(self.options.stepsize_precision) & new.safe.at.gt(0.0);
        new.failed = (self.last_step(&new) | small) & !&new.done;
        new
    }

    /// After a search that failed the best place with a decrease, or none where the function is not finite.
    fn settle(s: Search) -> Search {
        let safe = s.safe.at.gt(0.0) | numpy::isinf(&s.decrease_error);
        let safe = safe & &s.failed;
        Search {
            last: pick(&safe, &s.safe, &s.last),
            grad: select(&safe, &s.safe_grad, &s.grad),
            ..s
        }
    }

    fn search(&self, grad: &Arrays) -> Search {
        let found = jaxide::while_loop(
            |s: Search| !(s.done | s.failed),
            |s: Search| {
                let found = s.found.clone();
                jaxide::cond(found, |s| self.zoom(s), |s| self.search_interval(s), s)
            },
            self.begin(grad),
        );
        Line::settle(found)
    }
}

fn made(rate: Array, value: Array, grad: Arrays, steps: Array, errors: [Array; 2]) -> Arrays {
    let [decrease, curvature] = errors.map(Tree::Leaf);
    let info = named(
        "ZoomLinesearchInfo",
        [
            ("num_linesearch_steps", Tree::Leaf(steps)),
            ("decrease_error", decrease),
            ("curvature_error", curvature),
        ],
    );
    let fields = [
        ("learning_rate", Tree::Leaf(rate)),
        ("value", Tree::Leaf(value)),
        ("grad", grad),
        ("info", info),
    ];
    named("ScaleByZoomLinesearchState", fields)
}

/// The type of values, and of places on the line.
fn dtype_of_values(params: &Arrays) -> DType {
    let first = params.leaves().into_iter().next();
    first.map_or(DType::F32, |p| p.dtype().real())
}

/// Updates times a learning rate that is searched for in each step, so that the function decreases by enough and its slope becomes
/// small enough, as Wolfe's conditions have it. [`update_with_extra_args`](GradientTransformation::update_with_extra_args) gives
/// the function.
///
/// # Panics
/// When `update` is given no extra arguments.
///
/// ```
/// use jaxide_nnx::optim::{self, ExtraArgs, ZoomLinesearch};
/// use jaxide::{Array, value_and_grad_of};
/// let f = |x: Array| (&x * &x).sum();
/// let optimizer = optim::chain([optim::sgd(1.0), optim::scale_by_zoom_linesearch(ZoomLinesearch::default())]);
/// let x = Array::from([1.0f32, 2.0]);
/// let (value, grad) = value_and_grad_of(&f, x.clone());
/// let extra = ExtraArgs { value: &value, grad: &grad, value_fn: &f };
/// let (updates, _) = optimizer.update_with_extra_args(&grad, &optimizer.init(&x), &x, extra);
/// assert_eq!(updates.to_vec::<f32>(), [-1.0, -2.0]);
/// ```
pub fn scale_by_zoom_linesearch(options: ZoomLinesearch) -> GradientTransformation {
    GradientTransformation::given(
        |params| {
            let dtype = dtype_of_values(params);
            let infinite = || Array::scalar(f32::INFINITY);
            Ok(made(
                Array::scalar(1.0f32).astype(dtype),
                infinite().astype(dtype),
                tree::zeros_like(params),
                Array::scalar(0i32),
                [infinite(), infinite()],
            ))
        },
        move |updates, state, given| {
            let Some(Extra {
                value,
                grad,
                value_fn,
            }) = given.extra
            else {
                let error = Error::parameter(
                    "the value, gradient and function are needed: `update_with_extra_args` takes them",
                );
                return Err(error.in_operation("scale_by_zoom_linesearch"));
            };
            let dtype = dtype_of_values(given.params);
            let rate = number(state, "learning_rate")?;
            let line = Line {
                options,
                params: given.params,
                updates: &updates,
                value_fn: *value_fn,
                dtype,
                start: Point {
                    at: Array::scalar(0.0f32).astype(dtype),
                    value: value.astype(dtype),
                    slope: dot(&updates, grad).astype(dtype),
                },
                guess: match options.initial_guess_strategy {
                    InitialGuess::One => Array::scalar(1.0f32).astype(dtype),
                    InitialGuess::Keep => rate.clone(),
                },
            };
            let found = line.search(grad);
            let rate = &found.last.at;
            let scaled = updates.map(|u| rate.astype(u.dtype()) * u);
            let errors = [found.decrease_error, found.curvature_error];
            let state = made(
                rate.clone(),
                found.last.value,
                found.grad,
                found.count,
                errors.map(|error| error.astype(DType::F32)),
            );
            Ok((scaled, state))
        },
    )
}

/// The value and gradient of a function at parameters, from the state of an optimiser whose line search has computed them, and
/// computed before the first step.
///
/// # Errors
/// When the state has no value or gradient, or the gradient is not like the parameters.
///
/// ```
/// use jaxide_nnx::optim;
/// use jaxide::Array;
/// let f = |x: Array| (&x * &x).sum();
/// let x = Array::from([1.0f32, 2.0]);
/// let state = optim::lbfgs(optim::Lbfgs::default()).init(&x);
/// let (value, grad) = optim::value_and_grad_from_state(&f, &x, &state)?;
/// assert_eq!((value.item::<f32>(), grad.to_vec::<f32>()), (5.0, vec![2.0, 4.0]));
/// # Ok::<(), jaxide::Error>(())
/// ```
pub fn value_and_grad_from_state<P: Pytree<Array> + Clone + 'static>(
    value_fn: &impl Fn(P) -> Array,
    params: &P,
    state: &Tree<Array>,
) -> Result<(Array, P)> {
    let missing = || {
        Error::parameter("the state has no value and gradient: no line search has made it")
            .in_operation("value_and_grad_from_state")
    };
    let value = tree::get(state, "value").and_then(Tree::as_leaf);
    let (value, grad) = value.zip(tree::get(state, "grad")).ok_or_else(missing)?;
    let grad: P = grad.to_value()?;
    let known = numpy::isfinite(value);
    Ok(jaxide::cond(
        known,
        |(value, grad, _): (Array, P, P)| (value, grad),
        |(value, _, params): (Array, P, P)| {
            let (new, grad) = value_and_grad_of(value_fn, params);
            (new.astype(value.dtype()), grad)
        },
        (value.clone(), grad, params.clone()),
    ))
}
