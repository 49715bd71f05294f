//! Operations on lanes.

use super::integer::shift_by;
use super::rep::{Rep, bitcast, float_like, vector_type};
use super::{Emitter, Width, scalar_type};
use crate::codegen::emit::Operations;
use crate::lanes::{BinOp, Index, Table, Ty, UnOp, Value};
use crate::narrow;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use cranelift_frontend::FunctionBuilder;

impl Operations for Emitter<'_, '_> {
    fn constant(&mut self, v: Value, bits: u64) {
        let ty = self.body.ty(v);
        let scalar = self.scalar_const(ty, bits);
        let rep = self.splat(ty, scalar);
        self.set(v, rep);
    }

    fn index(&mut self, v: Value, index: Index) {
        let ty = self.body.ty(v);
        let value = self.index_value(index);
        let mut rep = self.splat_index(ty, value);
        if index == Index::Lane {
            rep = self.count_up(ty, rep);
        }
        self.set(v, rep);
    }

    fn un(&mut self, v: Value, op: UnOp, a: Value) {
        let (from, to) = (self.body.ty(a), self.body.ty(v));
        let a = &self.get(a);
        let rep = match op {
            UnOp::Neg if from.is_float() => self.map1(a, |fb, a| fb.ins().fneg(a)),
            UnOp::Neg => self.map1(a, |fb, a| fb.ins().ineg(a)),
            UnOp::Abs if from.is_float() => self.map1(a, |fb, a| fb.ins().fabs(a)),
            UnOp::Abs => self.map1(a, |fb, a| fb.ins().iabs(a)),
            UnOp::Not if from == Ty::Mask => self.mask_not(a),
            UnOp::Not => self.map1(a, |fb, a| fb.ins().bnot(a)),
            UnOp::Sqrt => self.map1(a, |fb, a| fb.ins().sqrt(a)),
            UnOp::Floor => self.map1(a, |fb, a| fb.ins().floor(a)),
            UnOp::Ceil => self.map1(a, |fb, a| fb.ins().ceil(a)),
            UnOp::RoundEven => self.map1(a, |fb, a| fb.ins().nearest(a)),
            UnOp::Trunc => self.map1(a, |fb, a| fb.ins().trunc(a)),
            UnOp::Clz => self.per_lane(&[(from, a)], to, |e, a| e.fb.ins().clz(a[0])),
            UnOp::Popcount => self.per_lane(&[(from, a)], to, |e, a| e.fb.ins().popcnt(a[0])),
            UnOp::SToF => self.signed_to_float(from, to, a),
            UnOp::UToF => self.per_lane(&[(from, a)], to, |e, a| {
                e.fb.ins().fcvt_from_uint(scalar_type(to), a[0])
            }),
            UnOp::FToS => self.float_to_signed(from, to, a),
            UnOp::FToU => self.per_lane(&[(from, a)], to, |e, a| {
                e.fb.ins().fcvt_to_uint_sat(scalar_type(to), a[0])
            }),
            UnOp::FToF => self.float_to_float(to, a),
            UnOp::SExt | UnOp::ZExt => self.extended(op == UnOp::SExt, a),
            UnOp::Low => self.low(a),
            UnOp::Bitcast => {
                let to = match self.width {
                    Width::One => scalar_type(to),
                    Width::Four => vector_type(to),
                };
                self.map1(a, |fb, a| bitcast(fb, to, a))
            }
            UnOp::RoundF16 => self.map1(a, super::float16::round_f16),
            UnOp::RoundBf16 => self.map1(a, |fb, a| {
                let half = super::float16::to_bf16(fb, a);
                super::float16::from_bf16(fb, half)
            }),
        };
        self.set(v, rep);
    }

    fn bin(&mut self, v: Value, op: BinOp, a: Value, b: Value) {
        let ty = self.body.ty(a);
        let (a, b) = (&self.get(a), &self.get(b));
        let rep = if ty == Ty::Mask {
            self.mask_bin(op, a, b)
        } else if ty.is_float() {
            self.map2(a, b, |fb, a, b| float_bin(fb, op, a, b))
        } else {
            self.int_bin(op, ty, a, b)
        };
        self.set(v, rep);
    }

    fn shift_by(&mut self, v: Value, op: BinOp, a: Value, count: u64) {
        let bits = u64::from(self.body.ty(v).bits());
        let a = self.get(a);
        let rep = self.map1(&a, |fb, a| shift_by(fb, op, a, count, bits));
        self.set(v, rep);
    }

    fn fma(&mut self, v: Value, a: Value, b: Value, c: Value) {
        let ty = self.body.ty(v);
        let (a, b, c) = (self.get(a), self.get(b), self.get(c));
        let rep = if self.fma {
            let registers: Vec<ir::Value> = (0..a.registers().len())
                .map(|k| {
                    let [a, b, c] = [&a, &b, &c].map(|rep| rep.registers()[k]);
                    self.fb.ins().fma(a, b, c)
                })
                .collect();
            a.with(&registers)
        } else {
            self.per_lane(&[(ty, &a), (ty, &b), (ty, &c)], ty, |e, v| {
                e.fb.ins().fma(v[0], v[1], v[2])
            })
        };
        self.set(v, rep);
    }

    fn select(&mut self, v: Value, mask: Value, a: Value, b: Value) {
        let (mask, a, b) = (self.get(mask), self.get(a), self.get(b));
        let rep = self.choose(&mask, &a, &b);
        self.set(v, rep);
    }

    fn lookup(&mut self, v: Value, index: Value, table: Table) {
        let ty = self.body.ty(v);
        let last = table.len() as i64 - 1;
        let index = self.get(index);
        let base = self.table(table);
        let rep = self.per_lane(&[(ty.as_int(), &index)], ty, |e, i| {
            let wide = if ty.bits() == 32 {
                e.fb.ins().uextend(types::I64, i[0])
            } else {
                i[0]
            };
            let last = e.fb.ins().iconst(types::I64, last);
            let at = e.fb.ins().umin(wide, last);
            let offset = e.fb.ins().imul_imm_s(at, i64::from(ty.bits() / 8));
            let from = e.fb.ins().iadd(base, offset);
            e.fb.ins().load(
                scalar_type(ty),
                MemFlagsData::trusted().with_readonly(),
                from,
                0,
            )
        });
        self.set(v, rep);
    }
}

impl Emitter<'_, '_> {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the type tells how many bits there are"
    )]
    pub(super) fn scalar_const(&mut self, ty: Ty, bits: u64) -> ir::Value {
        match ty {
            Ty::F32 => self.fb.ins().f32const(f32::from_bits(bits as u32)),
            Ty::F64 => self.fb.ins().f64const(f64::from_bits(bits)),
            Ty::I32 | Ty::I64 | Ty::Mask => self.fb.ins().iconst(scalar_type(ty), bits as i64),
        }
    }

    /// A scalar in all lanes.
    pub(super) fn splat(&mut self, ty: Ty, scalar: ir::Value) -> Rep {
        if self.width == Width::One {
            return Rep::One(scalar);
        }
        let scalar = if ty == Ty::Mask {
            self.fb.ins().bmask(types::I32, scalar)
        } else {
            scalar
        };
        let v = self.fb.ins().splat(vector_type(ty), scalar);
        if ty.bits() == 64 {
            Rep::X2([v, v])
        } else {
            Rep::X4(v)
        }
    }

    fn splat_index(&mut self, ty: Ty, index: ir::Value) -> Rep {
        let scalar = if ty == Ty::I32 {
            self.fb.ins().ireduce(types::I32, index)
        } else {
            index
        };
        self.splat(ty, scalar)
    }

    /// Adds 0, 1, 2, 3 to the lanes.
    fn count_up(&mut self, ty: Ty, rep: Rep) -> Rep {
        let offsets: Vec<[u8; 16]> = match (self.width, ty) {
            (Width::One, _) => return rep,
            (_, Ty::I32) => vec![bytes([0u32, 1, 2, 3].map(u32::to_le_bytes).as_flattened())],
            _ => [[0u64, 1], [2, 3]]
                .map(|p| bytes(p.map(u64::to_le_bytes).as_flattened()))
                .to_vec(),
        };
        let registers: Vec<ir::Value> = rep.registers().to_vec();
        let registers: Vec<ir::Value> = registers
            .iter()
            .zip(offsets)
            .map(|(&p, o)| {
                let constant = self.fb.func.dfg.constants.insert(o.as_slice().into());
                let o = self.fb.ins().vconst(vector_type(ty), constant);
                self.fb.ins().iadd(p, o)
            })
            .collect();
        rep.with(&registers)
    }

    /// Applies `f` to each register.
    pub(super) fn map1(
        &mut self,
        a: &Rep,
        mut f: impl FnMut(&mut FunctionBuilder<'_>, ir::Value) -> ir::Value,
    ) -> Rep {
        let registers: Vec<ir::Value> = a.registers().iter().map(|&p| f(self.fb, p)).collect();
        a.with(&registers)
    }

    /// Applies `f` to each pair of registers.
    pub(super) fn map2(
        &mut self,
        a: &Rep,
        b: &Rep,
        mut f: impl FnMut(&mut FunctionBuilder<'_>, ir::Value, ir::Value) -> ir::Value,
    ) -> Rep {
        let registers: Vec<ir::Value> = a
            .registers()
            .iter()
            .zip(b.registers())
            .map(|(&a, &b)| f(self.fb, a, b))
            .collect();
        a.with(&registers)
    }

    /// Applies a scalar operation lane by lane, for what vectors cannot do.
    pub(super) fn per_lane(
        &mut self,
        args: &[(Ty, &Rep)],
        to: Ty,
        mut f: impl FnMut(&mut Self, &[ir::Value]) -> ir::Value,
    ) -> Rep {
        if self.width == Width::One {
            let scalars: Vec<ir::Value> = args.iter().map(|(_, r)| r.one()).collect();
            return Rep::One(f(self, &scalars));
        }
        let mut lanes = Vec::new();
        for k in 0..4 {
            let scalars: Vec<ir::Value> =
                args.iter().map(|(ty, r)| self.extract(*ty, r, k)).collect();
            lanes.push(f(self, &scalars));
        }
        self.gather_lanes(to, &lanes)
    }

    /// One lane as a scalar.
    pub(super) fn extract(&mut self, ty: Ty, rep: &Rep, lane: u8) -> ir::Value {
        let v = match rep {
            Rep::One(v) => return *v,
            Rep::X4(v) => self.fb.ins().extractlane(*v, lane),
            Rep::X2(v) => self
                .fb
                .ins()
                .extractlane(v[usize::from(lane / 2)], lane % 2),
        };
        if ty == Ty::Mask {
            self.fb.ins().icmp_imm_s(IntCC::NotEqual, v, 0)
        } else {
            v
        }
    }

    /// Four scalars as a vector.
    pub(super) fn gather_lanes(&mut self, ty: Ty, lanes: &[ir::Value]) -> Rep {
        let vector = vector_type(ty);
        let lanes: Vec<ir::Value> = lanes
            .iter()
            .map(|&v| {
                if ty == Ty::Mask {
                    self.fb.ins().bmask(types::I32, v)
                } else {
                    v
                }
            })
            .collect();
        let mut build = |lanes: &[ir::Value]| {
            let mut v = self.fb.ins().scalar_to_vector(vector, lanes[0]);
            for (k, &x) in lanes.iter().enumerate().skip(1) {
                v = self.fb.ins().insertlane(v, x, narrow::<_, u8>(k));
            }
            v
        };
        if ty.bits() == 64 {
            Rep::X2([build(&lanes[..2]), build(&lanes[2..])])
        } else {
            Rep::X4(build(&lanes))
        }
    }
}

fn bytes(from: &[u8]) -> [u8; 16] {
    from.try_into().expect("a vector has 16 bytes")
}

pub(super) fn pick(
    fb: &mut FunctionBuilder<'_>,
    m: ir::Value,
    a: ir::Value,
    b: ir::Value,
) -> ir::Value {
    let ty = fb.func.dfg.value_type(a);
    if ty.is_vector() {
        let m = bitcast(fb, ty, m);
        fb.ins().bitselect(m, a, b)
    } else {
        fb.ins().select(m, a, b)
    }
}

fn float_bin(fb: &mut FunctionBuilder<'_>, op: BinOp, a: ir::Value, b: ir::Value) -> ir::Value {
    match op {
        BinOp::Add => fb.ins().fadd(a, b),
        BinOp::Sub => fb.ins().fsub(a, b),
        BinOp::Mul => fb.ins().fmul(a, b),
        BinOp::Div => fb.ins().fdiv(a, b),
        BinOp::Min => fb.ins().fmin(a, b),
        BinOp::Max => fb.ins().fmax(a, b),
        // In this form the x64 backend finds `minps` and `maxps`.
        BinOp::PickLt => {
            let m = fb.ins().fcmp(FloatCC::LessThan, a, b);
            pick(fb, m, a, b)
        }
        BinOp::PickGt => {
            let m = fb.ins().fcmp(FloatCC::LessThan, b, a);
            pick(fb, m, a, b)
        }
        BinOp::Scale => scale(fb, a, b),
        BinOp::ScaleNormal => {
            // 2a * 2^(b - 1), where both factors are normal.
            let one = float_like(fb, fb.func.dfg.value_type(a), 1.0);
            let below = fb.ins().fsub(b, one);
            let power = power_of_two(fb, below);
            let twice = fb.ins().fadd(a, a);
            fb.ins().fmul(twice, power)
        }
        BinOp::Eq => fb.ins().fcmp(FloatCC::Equal, a, b),
        BinOp::Ne => fb.ins().fcmp(FloatCC::NotEqual, a, b),
        BinOp::Lt => fb.ins().fcmp(FloatCC::LessThan, a, b),
        BinOp::Le => fb.ins().fcmp(FloatCC::LessThanOrEqual, a, b),
        _ => unreachable!("verified: {} takes no floats", op.name()),
    }
}

/// The definition of [`BinOp::Scale`].
fn scale(fb: &mut FunctionBuilder<'_>, a: ir::Value, n: ir::Value) -> ir::Value {
    let ty = fb.func.dfg.value_type(a);
    let (top, bottom) = if ty.lane_type() == types::F32 {
        (254.0, -252.0)
    } else {
        (2046.0, -2044.0)
    };
    let (top, bottom) = (float_like(fb, ty, top), float_like(fb, ty, bottom));
    let n = float_bin(fb, BinOp::PickLt, n, top);
    let n = float_bin(fb, BinOp::PickGt, n, bottom);
    let half = float_like(fb, ty, 0.5);
    let first = fb.ins().fmul(n, half);
    let first = fb.ins().floor(first);
    let second = fb.ins().fsub(n, first);
    [first, second].into_iter().fold(a, |a, n| {
        let power = power_of_two(fb, n);
        fb.ins().fmul(a, power)
    })
}

/// 2 to an integral float, where that is normal: by adding the exponent's bias and a number whose last place is one, and shifting the sum's low bits up.
fn power_of_two(fb: &mut FunctionBuilder<'_>, n: ir::Value) -> ir::Value {
    let ty = fb.func.dfg.value_type(n);
    let (ints, magic, fraction) = if ty.lane_type() == types::F32 {
        (types::I32, 12_582_912.0 + 127.0, 23)
    } else {
        (types::I64, 6_755_399_441_055_744.0 + 1023.0, 52)
    };
    let ints = if ty.is_vector() {
        ints.by(ty.lane_count()).expect("a 128-bit vector")
    } else {
        ints
    };
    let magic = float_like(fb, ty, magic);
    let biased = fb.ins().fadd(n, magic);
    let bits = bitcast(fb, ints, biased);
    let power = fb.ins().ishl_imm_u(bits, fraction);
    bitcast(fb, ty, power)
}
