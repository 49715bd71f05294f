//! Scatters: windows of updates combined into an array at indices, one after the other.
//!
//! Where windows begin is found for many of them at a time, by a function for the type of the indices; then each is combined, by a function for the
//! type of the elements and the operation. So there are as many functions as types and operations, and not as many as pairs of both.

use super::rows::{Outside, RowIndex};
use super::simd::Isa;
use super::{Buffers, Context, Kernel, KernelError, Signature};
use bytemuck::Pod;

/// Windows whose places are known at a time.
const BLOCK: usize = 512;
/// The place of a window that is dropped.
const NOWHERE: usize = usize::MAX;

/// One number of an index: the distance of neighbours along its axis, and the largest number with which the window is inside.
#[derive(Clone, Copy, Debug)]
pub struct Component {
    /// In elements of the array.
    pub stride: usize,
    /// Negative where the window is larger than the array.
    pub most: i64,
}

/// Where windows of an array begin, and which elements they have.
#[derive(Clone, Debug)]
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
        let width = self.components.len();
        match (&self.components[..], self.outside) {
            (&[a], Outside::Nothing) => {
                for (place, index) in places.iter_mut().zip(&indices[first..]) {
                    *place = a.place(index.row()).unwrap_or(NOWHERE);
                }
            }
            (&[a, b], Outside::Nothing) => {
                let indices = &indices[2 * first..][..2 * places.len()];
                for (k, place) in places.iter_mut().enumerate() {
                    let both = (
                        a.place(indices[2 * k].row()),
                        b.place(indices[2 * k + 1].row()),
                    );
                    *place = match both {
                        (Some(a), Some(b)) => a + b,
                        _ => NOWHERE,
                    };
                }
            }
            (components, outside) => {
                for (k, place) in places.iter_mut().enumerate() {
                    let index = &indices[(first + k) * width..][..width];
                    let mut sum = 0;
                    for (component, number) in components.iter().zip(index) {
                        let number = match outside {
                            Outside::Nearest => number.row().min(component.most).max(0),
                            Outside::Nothing => number.row(),
                        };
                        match component.place(number) {
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
    /// How far this number of an index moves a window, if it stays inside.
    #[inline(always)]
    fn place(self, number: i64) -> Option<usize> {
        (0..=self.most)
            .contains(&number)
            .then(|| number as usize * self.stride)
    }
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
    combine: F,
}

impl<T: Pod, F: Fn(T, T) -> T> Scatter<T, F> {
    /// `combine` takes the old element and the update.
    pub fn new(windows: Windows, index: IndexType, update: Option<T>, combine: F) -> Self {
        Self {
            windows,
            index,
            update,
            combine,
        }
    }

    /// Combines one window after the other. The updates of the next window begin `step` elements further.
    fn each(
        &self,
        indices: &[u8],
        array: &mut [T],
        (updates, step): (&[T], usize),
        context: &Context<'_>,
    ) {
        let mut places = [NOWHERE; BLOCK];
        for first in (0..self.windows.count).step_by(BLOCK) {
            if context.is_stopped() {
                return;
            }
            let places = &mut places[..BLOCK.min(self.windows.count - first)];
            (self.index.places)(&self.windows, indices, first, places);
            let updates = &updates[first * step..];
            match (&self.windows.runs[..], self.windows.run) {
                ([0], 1) => self.short_runs::<1>(places, array, updates, step),
                ([0], 2) => self.short_runs::<2>(places, array, updates, step),
                _ => self.long_runs(places, array, updates, step),
            }
        }
    }

    /// Combines windows of `N` adjacent elements. Such loops are written out, because adapters of iterators are not always inlined.
    #[inline(always)]
    fn short_runs<const N: usize>(
        &self,
        places: &[usize],
        array: &mut [T],
        updates: &[T],
        step: usize,
    ) {
        for (k, &place) in places.iter().enumerate() {
            if place != NOWHERE {
                let (old, new) = (&mut array[place..place + N], &updates[k * step..][..N]);
                for i in 0..N {
                    old[i] = (self.combine)(old[i], new[i]);
                }
            }
        }
    }

    /// Combines windows of any shape, runs in the vectors that this machine has.
    fn long_runs(&self, places: &[usize], array: &mut [T], updates: &[T], step: usize) {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn avx2<T: Pod, F: Fn(T, T) -> T>(
            kernel: &Scatter<T, F>,
            places: &[usize],
            array: &mut [T],
            updates: &[T],
            step: usize,
        ) {
            kernel.long_runs_with_any(places, array, updates, step);
        }
        match Isa::detect() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the machine has the instruction set.
            Isa::Avx512 | Isa::Avx2 => unsafe { avx2(self, places, array, updates, step) },
            Isa::Portable => self.long_runs_with_any(places, array, updates, step),
        }
    }

    #[inline(always)]
    fn long_runs_with_any(&self, places: &[usize], array: &mut [T], updates: &[T], step: usize) {
        let (runs, run) = (&self.windows.runs[..], self.windows.run);
        for (k, &place) in places.iter().enumerate() {
            if place == NOWHERE {
                continue;
            }
            for (number, start) in runs.iter().enumerate() {
                let old = &mut array[place + start..][..run];
                let new = &updates[k * step + number * run..][..run];
                for i in 0..run {
                    old[i] = (self.combine)(old[i], new[i]);
                }
            }
        }
    }
}

impl<T: Pod + Send + Sync, F: Fn(T, T) -> T + Send + Sync> Kernel for Scatter<T, F> {
    fn signature(&self) -> Signature {
        let windows = &self.windows;
        let indices = (windows.count * windows.components.len(), self.index.size);
        let updates = (windows.count * windows.len(), size_of::<T>());
        let inputs = [indices, updates];
        let given = if self.update.is_some() { 1 } else { 2 };
        Signature::of(&inputs[..given], &[(windows.elements, size_of::<T>())])
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        if self.windows.is_empty() {
            return Ok(());
        }
        let (indices, array) = (buffers.input::<u8>(0), buffers.output::<T>(0));
        let len = self.windows.len();
        match self.update {
            Some(update) => self.each(indices, array, (&vec![update; len], 0), context),
            None => self.each(indices, array, (buffers.input::<T>(1), len), context),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::KernelCall;

    /// Adds to windows of 2 × 2 of an array of 3 × 4 at two indices each.
    fn add(outside: Outside, update: Option<f32>, indices: &[i32]) -> Vec<f32> {
        let windows = Windows {
            elements: 12,
            count: indices.len() / 2,
            components: vec![
                Component { stride: 4, most: 1 },
                Component { stride: 1, most: 2 },
            ],
            outside,
            runs: vec![0, 4],
            run: 2,
        };
        let given = update.is_none();
        let kernel = Scatter::new(windows, IndexType::of::<i32>(), update, |a: f32, b| a + b);
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
