//! Gradients: reverse mode of functions that give a scalar.

mod form;
mod scoped;

use std::sync::Arc;

use jaxide_core::transform::Step;
use jaxide_core::{ClosedJaxpr, DType, Error};
use jaxide_tree::Pytree;

use super::argnums::{Argnum, Argnums, Selection, behind, known, select};
use super::flat::{
    FlatArgs, FlatFn, FlatTrace, avals, call, flat, flatten, trace_flat, transformed,
};
use crate::array::Array;
use crate::function::{ArgList, Erased, Function, Transformed};
use crate::trace::{Captures, raise, tracing};

pub use form::{Gradient, GradientAndAux, GradientForm, ValueAndGradient, ValueAuxAndGradient};
pub use scoped::{grad_of, grad_with_aux_of, value_and_grad_of, value_and_grad_with_aux_of};

/// What taking gradients can be told: it keeps its function, so that other arguments can be asked for.
pub struct GradOptions<Args, Form: GradientForm> {
    f: Erased<Args, Form::Value>,
    holomorphic: bool,
}

impl<Args, Form: GradientForm> Clone for GradOptions<Args, Form> {
    fn clone(&self) -> Self {
        GradOptions {
            f: self.f.clone(),
            holomorphic: self.holomorphic,
        }
    }
}

/// A function of `Args` that gives gradients of the type `G`, and what else its form says.
pub type Differentiated<Args, Form, G> =
    Transformed<Args, <Form as GradientForm>::Result<G>, GradOptions<Args, Form>>;

/// The type of [`grad`]s: of functions from `Args` to `Out`, with gradients of the type `G`, which is that of the first
/// argument unless other arguments are asked for.
///
/// ```
/// use jaxide::{Array, Grad, grad};
/// struct Descent {
///     slope: Grad<(Array,), Array>,
/// }
/// let descent = Descent { slope: grad(|x: Array| x.square().sum()) };
/// assert_eq!((descent.slope)(Array::from([1.0f32, 2.0])).to_vec::<f32>(), [2.0, 4.0]);
/// ```
pub type Grad<Args, G, Out = Array> = Differentiated<Args, Gradient<Out>, G>;

/// The type of [`value_and_grad`]s.
pub type ValueAndGrad<Args, G, Out = Array> = Differentiated<Args, ValueAndGradient<Out>, G>;

/// The type of [`grad_with_aux`]s.
pub type GradWithAux<Args, G, Aux, Out = Array> = Differentiated<Args, GradientAndAux<Out, Aux>, G>;

/// The type of [`value_and_grad_with_aux`]s.
pub type ValueAndGradWithAux<Args, G, Aux, Out = Array> =
    Differentiated<Args, ValueAuxAndGradient<Out, Aux>, G>;

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
#[track_caller]
pub fn grad<F, Args, Out, First>(f: F) -> Differentiated<Args, Gradient<Out>, First>
where
    F: Function<Args, Out> + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    differentiated::<Args, Gradient<Out>, Argnum<0>>(Arc::new(f), false)
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
#[track_caller]
pub fn value_and_grad<F, Args, Out, First>(
    f: F,
) -> Differentiated<Args, ValueAndGradient<Out>, First>
where
    F: Function<Args, Out> + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    differentiated::<Args, ValueAndGradient<Out>, Argnum<0>>(Arc::new(f), false)
}

/// As [`grad`], of a function that gives the scalar and further results, which come back beside the gradient.
///
/// # Panics
/// As [`grad`].
#[track_caller]
pub fn grad_with_aux<F, Args, Value, Aux, First>(
    f: F,
) -> Differentiated<Args, GradientAndAux<Value, Aux>, First>
where
    F: Function<Args, (Value, Aux)> + Send + Sync + 'static,
    Args: ArgList,
    Value: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    differentiated::<Args, GradientAndAux<Value, Aux>, Argnum<0>>(Arc::new(f), false)
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
#[track_caller]
pub fn value_and_grad_with_aux<F, Args, Value, Aux, First>(
    f: F,
) -> Differentiated<Args, ValueAuxAndGradient<Value, Aux>, First>
where
    F: Function<Args, (Value, Aux)> + Send + Sync + 'static,
    Args: ArgList,
    Value: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    differentiated::<Args, ValueAuxAndGradient<Value, Aux>, Argnum<0>>(Arc::new(f), false)
}

#[track_caller]
fn differentiated<Args, Form, N>(
    f: Erased<Args, Form::Value>,
    holomorphic: bool,
) -> Differentiated<Args, Form, N::Picked>
where
    Args: ArgList,
    Form: GradientForm,
    N: Argnums<Args>,
{
    let name = f.name();
    let options = GradOptions { f, holomorphic };
    Transformed::new(name, options, |options: &GradOptions<Args, Form>, args| {
        let (value, gradient) =
            value_and_gradient::<_, Args, Form, N>(&*options.f, args, options.holomorphic);
        Form::result(value, gradient)
    })
}

impl<Args, Form, Out> Transformed<Args, Out, GradOptions<Args, Form>>
where
    Args: ArgList,
    Form: GradientForm,
    Out: 'static,
{
    /// The gradient by other arguments: `argnums(Argnum::<1>)`, or a tuple of them.
    #[track_caller]
    pub fn argnums<N: Argnums<Args>>(&self, _numbers: N) -> Differentiated<Args, Form, N::Picked> {
        let options = self.options();
        differentiated::<Args, Form, N>(options.f.clone(), options.holomorphic)
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
    F: Function<Args, Form::Value> + ?Sized,
    Args: ArgList,
    Form: GradientForm,
    N: Argnums<Args>,
{
    let args = flatten(&args);
    let picked = select::<Args, N>(&args.treedef);
    let kind = Kind {
        operation: Form::OPERATION,
        aux: Form::AUX,
        uses_value: Form::USES_VALUE,
        holomorphic,
    };
    let [value, gradient] = flat_gradient(&kind, &flat(f), args, picked);
    (value.unflatten(), gradient.unflatten())
}

/// What a gradient form says.
struct Kind {
    operation: &'static str,
    aux: bool,
    uses_value: bool,
    holomorphic: bool,
}

#[track_caller]
fn flat_gradient(kind: &Kind, f: FlatFn<'_>, args: FlatArgs, picked: Selection) -> [FlatArgs; 2] {
    picked.check(kind.operation, &args.leaves, kind.holomorphic);
    let traced = trace_flat(
        "grad",
        f,
        &args.treedef,
        &avals(&args.leaves),
        known(&args.leaves),
        Captures::Constants,
    );
    check_scalar(kind.operation, &traced, kind.aux, kind.holomorphic);
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
    let values = traced.aux.num_leaves();
    let (results, gradients): (Vec<Array>, _) = if kind.uses_value || tracing() {
        let mut results = call(&vjp, &traced.captured, &operands);
        let gradients = results.split_off(values);
        (results, gradients)
    } else {
        // Only the types of the values are looked at.
        let types = traced.jaxpr.out_avals().into_iter().map(Array::from);
        let vjp = without_results(vjp, values);
        (types.collect(), call(&vjp, &traced.captured, &operands))
    };
    let value = FlatArgs {
        leaves: results,
        treedef: traced.aux,
    };
    let gradient = FlatArgs {
        leaves: gradients,
        treedef: picked.treedef,
    };
    [value, gradient]
}

/// The jaxpr without its first results.
fn without_results(closed: ClosedJaxpr, count: usize) -> ClosedJaxpr {
    let mut jaxpr = Arc::unwrap_or_clone(closed.jaxpr);
    jaxpr.outvars.drain(..count);
    ClosedJaxpr::new(jaxpr, closed.consts)
}
