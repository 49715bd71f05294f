//! Index expressions: integers that are linear in loop variables, plus at most one term that is only known at run time.

use crate::{lanes, narrow};
use smallvec::{SmallVec, smallvec};

/// A loop variable, running from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Var(pub(crate) u32);

/// What a variable is in the lane program: `index + base`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Binding {
    pub(crate) index: lanes::Index,
    /// Where the index starts.
    pub(crate) base: Option<lanes::Index>,
    /// Variables merged into one index are mentioned in proportion only, so that the last one tells the step; the others do
    /// not lead.
    pub(crate) leads: bool,
}

impl Binding {
    /// This index, from 0.
    pub(crate) fn index(index: lanes::Index) -> Binding {
        Binding {
            index,
            base: None,
            leads: true,
        }
    }
}

/// A variable's range and place.
#[derive(Clone, Debug)]
pub(crate) struct VarInfo {
    /// It is below this.
    pub(crate) size: usize,
    pub(crate) binding: Binding,
}

/// All variables of a lane program under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vars {
    pub(crate) list: Vec<VarInfo>,
}

impl Vars {
    pub(crate) fn add(&mut self, size: usize, binding: Binding) -> Var {
        self.list.push(VarInfo { size, binding });
        Var(narrow(self.list.len() - 1))
    }

    pub(crate) fn get(&self, var: Var) -> &VarInfo {
        &self.list[var.0 as usize]
    }
}

/// `sum of variable * factor + offset + dynamic`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Ix {
    /// Ordered by variable, factors not 0.
    pub(crate) terms: SmallVec<[(Var, i64); 2]>,
    pub(crate) offset: i64,
    /// An `i32` or `i64` of the lane program.
    pub(crate) dynamic: Option<lanes::Value>,
}

/// Indices of one element.
pub(crate) type Ixs = SmallVec<[Ix; 4]>;

impl Ix {
    pub(crate) fn constant(offset: i64) -> Ix {
        Ix {
            offset,
            ..Ix::default()
        }
    }

    pub(crate) fn var(var: Var) -> Ix {
        Ix {
            terms: smallvec![(var, 1)],
            ..Ix::default()
        }
    }

    /// The value, if it is the same always.
    pub(crate) fn as_constant(&self) -> Option<i64> {
        (self.terms.is_empty() && self.dynamic.is_none()).then_some(self.offset)
    }

    /// The variable, if it is just one.
    pub(crate) fn as_var(&self) -> Option<Var> {
        match self.terms.as_slice() {
            [(var, 1)] if self.offset == 0 && self.dynamic.is_none() => Some(*var),
            _ => None,
        }
    }

    /// `None` when both have a term known at run time only, or the factor would apply to one.
    pub(crate) fn add_scaled(&self, other: &Ix, factor: i64) -> Option<Ix> {
        let dynamic = match (self.dynamic, other.dynamic) {
            (own, None) => own,
            (None, Some(v)) if factor == 1 => Some(v),
            (_, Some(_)) => return None,
        };
        let mut terms = self.terms.clone();
        for &(var, step) in &other.terms {
            match terms.binary_search_by_key(&var, |term| term.0) {
                Ok(at) => terms[at].1 += step * factor,
                Err(at) => terms.insert(at, (var, step * factor)),
            }
        }
        terms.retain(|term| term.1 != 0);
        Some(Ix {
            terms,
            offset: self.offset + other.offset * factor,
            dynamic,
        })
    }

    /// Smallest and largest value, where no term is known at run time only.
    pub(crate) fn range(&self, vars: &Vars) -> Option<(i64, i64)> {
        if self.dynamic.is_some() {
            return None;
        }
        let (mut low, mut high) = (self.offset, self.offset);
        for &(var, factor) in &self.terms {
            let most = (vars.get(var).size.max(1) - 1) as i64 * factor;
            if most < 0 { low += most } else { high += most }
        }
        Some((low, high))
    }

    /// Quotient and remainder by a positive number, where both are linear.
    pub(crate) fn div_rem(&self, divisor: i64, vars: &Vars) -> Option<(Ix, Ix)> {
        if self.dynamic.is_some() {
            return None;
        }
        if divisor == 1 {
            return Some((self.clone(), Ix::constant(0)));
        }
        let (multiples, rest): (SmallVec<[_; 2]>, SmallVec<[_; 2]>) = self
            .terms
            .iter()
            .copied()
            .partition(|term| term.1 % divisor == 0);
        let quotient = Ix {
            terms: multiples
                .into_iter()
                .map(|(var, factor)| (var, factor / divisor))
                .collect(),
            offset: self.offset.div_euclid(divisor),
            dynamic: None,
        };
        let remainder = Ix {
            terms: rest,
            offset: self.offset.rem_euclid(divisor),
            dynamic: None,
        };
        let (low, high) = remainder.range(vars)?;
        (low >= 0 && high < divisor).then_some((quotient, remainder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_linear_where_the_ranges_allow() {
        let mut vars = Vars::default();
        let bind = Binding::index(lanes::Index::Lane);
        let (i, j) = (vars.add(3, bind), vars.add(4, bind));
        // 4 i + j, j < 4
        let linear = Ix::var(j).add_scaled(&Ix::var(i), 4).unwrap();
        let shifted = |offset| Ix {
            offset,
            ..linear.clone()
        };
        assert_eq!(linear.range(&vars), Some((0, 11)));
        assert_eq!(linear.div_rem(4, &vars), Some((Ix::var(i), Ix::var(j))));
        assert_eq!(linear.div_rem(3, &vars), None);
        assert_eq!(
            shifted(4).div_rem(4, &vars).unwrap().0,
            Ix {
                offset: 1,
                ..Ix::var(i)
            }
        );
        assert_eq!(shifted(1).div_rem(4, &vars), None);
    }
}
