//! Loads and stores.

use super::float16;
use super::rep::{Rep, Width, bitcast, int_like, shuffle, vector_type};
use super::scalar_type;
use super::{Cell, Emitter};
use crate::codegen::emit::Memory;
use crate::lanes::{Addr, Index, LaneStep, MemTy, Ty, Value};
use crate::narrow;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, MemFlagsData, types};
use cranelift_frontend::FunctionBuilder;

/// Accesses may be unaligned, and are in bounds by the contract of the body.
const FLAGS: MemFlagsData = MemFlagsData::new().with_trap_code(None);

impl Memory for Emitter<'_, '_> {
    fn load(&mut self, v: Value, mem: MemTy, addr: &Addr) {
        if let Some(cell) = self.cell(mem, addr) {
            let value = self.fb.use_var(cell.variable);
            return self.set(v, Rep::One(value));
        }
        let base = self.base(addr);
        let rep = match (self.width, addr.lane, self.exec.clone()) {
            (Width::One, step, _) => {
                let at = self.lane_address(base, step, 0);
                Rep::One(load_one(self.fb, mem, at))
            }
            // Some lane is active wherever code runs.
            (Width::Four, LaneStep::Uniform, _) => {
                let scalar = load_one(self.fb, mem, base);
                self.splat(mem.lane(), scalar)
            }
            (Width::Four, LaneStep::Stride(s), None) if s == mem.size() => {
                let at = self.lane_address(base, addr.lane, 0);
                self.load_four(mem, at)
            }
            (Width::Four, step, None) => {
                let lanes: Vec<ir::Value> = (0..4)
                    .map(|k| {
                        let at = self.lane_address(base, step, k);
                        load_one(self.fb, mem, at)
                    })
                    .collect();
                self.gather_lanes(mem.lane(), &lanes)
            }
            (Width::Four, step, Some(exec)) => {
                let lanes: Vec<ir::Value> = (0..4)
                    .map(|k| self.load_if(mem, base, step, &exec, k))
                    .collect();
                self.gather_lanes(mem.lane(), &lanes)
            }
        };
        self.set(v, rep);
    }

    fn store(&mut self, mem: MemTy, addr: &Addr, value: Value) {
        let value = self.get(value);
        let base = self.base(addr);
        let ty = mem.lane();
        match (self.width, addr.lane, self.exec.clone()) {
            (Width::One, step, _) => {
                let at = self.lane_address(base, step, 0);
                self.store_one(mem, at, value.one());
                if let Some(cell) = self.cell(mem, addr) {
                    let value = stored(self.fb, mem, value.one());
                    self.fb.def_var(cell.variable, value);
                }
            }
            (Width::Four, LaneStep::Stride(s), None) if s == mem.size() => {
                let at = self.lane_address(base, addr.lane, 0);
                self.store_four(mem, at, &value);
            }
            (Width::Four, step, exec) => {
                for k in 0..4 {
                    let next = exec.as_ref().map(|exec| {
                        let active = self.extract(Ty::Mask, exec, k);
                        let (then, next) = (self.fb.create_block(), self.fb.create_block());
                        self.fb.ins().brif(active, then, &[], next, &[]);
                        self.fb.seal_block(then);
                        self.fb.switch_to_block(then);
                        next
                    });
                    let at = self.lane_address(base, step, k);
                    let x = self.extract(ty, &value, k);
                    self.store_one(mem, at, x);
                    if let Some(next) = next {
                        self.fb.ins().jump(next, &[]);
                        self.fb.seal_block(next);
                        self.fb.switch_to_block(next);
                    }
                }
            }
        }
    }
}

impl Emitter<'_, '_> {
    /// The cell of what is at an address.
    fn cell(&self, mem: MemTy, addr: &Addr) -> Option<Cell> {
        let cells = self.args.cells.of.get(addr.pointer.index())?;
        let at = offset_of_lane(addr, self.args.cells.lane)?;
        let mut cells = cells.iter();
        cells.find(|cell| cell.at == at && cell.ty == mem).copied()
    }

    /// The address without its lane step.
    fn base(&mut self, addr: &Addr) -> ir::Value {
        let mut at = self.args.pointers[addr.pointer.index()];
        for &(index, stride) in &addr.terms {
            let index = self.index_value(index);
            let offset = self.fb.ins().imul_imm_s(index, stride);
            at = self.fb.ins().iadd(at, offset);
        }
        if addr.offset == 0 {
            at
        } else {
            self.fb.ins().iadd_imm_s(at, addr.offset)
        }
    }

    /// The address of the `k`th of the lanes that are emitted together.
    fn lane_address(&mut self, base: ir::Value, step: LaneStep, k: u8) -> ir::Value {
        match step {
            LaneStep::Uniform => base,
            LaneStep::Stride(s) => {
                let lane = self.lane.expect("verified: inside the lanes");
                let offset = self.fb.ins().imul_imm_s(lane, s);
                let at = self.fb.ins().iadd(base, offset);
                if k == 0 {
                    at
                } else {
                    self.fb.ins().iadd_imm_s(at, i64::from(k) * s)
                }
            }
            LaneStep::Gather(index, scale) => {
                let ty = self.body.ty(index);
                let index = self.get(index);
                let index = self.extract(ty, &index, k);
                let index = if ty == Ty::I32 {
                    self.fb.ins().sextend(types::I64, index)
                } else {
                    index
                };
                let offset = self.fb.ins().imul_imm_s(index, scale);
                self.fb.ins().iadd(base, offset)
            }
        }
    }

    /// A load of one lane if it is active, else zero.
    fn load_if(
        &mut self,
        mem: MemTy,
        base: ir::Value,
        step: LaneStep,
        exec: &Rep,
        k: u8,
    ) -> ir::Value {
        let ty = mem.lane();
        let active = self.extract(Ty::Mask, exec, k);
        let zero = self.scalar_const(ty, 0);
        let (then, next) = (self.fb.create_block(), self.fb.create_block());
        let result = self.fb.append_block_param(next, scalar_type(ty));
        self.fb
            .ins()
            .brif(active, then, &[], next, &[BlockArg::Value(zero)]);
        self.fb.seal_block(then);
        self.fb.switch_to_block(then);
        let at = self.lane_address(base, step, k);
        let loaded = load_one(self.fb, mem, at);
        self.fb.ins().jump(next, &[BlockArg::Value(loaded)]);
        self.fb.seal_block(next);
        self.fb.switch_to_block(next);
        result
    }

    fn store_one(&mut self, mem: MemTy, at: ir::Value, x: ir::Value) {
        match mem {
            MemTy::Bool => {
                self.fb.ins().store(FLAGS, x, at, 0);
            }
            MemTy::I8 | MemTy::U8 => {
                self.fb.ins().istore8(FLAGS, x, at, 0);
            }
            MemTy::I16 | MemTy::U16 => {
                self.fb.ins().istore16(FLAGS, x, at, 0);
            }
            MemTy::F16 => {
                let bits = float16::to_f16(self.fb, x);
                self.fb.ins().istore16(FLAGS, bits, at, 0);
            }
            MemTy::Bf16 => {
                let bits = float16::to_bf16(self.fb, x);
                self.fb.ins().istore16(FLAGS, bits, at, 0);
            }
            MemTy::I32 | MemTy::I64 | MemTy::F32 | MemTy::F64 => {
                self.fb.ins().store(FLAGS, x, at, 0);
            }
        }
    }

    /// A vector of 16 bytes, as integers: comparisons of floats would have the load as an operand, which without AVX must be aligned, and Cranelift 0.135
    /// does not look at that.
    fn load_vector(&mut self, vector: ir::Type, at: ir::Value, offset: i32) -> ir::Value {
        let bits = self.fb.ins().load(types::I8X16, FLAGS, at, offset);
        bitcast(self.fb, vector, bits)
    }

    /// Four consecutive elements.
    fn load_four(&mut self, mem: MemTy, at: ir::Value) -> Rep {
        let vector = vector_type(mem.lane());
        match mem {
            MemTy::I32 | MemTy::F32 => Rep::X4(self.load_vector(vector, at, 0)),
            MemTy::I64 | MemTy::F64 => Rep::X2([
                self.load_vector(vector, at, 0),
                self.load_vector(vector, at, 16),
            ]),
            MemTy::Bool | MemTy::I8 | MemTy::U8 => {
                let word = self.fb.ins().load(types::I32, FLAGS, at, 0);
                let v = self.fb.ins().scalar_to_vector(types::I32X4, word);
                let v = bitcast(self.fb, types::I8X16, v);
                if mem == MemTy::I8 {
                    let v = self.fb.ins().swiden_low(v);
                    return Rep::X4(self.fb.ins().swiden_low(v));
                }
                let v = self.fb.ins().uwiden_low(v);
                let v = self.fb.ins().uwiden_low(v);
                if mem == MemTy::U8 {
                    return Rep::X4(v);
                }
                let zero = int_like(self.fb, types::I32X4, 0);
                Rep::X4(self.fb.ins().icmp(IntCC::NotEqual, v, zero))
            }
            MemTy::I16 | MemTy::U16 | MemTy::F16 | MemTy::Bf16 => {
                let word = self.fb.ins().load(types::I64, FLAGS, at, 0);
                let v = self.fb.ins().scalar_to_vector(types::I64X2, word);
                let v = bitcast(self.fb, types::I16X8, v);
                Rep::X4(match mem {
                    MemTy::I16 => self.fb.ins().swiden_low(v),
                    MemTy::U16 => self.fb.ins().uwiden_low(v),
                    MemTy::F16 => {
                        let v = self.fb.ins().uwiden_low(v);
                        float16::from_f16(self.fb, v)
                    }
                    _ => {
                        let v = self.fb.ins().uwiden_low(v);
                        float16::from_bf16(self.fb, v)
                    }
                })
            }
        }
    }

    fn store_four(&mut self, mem: MemTy, at: ir::Value, value: &Rep) {
        let v = value.registers()[0];
        match mem {
            MemTy::I32 | MemTy::F32 => {
                self.fb.ins().store(FLAGS, v, at, 0);
            }
            MemTy::I64 | MemTy::F64 => {
                for (k, &v) in value.registers().iter().enumerate() {
                    self.fb.ins().store(FLAGS, v, at, narrow::<_, i32>(16 * k));
                }
            }
            MemTy::Bool => {
                let like = Rep::X4(v);
                let mask = self.mask_like(value, &like);
                let bits = self.fb.ins().ushr_imm_u(mask.one(), 31);
                self.store_bytes(bits, at);
            }
            MemTy::I8 | MemTy::U8 => self.store_bytes(v, at),
            MemTy::I16 | MemTy::U16 => self.store_words(v, at),
            MemTy::F16 => {
                let bits = float16::to_f16(self.fb, v);
                self.store_words(bits, at);
            }
            MemTy::Bf16 => {
                let bits = float16::to_bf16(self.fb, v);
                self.store_words(bits, at);
            }
        }
    }

    /// The low byte of each lane.
    fn store_bytes(&mut self, v: ir::Value, at: ir::Value) {
        let packed = shuffle(
            self.fb,
            v,
            v,
            [0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12],
            types::I32X4,
        );
        let word = self.fb.ins().extractlane(packed, 0);
        self.fb.ins().store(FLAGS, word, at, 0);
    }

    /// The low two bytes of each lane.
    fn store_words(&mut self, v: ir::Value, at: ir::Value) {
        let packed = shuffle(
            self.fb,
            v,
            v,
            [0, 1, 4, 5, 8, 9, 12, 13, 0, 1, 4, 5, 8, 9, 12, 13],
            types::I64X2,
        );
        let word = self.fb.ins().extractlane(packed, 0);
        self.fb.ins().store(FLAGS, word, at, 0);
    }
}

/// Loads one number, as lanes have it.
pub(in crate::codegen) fn load_one(
    fb: &mut FunctionBuilder<'_>,
    mem: MemTy,
    at: ir::Value,
) -> ir::Value {
    let ins = fb.ins();
    match mem {
        MemTy::Bool => {
            let byte = ins.load(types::I8, FLAGS, at, 0);
            fb.ins().icmp_imm_u(IntCC::NotEqual, byte, 0)
        }
        MemTy::I8 => ins.sload8(types::I32, FLAGS, at, 0),
        MemTy::U8 => ins.uload8(types::I32, FLAGS, at, 0),
        MemTy::I16 => ins.sload16(types::I32, FLAGS, at, 0),
        MemTy::U16 => ins.uload16(types::I32, FLAGS, at, 0),
        MemTy::F16 => {
            let bits = ins.uload16(types::I32, FLAGS, at, 0);
            float16::from_f16(fb, bits)
        }
        MemTy::Bf16 => {
            let bits = ins.uload16(types::I32, FLAGS, at, 0);
            float16::from_bf16(fb, bits)
        }
        MemTy::I32 | MemTy::I64 | MemTy::F32 | MemTy::F64 => {
            ins.load(scalar_type(mem.lane()), FLAGS, at, 0)
        }
    }
}

/// What a load would give of a number that is stored.
fn stored(fb: &mut FunctionBuilder<'_>, mem: MemTy, x: ir::Value) -> ir::Value {
    let narrow = match mem {
        MemTy::I8 | MemTy::U8 => fb.ins().ireduce(types::I8, x),
        MemTy::I16 | MemTy::U16 => fb.ins().ireduce(types::I16, x),
        MemTy::Bool => return fb.ins().icmp_imm_u(IntCC::NotEqual, x, 0),
        MemTy::I32 | MemTy::I64 | MemTy::F32 | MemTy::F64 => return x,
        MemTy::F16 | MemTy::Bf16 => unreachable!("there are no cells of 16-bit floats"),
    };
    match mem {
        MemTy::I8 | MemTy::I16 => fb.ins().sextend(types::I32, narrow),
        _ => fb.ins().uextend(types::I32, narrow),
    }
}

/// Whether code can have numbers of a type at hand: a 16-bit float takes longer to convert than to load.
pub(in crate::codegen) fn has_cells(mem: MemTy) -> bool {
    !matches!(mem, MemTy::F16 | MemTy::Bf16)
}

/// Where the address of a lane is from its pointer on, in a nest whose loops have one turn each; if that is known.
pub(in crate::codegen) fn offset_of_lane(addr: &Addr, lane: usize) -> Option<i64> {
    let mut terms = addr.terms.iter();
    let known = terms.all(|(index, _)| matches!(index, Index::Outer(_)));
    let step = match addr.lane {
        LaneStep::Uniform => 0,
        LaneStep::Stride(step) => step,
        LaneStep::Gather(..) => return None,
    };
    known.then_some(addr.offset + narrow::<_, i64>(lane) * step)
}
