//! What a jaxpr holds that has no meaning here, so that a misspelt word is noticed.

use std::collections::HashSet;
use std::fmt;

use super::{Aval, AvalKind, CAPTURES, ClosedJaxpr, Jaxpr};
use crate::dtype::DType;
use crate::error::Source;
use crate::jaxpr::parse::spelling::nearest;
use crate::prims::{Foreign, Prim};

/// A word that is kept as text, and where it stands first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What is kept.
    pub message: String,
    /// What may have been meant.
    pub help: Option<String>,
    /// The first equation that has it.
    pub source: Source,
}

/// The message, the place and the advice, as an [`Error`](crate::Error) shows them.
impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.source != Source::Unknown {
            write!(f, "\n  --> {}", self.source)?;
        }
        match &self.help {
            Some(help) => write!(f, "\n  = {help}"),
            None => Ok(()),
        }
    }
}

/// The primitives and element types of a jaxpr, sub-jaxprs included, that are not JAX's own: each once; and whether
/// definitions use variables around them.
///
/// ```
/// use jaxide_core::{jaxpr::notes, parse};
/// let jaxpr = parse("{ lambda ; a:f32[8]. let b:f32[8] = sni a in (b,) }")?;
/// assert_eq!(notes(&jaxpr)[0].help.as_deref(), Some("did you mean `sin`?"));
/// # Ok::<(), jaxide_core::ParseError>(())
/// ```
pub fn notes(closed: &ClosedJaxpr) -> Vec<Note> {
    let mut finder = Finder::default();
    finder.jaxpr(&closed.jaxpr);
    finder.notes
}

#[derive(Default)]
struct Finder {
    notes: Vec<Note>,
    seen: HashSet<String>,
    visited: HashSet<*const Jaxpr>,
}

impl Finder {
    fn jaxpr(&mut self, jaxpr: &Jaxpr) {
        if !self.visited.insert(&raw const *jaxpr) {
            return;
        }
        let captures = jaxpr.constvars.iter().any(|&var| jaxpr.is_captured(var));
        if captures && self.seen.insert("let".to_owned()) {
            self.notes.push(Note {
                message: CAPTURES.to_owned(),
                help: None,
                source: Source::Unknown,
            });
        }
        for &var in jaxpr.constvars.iter().chain(&jaxpr.invars) {
            self.aval(jaxpr.aval_of(var), Source::Unknown);
        }
        for eqn in &jaxpr.eqns {
            if let Prim::Foreign(foreign) = &eqn.prim {
                self.primitive(foreign, eqn.source);
            }
            for &var in &eqn.outputs {
                self.aval(jaxpr.aval_of(var), eqn.source);
            }
            eqn.prim.visit(&mut |sub| self.jaxpr(&sub.jaxpr));
        }
    }

    fn primitive(&mut self, foreign: &Foreign, source: Source) {
        if !foreign.is_known() && self.seen.insert(foreign.name.clone()) {
            self.notes.push(Note {
                message: format!(
                    "`{}` is no primitive that is known here: it is kept as text, and cannot be run or transformed",
                    foreign.name
                ),
                help: foreign.meant().map(|near| format!("did you mean `{near}`?")),
                source,
            });
        }
    }

    fn aval(&mut self, aval: &Aval, source: Source) {
        let AvalKind::Opaque { name, .. } = &aval.kind else {
            return;
        };
        if self.seen.insert(format!(":{name}")) {
            let known = DType::ALL.iter().map(|dtype| dtype.short_name());
            let numpy = DType::from_numpy_name(name).map(DType::short_name);
            let near = numpy.or_else(|| nearest(name, known));
            self.notes.push(Note {
                message: format!(
                    "`{name}` is no element type that is known here: it is kept as text, and its values cannot be computed with"
                ),
                help: near.map(|near| format!("did you mean `{near}`?")),
                source,
            });
        }
    }
}
