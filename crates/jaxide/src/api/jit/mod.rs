//! Compilation: a function traced once per structure and types of its arguments, and run natively.

mod cache;

use std::sync::{Arc, OnceLock, RwLock};

use jaxide_core::prims::{Jit, Name};
use jaxide_core::{ClosedJaxpr, Tensor};
use jaxide_cpu::CompileOptions;
use jaxide_tree::Pytree;

use super::flat::{FlatArgs, avals, flatten, trace_flat, unflatten};
use crate::array::Array;
use crate::execute::Native;
use crate::function::{ArgList, Function, OfTuple, Transformed};
use crate::trace::{Captures, Known, bind, into_value, raise, tracing};
use cache::{Cache, Program};

/// What `jit` can be told, and the programs it has compiled.
#[derive(Clone, Default)]
pub struct JitOptions {
    name: Option<String>,
    compile: CompileOptions,
    cache: Arc<RwLock<Cache>>,
}

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
pub fn jit<F, Args, Out>(f: F) -> Transformed<Args, Out, JitOptions>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    let name = f.name();
    Transformed::new(name.clone(), JitOptions::default(), move |options, args| {
        let name = options.name.as_deref().unwrap_or(&name);
        compiled(&f, name, options, args)
    })
}

/// Calls a function of a tuple as `jit` does: as one equation inside a trace, compiled outside.
#[track_caller]
pub(super) fn call_named<Args, Out>(
    name: &str,
    options: &JitOptions,
    f: impl Fn(Args) -> Out + Send + Sync + 'static,
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
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array>,
{
    if tracing() {
        stage(f, name, options, args)
    } else {
        run(f, options, args)
    }
}

impl JitOptions {
    /// The same, for a program on this many threads.
    pub(super) fn with_threads(mut self, threads: usize) -> Self {
        self.compile.threads = Some(threads);
        self
    }

    /// The same, with nothing compiled yet.
    pub(super) fn without_programs(&self) -> Self {
        JitOptions {
            cache: Arc::default(),
            ..self.clone()
        }
    }
}

impl<Args: ArgList, Out: 'static> Transformed<Args, Out, JitOptions> {
    /// The name that `jit` equations show.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.configured(|options| options.name = Some(name.to_owned()))
    }

    /// How many threads the program may use; results do not depend on it.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        self.configured(|options| {
            options.compile.threads = Some(threads);
            // What has been compiled for another number stays with the function it was compiled for.
            options.cache = Arc::default();
        })
    }

    /// How many programs are compiled.
    pub fn cache_size(&self) -> usize {
        self.options()
            .cache
            .read()
            .map_or(0, |cache| cache.programs().len())
    }

    /// The jaxprs of the compiled programs, each with the types of its arguments.
    pub fn jaxprs(&self) -> Vec<ClosedJaxpr> {
        self.options().cache.read().map_or_else(
            |_| Vec::new(),
            |cache| {
                cache
                    .programs()
                    .map(|program| program.jaxpr.clone())
                    .collect()
            },
        )
    }

    /// Forgets the compiled programs.
    pub fn clear_cache(&self) {
        if let Ok(mut cache) = self.options().cache.write() {
            cache.clear();
        }
    }
}

/// Runs the program for these arguments. Beside the results, a call whose program exists allocates as often for many
/// leaves as for few.
#[track_caller]
fn run<F, Args, Out>(f: &F, options: &JitOptions, args: Args) -> Out
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array>,
{
    let args = flatten_known(&options.cache, args);
    let (program, _) = program(f, options, &args);
    let native = program
        .native
        .get_or_init(|| Native::new(&program.jaxpr, &options.compile));
    let mut values: Vec<Tensor> = Vec::with_capacity(args.leaves.len());
    for leaf in args.leaves {
        values.push(into_value(leaf).unwrap_or_else(|error| raise(error)));
    }
    let results = native.run(values).unwrap_or_else(|error| raise(error));
    let leaves = results
        .into_iter()
        .zip(native.weak())
        .map(|(tensor, &weak)| Array::concrete(tensor, weak))
        .collect();
    unflatten(&program.treedef, leaves)
}

/// One `jit` equation in the trace around the call.
#[track_caller]
fn stage<F, Args, Out>(f: &F, name: &str, options: &JitOptions, args: Args) -> Out
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array>,
{
    let args = flatten_known(&options.cache, args);
    let (program, captured) = program(f, options, &args);
    let mut operands = captured;
    operands.extend(args.leaves);
    let prim = Jit::new(Name::new(name), program.jaxpr.clone());
    let results = bind(prim, &operands);
    unflatten(&program.treedef, results.into_vec())
}

/// Takes arguments apart, with the treedef of an earlier call if one has their structure.
fn flatten_known<T: Pytree<Array>>(cache: &RwLock<Cache>, args: T) -> FlatArgs {
    let known = cache
        .read()
        .ok()
        .and_then(|cache| cache.structure(&args).cloned());
    let Some(treedef) = known else {
        return flatten(&args);
    };
    let mut leaves = Vec::with_capacity(treedef.num_leaves());
    args.into_leaves(&mut leaves);
    FlatArgs { leaves, treedef }
}

/// The program for these arguments, traced when there is none yet, and the arrays of a surrounding trace that it takes
/// before them. A program that takes such arrays belongs to that trace alone and is not kept.
#[track_caller]
fn program<F, Args, Out>(f: &F, options: &JitOptions, args: &FlatArgs) -> (Arc<Program>, Vec<Array>)
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array>,
{
    let FlatArgs { leaves, treedef } = args;
    let known = options
        .cache
        .read()
        .ok()
        .and_then(|cache| cache.program(treedef, leaves).cloned());
    if let Some(program) = known {
        return (program, Vec::new());
    }
    let avals = avals(leaves);
    let traced = trace_flat("jit", f, treedef, &avals, Known::No, Captures::Constants);
    let program = Arc::new(Program {
        jaxpr: traced.jaxpr,
        treedef: traced.aux,
        native: OnceLock::new(),
    });
    if traced.captured.is_empty()
        && let Ok(mut cache) = options.cache.write()
    {
        return (cache.insert(treedef.clone(), avals, program), Vec::new());
    }
    (program, traced.captured)
}
