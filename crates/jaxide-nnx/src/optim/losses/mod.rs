//! Losses, one for each example.
//!
//! ```
//! use jaxide_nnx::optim::losses;
//! use jaxide::Array;
//! let logits = Array::from([[2.0f32, 2.0], [1.0, 1.0]]);
//! let loss = losses::softmax_cross_entropy_with_integer_labels(&logits, &Array::from([0, 1]), ());
//! assert_eq!(loss.to_vec::<f32>(), [2f32.ln(); 2]);
//! ```

mod classification;
mod ctc;
mod regression;

pub use classification::*;
pub use ctc::{Ctc, ctc_loss, ctc_loss_with_forward_probs};
pub use regression::*;

use jaxide::numpy::{self, Reduction};
use jaxide::{Array, Axes, Numbers};

/// The axes of classes or features, of which a loss makes one number: the last by default, and by `()`; and which elements of them
/// count. An axis alone, or several, is one too.
///
/// ```
/// use jaxide_nnx::optim::losses::{self, Along};
/// use jaxide::Array;
/// let (x, y) = (Array::from([[3.0f32, 4.0], [0.0, 1.0]]), Array::from([[3.0f32, 9.0], [5.0, 1.0]]));
/// let first = Along::new().axis(-1).where_(Array::from([[true, false], [false, true]]));
/// assert_eq!(losses::cosine_similarity(&x, &y, 0.0, first).to_vec::<f32>(), [1.0, 1.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Along {
    axis: Numbers,
    where_: Option<Array>,
}

impl Default for Along {
    fn default() -> Self {
        Along {
            axis: [-1].into_iter().collect(),
            where_: None,
        }
    }
}

impl<A: Axes> From<A> for Along {
    fn from(axis: A) -> Self {
        match axis.numbers() {
            Some(_) => Along::new().axis(axis),
            None => Along::new(),
        }
    }
}

impl Along {
    /// The last axis.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The axes, from the end where negative.
    #[must_use]
    pub fn axis(mut self, axis: impl Axes) -> Self {
        self.axis = axis.numbers().unwrap_or_default();
        self
    }

    /// Which elements count, as truth values that broadcast to the operand. Softmax cross entropies take truth values without the axes
    /// of classes too.
    #[must_use]
    pub fn where_(mut self, condition: impl Into<Array>) -> Self {
        self.where_ = Some(condition.into());
        self
    }

    /// The same for an operand: a condition without the axes has them too, of length 1.
    #[track_caller]
    fn beside(mut self, operation: &str, x: &Array) -> Self {
        if let Some(condition) = &self.where_
            && condition.ndim() + self.axis.len() == x.ndim()
        {
            let axes = Axes::axes(&&self.axis[..], operation, x.ndim());
            let mut shape = condition.shape().to_vec();
            let mut axes: Vec<usize> = axes.to_vec();
            axes.sort_unstable();
            axes.iter().for_each(|&axis| shape.insert(axis, 1));
            self.where_ = Some(condition.reshape(&shape[..]));
        }
        self
    }

    /// A sum along the axes.
    #[track_caller]
    fn sum(&self, x: &Array, keepdims: bool) -> Array {
        let options = Reduction::new().axis(&self.axis[..]).keepdims(keepdims);
        numpy::sum(
            x,
            match &self.where_ {
                Some(condition) => options.where_(condition),
                None => options,
            },
        )
    }

    fn softmax(&self) -> jaxide::nn::Softmax {
        let options = jaxide::nn::Softmax::new().axis(&self.axis[..]);
        match &self.where_ {
            Some(condition) => options.where_(condition),
            None => options,
        }
    }
}
