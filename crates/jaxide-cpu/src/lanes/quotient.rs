//! Quotients by constants as products: the divider of a processor takes a vector every eight to sixteen cycles, two products one.
//!
//! After Brisebarre, Muller and Raina, "Accelerating correctly rounded floating-point division when the divisor is known in advance" (2004): with
//! 1 / c = h + l, where h is rounded towards zero and l is the rest, x / c is `fma(x, h, x * l)` with both roundings. That is the quotient
//! correctly rounded unless x / c lies too close to the middle of two numbers, which a divisor has at most a few dividends for: they are tried.
//! Since h and l have the same sign, infinities, zeros with their signs and NaN come out as they do of a division. Where x l would be subnormal,
//! for quotients below 2^-100 (in double precision 2^-968), the last bit may differ.

use super::body::{Block, BlockId, Body, Inst, Stmt, Value, ValueData};
use super::op::{BinOp, TerOp};
use super::sweep::sweep;
use super::types::Ty;
use rustc_hash::FxHashMap as HashMap;
use std::borrow::Cow;

impl Body {
    /// What the emitters of wide vectors compile: the body with products in the place of quotients by constants. Both give the same bits, but for the
    /// last one of tiny quotients.
    pub fn multiplied(&self) -> Cow<'_, Body> {
        multiplied(self).map_or(Cow::Borrowed(self), Cow::Owned)
    }
}

fn multiplied(body: &Body) -> Option<Body> {
    let quotients: Vec<(Value, Value, [u64; 2])> = (0..body.values.len())
        .filter_map(|at| {
            let v = Value(crate::narrow(at));
            let Inst::Bin(BinOp::Div, x, by) = *body.inst(v) else {
                return None;
            };
            let Inst::Const(divisor) = *body.inst(by) else {
                return None;
            };
            Some((v, x, reciprocal(body.ty(v), divisor)?))
        })
        .collect();
    if quotients.is_empty() {
        return None;
    }
    let mut new = body.clone();
    let mut constants: HashMap<(Ty, u64), Value> = HashMap::default();
    for (v, x, parts) in quotients {
        let ty = body.ty(v);
        let [high, low] = parts.map(|bits| {
            *constants.entry((ty, bits)).or_insert_with(|| {
                let part = define(&mut new, Inst::Const(bits), ty, BlockId::PROLOGUE);
                let Block { stmts, .. } = &mut new.blocks[BlockId::PROLOGUE.index()];
                stmts.insert(0, Stmt::Let(part));
                part
            })
        });
        let home = body.values[v.index()].block;
        let rest = define(&mut new, Inst::Bin(BinOp::Mul, x, low), ty, home);
        let Block { stmts, .. } = &mut new.blocks[home.index()];
        let at = stmts.iter().position(|stmt| *stmt == Stmt::Let(v))?;
        stmts.insert(at, Stmt::Let(rest));
        new.values[v.index()].inst = Inst::Ter(TerOp::Fma, x, high, rest);
    }
    Some(sweep(&new))
}

fn define(body: &mut Body, inst: Inst, ty: Ty, block: BlockId) -> Value {
    body.values.push(ValueData { ty, inst, block });
    Value(crate::narrow(body.values.len() - 1))
}

/// The two parts of the reciprocal of a constant, if every quotient by it can be had from them.
fn reciprocal(ty: Ty, divisor: u64) -> Option<[u64; 2]> {
    // Neither the parts of the reciprocal nor the quotients of usual numbers are subnormal or infinite.
    match ty {
        Ty::F32 => {
            let c = f32::from_bits(divisor as u32);
            let parts = parts_of_single(c);
            let mantissa = u64::from(c.to_bits() & 0x7f_ffff | 0x80_0000);
            let right = |x: u64| by_parts_of_single(x as f32, parts) == x as f32 / c;
            let moderate = (1e-10..1e10).contains(&c.abs()) && parts[1] != 0.0;
            (moderate && all_right(24, mantissa, right))
                .then_some(parts.map(|part| u64::from(part.to_bits())))
        }
        Ty::F64 => {
            let c = f64::from_bits(divisor);
            let nearest = 1.0 / c;
            // 1 less its product is exact, and negative where it is too large.
            let further = (-nearest).mul_add(c, 1.0) < 0.0;
            let high = f64::from_bits(nearest.to_bits() - u64::from(further));
            let parts = [high, (-high).mul_add(c, 1.0) / c];
            let mantissa = c.to_bits() & 0xf_ffff_ffff_ffff | 0x10_0000_0000_0000;
            let right = |x: u64| {
                let x = x as f64;
                x.mul_add(parts[0], x * parts[1]) == x / c
            };
            let moderate = (1e-30..1e30).contains(&c.abs()) && parts[1] != 0.0;
            (moderate && all_right(53, mantissa, right)).then_some(parts.map(f64::to_bits))
        }
        Ty::I32 | Ty::I64 | Ty::Mask => None,
    }
}

fn parts_of_single(c: f32) -> [f32; 2] {
    let exact = 1.0 / f64::from(c);
    let nearest = exact as f32;
    let further = f64::from(nearest).abs() > exact.abs();
    let high = f32::from_bits(nearest.to_bits() - u32::from(further));
    let low = (-f64::from(high)).mul_add(f64::from(c), 1.0) / f64::from(c);
    [high, low as f32]
}

fn by_parts_of_single(x: f32, [high, low]: [f32; 2]) -> f32 {
    x.mul_add(high, x * low)
}

/// Whether the quotients of all dividends are right whose mantissa and divisor have so many bits.
///
/// Both roundings together lose less than 2^(2 - 2 bits) of the quotient. With M odd, the middle of two numbers is M / 2^bits where the
/// quotient X / C of integers is from 1 on, and half of that below: it is as close only if X 2^bits - C M, or X 2^(bits + 1) - C M, is one of
/// the integers below.
fn all_right(bits: u32, divisor: u64, right: impl Fn(u64) -> bool) -> bool {
    let twos = divisor.trailing_zeros();
    let odd = divisor >> twos;
    let low = |count: u32| (1u64 << count) - 1;
    (0..=1).all(|half| {
        let shift = bits + half;
        (1..=5 << half).all(|size: u64| {
            if size & low(twos) != 0 {
                return true;
            }
            // C M = ∓size up to multiples of 2^shift.
            let modulus = shift - twos;
            let root = inverse(odd).wrapping_mul(size >> twos) & low(modulus);
            [root, root.wrapping_neg() & low(modulus)]
                .into_iter()
                .all(|first| {
                    // M is odd and has one bit more than a number.
                    let top = (1 << bits) >> modulus << modulus;
                    (first | top..2 << bits)
                        .step_by(1 << modulus)
                        .filter(|middle| middle & 1 == 1)
                        .flat_map(|middle| {
                            let product = u128::from(divisor) * u128::from(middle);
                            let below = (product >> shift) as u64;
                            [below, below + 1]
                        })
                        .filter(|x| x.checked_ilog2() == Some(bits - 1))
                        .all(&right)
                })
        })
    })
}

/// The inverse of an odd number modulo 2^64, by Newton's iteration, which doubles the digits.
fn inverse(odd: u64) -> u64 {
    (0..5).fold(odd.wrapping_mul(3) ^ 2, |r, _| {
        r.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(r)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_kept(c: f32) -> bool {
        reciprocal(Ty::F32, u64::from(c.to_bits())).is_some()
    }

    /// Every mantissa of a dividend, for divisors that are met often and some others.
    #[test]
    fn all_dividends_give_the_quotient() {
        let mut kept = 0;
        let usual = [
            3.0,
            std::f32::consts::SQRT_2,
            255.0,
            10.0,
            0.1,
            1.702,
            -7.0,
            1e-5,
            8_388_609.0,
        ];
        let others = (1..16u32).map(|k| f32::from_bits(0x3f80_0000 + k * 524_287));
        for c in usual.into_iter().chain(others) {
            if !is_kept(c) {
                continue;
            }
            kept += 1;
            let parts = parts_of_single(c);
            for bits in 0x3f80_0000..0x4000_0000 {
                let x = f32::from_bits(bits);
                assert_eq!(by_parts_of_single(x, parts), x / c, "{x:e} / {c:e}");
            }
        }
        assert!(kept > 20, "only {kept} divisors have two parts");
    }

    #[test]
    fn infinities_zeros_and_nan_stay() {
        for c in [3f32, -3.0, 1.1, -0.9] {
            assert!(is_kept(c));
            let parts = parts_of_single(c);
            for x in [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
                assert_eq!(
                    by_parts_of_single(x, parts).to_bits(),
                    (x / c).to_bits(),
                    "{x} / {c}"
                );
            }
            assert!(by_parts_of_single(f32::NAN, parts).is_nan());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn quotients_of_doubles_are_rounded_once(c in any::<f64>(), x in 1f64..2.0) {
            if let Some(parts) = reciprocal(Ty::F64, c.to_bits()) {
                let [high, low] = parts.map(f64::from_bits);
                prop_assert_eq!(x.mul_add(high, x * low), x / c);
            }
        }

        /// Dividends whose quotients are as close to the middle of two numbers as they come.
        #[test]
        fn quotients_near_the_middle_are_rounded_once(c in 1u64 << 52..1 << 53, m in 1u64 << 53..1 << 54) {
            let divisor = c as f64;
            if let Some(parts) = reciprocal(Ty::F64, divisor.to_bits()) {
                let [high, low] = parts.map(f64::from_bits);
                for shift in [53, 54] {
                    let below = ((u128::from(c) * u128::from(m | 1)) >> shift) as u64;
                    for x in [below as f64, (below + 1) as f64] {
                        prop_assert_eq!(x.mul_add(high, x * low), x / divisor);
                    }
                }
            }
        }
    }

    /// What the search finds is there, and it leaves out few divisors.
    #[test]
    fn divisors_that_are_left_out_have_a_wrong_quotient() {
        let divisors = (1..4000u32).map(|k| f32::from_bits(0x3f80_0000 + k * 2_097));
        let out: Vec<f32> = divisors.filter(|&c| !is_kept(c)).collect();
        assert!((3..400).contains(&out.len()), "{} are left out", out.len());
        for &c in &out[..3] {
            let parts = parts_of_single(c);
            let wrong = (0x3f80_0000..0x4000_0000)
                .map(f32::from_bits)
                .find(|&x| by_parts_of_single(x, parts) != x / c);
            assert!(wrong.is_some(), "{c} was left out, and is right");
        }
    }
}
