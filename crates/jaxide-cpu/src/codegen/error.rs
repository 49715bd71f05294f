//! Why there is no code.

use crate::isa::Isa;
use cranelift_module::ModuleError;
use std::fmt;

/// Why a body was not compiled.
#[derive(Debug)]
pub enum CompileError {
    /// The machine does not have this instruction set.
    Unavailable(Isa),
    /// The code generator refused.
    Codegen(String),
    /// There was no memory for the code.
    Memory(std::io::Error),
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::Unavailable(isa) => {
                write!(f, "this machine does not have {}", isa.name())
            }
            CompileError::Codegen(why) => write!(f, "code generation: {why}"),
            CompileError::Memory(e) => write!(f, "memory for code: {e}"),
        }
    }
}

impl std::error::Error for CompileError {}

#[cfg(all(target_arch = "x86_64", unix))]
impl From<iced_x86::IcedError> for CompileError {
    fn from(error: iced_x86::IcedError) -> CompileError {
        CompileError::Codegen(error.to_string())
    }
}

impl From<ModuleError> for CompileError {
    fn from(error: ModuleError) -> CompileError {
        match error {
            ModuleError::Allocation { err } => CompileError::Memory(err),
            ModuleError::Compilation(error) => CompileError::Codegen(format!("{error:?}")),
            other => CompileError::Codegen(other.to_string()),
        }
    }
}
