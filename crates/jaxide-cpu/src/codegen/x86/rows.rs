//! Elements that follow each other in every lane, but are far apart from lane to lane: the rows of a matrix, of which each lane has one.
//!
//! A gather takes as long as a load for each of its lanes. A load of sixteen bytes of each row takes no longer, and has several elements of it:
//! the rows are loaded as they lie in memory, and turned in registers. Rows are stored the same way back.

use super::memory::{PAGE, memory};
use super::spread::raw_type;
use super::table::{
    PAND, Row, VEXTRACTI32X4, VEXTRACTI128, VINSERTI32X4, VINSERTI128, VMOVUPS, VMOVUPS_STORE,
    VUNPCKHPD, VUNPCKHPS, VUNPCKLPD, VUNPCKLPS,
};
use super::*;
use crate::codegen::emit::ROW;
use crate::lanes::{Addr, BinOp, LaneStep, MemTy};

/// Where the rows of lanes begin.
#[derive(Clone, Copy)]
enum Rows {
    /// So many bytes apart, the first here.
    Apart(Mem, i64),
    /// As indices in the frame say, which have this type, in units of so many bytes from here.
    Indexed(i32, Ty, i64, Mem),
}

impl<T: Target> Emitter<'_, T> {
    /// Loads values whose elements follow each other in memory, the first of them at `addr`: elements of four bytes and more fill a row, smaller ones
    /// one or less.
    /// Says whether it did; rows of some lanes only are not loaded so.
    pub(super) fn load_rows(&mut self, mem: MemTy, addr: &Addr, values: &[Value]) -> bool {
        let in_place = values.iter().any(|value| self.into.contains_key(value));
        if in_place || !self.has_whole_rows(mem, addr, values.len()) {
            return false;
        }
        for copy in self.copies.clone() {
            if mem.size() < 4 {
                self.load_small_rows(mem, addr, values, copy);
                continue;
            }
            let dst: Vec<Reg> = values.iter().map(|&value| self.dest(value, copy)).collect();
            self.turn_rows(mem, addr, copy, &dst);
            for (&value, dst) in values.iter().zip(dst) {
                self.set(value, copy, dst);
            }
        }
        true
    }

    /// Whether all rows of the copies, of so many elements, are there, and near enough to each other to be found.
    fn has_whole_rows(&self, mem: MemTy, addr: &Addr, count: usize) -> bool {
        // Lanes that are masked because there are no more have no rows; others may have rows that must not be read.
        let masked = self.copies.iter().any(|&copy| {
            let mask = self.exec[copy];
            mask.is_some() && (self.few().is_none() || mask != self.tail)
        });
        let lanes = self.target.lanes() * MOST_COPIES as i64;
        let near = match addr.lane {
            LaneStep::Uniform => false,
            LaneStep::Stride(step) => step.saturating_mul(lanes).unsigned_abs() <= 1 << 30,
            LaneStep::Gather(index, scale) => {
                // Words are gathered at indices, and less than a word at an index in bytes.
                let word = count as i64 * mem.size() >= 4;
                let found = if word {
                    mem.size() >= 4 || matches!(scale, 1 | 2 | 4 | 8)
                } else {
                    scale == 1 && self.body.ty(index) == Ty::I32
                };
                found && !T::ON_BYTES && !self.is_window(mem, addr) && !self.plan.is_same(index)
            }
        };
        near && !masked
    }

    /// Finds the rows of a copy; addresses may begin in rdx.
    fn find_rows(&mut self, addr: &Addr, copy: usize) -> Rows {
        match addr.lane {
            LaneStep::Stride(step) => Rows::Apart(self.start_of_copy(addr, copy, step), step),
            LaneStep::Gather(index, scale) => {
                let ty = self.body.ty(index);
                let index = self.get(index, copy);
                let at = self.asm.buffer(64);
                self.target
                    .store(&mut self.asm, memory(ty), Mem::frame(at), index, None);
                let (base, disp) = self.base(addr);
                Rows::Indexed(at, ty, scale, Mem::new(base, disp))
            }
            LaneStep::Uniform => unreachable!("looked at before"),
        }
    }

    /// The row of a lane, whose address may be in rax until the next one is asked for.
    fn row_of(&mut self, rows: Rows, lane: i64) -> Mem {
        match rows {
            Rows::Apart(first, step) => first.plus(narrow(lane * step)),
            Rows::Indexed(at, ty, scale, first) => {
                let (code, size) = if ty == Ty::I64 {
                    (Code::Mov_r64_rm64, 8)
                } else {
                    (Code::Movsxd_r64_rm32, 4)
                };
                let from = Mem::frame(at + narrow::<_, i32>(lane * size));
                self.asm.int(code, &[Int::Gpr(RAX), Int::Mem(from)]);
                if matches!(scale, 1 | 2 | 4 | 8) {
                    return first.indexed(Index::Gpr(RAX), narrow(scale));
                }
                self.multiply_rax(scale);
                first.indexed(Index::Gpr(RAX), 1)
            }
        }
    }

    /// Elements of one and two bytes: words of four are loaded, of which each has several.
    fn load_small_rows(&mut self, mem: MemTy, addr: &Addr, values: &[Value], copy: usize) {
        let unit = raw_type(mem);
        let in_word = narrow::<_, usize>(4 / unit.size());
        // Where words start; the last one may lie over the one before.
        let mut starts: Vec<usize> = (0..values.len() / in_word).map(|k| k * in_word).collect();
        if !values.len().is_multiple_of(in_word) {
            starts.push(values.len().saturating_sub(in_word));
        }
        let words: Vec<Reg> = starts.iter().map(|_| self.new_reg(Ty::I32)).collect();
        let bytes = values.len() as i64 * unit.size();
        if bytes == ROW {
            self.turn_rows(MemTy::I32, addr, copy, &words);
        } else if bytes < 4 {
            self.load_less_than_words(addr, words[0], bytes, copy);
        } else {
            for (&start, &word) in starts.iter().zip(&words) {
                let at = Addr {
                    offset: addr.offset + start as i64 * unit.size(),
                    ..addr.clone()
                };
                self.load_copy(MemTy::I32, &at, word, copy);
            }
        }
        for (place, &value) in values.iter().enumerate() {
            let word = (place / in_word).min(starts.len() - 1);
            let raw = self.part_of_word(unit, words[word], place - starts[word]);
            let dst = self.dest(value, copy);
            if mem == unit {
                self.asm.put(dst, raw);
            } else {
                self.target.raw_to_lane(&mut self.asm, mem, dst, raw);
            }
            self.set(value, copy, dst);
        }
    }

    /// Loads the first bytes of words at indices in bytes. A word that began in one of the last three bytes of a page is loaded from so far before
    /// that it ends with the last byte that is asked for: only pages are read that hold a byte of the row.
    fn load_less_than_words(&mut self, addr: &Addr, dst: Reg, bytes: i64, copy: usize) {
        let LaneStep::Gather(index, 1) = addr.lane else {
            unreachable!("looked at before");
        };
        let index = self.get(index, copy);
        self.start_to_rax(addr);
        let start = self.new_reg(Ty::I32);
        self.target.broadcast_gpr(&mut self.asm, Ty::I32, start);
        let address = self.two_words(BinOp::Add, index, start);
        let in_page = self.masked(address, PAGE - 1);
        let last = self.target.splat(&mut self.asm, Ty::I32, PAGE as u64 - 4);
        let left = self.two_words(BinOp::Sub, last, in_page);
        let too_few = self.shifted(BinOp::ShrS, left, 31);
        let back = self.masked(too_few, 4 - bytes);
        let moved = self.two_words(BinOp::Sub, index, back);
        let shift = self.shifted(BinOp::Shl, back, 3);
        let (base, disp) = self.base(addr);
        let from = Mem::new(base, disp).indexed(Index::Vector(moved), 1);
        let word = self.new_reg(Ty::I32);
        let exec = self.exec[copy];
        self.target
            .gather(&mut self.asm, Ty::I32, word, from, Ty::I32, exec);
        self.target
            .bin(&mut self.asm, BinOp::ShrU, Ty::I32, dst, word, shift);
    }

    /// One of the elements that a word of four bytes has.
    fn part_of_word(&mut self, unit: MemTy, word: Reg, place: usize) -> Reg {
        let bits = 8 * narrow::<_, u64>(unit.size());
        let before = bits * place as u64;
        let after = 32 - bits - before;
        let mut part = word;
        let mut shift = |s: &mut Self, op: BinOp, by: u64| {
            let shifted = s.new_reg(Ty::I32);
            s.target
                .shift_by(&mut s.asm, op, Ty::I32, shifted, part, by);
            part = shifted;
        };
        if matches!(unit, MemTy::I8 | MemTy::I16) {
            if after > 0 {
                shift(self, BinOp::Shl, after);
            }
            shift(self, BinOp::ShrS, 32 - bits);
            return part;
        }
        if before > 0 {
            shift(self, BinOp::ShrU, before);
        }
        if after > 0 {
            let low = self
                .target
                .splat(&mut self.asm, Ty::I32, (1u64 << bits) - 1);
            part = self.target.two(&mut self.asm, &PAND, Ty::I32, part, low);
        }
        part
    }

    /// The elements of sixteen bytes of each row, each element in a register.
    fn turn_rows(&mut self, mem: MemTy, addr: &Addr, copy: usize, dst: &[Reg]) {
        let ty = mem.lane();
        let width = self.target.width(ty);
        let count = dst.len();
        let places = self.find_rows(addr, copy);
        let rows = self.few().unwrap_or(self.target.lanes());
        // A register has every `count`-th row, so that turning squares of elements puts the lanes in order.
        let rows: Vec<Reg> = (0..count)
            .map(|first| {
                let lane = |part: usize| (part * count + first) as i64;
                let parts = narrow::<_, usize>(i64::from(width.bytes()) / ROW);
                let exists = |part: usize| lane(part) < rows;
                let row = self.row_of(places, if exists(0) { lane(0) } else { 0 });
                let begun = self.load_row(row);
                (1..parts)
                    .filter(|&part| exists(part))
                    .fold(begun, |before, part| {
                        let row = self.row_of(places, lane(part));
                        self.add_row(width, before, row, narrow(part))
                    })
            })
            .collect();
        self.turn(ty, &rows, dst);
    }

    /// Turns squares of elements, one in each sixteen bytes of as many registers as these have elements.
    fn turn(&mut self, ty: Ty, from: &[Reg], dst: &[Reg]) {
        match (from, dst) {
            (&[a, b], &[x, y]) => {
                self.interleave(&VUNPCKLPD, ty, x, a, b);
                self.interleave(&VUNPCKHPD, ty, y, a, b);
            }
            (&[a, b, c, d], &[x, y, z, w]) => {
                let [ab, ab_high, cd, cd_high] = [(); 4].map(|()| self.new_reg(ty));
                self.interleave(&VUNPCKLPS, ty, ab, a, b);
                self.interleave(&VUNPCKHPS, ty, ab_high, a, b);
                self.interleave(&VUNPCKLPS, ty, cd, c, d);
                self.interleave(&VUNPCKHPS, ty, cd_high, c, d);
                self.interleave(&VUNPCKLPD, ty, x, ab, cd);
                self.interleave(&VUNPCKHPD, ty, y, ab, cd);
                self.interleave(&VUNPCKLPD, ty, z, ab_high, cd_high);
                self.interleave(&VUNPCKHPD, ty, w, ab_high, cd_high);
            }
            _ => unreachable!("a row has sixteen bytes"),
        }
    }

    /// Stores values whose elements follow each other in memory and fill a row, the first of them at `addr`; says whether it did.
    pub(super) fn store_rows(&mut self, mem: MemTy, addr: &Addr, values: &[Value]) -> bool {
        if T::ON_BYTES || !self.has_whole_rows(mem, addr, values.len()) {
            return false;
        }
        let ty = mem.lane();
        let width = self.target.width(ty);
        let count = values.len();
        for copy in self.copies.clone() {
            let from: Vec<Reg> = values.iter().map(|&value| self.get(value, copy)).collect();
            let turned: Vec<Reg> = from.iter().map(|_| self.new_reg(ty)).collect();
            self.turn(ty, &from, &turned);
            let places = self.find_rows(addr, copy);
            let rows = self.few().unwrap_or(self.target.lanes());
            for (first, &register) in turned.iter().enumerate() {
                for part in 0..narrow::<_, usize>(i64::from(width.bytes()) / ROW) {
                    let lane = (part * count + first) as i64;
                    if lane < rows {
                        let row = self.row_of(places, lane);
                        self.store_part(width, register, row, narrow(part));
                    }
                }
            }
        }
        true
    }

    /// Elements of two registers in turn, of the lower or the upper half of each sixteen bytes.
    fn interleave(&mut self, row: &Row, ty: Ty, dst: Reg, a: Reg, b: Reg) {
        // Of few lanes, a register may have one row only.
        let width = self.target.width(ty);
        let operands = [Operand::As(a, width), Operand::As(b, width)];
        let code = self.target.form(row, ty);
        self.asm.op(Op::new(code, Some(dst), &operands));
    }

    fn load_row(&mut self, row: Mem) -> Reg {
        let dst = self.asm.reg(Class::Vector(Width::V128));
        let code = VMOVUPS.form(T::EVEX, Width::V128);
        self.asm.op(Op::new(code, Some(dst), &[Operand::Mem(row)]));
        dst
    }

    /// Stores a part of a register, counted in rows.
    fn store_part(&mut self, width: Width, from: Reg, row: Mem, part: u8) {
        let (code, operands) = if part == 0 {
            let first = Operand::As(from, Width::V128);
            (
                VMOVUPS_STORE.form(T::EVEX, Width::V128),
                vec![Operand::Mem(row), first],
            )
        } else {
            let extract = if T::EVEX {
                &VEXTRACTI32X4
            } else {
                &VEXTRACTI128
            };
            let operands = vec![
                Operand::Mem(row),
                Operand::As(from, width),
                Operand::Imm(part),
            ];
            (extract.form(T::EVEX, width), operands)
        };
        self.asm.op(Op {
            rm: None,
            ..Op::new(code, None, &operands)
        });
    }

    /// A register with a row as that part of it, counted in rows.
    fn add_row(&mut self, width: Width, before: Reg, row: Mem, part: u8) -> Reg {
        let dst = self.asm.reg(Class::Vector(width));
        let insert = if T::EVEX { &VINSERTI32X4 } else { &VINSERTI128 };
        let operands = [
            Operand::As(before, width),
            Operand::Mem(row),
            Operand::Imm(part),
        ];
        self.asm.op(Op {
            rm: None,
            ..Op::new(insert.form(T::EVEX, width), Some(dst), &operands)
        });
        dst
    }
}
