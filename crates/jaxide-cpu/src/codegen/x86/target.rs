//! What differs between vector instruction sets.

use super::codes::{self, Codes};
use super::lir::{Asm, Class, FmaCodes, Mem, Reg};
use crate::lanes::{BinOp, MemTy, Ty, UnOp};

/// Signs of a fused multiply-add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FmaSigns {
    pub(super) minus_product: bool,
    pub(super) minus_addend: bool,
}

impl FmaSigns {
    /// The instructions: orders 132, 213 and 231 of the operands.
    pub(super) fn codes(self) -> [&'static Codes; 3] {
        match (self.minus_product, self.minus_addend) {
            (false, false) => [&codes::FMADD132, &codes::FMADD213, &codes::FMADD231],
            (true, false) => [&codes::FNMADD132, &codes::FNMADD213, &codes::FNMADD231],
            (false, true) => [&codes::FMSUB132, &codes::FMSUB213, &codes::FMSUB231],
            (true, true) => [&codes::FNMSUB132, &codes::FNMSUB213, &codes::FNMSUB231],
        }
    }
}

/// Selection of instructions for one body. A register holds all lanes that are worked on together: [`lanes`](Self::lanes). The methods may
/// change rax and rdx.
pub(super) trait Target: Memory {
    /// Whether the EVEX forms exist.
    const EVEX: bool;
    /// Number of vector registers.
    const VECTORS: u8;

    /// Lanes in a register.
    fn lanes(&self) -> i64;

    /// The register that a value needs.
    fn class(&self, ty: Ty) -> Class;

    /// All lanes or none.
    fn mask_constant(&self, asm: &mut Asm, dst: Reg, value: bool);

    fn un(&self, asm: &mut Asm, op: UnOp, from: Ty, to: Ty, dst: Reg, a: Reg);

    /// Any operation with two operands but division of 64-bit integers.
    fn bin(&self, asm: &mut Asm, op: BinOp, ty: Ty, dst: Reg, a: Reg, b: Reg);

    /// A shift by a constant.
    fn shift_by(&self, asm: &mut Asm, op: BinOp, ty: Ty, dst: Reg, a: Reg, count: u64);

    fn fma(&self, ty: Ty, signs: FmaSigns) -> FmaCodes;

    fn select(&self, asm: &mut Asm, ty: Ty, dst: Reg, mask: Reg, a: Reg, b: Reg);

    /// Where the mask holds, `dst` becomes `a`.
    fn merge(&self, asm: &mut Asm, ty: Ty, dst: Reg, mask: Reg, a: Reg);

    /// Sets the equal condition if no lane of any mask is set.
    fn test_any(&self, asm: &mut Asm, masks: &[Reg]);

    /// The lanes of a copy among those that are left, of which rdx has a one each, from the first lane of copy 0 on.
    fn tail_mask(&self, asm: &mut Asm, dst: Reg, copy: i64);

    /// An integer in all lanes, from rax.
    fn broadcast_gpr(&self, asm: &mut Asm, ty: Ty, dst: Reg);

    /// One bit for each lane of a mask, in edx.
    fn mask_to_gpr(&self, asm: &mut Asm, mask: Reg);

    /// Lane `i` gets lane `i + by`, for lanes below `by`; the others are unspecified.
    fn rotate(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg, by: u8);
}

/// Access to memory in the form of lanes. `exec`, where given, tells the lanes that may touch memory; addresses may use rax and rdx.
pub(super) trait Memory {
    /// Whether loads and stores of elements below 32 bits take a mask.
    fn masks_small_elements(&self) -> bool;

    /// An element of 32 or 64 bits in all lanes.
    fn broadcast(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem);

    /// Consecutive elements.
    fn load(&self, asm: &mut Asm, mem: MemTy, dst: Reg, from: Mem, exec: Option<Reg>);

    /// Consecutive elements.
    fn store(&self, asm: &mut Asm, mem: MemTy, v: Reg, to: Mem, exec: Option<Reg>);

    /// Elements of 32 or 64 bits in the opposite order.
    fn reverse(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg);

    /// A lane value from an element that was extended to the integer of a lane's width.
    fn raw_to_lane(&self, asm: &mut Asm, mem: MemTy, dst: Reg, raw: Reg);

    /// The other way round; the upper bits are unspecified.
    fn lane_to_raw(&self, asm: &mut Asm, mem: MemTy, v: Reg) -> Reg;

    /// Elements of 32 or 64 bits from addresses whose index is a vector of `index`.
    fn gather(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem, index: Ty, exec: Option<Reg>);

    /// The reverse, if the machine has it.
    fn scatter(&self, asm: &mut Asm, ty: Ty, v: Reg, to: Mem, index: Ty, exec: Option<Reg>)
    -> bool;

    /// Bits that a lane takes in an accumulator in memory.
    fn accumulator_bits(&self, ty: Ty) -> i32;

    fn load_accumulator(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem);

    fn store_accumulator(&self, asm: &mut Asm, ty: Ty, v: Reg, to: Mem);
}
