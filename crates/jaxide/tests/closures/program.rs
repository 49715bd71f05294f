//! Programs as data: what a closure does, line by line.
//!
//! Every value has a number of its own in the whole program, so that lines can be left out without touching others. The
//! lines of a block may use what is visible around it: that is what its closure captures.

/// The number of a value.
pub(crate) type Id = usize;

/// An element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    U8,
    I32,
    I64,
    F32,
    F64,
}

impl Kind {
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Kind::F32 | Kind::F64)
    }
}

/// An element type and lengths of axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ty {
    pub(crate) kind: Kind,
    pub(crate) shape: Vec<usize>,
}

impl Ty {
    pub(crate) fn new(kind: Kind, shape: &[usize]) -> Self {
        let shape = shape.to_vec();
        Ty { kind, shape }
    }

    pub(crate) fn size(&self) -> usize {
        self.shape.iter().product()
    }
}

/// A closure: inputs, lines, results.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) inputs: Vec<(Id, Ty)>,
    pub(crate) lines: Vec<Line>,
    pub(crate) results: Vec<Id>,
}

/// Some values from others.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) outs: Vec<(Id, Ty)>,
    pub(crate) op: Op,
}

/// A whole program. The first inputs of its block are floats, the others are not.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) seed: u64,
    pub(crate) block: Block,
    pub(crate) floats: usize,
    /// How many numbers of values there are.
    pub(crate) count: usize,
    /// How the float inputs are packed.
    pub(crate) form: Form,
}

/// Where an array of the program is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Before the closure, which captures it.
    Captured,
    /// In the closure, anew whenever it is traced.
    Temporary,
}

/// An operand: a value or a number of the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operand {
    Var(Id),
    Int(i64),
    Float(f64),
}

/// An index of a first axis.
#[derive(Clone, Debug)]
pub(crate) enum Index {
    Number(i64),
    /// An array made in place.
    Array(Vec<i64>),
    /// An integer scalar, or a vector of integers.
    Var(Id),
}

/// The tree that several arrays are packed into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Vector,
    /// One array alone; several as a vector.
    Single,
    /// `(Array, Vec<Array>)`.
    Tuple,
    /// A struct with an optional and a static field.
    Struct,
    Map,
}

/// A random key.
#[derive(Clone, Debug)]
pub(crate) enum Key {
    Seed(i64, Place),
    /// `fold_in(key, data)`.
    Fold(Box<Key>, Operand),
    /// One of `split(key, count)`.
    Split(Box<Key>, usize, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Neg,
    Sin,
    Cos,
    Tanh,
    Sigmoid,
    Exp,
    Expm1,
    Arctan,
    /// `log(x² + 1)`.
    LogOnePlusSquare,
    /// `sqrt(x² + 1)`.
    RootOnePlusSquare,
    Square,
    Cube,
    Abs,
    Sign,
    Floor,
    Ceil,
    Relu,
    Not,
    StopGradient,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    /// By a number, or by `y² + 1`.
    Div,
    Max,
    Min,
    Rem,
    FloorDiv,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
    Xor,
    Shl,
    Shr,
}

impl Binary {
    pub(crate) fn compares(self) -> bool {
        use Binary::{Eq, Ge, Gt, Le, Lt, Ne};
        matches!(self, Lt | Le | Gt | Ge | Eq | Ne)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduce {
    Sum,
    Mean,
    Prod,
    Max,
    Min,
    All,
    Any,
}

/// Functions along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Along {
    Cumsum,
    Sort,
    Argsort,
    Argmax,
    Argmin,
    Reverse,
    Softmax,
    /// `associative_scan` of sums.
    Prefix,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Update {
    Set,
    Add,
    Multiply,
    Min,
    Max,
}

/// Arrays from nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Make {
    Zeros,
    Ones,
    Full(f64),
    /// Numbers 0, 1, 2, ... along an axis.
    Iota(usize),
    Eye,
}

#[derive(Clone, Debug)]
pub(crate) enum Op {
    Constant(Vec<f64>, Place),
    Make(Make),
    Uniform(Key),
    Unary(Unary, Id),
    Binary(Binary, Operand, Operand),
    Where(Id, Operand, Operand),
    Clip(Id, f64, f64),
    Convert(Id),
    Reduce(Reduce, Id, Vec<usize>),
    Along(Along, Id, usize),
    Reshape(Id),
    Transpose(Id, Vec<usize>),
    Broadcast(Id),
    Concatenate(Vec<Id>, usize),
    Stack(Vec<Id>, usize),
    Index(Id, Index),
    Slice(Id, usize, usize),
    Take(Id, Vec<i64>, usize),
    Update(Update, Id, Index, Operand),
    Product(Id, Id),
    /// Low, high and interior padding of the first axis with a number.
    Pad(Id, f64, [i64; 3]),
    Unpack(Id),
    Staged(Box<Staged>),
}

/// A function of closures.
#[derive(Clone, Debug)]
pub(crate) struct Staged {
    pub(crate) how: How,
    pub(crate) blocks: Vec<Block>,
    pub(crate) operands: Vec<Id>,
    pub(crate) form: Form,
}

#[derive(Clone, Debug)]
pub(crate) enum How {
    /// The operands are those of both branches.
    Cond(Id),
    Switch(Id),
    /// A condition and a body of the operands; at most so many times.
    While(i64),
    /// A body of a number and the operands.
    Fori(Operand, Operand),
    /// The first operands are the carry; the others are scanned over.
    Scan {
        carry: usize,
        reverse: bool,
        length: usize,
    },
    Map,
    Jit,
    Checkpoint,
    CustomJvp,
    CustomVjp,
    /// The mapped axis of each operand.
    Vmap(Vec<Option<usize>>, usize),
    /// Gradients by all operands, and the value behind them where asked for.
    Grad {
        value: bool,
    },
    /// Primals and then tangents; results and then tangents.
    Jvp,
    Linearize,
    /// Primals and then cotangents; cotangents of the primals.
    Vjp,
}

impl How {
    /// Whether a derivative is taken.
    pub(crate) fn differentiates(&self) -> bool {
        matches!(
            self,
            How::Grad { .. } | How::Jvp | How::Linearize | How::Vjp
        )
    }
}

impl Block {
    /// Calls `f` with every line, those of inner blocks too.
    pub(crate) fn each_line(&self, f: &mut impl FnMut(&Line)) {
        for line in &self.lines {
            f(line);
            if let Op::Staged(staged) = &line.op {
                staged.blocks.iter().for_each(|block| block.each_line(f));
            }
        }
    }

    /// Whether some inner function satisfies `f`.
    pub(crate) fn stages(&self, f: impl Fn(&How) -> bool) -> bool {
        let mut found = false;
        self.each_line(&mut |line| {
            if let Op::Staged(staged) = &line.op {
                found |= f(&staged.how);
            }
        });
        found
    }
}

impl Op {
    /// Calls `f` with every value that is used, by inner blocks too.
    pub(crate) fn each_use(&mut self, f: &mut impl FnMut(&mut Id)) {
        fn operand(of: &mut Operand, f: &mut impl FnMut(&mut Id)) {
            if let Operand::Var(id) = of {
                f(id);
            }
        }
        fn key(of: &mut Key, f: &mut impl FnMut(&mut Id)) {
            match of {
                Key::Seed(..) => {}
                Key::Fold(inner, data) => {
                    key(inner, f);
                    operand(data, f);
                }
                Key::Split(inner, ..) => key(inner, f),
            }
        }
        match self {
            Op::Constant(..) | Op::Make(_) => {}
            Op::Uniform(of) => key(of, f),
            Op::Unary(_, x)
            | Op::Clip(x, ..)
            | Op::Convert(x)
            | Op::Reduce(_, x, _)
            | Op::Along(_, x, _)
            | Op::Reshape(x)
            | Op::Transpose(x, _)
            | Op::Broadcast(x)
            | Op::Slice(x, ..)
            | Op::Take(x, ..)
            | Op::Pad(x, ..)
            | Op::Unpack(x) => f(x),
            Op::Binary(_, x, y) => {
                operand(x, f);
                operand(y, f);
            }
            Op::Where(c, x, y) => {
                f(c);
                operand(x, f);
                operand(y, f);
            }
            Op::Concatenate(xs, _) | Op::Stack(xs, _) => xs.iter_mut().for_each(f),
            Op::Index(x, index) => {
                f(x);
                if let Index::Var(index) = index {
                    f(index);
                }
            }
            Op::Update(_, x, index, value) => {
                f(x);
                if let Index::Var(index) = index {
                    f(index);
                }
                operand(value, f);
            }
            Op::Product(x, y) => {
                f(x);
                f(y);
            }
            Op::Staged(staged) => {
                staged.operands.iter_mut().for_each(&mut *f);
                match &mut staged.how {
                    How::Cond(id) | How::Switch(id) => f(id),
                    How::Fori(lower, upper) => {
                        operand(lower, f);
                        operand(upper, f);
                    }
                    How::While(_)
                    | How::Scan { .. }
                    | How::Map
                    | How::Jit
                    | How::Checkpoint
                    | How::CustomJvp
                    | How::CustomVjp
                    | How::Vmap(..)
                    | How::Grad { .. }
                    | How::Jvp
                    | How::Linearize
                    | How::Vjp => {}
                }
                staged.blocks.iter_mut().for_each(|block| block.each_use(f));
            }
        }
    }
}

impl Block {
    /// Calls `f` with every value that is used.
    pub(crate) fn each_use(&mut self, f: &mut impl FnMut(&mut Id)) {
        self.lines.iter_mut().for_each(|line| line.op.each_use(f));
        self.results.iter_mut().for_each(f);
    }
}
