//! Loads, stores, gathers and scatters.

use super::mask::INT_NE;
use super::*;
use crate::codegen::x86::few;
use crate::codegen::x86::target::Memory;
use crate::lanes::MemTy;
use table::*;

impl Memory for Avx512 {
    fn masks_small_elements(&self) -> bool {
        true
    }

    fn broadcast(&self, asm: &mut Asm, mem: MemTy, dst: Reg, from: Mem) {
        let ty = mem.lane();
        let row = if ty.bits() == 64 {
            &VBROADCASTSD
        } else {
            &VBROADCASTSS
        };
        asm.op(Op::new(
            self.form(row, ty),
            Some(dst),
            &[Operand::Mem(from)],
        ));
    }

    fn load(&self, asm: &mut Asm, mem: MemTy, dst: Reg, from: Mem, exec: Option<Reg>) {
        match mem {
            MemTy::F32 | MemTy::I32 | MemTy::F64 | MemTy::I64 => {
                let code = self.code(&MOVE, mem.lane());
                asm.op(Op {
                    mask: exec.map(|mask| (mask, true)),
                    ..Op::new(code, Some(dst), &[Operand::Mem(from)])
                });
            }
            MemTy::Bool => {
                let bytes = asm.reg(V128);
                // Eight bytes where there are eight lanes and no mask.
                let row = if exec.is_none() && self.wide {
                    &VMOVQ
                } else {
                    &VMOVDQU8
                };
                asm.op(Op {
                    mask: exec.map(|mask| (mask, true)),
                    ..Op::new(v128(row), Some(bytes), &[Operand::Mem(from)])
                });
                self.extend(asm, mem, dst, Operand::Reg(bytes), None);
            }
            MemTy::I8 | MemTy::U8 | MemTy::I16 | MemTy::U16 | MemTy::F16 | MemTy::Bf16 => {
                self.extend(asm, mem, dst, Operand::Mem(from), exec);
            }
        }
    }

    fn store(&self, asm: &mut Asm, mem: MemTy, to: Mem, v: Reg, exec: Option<Reg>) {
        let (bits, _) = self.elements(asm, mem, v);
        match mem.size() {
            1 => self.store_bytes(asm, to, bits, exec),
            2 => self.store_words(asm, to, bits, exec),
            _ => self.store_whole(asm, self.code(&STORE, mem.lane()), to, bits, exec),
        }
    }

    fn load_few(&self, asm: &mut Asm, mem: MemTy, dst: Reg, from: Mem, count: i64) -> bool {
        let bytes = count * mem.size();
        if mem.size() >= 4 {
            return few::load_bytes(asm, true, dst, from, bytes);
        }
        let raw = asm.reg(V128);
        if mem.size() == 2 && bytes > 16 || !few::load_bytes(asm, true, raw, from, bytes) {
            return false;
        }
        let whole = if mem.size() == 2 && !self.wide {
            Width::V256
        } else {
            Width::V128
        };
        self.extend(asm, mem, dst, Operand::As(raw, whole), None);
        true
    }

    fn store_few(&self, asm: &mut Asm, mem: MemTy, to: Mem, v: Reg, count: i64) {
        let elements = self.elements(asm, mem, v);
        few::store_bytes(asm, true, to, elements, count * mem.size());
    }

    fn raw_to_lane(&self, asm: &mut Asm, mem: MemTy, dst: Reg, raw: Reg) {
        match mem {
            MemTy::Bool => {
                let zero = self.splat(asm, Ty::I32, 0);
                let operands = [Operand::Reg(raw), Operand::Reg(zero), Imm(INT_NE)];
                self.emit_to(asm, self.code(&PCMP, Ty::I32), dst, &operands);
            }
            MemTy::F16 => {
                let words = self.low_words(asm, raw);
                self.f16_to_lane(asm, dst, words);
            }
            MemTy::Bf16 => self.shift_to(asm, &PSLL_IMM, Ty::I32, dst, raw, 16),
            _ => asm.put(dst, raw),
        }
    }

    fn lane_to_raw(&self, asm: &mut Asm, mem: MemTy, v: Reg) -> Reg {
        match mem {
            MemTy::Bool => {
                let one = self.splat(asm, Ty::I32, 1);
                let raw = self.vector(asm, Ty::I32);
                self.zeroing(asm, v, self.copy(Ty::I32, raw, one));
                raw
            }
            MemTy::F16 => {
                let words = self.f16_bits(asm, v);
                let raw = self.vector(asm, Ty::I32);
                let code = self.form(&VPMOVZXWD, Ty::I32);
                asm.op(Op::new(code, Some(raw), &[Operand::Reg(words)]));
                raw
            }
            MemTy::Bf16 => self.bf16_bits(asm, v),
            _ => v,
        }
    }

    fn gather(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem, index: Ty, exec: Option<Reg>) {
        let code = match (ty.bits(), index) {
            (32, Ty::I32) => self.form(&VPGATHERDD, ty),
            (32, _) => v512(&VPGATHERQD),
            (_, Ty::I32) => v512(&VPGATHERDQ),
            _ => v512(&VPGATHERQQ),
        };
        let mask = self.consumable(asm, exec);
        let zero = self.splat(asm, ty, 0);
        asm.put(dst, zero);
        asm.op(Op {
            mask: Some((mask, false)),
            tied: true,
            late: true,
            rm: None,
            ..Op::new(code, Some(dst), &[Operand::Mem(from)])
        });
    }

    fn scatter(
        &self,
        asm: &mut Asm,
        ty: Ty,
        to: Mem,
        v: Reg,
        index: Ty,
        exec: Option<Reg>,
    ) -> bool {
        let code = match (ty.bits(), index) {
            (32, Ty::I32) => self.form(&VPSCATTERDD, ty),
            (32, _) => v512(&VPSCATTERQD),
            (_, Ty::I32) => v512(&VPSCATTERDQ),
            _ => v512(&VPSCATTERQQ),
        };
        let mask = self.consumable(asm, exec);
        self.store_whole(asm, code, to, v, Some(mask));
        true
    }

    fn accumulator_bits(&self, ty: Ty) -> i32 {
        ty.bits() as i32
    }

    fn load_accumulator(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem) {
        let code = match ty {
            Ty::Mask => KMOV.of(self.lanes()),
            _ => self.code(&MOVE, ty),
        };
        asm.op(Op::new(code, Some(dst), &[Operand::Mem(from)]));
    }

    fn store_accumulator(&self, asm: &mut Asm, ty: Ty, to: Mem, v: Reg) {
        let code = match ty {
            Ty::Mask => KMOV_STORE.of(self.lanes()),
            _ => self.code(&STORE, ty),
        };
        self.store_whole(asm, code, to, v, None);
    }
}

impl Avx512 {
    /// Lanes from elements of 8 and 16 bits, in memory or at the beginning of a register; truth values are in a register.
    fn extend(&self, asm: &mut Asm, mem: MemTy, dst: Reg, from: Operand, exec: Option<Reg>) {
        let row = match mem {
            MemTy::I8 => &VPMOVSXBD,
            MemTy::U8 => &VPMOVZXBD,
            MemTy::I16 => &VPMOVSXWD,
            MemTy::U16 | MemTy::Bf16 => &VPMOVZXWD,
            MemTy::F16 => &VCVTPH2PS,
            MemTy::Bool => {
                return asm.op(Op::new(v128(&VPTESTMB), Some(dst), &[from, from]));
            }
            MemTy::F32 | MemTy::I32 | MemTy::F64 | MemTy::I64 => {
                unreachable!("lanes are no narrower")
            }
        };
        asm.op(Op {
            mask: exec.map(|mask| (mask, true)),
            ..Op::new(self.form(row, Ty::I32), Some(dst), &[from])
        });
        if mem == MemTy::Bf16 {
            self.shift_to(asm, &PSLL_IMM, Ty::I32, dst, dst, 16);
        }
    }

    /// Elements of lanes as they lie in memory, at the beginning of a register of that width.
    fn elements(&self, asm: &mut Asm, mem: MemTy, v: Reg) -> (Reg, Width) {
        let words = if self.wide { Width::V128 } else { Width::V256 };
        match mem {
            MemTy::F32 | MemTy::I32 | MemTy::F64 | MemTy::I64 => (v, self.width(mem.lane())),
            MemTy::I8 | MemTy::U8 => {
                let bytes = self.narrow(asm, &VPMOVDB, V128, &[Operand::Reg(v)]);
                (bytes, Width::V128)
            }
            MemTy::Bool => {
                let ones = asm.vector(Width::V128, &[1; 16]);
                let bytes = asm.reg(V128);
                let copy = Op::new(v128(&VMOVDQU8), Some(bytes), &[Operand::Reg(ones)]);
                self.zeroing(asm, v, copy);
                (bytes, Width::V128)
            }
            MemTy::I16 | MemTy::U16 => (self.low_words(asm, v), words),
            MemTy::F16 => (self.f16_bits(asm, v), words),
            MemTy::Bf16 => {
                let bits = self.bf16_bits(asm, v);
                (self.low_words(asm, bits), words)
            }
        }
    }

    fn store_whole(&self, asm: &mut Asm, code: Code, to: Mem, v: Reg, exec: Option<Reg>) {
        asm.op(Op {
            mask: exec.map(|mask| (mask, false)),
            rm: None,
            ..Op::new(code, None, &[Operand::Mem(to), Operand::Reg(v)])
        });
    }

    /// Stores a byte for each lane, from a 16-byte register.
    fn store_bytes(&self, asm: &mut Asm, to: Mem, v: Reg, exec: Option<Reg>) {
        let row = if exec.is_none() && self.wide {
            &VMOVQ_STORE
        } else {
            &VMOVDQU8_STORE
        };
        self.store_whole(asm, v128(row), to, v, exec);
    }

    /// Stores two bytes for each lane, from half a register.
    fn store_words(&self, asm: &mut Asm, to: Mem, v: Reg, exec: Option<Reg>) {
        let width = if self.wide { Width::V128 } else { Width::V256 };
        self.store_whole(asm, VMOVDQU16_STORE.form(true, width), to, v, exec);
    }

    /// The low halves of 32-bit lanes.
    fn low_words(&self, asm: &mut Asm, a: Reg) -> Reg {
        self.narrow(asm, &VPMOVDW, self.words(), &[Operand::Reg(a)])
    }
}
