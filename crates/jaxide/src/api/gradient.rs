//! Gradients: reverse mode of functions that give a scalar.

use std::marker::PhantomData;
use std::sync::Arc;

use jaxide_core::transform::Step;
use jaxide_core::{DType, Error};
use jaxide_tree::Pytree;

use super::argnums::{Argnum, Argnums, behind, known, select};
use super::flat::{
    FlatTrace, avals, call, check_differentiable, flatten, trace_flat, transformed, unflatten,
};
use crate::array::Array;
use crate::function::{ArgList, Function, Transformed};
use crate::trace::{Captures, raise};

/// What a transformation that takes gradients gives, from the value of its function and the gradient.
pub trait GradientForm: 'static {
    /// What the function gives.
    type Value: Pytree<Array> + 'static;

    /// What the transformed function gives, for a gradient of this type.
    type Result<Gradient: 'static>: 'static;

    /// The name of the transformation.
    const OPERATION: &'static str;

    /// Whether the function gives more than the scalar.
    const AUX: bool;

    /// The results put together.
    fn result<Gradient: 'static>(value: Self::Value, gradient: Gradient) -> Self::Result<Gradient>;
}

/// The gradient alone: [`grad`].
pub struct Gradient<Out>(PhantomData<fn() -> Out>);

/// The value and the gradient: [`value_and_grad`].
pub struct ValueAndGradient<Out>(PhantomData<fn() -> Out>);

/// The gradient and further results: [`grad_with_aux`].
pub struct GradientAndAux<Value, Aux>(PhantomData<fn() -> (Value, Aux)>);

/// The value, further results and the gradient: [`value_and_grad_with_aux`].
pub struct ValueAuxAndGradient<Value, Aux>(PhantomData<fn() -> (Value, Aux)>);

impl<Out: Pytree<Array> + 'static> GradientForm for Gradient<Out> {
    type Value = Out;
    type Result<G: 'static> = G;
    const OPERATION: &'static str = "grad";
    const AUX: bool = false;

    fn result<G: 'static>(_value: Out, gradient: G) -> G {
        gradient
    }
}

impl<Out: Pytree<Array> + 'static> GradientForm for ValueAndGradient<Out> {
    type Value = Out;
    type Result<G: 'static> = (Out, G);
    const OPERATION: &'static str = "value_and_grad";
    const AUX: bool = false;

    fn result<G: 'static>(value: Out, gradient: G) -> (Out, G) {
        (value, gradient)
    }
}

impl<Value, Aux> GradientForm for GradientAndAux<Value, Aux>
where
    Value: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
{
    type Value = (Value, Aux);
    type Result<G: 'static> = (G, Aux);
    const OPERATION: &'static str = "grad_with_aux";
    const AUX: bool = true;

    fn result<G: 'static>((_, aux): (Value, Aux), gradient: G) -> (G, Aux) {
        (gradient, aux)
    }
}

impl<Value, Aux> GradientForm for ValueAuxAndGradient<Value, Aux>
where
    Value: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
{
    type Value = (Value, Aux);
    type Result<G: 'static> = ((Value, Aux), G);
    const OPERATION: &'static str = "value_and_grad_with_aux";
    const AUX: bool = true;

    fn result<G: 'static>(value: (Value, Aux), gradient: G) -> ((Value, Aux), G) {
        (value, gradient)
    }
}

/// What taking gradients can be told: it keeps its function, so that other arguments can be asked for.
pub struct GradOptions<F, Form> {
    f: Arc<F>,
    holomorphic: bool,
    form: PhantomData<fn() -> Form>,
}

impl<F, Form> Clone for GradOptions<F, Form> {
    fn clone(&self) -> Self {
        GradOptions {
            f: self.f.clone(),
            holomorphic: self.holomorphic,
            form: PhantomData,
        }
    }
}

/// A function that gives gradients of the type `G` of a function `F`, and what else its form says.
pub type Differentiated<F, Args, Form, G> =
    Transformed<Args, <Form as GradientForm>::Result<G>, GradOptions<F, Form>>;

/// The gradient of a function of the first argument, which gives a real scalar.
///
/// The function given takes the arguments of `f` and gives a tree like its first argument. Value-dependent Rust control
/// flow in `f` works where this is not inside `jit` or `vmap`. `.argnums(...)` asks for other arguments, `.holomorphic()`
/// for complex ones.
///
/// # Panics
/// The function given panics when the result of `f` is not a real scalar, or the argument has integer leaves.
///
/// ```
/// use jaxide::{Array, Argnum, grad};
/// let df = grad(|x: Array| x.sin().sum());
/// assert_eq!(df(Array::from([0.0f32, 0.0])).to_vec::<f32>(), [1.0, 1.0]);
/// let product = |x: Array, y: Array| (x * y).sum();
/// let (dx, dy) = grad(product).argnums((Argnum::<0>, Argnum::<1>))(Array::from([2.0f32]), Array::from([3.0f32]));
/// assert_eq!((dx.to_vec::<f32>(), dy.to_vec::<f32>()), (vec![3.0], vec![2.0]));
/// ```
pub fn grad<F, Args, Out, First>(f: F) -> Differentiated<F, Args, Gradient<Out>, First>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    gradient_of::<F, Args, Gradient<Out>, Argnum<0>>(Arc::new(f), false)
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
) -> Differentiated<F, Args, ValueAndGradient<Out>, First>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    gradient_of::<F, Args, ValueAndGradient<Out>, Argnum<0>>(Arc::new(f), false)
}

/// As [`grad`], of a function that gives the scalar and further results, which come back beside the gradient.
///
/// # Panics
/// As [`grad`].
pub fn grad_with_aux<F, Args, Value, Aux, First>(
    f: F,
) -> Differentiated<F, Args, GradientAndAux<Value, Aux>, First>
where
    F: Function<Args, (Value, Aux)>,
    Args: ArgList,
    Value: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    gradient_of::<F, Args, GradientAndAux<Value, Aux>, Argnum<0>>(Arc::new(f), false)
}

/// As [`value_and_grad`], of a function that gives the scalar and further results.
///
/// # Panics
/// As [`grad`].
///
/// ```
/// use jaxide::{Array, value_and_grad_with_aux};
/// let f = value_and_grad_with_aux(|x: Array| ((&x * &x).sum(), &x * 2.0));
/// let ((value, twice), gradient) = f(Array::from([1.0f32, 2.0]));
/// assert_eq!((value.item::<f32>(), twice.to_vec::<f32>()), (5.0, vec![2.0, 4.0]));
/// assert_eq!(gradient.to_vec::<f32>(), [2.0, 4.0]);
/// ```
pub fn value_and_grad_with_aux<F, Args, Value, Aux, First>(
    f: F,
) -> Differentiated<F, Args, ValueAuxAndGradient<Value, Aux>, First>
where
    F: Function<Args, (Value, Aux)>,
    Args: ArgList,
    Value: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    gradient_of::<F, Args, ValueAuxAndGradient<Value, Aux>, Argnum<0>>(Arc::new(f), false)
}

fn gradient_of<F, Args, Form, N>(
    f: Arc<F>,
    holomorphic: bool,
) -> Differentiated<F, Args, Form, N::Picked>
where
    F: Function<Args, Form::Value>,
    Args: ArgList,
    Form: GradientForm,
    N: Argnums<Args>,
{
    let name = f.name();
    let options = GradOptions {
        f,
        holomorphic,
        form: PhantomData,
    };
    Transformed::new(name, options, |options: &GradOptions<F, Form>, args| {
        let (value, gradient) =
            value_and_gradient::<F, Args, Form, N>(&options.f, args, options.holomorphic);
        Form::result(value, gradient)
    })
}

impl<F, Args, Form, Out> Transformed<Args, Out, GradOptions<F, Form>>
where
    F: Function<Args, Form::Value>,
    Args: ArgList,
    Form: GradientForm,
    Out: 'static,
{
    /// The gradient by other arguments: `argnums(Argnum::<1>)`, or a tuple of them.
    pub fn argnums<N: Argnums<Args>>(
        &self,
        _numbers: N,
    ) -> Differentiated<F, Args, Form, N::Picked> {
        let options = self.options();
        gradient_of::<F, Args, Form, N>(options.f.clone(), options.holomorphic)
    }

    /// The complex derivative of a holomorphic function: arguments and result must be complex.
    ///
    /// ```
    /// use jaxide::{Array, grad, lax};
    /// let z = lax::complex(&Array::from([0.0f32]).sum(), &Array::from([2.0f32]).sum());
    /// let dz = grad(|z: Array| &z * &z).holomorphic()(z);
    /// assert_eq!((lax::real(&dz).item::<f32>(), lax::imag(&dz).item::<f32>()), (0.0, 4.0));
    /// ```
    #[must_use]
    pub fn holomorphic(self) -> Self {
        self.configured(|options| options.holomorphic = true)
    }
}

/// A scalar result is required of a function whose gradient is taken.
#[track_caller]
fn check_scalar(operation: &str, traced: &FlatTrace, aux: bool, holomorphic: bool) {
    let outs = traced.jaxpr.out_avals();
    let fits = |dtype: DType| {
        if holomorphic {
            dtype.is_complex()
        } else {
            dtype.is_float()
        }
    };
    let scalar = outs
        .first()
        .is_some_and(|aval| aval.rank() == 0 && fits(aval.dtype));
    if scalar && (aux || outs.len() == 1) {
        return;
    }
    let types: Vec<String> = outs.iter().map(ToString::to_string).collect();
    let kind = if holomorphic { "complex" } else { "real" };
    let mut error = Error::shape(format!(
        "a {kind} scalar result is needed, and the function gives ({})",
        types.join(", ")
    ))
    .in_operation(operation)
    .note("reduce it with `.sum()` or `.mean()`, or use `jacrev` for results of other shapes; `grad_with_aux` allows further results");
    if outs.first().is_some_and(|aval| aval.dtype.is_complex()) {
        error = error.note(
            "`.holomorphic()` gives the derivative of a complex function of complex arguments",
        );
    }
    raise(error);
}

#[track_caller]
fn value_and_gradient<F, Args, Form, N>(
    f: &F,
    args: Args,
    holomorphic: bool,
) -> (Form::Value, N::Picked)
where
    F: Function<Args, Form::Value>,
    Args: ArgList,
    Form: GradientForm,
    N: Argnums<Args>,
{
    let args = flatten(&args);
    let picked = select::<Args, N>(&args.treedef);
    let leaves: Vec<Array> = picked
        .leaves
        .iter()
        .map(|&leaf| args.leaves[leaf].clone())
        .collect();
    check_differentiable(Form::OPERATION, &leaves, &picked.treedef, holomorphic);
    let traced = trace_flat(
        "grad",
        f,
        &args.treedef,
        &avals(&args.leaves),
        known(&args.leaves),
        Captures::Constants,
    );
    check_scalar(Form::OPERATION, &traced, Form::AUX, holomorphic);
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
