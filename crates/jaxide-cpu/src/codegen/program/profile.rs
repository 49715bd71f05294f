//! Steps whose times are taken, as generated code.

use super::code::Generator;
use crate::codegen::module::Import;
use crate::lower::program::Stmt;
use cranelift_codegen::ir::{InstBuilder, types};
use cranelift_module::DataId;

/// The name by which code refers to the times of its steps.
pub(super) const SYMBOL: &str = "profile";

impl Generator<'_, '_> {
    /// The step of a number, between two looks at the clock.
    pub(super) fn timed(&mut self, stmt: &Stmt, step: usize, cells: DataId) {
        self.call_import(Import::ProfileEnter, &[]);
        self.stmt(stmt);
        let copied = match stmt {
            Stmt::Copy { bytes, .. } => *bytes,
            _ => 0,
        };
        let cells = self.constant(cells);
        let [step, copied] = [step, copied].map(|n| self.fb.ins().iconst(types::I64, n as i64));
        self.call_import(Import::ProfileLeave, &[cells, step, copied]);
    }
}
