//! Reading and writing at an index: `x[i]` and `x.at[i].set(y)` of JAX.

use std::ops::{Bound, RangeBounds};

use jaxide_core::prims::GatherScatterMode;
use jaxide_core::{Error, Scalar};

use super::gather::{Plan, Reading, gather, plan};
use super::index::{AsIndices, Indices};
use super::parse::{Slot, parse, without_masks};
use super::slices::{dynamic_slice, static_slice};
use super::write::{Update, write};
use crate::array::{Array, Repr};
use crate::lax;
use crate::numpy;
use crate::trace::raise;

/// What becomes of indices that are out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexMode {
    /// They are not there, or it does not matter: reading moves them to the nearest end, writing drops them.
    PromiseInBounds,
    /// They are moved to the nearest end.
    Clip,
    /// Reading gives a value that tells, writing drops them.
    Fill,
    /// The same as [`IndexMode::Fill`].
    Drop,
    /// They are counted around: in functions that say so.
    Wrap,
    /// They are a mistake, and must be known while a program is traced: in functions that say so.
    Raise,
    /// They are used as they are: in functions that say so.
    Ignore,
}

impl IndexMode {
    /// The mode of a gather or a scatter.
    ///
    /// # Panics
    /// When it is none.
    #[track_caller]
    pub(super) fn of_gather(self, operation: &str) -> GatherScatterMode {
        match self {
            IndexMode::PromiseInBounds => GatherScatterMode::PromiseInBounds,
            IndexMode::Clip => GatherScatterMode::Clip,
            IndexMode::Fill | IndexMode::Drop => GatherScatterMode::FillOrDrop,
            IndexMode::Wrap | IndexMode::Raise | IndexMode::Ignore => self.refused(operation),
        }
    }
}

impl IndexMode {
    /// A mode that a function does not have.
    #[track_caller]
    pub(super) fn refused(self, operation: &str) -> ! {
        raise(Error::parameter(format!("there is no mode {self:?} here")).in_operation(operation))
    }
}

/// How a place in an array is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexingStrategy {
    /// As a slice where it is one, else as a gather.
    #[default]
    Auto,
    /// As a gather.
    Gather,
    /// As a slice whose place is known.
    StaticSlice,
    /// As a slice whose place is computed.
    DynamicSlice,
}

impl Array {
    /// The elements at an index: `x[i]` of NumPy. An integer or an array of integers speaks of the first axis;
    /// [`idx!`](crate::idx) of several, with slices, new axes and masks.
    ///
    /// Negative indices count from the end; what is out of range is moved to the nearest end. [`At::get`] has other ways,
    /// and [`numpy::take`](crate::numpy::take) marks it.
    ///
    /// # Panics
    /// When there are fewer axes than indices, an axis is empty that an element is asked of, an index is neither an integer nor
    /// a truth value, arrays of indices do not broadcast, or a mask is not known.
    ///
    /// ```
    /// use jaxide::{Array, idx};
    /// let x = Array::from([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    /// assert_eq!(x.index(-1).to_vec::<f32>(), [5.0, 6.0]);
    /// assert_eq!(x.index([2, 0]).to_vec::<f32>(), [5.0, 6.0, 1.0, 2.0]);
    /// assert_eq!(x.index(idx![1.., 0]).to_vec::<f32>(), [3.0, 5.0]);
    /// ```
    #[track_caller]
    pub fn index(&self, index: impl AsIndices) -> Array {
        read(
            "index",
            self,
            &index.indices(),
            Options::default(),
            None,
            IndexingStrategy::Auto,
        )
    }

    /// The slices in a range of the first axis: `x[a:b]` of NumPy.
    ///
    /// # Panics
    /// When there is no axis, or the range does not lie in it.
    ///
    /// ```
    /// use jaxide::Array;
    /// let x = Array::from([1, 2, 3, 4]);
    /// assert_eq!(x.slice(1..3).to_vec::<i32>(), [2, 3]);
    /// assert_eq!(x.slice(3..).to_vec::<i32>(), [4]);
    /// ```
    #[track_caller]
    pub fn slice(&self, within: impl RangeBounds<usize>) -> Array {
        let length = self.shape().first().copied().unwrap_or(0);
        let start = match within.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let limit = match within.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&limit) => limit,
            Bound::Unbounded => length,
        };
        if self.ndim() == 0 || start > limit || limit > length {
            raise(
                Error::parameter(format!(
                    "{start}..{limit} does not lie in the first axis of {}",
                    self.aval()
                ))
                .in_operation("slice"),
            );
        }
        let mut starts = vec![0; self.ndim()];
        let mut limits = self.shape().to_vec();
        (starts[0], limits[0]) = (start, limit);
        lax::slice(self, &starts, &limits, None)
    }

    /// The place of an index, to read it in other ways than [`Array::index`], or to make an array that differs there:
    /// `x.at(i).set(v)`. Negative indices count from the end; what is written outside is dropped.
    ///
    /// # Panics
    /// What is done there panics when the index does not fit, as [`Array::index`] says.
    ///
    /// ```
    /// use jaxide::{Array, idx, numpy::IndexMode};
    /// let x = Array::from([1.0f32, 2.0, 3.0]);
    /// assert_eq!(x.at(1).set(9.0).to_vec::<f32>(), [1.0, 9.0, 3.0]);
    /// assert_eq!(x.at([0, 0]).add(1.0).to_vec::<f32>(), [3.0, 2.0, 3.0]);
    /// assert_eq!(x.at(idx![1..]).multiply([2.0f32, 4.0]).to_vec::<f32>(), [1.0, 4.0, 12.0]);
    /// assert_eq!(x.at(7).mode(IndexMode::Fill).fill_value(-1).get().item::<f32>(), -1.0);
    /// assert_eq!(x.at(7).mode(IndexMode::Clip).set(0.0).to_vec::<f32>(), [1.0, 2.0, 0.0]);
    /// ```
    pub fn at(&self, index: impl AsIndices) -> At {
        At {
            x: self.clone(),
            indices: index.indices(),
            options: Options::default(),
            fill_value: None,
            strategy: IndexingStrategy::Auto,
        }
    }
}

/// A place in an array: see [`Array::at`]. What JAX takes by keyword when it is read or written is said before.
#[must_use]
pub struct At {
    x: Array,
    indices: Indices,
    options: Options,
    fill_value: Option<Array>,
    strategy: IndexingStrategy,
}

/// What reading and writing are told.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    pub(crate) mode: Option<IndexMode>,
    pub(crate) unique_indices: bool,
    pub(crate) indices_are_sorted: bool,
    pub(crate) wrap_negative_indices: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            mode: None,
            unique_indices: false,
            indices_are_sorted: false,
            wrap_negative_indices: true,
        }
    }
}

/// The ways to write.
macro_rules! updates {
    ($($(#[$doc:meta])* $name:ident $update:ident;)*) => {
        impl At {
            $(
                $(#[$doc])*
                ///
                /// # Panics
                /// When `value` does not broadcast to the slices, or the index does not fit.
                #[track_caller]
                pub fn $name(&self, value: impl Into<Array>) -> Array {
                    let _named = crate::trace::named(concat!("at.", stringify!($name)));
                    self.updated(Update::$update, &self.x, &value.into())
                }
            )*
        }
    };
}

updates! {
    /// The array with the slices replaced. Where an index is given twice, either may win.
    set Set;
    /// The array with `value` added to the slices, as often as an index is given.
    add Add;
    /// The array with `value` subtracted from the slices, as often as an index is given.
    subtract Subtract;
    /// The array with the slices multiplied by `value`, as often as an index is given.
    multiply Multiply;
    /// The array with the slices no larger than `value`.
    min Min;
    /// The array with the slices no smaller than `value`.
    max Max;
}

impl At {
    /// What becomes of indices that are out of bounds.
    pub fn mode(mut self, mode: IndexMode) -> Self {
        self.options.mode = Some(mode);
        self
    }

    /// What is read out of bounds, with [`IndexMode::Fill`]: NaN by default, the least signed or largest unsigned integer, or
    /// true.
    pub fn fill_value(mut self, value: impl Into<Array>) -> Self {
        self.fill_value = Some(value.into());
        self
    }

    /// A promise that no place is there twice.
    pub fn unique_indices(mut self, unique: bool) -> Self {
        self.options.unique_indices = unique;
        self
    }

    /// A promise that indices ascend.
    pub fn indices_are_sorted(mut self, sorted: bool) -> Self {
        self.options.indices_are_sorted = sorted;
        self
    }

    /// Whether negative indices count from the end, as they do by default; else they are out of bounds.
    pub fn wrap_negative_indices(mut self, wrap: bool) -> Self {
        self.options.wrap_negative_indices = wrap;
        self
    }

    /// How the place is read.
    pub fn strategy(mut self, strategy: IndexingStrategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// The slices: [`Array::index`] with a choice of what is read out of bounds.
    ///
    /// # Panics
    /// When the index does not fit, or the strategy is not possible.
    #[track_caller]
    pub fn get(&self) -> Array {
        let _named = crate::trace::named("at.get");
        let fill_value = optional_scalar("at", self.fill_value.as_ref());
        read(
            "at",
            &self.x,
            &self.indices,
            self.options,
            fill_value,
            self.strategy,
        )
    }

    /// The array with the slices divided by `value`, as often as an index is given. Integers become floats.
    ///
    /// # Panics
    /// When `value` does not broadcast to the slices, or the index does not fit.
    #[track_caller]
    pub fn divide(&self, value: impl Into<Array>) -> Array {
        let _named = crate::trace::named("at.divide");
        let ones = numpy::full_like(&self.x, 1);
        numpy::divide(
            &self.x,
            &self.updated(Update::Multiply, &ones, &value.into()),
        )
    }

    /// The array with the slices to the power `value`; where an index is given twice, to the product.
    ///
    /// # Panics
    /// When `value` does not broadcast to the slices, or the index does not fit.
    #[track_caller]
    pub fn power(&self, value: impl Into<Array>) -> Array {
        let _named = crate::trace::named("at.power");
        let ones = numpy::full_like(&self.x, 1);
        numpy::power(
            &self.x,
            &self.updated(Update::Multiply, &ones, &value.into()),
        )
    }

    /// The array with `f` applied to the elements of the slices, as often as an index is given. It has no derivative.
    ///
    /// # Panics
    /// When the index does not fit, or `f` does not map a scalar to one of its type, or captures a traced array.
    #[track_caller]
    pub fn apply(&self, f: impl Fn(Array) -> Array) -> Array {
        let _named = crate::trace::named("at.apply");
        let zero = lax::full((), 0, self.x.dtype());
        self.updated(Update::Apply(&f), &self.x, &zero)
    }

    #[track_caller]
    fn updated(&self, update: Update<'_>, x: &Array, value: &Array) -> Array {
        write("at", x, &self.indices, update, value, self.options)
    }
}

/// The value of a scalar that must be known, if there is one.
#[track_caller]
pub(super) fn optional_scalar(operation: &str, value: Option<&Array>) -> Option<Scalar> {
    let value = value?;
    if let Repr::Number(literal) = value.0 {
        return Some(literal.value);
    }
    match value.value().scalar_at(0) {
        Some(scalar) if value.ndim() == 0 => Some(scalar),
        _ => raise(
            Error::shape(format!("a scalar is needed, and {} is given", value.aval()))
                .in_operation(operation),
        ),
    }
}

/// The mode of a gather, if one is asked for.
#[track_caller]
fn mode_of_gather(operation: &str, mode: Option<IndexMode>) -> Option<GatherScatterMode> {
    let mode = mode?;
    Some(mode.of_gather(operation))
}

/// `x[indices]`.
#[track_caller]
fn read(
    operation: &str,
    x: &Array,
    indices: &Indices,
    options: Options,
    fill_value: Option<Scalar>,
    strategy: IndexingStrategy,
) -> Array {
    let slots = parse(operation, indices, x);
    let mode = mode_of_gather(operation, options.mode);
    let wrap = options.wrap_negative_indices;
    let (auto, needs) = (strategy == IndexingStrategy::Auto, |needed| {
        strategy == needed
    });
    let mut read = None;
    if auto || needs(IndexingStrategy::StaticSlice) {
        read = static_slice(x, &slots, mode, wrap);
    }
    if read.is_none() && (auto || needs(IndexingStrategy::DynamicSlice)) {
        read = dynamic_slice(x, &slots, mode, wrap);
    }
    match read {
        Some(read) => read,
        None if auto || needs(IndexingStrategy::Gather) => {
            gathered(operation, x, slots, mode, options, fill_value)
        }
        None => raise(
            Error::parameter(format!("the index of {} is no such slice", x.aval()))
                .in_operation(operation),
        ),
    }
}

#[track_caller]
fn gathered(
    operation: &str,
    x: &Array,
    slots: Vec<Slot>,
    mode: Option<GatherScatterMode>,
    options: Options,
    fill_value: Option<Scalar>,
) -> Array {
    let slots = without_masks(operation, slots, x.shape());
    let plan = plan(operation, x, &slots, options.wrap_negative_indices);
    let x = with_truths(x, &plan);
    if plan.shape.contains(&0) {
        return lax::full(&plan.shape, 0, x.dtype());
    }
    let mut read = x;
    if plan.indices.size() > 0 {
        let reading = Reading {
            mode,
            fill_value,
            unique_indices: options.unique_indices || plan.plain,
            indices_are_sorted: options.indices_are_sorted || plan.plain,
        };
        read = gather(&read, &plan.indices, plan.numbers, &plan.sizes, reading);
    }
    if !plan.reversed.is_empty() {
        read = lax::rev(&read, &plan.reversed);
    }
    lax::expand_dims(&read, &plan.new)
}

/// `x` with the axes that truth values without axes stand for.
#[track_caller]
pub(super) fn with_truths(x: &Array, plan: &Plan) -> Array {
    if plan.truths.is_empty() {
        x.clone()
    } else {
        lax::expand_dims(x, &plan.truths)
    }
}
