//! Whole derivatives: trees of trees.

mod mode;
mod scoped;

use std::marker::PhantomData;
use std::sync::Arc;

use jaxide_core::transform::Step;
use jaxide_core::{ClosedJaxpr, Jaxpr};
use jaxide_tree::{Pytree, TreeDef};

use super::argnums::{Argnum, Argnums, Selection, behind, known, select};
use super::flat::{
    FlatArgs, FlatFn, avals, call, flat, flatten, results_and_aux, trace_flat, transformed,
};
use crate::array::Array;
use crate::function::{ArgList, Erased, Function, Transformed};
use crate::trace::Captures;

pub use mode::{
    DerivativeForm, DerivativeMode, Forward, ForwardOverReverse, Reverse, Whole, WholeAndAux,
};
pub use scoped::{
    hessian_of, hessian_with_aux_of, jacfwd_of, jacfwd_with_aux_of, jacrev_of, jacrev_with_aux_of,
};

/// What taking whole derivatives can be told: it keeps its function, so that other arguments can be asked for.
pub struct JacobianOptions<Args, Mode, Form: DerivativeForm> {
    f: Erased<Args, Form::Value>,
    holomorphic: bool,
    mode: PhantomData<fn() -> Mode>,
}

impl<Args, Mode, Form: DerivativeForm> Clone for JacobianOptions<Args, Mode, Form> {
    fn clone(&self) -> Self {
        JacobianOptions {
            f: self.f.clone(),
            ..*self
        }
    }
}

/// A function of `Args` that gives whole derivatives by arguments of the type `In`.
pub type WholeDerivative<Args, Mode, Form, In> = Transformed<
    Args,
    <Form as DerivativeForm>::Result<
        <Mode as DerivativeMode<<Form as DerivativeForm>::Out, In>>::Derivative,
    >,
    JacobianOptions<Args, Mode, Form>,
>;

/// The type of [`jacfwd`]s of functions from `Args`, whose first argument is an `In`, to `Out`.
///
/// ```
/// use jaxide::{Array, Jacfwd, jacfwd};
/// struct Flow {
///     jacobian: Jacfwd<(Array, Array), Array>,
/// }
/// let flow = Flow { jacobian: jacfwd(|x: Array, t: Array| x.sin() * t) };
/// let j = (flow.jacobian)(Array::from([0.0f32, 0.0]), Array::from(2.0f32));
/// assert_eq!(j.to_vec::<f32>(), [2.0, 0.0, 0.0, 2.0]);
/// ```
pub type Jacfwd<Args, In, Out = Array> = WholeDerivative<Args, Forward, Whole<Out>, In>;

/// The type of [`jacrev`]s.
pub type Jacrev<Args, In, Out = Array> = WholeDerivative<Args, Reverse, Whole<Out>, In>;

/// The type of [`hessian`]s.
pub type Hessian<Args, In, Out = Array> = WholeDerivative<Args, ForwardOverReverse, Whole<Out>, In>;

/// Jacobians of a function by its first argument, by forward mode: good where there are fewer arguments than results.
///
/// The result is a tree like the result of `f` with a tree like the argument in place of each leaf; each of its leaves has
/// the shape of the result followed by that of the argument. A derived struct is itself where the other side is an array;
/// see [`Compose`](crate::tree::Compose) for what becomes of structs of structs. `.argnums(...)` asks for other arguments,
/// `.holomorphic()` for complex ones.
///
/// # Panics
/// The function given panics when an argument has integer leaves.
///
/// ```
/// use jaxide::{Argnum, Array, jacfwd};
/// let j = jacfwd(|x: Array| x.sin())(Array::from([0.0f32, 0.0]));
/// assert_eq!(j.to_vec::<f32>(), [1.0, 0.0, 0.0, 1.0]);
///
/// let polar = |r: Array, t: Array| (&r * t.cos(), &r * t.sin());
/// let both = jacfwd(polar).argnums((Argnum::<0>, Argnum::<1>));
/// let ((x_r, _), (_, y_t)) = both(Array::from(2.0f32), Array::from(0.0f32));
/// assert_eq!((x_r.item::<f32>(), y_t.item::<f32>()), (1.0, 2.0));
/// ```
#[track_caller]
pub fn jacfwd<F, Args, Out, In>(f: F) -> WholeDerivative<Args, Forward, Whole<Out>, In>
where
    F: Function<Args, Out> + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    In: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = In>,
    Forward: DerivativeMode<Out, In>,
{
    derivative::<Args, Forward, Whole<Out>, Argnum<0>>(Arc::new(f), false)
}

/// As [`jacfwd`], of a function that gives the results to differentiate and further ones, which come back beside the
/// derivative.
///
/// # Panics
/// As [`jacfwd`].
///
/// ```
/// use jaxide::{Array, jacfwd_with_aux};
/// let (j, twice) = jacfwd_with_aux(|x: Array| (x.square(), &x * 2.0))(Array::from(3.0f32));
/// assert_eq!((j.item::<f32>(), twice.item::<f32>()), (6.0, 6.0));
/// ```
#[track_caller]
pub fn jacfwd_with_aux<F, Args, Out, Aux, In>(
    f: F,
) -> WholeDerivative<Args, Forward, WholeAndAux<Out, Aux>, In>
where
    F: Function<Args, (Out, Aux)> + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
    In: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = In>,
    Forward: DerivativeMode<Out, In>,
{
    derivative::<Args, Forward, WholeAndAux<Out, Aux>, Argnum<0>>(Arc::new(f), false)
}

/// As [`jacfwd`], by reverse mode: good where there are fewer results than arguments.
///
/// # Panics
/// As [`jacfwd`].
///
/// ```
/// use jaxide::prelude::*;
///
/// #[derive(Clone, Pytree)]
/// struct Line { slope: Array, offset: Array }
///
/// let x = Array::from([1.0f32, 2.0, 3.0]);
/// let values = move |line: Line| &x * line.slope + line.offset;
/// let line = Line { slope: Array::from(2.0f32), offset: Array::from(0.0f32) };
/// let j: Line = jacrev(values)(line);
/// assert_eq!(j.slope.to_vec::<f32>(), [1.0, 2.0, 3.0]);
/// assert_eq!(j.offset.to_vec::<f32>(), [1.0, 1.0, 1.0]);
/// ```
#[track_caller]
pub fn jacrev<F, Args, Out, In>(f: F) -> WholeDerivative<Args, Reverse, Whole<Out>, In>
where
    F: Function<Args, Out> + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    In: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = In>,
    Reverse: DerivativeMode<Out, In>,
{
    derivative::<Args, Reverse, Whole<Out>, Argnum<0>>(Arc::new(f), false)
}

/// As [`jacrev`], of a function that gives the results to differentiate and further ones, which come back beside the
/// derivative.
///
/// # Panics
/// As [`jacrev`].
#[track_caller]
pub fn jacrev_with_aux<F, Args, Out, Aux, In>(
    f: F,
) -> WholeDerivative<Args, Reverse, WholeAndAux<Out, Aux>, In>
where
    F: Function<Args, (Out, Aux)> + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
    In: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = In>,
    Reverse: DerivativeMode<Out, In>,
{
    derivative::<Args, Reverse, WholeAndAux<Out, Aux>, Argnum<0>>(Arc::new(f), false)
}

/// Second derivatives by the first argument, forward over reverse mode: a tree like the result, with trees of trees like
/// the argument in place of its leaves.
///
/// # Panics
/// As [`jacfwd`].
///
/// ```
/// use jaxide::{Argnum, Array, hessian};
/// let h = hessian(|x: Array| (&x * &x * &x).sum())(Array::from([1.0f32, 2.0]));
/// assert_eq!(h.to_vec::<f32>(), [6.0, 0.0, 0.0, 12.0]);
///
/// let f = |x: Array, y: Array| x.square() * y;
/// let second = hessian(f).argnums((Argnum::<0>, Argnum::<1>));
/// let ((xx, xy), (yx, yy)) = second(Array::from(2.0f32), Array::from(5.0f32));
/// assert_eq!([xx, xy, yx, yy].map(|d| d.item::<f32>()), [10.0, 4.0, 4.0, 0.0]);
/// ```
#[track_caller]
pub fn hessian<F, Args, Out, In>(f: F) -> WholeDerivative<Args, ForwardOverReverse, Whole<Out>, In>
where
    F: Function<Args, Out> + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    In: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = In>,
    ForwardOverReverse: DerivativeMode<Out, In>,
{
    derivative::<Args, ForwardOverReverse, Whole<Out>, Argnum<0>>(Arc::new(f), false)
}

/// As [`hessian`], of a function that gives the results to differentiate and further ones, which come back beside the
/// derivative.
///
/// # Panics
/// As [`hessian`].
#[track_caller]
pub fn hessian_with_aux<F, Args, Out, Aux, In>(
    f: F,
) -> WholeDerivative<Args, ForwardOverReverse, WholeAndAux<Out, Aux>, In>
where
    F: Function<Args, (Out, Aux)> + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
    In: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = In>,
    ForwardOverReverse: DerivativeMode<Out, In>,
{
    derivative::<Args, ForwardOverReverse, WholeAndAux<Out, Aux>, Argnum<0>>(Arc::new(f), false)
}

impl<Args, Mode, Form, Result> Transformed<Args, Result, JacobianOptions<Args, Mode, Form>>
where
    Args: ArgList,
    Mode: 'static,
    Form: DerivativeForm,
    Result: 'static,
{
    /// The derivative by other arguments: `argnums(Argnum::<1>)`, or a tuple of them, for which there is a tuple of
    /// derivatives.
    #[must_use]
    #[track_caller]
    pub fn argnums<N>(&self, _numbers: N) -> WholeDerivative<Args, Mode, Form, N::Picked>
    where
        N: Argnums<Args>,
        Mode: DerivativeMode<Form::Out, N::Picked>,
    {
        let options = self.options();
        derivative::<Args, Mode, Form, N>(options.f.clone(), options.holomorphic)
    }

    /// The complex derivative of a holomorphic function: arguments must be complex.
    #[must_use]
    pub fn holomorphic(self) -> Self {
        self.configured(|options| options.holomorphic = true)
    }
}

#[track_caller]
fn derivative<Args, Mode, Form, N>(
    f: Erased<Args, Form::Value>,
    holomorphic: bool,
) -> WholeDerivative<Args, Mode, Form, N::Picked>
where
    Args: ArgList,
    Mode: DerivativeMode<Form::Out, N::Picked>,
    Form: DerivativeForm,
    N: Argnums<Args>,
{
    let name = f.name();
    let options = JacobianOptions {
        f,
        holomorphic,
        mode: PhantomData,
    };
    Transformed::new(
        name,
        options,
        |options: &JacobianOptions<Args, Mode, Form>, args| {
            whole::<_, Args, Mode, Form, N>(&*options.f, args, options.holomorphic)
        },
    )
}

/// The derivative at a point, and further results.
#[track_caller]
fn whole<F, Args, Mode, Form, N>(
    f: &F,
    args: Args,
    holomorphic: bool,
) -> Form::Result<Mode::Derivative>
where
    F: Function<Args, Form::Value> + ?Sized,
    Args: ArgList,
    Mode: DerivativeMode<Form::Out, N::Picked>,
    Form: DerivativeForm,
    N: Argnums<Args>,
{
    let args = flatten(&args);
    let picked = select::<Args, N>(&args.treedef);
    let kind = Kind {
        operation: Mode::OPERATION,
        step: Mode::step,
        inner: Mode::inner,
        aux: Form::AUX,
        holomorphic,
    };
    let [derivative, aux] = flat_derivative(&kind, &flat(f), &args, &picked);
    Form::result(derivative.unflatten(), aux.unflatten())
}

/// What a mode and a form say.
struct Kind {
    operation: &'static str,
    step: fn(Vec<usize>) -> Step,
    inner: fn(&TreeDef) -> TreeDef,
    aux: bool,
    holomorphic: bool,
}

#[track_caller]
fn flat_derivative(
    kind: &Kind,
    f: FlatFn<'_>,
    args: &FlatArgs,
    picked: &Selection,
) -> [FlatArgs; 2] {
    picked.check(kind.operation, &args.leaves, kind.holomorphic);
    let traced = trace_flat(
        kind.operation,
        f,
        &args.treedef,
        &avals(&args.leaves),
        known(&args.leaves),
        Captures::Constants,
    );
    let [out, aux] = results_and_aux(&traced.aux, kind.aux);
    let count = out.num_leaves();
    let step = (kind.step)(behind(traced.captured.len(), &picked.leaves));
    let derivative = transformed(&with_results(&traced.jaxpr, 0..count), &step);
    let results = call(&derivative, &traced.captured, &args.leaves);
    let further = if aux.num_leaves() == 0 {
        Vec::new()
    } else {
        let rest = with_results(&traced.jaxpr, count..count + aux.num_leaves());
        call(&rest, &traced.captured, &args.leaves)
    };
    let derivative = FlatArgs {
        leaves: results,
        treedef: out.compose(&(kind.inner)(&picked.treedef)),
    };
    let aux = FlatArgs {
        leaves: further,
        treedef: aux,
    };
    [derivative, aux]
}

/// The jaxpr with some of its results alone.
fn with_results(closed: &ClosedJaxpr, kept: std::ops::Range<usize>) -> ClosedJaxpr {
    if kept == (0..closed.jaxpr.outvars.len()) {
        return closed.clone();
    }
    let mut jaxpr = Jaxpr::clone(&closed.jaxpr);
    jaxpr.outvars = jaxpr.outvars[kept].to_vec();
    ClosedJaxpr::new(jaxpr, closed.consts.clone())
}
