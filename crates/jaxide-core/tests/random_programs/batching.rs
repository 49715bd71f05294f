//! Lanes of a batch are calls one by one, and batching commutes with derivatives.

use jaxide_core::transform::{Step, apply};
use jaxide_core::{ClosedJaxpr, DType, ErrorKind};
use jaxide_testing::arrays::{Numbers, arguments, lane};
use jaxide_testing::compare::{Nearness, compare};
use jaxide_testing::laws::{Outcome, jvp, legal, run, tame, transformed, vjp};
use jaxide_testing::{Profile, config, programs};
use proptest::prelude::*;

use super::holds;

const REVERSIBLE: Profile = Profile::Reversible(DType::F64);

/// Where arguments and results have their lanes.
#[derive(Clone, Debug)]
struct Lanes {
    count: usize,
    /// By argument; the first always has lanes.
    axes: [Option<u8>; 4],
    out: bool,
    from_the_end: bool,
}

fn lanes() -> impl Strategy<Value = Lanes> {
    let axes = prop::array::uniform4(prop::option::of(any::<u8>()));
    (0..4usize, axes, any::<bool>(), any::<bool>()).prop_map(|(count, axes, out, from_the_end)| {
        Lanes {
            count,
            axes,
            out,
            from_the_end,
        }
    })
}

impl Lanes {
    fn axis(&self, argument: usize, rank: usize) -> Option<usize> {
        let any = self.axes[argument % 4].or((argument == 0).then_some(0))?;
        Some(usize::from(any) % (rank + 1))
    }

    /// The last axis of results, or the first.
    fn out_axis(&self, rank: usize) -> usize {
        if self.out { rank } else { 0 }
    }

    fn step(&self, jaxpr: &ClosedJaxpr) -> Step {
        let in_axes = (jaxpr.in_avals().iter().enumerate())
            .map(|(index, aval)| {
                let axis = self.axis(index, aval.rank())? as i64;
                let counted = axis - aval.rank() as i64 - 1;
                Some(if self.from_the_end { counted } else { axis })
            })
            .collect();
        Step::Vmap {
            in_axes,
            out_axes: if self.out { -1 } else { 0 },
            axis_size: self.count,
            axis_name: None,
        }
    }

    /// A batch of calls is the calls.
    fn check(
        &self,
        jaxpr: &ClosedJaxpr,
        numbers: Numbers,
        seed: u64,
        nearness: Nearness,
    ) -> Outcome {
        let batched = transformed(jaxpr, &self.step(jaxpr))?;
        let args = arguments(&batched, numbers, seed);
        let together = run(&batched, &args)?;
        if matches!(nearness, Nearness::Relative(_)) && !tame(&together) {
            return Ok(());
        }
        for index in 0..self.count {
            let avals = jaxpr.in_avals();
            let own: Vec<_> = (args.iter().zip(&avals).enumerate())
                .map(|(k, (array, aval))| match self.axis(k, aval.rank()) {
                    Some(axis) => lane(array, axis, index),
                    None => array.clone(),
                })
                .collect();
            let want = run(jaxpr, &own)?;
            let got: Vec<_> = together
                .iter()
                .map(|array| lane(array, self.out_axis(array.shape().len() - 1), index))
                .collect();
            compare(&got, &want, nearness)
                .map_err(|message| format!("lane {index}: {message}\n{jaxpr}\n{batched}"))?;
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn lanes_are_calls(program in programs(Profile::Exact, 8), lanes in lanes()) {
        holds(lanes.check(&program.jaxpr, Numbers::Special, program.seed, Nearness::Bits))?;
    }

    #[test]
    fn lanes_of_smooth_programs_are_calls(program in programs(Profile::Smooth(DType::F64), 8), lanes in lanes()) {
        holds(lanes.check(&program.jaxpr, Numbers::Tame, program.seed, Nearness::Relative(1e-9)))?;
    }

    #[test]
    fn lanes_of_lanes(program in programs(Profile::Exact, 5), outer in lanes(), inner in lanes()) {
        let batched = holds(transformed(&program.jaxpr, &inner.step(&program.jaxpr)))?;
        holds(outer.check(&batched, Numbers::Special, program.seed, Nearness::Bits))?;
    }

    #[test]
    fn lanes_of_derivatives_are_derivatives(program in programs(REVERSIBLE, 6), lanes in lanes()) {
        let jaxpr = &program.jaxpr;
        let nearness = Nearness::Relative(1e-9);
        holds(lanes.check(&holds(transformed(jaxpr, &jvp(jaxpr)))?, Numbers::Tame, program.seed, nearness))?;
        holds(lanes.check(&holds(transformed(jaxpr, &vjp(jaxpr)))?, Numbers::Tame, program.seed, nearness))?;
    }

    #[test]
    fn derivatives_of_lanes_are_lanes_of_derivatives(program in programs(REVERSIBLE, 6), count in 1..4usize) {
        let jaxpr = &program.jaxpr;
        let all = |jaxpr: &ClosedJaxpr| Step::Vmap {
            in_axes: vec![Some(0); jaxpr.in_avals().len()],
            out_axes: 0,
            axis_size: count,
            axis_name: None,
        };
        let batched = holds(transformed(jaxpr, &all(jaxpr)))?;
        for step in [jvp, vjp] {
            let derived = holds(transformed(jaxpr, &step(jaxpr)))?;
            let inside = holds(transformed(&derived, &all(&derived)))?;
            let outside = holds(transformed(&batched, &step(jaxpr)))?;
            let args = arguments(&inside, Numbers::Tame, program.seed);
            let want = holds(run(&inside, &args))?;
            if !tame(&want) {
                return Ok(());
            }
            compare(&holds(run(&outside, &args))?, &want, Nearness::Relative(1e-9))
                .map_err(|message| TestCaseError::fail(format!("{message}\n{inside}\n{outside}")))?;
        }
    }

    /// Every program has lanes and tangents, or is told why not; what comes out is legal.
    #[test]
    fn transformed_programs_are_legal(program in programs(Profile::Any, 8), lanes in lanes()) {
        let jaxpr = &program.jaxpr;
        let steps = [lanes.step(jaxpr), jvp(jaxpr), vjp(jaxpr), super::jit(), Step::Checkpoint];
        for step in steps {
            match apply(jaxpr, &step) {
                Ok(result) => holds(legal(&result))?,
                Err(error) => prop_assert!(
                    matches!(error.kind(), ErrorKind::NoRule | ErrorKind::Unsupported),
                    "{:?}: {}", step, error
                ),
            }
        }
    }
}
