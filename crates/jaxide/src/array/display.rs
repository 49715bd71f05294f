//! Arrays as text.

use std::fmt;

use jaxide_core::{Align, ArrayFormat, Tensor};

use super::{Array, Repr};
use crate::trace::value_of;

/// Elements in nested brackets, as NumPy prints them; a traced array prints its type.
///
/// | | |
/// |---|---|
/// | `{:.3}` | at most three digits behind the point, as `numpy.set_printoptions(precision=3)` |
/// | `{:8}`, `{:<8}`, `{:^8}` | elements of at least eight characters, at their end, start or middle |
/// | `{:+}` | a sign in front of positive numbers too |
/// | `{:#}` | all elements, where otherwise more than 1000 are summarised |
///
/// ```
/// use jaxide::Array;
/// let x = Array::from([[1.0f32, 0.5], [2.0 / 3.0, -10.0]]);
/// assert_eq!(x.to_string(), "[[  1.          0.5      ]\n [  0.6666667 -10.       ]]");
/// assert_eq!(format!("{x:.3}"), "[[  1.      0.5  ]\n [  0.667 -10.   ]]");
/// assert_eq!(format!("{:5}", Array::from([1, 20])), "[    1    20]");
/// ```
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Tracer(tracer) => write!(f, "Traced<{}>", tracer.aval),
            Repr::Spec(aval) => write!(f, "Spec<{aval}>"),
            Repr::Number(_) | Repr::Concrete { .. } => {
                // Without a value are those alone whose elements were donated.
                let Ok(value) = value_of(self) else {
                    return write!(f, "Donated<{}>", self.aval());
                };
                f.write_str(&titled(&value, format(f).text(&value)))
            }
        }
    }
}

/// What the formatter asks for.
fn format(f: &fmt::Formatter<'_>) -> ArrayFormat {
    let usual = ArrayFormat::default();
    ArrayFormat {
        precision: f.precision(),
        plus: f.sign_plus(),
        threshold: if f.alternate() {
            usize::MAX
        } else {
            usual.threshold
        },
        width: f.width().unwrap_or(0),
        align: match f.align() {
            Some(fmt::Alignment::Left) => Align::Left,
            Some(fmt::Alignment::Center) => Align::Center,
            Some(fmt::Alignment::Right) | None => Align::Right,
        },
        ..usual
    }
}

/// The text of keys, which shows their words, says that they are keys.
fn titled(value: &Tensor, text: String) -> String {
    if !value.dtype().is_key() {
        return text;
    }
    let dtype = value.dtype();
    format!(
        "Array({}, dtype={dtype}) overlaying:\n{text}",
        tuple(value.shape())
    )
}

/// A shape as Python writes it.
fn tuple(shape: &[usize]) -> String {
    match shape {
        [only] => format!("({only},)"),
        _ => {
            let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
            format!("({})", lengths.join(", "))
        }
    }
}

/// The elements and the type, as JAX writes them: `Array([1., 2.], dtype=float32)`. The same options as for
/// [`Display`](fmt::Display).
impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PREFIX: &str = "Array(";
        if matches!(self.0, Repr::Tracer(_) | Repr::Spec(_)) || self.dtype().is_key() {
            return fmt::Display::fmt(self, f);
        }
        let Ok(value) = value_of(self) else {
            return fmt::Display::fmt(self, f);
        };
        let asked = format(f);
        let elements = ArrayFormat {
            // A number by itself is written as one of an array.
            precision: asked.precision.or(Some(8)),
            separator: ", ",
            indent: PREFIX.len(),
            suffix: 1,
            ..asked
        };
        let mut text = elements.text(&value);
        if value.is_empty() {
            text += &format!(", shape={}", tuple(value.shape()));
        }
        let mut dtype = format!("dtype={}", value.dtype().numpy_name());
        if self.weak_type() {
            dtype += ", weak_type=True";
        }
        let last = text.rsplit('\n').next().map_or(0, str::len);
        // JAX counts neither the prefix of a single line nor writes the break that it wants.
        let between = if last + dtype.len() + 4 > 75 {
            format!(",\n{:1$}", "", PREFIX.len())
        } else {
            ", ".to_owned()
        };
        write!(f, "{PREFIX}{text}{between}{dtype})")
    }
}
