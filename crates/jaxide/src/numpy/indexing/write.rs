//! Writing at any index: one scatter.

use std::cell::RefCell;
use std::collections::HashMap;

use jaxide_core::prims::{self, GatherScatterMode, ScatterDimensionNumbers};
use jaxide_core::{Aval, Builder, ClosedJaxpr, DType};

use super::at::{Options, with_truths};
use super::gather::plan;
use super::index::Indices;
use super::parse::{parse, without_masks};
use crate::array::{Array, Repr, as_dtype, check_number, holds, promote_dtypes};
use crate::lax;
use crate::numpy;
use crate::numpy::check_broadcast_to;
use crate::trace::{OrRaise, bind_one};

/// How old and new elements become one.
#[derive(Clone, Copy)]
pub(crate) enum Update<'a> {
    Set,
    Add,
    Subtract,
    Multiply,
    Min,
    Max,
    Apply(&'a dyn Fn(Array) -> Array),
}

/// `x` with the elements at `indices` combined with `value`.
#[track_caller]
pub(crate) fn write(
    operation: &str,
    x: &Array,
    indices: &Indices,
    update: Update<'_>,
    value: &Array,
    options: Options,
) -> Array {
    let slots = without_masks(operation, parse(operation, indices, x), x.shape());
    let plan = plan(operation, x, &slots, options.wrap_negative_indices);
    if plan.shape.contains(&0) {
        return x.clone();
    }
    check_broadcast_to(operation, value.shape(), &plan.shape);
    check_number(operation, value, x.dtype());
    let value = match value.0 {
        // An integer that fits is one of the type; others of the program yield to it.
        Repr::Number(literal)
            if x.dtype().is_integer()
                && literal.dtype.is_integer()
                && literal
                    .value
                    .as_integer()
                    .is_some_and(|value| holds(x.dtype(), value)) =>
        {
            as_dtype(value, x.dtype(), false)
        }
        _ => value.clone(),
    };
    let [own, value] = promote_dtypes(operation, [x, &value]);
    let mut value = numpy::broadcast_to(&value, &plan.shape);
    if !plan.new.is_empty() {
        value = lax::squeeze(&value, &plan.new);
    }
    if !plan.reversed.is_empty() {
        value = lax::rev(&value, &plan.reversed);
    }
    let own = with_truths(&own, &plan);
    let how = Scattering {
        dimension_numbers: ScatterDimensionNumbers {
            update_window_dims: plan.numbers.offset_dims,
            inserted_window_dims: plan.numbers.collapsed_slice_dims,
            scatter_dims_to_operand_dims: plan.numbers.start_index_map,
            ..Default::default()
        },
        mode: match options.mode {
            Some(mode) => mode.of_gather(operation),
            None => GatherScatterMode::FillOrDrop,
        },
        unique_indices: options.unique_indices || plan.plain,
        indices_are_sorted: options.indices_are_sorted || plan.plain,
    };
    let mut written = scatter(update, how, &[own, plan.indices, value]);
    if !plan.truths.is_empty() {
        written = lax::squeeze(&written, &plan.truths);
    }
    as_dtype(&written, x.dtype(), x.weak_type())
}

/// What a scatter is told beside its operands.
struct Scattering {
    dimension_numbers: ScatterDimensionNumbers,
    mode: GatherScatterMode,
    unique_indices: bool,
    indices_are_sorted: bool,
}

/// One scatter equation.
#[track_caller]
fn scatter(update: Update<'_>, how: Scattering, operands: &[Array; 3]) -> Array {
    macro_rules! combining {
        ($prim:ident $combine:expr) => {
            bind_one(
                prims::$prim {
                    dimension_numbers: how.dimension_numbers,
                    indices_are_sorted: how.indices_are_sorted,
                    mode: how.mode,
                    unique_indices: how.unique_indices,
                    update_consts: prims::NoConsts,
                    update_jaxpr: prims::OptionalJaxpr($combine),
                },
                operands,
            )
        };
    }
    let combiner = |prim: prims::Prim| Some(combiner(prim, operands[0].dtype()));
    match update {
        Update::Set => combining!(Scatter None),
        Update::Add => combining!(ScatterAdd combiner(prims::Add.into())),
        Update::Subtract => combining!(ScatterSub combiner(prims::Sub.into())),
        Update::Multiply => {
            combining!(ScatterMul combiner(prims::Mul { out_dtype: None }.into()))
        }
        Update::Min => combining!(ScatterMin combiner(prims::Min.into())),
        Update::Max => combining!(ScatterMax combiner(prims::Max.into())),
        Update::Apply(f) => {
            let [x, indices, value] = operands;
            let options = lax::Scatter::from(how.mode)
                .unique_indices(how.unique_indices)
                .indices_are_sorted(how.indices_are_sorted);
            lax::scatter_apply(x, indices, f, how.dimension_numbers, value.shape(), options)
        }
    }
}

thread_local! {
    /// The jaxprs that were made before, so that a program has each of them once.
    static COMBINERS: RefCell<HashMap<(String, DType), ClosedJaxpr>> = RefCell::default();
}

/// A primitive of two scalars as a jaxpr.
#[track_caller]
fn combiner(prim: prims::Prim, dtype: DType) -> ClosedJaxpr {
    let key = (prim.name().to_owned(), dtype);
    let known = COMBINERS.with_borrow(|known| known.get(&key).cloned());
    known.unwrap_or_else(|| {
        let b = Builder::new();
        let scalars = [b.input(Aval::scalar(dtype)), b.input(Aval::scalar(dtype))];
        let results = b.emit(prim, &scalars);
        let jaxpr = results.and_then(|results| b.finish(&results)).or_raise();
        COMBINERS.with_borrow_mut(|known| known.insert(key, jaxpr.clone()));
        jaxpr
    })
}
