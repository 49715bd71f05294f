//! Operations on bytes.

use super::*;
use crate::codegen::x86::table::*;
use crate::codegen::x86::target::{Divisor, Operations};
use crate::lanes::{BinOp, TO_THE_TOP, UnOp};
use crate::narrow;
use iced_x86::Register;

impl<const EVEX: bool> Operations for Bytes<EVEX> {
    fn un(&self, asm: &mut Asm, op: UnOp, _: Ty, _: Ty, dst: Reg, a: Reg) {
        match op {
            UnOp::Not => self.not(asm, dst, a),
            UnOp::Neg => {
                let zero = self.splat(asm, Ty::I32, 0);
                self.pair(asm, &VPSUBB, dst, zero, a);
            }
            UnOp::Abs => self.on(asm, &VPABSB, dst, &[Operand::Reg(a)]),
            // `Body::on_bytes` says which there are.
            _ => never(op.name()),
        }
    }

    fn bin(&self, asm: &mut Asm, op: BinOp, _: Ty, dst: Reg, a: Reg, b: Reg) {
        use BinOp::*;
        match op {
            Add => self.pair(asm, &VPADDB, dst, a, b),
            Sub => self.pair(asm, &VPSUBB, dst, a, b),
            MinS => self.pair(asm, &VPMINSB, dst, a, b),
            MaxS => self.pair(asm, &VPMAXSB, dst, a, b),
            MinU => self.pair(asm, &VPMINUB, dst, a, b),
            MaxU => self.pair(asm, &VPMAXUB, dst, a, b),
            And => self.two_to(asm, &PAND, Ty::I32, dst, a, b),
            Or => self.two_to(asm, &POR, Ty::I32, dst, a, b),
            Xor => self.two_to(asm, &PXOR, Ty::I32, dst, a, b),
            Eq | Ne | Lt | Le | LtU | LeU => self.compare(asm, op, dst, a, b),
            _ => never(op.name()),
        }
    }

    fn quotient(&self, _: &mut Asm, _: bool, _: Reg, _: Reg, _: Divisor) {
        never("division")
    }

    fn doubles(&self, _: &mut Asm, _: bool, _: Reg) -> Reg {
        never("floats")
    }

    fn shift_by(&self, asm: &mut Asm, op: BinOp, _: Ty, dst: Reg, a: Reg, count: u64) {
        if count == 0 || count == TO_THE_TOP {
            return asm.put(dst, a);
        }
        // In words, without what comes from the other byte.
        let logical = |asm: &mut Asm, row: &Row, dst: Reg, a: Reg, kept: u64| {
            let shifted = self.register(asm);
            let op = Op::new(
                Self::whole(row),
                Some(shifted),
                &[Operand::Reg(a), Imm(narrow(count))],
            );
            // The VEX form takes no memory.
            asm.op(Op {
                rm: op.rm.filter(|_| EVEX),
                ..op
            });
            let kept = self.splat(asm, Ty::I32, kept);
            self.two_to(asm, &PAND, Ty::I32, dst, shifted, kept);
        };
        match op {
            BinOp::Shl => logical(asm, &VPSLLW, dst, a, 0xff << count),
            BinOp::ShrU => logical(asm, &VPSRLW, dst, a, 0xff >> count),
            _ => {
                // Of numbers made positive, 128 more; what that became is taken away.
                let sign = self.splat(asm, Ty::I32, 0x80);
                let [positive, shifted] = [self.register(asm), self.register(asm)];
                self.two_to(asm, &PXOR, Ty::I32, positive, a, sign);
                logical(asm, &VPSRLW, shifted, positive, 0xff >> count);
                let less = self.splat(asm, Ty::I32, 0x80 >> count);
                self.pair(asm, &VPSUBB, dst, shifted, less);
            }
        }
    }

    fn select(&self, asm: &mut Asm, _: Ty, dst: Reg, mask: Reg, a: Reg, b: Reg) {
        self.blend(asm, dst, mask, a, b);
    }

    fn select_or_zero(
        &self,
        asm: &mut Asm,
        _: Ty,
        dst: Reg,
        (mask, holds): (Reg, bool),
        a: Reg,
    ) -> bool {
        let lanes = if holds { &PAND } else { &PANDN };
        self.two_to(asm, lanes, Ty::I32, dst, mask, a);
        true
    }

    fn merge(&self, _: &mut Asm, _: Ty, _: Reg, _: Reg, _: Reg) {
        never("lanes that stop apart")
    }

    fn broadcast_gpr(&self, asm: &mut Asm, _: Ty, dst: Reg) {
        let from = Operand::Gpr(Register::EAX);
        if EVEX {
            return self.on(asm, &VPBROADCASTB_GPR, dst, &[from]);
        }
        let low = asm.reg(Class::Vector(Width::V128));
        let code = VMOVD_GPR.form(false, Width::V128);
        asm.op(Op::new(code, Some(low), &[from]));
        self.on(asm, &VPBROADCASTB, dst, &[Operand::Reg(low)]);
    }

    fn rotate(&self, asm: &mut Asm, _: Ty, dst: Reg, a: Reg, by: u8) {
        if !EVEX {
            never("reduction")
        }
        let whole = Operand::As(a, Width::V512);
        let (code, short, operands) = match by {
            32 => (
                VEXTRACTI64X4.form(EVEX, Width::V512),
                Width::V256,
                [whole, Imm(1)],
            ),
            16 => (
                VEXTRACTI32X4.form(EVEX, Width::V512),
                Width::V128,
                [whole, Imm(1)],
            ),
            _ => (
                VPSRLDQ.form(EVEX, Width::V128),
                Width::V128,
                [Operand::As(a, Width::V128), Imm(by)],
            ),
        };
        asm.op(Op {
            rm: None,
            short: Some(short),
            ..Op::new(code, Some(dst), &operands)
        });
    }

    fn pick(&self, _: &mut Asm, _: Ty, _: Reg, _: &[Reg], _: &[(usize, usize)]) {
        never("elements in another order")
    }

    fn reverse(&self, _: &mut Asm, _: Ty, _: Reg, _: Reg) {
        never("elements in another order")
    }
}

impl<const EVEX: bool> Bytes<EVEX> {
    pub(super) fn not(&self, asm: &mut Asm, dst: Reg, a: Reg) {
        let ones = self.splat(asm, Ty::I32, 0xff);
        self.two_to(asm, &PXOR, Ty::I32, dst, a, ones);
    }
}
