//! Types of variables, and literals.

use std::sync::Arc;

use super::cursor::{Cursor, Parsed, is_word};
use super::diagnostic::Mistake;
use super::spelling::nearest;
use super::syntax::Span;
use crate::aval::element_count;
use crate::dtype::DType;
use crate::jaxpr::{Annotations, Aval, AvalKind, FLOAT0, Literal, Scalar, Shape};

impl<'a> Cursor<'a> {
    /// `f32[2,3]`, `Ref{f32[]}`, `Tok`, `key<fry>[]`, `f32<host>[8@x]{V:x}`
    pub(super) fn aval(&mut self) -> Parsed<Aval> {
        if self.word_here(is_word).text == "Tok" {
            self.offset += "Tok".len();
            return Ok(Aval::token());
        }
        if !self.at("Ref{") && !self.at("Ref<") {
            return self.array_type();
        }
        let start = self.offset;
        self.offset += "Ref".len();
        let memory = match self.peek() {
            Some(b'<') => Some(self.angle_brackets()?.to_owned()),
            _ => None,
        };
        self.expect("{", "after `Ref`")?;
        let inner = self.array_type()?;
        self.expect("}", "after the type of the reference")?;
        if inner.is_opaque() {
            return Ok(Aval {
                kind: opaque(&self.text[start..self.offset], false),
                ..Aval::scalar(DType::Float0)
            });
        }
        let mut reference = inner.reference();
        if memory.is_some() {
            let mut annotations = reference
                .annotations
                .as_deref()
                .cloned()
                .unwrap_or_default();
            annotations.reference_memory = memory;
            reference.annotations = Some(Arc::new(annotations));
        }
        Ok(reference)
    }

    fn array_type(&mut self) -> Parsed<Aval> {
        let start = self.offset;
        let mut name = self.word(is_word);
        if name.text == "key" && self.peek() == Some(b'<') {
            self.angle_brackets()?;
            name.text = &self.text[start..self.offset];
        }
        if name.text.is_empty() {
            return Err(self.unexpected("a type, such as `f32[3]`"));
        }
        let (dtype, kind) = match DType::from_short_name(name.text) {
            Some(dtype) => (dtype, AvalKind::Array),
            None if self.at_shape() => (DType::Float0, opaque(name.text, true)),
            None => return self.opaque_type(start),
        };
        let mut annotations = Annotations::default();
        if self.peek() == Some(b'<') {
            annotations.memory = Some(self.angle_brackets()?.to_owned());
        }
        let shape_start = self.offset;
        self.expect("[", "after the element type")?;
        let mut shape = Shape::new();
        if !self.eat("]") {
            loop {
                shape.push(self.dim()?);
                if self.peek() == Some(b'@') {
                    annotations.sharding.resize(shape.len() - 1, Vec::new());
                    annotations.sharding.push(self.mesh_axes()?);
                }
                if self.eat("]") {
                    break;
                }
                self.expect(",", "or `]` after the length of an axis")?;
            }
        }
        if let Err(error) = element_count(&shape) {
            return Err(Mistake::new(shape_start..self.offset, error.message()));
        }
        if self.peek() == Some(b'{') {
            let Some(length) = self.rest().find('}') else {
                return Err(self.unexpected("`}` at the end of the type"));
            };
            annotations.varying = Some(self.rest()[1..length].to_owned());
            self.offset += length + 1;
        }
        Ok(Aval {
            dtype,
            shape,
            weak_type: false,
            kind,
            annotations: (annotations != Annotations::default()).then(|| Arc::new(annotations)),
        })
    }

    /// Whether a shape stands here, behind the name of an element type and its memory.
    fn at_shape(&self) -> bool {
        let rest = self.rest();
        let memory = rest.strip_prefix('<').and_then(|memory| {
            let length = memory.bytes().take_while(|&byte| is_word(byte)).count();
            memory[length..].strip_prefix('>')
        });
        let Some(shape) = memory.unwrap_or(rest).strip_prefix('[') else {
            return false;
        };
        let is_dim = |byte: &u8| byte.is_ascii_alphanumeric() || b"_,@()".contains(byte);
        let length = shape.bytes().take_while(is_dim).count();
        let starts_dim = shape.starts_with(|c: char| c.is_ascii_digit() || c == ']');
        starts_dim && shape[length..].starts_with(']')
    }

    /// A type of another form, which starts at `start`: kept as text up to the blank or mark that ends it.
    fn opaque_type(&mut self, start: usize) -> Parsed<Aval> {
        let ends = |byte: Option<&u8>| {
            byte.is_none_or(|byte| byte.is_ascii_whitespace() || b")]}>;,=".contains(byte))
        };
        let bytes = self.text.as_bytes();
        let mut depth = 0usize;
        let mut end = start;
        while let Some(&byte) = bytes.get(end) {
            match byte {
                b'(' | b'[' | b'{' | b'<' => depth += 1,
                b')' | b']' | b'}' | b'>' if depth > 0 => depth -= 1,
                b')' | b']' | b'}' | b'>' | b';' | b',' | b'=' if depth == 0 => break,
                // The point behind the arguments, if nothing of the type follows.
                b'.' if depth == 0 => {
                    let points = bytes[end..].iter().take_while(|&&byte| byte == b'.');
                    let behind = end + points.count();
                    if ends(bytes.get(behind)) {
                        break;
                    }
                    end = behind;
                    continue;
                }
                b'\n' => break,
                byte if depth == 0 && byte.is_ascii_whitespace() => break,
                _ => {}
            }
            end += 1;
        }
        if depth > 0 {
            self.offset = start;
            return Err(self.unexpected("a type whose brackets are closed, such as `f32[3]`"));
        }
        self.offset = end;
        Ok(Aval {
            kind: opaque(&self.text[start..end], false),
            ..Aval::scalar(DType::Float0)
        })
    }

    fn dim(&mut self) -> Parsed<usize> {
        let word = self.word(|byte| byte.is_ascii_digit());
        if word.text.is_empty() {
            return Err(self.unexpected("the length of an axis"));
        }
        word.text
            .parse()
            .map_err(|_| Mistake::new(word.span(), "the length of this axis does not fit 64 bits"))
    }

    /// `@x` or `@(x,y)`
    fn mesh_axes(&mut self) -> Parsed<Vec<String>> {
        self.expect("@", "before a mesh axis")?;
        if !self.eat("(") {
            return Ok(vec![self.word(is_word).text.to_owned()]);
        }
        let mut names = Vec::new();
        loop {
            names.push(self.word(is_word).text.to_owned());
            if self.eat(")") {
                return Ok(names);
            }
            self.expect(",", "or `)` after a mesh axis")?;
        }
    }

    /// What stands between `<` and `>`.
    fn angle_brackets(&mut self) -> Parsed<&'a str> {
        self.expect("<", "here")?;
        let word = self.word(is_word);
        self.expect(">", "after the name")?;
        Ok(word.text)
    }

    /// A scalar with its type: `1.0:f32[]`.
    pub(super) fn literal(&mut self) -> Parsed<Literal> {
        let start = self.offset;
        if self.eat("[...]") {
            return Err(Mistake::new(
                start..self.offset,
                "the values of this array are not part of the text",
            )
            .label("an array that was printed in place")
            .note("pass the array as a constant: `{ lambda a:f32[3]; ...`"));
        }
        let end = self.text.as_bytes()[start..]
            .iter()
            .position(|&byte| byte == b':' || byte.is_ascii_whitespace() || byte == b';')
            .map_or(self.text.len(), |length| start + length);
        let number = &self.text[start..end];
        self.offset = end;
        if self.peek() != Some(b':') {
            return Err(
                Mistake::new(start..end, format!("the literal `{number}` has no type"))
                    .label("a literal is written with its type, such as `1.0:f32[]`"),
            );
        }
        self.offset += 1;
        let type_start = self.offset;
        let aval = self.aval()?;
        if let AvalKind::Opaque { name, .. } = &aval.kind {
            return Err(unknown_dtype(type_start..self.offset, name));
        }
        let value = if aval.dtype == DType::Float0 {
            (number == FLOAT0).then_some(Scalar::Bool(false))
        } else {
            scalar(number)
        };
        let Some(value) = value else {
            return Err(Mistake::new(
                start..end,
                format!("`{number}` is not a number"),
            ));
        };
        if aval.kind != AvalKind::Array || !aval.shape.is_empty() {
            return Err(Mistake::new(
                start..self.offset,
                format!("a literal of type {aval} is not a scalar"),
            ));
        }
        if let Err(error) = value.to_bytes(aval.dtype) {
            return Err(Mistake::new(start..self.offset, error.message()));
        }
        Ok(Literal::new(value, aval.dtype))
    }
}

fn opaque(name: &str, shaped: bool) -> AvalKind {
    AvalKind::Opaque {
        name: name.into(),
        shaped,
    }
}

/// A literal cannot have the element type `name`.
fn unknown_dtype(span: Span, name: &str) -> Mistake {
    let known = DType::ALL.iter().map(|dtype| dtype.short_name());
    let numpy = DType::from_numpy_name(name).map(DType::short_name);
    let mistake = Mistake::new(span, format!("unknown element type `{name}` of a literal"));
    match numpy.or_else(|| nearest(name, known)) {
        Some(near) => mistake.label(format!("did you mean `{near}`?")),
        None => mistake.label("not an element type"),
    }
}

/// A number as Python writes it.
pub(super) fn scalar(text: &str) -> Option<Scalar> {
    match text {
        "True" => return Some(Scalar::Bool(true)),
        "False" => return Some(Scalar::Bool(false)),
        _ => {}
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.is_empty() && digits.len() <= 20 && digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Scalar::from_integer(text.parse().ok()?);
    }
    if let Some(sum) = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix("j)"))
    {
        // The sign between the parts is the last one that does not belong to an exponent.
        let bytes = sum.as_bytes();
        let split = (1..bytes.len())
            .rev()
            .find(|&at| matches!(bytes[at], b'+' | b'-') && bytes[at - 1] != b'e')?;
        let imaginary = sum[split..].strip_prefix('+').unwrap_or(&sum[split..]);
        return Some(Scalar::Complex(float(&sum[..split])?, float(imaginary)?));
    }
    if let Some(imaginary) = text.strip_suffix('j') {
        return Some(Scalar::Complex(0.0, float(imaginary)?));
    }
    float(text).map(Scalar::Float)
}

/// Digits with point or exponent, `inf`, `nan`.
fn float(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = digits.bytes().next()?.is_ascii_digit()
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'+' | b'-'));
    if is_number || digits == "inf" || digits == "nan" {
        text.parse().ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_printed() {
        for text in [
            "0",
            "-7",
            "18446744073709551615",
            "1.0",
            "1e-05",
            "3.4028234663852886e+38",
            "-0.0",
            "inf",
            "-inf",
            "nan",
            "(1+2j)",
            "3j",
            "0j",
            "(nan+nanj)",
            "(-0-1j)",
            "(1e-05-2e+20j)",
            "(-inf+infj)",
            "True",
            "False",
            "infj",
        ] {
            assert_eq!(
                scalar(text).map(|value| value.to_string()).as_deref(),
                Some(text)
            );
        }
        for text in [
            "",
            "-",
            "1_0",
            "infinity",
            "+1",
            "0x3",
            "()",
            "(1)",
            "1.0.0",
            "99999999999999999999",
            "j",
        ] {
            assert_eq!(scalar(text), None, "{text}");
        }
    }
}
