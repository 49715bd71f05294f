//! Programs as objects, called from C: each is compiled to an object, linked with a small C program by the system's compiler, and run as a process.
//!
//! The C program knows what the header says, and nothing else. Its arrays are aligned as their elements are, and no better.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::str::FromStr;

use clap::{Arg, ArgMatches};
use jaxide_core::{Aval, ClosedJaxpr, Error, ErrorKind, Result, Tensor, byte_size};
use jaxide_cpu::{Cpu, Object, ObjectOptions, RUNTIME_FUNCTION, Target, compile_object};

use crate::arguments::path;

/// What stands on the command line.
pub(super) fn arguments() -> [Arg; 3] {
    let word = |name, value, help| Arg::new(name).long(name).value_name(value).help(help);
    [
        word(
            "objects",
            "CPU",
            "Compile objects for x86-64-v2, x86-64-v3, x86-64-v4, native or aarch64 instead, and call them from C",
        ),
        path(
            "runtime",
            "libjaxide_runtime.a",
            "What objects with kernels are linked with; without it, such programs are left out",
        ),
        word("cc", "COMPILER", "The C compiler that links objects").default_value("cc"),
    ]
}

/// How objects are made and run.
pub(super) struct Objects {
    options: ObjectOptions,
    runtime: Option<PathBuf>,
    compiler: String,
    /// What runs a program of another machine.
    runner: Option<&'static str>,
}

impl Objects {
    /// As the command line asks for, if it asks for objects.
    pub(super) fn of(matches: &ArgMatches) -> Result<Option<Objects>> {
        let Some(cpu) = matches.get_one::<String>("objects") else {
            return Ok(None);
        };
        let (target, cpus) = match cpu.as_str() {
            "aarch64" => (Target::Aarch64Linux, Vec::new()),
            cpu => (Target::host(), vec![Cpu::from_str(cpu)?]),
        };
        let foreign = target != Target::host();
        Ok(Some(Objects {
            options: ObjectOptions {
                name: "program".to_owned(),
                target,
                cpus,
            },
            runtime: matches.get_one("runtime").cloned(),
            compiler: matches.get_one::<String>("cc").cloned().unwrap_or_default(),
            runner: foreign.then_some("qemu-aarch64"),
        }))
    }

    /// The results of a program, which says so itself.
    pub(super) fn run(&self, jaxpr: &ClosedJaxpr, args: &[Tensor]) -> Result<Vec<Tensor>> {
        let object = compile_object(jaxpr, &self.options)?;
        if !object.kernels().is_empty() && self.runtime.is_none() {
            return Err(Error::unsupported(format!(
                "calls {} kernels, and there is no --runtime",
                object.kernels().len()
            )));
        }
        let folder = Folder::new()?;
        let input: Vec<&[u8]> = args.iter().map(Tensor::bytes).collect();
        let (header, main) = (object.header(), caller(&object));
        let files = [
            ("program.o", object.bytes()),
            ("program.h", header.as_bytes()),
            ("main.c", main.as_bytes()),
            ("input", &input.concat()),
        ];
        for (name, bytes) in files {
            folder.write(name, bytes)?;
        }
        self.check_symbols(&folder, &object)?;
        let mut link = Command::new(&self.compiler);
        link.current_dir(&folder.path);
        link.args([
            "-O1",
            "-Wall",
            "-Werror",
            "main.c",
            "program.o",
            "-o",
            "main",
        ]);
        if let (false, Some(runtime)) = (object.kernels().is_empty(), &self.runtime) {
            link.arg(std::path::absolute(runtime).unwrap_or_else(|_| runtime.clone()));
            link.args(["-lpthread", "-ldl", "-Wl,--gc-sections"]);
        }
        if self.runner.is_some() {
            link.arg("-static");
        }
        link.arg("-lm");
        output(&mut link)?;
        let main = folder.path.join("main");
        let mut run = match self.runner {
            Some(runner) => {
                let mut run = Command::new(runner);
                run.arg(&main);
                run
            }
            None => Command::new(&main),
        };
        run.current_dir(&folder.path);
        let bytes = output(&mut run)?.stdout;
        results(&bytes, object.out_avals())
    }

    /// # Errors
    /// When an object needs something else than the runtime library, or on the oldest processors fused multiplication and addition.
    fn check_symbols(&self, folder: &Folder, object: &Object) -> Result<()> {
        let mut nm = Command::new("nm");
        nm.current_dir(&folder.path).args(["-u", "program.o"]);
        let text = output(&mut nm)?.stdout;
        let text = String::from_utf8_lossy(&text);
        let names = text.split_whitespace().filter(|&word| word != "U");
        for name in names {
            let known = name == RUNTIME_FUNCTION && !object.kernels().is_empty()
                || self.options.cpus == [Cpu::V2] && matches!(name, "fma" | "fmaf");
            if !known {
                let why = format!("the object needs {name}");
                return Err(Error::new(ErrorKind::Internal, why));
            }
        }
        Ok(())
    }
}

/// The text of a C program that calls the object's function: it reads arguments from `input` and writes results to its output.
fn caller(object: &Object) -> String {
    let name = object.name();
    let upper = name.to_uppercase();
    let outputs = (0..object.out_avals().len()).map(|k| format!("out{k}"));
    let outputs: Vec<String> = outputs.collect();
    let inputs = object.in_names();
    let mut text = format!(
        "#include \"{name}.h\"\n#include <stdio.h>\n#include <stdlib.h>\n\n\
         static void *array(size_t bytes, size_t alignment) {{\n    \
             char *memory = aligned_alloc(64, (bytes + alignment + 63) / 64 * 64 + 64);\n    \
             return memory + alignment;\n}}\n\n\
         int main(void) {{\n    FILE *file = fopen(\"input\", \"rb\");\n"
    );
    for array in inputs.iter().chain(&outputs) {
        let it = format!("{upper}_{}", array.to_uppercase());
        let _ = writeln!(
            text,
            "    void *{array} = array({it}_BYTES, {it}_ALIGNMENT);"
        );
    }
    for array in &inputs {
        let bytes = format!("{upper}_{}_BYTES", array.to_uppercase());
        let _ = writeln!(
            text,
            "    if (fread({array}, 1, {bytes}, file) != {bytes}) return 2;"
        );
    }
    let all: Vec<&str> = inputs.iter().chain(&outputs).map(String::as_str).collect();
    let _ = writeln!(
        text,
        "    fclose(file);\n    \
             void *scratch = aligned_alloc({upper}_SCRATCH_ALIGNMENT, {upper}_SCRATCH_BYTES + 64);\n    \
             if ({name}({}) != 0) return 3;",
        all.iter()
            .copied()
            .chain(["scratch"])
            .collect::<Vec<_>>()
            .join(", ")
    );
    for array in &outputs {
        let bytes = format!("{upper}_{}_BYTES", array.to_uppercase());
        let _ = writeln!(text, "    fwrite({array}, 1, {bytes}, stdout);");
    }
    text.push_str("    return 0;\n}\n");
    text
}

fn results(bytes: &[u8], avals: &[Aval]) -> Result<Vec<Tensor>> {
    let mut rest = bytes;
    let mut results = Vec::with_capacity(avals.len());
    for aval in avals {
        let size = byte_size(&aval.shape, aval.dtype)?;
        let (own, behind) = rest
            .split_at_checked(size)
            .ok_or_else(|| Error::new(ErrorKind::Internal, "the program wrote too little"))?;
        results.push(Tensor::from_bytes(&aval.shape, aval.dtype, own)?);
        rest = behind;
    }
    Ok(results)
}

/// What a command writes.
///
/// # Errors
/// When it cannot be run, or fails.
fn output(command: &mut Command) -> Result<Output> {
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = |why: String| Error::new(ErrorKind::Io, format!("{name}: {why}"));
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(output);
    }
    let told = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(failed(format!("{}: {told}", output.status)))
}

/// A folder that is removed in the end.
struct Folder {
    path: PathBuf,
}

impl Folder {
    fn new() -> Result<Folder> {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("jaxide-objects-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).map_err(|error| io(&path, &error))?;
        Ok(Folder { path })
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path.join(name);
        std::fs::write(&path, bytes).map_err(|error| io(&path, &error))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left there does no harm.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

fn io(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("{}: {error}", path.display()))
}
