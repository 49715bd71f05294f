//! What elements of results cost, in additions.

use super::{Call, Graph, MapOp, Node, Op, Routine};

/// How many elements of each operand an element of a node's result is computed from, one by one.
pub(crate) fn turns(graph: &Graph, node: &Node) -> usize {
    match &node.op {
        Op::Reduce { axes, .. } | Op::ReduceWith { axes, .. } => {
            let shape = graph.shape(node.args[0]);
            axes.iter().map(|&axis| shape[axis]).product()
        }
        Op::ArgReduce { axis, .. } => graph.shape(node.args[0])[*axis],
        Op::ReduceWindow { window, .. }
        | Op::ReduceWindowWith { window, .. }
        | Op::SelectPlace { window, .. }
        | Op::SelectAndGather { window, .. } => window.size.iter().product(),
        Op::SendToPlace { window, .. } => window.most_over_one().iter().product(),
        Op::Call(Call::Routine(Routine::DotGeneral(params))) => {
            graph.contracted(node, &params.dimension_numbers)
        }
        Op::Const(_)
        | Op::Splat(_)
        | Op::Iota { .. }
        | Op::Map(_)
        | Op::Broadcast { .. }
        | Op::Reshape
        | Op::Transpose { .. }
        | Op::Slice { .. }
        | Op::Rev { .. }
        | Op::Alias
        | Op::Pad { .. }
        | Op::Concat { .. }
        | Op::DynamicSlice
        | Op::DynamicUpdate
        | Op::Gather(_)
        | Op::Scatter(_)
        | Op::Scan { .. }
        | Op::While { .. }
        | Op::Cond { .. }
        | Op::Call(_) => 1,
    }
}

/// The cost of one element of a node's result, where those of its operands cost `args` together.
pub(crate) fn own_cost(graph: &Graph, node: &Node, args: usize) -> usize {
    let each = |turn: usize| turns(graph, node).saturating_mul(args + turn);
    match &node.op {
        Op::Splat(_) | Op::Iota { .. } => 0,
        Op::Map(op) => op.cost() + args,
        Op::Const(_)
        | Op::Broadcast { .. }
        | Op::Reshape
        | Op::Transpose { .. }
        | Op::Slice { .. }
        | Op::Rev { .. }
        | Op::Alias => args,
        Op::Pad { .. } => args + 4,
        Op::Concat { .. } => args + 3,
        Op::DynamicSlice => args + 3,
        Op::DynamicUpdate => args + 8,
        Op::Gather(_) => args + 8,
        Op::Reduce { .. } | Op::Call(Call::Routine(Routine::DotGeneral(_))) => each(1),
        Op::ArgReduce { .. } => each(4),
        Op::ReduceWindow { .. } | Op::SelectAndGather { .. } => each(3),
        Op::ReduceWith { body, .. } | Op::ReduceWindowWith { body, .. } => each(body.nodes.len()),
        Op::SelectPlace { select, .. } => each(4 + select.nodes.len()),
        Op::SendToPlace { combine, .. } => each(4 + combine.nodes.len()),
        Op::Scatter(_) | Op::Scan { .. } | Op::While { .. } | Op::Cond { .. } | Op::Call(_) => 1,
    }
}

impl MapOp {
    /// How many additions take as long.
    pub(crate) fn cost(self) -> usize {
        use MapOp::*;
        match self {
            Neg | Sign | Abs | Floor | Ceil | RoundEven | IsFinite | Square | OneMinusSquare
            | Real | Imag | Conj | Not | Popcount | Clz | Add | Sub | Mul | MulHi | Max | Min
            | Complex | And | Or | Xor | ShiftLeft | ShiftRightArithmetic | ShiftRightLogical
            | Eq | Ne | Lt | Le | Gt | Ge | Clamp | Select | Convert | Bitcast | KeyFromWords
            | KeyWord(_) => 1,
            IntegerPow(exponent) => power_cost(exponent),
            RoundAway | ReducePrecision { .. } | EqTotal | LtTotal | LeTotal | NextAfter => 5,
            Div => 6,
            Rem => 12,
            Function(function) => function.cost(),
            Atan2 => 24,
            Pow => 40,
            Threefry { .. } => 60,
            Igamma | Igammac | IgammaGradA | Polygamma | Zeta | RegularizedIncompleteBeta => 200,
        }
    }
}

/// Squarings and multiplications, and a division if the exponent is negative.
fn power_cost(exponent: i64) -> usize {
    let bits = exponent.unsigned_abs();
    let products = bits.checked_ilog2().unwrap_or(0) + bits.count_ones().saturating_sub(1);
    crate::narrow::<_, usize>(products) + if exponent < 0 { 6 } else { 0 }
}
