//! A convolutional network that learns to read handwritten digits: modules with parameters and statistics, dropout, an
//! optimiser with a schedule, metrics, curves, and a file from which training goes on to the same bits.
//!
//! `cargo run --release -p jaxide-training --example digits_cnn` trains for eight epochs. `-- 8 digits.safetensors` also writes everything to that file after
//! each epoch, and goes on from it when it is there, whatever ended the run before. `python examples/training/beside_flax.py digits_cnn`
//! runs it in turn with the same program in Flax.

mod network;

use std::path::{Path, PathBuf};

use jaxide::{Array, numpy, random};
use jaxide_nnx::optim::schedules::{self, WarmupCosine};
use jaxide_nnx::optim::{adamw, losses};
use jaxide_nnx::training::{Curves, Progress, batches};
use jaxide_nnx::{self as nnx, Module, Optimizer, Param, Result, Rngs, metrics};
use jaxide_training::{Digits, Stopwatch};

use network::Cnn;

const BATCH: usize = 64;
const RATE: f64 = 3e-3;

/// Everything that a step changes: what stands in a file.
#[derive(Clone, Module)]
struct Training {
    model: Cnn,
    optimizer: Optimizer,
    loss: metrics::Average,
}

impl Training {
    /// The beginning of a training of so many epochs.
    fn new(epochs: usize, steps: usize) -> Result<Self> {
        let model = Cnn::new(&Rngs::new(0));
        let (warmup, all) = (2 * steps as u32, (epochs * steps) as u32);
        let rate = schedules::warmup_cosine_decay(WarmupCosine {
            peak_value: RATE,
            warmup_steps: warmup,
            decay_steps: all,
            ..WarmupCosine::default()
        });
        let optimizer = Optimizer::new(&model, adamw(rate, 1e-4, None), Param)?;
        let loss = metrics::Average::new();
        Ok(Training {
            model,
            optimizer,
            loss,
        })
    }

    /// How many epochs of so many steps were made.
    fn epochs(&self, steps: usize) -> usize {
        self.optimizer.step.get().item::<u32>() as usize / steps
    }
}

/// The loss of a batch, after which the parameters are better and the statistics newer.
fn step(training: Training, batch: Digits) -> Array {
    let loss = |model: Cnn| {
        let logits = model.call(&batch.images);
        losses::softmax_cross_entropy_with_integer_labels(&logits, &batch.labels, ()).mean()
    };
    let (loss, gradient) = nnx::value_and_grad_of(&loss, training.model.clone());
    training.optimizer.update(&training.model, &gradient);
    training.loss.update(&loss);
    loss
}

/// The share of digits that are read rightly.
fn accuracy(model: Cnn, digits: Digits) -> Array {
    let read = numpy::argmax(&model.call(&digits.images), -1);
    read.equal(digits.labels).mean()
}

/// Trains until so many epochs are done, from the file on if there is one; gives everything, and the part of test digits read rightly.
fn train(epochs: usize, file: Option<&Path>, watch: &mut Stopwatch) -> Result<(Training, f32)> {
    let (digits, tests) = Digits::read().split();
    let steps = digits.len() / BATCH;
    let training = Training::new(epochs, steps)?;
    if let Some(file) = file.filter(|file| file.exists()) {
        nnx::load_state(file, &training)?;
    }
    let (step, accuracy) = (nnx::jit(step), nnx::jit(accuracy));
    let progress = Progress::new(epochs * steps).from(training.epochs(steps) * steps);
    let mut curves = Curves::new("Handwritten digits");
    let mut reached = None;
    progress.println("epoch    loss   test");
    for epoch in training.epochs(steps)..epochs {
        training.model.train();
        let key = random::fold_in(&random::key(1), epoch as i64);
        for places in batches(&key, digits.len(), BATCH) {
            let batch = digits.take(&places);
            let loss = watch.time(|| step(training.clone(), batch).item::<f32>());
            curves.note(
                "loss",
                f64::from(training.optimizer.step.get().item::<u32>()),
                loss.into(),
            );
            progress.step(&[("loss", loss.into())]);
        }
        training.model.eval();
        let now = accuracy(training.model.clone(), tests.clone()).item::<f32>();
        reached = Some(now);
        let loss = training.loss.compute().item::<f32>();
        training.loss.reset();
        progress.println(format!("{:>5}  {loss:.4}  {now:.3}", epoch + 1));
        curves.note("accuracy", (epoch + 1) as f64 * steps as f64, now.into());
        if let Some(file) = file {
            nnx::save_state(file, &nnx::state(&training, ..)?)?;
            curves.write_svg(file.with_extension("svg"))?;
        }
    }
    progress.finish();
    // A file may be of a training that was complete.
    let reached = reached.unwrap_or_else(|| {
        training.model.eval();
        accuracy(training.model.clone(), tests).item::<f32>()
    });
    Ok((training, reached))
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let epochs = arguments
        .next()
        .map_or(8, |text| text.parse().expect("a number of epochs"));
    let file = arguments.next().map(PathBuf::from);
    let mut watch = Stopwatch::new("step");
    let (_, accuracy) = train(epochs, file.as_deref(), &mut watch)?;
    println!("{watch}\nresult {accuracy:.4}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    const FILE: &str = "JAXIDE_DIGITS_FILE";

    #[test]
    fn the_network_learns_to_read() -> Result<()> {
        let (_, accuracy) = train(6, None, &mut Stopwatch::new("step"))?;
        assert!(accuracy > 0.93, "{accuracy}");
        Ok(())
    }

    /// What [`a_killed_training_goes_on_to_the_same_bits`] starts and kills.
    #[test]
    #[ignore = "only for another test"]
    fn trains_into_a_file() -> Result<()> {
        let file = std::env::var_os(FILE).map(PathBuf::from);
        train(3, file.as_deref(), &mut Stopwatch::new("step")).map(|_| ())
    }

    #[test]
    fn a_killed_training_goes_on_to_the_same_bits() -> Result<()> {
        let file = std::env::temp_dir().join(format!("digits-{}.safetensors", std::process::id()));
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--exact", "--ignored", "tests::trains_into_a_file"])
            .env(FILE, &file)
            .stdout(Stdio::null())
            .spawn()?;
        while !file.exists() && child.try_wait()?.is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill()?;
        child.wait()?;

        train(3, Some(&file), &mut Stopwatch::new("step"))?;
        let resumed = std::fs::read(&file)?;
        let (whole, _) = train(3, None, &mut Stopwatch::new("step"))?;
        nnx::save_state(&file, &nnx::state(&whole, ..)?)?;
        assert!(resumed == std::fs::read(&file)?);
        std::fs::remove_file(&file)?;
        std::fs::remove_file(file.with_extension("svg"))?;
        Ok(())
    }
}
