//! Selection, clamping and polynomials.

use super::super::*;
use super::*;
use crate::error::Result;

impl Primitive for Clamp {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [min, x, max] = operands else {
            return Err(arity(3, operands.len()));
        };
        operands.iter().try_for_each(|aval| ANY.check(aval))?;
        same_dtype(operands)?;
        for (name, bound) in [("lower", min), ("upper", max)] {
            if bound.rank() > 0 && bound.shape != x.shape {
                return Err(Error::shape(format!(
                    "the {name} bound {bound} is neither a scalar nor of the shape of {x}"
                )));
            }
        }
        let weak = operands.iter().all(|aval| aval.weak_type);
        Ok(smallvec![x.clone().weak(weak)])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(*self, primals);
        let (min, x, max) = (primals[0], primals[1], primals[2]);
        let masked = |mask: Atom, g: Atom| {
            let zeros = full_like(b, x, 0.0, None);
            let (mask, g) = (mask, maybe_broadcast(b, g, &b.shape(x)));
            b.select(mask, g, zeros)
        };
        let lower = tangents[0].map(|g| {
            let (above, ordered) = (b.gt(min, x), b.lt(min, max));
            masked(b.and(above, ordered), g)
        });
        let middle = tangents[1].map(|g| {
            let (above, below) = (b.gt(x, min), b.lt(x, max));
            masked(b.and(above, below), g)
        });
        let upper = tangents[2].map(|g| masked(b.lt(max, x), g));
        let sum = add_tangents(b, lower, middle);
        Ok(JvpResult::one(answer, add_tangents(b, sum, upper)))
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let [min, x, max] = [operands[0], operands[1], operands[2]];
        let rank = |operand: Batched| b.rank(operand.value);
        let call = |min: Atom, x: Atom, max: Atom, dim| {
            Ok(smallvec![Batched {
                value: b.op(Clamp, &[min, x, max]),
                dim
            }])
        };
        if min.dim == x.dim && x.dim == max.dim {
            let shape = b.shape(x.value);
            if b.shape(min.value) == shape && b.shape(max.value) == shape {
                return call(min.value, x.value, max.value, x.dim);
            }
            if rank(min) == 1 && rank(max) == 1 {
                let dims: Vec<usize> = x.dim.into_iter().collect();
                let spread = |bound: Batched| b.broadcast_in_dim(bound.value, &shape, &dims);
                return call(spread(min), x.value, spread(max), x.dim);
            }
        } else if rank(min) == 0 && rank(max) == 0 && x.dim.is_some() {
            return call(min.value, x.value, max.value, x.dim);
        }
        let front = |operand: Batched| {
            if rank(operand) > 0 {
                to_front(b, operand, axis.size)
            } else {
                operand.value
            }
        };
        let (mut min, mut max, mut x) = (front(min), front(max), front(x));
        let widest = [min, x, max]
            .into_iter()
            .max_by_key(|&atom| b.rank(atom))
            .map(|atom| b.shape(atom))
            .unwrap_or_default();
        // Scalars first, in the order in which JAX writes them.
        for scalars in [true, false] {
            for atom in [&mut min, &mut max, &mut x] {
                let own = b.rank(*atom);
                if own < widest.len() && (own == 0) == scalars {
                    let dims: Vec<usize> = (0..own).collect();
                    *atom = b.broadcast_in_dim(*atom, &widest, &dims);
                }
            }
        }
        call(min, x, max, Some(0))
    }

    fn transpose(
        &self,
        _b: &Builder,
        _cotangents: &[Option<Atom>],
        _operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        Err(not_linear("clamp"))
    }
}

impl Primitive for SelectN {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let [which, cases @ ..] = operands else {
            return Err(arity(2, 0));
        };
        let Some(first) = cases.first() else {
            return Err(arity(2, 1));
        };
        BITS.check(which)?;
        same_dtype(cases)?;
        if which.dtype == DType::Bool && cases.len() > 2 {
            return Err(Error::parameter(format!(
                "a bool selects between 2 cases, and there are {}",
                cases.len()
            )));
        }
        let shape = broadcast_shape(cases)?;
        if cases
            .iter()
            .any(|case| case.rank() > 0 && case.shape != shape)
        {
            let types: Vec<String> = cases.iter().map(Aval::to_string).collect();
            return Err(Error::shape(format!(
                "cases of different shapes: {}",
                types.join(" and ")
            )));
        }
        if which.rank() > 0 && which.shape != shape {
            return Err(Error::shape(format!(
                "the selector {which} is neither a scalar nor of the cases' shape {shape:?}"
            )));
        }
        let weak = cases.iter().all(|case| case.weak_type);
        Ok(smallvec![first.with_shape(&shape).weak(weak)])
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(*self, primals);
        let Some(first) = tangents[1..].iter().flatten().next() else {
            return Ok(JvpResult::one(answer, None));
        };
        let zeros = full_like(b, *first, 0.0, None);
        let mut operands = vec![primals[0]];
        operands.extend(tangents[1..].iter().map(|tangent| tangent.unwrap_or(zeros)));
        Ok(JvpResult::one(answer, Some(b.op(*self, &operands))))
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let (which, cases) = (operands[0], &operands[1..]);
        let call = |which: Atom, cases: &[Atom], dim| {
            let mut atoms = vec![which];
            atoms.extend_from_slice(cases);
            Ok(smallvec![Batched {
                value: b.op(SelectN, &atoms),
                dim
            }])
        };
        let values: Vec<Atom> = cases.iter().map(|case| case.value).collect();
        let case_shape = b.shape(values[0]);
        if cases.iter().all(|case| case.dim == which.dim) {
            if b.shape(which.value) == case_shape {
                return call(which.value, &values, which.dim);
            }
            if let Some(dim) = which.dim {
                let spread = b.broadcast_in_dim(which.value, &case_shape, &[dim]);
                return call(spread, &values, which.dim);
            }
        } else if b.rank(which.value) == 0 && cases.iter().all(|case| case.dim.is_some()) {
            let dim = cases[0].dim;
            if cases.iter().all(|case| case.dim == dim) {
                return call(which.value, &values, dim);
            }
            if let Some(to) = dim
                && values.iter().all(|&value| b.shape(value) == case_shape)
            {
                let moved: Vec<Atom> = cases
                    .iter()
                    .map(|case| move_axis(b, case.value, case.dim.unwrap_or(to), to))
                    .collect();
                return call(which.value, &moved, dim);
            }
        }
        let mut selector = if b.rank(which.value) > 0 {
            to_front(b, which, axis.size)
        } else {
            which.value
        };
        let mut values: Vec<Atom> = if values.iter().all(|&value| b.rank(value) == 0) {
            values
        } else {
            cases
                .iter()
                .map(|case| to_front(b, *case, axis.size))
                .collect()
        };
        let shape = b.shape(values[0]);
        if (1..shape.len()).contains(&b.rank(selector)) {
            selector = b.broadcast_in_dim(selector, &shape, &[0]);
        }
        if b.rank(selector) > shape.len() {
            let wide = b.shape(selector);
            values = values
                .into_iter()
                .map(|value| b.broadcast_in_dim(value, &wide, &[]))
                .collect();
        }
        call(selector, &values, Some(0))
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let TransposeArg::Known(which) = operands[0] else {
            return Err(not_linear("select_n"));
        };
        let mut out: Cotangents = smallvec![None; operands.len()];
        let Some(ct) = cotangents[0] else {
            return Ok(out);
        };
        let linear = |index: usize| matches!(operands[index], TransposeArg::Linear(_));
        if operands.len() == 2 {
            out[1] = linear(1).then_some(ct);
            return Ok(out);
        }
        let zeros = full_like(b, ct, 0.0, None);
        if b.dtype(which) == DType::Bool {
            out[1] = linear(1).then(|| b.select(which, zeros, ct));
            out[2] = linear(2).then(|| b.select(which, ct, zeros));
            return Ok(out);
        }
        let last = (operands.len() - 2) as f64;
        let clamped = b.op(
            Clamp,
            &[constant(b, which, 0.0), which, constant(b, which, last)],
        );
        for index in 1..operands.len() {
            if linear(index) {
                let chosen = b.eq(clamped, constant(b, which, (index - 1) as f64));
                out[index] = Some(b.select(chosen, ct, zeros));
            }
        }
        Ok(out)
    }
}

impl Polynomial {
    /// The polynomial with other coefficients, behind `x` in `operands`. One of degree 0 is its coefficient.
    fn with_coefficients(&self, b: &Builder, operands: &[Atom]) -> Atom {
        match *operands {
            [x] => full_like(b, x, 0.0, None),
            [x, only] => {
                let shape = broadcast_shape(&[b.aval(x), b.aval(only)]);
                maybe_broadcast(b, only, &shape.unwrap_or_else(|_| b.shape(only)))
            }
            _ => b.op(self.clone(), operands),
        }
    }
}

impl Primitive for Polynomial {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        if operands.len() < 2 {
            return Err(arity(2, operands.len()));
        }
        operands.iter().try_for_each(|aval| NUMBER.check(aval))?;
        let dtype = same_dtype(operands)?;
        result(operands, dtype)
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let answer = b.op(self.clone(), primals);
        let (x, coefficients) = (primals[0], &primals[1..]);
        let mut sum = None;
        if let Some(g) = tangents[0] {
            let mut operands = vec![x];
            for (degree, &coefficient) in coefficients.iter().enumerate().skip(1) {
                operands.push(b.mul(constant(b, coefficient, degree as f64), coefficient));
            }
            let slope = self.with_coefficients(b, &operands);
            sum = Some(b.mul(g, slope));
        }
        if tangents[1..].iter().any(Option::is_some) {
            let mut operands = vec![x];
            for (&coefficient, tangent) in coefficients.iter().zip(&tangents[1..]) {
                operands.push(tangent.unwrap_or_else(|| full_like(b, coefficient, 0.0, None)));
            }
            let own = self.with_coefficients(b, &operands);
            sum = add_tangents(b, sum, Some(own));
        }
        Ok(JvpResult::one(answer, sum))
    }

    fn batch(
        &self,
        b: &Builder,
        operands: &[Batched],
        _axis: &BatchAxis,
    ) -> Result<BatchedResults> {
        batch_elementwise(self.clone().into(), b, operands)
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let TransposeArg::Known(x) = operands[0] else {
            return Err(not_linear("polynomial"));
        };
        let mut out: Cotangents = smallvec![None; operands.len()];
        let Some(mut power) = cotangents[0] else {
            return Ok(out);
        };
        for (index, operand) in operands.iter().enumerate().skip(1) {
            if let TransposeArg::Linear(aval) = operand {
                out[index] = Some(unbroadcast(b, aval, power));
            }
            if index + 1 < operands.len() {
                power = b.mul(power, x);
            }
        }
        Ok(out)
    }
}
