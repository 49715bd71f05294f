//! How long the stages of a compilation take.

use std::time::{Duration, Instant};

/// The time that each stage of a compilation took, in their order.
///
/// | stage | what it makes |
/// |---|---|
/// | `check` | – : it looks whether the jaxpr is legal |
/// | `simplify` | the jaxpr after algebraic laws |
/// | `graph` | values and nodes of the jaxpr, with calls inlined |
/// | `plan` | which values get memory, and what is computed by the same loops |
/// | `loops` | the loop IR: places, statements, memory |
/// | `lanes` | the bodies of its loops, written once per element |
/// | `kernels` | machine code of lane programs |
/// | `program` | machine code of what calls them |
///
/// ```
/// use jaxide_core::parse;
/// use jaxide_cpu::{CompileOptions, compile};
/// let program = compile(&parse("{ lambda ; a:f32[9]. let b:f32[9] = sin a in (b,) }")?, &CompileOptions::default())?;
/// let names: Vec<_> = program.stats().stages.iter().map(|(name, _)| name).collect();
/// assert_eq!(names, ["check", "simplify", "graph", "plan", "loops", "lanes", "kernels", "program"]);
/// # Ok::<(), jaxide_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct StageTimes([Duration; NAMES.len()]);

const NAMES: [&str; 8] = [
    "check", "simplify", "graph", "plan", "loops", "lanes", "kernels", "program",
];

/// A stage, by its place among [`NAMES`].
#[derive(Clone, Copy)]
pub(crate) enum Stage {
    Check,
    Simplify,
    Graph,
    Plan,
    Loops,
    Lanes,
    Kernels,
    Program,
}

impl StageTimes {
    /// The stages' names with their times.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Duration)> {
        NAMES.into_iter().zip(self.0)
    }

    /// The time of all stages.
    pub fn total(&self) -> Duration {
        self.0.iter().sum()
    }

    /// What `work` gives; its time counts for a stage.
    pub(crate) fn measure<T>(&mut self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(stage, start.elapsed());
        result
    }

    pub(crate) fn add(&mut self, stage: Stage, time: Duration) {
        self.0[stage as usize] += time;
    }

    /// Moves time that was measured inside another stage's.
    pub(crate) fn shift(&mut self, from: Stage, stage: Stage, time: Duration) {
        self.0[from as usize] = self.0[from as usize].saturating_sub(time);
        self.add(stage, time);
    }
}
