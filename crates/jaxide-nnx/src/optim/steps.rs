//! Transformations that leave some steps out.

use jaxide::tree::Tree;
use jaxide::{Array, DType, numpy};

use super::GradientTransformation;
use super::tree::{self, named, next, number, part, select, zero};

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

/// A transformation of the mean of so many gradients; steps between change nothing.
///
/// ```
/// use jaxide_nnx::optim;
/// use jaxide::Array;
/// let optimizer = optim::multi_steps(optim::sgd(1.0), 2);
/// let (x, y) = (Array::from([1.0f32]), Array::from([3.0f32]));
/// let (first, state) = optimizer.update(&x, &optimizer.init(&x), &x);
/// let (second, _) = optimizer.update(&y, &state, &x);
/// assert_eq!((first.to_vec::<f32>(), second.to_vec::<f32>()), (vec![0.0], vec![-2.0]));
/// ```
pub fn multi_steps(inner: GradientTransformation, every: i64) -> GradientTransformation {
    let first = inner.clone();
    let made = |mini, step, inner, sums| {
        let fields = [
            ("mini_step", mini),
            ("gradient_step", step),
            ("inner_opt_state", inner),
            ("acc_grads", sums),
            ("skip_state", Tree::tuple([])),
        ];
        named("MultiStepsState", fields)
    };
    // Sums of numbers of 16 bits have 32.
    let wide = |p: &Array| p.astype(numpy::promote_types(p.dtype(), DType::F32));
    GradientTransformation::given(
        move |params| {
            let sums = tree::zeros_like(&params.map(wide));
            Ok(made(zero(), zero(), first.begin(params)?, sums))
        },
        move |updates, state, given| {
            let (mini, step) = (number(state, "mini_step")?, number(state, "gradient_step")?);
            let sums = part(state, "acc_grads")?;
            let mean = tree::zip([sums, &updates], |[sum, g]| {
                (sum + (g - sum) / (mini + 1)).astype(sum.dtype())
            });
            let last = numpy::equal(mini, every - 1);
            let own = tree::zip([&mean, &updates], |[mean, g]| mean.astype(g.dtype()));
            let before = part(state, "inner_opt_state")?;
            let (new, inner) = inner.step(own, before, given)?;
            let mini = numpy::remainder(next(mini), every).astype(DType::I32);
            let step = numpy::where_(&last, next(step), step).astype(DType::I32);
            let state = made(
                Tree::Leaf(mini),
                Tree::Leaf(step),
                select(&last, &inner, before),
                select(&last, &tree::zeros_like(&mean), &mean),
            );
            Ok((select(&last, &new, &tree::zeros_like(&new)), state))
        },
    )
}
