//! Cells applied to sequences.

use jaxide::tree::{self, Pytree};
use jaxide::{Array, DType, Error, numpy, raise};

use super::{Cell, options};
use crate::{Attribute, Carried, Module, StateAxes, call, observed};

type Merge = fn(&Array, &Array) -> Array;

options! {
    /// What [`RNN`] takes beside its cell.
    pub struct RNNOptions {
        /// Whether the first axis is time, instead of the last but one.
        time_major: bool = false;
        /// Whether time runs backwards.
        reverse: bool = false;
        /// Whether what runs backwards is given in the order of the input.
        keep_order: bool = false;
    }

    /// What [`RNN::call_with`] takes beside its input: what is not stated is as the layer was made.
    pub struct RNNCall {
        /// How many steps of each sequence count, of the shape of the batch axes: the last carry is that after so many, and only
        /// so many are turned round.
        seq_lengths: Option<Array> = None;
        /// Whether the first axis is time.
        time_major: Option<bool> = None;
        /// Whether time runs backwards.
        reverse: Option<bool> = None;
        /// Whether what runs backwards is given in the order of the input.
        keep_order: Option<bool> = None;
    }

    /// What [`Bidirectional`] takes beside its layers.
    pub struct BidirectionalOptions {
        /// What is made of the outputs of both.
        merge_fn: Merge = side_by_side;
        /// Whether the first axis is time, instead of the last but one.
        time_major: bool = false;
    }
}

fn side_by_side(forward: &Array, backward: &Array) -> Array {
    numpy::concatenate(&[forward.clone(), backward.clone()], -1)
}

/// A cell applied to each step of a sequence `[batch.., time, features]`.
///
/// ```
/// use jaxide_nnx::{GRUCell, RNN, RNNCall, Rngs};
/// use jaxide::{Array, DType};
/// let rnn = RNN::new(GRUCell::new(3, 4, &Rngs::new(0), ()), ());
/// let x = Array::ones([2, 7, 3], DType::F32);
/// assert_eq!(rnn.call(&x).shape(), [2, 7, 4]);
/// let (last, outputs) = rnn.call_with(&x, None, RNNCall::new().seq_lengths(Array::from([2, 7])));
/// assert_eq!((last.shape(), outputs.shape()), (&[2, 4][..], &[2, 7, 4][..]));
/// ```
#[derive(Clone, Debug, Module)]
pub struct RNN<C: Pytree<Array> + Clone> {
    /// The cell.
    pub cell: C,
    time_major: bool,
    reverse: bool,
    keep_order: bool,
}

impl<C: Cell> RNN<C> {
    /// A layer of a cell.
    pub fn new(cell: C, options: impl Into<RNNOptions>) -> Self {
        let o = options.into();
        RNN {
            cell,
            time_major: o.time_major,
            reverse: o.reverse,
            keep_order: o.keep_order,
        }
    }

    /// The outputs of all steps, from a carry of zeros.
    ///
    /// # Panics
    /// When `x` does not fit the cell.
    #[track_caller]
    pub fn call(&self, x: &Array) -> Array {
        self.call_with(x, None, ()).1
    }

    /// The last carry and the outputs of all steps, from a carry, or from zeros.
    ///
    /// # Panics
    /// When `x`, the carry or the lengths do not fit the cell.
    #[track_caller]
    #[observed("call")]
    pub fn call_with(
        &self,
        x: &Array,
        initial_carry: Option<C::Carry>,
        options: impl Into<RNNCall>,
    ) -> (C::Carry, Array) {
        let _named = call::named("RNN");
        let o = options.into();
        let (time_major, reverse) = (
            o.time_major.unwrap_or(self.time_major),
            o.reverse.unwrap_or(self.reverse),
        );
        let Some(last) = x.ndim().checked_sub(2) else {
            mistake(format!("{} has no axis of time", x.aval()));
        };
        let time = if time_major { 0 } else { last };
        let mut steps = numpy::moveaxis(x, time, 0);
        let batch = &steps.shape()[1..steps.ndim() - 1].to_vec();
        if let Some(lengths) = &o.seq_lengths
            && (lengths.shape() != batch || !lengths.dtype().is_integer())
        {
            mistake(format!(
                "the lengths are {}, and the batch axes {batch:?}",
                lengths.aval()
            ));
        }
        let lengths = o.seq_lengths.as_ref();
        if reverse {
            steps = flipped(&steps, lengths);
        }
        let carry =
            initial_carry.unwrap_or_else(|| self.cell.initialize_carry(&steps.shape()[1..]));
        let (carry, mut outputs) = self.scan(carry, steps, lengths);
        if reverse && o.keep_order.unwrap_or(self.keep_order) {
            outputs = flipped(&outputs, lengths);
        }
        (carry, numpy::moveaxis(&outputs, 0, time))
    }

    #[track_caller]
    fn scan(&self, carry: C::Carry, steps: Array, lengths: Option<&Array>) -> (C::Carry, Array) {
        let axes = StateAxes::new().with(.., Carried::Carry);
        let Some(lengths) = lengths else {
            let step = |cell: &C, carry: C::Carry, x: Array| cell.step(carry, &x);
            return crate::scan(step, &self.cell, &axes, carry, steps, None);
        };
        let step = |cell: &C, carry: C::Carry, x: Array| {
            let (carry, y) = cell.step(carry, &x);
            let kept = tree::leaves::<Array, C::Carry>(&carry);
            (carry, (kept, y))
        };
        let (last, (carries, outputs)) = crate::scan(step, &self.cell, &axes, carry, steps, None);
        let chosen = carries.iter().map(|all| at_length(all, lengths));
        match tree::structure::<Array, C::Carry>(&last).unflatten(chosen) {
            Ok(carry) => (carry, outputs),
            Err(error) => raise(Error::from(error)),
        }
    }
}

#[track_caller]
fn mistake(text: String) -> ! {
    raise(Error::shape(text).in_operation("RNN"))
}

/// Numbers `[batch..]` or `[time, batch..]` with axes of length 1 in front or behind, so that there are `ndim`.
fn beside(numbers: &Array, front: usize, ndim: usize) -> Array {
    let behind = ndim - front - numbers.ndim();
    let shape = [&vec![1; front], numbers.shape(), &vec![1; behind]].concat();
    numbers.reshape(&shape[..])
}

/// Of a sequence `[time, batch.., ..]` what stands where each ends.
fn at_length(x: &Array, lengths: &Array) -> Array {
    let last = beside(&(lengths - 1), 1, x.ndim());
    numpy::squeeze(&numpy::take_along_axis(x, last, 0), 0)
}

/// A sequence `[time, batch.., ..]` from its end to its beginning; what stands behind the end stays there.
fn flipped(x: &Array, lengths: Option<&Array>) -> Array {
    let Some(lengths) = lengths else {
        return numpy::flip(x, 0);
    };
    let steps = x.shape()[0] as i64;
    let backwards = steps - 1 - numpy::arange(steps, DType::I32);
    let places = (beside(&backwards, 0, x.ndim())
        + beside(&lengths.astype(DType::I32), 1, x.ndim()))
        % steps;
    numpy::take_along_axis(x, places, 0)
}

/// Two layers, of which the second runs backwards, and both outputs together: side by side if nothing else is stated.
///
/// ```
/// use jaxide_nnx::{Bidirectional, GRUCell, RNN, Rngs};
/// use jaxide::{Array, DType};
/// let rngs = Rngs::new(0);
/// let rnn = || RNN::new(GRUCell::new(3, 4, &rngs, ()), ());
/// let both = Bidirectional::new(rnn(), rnn(), ());
/// assert_eq!(both.call(&Array::ones([2, 7, 3], DType::F32)).shape(), [2, 7, 8]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct Bidirectional<F: Pytree<Array> + Clone, B: Pytree<Array> + Clone>
where
    F: Attribute,
    B: Attribute,
{
    /// What runs forwards.
    pub forward_rnn: RNN<F>,
    /// What runs backwards.
    pub backward_rnn: RNN<B>,
    merge_fn: Merge,
    time_major: bool,
}

impl<F: Cell, B: Cell> Bidirectional<F, B> {
    /// A layer of two.
    pub fn new(
        forward_rnn: RNN<F>,
        backward_rnn: RNN<B>,
        options: impl Into<BidirectionalOptions>,
    ) -> Self {
        let o = options.into();
        Bidirectional {
            forward_rnn,
            backward_rnn,
            merge_fn: o.merge_fn,
            time_major: o.time_major,
        }
    }

    /// The outputs of both in the order of the input, from carries of zeros.
    ///
    /// # Panics
    /// When `x` does not fit the cells.
    #[track_caller]
    pub fn call(&self, x: &Array) -> Array {
        self.call_with(x, None, ()).1
    }

    /// The last carries of both and their outputs, from carries, or from zeros. The first layer runs forwards and the second
    /// backwards, whatever is stated.
    ///
    /// # Panics
    /// When `x`, the carries or the lengths do not fit the cells.
    #[track_caller]
    #[observed("call")]
    pub fn call_with(
        &self,
        x: &Array,
        initial_carry: Option<(F::Carry, B::Carry)>,
        options: impl Into<RNNCall>,
    ) -> ((F::Carry, B::Carry), Array) {
        let _named = call::named("Bidirectional");
        let mut o = options.into();
        o.time_major = Some(o.time_major.unwrap_or(self.time_major));
        let (forward, backward) = initial_carry.unzip();
        let forwards = o.clone().reverse(false);
        let backwards = o.reverse(true).keep_order(true);
        let (forward, of_forward) = self.forward_rnn.call_with(x, forward, forwards);
        let (backward, of_backward) = self.backward_rnn.call_with(x, backward, backwards);
        let outputs = (self.merge_fn)(&of_forward, &of_backward);
        ((forward, backward), outputs)
    }
}
