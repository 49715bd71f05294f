//! The pure operations on lanes, and what they compute on one lane.
//!
//! [`UnOp::eval`], [`BinOp::eval`] and [`TerOp::eval`] are the definition: the constant folder and the
//! reference evaluator call them, and every emitter is tested against them. A lane value travels
//! as the low bits of a `u64`; a mask is 0 or 1.

use super::types::Ty;
use half::{bf16, f16};

/// Operations with one operand. `to` below is the type of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UnOp {
    /// Sign flip of a float (of NaN and zero too), wrapping negation of an integer.
    Neg,
    /// Sign bit cleared for a float, wrapping absolute value for an integer.
    Abs,
    /// Bitwise complement of an integer, negation of a mask.
    Not,
    /// Correctly rounded square root.
    Sqrt,
    /// Largest integral value not above.
    Floor,
    /// Smallest integral value not below.
    Ceil,
    /// Nearest integral value, halves to even.
    RoundEven,
    /// Integral part, towards zero.
    Trunc,
    /// Number of leading zero bits; the width for 0.
    Clz,
    /// Number of one bits.
    Popcount,
    /// Signed integer to float, rounded to nearest even.
    SToF,
    /// Unsigned integer to float, rounded to nearest even.
    UToF,
    /// Float to signed integer, towards zero, saturating; NaN gives 0.
    FToS,
    /// Float to unsigned integer, towards zero, saturating; NaN gives 0.
    FToU,
    /// Between [`Ty::F32`] and [`Ty::F64`], rounded to nearest even.
    FToF,
    /// Sign extension of [`Ty::I32`] to [`Ty::I64`].
    SExt,
    /// Zero extension of [`Ty::I32`] to [`Ty::I64`].
    ZExt,
    /// The low half of an [`Ty::I64`].
    Low,
    /// The same bits as an integer or float of the same width.
    Bitcast,
    /// [`Ty::F32`] rounded to the nearest binary16 value.
    RoundF16,
    /// [`Ty::F32`] rounded to the nearest bfloat16 value.
    RoundBf16,
}

/// Operations with two operands of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BinOp {
    /// Sum; integers wrap.
    Add,
    /// Difference; integers wrap.
    Sub,
    /// Product; integers wrap.
    Mul,
    /// Float quotient.
    Div,
    /// IEEE 754-2019 `minimum`: NaN if either is, and -0 below +0.
    Min,
    /// IEEE 754-2019 `maximum`: NaN if either is, and +0 above -0.
    Max,
    /// `if a < b { a } else { b }` on floats: one instruction on x86, which gives `b` for NaN and for equal zeros.
    PickLt,
    /// `if a > b { a } else { b }` on floats: one instruction on x86, which gives `b` for NaN and for equal zeros.
    PickGt,
    /// `a * 2^b` for a finite integral float `b`, rounded once, where 2^-24 <= |a| <= 2^24, or a is 0, an
    /// infinity or NaN; where a is NaN, b may be so too. Other operands give an unspecified float.
    Scale,
    /// `a * 2^b` for a finite integral float `b` from -101 to 128 (-997 to 1024 in double precision), rounded once, where
    /// 2^-24 <= |a| <= 2^24, so that the result is normal or infinite; where a is NaN, b may be so too. Other operands give an unspecified float.
    ScaleNormal,
    /// Signed quotient as XLA's: by zero -1, MIN / -1 = MIN.
    DivS,
    /// Unsigned quotient as XLA's: by zero all ones.
    DivU,
    /// Signed remainder as XLA's: by zero the dividend, MIN % -1 = 0.
    RemS,
    /// Unsigned remainder as XLA's: by zero the dividend.
    RemU,
    /// High half of the signed product.
    MulHiS,
    /// High half of the unsigned product.
    MulHiU,
    /// Signed minimum.
    MinS,
    /// Signed maximum.
    MaxS,
    /// Unsigned minimum.
    MinU,
    /// Unsigned maximum.
    MaxU,
    /// Bitwise and, of integers and masks.
    And,
    /// Bitwise or, of integers and masks.
    Or,
    /// Bitwise exclusive or, of integers and masks.
    Xor,
    /// Left shift; a count (unsigned) of at least the width gives 0.
    Shl,
    /// Arithmetic right shift; a count (unsigned) of at least the width gives the sign fill.
    ShrS,
    /// Logical right shift; a count (unsigned) of at least the width gives 0.
    ShrU,
    /// Mask of `a == b`, of integers and floats.
    Eq,
    /// Mask of `a != b`; true if either is NaN.
    Ne,
    /// Mask of `a < b`; integers are signed.
    Lt,
    /// Mask of `a <= b`; integers are signed.
    Le,
    /// Mask of `a < b` of unsigned integers.
    LtU,
    /// Mask of `a <= b` of unsigned integers.
    LeU,
}

/// Operations with three operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TerOp {
    /// `a * b + c` of floats, rounded once.
    Fma,
    /// `if a { b } else { c }` with a mask `a` and any type for the others.
    Select,
}

impl UnOp {
    /// The printed name.
    pub fn name(self) -> &'static str {
        match self {
            UnOp::Neg => "neg",
            UnOp::Abs => "abs",
            UnOp::Not => "not",
            UnOp::Sqrt => "sqrt",
            UnOp::Floor => "floor",
            UnOp::Ceil => "ceil",
            UnOp::RoundEven => "round_even",
            UnOp::Trunc => "trunc",
            UnOp::Clz => "clz",
            UnOp::Popcount => "popcount",
            UnOp::SToF => "s_to_f",
            UnOp::UToF => "u_to_f",
            UnOp::FToS => "f_to_s",
            UnOp::FToU => "f_to_u",
            UnOp::FToF => "f_to_f",
            UnOp::SExt => "s_ext",
            UnOp::ZExt => "z_ext",
            UnOp::Low => "low",
            UnOp::Bitcast => "bitcast",
            UnOp::RoundF16 => "round_f16",
            UnOp::RoundBf16 => "round_bf16",
        }
    }

    /// Whether the operation takes `from` to `to`.
    pub fn accepts(self, from: Ty, to: Ty) -> bool {
        match self {
            UnOp::Neg | UnOp::Abs => from == to && from != Ty::Mask,
            UnOp::Not => from == to && !from.is_float(),
            UnOp::Sqrt | UnOp::Floor | UnOp::Ceil | UnOp::RoundEven | UnOp::Trunc => {
                from == to && from.is_float()
            }
            UnOp::Clz | UnOp::Popcount => from == to && from.is_int(),
            UnOp::SToF | UnOp::UToF => from.is_int() && to.is_float(),
            UnOp::FToS | UnOp::FToU => from.is_float() && to.is_int(),
            UnOp::FToF => from.is_float() && to.is_float() && from != to,
            UnOp::SExt | UnOp::ZExt => from == Ty::I32 && to == Ty::I64,
            UnOp::Low => from == Ty::I64 && to == Ty::I32,
            UnOp::Bitcast => from != to && from.bits() == to.bits() && from != Ty::Mask,
            UnOp::RoundF16 | UnOp::RoundBf16 => from == Ty::F32 && to == Ty::F32,
        }
    }

    /// The result on one lane: the bits of a `to` from the bits of a `from`.
    pub fn eval(self, from: Ty, to: Ty, a: u64) -> u64 {
        match (self, from) {
            (UnOp::Neg, Ty::F32) => a ^ 1 << 31,
            (UnOp::Neg, Ty::F64) => a ^ 1 << 63,
            (UnOp::Neg, _) => a.wrapping_neg() & from.bit_mask(),
            (UnOp::Abs, Ty::F32) => a & !(1 << 31),
            (UnOp::Abs, Ty::F64) => a & !(1 << 63),
            (UnOp::Abs, _) => signed(from, a).unsigned_abs() & from.bit_mask(),
            (UnOp::Not, _) => !a & from.bit_mask(),
            (UnOp::Sqrt, _) => float1(from, a, f32::sqrt, f64::sqrt),
            (UnOp::Floor, _) => float1(from, a, f32::floor, f64::floor),
            (UnOp::Ceil, _) => float1(from, a, f32::ceil, f64::ceil),
            (UnOp::RoundEven, _) => float1(from, a, f32::round_ties_even, f64::round_ties_even),
            (UnOp::Trunc, _) => float1(from, a, f32::trunc, f64::trunc),
            (UnOp::Clz, _) => u64::from(a.leading_zeros() + from.bits() - 64),
            (UnOp::Popcount, _) => u64::from(a.count_ones()),
            (UnOp::SToF, _) => match to {
                Ty::F32 => f32_bits(signed(from, a) as f32),
                _ => (signed(from, a) as f64).to_bits(),
            },
            (UnOp::UToF, _) => match to {
                Ty::F32 => f32_bits(a as f32),
                _ => (a as f64).to_bits(),
            },
            (UnOp::FToS, _) => match (from, to) {
                (Ty::F32, Ty::I32) => u64::from(f32_of(a) as i32 as u32),
                (Ty::F32, _) => f32_of(a) as i64 as u64,
                (_, Ty::I32) => u64::from(f64::from_bits(a) as i32 as u32),
                _ => f64::from_bits(a) as i64 as u64,
            },
            (UnOp::FToU, _) => match (from, to) {
                (Ty::F32, Ty::I32) => u64::from(f32_of(a) as u32),
                (Ty::F32, _) => f32_of(a) as u64,
                (_, Ty::I32) => u64::from(f64::from_bits(a) as u32),
                _ => f64::from_bits(a) as u64,
            },
            (UnOp::FToF, Ty::F32) => f64::from(f32_of(a)).to_bits(),
            (UnOp::FToF, _) => f32_bits(f64::from_bits(a) as f32),
            (UnOp::SExt, _) => signed(Ty::I32, a) as u64,
            (UnOp::ZExt | UnOp::Bitcast, _) => a,
            (UnOp::Low, _) => a & Ty::I32.bit_mask(),
            (UnOp::RoundF16, _) => f32_bits(f16::from_f32(f32_of(a)).to_f32()),
            (UnOp::RoundBf16, _) => f32_bits(bf16::from_f32(f32_of(a)).to_f32()),
        }
    }
}

impl BinOp {
    /// The printed name.
    pub fn name(self) -> &'static str {
        match self {
            BinOp::Add => "add",
            BinOp::Sub => "sub",
            BinOp::Mul => "mul",
            BinOp::Div => "div",
            BinOp::Min => "min",
            BinOp::Max => "max",
            BinOp::PickLt => "pick_lt",
            BinOp::PickGt => "pick_gt",
            BinOp::Scale => "scale",
            BinOp::ScaleNormal => "scale_normal",
            BinOp::DivS => "div_s",
            BinOp::DivU => "div_u",
            BinOp::RemS => "rem_s",
            BinOp::RemU => "rem_u",
            BinOp::MulHiS => "mul_hi_s",
            BinOp::MulHiU => "mul_hi_u",
            BinOp::MinS => "min_s",
            BinOp::MaxS => "max_s",
            BinOp::MinU => "min_u",
            BinOp::MaxU => "max_u",
            BinOp::And => "and",
            BinOp::Or => "or",
            BinOp::Xor => "xor",
            BinOp::Shl => "shl",
            BinOp::ShrS => "shr_s",
            BinOp::ShrU => "shr_u",
            BinOp::Eq => "eq",
            BinOp::Ne => "ne",
            BinOp::Lt => "lt",
            BinOp::Le => "le",
            BinOp::LtU => "lt_u",
            BinOp::LeU => "le_u",
        }
    }

    /// Whether the operation is a comparison, whose result is a mask.
    pub fn is_compare(self) -> bool {
        matches!(
            self,
            BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::LtU | BinOp::LeU
        )
    }

    /// Whether the operands may be exchanged.
    pub fn commutes(self) -> bool {
        use BinOp::*;
        matches!(
            self,
            Add | Mul
                | Min
                | Max
                | MulHiS
                | MulHiU
                | MinS
                | MaxS
                | MinU
                | MaxU
                | And
                | Or
                | Xor
                | Eq
                | Ne
        )
    }

    /// Whether the operation takes two operands of type `ty`.
    pub fn accepts(self, ty: Ty) -> bool {
        use BinOp::*;
        match self {
            Add | Sub | Mul | Eq | Ne | Lt | Le => ty != Ty::Mask,
            Div | Min | Max | PickLt | PickGt | Scale | ScaleNormal => ty.is_float(),
            DivS | DivU | RemS | RemU | MulHiS | MulHiU | MinS | MaxS | MinU | MaxU | Shl
            | ShrS | ShrU | LtU | LeU => ty.is_int(),
            And | Or | Xor => !ty.is_float(),
        }
    }

    /// The type of the result for operands of type `ty`.
    pub fn result(self, ty: Ty) -> Ty {
        if self.is_compare() { Ty::Mask } else { ty }
    }

    /// The result on one lane for operands of type `ty`.
    pub fn eval(self, ty: Ty, a: u64, b: u64) -> u64 {
        match ty {
            Ty::F32 => self.eval_f32(f32_of(a), f32_of(b)),
            Ty::F64 => self.eval_f64(f64::from_bits(a), f64::from_bits(b)),
            Ty::I32 | Ty::I64 | Ty::Mask => self.eval_int(ty, a, b),
        }
    }

    fn eval_f32(self, a: f32, b: f32) -> u64 {
        f32_bits(match self {
            BinOp::Add => a + b,
            BinOp::Sub => a - b,
            BinOp::Mul => a * b,
            BinOp::Div => a / b,
            BinOp::Min if a.is_nan() || b.is_nan() => f32::NAN,
            BinOp::Max if a.is_nan() || b.is_nan() => f32::NAN,
            BinOp::Min if a == b => f32::from_bits(a.to_bits() | b.to_bits()),
            BinOp::Max if a == b => f32::from_bits(a.to_bits() & b.to_bits()),
            BinOp::Min | BinOp::PickLt => {
                if a < b {
                    a
                } else {
                    b
                }
            }
            BinOp::Max | BinOp::PickGt => {
                if a > b {
                    a
                } else {
                    b
                }
            }
            BinOp::Scale | BinOp::ScaleNormal => scale_f32(a, b),
            BinOp::Eq => return u64::from(a == b),
            BinOp::Ne => return u64::from(a != b),
            BinOp::Lt => return u64::from(a < b),
            BinOp::Le => return u64::from(a <= b),
            _ => unreachable!("{} of f32", self.name()),
        })
    }

    fn eval_f64(self, a: f64, b: f64) -> u64 {
        f64::to_bits(match self {
            BinOp::Add => a + b,
            BinOp::Sub => a - b,
            BinOp::Mul => a * b,
            BinOp::Div => a / b,
            BinOp::Min if a.is_nan() || b.is_nan() => f64::NAN,
            BinOp::Max if a.is_nan() || b.is_nan() => f64::NAN,
            BinOp::Min if a == b => f64::from_bits(a.to_bits() | b.to_bits()),
            BinOp::Max if a == b => f64::from_bits(a.to_bits() & b.to_bits()),
            BinOp::Min | BinOp::PickLt => {
                if a < b {
                    a
                } else {
                    b
                }
            }
            BinOp::Max | BinOp::PickGt => {
                if a > b {
                    a
                } else {
                    b
                }
            }
            BinOp::Scale | BinOp::ScaleNormal => scale_f64(a, b),
            BinOp::Eq => return u64::from(a == b),
            BinOp::Ne => return u64::from(a != b),
            BinOp::Lt => return u64::from(a < b),
            BinOp::Le => return u64::from(a <= b),
            _ => unreachable!("{} of f64", self.name()),
        })
    }

    fn eval_int(self, ty: Ty, a: u64, b: u64) -> u64 {
        let (sa, sb) = (signed(ty, a), signed(ty, b));
        let width = u64::from(ty.bits());
        let result = match self {
            BinOp::Add => a.wrapping_add(b),
            BinOp::Sub => a.wrapping_sub(b),
            BinOp::Mul => a.wrapping_mul(b),
            BinOp::DivS if b == 0 => u64::MAX,
            BinOp::DivS => sa.wrapping_div(sb) as u64,
            BinOp::DivU => a.checked_div(b).unwrap_or(u64::MAX),
            BinOp::RemS if b == 0 => a,
            BinOp::RemS => sa.wrapping_rem(sb) as u64,
            BinOp::RemU => a.checked_rem(b).unwrap_or(a),
            BinOp::MulHiS => ((i128::from(sa) * i128::from(sb)) >> width) as u64,
            BinOp::MulHiU => ((u128::from(a) * u128::from(b)) >> width) as u64,
            BinOp::MinS => sa.min(sb) as u64,
            BinOp::MaxS => sa.max(sb) as u64,
            BinOp::MinU => a.min(b),
            BinOp::MaxU => a.max(b),
            BinOp::And => a & b,
            BinOp::Or => a | b,
            BinOp::Xor => a ^ b,
            BinOp::Shl if b >= width => 0,
            BinOp::Shl => a << b,
            BinOp::ShrS => (sa >> b.min(width - 1)) as u64,
            BinOp::ShrU if b >= width => 0,
            BinOp::ShrU => a >> b,
            BinOp::Eq => u64::from(a == b),
            BinOp::Ne => u64::from(a != b),
            BinOp::Lt => u64::from(sa < sb),
            BinOp::Le => u64::from(sa <= sb),
            BinOp::LtU => u64::from(a < b),
            BinOp::LeU => u64::from(a <= b),
            BinOp::Div
            | BinOp::Min
            | BinOp::Max
            | BinOp::PickLt
            | BinOp::PickGt
            | BinOp::Scale
            | BinOp::ScaleNormal => {
                unreachable!("{} of {ty}", self.name())
            }
        };
        result & ty.bit_mask()
    }
}

impl TerOp {
    /// The printed name.
    pub fn name(self) -> &'static str {
        match self {
            TerOp::Fma => "fma",
            TerOp::Select => "select",
        }
    }

    /// Whether the operation takes operands of these types.
    pub fn accepts(self, a: Ty, b: Ty, c: Ty) -> bool {
        match self {
            TerOp::Fma => a.is_float() && a == b && b == c,
            TerOp::Select => a == Ty::Mask && b == c,
        }
    }

    /// The result on one lane, of the type `ty` that `b` and `c` have.
    pub fn eval(self, ty: Ty, a: u64, b: u64, c: u64) -> u64 {
        match (self, ty) {
            (TerOp::Select, _) => {
                if a != 0 {
                    b
                } else {
                    c
                }
            }
            (TerOp::Fma, Ty::F32) => f32_bits(f32_of(a).mul_add(f32_of(b), f32_of(c))),
            (TerOp::Fma, _) => f64::from_bits(a)
                .mul_add(f64::from_bits(b), f64::from_bits(c))
                .to_bits(),
        }
    }
}

/// The value of the low bits of `a` as a signed integer of type `ty`.
pub(crate) fn signed(ty: Ty, a: u64) -> i64 {
    match ty {
        Ty::I32 => i64::from(a as u32 as i32),
        _ => a as i64,
    }
}

/// The `f32` in the low bits of `a`.
pub(crate) fn f32_of(a: u64) -> f32 {
    f32::from_bits(a as u32)
}

/// The bits of an `f32`, in the low half.
pub(crate) fn f32_bits(x: f32) -> u64 {
    u64::from(x.to_bits())
}

fn float1(ty: Ty, a: u64, f: fn(f32) -> f32, g: fn(f64) -> f64) -> u64 {
    match ty {
        Ty::F32 => f32_bits(f(f32_of(a))),
        _ => g(f64::from_bits(a)).to_bits(),
    }
}

// Two factors, because 2^n itself may lie outside the normal range. The first product is exact for
// the magnitudes that `Scale` allows, so only the second one rounds.
fn scale_f32(a: f32, n: f32) -> f32 {
    let n = if n < 254.0 { n } else { 254.0 };
    let n = if n > -252.0 { n } else { -252.0 };
    let half = (n * 0.5).floor();
    let power = |e: f32| f32::from_bits(((e as i32 + 127) as u32) << 23);
    a * power(half) * power(n - half)
}

fn scale_f64(a: f64, n: f64) -> f64 {
    let n = if n < 2046.0 { n } else { 2046.0 };
    let n = if n > -2044.0 { n } else { -2044.0 };
    let half = (n * 0.5).floor();
    let power = |e: f64| f64::from_bits(((e as i64 + 1023) as u64) << 52);
    a * power(half) * power(n - half)
}
