//! Lines of one element from one of each operand.

use super::{Generator, Known};
use crate::closures::program::{Binary, Id, Kind, Op, Operand, Ty, Unary};

/// The shape that two shapes broadcast to.
pub(super) fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let length = |shape: &[usize], axis: usize| {
        (axis + shape.len())
            .checked_sub(rank)
            .map_or(1, |at| shape[at])
    };
    (0..rank)
        .map(|axis| match (length(a, axis), length(b, axis)) {
            (a, b) if a == b => Some(a),
            (1, length) | (length, 1) => Some(length),
            _ => None,
        })
        .collect()
}

impl Generator {
    pub(super) fn unary(&mut self) -> Option<Id> {
        let x = self.pick(|_| true)?;
        let b = x.bound;
        let (op, bound) = if x.ty.kind.is_float() {
            match self.draw.below(18) {
                0 => (Unary::Neg, b),
                1 => (Unary::Sin, 1.0),
                2 => (Unary::Cos, 1.0),
                3 => (Unary::Tanh, 1.0),
                4 => (Unary::Sigmoid, 1.0),
                5 if b <= 3.0 => (Unary::Exp, b.exp()),
                6 if b <= 3.0 => (Unary::Expm1, b.exp()),
                7 => (Unary::Arctan, 1.6),
                8 => (Unary::LogOnePlusSquare, b.max(1.0)),
                9 => (Unary::RootOnePlusSquare, b + 1.0),
                10 => (Unary::Square, b * b),
                11 if b <= 4.0 => (Unary::Cube, b * b * b),
                12 => (Unary::Abs, b),
                13 => (Unary::Sign, 1.0),
                14 => (self.draw.choose(&[Unary::Floor, Unary::Ceil]), b + 1.0),
                15 => (Unary::Relu, b),
                16 => (Unary::StopGradient, b),
                _ => (Unary::Sin, 1.0),
            }
        } else if x.ty.kind == Kind::Bool {
            (Unary::Not, 1.0)
        } else {
            let unsigned = x.ty.kind == Kind::U8;
            match self.draw.below(6) {
                0 => (Unary::Square, b * b),
                1 => (Unary::Sign, 1.0),
                2 => (Unary::Relu, b),
                3 if !unsigned => (Unary::Neg, b),
                4 if !unsigned => (Unary::Abs, b),
                _ => (Unary::Not, b + 1.0),
            }
        };
        let bound = if x.ty.kind == Kind::U8 { 255.0 } else { bound };
        let id = self.push(Op::Unary(op, x.id), x.ty, bound);
        Some(self.tamed(id))
    }

    /// A number that goes with an element type.
    fn number(&mut self, kind: Kind) -> (Operand, f64) {
        if kind.is_float() && !self.draw.one_in(4) {
            let numbers = [0.5, 0.1, 2.0, -1.5, 0.3, 1e-3, 3.0];
            let number = self.draw.choose(&numbers);
            return (Operand::Float(number), number.abs());
        }
        let low = if kind == Kind::U8 { 0 } else { -3 };
        let number = self.draw.between(low, 5);
        (Operand::Int(number), number.abs() as f64)
    }

    pub(super) fn binary(&mut self) -> Option<Id> {
        let x = self.pick(|_| true)?;
        if self.draw.one_in(3) && x.ty.kind != Kind::Bool {
            return Some(self.with_number(&x));
        }
        let y = match self.draw.below(4) {
            0 => self.beside(&x),
            _ => self.pick(|y| broadcast(&x.ty.shape, &y.ty.shape).is_some())?,
        };
        let kind = crate::closures::reference::common(x.ty.kind, y.ty.kind);
        let shape = broadcast(&x.ty.shape, &y.ty.shape)?;
        if shape.iter().product::<usize>() > 2000 {
            return None;
        }
        let (a, b) = (x.bound, y.bound);
        use Binary::{Add, And, Div, Eq, Ge, Gt, Le, Lt, Max, Min, Mul, Ne, Or, Sub, Xor};
        let op = match kind {
            Kind::Bool => self.draw.choose(&[And, Or, Xor, Add, Mul, Eq, Ne]),
            Kind::F32 | Kind::F64 => self.draw.choose(&[
                Add, Add, Sub, Sub, Mul, Mul, Mul, Div, Max, Min, Lt, Le, Gt, Ge,
            ]),
            _ => self.draw.choose(&[
                Add, Sub, Mul, Max, Min, And, Or, Xor, Lt, Le, Gt, Ge, Eq, Ne,
            ]),
        };
        let bound = match op {
            Add | Sub => a + b,
            Mul => a * b,
            Div => a,
            // The bits that negative numbers and others have.
            Max | Min | And | Or | Xor => 2.0 * a.max(b) + 1.0,
            _ => 1.0,
        };
        let mut y = y;
        if op == Div {
            y = self.denominator(&y);
        }
        let operands = (Operand::Var(x.id), Operand::Var(y.id));
        Some(self.finished(op, operands, kind, &shape, bound))
    }

    /// An array of the program that goes with a value: of its shape or of its last axis, mostly a small one.
    fn beside(&mut self, x: &Known) -> Known {
        let mut shape = x.ty.shape.clone();
        if shape.len() > 1 && (x.ty.size() > 32 || self.draw.one_in(2)) {
            shape.drain(..shape.len() - 1);
        }
        let id = self.constant(&Ty::new(x.ty.kind, &shape), f64::INFINITY);
        self.get(id)
    }

    /// `y² + 1`.
    fn denominator(&mut self, y: &Known) -> Known {
        let floating = y.ty.kind.is_float();
        let kind = if floating { y.ty.kind } else { self.float };
        let ty = Ty::new(kind, &y.ty.shape);
        let converted = if floating {
            y.id
        } else {
            self.push(Op::Convert(y.id), ty.clone(), y.bound)
        };
        let bound = y.bound * y.bound;
        let square = self.push(Op::Unary(Unary::Square, converted), ty.clone(), bound);
        let op = Op::Binary(Binary::Add, Operand::Var(square), Operand::Float(1.0));
        let id = self.push(op, ty, bound + 1.0);
        self.get(id)
    }

    fn finished(
        &mut self,
        op: Binary,
        (x, y): (Operand, Operand),
        kind: Kind,
        shape: &[usize],
        bound: f64,
    ) -> Id {
        let kinds = [x, y].map(|operand| match operand {
            Operand::Var(id) => self.get(id).ty.kind,
            Operand::Int(_) | Operand::Float(_) => kind,
        });
        let kind = match op {
            _ if op.compares() => Kind::Bool,
            _ => crate::closures::reference::common(kinds[0], kinds[1]),
        };
        let bound = if kind == Kind::U8 { 255.0 } else { bound };
        let id = self.push(Op::Binary(op, x, y), Ty::new(kind, shape), bound);
        self.tamed(id)
    }

    /// An operation with a number before or behind.
    fn with_number(&mut self, x: &Known) -> Id {
        use Binary::{Add, And, Div, FloorDiv, Ge, Gt, Le, Lt, Max, Min, Mul, Rem, Shl, Shr, Sub};
        let kind = x.ty.kind;
        let (number, size) = self.number(kind);
        let (x_operand, b) = (Operand::Var(x.id), x.bound);
        let op = if kind.is_float() {
            self.draw
                .choose(&[Add, Sub, Mul, Mul, Div, Max, Min, Lt, Gt, Le, Ge])
        } else {
            self.draw.choose(&[
                Add, Sub, Mul, Max, Min, Rem, FloorDiv, And, Shl, Shr, Lt, Ge,
            ])
        };
        let (bound, pair) = match op {
            Div => (
                b,
                (
                    x_operand,
                    Operand::Float(self.draw.choose(&[2.0, 3.0, 1.5])),
                ),
            ),
            Rem | FloorDiv => (
                b.max(7.0),
                (x_operand, Operand::Int(self.draw.between(2, 7))),
            ),
            Shl | Shr => {
                let count = self.draw.between(0, 3);
                (b * 8.0, (x_operand, Operand::Int(count)))
            }
            And => (
                b.max(16.0),
                (x_operand, Operand::Int(self.draw.between(0, 15))),
            ),
            Mul => (b * size, self.in_some_order(x_operand, number)),
            Add | Sub => (b + size, self.in_some_order(x_operand, number)),
            _ => (b.max(size), (x_operand, number)),
        };
        self.finished(op, pair, kind, &x.ty.shape, bound)
    }

    fn in_some_order(&mut self, x: Operand, y: Operand) -> (Operand, Operand) {
        if self.draw.one_in(2) { (x, y) } else { (y, x) }
    }

    /// A truth value for each element of a shape that broadcasts to another.
    fn condition(&mut self, shape: &[usize]) -> Option<Known> {
        let fits = |x: &Known| broadcast(&x.ty.shape, shape).as_deref() == Some(shape);
        if let Some(known) = self.pick(|x| x.ty.kind == Kind::Bool && fits(x)) {
            return Some(known);
        }
        let x = self.pick(|x| x.ty.kind != Kind::Bool && fits(x))?;
        let number = if x.ty.kind.is_float() {
            Operand::Float(0.125)
        } else {
            Operand::Int(1)
        };
        let op = Op::Binary(Binary::Gt, Operand::Var(x.id), number);
        let id = self.push(op, Ty::new(Kind::Bool, &x.ty.shape), 1.0);
        Some(self.get(id))
    }

    /// A truth value.
    pub(super) fn predicate(&mut self) -> Id {
        match self.condition(&[]) {
            Some(known) => known.id,
            None => self.fit(&Ty::new(Kind::Bool, &[]), 1.0),
        }
    }

    /// `where_` and `clip`.
    pub(super) fn choice(&mut self) -> Option<Id> {
        let x = self.pick(|x| x.ty.kind != Kind::Bool)?;
        if x.ty.kind.is_float() && self.draw.one_in(3) {
            return Some(self.push(Op::Clip(x.id, -1.0, 1.5), x.ty, x.bound));
        }
        let condition = self.condition(&x.ty.shape)?;
        let (y, size) = if self.draw.one_in(2) {
            let number = self.number(x.ty.kind);
            if matches!(number.0, Operand::Float(_)) || !x.ty.kind.is_float() {
                number
            } else {
                (Operand::Float(1.0), 1.0)
            }
        } else {
            let y = self.pick(|y| y.ty == x.ty)?;
            (Operand::Var(y.id), y.bound)
        };
        let (a, b) = self.in_some_order(Operand::Var(x.id), y);
        let op = Op::Where(condition.id, a, b);
        Some(self.push(op, x.ty, x.bound.max(size)))
    }

    pub(super) fn convert(&mut self) -> Option<Id> {
        let x = self.pick(|_| true)?;
        let kinds: &[Kind] = match x.ty.kind {
            Kind::F32 | Kind::F64 => &[Kind::F32, Kind::F64, Kind::I32, Kind::I64],
            _ => &[
                Kind::F32,
                Kind::F64,
                Kind::I32,
                Kind::I64,
                Kind::U8,
                Kind::Bool,
            ],
        };
        let kind = self.draw.choose(kinds);
        if kind == x.ty.kind {
            return None;
        }
        let bound = if kind == Kind::U8 { 255.0 } else { x.bound };
        let id = self.push(Op::Convert(x.id), Ty::new(kind, &x.ty.shape), bound);
        Some(self.tamed(id))
    }
}
