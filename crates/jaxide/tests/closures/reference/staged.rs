//! Functions of closures: loops as loops, and derivatives by numbers that carry them.

use std::rc::Rc;

use super::value::unit;
use super::{Evaluator, Outcome, Value};
use crate::closures::number::Num;
use crate::closures::program::{Block, How, Operand, Staged};

type Values = Vec<Rc<Value>>;

impl Evaluator {
    pub(super) fn staged(&mut self, staged: &Staged) -> Outcome<Values> {
        let operands: Values = staged.operands.iter().map(|&id| self.get(id)).collect();
        let blocks = &staged.blocks;
        match &staged.how {
            How::Cond(predicate) => {
                let holds = self.get(*predicate).ints[0] != 0;
                self.block(&blocks[usize::from(!holds)], &operands)
            }
            How::Switch(index) => {
                let last = blocks.len() as i64 - 1;
                let index = self.get(*index).ints[0].clamp(0, last);
                self.block(&blocks[index as usize], &operands)
            }
            How::While(limit) => {
                let mut carry = operands;
                for _ in 0..*limit {
                    if self.block(&blocks[0], &carry)?[0].ints[0] == 0 {
                        break;
                    }
                    carry = self.block(&blocks[1], &carry)?;
                }
                Ok(carry)
            }
            How::Fori(lower, upper) => {
                let (counter, body) = (blocks[0].inputs[0].1.kind, &blocks[0]);
                let bound = |bound: Operand| self.operand(bound, counter).ints[0];
                let (lower, upper) = (bound(*lower), bound(*upper));
                let mut carry = operands;
                for number in lower..upper {
                    let mut inputs = vec![Rc::new(Value::scalar(counter, number as f64))];
                    inputs.extend(carry);
                    carry = self.block(body, &inputs)?;
                }
                Ok(carry)
            }
            How::Scan {
                carry,
                reverse,
                length,
            } => self.scan(&blocks[0], &operands, *carry, *reverse, *length),
            How::Map => {
                let length = operands[0].ty.shape[0];
                self.scan(&blocks[0], &operands, 0, false, length)
            }
            How::Jit | How::Checkpoint | How::CustomJvp | How::CustomVjp => {
                self.block(&blocks[0], &operands)
            }
            How::Vmap(axes, size) => {
                let mut lanes = Vec::new();
                for lane in 0..*size {
                    let slices = operands.iter().zip(axes).map(|(operand, axis)| match axis {
                        Some(axis) => Rc::new(operand.slice(*axis, lane)),
                        None => operand.clone(),
                    });
                    let slices: Values = slices.collect();
                    lanes.push(self.block(&blocks[0], &slices)?);
                }
                Ok(stacked(&lanes))
            }
            How::Grad { .. } | How::Jvp | How::Linearize | How::Vjp => {
                assert!(!self.inside, "one derivative inside a program");
                self.inside = true;
                let results = self.derivative(staged, &operands);
                self.inside = false;
                results
            }
        }
    }

    fn scan(
        &mut self,
        body: &Block,
        operands: &[Rc<Value>],
        carry: usize,
        reverse: bool,
        length: usize,
    ) -> Outcome<Values> {
        let (init, xs) = operands.split_at(carry);
        let (mut state, mut made) = (init.to_vec(), Vec::new());
        for step in 0..length {
            let at = if reverse { length - 1 - step } else { step };
            let mut inputs = state;
            inputs.extend(xs.iter().map(|x| Rc::new(x.slice(0, at))));
            state = self.block(body, &inputs)?;
            made.push(state.split_off(carry));
        }
        if reverse {
            made.reverse();
        }
        state.extend(stacked(&made));
        Ok(state)
    }

    fn derivative(&mut self, staged: &Staged, operands: &[Rc<Value>]) -> Outcome<Values> {
        let block = &staged.blocks[0];
        let (primals, directions) = operands.split_at(block.inputs.len());
        match staged.how {
            How::Jvp | How::Linearize => {
                let pairs = primals.iter().zip(directions);
                let inputs: Values = pairs
                    .map(|(x, t)| Rc::new(x.map(|at, x| moved(x, t.floats[at]))))
                    .collect();
                let results = self.block(block, &inputs)?;
                let mut outs: Values = results.iter().map(|y| Rc::new(y.map(value))).collect();
                outs.extend(results.iter().map(|y| Rc::new(y.map(tangent))));
                Ok(outs)
            }
            _ => self.pulled(staged, primals, directions),
        }
    }

    /// A derivative by all elements of the operands, one after the other, times cotangents.
    fn pulled(
        &mut self,
        staged: &Staged,
        primals: &[Rc<Value>],
        cotangents: &[Rc<Value>],
    ) -> Outcome<Values> {
        let block = &staged.blocks[0];
        let mut gradients = Vec::new();
        let mut results = Vec::new();
        for (which, primal) in primals.iter().enumerate() {
            let mut floats = Vec::new();
            for element in 0..primal.ty.size() {
                let mut inputs = primals.to_vec();
                inputs[which] = Rc::new(primal.map(|at, x| {
                    let seed = f64::from(u8::from(at == element));
                    moved(x, Num::exact(seed))
                }));
                results = self.block(block, &inputs)?;
                floats.push(weighed(&results, cotangents));
            }
            gradients.push(Rc::new(Value::from_floats(&primal.ty, floats)));
        }
        if matches!(staged.how, How::Grad { value: true }) {
            gradients.insert(0, Rc::new(results[0].map(value)));
        }
        Ok(gradients)
    }
}

/// The sum of tangents times cotangents; of a scalar result without cotangents its tangent.
fn weighed(results: &[Rc<Value>], cotangents: &[Rc<Value>]) -> Num {
    let unit = unit(results[0].ty.kind);
    if cotangents.is_empty() {
        return tangent(0, results[0].floats[0]);
    }
    let mut sum = Num::default();
    for (result, cotangent) in results.iter().zip(cotangents) {
        for (&y, &ct) in result.floats.iter().zip(&cotangent.floats) {
            sum = sum.plus(tangent(0, y).times(ct, unit), 16.0 * unit);
        }
    }
    sum
}

/// A number moved in the second direction.
fn moved(x: Num, t: Num) -> Num {
    assert!(x.c[2] == 0.0 && t.c[2] == 0.0, "one derivative at a time");
    Num {
        c: [x.c[0], x.c[1], t.c[0], t.c[1]],
        e: [x.e[0], x.e[1], t.e[0], t.e[1]],
    }
}

/// The part that does not depend on the second direction.
fn value(_: usize, y: Num) -> Num {
    Num {
        c: [y.c[0], y.c[1], 0.0, 0.0],
        e: [y.e[0], y.e[1], 0.0, 0.0],
    }
}

/// The derivative in the second direction.
fn tangent(_: usize, y: Num) -> Num {
    Num {
        c: [y.c[2], y.c[3], 0.0, 0.0],
        e: [y.e[2], y.e[3], 0.0, 0.0],
    }
}

/// Results of lanes or steps along a new first axis.
fn stacked(lanes: &[Values]) -> Values {
    let count = lanes.first().map_or(0, Vec::len);
    (0..count)
        .map(|which| {
            let slices: Vec<Value> = lanes.iter().map(|lane| (*lane[which]).clone()).collect();
            Rc::new(Value::joined(&slices).expect("a lane"))
        })
        .collect()
}
