//! Linear maps that are functions.

pub mod linalg;
