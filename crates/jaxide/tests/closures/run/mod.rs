//! Programs through the public API: every line calls what a user would call.

pub(crate) mod form;
mod lines;
mod staged;

use std::sync::Arc;

use jaxide::{Array, DType, lax, random};

use super::program::{Block, Id, Key, Kind, Op, Operand, Place, Program, Ty};

/// Arrays by the numbers of their values: what a closure captures.
#[derive(Clone)]
pub(crate) struct Env {
    values: Vec<Option<Array>>,
    /// Arrays and keys that are made before the closure, which captures them.
    captured: Arc<Vec<Option<Array>>>,
    /// Whether values are asked for on the way.
    asking: bool,
}

/// A program as a function of arrays.
#[derive(Clone)]
pub(crate) struct Closure {
    program: Arc<Program>,
    env: Env,
}

impl Closure {
    pub(crate) fn new(program: &Program) -> Self {
        let mut captured = vec![None; program.count];
        program.block.each_line(&mut |line| match &line.op {
            Op::Constant(values, Place::Captured) => {
                let (id, ty) = &line.outs[0];
                captured[*id] = Some(array(ty, values));
            }
            Op::Uniform(key) => {
                if let Some((seed, Place::Captured)) = seed(key) {
                    captured[line.outs[0].0] = Some(random::key(seed));
                }
            }
            _ => {}
        });
        Closure {
            program: Arc::new(program.clone()),
            env: Env {
                values: vec![None; program.count],
                captured: Arc::new(captured),
                asking: false,
            },
        }
    }

    /// The same, which asks for values that its floats have already and goes on with them.
    pub(crate) fn asking(&self) -> Self {
        let mut asking = self.clone();
        asking.env.asking = true;
        asking
    }

    /// The results for these inputs.
    pub(crate) fn call(&self, inputs: Vec<Array>) -> Vec<Array> {
        self.env.call(&self.program.block, inputs)
    }
}

/// The seed that a key is made of, and where.
fn seed(key: &Key) -> Option<(i64, Place)> {
    match key {
        Key::Seed(seed, place) => Some((*seed, *place)),
        Key::Fold(inner, _) | Key::Split(inner, ..) => seed(inner),
    }
}

pub(crate) fn dtype(kind: Kind) -> DType {
    match kind {
        Kind::Bool => DType::Bool,
        Kind::U8 => DType::U8,
        Kind::I32 => DType::I32,
        Kind::I64 => DType::I64,
        Kind::F32 => DType::F32,
        Kind::F64 => DType::F64,
    }
}

/// An array of numbers.
pub(crate) fn array(ty: &Ty, values: &[f64]) -> Array {
    let shape = &ty.shape;
    match ty.kind {
        Kind::Bool => {
            let bools: Vec<bool> = values.iter().map(|&x| x != 0.0).collect();
            // A vector goes in as one, as users write it.
            if shape.len() == 1 {
                return Array::from(bools);
            }
            let tensor = jaxide::Tensor::from_bools(shape, bools).expect("as many elements");
            Array::from(tensor)
        }
        Kind::U8 => of(shape, values.iter().map(|&x| x as u8).collect()),
        Kind::I32 => of(shape, values.iter().map(|&x| x as i32).collect()),
        Kind::I64 => of(shape, values.iter().map(|&x| x as i64).collect()),
        Kind::F32 => of(shape, values.iter().map(|&x| x as f32).collect()),
        Kind::F64 => of(shape, values.to_vec()),
    }
}

fn of<T: jaxide::core::Element + jaxide::Leaf>(shape: &[usize], values: Vec<T>) -> Array
where
    Array: From<Vec<T>>,
{
    if shape.len() == 1 {
        Array::from(values)
    } else {
        Array::from_vec(shape, values)
    }
}

/// An array moved to the value that it says it has: by nothing, if it says the truth.
fn with_value(x: Array) -> Array {
    match x.try_value() {
        Ok(value) => &x + lax::stop_gradient(&(Array::from(value) - &x)),
        Err(_) => x,
    }
}

impl Env {
    /// Calls a closure that captures this.
    fn call(&self, block: &Block, inputs: Vec<Array>) -> Vec<Array> {
        let mut inner = self.clone();
        for ((id, _), input) in block.inputs.iter().zip(inputs) {
            inner.values[*id] = Some(input);
        }
        for line in &block.lines {
            let arrays = inner.line(line);
            assert_eq!(arrays.len(), line.outs.len(), "{line:?}");
            for ((id, ty), array) in line.outs.iter().zip(arrays) {
                let got = (array.dtype(), array.shape());
                assert_eq!(got, (dtype(ty.kind), &ty.shape[..]), "{line:?}");
                let ask = self.asking && id % 3 == 0 && ty.kind.is_float();
                inner.values[*id] = Some(if ask { with_value(array) } else { array });
            }
        }
        block.results.iter().map(|&id| inner.get(id)).collect()
    }

    fn get(&self, id: Id) -> Array {
        self.values[id].clone().expect("a value of an earlier line")
    }

    fn operand(&self, operand: Operand) -> Array {
        match operand {
            Operand::Var(id) => self.get(id),
            Operand::Int(number) => Array::from(number),
            Operand::Float(number) => Array::from(number),
        }
    }
}
