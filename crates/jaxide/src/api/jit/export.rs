//! Programs for others: object files that are linked into programs of any language.

use std::path::Path;

use jaxide_core::{ClosedJaxpr, Result};
use jaxide_cpu::{Cpu, Object, ObjectOptions, Target, compile_object};

use super::JitOptions;
use crate::function::{ArgList, Arguments, Transformed};
use crate::io::write_file;

/// A function of [`jit`](crate::jit()) for arguments of certain types, to be written as an object file: see
/// [`export`](Transformed::export).
#[derive(Clone, Debug)]
pub struct Export {
    jaxpr: ClosedJaxpr,
    options: ObjectOptions,
}

impl<Args: ArgList, Out: 'static> Transformed<Args, Out, JitOptions> {
    /// Traces the function for arguments of these types, so that it can be written as an object file with a C header. Arguments are
    /// arrays or [specifications](crate::Array::spec); several stand in a tuple, and their leaves are the arguments of the function of C. Arrays that
    /// the function captures stand in the object.
    ///
    /// # Errors
    /// When the function makes a mistake with arrays, asks for the value of one, or uses arrays of a trace around it.
    ///
    /// ```
    /// use jaxide::{Array, DType, jit};
    /// let weights = Array::from([1.0f32, 2.0, 3.0]);
    /// let score = jit(move |x: Array| (x * &weights).sum());
    /// let export = score.export(Array::spec(DType::F32, &[3]))?.named("score");
    /// let folder = std::env::temp_dir();
    /// # let folder = folder.join(format!("jaxide-export-{}", std::process::id()));
    /// # std::fs::create_dir(&folder)?;
    /// let object = export.write(folder.join("score.o"))?;
    /// assert!(object.header().contains("int score(const float *in0, float *out0, void *scratch);"));
    /// assert!(folder.join("score.h").is_file());
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), jaxide::Error>(())
    /// ```
    pub fn export(&self, args: impl Arguments<Args>) -> Result<Export> {
        let program = self.prepared(args.into_tuple())?;
        let target = Target::host();
        Ok(Export {
            jaxpr: program.jaxpr.clone(),
            options: ObjectOptions {
                name: "program".to_owned(),
                target,
                cpus: target.usual(),
            },
        })
    }
}

impl Export {
    /// The program that was traced.
    pub fn jaxpr(&self) -> &ClosedJaxpr {
        &self.jaxpr
    }

    /// The name of the function, an identifier of C; `program` if there is no other.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.options.name);
        self
    }

    /// The processors that the code is for. Where there are several, the object has code for each, and the best is chosen when the object is
    /// loaded.
    ///
    /// ```
    /// use jaxide::{Array, Cpu, DType, jit};
    /// let export = jit(|x: Array| x.exp()).export(Array::spec(DType::F64, &[100]))?;
    /// let one = export.clone().cpus([Cpu::V3]).object()?;
    /// let both = export.cpus([Cpu::V3, Cpu::V4]).object()?;
    /// assert!(both.bytes().len() > one.bytes().len());
    /// # Ok::<(), jaxide::Error>(())
    /// ```
    #[must_use]
    pub fn cpus(mut self, cpus: impl IntoIterator<Item = Cpu>) -> Self {
        self.options.cpus = cpus.into_iter().collect();
        self
    }

    /// The machine that the code is for, with the processors that it usually has.
    #[must_use]
    pub fn target(mut self, target: Target) -> Self {
        self.options.target = target;
        self.options.cpus = target.usual();
        self
    }

    /// Leaves out the elements of captured arrays, which are the first arguments of the function instead.
    ///
    /// ```
    /// use jaxide::{Array, DType, jit};
    /// let weights = Array::from([1.0f32, 2.0, 3.0]);
    /// let scale = jit(move |x: Array| x * &weights);
    /// let object = scale.export(Array::spec(DType::F32, &[3]))?.with_captures_as_arguments().object()?;
    /// assert_eq!(object.in_names(), ["const0", "in0"]);
    /// # Ok::<(), jaxide::Error>(())
    /// ```
    #[must_use]
    pub fn with_captures_as_arguments(mut self) -> Self {
        self.jaxpr.consts.clear();
        self
    }

    /// The object.
    ///
    /// # Errors
    /// When the function cannot be compiled, the name is no identifier of C, or the target has no such processor.
    pub fn object(&self) -> Result<Object> {
        compile_object(&self.jaxpr, &self.options)
    }

    /// Writes the object to a file, and the header beside it with the suffix `.h`.
    ///
    /// # Errors
    /// As [`object`](Self::object), and when a file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<Object> {
        let object = self.object()?;
        let path = path.as_ref();
        write_file(path, object.bytes())?;
        write_file(path.with_extension("h"), object.header().as_bytes())?;
        Ok(object)
    }
}
