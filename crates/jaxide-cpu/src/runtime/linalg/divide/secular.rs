//! Eigenvalues of a diagonal matrix and one of rank one.
//!
//! The eigenvalues of `D + ρ z zᵀ` are the zeros of `1 / ρ + Σ zⱼ² / (dⱼ - λ)`, one behind each of the
//! ascending dⱼ. Sums over all poles are made for several zeros at once; steps are R.-C. Li's "middle
//! way" between the poles on both sides (*Solving secular equations stably and efficiently*, 1993, as in
//! LAPACK's `laed4`), inside of an interval that is known to have the zero.

use super::super::scalar::RealScalar;
use crate::runtime::simd::for_each_isa;

/// Zeros that are found together.
pub(super) const LANES: usize = 8;

/// Steps before a zero is given up.
const MAX_STEPS: usize = 60;

/// A diagonal matrix, of ascending different entries, and one of rank one; ρ is positive.
pub(super) struct Modified {
    pub(super) d: Vec<f64>,
    pub(super) z: Vec<f64>,
    pub(super) rho: f64,
}

/// An eigenvalue: its distance from the pole that is nearer, so that differences from poles have all
/// their digits.
#[derive(Clone, Copy, Default)]
pub(super) struct Root {
    pole: usize,
    distance: f64,
}

/// The sums of some zeros: over poles below and above, and their derivatives.
#[derive(Clone, Copy, Default)]
struct Sums {
    below: [f64; LANES],
    above: [f64; LANES],
    below_slope: [f64; LANES],
    above_slope: [f64; LANES],
}

/// Where sums are taken: at these distances from an origin.
#[derive(Clone, Copy, Default)]
struct Points {
    origin: [f64; LANES],
    distance: [f64; LANES],
}

for_each_isa! {
    /// Sums at some points, of which the l-th has `first + l` and all before it below, but never the last
    /// pole.
    fn sums(d: &[f64], z: &[f64], first: usize, points: &Points, to: &mut Sums) = sums_any
}

#[inline(always)]
fn sums_any(d: &[f64], z: &[f64], first: usize, points: &Points, to: &mut Sums) {
    let k = d.len();
    let Points { origin, distance } = *points;
    let (mut below, mut below_slope) = ([0.0; LANES], [0.0; LANES]);
    let (mut above, mut above_slope) = ([0.0; LANES], [0.0; LANES]);
    let all_below = (first + 1).min(k - 1);
    for j in 0..all_below {
        for lane in 0..LANES {
            let part = z[j] / ((d[j] - origin[lane]) - distance[lane]);
            below[lane] += z[j] * part;
            below_slope[lane] += part * part;
        }
    }
    let all_above = (first + LANES).clamp(all_below, k);
    for j in all_below..all_above {
        for lane in 0..LANES {
            let part = z[j] / ((d[j] - origin[lane]) - distance[lane]);
            let is_below = j < k - 1 && j <= first + lane;
            let (low, high) = if is_below { (part, 0.0) } else { (0.0, part) };
            below[lane] += z[j] * low;
            below_slope[lane] += low * low;
            above[lane] += z[j] * high;
            above_slope[lane] += high * high;
        }
    }
    for j in all_above..k {
        for lane in 0..LANES {
            let part = z[j] / ((d[j] - origin[lane]) - distance[lane]);
            above[lane] += z[j] * part;
            above_slope[lane] += part * part;
        }
    }
    *to = Sums {
        below,
        above,
        below_slope,
        above_slope,
    };
}

/// What is known of a zero on the way to it.
#[derive(Clone, Copy, Default)]
struct Search {
    /// The poles around it, or the last two for the last one.
    poles: [usize; 2],
    /// Whether it is the last one, behind all poles.
    last: bool,
    origin: usize,
    /// The distances from the origin that it lies between.
    low: f64,
    high: f64,
    done: bool,
}

/// The sums at one point.
struct At {
    below: f64,
    above: f64,
    below_slope: f64,
    above_slope: f64,
    /// The distances of both poles.
    poles: [f64; 2],
}

impl Search {
    /// A point that lies strictly between the bounds, this one if it does.
    fn inside(&self, distance: f64) -> f64 {
        if self.low < distance && distance < self.high {
            distance
        } else if self.low > 0.0 || self.high < 0.0 {
            // Bounds of one sign may be many powers of two apart.
            (self.low * self.high).sqrt().copysign(self.low)
        } else {
            0.5 * (self.low + self.high)
        }
    }

    /// The next distance; the same one where the zero is found.
    fn step(&mut self, at: &At, inverse: f64, precision: f64, distance: f64) -> f64 {
        let value = inverse + at.below + at.above;
        let slope = at.below_slope + at.above_slope;
        let error = 8.0 * (inverse + at.above.abs() + at.below.abs()) + distance.abs() * slope;
        if value.abs() <= precision * error {
            self.done = true;
            return distance;
        }
        if value <= 0.0 {
            self.low = distance;
        } else {
            self.high = distance;
        }
        let [first, second] = at.poles;
        let c = value - first * at.below_slope - second * at.above_slope;
        let a = (first + second) * value - first * second * slope;
        let b = first * second * value;
        let mut move_by = if self.last {
            let c = c.abs();
            let root = (a * a - 4.0 * b * c).abs().sqrt();
            if a >= 0.0 {
                (a + root) / (2.0 * c)
            } else {
                2.0 * b / (a - root)
            }
        } else {
            let root = (a * a - 4.0 * b * c).abs().sqrt();
            if c == 0.0 {
                b / a
            } else if a <= 0.0 {
                (a - root) / (2.0 * c)
            } else {
                2.0 * b / (a + root)
            }
        };
        // The function grows: a step in the other direction is Newton's instead.
        if value * move_by >= 0.0 || move_by.is_nan() {
            move_by = -value / slope;
        }
        let next = self.inside(distance + move_by);
        if next == distance || self.high - self.low <= f64::EPSILON * next.abs() {
            self.done = true;
        }
        next
    }
}

impl Modified {
    pub(super) fn value(&self, root: Root) -> f64 {
        self.d[root.pole] + root.distance
    }

    /// The origins of roots and their distances from them.
    pub(super) fn parts(&self, roots: &[Root]) -> Vec<[f64; 2]> {
        let part = |root: &Root| [self.d[root.pole], root.distance];
        roots.iter().map(part).collect()
    }

    /// Finds the zeros from the `first` on; false if one does not converge.
    pub(super) fn solve(&self, first: usize, precision: f64, roots: &mut [Root]) -> bool {
        let (d, z) = (&self.d[..], &self.z[..]);
        let k = d.len();
        if k == 1 {
            roots[0] = Root {
                pole: 0,
                distance: self.rho * z[0] * z[0],
            };
            return true;
        }
        let inverse = 1.0 / self.rho;
        let whole = self.rho * z.iter().map(|z| z * z).sum::<f64>();
        let mut points = Points::default();
        let mut searches = [Search::default(); LANES];
        let mut found = Sums::default();
        // The middle of each interval says which of its poles is nearer to the zero.
        for (lane, search) in searches.iter_mut().enumerate() {
            let i = (first + lane).min(k - 1);
            let low = i.min(k - 2);
            let width = if i + 1 < k { d[i + 1] - d[i] } else { whole };
            *search = Search {
                poles: [low, low + 1],
                last: i + 1 == k,
                origin: i,
                low: 0.0,
                high: width,
                done: lane >= roots.len(),
            };
            (points.origin[lane], points.distance[lane]) = (d[i], 0.5 * width);
        }
        sums(d, z, first, &points, &mut found);
        for (lane, search) in searches.iter_mut().enumerate() {
            let value = inverse + found.below[lane] + found.above[lane];
            let guess = self.first_guess(search, value, points.distance[lane]);
            points.origin[lane] = d[search.origin];
            points.distance[lane] = search.inside(guess);
        }
        for _ in 0..MAX_STEPS {
            if searches.iter().all(|search| search.done) {
                break;
            }
            sums(d, z, first, &points, &mut found);
            for (lane, search) in searches.iter_mut().enumerate() {
                if search.done {
                    continue;
                }
                let distance = points.distance[lane];
                let pole = |j: usize| (d[j] - points.origin[lane]) - distance;
                let at = At {
                    below: found.below[lane],
                    above: found.above[lane],
                    below_slope: found.below_slope[lane],
                    above_slope: found.above_slope[lane],
                    poles: search.poles.map(pole),
                };
                points.distance[lane] = search.step(&at, inverse, precision, distance);
            }
        }
        for ((root, search), &distance) in roots.iter_mut().zip(&searches).zip(&points.distance) {
            *root = Root {
                pole: search.origin,
                distance,
            };
        }
        searches.iter().all(|search| search.done)
    }

    /// The zero of what the poles around it and the sum of the others in the middle make, and the half of
    /// the interval that the zero is in.
    fn first_guess(&self, search: &mut Search, value: f64, middle: f64) -> f64 {
        let [low, high] = search.poles;
        let gap = self.d[high] - self.d[low];
        let (low_square, high_square) = (self.z[low] * self.z[low], self.z[high] * self.z[high]);
        let at = |j: usize| (self.d[j] - self.d[search.origin]) - middle;
        let rest = value - low_square / at(low) - high_square / at(high);
        if search.last {
            if value <= 0.0 {
                search.low = middle;
            } else {
                search.high = middle;
            }
            let a = low_square + high_square - rest * gap;
            let b = high_square * gap;
            let root = (a * a + 4.0 * b * rest).abs().sqrt();
            return if a < 0.0 {
                2.0 * b / (root - a)
            } else {
                (a + root) / (2.0 * rest)
            };
        }
        if value > 0.0 {
            search.high = middle;
            let a = rest * gap + low_square + high_square;
            let b = low_square * gap;
            let root = (a * a - 4.0 * b * rest).abs().sqrt();
            return if a > 0.0 {
                2.0 * b / (a + root)
            } else {
                (a - root) / (2.0 * rest)
            };
        }
        (search.origin, search.low, search.high) = (high, middle - gap, 0.0);
        let a = rest * gap - low_square - high_square;
        let b = high_square * gap;
        let root = (a * a + 4.0 * b * rest).abs().sqrt();
        if a < 0.0 {
            2.0 * b / (a - root)
        } else {
            -(a + root) / (2.0 * rest)
        }
    }

    /// The vector with which the matrix has exactly these eigenvalues.
    pub(super) fn weights(&self, roots: &[Root]) -> Vec<f64> {
        let mut squares = vec![1.0; self.d.len()];
        for (i, root) in roots.iter().enumerate() {
            multiply(&mut squares, &self.d, i, [self.d[root.pole], root.distance]);
        }
        let weight = |(square, z): (&f64, &f64)| square.abs().sqrt().copysign(*z);
        squares.iter().zip(&self.z).map(weight).collect()
    }
}

for_each_isa! {
    /// Multiplies the j-th number by `(dⱼ - λᵢ) / (dⱼ - dᵢ)`, the i-th by the numerator alone.
    fn multiply(numbers: &mut [f64], d: &[f64], i: usize, root: [f64; 2]) = multiply_any
}

#[inline(always)]
fn multiply_any(numbers: &mut [f64], d: &[f64], i: usize, [origin, distance]: [f64; 2]) {
    let pole = d[i];
    for (number, &d) in numbers[..i].iter_mut().zip(d) {
        *number *= ((d - origin) - distance) / (d - pole);
    }
    numbers[i] *= (pole - origin) - distance;
    for (number, &d) in numbers[i + 1..].iter_mut().zip(&d[i + 1..]) {
        *number *= ((d - origin) - distance) / (d - pole);
    }
}

for_each_isa! {
    /// Fills rows with the eigenvectors of some eigenvalues, given as origins and distances: of norm 1,
    /// and proportional to `zⱼ / (dⱼ - λ)`.
    pub(super) fn vectors<R: RealScalar>(d: &[f64], z: &[f64], roots: &[[f64; 2]], rows: &mut [R]) = vectors_any
}

#[inline(always)]
fn vectors_any<R: RealScalar>(d: &[f64], z: &[f64], roots: &[[f64; 2]], rows: &mut [R]) {
    let k = d.len();
    let mut work = vec![0.0; k];
    let (d, z) = (&d[..k], &z[..k]);
    for (row, &[origin, distance]) in rows.chunks_exact_mut(k).zip(roots) {
        let work = &mut work[..k];
        for j in 0..k {
            work[j] = z[j] / ((d[j] - origin) - distance);
        }
        normalised(work, row);
    }
}

for_each_isa! {
    /// As [`vectors`], of their images under the matrix whose rows are zᵀ and, for each value, a row that has
    /// it on the diagonal: zᵀ stands in the place of the one value that is zero, and gives -1. `d` are squares
    /// of the values.
    pub(super) fn images<R: RealScalar>(
        d: &[f64],
        z: &[f64],
        values: &[f64],
        roots: &[[f64; 2]],
        rows: &mut [R],
    ) = images_any
}

#[inline(always)]
fn images_any<R: RealScalar>(
    d: &[f64],
    z: &[f64],
    values: &[f64],
    roots: &[[f64; 2]],
    rows: &mut [R],
) {
    let k = d.len();
    let mut work = vec![0.0; k];
    let (d, z, values) = (&d[..k], &z[..k], &values[..k]);
    for (row, &[origin, distance]) in rows.chunks_exact_mut(k).zip(roots) {
        let work = &mut work[..k];
        for j in 0..k {
            let image = values[j] * (z[j] / ((d[j] - origin) - distance));
            work[j] = if values[j] == 0.0 { -1.0 } else { image };
        }
        normalised(work, row);
    }
}

/// Rounds a vector that is brought to norm 1.
#[inline(always)]
fn normalised<R: RealScalar>(from: &[f64], to: &mut [R]) {
    let k = from.len();
    let full = k / LANES * LANES;
    let mut squares = [0.0; LANES];
    for start in (0..full).step_by(LANES) {
        let chunk = &from[start..start + LANES];
        for lane in 0..LANES {
            squares[lane] += chunk[lane] * chunk[lane];
        }
    }
    let mut square = 0.0;
    for sum in squares {
        square += sum;
    }
    for x in &from[full..] {
        square += x * x;
    }
    let factor = 1.0 / square.sqrt();
    let to = &mut to[..k];
    for j in 0..k {
        to[j] = R::from_components(from[j] * factor, 0.0);
    }
}
