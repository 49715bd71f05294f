//! Reductions and products.

use std::cmp::Ordering;

use super::value::{ravel, unit, unravel};
use super::{Evaluator, Outcome, Value};
use crate::closures::number::Num;
use crate::closures::program::{Reduce, Ty};

/// The sum of numbers in any order.
pub(super) fn total(numbers: &[Num], unit: f64) -> Num {
    let mut out = Num::default();
    for k in 0..4 {
        let magnitude: f64 = numbers.iter().map(|number| number.c[k].abs()).sum();
        out.c[k] = numbers.iter().map(|number| number.c[k]).sum();
        out.e[k] = numbers.iter().map(|number| number.e[k]).sum::<f64>()
            + unit * (numbers.len() as f64 + 1.0) * magnitude;
    }
    match numbers {
        [number] => *number,
        _ => out,
    }
}

impl Evaluator {
    pub(super) fn reduced(
        &mut self,
        op: Reduce,
        x: &Value,
        axes: &[usize],
        ty: &Ty,
    ) -> Outcome<Value> {
        let shape = &x.ty.shape;
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); ty.size()];
        for position in 0..x.ty.size() {
            let mut index = unravel(position, shape);
            let mut axis = 0;
            index.retain(|_| {
                axis += 1;
                !axes.contains(&(axis - 1))
            });
            groups[ravel(&index, &ty.shape)].push(position);
        }
        if !x.is_float() {
            let one = |group: &Vec<usize>| {
                let numbers = group.iter().map(|&at| x.ints[at]);
                match op {
                    Reduce::Sum => numbers.sum::<i64>(),
                    Reduce::Prod => numbers.product(),
                    Reduce::Max => numbers.max().expect("an element"),
                    Reduce::Min => numbers.min().expect("an element"),
                    Reduce::All => i64::from(numbers.min().unwrap_or(1) != 0),
                    Reduce::Any => i64::from(numbers.max().unwrap_or(0) != 0),
                    Reduce::Mean => unreachable!("the mean of integers"),
                }
            };
            return Ok(Value::from_ints(ty, groups.iter().map(one)));
        }
        let unit = unit(x.ty.kind);
        let mut floats = Vec::new();
        for group in groups {
            let numbers: Vec<Num> = group.iter().map(|&at| x.floats[at]).collect();
            let count = numbers.len() as f64;
            let first = numbers.first().copied();
            let mut fold = |order| {
                let first = first.expect("an element");
                numbers[1..]
                    .iter()
                    .try_fold(first, |best, &number| self.extreme(best, number, order))
            };
            floats.push(match op {
                Reduce::Sum => total(&numbers, unit),
                Reduce::Mean => total(&numbers, unit).times(Num::exact(count).inverse(unit), unit),
                Reduce::Prod => numbers.iter().fold(Num::exact(1.0), |product, &number| {
                    product.times(number, unit)
                }),
                Reduce::Max => fold(Ordering::Greater)?,
                Reduce::Min => fold(Ordering::Less)?,
                Reduce::All | Reduce::Any => unreachable!("{op:?} of floats"),
            });
        }
        Ok(Value::from_floats(ty, floats))
    }
}

/// The product of vectors and matrices.
pub(super) fn product(x: &Value, y: &Value, ty: &Ty) -> Value {
    let contracted = *x.ty.shape.last().expect("an axis");
    let columns = y.ty.size() / contracted.max(1);
    let unit = unit(x.ty.kind);
    let (mut floats, mut ints) = (Vec::new(), Vec::new());
    for place in 0..ty.size() {
        let (row, column) = (place / columns.max(1), place % columns.max(1));
        let pairs = (0..contracted).map(|k| (row * contracted + k, k * columns + column));
        if x.is_float() {
            let terms: Vec<Num> = pairs
                .map(|(a, b)| x.floats[a].times(y.floats[b], unit))
                .collect();
            floats.push(total(&terms, unit));
        } else {
            ints.push(pairs.map(|(a, b)| x.ints[a] * y.ints[b]).sum::<i64>());
        }
    }
    if x.is_float() {
        Value::from_floats(ty, floats)
    } else {
        Value::from_ints(ty, ints)
    }
}
