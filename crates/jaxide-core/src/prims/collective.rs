//! Communication along named axes.

use super::*;

pending! { Psum, Pmax, Pmin, PsumInvariant, Pvary, AllGather, AllToAll, ReduceScatter, Ppermute, AxisIndex, ShardMap, Pmap }
