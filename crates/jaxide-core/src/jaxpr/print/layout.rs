//! The document engine: text, breaks, nesting and groups laid out in a given width.
//!
//! The rules are JAX's, and they are not those of the usual pretty-printing libraries, which is why this one exists:
//! a group is flat when its own flat width fits in what is left of the line, whatever follows it (so a closing
//! bracket or an operand may stick out), and a text with line breaks counts with its whole length and keeps its own
//! indentation. Widths are in bytes. The document is a flat list of items and is laid out in one pass.

use std::fmt::Write;

use crate::jaxpr::parse::foreign::{Layout, is_one_value, shifted};

/// More than any line holds.
const NEVER_FLAT: usize = 1 << 40;

/// How a piece of text is coloured on a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Style {
    /// Not at all.
    #[default]
    Plain,
    /// Bright blue: `lambda`, `let`, `in`.
    Keyword,
    /// Magenta: `:f32[3]`.
    Type,
}

impl Style {
    /// ANSI code of the colour, and whether it is bright.
    fn codes(self) -> (u8, bool) {
        match self {
            Style::Plain => (39, false),
            Style::Keyword => (34, true),
            Style::Type => (35, false),
        }
    }

    /// The escape sequence that turns one style into another; empty when they are the same.
    fn change(self, to: Style) -> String {
        let ((old, was_bright), (new, is_bright)) = (self.codes(), to.codes());
        let mut codes = Vec::new();
        if old != new {
            codes.push(new.to_string());
        }
        if was_bright != is_bright {
            codes.push(if is_bright { "1" } else { "22" }.to_owned());
        }
        if codes.is_empty() {
            String::new()
        } else {
            format!("\x1b[{}m", codes.join(";"))
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Item {
    /// The text buffer up to this offset.
    Text { end: usize, style: Style },
    /// The text buffer up to this offset: the value of a parameter that only its surroundings delimit.
    Value { end: usize },
    /// A line break, or this text when flat.
    Break(&'static str),
    /// More indentation from here on.
    Indent(usize),
    /// The indentation before the last `Indent`.
    Dedent,
    /// A group, with its flat width.
    Open(usize),
    /// The end of the innermost group.
    Close,
    /// A remark for the end of the line, by number.
    Remark(usize),
}

/// A document under construction.
#[derive(Default)]
pub(super) struct Document {
    text: String,
    items: Vec<Item>,
    remarks: Vec<String>,
    /// Flat width of everything so far.
    flat: usize,
    /// Groups that are open: the place of the item, and the flat width before it.
    open: Vec<(usize, usize)>,
}

impl Document {
    /// Adds text that is never broken.
    pub(super) fn text(&mut self, text: &str) {
        self.styled(text, Style::Plain);
    }

    /// Adds coloured text that is never broken.
    pub(super) fn styled(&mut self, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        self.flat += text.len();
        let end = self.text.len();
        match self.items.last_mut() {
            Some(Item::Text {
                end: last,
                style: same,
            }) if *same == style => *last = end,
            _ => self.items.push(Item::Text { end, style }),
        }
    }

    /// Adds the value of a parameter as it was written. Its layout alone tells where it ends: it gets a line of its own
    /// where a part of it would be read as a parameter otherwise.
    pub(super) fn value(&mut self, text: &str) {
        self.text.push_str(text);
        self.flat += text.len();
        if !is_one_value(text, Layout::Flat) {
            self.flat += NEVER_FLAT;
        }
        self.items.push(Item::Value {
            end: self.text.len(),
        });
    }

    /// Adds a place where the line may end; `flat` stands there when it does not.
    pub(super) fn line_break(&mut self, flat: &'static str) {
        self.flat += flat.len();
        self.items.push(Item::Break(flat));
    }

    /// Starts an indentation of `columns` more.
    pub(super) fn indent(&mut self, columns: usize) {
        self.items.push(Item::Indent(columns));
    }

    /// Ends the last indentation.
    pub(super) fn dedent(&mut self) {
        self.items.push(Item::Dedent);
    }

    /// Starts a group: laid on one line when it fits.
    pub(super) fn open(&mut self) {
        self.open.push((self.items.len(), self.flat));
        self.items.push(Item::Open(0));
    }

    /// Ends the last group.
    pub(super) fn close(&mut self) {
        if let Some((place, before)) = self.open.pop() {
            self.items[place] = Item::Open(self.flat - before);
            self.items.push(Item::Close);
        }
    }

    /// Adds a break that is taken exactly when a blank would not fit.
    pub(super) fn fill(&mut self) {
        self.open();
        self.line_break(" ");
        self.close();
    }

    /// Adds a remark, shown as a comment at the end of the line that this place ends up on.
    pub(super) fn remark(&mut self, remark: String) {
        self.items.push(Item::Remark(self.remarks.len()));
        self.remarks.push(remark);
    }

    /// Lays everything out in `width` columns.
    pub(super) fn layout(&self, width: usize, color: bool) -> String {
        let mut page = Page {
            out: String::with_capacity(self.text.len() * 3 / 2),
            column: 0,
            style: Style::Plain,
            color,
            remarks: Vec::new(),
            remarked: Vec::new(),
        };
        let mut indents = vec![0];
        let mut flats = vec![false];
        let mut start = 0;
        for &item in &self.items {
            let indent = indents.last().copied().unwrap_or(0);
            let flat = flats.last().copied().unwrap_or(false);
            match item {
                Item::Text { end, style } => {
                    page.text(&self.text[start..end], style);
                    start = end;
                }
                Item::Value { end } => {
                    let value = &self.text[start..end];
                    start = end;
                    if flat || is_one_value(value, Layout::Lines(indent)) {
                        page.text(value, Style::Plain);
                    } else {
                        page.text(&shifted(value, indent), Style::Plain);
                    }
                }
                Item::Break(text) if flat => page.text(text, Style::Plain),
                Item::Break(_) => page.newline(indent),
                Item::Indent(columns) => indents.push(indent + columns),
                Item::Dedent => {
                    indents.pop();
                }
                Item::Open(needed) => flats.push(flat || page.column + needed <= width),
                Item::Close => {
                    flats.pop();
                }
                Item::Remark(number) => page.remarks.push(number),
            }
        }
        page.finish(&self.remarks)
    }
}

/// The laid out text so far.
struct Page {
    out: String,
    column: usize,
    style: Style,
    color: bool,
    /// Remarks of the current line.
    remarks: Vec<usize>,
    /// Ends of lines with remarks: byte offset, column, remarks.
    remarked: Vec<(usize, usize, Vec<usize>)>,
}

impl Page {
    fn text(&mut self, text: &str, style: Style) {
        if self.color && style != self.style {
            self.out.push_str(&self.style.change(style));
            self.style = style;
        }
        self.out.push_str(text);
        self.column += text.len();
    }

    fn newline(&mut self, indent: usize) {
        self.end_line();
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }

    fn end_line(&mut self) {
        if !self.remarks.is_empty() {
            let remarks = std::mem::take(&mut self.remarks);
            self.remarked.push((self.out.len(), self.column, remarks));
        }
    }

    /// Writes the remarks, all starting at the same column; further remarks of a line follow on lines of their own.
    fn finish(mut self, remarks: &[String]) -> String {
        self.end_line();
        if self.color {
            self.out.push_str(&self.style.change(Style::Plain));
        }
        let Some(column) = self.remarked.iter().map(|&(_, column, _)| column).max() else {
            return self.out;
        };
        let mut out = String::with_capacity(self.out.len() * 2);
        let mut copied = 0;
        for (offset, end, numbers) in &self.remarked {
            out.push_str(&self.out[copied..*offset]);
            copied = *offset;
            for (index, &number) in numbers.iter().enumerate() {
                let padding = if index == 0 { column - end } else { column };
                let newline = if index == 0 { "" } else { "\n" };
                let _ = write!(out, "{newline}{:padding$} # {}", "", remarks[number]);
            }
        }
        out.push_str(&self.out[copied..]);
        out
    }
}
