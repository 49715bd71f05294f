//! Calls, branches, loops, custom rules and placement.

mod call;
mod cond;
mod custom_jvp;
mod jit;
mod scan;
mod while_;

use super::*;

pending! { CustomVjpCall, CustomLin, CustomVmapCall, Remat, CustomLinearSolve, LinearCall, CustomRoot, RootLinearMap, Composite, OptimizationBarrier, Frexp, Ldexp, PlatformIndex, DevicePut, Reshard, ShardingConstraint, DceSink, DebugPrint, PureCallback, IoCallback }
