//! Random bits and keys.

use super::*;

pending! { Threefry2x32, RandomBits, RandomSeed, RandomWrap, RandomUnwrap, RandomSplit, RandomFoldIn, RandomClone, RandomGamma, RngBitGenerator }
