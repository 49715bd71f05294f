//! A variational autoencoder learns to draw handwritten digits: nested modules, a stream of noise of their own, and images drawn
//! from points that were never seen.
//!
//! `cargo run --release -p jaxide-training --example vae` trains for 40 epochs. `python examples/training/beside_flax.py vae` runs it in turn with the same program
//! in Flax.

mod model;

use jaxide::{Array, DType, random};
use jaxide_nnx::training::{Progress, batches};
use jaxide_nnx::{self as nnx, Optimizer, Param, Result, Rngs, optim};
use jaxide_training::{Digits, Stopwatch};

use model::{LATENT, Vae};

const BATCH: usize = 64;
const RATE: f64 = 2e-3;

/// The loss of a batch, after which the parameters are better.
fn step(model: Vae, optimizer: Optimizer, images: Array) -> Array {
    let loss = |model: Vae| model.loss(&images);
    let (loss, gradient) = nnx::value_and_grad_of(&loss, model.clone());
    optimizer.update(&model, &gradient);
    loss
}

/// Trains a model; gives it with its loss on images that it has not seen.
fn train(epochs: usize, watch: &mut Stopwatch) -> Result<(Vae, f32)> {
    let (digits, tests) = Digits::read().split();
    let flat = |digits: &Digits| digits.images.reshape([-1, 64]);
    let (images, tests) = (flat(&digits), flat(&tests));
    let model = Vae::new(&Rngs::new(0).with("noise", 1));
    let optimizer = Optimizer::new(&model, optim::adam(RATE), Param)?;
    let step = nnx::jit(step);
    let steps = digits.len() / BATCH;
    let progress = Progress::new(epochs * steps);
    progress.println("epoch    loss");
    for epoch in 0..epochs {
        let key = random::fold_in(&random::key(1), epoch as i64);
        let mut total = 0.0;
        for places in batches(&key, digits.len(), BATCH) {
            let batch = images.index(&places);
            let loss = watch.time(|| step(model.clone(), optimizer.clone(), batch).item::<f32>());
            total += loss;
            progress.step(&[("loss", loss.into())]);
        }
        if (epoch + 1).is_multiple_of(5) {
            progress.println(format!("{:>5}  {:.3}", epoch + 1, total / steps as f32));
        }
    }
    progress.finish();
    let judge = nnx::jit(|model: Vae, images: Array| model.loss(&images));
    let loss = judge(model.clone(), tests).item();
    Ok((model, loss))
}

/// Images `[n, 64]` side by side, a pixel two characters wide.
fn picture(images: &Array) -> String {
    const SHADES: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];
    let (count, pixels) = (images.shape()[0], images.to_vec::<f32>());
    let shade = |pixel: f32| SHADES[(pixel * 9.0).round() as usize];
    let row = |y: usize, image: usize| -> String {
        let start = image * 64 + y * 8;
        pixels[start..start + 8]
            .iter()
            .flat_map(|&pixel| [shade(pixel); 2])
            .collect()
    };
    let line = |y: usize| {
        (0..count)
            .map(|image| row(y, image))
            .collect::<Vec<_>>()
            .join("  ")
            + "\n"
    };
    (0..8).map(line).collect()
}

fn main() -> Result<()> {
    let epochs = std::env::args()
        .nth(1)
        .map_or(40, |text| text.parse().expect("a number of epochs"));
    let mut watch = Stopwatch::new("step");
    let (model, loss) = train(epochs, &mut watch)?;
    let points = random::normal(&random::key(2), [6, LATENT], DType::F32);
    println!("{}", picture(&model.draw(&points)));
    println!("{watch}\nresult {loss:.4}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_told_shorter_with_training() -> Result<()> {
        let (_, beginner) = train(1, &mut Stopwatch::new("step"))?;
        let (model, loss) = train(10, &mut Stopwatch::new("step"))?;
        assert!(loss < 26.5 && beginner > 28.0, "{beginner} {loss}");
        let drawn = picture(&model.draw(&Array::zeros([2, LATENT], DType::F32)));
        assert_eq!(drawn.lines().map(str::len).collect::<Vec<_>>(), [34; 8]);
        Ok(())
    }
}
