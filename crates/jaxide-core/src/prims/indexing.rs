//! Reads and writes at computed indices.

use super::*;

pending! { DynamicSlice, DynamicUpdateSlice, Gather, Scatter, ScatterAdd, ScatterSub, ScatterMul, ScatterMin, ScatterMax }
