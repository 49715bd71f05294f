//! Sums, products, extrema and logical reductions along axes.

use super::super::*;
use super::eval_jvp;
use super::*;
use crate::transform::{OutDim, batch, inline};

fn number(aval: &Aval) -> Result<()> {
    if aval.dtype.is_integer() || aval.dtype.is_inexact() {
        return Ok(());
    }
    Err(Error::dtype(format!(
        "{aval} has element type {}, and a number is expected",
        aval.dtype
    )))
}

fn ordered(aval: &Aval) -> Result<()> {
    if aval.dtype == DType::Bool || aval.dtype.is_integer() || aval.dtype.is_inexact() {
        return Ok(());
    }
    Err(Error::dtype(format!(
        "{aval} has element type {}, and ordered values are expected",
        aval.dtype
    )))
}

fn bits(aval: &Aval) -> Result<()> {
    if aval.dtype == DType::Bool || aval.dtype.is_integer() {
        return Ok(());
    }
    Err(Error::dtype(format!(
        "{aval} has element type {}, and bool or an integer is expected",
        aval.dtype
    )))
}

/// Rules of reductions along `axes`. A row is the primitive, what its operand may be, its forward derivative and its
/// transpose.
macro_rules! reductions {
    ($($prim:ident $check:expr, $jvp:expr, $transpose:expr;)*) => { $(
        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                let aval = one(operands)?;
                let check: fn(&Aval) -> Result<()> = $check;
                check(aval)?;
                Ok(smallvec![without_axes(aval, &self.axes)?])
            }

            fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
                let jvp: fn(&Self, &Builder, &[Atom], &[Option<Atom>]) -> Result<JvpResult> = $jvp;
                jvp(self, b, primals, tangents)
            }

            fn batch(&self, b: &Builder, operands: &[Batched], _axis: &BatchAxis) -> Result<BatchedResults> {
                Ok(batch_reduction(b, operands[0], &self.axes, |axes| {
                    let mut reduction = self.clone();
                    reduction.axes = axes;
                    reduction.into()
                }))
            }

            fn transpose(&self, b: &Builder, cotangents: &[Option<Atom>], operands: &[TransposeArg]) -> Result<Cotangents> {
                type Rule = fn(&[usize], &Builder, Option<Atom>, &Aval) -> Result<Option<Atom>>;
                let transpose: Rule = $transpose;
                let TransposeArg::Linear(aval) = &operands[0] else { return Ok(smallvec![None]) };
                Ok(smallvec![transpose(&self.axes, b, cotangents[0], aval)?])
            }
        }
    )* };
}

reductions! {
    ReduceSum number, |p, b, x, t| linear_jvp(&p.clone().into(), b, x, t), |axes, b, ct, aval| Ok(ct.map(|ct| spread(b, ct, axes, aval)));
    ReduceMax ordered, |p, b, x, t| Ok(extremum_jvp(p.clone(), &p.axes, b, x, t)), |_, _, _, _| Err(not_linear("reduce_max"));
    ReduceMin ordered, |p, b, x, t| Ok(extremum_jvp(p.clone(), &p.axes, b, x, t)), |_, _, _, _| Err(not_linear("reduce_min"));
    ReduceProd number, |p, b, x, t| product_jvp(&p.axes, b, x[0], t[0]), |_, _, _, _| Err(not_linear("reduce_prod"));
    ReduceAnd bits, |p, b, x, _| Ok(JvpResult::one(b.op(p.clone(), x), None)), |_, _, _, _| Err(not_linear("reduce_and"));
    ReduceOr bits, |p, b, x, _| Ok(JvpResult::one(b.op(p.clone(), x), None)), |_, _, _, _| Err(not_linear("reduce_or"));
    ReduceXor bits, |p, b, x, _| Ok(JvpResult::one(b.op(p.clone(), x), None)), |_, _, _, _| Err(not_linear("reduce_xor"));
}

/// The cotangent of a sum: repeated along the axes that disappeared.
fn spread(b: &Builder, ct: Atom, axes: &[usize], aval: &Aval) -> Atom {
    let kept: Vec<usize> = (0..aval.rank())
        .filter(|axis| !axes.contains(axis))
        .collect();
    b.broadcast_in_dim(ct, &aval.shape, &kept)
}

/// The tangent of an extremum: the mean of the tangents of the elements that attain it.
fn extremum_jvp(
    prim: impl Into<Prim>,
    axes: &[usize],
    b: &Builder,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> JvpResult {
    let (x, answer) = (primals[0], b.op(prim, primals));
    let tangent = tangents[0].map(|g| {
        let shape: Vec<usize> = b
            .shape(x)
            .iter()
            .enumerate()
            .map(|(axis, &length)| if axes.contains(&axis) { 1 } else { length })
            .collect();
        let attained = b.convert(b.eq(x, b.reshape(answer, &shape)), b.dtype(g));
        let counts = b.reduce_sum(attained, axes);
        b.div(b.reduce_sum(b.mul(g, attained), axes), counts)
    });
    JvpResult::one(answer, tangent)
}

/// The derivative of a product: through a tree of products of halves, so that zeros need no division.
fn product_jvp(axes: &[usize], b: &Builder, x: Atom, tangent: Option<Atom>) -> Result<JvpResult> {
    let shape = b.shape(x);
    let kept: Vec<usize> = (0..shape.len())
        .filter(|axis| !axes.contains(axis))
        .collect();
    let count: usize = axes.iter().map(|&axis| shape[axis]).product();
    let new_sizes: Dims = std::iter::once(count)
        .chain(kept.iter().map(|&axis| shape[axis]))
        .collect();
    let dimensions: Dims = axes.iter().chain(&kept).copied().collect();
    let flatten = |x: Atom| flatten_in_order(b, x, &dimensions, &new_sizes);
    let (x, tangent) = (flatten(x), tangent.map(flatten));
    let tree = product_tree(&b.aval(x))?;
    let (primals, tangents) = eval_jvp(b, &tree.jaxpr, &[], &[x], &[tangent])?;
    Ok(JvpResult {
        primals: primals.into(),
        tangents: tangents.into(),
    })
}

/// The product along the first axis by repeated halving.
fn product_tree(aval: &Aval) -> Result<ClosedJaxpr> {
    let b = Builder::new();
    let mut x = b.input(aval.clone());
    while b.shape(x)[0] > 1 {
        let shape = b.shape(x);
        let (length, half) = (shape[0], shape[0].div_ceil(2));
        let first = b.slice_in_dim(x, 0, 0, half, 1);
        let mut second = b.slice_in_dim(x, 0, half, length, 1);
        if length - half != half {
            let mut config = vec![(0, 0, 0); shape.len()];
            config[0] = (0, 1, 0);
            second = b.pad(second, b.number(1.0, aval.dtype), &config);
        }
        x = b.mul(first, second);
    }
    let result = if b.shape(x)[0] == 0 {
        b.full(&aval.shape[1..], 1.0, aval.dtype)
    } else {
        b.squeeze(x, &[0])
    };
    b.finish(&[result])
}

impl Primitive for Reduce {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let (arrays, initial) = halves(operands)?;
        let first = &arrays[0];
        for (index, (array, initial)) in arrays.iter().zip(initial).enumerate() {
            if array.shape != first.shape {
                return Err(Error::shape(format!(
                    "operands {first} and {array} have different shapes"
                )));
            }
            if initial.rank() != 0 || initial.dtype != array.dtype {
                return Err(Error::shape(format!(
                    "initial value {index} must be a scalar {}, and is {initial}",
                    array.dtype
                )));
            }
        }
        check_reducer(&self.jaxpr, arrays)?;
        arrays
            .iter()
            .zip(initial)
            .map(|(array, initial)| {
                Ok(without_axes(array, &self.dimensions)?
                    .weak(array.weak_type && initial.weak_type))
            })
            .collect()
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let half = primals.len() / 2;
        if tangents[half..].iter().any(Option::is_some) {
            return Err(Error::no_rule(
                "reduce",
                "jvp",
                "initial values with tangents are not supported",
            ));
        }
        if tangents.iter().all(Option::is_none) {
            let answers = b.emit(self.clone(), primals)?;
            return Ok(JvpResult {
                tangents: smallvec![None; answers.len()],
                primals: answers,
            });
        }
        reduce_jvp(self, b, primals, &tangents[..half])
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let half = operands.len() / 2;
        if operands[half..].iter().any(|initial| initial.dim.is_some()) {
            return Err(Error::no_rule(
                "reduce",
                "batching",
                "initial values that differ between lanes are not supported",
            ));
        }
        let mut atoms: Vec<Atom> = operands[..half]
            .iter()
            .map(|&operand| super::super::elementwise::to_front(b, operand, axis.size))
            .collect();
        atoms.extend(operands[half..].iter().map(|initial| initial.value));
        let dimensions = self.dimensions.iter().map(|axis| axis + 1).collect();
        let results = b.emit(
            Reduce {
                dimensions,
                ..self.clone()
            },
            &atoms,
        )?;
        Ok(results
            .into_iter()
            .map(|value| Batched {
                value,
                dim: Some(0),
            })
            .collect())
    }

    no_rules! { "reduce", NOT_LINEAR; transpose }
}

/// Operands and initial values, of which there are as many.
fn halves(operands: &[Aval]) -> Result<(&[Aval], &[Aval])> {
    if operands.is_empty() || !operands.len().is_multiple_of(2) {
        return Err(Error::new(
            crate::error::ErrorKind::Arity,
            format!(
                "operands and as many initial values are expected, and there are {} in all",
                operands.len()
            ),
        ));
    }
    Ok(operands.split_at(operands.len() / 2))
}

/// The combiner takes two sets of scalars and gives one.
fn check_reducer(jaxpr: &ClosedJaxpr, arrays: &[Aval]) -> Result<()> {
    let scalars: Vec<Aval> = arrays
        .iter()
        .map(|array| Aval::scalar(array.dtype))
        .collect();
    let (ins, outs) = (jaxpr.in_avals(), jaxpr.out_avals());
    let fits = ins.len() == 2 * scalars.len()
        && ins
            .iter()
            .zip(scalars.iter().cycle())
            .all(|(a, b)| a.matches(b))
        && outs.len() == scalars.len()
        && outs.iter().zip(&scalars).all(|(a, b)| a.matches(b));
    if fits {
        return Ok(());
    }
    Err(Error::shape(format!(
        "the combiner must take two and give one of each of {} scalars of the operands' types",
        scalars.len()
    )))
}

/// The derivative of a general reduction: through a tree of halves along one axis.
fn reduce_jvp(
    prim: &Reduce,
    b: &Builder,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<JvpResult> {
    let half = primals.len() / 2;
    let shape = b.shape(primals[0]);
    let kept: Vec<usize> = (0..shape.len())
        .filter(|axis| !prim.dimensions.contains(axis))
        .collect();
    let count: usize = prim.dimensions.iter().map(|&axis| shape[axis]).product();
    let new_sizes: Dims = std::iter::once(count)
        .chain(kept.iter().map(|&axis| shape[axis]))
        .collect();
    let dimensions: Dims = prim.dimensions.iter().chain(&kept).copied().collect();
    let flatten = |x: Atom| flatten_in_order(b, x, &dimensions, &new_sizes);
    let mut operands: Vec<Atom> = primals[..half].iter().map(|&x| flatten(x)).collect();
    let mut seeds: Vec<Option<Atom>> = tangents.iter().map(|t| t.map(flatten)).collect();
    operands.extend_from_slice(&primals[half..]);
    seeds.extend(std::iter::repeat_n(None, half));
    let avals: Vec<Aval> = operands.iter().map(|&x| b.aval(x)).collect();
    let tree = reduction_tree(&prim.jaxpr, &avals)?;
    let (primals, tangents) = eval_jvp(b, &tree.jaxpr, &[], &operands, &seeds)?;
    Ok(JvpResult {
        primals: primals.into(),
        tangents: tangents.into(),
    })
}

/// A reduction along the first axis by repeated halving, the combiner mapped over all other axes.
fn reduction_tree(combiner: &ClosedJaxpr, avals: &[Aval]) -> Result<ClosedJaxpr> {
    let b = Builder::new();
    let inputs: Vec<Atom> = avals.iter().map(|aval| b.input(aval.clone())).collect();
    let (arrays, initial) = inputs.split_at(avals.len() / 2);
    let mut arrays = arrays.to_vec();
    while b.shape(arrays[0])[0] > 1 {
        let shape = b.shape(arrays[0]);
        let (length, half) = (shape[0], shape[0].div_ceil(2));
        let parts = |start, limit| {
            let cut = |&x: &Atom| b.slice_in_dim(x, 0, start, limit, 1);
            arrays.iter().map(cut).collect::<Vec<Atom>>()
        };
        let (mut operands, mut second) = (parts(0, half), parts(half, length));
        if length - half != half {
            let mut config = vec![(0, 0, 0); shape.len()];
            config[0] = (0, 1, 0);
            for (part, &initial) in second.iter_mut().zip(initial) {
                *part = b.pad(*part, initial, &config);
            }
        }
        operands.append(&mut second);
        arrays = map_combiner(&b, combiner, &operands)?;
    }
    let results: Vec<Atom> = arrays
        .iter()
        .zip(initial)
        .map(|(&x, &initial)| {
            let shape = b.shape(x);
            if shape[0] == 0 {
                b.broadcast_in_dim(initial, &shape[1..], &[])
            } else {
                b.squeeze(x, &[0])
            }
        })
        .collect();
    b.finish(&results)
}

/// Applies a combiner of scalars to all elements of arrays of one shape, mapping it over one axis after the other.
fn map_combiner(b: &Builder, combiner: &ClosedJaxpr, operands: &[Atom]) -> Result<Vec<Atom>> {
    let shape = b.shape(operands[0]);
    let mut combiner = combiner.clone();
    for &size in shape.iter().rev() {
        let axis = BatchAxis { size, name: None };
        let front = vec![Some(0); operands.len()];
        let out = vec![OutDim::Front; combiner.jaxpr.outvars.len()];
        combiner = batch(b, &combiner, &axis, &front, &out)?.jaxpr;
    }
    Ok(inline(b, &combiner, operands)?.into_vec())
}

/// `x` with its axes read in another order, as another shape; itself when neither differs.
fn flatten_in_order(b: &Builder, x: Atom, dimensions: &Dims, new_sizes: &Dims) -> Atom {
    if dimensions.iter().copied().eq(0..dimensions.len()) {
        return b.reshape(x, new_sizes);
    }
    let prim = Reshape {
        dimensions: Some(dimensions.clone()),
        new_sizes: new_sizes.clone(),
        sharding: Opaque::none(),
    };
    b.op(prim, &[x])
}
