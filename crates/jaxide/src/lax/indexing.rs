//! Reading and writing at computed indices.

use jaxide_core::prims::{self, GatherScatterMode, NoConsts, OptionalJaxpr};
use jaxide_core::{Atom, Aval, Builder, ClosedJaxpr, DType, Scalar};

use super::reduction::combiner;
use crate::array::{Array, AsShape, as_dtype, lengths};
use crate::trace::{OrRaise, bind_one};

/// A box of lengths `sizes` whose start, a scalar per axis, is moved so that it fits.
///
/// # Panics
/// When starts are not integer scalars of one type, or a length is too large.
#[track_caller]
pub fn dynamic_slice(x: &Array, starts: &[Array], sizes: impl AsShape) -> Array {
    let slice_sizes = lengths("dynamic_slice", &sizes);
    let mut operands = vec![x.clone()];
    operands.extend(starts.iter().map(strong));
    bind_one(prims::DynamicSlice { slice_sizes }, &operands)
}

/// `x` with a box overwritten by `update`; the start, a scalar per axis, is moved so that it fits.
///
/// # Panics
/// When starts are not integer scalars of one type, or the update does not fit.
#[track_caller]
pub fn dynamic_update_slice(x: &Array, update: &Array, starts: &[Array]) -> Array {
    let mut operands = vec![x.clone(), update.clone()];
    operands.extend(starts.iter().map(strong));
    bind_one(prims::DynamicUpdateSlice, &operands)
}

/// A number of the program with its own element type.
#[track_caller]
fn strong(x: &Array) -> Array {
    as_dtype(x, x.dtype(), false)
}

/// Windows of `x` at indices; see [`prims::GatherDimensionNumbers`]. The last axis of `indices` holds the components of
/// an index.
///
/// # Panics
/// When the dimension numbers do not fit.
#[track_caller]
pub fn gather(
    x: &Array,
    indices: &Array,
    dimension_numbers: prims::GatherDimensionNumbers,
    slice_sizes: impl AsShape,
    mode: GatherScatterMode,
    fill_value: Option<Scalar>,
) -> Array {
    let prim = prims::Gather {
        dimension_numbers,
        fill_value,
        indices_are_sorted: false,
        mode,
        slice_sizes: lengths("gather", &slice_sizes),
        unique_indices: false,
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
            mode: GatherScatterMode,
        ) -> Array {
            let combine: Option<fn(&Builder, Atom, Atom) -> Atom> = $combine;
            let prim = prims::$prim {
                dimension_numbers,
                indices_are_sorted: false,
                mode,
                unique_indices: false,
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
    mode: GatherScatterMode,
) -> Array {
    let update_jaxpr = combiner("scatter_apply", &[x.dtype(), x.dtype()], |args| {
        vec![f(args[0].clone())]
    });
    let prim = prims::Scatter {
        dimension_numbers,
        indices_are_sorted: false,
        mode,
        unique_indices: false,
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
