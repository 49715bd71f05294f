//! Accumulation over lanes.

use super::*;

impl<T: Target> Emitter<'_, T> {
    pub(super) fn initialise_accumulators(&mut self) {
        for (k, a) in self.accumulators.clone().into_iter().enumerate() {
            let init = self.get(a.init, 0);
            let ty = self.body.ty(a.init);
            for j in 0..self.body.accumulators() as i64 / self.target.lanes() {
                let to = self.accumulator(k, ty, j);
                self.target.store_accumulator(&mut self.asm, ty, to, init);
            }
        }
    }

    /// The place of the `j`th register of an accumulator.
    fn accumulator(&self, k: usize, ty: Ty, j: i64) -> Mem {
        let bits = self.target.accumulator_bits(ty);
        Mem::frame(self.buffers[k] + narrow::<_, i32>(j * self.target.lanes()) * bits / 8)
    }

    /// The place that belongs to the current lanes of a copy.
    fn current_accumulator(&mut self, k: usize, ty: Ty, copy: usize) -> Mem {
        let bits = self.target.accumulator_bits(ty);
        self.asm
            .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Var(LANE)]);
        self.asm
            .int(Code::Sub_r64_rm64, &[Int::Gpr(RAX), Int::Var(self.start)]);
        let last = self.body.accumulators() as i64 - 1;
        self.asm
            .int(Code::And_rm64_imm32, &[Int::Gpr(RAX), Int::Imm(last)]);
        if bits == 1 {
            self.asm
                .int(Code::Shr_rm64_imm8, &[Int::Gpr(RAX), Int::Imm(3)]);
        }
        let at = self.accumulator(k, ty, copy as i64);
        at.indexed(Index::Gpr(RAX), (bits as u32 / 8).max(1))
    }

    pub(super) fn load_accumulators(&mut self) {
        for (k, a) in self.accumulators.clone().into_iter().enumerate() {
            let ty = self.body.ty(a.init);
            for copy in self.copies.clone() {
                let from = self.current_accumulator(k, ty, copy);
                let r = self.new_reg(ty);
                self.target.load_accumulator(&mut self.asm, ty, r, from);
                self.set(a.param, copy, r);
            }
        }
    }

    pub(super) fn store_accumulators(&mut self) {
        for (k, a) in self.accumulators.clone().into_iter().enumerate() {
            let ty = self.body.ty(a.init);
            for copy in self.copies.clone() {
                let mut next = self.get(a.next, copy);
                if let Some(exec) = self.exec[copy] {
                    let old = self.get(a.param, copy);
                    let r = self.new_reg(ty);
                    self.target.select(&mut self.asm, ty, r, exec, next, old);
                    next = r;
                }
                let to = self.current_accumulator(k, ty, copy);
                self.target.store_accumulator(&mut self.asm, ty, to, next);
            }
        }
    }

    pub(super) fn accumulators_to_registers(&mut self, copies: &[usize]) {
        for (k, a) in self.accumulators.clone().into_iter().enumerate() {
            let ty = self.body.ty(a.init);
            for &copy in copies {
                let r = self.new_reg(ty);
                let from = self.accumulator(k, ty, copy as i64);
                self.target.load_accumulator(&mut self.asm, ty, r, from);
                self.set(a.param, copy, r);
            }
        }
    }

    /// Accumulators in registers, which begin.
    pub(super) fn accumulators_from_start(&mut self, copies: &[usize]) {
        for a in self.accumulators.clone() {
            let init = self.get(a.init, 0);
            for &copy in copies {
                let r = self.new_reg(self.body.ty(a.init));
                self.asm.put(r, init);
                self.set(a.param, copy, r);
            }
        }
    }

    /// Accumulators in registers go on, in the lanes that there are.
    pub(super) fn step_accumulators(&mut self) {
        let accumulators = self.accumulators.clone();
        for a in &accumulators {
            for copy in self.copies.clone() {
                if let Some(exec) = self.exec[copy] {
                    let (old, next) = (self.get(a.param, copy), self.get(a.next, copy));
                    let ty = self.body.ty(a.init);
                    let kept = self.new_reg(ty);
                    self.target.select(&mut self.asm, ty, kept, exec, next, old);
                    self.set(a.next, copy, kept);
                }
            }
        }
        self.leave_carries(accumulators.iter().map(|a| (a.param, a.next)));
    }

    pub(super) fn accumulators_to_memory(&mut self, copies: &[usize]) {
        for (k, a) in self.accumulators.clone().into_iter().enumerate() {
            let ty = self.body.ty(a.init);
            for &copy in copies {
                let r = self.get(a.param, copy);
                let to = self.accumulator(k, ty, copy as i64);
                self.target.store_accumulator(&mut self.asm, ty, to, r);
            }
        }
    }

    /// Combines all accumulators, from registers or from memory, in the fixed order and stores the results.
    pub(super) fn combine_all(&mut self, in_registers: bool) {
        let lanes = self.target.lanes();
        let mut first = 0;
        for r in self.body.reductions() {
            let count = self.body.accumulators() as i64 / lanes;
            let types: Vec<Ty> = r
                .accumulators
                .iter()
                .map(|a| self.body.ty(a.init))
                .collect();
            let mut state: Vec<Vec<Reg>> = Vec::new();
            for j in 0..count {
                let mut row = Vec::new();
                for (k, &ty) in types.iter().enumerate() {
                    if in_registers {
                        row.push(self.get(r.accumulators[k].param, narrow(j)));
                        continue;
                    }
                    let reg = self.new_reg(ty);
                    let from = self.accumulator(first + k, ty, j);
                    self.target.load_accumulator(&mut self.asm, ty, reg, from);
                    row.push(reg);
                }
                state.push(row);
            }
            let combine = |s: &mut Self, left: &[Reg], right: &[Reg]| -> Vec<Reg> {
                for (a, (&x, &y)) in r.accumulators.iter().zip(left.iter().zip(right)) {
                    s.set(a.pair.0, 0, x);
                    s.set(a.pair.1, 0, y);
                }
                s.block(r.combine);
                r.accumulators
                    .iter()
                    .map(|a| s.get(a.combined, 0))
                    .collect()
            };
            while state.len() > 1 {
                let right = state.split_off(state.len() / 2);
                state = state
                    .iter()
                    .zip(&right)
                    .map(|(x, y)| combine(self, x, y))
                    .collect();
            }
            let mut last = state.remove(0);
            let mut half = lanes / 2;
            while half > 0 {
                let mut turned = Vec::new();
                for (&x, &ty) in last.iter().zip(&types) {
                    let reg = self.new_reg(ty);
                    self.target.rotate(&mut self.asm, ty, reg, x, narrow(half));
                    turned.push(reg);
                }
                last = combine(self, &last, &turned);
                half /= 2;
            }
            for (a, &v) in r.accumulators.iter().zip(&last) {
                self.store_first(a.ty, &a.dest, v);
            }
            first += r.accumulators.len();
        }
    }
}
