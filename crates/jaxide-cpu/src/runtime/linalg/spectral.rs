//! Updates of factors, permutations, QR with pivots and small solves: batches of single matrices for the functions of
//! [`jaxide_core::eval::numerics::linalg`], which say what each of them computes and in which form.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use jaxide_core::eval::numerics::linalg::{self as reference, Entry};
use num_complex::Complex;

use super::scalar::{RealScalar, Scalar, is_single, reciprocal};
use super::{for_matrices, tridiagonal_lanes};
use crate::runtime::shared::SharedSlice;
use crate::runtime::{Buffers, Context, Kernel, KernelError, Signature};

/// A function of single matrices, repeated over a batch.
struct PerMatrix<F> {
    batch: usize,
    /// Bytes of one matrix's operands.
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// Multiply-adds for one matrix, roughly.
    work: usize,
    function: F,
}

impl<F: Fn(&[&[u8]], &mut [&mut [u8]]) + Send + Sync> Kernel for PerMatrix<F> {
    fn signature(&self) -> Signature {
        let all = |bytes: &[usize]| bytes.iter().map(|bytes| bytes * self.batch).collect();
        Signature {
            inputs: all(&self.inputs),
            outputs: all(&self.outputs),
        }
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let inputs: Vec<&[u8]> = (0..self.inputs.len()).map(|i| buffers.input(i)).collect();
        let outputs: Vec<_> = (0..self.outputs.len())
            .map(|i| SharedSlice::new(buffers.output::<u8>(i)))
            .collect();
        for_matrices(self.batch, self.work, context, |index| {
            let range = |bytes: usize| index * bytes..(index + 1) * bytes;
            let matrices: Vec<&[u8]> = inputs
                .iter()
                .zip(&self.inputs)
                .map(|(input, &bytes)| &input[range(bytes)])
                .collect();
            let mut results: Vec<&mut [u8]> = outputs
                .iter()
                .zip(&self.outputs)
                // SAFETY: results of different matrices are disjoint.
                .map(|(output, &bytes)| unsafe { output.range(range(bytes)) })
                .collect();
            (self.function)(&matrices, &mut results);
            Ok(())
        })
    }
}

/// Bytes of this many elements.
fn bytes<T>(count: usize) -> usize {
    count * size_of::<T>()
}

fn store<T: Pod>(to: &mut [u8], from: &[T]) {
    cast_slice_mut(to).copy_from_slice(from);
}

/// The kernel of `cholesky_update`: R with `Rᵀ R + w wᵀ` in place of `Rᵀ R`, from R (`n × n`) and
/// w.
pub fn cholesky_update<T: Scalar + Entry<Wide = f64>>(
    batch: usize,
    n: usize,
) -> impl Kernel + use<T> {
    PerMatrix {
        batch,
        inputs: vec![bytes::<T>(n * n), bytes::<T>(n)],
        outputs: vec![bytes::<T>(n * n)],
        work: n * n,
        function: move |inputs: &[&[u8]], outputs: &mut [&mut [u8]]| {
            store::<T>(
                outputs[0],
                &reference::cholesky_update(cast_slice(inputs[0]), n, cast_slice(inputs[1])),
            );
        },
    }
}

/// The kernel of `lu_pivots_to_permutation`: from `pivots` exchanges the order of `size` rows,
/// `i32`.
pub fn lu_pivots_to_permutation(batch: usize, pivots: usize, size: usize) -> impl Kernel {
    PerMatrix {
        batch,
        inputs: vec![bytes::<i32>(pivots)],
        outputs: vec![bytes::<i32>(size)],
        work: pivots + size,
        function: move |inputs: &[&[u8]], outputs: &mut [&mut [u8]]| {
            store(
                outputs[0],
                &reference::lu_pivots_to_permutation(cast_slice(inputs[0]), size),
            );
        },
    }
}

/// The kernel of `geqp3`: packed factors, pivots and τ, from a matrix (`m × n`) and pivots (`i32`).
pub fn geqp3<T: Scalar>(batch: usize, m: usize, n: usize) -> impl Kernel + use<T> {
    PerMatrix {
        batch,
        inputs: vec![bytes::<T>(m * n), bytes::<i32>(n)],
        outputs: vec![bytes::<T>(m * n), bytes::<i32>(n), bytes::<T>(m.min(n))],
        work: m * n * m.min(n),
        function: move |inputs: &[&[u8]], outputs: &mut [&mut [u8]]| {
            let (packed, pivots, taus) =
                reference::geqp3::<T>(cast_slice(inputs[0]), m, n, cast_slice(inputs[1]));
            store(outputs[0], &packed);
            store(outputs[1], &pivots);
            store(outputs[2], &taus);
        },
    }
}

/// The kernel of `tridiagonal_solve`: from the three diagonals (n entries each) and B (`n × k`), X; finite for a singular matrix too with
/// `perturb_singular`.
pub struct TridiagonalSolve<T> {
    batch: usize,
    n: usize,
    k: usize,
    perturb_singular: bool,
    element: std::marker::PhantomData<fn() -> T>,
}

impl<T: Scalar<Real: RealScalar>> TridiagonalSolve<T> {
    /// Systems of n rows with k right-hand sides.
    pub fn new(batch: usize, n: usize, k: usize, perturb_singular: bool) -> Self {
        Self {
            batch,
            n,
            k,
            perturb_singular,
            element: std::marker::PhantomData,
        }
    }
}

impl<T: Scalar<Real: RealScalar>> Kernel for TridiagonalSolve<T> {
    fn signature(&self) -> Signature {
        let size = size_of::<T>();
        let (diagonal, b) = (self.batch * self.n, self.batch * self.n * self.k);
        Signature::of(
            &[
                (diagonal, size),
                (diagonal, size),
                (diagonal, size),
                (b, size),
            ],
            &[(b, size)],
        )
    }

    fn run(&self, buffers: &mut Buffers<'_>, context: &Context<'_>) -> Result<(), KernelError> {
        let (n, k) = (self.n, self.k);
        let diagonals = [0, 1, 2].map(|index| buffers.input::<T>(index));
        let b = buffers.input::<T>(3);
        let x = buffers.output::<T>(0);
        if !self.perturb_singular && tridiagonal_lanes::are_many::<T>(self.batch, (n, k)) {
            return tridiagonal_lanes::solve(diagonals, b, x, (n, k), context);
        }
        let x = SharedSlice::new(x);
        for_matrices(self.batch, 8 * n * (k + 1), context, |index| {
            let range = |size: usize| index * size..(index + 1) * size;
            let diagonals = diagonals.map(|diagonal| &diagonal[range(n)]);
            let b = &b[range(n * k)];
            let solution = if self.perturb_singular {
                let [lower, diagonal, upper] = diagonals;
                reference::tridiagonal_solve_perturbed::<T>(lower, diagonal, upper, b, k)
            } else if T::COMPLEX {
                solve_complex::<T>(diagonals, b, k)
            } else if k == 1 {
                solve_real::<T, true>(diagonals, b, 1)
            } else {
                solve_real::<T, false>(diagonals, b, k)
            };
            // SAFETY: systems of the batch are disjoint.
            unsafe { x.range(range(n * k)) }.copy_from_slice(&solution);
            Ok(())
        })
    }
}

/// What the reference computes for real numbers, in double precision as well, by fewer operations that wait for each other: a pivot is
/// inverted once. `ONE` says that there is one right-hand side, whose
/// last entries stay in registers.
fn solve_real<T: Scalar, const ONE: bool>(diagonals: [&[T]; 3], b: &[T], k: usize) -> Vec<T> {
    let [lower, diagonal, upper] = diagonals;
    let n = diagonal.len();
    let wide = |x: &[T], i: usize| x.get(i).map_or(0.0, |x| x.re());
    let mut x: Vec<f64> = b.iter().map(|x| x.re()).collect();
    // The rows of U: the inverse of the pivot, and what stands behind it, where pivoting fills the second place.
    let mut rows: Vec<[f64; 3]> = Vec::with_capacity(n);
    let (mut pivot, mut next) = (wide(diagonal, 0), wide(upper, 0));
    let mut entry = x.first().copied().unwrap_or(0.0);
    for i in 1..n {
        let below = lower[i].re();
        let (own, behind) = (
            diagonal[i].re(),
            if i + 1 < n { upper[i].re() } else { 0.0 },
        );
        let swapped = below.abs() > pivot.abs();
        let above = (i - 1) * k;
        if swapped {
            let inverse = 1.0 / below;
            let factor = pivot * inverse;
            rows.push([inverse, own, behind]);
            (pivot, next) = (next - factor * own, -factor * behind);
            if ONE {
                x[i - 1] = x[i];
                entry -= factor * x[i];
            } else {
                for j in above..above + k {
                    let (upper, lower) = (x[j + k], x[j]);
                    (x[j], x[j + k]) = (upper, lower - factor * upper);
                }
            }
        } else {
            if pivot == 0.0 {
                return vec![T::NAN; n * k];
            }
            let inverse = 1.0 / pivot;
            let factor = below * inverse;
            rows.push([inverse, next, 0.0]);
            (pivot, next) = (own - factor * next, behind);
            if ONE {
                x[i - 1] = entry;
                entry = x[i] - factor * entry;
            } else {
                for j in above..above + k {
                    x[j + k] -= factor * x[j];
                }
            }
        }
    }
    if pivot == 0.0 {
        return vec![T::NAN; n * k];
    }
    rows.push([1.0 / pivot, 0.0, 0.0]);
    if ONE {
        x[n - 1] = entry;
        let (mut below, mut below_that) = (0.0, 0.0);
        for (x, [inverse, first, second]) in x.iter_mut().zip(rows).rev() {
            let solved = (*x - second * below_that - first * below) * inverse;
            (below, below_that) = (solved, below);
            *x = solved;
        }
    } else {
        for (i, [inverse, first, second]) in rows.into_iter().enumerate().rev() {
            for j in i * k..(i + 1) * k {
                let mut rest = x[j];
                if i + 2 < n {
                    rest -= second * x[j + 2 * k];
                }
                if i + 1 < n {
                    rest -= first * x[j + k];
                }
                x[j] = rest * inverse;
            }
        }
    }
    x.iter().map(|&x| T::from_components(x, 0.0)).collect()
}

/// The same for complex numbers: pivots are chosen by |re| + |im|, as LAPACK does.
fn solve_complex<T: Scalar<Real: RealScalar>>(diagonals: [&[T]; 3], b: &[T], k: usize) -> Vec<T> {
    let wide = |x: &T| Complex::new(x.re(), x.im());
    let [lower, diagonal, upper] = diagonals;
    let n = diagonal.len();
    let zero = Complex::new(0.0, 0.0);
    let nan = || vec![T::NAN; n * k];
    let mut x: Vec<Complex<f64>> = b.iter().map(wide).collect();
    // Three diagonals of U, of which the first is inverted once it is known; pivoting fills the third.
    let mut rows: Vec<[Complex<f64>; 3]> = (0..n)
        .map(|i| {
            let next = if i + 1 < n { wide(&upper[i]) } else { zero };
            [wide(&diagonal[i]), next, zero]
        })
        .collect();
    for i in 0..n {
        let mut row = rows[i];
        if i + 1 < n {
            let below = wide(&lower[i + 1]);
            let mut next = [below, rows[i + 1][0], rows[i + 1][1]];
            if below.l1_norm() > row[0].l1_norm() {
                std::mem::swap(&mut next, &mut row);
                for j in 0..k {
                    x.swap(i * k + j, (i + 1) * k + j);
                }
            }
            if row[0] == zero {
                return nan();
            }
            row[0] = reciprocal(row[0]);
            let factor = next[0] * row[0];
            rows[i + 1] = [next[1] - factor * row[1], next[2] - factor * row[2], zero];
            for j in 0..k {
                let update = factor * x[i * k + j];
                x[(i + 1) * k + j] -= update;
            }
        } else {
            if row[0] == zero {
                return nan();
            }
            row[0] = reciprocal(row[0]);
        }
        rows[i] = row;
    }
    if is_single::<T>() {
        // Divided by the pivot before, so that the way back waits for less: doubles have room for quotients of singles.
        for (x, [pivot, first, second]) in x.chunks_exact_mut(k.max(1)).zip(&mut rows) {
            x.iter_mut().for_each(|x| *x *= *pivot);
            (*first, *second) = (*first * *pivot, *second * *pivot);
        }
    }
    for i in (0..n).rev() {
        let [pivot, first, second] = rows[i];
        for j in 0..k {
            let mut rest = x[i * k + j];
            if i + 2 < n {
                rest -= second * x[(i + 2) * k + j];
            }
            if i + 1 < n {
                rest -= first * x[(i + 1) * k + j];
            }
            x[i * k + j] = if is_single::<T>() { rest } else { rest * pivot };
        }
    }
    x.iter().map(|z| T::from_components(z.re, z.im)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::KernelCall;

    type C = Complex<f64>;

    fn solved(diagonals: [&[C]; 3], b: &[C], k: usize) -> Vec<C> {
        let call = KernelCall::new(TridiagonalSolve::<C>::new(1, diagonals[0].len(), k, false));
        let mut x = vec![C::default(); b.len()];
        let [lower, diagonal, upper] = diagonals.map(cast_slice);
        let inputs = [lower, diagonal, upper, cast_slice(b)];
        call.call(&inputs, &mut [cast_slice_mut(&mut x)], &Context::default())
            .unwrap();
        x
    }

    /// Quotients on the way have no room in doubles, solutions have.
    #[test]
    fn complex_systems_of_far_sizes() {
        let c = |re: f64| C::new(re, 0.0);
        for (diagonal, upper, b, want) in [
            ([1e-200, 1.0], 1.0, [1e150, 1e150], [0.0, 1e150]),
            ([1e-200, 1.0], 1e150, [1e-100, 1e-120], [-1e230, 1e-120]),
            ([1e160, 1.0], 1e-160, [1e-100, 1e250], [-1e-70, 1e250]),
        ] {
            let zeros = [c(0.0); 2];
            let diagonals = [&zeros[..], &diagonal.map(c), &[c(upper), c(0.0)]];
            let x = solved(diagonals, &b.map(c), 1);
            for (x, want) in x.iter().zip(want) {
                assert!((x - c(want)).norm() <= 1e-14 * want.abs(), "{x} {want}");
            }
        }
    }

    #[test]
    fn complex_solutions_solve_the_equations() {
        let entry = |i: usize| C::new((i as f64 * 1.7).sin(), (i as f64 * 2.3).cos());
        for (n, k) in [(1, 1), (2, 3), (3, 1), (4, 2), (17, 1), (100, 3)] {
            // Diagonals of all sizes, so that some rows are exchanged and some are not.
            let diagonal: Vec<C> = (0..n).map(|i| entry(i) * [0.1, 3.0, 1.0][i % 3]).collect();
            let lower: Vec<C> = (0..n).map(|i| entry(i + 1000)).collect();
            let upper: Vec<C> = (0..n).map(|i| entry(i + 2000)).collect();
            let b: Vec<C> = (0..n * k).map(|i| entry(i + 3000)).collect();
            let x = solved([&lower, &diagonal, &upper], &b, k);
            let scale = x.iter().map(|z| z.norm()).fold(1.0, f64::max);
            for (place, &want) in b.iter().enumerate() {
                let (i, j) = (place / k, place % k);
                let mut sum = diagonal[i] * x[place];
                if i > 0 {
                    sum += lower[i] * x[(i - 1) * k + j];
                }
                if i + 1 < n {
                    sum += upper[i] * x[(i + 1) * k + j];
                }
                assert!((sum - want).norm() < 1e-12 * scale, "{n} {k}: {sum} {want}");
            }
        }
    }

    #[test]
    fn a_singular_matrix_has_no_solution() {
        let (zero, one) = (C::default(), C::new(1.0, 0.0));
        for n in [1, 3] {
            let x = solved(
                [&vec![zero; n], &vec![zero; n], &vec![one; n]],
                &vec![one; n],
                1,
            );
            assert!(x.iter().all(|z| z.re.is_nan() && z.im.is_nan()));
        }
        // Small and large pivots are inverted without overflow.
        for size in [1e-200, 1e200] {
            let x = solved(
                [&[zero], &[C::new(size, size)], &[zero]],
                &[C::new(size, 0.0)],
                1,
            );
            assert!((x[0] - C::new(0.5, -0.5)).norm() < 1e-15, "{x:?}");
        }
    }
}
