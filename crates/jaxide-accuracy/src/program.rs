//! Functions as programs, run by the interpreter or as native code.

use jaxide_core::{ClosedJaxpr, DType, Error, Tensor, eval, parse};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, Executable, compile};

/// What runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// The interpreter.
    Eval,
    /// Native code for an instruction set.
    Native(Isa),
}

impl Backend {
    /// Those of this machine: native code first, for the widest registers.
    pub fn available() -> Vec<Backend> {
        let native = Isa::available().into_iter().map(Backend::Native);
        native.chain([Backend::Eval]).collect()
    }

    /// The name in tables and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Eval => "eval",
            Backend::Native(isa) => isa.name(),
        }
    }
}

/// An elementwise function on arrays of a fixed length.
pub struct Program {
    jaxpr: ClosedJaxpr,
    native: Option<Executable>,
    dtype: DType,
    length: usize,
}

impl Program {
    /// The program that applies `operation` (a primitive with its parameters, as text) to `arity` arrays of this type and length.
    ///
    /// # Errors
    /// When there is no such function of such numbers.
    pub fn new(
        operation: &str,
        arity: usize,
        dtype: DType,
        length: usize,
        backend: Backend,
    ) -> Result<Program, Error> {
        let names = &["a", "b", "c"][..arity];
        let inputs: Vec<String> = names
            .iter()
            .map(|name| format!("{name}:{dtype}[{length}]"))
            .collect();
        let text = format!(
            "{{ lambda ; {}. let d:{dtype}[{length}] = {operation} {} in (d,) }}",
            inputs.join(" "),
            names.join(" "),
        );
        let jaxpr = parse(&text).map_err(|error| Error::parameter(error.to_string()))?;
        let native = match backend {
            Backend::Eval => None,
            Backend::Native(isa) => Some(compile(
                &jaxpr,
                &CompileOptions {
                    threads: Some(1),
                    isa: Some(isa),
                    ..CompileOptions::default()
                },
            )?),
        };
        Ok(Program {
            jaxpr,
            native,
            dtype,
            length,
        })
    }

    /// The number of elements that are computed at once.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The results on arrays of bytes, one for each operand, of as many elements as the program has.
    ///
    /// # Errors
    /// When an array has another size, or the program fails.
    pub fn run(&self, operands: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
        let operands = operands
            .iter()
            .map(|bytes| Tensor::from_bytes(&[self.length], self.dtype, bytes))
            .collect::<Result<Vec<Tensor>, Error>>()?;
        let results = match &self.native {
            Some(native) => native.run(&operands)?,
            None => eval::eval(&self.jaxpr, &operands)?,
        };
        Ok(results[0].bytes().to_vec())
    }
}
