//! Matrix products: any strides, batches, element types; [`DotGeneral`] is the general contraction.
//!
//! Floating-point and complex products run on tiles held in vector registers ([`tile`]), with
//! operands read in place where that is as fast as from a packed copy ([`gemm`]). Products of a
//! matrix and a vector have kernels of their own ([`gemv`]). Integers wrap around; `bool` products
//! are or-of-ands. Results are overwritten, never read.
//!
//! The order of summation depends on shapes and on the machine's instruction set, and not on the
//! number of threads.

mod convert;
mod dot_general;
mod gemm;
mod gemv;
pub(super) mod pack;
mod paired;
pub(super) mod tile;
mod tiny;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod unit;

use bytemuck::{Pod, Zeroable};
use num_complex::Complex;

use self::tile::HasKernels;
use super::simd::{Arithmetic, BrainPair, Pair};
use super::{Context, KernelError, PoolBuffer};

pub use convert::Convert;
pub(super) use convert::{conversions, convert_all};
pub use dot_general::{DotDimensions, DotGeneral};
pub use paired::{BrainDot, PairedDot};
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub use unit::{Otherwise, unit_dot};

/// A product of matrices, or a batch of them, by shapes and strides (in elements):
/// `out[i][j] = Σ_p lhs[i][p] rhs[p][j]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatMul {
    /// Rows of the left operand and of the result.
    pub m: usize,
    /// Columns of the right operand and of the result.
    pub n: usize,
    /// The contracted dimension.
    pub k: usize,
    /// Distances between rows and between columns of the left operand (`m × k`).
    pub lhs: (isize, isize),
    /// Distances between rows and between columns of the right operand (`k × n`).
    pub rhs: (isize, isize),
    /// Distances between rows and between columns of the result (`m × n`).
    pub out: (isize, isize),
    /// Dimensions over which the product is repeated, outermost first.
    pub batch: Vec<Batch>,
}

/// One batch dimension of a [`MatMul`]: its size, and the distance between neighbours in each array
/// (0 repeats an operand).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Number of products.
    pub size: usize,
    /// Distance in the left operand.
    pub lhs: isize,
    /// Distance in the right operand.
    pub rhs: isize,
    /// Distance in the result.
    pub out: isize,
}

impl MatMul {
    /// The product of dense row-major matrices.
    pub fn dense(m: usize, n: usize, k: usize) -> Self {
        let rows = |columns: usize| (columns as isize, 1);
        Self {
            m,
            n,
            k,
            lhs: rows(k),
            rhs: rows(n),
            out: rows(n),
            batch: Vec::new(),
        }
    }
}

/// A matrix to read: element (i, j) is at `pointer + i * row + j * column`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix<T> {
    pub(super) pointer: *const T,
    pub(super) row: isize,
    pub(super) column: isize,
}

impl<T> Matrix<T> {
    /// # Safety
    /// The element lies inside the matrix, or just behind its end.
    #[inline(always)]
    pub(super) unsafe fn at(&self, i: usize, j: usize) -> *const T {
        // SAFETY: promised by the caller.
        unsafe {
            self.pointer
                .offset(i as isize * self.row + j as isize * self.column)
        }
    }

    pub(super) fn transposed(self) -> Self {
        Self {
            pointer: self.pointer,
            row: self.column,
            column: self.row,
        }
    }

    /// The same `rows` rows, the last one first.
    ///
    /// # Safety
    /// The matrix has so many.
    unsafe fn last_row_first(self, rows: usize) -> Self {
        Self {
            // SAFETY: promised by the caller.
            pointer: unsafe { self.at(rows - 1, 0) },
            row: -self.row,
            column: self.column,
        }
    }
}

/// A matrix to write.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatrixMut<T> {
    pub(super) pointer: *mut T,
    pub(super) row: isize,
    pub(super) column: isize,
}

impl<T> MatrixMut<T> {
    /// # Safety
    /// The element lies inside the matrix.
    #[inline(always)]
    pub(super) unsafe fn at(&self, i: usize, j: usize) -> *mut T {
        // SAFETY: promised by the caller.
        unsafe {
            self.pointer
                .offset(i as isize * self.row + j as isize * self.column)
        }
    }

    pub(super) fn transposed(self) -> Self {
        Self {
            pointer: self.pointer,
            row: self.column,
            column: self.row,
        }
    }

    /// The same `rows` rows, the last one first.
    ///
    /// # Safety
    /// The matrix has so many.
    unsafe fn last_row_first(self, rows: usize) -> Self {
        Self {
            // SAFETY: promised by the caller.
            pointer: unsafe { self.at(rows - 1, 0) },
            row: -self.row,
            column: self.column,
        }
    }
}

/// Element types of matrix products.
pub trait Element: HasKernels + Arithmetic + Pod + Send + Sync {}

macro_rules! elements {
    ($($t:ty)*) => { $(impl Element for $t {})* };
}
elements!(f32 f64 Complex<f32> Complex<f64> i8 i16 i32 i64 Truth Pair BrainPair);

/// A `bool` as one byte, with `or` for addition and `and` for multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Truth(pub u8);

// SAFETY: a transparent wrapper of a plain byte.
unsafe impl Zeroable for Truth {}
// SAFETY: as above.
unsafe impl Pod for Truth {}

impl Arithmetic for Truth {
    const ZERO: Self = Self(0);
    #[inline(always)]
    fn plus(self, b: Self) -> Self {
        Self(self.0 | b.0)
    }
    #[inline(always)]
    fn minus(self, b: Self) -> Self {
        Self(self.0 & !b.0)
    }
    #[inline(always)]
    fn times(self, b: Self) -> Self {
        Self(self.0 & b.0)
    }
}

/// Computes a product of matrices or a batch of them, overwriting `out`.
///
/// # Errors
/// When there is no memory for packed operands.
///
/// # Safety
/// The pointers are valid for all elements that shapes and strides of `layout` reach; `out`
/// overlaps neither operand, and no two elements of the result share a place.
pub unsafe fn matmul<T: Element>(
    layout: &MatMul,
    lhs: *const T,
    rhs: *const T,
    out: *mut T,
    context: &Context<'_>,
) -> Result<(), KernelError> {
    let shape @ (m, n, k) = (layout.m, layout.n, layout.k);
    let count: usize = layout.batch.iter().map(|b| b.size).product();
    if m == 0 || n == 0 || count == 0 {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    if unsafe { tiny::products(layout, lhs, rhs, out, context) } {
        return Ok(());
    }
    struct Arrays<T>(*const T, *const T, *mut T);
    // SAFETY: the products read the operands and write disjoint ranges of the result.
    unsafe impl<T> Sync for Arrays<T> {}
    let arrays = &Arrays(lhs, rhs, out);
    let one = |index: usize| {
        let (mut lhs, mut rhs, mut out) = (0, 0, 0);
        let mut rest = index;
        for dimension in layout.batch.iter().rev() {
            let i = (rest % dimension.size) as isize;
            rest /= dimension.size;
            lhs += i * dimension.lhs;
            rhs += i * dimension.rhs;
            out += i * dimension.out;
        }
        // SAFETY: the offsets are those of one product of the batch, valid by the caller's promise.
        unsafe {
            let a = Matrix {
                pointer: arrays.0.offset(lhs),
                row: layout.lhs.0,
                column: layout.lhs.1,
            };
            let b = Matrix {
                pointer: arrays.1.offset(rhs),
                row: layout.rhs.0,
                column: layout.rhs.1,
            };
            let c = MatrixMut {
                pointer: arrays.2.offset(out),
                row: layout.out.0,
                column: layout.out.1,
            };
            product(shape, a, b, c, context)
        }
    };
    // Large products are split themselves, small ones are handed out in groups.
    let work = m.saturating_mul(n).saturating_mul(k.max(1));
    if count == 1 || work > 16 * gemm::CHUNK_WORK {
        return (0..count).try_for_each(one);
    }
    let group = gemm::CHUNK_WORK.div_ceil(work + CALL_WORK).min(count);
    let error = std::sync::OnceLock::new();
    context.parallel_for(count.div_ceil(group), |chunk| {
        if let Err(e) = (chunk * group..count.min((chunk + 1) * group)).try_for_each(one) {
            let _ = error.set(e);
        }
    });
    error.into_inner().map_or(Ok(()), Err)
}

/// Multiply-adds in the time that it takes to choose a kernel for a product and to call it.
const CALL_WORK: usize = 1000;
/// A result of at most this many elements is worth splitting the contracted dimension for.
const SPLIT_RESULT: usize = 1024;
/// Elements of the contracted dimension in one chunk of a split.
const SPLIT_DEPTH: usize = 2048;

/// One product `c = a b` of shape (m, n, k), by the kernel that suits its shape and strides.
///
/// # Errors
/// When there is no memory for packed operands.
///
/// # Safety
/// The matrices are valid for `m × k`, `k × n` and `m × n` elements; `c` overlaps neither `a` nor
/// `b`.
pub(super) unsafe fn product<T: Element>(
    (m, n, k): (usize, usize, usize),
    a: Matrix<T>,
    b: Matrix<T>,
    c: MatrixMut<T>,
    context: &Context<'_>,
) -> Result<(), KernelError> {
    // SAFETY: every call below passes on the caller's promise for the same or for transposed
    // matrices, or for ranges of them and buffers made here with the stated shapes.
    unsafe {
        if k == 0 {
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                *c.at(i, j) = T::ZERO;
            }
            return Ok(());
        }
        let chunks = (k / SPLIT_DEPTH).min(16);
        if chunks > 1 && m * n <= SPLIT_RESULT && m * n * k > 4 * gemm::CHUNK_WORK {
            return split_depth((m, n, k), chunks, (a, b, c), context);
        }
        if n == 1 || are_few::<T>(n, (m, k), &a) {
            return gemv::gemv((m, n, k), a, b, c, context);
        }
        if m == 1 || are_few::<T>(m, (n, k), &b.transposed()) {
            return gemv::gemv(
                (n, m, k),
                b.transposed(),
                a.transposed(),
                c.transposed(),
                context,
            );
        }
        if c.column == 1 {
            return gemm::gemm(tile::Update::Set, (m, n, k), a, b, c, context);
        }
        if c.row == 1 {
            return gemm::gemm(
                tile::Update::Set,
                (n, m, k),
                b.transposed(),
                a.transposed(),
                c.transposed(),
                context,
            );
        }
        let mut buffer = PoolBuffer::for_elements::<T>(m * n)?;
        let dense = MatrixMut {
            pointer: buffer.as_mut_ptr().cast(),
            row: n as isize,
            column: 1,
        };
        gemm::gemm(tile::Update::Set, (m, n, k), a, b, dense, context)?;
        for (i, row) in buffer.as_slice::<T>().chunks_exact(n).enumerate() {
            for (j, &value) in row.iter().enumerate() {
                *c.at(i, j) = value;
            }
        }
        Ok(())
    }
}

/// Whether a large matrix, whose rows are adjacent, is better multiplied with each of so many vectors
/// than with tiles, whose registers would be half empty.
fn are_few<T: Element>(vectors: usize, (m, k): (usize, usize), a: &Matrix<T>) -> bool {
    let kernels = T::kernels();
    let few = &kernels.few_vectors;
    a.column == 1
        && vectors <= kernels.narrow / 2
        && m.saturating_mul(k) >= few.elements
        && m.min(k) >= few.side
}

/// One update `c -= a b`.
///
/// # Safety
/// As [`product`].
pub(super) unsafe fn subtract<T: Element>(
    (m, n, k): (usize, usize, usize),
    a: Matrix<T>,
    b: Matrix<T>,
    c: MatrixMut<T>,
    context: &Context<'_>,
) -> Result<(), KernelError> {
    if m == 0 || n == 0 || k == 0 {
        return Ok(());
    }
    let update = tile::Update::Subtract;
    // SAFETY: the caller's promise, for the same matrices, also transposed or counted from the other end, or for a buffer made here with the
    // stated shape.
    unsafe {
        let (mut a, mut b, mut c) = (a, b, c);
        if c.row == -1 {
            (a, c) = (a.last_row_first(m), c.last_row_first(m));
        }
        if c.column == -1 {
            b = b.transposed().last_row_first(n).transposed();
            c = c.transposed().last_row_first(n).transposed();
        }
        if n > 1 && m > 1 && c.column == 1 {
            return gemm::gemm(update, (m, n, k), a, b, c, context);
        }
        if n > 1 && m > 1 && c.row == 1 {
            let (a, b, c) = (b.transposed(), a.transposed(), c.transposed());
            return gemm::gemm(update, (n, m, k), a, b, c, context);
        }
        let mut buffer = PoolBuffer::for_elements::<T>(m * n)?;
        let dense = MatrixMut {
            pointer: buffer.as_mut_ptr().cast(),
            row: n as isize,
            column: 1,
        };
        product((m, n, k), a, b, dense, context)?;
        for (i, row) in buffer.as_slice::<T>().chunks_exact(n).enumerate() {
            for (j, &value) in row.iter().enumerate() {
                let to = c.at(i, j);
                *to = (*to).minus(value);
            }
        }
        Ok(())
    }
}

/// A long contraction into a small result: chunks of the contracted dimension, added in order.
///
/// # Safety
/// As [`product`].
unsafe fn split_depth<T: Element>(
    (m, n, k): (usize, usize, usize),
    chunks: usize,
    (a, b, c): (Matrix<T>, Matrix<T>, MatrixMut<T>),
    context: &Context<'_>,
) -> Result<(), KernelError> {
    struct Operands<T>(Matrix<T>, Matrix<T>, *mut T);
    // SAFETY: chunks read `a` and `b` and write their own partial results.
    unsafe impl<T> Sync for Operands<T> {}
    let mut buffer = PoolBuffer::for_elements::<T>(chunks * m * n)?;
    let operands = &Operands(a, b, buffer.as_mut_ptr().cast::<T>());
    let error = std::sync::OnceLock::new();
    context.parallel_for(chunks, |chunk| {
        let (start, end) = (k * chunk / chunks, k * (chunk + 1) / chunks);
        // SAFETY: steps `start..end` are inside the operands, and each chunk has its own `m × n`
        // elements of the buffer.
        let done = unsafe {
            let a = Matrix {
                pointer: operands.0.at(0, start),
                ..operands.0
            };
            let b = Matrix {
                pointer: operands.1.at(start, 0),
                ..operands.1
            };
            let to = MatrixMut {
                pointer: operands.2.add(chunk * m * n),
                row: n as isize,
                column: 1,
            };
            product((m, n, end - start), a, b, to, context)
        };
        if let Err(e) = done {
            let _ = error.set(e);
        }
    });
    if let Some(error) = error.into_inner() {
        return Err(error);
    }
    let partial = buffer.as_slice::<T>();
    for i in 0..m {
        for j in 0..n {
            let terms = partial[i * n + j..].iter().step_by(m * n);
            // SAFETY: `i` and `j` are inside the result.
            unsafe { *c.at(i, j) = terms.fold(T::ZERO, |sum, &term| sum.plus(term)) };
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
