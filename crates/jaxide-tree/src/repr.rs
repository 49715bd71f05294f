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
