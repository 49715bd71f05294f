//! What a build script says of a program.

use crate::archive::archive;
use crate::bindings;
use jaxide_core::jaxpr::parse::parse_bytes;
use jaxide_core::{ClosedJaxpr, Error, ErrorKind, Result};
use jaxide_cpu::{Cpu, Object, ObjectOptions, Target, compile_object};
use std::env;
use std::path::{Path, PathBuf};

/// Compiles the program of a file, to be included by [`include_program!`](crate::include_program) under the name of the file without suffix. To be called in
/// build scripts: cargo links what it writes, and calls it again when the file has changed.
///
/// ```no_run
/// jaxide_build::compile("model.jaxpr").unwrap();
/// ```
///
/// # Errors
/// When the file cannot be read or is no legal jaxpr, cannot be compiled, or this is no build script.
pub fn compile(path: impl AsRef<Path>) -> Result<()> {
    Program::new(path).compile()
}

/// A program, and how it is compiled.
///
/// ```no_run
/// use jaxide_build::{Cpu, Program};
/// Program::new("model.jaxpr").named("own").cpus([Cpu::V3]).compile().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    name: Option<String>,
    #[cfg(feature = "npz")]
    constants: Option<PathBuf>,
    cpus: Option<Vec<Cpu>>,
}

impl Program {
    /// That of a file.
    pub fn new(path: impl AsRef<Path>) -> Program {
        Program {
            path: path.as_ref().to_owned(),
            name: None,
            #[cfg(feature = "npz")]
            constants: None,
            cpus: None,
        }
    }

    /// The name of the module; otherwise that of the file.
    #[must_use]
    pub fn named(mut self, name: &str) -> Program {
        self.name = Some(name.to_owned());
        self
    }

    /// An archive with the values of captured arrays, `const0`, `const1`, ..., which then stand beside the code. Without one, these arrays are the first arguments.
    ///
    /// ```no_run
    /// use jaxide_build::Program;
    /// Program::new("model.jaxpr").constants("weights.npz").compile().unwrap();
    /// ```
    #[cfg(feature = "npz")]
    #[must_use]
    pub fn constants(mut self, path: impl AsRef<Path>) -> Program {
        self.constants = Some(path.as_ref().to_owned());
        self
    }

    /// The processors that the code is for. If nothing is said, it is for all that run the target, with better code for better ones, chosen when the program is
    /// loaded.
    #[must_use]
    pub fn cpus(mut self, cpus: impl IntoIterator<Item = Cpu>) -> Program {
        self.cpus = Some(cpus.into_iter().collect());
        self
    }

    /// Compiles it, as [`compile`] does.
    ///
    /// # Errors
    /// As of [`compile`].
    pub fn compile(&self) -> Result<()> {
        let jaxpr = self.read()?;
        let name = self.name()?;
        let options = ObjectOptions {
            name: symbol(&name),
            target: variable("TARGET")?.parse()?,
            cpus: self.cpus.clone().map_or_else(usual, Ok)?,
        };
        emit(&name, &compile_object(&jaxpr, &options)?)?;
        println!("cargo::rerun-if-changed={}", self.path.display());
        Ok(())
    }

    fn name(&self) -> Result<String> {
        let name = match &self.name {
            Some(name) => Some(name.as_str()),
            None => self.path.file_stem().and_then(|stem| stem.to_str()),
        };
        let name = name.unwrap_or_default();
        let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(letters) {
            return Ok(name.to_owned());
        }
        Err(Error::new(
            ErrorKind::Parameter,
            format!("`{name}` is no name of a module"),
        ))
    }

    fn read(&self) -> Result<ClosedJaxpr> {
        let failed = |error: &dyn std::fmt::Display| {
            Error::new(ErrorKind::Io, format!("{}: {error}", self.path.display()))
        };
        let bytes = std::fs::read(&self.path).map_err(|error| failed(&error))?;
        let jaxpr = parse_bytes(&bytes).map_err(|error| failed(&error))?;
        #[cfg(feature = "npz")]
        if let Some(path) = &self.constants {
            return with_constants(jaxpr, path);
        }
        Ok(jaxpr)
    }
}

/// The program with captured arrays from an archive.
#[cfg(feature = "npz")]
fn with_constants(mut jaxpr: ClosedJaxpr, path: &Path) -> Result<ClosedJaxpr> {
    let mut archive = jaxide::io::Reader::open_npz(path)?;
    let avals = jaxpr.jaxpr.const_avals();
    let values = avals.iter().enumerate();
    jaxpr.consts = values
        .map(|(k, aval)| archive.value(&format!("const{k}"), aval))
        .collect::<Result<_>>()?;
    println!("cargo::rerun-if-changed={}", path.display());
    Ok(jaxpr)
}

/// Has cargo link an object, and writes the module `name` that [`include_program!`](crate::include_program) takes: for programs that the build script traces itself.
///
/// ```no_run
/// # fn softplus() -> Result<jaxide_build::Object, jaxide_core::Error> { unimplemented!() }
/// // With the crate `jaxide`: jit(|x: Array| x.exp().log1p()).export(Array::spec(DType::F32, &[16]))?.named("softplus").object()?
/// let object = softplus()?;
/// jaxide_build::emit("softplus", &object)?;
/// # Ok::<(), jaxide_core::Error>(())
/// ```
///
/// # Errors
/// When a file cannot be written, or this is no build script.
pub fn emit(name: &str, object: &Object) -> Result<()> {
    let folder = PathBuf::from(variable("OUT_DIR")?);
    write(&folder, name, object)?;
    println!("cargo::rustc-link-search=native={}", folder.display());
    println!("cargo::rustc-link-lib=static={}", object.name());
    Ok(())
}

/// Writes the library and the module.
fn write(folder: &Path, name: &str, object: &Object) -> Result<()> {
    let symbol = object.name();
    let library = folder.join(format!("lib{symbol}.a"));
    let module = bindings::module(name, object);
    for (path, bytes) in [
        (library, archive(symbol, object.bytes())),
        (folder.join(format!("{name}.rs")), module.into_bytes()),
    ] {
        std::fs::write(&path, bytes)
            .map_err(|error| Error::new(ErrorKind::Io, format!("{}: {error}", path.display())))?;
    }
    Ok(())
}

/// The name of a function in the object: no other crate has one by it.
fn symbol(name: &str) -> String {
    let package = env::var("CARGO_PKG_NAME").unwrap_or_default();
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let letters = format!("jaxide_program_{package}_{version}_{name}");
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    letters.chars().map(letter).collect()
}

/// What cargo tells a build script.
fn variable(name: &str) -> Result<String> {
    env::var(name).map_err(|_| {
        Error::new(
            ErrorKind::Parameter,
            format!("there is no variable {name}, as build scripts have"),
        )
    })
}

/// Processors for what cargo builds.
fn usual() -> Result<Vec<Cpu>> {
    let target: Target = variable("TARGET")?.parse()?;
    if target != Target::X86_64Linux {
        return Ok(target.usual());
    }
    let features = variable("CARGO_CFG_TARGET_FEATURE")?;
    let has = |wanted: &[&str]| {
        let mut all = wanted.iter();
        all.all(|wanted| features.split(',').any(|feature| feature == *wanted))
    };
    let v3 = has(&["avx2", "fma", "f16c", "bmi2", "lzcnt", "movbe"]);
    Ok(match () {
        () if has(&["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"]) => vec![Cpu::V4],
        () if v3 => vec![Cpu::V3, Cpu::V4],
        // Its loader knows no indirect functions.
        () if variable("CARGO_CFG_TARGET_ENV")? == "musl" => vec![Cpu::V2],
        () => vec![Cpu::V2, Cpu::V3, Cpu::V4],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use jaxide_core::parse;
    use std::process::Command;

    /// A compiler of Rust in a folder.
    fn rustc(folder: &Path, arguments: &[&str]) {
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut rustc = Command::new(rustc);
        rustc.current_dir(folder).args(["--edition=2024", "-L."]);
        let output = rustc.args(arguments).output().unwrap();
        let why = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{why}");
    }

    /// What a Rust program prints that includes the module of a program; `library` is what it is linked with as the runtime library.
    fn printed(text: &str, main: &str, library: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let options = ObjectOptions {
            name: "own_symbol".to_owned(),
            target: Target::host(),
            cpus: vec![Cpu::V2, Cpu::V3, Cpu::V4],
        };
        let object = compile_object(&parse(text).unwrap(), &options).unwrap();
        write(folder.path(), "own", &object).unwrap();
        let source = format!(
            "#![deny(warnings)]\nextern crate jaxide_runtime as _;\ninclude!(\"own.rs\");\nfn main() {{ {main} }}"
        );
        std::fs::write(folder.path().join("main.rs"), source).unwrap();
        std::fs::write(folder.path().join("library.rs"), library).unwrap();
        let library = [
            "library.rs",
            "--crate-name=jaxide_runtime",
            "--crate-type=rlib",
        ];
        rustc(folder.path(), &library);
        let extern_library = "--extern=jaxide_runtime=libjaxide_runtime.rlib";
        rustc(
            folder.path(),
            &["main.rs", "-lstatic=own_symbol", extern_library],
        );
        let run = Command::new(folder.path().join("main")).output().unwrap();
        assert!(run.status.success());
        String::from_utf8(run.stdout).unwrap()
    }

    #[test]
    fn arrays_are_rows_in_rows_and_numbers_are_numbers() {
        let text = "{ lambda ; a:f32[2,3] b:f32[] c:bool[2]. let
            d:f32[2,3] = mul a b
            e:f32[3,2] = transpose[permutation=(1, 0)] d
            f:bool[2] = not c
          in (e, f, b) }";
        let main = "let (mut e, mut f, mut b) = ([[0.0; 2]; 3], [false; 2], 0.0);
            own::run(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], 2.0, &[true, false], &mut e, &mut f, &mut b, &mut own::Scratch::new());
            print!(\"{e:?} {f:?} {b:?}\");";
        assert_eq!(
            printed(text, main, ""),
            "[[2.0, 8.0], [4.0, 10.0], [6.0, 12.0]] [false, true] 2.0"
        );
    }

    #[test]
    fn complex_numbers_are_pairs() {
        let text = "{ lambda ; a:c64[2]. let b:c64[2] = mul a a in (b,) }";
        let main = "use own::Pair; let mut b = [Pair(0.0, 0.0); 2];
            own::run(&[Pair(1.0, 2.0), Pair(0.0, 1.0)], &mut b, &mut own::Scratch::new());
            print!(\"{b:?}\");";
        assert_eq!(
            printed(text, main, ""),
            "[Pair(-3.0, 4.0), Pair(-1.0, 0.0)]"
        );
    }

    #[test]
    fn what_fails_in_the_runtime_library_is_an_error() {
        let text = "{ lambda ; a:i32[3]. let
            b:i32[3] = sort[dimension=0 is_stable=True num_keys=1] a
          in (b,) }";
        let main = "let mut b = [0; 3];
            let result = own::run(&[3, 1, 2], &mut b, &mut own::Scratch::new());
            print!(\"{result:?}\");";
        let library = "pub fn error() -> String { \"no room\".to_owned() }
            #[unsafe(no_mangle)]
            pub extern \"C\" fn jaxide_rt_run(_: *const u8, _: usize, _: *const *mut u8) -> u32 { 1 }";
        assert_eq!(printed(text, main, library), "Err(\"no room\")");
    }
}
