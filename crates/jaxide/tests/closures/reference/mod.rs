//! A second evaluator: plain loops over vectors, which shares nothing with the crate.
//!
//! Where rounding may decide between two different results (a comparison of nearly equal numbers) it gives up, and where
//! it may decide a derivative it says so.

mod along;
mod elementwise;
mod keys;
mod reduce;
mod shapes;
mod staged;
mod value;

pub(crate) use elementwise::common;

use std::cmp::Ordering;
use std::rc::Rc;

pub(crate) use value::{Value, unit};

use super::number::Num;
use super::program::{Block, Id, Index, Kind, Line, Make, Op, Operand, Program, Ty};

/// Rounding decides what the result is.
#[derive(Debug)]
pub(crate) struct Undecided;

pub(crate) type Outcome<T> = Result<T, Undecided>;

/// Values so far.
pub(crate) struct Evaluator {
    env: Vec<Option<Rc<Value>>>,
    /// Whether the second direction is in use by a derivative inside the program.
    inside: bool,
    /// Whether rounding decides a derivative.
    pub(crate) kink: bool,
}

/// The results of a program, and whether their derivatives are defined.
pub(crate) fn evaluate(program: &Program, inputs: &[Rc<Value>]) -> Outcome<(Vec<Rc<Value>>, bool)> {
    let mut evaluator = Evaluator {
        env: vec![None; program.count],
        inside: false,
        kink: false,
    };
    let results = evaluator.block(&program.block, inputs)?;
    Ok((results, !evaluator.kink))
}

impl Evaluator {
    fn block(&mut self, block: &Block, inputs: &[Rc<Value>]) -> Outcome<Vec<Rc<Value>>> {
        for ((id, ty), value) in block.inputs.iter().zip(inputs) {
            assert_eq!(*ty, value.ty, "input {id}");
            self.env[*id] = Some(value.clone());
        }
        for line in &block.lines {
            let values = self.line(line)?;
            assert_eq!(values.len(), line.outs.len(), "{line:?}");
            for ((id, ty), value) in line.outs.iter().zip(values) {
                assert_eq!(*ty, value.ty, "{line:?}");
                self.env[*id] = Some(value);
            }
        }
        Ok(block.results.iter().map(|&id| self.get(id)).collect())
    }

    fn get(&self, id: Id) -> Rc<Value> {
        self.env[id].clone().expect("a value of an earlier line")
    }

    fn operand(&self, operand: Operand, kind: Kind) -> Rc<Value> {
        match operand {
            Operand::Var(id) => self.get(id),
            Operand::Int(number) => Rc::new(Value::scalar(kind, number as f64)),
            Operand::Float(number) => Rc::new(Value::scalar(kind, number)),
        }
    }

    /// Two operands; a number takes the type of the other.
    fn operands(&self, x: Operand, y: Operand) -> [Rc<Value>; 2] {
        let kind = [x, y].into_iter().find_map(|operand| match operand {
            Operand::Var(id) => Some(self.get(id).ty.kind),
            Operand::Int(_) | Operand::Float(_) => None,
        });
        let kind = kind.expect("an operand that is no number");
        [self.operand(x, kind), self.operand(y, kind)]
    }

    fn line(&mut self, line: &Line) -> Outcome<Vec<Rc<Value>>> {
        let ty = &line.outs[0].1;
        let value = match &line.op {
            Op::Staged(staged) => return self.staged(staged),
            Op::Unpack(x) => return Ok(shapes::unpacked(&self.get(*x))),
            Op::Constant(values, _) => Value::of(ty, values),
            Op::Make(make) => made(ty, *make),
            Op::Uniform(key) => {
                let key = self.key(key);
                Value::of(ty, &keys::uniform(key, ty.size()))
            }
            Op::Unary(op, x) => self.unary(*op, &self.get(*x))?,
            Op::Binary(op, x, y) => {
                let [x, y] = self.operands(*x, *y);
                self.binary(*op, &x, &y, ty)?
            }
            Op::Where(condition, x, y) => {
                let [x, y] = self.operands(*x, *y);
                shapes::chosen(&self.get(*condition), &x, &y, ty)
            }
            Op::Clip(x, low, high) => self.clipped(&self.get(*x), *low, *high)?,
            Op::Convert(x) => elementwise::converted(&self.get(*x), ty.kind)?,
            Op::Reduce(op, x, axes) => self.reduced(*op, &self.get(*x), axes, ty)?,
            Op::Along(op, x, axis) => self.along(*op, &self.get(*x), *axis, ty)?,
            Op::Reshape(x) => self.get(*x).with_shape(&ty.shape),
            Op::Transpose(x, axes) => shapes::transposed(&self.get(*x), axes),
            Op::Broadcast(x) => self.get(*x).broadcast(&ty.shape),
            Op::Concatenate(xs, axis) => {
                let xs: Vec<_> = xs.iter().map(|&x| self.get(x)).collect();
                shapes::concatenated(&xs, *axis, ty)
            }
            Op::Stack(xs, axis) => {
                let xs: Vec<_> = xs.iter().map(|&x| self.get(x)).collect();
                shapes::stacked(&xs, *axis, ty)
            }
            Op::Index(x, index) => {
                let (x, index) = (self.get(*x), self.index(index));
                shapes::indexed(&x, &index, ty)
            }
            Op::Slice(x, start, limit) => shapes::sliced(&self.get(*x), *start, *limit),
            Op::Take(x, indices, axis) => shapes::taken(&self.get(*x), indices, *axis, ty),
            Op::Update(update, x, index, value) => {
                let (x, index) = (self.get(*x), self.index(index));
                let value = elementwise::converted(&self.operand(*value, x.ty.kind), x.ty.kind)?;
                self.updated(*update, &x, &index, &value)?
            }
            Op::Product(x, y) => reduce::product(&self.get(*x), &self.get(*y), ty),
            Op::Pad(x, with, config) => shapes::padded(&self.get(*x), *with, *config, ty),
        };
        Ok(vec![Rc::new(value)])
    }

    fn index(&self, index: &Index) -> Vec<i64> {
        match index {
            Index::Number(number) => vec![*number],
            Index::Array(numbers) => numbers.clone(),
            Index::Var(id) => self.get(*id).ints.clone(),
        }
    }

    /// The order of two numbers, if rounding does not decide it.
    fn order(a: Num, b: Num) -> Outcome<Ordering> {
        let error = a.e[0] + b.e[0];
        if error > 0.0 && (a.value() - b.value()).abs() <= 8.0 * error {
            return Err(Undecided);
        }
        a.value().partial_cmp(&b.value()).ok_or(Undecided)
    }

    /// Notes that rounding, or a convention, decides a derivative; what depends on one inside the program is undecided.
    fn kink(&mut self) -> Outcome<()> {
        self.kink = true;
        if self.inside { Err(Undecided) } else { Ok(()) }
    }
}

fn made(ty: &Ty, make: Make) -> Value {
    let at = |position: usize, axis: usize| value::unravel(position, &ty.shape)[axis];
    let number = |position: usize| match make {
        Make::Zeros => 0.0,
        Make::Ones => 1.0,
        Make::Full(number) => number,
        Make::Iota(axis) => at(position, axis) as f64,
        Make::Eye => f64::from(u8::from(at(position, 0) == at(position, 1))),
    };
    Value::of(ty, &(0..ty.size()).map(number).collect::<Vec<_>>())
}
