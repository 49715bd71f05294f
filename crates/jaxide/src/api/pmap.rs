//! Mapping a function over the local devices.

use std::sync::Arc;

use jaxide_core::prims::{Name, Opaque, PartitionSpec, PyValue, ShardMap, write_specs};
use jaxide_core::{Atom, Aval, Builder, ClosedJaxpr, Error};
use jaxide_tree::axes::{self, Axis, IntoAxes};
use jaxide_tree::{Pytree, Tree};

use super::flat::{FlatArgs, FlatFn, avals, flat, flatten, trace_flat};
use super::jit::{JitOptions, call_named};
use super::vmap::lanes;
use crate::array::Array;
use crate::function::{ArgList, Arguments, Erased, Function, Transformed};
use crate::trace::{Captures, Known, OrRaise, bind, raise, with_axes};

/// The number of devices of this machine: one for each thread that can run at once.
pub fn local_device_count() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What `pmap` can be told.
#[derive(Clone)]
pub struct PmapOptions {
    in_axes: Tree<Axis>,
    out_axes: Tree<Axis>,
    axis_size: Option<usize>,
    axis_name: Name,
    devices: Option<usize>,
    jit: JitOptions,
}

/// Maps `f` over the first axis of every array in its arguments, one device per slice, and stacks the results.
///
/// The program is compiled like one of [`jit`](super::jit()), and its members run on the threads of the machine; collectives
/// such as [`lax::psum`](crate::lax::psum) exchange values between them. As in JAX it is written as a `jit` of a `shard_map`. There are as
/// many devices as slices, unless [`devices`](Transformed::devices) limits them: the number of threads is another matter,
/// and results do not depend on it.
///
/// # Panics
/// The function given panics where `f` does, when mapped axes have different lengths, an axis is out of range, there are
/// more slices than devices, or `f` asks for the value of an array.
///
/// ```
/// use jaxide::{Array, lax, pmap};
/// let f = pmap(|x: Array| &x / lax::psum(&x, "i")).axis_name("i");
/// assert_eq!(f(Array::from([1.0f32, 3.0])).to_vec::<f32>(), [0.25, 0.75]);
/// ```
#[track_caller]
pub fn pmap<F, Args, Out>(f: F) -> Pmapped<Args, Out>
where
    F: Function<Args, Out> + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    pmapped(Arc::new(f))
}

#[track_caller]
fn pmapped<Args, Out>(f: Erased<Args, Out>) -> Pmapped<Args, Out>
where
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    Transformed::new(f.name(), PmapOptions::default(), move |options, args| {
        mapped(&*f, options, args)
    })
}

/// The type of [`pmap`]s.
pub type Pmapped<Args, Out> = Transformed<Args, Out, PmapOptions>;

/// [`pmap`] of a borrowed function, applied at once: `f` may capture references and need not be `Send`.
///
/// # Panics
/// As the function that [`pmap`] gives.
///
/// ```
/// use jaxide::{Array, pmap_of};
/// let scale = &Array::from(2.0f32);
/// assert_eq!(pmap_of(&|x: Array| x * scale, Array::from([1.0f32, 3.0])).to_vec::<f32>(), [2.0, 6.0]);
/// ```
#[track_caller]
pub fn pmap_of<F, Args, Out>(f: &F, args: impl Arguments<Args>) -> Out
where
    F: Function<Args, Out> + ?Sized,
    Args: ArgList,
    Out: Pytree<Array>,
{
    mapped(f, &PmapOptions::default(), args.into_tuple())
}

impl Default for PmapOptions {
    fn default() -> Self {
        PmapOptions {
            in_axes: 0.into_axes(),
            out_axes: 0.into_axes(),
            axis_size: None,
            axis_name: Name::new("_internal_pmap_axis_name"),
            devices: None,
            jit: JitOptions::default(),
        }
    }
}

#[track_caller]
fn mapped<F, Args, Out>(f: &F, options: &PmapOptions, args: Args) -> Out
where
    F: Function<Args, Out> + ?Sized,
    Args: ArgList,
    Out: Pytree<Array>,
{
    let of_shards = |args: Args| shards(&flat(f), options, flatten(&args)).unflatten();
    call_named("_fun", &options.jit, of_shards, args)
}

impl<Args: ArgList, Out: 'static> Transformed<Args, Out, PmapOptions> {
    /// Which axis of each array is mapped: a number for all, or a tuple with an entry for each argument, which is a
    /// number, `None` (every member has it whole), or a prefix tree of them.
    #[must_use]
    pub fn in_axes(self, axes: impl IntoAxes) -> Self {
        self.changed(|options| options.in_axes = axes.into_axes())
    }

    /// Along which axis each result is stacked; `None` for results that all members have in common.
    #[must_use]
    pub fn out_axes(self, axes: impl IntoAxes) -> Self {
        self.changed(|options| options.out_axes = axes.into_axes())
    }

    /// The number of members, where no argument is mapped.
    #[must_use]
    pub fn axis_size(self, size: usize) -> Self {
        self.changed(|options| options.axis_size = Some(size))
    }

    /// The name by which collectives inside speak of the mapped axis.
    #[must_use]
    pub fn axis_name(self, name: &str) -> Self {
        self.changed(|options| options.axis_name = Name::new(name))
    }

    /// How many devices there are: more members are refused.
    #[must_use]
    pub fn devices(self, devices: usize) -> Self {
        self.changed(|options| options.devices = Some(devices))
    }

    /// How many threads the program may use; results do not depend on it.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        self.changed(|options| options.jit = options.jit.clone().with_threads(threads))
    }

    /// With other options, and no program compiled yet.
    fn changed(self, change: impl FnOnce(&mut PmapOptions)) -> Self {
        self.configured(|options| {
            options.jit = options.jit.without_programs();
            change(options);
        })
    }
}

/// One `shard_map` equation in the trace of the surrounding `jit`.
#[track_caller]
fn shards(f: FlatFn<'_>, options: &PmapOptions, args: FlatArgs) -> FlatArgs {
    const OPERATION: &str = "pmap";
    let mistake = |error: axes::AxesError| Error::from(error).in_operation(OPERATION);
    let (in_dims, size) = lanes(&options.in_axes, options.axis_size, &args)
        .map_err(|error| error.in_operation(OPERATION))
        .or_raise();
    if let Some(devices) = options.devices.filter(|&devices| devices < size) {
        raise(
            Error::parameter(format!(
                "{size} slices are mapped, and there are {devices} devices"
            ))
            .in_operation(OPERATION),
        );
    }
    let name = options.axis_name.clone();
    let mesh = [(name.clone(), size)];
    let slices: Vec<Aval> = avals(&args.leaves)
        .into_iter()
        .zip(&in_dims)
        .map(|(aval, &dim)| without_axis(&aval, dim))
        .collect();
    let traced = with_axes(&mesh, || {
        trace_flat(
            OPERATION,
            f,
            &args.treedef,
            &slices,
            Known::No,
            Captures::Inputs,
        )
    });
    let outs = axes::flatten("out_axes", &options.out_axes, &traced.aux)
        .map_err(mistake)
        .or_raise();
    let out_dims: Vec<Option<usize>> = outs
        .iter()
        .zip(traced.jaxpr.out_avals())
        .zip(&traced.aux.key_paths())
        .map(|((axis, aval), path)| {
            let mut shape = aval.shape.to_vec();
            shape.insert(0, size);
            axis.normalized(&shape, path)
        })
        .collect::<Result<_, _>>()
        .map_err(mistake)
        .or_raise();
    let mut dims = vec![None; traced.captured.len()];
    dims.extend(in_dims);
    let mut types = avals(&traced.captured);
    types.extend(slices);
    let body = body(&traced.jaxpr, &types, &dims, &out_dims).or_raise();
    let spec = |dim: &Option<usize>| {
        dim.map_or_else(PartitionSpec::default, |dim| {
            PartitionSpec::over(&name, dim)
        })
    };
    let place = |dims: &[Option<usize>]| write_specs(&dims.iter().map(spec).collect::<Vec<_>>());
    let prim = ShardMap {
        check_vma: false,
        in_specs: place(&dims),
        jaxpr: body,
        mesh: ShardMap::mesh_of(&mesh),
        newly_manual_axes: Opaque(PyValue::Opaque(format!("frozenset({{'{name}'}})"))),
        out_specs: place(&out_dims),
    };
    let operands = [traced.captured, args.leaves].concat();
    FlatArgs {
        leaves: bind(prim, &operands).into_vec(),
        treedef: traced.aux,
    }
}

/// The function of slices as one of shards, in which the mapped axis has length 1.
fn body(
    f: &ClosedJaxpr,
    slices: &[Aval],
    in_dims: &[Option<usize>],
    out_dims: &[Option<usize>],
) -> jaxide_core::Result<ClosedJaxpr> {
    let b = Builder::new();
    let shards: Vec<Atom> = slices
        .iter()
        .zip(in_dims)
        .map(|(aval, &dim)| b.input(with_axis(aval, dim)))
        .collect();
    let args: Vec<Atom> = shards
        .iter()
        .zip(in_dims)
        .map(|(&shard, dim)| dim.map_or(shard, |dim| b.squeeze(shard, &[dim])))
        .collect();
    let consts: Vec<Atom> = f
        .consts
        .iter()
        .map(|value| b.constant(value.clone()))
        .collect();
    let results = b.inline(&f.jaxpr, &consts, &args)?;
    let results: Vec<Atom> = results
        .iter()
        .zip(out_dims)
        .map(|(&result, dim)| {
            let Some(dim) = *dim else { return result };
            let mut shape = b.shape(result);
            shape.insert(dim, 1);
            let axes: Vec<usize> = (0..shape.len()).filter(|&axis| axis != dim).collect();
            b.broadcast_in_dim(result, &shape, &axes)
        })
        .collect();
    b.finish(&results)
}

fn without_axis(aval: &Aval, dim: Option<usize>) -> Aval {
    let Some(dim) = dim else { return aval.clone() };
    let mut shape = aval.shape.clone();
    shape.remove(dim);
    aval.with_shape(&shape)
}

fn with_axis(aval: &Aval, dim: Option<usize>) -> Aval {
    let Some(dim) = dim else { return aval.clone() };
    let mut shape = aval.shape.clone();
    shape.insert(dim, 1);
    aval.with_shape(&shape)
}
