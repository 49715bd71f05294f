//! Quantiles by the inverse of the distribution function, which may have weights.

use super::{Along, product};
use crate::array::{Array, as_dtype};
use crate::lax;
use crate::numpy::arithmetic::constant;
use crate::numpy::reductions::{Reduction, any, cumsum, position_type, sum};
use crate::numpy::{isnan, take_along_axis, where_};

impl Along {
    /// The first element up to which the share of weights is not below `q`.
    #[track_caller]
    pub(super) fn inverted(
        &self,
        skip_nan: bool,
        x: &Array,
        weights: Option<Array>,
        q: &Array,
    ) -> Array {
        let (axis, many) = (self.axis, q.ndim());
        let weights = weights.unwrap_or_else(|| lax::full(x.shape(), 1.0, x.dtype()));
        let zeros = lax::full(weights.shape(), 0, weights.dtype());
        let bad = lax::bitwise_or(&lax::lt(&weights, &zeros), &isnan(&weights));
        let undefined = isnan(x);
        let left_out = lax::bitwise_or(&bad, &undefined);
        let clean = lax::select(&left_out, &zeros, &weights);
        let running = cumsum(&clean, axis);
        let length = x.shape()[axis];
        let total = lax::slice_in_dim(&running, length - 1, length, 1, axis);
        let total = if self.keepdims {
            total
        } else {
            lax::squeeze(&total, &[axis])
        };
        let before: Vec<usize> = (0..many).collect();
        let total = lax::expand_dims(&total, &before);
        let mut shape = q.shape().to_vec();
        shape.extend(vec![1; total.ndim() - many]);
        let target = product(&lax::reshape(q, &shape), &total);
        let target = if self.keepdims {
            target
        } else {
            lax::expand_dims(&target, &[axis + many])
        };
        let below = lax::lt(&lax::expand_dims(&running, &before), &target);
        let index_type = position_type(x);
        let counted = Reduction::new().axis(axis + many).keepdims(self.keepdims);
        let place = sum(&as_dtype(&below, index_type, false), counted);
        let valid = if skip_nan {
            sum(
                &lax::bitwise_not(&undefined),
                self.reduction().dtype(q.dtype()),
            )
        } else {
            let shape = &total.shape()[many..];
            lax::full(shape, length, q.dtype())
        };
        let last = lax::sub(&valid, &constant(&valid, 1));
        let last = lax::expand_dims(&as_dtype(&last, index_type, false), &before);
        let place = lax::max(&constant(&place, 0), &lax::min(&place, &last));
        let place = if self.keepdims {
            lax::squeeze(&place, &[many + axis])
        } else {
            place
        };
        // The axis of probabilities takes the place of the one that is combined.
        let mut result = if many == 0 {
            let found = take_along_axis(x, lax::expand_dims(&place, &[axis]), axis);
            lax::squeeze(&found, &[axis])
        } else {
            let mut order: Vec<usize> = (1..=axis).collect();
            order.push(0);
            order.extend(axis + 1..place.ndim());
            let found = take_along_axis(x, lax::transpose(&place, &order), axis);
            let mut back = vec![0; order.len()];
            order.iter().enumerate().for_each(|(at, &to)| back[to] = at);
            lax::transpose(&found, &back)
        };
        if self.keepdims {
            result = lax::expand_dims(&result, &[many + axis]);
        }
        let zero = lax::full(valid.shape(), 0, valid.dtype());
        let nothing = lax::eq(&valid, &zero);
        let spoilt = any(&bad, self.reduction());
        let nothing = if skip_nan {
            nothing
        } else {
            any(&undefined, self.reduction())
        };
        let spoilt = lax::expand_dims(&lax::bitwise_or(&spoilt, &nothing), &before);
        let undefined = lax::full(result.shape(), f64::NAN, result.dtype());
        where_(spoilt, undefined, result)
    }
}
