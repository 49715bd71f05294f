//! The program as users run it.

mod run;

use run::{Folder, parts};

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

const SQUARES: &str = "{ lambda ; a:f32[2]. let b:f32[2] = mul a a; c:f32[] = reduce_sum[axes=(0,) out_sharding=None] b in (c,) }\n";

#[test]
fn fmt_prints_checks_and_writes() {
    let folder = Folder::new("fmt");
    folder.write(
        "a.jaxpr",
        "{ lambda ; x:f32[2]. let\n y:f32[2] = sin x in (y,) }",
    );
    let formatted = "{ lambda ; a:f32[2]. let b:f32[2] = sin a in (b,) }\n";
    folder.prints("fmt a.jaxpr", formatted);
    folder.prints(
        "fmt --classic a.jaxpr",
        "{ lambda ; a. let b = sin a in (b,) }\n",
    );
    let output = folder.run("fmt --check a.jaxpr");
    assert_eq!(text(&output.stdout), "a.jaxpr is not formatted\n");
    assert_eq!(output.status.code(), Some(1));
    folder.prints("fmt --write a.jaxpr", "");
    assert_eq!(text(&folder.read("a.jaxpr")), formatted);
    folder.prints("fmt --check a.jaxpr", "");
}

#[test]
fn check_reports_every_mistake_with_its_line() {
    let folder = Folder::new("check");
    folder.write("good.jaxpr", SQUARES);
    folder.write(
        "bad.jaxpr",
        "{ lambda ; a:f32[2] b:f32[3]. let\n    c:f32[2] = add a b\n  in (c,) }\n",
    );
    folder.write(
        "text.jaxpr",
        "{ lambda ; a:f32[2]. let b:f32[2] = sni a in (b,) }\n",
    );
    folder.prints("check good.jaxpr", "");
    let output = folder.run("check good.jaxpr bad.jaxpr text.jaxpr");
    let message = text(&output.stderr);
    assert!(message.contains("--> bad.jaxpr:2:5"), "{message}");
    assert!(message.contains("did you mean `sin`?"), "{message}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn transform_applies_steps_in_order() {
    let folder = Folder::new("transform");
    folder.write(
        "f.jaxpr",
        "{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }\n",
    );
    folder.prints("transform f.jaxpr --grad", "{ lambda ; a:f32[]. let\n    _:f32[] = sin a\n    b:f32[] = cos a\n    c:f32[] = mul 1.0:f32[] b\n  in (c,) }\n");
    let nested = folder.run("transform f.jaxpr --grad --vmap in_axes=0,axis_size=3 --jit name=f");
    assert!(
        text(&nested.stdout).contains("jit[\n      name=f"),
        "{nested:?}"
    );
    folder.fails(
        "transform f.jaxpr --grad argnums=1",
        1,
        "error: argument 1 is differentiated, and there are 1\n",
    );
    folder.fails(
        "transform f.jaxpr --gard",
        2,
        "error: unexpected argument '--gard' found\n\n  tip: a similar argument exists: '--grad'\n\n\
         Usage: jaxide transform --grad[=<SETTINGS>] <FILE>\n\nFor more information, try '--help'.\n",
    );
}

#[test]
fn eval_reads_and_writes_archives() {
    let folder = Folder::new("eval");
    folder.write(
        "make.jaxpr",
        "{ lambda ; . let a:f32[2] = iota[dimension=0 dtype=float32 shape=(2,) sharding=None] ; \
         b:bf16[2] = convert_element_type[new_dtype=bfloat16 weak_type=False] a in (a, b) }\n",
    );
    folder.prints(
        "eval make.jaxpr",
        "out0: f32[2] = [0.0, 1.0]\nout1: bf16[2] = [0.0, 1.0]\n",
    );
    folder.prints("eval make.jaxpr --output made.npz", "");
    assert!(folder.read("made.npz").starts_with(b"PK"));
    folder.write("f.jaxpr", SQUARES);
    folder.fails(
        "eval f.jaxpr",
        1,
        "error: the program takes 1 arguments, and the archive has 0\n |\n = help: give them as members in0, in1, ... of an \
         archive: `--inputs X.npz`\n",
    );
    folder.fails(
        "eval f.jaxpr --inputs none.npz",
        1,
        "error: none.npz: No such file or directory (os error 2)\n",
    );
    folder.fails(
        "eval f.jaxpr --backend gpu",
        2,
        "error: invalid value 'gpu' for '--backend <BACKEND>'\n  [possible values: eval, native, native-avx512, \
         native-avx2, native-portable, native-checked, native-avx512-checked, native-avx2-checked, \
         native-portable-checked]\n\nFor more information, try '--help'.\n",
    );
}

#[test]
fn bench_prints_its_numbers_as_json() {
    let folder = Folder::new("bench");
    folder.write("f.jaxpr", SQUARES);
    let output = folder.run("bench f.jaxpr --backend eval --seconds 0.01 --json");
    let numbers: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let keys: Vec<&String> = numbers.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "compile_ms",
            "first_us",
            "median_us",
            "min_us",
            "parse_ms",
            "runs",
            "stages_ms"
        ]
    );
    assert!(numbers["min_us"].as_f64() <= numbers["median_us"].as_f64());
}

/// A corpus of one case that passes, one whose result is wrong and one whose file is missing.
#[test]
fn conformance_counts_and_names_what_fails() {
    let folder = Folder::new("conformance");
    folder.write("good.jaxpr", "{ lambda ; . let  in (2.0:f32[],) }\n");
    folder.write("bad.jaxpr", "{ lambda ; . let  in (3.0:f32[],) }\n");
    folder.run("eval good.jaxpr --output good.npz");
    std::fs::copy(folder.0.join("good.npz"), folder.0.join("bad.npz")).unwrap();
    let row = |name: &str| {
        format!("{{\"name\":\"{name}\",\"group\":\"g\",\"arg_order\":[],\"tol\":[[0,0]]}}\n")
    };
    folder.write("manifest.jsonl", &["good", "bad", "gone"].map(row).concat());
    let output = folder.run("conformance . --json");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["print"]["pass"], 2);
    assert_eq!(report["eval"]["pass"], 1);
    assert_eq!(report["eval"]["fail"], 2);
    let bad = serde_json::json!({
        "case": "g/bad",
        "check": "eval",
        "why": "result 0: element 0 of f32[]: got 3.0, expected 2.0",
    });
    assert!(
        report["failures"].as_array().unwrap().contains(&bad),
        "{report}"
    );
    assert_eq!(output.status.code(), Some(1));

    folder.write(
        "known.txt",
        "# why\neval g/bad it is wrong on purpose\nprint g/gone lost\neval g/gone lost\n",
    );
    assert_eq!(
        folder.run("conformance . --known known.txt").status.code(),
        Some(0)
    );
    assert_eq!(
        folder.run("conformance . --filter good").status.code(),
        Some(0)
    );
}

const PRINTS: &str = "{ lambda ; . let
    debug_print[
      fmt=here {}
      has_placeholders=False
      in_tree=PyTreeDef([*])
      logging_record=None
      np_printoptions=()
      ordered=False
      partitioned=False
      static_args=()
    ] 7:i32[]
  in (1.0:f32[],) }
";

/// What a program prints never stands among results: it goes to standard error, on both backends.
#[test]
fn what_programs_print_is_no_result() {
    let folder = Folder::new("prints");
    folder.write("f.jaxpr", PRINTS);
    for backend in ["eval", "native"] {
        let run = |arguments: &str| folder.run(&format!("{arguments} --backend {backend}"));
        let eval = run("eval f.jaxpr");
        assert_eq!(text(&eval.stdout), "out0: f32[] = 1.0\n");
        assert_eq!(text(&eval.stderr), "here 7\n");

        let bench = run("bench f.jaxpr --seconds 0.01 --json");
        let numbers: serde_json::Value = serde_json::from_slice(&bench.stdout).unwrap();
        let lines: Vec<&str> = text(&bench.stderr).lines().collect();
        assert!(numbers["runs"].as_u64().unwrap() as usize <= lines.len());
        assert!(lines.iter().all(|line| *line == "here 7"));
        let shown = run("bench f.jaxpr --seconds 0.01");
        assert!(!text(&shown.stdout).contains("here"));

        let archive = run("eval f.jaxpr --output f.npz");
        assert_eq!(text(&archive.stdout), "");
        let row = "{\"name\":\"f\",\"group\":\"g\",\"arg_order\":[],\"tol\":[[0,0]]}\n";
        folder.write("manifest.jsonl", row);
        let conformance = run("conformance . --json");
        let report: serde_json::Value = serde_json::from_slice(&conformance.stdout).unwrap();
        assert_eq!(report["eval"]["pass"], 1, "{report}");
        assert!(text(&conformance.stderr).contains("here 7\n"));
    }
}

/// A profile names each kernel with its equations, its work, and what parts of the machine's limits that is.
#[test]
fn bench_profiles_kernels() {
    let folder = Folder::new("profile");
    folder.write(
        "f.jaxpr",
        "{ lambda ; a:f32[64,64]. let
            b:f32[64,64] = dot_general[dimension_numbers=(([1], [0]), ([], []))] a a
            c:f32[64,64] = sin b
          in (c,) }",
    );
    let output = folder.run("bench f.jaxpr --profile --seconds 0.01 --json --roofline roof.svg");
    let numbers: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let profile = &numbers["profile"];
    let steps = profile["steps"].as_array().unwrap();
    let product = (steps.iter()).find(|step| step["name"] == "dot_general");
    let product = product.unwrap_or_else(|| panic!("{numbers}"));
    assert_eq!(product["flops"], 2.0 * 64.0 * 64.0 * 64.0);
    assert_eq!(product["bytes"], 3.0 * 64.0 * 64.0 * 4.0);
    assert_eq!(product["times"], 1.0);
    let equations = product["equations"].as_str().unwrap();
    assert!(
        equations.starts_with("equation 0 (dot_general"),
        "{numbers}"
    );
    assert!(profile["flops_per_second"].as_f64().unwrap() > 0.0);
    let sine = steps.iter().find(|step| step["name"] == "k0").unwrap();
    let rate = sine["flops"].as_f64().unwrap() / sine["us"].as_f64().unwrap() * 1e6;
    let of_peak = rate / profile["flops_per_second"].as_f64().unwrap();
    assert!((of_peak / sine["of_peak"].as_f64().unwrap() - 1.0).abs() < 1e-9);

    let picture = String::from_utf8(folder.read("roof.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
    for part in ["dot_general", "k0", "GFLOP/s", "copy of 256 MB"] {
        assert!(picture.contains(part), "{part}: {picture}");
    }
    let table = folder.run("bench f.jaxpr --profile --seconds 0.01");
    let table = text(&table.stdout);
    assert!(
        table.contains("of copy") && table.contains("equation 1 (sin"),
        "{table}"
    );
    let refused = "--profile is of native code, and the interpreter has no kernels";
    for (options, why) in [
        ("--profile --backend eval", refused),
        ("--roofline r.svg", "--profile"),
    ] {
        let (status, said, message) = parts(&folder.run(&format!("bench f.jaxpr {options}")));
        assert_eq!((status, said.as_str()), (Some(2), ""), "{options}");
        assert!(message.contains(why), "{message}");
    }
}

/// The list of primitives is the table: for people, and for programs.
#[test]
fn primitives_are_listed() {
    let folder = Folder::new("primitives");
    let output = folder.run("primitives --json");
    let list: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&str> = list
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    let table: Vec<&str> = jaxide_core::Prim::ALL
        .iter()
        .map(|info| info.name)
        .collect();
    assert_eq!(names, table);
    let fft = &list[names.iter().position(|name| *name == "fft").unwrap()];
    assert_eq!(
        (&fft["operands"], &fft["results"]),
        (&"1".into(), &"1".into())
    );
    assert_eq!(fft["family"], "linalg");
    assert_eq!(fft["parameters"][0]["name"], "fft_lengths");
    let shown = folder.run("primitives");
    let shown = text(&shown.stdout);
    assert_eq!(
        shown.lines().filter(|line| line.starts_with("  ")).count(),
        table.len()
    );
    assert!(shown.contains("\n  fft "), "{shown}");
}

/// Primitives and element types that are not JAX's are printed back, noted, and refused by name.
#[test]
fn foreign_primitives_are_kept_and_refused() {
    let folder = Folder::new("foreign");
    let kept = "{ lambda ; a:f32[2] b:f33[]. let c:f32[2] = sni[k=('x', 1)] a in (c,) }\n";
    folder.write("f.jaxpr", kept);
    folder.prints("fmt f.jaxpr", kept);
    folder.fails(
        "check f.jaxpr",
        0,
        "note: `f33` is no element type that is known here: it is kept as text, and its values cannot be computed with
 |
 = help: did you mean `f32`?
note: `sni` is no primitive that is known here: it is kept as text, and cannot be run or transformed
 --> f.jaxpr:1:34
  |
1 | { lambda ; a:f32[2] b:f33[]. let c:f32[2] = sni[k=('x', 1)] a in (c,) }
  |                                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: did you mean `sin`?
",
    );
    folder.write(
        "g.jaxpr",
        "{ lambda ; . let\n    b:f32[] = straighten[k=1] 1.0:f32[]\n  in (b,) }\n",
    );
    folder.write(
        "h.jaxpr",
        "{ lambda ; a:f32[]. let\n    b:f32[] = straighten[k=1] a\n  in (b,) }\n",
    );
    let refused = |command: &str, operand: &str, what: &str| {
        let file = command.split(' ').nth(1).unwrap();
        let line = format!("b:f32[] = straighten[k=1] {operand}");
        let expected = format!(
            "error: primitive `straighten`: {what}: it is no primitive that is known here, only its text is kept
 --> {file}:2:5
  |
2 |     {line}
  |     {}
",
            "^".repeat(line.len())
        );
        folder.fails(command, 1, &expected);
    };
    refused("eval g.jaxpr", "1.0:f32[]", "it cannot be run");
    let compiled = "it cannot be compiled";
    refused("eval g.jaxpr --backend native", "1.0:f32[]", compiled);
    refused("lower g.jaxpr", "1.0:f32[]", compiled);
    refused("transform h.jaxpr --grad", "a", "it has no jvp rule");
    refused("transform h.jaxpr --jvp", "a", "it has no jvp rule");
    refused(
        "transform h.jaxpr --vmap in_axes=0,axis_size=2",
        "a",
        "it has no batching rule",
    );
}

#[test]
fn plans_and_stages_of_a_program_are_printed() {
    let folder = Folder::new("plan");
    folder.write(
        "p.jaxpr",
        "{ lambda ; a:f32[1000]. let b:f32[1000] = sin a; c:f32[1000] = sort[dimension=0 is_stable=True num_keys=1] b; d:f32[1000] = mul b c in (d,) }",
    );
    let printed = |arguments: &str| {
        let (status, text, message) = parts(&folder.run(arguments));
        assert_eq!((status, message), (Some(0), String::new()), "{arguments}");
        text
    };
    let plan = printed("check --plan p.jaxpr");
    let plan = plan.strip_prefix("p.jaxpr: ").expect("the file's name");
    assert!(plan.ends_with("4000 for its results\n"), "{plan}");
    assert_eq!(printed("check p.jaxpr"), "");
    let loops = printed("lower p.jaxpr");
    assert_eq!(
        loops.lines().next(),
        Some(format!("# {}", plan.trim_end()).as_str())
    );
    for (stage, part) in [
        ("jaxpr", "sort["),
        ("simplified", "sort["),
        ("graph", "= call sort(%1)  # equation 1 (sort, 1:50)"),
        ("plan", "= call sort(%1)  # equation 1 (sort, 1:50)"),
        ("loops", "call sort"),
        ("lanes", "# equation 0 (sin, 1:29)\nkernel k0"),
        ("clif", "function"),
        ("asm", "program:"),
    ] {
        let text = printed(&format!("lower p.jaxpr --emit {stage}"));
        assert!(text.contains(part), "{stage}: {text}");
    }
    let times = printed("lower p.jaxpr --time");
    let names: Vec<&str> = times
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    let stages = [
        "check", "simplify", "graph", "plan", "loops", "lanes", "kernels", "program", "total",
    ];
    assert_eq!(names, stages);
}

#[test]
fn compile_writes_an_object_and_its_header() {
    let folder = Folder::new("compile");
    folder.write("squares.jaxpr", SQUARES);
    let output = folder.run("compile squares.jaxpr -o squares.o");
    assert!(text(&output.stdout).ends_with("needs nothing; squares.h\n"));
    let header = folder.read("squares.h");
    let function = "int squares(const float *in0, float *out0, void *scratch);";
    assert!(text(&header).contains(function), "{}", text(&header));
    assert!(text(&header).contains("#define SQUARES_IN0_SHAPE {2}\n"));
    folder.run("compile squares.jaxpr --output other.o --name f --cpu x86-64-v2,x86-64-v3");
    assert!(text(&folder.read("other.h")).contains("int f("));
    folder.write(
        "sine.jaxpr",
        "{ lambda ; a:f32[2]. let b:f32[2] = sin a in (b,) }",
    );
    let output = folder.run("compile sine.jaxpr -o sine.o --cpu x86-64-v2");
    assert!(text(&output.stdout).ends_with("needs libm; sine.h\n"));
    let arm = "compile squares.jaxpr -o arm.o --target aarch64-unknown-linux-gnu";
    assert_eq!(folder.run(arm).status.code(), Some(0));
    // The machine that an ELF file is for.
    assert_eq!(folder.read("arm.o")[18], 183);
}

#[test]
fn what_objects_cannot_be_made_for_is_said() {
    let folder = Folder::new("compile_refused");
    folder.write("squares.jaxpr", SQUARES);
    for (arguments, status, why) in [
        ("--cpu i486", 2, "the processor i486; there are x86-64-v2"),
        ("--target sparc", 2, "the target sparc; there are x86_64"),
        (
            "--cpu v3 --target aarch64-linux-gnu",
            1,
            "code for x86-64-v3",
        ),
        ("--cpu v3,v3", 1, "a processor is named twice"),
        ("--cpu v3,native", 1, "native stands alone"),
        ("--name 3d", 1, "`3d` is no name of a function"),
        ("--name int", 1, "`int` is no name of a function"),
    ] {
        let output = folder.run(&format!("compile squares.jaxpr -o a.o {arguments}"));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments}: {said}");
        assert!(said.contains(why), "{arguments}: {said}");
    }
    assert_eq!(folder.names(), ["squares.jaxpr"]);
}

/// A part of the corpus that is quick to link, where there is a C compiler.
#[test]
fn objects_give_what_jax_gave() {
    let here = Folder::new("objects");
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/conformance");
    for cases in ["while", "switch", "scan_m", "vmap_all0"] {
        let arguments = format!("conformance {corpus} --json --filter {cases} --objects native");
        let output = here.run(&arguments);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["failures"], serde_json::json!([]), "{cases}");
        assert!(report["eval"]["pass"].as_u64() > Some(0), "{report}");
    }
}

/// Programs whose loops are long enough to be cut, tiled and made in partial results, and comparisons of elements that are not aligned: as one thread of this
/// process computes them.
#[test]
fn objects_give_the_same_bits_as_code_in_this_process() {
    let folder = Folder::new("object_bits");
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/objects");
    let (mut manifest, mut names) = (String::new(), Vec::new());
    for source in std::fs::read_dir(sources).unwrap() {
        let path = source.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        folder.write(&format!("{name}.jaxpr"), std::fs::read(&path).unwrap());
        // No tolerance is stated, and so there is none.
        manifest += &format!("{{\"name\":\"{name}\",\"group\":\"g\",\"arg_order\":[]}}\n");
        names.push(name.to_owned());
    }
    folder.write("manifest.jsonl", &manifest);
    for (backend, cpu) in [("native", "native"), ("native-portable", "x86-64-v2")] {
        if cpu == "x86-64-v2" && !cfg!(target_arch = "x86_64") {
            continue;
        }
        for name in &names {
            let eval = format!("eval {name}.jaxpr --backend {backend} --output {name}.npz");
            assert_eq!(folder.run(&eval).status.code(), Some(0), "{name}");
        }
        let output = folder.run(&format!("conformance . --json --objects {cpu}"));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["failures"], serde_json::json!([]));
        assert_eq!(report["eval"]["pass"], names.len(), "{report}");
    }
}
