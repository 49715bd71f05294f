//! The printed form of a [`Body`], for tests and for readers.

use super::body::*;
use super::types::Ty;
use std::fmt::{self, Display, Formatter};

impl Display for Body {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.print(f, &self.name)
    }
}

impl Body {
    /// The text under another name.
    pub(crate) fn print(&self, f: &mut dyn fmt::Write, name: &str) -> fmt::Result {
        write!(f, "body {name}(")?;
        let pointers = self
            .pointers
            .iter()
            .enumerate()
            .map(|(k, access)| match access {
                Access::ReadOnly => format!("p{k}: in"),
                Access::ReadWrite => format!("p{k}: inout"),
            });
        let outer = (0..self.outer).map(|k| format!("o{k}: index"));
        let inputs: Vec<String> = pointers.chain(outer).collect();
        writeln!(f, "{}) {{", inputs.join(", "))?;
        let printer = Printer { body: self };
        printer.block(f, BlockId::PROLOGUE, 1)?;
        writeln!(f, "lanes:")?;
        for r in &self.reductions {
            for a in &r.accumulators {
                writeln!(
                    f,
                    "  {}: {} = accumulated from {}",
                    a.param,
                    self.ty(a.param),
                    a.init
                )?;
            }
        }
        printer.block(f, BlockId::LANES, 1)?;
        for r in &self.reductions {
            let pairs: Vec<String> = r
                .accumulators
                .iter()
                .map(|a| format!("{}, {}", a.pair.0, a.pair.1))
                .collect();
            let next: Vec<String> = r.accumulators.iter().map(|a| a.next.to_string()).collect();
            writeln!(f, "  accumulate {}", next.join(", "))?;
            writeln!(f, "combine({}):", pairs.join("; "))?;
            printer.block(f, r.combine, 1)?;
            for a in &r.accumulators {
                writeln!(f, "  store {} {}, {}", a.ty, a.dest, a.combined)?;
            }
        }
        writeln!(f, "}}")
    }
}

impl Display for Addr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "[{}", self.pointer)?;
        if self.offset != 0 {
            write!(f, " + {}", self.offset)?;
        }
        for (index, stride) in &self.terms {
            write!(f, " + {index}*{stride}")?;
        }
        match self.lane {
            LaneStep::Uniform => {}
            LaneStep::Stride(s) => write!(f, " + lane*{s}")?,
            LaneStep::Gather(v, s) => write!(f, " + {v}*{s}")?,
        }
        f.write_str("]")
    }
}

struct Printer<'a> {
    body: &'a Body,
}

impl Printer<'_> {
    fn block(&self, f: &mut dyn fmt::Write, id: BlockId, depth: usize) -> fmt::Result {
        let pad = "  ".repeat(depth);
        for stmt in &self.body.blocks[id.index()].stmts {
            match stmt {
                Stmt::Let(v) => {
                    write!(f, "{pad}{v}: {} = ", self.body.ty(*v))?;
                    self.inst(f, *v)?;
                    writeln!(f)?;
                }
                Stmt::Store { ty, addr, value } => {
                    writeln!(f, "{pad}store {ty} {addr}, {value}")?;
                }
                Stmt::For(l) => {
                    self.results(f, &pad, l.carries.iter().map(|c| c.result))?;
                    write!(f, "for {} in 0..{}", l.id, l.trip)?;
                    self.carried(f, &l.carries)?;
                    self.block(f, l.body, depth + 1)?;
                    self.yields(f, &pad, l.carries.iter().map(|c| c.next))?;
                }
                Stmt::While(w) => {
                    self.results(f, &pad, w.carries.iter().map(|c| c.result))?;
                    write!(f, "while")?;
                    self.carried(f, &w.carries)?;
                    self.block(f, w.head, depth + 1)?;
                    writeln!(f, "{pad}}} {} {{", w.cond)?;
                    self.block(f, w.body, depth + 1)?;
                    self.yields(f, &pad, w.carries.iter().map(|c| c.next))?;
                }
                Stmt::If(i) => {
                    self.results(f, &pad, i.arms.iter().map(|a| a.result))?;
                    writeln!(f, "if {} {{", i.cond)?;
                    self.block(f, i.then, depth + 1)?;
                    if !i.arms.is_empty() {
                        writeln!(f, "{pad}  yield {}", join(i.arms.iter().map(|a| a.then)))?;
                    }
                    writeln!(f, "{pad}}} else {{")?;
                    self.block(f, i.otherwise, depth + 1)?;
                    self.yields(f, &pad, i.arms.iter().map(|a| a.otherwise))?;
                }
            }
        }
        Ok(())
    }

    fn results(
        &self,
        f: &mut dyn fmt::Write,
        pad: &str,
        results: impl Iterator<Item = Value>,
    ) -> fmt::Result {
        let names = join(results);
        if names.is_empty() {
            write!(f, "{pad}")
        } else {
            write!(f, "{pad}{names} = ")
        }
    }

    fn carried(&self, f: &mut dyn fmt::Write, carries: &[Carry]) -> fmt::Result {
        let pairs: Vec<String> = carries
            .iter()
            .map(|c| format!("{}: {} = {}", c.param, self.body.ty(c.param), c.init))
            .collect();
        if pairs.is_empty() {
            writeln!(f, " {{")
        } else {
            writeln!(f, " with {} {{", pairs.join(", "))
        }
    }

    fn yields(
        &self,
        f: &mut dyn fmt::Write,
        pad: &str,
        values: impl Iterator<Item = Value>,
    ) -> fmt::Result {
        let names = join(values);
        if !names.is_empty() {
            writeln!(f, "{pad}  yield {names}")?;
        }
        writeln!(f, "{pad}}}")
    }

    fn inst(&self, f: &mut dyn fmt::Write, v: Value) -> fmt::Result {
        let ty = self.body.ty(v);
        match self.body.inst(v) {
            Inst::Const(bits) => match ty {
                Ty::F32 => write!(f, "{:?}", f32::from_bits(*bits as u32)),
                Ty::F64 => write!(f, "{:?}", f64::from_bits(*bits)),
                Ty::I32 => write!(f, "{}", *bits as u32 as i32),
                Ty::I64 => write!(f, "{}", *bits as i64),
                Ty::Mask => write!(f, "{}", *bits != 0),
            },
            Inst::Index(i) => write!(f, "index {i}"),
            Inst::Un(op, a) => write!(f, "{} {a}", op.name()),
            Inst::Bin(op, a, b) => write!(f, "{} {a}, {b}", op.name()),
            Inst::Ter(op, a, b, c) => write!(f, "{} {a}, {b}, {c}", op.name()),
            Inst::Lookup(table, i) => {
                write!(f, "lookup table{}x{} at {i}", table.bits(), table.len())
            }
            Inst::Load(mem, addr) => write!(f, "load {mem} {addr}"),
            Inst::Carried | Inst::Result => {
                unreachable!("verified: {v} is no statement")
            }
        }
    }
}

fn join(values: impl Iterator<Item = Value>) -> String {
    values.map(|v| v.to_string()).collect::<Vec<_>>().join(", ")
}
