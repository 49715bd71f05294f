//! Searching: where elements are not zero, and where values belong in a sorted array.

use super::elements::{C128, Class, Number, meaningless};
use super::operands::Operands;
use super::routine::{each, in_chunks, routine};
use crate::narrow;
use crate::runtime::search::{self, Kind, MOST, Word};
use crate::runtime::simd::widen_f16;
use crate::runtime::{Context, KernelCall};
use jaxide_core::eval::numerics::order::bisect;
use jaxide_core::prims::{Nonzero, SearchSide, SearchSorted};
use jaxide_core::{DType, Element, Error, Result};
use std::borrow::Cow;
use std::hint::select_unpredictable;

type Call = Result<Box<KernelCall>>;

/// For each axis searched, the coordinates of the elements that are not zero, in row-major order over these axes.
pub(super) fn nonzero(operands: &Operands, params: &Nonzero) -> Call {
    let (x, fill) = match &operands.inputs[..] {
        [x, fill @ ..] => (x.clone(), fill.to_vec()),
        [] => return Err(Error::shape("an operand is expected")),
    };
    if Class::of(x.dtype) == Class::Opaque {
        return Err(meaningless(x.dtype));
    }
    let (size, dtype) = (params.size, params.out_dtype);
    let mut axes = params.axes.to_vec();
    axes.sort_unstable();
    if !fill.is_empty() && fill.len() != axes.len() {
        return Err(Error::parameter(format!(
            "{} fill values are given for {} axes",
            fill.len(),
            axes.len()
        )));
    }
    let others: Vec<usize> = (0..x.shape.len())
        .filter(|axis| !axes.contains(axis))
        .collect();
    let batch_shape: Vec<usize> = others.iter().map(|&axis| x.shape[axis]).collect();
    if fill
        .iter()
        .any(|value| value.shape.len() > batch_shape.len())
    {
        return Err(Error::shape("a fill value has too many axes"));
    }
    let strides = row_major(&x.shape);
    Ok(routine(operands, move |buffers, context| {
        let bytes = buffers.input::<u8>(0);
        let truth = truth(x.dtype, bytes);
        let values: Vec<Vec<i128>> = (0..fill.len())
            .map(|k| i128::read_all(fill[k].dtype, buffers.input(k + 1)))
            .collect();
        let batches: usize = batch_shape.iter().product();
        let group: usize = axes.iter().map(|&axis| x.shape[axis]).product();
        let found: Vec<Vec<usize>> = each(context, batches, |batch| {
            let start = position(batch, &others, &x.shape, &strides);
            if others.is_empty() {
                return indices(&truth, size);
            }
            let positions = (0..group)
                .filter(|&index| truth[start + position(index, &axes, &x.shape, &strides)]);
            positions.take(size).collect()
        });
        let mut inner = group;
        for (number, &axis) in axes.iter().enumerate() {
            let length = x.shape[axis];
            inner = inner.checked_div(length).unwrap_or(0);
            let single = axes.len() == 1;
            let coordinate = |&index: &usize| {
                if single {
                    index
                } else {
                    index / inner % length
                }
            };
            let filler = |batch: usize| match values.get(number) {
                Some(values) if !truth.is_empty() => {
                    values[spread(batch, &batch_shape, &fill[number].shape)]
                }
                _ => 0,
            };
            if dtype == DType::I32 && i32::try_from(length).is_ok() && values.is_empty() {
                let rows = buffers.output::<i32>(number).chunks_mut(size.max(1));
                for (row, found) in rows.zip(&found) {
                    row.fill(0);
                    for (out, index) in row.iter_mut().zip(found) {
                        *out = narrow(coordinate(index));
                    }
                }
                continue;
            }
            let mut coordinates = Vec::with_capacity(batches * size);
            for (batch, found) in found.iter().enumerate() {
                coordinates.extend(found.iter().map(|index| coordinate(index) as i128));
                coordinates.resize((batch + 1) * size, filler(batch));
            }
            i128::write(dtype, &coordinates, buffers.output(number));
        }
        Ok(())
    }))
}

/// Which elements are not zero.
fn truth(dtype: DType, bytes: &[u8]) -> Vec<bool> {
    macro_rules! of {
        ($($ty:ty)*) => {
            match dtype {
                $(dtype if dtype == <$ty as Element>::DTYPE => {
                    let numbers: &[$ty] = bytemuck::cast_slice(bytes);
                    return numbers.iter().map(|&x| x != <$ty>::default()).collect();
                })*
                _ => {}
            }
        };
    }
    of!(f32 f64 i32 u32 i64 u64 i16 u16 i8 u8);
    match dtype {
        DType::Bool => bytes.iter().map(|&x| x != 0).collect(),
        dtype if dtype.is_complex() => {
            let numbers = C128::read_all(dtype, bytes);
            numbers.iter().map(|z| z.re != 0.0 || z.im != 0.0).collect()
        }
        dtype => {
            let numbers = f64::read_all(dtype, bytes);
            numbers.iter().map(|&x| x != 0.0).collect()
        }
    }
}

/// The first indices of what is true, at most so many.
fn indices(truth: &[bool], most: usize) -> Vec<usize> {
    // Each index is written, and stays where it is true.
    let mut found = vec![0; most.min(truth.len()) + 1];
    let mut count = 0;
    for (index, &is) in truth.iter().enumerate() {
        if count == most {
            break;
        }
        found[count] = index;
        count += usize::from(is);
    }
    found.truncate(count);
    found
}

fn row_major(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// The position of the `index`-th element along some axes.
fn position(mut index: usize, axes: &[usize], shape: &[usize], strides: &[usize]) -> usize {
    let mut position = 0;
    for &axis in axes.iter().rev() {
        position += index % shape[axis] * strides[axis];
        index /= shape[axis];
    }
    position
}

/// The element of a value of shape `own`, broadcast to `shape`, at a position there.
fn spread(mut index: usize, shape: &[usize], own: &[usize]) -> usize {
    let (mut position, mut stride) = (0, 1);
    let missing = shape.len() - own.len();
    for axis in (missing..shape.len()).rev() {
        let coordinate = index % shape[axis];
        index /= shape[axis];
        let length = own[axis - missing];
        position += if length == 1 { 0 } else { coordinate * stride };
        stride *= length;
    }
    position
}

/// For each query, the index in the sorted axis before (or after) equal elements, as `i32`. NaN sorts last.
pub(super) fn search_sorted(operands: &Operands, params: &SearchSorted) -> Call {
    let [sorted, query] = &operands.inputs[..] else {
        return Err(Error::shape("two operands are expected"));
    };
    if sorted.dtype != query.dtype {
        return Err(Error::dtype(format!(
            "a sorted {} cannot be searched for {}",
            sorted.dtype, query.dtype
        )));
    }
    let words = match sorted.dtype {
        DType::F32 => search_words::<i32>(operands, params, Kind::Float, as_they_are),
        DType::F64 => search_words::<i64>(operands, params, Kind::Float, as_they_are),
        DType::I32 => search_words::<i32>(operands, params, Kind::Signed, as_they_are),
        DType::I64 => search_words::<i64>(operands, params, Kind::Signed, as_they_are),
        DType::U32 => search_words::<i32>(operands, params, Kind::Unsigned, as_they_are),
        DType::U64 => search_words::<i64>(operands, params, Kind::Unsigned, as_they_are),
        DType::F16 => search_words(operands, params, Kind::Float, |x| {
            wider(x, |x: half::f16| widen_f16(x).to_bits().cast_signed())
        }),
        DType::BF16 => search_words(operands, params, Kind::Float, |x| {
            wider(x, |x: half::bf16| x.to_f32().to_bits().cast_signed())
        }),
        DType::I16 => search_words(operands, params, Kind::Signed, |x| wider(x, i16::into)),
        DType::U16 => search_words(operands, params, Kind::Signed, |x| wider(x, u16::into)),
        DType::I8 => search_words(operands, params, Kind::Signed, |x| wider(x, i8::into)),
        DType::U8 => search_words(operands, params, Kind::Signed, |x| wider(x, u8::into)),
        _ => None,
    };
    if let Some(call) = words {
        return call;
    }
    use Class::{Complex, Integer, Opaque, Real};
    /// Keys that are made of an array as a whole.
    const fn whole<K>() -> Option<fn(&[u8], usize) -> K> {
        None
    }
    match (Class::of(sorted.dtype), sorted.dtype) {
        (_, DType::F32) => search_for(operands, params, single_key),
        (_, DType::F64) => search_for(operands, params, real_key),
        (_, DType::I32) => search_for(operands, params, |x: i32| x),
        (_, DType::I64) => search_for(operands, params, |x: i64| x),
        (_, DType::U32) => search_for(operands, params, |x: u32| (x ^ 1 << 31).cast_signed()),
        (_, DType::U64) => search_for(operands, params, |x: u64| (x ^ 1 << 63).cast_signed()),
        (_, DType::C64) => search_for(operands, params, |[re, im]: [f32; 2]| {
            // The sign of the imaginary part is turned, since it is compared behind another.
            (i64::from(single_key(re)) << 32) + (i64::from(single_key(im)) + (1 << 31))
        }),
        (_, DType::C128) => search_for(operands, params, |[re, im]: [f64; 2]| {
            (real_key(re), real_key(im))
        }),
        (_, DType::F16) => search_for(operands, params, |x: half::f16| single_key(x.to_f32())),
        (_, DType::BF16) => search_for(operands, params, |x: half::bf16| single_key(x.to_f32())),
        // The other integers have at most 16 bits.
        (Integer, _) => search_by(operands, params, whole(), |dtype, x| {
            let numbers = i128::read_all(dtype, x).into_iter();
            numbers.map(narrow::<_, i32>).collect()
        }),
        (Real, _) => search_by(operands, params, whole(), |dtype, x| {
            let numbers = f64::read_all(dtype, x).into_iter();
            numbers.map(real_key).collect()
        }),
        (Complex | Opaque, dtype) => Err(meaningless(dtype)),
    }
}

/// Elements that are words already.
fn as_they_are<K: bytemuck::Pod>(bytes: &[u8]) -> Cow<'_, [K]> {
    Cow::Borrowed(bytemuck::cast_slice(bytes))
}

/// Shorter elements as words.
fn wider<T: bytemuck::Pod>(bytes: &[u8], word: impl Fn(T) -> i32) -> Cow<'_, [i32]> {
    Cow::Owned(keys(bytes, word))
}

/// Calls `f` with a row of the sorted array, the first of its queries and places for some, until there are all of `per_batch` for each row.
fn in_rows(
    context: &Context<'_>,
    places: &mut [i32],
    per_batch: usize,
    f: impl Fn(usize, usize, &mut [i32]) + Sync,
) {
    in_chunks(context, places, 4096, |start, mut places| {
        let mut next = start;
        while !places.is_empty() {
            let (row, from) = (next / per_batch, next % per_batch);
            let count = places.len().min(per_batch - from);
            let (now, later) = std::mem::take(&mut places).split_at_mut(count);
            f(row, from, now);
            (next, places) = (next + count, later);
        }
    });
}

/// As [`search_sorted`] of elements that vectors search as `words`, where those of a row are adjacent and looked for often enough.
fn search_words<K: Word + bytemuck::Pod + Send + Sync>(
    operands: &Operands,
    params: &SearchSorted,
    kind: Kind,
    words: fn(&[u8]) -> Cow<'_, [K]>,
) -> Option<Call> {
    let [sorted, query] = [&operands.inputs[0], &operands.inputs[1]];
    let (dimension, batch) = (params.dimension, params.batch_dims);
    let last = dimension + 1 == sorted.shape.len();
    let common = batch <= dimension && query.shape.get(..batch) == sorted.shape.get(..batch);
    if !last || !common || !search::has_vectors() {
        return None;
    }
    let length = sorted.shape[dimension];
    let per_batch: usize = query.shape[batch..].iter().product();
    let middle: usize = sorted.shape[batch..dimension].iter().product();
    let rows = middle * sorted.shape[..batch].iter().product::<usize>();
    if per_batch <= FEW_QUERIES || !(1..MOST).contains(&length) || rows == 0 {
        return None;
    }
    let equal = params.side == SearchSide::Right;
    let size = query.dtype.size();
    // Whether a row ascends is worth knowing where much less is asked for then.
    let keyed = length <= FEW_KEYS || per_batch * KEYS_FOR_A_QUERY >= length;
    Some(Ok(routine(operands, move |buffers, context| {
        let (sorted, query) = (words(buffers.input(0)), buffers.input::<u8>(1));

        let (keys, ascending) = if keyed {
            let rows = each(context, rows, |row| {
                let keys = K::keys(kind, &sorted[row * length..(row + 1) * length]);
                let ascends = search::ascend(&keys);
                (keys, ascends)
            });
            rows.into_iter().unzip()
        } else {
            (Vec::new(), Vec::new())
        };
        in_rows(context, buffers.output(0), per_batch, |row, from, found| {
            let start = row / middle * per_batch + from;
            let wanted = &words(&query[start * size..(start + found.len()) * size]);

            if ascending.get(row) == Some(&true) {
                K::places(kind, &keys[row], wanted, equal, found);
            } else {
                let line = &sorted[row * length..(row + 1) * length];
                K::bisected(kind, line, wanted, equal, found);
            }
        });
        Ok(())
    })))
}

/// As [`search_sorted`] of elements as memory has them, which are ordered as their keys are.
fn search_for<T: bytemuck::Pod, K: Ord + Copy + Send + Sync + 'static>(
    operands: &Operands,
    params: &SearchSorted,
    key: impl Fn(T) -> K + Copy + Send + Sync + 'static,
) -> Call {
    let one = move |bytes: &[u8], index: usize| key(bytemuck::cast_slice::<u8, T>(bytes)[index]);
    search_by(operands, params, Some(one), move |_, x| keys(x, key))
}

/// The keys of elements in memory.
fn keys<T: bytemuck::Pod, K>(bytes: &[u8], key: impl Fn(T) -> K) -> Vec<K> {
    let elements = bytemuck::cast_slice::<u8, T>(bytes);
    elements.iter().map(|&x| key(x)).collect()
}

/// As [`search_sorted`] of elements that are ordered as their keys are; `one` gives that of an element in memory.
fn search_by<K: Ord + Copy + Send + Sync + 'static>(
    operands: &Operands,
    params: &SearchSorted,
    one: Option<impl Fn(&[u8], usize) -> K + Send + Sync + 'static>,
    keys: impl Fn(DType, &[u8]) -> Vec<K> + Send + Sync + 'static,
) -> Call {
    let [sorted, query] = [&operands.inputs[0], &operands.inputs[1]];
    let (shape, dimension, batch) = (&sorted.shape, params.dimension, params.batch_dims);
    if dimension >= shape.len()
        || batch > dimension
        || query.shape.get(..batch) != Some(&shape[..batch])
    {
        return Err(Error::shape(format!(
            "shape {shape:?} cannot be searched for {:?} with {batch} leading axes in common",
            query.shape
        )));
    }
    let middle: usize = shape[batch..dimension].iter().product();
    let (length, inner): (usize, usize) =
        (shape[dimension], shape[dimension + 1..].iter().product());
    let per_batch: usize = query.shape[batch..].iter().product();
    let (dtype, side) = (sorted.dtype, params.side);
    let rows = middle * inner;
    let batches: usize = shape[..batch].iter().product();
    let row_start = move |row: usize| {
        if rows == 1 {
            return row * length;
        }
        let (batch, row) = (row / rows, row % rows);
        (batch * middle + row / inner) * length * inner + row % inner
    };
    let few = per_batch <= FEW_QUERIES || per_batch * STEPS <= length;
    if let Some(one) = one.filter(|_| few) {
        // Bisecting gives the same in an array that ascends, and what it should in others, without looking at all of it.
        return Ok(routine(operands, move |buffers, context| {
            let (sorted, query) = (buffers.input::<u8>(0), buffers.input::<u8>(1));
            in_chunks(context, buffers.output::<i32>(0), 1024, |start, found| {
                // As they go on: divisions take as long as a search.
                let (mut row, mut from) = (start / per_batch, start % per_batch);
                let mut first = row_start(row);
                for found in found {
                    let batch = if rows == 1 { row } else { row / rows };
                    let wanted = one(query, batch * per_batch + from);
                    let at = |index: usize| one(sorted, first + index * inner);
                    *found = narrow(match side {
                        SearchSide::Left => place_of_one(length, at, |x| x < wanted),
                        SearchSide::Right => place_of_one(length, at, |x| x <= wanted),
                    });
                    from += 1;
                    if from == per_batch {
                        (row, from) = (row + 1, 0);
                        first = row_start(row);
                    }
                }
            });
            Ok(())
        }));
    }
    Ok(routine(operands, move |buffers, context| {
        let (sorted, query) = (keys(dtype, buffers.input(0)), buffers.input::<u8>(1));
        let size = dtype.size();
        let ascending: Vec<bool> = each(context, batches * rows, |row| {
            let first = row_start(row);
            let at = |index: usize| sorted[first + index * inner];
            (1..length).all(|index| at(index - 1) <= at(index))
        });
        in_rows(context, buffers.output(0), per_batch, |row, from, found| {
            let first = row_start(row);
            let start = row / rows * per_batch + from;
            let wanted = &keys(dtype, &query[start * size..(start + found.len()) * size]);
            let ascending = ascending[row];
            // Where a row is adjacent, it is searched as it stands.
            let line = if inner == 1 {
                &sorted[first..first + length]
            } else {
                &[]
            };
            let at = |index: usize| sorted[first + index * inner];
            match (side, inner) {
                (SearchSide::Left, 1) => {
                    places(length, ascending, wanted, found, |x, y| line[x] < y)
                }
                (SearchSide::Right, 1) => {
                    places(length, ascending, wanted, found, |x, y| line[x] <= y)
                }
                (SearchSide::Left, _) => places(length, ascending, wanted, found, |x, y| at(x) < y),
                (SearchSide::Right, _) => {
                    places(length, ascending, wanted, found, |x, y| at(x) <= y)
                }
            }
        });
        Ok(())
    }))
}

/// Queries that are looked for in the array as it stands, and how many elements of it others are to have for each.
const FEW_QUERIES: usize = 4;
const STEPS: usize = 32;

/// Rows of so few elements are looked at as a whole, whatever is asked for,
const FEW_KEYS: usize = 256;
/// and longer ones where there is a query for so many elements.
const KEYS_FOR_A_QUERY: usize = 4;

/// In rows of so many elements those before a query are counted: which way bisecting goes is foretold wrongly at every other step.
const SHORT_ROW: usize = 16;

/// The first index that is not before a query.
#[inline(always)]
fn place_of_one<K: Ord + Copy>(
    length: usize,
    at: impl Fn(usize) -> K,
    before: impl Fn(K) -> bool,
) -> usize {
    if length <= SHORT_ROW && length > 0 {
        let mut last = at(0);
        let (mut count, mut ascends) = (usize::from(before(last)), true);
        for index in 1..length {
            let next = at(index);
            ascends &= last <= next;
            count += usize::from(before(next));
            last = next;
        }
        if ascends {
            return count;
        }
    }
    bisect(length, |index| before(at(index)))
}

/// How far behind the place of a query that of the next is looked for.
const NEAR: usize = 8;

/// Queries that are looked for together, so that one need not wait for the other's memory.
const TOGETHER: usize = 16;

/// For each wanted key the first of `length` indices that is not before it.
///
/// Queries that ascend, as those of a systematic sample do, are looked for just behind the last one first. In an array that does not ascend,
/// where no place is right, all are bisected for as the interpreter does.
fn places<K: Ord + Copy>(
    length: usize,
    ascending: bool,
    wanted: &[K],
    found: &mut [i32],
    before: impl Fn(usize, K) -> bool,
) {
    if !ascending {
        for (found, &wanted) in found.iter_mut().zip(wanted) {
            *found = narrow(bisect(length, |index| before(index, wanted)));
        }
        return;
    }
    if !wanted.is_sorted() {
        for (found, wanted) in found.chunks_mut(TOGETHER).zip(wanted.chunks(TOGETHER)) {
            halve(length, wanted, found, &before);
        }
        return;
    }
    let mut place = 0;
    for (found, &wanted) in found.iter_mut().zip(wanted) {
        let end = length.min(place + NEAR);
        let last = (end == length).then_some(length);
        let near = (place..end).find(|&index| !before(index, wanted)).or(last);
        place =
            near.unwrap_or_else(|| end + bisect(length - end, |index| before(end + index, wanted)));
        *found = narrow(place);
    }
}

/// As [`places`] of an array that ascends, by halving what is left for all of them at once, without branches.
fn halve<K: Copy>(
    length: usize,
    wanted: &[K],
    found: &mut [i32],
    before: &impl Fn(usize, K) -> bool,
) {
    let mut start = [0usize; TOGETHER];
    let start = &mut start[..wanted.len()];
    let mut left = length;
    while left > 1 {
        let half = left / 2;
        for (k, start) in start.iter_mut().enumerate() {
            let behind = before(*start + half - 1, wanted[k]);
            *start = select_unpredictable(behind, *start + half, *start);
        }
        left -= half;
    }
    for (k, found) in found.iter_mut().enumerate() {
        *found = narrow(start[k] + usize::from(left == 1 && before(start[k], wanted[k])));
    }
}

/// A number that is ordered as [`order::sort_order`](jaxide_core::eval::numerics::order::sort_order) orders: both zeros
/// are equal, and all NaN, which are last.
fn real_key(x: f64) -> i64 {
    if x.is_nan() {
        return i64::MAX;
    }
    // Adding zero makes the negative zero positive; negative numbers grow with their magnitude bits.
    let bits = (x + 0.0).to_bits() as i64;
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

/// [`real_key`] of a number in single precision.
fn single_key(x: f32) -> i32 {
    if x.is_nan() {
        return i32::MAX;
    }
    let bits = (x + 0.0).to_bits() as i32;
    bits ^ ((bits >> 31) as u32 >> 1) as i32
}
