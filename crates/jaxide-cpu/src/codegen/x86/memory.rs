//! Loads and stores, and what of them is done one lane at a time.

use super::*;
use crate::codegen::emit;
use crate::lanes::{Addr, LaneStep, MemTy};

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
                Access::Reversed(at) => {
                    let backward = self.new_reg(mem.lane());
                    self.target.reverse(&mut self.asm, mem.lane(), backward, v);
                    self.target.store(&mut self.asm, mem, at, backward, None);
                    true
                }
                Access::Indexed(at, index) => {
                    self.target
                        .scatter(&mut self.asm, mem.lane(), at, v, index, exec)
                }
                Access::Uniform(_) | Access::Spread(..) | Access::LaneByLane => false,
            };
            if !done {
                self.store_lanes(mem, addr, v, copy);
            }
        }
    }

    fn store_woven(&mut self, mem: MemTy, addr: &Addr, values: &[Value]) {
        if self.exec.iter().any(Option::is_some) {
            return emit::store_apart(self, mem, addr, values);
        }
        let (lanes, count) = (narrow::<_, usize>(self.target.lanes()), values.len());
        for copy in self.copies.clone() {
            let from: Vec<Reg> = values.iter().map(|&value| self.get(value, copy)).collect();
            let at = self.start_of_copy(addr, copy, count as i64 * mem.size());
            for part in 0..count {
                let order: Vec<(usize, usize)> = (part * lanes..(part + 1) * lanes)
                    .map(|element| (element % count, element / count))
                    .collect();
                let woven = self.new_reg(mem.lane());
                self.target
                    .pick(&mut self.asm, mem.lane(), woven, &from, &order);
                let at = at.plus(narrow((part * lanes) as i64 * mem.size()));
                self.target.store(&mut self.asm, mem, at, woven, None);
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
            Access::Reversed(at) => {
                let backward = self.new_reg(ty);
                self.target.load(&mut self.asm, mem, backward, at, None);
                self.target.reverse(&mut self.asm, ty, dst, backward);
            }
            Access::Spread(at, step) => self.load_spread(mem, dst, at, step),
            Access::Indexed(at, index) => {
                self.target.gather(&mut self.asm, ty, dst, at, index, exec)
            }
            Access::LaneByLane => {
                let raw_ty = if mem.size() == 8 { Ty::I64 } else { Ty::I32 };
                let (out, step) = (self.asm.buffer(64), raw_ty.bits() as i32 / 8);
                let zero = self.target.splat(&mut self.asm, raw_ty, 0);
                self.target
                    .store(&mut self.asm, memory(raw_ty), Mem::frame(out), zero, None);
                self.each_lane(addr, copy, |s, lane, at| {
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
        self.each_lane(addr, copy, |s, lane, at| {
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
            LaneStep::Stride(s) if s == -mem.size() && mem.size() >= 4 && !masked => {
                let lanes = self.target.lanes();
                let last = s * (copy as i64 * lanes + lanes - 1);
                let (base, disp) = self.base(addr);
                self.asm
                    .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Var(LANE)]);
                self.multiply_rax(s);
                self.add_base_to_rax(base);
                Access::Reversed(Mem::gpr(RAX, disp + narrow::<_, i32>(last)))
            }
            LaneStep::Stride(s) if is_spread(mem, s) && !masked => {
                Access::Spread(self.start_of_copy(addr, copy, s), s / mem.size())
            }
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
    fn load_spread(&mut self, mem: MemTy, dst: Reg, at: Mem, step: i64) {
        let (ty, last) = (mem.lane(), self.target.lanes() - 1);
        let from: Vec<Reg> = (0..step)
            .map(|k| {
                let part = self.new_reg(ty);
                let at = at.plus(narrow(k * last * mem.size()));
                self.target.load(&mut self.asm, mem, part, at, None);
                part
            })
            .collect();
        let lanes: Vec<(usize, usize)> = (0..=last)
            .map(|lane| {
                let register = (lane * step / last).min(step - 1);
                (narrow(register), narrow(lane * step - register * last))
            })
            .collect();
        self.target.pick(&mut self.asm, ty, dst, &from, &lanes);
    }

    /// The address of a copy's first element, of lanes that are so many bytes apart.
    fn start_of_copy(&mut self, addr: &Addr, copy: usize, bytes: i64) -> Mem {
        let offset = narrow::<_, i32>(copy as i64 * self.target.lanes() * bytes);
        let (base, disp) = self.base(addr);
        if bytes == 8 {
            return Mem::new(base, disp)
                .plus(offset)
                .indexed(Index::Var(LANE), 8);
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

    /// Calls `f` for each active lane with the address of its element, which starts in rax.
    fn each_lane(&mut self, addr: &Addr, copy: usize, mut f: impl FnMut(&mut Self, usize, Mem)) {
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
        for lane in 0..narrow::<_, usize>(lanes) {
            let next = self.asm.label();
            if exec.is_some() {
                let bit = Int::Imm(lane as i64);
                self.asm
                    .int(Code::Bt_rm32_imm8, &[Int::Mem(Mem::frame(mask_at)), bit]);
                self.asm.push(Lir::Branch(Cond::AboveEqual, next));
            }
            match addr.lane {
                LaneStep::Uniform => self
                    .asm
                    .int(Code::Mov_r64_imm64, &[Int::Gpr(RAX), Int::Imm(0)]),
                LaneStep::Stride(s) => {
                    let ahead =
                        Mem::new(Base::Var(LANE), narrow(copy as i64 * lanes + lane as i64));
                    self.asm
                        .int(Code::Lea_r64_m, &[Int::Gpr(RAX), Int::Mem(ahead)]);
                    self.multiply_rax(s);
                }
                LaneStep::Gather(_, scale) => {
                    let (code, step) = if index_bits == 32 {
                        (Code::Movsxd_r64_rm32, 4)
                    } else {
                        (Code::Mov_r64_rm64, 8)
                    };
                    let from = Mem::frame(index_at + step * narrow::<_, i32>(lane));
                    self.asm.int(code, &[Int::Gpr(RAX), Int::Mem(from)]);
                    self.multiply_rax(scale);
                }
            }
            self.asm.int(
                Code::Add_r64_rm64,
                &[Int::Gpr(RAX), Int::Mem(Mem::frame(base_at))],
            );
            f(self, lane, Mem::gpr(RAX, 0));
            self.asm.push(Lir::Label(next));
        }
    }
}

/// Whether lanes so many bytes apart are loaded as what lies between them: few elements of whole registers.
fn is_spread(mem: MemTy, bytes: i64) -> bool {
    mem.size() >= 4 && (2..=4).any(|step| bytes == step * mem.size())
}

enum Access {
    /// One address for all lanes.
    Uniform(Mem),
    /// Consecutive elements.
    Contiguous(Mem),
    /// Consecutive elements, the last lane's first.
    Reversed(Mem),
    /// Elements so many elements apart, from the first on.
    Spread(Mem, i64),
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
