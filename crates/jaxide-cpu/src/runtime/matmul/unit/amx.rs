//! The instructions: tiles of sixteen rows of 64 bytes, and products of them (Intel's AMX).
//!
//! No code of this library but the assembly below touches the tile registers, so what is in them stays from one block of
//! assembly to the next on the same thread.

use std::arch::asm;
use std::sync::OnceLock;

use crate::runtime::simd::Isa;

/// Rows of a tile.
pub(super) const ROWS: usize = 16;
/// Bytes of a row of a tile.
pub(super) const BYTES: usize = 64;
/// Sums in a row of a tile.
pub(super) const COLUMNS: usize = 16;

/// Whether the machine has the unit, with both 16-bit floats and integers of 8 bits, and the system lets this process use
/// it; asked for once.
pub(super) fn is_available() -> bool {
    static GRANTED: OnceLock<bool> = OnceLock::new();
    Isa::detect() == Isa::Avx512 && *GRANTED.get_or_init(|| has_instructions() && request())
}

fn has_instructions() -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    /// AMX-BF16, AMX-TILE and AMX-INT8.
    const ALL: u32 = 1 << 22 | 1 << 24 | 1 << 25;
    __cpuid(0).eax >= 7 && __cpuid_count(7, 0).edx & ALL == ALL
}

/// Asks the system to keep tiles for the threads of this process. It refuses where it does not know them, or where the stack
/// of a signal handler has no room for them.
fn request() -> bool {
    const ARCH_REQ_XCOMP_PERM: libc::c_long = 0x1023;
    const TILE_DATA: libc::c_long = 18;
    // SAFETY: the call takes two numbers, and changes nothing but what this process may use.
    unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) == 0 }
}

/// The shapes of tile registers, as the processor reads them.
#[repr(C, align(64))]
struct Shapes {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

/// The tile registers of this thread, set up for blocks of so many rows; given back when dropped.
pub(super) struct Tiles {
    rows: usize,
}

impl Tiles {
    /// # Safety
    /// [`is_available`], and the thread has no other.
    pub(super) unsafe fn new() -> Self {
        Self { rows: 0 }
    }

    /// Sets them up for blocks of 1 to 32 rows: registers 0 and 1 are sums of the first sixteen, 2 and 3 of the others, 4 and 5
    /// rows of the left operand, 6 and 7 of the right one.
    pub(super) fn shape(&mut self, rows: usize) {
        assert!((1..=2 * ROWS).contains(&rows), "{rows} rows of a block");
        if self.rows == rows {
            return;
        }
        self.rows = rows;
        let first = rows.min(ROWS) as u8;
        // A register that is not used has a shape too, so that there are no empty ones.
        let second = rows.saturating_sub(ROWS).max(1) as u8;
        let mut shapes = Shapes {
            palette: 1,
            start_row: 0,
            reserved: [0; 14],
            row_bytes: [0; 16],
            rows: [0; 16],
        };
        let sides = [first, first, second, second, first, second, 16, 16];
        for (register, rows) in sides.into_iter().enumerate() {
            shapes.rows[register] = rows;
            shapes.row_bytes[register] = BYTES as u16;
        }
        // SAFETY: `new` was promised that the instruction may be used; the shapes are legal ones.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const shapes, options(nostack, readonly)) };
    }
}

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: as for `shape`. The system has nothing to keep of this thread afterwards.
        unsafe { asm!("tilerelease", options(nostack, nomem)) };
    }
}

/// A block of the result: up to 32 rows and 32 columns.
pub struct Block {
    /// The first row of the left operand for either tile of rows, and the distance of rows in bytes.
    pub(super) left: [*const u8; 2],
    pub(super) left_row: isize,
    /// Steps of 64 bytes of each row, which the left operand has where it lies.
    pub(super) steps: usize,
    /// What is behind them, filled up with zeros: rows of 64 bytes that follow each other; or null.
    pub(super) rest: [*const u8; 2],
    /// Tiles of the right operand, one or two for each step.
    pub(super) right: *const u8,
    /// Where sums go for either tile of rows, 64 bytes for each tile of columns, and the distance of rows in bytes.
    pub(super) out: [*mut u8; 2],
    pub(super) out_row: isize,
}

/// # Safety
/// The tiles of this thread have the shape of the block; the operands have the rows and steps that it names, and the result
/// the rows and whole columns.
pub(super) type BlockFunction = unsafe fn(&Block);

/// By tiles of rows and of columns, each minus one.
pub(super) type BlockFunctions = [[BlockFunction; 2]; 2];

macro_rules! block_functions {
    ($name:ident, $product:literal) => {
        pub(super) const $name: BlockFunctions = {
            /// # Safety
            /// As [`BlockFunction`].
            unsafe fn one_by_one(block: &Block) {
                // SAFETY: the caller's promise.
                unsafe {
                    asm!(
                        "tilezero tmm0",
                        "test {n}, {n}",
                        "jz 3f",
                        "2:",
                        "tileloadd tmm4, [{a} + {row}]",
                        "tileloadd tmm6, [{b} + {line}]",
                        concat!($product, " tmm0, tmm4, tmm6"),
                        "add {a}, 64",
                        "add {b}, 1024",
                        "dec {n}",
                        "jnz 2b",
                        "3:",
                        "test {rest}, {rest}",
                        "jz 4f",
                        "tileloadd tmm4, [{rest} + {line}]",
                        "tileloadd tmm6, [{b} + {line}]",
                        concat!($product, " tmm0, tmm4, tmm6"),
                        "4:",
                        "tilestored [{out} + {out_row}], tmm0",
                        a = inout(reg) block.left[0] => _,
                        row = in(reg) block.left_row,
                        b = inout(reg) block.right => _,
                        n = inout(reg) block.steps => _,
                        line = in(reg) BYTES,
                        rest = in(reg) block.rest[0],
                        out = in(reg) block.out[0],
                        out_row = in(reg) block.out_row,
                        out("tmm0") _, out("tmm4") _, out("tmm6") _,
                        options(nostack),
                    );
                }
            }

            /// # Safety
            /// As [`BlockFunction`].
            unsafe fn one_by_two(block: &Block) {
                // SAFETY: the caller's promise.
                unsafe {
                    asm!(
                        "tilezero tmm0",
                        "tilezero tmm1",
                        "test {n}, {n}",
                        "jz 3f",
                        "2:",
                        "tileloadd tmm4, [{a} + {row}]",
                        "tileloadd tmm6, [{b} + {line}]",
                        concat!($product, " tmm0, tmm4, tmm6"),
                        "tileloadd tmm7, [{b} + {line} + 1024]",
                        concat!($product, " tmm1, tmm4, tmm7"),
                        "add {a}, 64",
                        "add {b}, 2048",
                        "dec {n}",
                        "jnz 2b",
                        "3:",
                        "test {rest}, {rest}",
                        "jz 4f",
                        "tileloadd tmm4, [{rest} + {line}]",
                        "tileloadd tmm6, [{b} + {line}]",
                        concat!($product, " tmm0, tmm4, tmm6"),
                        "tileloadd tmm7, [{b} + {line} + 1024]",
                        concat!($product, " tmm1, tmm4, tmm7"),
                        "4:",
                        "tilestored [{out} + {out_row}], tmm0",
                        "tilestored [{out} + {out_row} + 64], tmm1",
                        a = inout(reg) block.left[0] => _,
                        row = in(reg) block.left_row,
                        b = inout(reg) block.right => _,
                        n = inout(reg) block.steps => _,
                        line = in(reg) BYTES,
                        rest = in(reg) block.rest[0],
                        out = in(reg) block.out[0],
                        out_row = in(reg) block.out_row,
                        out("tmm0") _, out("tmm1") _, out("tmm4") _, out("tmm6") _, out("tmm7") _,
                        options(nostack),
                    );
                }
            }

            /// # Safety
            /// As [`BlockFunction`].
            unsafe fn two_by_one(block: &Block) {
                // SAFETY: the caller's promise.
                unsafe {
                    asm!(
                        "tilezero tmm0",
                        "tilezero tmm2",
                        "test {n}, {n}",
                        "jz 3f",
                        "2:",
                        "tileloadd tmm4, [{a} + {row}]",
                        "tileloadd tmm6, [{b} + {line}]",
                        concat!($product, " tmm0, tmm4, tmm6"),
                        "tileloadd tmm5, [{a_next} + {row}]",
                        concat!($product, " tmm2, tmm5, tmm6"),
                        "add {a}, 64",
                        "add {a_next}, 64",
                        "add {b}, 1024",
                        "dec {n}",
                        "jnz 2b",
                        "3:",
                        "test {rest}, {rest}",
                        "jz 4f",
                        "tileloadd tmm4, [{rest} + {line}]",
                        "tileloadd tmm6, [{b} + {line}]",
                        concat!($product, " tmm0, tmm4, tmm6"),
                        "tileloadd tmm5, [{rest_next} + {line}]",
                        concat!($product, " tmm2, tmm5, tmm6"),
                        "4:",
                        "tilestored [{out} + {out_row}], tmm0",
                        "tilestored [{out_next} + {out_row}], tmm2",
                        a = inout(reg) block.left[0] => _,
                        a_next = inout(reg) block.left[1] => _,
                        row = in(reg) block.left_row,
                        b = inout(reg) block.right => _,
                        n = inout(reg) block.steps => _,
                        line = in(reg) BYTES,
                        rest = in(reg) block.rest[0],
                        rest_next = in(reg) block.rest[1],
                        out = in(reg) block.out[0],
                        out_next = in(reg) block.out[1],
                        out_row = in(reg) block.out_row,
                        out("tmm0") _, out("tmm2") _, out("tmm4") _, out("tmm5") _, out("tmm6") _,
                        options(nostack),
                    );
                }
            }

            /// # Safety
            /// As [`BlockFunction`].
            unsafe fn two_by_two(block: &Block) {
                // SAFETY: the caller's promise.
                unsafe {
                    asm!(
                        "tilezero tmm0",
                        "tilezero tmm1",
                        "tilezero tmm2",
                        "tilezero tmm3",
                        "test {n}, {n}",
                        "jz 3f",
                        "2:",
                        "tileloadd tmm4, [{a} + {row}]",
                        "tileloadd tmm6, [{b} + {line}]",
                        concat!($product, " tmm0, tmm4, tmm6"),
                        "tileloadd tmm7, [{b} + {line} + 1024]",
                        concat!($product, " tmm1, tmm4, tmm7"),
                        "tileloadd tmm5, [{a_next} + {row}]",
                        concat!($product, " tmm2, tmm5, tmm6"),
                        concat!($product, " tmm3, tmm5, tmm7"),
                        "add {a}, 64",
                        "add {a_next}, 64",
                        "add {b}, 2048",
                        "dec {n}",
                        "jnz 2b",
                        "3:",
                        "test {rest}, {rest}",
                        "jz 4f",
                        "tileloadd tmm4, [{rest} + {line}]",
                        "tileloadd tmm6, [{b} + {line}]",
                        concat!($product, " tmm0, tmm4, tmm6"),
                        "tileloadd tmm7, [{b} + {line} + 1024]",
                        concat!($product, " tmm1, tmm4, tmm7"),
                        "tileloadd tmm5, [{rest_next} + {line}]",
                        concat!($product, " tmm2, tmm5, tmm6"),
                        concat!($product, " tmm3, tmm5, tmm7"),
                        "4:",
                        "tilestored [{out} + {out_row}], tmm0",
                        "tilestored [{out} + {out_row} + 64], tmm1",
                        "tilestored [{out_next} + {out_row}], tmm2",
                        "tilestored [{out_next} + {out_row} + 64], tmm3",
                        a = inout(reg) block.left[0] => _,
                        a_next = inout(reg) block.left[1] => _,
                        row = in(reg) block.left_row,
                        b = inout(reg) block.right => _,
                        n = inout(reg) block.steps => _,
                        line = in(reg) BYTES,
                        rest = in(reg) block.rest[0],
                        rest_next = in(reg) block.rest[1],
                        out = in(reg) block.out[0],
                        out_next = in(reg) block.out[1],
                        out_row = in(reg) block.out_row,
                        out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                        out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                        options(nostack),
                    );
                }
            }

            [[one_by_one, one_by_two], [two_by_one, two_by_two]]
        };
    };
}

block_functions!(FLOATS, "tdpbf16ps");
block_functions!(SIGNED, "tdpbssd");
block_functions!(UNSIGNED, "tdpbuud");
