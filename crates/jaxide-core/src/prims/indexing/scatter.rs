//! `scatter` and its combining forms: windows written at starts that an index array gives.

use super::super::*;
use super::*;
use crate::error::ErrorKind;

const ADDITION: &str = "the combiner of scatter-add";

/// The combiner of `scatter-add` as a jaxpr of two scalars, the same object for the same element type.
pub(crate) fn addition(b: &Builder, dtype: DType) -> Result<ClosedJaxpr> {
    let key = [dtype as i64].into_iter().collect();
    b.memo().function(ADDITION, key, || {
        let b = Builder::new();
        let (x, y) = (b.input(Aval::scalar(dtype)), b.input(Aval::scalar(dtype)));
        let z = b.add(x, y);
        b.finish(&[z])
    })
}

/// Makes the combiner of every `scatter-add` in `jaxpr` the one that rules use, as there is one of them in JAX.
pub(crate) fn adopt_combiners(b: &Builder, jaxpr: &ClosedJaxpr) {
    for eqn in &jaxpr.jaxpr.eqns {
        if let Prim::ScatterAdd(scatter) = &eqn.prim
            && let Some(combiner) = &scatter.update_jaxpr.0
            && let [x, _] = combiner.in_avals().as_slice()
        {
            let key = [x.dtype as i64].into_iter().collect();
            // The first one found stays.
            let _ = b.memo().function(ADDITION, key, || Ok(combiner.clone()));
        }
        eqn.prim.visit(&mut |inner| adopt_combiners(b, inner));
    }
}

/// What all scatters check; the result is like the operand.
fn scatter_aval(
    numbers: &ScatterDimensionNumbers,
    combiner: &OptionalJaxpr,
    operands: &[Aval],
) -> Result<Avals> {
    let [operand, indices, updates] = operands else {
        return Err(arity(3, operands.len()));
    };
    if let Some(combiner) = &combiner.0 {
        let types = combiner.in_avals();
        let is_element = |aval: &Aval| aval.rank() == 0 && aval.dtype == operand.dtype;
        if types.len() != 2 || !types.iter().all(is_element) {
            let types: Vec<String> = types.iter().map(ToString::to_string).collect();
            return Err(Error::dtype(format!(
                "update_jaxpr takes ({}), and two elements of {operand} are expected",
                types.join(", ")
            )));
        }
    }
    if !indices.dtype.is_integer() {
        return Err(Error::dtype(format!(
            "indices must be integers, and are {indices}"
        )));
    }
    if operand.dtype != updates.dtype {
        return Err(Error::dtype(format!(
            "the operand is {operand} and the updates are {updates}"
        )));
    }
    let Some(index_axis) = indices.rank().checked_sub(1) else {
        return Err(Error::shape(format!(
            "indices need a last axis for the index components, and are {indices}"
        )));
    };
    if numbers.scatter_dims_to_operand_dims.len() != indices.shape[index_axis] {
        return Err(Error::parameter(format!(
            "scatter_dims_to_operand_dims {:?} must name an axis for each of the {} components of {indices}",
            numbers.scatter_dims_to_operand_dims.as_slice(),
            indices.shape[index_axis]
        )));
    }
    for (name, axes) in [
        ("inserted_window_dims", &numbers.inserted_window_dims),
        ("operand_batching_dims", &numbers.operand_batching_dims),
        (
            "scatter_dims_to_operand_dims",
            &numbers.scatter_dims_to_operand_dims,
        ),
    ] {
        check_axes(axes, operand)
            .map_err(|error| Error::parameter(format!("{name}: {}", error.message())))?;
    }
    check_axes(&numbers.update_window_dims, updates)?;
    check_sorted("update_window_dims", &numbers.update_window_dims)?;
    check_sorted("inserted_window_dims", &numbers.inserted_window_dims)?;
    check_sorted("operand_batching_dims", &numbers.operand_batching_dims)?;
    let batching = (
        "operand_batching_dims",
        numbers.operand_batching_dims.as_slice(),
    );
    check_disjoint(
        ("inserted_window_dims", &numbers.inserted_window_dims),
        batching,
    )?;
    check_disjoint(
        (
            "scatter_dims_to_operand_dims",
            &numbers.scatter_dims_to_operand_dims,
        ),
        batching,
    )?;
    check_axes(
        &numbers.scatter_indices_batching_dims,
        &indices.with_shape(&indices.shape[..index_axis]),
    )?;
    let mut pairs = numbers
        .operand_batching_dims
        .iter()
        .zip(&numbers.scatter_indices_batching_dims);
    if numbers.operand_batching_dims.len() != numbers.scatter_indices_batching_dims.len()
        || pairs.any(|(&a, &b)| operand.shape[a] != indices.shape[b])
    {
        return Err(Error::shape(format!(
            "the batching axes of {operand} and {indices} must have equal lengths"
        )));
    }
    let window: Dims = (0..operand.rank())
        .filter(|axis| {
            !numbers.inserted_window_dims.contains(axis)
                && !numbers.operand_batching_dims.contains(axis)
        })
        .collect();
    if window.len() != numbers.update_window_dims.len() {
        return Err(Error::parameter(format!(
            "update_window_dims {:?} must name an axis for each of the {} axes of the window",
            numbers.update_window_dims.as_slice(),
            window.len()
        )));
    }
    for (&axis, &dim) in window.iter().zip(&numbers.update_window_dims) {
        if updates.shape[dim] > operand.shape[axis] {
            return Err(Error::shape(format!(
                "axis {dim} of the updates {updates} does not fit axis {axis} of {operand}"
            )));
        }
    }
    let batch = (0..updates.rank())
        .filter(|dim| !numbers.update_window_dims.contains(dim))
        .map(|dim| updates.shape[dim]);
    if !batch.eq(indices.shape[..index_axis].iter().copied()) {
        return Err(Error::shape(format!(
            "the axes of {updates} outside the window must be those of {indices} but the last"
        )));
    }
    Ok(smallvec![operand.clone()])
}

/// Dimension numbers and operands with the mapped axis.
fn batched(
    numbers: &ScatterDimensionNumbers,
    b: &Builder,
    operands: &[Batched],
    axis: &BatchAxis,
) -> (ScatterDimensionNumbers, [Atom; 3]) {
    let (operand, updates) = (
        to_front(b, operands[0], axis.size),
        to_front(b, operands[2], axis.size),
    );
    if operands[1].dim.is_none() {
        let numbers = ScatterDimensionNumbers {
            update_window_dims: behind_new(&numbers.update_window_dims),
            inserted_window_dims: shifted(&numbers.inserted_window_dims),
            scatter_dims_to_operand_dims: shifted(&numbers.scatter_dims_to_operand_dims),
            operand_batching_dims: shifted(&numbers.operand_batching_dims),
            scatter_indices_batching_dims: numbers.scatter_indices_batching_dims.clone(),
        };
        return (numbers, [operand, operands[1].value, updates]);
    }
    let indices = to_front(b, operands[1], axis.size);
    let numbers = ScatterDimensionNumbers {
        update_window_dims: shifted(&numbers.update_window_dims),
        inserted_window_dims: shifted(&numbers.inserted_window_dims),
        scatter_dims_to_operand_dims: shifted(&numbers.scatter_dims_to_operand_dims),
        operand_batching_dims: behind_new(&numbers.operand_batching_dims),
        scatter_indices_batching_dims: behind_new(&numbers.scatter_indices_batching_dims),
    };
    (numbers, [operand, indices, updates])
}

/// Rules that all scatters share; `$jvp` and `$transpose` are their own.
macro_rules! scatters {
    ($($prim:ident $name:literal $jvp:ident $transpose:ident;)*) => { $(
        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                scatter_aval(&self.dimension_numbers, &self.update_jaxpr, operands)
            }

            fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
                if tangents.iter().all(Option::is_none) {
                    return Ok(JvpResult::one(b.op(self.clone(), primals), None));
                }
                $jvp(&self.form(), self.clone().into(), b, primals, tangents)
            }

            fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
                if operands.iter().all(|operand| operand.dim.is_none()) {
                    let atoms = Batched::values(operands);
                    return Ok(smallvec![Batched { value: b.op(self.clone(), &atoms), dim: None }]);
                }
                let (dimension_numbers, atoms) = batched(&self.dimension_numbers, b, operands, axis);
                let prim = $prim { dimension_numbers, ..self.clone() };
                Ok(smallvec![Batched { value: b.op(prim, &atoms), dim: Some(0) }])
            }

            fn transpose(&self, b: &Builder, cotangents: &[Option<Atom>], operands: &[TransposeArg]) -> Result<Cotangents> {
                let Some(ct) = cotangents[0] else { return Ok(smallvec![None; 3]) };
                $transpose(&self.form(), self.clone().into(), b, ct, operands)
            }
        }

        impl $prim {
            /// The parameters that all scatters have.
            fn form(&self) -> Form {
                Form {
                    name: $name,
                    numbers: self.dimension_numbers.clone(),
                    sorted: self.indices_are_sorted,
                    mode: self.mode,
                    unique: self.unique_indices,
                }
            }
        }
    )* };
}

scatters! {
    Scatter "scatter" overwrite_jvp overwrite_transpose;
    ScatterAdd "scatter-add" linear_scatter_jvp linear_scatter_transpose;
    ScatterSub "scatter-sub" linear_scatter_jvp linear_scatter_transpose;
    ScatterMul "scatter-mul" mul_jvp mul_transpose;
    ScatterMin "scatter-min" extremum_jvp no_transpose;
    ScatterMax "scatter-max" extremum_jvp no_transpose;
}

/// The parameters that all scatters have.
struct Form {
    name: &'static str,
    numbers: ScatterDimensionNumbers,
    sorted: bool,
    mode: GatherScatterMode,
    unique: bool,
}

impl Form {
    /// Adds `updates` at the same places.
    fn add(&self, b: &Builder, operand: Atom, indices: Atom, updates: Atom) -> Result<Atom> {
        let prim = ScatterAdd {
            dimension_numbers: self.numbers.clone(),
            indices_are_sorted: self.sorted,
            mode: self.mode,
            unique_indices: self.unique,
            update_consts: NoConsts,
            update_jaxpr: OptionalJaxpr(Some(addition(b, b.dtype(operand))?)),
        };
        Ok(b.op(prim, &[operand, indices, updates]))
    }

    /// Overwrites the same places.
    fn write(
        &self,
        b: &Builder,
        operand: Atom,
        indices: Atom,
        updates: Atom,
        unique: bool,
    ) -> Atom {
        let prim = Scatter {
            dimension_numbers: self.numbers.clone(),
            indices_are_sorted: self.sorted,
            mode: self.mode,
            unique_indices: unique,
            update_consts: NoConsts,
            update_jaxpr: OptionalJaxpr(None),
        };
        b.op(prim, &[operand, indices, updates])
    }

    /// Reads the windows back with zeros outside; promises are not passed on.
    fn read_zero(&self, b: &Builder, x: Atom, indices: Atom, updates: &[usize]) -> Atom {
        b.op(
            Gather::of_scatter(
                &self.numbers,
                b.rank(x),
                updates,
                self.mode,
                true,
                b.dtype(x),
            ),
            &[x, indices],
        )
    }

    /// Reads the windows back, with the promises of the scatter.
    fn read(&self, b: &Builder, x: Atom, indices: Atom, updates: &[usize]) -> Atom {
        let gather = Gather::of_scatter(
            &self.numbers,
            b.rank(x),
            updates,
            self.mode,
            false,
            b.dtype(x),
        );
        let prim = Gather {
            indices_are_sorted: self.sorted,
            unique_indices: self.unique,
            ..gather
        };
        b.op(prim, &[x, indices])
    }
}

/// Tangents of operand and updates, zeros made explicit.
fn instantiated(b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> (Atom, Atom) {
    let at = |index: usize| tangents[index].unwrap_or_else(|| zeros(b, primals[index]));
    (at(0), at(2))
}

fn linear_scatter_jvp(
    _form: &Form,
    prim: Prim,
    b: &Builder,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<JvpResult> {
    let answer = b.op(prim.clone(), primals);
    let (operand, updates) = instantiated(b, primals, tangents);
    Ok(JvpResult::one(
        answer,
        Some(b.op(prim, &[operand, primals[1], updates])),
    ))
}

fn linear_scatter_transpose(
    form: &Form,
    prim: Prim,
    b: &Builder,
    ct: Atom,
    operands: &[TransposeArg],
) -> Result<Cotangents> {
    let indices = known(&operands[1..2], form.name)?[0];
    let operand = linear(&operands[0]).map(|_| ct);
    let updates = linear(&operands[2]).map(|aval| {
        let read = form.read_zero(b, ct, indices, &aval.shape);
        if matches!(prim, Prim::ScatterSub(_)) {
            b.neg(read)
        } else {
            read
        }
    });
    Ok(smallvec![operand, None, updates])
}

/// Without the promise of unique indices, the last writer at each place is found by scattering the updates' numbers.
fn overwrite_jvp(
    form: &Form,
    prim: Prim,
    b: &Builder,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<JvpResult> {
    let (operand, indices, updates) = (primals[0], primals[1], primals[2]);
    let (operand_dot, updates_dot) = instantiated(b, primals, tangents);
    if form.unique {
        let answer = b.op(prim.clone(), primals);
        return Ok(JvpResult::one(
            answer,
            Some(b.op(prim, &[operand_dot, indices, updates_dot])),
        ));
    }
    let shape = b.shape(updates);
    let mut ids_shape = shape.clone();
    for &dim in &form.numbers.update_window_dims {
        ids_shape[dim] = 1;
    }
    let count: usize = ids_shape.iter().product();
    let dtype = if count < 1 << 32 {
        DType::U32
    } else {
        DType::U64
    };
    let numbers = b.reshape(b.iota(dtype, &[count], 0), &ids_shape);
    let ones = b.full(&shape, 1.0, dtype);
    let ids = b.add(numbers, ones);
    let empty = b.full(&b.shape(operand), 0.0, dtype);
    let scattered = form.write(b, empty, indices, ids, form.unique);
    let gather = Gather::of_scatter(
        &form.numbers,
        b.rank(scattered),
        &shape,
        GatherScatterMode::PromiseInBounds,
        false,
        dtype,
    );
    let gathered = b.op(gather, &[scattered, indices]);
    let masked = |mask: &dyn Fn() -> Atom, x: Atom| {
        let mask = mask();
        let zero = zeros(b, x);
        b.select(mask, x, zero)
    };
    let untouched = || b.eq(scattered, zeros(b, scattered));
    let winning = || b.eq(ids, gathered);
    let masked_operand = masked(&untouched, operand);
    let masked_updates = masked(&winning, updates);
    let masked_operand_dot = masked(&untouched, operand_dot);
    let masked_updates_dot = masked(&winning, updates_dot);
    let answer = form.add(b, masked_operand, indices, masked_updates)?;
    let tangent = form.add(b, masked_operand_dot, indices, masked_updates_dot)?;
    Ok(JvpResult::one(answer, Some(tangent)))
}

fn overwrite_transpose(
    form: &Form,
    _prim: Prim,
    b: &Builder,
    ct: Atom,
    operands: &[TransposeArg],
) -> Result<Cotangents> {
    if !form.unique {
        return Err(Error::no_rule(
            form.name,
            "transpose",
            "indices must be unique (unique_indices=True)",
        ));
    }
    let indices = known(&operands[1..2], form.name)?[0];
    let updates = operands[2].aval(b);
    let operand = linear(&operands[0]).map(|_| {
        let zero = b.zeros(&Aval::new(b.dtype(ct), &updates.shape));
        form.write(b, ct, indices, zero, true)
    });
    let updates = linear(&operands[2]).map(|aval| form.read_zero(b, ct, indices, &aval.shape));
    Ok(smallvec![operand, None, updates])
}

fn mul_jvp(
    form: &Form,
    prim: Prim,
    b: &Builder,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<JvpResult> {
    let answer = b.op(prim.clone(), primals);
    let mut sum = tangents[0].map(|g| b.op(prim, &[g, primals[1], primals[2]]));
    if let Some(g) = tangents[2] {
        if !form.unique {
            return Err(Error::new(
                ErrorKind::NoRule,
                "no jvp rule: indices must be unique (unique_indices=True)",
            )
            .in_operation(form.name));
        }
        let added = form.add(b, zeros(b, primals[0]), primals[1], g)?;
        sum = super::super::elementwise::add_tangents(b, sum, Some(b.mul(primals[0], added)));
    }
    Ok(JvpResult::one(answer, sum))
}

fn mul_transpose(
    form: &Form,
    prim: Prim,
    b: &Builder,
    ct: Atom,
    operands: &[TransposeArg],
) -> Result<Cotangents> {
    let indices = known(&operands[1..2], form.name)?[0];
    match (&operands[0], &operands[2]) {
        (TransposeArg::Linear(_), TransposeArg::Known(updates)) => Ok(smallvec![
            Some(b.op(prim, &[ct, indices, *updates])),
            None,
            None
        ]),
        (TransposeArg::Known(operand), TransposeArg::Linear(aval)) if form.unique => Ok(smallvec![
            None,
            None,
            Some(form.read_zero(b, b.mul(ct, *operand), indices, &aval.shape))
        ]),
        _ => Err(not_linear(form.name)),
    }
}

/// Updates that attain the extremum share the tangent equally, together with the operand where it attains it too.
fn extremum_jvp(
    form: &Form,
    prim: Prim,
    b: &Builder,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<JvpResult> {
    let (operand, indices, updates) = (primals[0], primals[1], primals[2]);
    let answer = b.op(prim, primals);
    let (operand_dot, updates_dot) = instantiated(b, primals, tangents);
    let shape = b.shape(updates);
    let dtype = b.dtype(updates);
    let read = |x: Atom| form.read(b, x, indices, &shape);
    let (initial, target) = (read(operand), read(answer));
    let (successful, retained) = (b.eq(updates, target), b.eq(initial, target));
    let ones = || b.full(&shape, 1.0, dtype);
    let none = || zeros(b, updates);
    let one = b.number(1.0, dtype);
    let start = zeros(b, operand);
    let wins = {
        let (one, zero) = (ones(), none());
        b.select(successful, one, zero)
    };
    let winners = read(form.add(b, start, indices, wins)?);
    let start = zeros(b, operand);
    let references = read(form.add(b, start, indices, ones())?);
    let with_operand = b.div(one, b.add(winners, one));
    let share = b.select(retained, with_operand, b.div(one, winners));
    let update_weight = b.select(successful, share, none());
    let with_operand = b.div(one, b.add(winners, one));
    let kept = b.select(retained, with_operand, zeros(b, winners));
    let operand_weight = b.div(b.add(b.number(-1.0, dtype), kept), references);
    let target_dot = read(operand_dot);
    let first = b.mul(target_dot, operand_weight);
    let change = b.add(first, b.mul(updates_dot, update_weight));
    Ok(JvpResult::one(
        answer,
        Some(form.add(b, operand_dot, indices, change)?),
    ))
}

fn no_transpose(
    form: &Form,
    _prim: Prim,
    _b: &Builder,
    _ct: Atom,
    _operands: &[TransposeArg],
) -> Result<Cotangents> {
    Err(not_linear(form.name))
}
