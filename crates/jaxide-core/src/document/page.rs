//! The page that a document is written on: text, with styles and remarks.

use std::convert::Infallible;
use std::fmt::Write;

use pretty::{Render, RenderAnnotated};

/// How a piece of text is coloured on a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
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

/// What a part of a document is marked with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    /// Text of this style.
    Style(Style),
    /// A place with the remark of this number.
    Remark(usize),
}

/// The laid out text so far.
#[derive(Default)]
pub(super) struct Page {
    out: String,
    column: usize,
    /// The style of what was written last, and of what comes next.
    style: Style,
    next: Style,
    /// Remarks of the current line.
    remarks: Vec<usize>,
    /// Ends of lines with remarks: byte offset, column, remarks.
    remarked: Vec<(usize, usize, Vec<usize>)>,
}

impl Render for Page {
    type Error = Infallible;

    /// Writes blanks in front of a line.
    fn write_str(&mut self, blanks: &str) -> Result<usize, Infallible> {
        self.out.push_str(blanks);
        self.column += blanks.len();
        Ok(blanks.len())
    }

    fn write_str_all(&mut self, text: &str) -> Result<(), Infallible> {
        if text == "\n" {
            self.end_line();
            self.out.push('\n');
            self.column = 0;
            return Ok(());
        }
        if self.next != self.style {
            self.out.push_str(&self.style.change(self.next));
            self.style = self.next;
        }
        self.out.push_str(text);
        self.column += text.len();
        Ok(())
    }

    fn fail_doc(&self) -> Infallible {
        unreachable!("no part of the document fails")
    }
}

impl RenderAnnotated<'_, Mark> for Page {
    fn push_annotation(&mut self, mark: &Mark) -> Result<(), Infallible> {
        match *mark {
            Mark::Style(style) => self.next = style,
            Mark::Remark(number) => self.remarks.push(number),
        }
        Ok(())
    }

    fn pop_annotation(&mut self) -> Result<(), Infallible> {
        self.next = Style::Plain;
        Ok(())
    }
}

impl Page {
    fn end_line(&mut self) {
        if !self.remarks.is_empty() {
            let remarks = std::mem::take(&mut self.remarks);
            self.remarked.push((self.out.len(), self.column, remarks));
        }
    }

    /// Writes the remarks, all starting at the same column; further remarks of a line follow on lines of their own.
    pub(super) fn finish(mut self, remarks: &[String]) -> String {
        self.end_line();
        if self.style != Style::Plain {
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
