//! A picture of a function: its jaxpr as a graph, from the leaves of its arguments to the leaves of its results.
//!
//! The function takes and gives nested values. A [`TracingAdapter`] makes it one of flat lists of arrays, which has a
//! jaxpr that can be drawn, and remembers both schemas: so the picture calls each input and output by its path.
//!
//! `cargo run --example draw_jaxpr > docs/jaxpr.svg` makes the picture in `docs/pytrees.md`.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::Arc;

use jaxide::core::{Atom, Jaxpr, Var};
use jaxide::prelude::*;
use jaxide::tree::{KeyPath, TracingAdapter};

#[derive(Clone, Pytree)]
struct Linear {
    w: Array,
    b: Option<Array>,
}

type Batch = BTreeMap<&'static str, Array>;

/// The prediction of an affine map, and how wrong it is.
fn evaluate((model, batch): (Linear, Batch)) -> Batch {
    let mut y = batch["x"].dot(&model.w);
    if let Some(b) = model.b {
        y += b;
    }
    let prediction = y.tanh();
    let loss = (&prediction - &batch["y"]).square().mean();
    Batch::from([("loss", loss), ("prediction", prediction)])
}

fn main() -> Result<()> {
    print!("{}", picture()?);
    Ok(())
}

/// The picture of `evaluate`.
pub(crate) fn picture() -> Result<String> {
    let spec = |shape: &[usize]| Array::spec(DType::F32, shape);
    let model = Linear {
        w: spec(&[4, 2]),
        b: Some(spec(&[2])),
    };
    let batch = Batch::from([("x", spec(&[8, 4])), ("y", spec(&[8, 2]))]);

    let (adapter, flat) = TracingAdapter::new(evaluate, &(model, batch));
    let adapter = Arc::new(adapter);
    let function = adapter.clone();
    let jaxpr =
        make_jaxpr(move |flat: Vec<Array>| function.call(flat).expect("as in the example"))(flat)?;
    let inputs = adapter.inputs().structure().key_paths();
    let outputs = adapter
        .outputs()
        .expect("it was traced")
        .structure()
        .key_paths();
    Ok(Graph::new(&jaxpr.jaxpr, &inputs, &outputs).draw())
}

/// A jaxpr as layers of nodes: each below what it is computed from.
struct Graph {
    nodes: Vec<Node>,
    /// For each layer its nodes from left to right.
    layers: Vec<Vec<usize>>,
}

struct Node {
    kind: Kind,
    lines: Vec<String>,
    layer: usize,
    above: Vec<usize>,
    below: Vec<usize>,
    x: f64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Input,
    Equation,
    Output,
    /// A place where an edge crosses a layer.
    Bend,
}

impl Graph {
    fn new(jaxpr: &Jaxpr, inputs: &[KeyPath], outputs: &[KeyPath]) -> Self {
        let mut graph = Graph {
            nodes: Vec::new(),
            layers: Vec::new(),
        };
        let mut made_by: HashMap<Var, usize> = HashMap::new();
        for &var in &jaxpr.constvars {
            let lines = vec!["constant".to_owned(), jaxpr.aval_of(var).to_string()];
            made_by.insert(var, graph.add(Kind::Input, lines, &[]));
        }
        for (&var, path) in jaxpr.invars.iter().zip(inputs) {
            let lines = vec![path.to_string(), jaxpr.aval_of(var).to_string()];
            made_by.insert(var, graph.add(Kind::Input, lines, &[]));
        }
        for eqn in &jaxpr.eqns {
            let mut name = eqn.prim.name().to_owned();
            for literal in eqn.inputs.iter().filter_map(|atom| atom.literal()) {
                let _ = write!(name, " {}", literal.value);
            }
            let types = eqn.outputs.iter().map(|&v| jaxpr.aval_of(v).to_string());
            let lines = vec![name, types.collect::<Vec<_>>().join(" ")];
            let operands: Vec<usize> = eqn
                .inputs
                .iter()
                .filter_map(|atom| atom.var())
                .map(|var| made_by[&var])
                .collect();
            let node = graph.add(Kind::Equation, lines, &operands);
            made_by.extend(eqn.outputs.iter().map(|&var| (var, node)));
        }
        let last = graph.layers.len();
        for (atom, path) in jaxpr.outvars.iter().zip(outputs) {
            let (lines, from) = match atom {
                Atom::Var(var) => (vec![path.to_string()], vec![made_by[var]]),
                Atom::Lit(literal) => (vec![format!("{path} = {}", literal.value)], Vec::new()),
            };
            graph.add_at(last, Kind::Output, lines, &from);
        }
        graph.order();
        graph.place();
        graph
    }

    /// Adds a node in the layer below the lowest of its operands.
    fn add(&mut self, kind: Kind, lines: Vec<String>, operands: &[usize]) -> usize {
        let below = |&node: &usize| self.nodes[node].layer + 1;
        let layer = operands.iter().map(below).max().unwrap_or(0);
        self.add_at(layer, kind, lines, operands)
    }

    fn add_at(
        &mut self,
        layer: usize,
        kind: Kind,
        lines: Vec<String>,
        operands: &[usize],
    ) -> usize {
        // An edge over several layers gets a place of its own in each, so that it does not run through other nodes.
        let mut above = Vec::new();
        for &operand in operands {
            let mut from = operand;
            for crossed in self.nodes[operand].layer + 1..layer {
                let shared = self.nodes[from].below.iter().copied();
                let known = shared
                    .into_iter()
                    .find(|&n| self.nodes[n].kind == Kind::Bend);
                from = match known {
                    Some(bend) => bend,
                    None => self.push(crossed, Kind::Bend, Vec::new(), vec![from]),
                };
            }
            if !above.contains(&from) {
                above.push(from);
            }
        }
        self.push(layer, kind, lines, above)
    }

    fn push(&mut self, layer: usize, kind: Kind, lines: Vec<String>, above: Vec<usize>) -> usize {
        let node = self.nodes.len();
        if self.layers.len() <= layer {
            self.layers.resize(layer + 1, Vec::new());
        }
        self.layers[layer].push(node);
        for &parent in &above {
            self.nodes[parent].below.push(node);
        }
        self.nodes.push(Node {
            kind,
            lines,
            layer,
            above,
            below: Vec::new(),
            x: 0.0,
        });
        node
    }

    /// Orders each layer by the middle of its neighbours' places, which leaves few crossings (Sugiyama et al. 1981).
    fn order(&mut self) {
        for round in 0..8 {
            let mut place = vec![0.0; self.nodes.len()];
            for layer in &self.layers {
                for (i, &node) in layer.iter().enumerate() {
                    place[node] = (i as f64 + 0.5) / layer.len() as f64;
                }
            }
            for layer in &mut self.layers {
                let middle = |&node: &usize| {
                    let Node { above, below, .. } = &self.nodes[node];
                    let near = if round % 2 == 0 { above } else { below };
                    mean(near.iter().map(|&n| place[n])).unwrap_or(place[node])
                };
                layer.sort_by(|a, b| middle(a).total_cmp(&middle(b)));
            }
        }
    }

    /// Moves nodes towards the middle of their neighbours, as far as those beside them let them.
    fn place(&mut self) {
        for round in 0..400 {
            for layer in &self.layers {
                let wanted: Vec<f64> = layer
                    .iter()
                    .map(|&node| {
                        let Node {
                            above, below, x, ..
                        } = &self.nodes[node];
                        let near = above.iter().chain(below).map(|&n| self.nodes[n].x);
                        if round == 0 {
                            *x
                        } else {
                            mean(near).unwrap_or(*x)
                        }
                    })
                    .collect();
                let gap = |i: usize| {
                    let half = |node: usize| self.nodes[node].width() / 2.0;
                    half(layer[i - 1]) + half(layer[i]) + 24.0
                };
                let (mut from_left, mut from_right) = (wanted.clone(), wanted);
                for i in 1..layer.len() {
                    from_left[i] = from_left[i].max(from_left[i - 1] + gap(i));
                }
                for i in (1..layer.len()).rev() {
                    from_right[i - 1] = from_right[i - 1].min(from_right[i] - gap(i));
                }
                for (i, &node) in layer.iter().enumerate() {
                    self.nodes[node].x = (from_left[i] + from_right[i]) / 2.0;
                }
            }
        }
    }

    /// The graph as SVG.
    fn draw(&self) -> String {
        let left = |node: &Node| node.x - node.width() / 2.0;
        let right = |node: &Node| node.x + node.width() / 2.0;
        let start = self.nodes.iter().map(left).fold(f64::INFINITY, f64::min) - MARGIN;
        let end = self.nodes.iter().map(right).fold(0.0, f64::max) + MARGIN;
        let (width, height) = (
            end - start,
            self.layers.len() as f64 * LAYER - (LAYER - HEIGHT) + 2.0 * MARGIN,
        );
        let mut svg = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:.0} {height:.0}' \
             width='{width:.0}' height='{height:.0}'>\n\
             <style>\n\
             text {{ font: 13px ui-monospace, Menlo, Consolas, \"DejaVu Sans Mono\", monospace; fill: #1f2933; \
             text-anchor: middle }}\n\
             .type {{ font-size: 11px; fill: #52606d }}\n\
             .input {{ fill: #dcfce7; stroke: #16a34a }} .equation {{ fill: #dbeafe; stroke: #2563eb }}\n\
             .output {{ fill: #fef3c7; stroke: #d97706 }} .edge {{ fill: none; stroke: #7b8794 }}\n\
             </style>\n\
             <rect width='{width:.0}' height='{height:.0}' rx='8' fill='#ffffff'/>\n"
        );
        for node in &self.nodes {
            for above in node.above.iter().map(|&n| &self.nodes[n]) {
                let (x0, y0) = (above.x - start, above.bottom());
                let (x1, y1) = (node.x - start, node.top());
                let bend = (y1 - y0) / 2.0;
                let _ = writeln!(
                    svg,
                    "<path class='edge' d='M{x0:.1} {y0:.1}C{x0:.1} {:.1} {x1:.1} {:.1} {x1:.1} {y1:.1}'/>",
                    y0 + bend,
                    y1 - bend
                );
            }
        }
        for node in &self.nodes {
            let (x, y) = (node.x - start, node.top());
            let class = match node.kind {
                Kind::Input => "input",
                Kind::Equation => "equation",
                Kind::Output => "output",
                Kind::Bend => {
                    let _ = writeln!(
                        svg,
                        "<path class='edge' d='M{x:.1} {y:.1}V{:.1}'/>",
                        node.bottom()
                    );
                    continue;
                }
            };
            let _ = writeln!(
                svg,
                "<rect class='{class}' x='{:.1}' y='{y:.1}' width='{:.1}' height='{HEIGHT}' rx='6'/>",
                x - node.width() / 2.0,
                node.width()
            );
            let first = y + HEIGHT / 2.0 + if node.lines.len() > 1 { -3.0 } else { 5.0 };
            for (i, line) in node.lines.iter().enumerate() {
                let class = if i > 0 { " class='type'" } else { "" };
                let line = line.replace('&', "&amp;").replace('<', "&lt;");
                let _ = writeln!(
                    svg,
                    "<text{class} x='{x:.1}' y='{:.1}'>{line}</text>",
                    first + 15.0 * i as f64
                );
            }
        }
        svg + "</svg>\n"
    }
}

const MARGIN: f64 = 24.0;
/// From the top of one layer to the top of the next.
const LAYER: f64 = 72.0;
const HEIGHT: f64 = 40.0;

impl Node {
    fn width(&self) -> f64 {
        let longest = self.lines.iter().map(|line| line.chars().count()).max();
        longest.map_or(0.0, |characters| 8.0 * characters as f64 + 20.0)
    }

    fn top(&self) -> f64 {
        MARGIN + self.layer as f64 * LAYER
    }

    fn bottom(&self) -> f64 {
        self.top() + HEIGHT
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), x| (sum + x, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
