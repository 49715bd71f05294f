//! Products, factorisations and Fourier transforms.

mod dot;
mod factor;

use smallvec::{SmallVec, smallvec};

use super::elementwise::{arity, not_linear, to_front};
use super::shape::{check_axes, one};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::jaxpr::{Atom, Aval, Builder, Dims};
