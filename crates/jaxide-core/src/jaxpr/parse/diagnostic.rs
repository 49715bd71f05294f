//! What is wrong with a text, and where.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::error::{Error, ErrorKind, Source};

/// More mistakes than this are counted and not described.
pub(super) const MOST_DIAGNOSTICS: usize = 20;

/// Bytes of a line shown on each side of a mistake.
const SHOWN: usize = 100;

/// One mistake in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, in one line.
    pub message: String,
    /// Said at the place itself; may be empty.
    pub label: String,
    /// The bytes of the text that it is about.
    pub span: Range<usize>,
    /// Line of the first byte, from one.
    pub line: u32,
    /// Column of the first byte in characters, from one.
    pub column: u32,
    /// Advice.
    pub notes: Vec<String>,
}

/// A mistake before its line and column are known.
#[derive(Debug)]
pub(super) struct Mistake {
    pub(super) message: String,
    pub(super) label: String,
    pub(super) span: Range<usize>,
    pub(super) notes: Vec<String>,
}

impl Mistake {
    pub(super) fn new(span: Range<usize>, message: impl Into<String>) -> Box<Self> {
        Box::new(Mistake {
            message: message.into(),
            label: String::new(),
            span,
            notes: Vec::new(),
        })
    }

    pub(super) fn label(mut self: Box<Self>, label: impl Into<String>) -> Box<Self> {
        self.label = label.into();
        self
    }

    pub(super) fn note(mut self: Box<Self>, note: impl Into<String>) -> Box<Self> {
        self.notes.push(note.into());
        self
    }
}

/// Why a text is not a jaxpr: every mistake that was found, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    text: Arc<str>,
    diagnostics: Vec<Diagnostic>,
    omitted: usize,
}

impl ParseError {
    pub(super) fn new(text: &str, mut mistakes: Vec<Box<Mistake>>, lines: &Lines<'_>) -> Self {
        mistakes.sort_by_key(|mistake| mistake.span.start);
        let omitted = mistakes.len().saturating_sub(MOST_DIAGNOSTICS);
        mistakes.truncate(MOST_DIAGNOSTICS);
        let diagnostics = mistakes
            .into_iter()
            .map(|mistake| {
                let (line, column) = lines.position(mistake.span.start);
                Diagnostic {
                    message: mistake.message,
                    label: mistake.label,
                    span: mistake.span,
                    line,
                    column,
                    notes: mistake.notes,
                }
            })
            .collect();
        ParseError {
            text: text.into(),
            diagnostics,
            omitted,
        }
    }

    /// The mistakes in the order of the text; at least one.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The mistakes with the lines they are in, as a compiler shows them. `file` is the name to show for the text;
    /// `color` adds ANSI codes.
    pub fn render(&self, file: Option<&str>, color: bool) -> String {
        let mut shown: Vec<String> = self
            .diagnostics
            .iter()
            .map(|diagnostic| render(&self.text, diagnostic, file, color))
            .collect();
        if self.omitted > 0 {
            shown.push(format!(
                "error: {} more mistakes are not shown",
                self.omitted
            ));
        }
        shown.join("\n\n")
    }
}

fn render(text: &str, diagnostic: &Diagnostic, file: Option<&str>, color: bool) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    // Only the line, and of a long line only the part around the mistake: what is rendered stays small.
    let line_start = text[..diagnostic.span.start]
        .rfind('\n')
        .map_or(0, |newline| newline + 1);
    let line_end = text[diagnostic.span.start..]
        .find('\n')
        .map_or(text.len(), |newline| diagnostic.span.start + newline);
    let start = floor(
        text,
        line_start.max(diagnostic.span.start.saturating_sub(SHOWN)),
    );
    let end = floor(
        text,
        line_end.min(diagnostic.span.start.saturating_add(SHOWN)),
    );
    let mut shown = text[start..end].to_owned();
    let span_start = diagnostic.span.start - start;
    let mut span_end = diagnostic.span.end.clamp(diagnostic.span.start, end) - start;
    if span_end == span_start {
        // A mistake at the end of a line points behind it.
        shown.push(' ');
        span_end += shown[span_start..].chars().next().map_or(0, char::len_utf8);
    }
    let mut snippet = Snippet::source(shown.as_str())
        .line_start(diagnostic.line as usize)
        .annotation(
            AnnotationKind::Primary
                .span(span_start..span_end)
                .label((!diagnostic.label.is_empty()).then_some(diagnostic.label.as_str())),
        );
    if let Some(file) = file {
        snippet = snippet.path(file);
    }
    let mut group = Level::ERROR
        .primary_title(diagnostic.message.as_str())
        .element(snippet);
    for note in &diagnostic.notes {
        group = group.element(Level::HELP.message(note.as_str()));
    }
    renderer.render(&[group])
}

/// The nearest character boundary that is not above `offset`.
fn floor(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len()))
        .rev()
        .find(|&offset| text.is_char_boundary(offset))
        .unwrap_or(0)
}

/// Every mistake with its line, as a compiler shows them.
impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(None, false))
    }
}

impl std::error::Error for ParseError {}

/// The first mistake, with its place; the others become notes.
impl From<ParseError> for Error {
    fn from(error: ParseError) -> Self {
        let mut diagnostics = error.diagnostics.iter();
        let Some(first) = diagnostics.next() else {
            return Error::new(ErrorKind::Internal, "a text was refused without a reason");
        };
        let message = if first.label.is_empty() {
            first.message.clone()
        } else {
            format!("{}: {}", first.message, first.label)
        };
        let source = Source::Text {
            line: first.line,
            column: first.column,
        };
        let mut result = Error::new(ErrorKind::Syntax, message).at(source);
        for note in &first.notes {
            result = result.note(note.clone());
        }
        for next in diagnostics {
            result = result.note(format!("{}:{}: {}", next.line, next.column, next.message));
        }
        result
    }
}

/// Where lines start.
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    ascii: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        Lines {
            text,
            starts: std::iter::once(0)
                .chain(newlines.map(|(offset, _)| offset + 1))
                .collect(),
            ascii: text.is_ascii(),
        }
    }

    /// Start of the line that `offset` is in.
    pub(super) fn start(&self, offset: usize) -> usize {
        self.starts[self.line(offset)]
    }

    fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset) - 1
    }

    /// Line and column of `offset`, from one. Columns of a long line outside ASCII count bytes.
    pub(super) fn position(&self, offset: usize) -> (u32, u32) {
        let line = self.line(offset);
        let start = self.starts[line];
        let bytes = offset - start;
        // Counting characters of a huge line again for each of its equations would take quadratic time.
        let column = if self.ascii || bytes > 10_000 {
            bytes
        } else {
            self.text
                .get(start..offset)
                .map_or(bytes, |before| before.chars().count())
        };
        (saturate(line + 1), saturate(column + 1))
    }
}

fn saturate(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
