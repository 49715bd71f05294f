//! Elements that lie a few elements apart: whole registers are loaded and stored, and lanes picked among them.

use super::table::{PAND, POR};
use super::*;
use crate::codegen::emit;
use crate::lanes::{Addr, BinOp, MemTy};

impl<T: Target> Emitter<'_, T> {
    /// Stores values whose elements lie side by side.
    pub(super) fn weave(&mut self, mem: MemTy, addr: &Addr, values: &[Value]) {
        // Neighbours that are one larger element together need not be picked.
        let (mut unit, mut count) = (raw_type(mem), values.len());
        while unit.size() < 4 && count % 2 == 0 {
            (unit, count) = (twice(unit), count / 2);
        }
        let masked = self.exec.iter().any(Option::is_some);
        if masked && unit.size() < 4 && !self.target.masks_small_elements() {
            return emit::store_apart(self, mem, addr, values);
        }
        let lanes = narrow::<_, usize>(self.target.lanes());
        for copy in self.copies.clone() {
            let mut unit = raw_type(mem);
            let mut from: Vec<Reg> = Vec::with_capacity(values.len());
            for &value in values {
                let v = self.get(value, copy);
                from.push(self.raw(mem, v).1);
            }
            while from.len() > count {
                from = (from.chunks(2))
                    .map(|pair| self.join(unit, pair[0], pair[1]))
                    .collect();
                unit = twice(unit);
            }
            let exec = self.exec[copy];
            let step = values.len() as i64 * mem.size();
            if let [all] = from[..] {
                let at = self.start_of_copy(addr, copy, step);
                self.target.store(&mut self.asm, unit, at, all, exec);
                continue;
            }
            let mut parts: Vec<(Reg, Option<Reg>)> = Vec::with_capacity(count);
            for part in 0..count {
                let order: Vec<(usize, usize)> = (part * lanes..(part + 1) * lanes)
                    .map(|element| (element % count, element / count))
                    .collect();
                let woven = self.new_reg(unit.lane());
                self.target
                    .pick(&mut self.asm, unit.lane(), woven, &from, &order);
                let own = order.iter().map(|&(_, lane)| Some(lane));
                let mask = exec.map(|exec| self.pick_mask(exec, own));
                parts.push((woven, mask));
            }
            let at = self.start_of_copy(addr, copy, step);
            for (part, (woven, mask)) in parts.into_iter().enumerate() {
                let at = at.plus(narrow((part * lanes) as i64 * unit.size()));
                self.target.store(&mut self.asm, unit, at, woven, mask);
            }
        }
    }

    /// Every element of some that lie so many elements apart: registers from the first of them to the last, and the lanes that are theirs.
    pub(super) fn load_spread(
        &mut self,
        mem: MemTy,
        addr: &Addr,
        dst: Reg,
        step: i64,
        copy: usize,
    ) {
        let (unit, last) = (raw_type(mem), self.target.lanes() - 1);
        let lanes = narrow::<_, usize>(last + 1);
        let exec = self.exec[copy];
        let masks: Vec<Option<Reg>> = (0..step)
            .map(|k| {
                // The lanes whose elements a register holds that are read from it.
                let wanted = (0..lanes).map(|at| {
                    let element = narrow::<_, usize>(k * last) + at;
                    let lane = element / narrow::<_, usize>(step);
                    (element % narrow::<_, usize>(step) == 0 && lane < lanes).then_some(lane)
                });
                exec.map(|exec| self.pick_mask(exec, wanted))
            })
            .collect();
        let at = self.start_of_copy(addr, copy, step * mem.size());
        let from: Vec<Reg> = (0..step)
            .zip(masks)
            .map(|(k, mask)| {
                let part = self.new_reg(unit.lane());
                let at = at.plus(narrow(k * last * mem.size()));
                self.target.load(&mut self.asm, unit, part, at, mask);
                part
            })
            .collect();
        let order: Vec<(usize, usize)> = (0..=last)
            .map(|lane| {
                let register = (lane * step / last).min(step - 1);
                (narrow(register), narrow(lane * step - register * last))
            })
            .collect();
        let picked = self.raw_register(mem, dst);
        self.target
            .pick(&mut self.asm, unit.lane(), picked, &from, &order);
        self.put_raw(mem, dst, picked);
    }

    /// A mask of which each lane is a lane of another, or does not hold.
    pub(super) fn pick_mask(
        &mut self,
        mask: Reg,
        lanes: impl Iterator<Item = Option<usize>>,
    ) -> Reg {
        let bits = self.target.lane_to_raw(&mut self.asm, MemTy::Bool, mask);
        let none = self.target.splat(&mut self.asm, Ty::I32, 0);
        let order: Vec<(usize, usize)> = lanes
            .map(|lane| lane.map_or((1, 0), |lane| (0, lane)))
            .collect();
        let picked = self.new_reg(Ty::I32);
        self.target
            .pick(&mut self.asm, Ty::I32, picked, &[bits, none], &order);
        let result = self.new_reg(Ty::Mask);
        self.target
            .raw_to_lane(&mut self.asm, MemTy::Bool, result, picked);
        result
    }

    /// A lane value as what is in memory, and the type of that.
    pub(super) fn raw(&mut self, mem: MemTy, v: Reg) -> (MemTy, Reg) {
        let raw = if mem.size() < 4 {
            self.target.lane_to_raw(&mut self.asm, mem, v)
        } else {
            v
        };
        (raw_type(mem), raw)
    }

    /// Where to put what is in memory so that it becomes a lane value in `dst`.
    pub(super) fn raw_register(&mut self, mem: MemTy, dst: Reg) -> Reg {
        if mem.size() < 4 {
            self.new_reg(Ty::I32)
        } else {
            dst
        }
    }

    pub(super) fn put_raw(&mut self, mem: MemTy, dst: Reg, raw: Reg) {
        if mem.size() < 4 {
            self.target.raw_to_lane(&mut self.asm, mem, dst, raw);
        }
    }

    /// Two small elements as one, the first in the low bits.
    fn join(&mut self, unit: MemTy, a: Reg, b: Reg) -> Reg {
        let bits = 8 * narrow::<_, u32>(unit.size());
        let low = self
            .target
            .splat(&mut self.asm, Ty::I32, (1u64 << bits) - 1);
        let low = self.target.two(&mut self.asm, &PAND, Ty::I32, a, low);
        let high = self.new_reg(Ty::I32);
        self.target
            .shift_by(&mut self.asm, BinOp::Shl, Ty::I32, high, b, u64::from(bits));
        self.target.two(&mut self.asm, &POR, Ty::I32, low, high)
    }

    /// The address of a copy's first element, of lanes that are so many bytes apart.
    pub(super) fn start_of_copy(&mut self, addr: &Addr, copy: usize, bytes: i64) -> Mem {
        let offset = narrow::<_, i32>(copy as i64 * self.target.lanes() * bytes);
        let (base, disp) = self.base(addr);
        if matches!(bytes, 2 | 4 | 8) {
            return Mem::new(base, disp)
                .plus(offset)
                .indexed(Index::Var(LANE), narrow(bytes));
        }
        self.asm
            .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Var(LANE)]);
        self.multiply_rax(bytes);
        self.add_base_to_rax(base);
        Mem::gpr(RAX, disp).plus(offset)
    }
}

/// How an element is held as an integer.
pub(super) fn raw_type(mem: MemTy) -> MemTy {
    match mem {
        MemTy::Bool => MemTy::U8,
        MemTy::F16 | MemTy::Bf16 => MemTy::U16,
        MemTy::I8
        | MemTy::U8
        | MemTy::I16
        | MemTy::U16
        | MemTy::I32
        | MemTy::I64
        | MemTy::F32
        | MemTy::F64 => mem,
    }
}

/// Two neighbours of less than 32 bits as one integer.
fn twice(mem: MemTy) -> MemTy {
    if mem.size() == 1 {
        MemTy::U16
    } else {
        MemTy::I32
    }
}
