//! Loads, stores, gathers and scatters.

use super::mask::INT_NE;
use super::*;
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
        let masked = |code: Code, dst: Reg| Op {
            mask: exec.map(|mask| (mask, true)),
            ..Op::new(code, Some(dst), &[Operand::Mem(from)])
        };
        let row = match mem {
            MemTy::F32 | MemTy::I32 | MemTy::F64 | MemTy::I64 => {
                return asm.op(masked(self.code(&MOVE, mem.lane()), dst));
            }
            MemTy::I8 => &VPMOVSXBD,
            MemTy::U8 => &VPMOVZXBD,
            MemTy::I16 => &VPMOVSXWD,
            MemTy::U16 | MemTy::Bf16 => &VPMOVZXWD,
            MemTy::F16 => &VCVTPH2PS,
            MemTy::Bool => {
                let bytes = asm.reg(V128);
                // Eight bytes where there are eight lanes and no mask.
                let row = if exec.is_none() && self.wide {
                    &VMOVQ
                } else {
                    &VMOVDQU8
                };
                asm.op(masked(v128(row), bytes));
                let operands = [Operand::Reg(bytes), Operand::Reg(bytes)];
                return asm.op(Op::new(v128(&VPTESTMB), Some(dst), &operands));
            }
        };
        asm.op(masked(self.form(row, Ty::I32), dst));
        if mem == MemTy::Bf16 {
            self.shift_to(asm, &PSLL_IMM, Ty::I32, dst, dst, 16);
        }
    }

    fn store(&self, asm: &mut Asm, mem: MemTy, to: Mem, v: Reg, exec: Option<Reg>) {
        match mem {
            MemTy::F32 | MemTy::I32 | MemTy::F64 | MemTy::I64 => {
                self.store_whole(asm, self.code(&STORE, mem.lane()), to, v, exec);
            }
            MemTy::I8 | MemTy::U8 => {
                let bytes = self.narrow(asm, &VPMOVDB, V128, &[Operand::Reg(v)]);
                self.store_bytes(asm, to, bytes, exec);
            }
            MemTy::Bool => {
                let ones = asm.vector(Width::V128, &[1; 16]);
                let bytes = asm.reg(V128);
                let copy = Op::new(v128(&VMOVDQU8), Some(bytes), &[Operand::Reg(ones)]);
                self.zeroing(asm, v, copy);
                self.store_bytes(asm, to, bytes, exec);
            }
            MemTy::I16 | MemTy::U16 => {
                let words = self.low_words(asm, v);
                self.store_words(asm, to, words, exec);
            }
            MemTy::F16 => {
                let words = self.f16_bits(asm, v);
                self.store_words(asm, to, words, exec);
            }
            MemTy::Bf16 => {
                let bits = self.bf16_bits(asm, v);
                let words = self.low_words(asm, bits);
                self.store_words(asm, to, words, exec);
            }
        }
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
