//! Reads the text of a jaxpr.
//!
//! ```
//! let text = "{ lambda ; a:f32[8]. let b:f32[8] = sin a in (b,) }";
//! let jaxpr = jaxide_core::parse(text)?;
//! assert_eq!(jaxpr.to_string(), text);
//!
//! let error = jaxide_core::parse("{ lambda ; a:f32[8]. let b:f32[8] = sin c in (b,) }").unwrap_err();
//! assert_eq!(error.diagnostics()[0].message, "the variable `c` is not bound");
//! # Ok::<(), jaxide_core::ParseError>(())
//! ```
//!
//! Reading has two steps. [`grammar`] turns text into a [`syntax`] tree that knows no primitives, with [`types`] and
//! [`value`]s; [`lower`] gives names their meaning and makes jaxprs. Both go on after a mistake, so that one reading
//! reports several. [`legacy`] is what older text needs.
//!
//! Primitives and element types that JAX does not have are kept as text: [`Prim::Foreign`](crate::Prim::Foreign),
//! [`AvalKind::Opaque`](super::AvalKind::Opaque); [`notes`](super::notes()) lists them.

mod cursor;
mod diagnostic;
pub(super) mod foreign;
mod grammar;
mod identity;
mod legacy;
mod lower;
pub(crate) mod spelling;
pub(super) mod syntax;
mod types;
mod value;

pub use diagnostic::{Diagnostic, ParseError};
pub(super) use grammar::read;
pub(super) use lower::unnamed_results;

use super::ClosedJaxpr;
use super::weak::infer_weak_types;
use cursor::Cursor;
use diagnostic::Mistake;

/// The jaxpr that a text describes: JAX's printed form, of today and of earlier versions, with `#` comments.
///
/// Equations keep their line and column. Definitions (`let f = { ... } in`) become one object each, so that printing
/// finds them again. Values of constants are not part of the text: the result has constvars and no constants.
///
/// # Errors
/// Every mistake that was found, each with its place. Hostile text is an error too: nesting is bounded, and so is the
/// size of every shape.
pub fn parse(text: &str) -> Result<ClosedJaxpr, ParseError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut cursor = Cursor::new(text);
    let program = cursor.program().and_then(|program| {
        cursor.skip_blanks();
        if cursor.peek().is_none() {
            Ok(program)
        } else {
            Err(cursor.unexpected("the end of the text"))
        }
    });
    let program = match program {
        Ok(program) => program,
        Err(mistake) => {
            cursor.report(mistake);
            return Err(ParseError::new(text, cursor.mistakes, &cursor.lines));
        }
    };
    let mut context = lower::Context::new(&cursor.lines, cursor.mistakes);
    match lower::program(&mut context, &program) {
        Some(jaxpr) if context.mistakes.is_empty() => Ok(infer_weak_types(jaxpr)),
        _ => Err(ParseError::new(text, context.mistakes, context.lines)),
    }
}

/// As [`parse`], from bytes that should be UTF-8.
///
/// # Errors
/// As [`parse`] and [`decode`].
pub fn parse_bytes(bytes: &[u8]) -> Result<ClosedJaxpr, ParseError> {
    parse(decode(bytes)?)
}

/// The text that bytes are in UTF-8, without the mark in front that some editors write.
///
/// # Errors
/// When they are no UTF-8, with the place of the first byte that is none; of UTF-16 it is said that it is that.
///
/// ```
/// use jaxide_core::jaxpr::parse::decode;
/// assert_eq!(decode(b"\xef\xbb\xbf{ }")?, "{ }");
/// let error = decode(b"\xff\xfe{\0 \0}\0").unwrap_err();
/// assert_eq!(error.diagnostics()[0].message, "the text is UTF-16, and not UTF-8");
/// # Ok::<(), jaxide_core::ParseError>(())
/// ```
pub fn decode(bytes: &[u8]) -> Result<&str, ParseError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let text = String::from_utf8_lossy(bytes);
        // Up to there the text is as long as its bytes.
        let at = error.valid_up_to();
        let end = at + text[at..].chars().next().map_or(0, char::len_utf8);
        let marked = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
        let message = if marked {
            "the text is UTF-16, and not UTF-8"
        } else {
            "the text is not UTF-8"
        };
        let mistake = Mistake::new(at..end, message);
        ParseError::new(&text, vec![mistake], &diagnostic::Lines::of(&text))
    })
}
