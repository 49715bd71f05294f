//! Reductions, cumulative operations, sorting and searching.

use super::*;

pending! { ReduceSum, ReduceMax, ReduceMin, ReduceProd, ReduceAnd, ReduceOr, ReduceXor, Argmax, Argmin, Reduce, Cumsum, Cumprod, Cummax, Cummin, Cumlogsumexp, Sort, TopK, ApproxTopK, Nonzero, SearchSorted }
