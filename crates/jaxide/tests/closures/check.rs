//! A program run in many ways, and its results beside those of the evaluator.

use std::rc::Rc;

use jaxide::prelude::*;
use jaxide::{Tensor, with_interpreter};

use super::compare::{Outcome, all_same, identical, numbers};
use super::draw::Draw;
use super::number::Num;
use super::program::{How, Kind, Operand, Program, Ty};
use super::reference::{Value, evaluate, unit};
use super::run::form::{Packed, with_form};
use super::run::{Closure, array};

/// A way to run a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    Eager,
    /// Compiled once, and called with several inputs.
    Jit,
    Vmap,
    JitOfVmap,
    VmapOfJit,
    Jvp,
    JitOfJvp,
    VmapOfJvp,
    Linearize,
    Vjp,
    Grad,
    JitOfGrad,
    VmapOfGrad,
    GradOfJit,
    GradOfCheckpoint,
    /// With values asked for on the way.
    GradOnDemand,
    JvpOfGrad,
    Text,
    Threads,
    Interpreter,
    /// By several threads of the program at once.
    Concurrent,
}

/// The checks beside [`Check::Eager`] and [`Check::Jit`], from which some are drawn.
const OTHERS: [Check; 19] = [
    Check::Vmap,
    Check::JitOfVmap,
    Check::VmapOfJit,
    Check::Jvp,
    Check::JitOfJvp,
    Check::VmapOfJvp,
    Check::Linearize,
    Check::Vjp,
    Check::Grad,
    Check::JitOfGrad,
    Check::VmapOfGrad,
    Check::GradOfJit,
    Check::GradOfCheckpoint,
    Check::GradOnDemand,
    Check::JvpOfGrad,
    Check::Text,
    Check::Threads,
    Check::Interpreter,
    Check::Concurrent,
];

/// What became of a program.
pub(crate) enum Verdict {
    /// So many checks were made, and hold.
    Fine(usize),
    /// Rounding decides what the result is.
    Undecided,
    Failed(Check, String),
}

/// A lane: inputs, and results with derivatives.
struct Lane {
    inputs: Vec<Array>,
    tangents: Vec<Array>,
    results: Vec<Rc<Value>>,
    /// The directions of the first and the second derivative, as numbers.
    directions: [Vec<Vec<f64>>; 2],
}

/// The checks that are drawn for a program.
pub(crate) fn drawn(program: &Program) -> Vec<Check> {
    let mut draw = Draw::new(program.seed ^ 0xC0DE);
    let mut checks = vec![Check::Eager, Check::Jit];
    for _ in 0..2 {
        checks.push(draw.choose(&OTHERS));
    }
    checks
}

/// Runs checks; mistakes of the crate are failures.
pub(crate) fn check(program: &Program, checks: &[Check]) -> Verdict {
    let Some(case) = Case::new(program) else {
        return Verdict::Undecided;
    };
    let mut made = 0;
    for &check in checks {
        match super::caught(|| case.run(check)).flatten() {
            Ok(applies) => made += usize::from(applies),
            Err(message) => return Verdict::Failed(check, message),
        }
    }
    Verdict::Fine(made)
}

struct Case<'p> {
    program: &'p Program,
    closure: Closure,
    lanes: Vec<Lane>,
    /// Whether all lanes have the same integers.
    shared: bool,
    /// Whether a derivative is taken inside.
    derives: bool,
    forward: bool,
    reverse: bool,
    /// Weights of float results in a sum whose gradient is taken.
    weights: Vec<Option<(Ty, Vec<f64>)>>,
}

impl<'p> Case<'p> {
    /// `None` when rounding decides what the results are.
    fn new(program: &'p Program) -> Option<Self> {
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

    /// Whether a check applies, and holds.
    fn run(&self, check: Check) -> Result<bool, String> {
        let applies = match check {
            Check::Jvp | Check::JitOfJvp | Check::VmapOfJvp | Check::Linearize => self.forward,
            Check::Vjp
            | Check::Grad
            | Check::JitOfGrad
            | Check::VmapOfGrad
            | Check::GradOfJit
            | Check::GradOfCheckpoint
            | Check::GradOnDemand => self.reverse,
            Check::JvpOfGrad => self.forward && self.reverse && !self.derives,
            Check::Eager
            | Check::Jit
            | Check::Vmap
            | Check::JitOfVmap
            | Check::VmapOfJit
            | Check::Text
            | Check::Threads
            | Check::Interpreter
            | Check::Concurrent => true,
        };
        if !applies {
            return Ok(false);
        }
        with_form!(self.program.form, self.program.floats, P => self.packed::<P>(check))?;
        Ok(true)
    }

    fn function<P: Packed>(
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
    fn split<P: Packed>(&self, inputs: &[Array]) -> (P, Vec<Array>) {
        let (floats, others) = inputs.split_at(self.program.floats);
        (P::pack(floats.to_vec()), others.to_vec())
    }

    /// Inputs of all lanes along a new first axis; integers alone where all lanes share them.
    fn batch<P: Packed>(&self, of: impl Fn(&Lane) -> &[Array]) -> (P, Vec<Array>) {
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

    fn axes(&self) -> (i32, Option<i32>) {
        (0, (!self.shared).then_some(0))
    }

    /// The results of all lanes.
    fn lanes_same(&self, what: &str, got: &[Array], part: usize) -> Outcome {
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

    fn packed<P: Packed>(&self, check: Check) -> Outcome {
        let f = self.function::<P>();
        let lane = &self.lanes[0];
        let (floats, others) = self.split::<P>(&lane.inputs);
        let tangents = || self.split::<P>(&lane.tangents);
        let what = format!("{check:?}");
        let both = |(values, tangents): (Vec<Array>, Vec<Array>)| {
            all_same(&format!("{what}, value"), &values, &lane.results, 0)?;
            all_same(&format!("{what}, tangent"), &tangents, &lane.results, 1)
        };
        match check {
            Check::Eager => all_same(&what, &f(floats, others), &lane.results, 0),
            Check::Jit => {
                let compiled = jit(f);
                for (number, lane) in self.lanes.iter().enumerate() {
                    let (floats, others) = self.split::<P>(&lane.inputs);
                    let got = compiled(floats, others);
                    all_same(&format!("{what}, call {number}"), &got, &lane.results, 0)?;
                }
                let (floats, others) = self.split::<P>(&lane.inputs);
                identical(
                    "Jit again",
                    &compiled(floats.clone(), others.clone()),
                    &compiled(floats, others),
                )
            }
            Check::Vmap | Check::JitOfVmap | Check::VmapOfJit => {
                let (floats, others) = self.batch::<P>(|lane| &lane.inputs);
                let got = match check {
                    Check::Vmap => vmap(f).in_axes(self.axes())(floats, others),
                    Check::JitOfVmap => jit(vmap(f).in_axes(self.axes()))(floats, others),
                    _ => vmap(jit(f)).in_axes(self.axes())(floats, others),
                };
                self.lanes_same(&what, &got, 0)
            }
            Check::Jvp => both(jvp(f, (floats, others), tangents())),
            Check::JitOfJvp => {
                let pushed =
                    jit(move |x: P, y: Vec<Array>, t: P| jvp(f.clone(), (x, y.clone()), (t, y)));
                both(pushed(floats, others, tangents().0))
            }
            Check::VmapOfJvp => {
                let pushed =
                    vmap(move |x: P, y: Vec<Array>, t: P| jvp(f.clone(), (x, y.clone()), (t, y)));
                let (floats, others) = self.batch::<P>(|lane| &lane.inputs);
                let (tangents, _) = self.batch::<P>(|lane| &lane.tangents);
                let (shared, axis) = self.axes();
                let pushed = pushed.in_axes((shared, axis, shared));
                let (values, tangents) = pushed(floats, others, tangents);
                self.lanes_same(&format!("{what}, value"), &values, 0)?;
                self.lanes_same(&format!("{what}, tangent"), &tangents, 1)
            }
            Check::Linearize => {
                let (values, linear) = linearize(f, (floats, others));
                both((values, linear.apply(&tangents())))
            }
            Check::Vjp => {
                let (values, pull) = vjp(f, (floats, others));
                all_same(&format!("{what}, value"), &values, &lane.results, 0)?;
                let cotangents = values.iter().zip(&self.weights).map(|(value, weight)| {
                    let weight = weight.as_ref().map(|(ty, weight)| array(ty, weight));
                    weight.unwrap_or_else(|| value.clone())
                });
                let (gradient, _) = pull.apply(&cotangents.collect());
                self.pulled(&what, lane, &gradient.unpack())
            }
            Check::Grad => {
                let gradient = grad(self.weighed(f))(floats, others);
                self.pulled(&what, lane, &gradient.unpack())
            }
            Check::JitOfGrad => {
                let (value, gradient) = jit(value_and_grad(self.weighed(f)))(floats, others);
                self.summed(&what, lane, &value)?;
                self.pulled(&what, lane, &gradient.unpack())
            }
            Check::VmapOfGrad => {
                let (floats, others) = self.batch::<P>(|lane| &lane.inputs);
                let got = vmap(grad(self.weighed(f))).in_axes(self.axes())(floats, others);
                let got = got.unpack();
                for (number, lane) in self.lanes.iter().enumerate() {
                    let slices: Vec<Array> = got.iter().map(|x| x.index(number as i64)).collect();
                    self.pulled(&format!("{what}, lane {number}"), lane, &slices)?;
                }
                Ok(())
            }
            Check::GradOfJit => {
                let gradient = grad(jit(self.weighed(f)))(floats, others);
                self.pulled(&what, lane, &gradient.unpack())
            }
            Check::GradOfCheckpoint => {
                let gradient = grad(checkpoint(self.weighed(f)))(floats, others);
                self.pulled(&what, lane, &gradient.unpack())
            }
            Check::GradOnDemand => {
                let asking = self.closure.asking();
                let f = move |floats: P, others: Vec<Array>| {
                    let mut inputs = floats.unpack();
                    inputs.extend(others);
                    asking.call(inputs)
                };
                let (value, gradient) = value_and_grad(self.weighed(f))(floats, others);
                self.summed(&what, lane, &value)?;
                self.pulled(&what, lane, &gradient.unpack())
            }
            Check::JvpOfGrad => {
                let gradient = grad(self.weighed(f));
                let (gradient, pushed) = jvp(gradient, (floats, others), tangents());
                self.pulled(&what, lane, &gradient.unpack())?;
                self.product(&what, lane, &pushed.unpack(), (1, 3))
            }
            Check::Text => self.text(&f, floats, others),
            Check::Threads => {
                let one = jit(f.clone()).threads(1)(floats.clone(), others.clone());
                all_same(&what, &one, &lane.results, 0)?;
                let two = jit(f).threads(2)(floats, others);
                identical(&what, &two, &one)
            }
            Check::Interpreter => {
                let plain = with_interpreter(|| f(floats.clone(), others.clone()));
                all_same(&what, &plain, &lane.results, 0)?;
                let compiled = with_interpreter(|| jit(f)(floats, others));
                all_same(&format!("{what}, jit"), &compiled, &lane.results, 0)
            }
            Check::Concurrent => {
                let compiled = jit(f);
                let call = || {
                    let got = compiled(floats.clone(), others.clone());
                    let values = got.iter().map(Array::value);
                    values.collect::<Vec<Tensor>>()
                };
                let got = std::thread::scope(|scope| {
                    let threads = [scope.spawn(call), scope.spawn(call)];
                    threads.map(|thread| thread.join().expect("a result"))
                });
                for values in got {
                    let arrays: Vec<Array> = values.into_iter().map(Array::from).collect();
                    all_same(&what, &arrays, &lane.results, 0)?;
                }
                Ok(())
            }
        }
    }

    fn text<P: Packed>(
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
    fn weighed<P: Packed>(
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

    fn summed(&self, what: &str, lane: &Lane, value: &Array) -> Outcome {
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
    fn pulled(&self, what: &str, lane: &Lane, gradient: &[Array]) -> Outcome {
        self.product(what, lane, gradient, (0, 1))
    }

    /// Derivatives by the inputs in a direction, which are a part of the results.
    fn product(
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
            if gradient.shape() != ty.shape || gradient.dtype() != super::run::dtype(ty.kind) {
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
