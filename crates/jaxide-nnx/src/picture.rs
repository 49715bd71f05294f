//! A module, its state and its graph definition as a picture.

use std::fmt::Write;
use std::slice;

use crate::graph::{Def, Flatten};
use crate::print::{graph_def, root};
use crate::state::{Entry, State};
use crate::{Attribute, Key, KindRef};

/// A line of a tree.
#[derive(Default)]
struct Row {
    depth: usize,
    text: String,
    /// What stands behind in another colour, and which.
    mark: Option<(String, KindRef)>,
    /// The number of a variable or shared module that stands here for the first time.
    number: Option<usize>,
    /// The number of one that stands here again.
    again: Option<usize>,
}

/// Pixels of a line, of a step to the right, of a letter, and around a tree.
const LINE: usize = 22;
const STEP: usize = 18;
const LETTER: f64 = 7.3;
const MARGIN: usize = 16;
/// Where the first line stands, below the heads.
const TOP: usize = 56;

/// Colours of kinds, by which of them is met first.
const COLOURS: [&str; 6] = [
    "#2563eb", "#c2410c", "#047857", "#7e22ce", "#be123c", "#0e7490",
];

/// A picture (SVG) of a module, of its state as a tree of arrays, and of its graph definition. Variables have the colour of their kind;
/// what stands at several places is joined by a dashed line, and has one entry in the state.
///
/// ```
/// use jaxide_nnx::{self as nnx, Linear, Rngs};
/// let svg = nnx::picture(&Linear::new(2, 3, &Rngs::new(0), ()));
/// assert!(svg.starts_with("<svg") && svg.contains("kernel"));
/// ```
pub fn picture(module: &impl Attribute) -> String {
    let flat = Flatten::of(module);
    let mut rows = Vec::new();
    parts(&mut flat.defs.iter(), None, 0, None, &mut rows);
    let kinds = kinds(&rows);
    let definition = graph_def(&flat.graph_def());
    let definition = definition.lines().map(|line| {
        let text = line.trim_start();
        Row {
            depth: (line.len() - text.len()) / 2,
            text: text.to_owned(),
            ..Row::default()
        }
    });
    let panels = [
        ("module", rows),
        ("state", leaves(&State::of(&flat))),
        ("graph definition", definition.collect()),
    ];
    let mut picture = Picture::default();
    for (place, (head, rows)) in panels.iter().enumerate() {
        if place > 0 {
            picture.between(place == 1);
        }
        picture.panel(head, rows, &kinds);
    }
    picture.finish(&kinds)
}

/// The most general kinds of variables, in the order in which they are met.
fn kinds(rows: &[Row]) -> Vec<KindRef> {
    let mut kinds = Vec::new();
    for (_, kind) in rows.iter().filter_map(|row| row.mark.as_ref()) {
        if !kinds.contains(&root(*kind)) {
            kinds.push(root(*kind));
        }
    }
    kinds
}

/// Adds the next place of a graph, and what stands in it; static attributes are left to the definition.
fn parts(
    defs: &mut slice::Iter<'_, Def>,
    key: Option<&Key>,
    depth: usize,
    number: Option<usize>,
    rows: &mut Vec<Row>,
) {
    let label = |name: &str| key.map_or_else(|| name.to_owned(), |key| format!("{key}: {name}"));
    let row = |text: String| Row {
        depth,
        text,
        number,
        ..Row::default()
    };
    match defs.next() {
        Some(Def::Node(node)) => {
            rows.push(Row {
                number: number.or(node.index),
                ..row(label(&node.name))
            });
            for key in node.keys.iter() {
                parts(defs, Some(key), depth + 1, None, rows);
            }
        }
        Some(Def::Shared(index)) => parts(defs, key, depth, Some(*index), rows),
        Some(Def::Any(_)) => parts(defs, key, depth, number, rows),
        Some(Def::Variable { kind, index, .. }) => rows.push(Row {
            mark: Some((format!("{} #{index}", kind.name()), *kind)),
            number: Some(*index),
            ..row(label("Variable"))
        }),
        Some(Def::Ref(index)) => rows.push(Row {
            again: Some(*index),
            ..row(label(&format!("the same as #{index}")))
        }),
        Some(Def::Array) => rows.push(row(label("Array"))),
        Some(Def::Data(_)) => rows.push(row(label("arrays"))),
        Some(Def::Leaf(_) | Def::Static(_) | Def::None) | None => {}
    }
}

/// The tree of a state.
fn leaves(state: &State) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut before: &[Key] = &[];
    for (path, entry) in state.entries() {
        let common = path.iter().zip(before).take_while(|(a, b)| a == b).count();
        let inner = path.len().saturating_sub(1);
        for (depth, key) in path.iter().enumerate().take(inner).skip(common) {
            rows.push(Row {
                depth,
                text: key.to_string(),
                ..Row::default()
            });
        }
        let types: Vec<String> = entry
            .arrays()
            .iter()
            .map(|x| x.aval().to_string())
            .collect();
        let name = path
            .last()
            .map_or_else(String::new, |key| format!("{key}: "));
        rows.push(Row {
            depth: inner,
            text: format!("{name}{}", types.join(", ")),
            mark: match entry {
                Entry::Variable { kind, .. } => Some((kind.name().to_owned(), *kind)),
                Entry::Array { .. } => None,
            },
            ..Row::default()
        });
        before = path;
    }
    rows
}

#[derive(Default)]
struct Picture {
    body: String,
    /// Where the next tree begins.
    left: usize,
    height: usize,
}

impl Picture {
    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        writeln!(self.body, "{element}").expect("a string takes any text");
    }

    fn text(&mut self, x: usize, y: usize, attributes: &str, text: &str) {
        let text = text
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        self.push(format_args!(
            "<text x=\"{x}\" y=\"{y}\"{attributes}>{text}</text>"
        ));
    }

    /// The arrow between two trees: there and back, or there alone.
    fn between(&mut self, first: bool) {
        let (x, y) = (self.left + 6, TOP - 20);
        if first {
            self.push(format_args!(
                "<path d=\"M{x},{y} h52 m-6,-4 l6,4 l-6,4\" class=\"arrow\"/>"
            ));
            let back = y + 16;
            self.push(format_args!(
                "<path d=\"M{},{back} h-52 m6,-4 l-6,4 l6,4\" class=\"arrow\"/>",
                x + 52
            ));
            self.text(x + 10, y - 6, "", "split");
            self.text(x + 8, back + 16, "", "merge");
            self.left += 68;
        } else {
            self.text(x, y + 8, "", "+");
            self.left += 24;
        }
    }

    /// A tree with its head.
    fn panel(&mut self, head: &str, rows: &[Row], kinds: &[KindRef]) {
        let left = self.left;
        let at = |place: usize| TOP + place * LINE;
        let start = |row: &Row| left + MARGIN + row.depth * STEP;
        let mut right = left + MARGIN + wide(head);
        self.text(left + MARGIN, TOP - 32, " class=\"head\"", head);
        let mut body = std::mem::take(&mut self.body);
        for (place, row) in rows.iter().enumerate() {
            let (x, y) = (start(row), at(place) + LINE / 2);
            let parent = rows[..place]
                .iter()
                .rposition(|above| above.depth < row.depth);
            if let Some(parent) = parent {
                let from = start(&rows[parent]) + 4;
                writeln!(
                    body,
                    "<path d=\"M{from},{} V{} H{}\" class=\"branch\"/>",
                    at(parent) + LINE,
                    y,
                    x - 3
                )
                .expect("a string takes any text");
            }
            self.text(x, y + 4, "", &row.text);
            let mut end = x + wide(&row.text);
            if let Some((mark, kind)) = &row.mark {
                let colour = colour(kinds, *kind);
                self.text(end + 6, y + 4, &format!(" fill=\"{colour}\""), mark);
                end += 6 + wide(mark);
            }
            right = right.max(end);
        }
        // What stands here again, joined to where it stood first.
        let mut joins = 0;
        for (place, row) in rows.iter().enumerate() {
            let first = row
                .again
                .and_then(|n| rows.iter().position(|other| other.number == Some(n)));
            if let Some(first) = first {
                joins += 1;
                let (far, from, to) = (
                    right + 8 * joins,
                    at(first) + LINE / 2,
                    at(place) + LINE / 2,
                );
                let ends = [&rows[first], row].map(|row| {
                    let mark = row.mark.as_ref().map_or(0, |(mark, _)| 6 + wide(mark));
                    start(row) + wide(&row.text) + mark + 4
                });
                let [near, own] = ends;
                self.push(format_args!(
                    "<path d=\"M{near},{from} H{far} V{to} H{own}\" class=\"same\"/>"
                ));
            }
        }
        self.body = body + &self.body;
        self.left = right + 8 * joins + MARGIN;
        self.height = self.height.max(at(rows.len()) + MARGIN);
    }

    /// The whole picture, with what the colours mean.
    fn finish(mut self, kinds: &[KindRef]) -> String {
        let (y, mut x) = (self.height + 4, MARGIN);
        for kind in kinds {
            let colour = colour(kinds, *kind);
            self.push(format_args!(
                "<circle cx=\"{x}\" cy=\"{}\" r=\"5\" fill=\"{colour}\"/>",
                y - 4
            ));
            self.text(x + 10, y, "", kind.name());
            x += 10 + wide(kind.name()) + 2 * MARGIN;
        }
        let (width, height) = (self.left.max(x), y + MARGIN);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"monospace\" font-size=\"12\">\n<style>path {{ fill: none; stroke: #94a3b8; }} .head {{ font-weight: bold; }} \
             .same {{ stroke: #475569; stroke-dasharray: 4 3; }} .arrow {{ stroke: #475569; }}</style>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n{}</svg>\n",
            self.body
        )
    }
}

/// How wide a text is.
fn wide(text: &str) -> usize {
    (text.chars().count() as f64 * LETTER).ceil() as usize
}

fn colour(kinds: &[KindRef], kind: KindRef) -> &'static str {
    let place = kinds.iter().position(|known| *known == root(kind));
    COLOURS[place.unwrap_or(0) % COLOURS.len()]
}
