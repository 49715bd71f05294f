//! Copies of operands in the order in which tiles read them.
//!
//! A *panel* is `width` rows of the left operand, or columns of the right one, stored step by step
//! along the inner dimension: `panel[p * width + i]`. Panels of the right operand are as wide as
//! the widest tile and padded with zeros; panels of the left one are exactly as wide as their tile
//! is high.

use num_complex::Complex;

use crate::runtime::simd::{Arithmetic, Isa, Simd};
use crate::runtime::transpose::rows_to_columns;

/// One panel to copy: `to[p * width + i] = from[i * across + p * along]`, zero for
/// `count <= i < width`.
pub(in crate::runtime) struct Panel<T> {
    pub(in crate::runtime) from: *const T,
    pub(in crate::runtime) across: isize,
    pub(in crate::runtime) along: isize,
    pub(in crate::runtime) count: usize,
    pub(in crate::runtime) depth: usize,
    pub(in crate::runtime) width: usize,
    pub(in crate::runtime) to: *mut T,
}

/// # Safety
/// The machine has the instruction set of `S`; all elements that the panel names are valid and do
/// not overlap.
#[inline(always)]
pub(in crate::runtime) unsafe fn pack_panel<S: Simd>(panel: &Panel<S::Elem>) {
    let &Panel {
        from,
        across,
        along,
        count,
        depth,
        width,
        to,
    } = panel;
    // SAFETY: the caller promises that every element with `i < count` and `p < depth` is valid.
    unsafe {
        for p in 0..if count < width { depth } else { 0 } {
            for i in count..width {
                to.add(p * width + i).write(S::Elem::ZERO);
            }
        }
        if across == 1 {
            for p in 0..depth {
                let (from, to) = (from.offset(p as isize * along), to.add(p * width));
                for i in (0..count).step_by(S::LANES) {
                    let (from, to, rest) = (from.add(i), to.add(i), count - i);
                    if rest >= S::LANES {
                        S::load(from).store(to);
                    } else {
                        S::load_first(from, rest).store_first(to, rest);
                    }
                }
            }
            return;
        }
        // Rows that become columns are turned square by square in registers, if there is one.
        let side = (16 / size_of::<S::Elem>()).max(4);
        if along == 1 && count >= side && depth >= side {
            rows_to_columns((from, across), (to, width), (count, depth), Isa::detect());
            return;
        }
        for i in 0..count {
            let row = from.offset(i as isize * across);
            for p in 0..depth {
                to.add(p * width + i)
                    .write(row.offset(p as isize * along).read());
            }
        }
    }
}

/// A panel of complex numbers with each step's real parts before its imaginary parts.
///
/// # Safety
/// All elements that the panel names are valid and do not overlap.
#[inline(always)]
pub(in crate::runtime) unsafe fn pack_split<T: Arithmetic>(panel: &Panel<Complex<T>>) {
    let &Panel {
        from,
        across,
        along,
        count,
        depth,
        width,
        to,
    } = panel;
    let to = to.cast::<T>();
    // SAFETY: the caller promises that every element with `i < count` and `p < depth` is valid.
    unsafe {
        for p in 0..depth {
            let to = to.add(2 * p * width);
            for i in 0..count {
                let x = from.offset(i as isize * across + p as isize * along).read();
                to.add(i).write(x.re);
                to.add(width + i).write(x.im);
            }
            for i in count..width {
                to.add(i).write(T::ZERO);
                to.add(width + i).write(T::ZERO);
            }
        }
    }
}
