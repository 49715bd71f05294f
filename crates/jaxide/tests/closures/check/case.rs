//! A program with inputs, and what the evaluator says of it.

use std::rc::Rc;

use jaxide::Tensor;
use jaxide::prelude::*;

use crate::closures::compare::{Outcome, all_same, numbers};
use crate::closures::draw::Draw;
use crate::closures::number::Num;
use crate::closures::program::{How, Kind, Operand, Program, Ty};
use crate::closures::reference::{Value, evaluate, unit};
use crate::closures::run::form::Packed;
use crate::closures::run::{Closure, array, dtype};

/// A lane: inputs, and results with derivatives.
pub(super) struct Lane {
    pub(super) inputs: Vec<Array>,
    pub(super) tangents: Vec<Array>,
    pub(super) results: Vec<Rc<Value>>,
    /// The directions of the first and the second derivative, as numbers.
    directions: [Vec<Vec<f64>>; 2],
}

/// A program, and what is known of it.
pub(super) struct Case<'p> {
    pub(super) program: &'p Program,
    pub(super) closure: Closure,
    pub(super) lanes: Vec<Lane>,
    /// Whether all lanes have the same integers.
    shared: bool,
    /// Whether a derivative is taken inside.
    pub(super) derives: bool,
    pub(super) forward: bool,
    pub(super) reverse: bool,
    /// Weights of float results in a sum whose gradient is taken.
    pub(super) weights: Vec<Option<(Ty, Vec<f64>)>>,
}

impl<'p> Case<'p> {
    /// `None` when rounding decides what the results are.
    pub(super) fn new(program: &'p Program) -> Option<Self> {
        let mut draw = Draw::new(program.seed ^ 0x1A7E);
        let (shared, count) = (draw.one_in(2), 2 + draw.below(2));
        let derives = program.block.stages(How::differentiates);
        let mut lanes: Vec<Lane> = Vec::new();
        let mut first = Vec::new();
        let mut smooth = true;
        for _ in 0..count {
            let (mut values, mut inputs, mut tangents) = (Vec::new(), Vec::new(), Vec::new());
            let mut directions = [Vec::new(), Vec::new()];
            for (index, (_, ty)) in program.block.inputs.iter().enumerate() {
                let mut x = draw.numbers(ty.kind, ty.size());
                let (v, w) = (
                    draw.numbers(ty.kind, ty.size()),
                    draw.numbers(ty.kind, ty.size()),
                );
                if index >= program.floats && shared && !lanes.is_empty() {
                    x.clone_from(&first[index]);
                }
                let value = Value::of(ty, &x).map(|at, number| Num {
                    c: [
                        number.value(),
                        v[at],
                        if derives { 0.0 } else { w[at] },
                        0.0,
                    ],
                    ..number
                });
                values.push(Rc::new(value));
                inputs.push(array(ty, &x));
                tangents.push(array(ty, if ty.kind.is_float() { &v } else { &x }));
                directions[0].push(v);
                directions[1].push(w);
                if lanes.is_empty() {
                    first.push(x);
                }
            }
            let (results, defined) = evaluate(program, &values).ok()?;
            smooth &= defined;
            let finite = |value: &Rc<Value>| {
                let mut numbers = value.floats.iter();
                numbers.all(|x| x.c.iter().chain(&x.e).all(|part| part.abs() < 1e9))
            };
            if !results.iter().all(finite) {
                return None;
            }
            lanes.push(Lane {
                inputs,
                tangents,
                results,
                directions,
            });
        }
        let weights = lanes[0].results.iter().map(|result| {
            let ty = &result.ty;
            let is_float = ty.kind.is_float();
            is_float.then(|| (ty.clone(), draw.numbers(ty.kind, ty.size())))
        });
        let weights: Vec<_> = weights.collect();
        let while_loops = program
            .block
            .stages(|how| matches!(how, How::While(_) | How::Fori(_, Operand::Var(_))));
        let differentiable = smooth && weights.iter().any(Option::is_some);
        let custom = program.block.stages(|how| matches!(how, How::CustomVjp));
        Some(Case {
            program,
            closure: Closure::new(program),
            lanes,
            shared,
            derives,
            forward: differentiable && !custom,
            reverse: differentiable && !while_loops,
            weights,
        })
    }

    pub(super) fn function<P: Packed>(
        &self,
    ) -> impl Fn(P, Vec<Array>) -> Vec<Array> + Clone + Send + Sync + 'static + use<P> {
        let closure = self.closure.clone();
        move |floats: P, others: Vec<Array>| {
            let mut inputs = floats.unpack();
            inputs.extend(others);
            closure.call(inputs)
        }
    }

    /// The arguments of the function, from one array for each input.
    pub(super) fn split<P: Packed>(&self, inputs: &[Array]) -> (P, Vec<Array>) {
        let (floats, others) = inputs.split_at(self.program.floats);
        (P::pack(floats.to_vec()), others.to_vec())
    }

    /// Inputs of all lanes along a new first axis; integers alone where all lanes share them.
    pub(super) fn batch<P: Packed>(&self, of: impl Fn(&Lane) -> &[Array]) -> (P, Vec<Array>) {
        let lanes: Vec<&[Array]> = self.lanes.iter().map(of).collect();
        let stacked = (0..lanes[0].len()).map(|index| {
            if self.shared && index >= self.program.floats {
                return lanes[0][index].clone();
            }
            let slices: Vec<Tensor> = lanes.iter().map(|lane| lane[index].value()).collect();
            let mut shape = vec![slices.len()];
            shape.extend_from_slice(slices[0].shape());
            let bytes: Vec<u8> = slices.iter().flat_map(|x| x.bytes().to_vec()).collect();
            let tensor = Tensor::from_bytes(&shape, slices[0].dtype(), &bytes);
            Array::from(tensor.expect("the bytes of all lanes"))
        });
        let stacked: Vec<Array> = stacked.collect();
        self.split(&stacked)
    }

    pub(super) fn axes(&self) -> (i32, Option<i32>) {
        (0, (!self.shared).then_some(0))
    }

    /// The results of all lanes.
    pub(super) fn lanes_same(&self, what: &str, got: &[Array], part: usize) -> Outcome {
        for (lane, want) in self.lanes.iter().enumerate() {
            let slices = got.iter().map(|x| {
                let (x, shape) = (x.value(), x.shape().to_vec());
                let size = x.bytes().len() / shape[0];
                let bytes = &x.bytes()[lane * size..(lane + 1) * size];
                Array::from(Tensor::from_bytes(&shape[1..], x.dtype(), bytes).expect("a slice"))
            });
            let slices: Vec<Array> = slices.collect();
            all_same(
                &format!("{what}, lane {lane}"),
                &slices,
                &want.results,
                part,
            )?;
        }
        Ok(())
    }

    pub(super) fn text<P: Packed>(
        &self,
        f: &(impl Fn(P, Vec<Array>) -> Vec<Array> + Clone + Send + Sync + 'static),
        floats: P,
        others: Vec<Array>,
    ) -> Outcome {
        let lane = &self.lanes[0];
        let closed = make_jaxpr(f.clone())(floats, others).map_err(|error| error.to_string())?;
        let text = closed.to_string();
        let parsed =
            jaxide::core::jaxpr::parse(&text).map_err(|error| format!("{error}\n{text}"))?;
        if parsed.to_string() != text {
            return Err(format!("printed anew:\n{parsed}\nfirst:\n{text}"));
        }
        let filled = ClosedJaxpr::new((*parsed.jaxpr).clone(), closed.consts.clone());
        let args: Vec<Tensor> = lane.inputs.iter().map(Array::value).collect();
        // The text has no values of constants, which inner functions may have too.
        let inner = self.program.block.stages(|how| matches!(how, How::Jit));
        for (what, jaxpr) in [("Jaxpr", &closed), ("Text", &filled)] {
            if inner && what == "Text" {
                continue;
            }
            let got = jaxide::core::eval::eval(jaxpr, &args).map_err(|error| error.to_string())?;
            let got: Vec<Array> = got.into_iter().map(Array::from).collect();
            all_same(what, &got, &lane.results, 0)?;
        }
        Ok(())
    }

    /// The sum of all float results times their weights, as a function.
    pub(super) fn weighed<P: Packed>(
        &self,
        f: impl Fn(P, Vec<Array>) -> Vec<Array> + Send + Sync + 'static,
    ) -> impl Fn(P, Vec<Array>) -> Array + Send + Sync + 'static {
        let weights = self.weights.clone();
        move |floats, others| {
            let results = f(floats, others);
            let terms = results.iter().zip(&weights).filter_map(|(result, weight)| {
                let (ty, weight) = weight.as_ref()?;
                Some((result * array(ty, weight)).sum())
            });
            terms.reduce(|a, b| a + b).expect("a float result")
        }
    }

    /// A part of the weighed sum, with the magnitude of its terms and its error.
    fn expected(&self, lane: &Lane, part: usize) -> (f64, f64, f64) {
        let (mut sum, mut magnitude, mut error) = (0.0, 0.0, 0.0);
        for (result, weight) in lane.results.iter().zip(&self.weights) {
            let Some((_, weight)) = weight else { continue };
            for (y, w) in result.floats.iter().zip(weight) {
                sum += y.c[part] * w;
                magnitude += (y.c[part] * w).abs();
                error += y.e[part] * w.abs();
            }
        }
        (sum, magnitude, error)
    }

    pub(super) fn summed(&self, what: &str, lane: &Lane, value: &Array) -> Outcome {
        let (want, magnitude, error) = self.expected(lane, 0);
        let got = numbers(&value.value())[0];
        let count: usize = lane.results.iter().map(|result| result.ty.size()).sum();
        near(
            what,
            got,
            want,
            8.0 * error + self.unit() * magnitude * (8.0 + count as f64),
        )
    }

    /// The gradient in the direction of the first derivative.
    pub(super) fn pulled(&self, what: &str, lane: &Lane, gradient: &[Array]) -> Outcome {
        self.product(what, lane, gradient, (0, 1))
    }

    /// Derivatives by the inputs in a direction, which are a part of the results.
    pub(super) fn product(
        &self,
        what: &str,
        lane: &Lane,
        gradient: &[Array],
        (direction, part): (usize, usize),
    ) -> Outcome {
        let (want, terms, error) = self.expected(lane, part);
        let (mut got, mut magnitude, mut count) = (0.0, terms, 0);
        for (index, gradient) in gradient.iter().enumerate() {
            let ty = &self.program.block.inputs[index].1;
            if gradient.shape() != ty.shape || gradient.dtype() != dtype(ty.kind) {
                return Err(format!("{what}: gradient {index} is {}", gradient.aval()));
            }
            let numbers = numbers(&gradient.value());
            count += numbers.len();
            for (g, v) in numbers.iter().zip(&lane.directions[direction][index]) {
                got += g * v;
                magnitude += (g * v).abs();
            }
        }
        let units = 256.0 + count as f64;
        near(
            what,
            got,
            want,
            16.0 * error + units * self.unit() * magnitude,
        )
    }

    /// One rounding of the widest error among all floats.
    fn unit(&self) -> f64 {
        let mut single = false;
        let mut look = |ty: &Ty| single |= ty.kind == Kind::F32;
        self.program
            .block
            .inputs
            .iter()
            .for_each(|(_, ty)| look(ty));
        self.program
            .block
            .each_line(&mut |line| line.outs.iter().for_each(|(_, ty)| look(ty)));
        unit(if single { Kind::F32 } else { Kind::F64 })
    }
}

fn near(what: &str, got: f64, want: f64, allowed: f64) -> Outcome {
    let distance = (got - want).abs();
    if distance.is_nan() || distance > allowed + 1e-35 {
        return Err(format!("{what}: {got}, not {want} (within {allowed:e})"));
    }
    Ok(())
}
