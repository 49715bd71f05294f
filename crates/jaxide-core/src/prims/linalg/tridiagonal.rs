//! Solutions with a tridiagonal matrix: linear in the right-hand side.

use super::super::elementwise::{add_tangents, move_axis};
use super::super::indexing::addition;
use super::super::*;
use super::matrices::*;
use super::*;

impl Primitive for TridiagonalSolve {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [lower, diagonal, upper, rhs] = operands_of(operands)?;
        let (batch, n, _) = matrix(rhs)?;
        for diagonal in [lower, diagonal, upper] {
            check_like(diagonal, rhs.dtype, batch, &[n])?;
        }
        Ok(smallvec![rhs.clone()])
    }

    /// `dX = A⁻¹ (dB - dA X)`.
    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(self.clone(), primals);
        if tangents.iter().all(Option::is_none) {
            return Ok(JvpResult::one(answer, None));
        }
        let mut rhs = tangents[3];
        if tangents[..3].iter().any(Option::is_some) {
            let diagonals: [Atom; 3] = std::array::from_fn(|index| {
                b.instantiate(tangents[index], &b.aval(primals[index]))
            });
            let moved = tridiagonal_product(b, diagonals, answer)?;
            rhs = add_tangents(b, rhs, Some(b.neg(moved)));
        }
        let tangent = rhs.map(|rhs| {
            let mut operands = primals.to_vec();
            operands[3] = rhs;
            b.op(self.clone(), &operands)
        });
        Ok(JvpResult::one(answer, tangent))
    }

    /// With one matrix for all lanes, lanes become further right-hand sides.
    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let rhs = operands[3];
        let dim = match rhs.dim {
            Some(dim) if operands[..3].iter().all(|operand| operand.dim.is_none()) => dim,
            _ => return batch_leading(self.clone().into(), b, operands, axis),
        };
        let rank = b.rank(rhs.value);
        let rhs = move_axis(b, rhs.value, dim, rank - 2);
        let shape = b.shape(rhs);
        let mut flat = shape.clone();
        let columns = flat.remove(rank - 1);
        flat[rank - 2] *= columns;
        let mut atoms = Batched::values(operands);
        atoms[3] = b.reshape(rhs, &flat);
        let solution = b.op(self.clone(), &atoms);
        Ok(smallvec![Batched {
            value: b.reshape(solution, &shape),
            dim: Some(rank - 2)
        }])
    }

    /// The transposed matrix has its diagonals exchanged and moved by one.
    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let known: Option<Vec<Atom>> = operands[..3].iter().map(TransposeArg::known).collect();
        let (Some(known), true) = (known, operands[3].is_linear()) else {
            return Err(not_linear("tridiagonal_solve"));
        };
        let Some(ct) = cotangents[0] else {
            return Ok(smallvec![None; 4]);
        };
        let [lower, diagonal, upper] = [known[0], known[1], known[2]];
        let axis = b.rank(upper) - 1;
        let n = b.shape(upper)[axis];
        let zero_like = |x: Atom| b.full(&b.shape(x), 0.0, b.dtype(x));
        let zero = zero_like(part(b, upper, axis, n.saturating_sub(1)..n));
        let rest = part(b, upper, axis, 0..n.saturating_sub(1));
        let new_lower = b.concatenate(&[zero, rest], axis);
        let rest = part(b, lower, axis, 1.min(n)..n);
        let zero = zero_like(part(b, lower, axis, 0..1.min(n)));
        let new_upper = b.concatenate(&[rest, zero], axis);
        let ct = b.op(self.clone(), &[new_lower, diagonal, new_upper, ct]);
        Ok(smallvec![None, None, None, Some(ct)])
    }
}

/// The product of a tridiagonal matrix, given by its lower, main and upper diagonal, with `x`.
fn tridiagonal_product(b: &Builder, [lower, diagonal, upper]: [Atom; 3], x: Atom) -> Result<Atom> {
    let (rank, n) = (b.rank(x), rows_columns(b, x).0);
    let last = n.saturating_sub(1);
    let mut column = b.shape(diagonal);
    column.push(1);
    let mut sum = b.mul(b.reshape(diagonal, &column), x);
    for (diagonal, from, to) in [(lower, 0..last, 1.min(n)..n), (upper, 1.min(n)..n, 0..last)] {
        let diagonal = with_axis(b, part(b, diagonal, rank - 2, to.clone()), rank - 1);
        let term = b.mul(diagonal, rows(b, x, from));
        let index = b.broadcast_in_dim(b.integer(to.start as i64, DType::I32), &[1], &[]);
        let prim = ScatterAdd {
            dimension_numbers: ScatterDimensionNumbers {
                update_window_dims: (0..rank).collect(),
                scatter_dims_to_operand_dims: smallvec![rank - 2],
                ..Default::default()
            },
            indices_are_sorted: true,
            mode: GatherScatterMode::FillOrDrop,
            unique_indices: true,
            update_consts: NoConsts,
            update_jaxpr: OptionalJaxpr(Some(addition(b, b.dtype(sum))?)),
        };
        sum = b.op(prim, &[sum, index, term]);
    }
    Ok(sum)
}
