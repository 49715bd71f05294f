//! Why a command ends without success, and how that is said.

use std::fmt::{self, Display};
use std::io::IsTerminal;
use std::process::ExitCode;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use jaxide_core::jaxpr::Note;
use jaxide_core::{Error, ErrorKind, ParseError, Source};

use crate::interrupt::OUT_OF_TIME;
use crate::output::complain;

/// Why a command ends without success.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line makes no sense: all that is said about it.
    Usage(String),
    /// A text has mistakes.
    Parse {
        /// Its file.
        file: String,
        /// The mistakes.
        error: ParseError,
    },
    /// Something else went wrong, in a program of this file and text if it is about one.
    Error {
        /// The error.
        error: Error,
        /// File and text.
        program: Option<(String, String)>,
    },
    /// What failed has been said already.
    Reported,
}

impl Failure {
    /// A wrong command line, with a message that looks like those of `clap`.
    pub(crate) fn usage(message: impl Display) -> Self {
        Failure::Usage(format!(
            "error: {message}\n\nFor more information, try '--help'."
        ))
    }

    /// Prints to standard error what went wrong.
    pub(crate) fn report(&self) {
        let color = in_color();
        let text = match self {
            Failure::Usage(text) => text.clone(),
            Failure::Parse { file, error } => error.render(Some(file), color),
            Failure::Error { error, program } => {
                let title = match error.operation() {
                    Some(operation) => format!("{operation}: {}", error.message()),
                    None => error.message().to_owned(),
                };
                let title = match error.path() {
                    Some(path) => format!("{title} (at {path})"),
                    None => title,
                };
                let place = (error.place(), program.as_ref());
                render(&Level::ERROR, &title, place, error.notes(), color)
            }
            Failure::Reported => return,
        };
        complain(text);
    }

    /// The exit status.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Usage(_) => ExitCode::from(2),
            Failure::Error { error, .. } if error.kind() == ErrorKind::Cancelled => {
                ExitCode::from(OUT_OF_TIME)
            }
            Failure::Parse { .. } | Failure::Error { .. } | Failure::Reported => ExitCode::FAILURE,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error {
            error,
            program: None,
        }
    }
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Self {
        let text = error.render().to_string();
        Failure::Usage(text.trim_end().to_owned())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(message) => f.write_str(message),
            Failure::Parse { error, .. } => write!(f, "{error}"),
            Failure::Error { error, .. } => write!(f, "{error}"),
            Failure::Reported => Ok(()),
        }
    }
}

/// Prints to standard error what is worth knowing of a program that is no mistake.
pub(crate) fn report_note(note: &Note, program: &(String, String)) {
    let place = (note.source, Some(program));
    let text = render(
        &Level::NOTE,
        &note.message,
        place,
        note.help.as_slice(),
        in_color(),
    );
    complain(text);
}

fn in_color() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// A message with the line it belongs to, of a program with its file and text, as a compiler shows it.
fn render(
    level: &Level<'_>,
    title: &str,
    (source, program): (Source, Option<&(String, String)>),
    notes: &[String],
    color: bool,
) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let mut group = level
        .clone()
        .primary_title(title)
        .elements(Vec::<annotate_snippets::Element<'_>>::new());
    if let (Source::Text { line, column }, Some((file, text))) = (source, program)
        && let Some(shown) = text.lines().nth(line as usize - 1)
    {
        let start = shown
            .char_indices()
            .nth(column as usize - 1)
            .map_or(shown.len(), |(at, _)| at);
        group = group.element(
            Snippet::source(shown)
                .line_start(line as usize)
                .path(file.as_str())
                .annotation(AnnotationKind::Primary.span(start..shown.len())),
        );
    }
    for note in notes {
        group = group.element(Level::HELP.message(note.as_str()));
    }
    renderer.render(&[group])
}
