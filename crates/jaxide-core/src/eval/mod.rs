//! The reference interpreter: the executable meaning of every primitive.

pub mod numerics;
