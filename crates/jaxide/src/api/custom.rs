//! Functions with derivatives of their own.

use std::cell::Cell;
use std::sync::Arc;

use jaxide_core::prims::{CustomJvpCall, CustomVjpCall, Name, Rule, RuleFn};
use jaxide_core::{Atom, Aval, Builder, ClosedJaxpr, DType, Error, ErrorKind, Jaxpr, Result, Var};
use jaxide_tree::{Pytree, TreeDef};

use super::flat::{FlatArgs, FlatFn, avals, flat, flatten, of_structure, trace_flat};
use crate::array::Array;
use crate::function::{ArgList, Erased, Function, OfTuple, Transformed, short_name};
use crate::trace::{
    AxisEnv, Captures, Known, OrRaise, Traced, axes_in_scope, bind, catch, trace, tracing,
    within_axes,
};

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
#[track_caller]
pub fn custom_jvp<F, R, Args, Out>(f: F, rule: R) -> Transformed<Args, Out>
where
    F: Function<Args, Out> + Send + Sync + 'static,
    R: Fn(Args, Args) -> (Out, Out) + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    let name = rule_name::<R>();
    with_jvp(Arc::new(f), name, Arc::new(flat_jvp(rule)))
}

#[track_caller]
fn with_jvp<Args, Out>(
    f: Erased<Args, Out>,
    rule_name: String,
    rule: Arc<JvpRule>,
) -> Transformed<Args, Out>
where
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    let name = f.name();
    Transformed::new(name.clone(), (), move |(), args: Args| {
        jvp_call(
            [name.as_str(), rule_name.as_str()],
            &flat(&*f),
            &rule,
            flatten(&args),
        )
        .unflatten()
    })
}

/// The name of a rule in the text: `jvp` of one that has none.
fn rule_name<R>() -> String {
    match short_name(std::any::type_name::<R>()) {
        name if name == "<lambda>" => "jvp".to_owned(),
        name => name,
    }
}

/// `f(args)` with the forward derivative `rule`, as a function of the library: the equation shows `names`, of the function and of
/// its rule.
///
/// # Panics
/// As [`custom_jvp`].
#[track_caller]
pub(crate) fn library_jvp<Args, Out>(
    names: [&str; 2],
    args: Args,
    f: impl Fn(Args) -> Out,
    rule: impl Fn(Args, Args) -> (Out, Out) + Send + Sync + 'static,
) -> Out
where
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    let rule: Arc<JvpRule> = Arc::new(flat_jvp(rule));
    jvp_call(names, &flat(&OfTuple(f)), &rule, flatten(&args)).unflatten()
}

/// A forward rule without its types: from primals and tangents to results and theirs.
pub(super) type JvpRule = dyn Fn(FlatArgs, FlatArgs) -> [FlatArgs; 2] + Send + Sync;

pub(super) fn flat_jvp<Args, Out>(
    rule: impl Fn(Args, Args) -> (Out, Out) + Send + Sync + 'static,
) -> impl Fn(FlatArgs, FlatArgs) -> [FlatArgs; 2] + Send + Sync + 'static
where
    Args: ArgList,
    Out: Pytree<Array>,
{
    move |primals, tangents| {
        let (results, tangents) = rule(primals.unflatten(), tangents.unflatten());
        [flatten(&results), flatten(&tangents)]
    }
}

/// As [`custom_jvp`], of a function whose first argument has no derivative: `f(n, args)` and `rule(n, args, tangents)`.
///
/// # Panics
/// As [`custom_jvp`], and where the first argument is differentiated.
///
/// ```
/// use jaxide::{Array, custom_jvp_nondiff, grad};
/// let power = custom_jvp_nondiff(
///     |n: Array, (x,): (Array,)| x.pow(&n),
///     |n: Array, (x,): (Array,), (t,): (Array,)| (x.pow(&n), &n * x.pow(&n - 1.0) * t),
/// );
/// let slope = grad(move |x: Array| power(Array::from([3.0f32]).sum(), (x,)));
/// assert_eq!(slope(Array::from([2.0f32]).sum()).item::<f32>(), 12.0);
/// ```
#[track_caller]
pub fn custom_jvp_nondiff<N, F, R, Args, Out>(f: F, rule: R) -> Transformed<(N, Args), Out>
where
    N: Pytree<Array> + Clone + Send + Sync + 'static,
    F: Fn(N, Args) -> Out + Send + Sync + 'static,
    R: Fn(N, Args, Args) -> (Out, Out) + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    let name = short_name(std::any::type_name::<F>());
    let parts = Arc::new((f, rule));
    Transformed::new(name.clone(), (), move |(), (fixed, args): (N, Args)| {
        let f = {
            let (parts, fixed) = (parts.clone(), fixed.clone());
            OfTuple(move |args: Args| parts.0(fixed.clone(), args))
        };
        let rule = {
            let parts = parts.clone();
            move |args: Args, tangents: Args| parts.1(fixed.clone(), args, tangents)
        };
        let rule: Arc<JvpRule> = Arc::new(flat_jvp(rule));
        jvp_call(
            [name.as_str(), &rule_name::<R>()],
            &flat(&f),
            &rule,
            flatten(&args),
        )
        .unflatten()
    })
}

/// As [`custom_jvp`], of a function of the library over arrays, whose rule has a name of its own in JAX's text.
#[track_caller]
pub(crate) fn arrays_jvp(
    name: &str,
    rule_name: &str,
    args: &[Array],
    f: impl Fn(&[Array]) -> Vec<Array>,
    rule: impl Fn(&[Array], &[Array]) -> [Vec<Array>; 2] + Send + Sync + 'static,
) -> Vec<Array> {
    let f = |args: FlatArgs| flatten(&f(&args.leaves));
    let rule: Arc<JvpRule> = Arc::new(move |primals: FlatArgs, tangents: FlatArgs| {
        rule(&primals.leaves, &tangents.leaves).map(|leaves| flatten(&leaves))
    });
    jvp_call([name, rule_name], &f, &rule, flatten(&args.to_vec())).leaves
}

/// A call whose equation shows `names`, of the function and of its rule.
#[track_caller]
pub(super) fn jvp_call(
    [name, rule_name]: [&str; 2],
    f: FlatFn<'_>,
    rule: &Arc<JvpRule>,
    args: FlatArgs,
) -> FlatArgs {
    if !tracing() {
        return f(args);
    }
    let types = avals(&args.leaves);
    let traced = trace_flat(
        "custom_jvp",
        f,
        &args.treedef,
        &types,
        Known::No,
        Captures::Inputs,
    );
    let site = Arc::new(Site {
        treedef: args.treedef,
        types,
        out: traced.aux.clone(),
        out_types: traced.jaxpr.out_avals(),
        axes: axes_in_scope(),
    });
    let probe = probe(|| record_jvp(rule.as_ref(), &site));
    let (extra, call_jaxpr, make): (Vec<Array>, ClosedJaxpr, Arc<RuleFn>) = match probe {
        Some(recorded) => {
            let types = avals(&recorded.captured);
            let call_jaxpr = with_arguments(traced.jaxpr, traced.captured.len(), &types);
            // The rule takes the tangents of what it captures between those of the arguments and ignores them.
            let at = types.len() + site.types.len();
            let dots: Vec<Aval> = types.iter().map(Aval::tangent).collect();
            let rule = with_arguments(recorded.jaxpr, at, &dots);
            let count = types.len();
            let make = move |perturbed: &[bool]| {
                refuse_perturbed("custom_jvp", &perturbed[..count])?;
                Ok(rule.clone())
            };
            (recorded.captured, call_jaxpr, Arc::new(make))
        }
        None => {
            let (rule, site) = (rule.clone(), site.clone());
            let make = move |_: &[bool]| Ok(catch(|| record_jvp(rule.as_ref(), &site))??.jaxpr);
            (Vec::new(), traced.jaxpr, Arc::new(make))
        }
    };
    let prim = CustomJvpCall {
        name: Name::new(name),
        call_jaxpr,
        jvp: Rule {
            name: Name::new(rule_name),
            make: Some(make),
        },
        num_consts: traced.captured.len(),
        symbolic_zeros: false,
    };
    let operands = [traced.captured, extra, args.leaves].concat();
    FlatArgs {
        leaves: bind(prim, &operands).into_vec(),
        treedef: traced.aux,
    }
}

/// The rule as a jaxpr: what it captures of surrounding traces, arguments and tangents to results and their tangents.
fn record_jvp(rule: &JvpRule, site: &Site) -> Result<Traced<()>> {
    let mut inputs = site.types.clone();
    inputs.extend(site.types.iter().map(Aval::tangent));
    let traced = within_axes(&site.axes, || {
        trace(
            "custom_jvp",
            &inputs,
            Known::No,
            Captures::Constants,
            |leaves| {
                let (primals, tangents) = leaves.split_at(site.types.len());
                let [results, tangents] = rule(
                    of_structure(&site.treedef, primals),
                    of_structure(&site.treedef, tangents),
                );
                let leaves = [results.leaves, tangents.leaves].concat();
                (leaves, [results.treedef, tangents.treedef])
            },
        )
    });
    const OPERATION: &str = "custom_jvp";
    let [results, tangents] = &traced.aux;
    check_structure(OPERATION, "results of the rule", &site.out, results)?;
    check_structure(OPERATION, "tangents of the rule", &site.out, tangents)?;
    let given = traced.jaxpr.out_avals();
    let (results, tangents) = given.split_at(site.out_types.len());
    let wanted: Vec<Aval> = site.out_types.iter().map(Aval::tangent).collect();
    check_types(
        OPERATION,
        "a result of the rule",
        &site.out,
        &site.out_types,
        results,
    )?;
    check_types(
        OPERATION,
        "a tangent of the rule",
        &site.out,
        &wanted,
        tangents,
    )?;
    Ok(Traced {
        jaxpr: traced.jaxpr,
        captured: traced.captured,
        aux: (),
    })
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
#[track_caller]
pub fn custom_vjp<F, Fwd, Bwd, Args, Out, Res>(f: F, fwd: Fwd, bwd: Bwd) -> Transformed<Args, Out>
where
    F: Function<Args, Out> + Send + Sync + 'static,
    Fwd: Function<Args, (Out, Res)> + Send + Sync + 'static,
    Bwd: Fn(Res, Out) -> Args + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    Res: Pytree<Array> + 'static,
{
    with_vjp(Arc::new(f), Arc::new(flat_vjp(fwd, bwd)))
}

#[track_caller]
fn with_vjp<Args, Out>(f: Erased<Args, Out>, rules: Arc<VjpRules>) -> Transformed<Args, Out>
where
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    let name = f.name();
    Transformed::new(name.clone(), (), move |(), args: Args| {
        vjp_call(&name, &flat(&*f), &rules, flatten(&args)).unflatten()
    })
}

/// Rules of reverse mode without their types.
struct VjpRules {
    /// From arguments to results and residuals.
    forward: Box<dyn Fn(FlatArgs) -> [FlatArgs; 2] + Send + Sync>,
    /// From residuals and cotangents of the results to those of the arguments.
    backward: Box<dyn Fn(FlatArgs, FlatArgs) -> FlatArgs + Send + Sync>,
}

fn flat_vjp<Fwd, Bwd, Args, Out, Res>(fwd: Fwd, bwd: Bwd) -> VjpRules
where
    Fwd: Function<Args, (Out, Res)> + Send + Sync + 'static,
    Bwd: Fn(Res, Out) -> Args + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array>,
    Res: Pytree<Array>,
{
    let forward = move |args: FlatArgs| {
        let (results, residuals) = fwd.apply(args.unflatten());
        [flatten(&results), flatten(&residuals)]
    };
    let backward = move |residuals: FlatArgs, cotangents: FlatArgs| {
        flatten(&bwd(residuals.unflatten(), cotangents.unflatten()))
    };
    VjpRules {
        forward: Box::new(forward),
        backward: Box::new(backward),
    }
}

/// As [`custom_vjp`], of a function whose first argument has no derivative: `f(n, args)`, `fwd(n, args)`, and
/// `bwd(n, residuals, cotangents)`.
///
/// # Panics
/// As [`custom_vjp`], and where the first argument is differentiated.
///
/// ```
/// use jaxide::{Array, custom_vjp_nondiff, grad, numpy};
/// // The identity, whose gradient is clipped to a limit.
/// let clipped = custom_vjp_nondiff(
///     |_limit: Array, (x,): (Array,)| x,
///     |_limit: Array, (x,): (Array,)| (x, ()),
///     |limit: Array, (), g: Array| (numpy::clip(&g, -&limit, limit.clone()),),
/// );
/// let slope = grad(move |x: Array| clipped(Array::from([2.0f32]).sum(), (x,)) * 5.0);
/// assert_eq!(slope(Array::from([1.0f32]).sum()).item::<f32>(), 2.0);
/// ```
#[track_caller]
pub fn custom_vjp_nondiff<N, F, Fwd, Bwd, Args, Out, Res>(
    f: F,
    fwd: Fwd,
    bwd: Bwd,
) -> Transformed<(N, Args), Out>
where
    N: Pytree<Array> + Clone + Send + Sync + 'static,
    F: Fn(N, Args) -> Out + Send + Sync + 'static,
    Fwd: Fn(N, Args) -> (Out, Res) + Send + Sync + 'static,
    Bwd: Fn(N, Res, Out) -> Args + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    Res: Pytree<Array> + 'static,
{
    let name = short_name(std::any::type_name::<F>());
    let parts = Arc::new((f, fwd, bwd));
    Transformed::new(name.clone(), (), move |(), (fixed, args): (N, Args)| {
        let bound = || (parts.clone(), fixed.clone());
        let f = {
            let (parts, fixed) = bound();
            OfTuple(move |args: Args| parts.0(fixed.clone(), args))
        };
        let fwd = {
            let (parts, fixed) = bound();
            OfTuple(move |args: Args| parts.1(fixed.clone(), args))
        };
        let bwd = {
            let (parts, fixed) = bound();
            move |residuals: Res, cotangents: Out| parts.2(fixed.clone(), residuals, cotangents)
        };
        let rules = Arc::new(flat_vjp(fwd, bwd));
        vjp_call(&name, &flat(&f), &rules, flatten(&args)).unflatten()
    })
}

#[track_caller]
fn vjp_call(name: &str, f: FlatFn<'_>, rules: &Arc<VjpRules>, args: FlatArgs) -> FlatArgs {
    if !tracing() {
        return f(args);
    }
    let types = avals(&args.leaves);
    let traced = trace_flat(
        "custom_vjp",
        f,
        &args.treedef,
        &types,
        Known::No,
        Captures::Inputs,
    );
    let site = Arc::new(Site {
        treedef: args.treedef,
        types,
        out: traced.aux.clone(),
        out_types: traced.jaxpr.out_avals(),
        axes: axes_in_scope(),
    });
    let probe = probe(|| {
        let forward = record_forward(rules, &site)?;
        let backward = record_backward(rules, &site, &forward)?;
        Ok((forward, backward))
    });
    let (extra, call_jaxpr, forward, backward): (_, _, Arc<RuleFn>, Arc<RuleFn>) = match probe {
        Some((forward, backward)) => {
            let extra = [forward.captured.clone(), backward.captured.clone()].concat();
            let types = avals(&extra);
            let call_jaxpr = with_arguments(traced.jaxpr, traced.captured.len(), &types);
            let count = types.len();
            let (forward, backward) = taking_captures(forward, backward, &site).or_raise();
            let fwd = move |perturbed: &[bool]| {
                refuse_perturbed("custom_vjp", &perturbed[..count])?;
                Ok(forward.clone())
            };
            let bwd = move |_: &[bool]| Ok(backward.clone());
            (extra, call_jaxpr, Arc::new(fwd), Arc::new(bwd))
        }
        None => {
            let (own, place) = (rules.clone(), site.clone());
            let fwd = move |_: &[bool]| {
                let recorded = catch(|| record_forward(&own, &place))??;
                Ok(recorded.jaxpr)
            };
            let (own, place) = (rules.clone(), site);
            let bwd = move |_: &[bool]| {
                let recorded = catch(|| {
                    let forward = record_forward(&own, &place)?;
                    record_backward(&own, &place, &forward)
                })??;
                Ok(recorded.jaxpr)
            };
            (Vec::new(), traced.jaxpr, Arc::new(fwd), Arc::new(bwd))
        }
    };
    let rule = |name: &str, make| Rule {
        name: Name::new(name),
        make: Some(make),
    };
    let prim = CustomVjpCall {
        name: Name::new(name),
        bwd: rule("bwd", backward),
        call_jaxpr,
        fwd: rule("fwd", forward),
        num_consts: traced.captured.len(),
        symbolic_zeros: false,
    };
    let operands = [traced.captured, extra, args.leaves].concat();
    FlatArgs {
        leaves: bind(prim, &operands).into_vec(),
        treedef: traced.aux,
    }
}

/// What the rules of one call know of it.
struct Site {
    treedef: TreeDef,
    types: Vec<Aval>,
    out: TreeDef,
    out_types: Vec<Aval>,
    axes: AxisEnv,
}

/// Arguments to results and residuals; beside the jaxpr, the structure of the residuals.
fn record_forward(rules: &VjpRules, site: &Site) -> Result<Traced<TreeDef>> {
    let traced = within_axes(&site.axes, || {
        trace(
            "custom_vjp",
            &site.types,
            Known::No,
            Captures::Constants,
            |leaves| {
                let [results, residuals] = (rules.forward)(of_structure(&site.treedef, leaves));
                let leaves = [results.leaves, residuals.leaves].concat();
                (leaves, [results.treedef, residuals.treedef])
            },
        )
    });
    let [results, residuals] = traced.aux;
    check_structure(
        "custom_vjp",
        "results of the forward rule",
        &site.out,
        &results,
    )?;
    check_types(
        "custom_vjp",
        "a result of the forward rule",
        &site.out,
        &site.out_types,
        &traced.jaxpr.out_avals(),
    )?;
    Ok(Traced {
        jaxpr: traced.jaxpr,
        captured: traced.captured,
        aux: residuals,
    })
}

/// Residuals and cotangents of the results to cotangents of the arguments.
fn record_backward(rules: &VjpRules, site: &Site, forward: &Traced<TreeDef>) -> Result<Traced<()>> {
    let mut outs = forward.jaxpr.out_avals();
    let residuals = outs.split_off(site.out.num_leaves());
    let count = residuals.len();
    let cotangents = outs.iter().map(Aval::tangent);
    let inputs: Vec<Aval> = residuals.into_iter().chain(cotangents).collect();
    let traced = within_axes(&site.axes, || {
        trace(
            "custom_vjp",
            &inputs,
            Known::No,
            Captures::Constants,
            |leaves| {
                let (residuals, cotangents) = leaves.split_at(count);
                let residuals = of_structure(&forward.aux, residuals);
                let gradients = (rules.backward)(residuals, of_structure(&site.out, cotangents));
                (gradients.leaves, gradients.treedef)
            },
        )
    });
    check_structure(
        "custom_vjp",
        "cotangents of the backward rule",
        &site.treedef,
        &traced.aux,
    )?;
    let wanted: Vec<Aval> = site.types.iter().map(Aval::tangent).collect();
    check_types(
        "custom_vjp",
        "a cotangent of the backward rule",
        &site.treedef,
        &wanted,
        &traced.jaxpr.out_avals(),
    )?;
    Ok(Traced {
        jaxpr: traced.jaxpr,
        captured: traced.captured,
        aux: (),
    })
}

/// The rules as functions that take what they capture in front of the arguments: the backward rule has its own among the
/// residuals, and gives zeros for all.
fn taking_captures(
    forward: Traced<TreeDef>,
    backward: Traced<()>,
    site: &Site,
) -> Result<(ClosedJaxpr, ClosedJaxpr)> {
    let (own, behind) = (avals(&forward.captured), avals(&backward.captured));
    let all = with_arguments(forward.jaxpr, own.len(), &behind);
    let consts = all.consts.clone();
    let mut fwd: Jaxpr = Arc::unwrap_or_clone(all.jaxpr);
    let passed = fwd.invars[own.len()..own.len() + behind.len()].to_vec();
    fwd.outvars.extend(passed.into_iter().map(Atom::Var));
    let fwd = ClosedJaxpr::new(fwd, consts);

    let b = Builder::new();
    let inputs = backward.jaxpr.in_avals();
    let (captured, rest) = inputs.split_at(behind.len());
    let (residuals, cotangents) = rest.split_at(rest.len() - site.out.num_leaves());
    let input =
        |avals: &[Aval]| -> Vec<Atom> { avals.iter().map(|aval| b.input(aval.clone())).collect() };
    let residuals = input(residuals);
    let captured = input(captured);
    let cotangents = input(cotangents);
    let constants: Vec<Atom> = backward
        .jaxpr
        .consts
        .iter()
        .map(|value| b.constant(value.clone()))
        .collect();
    let gradients = b.inline(
        &backward.jaxpr.jaxpr,
        &constants,
        &[captured, residuals, cotangents].concat(),
    )?;
    let zeros = own
        .iter()
        .chain(&behind)
        .map(|aval| b.zeros(&aval.tangent()));
    let results: Vec<Atom> = zeros.chain(gradients).collect();
    Ok((fwd, b.finish(&results)?))
}

thread_local! {
    static PROBING: Cell<bool> = const { Cell::new(false) };
}

/// Records a rule to see what it captures of the traces around a call, which are gone when the rule is needed. `None`
/// when that fails, and inside another rule, which may call the same function again.
fn probe<T>(record: impl FnOnce() -> Result<T>) -> Option<T> {
    if PROBING.replace(true) {
        return None;
    }
    let _ended = Probing;
    catch(record).ok()?.ok()
}

/// Ends a probe when dropped, by a panic too.
struct Probing;

impl Drop for Probing {
    fn drop(&mut self) {
        PROBING.set(false);
    }
}

/// The jaxpr with arguments of these types, which it does not use, inserted at a place.
fn with_arguments(jaxpr: ClosedJaxpr, at: usize, types: &[Aval]) -> ClosedJaxpr {
    let mut inner: Jaxpr = Arc::unwrap_or_clone(jaxpr.jaxpr);
    let new: Vec<Var> = types
        .iter()
        .map(|aval| inner.new_var(aval.clone()))
        .collect();
    inner.invars.splice(at..at, new);
    ClosedJaxpr::new(inner, jaxpr.consts)
}

/// What a rule captures is no argument, so that the function has no derivative by it.
fn refuse_perturbed(operation: &str, perturbed: &[bool]) -> Result<()> {
    if !perturbed.contains(&true) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::NoRule,
        "a rule captures a value that is differentiated",
    )
    .in_operation(operation)
    .note(
        "pass the value as an argument, and return a zero cotangent for it if it has no derivative",
    ))
}

/// A rule must give the structure that the function has.
pub(super) fn check_structure(
    operation: &str,
    what: &str,
    want: &TreeDef,
    got: &TreeDef,
) -> Result<()> {
    if want == got {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Structure,
        format!("{what} have the structure {got}, and {want} is needed"),
    )
    .in_operation(operation))
}

/// A rule must give the types that the function has, or their tangents; of integers, which have no tangents, it may give
/// anything. What `given` has beyond the wanted ones is looked at elsewhere.
pub(super) fn check_types(
    operation: &str,
    what: &str,
    tree: &TreeDef,
    wanted: &[Aval],
    given: &[Aval],
) -> Result<()> {
    for ((want, given), path) in wanted.iter().zip(given).zip(tree.key_paths()) {
        if want.dtype != DType::Float0 && !want.matches(given) {
            let message = format!("{what} is {given}, and {want} is needed");
            let error = Error::shape(message).in_operation(operation);
            return Err(error.at_path(path.to_string()));
        }
    }
    Ok(())
}
