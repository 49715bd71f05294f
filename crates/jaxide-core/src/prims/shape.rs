//! Primitives that move elements without computing.

use super::*;

pending! { Iota, Empty, BroadcastInDim, Reshape, Transpose, Squeeze, Slice, Pad, Rev, Concatenate, Split, Stack, Unstack, Tile }
