//! A bar on the terminal.

use std::fmt::Write;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const LINE: &str = "{elapsed_precise} {bar:24} {pos}/{len} {per_sec:>9} {msg}";

/// A bar on the terminal that says how far training is, how fast, and what it last measured. Where standard error is no terminal,
/// nothing is shown.
///
/// ```
/// use jaxide_nnx::training::Progress;
/// let progress = Progress::new(3);
/// for step in 0..3 {
///     progress.step(&[("loss", 1.0 / f64::from(step + 1)), ("rate", 1e-3)]);
/// }
/// progress.finish();
/// ```
#[derive(Clone, Debug)]
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar for so many steps.
    #[must_use]
    pub fn new(steps: usize) -> Self {
        Self::with_target(steps, ProgressDrawTarget::stderr())
    }

    /// A bar that is drawn elsewhere.
    #[must_use]
    pub fn with_target(steps: usize, target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), target);
        let style = ProgressStyle::with_template(LINE).expect("the template is right");
        bar.set_style(style.progress_chars("━╸ "));
        Progress { bar }
    }

    /// Starts behind the first `steps`, which were made before.
    #[must_use]
    pub fn from(self, steps: usize) -> Self {
        self.bar.set_position(steps as u64);
        self.bar.reset_eta();
        self
    }

    /// One step more, and what is known of it: loss, rate, accuracy.
    pub fn step(&self, measured: &[(&str, f64)]) {
        self.bar.set_message(message(measured));
        self.bar.inc(1);
    }

    /// A line of text above the bar.
    pub fn println(&self, line: impl AsRef<str>) {
        if self.bar.is_hidden() {
            println!("{}", line.as_ref());
        } else {
            self.bar.println(line);
        }
    }

    /// Leaves the bar as it is.
    pub fn finish(&self) {
        self.bar.abandon();
    }
}

fn message(measured: &[(&str, f64)]) -> String {
    let mut text = String::new();
    for (name, value) in measured {
        let gap = if text.is_empty() { "" } else { "  " };
        let small = *value != 0.0 && value.abs() < 1e-2;
        let written = if small {
            write!(text, "{gap}{name} {value:.1e}")
        } else {
            write!(text, "{gap}{name} {value:.4}")
        };
        written.expect("a string takes any text");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::InMemoryTerm;

    #[test]
    fn the_bar_shows_steps_and_what_was_measured() {
        let terminal = InMemoryTerm::new(4, 100);
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let progress = Progress::with_target(4, target);
        progress.step(&[("loss", 2.25), ("rate", 1e-3)]);
        progress.step(&[("loss", 1.5), ("rate", 5e-4)]);
        progress.println("epoch 1");
        progress.finish();
        let shown = terminal.contents();
        assert!(shown.contains("2/4"), "{shown}");
        assert!(shown.ends_with("loss 1.5000  rate 5.0e-4"), "{shown}");
        assert!(shown.starts_with("epoch 1\n"), "{shown}");
    }
}
