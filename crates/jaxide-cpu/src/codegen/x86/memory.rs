//! Loads and stores, and what of them is done one lane at a time.

use super::*;
use crate::codegen::emit;
use super::table::{PAND, POR};
use crate::lanes::{Addr, BinOp, LaneStep, MemTy, woven_count};

use Register::{DL, DX, EAX, EDX};

impl<T: Target> emit::Memory for Emitter<'_, T> {
    fn load(&mut self, v: Value, mem: MemTy, addr: &Addr) {
        let first = self.copies[0];
        for copy in self.copies.clone() {
            if addr.lane == LaneStep::Uniform && copy != first {
                let same = self.get(v, first);
                self.set(v, copy, same);
                continue;
            }
            let dst = self.dest(v, copy);
            self.load_copy(mem, addr, dst, copy);
            self.set(v, copy, dst);
        }
    }

    fn store(&mut self, mem: MemTy, addr: &Addr, value: Value) {
        for copy in self.copies.clone() {
            let v = self.get(value, copy);
            let exec = self.exec[copy];
            let done = match self.access(mem, addr, copy) {
                Access::Contiguous(at) => {
                    self.target.store(&mut self.asm, mem, at, v, exec);
                    true
                }
                Access::Reversed(at, exec) => {
                    let (unit, raw) = self.raw(mem, v);
                    let backward = self.new_reg(unit.lane());
                    self.target
                        .reverse(&mut self.asm, unit.lane(), backward, raw);
                    self.target.store(&mut self.asm, unit, at, backward, exec);
                    true
                }
                Access::Indexed(at, index) => {
                    self.target
                        .scatter(&mut self.asm, mem.lane(), at, v, index, exec)
                }
                Access::Uniform(_) | Access::Spread(_) | Access::LaneByLane => false,
            };
            if !done {
                self.store_lanes(mem, addr, v, copy);
            }
        }
    }

    fn store_woven(&mut self, mem: MemTy, addr: &Addr, values: &[Value]) {
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
}

impl<T: Target> Emitter<'_, T> {
    fn load_copy(&mut self, mem: MemTy, addr: &Addr, dst: Reg, copy: usize) {
        let exec = self.exec[copy];
        let ty = mem.lane();
        match self.access(mem, addr, copy) {
            Access::Uniform(at) if mem.size() >= 4 => {
                self.target.broadcast(&mut self.asm, ty, dst, at)
            }
            Access::Uniform(at) => {
                self.load_gpr(mem, at);
                let raw = self.new_reg(Ty::I32);
                self.target.broadcast_gpr(&mut self.asm, Ty::I32, raw);
                self.target.raw_to_lane(&mut self.asm, mem, dst, raw);
            }
            Access::Contiguous(at) => self.target.load(&mut self.asm, mem, dst, at, exec),
            Access::Reversed(at, exec) => {
                let unit = raw_type(mem);
                let backward = self.new_reg(unit.lane());
                self.target.load(&mut self.asm, unit, backward, at, exec);
                let forward = self.raw_register(mem, dst);
                self.target
                    .reverse(&mut self.asm, unit.lane(), forward, backward);
                self.from_raw(mem, dst, forward);
            }
            Access::Spread(step) => self.load_spread(mem, addr, dst, step, copy),
            Access::Indexed(at, index) => {
                self.target.gather(&mut self.asm, ty, dst, at, index, exec)
            }
            Access::LaneByLane => {
                let raw_ty = if mem.size() == 8 { Ty::I64 } else { Ty::I32 };
                let (out, step) = (self.asm.buffer(64), raw_ty.bits() as i32 / 8);
                let zero = self.target.splat(&mut self.asm, raw_ty, 0);
                self.target
                    .store(&mut self.asm, memory(raw_ty), Mem::frame(out), zero, None);
                self.each_lane(addr, copy, RDX, |s, lane, at| {
                    s.load_gpr(mem, at);
                    let to = Mem::frame(out + step * narrow::<_, i32>(lane));
                    let (code, from) = if step == 8 {
                        (Code::Mov_rm64_r64, RAX)
                    } else {
                        (Code::Mov_rm32_r32, EAX)
                    };
                    s.asm.int(code, &[Int::Mem(to), Int::Gpr(from)]);
                });
                let raw = self.new_reg(raw_ty);
                self.target
                    .load(&mut self.asm, memory(raw_ty), raw, Mem::frame(out), None);
                if mem.size() >= 4 {
                    self.asm.put(dst, raw);
                } else {
                    self.target.raw_to_lane(&mut self.asm, mem, dst, raw);
                }
            }
        }
    }

    fn store_lanes(&mut self, mem: MemTy, addr: &Addr, v: Reg, copy: usize) {
        let elements = self.spread(mem, v);
        self.each_lane(addr, copy, RAX, |s, lane, at| {
            s.store_element(mem, elements, lane, at)
        });
    }

    /// Stores the first lane.
    pub(super) fn store_first(&mut self, mem: MemTy, addr: &Addr, v: Reg) {
        let elements = self.spread(mem, v);
        let at = self.mem(addr, 0);
        self.store_element(mem, elements, 0, at);
    }

    /// Puts the lanes into the frame, as integers of their width.
    fn spread(&mut self, mem: MemTy, v: Reg) -> i32 {
        let raw_ty = if mem.size() == 8 { Ty::I64 } else { Ty::I32 };
        let at = self.asm.buffer(64);
        let raw = self.target.lane_to_raw(&mut self.asm, mem, v);
        self.target
            .store(&mut self.asm, memory(raw_ty), Mem::frame(at), raw, None);
        at
    }

    /// Moves a lane from the frame to its place.
    fn store_element(&mut self, mem: MemTy, elements: i32, lane: usize, at: Mem) {
        let step = if mem.size() == 8 { 8 } else { 4 };
        let element = Mem::frame(elements + step * narrow::<_, i32>(lane));
        let (code, to) = if step == 8 {
            (Code::Mov_r64_rm64, RDX)
        } else {
            (Code::Mov_r32_rm32, EDX)
        };
        // The address may be in rdx.
        let at = match at.base {
            Base::Gpr(RDX) => {
                self.asm
                    .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Gpr(RDX)]);
                Mem {
                    base: Base::Gpr(RAX),
                    ..at
                }
            }
            _ => at,
        };
        self.asm.int(code, &[Int::Gpr(to), Int::Mem(element)]);
        let (code, from) = match mem.size() {
            1 => (Code::Mov_rm8_r8, DL),
            2 => (Code::Mov_rm16_r16, DX),
            4 => (Code::Mov_rm32_r32, EDX),
            _ => (Code::Mov_rm64_r64, RDX),
        };
        self.asm.int(code, &[Int::Mem(at), Int::Gpr(from)]);
    }

    /// An element, extended, in rax.
    fn load_gpr(&mut self, mem: MemTy, at: Mem) {
        let (code, to) = match mem {
            MemTy::Bool | MemTy::U8 => (Code::Movzx_r32_rm8, EAX),
            MemTy::I8 => (Code::Movsx_r32_rm8, EAX),
            MemTy::U16 | MemTy::F16 | MemTy::Bf16 => (Code::Movzx_r32_rm16, EAX),
            MemTy::I16 => (Code::Movsx_r32_rm16, EAX),
            MemTy::I32 | MemTy::F32 => (Code::Mov_r32_rm32, EAX),
            MemTy::I64 | MemTy::F64 => (Code::Mov_r64_rm64, RAX),
        };
        self.asm.int(code, &[Int::Gpr(to), Int::Mem(at)]);
    }

    /// How the lanes of a copy reach their elements.
    fn access(&mut self, mem: MemTy, addr: &Addr, copy: usize) -> Access {
        let masked = self.exec[copy].is_some();
        if mem.size() < 4
            && masked
            && addr.lane != LaneStep::Uniform
            && !self.target.masks_small_elements()
        {
            return Access::LaneByLane;
        }
        match addr.lane {
            LaneStep::Uniform => Access::Uniform(self.mem(addr, copy)),
            LaneStep::Stride(_) if self.is_contiguous(mem, addr) => {
                Access::Contiguous(self.mem(addr, copy))
            }
            LaneStep::Stride(s) if s == -mem.size() => {
                let lanes = self.target.lanes();
                let exec = self.exec[copy]
                    .map(|exec| self.pick_mask(exec, (0..narrow(lanes)).rev().map(Some)));
                let last = s * (copy as i64 * lanes + lanes - 1);
                let (base, disp) = self.base(addr);
                self.asm
                    .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Var(LANE)]);
                self.multiply_rax(s);
                self.add_base_to_rax(base);
                Access::Reversed(Mem::gpr(RAX, disp + narrow::<_, i32>(last)), exec)
            }
            LaneStep::Stride(s) if woven_count(mem, s).is_some() => Access::Spread(s / mem.size()),
            LaneStep::Stride(s) => {
                let lanes = self.target.lanes();
                let farthest = s.saturating_mul(lanes * 4).unsigned_abs();
                if mem.size() < 4 || farthest > 1 << 30 {
                    return Access::LaneByLane;
                }
                let offsets = self.counting(Ty::I32, copy as i64 * lanes, s);
                let (base, disp) = self.base(addr);
                self.asm
                    .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Var(LANE)]);
                self.multiply_rax(s);
                self.add_base_to_rax(base);
                Access::Indexed(
                    Mem::gpr(RAX, disp).indexed(Index::Vector(offsets), 1),
                    Ty::I32,
                )
            }
            LaneStep::Gather(index, scale) => {
                if mem.size() < 4 || !matches!(scale, 1 | 2 | 4 | 8) {
                    return Access::LaneByLane;
                }
                let ty = self.body.ty(index);
                let index = self.get(index, copy);
                let (base, disp) = self.base(addr);
                Access::Indexed(
                    Mem::new(base, disp).indexed(Index::Vector(index), narrow(scale)),
                    ty,
                )
            }
        }
    }

    /// Every element of some that lie so many elements apart: registers from the first of them to the last, and the lanes that are theirs.
    fn load_spread(&mut self, mem: MemTy, addr: &Addr, dst: Reg, step: i64, copy: usize) {
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
        self.from_raw(mem, dst, picked);
    }

    /// A mask of which each lane is a lane of another, or does not hold.
    fn pick_mask(&mut self, mask: Reg, lanes: impl Iterator<Item = Option<usize>>) -> Reg {
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
    fn raw(&mut self, mem: MemTy, v: Reg) -> (MemTy, Reg) {
        let raw = if mem.size() < 4 {
            self.target.lane_to_raw(&mut self.asm, mem, v)
        } else {
            v
        };
        (raw_type(mem), raw)
    }

    /// Where to put what is in memory so that it becomes a lane value in `dst`.
    fn raw_register(&mut self, mem: MemTy, dst: Reg) -> Reg {
        if mem.size() < 4 {
            self.new_reg(Ty::I32)
        } else {
            dst
        }
    }

    fn from_raw(&mut self, mem: MemTy, dst: Reg, raw: Reg) {
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
        self.target.shift_by(
            &mut self.asm,
            BinOp::Shl,
            Ty::I32,
            high,
            b,
            u64::from(bits),
        );
        self.target.two(&mut self.asm, &POR, Ty::I32, low, high)
    }

    /// The address of a copy's first element, of lanes that are so many bytes apart.
    fn start_of_copy(&mut self, addr: &Addr, copy: usize, bytes: i64) -> Mem {
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

    fn add_base_to_rax(&mut self, base: Base) {
        let from = match base {
            Base::Gpr(r) => Int::Gpr(r),
            Base::Var(v) => Int::Var(v),
            Base::Frame | Base::Pool => unreachable!("an access starts at a pointer"),
        };
        self.asm.int(Code::Add_r64_rm64, &[Int::Gpr(RAX), from]);
    }

    /// Calls `f` for each active lane with the address of its element, which may start in `start`, rax or rdx, and have rax as its index.
    fn each_lane(
        &mut self,
        addr: &Addr,
        copy: usize,
        start: Register,
        mut f: impl FnMut(&mut Self, usize, Mem),
    ) {
        let lanes = self.target.lanes();
        let (mask_at, base_at, index_at) =
            (self.asm.buffer(8), self.asm.buffer(8), self.asm.buffer(64));
        let (base, disp) = self.base(addr);
        self.asm.int(
            Code::Mov_r64_imm64,
            &[Int::Gpr(RAX), Int::Imm(i64::from(disp))],
        );
        self.add_base_to_rax(base);
        self.asm.int(
            Code::Mov_rm64_r64,
            &[Int::Mem(Mem::frame(base_at)), Int::Gpr(RAX)],
        );
        let exec = self.exec[copy];
        if let Some(exec) = exec {
            self.target.mask_to_gpr(&mut self.asm, exec);
            self.asm.int(
                Code::Mov_rm32_r32,
                &[Int::Mem(Mem::frame(mask_at)), Int::Gpr(EDX)],
            );
        }
        let mut index_bits = 0;
        if let LaneStep::Gather(index, _) = addr.lane {
            let ty = self.body.ty(index);
            index_bits = ty.bits();
            let index = self.get(index, copy);
            self.target
                .store(&mut self.asm, memory(ty), Mem::frame(index_at), index, None);
        }
        // What lanes have in common is computed once.
        let common = Int::Mem(Mem::frame(base_at));
        match addr.lane {
            LaneStep::Stride(s) => {
                self.asm
                    .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Var(LANE)]);
                self.multiply_rax(s);
                self.asm.int(Code::Add_r64_rm64, &[Int::Gpr(RAX), common]);
                if start != RAX {
                    self.asm
                        .int(Code::Mov_r64_rm64, &[Int::Gpr(start), Int::Gpr(RAX)]);
                }
            }
            LaneStep::Uniform | LaneStep::Gather(..) => {
                self.asm
                    .int(Code::Mov_r64_rm64, &[Int::Gpr(start), common]);
            }
        }
        for lane in 0..narrow::<_, usize>(lanes) {
            let next = self.asm.label();
            if exec.is_some() {
                let bit = Int::Imm(lane as i64);
                self.asm
                    .int(Code::Bt_rm32_imm8, &[Int::Mem(Mem::frame(mask_at)), bit]);
                self.asm.push(Lir::Branch(Cond::AboveEqual, next));
            }
            let at = match addr.lane {
                LaneStep::Uniform => Mem::gpr(start, 0),
                LaneStep::Stride(s) => {
                    let ahead = (copy as i64 * lanes + lane as i64).saturating_mul(s);
                    match i32::try_from(ahead) {
                        Ok(ahead) => Mem::gpr(start, ahead),
                        Err(_) => {
                            let number =
                                Mem::new(Base::Var(LANE), narrow(copy as i64 * lanes + lane as i64));
                            self.asm
                                .int(Code::Lea_r64_m, &[Int::Gpr(RAX), Int::Mem(number)]);
                            self.multiply_rax(s);
                            self.asm.int(Code::Add_r64_rm64, &[Int::Gpr(RAX), common]);
                            Mem::gpr(RAX, 0)
                        }
                    }
                }
                LaneStep::Gather(_, scale) => {
                    let (code, step) = if index_bits == 32 {
                        (Code::Movsxd_r64_rm32, 4)
                    } else {
                        (Code::Mov_r64_rm64, 8)
                    };
                    let from = Mem::frame(index_at + step * narrow::<_, i32>(lane));
                    self.asm.int(code, &[Int::Gpr(RAX), Int::Mem(from)]);
                    if start != RAX && matches!(scale, 1 | 2 | 4 | 8) {
                        Mem::gpr(start, 0).indexed(Index::Gpr(RAX), narrow(scale))
                    } else {
                        self.multiply_rax(scale);
                        self.asm.int(Code::Add_r64_rm64, &[Int::Gpr(RAX), common]);
                        Mem::gpr(RAX, 0)
                    }
                }
            };
            f(self, lane, at);
            self.asm.push(Lir::Label(next));
        }
    }
}

enum Access {
    /// One address for all lanes.
    Uniform(Mem),
    /// Consecutive elements.
    Contiguous(Mem),
    /// Consecutive elements, the last lane's first, and the mask in this order.
    Reversed(Mem, Option<Reg>),
    /// Elements so many elements apart, which is few.
    Spread(i64),
    /// An index per lane, of this type.
    Indexed(Mem, Ty),
    LaneByLane,
}

/// The memory type of a lane integer.
fn memory(ty: Ty) -> MemTy {
    if ty == Ty::I64 {
        MemTy::I64
    } else {
        MemTy::I32
    }
}

/// How an element is held as an integer.
fn raw_type(mem: MemTy) -> MemTy {
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
