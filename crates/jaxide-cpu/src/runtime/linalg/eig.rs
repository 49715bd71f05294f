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
        let wanted = [
            self.left.then_some(Side::Left),
            self.right.then_some(Side::Right),
        ];
        for side in wanted.into_iter().flatten() {
            let output = buffers.output::<Complex<T::Real>>(1 + sides.len());
            sides.push((side, SharedSlice::new(output)));
        }
        for_matrices(self.batch, 20 * n * n * n, context, |index| {
            let whole = index * n * n..(index + 1) * n * n;
            // SAFETY: values of different matrices are disjoint.
            let values = unsafe { values.range(index * n..(index + 1) * n) };
            let found = decompose(&a[whole.clone()], n, !sides.is_empty(), context)?;
            let Some(found) = found else {
                let nan = Complex::<T::Real>::round_from(C128::new(f64::NAN, f64::NAN));
                values.fill(nan);
                for (_, vectors) in &sides {
                    // SAFETY: vectors of different matrices are disjoint.
                    unsafe { vectors.range(whole.clone()) }.fill(nan);
                }
                return Ok(());
            };
            let mut buffer = PoolBuffer::for_elements::<C128>(2 * n * n)?;
            let (t, work) = buffer.as_mut_slice::<C128>().split_at_mut(n * n);
            for (to, &x) in t.iter_mut().zip(found.form()) {
                *to = wide(x);
            }
            let form = Triangular::new(t, n);
            for (to, &x) in values.iter_mut().zip(&form.values) {
                *to = Entry::round_from(x);
            }
            for (side, vectors) in &sides {
                // SAFETY: vectors of different matrices are disjoint.
                let vectors = unsafe { vectors.range(whole.clone()) };
                let store = |k: usize, vector: &[C128]| {
                    for (i, &x) in vector.iter().enumerate() {
                        vectors[i * n + k] = Entry::round_from(x);
                    }
                };
                form.vectors(*side, found.vectors(), work, store, context)?;
            }
            Ok(())
        })
    }
}

fn wide<T: Scalar>(x: T) -> C128 {
    C128::new(x.re(), x.im())
}

/// A Schur form that was made triangular.
struct Triangular<'a> {
    t: &'a [C128],
    values: Vec<C128>,
    /// What a real form was multiplied by for that, as cosines and sines of columns k and k + 1.
    rotations: Vec<(usize, f64, C128)>,
}

impl<'a> Triangular<'a> {
    fn new(t: &'a mut [C128], n: usize) -> Self {
        let (mut values, mut rotations) = (Vec::with_capacity(n), Vec::new());
        while values.len() < n {
            let k = values.len();
            if k + 1 < n && t[(k + 1) * n + k] != C128::default() {
                let product = t[k * n + k + 1].norm().sqrt() * t[(k + 1) * n + k].norm().sqrt();
                let value = C128::new(t[k * n + k].re, product);
                rotations.push(triangularise(t, n, k, value));
                values.extend([value, value.conj()]);
            } else {
                values.push(t[k * n + k]);
            }
        }
        Self {
            t,
            values,
            rotations,
        }
    }

    /// Gives `store` all eigenvectors of a matrix of this Schur form, whose unitary factor has these columns.
    fn vectors<F: Scalar>(
        &self,
        side: Side,
        unitary: &[F],
        work: &mut [C128],
        mut store: impl FnMut(usize, &[C128]),
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
        let n = self.values.len();
        let mut buffer = PoolBuffer::for_elements::<F>(2 * n * n)?;
        let (in_basis, found) = buffer.as_mut_slice::<F>().split_at_mut(n * n);
        // In the basis of a real factor the two vectors of a pair have the same real parts and, up to the sign, the
        // same imaginary ones: these stand in the place of the second vector.
        let second_of_pair = |value: C128| !F::COMPLEX && value.im < 0.0;
        if matches!(side, Side::Left) {
            for (i, row) in self.t.chunks_exact(n).enumerate() {
                for (j, x) in row.iter().enumerate() {
                    work[j * n + i] = x.conj();
                }
            }
        }
        let mut x = vec![C128::default(); n];
        let smallest = self.smallest_difference();
        for (k, &value) in self.values.iter().enumerate() {
            if second_of_pair(value) {
                for (to, x) in in_basis[k * n..(k + 1) * n].iter_mut().zip(&x) {
                    *to = F::from_components(x.im, 0.0);
                }
                continue;
            }
            match side {
                Side::Left => forward_vector(work, (k, value.conj()), smallest, &mut x),
                Side::Right => backward_vector(self.t, (k, value), smallest, &mut x),
            }
            for &(k, c, s) in &self.rotations {
                (x[k], x[k + 1]) = (x[k] * c - s.conj() * x[k + 1], s * x[k] + x[k + 1] * c);
            }
            for (to, x) in in_basis[k * n..(k + 1) * n].iter_mut().zip(&x) {
                *to = F::from_components(x.re, x.im);
            }
        }
        let dense = |from: &[F]| Matrix {
            pointer: from.as_ptr(),
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
            product((n, n, n), dense(in_basis), dense(unitary), to, context)?;
        }
        for (k, &value) in self.values.iter().enumerate() {
            if second_of_pair(value) {
                x.iter_mut().for_each(|x| *x = x.conj());
            } else {
                let pair = !F::COMPLEX && value.im != 0.0;
                for (i, to) in x.iter_mut().enumerate() {
                    *to = wide(found[k * n + i]);
                    if pair {
                        to.im = found[(k + 1) * n + i].re();
                    }
                }
                normalise(&mut x, !F::COMPLEX && value.im == 0.0);
            }
            store(k, &x);
        }
        Ok(())
    }

    /// What two eigenvalues differ by at least, to rounding of the matrix. (The eigenvalues themselves may
    /// all be zero where it is not.)
    fn smallest_difference(&self) -> f64 {
        let largest = self.t.iter().map(|x| x.l1_norm());
        f64::EPSILON * largest.fold(f64::MIN_POSITIVE, f64::max)
    }
}

/// Makes the 2 × 2 block at k, of which `value` is an eigenvalue, upper triangular with that
/// eigenvalue first, by a rotation, which is returned.
fn triangularise(t: &mut [C128], n: usize, k: usize, value: C128) -> (usize, f64, C128) {
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
    let (first, second) = t[k * n..(k + 2) * n].split_at_mut(n);
    for (x, y) in first[k..].iter_mut().zip(&mut second[k..]) {
        (*x, *y) = rotated(*x, *y, s.conj());
    }
    t[(k + 1) * n + k] = C128::default();
    t[k * n + k] = value;
    t[(k + 1) * n + k + 1] = value.conj();
    (k, c, s)
}

/// Which eigenvectors are found.
#[derive(Clone, Copy)]
enum Side {
    /// uᴴ A = λ uᴴ.
    Left,
    /// A v = λ v.
    Right,
}

/// The eigenvector of the k-th eigenvalue of an upper triangular matrix.
fn backward_vector(t: &[C128], (k, value): (usize, C128), smallest: f64, x: &mut [C128]) {
    let n = x.len();
    x.fill(C128::default());
    x[k] = C128::from(1.0);
    for i in (0..k).rev() {
        let rest = dot(&t[i * n + i + 1..i * n + k + 1], &x[i + 1..k + 1]);
        x[i] = quotient(-rest, pivot(t[i * n + i] - value, smallest));
        keep_in_range(x, i);
    }
}

/// The eigenvector of the k-th eigenvalue of a lower triangular matrix.
fn forward_vector(t: &[C128], (k, value): (usize, C128), smallest: f64, x: &mut [C128]) {
    let n = x.len();
    x.fill(C128::default());
    x[k] = C128::from(1.0);
    for i in k + 1..n {
        let rest = dot(&t[i * n + k..i * n + i], &x[k..i]);
        x[i] = quotient(-rest, pivot(t[i * n + i] - value, smallest));
        keep_in_range(x, i);
    }
}

/// Σ aᵢ bᵢ, in four sums.
fn dot(a: &[C128], b: &[C128]) -> C128 {
    const LANES: usize = 4;
    let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
    let full = a.len() / LANES * LANES;
    for at in (0..full).step_by(LANES) {
        let (a, b) = (&a[at..at + LANES], &b[at..at + LANES]);
        for lane in 0..LANES {
            re[lane] += a[lane].re * b[lane].re - a[lane].im * b[lane].im;
            im[lane] += a[lane].re * b[lane].im + a[lane].im * b[lane].re;
        }
    }
    let (mut all_re, mut all_im) = (
        (re[0] + re[1]) + (re[2] + re[3]),
        (im[0] + im[1]) + (im[2] + im[3]),
    );
    for i in full..a.len() {
        all_re += a[i].re * b[i].re - a[i].im * b[i].im;
        all_im += a[i].re * b[i].im + a[i].im * b[i].re;
    }
    C128::new(all_re, all_im)
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
