//! What the tests of several crates share: random well-typed programs, arrays for their arguments, and comparison.
//!
//! A [`program::Program`] is written by [`programs`] through the [`Builder`](jaxide_core::Builder) from a list of genes,
//! so that proptest makes a failing one smaller by leaving genes out. [`Profile`] says which promises it keeps:
//! differentiable, the same bits however it is computed, or none.
#![forbid(unsafe_code)]

pub mod arrays;
pub mod compare;
pub mod corpus;
mod draw;
pub mod equations;
mod files;
pub mod laws;
pub mod program;
mod random;
pub mod samples;
pub mod targets;

pub use files::every_test_file_is_run;
pub use program::{Extent, Profile, Program, programs, programs_of};
pub use random::Random;

/// The code in the chapter on trees, which is in no package that is published.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/pytrees.md")]
mod pytrees {}

/// JAX's tutorials in Rust.
#[cfg(doctest)]
mod tutorials {
    #[doc = include_str!("../../../docs/tutorials/advanced-autodiff.md")]
    mod advanced_autodiff {}
    #[doc = include_str!("../../../docs/tutorials/automatic-vectorization.md")]
    mod automatic_vectorization {}
    #[doc = include_str!("../../../docs/tutorials/quickstart.md")]
    mod quickstart {}
    #[doc = include_str!("../../../docs/tutorials/sharp-bits.md")]
    mod sharp_bits {}
    #[doc = include_str!("../../../docs/tutorials/thinking-in-jax.md")]
    mod thinking_in_jax {}
}

use std::str::FromStr;

use proptest::test_runner::{Config, RngSeed};

/// A number that the environment holds.
///
/// # Panics
/// When it holds something else.
pub fn asked<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    let number = text.parse().ok();
    Some(number.unwrap_or_else(|| panic!("{name} is no number: {text}")))
}

/// Runs this many cases, the same ones each time. `PROPTEST_CASES` asks for another number, `PROPTEST_RNG_SEED` for
/// other ones.
pub fn config(cases: u32) -> Config {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let seeded = std::env::var_os("PROPTEST_RNG_SEED").is_some();
    let default = Config::default();
    Config {
        cases: if asked { default.cases } else { cases },
        rng_seed: if seeded {
            default.rng_seed
        } else {
            RngSeed::Fixed(0x6a61_7869_6465)
        },
        failure_persistence: None,
        max_shrink_iters: 4000,
        ..default
    }
}
