//! Operands, and instructions as bytes.

use super::*;
use iced_x86::{Instruction, OpKind};

impl Encode<'_> {
    pub(super) fn int(&mut self, operand: Int) -> Result<Resolved, CompileError> {
        Ok(match operand {
            Int::Gpr(r) => Resolved::Register(r),
            Int::Imm(i) => Resolved::Imm(i),
            Int::Var(v) => match self.vars[v.0 as usize] {
                VarPlace::Gpr(r) => Resolved::Register(r),
                VarPlace::Frame(at) => Resolved::Memory(self.frame(at)),
            },
            Int::Mem(m) => {
                let mut scratch = Scratch::new(self.allocation);
                Resolved::Memory(self.address(&m, &mut scratch)?)
            }
        })
    }

    pub(super) fn address(
        &mut self,
        m: &Mem,
        scratch: &mut Scratch,
    ) -> Result<Address, CompileError> {
        let base = match m.base {
            Base::Frame => Register::RSP,
            Base::Pool => Register::RIP,
            Base::Gpr(r) => r,
            Base::Var(v) => self.bring(v, Register::R11)?,
        };
        let index = match m.index {
            Index::None => Register::None,
            Index::Gpr(r) => r,
            Index::Var(v) => self.bring(v, Register::R10)?,
            Index::Vector(r) => {
                let class = self.class(r);
                match self.allocation.places[r.index()] {
                    Place::Machine(n) => self.machine(class, n),
                    _ => {
                        let n = scratch.take(class);
                        self.load_home(r, n)?;
                        self.machine(class, n)
                    }
                }
            }
        };
        Ok(Address {
            base,
            index,
            scale: m.scale,
            displacement: i64::from(m.disp),
            broadcast: false,
        })
    }

    /// A variable in a register.
    pub(super) fn bring(&mut self, v: Var, scratch: Register) -> Result<Register, CompileError> {
        match self.vars[v.0 as usize] {
            VarPlace::Gpr(r) => Ok(r),
            VarPlace::Frame(at) => {
                let from = self.frame(at);
                self.emit(
                    Code::Mov_r64_rm64,
                    &[Resolved::Register(scratch), Resolved::Memory(from)],
                    None,
                )?;
                Ok(scratch)
            }
        }
    }

    pub(super) fn gpr(&mut self, code: Code, registers: &[Register]) -> Encoded {
        let operands: Vec<Resolved> = registers.iter().map(|&r| Resolved::Register(r)).collect();
        self.emit(code, &operands, None)
    }

    pub(super) fn emit(
        &mut self,
        code: Code,
        operands: &[Resolved],
        mask: Option<(Register, bool)>,
    ) -> Encoded {
        let mut i = Instruction::default();
        i.set_code(code);
        for (k, o) in operands.iter().enumerate() {
            let k: u32 = narrow(k);
            match *o {
                Resolved::Register(r) => {
                    i.set_op_kind(k, OpKind::Register);
                    i.set_op_register(k, r);
                }
                Resolved::Memory(a) => {
                    i.set_op_kind(k, OpKind::Memory);
                    i.set_memory_base(a.base);
                    i.set_memory_index(a.index);
                    i.set_memory_index_scale(a.scale);
                    i.set_memory_displacement64(a.displacement as u64);
                    i.set_memory_displ_size(match (a.base, a.displacement) {
                        (Register::RIP, _) => 8,
                        (_, 0) => 0,
                        _ => 1,
                    });
                    i.set_is_broadcast(a.broadcast);
                }
                Resolved::Imm(x) => set_immediate(&mut i, k, x),
            }
        }
        if let Some((k, zeroing)) = mask {
            i.set_op_mask(k);
            i.set_zeroing_masking(zeroing);
        }
        let start = self.length;
        self.length += self.encoder.encode(&i, start as u64)?;
        if i.is_ip_rel_memory_operand() {
            let offsets = self.encoder.get_constant_offsets();
            self.constants.push(start + offsets.displacement_offset());
        }
        Ok(())
    }

    pub(super) fn byte(&mut self, b: u8) {
        self.encoder.write_u8(b);
        self.length += 1;
    }

    pub(super) fn jump(&mut self, label: Label) -> Encoded {
        self.jumps.push((self.length, label));
        (0..4).for_each(|_| self.byte(0));
        Ok(())
    }
}

fn set_immediate(i: &mut Instruction, k: u32, x: i64) {
    use Code::*;
    match i.code() {
        Mov_r64_imm64 => {
            i.set_op_kind(k, OpKind::Immediate64);
            i.set_immediate64(x as u64);
        }
        And_rm64_imm8 | Or_rm64_imm8 => {
            i.set_op_kind(k, OpKind::Immediate8to64);
            i.set_immediate8to64(x);
        }
        And_rm32_imm8 | Sub_rm32_imm8 | Add_rm32_imm8 | Cmp_rm32_imm8 => {
            i.set_op_kind(k, OpKind::Immediate8to32);
            i.set_immediate8to32(narrow(x));
        }
        Mov_r32_imm32 => {
            i.set_op_kind(k, OpKind::Immediate32);
            i.set_immediate32(narrow(x));
        }
        Add_rm64_imm32 | Sub_rm64_imm32 | Cmp_rm64_imm32 | Imul_r64_rm64_imm32 | And_rm64_imm32
        | Mov_rm64_imm32 | Test_rm64_imm32 => {
            i.set_op_kind(k, OpKind::Immediate32to64);
            i.set_immediate32to64(x);
        }
        _ => {
            i.set_op_kind(k, OpKind::Immediate8);
            i.set_immediate8(narrow(x));
        }
    }
}
