//! Pure operations.

use super::Emitter;
use super::rep::{
    Rep, Width, bitcast, float_like, high_halves, int_like, low_halves, shuffle, vector_type,
};
use super::scalar_type;
use crate::lanes::{BinOp, Inst, Table, TerOp, Ty, UnOp, Value};
use crate::narrow;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use cranelift_frontend::FunctionBuilder;

impl Emitter<'_, '_> {
    /// Emits the definition of `v`.
    pub(super) fn inst(&mut self, v: Value) {
        let body = self.body;
        let ty = body.ty(v);
        let rep = match body.inst(v) {
            Inst::Const(bits) => {
                let scalar = self.scalar_const(ty, *bits);
                self.splat(ty, scalar)
            }
            Inst::Index(i) => {
                let index = self.index(*i);
                let rep = self.splat_index(ty, index);
                if *i == crate::lanes::Index::Lane {
                    self.count_up(ty, rep)
                } else {
                    rep
                }
            }
            Inst::Un(op, a) => self.un(*op, body.ty(*a), ty, *a),
            Inst::Bin(op, a, b) => self.bin(*op, body.ty(*a), *a, *b),
            Inst::Ter(TerOp::Fma, a, b, c) => self.fma(ty, *a, *b, *c),
            Inst::Ter(TerOp::Select, m, a, b) => {
                let (m, a, b) = (self.get(*m), self.get(*a), self.get(*b));
                self.select(&m, &a, &b)
            }
            Inst::Lookup(table, i) => self.lookup(*table, ty, *i),
            Inst::Load(mem, addr) => self.load(*mem, addr),
            Inst::Carried | Inst::Result => {
                unreachable!("verified: {v} is no statement")
            }
        };
        self.set(v, rep);
    }

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
    fn map1(
        &mut self,
        a: &Rep,
        mut f: impl FnMut(&mut FunctionBuilder<'_>, ir::Value) -> ir::Value,
    ) -> Rep {
        let registers: Vec<ir::Value> = a.registers().iter().map(|&p| f(self.fb, p)).collect();
        a.with(&registers)
    }

    /// Applies `f` to each pair of registers.
    fn map2(
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
    fn per_lane(
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

    pub(super) fn mask_and(&mut self, a: &Rep, b: &Rep) -> Rep {
        let b = self.mask_like(b, a);
        self.map2(a, &b, |fb, a, b| fb.ins().band(a, b))
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

    pub(super) fn select(&mut self, mask: &Rep, a: &Rep, b: &Rep) -> Rep {
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

    fn un(&mut self, op: UnOp, from: Ty, to: Ty, a: Value) -> Rep {
        let a = &self.get(a);
        let vector = self.width == Width::Four;
        match op {
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
            UnOp::SToF if vector && (from, to) == (Ty::I32, Ty::F32) => {
                self.map1(a, |fb, a| fb.ins().fcvt_from_sint(types::F32X4, a))
            }
            UnOp::SToF if vector && (from, to) == (Ty::I32, Ty::F64) => {
                let (low, high) = (
                    a.one(),
                    shuffle(self.fb, a.one(), a.one(), HIGH_HALF, types::I32X4),
                );
                Rep::X2([low, high].map(|v| {
                    let wide = self.fb.ins().swiden_low(v);
                    self.fb.ins().fcvt_from_sint(types::F64X2, wide)
                }))
            }
            UnOp::SToF => self.per_lane(&[(from, a)], to, |e, a| {
                e.fb.ins().fcvt_from_sint(scalar_type(to), a[0])
            }),
            UnOp::UToF => self.per_lane(&[(from, a)], to, |e, a| {
                e.fb.ins().fcvt_from_uint(scalar_type(to), a[0])
            }),
            UnOp::FToS if vector && (from, to) == (Ty::F32, Ty::I32) => {
                self.map1(a, |fb, a| fb.ins().fcvt_to_sint_sat(types::I32X4, a))
            }
            UnOp::FToS => self.per_lane(&[(from, a)], to, |e, a| {
                e.fb.ins().fcvt_to_sint_sat(scalar_type(to), a[0])
            }),
            UnOp::FToU => self.per_lane(&[(from, a)], to, |e, a| {
                e.fb.ins().fcvt_to_uint_sat(scalar_type(to), a[0])
            }),
            UnOp::FToF => self.float_to_float(to, a),
            UnOp::SExt | UnOp::ZExt => match (a, op) {
                (Rep::X4(a), UnOp::SExt) => {
                    Rep::X2([self.fb.ins().swiden_low(*a), self.fb.ins().swiden_high(*a)])
                }
                (Rep::X4(a), _) => {
                    Rep::X2([self.fb.ins().uwiden_low(*a), self.fb.ins().uwiden_high(*a)])
                }
                (_, UnOp::SExt) => Rep::One(self.fb.ins().sextend(types::I64, a.one())),
                _ => Rep::One(self.fb.ins().uextend(types::I64, a.one())),
            },
            UnOp::Low => match a {
                Rep::X2(pair) => Rep::X4(low_halves(self.fb, *pair, types::I32X4)),
                _ => Rep::One(self.fb.ins().ireduce(types::I32, a.one())),
            },
            UnOp::Bitcast => {
                let to = if vector {
                    vector_type(to)
                } else {
                    scalar_type(to)
                };
                self.map1(a, |fb, a| bitcast(fb, to, a))
            }
            UnOp::RoundF16 => self.map1(a, |fb, a| {
                let half = super::float16::to_f16(fb, a);
                super::float16::from_f16(fb, half)
            }),
            UnOp::RoundBf16 => self.map1(a, |fb, a| {
                let half = super::float16::to_bf16(fb, a);
                super::float16::from_bf16(fb, half)
            }),
        }
    }

    fn float_to_float(&mut self, to: Ty, a: &Rep) -> Rep {
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

    fn bin(&mut self, op: BinOp, ty: Ty, left: Value, right: Value) -> Rep {
        let (a, b) = (&self.get(left), &self.get(right));
        if ty == Ty::Mask {
            let b = &self.mask_like(b, a);
            return self.map2(a, b, |fb, a, b| match op {
                BinOp::And => fb.ins().band(a, b),
                BinOp::Or => fb.ins().bor(a, b),
                _ => fb.ins().bxor(a, b),
            });
        }
        if ty.is_float() {
            return self.map2(a, b, |fb, a, b| float_bin(fb, op, a, b));
        }
        let count = match self.body.inst(right) {
            Inst::Const(c) => Some(*c),
            _ => None,
        };
        match (op, self.width) {
            (BinOp::Shl | BinOp::ShrS | BinOp::ShrU, _) if count.is_some() => {
                let (count, bits) = (count.unwrap_or_default(), u64::from(ty.bits()));
                self.map1(a, |fb, a| shift_by(fb, op, a, count, bits))
            }
            (BinOp::MulHiU | BinOp::MulHiS, Width::Four) if ty == Ty::I32 => {
                let wide = |e: &mut Self, v: ir::Value| {
                    let ins = |e: &mut Self, high: bool| match (op, high) {
                        (BinOp::MulHiU, false) => e.fb.ins().uwiden_low(v),
                        (BinOp::MulHiU, true) => e.fb.ins().uwiden_high(v),
                        (_, false) => e.fb.ins().swiden_low(v),
                        (_, true) => e.fb.ins().swiden_high(v),
                    };
                    [ins(e, false), ins(e, true)]
                };
                let (x, y) = (wide(self, a.one()), wide(self, b.one()));
                let products = [
                    self.fb.ins().imul(x[0], y[0]),
                    self.fb.ins().imul(x[1], y[1]),
                ];
                Rep::X4(high_halves(self.fb, products, types::I32X4))
            }
            (BinOp::MinS | BinOp::MaxS | BinOp::MinU | BinOp::MaxU, Width::Four)
                if ty == Ty::I64 =>
            {
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
            (
                BinOp::DivS
                | BinOp::DivU
                | BinOp::RemS
                | BinOp::RemU
                | BinOp::MulHiS
                | BinOp::MulHiU
                | BinOp::Shl
                | BinOp::ShrS
                | BinOp::ShrU,
                _,
            ) => self.per_lane(&[(ty, a), (ty, b)], ty, |e, v| {
                hard_int(e.fb, op, ty, v[0], v[1])
            }),
            _ => self.map2(a, b, |fb, a, b| easy_int(fb, op, a, b)),
        }
    }

    fn fma(&mut self, ty: Ty, a: Value, b: Value, c: Value) -> Rep {
        let (a, b, c) = (self.get(a), self.get(b), self.get(c));
        if !self.fma {
            return self.per_lane(&[(ty, &a), (ty, &b), (ty, &c)], ty, |e, v| {
                e.fb.ins().fma(v[0], v[1], v[2])
            });
        }
        let registers: Vec<ir::Value> = (0..a.registers().len())
            .map(|k| {
                self.fb
                    .ins()
                    .fma(a.registers()[k], b.registers()[k], c.registers()[k])
            })
            .collect();
        a.with(&registers)
    }

    fn lookup(&mut self, table: Table, ty: Ty, index: Value) -> Rep {
        let last = table.len() as i64 - 1;
        let index = self.get(index);
        let base = self.table(table);
        self.per_lane(&[(ty.as_int(), &index)], ty, |e, i| {
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
        })
    }
}

const HIGH_HALF: [u8; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15];
const LOW_HALVES: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];

fn bytes(from: &[u8]) -> [u8; 16] {
    from.try_into().expect("a vector has 16 bytes")
}

fn pick(fb: &mut FunctionBuilder<'_>, m: ir::Value, a: ir::Value, b: ir::Value) -> ir::Value {
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
        BinOp::Eq => fb.ins().fcmp(FloatCC::Equal, a, b),
        BinOp::Ne => fb.ins().fcmp(FloatCC::NotEqual, a, b),
        BinOp::Lt => fb.ins().fcmp(FloatCC::LessThan, a, b),
        BinOp::Le => fb.ins().fcmp(FloatCC::LessThanOrEqual, a, b),
        _ => unreachable!("verified: {} takes no floats", op.name()),
    }
}

/// The definition of [`BinOp::Scale`]; powers of two are made by adding the exponent's bias and a number whose
/// last place is one, and shifting the sum's low bits up.
fn scale(fb: &mut FunctionBuilder<'_>, a: ir::Value, n: ir::Value) -> ir::Value {
    let ty = fb.func.dfg.value_type(a);
    let single = ty.lane_type() == types::F32;
    let (top, bottom, magic, fraction) = if single {
        (254.0, -252.0, 12_582_912.0 + 127.0, 23)
    } else {
        (2046.0, -2044.0, 6_755_399_441_055_744.0 + 1023.0, 52)
    };
    let (top, bottom) = (float_like(fb, ty, top), float_like(fb, ty, bottom));
    let n = float_bin(fb, BinOp::PickLt, n, top);
    let n = float_bin(fb, BinOp::PickGt, n, bottom);
    let half = float_like(fb, ty, 0.5);
    let first = fb.ins().fmul(n, half);
    let first = fb.ins().floor(first);
    let second = fb.ins().fsub(n, first);
    let magic = float_like(fb, ty, magic);
    let ints = if single { types::I32 } else { types::I64 };
    let ints = if ty.is_vector() {
        ints.by(ty.lane_count()).expect("a 128-bit vector")
    } else {
        ints
    };
    [first, second].into_iter().fold(a, |a, n| {
        let biased = fb.ins().fadd(n, magic);
        let bits = bitcast(fb, ints, biased);
        let power = fb.ins().ishl_imm_u(bits, fraction);
        let power = bitcast(fb, ty, power);
        fb.ins().fmul(a, power)
    })
}

fn easy_int(fb: &mut FunctionBuilder<'_>, op: BinOp, a: ir::Value, b: ir::Value) -> ir::Value {
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

fn shift_by(
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
        BinOp::DivS | BinOp::DivU | BinOp::RemS | BinOp::RemU => {
            let zero = fb.ins().icmp_imm_s(IntCC::Equal, b, 0);
            let mut unsafe_divisor = zero;
            if matches!(op, BinOp::DivS | BinOp::RemS) {
                let lowest = fb.ins().iconst(clif, 1i64.wrapping_shl(ty.bits() - 1));
                let lowest = fb.ins().icmp(IntCC::Equal, a, lowest);
                let minus_one = fb.ins().icmp_imm_s(IntCC::Equal, b, -1);
                let overflow = fb.ins().band(lowest, minus_one);
                unsafe_divisor = fb.ins().bor(zero, overflow);
            }
            let one = fb.ins().iconst(clif, 1);
            let b = fb.ins().select(unsafe_divisor, one, b);
            let (result, by_zero) = match op {
                BinOp::DivS => (fb.ins().sdiv(a, b), int_like(fb, clif, -1)),
                BinOp::DivU => (fb.ins().udiv(a, b), int_like(fb, clif, -1)),
                BinOp::RemS => (fb.ins().srem(a, b), a),
                _ => (fb.ins().urem(a, b), a),
            };
            fb.ins().select(zero, by_zero, result)
        }
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
