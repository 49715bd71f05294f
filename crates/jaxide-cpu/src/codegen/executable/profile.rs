//! What the steps of a program took.

use super::Executable;
use crate::lower::program::work::{StepWork, steps};
use crate::runtime::profile::empty_step;
use std::time::Duration;

/// A step of a program: a loop nest, nests that run together, a call of the runtime, or all copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepProfile {
    /// Its name in the loop IR, as `k0` or `sort`.
    pub name: String,
    /// The equations that it computes, and where they stand.
    pub equations: String,
    /// How often it ran.
    pub runs: u64,
    /// How long all its runs took.
    pub time: Duration,
    /// Bytes that its runs read and wrote: of nests those of different elements, of calls those of their operands.
    pub bytes: u64,
    /// Operations on floats: of nests those of their instructions, where a fused multiplication and addition is two, and a
    /// change of sign none; of calls those of
    /// the definition, as [`jaxide_core::cost()`] counts them. A loop whose number of turns is not known counts as one turn.
    pub flops: u64,
}

impl Executable {
    /// What the steps took since this was last asked, those that ran, in the order of the program's text; nothing unless
    /// [`CompileOptions::profile`](crate::CompileOptions::profile) was set.
    ///
    /// ```
    /// use jaxide_core::{Tensor, parse};
    /// use jaxide_cpu::{CompileOptions, compile};
    /// let options = CompileOptions { profile: true, ..CompileOptions::default() };
    /// let program = compile(&parse("{ lambda ; a:f32[100]. let b:f32[100] = mul a a in (b,) }")?, &options)?;
    /// program.run(&[Tensor::from_vec(&[100], vec![2.0f32; 100])?])?;
    /// let steps = program.take_profile();
    /// assert_eq!((steps[0].name.as_str(), steps[0].runs, steps[0].bytes, steps[0].flops), ("k0", 1, 800, 100));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn take_profile(&self) -> Vec<StepProfile> {
        let Some(cells) = self.code.profile() else {
            return Vec::new();
        };
        let empty = empty_step();
        let measured = steps(&self.program).into_iter().zip(cells.take());
        measured
            .filter(|(_, cell)| cell.runs > 0)
            .map(
                |(
                    StepWork {
                        name,
                        equations,
                        work,
                    },
                    cell,
                )| {
                    let clock = empty.saturating_mul(cell.runs);
                    StepProfile {
                        name,
                        equations,
                        runs: cell.runs,
                        time: Duration::from_nanos(cell.nanoseconds.saturating_sub(clock)),
                        bytes: (work.bytes.saturating_mul(cell.runs))
                            .saturating_add(2 * cell.copied),
                        flops: work.flops.saturating_mul(cell.runs),
                    }
                },
            )
            .collect()
    }
}
