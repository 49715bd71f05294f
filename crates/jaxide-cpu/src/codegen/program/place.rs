//! Addresses of places.

use super::code::{Around, Generator};
use crate::lanes::MemTy;
use crate::lower::program::{Base, Dynamic, Place};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use jaxide_core::DType;

impl Generator<'_, '_> {
    /// The address of a place.
    pub(super) fn address(&mut self, place: &Place) -> ir::Value {
        let mut address = match place.base {
            Base::Temp(temp) if self.own.binary_search(&temp).is_ok() => self.params.own,
            base => self.base(base),
        };
        let mut offset = place.offset;
        if let Base::Temp(temp) = place.base {
            offset += self.program.offsets[temp as usize] as i64;
        }
        for &(var, step) in &place.terms {
            let index = self.loops[var.0 as usize];
            let scaled = self.fb.ins().imul_imm_s(index, step);
            address = self.fb.ins().iadd(address, scaled);
        }
        for dynamic in &place.dynamic {
            let index = self.clamped_index(dynamic);
            let scaled = self.fb.ins().imul_imm_s(index, dynamic.stride);
            address = self.fb.ins().iadd(address, scaled);
        }
        if offset == 0 {
            address
        } else {
            self.fb.ins().iadd_imm_s(address, offset)
        }
    }

    fn base(&mut self, base: Base) -> ir::Value {
        let table = |generator: &mut Self, table: ir::Value, k: u32| {
            generator
                .fb
                .ins()
                .load(types::I64, MemFlagsData::trusted(), table, 8 * k as i32)
        };
        match base {
            Base::Input(k) => table(self, self.params.inputs, k),
            Base::Output(k) => table(self, self.params.outputs, k),
            Base::Const(k) => match self.callees.around {
                Around::Process(_) => table(self, self.params.consts, k),
                Around::Object(linked) => self.constant(linked.consts[k as usize]),
            },
            Base::Temp(_) => self.params.arena,
            Base::Pointer(var) => self.fb.use_var(self.pointers[var.0 as usize]),
        }
    }

    /// An integer in memory, moved into `0..=most`, as an `i64`.
    fn clamped_index(&mut self, dynamic: &Dynamic) -> ir::Value {
        self.check_read(&dynamic.index, dynamic.dtype.size(), "an index");
        let (ty, signed) = match dynamic.dtype {
            DType::I8 | DType::I4 | DType::I2 => (MemTy::I8, true),
            DType::I16 => (MemTy::I16, true),
            DType::I32 => (MemTy::I32, true),
            DType::I64 => (MemTy::I64, true),
            DType::U16 => (MemTy::U16, false),
            DType::U32 => (MemTy::I32, false),
            DType::U64 => (MemTy::I64, false),
            _ => (MemTy::U8, false),
        };
        let number = self.number(&dynamic.index, ty);
        let most = self.fb.ins().iconst(types::I64, dynamic.most);
        if signed {
            let wide = if ty == MemTy::I64 {
                number
            } else {
                self.fb.ins().sextend(types::I64, number)
            };
            let zero = self.fb.ins().iconst(types::I64, 0);
            let above = self.fb.ins().smax(wide, zero);
            self.fb.ins().smin(above, most)
        } else {
            let wide = if ty == MemTy::I64 {
                number
            } else {
                self.fb.ins().uextend(types::I64, number)
            };
            self.fb.ins().umin(wide, most)
        }
    }
}
