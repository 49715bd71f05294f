//! A program run in many ways, and its results beside those of the evaluator.

mod case;

use jaxide::prelude::*;
use jaxide::{Tensor, with_interpreter};

use super::compare::{Outcome, all_same, identical};
use super::draw::Draw;
use super::program::Program;
use super::run::array;
use super::run::form::{Packed, with_form};
use case::Case;

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

impl Case<'_> {
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
}
