//! Sums of products that are written with labels of axes.

use std::collections::BTreeSet;

use jaxide_core::prims::{DotDimensionNumbers, DotPrecision, Precision};
use jaxide_core::{DType, Error};

use super::path::{self, Labels, Lengths, Path};
use super::{Product, dot_general};
use crate::array::{Array, as_dtype, result_dtype};
use crate::lax;
use crate::options::options;
use crate::trace::raise;

const OPERATION: &str = "einsum";

/// How the order of contractions is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Optimize {
    /// The best order of up to four operands, a good one of more.
    #[default]
    Auto,
    /// The order with the fewest operations, however long it takes to find.
    Optimal,
    /// A good order, found quickly.
    Greedy,
    /// From left to right.
    Off,
    /// Positions in the list of operands that are left, to whose end each result goes; one or two at a time.
    Path(Vec<Vec<usize>>),
}

impl From<bool> for Optimize {
    fn from(optimize: bool) -> Self {
        if optimize {
            Optimize::Optimal
        } else {
            Optimize::Off
        }
    }
}

impl From<Vec<Vec<usize>>> for Optimize {
    fn from(path: Vec<Vec<usize>>) -> Self {
        Optimize::Path(path)
    }
}

options! {
    /// What [`einsum`] takes beside labels and operands.
    pub struct Einsum {
        /// How the order of contractions is chosen.
        optimize: Optimize = Optimize::Auto, |optimize: impl Into<Optimize>| optimize.into();
        /// How exact products have to be.
        precision: Option<DotPrecision> = None, |precision: Precision| Some(DotPrecision::Operands(precision, precision));
        /// The element type in which products are summed, and of the result.
        preferred_element_type: Option<DType> = None, |dtype: impl Into<Option<DType>>| dtype.into();
    }
}

impl From<Precision> for Einsum {
    fn from(precision: Precision) -> Self {
        Einsum::new().precision(precision)
    }
}

/// Labels of the axes of operands, and of the result.
struct Subscripts {
    inputs: Vec<Vec<char>>,
    output: Vec<char>,
    lengths: Lengths,
}

#[track_caller]
fn wrong(what: String) -> ! {
    raise(Error::parameter(what).in_operation(OPERATION))
}

/// Labels that are not used.
fn unused(used: &str, count: usize) -> Vec<char> {
    let letters = ('a'..='z').chain('A'..='Z').chain('\u{c0}'..);
    letters.filter(|c| !used.contains(*c)).take(count).collect()
}

#[track_caller]
fn parsed(subscripts: &str, operands: &[Array]) -> Subscripts {
    let text: String = subscripts.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, output) = match text.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (&text[..], None),
    };
    let terms: Vec<&str> = inputs.split(',').collect();
    if terms.len() != operands.len() {
        wrong(format!(
            "`{subscripts}` has labels of {} operands, and {} are given",
            terms.len(),
            operands.len()
        ));
    }
    let rank = operands.iter().map(Array::ndim).max().unwrap_or(0);
    let hidden = unused(&text, rank);
    let mut longest = 0;
    // An ellipsis stands for the axes that have no labels; the last of them are the same in all operands.
    let expand = |term: &str, axes: usize| -> Vec<char> {
        let replaced: String = hidden[hidden.len() - axes..].iter().collect();
        term.replacen("...", &replaced, 1).chars().collect()
    };
    let inputs: Vec<Vec<char>> = terms
        .iter()
        .zip(operands)
        .map(|(term, x)| {
            let named = term.replacen("...", "", 1);
            let count = named.chars().count();
            let has_ellipsis = named.len() != term.len();
            let fits = if has_ellipsis {
                count <= x.ndim()
            } else {
                count == x.ndim()
            };
            if !fits || named.contains(['.', '-', '>']) {
                wrong(format!("the labels `{term}` do not fit {}", x.aval()));
            }
            let axes = x.ndim() - count;
            longest = longest.max(if has_ellipsis { axes } else { 0 });
            expand(term, axes)
        })
        .collect();
    let all: Vec<char> = inputs.concat();
    let output = match output {
        Some(output) => expand(output, longest),
        None => {
            let hidden = &hidden[hidden.len() - longest..];
            let once: BTreeSet<char> = all
                .iter()
                .copied()
                .filter(|label| {
                    !hidden.contains(label)
                        && all.iter().filter(|other| *other == label).count() == 1
                })
                .collect();
            hidden.iter().copied().chain(once).collect()
        }
    };
    for (at, label) in output.iter().enumerate() {
        if output[..at].contains(label) {
            wrong(format!(
                "the label `{label}` of the result of `{subscripts}` is there twice"
            ));
        }
        if !all.contains(label) {
            wrong(format!(
                "the label `{label}` of the result of `{subscripts}` is on no operand"
            ));
        }
    }
    let mut lengths = Lengths::new();
    for (labels, x) in inputs.iter().zip(operands) {
        for (&label, &length) in labels.iter().zip(x.shape()) {
            let known = lengths.entry(label).or_insert(length);
            if *known == 1 {
                *known = length;
            } else if length != 1 && length != *known {
                let types: Vec<String> = operands.iter().map(|x| x.aval().to_string()).collect();
                raise(Error::shape(format!(
                    "the label `{label}` of `{subscripts}` has the lengths {known} and {length} in {}",
                    types.join(" and ")
                )).in_operation(OPERATION));
            }
        }
    }
    Subscripts {
        inputs,
        output,
        lengths,
    }
}

impl Subscripts {
    #[track_caller]
    fn path(&self, optimize: &Optimize) -> Path {
        let count = self.inputs.len();
        let sets: Vec<Labels> = self
            .inputs
            .iter()
            .map(|labels| labels.iter().copied().collect())
            .collect();
        let output: Labels = self.output.iter().copied().collect();
        match optimize {
            Optimize::Path(path) => {
                let left = path.iter().try_fold(count, |left, step| {
                    let distinct = step.iter().all(|at| {
                        *at < left && step.iter().filter(|other| *other == at).count() == 1
                    });
                    (distinct && matches!(step.len(), 1 | 2)).then(|| left + 1 - step.len())
                });
                if left != Some(1) {
                    wrong(format!(
                        "the path {path:?} does not contract {count} operands, one or two at a time, to one"
                    ));
                }
                path.clone()
            }
            _ if count <= 2 => vec![(0..count).collect()],
            Optimize::Off => vec![vec![0, 1]; count - 1],
            Optimize::Auto => path::auto(&sets, &output, &self.lengths),
            Optimize::Optimal => path::optimal(&sets, &output, &self.lengths),
            Optimize::Greedy => path::greedy(&sets, &output, &self.lengths),
        }
    }
}

/// An operand with the labels of its axes.
#[derive(Clone)]
struct Labelled {
    x: Array,
    labels: Vec<char>,
}

impl Labelled {
    /// The sum over axes, whose labels go.
    #[track_caller]
    fn summed(&mut self, axes: &[usize], dtype: DType) {
        let x = &self.x;
        // Never in fewer digits than the result has.
        let x = if x.dtype() == dtype || result_of(x, dtype) == x.dtype() {
            x.clone()
        } else {
            as_dtype(x, dtype, false)
        };
        self.x = if x.dtype() == DType::Bool {
            lax::reduce_or(&x, axes)
        } else {
            lax::reduce_sum(&x, axes)
        };
        let kept = self
            .labels
            .iter()
            .enumerate()
            .filter(|(axis, _)| !axes.contains(axis));
        self.labels = kept.map(|(_, &label)| label).collect();
    }

    fn places(&self, label: char) -> Vec<usize> {
        let all = self.labels.iter().enumerate();
        all.filter(|&(_, own)| *own == label)
            .map(|(axis, _)| axis)
            .collect()
    }

    fn place(&self, label: char) -> Option<usize> {
        self.labels.iter().position(|own| *own == label)
    }

    /// Sums over what only this operand has.
    #[track_caller]
    fn sum_alone(&mut self, labels: &[char], dtype: DType) {
        let axes: Vec<usize> = labels
            .iter()
            .filter_map(|&label| self.place(label))
            .collect();
        if !axes.is_empty() {
            self.summed(&axes, dtype);
        }
    }

    /// Takes diagonals where a label is there several times.
    #[track_caller]
    fn diagonals(&mut self, keep: &[char], dtype: DType) {
        let mut seen = Vec::new();
        for label in self.labels.clone() {
            if seen.contains(&label) {
                continue;
            }
            seen.push(label);
            let axes = self.places(label);
            if axes.len() < 2 {
                continue;
            }
            let on = diagonal(self.x.shape(), &axes);
            let zeros = lax::full(self.x.shape(), 0, self.x.dtype());
            self.x = lax::select(&on, &self.x, &zeros);
            if keep.contains(&label) {
                self.summed(&axes[..axes.len() - 1], dtype);
            } else {
                self.summed(&axes, dtype);
            }
        }
    }

    /// Without axes of length 1 that are longer in the other operand.
    #[track_caller]
    fn without_singletons(&mut self, shape: &[usize], labels: &[char]) {
        let longer = |label: char| {
            labels
                .iter()
                .position(|own| *own == label)
                .is_some_and(|at| shape[at] != 1)
        };
        let axes: Vec<usize> = (0..self.labels.len())
            .filter(|&axis| self.x.shape()[axis] == 1 && longer(self.labels[axis]))
            .collect();
        self.x = lax::squeeze(&self.x, &axes);
        let kept = self
            .labels
            .iter()
            .enumerate()
            .filter(|(axis, _)| !axes.contains(axis));
        self.labels = kept.map(|(_, &label)| label).collect();
    }

    /// With its axes in the order of `labels`.
    #[track_caller]
    fn ordered(self, labels: &[char]) -> Labelled {
        let order: Vec<usize> = labels
            .iter()
            .filter_map(|&label| self.place(label))
            .collect();
        Labelled {
            x: lax::transpose(&self.x, &order),
            labels: labels.to_vec(),
        }
    }
}

fn result_of(x: &Array, dtype: DType) -> DType {
    let other = Array::of_type(jaxide_core::Aval::scalar(dtype));
    result_dtype(OPERATION, &[x, &other]).0
}

/// True where the indices along `axes` are equal.
#[track_caller]
fn diagonal(shape: &[usize], axes: &[usize]) -> Array {
    let lengths: Vec<usize> = axes.iter().map(|&axis| shape[axis]).collect();
    let indices: Vec<Array> = (0..axes.len())
        .map(|axis| lax::iota(DType::U32, &lengths, axis))
        .collect();
    let equal = indices.windows(2).map(|pair| lax::eq(&pair[0], &pair[1]));
    match equal.reduce(|all, next| lax::bitwise_and(&all, &next)) {
        Some(all) => lax::broadcast_in_dim(&all, shape, axes),
        None => lax::full(shape, true, DType::Bool),
    }
}

/// The sum of products of two operands over the labels `summed`.
#[track_caller]
fn product(
    mut lhs: Labelled,
    mut rhs: Labelled,
    summed: &[char],
    result: &[char],
    product: &Product,
    dtype: DType,
) -> Labelled {
    let (shape, labels) = (rhs.x.shape().to_vec(), rhs.labels.clone());
    lhs.without_singletons(&shape, &labels);
    let (shape, labels) = (lhs.x.shape().to_vec(), lhs.labels.clone());
    rhs.without_singletons(&shape, &labels);
    let alone = |own: &Labelled, other: &Labelled| -> Vec<char> {
        let alone =
            |label: &&char| own.places(**label).len() == 1 && other.place(**label).is_none();
        summed.iter().filter(alone).copied().collect()
    };
    let (of_lhs, of_rhs) = (alone(&lhs, &rhs), alone(&rhs, &lhs));
    lhs.sum_alone(&of_lhs, dtype);
    rhs.sum_alone(&of_rhs, dtype);
    lhs.diagonals(&[result, &rhs.labels].concat(), dtype);
    rhs.diagonals(&[result, &lhs.labels].concat(), dtype);
    let in_both = |label: &&char| lhs.place(**label).is_some() && rhs.place(**label).is_some();
    let contracted: Vec<char> = summed.iter().filter(in_both).copied().collect();
    let batch: Vec<char> = result.iter().filter(in_both).copied().collect();
    let rest = |own: &Labelled| -> Vec<char> {
        let rest = |label: &&char| !batch.contains(label) && !contracted.contains(label);
        own.labels.iter().filter(rest).copied().collect()
    };
    let (of_lhs, of_rhs) = (rest(&lhs), rest(&rhs));
    let swapped = [&batch[..], &of_rhs, &of_lhs].concat();
    let (first, second, labels) = if swapped == result {
        (&rhs, &lhs, swapped)
    } else {
        (&lhs, &rhs, [&batch[..], &of_lhs, &of_rhs].concat())
    };
    let places = |own: &Labelled, labels: &[char]| {
        labels
            .iter()
            .filter_map(|&label| own.place(label))
            .collect()
    };
    let numbers = DotDimensionNumbers {
        lhs_contracting: places(first, &contracted),
        rhs_contracting: places(second, &contracted),
        lhs_batch: places(first, &batch),
        rhs_batch: places(second, &batch),
    };
    let x = dot_general(
        &first.x,
        &second.x,
        numbers,
        product.precision.clone(),
        dtype,
    );
    Labelled { x, labels }
}

/// The sum of the products of operands, each axis of which has a label: those that the result does not have are summed over.
///
/// `"ij,jk->ik"` is the product of matrices, `"ii->i"` a diagonal, `"...i,i"` a product with axes before that broadcast. Without
/// `->`, the result has the labels that are there once, in alphabetical order. Operands are contracted two at a time, in the order
/// that `optimize` chooses.
///
/// # Panics
/// When labels do not fit the operands or each other.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// assert_eq!(numpy::einsum("ij,jk->ik", &[x.clone(), x.clone()], ()).to_vec::<f32>(), [7.0, 10.0, 15.0, 22.0]);
/// assert_eq!(numpy::einsum("ii->i", &[x.clone()], ()).to_vec::<f32>(), [1.0, 4.0]);
/// assert_eq!(numpy::einsum("ij->", &[x], ()).item::<f32>(), 10.0);
/// ```
#[track_caller]
pub fn einsum(subscripts: &str, operands: &[Array], options: impl Into<Einsum>) -> Array {
    let _named = crate::trace::named("einsum");
    let options = options.into();
    let parsed = parsed(subscripts, operands);
    let path = parsed.path(&options.optimize);
    contracted(&parsed, operands, &path, &options)
}

#[track_caller]
fn contracted(subscripts: &Subscripts, operands: &[Array], path: &Path, options: &Einsum) -> Array {
    let how = Product {
        precision: options.precision.clone(),
        preferred_element_type: options.preferred_element_type,
    };
    let (dtype, weak) = how.result(OPERATION, &operands.iter().collect::<Vec<_>>());
    let mut left: Vec<Labelled> = operands
        .iter()
        .zip(&subscripts.inputs)
        .map(|(x, labels)| Labelled {
            x: x.clone(),
            labels: labels.clone(),
        })
        .collect();
    for (step, positions) in path.iter().enumerate() {
        let mut positions = positions.clone();
        positions.sort_unstable_by(|a, b| b.cmp(a));
        let taken: Vec<Labelled> = positions.iter().map(|&at| left.remove(at)).collect();
        let own: Vec<char> = taken.iter().flat_map(|x| x.labels.clone()).collect();
        let needed = |label: &char| {
            subscripts.output.contains(label) || left.iter().any(|x| x.labels.contains(label))
        };
        let mut result: Vec<char> = Vec::new();
        for label in own.iter().filter(|label| needed(label)) {
            if !result.contains(label) {
                result.push(*label);
            }
        }
        if step + 1 == path.len() {
            result.clone_from(&subscripts.output);
        }
        let summed: BTreeSet<char> = own.iter().copied().filter(|label| !needed(label)).collect();
        let summed: Vec<char> = summed.into_iter().collect();
        let mut taken = taken.into_iter();
        let contracted = match (taken.next(), taken.next()) {
            (Some(lhs), Some(rhs)) => product(lhs, rhs, &summed, &result, &how, dtype),
            (Some(mut alone), _) => {
                let once = |label: &&char| alone.places(**label).len() == 1;
                let once: Vec<char> = summed.iter().filter(once).copied().collect();
                alone.sum_alone(&once, dtype);
                alone.diagonals(&result, dtype);
                alone
            }
            (None, _) => continue,
        };
        left.push(contracted.ordered(&result));
    }
    match left.pop() {
        Some(result) => as_dtype(&result.x, dtype, weak),
        None => wrong("there are no operands".to_owned()),
    }
}

/// The order in which [`einsum`] contracts its operands: positions in the list of those that are left, to whose end each result
/// goes.
///
/// # Panics
/// As [`einsum`].
///
/// ```
/// use jaxide::{Array, DType, numpy};
/// let x = |rows: usize, columns: usize| Array::ones([rows, columns], DType::F32);
/// let path = numpy::einsum_path("ij,jk,kl->il", &[x(2, 30), x(30, 40), x(40, 5)], ());
/// assert_eq!(path, [[0, 1], [0, 1]]);
/// ```
#[track_caller]
pub fn einsum_path(
    subscripts: &str,
    operands: &[Array],
    options: impl Into<Einsum>,
) -> Vec<Vec<usize>> {
    let _named = crate::trace::named("einsum_path");
    parsed(subscripts, operands).path(&options.into().optimize)
}
