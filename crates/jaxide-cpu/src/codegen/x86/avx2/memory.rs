//! Loads, stores and gathers.

use super::*;
use crate::codegen::x86::target::Memory;

impl Memory for Avx2 {
    fn masks_small_elements(&self) -> bool {
        false
    }

    fn broadcast(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem) {
        let code = match (ty.bits(), self.width(ty)) {
            (64, _) => Code::VEX_Vbroadcastsd_ymm_m64,
            (_, Width::V256) => Code::VEX_Vbroadcastss_ymm_m32,
            _ => Code::VEX_Vbroadcastss_xmm_m32,
        };
        asm.op(op(code, Some(dst), &[Operand::Mem(from)]));
    }

    fn load(&self, asm: &mut Asm, mem: MemTy, dst: Reg, from: Mem, exec: Option<Reg>) {
        let ty = mem.lane();
        if mem.size() >= 4 {
            let Some(exec) = exec else {
                return asm.op(op(self.move_code(ty), Some(dst), &[Operand::Mem(from)]));
            };
            let mask = self.mask_for(asm, ty, exec);
            let code = match (ty.bits(), self.width(ty)) {
                (64, _) => Code::VEX_Vmaskmovpd_ymm_ymm_m256,
                (_, Width::V256) => Code::VEX_Vmaskmovps_ymm_ymm_m256,
                _ => Code::VEX_Vmaskmovps_xmm_xmm_m128,
            };
            return asm.op(Op {
                rm: None,
                ..op(code, Some(dst), &[Operand::Reg(mask), Operand::Mem(from)])
            });
        }
        let narrow = match (mem, self.wide) {
            (MemTy::I8, false) => Code::VEX_Vpmovsxbd_ymm_xmmm64,
            (MemTy::I8, true) => Code::VEX_Vpmovsxbd_xmm_xmmm32,
            (MemTy::U8 | MemTy::Bool, false) => Code::VEX_Vpmovzxbd_ymm_xmmm64,
            (MemTy::U8 | MemTy::Bool, true) => Code::VEX_Vpmovzxbd_xmm_xmmm32,
            (MemTy::I16, false) => Code::VEX_Vpmovsxwd_ymm_xmmm128,
            (MemTy::I16, true) => Code::VEX_Vpmovsxwd_xmm_xmmm64,
            (MemTy::F16, false) => Code::VEX_Vcvtph2ps_ymm_xmmm128,
            (MemTy::F16, true) => Code::VEX_Vcvtph2ps_xmm_xmmm64,
            (_, false) => Code::VEX_Vpmovzxwd_ymm_xmmm128,
            (_, true) => Code::VEX_Vpmovzxwd_xmm_xmmm64,
        };
        let raw = self.emit(
            asm,
            Class::Vector(self.width(Ty::I32)),
            narrow,
            &[Operand::Mem(from)],
        );
        if mem == MemTy::F16 {
            return self.put(asm, dst, raw);
        }
        self.raw_to_lane(asm, mem, dst, raw);
    }

    fn store(&self, asm: &mut Asm, mem: MemTy, v: Reg, to: Mem, exec: Option<Reg>) {
        let ty = mem.lane();
        if mem.size() >= 4 {
            let (plain, masked) = match (ty.bits(), self.width(ty)) {
                (64, _) => (
                    Code::VEX_Vmovups_ymmm256_ymm,
                    Code::VEX_Vmaskmovpd_m256_ymm_ymm,
                ),
                (_, Width::V256) => (
                    Code::VEX_Vmovups_ymmm256_ymm,
                    Code::VEX_Vmaskmovps_m256_ymm_ymm,
                ),
                _ => (
                    Code::VEX_Vmovups_xmmm128_xmm,
                    Code::VEX_Vmaskmovps_m128_xmm_xmm,
                ),
            };
            let o = match exec {
                Some(exec) => {
                    let mask = self.mask_for(asm, ty, exec);
                    op(
                        masked,
                        None,
                        &[Operand::Mem(to), Operand::Reg(mask), Operand::Reg(v)],
                    )
                }
                None => op(plain, None, &[Operand::Mem(to), Operand::Reg(v)]),
            };
            return asm.op(Op { rm: None, ..o });
        }
        if mem == MemTy::F16 {
            let half = self.lane_to_half(asm, v);
            return self.store_low(asm, half, 2 * self.lanes(), to);
        }
        let raw = self.lane_to_raw(asm, mem, v);
        if mem.size() == 1 {
            let bytes = self.pack_bytes(asm, raw);
            self.store_low(asm, bytes, self.lanes(), to);
        } else {
            let words = self.pack_words(asm, raw);
            self.store_low(asm, words, 2 * self.lanes(), to);
        }
    }

    fn reverse(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg) {
        let o = match (ty.bits(), self.width(ty)) {
            (64, _) => op(
                Code::VEX_Vpermq_ymm_ymmm256_imm8,
                Some(dst),
                &[Operand::Reg(a), Imm(0x1b)],
            ),
            (_, Width::V256) => {
                let order: Vec<u8> = (0..8u32).rev().flat_map(u32::to_le_bytes).collect();
                let order = asm.vector(Width::V256, &order);
                let operands = [Operand::Reg(order), Operand::Reg(a)];
                op(Code::VEX_Vpermd_ymm_ymm_ymmm256, Some(dst), &operands)
            }
            _ => op(
                Code::VEX_Vpshufd_xmm_xmmm128_imm8,
                Some(dst),
                &[Operand::Reg(a), Imm(0x1b)],
            ),
        };
        asm.op(o);
    }

    fn raw_to_lane(&self, asm: &mut Asm, mem: MemTy, dst: Reg, raw: Reg) {
        match mem {
            MemTy::Bool => {
                let zero = self.splat(asm, Ty::I32, 0);
                let none = self.two(asm, &codes::PCMPEQ, Ty::I32, raw, zero);
                let none = self.to_mask(asm, Ty::I32, none);
                self.un(asm, UnOp::Not, Ty::Mask, Ty::Mask, dst, none);
            }
            MemTy::F16 => {
                let words = self.pack_words(asm, raw);
                self.half_to_lane(asm, dst, words);
            }
            MemTy::Bf16 => {
                let r = self.shift(asm, &codes::PSLL_IMM, Ty::I32, raw, 16);
                self.put(asm, dst, r);
            }
            _ => self.put(asm, dst, raw),
        }
    }

    fn lane_to_raw(&self, asm: &mut Asm, mem: MemTy, v: Reg) -> Reg {
        match mem {
            MemTy::Bool => {
                let (one, m) = (self.splat(asm, Ty::I32, 1), self.mask_for(asm, Ty::I32, v));
                self.two(asm, &codes::PAND, Ty::I32, m, one)
            }
            MemTy::F16 => {
                let half = self.lane_to_half(asm, v);
                let code = if self.wide {
                    Code::VEX_Vpmovzxwd_xmm_xmmm64
                } else {
                    Code::VEX_Vpmovzxwd_ymm_xmmm128
                };
                self.emit(
                    asm,
                    Class::Vector(self.width(Ty::I32)),
                    code,
                    &[Operand::Reg(half)],
                )
            }
            MemTy::Bf16 => self.bf16_bits(asm, v),
            _ => v,
        }
    }

    fn gather(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem, index: Ty, exec: Option<Reg>) {
        let code = match (ty.bits(), index, self.wide) {
            (32, Ty::I32, false) => Code::VEX_Vpgatherdd_ymm_vm32y_ymm,
            (32, Ty::I32, true) => Code::VEX_Vpgatherdd_xmm_vm32x_xmm,
            (32, _, _) => Code::VEX_Vpgatherqd_xmm_vm64y_xmm,
            (_, Ty::I32, _) => Code::VEX_Vpgatherdq_ymm_vm32x_ymm,
            _ => Code::VEX_Vpgatherqq_ymm_vm64y_ymm,
        };
        let k = self.consumable(asm, ty, exec);
        let zero = self.splat(asm, ty, 0);
        asm.push(Lir::Move { dst, src: zero });
        let o = op(code, Some(dst), &[Operand::Mem(from), Operand::Reg(k)]);
        asm.op(Op {
            tied: true,
            late: true,
            rm: None,
            ..o
        });
    }

    fn scatter(&self, _: &mut Asm, _: Ty, _: Reg, _: Mem, _: Ty, _: Option<Reg>) -> bool {
        false
    }

    fn accumulator_bits(&self, ty: Ty) -> i32 {
        if ty == Ty::Mask {
            self.mask_lane().bits() as i32
        } else {
            ty.bits() as i32
        }
    }

    fn load_accumulator(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem) {
        asm.op(op(self.move_code(ty), Some(dst), &[Operand::Mem(from)]));
    }

    fn store_accumulator(&self, asm: &mut Asm, ty: Ty, v: Reg, to: Mem) {
        let code = match self.width(ty) {
            Width::V256 => Code::VEX_Vmovups_ymmm256_ymm,
            _ => Code::VEX_Vmovups_xmmm128_xmm,
        };
        asm.op(Op {
            rm: None,
            ..op(code, None, &[Operand::Mem(to), Operand::Reg(v)])
        });
    }
}

impl Avx2 {
    pub(super) fn move_code(&self, ty: Ty) -> Code {
        match self.width(ty) {
            Width::V256 => Code::VEX_Vmovups_ymm_ymmm256,
            _ => Code::VEX_Vmovups_xmm_xmmm128,
        }
    }

    /// The low halves of the 32-bit lanes, packed into the first bytes of 16.
    pub(super) fn pack_words(&self, asm: &mut Asm, a: Reg) -> Reg {
        let low = self.splat(asm, Ty::I32, 0xffff);
        let a = self.two(asm, &codes::PAND, Ty::I32, a, low);
        let second = if self.wide {
            Operand::Reg(a)
        } else {
            Operand::Reg(self.high(asm, a))
        };
        self.emit(
            asm,
            V128,
            Code::VEX_Vpackusdw_xmm_xmm_xmmm128,
            &[Part(a, Width::V128), second],
        )
    }

    pub(super) fn pack_bytes(&self, asm: &mut Asm, a: Reg) -> Reg {
        let low = self.splat(asm, Ty::I32, 0xff);
        let a = self.two(asm, &codes::PAND, Ty::I32, a, low);
        let words = self.pack_words(asm, a);
        self.emit(
            asm,
            V128,
            Code::VEX_Vpackuswb_xmm_xmm_xmmm128,
            &[Operand::Reg(words), Operand::Reg(words)],
        )
    }

    /// Stores the first bytes of a 128-bit register.
    pub(super) fn store_low(&self, asm: &mut Asm, v: Reg, bytes: i64, to: Mem) {
        let code = match bytes {
            4 => Code::VEX_Vmovd_rm32_xmm,
            8 => Code::VEX_Vmovq_xmmm64_xmm,
            _ => Code::VEX_Vmovups_xmmm128_xmm,
        };
        asm.op(Op {
            rm: None,
            ..op(code, None, &[Operand::Mem(to), Operand::Reg(v)])
        });
    }

    /// A copy of a mask in the lanes of `ty`, or all lanes, that a gather may clear.
    pub(super) fn consumable(&self, asm: &mut Asm, ty: Ty, exec: Option<Reg>) -> Reg {
        let k = asm.reg(Class::Vector(self.width(ty)));
        let src = match exec {
            Some(exec) => self.mask_for(asm, ty, exec),
            None => self.splat(asm, ty, u64::MAX),
        };
        asm.push(Lir::Move { dst: k, src });
        k
    }
}
