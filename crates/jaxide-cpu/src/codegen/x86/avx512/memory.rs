//! Loads, stores, gathers and scatters.

use super::convert::{TO_F16, TO_WORDS};
use super::*;
use crate::codegen::x86::target::Memory;

impl Memory for Avx512 {
    fn masks_small_elements(&self) -> bool {
        true
    }

    fn broadcast(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem) {
        let code = match (ty.bits(), self.width(ty)) {
            (64, _) => Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64,
            (_, Width::V512) => Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32,
            _ => Code::EVEX_Vbroadcastss_ymm_k1z_xmmm32,
        };
        asm.op(op(code, Some(dst), &[Operand::Mem(from)]));
    }

    fn load(&self, asm: &mut Asm, mem: MemTy, dst: Reg, from: Mem, exec: Option<Reg>) {
        let masked = |code: Code, dst: Reg| Op {
            mask: exec.map(|k| (k, true)),
            ..op(code, Some(dst), &[Operand::Mem(from)])
        };
        let code = match (mem, self.wide) {
            (MemTy::F32 | MemTy::I32 | MemTy::F64 | MemTy::I64, _) => self.move_code(mem.lane()),
            (MemTy::I8, false) => Code::EVEX_Vpmovsxbd_zmm_k1z_xmmm128,
            (MemTy::I8, true) => Code::EVEX_Vpmovsxbd_ymm_k1z_xmmm64,
            (MemTy::U8, false) => Code::EVEX_Vpmovzxbd_zmm_k1z_xmmm128,
            (MemTy::U8, true) => Code::EVEX_Vpmovzxbd_ymm_k1z_xmmm64,
            (MemTy::I16, false) => Code::EVEX_Vpmovsxwd_zmm_k1z_ymmm256,
            (MemTy::I16, true) => Code::EVEX_Vpmovsxwd_ymm_k1z_xmmm128,
            (MemTy::U16 | MemTy::Bf16, false) => Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256,
            (MemTy::U16 | MemTy::Bf16, true) => Code::EVEX_Vpmovzxwd_ymm_k1z_xmmm128,
            (MemTy::F16, false) => Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae,
            (MemTy::F16, true) => Code::EVEX_Vcvtph2ps_ymm_k1z_xmmm128,
            (MemTy::Bool, _) => {
                let bytes = asm.reg(Class::Vector(Width::V128));
                let code = match (exec, self.wide) {
                    (None, true) => Code::EVEX_Vmovq_xmm_xmmm64,
                    _ => Code::EVEX_Vmovdqu8_xmm_k1z_xmmm128,
                };
                asm.op(masked(code, bytes));
                let test = op(
                    Code::EVEX_Vptestmb_kr_k1_xmm_xmmm128,
                    Some(dst),
                    &[Operand::Reg(bytes), Operand::Reg(bytes)],
                );
                return asm.op(test);
            }
        };
        asm.op(masked(code, dst));
        if mem == MemTy::Bf16 {
            self.shift(asm, &codes::PSLL_IMM, Ty::I32, dst, dst, 16);
        }
    }

    fn store(&self, asm: &mut Asm, mem: MemTy, v: Reg, to: Mem, exec: Option<Reg>) {
        match mem {
            MemTy::F32 | MemTy::I32 | MemTy::F64 | MemTy::I64 => {
                let code = self.store_code(mem.lane());
                let mask = exec.map(|k| (k, false));
                asm.op(Op {
                    mask,
                    rm: None,
                    ..op(code, None, &[Operand::Mem(to), Operand::Reg(v)])
                });
            }
            MemTy::I8 | MemTy::U8 => {
                let codes = (
                    Code::EVEX_Vpmovdb_xmmm64_k1z_ymm,
                    Code::EVEX_Vpmovdb_xmmm128_k1z_zmm,
                );
                let bytes = self.narrow(asm, codes, v, Width::V128, None);
                self.store_narrow(asm, bytes, 1, to, exec);
            }
            MemTy::Bool => {
                let ones = asm.vector(Width::V128, &[1; 16]);
                let bytes = asm.reg(Class::Vector(Width::V128));
                self.masked(
                    asm,
                    v,
                    true,
                    op(
                        Code::EVEX_Vmovdqu8_xmm_k1z_xmmm128,
                        Some(bytes),
                        &[Operand::Reg(ones)],
                    ),
                );
                self.store_narrow(asm, bytes, 1, to, exec);
            }
            MemTy::I16 | MemTy::U16 => {
                let words = self.narrow(asm, TO_WORDS, v, self.half_width(), None);
                self.store_narrow(asm, words, 2, to, exec);
            }
            MemTy::F16 => {
                let words = self.narrow(asm, TO_F16, v, self.half_width(), Some(0));
                self.store_narrow(asm, words, 2, to, exec);
            }
            MemTy::Bf16 => {
                let bits = self.bf16_bits(asm, v);
                let words = self.narrow(asm, TO_WORDS, bits, self.half_width(), None);
                self.store_narrow(asm, words, 2, to, exec);
            }
        }
    }

    fn reverse(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg) {
        let size = ty.bits() as usize / 8;
        let order: Vec<u8> = (0..self.lanes())
            .rev()
            .flat_map(|lane| lane.to_le_bytes()[..size].to_vec())
            .collect();
        let order = asm.vector(self.width(ty), &order);
        let code = match (ty.bits(), self.width(ty)) {
            (64, _) => Code::EVEX_Vpermq_zmm_k1z_zmm_zmmm512b64,
            (_, Width::V512) => Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32,
            _ => Code::EVEX_Vpermd_ymm_k1z_ymm_ymmm256b32,
        };
        asm.op(op(code, Some(dst), &[Operand::Reg(order), Operand::Reg(a)]));
    }

    fn raw_to_lane(&self, asm: &mut Asm, mem: MemTy, dst: Reg, raw: Reg) {
        match mem {
            MemTy::Bool => {
                let zero = self.splat(asm, Ty::I32, 0);
                self.compare(asm, &codes::PCMP, Ty::I32, dst, raw, zero, 4);
            }
            MemTy::F16 => {
                let words = self.narrow(asm, TO_WORDS, raw, self.half_width(), None);
                self.convert(
                    asm,
                    Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae,
                    Code::EVEX_Vcvtph2ps_ymm_k1z_xmmm128,
                    dst,
                    words,
                );
            }
            MemTy::Bf16 => self.shift(asm, &codes::PSLL_IMM, Ty::I32, dst, raw, 16),
            _ => asm.push(Lir::Move { dst, src: raw }),
        }
    }

    fn lane_to_raw(&self, asm: &mut Asm, mem: MemTy, v: Reg) -> Reg {
        match mem {
            MemTy::Bool => {
                let (raw, one) = (self.vector(asm, Ty::I32), self.splat(asm, Ty::I32, 1));
                self.masked(
                    asm,
                    v,
                    true,
                    op(self.move_code(Ty::I32), Some(raw), &[Operand::Reg(one)]),
                );
                raw
            }
            MemTy::F16 => {
                let words = self.narrow(asm, TO_F16, v, self.half_width(), Some(0));
                let raw = self.vector(asm, Ty::I32);
                self.convert(
                    asm,
                    Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256,
                    Code::EVEX_Vpmovzxwd_ymm_k1z_xmmm128,
                    raw,
                    words,
                );
                raw
            }
            MemTy::Bf16 => self.bf16_bits(asm, v),
            _ => v,
        }
    }

    fn gather(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem, index: Ty, exec: Option<Reg>) {
        let code = match (ty.bits(), index, self.wide) {
            (32, Ty::I32, false) => Code::EVEX_Vpgatherdd_zmm_k1_vm32z,
            (32, Ty::I32, true) => Code::EVEX_Vpgatherdd_ymm_k1_vm32y,
            (32, _, _) => Code::EVEX_Vpgatherqd_ymm_k1_vm64z,
            (_, Ty::I32, _) => Code::EVEX_Vpgatherdq_zmm_k1_vm32y,
            _ => Code::EVEX_Vpgatherqq_zmm_k1_vm64z,
        };
        let k = self.consumable(asm, exec);
        let zero = self.splat(asm, ty, 0);
        asm.push(Lir::Move { dst, src: zero });
        asm.op(Op {
            mask: Some((k, false)),
            tied: true,
            late: true,
            rm: None,
            ..op(code, Some(dst), &[Operand::Mem(from)])
        });
    }

    fn scatter(
        &self,
        asm: &mut Asm,
        ty: Ty,
        v: Reg,
        to: Mem,
        index: Ty,
        exec: Option<Reg>,
    ) -> bool {
        let code = match (ty.bits(), index, self.wide) {
            (32, Ty::I32, false) => Code::EVEX_Vpscatterdd_vm32z_k1_zmm,
            (32, Ty::I32, true) => Code::EVEX_Vpscatterdd_vm32y_k1_ymm,
            (32, _, _) => Code::EVEX_Vpscatterqd_vm64z_k1_ymm,
            (_, Ty::I32, _) => Code::EVEX_Vpscatterdq_vm32y_k1_zmm,
            _ => Code::EVEX_Vpscatterqq_vm64z_k1_zmm,
        };
        let k = self.consumable(asm, exec);
        asm.op(Op {
            mask: Some((k, false)),
            rm: None,
            ..op(code, None, &[Operand::Mem(to), Operand::Reg(v)])
        });
        true
    }

    fn accumulator_bits(&self, ty: Ty) -> i32 {
        ty.bits() as i32
    }

    fn load_accumulator(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem) {
        if ty == Ty::Mask {
            let code = if self.wide {
                Code::VEX_Kmovb_kr_km8
            } else {
                Code::VEX_Kmovw_kr_km16
            };
            return asm.op(op(code, Some(dst), &[Operand::Mem(from)]));
        }
        asm.op(op(self.move_code(ty), Some(dst), &[Operand::Mem(from)]));
    }

    fn store_accumulator(&self, asm: &mut Asm, ty: Ty, v: Reg, to: Mem) {
        let code = match (ty, self.wide) {
            (Ty::Mask, true) => Code::VEX_Kmovb_m8_kr,
            (Ty::Mask, false) => Code::VEX_Kmovw_m16_kr,
            _ => self.store_code(ty),
        };
        asm.op(Op {
            rm: None,
            ..op(code, None, &[Operand::Mem(to), Operand::Reg(v)])
        });
    }
}

impl Avx512 {
    pub(super) fn move_code(&self, ty: Ty) -> Code {
        match (ty.bits(), self.width(ty)) {
            (64, _) => Code::EVEX_Vmovupd_zmm_k1z_zmmm512,
            (_, Width::V512) => Code::EVEX_Vmovups_zmm_k1z_zmmm512,
            _ => Code::EVEX_Vmovups_ymm_k1z_ymmm256,
        }
    }

    pub(super) fn store_code(&self, ty: Ty) -> Code {
        match (ty.bits(), self.width(ty)) {
            (64, _) => Code::EVEX_Vmovupd_zmmm512_k1z_zmm,
            (_, Width::V512) => Code::EVEX_Vmovups_zmmm512_k1z_zmm,
            _ => Code::EVEX_Vmovups_ymmm256_k1z_ymm,
        }
    }

    /// Stores narrowed lanes: one byte each in a 16-byte register, or two bytes each.
    pub(super) fn store_narrow(
        &self,
        asm: &mut Asm,
        v: Reg,
        bytes: i64,
        at: Mem,
        exec: Option<Reg>,
    ) {
        let code = match (bytes, exec.is_some(), self.wide) {
            (1, true, _) => Code::EVEX_Vmovdqu8_xmmm128_k1z_xmm,
            (1, false, false) => Code::EVEX_Vmovdqu8_xmmm128_k1z_xmm,
            (1, false, true) => Code::EVEX_Vmovq_xmmm64_xmm,
            (_, _, true) => Code::EVEX_Vmovdqu16_xmmm128_k1z_xmm,
            (_, _, false) => Code::EVEX_Vmovdqu16_ymmm256_k1z_ymm,
        };
        let mask = exec.map(|k| (k, false));
        asm.op(Op {
            mask,
            rm: None,
            ..op(code, None, &[Operand::Mem(at), Operand::Reg(v)])
        });
    }

    /// A copy of a mask, or all lanes, that a gather or scatter may clear.
    pub(super) fn consumable(&self, asm: &mut Asm, exec: Option<Reg>) -> Reg {
        let k = self.mask(asm);
        match exec {
            Some(src) => asm.push(Lir::Move { dst: k, src }),
            None => self.mask_constant(asm, k, true),
        }
        k
    }
}
