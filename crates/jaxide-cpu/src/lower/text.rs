//! The stages of lowering as text.

use super::assemble;
use super::fuse::{Item, Nest, Plan, Root, Steps};
use super::graph::{Graph, Op, ValueId};
use super::program::Program;
use crate::stages::StageTimes;
use jaxide_core::document::{Document, Parts};
use jaxide_core::simplify::simplify;
use jaxide_core::{ClosedJaxpr, Result};

/// Columns of a line, where it can be broken.
pub(super) const LINE: usize = 100;

/// A stage of lowering that can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lowered {
    /// The jaxpr after algebraic laws, as it is lowered.
    Simplified,
    /// Values and nodes: few operations, loops as regions.
    Graph,
    /// Which values have memory, and which steps make them: nests of loops with what they make, calls, loops and branches.
    Plan,
    /// The loop IR: places of arrays, statements, and the lane programs of nests.
    Loops,
    /// The lane programs alone.
    Lanes,
}

/// The text of a stage, with the equations that are computed.
pub(crate) fn text(closed: &ClosedJaxpr, stage: Lowered) -> Result<String> {
    Ok(match stage {
        Lowered::Simplified => format!("{}\n", simplify(closed)?),
        Lowered::Graph => named_plan(closed)?.0.to_string(),
        Lowered::Plan => {
            let (graph, plan) = named_plan(closed)?;
            steps(&graph, &plan.steps)
        }
        Lowered::Loops => program(closed)?.to_string(),
        Lowered::Lanes => lane_programs(&program(closed)?),
    })
}

/// The loop IR, whose steps know their equations.
pub(crate) fn program(closed: &ClosedJaxpr) -> Result<Program> {
    let (graph, plan) = named_plan(closed)?;
    let mut program = assemble::assemble(&graph, &plan, &[], &mut StageTimes::default())?;
    program.plan_memory(false);
    Ok(program)
}

fn named_plan(closed: &ClosedJaxpr) -> Result<(Graph, Plan)> {
    super::plan(closed, true, &mut StageTimes::default())
}

fn lane_programs(program: &Program) -> String {
    let kernels = 0..program.kernels.len();
    let each = kernels.map(|k| program.kernel_text(k));
    each.collect::<Vec<_>>().join("\n")
}

fn steps(graph: &Graph, steps: &Steps) -> String {
    let parts = Parts::new();
    let mut document = Document::new(&parts, LINE, false);
    write_steps(graph, steps, &mut document);
    document.layout() + "\n"
}

fn write_steps(graph: &Graph, steps: &Steps, document: &mut Document<'_>) {
    for item in &steps.items {
        document.line();
        match item {
            Item::Nest(nest) => write_nest(graph, nest, document),
            Item::Call(id) => {
                let node = graph.node(*id);
                document.indent(4);
                document.list(&node.results);
                document.text(&format!(" = {}(", node.op));
                document.list(&node.args);
                document.text(&format!("){}", graph.origin_remark(*id)));
                document.dedent();
            }
            Item::Loop(id, regions) | Item::Branch(id, regions) => {
                let node = graph.node(*id);
                document.indent(4);
                document.list(&node.results);
                document.text(&format!(" = {}:{}", node.op, graph.origin_remark(*id)));
                document.dedent();
                for (k, region) in regions.iter().enumerate() {
                    let name = match &node.op {
                        Op::Scan { .. } => "turn".to_owned(),
                        Op::While { .. } if k == 0 => "condition".to_owned(),
                        Op::While { .. } => "turn".to_owned(),
                        _ => format!("case {k}"),
                    };
                    document.indent(2);
                    document.line();
                    document.text(&format!("{name}:"));
                    document.indent(2);
                    write_steps(graph, region, document);
                    document.dedent();
                    document.dedent();
                }
            }
        }
    }
}

fn write_nest(graph: &Graph, nest: &Nest, document: &mut Document<'_>) {
    document.text(&format!("nest over {:?}:", &nest.domain[..]));
    document.indent(2);
    for root in &nest.roots {
        let of = |value: ValueId| graph.def(value).map(|id| graph.origin_remark(id));
        let (what, origin) = match root {
            Root::Store(value) => (format!("{value}"), of(*value)),
            Root::Fold { value, axes } => (format!("{value} along {:?}", &axes[..]), of(*value)),
            Root::Control(id) => {
                let node = graph.node(*id);
                let what = format!("{} = {} in lanes", values(&node.results), node.op);
                (what, Some(graph.origin_remark(*id)))
            }
            Root::Update(id) | Root::Scatter(id) => {
                let node = graph.node(*id);
                let what = format!("{} = {} in place", values(&node.results), node.op);
                (what, Some(graph.origin_remark(*id)))
            }
        };
        document.line();
        document.text(&format!("{what}{}", origin.unwrap_or_default()));
    }
    document.dedent();
}

fn values(values: &[ValueId]) -> String {
    let each: Vec<String> = values.iter().map(ValueId::to_string).collect();
    each.join(", ")
}
