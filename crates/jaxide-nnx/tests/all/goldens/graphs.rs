//! Splitting, printing, and what is shared.

use std::sync::Arc;

use jaxide::{Array, DType};
use jaxide_nnx::{
    self as nnx, Attr, BatchNorm, BatchStat, Linear, List, Module, Object, Param, Path, Rngs,
    Variable,
};

use super::case::Case;

#[derive(Clone, Module)]
struct Shared {
    x: Array,
}

#[derive(Clone, Module)]
struct Parent {
    left: Arc<Shared>,
    right: Arc<Shared>,
}

fn parent() -> Parent {
    let shared = Arc::new(Shared {
        x: jaxide::numpy::asarray(1.0, ()),
    });
    Parent {
        left: shared.clone(),
        right: shared,
    }
}

/// A module of the recorded program: variables of several element types, a number that is data, a list.
#[derive(Clone, Module)]
struct P2 {
    z: Variable<Param>,
    a: Variable<BatchStat>,
    #[nnx(data)]
    n: i64,
    l: List<Variable<Param>>,
    name: &'static str,
}

fn p2() -> P2 {
    let flag = Array::scalar(true);
    let zeros = Array::from([0.0f32, 0.0]).astype(DType::BF16);
    P2 {
        z: Variable::new(Array::zeros([2, 3], DType::F32)),
        a: Variable::new(Array::ones([4], DType::I32)),
        n: 3,
        l: List(vec![Variable::new(flag), Variable::new(zeros)]),
        name: "p2",
    }
}

pub(super) fn print_state(case: &Case) {
    let rngs = Rngs::new(0);
    let state = match case.id() {
        "print_state/000" => nnx::state(&parent(), ..),
        "print_state/001" => {
            let linear = Linear::new(1, 2, &rngs, ());
            linear.kernel.set([[1.0f32, 2.0]]);
            nnx::state(&linear, ..)
        }
        "print_state/002" => nnx::state(&BatchNorm::new(2, &rngs, ()), ..),
        "print_state/003" => nnx::state(&BatchNorm::new(2, &rngs, ()), BatchStat),
        "print_state/004" => nnx::state(&p2(), ..),
        other => panic!("{other} is not known"),
    };
    assert_eq!(state.expect("it has a state").to_string(), case.str("text"));
}

fn paths(state: &nnx::State) -> Vec<String> {
    state.paths().map(ToString::to_string).collect()
}

pub(super) fn split(case: &Case) {
    let model = p2();
    assert_eq!(model.name, "p2");
    match case.id() {
        "split/000" => {
            let (_, state) = nnx::split(&model, ..).expect("it can be split");
            assert_eq!(serde_json::json!(paths(&state)), case.0["paths"]);
        }
        "split/001" => {
            let (graph_def, (params, rest)) =
                nnx::split(&model, (Param, ..)).expect("it can be split");
            assert_eq!(
                serde_json::json!([paths(&params), paths(&rest)]),
                case.0["paths"]
            );
            let again: P2 = nnx::merge(&graph_def, (params, rest)).expect("it can be merged");
            assert_eq!(again.n, 3);
        }
        other => panic!("{other} is not known"),
    }
}

pub(super) fn split_error(case: &Case) {
    let model = p2();
    let error = match case.id() {
        "split_error/000" => nnx::split(&model, Param).expect_err("a part is left"),
        "split_error/001" => nnx::split(&model, (.., Param)).expect_err("`..` is not the last"),
        other => panic!("{other} is not known"),
    };
    let recorded = case.str("message");
    // The remainder is printed as Flax prints it.
    if let Some(start) = recorded.find("FlatState(") {
        let end = recorded.rfind("])").expect("it ends") + 2;
        assert!(error.message().contains(&recorded[start..end]), "{error}");
    } else {
        assert!(
            error.message().contains("can only be the last filter"),
            "{error}"
        );
        assert!(error.message().contains("index 0"), "{error}");
    }
}

pub(super) fn find_duplicates(case: &Case) {
    let found = match case.id() {
        "find_duplicates/000" => nnx::find_duplicates(&parent()),
        "find_duplicates/001" => {
            let inner = Object::new("S", |s| s.set("x", Array::from(1.0f32))).expect("it is fine");
            let v = Variable::<Param>::new(1.0f32);
            let outer = Object::new("T", |t| {
                t.set("a", inner.clone())?;
                let other = Object::new("S", |s| s.set("x", Array::from(1.0f32)))?;
                t.set(
                    "b",
                    Attr::Modules(vec![
                        inner.clone().into(),
                        other.into(),
                        inner.clone().into(),
                    ]),
                )?;
                t.set("v", v.clone())?;
                t.set("w", v.clone())
            });
            nnx::find_duplicates(&outer.expect("it is fine"))
        }
        other => panic!("{other} is not known"),
    };
    let json = |path: &Path| -> Vec<serde_json::Value> {
        path.iter()
            .map(|key| match key {
                nnx::Key::Index(index) => serde_json::json!(index),
                nnx::Key::Name(name) => serde_json::json!(name),
            })
            .collect()
    };
    let found: Vec<Vec<_>> = found
        .iter()
        .map(|paths| paths.iter().map(json).collect())
        .collect();
    assert_eq!(serde_json::json!(found), case.0["result"]);
}
