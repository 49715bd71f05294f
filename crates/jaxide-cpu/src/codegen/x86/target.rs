//! What an instruction set of vectors gives: [`Target`].
//!
//! All of its methods take their arguments in one order: the program that is written; the operation; types, that of the result last; the
//! register of the result, `dst`, or the place in memory; the operands; what is known when the code is made. `dst` is written last, for it may be
//! an operand too. Where the same is wanted in a new register, `two` is `two_to` with one.

use super::halves::Halves;
use super::lir::*;
use super::table::{self, Lanes, Row};
use crate::lanes::{BinOp, MemTy, Ty, UnOp};
use crate::narrow;
use iced_x86::Code;

/// Predicates of comparisons of floats.
pub(super) const CMP_EQ: u8 = 0;
pub(super) const CMP_UNORD: u8 = 3;
pub(super) const CMP_NE: u8 = 4;
pub(super) const CMP_ORD: u8 = 7;
pub(super) const CMP_LT: u8 = 17;
pub(super) const CMP_LE: u8 = 18;

/// Signs of a fused multiply-add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FmaSigns {
    pub(super) minus_product: bool,
    pub(super) minus_addend: bool,
}

impl FmaSigns {
    /// The instructions: orders 132, 213 and 231 of the operands.
    fn rows(self) -> [&'static Lanes; 3] {
        use table::*;
        match (self.minus_product, self.minus_addend) {
            (false, false) => [&FMADD132, &FMADD213, &FMADD231],
            (true, false) => [&FNMADD132, &FNMADD213, &FNMADD231],
            (false, true) => [&FMSUB132, &FMSUB213, &FMSUB231],
            (true, true) => [&FNMSUB132, &FNMSUB213, &FNMSUB231],
        }
    }
}

/// What 32-bit integers are divided by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Divisor {
    pub(super) value: Reg,
    /// Its [reciprocal](Operations::reciprocal), if it is the same in all lanes.
    pub(super) reciprocal: Option<Reg>,
}

/// Selection of instructions for one body. The methods may change rax and rdx.
pub(super) trait Target: Operations + Masks + Memory {}

impl<T: Operations + Masks + Memory> Target for T {}

/// How registers hold lanes, and the instructions that follow from it.
pub(super) trait Shape {
    /// Whether instructions have the EVEX forms, whose operands may be one element in memory for all lanes.
    const EVEX: bool;
    /// Number of vector registers.
    const VECTORS: u8;

    /// Whether lanes are bytes.
    const ON_BYTES: bool = false;

    /// The instruction set on lanes of 8 bits.
    type Bytes: Target;
    const BYTES: Self::Bytes;

    /// Lanes in a register; all lanes that are worked on together.
    fn lanes(&self) -> i64;

    /// The register that a value needs.
    fn class(&self, ty: Ty) -> Class;

    /// The length of a vector of so many lanes of a type.
    fn width(&self, ty: Ty) -> Width;

    /// The instructions on binary16, if there are such.
    fn halves(&self) -> Option<Halves> {
        None
    }

    /// The form of an instruction for lanes of a type.
    fn form(&self, row: &Row, ty: Ty) -> Code {
        row.form(Self::EVEX, self.width(ty))
    }

    /// The instruction, in its form, for lanes of a type.
    fn code(&self, lanes: &Lanes, ty: Ty) -> Code {
        self.form(lanes.of(ty.bits()), ty)
    }

    /// A new register for lanes of a type.
    fn vector(&self, asm: &mut Asm, ty: Ty) -> Reg {
        asm.reg(Class::Vector(self.width(ty)))
    }

    /// A register with these bits in all lanes.
    fn splat(&self, asm: &mut Asm, ty: Ty, bits: u64) -> Reg {
        asm.splat(self.width(ty), narrow(ty.bits() / 8), bits & ty.bit_mask())
    }

    /// A register with this number in all lanes.
    #[allow(clippy::cast_possible_truncation, reason = "a float is rounded")]
    fn float(&self, asm: &mut Asm, ty: Ty, x: f64) -> Reg {
        let bits = if ty == Ty::F32 {
            u64::from((x as f32).to_bits())
        } else {
            x.to_bits()
        };
        self.splat(asm, ty, bits)
    }

    /// An instruction whose last operand may be a constant in memory, for all lanes at once where that can be.
    fn emit_to(&self, asm: &mut Asm, code: Code, dst: Reg, operands: &[Operand]) {
        asm.op(Op {
            broadcast: Self::EVEX,
            ..Op::new(code, Some(dst), operands)
        });
    }

    /// The same to a new register.
    fn emit(&self, asm: &mut Asm, code: Code, class: Class, operands: &[Operand]) -> Reg {
        let dst = asm.reg(class);
        self.emit_to(asm, code, dst, operands);
        dst
    }

    /// An instruction of one operand.
    fn one_to(&self, asm: &mut Asm, lanes: &Lanes, ty: Ty, dst: Reg, a: Reg) {
        self.emit_to(asm, self.code(lanes, ty), dst, &[Operand::Reg(a)]);
    }

    /// An instruction of two operands.
    fn two(&self, asm: &mut Asm, lanes: &Lanes, ty: Ty, a: Reg, b: Reg) -> Reg {
        let dst = self.vector(asm, ty);
        self.two_to(asm, lanes, ty, dst, a, b);
        dst
    }

    fn two_to(&self, asm: &mut Asm, lanes: &Lanes, ty: Ty, dst: Reg, a: Reg, b: Reg) {
        let operands = [Operand::Reg(a), Operand::Reg(b)];
        self.emit_to(asm, self.code(lanes, ty), dst, &operands);
    }

    /// A shift by a constant.
    fn shift(&self, asm: &mut Asm, lanes: &Lanes, ty: Ty, a: Reg, count: u8) -> Reg {
        let dst = self.vector(asm, ty);
        self.shift_to(asm, lanes, ty, dst, a, count);
        dst
    }

    fn shift_to(&self, asm: &mut Asm, lanes: &Lanes, ty: Ty, dst: Reg, a: Reg, count: u8) {
        let o = Op::new(
            self.code(lanes, ty),
            Some(dst),
            &[Operand::Reg(a), Operand::Imm(count)],
        );
        // The VEX form takes no memory.
        asm.op(Op {
            rm: o.rm.filter(|_| Self::EVEX),
            broadcast: Self::EVEX,
            ..o
        });
    }

    /// The forms of a fused multiply-add.
    fn fma(&self, ty: Ty, signs: FmaSigns) -> FmaCodes {
        let [f132, f213, f231] = signs.rows().map(|lanes| self.code(lanes, ty));
        FmaCodes {
            f132,
            f213,
            f231,
            broadcast: Self::EVEX,
        }
    }

    /// The instruction that is an operation with two operands, if there is one.
    fn single(&self, op: BinOp, ty: Ty) -> Option<&'static Lanes> {
        use BinOp::*;
        use table::*;
        let lanes = match (op, ty.is_float()) {
            (Add, true) => &ADD,
            (Sub, true) => &SUB,
            (Mul, true) => &MUL,
            (Div, _) => &DIV,
            (PickLt, _) => &MIN,
            (PickGt, _) => &MAX,
            (Scale | ScaleNormal, _) => &SCALEF,
            (Add, false) => &PADD,
            (Sub, false) => &PSUB,
            (Mul, false) => &PMULL,
            (And, _) => &PAND,
            (Or, _) => &POR,
            (Xor, _) => &PXOR,
            (MinS, _) => &PMINS,
            (MaxS, _) => &PMAXS,
            (MinU, _) => &PMINU,
            (MaxU, _) => &PMAXU,
            (Shl, _) => &PSLLV,
            (ShrS, _) => &PSRAV,
            (ShrU, _) => &PSRLV,
            (Min | Max | DivS | DivU | RemS | RemU | MulHiS | MulHiU, _)
            | (Eq | Ne | Lt | Le | LtU | LeU, _) => return None,
        };
        let row = lanes.of(ty.bits());
        row.has(Self::EVEX, self.width(ty)).then_some(lanes)
    }
}

/// Operations on lanes.
pub(super) trait Operations: Shape {
    fn un(&self, asm: &mut Asm, op: UnOp, from: Ty, to: Ty, dst: Reg, a: Reg);

    /// Any operation with two operands but division of integers.
    fn bin(&self, asm: &mut Asm, op: BinOp, ty: Ty, dst: Reg, a: Reg, b: Reg);

    /// The quotient of 32-bit integers.
    fn quotient(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg, by: Divisor);

    /// A division of 32-bit integers.
    fn divide(&self, asm: &mut Asm, op: BinOp, dst: Reg, a: Reg, by: Divisor) {
        let signed = matches!(op, BinOp::DivS | BinOp::RemS);
        if matches!(op, BinOp::DivS | BinOp::DivU) {
            return self.quotient(asm, signed, dst, a, by);
        }
        let q = self.vector(asm, Ty::I32);
        self.quotient(asm, signed, q, a, by);
        let back = self.two(asm, &table::PMULL, Ty::I32, q, by.value);
        self.two_to(asm, &table::PSUB, Ty::I32, dst, a, back);
    }

    /// The first integers of 32 bits, as many as a register has doubles, as those.
    fn doubles(&self, asm: &mut Asm, signed: bool, a: Reg) -> Reg;

    /// What an integer that is the same in all lanes is divided by as a product: a double, above 1 / |b| by 2⁻⁵² to 2⁻⁵⁰ of it. The product with an
    /// integer a is then above |a / b| by less than 1 / |b|, so that it has its integer part.
    fn reciprocal(&self, asm: &mut Asm, signed: bool, b: Reg) -> Reg {
        let b = self.doubles(asm, signed, b);
        let above = self.splat(asm, Ty::F64, 1f64.to_bits() + 2);
        self.two(asm, &table::DIV, Ty::F64, above, b)
    }

    /// A shift by a constant.
    fn shift_by(&self, asm: &mut Asm, op: BinOp, ty: Ty, dst: Reg, a: Reg, count: u64);

    fn select(&self, asm: &mut Asm, ty: Ty, dst: Reg, mask: Reg, a: Reg, b: Reg);

    /// `a` where the mask says `holds`, and zeros elsewhere, if masks are vectors, so that this takes less than a choice.
    fn select_or_zero(&self, asm: &mut Asm, ty: Ty, dst: Reg, mask: (Reg, bool), a: Reg) -> bool;

    /// Where the mask holds, `dst` becomes `a`.
    fn merge(&self, asm: &mut Asm, ty: Ty, dst: Reg, mask: Reg, a: Reg);

    /// An integer in all lanes, from rax.
    fn broadcast_gpr(&self, asm: &mut Asm, ty: Ty, dst: Reg);

    /// Lane `i` gets lane `i + by`, for lanes below `by`; the others are unspecified.
    fn rotate(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg, by: u8);

    /// Each lane from a lane of one of two or more registers of 32 or 64 bits: the register and the lane.
    fn pick(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: &[Reg], lanes: &[(usize, usize)]);

    /// Elements of 32 or 64 bits in the opposite order.
    fn reverse(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg);
}

/// Masks as a whole.
pub(super) trait Masks: Shape {
    /// All lanes or none.
    fn mask_constant(&self, asm: &mut Asm, dst: Reg, value: bool);

    /// The lanes of a copy among those that are left, of which rdx has a one each, from the first lane of copy 0 on.
    fn tail_mask(&self, asm: &mut Asm, dst: Reg, copy: i64);

    /// Sets the equal condition if no lane of any mask is set.
    fn test_any(&self, asm: &mut Asm, masks: &[Reg]);

    /// One bit for each lane of a mask, in edx.
    fn mask_to_gpr(&self, asm: &mut Asm, mask: Reg);
}

/// Access to memory in the form of lanes. `exec`, where given, tells the lanes that may touch memory; addresses may use rax and rdx.
pub(super) trait Memory: Shape {
    /// Whether loads and stores of elements below 32 bits take a mask.
    fn masks_small_elements(&self) -> bool;

    /// An element of 32 or 64 bits, or of any size where [lanes are bytes](Shape::ON_BYTES), in all lanes.
    fn broadcast(&self, asm: &mut Asm, mem: MemTy, dst: Reg, from: Mem);

    /// Consecutive elements.
    fn load(&self, asm: &mut Asm, mem: MemTy, dst: Reg, from: Mem, exec: Option<Reg>);

    /// Consecutive elements.
    fn store(&self, asm: &mut Asm, mem: MemTy, to: Mem, v: Reg, exec: Option<Reg>);

    /// The first `count` elements, zeros behind them, if that takes less than a load with a mask; says whether it did.
    fn load_few(&self, asm: &mut Asm, mem: MemTy, dst: Reg, from: Mem, count: i64) -> bool;

    /// The first `count` elements, each by a store that wrote nothing else for the processor.
    fn store_few(&self, asm: &mut Asm, mem: MemTy, to: Mem, v: Reg, count: i64);

    /// A lane value from an element that was extended to the integer of a lane's width.
    fn raw_to_lane(&self, asm: &mut Asm, mem: MemTy, dst: Reg, raw: Reg);

    /// The other way round, in any register; the upper bits are unspecified.
    fn lane_to_raw(&self, asm: &mut Asm, mem: MemTy, v: Reg) -> Reg;

    /// Elements of 32 or 64 bits from addresses whose index is a vector of `index`.
    fn gather(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem, index: Ty, exec: Option<Reg>);

    /// The reverse, if the machine has it.
    fn scatter(&self, asm: &mut Asm, ty: Ty, to: Mem, v: Reg, index: Ty, exec: Option<Reg>)
    -> bool;

    /// Bits that a lane takes in an accumulator in memory.
    fn accumulator_bits(&self, ty: Ty) -> i32;

    fn load_accumulator(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem);

    fn store_accumulator(&self, asm: &mut Asm, ty: Ty, to: Mem, v: Reg);
}
