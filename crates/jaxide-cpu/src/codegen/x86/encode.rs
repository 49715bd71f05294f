//! Allocated instructions as bytes.

use super::alloc::{Allocation, Place};
use super::lir::*;
use crate::narrow;
use iced_x86::{Code, Encoder, IcedError, Instruction, OpKind, Register};

/// The function and behind it its constants, at a multiple of 64.
pub(crate) struct Image {
    pub(crate) bytes: Vec<u8>,
    /// Bytes before the constants.
    pub(crate) instructions: usize,
    /// Bytes of stack that a call takes.
    pub(crate) stack: usize,
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
pub(super) fn encode(asm: &Asm, allocation: &Allocation, evex: bool) -> Result<Image, IcedError> {
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

type Encoded = Result<(), IcedError>;

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
            operands.push(Resolved::Register(self.machine(self.class(d), m)));
        }
        for (k, o) in op.operands.iter().flatten().enumerate() {
            let resolved = match *o {
                Operand::Imm(i) => Resolved::Imm(i64::from(i)),
                Operand::Gpr(r) => Resolved::Register(r),
                Operand::Mem(m) => Resolved::Memory(self.address(&m, &mut scratch)?),
                Operand::Reg(r) | Operand::Part(r, _) => {
                    let class = match *o {
                        Operand::Part(_, w) => Class::Vector(w),
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

    fn move_one(&mut self, dst: Reg, src: Reg) -> Encoded {
        let class = self.class(dst);
        match (
            self.allocation.places[dst.index()],
            self.allocation.places[src.index()],
        ) {
            (Place::Machine(d), Place::Machine(s)) => self.copy(class, d, s),
            (Place::Machine(d), _) => self.load_home(src, d),
            (_, Place::Machine(s)) => self.store_home(dst, s),
            _ => {
                let m = Scratch::new(self.allocation).take(class);
                self.load_home(src, m)?;
                self.store_home(dst, m)
            }
        }
    }

    fn move_all(&mut self, pairs: &[(Reg, Reg)]) -> Encoded {
        let place = |s: &Self, r: Reg| {
            (
                s.allocation.places[r.index()],
                matches!(s.class(r), Class::Mask),
            )
        };
        // Constants in memory are never overwritten, so only equal places of the frame or of the machine matter.
        let same = |s: &Self, a: Reg, b: Reg| {
            place(s, a) == place(s, b) && s.asm.regs[b.index()].home == Home::Slot
        };
        let mut left: Vec<(Reg, Reg)> = pairs
            .iter()
            .copied()
            .filter(|&(d, s)| !same(self, d, s))
            .collect();
        while !left.is_empty() {
            // A move whose destination no other one still reads.
            let ready = left
                .iter()
                .position(|&(d, _)| left.iter().all(|&(_, s)| !same(self, d, s)));
            if let Some(k) = ready {
                let (d, s) = left.swap_remove(k);
                self.move_one(d, s)?;
                continue;
            }
            // Only cycles are left: put one aside.
            let (first, source) = left.swap_remove(0);
            let class = self.class(source);
            match self.allocation.places[source.index()] {
                Place::Machine(m) => self.frame_store(class, m, self.swap)?,
                _ => {
                    let m = Scratch::new(self.allocation).take(class);
                    self.load_home(source, m)?;
                    self.frame_store(class, m, self.swap)?;
                }
            }
            // The rest of the cycle, from the place that is now free.
            let mut free = source;
            while let Some(k) = left.iter().position(|&(d, _)| same(self, d, free)) {
                let (d, s) = left.swap_remove(k);
                self.move_one(d, s)?;
                free = s;
            }
            match self.allocation.places[first.index()] {
                Place::Machine(m) => self.frame_load(class, m, self.swap)?,
                _ => {
                    let m = Scratch::new(self.allocation).take(class);
                    self.frame_load(class, m, self.swap)?;
                    self.store_home(first, m)?;
                }
            }
        }
        Ok(())
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

    /// The home of a spilled register as an operand, if it can be one.
    fn direct(&self, r: Reg, broadcast: bool) -> Option<Address> {
        let data = self.asm.regs[r.index()];
        match (data.home, self.allocation.places[r.index()]) {
            (Home::Slot, Place::Memory(at)) => Some(self.frame(at)),
            (Home::Element { offset, .. }, _) if broadcast => Some(Address {
                broadcast: true,
                ..self.pool(offset)
            }),
            (Home::Vector { offset }, _) => Some(self.pool(offset)),
            _ => None,
        }
    }

    fn frame(&self, at: i32) -> Address {
        Address {
            base: Register::RSP,
            index: Register::None,
            scale: 1,
            displacement: i64::from(at),
            broadcast: false,
        }
    }

    fn pool(&self, offset: i32) -> Address {
        Address {
            base: Register::RIP,
            ..self.frame(offset)
        }
    }

    fn load_home(&mut self, r: Reg, m: u8) -> Encoded {
        let class = self.class(r);
        match (
            self.asm.regs[r.index()].home,
            self.allocation.places[r.index()],
        ) {
            (Home::Slot, Place::Memory(at)) => self.frame_load(class, m, at),
            (Home::Slot, _) => unreachable!("a register is loaded from its slot"),
            (Home::Vector { offset }, _) => {
                let from = self.pool(offset);
                self.emit(
                    self.load_code(class),
                    &[
                        Resolved::Register(self.machine(class, m)),
                        Resolved::Memory(from),
                    ],
                    None,
                )
            }
            (Home::Element { offset, bytes }, _) => {
                use Width::*;
                let Class::Vector(width) = class else {
                    unreachable!("masks are no elements")
                };
                let code = match (self.evex, bytes, width) {
                    (true, 8, V512) => Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64,
                    (true, 8, _) => Code::EVEX_Vbroadcastsd_ymm_k1z_xmmm64,
                    (true, _, V512) => Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32,
                    (true, _, V256) => Code::EVEX_Vbroadcastss_ymm_k1z_xmmm32,
                    (true, _, V128) => Code::EVEX_Vbroadcastss_xmm_k1z_xmmm32,
                    (false, 8, V256) => Code::VEX_Vbroadcastsd_ymm_m64,
                    (false, 8, _) => Code::VEX_Vmovddup_xmm_xmmm64,
                    (false, _, V256) => Code::VEX_Vbroadcastss_ymm_m32,
                    (false, _, _) => Code::VEX_Vbroadcastss_xmm_m32,
                };
                let from = self.pool(offset);
                self.emit(
                    code,
                    &[
                        Resolved::Register(self.machine(class, m)),
                        Resolved::Memory(from),
                    ],
                    None,
                )
            }
        }
    }

    fn store_home(&mut self, r: Reg, m: u8) -> Encoded {
        match self.allocation.places[r.index()] {
            Place::Memory(at) => self.frame_store(self.class(r), m, at),
            _ => unreachable!("only spilled registers are stored"),
        }
    }

    fn frame_load(&mut self, class: Class, m: u8, at: i32) -> Encoded {
        let (to, from) = (
            Resolved::Register(self.machine(class, m)),
            Resolved::Memory(self.frame(at)),
        );
        self.emit(self.load_code(class), &[to, from], None)
    }

    fn frame_store(&mut self, class: Class, m: u8, at: i32) -> Encoded {
        use Width::*;
        let code = match (class, self.evex) {
            (Class::Mask, _) => Code::VEX_Kmovq_m64_kr,
            (Class::Vector(V512), _) => Code::EVEX_Vmovups_zmmm512_k1z_zmm,
            (Class::Vector(V256), true) => Code::EVEX_Vmovups_ymmm256_k1z_ymm,
            (Class::Vector(V256), false) => Code::VEX_Vmovups_ymmm256_ymm,
            (Class::Vector(V128), true) => Code::EVEX_Vmovups_xmmm128_k1z_xmm,
            (Class::Vector(V128), false) => Code::VEX_Vmovups_xmmm128_xmm,
        };
        self.emit(
            code,
            &[
                Resolved::Memory(self.frame(at)),
                Resolved::Register(self.machine(class, m)),
            ],
            None,
        )
    }

    /// A full-width load, which also copies registers.
    fn load_code(&self, class: Class) -> Code {
        use Width::*;
        match (class, self.evex) {
            (Class::Mask, _) => Code::VEX_Kmovq_kr_km64,
            (Class::Vector(V512), _) => Code::EVEX_Vmovups_zmm_k1z_zmmm512,
            (Class::Vector(V256), true) => Code::EVEX_Vmovups_ymm_k1z_ymmm256,
            (Class::Vector(V256), false) => Code::VEX_Vmovups_ymm_ymmm256,
            (Class::Vector(V128), true) => Code::EVEX_Vmovups_xmm_k1z_xmmm128,
            (Class::Vector(V128), false) => Code::VEX_Vmovups_xmm_xmmm128,
        }
    }

    fn copy(&mut self, class: Class, to: u8, from: u8) -> Encoded {
        if to == from {
            return Ok(());
        }
        let operands = [self.machine(class, to), self.machine(class, from)].map(Resolved::Register);
        self.emit(self.load_code(class), &operands, None)
    }

    fn int(&mut self, operand: Int) -> Result<Resolved, IcedError> {
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

    fn address(&mut self, m: &Mem, scratch: &mut Scratch) -> Result<Address, IcedError> {
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
    fn bring(&mut self, v: Var, scratch: Register) -> Result<Register, IcedError> {
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

    fn gpr(&mut self, code: Code, registers: &[Register]) -> Encoded {
        let operands: Vec<Resolved> = registers.iter().map(|&r| Resolved::Register(r)).collect();
        self.emit(code, &operands, None)
    }

    fn emit(
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

    fn byte(&mut self, b: u8) {
        self.encoder.write_u8(b);
        self.length += 1;
    }

    fn jump(&mut self, label: Label) -> Encoded {
        self.jumps.push((self.length, label));
        (0..4).for_each(|_| self.byte(0));
        Ok(())
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
        | Mov_rm64_imm32 => {
            i.set_op_kind(k, OpKind::Immediate32to64);
            i.set_immediate32to64(x);
        }
        _ => {
            i.set_op_kind(k, OpKind::Immediate8);
            i.set_immediate8(narrow(x));
        }
    }
}
