//! `shard_map`: a body on the shards of arrays, one per member of a mesh.
//!
//! The placement of operands and results is read from its text: `(P(None, 'i'), P())`.

use std::fmt;

use super::super::*;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr, Shape};
use crate::marks::{keep, not, present, spread};
use crate::transform::{OutDim, Split, batch, bind_constants, inline, jvp, linearize, transpose};

/// The mesh axes that each axis of an array is dealt out over; axes behind the last are whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartitionSpec(pub Vec<Vec<Name>>);

impl PartitionSpec {
    /// Axis `axis` dealt out over one mesh axis, the others whole.
    pub fn over(name: &Name, axis: usize) -> Self {
        let mut axes = vec![Vec::new(); axis];
        axes.push(vec![name.clone()]);
        PartitionSpec(axes)
    }

    fn names(&self, axis: usize) -> &[Name] {
        self.0.get(axis).map_or(&[], Vec::as_slice)
    }

    fn mentions(&self, name: &Name) -> bool {
        self.0.iter().flatten().any(|own| own == name)
    }

    /// With a whole axis inserted, which all shards have.
    fn with_axis(&self, dim: Option<usize>) -> Self {
        let mut axes = self.0.clone();
        if let Some(dim) = dim
            && dim < axes.len()
        {
            axes.insert(dim, Vec::new());
        }
        PartitionSpec(axes)
    }

    fn to_py(&self) -> PyValue {
        let name = |name: &Name| PyValue::Str(name.to_string());
        let args = self.0.iter().map(|names| match names.as_slice() {
            [] => PyValue::None,
            [only] => name(only),
            many => PyValue::Tuple(many.iter().map(name).collect()),
        });
        PyValue::call("P", args.collect(), Vec::new())
    }
}

/// As JAX writes it: `P()`, `P('i',)`, `P(None, 'i')`.
impl fmt::Display for PartitionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.to_py().to_string();
        match (self.0.len(), text.strip_suffix(')')) {
            (1, Some(inside)) => write!(f, "{inside},)"),
            _ => f.write_str(&text),
        }
    }
}

/// Placements as the parameter that holds them.
pub fn write_specs(specs: &[PartitionSpec]) -> Opaque {
    let value = PyValue::Tuple(specs.iter().map(PartitionSpec::to_py).collect());
    let items: Vec<String> = specs.iter().map(ToString::to_string).collect();
    let comma = if items.len() == 1 { "," } else { "" };
    let text = format!("({}{comma})", items.join(", "));
    // As the parser keeps what it reads: text that its values would not write back.
    Opaque(if value.to_string() == text {
        value
    } else {
        PyValue::Opaque(text)
    })
}

/// Placements from the parameter that holds them.
fn read_specs(specs: &Opaque) -> Result<Vec<PartitionSpec>> {
    let text = specs.0.to_string();
    let unknown = || Error::unsupported(format!("the placement {text}"));
    let mut found = Vec::new();
    let mut rest = text.as_str();
    while let Some((_, tail)) = rest.split_once("P(") {
        let mut axes: Vec<Vec<Name>> = Vec::new();
        let mut group: Option<Vec<Name>> = None;
        let mut tail = tail.trim_start();
        loop {
            if let Some(after) = tail.strip_prefix("None") {
                axes.push(Vec::new());
                tail = after;
            } else if let Some(after) = tail.strip_prefix('\'') {
                let (name, after) = after.split_once('\'').ok_or_else(unknown)?;
                match &mut group {
                    Some(names) => names.push(Name::new(name)),
                    None => axes.push(vec![Name::new(name)]),
                }
                tail = after;
            } else if let (Some(after), None) = (tail.strip_prefix('('), &group) {
                group = Some(Vec::new());
                tail = after;
            } else if let Some(after) = tail.strip_prefix(')') {
                tail = after;
                match group.take() {
                    Some(names) => axes.push(names),
                    None => break,
                }
            } else {
                return Err(unknown());
            }
            tail = tail.trim_start_matches([',', ' ']);
        }
        found.push(PartitionSpec(axes));
        rest = tail;
    }
    Ok(found)
}

impl ShardMap {
    /// Names and sizes of the mesh axes in `Mesh('x': 2, 'y': 4, axis_types=(Auto, Auto))`.
    pub fn mesh_axes(&self) -> Vec<(Name, usize)> {
        let mesh = self.mesh.0.to_string();
        let mut axes = Vec::new();
        let mut rest = mesh.as_str();
        while let Some((_, tail)) = rest.split_once('\'') {
            let Some((name, after)) = tail.split_once('\'') else {
                break;
            };
            rest = after;
            let number = after.trim_start_matches([':', ' ']);
            let digits = number
                .split(|c: char| !c.is_ascii_digit())
                .next()
                .unwrap_or("");
            if let Ok(size) = digits.parse() {
                axes.push((Name::new(name), size));
            }
        }
        axes
    }

    /// The text of a mesh with these axes.
    pub fn mesh_of(axes: &[(Name, usize)]) -> Opaque {
        let sizes: Vec<String> = axes
            .iter()
            .map(|(name, size)| format!("'{name}': {size}"))
            .collect();
        let types = vec!["Auto"; axes.len()].join(", ");
        let comma = if axes.len() == 1 { "," } else { "" };
        Opaque(PyValue::Opaque(format!(
            "Mesh({}, axis_types=({types}{comma}))",
            sizes.join(", ")
        )))
    }

    fn specs(&self) -> Result<(Vec<PartitionSpec>, Vec<PartitionSpec>)> {
        let (ins, outs) = (read_specs(&self.in_specs)?, read_specs(&self.out_specs)?);
        let arity = (
            self.jaxpr.jaxpr.invars.len(),
            self.jaxpr.jaxpr.outvars.len(),
        );
        if (ins.len(), outs.len()) == arity {
            return Ok((ins, outs));
        }
        Err(Error::new(
            ErrorKind::Arity,
            format!(
                "placements of {} operands and {} results are given for a body with {} and {}",
                ins.len(),
                outs.len(),
                arity.0,
                arity.1
            ),
        ))
    }

    /// The type of the whole array whose shards have this one.
    fn whole(&self, shard: &Aval, spec: &PartitionSpec) -> Result<Aval> {
        let axes = self.mesh_axes();
        let mut shape = shard.shape.clone();
        for (axis, length) in shape.iter_mut().enumerate() {
            *length = length
                .checked_mul(members(&axes, spec.names(axis))?)
                .ok_or_else(|| Error::parameter("an axis is too long"))?;
        }
        Ok(Aval {
            annotations: None,
            ..shard.with_shape(&shape)
        })
    }

    fn bind(
        &self,
        b: &Builder,
        body: ClosedJaxpr,
        in_specs: &[PartitionSpec],
        out_specs: &[PartitionSpec],
        operands: &[Atom],
    ) -> Result<Vec<Atom>> {
        let results: Vec<Aval> = body
            .out_avals()
            .iter()
            .zip(out_specs)
            .map(|(aval, spec)| self.whole(aval, spec))
            .collect::<Result<_>>()?;
        let prim = ShardMap {
            jaxpr: body,
            in_specs: write_specs(in_specs),
            out_specs: write_specs(out_specs),
            ..self.clone()
        };
        Ok(b.push(prim.into(), operands, &results).into_vec())
    }

    /// The same function of whole arrays, without named axes: the body is batched over each axis of the mesh, so that what
    /// members exchange moves within arrays.
    ///
    /// # Errors
    /// When the placement is not understood, or the body cannot be batched.
    pub fn expand(&self) -> Result<ClosedJaxpr> {
        let (in_specs, out_specs) = self.specs()?;
        let mesh = self.mesh_axes();
        let mut body = self.jaxpr.clone();
        for (name, size) in mesh.iter().rev() {
            let axis = BatchAxis {
                size: *size,
                name: Some(name.clone()),
            };
            let dims: Vec<Option<usize>> = in_specs
                .iter()
                .map(|spec| spec.mentions(name).then_some(0))
                .collect();
            let places: Vec<OutDim> = out_specs
                .iter()
                .map(|spec| match spec.mentions(name) {
                    true => OutDim::Front,
                    false => OutDim::FrontIfMapped,
                })
                .collect();
            let batched = batch(&Builder::new(), &body, &axis, &dims, &places)?;
            let b = Builder::new();
            let args: Vec<Atom> = batched
                .jaxpr
                .in_avals()
                .into_iter()
                .map(|aval| b.input(aval))
                .collect();
            let results = inline(&b, &batched.jaxpr, &args)?;
            // What is not dealt out over the axis all members have in common: the value of the first stands for it.
            let results: Vec<Atom> = results
                .iter()
                .zip(&out_specs)
                .zip(&batched.dims)
                .map(|((&result, spec), dim)| {
                    if spec.mentions(name) || dim.is_none() {
                        result
                    } else {
                        first_along_front(&b, result)
                    }
                })
                .collect();
            body = b.finish(&results)?;
        }
        let b = Builder::new();
        let mut args = Vec::new();
        for (aval, spec) in self.jaxpr.in_avals().iter().zip(&in_specs) {
            let whole = b.input(self.whole(aval, spec)?);
            args.push(deal(&b, whole, &aval.shape, spec, &mesh)?);
        }
        let results = inline(&b, &body, &args)?;
        let mut wholes = Vec::new();
        for ((&result, aval), spec) in results.iter().zip(self.jaxpr.out_avals()).zip(&out_specs) {
            wholes.push(collect(&b, result, &aval.shape, spec, &mesh)?);
        }
        b.finish(&wholes)
    }
}

/// How many members mesh axes have together.
fn members(mesh: &[(Name, usize)], names: &[Name]) -> Result<usize> {
    names.iter().try_fold(1usize, |product, name| {
        let (_, size) = mesh.iter().find(|(own, _)| own == name).ok_or_else(|| {
            Error::parameter(format!("the mesh has no axis of the name `{name}`"))
        })?;
        product
            .checked_mul(*size)
            .ok_or_else(|| Error::parameter("the mesh is too large"))
    })
}

/// The first slice along the front axis.
pub(super) fn first_along_front(b: &Builder, x: Atom) -> Atom {
    let shape = b.shape(x);
    let mut limit = shape.to_vec();
    limit[0] = 1;
    let first = b.slice(x, &vec![0; limit.len()], &limit);
    b.squeeze(first, &[0])
}

/// An array whose axes are cut: each mesh axis is an axis of its own in front of the axis that it cuts.
struct Cut {
    shape: Shape,
    /// Where each mesh axis stands.
    places: Vec<(Name, usize)>,
    /// Where the axes of a shard stand.
    rest: Vec<usize>,
}

impl Cut {
    fn new(shard: &[usize], spec: &PartitionSpec, mesh: &[(Name, usize)]) -> Result<Self> {
        let (mut shape, mut places, mut rest) = (Shape::new(), Vec::new(), Vec::new());
        for (axis, &length) in shard.iter().enumerate() {
            for name in spec.names(axis) {
                places.push((name.clone(), shape.len()));
                shape.push(members(mesh, std::slice::from_ref(name))?);
            }
            rest.push(shape.len());
            shape.push(length);
        }
        Ok(Cut {
            shape,
            places,
            rest,
        })
    }

    /// The order of axes that puts those of the mesh in front, as the mesh has them.
    fn mesh_first(&self, mesh: &[(Name, usize)]) -> Vec<usize> {
        let places = mesh.iter().filter_map(|(name, _)| {
            let own = self.places.iter().find(|(own, _)| own == name);
            own.map(|(_, place)| *place)
        });
        places.chain(self.rest.iter().copied()).collect()
    }
}

/// A whole array as shards, mesh axes in front.
fn deal(
    b: &Builder,
    whole: Atom,
    shard: &[usize],
    spec: &PartitionSpec,
    mesh: &[(Name, usize)],
) -> Result<Atom> {
    let cut = Cut::new(shard, spec, mesh)?;
    if cut.places.is_empty() {
        return Ok(whole);
    }
    let parts = b.reshape(whole, &cut.shape);
    Ok(b.transpose(parts, &cut.mesh_first(mesh)))
}

/// The opposite of [`deal`].
fn collect(
    b: &Builder,
    shards: Atom,
    shard: &[usize],
    spec: &PartitionSpec,
    mesh: &[(Name, usize)],
) -> Result<Atom> {
    let cut = Cut::new(shard, spec, mesh)?;
    if cut.places.is_empty() {
        return Ok(shards);
    }
    let order = cut.mesh_first(mesh);
    let mut back = vec![0; order.len()];
    for (from, &to) in order.iter().enumerate() {
        back[to] = from;
    }
    let placed = b.transpose(shards, &back);
    let shape: Shape = shard
        .iter()
        .enumerate()
        .map(|(axis, length)| Ok(length * members(mesh, spec.names(axis))?))
        .collect::<Result<_>>()?;
    Ok(b.reshape(placed, &shape))
}

impl Primitive for ShardMap {
    /// Shards put together. Placements that are not understood count as whole when the mesh has one member.
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let count = self.jaxpr.jaxpr.invars.len();
        if operands.len() != count {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "the body takes {count} arguments, and {} are given",
                    operands.len()
                ),
            ));
        }
        let plain = |aval: Aval| Aval {
            annotations: None,
            ..aval
        };
        let shards = self.jaxpr.out_avals();
        let wanted = self.jaxpr.in_avals();
        if self.mesh_axes().iter().all(|(_, size)| *size == 1) {
            for (index, (want, got)) in wanted.iter().zip(operands).enumerate() {
                if want.shape != got.shape || want.dtype != got.dtype {
                    return Err(Error::shape(format!(
                        "operand {index} is {got}, and {want} is expected"
                    )));
                }
            }
            return Ok(shards.into_iter().map(plain).collect());
        }
        let (in_specs, out_specs) = self.specs()?;
        for (index, ((shard, spec), got)) in wanted.iter().zip(&in_specs).zip(operands).enumerate()
        {
            let want = self.whole(shard, spec)?;
            if want.shape != got.shape || want.dtype != got.dtype {
                return Err(Error::shape(format!(
                    "operand {index} is {got}, and {want} is expected for shards {shard} placed {spec}"
                )));
            }
        }
        let wholes = shards.iter().zip(&out_specs);
        wholes.map(|(aval, spec)| self.whole(aval, spec)).collect()
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        let (in_specs, out_specs) = self.specs()?;
        let nonzero = present(tangents);
        let body = jvp(b, &self.jaxpr, &nonzero, &vec![false; out_specs.len()])?;
        let ins = [in_specs.clone(), keep(&in_specs, &nonzero)].concat();
        let outs = [out_specs.clone(), keep(&out_specs, &body.nonzero)].concat();
        let operands = with_tangents(primals, tangents);
        let results = self.bind(b, body.jaxpr, &ins, &outs, &operands)?;
        Ok(JvpResult::split(&results, &body.nonzero))
    }

    /// Each member keeps its residuals: they are dealt out along a first axis, which scalars get for it.
    fn linearize(
        &self,
        split: &Split<'_>,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<Option<JvpResult>> {
        let (in_specs, out_specs) = self.specs()?;
        let nonzero = present(tangents);
        let count = out_specs.len();
        let lin = linearize(
            split.known,
            &self.jaxpr,
            &nonzero,
            &vec![false; count],
            &vec![false; primals.len()],
        )?;
        let scalars: Vec<bool> = lin.primal.out_avals()[count..]
            .iter()
            .map(|aval| aval.rank() == 0)
            .collect();
        let names = self.mesh_axes().into_iter().map(|(name, _)| name).collect();
        let dealt = PartitionSpec(vec![names]);
        let mut outs = out_specs.clone();
        outs.resize(count + scalars.len(), dealt.clone());
        let primal = with_raised_results(&lin.primal, count, &scalars)?;
        let results = self.bind(split.known, primal, &in_specs, &outs, primals)?;
        let (values, saved) = results.split_at(count);
        // Constants of the body are residuals that every member has whole.
        let constants = bind_constants(split.known, &self.jaxpr);
        let mut saved = saved.iter().zip(&scalars);
        let (mut ins, mut raised, mut operands) = (Vec::new(), Vec::new(), Vec::new());
        for &forwarded in &lin.forwarded {
            let constant = forwarded.and_then(|index| constants.get(index));
            let (atom, spec, scalar) = match (constant, saved.clone().next()) {
                (Some(&atom), _) => (atom, PartitionSpec::default(), false),
                (None, Some((&atom, &scalar))) => {
                    saved.next();
                    (atom, dealt.clone(), scalar)
                }
                (None, None) => {
                    return Err(Error::new(ErrorKind::Internal, "a residual is missing"));
                }
            };
            operands.push(split.residual(atom));
            ins.push(spec);
            raised.push(scalar);
        }
        ins.extend(keep(&in_specs, &nonzero));
        operands.extend(tangents.iter().flatten().copied());
        let linear = with_lowered_arguments(&lin.linear, &raised)?;
        let outs = keep(&out_specs, &lin.nonzero);
        let new = self.bind(&split.unknown, linear, &ins, &outs, &operands)?;
        Ok(Some(JvpResult::new(values, spread(new, &lin.nonzero))))
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        let (in_specs, out_specs) = self.specs()?;
        let dims = Batched::dims(operands);
        let body = batch(
            b,
            &self.jaxpr,
            axis,
            &dims,
            &vec![OutDim::AsIs; out_specs.len()],
        )?;
        let moved = |specs: &[PartitionSpec], dims: &[Option<usize>]| -> Vec<PartitionSpec> {
            let pairs = specs.iter().zip(dims);
            pairs.map(|(spec, &dim)| spec.with_axis(dim)).collect()
        };
        let values = Batched::values(operands);
        let (ins, outs) = (moved(&in_specs, &dims), moved(&out_specs, &body.dims));
        let results = self.bind(b, body.jaxpr, &ins, &outs, &values)?;
        Ok(Batched::all(results, &body.dims))
    }

    /// A result that is not dealt out over an axis is one of many equal ones, so that each member gets its share of the
    /// cotangent; an operand that all members have in common gets the sum of theirs.
    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        let (in_specs, out_specs) = self.specs()?;
        let linear = TransposeArg::linears(operands);
        let nonzero = present(cotangents);
        let none = vec![false; operands.len()];
        let body = transpose(b, &self.jaxpr, &linear, &nonzero, &none)?;
        let known = not(&linear);
        let given = keep(&out_specs, &nonzero);
        let wanted = keep(&in_specs, &body.nonzero);
        let ins = [keep(&in_specs, &known), given.clone()].concat();
        let shared = self.with_shares(&body.jaxpr, &given, &wanted)?;
        let inputs = with_cotangents(operands, cotangents);
        let results = self.bind(b, shared, &ins, &wanted, &inputs)?;
        Ok(spread(results, &body.nonzero))
    }
}

impl ShardMap {
    /// A backward body whose last arguments are divided among the members that share them, and whose results are summed
    /// over those that share them.
    fn with_shares(
        &self,
        body: &ClosedJaxpr,
        given: &[PartitionSpec],
        wanted: &[PartitionSpec],
    ) -> Result<ClosedJaxpr> {
        let mesh = self.mesh_axes();
        let unmentioned = |spec: &PartitionSpec| -> Vec<Name> {
            let names = mesh.iter().map(|(name, _)| name);
            names.filter(|name| !spec.mentions(name)).cloned().collect()
        };
        let b = Builder::new();
        let avals = body.in_avals();
        let first = avals.len() - given.len();
        let mut args = Vec::new();
        for (index, aval) in avals.into_iter().enumerate() {
            let arg = b.input(aval);
            let share = match index.checked_sub(first) {
                Some(place) => members(&mesh, &unmentioned(&given[place]))?,
                None => 1,
            };
            args.push(if share == 1 {
                arg
            } else {
                b.div(arg, b.number(share as f64, b.dtype(arg)))
            });
        }
        let results = inline(&b, body, &args)?;
        let results: Vec<Atom> = results
            .iter()
            .zip(wanted)
            .map(|(&result, spec)| {
                let names = unmentioned(spec);
                if names.is_empty() {
                    return result;
                }
                let sum = Psum {
                    axes: names.into_iter().map(AxisName::Named).collect(),
                    axis_index_groups: Opaque::none(),
                };
                b.op(sum, &[result])
            })
            .collect();
        b.finish(&results)
    }
}

/// The function whose results behind `count` have an axis of length 1 where they are marked.
fn with_raised_results(f: &ClosedJaxpr, count: usize, marks: &[bool]) -> Result<ClosedJaxpr> {
    let b = Builder::new();
    let args: Vec<Atom> = f.in_avals().into_iter().map(|aval| b.input(aval)).collect();
    let mut results = inline(&b, f, &args)?;
    for (result, &marked) in results[count..].iter_mut().zip(marks) {
        if marked {
            *result = b.broadcast_in_dim(*result, &[1], &[]);
        }
    }
    b.finish(&results)
}

/// The function whose leading arguments have an axis of length 1 where they are marked.
fn with_lowered_arguments(f: &ClosedJaxpr, marks: &[bool]) -> Result<ClosedJaxpr> {
    let b = Builder::new();
    let mut args = Vec::new();
    for (index, aval) in f.in_avals().into_iter().enumerate() {
        args.push(if marks.get(index) == Some(&true) {
            let raised = b.input(aval.with_shape(&[1]));
            b.squeeze(raised, &[0])
        } else {
            b.input(aval)
        });
    }
    let results = inline(&b, f, &args)?;
    b.finish(&results)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_are_read_as_they_are_written() {
        for text in [
            "(P('i',),)",
            "(P(), P(None, 'i'))",
            "(P(('i', 'j'), None, 'k'), P())",
        ] {
            let specs = read_specs(&Opaque(PyValue::Opaque(text.to_owned()))).unwrap();
            assert_eq!(write_specs(&specs).0.to_string(), text);
        }
    }
}
