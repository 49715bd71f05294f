//! Random programs.
//!
//! The size of every value is bounded while a program grows: what may become large is squashed, so that no program
//! computes infinities or loses all digits. Loops are bounded in the same way: what goes around is as small as it began.

mod elementwise;
mod shapes;
mod staged;

use super::draw::Draw;
use super::program::{Binary, Block, Form, Id, Kind, Line, Make, Op, Operand, Place, Program, Ty};
use super::program::{Reduce, Unary};

/// Lengths of axes, around the lengths of vectors and of what handles hold in themselves.
const LENGTHS: [usize; 18] = [
    0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 100,
];

/// Floats larger than this are squashed, and integers larger than [`LARGEST_INTEGER`] reduced.
const LARGEST: f64 = 30.0;
const LARGEST_INTEGER: f64 = 5000.0;

/// A value that lines may use, with a bound of its magnitude.
#[derive(Clone, Debug)]
struct Known {
    id: Id,
    ty: Ty,
    bound: f64,
}

impl Known {
    fn is_scalar(&self) -> bool {
        self.ty.shape.is_empty()
    }
}

/// The lines of one block so far.
struct Scope {
    /// Whether what is around it is out of reach.
    closed: bool,
    known: Vec<Known>,
    lines: Vec<Line>,
}

struct Generator {
    draw: Draw,
    next: Id,
    scopes: Vec<Scope>,
    shapes: Vec<Vec<usize>>,
    float: Kind,
    /// Whether a derivative is taken around the block.
    inside: bool,
    /// Whether loops must have a fixed length, for reverse mode.
    fixed: bool,
    /// Whether forward mode must go through.
    forward: bool,
}

/// The program of a seed.
pub(crate) fn program(seed: u64) -> Program {
    let mut generator = Generator::new(seed);
    generator.program(seed)
}

impl Generator {
    fn new(seed: u64) -> Self {
        let mut draw = Draw::new(seed);
        let a = draw.choose(&LENGTHS);
        let a = if a == 0 && !draw.one_in(3) { 4 } else { a };
        let (b, c) = (draw.choose(&[1, 2, 3, 4, 5]), draw.choose(&[1, 2, 3]));
        let mut shapes = vec![vec![], vec![a], vec![b], vec![b, a], vec![a, b], vec![1, a]];
        if a <= 33 {
            shapes.push(vec![c, b, a]);
        }
        let float = if draw.one_in(3) { Kind::F64 } else { Kind::F32 };
        Generator {
            draw,
            next: 0,
            scopes: Vec::new(),
            shapes,
            float,
            inside: false,
            fixed: false,
            forward: true,
        }
    }

    fn program(&mut self, seed: u64) -> Program {
        let floats = 1 + self.draw.below(3);
        let others = self.draw.below(3);
        self.fixed = self.draw.one_in(2);
        self.forward = !self.draw.one_in(8);
        let mut inputs = Vec::new();
        for _ in 0..floats {
            let kind = self.float_kind();
            inputs.push((Ty::new(kind, &self.shape()), 2.0));
        }
        for _ in 0..others {
            let kind = self
                .draw
                .choose(&[Kind::I32, Kind::I32, Kind::Bool, Kind::U8, Kind::I64]);
            inputs.push((Ty::new(kind, &self.shape()), 10.0));
        }
        let count = 3 + self.draw.below(9);
        let block = self.block(&inputs, count, false, |generator, _| {
            let results = 1 + generator.draw.below(3);
            (0..results).map(|_| generator.recent()).collect()
        });
        Program {
            seed,
            block,
            floats,
            count: self.next,
            form: self.form(),
        }
    }

    /// A block of some lines, whose results `finish` chooses; its inputs have bounds.
    fn block(
        &mut self,
        inputs: &[(Ty, f64)],
        count: usize,
        closed: bool,
        finish: impl FnOnce(&mut Self, &[Id]) -> Vec<Id>,
    ) -> Block {
        self.scopes.push(Scope {
            closed,
            known: Vec::new(),
            lines: Vec::new(),
        });
        let given: Vec<(Id, Ty)> = inputs
            .iter()
            .map(|(ty, bound)| (self.known(ty.clone(), *bound), ty.clone()))
            .collect();
        for _ in 0..count {
            self.line();
        }
        let ids: Vec<Id> = given.iter().map(|(id, _)| *id).collect();
        let results = finish(self, &ids);
        let scope = self.scopes.pop().expect("the scope of the block");
        Block {
            inputs: given,
            lines: scope.lines,
            results,
        }
    }

    fn form(&mut self) -> Form {
        self.draw.choose(&[
            Form::Vector,
            Form::Single,
            Form::Tuple,
            Form::Struct,
            Form::Map,
        ])
    }

    fn float_kind(&mut self) -> Kind {
        if self.draw.one_in(8) {
            self.draw.choose(&[Kind::F32, Kind::F64])
        } else {
            self.float
        }
    }

    fn shape(&mut self) -> Vec<usize> {
        let shapes = self.shapes.clone();
        self.draw.choose(&shapes)
    }

    /// A value that the innermost block knows from now on.
    fn known(&mut self, ty: Ty, bound: f64) -> Id {
        let id = self.next;
        self.next += 1;
        let scope = self.scopes.last_mut().expect("a block");
        scope.known.push(Known { id, ty, bound });
        id
    }

    /// A line with these results.
    fn push_all(&mut self, op: Op, outs: Vec<(Ty, f64)>) -> Vec<Id> {
        let ids: Vec<Id> = outs
            .iter()
            .map(|(ty, bound)| self.known(ty.clone(), *bound))
            .collect();
        let outs = ids.iter().copied().zip(outs.into_iter().map(|(ty, _)| ty));
        let line = Line {
            outs: outs.collect(),
            op,
        };
        self.scopes.last_mut().expect("a block").lines.push(line);
        ids
    }

    fn push(&mut self, op: Op, ty: Ty, bound: f64) -> Id {
        self.push_all(op, vec![(ty, bound)])[0]
    }

    /// Everything that the innermost block can use.
    fn visible(&self) -> Vec<Known> {
        let mut out = Vec::new();
        for scope in self.scopes.iter().rev() {
            out.extend(scope.known.iter().rev().cloned());
            if scope.closed {
                break;
            }
        }
        out
    }

    /// A value with a property; the newest are the likeliest.
    fn pick(&mut self, f: impl Fn(&Known) -> bool) -> Option<Known> {
        let fitting: Vec<Known> = self.visible().into_iter().filter(f).collect();
        if fitting.is_empty() {
            return None;
        }
        let among = if self.draw.one_in(2) {
            fitting.len().min(4)
        } else {
            fitting.len()
        };
        Some(fitting[self.draw.below(among)].clone())
    }

    fn pick_float(&mut self) -> Option<Known> {
        self.pick(|x| x.ty.kind.is_float())
    }

    /// A value of the innermost block, one of the newest.
    fn recent(&mut self) -> Id {
        let known = &self.scopes.last().expect("a block").known;
        let (ids, count) = (known.iter().rev().map(|x| x.id), known.len().min(5));
        let ids: Vec<Id> = ids.take(count).collect();
        self.draw.choose(&ids)
    }

    fn get(&self, id: Id) -> Known {
        let found = self.scopes.iter().rev().flat_map(|scope| &scope.known);
        found.clone().find(|x| x.id == id).expect("known").clone()
    }

    /// Some line.
    fn line(&mut self) {
        for _ in 0..20 {
            let made = match self.draw.below(24) {
                0..=4 => self.unary(),
                5..=10 => self.binary(),
                11 => self.choice(),
                12 => self.convert(),
                13 => self.reduction(),
                14 => self.function_along(),
                15 | 16 => self.movement(),
                17 => self.reading(),
                18 => self.update(),
                19 => self.product(),
                20 | 21 => self.source(),
                _ => self.staged(),
            };
            if made.is_some() {
                return;
            }
        }
    }

    /// An array that does not depend on inputs: captured or made in place, often a small one.
    fn constant(&mut self, ty: &Ty, bound: f64) -> Id {
        let largest = if ty.kind.is_float() { 2.0 } else { 10.0 };
        let mut values = self.draw.numbers(ty.kind, ty.size());
        if bound < largest {
            let kept = |x: &mut f64| {
                *x = if ty.kind.is_float() {
                    *x * bound / 2.0
                } else {
                    x.abs() % bound.max(1.0)
                }
            };
            values.iter_mut().for_each(kept);
        }
        let place = self.draw.choose(&[Place::Captured, Place::Temporary]);
        let bound = values.iter().fold(0.0, |a, b| b.abs().max(a));
        self.push(Op::Constant(values, place), ty.clone(), bound)
    }

    fn source(&mut self) -> Option<Id> {
        let shape = if self.draw.one_in(3) {
            vec![self.draw.choose(&[1, 2, 3, 4])]
        } else {
            self.shape()
        };
        let kind = self.draw.choose(&[
            self.float,
            self.float,
            self.float,
            Kind::I32,
            Kind::Bool,
            Kind::U8,
            Kind::I64,
        ]);
        let ty = Ty::new(kind, &shape);
        Some(match self.draw.below(8) {
            0 => {
                let key = self.key(2);
                self.push(Op::Uniform(key), Ty::new(Kind::F32, &shape), 1.0)
            }
            1 if kind != Kind::Bool => {
                let (make, bound) = match self.draw.below(5) {
                    0 => (Make::Zeros, 0.0),
                    1 => (Make::Ones, 1.0),
                    2 => (Make::Full(2.0), 2.0),
                    3 if !shape.is_empty() => {
                        let axis = self.draw.below(shape.len());
                        (Make::Iota(axis), shape[axis] as f64)
                    }
                    _ if shape.len() == 2 && shape[0] == shape[1] => (Make::Eye, 1.0),
                    _ => (Make::Full(3.0), 3.0),
                };
                let id = self.push(Op::Make(make), ty, bound);
                self.tamed(id)
            }
            _ => self.constant(&ty, f64::INFINITY),
        })
    }

    /// The value, or one made of it that is not large.
    fn tamed(&mut self, id: Id) -> Id {
        let x = self.get(id);
        let op = match x.ty.kind {
            Kind::F32 | Kind::F64 if x.bound > LARGEST => {
                let squash = [Unary::Tanh, Unary::Sin, Unary::Sigmoid, Unary::Arctan];
                let op = Op::Unary(self.draw.choose(&squash), id);
                return self.push(op, x.ty, 1.6);
            }
            Kind::I32 | Kind::I64 if x.bound > LARGEST_INTEGER => {
                Op::Binary(Binary::Rem, Operand::Var(id), Operand::Int(13))
            }
            _ => return id,
        };
        self.push(op, x.ty, 13.0)
    }

    /// A value of a type and within a bound, made of what there is.
    fn fit(&mut self, ty: &Ty, bound: f64) -> Id {
        if self.draw.one_in(8) {
            return self.constant(ty, bound);
        }
        let same = self.pick(|x| x.ty == *ty);
        let kind = ty.kind;
        let found = match same {
            Some(x) if !self.draw.one_in(6) => x.id,
            _ => match self.pick(|x| x.ty.kind.is_float() == kind.is_float() && x.ty.size() > 0) {
                Some(x) => self.reshaped(&x, ty),
                None => return self.constant(ty, bound),
            },
        };
        self.within(found, bound)
    }

    /// A value of another shape and type made of one.
    fn reshaped(&mut self, x: &Known, ty: &Ty) -> Id {
        let mut id = x.id;
        if x.ty.kind != ty.kind {
            let wanted = Ty::new(ty.kind, &x.ty.shape);
            let bound = if ty.kind == Kind::U8 { 255.0 } else { x.bound };
            id = self.push(Op::Convert(id), wanted, bound);
        }
        let x = self.get(id);
        if x.ty.shape == ty.shape {
            return id;
        }
        if x.ty.size() == ty.size() {
            return self.push(Op::Reshape(id), ty.clone(), x.bound);
        }
        let fits = elementwise::broadcast(&x.ty.shape, &ty.shape);
        if fits.as_deref() != Some(&ty.shape[..]) {
            let axes = (0..x.ty.shape.len()).collect();
            let op = match ty.kind {
                Kind::Bool => Reduce::Any,
                kind if kind.is_float() => Reduce::Mean,
                _ => Reduce::Max,
            };
            id = self.push(Op::Reduce(op, id, axes), Ty::new(ty.kind, &[]), x.bound);
        }
        if ty.shape.is_empty() {
            return id;
        }
        self.push(Op::Broadcast(id), ty.clone(), x.bound)
    }

    /// The value, or one made of it that is within a bound.
    fn within(&mut self, id: Id, bound: f64) -> Id {
        let x = self.get(id);
        if x.bound <= bound || x.ty.kind == Kind::Bool {
            return id;
        }
        if x.ty.kind.is_float() {
            let squash = [Unary::Tanh, Unary::Sin, Unary::Cos, Unary::Sigmoid];
            let op = Op::Unary(self.draw.choose(&squash), id);
            let squashed = self.push(op, x.ty.clone(), 1.0);
            if bound >= 1.0 {
                return squashed;
            }
            let op = Op::Binary(Binary::Mul, Operand::Var(squashed), Operand::Float(bound));
            return self.push(op, x.ty, bound);
        }
        let modulus = (bound as i64 + 1).max(1);
        let op = Op::Binary(Binary::Rem, Operand::Var(id), Operand::Int(modulus));
        self.push(op, x.ty, bound)
    }
}
