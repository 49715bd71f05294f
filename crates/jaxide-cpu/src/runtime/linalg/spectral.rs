//! Updates of factors, permutations, QR with pivots and small solves: batches of single matrices for the functions of
//! [`jaxide_core::eval::numerics::linalg`], which say what each of them computes and in which form.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use jaxide_core::eval::numerics::linalg::{self as reference, Entry};

use super::for_matrices;
use super::scalar::Scalar;
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

/// The kernel of `tridiagonal_solve`: from the three diagonals (n entries each) and B (`n × k`), X.
pub fn tridiagonal_solve<T: Scalar>(batch: usize, n: usize, k: usize) -> impl Kernel + use<T> {
    PerMatrix {
        batch,
        inputs: vec![
            bytes::<T>(n),
            bytes::<T>(n),
            bytes::<T>(n),
            bytes::<T>(n * k),
        ],
        outputs: vec![bytes::<T>(n * k)],
        work: 8 * n * (k + 1),
        function: move |inputs: &[&[u8]], outputs: &mut [&mut [u8]]| {
            let [lower, diagonal, upper, b] = std::array::from_fn(|i| cast_slice(inputs[i]));
            store(
                outputs[0],
                &reference::tridiagonal_solve::<T>(lower, diagonal, upper, b, k),
            );
        },
    }
}
