//! Householder reflectors `H = I - τ v vᴴ` with v₀ = 1, and blocks of them.
//!
//! A product of reflectors is `I - V T Vᴴ` with T upper triangular (R. Schreiber and C. Van Loan,
//! *A storage-efficient WY representation for products of Householder transformations*, 1989), so
//! that blocks of them are applied by matrix products. Conventions are LAPACK's: see
//! [`jaxide_core::eval::numerics::linalg`].

use std::sync::OnceLock;

use super::scalar::{RealScalar, Scalar};
use super::trailing::{components, components_mut, dots, multiply_complex, multiply_real, times_i};
use crate::runtime::matmul::{Matrix, MatrixMut, product, subtract};
use crate::runtime::simd::{Products, for_each_isa};
use crate::runtime::{Context, KernelError, PoolBuffer};

/// Reflectors that are applied together.
pub(super) const BLOCK: usize = 32;
/// Entries of a block's vectors up to which they are applied one after another, which takes half the arithmetic.
pub(super) const FEW_ENTRIES: usize = 2048;
/// Columns that a thread applies a block to, and multiply-adds that are worth sharing.
const COLUMNS: usize = 64;
const SHARED: usize = 1 << 17;

/// A block of reflectors in the form `I - V T Vᴴ`.
pub(super) struct Reflectors<T> {
    /// The vectors one after another, with zeros before their leading ones.
    vectors: PoolBuffer,
    /// Their conjugates, for complex types.
    conjugates: Option<PoolBuffer>,
    /// T, dense and row-major; nothing where the reflectors are applied one after another.
    factor: Vec<T>,
    taus: Vec<T>,
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

impl<T: Scalar<Real: RealScalar>> Reflectors<T> {
    /// The block of vectors in these rows of `len` entries, whose entries before and at the leading
    /// one hold other things.
    pub(super) fn new(packed: &[T], len: usize, taus: &[T]) -> Result<Self, KernelError> {
        let count = taus.len();
        let mut vectors = PoolBuffer::for_elements::<T>(count * len)?;
        let v = vectors.as_mut_slice::<T>();
        v.copy_from_slice(&packed[..count * len]);
        for (i, v) in v.chunks_exact_mut(len).enumerate() {
            v[..i].fill(T::ZERO);
            v[i] = T::ONE;
        }
        if count * len <= FEW_ENTRIES {
            return Ok(Self {
                vectors,
                conjugates: None,
                factor: Vec::new(),
                taus: taus.to_vec(),
                len,
                count,
            });
        }
        let conjugates = super::conjugated(v)?;
        // Vᴴ V, of which each entry is summed in lanes: as a product of matrices, one after the other, sums of like terms would lose digits.
        let mut products = vec![T::ZERO; count * count];
        let mut buffer = PoolBuffer::for_elements::<T>(len + count)?;
        let (turned, column) = buffer.as_mut_slice::<T>().split_at_mut(len);
        for i in 1..count {
            along_rows(
                &v[..i * len],
                &v[i * len..(i + 1) * len],
                i,
                turned,
                &mut column[..i],
            );
            for (row, product) in column[..i].iter().enumerate() {
                products[row * count + i] = product.conj();
            }
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
            taus: taus.to_vec(),
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
        let apply = |c: MatrixMut<T>, columns: usize| {
            // SAFETY: the caller's promise, for some of the columns.
            unsafe {
                if self.factor.is_empty() {
                    self.apply_one_by_one(operator, c, columns)
                } else {
                    self.apply_at_once(operator, c, columns, context)
                }
            }
        };
        if columns <= COLUMNS || self.len * self.count * columns < SHARED {
            return apply(c, columns);
        }
        let shared = SharedMatrix(c);
        let error = OnceLock::new();
        context.parallel_for(columns.div_ceil(COLUMNS), |chunk| {
            let first = chunk * COLUMNS;
            let count = COLUMNS.min(columns - first);
            if let Err(e) = apply(shared.columns_from(first), count) {
                let _ = error.set(e);
            }
        });
        error.into_inner().map_or(Ok(()), Err)
    }

    /// Reflector by reflector.
    ///
    /// # Safety
    /// As [`apply`](Self::apply).
    unsafe fn apply_one_by_one(
        &self,
        operator: Operator,
        c: MatrixMut<T>,
        columns: usize,
    ) -> Result<(), KernelError> {
        let (len, count) = (self.len, self.count);
        let mut buffer = PoolBuffer::for_elements::<T>(columns * len + 2 * len)?;
        let (rows, others) = buffer.as_mut_slice::<T>().split_at_mut(columns * len);
        let (vector, turned) = others.split_at_mut(len);
        for (j, row) in rows.chunks_exact_mut(len).enumerate() {
            for (i, x) in row.iter_mut().enumerate() {
                // SAFETY: the caller's promise.
                *x = unsafe { *c.at(i, j) };
            }
        }
        let vectors = self.vectors.as_slice::<T>();
        for step in 0..count {
            // B = H₀ H₁ … begins with the last one.
            let (k, tau, conjugate) = match operator {
                Operator::Plain => (count - 1 - step, self.taus[count - 1 - step], false),
                Operator::Conjugate => (count - 1 - step, self.taus[count - 1 - step].conj(), true),
                Operator::Adjoint => (step, self.taus[step].conj(), false),
                Operator::Transpose => (step, self.taus[step], true),
            };
            let v = &mut vector[..len - k];
            for (to, &from) in v.iter_mut().zip(&vectors[k * len + k..(k + 1) * len]) {
                *to = if conjugate { from.conj() } else { from };
            }
            apply_to_rows(v, tau, rows, len, turned);
        }
        for (j, row) in rows.chunks_exact(len).enumerate() {
            for (i, &x) in row.iter().enumerate() {
                // SAFETY: the caller's promise.
                unsafe { *c.at(i, j) = x };
            }
        }
        Ok(())
    }

    /// All reflectors by three products of matrices.
    ///
    /// # Safety
    /// As [`apply`](Self::apply).
    unsafe fn apply_at_once(
        &self,
        operator: Operator,
        c: MatrixMut<T>,
        columns: usize,
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
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

/// A matrix of which threads have different columns.
struct SharedMatrix<T>(MatrixMut<T>);

// SAFETY: what is read and written through it is what `Reflectors::apply` was promised, and no two threads have a column in common.
unsafe impl<T: Send> Sync for SharedMatrix<T> {}

impl<T> SharedMatrix<T> {
    /// The columns from one on.
    fn columns_from(&self, first: usize) -> MatrixMut<T> {
        let Self(MatrixMut {
            pointer,
            row,
            column,
        }) = *self;
        MatrixMut {
            pointer: pointer.wrapping_offset(first as isize * column),
            row,
            column,
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
pub(super) fn eliminate<T: Scalar<Real: RealScalar>>(
    columns: &mut [T],
    len: usize,
    taus: &mut [T],
    turned: &mut [T],
) {
    for (i, tau) in taus.iter_mut().enumerate() {
        let (done, rest) = columns.split_at_mut((i + 1) * len);
        let v = &mut done[i * len + i..];
        *tau = reflector(v);
        let beta = std::mem::replace(&mut v[0], T::ONE);
        apply_to_rows(v, tau.conj(), rest, len, turned);
        v[0] = beta;
    }
}

/// The products of rows, as long as a vector is, with the conjugate of that, from a place in them on.
fn along_rows<T: Scalar<Real: RealScalar>>(
    rows: &[T],
    v: &[T],
    first: usize,
    turned: &mut [T],
    products: &mut [T],
) {
    let len = v.len();
    let size = size_of::<T>() / size_of::<T::Real>();
    let place = (size * len, size * first);
    let (rows, products) = (components(rows), components_mut(products));
    if T::COMPLEX {
        for (to, &from) in turned.iter_mut().zip(v) {
            *to = times_i(from);
        }
        let vectors = [components(&v[first..]), components(&turned[first..])];
        multiply_complex(rows, place, &vectors, products);
    } else {
        multiply_real(rows, place, components(&v[first..]), products);
    }
}

/// `x -= τ v vᴴ x` for the last entries of each row of `len`. `turned` is room for as many numbers, which complex ones need.
pub(super) fn apply_to_rows<T: Scalar<Real: RealScalar>>(
    v: &[T],
    tau: T,
    rows: &mut [T],
    len: usize,
    turned: &mut [T],
) {
    if T::COMPLEX {
        // The real part of vᴴ x is a product of components, the imaginary one that with i v.
        let turned = &mut turned[..v.len()];
        for (to, &from) in turned.iter_mut().zip(v) {
            *to = times_i(from);
        }
        let [re, im] = [tau.re(), tau.im()].map(|part| T::Real::from_components(part, 0.0));
        let vectors = [components(v), components(turned)];
        apply_complex(vectors, [re, im], components_mut(rows), 2 * len);
    } else {
        let tau = T::Real::from_components(tau.re(), 0.0);
        apply_real(components(v), tau, components_mut(rows), len);
    }
}

for_each_isa! {
    fn apply_real<R: RealScalar>(v: &[R], tau: R, rows: &mut [R], len: usize) = apply_real_any with products
}

#[inline(always)]
fn apply_real_any<F: Products, R: RealScalar>(v: &[R], tau: R, rows: &mut [R], len: usize) {
    let first = len - v.len();
    let mut start = 0;
    while start + 4 * len <= rows.len() {
        let x = |k: usize| &rows[start + k * len + first..start + (k + 1) * len];
        let products = dots::<F, R, 4>([x(0), x(1), x(2), x(3)], [v; 4]);
        for k in 0..4 {
            let x = &mut rows[start + k * len + first..start + (k + 1) * len];
            subtract_multiple::<F, R>(v, tau * products[k], x);
        }
        start += 4 * len;
    }
    while start < rows.len() {
        let x = &mut rows[start + first..start + len];
        let products = dots::<F, R, 1>([&*x], [v]);
        subtract_multiple::<F, R>(v, tau * products[0], x);
        start += len;
    }
}

for_each_isa! {
    /// The components of complex numbers: the vector, and i times it; τ; the rows.
    fn apply_complex<R: RealScalar>(
        v: [&[R]; 2],
        tau: [R; 2],
        rows: &mut [R],
        len: usize,
    ) = apply_complex_any with products
}

#[inline(always)]
fn apply_complex_any<F: Products, R: RealScalar>(
    [v, turned]: [&[R]; 2],
    [re, im]: [R; 2],
    rows: &mut [R],
    len: usize,
) {
    let first = len - v.len();
    let factor = |p: R, q: R| [re * p - im * q, re * q + im * p];
    let mut start = 0;
    while start + 2 * len <= rows.len() {
        let x = |k: usize| &rows[start + k * len + first..start + (k + 1) * len];
        let [p, q, r, s] = dots::<F, R, 4>([x(0), x(0), x(1), x(1)], [v, turned, v, turned]);
        let x = &mut rows[start + first..start + len];
        subtract_multiples::<F, R>(v, turned, factor(p, q), x);
        let x = &mut rows[start + len + first..start + 2 * len];
        subtract_multiples::<F, R>(v, turned, factor(r, s), x);
        start += 2 * len;
    }
    if start < rows.len() {
        let x = &mut rows[start + first..start + len];
        let [p, q] = dots::<F, R, 2>([&*x, &*x], [v, turned]);
        subtract_multiples::<F, R>(v, turned, factor(p, q), x);
    }
}

/// `x -= factor v`.
#[inline(always)]
fn subtract_multiple<F: Products, R: RealScalar>(v: &[R], factor: R, x: &mut [R]) {
    let x = &mut x[..v.len()];
    for i in 0..v.len() {
        x[i] = F::minus(x[i], factor, v[i]);
    }
}

/// `x -= re v + im w`.
#[inline(always)]
fn subtract_multiples<F: Products, R: RealScalar>(v: &[R], w: &[R], [re, im]: [R; 2], x: &mut [R]) {
    let (x, w) = (&mut x[..v.len()], &w[..v.len()]);
    for i in 0..v.len() {
        x[i] = F::minus(F::minus(x[i], re, v[i]), im, w[i]);
    }
}
