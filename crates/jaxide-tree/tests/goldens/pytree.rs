//! `pytree.json`.

use jaxide_tree::axes::{self, AxesError, Axis};
use jaxide_tree::{self as tree, Head, KeyEntry, KeyPath, Tree, TreeDef};
use serde_json::Value as Json;

use crate::Outcome;
use crate::check::{Failure, equal};
use crate::value::{self, Nones, Value, entry, list, text};

/// A result, or the error to compare with the recorded one.
type Tried<T> = Result<T, Failure>;

pub(crate) fn case(case: &Json) -> Outcome {
    let op = match text(&case["op"]).as_str() {
        "flatten" => flatten,
        "map" => map,
        "map_with_path" => map_with_path,
        "unflatten" => unflatten,
        "treedef_eq" => treedef_eq,
        "treedef_compose" => treedef_compose,
        "treedef_children" => treedef_children,
        "broadcast_prefix" => broadcast_prefix,
        "flatten_up_to" => flatten_up_to,
        "vmap_axes" => vmap_axes,
        "transpose" => transpose,
        "reduce" => reduce,
        "all" => all,
        "all_leaves" => all_leaves,
        "flatten_one_level" => flatten_one_level,
        "jacobian_structure" => jacobian_structure,
        "placeholder" => placeholder,
        "keystr" => keystr,
        other => return Err(format!("unknown op {other}")),
    };
    match op(case) {
        Ok(outcome) if case.get("error").is_none() => outcome,
        // Trees that only have the right number of leaves are refused here.
        Err(failure) if case["expect"]["only_leaf_count_matched"] == true => {
            equal("kind of error", failure.kind, "transpose_mismatch")
        }
        Ok(_) => Err(format!(
            "succeeds, instead of the error {}",
            case["error"]["message"]
        )),
        Err(failure) => failure.check(case),
    }
}

fn flatten(case: &Json) -> Tried<Outcome> {
    let input = decode(&case["input"])?;
    let cut = input.cut(is_leaf(case));
    let treedef = cut.structure();
    let paths = treedef.key_paths();
    let hundreds: Tree<Value> =
        treedef.unflatten((100..100 + treedef.num_leaves() as i64).map(Value::Int))?;
    let expect = &case["expect"];
    let strings = |json: &Json| list(json).iter().map(text).collect::<Vec<_>>();
    Ok((|| {
        equal(
            "leaves",
            cut.leaves().into_iter().copied().cloned().collect(),
            many(&expect["leaves"]),
        )?;
        equal("treedef", treedef.to_string(), text(&expect["treedef"]))?;
        equal(
            "legacy treedef",
            treedef.legacy(),
            text(&expect["treedef_legacy"]),
        )?;
        equal(
            "number of leaves",
            Json::from(treedef.num_leaves()),
            expect["num_leaves"].clone(),
        )?;
        equal(
            "number of nodes",
            Json::from(treedef.num_nodes()),
            expect["num_nodes"].clone(),
        )?;
        let expected_paths = list(&expect["key_paths"]).iter().map(path).collect();
        equal("key paths", paths.clone(), expected_paths)?;
        equal(
            "keystr",
            paths.iter().map(KeyPath::keystr).collect(),
            strings(&expect["keystr"]),
        )?;
        let simple = paths.iter().map(|path| path.simple("/")).collect();
        equal("simple keystr", simple, strings(&expect["keystr_simple"]))?;
        equal("rebuilt tree", hundreds, value(&expect["unflatten_100"]))?;
        equal(
            "hash",
            tree::structure_hash::<&Tree<Value>, _>(&cut),
            tree::structure_hash::<&Tree<Value>, _>(
                &treedef
                    .unflatten::<Tree<&Tree<Value>>, _>(cut.leaves().into_iter().copied())
                    .unwrap(),
            ),
        )?;
        equal(
            "whether the tree matches its treedef",
            treedef.matches::<&Tree<Value>, _>(&cut),
            true,
        )
    })())
}

fn map(case: &Json) -> Tried<Outcome> {
    let inputs = decode_all(&case["inputs"])?;
    let first = inputs[0].cut(is_leaf(case));
    let rest: Vec<&Tree<Value>> = inputs[1..].iter().collect();
    let treedef = first.structure();
    rest.iter()
        .try_for_each(|tree| subtrees(&treedef, tree).map(|_| ()))?;
    let result = first
        .map_up_to(&rest, |leaf, rest| {
            let mut args = vec![*leaf];
            args.extend(rest);
            function(&text(&case["fn"]), &args)
        })?
        .join();
    let expect = &case["expect"];
    Ok(
        equal("result", &result, &value(&expect["result"])).and_then(|()| {
            equal(
                "treedef",
                result.structure().to_string(),
                text(&expect["treedef"]),
            )
        }),
    )
}

/// The functions that the cases name, of whole subtrees.
fn function(name: &str, args: &[&Tree<Value>]) -> Tree<Value> {
    let int = |i: usize| args[i].as_leaf().expect("a leaf").int();
    let leaf = |i| Tree::Leaf(Value::Int(i));
    match name {
        "add" => leaf((0..args.len()).map(int).sum()),
        "neg" => leaf(-int(0)),
        "mul10" => leaf(10 * int(0)),
        "pair" => Tree::tuple(args.iter().copied().cloned()),
        "second" => args[1].clone(),
        "to_none" => Tree::none(),
        "wrap_list" => Tree::list([args[0].clone()]),
        "dup_dict" => Tree::dict([("l", args[0].clone()), ("r", args[0].clone())]).unwrap(),
        "is_none_to_zero" if args[0].is_none() => leaf(0),
        "is_none_to_zero" => args[0].clone(),
        other => panic!("unknown function {other}"),
    }
}

fn map_with_path(case: &Json) -> Tried<Outcome> {
    let inputs = decode_all(&case["inputs"])?;
    let rest: Vec<&Tree<Value>> = inputs[1..].iter().collect();
    let mut paths = inputs[0].structure().key_paths().into_iter();
    let result = inputs[0].map_up_to(&rest, |leaf, rest| {
        let args = std::iter::once(leaf.to_string()).chain(rest.iter().map(ToString::to_string));
        let args = args.collect::<Vec<_>>().join(",");
        Value::Str(format!(
            "{}={args}",
            paths.next().expect("a path for every leaf")
        ))
    })?;
    Ok(equal("result", result, value(&case["expect"]["result"])))
}

fn unflatten(case: &Json) -> Tried<Outcome> {
    let treedef = decode(&case["example"])?.structure();
    let leaves = decode_all(&case["leaves"])?;
    let result: Tree<Tree<Value>> = treedef.unflatten(leaves)?;
    Ok(equal(
        "result",
        result.join(),
        value(&case["expect"]["result"]),
    ))
}

fn treedef_eq(case: &Json) -> Tried<Outcome> {
    use std::hash::{BuildHasher, RandomState};
    let (a, b) = (decode(&case["a"])?, decode(&case["b"])?);
    let (a_def, b_def) = (a.structure(), b.structure());
    let expect = &case["expect"];
    let hashes = RandomState::new();
    let expected = expect["equal"] == true;
    Ok((|| {
        equal("equality", a_def == b_def, expected)?;
        equal(
            "equality of hashes",
            hashes.hash_one(&a_def) == hashes.hash_one(&b_def),
            expected,
        )?;
        equal(
            "whether a has the structure of b",
            b_def.matches::<Value, _>(&a),
            expected,
        )?;
        let structural = |tree| tree::structure_hash::<Value, _>(tree);
        equal(
            "equality of structural hashes",
            structural(&a) == structural(&b),
            expected,
        )?;
        equal("a", a_def.to_string(), text(&expect["a"]))?;
        equal("b", b_def.to_string(), text(&expect["b"]))
    })())
}

fn treedef_compose(case: &Json) -> Tried<Outcome> {
    let outer = decode(&case["outer"])?.structure();
    let composed = outer.compose(&decode(&case["inner"])?.structure());
    let expect = &case["expect"];
    Ok((|| {
        equal("treedef", composed.to_string(), text(&expect["treedef"]))?;
        equal(
            "number of leaves",
            Json::from(composed.num_leaves()),
            expect["num_leaves"].clone(),
        )?;
        equal(
            "number of nodes",
            Json::from(composed.num_nodes()),
            expect["num_nodes"].clone(),
        )
    })())
}

fn treedef_children(case: &Json) -> Tried<Outcome> {
    let treedef = decode(&case["input"])?.structure();
    let children = treedef.children();
    let expect = &case["expect"];
    Ok((|| {
        let texts = children.iter().map(TreeDef::to_string).collect::<Vec<_>>();
        equal(
            "children",
            texts,
            list(&expect["children"]).iter().map(text).collect(),
        )?;
        equal(
            "is_leaf",
            Json::from(treedef.is_leaf()),
            expect["is_leaf"].clone(),
        )?;
        let pair = TreeDef::tuple(&[treedef.clone(), treedef.clone()]);
        equal(
            "tuple_of_two",
            pair.to_string(),
            text(&expect["tuple_of_two"]),
        )?;
        // A treedef is its head and its children.
        match treedef.node_data() {
            Some(head) => equal("rebuilt treedef", &TreeDef::node(head, &children), &treedef),
            None => equal("treedef of a leaf", &TreeDef::leaf(), &treedef),
        }
    })())
}

fn broadcast_prefix(case: &Json) -> Tried<Outcome> {
    let (prefix, full) = (decode(&case["prefix"])?, decode(&case["full"])?);
    let prefix = prefix.cut(is_leaf(case));
    let treedef = full.structure();
    if let Some(error) = prefix
        .structure()
        .prefix_errors(&treedef)
        .into_iter()
        .next()
    {
        return Err(name_leaf(error, &full));
    }
    let flat = tree::broadcast_prefix(&prefix, &treedef)?;
    let result: Tree<&Tree<Value>> = tree::broadcast(&prefix, &treedef)?;
    let expect = &case["expect"];
    Ok((|| {
        equal(
            "flat",
            flat.into_iter().cloned().collect(),
            many(&expect["flat"]),
        )?;
        equal(
            "result",
            result.map(|tree| (*tree).clone()).join(),
            value(&expect["result"]),
        )
    })())
}

fn flatten_up_to(case: &Json) -> Tried<Outcome> {
    let treedef = decode(&case["shallow"])?.structure();
    let deep = decode(&case["deep"])?;
    let parts = subtrees(&treedef, &deep)?;
    let spans = treedef.flatten_up_to(&deep.structure())?;
    let expect = &case["expect"];
    Ok((|| {
        equal(
            "subtrees",
            parts.iter().copied().cloned().collect(),
            many(&expect["subtrees"]),
        )?;
        let sizes = parts
            .iter()
            .map(|part| part.leaves().len())
            .collect::<Vec<_>>();
        equal(
            "leaves of the spans",
            spans.iter().map(|span| span.leaves).collect(),
            sizes,
        )?;
        equal("treedef", treedef.to_string(), text(&expect["treedef"]))
    })())
}

fn vmap_axes(case: &Json) -> Tried<Outcome> {
    let args = Tree::tuple(decode_all(&case["args"])?);
    let args_def = args.structure();
    let in_axes = axes::flatten_in_axes("the tree", &axis_tree(&case["in_axes"]), &args_def)
        .map_err(failure)?;
    let shapes: Vec<&[usize]> = args.leaves().into_iter().map(Value::shape).collect();
    let paths = args_def.key_paths();
    let arrays = || {
        in_axes
            .iter()
            .zip(&shapes)
            .zip(&paths)
            .map(|((axis, shape), path)| (*axis, *shape, path))
    };
    let size = axes::mapped_size(arrays()).map_err(failure)?;
    // The arguments as the function sees them: whether they are mapped, and their shape without that axis.
    let mut inner = Vec::new();
    for (axis, shape, path) in arrays() {
        let mut shape = shape.to_vec();
        let mapped = axis.normalized(&shape, path).map_err(failure)?;
        if let Some(axis) = mapped {
            shape.remove(axis);
        }
        inner.push((mapped.is_some(), shape));
    }
    let results: Tree<(bool, Vec<usize>)> = match text(&case["fn"]).as_str() {
        "identity" => {
            let args: Tree<_> = args_def.unflatten(inner.iter().cloned())?;
            match args.children() {
                [only] => only.clone(),
                _ => args,
            }
        }
        "const" => Tree::Leaf((false, vec![7])),
        "first_leaf" => Tree::Leaf(inner[0].clone()),
        other => panic!("unknown function {other}"),
    };
    let results_def = results.structure();
    let out_axes =
        axes::flatten("the tree", &axis_tree(&case["out_axes"]), &results_def).map_err(failure)?;
    let mut out_shapes = Vec::new();
    for (((batched, shape), axis), path) in results
        .leaves()
        .into_iter()
        .zip(out_axes)
        .zip(results_def.key_paths())
    {
        let mut full = shape.clone();
        full.insert(0, size);
        match axes::output_axis(axis, *batched, &full, &path).map_err(failure)? {
            Some(axis) => {
                let size = full.remove(0);
                full.insert(axis, size);
                out_shapes.push(full);
            }
            None => out_shapes.push(shape.clone()),
        }
    }
    let expect = &case["expect"];
    Ok((|| {
        let inner: Vec<_> = inner.into_iter().map(|(_, shape)| shape).collect();
        equal("inner shapes", inner, sizes(&expect["inner_shapes"]))?;
        equal(
            "out treedef",
            results_def.to_string(),
            text(&expect["out_treedef"]),
        )?;
        equal("out shapes", out_shapes, sizes(&expect["out_shapes"]))
    })())
}

fn axis_tree(json: &Json) -> Tree<Axis> {
    let tree = value::decode(json, Nones::Leaves).expect("keys with an order");
    tree.map(|axis| match axis {
        Value::None => Axis(None),
        axis => Axis(Some(axis.int() as i32)),
    })
}

fn failure(error: AxesError) -> Failure {
    // The goldens describe the first of several mistakes.
    let first = match &error {
        AxesError::Several(errors) => &errors[0],
        one => one,
    };
    let (kind, path) = match first {
        AxesError::Structure { errors, .. } => {
            let first = Failure::from(errors[0].clone());
            (first.kind, first.path)
        }
        AxesError::Count { .. } => ("in_axes_count", None),
        AxesError::NothingMapped => ("nothing_mapped", None),
        AxesError::Rank { .. } => ("rank_too_small", None),
        AxesError::InconsistentSizes { .. } => ("inconsistent_sizes", None),
        AxesError::OutAxesNone { .. } => ("out_axes_none_batched", None),
        other => panic!("a kind that is not in the goldens: {other:?}"),
    };
    Failure {
        kind,
        path,
        message: error.to_string(),
    }
}

fn transpose(case: &Json) -> Tried<Outcome> {
    let outer = decode(&case["outer"])?.structure();
    let inner = match &case["inner"] {
        Json::Null => None,
        inner => Some(decode(inner)?.structure()),
    };
    let input = decode(&case["input"])?;
    let result = input.transpose(&outer, inner.as_ref())?;
    let expect = &case["expect"];
    Ok((|| {
        equal("result", &result, &value(&expect["result"]))?;
        if let Some(inner) = &inner {
            let typed: Tree<Value> = tree::transpose(&outer, inner, &input).unwrap();
            equal("result of the function", &typed, &result)?;
        }
        equal(
            "treedef",
            result.structure().to_string(),
            text(&expect["treedef"]),
        )
    })())
}

fn reduce(case: &Json) -> Tried<Outcome> {
    let input = decode(&case["input"])?;
    let combine = |a: &Value, b: &Value| match (text(&case["fn"]).as_str(), a, b) {
        ("sub", a, b) => Value::Int(a.int() - b.int()),
        ("add", a, b) => Value::Int(a.int() + b.int()),
        ("concat", a, b) => Value::Str(format!("({a}{b})")),
        (other, ..) => panic!("unknown function {other}"),
    };
    let result = match case.get("init") {
        Some(init) => tree::fold(|a, b| combine(&a, b), &input, value::leaf(decode(init)?)),
        None => tree::reduce(|a, b| combine(&a, &b), &input)?,
    };
    Ok(equal(
        "result",
        Tree::Leaf(result),
        value(&case["expect"]["result"]),
    ))
}

fn all(case: &Json) -> Tried<Outcome> {
    let result = tree::all(Value::truth, &decode(&case["input"])?);
    Ok(equal(
        "result",
        Json::from(result),
        case["expect"]["result"].clone(),
    ))
}

fn all_leaves(case: &Json) -> Tried<Outcome> {
    let result = tree::all_leaves(&decode_all(&case["items"])?);
    Ok(equal(
        "result",
        Json::from(result),
        case["expect"]["result"].clone(),
    ))
}

fn flatten_one_level(case: &Json) -> Tried<Outcome> {
    let input = decode(&case["input"])?;
    let level = input.one_level().map_err(|error| {
        let leaf = input.as_leaf().expect("only a leaf is not a node");
        Failure::from(error.name_leaf(|_| leaf.type_name().into()))
    })?;
    let expect = &case["expect"];
    let (keys, children): (Vec<KeyEntry>, Vec<Tree<Value>>) = level
        .into_iter()
        .map(|(key, child)| (key, child.clone()))
        .unzip();
    Ok((|| {
        equal("children", children, many(&expect["children"]))?;
        equal(
            "keys",
            &keys,
            &list(&expect["keys"]).iter().map(entry).collect(),
        )?;
        equal("keys of the treedef", input.structure().child_keys(), keys)
    })())
}

/// The jacobian of the identity: for each output leaf a tree like the input, of arrays with both shapes.
fn jacobian_structure(case: &Json) -> Tried<Outcome> {
    let input = decode(&case["input"])?;
    let jacobian = input.map(|out| input.map(|arg| [out.shape(), arg.shape()].concat()));
    let treedef = input.structure();
    let composed = treedef.compose(&treedef);
    let expect = &case["expect"];
    let jacobian = jacobian.join();
    Ok((|| {
        equal(
            "treedef",
            jacobian.structure().to_string(),
            text(&expect["treedef"]),
        )?;
        equal(
            "composed treedef",
            composed.to_string(),
            text(&expect["treedef"]),
        )?;
        let shapes: Vec<Vec<usize>> = jacobian.leaves().into_iter().cloned().collect();
        equal("shapes", shapes, sizes(&expect["shapes"]))
    })())
}

fn placeholder(case: &Json) -> Tried<Outcome> {
    let example = decode(&case["example"])?;
    let treedef = example.structure();
    let count = treedef.num_leaves();
    let objects: Tree<Value> =
        treedef.unflatten((0..count).map(|i| Value::Object(format!("p{i}"))))?;
    let nones: Tree<Tree<Value>> = treedef.unflatten((0..count).map(|_| Tree::none()))?;
    let selfs: Tree<Tree<Value>> = treedef.unflatten((0..count).map(|_| example.clone()))?;
    let (nones, selfs) = (nones.join(), selfs.join());
    let expect = &case["expect"];
    Ok((|| {
        equal("objects", objects, value(&expect["objects"]))?;
        equal("nones", &nones, &value(&expect["nones"]))?;
        let num_leaves = Json::from(nones.structure().num_leaves());
        equal(
            "number of leaves",
            num_leaves,
            expect["nones_num_leaves"].clone(),
        )?;
        equal(
            "treedef",
            selfs.structure().to_string(),
            text(&expect["selfs_treedef"]),
        )
    })())
}

fn keystr(case: &Json) -> Tried<Outcome> {
    let path = path(&case["keys"]);
    let expect = &case["expect"];
    Ok((|| {
        equal("keystr", path.keystr(), text(&expect["keystr"]))?;
        equal("simple", path.simple(""), text(&expect["simple"]))?;
        equal(
            "simple_slash",
            path.simple("/"),
            text(&expect["simple_slash"]),
        )?;
        equal("simple_dot", path.simple("."), text(&expect["simple_dot"]))
    })())
}

fn decode(json: &Json) -> Tried<Tree<Value>> {
    Ok(value::decode(json, Nones::Nodes)?)
}

fn decode_all(json: &Json) -> Tried<Vec<Tree<Value>>> {
    list(json).iter().map(decode).collect()
}

/// An expected value.
fn value(json: &Json) -> Tree<Value> {
    value::decode(json, Nones::Nodes).expect("expected values have keys with an order")
}

fn many(json: &Json) -> Vec<Tree<Value>> {
    list(json).iter().map(value).collect()
}

fn sizes(json: &Json) -> Vec<Vec<usize>> {
    serde_json::from_value(json.clone()).expect("a list of shapes")
}

fn path(json: &Json) -> KeyPath {
    list(json).iter().map(entry).collect()
}

/// The predicate that a case names, or one that nothing fulfils.
fn is_leaf(case: &Json) -> impl Fn(&Tree<Value>) -> bool {
    let name = case.get("is_leaf").map(text);
    move |tree| {
        let head = tree.head();
        let is_struct = |name| {
            head.is_some_and(|head| matches!(head, Head::Struct(_)) && head.type_name() == name)
        };
        match name.as_deref() {
            None => false,
            Some("is_none") => tree.is_none(),
            Some("is_tuple") => matches!(head, Some(Head::Tuple)),
            Some("is_list") => matches!(head, Some(Head::List)),
            Some("is_dict") => matches!(head, Some(Head::Dict(_))),
            Some("is_linear") => is_struct("Linear"),
            Some("is_point") => is_struct("Point"),
            Some("always") => true,
            Some("is_empty_container") => {
                matches!(head, Some(Head::Tuple | Head::List | Head::Dict(_)))
                    && tree.children().is_empty()
            }
            Some(other) => panic!("unknown predicate {other}"),
        }
    }
}

/// The subtrees of a tree at the leaves of a treedef; an error names the type of the leaf in the way.
fn subtrees<'t>(treedef: &TreeDef, tree: &'t Tree<Value>) -> Tried<Vec<&'t Tree<Value>>> {
    treedef
        .subtrees(tree)
        .map_err(|error| name_leaf(error, tree))
}

fn name_leaf(error: tree::StructureError, full: &Tree<Value>) -> Failure {
    error
        .name_leaf(|leaf| full.leaves()[leaf].type_name().into())
        .into()
}
