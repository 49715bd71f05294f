//! Parameters of primitives that are not JAX's own: jaxprs, and text that is kept as it is.

use super::cursor::{Cursor, DEEPEST_REPR, Parsed, is_word};
use super::syntax::{JaxprRef, Program, ValueNode};
use super::value::{is_name, string_length};
use crate::prims::PyValue;

/// How far behind a place where a value may end a better one is looked for. What is cut too early is printed back the
/// same.
const FAR: usize = 128;

/// How the parameters of an equation are laid out.
#[derive(Clone, Copy, Debug)]
pub(in crate::jaxpr) enum Layout {
    /// All in one line.
    Flat,
    /// Each in a line of its own that starts at this column.
    Lines(usize),
}

/// A tuple among the parameters.
enum Tuple<'a> {
    /// Of jaxprs and names of some.
    Jaxprs(Vec<JaxprRef<'a>>),
    /// Of other things, and these programs among them.
    Other(Vec<Program<'a>>),
}

impl<'a> Cursor<'a> {
    /// The layout of the parameters whose bracket was just read.
    pub(super) fn layout(&mut self) -> Layout {
        let line = self.lines.start(self.offset);
        self.skip_blanks();
        if self.lines.start(self.offset) == line {
            Layout::Flat
        } else {
            Layout::Lines(self.column(self.offset))
        }
    }

    /// The value of a parameter whose meaning is not known.
    pub(super) fn foreign_value(&mut self, layout: Layout) -> Parsed<ValueNode<'a>> {
        if self.at_jaxpr() {
            return Ok(ValueNode::Jaxpr(Box::new(self.jaxpr()?)));
        }
        if let Some(length) = self.empty_tuple() {
            self.offset += length;
            return Ok(ValueNode::Jaxprs(Vec::new()));
        }
        let start = self.offset;
        let programs = match self.tuple_once()? {
            Tuple::Jaxprs(jaxprs) => return Ok(ValueNode::Jaxprs(jaxprs)),
            Tuple::Other(programs) => programs,
        };
        self.offset = start;
        let end = self.without_blanks(self.foreign_end(layout));
        let text = &self.text[start..end];
        self.offset = end;
        Ok(if programs.is_empty() {
            self.shared_value(PyValue::Opaque(text.to_owned()))
        } else {
            ValueNode::Text(programs)
        })
    }

    /// As [`Self::tuple`], without reading again what was no tuple: each of some values inside each other would be read twice as
    /// often as the one around it.
    fn tuple_once(&mut self) -> Parsed<Tuple<'a>> {
        if !self.at("(") {
            return Ok(Tuple::Other(Vec::new()));
        }
        let place = [self.offset, self.jaxpr_depth, self.repr_depth];
        match self.no_tuples.get(&place) {
            Some(None) => return Ok(Tuple::Other(Vec::new())),
            Some(Some((mistake, offset))) => {
                self.offset = *offset;
                return Err(mistake.clone());
            }
            None => {}
        }
        let tuple = self.tuple();
        let nothing = match &tuple {
            Ok(Tuple::Other(programs)) if programs.is_empty() => Some(None),
            Err(mistake) => Some(Some((mistake.clone(), self.offset))),
            Ok(Tuple::Other(_) | Tuple::Jaxprs(_)) => None,
        };
        if let Some(nothing) = nothing {
            self.no_tuples.insert(place, nothing);
        }
        tuple
    }

    /// The jaxprs in the tuple that may stand here. One of nothing else has no commas; one of other things too prints
    /// its items through `repr`.
    fn tuple(&mut self) -> Parsed<Tuple<'a>> {
        if !self.eat("(") {
            return Ok(Tuple::Other(Vec::new()));
        }
        let start = self.offset;
        let mut jaxprs = Vec::new();
        loop {
            self.skip_blanks();
            if self.at_jaxpr() {
                let main = self.jaxpr()?;
                self.skip_blanks();
                if jaxprs.is_empty() && self.eat(",") {
                    let definitions = Vec::new();
                    let mut programs = vec![Program { definitions, main }];
                    self.programs_in_tuple(&mut programs);
                    return Ok(Tuple::Other(programs));
                }
                jaxprs.push(JaxprRef::Inline(main));
                continue;
            }
            if !jaxprs.is_empty() && self.eat(")") {
                return Ok(Tuple::Jaxprs(jaxprs));
            }
            let name = self.word(is_name);
            if name.text.is_empty() {
                let mut programs = Vec::new();
                if !jaxprs
                    .iter()
                    .any(|jaxpr| matches!(jaxpr, JaxprRef::Inline(_)))
                {
                    self.offset = start;
                    self.programs_in_tuple(&mut programs);
                }
                return Ok(Tuple::Other(programs));
            }
            jaxprs.push(JaxprRef::Name(name));
        }
    }

    /// Adds the programs among the items of a tuple from the one on that starts here. JAX hoists them all the same.
    fn programs_in_tuple(&mut self, programs: &mut Vec<Program<'a>>) {
        while self.repr_depth < DEEPEST_REPR && self.offset < self.endless {
            self.skip_blanks();
            if self.at_jaxpr() || self.at("let ") {
                self.repr_depth += 1;
                // A mistake in it is none of the text around it.
                let mistakes = self.mistakes.len();
                let program = self.program();
                self.mistakes.truncate(mistakes);
                self.repr_depth -= 1;
                match program {
                    Ok(program) => programs.push(program),
                    Err(_) => return,
                }
            } else {
                let start = self.offset;
                self.offset = self.item_end();
                if self.offset == self.text.len() {
                    // Brackets that nothing closes: nothing behind is looked at again.
                    self.endless = start;
                    return;
                }
            }
            if !self.eat(",") {
                return;
            }
        }
    }

    /// Where an item of a tuple ends: before the comma or bracket behind it.
    fn item_end(&self) -> usize {
        let bytes = self.text.as_bytes();
        let mut depth = 0usize;
        // From here on quotes are just characters: one was found that nothing closes.
        let mut quotes_end = usize::MAX;
        let mut at = self.offset;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' if depth == 0 => break,
                b')' | b']' | b'}' => depth -= 1,
                b',' if depth == 0 => break,
                b'\'' | b'"' if at < quotes_end => match string_length(&bytes[at..], byte) {
                    Some(length) => {
                        at += length;
                        continue;
                    }
                    None => quotes_end = at,
                },
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// Where a value that may be any text ends: at the `]` that closes the parameters, or before the next `KEY=`.
    ///
    /// Brackets and strings are skipped. Text need not balance them; where they turn out not to, the value ends at the
    /// first place that looks like an end.
    fn foreign_end(&self, layout: Layout) -> usize {
        let bytes = self.text.as_bytes();
        let mut open: Vec<u8> = Vec::new();
        let mut first: Option<usize> = None;
        // From here on quotes are just characters: one was found that nothing closes.
        let mut quotes_end = usize::MAX;
        let mut at = self.offset;
        while at < bytes.len() {
            if let Some(end) = first.filter(|&end| at - end > FAR) {
                return end;
            }
            match bytes[at] {
                b'(' => open.push(b')'),
                b'[' => open.push(b']'),
                b'{' => open.push(b'}'),
                close @ (b')' | b']' | b'}') => match open.pop() {
                    Some(expected) if expected == close => {}
                    None if close == b']' => return self.without_blanks(at),
                    None => {}
                    Some(_) => {
                        if let Some(end) = first.or((close == b']').then_some(at)) {
                            return end;
                        }
                    }
                },
                quote @ (b'\'' | b'"') if !open.is_empty() && at < quotes_end => {
                    match string_length(&bytes[at..], quote) {
                        Some(length) => {
                            at += length;
                            continue;
                        }
                        None => quotes_end = at,
                    }
                }
                b' ' | b'\n' => {
                    let next = at + blanks(&bytes[at..]);
                    if self.ends_value(at, next, layout) {
                        if open.is_empty() {
                            return at;
                        }
                        first.get_or_insert(at);
                    }
                    at = next;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        first.unwrap_or(at)
    }

    /// The end of a value before `end`, without the blanks there.
    fn without_blanks(&self, end: usize) -> usize {
        let value = self.text.as_bytes()[self.offset..end].trim_ascii_end();
        self.offset + value.len()
    }

    /// Whether what stands at `next`, behind the blanks from `at` on, is not part of the value before.
    fn ends_value(&self, at: usize, next: usize, layout: Layout) -> bool {
        let rest = &self.text.as_bytes()[next..];
        let word = rest.iter().take_while(|&&byte| is_word(byte)).count();
        let is_key = word > 0 && rest.get(word) == Some(&b'=');
        let closes = rest.first() == Some(&b']');
        match layout {
            Layout::Flat => is_key || closes,
            Layout::Lines(column) => {
                let starts_line = self.lines.start(next) > at;
                starts_line && (closes || (is_key && self.column(next) == column))
            }
        }
    }
}

/// Whether `text` is read as one value of unknown meaning where the parameters are laid out like this, so that nothing in
/// it looks like the next parameter.
pub(in crate::jaxpr) fn is_one_value(text: &str, layout: Layout) -> bool {
    let closed = match layout {
        Layout::Flat => format!("{text}]"),
        Layout::Lines(_) => format!("{text}\n]"),
    };
    Cursor::new(&closed).foreign_end(layout) == text.len()
}

/// `text` with one more blank before what starts a line at `column` and looks like a parameter there.
pub(in crate::jaxpr) fn shifted(text: &str, column: usize) -> String {
    let looks_like_parameter = |line: &str| {
        let rest = line.trim_ascii_start();
        let word = rest.bytes().take_while(|&byte| is_word(byte)).count();
        line.len() - rest.len() == column && word > 0 && rest[word..].starts_with('=')
    };
    let mut shifted = String::with_capacity(text.len() + 1);
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            shifted.push('\n');
            if looks_like_parameter(line) {
                shifted.push(' ');
            }
        }
        shifted.push_str(line);
    }
    shifted
}

/// The number of blanks at the start.
fn blanks(bytes: &[u8]) -> usize {
    let is_blank = |byte: &&u8| byte.is_ascii_whitespace();
    bytes.iter().take_while(is_blank).count()
}
