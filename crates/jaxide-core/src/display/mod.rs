//! Arrays as text, as NumPy prints them.
//!
//! The layout is that of `numpy.array2string`: nested brackets, elements of one width, lines of at most 75 characters,
//! and of large arrays the first and last elements only. [`number`] says how elements are written.

mod number;

use std::borrow::Cow;

use number::Elements;

use crate::tensor::Tensor;

/// The longest line.
const LINE: usize = 75;

/// How many elements at each end of an axis stand for the whole of a large array.
const EDGE: usize = 3;

/// What can be chosen about the text of an array; [`Default`] is what NumPy does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayFormat {
    /// The largest number of digits behind the point; `None` for 8, and for all of them in a number by itself.
    pub precision: Option<usize>,
    /// Whether numbers that are not negative have a sign.
    pub plus: bool,
    /// Arrays of more elements are summarised.
    pub threshold: usize,
    /// The smallest number of characters of an element.
    pub width: usize,
    /// Where an element stands that has fewer.
    pub align: Align,
    /// What stands between elements.
    pub separator: &'static str,
    /// How many characters stand in front of the first line.
    pub indent: usize,
    /// How many characters follow the last line.
    pub suffix: usize,
}

/// Where an element stands among more characters than it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the start.
    Left,
    /// In the middle.
    Center,
    /// At the end.
    Right,
}

impl Default for ArrayFormat {
    fn default() -> Self {
        ArrayFormat {
            precision: None,
            plus: false,
            threshold: 1000,
            width: 0,
            align: Align::Right,
            separator: " ",
            indent: 0,
            suffix: 0,
        }
    }
}

impl ArrayFormat {
    /// The text of an array. Random keys are shown by their words.
    ///
    /// ```
    /// use jaxide_core::{ArrayFormat, Tensor};
    /// let x = Tensor::from_vec(&[2, 2], vec![1.0f32, 0.25, -3.5, 100.0])?;
    /// assert_eq!(ArrayFormat::default().text(&x), "[[  1.     0.25]\n [ -3.5  100.  ]]");
    /// # Ok::<(), jaxide_core::Error>(())
    /// ```
    pub fn text(&self, array: &Tensor) -> String {
        let array = &*words(array);
        if array.is_empty() {
            return "[]".to_owned();
        }
        let summarised = array.len() > self.threshold;
        let mut shown = Vec::new();
        visible(array.shape(), summarised, 0, &mut shown);
        let rows = Rows {
            shape: array.shape(),
            array,
            elements: Elements::of(array, &shown, self),
            summarised,
            format: self,
        };
        rows.text(0, 0, self.indent + 1, LINE.saturating_sub(self.suffix))
    }
}

/// An array of keys as one of words.
fn words(array: &Tensor) -> Cow<'_, Tensor> {
    let words = array.dtype().key_words().and_then(|words| {
        let shape: Vec<usize> = array.shape().iter().copied().chain([words]).collect();
        array.reinterpreted(&shape, crate::DType::U32).ok()
    });
    words.map_or(Cow::Borrowed(array), Cow::Owned)
}

/// Appends the positions of the elements that are shown.
fn visible(shape: &[usize], summarised: bool, start: usize, out: &mut Vec<usize>) {
    let Some((&length, inner)) = shape.split_first() else {
        out.push(start);
        return;
    };
    let stride: usize = inner.iter().product();
    let (leading, trailing) = ends(length, summarised);
    for index in (0..leading).chain(length - trailing..length) {
        visible(inner, summarised, start + index * stride, out);
    }
}

/// How many elements are shown at the start of an axis, and how many at the end.
fn ends(length: usize, summarised: bool) -> (usize, usize) {
    if summarised && length > 2 * EDGE {
        (EDGE, EDGE)
    } else {
        (0, length)
    }
}

struct Rows<'a> {
    shape: &'a [usize],
    array: &'a Tensor,
    elements: Elements,
    summarised: bool,
    format: &'a ArrayFormat,
}

impl Rows<'_> {
    /// The text of the part from flat position `start` along `axis`, whose lines but the first begin with `indent` spaces.
    fn text(&self, axis: usize, start: usize, indent: usize, width: usize) -> String {
        let Some(&length) = self.shape.get(axis) else {
            return self.padded(self.elements.text(self.array, start));
        };
        let stride: usize = self.shape[axis + 1..].iter().product();
        let (leading, trailing) = ends(length, self.summarised);
        let items = (0..leading).map(Some);
        let items = items.chain((leading > 0).then_some(None));
        let items = items.chain((length - trailing..length).map(Some));
        let part = |item: Option<usize>| match item {
            Some(index) => self.text(axis + 1, start + index * stride, indent + 1, width - 1),
            None => "...".to_owned(),
        };
        let last = axis + 1 == self.shape.len();
        let body = if last {
            self.row(items.map(part), indent, width)
        } else {
            let mut between = self.format.separator.trim_end().to_owned();
            between.extend(std::iter::repeat_n('\n', self.shape.len() - axis - 1));
            between.extend(std::iter::repeat_n(' ', indent));
            items.map(part).collect::<Vec<_>>().join(&between)
        };
        format!("[{body}]")
    }

    /// Elements in lines.
    fn row(&self, words: impl Iterator<Item = String>, indent: usize, width: usize) -> String {
        let separator = self.format.separator;
        let width = width.saturating_sub(separator.trim_end().len().max(1));
        let mut text = String::new();
        let mut line = " ".repeat(indent);
        for (index, word) in words.enumerate() {
            if index > 0 {
                line.push_str(separator);
            }
            if line.len() + word.len() > width && line.len() > indent {
                text.push_str(line.trim_end());
                text.push('\n');
                line = " ".repeat(indent);
            }
            line.push_str(&word);
        }
        text.push_str(&line);
        text.split_off(indent)
    }

    fn padded(&self, element: String) -> String {
        let width = self.format.width;
        match self.format.align {
            Align::Left => format!("{element:<width$}"),
            Align::Center => format!("{element:^width$}"),
            Align::Right => format!("{element:>width$}"),
        }
    }
}
