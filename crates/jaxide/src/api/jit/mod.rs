//! Compilation: a function traced once per structure and types of its arguments, and run natively.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use jaxide_core::prims::{Jit, Name};
use jaxide_core::{Aval, ClosedJaxpr, Tensor};
use jaxide_cpu::{CompileOptions, Executable, compile};
use jaxide_tree::{Pytree, TreeDef};

use super::flat::{avals, flatten, trace_flat, unflatten};
use crate::array::Array;
use crate::function::{ArgList, Function, Transformed};
use crate::trace::{Captures, Known, bind, raise, tracing, value_of};

/// What `jit` can be told, and the programs it has compiled.
#[derive(Clone, Default)]
pub struct JitOptions {
    name: Option<String>,
    compile: CompileOptions,
    cache: Arc<RwLock<Cache>>,
}

type Cache = HashMap<Key, Arc<Program>>;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    treedef: TreeDef,
    avals: Vec<Aval>,
}

/// A function traced for one structure and one list of types.
struct Program {
    jaxpr: ClosedJaxpr,
    treedef: TreeDef,
    executable: std::sync::OnceLock<Result<Executable, jaxide_core::Error>>,
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
        if tracing() {
            stage(&f, name, options, args)
        } else {
            run(&f, options, args)
        }
    })
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
        self.configured(|options| options.compile.threads = Some(threads))
    }

    /// How many programs are compiled.
    pub fn cache_size(&self) -> usize {
        self.options().cache.read().map_or(0, |cache| cache.len())
    }

    /// The jaxprs of the compiled programs, each with the types of its arguments.
    pub fn jaxprs(&self) -> Vec<ClosedJaxpr> {
        self.options().cache.read().map_or_else(
            |_| Vec::new(),
            |cache| {
                cache
                    .values()
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

/// The program for these arguments, traced and kept when there is none yet. `None` when it captures values of a
/// surrounding trace, and so belongs to that trace alone.
#[track_caller]
fn run<F, Args, Out>(f: &F, options: &JitOptions, args: Args) -> Out
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array>,
{
    let args = flatten(&args);
    let key = Key {
        treedef: args.treedef,
        avals: avals(&args.leaves),
    };
    let known = options
        .cache
        .read()
        .ok()
        .and_then(|cache| cache.get(&key).cloned());
    let program = known.unwrap_or_else(|| {
        let traced = trace_flat(
            "jit",
            f,
            &key.treedef,
            &key.avals,
            Known::No,
            Captures::Constants,
        );
        let program = Arc::new(Program {
            jaxpr: traced.jaxpr,
            treedef: traced.aux,
            executable: std::sync::OnceLock::new(),
        });
        if let Ok(mut cache) = options.cache.write() {
            return cache.entry(key).or_insert(program).clone();
        }
        program
    });
    let executable = program
        .executable
        .get_or_init(|| compile(&program.jaxpr, &options.compile));
    let executable = executable
        .as_ref()
        .unwrap_or_else(|error| raise(error.clone()));
    let values: Result<Vec<Tensor>, _> = args.leaves.iter().map(value_of).collect();
    let results = values
        .and_then(|values| executable.run(&values))
        .unwrap_or_else(|error| raise(error));
    let weak = program
        .jaxpr
        .jaxpr
        .outvars
        .iter()
        .map(|&atom| program.jaxpr.jaxpr.aval(atom).weak_type);
    let leaves = results
        .into_iter()
        .zip(weak)
        .map(|(tensor, weak)| Array::concrete(tensor, weak))
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
    let args = flatten(&args);
    let key = Key {
        treedef: args.treedef,
        avals: avals(&args.leaves),
    };
    let known = options
        .cache
        .read()
        .ok()
        .and_then(|cache| cache.get(&key).cloned());
    let (program, captured) = known
        .map(|program| (program, Vec::new()))
        .unwrap_or_else(|| {
            let traced = trace_flat(
                "jit",
                f,
                &key.treedef,
                &key.avals,
                Known::No,
                Captures::Constants,
            );
            let program = Arc::new(Program {
                jaxpr: traced.jaxpr,
                treedef: traced.aux,
                executable: std::sync::OnceLock::new(),
            });
            if traced.captured.is_empty()
                && let Ok(mut cache) = options.cache.write()
            {
                return (cache.entry(key).or_insert(program).clone(), Vec::new());
            }
            (program, traced.captured)
        });
    let mut operands = captured;
    operands.extend(args.leaves);
    let prim = Jit {
        name: Name::new(name),
        donated_invars: Vec::new(),
        jaxpr: program.jaxpr.clone(),
        keep_unused: false,
        inline: false,
    };
    let results = bind(prim, &operands);
    unflatten(&program.treedef, results.into_vec())
}
