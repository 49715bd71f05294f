//! The grammar: programs, jaxprs, equations, operands.

use super::cursor::{Cursor, DEEPEST_JAXPR, Parsed, is_primitive, is_word};
use super::diagnostic::Mistake;
use super::syntax::{
    Binder, Definition, EqnNode, IndexNode, JaxprNode, OperandNode, Program, RefNode, RightSide,
    SwapNode,
};
use super::value::is_name;
use crate::dtype::DType;
use crate::jaxpr::{Literal, Scalar};

impl<'a> Cursor<'a> {
    /// `let NAME = { ... } in` lines, then a jaxpr.
    pub(super) fn program(&mut self) -> Parsed<Program<'a>> {
        let mut definitions = Vec::new();
        loop {
            self.skip_blanks();
            if self.at_jaxpr() {
                break;
            }
            if !self.eat("let ") {
                return Err(
                    self.unexpected("a jaxpr `{ lambda ... }` or a definition `let NAME = ...`")
                );
            }
            self.skip_blanks();
            let name = self.word(is_name);
            if name.text.is_empty() {
                return Err(self.unexpected("the name of a definition"));
            }
            self.skip_blanks();
            self.expect("=", "after the name of a definition")?;
            self.skip_blanks();
            let jaxpr = self.jaxpr()?;
            self.skip_blanks();
            self.expect("in", "after a definition")?;
            definitions.push(Definition { name, jaxpr });
        }
        let main = self.jaxpr()?;
        Ok(Program { definitions, main })
    }

    /// `{ lambda constvars; invars. let eqns in (results) }`
    pub(super) fn jaxpr(&mut self) -> Parsed<JaxprNode<'a>> {
        if self.jaxpr_depth == DEEPEST_JAXPR {
            return Err(Mistake::new(
                self.offset..self.offset + 1,
                format!("jaxprs are nested more than {DEEPEST_JAXPR} deep"),
            ));
        }
        self.jaxpr_depth += 1;
        let jaxpr = self.jaxpr_body();
        self.jaxpr_depth -= 1;
        jaxpr
    }

    fn jaxpr_body(&mut self) -> Parsed<JaxprNode<'a>> {
        let start = self.offset;
        self.expect("{", "before `lambda`")?;
        self.skip_blanks();
        self.expect("lambda", "after `{`")?;
        let constvars = self.binders(|cursor| cursor.peek() == Some(b';'))?;
        self.expect(";", "after the constants of a jaxpr")?;
        let invars = self.binders(|cursor| cursor.peek() == Some(b'.'))?;
        self.expect(".", "after the arguments of a jaxpr")?;
        self.skip_blanks();
        self.expect("let", "before the equations")?;
        let eqns = self.equations()?;
        self.skip_blanks();
        self.expect("in", "before the results")?;
        self.skip_blanks();
        let results = self.results()?;
        self.skip_blanks();
        self.expect("}", "after the results")?;
        Ok(JaxprNode {
            span: start..self.offset,
            constvars,
            invars,
            eqns,
            results,
        })
    }

    /// Variables with types, up to where `ends` holds.
    fn binders(&mut self, ends: impl Fn(&Self) -> bool) -> Parsed<Vec<Binder<'a>>> {
        let mut binders = Vec::new();
        loop {
            self.skip_blanks();
            if ends(self) {
                binders.shrink_to_fit();
                return Ok(binders);
            }
            let name = self.word_here(is_word);
            if name.text.is_empty() {
                return Err(self.unexpected("a variable with its type, such as `a:f32[3]`"));
            }
            self.offset += name.text.len();
            if !self.eat(":") {
                return Err(Mistake::new(
                    name.span(),
                    format!("the variable `{}` has no type", name.text),
                )
                .label("expected a type, such as `a:f32[3]`")
                .note("text that was printed without types cannot be read back"));
            }
            let aval = match self.aval() {
                Ok(aval) => Some(self.shared_type(aval)),
                Err(mistake) => {
                    self.report(mistake);
                    self.skip_type();
                    None
                }
            };
            binders.push(Binder { name, aval });
        }
    }

    /// Skips the rest of a malformed type.
    fn skip_type(&mut self) {
        let skipped = self
            .word(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b';' | b'.' | b'=' | b'}'));
        if skipped.text.ends_with(',') {
            self.offset -= 1;
        }
    }

    /// Equations up to `in (`. Those that cannot be read are reported and skipped.
    fn equations(&mut self) -> Parsed<Vec<EqnNode<'a>>> {
        let mut eqns = Vec::new();
        loop {
            self.skip_blanks();
            while self.eat(";") {
                self.skip_blanks();
            }
            if self.at_results() {
                return Ok(eqns);
            }
            let start = self.offset;
            match self.peek() {
                None => return Err(self.unexpected("an equation, or `in (` and the results")),
                Some(b'}') => return Err(self.unexpected("`in (` and the results before `}`")),
                Some(_) => {}
            }
            let column = self.column(start);
            let mut outputs = Vec::new();
            let right = match self.equation(column, &mut outputs) {
                Ok(right) => Some(right),
                Err(mistake) => {
                    if self.is_hopeless() {
                        return Err(mistake);
                    }
                    self.report(mistake);
                    self.skip_equation(column);
                    None
                }
            };
            if self.offset == start {
                return Err(self.unexpected("an equation"));
            }
            eqns.push(EqnNode {
                start,
                outputs,
                right,
            });
        }
    }

    /// Whether `in (` and results stand here, and not a variable called `in` before a complex number.
    fn at_results(&self) -> bool {
        let Some(rest) = self.rest().strip_prefix("in") else {
            return false;
        };
        let blanks = rest.len() - rest.trim_start().len();
        let Some(inside) = rest[blanks..].strip_prefix('(') else {
            return false;
        };
        let complex = inside
            .bytes()
            .take_while(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-'))
            .count();
        !inside[complex..].starts_with("):")
    }

    /// One equation that starts in `column`; results are added to `outputs` as they are read, so that they are known
    /// even when the rest is malformed.
    fn equation(&mut self, column: usize, outputs: &mut Vec<Binder<'a>>) -> Parsed<RightSide<'a>> {
        let word = self.word_here(is_primitive);
        let after = self.rest().as_bytes().get(word.text.len()).copied();
        if word.text.is_empty() {
            return Err(self.unexpected("an equation, such as `b:f32[] = sin a`"));
        }
        if after == Some(b':') {
            return self.binding(column, outputs);
        }
        if after == Some(b'[') && self.at_reference(word.text.len() + 1) {
            let reference = self.reference()?;
            self.skip_blanks();
            if self.eat("+=") {
                self.skip_blanks();
                return Ok(RightSide::AddUpdate(Box::new(reference), self.operand()?));
            }
            self.expect("<-", "or `+=` after a reference")?;
            self.skip_blanks();
            return Ok(RightSide::Swap(Box::new(SwapNode {
                written: reference,
                read: None,
                value: self.operand()?,
            })));
        }
        if self.rest()[word.text.len()..]
            .trim_start()
            .starts_with("= ")
        {
            outputs.push(Binder {
                name: word,
                aval: None,
            });
            return Err(Mistake::new(
                word.span(),
                format!("the variable `{}` has no type", word.text),
            )
            .label("expected a type, such as `a:f32[3]`")
            .note("text that was printed without types cannot be read back"));
        }
        self.application(column)
    }

    /// `results = ...`, `result <- reference`, `result, reference <- reference, value`
    fn binding(&mut self, column: usize, outputs: &mut Vec<Binder<'a>>) -> Parsed<RightSide<'a>> {
        *outputs = self.binders(|cursor| matches!(cursor.peek(), Some(b'=' | b'<' | b',')))?;
        if self.eat("=") {
            self.skip_blanks();
            return self.application(column);
        }
        if self.eat("<-") {
            self.skip_blanks();
            return Ok(RightSide::Get(Box::new(self.reference()?)));
        }
        self.expect(",", "or `=` after the results")?;
        self.skip_blanks();
        let written = self.reference()?;
        self.skip_blanks();
        self.expect("<-", "after the reference that is written")?;
        self.skip_blanks();
        let start = self.offset;
        let read = self.reference()?;
        if read.name.text != written.name.text {
            return Err(Mistake::new(
                start..self.offset,
                format!(
                    "`{}` is read and `{}` is written; both must be the same",
                    read.name.text, written.name.text
                ),
            ));
        }
        self.skip_blanks();
        self.expect(",", "before the value that is written")?;
        self.skip_blanks();
        Ok(RightSide::Swap(Box::new(SwapNode {
            written,
            read: Some(read),
            value: self.operand()?,
        })))
    }

    /// A primitive, its parameters and its operands.
    fn application(&mut self, column: usize) -> Parsed<RightSide<'a>> {
        let prim = self.word(is_primitive);
        if prim.text.is_empty() {
            return Err(self.unexpected("the name of a primitive"));
        }
        let params = if self.peek() == Some(b'[') {
            self.params(prim)?
        } else {
            Vec::new()
        };
        let mut operands = self.operands(column)?;
        operands.shrink_to_fit();
        Ok(RightSide::Apply {
            prim,
            params,
            operands,
        })
    }

    /// Operands up to the end of the equation: `;`, `in (`, or a line that does not continue it.
    fn operands(&mut self, column: usize) -> Parsed<Vec<OperandNode<'a>>> {
        let mut operands = Vec::new();
        let mut line = self.lines.start(self.offset);
        loop {
            self.skip_blanks();
            if matches!(self.peek(), None | Some(b';' | b'}')) || self.at_results() {
                return Ok(operands);
            }
            let this_line = self.lines.start(self.offset);
            if this_line != line {
                // JAX indents a continued list deeper than its equation.
                if self.column(self.offset) <= column || self.at_equation() {
                    return Ok(operands);
                }
                line = this_line;
            }
            operands.push(self.operand()?);
        }
    }

    /// Whether the word here cannot be an operand and can start an equation, for text that is indented otherwise than
    /// JAX's.
    fn at_equation(&self) -> bool {
        let word = self.word_here(is_primitive);
        let after = &self.rest()[word.text.len()..];
        let is_number = matches!(
            word.text,
            "nan" | "inf" | "True" | "False" | "nanj" | "infj"
        );
        let starts_word = word
            .text
            .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        starts_word
            && !is_number
            && (after.starts_with([':', '[']) || after.trim_start().starts_with("= "))
    }

    /// A variable or a literal.
    fn operand(&mut self) -> Parsed<OperandNode<'a>> {
        let word = self.word_here(is_word);
        let is_name = word
            .text
            .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let after = self.rest()[word.text.len()..].bytes().next();
        let operand = if is_name && after != Some(b':') {
            self.offset += word.text.len();
            OperandNode::Var(word)
        } else if is_name
            && !matches!(
                word.text,
                "nan" | "inf" | "True" | "False" | "nanj" | "infj"
            )
        {
            return Err(Mistake::new(
                word.span(),
                format!("`{}` has a type where a value is read", word.text),
            )
            .label("an operand is written without its type"));
        } else if matches!(self.peek(), Some(b'(' | b'-' | b'[')) || !word.text.is_empty() {
            OperandNode::Lit(Box::new(self.literal()?))
        } else {
            return Err(self.unexpected("a variable or a literal"));
        };
        let follows = self.peek();
        if !follows.is_none_or(|byte| {
            byte.is_ascii_whitespace() || matches!(byte, b';' | b',' | b')' | b'}')
        }) {
            return Err(self.unexpected("a blank after an operand"));
        }
        Ok(operand)
    }

    /// `()`, `(a,)`, `(a, b)`
    fn results(&mut self) -> Parsed<Vec<OperandNode<'a>>> {
        self.expect("(", "before the results")?;
        let mut results = Vec::new();
        loop {
            self.skip_blanks();
            if self.eat(")") {
                return Ok(results);
            }
            results.push(self.operand()?);
            self.skip_blanks();
            if !self.eat(",") && self.peek() != Some(b')') {
                return Err(self.unexpected("`,` or `)` after a result"));
            }
        }
    }

    /// Whether the brackets that open before `distance` hold indices and not parameters.
    fn at_reference(&self, distance: usize) -> bool {
        let inside = self.rest()[distance..].trim_start();
        let key = inside.bytes().take_while(|&byte| is_word(byte)).count();
        !inside[key..].starts_with('=')
    }

    /// `a[...]`, `a[0,1:3]`, `a[0][1:3]`
    fn reference(&mut self) -> Parsed<RefNode<'a>> {
        let name = self.word(is_word);
        if name.text.is_empty() || self.peek() != Some(b'[') {
            return Err(self.unexpected("a reference, such as `a[...]`"));
        }
        let mut indexers = Vec::new();
        if self.eat("[...]") {
            return Ok(RefNode { name, indexers });
        }
        while self.eat("[") {
            let mut indices = Vec::new();
            loop {
                self.skip_blanks();
                if self.eat("]") {
                    break;
                }
                indices.push(self.index()?);
                self.skip_blanks();
                if !self.eat(",") && self.peek() != Some(b']') {
                    return Err(self.unexpected("`,` or `]` after an index"));
                }
            }
            indexers.push(indices);
        }
        Ok(RefNode { name, indexers })
    }

    /// `i`, `3`, `:`, `1:3`, `i:i+2`, each slice with `:stride` where it is not 1
    fn index(&mut self) -> Parsed<IndexNode<'a>> {
        let word = self.word_here(|byte| is_word(byte) || byte == b'-');
        let is_number = word
            .text
            .starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let number = |cursor: &mut Self| -> Parsed<Option<usize>> {
            let word = cursor.word(|byte| byte.is_ascii_digit());
            if word.text.is_empty() {
                return Ok(None);
            }
            let value = word.text.parse();
            value
                .map(Some)
                .map_err(|_| Mistake::new(word.span(), "this index does not fit 64 bits"))
        };
        if !word.text.is_empty() && self.rest().as_bytes().get(word.text.len()) != Some(&b':') {
            self.offset += word.text.len();
            if !is_number {
                return Ok(IndexNode::At(OperandNode::Var(word)));
            }
            let value = word.text.parse::<i32>();
            let value =
                value.map_err(|_| Mistake::new(word.span(), "this index does not fit 32 bits"))?;
            let literal = Literal::new(Scalar::Int(value.into()), DType::I32);
            return Ok(IndexNode::At(OperandNode::Lit(Box::new(literal))));
        }
        if word.text.is_empty() || is_number {
            let first = number(self)?;
            self.expect(":", "in a slice")?;
            let end = number(self)?;
            let stride = if self.eat(":") {
                number(self)?.unwrap_or(1)
            } else {
                1
            };
            if !matches!(self.peek(), Some(b',' | b']')) {
                return Err(self.unexpected("a slice between numbers, such as `1:3`"));
            }
            return Ok(IndexNode::Slice {
                start: first,
                end,
                stride,
            });
        }
        self.offset += word.text.len() + 1;
        let again = self.word(is_word);
        self.expect("+", "in a slice from a variable, such as `i:i+2`")?;
        let size = number(self)?;
        let (Some(size), true) = (size, again.text == word.text) else {
            return Err(self.unexpected("a slice of known length, such as `i:i+2`"));
        };
        let stride = if self.eat(":") {
            number(self)?.unwrap_or(1)
        } else {
            1
        };
        Ok(IndexNode::DynamicSlice {
            start: word,
            again,
            size,
            stride,
        })
    }

    /// Skips to where the next equation can start: behind `;`, at a line that is not indented deeper than `column`, or
    /// at `in (`.
    fn skip_equation(&mut self, column: usize) {
        let mut depth = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' => depth = depth.saturating_sub(1),
                b'}' if depth == 0 => return,
                b'}' => depth -= 1,
                b';' if depth == 0 => return,
                b'\n' => {
                    self.skip_blanks();
                    if self.column(self.offset) <= column {
                        return;
                    }
                    continue;
                }
                b'i' if depth == 0
                    && self.at_results()
                    && !self.text[..self.offset]
                        .ends_with(|c: char| c.is_alphanumeric() || c == '_') =>
                {
                    return;
                }
                _ => {}
            }
            self.offset += 1;
        }
    }
}

/// The syntax tree of a text without mistakes, whatever its names mean.
pub(in crate::jaxpr) fn read(text: &str) -> Option<Program<'_>> {
    let mut cursor = Cursor::new(text);
    let program = cursor.program().ok()?;
    cursor.mistakes.is_empty().then_some(program)
}
