//! Fourier transforms over the last dimensions of an array, by rustfft.
//!
//! Conventions are NumPy's: forward transforms have the kernel exp(-2πi jk/n) and no factor,
//! inverse ones exp(+2πi jk/n) and the factor 1/n for each dimension. A real transform of even
//! length n is a complex one of length n/2 over pairs of numbers, whose result is then taken apart
//! (Sorensen et al., *Real-valued fast Fourier transform algorithms*, 1987); of odd length, a
//! complex one. All of the transform of a real array is its first half and what that is conjugate to.

mod halves;

use std::f64::consts::PI;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytemuck::Pod;
use jaxide_core::check_allocatable;
use num_complex::Complex;
use rustfft::{FftDirection, FftPlanner};

pub use halves::Number;

use crate::runtime::launch::share;
use crate::runtime::shared::SharedSlice;
use crate::runtime::simd::Isa;
use crate::runtime::transpose::rows_to_columns;
use crate::runtime::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature};

/// The kinds of transforms, with JAX's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FftKind {
    /// 0: complex to complex.
    Forward,
    /// 1: complex to complex, inverse.
    Inverse,
    /// 2: real to the first half of a complex result.
    RealForward,
    /// 3: the first half of a complex array to real, inverse.
    RealInverse,
    /// Real to all of a complex result; JAX has complex numbers whose imaginary parts are zero.
    RealToWhole,
}

impl FftKind {
    /// The kind with this number in JAX's `fft_type`.
    pub fn from_number(number: usize) -> Option<Self> {
        [
            Self::Forward,
            Self::Inverse,
            Self::RealForward,
            Self::RealInverse,
        ]
        .get(number)
        .copied()
    }
}

/// The kernel that transforms the last `lengths.len()` dimensions of a dense array of real numbers
/// `T` or of complex ones.
///
/// Its plans, which are as large as a line, are made when it runs for the first time.
pub struct Fft<T: Number> {
    kind: FftKind,
    input: Vec<usize>,
    lengths: Vec<usize>,
    /// Elements of input and output.
    sizes: (usize, usize),
    plans: OnceLock<Plans<T>>,
}

/// What the transforms of some lengths have in common.
struct Plans<T: Number> {
    kind: FftKind,
    /// The shape of the input, and the first dimension that is transformed.
    shape: Vec<usize>,
    start: usize,
    /// Transforms along dimensions other than the last, first to last.
    outer: Vec<OuterAxis<T>>,
    /// The transform along the last dimension; `None` if no dimension is transformed.
    last: Option<LastAxis<T>>,
}

/// A complex transform along a dimension that is not the last: some lines beside each other at a time, through copies.
struct OuterAxis<T: Number> {
    plan: Arc<dyn rustfft::Fft<T>>,
    /// Elements from one of a line to the next: the product of the dimensions behind.
    stride: usize,
}

/// The transform along the last dimension.
struct LastAxis<T: Number> {
    plan: Arc<dyn rustfft::Fft<T>>,
    /// The length of the transform, and of a line of complex numbers if one side is real.
    length: usize,
    half: usize,
    /// For real transforms of even length n, for 0 ≤ k ≤ n/4: -i/2 times exp(-2πi k/n), or i times its conjugate for inverse ones.
    roots: Vec<Complex<T>>,
}

/// Numbers that a plan holds for each element of a line, at most: Bluestein's algorithm for lengths with large prime
/// factors, with a transform of up to four times the length inside.
const PLAN: usize = 12;
/// Elements that make a chunk worth a thread's attention.
const CHUNK: usize = 1 << 12;
/// Numbers of the lines that are transformed together, about.
const LINES: usize = 1 << 10;
/// Bytes of a row that is copied to as many lines: whole lines of the cache, so that none is read twice.
const ROW: usize = 128;
/// Bytes between the lines of such a copy. Without them lines whose lengths are powers of two would share a few places of the cache.
const GAP: usize = 64;

impl<T: Number> Fft<T> {
    /// A transform of arrays of shape `input` over its last dimensions, which have these lengths;
    /// for [`FftKind::RealInverse`] the lengths are those of the result, and the input's last
    /// dimension has half the last length (rounded down) and one.
    ///
    /// # Panics
    /// If lengths and shape do not agree so.
    pub fn new(kind: FftKind, input: &[usize], lengths: &[usize]) -> Self {
        let start = (input.len().checked_sub(lengths.len())).expect("a dimension for each length");
        let (mut half_shape, mut real_shape) = (input.to_vec(), input.to_vec());
        if let (Some(&length), Some(&size)) = (lengths.last(), input.last()) {
            let half = if length == 0 { 0 } else { length / 2 + 1 };
            half_shape[input.len() - 1] = half;
            real_shape[input.len() - 1] = length;
            let expected = match kind {
                FftKind::RealInverse => half,
                FftKind::Forward
                | FftKind::Inverse
                | FftKind::RealForward
                | FftKind::RealToWhole => length,
            };
            assert!(
                size == expected && input[start..input.len() - 1] == lengths[..lengths.len() - 1],
                "a {kind:?} transform of lengths {lengths:?} does not fit {input:?}"
            );
        }
        let count = |shape: &[usize]| shape.iter().product::<usize>();
        let output = match kind {
            FftKind::Forward | FftKind::Inverse | FftKind::RealToWhole => count(input),
            FftKind::RealForward => count(&half_shape),
            FftKind::RealInverse => count(&real_shape),
        };
        Self {
            kind,
            input: input.to_vec(),
            lengths: lengths.to_vec(),
            sizes: (count(input), output),
            plans: OnceLock::new(),
        }
    }

    /// The plans, made if they are not yet there.
    ///
    /// # Errors
    /// When there is no memory for them.
    fn plans(&self) -> Result<&Plans<T>, KernelError> {
        if let Some(plans) = self.plans.get() {
            return Ok(plans);
        }
        let longest = self.lengths.iter().copied().max().unwrap_or(0);
        let bytes = longest.saturating_mul(PLAN * size_of::<Complex<T>>());
        check_allocatable(bytes).map_err(|_| {
            let message = format!(
                "out of memory: a transform of length {longest} is planned in {bytes} bytes"
            );
            KernelError::new(message)
        })?;
        Ok(self
            .plans
            .get_or_init(|| Plans::new(self.kind, &self.input, &self.lengths)))
    }
}

impl<T: Number> Plans<T> {
    fn new(kind: FftKind, input: &[usize], lengths: &[usize]) -> Self {
        let start = input.len() - lengths.len();
        let mut complex_shape = input.to_vec();
        let halved = matches!(kind, FftKind::RealForward | FftKind::RealToWhole);
        if let (true, Some(last)) = (halved, lengths.last()) {
            complex_shape[input.len() - 1] = last / 2 + 1;
        }
        let mut planner = FftPlanner::new();
        let direction = match kind {
            FftKind::Forward | FftKind::RealForward | FftKind::RealToWhole => FftDirection::Forward,
            FftKind::Inverse | FftKind::RealInverse => FftDirection::Inverse,
        };
        let outer_axes = start..start.max(input.len().saturating_sub(1));
        let outer = outer_axes
            .filter(|&axis| input[axis] > 1)
            .map(|axis| OuterAxis {
                plan: planner.plan_fft(input[axis], direction),
                stride: complex_shape[axis + 1..].iter().product(),
            })
            .collect();
        let last = lengths.last().map(|&length| {
            let real = !matches!(kind, FftKind::Forward | FftKind::Inverse);
            let packed = real && length.is_multiple_of(2);
            let roots = (0..if packed { length / 4 + 1 } else { 0 }).map(|k| {
                let angle = -2.0 * PI * k as f64 / length as f64;
                // -i/2 times the root of unity, or i times its conjugate.
                let root = match direction {
                    FftDirection::Forward => (angle.sin() / 2.0, -angle.cos() / 2.0),
                    FftDirection::Inverse => (angle.sin(), angle.cos()),
                };
                Complex::new(number(root.0), number(root.1))
            });
            LastAxis {
                plan: planner.plan_fft(if packed { length / 2 } else { length }, direction),
                length,
                half: length / 2 + 1,
                roots: roots.collect(),
            }
        });
        Self {
            kind,
            shape: input.to_vec(),
            start,
            outer,
            last,
        }
    }
}

impl<T: Number> Kernel for Fft<T>
where
    Complex<T>: Pod,
{
    fn signature(&self) -> Signature {
        let (real, complex) = (size_of::<T>(), size_of::<Complex<T>>());
        let (input, output) = match self.kind {
            FftKind::Forward | FftKind::Inverse => (complex, complex),
            FftKind::RealForward | FftKind::RealToWhole => (real, complex),
            FftKind::RealInverse => (complex, real),
        };
        Signature::of(&[(self.sizes.0, input)], &[(self.sizes.1, output)])
    }

    fn flushes_subnormals(&self) -> bool {
        true
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        if self.sizes.0 == 0 || self.sizes.1 == 0 {
            // Without input a real result of some length is zero.
            buffers.output::<u8>(0).fill(0);
            return Ok(());
        }
        self.plans()?.run(buffers, context)
    }
}

impl<T: Number> Plans<T>
where
    Complex<T>: Pod,
{
    /// Transforms what is not empty.
    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let Some(last) = &self.last else {
            let (from, to) = (buffers.input::<u8>(0), buffers.output::<u8>(0));
            to.copy_from_slice(from);
            return Ok(());
        };
        match self.kind {
            FftKind::Forward | FftKind::Inverse => {
                let to = buffers.output::<Complex<T>>(0);
                let factor = (self.kind == FftKind::Inverse).then(|| self.factor());
                let of_last = factor.filter(|_| self.outer.is_empty());
                last.complex(buffers.input(0), to, of_last, context)?;
                self.transform_outer(None, to, factor, context)?;
            }
            FftKind::RealForward => {
                let to = buffers.output::<Complex<T>>(0);
                last.real_forward(buffers.input(0), to, context)?;
                self.transform_outer(None, to, None, context)?;
            }
            FftKind::RealToWhole => {
                let (from, to) = (buffers.input(0), buffers.output::<Complex<T>>(0));
                if self.outer.is_empty() {
                    return last.real_to_whole(from, to, context);
                }
                let count = to.len() / last.length * last.half;
                let mut half = PoolBuffer::for_elements::<Complex<T>>(count)?;
                let half = half.as_mut_slice::<Complex<T>>();
                last.real_forward(from, half, context)?;
                self.transform_outer(None, half, None, context)?;
                self.complete(half, to, context);
            }
            FftKind::RealInverse => {
                let to = buffers.output::<T>(0);
                let from = buffers.input::<Complex<T>>(0);
                let factor = self.factor();
                if self.outer.is_empty() {
                    return last.real_inverse(from, to, factor, context);
                }
                let mut lines = PoolBuffer::for_elements::<Complex<T>>(from.len())?;
                self.transform_outer(Some(from), lines.as_mut_slice(), None, context)?;
                last.real_inverse(lines.as_slice(), to, factor, context)?;
            }
        }
        Ok(())
    }

    /// Transforms along the dimensions before the last, in place, or from `from` into `data`; results are multiplied by `factor`.
    fn transform_outer(
        &self,
        mut from: Option<&[Complex<T>]>,
        data: &mut [Complex<T>],
        factor: Option<T>,
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
        for (k, axis) in self.outer.iter().enumerate() {
            let factor = factor.filter(|_| k + 1 == self.outer.len());
            axis.transform(from.take(), data, factor, context)?;
        }
        Ok(())
    }

    /// From the first half of each line all of it: what is behind is conjugate to the elements at negative indices.
    fn complete(&self, half: &[Complex<T>], to: &mut [Complex<T>], context: &Context<'_>) {
        let (&n, rows) = self.shape.split_last().expect("a dimension is transformed");
        let width = n / 2 + 1;
        let group = CHUNK.div_ceil(n);
        let count = to.len() / n;
        let to = SharedSlice::new(to);
        context.parallel_for(count.div_ceil(group), |chunk| {
            for row in chunk * group..count.min((chunk + 1) * group) {
                let (mut rest, mut stride, mut opposite) = (row, 1, 0);
                for (axis, &size) in rows.iter().enumerate().rev() {
                    let index = rest % size;
                    let index = if axis >= self.start && index > 0 {
                        size - index
                    } else {
                        index
                    };
                    opposite += index * stride;
                    stride *= size;
                    rest /= size;
                }
                // SAFETY: no other chunk has this row.
                let to = unsafe { to.range(row * n..(row + 1) * n) };
                to[..width].copy_from_slice(&half[row * width..][..width]);
                let behind = &half[opposite * width..][1..=n - width];
                for (to, from) in to[width..].iter_mut().rev().zip(behind) {
                    *to = from.conj();
                }
            }
        });
    }

    /// 1/n for each transformed dimension.
    fn factor(&self) -> T {
        let lengths = self
            .outer
            .iter()
            .map(|axis| axis.plan.len())
            .chain(self.last.iter().map(|last| last.length));
        let count = lengths.map(|length| length as f64).product::<f64>();
        number(1.0 / count)
    }
}

impl<T: Number> OuterAxis<T>
where
    Complex<T>: Pod,
{
    /// Transforms all lines along the dimension, in place, or from `from` into `data`; results are multiplied by `factor`.
    fn transform(
        &self,
        from: Option<&[Complex<T>]>,
        data: &mut [Complex<T>],
        factor: Option<T>,
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
        let (n, stride) = (self.plan.len(), self.stride);
        let width = (ROW / size_of::<Complex<T>>()).min(stride);
        let step = n + GAP / size_of::<Complex<T>>();
        let scratch_len = self.plan.get_inplace_scratch_len();
        let in_row = stride.div_ceil(width);
        let blocks = data.len() / (n * stride) * in_row;
        let chunks = (data.len() / CHUNK).clamp(1, blocks);
        assert!(
            from.is_none_or(|from| from.len() == data.len()),
            "as many elements"
        );
        let data = SharedSlice::new(data);
        let (error, isa) = (OnceLock::new(), Isa::detect());
        context.parallel_for(chunks, |chunk| {
            let mut buffer =
                match PoolBuffer::for_elements::<Complex<T>>(width * step + scratch_len) {
                    Ok(buffer) => buffer,
                    Err(e) => return error.set(e.into()).unwrap_or(()),
                };
            let buffer = buffer.as_mut_slice::<Complex<T>>();
            let (lines, scratch) = buffer.split_at_mut(width * step);
            for block in share(blocks, chunk, chunks) {
                let (above, column) = (block / in_row, block % in_row * width);
                let first = above * n * stride + column;
                let width = width.min(stride - column);
                // SAFETY: the block is inside the data and inside the lines, and no other chunk has its columns.
                unsafe {
                    let here = data.pointer(first);
                    let source = from.map_or(here.cast_const(), |from| from[first..].as_ptr());
                    rows_to_columns(
                        (source, stride as isize),
                        (lines.as_mut_ptr(), step),
                        (n, width),
                        isa,
                    );
                }
                for line in lines.chunks_exact_mut(step).take(width) {
                    let line = &mut line[..n];
                    self.plan.process_with_scratch(line, scratch);
                    if let Some(factor) = factor {
                        line.iter_mut().for_each(|z| *z = z.scale(factor));
                    }
                }
                // SAFETY: as above.
                unsafe {
                    rows_to_columns(
                        (lines.as_ptr(), step as isize),
                        (data.pointer(first), stride),
                        (width, n),
                        isa,
                    );
                }
            }
        });
        error.into_inner().map_or(Ok(()), Err)
    }
}

impl<T: Number> LastAxis<T>
where
    Complex<T>: Pod,
{
    fn complex(
        &self,
        from: &[Complex<T>],
        to: &mut [Complex<T>],
        factor: Option<T>,
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
        let scratch = self.plan.get_immutable_scratch_len();
        for_lines(to, self.length, scratch, context, |range, to, scratch| {
            let from = &from[range.start * self.length..range.end * self.length];
            self.plan.process_immutable_with_scratch(from, to, scratch);
            if let Some(factor) = factor {
                to.iter_mut().for_each(|z| *z = z.scale(factor));
            }
        })
    }

    fn real_forward(
        &self,
        from: &[T],
        to: &mut [Complex<T>],
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
        self.real_lines(from, to, self.half, context, |line, to| {
            self.first_half(line, to);
        })
    }

    /// Lines of real numbers to all of their transforms.
    fn real_to_whole(
        &self,
        from: &[T],
        to: &mut [Complex<T>],
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
        self.real_lines(from, to, self.length, context, |line, to| {
            let (half, behind) = to.split_at_mut(self.half);
            self.first_half(line, half);
            for (to, from) in behind.iter_mut().rev().zip(&half[1..]) {
                *to = from.conj();
            }
        })
    }

    /// Makes of each line of real numbers a complex one, the pairs of its numbers if the length is even, and gives its transform to `body`, with the `width` numbers of the result. Several lines are transformed at a time, as many as the first cache holds.
    fn real_lines(
        &self,
        from: &[T],
        to: &mut [Complex<T>],
        width: usize,
        context: &Context<'_>,
        body: impl Fn(&[Complex<T>], &mut [Complex<T>]) + Sync,
    ) -> Result<(), KernelError> {
        let (n, m) = (self.length, self.plan.len());
        let packed = self.is_packed();
        let scratch_len = if packed {
            self.plan.get_immutable_scratch_len()
        } else {
            self.plan.get_inplace_scratch_len()
        };
        let together = (LINES / m).clamp(1, to.len() / width);
        let buffer_len = together * m + scratch_len;
        for_lines(to, width, buffer_len, context, |range, to, buffer| {
            let (lines, scratch) = buffer.split_at_mut(together * m);
            let from = from[range.start * n..range.end * n].chunks(together * n);
            for (from, to) in from.zip(to.chunks_mut(together * width)) {
                let lines = &mut lines[..to.len() / width * m];
                if packed {
                    let pairs = bytemuck::cast_slice(from);
                    self.plan
                        .process_immutable_with_scratch(pairs, lines, scratch);
                } else {
                    for (z, &x) in lines.iter_mut().zip(from) {
                        *z = Complex::new(x, T::zero());
                    }
                    self.plan.process_with_scratch(lines, scratch);
                }
                for (line, to) in lines.chunks_exact(m).zip(to.chunks_exact_mut(width)) {
                    body(line, to);
                }
            }
        })
    }

    /// Whether lines of real numbers are transformed as complex numbers of half as many.
    fn is_packed(&self) -> bool {
        !self.roots.is_empty()
    }

    /// The first half of the transform of a line, from that of what [`Self::real_lines`] made of it.
    fn first_half(&self, line: &[Complex<T>], to: &mut [Complex<T>]) {
        if self.is_packed() {
            self.take_apart(line, to);
        } else {
            to.copy_from_slice(&line[..self.half]);
        }
    }

    /// From the transform `z` of the pairs (x₀, x₁), (x₂, x₃), … the first half of that of `x`: half of z + z* is the transform of the even
    /// elements, and (z - z*)/2i that of the odd ones, to be turned by exp(-2πi k/n), which is in the roots.
    fn take_apart(&self, z: &[Complex<T>], to: &mut [Complex<T>]) {
        let m = z.len();
        let half = number(0.5);
        T::combine_halves(half, &self.roots, z, &mut to[..m]);
        to[0] = Complex::new(z[0].re + z[0].im, T::zero());
        to[m] = Complex::new(z[0].re - z[0].im, T::zero());
    }

    fn real_inverse(
        &self,
        from: &[Complex<T>],
        to: &mut [T],
        factor: T,
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
        let (n, m) = (self.length, self.plan.len());
        let scratch_len = self.plan.get_inplace_scratch_len();
        for_lines(to, n, m + scratch_len, context, |range, to, scratch| {
            let (line, scratch) = scratch.split_at_mut(m);
            for (index, to) in range.zip(to.chunks_exact_mut(n)) {
                let from = &from[index * self.half..(index + 1) * self.half];
                // The imaginary parts of the first element, and for even lengths of the last, are
                // those of no real array and are ignored.
                if !self.is_packed() {
                    line[0] = Complex::new(from[0].re, T::zero());
                    for k in 1..self.half {
                        line[k] = from[k];
                        line[n - k] = from[k].conj();
                    }
                    self.plan.process_with_scratch(line, scratch);
                    for (x, z) in to.iter_mut().zip(&*line) {
                        *x = z.re * factor;
                    }
                } else {
                    self.put_together(from, line);
                    self.plan.process_with_scratch(line, scratch);
                    let line: &[T] = bytemuck::cast_slice(line);
                    to.iter_mut()
                        .zip(line)
                        .for_each(|(to, &x)| *to = x * factor);
                }
            }
        })
    }

    /// The inverse of [`Self::take_apart`], times 2.
    fn put_together(&self, from: &[Complex<T>], z: &mut [Complex<T>]) {
        let m = z.len();
        T::combine_halves(T::one(), &self.roots, &from[..m], z);
        z[0] = Complex::new(from[0].re + from[m].re, from[0].re - from[m].re);
    }
}

/// The nearest number.
fn number<T: Number>(x: f64) -> T {
    T::from_f64(x).expect("floating-point types represent every f64")
}

/// Runs `body(lines, data of these lines, scratch)` for groups of the lines of `data`.
fn for_lines<N: Pod + Send, S: Pod>(
    data: &mut [N],
    length: usize,
    scratch_len: usize,
    context: &Context<'_>,
    body: impl Fn(Range<usize>, &mut [N], &mut [S]) + Sync,
) -> Result<(), KernelError> {
    let count = data.len() / length;
    let chunks = (data.len() / CHUNK).clamp(1, count);
    let data = SharedSlice::new(data);
    let error = OnceLock::new();
    context.parallel_for(chunks, |chunk| {
        let lines = share(count, chunk, chunks);
        // SAFETY: no other chunk has these lines.
        let range = unsafe { data.range(lines.start * length..lines.end * length) };
        match PoolBuffer::for_elements::<S>(scratch_len) {
            Ok(mut scratch) => body(lines, range, scratch.as_mut_slice()),
            Err(e) => error.set(e.into()).unwrap_or(()),
        }
    });
    error.into_inner().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::KernelCall;

    fn number(i: usize) -> f64 {
        (i as f64 * 1.7).sin() + (i % 5) as f64 * 0.3
    }

    /// The definition, along one axis.
    fn transform(
        data: &[Complex<f64>],
        shape: &[usize],
        axis: usize,
        sign: f64,
    ) -> Vec<Complex<f64>> {
        let n = shape[axis];
        let inner: usize = shape[axis + 1..].iter().product();
        (0..data.len())
            .map(|place| {
                let k = place / inner % n;
                let start = place - k * inner;
                (0..n)
                    .map(|j| {
                        let angle = sign * 2.0 * PI * (j * k % n) as f64 / n as f64;
                        data[start + j * inner] * Complex::from_polar(1.0, angle)
                    })
                    .sum()
            })
            .collect()
    }

    fn run<A: Pod, B: Pod>(kernel: impl Kernel + 'static, input: &[A]) -> Vec<B> {
        let call = KernelCall::new(kernel);
        let mut out = vec![B::zeroed(); call.signature().outputs[0] / size_of::<B>()];
        let outputs = &mut [bytemuck::cast_slice_mut(&mut out)];
        call.call(&[bytemuck::cast_slice(input)], outputs, &Context::default())
            .unwrap();
        out
    }

    #[track_caller]
    fn close(
        got: impl IntoIterator<Item = Complex<f64>>,
        want: impl IntoIterator<Item = Complex<f64>>,
        tolerance: f64,
    ) {
        let (got, want): (Vec<_>, Vec<_>) = (got.into_iter().collect(), want.into_iter().collect());
        assert_eq!(got.len(), want.len());
        let scale = want.iter().map(|z| z.norm()).fold(1.0, f64::max);
        for (g, w) in got.iter().zip(&want) {
            assert!((g - w).norm() <= tolerance * scale, "{g} {w}");
        }
    }

    fn check(shape: &[usize], rank: usize) {
        let count: usize = shape.iter().product();
        let axes = shape.len() - rank..shape.len();
        let lengths = &shape[axes.clone()];
        let data: Vec<_> = (0..count)
            .map(|i| Complex::new(number(i), number(i + 1000)))
            .collect();
        let forward = axes.clone().fold(data.clone(), |data, axis| {
            transform(&data, shape, axis, -1.0)
        });
        close(
            run::<_, Complex<f64>>(Fft::<f64>::new(FftKind::Forward, shape, lengths), &data),
            forward.clone(),
            1e-13,
        );
        close(
            run::<_, Complex<f64>>(Fft::<f64>::new(FftKind::Inverse, shape, lengths), &forward),
            data.clone(),
            1e-13,
        );
        let narrow: Vec<Complex<f32>> = data
            .iter()
            .map(|z| Complex::new(z.re as f32, z.im as f32))
            .collect();
        let got =
            run::<_, Complex<f32>>(Fft::<f32>::new(FftKind::Forward, shape, lengths), &narrow);
        close(
            got.iter().map(|z| Complex::new(z.re.into(), z.im.into())),
            forward,
            1e-6,
        );
        let Some(&n) = lengths.last() else { return };
        // Real transforms keep the first half of each line.
        let real: Vec<f64> = (0..count).map(number).collect();
        let as_complex: Vec<_> = real.iter().map(|&x| Complex::new(x, 0.0)).collect();
        let full = axes.fold(as_complex, |data, axis| transform(&data, shape, axis, -1.0));
        let mut half: Vec<_> = full
            .chunks(n.max(1))
            .flat_map(|line| line[..n / 2 + 1].to_vec())
            .collect();
        close(
            run::<_, Complex<f64>>(Fft::<f64>::new(FftKind::RealForward, shape, lengths), &real),
            half.clone(),
            1e-13,
        );
        close(
            run::<_, Complex<f64>>(Fft::<f64>::new(FftKind::RealToWhole, shape, lengths), &real),
            full,
            1e-13,
        );
        let mut half_shape = shape.to_vec();
        *half_shape.last_mut().unwrap() = n / 2 + 1;
        if rank == 1 {
            // What cannot come from real numbers is ignored.
            half.chunks_mut(n / 2 + 1).for_each(|line| line[0].im = 7.0);
        }
        let back = run::<_, f64>(
            Fft::<f64>::new(FftKind::RealInverse, &half_shape, lengths),
            &half,
        );
        close(
            back.iter().map(|&x| Complex::new(x, 0.0)),
            real.iter().map(|&x| Complex::new(x, 0.0)),
            1e-13,
        );
    }

    #[test]
    fn one_dimension_of_any_length() {
        for n in [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 30, 64, 97, 100, 1000] {
            check(&[n], 1);
        }
        check(&[3, 0, 4], 1);
        check(&[700, 24], 1);
    }

    #[test]
    fn several_dimensions() {
        check(&[5, 6], 2);
        check(&[6, 5], 2);
        check(&[2, 3, 4], 2);
        check(&[4, 1, 7, 10], 3);
        check(&[3, 8, 1], 3);
        // Lines beside each other in whole blocks and parts of them, in several pieces.
        check(&[33, 40], 2);
        check(&[96, 100], 2);
        check(&[2, 17, 9, 3], 3);
        check(&[70, 19, 8], 2);
        check(&[128, 1, 64], 3);
        check(&[3], 0);
    }

    #[test]
    fn a_real_result_of_no_input_is_zero() {
        let out =
            run::<Complex<f64>, f64>(Fft::<f64>::new(FftKind::RealInverse, &[0, 3], &[0, 4]), &[]);
        assert!(out.is_empty());
    }
}
