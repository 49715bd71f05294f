//! The error function, its relatives and their inverses.

mod coefficients;
mod dawson;
mod inverse;
mod scaled;

pub use dawson::{dawsn, wofz};
pub use inverse::erfcinv;
pub use scaled::erfcx;

pub(super) use inverse::core as inverse_core;
pub(super) use scaled::{exp_highest, large as scaled_large};
