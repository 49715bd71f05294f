//! The loop IR as text.

use super::{Base, LoopVar, OutputSource, Place, PointerVar, Program, Slot, Step, Stmt};
use crate::lower::emit::Kernel;
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
        for (k, (dtype, shape)) in self.inputs.iter().enumerate() {
            writeln!(f, "in{k}: {dtype}[{}]", dims(shape))?;
        }
        for (k, tensor) in self.consts.iter().enumerate() {
            writeln!(f, "const{k}: {}", tensor.aval())?;
        }
        for (k, bytes) in self.temps.iter().enumerate() {
            writeln!(f, "t{k}: {bytes} bytes at {}", self.offsets[k])?;
        }
        for (k, output) in self.outputs.iter().enumerate() {
            write!(f, "out{k}: {}[{}]", output.dtype, dims(&output.shape))?;
            match output.source {
                OutputSource::Computed => writeln!(f)?,
                OutputSource::Input(k) => writeln!(f, " = in{k}")?,
                OutputSource::Donated(k) => writeln!(f, " in in{k}")?,
                OutputSource::Const(k) => writeln!(f, " = const{k}")?,
                OutputSource::Same(k) => writeln!(f, " = out{k}")?,
            }
        }
        self.block(f, &self.body, 0)?;
        for kernel in &self.kernels {
            writeln!(f)?;
            self.kernel(f, kernel)?;
        }
        Ok(())
    }
}

impl Program {
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
        let name = self.kernels[kernel].body.name();
        format!("{name}{}", self.remark(Step::Kernel(crate::narrow(kernel))))
    }

    /// `kernel k3 for equation 2 (mul), equation 3 (reduce_sum)`.
    pub(crate) fn kernel_title(&self, kernel: usize) -> String {
        let name = self.kernels[kernel].body.name();
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

    fn block(&self, f: &mut fmt::Formatter<'_>, stmts: &[Stmt], indent: usize) -> fmt::Result {
        let pad = "  ".repeat(indent);
        let list = |places: &[Place]| {
            places
                .iter()
                .map(Place::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        };
        for stmt in stmts {
            match stmt {
                Stmt::Nest { kernel, operands } => {
                    let name = self.kernels[*kernel as usize].body.name();
                    let remark = self.remark(Step::Kernel(*kernel));
                    writeln!(f, "{pad}nest {name}({}){remark}", list(operands))?;
                }
                Stmt::Tiles { group, operands } => {
                    let tiles = &self.tiles[*group as usize];
                    writeln!(f, "{pad}by {} of {} rows:", tiles.block, tiles.rows)?;
                    let mut rest = &operands[..];
                    for nest in &tiles.nests {
                        let kernel = &self.kernels[nest.kernel as usize];
                        let (own, others) = rest.split_at(kernel.operands.len());
                        rest = others;
                        let remark = self.remark(Step::Kernel(nest.kernel));
                        writeln!(
                            f,
                            "{pad}  nest {}({}){remark}",
                            kernel.body.name(),
                            list(own)
                        )?;
                    }
                }
                Stmt::Call { call, operands } => {
                    let name = &self.calls[*call as usize].name;
                    let remark = self.remark(Step::Call(*call));
                    writeln!(f, "{pad}call {name}({}){remark}", list(operands))?;
                }
                Stmt::Copy { from, to, bytes } => {
                    writeln!(f, "{pad}copy {bytes} bytes {from} -> {to}")?
                }
                Stmt::For {
                    var,
                    count,
                    slots,
                    body,
                } => {
                    writeln!(f, "{pad}for {var} in 0..{count}{}:", swaps(slots))?;
                    self.block(f, body, indent + 1)?;
                }
                Stmt::While {
                    slots,
                    cond,
                    test,
                    body,
                } => {
                    writeln!(f, "{pad}loop{}:", swaps(slots))?;
                    self.block(f, cond, indent + 1)?;
                    writeln!(f, "{pad}  leave unless {test}")?;
                    self.block(f, body, indent + 1)?;
                }
                Stmt::Switch { index, branches } => {
                    writeln!(f, "{pad}switch {index}:")?;
                    for (k, branch) in branches.iter().enumerate() {
                        writeln!(f, "{pad}  case {k}:")?;
                        self.block(f, branch, indent + 2)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn kernel(&self, f: &mut impl fmt::Write, kernel: &Kernel) -> fmt::Result {
        write!(f, "kernel {}", kernel.body.name())?;
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
        writeln!(f, "{}", kernel.body)
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
