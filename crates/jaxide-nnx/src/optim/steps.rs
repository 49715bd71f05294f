//! Transformations that leave some steps out.

use std::fmt;
use std::sync::Arc;

use jaxide::tree::Tree;
use jaxide::{Array, DType, numpy};

use super::tree::{self, Arrays, named, next, number, part, select, zero};
use super::{GradientTransformation, Rate};

/// A transformation that changes nothing where gradients are not finite, unless that happens more than so many times in a row.
///
/// ```
/// use jaxide_nnx::optim;
/// let x = jaxide::Array::from([f32::NAN]);
/// let optimizer = optim::apply_if_finite(optim::sgd(0.1), 5);
/// assert_eq!(optimizer.update(&x, &optimizer.init(&x), &x).0.to_vec::<f32>(), [0.0]);
/// ```
pub fn apply_if_finite(
    inner: GradientTransformation,
    max_consecutive_errors: i64,
) -> GradientTransformation {
    let first = inner.clone();
    let made = |count, finite: Array, total, inner| {
        let fields = [
            ("notfinite_count", count),
            ("last_finite", Tree::Leaf(finite)),
            ("total_notfinite", total),
            ("inner_state", inner),
        ];
        named("ApplyIfFiniteState", fields)
    };
    GradientTransformation::given(
        move |params| {
            Ok(made(
                zero(),
                Array::scalar(true),
                zero(),
                first.begin(params)?,
            ))
        },
        move |updates, state, given| {
            let finite = updates
                .leaves()
                .into_iter()
                .map(|g| numpy::isfinite(g).all());
            let finite = finite
                .reduce(|x, y| numpy::logical_and(x, y))
                .unwrap_or_else(|| Array::scalar(true));
            let count = number(state, "notfinite_count")?;
            let count = numpy::where_(&finite, 0, next(count)).astype(DType::I32);
            let total = number(state, "total_notfinite")?;
            let total = numpy::where_(&finite, total, next(total)).astype(DType::I32);
            let applied =
                numpy::logical_or(&finite, numpy::greater(&count, max_consecutive_errors));
            let before = part(state, "inner_state")?;
            let (new, inner) = inner.step(updates, before, given)?;
            let inner = select(&applied, &inner, before);
            let new = select(&applied, &new, &tree::zeros_like(&new));
            Ok((
                new,
                made(Tree::Leaf(count), finite, Tree::Leaf(total), inner),
            ))
        },
    )
}

/// What [`multi_steps`] takes beside its transformation. A number is how many gradients make one.
#[derive(Clone, Debug)]
pub struct MultiSteps {
    /// How many gradients make one; a schedule has the count of steps that were made of them.
    pub every_k_schedule: Rate,
    /// Whether the mean is taken, and not the sum.
    pub use_grad_mean: bool,
    /// Which gradients are left out, as if they had not been.
    pub should_skip_update_fn: Option<Skip>,
    /// The element type of means and sums: by default that of the gradients, but at least of 32 bits.
    pub accumulator_dtype: Option<DType>,
}

impl Default for MultiSteps {
    fn default() -> Self {
        MultiSteps {
            every_k_schedule: Rate::Constant(1.0),
            use_grad_mean: true,
            should_skip_update_fn: None,
            accumulator_dtype: None,
        }
    }
}

impl From<u32> for MultiSteps {
    fn from(every: u32) -> Self {
        MultiSteps {
            every_k_schedule: Rate::Constant(f64::from(every)),
            ..Self::default()
        }
    }
}

/// Which gradients [`multi_steps`] leaves out: [`Skip::not_finite`], [`Skip::large_updates`], or what a function says.
#[derive(Clone)]
pub struct Skip(Arc<SkipFn>);

/// Of gradients, the count of steps and parameters: whether these gradients are left out, and what is kept of that in the state.
type SkipFn = dyn Fn(&Arrays, &Array, &Arrays) -> (Array, Arrays) + Send + Sync;

impl Skip {
    /// What a function says of gradients, the count of steps that were made, and parameters: a truth value, and what becomes
    /// `skip_state`.
    pub fn new(
        f: impl Fn(&Tree<Array>, &Array, &Tree<Array>) -> (Array, Tree<Array>) + Send + Sync + 'static,
    ) -> Self {
        Skip(Arc::new(f))
    }

    /// Gradients with an element that is infinite or not a number.
    #[must_use]
    pub fn not_finite() -> Self {
        Skip::new(|updates, _, _| {
            let counts = updates.leaves().into_iter().map(|g| {
                numpy::logical_not(&numpy::isfinite(g))
                    .astype(DType::I32)
                    .sum()
            });
            let count = counts
                .reduce(|x, y| x + y)
                .unwrap_or_else(|| Array::scalar(0i32));
            said(numpy::greater(&count, 0), "num_not_finite", count)
        })
    }

    /// Gradients the sum of whose squares is not below a number.
    #[must_use]
    pub fn large_updates(max_squared_norm: f64) -> Self {
        Skip::new(move |updates, _, _| {
            let norm = tree::squares(updates);
            let small = numpy::less(&norm, max_squared_norm);
            said(numpy::logical_not(&small), "norm_squared", norm)
        })
    }
}

/// Whether gradients are left out, and a dict of that and why.
fn said(skip: Array, name: &str, why: Array) -> (Array, Arrays) {
    let state = Tree::dict([
        ("should_skip".to_owned(), Tree::Leaf(skip.clone())),
        (name.to_owned(), Tree::Leaf(why)),
    ]);
    (skip, state.unwrap_or_else(|_| Tree::tuple([])))
}

impl fmt::Debug for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Skip")
    }
}

impl MultiSteps {
    /// How many gradients make the next one.
    fn every(&self, step: &Array) -> Array {
        self.every_k_schedule.at(step).astype(DType::I32)
    }

    /// Whether gradients are left out, if any may be, and what is kept of that.
    fn skips(&self, updates: &Arrays, step: &Array, params: &Arrays) -> (Option<Array>, Arrays) {
        match &self.should_skip_update_fn {
            Some(skip) => {
                let (skip, state) = (skip.0)(updates, step, params);
                (Some(skip), state)
            }
            None => (None, Tree::tuple([])),
        }
    }

    fn summed(&self, sums: &Arrays, updates: &Arrays, mini: &Array) -> Arrays {
        tree::zip([sums, updates], |[sum, g]| {
            if self.use_grad_mean {
                sum + (g - sum) / (mini + 1)
            } else {
                g + sum
            }
        })
    }
}

fn multi_steps_state(
    mini: Arrays,
    step: Arrays,
    inner: Arrays,
    sums: Arrays,
    skip: Arrays,
) -> Arrays {
    let fields = [
        ("mini_step", mini),
        ("gradient_step", step),
        ("inner_opt_state", inner),
        ("acc_grads", sums),
        ("skip_state", skip),
    ];
    named("MultiStepsState", fields)
}

/// A transformation of the mean of several gradients; steps between change nothing.
///
/// ```
/// use jaxide_nnx::optim::{self, MultiSteps, Skip};
/// use jaxide::Array;
/// let optimizer = optim::multi_steps(optim::sgd(1.0), 2);
/// let (x, y) = (Array::from([1.0f32]), Array::from([3.0f32]));
/// let (first, state) = optimizer.update(&x, &optimizer.init(&x), &x);
/// let (second, _) = optimizer.update(&y, &state, &x);
/// assert_eq!((first.to_vec::<f32>(), second.to_vec::<f32>()), (vec![0.0], vec![-2.0]));
///
/// let careful = MultiSteps { should_skip_update_fn: Some(Skip::not_finite()), ..MultiSteps::from(2) };
/// let optimizer = optim::multi_steps(optim::sgd(1.0), careful);
/// let (_, after_nan) = optimizer.update(&Array::from([f32::NAN]), &optimizer.init(&x), &x);
/// let (_, state) = optimizer.update(&x, &after_nan, &x);
/// assert_eq!(optimizer.update(&y, &state, &x).0.to_vec::<f32>(), [-2.0]);
/// ```
pub fn multi_steps(
    inner: GradientTransformation,
    options: impl Into<MultiSteps>,
) -> GradientTransformation {
    let options: MultiSteps = options.into();
    let (first, at_first) = (inner.clone(), options.clone());
    GradientTransformation::given(
        move |params| {
            let sums = params.map(|p| {
                let wide = || numpy::promote_types(p.dtype(), DType::F32);
                Array::zeros(p.shape(), at_first.accumulator_dtype.unwrap_or_else(wide))
            });
            let none = tree::zeros_like(params);
            let (_, skip) = at_first.skips(&none, &Array::scalar(0i32), params);
            let inner = first.begin(params)?;
            Ok(multi_steps_state(zero(), zero(), inner, sums, skip))
        },
        move |updates, state, given| {
            let (mini, step) = (number(state, "mini_step")?, number(state, "gradient_step")?);
            let sums = part(state, "acc_grads")?;
            let every = options.every(step);
            let (skipped, skip) = options.skips(&updates, step, given.params);
            let after = options.summed(sums, &updates, mini);
            let last = numpy::equal(mini, &every - 1);
            let own = tree::zip([&after, &updates], |[sum, g]| sum.astype(g.dtype()));
            let before = part(state, "inner_opt_state")?;
            let (new, inner) = inner.step(own, before, given)?;
            let next_mini = numpy::remainder(next(mini), every).astype(DType::I32);
            let next_step = numpy::where_(&last, next(step), step).astype(DType::I32);
            let inner = select(&last, &inner, before);
            let after = tree::zip([&after, sums], |[sum, kept]| {
                numpy::where_(&last, 0.0, sum).astype(kept.dtype())
            });
            let new = select(&last, &new, &tree::zeros_like(&new));
            let (mini, step) = (Tree::Leaf(mini.clone()), Tree::Leaf(step.clone()));
            let (next_mini, next_step) = (Tree::Leaf(next_mini), Tree::Leaf(next_step));
            let Some(skipped) = skipped else {
                return Ok((
                    new,
                    multi_steps_state(next_mini, next_step, inner, after, skip),
                ));
            };
            let state = multi_steps_state(
                select(&skipped, &mini, &next_mini),
                select(&skipped, &step, &next_step),
                select(&skipped, before, &inner),
                select(&skipped, sums, &after),
                skip,
            );
            Ok((select(&skipped, &tree::zeros_like(&new), &new), state))
        },
    )
}
