//! Integer arithmetic, with XLA's results where the machine traps or masks.

use super::rep::{Rep, high_halves, int_like};
use super::{Emitter, Width, scalar_type};
use crate::lanes::{BinOp, Ty};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, types};
use cranelift_frontend::FunctionBuilder;

impl Emitter<'_, '_> {
    pub(super) fn int_bin(&mut self, op: BinOp, ty: Ty, a: &Rep, b: &Rep) -> Rep {
        use BinOp::*;
        match (op, self.width, ty) {
            (MulHiU | MulHiS, Width::Four, Ty::I32) => self.mul_hi_32(op == MulHiS, a, b),
            (MinS | MaxS | MinU | MaxU, Width::Four, Ty::I64) => self.min_max_64(op, a, b),
            (DivS | DivU | RemS | RemU | MulHiS | MulHiU | Shl | ShrS | ShrU, _, _) => self
                .per_lane(&[(ty, a), (ty, b)], ty, |e, v| {
                    hard_int(e.fb, op, ty, v[0], v[1])
                }),
            _ => self.map2(a, b, |fb, a, b| easy_int(fb, op, a, b)),
        }
    }

    fn mul_hi_32(&mut self, signed: bool, a: &Rep, b: &Rep) -> Rep {
        let (x, y) = (self.extended(signed, a), self.extended(signed, b));
        let products = self.map2(&x, &y, |fb, x, y| fb.ins().imul(x, y));
        let Rep::X2(products) = products else {
            unreachable!("64-bit lanes are in pairs")
        };
        Rep::X4(high_halves(self.fb, products, types::I32X4))
    }

    fn min_max_64(&mut self, op: BinOp, a: &Rep, b: &Rep) -> Rep {
        self.map2(a, b, |fb, a, b| {
            let less = if matches!(op, BinOp::MinS | BinOp::MaxS) {
                IntCC::SignedLessThan
            } else {
                IntCC::UnsignedLessThan
            };
            let less = fb.ins().icmp(less, a, b);
            let (x, y) = if matches!(op, BinOp::MinS | BinOp::MinU) {
                (a, b)
            } else {
                (b, a)
            };
            fb.ins().bitselect(less, x, y)
        })
    }
}

pub(super) fn easy_int(
    fb: &mut FunctionBuilder<'_>,
    op: BinOp,
    a: ir::Value,
    b: ir::Value,
) -> ir::Value {
    match op {
        BinOp::Add => fb.ins().iadd(a, b),
        BinOp::Sub => fb.ins().isub(a, b),
        BinOp::Mul => fb.ins().imul(a, b),
        BinOp::MinS => fb.ins().smin(a, b),
        BinOp::MaxS => fb.ins().smax(a, b),
        BinOp::MinU => fb.ins().umin(a, b),
        BinOp::MaxU => fb.ins().umax(a, b),
        BinOp::And => fb.ins().band(a, b),
        BinOp::Or => fb.ins().bor(a, b),
        BinOp::Xor => fb.ins().bxor(a, b),
        BinOp::Eq => fb.ins().icmp(IntCC::Equal, a, b),
        BinOp::Ne => fb.ins().icmp(IntCC::NotEqual, a, b),
        BinOp::Lt => fb.ins().icmp(IntCC::SignedLessThan, a, b),
        BinOp::Le => fb.ins().icmp(IntCC::SignedLessThanOrEqual, a, b),
        BinOp::LtU => fb.ins().icmp(IntCC::UnsignedLessThan, a, b),
        BinOp::LeU => fb.ins().icmp(IntCC::UnsignedLessThanOrEqual, a, b),
        _ => unreachable!("{} is done lane by lane", op.name()),
    }
}

pub(super) fn shift_by(
    fb: &mut FunctionBuilder<'_>,
    op: BinOp,
    a: ir::Value,
    count: u64,
    bits: u64,
) -> ir::Value {
    let ty = fb.func.dfg.value_type(a);
    match op {
        BinOp::ShrS => fb.ins().sshr_imm_u(a, count.min(bits - 1) as i64),
        _ if count >= bits => int_like(fb, ty, 0),
        BinOp::Shl => fb.ins().ishl_imm_u(a, count as i64),
        _ => fb.ins().ushr_imm_u(a, count as i64),
    }
}

/// Scalar integer operations that no vector form covers, with XLA's results where the machine traps or masks.
fn hard_int(
    fb: &mut FunctionBuilder<'_>,
    op: BinOp,
    ty: Ty,
    a: ir::Value,
    b: ir::Value,
) -> ir::Value {
    let clif = scalar_type(ty);
    match op {
        BinOp::MulHiS => fb.ins().smulhi(a, b),
        BinOp::MulHiU => fb.ins().umulhi(a, b),
        BinOp::DivS | BinOp::DivU | BinOp::RemS | BinOp::RemU => divide(fb, op, clif, a, b),
        _ => {
            let width = i64::from(ty.bits());
            let inside = fb.ins().icmp_imm_u(IntCC::UnsignedLessThan, b, width);
            match op {
                BinOp::ShrS => {
                    let last = fb.ins().iconst(clif, width - 1);
                    let count = fb.ins().select(inside, b, last);
                    fb.ins().sshr(a, count)
                }
                BinOp::Shl | BinOp::ShrU => {
                    let shifted = if op == BinOp::Shl {
                        fb.ins().ishl(a, b)
                    } else {
                        fb.ins().ushr(a, b)
                    };
                    let none = fb.ins().iconst(clif, 0);
                    fb.ins().select(inside, shifted, none)
                }
                _ => unreachable!("{} has a vector form", op.name()),
            }
        }
    }
}

/// A division with XLA's results where the machine traps. These divisors are rare: nothing waits for the question whether one is there.
fn divide(
    fb: &mut FunctionBuilder<'_>,
    op: BinOp,
    ty: ir::Type,
    a: ir::Value,
    b: ir::Value,
) -> ir::Value {
    let (common, rare, done) = (fb.create_block(), fb.create_block(), fb.create_block());
    let result = fb.append_block_param(done, ty);
    // Zero, and of signed numbers -1, by which the least one has no quotient.
    let is_common = if matches!(op, BinOp::DivS | BinOp::RemS) {
        let next = fb.ins().iadd_imm_s(b, 1);
        fb.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, next, 1)
    } else {
        fb.ins().icmp_imm_u(IntCC::NotEqual, b, 0)
    };
    fb.ins().brif(is_common, common, &[], rare, &[]);
    fb.seal_block(common);
    fb.seal_block(rare);
    fb.set_cold_block(rare);

    fb.switch_to_block(rare);
    let minus_one = int_like(fb, ty, -1);
    let zero = int_like(fb, ty, 0);
    let (by_zero, by_minus_one) = match op {
        BinOp::DivS => (minus_one, fb.ins().ineg(a)),
        BinOp::DivU => (minus_one, minus_one),
        BinOp::RemS => (a, zero),
        _ => (a, a),
    };
    let is_zero = fb.ins().icmp_imm_u(IntCC::Equal, b, 0);
    let value = fb.ins().select(is_zero, by_zero, by_minus_one);
    fb.ins().jump(done, &[BlockArg::Value(value)]);

    fb.switch_to_block(common);
    let value = match op {
        BinOp::DivS => fb.ins().sdiv(a, b),
        BinOp::DivU => fb.ins().udiv(a, b),
        BinOp::RemS => fb.ins().srem(a, b),
        _ => fb.ins().urem(a, b),
    };
    fb.ins().jump(done, &[BlockArg::Value(value)]);
    fb.seal_block(done);
    fb.switch_to_block(done);
    result
}
