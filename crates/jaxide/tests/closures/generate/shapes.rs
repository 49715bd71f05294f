//! Lines that combine and move elements.

use super::{Generator, Known, LARGEST};
use crate::closures::program::{
    Along, Id, Index, Key, Kind, Op, Operand, Place, Reduce, Ty, Update,
};

impl Generator {
    fn pick_axes(&mut self) -> Option<Known> {
        self.pick(|x| !x.ty.shape.is_empty())
    }

    pub(super) fn reduction(&mut self) -> Option<Id> {
        let x = self.pick_axes()?;
        let rank = x.ty.shape.len();
        let axes: Vec<usize> = if self.draw.one_in(2) {
            (0..rank).collect()
        } else {
            vec![self.draw.below(rank)]
        };
        let count: usize = axes.iter().map(|&axis| x.ty.shape[axis]).product();
        let (b, n) = (x.bound, count as f64);
        let (op, bound) = match x.ty.kind {
            Kind::Bool => (self.draw.choose(&[Reduce::All, Reduce::Any]), 1.0),
            Kind::U8 => (self.draw.choose(&[Reduce::Max, Reduce::Min]), 255.0),
            Kind::I32 | Kind::I64 => match self.draw.below(4) {
                0 => (Reduce::Max, b),
                1 => (Reduce::Min, b),
                2 if b.powf(n) < 1e6 => (Reduce::Prod, b.powf(n)),
                _ => (Reduce::Sum, b * n),
            },
            Kind::F32 | Kind::F64 => match self.draw.below(5) {
                0 => (Reduce::Max, b),
                1 => (Reduce::Min, b),
                2 => (Reduce::Mean, b),
                3 if b.powf(n) < LARGEST => (Reduce::Prod, b.powf(n)),
                _ => (Reduce::Sum, b * n),
            },
        };
        let needs_one = matches!(op, Reduce::Max | Reduce::Min | Reduce::Mean);
        if count == 0 && needs_one {
            return None;
        }
        let mut axis = 0;
        let mut shape = x.ty.shape.clone();
        shape.retain(|_| {
            axis += 1;
            !axes.contains(&(axis - 1))
        });
        let ty = Ty::new(x.ty.kind, &shape);
        let id = self.push(Op::Reduce(op, x.id, axes), ty, bound.max(1.0));
        Some(self.tamed(id))
    }

    pub(super) fn function_along(&mut self) -> Option<Id> {
        let x = self.pick(|x| !x.ty.shape.is_empty() && x.ty.size() > 0)?;
        let axis = self.draw.below(x.ty.shape.len());
        let length = x.ty.shape[axis];
        let wide = matches!(x.ty.kind, Kind::I32 | Kind::I64) || x.ty.kind.is_float();
        let ops: &[Along] = if x.ty.kind.is_float() {
            &[
                Along::Cumsum,
                Along::Sort,
                Along::Argsort,
                Along::Argmax,
                Along::Argmin,
                Along::Reverse,
                Along::Softmax,
                Along::Prefix,
            ]
        } else if wide {
            &[
                Along::Cumsum,
                Along::Sort,
                Along::Argsort,
                Along::Argmax,
                Along::Argmin,
                Along::Reverse,
                Along::Prefix,
            ]
        } else {
            &[Along::Reverse, Along::Sort]
        };
        let op = self.draw.choose(ops);
        let (ty, bound) = match op {
            Along::Argmax | Along::Argmin => {
                let mut shape = x.ty.shape.clone();
                shape.remove(axis);
                (Ty::new(Kind::I32, &shape), length as f64)
            }
            Along::Argsort => (Ty::new(Kind::I32, &x.ty.shape), length as f64),
            Along::Cumsum | Along::Prefix => (x.ty.clone(), x.bound * length as f64),
            Along::Softmax => (x.ty.clone(), 1.0),
            Along::Sort | Along::Reverse => (x.ty.clone(), x.bound),
        };
        if op == Along::Prefix && length > 17 {
            return None;
        }
        let id = self.push(Op::Along(op, x.id, axis), ty, bound);
        Some(self.tamed(id))
    }

    pub(super) fn movement(&mut self) -> Option<Id> {
        let x = self.pick_axes()?;
        let (kind, shape) = (x.ty.kind, x.ty.shape.clone());
        let of = |shape: &[usize]| Ty::new(kind, shape);
        let (op, ty) = match self.draw.below(9) {
            0 => {
                let other: Vec<usize> = match shape.len() {
                    1 => self.draw.choose(&[vec![1, shape[0]], vec![shape[0], 1]]),
                    _ => vec![x.ty.size()],
                };
                (Op::Reshape(x.id), of(&other))
            }
            1 => {
                let mut axes: Vec<usize> = (0..shape.len()).rev().collect();
                if axes.len() == 3 && self.draw.one_in(2) {
                    axes = vec![1, 2, 0];
                }
                let moved: Vec<usize> = axes.iter().map(|&axis| shape[axis]).collect();
                (Op::Transpose(x.id, axes), of(&moved))
            }
            2 if shape.len() < 3 && x.ty.size() <= 400 => {
                let mut more = vec![self.draw.choose(&[1, 2, 3])];
                more.extend_from_slice(&shape);
                (Op::Broadcast(x.id), of(&more))
            }
            3 => {
                let y = self.pick(|y| y.ty == x.ty)?;
                let axis = self.draw.below(shape.len());
                let mut joined = shape.clone();
                joined[axis] *= 2;
                if joined.iter().product::<usize>() > 600 {
                    return None;
                }
                let op = Op::Concatenate(vec![x.id, y.id], axis);
                return Some(self.push(op, of(&joined), x.bound.max(y.bound)));
            }
            4 if shape.len() < 3 && x.ty.size() <= 300 => {
                let y = self.pick(|y| y.ty == x.ty)?;
                let axis = self.draw.below(shape.len() + 1);
                let mut joined = shape.clone();
                joined.insert(axis, 2);
                let op = Op::Stack(vec![x.id, y.id], axis);
                return Some(self.push(op, of(&joined), x.bound.max(y.bound)));
            }
            5 if shape[0] > 0 => {
                let start = self.draw.below(shape[0]);
                let limit = start + 1 + self.draw.below(shape[0] - start);
                let mut part = shape.clone();
                part[0] = limit - start;
                (Op::Slice(x.id, start, limit), of(&part))
            }
            6 if kind != Kind::Bool && x.ty.size() <= 200 => {
                let config = self
                    .draw
                    .choose(&[[1, 0, 0], [0, 2, 0], [1, 1, 1], [0, 0, 1]]);
                let interior = shape[0].saturating_sub(1) as i64 * config[2];
                let mut wide = shape.clone();
                wide[0] = (shape[0] as i64 + config[0] + config[1] + interior) as usize;
                let with = self.draw.choose(&[0.0, 1.0]);
                let op = Op::Pad(x.id, with, config);
                return Some(self.push(op, of(&wide), x.bound.max(1.0)));
            }
            7 if (1..=4).contains(&shape[0]) => {
                let out = (of(&shape[1..]), x.bound);
                let ids = self.push_all(Op::Unpack(x.id), vec![out; shape[0]]);
                return Some(ids[0]);
            }
            _ => return None,
        };
        Some(self.push(op, ty, x.bound))
    }

    /// Positions in an axis, some of them counted from the end; different ones where asked for.
    fn positions(&mut self, length: usize, different: bool) -> Vec<i64> {
        let count = 1 + self.draw.below(4);
        let mut seen = Vec::new();
        let mut out = Vec::new();
        for _ in 0..count {
            let position = self.draw.below(length);
            if different && seen.contains(&position) {
                continue;
            }
            seen.push(position);
            let from_end = self.draw.one_in(4);
            let shift = if from_end { length as i64 } else { 0 };
            out.push(position as i64 - shift);
        }
        out
    }

    /// An index, and the number of slices where it is a vector.
    fn index(&mut self, length: usize, different: bool) -> (Index, Option<usize>) {
        if self.draw.one_in(3) {
            let index = self.pick(|x| x.is_scalar() && matches!(x.ty.kind, Kind::I32 | Kind::I64));
            if let Some(index) = index {
                return (Index::Var(index.id), None);
            }
        }
        if self.draw.one_in(2) {
            let position = self.draw.below(length) as i64;
            let shift = if self.draw.one_in(3) {
                length as i64
            } else {
                0
            };
            return (Index::Number(position - shift), None);
        }
        let positions = self.positions(length, different);
        let count = positions.len();
        if self.draw.one_in(2) {
            return (Index::Array(positions), Some(count));
        }
        let values = positions.iter().map(|&x| x as f64).collect();
        let place = self.draw.choose(&[Place::Captured, Place::Temporary]);
        let kind = self.draw.choose(&[Kind::I32, Kind::I64]);
        let op = Op::Constant(values, place);
        let id = self.push(op, Ty::new(kind, &[count]), length as f64);
        (Index::Var(id), Some(count))
    }

    pub(super) fn reading(&mut self) -> Option<Id> {
        let x = self.pick(|x| !x.ty.shape.is_empty() && x.ty.size() > 0)?;
        if self.draw.one_in(4) {
            let axis = self.draw.below(x.ty.shape.len());
            let indices = self.positions(x.ty.shape[axis], false);
            let mut shape = x.ty.shape.clone();
            shape[axis] = indices.len();
            let ty = Ty::new(x.ty.kind, &shape);
            return Some(self.push(Op::Take(x.id, indices, axis), ty, x.bound));
        }
        let (index, count) = self.index(x.ty.shape[0], false);
        let mut shape = x.ty.shape.clone();
        match count {
            Some(count) => shape[0] = count,
            None => drop(shape.remove(0)),
        }
        let ty = Ty::new(x.ty.kind, &shape);
        Some(self.push(Op::Index(x.id, index), ty, x.bound))
    }

    pub(super) fn update(&mut self) -> Option<Id> {
        let x =
            self.pick(|x| !x.ty.shape.is_empty() && x.ty.size() > 0 && x.ty.kind != Kind::Bool)?;
        let float = x.ty.kind.is_float();
        let (index, count) = self.index(x.ty.shape[0], true);
        // Extrema of equal elements, and products with several, have no derivative.
        let updates: &[Update] = match (float, count) {
            (true, None) => &[Update::Set, Update::Add, Update::Multiply],
            (true, Some(_)) => &[Update::Set, Update::Add],
            (false, _) => &[
                Update::Set,
                Update::Add,
                Update::Multiply,
                Update::Min,
                Update::Max,
            ],
        };
        let update = self.draw.choose(updates);
        let row = Ty::new(x.ty.kind, &x.ty.shape[1..]);
        let (value, size) = if self.draw.one_in(2) {
            let number = self.draw.between(0, 9);
            let value = if float && self.draw.one_in(2) {
                Operand::Float(number as f64 / 4.0)
            } else {
                Operand::Int(number)
            };
            (value, 9.0)
        } else {
            let mut ty = row;
            if let Some(count) = count {
                ty.shape.insert(0, count);
            }
            let id = self.fit(&ty, 10.0);
            (Operand::Var(id), self.get(id).bound)
        };
        let bound = match update {
            Update::Set | Update::Min | Update::Max => x.bound.max(size),
            Update::Add => x.bound + size,
            Update::Multiply => x.bound * size,
        };
        let bound = if x.ty.kind == Kind::U8 { 255.0 } else { bound };
        let id = self.push(Op::Update(update, x.id, index, value), x.ty, bound);
        Some(self.tamed(id))
    }

    pub(super) fn product(&mut self) -> Option<Id> {
        let numeric = |kind: Kind| kind.is_float() || matches!(kind, Kind::I32 | Kind::I64);
        let fits = |x: &Known| numeric(x.ty.kind) && (1..=2).contains(&x.ty.shape.len());
        let x = self.pick(fits)?;
        let inner = *x.ty.shape.last()?;
        let y = self.pick(|y| fits(y) && y.ty.kind == x.ty.kind && y.ty.shape[0] == inner)?;
        let mut shape = x.ty.shape[..x.ty.shape.len() - 1].to_vec();
        shape.extend_from_slice(&y.ty.shape[1..]);
        if shape.iter().product::<usize>() * inner > 4000 {
            return None;
        }
        let ty = Ty::new(x.ty.kind, &shape);
        let bound = x.bound * y.bound * inner as f64;
        let id = self.push(Op::Product(x.id, y.id), ty, bound);
        Some(self.tamed(id))
    }

    /// A random key.
    pub(super) fn key(&mut self, depth: usize) -> Key {
        match self.draw.below(3) {
            0 if depth > 0 => {
                let inner = Box::new(self.key(depth - 1));
                let known = self.pick(|x| x.is_scalar() && x.ty.kind == Kind::I32);
                let data = match known {
                    Some(x) => Operand::Var(x.id),
                    None => Operand::Int(self.draw.between(0, 5)),
                };
                Key::Fold(inner, data)
            }
            1 if depth > 0 => {
                let inner = Box::new(self.key(depth - 1));
                let count = 1 + self.draw.below(3);
                Key::Split(inner, count, self.draw.below(count))
            }
            _ => {
                let place = self.draw.choose(&[Place::Captured, Place::Temporary]);
                Key::Seed(self.draw.between(0, 9), place)
            }
        }
    }
}
