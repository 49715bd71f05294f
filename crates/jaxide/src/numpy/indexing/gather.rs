//! Any index as the operands of a gather or a scatter.

use jaxide_core::prims::{self, GatherDimensionNumbers, GatherScatterMode};
use jaxide_core::{DType, Dims, Error, Literal, Scalar, Tensor};

use super::parse::{Kind, Slot, with_all_axes};
use crate::array::{Array, Repr, as_dtype, is_wide};
use crate::lax;
use crate::numpy::{broadcast_shapes, broadcast_to};
use crate::trace::{OrRaise, bind_one, raise};

/// An index as a gather has it.
pub(super) struct Plan {
    /// The shape of what is read, with new axes.
    pub(super) shape: Vec<usize>,
    /// Lengths of the windows.
    pub(super) sizes: Vec<usize>,
    /// Where the windows start, as components along the last axis.
    pub(super) indices: Array,
    pub(super) numbers: GatherDimensionNumbers,
    /// Whether windows are in order and do not overlap: nothing is picked one by one.
    pub(super) plain: bool,
    /// Axes that are turned around, without new axes.
    pub(super) reversed: Vec<usize>,
    /// New axes of what is read.
    pub(super) new: Vec<usize>,
    /// Axes of length 1 that the array is given for truth values without axes.
    pub(super) truths: Vec<usize>,
}

/// The plan of an index without masks but such without axes.
///
/// # Panics
/// When an axis is empty that an element is picked of.
#[track_caller]
pub(super) fn plan(operation: &str, x: &Array, slots: &[Slot], wrap: bool) -> Plan {
    let advanced_at: Vec<usize> = (0..slots.len())
        .filter(|&at| slots[at].kind.is_advanced())
        .collect();
    let adjacent = advanced_at.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let slots = with_all_axes(slots, x.ndim());
    let (slots, lengths, truths) = with_axes_of_truths(slots, x.shape());
    let dtype = index_dtype(&slots, &lengths);
    let slots: Vec<Slot> = slots
        .into_iter()
        .map(|slot| {
            if wrap {
                counted_from_front(slot, &lengths)
            } else {
                slot
            }
        })
        .collect();

    let is_array = |slot: &Slot| match &slot.kind {
        Kind::Array(index) | Kind::Places(index) => index.ndim() > 0,
        _ => false,
    };
    let picked: Vec<usize> = if slots.iter().any(is_array) {
        (0..slots.len())
            .filter(|&at| slots[at].kind.is_advanced())
            .collect()
    } else {
        Vec::new()
    };
    // Where the axes of the arrays go.
    let front = match picked.first() {
        Some(&first) if adjacent => Some(first),
        Some(_) => Some(0),
        None => None,
    };

    let mut components: Vec<(Array, usize)> = Vec::new();
    let mut batch: Vec<usize> = Vec::new();
    let mut plan = Plan {
        shape: Vec::new(),
        sizes: Vec::new(),
        indices: Array::from(0),
        numbers: GatherDimensionNumbers::default(),
        plain: picked.is_empty(),
        reversed: Vec::new(),
        new: Vec::new(),
        truths,
    };
    let (mut offset, mut collapsed, mut map) = (Dims::new(), Vec::new(), Dims::new());
    let mut axes_read = 0;
    for (at, slot) in slots.iter().enumerate() {
        if front == Some(at) {
            let arrays: Vec<Array> = picked
                .iter()
                .filter_map(|&at| match &slots[at].kind {
                    Kind::Integer(number) => Some(literal(*number, DType::I32, true)),
                    Kind::Array(index) | Kind::Places(index) => Some(index.clone()),
                    _ => None,
                })
                .collect();
            let arrays = broadcast_arrays(operation, &arrays);
            let shape = arrays[0].shape().to_vec();
            let start = batch.len();
            components.extend(
                arrays
                    .iter()
                    .map(|index| (as_dtype(index, dtype, false), start)),
            );
            for &at in &picked {
                map.push(slots[at].axis);
                collapsed.push(slots[at].axis);
            }
            axes_read += shape.len();
            batch.extend_from_slice(&shape);
            plan.shape.extend(shape);
        }
        if picked.contains(&at) {
            plan.sizes.push(1);
            continue;
        }
        let length = lengths.get(slot.axis).copied().unwrap_or(0);
        match &slot.kind {
            Kind::Integer(_) | Kind::Array(_) | Kind::Places(_) => {
                if length == 0 {
                    raise(
                        Error::shape(format!(
                            "axis {} of {} has nothing to index",
                            slot.axis,
                            x.aval()
                        ))
                        .in_operation(operation),
                    );
                }
                let index = match &slot.kind {
                    Kind::Array(index) | Kind::Places(index) => as_dtype(index, dtype, false),
                    Kind::Integer(number) => literal(*number, dtype, false),
                    _ => continue,
                };
                components.push((index, batch.len()));
                collapsed.push(slot.axis);
                plan.sizes.push(1);
                map.push(slot.axis);
            }
            Kind::NewAxis => {
                plan.new.push(plan.shape.len());
                plan.shape.push(1);
            }
            Kind::Slice(slice) => {
                let count = slice.count(length);
                let (start, step) = (slice.ends(length).0, slice.step());
                plan.shape.push(count);
                if step == 1 {
                    if count != length {
                        components.push((literal(start, dtype, false), batch.len()));
                        map.push(slot.axis);
                    }
                    plan.sizes.push(count);
                    offset.push(axes_read);
                } else {
                    let steps = lax::mul(&literal(step, dtype, false), &lax::iota(dtype, count, 0));
                    let mut places = lax::add(&literal(start, dtype, false), &steps);
                    if step < 0 {
                        plan.reversed.push(axes_read);
                        places = lax::rev(&places, 0);
                    }
                    plan.sizes.push(1);
                    components.push((places, batch.len()));
                    map.push(slot.axis);
                    batch.push(count);
                    collapsed.push(slot.axis);
                }
                axes_read += 1;
            }
            // These are gone.
            Kind::Ellipsis | Kind::Mask(_) => {}
        }
    }
    plan.indices = joined(&components, batch, dtype);
    collapsed.sort_unstable();
    plan.numbers = GatherDimensionNumbers {
        offset_dims: offset,
        collapsed_slice_dims: collapsed.into_iter().collect(),
        start_index_map: map,
        ..Default::default()
    };
    plan
}

/// Truth values without axes are an axis of length 1, or of what is read 0, in front of the next axis.
#[track_caller]
fn with_axes_of_truths(slots: Vec<Slot>, shape: &[usize]) -> (Vec<Slot>, Vec<usize>, Vec<usize>) {
    let mut lengths = shape.to_vec();
    let mut truths = Vec::new();
    let mut slots = slots;
    for slot in &mut slots {
        slot.axis += truths.len();
        if let Kind::Mask(mask) = &slot.kind {
            let count = usize::from(mask.truth());
            lengths.insert(slot.axis, 1);
            truths.push(slot.axis);
            slot.kind = Kind::Places(Array::from_vec(count, vec![0i32; count]));
            slot.axes = 1;
        }
    }
    (slots, lengths, truths)
}

/// The element type that components of indices are joined in.
fn index_dtype(slots: &[Slot], lengths: &[usize]) -> DType {
    let mut wide = slots.iter().filter_map(|slot| match &slot.kind {
        Kind::Array(index) if is_wide(index.dtype()) => Some(index.dtype()),
        _ => None,
    });
    let long = |&length: &usize| i32::try_from(length).is_err();
    match wide.next() {
        Some(first) if wide.all(|other| other == first) => first,
        Some(_) => DType::I64,
        None if lengths.iter().any(long) => DType::I64,
        None => DType::I32,
    }
}

/// The place with negative numbers counted from the front.
#[track_caller]
fn counted_from_front(slot: Slot, lengths: &[usize]) -> Slot {
    let length = |axis: usize| lengths.get(axis).copied().unwrap_or(0);
    let kind = match slot.kind {
        Kind::Integer(at) if at < 0 => Kind::Integer(at.saturating_add(length(slot.axis) as i64)),
        Kind::Array(index) => Kind::Array(from_front(&index, length(slot.axis), true)),
        Kind::Places(places) => {
            // That none is negative is known.
            let none = vec![0; places.size()];
            let negative = Tensor::from_bytes(places.shape(), DType::Bool, &none).map(Array::from);
            let moved = lax::add(
                &places,
                &literal(length(slot.axis) as i64, DType::I32, false),
            );
            match negative {
                Ok(negative) => Kind::Places(lax::select(&negative, &moved, &places)),
                Err(_) => Kind::Places(places),
            }
        }
        other => other,
    };
    Slot { kind, ..slot }
}

/// Components of indices side by side along a new last axis; each has its axes from a place on.
#[track_caller]
fn joined(components: &[(Array, usize)], mut batch: Vec<usize>, dtype: DType) -> Array {
    match components {
        [] => Array::from(Tensor::zeros(&[0], dtype).or_raise()),
        [(index, _)] => lax::expand_dims(index, index.ndim()),
        components => {
            let last = batch.len();
            batch.push(1);
            let parts: Vec<Array> = components
                .iter()
                .map(|(index, start)| {
                    let axes: Vec<usize> = (*start..start + index.ndim()).collect();
                    lax::broadcast_in_dim(index, &batch, &axes)
                })
                .collect();
            lax::concatenate(&parts, last)
        }
    }
}

/// Arrays repeated to their common shape.
///
/// # Panics
/// When they do not broadcast.
#[track_caller]
pub(super) fn broadcast_arrays(operation: &str, arrays: &[Array]) -> Vec<Array> {
    let shapes: Vec<&[usize]> = arrays.iter().map(Array::shape).collect();
    let shape = broadcast_shapes(operation, &shapes);
    let mut repeated = Vec::with_capacity(arrays.len());
    for x in arrays {
        repeated.push(broadcast_to(x, &shape));
    }
    repeated
}

/// Negative indices counted from the front. Those of a type that does not hold the length are widened; `weak` keeps numbers of
/// the program weak.
#[track_caller]
pub(crate) fn from_front(index: &Array, length: usize, weak: bool) -> Array {
    if index.dtype().is_unsigned_integer() {
        return index.clone();
    }
    let index = holding(index, length);
    let negative = lax::lt(&index, &literal(0, index.dtype(), index.weak_type()));
    let weak = weak && index.weak_type();
    let own = if weak {
        index.clone()
    } else {
        as_dtype(&index, index.dtype(), false)
    };
    let moved = lax::add(&own, &literal(length as i64, index.dtype(), weak));
    lax::select(&negative, &moved, &index)
}

/// Indices in a type that holds the length of the axis.
#[track_caller]
pub(super) fn holding(index: &Array, length: usize) -> Array {
    let most = (1u64 << (8 * index.dtype().size() - 1)) - 1;
    if (length as u64) <= most {
        return index.clone();
    }
    let wider = i32::try_from(length).map_or(DType::I64, |_| DType::I32);
    as_dtype(index, wider, false)
}

/// An integer of an element type; one that does not fit is the nearest end, which no axis reaches.
pub(super) fn literal(value: i64, dtype: DType, weak_type: bool) -> Array {
    let value = if dtype == DType::I32 {
        value.clamp(i32::MIN.into(), i32::MAX.into())
    } else {
        value
    };
    Array(Repr::Number(Literal {
        value: Scalar::Int(value),
        dtype,
        weak_type,
    }))
}

/// What a gather is told beside its operands and dimension numbers.
#[derive(Clone, Copy, Default)]
pub(super) struct Reading {
    pub(super) mode: Option<GatherScatterMode>,
    pub(super) fill_value: Option<Scalar>,
    pub(super) unique_indices: bool,
    pub(super) indices_are_sorted: bool,
}

/// One gather equation.
#[track_caller]
pub(super) fn gather(
    x: &Array,
    indices: &Array,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: &[usize],
    reading: Reading,
) -> Array {
    let mode = reading.mode.unwrap_or(GatherScatterMode::PromiseInBounds);
    let fills = mode == GatherScatterMode::FillOrDrop;
    let fill_value = reading
        .fill_value
        .or_else(|| outside(x.dtype()))
        .filter(|_| fills);
    let prim = prims::Gather {
        dimension_numbers,
        fill_value,
        indices_are_sorted: reading.indices_are_sorted,
        mode,
        slice_sizes: Dims::from_slice(slice_sizes),
        unique_indices: reading.unique_indices,
    };
    bind_one(prim, &[x.clone(), indices.clone()])
}

/// What is read outside: NaN, the least signed and the largest unsigned number, and true.
pub(crate) fn outside(dtype: DType) -> Option<Scalar> {
    if dtype.is_inexact() {
        return Some(Scalar::Float(f64::NAN));
    }
    if dtype.is_signed_integer() {
        return Some(Scalar::Int(i64::MIN >> (64 - 8 * dtype.size())));
    }
    if dtype.is_unsigned_integer() {
        return Scalar::from_integer((1_i128 << (8 * dtype.size())) - 1);
    }
    if dtype.is_key() {
        return Some(Scalar::Int(u32::MAX.into()));
    }
    (dtype == DType::Bool).then_some(Scalar::Bool(true))
}
