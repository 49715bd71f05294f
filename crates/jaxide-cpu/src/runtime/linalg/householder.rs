//! Householder reflectors `H = I - τ v vᴴ` with v₀ = 1, and blocks of them.
//!
//! A product of reflectors is `I - V T Vᴴ` with T upper triangular (R. Schreiber and C. Van Loan,
//! *A storage-efficient WY representation for products of Householder transformations*, 1989), so
//! that blocks of them are applied by matrix products. Conventions are LAPACK's: see
//! [`jaxide_core::eval::numerics::linalg`].

use super::scalar::Scalar;
use crate::runtime::matmul::{Matrix, MatrixMut, product, subtract};
use crate::runtime::simd::for_each_isa;
use crate::runtime::{Context, KernelError, PoolBuffer};

/// Reflectors that are applied together.
pub(super) const BLOCK: usize = 32;

/// A block of reflectors in the form `I - V T Vᴴ`.
pub(super) struct Reflectors<T> {
    /// The vectors one after another, with zeros before their leading ones.
    vectors: PoolBuffer,
    /// Their conjugates, for complex types.
    conjugates: Option<PoolBuffer>,
    /// T, dense and row-major.
    factor: Vec<T>,
    /// Length of a vector, and number of vectors.
    len: usize,
    count: usize,
}

/// Which operator made of a block `B = I - V T Vᴴ` is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// B.
    Plain,
    /// Bᴴ.
    Adjoint,
    /// Bᵀ.
    Transpose,
    /// The conjugate of B.
    Conjugate,
}

impl<T: Scalar> Reflectors<T> {
    /// The block of vectors in these rows of `len` entries, whose entries before and at the leading
    /// one hold other things.
    pub(super) fn new(
        packed: &[T],
        len: usize,
        taus: &[T],
        context: &Context<'_>,
    ) -> Result<Self, KernelError> {
        let count = taus.len();
        let mut vectors = PoolBuffer::for_elements::<T>(count * len)?;
        let v = vectors.as_mut_slice::<T>();
        v.copy_from_slice(&packed[..count * len]);
        for (i, v) in v.chunks_exact_mut(len).enumerate() {
            v[..i].fill(T::ZERO);
            v[i] = T::ONE;
        }
        let conjugates = super::conjugated(v)?;
        let mut products = vec![T::ZERO; count * count];
        let dense = |from: &[T], columns: usize| Matrix {
            pointer: from.as_ptr(),
            row: columns as isize,
            column: 1,
        };
        let to = MatrixMut {
            pointer: products.as_mut_ptr(),
            row: count as isize,
            column: 1,
        };
        let adjoint = conjugates.as_ref().map_or(&*v, PoolBuffer::as_slice);
        // SAFETY: dense matrices of the stated shapes; the result is another one.
        unsafe {
            product(
                (count, count, len),
                dense(adjoint, len),
                dense(v, len).transposed(),
                to,
                context,
            )?;
        }
        let mut factor = vec![T::ZERO; count * count];
        // Column i: -τᵢ T (V₀ … Vᵢ₋₁)ᴴ vᵢ above the diagonal.
        for i in 0..count {
            for row in 0..i {
                let mut sum = T::ZERO;
                for j in row..i {
                    sum = sum + factor[row * count + j] * products[j * count + i];
                }
                factor[row * count + i] = -(taus[i] * sum);
            }
            factor[i * count + i] = taus[i];
        }
        Ok(Self {
            vectors,
            conjugates,
            factor,
            len,
            count,
        })
    }

    /// Multiplies `len × columns` entries by an operator from the left.
    ///
    /// # Safety
    /// All entries of the view are valid.
    pub(super) unsafe fn apply(
        &self,
        operator: Operator,
        c: MatrixMut<T>,
        columns: usize,
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
        if columns == 0 {
            return Ok(());
        }
        let (len, count) = (self.len, self.count);
        let plain = self.vectors.as_slice::<T>().as_ptr();
        let conjugate = self
            .conjugates
            .as_ref()
            .map_or(plain, |buffer| buffer.as_slice().as_ptr());
        let factor = |i: usize, j: usize| {
            let (i, j) = match operator {
                Operator::Plain | Operator::Conjugate => (i, j),
                Operator::Adjoint | Operator::Transpose => (j, i),
            };
            let entry = self.factor[i * count + j];
            match operator {
                Operator::Plain | Operator::Transpose => entry,
                Operator::Adjoint | Operator::Conjugate => entry.conj(),
            }
        };
        let middle: Vec<T> = (0..count * count)
            .map(|i| factor(i / count, i % count))
            .collect();
        // B and Bᴴ are made of V, the other two of its conjugate.
        let (left, right) = match operator {
            Operator::Plain | Operator::Adjoint => (plain, conjugate),
            Operator::Transpose | Operator::Conjugate => (conjugate, plain),
        };
        let mut buffer = PoolBuffer::for_elements::<T>(2 * count * columns)?;
        let (first, second) = buffer.as_mut_slice::<T>().split_at_mut(count * columns);
        let dense = |pointer: *const T, columns: usize| Matrix {
            pointer,
            row: columns as isize,
            column: 1,
        };
        let to = |slice: &mut [T]| MatrixMut {
            pointer: slice.as_mut_ptr(),
            row: columns as isize,
            column: 1,
        };
        let seen = Matrix {
            pointer: c.pointer.cast_const(),
            row: c.row,
            column: c.column,
        };
        // SAFETY: dense matrices of the stated shapes, and the caller's view; results overlap no
        // operands.
        unsafe {
            product(
                (count, columns, len),
                dense(right, len),
                seen,
                to(first),
                context,
            )?;
            let (middle, first) = (
                dense(middle.as_ptr(), count),
                dense(first.as_ptr(), columns),
            );
            product((count, columns, count), middle, first, to(second), context)?;
            let second = dense(second.as_ptr(), columns);
            subtract(
                (len, columns, count),
                dense(left, len).transposed(),
                second,
                c,
                context,
            )
        }
    }
}

/// Makes the reflector that turns `x` into a multiple of the first unit vector. The multiple, which
/// is real, and the vector's other entries replace `x`; τ is returned.
pub(super) fn reflector<T: Scalar>(x: &mut [T]) -> T {
    let alpha = x[0];
    let rest = norm(&x[1..]);
    if rest == 0.0 && alpha.im() == 0.0 {
        return T::ZERO;
    }
    let beta = -alpha
        .re()
        .hypot(alpha.im())
        .hypot(rest)
        .copysign(alpha.re());
    if beta.abs() < T::TINY {
        // Of numbers with few digits left, scaled up.
        let up = T::from_components(1.0 / T::TINY, 0.0);
        x.iter_mut().for_each(|x| *x = *x * up);
        let tau = reflector(x);
        x[0] = T::from_components(x[0].re() * T::TINY, 0.0);
        return tau;
    }
    let tau = T::from_components((beta - alpha.re()) / beta, -alpha.im() / beta);
    T::divide(
        &mut x[1..],
        T::from_components(alpha.re() - beta, alpha.im()),
    );
    x[0] = T::from_components(beta, 0.0);
    tau
}

/// The Euclidean norm, without overflow.
fn norm<T: Scalar>(x: &[T]) -> f64 {
    let mut square = 0.0;
    sum_of_squares(x, &mut square);
    if square.is_normal() && square < 1e300 {
        return square.sqrt();
    }
    let largest = x.iter().map(|x| x.abs1()).fold(0.0, f64::max);
    if largest == 0.0 || !largest.is_finite() || square.is_nan() {
        return if square.is_nan() { square } else { largest };
    }
    let scaled = |component: f64| (component / largest).powi(2);
    largest
        * x.iter()
            .map(|x| scaled(x.re()) + scaled(x.im()))
            .sum::<f64>()
            .sqrt()
}

for_each_isa! {
    /// The sum of squared moduli.
    fn sum_of_squares<T: Scalar>(x: &[T], sum: &mut f64) = sum_of_squares_any
}

#[inline(always)]
fn sum_of_squares_any<T: Scalar>(x: &[T], sum: &mut f64) {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let full = x.len() / LANES * LANES;
    for at in (0..full).step_by(LANES) {
        let x = &x[at..at + LANES];
        for lane in 0..LANES {
            sums[lane] += x[lane].abs_square();
        }
    }
    *sum = 0.0;
    for x in &x[full..] {
        *sum += x.abs_square();
    }
    for part in sums {
        *sum += part;
    }
}

/// Makes reflectors of columns one after another, each column being the `len` adjacent entries of a
/// row of `columns`, and applies each to the columns after it. Column i is eliminated below entry
/// i.
pub(super) fn eliminate<T: Scalar>(columns: &mut [T], len: usize, taus: &mut [T]) {
    for (i, tau) in taus.iter_mut().enumerate() {
        let (done, rest) = columns.split_at_mut((i + 1) * len);
        let v = &mut done[i * len + i..];
        *tau = reflector(v);
        let beta = std::mem::replace(&mut v[0], T::ONE);
        apply_to_rows(v, tau.conj(), rest, len);
        v[0] = beta;
    }
}

for_each_isa! {
    /// `x -= τ v vᴴ x` for the last entries of each row of `len`.
    pub(super) fn apply_to_rows<T: Scalar>(v: &[T], tau: T, rows: &mut [T], len: usize) = apply_to_rows_any
}

#[inline(always)]
fn apply_to_rows_any<T: Scalar>(v: &[T], tau: T, rows: &mut [T], len: usize) {
    let first = len - v.len();
    let mut start = 0;
    while start + TOGETHER * len <= rows.len() {
        let rows = &mut rows[start..start + TOGETHER * len];
        let mut products = [T::ZERO; TOGETHER];
        dots(v, rows, (len, first), &mut products);
        for k in 0..TOGETHER {
            subtract_multiple(
                v,
                tau * products[k],
                &mut rows[k * len + first..(k + 1) * len],
            );
        }
        start += TOGETHER * len;
    }
    while start < rows.len() {
        let row = &mut rows[start..start + len];
        let mut product = [T::ZERO];
        dots(v, row, (len, first), &mut product);
        subtract_multiple(v, tau * product[0], &mut row[first..]);
        start += len;
    }
}

/// Rows that are multiplied together.
const TOGETHER: usize = 4;

/// `vᴴ x` for rows of `len` entries from one on.
#[inline(always)]
fn dots<T: Scalar, const K: usize>(
    v: &[T],
    rows: &[T],
    (len, first): (usize, usize),
    products: &mut [T; K],
) {
    const LANES: usize = 16;
    let mut sums = [[T::ZERO; LANES]; K];
    let full = v.len() / LANES * LANES;
    for at in (0..full).step_by(LANES) {
        let v = &v[at..at + LANES];
        for k in 0..K {
            let x = &rows[k * len + first + at..][..LANES];
            for lane in 0..LANES {
                sums[k][lane] = sums[k][lane] + v[lane].conj() * x[lane];
            }
        }
    }
    for k in 0..K {
        let x = &rows[k * len + first..(k + 1) * len];
        let mut sum = T::ZERO;
        for i in full..v.len() {
            sum = sum + v[i].conj() * x[i];
        }
        for &part in &sums[k] {
            sum = sum + part;
        }
        products[k] = sum;
    }
}

/// `x -= factor v`.
#[inline(always)]
fn subtract_multiple<T: Scalar>(v: &[T], factor: T, x: &mut [T]) {
    let x = &mut x[..v.len()];
    for i in 0..v.len() {
        x[i] = x[i] - v[i] * factor;
    }
}
