//! States, graph definitions and modules as text, as Flax prints them.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Add;
use std::slice;

use jaxide::Array;

use crate::graph::{Def, Flatten, GraphDef, LeafContent, Static, Style};
use crate::state::{Entry, State};
use crate::variable::{AnyVariable, Metadata, Value};
use crate::{Attribute, Key, KindRef};

/// How many elements, and their bytes: `# 3 (12 B)`.
pub(crate) fn sizes(arrays: &[Array]) -> Sizes {
    let mut sizes = Sizes::default();
    for array in arrays {
        sizes.elements += array.size();
        sizes.bytes += array.size() * array.dtype().size();
    }
    sizes
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sizes {
    pub(crate) elements: usize,
    pub(crate) bytes: usize,
}

impl Add for Sizes {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Sizes {
            elements: self.elements + more.elements,
            bytes: self.bytes + more.bytes,
        }
    }
}

impl Sizes {
    pub(crate) fn text(self) -> String {
        format!("{} ({})", grouped(self.elements), bytes_text(self.bytes))
    }
}

/// A number with commas between groups of three digits.
pub(crate) fn grouped(number: impl ToString) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes in the largest unit that it exceeds.
pub(crate) fn bytes_text(bytes: usize) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "KB")];
    match units.iter().find(|(unit, _)| bytes as f64 > *unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit),
        None => format!("{} B", grouped(bytes)),
    }
}

/// A text whose lines behind the first stand further right.
fn indented(text: &str, by: usize) -> String {
    text.replace('\n', &format!("\n{:by$}", ""))
}

/// A static value as Python's `repr`.
pub(crate) fn static_text(value: &Static) -> String {
    if let Some(dtype) = value.downcast::<jaxide::DType>() {
        return dtype.numpy_name().to_string();
    }
    if value.downcast::<fn(&Array) -> Array>().is_some() {
        return "<function>".to_owned();
    }
    if let Some(text) = value.downcast::<String>() {
        return format!("'{text}'");
    }
    if let Some(text) = value.downcast::<&'static str>() {
        return format!("'{text}'");
    }
    let text = format!("{value:?}");
    match text.as_str() {
        "true" => "True".to_owned(),
        "false" => "False".to_owned(),
        _ => exponent(&text),
    }
}

/// A number as Python writes it: two digits at least behind `e`.
fn exponent(text: &str) -> String {
    let Some((digits, exponent)) = text.split_once('e') else {
        return text.to_owned();
    };
    match (digits.parse::<f64>(), exponent.parse::<i32>()) {
        (Ok(_), Ok(exponent)) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        _ => text.to_owned(),
    }
}

fn array_text(array: &Array, short: bool) -> String {
    if short && !array.is_tracer() && !array.dtype().is_key() && array.ndim() > 0 {
        let shape: Vec<String> = array.shape().iter().map(usize::to_string).collect();
        let comma = if shape.len() == 1 { "," } else { "" };
        return format!(
            "Array(shape=({}{comma}), dtype=dtype('{}'))",
            shape.join(", "),
            array.dtype().numpy_name()
        );
    }
    format!("{array:?}")
}

fn value_text(value: &Value, short: bool) -> String {
    match value {
        Value::Absent => "None".to_owned(),
        Value::Array(array) => array_text(array, short),
        Value::Tuple(arrays) => {
            let texts: Vec<String> = arrays
                .iter()
                .map(|array| array_text(array, short))
                .collect();
            match &texts[..] {
                [text] => format!("({text},)"),
                texts => format!("({})", texts.join(", ")),
            }
        }
    }
}

/// `Param( # 3 (12 B)`, the value, metadata, `)`.
fn variable_text(kind: KindRef, metadata: &Metadata, value: &Value, short: bool) -> String {
    let mut lines = vec![format!("value={}", value_text(value, short))];
    lines.extend(
        metadata
            .entries()
            .map(|(name, value)| format!("{name}={}", static_text(value))),
    );
    let sizes = sizes(value.arrays());
    let comment = if sizes.elements == 0 {
        String::new()
    } else {
        format!(" # {}", sizes.text())
    };
    format!(
        "{}({comment}\n  {}\n)",
        kind.name(),
        indented(&lines.join(",\n"), 2)
    )
}

fn entry_text(entry: &Entry) -> String {
    match entry {
        Entry::Variable {
            kind,
            metadata,
            value,
        } => variable_text(*kind, metadata, value, false),
        Entry::Array {
            array,
            number: false,
        } => format!("{array:?}"),
        Entry::Array {
            array,
            number: true,
        } => number_text(array),
    }
}

/// A number of the program by itself.
fn number_text(array: &Array) -> String {
    match array.try_value().ok().and_then(|value| value.scalar_at(0)) {
        Some(scalar) => match scalar.as_f64() {
            Some(number) if array.dtype().is_integer() => format!("{number:.0}"),
            Some(number) => exponent(&format!("{number:?}")),
            None => format!("{array:?}"),
        },
        None => format!("{array:?}"),
    }
}

pub(crate) fn state(state: &State) -> String {
    let entries: Vec<_> = state
        .entries()
        .map(|(path, entry)| (&path[..], entry))
        .collect();
    format!("State({})", level(&entries))
}

fn level(entries: &[(&[Key], &Entry)]) -> String {
    let mut lines = Vec::new();
    for group in entries.chunk_by(|(a, _), (b, _)| a.first() == b.first()) {
        let Some((path, entry)) = group.first() else {
            continue;
        };
        let Some((first, rest)) = path.split_first() else {
            continue;
        };
        let text = if rest.is_empty() {
            entry_text(entry)
        } else {
            let inner: Vec<_> = group
                .iter()
                .map(|(path, entry)| (&path[1..], *entry))
                .collect();
            level(&inner)
        };
        lines.push(format!("{}: {text}", first.repr()));
    }
    if lines.is_empty() {
        return "{}".to_owned();
    }
    format!("{{\n  {}\n}}", indented(&lines.join(",\n"), 2))
}

pub(crate) fn flat_state(state: &State) -> String {
    let lines: Vec<String> = state
        .entries()
        .map(|(path, entry)| format!("({}, {})", path.repr(), entry_text(entry)))
        .collect();
    if lines.is_empty() {
        return "FlatState([])".to_owned();
    }
    format!("FlatState([\n  {}\n])", indented(&lines.join(",\n"), 2))
}

/// A line for each place of a graph, indented by its depth.
pub(crate) fn graph_def(graph_def: &GraphDef) -> String {
    fn write(defs: &mut slice::Iter<'_, Def>, label: &str, depth: usize, out: &mut String) {
        let Some(def) = defs.next() else { return };
        let mut line = |text: &str| {
            writeln!(out, "{:1$}{label}{text}", "", 2 * depth).expect("a string takes any text")
        };
        match def {
            Def::Node(node) => {
                line(&match node.index {
                    Some(index) => format!("{} #{index}", node.name),
                    None => node.name.to_string(),
                });
                for key in node.keys.iter() {
                    write(defs, &format!("{key}: "), depth + 1, out);
                }
            }
            Def::Variable {
                kind,
                index,
                present,
                ..
            } => {
                line(&format!(
                    "{} #{index}{}",
                    kind.name(),
                    if *present { "" } else { " (absent)" }
                ));
            }
            Def::Shared(index) => write(defs, &format!("{label}shared #{index} "), depth, out),
            Def::Any(_) => write(defs, label, depth, out),
            Def::Ref(index) => line(&format!("the same as #{index}")),
            Def::Array => line("array"),
            Def::Data(treedef) => line(&treedef.to_string()),
            Def::Leaf(value) => line(&format!("data {}", static_text(value))),
            Def::Static(value) => line(&format!("static {}", static_text(value))),
            Def::None => line("None"),
        }
    }
    let mut out = String::new();
    write(&mut graph_def.nodes().iter(), "", 0, &mut out);
    out.truncate(out.trim_end().len());
    out
}

/// A module with its attributes and the sizes of its state.
pub(crate) fn module(module: &impl Attribute) -> String {
    let flat = Flatten::of(module);
    let leaves: Vec<LeafContent> = flat
        .leaves
        .iter()
        .map(|leaf| leaf.content.clone())
        .collect();
    let mut printer = Printer {
        defs: flat.defs.iter(),
        leaves: leaves.iter(),
        seen: HashMap::new(),
    };
    printer.next(false).text
}

struct Printer<'a> {
    defs: slice::Iter<'a, Def>,
    leaves: slice::Iter<'a, LeafContent>,
    /// What was met that may be met again, by its number.
    seen: HashMap<usize, Seen<'a>>,
}

#[derive(Clone, Copy)]
enum Seen<'a> {
    Variable(&'a AnyVariable),
    /// A node of this type.
    Node(&'a str),
}

/// A printed part, and the sizes of its variables by kind.
struct Printed {
    text: String,
    kinds: Vec<(KindRef, Sizes)>,
}

impl Printed {
    fn plain(text: String) -> Self {
        Printed {
            text,
            kinds: Vec::new(),
        }
    }
}

/// The most general kind that `kind` is a case of.
pub(crate) fn root(kind: KindRef) -> KindRef {
    kind.parent().map_or(kind, root)
}

fn comment(kinds: &[(KindRef, Sizes)]) -> String {
    let total = kinds
        .iter()
        .fold(Sizes::default(), |sum, (_, sizes)| sum + *sizes);
    let mut parts: Vec<String> = kinds
        .iter()
        .map(|(kind, sizes)| format!("{}: {}", kind.name(), sizes.text()))
        .collect();
    if parts.len() > 1 {
        parts.push(format!("Total: {}", total.text()));
    }
    if parts.is_empty() {
        String::new()
    } else {
        format!(" # {}", parts.join(", "))
    }
}

impl Printer<'_> {
    fn next(&mut self, short: bool) -> Printed {
        let Some(def) = self.defs.next() else {
            return Printed::plain(String::new());
        };
        match def {
            Def::Node(node) => {
                if let Some(index) = node.index {
                    self.seen.insert(index, Seen::Node(&node.name));
                }
                self.node(node)
            }
            Def::Variable { index, .. } => match self.leaves.next() {
                Some(LeafContent::Variable(variable)) => {
                    self.seen.insert(*index, Seen::Variable(variable));
                    variable_printed(variable, short)
                }
                Some(LeafContent::Array(_) | LeafContent::Number(_)) | None => {
                    Printed::plain(String::new())
                }
            },
            Def::Shared(index) => {
                let mut ahead = self.defs.clone().filter(|def| !matches!(def, Def::Any(_)));
                if let Some(Def::Node(node)) = ahead.next() {
                    self.seen.insert(*index, Seen::Node(&node.name));
                }
                self.next(short)
            }
            Def::Any(_) => self.next(short),
            // A variable is printed once more, and counted once.
            Def::Ref(index) => Printed::plain(match self.seen.get(index) {
                Some(Seen::Variable(variable)) => variable_printed(variable, short).text,
                Some(Seen::Node(name)) => format!("{name}(...)"),
                None => format!("#{index}"),
            }),
            Def::Array => Printed::plain(self.leaf(short)),
            Def::Data(treedef) => {
                let leaves: Vec<String> = (0..treedef.num_leaves())
                    .map(|_| self.leaf(short))
                    .collect();
                Printed::plain(format!("[{}]", leaves.join(", ")))
            }
            Def::Static(value) | Def::Leaf(value) => Printed::plain(static_text(value)),
            Def::None => Printed::plain("None".to_owned()),
        }
    }

    fn leaf(&mut self, short: bool) -> String {
        match self.leaves.next() {
            Some(LeafContent::Array(array)) => array_text(array, short),
            Some(LeafContent::Number(array)) => number_text(array),
            Some(LeafContent::Variable(_)) | None => String::new(),
        }
    }

    fn node(&mut self, node: &crate::graph::NodeDef) -> Printed {
        let short = matches!(node.style, Style::Module | Style::Object);
        let mut kinds: Vec<(KindRef, Sizes)> = Vec::new();
        let mut texts = Vec::new();
        for key in node.keys.iter() {
            let printed = self.next(short);
            for (kind, sizes) in printed.kinds {
                match kinds.iter_mut().find(|(known, _)| *known == kind) {
                    Some((_, sum)) => *sum = *sum + sizes,
                    None => kinds.push((kind, sizes)),
                }
            }
            texts.push(match node.style {
                Style::Module | Style::Object => format!("{key}={}", printed.text),
                Style::List => printed.text,
                Style::Plain if matches!(key, Key::Index(_)) => printed.text,
                Style::Dict | Style::Plain => format!("{}: {}", key.repr(), printed.text),
            });
        }
        if !node.declared.is_empty() {
            texts = node
                .declared
                .iter()
                .map(|&place| texts[place].clone())
                .collect();
        }
        let body = if texts.is_empty() {
            String::new()
        } else {
            format!("\n  {}\n", indented(&texts.join(",\n"), 2))
        };
        let name = &node.name;
        let text = match node.style {
            Style::Module | Style::Object => format!("{name}({}{body})", comment(&kinds)),
            Style::List => format!("{name}([{body}])"),
            Style::Dict => format!("{name}({{{body}}})"),
            Style::Plain => format!("{name}({body})"),
        };
        Printed { text, kinds }
    }
}

fn variable_printed(variable: &AnyVariable, short: bool) -> Printed {
    let value = variable.value();
    Printed {
        text: variable_text(variable.kind(), variable.metadata(), &value, short),
        kinds: vec![(root(variable.kind()), sizes(value.arrays()))],
    }
}

impl std::fmt::Debug for AnyVariable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&variable_text(
            self.kind(),
            self.metadata(),
            &self.value(),
            false,
        ))
    }
}
