//! Registers and where they are when they are in none of the machine's: loads, stores and copies.

use super::*;
use crate::codegen::x86::table;

impl Encode<'_> {
    /// The home of a spilled register as an operand, if it can be one.
    pub(super) fn direct(&self, r: Reg, broadcast: bool) -> Option<Address> {
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

    pub(super) fn frame(&self, at: i32) -> Address {
        Address {
            base: Register::RSP,
            index: Register::None,
            scale: 1,
            displacement: i64::from(at),
            broadcast: false,
        }
    }

    pub(super) fn pool(&self, offset: i32) -> Address {
        Address {
            base: Register::RIP,
            ..self.frame(offset)
        }
    }

    pub(super) fn load_home(&mut self, r: Reg, m: u8) -> Encoded {
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
                let Class::Vector(width) = class else {
                    unreachable!("masks are no elements")
                };
                let row = match (self.evex, bytes, width) {
                    (false, 8, Width::V128) => &table::VMOVDDUP,
                    (_, 8, _) => &table::VBROADCASTSD,
                    _ => &table::VBROADCASTSS,
                };
                let code = row.form(self.evex, width);
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

    pub(super) fn store_home(&mut self, r: Reg, m: u8) -> Encoded {
        match self.allocation.places[r.index()] {
            Place::Memory(at) => self.frame_store(self.class(r), m, at),
            _ => unreachable!("only spilled registers are stored"),
        }
    }

    pub(super) fn frame_load(&mut self, class: Class, m: u8, at: i32) -> Encoded {
        let (to, from) = (
            Resolved::Register(self.machine(class, m)),
            Resolved::Memory(self.frame(at)),
        );
        self.emit(self.load_code(class), &[to, from], None)
    }

    pub(super) fn frame_store(&mut self, class: Class, m: u8, at: i32) -> Encoded {
        let code = match class {
            Class::Mask => Code::VEX_Kmovq_m64_kr,
            Class::Vector(width) => table::VMOVUPS_STORE.form(self.evex, width),
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
    pub(super) fn load_code(&self, class: Class) -> Code {
        match class {
            Class::Mask => Code::VEX_Kmovq_kr_km64,
            Class::Vector(width) => table::VMOVUPS.form(self.evex, width),
        }
    }

    pub(super) fn copy(&mut self, class: Class, to: u8, from: u8) -> Encoded {
        if to == from {
            return Ok(());
        }
        let operands = [self.machine(class, to), self.machine(class, from)].map(Resolved::Register);
        self.emit(self.load_code(class), &operands, None)
    }
}
