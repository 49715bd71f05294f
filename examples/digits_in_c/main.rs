//! Trains a network that reads handwritten digits, and writes it as an object that a C program is linked with.
//!
//! Run with `cargo run --release --example digits_in_c FOLDER`, and see `README.md`.

use std::path::{Path, PathBuf};

use jaxide::prelude::*;
use jaxide::{Object, nn, numpy, random, tree};

/// 1797 images of 8 × 8 pixels; `data/README.md` says where they are from.
const DIGITS: &str = include_str!("../data/digits.txt");
const PIXELS: usize = 64;
const HIDDEN: usize = 48;
const CLASSES: usize = 10;
const BATCH: usize = 32;

/// Weights and biases of two layers.
type Network = [Array; 4];

/// The logits of the ten digits for an image of 64 pixels. Each product is written as its sum, which is a loop and needs no library.
fn logits([w1, b1, w2, b2]: &Network, image: &Array) -> Array {
    let hidden = nn::relu(&((w1 * image).sum_axes(1) + b1));
    (w2 * hidden).sum_axes(1) + b2
}

/// The mean negative log-probability of the right digits.
fn loss(network: Network, images: Array, labels: Array) -> Array {
    let of_one = |image: Array, label: Array| {
        let right = nn::one_hot(&label, CLASSES, DType::F32);
        -(nn::log_softmax(&logits(&network, &image), -1) * right).sum()
    };
    jaxide::vmap_of(&of_one, (images, labels)).mean()
}

/// Images from 0 to 1, and the digits that they show.
fn examples() -> (Array, Array) {
    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    for line in DIGITS.lines() {
        let (image, label) = line.split_at(PIXELS);
        let shade = |digit: char| digit.to_digit(17).expect("a pixel") as f32 / 16.0;
        pixels.extend(image.chars().map(shade));
        labels.push(label.trim().parse::<i32>().expect("a label"));
    }
    (
        Array::from_vec(&[labels.len(), PIXELS], pixels),
        Array::from(labels),
    )
}

/// Trains on the first 1500 images.
fn train(epochs: usize) -> Result<Network> {
    let (images, labels) = examples();
    let keys: [Array; 2] = random::split(&random::key(0), 2).unpack();
    let weights = |k: usize, units: usize, inputs: usize| {
        let scale = (2.0 / inputs as f64).sqrt();
        random::normal(&keys[k], &[units, inputs], DType::F32) * scale
    };
    let zeros = |units: usize| Array::zeros(&[units], DType::F32);
    let mut network = [
        weights(0, HIDDEN, PIXELS),
        zeros(HIDDEN),
        weights(1, CLASSES, HIDDEN),
        zeros(CLASSES),
    ];
    let step = jit(|network: Network, images: Array, labels: Array| {
        let slopes = grad(loss)(network.clone(), images, labels);
        tree::map2(|w, slope| w - slope * 0.2, &network, &slopes).expect("of one structure")
    });
    for _ in 0..epochs {
        for first in (0..1500 / BATCH).map(|batch| batch * BATCH) {
            let [images, labels] = [&images, &labels].map(|a| a.slice(first..first + BATCH));
            network = step.try_call((network, images, labels))?;
        }
    }
    Ok(network)
}

/// Writes `digits.o` and `digits.h`: which digit an image shows, and the probabilities of all. The weights stand in the object.
fn write(network: Network, folder: &Path) -> Result<Object> {
    let read = jit(move |image: Array| {
        let logits = logits(&network, &image);
        (numpy::argmax(&logits, -1), nn::softmax(&logits, -1))
    });
    let export = read.export(Array::spec(DType::F32, &[PIXELS]))?;
    export.named("digits").write(folder.join("digits.o"))
}

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let folder = PathBuf::from(folder);
    let object = write(train(20)?, &folder)?;
    println!(
        "{} has {} bytes, and needs no library",
        folder.join("digits.o").display(),
        object.bytes().len()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::Command;

    #[test]
    fn the_c_program_reads_digits() {
        let folder = std::env::temp_dir().join(format!("digits-in-c-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let object = write(train(4).unwrap(), &folder).unwrap();
        assert!(object.kernels().is_empty(), "{:?}", object.kernels());
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let linked = Command::new("cc")
            .arg("-I.")
            .arg(here.join("digits_in_c/main.c"))
            .args(["digits.o", "-Wall", "-Werror", "-o", "digits"])
            .current_dir(&folder)
            .status();
        assert!(linked.unwrap().success());
        let run = Command::new(folder.join("digits"))
            .stdin(fs::File::open(here.join("data/digits.txt")).unwrap())
            .output()
            .unwrap();
        let told = String::from_utf8(run.stdout).unwrap();
        let last = told.lines().last().unwrap();
        let right: usize = last.split(' ').next().unwrap().parse().unwrap();
        assert!(right > 1600, "{last}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
