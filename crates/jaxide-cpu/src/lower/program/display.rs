//! The loop IR as text.

use super::{
    Base, LoopVar, OutputSource, Place, PointerVar, Program, Slot, Step, Stmt, TileGroup, Turns,
};
use crate::lower::emit::Kernel;
use crate::lower::text::LINE;
use jaxide_core::document::{Document, Parts};
use std::fmt;

impl fmt::Display for LoopVar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "i{}", self.0)
    }
}

impl fmt::Display for PointerVar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", self.0)
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Base::Input(k) => write!(f, "in{k}"),
            Base::Output(k) => write!(f, "out{k}"),
            Base::Const(k) => write!(f, "const{k}"),
            Base::Temp(k) => write!(f, "t{k}"),
            Base::Pointer(var) => write!(f, "{var}"),
        }
    }
}

/// `t3+64+i0*12+clamp(t1, 7)*4`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.base)?;
        if self.offset != 0 {
            write!(f, "{:+}", self.offset)?;
        }
        for (var, step) in &self.terms {
            write!(f, "+{var}*{step}")?;
        }
        for dynamic in &self.dynamic {
            write!(
                f,
                "+clamp({}, {})*{}",
                dynamic.index, dynamic.most, dynamic.stride
            )?;
        }
        Ok(())
    }
}

fn dims(shape: &[usize]) -> String {
    shape
        .iter()
        .map(usize::to_string)
        .collect::<Vec<_>>()
        .join(",")
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = Parts::new();
        let mut document = Document::new(&parts, LINE, false);
        for line in self.memory() {
            document.line();
            document.text(&line);
        }
        self.block(&mut document, &self.body);
        writeln!(f, "{}", document.layout())?;
        for kernel in &self.kernels {
            writeln!(f)?;
            self.kernel(f, kernel)?;
        }
        Ok(())
    }
}

impl Program {
    /// Inputs, constants, temporaries and outputs, a line each.
    fn memory(&self) -> Vec<String> {
        let inputs = self.inputs.iter().enumerate();
        let inputs = inputs.map(|(k, (dtype, shape))| format!("in{k}: {dtype}[{}]", dims(shape)));
        let consts = self.consts.iter().enumerate();
        let consts = consts.map(|(k, tensor)| format!("const{k}: {}", tensor.aval()));
        let temps = self.temps.iter().zip(&self.offsets).enumerate();
        let temps = temps.map(|(k, (bytes, offset))| {
            let is_kept = |group: &&TileGroup| group.kept.iter().any(|of| of.temp as usize == k);
            let rows = match self.tiles.iter().find(is_kept) {
                Some(group) => format!(", {} rows", group.block),
                None => String::new(),
            };
            format!("t{k}: {bytes} bytes at {offset}{rows}")
        });
        let outputs = self.outputs.iter().enumerate().map(|(k, output)| {
            let source = match output.source {
                OutputSource::Computed => String::new(),
                OutputSource::Input(k) => format!(" = in{k}"),
                OutputSource::Donated(k) => format!(" in in{k}"),
                OutputSource::Const(k) => format!(" = const{k}"),
                OutputSource::Same(k) => format!(" = out{k}"),
            };
            format!("out{k}: {}[{}]{source}", output.dtype, dims(&output.shape))
        });
        inputs.chain(consts).chain(temps).chain(outputs).collect()
    }

    /// `  # encoder, loss; equation 2 (mul, 3:5)`: the named scopes that a step belongs to, and the equations if they are known.
    fn remark(&self, step: Step) -> String {
        let scopes = self.scopes.get(&step).map(|scopes| scopes.join(", "));
        let origins = self.origins.get(&step).map(|origins| origins.join(", "));
        let both: Vec<String> = scopes.into_iter().chain(origins).collect();
        if both.is_empty() {
            String::new()
        } else {
            format!("  # {}", both.join("; "))
        }
    }

    /// The text of a lane program, with what it computes.
    pub(crate) fn kernel_text(&self, kernel: usize) -> String {
        let remark = self.remark(Step::Kernel(crate::narrow(kernel)));
        let mut text = format!("{}\n", remark.trim_start());
        // Nothing is written to but a string.
        let _ = self.kernel(&mut text, &self.kernels[kernel]);
        text
    }

    /// `k0  # encoder, loss`: a lane program, with the named scopes that it belongs to.
    pub(crate) fn kernel_name(&self, kernel: usize) -> String {
        let name = &self.kernels[kernel].name;
        format!("{name}{}", self.remark(Step::Kernel(crate::narrow(kernel))))
    }

    /// `kernel k3 for equation 2 (mul), equation 3 (reduce_sum)`.
    pub(crate) fn kernel_title(&self, kernel: usize) -> String {
        let name = &self.kernels[kernel].name;
        self.title(
            &format!("kernel {name}"),
            Step::Kernel(crate::narrow(kernel)),
        )
    }

    /// `sort for equation 2 (sort)`.
    pub(crate) fn call_title(&self, call: usize) -> String {
        self.title(&self.calls[call].name, Step::Call(crate::narrow(call)))
    }

    fn title(&self, name: &str, step: Step) -> String {
        match self.origins.get(&step) {
            Some(origins) => format!("{name} for {}", origins.join(", ")),
            None => name.to_owned(),
        }
    }

    /// Statements, each from a line of its own on.
    fn block(&self, document: &mut Document<'_>, stmts: &[Stmt]) {
        for stmt in stmts {
            document.line();
            match stmt {
                Stmt::Nest { kernel, operands } => self.nest(document, *kernel, operands),
                Stmt::Tiles { group, operands } => {
                    let tiles = &self.tiles[*group as usize];
                    document.text(&format!("by {} of {} rows:", tiles.block, tiles.rows));
                    document.indent(2);
                    for (kernel, own) in self.nests_of(*group, operands) {
                        document.line();
                        self.nest(document, kernel, own);
                    }
                    document.dedent();
                }
                Stmt::Call { call, operands } => {
                    let name = format!("call {}", self.calls[*call as usize].name);
                    self.application(document, &name, operands, Step::Call(*call));
                }
                Stmt::Copy { from, to, bytes } => {
                    document.text(&format!("copy {bytes} bytes {from} -> {to}"));
                }
                Stmt::For {
                    var,
                    count,
                    slots,
                    body,
                    turns,
                } => {
                    let how = match turns {
                        Turns::InOrder | Turns::AnyOrder => "",
                        Turns::Parallel(_) => "parallel ",
                    };
                    document.text(&format!("{how}for {var} in 0..{count}{}:", swaps(slots)));
                    document.indent(2);
                    self.block(document, body);
                    document.dedent();
                }
                Stmt::While {
                    slots,
                    cond,
                    test,
                    body,
                } => {
                    document.text(&format!("loop{}:", swaps(slots)));
                    document.indent(2);
                    self.block(document, cond);
                    document.line();
                    document.text(&format!("leave unless {test}"));
                    self.block(document, body);
                    document.dedent();
                }
                Stmt::Switch { index, branches } => {
                    document.text(&format!("switch {index}:"));
                    for (k, branch) in branches.iter().enumerate() {
                        document.indent(2);
                        document.line();
                        document.text(&format!("case {k}:"));
                        document.indent(2);
                        self.block(document, branch);
                        document.dedent();
                        document.dedent();
                    }
                }
            }
        }
    }

    fn nest(&self, document: &mut Document<'_>, kernel: u32, operands: &[Place]) {
        let name = format!("nest {}", self.kernels[kernel as usize].name);
        self.application(document, &name, operands, Step::Kernel(kernel));
    }

    /// `call sort(in0, out0)  # equation 2 (sort)`.
    fn application(&self, document: &mut Document<'_>, name: &str, operands: &[Place], step: Step) {
        document.text(&format!("{name}("));
        document.indent(4);
        document.list(operands);
        document.text(&format!("){}", self.remark(step)));
        document.dedent();
    }

    fn kernel(&self, f: &mut impl fmt::Write, kernel: &Kernel) -> fmt::Result {
        write!(f, "kernel {}", kernel.name)?;
        for length in &kernel.schedule.outer {
            write!(f, " for {length}")?;
        }
        if let Some(rows) = kernel.schedule.rows {
            write!(f, " rows {rows}")?;
        }
        if let Some(chunk) = kernel.schedule.chunk {
            write!(f, " by {chunk}")?;
        }
        if kernel.schedule.partial_count() > 1 {
            write!(f, " in {} partial results", kernel.schedule.partial_count())?;
        }
        writeln!(f, " lanes {}", kernel.schedule.lanes)?;
        writeln!(f, "{kernel}")
    }
}

fn swaps(slots: &[Slot]) -> String {
    slots
        .iter()
        .map(|slot| {
            format!(
                ", {}/{} = {}/{}",
                slot.current, slot.next, slot.buffers[0], slot.buffers[1]
            )
        })
        .collect()
}
