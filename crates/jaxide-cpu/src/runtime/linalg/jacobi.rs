//! Eigenvalues and singular values of small real matrices by plane rotations, side by side.
//!
//! Rotations of two rows and columns that make an entry zero, over all entries again and again, end
//! at a diagonal matrix after a few sweeps (C. G. J. Jacobi, 1846); applied to the columns of a
//! matrix from the right they make these orthogonal (M. R. Hestenes, 1958). Every step is the same
//! for all matrices, so that sixteen are decomposed at once. A matrix that has converged is rotated
//! by nothing any more, and so has the bits that it has in any other company.

use super::scalar::{RealScalar, Scalar};
use super::side_by_side::{Entries, LANES, gather};
use crate::runtime::simd::for_each_isa;

/// The most rows and columns.
const MOST: usize = 16;
/// Sweeps after which what has not converged is left to another method; ten are rarely needed.
const MOST_SWEEPS: usize = 40;

/// Whether so many matrices of this size are better decomposed here than one after another: a block, however full, takes as long as 6/5 `n` - 2 of
/// them of rank `n` do (as measured with AVX-512, of 4 to 16 rows in 32 and 64 bits, for both decompositions).
pub(super) fn pays<T: Scalar<Real: RealScalar>>(batch: usize, m: usize, n: usize) -> bool {
    let rank = m.min(n);
    let blocks = batch.div_ceil(LANES);
    !T::COMPLEX && rank > 0 && m.max(n) <= MOST && 5 * batch + 10 * blocks >= 6 * rank * blocks
}

/// Rotations by angles that differ from lane to lane: cosines and sines.
type Rotation<T> = (Entries<T>, Entries<T>);

/// The rotations that make `[[a, c], [c, b]]` diagonal, and none where `wanted` says so; also their
/// tangents.
#[inline(always)]
fn rotation<T: Scalar>(
    a: &[f64; LANES],
    b: &[f64; LANES],
    c: &[f64; LANES],
    wanted: &[bool; LANES],
) -> (Rotation<T>, [f64; LANES]) {
    let (mut cosine, mut sine) = (Entries([T::ONE; LANES]), Entries::ZERO);
    let mut tangents = [0.0; LANES];
    for lane in 0..LANES {
        let ratio = (b[lane] - a[lane]) / (2.0 * c[lane]);
        let tangent = (1.0 / (ratio.abs() + (ratio * ratio + 1.0).sqrt())).copysign(ratio);
        let tangent = if wanted[lane] { tangent } else { 0.0 };
        let scale = 1.0 / (tangent * tangent + 1.0).sqrt();
        tangents[lane] = tangent;
        cosine[lane] = T::from_components(scale, 0.0);
        sine[lane] = T::from_components(tangent * scale, 0.0);
    }
    ((cosine, sine), tangents)
}

/// `x, y = c x - s y, s x + c y`, where the sine is not zero: so that zeros keep their signs.
#[inline(always)]
fn rotate<T: Scalar>(entries: &mut [Entries<T>], x: usize, y: usize, (c, s): &Rotation<T>) {
    let (mut first, mut second) = (entries[x], entries[y]);
    for lane in 0..LANES {
        let (a, b) = (first[lane], second[lane]);
        let turns = s[lane] != T::ZERO;
        let turned = (c[lane] * a - s[lane] * b, s[lane] * a + c[lane] * b);
        first[lane] = if turns { turned.0 } else { a };
        second[lane] = if turns { turned.1 } else { b };
    }
    (entries[x], entries[y]) = (first, second);
}

#[inline(always)]
fn wide<T: Scalar>(x: &Entries<T>) -> [f64; LANES] {
    let mut wide = [0.0; LANES];
    for lane in 0..LANES {
        wide[lane] = x[lane].re();
    }
    wide
}

/// Divides each matrix by a power of two that brings its largest entry near one, which is returned;
/// 0 where it has entries that are no finite numbers, and which are zeros afterwards.
#[inline(always)]
fn scale<T: Scalar>(entries: &mut [Entries<T>]) -> [f64; LANES] {
    let mut largest = [0.0; LANES];
    for x in entries.iter() {
        for lane in 0..LANES {
            let size = x[lane].abs1();
            largest[lane] = if size > largest[lane] || size.is_nan() {
                size
            } else {
                largest[lane]
            };
        }
    }
    let mut finite = [true; LANES];
    for x in entries.iter() {
        for lane in 0..LANES {
            finite[lane] &= x[lane].abs1() < f64::INFINITY;
        }
    }
    let mut factors = [0.0; LANES];
    let mut scales = [0.0; LANES];
    for lane in 0..LANES {
        // The exponent alone, of a number that has a reciprocal.
        let normal = largest[lane].max(f64::MIN_POSITIVE);
        let power = f64::from_bits(normal.to_bits() & 0x7ff0_0000_0000_0000);
        scales[lane] = if finite[lane] { power } else { 0.0 };
        factors[lane] = 1.0 / power;
    }
    for x in entries.iter_mut() {
        for lane in 0..LANES {
            let scaled = T::from_components(x[lane].re() * factors[lane], 0.0);
            x[lane] = if finite[lane] { scaled } else { T::ZERO };
        }
    }
    scales
}

/// Fills the square matrix of this width with the identity.
#[inline(always)]
fn identity<T: Scalar>(a: &mut [Entries<T>], n: usize) {
    a.fill(Entries::ZERO);
    for i in 0..n {
        a[i * n + i] = Entries([T::ONE; LANES]);
    }
}

/// Entries of the working memory for the eigenvalues of a matrix.
pub(super) fn eigh_entries(n: usize) -> usize {
    2 * n * n
}

for_each_isa! {
    /// The eigenvectors, in columns, and the eigenvalues of symmetric matrices that follow one
    /// another, of which one triangle is read. What is not done, for its entries or for want of
    /// convergence, is marked.
    pub(super) fn eigh_lanes<T: Scalar>(
        a: &[T],
        n: usize,
        lower: bool,
        results: (&mut [T], &mut [T]),
        undone: &mut [bool; LANES],
        lanes: &mut [Entries<T>],
    ) = eigh_any
}

#[inline(always)]
fn eigh_any<T: Scalar>(
    a: &[T],
    n: usize,
    lower: bool,
    (vectors, values): (&mut [T], &mut [T]),
    undone: &mut [bool; LANES],
    lanes: &mut [Entries<T>],
) {
    let (h, v) = lanes.split_at_mut(n * n);
    gather(a, h);
    // The lower triangle is worked on; the other one becomes zero.
    for i in 0..n {
        for j in 0..i {
            if !lower {
                h[i * n + j] = h[j * n + i];
            }
            h[j * n + i] = Entries::ZERO;
        }
    }
    let scales = scale(h);
    identity(v, n);
    // Off-diagonal entries that are smaller, beside the largest one, change no eigenvalue.
    let precision = if size_of::<T>() == size_of::<f32>() {
        1e-9
    } else {
        1e-18
    };
    let mut turned = [false; LANES];
    for _ in 0..MOST_SWEEPS {
        turned = [false; LANES];
        for p in 1..n {
            for q in 0..p {
                let c = wide(&h[p * n + q]);
                let mut wanted = [false; LANES];
                for lane in 0..LANES {
                    wanted[lane] = c[lane].abs() > precision;
                }
                if !wanted.iter().fold(false, |any, &wanted| any | wanted) {
                    continue;
                }
                for lane in 0..LANES {
                    turned[lane] |= wanted[lane];
                }
                let (x, y) = (wide(&h[q * n + q]), wide(&h[p * n + p]));
                let (turn, tangents) = rotation::<T>(&x, &y, &c, &wanted);
                for lane in 0..LANES {
                    let change = tangents[lane] * c[lane];
                    let of = |x: f64| T::from_components(x, 0.0);
                    let (first, second) = (of(x[lane] - change), of(y[lane] + change));
                    let zero = if wanted[lane] {
                        T::ZERO
                    } else {
                        h[p * n + q][lane]
                    };
                    h[q * n + q][lane] = first;
                    h[p * n + p][lane] = second;
                    h[p * n + q][lane] = zero;
                }
                for r in 0..q {
                    rotate(h, q * n + r, p * n + r, &turn);
                }
                for r in q + 1..p {
                    rotate(h, r * n + q, p * n + r, &turn);
                }
                for r in p + 1..n {
                    rotate(h, r * n + q, r * n + p, &turn);
                }
                for r in 0..n {
                    rotate(v, r * n + q, r * n + p, &turn);
                }
            }
        }
        if turned == [false; LANES] {
            break;
        }
    }
    turn_lanes(v, n, n, n);
    let matrices = vectors
        .chunks_exact_mut(n * n)
        .zip(values.chunks_exact_mut(n));
    for (lane, (vectors, values)) in matrices.enumerate() {
        undone[lane] = scales[lane] == 0.0 || turned[lane];
        let mut order: [usize; MOST] = std::array::from_fn(|i| i);
        let value = |i: usize| h[i * n + i][lane].re();
        order[..n].sort_by(|&i, &j| value(i).total_cmp(&value(j)));
        for (j, &from) in order[..n].iter().enumerate() {
            values[j] = T::from_components(value(from) * scales[lane], 0.0);
            for i in 0..n {
                vectors[i * n + j] = v[i * n + from][lane];
            }
        }
    }
}

/// Turns each of the first `count` columns of `rows` rows so that its (first) entry of largest
/// modulus is positive; see [`super::phases`]. Returns the signs.
#[inline(always)]
fn turn_lanes<T: Scalar>(
    a: &mut [Entries<T>],
    rows: usize,
    width: usize,
    count: usize,
) -> [Entries<T>; MOST] {
    let larger = if size_of::<T>() == size_of::<f32>() {
        1.0 + 2e-5
    } else {
        1.0 + 2e-12
    };
    let mut signs = [Entries([T::ONE; LANES]); MOST];
    for (j, sign) in signs[..count].iter_mut().enumerate() {
        let mut largest = [0.0; LANES];
        for i in 0..rows {
            let x = &a[i * width + j];
            for lane in 0..LANES {
                let square = x[lane].abs_square();
                let is_larger = square > largest[lane] * larger;
                largest[lane] = if is_larger { square } else { largest[lane] };
                let own = T::from_components(1f64.copysign(x[lane].re()), 0.0);
                sign[lane] = if is_larger { own } else { sign[lane] };
            }
        }
        for i in 0..rows {
            let x = &mut a[i * width + j];
            for lane in 0..LANES {
                x[lane] = x[lane] * sign[lane];
            }
        }
    }
    signs
}

/// Entries of the working memory for the singular values of an `m × n` matrix.
pub(super) fn svd_entries(m: usize, n: usize) -> usize {
    m * n + m.min(n).pow(2)
}

/// Where the results of a decomposition go: values, and left vectors in columns and right ones in
/// rows, min(m, n) of each, if they are wanted.
pub(super) struct SvdResults<'a, T> {
    pub(super) values: &'a mut [T],
    pub(super) vectors: Option<(&'a mut [T], &'a mut [T])>,
}

for_each_isa! {
    /// The singular value decompositions of matrices that follow one another. What is not done, for
    /// its entries, for want of convergence or because it has lost rank, is marked.
    pub(super) fn svd_lanes<T: Scalar>(
        a: &[T],
        shape: (usize, usize),
        results: SvdResults<'_, T>,
        undone: &mut [bool; LANES],
        lanes: &mut [Entries<T>],
    ) = svd_any
}

#[inline(always)]
fn svd_any<T: Scalar>(
    a: &[T],
    (m, n): (usize, usize),
    mut results: SvdResults<'_, T>,
    undone: &mut [bool; LANES],
    lanes: &mut [Entries<T>],
) {
    let rank = m.min(n);
    let (matrix, v) = lanes.split_at_mut(m * n);
    gather(a, matrix);
    let scales = scale(matrix);
    identity(v, rank);
    // A wide matrix is worked on by rows: its transpose is tall, and has the same values and
    // exchanged vectors. These are the distances along and between what is made orthogonal.
    let (rows, step, next) = if m < n { (n, 1, n) } else { (m, n, 1) };
    let precision = if size_of::<T>() == size_of::<f32>() {
        3.0 * f64::from(f32::EPSILON)
    } else {
        rows as f64 * f64::EPSILON
    };
    // Columns that are as good as zero have no angles; a matrix with them is not done here.
    let mut least = [0.0; LANES];
    for x in matrix.iter() {
        for lane in 0..LANES {
            least[lane] += precision * precision * x[lane].abs_square();
        }
    }
    let mut turned = [false; LANES];
    for _ in 0..MOST_SWEEPS {
        turned = [false; LANES];
        for p in 1..rank {
            for q in 0..p {
                let (mut x, mut y, mut c) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
                for i in 0..rows {
                    let first = wide(&matrix[i * step + q * next]);
                    let second = wide(&matrix[i * step + p * next]);
                    for lane in 0..LANES {
                        x[lane] += first[lane] * first[lane];
                        y[lane] += second[lane] * second[lane];
                        c[lane] += first[lane] * second[lane];
                    }
                }
                let mut wanted = [false; LANES];
                for lane in 0..LANES {
                    let bound = precision * precision * x[lane] * y[lane];
                    let exist = x[lane] > least[lane] && y[lane] > least[lane];
                    wanted[lane] = c[lane] * c[lane] > bound && exist;
                }
                if !wanted.iter().fold(false, |any, &wanted| any | wanted) {
                    continue;
                }
                for lane in 0..LANES {
                    turned[lane] |= wanted[lane];
                }
                let (turn, _) = rotation::<T>(&x, &y, &c, &wanted);
                for i in 0..rows {
                    rotate(matrix, i * step + q * next, i * step + p * next, &turn);
                }
                for i in 0..rank {
                    rotate(v, i * rank + q, i * rank + p, &turn);
                }
            }
        }
        if turned == [false; LANES] {
            break;
        }
    }
    // Lengths are the values; what has them becomes vectors.
    let mut lengths = [[0.0; LANES]; MOST];
    for (j, length) in lengths[..rank].iter_mut().enumerate() {
        for i in 0..rows {
            let x = &matrix[i * step + j * next];
            for lane in 0..LANES {
                length[lane] += x[lane].abs_square();
            }
        }
        for length in length.iter_mut() {
            *length = length.sqrt();
        }
        for i in 0..rows {
            let x = &mut matrix[i * step + j * next];
            for lane in 0..LANES {
                x[lane] = T::from_components(x[lane].re() / length[lane], 0.0);
            }
        }
    }
    if results.vectors.is_some() {
        if m < n {
            let signs = turn_lanes(v, rank, rank, rank);
            for (row, sign) in matrix.chunks_exact_mut(n).zip(&signs) {
                for x in row {
                    for lane in 0..LANES {
                        x[lane] = x[lane] * sign[lane];
                    }
                }
            }
        } else {
            let signs = turn_lanes(matrix, m, n, rank);
            for row in v.chunks_exact_mut(rank) {
                for (x, sign) in row.iter_mut().zip(&signs) {
                    for lane in 0..LANES {
                        x[lane] = x[lane] * sign[lane];
                    }
                }
            }
        }
    }
    for (lane, values) in results.values.chunks_exact_mut(rank).enumerate() {
        let mut order: [usize; MOST] = std::array::from_fn(|i| i);
        order[..rank].sort_by(|&i, &j| lengths[j][lane].total_cmp(&lengths[i][lane]));
        let (largest, least) = (lengths[order[0]][lane], lengths[order[rank - 1]][lane]);
        // Vectors that belong to values of no size have no direction.
        let lost = least.is_nan() || least <= largest * precision * 4.0;
        undone[lane] = scales[lane] == 0.0 || turned[lane] || lost;
        for (value, &from) in values.iter_mut().zip(&order) {
            *value = T::from_components(lengths[from][lane] * scales[lane], 0.0);
        }
        let Some((u, vt)) = &mut results.vectors else {
            continue;
        };
        let u = &mut u[lane * m * rank..(lane + 1) * m * rank];
        let vt = &mut vt[lane * rank * n..(lane + 1) * rank * n];
        for (j, &from) in order[..rank].iter().enumerate() {
            for i in 0..m {
                u[i * rank + j] = if m < n {
                    v[i * rank + from][lane]
                } else {
                    matrix[i * n + from][lane]
                };
            }
            for i in 0..n {
                vt[j * n + i] = if m < n {
                    matrix[from * n + i][lane]
                } else {
                    v[i * rank + from][lane]
                };
            }
        }
    }
}
