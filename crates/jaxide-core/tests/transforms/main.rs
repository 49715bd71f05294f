//! Transformations against JAX: the base text of a case, its steps applied, compared with the expected numbers and with
//! the text that JAX writes.
//!
//! Runs over the corpus that `JAXIDE_CONFORMANCE` names, or the shared one where it is found. `TRANSFORMS=substring`
//! selects cases and shows what differs.

mod goldens;
mod laws;
mod npz;
mod programs;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use jaxide_core::eval::eval;
use jaxide_core::jaxpr::parse;
use jaxide_core::jaxpr::text_compare::same_up_to_names;
use jaxide_core::prims::Name;
use jaxide_core::transform::{Step, apply};
use jaxide_core::{ClosedJaxpr, DType, Scalar, Tensor};
use serde_json::Value;

/// Cases whose text differs, by base: JAX's text has functions of the program that the base's text gives by name only.
/// Their numbers agree all the same.
const OTHER_TEXTS: [(&str, &str); 4] = [
    (
        "custom_jvp",
        "jvp vjp linearize vmap_of_jvp grad value_and_grad vmap_of_grad grad_of_jit jit_of_grad grad_of_checkpoint \
         hessian jvp_of_grad vjp_of_grad",
    ),
    (
        "custom_vjp",
        "vjp vjp_last grad value_and_grad vmap_of_grad grad_of_jit jit_of_grad grad_of_checkpoint vjp_of_grad \
         vjp_of_vmap",
    ),
    (
        "custom_root",
        "jvp vjp linearize vmap_of_jvp grad value_and_grad vmap_of_grad grad_of_jit jit_of_grad grad_of_checkpoint \
         hessian jvp_of_grad vjp_of_grad jacfwd vjp_of_vmap",
    ),
    // Of two equal jaxprs JAX shares one less, which its caches decide.
    ("linear_solve_cg", "jacrev"),
];

/// Whether the text of a case is known to differ.
fn text_differs(name: &str) -> bool {
    let Some((base, kind)) = name.split_once("__") else {
        return false;
    };
    let mut listed = OTHER_TEXTS.iter();
    listed.any(|(known, kinds)| *known == base && kinds.split_whitespace().any(|k| k == kind))
}

/// A folder with a manifest: `transforms` of a corpus, or the folder named itself; else the selection kept here.
fn corpus() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let named = std::env::var_os("JAXIDE_CONFORMANCE").map(PathBuf::from);
    let places = match &named {
        Some(named) => vec![named.join("transforms"), named.clone()],
        None => vec![
            root.join("../shared/conformance/transforms"),
            root.join("tests/conformance/transforms"),
        ],
    };
    places
        .into_iter()
        .find(|folder| folder.join("manifest.jsonl").exists())
        .expect("a corpus")
}

fn step(value: &Value) -> Step {
    let numbers = |key: &str| -> Vec<usize> {
        let list = value[key].as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter()
            .filter_map(|n| Some(n.as_u64()? as usize))
            .collect()
    };
    let argnums = numbers("argnums");
    match value["op"].as_str().expect("a step") {
        "jvp" => Step::Jvp {
            argnums,
            tangent_outs: numbers("tangent_outs"),
        },
        "linearize" => Step::Linearize {
            argnums,
            tangent_outs: numbers("tangent_outs"),
        },
        "vjp" => Step::Vjp {
            argnums,
            cotangent_outs: numbers("cotangent_outs"),
        },
        "grad" => Step::Grad { argnums },
        "value_and_grad" => Step::ValueAndGrad { argnums },
        "jacfwd" => Step::Jacfwd { argnums },
        "jacrev" => Step::Jacrev { argnums },
        "hessian" => Step::Hessian { argnums },
        "vmap" => Step::Vmap {
            in_axes: value["in_axes"]
                .as_array()
                .expect("axes")
                .iter()
                .map(Value::as_i64)
                .collect(),
            out_axes: value["out_axes"].as_i64().expect("an axis"),
            axis_size: value["axis_size"].as_u64().expect("a size") as usize,
            axis_name: value["axis_name"].as_str().map(Name::new),
        },
        "jit" => Step::Jit {
            name: Name::new("g"),
        },
        "checkpoint" => Step::Checkpoint,
        other => panic!("the step {other}"),
    }
}

/// What came of a case: `Ok`, or the first words of what went wrong.
struct Outcome {
    text: Result<(), String>,
    numbers: Result<(), String>,
}

fn arrays(folder: &Path, row: &Value) -> HashMap<String, Tensor> {
    let storage = row["storage"].as_object().into_iter().flatten();
    let storage = storage
        .filter_map(|(name, dtype)| Some((name.clone(), DType::from_numpy_name(dtype.as_str()?)?)))
        .collect();
    let path = folder.join(format!("{}.npz", row["name"].as_str().expect("a name")));
    npz::read(&std::fs::read(path).expect("the arrays"), &storage)
}

/// The values of a jaxpr's constvars.
fn constants(jaxpr: &ClosedJaxpr, arrays: &HashMap<String, Tensor>) -> Vec<Tensor> {
    let members = 0..jaxpr.jaxpr.constvars.len();
    members
        .map(|index| arrays[&format!("const{index}")].clone())
        .collect()
}

/// The base of a case with its constants.
fn base(folder: &Path, row: &Value) -> Result<ClosedJaxpr, String> {
    let name = row["base"].as_str().expect("a base");
    let text = std::fs::read_to_string(folder.join(format!("{name}.jaxpr"))).expect("a base");
    let mut jaxpr = parse(&text).map_err(|error| format!("parse: {error}"))?;
    if !jaxpr.jaxpr.constvars.is_empty() {
        let own = serde_json::json!({ "name": name });
        jaxpr.consts = constants(&jaxpr, &arrays(folder, &own));
    }
    Ok(jaxpr)
}

fn run(folder: &Path, row: &Value, verbose: bool) -> Outcome {
    let name = row["name"].as_str().expect("a name");
    let file = |name: &str| std::fs::read_to_string(folder.join(name));
    let want = file(&format!("{name}.frombase.jaxpr"))
        .or_else(|_| file(&format!("{name}.jaxpr")))
        .expect("the text");
    let transformed = base(folder, row).and_then(|base| {
        let steps = row["transforms"].as_array().expect("steps");
        steps.iter().try_fold(base, |jaxpr, value| {
            apply(&jaxpr, &step(value)).map_err(|error| error.to_string().replace('\n', " "))
        })
    });
    let jaxpr = match transformed {
        Ok(jaxpr) => jaxpr,
        Err(error) => {
            return Outcome {
                text: Err(error.clone()),
                numbers: Err(error),
            };
        }
    };
    let got = jaxpr.to_string();
    let text = if same_up_to_names(&got, &want) {
        Ok(())
    } else {
        if verbose {
            println!("--- {name}: got\n{got}\n--- want\n{want}");
        }
        Err("differs".to_owned())
    };
    Outcome {
        text,
        numbers: numbers(folder, row, jaxpr),
    }
}

fn numbers(folder: &Path, row: &Value, jaxpr: ClosedJaxpr) -> Result<(), String> {
    let arrays = arrays(folder, row);
    let args: Vec<Tensor> = row["arg_order"]
        .as_array()
        .expect("arguments")
        .iter()
        .map(|name| arrays[name.as_str().expect("a name")].clone())
        .collect();
    let got = eval(&jaxpr, &args).map_err(|error| format!("eval: {error}").replace('\n', " "))?;
    if row["compare"] == "nonunique" {
        return Ok(());
    }
    let tolerances = row["tol"].as_array().expect("tolerances");
    if got.len() != tolerances.len() {
        return Err(format!(
            "{} results, {} expected",
            got.len(),
            tolerances.len()
        ));
    }
    for (index, (got, tolerance)) in got.iter().zip(tolerances).enumerate() {
        let want = &arrays[&format!("out{index}")];
        if got.dtype() != want.dtype() || got.shape() != want.shape() {
            return Err(format!(
                "result {index} is {}, {} expected",
                got.aval(),
                want.aval()
            ));
        }
        let tolerance = [0, 1].map(|part| tolerance[part].as_f64().expect("a tolerance"));
        for element in 0..got.len() {
            let (a, b) = (got.scalar_at(element), want.scalar_at(element));
            if !close(a, b, tolerance) {
                return Err(format!(
                    "result {index} element {element} is {a:?}, {b:?} expected"
                ));
            }
        }
    }
    Ok(())
}

fn close(got: Option<Scalar>, want: Option<Scalar>, [relative, absolute]: [f64; 2]) -> bool {
    let parts = |x: Option<Scalar>| x.map_or((f64::NAN, f64::NAN), Scalar::as_complex);
    let ((a, b), (c, d)) = (parts(got), parts(want));
    let nan = |re: f64, im: f64| re.is_nan() || im.is_nan();
    if nan(a, b) || nan(c, d) {
        return nan(a, b) && nan(c, d);
    }
    let distance = (a - c).hypot(b - d);
    (a == c && b == d) || distance <= absolute.max(1.2e-38) + relative * c.hypot(d)
}

#[test]
fn transformed_texts_and_numbers_are_those_of_jax() {
    let folder = corpus();
    let selected = std::env::var("TRANSFORMS").ok();
    let verbose = selected.is_some();
    let selected = selected.unwrap_or_default();
    let manifest = std::fs::read_to_string(folder.join("manifest.jsonl")).expect("a manifest");
    let rows: Vec<Value> = manifest
        .lines()
        .map(|line| serde_json::from_str(line).expect("a row"))
        .filter(|row: &Value| row["transforms"].is_array())
        .filter(|row| {
            row["name"]
                .as_str()
                .is_some_and(|name| name.contains(&selected))
        })
        .collect();
    let (mut texts, mut numbers) = (0, 0);
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in &rows {
        let outcome = run(&folder, row, verbose);
        let name = row["name"].as_str().expect("a name").to_owned();
        for (kind, result, count) in [
            ("text", outcome.text, &mut texts),
            ("numbers", outcome.numbers, &mut numbers),
        ] {
            match result {
                Ok(()) => *count += 1,
                Err(error) => {
                    let cause: String = error.chars().take(110).collect();
                    failures
                        .entry(format!("{kind}: {cause}"))
                        .or_default()
                        .push(name.clone());
                }
            }
        }
    }
    for (cause, names) in &failures {
        println!("{:4} {cause}\n       {}", names.len(), names.join(" "));
    }
    println!("{} cases: numbers {numbers}, text {texts}", rows.len());
    let (other_texts, mistakes): (Vec<_>, Vec<_>) = failures
        .iter()
        .partition(|(cause, _)| cause.as_str() == "text: differs");
    assert!(mistakes.is_empty(), "{mistakes:?}");
    let got: BTreeSet<&str> = other_texts
        .iter()
        .flat_map(|(_, names)| names.iter().map(String::as_str))
        .collect();
    let names = rows.iter().filter_map(|row| row["name"].as_str());
    let want: BTreeSet<&str> = names.filter(|name| text_differs(name)).collect();
    assert_eq!(got, want);
}
