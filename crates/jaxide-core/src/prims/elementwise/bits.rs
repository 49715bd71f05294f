//! Bitwise operations on truth values and integers.

use super::super::*;
use super::*;
use crate::error::Result;

elementwise! {
    Not [BITS] same, zero;
    PopulationCount [INTEGER] same, zero;
    Clz [INTEGER] same, zero;
    And [BITS, BITS] same, zero, zero;
    Or [BITS, BITS] same, zero, zero;
    Xor [BITS, BITS] same, zero, zero;
    ShiftLeft [INTEGER, INTEGER] same, zero, zero;
    ShiftRightArithmetic [INTEGER, INTEGER] same, zero, zero;
    ShiftRightLogical [INTEGER, INTEGER] same, zero, zero;
    Mulhi [INTEGER, INTEGER] same, zero, zero;
}
