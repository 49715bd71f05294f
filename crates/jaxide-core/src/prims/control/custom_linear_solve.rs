//! `custom_linear_solve`: the solution of a linear system given by functions.
//!
//! Operands are the constants of `matvec`, `vecmat`, `solve` and `transpose_solve`, then the right-hand side.

use super::super::*;
use super::call::*;
use super::inlined::inlined_jvp;
use super::loops::fixpoint;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr};
use crate::marks::{or, present};
use crate::transform::{OutDim, batch_front, place};

impl LinearSolveLengths {
    /// Number of constants of all functions.
    fn total(self) -> usize {
        self.matvec + self.vecmat + self.solve + self.transpose_solve
    }

    /// With the function and its transpose exchanged.
    fn transposed(self) -> Self {
        LinearSolveLengths {
            matvec: self.vecmat,
            vecmat: self.matvec,
            solve: self.transpose_solve,
            transpose_solve: self.solve,
        }
    }

    /// The constants of each function.
    fn split<T: Clone>(self, operands: &[T]) -> [Vec<T>; 4] {
        let mut rest = operands;
        [self.matvec, self.vecmat, self.solve, self.transpose_solve].map(|count| {
            let (part, others) = rest.split_at(count);
            rest = others;
            part.to_vec()
        })
    }
}

impl Primitive for CustomLinearSolve {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let constants = self.const_lengths.total();
        let Some(rhs) = operands.get(constants..) else {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "{constants} constants are expected, and {} operands are given",
                    operands.len()
                ),
            ));
        };
        let [matvec, _, solve, _] = self.const_lengths.split(&operands[..constants]);
        check_arguments(
            "matvec",
            &self.jaxprs.matvec,
            &[matvec.as_slice(), rhs].concat(),
        )?;
        check_arguments(
            "solve",
            &self.jaxprs.solve,
            &[solve.as_slice(), rhs].concat(),
        )?;
        let results = self.jaxprs.solve.out_avals();
        if results.len() < rhs.len() {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "solve gives {} results for {} right-hand sides",
                    results.len(),
                    rhs.len()
                ),
            ));
        }
        // Weakness and placement are those of the right-hand side, auxiliary results those of the solver.
        let types = rhs.iter().chain(&results[rhs.len()..]).cloned();
        Ok(types.collect())
    }

    /// From `A x = b` follows `dx = A⁻¹ (db - dA x)`.
    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let constants = self.const_lengths.total();
        let solution = b.emit(self.clone(), primals)?;
        let (params, _) = primals.split_at(constants);
        let (params_dot, rhs_dot) = tangents.split_at(constants);
        let count = rhs_dot.len();
        let x = &solution[..count];
        let matvec = self.const_lengths.matvec;
        let mut rhs: Vec<Option<Atom>> = rhs_dot.to_vec();
        if params_dot[..matvec].iter().any(Option::is_some) {
            let args = [&params[..matvec], x].concat();
            let mut dots = params_dot[..matvec].to_vec();
            dots.resize(matvec + count, None);
            let moved = inlined_jvp(b, &self.jaxprs.matvec, &args, &dots)?.tangents;
            let moved = moved.into_iter().zip(x);
            let moved: Vec<Atom> = moved
                .map(|(dot, &x)| b.instantiate(dot, &b.aval(x)))
                .collect();
            let minus: Vec<Atom> = moved.into_iter().map(|moved| b.neg(moved)).collect();
            for (rhs, minus) in rhs.iter_mut().zip(minus) {
                *rhs = Some(rhs.map_or(minus, |rhs| b.add_any(rhs, minus)));
            }
        }
        let mut operands = params.to_vec();
        for (rhs, &x) in rhs.iter().zip(x) {
            operands.push(b.instantiate(*rhs, &b.aval(x)));
        }
        let x_dot = b.emit(self.clone(), &operands)?;
        let tangents = x_dot
            .into_iter()
            .enumerate()
            .map(|(index, dot)| (index < count).then_some(dot))
            .collect();
        Ok(JvpResult::new(solution, tangents))
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let constants = self.const_lengths.total();
        let mapped = present(&Batched::dims(operands));
        let params = self.const_lengths.split(&mapped[..constants]);
        let start = mapped[constants..].to_vec();
        let (batched_jaxprs, rhs_mapped, x_mapped) =
            self.batch_functions(b, axis, &params, &start)?;
        let mut values = Vec::with_capacity(operands.len());
        for &operand in &operands[..constants] {
            values.push(place(b, operand, OutDim::FrontIfMapped, axis.size)?.value);
        }
        for (&operand, &mapped) in operands[constants..].iter().zip(&rhs_mapped) {
            let out = if mapped {
                OutDim::Front
            } else {
                OutDim::FrontIfMapped
            };
            values.push(place(b, operand, out, axis.size)?.value);
        }
        let prim = CustomLinearSolve {
            jaxprs: batched_jaxprs,
            ..self.clone()
        };
        let dims: Vec<Option<usize>> = x_mapped.iter().map(|&mapped| mapped.then_some(0)).collect();
        Ok(Batched::all(b.emit(prim, &values)?, &dims))
    }

    /// Solves with the transpose.
    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let refuse = |reason: &str| Error::no_rule("custom_linear_solve", "transpose", reason);
        let constants = self.const_lengths.total();
        let (Some(vecmat), Some(transpose_solve)) =
            (&self.jaxprs.vecmat, &self.jaxprs.transpose_solve)
        else {
            return Err(refuse(
                "reverse mode needs transpose_solve: give one, or say that the map is symmetric",
            ));
        };
        let (params, rhs) = operands.split_at(constants);
        let params: Option<Vec<Atom>> = params.iter().map(TransposeArg::known).collect();
        let Some(params) = params else {
            return Err(refuse("it is not linear in the constants of its functions"));
        };
        if cotangents[rhs.len()..].iter().any(Option::is_some) {
            return Err(refuse("auxiliary results have no derivative"));
        }
        let [matvec, vecmat_params, solve, transpose_params] = self.const_lengths.split(&params);
        let mut inputs = [vecmat_params, matvec, transpose_params, solve].concat();
        for (cotangent, operand) in cotangents.iter().zip(rhs) {
            inputs.push(b.instantiate(*cotangent, &operand.aval(b)));
        }
        let prim = CustomLinearSolve {
            const_lengths: self.const_lengths.transposed(),
            jaxprs: LinearSolveJaxprs {
                matvec: vecmat.clone(),
                vecmat: Some(self.jaxprs.matvec.clone()),
                solve: transpose_solve.clone(),
                transpose_solve: Some(self.jaxprs.solve.clone()),
            },
        };
        let out = b.emit(prim, &inputs)?;
        let mut all: Cotangents = params.iter().map(|_| None).collect();
        all.extend(out.into_iter().take(rhs.len()).map(Some));
        Ok(all)
    }
}

impl CustomLinearSolve {
    /// The functions over all lanes, and which right-hand sides and which results are mapped then: what one function
    /// makes mapped the others must take as mapped.
    fn batch_functions(
        &self,
        b: &Builder,
        axis: &BatchAxis,
        params: &[Vec<bool>; 4],
        start: &[bool],
    ) -> Result<(LinearSolveJaxprs, Vec<bool>, Vec<bool>)> {
        let [matvec_params, vecmat_params, solve_params, transpose_params] = params;
        let jaxprs = &self.jaxprs;
        let count = jaxprs.matvec.jaxpr.outvars.len();
        let results = jaxprs.solve.jaxpr.outvars.len();
        let front = |jaxpr: &ClosedJaxpr, params: &[bool], args: &[bool], instantiate: &[bool]| {
            batch_front(b, jaxpr, axis, &[params, args].concat(), instantiate)
        };
        let unmapped = vec![false; results];
        let ((jaxprs, x), (_, rhs)) = fixpoint((unmapped, start.to_vec()), |(x, rhs)| {
            let solve = front(&jaxprs.solve, solve_params, rhs, x)?;
            let solve_x = solve.mapped();
            let mut x_out = solve_x.clone();
            let vecmat = match &jaxprs.vecmat {
                None => None,
                Some(vecmat) => {
                    let out = front(vecmat, vecmat_params, rhs, rhs)?;
                    let mut mapped = out.mapped();
                    mapped.resize(results, true);
                    x_out = or(&mapped, &solve_x);
                    Some(out.jaxpr)
                }
            };
            let matvec = front(&jaxprs.matvec, matvec_params, &x_out[..count], rhs)?;
            let mut rhs_out = or(&matvec.mapped(), start);
            let transpose_solve = match &jaxprs.transpose_solve {
                None => None,
                Some(transpose) => {
                    let out = front(transpose, transpose_params, &x_out[..count], &x_out)?;
                    rhs_out = or(&rhs_out, &out.mapped()[..rhs.len()]);
                    Some(out.jaxpr)
                }
            };
            let jaxprs = LinearSolveJaxprs {
                matvec: matvec.jaxpr,
                vecmat,
                solve: solve.jaxpr,
                transpose_solve,
            };
            Ok(((jaxprs, solve_x), (x_out, rhs_out)))
        })?;
        Ok((jaxprs, rhs, x))
    }
}
