//! Genes of control flow: calls, branches, loops.

use jaxide_core::prims::*;
use jaxide_core::transform::Policy;
use jaxide_core::{Atom, Aval, ClosedJaxpr, DType};

use super::Profile;
use super::scope::Scope;
use crate::draw::{Draw, Gene};

/// Functions are nested this deep.
const DEEPEST: usize = 3;

impl Scope {
    /// A call, a branch or a loop whose body the next genes are; gives those that are left.
    pub(super) fn control<'g>(&mut self, draw: &mut Draw<'_>, rest: &'g [Gene]) -> &'g [Gene] {
        let length = draw.between(1, 4).min(rest.len());
        let (body, rest) = rest.split_at(length);
        if self.depth >= DEEPEST {
            self.write(body);
            return rest;
        }
        match draw.below(8) {
            0 | 1 => self.call(draw, body),
            2 | 3 => self.branch(draw, body),
            4 if !matches!(self.profile, Profile::Reversible(_)) => self.repeat(draw, body),
            _ => self.scan(draw, body),
        }
        rest
    }

    fn picks(&mut self, draw: &mut Draw<'_>, least: usize, most: usize) -> Vec<Atom> {
        let count = draw.between(least, most);
        (0..count).map(|_| self.pick(draw)).collect()
    }

    fn avals(&self, atoms: &[Atom]) -> Vec<Aval> {
        atoms.iter().map(|&atom| self.b.aval(atom)).collect()
    }

    /// A function of such arguments, before its results are chosen.
    fn body(&self, arguments: &[Aval], genes: &[Gene]) -> Scope {
        let mut body = Scope::new(self.profile, self.extent, self.depth + 1);
        for aval in arguments {
            body.input(aval.clone());
        }
        body.write(genes);
        body
    }

    /// A function of such arguments with results of these types, or any without.
    fn function(
        &self,
        draw: &mut Draw<'_>,
        arguments: &[Aval],
        genes: &[Gene],
        results: Option<&[Aval]>,
    ) -> ClosedJaxpr {
        let mut body = self.body(arguments, genes);
        let results: Vec<Atom> = match results {
            Some(avals) => (avals.iter())
                .map(|aval| body.pick_like(draw, aval))
                .collect(),
            None => body.picks(draw, 1, 3),
        };
        body.finish(&results)
    }

    fn call(&mut self, draw: &mut Draw<'_>, genes: &[Gene]) {
        let operands = self.picks(draw, 1, 3);
        let jaxpr = self.function(draw, &self.avals(&operands), genes, None);
        let prim: Prim = match draw.below(4) {
            0 | 1 => Jit::new(Name("f".into()), jaxpr).into(),
            2 => Remat {
                differentiated: false,
                jaxpr,
                policy: draw
                    .choose(&[
                        Policy::NothingSaveable,
                        Policy::DotsSaveable,
                        Policy::EverythingSaveable,
                        Policy::SaveOnlyTheseNames(vec![Name("kept".into())]),
                    ])
                    .write(),
                prevent_cse: true,
            }
            .into(),
            _ => ClosedCall { call_jaxpr: jaxpr }.into(),
        };
        self.emit(prim, &operands);
    }

    fn branch(&mut self, draw: &mut Draw<'_>, genes: &[Gene]) {
        let operands = self.picks(draw, 1, 3);
        let avals = self.avals(&operands);
        let count = draw.between(2, 3).min(genes.len() + 1);
        let mut parts = genes.chunks(genes.len().div_ceil(count).max(1));
        let mut next = || parts.next().unwrap_or(&[]);
        let first = self.function(draw, &avals, next(), None);
        let results = first.out_avals();
        let mut branches = vec![first];
        for _ in 1..count {
            branches.push(self.function(draw, &avals, next(), Some(&results)));
        }
        let index = self.integer(draw);
        let index = self.to_dtype(index, DType::I32);
        let index = self.to_shape(index, &[]);
        let (low, high) = (self.like(index, 0.0), self.like(index, count as f64 - 1.0));
        let index = self.apply(Clamp, &[low, index, high])[0];
        let mut all = vec![index];
        all.extend(operands);
        let prim = Cond {
            branches: Branches(branches),
            branches_platforms: None,
        };
        self.emit(prim, &all);
    }

    /// A `while` of few steps: a count, and now and then a condition on what is carried.
    fn repeat(&mut self, draw: &mut Draw<'_>, genes: &[Gene]) {
        let body_consts = self.picks(draw, 0, 2);
        let cond_consts = self.picks(draw, 0, 1);
        let count = self.b.integer(0, DType::I32);
        let mut carry = vec![count];
        carry.extend(self.picks(draw, 1, 3));
        let carried = self.avals(&carry);

        let mut arguments = self.avals(&cond_consts);
        arguments.extend(carried.clone());
        let mut cond = self.body(&arguments, &[]);
        let (counter, limit) = (cond_consts.len(), draw.below(4) as i64);
        let counter = cond.argument(counter);
        let go_on = cond.b.lt(counter, cond.b.integer(limit, DType::I32));
        let go_on = if draw.flag() {
            let also = cond.pick_like(draw, &Aval::scalar(DType::Bool));
            cond.b.or(also, go_on)
        } else {
            go_on
        };
        let least = cond.b.lt(counter, cond.b.integer(5, DType::I32));
        let go_on = cond.b.and(go_on, least);
        let cond_jaxpr = cond.finish(&[go_on]);

        let mut arguments = self.avals(&body_consts);
        arguments.extend(carried.clone());
        let mut body = self.body(&arguments, genes);
        let counter = body.argument(body_consts.len());
        let mut results = vec![body.b.add(counter, body.b.integer(1, DType::I32))];
        results.extend(carried[1..].iter().map(|aval| body.pick_like(draw, aval)));
        let body_jaxpr = body.finish(&results);

        let prim = While {
            body_nconsts: body_consts.len(),
            cond_nconsts: cond_consts.len(),
            body_jaxpr,
            cond_jaxpr,
        };
        let operands: Vec<Atom> = [cond_consts, body_consts, carry].concat();
        self.emit(prim, &operands);
    }

    fn scan(&mut self, draw: &mut Draw<'_>, genes: &[Gene]) {
        let length = draw.choose(&[2, 3, 1, 4, 0, 5]);
        let consts = self.picks(draw, 0, 2);
        let carry = self.picks(draw, 0, 2);
        let mut xs = Vec::new();
        let mut arguments = self.avals(&[consts.clone(), carry.clone()].concat());
        for x in self.picks(draw, 0, 2) {
            let aval = self.b.aval(x);
            let mut shape = aval.shape.clone();
            if shape.len() < 5 {
                shape.insert(0, length);
            } else {
                shape[0] = length;
            }
            if self.fits(&shape) {
                xs.push(self.to_shape(x, &shape));
                arguments.push(aval.with_shape(&shape[1..]));
            }
        }
        let mut body = self.body(&arguments, genes);
        let carried = self.avals(&carry);
        let mut results: Vec<Atom> = (carried.iter())
            .map(|aval| body.pick_like(draw, aval))
            .collect();
        let mut ys = body.picks(draw, usize::from(carry.is_empty()), 2);
        ys.retain(|&y| self.fits(&[body.b.aval(y).size() * length]) && body.b.rank(y) < 5);
        results.extend(&ys);
        let jaxpr = body.finish(&results);
        let prim = Scan {
            ft_in: ScanInputs {
                consts: consts.len(),
                carry: carry.len(),
                xs: xs.len(),
            },
            ft_out: ScanOutputs {
                carry: carry.len(),
                ys: ys.len(),
            },
            jaxpr,
            length,
            reverse: draw.flag(),
            unroll: 1,
        };
        let operands: Vec<Atom> = [consts, carry, xs].concat();
        self.emit(prim, &operands);
    }
}
