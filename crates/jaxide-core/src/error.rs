//! The one error type of the project: what went wrong, in which operation, and where.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use jaxide_tree::{AxesError, StructureError};

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Where an equation or a mistake comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Source {
    /// Not known: the equation was made by a transformation of one without a place.
    #[default]
    Unknown,
    /// The line of Rust that recorded the equation.
    Rust(&'static Location<'static>),
    /// A place in `.jaxpr` text; both numbers count from one.
    Text {
        /// Line in the text.
        line: u32,
        /// Column in the line, in characters.
        column: u32,
    },
    /// A line of Rust, where it is known, inside named scopes.
    Scoped {
        /// The line of Rust that recorded the equation.
        place: Option<&'static Location<'static>>,
        /// The scopes around it.
        scope: Scope,
    },
}

/// Names of nested scopes, `outer/inner`, kept once for the whole process.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scope(&'static str);

impl Scope {
    /// The scope of these names, outermost first, separated by slashes.
    pub fn new(names: &str) -> Self {
        static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = known.get(names).copied().unwrap_or_else(|| {
            let kept: &'static str = String::from(names).leak();
            known.insert(kept);
            kept
        });
        Scope(kept)
    }

    /// A scope inside of this one.
    #[must_use]
    pub fn join(self, inner: Option<Scope>) -> Self {
        match inner {
            Some(inner) => Scope::new(&format!("{}/{}", self.0, inner.0)),
            None => self,
        }
    }

    /// The names, separated by slashes.
    pub fn names(self) -> &'static str {
        self.0
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}

impl Source {
    /// The caller's place in the Rust program.
    #[track_caller]
    pub fn caller() -> Self {
        Source::Rust(Location::caller())
    }

    /// The same place inside a scope; a place in text has none.
    #[must_use]
    pub fn within(self, scope: Scope) -> Self {
        let place = match self {
            Source::Unknown => None,
            Source::Rust(place) => Some(place),
            Source::Scoped { place, .. } => place,
            Source::Text { .. } => return self,
        };
        Source::Scoped { place, scope }
    }

    /// The line of Rust, where it is known.
    pub fn location(self) -> Option<&'static Location<'static>> {
        match self {
            Source::Rust(place) => Some(place),
            Source::Scoped { place, .. } => place,
            Source::Unknown | Source::Text { .. } => None,
        }
    }

    /// The scopes that the equation was recorded in.
    pub fn scope(self) -> Option<Scope> {
        match self {
            Source::Scoped { scope, .. } => Some(scope),
            Source::Unknown | Source::Rust(_) | Source::Text { .. } => None,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Unknown => f.write_str("<unknown>"),
            Source::Rust(place) => write!(f, "{place}"),
            Source::Text { line, column } => write!(f, "{line}:{column}"),
            Source::Scoped { place, scope } => {
                if let Some(place) = place {
                    write!(f, "{place} ")?;
                }
                write!(f, "({})", scope.names())
            }
        }
    }
}

/// What kind of mistake an [`Error`] reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Shapes that do not fit each other or a parameter.
    Shape,
    /// Element types that do not fit.
    DType,
    /// A number of operands, results or arguments that does not fit.
    Arity,
    /// A parameter with a value that makes no sense.
    Parameter,
    /// A tree whose structure does not fit.
    Structure,
    /// A value used outside the trace that made it.
    LeakedTracer,
    /// A concrete value asked of a tracer.
    Concretization,
    /// An array used after a program was given its memory.
    Donated,
    /// A derivative, batching or transposition rule that does not exist, with the reason.
    NoRule,
    /// Malformed `.jaxpr` text.
    Syntax,
    /// An illegal jaxpr (unbound variable, wrong type, ...).
    Invalid,
    /// An array that is too large to hold or to address.
    TooLarge,
    /// A run that was ended from outside, or took longer than it may.
    Cancelled,
    /// Something that exists in JAX and cannot be done here, with the reason.
    Unsupported,
    /// A result that is not a number, where that was asked to be a mistake.
    NotANumber,
    /// A file or archive that cannot be read or written.
    Io,
    /// A broken promise of this library; please report it.
    Internal,
}

/// A mistake, with the operation, the place and the tree path it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Error(Box<Detail>);

#[derive(Clone, Debug, PartialEq)]
struct Detail {
    kind: ErrorKind,
    operation: Option<String>,
    path: Option<String>,
    source: Source,
    message: String,
    notes: Vec<String>,
}

impl Error {
    /// An error of `kind` with a message in plain words.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Detail {
            kind,
            operation: None,
            path: None,
            source: Source::Unknown,
            message: message.into(),
            notes: Vec::new(),
        }))
    }

    /// Shapes that do not fit.
    pub fn shape(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Shape, message)
    }

    /// Element types that do not fit.
    pub fn dtype(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::DType, message)
    }

    /// A parameter that makes no sense.
    pub fn parameter(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Parameter, message)
    }

    /// A rule that does not exist, and why.
    pub fn no_rule(operation: &str, rule: &str, reason: &str) -> Self {
        Self::new(ErrorKind::NoRule, format!("no {rule} rule: {reason}")).in_operation(operation)
    }

    /// Something JAX has and this library cannot do, and why.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// Names the operation, unless one is named already.
    #[must_use]
    pub fn in_operation(mut self, operation: &str) -> Self {
        self.0.operation.get_or_insert_with(|| operation.to_owned());
        self
    }

    /// Names the operation, instead of the one that is named already: a part of what the user called.
    #[must_use]
    pub fn said_by(mut self, operation: &str) -> Self {
        self.0.operation = Some(operation.to_owned());
        self
    }

    /// Names the tree path, unless one is named already; the path of a whole tree, which is empty, names nothing.
    #[must_use]
    pub fn at_path(mut self, path: impl Into<String>) -> Self {
        let path = path.into();
        if self.0.path.is_none() && !path.is_empty() {
            self.0.path = Some(path);
        }
        self
    }

    /// Names the place, unless one is known already.
    #[must_use]
    pub fn at(mut self, source: Source) -> Self {
        if matches!(
            self.0.source,
            Source::Unknown | Source::Scoped { place: None, .. }
        ) && source != Source::Unknown
        {
            self.0.source = source;
        }
        self
    }

    /// Adds a line of advice, printed below the message.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.0.notes.push(note.into());
        self
    }

    /// What kind of mistake this is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message alone, without operation, place or notes.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The operation the mistake was made in.
    pub fn operation(&self) -> Option<&str> {
        self.0.operation.as_deref()
    }

    /// The tree path the mistake belongs to.
    pub fn path(&self) -> Option<&str> {
        self.0.path.as_deref()
    }

    /// Where the mistake was made.
    pub fn place(&self) -> Source {
        self.0.source
    }

    /// Lines of advice.
    pub fn notes(&self) -> &[String] {
        &self.0.notes
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(operation) = &self.0.operation {
            write!(f, "{operation}: ")?;
        }
        f.write_str(&self.0.message)?;
        if let Some(path) = &self.0.path {
            write!(f, " (at {path})")?;
        }
        if self.0.source != Source::Unknown {
            write!(f, "\n  --> {}", self.0.source)?;
        }
        for note in &self.0.notes {
            write!(f, "\n  = {note}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// A mismatch of trees, with the path where they differ.
impl From<StructureError> for Error {
    fn from(error: StructureError) -> Self {
        let path = error.path().to_string();
        Error::new(ErrorKind::Structure, error.to_string()).at_path(path)
    }
}

/// Axes that do not fit the trees they are for.
impl From<AxesError> for Error {
    fn from(error: AxesError) -> Self {
        Error::new(ErrorKind::Structure, error.to_string())
    }
}

/// A file that cannot be read or written.
impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Error::new(ErrorKind::Io, error.to_string())
    }
}
