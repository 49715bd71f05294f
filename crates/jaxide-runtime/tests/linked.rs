//! Objects with kernels, linked by a C compiler with the static library.

use jaxide_core::parse;
use jaxide_cpu::{ObjectOptions, RUNTIME_FUNCTION, compile_object};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The static library that cargo built beside this test.
fn library() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let folder = here.parent().unwrap();
    let files = std::fs::read_dir(folder).unwrap();
    let libraries = files.map(|file| file.unwrap().path()).filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libjaxide_runtime") && name.ends_with(".a")
    });
    let modified = |path: &PathBuf| path.metadata().and_then(|file| file.modified()).ok();
    libraries.max_by_key(modified).expect("cargo builds it")
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{why}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_c_program_calls_kernels_from_several_threads() {
    let text = "{ lambda ; a:f32[64,48] b:f32[48,80]. let
        c:f32[64,80] = dot_general[
          dimension_numbers=(([1], [0]), ([], []))
          preferred_element_type=float32
        ] a b
        d:f32[64,80] = sort[dimension=1 is_stable=True num_keys=1] c
      in (d,) }";
    let object = compile_object(&parse(text).unwrap(), &ObjectOptions::native("sorted")).unwrap();
    assert_eq!(object.kernels().len(), 2);
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("sorted.o", object.bytes());
    write("sorted.h", object.header().as_bytes());
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cc = Command::new("cc");
    cc.current_dir(folder.path())
        .args(["-Wall", "-Werror", "-o", "main", "-I.", "-I"])
        .arg(here.join("include"))
        .arg(here.join("tests/linked.c"))
        .arg("sorted.o")
        .arg(library())
        .args(["-lpthread", "-ldl", "-lm"]);
    run(&mut cc);
    assert_eq!(
        run(&mut Command::new(folder.path().join("main"))),
        "right\n"
    );
    let mut nm = Command::new("nm");
    nm.current_dir(folder.path()).args(["-u", "sorted.o"]);
    assert_eq!(run(&mut nm).trim(), format!("U {RUNTIME_FUNCTION}"));
}
