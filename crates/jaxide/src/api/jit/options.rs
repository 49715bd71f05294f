//! What `jit` can be told.

use std::sync::Arc;

use jaxide_core::{ClosedJaxpr, Error, Result};
use jaxide_cpu::CompileOptions;
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_tree::TreeDef;

use super::cache::Cache;
use crate::execute::Shared;
use crate::function::{ArgList, Transformed};

/// What `jit` can be told, and the programs it has compiled.
#[derive(Clone, Default)]
pub struct JitOptions {
    pub(super) name: Option<String>,
    pub(super) compile: CompileOptions,
    /// Numbers of arguments whose memory the program may overwrite.
    donate: Vec<usize>,
    /// Whether a call compiles the program instead of running it.
    pub(super) ahead: bool,
    pub(super) cache: Arc<Shared<Cache>>,
}

impl JitOptions {
    /// The same, for a program on this many threads.
    pub(in crate::api) fn with_threads(mut self, threads: usize) -> Self {
        self.compile.threads = Some(threads);
        self
    }

    /// The same, with nothing compiled yet.
    pub(in crate::api) fn without_programs(&self) -> Self {
        JitOptions {
            cache: Arc::default(),
            ..self.clone()
        }
    }

    /// Which leaves of arguments of this structure are donated.
    ///
    /// # Errors
    /// When there is no argument of a number that was given to `donate`.
    pub(super) fn donated_leaves(&self, args: &TreeDef) -> Result<Vec<usize>> {
        if self.donate.is_empty() {
            return Ok(Vec::new());
        }
        let mut ranges = Vec::new();
        let mut end = 0;
        for child in args.children() {
            ranges.push(end..end + child.num_leaves());
            end += child.num_leaves();
        }
        let mut leaves = Vec::new();
        for &number in &self.donate {
            let range = ranges.get(number).cloned().ok_or_else(|| {
                Error::parameter(format!(
                    "argument {number} is to be donated, and the function takes {}",
                    ranges.len()
                ))
                .in_operation("jit")
            })?;
            leaves.extend(range);
        }
        leaves.sort_unstable();
        leaves.dedup();
        Ok(leaves)
    }
}

impl<Args: ArgList, Out: 'static> Transformed<Args, Out, JitOptions> {
    /// The name that `jit` equations show.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        self.with(|own, options| {
            name.clone_into(own);
            options.name = Some(name.to_owned());
        })
    }

    /// How many threads the program may use; results do not depend on it.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        self.recompiled(|options| options.compile.threads = Some(threads))
    }

    /// The instruction set that the program is compiled for: the widest of this machine unless set here. Code for one that
    /// the machine does not have can be looked at by [`lower`](Self::lower), and calls are errors.
    ///
    /// ```
    /// use jaxide::{Array, Isa, jit};
    /// let f = jit(|x: Array| x.sin() + 1.0).isa(Isa::Portable);
    /// assert_eq!(f(Array::from([0.0f32; 100])).to_vec::<f32>(), [1.0; 100]);
    /// ```
    #[must_use]
    pub fn isa(self, isa: Isa) -> Self {
        self.recompiled(|options| options.compile.isa = Some(isa))
    }

    /// Arithmetic of the program takes subnormal numbers for zero, as that of `jax.jit` does on CPU, where the processor can (x86-64, AArch64). Many
    /// take hundreds of cycles for an instruction that reads or makes one: what decays, as the state of a filter or the tail of a wave, is slow otherwise.
    /// Operations that only move numbers keep them.
    ///
    /// ```
    /// use jaxide::{Array, jit};
    /// let half = jit(|x: Array| x * 0.5).flush_subnormals();
    /// let smallest = half(Array::from(f32::MIN_POSITIVE)).item::<f32>();
    /// # if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
    /// assert_eq!(smallest, 0.0);
    /// # }
    /// ```
    #[must_use]
    pub fn flush_subnormals(self) -> Self {
        self.recompiled(|options| options.compile.flush_subnormals = true)
    }

    /// Gives the program the memory of these arguments, by number: all arrays in them. Results are made there where their
    /// sizes allow it, so that a step of an optimiser, say, needs no second copy of its parameters.
    ///
    /// Donated arrays are gone after the call, in all their clones: using one is an error that says where it went (clones of rank-0 arrays
    /// keep their number). Memory that
    /// something else shares, such as another view of the elements, is copied. Inside another trace nothing is taken away,
    /// and the `jit` equation says `donated_invars`.
    ///
    /// ```
    /// use jaxide::{Array, jit};
    /// let step = jit(|weights: Array, slope: Array| weights - slope * 0.5).donate([0]);
    /// let mut weights = Array::from([1.0f32, 2.0, 3.0]);
    /// for _ in 0..2 {
    ///     weights = step(weights, Array::from([2.0f32, 2.0, 2.0]));
    /// }
    /// assert_eq!(weights.to_vec::<f32>(), [-1.0, 0.0, 1.0]);
    ///
    /// let kept = weights.clone();
    /// step(weights, Array::from([0.0f32; 3]));
    /// let error = kept.try_value().unwrap_err();
    /// assert!(error.message().contains("donated"), "{error}");
    /// ```
    ///
    /// # Panics
    /// The function given panics when it has no argument of one of the numbers.
    #[must_use]
    pub fn donate(self, argnums: impl IntoIterator<Item = usize>) -> Self {
        let donate = argnums.into_iter().collect();
        self.recompiled(|options| options.donate = donate)
    }

    /// The same function; what has been compiled stays with the one it was compiled for.
    fn recompiled(self, change: impl FnOnce(&mut JitOptions)) -> Self {
        self.configured(|options| {
            change(options);
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
        self.options().cache.read().map_or_else(Vec::new, |cache| {
            cache
                .programs()
                .map(|program| program.jaxpr.clone())
                .collect()
        })
    }

    /// Forgets the compiled programs.
    pub fn clear_cache(&self) {
        if let Some(mut cache) = self.options().cache.write() {
            cache.clear();
        }
    }
}
