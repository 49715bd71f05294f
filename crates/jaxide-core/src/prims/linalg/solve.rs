//! Solutions of linear systems as derivatives write them: differentiable again, one factorisation for all.

use super::super::*;
use super::lu::{System, lu_solve};
use super::matrices::*;
use super::*;
use crate::transform::eval_batch;

/// The solution `x` of `a x = rhs`, columns mapped over a solver for one column.
pub(super) fn solve(b: &Builder, a: Atom, rhs: Atom) -> Result<Atom> {
    let factors = b.emit(Lu, &[b.op(StopGradient, &[a])])?;
    let (lu, permutation) = (factors[0], factors[2]);
    let column = {
        let aval = b.aval(rhs);
        aval.with_shape(&aval.shape[..aval.rank() - 1])
    };
    let inner = b.nested();
    let known = [a, lu, permutation].map(|atom| inner.input(b.aval(atom)));
    let x = inner.input(column.clone());
    let [a_in, lu_in, permutation_in] = known;
    let prim = column_solver(b, &[a, lu, permutation].map(|atom| b.aval(atom)), &column)?;
    let factors = [lu_in, permutation_in];
    let operands = [&[a_in, a_in][..], &factors, &factors, &[x]].concat();
    let result = inner.emit(prim, &operands)?;
    let jaxpr = inner.finish(&result)?;
    let last = b.rank(rhs) - 1;
    let axis = BatchAxis {
        size: b.shape(rhs)[last],
        name: None,
    };
    let shared = |value| Batched { value, dim: None };
    let operands = [
        shared(a),
        shared(lu),
        shared(permutation),
        Batched {
            value: rhs,
            dim: Some(last),
        },
    ];
    let results = eval_batch(b, &jaxpr.jaxpr, &[], &operands, &axis)?;
    crate::transform::place(
        b,
        results[0],
        crate::transform::OutDim::At(Some(last)),
        axis.size,
    )
    .map(|result| result.value)
}

/// The solver for one column: operands are the matrix twice, the factors twice, and the right-hand side.
fn column_solver(b: &Builder, known: &[Aval; 3], column: &Aval) -> Result<CustomLinearSolve> {
    let [a, lu, permutation] = known;
    let product = |transpose: bool| {
        let b = b.nested();
        let (a, x) = (b.input(a.clone()), b.input(column.clone()));
        let rank = b.rank(a);
        let batch: Dims = (0..rank - 2).collect();
        let numbers = |lhs: usize, rhs: usize| DotDimensionNumbers {
            lhs_contracting: smallvec![lhs],
            rhs_contracting: smallvec![rhs],
            lhs_batch: batch.clone(),
            rhs_batch: batch.clone(),
        };
        let result = if transpose {
            let product = b.dot_general(x, a, numbers(rank - 2, rank - 2), HIGHEST, None);
            b.reduce_sum(product, &[])
        } else {
            b.dot_general(a, x, numbers(rank - 1, rank - 2), HIGHEST, None)
        };
        b.finish(&[result])
    };
    let solver = |system: System| {
        let b = b.nested();
        let args = [lu, permutation, column].map(|aval| b.input(aval.clone()));
        let solution = lu_solve(&b, args[0], args[1], args[2], system)?;
        b.finish(&[solution])
    };
    Ok(CustomLinearSolve {
        const_lengths: LinearSolveLengths {
            matvec: 1,
            vecmat: 1,
            solve: 2,
            transpose_solve: 2,
        },
        jaxprs: LinearSolveJaxprs {
            matvec: product(false)?,
            vecmat: Some(product(true)?),
            solve: solver(System::Plain)?,
            transpose_solve: Some(solver(System::Transposed)?),
        },
    })
}
