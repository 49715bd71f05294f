//! Moves, also many at once.

use super::*;

impl Encode<'_> {
    pub(super) fn move_one(&mut self, dst: Reg, src: Reg) -> Encoded {
        let class = self.class(dst);
        match (
            self.allocation.places[dst.index()],
            self.allocation.places[src.index()],
        ) {
            (Place::Machine(d), Place::Machine(s)) => self.copy(class, d, s),
            (Place::Machine(d), _) => self.load_home(src, d),
            (_, Place::Machine(s)) => self.store_home(dst, s),
            _ => {
                let m = Scratch::new(self.allocation).take(class);
                self.load_home(src, m)?;
                self.store_home(dst, m)
            }
        }
    }

    pub(super) fn move_all(&mut self, pairs: &[(Reg, Reg)]) -> Encoded {
        let place = |s: &Self, r: Reg| {
            (
                s.allocation.places[r.index()],
                matches!(s.class(r), Class::Mask),
            )
        };
        // Constants in memory are never overwritten, so only equal places of the frame or of the machine matter.
        let same = |s: &Self, a: Reg, b: Reg| {
            place(s, a) == place(s, b) && s.asm.regs[b.index()].home == Home::Slot
        };
        let mut left: Vec<(Reg, Reg)> = pairs
            .iter()
            .copied()
            .filter(|&(d, s)| !same(self, d, s))
            .collect();
        while !left.is_empty() {
            // A move whose destination no other one still reads.
            let ready = left
                .iter()
                .position(|&(d, _)| left.iter().all(|&(_, s)| !same(self, d, s)));
            if let Some(k) = ready {
                let (d, s) = left.swap_remove(k);
                self.move_one(d, s)?;
                continue;
            }
            // Only cycles are left: put one aside.
            let (first, source) = left.swap_remove(0);
            let class = self.class(source);
            match self.allocation.places[source.index()] {
                Place::Machine(m) => self.frame_store(class, m, self.swap)?,
                _ => {
                    let m = Scratch::new(self.allocation).take(class);
                    self.load_home(source, m)?;
                    self.frame_store(class, m, self.swap)?;
                }
            }
            // The rest of the cycle, from the place that is now free.
            let mut free = source;
            while let Some(k) = left.iter().position(|&(d, _)| same(self, d, free)) {
                let (d, s) = left.swap_remove(k);
                self.move_one(d, s)?;
                free = s;
            }
            match self.allocation.places[first.index()] {
                Place::Machine(m) => self.frame_load(class, m, self.swap)?,
                _ => {
                    let m = Scratch::new(self.allocation).take(class);
                    self.frame_load(class, m, self.swap)?;
                    self.store_home(first, m)?;
                }
            }
        }
        Ok(())
    }
}
