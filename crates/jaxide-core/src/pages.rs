//! Large arrays in huge pages.
//!
//! The processor finds few addresses of small pages without a walk through tables: of ten million elements of 16 bits that are read at random, each
//! takes two thirds of the time in huge pages. The system has to be asked for them, before the memory is touched.

use crate::tensor::Storage;

/// Smaller arrays are left to the allocator.
pub(crate) const LEAST: usize = 4 << 20;

#[cfg(target_os = "linux")]
mod linux {
    use super::{LEAST, Storage};
    use memmap2::{Advice, MmapMut};

    /// The size and alignment of a huge page.
    const HUGE: usize = 2 << 20;

    /// Bytes in huge pages, as far as the system has them.
    pub(crate) struct Pages {
        map: MmapMut,
        start: usize,
        length: usize,
    }

    impl Pages {
        /// So many zeros, which take memory when they are written to; none if they are few or the system refuses.
        pub(crate) fn zeros(length: usize) -> Option<Pages> {
            if length < LEAST || cfg!(miri) {
                return None;
            }
            let map = MmapMut::map_anon(length.checked_add(HUGE)?).ok()?;
            // What it says about time alone may be refused.
            let _ = map.advise(Advice::HugePage);
            let start = map.as_ptr().align_offset(HUGE);
            Some(Pages { map, start, length })
        }
    }

    impl Storage for Pages {
        fn bytes(&self) -> &[u8] {
            &self.map[self.start..self.start + self.length]
        }

        fn bytes_mut(&mut self) -> &mut [u8] {
            &mut self.map[self.start..self.start + self.length]
        }
    }
}
#[cfg(target_os = "linux")]
pub(crate) use linux::Pages;

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::Storage;

    /// There are none that could be asked for.
    pub(crate) enum Pages {}

    impl Pages {
        pub(crate) fn zeros(_length: usize) -> Option<Pages> {
            None
        }
    }

    impl Storage for Pages {
        fn bytes(&self) -> &[u8] {
            match *self {}
        }

        fn bytes_mut(&mut self) -> &mut [u8] {
            match *self {}
        }
    }
}
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::Pages;
