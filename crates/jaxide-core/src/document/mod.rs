//! Text laid out in lines of a given width: words, breaks, indentations and groups, by the `pretty` crate.
//!
//! ```
//! use jaxide_core::document::{Document, Parts};
//! let parts = Parts::new();
//! let mut document = Document::new(&parts, 12, false);
//! document.text("f(");
//! document.indent(2);
//! document.list(["one", "two", "three"]);
//! document.dedent();
//! document.text(")");
//! assert_eq!(document.layout(), "f(one, two,\n  three)");
//! ```
//!
//! The rules are JAX's, and a group of that crate has others: here one is flat when its own flat width fits in what is
//! left of the line, whatever follows it (so a closing bracket or an operand may stick out), and a text with line breaks
//! counts with its whole length and keeps its own indentation. So a group is a choice by the column where it starts,
//! between its flat and its broken form; both share what has no breaks. What is wider than a line has no flat form, so
//! that the document of a program is not much larger than its text. Widths are in bytes.

mod page;

use std::fmt::Display;

use pretty::{Arena, Doc, DocAllocator, RefDoc, SmallText};

pub use page::Style;
use page::{Mark, Page};

/// Where the parts of a document are kept.
#[derive(Default)]
pub struct Parts<'d>(Arena<'d, Mark>);

impl Parts<'_> {
    /// Room for those of one document.
    pub fn new() -> Self {
        Self::default()
    }
}

type Part<'d> = RefDoc<'d, Mark>;

/// A document under construction.
pub struct Document<'d> {
    parts: &'d Arena<'d, Mark>,
    /// Columns of a line.
    width: usize,
    color: bool,
    /// Text that is in no part yet, the end of what there is so far.
    text: String,
    style: Style,
    levels: Vec<Level<'d>>,
    /// The outermost level that text may belong to which is in no part yet.
    flushed: usize,
    remarks: Vec<String>,
    /// A break that is taken.
    newline: Part<'d>,
    /// A break that is taken exactly when a blank would not fit.
    fill: Part<'d>,
}

/// A group or an indentation that is open, or the whole document.
struct Level<'d> {
    kind: Kind,
    broken: Part<'d>,
    /// Its form on one line, where that differs; `None` when there is none, as it is too wide.
    flat: Option<Part<'d>>,
    /// Whether the two forms differ.
    differ: bool,
    /// Its flat width without the text that is in no part yet.
    columns: usize,
    /// Where its text starts in that which is in no part yet.
    start: usize,
}

#[derive(Clone, Copy)]
enum Kind {
    Group,
    Indent(isize),
}

impl<'d> Document<'d> {
    /// An empty document for lines of `width` columns; `color` adds ANSI codes.
    pub fn new(parts: &'d Parts<'d>, width: usize, color: bool) -> Self {
        let parts = &parts.0;
        // A line takes the indentation of the part behind its break: so that it is that of the break, nothing follows it.
        let (hardline, nothing) = (parts.alloc(Doc::Hardline), parts.alloc(Doc::Nil));
        let newline = parts.alloc(Doc::Append(hardline, nothing));
        let blank = parts.alloc(Doc::BorrowedText(" "));
        let choose =
            parts.alloc_column_fn(move |column| if column < width { blank } else { newline });
        let mut document = Document {
            parts,
            width,
            color,
            text: String::new(),
            style: Style::Plain,
            levels: Vec::new(),
            flushed: 0,
            remarks: Vec::new(),
            newline,
            fill: parts.alloc(Doc::Column(choose)),
        };
        document.start(Kind::Indent(0));
        document
    }

    /// Adds text that is never broken.
    pub fn text(&mut self, text: &str) {
        self.styled(text, Style::Plain);
    }

    /// Adds coloured text that is never broken.
    pub fn styled(&mut self, text: &str, style: Style) {
        if self.color && style != self.style && !text.is_empty() {
            self.flush();
            self.style = style;
        }
        self.text.push_str(text);
    }

    /// Adds text that is another one where it is not on one line with all of its group: what `broken` gives for the
    /// indentation there. If it is not `one_line`, the groups around it are broken.
    pub fn text_by_indent(
        &mut self,
        text: &str,
        one_line: bool,
        broken: impl Fn(usize) -> String + 'd,
    ) {
        self.plain();
        let parts = self.parts;
        let flat = parts.alloc(Doc::OwnedText(text.into()));
        let broken = move |indent| parts.alloc(Doc::OwnedText(broken(indent).into()));
        let broken = parts.alloc(Doc::Nesting(parts.alloc_column_fn(broken)));
        self.add(broken, one_line.then_some(flat), text.len());
    }

    /// Adds a place where the line may end; `flat` stands there when it does not.
    pub fn line_break(&mut self, flat: &'static str) {
        self.plain();
        let text = self.parts.alloc(Doc::BorrowedText(flat));
        self.add(self.newline, Some(text), flat.len());
    }

    /// Adds a break that is taken exactly when a blank would not fit.
    pub fn fill(&mut self) {
        self.plain();
        let blank = self.parts.alloc(Doc::BorrowedText(" "));
        self.add(self.fill, Some(blank), 1);
    }

    /// Starts a line; nothing where the document is empty. Not for groups.
    pub fn line(&mut self) {
        if !self.text.is_empty() || !self.levels.iter().all(Level::is_text) {
            self.line_break("");
        }
    }

    /// Adds items with commas between them, each on the next line where it does not fit.
    pub fn list(&mut self, items: impl IntoIterator<Item = impl Display>) {
        for (index, item) in items.into_iter().enumerate() {
            self.open();
            if index > 0 {
                self.text(",");
                self.line_break(" ");
            }
            self.text(&item.to_string());
            self.close();
        }
    }

    /// Adds a remark, shown as a comment at the end of the line that this place ends up on.
    pub fn remark(&mut self, remark: String) {
        self.flush();
        let mark = Mark::Remark(self.remarks.len());
        let part = self
            .parts
            .alloc(Doc::Annotated(mark, self.parts.alloc(Doc::Nil)));
        self.push(part, 0);
        self.remarks.push(remark);
    }

    /// Starts an indentation of `columns` more.
    pub fn indent(&mut self, columns: usize) {
        self.start(Kind::Indent(columns.cast_signed()));
    }

    /// Ends the last indentation.
    pub fn dedent(&mut self) {
        self.end();
    }

    /// Starts a group: laid on one line when it fits.
    pub fn open(&mut self) {
        self.start(Kind::Group);
    }

    /// Ends the last group.
    pub fn close(&mut self) {
        self.end();
    }

    /// The text of the whole document.
    pub fn layout(mut self) -> String {
        self.plain();
        self.flush();
        let mut page = Page::default();
        if let Some(level) = self.levels.pop() {
            let Ok(()) = level.broken.render_raw(self.width, &mut page);
        }
        page.finish(&self.remarks)
    }

    fn start(&mut self, kind: Kind) {
        self.levels.push(Level {
            kind,
            broken: self.parts.alloc(Doc::Nil),
            flat: None,
            differ: false,
            columns: 0,
            start: self.text.len(),
        });
    }

    /// Ends the innermost level: it is a part of the one around it from now on. The document itself stays open.
    fn end(&mut self) {
        if self.levels.len() < 2 {
            return;
        }
        if self.levels.last().is_some_and(Level::is_text) {
            self.levels.pop();
            self.flushed = self.flushed.min(self.levels.len().saturating_sub(1));
            return;
        }
        self.flush();
        let Some(level) = self.levels.pop() else {
            return;
        };
        self.flushed = self.levels.len().saturating_sub(1);
        let Level {
            broken,
            flat,
            columns,
            ..
        } = level;
        if !level.differ {
            return self.push(broken, columns);
        }
        let (parts, width) = (self.parts, self.width);
        let part = match (level.kind, flat) {
            (Kind::Group, Some(flat)) => {
                let choose = move |column| {
                    if column + columns <= width {
                        flat
                    } else {
                        broken
                    }
                };
                parts.alloc(Doc::Column(parts.alloc_column_fn(choose)))
            }
            (Kind::Group, None) => broken,
            (Kind::Indent(by), _) => parts.alloc(Doc::Nest(by, broken)),
        };
        self.add(part, flat, columns);
    }

    /// From here on text is plain.
    fn plain(&mut self) {
        self.flush();
        self.style = Style::Plain;
    }

    /// Makes parts of the text that is in none.
    fn flush(&mut self) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            for index in self.flushed..self.levels.len() {
                let start = self.levels[index].start;
                let next = self.levels.get(index + 1);
                let end = next.map_or(text.len(), |next| next.start);
                self.levels[index].start = 0;
                if start < end {
                    let part = self.part(&text[start..end]);
                    push(self.parts, &mut self.levels[index], part, end - start);
                }
            }
            self.text = text;
            self.text.clear();
        }
        self.flushed = self.levels.len().saturating_sub(1);
    }

    /// Text in the present style as a part.
    fn part(&self, text: &str) -> Part<'d> {
        let part = self.parts.alloc(match SmallText::from(text) {
            Ok(text) => Doc::SmallText(text),
            Err(_) => Doc::OwnedText(text.into()),
        });
        match self.style {
            Style::Plain => part,
            style => self.parts.alloc(Doc::Annotated(Mark::Style(style), part)),
        }
    }

    fn push(&mut self, part: Part<'d>, columns: usize) {
        if let Some(level) = self.levels.last_mut() {
            push(self.parts, level, part, columns);
        }
    }

    /// Adds what has this form on one line, so many columns wide, if it has one.
    fn add(&mut self, broken: Part<'d>, flat: Option<Part<'d>>, columns: usize) {
        let (parts, width) = (self.parts, self.width);
        let Some(level) = self.levels.last_mut() else {
            return;
        };
        let before = if level.differ {
            level.flat
        } else {
            Some(level.broken)
        };
        level.differ = true;
        level.columns = level.columns.saturating_add(columns);
        let flat = flat.filter(|_| level.columns <= width);
        level.flat = before.zip(flat).map(|(a, b)| append(parts, a, b));
        level.broken = append(parts, level.broken, broken);
    }
}

impl Level<'_> {
    /// Whether nothing is in it but text that is in no part yet.
    fn is_text(&self) -> bool {
        matches!(*self.broken.0, Doc::Nil)
    }
}

/// Adds what is the same on one line, so many columns wide.
fn push<'d>(parts: &'d Arena<'d, Mark>, level: &mut Level<'d>, part: Part<'d>, columns: usize) {
    level.columns = level.columns.saturating_add(columns);
    level.broken = append(parts, level.broken, part);
    level.flat = level.flat.map(|flat| append(parts, flat, part));
}

fn append<'d>(parts: &'d Arena<'d, Mark>, before: Part<'d>, part: Part<'d>) -> Part<'d> {
    match *before.0 {
        Doc::Nil => part,
        _ => parts.alloc(Doc::Append(before, part)),
    }
}
