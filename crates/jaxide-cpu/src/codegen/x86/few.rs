//! Loads and stores of the first bytes of a register, whose number is known.
//!
//! A processor takes what a masked store has written for the whole register: the next load of anything there waits until it is in the cache,
//! some thirty cycles, also that of a neighbour that the mask spared. Stores of 32, 16, 8, 4, 2 bytes and one are read at once by loads
//! of no more than one of them has written. A load with a mask waits for a few of them as long as for one with a mask.

use super::lir::*;
use super::table::*;
use crate::narrow;
use iced_x86::Code;

/// Stores the first `bytes` of a register of that width, in pieces of which none overlaps another, unless these are more than two.
pub(super) fn store_bytes(
    asm: &mut Asm,
    evex: bool,
    to: Mem,
    (v, width): (Reg, Width),
    bytes: i64,
) {
    if evex && bytes > ROW && bytes % 4 == 0 && pieces(bytes) > 2 {
        return store_overlapping(asm, to, (v, width), bytes);
    }
    let mut at = 0;
    for whole in [Width::V512, Width::V256] {
        let size = i64::from(whole.bytes());
        if at + size <= bytes && size <= i64::from(width.bytes()) && at == 0 {
            let code = VMOVUPS_STORE.form(evex, whole);
            store(asm, code, to, Operand::As(v, whole), None);
            at = size;
        }
    }
    let extract = if evex { &VEXTRACTI32X4 } else { &VEXTRACTI128 };
    if bytes - at >= ROW {
        let (code, operand, part) = match at {
            0 => (
                VMOVUPS_STORE.form(evex, Width::V128),
                Operand::As(v, Width::V128),
                None,
            ),
            _ => (
                extract.form(evex, width),
                Operand::As(v, width),
                Some(at / ROW),
            ),
        };
        store(asm, code, to.plus(narrow(at)), operand, part);
        at += ROW;
    }
    if at == bytes {
        return;
    }
    // What is left is part of one row.
    let row = at;
    let rest = if row == 0 {
        Operand::As(v, Width::V128)
    } else {
        let part = asm.reg(Class::Vector(Width::V128));
        let operands = [Operand::As(v, width), Operand::Imm(narrow(row / ROW))];
        asm.op(Op {
            rm: None,
            ..Op::new(extract.form(evex, width), Some(part), &operands)
        });
        Operand::Reg(part)
    };
    for (size, first, other) in [
        (8, &VMOVQ_STORE, None),
        (4, &VMOVD_STORE, Some(&VPEXTRD_STORE)),
        (2, &VPEXTRW_STORE, Some(&VPEXTRW_STORE)),
        (1, &VPEXTRB_STORE, Some(&VPEXTRB_STORE)),
    ] {
        if bytes - at < size {
            continue;
        }
        let place = (at - row) / size;
        let (instruction, imm) = match other {
            Some(other) if place > 0 || size < 4 => (other, Some(place)),
            _ => (first, None),
        };
        let code = instruction.form(evex, Width::V128);
        store(asm, code, to.plus(narrow(at)), rest, imm);
        at += size;
    }
}

/// The same in two pieces of the same size, the second of which ends where the bytes do.
fn store_overlapping(asm: &mut Asm, to: Mem, (v, width): (Reg, Width), bytes: i64) {
    let piece = if bytes > 2 * ROW {
        Width::V256
    } else {
        Width::V128
    };
    let behind = bytes - i64::from(piece.bytes());
    let end = asm.reg(Class::Vector(width));
    let operands = [
        Operand::As(v, width),
        Operand::As(v, width),
        Operand::Imm(narrow(behind / 4)),
    ];
    asm.op(Op {
        rm: None,
        ..Op::new(VALIGND.form(true, width), Some(end), &operands)
    });
    for (at, from) in [(0, v), (behind, end)] {
        let code = VMOVUPS_STORE.form(true, piece);
        store(
            asm,
            code,
            to.plus(narrow(at)),
            Operand::As(from, piece),
            None,
        );
    }
}

/// A store of a register or of a part of it.
fn store(asm: &mut Asm, code: Code, to: Mem, from: Operand, part: Option<i64>) {
    let mut operands = vec![Operand::Mem(to), from];
    operands.extend(part.map(|part| Operand::Imm(narrow(part))));
    asm.op(Op {
        rm: None,
        ..Op::new(code, None, &operands)
    });
}

/// Loads the first `bytes` of a register, the others of which become zero, if that takes no more than two loads; says whether it did.
pub(super) fn load_bytes(asm: &mut Asm, evex: bool, dst: Reg, from: Mem, bytes: i64) -> bool {
    if !(4..=64).contains(&bytes) || pieces(bytes) > 2 {
        return false;
    }
    let first = 1 << bytes.ilog2();
    let rest = bytes - first;
    if rest > 0 && rest < 4 {
        return false;
    }
    load_piece(asm, evex, dst, from, first);
    let behind = from.plus(narrow(first));
    match (first, rest) {
        (_, 0) => {}
        // The only pair in one row.
        (8, _) => {
            let operands = [
                Operand::As(dst, Width::V128),
                Operand::Mem(behind),
                Operand::Imm(2),
            ];
            write_short(
                asm,
                dst,
                VPINSRD.form(evex, Width::V128),
                Width::V128,
                &operands,
            );
        }
        _ => {
            let piece = asm.reg(Class::Vector(Width::V128));
            load_piece(asm, evex, piece, behind, rest);
            let insert = if evex { &VINSERTI32X4 } else { &VINSERTI128 };
            let width = if first == 16 {
                Width::V256
            } else {
                Width::V512
            };
            let operands = [
                Operand::As(dst, width),
                Operand::Reg(piece),
                Operand::Imm(narrow(first / ROW)),
            ];
            write_short(asm, dst, insert.form(evex, width), width, &operands);
        }
    }
    true
}

/// Loads one piece, of four bytes or more.
fn load_piece(asm: &mut Asm, evex: bool, dst: Reg, from: Mem, bytes: i64) {
    let (row, short) = match bytes {
        4 => (&VMOVD_GPR, Width::V128),
        8 => (&VMOVQ, Width::V128),
        16 => (&VMOVUPS, Width::V128),
        32 => (&VMOVUPS, Width::V256),
        _ => (&VMOVUPS, Width::V512),
    };
    write_short(
        asm,
        dst,
        row.form(evex, short),
        short,
        &[Operand::Mem(from)],
    );
}

/// An instruction that writes the beginning of a register, and zeros behind it.
fn write_short(asm: &mut Asm, dst: Reg, code: Code, short: Width, operands: &[Operand]) {
    asm.op(Op {
        rm: None,
        short: Some(short),
        ..Op::new(code, Some(dst), operands)
    });
}

/// Loads or stores that so many bytes take.
pub(super) fn pieces(bytes: i64) -> u32 {
    bytes.count_ones()
}

/// Bytes of a row, the parts that registers consist of.
const ROW: i64 = 16;
