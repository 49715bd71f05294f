//! Programs as source, near enough to Rust to be made into a test.

use std::fmt::{self, Write};

use super::program::{
    Block, How, Id, Index, Key, Line, Make, Op, Operand, Place, Program, Staged, Ty,
};
use super::run::dtype;

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut out, mut before) = (String::new(), String::new());
        self.block.each_line(&mut |line| {
            if let Op::Constant(values, Place::Captured) = &line.op {
                let (id, ty) = &line.outs[0];
                let _ = writeln!(before, "let x{id} = {};", array(ty, values));
            }
        });
        closure(&mut out, &self.block, 0)?;
        let packed = &self.block.inputs[..self.floats];
        let ids: Vec<String> = packed.iter().map(|(id, _)| format!("x{id}")).collect();
        write!(
            f,
            "// seed {}; {} packed as {:?}\n{before}let f = {out};\n",
            self.seed,
            ids.join(", "),
            self.form
        )
    }
}

fn array(ty: &Ty, values: &[f64]) -> String {
    format!(
        "Array::from_vec(&{:?}, vec!{values:?} /* {} */)",
        ty.shape,
        dtype(ty.kind)
    )
}

fn closure(out: &mut String, block: &Block, depth: usize) -> fmt::Result {
    let inputs: Vec<String> = block
        .inputs
        .iter()
        .map(|(id, ty)| format!("x{id}: {}{:?}", dtype(ty.kind), ty.shape))
        .collect();
    writeln!(out, "|{}| {{", inputs.join(", "))?;
    let indent = "    ".repeat(depth + 1);
    for line in &block.lines {
        if matches!(line.op, Op::Constant(_, Place::Captured)) {
            continue;
        }
        let outs: Vec<String> = line.outs.iter().map(|(id, _)| format!("x{id}")).collect();
        let ty = &line.outs[0].1;
        write!(out, "{indent}let {} = ", list(&outs))?;
        write_line(out, line, depth + 1)?;
        writeln!(out, "; // {}{:?}", dtype(ty.kind), ty.shape)?;
    }
    let results: Vec<String> = block.results.iter().map(|id| format!("x{id}")).collect();
    write!(
        out,
        "{indent}{}\n{}}}",
        list(&results),
        "    ".repeat(depth)
    )
}

fn list(names: &[String]) -> String {
    match names {
        [name] => name.clone(),
        names => format!("({})", names.join(", ")),
    }
}

fn name(id: Id) -> String {
    format!("x{id}")
}

fn operand(operand: Operand) -> String {
    match operand {
        Operand::Var(id) => name(id),
        Operand::Int(number) => number.to_string(),
        Operand::Float(number) => format!("{number:?}"),
    }
}

fn index(index: &Index) -> String {
    match index {
        Index::Number(number) => number.to_string(),
        Index::Array(numbers) => format!("{numbers:?}"),
        Index::Var(id) => name(*id),
    }
}

fn key(of: &Key) -> String {
    match of {
        Key::Seed(seed, place) => format!("random::key({seed}) /* {place:?} */"),
        Key::Fold(inner, data) => format!("random::fold_in(&{}, {})", key(inner), operand(*data)),
        Key::Split(inner, count, index) => {
            format!("random::split(&{}, {count}).index({index})", key(inner))
        }
    }
}

fn write_line(out: &mut String, line: &Line, depth: usize) -> fmt::Result {
    let ty = &line.outs[0].1;
    let kind = dtype(ty.kind);
    let names = |ids: &[Id]| {
        ids.iter()
            .map(|&id| name(id))
            .collect::<Vec<_>>()
            .join(", ")
    };
    match &line.op {
        Op::Constant(values, _) => write!(out, "{}", array(ty, values)),
        Op::Make(Make::Iota(axis)) => write!(out, "lax::iota({kind}, &{:?}, {axis})", ty.shape),
        Op::Make(make) => write!(out, "{make:?} of {kind}{:?}", ty.shape),
        Op::Uniform(of) => write!(
            out,
            "random::uniform(&{}, &{:?}, F32, 0.0, 1.0)",
            key(of),
            ty.shape
        ),
        Op::Unary(op, x) => write!(out, "x{x}.{}()", format!("{op:?}").to_lowercase()),
        Op::Binary(op, x, y) => write!(out, "{} {} {}", operand(*x), symbol(*op), operand(*y)),
        Op::Where(condition, x, y) => write!(
            out,
            "where_(&x{condition}, &{}, &{})",
            operand(*x),
            operand(*y)
        ),
        Op::Clip(x, low, high) => write!(out, "numpy::clip(&x{x}, {low:?}, {high:?})"),
        Op::Convert(x) => write!(out, "x{x}.astype({kind})"),
        Op::Reduce(op, x, axes) => {
            write!(
                out,
                "numpy::{}(&x{x}, {axes:?})",
                format!("{op:?}").to_lowercase()
            )
        }
        Op::Along(op, x, axis) => {
            write!(out, "{}(&x{x}, {axis})", format!("{op:?}").to_lowercase())
        }
        Op::Reshape(x) => write!(out, "x{x}.reshape(&{:?})", ty.shape),
        Op::Transpose(x, axes) => write!(out, "x{x}.transpose(&{axes:?})"),
        Op::Broadcast(x) => write!(out, "x{x}.broadcast_to(&{:?})", ty.shape),
        Op::Concatenate(xs, axis) => write!(out, "numpy::concatenate(&[{}], {axis})", names(xs)),
        Op::Stack(xs, axis) => write!(out, "numpy::stack(&[{}], {axis})", names(xs)),
        Op::Index(x, at) => write!(out, "x{x}.index({})", index(at)),
        Op::Slice(x, start, limit) => write!(out, "x{x}.slice({start}..{limit})"),
        Op::Take(x, indices, axis) => {
            write!(out, "numpy::take(&x{x}, &Array::from({indices:?}), {axis})")
        }
        Op::Update(update, x, at, value) => write!(
            out,
            "x{x}.at({}).{}({})",
            index(at),
            format!("{update:?}").to_lowercase(),
            operand(*value)
        ),
        Op::Product(x, y) => write!(out, "x{x}.dot(&x{y})"),
        Op::Pad(x, with, config) => write!(out, "lax::pad(&x{x}, {with:?}, &[{config:?}, ..])"),
        Op::Unpack(x) => write!(out, "x{x}.unpack()"),
        Op::Staged(of) => staged(out, of, depth),
    }
}

fn symbol(op: super::program::Binary) -> String {
    use super::program::Binary;
    let symbol = match op {
        Binary::Add => "+",
        Binary::Sub => "-",
        Binary::Mul => "*",
        Binary::Div => "/",
        Binary::Rem => "%",
        Binary::Lt => "<",
        Binary::Le => "<=",
        Binary::Gt => ">",
        Binary::Ge => ">=",
        Binary::Eq => "==",
        Binary::Ne => "!=",
        Binary::And => "&",
        Binary::Or => "|",
        Binary::Xor => "^",
        Binary::Shl => "<<",
        Binary::Shr => ">>",
        Binary::Max | Binary::Min | Binary::FloorDiv => return format!("`{op:?}`"),
    };
    symbol.to_owned()
}

fn staged(out: &mut String, staged: &Staged, depth: usize) -> fmt::Result {
    let called = match &staged.how {
        How::Cond(predicate) => format!("cond(x{predicate}"),
        How::Switch(index) => format!("switch(x{index}"),
        How::While(limit) => format!("while_loop(/* at most {limit} */"),
        How::Fori(lower, upper) => format!("fori_loop({}, {}", operand(*lower), operand(*upper)),
        How::Scan {
            carry,
            reverse,
            length,
        } => format!("scan(/* carry {carry}, reverse {reverse}, length {length} */"),
        How::Vmap(axes, _) => format!("vmap(/* axes {axes:?} */"),
        How::Grad { value } => format!("grad(/* value {value} */"),
        other => format!("{}(", format!("{other:?}").to_lowercase()),
    };
    write!(out, "{called}")?;
    for block in &staged.blocks {
        write!(out, ", ")?;
        closure(out, block, depth)?;
    }
    let operands: Vec<String> = staged.operands.iter().map(|&id| name(id)).collect();
    write!(out, ", {:?}[{}])", staged.form, operands.join(", "))
}
