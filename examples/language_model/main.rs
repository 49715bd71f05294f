//! A small language model learns to write like the program it is: a transformer whose parameters are a derived struct, the
//! optimiser Adam for parameters of any structure, fifty training steps in one native program, and text drawn letter by
//! letter in another.
//!
//! Run with `cargo run --release --example language_model`.

mod adam;
mod transformer;

use std::time::Instant;

use adam::Adam;
use jaxide::prelude::*;
use jaxide::{numpy, random};
use transformer::{Model, Shape, State, step};

/// What is learnt: the text of the model itself.
const TEXT: &str = include_str!("transformer.rs");

const BATCH: usize = 16;
const STEPS: usize = 50;

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
        let ids = text.chars().map(id).collect::<Vec<i32>>();
        Letters {
            ids: Array::from(ids),
            alphabet,
        }
    }

    fn text(&self, ids: &Array) -> String {
        let letter = |id: i32| self.alphabet[id as usize];
        ids.to_vec::<i32>().into_iter().map(letter).collect()
    }
}

/// Excerpts that begin anywhere, `[BATCH, length]`.
fn excerpts(ids: &Array, key: &Array, length: usize) -> Array {
    let last = (ids.size() - length) as i64;
    let starts = random::randint(key, &[BATCH, 1], 0, last, DType::I32);
    ids.index(starts + numpy::arange(length, DType::I32))
}

/// A step for each key, and the mean loss.
fn train(state: State, ids: Array, keys: Array) -> (State, Array) {
    let length = state.model.context() + 1;
    let (state, losses) = scan(
        |state: State, key: Array| step(state, excerpts(&ids, &key, length)),
        state,
        keys,
        None,
    );
    (state, losses.mean())
}

/// The letters that follow a beginning, one for each key, each drawn by the chances that the model gives.
fn continue_text(model: Model, beginning: Array, keys: Array) -> Array {
    let next = |window: Array, key: Array| {
        let logits = model.forward(&numpy::expand_dims(&window, 0)).index(0);
        let letter = random::categorical(&key, &(logits.index(-1) / 0.5), -1);
        let window = numpy::concatenate(&[window.slice(1..), letter.reshape(&[1])], 0);
        (window, letter)
    };
    scan(next, beginning, keys, None).1
}

/// Trains a model and gives it with the mean loss of the last round.
fn learn(letters: &Letters, shape: Shape, rounds: usize) -> Result<(Model, f32)> {
    let [for_model, for_steps] = random::split(&random::key(0), 2).unpack();
    let model = Model::new(&for_model, shape);
    let mut state = State {
        optimizer: Adam::new(&model),
        model,
    };
    let train = jit(train);
    let mut loss = f32::NAN;
    println!(" steps     loss");
    for round in 0..rounds {
        let keys = random::split(&random::fold_in(&for_steps, round as i64), STEPS);
        let (next, mean) = train.try_call((state, letters.ids.clone(), keys))?;
        (state, loss) = (next, mean.item());
        println!("{:>6}   {loss:.4}  {}", (round + 1) * STEPS, bar(loss));
    }
    Ok((state.model, loss))
}

fn main() -> Result<()> {
    let letters = Letters::of(TEXT);
    let shape = Shape {
        vocabulary: letters.alphabet.len(),
        context: 64,
        width: 128,
        heads: 4,
        layers: 2,
    };
    println!(
        "{} letters of {} kinds\n",
        letters.ids.size(),
        shape.vocabulary
    );
    let start = Instant::now();
    let (model, _) = learn(&letters, shape, 12)?;
    println!("\nlearnt in {:.1} s\n", start.elapsed().as_secs_f64());

    let beginning = letters.ids.slice(..shape.context);
    let keys = random::split(&random::key(1), 400);
    let drawn = jit(continue_text).try_call((model, beginning.clone(), keys))?;
    println!("{}|{}", letters.text(&beginning), letters.text(&drawn));
    Ok(())
}

/// A bar as long as the loss.
fn bar(loss: f32) -> String {
    "#".repeat((loss * 12.0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_learns_what_follows() {
        let letters = Letters::of(&"abcd efgh ".repeat(20));
        let shape = Shape {
            vocabulary: letters.alphabet.len(),
            context: 8,
            width: 16,
            heads: 2,
            layers: 1,
        };
        let (model, loss) = learn(&letters, shape, 8).expect("training");
        assert!(loss < 0.7, "{loss}");
        let beginning = letters.ids.slice(..8);
        let keys = random::split(&random::key(1), 10);
        let drawn = continue_text(model, beginning, keys);
        assert_eq!(letters.text(&drawn), "h abcd efg");
    }
}
