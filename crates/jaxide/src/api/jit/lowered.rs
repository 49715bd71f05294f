//! Looking at what `jit` compiles.

use std::sync::Arc;

use jaxide_core::{ClosedJaxpr, Cost, Error, ErrorKind, Result, byte_size, cost};
use jaxide_cpu::{CompileStats, Executable};

use super::cache::Program;
use super::{JitOptions, flatten_known};
use crate::function::{ArgList, Arguments, Transformed};
use crate::trace::catch;

/// A function of [`jit`](crate::jit()) for arguments of certain types, as it is compiled: see
/// [`lower`](Transformed::lower).
pub struct Lowered {
    jaxpr: ClosedJaxpr,
    executable: Executable,
}

impl<Args: ArgList, Out: 'static> Transformed<Args, Out, JitOptions> {
    /// Traces and compiles the function for arguments of these types, and gives what came of it to look at. Arguments are
    /// arrays or [specifications](crate::Array::spec); several stand in a tuple.
    ///
    /// # Errors
    /// When the function makes a mistake with arrays, asks for the value of one, uses arrays of a trace around it, or cannot
    /// be compiled.
    ///
    /// ```
    /// use jaxide::{Array, DType, jit};
    /// let f = jit(|x: Array, y: Array| x.matmul(&y).tanh());
    /// let x = Array::spec(DType::F32, &[64, 32]);
    /// let y = Array::spec(DType::F32, &[32, 16]);
    /// let lowered = f.lower((x, y))?;
    /// println!("{}\n{}", lowered.jaxpr(), lowered.loops());
    /// assert_eq!(lowered.cost().flops, 2 * 64 * 32 * 16);
    /// assert_eq!(lowered.cost().transcendentals, 64 * 16);
    /// assert_eq!(lowered.peak_memory() % 64, 0);
    /// # Ok::<(), jaxide::Error>(())
    /// ```
    pub fn lower(&self, args: impl Arguments<Args>) -> Result<Lowered> {
        let program = self.prepared(args.into_tuple())?;
        let native = program.native(self.options());
        Ok(Lowered {
            jaxpr: program.jaxpr.clone(),
            executable: native.with_text()?,
        })
    }

    /// Traces and compiles the function for arguments of these types, so that the first call with such arguments has
    /// nothing to wait for. Arguments are arrays or [specifications](crate::Array::spec).
    ///
    /// # Errors
    /// As [`lower`](Self::lower).
    ///
    /// ```
    /// use jaxide::{Array, DType, jit};
    /// let f = jit(|x: Array| x.sin().sum());
    /// f.compile_ahead(Array::spec(DType::F32, &[1000]))?;
    /// assert_eq!(f.cache_size(), 1);
    /// # Ok::<(), jaxide::Error>(())
    /// ```
    pub fn compile_ahead(&self, args: impl Arguments<Args>) -> Result<()> {
        let program = self.prepared(args.into_tuple())?;
        program.native(self.options()).executable().map(|_| ())
    }

    /// The program for arguments of these types, traced if it has not been.
    pub(super) fn prepared(&self, args: Args) -> Result<Arc<Program>> {
        let mut options = self.options().clone();
        options.ahead = true;
        let flat = flatten_known(&options.cache, args);
        let (leaves, treedef) = (flat.leaves.clone(), flat.treedef.clone());
        catch(|| {
            let args = super::unflatten(&flat.treedef, flat.leaves);
            self.apply_with(&options, args)
        })?;
        let cache = options.cache.read();
        cache
            .and_then(|cache| cache.program(&treedef, &leaves).cloned())
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::Concretization,
                    "the function uses arrays of a trace around it, and is not a program of its own",
                )
                .in_operation("jit")
            })
    }
}

impl Lowered {
    /// The program that was traced.
    pub fn jaxpr(&self) -> &ClosedJaxpr {
        &self.jaxpr
    }

    /// The loop nests, calls and memory that it became. Large constants are arguments, in front of the function's own.
    pub fn loops(&self) -> String {
        self.executable.loops_text()
    }

    /// The code around the loop bodies in Cranelift's text form.
    pub fn clif(&self) -> &str {
        self.executable.clif_text()
    }

    /// The machine code as hexadecimal bytes, by function.
    pub fn asm(&self) -> String {
        self.executable.asm_text()
    }

    /// Times of compilation, and sizes of the code and of temporary memory.
    pub fn stats(&self) -> &CompileStats {
        self.executable.stats()
    }

    /// Operations of the program as it was traced, and bytes that its equations read and write if nothing is fused.
    pub fn cost(&self) -> Cost {
        cost(&self.jaxpr.jaxpr)
    }

    /// Bytes that a run needs at most: arguments, constants, results and temporary memory, each rounded up to 64. Results that
    /// are made in the memory of donated arguments are counted once.
    pub fn peak_memory(&self) -> usize {
        let (args, results) = (self.executable.in_avals(), self.executable.out_avals());
        let constants = self.executable.constant_avals();
        let free = self.executable.results_without_memory();
        let results = results.iter().enumerate();
        let results = results.filter_map(|(k, aval)| (!free.contains(&k)).then_some(aval));
        let arrays = args.iter().chain(&constants).chain(results);
        let bytes = arrays.map(|aval| byte_size(&aval.shape, aval.dtype).unwrap_or(usize::MAX));
        bytes
            .chain([self.stats().arena])
            .map(|bytes| bytes.checked_next_multiple_of(64).unwrap_or(usize::MAX))
            .fold(0, usize::saturating_add)
    }
}
