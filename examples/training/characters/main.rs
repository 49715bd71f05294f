//! A transformer of two layers learns to write letter by letter: derived modules in a list, gradients that are clipped, a rate that
//! rises and falls, and text that is drawn with the keys and values of earlier letters in a cache.
//!
//! `cargo run --release -p jaxide-training --example characters` trains for 400 steps. `python examples/training/beside_flax.py characters` runs it in turn with
//! the same program in Flax.

mod model;

use jaxide::{Array, DType, idx, numpy, random};
use jaxide_nnx::optim::schedules::{self, WarmupCosine};
use jaxide_nnx::optim::{adamw, chain, clip_by_global_norm, losses};
use jaxide_nnx::{self as nnx, Optimizer, Param, Result, Rngs, training::Progress};
use jaxide_training::Stopwatch;

use model::{CONTEXT, Model, all_places, next_letter};

/// What is learnt: a text that does not change.
const TEXT: &str = include_str!("../../../LICENSE-APACHE");
const WIDTH: usize = 128;
const BATCH: usize = 16;
const RATE: f64 = 2e-3;

/// The letters of a text, and which of them stands where.
struct Letters {
    alphabet: Vec<char>,
    ids: Array,
}

impl Letters {
    fn of(text: &str) -> Self {
        let mut alphabet: Vec<char> = text.chars().collect();
        alphabet.sort_unstable();
        alphabet.dedup();
        let id = |c: char| alphabet.binary_search(&c).expect("every letter is in it") as i32;
        let ids = Array::from(text.chars().map(id).collect::<Vec<i32>>());
        Letters { alphabet, ids }
    }

    /// Excerpts that begin anywhere, one letter longer than what the model sees.
    fn excerpts(&self, key: &Array) -> Array {
        let last = (self.ids.size() - CONTEXT) as i64;
        let starts = random::randint(key, [BATCH, 1], 0, last, DType::I32);
        self.ids
            .index(starts + numpy::arange(CONTEXT + 1, DType::I32))
    }
}

/// The loss of excerpts, after which the parameters are better.
fn step(model: Model, optimizer: Optimizer, excerpts: Array) -> Array {
    let loss = |model: Model| {
        let (seen, next) = (
            excerpts.index(idx![.., ..CONTEXT]),
            excerpts.index(idx![.., 1..]),
        );
        let logits = model.call(&seen, &all_places());
        losses::softmax_cross_entropy_with_integer_labels(&logits, &next, ()).mean()
    };
    let (loss, gradient) = nnx::value_and_grad_of(&loss, model.clone());
    optimizer.update(&model, &gradient);
    loss
}

/// Trains a model; gives a running mean of the loss.
fn train(letters: &Letters, model: &Model, steps: usize, watch: &mut Stopwatch) -> Result<f32> {
    let rate = schedules::warmup_cosine_decay(WarmupCosine {
        peak_value: RATE,
        warmup_steps: steps as u32 / 10,
        decay_steps: steps as u32,
        ..WarmupCosine::default()
    });
    let rule = chain([clip_by_global_norm(1.0), adamw(rate, 1e-4, None)]);
    let optimizer = Optimizer::new(model, rule, Param)?;
    let step = nnx::jit(step);
    let progress = Progress::new(steps);
    let mut mean = f32::NAN;
    progress.println(" steps    loss");
    for number in 0..steps {
        let excerpts = letters.excerpts(&random::fold_in(&random::key(1), number as i64));
        let loss = watch.time(|| step(model.clone(), optimizer.clone(), excerpts).item::<f32>());
        mean = if number == 0 {
            loss
        } else {
            0.95 * mean + 0.05 * loss
        };
        progress.step(&[("loss", mean.into())]);
        if (number + 1).is_multiple_of(50) {
            progress.println(format!("{:>6}  {mean:.4}", number + 1));
        }
    }
    progress.finish();
    Ok(mean)
}

/// A text as long as the model sees, which begins with a letter.
fn write(letters: &Letters, model: &Model, first: char, watch: &mut Stopwatch) -> String {
    model.decode();
    let next_letter = nnx::jit(next_letter);
    let place = letters.alphabet.binary_search(&first).unwrap_or(0);
    let (mut letter, mut text) = (Array::from(place as i32), String::from(first));
    for place in 0..CONTEXT {
        let key = random::fold_in(&random::key(2), place as i64);
        letter = watch.time(|| {
            let next = next_letter(
                model.clone(),
                letter.clone(),
                Array::from(place as i32),
                key,
            );
            text.push(letters.alphabet[next.item::<i32>() as usize]);
            next
        });
    }
    text
}

fn main() -> Result<()> {
    let steps = std::env::args()
        .nth(1)
        .map_or(400, |text| text.parse().expect("a number of steps"));
    let letters = Letters::of(TEXT);
    let (mut steps_watch, mut letters_watch) = (Stopwatch::new("step"), Stopwatch::new("letter"));
    let model = Model::new(letters.alphabet.len(), WIDTH, &Rngs::new(0));
    let excerpt = Array::spec(DType::I32, [1, CONTEXT]);
    let call = |model: &Model, ids: Array| model.call(&ids, &all_places());
    println!("{}\n", nnx::tabulate(&model, call, excerpt)?);
    let loss = train(&letters, &model, steps, &mut steps_watch)?;
    println!("{}", write(&letters, &model, 'T', &mut letters_watch));
    println!("{steps_watch}\n{letters_watch}\nresult {loss:.4}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_learns_what_follows() -> Result<()> {
        let letters = Letters::of(&"abcd efgh ".repeat(20));
        let model = Model::new(letters.alphabet.len(), 16, &Rngs::new(0));
        let loss = train(&letters, &model, 200, &mut Stopwatch::new("step"))?;
        assert!(loss < 0.7, "{loss}");
        let text = write(&letters, &model, 'a', &mut Stopwatch::new("letter"));
        assert!(text.starts_with("abcd efgh abcd efgh "), "{text}");
        Ok(())
    }

    #[test]
    fn letters_one_by_one_are_seen_as_all_at_once() {
        let letters = Letters::of(TEXT);
        let model = Model::new(letters.alphabet.len(), 32, &Rngs::new(3));
        let ids = letters.ids.slice(..CONTEXT).reshape([1, -1]);
        let whole = model.call(&ids, &all_places());
        model.decode();
        let call = nnx::jit(|model: Model, id: Array, place: Array| model.call(&id, &place));
        for place in 0..CONTEXT {
            let id = ids.index(idx![.., place..place + 1]);
            let logits = call(model.clone(), id, Array::from([place as i32]));
            let difference = (logits - whole.index(idx![.., place..place + 1, ..]))
                .abs()
                .max();
            assert!(difference.item::<f32>() < 1e-4);
        }
    }
}
