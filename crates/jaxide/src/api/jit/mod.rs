//! Compilation: a function traced once per structure and types of its arguments, and run natively.

mod cache;
mod disabled;
mod export;
mod lowered;
mod miss;
mod options;

use std::sync::Arc;

use jaxide_core::Tensor;
use jaxide_core::prims::{Jit, Name};
use jaxide_tree::{Pytree, TreeDef};
use smallvec::SmallVec;

use super::flat::{FlatArgs, FlatFn, avals, flat, flatten, trace_flat, unflatten};
use crate::array::{Array, Donation, Elements, Repr};
use crate::execute::{Shared, logs_compilation, report};
use crate::function::{ArgList, Arguments, Erased, Function, OfTuple, Transformed};
use crate::trace::{
    Captures, Known, OrRaise, bind, donated, into_value, number_value, tracing, value_of,
    without_scope,
};
use cache::{Cache, Program};
pub use disabled::disable_jit;
pub(crate) use disabled::jit_is_disabled;
pub use export::Export;
pub use lowered::Lowered;
pub use options::JitOptions;

/// Compiles `f` to native code, once for each structure and types of arguments.
///
/// Inside another trace the call becomes one `jit` equation. Static fields of arguments are part of the structure: `f` is
/// traced anew for each of their values. Arrays that `f` captures are constants of the program.
///
/// # Panics
/// The function given panics where `f` does, and when `f` asks for the value of an array.
///
/// ```
/// use jaxide::{Array, jit};
/// let f = jit(|x: Array| (-(&x * &x) / 2.0).exp());
/// let y = f(Array::from([0.0f32, 1.0]));
/// assert_eq!(f.cache_size(), 1);
/// assert_eq!(y.to_vec::<f32>()[0], 1.0);
/// ```
#[track_caller]
pub fn jit<F, Args, Out>(f: F) -> Jitted<Args, Out>
where
    F: Function<Args, Out> + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    jitted(Arc::new(f))
}

#[track_caller]
fn jitted<Args, Out>(f: Erased<Args, Out>) -> Jitted<Args, Out>
where
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    let name = f.name();
    Transformed::new(name.clone(), JitOptions::default(), move |options, args| {
        let name = options.name.as_deref().unwrap_or(&name);
        compiled(&*f, name, options, args)
    })
}

/// The type of [`jit`]ted functions.
///
/// ```
/// use jaxide::{Array, Jitted, jit};
/// struct Layer {
///     forward: Jitted<(Array, Array), Array>,
/// }
/// let layer = Layer { forward: jit(|w: Array, x: Array| w * x) };
/// assert_eq!((layer.forward)(Array::from(2.0f32), Array::from(3.0f32)).item::<f32>(), 6.0);
/// ```
pub type Jitted<Args, Out> = Transformed<Args, Out, JitOptions>;

/// [`jit`] of a borrowed function, called at once: `f` may capture references and need not be `Send`.
///
/// It is traced in every call; the code of equal programs is compiled once.
///
/// # Panics
/// As the function that [`jit`] gives.
///
/// ```
/// use jaxide::{Array, jit_of};
/// let scale = &Array::from([2.0f32, 3.0]);
/// assert_eq!(jit_of(&|x: Array| x * scale, Array::from([1.0f32, 1.0])).to_vec::<f32>(), [2.0, 3.0]);
/// ```
#[track_caller]
pub fn jit_of<F, Args, Out>(f: &F, args: impl Arguments<Args>) -> Out
where
    F: Function<Args, Out> + ?Sized,
    Args: ArgList,
    Out: Pytree<Array>,
{
    compiled(f, &f.name(), &JitOptions::default(), args.into_tuple())
}

/// Calls a function of a tuple as `jit` does: as one equation inside a trace, compiled outside.
#[track_caller]
pub(super) fn call_named<Args, Out>(
    name: &str,
    options: &JitOptions,
    f: impl Fn(Args) -> Out,
    args: Args,
) -> Out
where
    Args: ArgList,
    Out: Pytree<Array>,
{
    compiled(&OfTuple(f), name, options, args)
}

#[track_caller]
fn compiled<F, Args, Out>(f: &F, name: &str, options: &JitOptions, args: Args) -> Out
where
    F: Function<Args, Out> + ?Sized,
    Args: ArgList,
    Out: Pytree<Array>,
{
    if !options.ahead && jit_is_disabled() {
        return f.apply(args);
    }
    if options.ahead || tracing() {
        let args = flatten_known(&options.cache, args);
        return called(&flat(f), name, options, args).unflatten();
    }
    match find(&options.cache, args) {
        Found::Program(program, leaves) => {
            unflatten(&program.treedef, run(name, options, &program, leaves))
        }
        Found::Nothing(args) => called(&flat(f), name, options, args).unflatten(),
    }
}

#[track_caller]
fn called(f: FlatFn<'_>, name: &str, options: &JitOptions, args: FlatArgs) -> FlatArgs {
    if options.ahead {
        prepare(f, name, options, &args)
    } else if tracing() {
        stage(f, name, options, args)
    } else {
        let (program, _) = program(f, name, options, &args);
        let results = run(name, options, &program, args.leaves).collect();
        program.results(results)
    }
}

/// Runs a program for these arguments, and gives its results. Beside them, a call allocates as often for many leaves as for few.
#[track_caller]
fn run<'p>(
    name: &str,
    options: &JitOptions,
    program: &'p Program,
    leaves: Vec<Array>,
) -> impl Iterator<Item = Array> + 'p {
    let native = program.native(options);
    let results = if program.donated.is_empty() {
        // Few are kept on the stack.
        let mut values: SmallVec<[Tensor; 4]> = SmallVec::with_capacity(leaves.len());
        for leaf in leaves {
            match leaf.0 {
                // What there are most of is not moved once more.
                Repr::Concrete {
                    elements: Elements::Scalar(number),
                    ..
                } => values.push(number),
                Repr::Number(literal) => values.push(number_value(literal).or_raise()),
                other => values.push(into_value(Array(other)).or_raise()),
            }
        }
        native.run_on(&values).or_raise()
    } else {
        let values = values_and_donated(name, program, leaves);
        native.run(values).or_raise()
    };
    let weak = native.weak().iter();
    let results = results.into_iter().zip(weak);
    results.map(|(tensor, &weak)| Array::concrete(tensor, weak))
}

/// The values of arguments of which some are donated. Those that stay are read first, so that an array may be both.
#[track_caller]
fn values_and_donated(name: &str, program: &Program, args: Vec<Array>) -> Vec<Tensor> {
    let donates = |k: usize| program.donated.binary_search(&k).is_ok();
    let leaves = args.iter().enumerate();
    let kept: Vec<Option<Tensor>> = leaves
        .map(|(k, leaf)| (!donates(k)).then(|| value_of(leaf).or_raise()))
        .collect();
    let paths = program.arguments.key_paths();
    let leaves = args.into_iter().zip(kept).zip(paths);
    leaves
        .map(|((leaf, value), path)| {
            let donation = || Donation {
                function: name.to_owned(),
                argument: format!("argument {path}"),
            };
            match value {
                Some(value) => value,
                None => donated(leaf, donation()).or_raise(),
            }
        })
        .collect()
}

/// Compiles the program, and gives results that are types alone.
#[track_caller]
fn prepare(f: FlatFn<'_>, name: &str, options: &JitOptions, args: &FlatArgs) -> FlatArgs {
    let (program, _) = program(f, name, options, args);
    let results = program.jaxpr.out_avals().into_iter().map(Array::of_type);
    program.results(results.collect())
}

/// One `jit` equation in the trace around the call.
#[track_caller]
fn stage(f: FlatFn<'_>, name: &str, options: &JitOptions, args: FlatArgs) -> FlatArgs {
    let (program, captured) = program(f, name, options, &args);
    let mut prim = Jit::new(Name::new(name), program.jaxpr.clone());
    if !program.donated.is_empty() {
        let behind = program.donated.iter().map(|&k| k + captured.len());
        prim.donated_invars = vec![false; captured.len() + args.leaves.len()];
        behind.for_each(|k| prim.donated_invars[k] = true);
    }
    let mut operands = captured;
    operands.extend(args.leaves);
    let results = bind(prim, &operands);
    program.results(results.into_vec())
}

/// Arguments, taken apart, and the program for them.
enum Found {
    /// There is one.
    Program(Arc<Program>, Vec<Array>),
    /// There is none yet.
    Nothing(FlatArgs),
}

/// Looks for the program in a way that costs little when it is there: the cache is asked once.
fn find<T: Pytree<Array>>(cache: &Shared<Cache>, args: T) -> Found {
    let Some(cache) = cache.read() else {
        return Found::Nothing(flatten(&args));
    };
    let Some(treedef) = cache.structure(&args) else {
        drop(cache);
        return Found::Nothing(flatten(&args));
    };
    let leaves = taken_apart(treedef, args);
    match cache.program(treedef, &leaves) {
        Some(program) => Found::Program(program.clone(), leaves),
        None => Found::Nothing(FlatArgs {
            leaves,
            treedef: treedef.clone(),
        }),
    }
}

/// Takes arguments apart, with the treedef of an earlier call if one has their structure.
fn flatten_known<T: Pytree<Array>>(cache: &Shared<Cache>, args: T) -> FlatArgs {
    let known = cache
        .read()
        .and_then(|cache| cache.structure(&args).cloned());
    let Some(treedef) = known else {
        return flatten(&args);
    };
    let leaves = taken_apart(&treedef, args);
    FlatArgs { leaves, treedef }
}

/// The leaves of arguments of a structure.
fn taken_apart<T: Pytree<Array>>(treedef: &TreeDef, args: T) -> Vec<Array> {
    let mut leaves = Vec::with_capacity(treedef.num_leaves());
    args.into_leaves(&mut leaves);
    leaves
}

/// The program for these arguments, traced when there is none yet, and the arrays of a surrounding trace that it takes
/// before them. A program that takes such arrays belongs to that trace alone and is not kept.
#[track_caller]
fn program(
    f: FlatFn<'_>,
    name: &str,
    options: &JitOptions,
    args: &FlatArgs,
) -> (Arc<Program>, Vec<Array>) {
    let FlatArgs { leaves, treedef } = args;
    let known = options
        .cache
        .read()
        .and_then(|cache| cache.program(treedef, leaves).cloned());
    if let Some(program) = known {
        return (program, Vec::new());
    }
    if logs_compilation()
        && let Some(cache) = options.cache.read()
    {
        let reason = miss::reason(&cache, treedef, leaves);
        report(&format!("tracing `{name}`: {reason}"));
    }
    let donated = options.donated_leaves(treedef).or_raise();
    let avals = avals(leaves);
    let record = || trace_flat("jit", f, treedef, &avals, Known::No, Captures::Constants);
    let traced = without_scope(record);
    let program = Arc::new(Program::new(traced.jaxpr, treedef, traced.aux, donated));
    if traced.captured.is_empty()
        && let Some(mut cache) = options.cache.write()
    {
        return (cache.insert(treedef.clone(), avals, program), Vec::new());
    }
    (program, traced.captured)
}
