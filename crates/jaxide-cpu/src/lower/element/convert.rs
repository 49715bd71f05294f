//! Between element types: floats round to nearest even, float to integer truncates and saturates (NaN is 0), integers keep
//! their low bits, anything to bool is `!= 0`.

use super::{Class, Element, Format, class, int_less, round, small, wrap};
use crate::lanes::{BinOp, Builder, Ty, UnOp, Value};
use jaxide_core::DType;
use smallvec::smallvec;

/// The element as one of type `to`; `None` where only library code knows how.
pub(super) fn convert(b: &mut Builder, from: DType, to: DType, x: &Element) -> Option<Element> {
    if from == to {
        return Some(x.clone());
    }
    Some(match (class(from), class(to)) {
        (Class::Key(_) | Class::Empty, _) | (_, Class::Key(_) | Class::Empty) => return None,
        (Class::Small, to_class) => {
            let mut number = small::decode(b, from, x[0]);
            if from == DType::F4E2M1Fn && matches!(to_class, Class::Int { .. }) {
                number = saturated(b, number);
            }
            convert(b, DType::F32, to, &smallvec![number])?
        }
        (_, Class::Small) => {
            let number = convert(b, from, DType::F32, x)?;
            smallvec![small::encode(b, to, number[0])]
        }
        (Class::Complex(_), Class::Complex(ty)) => x
            .iter()
            .map(|&component| to_float(b, Class::Float(Format::F32), ty, component))
            .collect(),
        (Class::Complex(_), Class::Bool) => {
            let (re, im) = (truth(b, x[0]), truth(b, x[1]));
            smallvec![b.or(re, im)]
        }
        (Class::Complex(ty), _) => {
            let real = if ty == Ty::F32 {
                DType::F32
            } else {
                DType::F64
            };
            convert(b, real, to, &smallvec![x[0]])?
        }
        (own, Class::Complex(ty)) => {
            let re = to_float(b, own, ty, x[0]);
            smallvec![re, b.float(ty, 0.0)]
        }
        (Class::Bool, Class::Int { bits, .. }) => {
            smallvec![b.mask_to(if bits == 64 { Ty::I64 } else { Ty::I32 }, x[0])]
        }
        (Class::Bool | Class::Int { .. } | Class::Float(_), Class::Bool) => {
            smallvec![truth(b, x[0])]
        }
        (own @ (Class::Bool | Class::Int { .. } | Class::Float(_)), Class::Float(format)) => {
            let wide = to_float(b, own, format.ty(), x[0]);
            smallvec![round(b, format, wide)]
        }
        (
            Class::Int {
                bits: own,
                signed: own_signed,
            },
            Class::Int { bits, signed },
        ) => {
            smallvec![int_to_int(b, (own, own_signed), (bits, signed), x[0])]
        }
        (Class::Float(_), Class::Int { bits, signed }) => {
            smallvec![float_to_int(b, bits, signed, x[0])]
        }
    })
}

/// Any real element as a float of the lane type, not yet rounded to a narrower format.
fn to_float(b: &mut Builder, own: Class, ty: Ty, x: Value) -> Value {
    match b.ty(x) {
        Ty::Mask => b.mask_to(ty, x),
        Ty::I32 | Ty::I64 => {
            let signed = !matches!(
                own,
                Class::Int {
                    bits: 32..,
                    signed: false
                }
            );
            b.un(if signed { UnOp::SToF } else { UnOp::UToF }, ty, x)
        }
        own if own == ty => x,
        Ty::F32 | Ty::F64 => b.un(UnOp::FToF, ty, x),
    }
}

/// See [`jaxide_core::small_float::for_integers`].
fn saturated(b: &mut Builder, number: Value) -> Value {
    let (magnitude, largest) = (b.abs(number), b.f32(6.0));
    let is_largest = b.ge(magnitude, largest);
    let infinity = b.f32(f32::INFINITY);
    let infinity = b.copysign(infinity, number);
    b.select(is_largest, infinity, number)
}

fn truth(b: &mut Builder, x: Value) -> Value {
    match b.ty(x) {
        Ty::Mask => x,
        ty if ty.is_float() => {
            let zero = b.float(ty, 0.0);
            b.ne(x, zero)
        }
        ty => {
            let zero = b.int(ty, 0);
            b.ne(x, zero)
        }
    }
}

fn int_to_int(
    b: &mut Builder,
    (own, own_signed): (u32, bool),
    (bits, signed): (u32, bool),
    x: Value,
) -> Value {
    match (own == 64, bits == 64) {
        (true, true) => x,
        (false, true) => b.un(if own_signed { UnOp::SExt } else { UnOp::ZExt }, Ty::I64, x),
        (true, false) => {
            let low = b.un(UnOp::Low, Ty::I32, x);
            wrap(b, bits, signed, low)
        }
        (false, false) => wrap(b, bits, signed, x),
    }
}

fn float_to_int(b: &mut Builder, bits: u32, signed: bool, x: Value) -> Value {
    let ty = if bits == 64 { Ty::I64 } else { Ty::I32 };
    let whole = b.un(if signed { UnOp::FToS } else { UnOp::FToU }, ty, x);
    if bits >= 32 {
        return whole;
    }
    if signed {
        let (low, high) = (b.i32(-1 << (bits - 1)), b.i32((1 << (bits - 1)) - 1));
        let v = b.bin(BinOp::MaxS, whole, low);
        b.bin(BinOp::MinS, v, high)
    } else {
        let high = b.i32((1 << bits) - 1);
        let over = int_less(b, false, high, whole);
        b.select(over, high, whole)
    }
}
