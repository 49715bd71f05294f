//! Every pure operation on every type it takes.

use super::machine::{Args, Region, Rng, check, samples};
use jaxide_cpu::codegen::lanes::{Isa, compile};
use jaxide_cpu::lanes::{
    Access, Addr, BinOp, Builder, Entries, MemTy, Table, TableData, TerOp, Ty, UnOp, Value,
};

pub(super) const TYPES: [Ty; 5] = [Ty::F32, Ty::F64, Ty::I32, Ty::I64, Ty::Mask];

pub(super) const UNARY: [UnOp; 21] = {
    use UnOp::*;
    [
        Neg, Abs, Not, Sqrt, Floor, Ceil, RoundEven, Trunc, Clz, Popcount, SToF, UToF, FToS, FToU,
        FToF, SExt, ZExt, Low, Bitcast, RoundF16, RoundBf16,
    ]
};

/// All but `scale`, whose operands are limited.
pub(super) const BINARY: [BinOp; 30] = {
    use BinOp::*;
    [
        Add, Sub, Mul, Div, Min, Max, PickLt, PickGt, DivS, DivU, RemS, RemU, MulHiS, MulHiU, MinS,
        MaxS, MinU, MaxU, And, Or, Xor, Shl, ShrS, ShrU, Eq, Ne, Lt, Le, LtU, LeU,
    ]
};

/// The type that values of a type have in memory.
pub(super) fn memory_type(ty: Ty) -> MemTy {
    match ty {
        Ty::F32 => MemTy::F32,
        Ty::F64 => MemTy::F64,
        Ty::I32 => MemTy::I32,
        Ty::I64 => MemTy::I64,
        Ty::Mask => MemTy::Bool,
    }
}

/// Checks `out[i] = f(a[i], b[i], …)` on many operands.
fn check_op(name: &str, inputs: &[Ty], f: impl FnOnce(&mut Builder, &[Value]) -> Value) {
    let mut rng = Rng(name
        .bytes()
        .fold(7u64, |h, b| h.wrapping_mul(31).wrapping_add(u64::from(b))));
    check_op_on(
        name,
        inputs,
        &mut |ty| samples(memory_type(ty), LEN, &mut rng),
        f,
    );
}

const LEN: usize = 1003;

fn check_op_on(
    name: &str,
    inputs: &[Ty],
    values: &mut dyn FnMut(Ty) -> Region,
    f: impl FnOnce(&mut Builder, &[Value]) -> Value,
) {
    let mut b = Builder::new(name);
    let mut regions = Vec::new();
    let mut args = Vec::new();
    for &ty in inputs {
        let p = b.pointer(Access::ReadOnly);
        let mem = memory_type(ty);
        args.push(b.load(mem, Addr::contiguous(p, mem)));
        regions.push(values(ty));
    }
    let result = f(&mut b, &args);
    let mem = memory_type(b.ty(result));
    let out = b.pointer(Access::ReadWrite);
    b.store(mem, Addr::contiguous(out, mem), result);
    regions.push(Region::zeros(mem, LEN));
    check(
        &b.finish().unwrap(),
        &regions,
        &Args::default(),
        0,
        LEN as i64,
    );
}

#[test]
fn unary() {
    for op in UNARY {
        for from in TYPES {
            for to in TYPES.into_iter().filter(|&to| op.accepts(from, to)) {
                check_op(&format!("{}_{from}_{to}", op.name()), &[from], |b, a| {
                    b.un(op, to, a[0])
                });
            }
        }
    }
}

#[test]
fn binary() {
    for op in BINARY {
        for ty in TYPES.into_iter().filter(|&ty| op.accepts(ty)) {
            check_op(&format!("{}_{ty}", op.name()), &[ty, ty], |b, a| {
                b.bin(op, a[0], a[1])
            });
        }
    }
}

#[test]
fn binary_with_constants() {
    let constants = [
        0u64,
        1,
        2,
        3,
        7,
        10,
        31,
        32,
        63,
        64,
        100,
        0x8000_0000,
        u64::MAX,
        1 << 63,
        u64::MAX - 6,
    ];
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        0.25,
        3.0,
        f64::INFINITY,
        f64::NAN,
    ];
    for op in BINARY {
        for ty in [Ty::I32, Ty::I64].into_iter().filter(|&ty| op.accepts(ty)) {
            for c in constants {
                check_op(&format!("{}_{ty}_{c:x}", op.name()), &[ty], |b, a| {
                    let c = b.constant(ty, c);
                    b.bin(op, a[0], c)
                });
            }
        }
        for ty in [Ty::F32, Ty::F64].into_iter().filter(|&ty| op.accepts(ty)) {
            for c in floats {
                check_op(&format!("{}_{ty}_{c}", op.name()), &[ty], |b, a| {
                    let c = b.float(ty, c);
                    b.bin(op, a[0], c)
                });
                check_op(&format!("{}_{c}_{ty}", op.name()), &[ty], |b, a| {
                    let c = b.float(ty, c);
                    b.bin(op, c, a[0])
                });
            }
        }
    }
}

#[test]
fn scale_within_its_contract() {
    for ty in [Ty::F32, Ty::F64] {
        let mut rng = Rng(5);
        let mut second = false;
        let mut values = |ty: Ty| {
            let exponent = std::mem::replace(&mut second, true);
            let value = |rng: &mut Rng| match (exponent, rng.below(12)) {
                (true, _) => {
                    (rng.below(6000) as f64 - 3000.0) / if rng.below(2) == 0 { 1.0 } else { 16.0 }
                }
                (false, 0) => 0.0,
                (false, 1) => f64::INFINITY,
                (false, 2) => f64::NAN,
                (false, _) => (rng.below(1 << 20) as f64 - 524288.5) / 32768.0,
            };
            let values: Vec<f64> = (0..LEN).map(|_| value(&mut rng)).collect();
            let values = values.iter().map(|v| if exponent { v.trunc() } else { *v });
            if ty == Ty::F32 {
                Region::f32(values.map(|v| v as f32))
            } else {
                Region::f64(values)
            }
        };
        check_op_on("scale", &[ty, ty], &mut values, |b, a| {
            b.bin(BinOp::Scale, a[0], a[1])
        });
    }
}

#[test]
fn ternary() {
    for ty in [Ty::F32, Ty::F64] {
        check_op("fma", &[ty, ty, ty], |b, a| {
            b.ter(TerOp::Fma, a[0], a[1], a[2])
        });
        check_op("fnma", &[ty, ty, ty], |b, a| {
            let minus = b.neg(a[0]);
            b.fma(minus, a[1], a[2])
        });
        check_op("fms", &[ty, ty, ty], |b, a| {
            let minus = b.neg(a[2]);
            b.fma(a[0], a[1], minus)
        });
    }
    for ty in TYPES {
        check_op("select", &[Ty::Mask, ty, ty], |b, a| {
            b.select(a[0], a[1], a[2])
        });
        // A mask that comes from a comparison of the other width.
        for other in [Ty::F32, Ty::F64] {
            check_op("select_compared", &[other, other, ty, ty], |b, a| {
                let less = b.lt(a[0], a[1]);
                b.select(less, a[2], a[3])
            });
        }
    }
}

#[test]
fn masks_of_different_widths_meet() {
    check_op("masks", &[Ty::F32, Ty::F64, Ty::Mask], |b, a| {
        let (x, y) = (b.is_nan(a[0]), b.is_nan(a[1]));
        let both = b.and(x, y);
        let either = b.or(y, a[2]);
        let odd = b.xor(both, either);
        b.not(odd)
    });
}

#[test]
fn lookup() {
    static NARROW: TableData = TableData {
        name: "narrow",
        entries: Entries::Bits32(&[3, 1, 4, 1, 5, 9, 2]),
    };
    static WIDE: TableData = TableData {
        name: "wide",
        entries: Entries::Bits64(&[2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4, 5]),
    };
    check_op("narrow", &[Ty::I32], |b, a| {
        let seven = b.i32(7);
        let at = b.bin(BinOp::RemU, a[0], seven);
        b.lookup(Table(&NARROW), Ty::I32, at)
    });
    check_op("wide", &[Ty::I64], |b, a| {
        let low = b.i64(15);
        let at = b.and(a[0], low);
        b.lookup(Table(&WIDE), Ty::F64, at)
    });
    check_op("past_the_end", &[Ty::I32], |b, a| {
        b.lookup(Table(&NARROW), Ty::F32, a[0])
    });
}

/// What vector units have an instruction for takes no more code than what they have two for.
#[test]
fn magnitudes_of_narrow_integers_are_one_instruction() {
    for isa in Isa::available()
        .into_iter()
        .filter(|&isa| isa != Isa::Portable)
    {
        let size = |op| {
            let mut b = Builder::new("size");
            let (from, to) = (b.pointer(Access::ReadOnly), b.pointer(Access::ReadWrite));
            let x = b.load(MemTy::I32, Addr::contiguous(from, MemTy::I32));
            let y = b.un(op, Ty::I32, x);
            b.store(MemTy::I32, Addr::contiguous(to, MemTy::I32), y);
            compile(&b.finish().unwrap(), isa).unwrap().code().len()
        };
        let (abs, neg) = (size(UnOp::Abs), size(UnOp::Neg));
        assert!(abs <= neg, "{}: {abs} and {neg} bytes", isa.name());
    }
}
