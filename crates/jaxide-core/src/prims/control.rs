//! Calls, branches, loops, custom rules and placement.

use super::*;

pending! { Cond, While, Scan, Jit, EvalJaxpr, ClosedCall, CustomJvpCall, CustomVjpCall, CustomLin, CustomVmapCall, Remat, CustomLinearSolve, LinearCall, CustomRoot, RootLinearMap, Composite, OptimizationBarrier, Frexp, Ldexp, PlatformIndex, DevicePut, Reshard, ShardingConstraint, DceSink, DebugPrint, PureCallback, IoCallback }
