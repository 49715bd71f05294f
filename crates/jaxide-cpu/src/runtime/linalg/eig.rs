//! Eigenvalues and eigenvectors of general matrices, from their Schur forms.
//!
//! The meaning is that of [`jaxide_core::eval::numerics::linalg::eig`]. The eigenvectors of the
//! triangular matrix are found one by one, and are multiplied by the unitary factor together.

use std::marker::PhantomData;

use bytemuck::Pod;
use jaxide_core::eval::numerics::linalg::{self as reference, Entry};
use num_complex::Complex;

use super::for_matrices;
use super::scalar::Scalar;
use super::schur::{Iterate, decompose};
use crate::runtime::matmul::{Matrix, MatrixMut, product};
use crate::runtime::shared::SharedSlice;
use crate::runtime::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature};

type C128 = Complex<f64>;

/// The kernel of `eig` on a batch of `n × n` matrices: eigenvalues, and the left and the right
/// eigenvectors in columns as asked for; all complex.
///
/// Conjugate pairs of eigenvalues of a real matrix stand together, the one with the positive imaginary
/// part first. Eigenvectors have norm 1, and their (first) entry of largest modulus is real and
/// positive. A matrix that is not finite gives NaN.
pub struct Eig<T> {
    batch: usize,
    n: usize,
    left: bool,
    right: bool,
    element: PhantomData<fn() -> T>,
}

impl<T: Scalar<Wide: Iterate>> Eig<T>
where
    Complex<T::Real>: Entry<Wide = C128> + Pod,
{
    /// Eigenvalues of `n × n` matrices.
    pub fn new(batch: usize, n: usize, left: bool, right: bool) -> Self {
        Self {
            batch,
            n,
            left,
            right,
            element: PhantomData,
        }
    }
}

impl<T: Scalar<Wide: Iterate>> Kernel for Eig<T>
where
    Complex<T::Real>: Entry<Wide = C128> + Pod,
{
    fn signature(&self) -> Signature {
        let (batch, n, size) = (self.batch, self.n, size_of::<Complex<T::Real>>());
        let mut outputs = vec![(batch * n, size)];
        let vectors = usize::from(self.left) + usize::from(self.right);
        outputs.extend(vec![(batch * n * n, size); vectors]);
        Signature::of(&[(batch * n * n, size_of::<T>())], &outputs)
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let n = self.n;
        if n == 0 {
            return Ok(());
        }
        let a = buffers.input::<T>(0);
        let values = SharedSlice::new(buffers.output::<Complex<T::Real>>(0));
        let mut sides = Vec::new();
        for side in [
            self.left.then_some(Side::Left),
            self.right.then_some(Side::Right),
        ] {
            if let Some(side) = side {
                let output = buffers.output::<Complex<T::Real>>(1 + sides.len());
                sides.push((side, SharedSlice::new(output)));
            }
        }
        for_matrices(self.batch, 20 * n * n * n, context, |index| {
            let whole = index * n * n..(index + 1) * n * n;
            // SAFETY: values of different matrices are disjoint.
            let values = unsafe { values.range(index * n..(index + 1) * n) };
            let found = decompose(&a[whole.clone()], n, !sides.is_empty())?;
            let Some(found) = found else {
                let nan = Complex::<T::Real>::round_from(C128::new(f64::NAN, f64::NAN));
                values.fill(nan);
                for (_, vectors) in &sides {
                    // SAFETY: vectors of different matrices are disjoint.
                    unsafe { vectors.range(whole.clone()) }.fill(nan);
                }
                return Ok(());
            };
            let wide = |x: T::Wide| C128::new(Scalar::re(x), Scalar::im(x));
            let mut buffer = PoolBuffer::for_elements::<C128>(5 * n * n)?;
            let (t, rest) = buffer.as_mut_slice::<C128>().split_at_mut(n * n);
            let (z, rest) = rest.split_at_mut(n * n);
            for (to, &x) in t.iter_mut().zip(found.form()) {
                *to = wide(x);
            }
            for (to, &x) in z.iter_mut().zip(found.vectors()) {
                *to = wide(x);
            }
            let found = eigenvalues(t, z, n);
            for (to, &x) in values.iter_mut().zip(&found) {
                *to = Entry::round_from(x);
            }
            for (side, vectors) in &sides {
                // SAFETY: vectors of different matrices are disjoint.
                let vectors = unsafe { vectors.range(whole.clone()) };
                let real = !T::COMPLEX;
                side.vectors(t, z, &found, real, rest, context)?;
                let rows = &rest[n * n..2 * n * n];
                for (i, row) in vectors.chunks_exact_mut(n).enumerate() {
                    for (j, to) in row.iter_mut().enumerate() {
                        *to = Entry::round_from(rows[j * n + i]);
                    }
                }
            }
            Ok(())
        })
    }
}

/// The eigenvalues of a Schur form, which is made triangular if it is a real one; the rows of `z` are
/// the columns of the unitary factor.
fn eigenvalues(t: &mut [C128], z: &mut [C128], n: usize) -> Vec<C128> {
    let mut values = Vec::with_capacity(n);
    while values.len() < n {
        let k = values.len();
        if k + 1 < n && t[(k + 1) * n + k] != C128::default() {
            let product = t[k * n + k + 1].norm().sqrt() * t[(k + 1) * n + k].norm().sqrt();
            let value = C128::new(t[k * n + k].re, product);
            triangularise(t, z, n, k, value);
            values.extend([value, value.conj()]);
        } else {
            values.push(t[k * n + k]);
        }
    }
    values
}

/// Makes the 2 × 2 block at k, of which `value` is an eigenvalue, upper triangular with that
/// eigenvalue first.
fn triangularise(t: &mut [C128], z: &mut [C128], n: usize, k: usize, value: C128) {
    // The block's eigenvector (value - d, c), as the first column of a rotation.
    let (x, y) = (value - t[(k + 1) * n + k + 1], t[(k + 1) * n + k]);
    let length = x.norm().hypot(y.norm());
    let phase = if x == C128::default() {
        C128::from(1.0)
    } else {
        x / x.norm()
    };
    let (c, s) = (x.norm() / length, y / phase / length);
    let rotated = |x: C128, y: C128, s: C128| (x * c + s * y, y * c - s.conj() * x);
    for row in t[..(k + 2) * n].chunks_exact_mut(n) {
        (row[k], row[k + 1]) = rotated(row[k], row[k + 1], s);
    }
    let rotate_rows = |rows: &mut [C128], from: usize, s: C128| {
        let (first, second) = rows.split_at_mut(n);
        for (x, y) in first[from..].iter_mut().zip(&mut second[from..]) {
            (*x, *y) = rotated(*x, *y, s);
        }
    };
    rotate_rows(&mut t[k * n..(k + 2) * n], k, s.conj());
    if !z.is_empty() {
        rotate_rows(&mut z[k * n..(k + 2) * n], 0, s);
    }
    t[(k + 1) * n + k] = C128::default();
    t[k * n + k] = value;
    t[(k + 1) * n + k + 1] = value.conj();
}

/// Which eigenvectors are found.
#[derive(Clone, Copy)]
enum Side {
    /// uᴴ A = λ uᴴ.
    Left,
    /// A v = λ v.
    Right,
}

impl Side {
    /// The eigenvectors of a matrix of this Schur form go into the rows of the second of three matrices
    /// of working memory.
    fn vectors(
        self,
        t: &[C128],
        z: &[C128],
        values: &[C128],
        real: bool,
        work: &mut [C128],
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
        let n = values.len();
        let (in_basis, rest) = work.split_at_mut(n * n);
        let (found, adjoint) = rest.split_at_mut(n * n);
        in_basis.fill(C128::default());
        // What two eigenvalues differ by at least, to rounding of the matrix. (The eigenvalues
        // themselves may all be zero where it is not.)
        let largest = t.iter().map(|x| x.l1_norm());
        let smallest = f64::EPSILON * largest.fold(f64::MIN_POSITIVE, f64::max);
        let second_of_pair = |value: C128| real && value.im < 0.0;
        if matches!(self, Side::Left) {
            for (i, row) in t.chunks_exact(n).enumerate() {
                for (j, x) in row.iter().enumerate() {
                    adjoint[j * n + i] = x.conj();
                }
            }
        }
        for (k, (x, &value)) in in_basis.chunks_exact_mut(n).zip(values).enumerate() {
            if second_of_pair(value) {
                continue;
            }
            x[k] = C128::from(1.0);
            match self {
                Side::Left => {
                    for i in k + 1..n {
                        let rest = dot(&adjoint[i * n + k..i * n + i], &x[k..i]);
                        let difference = adjoint[i * n + i] - value.conj();
                        x[i] = quotient(-rest, pivot(difference, smallest));
                        keep_in_range(x, i);
                    }
                }
                Side::Right => {
                    for i in (0..k).rev() {
                        let rest = dot(&t[i * n + i + 1..i * n + k + 1], &x[i + 1..k + 1]);
                        x[i] = quotient(-rest, pivot(t[i * n + i] - value, smallest));
                        keep_in_range(x, i);
                    }
                }
            }
        }
        let dense = |pointer: *const C128| Matrix {
            pointer,
            row: n as isize,
            column: 1,
        };
        let to = MatrixMut {
            pointer: found.as_mut_ptr(),
            row: n as isize,
            column: 1,
        };
        // SAFETY: dense matrices of n rows and columns, of which the result is another than the
        // operands.
        unsafe {
            product(
                (n, n, n),
                dense(in_basis.as_ptr()),
                dense(z.as_ptr()),
                to,
                context,
            )?;
        }
        for (k, &value) in values.iter().enumerate() {
            if second_of_pair(value) {
                let (before, row) = found.split_at_mut(k * n);
                for (to, x) in row[..n].iter_mut().zip(&before[(k - 1) * n..]) {
                    *to = x.conj();
                }
            } else {
                normalise(&mut found[k * n..(k + 1) * n], real && value.im == 0.0);
            }
        }
        Ok(())
    }
}

/// Σ aᵢ bᵢ, in four sums.
fn dot(a: &[C128], b: &[C128]) -> C128 {
    let mut sums = [C128::default(); 4];
    let (a_chunks, a_rest) = a.as_chunks::<4>();
    let (b_chunks, b_rest) = b.as_chunks::<4>();
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(a, b)| a * b);
    rest.fold(sums[0] + sums[1] + (sums[2] + sums[3]), |sum, x| sum + x)
}

fn quotient(x: C128, y: C128) -> C128 {
    reference::Field::over(x, y)
}

/// A difference of eigenvalues, kept away from zero for multiple ones.
fn pivot(difference: C128, smallest: f64) -> C128 {
    if difference.l1_norm() < smallest {
        smallest.into()
    } else {
        difference
    }
}

/// Defective matrices make the entries grow by 1/ε at every step; the last one is xᵢ.
fn keep_in_range(x: &mut [C128], i: usize) {
    if x[i].l1_norm() > 1e100 {
        let factor = 1.0 / norm(x);
        x.iter_mut().for_each(|x| *x *= factor);
    }
}

/// The Euclidean norm, without overflow.
fn norm(x: &[C128]) -> f64 {
    let largest = x.iter().map(|x| x.l1_norm()).fold(0.0, f64::max);
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let square = |x: &C128| (x / largest).norm_sqr();
    largest * x.iter().map(square).sum::<f64>().sqrt()
}

/// Gives a vector norm 1, and its (first) entry of largest modulus the phase of a positive number.
fn normalise(x: &mut [C128], drop_imaginary: bool) {
    let mut largest = C128::default();
    let mut modulus = 0.0;
    let factor = 1.0 / norm(x);
    for x in &mut *x {
        *x *= factor;
        let own = x.norm_sqr();
        if own > modulus * (1.0 + 2e-12) {
            (largest, modulus) = (*x, own);
        }
    }
    if modulus > 0.0 {
        let turn = largest.conj() / modulus.sqrt();
        x.iter_mut().for_each(|x| *x *= turn);
    }
    if drop_imaginary {
        x.iter_mut().for_each(|x| x.im = 0.0);
    }
    let factor = 1.0 / norm(x);
    x.iter_mut().for_each(|x| *x *= factor);
}
