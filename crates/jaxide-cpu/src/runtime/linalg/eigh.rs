//! Eigenvalues and eigenvectors of Hermitian matrices.
//!
//! The matrix is reduced to a real tridiagonal one by reflectors ([`tridiagonal`](super::tridiagonal)).
//! Large ones are divided ([`divide`](super::divide)); the eigenvalues of small ones are found by implicit
//! QL steps (G. H. Golub and C. F. Van Loan, *Matrix Computations*, §8.3; the recurrence is that of
//! EISPACK's `tql2`) in double precision. The rotations of the steps and then the reflectors are applied
//! to the eigenvectors in bulk.

use super::divide::divide_tridiagonal;
use super::for_matrices;
use super::householder::{BLOCK, Operator, Reflectors};
use super::jacobi::{self, eigh_lanes};
use super::phases::{column_phases, larger_by, turn_columns};
use super::rotations::{Sweeps, rotation};
use super::scalar::{RealScalar, Scalar, is_single};
use super::side_by_side::{LANES, for_all};
use super::tridiagonal::{Condensed, reduce};
use crate::runtime::matmul::MatrixMut;
use crate::runtime::shared::SharedSlice;
use crate::runtime::{Buffers, Context, Kernel, KernelError, PoolBuffer, Signature};

/// The kernel of `eigh` on a batch of Hermitian `n × n` matrices, of which one triangle is read:
/// orthonormal eigenvectors in columns, and the eigenvalues in ascending order, which are real.
///
/// The (first) entry of largest modulus of each eigenvector is real and positive. A matrix that is
/// not finite gives NaN.
pub struct Eigh<T> {
    batch: usize,
    n: usize,
    lower: bool,
    element: std::marker::PhantomData<fn() -> T>,
}

impl<T: Scalar<Real: RealScalar>> Eigh<T> {
    /// Eigenvalues of `n × n` matrices, from the lower triangle or the upper one.
    pub fn new(batch: usize, n: usize, lower: bool) -> Self {
        Self {
            batch,
            n,
            lower,
            element: std::marker::PhantomData,
        }
    }
}

impl<T: Scalar<Real: RealScalar>> Kernel for Eigh<T> {
    fn signature(&self) -> Signature {
        let a = (self.batch * self.n * self.n, size_of::<T>());
        Signature::of(&[a], &[a, (self.batch * self.n, size_of::<T::Real>())])
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let n = self.n;
        if n == 0 {
            return Ok(());
        }
        let a = buffers.input::<T>(0);
        let (vectors, values) = (
            SharedSlice::new(buffers.output::<T>(0)),
            SharedSlice::new(buffers.output::<T::Real>(1)),
        );
        let one = |index: usize, v: &mut [T], w: &mut [T::Real]| {
            let a = &a[index * n * n..(index + 1) * n * n];
            let done = if n == 2 {
                decompose_pair(a, self.lower, v, w)
            } else {
                decompose(a, n, self.lower, v, w, context)?
            };
            if !done {
                v.fill(T::NAN);
                w.fill(T::Real::NAN);
            }
            Ok(())
        };
        if jacobi::pays::<T>(self.batch, n, n) {
            let entries = jacobi::eigh_entries(n);
            return for_all(
                self.batch,
                entries,
                12 * n * n * n,
                context,
                |which, lanes| {
                    let range = |size: usize| which.start * size..which.end * size;
                    // SAFETY: matrices of the batch are disjoint, and so are their values.
                    let (v, w) = unsafe { (vectors.range(range(n * n)), values.range(range(n))) };
                    let mut undone = [false; LANES];
                    let results = (&mut *v, bytemuck::cast_slice_mut(w));
                    eigh_lanes(&a[range(n * n)], n, self.lower, results, &mut undone, lanes);
                    for (lane, index) in which.enumerate().filter(|&(lane, _)| undone[lane]) {
                        let (v, w) = (&mut v[lane * n * n..], &mut w[lane * n..]);
                        one(index, &mut v[..n * n], &mut w[..n])?;
                    }
                    Ok(())
                },
            );
        }
        for_matrices(self.batch, 10 * n * n * n, context, |index| {
            // SAFETY: matrices of the batch are disjoint, and so are their values.
            let (v, w) = unsafe {
                (
                    vectors.range(index * n * n..(index + 1) * n * n),
                    values.range(index * n..(index + 1) * n),
                )
            };
            one(index, v, w)
        })
    }
}

/// Computes both results of a matrix of two rows by one rotation (Golub and Van Loan, §8.5.2); false if it is not finite.
fn decompose_pair<T: Scalar<Real: RealScalar>>(
    a: &[T],
    lower: bool,
    vectors: &mut [T],
    values: &mut [T::Real],
) -> bool {
    let below = if lower { a[2] } else { a[1].conj() };
    let largest = (a[0].re().abs()).max(a[3].re().abs()).max(below.abs1());
    if ![a[0].re(), a[3].re(), below.abs1()]
        .iter()
        .all(|x| x.is_finite())
    {
        return false;
    }
    let scale = scaling::<T>(largest);
    let [p, q, re, im] = [a[0].re(), a[3].re(), below.re(), below.im()].map(|x| x / scale);
    let modulus = re.hypot(im);
    // The tangent of the smaller angle, and the phase that makes the matrix a real one.
    let (tangent, phase) = if modulus == 0.0 {
        (0.0, (1.0, 0.0))
    } else {
        let half = (q - p) / 2.0;
        let side = half.hypot(modulus);
        (
            modulus / (half + side.copysign(half)),
            (re / modulus, im / modulus),
        )
    };
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    let sine = tangent * cosine;
    let found = [p - tangent * modulus, q + tangent * modulus];
    let (re, im) = phase;
    // The larger entry of each is positive; of entries as large as each other, the first.
    let turned = |x: f64, im: f64| T::from_components(x * re, im);
    let first = [T::from_components(cosine, 0.0), turned(-sine, -sine * im)];
    let second = if cosine * cosine > sine * sine * larger_by::<T>() {
        [turned(sine, -sine * im), T::from_components(cosine, 0.0)]
    } else {
        [
            T::from_components(sine.abs(), 0.0),
            turned(cosine.copysign(sine), cosine.copysign(sine) * im),
        ]
    };
    let columns = if found[0] <= found[1] { [0, 1] } else { [1, 0] };
    for (column, (vector, value)) in columns
        .into_iter()
        .zip([first, second].into_iter().zip(found))
    {
        values[column] = T::Real::from_components(value * scale, 0.0);
        for (row, entry) in vector.into_iter().enumerate() {
            vectors[row * 2 + column] = entry;
        }
    }
    true
}

/// Computes both results; false if the matrix is not finite or the iteration does not converge.
fn decompose<T: Scalar<Real: RealScalar>>(
    a: &[T],
    n: usize,
    lower: bool,
    vectors: &mut [T],
    values: &mut [T::Real],
    context: &Context<'_>,
) -> Result<bool, KernelError> {
    // The whole matrix, scaled so that nothing overflows.
    let mut matrix = PoolBuffer::for_elements::<T>(n * n)?;
    let h = matrix.as_mut_slice::<T>();
    let mut largest: f64 = 0.0;
    for i in 0..n {
        for j in 0..=i {
            let entry = if lower {
                a[i * n + j]
            } else {
                a[j * n + i].conj()
            };
            let entry = if i == j {
                T::from_components(entry.re(), 0.0)
            } else {
                entry
            };
            if !entry.abs1().is_finite() {
                return Ok(false);
            }
            largest = largest.max(entry.abs1());
            (h[i * n + j], h[j * n + i]) = (entry, entry.conj());
        }
    }
    let scale = scaling::<T>(largest);
    if scale != 1.0 {
        let factor = T::from_components(1.0 / scale, 0.0);
        h.iter_mut().for_each(|x| *x = *x * factor);
    }
    let mut reflectors = PoolBuffer::for_elements::<T>(n * n)?;
    let reflectors = reflectors.as_mut_slice::<T>();
    let mut taus = vec![T::ZERO; n];
    let (mut d, mut e) = (vec![0.0; n], vec![0.0; n]);
    let condensed = Condensed {
        reflectors: &mut *reflectors,
        taus: &mut taus,
        d: &mut d,
        e: &mut e,
    };
    reduce(h, n, condensed, context)?;
    // Eigenvectors of the tridiagonal matrix, in rows.
    let mut rows = PoolBuffer::for_elements::<T::Real>(n * n)?;
    let rows = rows.as_mut_slice::<T::Real>();
    if !eigenvectors(&mut d, &mut e, rows, context)? {
        return Ok(false);
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| d[i].total_cmp(&d[j]));
    for (j, &from) in order.iter().enumerate() {
        values[j] = T::Real::from_components(d[from] * scale, 0.0);
        for i in 0..n {
            vectors[i * n + j] = T::from_components(rows[from * n + i].re(), 0.0);
        }
    }
    for start in (0..n - 1).step_by(BLOCK).rev() {
        // Reflector k begins at entry k + 1.
        let (len, count) = (n - 1 - start, BLOCK.min(n - 1 - start));
        let mut packed = PoolBuffer::for_elements::<T>(count * len)?;
        for (k, to) in packed.as_mut_slice::<T>().chunks_exact_mut(len).enumerate() {
            to.copy_from_slice(&reflectors[(start + k) * n + start + 1..(start + k + 1) * n]);
        }
        let block = Reflectors::new(packed.as_slice(), len, &taus[start..start + count])?;
        let rest = MatrixMut {
            pointer: vectors[(start + 1) * n..].as_mut_ptr(),
            row: n as isize,
            column: 1,
        };
        // SAFETY: the rows from `start + 1` on, all columns.
        unsafe { block.apply(Operator::Plain, rest, n, context)? };
    }
    let phases = column_phases(vectors, n, n);
    turn_columns(vectors, n, &phases);
    Ok(true)
}

/// Turns a symmetric tridiagonal matrix into its eigenvalues, in `d`, and fills `rows` with its
/// eigenvectors; false if an eigenvalue does not converge.
fn eigenvectors<R: RealScalar>(
    d: &mut [f64],
    e: &mut [f64],
    rows: &mut [R],
    context: &Context<'_>,
) -> Result<bool, KernelError> {
    let n = d.len();
    if n > DIVIDED {
        let before = d.to_vec();
        if divide_tridiagonal(d, e, rows, context)? {
            return Ok(true);
        }
        d.copy_from_slice(&before);
    }
    rows.fill(R::ZERO);
    (0..n).for_each(|i| rows[i * n + i] = R::ONE);
    iterate(d, e, rows, context)
}

/// What a matrix is to be divided by, so that squares of its entries neither overflow nor vanish: a power of two.
pub(super) fn scaling<T: Scalar<Real: RealScalar>>(largest: f64) -> f64 {
    let power = |exponent: i32| f64::from_bits(((1023 + exponent) as u64) << 52);
    let (range, least) = if is_single::<T>() {
        (power(-27)..power(27), power(-100))
    } else {
        (power(-230)..power(230), power(-1000))
    };
    if largest == 0.0 || range.contains(&largest) {
        1.0
    } else {
        f64::from_bits(largest.max(least).to_bits() & 0x7ff0_0000_0000_0000)
    }
}

/// Matrices of more rows are divided.
const DIVIDED: usize = 48;

/// What joins the parts of a matrix is nothing below this: the matrix is scaled, so that it is beyond its precision, and its square would
/// vanish.
const VANISHING: f64 = 1e-150;

/// QL steps for each eigenvalue before the matrix is given up.
const MAX_STEPS: usize = 80;

/// Turns a symmetric tridiagonal matrix into its eigenvalues, in `d`, and the unit matrix in `rows`
/// into its eigenvectors; false if an eigenvalue does not converge.
pub(super) fn iterate<R: RealScalar>(
    d: &mut [f64],
    e: &mut [f64],
    rows: &mut [R],
    context: &Context<'_>,
) -> Result<bool, KernelError> {
    let n = d.len();
    // Beyond the precision of the vectors there is nothing to gain.
    let precision = if is_single::<R>() { 1e-9 } else { f64::EPSILON };
    let mut sweeps = Sweeps::new();
    for l in 0..n {
        let mut steps = 0;
        loop {
            let small =
                |m: usize| e[m].abs() <= (precision * (d[m].abs() + d[m + 1].abs())).max(VANISHING);
            let m = (l..n - 1).find(|&m| small(m)).unwrap_or(n - 1);
            if m == l {
                break;
            }
            steps += 1;
            if steps > MAX_STEPS {
                return Ok(false);
            }
            // The eigenvalue of the leading 2 × 2 block that is nearer to d[l].
            let ratio = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let root = ratio.hypot(1.0).copysign(ratio);
            let mut g = d[m] - d[l] + e[l] / (ratio + root);
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            sweeps.begin(m - 1, false);
            let mut split = false;
            for i in (l..m).rev() {
                let (f, b) = (s * e[i], c * e[i]);
                let (cosine, sine, r) = rotation(g, f);
                e[i + 1] = r;
                if r == 0.0 {
                    // The matrix falls apart; the rest of the step is void.
                    d[i + 1] -= p;
                    e[m] = 0.0;
                    split = true;
                    break;
                }
                (s, c) = (sine, cosine);
                g = d[i + 1] - p;
                let t = (d[i] - g) * s + 2.0 * c * b;
                p = s * t;
                d[i + 1] = g + p;
                g = c * t - b;
                sweeps.push(c, -s);
            }
            if !split {
                d[l] -= p;
                e[l] = g;
                e[m] = 0.0;
            }
            if sweeps.is_full(n) {
                sweeps.apply(rows, n, context)?;
            }
        }
    }
    sweeps.apply(rows, n, context)?;
    Ok(true)
}
