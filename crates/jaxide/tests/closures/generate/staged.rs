//! Lines that call functions of closures.

use super::{Generator, Known};
use crate::closures::program::{Block, How, Id, Kind, Op, Operand, Staged, Ty};

/// Types with bounds.
type Types = Vec<(Ty, f64)>;

/// Blocks inside blocks, at most.
const DEPTH: usize = 3;

impl Generator {
    pub(super) fn staged(&mut self) -> Option<Id> {
        if self.scopes.len() > DEPTH {
            return None;
        }
        match self.draw.below(14) {
            0 => self.branches(),
            1 => self.bounded_while(),
            2 | 3 => self.counted(),
            4 | 5 => self.scanned(),
            6 => self.mapped(),
            7 => self.wrapped(),
            8 => self.custom(),
            9 | 10 => self.vectorised(),
            _ => self.derivative(),
        }
    }

    /// Some values.
    fn some(&mut self, least: usize, most: usize, f: impl Fn(&Known) -> bool + Copy) -> Vec<Known> {
        let count = self.draw.between(least as i64, most as i64) as usize;
        (0..count).filter_map(|_| self.pick(f)).collect()
    }

    fn types(operands: &[Known]) -> Types {
        operands.iter().map(|x| (x.ty.clone(), x.bound)).collect()
    }

    /// A block that gives what it made last, or its inputs.
    fn free_block(&mut self, inputs: &[(Ty, f64)], closed: bool) -> (Block, Types) {
        let lines = 1 + self.draw.below(4);
        let mut types = Vec::new();
        let block = self.block(inputs, lines, closed, |generator, _| {
            let count = 1 + generator.draw.below(2);
            let known = &generator.scopes.last().expect("a block").known;
            let results = if known.is_empty() {
                vec![generator.constant(&Ty::new(generator.float, &[2]), 2.0)]
            } else {
                (0..count).map(|_| generator.recent()).collect()
            };
            types = results
                .iter()
                .map(|&id| generator.get(id))
                .map(|x| (x.ty, x.bound))
                .collect();
            results
        });
        (block, types)
    }

    /// A block that gives values of these types and within these bounds.
    fn fitting_block(&mut self, inputs: &[(Ty, f64)], results: &[(Ty, f64)]) -> Block {
        let lines = 1 + self.draw.below(3);
        self.block(inputs, lines, false, |generator, _| {
            results
                .iter()
                .map(|(ty, bound)| generator.fit(ty, *bound))
                .collect()
        })
    }

    fn finish(&mut self, how: How, blocks: Vec<Block>, operands: &[Known], outs: Types) -> Id {
        let form = self.form();
        let staged = Staged {
            how,
            blocks,
            operands: operands.iter().map(|x| x.id).collect(),
            form,
        };
        let ids = self.push_all(Op::Staged(Box::new(staged)), outs);
        let last = *ids.last().expect("a result");
        self.tamed(last)
    }

    fn branches(&mut self) -> Option<Id> {
        let operands = self.some(1, 2, |_| true);
        let inputs = Self::types(&operands);
        let index = self.pick(|x| x.is_scalar() && matches!(x.ty.kind, Kind::I32 | Kind::I64));
        let (how, count) = match index {
            Some(index) => (How::Switch(index.id), 1 + self.draw.below(3)),
            None => (How::Cond(self.predicate()), 2),
        };
        let (first, types) = self.free_block(&inputs, false);
        let mut blocks = vec![first];
        for _ in 1..count {
            blocks.push(self.fitting_block(&inputs, &types));
        }
        Some(self.finish(how, blocks, &operands, types))
    }

    /// What goes around in a loop, with bounds that allow for some change.
    fn carry(&mut self, most: usize) -> (Vec<Known>, Types) {
        let carry = self.some(1, most, |x| x.ty.size() <= 200);
        let types = carry
            .iter()
            .map(|x| (x.ty.clone(), x.bound.max(2.0)))
            .collect();
        (carry, types)
    }

    fn bounded_while(&mut self) -> Option<Id> {
        if self.fixed {
            return None;
        }
        let (carry, types) = self.carry(3);
        if carry.is_empty() {
            return None;
        }
        let lines = self.draw.below(3);
        let condition = self.block(&types, lines, false, |generator, _| {
            vec![generator.predicate()]
        });
        let body = self.fitting_block(&types, &types);
        let how = How::While(self.draw.between(0, 5));
        Some(self.finish(how, vec![condition, body], &carry, types))
    }

    fn counted(&mut self) -> Option<Id> {
        let (carry, types) = self.carry(3);
        if carry.is_empty() {
            return None;
        }
        let traced = self.pick(|x| {
            x.is_scalar() && matches!(x.ty.kind, Kind::I32 | Kind::I64) && x.bound <= 12.0
        });
        let number = self.draw.between(-1, 2);
        let (kind, lower, upper) = match traced {
            Some(x) if !self.fixed => (x.ty.kind, Operand::Int(number), Operand::Var(x.id)),
            _ => {
                let upper = number + self.draw.between(0, 5);
                (Kind::I32, Operand::Int(number), Operand::Int(upper))
            }
        };
        let mut inputs = vec![(Ty::new(kind, &[]), 12.0)];
        inputs.extend(types.iter().cloned());
        let body = self.fitting_block(&inputs, &types);
        Some(self.finish(How::Fori(lower, upper), vec![body], &carry, types))
    }

    /// Arrays with one length of their first axes, and that length.
    fn slices(&mut self, most: usize) -> (Vec<Known>, usize) {
        let first = self.pick(|x| (1..=17).contains(x.ty.shape.first().unwrap_or(&0)));
        let Some(first) = first else {
            return (Vec::new(), 1 + self.draw.below(4));
        };
        let length = first.ty.shape[0];
        let mut xs = vec![first];
        for _ in 1..most {
            if self.draw.one_in(2) {
                xs.extend(self.pick(|x| x.ty.shape.first() == Some(&length)));
            }
        }
        (xs, length)
    }

    fn sliced(xs: &[Known]) -> Types {
        xs.iter()
            .map(|x| (Ty::new(x.ty.kind, &x.ty.shape[1..]), x.bound))
            .collect()
    }

    fn with_length(types: &[(Ty, f64)], length: usize) -> Types {
        types
            .iter()
            .map(|(ty, bound)| {
                let mut shape = vec![length];
                shape.extend_from_slice(&ty.shape);
                (Ty::new(ty.kind, &shape), *bound)
            })
            .collect()
    }

    fn scanned(&mut self) -> Option<Id> {
        let (carry, types) = self.carry(2);
        let (xs, length) = self.slices(2);
        let mut inputs = types.clone();
        inputs.extend(Self::sliced(&xs));
        let mut ys = Vec::new();
        let lines = 1 + self.draw.below(3);
        let body = self.block(&inputs, lines, false, |generator, _| {
            let mut results: Vec<Id> = types
                .iter()
                .map(|(ty, bound)| generator.fit(ty, *bound))
                .collect();
            for _ in 0..generator.draw.below(3) {
                let y = generator.pick(|x| x.ty.size() <= 100);
                if let Some(y) = y {
                    results.push(y.id);
                    ys.push((y.ty, y.bound));
                }
            }
            results
        });
        if carry.is_empty() && ys.is_empty() {
            return None;
        }
        let how = How::Scan {
            carry: carry.len(),
            reverse: self.draw.one_in(3),
            length,
        };
        let mut outs = types;
        outs.extend(Self::with_length(&ys, length));
        let operands = [carry, xs].concat();
        Some(self.finish(how, vec![body], &operands, outs))
    }

    fn mapped(&mut self) -> Option<Id> {
        let (xs, length) = self.slices(2);
        if xs.is_empty() {
            return None;
        }
        let (body, ys) = self.free_block(&Self::sliced(&xs), false);
        if ys.iter().any(|(ty, _)| ty.size() * length > 1000) {
            return None;
        }
        let outs = Self::with_length(&ys, length);
        Some(self.finish(How::Map, vec![body], &xs, outs))
    }

    /// `jit` and `checkpoint` of a closure.
    fn wrapped(&mut self) -> Option<Id> {
        let operands = self.some(1, 3, |_| true);
        let (block, types) = self.free_block(&Self::types(&operands), false);
        let how = self.draw.choose(&[How::Jit, How::Jit, How::Checkpoint]);
        Some(self.finish(how, vec![block], &operands, types))
    }

    /// A function with a derivative of its own, which is the one it would have anyway.
    fn custom(&mut self) -> Option<Id> {
        let forward = self.forward || self.draw.one_in(2);
        if self.inside {
            return None;
        }
        let operands = self.some(1, 2, |x| x.ty.kind.is_float() && x.ty.size() > 0);
        if operands.is_empty() {
            return None;
        }
        let how = if forward {
            How::CustomJvp
        } else {
            How::CustomVjp
        };
        let (block, types) = self.derived(how.clone(), &operands, true, |generator| {
            let count = 1 + generator.draw.below(2);
            (0..count)
                .filter_map(|_| generator.pick_float())
                .map(|x| x.id)
                .collect()
        });
        Some(self.finish(how, vec![block], &operands, types))
    }

    /// A block of floats whose derivative is taken.
    fn derived(
        &mut self,
        how: How,
        operands: &[Known],
        closed: bool,
        finish: impl FnOnce(&mut Self) -> Vec<Id>,
    ) -> (Block, Types) {
        let before = (self.inside, self.fixed, self.forward);
        self.inside = true;
        if !matches!(how, How::Jvp | How::Linearize | How::CustomJvp) {
            self.fixed = true;
        }
        // A rule is differentiated too.
        self.fixed |= closed;
        self.forward = true;
        let lines = 1 + self.draw.below(4);
        let mut types = Vec::new();
        let inputs = Self::types(operands);
        let block = self.block(&inputs, lines, closed, |generator, _| {
            let results = finish(generator);
            let known = results.iter().map(|&id| generator.get(id));
            types = known.map(|x| (x.ty, x.bound)).collect();
            results
        });
        (self.inside, self.fixed, self.forward) = before;
        (block, types)
    }

    fn vectorised(&mut self) -> Option<Id> {
        let mut operands = self.some(1, 3, |_| true);
        let size = self.draw.choose(&[1, 2, 3, 4, 5]);
        let axis_of = |x: &Known| x.ty.shape.iter().position(|&length| length == size);
        operands.extend(self.pick(|x| axis_of(x).is_some()));
        let axes: Vec<Option<usize>> = operands
            .iter()
            .map(|x| axis_of(x).filter(|_| !self.draw.one_in(4)))
            .collect();
        if axes.iter().all(Option::is_none) {
            return None;
        }
        let inputs: Types = operands
            .iter()
            .zip(&axes)
            .map(|(x, axis)| {
                let mut shape = x.ty.shape.clone();
                if let Some(axis) = *axis {
                    shape.remove(axis);
                }
                (Ty::new(x.ty.kind, &shape), x.bound)
            })
            .collect();
        let (block, types) = self.free_block(&inputs, false);
        if types.iter().any(|(ty, _)| ty.size() * size > 1000) {
            return None;
        }
        let outs = Self::with_length(&types, size);
        Some(self.finish(How::Vmap(axes, size), vec![block], &operands, outs))
    }

    /// `grad`, `jvp`, `linearize` and `vjp` of a closure.
    fn derivative(&mut self) -> Option<Id> {
        if self.inside {
            return None;
        }
        let small = |x: &Known| x.ty.kind.is_float() && (1..=9).contains(&x.ty.size());
        let operands = self.some(1, 2, small);
        if operands.is_empty() {
            return None;
        }
        let value = self.draw.one_in(2);
        let how = self.draw.choose(&[
            How::Grad { value },
            How::Grad { value },
            How::Jvp,
            How::Linearize,
            How::Vjp,
        ]);
        // Derivatives have no bound of their own.
        let large = f64::MAX;
        let scalar = matches!(how, How::Grad { .. });
        let (block, types) = self.derived(how.clone(), &operands, false, |generator| {
            if scalar {
                let kind = generator.float;
                return vec![generator.fit(&Ty::new(kind, &[]), 10.0)];
            }
            let one = generator.pick_float().expect("an input");
            vec![one.id]
        });
        let directions: Vec<Known> = match how {
            How::Grad { .. } => Vec::new(),
            How::Vjp => self.fitted(&types),
            _ => self.fitted(&Self::types(&operands)),
        };
        let gradients = || operands.iter().map(|x| (x.ty.clone(), large));
        let outs: Types = match how {
            How::Grad { value } => {
                let value = types.iter().filter(|_| value).cloned();
                value.chain(gradients()).collect()
            }
            How::Vjp => gradients().collect(),
            _ => {
                let tangents = types.iter().map(|(ty, _)| (ty.clone(), large));
                types.iter().cloned().chain(tangents).collect()
            }
        };
        let all = [operands, directions].concat();
        let id = self.finish(how, vec![block], &all, outs);
        // Nothing else may use what has no bound.
        let scope = self.scopes.last_mut().expect("a block");
        scope.known.retain(|x| x.bound < large);
        Some(id)
    }

    /// Directions of these types.
    fn fitted(&mut self, types: &[(Ty, f64)]) -> Vec<Known> {
        types
            .iter()
            .map(|(ty, _)| {
                let id = self.fit(ty, 2.0);
                self.get(id)
            })
            .collect()
    }
}
