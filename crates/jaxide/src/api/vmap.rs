//! Mapping a function over an axis of its arguments.

use std::sync::Arc;

use jaxide_core::prims::{BatchAxis, Name};
use jaxide_core::transform::{OutDim, batch};
use jaxide_core::{Aval, Builder, Error, Result};
use jaxide_tree::axes::{self, AxesError, Axis, IntoAxes};
use jaxide_tree::{Pytree, Tree};

use super::flat::{FlatArgs, FlatFn, call, flat, flatten, trace_flat};
use crate::array::Array;
use crate::function::{ArgList, Arguments, Erased, Function, Transformed};
use crate::trace::{Captures, Known, OrRaise, aval_of, with_axes};

/// What `vmap` can be told.
#[derive(Clone, Debug)]
pub struct VmapOptions {
    in_axes: Tree<Axis>,
    out_axes: Tree<Axis>,
    axis_size: Option<usize>,
    axis_name: Option<String>,
}

/// Maps `f` over the first axis of every array in its arguments, and stacks the results along a first axis.
///
/// # Panics
/// The function given panics when mapped axes have different lengths, an axis is out of range, or `in_axes` and
/// `out_axes` are not prefixes of the arguments and the result; the path is named.
///
/// ```
/// use jaxide::{Array, vmap};
/// let dot = |x: Array, y: Array| (x * y).sum();
/// let matvec = vmap(dot).in_axes((0, None));
/// let m = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// let v = Array::from([10.0f32, 1.0]);
/// assert_eq!(matvec(m, v).to_vec::<f32>(), [12.0, 34.0]);
/// ```
#[track_caller]
pub fn vmap<F, Args, Out>(f: F) -> Vmapped<Args, Out>
where
    F: Function<Args, Out> + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    vmapped(Arc::new(f))
}

#[track_caller]
fn vmapped<Args, Out>(f: Erased<Args, Out>) -> Vmapped<Args, Out>
where
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    Transformed::new(f.name(), VmapOptions::default(), move |options, args| {
        map(&flat(&*f), options, &flatten(&args)).unflatten()
    })
}

/// The type of [`vmap`]s.
pub type Vmapped<Args, Out> = Transformed<Args, Out, VmapOptions>;

/// [`vmap`] of a borrowed function, applied at once: `f` may capture references and need not be `Send`.
///
/// The arguments are a tuple, or a single one as it is, and mapped along their first axes; what `f` captures, all lanes
/// share.
///
/// # Panics
/// As the function that [`vmap`] gives.
///
/// ```
/// use jaxide::{Array, vmap_of};
/// let matrix = &Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// let v = Array::from([10.0f32, 1.0]);
/// assert_eq!(vmap_of(&|row: Array| (row * &v).sum(), matrix.clone()).to_vec::<f32>(), [12.0, 34.0]);
/// ```
#[track_caller]
pub fn vmap_of<F, Args, Out>(f: &F, args: impl Arguments<Args>) -> Out
where
    F: Function<Args, Out> + ?Sized,
    Args: ArgList,
    Out: Pytree<Array>,
{
    let args = flatten(&args.into_tuple());
    map(&flat(f), &VmapOptions::default(), &args).unflatten()
}

/// [`vmap`] of a function of a list of arrays, with the mapped axis of each; the results are stacked along `out_axis`.
#[track_caller]
pub(crate) fn vmap_list(
    f: &dyn Fn(&[Array]) -> Vec<Array>,
    in_axes: &[Option<usize>],
    out_axis: usize,
    args: &[Array],
) -> Vec<Array> {
    let axis = |axis: &Option<usize>| Axis(axis.and_then(|axis| i32::try_from(axis).ok()));
    let in_axes: Vec<Axis> = in_axes.iter().map(axis).collect();
    let options = VmapOptions {
        in_axes: (&(in_axes,)).into_axes(),
        out_axes: out_axis.into_axes(),
        axis_size: None,
        axis_name: None,
    };
    let args = flatten(&(args.to_vec(),));
    let f = |args: Vec<Array>| f(&args);
    map(&flat::<_, (Vec<Array>,), Vec<Array>>(&f), &options, &args).leaves
}

/// `f` mapped along axes of a list of arrays, `None` where an array is shared, at once; results are stacked along `out_axis`.
///
/// # Panics
/// As the function that [`vmap`] gives.
#[track_caller]
pub(crate) fn vmap_axes(
    f: &dyn Fn(Vec<Array>) -> Vec<Array>,
    args: Vec<Array>,
    in_axes: Vec<Option<i32>>,
    out_axis: i32,
) -> Vec<Array> {
    let options = VmapOptions {
        in_axes: (in_axes,).into_axes(),
        out_axes: out_axis.into_axes(),
        ..VmapOptions::default()
    };
    let f = |args: Vec<Array>| f(args);
    map(&flat(&f), &options, &flatten(&(args,))).unflatten()
}

impl Default for VmapOptions {
    fn default() -> Self {
        VmapOptions {
            in_axes: 0.into_axes(),
            out_axes: 0.into_axes(),
            axis_size: None,
            axis_name: None,
        }
    }
}

impl<Args: ArgList, Out: 'static> Transformed<Args, Out, VmapOptions> {
    /// Which axis of each array is mapped: a number for all, or a tuple with an entry for each argument, which is a
    /// number, `None` (shared), or a prefix tree of them.
    #[must_use]
    pub fn in_axes(self, axes: impl IntoAxes) -> Self {
        self.configured(|options| options.in_axes = axes.into_axes())
    }

    /// Along which axis each result is stacked; `None` for results that do not depend on mapped arguments.
    #[must_use]
    pub fn out_axes(self, axes: impl IntoAxes) -> Self {
        self.configured(|options| options.out_axes = axes.into_axes())
    }

    /// The number of lanes, where no argument is mapped.
    #[must_use]
    pub fn axis_size(self, size: usize) -> Self {
        self.configured(|options| options.axis_size = Some(size))
    }

    /// The name by which collectives inside speak of the mapped axis.
    #[must_use]
    pub fn axis_name(self, name: &str) -> Self {
        self.configured(|options| options.axis_name = Some(name.to_owned()))
    }
}

#[track_caller]
fn map(f: FlatFn<'_>, options: &VmapOptions, args: &FlatArgs) -> FlatArgs {
    let mistake = |error: AxesError| Error::from(error).in_operation("vmap");
    let (in_dims, size) = lanes(&options.in_axes, options.axis_size, args)
        .map_err(|error| error.in_operation("vmap"))
        .or_raise();
    let types: Vec<Aval> = args
        .leaves
        .iter()
        .zip(&in_dims)
        .map(|(leaf, dim)| lane(leaf, *dim))
        .collect();
    let name = options.axis_name.as_deref().map(Name::new);
    let named: Vec<(Name, usize)> = name.iter().map(|name| (name.clone(), size)).collect();
    let traced = with_axes(&named, || {
        trace_flat(
            "vmap",
            f,
            &args.treedef,
            &types,
            Known::No,
            Captures::Constants,
        )
    });
    let axes = axes::flatten("out_axes", &options.out_axes, &traced.aux)
        .map_err(mistake)
        .or_raise();
    let paths = traced.aux.key_paths();
    let (mut out_dims, mut errors) = (Vec::new(), Vec::new());
    for ((axis, aval), path) in axes.iter().zip(traced.jaxpr.out_avals()).zip(&paths) {
        let mut shape = aval.shape.to_vec();
        shape.insert(0, size);
        match axis.normalized(&shape, path) {
            Ok(Some(dim)) => out_dims.push(OutDim::At(Some(dim))),
            Ok(None) => out_dims.push(OutDim::AsIs),
            Err(error) => errors.push(error),
        }
    }
    AxesError::all(errors).map_err(mistake).or_raise();
    let mut dims = vec![None; traced.captured.len()];
    dims.extend(in_dims);
    let axis = BatchAxis { size, name };
    let batched = batch(&Builder::new(), &traced.jaxpr, &axis, &dims, &out_dims).or_raise();
    let unmapped = axes.iter().zip(&batched.dims).zip(paths);
    let errors = unmapped
        .filter(|((axis, dim), _)| axis.0.is_none() && dim.is_some())
        .map(|(_, place)| AxesError::OutAxesNone { place });
    AxesError::all(errors.collect()).map_err(mistake).or_raise();
    FlatArgs {
        leaves: call(&batched.jaxpr, &traced.captured, &args.leaves),
        treedef: traced.aux,
    }
}

/// The mapped axis of each leaf, counted from the front, and the number of lanes.
pub(super) fn lanes(
    in_axes: &Tree<Axis>,
    axis_size: Option<usize>,
    args: &FlatArgs,
) -> Result<(Vec<Option<usize>>, usize)> {
    let mistake = |error: AxesError| Error::from(error);
    let axes = axes::flatten_in_axes("in_axes", in_axes, &args.treedef).map_err(mistake)?;
    let paths = args.treedef.key_paths();
    let shapes = args.leaves.iter().map(Array::shape);
    let leaves = axes
        .iter()
        .copied()
        .zip(shapes)
        .zip(&paths)
        .map(|((axis, shape), path)| (axis, shape, path));
    let size = match (axes::mapped_size(leaves.clone()), axis_size) {
        (Err(AxesError::NothingMapped), Some(size)) => size,
        (Ok(size), Some(said)) if size != said => {
            return Err(Error::shape(format!(
                "the mapped axes have length {size}, and `axis_size` says {said}"
            )));
        }
        (size, _) => size.map_err(mistake)?,
    };
    let dims = leaves
        .map(|(axis, shape, path)| axis.normalized(shape, path))
        .collect::<Result<_, _>>()
        .map_err(mistake)?;
    Ok((dims, size))
}

/// The type of one lane of an array.
fn lane(array: &Array, dim: Option<usize>) -> Aval {
    let aval = aval_of(array);
    let Some(dim) = dim else { return aval };
    let mut shape = aval.shape.clone();
    shape.remove(dim);
    aval.with_shape(&shape)
}
