//! Allocated instructions as bytes.

mod home;
mod moves;
mod write;

use super::alloc::{Allocation, Place};
use super::lir::*;
use crate::codegen::error::CompileError;
use crate::narrow;
use iced_x86::{Code, Encoder, Register};

/// The function and behind it its constants, at a multiple of 64.
pub(super) struct Image {
    pub(super) bytes: Vec<u8>,
    /// Bytes before the constants.
    pub(super) instructions: usize,
    /// Bytes of stack that a call takes.
    pub(super) stack: usize,
}

/// Registers that variables may live in, beside those of [`LANE`] and [`END`]. Free for the program to use between instructions are
/// rax and rdx; r10 and r11 bring in variables that live in the frame.
const VARIABLES: [Register; 8] = [
    Register::R9,
    Register::RDI,
    Register::RSI,
    Register::RBX,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];

/// Saved by the callee, in this order below rbp.
const SAVED: [Register; 5] = [
    Register::RBX,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];

/// Encodes a program. `evex` tells whether the machine has the EVEX forms.
pub(super) fn encode(
    asm: &Asm,
    allocation: &Allocation,
    evex: bool,
) -> Result<Image, CompileError> {
    let mut order: Vec<usize> = (2..asm.vars.len()).collect();
    order.sort_by(|&a, &b| asm.vars[b].total_cmp(&asm.vars[a]));
    let mut vars = vec![VarPlace::Gpr(Register::RCX), VarPlace::Gpr(Register::R8)];
    vars.resize(asm.vars.len(), VarPlace::Frame(0));
    let mut frame = (allocation.frame + 7) & !7;
    for (k, &v) in order.iter().enumerate() {
        vars[v] = match VARIABLES.get(k) {
            Some(&r) => VarPlace::Gpr(r),
            None => {
                frame += 8;
                VarPlace::Frame(frame - 8)
            }
        };
    }
    // A place to break cycles of moves.
    let swap = (frame + 63) & !63;
    let mut e = Encode {
        asm,
        allocation,
        evex,
        encoder: Encoder::new(64),
        length: 0,
        constants: Vec::new(),
        vars,
        swap,
        labels: vec![None; asm.labels as usize],
        jumps: Vec::new(),
    };
    let frame = (swap + 64 + 63) & !63;
    e.enter(frame)?;
    e.load_constants()?;
    for lir in &asm.code {
        e.lir(lir)?;
    }
    e.leave()?;
    let mut code = e.encoder.take_buffer();
    for (at, label) in e.jumps {
        let target = e.labels[label.0 as usize].expect("every label has a place");
        let distance = narrow::<_, i32>(target) - narrow::<_, i32>(at + 4);
        code[at..at + 4].copy_from_slice(&distance.to_le_bytes());
    }
    let instructions = code.len();
    let pool = instructions.next_multiple_of(64);
    for at in e.constants {
        let place: [u8; 4] = std::array::from_fn(|k| code[at + k]);
        let moved = i32::from_le_bytes(place).wrapping_add(narrow(pool));
        code[at..at + 4].copy_from_slice(&moved.to_le_bytes());
    }
    if !asm.pool.bytes.is_empty() {
        code.resize(pool, 0);
        code.extend_from_slice(&asm.pool.bytes);
    }
    Ok(Image {
        bytes: code,
        instructions,
        // Beside the frame: the return address, what is saved, and what alignment takes.
        stack: frame as usize + 8 * (2 + SAVED.len()) + 64,
    })
}

#[derive(Clone, Copy)]
enum VarPlace {
    Gpr(Register),
    Frame(i32),
}

/// A memory operand of the encoder.
#[derive(Clone, Copy)]
struct Address {
    base: Register,
    index: Register,
    scale: u32,
    displacement: i64,
    broadcast: bool,
}

#[derive(Clone, Copy)]
enum Resolved {
    Register(Register),
    Memory(Address),
    Imm(i64),
}

struct Encode<'a> {
    asm: &'a Asm,
    allocation: &'a Allocation,
    evex: bool,
    encoder: Encoder,
    length: usize,
    /// Where distances to constants stand, as if these began where the code does.
    constants: Vec<usize>,
    vars: Vec<VarPlace>,
    swap: i32,
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, Label)>,
}

type Encoded = Result<(), CompileError>;

impl Encode<'_> {
    fn enter(&mut self, frame: i32) -> Encoded {
        use Register::{RBP, RSP};
        self.gpr(Code::Push_r64, &[RBP])?;
        self.gpr(Code::Mov_r64_rm64, &[RBP, RSP])?;
        for r in SAVED {
            self.gpr(Code::Push_r64, &[r])?;
        }
        self.emit(
            Code::And_rm64_imm8,
            &[Resolved::Register(RSP), Resolved::Imm(-64)],
            None,
        )?;
        // A large frame is touched page by page, so that the guard page is not jumped over.
        for page in 1..=frame / 4096 {
            let at = Address {
                base: RSP,
                index: Register::None,
                scale: 1,
                displacement: -4096 * i64::from(page),
                broadcast: false,
            };
            self.emit(
                Code::Or_rm64_imm8,
                &[Resolved::Memory(at), Resolved::Imm(0)],
                None,
            )?;
        }
        self.emit(
            Code::Sub_rm64_imm32,
            &[Resolved::Register(RSP), Resolved::Imm(i64::from(frame))],
            None,
        )
    }

    fn leave(&mut self) -> Encoded {
        use Register::{RBP, RSP};
        self.emit(Code::VEX_Vzeroupper, &[], None)?;
        let at = Address {
            base: RBP,
            index: Register::None,
            scale: 1,
            displacement: -8 * SAVED.len() as i64,
            broadcast: false,
        };
        self.emit(
            Code::Lea_r64_m,
            &[Resolved::Register(RSP), Resolved::Memory(at)],
            None,
        )?;
        for r in SAVED.into_iter().rev() {
            self.gpr(Code::Pop_r64, &[r])?;
        }
        self.gpr(Code::Pop_r64, &[RBP])?;
        self.emit(Code::Retnq, &[], None)
    }

    /// Loads the constants that live in registers.
    fn load_constants(&mut self) -> Encoded {
        for (k, data) in self.asm.regs.iter().enumerate() {
            if let (Place::Machine(m), true) = (self.allocation.places[k], data.home != Home::Slot)
            {
                self.load_home(Reg(narrow(k)), m)?;
            }
        }
        Ok(())
    }

    fn lir(&mut self, lir: &Lir) -> Encoded {
        match lir {
            Lir::Op(op) => self.op(op),
            Lir::Fma {
                codes,
                dst,
                a,
                b,
                c,
            } => self.fma(codes, *dst, *a, *b, *c),
            Lir::Move { dst, src } => self.move_one(*dst, *src),
            Lir::ParallelMove(pairs) => self.move_all(pairs),
            Lir::Int { code, operands } => {
                let operands: Vec<Resolved> = operands
                    .iter()
                    .flatten()
                    .map(|o| self.int(*o))
                    .collect::<Result<_, _>>()?;
                self.emit(*code, &operands, None)
            }
            Lir::Label(label) => {
                self.labels[label.0 as usize] = Some(self.length);
                Ok(())
            }
            Lir::Jump(label) => {
                self.byte(0xe9);
                self.jump(*label)
            }
            Lir::Branch(cond, label) => {
                self.byte(0x0f);
                self.byte(match cond {
                    Cond::Equal => 0x84,
                    Cond::NotEqual => 0x85,
                    Cond::Less => 0x8c,
                    Cond::LessEqual => 0x8e,
                    Cond::GreaterEqual => 0x8d,
                    Cond::Greater => 0x8f,
                    Cond::AboveEqual => 0x83,
                });
                self.jump(*label)
            }
        }
    }

    fn op(&mut self, op: &Op) -> Encoded {
        let mut scratch = Scratch::new(self.allocation);
        // The destination first, so that a tied one is not taken for an operand.
        let dst = match op.dst {
            None => None,
            Some(d) => Some(match self.allocation.places[d.index()] {
                Place::Machine(m) => (m, None),
                Place::Memory(_) => {
                    let m = scratch.take(self.class(d));
                    if op.tied {
                        self.load_home(d, m)?;
                    }
                    (m, Some(d))
                }
                Place::Nowhere => unreachable!("a written register has a place"),
            }),
        };
        // An operand may be brought into the register that the result goes to.
        let mut spare = dst
            .filter(|d| d.1.is_some() && !op.tied && !op.late)
            .map(|d| d.0);
        let mut operands = Vec::new();
        if let (Some((m, _)), Some(d)) = (dst, op.dst) {
            let class = op.short.map_or(self.class(d), Class::Vector);
            operands.push(Resolved::Register(self.machine(class, m)));
        }
        for (k, o) in op.operands.iter().flatten().enumerate() {
            let resolved = match *o {
                Operand::Imm(i) => Resolved::Imm(i64::from(i)),
                Operand::Gpr(r) => Resolved::Register(r),
                Operand::Mem(m) => Resolved::Memory(self.address(&m, &mut scratch)?),
                Operand::Reg(r) | Operand::As(r, _) => {
                    let class = match *o {
                        Operand::As(_, w) => Class::Vector(w),
                        _ => self.class(r),
                    };
                    match self.allocation.places[r.index()] {
                        Place::Machine(m) => Resolved::Register(self.machine(class, m)),
                        Place::Memory(_) => match self
                            .direct(r, op.broadcast)
                            .filter(|_| op.rm == Some(narrow(k)))
                        {
                            Some(address) => Resolved::Memory(address),
                            None => {
                                let own = op.dst.is_some_and(|d| same_file(self.class(d), class));
                                let m = match spare.take().filter(|_| own) {
                                    Some(m) => m,
                                    None => scratch.take(class),
                                };
                                self.load_home(r, m)?;
                                Resolved::Register(self.machine(class, m))
                            }
                        },
                        Place::Nowhere => unreachable!("a read register has a place"),
                    }
                }
            };
            operands.push(resolved);
        }
        let mask = match op.mask {
            None => None,
            Some((k, zeroing)) => {
                let m = match self.allocation.places[k.index()] {
                    Place::Machine(m) => m,
                    _ => {
                        self.load_home(k, self.allocation.mask_scratch)?;
                        self.allocation.mask_scratch
                    }
                };
                Some((Register::K0 + u32::from(m), zeroing))
            }
        };
        self.emit(op.code, &operands, mask)?;
        match dst {
            Some((m, Some(d))) => self.store_home(d, m),
            _ => Ok(()),
        }
    }

    /// The form of a fused multiply-add that fits where its operands are.
    fn fma(&mut self, codes: &FmaCodes, dst: Reg, a: Reg, b: Reg, c: Reg) -> Encoded {
        let mut scratch = Scratch::new(self.allocation);
        let place = |s: &Self, r: Reg| match s.allocation.places[r.index()] {
            Place::Machine(m) => Some(m),
            _ => None,
        };
        let class = self.class(dst);
        let (d, spilled) = match place(self, dst) {
            Some(m) => (m, false),
            None => (scratch.take(class), true),
        };
        let (pa, pb, pc) = (place(self, a), place(self, b), place(self, c));
        // One of the operands is in the result's register already, or is brought there.
        let (code, second, third) = if pc == Some(d) {
            if pa.is_some() {
                (codes.f231, a, b)
            } else {
                (codes.f231, b, a)
            }
        } else if pa == Some(d) {
            if pb.is_some() {
                (codes.f213, b, c)
            } else {
                (codes.f132, c, b)
            }
        } else if pb == Some(d) {
            if pa.is_some() {
                (codes.f213, a, c)
            } else {
                (codes.f132, c, a)
            }
        } else {
            match pc {
                Some(m) => self.copy(class, d, m)?,
                None => self.load_home(c, d)?,
            }
            if pa.is_some() {
                (codes.f231, a, b)
            } else {
                (codes.f231, b, a)
            }
        };
        let second = match place(self, second) {
            Some(m) => m,
            None => {
                let m = scratch.take(class);
                self.load_home(second, m)?;
                m
            }
        };
        let third = match place(self, third) {
            Some(m) => Resolved::Register(self.machine(class, m)),
            None => match self.direct(third, codes.broadcast) {
                Some(address) => Resolved::Memory(address),
                None => {
                    let m = scratch.take(class);
                    self.load_home(third, m)?;
                    Resolved::Register(self.machine(class, m))
                }
            },
        };
        let (d_reg, second) = (self.machine(class, d), self.machine(class, second));
        self.emit(
            code,
            &[Resolved::Register(d_reg), Resolved::Register(second), third],
            None,
        )?;
        if spilled {
            self.store_home(dst, d)
        } else {
            Ok(())
        }
    }

    fn class(&self, r: Reg) -> Class {
        self.asm.regs[r.index()].class
    }

    fn machine(&self, class: Class, number: u8) -> Register {
        let first = match class {
            Class::Vector(Width::V128) => Register::XMM0,
            Class::Vector(Width::V256) => Register::YMM0,
            Class::Vector(Width::V512) => Register::ZMM0,
            Class::Mask => Register::K0,
        };
        first + u32::from(number)
    }
}

/// Machine registers for operands in memory, each once per instruction.
struct Scratch {
    vectors: Option<[u8; 3]>,
    taken: usize,
    masks: [u8; 2],
    masks_taken: usize,
}

impl Scratch {
    fn new(allocation: &Allocation) -> Scratch {
        Scratch {
            vectors: allocation.vector_scratch,
            taken: 0,
            masks: [0, allocation.mask_scratch],
            masks_taken: 0,
        }
    }

    fn take(&mut self, class: Class) -> u8 {
        if class == Class::Mask {
            self.masks_taken += 1;
            return self.masks[self.masks_taken - 1];
        }
        self.taken += 1;
        self.vectors
            .expect("registers are set aside where any is in memory")[self.taken - 1]
    }
}

fn same_file(a: Class, b: Class) -> bool {
    (a == Class::Mask) == (b == Class::Mask)
}
