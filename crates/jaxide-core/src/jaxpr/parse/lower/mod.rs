//! From the syntax tree to jaxprs: names get variables, definitions get objects, primitives get their parameters.
//!
//! Inner jaxprs are made before those that use them, in an order found beforehand, so that making one never recurses
//! and deep nesting costs little stack. [`jaxpr`] makes one from its equations, [`params`] reads primitives,
//! [`foreign`] those that are not JAX's own, [`reference`]
//! indexed references; [`shared`] tells which variables are one.

mod foreign;
mod jaxpr;
mod params;
mod reference;
mod shared;
mod words;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub(in crate::jaxpr) use self::jaxpr::unnamed_results;
use self::shared::SharedNames;
use self::words::{TextWords, text_words};
use super::cursor::DEEPEST_JAXPR;
use super::diagnostic::{Lines, MOST_DIAGNOSTICS, Mistake};
use super::identity::{Fingerprints, Known, names_used};
use super::spelling::nearest;
use super::syntax::{Binder, JaxprNode, JaxprRef, Program, RightSide, Span, ValueNode};
use crate::jaxpr::{ClosedJaxpr, Jaxpr};

/// What lowering needs besides the program: where lines are, and where mistakes go.
pub(super) struct Context<'c, 'a> {
    pub(super) lines: &'c Lines<'a>,
    pub(super) mistakes: Vec<Mistake>,
    /// How deep the jaxprs that were made are nested, by identity.
    heights: HashMap<*const Jaxpr, usize>,
    fingerprints: Fingerprints,
    /// Definitions of the programs around the `repr` that is being read.
    outside: Vec<Known>,
}

impl<'c, 'a> Context<'c, 'a> {
    pub(super) fn new(lines: &'c Lines<'a>, mistakes: Vec<Mistake>) -> Self {
        Context {
            lines,
            mistakes,
            heights: HashMap::new(),
            fingerprints: Fingerprints::default(),
            outside: Vec::new(),
        }
    }

    /// A finished jaxpr as an object; `span` is where to complain when it is nested too deep.
    fn close(&mut self, jaxpr: Jaxpr, span: Span) -> Option<ClosedJaxpr> {
        let mut height = 0;
        for eqn in &jaxpr.eqns {
            eqn.prim.visit(&mut |sub| {
                let below = self
                    .heights
                    .get(&Arc::as_ptr(&sub.jaxpr))
                    .copied()
                    .unwrap_or(0);
                height = height.max(below + 1);
            });
        }
        if height > DEEPEST_JAXPR {
            self.too_deep(span);
            return None;
        }
        let closed = ClosedJaxpr::new(jaxpr, Vec::new());
        self.heights.insert(Arc::as_ptr(&closed.jaxpr), height);
        self.fingerprints.forget(&closed.jaxpr);
        if self.outside.iter().any(|known| !known.is_empty()) {
            let fingerprint = self.fingerprints.of(&closed.jaxpr);
            let mut around = self.outside.iter_mut().rev();
            if let Some(same) = around.find_map(|known| known.find(fingerprint, &closed)) {
                return Some(same);
            }
        }
        Some(closed)
    }

    /// The known word that is meant by a misspelt one. Not looked for after many mistakes, which are not shown.
    fn suggest<'k>(&self, word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
        if self.is_hopeless() {
            return None;
        }
        nearest(word, known)
    }

    /// Whether there are more mistakes than are shown.
    fn is_hopeless(&self) -> bool {
        self.mistakes.len() > MOST_DIAGNOSTICS
    }

    fn too_deep(&mut self, span: Span) {
        self.mistakes.push(Mistake::new(
            span,
            format!("jaxprs are nested more than {DEEPEST_JAXPR} deep"),
        ));
    }
}

/// The program's main jaxpr. Definitions become one object each, however often they are used.
///
/// `None` after a mistake, which is then among those of `context`.
pub(super) fn program(context: &mut Context<'_, '_>, program: &Program<'_>) -> Option<ClosedJaxpr> {
    program_at(context, program, 0)
}

fn program_at(
    context: &mut Context<'_, '_>,
    program: &Program<'_>,
    depth: usize,
) -> Option<ClosedJaxpr> {
    let mut names: HashMap<&str, usize> = HashMap::new();
    for (index, definition) in program.definitions.iter().enumerate() {
        let word = definition.name;
        if names.insert(word.text, index).is_some() {
            let message = format!("`{}` is defined twice", word.text);
            context.mistakes.push(Mistake::new(word.span(), message));
        }
    }
    let (shared, used) = if program.definitions.is_empty() {
        Default::default()
    } else {
        (SharedNames::find(program), names_used(program))
    };
    let mut lower = Lower {
        context,
        program,
        text_words: text_words(program, &names),
        names,
        reading: None,
        definitions: program.definitions.iter().map(|_| State::Unread).collect(),
        inner: HashMap::new(),
        known: Known::default(),
        shared,
        used,
        depth,
    };
    // A definition stands before those that it uses, by name or inside a `repr`.
    for definition in program.definitions.iter().rev() {
        lower.definition(definition.name.text, definition.name.span(), depth + 1);
    }
    lower.inner_jaxprs(&program.main, depth);
    let main = lower.jaxpr(&program.main, None, true);
    let start = program.main.span.start;
    context.close(main, start..start + 1)
}

enum State {
    Unread,
    Reading,
    Read(ClosedJaxpr),
    /// A mistake that has been reported.
    Failed,
}

struct Lower<'l, 'c, 'a, 'p> {
    context: &'l mut Context<'c, 'a>,
    program: &'p Program<'p>,
    names: HashMap<&'p str, usize>,
    /// Words that name no definition although there is one.
    text_words: TextWords<'p>,
    definitions: Vec<State>,
    /// The definition that is being read.
    reading: Option<usize>,
    /// Jaxprs written in place, by their nodes; those with mistakes are missing.
    inner: HashMap<*const JaxprNode<'p>, ClosedJaxpr>,
    /// Definitions that have been read, by what they say.
    known: Known,
    /// Variables that stand in several jaxprs.
    shared: SharedNames<'p>,
    /// Names of jaxprs that stand in the program.
    used: HashSet<&'p str>,
    depth: usize,
}

impl<'p> Lower<'_, '_, '_, 'p> {
    fn report(&mut self, mistake: Mistake) {
        self.context.mistakes.push(mistake);
    }

    /// Makes the jaxprs inside `node`, which is `depth` deep: those written in place and those it names.
    fn inner_jaxprs(&mut self, node: &'p JaxprNode<'p>, depth: usize) {
        for eqn in &node.eqns {
            let Some(RightSide::Apply { prim, params, .. }) = &eqn.right else {
                continue;
            };
            for param in params {
                if let Some(name) = param.value.word()
                    && params::is_jaxpr(prim.text, param.key.text)
                    && !self.is_text(name)
                {
                    self.definition(name, param.text.span(), depth + 1);
                }
                match &param.value {
                    ValueNode::Jaxpr(jaxpr) => {
                        self.inner_jaxpr(jaxpr, Some(&eqn.outputs), depth + 1)
                    }
                    ValueNode::Jaxprs(jaxprs) => {
                        for jaxpr in jaxprs {
                            match jaxpr {
                                JaxprRef::Inline(jaxpr) => self.inner_jaxpr(jaxpr, None, depth + 1),
                                JaxprRef::Name(word) if self.is_text(word.text) => {}
                                JaxprRef::Name(word) => {
                                    self.definition(word.text, word.span(), depth + 1)
                                }
                            }
                        }
                    }
                    ValueNode::Py(_) | ValueNode::Text(_) | ValueNode::Programs(_) => {}
                }
            }
        }
    }

    /// Makes a jaxpr that is written in place, after those inside it. Its equation binds `results`.
    fn inner_jaxpr(
        &mut self,
        node: &'p JaxprNode<'p>,
        results: Option<&'p [Binder<'p>]>,
        depth: usize,
    ) {
        let start = node.span.start..node.span.start + 1;
        if depth > DEEPEST_JAXPR {
            self.context.too_deep(start);
            return;
        }
        self.inner_jaxprs(node, depth);
        if let Some(closed) = self.finished(node, results, start) {
            self.inner.insert(node, closed);
        }
    }

    /// Whether a word in what is being read is text even though a definition has the same name.
    fn is_text(&self, word: &str) -> bool {
        self.reading
            .is_some_and(|reading| self.text_words.contains(&(reading, word)))
    }

    /// Makes the definition `name` unless it is made already.
    fn definition(&mut self, name: &str, span: Span, depth: usize) {
        // A name that nothing defines is reported where it is read.
        let Some(&index) = self.names.get(name) else {
            return;
        };
        match self.definitions[index] {
            State::Read(_) | State::Failed => return,
            State::Reading => {
                let message = format!("the definition `{name}` uses itself");
                return self.report(Mistake::new(span, message));
            }
            State::Unread => {}
        }
        if depth > DEEPEST_JAXPR {
            return self.context.too_deep(span);
        }
        self.definitions[index] = State::Reading;
        let user = self.reading.replace(index);
        let before = self.context.mistakes.len();
        let program = self.program;
        let node = &program.definitions[index].jaxpr;
        self.inner_jaxprs(node, depth);
        let closed = self.finished(node, None, span);
        self.reading = user;
        let failed = self.context.mistakes.len() > before;
        self.definitions[index] = match closed {
            Some(closed) if !failed => {
                let fingerprint = self.context.fingerprints.of(&closed.jaxpr);
                let named = self.used.contains(program.definitions[index].name.text);
                self.known.insert(fingerprint, closed.clone(), named);
                State::Read(closed)
            }
            _ => State::Failed,
        };
    }

    /// Makes a jaxpr whose inner ones are made.
    #[inline(never)]
    fn finished(
        &mut self,
        node: &'p JaxprNode<'p>,
        results: Option<&'p [Binder<'p>]>,
        start: Span,
    ) -> Option<ClosedJaxpr> {
        let jaxpr = self.jaxpr(node, results, false);
        self.context.close(jaxpr, start)
    }
}
