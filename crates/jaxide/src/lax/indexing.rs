//! Reading and writing at computed indices.

use jaxide_core::prims::{self, NoConsts, OptionalJaxpr};
use jaxide_core::{Atom, Aval, Builder, ClosedJaxpr, DType, Error, Literal, Scalar};

use super::reduction::combiner;
use crate::array::{Array, AsShape, Repr, as_dtype, lengths};
use crate::options::options;
use crate::trace::{OrRaise, bind_one, raise};

/// A box of lengths `sizes` whose start, a scalar per axis, is moved so that it fits. Negative starts count from the end.
///
/// # Panics
/// When starts are not integer scalars of one type, one for each axis, or a length is too large.
///
/// ```
/// use jaxide::{Array, lax};
/// let x = Array::from([1, 2, 3, 4]);
/// assert_eq!(lax::dynamic_slice(&x, &[Array::from(-3)], [2]).to_vec::<i32>(), [2, 3]);
/// assert_eq!(lax::dynamic_slice(&x, &[Array::from(9)], [2]).to_vec::<i32>(), [3, 4]);
/// ```
#[track_caller]
pub fn dynamic_slice(x: &Array, starts: &[Array], sizes: impl AsShape) -> Array {
    let _named = crate::trace::named("dynamic_slice");
    let starts = starts_from_front(x, starts, &vec![true; x.ndim()]);
    dynamic_slice_at(x, &starts, sizes)
}

/// Starts counted from the front, where that is allowed.
#[track_caller]
pub(super) fn starts_from_front(x: &Array, starts: &[Array], wraps: &[bool]) -> Vec<Array> {
    if starts.len() != x.ndim() {
        // The primitive says so.
        return starts.to_vec();
    }
    let mut counted = Vec::with_capacity(starts.len());
    for ((start, &length), &wrap) in starts.iter().zip(x.shape()).zip(wraps) {
        counted.push(match start.0 {
            Repr::Number(literal) => {
                let start = strong(start);
                match literal.value.as_integer() {
                    Some(at) if wrap && at < 0 => number_like(&start, at + length as i128),
                    _ => start,
                }
            }
            _ if wrap => crate::numpy::from_front(start, length, false),
            _ => strong(start),
        });
    }
    counted
}

/// An integer of the element type of an array of integers.
pub(super) fn number_like(x: &Array, value: i128) -> Array {
    match (x.dtype().is_integer(), Scalar::from_integer(value)) {
        (true, Some(value)) => Array(Repr::Number(Literal {
            value,
            dtype: x.dtype(),
            weak_type: false,
        })),
        _ => x.clone(),
    }
}

/// [`dynamic_slice`] at starts that are counted from the front.
#[track_caller]
pub(crate) fn dynamic_slice_at(x: &Array, starts: &[Array], sizes: impl AsShape) -> Array {
    let slice_sizes = lengths("dynamic_slice", &sizes);
    let mut operands = vec![x.clone()];
    operands.extend(starts.iter().map(strong));
    bind_one(prims::DynamicSlice { slice_sizes }, &operands)
}

/// `x` with a box overwritten by `update`; the start, a scalar per axis, is moved so that it fits. Negative starts count from
/// the end.
///
/// # Panics
/// When starts are not integer scalars of one type, one for each axis, or the update does not fit.
#[track_caller]
pub fn dynamic_update_slice(x: &Array, update: &Array, starts: &[Array]) -> Array {
    let _named = crate::trace::named("dynamic_update_slice");
    let starts = starts_from_front(x, starts, &vec![true; x.ndim()]);
    dynamic_update_slice_at(x, update, &starts)
}

/// [`dynamic_update_slice`] at starts that are counted from the front.
#[track_caller]
pub(crate) fn dynamic_update_slice_at(x: &Array, update: &Array, starts: &[Array]) -> Array {
    let mut operands = vec![x.clone(), update.clone()];
    operands.extend(starts.iter().map(strong));
    bind_one(prims::DynamicUpdateSlice, &operands)
}

/// A number of the program with its own element type.
#[track_caller]
fn strong(x: &Array) -> Array {
    as_dtype(x, x.dtype(), false)
}

options! {
    /// What [`gather`] takes beside its operands and dimension numbers; a mode alone is one too.
    pub struct Gather {
        /// What becomes of windows out of bounds.
        mode: GatherScatterMode = GatherScatterMode::PromiseInBounds;
        /// A promise that windows do not overlap.
        unique_indices: bool = false;
        /// A promise that indices ascend.
        indices_are_sorted: bool = false;
    }

    /// What [`scatter`] and the like take beside their operands and dimension numbers; a mode alone is one too.
    pub struct Scatter {
        /// What becomes of windows out of bounds.
        mode: GatherScatterMode = GatherScatterMode::FillOrDrop;
        /// A promise that windows do not overlap.
        unique_indices: bool = false;
        /// A promise that indices ascend.
        indices_are_sorted: bool = false;
    }
}

/// Which axes of array, indices and result belong to each other: named as the primitives name them.
pub use prims::{GatherDimensionNumbers, GatherScatterMode, ScatterDimensionNumbers};

impl From<GatherScatterMode> for Gather {
    fn from(mode: GatherScatterMode) -> Self {
        Gather::new().mode(mode)
    }
}

impl From<GatherScatterMode> for Scatter {
    fn from(mode: GatherScatterMode) -> Self {
        Scatter::new().mode(mode)
    }
}

/// Windows of `x` at indices; see [`prims::GatherDimensionNumbers`]. The last axis of `indices` holds the components of
/// an index. In the mode that fills, windows outside hold `fill_value`, or NaN, the least signed or largest unsigned integer, or
/// true.
///
/// # Panics
/// When the dimension numbers do not fit.
#[track_caller]
pub fn gather(
    x: &Array,
    indices: &Array,
    dimension_numbers: prims::GatherDimensionNumbers,
    slice_sizes: impl AsShape,
    options: impl Into<Gather>,
    fill_value: Option<Scalar>,
) -> Array {
    let _named = crate::trace::named("gather");
    let options = options.into();
    let fills = options.mode == GatherScatterMode::FillOrDrop;
    let fill_value = fill_value.or_else(|| crate::numpy::outside(x.dtype()));
    let prim = prims::Gather {
        dimension_numbers,
        fill_value: fill_value.filter(|_| fills),
        indices_are_sorted: options.indices_are_sorted,
        mode: options.mode,
        slice_sizes: lengths("gather", &slice_sizes),
        unique_indices: options.unique_indices,
    };
    bind_one(prim, &[x.clone(), indices.clone()])
}

/// Scatters by name of their primitive; the combiner is shown in the text as JAX shows it.
macro_rules! scatters {
    ($($(#[$doc:meta])* $name:ident $prim:ident $combine:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// `indices` holds the components of an index along its last axis, `updates` a window for each index; see
        /// [`ScatterDimensionNumbers`](prims::ScatterDimensionNumbers). `mode` says what happens out of bounds.
        ///
        /// # Panics
        /// When shapes, element types or dimension numbers do not fit.
        #[track_caller]
        pub fn $name(
            x: &Array,
            indices: &Array,
            updates: &Array,
            dimension_numbers: prims::ScatterDimensionNumbers,
            options: impl Into<Scatter>,
        ) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let options = options.into();
            let combine: Option<fn(&Builder, Atom, Atom) -> Atom> = $combine;
            let prim = prims::$prim {
                dimension_numbers,
                indices_are_sorted: options.indices_are_sorted,
                mode: options.mode,
                unique_indices: options.unique_indices,
                update_consts: NoConsts,
                update_jaxpr: OptionalJaxpr(combine.map(|combine| scalar_combiner(x.dtype(), combine))),
            };
            bind_one(prim, &[x.clone(), indices.clone(), updates.clone()])
        }
    )* };
}

scatters! {
    /// `x` with windows overwritten at indices; of several at one place any one wins.
    scatter Scatter None;
    /// `x` with windows added at indices.
    scatter_add ScatterAdd Some(Builder::add);
    /// `x` with windows subtracted at indices.
    scatter_sub ScatterSub Some(Builder::sub);
    /// `x` with windows multiplied at indices.
    scatter_mul ScatterMul Some(Builder::mul);
    /// `x` with the smaller of what it holds and windows at indices.
    scatter_min ScatterMin Some(Builder::min);
    /// `x` with the larger of what it holds and windows at indices.
    scatter_max ScatterMax Some(Builder::max);
}

/// `x` with `f` applied to the elements of the windows at indices. `update_shape` is what the updates of a
/// [`scatter`] would have.
///
/// # Panics
/// When shapes or dimension numbers do not fit, or `f` does not map a scalar to one of its type, or captures a traced
/// array.
#[track_caller]
pub fn scatter_apply(
    x: &Array,
    indices: &Array,
    f: impl Fn(Array) -> Array,
    dimension_numbers: prims::ScatterDimensionNumbers,
    update_shape: impl AsShape,
    options: impl Into<Scatter>,
) -> Array {
    let _named = crate::trace::named("scatter_apply");
    let options = options.into();
    let update_jaxpr = combiner("scatter_apply", &[x.dtype(), x.dtype()], |args| {
        vec![f(args[0].clone())]
    });
    let result = &update_jaxpr.out_avals()[0];
    if result.dtype != x.dtype() || !result.shape.is_empty() {
        let error = format!("the function of a scalar gives {result} for {}", x.dtype());
        raise(Error::dtype(error).in_operation("scatter_apply"));
    }
    let prim = prims::Scatter {
        dimension_numbers,
        indices_are_sorted: options.indices_are_sorted,
        mode: options.mode,
        unique_indices: options.unique_indices,
        update_consts: NoConsts,
        update_jaxpr: OptionalJaxpr(Some(update_jaxpr)),
    };
    let updates = super::full(update_shape, 0, x.dtype());
    bind_one(prim, &[x.clone(), indices.clone(), updates])
}

/// A combiner of two scalars as a jaxpr.
#[track_caller]
fn scalar_combiner(dtype: DType, combine: fn(&Builder, Atom, Atom) -> Atom) -> ClosedJaxpr {
    let b = Builder::new();
    let scalar = || b.input(Aval::scalar(dtype));
    let (old, update) = (scalar(), scalar());
    let result = combine(&b, old, update);
    b.finish(&[result]).or_raise()
}
