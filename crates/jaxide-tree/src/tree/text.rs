//! Trees as text: as Python prints the value.

use std::fmt::{self, Display};

use super::{Node, Tree};
use crate::{ChildKeys, Head, NodeStyle};

impl<L: Display> Display for Tree<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tree::Leaf(leaf) => Display::fmt(leaf, f),
            Tree::Node(node) => Display::fmt(node, f),
        }
    }
}

impl<L: Display> Display for Node<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.head() {
            Head::None => f.write_str("None"),
            Head::Tuple => {
                f.write_str("(")?;
                self.write_children(f)?;
                f.write_str(if self.children().len() == 1 {
                    ",)"
                } else {
                    ")"
                })
            }
            Head::List => {
                f.write_str("[")?;
                self.write_children(f)?;
                f.write_str("]")
            }
            Head::Dict(keys) => self.write_items(f, keys),
            Head::OrderedDict(keys) => {
                f.write_str("OrderedDict(")?;
                self.write_items(f, keys)?;
                f.write_str(")")
            }
            Head::Struct(s) => {
                let ty = s.node_type();
                write!(f, "{}(", ty.name())?;
                match ty.children() {
                    ChildKeys::Attrs(names) => {
                        for (i, (name, child)) in names.iter().zip(self.children()).enumerate() {
                            write!(f, "{}{name}={child}", if i > 0 { ", " } else { "" })?;
                        }
                    }
                    ChildKeys::Items(keys) => self.write_items(f, keys)?,
                    ChildKeys::Seq | ChildKeys::Flat => self.write_children(f)?,
                }
                if ty.style() != NodeStyle::NamedTuple && !s.statics().is_empty() {
                    write!(f, "; {}", self.head().metadata())?;
                }
                f.write_str(")")
            }
        }
    }
}

impl<L: Display> Node<L> {
    fn write_children(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, child) in self.children().iter().enumerate() {
            write!(f, "{}{child}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    }

    fn write_items(&self, f: &mut fmt::Formatter<'_>, keys: &[crate::Key]) -> fmt::Result {
        f.write_str("{")?;
        for (i, (key, child)) in keys.iter().zip(self.children()).enumerate() {
            write!(f, "{}{key}: {child}", if i > 0 { ", " } else { "" })?;
        }
        f.write_str("}")
    }
}
