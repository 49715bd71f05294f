//! Python values as `str` and `repr` write them.

use std::fmt;

use crate::dtype::DType;
use crate::jaxpr::Scalar;

/// The Python values that occur in parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PyValue {
    /// `None`.
    None,
    /// `True`, `False`, `3`, `0.5`, `(1+2j)`; `np.int64(3)` is read as `3`.
    Scalar(Scalar),
    /// A string, quoted inside containers and bare at the top level.
    Str(String),
    /// A name that is never quoted: `float32`, `GatherScatterMode.CLIP`, `<f>`.
    Word(String),
    /// A dtype: `float32` at the top level, `dtype('float32')` inside containers.
    DType(DType),
    /// `(a, b)`.
    Tuple(Vec<PyValue>),
    /// `[a, b]`.
    List(Vec<PyValue>),
    /// `Name(a, b, key=value)`.
    Call(Box<PyCall>),
    /// Any other text, kept verbatim (addresses removed).
    Opaque(String),
}

/// A call in the text: `Name(a, b, key=value)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PyCall {
    /// The name before the parenthesis.
    pub name: String,
    /// Positional arguments.
    pub args: Vec<PyValue>,
    /// Keyword arguments, in order.
    pub fields: Vec<(String, PyValue)>,
}

impl PyValue {
    /// `name(a, b, key=value)`.
    pub fn call(
        name: impl Into<String>,
        args: Vec<PyValue>,
        fields: Vec<(String, PyValue)>,
    ) -> PyValue {
        let name = name.into();
        PyValue::Call(Box::new(PyCall { name, args, fields }))
    }

    /// An integer.
    pub fn int(value: i64) -> PyValue {
        PyValue::Scalar(Scalar::Int(value))
    }

    /// The text inside a container (`repr`).
    fn write_repr(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PyValue::Str(text) => write_quoted(f, text),
            PyValue::DType(dtype) => write!(f, "dtype('{}')", dtype.numpy_name()),
            other => write!(f, "{other}"),
        }
    }
}

/// A string in quotes as Python writes it: double ones only around single ones.
fn write_quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    write!(f, "{quote}")?;
    for c in text.chars() {
        match c {
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            '\r' => f.write_str("\\r")?,
            c if c == '\\' || c == quote => write!(f, "\\{c}")?,
            c => write!(f, "{c}")?,
        }
    }
    write!(f, "{quote}")
}

/// Comma-separated `repr`s.
fn write_items(f: &mut fmt::Formatter<'_>, items: &[PyValue]) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        item.write_repr(f)?;
    }
    Ok(())
}

/// The text at the top level (`str`).
impl fmt::Display for PyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PyValue::None => f.write_str("None"),
            PyValue::Scalar(value) => write!(f, "{value}"),
            PyValue::Str(text) | PyValue::Word(text) | PyValue::Opaque(text) => f.write_str(text),
            PyValue::DType(dtype) => f.write_str(dtype.numpy_name()),
            PyValue::Tuple(items) => {
                f.write_str("(")?;
                write_items(f, items)?;
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
            PyValue::List(items) => {
                f.write_str("[")?;
                write_items(f, items)?;
                f.write_str("]")
            }
            PyValue::Call(call) => {
                let PyCall { name, args, fields } = &**call;
                write!(f, "{name}(")?;
                write_items(f, args)?;
                for (index, (key, value)) in fields.iter().enumerate() {
                    write!(
                        f,
                        "{}{key}=",
                        if index > 0 || !args.is_empty() {
                            ", "
                        } else {
                            ""
                        }
                    )?;
                    value.write_repr(f)?;
                }
                f.write_str(")")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted_as_python_quotes_them() {
        for (text, repr) in [
            ("rows", "('rows',)"),
            ("it's", "(\"it's\",)"),
            ("'\"", r#"('\'"',)"#),
            ("a\\b\nc", r"('a\\b\nc',)"),
        ] {
            let tuple = PyValue::Tuple(vec![PyValue::Str(text.to_owned())]);
            assert_eq!(tuple.to_string(), repr);
        }
    }
}
