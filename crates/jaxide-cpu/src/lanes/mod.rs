//! Lane programs: the body of a fused loop, written once per element and run at vector width.
//!
//! A [`Body`] is a small structured program in SSA form. Its values belong to one *lane*, one element of the loop that it is the body of. A [`Builder`] makes
//! it; [`Body::eval`] is its meaning, one lane at a time; the emitters of [`codegen`](crate::codegen) make machine code that runs 4, 8 or 16 lanes
//! at once and computes the same bits (NaN payloads excepted, and last bits of tiny quotients by constants, see [`Body::multiplied`]).
//!
//! * Control flow inside a lane ([`For`], [`While`], [`If`]) keeps the lanes outside and, say, time inside: a batched scan is a [`For`] with its
//!   carry in registers, a batched `while` masks finished lanes and leaves early.
//! * [`math`] builds the transcendental functions out of these operations.
//! * A [`Reduction`] accumulates over lanes in an order that depends on the body alone.
//!
//! Memory that one lane stores to must not be read or written by another lane of the same call; elementwise updates in place are
//! fine.

mod body;
mod branches;
mod builder;
mod bytes;
mod display;
mod eval;
pub(crate) mod extent;
mod floor;
mod fold;
pub(crate) mod guard;
pub mod math;
mod op;
mod operations;
mod quotient;
mod settle;
mod sweep;
mod types;
mod upper_bits;
mod verify;
mod weave;

pub use body::*;
pub use builder::Builder;
pub(crate) use bytes::TO_THE_TOP;
pub use eval::{EvalError, Memory};
pub use op::{BinOp, TerOp, UnOp};
pub(crate) use operations::GUESSED_TURNS;
pub use types::{MemTy, Ty};
pub use verify::VerifyError;
pub(crate) use weave::{MOST_WOVEN, woven_count};
