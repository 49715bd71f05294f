//! A network that learns to read handwritten digits: a derived pytree of weights, its gradient, and a whole epoch of
//! training compiled to one native program.
//!
//! Run with `cargo run --release --example mnist_like`.

use std::time::Instant;

use jaxide::prelude::*;
use jaxide::{nn, numpy, random, tree};

/// 1797 images of 8 × 8 pixels; `data/README.md` says where they are from.
const DIGITS: &str = include_str!("data/digits.txt");
const PIXELS: usize = 64;
const CLASSES: usize = 10;

/// Images for the test; the others are for training.
const TESTS: usize = 357;
const BATCH: usize = 32;
const LEARNING_RATE: f64 = 0.05;
const MOMENTUM: f64 = 0.9;

#[derive(Clone, Pytree)]
struct Linear {
    weight: Array,
    bias: Array,
}

#[derive(Clone, Pytree)]
struct Network {
    hidden: Linear,
    output: Linear,
}

/// Images of shape `[n, 64]` from 0 to 1, and the digits that they show, of shape `[n]`.
#[derive(Clone, Pytree)]
struct Examples {
    images: Array,
    labels: Array,
}

impl Linear {
    fn new(key: &Array, inputs: usize, units: usize) -> Self {
        let scale = (2.0 / inputs as f64).sqrt();
        Linear {
            weight: random::normal(key, &[inputs, units], DType::F32) * scale,
            bias: Array::zeros(&[units], DType::F32),
        }
    }

    fn forward(&self, x: &Array) -> Array {
        x.dot(&self.weight) + &self.bias
    }
}

impl Network {
    fn new(key: &Array, hidden: usize) -> Self {
        let [first, second] = random::split(key, 2).unpack();
        Network {
            hidden: Linear::new(&first, PIXELS, hidden),
            output: Linear::new(&second, hidden, CLASSES),
        }
    }

    /// For each image the logits of the ten digits.
    fn forward(&self, images: &Array) -> Array {
        self.output.forward(&nn::relu(&self.hidden.forward(images)))
    }
}

/// The mean negative log-probability of the right digits.
fn loss(network: Network, batch: Examples) -> Array {
    let log_probabilities = nn::log_softmax(&network.forward(&batch.images), -1);
    let right = nn::one_hot(&batch.labels, CLASSES, DType::F32);
    -(log_probabilities * right).sum_axes(-1).mean()
}

/// The share of images that are read rightly.
fn accuracy(network: Network, examples: Examples) -> Array {
    let guesses = numpy::argmax(&network.forward(&examples.images), -1);
    guesses.equal(examples.labels).mean()
}

/// One pass over all examples in random order, by gradient descent with momentum; also gives the mean loss.
fn epoch(
    network: Network,
    velocity: Network,
    examples: Examples,
    key: Array,
) -> (Network, Network, Array) {
    let count = examples.labels.size() / BATCH;
    let order = random::permutation(&key, examples.labels.size(), ());
    let batches = order.slice(..count * BATCH).reshape(&[-1, BATCH as i64]);

    let ((network, velocity), losses) = scan(
        |(network, velocity): (Network, Network), rows: Array| {
            let batch = Examples {
                images: examples.images.index(&rows),
                labels: examples.labels.index(&rows),
            };
            let (loss, gradient) = value_and_grad(loss)(network.clone(), batch);
            let velocity = combine(
                |v, g| MOMENTUM * v - LEARNING_RATE * g,
                &velocity,
                &gradient,
            );
            let network = combine(|w, v| w + v, &network, &velocity);
            ((network, velocity), loss)
        },
        (network, velocity),
        batches,
        None,
    );
    (network, velocity, losses.mean())
}

/// A network whose arrays are made of those of two others.
fn combine(f: impl Fn(&Array, &Array) -> Array, a: &Network, b: &Network) -> Network {
    tree::map2(f, a, b).expect("networks have the same structure")
}

/// Trains a network and gives it with its accuracy on the test examples.
fn train(epochs: usize, training: &Examples, test: &Examples) -> Result<(Network, f32)> {
    let [for_weights, for_order] = random::split(&random::key(0), 2).unpack();
    let mut network = Network::new(&for_weights, 64);
    let mut velocity = combine(|w, _| w * 0.0, &network, &network);
    let (epoch, accuracy) = (jit(epoch), jit(accuracy));

    println!("epoch    loss   training   test");
    for number in 1..=epochs {
        let key = random::fold_in(&for_order, number as i64);
        let (next, speed, loss) = epoch.try_call((network, velocity, training.clone(), key))?;
        (network, velocity) = (next, speed);
        let [learnt, read] = [training, test]
            .map(|examples| accuracy(network.clone(), examples.clone()).item::<f32>());
        println!(
            "{number:>5}  {:.4}     {learnt:.3}  {read:.3}  {}",
            loss.item::<f32>(),
            bar(read)
        );
    }
    let reached = accuracy(network.clone(), test.clone()).item::<f32>();
    Ok((network, reached))
}

/// The examples in random order, split into those for training and those for the test.
fn examples() -> (Examples, Examples) {
    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    for line in DIGITS.lines() {
        let (image, label) = line.split_at(PIXELS);
        let shade = |digit: char| digit.to_digit(17).expect("a pixel") as f32 / 16.0;
        pixels.extend(image.chars().map(shade));
        labels.push(label.trim().parse::<i32>().expect("a label"));
    }
    let order = random::permutation(&random::key(1), labels.len(), ());
    let images = Array::from_vec(&[labels.len(), PIXELS], pixels).index(&order);
    let labels = Array::from(labels).index(&order);
    let training = Examples {
        images: images.slice(TESTS..),
        labels: labels.slice(TESTS..),
    };
    let test = Examples {
        images: images.slice(..TESTS),
        labels: labels.slice(..TESTS),
    };
    (training, test)
}

fn main() -> Result<()> {
    let (training, test) = examples();
    let start = Instant::now();
    let (network, accuracy) = train(20, &training, &test)?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "\n{:.1} % of {TESTS} test images are read rightly, after {seconds:.2} s\n",
        accuracy * 100.0
    );

    let guesses = numpy::argmax(&network.forward(&test.images), -1).to_vec::<i32>();
    let labels = test.labels.to_vec::<i32>();
    let (right, wrong): (Vec<usize>, Vec<usize>) =
        (0..TESTS).partition(|&row| guesses[row] == labels[row]);
    for (title, rows) in [("read rightly", right), ("misread", wrong)] {
        let shown: Vec<usize> = rows.into_iter().take(6).collect();
        println!("Some that were {title}:\n");
        print!("{}", picture(&test.images, &shown));
        let verdicts = shown.iter().map(|&row| {
            let (guess, label) = (guesses[row], labels[row]);
            let verdict = if guess == label {
                format!("{guess}")
            } else {
                format!("{guess}, is {label}")
            };
            format!("{verdict:^18}")
        });
        println!("{}\n", verdicts.collect::<String>());
    }
    Ok(())
}

/// Images side by side, a pixel two characters wide.
fn picture(images: &Array, rows: &[usize]) -> String {
    const SHADES: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];
    let pixels = images.to_vec::<f32>();
    let mut text = String::new();
    for y in 0..8 {
        for &row in rows {
            for x in 0..8 {
                let shade = SHADES[(pixels[row * PIXELS + y * 8 + x] * 9.0).round() as usize];
                text.extend([shade, shade]);
            }
            text.push_str("  ");
        }
        text.push('\n');
    }
    text
}

/// A bar from 80 % to 100 %.
fn bar(accuracy: f32) -> String {
    "#".repeat(((accuracy - 0.8).max(0.0) * 200.0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_learns_to_read() {
        let (training, test) = examples();
        let (_, accuracy) = train(10, &training, &test).expect("training");
        assert!(accuracy >= 0.95, "{accuracy}");
    }

    #[test]
    fn pictures_show_the_ink() {
        let image = Array::zeros(&[1, PIXELS], DType::F32).at(0).set(1.0);
        assert_eq!(picture(&image, &[0]), "@@@@@@@@@@@@@@@@  \n".repeat(8));
    }
}
