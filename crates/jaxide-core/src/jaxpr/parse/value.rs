//! Values of parameters: jaxprs, Python values, and text that is kept as it is.

use super::cursor::{Cursor, DEEPEST_REPR, DEEPEST_VALUE, Parsed, is_word};
use super::diagnostic::Mistake;
use super::legacy;
use super::syntax::{JaxprRef, ParamNode, ProgramsNode, ValueNode, Word};
use super::types::scalar;
use crate::dtype::DType;
use crate::jaxpr::accident::{plain_functions, plain_integers};
use crate::prims::{PrimInfo, PyValue};

impl<'a> Cursor<'a> {
    /// `[key=value key=value]` of the primitive `prim`.
    pub(super) fn params(&mut self, prim: Word<'a>) -> Parsed<Vec<ParamNode<'a>>> {
        self.expect("[", "before parameters")?;
        let info = legacy::info(prim.text);
        let layout = self.layout();
        let mut params = Vec::new();
        loop {
            self.skip_blanks();
            if self.eat("]") {
                params.shrink_to_fit();
                return Ok(params);
            }
            let key = self.word(is_word);
            if key.text.is_empty() || self.peek() != Some(b'=') {
                self.offset = key.start;
                return Err(self
                    .unexpected("a parameter `name=value`, or `]`")
                    .note(format!(
                        "the parameters of `{}` start here: {}",
                        prim.text,
                        self.place(prim.start)
                    )));
            }
            self.offset += 1;
            let start = self.offset;
            let value = match info {
                Some(info) => self.value(info, key.text)?,
                None => self.foreign_value(layout)?,
            };
            params.push(ParamNode {
                key,
                text: Word {
                    text: &self.text[start..self.offset],
                    start,
                },
                value,
            });
        }
    }

    /// Line and column for a note.
    fn place(&self, offset: usize) -> String {
        let (line, column) = self.lines.position(offset);
        format!("{line}:{column}")
    }

    fn value(&mut self, info: &PrimInfo, key: &str) -> Parsed<ValueNode<'a>> {
        let key = legacy::current_key(info, key);
        let param = info.params.iter().find(|param| param.name == key);
        let kind = param.map_or("", |param| param.kind);
        let is_string = kind == "name" || kind == "rule name";
        if !is_string {
            if self.at_jaxpr() {
                return Ok(ValueNode::Jaxpr(Box::new(self.jaxpr()?)));
            }
            if let Some(length) = self.empty_tuple() {
                self.offset += length;
                return Ok(self.shared_value(PyValue::Tuple(Vec::new())));
            }
            if self.peek() == Some(b'(') && self.at_jaxpr_tuple() {
                return Ok(ValueNode::Jaxprs(self.jaxpr_tuple()?));
            }
            if let Some(name) = self.at_programs() {
                return self.programs(name);
            }
        }
        let start = self.offset;
        if !is_string && !kind.is_empty() && kind != "opaque" {
            let mut reader = Python::new(self.rest());
            let value = reader.value();
            let after = reader.peek();
            if let Some(value) = value
                && after.is_none_or(|byte| byte == b']' || byte.is_ascii_whitespace())
            {
                self.offset += reader.offset;
                return Ok(self.shared_value(value));
            }
        }
        let end = self.raw_end(is_string.then_some(info));
        let raw = &self.text[start..end];
        self.offset = end;
        Ok(self.shared_value(if is_string {
            PyValue::Str(plain_functions(raw))
        } else {
            python_value(raw, kind)
        }))
    }

    /// `{ lambda`
    pub(super) fn at_jaxpr(&self) -> bool {
        self.peek() == Some(b'{') && self.rest()[1..].trim_start().starts_with("lambda")
    }

    /// The length of an empty tuple, which may be broken.
    pub(super) fn empty_tuple(&self) -> Option<usize> {
        let rest = self.rest();
        let after = rest.strip_prefix('(')?.trim_start().strip_prefix(')')?;
        Some(rest.len() - after.len())
    }

    /// A tuple of jaxprs and names without commas: `({ lambda ... } f)`.
    fn at_jaxpr_tuple(&self) -> bool {
        let inside = self.rest()[1..].trim_start();
        if let Some(jaxpr) = inside.strip_prefix('{') {
            return jaxpr.trim_start().starts_with("lambda");
        }
        let name = inside.bytes().take_while(|&byte| is_name(byte)).count();
        // In a Python tuple a comma follows the first item, even when it is the only one.
        let after = inside[name..].trim_start();
        inside.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && after
                .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '{' || c == ')')
    }

    fn jaxpr_tuple(&mut self) -> Parsed<Vec<JaxprRef<'a>>> {
        self.expect("(", "before branches")?;
        let mut jaxprs = Vec::new();
        loop {
            self.skip_blanks();
            if self.eat(")") {
                return Ok(jaxprs);
            }
            if self.at_jaxpr() {
                jaxprs.push(JaxprRef::Inline(self.jaxpr()?));
                continue;
            }
            let name = self.word(is_name);
            if name.text.is_empty() {
                return Err(self.unexpected("a jaxpr `{ lambda ... }`, the name of one, or `)`"));
            }
            jaxprs.push(JaxprRef::Name(name));
        }
    }

    /// The type's name, when a named tuple of programs stands here: `Name(field={ lambda ...`.
    fn at_programs(&self) -> Option<Word<'a>> {
        let name = self.word_here(is_word);
        let inside = self.rest()[name.text.len()..].strip_prefix('(')?;
        let (key, value) =
            inside.split_at_checked(inside.bytes().take_while(|&byte| is_word(byte)).count())?;
        let value = value.strip_prefix('=')?;
        let starts_jaxpr = value
            .strip_prefix('{')
            .is_some_and(|body| body.trim_start().starts_with("lambda"));
        (!name.text.is_empty() && !key.is_empty() && (starts_jaxpr || value.starts_with("let ")))
            .then_some(name)
    }

    /// `Name(field={ lambda ... }, field=None)`; each jaxpr is a program with its own names and definitions.
    fn programs(&mut self, name: Word<'a>) -> Parsed<ValueNode<'a>> {
        if self.repr_depth == DEEPEST_REPR {
            return Err(Mistake::new(
                name.span(),
                format!("`{}` is nested more than {DEEPEST_REPR} deep", name.text),
            ));
        }
        self.repr_depth += 1;
        self.offset += name.text.len();
        self.expect("(", "after the name")?;
        let mut fields = Vec::new();
        loop {
            self.skip_blanks();
            let key = self.word(is_word);
            self.expect("=", "after the name of a field")?;
            let program = if self.eat("None") {
                None
            } else {
                Some(self.program()?)
            };
            fields.push((key.text, program));
            self.skip_blanks();
            if self.eat(")") {
                break;
            }
            self.expect(",", "or `)` after a field")?;
        }
        self.repr_depth -= 1;
        let name = name.text;
        Ok(ValueNode::Programs(Box::new(ProgramsNode { name, fields })))
    }

    /// Where a value that nothing delimits ends: at the `]` that closes the parameters, or before ` KEY=`.
    ///
    /// A string may hold anything; there, KEY has to be a parameter of its primitive, `string_of`.
    fn raw_end(&self, string_of: Option<&PrimInfo>) -> usize {
        let bytes = self.text.as_bytes();
        let mut depth = 0usize;
        // From here on quotes are just characters: one was found that nothing closes.
        let mut quotes_end = usize::MAX;
        let mut at = self.offset;
        while at < bytes.len() {
            match bytes[at] {
                b'(' | b'[' | b'{' => depth += 1,
                b']' if depth == 0 => return at,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                quote @ (b'\'' | b'"') if depth > 0 && at < quotes_end => {
                    match string_length(&bytes[at..], quote) {
                        Some(length) => {
                            at += length;
                            continue;
                        }
                        None => quotes_end = at,
                    }
                }
                b' ' | b'\n' if depth == 0 => {
                    let blanks = bytes[at..]
                        .iter()
                        .take_while(|byte| byte.is_ascii_whitespace())
                        .count();
                    let word = &bytes[at + blanks..];
                    let length = word.iter().take_while(|&&byte| is_word(byte)).count();
                    let next = &self.text[at + blanks..at + blanks + length];
                    let ends = word.get(length) == Some(&b'=')
                        && length > 0
                        && string_of.is_none_or(|info| legacy::is_key(info, next));
                    if ends || word.first() == Some(&b']') {
                        return at;
                    }
                    at += blanks + length;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        at
    }
}

/// What the names of definitions are made of: all that does not end them.
pub(super) fn is_name(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !byte.is_ascii_control() && !b"()[]{};,='\"#".contains(&byte)
}

/// Length of the quoted string at the start, quotes included, when it ends on its line.
pub(super) fn string_length(bytes: &[u8], quote: u8) -> Option<usize> {
    let mut at = 1;
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            b'\n' => return None,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// The value that `raw` spells. What has no meaning here (`kind` is "opaque") is kept as it is, unless it can be written
/// back the same.
fn python_value(raw: &str, kind: &str) -> PyValue {
    let mut reader = Python::new(raw);
    let value = reader.value().filter(|_| reader.offset == raw.len());
    match value {
        Some(value) if kind != "opaque" => value,
        value => {
            let text = plain_functions(&plain_integers(raw));
            value
                .filter(|value| value.to_string() == text)
                .unwrap_or(PyValue::Opaque(text))
        }
    }
}

/// Reads Python values as `str` and `repr` write them.
struct Python<'t> {
    text: &'t str,
    offset: usize,
    depth: usize,
}

impl<'t> Python<'t> {
    fn new(text: &'t str) -> Self {
        Python {
            text,
            offset: 0,
            depth: 0,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.offset).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.offset += usize::from(found);
        found
    }

    /// The value at the offset; `None` when it has no meaning here.
    fn value(&mut self) -> Option<PyValue> {
        if self.depth == DEEPEST_VALUE {
            return None;
        }
        self.depth += 1;
        let value = match self.peek()? {
            b'(' => match self.complex() {
                Some(value) => value,
                None => PyValue::Tuple(self.items(b')')?),
            },
            b'[' => PyValue::List(self.items(b']')?),
            b'\'' | b'"' => PyValue::Str(self.string()?),
            b'*' => {
                self.offset += 1;
                PyValue::Word("*".to_owned())
            }
            b'-' | b'0'..=b'9' => self.number()?,
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => self.word()?,
            _ => return None,
        };
        self.depth -= 1;
        Some(value)
    }

    /// Values between brackets, separated by commas; a comma may end them.
    fn items(&mut self, close: u8) -> Option<Vec<PyValue>> {
        self.offset += 1;
        let mut items = Vec::new();
        loop {
            if !self.eat(close) {
                items.push(self.value()?);
                if self.eat(b',') {
                    self.eat(b' ');
                    continue;
                }
                if !self.eat(close) {
                    return None;
                }
            }
            // The values of a long program are kept until all of it is read.
            items.shrink_to_fit();
            return Some(items);
        }
    }

    fn complex(&mut self) -> Option<PyValue> {
        let rest = &self.text[self.offset..];
        let end = rest
            .bytes()
            .position(|byte| matches!(byte, b',' | b')' | b' '))?;
        let value = scalar(rest.get(..=end)?)?;
        self.offset += end + 1;
        Some(PyValue::Scalar(value))
    }

    fn number(&mut self) -> Option<PyValue> {
        let rest = &self.text[self.offset..];
        let end = rest
            .bytes()
            .position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-')))
            .unwrap_or(rest.len());
        let value = scalar(&rest[..end])?;
        self.offset += end;
        Some(PyValue::Scalar(value))
    }

    fn string(&mut self) -> Option<String> {
        let bytes = &self.text.as_bytes()[self.offset..];
        let length = string_length(bytes, *bytes.first()?)?;
        let inside = self.text.get(self.offset + 1..self.offset + length - 1)?;
        self.offset += length;
        let mut text = String::with_capacity(inside.len());
        let mut chars = inside.chars();
        while let Some(c) = chars.next() {
            text.push(match c {
                '\\' => match chars.next()? {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    escaped @ ('\\' | '\'' | '"') => escaped,
                    _ => return None,
                },
                other => other,
            });
        }
        Some(text)
    }

    /// A name, a call of one, or a number by name.
    fn word(&mut self) -> Option<PyValue> {
        let rest = &self.text[self.offset..];
        let end = rest
            .bytes()
            .position(|byte| !(is_word(byte) || byte == b'.'))
            .unwrap_or(rest.len());
        let word = &rest[..end];
        self.offset += end;
        if self.peek() == Some(b'(') {
            return self.call(word);
        }
        Some(match word {
            "None" => PyValue::None,
            word => match scalar(word) {
                Some(value) => PyValue::Scalar(value),
                None => PyValue::Word(word.to_owned()),
            },
        })
    }

    fn call(&mut self, name: &str) -> Option<PyValue> {
        self.offset += 1;
        let (mut args, mut fields) = (Vec::new(), Vec::new());
        loop {
            if self.eat(b')') {
                break;
            }
            let rest = &self.text[self.offset..];
            let key = &rest[..rest.bytes().take_while(|&byte| is_word(byte)).count()];
            if !key.is_empty() && rest[key.len()..].starts_with('=') {
                self.offset += key.len() + 1;
                fields.push((key.to_owned(), self.value()?));
            } else {
                args.push(self.value()?);
            }
            if !self.eat(b',') {
                if !self.eat(b')') {
                    return None;
                }
                break;
            }
            self.eat(b' ');
        }
        Some(match (name, args.as_slice(), fields.is_empty()) {
            // A number of NumPy's means the number.
            (_, [PyValue::Scalar(value)], true) if name.starts_with("np.") => {
                PyValue::Scalar(*value)
            }
            ("dtype", [PyValue::Str(text)], true) if DType::from_numpy_name(text).is_some() => {
                PyValue::DType(DType::from_numpy_name(text)?)
            }
            _ => PyValue::call(name, args, fields),
        })
    }
}
