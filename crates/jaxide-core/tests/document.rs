//! Documents against a second layout that says the rules: a group is on one line when its flat width fits, whatever
//! follows.

use jaxide_core::document::{Document, Parts, Style};

/// A document as a tree.
enum Node {
    Text(&'static str, Style),
    Break(&'static str),
    Fill,
    Indent(usize, Vec<Node>),
    Group(Vec<Node>),
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn nodes(&mut self, depth: usize) -> Vec<Node> {
        (0..self.below(9)).map(|_| self.node(depth)).collect()
    }

    fn node(&mut self, depth: usize) -> Node {
        let words = [
            "",
            "a",
            "two words",
            "é",
            "a text of more than twenty two bytes",
        ];
        match self.below(if depth == 0 { 6 } else { 10 }) {
            0..=2 => {
                let style = [Style::Plain, Style::Plain, Style::Keyword, Style::Type];
                let word = words[self.below(5) as usize];
                Node::Text(word, style[self.below(4) as usize])
            }
            3 | 4 => Node::Break([" ", "", "; "][self.below(3) as usize]),
            5 => Node::Fill,
            6 | 7 => Node::Indent(self.below(5) as usize, self.nodes(depth - 1)),
            _ => Node::Group(self.nodes(depth - 1)),
        }
    }
}

fn build(document: &mut Document<'_>, nodes: &[Node]) {
    for node in nodes {
        match node {
            Node::Text(text, style) => document.styled(text, *style),
            Node::Break(flat) => document.line_break(flat),
            Node::Fill => document.fill(),
            Node::Indent(columns, inner) => {
                document.indent(*columns);
                build(document, inner);
                document.dedent();
            }
            Node::Group(inner) => {
                document.open();
                build(document, inner);
                document.close();
            }
        }
    }
}

/// The width on one line.
fn flat_width(nodes: &[Node]) -> usize {
    let widths = nodes.iter().map(|node| match node {
        Node::Text(text, _) | Node::Break(text) => text.len(),
        Node::Fill => 1,
        Node::Indent(_, inner) | Node::Group(inner) => flat_width(inner),
    });
    widths.sum()
}

fn lay_out(nodes: &[Node], width: usize, indent: usize, flat: bool, out: &mut String) {
    let column = |out: &String| out.len() - out.rfind('\n').map_or(0, |newline| newline + 1);
    for node in nodes {
        match node {
            Node::Text(text, _) => out.push_str(text),
            Node::Break(text) if flat => out.push_str(text),
            Node::Fill if flat || column(out) < width => out.push(' '),
            Node::Break(_) | Node::Fill => {
                out.push('\n');
                out.push_str(&" ".repeat(indent));
            }
            Node::Indent(more, inner) => lay_out(inner, width, indent + more, flat, out),
            Node::Group(inner) => {
                let fits = column(out) + flat_width(inner) <= width;
                lay_out(inner, width, indent, flat || fits, out);
            }
        }
    }
}

/// The text without ANSI codes.
fn without_codes(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let first = parts.next().unwrap_or("").to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').unwrap().1)
}

#[test]
fn documents_are_laid_out_by_the_rules() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut broken = 0;
    for _ in 0..4_000 {
        let nodes = random.nodes(4);
        for width in [0, 1, 7, 20, 80] {
            let mut want = String::new();
            lay_out(&nodes, width, 0, false, &mut want);
            broken += usize::from(want.contains('\n'));
            for color in [false, true] {
                let parts = Parts::new();
                let mut document = Document::new(&parts, width, color);
                build(&mut document, &nodes);
                let got = document.layout();
                if color {
                    assert_eq!(without_codes(&got), want);
                } else {
                    assert_eq!(got, want);
                }
            }
        }
    }
    assert!(broken > 2_000, "few documents have several lines");
}

#[test]
fn remarks_start_at_one_column() {
    let parts = Parts::new();
    let mut document = Document::new(&parts, 80, false);
    document.remark("first".to_owned());
    document.remark("second".to_owned());
    document.text("line");
    document.line();
    document.text("longer line");
    document.remark("third".to_owned());
    let want = "\
line        # first
            # second
longer line # third";
    assert_eq!(document.layout(), want);
}

#[test]
fn colours_change_where_the_style_does() {
    let parts = Parts::new();
    let mut document = Document::new(&parts, 80, true);
    document.styled("let", Style::Keyword);
    document.line();
    document.text("a");
    document.styled(":f32[]", Style::Type);
    let want = "\x1b[34;1mlet\n\x1b[39;22ma\x1b[35m:f32[]\x1b[39m";
    assert_eq!(document.layout(), want);
}
