//! Scatters: windows of updates combined into an array at indices, one after the other.
//!
//! Where windows begin is found for many of them at a time, by a function for the type of the indices; then each is combined, by a function for the
//! type of the elements and the operation. So there are as many functions as types and operations, and not as many as pairs of both.

pub(crate) mod combine;

use super::rows::{Outside, RowIndex};
use super::simd::Isa;
use super::{Buffers, Context, Kernel, KernelError, Signature};
use bytemuck::Pod;
use combine::Combining;
#[cfg(target_arch = "x86_64")]
use std::any::TypeId;
use std::array::from_mut;
use std::ops::Range;
use std::sync::Mutex;

/// Windows whose places are known at a time.
const BLOCK: usize = 512;
/// And so many, where there are no more.
const FEW: usize = 8;
/// The place of a window that is dropped.
const NOWHERE: usize = usize::MAX;

/// One number of an index: the distance of neighbours along its axis, and the largest number with which the window is inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Component {
    /// In elements of the array.
    pub stride: usize,
    /// Negative where the window is larger than the array.
    pub most: i64,
    /// What is added to negative numbers first: the length of the axis, where they count from its end.
    pub from_end: i64,
}

/// Where windows of an array begin, and which elements they have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Elements of the array.
    pub elements: usize,
    /// How many windows there are.
    pub count: usize,
    /// The numbers of an index, in the order in which they stand in memory.
    pub components: Vec<Component>,
    /// What becomes of windows that are not inside.
    pub outside: Outside,
    /// Where the runs of adjacent elements of a window begin, counted from its first element.
    pub runs: Vec<usize>,
    /// The elements of a run.
    pub run: usize,
}

impl Windows {
    /// Elements of a window.
    pub fn len(&self) -> usize {
        self.runs.len() * self.run
    }

    /// Whether windows have no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The places of windows from `first` on.
    fn places<I: RowIndex>(&self, indices: &[I], first: usize, places: &mut [usize]) {
        match self.outside {
            Outside::Nothing => self.places_by::<I, false>(indices, first, places),
            Outside::Nearest => self.places_by::<I, true>(indices, first, places),
        }
    }

    /// The same where windows outside are moved to the nearest place inside, if `NEAREST`.
    fn places_by<I: RowIndex, const NEAREST: bool>(
        &self,
        indices: &[I],
        first: usize,
        places: &mut [usize],
    ) {
        match self.components[..] {
            [a] => several_places::<I, 1, NEAREST>([a], indices, first, places),
            [a, b] => several_places::<I, 2, NEAREST>([a, b], indices, first, places),
            [a, b, c] => several_places::<I, 3, NEAREST>([a, b, c], indices, first, places),
            [a, b, c, d] => several_places::<I, 4, NEAREST>([a, b, c, d], indices, first, places),
            ref components => {
                let width = components.len();
                for (k, place) in places.iter_mut().enumerate() {
                    let index = &indices[(first + k) * width..][..width];
                    let mut sum = 0;
                    for (component, number) in components.iter().zip(index) {
                        match component.place::<NEAREST>(component.counted(number.row())) {
                            Some(place) => sum += place,
                            None => {
                                sum = NOWHERE;
                                break;
                            }
                        }
                    }
                    *place = sum;
                }
            }
        }
    }
}

impl Component {
    /// The number that is meant, counted from the start of the axis.
    #[inline(always)]
    fn counted(self, number: i64) -> i64 {
        number.saturating_add(self.from_end & (number >> 63))
    }

    /// This in half the bits, if all numbers fit, so that there are twice as many in a vector.
    #[inline(always)]
    fn short(self) -> Option<ShortComponent> {
        let stride = i32::try_from(self.stride).ok()?;
        let most = i32::try_from(self.most).ok()?;
        let from_end = i32::try_from(self.from_end).ok()?;
        let last = stride.checked_mul(most)?;
        (last >= 0).then_some(ShortComponent {
            stride,
            most,
            from_end,
        })
    }

    /// How far this number of an index moves a window, if it stays inside, or is moved there because that is `NEAREST`.
    #[inline(always)]
    fn place<const NEAREST: bool>(self, number: i64) -> Option<usize> {
        let number = if NEAREST {
            number.min(self.most).max(0)
        } else {
            number
        };
        (0..=self.most)
            .contains(&number)
            .then(|| number as usize * self.stride)
    }
}

/// A [`Component`] of 32-bit numbers.
#[derive(Clone, Copy)]
struct ShortComponent {
    stride: i32,
    most: i32,
    from_end: i32,
}

impl ShortComponent {
    /// Whether a window stays inside, or is moved there because that is `NEAREST`, and then how far this number of an index moves it.
    #[inline(always)]
    fn place<const NEAREST: bool>(self, number: i32) -> (bool, i32) {
        let mut number = number + (self.from_end & (number >> 31));
        if NEAREST {
            number = number.min(self.most).max(0);
        }
        let inside = number >= 0 && number <= self.most;
        (inside, number.wrapping_mul(self.stride))
    }
}

/// The places of windows from `first` on by `N` numbers each, in the vectors that this machine has.
fn several_places<I: RowIndex, const N: usize, const NEAREST: bool>(
    components: [Component; N],
    indices: &[I],
    first: usize,
    places: &mut [usize],
) {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn avx2<I: RowIndex, const N: usize, const NEAREST: bool>(
        components: [Component; N],
        indices: &[[I; N]],
        places: &mut [usize],
    ) {
        several_places_any::<I, N, NEAREST>(components, indices, places);
    }
    let (indices, _) = indices.as_chunks::<N>();
    let indices = &indices[first..][..places.len()];
    match Isa::detect() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the machine has the instruction set.
        Isa::Avx512 | Isa::Avx2 => unsafe { avx2::<I, N, NEAREST>(components, indices, places) },
        Isa::Portable => several_places_any::<I, N, NEAREST>(components, indices, places),
    }
}

/// Loops over numbers are written out, because adapters of iterators are not always inlined.
#[inline(always)]
fn several_places_any<I: RowIndex, const N: usize, const NEAREST: bool>(
    components: [Component; N],
    indices: &[[I; N]],
    places: &mut [usize],
) {
    if I::FITS_I32
        && let Some(short) = all_short(components)
    {
        for (place, index) in places.iter_mut().zip(indices) {
            let (mut all, mut sum) = (true, 0i32);
            for n in 0..N {
                let (inside, own) = short[n].place::<NEAREST>(index[n].row() as i32);
                all &= inside;
                sum = sum.wrapping_add(own);
            }
            *place = if all { sum as usize } else { NOWHERE };
        }
        return;
    }
    for (place, index) in places.iter_mut().zip(indices) {
        let (mut all, mut sum) = (true, 0usize);
        for n in 0..N {
            let own = components[n].place::<NEAREST>(components[n].counted(index[n].row()));
            all &= own.is_some();
            sum = sum.wrapping_add(own.unwrap_or(0));
        }
        *place = if all { sum } else { NOWHERE };
    }
}

/// All numbers in half the bits, if they and their sum fit.
#[inline(always)]
fn all_short<const N: usize>(components: [Component; N]) -> Option<[ShortComponent; N]> {
    let mut short = [ShortComponent {
        stride: 0,
        most: 0,
        from_end: 0,
    }; N];
    for n in 0..N {
        short[n] = components[n].short()?;
        if short[n].stride * short[n].most > i32::MAX / N as i32 {
            return None;
        }
    }
    Some(short)
}

/// Finds the places of windows from a number on, by the bytes of all indices.
type Places = fn(&Windows, &[u8], usize, &mut [usize]);

/// The type of indices in memory, as what finds places by them.
#[derive(Clone, Copy)]
pub struct IndexType {
    places: Places,
    size: usize,
}

impl IndexType {
    /// Indices of this Rust type.
    pub fn of<I: RowIndex>() -> Self {
        Self {
            places: |windows, indices, first, places| {
                windows.places::<I>(bytemuck::cast_slice(indices), first, places);
            },
            size: size_of::<I>(),
        }
    }
}

/// The kernel that combines window `k` of the updates into the array at index `k`, in order. The array is the output, in which the caller has
/// put the old values.
pub struct Scatter<T, F> {
    windows: Windows,
    index: IndexType,
    /// The element that all updates are, if they are no operand.
    update: Option<T>,
    /// The neutral element of `combine`, where the order of combining does not matter to any bit.
    neutral: Option<T>,
    combine: F,
}

/// Runs of fewer elements are combined piece by piece.
const SHORT: usize = 32;

/// Threads have so many windows each at least.
const SHARE: usize = 1 << 14;
/// And so many times as many as the array has elements.
const REPEATED: usize = 8;

impl<T: Pod, F: Combining<T>> Scatter<T, F> {
    /// `combine` takes the old element and the update; `neutral` is its neutral element, if it is exact, associative and commutative.
    pub fn new(
        windows: Windows,
        index: IndexType,
        update: Option<T>,
        neutral: Option<T>,
        combine: F,
    ) -> Self {
        Self {
            windows,
            index,
            update,
            neutral,
            combine,
        }
    }

    /// How many parts of the windows are combined apart from each other, each into an array of its own.
    fn parts(&self, threads: usize) -> usize {
        let windows = &self.windows;
        let share = SHARE.max(windows.elements.saturating_mul(REPEATED));
        if self.neutral.is_none() || windows.len() != 1 {
            return 1;
        }
        threads.min(windows.count / share).max(1)
    }

    /// Combines one window of some after the other. The updates of the next window begin `step` elements further.
    fn each(
        &self,
        indices: &[u8],
        array: &mut [T],
        updates: (&[T], usize),
        some: Range<usize>,
        context: &Context<'_>,
    ) {
        // Room for many places takes longer to prepare than a few windows take.
        if some.len() <= FEW {
            self.each_block::<FEW>(indices, array, updates, some, context);
        } else {
            self.each_block::<BLOCK>(indices, array, updates, some, context);
        }
    }

    fn each_block<const BLOCK: usize>(
        &self,
        indices: &[u8],
        array: &mut [T],
        (updates, step): (&[T], usize),
        some: Range<usize>,
        context: &Context<'_>,
    ) {
        let mut places = [NOWHERE; BLOCK];
        for first in some.clone().step_by(BLOCK) {
            if context.is_stopped() {
                return;
            }
            let places = &mut places[..BLOCK.min(some.end - first)];
            (self.index.places)(&self.windows, indices, first, places);
            let updates = &updates[first * step..];
            self.combine_at(places, array, updates, step);
        }
    }

    /// Combines windows at these places, in the vectors that this machine has.
    fn combine_at(&self, places: &[usize], array: &mut [T], updates: &[T], step: usize) {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,f16c")]
        fn avx2<T: Pod, F: Combining<T>>(
            kernel: &Scatter<T, F>,
            places: &[usize],
            array: &mut [T],
            updates: &[T],
            step: usize,
        ) {
            let runs = Runs::<F, CONVERTS>(&kernel.combine);
            kernel
                .windows
                .combine_at(places, array, updates, step, &runs);
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512fp16,avx512vl,avx512dq,avx2,fma,f16c")]
        fn native<T: Pod, F: Combining<T>>(
            kernel: &Scatter<T, F>,
            places: &[usize],
            array: &mut [T],
            updates: &[T],
            step: usize,
        ) {
            let runs = Runs::<F, NATIVE>(&kernel.combine);
            kernel
                .windows
                .combine_at(places, array, updates, step, &runs);
        }
        #[cfg(target_arch = "x86_64")]
        if TypeId::of::<T>() == TypeId::of::<half::f16>()
            && Isa::detect() == Isa::Avx512
            && is_x86_feature_detected!("avx512fp16")
        {
            // SAFETY: the machine has the instruction sets.
            return unsafe { native(self, places, array, updates, step) };
        }
        #[cfg(target_arch = "x86_64")]
        if Isa::detect() != Isa::Portable && is_x86_feature_detected!("f16c") {
            // SAFETY: the machine has the instruction sets.
            return unsafe { avx2(self, places, array, updates, step) };
        }
        let runs = Runs::<F, PLAIN>(&self.combine);
        (self.windows).combine_at(places, array, updates, step, &runs);
    }
}

/// Runs are combined by what every machine has.
const PLAIN: u8 = 0;
/// And by the processor's conversions of 16 bits.
const CONVERTS: u8 = 1;
/// And by its arithmetic of 16 bits.
#[cfg(target_arch = "x86_64")]
const NATIVE: u8 = 2;

/// Combines runs of elements by what the machine has of these levels; what makes one has looked.
struct Runs<'a, F, const LEVEL: u8>(&'a F);

impl<F, const LEVEL: u8> Runs<'_, F, LEVEL> {
    #[inline(always)]
    fn combine<T: Pod, const N: usize>(&self, old: &mut [T; N], updates: &[T; N])
    where
        F: Combining<T>,
    {
        match LEVEL {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the machine has the instructions, or this was not made.
            NATIVE => unsafe { self.0.combine_native(old, updates) },
            // SAFETY: as above.
            CONVERTS => unsafe {
                if matches!(size_of::<[T; N]>(), 16 | 32) {
                    let mut new = *old;
                    self.0.combine_run(&mut new, updates);
                    *old = whole(new);
                } else {
                    self.0.combine_run(old, updates);
                }
            },
            _ => {
                for k in 0..N {
                    old[k] = self.0.combine(old[k], updates[k]);
                }
            }
        }
    }

    /// The same of runs of equal lengths; of short ones piece by piece, each of a length that the code knows.
    #[inline(always)]
    fn combine_all<T: Pod>(&self, old: &mut [T], updates: &[T])
    where
        F: Combining<T>,
    {
        if old.len() < SHORT {
            let (old, updates) = self.pieces::<T, 8>(old, updates);
            let (old, updates) = self.pieces::<T, 4>(old, updates);
            let (old, updates) = self.pieces::<T, 2>(old, updates);
            self.pieces::<T, 1>(old, updates);
            return;
        }
        if LEVEL >= CONVERTS {
            // SAFETY: the machine has the instructions, or this was not made.
            unsafe { self.0.combine_all(old, updates) }
        } else {
            let updates = &updates[..old.len()];
            for k in 0..old.len() {
                old[k] = self.0.combine(old[k], updates[k]);
            }
        }
    }

    /// Combines as many pieces of `N` elements as there are, and gives what is left.
    #[inline(always)]
    fn pieces<'a, T: Pod, const N: usize>(
        &self,
        old: &'a mut [T],
        updates: &'a [T],
    ) -> (&'a mut [T], &'a [T])
    where
        F: Combining<T>,
    {
        let (pieces, old) = old.as_chunks_mut::<N>();
        let (by, updates) = updates.as_chunks::<N>();
        let by = &by[..pieces.len()];
        for k in 0..pieces.len() {
            self.combine(&mut pieces[k], &by[k]);
        }
        (old, updates)
    }
}

/// The same elements, of 16 or 32 bytes together, which are stored as a whole. The compiler stores what a choice made new alone, by a mask, and
/// the next load of what was stored so waits until it is in the cache.
#[inline(always)]
fn whole<T: Pod, const N: usize>(elements: [T; N]) -> [T; N] {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::asm;
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_storeu_si128};
        let mut elements = elements;
        let parts = elements.as_mut_ptr().cast::<__m128i>();
        for part in 0..size_of::<[T; N]>() / 16 {
            // SAFETY: the elements have so many parts, of which any bits are some; the assembly has no instruction.
            unsafe {
                let mut bits = _mm_loadu_si128(parts.add(part));
                asm!("/* {0} */", inout(xmm_reg) bits, options(pure, nomem, nostack, preserves_flags));
                _mm_storeu_si128(parts.add(part), bits);
            }
        }
        elements
    }
    #[cfg(not(target_arch = "x86_64"))]
    elements
}

/// Loops are written out, because adapters of iterators are not always inlined.
impl Windows {
    #[inline(always)]
    fn combine_at<T: Pod, F: Combining<T>, const LEVEL: u8>(
        &self,
        places: &[usize],
        array: &mut [T],
        updates: &[T],
        step: usize,
        by: &Runs<'_, F, LEVEL>,
    ) {
        match (&self.runs[..], self.run) {
            ([0], 1) => single(places, array, updates, step, by),
            ([0], 2) => short_runs::<T, F, 2, LEVEL>(places, array, updates, step, by),
            ([0], 4) => short_runs::<T, F, 4, LEVEL>(places, array, updates, step, by),
            ([0], 8) => short_runs::<T, F, 8, LEVEL>(places, array, updates, step, by),
            ([0], 3) => single_runs(places, array, updates, step, 3, by),
            (&[0], run) => single_runs(places, array, updates, step, run, by),
            _ => self.long_runs(places, array, updates, step, by),
        }
    }

    /// Combines windows of any shape.
    #[inline(always)]
    fn long_runs<T: Pod, F: Combining<T>, const LEVEL: u8>(
        &self,
        places: &[usize],
        array: &mut [T],
        updates: &[T],
        step: usize,
        by: &Runs<'_, F, LEVEL>,
    ) {
        let (runs, run) = (&self.runs[..], self.run);
        for (k, &place) in places.iter().enumerate() {
            if place == NOWHERE {
                continue;
            }
            for (number, start) in runs.iter().enumerate() {
                let old = &mut array[place + start..][..run];
                let new = &updates[k * step + number * run..][..run];
                by.combine_all(old, new);
            }
        }
    }
}

/// Combines windows of one element.
#[inline(always)]
fn single<T: Pod, F: Combining<T>, const LEVEL: u8>(
    places: &[usize],
    array: &mut [T],
    updates: &[T],
    step: usize,
    by: &Runs<'_, F, LEVEL>,
) {
    // What is dropped has no place in the array.
    if step == 0 {
        let new = [updates[0]];
        for &place in places {
            if let Some(old) = array.get_mut(place) {
                by.combine(from_mut(old), &new);
            }
        }
    } else {
        for (&place, &new) in places.iter().zip(updates) {
            if let Some(old) = array.get_mut(place) {
                by.combine(from_mut(old), &[new]);
            }
        }
    }
}

/// Combines windows of `N` adjacent elements.
#[inline(always)]
fn short_runs<T: Pod, F: Combining<T>, const N: usize, const LEVEL: u8>(
    places: &[usize],
    array: &mut [T],
    updates: &[T],
    step: usize,
    by: &Runs<'_, F, LEVEL>,
) {
    let (each, _) = updates.as_chunks::<N>();
    if step == 0 {
        for &place in places {
            if let Some(old) = run_at(array, place) {
                by.combine(old, &each[0]);
            }
        }
    } else {
        let each = &each[..places.len()];
        for k in 0..places.len() {
            if let Some(old) = run_at(array, places[k]) {
                by.combine(old, &each[k]);
            }
        }
    }
}

/// Combines windows of one run of so many elements.
#[inline(always)]
fn single_runs<T: Pod, F: Combining<T>, const LEVEL: u8>(
    places: &[usize],
    array: &mut [T],
    updates: &[T],
    step: usize,
    run: usize,
    by: &Runs<'_, F, LEVEL>,
) {
    let Some(last) = array.len().checked_sub(run) else {
        return;
    };
    let updates = &updates[..(places.len().max(1) - 1) * step + run];
    for (k, &place) in places.iter().enumerate() {
        // What is dropped has no place in the array.
        if place <= last {
            // SAFETY: so many elements are left from there on, and there are those of each window among the updates.
            let (old, new) = unsafe {
                (
                    array.get_unchecked_mut(place..place + run),
                    updates.get_unchecked(k * step..k * step + run),
                )
            };
            by.combine_all(old, new);
        }
    }
}

/// The run at a place, by one comparison; what is dropped has none.
#[inline(always)]
fn run_at<T: Pod, const N: usize>(array: &mut [T], place: usize) -> Option<&mut [T; N]> {
    let last = array.len().checked_sub(N)?;
    if place > last {
        return None;
    }
    // SAFETY: so many elements are left from there on.
    Some(unsafe { &mut *array.as_mut_ptr().add(place).cast::<[T; N]>() })
}

impl<T: Pod + Send + Sync, F: Combining<T>> Kernel for Scatter<T, F> {
    fn signature(&self) -> Signature {
        let windows = &self.windows;
        let indices = (windows.count * windows.components.len(), self.index.size);
        let updates = (windows.count * windows.len(), size_of::<T>());
        let inputs = [indices, updates];
        let given = if self.update.is_some() { 1 } else { 2 };
        Signature::of(&inputs[..given], &[(windows.elements, size_of::<T>())])
    }

    fn flushes_subnormals(&self) -> bool {
        true
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        if self.windows.is_empty() {
            return Ok(());
        }
        let (indices, array) = (buffers.input::<u8>(0), buffers.output::<T>(0));
        let len = self.windows.len();
        let same = self.update.map(|update| vec![update; len]);
        let updates = match &same {
            Some(update) => (&update[..], 0),
            None => (buffers.input::<T>(1), len),
        };
        let (count, parts) = (self.windows.count, self.parts(context.threads()));
        let Some(neutral) = self.neutral.filter(|_| parts > 1) else {
            self.each(indices, array, updates, 0..count, context);
            return Ok(());
        };
        let own: Vec<Mutex<Vec<T>>> = (0..parts)
            .map(|_| Mutex::new(vec![neutral; array.len()]))
            .collect();
        context.parallel_for(parts, |part| {
            let mut own = own[part]
                .lock()
                .unwrap_or_else(|poison| poison.into_inner());
            let some = count * part / parts..count * (part + 1) / parts;
            self.each(indices, &mut own, updates, some, context);
        });
        for own in own {
            let own = own
                .into_inner()
                .unwrap_or_else(|poison| poison.into_inner());
            for (old, &new) in array.iter_mut().zip(&own) {
                *old = self.combine.combine(*old, new);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::{KernelCall, ThreadPool};

    /// Adds to windows of 2 × 2 of an array of 3 × 4 at two indices each.
    fn add(outside: Outside, update: Option<f32>, indices: &[i32]) -> Vec<f32> {
        let windows = Windows {
            elements: 12,
            count: indices.len() / 2,
            components: vec![
                Component {
                    stride: 4,
                    most: 1,
                    from_end: 0,
                },
                Component {
                    stride: 1,
                    most: 2,
                    from_end: 0,
                },
            ],
            outside,
            runs: vec![0, 4],
            run: 2,
        };
        let given = update.is_none();
        let kernel = Scatter::new(
            windows,
            IndexType::of::<i32>(),
            update,
            None,
            |a: f32, b| a + b,
        );
        let updates: Vec<f32> = (1..=2 * indices.len()).map(|k| k as f32).collect();
        let inputs: [&[u8]; 2] = [
            bytemuck::cast_slice(indices),
            bytemuck::cast_slice(&updates),
        ];
        let mut array = vec![0f32; 12];
        KernelCall::new(kernel)
            .call(
                &inputs[..if given { 2 } else { 1 }],
                &mut [bytemuck::cast_slice_mut(&mut array)],
                &Context::default(),
            )
            .unwrap();
        array
    }

    #[test]
    fn windows_that_meet_see_each_other() {
        assert_eq!(
            add(Outside::Nothing, None, &[0, 0, 1, 1]),
            [1.0, 2.0, 0.0, 0.0, 3.0, 9.0, 6.0, 0.0, 0.0, 7.0, 8.0, 0.0]
        );
        assert_eq!(
            add(Outside::Nothing, Some(1.0), &[0, 0, 1, 1]),
            [1.0, 1.0, 0.0, 0.0, 1.0, 2.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0]
        );
    }

    /// Counts of equal indices, some of them from the end and some outside, however many threads there are.
    #[test]
    fn counts_are_shared_out() {
        let indices: Vec<i32> = (0..100_000).map(|k| k * 7 % 23 - 9).collect();
        let counts = |threads: usize| {
            let windows = Windows {
                elements: 10,
                count: indices.len(),
                components: vec![Component {
                    stride: 1,
                    most: 9,
                    from_end: 10,
                }],
                outside: Outside::Nothing,
                runs: vec![0],
                run: 1,
            };
            let kernel = Scatter::new(
                windows,
                IndexType::of::<i32>(),
                Some(1),
                Some(0),
                i32::wrapping_add,
            );
            let mut array = vec![5i32; 10];
            let pool = ThreadPool::new(threads);
            KernelCall::new(kernel)
                .call(
                    &[bytemuck::cast_slice(&indices)],
                    &mut [bytemuck::cast_slice_mut(&mut array)],
                    &Context::new(&pool, threads),
                )
                .unwrap();
            array
        };
        let mut want = vec![5i32; 10];
        for &index in &indices {
            let at = if index < 0 { index + 10 } else { index };
            if let Some(count) = usize::try_from(at).ok().and_then(|at| want.get_mut(at)) {
                *count += 1;
            }
        }
        for threads in [1, 2, 3, 8] {
            assert_eq!(counts(threads), want);
        }
    }

    #[test]
    fn windows_outside_are_dropped_or_moved() {
        let none = [0.0; 12];
        assert_eq!(add(Outside::Nothing, None, &[2, 0, 0, -1]), none);
        assert_eq!(
            add(Outside::Nearest, None, &[2, -3]),
            [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0]
        );
    }
}
