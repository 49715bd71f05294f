//! The LU factorisation and solutions with it.

use super::super::named_function::call_named;
use super::super::*;
use super::matrices::*;
use super::*;
use crate::transform::eval_batch;

factorisations! {
    Lu "lu" |_, o| {
        let (batch, rows, columns) = matrix(one(o)?)?;
        let pivots = shaped(DType::I32, batch, &[rows.min(columns)]);
        Ok(smallvec![o[0].clone(), pivots, shaped(DType::I32, batch, &[rows])])
    }, |p, b, x, t| {
        let answers = b.emit(*p, x)?;
        let tangent = t[0].map(|g| over_batch(b, lu_tangent, &[answers[0], g, answers[2]])).transpose()?;
        Ok(JvpResult { primals: answers, tangents: smallvec![tangent, None, None] })
    };
    LuPivotsToPermutation "lu_pivots_to_permutation" |p, o| {
        let aval = one(o)?;
        let Some((&count, batch)) = aval.shape.split_last() else {
            return Err(Error::shape(format!("pivots must be a vector, and are {aval}")));
        };
        if !aval.dtype.is_integer() {
            return Err(Error::dtype(format!("pivots must be integers, and are {aval}")));
        }
        if p.permutation_size < count {
            return Err(Error::parameter(format!("permutation_size {} is less than the {count} pivots", p.permutation_size)));
        }
        Ok(smallvec![shaped(aval.dtype, batch, &[p.permutation_size])])
    }, |p, b, x, _| Ok(JvpResult::one(b.op(p.clone(), x), None));
}

/// Applies a function of one matrix and what goes with it to all matrices along the leading batch axes. The first
/// argument is an array of matrices; all have the same batch axes.
pub(super) fn over_batch(
    b: &Builder,
    function: fn(&Builder, &[Atom]) -> Result<Atom>,
    args: &[Atom],
) -> Result<Atom> {
    let lanes: Vec<usize> = b.shape(args[0])[..b.rank(args[0]) - 2].to_vec();
    let Some((&outermost, inner)) = lanes.split_first() else {
        return function(b, args);
    };
    let lane = b.nested();
    let inputs: Vec<Atom> = args
        .iter()
        .map(|&arg| {
            let aval = b.aval(arg);
            lane.input(aval.with_shape(&aval.shape[lanes.len()..]))
        })
        .collect();
    let result = function(&lane, &inputs)?;
    let mut jaxpr = lane.finish(&[result])?;
    // From the innermost axis outwards, so that each mapped axis is in front.
    for &size in inner.iter().rev() {
        let front = vec![Some(0); args.len()];
        let axis = BatchAxis { size, name: None };
        let out = [crate::transform::OutDim::Front];
        jaxpr = crate::transform::batch(b, &jaxpr, &axis, &front, &out)?.jaxpr;
    }
    let axis = BatchAxis {
        size: outermost,
        name: None,
    };
    let operands: Vec<Batched> = args
        .iter()
        .map(|&value| Batched {
            value,
            dim: Some(0),
        })
        .collect();
    let results = eval_batch(b, &jaxpr.jaxpr, &[], &operands, &axis)?;
    Ok(to_front(b, results[0], axis.size))
}

/// The tangent of both factors in one matrix, from the factors, the tangent of the matrix and the permutation of its rows.
///
/// With `P A = L U`: `dL = L tril(L⁻¹ P dA U⁻¹, -1)` and `dU = triu(L⁻¹ P dA U⁻¹) U` (de Hoog, Anderssen and Lukas,
/// "Differentiation of matrix functionals using triangular factorization", 2011).
fn lu_tangent(b: &Builder, args: &[Atom]) -> Result<Atom> {
    let [lu, tangent, permutation] = [args[0], args[1], args[2]];
    let (m, n) = rows_columns(b, tangent);
    let (k, dtype) = (m.min(n), b.dtype(lu));
    let zero = || b.number(0.0, dtype);
    let (below, right) = ((m - k) as i64, (n - k) as i64);
    let l = tril(b, columns(b, lu, 0..k), -1);
    let l = b.pad(l, zero(), &[(0, 0, 0), (0, below, 0)]);
    let l = b.add(l, eye(b, dtype, m));
    let corner = (k as i64, 0, 0);
    let u_eye = b.pad(eye(b, dtype, n - k), zero(), &[corner, corner]);
    let u = triu(b, rows(b, lu, 0..k), 0);
    let u = b.pad(u, zero(), &[(0, right, 0), (0, 0, 0)]);
    let u = b.add(u, u_eye);
    let permuted = take(b, tangent, permutation, 0);
    let unit_lower = TriangularSolve {
        unit_diagonal: true,
        ..LOWER_FROM_LEFT
    };
    let left = solve_triangular(b, &unit_lower, l, permuted);
    let both = solve_triangular(b, &UPPER_FROM_RIGHT, u, left);
    let l_dot = matmul(b, l, tril(b, both, -1), HIGHEST);
    let u_dot = matmul(b, triu(b, both, 0), u, HIGHEST);
    Ok(b.add(l_dot, u_dot))
}

/// Which system a factorisation solves.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum System {
    /// `A x = b`.
    Plain,
    /// `Aᵀ x = b`.
    Transposed,
    /// `Aᴴ x = b`.
    Adjoint,
}

/// The solution with factors, permutation and right-hand side (a matrix, or a vector per matrix), as a call.
pub(super) fn lu_solve(
    b: &Builder,
    lu: Atom,
    permutation: Atom,
    rhs: Atom,
    system: System,
) -> Result<Atom> {
    let out = call_named(
        b,
        "_lu_solve",
        &[system as i64],
        &[lu, permutation, rhs],
        |b, args| {
            let is_vector = b.rank(args[0]) == b.rank(args[2]) + 1;
            let mut rhs = args[2];
            if is_vector {
                rhs = with_axis(b, rhs, b.rank(rhs));
            }
            let solve = match system {
                System::Plain => solve_plain,
                System::Transposed => solve_transposed,
                System::Adjoint => solve_adjoint,
            };
            let solution = over_batch(b, solve, &[args[0], args[1], rhs])?;
            Ok(vec![if is_vector {
                b.squeeze(solution, &[b.rank(solution) - 1])
            } else {
                solution
            }])
        },
    )?;
    Ok(out[0])
}

fn solve_plain(b: &Builder, args: &[Atom]) -> Result<Atom> {
    let [lu, permutation, rhs] = [args[0], args[1], args[2]];
    let permuted = take(b, rhs, permutation, 0);
    let unit_lower = TriangularSolve {
        unit_diagonal: true,
        ..LOWER_FROM_LEFT
    };
    let solution = solve_triangular(b, &unit_lower, lu, permuted);
    Ok(solve_triangular(b, &UPPER_FROM_LEFT, lu, solution))
}

fn solve_transposed(b: &Builder, args: &[Atom]) -> Result<Atom> {
    solve_back(b, args, false)
}

fn solve_adjoint(b: &Builder, args: &[Atom]) -> Result<Atom> {
    solve_back(b, args, true)
}

fn solve_back(b: &Builder, args: &[Atom], conjugate_a: bool) -> Result<Atom> {
    let [lu, permutation, rhs] = [args[0], args[1], args[2]];
    let upper = TriangularSolve {
        transpose_a: true,
        conjugate_a,
        ..UPPER_FROM_LEFT
    };
    let solution = solve_triangular(b, &upper, lu, rhs);
    let unit_lower = TriangularSolve {
        lower: true,
        unit_diagonal: true,
        ..upper
    };
    let solution = solve_triangular(b, &unit_lower, lu, solution);
    let positions = b.iota(DType::I32, &b.shape(permutation), 0);
    let sort = Sort {
        dimension: 0,
        is_stable: true,
        num_keys: 1,
    };
    let sorted = b.emit(sort, &[permutation, positions])?;
    Ok(take(b, solution, sorted[1], 0))
}
