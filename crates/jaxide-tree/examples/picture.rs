//! Draws a tree beside the table of its paths, as SVG.
//!
//! `cargo run -p jaxide-tree --example picture > docs/pytrees.svg` makes the picture of `docs/pytrees.md`.

use std::fmt::Write;

use jaxide_tree::{Pytree, Tree};

/// A leaf that is drawn by its shape.
#[derive(Clone, Pytree)]
#[pytree(leaf)]
struct Shape(&'static str);

#[derive(Pytree)]
struct Mlp {
    layers: Vec<Linear>,
    scale: (Shape, Shape),
    #[pytree(static)]
    activation: &'static str,
}

#[derive(Pytree)]
struct Linear {
    w: Shape,
    b: Option<Shape>,
}

fn main() {
    print!("{}", picture());
}

/// The picture of the book.
pub(crate) fn picture() -> String {
    let linear = |w, b: Option<&'static str>| Linear {
        w: Shape(w),
        b: b.map(Shape),
    };
    let mlp = Mlp {
        layers: vec![
            linear("f32[2,64]", Some("f32[64]")),
            linear("f32[64,1]", None),
        ],
        scale: (Shape("f32[]"), Shape("f32[]")),
        activation: "tanh",
    };
    draw(&Tree::from_value(&mlp))
}

const COLUMN: usize = 150;
const ROW: usize = 40;
const MARGIN: usize = 24;
const BOX: (usize, usize) = (84, 26);

/// Draws a tree from left to right: a row for each leaf and each `None`, and beside it the leaf's path.
fn draw(tree: &Tree<Shape>) -> String {
    let depth = tree
        .structure()
        .key_paths()
        .iter()
        .map(|path| path.len())
        .max()
        .unwrap_or(0);
    let mut drawing = Drawing {
        body: String::new(),
        rows: 0,
        leaves: 0,
        table: MARGIN + (depth + 1) * COLUMN,
    };
    drawing.node(tree, "", 0);
    let (width, height) = (drawing.table + 330, drawing.rows * ROW + 2 * MARGIN + ROW);
    let header: String = [(0, "leaf"), (60, "path"), (210, "value")]
        .map(|(x, text)| drawing.text_at(drawing.table + x, MARGIN + ROW / 4, "head", text))
        .concat();
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}'>\n\
         <style>\n\
         text {{ font: 13px ui-monospace, Menlo, Consolas, \"DejaVu Sans Mono\", monospace; fill: #1f2933 }}\n\
         .head {{ font-weight: bold }} .key {{ font-size: 11px; fill: #52606d; text-anchor: end }} .none {{ fill: #9aa5b1 }}\n\
         .node {{ fill: #dbeafe; stroke: #2563eb }} .leaf {{ fill: #dcfce7; stroke: #16a34a }}\n\
         .empty {{ fill: #f5f7fa; stroke: #9aa5b1 }} .edge {{ fill: none; stroke: #7b8794 }}\n\
         .dots {{ stroke: #cbd2d9; stroke-dasharray: 2 4 }}\n\
         </style>\n\
         <rect width='{width}' height='{height}' rx='8' fill='#ffffff'/>\n\
         {header}{}</svg>\n",
        drawing.body
    )
}

struct Drawing {
    body: String,
    rows: usize,
    leaves: usize,
    /// Where the table begins.
    table: usize,
}

impl Drawing {
    /// Draws a subtree, and gives the height of its root.
    fn node(&mut self, tree: &Tree<Shape>, path: &str, depth: usize) -> usize {
        let x = MARGIN + depth * COLUMN;
        let children: Vec<(String, usize)> = match tree {
            Tree::Leaf(_) => Vec::new(),
            Tree::Node(node) => node
                .entries()
                .map(|(key, child)| {
                    let key = key.to_string();
                    let y = self.node(child, &format!("{path}{key}"), depth + 1);
                    (key, y)
                })
                .collect(),
        };
        let y = match (children.first(), children.last()) {
            (Some((_, first)), Some((_, last))) => (first + last) / 2,
            _ => {
                self.rows += 1;
                MARGIN + self.rows * ROW
            }
        };
        for (key, child) in &children {
            let (from, to) = (x + BOX.0, x + COLUMN);
            let bend = (to - from) / 2;
            let _ = writeln!(
                self.body,
                "<path class='edge' d='M{from} {y}C{} {y} {} {child} {to} {child}'/>",
                from + bend,
                to - bend
            );
            // On the side of the edge where it does not run.
            let beside = if *child > y { child + 15 } else { child - 6 };
            self.body += &self.text_at(to - 4, beside, "key", key);
        }
        let (class, label) = match tree {
            Tree::Leaf(_) => ("leaf", "*"),
            tree if tree.is_none() => ("empty", "None"),
            Tree::Node(node) => ("node", node.head().type_name()),
        };
        let (width, height) = BOX;
        let _ = writeln!(
            self.body,
            "<rect class='{class}' x='{x}' y='{}' width='{width}' height='{height}' rx='6'/>",
            y - height / 2
        );
        let middle = x + (width - 8 * label.len()) / 2;
        self.body += &self.text_at(middle, y + 4, "", label);
        if children.is_empty() {
            self.row(tree, path, (x + width, y));
        }
        y
    }

    /// Writes the row of the table that belongs to a leaf at the given place.
    fn row(&mut self, tree: &Tree<Shape>, path: &str, (x, y): (usize, usize)) {
        let _ = writeln!(
            self.body,
            "<path class='dots' d='M{} {y}H{}'/>",
            x + 6,
            self.table - 8
        );
        let row = match tree.as_leaf() {
            Some(Shape(shape)) => {
                self.leaves += 1;
                [
                    (0, "", format!("{}", self.leaves - 1)),
                    (60, "", path.into()),
                    (210, "", (*shape).into()),
                ]
            }
            None => [
                (0, "none", "–".into()),
                (60, "none", path.into()),
                (210, "none", "no leaf".into()),
            ],
        };
        for (offset, class, text) in row {
            self.body += &self.text_at(self.table + offset, y + 4, class, &text);
        }
    }

    fn text_at(&self, x: usize, y: usize, class: &str, text: &str) -> String {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        format!("<text class='{class}' x='{x}' y='{y}'>{text}</text>\n")
    }
}
