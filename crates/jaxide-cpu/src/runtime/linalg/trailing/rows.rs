//! Rows of numbers, one or two at once, by every instruction set.

use super::super::scalar::RealScalar;
use crate::runtime::simd::{Products, for_each_isa};

/// Where sums of rows go, of real parts of the factors and of imaginary ones; and the products of rows.
pub(super) struct Sums<'a, R> {
    pub(super) along: &'a mut [R],
    pub(super) across: &'a mut [R],
    pub(super) products: &'a mut [R],
}

/// Numbers that are worked on together. Loops over them are made vectors, and products of rows need as many sums.
const LANES: usize = 16;
/// Of what is left of a row.
const FEW: usize = 4;

for_each_isa! {
    /// Updates rows of n numbers, from a place in them on.
    pub(super) fn update_real<R: RealScalar>(
        matrix: &mut [R],
        place: (usize, usize, usize),
        factors: &[&[R]; 3],
        columns: &[&[R]; 6],
        to: &mut Sums<'_, R>,
        way: (bool, Option<usize>),
    ) = update_real_any with products
}

#[inline(always)]
fn update_real_any<F: Products, R: RealScalar>(
    matrix: &mut [R],
    (n, first, before): (usize, usize, usize),
    [a, c, q]: &[&[R]; 3],
    [b, d, y, ..]: &[&[R]; 6],
    to: &mut Sums<'_, R>,
    (multiply, diagonal): (bool, Option<usize>),
) {
    let rows = a.len();
    let own = |i: usize| [a[i], c[i], q[i]];
    let mut i = 0;
    while i + 1 < rows {
        let (x, z) = matrix[i * n..(i + 2) * n].split_at_mut(n);
        // What both rows of a triangle have is behind the diagonal entry of the second one.
        let from = diagonal.map_or(0, |diagonal| diagonal + i + 2);
        let (x, z) = (&mut x[first + from..], &mut z[first + from..]);
        let place = before + i * n + first + from;
        let (f, g) = (own(i), own(i + 1));
        let (b, d, y) = (&b[from..], &d[from..], &y[from..]);
        let sums = &mut to.along[from..];
        if multiply {
            let products = real_rows::<F, R, true, true>(place, x, z, f, g, b, d, y, sums);
            to.products[i..i + 2].copy_from_slice(&products);
        } else {
            real_rows::<F, R, true, false>(place, x, z, f, g, b, d, y, sums);
        }
        i += 2;
    }
    if i < rows && diagonal.is_some() {
        to.products[i] = R::ZERO;
    } else if i < rows {
        let place = before + i * n + first;
        let (x, f, sums) = (
            &mut matrix[i * n + first..(i + 1) * n],
            own(i),
            &mut *to.along,
        );
        if multiply {
            let products = real_rows::<F, R, false, true>(place, x, &mut [], f, f, b, d, y, sums);
            to.products[i] = products[0];
        } else {
            real_rows::<F, R, false, false>(place, x, &mut [], f, f, b, d, y, sums);
        }
    }
}

/// Numbers before the first that begins a line of the cache, if the matrix does, where a row is long enough that it counts. By the place in
/// the matrix, so that sums do not depend on where that is.
#[inline(always)]
fn unaligned<R>(place: usize, length: usize) -> usize {
    const LINE: usize = 64;
    let per_line = LINE / size_of::<R>();
    if length < 4 * LANES {
        return 0;
    }
    (per_line - place % per_line) % per_line
}

/// One row or two, which share what is read. Each slice is an argument of its own, so that the compiler
/// knows that they are apart.
#[expect(clippy::too_many_arguments, reason = "slices that are apart")]
#[inline(always)]
fn real_rows<F: Products, R: RealScalar, const TWO: bool, const MULTIPLY: bool>(
    place: usize,
    x: &mut [R],
    z: &mut [R],
    f: [R; 3],
    g: [R; 3],
    b: &[R],
    d: &[R],
    y: &[R],
    sums: &mut [R],
) -> [R; 2] {
    let mut rows = RealRows::<R, TWO, MULTIPLY> {
        f,
        g,
        products: [[R::ZERO; LANES]; 2],
    };
    // That all are as long saves questions for it.
    let len = x.len();
    let (b, d, y, sums) = (&b[..len], &d[..len], &y[..len], &mut sums[..len]);
    let z = if TWO { &mut z[..len] } else { z };
    let mut at = 0;
    let aligned = unaligned::<R>(place, x.len());
    while at + FEW <= aligned {
        rows.step::<F, FEW>(at, x, z, [b, d, y], sums);
        at += FEW;
    }
    while at < aligned {
        rows.step::<F, 1>(at, x, z, [b, d, y], sums);
        at += 1;
    }
    while at + LANES <= x.len() {
        rows.step::<F, LANES>(at, x, z, [b, d, y], sums);
        at += LANES;
    }
    while at + FEW <= x.len() {
        rows.step::<F, FEW>(at, x, z, [b, d, y], sums);
        at += FEW;
    }
    while at < x.len() {
        rows.step::<F, 1>(at, x, z, [b, d, y], sums);
        at += 1;
    }
    [total(&rows.products[0]), total(&rows.products[1])]
}

/// What belongs to rows, and the sums of their products.
struct RealRows<R, const TWO: bool, const MULTIPLY: bool> {
    f: [R; 3],
    g: [R; 3],
    products: [[R; LANES]; 2],
}

impl<R: RealScalar, const TWO: bool, const MULTIPLY: bool> RealRows<R, TWO, MULTIPLY> {
    /// N numbers from one on.
    #[inline(always)]
    fn step<F: Products, const N: usize>(
        &mut self,
        at: usize,
        x: &mut [R],
        z: &mut [R],
        columns: [&[R]; 3],
        sums: &mut [R],
    ) {
        let Self { f, g, products } = self;
        let (b, d) = (load::<R, N>(columns[0], at), load::<R, N>(columns[1], at));
        let y = load::<R, N>(columns[2], at);
        let (mut one, mut sum) = (load::<R, N>(x, at), load::<R, N>(sums, at));
        for lane in 0..N {
            one[lane] = F::minus(F::minus(one[lane], f[0], b[lane]), f[1], d[lane]);
            if MULTIPLY {
                products[0][lane] = F::plus(products[0][lane], one[lane], y[lane]);
            }
        }
        store(x, at, one);
        if TWO {
            let mut two = load::<R, N>(z, at);
            for lane in 0..N {
                two[lane] = F::minus(F::minus(two[lane], g[0], b[lane]), g[1], d[lane]);
                if MULTIPLY {
                    products[1][lane] = F::plus(products[1][lane], two[lane], y[lane]);
                }
                sum[lane] = F::plus(F::plus(sum[lane], f[2], one[lane]), g[2], two[lane]);
            }
            store(z, at, two);
        } else {
            for lane in 0..N {
                sum[lane] = F::plus(sum[lane], f[2], one[lane]);
            }
        }
        store(sums, at, sum);
    }
}

#[expect(
    clippy::manual_memcpy,
    reason = "a call of a function, which would not be inlined"
)]
#[inline(always)]
fn load<R: RealScalar, const N: usize>(from: &[R], at: usize) -> [R; N] {
    let from = &from[at..at + N];
    let mut lanes = [R::ZERO; N];
    for lane in 0..N {
        lanes[lane] = from[lane];
    }
    lanes
}

#[expect(clippy::manual_memcpy, reason = "as above")]
#[inline(always)]
fn store<R: RealScalar, const N: usize>(to: &mut [R], at: usize, lanes: [R; N]) {
    let to = &mut to[at..at + N];
    for lane in 0..N {
        to[lane] = lanes[lane];
    }
}

/// The sum of lanes.
#[inline(always)]
fn total<R: RealScalar>(lanes: &[R; LANES]) -> R {
    let mut sums = *lanes;
    let mut half = LANES / 2;
    // Halves, so that what is added does not wait for all that was.
    while half > 0 {
        for lane in 0..half {
            sums[lane] = sums[lane] + sums[lane + half];
        }
        half /= 2;
    }
    sums[0]
}

for_each_isa! {
    /// As [`update_real`] of components of complex numbers.
    pub(super) fn update_complex<R: RealScalar>(
        matrix: &mut [R],
        place: (usize, usize, usize),
        factors: &[&[R]; 3],
        columns: &[&[R]; 6],
        to: &mut Sums<'_, R>,
        way: (bool, Option<usize>),
    ) = update_complex_any with products
}

#[inline(always)]
fn update_complex_any<F: Products, R: RealScalar>(
    matrix: &mut [R],
    (n, first, before): (usize, usize, usize),
    [a, c, q]: &[&[R]; 3],
    columns: &[&[R]; 6],
    to: &mut Sums<'_, R>,
    (multiply, diagonal): (bool, Option<usize>),
) {
    let rows = a.len() / 2;
    let own = |i: usize| {
        let (re, im) = (2 * i, 2 * i + 1);
        [a[re], a[im], c[re], c[im], q[re], -q[im]]
    };
    let mut i = 0;
    while i + 1 < rows {
        let (x, z) = matrix[i * n..(i + 2) * n].split_at_mut(n);
        let from = diagonal.map_or(0, |diagonal| diagonal + 2 * i + 4);
        let (x, z) = (&mut x[first + from..], &mut z[first + from..]);
        let place = before + i * n + first + from;
        let (f, g) = (own(i), own(i + 1));
        let mut behind = *columns;
        for column in &mut behind {
            *column = &column[from..];
        }
        let columns = &behind;
        let (along, across) = (&mut to.along[from..], &mut to.across[from..]);
        if multiply {
            let products =
                complex_rows::<F, R, true, true>(place, x, z, f, g, columns, along, across);
            to.products[2 * i..2 * i + 4].copy_from_slice(&products);
        } else {
            complex_rows::<F, R, true, false>(place, x, z, f, g, columns, along, across);
        }
        i += 2;
    }
    if i < rows && diagonal.is_some() {
        to.products[2 * i..2 * i + 2].fill(R::ZERO);
    } else if i < rows {
        let place = before + i * n + first;
        let (x, f) = (&mut matrix[i * n + first..(i + 1) * n], own(i));
        let (along, across) = (&mut *to.along, &mut *to.across);
        if multiply {
            let products =
                complex_rows::<F, R, false, true>(place, x, &mut [], f, f, columns, along, across);
            to.products[2 * i..2 * i + 2].copy_from_slice(&products[..2]);
        } else {
            complex_rows::<F, R, false, false>(place, x, &mut [], f, f, columns, along, across);
        }
    }
}

/// As [`real_rows`] of complex numbers, of which products have two parts.
#[expect(clippy::too_many_arguments, reason = "slices that are apart")]
#[inline(always)]
fn complex_rows<F: Products, R: RealScalar, const TWO: bool, const MULTIPLY: bool>(
    place: usize,
    x: &mut [R],
    z: &mut [R],
    f: [R; 6],
    g: [R; 6],
    columns: &[&[R]; 6],
    along: &mut [R],
    across: &mut [R],
) -> [R; 4] {
    let mut rows = ComplexRows::<R, TWO, MULTIPLY> {
        f,
        g,
        products: [[R::ZERO; LANES]; 4],
    };
    let len = x.len();
    let (along, across) = (&mut along[..len], &mut across[..len]);
    let mut same = *columns;
    for column in &mut same {
        *column = &column[..len];
    }
    let columns = &same;
    let z = if TWO { &mut z[..len] } else { z };
    let mut at = 0;
    let aligned = unaligned::<R>(place, x.len());
    while at + FEW <= aligned {
        rows.step::<F, FEW>(at, x, z, columns, along, across);
        at += FEW;
    }
    while at < aligned {
        rows.step::<F, 1>(at, x, z, columns, along, across);
        at += 1;
    }
    while at + LANES <= x.len() {
        rows.step::<F, LANES>(at, x, z, columns, along, across);
        at += LANES;
    }
    while at + FEW <= x.len() {
        rows.step::<F, FEW>(at, x, z, columns, along, across);
        at += FEW;
    }
    while at < x.len() {
        rows.step::<F, 1>(at, x, z, columns, along, across);
        at += 1;
    }
    let products = &rows.products;
    [
        total(&products[0]),
        total(&products[1]),
        total(&products[2]),
        total(&products[3]),
    ]
}

/// As [`RealRows`] of complex numbers.
struct ComplexRows<R, const TWO: bool, const MULTIPLY: bool> {
    f: [R; 6],
    g: [R; 6],
    products: [[R; LANES]; 4],
}

impl<R: RealScalar, const TWO: bool, const MULTIPLY: bool> ComplexRows<R, TWO, MULTIPLY> {
    #[inline(always)]
    fn step<F: Products, const N: usize>(
        &mut self,
        at: usize,
        x: &mut [R],
        z: &mut [R],
        columns: &[&[R]; 6],
        along: &mut [R],
        across: &mut [R],
    ) {
        let Self { f, g, products } = self;
        let (b, ib) = (load::<R, N>(columns[0], at), load::<R, N>(columns[3], at));
        let (d, id) = (load::<R, N>(columns[1], at), load::<R, N>(columns[4], at));
        let (y, iy) = (load::<R, N>(columns[2], at), load::<R, N>(columns[5], at));
        let mut one = load::<R, N>(x, at);
        let (mut re, mut im) = (load::<R, N>(along, at), load::<R, N>(across, at));
        for lane in 0..N {
            let first = F::minus(F::minus(one[lane], f[0], b[lane]), f[1], ib[lane]);
            one[lane] = F::minus(F::minus(first, f[2], d[lane]), f[3], id[lane]);
            if MULTIPLY {
                products[0][lane] = F::plus(products[0][lane], one[lane], y[lane]);
                products[1][lane] = F::plus(products[1][lane], one[lane], iy[lane]);
            }
        }
        store(x, at, one);
        if TWO {
            let mut two = load::<R, N>(z, at);
            for lane in 0..N {
                let first = F::minus(F::minus(two[lane], g[0], b[lane]), g[1], ib[lane]);
                two[lane] = F::minus(F::minus(first, g[2], d[lane]), g[3], id[lane]);
                if MULTIPLY {
                    products[2][lane] = F::plus(products[2][lane], two[lane], y[lane]);
                    products[3][lane] = F::plus(products[3][lane], two[lane], iy[lane]);
                }
                re[lane] = F::plus(F::plus(re[lane], f[4], one[lane]), g[4], two[lane]);
                im[lane] = F::plus(F::plus(im[lane], f[5], one[lane]), g[5], two[lane]);
            }
            store(z, at, two);
        } else {
            for lane in 0..N {
                re[lane] = F::plus(re[lane], f[4], one[lane]);
                im[lane] = F::plus(im[lane], f[5], one[lane]);
            }
        }
        store(along, at, re);
        store(across, at, im);
    }
}

for_each_isa! {
    /// The products of rows of n numbers, from a place in them on, with a vector.
    pub(in super::super) fn multiply_real<R: RealScalar>(matrix: &[R], place: (usize, usize), y: &[R], products: &mut [R]) = multiply_real_any with products
}

#[inline(always)]
fn multiply_real_any<F: Products, R: RealScalar>(
    matrix: &[R],
    (n, first): (usize, usize),
    y: &[R],
    products: &mut [R],
) {
    let row = |i: usize| &matrix[i * n + first..(i + 1) * n];
    let count = products.len();
    let mut i = 0;
    while i + 4 <= count {
        let sums = dots::<F, _, _>([row(i), row(i + 1), row(i + 2), row(i + 3)], [y; 4]);
        products[i..i + 4].copy_from_slice(&sums);
        i += 4;
    }
    while i < count {
        [products[i]] = dots::<F, _, _>([row(i)], [y]);
        i += 1;
    }
}

for_each_isa! {
    /// As [`multiply_real`] of components of complex numbers; the second vector is the first times i.
    pub(in super::super) fn multiply_complex<R: RealScalar>(
        matrix: &[R],
        place: (usize, usize),
        vectors: &[&[R]; 2],
        products: &mut [R],
    ) = multiply_complex_any with products
}

#[inline(always)]
fn multiply_complex_any<F: Products, R: RealScalar>(
    matrix: &[R],
    (n, first): (usize, usize),
    &[y, turned]: &[&[R]; 2],
    products: &mut [R],
) {
    let row = |i: usize| &matrix[i * n + first..(i + 1) * n];
    let count = products.len() / 2;
    let mut i = 0;
    while i + 2 <= count {
        let (x, z) = (row(i), row(i + 1));
        let sums = dots::<F, _, _>([x, x, z, z], [y, turned, y, turned]);
        products[2 * i..2 * i + 4].copy_from_slice(&sums);
        i += 2;
    }
    if i < count {
        let sums = dots::<F, _, _>([row(i); 2], [y, turned]);
        products[2 * i..].copy_from_slice(&sums);
    }
}

/// Inner products of vectors of the same length, several at once.
#[inline(always)]
pub(in super::super) fn dots<F: Products, R: RealScalar, const K: usize>(
    x: [&[R]; K],
    y: [&[R]; K],
) -> [R; K] {
    let len = x[0].len();
    let mut sums = [[R::ZERO; LANES]; K];
    let mut at = 0;
    while at + LANES <= len {
        for k in 0..K {
            let (x, y) = (load::<R, LANES>(x[k], at), load::<R, LANES>(y[k], at));
            for lane in 0..LANES {
                sums[k][lane] = F::plus(sums[k][lane], x[lane], y[lane]);
            }
        }
        at += LANES;
    }
    while at + FEW <= len {
        for k in 0..K {
            let (x, y) = (load::<R, FEW>(x[k], at), load::<R, FEW>(y[k], at));
            for lane in 0..FEW {
                sums[k][lane] = F::plus(sums[k][lane], x[lane], y[lane]);
            }
        }
        at += FEW;
    }
    let mut totals = [R::ZERO; K];
    for k in 0..K {
        totals[k] = total(&sums[k]);
    }
    for i in at..len {
        for k in 0..K {
            totals[k] = F::plus(totals[k], x[k][i], y[k][i]);
        }
    }
    totals
}
