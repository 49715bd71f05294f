//! Python's `repr`, the notation in which treedefs and key paths are printed.

use std::fmt::{self, Write};

/// Writes `text` as Python's `repr` prints a string: single quotes, unless the text has single quotes
/// and no double ones; backslash escapes for what does not print.
pub(crate) fn write_str(out: &mut impl Write, text: &str) -> fmt::Result {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.write_char(quote)?;
    for c in text.chars() {
        match c {
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            c if c == quote => write!(out, "\\{c}")?,
            c if prints(c) => out.write_char(c)?,
            c => match u32::from(c) {
                code @ 0..=0xff => write!(out, "\\x{code:02x}")?,
                code @ 0x100..=0xffff => write!(out, "\\u{code:04x}")?,
                code => write!(out, "\\U{code:08x}")?,
            },
        }
    }
    out.write_char(quote)
}

/// Writes what a value prints as its `Debug` as Python prints its counterpart: strings in single quotes, `True` and
/// `False`, what is in a `Some` by itself. The rest is the same in both languages, or has no counterpart.
pub(crate) fn write_debug(out: &mut impl Write, text: &str) -> fmt::Result {
    let mut rest = text;
    // For each open parenthesis, whether it is that of a `Some` and not written.
    let mut open = Vec::new();
    let mut in_word = false;
    while let Some(c) = rest.chars().next() {
        let word = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let mut taken = c.len_utf8();
        if !in_word && word > 0 {
            taken = word;
            match &rest[..word] {
                "true" => out.write_str("True")?,
                "false" => out.write_str("False")?,
                "Some" if rest[word..].starts_with('(') => {
                    open.push(true);
                    taken += 1;
                }
                word => out.write_str(word)?,
            }
        } else if let Some((literal, length)) = string_literal(rest) {
            write_str(out, &literal)?;
            taken = length;
        } else if let Some(length) = single_quoted(rest) {
            out.write_str(&rest[..length])?;
            taken = length;
        } else if c == '(' {
            open.push(false);
            out.write_char(c)?;
        } else if c != ')' || open.pop() != Some(true) {
            out.write_char(c)?;
        }
        in_word = rest[..taken].ends_with(is_word);
        rest = &rest[taken..];
    }
    Ok(())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The string that a text begins with in Rust's notation, and the length of that.
fn string_literal(text: &str) -> Option<(String, usize)> {
    let body = text.strip_prefix('"')?;
    let mut literal = String::new();
    let mut chars = body.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => return Some((literal, i + 2)),
            '\\' => literal.push(match chars.next()?.1 {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                '0' => '\0',
                'u' => {
                    let (digits, _) = body[i..].strip_prefix("\\u{")?.split_once('}')?;
                    chars.by_ref().find(|(_, c)| *c == '}');
                    char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
                }
                same => same,
            }),
            c => literal.push(c),
        }
    }
    None
}

/// The length of what a text begins with in single quotes: a character, or a string that is Python's already.
fn single_quoted(text: &str) -> Option<usize> {
    let body = text.strip_prefix('\'')?;
    let mut chars = body.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '\'' => return Some(i + 2),
            '\\' => _ = chars.next()?,
            _ => {}
        }
    }
    None
}

/// Writes `items` as a Python tuple: `()`, `(1,)`, `(1, 2)`.
pub(crate) fn write_tuple<W: Write, T>(
    out: &mut W,
    items: impl ExactSizeIterator<Item = T>,
    mut write: impl FnMut(&mut W, T) -> fmt::Result,
) -> fmt::Result {
    let single = items.len() == 1;
    out.write_char('(')?;
    for (i, item) in items.enumerate() {
        if i > 0 {
            out.write_str(", ")?;
        }
        write(out, item)?;
    }
    out.write_str(if single { ",)" } else { ")" })
}

/// Whether Python prints `c` as itself. Rust's `Debug` escapes the same categories of characters, and
/// combining marks, but those only at the start of a string.
fn prints(c: char) -> bool {
    match c {
        ' '..='~' => true,
        '\0'..='\x7f' => false,
        c => {
            let after_a_letter: String = ['a', c].into_iter().collect();
            after_a_letter.escape_debug().skip(1).eq([c])
        }
    }
}

#[cfg(test)]
mod tests {
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut out = String::new();
        super::write_str(&mut out, text).unwrap();
        assert_eq!(out, expected);
    }

    #[test]
    fn values_print_as_in_python() {
        #[track_caller]
        fn check(value: &dyn std::fmt::Debug, expected: &str) {
            let mut out = String::new();
            super::write_debug(&mut out, &format!("{value:?}")).unwrap();
            assert_eq!(out, expected);
        }
        check(&3, "3");
        check(&(1, "it's", 'x'), "(1, \"it's\", 'x')");
        check(&["a\n\"\\\0\u{200b}"], "['a\\n\"\\\\\\x00\\u200b']");
        check(&(true, (false,), ()), "(True, (False,), ())");
        check(&Some((1, Some("b"), None::<u8>)), "(1, 'b', None)");
        check(&[Some(1), None], "[1, None]");
        check(&('"', '\'', '\\', "\""), "('\"', '\\'', '\\\\', '\"')");
        check(&[("k", Some(true))], "[('k', True)]");
        check(&('\'', true, '\''), "('\\'', True, '\\'')");
        let opaque = |text: &'static str, expected: &str| {
            let mut out = String::new();
            super::write_debug(&mut out, text).unwrap();
            assert_eq!(out, expected);
        };
        opaque(
            "Awesome(1) untrue is_true Some",
            "Awesome(1) untrue is_true Some",
        );
        opaque("Some(1", "1");
        opaque("1) \"open", "1) \"open");
        opaque("it's true \\", "it's True \\");
        opaque("('true', true)", "('true', True)");
        opaque("'\\", "'\\");
        opaque("\"\\u{110000}\"", "\"\\u{110000}\"");
    }

    #[test]
    fn strings_print_as_in_python() {
        check("", "''");
        check("a b", "'a b'");
        check("it's", "\"it's\"");
        check("a\"b", "'a\"b'");
        check("'\"", "'\\'\"'");
        check("a\\b\n\t\r\0\x7f", "'a\\\\b\\n\\t\\r\\x00\\x7f'");
        check("é漢😀", "'é漢😀'");
        check(
            "\u{a0}\u{ad}\u{200b}\u{e000}\u{10ffff}",
            "'\\xa0\\xad\\u200b\\ue000\\U0010ffff'",
        );
        check("e\u{301}", "'e\u{301}'");
    }
}
