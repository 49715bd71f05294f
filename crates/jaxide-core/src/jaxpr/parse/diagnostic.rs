//! What is wrong with a text, and where.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::error::{Error, ErrorKind, Source};

/// More mistakes than this are counted and not described.
pub(super) const MOST_DIAGNOSTICS: usize = 20;

/// Bytes of a line that are given to the renderer on each side of a mistake; it shortens them further.
const SHOWN: usize = 2000;

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

impl Diagnostic {
    /// A mistake found later, by the checker or a pass, in a jaxpr that was read from `text`; `None` when it does not
    /// tell where in the text.
    pub fn of_error(error: &Error, text: &str) -> Option<Self> {
        let Source::Text { line, column } = error.place() else {
            return None;
        };
        let (line_index, column_index) = (
            line.checked_sub(1)? as usize,
            column.checked_sub(1)? as usize,
        );
        let before: usize = text
            .split_inclusive('\n')
            .take(line_index)
            .map(str::len)
            .sum();
        let content = text[before..].lines().next().unwrap_or("");
        let start = content
            .char_indices()
            .nth(column_index)
            .map_or(content.len(), |(start, _)| start);
        let message = match error.operation() {
            Some(operation) => format!("{operation}: {}", error.message()),
            None => error.message().to_owned(),
        };
        Some(Diagnostic {
            message,
            label: error
                .path()
                .map_or_else(String::new, |path| format!("at {path}")),
            span: before + start..before + equation_end(content, start),
            line,
            column,
            notes: error.notes().to_vec(),
        })
    }

    /// The mistake with the line of `text` it is in, as a compiler shows it. `file` is the name to show for the text;
    /// `color` adds ANSI codes.
    pub fn render(&self, text: &str, file: Option<&str>, color: bool) -> String {
        render(text, self, file, color)
    }
}

/// Where the equation that starts at `start` of a line ends, on this line.
fn equation_end(line: &str, start: usize) -> usize {
    let rest = line[start..].trim_end();
    let ends = ["; ", " in ("].into_iter().filter_map(|end| rest.find(end));
    start + ends.min().unwrap_or(rest.len())
}

/// A mistake before its line and column are known; small, as most results that can hold one hold none.
#[derive(Clone, Debug)]
pub(super) struct Mistake(Box<Detail>);

#[derive(Clone, Debug)]
struct Detail {
    message: String,
    label: String,
    span: Range<usize>,
    notes: Vec<String>,
}

impl Mistake {
    pub(super) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Mistake(Box::new(Detail {
            message: message.into(),
            label: String::new(),
            span,
            notes: Vec::new(),
        }))
    }

    pub(super) fn label(mut self, label: impl Into<String>) -> Self {
        self.0.label = label.into();
        self
    }

    pub(super) fn note(mut self, note: impl Into<String>) -> Self {
        self.0.notes.push(note.into());
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
    pub(super) fn new(text: &str, mut mistakes: Vec<Mistake>, lines: &Lines<'_>) -> Self {
        mistakes.sort_by_key(|mistake| mistake.0.span.start);
        // What nests can miss the same thing several times at the end of the text.
        mistakes.dedup_by(|a, b| a.0.span == b.0.span && a.0.message == b.0.message);
        let omitted = mistakes.len().saturating_sub(MOST_DIAGNOSTICS);
        mistakes.truncate(MOST_DIAGNOSTICS);
        let diagnostics = mistakes
            .into_iter()
            .map(|Mistake(mistake)| {
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
            .map(|diagnostic| diagnostic.render(&self.text, file, color))
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
    let at = floor(text, diagnostic.span.start);
    let line_start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[at..]
        .find('\n')
        .map_or(text.len(), |newline| at + newline);
    let start = floor(text, line_start.max(at.saturating_sub(SHOWN)));
    let end = floor(text, line_end.min(at.saturating_add(SHOWN)));
    let mut shown = text[start..end].to_owned();
    let span_start = at - start;
    let mut span_end = floor(text, diagnostic.span.end.clamp(at, end)) - start;
    if span_end == span_start {
        // A mistake at the end of a line points behind it.
        shown.push(' ');
        span_end += shown[span_start..].chars().next().map_or(0, char::len_utf8);
    }
    let label = (!diagnostic.label.is_empty()).then_some(diagnostic.label.as_str());
    let annotation = AnnotationKind::Primary
        .span(span_start..span_end)
        .label(label);
    let mut snippet = Snippet::source(shown.as_str())
        .line_start(diagnostic.line as usize)
        .annotation(annotation);
    let mut group = Group::with_title(Level::ERROR.primary_title(diagnostic.message.as_str()));
    match file {
        Some(file) if start == line_start => snippet = snippet.path(file),
        // The renderer does not know how much of the line is left out.
        Some(file) => {
            let place = Origin::path(file).line(diagnostic.line as usize);
            group = group.element(place.char_column(diagnostic.column as usize));
        }
        None => {}
    }
    group = group.element(snippet);
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
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
