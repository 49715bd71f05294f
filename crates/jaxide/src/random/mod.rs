//! Random numbers, by keys as in JAX: the same key gives the same numbers, here and there.
//!
//! A key is an array of element type `key<fry>`. Nothing is hidden in a generator: whoever needs numbers is given a key,
//! uses it once, and splits it for others. So numbers do not depend on the order of calls, keys can be mapped over with
//! `vmap`, and a program with random numbers is a function like any other.
//!
//! ```
//! use jaxide::{DType, random, vmap};
//! let [a, b] = random::split(&random::key(0), 2).unpack();
//! let x = random::normal(&a, &[3], DType::F32);
//! let y = random::uniform(&b, &[3], DType::F32, -1.0, 1.0);
//! assert_ne!(x.to_vec::<f32>(), y.to_vec::<f32>());
//! // Three independent chains: one key each.
//! let draw = vmap(|key| random::normal(&key, &[2], DType::F32));
//! assert_eq!(draw(random::split(&random::key(1), 3)).shape(), [3, 2]);
//! ```

//!
//! A sampler takes one key; the words of a key ([`key_data`]) stand for it. Parameters of distributions are arrays or numbers that
//! broadcast, and the samples have their shape, or the one that is asked for.

mod binomial;
mod gamma;
mod generator;
mod given;
mod keys;
mod options;
mod order;
mod poisson;
mod reals;
mod scaled;
mod uniform;
mod vectors;
mod whole;

pub use binomial::*;
pub use gamma::*;
pub use generator::*;
pub use keys::*;
pub use options::*;
pub use order::*;
pub use poisson::*;
pub use reals::*;
pub use scaled::*;
pub use uniform::uniform;
pub use vectors::*;
pub use whole::*;

pub use jaxide_core::prims::KeyImpl;
use jaxide_core::{DType, Literal, Scalar};

use crate::array::{Array, Repr};

/// The smallest float above -1.
#[track_caller]
pub(crate) fn above_minus_one(dtype: DType) -> Array {
    number(-uniform::format("normal", dtype).below_one, dtype)
}

/// A float of the program with an element type of its own, rounded to it.
pub(crate) fn number(value: f64, dtype: DType) -> Array {
    let rounded = match dtype {
        DType::F16 => half::f16::from_f64(value).to_f64(),
        DType::BF16 => half::bf16::from_f64(value).to_f64(),
        DType::F32 => f64::from(value as f32),
        _ => value,
    };
    literal(Scalar::Float(rounded), dtype)
}

/// An integer of the program with an element type of its own.
fn integer(value: i128, dtype: DType) -> Array {
    literal(Scalar::from_integer(value).unwrap_or(Scalar::Int(0)), dtype)
}

fn literal(value: Scalar, dtype: DType) -> Array {
    Array(Repr::Number(Literal {
        value,
        dtype,
        weak_type: false,
    }))
}
