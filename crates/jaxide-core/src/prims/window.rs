//! Sliding windows and convolution.

use super::*;

pending! { ReduceWindowSum, ReduceWindowMax, ReduceWindowMin, ReduceWindow, SelectAndScatter, SelectAndScatterAdd, SelectAndGatherAdd, ConvGeneralDilated }
