//! Second moments of matrices as those of rows and columns.

use jaxide::tree::Tree;
use jaxide::{Array, DType, lax, numpy};

use super::clip::clip_by_block_rms;
use super::leafwise::{next, stateless};
use super::scale::{abs_sq, add_decayed_weights, ema, scale, scale_by_learning_rate};
use super::{
    At, GradientTransformation, Mask, Rate, Transform, chain, number, part, parts, with_leaves,
};

/// What [`adafactor`] takes beside a rate.
#[derive(Clone, Debug)]
pub struct Adafactor {
    /// How long the second longest axis of a parameter must be for rows and columns to stand for all.
    pub min_dim_size_to_factor: usize,
    /// The power of the number of steps that the average forgets with.
    pub decay_rate: f64,
    /// How many steps are not counted.
    pub decay_offset: i64,
    /// Whether steps are as long as parameters say.
    pub multiply_by_parameter_scale: bool,
    /// How long the step of a parameter may be.
    pub clipping_threshold: Option<f64>,
    /// The decay of an average of steps.
    pub momentum: Option<f64>,
    /// How much of the weights is taken away, whatever the rate.
    pub weight_decay_rate: Option<f64>,
    /// What is added to squares.
    pub eps: f64,
    /// Whether rows and columns stand for all.
    pub factored: bool,
    /// Which weights decay.
    pub weight_decay_mask: Option<Mask>,
}

impl Default for Adafactor {
    fn default() -> Self {
        Adafactor {
            min_dim_size_to_factor: 128,
            decay_rate: 0.8,
            decay_offset: 0,
            multiply_by_parameter_scale: true,
            clipping_threshold: Some(1.0),
            momentum: None,
            weight_decay_rate: None,
            eps: 1e-30,
            factored: true,
            weight_decay_mask: None,
        }
    }
}

/// Steps by second moments, of which matrices keep those of rows and columns (Shazeer and Stern, 2018). Without a rate, steps are as
/// long as parameters say.
///
/// ```
/// use jaxide_nnx::optim::{Adafactor, adafactor, apply_updates};
/// use jaxide::{Array, DType};
/// let options = Adafactor { min_dim_size_to_factor: 2, ..Adafactor::default() };
/// let optimizer = adafactor(Some(0.1.into()), options);
/// let weights = Array::ones([4, 3], DType::F32);
/// let state = optimizer.init(&weights);
/// let (updates, _) = optimizer.update(&weights, &state, &weights);
/// assert!((apply_updates(&weights, &updates).max().item::<f32>() - 0.9).abs() < 1e-6);
/// ```
pub fn adafactor(rate: Option<Rate>, o: Adafactor) -> GradientTransformation {
    let steps = [
        Some(scale_by_factored_rms(
            o.factored,
            o.decay_rate,
            o.decay_offset,
            o.min_dim_size_to_factor,
            o.eps,
        )),
        o.clipping_threshold.map(clip_by_block_rms),
        rate.map(|rate| chain([scale_by_learning_rate(rate), scale(-1.0)])),
        (o.multiply_by_parameter_scale).then(|| scale_by_param_block_rms(1e-3)),
        o.momentum.map(|decay| ema(decay, false)),
        (o.weight_decay_rate).map(|rate| add_decayed_weights(rate, o.weight_decay_mask)),
        Some(scale(-1.0)),
    ];
    chain(steps.into_iter().flatten())
}

/// Gradients times the root of the mean of the squares of their parameter, or `min_scale` where that is less.
fn scale_by_param_block_rms(min_scale: f64) -> GradientTransformation {
    stateless(move |g, p| {
        let rms = lax::sqrt(&abs_sq(p).mean());
        g * numpy::maximum(rms, min_scale)
    })
}

struct Factored {
    factored: bool,
    decay_rate: f64,
    step_offset: i64,
    least: usize,
    epsilon: f64,
}

/// Gradients divided by the root of an average of their squares, which forgets ever less: `1 - (steps - step_offset + 1) ^ -decay_rate`.
/// Where the second longest axis of a parameter is at least `min_dim_size_to_factor` long, means over the two longest axes stand for all squares.
pub fn scale_by_factored_rms(
    factored: bool,
    decay_rate: f64,
    step_offset: i64,
    min_dim_size_to_factor: usize,
    epsilon: f64,
) -> GradientTransformation {
    GradientTransformation::new(Factored {
        factored,
        decay_rate,
        step_offset,
        least: min_dim_size_to_factor,
        epsilon,
    })
}

/// What is kept of a parameter: of rows, of columns, of all; what is not needed is one zero.
type Kept = [Array; 3];

const NAME: &str = "FactoredState";
const KEPT: [&str; 3] = ["v_row", "v_col", "v"];

impl Factored {
    /// The second longest and the longest axis, if rows and columns stand for all.
    fn axes(&self, shape: &[usize]) -> Option<(usize, usize)> {
        let mut axes: Vec<usize> = (0..shape.len()).collect();
        axes.sort_by_key(|&axis| shape[axis]);
        match axes[..] {
            [.., second, first] if self.factored && shape[second] >= self.least => {
                Some((second, first))
            }
            _ => None,
        }
    }

    fn first(&self, p: &Array) -> Kept {
        let zeros = |shape: &[usize]| Array::zeros(shape, p.dtype());
        let without = |axis: usize| {
            let mut shape = p.shape().to_vec();
            shape.remove(axis);
            zeros(&shape)
        };
        match self.axes(p.shape()) {
            Some((second, first)) => [without(first), without(second), zeros(&[1])],
            None => [zeros(&[1]), zeros(&[1]), zeros(p.shape())],
        }
    }

    fn step(&self, g: &Array, kept: [&Array; 3], decay: &Array) -> (Array, Kept) {
        let squares = abs_sq(g) + self.epsilon;
        let average =
            |old: &Array, new: &Array| (decay * old + (1.0 - decay) * new).astype(old.dtype());
        let one = Array::zeros([1], g.dtype());
        let Some((second, first)) = self.axes(g.shape()) else {
            let v = average(kept[2], &squares);
            return (g * lax::rsqrt(&v), [one.clone(), one, v]);
        };
        let mean = |axis: usize| numpy::mean(&squares, axis as i64);
        let (row, col) = (
            average(kept[0], &mean(first)),
            average(kept[1], &mean(second)),
        );
        let second_of_row = if second > first { second - 1 } else { second };
        let keep = numpy::Reduction::new()
            .axis(second_of_row as i64)
            .keepdims(true);
        let of_row = lax::rsqrt(&(&row / numpy::mean(&row, keep)));
        let of_col = lax::rsqrt(&col);
        let update = g
            * numpy::expand_dims(&of_row, first as i64)
            * numpy::expand_dims(&of_col, second as i64);
        (update, [row, col, one])
    }
}

impl Transform for Factored {
    fn init(&self, params: &Tree<Array>) -> Tree<Array> {
        let kept = params.leaves().into_iter().map(|p| self.first(p)).collect();
        state(Array::zeros((), DType::I32), params, kept)
    }

    fn update(
        &self,
        updates: Tree<Array>,
        before: &Tree<Array>,
        at: &At<'_>,
    ) -> (Tree<Array>, Tree<Array>) {
        let count = number(before, 0);
        let steps = (&count - self.step_offset + 1).astype(DType::F32);
        let decay = 1.0 - numpy::power(steps, -self.decay_rate);
        let columns: Vec<Vec<&Array>> = (1..4).map(|place| part(before, place).leaves()).collect();
        let (new, kept): (Vec<Array>, Vec<Kept>) = (updates.leaves().into_iter().enumerate())
            .map(|(row, g)| {
                self.step(
                    g,
                    [columns[0][row], columns[1][row], columns[2][row]],
                    &decay,
                )
            })
            .unzip();
        (
            with_leaves(&updates, new),
            state(next(&count), at.params, kept),
        )
    }
}

fn state(count: Array, params: &Tree<Array>, kept: Vec<Kept>) -> Tree<Array> {
    let mut fields = vec![("count", Tree::Leaf(count))];
    for (place, name) in KEPT.into_iter().enumerate() {
        let leaves = kept.iter().map(|kept| kept[place].clone()).collect();
        fields.push((name, with_leaves(params, leaves)));
    }
    parts(NAME, fields)
}
