//! Lines of one function each.

use jaxide::{Array, DType, associative_scan, lax, nn, numpy, random};

use super::{Env, array, dtype};
use crate::closures::program::{
    Along, Binary, Id, Index, Key, Kind, Line, Make, Op, Operand, Place, Reduce, Ty, Unary, Update,
};

impl Env {
    pub(super) fn line(&self, line: &Line) -> Vec<Array> {
        let (id, ty) = &line.outs[0];
        vec![match &line.op {
            Op::Staged(staged) => return self.staged(staged),
            Op::Unpack(x) => return unpacked(&self.get(*x)),
            Op::Constant(_, Place::Captured) => self.outer(*id),
            Op::Constant(values, Place::Temporary) => array(ty, values),
            Op::Make(make) => made(ty, *make),
            Op::Uniform(key) => {
                let key = self.key(key, *id);
                random::uniform(&key, &ty.shape, DType::F32, 0.0, 1.0)
            }
            Op::Unary(op, x) => unary(*op, &self.get(*x)),
            Op::Binary(op, x, y) => self.binary(*op, *x, *y),
            Op::Where(condition, x, y) => {
                let condition = self.get(*condition);
                numpy::where_(&condition, &self.operand(*x), &self.operand(*y))
            }
            Op::Clip(x, low, high) => numpy::clip(&self.get(*x), *low, *high),
            Op::Convert(x) => self.get(*x).astype(dtype(ty.kind)),
            Op::Reduce(op, x, axes) => reduced(*op, &self.get(*x), axes),
            Op::Along(op, x, axis) => along(*op, &self.get(*x), *axis),
            Op::Reshape(x) => {
                let shape: Vec<i64> = ty.shape.iter().map(|&length| length as i64).collect();
                self.get(*x).reshape(&shape)
            }
            Op::Transpose(x, axes) if axes.len() == 2 => {
                assert_eq!(axes[..], [1, 0]);
                self.get(*x).t()
            }
            Op::Transpose(x, axes) => self.get(*x).transpose(axes),
            Op::Broadcast(x) => self.get(*x).broadcast_to(&ty.shape),
            Op::Concatenate(xs, axis) => {
                let xs: Vec<Array> = xs.iter().map(|&x| self.get(x)).collect();
                numpy::concatenate(&xs, *axis as i64)
            }
            Op::Stack(xs, axis) => {
                let xs: Vec<Array> = xs.iter().map(|&x| self.get(x)).collect();
                numpy::stack(&xs, *axis as i64)
            }
            Op::Index(x, index) => self.get(*x).index(self.index(index)),
            Op::Slice(x, start, limit) => self.get(*x).slice(*start..*limit),
            Op::Take(x, indices, axis) => {
                let indices = Array::from(indices.clone());
                numpy::take(&self.get(*x), &indices, *axis as i64)
            }
            Op::Update(update, x, index, value) => {
                let at = self.get(*x).at(self.index(index));
                let value = self.operand(*value);
                match update {
                    Update::Set => at.set(value),
                    Update::Add => at.add(value),
                    Update::Multiply => at.multiply(value),
                    Update::Min => at.min(value),
                    Update::Max => at.max(value),
                }
            }
            Op::Product(x, y) => self.get(*x).dot(&self.get(*y)),
            Op::Pad(x, with, [low, high, interior]) => {
                let x = self.get(*x);
                let mut config = vec![(0, 0, 0); x.ndim()];
                config[0] = (*low, *high, *interior);
                lax::pad(&x, *with, &config)
            }
        }]
    }

    /// What was made before the closure.
    fn outer(&self, id: Id) -> Array {
        self.captured[id].clone().expect("an array of the outside")
    }

    fn index(&self, index: &Index) -> Array {
        match index {
            Index::Number(number) => Array::from(*number),
            Index::Array(numbers) if numbers.len() % 2 == 0 => {
                Array::from(numbers.iter().map(|&x| x as i32).collect::<Vec<_>>())
            }
            Index::Array(numbers) => Array::from(numbers.clone()),
            Index::Var(id) => self.get(*id),
        }
    }

    fn key(&self, key: &Key, id: Id) -> Array {
        match key {
            Key::Seed(_, Place::Captured) => self.outer(id),
            Key::Seed(seed, Place::Temporary) => random::key(*seed),
            Key::Fold(inner, data) => random::fold_in(&self.key(inner, id), self.operand(*data)),
            Key::Split(inner, count, index) => {
                random::split(&self.key(inner, id), *count).index(*index as i32)
            }
        }
    }

    fn binary(&self, op: Binary, x: Operand, y: Operand) -> Array {
        use Operand::{Float, Int, Var};
        // Operators with a number behind or in front, as users write them.
        match (op, x, y) {
            (Binary::Add, Var(x), Float(y)) => return self.get(x) + y,
            (Binary::Sub, Var(x), Float(y)) => return &self.get(x) - y as f32,
            (Binary::Mul, Var(x), Int(y)) => return self.get(x) * y as i32,
            (Binary::Div, Var(x), Float(y)) => return &self.get(x) / y,
            (Binary::Add, Float(x), Var(y)) => return x + self.get(y),
            (Binary::Sub, Float(x), Var(y)) => return x - &self.get(y),
            (Binary::Mul, Float(x), Var(y)) => return x * self.get(y),
            (Binary::Sub, Int(x), Var(y)) => return x as i32 - self.get(y),
            _ => {}
        }
        let (x, y) = (self.operand(x), self.operand(y));
        match op {
            Binary::Add => {
                let mut sum = x;
                sum += y;
                sum
            }
            Binary::Sub => x - y,
            Binary::Mul => &x * &y,
            Binary::Div => x / y,
            Binary::Max => x.maximum(y),
            Binary::Min => numpy::minimum(&x, &y),
            Binary::Rem => x % y,
            Binary::FloorDiv => numpy::floor_divide(&x, &y),
            Binary::Lt => x.lt(y),
            Binary::Le => x.le(y),
            Binary::Gt => x.gt(y),
            Binary::Ge => x.ge(y),
            Binary::Eq => x.equal(y),
            Binary::Ne => x.not_equal(y),
            Binary::And => x & y,
            Binary::Or => x | y,
            Binary::Xor => x ^ y,
            Binary::Shl => x << y,
            Binary::Shr => x >> y,
        }
    }
}

fn unpacked(x: &Array) -> Vec<Array> {
    match x.shape()[0] {
        1 => x.unpack::<1>().to_vec(),
        2 => x.unpack::<2>().to_vec(),
        3 => x.unpack::<3>().to_vec(),
        4 => x.unpack::<4>().to_vec(),
        length => unreachable!("{length} slices"),
    }
}

fn made(ty: &Ty, make: Make) -> Array {
    let dtype = dtype(ty.kind);
    match make {
        Make::Zeros => Array::zeros(&ty.shape, dtype),
        Make::Ones => Array::ones(&ty.shape, dtype),
        Make::Full(number) => lax::full(&ty.shape, number as i32, dtype),
        Make::Iota(0) if ty.shape.len() == 1 => numpy::arange(ty.shape[0], dtype),
        Make::Iota(axis) => lax::iota(dtype, &ty.shape, axis),
        Make::Eye => numpy::eye(ty.shape[0], dtype),
    }
}

fn unary(op: Unary, x: &Array) -> Array {
    match op {
        Unary::Neg => -x,
        Unary::Sin => x.sin(),
        Unary::Cos => x.cos(),
        Unary::Tanh => x.tanh(),
        Unary::Sigmoid => x.sigmoid(),
        Unary::Exp => x.exp(),
        Unary::Expm1 => x.expm1(),
        Unary::Arctan => numpy::arctan(x),
        Unary::LogOnePlusSquare => x.square().log1p(),
        Unary::RootOnePlusSquare => (x.square() + 1.0).sqrt(),
        Unary::Square => x.square(),
        Unary::Cube => x.powi(3),
        Unary::Abs => x.abs(),
        Unary::Sign => x.sign(),
        Unary::Floor => x.floor(),
        Unary::Ceil => x.ceil(),
        Unary::Relu => nn::relu(x),
        Unary::Not => !x,
        Unary::StopGradient => lax::stop_gradient(x),
    }
}

fn reduced(op: Reduce, x: &Array, axes: &[usize]) -> Array {
    let all = axes.len() == x.ndim();
    match op {
        Reduce::Sum if all => x.sum(),
        Reduce::Sum => x.sum_axes(axes),
        Reduce::Mean if all => x.mean(),
        Reduce::Mean => x.mean_axes(axes),
        Reduce::Prod => numpy::prod(x, axes),
        Reduce::Max if all => x.max(),
        Reduce::Max => numpy::max(x, axes),
        Reduce::Min => numpy::min(x, axes),
        Reduce::All => numpy::all(x, axes),
        Reduce::Any if all => x.any(),
        Reduce::Any => numpy::any(x, axes),
    }
}

fn along(op: Along, x: &Array, axis: usize) -> Array {
    // From the end, as often as not.
    let counted = axis as i64 - (axis % 2) as i64 * x.ndim() as i64;
    match op {
        Along::Cumsum => numpy::cumsum(x, counted),
        Along::Sort => numpy::sort(x, counted),
        Along::Argsort => numpy::argsort(x, counted).astype(dtype(Kind::I32)),
        Along::Argmax => numpy::argmax(x, counted).astype(dtype(Kind::I32)),
        Along::Argmin => numpy::argmin(x, counted).astype(dtype(Kind::I32)),
        Along::Reverse => lax::rev(x, &[axis]),
        Along::Softmax => nn::softmax(x, counted),
        Along::Prefix => associative_scan(|a: Array, b: Array| a + b, x.clone(), axis, false),
    }
}
