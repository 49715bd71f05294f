//! Loads, stores and gathers.

use super::*;
use crate::codegen::x86::few;
use crate::codegen::x86::target::{Memory, Operations as _};
use crate::lanes::{MemTy, UnOp};
use table::*;

impl Memory for Avx2 {
    fn masks_small_elements(&self) -> bool {
        false
    }

    fn broadcast(&self, asm: &mut Asm, mem: MemTy, dst: Reg, from: Mem) {
        let ty = mem.lane();
        let row = if ty.bits() == 64 {
            &VBROADCASTSD
        } else {
            &VBROADCASTSS
        };
        self.emit_to(asm, self.form(row, ty), dst, &[Operand::Mem(from)]);
    }

    fn load(&self, asm: &mut Asm, mem: MemTy, dst: Reg, from: Mem, exec: Option<Reg>) {
        let ty = mem.lane();
        if mem.size() >= 4 {
            let Some(exec) = exec else {
                return self.emit_to(asm, self.form(&VMOVUPS, ty), dst, &[Operand::Mem(from)]);
            };
            let mask = self.mask_for(asm, ty, exec);
            let row = if ty.bits() == 64 {
                &VMASKMOVPD
            } else {
                &VMASKMOVPS
            };
            let operands = [Operand::Reg(mask), Operand::Mem(from)];
            return asm.op(Op {
                rm: None,
                ..Op::new(self.form(row, ty), Some(dst), &operands)
            });
        }
        let row = match mem {
            MemTy::I8 => &VPMOVSXBD,
            MemTy::U8 | MemTy::Bool => &VPMOVZXBD,
            MemTy::I16 => &VPMOVSXWD,
            MemTy::F16 => &VCVTPH2PS,
            _ => &VPMOVZXWD,
        };
        let code = self.form(row, Ty::I32);
        if matches!(mem, MemTy::Bool | MemTy::Bf16) {
            let raw = self.emit(asm, code, self.class(Ty::I32), &[Operand::Mem(from)]);
            return self.raw_to_lane(asm, mem, dst, raw);
        }
        self.emit_to(asm, code, dst, &[Operand::Mem(from)]);
    }

    fn store(&self, asm: &mut Asm, mem: MemTy, to: Mem, v: Reg, exec: Option<Reg>) {
        let ty = mem.lane();
        match (mem, exec) {
            (MemTy::F32 | MemTy::I32 | MemTy::F64 | MemTy::I64, None) => {
                self.store_whole(asm, ty, to, v);
            }
            (MemTy::F32 | MemTy::I32 | MemTy::F64 | MemTy::I64, Some(exec)) => {
                let mask = self.mask_for(asm, ty, exec);
                let row = if ty.bits() == 64 {
                    &VMASKMOVPD_STORE
                } else {
                    &VMASKMOVPS_STORE
                };
                let operands = [Operand::Mem(to), Operand::Reg(mask), Operand::Reg(v)];
                asm.op(Op {
                    rm: None,
                    ..Op::new(self.form(row, ty), None, &operands)
                });
            }
            (
                MemTy::Bool
                | MemTy::I8
                | MemTy::U8
                | MemTy::I16
                | MemTy::U16
                | MemTy::F16
                | MemTy::Bf16,
                _,
            ) => {
                let (bits, _) = self.elements(asm, mem, v);
                self.store_low(asm, mem.size() * self.lanes(), to, bits);
            }
        }
    }

    fn load_few(&self, asm: &mut Asm, mem: MemTy, dst: Reg, from: Mem, count: i64) -> bool {
        mem.size() >= 4 && few::load_bytes(asm, false, dst, from, count * mem.size())
    }

    fn store_few(&self, asm: &mut Asm, mem: MemTy, to: Mem, v: Reg, count: i64) {
        let elements = self.elements(asm, mem, v);
        few::store_bytes(asm, false, to, elements, count * mem.size());
    }

    fn raw_to_lane(&self, asm: &mut Asm, mem: MemTy, dst: Reg, raw: Reg) {
        match mem {
            MemTy::Bool => {
                let zero = self.splat(asm, Ty::I32, 0);
                let none = self.two(asm, &PCMPEQ, Ty::I32, raw, zero);
                let lanes = self.vector(asm, Ty::Mask);
                self.to_mask(asm, Ty::I32, lanes, none);
                self.un(asm, UnOp::Not, Ty::Mask, Ty::Mask, dst, lanes);
            }
            MemTy::F16 => {
                let words = self.pack_words(asm, raw);
                self.f16_to_lane(asm, dst, words);
            }
            MemTy::Bf16 => {
                self.shift_to(asm, &PSLL_IMM, Ty::I32, dst, raw, 16);
            }
            _ => asm.put(dst, raw),
        }
    }

    fn lane_to_raw(&self, asm: &mut Asm, mem: MemTy, v: Reg) -> Reg {
        match mem {
            MemTy::Bool => {
                let one = self.splat(asm, Ty::I32, 1);
                let mask = self.mask_for(asm, Ty::I32, v);
                self.two(asm, &PAND, Ty::I32, mask, one)
            }
            MemTy::F16 => {
                let half = self.f16_bits(asm, v);
                let code = self.form(&VPMOVZXWD, Ty::I32);
                self.emit(asm, code, self.class(Ty::I32), &[Operand::Reg(half)])
            }
            MemTy::Bf16 => self.bf16_bits(asm, v),
            _ => v,
        }
    }

    fn gather(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem, index: Ty, exec: Option<Reg>) {
        let code = match (ty.bits(), index) {
            (32, Ty::I32) => self.form(&VPGATHERDD, ty),
            (32, _) => v256(&VPGATHERQD),
            (_, Ty::I32) => v256(&VPGATHERDQ),
            _ => v256(&VPGATHERQQ),
        };
        let mask = self.consumable(asm, ty, exec);
        let zero = self.splat(asm, ty, 0);
        asm.put(dst, zero);
        asm.op(Op {
            tied: true,
            late: true,
            rm: None,
            ..Op::new(code, Some(dst), &[Operand::Mem(from), Operand::Reg(mask)])
        });
    }

    fn scatter(&self, _: &mut Asm, _: Ty, _: Mem, _: Reg, _: Ty, _: Option<Reg>) -> bool {
        false
    }

    fn accumulator_bits(&self, ty: Ty) -> i32 {
        self.lane(ty).bits() as i32
    }

    fn load_accumulator(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem) {
        self.emit_to(asm, self.form(&VMOVUPS, ty), dst, &[Operand::Mem(from)]);
    }

    fn store_accumulator(&self, asm: &mut Asm, ty: Ty, to: Mem, v: Reg) {
        self.store_whole(asm, ty, to, v);
    }
}

impl Avx2 {
    /// Elements of lanes as they lie in memory, at the beginning of a register of that width.
    fn elements(&self, asm: &mut Asm, mem: MemTy, v: Reg) -> (Reg, Width) {
        let bits = match mem {
            MemTy::F32 | MemTy::I32 | MemTy::F64 | MemTy::I64 => {
                return (v, self.width(mem.lane()));
            }
            MemTy::F16 => self.f16_bits(asm, v),
            MemTy::Bool | MemTy::I8 | MemTy::U8 => {
                let raw = self.lane_to_raw(asm, mem, v);
                self.pack_bytes(asm, raw)
            }
            MemTy::I16 | MemTy::U16 | MemTy::Bf16 => {
                let raw = self.lane_to_raw(asm, mem, v);
                self.pack_words(asm, raw)
            }
        };
        (bits, Width::V128)
    }

    fn store_whole(&self, asm: &mut Asm, ty: Ty, to: Mem, v: Reg) {
        let code = self.form(&VMOVUPS_STORE, ty);
        asm.op(Op {
            rm: None,
            ..Op::new(code, None, &[Operand::Mem(to), Operand::Reg(v)])
        });
    }

    /// Stores the first bytes of a 128-bit register.
    fn store_low(&self, asm: &mut Asm, bytes: i64, to: Mem, v: Reg) {
        let row = match bytes {
            4 => &VMOVD_STORE,
            8 => &VMOVQ_STORE,
            _ => &VMOVUPS_STORE,
        };
        asm.op(Op {
            rm: None,
            ..Op::new(v128(row), None, &[Operand::Mem(to), Operand::Reg(v)])
        });
    }

    /// The low halves of the 32-bit lanes, packed into the first bytes of 16.
    fn pack_words(&self, asm: &mut Asm, a: Reg) -> Reg {
        let low = self.splat(asm, Ty::I32, 0xffff);
        let a = self.two(asm, &PAND, Ty::I32, a, low);
        let second = if self.wide { a } else { self.high(asm, a) };
        let operands = [As(a, Width::V128), Operand::Reg(second)];
        self.emit(asm, v128(&VPACKUSDW), V128, &operands)
    }

    /// The low quarters, likewise.
    fn pack_bytes(&self, asm: &mut Asm, a: Reg) -> Reg {
        let low = self.splat(asm, Ty::I32, 0xff);
        let a = self.two(asm, &PAND, Ty::I32, a, low);
        let words = self.pack_words(asm, a);
        let operands = [Operand::Reg(words), Operand::Reg(words)];
        self.emit(asm, v128(&VPACKUSWB), V128, &operands)
    }
}
