//! The laws of graphs: `docs/modules.md`.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use jaxide::tree::{self, Tree};
use jaxide::{Array, DType, jit, vmap};
use jaxide_nnx::{
    self as nnx, Attr, BatchNorm, BatchStat, Cache, Dict, Dropout, Filter, GraphDef, Intermediate,
    Kind, Linear, List, Module, Object, Param, RngState, Rngs, Sequential, Variable,
};

#[derive(Clone, Debug, Module)]
struct Tied {
    table: Variable<Param>,
    layers: List<Linear>,
    shared: Arc<Linear>,
    again: Arc<Linear>,
    by_name: Dict<BatchNorm>,
    maybe: Option<Linear>,
    output: Variable<Param>,
    dropout: Dropout,
    #[nnx(data)]
    masks: Vec<Array>,
    width: usize,
    rate: f64,
    #[nnx(static)]
    choice: Option<(u8, char)>,
}

fn tied(seed: i64) -> Tied {
    let rngs = Rngs::new(seed);
    let table = Variable::new(rngs.normal([2, 3]));
    let shared = Arc::new(Linear::new(3, 3, &rngs, ()));
    Tied {
        table: table.clone(),
        layers: (0..3).map(|_| Linear::new(3, 3, &rngs, ())).collect(),
        shared: shared.clone(),
        again: shared,
        by_name: [
            ("z", BatchNorm::new(3, &rngs, ())),
            ("a", BatchNorm::new(3, &rngs, ())),
        ]
        .into_iter()
        .collect(),
        maybe: None,
        output: table,
        dropout: Dropout::new(0.5, &rngs, ()),
        masks: vec![Array::from([1.0f32]), Array::from([true])],
        width: 3,
        rate: 0.5,
        choice: Some((1, 'a')),
    }
}

fn hash(graph_def: &GraphDef) -> u64 {
    let mut hasher = DefaultHasher::new();
    graph_def.hash(&mut hasher);
    hasher.finish()
}

fn paths(state: &nnx::State) -> Vec<String> {
    state.paths().map(ToString::to_string).collect()
}

/// Taken apart and put together, a module has the same structure, values and sharing, and nothing in common with the old one.
#[test]
fn split_and_merge() {
    let model = tied(0);
    let (graph_def, state) = nnx::split(&model, ..).unwrap();
    let again: Tied = nnx::merge(&graph_def, &state).unwrap();
    let (graph_def_again, state_again) = nnx::split(&again, ..).unwrap();
    assert_eq!(graph_def, graph_def_again);
    assert_eq!(hash(&graph_def), hash(&graph_def_again));
    assert_eq!(state.to_string(), state_again.to_string());
    assert!(again.table.is_same(&again.output) && Arc::ptr_eq(&again.shared, &again.again));
    assert!(!again.table.is_same(&model.table));
    again.table.set(Array::zeros([2, 3], DType::F32));
    assert_ne!(
        model.table.get().to_vec::<f32>(),
        again.table.get().to_vec::<f32>()
    );
    assert_eq!(
        (again.width, again.rate, again.choice, again.maybe.is_none()),
        (3, 0.5, Some((1, 'a')), true)
    );
    assert_eq!(again.masks.len(), 2);
}

/// Attributes come in the order of their names, places of lists in that of numbers, and what is shared once.
#[test]
fn order_of_paths() {
    let model = tied(0);
    let expected = [
        "again/bias",
        "again/kernel",
        "by_name/a/bias",
        "by_name/a/scale",
        "by_name/z/bias",
        "by_name/z/scale",
        "layers/0/bias",
        "layers/0/kernel",
        "layers/1/bias",
        "layers/1/kernel",
        "layers/2/bias",
        "layers/2/kernel",
        "output",
    ];
    assert_eq!(paths(&nnx::state(&model, Param).unwrap()), expected);
    let rest = [
        "dropout/rngs/count",
        "dropout/rngs/key",
        "masks/0",
        "masks/1",
    ];
    let filter = Filter::not(Filter::any((Param, BatchStat)));
    assert_eq!(paths(&nnx::state(&model, filter).unwrap()), rest);
    let long: List<Variable<Param>> = (0..11).map(|i| Variable::new(i as f32)).collect();
    assert_eq!(
        nnx::state(&long, ..)
            .unwrap()
            .paths()
            .last()
            .unwrap()
            .to_string(),
        "10"
    );
}

#[test]
fn duplicates() {
    let found = nnx::find_duplicates(&tied(0));
    let found: Vec<Vec<String>> = found
        .iter()
        .map(|paths| paths.iter().map(ToString::to_string).collect())
        .collect();
    assert_eq!(found, [vec!["again", "shared"], vec!["output", "table"]]);
}

/// Structures differ by static attributes, kinds, sharing and presence, and not by values.
#[test]
fn graph_defs() {
    let def = |model: &Tied| nnx::graph_def(model).unwrap();
    let model = tied(0);
    assert_eq!(def(&model), def(&tied(1)));
    assert_ne!(
        def(&model),
        def(&Tied {
            width: 4,
            ..model.clone()
        })
    );
    assert_ne!(
        def(&model),
        def(&Tied {
            rate: 0.25,
            ..model.clone()
        })
    );
    assert_ne!(
        def(&model),
        def(&Tied {
            choice: None,
            ..model.clone()
        })
    );
    let apart = Tied {
        output: Variable::new(model.table.get()),
        ..model.clone()
    };
    assert_ne!(def(&model), def(&apart));
    assert_eq!(model.eval(), 3);
    assert_ne!(def(&model), def(&tied(0)));
    assert_eq!(model.train(), 3);
    assert_eq!(def(&model), def(&tied(0)));
}

#[test]
fn update_and_clone() {
    let (model, other) = (tied(0), tied(1));
    let copy = nnx::clone(&model).unwrap();
    nnx::update(&copy, nnx::state(&other, Param).unwrap()).unwrap();
    assert_eq!(
        copy.table.get().to_vec::<f32>(),
        other.table.get().to_vec::<f32>()
    );
    assert_ne!(
        copy.table.get().to_vec::<f32>(),
        model.table.get().to_vec::<f32>()
    );

    // Of a mistake nothing is changed.
    let before = copy.layers[0].kernel.get().to_vec::<f32>();
    let mut wrong = nnx::state(&model, Filter::path_contains("layers")).unwrap();
    let entry = wrong.get("layers/0/kernel").unwrap().clone();
    wrong.insert("layers/0/weight", entry);
    let error = nnx::update(&copy, wrong).unwrap_err();
    assert_eq!(
        (error.path(), error.operation()),
        (Some("layers/0/weight"), Some("update"))
    );
    assert_eq!(copy.layers[0].kernel.get().to_vec::<f32>(), before);
}

#[test]
fn pop_takes_out() {
    #[derive(Clone, Module)]
    struct Noting {
        seen: Variable<Intermediate>,
        cache: Variable<Cache>,
    }
    let module = Noting {
        seen: Variable::absent(),
        cache: Variable::new(1.0f32),
    };
    assert_eq!(paths(&nnx::state(&module, ..).unwrap()), ["cache"]);
    module.seen.sow(&Array::from(1.0f32));
    module.seen.sow(&Array::from(2.0f32));
    let noted = nnx::pop(&module, Intermediate).unwrap();
    assert_eq!(noted.get("seen").unwrap().arrays().len(), 2);
    assert_eq!(paths(&nnx::state(&module, ..).unwrap()), ["cache"]);
    let again: Noting = nnx::clone(&module).unwrap();
    assert!(again.seen.value().arrays().is_empty());
}

#[test]
fn filters() {
    let model = tied(0);
    let count = |filter: Filter| nnx::state(&model, filter).unwrap().len();
    assert_eq!(
        count(Filter::all((Param, Filter::path_contains("bias")))),
        6
    );
    assert_eq!(count(Filter::path_contains(2usize)), 2);
    assert_eq!(
        count(Filter::path_in(["output", "by_name/a/mean", "nothing"])),
        2
    );
    assert_eq!(count(Filter::with_tag("default")), 2);
    assert_eq!(count(RngState.into()), 2);
    assert_eq!(
        count(Filter::predicate(
            |path, entry| path.len() == 1 && entry.kind().is_some()
        )),
        1
    );
    assert_eq!(count(Filter::Nothing), 0);
    let (params, stats) = nnx::state(&model, (Param, BatchStat)).unwrap();
    assert_eq!((params.len(), stats.len()), (13, 4));
    let error = nnx::split(&model, (Param, BatchStat)).unwrap_err();
    assert!(
        error.message().contains("'masks'") || error.message().contains("('masks', 0)"),
        "{error}"
    );
}

/// Kinds of users, and kinds that are cases of others.
#[test]
fn kinds() {
    struct Threshold;
    impl Kind for Threshold {
        const NAME: &'static str = "Threshold";
        fn parent() -> Option<nnx::KindRef> {
            Some(nnx::KindRef::of::<BatchStat>())
        }
    }
    #[derive(Module)]
    struct Cell {
        limit: Variable<Threshold>,
    }
    let cell = Cell {
        limit: Variable::new(1.0f32),
    };
    assert_eq!(nnx::state(&cell, BatchStat).unwrap().len(), 1);
    assert_eq!(nnx::state(&cell, Threshold).unwrap().len(), 1);
    assert!(nnx::state(&cell, Param).unwrap().is_empty());
    assert!(
        cell.display()
            .starts_with("Cell( # BatchStat: 1 (4 B)\n  limit=Threshold( # 1 (4 B)"),
        "{}",
        cell.display()
    );
}

#[test]
fn merge_errors_name_the_path() {
    let model = tied(0);
    let (graph_def, state) = nnx::split(&model, ..).unwrap();
    let kept = state
        .filter(Filter::not(Filter::path_in(["layers/1/kernel"])))
        .unwrap();
    let missing = nnx::merge::<Tied>(&graph_def, kept).unwrap_err();
    assert_eq!(
        (missing.path(), missing.operation()),
        (Some("layers/1/kernel"), Some("merge"))
    );
    let mut more = state.clone();
    more.insert(
        "layers/7/kernel",
        state.get("layers/1/kernel").unwrap().clone(),
    );
    assert_eq!(
        nnx::merge::<Tied>(&graph_def, more).unwrap_err().path(),
        Some("layers/7/kernel")
    );
    let twice = nnx::merge::<Tied>(&graph_def, (state.clone(), state.clone())).unwrap_err();
    assert_eq!(twice.path(), Some("again/bias"));
    let other = nnx::merge::<Linear>(&graph_def, state).unwrap_err();
    assert!(
        other.message().contains("the module has Linear")
            && other.message().contains("the graph has Tied"),
        "{other}"
    );
}

/// Objects may contain themselves; a module behind an `Arc` that does is found.
#[test]
fn cycles() {
    let object = Object::new("Node", |node| {
        node.set("x", Variable::<Param>::new(1.0f32))?;
        node.set("itself", node.clone())
    })
    .unwrap();
    let (graph_def, state) = nnx::split(&object, ..).unwrap();
    assert_eq!(paths(&state), ["x"]);
    let again: Object = nnx::merge(&graph_def, state).unwrap();
    let Some(Attr::Object(inner)) = again.get("itself") else {
        panic!("it has itself")
    };
    let Some(Attr::Variable(x)) = inner.get("x") else {
        panic!("it has x")
    };
    x.set(nnx::Value::Array(Array::from(2.0f32)));
    assert_eq!(
        nnx::state(&again, ..)
            .unwrap()
            .array("x")
            .unwrap()
            .item::<f32>(),
        2.0
    );
    assert_eq!(nnx::find_duplicates(&object).len(), 1);
}

/// Modules are pytrees: plain transformations take and give them, with what they share.
#[test]
fn modules_are_pytrees() {
    let model = tied(0);
    let tree = Tree::<Array>::from_value(&model);
    let paths: Vec<String> = tree
        .structure()
        .key_paths()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        paths.contains(&".layers[0].kernel.value".to_owned()),
        "{paths:?}"
    );
    assert!(paths.contains(&".masks[1]".to_owned()), "{paths:?}");
    assert_eq!(
        paths
            .iter()
            .filter(|path| path.contains("output") || path.contains("table"))
            .count(),
        1
    );

    let doubled: Tied = tree::map(
        |x: &Array| {
            if x.dtype() == DType::F32 {
                x * 2.0
            } else {
                x.clone()
            }
        },
        &model,
    )
    .unwrap();
    assert!(doubled.table.is_same(&doubled.output));
    let same = jit(|model: Tied| model)(model.clone());
    assert!(same.table.is_same(&same.output) && Arc::ptr_eq(&same.shared, &same.again));
    assert_eq!(
        nnx::graph_def(&same).unwrap(),
        nnx::graph_def(&model).unwrap()
    );

    let layers = vmap(|keys: Array| Linear::new(2, 3, &Rngs::new(keys), ()))(
        jaxide::random::split(&jaxide::random::key(0), 4),
    );
    assert_eq!(layers.kernel.get().shape(), [4, 2, 3]);

    let sequential = Sequential::new()
        .then(Linear::new(2, 2, &Rngs::new(0), ()))
        .then(jaxide::nn::relu as fn(&Array) -> Array);
    let x = Array::ones([1, 2], DType::F32);
    let expected = sequential.call(&x).to_vec::<f32>();
    assert_eq!(
        jit(|s: Sequential, x: Array| s.call(&x))(sequential, x).to_vec::<f32>(),
        expected
    );
}

#[test]
fn printed() {
    let norm = BatchNorm::new(2, &Rngs::new(0), ());
    let text = norm.display();
    assert!(text.starts_with(
        "BatchNorm( # Param: 4 (16 B), BatchStat: 4 (16 B), Total: 8 (32 B)\n  mean=BatchStat( # 2 (8 B)\n    value=Array(shape=(2,), dtype=dtype('float32'))\n  ),\n"
    ), "{text}");
    assert!(text.contains("\n  use_running_average=False,\n  axis=-1,\n  momentum=0.99,\n  epsilon=1e-05,\n  dtype=None,"), "{text}");
    let one = Variable::<Param>::new(Array::zeros([2], DType::F32));
    let linear = Arc::new(Linear::new(1, 1, &Rngs::new(0), ()));
    let twice: Dict<Variable<Param>> = [("v", one.clone()), ("w", one)].into_iter().collect();
    assert_eq!(twice.display().matches("Param( # 2 (8 B)").count(), 2);
    let shared = List(vec![linear.clone(), linear]).display();
    assert!(shared.ends_with("  Linear(...)\n])"), "{shared}");
    let large = Variable::<Param>::new(Array::zeros([1200, 1000], DType::F32));
    assert!(
        format!("{large:?}").starts_with("Param( # 1,200,000 (4.8 MB)\n"),
        "{large:?}"
    );
    let nothing = Variable::<Param>::new(Array::zeros([0, 3], DType::F32));
    assert!(
        format!("{nothing:?}").starts_with("Param(\n"),
        "{nothing:?}"
    );
    let stream = nnx::RngStream::new("noise", &jaxide::random::key(0)).display();
    let places = ["tag='noise',\n  key=", "count="].map(|text| stream.find(text));
    assert!(places[0].is_some() && places[0] < places[1], "{stream}");
    let state = nnx::state(&Rngs::new(0), ..).unwrap();
    assert_eq!(
        state.to_string(),
        "State({\n  'default': {\n    'count': RngCount( # 1 (4 B)\n      value=Array(0, dtype=uint32),\n      tag='default'\n    ),\n    'key': RngKey( # 1 (8 B)\n      value=Array((), dtype=key<fry>) overlaying:\n      [0 0],\n      tag='default'\n    )\n  }\n})"
    );
    assert_eq!(nnx::State::default().to_string(), "State({})");
    let def = nnx::graph_def(&Linear::new(1, 2, &Rngs::new(0), ()))
        .unwrap()
        .to_string();
    assert!(def.starts_with("Linear\n  bias: Param #0\n"), "{def}");
}
