//! Functions with derivatives of their own.

use std::sync::Arc;

use jaxide_core::prims::{CustomJvpCall, CustomVjpCall, Name, Rule};
use jaxide_core::{Aval, ClosedJaxpr, Error, ErrorKind, Result};
use jaxide_tree::{Pytree, TreeDef};

use super::flat::{avals, flatten, trace_flat, unflatten};
use crate::array::Array;
use crate::function::{ArgList, Function, Transformed};
use crate::trace::{Captures, Known, Traced, bind, catch, trace, tracing};

/// `f` with the forward derivative `rule`, which takes the arguments and their tangents and gives the results and theirs.
///
/// Reverse-mode derivatives follow from the rule by transposition; `rule` must be linear in the tangents. Tangents of
/// integer arguments have the element type `float0` and are to be ignored.
///
/// # Panics
/// The function given panics where `f` does; its derivatives where `rule` gives another structure than `f`, or where a value
/// that is differentiated is captured instead of passed.
///
/// ```
/// use jaxide::{Array, custom_jvp, grad};
/// // log(1 + e^x), whose derivative would overflow if it were taken term by term.
/// let softplus = custom_jvp(
///     |x: Array| x.exp().log1p(),
///     |(x,): (Array,), (t,): (Array,)| (x.exp().log1p(), t * x.sigmoid()),
/// );
/// let slope = grad(softplus)(Array::from([100.0f32]).sum());
/// assert_eq!(slope.item::<f32>(), 1.0);
/// ```
pub fn custom_jvp<F, R, Args, Out>(f: F, rule: R) -> Transformed<Args, Out>
where
    F: Function<Args, Out>,
    R: Fn(Args, Args) -> (Out, Out) + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    let name = f.name();
    let rule = Arc::new(rule);
    Transformed::new(name.clone(), (), move |(), args: Args| {
        if !tracing() {
            return f.apply(args);
        }
        let args = flatten(&args);
        let types = avals(&args.leaves);
        let traced = trace_flat(
            "custom_jvp",
            &f,
            &args.treedef,
            &types,
            Known::No,
            Captures::Inputs,
        );
        let make = jvp_rule(
            rule.clone(),
            args.treedef.clone(),
            types,
            traced.aux.clone(),
        );
        let prim = CustomJvpCall {
            name: Name::new(&name),
            call_jaxpr: traced.jaxpr,
            jvp: Rule {
                name: Name::new("jvp"),
                make: Some(Arc::new(make)),
            },
            num_consts: traced.captured.len(),
            symbolic_zeros: false,
        };
        let mut operands = traced.captured;
        operands.extend(args.leaves);
        unflatten(&traced.aux, bind(prim, &operands).into_vec())
    })
}

/// Arguments and tangents to results and their tangents.
fn jvp_rule<R, Args, Out>(
    rule: Arc<R>,
    treedef: TreeDef,
    types: Vec<Aval>,
    out: TreeDef,
) -> impl Fn(&[bool]) -> Result<ClosedJaxpr> + Send + Sync
where
    R: Fn(Args, Args) -> (Out, Out) + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    move |_: &[bool]| {
        let mut inputs = types.clone();
        inputs.extend(types.iter().map(Aval::tangent));
        let traced = catch(|| {
            trace(
                "custom_jvp",
                &inputs,
                Known::No,
                Captures::Constants,
                |leaves| {
                    let (primals, tangents) = leaves.split_at(types.len());
                    let (results, tangents) = rule(
                        unflatten(&treedef, primals.to_vec()),
                        unflatten(&treedef, tangents.to_vec()),
                    );
                    let (results, tangents) = (flatten(&results), flatten(&tangents));
                    let mut leaves = results.leaves;
                    leaves.extend(tangents.leaves);
                    (leaves, [results.treedef, tangents.treedef])
                },
            )
        })?;
        check_captures("custom_jvp", &traced)?;
        for given in &traced.aux {
            check_structure("custom_jvp", "results", &out, given)?;
        }
        Ok(traced.jaxpr)
    }
}

/// `f` with its own reverse derivative: `fwd` gives the results and residuals, `bwd` takes residuals and cotangents of the
/// results and gives cotangents of the arguments.
///
/// # Panics
/// The function given panics where `f` does; its derivatives where a rule gives another structure than is needed, in
/// forward mode, or where a value that is differentiated is captured instead of passed.
///
/// ```
/// use jaxide::{Array, custom_vjp, grad};
/// // The identity, whose gradient is clipped.
/// let clipped = custom_vjp(
///     |x: Array| x,
///     |x: Array| (x, ()),
///     |(), g: Array| (jaxide::numpy::clip(&g, -1.0, 1.0),),
/// );
/// let slope = grad(move |x: Array| clipped(x) * 5.0)(Array::from([2.0f32]).sum());
/// assert_eq!(slope.item::<f32>(), 1.0);
/// ```
pub fn custom_vjp<F, Fwd, Bwd, Args, Out, Res>(f: F, fwd: Fwd, bwd: Bwd) -> Transformed<Args, Out>
where
    F: Function<Args, Out>,
    Fwd: Function<Args, (Out, Res)>,
    Bwd: Fn(Res, Out) -> Args + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    Res: Pytree<Array> + 'static,
{
    let name = f.name();
    let rules = Arc::new((fwd, bwd));
    Transformed::new(name.clone(), (), move |(), args: Args| {
        if !tracing() {
            return f.apply(args);
        }
        let args = flatten(&args);
        let types = avals(&args.leaves);
        let traced = trace_flat(
            "custom_vjp",
            &f,
            &args.treedef,
            &types,
            Known::No,
            Captures::Inputs,
        );
        let site = Arc::new(Site {
            treedef: args.treedef,
            types,
            out: traced.aux.clone(),
        });
        let forward = {
            let (rules, site) = (rules.clone(), site.clone());
            move |_: &[bool]| {
                forward_rule::<Fwd, Args, Out, Res>(&rules.0, &site).map(|traced| traced.jaxpr)
            }
        };
        let backward = {
            let rules = rules.clone();
            move |_: &[bool]| {
                let forward = forward_rule::<Fwd, Args, Out, Res>(&rules.0, &site)?;
                backward_rule(&rules.1, &site, &forward)
            }
        };
        let prim = CustomVjpCall {
            name: Name::new(&name),
            bwd: Rule {
                name: Name::new("bwd"),
                make: Some(Arc::new(backward)),
            },
            call_jaxpr: traced.jaxpr,
            fwd: Rule {
                name: Name::new("fwd"),
                make: Some(Arc::new(forward)),
            },
            num_consts: traced.captured.len(),
            symbolic_zeros: false,
        };
        let mut operands = traced.captured;
        operands.extend(args.leaves);
        unflatten(&traced.aux, bind(prim, &operands).into_vec())
    })
}

/// What the rules of one call know of it.
struct Site {
    treedef: TreeDef,
    types: Vec<Aval>,
    out: TreeDef,
}

/// Arguments to results and residuals; beside the jaxpr, the structure of the residuals.
fn forward_rule<Fwd, Args, Out, Res>(fwd: &Fwd, site: &Site) -> Result<Traced<TreeDef>>
where
    Fwd: Function<Args, (Out, Res)>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    Res: Pytree<Array> + 'static,
{
    let traced = catch(|| {
        trace(
            "custom_vjp",
            &site.types,
            Known::No,
            Captures::Constants,
            |leaves| {
                let (results, residuals) = fwd.apply(unflatten(&site.treedef, leaves.to_vec()));
                let (results, residuals) = (flatten(&results), flatten(&residuals));
                let mut leaves = results.leaves;
                leaves.extend(residuals.leaves);
                (leaves, [results.treedef, residuals.treedef])
            },
        )
    })?;
    check_captures("custom_vjp", &traced)?;
    let Traced {
        jaxpr,
        captured,
        aux: [results, residuals],
    } = traced;
    check_structure(
        "custom_vjp",
        "results of the forward rule",
        &site.out,
        &results,
    )?;
    Ok(Traced {
        jaxpr,
        captured,
        aux: residuals,
    })
}

/// Residuals and cotangents of the results to cotangents of the arguments.
fn backward_rule<Bwd, Args, Out, Res>(
    bwd: &Bwd,
    site: &Site,
    forward: &Traced<TreeDef>,
) -> Result<ClosedJaxpr>
where
    Bwd: Fn(Res, Out) -> Args,
    Args: ArgList,
    Out: Pytree<Array>,
    Res: Pytree<Array>,
{
    let mut outs = forward.jaxpr.out_avals();
    let residuals = outs.split_off(site.out.num_leaves());
    let count = residuals.len();
    let inputs: Vec<Aval> = residuals
        .into_iter()
        .chain(outs.iter().map(Aval::tangent))
        .collect();
    let traced = catch(|| {
        trace(
            "custom_vjp",
            &inputs,
            Known::No,
            Captures::Constants,
            |leaves| {
                let (residuals, cotangents) = leaves.split_at(count);
                let residuals = unflatten(&forward.aux, residuals.to_vec());
                let gradients = flatten(&bwd(residuals, unflatten(&site.out, cotangents.to_vec())));
                (gradients.leaves, gradients.treedef)
            },
        )
    })?;
    check_captures("custom_vjp", &traced)?;
    check_structure(
        "custom_vjp",
        "cotangents of the backward rule",
        &site.treedef,
        &traced.aux,
    )?;
    Ok(traced.jaxpr)
}

/// A rule belongs to no trace: it may use concrete arrays, but no values of a trace around it.
fn check_captures<T>(operation: &str, traced: &Traced<T>) -> Result<()> {
    match traced.captured.first() {
        None => Ok(()),
        Some(array) => Err(Error::new(
            ErrorKind::LeakedTracer,
            format!("a rule captures a traced array {}", array.aval()),
        )
        .in_operation(operation)
        .note("pass it as an argument, and return a zero cotangent for it if it is not differentiated")),
    }
}

/// A rule must give the structure that the function has.
fn check_structure(operation: &str, what: &str, want: &TreeDef, got: &TreeDef) -> Result<()> {
    if want == got {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Structure,
        format!("{what} have the structure {got}, and {want} is needed"),
    )
    .in_operation(operation))
}
