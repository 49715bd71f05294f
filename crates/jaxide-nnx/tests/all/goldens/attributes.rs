//! Which attributes are data.

use std::collections::BTreeMap;

use jaxide::tree::{self, Tree};
use jaxide::{Array, nn};
use jaxide_nnx::{self as nnx, Attr, List, Object, Param, Result, Rngs, Variable, data, stat};
use serde_json::Value;

use super::case::Case;

fn arrays(count: usize) -> Vec<Attr> {
    (0..count).map(|_| Array::from([1.0f32]).into()).collect()
}

fn value(name: &str) -> Attr {
    let dict = |keys: &[&str]| -> BTreeMap<String, Attr> {
        keys.iter()
            .map(|key| ((*key).to_owned(), Array::from([1.0f32]).into()))
            .collect()
    };
    match name {
        "array" | "numpy_array" => Array::from([1.0f32]).into(),
        "str" => "text".into(),
        "int" => 3i64.into(),
        "float" => 0.5.into(),
        "none" => Attr::None,
        "list_of_ints" => vec![1i64.into(), 2i64.into()].into(),
        "list_of_arrays" => arrays(2).into(),
        "dict_of_arrays" => Attr::Dict(dict(&["k"])),
        "tuple_of_arrays" => Attr::Tuple(arrays(1)),
        "empty_list" => Vec::new().into(),
        "param" => Variable::<Param>::new([1.0f32]).into(),
        "pytree" => Object::new("Sub", |sub| sub.set("x", Array::from([1.0f32])))
            .expect("it is fine")
            .into(),
        "nnx_list_of_arrays" => Attr::Modules(arrays(2)),
        "nnx_dict_of_arrays" => Attr::ModuleDict(dict(&["b", "a"])),
        "list_with_annotations" => vec![data(Array::from([1.0f32])), stat(1i64)].into(),
        "list_of_params" => vec![Variable::<Param>::new([1.0f32]).into()].into(),
        "rngs" => Rngs::new(0).into(),
        "function" => (nn::relu as fn(&Array) -> Array).into(),
        other => panic!("{other} is no value"),
    }
}

fn assigned(item: &Value) -> (&str, Attr) {
    let value = value(item[1].as_str().expect("a value"));
    let value = match item[2].as_str() {
        Some("data") => data(value),
        Some("static") => stat(value),
        Some(other) => panic!("{other} is no mark"),
        None => value,
    };
    (item[0].as_str().expect("a name"), value)
}

fn build(case: &Case) -> Result<Object> {
    let items = |key: &str| case.0[key].as_array().expect("assignments").clone();
    let object = Object::new("Obj", |object| {
        for item in items("init") {
            let (name, value) = assigned(&item);
            object.set(name, value)?;
        }
        if let Some(name) = case.0["append_array_in_init"].as_str() {
            object.change(name, |value| match value {
                Attr::List(items) => items.push(Array::from([1.0f32]).into()),
                other => panic!("{other:?} is no list"),
            })?;
        }
        Ok(())
    })?;
    for item in items("after") {
        let (name, value) = assigned(&item);
        object.set(name, value)?;
    }
    Ok(object)
}

/// Where leaves are: arrays, and texts that are marked as data, which have no array.
fn leaf_paths(object: &Object) -> Vec<String> {
    fn walk(tree: &Tree<Array>, path: &mut tree::KeyPath, found: &mut Vec<String>) {
        match tree {
            Tree::Leaf(_) => found.push(path.to_string()),
            Tree::Node(node) if node.head().type_name() == "Leaf" => found.push(path.to_string()),
            Tree::Node(node) => {
                for (entry, child) in node.entries() {
                    walk(child, &mut path.child(entry), found);
                }
            }
        }
    }
    let mut found = Vec::new();
    walk(
        &Tree::from_value(object),
        &mut tree::KeyPath::root(),
        &mut found,
    );
    found
}

pub(super) fn status(case: &Case) {
    let built = build(case);
    if let Some(paths) = case.0["expect"]["leaf_paths"].as_array() {
        let object = built.unwrap_or_else(|error| panic!("{error}"));
        let paths: Vec<&str> = paths
            .iter()
            .map(|path| path.as_str().expect("a path"))
            .collect();
        assert_eq!(leaf_paths(&object), paths);
        // What is taken apart can be put together again.
        let (graph_def, state) = nnx::split(&object, ..).expect("it can be split");
        let again: Object = nnx::merge(&graph_def, state).expect("it can be merged");
        assert_eq!(leaf_paths(&again), paths, "after split and merge");
        assert_eq!(nnx::graph_def(&again).expect("it has one"), graph_def);
        return;
    }
    let error = match built {
        Ok(_) => panic!("an error is expected: {}", case.0["error"]),
        Err(error) => error.message().to_owned(),
    };
    let attribute = case.0["error"]["must_name"]["attribute"]
        .as_str()
        .expect("a name");
    assert!(error.contains(&format!("'{attribute}'")), "{error}");
    let says = match case.0["error"]["kind"].as_str().expect("a kind") {
        "data_annotated_static" => "marked as static",
        "data_to_static_attribute" => "is assigned to static attribute",
        "data_in_static_on_assignment" => "data in a",
        "data_in_static_after_init" => "was put into",
        "nested_annotation" => "a marked value stands inside",
        other => panic!("{other} is no kind"),
    };
    assert!(error.contains(says), "{error}");
}

pub(super) fn is_data(case: &Case) {
    let expected = case.0["result"].as_bool().expect("yes or no");
    let name = case.str("value");
    assert_eq!(value(name).is_data(), expected, "of an object");
    // What types say, for those that can be attributes of a derived module.
    let of_type = match name {
        "array" | "numpy_array" => nnx::is_data(&Array::from(1.0f32)),
        "param" => nnx::is_data(&Variable::<Param>::new(1.0f32)),
        "rngs" => nnx::is_data(&Rngs::new(0)),
        "pytree" => nnx::is_data(&Object::new("Sub", |_| Ok(())).expect("it is fine")),
        "nnx_list_of_arrays" => nnx::is_data(&List(vec![Array::from(1.0f32)])),
        "str" => nnx::is_data(&"text"),
        "int" => nnx::is_data(&3i64),
        "float" => nnx::is_data(&0.5f64),
        "none" => nnx::is_data(&None::<i64>),
        "function" => nnx::is_data(&(nn::relu as fn(&Array) -> Array)),
        // `tests/compile_fail/vector_of_arrays.rs`, `tuple_of_arrays.rs`
        "list_of_arrays" | "tuple_of_arrays" => false,
        other => panic!("{other} is no value"),
    };
    assert_eq!(of_type, expected, "by its type");
}
