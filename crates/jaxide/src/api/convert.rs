//! Linear functions transposed, and closures with what they capture as arguments.

use std::sync::Arc;

use jaxide_core::prims::{LinearCall, Name, Rule};
use jaxide_core::transform::transpose;
use jaxide_core::{Aval, Builder, ClosedJaxpr, Error, ErrorKind};
use jaxide_tree::{Pytree, TreeDef};

use super::flat::{avals, call, flat, flatten, trace_flat, unflatten};
use super::linear::{LinearMap, Positions, Pullback};
use crate::array::Array;
use crate::function::{ArgList, Arguments, Function};
use crate::trace::{Captures, Known, OrRaise, bind, raise, trace};

/// The transpose of a linear function: from cotangents of its results to cotangents of its arguments.
///
/// The elements of `primals` do not matter, only their types: [specifications](Array::spec) will do.
///
/// # Panics
/// When `f` is not linear, where its jaxpr shows it, or an argument or a result is neither float nor complex.
///
/// ```
/// use jaxide::{Array, DType, linear_transpose};
/// let difference = |x: Array, y: Array| (x - y) * 2.0;
/// let spec = Array::spec(DType::F32, &[2]);
/// let transposed = linear_transpose(difference, (spec.clone(), spec));
/// let (x, y) = transposed.apply(&Array::from([1.0f32, 3.0]));
/// assert_eq!((x.to_vec::<f32>(), y.to_vec::<f32>()), (vec![2.0, 6.0], vec![-2.0, -6.0]));
/// ```
#[track_caller]
pub fn linear_transpose<F, Args, Out>(f: F, primals: impl Arguments<Args>) -> Pullback<Args, Out>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array>,
{
    const OPERATION: &str = "linear_transpose";
    let primals = flatten(&primals.into_tuple());
    let types = avals(&primals.leaves);
    let traced = trace_flat(
        OPERATION,
        &flat(&f),
        &primals.treedef,
        &types,
        Known::Transposed,
        Captures::Inputs,
    );
    let outs = traced.jaxpr.out_avals();
    for aval in types.iter().chain(&outs) {
        if !aval.dtype.is_inexact() {
            raise(
                Error::dtype(format!(
                    "linear functions are of floats or complex numbers, and there is {aval}"
                ))
                .in_operation(OPERATION),
            );
        }
    }
    let captured = traced.captured.len();
    let linear: Vec<bool> = (0..captured + types.len())
        .map(|index| index >= captured)
        .collect();
    let transposed = transpose(
        &Builder::new(),
        &traced.jaxpr,
        &linear,
        &vec![true; outs.len()],
        &linear,
    )
    .map_err(|error| error.in_operation(OPERATION))
    .or_raise();
    let arguments = Positions::all(primals.treedef, types);
    let results = Positions::all(traced.aux, outs);
    Pullback::new(LinearMap {
        jaxpr: transposed.jaxpr,
        residuals: traced.captured,
        inputs: results,
        outputs: arguments,
    })
}

/// `f(residuals, linear)`, which is linear in its second argument, with a transpose of its own: `f_transpose(residuals, cotangents)`
/// gives the cotangents of `linear`.
///
/// # Panics
/// When `f_transpose` gives another structure or other types than `linear` has, or captures a traced array.
///
/// ```
/// use jaxide::{Array, grad, linear_call};
/// let times = |s: Array, x: Array| linear_call(|s: Array, x: Array| x * s, |s, ct| ct * s, s, x);
/// let slope = grad(move |x: Array| times(Array::from([3.0f32]).sum(), x).sum());
/// assert_eq!(slope(Array::from([1.0f32, 2.0])).to_vec::<f32>(), [3.0, 3.0]);
/// ```
#[track_caller]
pub fn linear_call<Res, In, Out>(
    f: impl Fn(Res, In) -> Out,
    f_transpose: impl Fn(Res, Out) -> In,
    residuals: Res,
    linear: In,
) -> Out
where
    Res: Pytree<Array>,
    In: Pytree<Array>,
    Out: Pytree<Array>,
{
    const OPERATION: &str = "linear_call";
    let (residuals, linear) = (flatten(&residuals), flatten(&linear));
    let count = residuals.leaves.len();
    let (known, types) = (avals(&residuals.leaves), avals(&linear.leaves));
    let inputs = [known.clone(), types.clone()].concat();
    let traced = trace(OPERATION, &inputs, Known::No, Captures::Inputs, |leaves| {
        let (own, rest) = leaves.split_at(count);
        let own = unflatten(&residuals.treedef, own.to_vec());
        let results = flatten(&f(own, unflatten(&linear.treedef, rest.to_vec())));
        (results.leaves, results.treedef)
    });
    let cotangents = traced.jaxpr.out_avals().iter().map(Aval::tangent).collect();
    let inputs = [known, cotangents].concat();
    let transposed = trace(
        OPERATION,
        &inputs,
        Known::No,
        Captures::Constants,
        |leaves| {
            let (own, rest) = leaves.split_at(count);
            let own = unflatten(&residuals.treedef, own.to_vec());
            let results = flatten(&f_transpose(own, unflatten(&traced.aux, rest.to_vec())));
            (results.leaves, results.treedef)
        },
    );
    let given = transposed.jaxpr.out_avals();
    let fits = transposed.aux == linear.treedef
        && given
            .iter()
            .zip(&types)
            .all(|(given, aval)| given.matches(&aval.tangent()));
    if !fits {
        let types: Vec<String> = given.iter().map(ToString::to_string).collect();
        raise(
            Error::new(
                ErrorKind::Structure,
                format!(
                    "the transpose gives {} of types ({}), unlike the linear argument",
                    transposed.aux,
                    types.join(", ")
                ),
            )
            .in_operation(OPERATION),
        );
    }
    if let Some(array) = transposed.captured.first() {
        raise(
            Error::new(
                ErrorKind::LeakedTracer,
                format!("the transpose captures a traced array {}", array.aval()),
            )
            .in_operation(OPERATION)
            .note("pass it among the residuals"),
        );
    }
    let rule = transposed.jaxpr;
    let prim = LinearCall {
        callee: traced.jaxpr,
        num_callee_consts: traced.captured.len(),
        num_res: count,
        transpose_thunk: Rule {
            name: Name::new("transpose"),
            make: Some(Arc::new(move |_: &[bool]| Ok(rule.clone()))),
        },
    };
    let operands = [traced.captured, residuals.leaves, linear.leaves].concat();
    unflatten(&traced.aux, bind(prim, &operands).into_vec())
}

/// A closure whose captured arrays have become an argument: see [`closure_convert`].
pub struct Converted<Args, Out> {
    jaxpr: ClosedJaxpr,
    /// Which of the captured arrays are arguments; the others keep their values.
    fixed: Vec<Option<Array>>,
    args: TreeDef,
    out: TreeDef,
    marker: std::marker::PhantomData<fn(Args) -> Out>,
}

impl<Args: Pytree<Array>, Out: Pytree<Array>> Converted<Args, Out> {
    /// Calls the function with `captured` in place of the arrays that the closure captured.
    ///
    /// # Panics
    /// When the arguments do not have the structure and types that the closure was converted for.
    #[track_caller]
    pub fn call(&self, args: &Args, captured: &[Array]) -> Out {
        let args = flatten(args);
        if args.treedef != self.args {
            raise(
                Error::new(
                    ErrorKind::Structure,
                    format!("{} is expected, and {} is given", self.args, args.treedef),
                )
                .in_operation("closure_convert"),
            );
        }
        let free = self.fixed.iter().filter(|fixed| fixed.is_none()).count();
        if captured.len() != free {
            raise(
                Error::new(
                    ErrorKind::Arity,
                    format!(
                        "{free} captured arrays are expected, and {} are given",
                        captured.len()
                    ),
                )
                .in_operation("closure_convert"),
            );
        }
        let mut given = captured.iter().cloned();
        let captured: Vec<Array> = self
            .fixed
            .iter()
            .filter_map(|fixed| fixed.clone().or_else(|| given.next()))
            .collect();
        unflatten(&self.out, call(&self.jaxpr, &captured, &args.leaves))
    }
}

/// A closure as a function of its arguments and of the traced floats that it captures, and those arrays: so that a rule of
/// [`custom_vjp`](super::custom_vjp()) can pass them as arguments and have derivatives by them.
///
/// # Panics
/// Where `f` does.
///
/// ```
/// use jaxide::{Array, closure_convert, grad};
/// let f = |scale: Array| {
///     let x = Array::from([1.0f32, 2.0]);
///     let (times, captured) = closure_convert(move |x: Array| x * &scale, &(x.clone(),));
///     assert_eq!(captured.len(), 1);
///     times.call(&(x,), &captured).sum()
/// };
/// assert_eq!(grad(f)(Array::from([2.0f32]).sum()).item::<f32>(), 3.0);
/// ```
#[track_caller]
pub fn closure_convert<F, Args, Out>(f: F, args: &Args) -> (Arc<Converted<Args, Out>>, Vec<Array>)
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array>,
{
    let args = flatten(args);
    let traced = trace_flat(
        "closure_convert",
        &flat(&f),
        &args.treedef,
        &avals(&args.leaves),
        Known::No,
        Captures::Inputs,
    );
    let moves = |array: &&Array| array.is_tracer() && array.dtype().is_inexact();
    let captured: Vec<Array> = traced.captured.iter().filter(moves).cloned().collect();
    let fixed = traced
        .captured
        .iter()
        .map(|array| (!moves(&array)).then(|| array.clone()))
        .collect();
    let converted = Converted {
        jaxpr: traced.jaxpr,
        fixed,
        args: args.treedef,
        out: traced.aux,
        marker: std::marker::PhantomData,
    };
    (Arc::new(converted), captured)
}
