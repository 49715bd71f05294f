//! The text of a jaxpr, laid out and named exactly as JAX 0.12 does.
//!
//! ```
//! use jaxide_core::{Aval, Builder, DType};
//! let b = Builder::new();
//! let x = b.input(Aval::new(DType::F32, &[8]));
//! let y = b.mul(b.sin(x), x);
//! let jaxpr = b.finish(&[y])?;
//! assert_eq!(jaxpr.to_string(), "{ lambda ; a:f32[8]. let b:f32[8] = sin a; c:f32[8] = mul b a in (c,) }");
//! # Ok::<(), jaxide_core::Error>(())
//! ```
//!
//! [`hoist`] finds what is printed first, [`names`] gives letters to variables, [`program`] writes the
//! [`document`](crate::document), which is broken into lines.

mod hoist;
mod names;
mod program;
#[cfg(test)]
mod tests;

use std::fmt;

use super::{ClosedJaxpr, Jaxpr};

/// How a jaxpr is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintOptions {
    /// Columns of a line; what cannot be broken may be longer.
    pub width: usize,
    /// Shows where each equation was written, as a comment at the end of its line. The parser skips it.
    pub sources: bool,
    /// The untyped form of JAX's older guide: `{ lambda ; a b. let c = sin b in (c,) }`. It cannot be read back.
    pub classic: bool,
    /// Colours keywords and types with ANSI codes.
    pub color: bool,
}

impl Default for PrintOptions {
    fn default() -> Self {
        PrintOptions {
            width: 80,
            sources: false,
            classic: false,
            color: false,
        }
    }
}

/// A jaxpr with the way to print it; made by [`ClosedJaxpr::display`] and [`Jaxpr::display`].
#[derive(Clone, Copy, Debug)]
pub struct DisplayJaxpr<'a> {
    jaxpr: &'a Jaxpr,
    options: PrintOptions,
}

impl fmt::Display for DisplayJaxpr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&program::write(self.jaxpr, &self.options))
    }
}

impl Jaxpr {
    /// The jaxpr as text in the form that `options` ask for.
    pub fn display(&self, options: &PrintOptions) -> DisplayJaxpr<'_> {
        DisplayJaxpr {
            jaxpr: self,
            options: *options,
        }
    }
}

impl ClosedJaxpr {
    /// The jaxpr as text in the form that `options` ask for. Values of constants are not part of the text.
    pub fn display(&self, options: &PrintOptions) -> DisplayJaxpr<'_> {
        self.jaxpr.display(options)
    }
}

/// JAX's text, 80 columns wide.
impl fmt::Display for Jaxpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.display(&PrintOptions::default()).fmt(f)
    }
}

/// JAX's text, 80 columns wide.
impl fmt::Display for ClosedJaxpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.jaxpr.fmt(f)
    }
}
