//! Steps of checked programs as generated code.

use super::code::Generator;
use crate::codegen::module::Import;
use crate::lower::program::{Base, Place};
use crate::narrow;
use crate::runtime::checked::{Check, Step, WORDS, WRITTEN};
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use cranelift_module::{DataId, Linkage};
use jaxide_core::byte_size;

/// The name by which code refers to a step.
pub(crate) fn symbol(check: usize) -> String {
    format!("check{check}")
}

impl Generator<'_, '_> {
    /// Runs a step and leaves when it fails.
    pub(super) fn check(&mut self, step: Step, subject: Option<DataId>, places: &[&Place]) {
        let operands: Vec<[ir::Value; WORDS]> =
            places.iter().map(|place| self.described(place)).collect();
        let words: Vec<ir::Value> = operands.into_iter().flatten().collect();
        let table = self.fill_table(&words);
        let names = places.iter().map(ToString::to_string).collect();
        let name = symbol(self.first_check + self.checks.len());
        self.checks.push(Box::new(Check::new(step, names)));
        let check = self
            .module
            .declare_data(&name, Linkage::Import, false, false);
        let check = self.constant(check.expect("nothing else has this name"));
        let subject = match subject {
            Some(subject) => self.constant(subject),
            None => self.fb.ins().iconst(types::I64, 0),
        };
        let context = self.params.context;
        let args = [check, subject, table, context];
        if let Some(status) = self.call_import(Import::Check, &args) {
            self.leave_if(status);
        }
    }

    /// Looks at what the next instruction reads.
    pub(super) fn check_read(&mut self, place: &Place, bytes: usize, what: &'static str) {
        if self.checked {
            self.check(Step::Read(bytes, what), None, &[place]);
        }
    }

    /// The words of an [`Operand`].
    pub(super) fn described(&mut self, place: &Place) -> [ir::Value; WORDS] {
        let address = self.address(place);
        let [start, length, shadow, tag] = self.array(place.base);
        [address, start, length, shadow, tag]
    }

    /// Start, length, shadow and tag of an array.
    fn array(&mut self, base: Base) -> [ir::Value; WORDS - 1] {
        let program = self.program;
        if let Base::Pointer(var) = base {
            return self.bounds[var.0 as usize].map(|word| self.fb.use_var(word));
        }
        let start = self.address(&Place::at(base));
        let size = |shape: &[usize], dtype| byte_size(shape, dtype).unwrap_or(0);
        let (length, shadow, tag) = match base {
            Base::Input(k) => {
                let (dtype, shape) = &program.inputs[k as usize];
                let shadow = (self.params.inputs, k as usize + program.inputs.len());
                (size(shape, *dtype), Some(shadow), WRITTEN)
            }
            Base::Output(k) => {
                let output = &program.outputs[k as usize];
                let shadow = (self.params.outputs, k as usize + program.outputs.len());
                (size(&output.shape, output.dtype), Some(shadow), WRITTEN)
            }
            Base::Const(k) => {
                let length = program.consts[k as usize].bytes().len();
                let shadow = (self.params.consts, k as usize + program.consts.len());
                (length, Some(shadow), WRITTEN)
            }
            Base::Temp(k) => (program.temps[k as usize], None, tag_of(k)),
            Base::Pointer(_) => unreachable!("handled above"),
        };
        let shadow = match shadow {
            Some((table, k)) => {
                let at = narrow::<_, i32>(8 * k);
                let flags = MemFlagsData::trusted();
                self.fb.ins().load(types::I64, flags, table, at)
            }
            // The shadow of the arena is behind it.
            None => self
                .fb
                .ins()
                .iadd_imm_s(start, narrow::<_, i64>(program.arena)),
        };
        let tag = i64::from_le_bytes([tag; 8]);
        let [length, tag] =
            [narrow(length), tag].map(|word| self.fb.ins().iconst(types::I64, word));
        [start, length, shadow, tag]
    }
}

/// What the shadow of the arena holds where this temporary was written: another byte for others in most cases, never 0 or
/// [`WRITTEN`].
#[allow(
    clippy::cast_possible_truncation,
    reason = "the remainder is below 254"
)]
fn tag_of(temp: u32) -> u8 {
    (temp % 254 + 1) as u8
}
