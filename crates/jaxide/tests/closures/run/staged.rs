//! Functions of closures.

use jaxide::prelude::*;
use jaxide::{custom_jvp, custom_vjp, map};

use super::Env;
use super::form::{Packed, with_form};
use crate::closures::program::{Block, How, Staged};

impl Env {
    pub(super) fn staged(&self, staged: &Staged) -> Vec<Array> {
        with_form!(staged.form, staged.operands.len(), P => self.packed::<P>(staged))
    }

    /// A closure of the block that captures this environment.
    fn closure<P: Packed>(
        &self,
        block: &Block,
    ) -> impl Fn(P) -> Vec<Array> + Clone + Send + Sync + use<P> {
        let (env, block) = (self.clone(), block.clone());
        move |packed: P| env.call(&block, packed.unpack())
    }

    fn packed<P: Packed>(&self, staged: &Staged) -> Vec<Array> {
        let operands: Vec<Array> = staged.operands.iter().map(|&id| self.get(id)).collect();
        let blocks = &staged.blocks;
        match &staged.how {
            How::Cond(predicate) => {
                let predicate = self.get(*predicate);
                cond(
                    predicate,
                    |x: P| self.call(&blocks[0], x.unpack()),
                    |x: P| self.call(&blocks[1], x.unpack()),
                    P::pack(operands),
                )
            }
            How::Switch(index) => {
                let branches: Vec<_> = blocks
                    .iter()
                    .map(|block| self.closure::<P>(block))
                    .collect();
                switch(self.get(*index), branches, P::pack(operands))
            }
            How::While(limit) => {
                let limit = *limit as i32;
                let init = (P::pack(operands), Array::from(vec![0i32]).sum());
                let (carry, _) = while_loop(
                    |(x, count): (P, Array)| {
                        let go_on = self.call(&blocks[0], x.unpack());
                        count.lt(limit) & &go_on[0]
                    },
                    |(x, count)| (P::pack(self.call(&blocks[1], x.unpack())), count + 1),
                    init,
                );
                carry.unpack()
            }
            How::Fori(lower, upper) => {
                let body = |number: Array, carry: P| {
                    let mut inputs = vec![number];
                    inputs.extend(carry.unpack());
                    P::pack(self.call(&blocks[0], inputs))
                };
                let (lower, upper) = (self.operand(*lower), self.operand(*upper));
                fori_loop(lower, upper, body, P::pack(operands)).unpack()
            }
            How::Scan {
                carry,
                reverse,
                length,
            } => {
                let (init, xs) = operands.split_at(*carry);
                let body = |state: Vec<Array>, slice: Vec<Array>| {
                    let mut inputs = state;
                    inputs.extend(slice);
                    let mut results = self.call(&blocks[0], inputs);
                    let ys = results.split_off(*carry);
                    (results, ys)
                };
                let (init, xs) = (init.to_vec(), xs.to_vec());
                let (mut state, ys) = if *reverse {
                    jaxide::scan_reverse(body, init, xs, *length)
                } else {
                    scan(body, init, xs, *length)
                };
                state.extend(ys);
                state
            }
            How::Map => map(|x: P| self.call(&blocks[0], x.unpack()), P::pack(operands)),
            How::Jit => jit(self.closure::<P>(&blocks[0]))(P::pack(operands)),
            How::Checkpoint => checkpoint(self.closure::<P>(&blocks[0]))(P::pack(operands)),
            How::CustomJvp => {
                let (f, derived) = (self.closure::<P>(&blocks[0]), self.closure::<P>(&blocks[0]));
                let rule = move |(x,): (P,), (t,): (P,)| jvp(derived.clone(), (x,), (t,));
                custom_jvp(f, rule)(P::pack(operands))
            }
            How::CustomVjp => {
                let (f, derived) = (self.closure::<P>(&blocks[0]), self.closure::<P>(&blocks[0]));
                let again = f.clone();
                let forward = move |x: P| (again(x.clone()), x);
                let backward = move |x: P, ct: Vec<Array>| vjp(derived.clone(), (x,)).1.apply(&ct);
                custom_vjp(f, forward, backward)(P::pack(operands))
            }
            How::Vmap(mapped, _) => {
                // Axes by operand, so that each is an argument of its own.
                let axes: Vec<Option<i32>> = mapped
                    .iter()
                    .map(|axis| axis.map(|axis| axis as i32))
                    .collect();
                let f = self.closure::<Vec<Array>>(&blocks[0]);
                vmap(f).in_axes((axes,))(operands)
            }
            How::Grad { value: false } => {
                let f = self.closure::<P>(&blocks[0]);
                grad(move |x: P| f(x)[0].clone())(P::pack(operands)).unpack()
            }
            How::Grad { value: true } => {
                let f = self.closure::<P>(&blocks[0]);
                let (value, gradient) =
                    value_and_grad(move |x: P| f(x)[0].clone())(P::pack(operands));
                let mut all = vec![value];
                all.extend(gradient.unpack());
                all
            }
            How::Jvp | How::Linearize | How::Vjp => self.directed(staged, operands),
        }
    }

    /// Derivatives with primals and directions among the operands.
    fn directed(&self, staged: &Staged, mut operands: Vec<Array>) -> Vec<Array> {
        let block = &staged.blocks[0];
        let directions = operands.split_off(block.inputs.len());
        with_form!(staged.form, operands.len(), P => {
            let f = self.closure::<P>(block);
            let primals = P::pack(operands);
            match staged.how {
                How::Vjp => vjp(f, (primals,)).1.apply(&directions).0.unpack(),
                How::Linearize => {
                    let (mut results, linear) = linearize(f, (primals,));
                    results.extend(linear.apply(&(P::pack(directions),)));
                    results
                }
                _ => {
                    let (mut results, tangents) = jvp(f, (primals,), (P::pack(directions),));
                    results.extend(tangents);
                    results
                }
            }
        })
    }
}
