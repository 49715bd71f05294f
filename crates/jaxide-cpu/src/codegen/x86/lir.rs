//! Machine instructions on virtual registers: what selection makes and allocation and encoding take.

use crate::narrow;
use iced_x86::{Code, Register};
use rustc_hash::FxHashMap as HashMap;

/// A virtual register. It may be written more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Reg(pub(super) u32);

impl Reg {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The width of a vector register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Width {
    V128,
    V256,
    V512,
}

impl Width {
    pub(super) fn bytes(self) -> i32 {
        match self {
            Width::V128 => 16,
            Width::V256 => 32,
            Width::V512 => 64,
        }
    }
}

/// What a virtual register needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Vector(Width),
    /// A mask register, k1 to k7.
    Mask,
}

/// A 64-bit integer variable: in a general register, or in the frame if those run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Var(pub(super) u32);

/// The current lane, in rcx.
pub(super) const LANE: Var = Var(0);
/// The lane after the last one, in r8.
pub(super) const END: Var = Var(1);

/// Where an address starts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Base {
    /// The frame, at an offset.
    Frame,
    /// The constants, at an offset.
    Pool,
    Var(Var),
    Gpr(Register),
}

/// What is added to it, times the scale.
#[derive(Clone, Copy, Debug)]
pub(super) enum Index {
    None,
    Var(Var),
    Gpr(Register),
    /// One index per lane.
    Vector(Reg),
}

/// A memory operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mem {
    pub(super) base: Base,
    pub(super) index: Index,
    pub(super) scale: u32,
    pub(super) disp: i32,
}

impl Mem {
    pub(super) fn new(base: Base, disp: i32) -> Mem {
        Mem {
            base,
            index: Index::None,
            scale: 1,
            disp,
        }
    }

    pub(super) fn gpr(base: Register, disp: i32) -> Mem {
        Mem::new(Base::Gpr(base), disp)
    }

    pub(super) fn frame(disp: i32) -> Mem {
        Mem::new(Base::Frame, disp)
    }

    pub(super) fn plus(self, bytes: i32) -> Mem {
        Mem {
            disp: self.disp + bytes,
            ..self
        }
    }

    pub(super) fn indexed(self, index: Index, scale: u32) -> Mem {
        Mem {
            index,
            scale,
            ..self
        }
    }
}

/// An operand of an [`Op`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    Reg(Reg),
    /// The first 16 or 32 bytes of a wider register, or a narrower register at the beginning of a wider one.
    As(Reg, Width),
    Mem(Mem),
    Gpr(Register),
    Imm(u8),
}

/// An instruction on vector and mask registers.
#[derive(Clone, Debug)]
pub(super) struct Op {
    pub(super) code: Code,
    /// The first operand, if it is a register that is written.
    pub(super) dst: Option<Reg>,
    /// The others, in the order of the encoding.
    pub(super) operands: [Option<Operand>; 4],
    /// The mask, and whether lanes outside become zero rather than stay.
    pub(super) mask: Option<(Reg, bool)>,
    /// Whether the first operand is read too.
    pub(super) tied: bool,
    /// Whether no operand may share the first operand's register.
    pub(super) late: bool,
    /// Which of the operands may be in memory.
    pub(super) rm: Option<u8>,
    /// Whether a single element in memory will do for it.
    pub(super) broadcast: bool,
    /// The width of what is written, where that is less than the first operand's; the bytes behind become zero.
    pub(super) short: Option<Width>,
}

impl Op {
    /// An instruction without mask whose last register operand may be in memory.
    pub(super) fn new(code: Code, dst: Option<Reg>, operands: &[Operand]) -> Op {
        let mut all = [None; 4];
        for (place, operand) in all.iter_mut().zip(operands) {
            *place = Some(*operand);
        }
        let rm = operands
            .iter()
            .rposition(|o| matches!(o, Operand::Reg(_) | Operand::As(..)))
            .map(narrow);
        Op {
            code,
            dst,
            operands: all,
            mask: None,
            tied: false,
            late: false,
            rm,
            broadcast: false,
            short: None,
        }
    }
}

/// The forms of a fused multiply-add: by order of operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct FmaCodes {
    pub(super) f132: Code,
    pub(super) f213: Code,
    pub(super) f231: Code,
    pub(super) broadcast: bool,
}

/// An operand of an integer instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Int {
    Gpr(Register),
    Var(Var),
    Mem(Mem),
    Imm(i64),
}

/// A place in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Label(pub(super) u32);

/// Conditions of a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cond {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    GreaterEqual,
    Greater,
    /// Carry clear.
    AboveEqual,
}

/// One step of the program.
#[derive(Clone, Debug)]
pub(super) enum Lir {
    Op(Op),
    /// `dst = ±(a * b) ± c`.
    Fma {
        codes: FmaCodes,
        dst: Reg,
        a: Reg,
        b: Reg,
        c: Reg,
    },
    Move {
        dst: Reg,
        src: Reg,
    },
    /// All at once: (to, from).
    ParallelMove(Vec<(Reg, Reg)>),
    /// An integer instruction; variables that are no register become memory operands.
    Int {
        code: Code,
        operands: [Option<Int>; 3],
    },
    Label(Label),
    Jump(Label),
    Branch(Cond, Label),
}

/// What a spilled register is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// Its own place in the frame.
    Slot,
    /// An element in the pool, the same in all lanes.
    Element { offset: i32, bytes: u8 },
    /// A whole vector in the pool.
    Vector { offset: i32 },
}

/// A virtual register's description.
#[derive(Clone, Copy, Debug)]
pub(super) struct RegData {
    pub(super) class: Class,
    pub(super) home: Home,
}

/// A program under construction.
pub(super) struct Asm {
    pub(super) code: Vec<Lir>,
    /// How often each instruction is thought to run.
    pub(super) frequency: Vec<f32>,
    pub(super) current_frequency: f32,
    pub(super) regs: Vec<RegData>,
    /// How much each variable is used.
    pub(super) vars: Vec<f32>,
    pub(super) labels: u32,
    /// First and last instruction of each loop.
    pub(super) loops: Vec<(usize, usize)>,
    pub(super) pool: Pool,
    /// Bytes of the frame that the program uses itself.
    pub(super) frame: i32,
    /// How many of them are in use at the moment.
    in_use: i32,
    /// Whether constants must be whole vectors to be operands.
    whole_constants: bool,
}

impl Asm {
    pub(super) fn new(whole_constants: bool) -> Asm {
        Asm {
            code: Vec::new(),
            frequency: Vec::new(),
            current_frequency: 1.0,
            regs: Vec::new(),
            vars: vec![0.0; 2],
            labels: 0,
            loops: Vec::new(),
            pool: Pool::default(),
            frame: 0,
            in_use: 0,
            whole_constants,
        }
    }

    pub(super) fn push(&mut self, lir: Lir) {
        self.code.push(lir);
        self.frequency.push(self.current_frequency);
    }

    pub(super) fn reg(&mut self, class: Class) -> Reg {
        self.regs.push(RegData {
            class,
            home: Home::Slot,
        });
        Reg(narrow(self.regs.len() - 1))
    }

    pub(super) fn var(&mut self) -> Var {
        self.vars.push(0.0);
        Var(narrow(self.vars.len() - 1))
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    /// Reserves bytes of the frame, at a multiple of 64.
    pub(super) fn buffer(&mut self, bytes: i32) -> i32 {
        let at = self.in_use;
        self.in_use += (bytes + 63) & !63;
        self.frame = self.frame.max(self.in_use);
        at
    }

    /// How much of the frame is in use, for [`Self::release`].
    pub(super) fn in_use(&self) -> i32 {
        self.in_use
    }

    /// Gives back what was reserved since; no later instruction reads it.
    pub(super) fn release(&mut self, in_use: i32) {
        self.in_use = in_use;
    }

    /// A register that holds an element in all lanes.
    pub(super) fn splat(&mut self, width: Width, bytes: u8, bits: u64) -> Reg {
        let key = (width, bytes, bits);
        if let Some(&r) = self.pool.elements.get(&key) {
            return r;
        }
        let element = &bits.to_le_bytes()[..usize::from(bytes)];
        let home = if self.whole_constants {
            let whole = element.repeat(32 / element.len());
            Home::Vector {
                offset: self.pool.add(&whole, 32),
            }
        } else {
            Home::Element {
                offset: self.pool.add(element, element.len()),
                bytes,
            }
        };
        self.regs.push(RegData {
            class: Class::Vector(width),
            home,
        });
        let r = Reg(narrow(self.regs.len() - 1));
        self.pool.elements.insert(key, r);
        r
    }

    /// A register that holds these bytes.
    pub(super) fn vector(&mut self, width: Width, bytes: &[u8]) -> Reg {
        if let Some(&r) = self.pool.vectors.get(bytes) {
            return r;
        }
        let offset = self.pool.add(bytes, width.bytes() as usize);
        self.regs.push(RegData {
            class: Class::Vector(width),
            home: Home::Vector { offset },
        });
        let r = Reg(narrow(self.regs.len() - 1));
        self.pool.vectors.insert(bytes.to_vec(), r);
        r
    }

    pub(super) fn int(&mut self, code: Code, operands: &[Int]) {
        for o in operands {
            if let Int::Var(v) = o {
                self.vars[v.0 as usize] += self.current_frequency;
            } else if let Int::Mem(m) = o {
                self.touch(m);
            }
        }
        let mut all = [None; 3];
        operands
            .iter()
            .enumerate()
            .for_each(|(k, o)| all[k] = Some(*o));
        self.push(Lir::Int {
            code,
            operands: all,
        });
    }

    pub(super) fn op(&mut self, op: Op) {
        for o in op.operands.iter().flatten() {
            if let Operand::Mem(m) = o {
                self.touch(m);
            }
        }
        self.push(Lir::Op(op));
    }

    /// A copy of a register.
    pub(super) fn put(&mut self, dst: Reg, src: Reg) {
        self.push(Lir::Move { dst, src });
    }

    fn touch(&mut self, mem: &Mem) {
        if let Base::Var(v) = mem.base {
            self.vars[v.0 as usize] += self.current_frequency;
        }
        if let Index::Var(v) = mem.index {
            self.vars[v.0 as usize] += self.current_frequency;
        }
    }

    /// Starts a loop: what is live around it stays so to its end. Gives what [`end_loop`](Self::end_loop) takes.
    pub(super) fn begin_loop(&mut self) -> (usize, f32) {
        let outside = self.current_frequency;
        self.current_frequency *= 8.0;
        (self.code.len(), outside)
    }

    pub(super) fn end_loop(&mut self, (start, outside): (usize, f32)) {
        self.current_frequency = outside;
        self.loops.push((start, self.code.len() - 1));
    }
}

/// Constants beside the code.
#[derive(Default)]
pub(super) struct Pool {
    pub(super) bytes: Vec<u8>,
    elements: HashMap<(Width, u8, u64), Reg>,
    vectors: HashMap<Vec<u8>, Reg>,
    places: HashMap<Vec<u8>, i32>,
}

impl Pool {
    /// Offset of these bytes, at a multiple of `align`.
    pub(super) fn add(&mut self, bytes: &[u8], align: usize) -> i32 {
        if let Some(&at) = self.places.get(bytes) {
            return at;
        }
        let at = self.bytes.len().next_multiple_of(align);
        self.bytes.resize(at, 0);
        self.bytes.extend_from_slice(bytes);
        let at = narrow(at);
        self.places.insert(bytes.to_vec(), at);
        at
    }
}
