//! Handwritten digits.

use jaxide::tree::Pytree;
use jaxide::{Array, random};

/// 1797 images of 8 × 8 pixels; `data/README.md` says where they are from.
const DIGITS: &str = include_str!("../../data/digits.txt");

/// How many digits are kept for the test.
const TESTS: usize = 357;

/// Images of shape `[n, 8, 8, 1]` from 0 to 1, and the digits that they show, of shape `[n]`.
#[derive(Clone, Pytree)]
pub struct Digits {
    /// The images.
    pub images: Array,
    /// What they show.
    pub labels: Array,
}

impl Digits {
    /// All of them, in random order.
    #[must_use]
    pub fn read() -> Self {
        let (mut pixels, mut labels) = (Vec::new(), Vec::new());
        for line in DIGITS.lines() {
            let (image, label) = line.split_at(64);
            let shade = |digit: char| digit.to_digit(17).expect("a pixel") as f32 / 16.0;
            pixels.extend(image.chars().map(shade));
            labels.push(label.trim().parse::<i32>().expect("a label"));
        }
        let order = random::permutation(&random::key(7), labels.len(), ());
        let images = Array::from_vec([labels.len(), 8, 8, 1], pixels);
        Digits {
            images,
            labels: Array::from(labels),
        }
        .take(&order)
    }

    /// Those for training, and those for the test.
    #[must_use]
    pub fn split(&self) -> (Self, Self) {
        let places = jaxide::numpy::arange(self.len(), jaxide::DType::I32);
        (
            self.take(&places.slice(TESTS..)),
            self.take(&places.slice(..TESTS)),
        )
    }

    /// How many there are.
    #[must_use]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.labels.size()
    }

    /// Those at some places.
    #[must_use]
    pub fn take(&self, places: &Array) -> Self {
        Digits {
            images: self.images.index(places),
            labels: self.labels.index(places),
        }
    }
}
