//! Conversions between lane types.

use super::rep::{Rep, low_halves, shuffle};
use super::{Emitter, Width, scalar_type};
use crate::lanes::Ty;
use cranelift_codegen::ir::{InstBuilder, types};

impl Emitter<'_, '_> {
    pub(super) fn signed_to_float(&mut self, from: Ty, to: Ty, a: &Rep) -> Rep {
        match (self.width, from, to) {
            (Width::Four, Ty::I32, Ty::F32) => {
                self.map1(a, |fb, a| fb.ins().fcvt_from_sint(types::F32X4, a))
            }
            (Width::Four, Ty::I32, Ty::F64) => {
                let (low, high) = (
                    a.one(),
                    shuffle(self.fb, a.one(), a.one(), HIGH_HALF, types::I32X4),
                );
                Rep::X2([low, high].map(|v| {
                    let wide = self.fb.ins().swiden_low(v);
                    self.fb.ins().fcvt_from_sint(types::F64X2, wide)
                }))
            }
            _ => self.per_lane(&[(from, a)], to, |e, a| {
                e.fb.ins().fcvt_from_sint(scalar_type(to), a[0])
            }),
        }
    }

    pub(super) fn float_to_signed(&mut self, from: Ty, to: Ty, a: &Rep) -> Rep {
        match (self.width, from, to) {
            (Width::Four, Ty::F32, Ty::I32) => {
                self.map1(a, |fb, a| fb.ins().fcvt_to_sint_sat(types::I32X4, a))
            }
            _ => self.per_lane(&[(from, a)], to, |e, a| {
                e.fb.ins().fcvt_to_sint_sat(scalar_type(to), a[0])
            }),
        }
    }

    pub(super) fn float_to_float(&mut self, to: Ty, a: &Rep) -> Rep {
        match (a, to) {
            (Rep::X4(v), _) => {
                let high = shuffle(self.fb, *v, *v, HIGH_HALF, types::F32X4);
                Rep::X2([
                    self.fb.ins().fvpromote_low(*v),
                    self.fb.ins().fvpromote_low(high),
                ])
            }
            (Rep::X2([a, b]), _) => {
                let (a, b) = (self.fb.ins().fvdemote(*a), self.fb.ins().fvdemote(*b));
                Rep::X4(shuffle(self.fb, a, b, LOW_HALVES, types::F32X4))
            }
            (Rep::One(v), Ty::F32) => Rep::One(self.fb.ins().fdemote(types::F32, *v)),
            (Rep::One(v), _) => Rep::One(self.fb.ins().fpromote(types::F64, *v)),
        }
    }

    /// A 32-bit integer as one of 64 bits.
    pub(super) fn extended(&mut self, signed: bool, a: &Rep) -> Rep {
        let ins = |e: &mut Self, high: bool| match (signed, high) {
            (true, false) => e.fb.ins().swiden_low(a.one()),
            (true, true) => e.fb.ins().swiden_high(a.one()),
            (false, false) => e.fb.ins().uwiden_low(a.one()),
            (false, true) => e.fb.ins().uwiden_high(a.one()),
        };
        match (self.width, signed) {
            (Width::Four, _) => Rep::X2([ins(self, false), ins(self, true)]),
            (Width::One, true) => Rep::One(self.fb.ins().sextend(types::I64, a.one())),
            (Width::One, false) => Rep::One(self.fb.ins().uextend(types::I64, a.one())),
        }
    }

    /// The low half of a 64-bit integer.
    pub(super) fn low(&mut self, a: &Rep) -> Rep {
        match a {
            Rep::X2(pair) => Rep::X4(low_halves(self.fb, *pair, types::I32X4)),
            _ => Rep::One(self.fb.ins().ireduce(types::I32, a.one())),
        }
    }
}

const HIGH_HALF: [u8; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15];
const LOW_HALVES: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];
