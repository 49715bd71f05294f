//! Transposition: a loop that runs the other way.
//!
//! The cotangent of a carry is the new carry; cotangents of constants are summed up in further carries; cotangents of
//! stacked inputs are stacked results.

use super::*;
use crate::jaxpr::flags;
use crate::transform::rearrange::reorder_arguments;
use crate::transform::{MemoArgs, backward_pass, bind_constants};

impl Scan {
    pub(super) fn transpose_rule(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let Body { consts, carry, .. } = self.body();
        let linear = TransposeArg::linears(operands);
        // [known constants, linear constants, carry, linear inputs, known inputs]
        let group = |range: std::ops::Range<usize>, wanted: bool| {
            range
                .filter(|&index| linear[index] == wanted)
                .collect::<Vec<usize>>()
        };
        let known_consts = group(0..consts, false);
        let linear_consts = group(0..consts, true);
        let linear_xs = group(consts + carry..operands.len(), true);
        let known_xs = group(consts + carry..operands.len(), false);
        let carried: Vec<usize> = (consts..consts + carry).collect();
        let order = [
            &known_consts,
            &linear_consts,
            &carried,
            &linear_xs,
            &known_xs,
        ]
        .map(Vec::as_slice)
        .concat();
        let body = reorder_arguments(b.memo(), &self.jaxpr, &order)?;
        let layout = Layout {
            known_consts: known_consts.len(),
            linear_consts: linear_consts.len(),
            carry,
            linear_xs: linear_xs.len(),
        };
        let values = |indices: &[usize]| -> Vec<Atom> {
            indices
                .iter()
                .filter_map(|&index| operands[index].known())
                .collect()
        };
        let (carry_cts, y_cts) = cotangents.split_at(carry);
        let carry_cts: Vec<Atom> = carry_cts
            .iter()
            .zip(&operands[consts..])
            .map(|(&cotangent, operand)| b.instantiate(cotangent, &operand.aval(b)))
            .collect();
        let sums: Vec<Atom> = linear_consts
            .iter()
            .map(|&index| b.instantiate(None, &operands[index].aval(b)))
            .collect();
        let y_nonzero = present(y_cts);
        let transposed = layout.transpose_body(b, &body, &y_nonzero)?;
        let inputs: Vec<Atom> = values(&known_consts)
            .into_iter()
            .chain(sums)
            .chain(carry_cts)
            .chain(y_cts.iter().flatten().copied())
            .chain(values(&known_xs))
            .collect();
        let backwards = Scan {
            reverse: !self.reverse,
            ..self.with_body(
                transposed,
                layout.known_consts,
                layout.linear_consts + carry,
            )
        };
        let results = backwards.bind(b, &inputs);
        let mut out: Cotangents = operands.iter().map(|_| None).collect();
        let places = linear_consts.iter().chain(&carried).chain(&linear_xs);
        for (&index, &result) in places.zip(&results) {
            // A carry may start at a known zero.
            out[index] = linear[index].then_some(result);
        }
        Ok(out)
    }
}

/// Numbers of arguments of a linear body, in this order, with known inputs behind.
struct Layout {
    known_consts: usize,
    linear_consts: usize,
    carry: usize,
    linear_xs: usize,
}

impl Layout {
    /// The body from [known constants, sums of constants' cotangents, carry cotangents, result cotangents, known
    /// inputs] to [sums, carry cotangents, input cotangents].
    fn transpose_body(
        &self,
        b: &Builder,
        body: &ClosedJaxpr,
        y_nonzero: &[bool],
    ) -> Result<ClosedJaxpr> {
        let mut args = MemoArgs::new();
        args.extend(
            [
                self.known_consts,
                self.linear_consts,
                self.carry,
                self.linear_xs,
            ]
            .map(|n| n as i64),
        );
        flags(&mut args, y_nonzero);
        b.memo().of_jaxpr("transpose_scan", body, args, || {
            let b = b.nested();
            let consts = bind_constants(&b, body);
            let avals = body.in_avals();
            let (known_consts, rest) = avals.split_at(self.known_consts);
            let (linear_consts, rest) = rest.split_at(self.linear_consts);
            // What a step gives to the carry may be less weak than what it takes.
            let out_avals = body.out_avals();
            let (carry, ys) = out_avals.split_at(self.carry);
            let (_, rest) = rest.split_at(self.carry);
            let (linear_xs, known_xs) = rest.split_at(self.linear_xs);
            let inputs = |avals: &[Aval]| -> Vec<Atom> {
                avals.iter().map(|aval| b.input(aval.clone())).collect()
            };
            let tangents =
                |avals: &[Aval]| -> Vec<Aval> { avals.iter().map(Aval::tangent).collect() };
            let known_consts = inputs(known_consts);
            let sums = inputs(&tangents(linear_consts));
            let carry_cts = inputs(&tangents(carry));
            let y_cts: Vec<Option<Atom>> = ys
                .iter()
                .zip(y_nonzero)
                .map(|(aval, &nonzero)| nonzero.then(|| b.input(aval.tangent())))
                .collect();
            let known_xs = inputs(known_xs);
            let linear: Vec<Aval> = [linear_consts, carry, linear_xs]
                .concat()
                .iter()
                .map(Aval::tangent)
                .collect();
            let known = |atoms: &[Atom]| {
                atoms
                    .iter()
                    .map(|&atom| TransposeArg::Known(atom))
                    .collect::<Vec<_>>()
            };
            let mut args = known(&known_consts);
            args.extend(linear.iter().cloned().map(TransposeArg::Linear));
            args.extend(known(&known_xs));
            let mut start: Vec<Option<Atom>> = vec![None; args.len()];
            for (place, &sum) in start[self.known_consts..].iter_mut().zip(&sums) {
                *place = Some(sum);
            }
            let cotangents: Vec<Option<Atom>> =
                carry_cts.iter().map(|&ct| Some(ct)).chain(y_cts).collect();
            let out = backward_pass(&b, &body.jaxpr, &consts, &args, start, &cotangents)?;
            let results: Vec<Atom> = out[self.known_consts..]
                .iter()
                .zip(&linear)
                .map(|(cotangent, aval)| cotangent.unwrap_or_else(|| b.zeros(aval)))
                .collect();
            b.finish(&results)
        })
    }
}
