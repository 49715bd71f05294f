//! Derivatives: forward, reverse, and linear maps at a point.

use jaxide_core::prims::{Opaque, Remat};
use jaxide_core::transform::{Step, linearize as linearize_jaxpr, transpose as transpose_jaxpr};
use jaxide_core::{Builder, ClosedJaxpr, DType, Error, Result};
use jaxide_tree::{Pytree, TreeDef};

use super::flat::{
    FlatTrace, avals, call, check_differentiable, flatten, structure, trace_flat, transformed,
    unflatten,
};
use crate::array::Array;
use crate::function::{ArgList, Function, Transformed};
use crate::trace::{Captures, Known, bind, raise, tracing};

/// Argument number `N`, as a type: `grad(f).argnums(Argnum::<1>)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Argnum<const N: usize>;

/// Numbers of arguments, and the type of their gradients: [`Argnum`] or a tuple of them.
pub trait Argnums<Args>: Copy + Send + Sync + 'static {
    /// The arguments of these numbers.
    type Picked: Pytree<Array> + 'static;

    /// The numbers.
    fn numbers() -> Vec<usize>;

    /// Whether the gradients are a tuple, or one argument alone.
    fn is_tuple() -> bool;
}

macro_rules! pick {
    ($($number:literal $picked:ident ($($arg:ident)*);)*) => { $(
        impl<$($arg: Pytree<Array> + 'static),*> Argnums<($($arg,)*)> for Argnum<$number> {
            type Picked = $picked;

            fn numbers() -> Vec<usize> {
                vec![$number]
            }

            fn is_tuple() -> bool {
                false
            }
        }
    )* };
}

pick! {
    0 A (A);
    0 A (A B);
    1 B (A B);
    0 A (A B C);
    1 B (A B C);
    2 C (A B C);
    0 A (A B C D);
    1 B (A B C D);
    2 C (A B C D);
    3 D (A B C D);
    0 A (A B C D E);
    1 B (A B C D E);
    2 C (A B C D E);
    3 D (A B C D E);
    4 E (A B C D E);
    0 A (A B C D E G);
    1 B (A B C D E G);
    2 C (A B C D E G);
    3 D (A B C D E G);
    4 E (A B C D E G);
    5 G (A B C D E G);
    0 A (A B C D E G H);
    1 B (A B C D E G H);
    2 C (A B C D E G H);
    3 D (A B C D E G H);
    4 E (A B C D E G H);
    5 G (A B C D E G H);
    6 H (A B C D E G H);
    0 A (A B C D E G H I);
    1 B (A B C D E G H I);
    2 C (A B C D E G H I);
    3 D (A B C D E G H I);
    4 E (A B C D E G H I);
    5 G (A B C D E G H I);
    6 H (A B C D E G H I);
    7 I (A B C D E G H I);
}

macro_rules! pick_tuples {
    ($(($($pick:ident)+))*) => { $(
        impl<Args, $($pick: Argnums<Args>),+> Argnums<Args> for ($($pick,)+) {
            type Picked = ($($pick::Picked,)+);

            fn numbers() -> Vec<usize> {
                [$($pick::numbers()),+].concat()
            }

            fn is_tuple() -> bool {
                true
            }
        }
    )* };
}

pick_tuples! { (P) (P Q) (P Q R) (P Q R S) (P Q R S T) (P Q R S T U) }

/// The leaves of the listed arguments, and their structure as the gradient has it.
pub(super) struct Selection {
    pub(super) leaves: Vec<usize>,
    pub(super) treedef: TreeDef,
}

/// Which leaves of the arguments a derivative is taken by.
pub(super) fn select<Args, N: Argnums<Args>>(args: &TreeDef) -> Selection {
    let children = args.children();
    let mut starts = vec![0];
    for child in &children {
        starts.push(starts[starts.len() - 1] + child.num_leaves());
    }
    let numbers = N::numbers();
    let leaves = numbers
        .iter()
        .flat_map(|&number| starts[number]..starts[number + 1])
        .collect();
    let picked: Vec<TreeDef> = numbers
        .iter()
        .map(|&number| children[number].clone())
        .collect();
    let treedef = if N::is_tuple() {
        TreeDef::tuple(&picked)
    } else {
        picked[0].clone()
    };
    Selection { leaves, treedef }
}

/// Values for value-dependent control flow, when the call is not part of a trace without them.
pub(super) fn known(leaves: &[Array]) -> Known {
    Known::Values(leaves.to_vec())
}

/// Numbers of arguments behind the captured ones.
pub(super) fn behind(captured: usize, numbers: &[usize]) -> Vec<usize> {
    numbers.iter().map(|number| number + captured).collect()
}

/// A scalar result is required of a function whose gradient is taken.
#[track_caller]
fn check_scalar(operation: &str, traced: &FlatTrace) {
    let outs = traced.jaxpr.out_avals();
    let first = outs.first();
    if first.is_none_or(|aval| aval.rank() != 0 || !aval.dtype.is_float()) || (outs.len() != 1) {
        let types: Vec<String> = outs.iter().map(ToString::to_string).collect();
        raise(
            Error::shape(format!("a real scalar result is needed, and the function gives ({})", types.join(", ")))
                .in_operation(operation)
                .note("reduce it with `.sum()` or `.mean()`, or use `jacrev` for results of other shapes; `grad_with_aux` allows further results"),
        );
    }
}

/// The gradient of a function of the first argument, which gives a real scalar.
///
/// The function given takes the arguments of `f` and gives a tree like its first argument. Value-dependent Rust control
/// flow in `f` works where this is not inside `jit` or `vmap`.
///
/// # Panics
/// The function given panics when the result of `f` is not a real scalar, or the argument has integer leaves.
///
/// ```
/// use jaxide::{Array, grad};
/// let df = grad(|x: Array| x.sin().sum());
/// assert_eq!(df(Array::from([0.0f32, 0.0])).to_vec::<f32>(), [1.0, 1.0]);
/// ```
pub fn grad<F, Args, Out, First>(f: F) -> Transformed<Args, First, Grad<F, Out>>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    grad_of::<F, Args, Out, Argnum<0>>(std::sync::Arc::new(f))
}

/// What `grad` can be told: it keeps its function, so that other arguments can be asked for.
pub struct Grad<F, Out> {
    f: std::sync::Arc<F>,
    out: std::marker::PhantomData<fn() -> Out>,
}

fn grad_of<F, Args, Out, N>(f: std::sync::Arc<F>) -> Transformed<Args, N::Picked, Grad<F, Out>>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    N: Argnums<Args>,
{
    let options = Grad {
        f: f.clone(),
        out: std::marker::PhantomData,
    };
    Transformed::new(f.name(), options, |options, args| {
        let (_, gradient) = value_and_gradient::<F, Args, Out, N>("grad", &options.f, args, false);
        gradient
    })
}

impl<F, Args, Out, Picked> Transformed<Args, Picked, Grad<F, Out>>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    Picked: 'static,
{
    /// The gradient by other arguments: `argnums(Argnum::<1>)`, or a tuple of them.
    pub fn argnums<N: Argnums<Args>>(
        &self,
        _numbers: N,
    ) -> Transformed<Args, N::Picked, Grad<F, Out>> {
        grad_of::<F, Args, Out, N>(self.options().f.clone())
    }
}

/// The value of a function that gives a real scalar, and its gradient by the first argument.
///
/// # Panics
/// As [`grad`].
///
/// ```
/// use jaxide::{Array, value_and_grad};
/// let f = value_and_grad(|x: Array| (&x * &x).sum());
/// let (value, gradient) = f(Array::from([1.0f32, 2.0]));
/// assert_eq!(value.item::<f32>(), 5.0);
/// assert_eq!(gradient.to_vec::<f32>(), [2.0, 4.0]);
/// ```
pub fn value_and_grad<F, Args, Out, First>(
    f: F,
) -> Transformed<Args, (Out, First), ValueAndGrad<F, Out>>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    value_and_grad_of::<F, Args, Out, Argnum<0>>(std::sync::Arc::new(f))
}

/// What `value_and_grad` can be told.
pub struct ValueAndGrad<F, Out> {
    f: std::sync::Arc<F>,
    out: std::marker::PhantomData<fn() -> Out>,
}

fn value_and_grad_of<F, Args, Out, N>(
    f: std::sync::Arc<F>,
) -> Transformed<Args, (Out, N::Picked), ValueAndGrad<F, Out>>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    N: Argnums<Args>,
{
    let options = ValueAndGrad {
        f: f.clone(),
        out: std::marker::PhantomData,
    };
    Transformed::new(f.name(), options, |options, args| {
        value_and_gradient::<F, Args, Out, N>("value_and_grad", &options.f, args, false)
    })
}

impl<F, Args, Out, Picked> Transformed<Args, (Out, Picked), ValueAndGrad<F, Out>>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    Picked: 'static,
{
    /// The gradient by other arguments: `argnums(Argnum::<1>)`, or a tuple of them.
    pub fn argnums<N: Argnums<Args>>(
        &self,
        _numbers: N,
    ) -> Transformed<Args, (Out, N::Picked), ValueAndGrad<F, Out>> {
        value_and_grad_of::<F, Args, Out, N>(self.options().f.clone())
    }
}

/// As [`grad`], of a function that gives the scalar and further results, which come back beside the gradient.
///
/// # Panics
/// As [`grad`].
pub fn grad_with_aux<F, Args, Value, Aux, First>(f: F) -> Transformed<Args, (First, Aux)>
where
    F: Function<Args, (Value, Aux)>,
    Args: ArgList,
    Value: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    Transformed::new(f.name(), (), move |(), args| {
        let ((_, aux), gradient) =
            value_and_gradient::<F, Args, (Value, Aux), Argnum<0>>("grad_with_aux", &f, args, true);
        (gradient, aux)
    })
}

/// As [`value_and_grad`], of a function that gives the scalar and further results.
///
/// # Panics
/// As [`grad`].
pub fn value_and_grad_with_aux<F, Args, Value, Aux, First>(
    f: F,
) -> Transformed<Args, ((Value, Aux), First)>
where
    F: Function<Args, (Value, Aux)>,
    Args: ArgList,
    Value: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    Transformed::new(f.name(), (), move |(), args| {
        value_and_gradient::<F, Args, (Value, Aux), Argnum<0>>(
            "value_and_grad_with_aux",
            &f,
            args,
            true,
        )
    })
}

#[track_caller]
fn value_and_gradient<F, Args, Out, N>(
    operation: &'static str,
    f: &F,
    args: Args,
    aux: bool,
) -> (Out, N::Picked)
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array>,
    N: Argnums<Args>,
{
    let args = flatten(&args);
    let picked = select::<Args, N>(&args.treedef);
    let leaves: Vec<Array> = picked
        .leaves
        .iter()
        .map(|&leaf| args.leaves[leaf].clone())
        .collect();
    check_differentiable(operation, &leaves, &picked.treedef, false);
    let traced = trace_flat(
        "grad",
        f,
        &args.treedef,
        &avals(&args.leaves),
        known(&args.leaves),
        Captures::Constants,
    );
    if !aux {
        check_scalar(operation, &traced);
    }
    let argnums = behind(traced.captured.len(), &picked.leaves);
    let step = Step::Vjp {
        argnums,
        cotangent_outs: vec![0],
    };
    let vjp = transformed(&traced.jaxpr, &step);
    let dtype = traced
        .jaxpr
        .out_avals()
        .first()
        .map_or(DType::F32, |aval| aval.dtype);
    let mut operands = args.leaves;
    operands.push(crate::lax::full(&[], 1.0, dtype));
    let mut results = call(&vjp, &traced.captured, &operands);
    let gradients = results.split_off(traced.aux.num_leaves());
    (
        unflatten(&traced.aux, results),
        unflatten(&picked.treedef, gradients),
    )
}

/// The value of `f` at `primals` and its derivative in the direction `tangents`: forward mode.
///
/// Integer leaves have no tangent: what `tangents` holds there does not matter, and the tangent of an integer result is
/// a zero of its type.
///
/// # Panics
/// When a tangent has another type than its primal.
///
/// ```
/// use jaxide::{Array, jvp};
/// let (y, dy) = jvp(|x: Array| x.sin(), (Array::from([0.0f32]),), (Array::from([2.0f32]),));
/// assert_eq!((y.to_vec::<f32>()[0], dy.to_vec::<f32>()[0]), (0.0, 2.0));
/// ```
#[track_caller]
pub fn jvp<F, Args, Out>(f: F, primals: Args, tangents: Args) -> (Out, Out)
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array>,
{
    let (primals, tangents) = (flatten(&primals), flatten(&tangents));
    check_tangents(
        "jvp",
        &primals.leaves,
        &tangents.leaves,
        &primals.treedef,
        &tangents.treedef,
    );
    let traced = trace_flat(
        "jvp",
        &f,
        &primals.treedef,
        &avals(&primals.leaves),
        known(&primals.leaves),
        Captures::Constants,
    );
    let argnums = inexact(&primals.leaves);
    let outs = traced.jaxpr.out_avals();
    let tangent_outs: Vec<usize> = (0..outs.len())
        .filter(|&out| outs[out].dtype.is_inexact())
        .collect();
    let step = Step::Jvp {
        argnums: behind(traced.captured.len(), &argnums),
        tangent_outs: tangent_outs.clone(),
    };
    let transformed = transformed(&traced.jaxpr, &step);
    let mut operands = primals.leaves;
    operands.extend(argnums.iter().map(|&leaf| tangents.leaves[leaf].clone()));
    let mut results = call(&transformed, &traced.captured, &operands);
    let given = results.split_off(outs.len());
    let tangents = with_zeros(given, &tangent_outs, &outs);
    (
        unflatten(&traced.aux, results),
        unflatten(&traced.aux, tangents),
    )
}

/// Positions of floats and complex numbers.
fn inexact(leaves: &[Array]) -> Vec<usize> {
    (0..leaves.len())
        .filter(|&leaf| leaves[leaf].dtype().is_inexact())
        .collect()
}

/// The given tangents at their positions, zeros elsewhere.
fn with_zeros(given: Vec<Array>, positions: &[usize], avals: &[jaxide_core::Aval]) -> Vec<Array> {
    let mut given = given.into_iter();
    avals
        .iter()
        .enumerate()
        .map(|(position, aval)| {
            let zero = || crate::lax::full(&aval.shape, 0, aval.dtype);
            if positions.contains(&position) {
                given.next().unwrap_or_else(zero)
            } else {
                zero()
            }
        })
        .collect()
}

/// Tangents must have the structure and the types of the primals.
#[track_caller]
fn check_tangents(
    operation: &str,
    primals: &[Array],
    tangents: &[Array],
    want: &TreeDef,
    got: &TreeDef,
) {
    if want != got {
        let errors = want.prefix_errors(got);
        let error = errors.into_iter().next().map_or_else(
            || {
                Error::new(
                    jaxide_core::ErrorKind::Structure,
                    format!("{want} is expected, and {got} is given"),
                )
            },
            structure,
        );
        raise(error.in_operation(operation));
    }
    for ((primal, tangent), path) in primals.iter().zip(tangents).zip(want.key_paths()) {
        if primal.dtype().is_inexact() && !primal.aval().matches(&tangent.aval()) {
            raise(
                Error::shape(format!(
                    "the primal is {} and its tangent {}",
                    primal.aval(),
                    tangent.aval()
                ))
                .in_operation(operation)
                .at_path(path.to_string()),
            );
        }
    }
}

/// The derivative of a function at a point, as a linear function from tangents to tangents.
pub struct Linearized<Args, Out> {
    map: LinearMap,
    marker: std::marker::PhantomData<fn(Args) -> Out>,
}

/// The derivative of a function at a point, as a linear function from cotangents to cotangents.
pub struct Pullback<Args, Out> {
    map: LinearMap,
    marker: std::marker::PhantomData<fn(Out) -> Args>,
}

/// A linear jaxpr with its residuals.
struct LinearMap {
    jaxpr: ClosedJaxpr,
    residuals: Vec<Array>,
    inputs: Positions,
    outputs: Positions,
}

/// Which leaves of a tree carry tangents.
struct Positions {
    treedef: TreeDef,
    avals: Vec<jaxide_core::Aval>,
    leaves: Vec<usize>,
}

impl LinearMap {
    #[track_caller]
    fn apply<In: Pytree<Array>, Out: Pytree<Array>>(&self, operation: &str, input: &In) -> Out {
        let input = flatten(input);
        if input.treedef != self.inputs.treedef {
            let error = Error::new(
                jaxide_core::ErrorKind::Structure,
                format!(
                    "{} is expected, and {} is given",
                    self.inputs.treedef, input.treedef
                ),
            );
            raise(error.in_operation(operation));
        }
        let mut operands = self.residuals.clone();
        for &leaf in &self.inputs.leaves {
            let (want, got) = (&self.inputs.avals[leaf], input.leaves[leaf].aval());
            if !want.matches(&got) {
                raise(
                    Error::shape(format!("{want} is expected, and {got} is given"))
                        .in_operation(operation),
                );
            }
            operands.push(input.leaves[leaf].clone());
        }
        let results = call(&self.jaxpr, &[], &operands);
        unflatten(
            &self.outputs.treedef,
            with_zeros(results, &self.outputs.leaves, &self.outputs.avals),
        )
    }
}

impl<Args: Pytree<Array>, Out: Pytree<Array>> Linearized<Args, Out> {
    /// The tangents of the results in the direction `tangents`.
    ///
    /// # Panics
    /// When `tangents` do not have the structure and types of the arguments.
    #[track_caller]
    pub fn apply(&self, tangents: &Args) -> Out {
        self.map.apply("linearize", tangents)
    }

    /// The linear map as a jaxpr, residuals before tangents.
    pub fn jaxpr(&self) -> &ClosedJaxpr {
        &self.map.jaxpr
    }
}

impl<Args: Pytree<Array>, Out: Pytree<Array>> Pullback<Args, Out> {
    /// The cotangents of the arguments from those of the results.
    ///
    /// # Panics
    /// When `cotangents` do not have the structure and types of the results.
    #[track_caller]
    pub fn apply(&self, cotangents: &Out) -> Args {
        self.map.apply("vjp", cotangents)
    }

    /// The linear map as a jaxpr, residuals before cotangents.
    pub fn jaxpr(&self) -> &ClosedJaxpr {
        &self.map.jaxpr
    }
}

/// The value of `f` at a point, and its derivative there as a linear function: computed once, applied many times.
///
/// # Panics
/// Where `f` does.
///
/// ```
/// use jaxide::{Array, linearize};
/// let (y, df) = linearize(|x: Array| &x * &x, (Array::from([3.0f32]),));
/// assert_eq!(y.to_vec::<f32>(), [9.0]);
/// assert_eq!(df.apply(&(Array::from([1.0f32]),)).to_vec::<f32>(), [6.0]);
/// ```
#[track_caller]
pub fn linearize<F, Args, Out>(f: F, primals: Args) -> (Out, Linearized<Args, Out>)
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array>,
{
    let (value, map) = linear_map("linearize", &f, primals, false);
    (
        value,
        Linearized {
            map,
            marker: std::marker::PhantomData,
        },
    )
}

/// The value of `f` at a point, and the function from cotangents of its results to cotangents of its arguments: reverse
/// mode.
///
/// # Panics
/// Where `f` does.
///
/// ```
/// use jaxide::{Array, vjp};
/// let (y, pullback) = vjp(|x: Array| x.sin(), (Array::from([0.0f32]),));
/// let (dx,) = pullback.apply(&Array::from([5.0f32]));
/// assert_eq!(dx.to_vec::<f32>(), [5.0]);
/// ```
#[track_caller]
pub fn vjp<F, Args, Out>(f: F, primals: Args) -> (Out, Pullback<Args, Out>)
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array>,
{
    let (value, map) = linear_map("vjp", &f, primals, true);
    (
        value,
        Pullback {
            map,
            marker: std::marker::PhantomData,
        },
    )
}

#[track_caller]
fn linear_map<F, Args, Out>(
    operation: &'static str,
    f: &F,
    primals: Args,
    transpose: bool,
) -> (Out, LinearMap)
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array>,
{
    let primals = flatten(&primals);
    let types = avals(&primals.leaves);
    let traced = trace_flat(
        operation,
        f,
        &primals.treedef,
        &types,
        known(&primals.leaves),
        Captures::Constants,
    );
    let argnums = inexact(&primals.leaves);
    let outs = traced.jaxpr.out_avals();
    let tangent_outs: Vec<usize> = (0..outs.len())
        .filter(|&out| outs[out].dtype.is_inexact())
        .collect();
    let numbers = behind(traced.captured.len(), &argnums);
    let parts = linear_parts(&traced.jaxpr, &numbers, &tangent_outs, transpose)
        .unwrap_or_else(|error| raise(error));
    let mut results = call(&parts.primal, &traced.captured, &primals.leaves);
    let residuals = results.split_off(outs.len());
    let arguments = Positions {
        treedef: primals.treedef,
        avals: types,
        leaves: argnums,
    };
    let values = Positions {
        treedef: traced.aux.clone(),
        avals: outs,
        leaves: tangent_outs,
    };
    let (inputs, outputs) = if transpose {
        (values, arguments)
    } else {
        (arguments, values)
    };
    (
        unflatten(&traced.aux, results),
        LinearMap {
            jaxpr: parts.linear,
            residuals,
            inputs,
            outputs,
        },
    )
}

/// A function split at a point: its results with residuals, and the linear map of residuals and tangents (or cotangents).
struct LinearParts {
    primal: ClosedJaxpr,
    linear: ClosedJaxpr,
}

/// Linearizes a flat function in the listed arguments, and transposes the linear part where asked for.
fn linear_parts(
    jaxpr: &ClosedJaxpr,
    argnums: &[usize],
    tangent_outs: &[usize],
    reverse: bool,
) -> Result<LinearParts> {
    let b = Builder::new();
    let arity = jaxpr.jaxpr.invars.len();
    let mask = |count: usize, set: &[usize]| -> Vec<bool> {
        (0..count).map(|index| set.contains(&index)).collect()
    };
    let outs = mask(jaxpr.jaxpr.outvars.len(), tangent_outs);
    let parts = linearize_jaxpr(&b, jaxpr, &mask(arity, argnums), &outs, &vec![false; arity])?;
    if !reverse {
        return Ok(LinearParts {
            primal: parts.primal,
            linear: parts.linear,
        });
    }
    let inputs = parts.linear.jaxpr.invars.len();
    let linear: Vec<bool> = (0..inputs)
        .map(|index| index >= inputs - argnums.len())
        .collect();
    let cotangents = vec![true; parts.linear.jaxpr.outvars.len()];
    let transposed = transpose_jaxpr(&b, &parts.linear, &linear, &cotangents, &linear)?;
    Ok(LinearParts {
        primal: parts.primal,
        linear: transposed.jaxpr,
    })
}

/// `f`, whose intermediate values are not kept for the derivative but computed again.
///
/// # Panics
/// The function given panics where `f` does.
pub fn checkpoint<F, Args, Out>(f: F) -> Transformed<Args, Out>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    Transformed::new(f.name(), (), move |(), args| {
        if !tracing() {
            return f.apply(args);
        }
        let args = flatten(&args);
        let traced = trace_flat(
            "checkpoint",
            &f,
            &args.treedef,
            &avals(&args.leaves),
            Known::No,
            Captures::Inputs,
        );
        let prim = Remat {
            differentiated: false,
            jaxpr: traced.jaxpr,
            policy: Opaque::none(),
            prevent_cse: true,
        };
        let mut operands = traced.captured;
        operands.extend(args.leaves);
        unflatten(&traced.aux, bind(prim, &operands).into_vec())
    })
}
