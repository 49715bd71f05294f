//! Convolutions with one small filter, as what they are: sums of weighted neighbours.
//!
//! With one input and one output feature there is nothing to multiply matrices of, and an element needs as many multiply-adds as the filter
//! has places. As an expression it is part of the loops around it, which the library's convolution would cut in two with arrays in between.

use super::super::{MapOp, Op, ValueId};
use super::{Application, Build};
use crate::narrow;
use jaxide_core::prims::ConvGeneralDilated;
use jaxide_core::{DType, Dims};
use smallvec::smallvec;

/// Places of a filter up to which its sum is an expression.
const MOST_PLACES: usize = 32;

/// How many times as many elements as operand and result have may be added around the operand.
const MOST_PADDED: usize = 4;

/// The axes of an array without its features: images first, then those of space, by what they mean; in memory's order.
fn order(spec: &[usize]) -> Dims {
    let mut meanings: Dims = (0..spec.len()).filter(|&meaning| meaning != 1).collect();
    meanings.sort_unstable_by_key(|&meaning| spec[meaning]);
    meanings
}

/// Whether products and sums of this type are its own: those of floats of 16 bits are kept in wider ones.
fn is_summed_as_it_is(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64) || dtype.is_integer() && dtype.bits() >= 8
}

/// An axis of the operand.
struct Axis {
    /// Elements that are added before it; taken away, if negative.
    low: i64,
    /// Its length with what is added.
    padded: usize,
    /// Distance of the window's places.
    apart: usize,
}

impl Build {
    /// The sum for a convolution of one feature with one small filter; none for others.
    pub(super) fn stencil(
        &mut self,
        params: &ConvGeneralDilated,
        args: &[ValueId],
        app: &Application<'_>,
    ) -> Option<ValueId> {
        let (x, filter, dtype) = (args[0], args[1], app.dtype());
        let numbers = &params.dimension_numbers;
        let [lhs, rhs, out] =
            [&numbers.lhs_spec, &numbers.rhs_spec, &numbers.out_spec].map(|spec| &spec[..]);
        let (own, window) = (self.scope.shape(x), self.scope.shape(filter));
        let one_feature = own[lhs[1]] == 1 && window[rhs[0]] == 1 && window[rhs[1]] == 1;
        let one_step = params
            .window_strides
            .iter()
            .chain(&params.lhs_dilation)
            .all(|&step| step == 1);
        let same_type =
            args.iter().all(|&arg| self.scope.dtype(arg) == dtype) && is_summed_as_it_is(dtype);
        let places: usize = window.iter().product();
        let order = order(lhs);
        let is_plain = one_feature
            && one_step
            && same_type
            && params.batch_group_count == 1
            && order == self::order(out);
        if !is_plain
            || !(1..=MOST_PLACES).contains(&places)
            || app.shape().contains(&0)
            || own.contains(&0)
        {
            return None;
        }
        let axes: Vec<Axis> = order
            .iter()
            .map(|&meaning| {
                let length = own[lhs[meaning]];
                let Some(axis) = meaning.checked_sub(2) else {
                    return Axis {
                        low: 0,
                        padded: length,
                        apart: 1,
                    };
                };
                let (low, high) = params.padding[axis];
                let padded = (length as i64).saturating_add(low).saturating_add(high);
                Axis {
                    low,
                    padded: narrow(padded.max(0)),
                    apart: params.rhs_dilation[axis],
                }
            })
            .collect();
        let from: Dims = order.iter().map(|&meaning| own[lhs[meaning]]).collect();
        let to: Dims = order
            .iter()
            .map(|&meaning| app.shape()[out[meaning]])
            .collect();
        let padded: Dims = axes.iter().map(|axis| axis.padded).collect();
        // Holes of a window may span far more than there is.
        let count = |shape: &[usize]| {
            shape
                .iter()
                .fold(1usize, |all, &length| all.saturating_mul(length))
        };
        if count(&padded) > MOST_PADDED.saturating_mul(count(&from).saturating_add(count(&to))) {
            return None;
        }
        let mut x = self.scope.reshape(x, &from);
        if padded != from || axes.iter().any(|axis| axis.low != 0) {
            let zero = self
                .scope
                .splat_bytes(smallvec![0; dtype.size()], dtype, &[]);
            let op = Op::Pad {
                low: axes.iter().map(|axis| axis.low).collect(),
                interior: axes.iter().map(|_| 0).collect(),
            };
            x = self.scope.one(op, &[x, zero], dtype, &padded);
        }
        let ones = Dims::from_elem(1, window.len());
        let mut sum = None;
        for place in 0..places {
            let mut at = Dims::from_elem(0, window.len());
            let mut start = Dims::from_elem(0, axes.len());
            let mut left = place;
            // The last axis of space is the innermost, as the library adds them.
            for meaning in (2..window.len()).rev() {
                at[rhs[meaning]] = left % window[rhs[meaning]];
                left /= window[rhs[meaning]];
                let axis = order.iter().position(|&other| other == meaning)?;
                start[axis] = at[rhs[meaning]] * axes[axis].apart;
            }
            let weight = self.scope.slice(filter, &at, &ones, &ones);
            let weight = self.scope.reshape(weight, &[]);
            let weight = self.scope.broadcast_scalar(weight, &to);
            let neighbour = self
                .scope
                .slice(x, &start, &to, &Dims::from_elem(1, axes.len()));
            let term = self.map(MapOp::Mul, &[neighbour, weight], dtype);
            sum = Some(match sum {
                None => term,
                Some(sum) => self.map(MapOp::Add, &[sum, term], dtype),
            });
        }
        Some(self.scope.reshape(sum?, app.shape()))
    }
}
