//! Mutable references.

use super::*;

pending! { NewRef, RefGet, RefSwap, RefAddUpdate, FreezeRef, RunState }
