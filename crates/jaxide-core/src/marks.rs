//! Marks: one flag for each element of a list beside them, such as which operands of an equation are known.

use std::ops::Range;

/// The marked elements.
pub(crate) fn keep<T: Clone>(items: &[T], marks: &[bool]) -> Vec<T> {
    let marked = items.iter().zip(marks).filter(|(_, mark)| **mark);
    marked.map(|(item, _)| item.clone()).collect()
}

/// The opposite marks.
pub(crate) fn not(marks: &[bool]) -> Vec<bool> {
    marks.iter().map(|mark| !mark).collect()
}

/// What either marks.
pub(crate) fn or(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(a, b)| *a || *b).collect()
}

/// Number of marked elements.
pub(crate) fn count(marks: &[bool]) -> usize {
    marks.iter().filter(|mark| **mark).count()
}

/// `count` marks, of which those in `range` are set.
pub(crate) fn within(range: Range<usize>, count: usize) -> Vec<bool> {
    (0..count).map(|index| range.contains(&index)).collect()
}

/// Which elements are there.
pub(crate) fn present<T>(items: &[Option<T>]) -> Vec<bool> {
    items.iter().map(Option::is_some).collect()
}

/// One entry for each mark: the next of `values` where it is set.
pub(crate) fn spread<T, C: FromIterator<Option<T>>>(
    values: impl IntoIterator<Item = T>,
    marks: &[bool],
) -> C {
    let mut values = values.into_iter();
    let next = |&mark: &bool| if mark { values.next() } else { None };
    marks.iter().map(next).collect()
}
