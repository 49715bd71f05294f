//! Functions along one axis.

use std::cmp::Ordering;

use super::reduce::total;
use super::value::{ravel, unit, unravel};
use super::{Evaluator, Outcome, Value};
use crate::closures::number::Num;
use crate::closures::program::{Along, Ty};

/// The elements of one line along an axis.
enum Elements {
    Floats(Vec<Num>),
    Ints(Vec<i64>),
}

impl Evaluator {
    pub(super) fn along(&mut self, op: Along, x: &Value, axis: usize, ty: &Ty) -> Outcome<Value> {
        let (mut floats, mut ints) = (vec![Num::default(); ty.size()], vec![0; ty.size()]);
        let (mut lines, length) = (x.ty.shape.clone(), x.ty.shape[axis]);
        lines[axis] = 1;
        for line in 0..lines.iter().product() {
            let mut index = unravel(line, &lines);
            let mut at = |position: usize| {
                index[axis] = position;
                ravel(&index, &x.ty.shape)
            };
            let places: Vec<usize> = (0..length).map(&mut at).collect();
            let given = if x.is_float() {
                Elements::Floats(places.iter().map(|&at| x.floats[at]).collect())
            } else {
                Elements::Ints(places.iter().map(|&at| x.ints[at]).collect())
            };
            let made = self.line_along(op, given, unit(x.ty.kind))?;
            // A position along the axis takes the place of the whole line.
            let places = if ty.size() == x.ty.size() && ty.shape == x.ty.shape {
                places
            } else {
                vec![line]
            };
            match made {
                Elements::Floats(made) => {
                    places.iter().zip(made).for_each(|(&at, x)| floats[at] = x);
                }
                Elements::Ints(made) => places.iter().zip(made).for_each(|(&at, x)| ints[at] = x),
            }
        }
        Ok(if ty.kind.is_float() {
            Value::from_floats(ty, floats)
        } else {
            Value::from_ints(ty, ints)
        })
    }

    fn line_along(&mut self, op: Along, given: Elements, unit: f64) -> Outcome<Elements> {
        Ok(match (op, given) {
            (Along::Reverse, Elements::Floats(mut x)) => {
                x.reverse();
                Elements::Floats(x)
            }
            (Along::Reverse, Elements::Ints(mut x)) => {
                x.reverse();
                Elements::Ints(x)
            }
            (Along::Cumsum | Along::Prefix, Elements::Floats(x)) => {
                let sum = |count| total(&x[..=count], unit);
                Elements::Floats((0..x.len()).map(sum).collect())
            }
            (Along::Cumsum | Along::Prefix, Elements::Ints(x)) => {
                let sum = |count| x[..=count].iter().sum();
                Elements::Ints((0..x.len()).map(sum).collect())
            }
            (Along::Sort, Elements::Floats(x)) => Elements::Floats(self.sorted(x)?),
            (Along::Sort, Elements::Ints(mut x)) => {
                x.sort_unstable();
                Elements::Ints(x)
            }
            (Along::Argsort, x) => Elements::Ints(positions(&x)?),
            (Along::Argmax, x) => Elements::Ints(vec![first(&x, Ordering::Greater)?]),
            (Along::Argmin, x) => Elements::Ints(vec![first(&x, Ordering::Less)?]),
            (Along::Softmax, Elements::Floats(x)) => {
                let exponentials: Vec<Num> = x
                    .iter()
                    .map(|x| x.through([x.value().exp(); 3], unit))
                    .collect();
                let inverse = total(&exponentials, unit).inverse(unit);
                // The largest is taken away first, which rounds.
                let shares = exponentials
                    .iter()
                    .map(|x| x.times(inverse, unit).rounded(8.0 * unit));
                Elements::Floats(shares.collect())
            }
            (Along::Softmax, Elements::Ints(_)) => unreachable!("softmax of integers"),
        })
    }

    fn sorted(&mut self, mut x: Vec<Num>) -> Outcome<Vec<Num>> {
        x.sort_by(|a, b| a.value().total_cmp(&b.value()));
        for pair in 0..x.len().saturating_sub(1) {
            let (a, b) = (x[pair], x[pair + 1]);
            let decided = Self::order(a, b).is_ok_and(|order| order != Ordering::Equal);
            if !decided && a.c[1..] != b.c[1..] {
                self.kink()?;
            }
        }
        let error = x.iter().map(|x| x.e[0]).fold(0.0, f64::max);
        x.iter_mut().for_each(|x| x.e[0] = error);
        Ok(x)
    }
}

/// The order of two elements.
fn order(x: &Elements, a: usize, b: usize) -> Outcome<Ordering> {
    match x {
        Elements::Floats(x) => Evaluator::order(x[a], x[b]),
        Elements::Ints(x) => Ok(x[a].cmp(&x[b])),
    }
}

fn count(x: &Elements) -> usize {
    match x {
        Elements::Floats(x) => x.len(),
        Elements::Ints(x) => x.len(),
    }
}

/// The positions that sort elements, equal ones in their order.
fn positions(x: &Elements) -> Outcome<Vec<i64>> {
    let mut positions: Vec<usize> = (0..count(x)).collect();
    // Only if every order is known, they agree.
    for &a in &positions {
        for b in 0..a {
            order(x, a, b)?;
        }
    }
    positions.sort_by(|&a, &b| order(x, a, b).unwrap_or(Ordering::Equal));
    Ok(positions
        .into_iter()
        .map(|position| position as i64)
        .collect())
}

/// The position of the first element that none comes before in an order.
fn first(x: &Elements, before: Ordering) -> Outcome<i64> {
    let mut best = 0;
    for position in 1..count(x) {
        if order(x, position, best)? == before {
            best = position;
        }
    }
    Ok(best as i64)
}
