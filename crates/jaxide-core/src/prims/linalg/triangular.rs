//! Solutions with a triangular matrix: linear in the right-hand side.

use super::super::elementwise::{add_tangents, move_axis};
use super::super::*;
use super::matrices::*;
use super::*;

impl Primitive for TriangularSolve {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [a, rhs] = operands_of(operands)?;
        // Unlike factorisations, also of floats of 16 bits.
        let (batch, n) = if matches!(a.dtype, DType::F16 | DType::BF16) {
            square_sides(sides(a)?, a)?
        } else {
            square(a)?
        };
        let (_, rows, columns) = sides(rhs)?;
        check_like(rhs, a.dtype, batch, &[rows, columns])?;
        if n != if self.left_side { rows } else { columns } {
            return Err(Error::shape(format!("{a} does not fit {rhs} on this side")));
        }
        Ok(smallvec![rhs.clone()])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(self.clone(), primals);
        let moved = tangents[0].map(|g| self.matrix_tangent(b, g, answer, primals[0]));
        let rhs = tangents[1].map(|g| solve_triangular(b, self, primals[0], g));
        Ok(JvpResult::one(answer, add_tangents(b, moved, rhs)))
    }

    /// With one matrix for all lanes, lanes become further right-hand sides.
    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let (a, rhs) = (operands[0], operands[1]);
        let conjugate_a = self.conjugate_a && b.dtype(a.value).is_complex();
        let prim = TriangularSolve {
            conjugate_a,
            ..self.clone()
        };
        let (None, Some(dim)) = (a.dim, rhs.dim) else {
            return batch_leading(prim.into(), b, operands, axis);
        };
        let rank = b.rank(rhs.value);
        // Next to the axis of right-hand sides: behind it on the left side, in front of it on the right.
        let to = if self.left_side { rank - 1 } else { rank - 2 };
        let rhs = move_axis(b, rhs.value, dim, to);
        let shape = b.shape(rhs);
        let mut flat = shape.clone();
        let merged = flat.remove(if self.left_side { rank - 1 } else { rank - 3 });
        flat[if self.left_side { rank - 2 } else { rank - 3 }] *= merged;
        let solution = b.op(prim, &[a.value, b.reshape(rhs, &flat)]);
        Ok(smallvec![Batched {
            value: b.reshape(solution, &shape),
            dim: Some(to)
        }])
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let (Some(a), true) = (operands[0].known(), operands[1].is_linear()) else {
            return Err(not_linear("triangular_solve"));
        };
        let back = TriangularSolve {
            transpose_a: !self.transpose_a,
            ..self.clone()
        };
        let ct = cotangents[0].map(|ct| solve_triangular(b, &back, a, ct));
        Ok(smallvec![None, ct])
    }
}

impl TriangularSolve {
    /// The tangent that comes from the matrix's: `-A⁻¹ dA X`, or `-X dA A⁻¹` from the right. The products are done in the
    /// cheaper order.
    fn matrix_tangent(&self, b: &Builder, tangent: Atom, answer: Atom, a: Atom) -> Atom {
        let k = i64::from(self.unit_diagonal);
        let mut g = if self.lower {
            tril(b, tangent, -k)
        } else {
            triu(b, tangent, k)
        };
        g = b.neg(g);
        if self.transpose_a {
            g = transposed(b, g);
        }
        if self.conjugate_a {
            g = conjugate(b, g);
        }
        let solve = |rhs: Atom| solve_triangular(b, self, a, rhs);
        let (m, n) = rows_columns(b, answer);
        match (self.left_side, m > n, m < n) {
            (true, true, _) => solve(dot(b, g, answer)),
            (true, false, _) => dot(b, solve(g), answer),
            (false, _, true) => solve(dot(b, answer, g)),
            (false, _, false) => dot(b, answer, solve(g)),
        }
    }
}
