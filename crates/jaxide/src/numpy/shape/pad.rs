//! Arrays with a margin.

use jaxide_core::{DType, Error};

use super::order::flip;
use super::repeat::repeat_each;
use crate::array::{Array, Integer, as_dtype, result_dtype};
use crate::idx;
use crate::lax;
use crate::numpy::alone::alone;
use crate::numpy::arithmetic::inexact;
use crate::numpy::nested::{constant, named};
use crate::numpy::place::at;
use crate::numpy::round;
use crate::numpy::where_;
use crate::numpy::{Like, Linspace, broadcast_to, empty_like, isnan, linspace};
use crate::options::options;
use crate::trace::raise;

/// A value for both ends of all axes, one for each end, or one for each end of each axis.
#[derive(Clone, Debug)]
pub enum Ends<T> {
    /// Everywhere.
    All(T),
    /// In front, and behind, on all axes.
    Both(T, T),
    /// In front, and behind, on each axis.
    Each(Vec<(T, T)>),
}

impl<T: Clone> Ends<T> {
    /// The values in front and behind on each of `rank` axes.
    #[track_caller]
    fn pairs(&self, what: &str, rank: usize) -> Vec<(T, T)> {
        match self {
            Ends::All(value) => vec![(value.clone(), value.clone()); rank],
            Ends::Both(before, after) => vec![(before.clone(), after.clone()); rank],
            Ends::Each(pairs) => match pairs.as_slice() {
                [one] => vec![one.clone(); rank],
                pairs if pairs.len() == rank => pairs.to_vec(),
                pairs => raise(
                    Error::parameter(format!(
                        "{what} is given for {} axes of {rank}",
                        pairs.len()
                    ))
                    .in_operation("pad"),
                ),
            },
        }
    }
}

impl<T: Integer> From<T> for Ends<i64> {
    fn from(width: T) -> Self {
        Ends::All(width.to_i64())
    }
}

impl<A: Integer, B: Integer> From<(A, B)> for Ends<i64> {
    fn from((before, after): (A, B)) -> Self {
        Ends::Both(before.to_i64(), after.to_i64())
    }
}

impl<A: Integer, B: Integer> From<&[(A, B)]> for Ends<i64> {
    fn from(pairs: &[(A, B)]) -> Self {
        Ends::Each(
            pairs
                .iter()
                .map(|(a, b)| (a.to_i64(), b.to_i64()))
                .collect(),
        )
    }
}

impl<A: Integer, B: Integer, const N: usize> From<[(A, B); N]> for Ends<i64> {
    fn from(pairs: [(A, B); N]) -> Self {
        Ends::from(&pairs[..])
    }
}

impl<A: Integer, B: Integer> From<Vec<(A, B)>> for Ends<i64> {
    fn from(pairs: Vec<(A, B)>) -> Self {
        Ends::from(&pairs[..])
    }
}

impl<T: Into<Array>> From<T> for Ends<Array> {
    fn from(value: T) -> Self {
        Ends::All(value.into())
    }
}

impl<A: Into<Array>, B: Into<Array>> From<(A, B)> for Ends<Array> {
    fn from((before, after): (A, B)) -> Self {
        Ends::Both(before.into(), after.into())
    }
}

impl From<Vec<(Array, Array)>> for Ends<Array> {
    fn from(pairs: Vec<(Array, Array)>) -> Self {
        Ends::Each(pairs)
    }
}

/// What the margin is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PadMode {
    /// A number: `constant_values`.
    Constant,
    /// The outermost elements.
    Edge,
    /// Numbers from `end_values` to the outermost elements, evenly spaced.
    LinearRamp,
    /// The largest of the `stat_length` elements at the end.
    Maximum,
    /// Their mean.
    Mean,
    /// Their median.
    Median,
    /// The smallest of them.
    Minimum,
    /// The elements mirrored at the outermost ones, as `reflect_type` says.
    Reflect,
    /// The elements mirrored behind the outermost ones, as `reflect_type` says.
    Symmetric,
    /// The elements from the other end.
    Wrap,
    /// Elements nobody should look at: zeros.
    Empty,
}

/// How elements are mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReflectType {
    /// As they are.
    Even,
    /// At the value of the outermost element: twice that, minus them.
    Odd,
}

options! {
    /// What [`pad`] takes beside the array and the widths; a mode alone is one too.
    pub struct Pad {
        /// What the margin is made of.
        mode: PadMode = PadMode::Constant;
        /// The numbers of [`PadMode::Constant`], 0 by default.
        constant_values: Ends<Array> = Ends::All(Array::from(0)), |values: impl Into<Ends<Array>>| values.into();
        /// How many elements at an end are looked at, all by default.
        stat_length: Option<Ends<i64>> = None, |length: impl Into<Ends<i64>>| Some(length.into());
        /// The outermost numbers of [`PadMode::LinearRamp`], 0 by default.
        end_values: Ends<Array> = Ends::All(Array::from(0)), |values: impl Into<Ends<Array>>| values.into();
        /// How elements are mirrored.
        reflect_type: ReflectType = ReflectType::Even;
    }
}

alone!(Pad, mode: PadMode);

/// Pads an array along one axis, so wide in front and behind.
type OneAxis<'a> = dyn Fn(&Array, usize, (usize, usize)) -> Array + 'a;

/// `array` with a margin, as wide as `pad_width` says at both ends of each axis.
///
/// # Panics
/// When a width is negative, widths are not given for each axis, or a mode has nothing to take elements from.
///
/// ```
/// use jaxide::{Array, numpy::{self, Pad, PadMode}};
/// let x = Array::from([1, 2, 3]);
/// assert_eq!(numpy::pad(&x, 1, ()).to_vec::<i32>(), [0, 1, 2, 3, 0]);
/// assert_eq!(numpy::pad(&x, (2, 1), PadMode::Reflect).to_vec::<i32>(), [3, 2, 1, 2, 3, 2]);
/// let nines = Pad::new().constant_values(9);
/// assert_eq!(numpy::pad(&x, [(0, 2)], nines).to_vec::<i32>(), [1, 2, 3, 9, 9]);
/// ```
#[track_caller]
pub fn pad(array: &Array, pad_width: impl Into<Ends<i64>>, options: impl Into<Pad>) -> Array {
    let _named = crate::trace::named("pad");
    let (options, rank) = (options.into(), array.ndim());
    let given = pad_width.into().pairs("the width", rank);
    let width = |(before, after): &(i64, i64)| {
        Some((
            usize::try_from(*before).ok()?,
            usize::try_from(*after).ok()?,
        ))
    };
    let Some(widths) = given.iter().map(width).collect::<Option<Vec<_>>>() else {
        raise(Error::parameter(format!("a width of {given:?} is negative")).in_operation("pad"))
    };
    let mut operands = vec![array.clone()];
    match &options.constant_values {
        Ends::All(value) => operands.push(value.clone()),
        Ends::Both(before, after) => operands.extend([before.clone(), after.clone()]),
        Ends::Each(pairs) => {
            operands.extend(pairs.iter().flat_map(|(a, b)| [a.clone(), b.clone()]));
        }
    }
    let key = format!(
        "{widths:?} {:?} {:?} {:?} {:?}",
        options.mode, options.stat_length, options.end_values, options.reflect_type
    );
    named("_pad", &key, &operands, |operands| {
        let x = &operands[0];
        if x.ndim() == 0 {
            return x.clone();
        }
        let axes = widths.iter().copied().enumerate();
        let one_by_one = |pad: &OneAxis| {
            axes.clone()
                .fold(x.clone(), |x, (axis, width)| pad(&x, axis, width))
        };
        match options.mode {
            PadMode::Constant => constants(x, &widths, &options, &operands[1..]),
            PadMode::Edge => one_by_one(&edges),
            PadMode::Wrap => one_by_one(&wrapped),
            PadMode::Empty => one_by_one(&|x, axis, (before, after)| {
                let part = |length: usize| {
                    let mut shape = x.shape().to_vec();
                    shape[axis] = length;
                    empty_like(x, Like::new().shape(&shape))
                };
                joined(axis, &[part(before), x.clone(), part(after)])
            }),
            PadMode::Reflect | PadMode::Symmetric => {
                one_by_one(&|x, axis, width| mirrored(x, axis, width, &options))
            }
            PadMode::LinearRamp => {
                let ends = options.end_values.pairs("the end value", x.ndim());
                one_by_one(&|x, axis, width| ramps(x, axis, width, &ends[axis]))
            }
            PadMode::Maximum | PadMode::Mean | PadMode::Median | PadMode::Minimum => {
                let lengths = options
                    .stat_length
                    .as_ref()
                    .map(|length| length.pairs("the length", x.ndim()));
                one_by_one(&|x, axis, width| {
                    let lengths = lengths.as_ref().map(|lengths| lengths[axis]);
                    statistics(x, axis, width, lengths, options.mode)
                })
            }
        }
    })
}

/// An array with a margin that a function fills: `f` gets the vectors along each axis, padded with zeros, the widths in front and
/// behind, and the axis, and gives the vectors with their margins.
///
/// # Panics
/// As [`pad`], and where `f` does.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([1, 2]);
/// let y = numpy::pad_with(&x, (1, 0), |vector, _, _| vector.at(0).set(9));
/// assert_eq!(y.to_vec::<i32>(), [9, 1, 2]);
/// ```
#[track_caller]
pub fn pad_with(
    array: &Array,
    pad_width: impl Into<Ends<i64>>,
    f: impl Fn(&Array, (i64, i64), usize) -> Array,
) -> Array {
    let _named = crate::trace::named("pad_with");
    let widths = pad_width.into().pairs("the width", array.ndim());
    if widths
        .iter()
        .any(|&(before, after)| before < 0 || after < 0)
    {
        raise(Error::parameter(format!("a width of {widths:?} is negative")).in_operation("pad"));
    }
    let config: Vec<(i64, i64, i64)> = widths.iter().map(|&(a, b)| (a, b, 0)).collect();
    let padded = lax::pad(array, &constant(0, array.dtype()), &config);
    widths.iter().enumerate().fold(padded, |x, (axis, &width)| {
        crate::numpy::apply_along_axis(|vector| f(vector, width, axis), axis, &x)
    })
}

#[track_caller]
fn joined(axis: usize, parts: &[Array]) -> Array {
    match parts {
        [one] => one.clone(),
        several => lax::concatenate(several, axis),
    }
}

#[track_caller]
fn constants(x: &Array, widths: &[(usize, usize)], options: &Pad, values: &[Array]) -> Array {
    let widths: Vec<(i64, i64)> = widths.iter().map(|&(a, b)| (a as i64, b as i64)).collect();
    let pairs = match &options.constant_values {
        Ends::All(_) => {
            let value = as_dtype(&values[0], x.dtype(), false);
            let config: Vec<_> = widths.iter().map(|&(a, b)| (a, b, 0)).collect();
            let value = if value.ndim() == 0 {
                value
            } else if value.size() == 1 {
                lax::squeeze(&value, (0..value.ndim()).collect::<Vec<usize>>())
            } else {
                raise(
                    Error::shape(format!("a number is needed, and {} is given", value.aval()))
                        .in_operation("pad"),
                )
            };
            return lax::pad(x, &value, &config);
        }
        Ends::Both(..) => vector(values),
        Ends::Each(pairs) => {
            options.constant_values.pairs("the constant", x.ndim());
            let rows: Vec<Array> = values.chunks(2).map(vector).collect();
            match pairs.len() {
                0 => return x.clone(),
                _ => lax::stack(&rows, 0),
            }
        }
    };
    let pairs = as_dtype(&pairs, x.dtype(), false);
    let pairs = broadcast_to(&pairs, &[x.ndim(), 2]);
    let mut x = x.clone();
    for (axis, &(before, after)) in widths.iter().enumerate() {
        for (end, low, high) in [(0, before, 0), (1, 0, after)] {
            if low + high > 0 {
                let mut config = vec![(0, 0, 0); x.ndim()];
                config[axis] = (low, high, 0);
                x = lax::pad(&x, pairs.index(idx![axis as i64, end]), &config);
            }
        }
    }
    x
}

/// Numbers as a vector of their common element type.
#[track_caller]
fn vector(numbers: &[Array]) -> Array {
    let dtype = result_dtype("pad", &numbers.iter().collect::<Vec<_>>()).0;
    let one = |number: &Array| lax::expand_dims(&as_dtype(number, dtype, false), [0]);
    lax::concatenate(&numbers.iter().map(one).collect::<Vec<Array>>(), 0)
}

/// Whether an axis has elements; without them there may be no margin.
#[track_caller]
fn has_elements(x: &Array, axis: usize, (before, after): (usize, usize)) -> bool {
    if x.shape()[axis] == 0 && before + after > 0 {
        raise(
            Error::shape(format!(
                "the empty axis {axis} of {} has no elements to pad with",
                x.aval()
            ))
            .in_operation("pad"),
        );
    }
    x.shape()[axis] > 0
}

#[track_caller]
fn edges(x: &Array, axis: usize, width: (usize, usize)) -> Array {
    if !has_elements(x, axis, width) {
        return x.clone();
    }
    let length = x.shape()[axis];
    let before = repeat_each(&lax::slice_in_dim(x, 0, 1, 1, axis), width.0, axis);
    let after = repeat_each(
        &lax::slice_in_dim(x, length - 1, length, 1, axis),
        width.1,
        axis,
    );
    joined(axis, &[before, x.clone(), after])
}

#[track_caller]
fn wrapped(x: &Array, axis: usize, width: (usize, usize)) -> Array {
    if !has_elements(x, axis, width) {
        return x.clone();
    }
    let length = x.shape()[axis];
    let (left, right) = (width.0 % length, width.1 % length);
    let mut parts = Vec::new();
    if left > 0 {
        parts.push(lax::slice_in_dim(x, length - left, length, 1, axis));
    }
    parts.extend(vec![x.clone(); width.0 / length + width.1 / length + 1]);
    if right > 0 {
        parts.push(lax::slice_in_dim(x, 0, right, 1, axis));
    }
    joined(axis, &parts)
}

#[track_caller]
fn mirrored(x: &Array, axis: usize, width: (usize, usize), options: &Pad) -> Array {
    if !has_elements(x, axis, width) || width == (0, 0) {
        return x.clone();
    }
    let size = x.shape()[axis];
    let offset = usize::from(options.mode == PadMode::Reflect && size > 1);
    let cut = |x: &Array, start: usize, limit: usize| lax::slice_in_dim(x, start, limit, 1, axis);
    let outermost = |x: &Array, before: bool| {
        let length = x.shape()[axis];
        if before {
            cut(x, 0, 1)
        } else {
            cut(x, length - 1, length)
        }
    };
    let mut x = x.clone();
    for (mut missing, before) in [(width.0, true), (width.1, false)] {
        let mut edge = outermost(&x, before);
        while missing > 0 {
            let now = missing.min(size - offset);
            missing -= now;
            let part = if before {
                cut(&x, offset, offset + now)
            } else {
                let limit = x.shape()[axis] - usize::from(offset == 1);
                cut(&x, limit - now, limit)
            };
            let mut part = flip(&part, axis);
            if options.reflect_type == ReflectType::Odd {
                part = lax::sub(&lax::mul(&constant(2, x.dtype()), &edge), &part);
                if size > 1 {
                    edge = outermost(&part, before);
                }
            }
            x = if before {
                joined(axis, &[part, x])
            } else {
                joined(axis, &[x, part])
            };
        }
    }
    x
}

#[track_caller]
fn ramps(x: &Array, axis: usize, width: (usize, usize), ends: &(Array, Array)) -> Array {
    let length = x.shape()[axis];
    if length == 0 {
        has_elements(x, axis, (1, 1));
    }
    let first = lax::slice_in_dim(x, 0, 1, 1, axis);
    let last = lax::slice_in_dim(x, length - 1, length, 1, axis);
    let ramp = |end: &Array, edge: &Array, count: usize| {
        let options = Linspace::new()
            .num(count)
            .endpoint(false)
            .dtype(x.dtype())
            .axis(axis);
        linspace(end, lax::squeeze(edge, axis), options)
    };
    let before = ramp(&ends.0, &first, width.0);
    let after = flip(&ramp(&ends.1, &last, width.1), axis);
    joined(axis, &[before, x.clone(), after])
}

#[track_caller]
fn statistics(
    x: &Array,
    axis: usize,
    width: (usize, usize),
    lengths: Option<(i64, i64)>,
    mode: PadMode,
) -> Array {
    let size = x.shape()[axis];
    let of = |x: &Array| statistic(x, axis, mode);
    let (before, after) = match lengths {
        None => {
            let value = of(x);
            (value.clone(), value)
        }
        Some((first, last)) => {
            let length = |length: i64| match usize::try_from(length) {
                Ok(length) if length > 0 => length.min(size),
                _ => raise(
                    Error::parameter(format!("{length} elements have no statistics"))
                        .in_operation("pad"),
                ),
            };
            let (first, last) = (length(first), length(last));
            let front = lax::slice_in_dim(x, 0, first, 1, axis);
            let back = lax::slice_in_dim(x, size - last, size, 1, axis);
            (of(&front), of(&back))
        }
    };
    let (before, after) = if x.dtype().is_integer() {
        (round(&before, ()), round(&after, ()))
    } else {
        (before, after)
    };
    let before = as_dtype(&before, x.dtype(), x.weak_type());
    let after = as_dtype(&after, x.dtype(), x.weak_type());
    let before = repeat_each(&before, width.0, axis);
    joined(
        axis,
        &[before, x.clone(), repeat_each(&after, width.1, axis)],
    )
}

/// What the elements along an axis have in common, which keeps length 1.
#[track_caller]
fn statistic(x: &Array, axis: usize, mode: PadMode) -> Array {
    if mode != PadMode::Mean {
        has_elements(x, axis, (1, 1));
    }
    let result = inexact(x.dtype());
    let working = match result {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    };
    match mode {
        PadMode::Maximum => lax::expand_dims(&lax::reduce_max(x, axis), axis),
        PadMode::Minimum => lax::expand_dims(&lax::reduce_min(x, axis), axis),
        PadMode::Mean => {
            let sum = lax::reduce_sum(&as_dtype(x, working, false), axis);
            let count = constant(x.shape()[axis], working);
            as_dtype(
                &lax::div(&lax::expand_dims(&sum, axis), &count),
                result,
                false,
            )
        }
        _ => {
            let x = as_dtype(x, result, false);
            let count = x.shape()[axis];
            let sorted = lax::sort(std::slice::from_ref(&x), axis, 1)[0].clone();
            let sum = lax::add(
                &at(&sorted, axis, (count - 1) / 2),
                &at(&sorted, axis, count / 2),
            );
            let middle = lax::mul(&sum, &constant(0.5, result));
            // NaN is sorted to the end.
            let last = at(&sorted, axis, count - 1);
            lax::expand_dims(&where_(&isnan(&last), &last, &middle), axis)
        }
    }
}
