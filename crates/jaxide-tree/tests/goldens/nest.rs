//! `nest.json`.

use jaxide_tree::nest::{self, CheckTypes, NestError, NestErrorKind};
use jaxide_tree::{FetchMap, KeyEntry, KeyPath, Schema, StructureError, Tree};
use serde_json::Value as Json;

use crate::Outcome;
use crate::check::{Failure, equal};
use crate::value::{self, Nones, Value, list, text};

/// A result, or the error to compare with the recorded one.
type Tried<T> = Result<T, Failure>;

pub(crate) fn case(case: &Json) -> Outcome {
    let op = match text(&case["op"]).as_str() {
        "nest_flatten" => flatten,
        "nest_unflatten_as" => unflatten_as,
        "nest_map" => map,
        "nest_map_with_path" => map_with_path,
        "nest_flatten_up_to" => flatten_up_to,
        "nest_map_up_to" => map_up_to,
        "nest_assert_same" => assert_same,
        "fetch_unique" => fetch_unique,
        "adapter" => adapter,
        other => return Err(format!("unknown op {other}")),
    };
    match op(case) {
        Ok(outcome) if case.get("error").is_none() => outcome,
        Ok(_) => Err(format!(
            "succeeds, instead of the error {}",
            case["error"]["message"]
        )),
        Err(failure) => failure.check(case),
    }
}

fn flatten(case: &Json) -> Tried<Outcome> {
    let input = decode(&case["input"])?;
    let (paths, leaves): (Vec<_>, Vec<_>) = nest::flatten_with_path(&input)
        .map_err(failure)?
        .into_iter()
        .unzip();
    let without_paths = nest::flatten(&input).map_err(failure)?;
    let expect = &case["expect"];
    Ok((|| {
        equal("leaves without paths", &without_paths, &leaves)?;
        equal(
            "leaves",
            leaves.into_iter().cloned().collect(),
            many(&expect["leaves"]),
        )?;
        equal(
            "paths",
            Json::from_iter(paths.iter().map(plain)),
            expect["paths"].clone(),
        )?;
        equal(
            "is_nested",
            Json::from(nest::is_nested(&input)),
            expect["is_nested"].clone(),
        )
    })())
}

fn unflatten_as(case: &Json) -> Tried<Outcome> {
    let structure = decode(&case["structure"])?;
    let flat = many(&case["flat"]);
    let result = nest::pack_sequence_as(&structure, flat).map_err(failure)?;
    Ok(equal("result", result, value(&case["expect"]["result"])))
}

fn map(case: &Json) -> Tried<Outcome> {
    let inputs = many(&case["inputs"]);
    let structures: Vec<&Tree<Value>> = inputs.iter().collect();
    let f = |args: &[&Tree<Value>]| function(&text(&case["fn"]), args);
    let result = nest::map_structure(f, &structures, check_types(case)).map_err(failure)?;
    Ok(equal("result", result, value(&case["expect"]["result"])))
}

/// The functions that the cases name.
fn function(name: &str, args: &[&Tree<Value>]) -> Tree<Value> {
    let int = |tree: &&Tree<Value>| tree.as_leaf().expect("a leaf").int();
    match name {
        "add" => Tree::Leaf(Value::Int(args.iter().map(int).sum())),
        "neg" => Tree::Leaf(Value::Int(-int(&args[0]))),
        "pair" => Tree::tuple(args.iter().copied().cloned()),
        other => panic!("unknown function {other}"),
    }
}

fn map_with_path(case: &Json) -> Tried<Outcome> {
    let inputs = many(&case["inputs"]);
    let structures: Vec<&Tree<Value>> = inputs.iter().collect();
    let f = |path: &KeyPath, args: &[&Tree<Value>]| {
        let args: Vec<_> = args.iter().map(ToString::to_string).collect();
        Tree::Leaf(Value::Str(format!(
            "{}={}",
            path.simple("/"),
            args.join(",")
        )))
    };
    let result = nest::map_structure_with_path(f, &structures).map_err(failure)?;
    Ok(equal("result", result, value(&case["expect"]["result"])))
}

fn flatten_up_to(case: &Json) -> Tried<Outcome> {
    let (shallow, deep) = (decode(&case["shallow"])?, decode(&case["deep"])?);
    let named = |error: NestError| {
        failure(error.name_leaf(|path| {
            deep.get(path)
                .and_then(Tree::as_leaf)
                .expect("a leaf is in the way")
                .type_name()
                .into()
        }))
    };
    let parts = nest::flatten_with_path_up_to(&shallow, &deep, check_types(case)).map_err(named)?;
    let (paths, parts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let expect = &case["expect"];
    Ok((|| {
        equal(
            "subtrees",
            parts.into_iter().cloned().collect(),
            many(&expect["subtrees"]),
        )?;
        equal(
            "paths",
            Json::from_iter(paths.iter().map(plain)),
            expect["paths"].clone(),
        )
    })())
}

fn map_up_to(case: &Json) -> Tried<Outcome> {
    let (shallow, inputs) = (decode(&case["shallow"])?, many(&case["inputs"]));
    let structures: Vec<&Tree<Value>> = inputs.iter().collect();
    let f = |args: &[&Tree<Value>]| function(&text(&case["fn"]), args);
    let result = nest::map_structure_up_to(&shallow, f, &structures).map_err(failure)?;
    Ok(equal("result", result, value(&case["expect"]["result"])))
}

fn assert_same(case: &Json) -> Tried<Outcome> {
    let (a, b) = (decode(&case["a"])?, decode(&case["b"])?);
    nest::assert_same_structure(&a, &b, check_types(case)).map_err(failure)?;
    Ok(equal(
        "same",
        Json::from(true),
        case["expect"]["same"].clone(),
    ))
}

fn fetch_unique(case: &Json) -> Tried<Outcome> {
    let fetches = decode(&case["fetches"])?;
    let map = FetchMap::by_key(&fetches, Value::to_string);
    let results: Vec<_> = (100..100 + map.unique().len() as i64)
        .map(Value::Int)
        .collect();
    let rebuilt: Tree<Value> = map.rebuild(&results)?;
    let expect = &case["expect"];
    Ok((|| {
        let unique = map.unique().iter().cloned().map(Tree::Leaf).collect();
        equal("unique", unique, many(&expect["unique"]))?;
        equal("index", Json::from(map.index()), expect["index"].clone())?;
        equal("rebuilt", rebuilt, value(&expect["rebuilt_100"]))
    })())
}

fn adapter(case: &Json) -> Tried<Outcome> {
    // `None` is a constant of the schema like any other.
    let leaves = |json: &Json| value::decode(json, Nones::Leaves).expect("keys with an order");
    let (flat, schema) = Schema::split(&leaves(&case["input"]), |leaf| {
        matches!(leaf, Value::Array { .. })
    });
    let hundreds = (100..100 + flat.len() as i64).map(Value::Int).collect();
    let rebuilt: Tree<Value> = schema.rebuild(hundreds)?;
    let expect = &case["expect"];
    let many = |json: &Json| list(json).iter().map(leaves).collect::<Vec<_>>();
    Ok((|| {
        equal(
            "flat",
            flat.into_iter().map(Tree::Leaf).collect(),
            many(&expect["flat"]),
        )?;
        let constants = schema.constants().cloned().map(Tree::Leaf).collect();
        equal("constants", constants, many(&expect["constants"]))?;
        equal("rebuilt", rebuilt, leaves(&expect["rebuilt_100"]))
    })())
}

fn failure(error: NestError) -> Failure {
    let kind = match error.kind() {
        NestErrorKind::Type { .. } => "type",
        NestErrorKind::Length { .. } => "length",
        NestErrorKind::Keys { .. } | NestErrorKind::MissingKeys { .. } => "keys",
        NestErrorKind::SequenceVsLeaf { .. } => "sequence_vs_leaf",
        NestErrorKind::Count { .. } => "count",
        NestErrorKind::UnsortableKeys { .. } => "unsortable_keys",
        other => panic!("a kind that is not in the goldens: {other:?}"),
    };
    Failure::new(kind, &error)
}

fn check_types(case: &Json) -> CheckTypes {
    if case["check_types"] == true {
        CheckTypes::Yes
    } else {
        CheckTypes::No
    }
}

/// A path as a list of bare keys.
fn plain(path: &KeyPath) -> Json {
    Json::from_iter(path.iter().map(|entry| match entry {
        KeyEntry::Seq(i) | KeyEntry::Flat(i) => Json::from(*i),
        KeyEntry::Attr(name) => Json::from(name.as_ref()),
        KeyEntry::Dict(jaxide_tree::Key::Int(i)) => Json::from(*i as i64),
        KeyEntry::Dict(key) => Json::from(key.plain()),
    }))
}

fn decode(json: &Json) -> Result<Tree<Value>, StructureError> {
    value::decode(json, Nones::Nodes)
}

/// An expected value, or an input whose keys have an order.
fn value(json: &Json) -> Tree<Value> {
    decode(json).expect("keys with an order")
}

fn many(json: &Json) -> Vec<Tree<Value>> {
    list(json).iter().map(value).collect()
}
