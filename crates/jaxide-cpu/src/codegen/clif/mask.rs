//! Masks and choice.

use super::ops::pick;
use super::rep::{Rep, low_halves};
use super::{Emitter, Width};
use crate::lanes::BinOp;
use cranelift_codegen::ir::{self, InstBuilder, types};

impl Emitter<'_, '_> {
    /// A mask in the form that goes with `like`.
    pub(super) fn mask_like(&mut self, mask: &Rep, like: &Rep) -> Rep {
        match (mask, like) {
            (Rep::X4(m), Rep::X2(_)) => {
                Rep::X2([self.fb.ins().swiden_low(*m), self.fb.ins().swiden_high(*m)])
            }
            (Rep::X2(m), Rep::X4(_)) => Rep::X4(low_halves(self.fb, *m, types::I32X4)),
            _ => mask.clone(),
        }
    }

    pub(super) fn mask_bin(&mut self, op: BinOp, a: &Rep, b: &Rep) -> Rep {
        let b = self.mask_like(b, a);
        self.map2(a, &b, |fb, a, b| match op {
            BinOp::And => fb.ins().band(a, b),
            BinOp::Or => fb.ins().bor(a, b),
            _ => fb.ins().bxor(a, b),
        })
    }

    pub(super) fn mask_and(&mut self, a: &Rep, b: &Rep) -> Rep {
        self.mask_bin(BinOp::And, a, b)
    }

    pub(super) fn mask_not(&mut self, a: &Rep) -> Rep {
        let scalar = self.width == Width::One;
        self.map1(a, |fb, a| {
            if scalar {
                fb.ins().bxor_imm_u(a, 1)
            } else {
                fb.ins().bnot(a)
            }
        })
    }

    /// Whether any lane of a mask is set, as a scalar.
    pub(super) fn any(&mut self, mask: &Rep) -> ir::Value {
        match mask {
            Rep::One(m) => *m,
            Rep::X4(m) => self.fb.ins().vany_true(*m),
            Rep::X2([a, b]) => {
                let m = self.fb.ins().bor(*a, *b);
                self.fb.ins().vany_true(m)
            }
        }
    }

    /// `a` where the mask holds, `b` elsewhere.
    pub(super) fn choose(&mut self, mask: &Rep, a: &Rep, b: &Rep) -> Rep {
        // Two masks may have different forms.
        let b = &self.mask_like(b, a);
        let mask = self.mask_like(mask, a);
        let registers: Vec<ir::Value> = (0..a.registers().len())
            .map(|k| {
                let (m, a, b) = (mask.registers()[k], a.registers()[k], b.registers()[k]);
                pick(self.fb, m, a, b)
            })
            .collect();
        a.with(&registers)
    }
}
