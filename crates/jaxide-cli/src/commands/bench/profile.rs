//! What the steps of a program took, beside what the machine can do.

use std::fmt::Write;

use jaxide_core::Result;
use jaxide_cpu::runtime::ThreadPool;
use jaxide_cpu::runtime::machine::Machine;
use jaxide_cpu::{Executable, StepProfile};
use serde_json::{Value, json};

/// Measured steps, the longest first.
pub(super) struct Profile {
    pub(super) steps: Vec<Step>,
    pub(super) machine: Machine,
    pub(super) threads: usize,
}

/// A step in the mean of all runs of the program.
pub(super) struct Step {
    pub(super) name: String,
    equations: String,
    /// How often it runs in a run of the program.
    times: f64,
    /// Seconds in a run of the program.
    seconds: f64,
    /// Bytes a run of the program.
    bytes: f64,
    flops: f64,
    /// Bytes in a second that the machine copies where so many are touched.
    bandwidth: f64,
    /// Operations in a second of which the machine is capable.
    peak: f64,
}

impl Profile {
    /// Of the last so many runs of a program.
    ///
    /// # Errors
    /// When there is no memory to measure the machine with.
    pub(super) fn take(
        program: &Executable,
        runs: usize,
        threads: Option<usize>,
    ) -> Result<Profile> {
        let steps = program.take_profile();
        let all = ThreadPool::global().threads();
        let threads = threads.map_or(all, |threads| threads.min(all));
        let machine = Machine::measure(program.isa(), threads)?;
        let mut steps: Vec<Step> = steps
            .into_iter()
            .map(|step| Step::new(step, runs, &machine))
            .collect();
        steps.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        Ok(Profile {
            steps,
            machine,
            threads,
        })
    }

    /// A line for each step.
    pub(super) fn table(&self) -> String {
        let mut text = format!(
            "\n{:<16} {:>9} {:>11} {:>6} {:>11} {:>11} {:>9} {:>9} {:>9} {:>6}  equations\n",
            "kernel",
            "times",
            "us",
            "share",
            "bytes",
            "flops",
            "GB/s",
            "of copy",
            "GFLOP/s",
            "of peak",
        );
        let total: f64 = self.steps.iter().map(|step| step.seconds).sum();
        for step in &self.steps {
            let _ = writeln!(
                text,
                "{:<16} {:>9.1} {:>11.2} {:>5.1}% {:>11.0} {:>11.0} {:>9.2} {:>8.1}% {:>9.2} {:>6.1}%  {}",
                step.name,
                step.times,
                step.seconds * 1e6,
                100.0 * step.seconds / total,
                step.bytes,
                step.flops,
                step.byte_rate() / 1e9,
                100.0 * step.of_bandwidth(),
                step.flop_rate() / 1e9,
                100.0 * step.of_peak(),
                step.equations,
            );
        }
        let copies = self.machine.bandwidth.iter();
        let copies: Vec<String> = copies
            .map(|&(bytes, rate)| format!("{:.1} GB/s of {}", rate / 1e9, size(bytes)))
            .collect();
        let _ = writeln!(
            text,
            "\nThis machine, {} threads: {:.1} GFLOP/s of f32; a plain copy reads and writes {}.\n\
             Numbers are of one run of the program. Bytes are those of different elements that a step reads and writes; a `while` counts one turn.",
            self.threads,
            self.machine.flops / 1e9,
            copies.join(", "),
        );
        text
    }

    pub(super) fn json(&self) -> Value {
        let steps = self.steps.iter().map(|step| {
            json!({
                "name": step.name,
                "equations": step.equations,
                "times": step.times,
                "us": step.seconds * 1e6,
                "bytes": step.bytes,
                "flops": step.flops,
                "of_bandwidth": step.of_bandwidth(),
                "of_peak": step.of_peak(),
            })
        });
        json!({
            "threads": self.threads,
            "flops_per_second": self.machine.flops,
            "bytes_per_second": self.machine.bandwidth,
            "steps": steps.collect::<Vec<_>>(),
        })
    }
}

impl Step {
    fn new(step: StepProfile, runs: usize, machine: &Machine) -> Step {
        let runs = runs.max(1) as f64;
        // What one run of the step touches says which memory it is in.
        let touched = step.bytes / step.runs.max(1);
        let touched = usize::try_from(touched).unwrap_or(usize::MAX);
        Step {
            name: step.name,
            equations: step.equations,
            times: step.runs as f64 / runs,
            seconds: step.time.as_secs_f64() / runs,
            bytes: step.bytes as f64 / runs,
            flops: step.flops as f64 / runs,
            bandwidth: machine.bandwidth_for(touched),
            peak: machine.flops,
        }
    }

    fn rate(&self, work: f64) -> f64 {
        if self.seconds > 0.0 {
            work / self.seconds
        } else {
            0.0
        }
    }

    pub(super) fn byte_rate(&self) -> f64 {
        self.rate(self.bytes)
    }

    pub(super) fn flop_rate(&self) -> f64 {
        self.rate(self.flops)
    }

    pub(super) fn of_bandwidth(&self) -> f64 {
        self.byte_rate() / self.bandwidth
    }

    pub(super) fn of_peak(&self) -> f64 {
        self.flop_rate() / self.peak
    }

    /// Operations for a byte.
    pub(super) fn intensity(&self) -> f64 {
        self.flops / self.bytes.max(1.0)
    }

    /// What part it is of what bounds it more.
    pub(super) fn of_roof(&self) -> f64 {
        self.of_bandwidth().max(self.of_peak())
    }
}

/// `64 kB`.
pub(super) fn size(bytes: usize) -> String {
    if bytes < 1 << 20 {
        format!("{} kB", bytes >> 10)
    } else {
        format!("{} MB", bytes >> 20)
    }
}
