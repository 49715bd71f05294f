//! Treedefs as text.

use std::fmt::{self, Debug, Display, Write};

use super::TreeDef;
use crate::Head;

impl Display for TreeDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PyTreeDef(")?;
        self.write_node(f, 0)?;
        f.write_char(')')
    }
}

impl Debug for TreeDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl TreeDef {
    /// The text of older JAX releases: `PyTreeDef(list, [*,PyTreeDef(dict[['a']], [*])])`.
    pub fn legacy(&self) -> String {
        let mut out = String::new();
        self.write_legacy(&mut out, 0)
            .expect("a string takes any text");
        out
    }

    fn write_node(&self, out: &mut impl Write, index: usize) -> fmt::Result {
        let Some(head) = self.head(index) else {
            return out.write_char('*');
        };
        match head {
            Head::None => out.write_str("None"),
            Head::Tuple => {
                out.write_char('(')?;
                self.write_children(out, index, ", ")?;
                out.write_str(if self.at(index).arity() == 1 {
                    ",)"
                } else {
                    ")"
                })
            }
            Head::List => {
                out.write_char('[')?;
                self.write_children(out, index, ", ")?;
                out.write_char(']')
            }
            Head::Dict(keys) => {
                out.write_char('{')?;
                for (i, child) in self.child_indices(index).enumerate() {
                    write!(out, "{}{}: ", if i > 0 { ", " } else { "" }, keys[i])?;
                    self.write_node(out, child)?;
                }
                out.write_char('}')
            }
            Head::OrderedDict(_) | Head::Struct(_) => {
                out.write_str("CustomNode(")?;
                head.write_custom(out)?;
                out.write_str(", [")?;
                self.write_children(out, index, ", ")?;
                out.write_str("])")
            }
        }
    }

    fn write_children(&self, out: &mut impl Write, index: usize, separator: &str) -> fmt::Result {
        for (i, child) in self.child_indices(index).enumerate() {
            if i > 0 {
                out.write_str(separator)?;
            }
            self.write_node(out, child)?;
        }
        Ok(())
    }

    fn write_legacy(&self, out: &mut impl Write, index: usize) -> fmt::Result {
        let Some(head) = self.head(index) else {
            return out.write_char('*');
        };
        out.write_str("PyTreeDef(")?;
        head.write_legacy(out)?;
        out.write_str(", [")?;
        for (i, child) in self.child_indices(index).enumerate() {
            if i > 0 {
                out.write_char(',')?;
            }
            self.write_legacy(out, child)?;
        }
        out.write_str("])")
    }
}
