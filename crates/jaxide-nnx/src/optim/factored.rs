//! Second moments of matrices as those of their rows and columns.

use jaxide::{Array, DType, numpy};

use super::GradientTransformation;
use super::leafwise::{Count, Kept, Leaf, counted};
use super::scale::abs_sq;

/// What [`scale_by_factored_rms`] takes.
#[derive(Clone, Copy, Debug)]
pub struct Factored {
    /// Whether moments are factored at all.
    pub factored: bool,
    /// The power of the count of steps by which the average decays.
    pub decay_rate: f64,
    /// The count of steps at which it begins.
    pub step_offset: i64,
    /// How long the two longest axes have to be.
    pub min_dim_size_to_factor: usize,
    /// What is added to squares.
    pub epsilon: f64,
}

impl Default for Factored {
    fn default() -> Self {
        Factored {
            factored: true,
            decay_rate: 0.8,
            step_offset: 0,
            min_dim_size_to_factor: 128,
            epsilon: 1e-30,
        }
    }
}

impl Factored {
    /// The second longest and the longest axis, if moments are factored along them.
    fn axes(&self, shape: &[usize]) -> Option<(i64, i64)> {
        let mut axes: Vec<usize> = (0..shape.len()).collect();
        axes.sort_by_key(|&axis| shape[axis]);
        let (&[.., second, longest], true) = (&axes[..], self.factored) else {
            return None;
        };
        let fits = shape[second] >= self.min_dim_size_to_factor;
        fits.then_some((second as i64, longest as i64))
    }

    fn init(&self, p: &Array) -> [Array; 3] {
        let none = || Array::zeros([1], p.dtype());
        let without = |axis| Array::zeros(p.sum_axes(axis).shape(), p.dtype());
        match self.axes(p.shape()) {
            Some((second, longest)) => [without(longest), without(second), none()],
            None => [none(), none(), numpy::zeros_like(p, ())],
        }
    }

    fn update(&self, leaf: Leaf<'_>, [row, column, all]: [&Array; 3], count: &Count) -> Kept<3> {
        let step = (&count.before - self.step_offset + 1).astype(DType::F32);
        let decay: Array = 1.0 - numpy::power(&step, -self.decay_rate);
        let squares = abs_sq(leaf.g) + self.epsilon;
        let average =
            |kept: &Array, new: Array| (&decay * kept + (1.0 - &decay) * new).astype(kept.dtype());
        let Some((second, longest)) = self.axes(leaf.p.shape()) else {
            let all = average(all, squares);
            let update = leaf.g * numpy::power(&all, -0.5);
            return (update, [row.clone(), column.clone(), all]);
        };
        let mean = |x: &Array, axis: i64| numpy::mean(x, axis);
        let row = average(row, mean(&squares, longest));
        let column = average(column, mean(&squares, second));
        let within = if second > longest { second - 1 } else { second };
        let mean = numpy::expand_dims(&mean(&row, within), within);
        let of_row = numpy::expand_dims(&numpy::power(&row / mean, -0.5), longest);
        let of_column = numpy::expand_dims(&numpy::power(&column, -0.5), second);
        (leaf.g * of_row * of_column, [row, column, all.clone()])
    }
}

/// Gradients divided by the root of an average of their squares; of large matrices only the means of that along the two longest axes
/// are kept (Shazeer and Stern, 2018).
///
/// ```
/// use jaxide_nnx::optim::{self, Factored, tree};
/// let factored = optim::scale_by_factored_rms(Factored { min_dim_size_to_factor: 2, ..Factored::default() });
/// let state = factored.init(&jaxide::Array::zeros([3, 2], jaxide::DType::F32));
/// let shape = |name| tree::get(&state, name).unwrap().as_leaf().unwrap().shape().to_vec();
/// assert_eq!((shape("v_row"), shape("v_col"), shape("v")), (vec![2], vec![3], vec![1]));
/// ```
pub fn scale_by_factored_rms(options: Factored) -> GradientTransformation {
    counted(
        "FactoredState",
        ["v_row", "v_col", "v"],
        move |p| options.init(p),
        move |leaf, kept, count| options.update(leaf, kept, count),
    )
}
