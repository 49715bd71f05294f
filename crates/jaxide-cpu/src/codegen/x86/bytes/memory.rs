//! Loads and stores of bytes that follow each other.

use super::*;
use crate::codegen::x86::few;
use crate::codegen::x86::memory::PAGE;
use crate::codegen::x86::table::*;
use crate::codegen::x86::target::{Memory, Operations};
use crate::lanes::{BinOp, MemTy};
use crate::narrow;
use iced_x86::Register::{self, RAX, RDX};

impl<const EVEX: bool> Memory for Bytes<EVEX> {
    fn masks_small_elements(&self) -> bool {
        true
    }

    fn broadcast(&self, asm: &mut Asm, mem: MemTy, dst: Reg, from: Mem) {
        let raw = self.register(asm);
        self.on(asm, &VPBROADCASTB, raw, &[Operand::Mem(from)]);
        self.raw_to_lane(asm, mem, dst, raw);
    }

    fn load(&self, asm: &mut Asm, mem: MemTy, dst: Reg, from: Mem, exec: Option<Reg>) {
        let to = if mem == MemTy::Bool {
            self.register(asm)
        } else {
            dst
        };
        match exec {
            Some(exec) if EVEX => {
                let mask = Some((self.bits(asm, exec), true));
                let op = Op::new(Self::whole(&VMOVDQU8), Some(to), &[Operand::Mem(from)]);
                asm.op(Op { mask, ..op });
            }
            Some(_) => self.load_last(asm, to, from),
            None => self.on(asm, &VMOVUPS, to, &[Operand::Mem(from)]),
        }
        if mem == MemTy::Bool {
            self.is_true(asm, dst, to);
        }
    }

    fn store(&self, asm: &mut Asm, mem: MemTy, to: Mem, v: Reg, exec: Option<Reg>) {
        let v = self.lane_to_raw(asm, mem, v);
        match exec {
            Some(exec) if EVEX => {
                let mask = Some((self.bits(asm, exec), false));
                let code = Self::whole(&VMOVDQU8_STORE);
                asm.op(Op {
                    mask,
                    rm: None,
                    ..Op::new(code, None, &[Operand::Mem(to), Operand::Reg(v)])
                });
            }
            Some(_) => self.store_last(asm, to, v),
            None => write(asm, Self::whole(&VMOVUPS_STORE), to, v, None),
        }
    }

    fn load_few(&self, asm: &mut Asm, mem: MemTy, dst: Reg, from: Mem, count: i64) -> bool {
        let to = if mem == MemTy::Bool {
            self.register(asm)
        } else {
            dst
        };
        if !few::load_bytes(asm, EVEX, to, from, count) {
            return false;
        }
        if mem == MemTy::Bool {
            self.is_true(asm, dst, to);
        }
        true
    }

    fn store_few(&self, asm: &mut Asm, mem: MemTy, to: Mem, v: Reg, count: i64) {
        let v = self.lane_to_raw(asm, mem, v);
        few::store_bytes(asm, EVEX, to, (v, self.width(Ty::I32)), count);
    }

    fn raw_to_lane(&self, asm: &mut Asm, mem: MemTy, dst: Reg, raw: Reg) {
        if mem == MemTy::Bool {
            self.is_true(asm, dst, raw);
        } else {
            asm.put(dst, raw);
        }
    }

    fn lane_to_raw(&self, asm: &mut Asm, mem: MemTy, v: Reg) -> Reg {
        if mem != MemTy::Bool {
            return v;
        }
        let one = self.splat(asm, Ty::I32, 1);
        let raw = self.register(asm);
        self.bin(asm, BinOp::And, Ty::I32, raw, v, one);
        raw
    }

    fn gather(&self, _: &mut Asm, _: Ty, _: Reg, _: Mem, _: Ty, _: Option<Reg>) {
        never("gather")
    }

    fn scatter(&self, _: &mut Asm, _: Ty, _: Mem, _: Reg, _: Ty, _: Option<Reg>) -> bool {
        never("scatter")
    }

    fn accumulator_bits(&self, _: Ty) -> i32 {
        8
    }

    fn load_accumulator(&self, asm: &mut Asm, _: Ty, dst: Reg, from: Mem) {
        self.on(asm, &VMOVUPS, dst, &[Operand::Mem(from)]);
    }

    fn store_accumulator(&self, asm: &mut Asm, _: Ty, to: Mem, v: Reg) {
        write(asm, Self::whole(&VMOVUPS_STORE), to, v, None);
    }
}

/// Where VEX has no masks for bytes: the lanes that are left are the first ones of a register.
impl<const EVEX: bool> Bytes<EVEX> {
    /// Loads the bytes of the lanes that are left: with those behind them where they are in the same page, and else one by one.
    fn load_last(&self, asm: &mut Asm, dst: Reg, from: Mem) {
        let (apart, end) = (asm.label(), asm.label());
        let size = self.width(Ty::I32).bytes();
        asm.int(Code::Lea_r64_m, &[Int::Gpr(RAX), Int::Mem(from)]);
        asm.int(Code::Mov_r64_rm64, &[Int::Gpr(RDX), Int::Gpr(RAX)]);
        asm.int(Code::And_rm64_imm32, &[Int::Gpr(RDX), Int::Imm(PAGE - 1)]);
        let last = Int::Imm(PAGE - i64::from(size));
        asm.int(Code::Cmp_rm64_imm32, &[Int::Gpr(RDX), last]);
        asm.push(Lir::Branch(Cond::Greater, apart));
        self.on(asm, &VMOVUPS, dst, &[Operand::Mem(Mem::gpr(RAX, 0))]);
        asm.push(Lir::Jump(end));

        asm.push(Lir::Label(apart));
        let frequency = asm.current_frequency;
        asm.current_frequency *= 0.01;
        let bytes = asm.buffer(size);
        self.left(asm);
        let (enough, next) = (asm.label(), asm.label());
        asm.int(
            Code::Cmp_rm64_imm32,
            &[Int::Gpr(RDX), Int::Imm(size.into())],
        );
        asm.push(Lir::Branch(Cond::LessEqual, enough));
        asm.int(Code::Mov_r64_imm64, &[Int::Gpr(RDX), Int::Imm(size.into())]);
        asm.push(Lir::Label(enough));
        asm.push(Lir::Label(next));
        let index = Index::Gpr(RDX);
        let byte = Mem::gpr(RAX, -1).indexed(index, 1);
        asm.int(
            Code::Movzx_r32_rm8,
            &[Int::Gpr(Register::R10D), Int::Mem(byte)],
        );
        let to = Mem::frame(bytes - 1).indexed(index, 1);
        asm.int(Code::Mov_rm8_r8, &[Int::Mem(to), Int::Gpr(Register::R10L)]);
        asm.int(Code::Sub_rm64_imm32, &[Int::Gpr(RDX), Int::Imm(1)]);
        asm.push(Lir::Branch(Cond::NotEqual, next));
        self.on(asm, &VMOVUPS, dst, &[Operand::Mem(Mem::frame(bytes))]);
        asm.current_frequency = frequency;
        asm.push(Lir::Label(end));
    }

    /// Stores the bytes of the lanes that are left: all, or as many at a time as each bit of their number says.
    fn store_last(&self, asm: &mut Asm, to: Mem, v: Reg) {
        let (some, end) = (asm.label(), asm.label());
        let size = self.width(Ty::I32).bytes();
        // The address may be in rdx.
        asm.int(Code::Lea_r64_m, &[Int::Gpr(RAX), Int::Mem(to)]);
        self.left(asm);
        asm.int(
            Code::Cmp_rm64_imm32,
            &[Int::Gpr(RDX), Int::Imm(size.into())],
        );
        asm.push(Lir::Branch(Cond::Less, some));
        let first = Mem::gpr(RAX, 0);
        write(asm, Self::whole(&VMOVUPS_STORE), first, v, None);
        asm.push(Lir::Jump(end));
        asm.push(Lir::Label(some));
        let v128 = |row: &Row| row.form(false, Width::V128);
        let rest = asm.reg(Class::Vector(Width::V128));
        asm.op(Op {
            rm: None,
            ..Op::new(v128(&VMOVUPS), Some(rest), &[Operand::As(v, Width::V128)])
        });
        let codes = [
            (16, v128(&VMOVUPS_STORE), None),
            (8, v128(&VMOVQ_STORE), None),
            (4, v128(&VMOVD_STORE), None),
            (2, v128(&VPEXTRW_STORE), Some(0)),
            (1, v128(&VPEXTRB_STORE), Some(0)),
        ];
        for (count, code, element) in codes {
            let next = asm.label();
            asm.int(Code::Test_rm64_imm32, &[Int::Gpr(RDX), Int::Imm(count)]);
            asm.push(Lir::Branch(Cond::Equal, next));
            write(asm, code, Mem::gpr(RAX, 0), rest, element);
            if count > 1 {
                asm.int(Code::Add_rm64_imm32, &[Int::Gpr(RAX), Int::Imm(count)]);
                let (code, operands) = if count == 16 {
                    let high = VEXTRACTI128.form(false, Width::V256);
                    (high, [Operand::Reg(v), Imm(1)])
                } else {
                    (v128(&VPSRLDQ), [Operand::Reg(rest), Imm(narrow(count))])
                };
                asm.op(Op {
                    rm: None,
                    ..Op::new(code, Some(rest), &operands)
                });
            }
            asm.push(Lir::Label(next));
        }
        asm.push(Lir::Label(end));
    }

    /// How many lanes are left, in rdx.
    fn left(&self, asm: &mut Asm) {
        asm.int(Code::Mov_r64_rm64, &[Int::Gpr(RDX), Int::Var(END)]);
        asm.int(Code::Sub_r64_rm64, &[Int::Gpr(RDX), Int::Var(LANE)]);
    }
}

/// Stores a register, or an element of it.
fn write(asm: &mut Asm, code: Code, to: Mem, v: Reg, element: Option<u8>) {
    let mut operands = vec![Operand::Mem(to), Operand::Reg(v)];
    operands.extend(element.map(Imm));
    asm.op(Op {
        rm: None,
        ..Op::new(code, None, &operands)
    });
}
