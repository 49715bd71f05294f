//! The QR factorisation of small matrices, side by side.

use super::householder::reflector;
use super::scalar::Scalar;
use super::side_by_side::{Entries, LANES, gather, scatter, subtract_product};
use crate::runtime::simd::for_each_isa;

/// Bytes of working memory up to which a block of matrices is factored in lanes: they stay in the
/// second-level cache.
const MOST_BYTES: usize = 1 << 18;
/// Entries of a matrix that is factored in lanes even if it is alone in its block.
const FEW_ENTRIES: usize = 64;

/// Entries of the working memory for each `m × n` matrix with m × k and k × n factors; none where
/// lanes do not pay.
pub(super) fn entries<T: Scalar>(batch: usize, (m, n, k): (usize, usize, usize)) -> Option<usize> {
    let entries = m * n + m * k + m.min(n);
    let fits = entries * LANES * size_of::<T>() <= MOST_BYTES;
    (fits && entries > 0 && (batch >= LANES / 4 || m * n <= FEW_ENTRIES)).then_some(entries)
}

for_each_isa! {
    /// The factors of matrices that follow one another, of shape `m × n`, `m × k` and `k × n`.
    pub(super) fn factor_lanes<T: Scalar>(
        a: &[T],
        shape: (usize, usize, usize),
        q: &mut [T],
        r: &mut [T],
        lanes: &mut [Entries<T>],
    ) = factor_lanes_any
}

#[inline(always)]
fn factor_lanes_any<T: Scalar>(
    a: &[T],
    (m, n, k): (usize, usize, usize),
    q: &mut [T],
    r: &mut [T],
    lanes: &mut [Entries<T>],
) {
    let rank = m.min(n);
    let (packed, rest) = lanes.split_at_mut(m * n);
    let (vectors, taus) = rest.split_at_mut(m * k);
    gather(a, packed);
    for j in 0..rank {
        let tau = reflect(&mut packed[j * n + j..], n, m - j);
        taus[j] = tau;
        let tau = tau.conj();
        for column in j + 1..n {
            // Column j and one after it begin in the same row.
            let (v, x) = (j * n + j, j * n + column);
            let along = along_reflector(&packed[v..], n, &packed[x..], n, m - j);
            let factor = times(&tau, &along);
            subtract(&mut packed[x], &factor);
            for i in 1..m - j {
                let v = packed[v + i * n];
                subtract_product(&mut packed[x + i * n], &v, &factor);
            }
        }
    }
    vectors.fill(Entries::ZERO);
    for i in 0..m.min(k) {
        vectors[i * k + i] = Entries([T::ONE; LANES]);
    }
    for j in (0..rank).rev() {
        let v = &packed[j * n + j..];
        for column in j..k {
            let x = &mut vectors[j * k + column..];
            let factor = times(&taus[j], &along_reflector(v, n, x, k, m - j));
            subtract(&mut x[0], &factor);
            for i in 1..m - j {
                subtract_product(&mut x[i * k], &v[i * n], &factor);
            }
        }
    }
    scatter(vectors, q);
    for (lane, r) in r.chunks_exact_mut((k * n).max(1)).enumerate() {
        for (i, row) in r.chunks_exact_mut(n.max(1)).enumerate() {
            for (j, x) in row.iter_mut().enumerate() {
                *x = if i <= j {
                    packed[i * n + j][lane]
                } else {
                    T::ZERO
                };
            }
        }
    }
}

/// Makes the reflectors of columns, of which each entry is `step` entries behind the one before; see
/// [`reflector`].
#[inline(always)]
fn reflect<T: Scalar>(column: &mut [Entries<T>], step: usize, len: usize) -> Entries<T> {
    let alpha = column[0];
    let mut squares = [0.0; LANES];
    for i in 1..len {
        let x = &column[i * step];
        for lane in 0..LANES {
            squares[lane] += x[lane].abs_square();
        }
    }
    let (mut tau, mut beta) = (Entries::ZERO, alpha);
    let mut divisor = Entries([T::ONE; LANES]);
    let mut hard = [false; LANES];
    for lane in 0..LANES {
        let (re, im) = (alpha[lane].re(), alpha[lane].im());
        let square = squares[lane] + alpha[lane].abs_square();
        let root = square.sqrt();
        let multiple = -root.copysign(re);
        // What is alone is what it is to become, if it is real; zeros, huge and tiny numbers, and
        // what is none, are left to the careful function.
        let done = len == 1 && im == 0.0;
        let fits = squares[lane] > 1e-280 && square < 1e280 && root >= T::TINY;
        hard[lane] = !done && !fits;
        let easy = !done && fits;
        let of = |re: f64, im: f64| T::from_components(re, im);
        tau[lane] = if easy {
            of((multiple - re) / multiple, -im / multiple)
        } else {
            T::ZERO
        };
        beta[lane] = if easy { of(multiple, 0.0) } else { alpha[lane] };
        divisor[lane] = if easy { of(re - multiple, im) } else { T::ONE };
    }
    if T::COMPLEX {
        for x in divisor.iter_mut() {
            *x = T::ONE.divided(*x);
        }
    }
    for i in 1..len {
        let x = &mut column[i * step];
        for lane in 0..LANES {
            x[lane] = if T::COMPLEX {
                x[lane] * divisor[lane]
            } else {
                x[lane].divided(divisor[lane])
            };
        }
    }
    column[0] = beta;
    for lane in (0..LANES).filter(|&lane| hard[lane]) {
        let mut one: Vec<T> = (0..len).map(|i| column[i * step][lane]).collect();
        tau[lane] = reflector(&mut one);
        for (i, x) in one.into_iter().enumerate() {
            column[i * step][lane] = x;
        }
    }
    tau
}

/// `vᴴ x` with v₀ = 1.
#[inline(always)]
fn along_reflector<T: Scalar>(
    v: &[Entries<T>],
    v_step: usize,
    x: &[Entries<T>],
    x_step: usize,
    len: usize,
) -> Entries<T> {
    let mut sum = x[0];
    for i in 1..len {
        let (v, x) = (&v[i * v_step], &x[i * x_step]);
        for lane in 0..LANES {
            sum[lane] = sum[lane] + v[lane].conj() * x[lane];
        }
    }
    sum
}

#[inline(always)]
fn times<T: Scalar>(a: &Entries<T>, b: &Entries<T>) -> Entries<T> {
    let mut product = *a;
    for lane in 0..LANES {
        product[lane] = a[lane] * b[lane];
    }
    product
}

#[inline(always)]
fn subtract<T: Scalar>(x: &mut Entries<T>, y: &Entries<T>) {
    for lane in 0..LANES {
        x[lane] = x[lane] - y[lane];
    }
}
