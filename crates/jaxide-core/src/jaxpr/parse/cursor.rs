//! A place in the text, and the words and blanks there.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::diagnostic::{Lines, MOST_DIAGNOSTICS, Mistake};
use super::syntax::{ValueNode, Word};
use crate::jaxpr::Aval;
use crate::prims::PyValue;

/// How deep jaxprs may be nested, directly and through definitions. Everything that walks a jaxpr recurses into its
/// sub-jaxprs, so that hostile text could otherwise overflow the stack, at the latest when it is dropped.
pub(super) const DEEPEST_JAXPR: usize = 64;

/// How deep tuples and calls in parameters may be nested.
pub(super) const DEEPEST_VALUE: usize = 128;

/// How deep programs inside `repr`s may be nested: each is printed twice by the rules of hoisting, so that the size of
/// the text doubles with every level.
pub(super) const DEEPEST_REPR: usize = 6;

/// A mistake that what is being read cannot go on from.
pub(super) type Parsed<T> = Result<T, Mistake>;

/// Reads the text from front to back.
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(super) offset: usize,
    pub(super) lines: Lines<'a>,
    pub(super) mistakes: Vec<Mistake>,
    pub(super) jaxpr_depth: usize,
    pub(super) repr_depth: usize,
    /// The types that were read, one object each.
    avals: HashSet<Arc<Aval>>,
    /// The values of parameters that were read, one object each.
    values: HashSet<Arc<PyValue>>,
    /// From here on no tuple is closed.
    pub(super) endless: usize,
    /// Where no tuple of jaxprs was found, by place and depths: where the value around it was cut short, it is met again there.
    pub(super) no_tuples: HashMap<[usize; 3], NoTuple>,
}

/// What stands in the place of a tuple of jaxprs: some text, or a mistake after which reading goes on from another place.
pub(super) type NoTuple = Option<(Mistake, usize)>;

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Cursor {
            text,
            offset: 0,
            lines: Lines::of(text),
            mistakes: Vec::new(),
            jaxpr_depth: 0,
            repr_depth: 0,
            avals: HashSet::new(),
            values: HashSet::new(),
            endless: usize::MAX,
            no_tuples: HashMap::new(),
        }
    }

    /// What has not been read.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.offset..).unwrap_or("")
    }

    /// The next byte.
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.offset).copied()
    }

    pub(super) fn at(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// Skips `text` if it is next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.offset += text.len();
        }
        found
    }

    /// Skips blanks, line breaks and comments (`#` to the end of the line).
    pub(super) fn skip_blanks(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.offset += 1,
                b'#' => {
                    let line = self.rest();
                    self.offset += line.find('\n').unwrap_or(line.len());
                }
                _ => break,
            }
        }
    }

    /// Columns before `offset` in its line, in bytes.
    pub(super) fn column(&self, offset: usize) -> usize {
        offset - self.lines.start(offset)
    }

    /// The word at the cursor, made of bytes that `belongs` accepts; not skipped.
    pub(super) fn word_here(&self, belongs: impl Fn(u8) -> bool) -> Word<'a> {
        let rest = self.rest();
        let length = rest.bytes().take_while(|&byte| belongs(byte)).count();
        Word {
            text: rest.get(..length).unwrap_or(""),
            start: self.offset,
        }
    }

    /// Reads the word at the cursor.
    pub(super) fn word(&mut self, belongs: impl Fn(u8) -> bool) -> Word<'a> {
        let word = self.word_here(belongs);
        self.offset += word.text.len();
        word
    }

    /// Reads `text`, which must be next.
    pub(super) fn expect(&mut self, text: &str, context: &str) -> Parsed<()> {
        if self.eat(text) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{text}` {context}")))
    }

    /// That something else than `wanted` stands here.
    pub(super) fn unexpected(&self, wanted: &str) -> Mistake {
        let rest = self.rest();
        let length = rest
            .find(|c: char| c.is_whitespace() || ";)]}".contains(c))
            .unwrap_or(rest.len())
            .min(40);
        let length = (0..=length)
            .rev()
            .find(|&n| rest.is_char_boundary(n))
            .unwrap_or(0);
        let length = length.max(rest.chars().next().map_or(0, char::len_utf8));
        let message = match rest.get(..length) {
            None | Some("") => format!("expected {wanted}, and the text ends"),
            Some(found) => format!("expected {wanted}, found `{}`", found.escape_debug()),
        };
        Mistake::new(self.offset..self.offset + length, message).label(format!("expected {wanted}"))
    }

    /// The value of a parameter, the same object as others that are equal.
    pub(super) fn shared_value(&mut self, value: PyValue) -> ValueNode<'a> {
        if let Some(known) = self.values.get(&value) {
            return ValueNode::Py(known.clone());
        }
        let value = Arc::new(value);
        self.values.insert(value.clone());
        ValueNode::Py(value)
    }

    /// The type of a variable, the same object as others that are equal.
    pub(super) fn shared_type(&mut self, aval: Aval) -> Arc<Aval> {
        if let Some(known) = self.avals.get(&aval) {
            return known.clone();
        }
        let aval = Arc::new(aval);
        self.avals.insert(aval.clone());
        aval
    }

    /// Keeps a mistake and goes on.
    pub(super) fn report(&mut self, mistake: Mistake) {
        self.mistakes.push(mistake);
    }

    /// Whether so many mistakes were found that reading on tells nothing.
    pub(super) fn is_hopeless(&self) -> bool {
        self.mistakes.len() > MOST_DIAGNOSTICS
    }
}

/// Letters of variables, keys and types.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Letters of primitives: `scatter-add`, `Nonzero.linearized`.
pub(super) fn is_primitive(byte: u8) -> bool {
    is_word(byte) || byte == b'-' || byte == b'.'
}
