//! Plane rotations of neighbouring rows, collected and applied many at a time.
//!
//! Eigenvalue iterations produce long sequences of rotations that do not depend on the vectors they
//! are applied to. Applied together, group of columns by group of columns, they find those columns in
//! the first-level cache; and along a sweep one of the two rows of each rotation stays in registers.

use std::sync::OnceLock;

use super::scalar::Scalar;
use crate::runtime::shared::SharedSlice;
use crate::runtime::simd::for_each_isa;
use crate::runtime::{Context, KernelError, PoolBuffer};

/// Sweeps of rotations to be applied to the rows of a real matrix.
pub(super) struct Sweeps<R> {
    sweeps: Vec<Sweep>,
    /// Cosine and sine of each rotation.
    rotations: Vec<[R; 2]>,
}

/// Rotations of the rows (r, r + 1), where r runs through neighbouring numbers.
#[derive(Clone, Copy)]
struct Sweep {
    /// The first row of the first rotation.
    row: usize,
    /// Whether r grows from one rotation to the next.
    upwards: bool,
    start: usize,
    end: usize,
}

/// Columns that are rotated together: two of the widest vectors.
const COLUMNS: usize = 32;

impl<R: Scalar> Sweeps<R> {
    pub(super) fn new() -> Self {
        Self {
            sweeps: Vec::new(),
            rotations: Vec::new(),
        }
    }

    /// Begins a sweep whose first rotation is of rows `row` and `row + 1`.
    pub(super) fn begin(&mut self, row: usize, upwards: bool) {
        let start = self.rotations.len();
        self.sweeps.push(Sweep {
            row,
            upwards,
            start,
            end: start,
        });
    }

    /// Adds a rotation to the last sweep: row r becomes `c xᵣ + s xᵣ₊₁`, row r + 1 becomes
    /// `c xᵣ₊₁ - s xᵣ`.
    pub(super) fn push(&mut self, c: f64, s: f64) {
        self.rotations
            .push([R::from_components(c, 0.0), R::from_components(s, 0.0)]);
        if let Some(sweep) = self.sweeps.last_mut() {
            sweep.end += 1;
        }
    }

    /// Whether so many rotations wait that moving the columns into the cache is paid for.
    pub(super) fn is_full(&self, rows: usize) -> bool {
        self.rotations.len() >= 32 * rows
    }

    /// Applies all rotations to the rows of a dense matrix of this width, and forgets them.
    pub(super) fn apply(
        &mut self,
        matrix: &mut [R],
        width: usize,
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
        let (sweeps, rotations) = (&self.sweeps, &self.rotations);
        if rotations.is_empty() {
            self.sweeps.clear();
            return Ok(());
        }
        let rows = matrix.len() / width;
        let matrix = SharedSlice::new(matrix);
        let groups = width.div_ceil(COLUMNS);
        let per_chunk = (1usize << 15).div_ceil(rotations.len() * COLUMNS);
        let error = OnceLock::new();
        context.parallel_for(groups.div_ceil(per_chunk), |chunk| {
            let mut buffer = match PoolBuffer::for_elements::<[R; COLUMNS]>(rows) {
                Ok(buffer) => buffer,
                Err(e) => return error.set(e.into()).unwrap_or(()),
            };
            let tile = buffer.as_mut_slice::<[R; COLUMNS]>();
            for group in chunk * per_chunk..groups.min((chunk + 1) * per_chunk) {
                let first = group * COLUMNS;
                let count = COLUMNS.min(width - first);
                // SAFETY: no other chunk has these columns.
                let row = |i: usize| unsafe {
                    matrix.range(i * width + first..i * width + first + count)
                };
                tile.iter_mut()
                    .enumerate()
                    .for_each(|(i, to)| to[..count].copy_from_slice(row(i)));
                rotate(tile, sweeps, rotations);
                tile.iter()
                    .enumerate()
                    .for_each(|(i, from)| row(i).copy_from_slice(&from[..count]));
            }
        });
        self.sweeps.clear();
        self.rotations.clear();
        error.into_inner().map_or(Ok(()), Err)
    }
}

/// The rotation that turns (f, g) into (r, 0): c, s, r.
pub(super) fn rotation(f: f64, g: f64) -> (f64, f64, f64) {
    /// Sums of squares from here on have all their digits; and 2⁹⁶⁰, which brings other numbers there.
    const LEAST_SQUARE: f64 = 1e-280;
    const UP: f64 = f64::from_bits((1023 + 960) << 52);
    let square = f * f + g * g;
    if square > LEAST_SQUARE {
        let r = square.sqrt();
        return (f / r, g / r, r);
    }
    let (f, g) = (f * UP, g * UP);
    let r = (f * f + g * g).sqrt();
    if r == 0.0 {
        return (1.0, 0.0, 0.0);
    }
    (f / r, g / r, r / UP)
}

for_each_isa! {
    /// Rotates the rows of a tile.
    fn rotate<R: Scalar>(tile: &mut [[R; COLUMNS]], sweeps: &[Sweep], rotations: &[[R; 2]]) = rotate_any
}

#[inline(always)]
fn rotate_any<R: Scalar>(tile: &mut [[R; COLUMNS]], sweeps: &[Sweep], rotations: &[[R; 2]]) {
    let mut sweeps = sweeps.iter().filter(|sweep| sweep.end > sweep.start);
    let mut waiting = None;
    while let Some(first) = waiting.take().or_else(|| sweeps.next()) {
        let path = Path::<R>::new(first);
        let all = |sweep: &Sweep| &rotations[sweep.start..sweep.end];
        match sweeps.next() {
            Some(second) if second.follows(first) => {
                path.two_sweeps(tile, all(first), all(second));
            }
            second => {
                path.one_sweep(tile, all(first));
                waiting = second;
            }
        }
    }
}

impl Sweep {
    /// Whether this sweep, right behind another, goes the same way and no further.
    fn follows(&self, other: &Self) -> bool {
        self.row == other.row
            && self.upwards == other.upwards
            && self.end - self.start <= other.end - other.start
    }
}

/// The rows that a sweep meets one after another; and the sign of its sines, as seen from there: downwards
/// the rows of a rotation are exchanged.
struct Path<R> {
    row: usize,
    upwards: bool,
    sign: R,
}

impl<R: Scalar> Path<R> {
    #[inline(always)]
    fn new(sweep: &Sweep) -> Self {
        Self {
            row: if sweep.upwards {
                sweep.row
            } else {
                sweep.row + 1
            },
            upwards: sweep.upwards,
            sign: if sweep.upwards { R::ONE } else { -R::ONE },
        }
    }

    #[inline(always)]
    fn at(&self, step: usize) -> usize {
        if self.upwards {
            self.row + step
        } else {
            self.row - step
        }
    }

    /// Row i is complete after its rotation with row i + 1, which goes on to the next.
    #[inline(always)]
    fn one_sweep(&self, tile: &mut [[R; COLUMNS]], rotations: &[[R; 2]]) {
        let carry = tile[self.at(0)];
        self.from(0, carry, tile, rotations);
    }

    #[inline(always)]
    fn from(
        &self,
        start: usize,
        mut carry: [R; COLUMNS],
        tile: &mut [[R; COLUMNS]],
        rotations: &[[R; 2]],
    ) {
        for step in start..rotations.len() {
            let [c, s] = rotations[step];
            let s = self.sign * s;
            let next = tile[self.at(step + 1)];
            let done = &mut tile[self.at(step)];
            for lane in 0..COLUMNS {
                done[lane] = c * carry[lane] + s * next[lane];
                carry[lane] = c * next[lane] - s * carry[lane];
            }
        }
        tile[self.at(rotations.len())] = carry;
    }

    /// Two sweeps from the same row on, of which the second is no longer: it is one row behind the first, so
    /// that rows are read and written once for both.
    #[inline(always)]
    fn two_sweeps(&self, tile: &mut [[R; COLUMNS]], first: &[[R; 2]], second: &[[R; 2]]) {
        let mut carry = tile[self.at(0)];
        let next = tile[self.at(1)];
        let mut behind = [R::ZERO; COLUMNS];
        let [c, s] = first[0];
        let s = self.sign * s;
        for lane in 0..COLUMNS {
            behind[lane] = c * carry[lane] + s * next[lane];
            carry[lane] = c * next[lane] - s * carry[lane];
        }
        let both = second.len().min(first.len() - 1);
        for step in 1..=both {
            let ([c, s], [c_behind, s_behind]) = (first[step], second[step - 1]);
            let (s, s_behind) = (self.sign * s, self.sign * s_behind);
            let next = tile[self.at(step + 1)];
            let done = &mut tile[self.at(step - 1)];
            for lane in 0..COLUMNS {
                let row = c * carry[lane] + s * next[lane];
                carry[lane] = c * next[lane] - s * carry[lane];
                done[lane] = c_behind * behind[lane] + s_behind * row;
                behind[lane] = c_behind * row - s_behind * behind[lane];
            }
        }
        if second.len() > both {
            // What the first sweep carries is the last row that the second one needs.
            let [c, s] = second[both];
            let s = self.sign * s;
            let done = &mut tile[self.at(both)];
            for lane in 0..COLUMNS {
                done[lane] = c * behind[lane] + s * carry[lane];
                behind[lane] = c * carry[lane] - s * behind[lane];
            }
            tile[self.at(both + 1)] = behind;
            return;
        }
        tile[self.at(both)] = behind;
        self.from(both + 1, carry, tile, first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_rotate_rows_one_after_another() {
        let (rows, width) = (7, 40);
        let mut matrix: Vec<f64> = (0..rows * width).map(|i| (i as f64 * 0.7).sin()).collect();
        let mut want = matrix.clone();
        let mut sweeps = Sweeps::new();
        for (first, upwards, count) in [
            (2, true, 4),
            (5, false, 6),
            (3, true, 0),
            (0, true, 6),
            (1, false, 2),
            (1, false, 2),
            (5, false, 6),
            (5, false, 5),
            (5, false, 3),
            (5, false, 1),
            (0, true, 6),
            (0, true, 6),
            (2, true, 4),
            (2, true, 1),
            (2, true, 1),
            (2, true, 1),
            (2, true, 3),
        ] {
            sweeps.begin(first, upwards);
            for step in 0..count {
                let (s, c) = (first as f64 + step as f64).sin_cos();
                sweeps.push(c, s);
                let r = if upwards { first + step } else { first - step };
                for column in 0..width {
                    let (x, y) = (want[r * width + column], want[(r + 1) * width + column]);
                    want[r * width + column] = c * x + s * y;
                    want[(r + 1) * width + column] = c * y - s * x;
                }
            }
        }
        sweeps
            .apply(&mut matrix, width, &Context::default())
            .unwrap();
        assert!(matrix.iter().zip(&want).all(|(x, y)| (x - y).abs() < 1e-14));
        assert!(
            sweeps
                .apply(&mut matrix, width, &Context::default())
                .is_ok()
                && matrix.len() == rows * width
        );
    }
}
