//! Loads and stores, and what of them is done one lane at a time.

use super::few;
use super::spread::raw_type;
use super::*;
use crate::codegen::emit;
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
            match self.halves_of(v) {
                Some(halves) => self.load_halves(halves, addr, dst, copy),
                None => self.load_copy(mem, addr, dst, copy),
            }
            self.set(v, copy, dst);
        }
    }

    fn store(&mut self, mem: MemTy, addr: &Addr, value: Value) {
        if let Some(halves) = self.halves_of(value) {
            return self.store_halves(halves, addr, value);
        }
        // The upper half of what is rounded.
        let upper = mem == MemTy::Bf16
            && (self.plan.bfloats.is_exact(value) || self.plan.bfloats.has_short_nan(value));
        let mem = if upper { MemTy::U16 } else { mem };
        for copy in self.copies.clone() {
            let mut v = self.get(value, copy);
            if upper {
                if !self.plan.bfloats.is_exact(value) {
                    v = self.upper_rounded(v);
                }
                let bits = self.new_reg(Ty::I32);
                self.target
                    .shift_by(&mut self.asm, BinOp::ShrU, Ty::I32, bits, v, 16);
                v = bits;
            }
            let exec = self.exec[copy];
            if let Some(count) = self.lanes_of(exec)
                && self.is_contiguous(mem, addr)
                && self.is_better_in_pieces(count * mem.size())
            {
                let at = self.mem(addr, copy);
                self.target.store_few(&mut self.asm, mem, at, v, count);
                continue;
            }
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
                // Once, and not from each lane.
                Access::Uniform(_) if exec.is_none() && self.plan.is_same(value) => {
                    self.store_first(mem, addr, v);
                    true
                }
                Access::Uniform(_) | Access::Spread(_) | Access::LaneByLane => false,
            };
            if !done {
                self.whole_if_possible(
                    mem,
                    addr,
                    copy,
                    Whole::IfAllActive,
                    |s, whole| match whole {
                        Some(at) => s.target.store(&mut s.asm, mem, at, v, None),
                        None => s.store_lanes(mem, addr, v, copy),
                    },
                );
            }
        }
    }

    fn store_woven(&mut self, mem: MemTy, addr: &Addr, values: &[Value]) {
        self.weave(mem, addr, values);
    }

    fn load_row(&mut self, mem: MemTy, addr: &Addr, values: &[Value]) -> bool {
        self.load_rows(mem, addr, values)
    }

    fn store_row(&mut self, mem: MemTy, addr: &Addr, values: &[Value]) -> bool {
        self.store_rows(mem, addr, values)
    }
}

impl<T: Target> Emitter<'_, T> {
    /// Whether so many bytes are stored in pieces rather than with a mask: where the next turn may read what is behind them, and where a load in
    /// pieces may read them.
    fn is_better_in_pieces(&self, bytes: i64) -> bool {
        self.again || !self.open.is_empty() || few::pieces(bytes) <= 2
    }

    pub(super) fn load_copy(&mut self, mem: MemTy, addr: &Addr, dst: Reg, copy: usize) {
        let exec = self.exec[copy];
        let ty = mem.lane();
        if let Some(count) = self.lanes_of(exec)
            && self.is_contiguous(mem, addr)
        {
            let at = self.mem(addr, copy);
            if self.target.load_few(&mut self.asm, mem, dst, at, count) {
                return;
            }
        }
        match self.access(mem, addr, copy) {
            Access::Uniform(at) if mem.size() >= 4 || T::ON_BYTES => {
                self.target.broadcast(&mut self.asm, mem, dst, at);
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
                self.put_raw(mem, dst, forward);
            }
            Access::Spread(step) => self.load_spread(mem, addr, dst, step, copy),
            Access::Indexed(at, index) => {
                self.target.gather(&mut self.asm, ty, dst, at, index, exec)
            }
            Access::LaneByLane => {
                if self.exec[copy].is_some() && self.is_in_line(mem, addr) {
                    // Where no lane is active.
                    if ty == Ty::Mask {
                        self.target.mask_constant(&mut self.asm, dst, false);
                    } else {
                        let zero = self.target.splat(&mut self.asm, ty, 0);
                        self.asm.put(dst, zero);
                    }
                }
                self.whole_if_possible(
                    mem,
                    addr,
                    copy,
                    Whole::IfInOnePage,
                    |s, whole| match whole {
                        Some(at) => s.target.load(&mut s.asm, mem, dst, at, None),
                        None => s.load_lanes(mem, addr, dst, copy),
                    },
                );
            }
        }
    }

    /// Emits an access to small elements, of which some may not be active, by `each`: that of a whole register at an address where that can be, and
    /// that of active lanes one by one. Where elements do not follow each other it is always the latter.
    fn whole_if_possible(
        &mut self,
        mem: MemTy,
        addr: &Addr,
        copy: usize,
        possible: Whole,
        mut each: impl FnMut(&mut Self, Option<Mem>),
    ) {
        let Some(exec) = self.exec[copy].filter(|_| self.is_in_line(mem, addr)) else {
            return each(self, None);
        };
        let (some, end) = (self.asm.label(), self.asm.label());
        let lanes = self.target.lanes();
        self.target.mask_to_gpr(&mut self.asm, exec);
        self.asm
            .int(Code::Cmp_rm64_imm32, &[Int::Gpr(RDX), Int::Imm(0)]);
        self.asm.push(Lir::Branch(Cond::Equal, end));
        match possible {
            Whole::IfAllActive => {
                let all = Int::Imm((1 << lanes) - 1);
                self.asm.int(Code::Cmp_rm64_imm32, &[Int::Gpr(RDX), all]);
                self.asm.push(Lir::Branch(Cond::NotEqual, some));
            }
            Whole::IfInOnePage => {
                let at = self.start_of_line(mem, addr, copy);
                self.asm
                    .int(Code::Lea_r64_m, &[Int::Gpr(RAX), Int::Mem(at)]);
                self.asm
                    .int(Code::And_rm64_imm32, &[Int::Gpr(RAX), Int::Imm(PAGE - 1)]);
                let last = Int::Imm(PAGE - lanes * mem.size());
                self.asm.int(Code::Cmp_rm64_imm32, &[Int::Gpr(RAX), last]);
                self.asm.push(Lir::Branch(Cond::Greater, some));
            }
        }
        let at = self.start_of_line(mem, addr, copy);
        each(self, Some(at));
        self.asm.push(Lir::Jump(end));
        self.asm.push(Lir::Label(some));
        each(self, None);
        self.asm.push(Lir::Label(end));
    }

    /// Loads active lanes one by one.
    fn load_lanes(&mut self, mem: MemTy, addr: &Addr, dst: Reg, copy: usize) {
        if self.load_words(mem, addr, dst, copy) {
            return;
        }
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
            LaneStep::Gather(index, _) if self.is_window(mem, addr) => {
                Access::Contiguous(self.start_of_window(index, mem, addr, copy))
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

    /// Whether lanes reach elements that follow each other, at an index that is only known now.
    pub(super) fn is_window(&self, mem: MemTy, addr: &Addr) -> bool {
        matches!(addr.lane, LaneStep::Gather(index, scale) if self.plan.counts_lanes(index) && scale == mem.size())
    }

    /// Whether lanes reach elements that follow each other, wherever these begin.
    fn is_in_line(&self, mem: MemTy, addr: &Addr) -> bool {
        self.is_contiguous(mem, addr) || self.is_window(mem, addr)
    }

    /// The first of them.
    fn start_of_line(&mut self, mem: MemTy, addr: &Addr, copy: usize) -> Mem {
        match addr.lane {
            LaneStep::Gather(index, _) => self.start_of_window(index, mem, addr, copy),
            LaneStep::Stride(_) | LaneStep::Uniform => self.mem(addr, copy),
        }
    }

    /// The element of the first lane of a window, whose address begins in rax.
    fn start_of_window(&mut self, index: Value, mem: MemTy, addr: &Addr, copy: usize) -> Mem {
        let ty = self.body.ty(index);
        let index = self.get(index, copy);
        let (base, disp) = self.base(addr);
        let at = self.asm.buffer(64);
        self.target
            .store(&mut self.asm, memory(ty), Mem::frame(at), index, None);
        let code = if ty == Ty::I64 {
            Code::Mov_r64_rm64
        } else {
            Code::Movsxd_r64_rm32
        };
        self.asm
            .int(code, &[Int::Gpr(RAX), Int::Mem(Mem::frame(at))]);
        self.multiply_rax(mem.size());
        self.add_base_to_rax(base);
        Mem::gpr(RAX, disp)
    }

    /// rax = the address that lanes count from.
    pub(super) fn start_to_rax(&mut self, addr: &Addr) {
        let (base, disp) = self.base(addr);
        self.asm.int(
            Code::Mov_r64_imm64,
            &[Int::Gpr(RAX), Int::Imm(i64::from(disp))],
        );
        self.add_base_to_rax(base);
    }

    pub(super) fn add_base_to_rax(&mut self, base: Base) {
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
        self.start_to_rax(addr);
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
                self.asm.int(Code::Mov_r64_rm64, &[Int::Gpr(start), common]);
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
                            let number = Mem::new(
                                Base::Var(LANE),
                                narrow(copy as i64 * lanes + lane as i64),
                            );
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

/// When a whole register of small elements is accessed though lanes are not active.
#[derive(Clone, Copy)]
enum Whole {
    IfAllActive,
    /// Reading what no active lane asks for does no harm, and does not fail in a page that has an element which one asks for.
    IfInOnePage,
}

/// The size of the smallest pages.
pub(super) const PAGE: i64 = 4096;

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
pub(super) fn memory(ty: Ty) -> MemTy {
    if ty == Ty::I64 {
        MemTy::I64
    } else {
        MemTy::I32
    }
}
