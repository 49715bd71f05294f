//! binary16 and bfloat16, by integer operations on the bits of `f32`, scalar or vector.

use super::rep::{bitcast, float_like, int_like};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use cranelift_frontend::FunctionBuilder;

struct Bits {
    int: ir::Type,
    float: ir::Type,
}

fn types_of(fb: &FunctionBuilder<'_>, v: ir::Value) -> Bits {
    if fb.func.dfg.value_type(v).is_vector() {
        Bits {
            int: types::I32X4,
            float: types::F32X4,
        }
    } else {
        Bits {
            int: types::I32,
            float: types::F32,
        }
    }
}

fn choose(fb: &mut FunctionBuilder<'_>, mask: ir::Value, a: ir::Value, b: ir::Value) -> ir::Value {
    if fb.func.dfg.value_type(a).is_vector() {
        fb.ins().bitselect(mask, a, b)
    } else {
        fb.ins().select(mask, a, b)
    }
}

fn above(fb: &mut FunctionBuilder<'_>, a: ir::Value, limit: i64) -> ir::Value {
    let limit = int_like(fb, fb.func.dfg.value_type(a), limit);
    fb.ins().icmp(IntCC::SignedGreaterThan, a, limit)
}

/// The `f32` of a binary16 in the low bits of an `i32`.
pub(super) fn from_f16(fb: &mut FunctionBuilder<'_>, half: ir::Value) -> ir::Value {
    let Bits { int, float } = types_of(fb, half);
    let sign = int_like(fb, int, 0x8000);
    let sign = fb.ins().band(half, sign);
    let sign = fb.ins().ishl_imm_u(sign, 16);
    let rest = int_like(fb, int, 0x7fff);
    let rest = fb.ins().band(half, rest);
    let rest = fb.ins().ishl_imm_u(rest, 13);
    // The exponent's bias is off by 112. The bits of a subnormal are those of a number of units behind 2^-14.
    let rebias = int_like(fb, int, 112 << 23);
    let normal = fb.ins().iadd(rest, rebias);
    let least = float_like(fb, float, 2f64.powi(-14));
    let least_bits = bitcast(fb, int, least);
    let behind = fb.ins().iadd(rest, least_bits);
    let behind = bitcast(fb, float, behind);
    let subnormal = fb.ins().fsub(behind, least);
    let subnormal = bitcast(fb, int, subnormal);
    let is_normal = above(fb, rest, (1 << 23) - 1);
    let scaled = choose(fb, is_normal, normal, subnormal);
    let special = above(fb, rest, 0x0f7f_ffff);
    let top = int_like(fb, int, 0x7f80_0000);
    let infinite = fb.ins().bor(rest, top);
    let magnitude = choose(fb, special, infinite, scaled);
    let bits = fb.ins().bor(magnitude, sign);
    bitcast(fb, float, bits)
}

/// The bits of the binary16 nearest to an `f32`, in an `i32`.
pub(super) fn to_f16(fb: &mut FunctionBuilder<'_>, x: ir::Value) -> ir::Value {
    let Bits { int, float } = types_of(fb, x);
    let bits = bitcast(fb, int, x);
    let sign = fb.ins().ushr_imm_u(bits, 16);
    let sign_bit = int_like(fb, int, 0x8000);
    let sign = fb.ins().band(sign, sign_bit);
    let rest = int_like(fb, int, 0x7fff_ffff);
    let rest = fb.ins().band(bits, rest);
    // Normal results: add half a unit in the last place, less where the tie would go to odd.
    let odd = fb.ins().ushr_imm_u(rest, 13);
    let one = int_like(fb, int, 1);
    let odd = fb.ins().band(odd, one);
    let rebias = int_like(fb, int, 0xfff - (112 << 23));
    let normal = fb.ins().iadd(rest, rebias);
    let normal = fb.ins().iadd(normal, odd);
    let normal = fb.ins().ushr_imm_u(normal, 13);
    // Subnormal results: adding 0.5 lets the machine round at the right place.
    let half = float_like(fb, float, 0.5);
    let magnitude = bitcast(fb, float, rest);
    let aligned = fb.ins().fadd(magnitude, half);
    let aligned = bitcast(fb, int, aligned);
    let half_bits = bitcast(fb, int, half);
    let subnormal = fb.ins().isub(aligned, half_bits);
    let is_normal = above(fb, rest, 0x387f_ffff);
    let finite = choose(fb, is_normal, normal, subnormal);
    let is_nan = above(fb, rest, 0x7f80_0000);
    let (nan, infinity) = (int_like(fb, int, 0x7e00), int_like(fb, int, 0x7c00));
    let special = choose(fb, is_nan, nan, infinity);
    let is_special = above(fb, rest, 0x477f_ffff);
    let magnitude = choose(fb, is_special, special, finite);
    fb.ins().bor(magnitude, sign)
}

/// The binary16 nearest to an `f32`, as an `f32`. A loop whose state has that type waits for this in each turn: so a scalar stays in a vector's
/// register, and the sum with a number that has so large units does the rounding.
pub(super) fn round_f16(fb: &mut FunctionBuilder<'_>, x: ir::Value) -> ir::Value {
    let (int, float) = (types::I32X4, types::F32X4);
    let scalar = !fb.func.dfg.value_type(x).is_vector();
    let x = if scalar {
        fb.ins().scalar_to_vector(float, x)
    } else {
        x
    };
    let bits = bitcast(fb, int, x);
    // 1.5 * 2^(k + 13) where 2^k <= |x| < 2^(k + 1), and k is at least that of the smallest normal number: numbers beside it are 2^(k - 10) apart.
    let exponents = int_like(fb, int, 0x7f80_0000);
    let exponent = fb.ins().band(bits, exponents);
    let least = int_like(fb, int, 113 << 23);
    let exponent = fb.ins().smax(exponent, least);
    let up = int_like(fb, int, (13 << 23) | (1 << 22));
    let large = fb.ins().iadd(exponent, up);
    let large = bitcast(fb, float, large);
    let sum = fb.ins().fadd(x, large);
    let near = fb.ins().fsub(sum, large);
    let near = bitcast(fb, int, near);
    let sign = int_like(fb, int, 1 << 31);
    let sign = fb.ins().band(bits, sign);
    let near = fb.ins().bor(near, sign);
    // From the middle between the largest number and the next one on, infinity; NaN stays.
    let infinity = float_like(fb, float, f64::INFINITY);
    let beyond = fb.ins().fmul(x, infinity);
    let beyond = bitcast(fb, int, beyond);
    let rest = int_like(fb, int, 0x7fff_ffff);
    let rest = fb.ins().band(bits, rest);
    let is_beyond = above(fb, rest, 0x477f_efff);
    let nearest = fb.ins().bitselect(is_beyond, beyond, near);
    let nearest = bitcast(fb, float, nearest);
    if scalar {
        fb.ins().extractlane(nearest, 0)
    } else {
        nearest
    }
}

/// The `f32` of a bfloat16 in the low bits of an `i32`.
pub(super) fn from_bf16(fb: &mut FunctionBuilder<'_>, half: ir::Value) -> ir::Value {
    let float = types_of(fb, half).float;
    let bits = fb.ins().ishl_imm_u(half, 16);
    bitcast(fb, float, bits)
}

/// The bits of the bfloat16 nearest to an `f32`, in an `i32`.
pub(super) fn to_bf16(fb: &mut FunctionBuilder<'_>, x: ir::Value) -> ir::Value {
    let int = types_of(fb, x).int;
    let bits = bitcast(fb, int, x);
    let upper = fb.ins().ushr_imm_u(bits, 16);
    let one = int_like(fb, int, 1);
    let odd = fb.ins().band(upper, one);
    let almost_half = int_like(fb, int, 0x7fff);
    let rounded = fb.ins().iadd(bits, almost_half);
    let rounded = fb.ins().iadd(rounded, odd);
    let rounded = fb.ins().ushr_imm_u(rounded, 16);
    let rest = int_like(fb, int, 0x7fff_ffff);
    let rest = fb.ins().band(bits, rest);
    let is_nan = above(fb, rest, 0x7f80_0000);
    let quiet = int_like(fb, int, 0x40);
    let nan = fb.ins().bor(upper, quiet);
    choose(fb, is_nan, nan, rounded)
}
