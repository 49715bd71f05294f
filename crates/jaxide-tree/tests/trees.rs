//! Trees made at run time, keys, and what is said when trees differ.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use jaxide_tree::{
    self as tree, ChildKeys, DictKey, FetchMap, Key, KeyEntry, KeyPath, NodeStyle, NodeType,
    Pytree, Schema, StructureErrorKind, TracingAdapter, Tree, tree,
};

#[test]
fn literals() {
    #[track_caller]
    fn check(tree: Tree<i32>, value: &str, structure: &str) {
        assert_eq!(tree.to_string(), value);
        assert_eq!(
            tree.structure().to_string(),
            format!("PyTreeDef({structure})")
        );
    }
    check(tree!(1), "1", "*");
    check(tree!(-1 + 2), "1", "*");
    check(tree!(None), "None", "None");
    check(tree!([]), "[]", "[]");
    check(tree!(()), "()", "()");
    check(tree!({}), "{}", "{}");
    check(tree!((1)), "1", "*");
    check(tree!((1,)), "(1,)", "(*,)");
    check(tree!((1, 2,)), "(1, 2)", "(*, *)");
    check(tree!([1, [2, None],]), "[1, [2, None]]", "[*, [*, None]]");
    check(
        tree!({"b": 1, "a": (2,),}),
        "{'a': (2,), 'b': 1}",
        "{'a': (*,), 'b': *}",
    );
    check(
        tree!({2: 1, -1: 2, 0: {}}),
        "{-1: 2, 0: {}, 2: 1}",
        "{-1: *, 0: {}, 2: *}",
    );
    check(
        tree!({true: 1, false: 2}),
        "{False: 2, True: 1}",
        "{False: *, True: *}",
    );
    check(
        tree!(P { x: 1, y: [2] }),
        "P(x=1, y=[2])",
        "CustomNode(P[()], [*, [*]])",
    );
    check(
        tree!([i32::from(true), { "k": [1][0] + 1 }]),
        "[1, {'k': 2}]",
        "[*, {'k': *}]",
    );
}

#[test]
fn maps_made_at_run_time() {
    let last_of_equal_keys = Tree::dict([("a", Tree::Leaf(1)), ("a", Tree::Leaf(2))]).unwrap();
    assert_eq!(last_of_equal_keys, tree!({"a": 2}));

    let error = Tree::dict([
        (Key::from("a"), Tree::Leaf(1)),
        (Key::from(2), Tree::Leaf(2)),
    ])
    .unwrap_err();
    assert!(matches!(
        error.kind(),
        StructureErrorKind::UnsortableKeys { .. }
    ));
    assert_eq!(
        error.to_string(),
        "the keys 2 and 'a' of the map at tree have no order"
    );

    // As in Python: tuples are compared up to the first difference.
    let pair = |a: Key, b: Key| Key::Tuple(Box::new([a, b]));
    let dict = |keys: [Key; 2]| Tree::dict(keys.map(|key| (key, Tree::Leaf(0)))).is_ok();
    assert!(dict([pair(1.into(), "a".into()), pair(2.into(), 3.into())]));
    assert!(!dict([
        pair(1.into(), "a".into()),
        pair(1.into(), 3.into())
    ]));
    assert!(dict([true.into(), 7.into()]));
}

#[test]
fn keys_and_their_values() {
    #[track_caller]
    fn check<K: DictKey + PartialEq + std::fmt::Debug>(value: K, text: &str) {
        let key = value.to_key();
        assert_eq!(key.to_string(), text);
        assert!(value.is_key(&key));
        assert!(!value.is_key(&Key::from("another")));
        let hash = |feed: &dyn Fn(&mut DefaultHasher)| {
            let mut state = DefaultHasher::new();
            feed(&mut state);
            state.finish()
        };
        assert_eq!(
            hash(&|state| value.hash_key(state)),
            hash(&|state| key.hash(state))
        );
        assert_eq!(K::from_key(&key), Some(value));
        assert_eq!(K::from_key(&Key::Tuple(Box::new([]))), None);
    }
    check(true, "True");
    check(-7i8, "-7");
    check(u64::MAX, "18446744073709551615");
    check(usize::MIN, "0");
    check("it's".to_string(), "\"it's\"");
    check("static", "'static'");
    check('é', "'é'");
    check(Arc::<str>::from("shared"), "'shared'");
    check(Box::<str>::from("boxed"), "'boxed'");
    check(Cow::Borrowed("borrowed"), "'borrowed'");
    check(Cow::<str>::Owned("owned".into()), "'owned'");
    check((1u8, "x".to_string()), "(1, 'x')");
    check((1u8, (true, 'x')), "(1, (True, 'x'))");
    check((1u8,), "(1,)");
    assert_eq!(u8::from_key(&Key::from(256)), None);
    assert_eq!(<(u8,)>::from_key(&(1u8, 2u8).to_key()), None);
    assert_eq!(char::from_key(&Key::from("ab")), None);
    // Only a key that was `'static` can be it again.
    assert_eq!(<&'static str>::from_key(&Key::from("a".to_string())), None);
    assert!(!("x", 1u8).is_key(&("x", 1u8, 2u8).to_key()));
}

#[test]
fn shared_keys_are_shared_with_the_treedef() {
    let name: Arc<str> = "name".into();
    let map = BTreeMap::from([(name.clone(), 1)]);
    let (leaves, treedef) = tree::flatten(&map);
    let rebuilt: BTreeMap<Arc<str>, i32> = treedef.unflatten(leaves).unwrap();
    assert!(rebuilt.keys().all(|key| Arc::ptr_eq(key, &name)));
}

#[test]
fn keys_that_a_typed_map_cannot_have() {
    let treedef = tree!({"a": 1}).structure();
    let error = treedef.unflatten::<HashMap<u8, i32>, _>([1]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot rebuild tree: expected keys of type u8, got the key 'a'"
    );
}

#[test]
fn looking_up_paths() {
    let value: Tree<i32> = tree!({"a": [1, (2, P { x: 3 })]});
    let paths = value.structure().key_paths();
    assert_eq!(paths[2].to_string(), "['a'][1][1].x");
    assert_eq!(value.get(&paths[2]), Some(&Tree::Leaf(3)));
    assert_eq!(value.get(&[]), Some(&value));
    assert_eq!(value.get(&[KeyEntry::Seq(0)]), None);
    assert_eq!(value.get(&paths[2].child(KeyEntry::Seq(0))), None);
}

#[test]
fn trees_that_go_on_where_the_first_one_ends() {
    let error = tree::map2(|a: &i32, b: &i32| a + b, &(1, 2), &(1, [2])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "different types at tree[1]: expected leaf, got list"
    );
    let error = tree::map2(|a: &i32, b: &i32| a + b, &(1, [2]), &(1, 2)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "different types at tree[1]: expected list, got a leaf of type i32"
    );
}

#[test]
fn maps_of_several_trees() {
    assert_eq!(
        tree::map3(|a, b, c| a + b * c, &[1, 2], &[3, 4], &[5, 6]),
        Ok([16, 26])
    );
    assert_eq!(
        tree::map4(
            |p, g: &f64, m: &i32, v: &bool| if *v { p + g } else { f64::from(*m) },
            &[1.0, 2.0],
            &[3.0, 4.0],
            &[5, 6],
            &[true, false]
        ),
        Ok([4.0, 6.0])
    );
    assert_eq!(
        tree::map_with_path(|path, x| format!("{path}={x}"), &["a".to_string()]),
        Ok(["[0]=a".to_string()])
    );
    let mut sum = 0;
    tree::for_each(|x: &i32| sum += x, &(1, [2, 3]));
    assert_eq!(
        (sum, tree::fold(|a, x: &i32| a - x, &(1, [2, 3]), 10)),
        (6, 4)
    );
}

#[test]
fn generic_leaves() {
    #[derive(Clone, Debug, PartialEq)]
    struct Tagged<T>(T);
    tree::leaf!([T] Tagged<T>);
    #[derive(Clone, Debug, PartialEq, Pytree)]
    #[pytree(leaf)]
    struct Boxed<T>(Box<T>);

    assert_eq!(
        tree::leaves(&(Tagged(1), [Tagged(2)])),
        [Tagged(1), Tagged(2)]
    );
    assert_eq!(
        tree::leaves(&[Boxed(Box::new("a"))]),
        [Boxed(Box::new("a"))]
    );
}

#[test]
#[should_panic(expected = "reported another number of children than it visited")]
fn an_implementation_that_miscounts() {
    struct Wrong;
    impl<L> Pytree<L> for Wrong {
        fn visit<'a, V: tree::Visitor<'a, L>>(&'a self, visitor: &mut V)
        where
            L: 'a,
        {
            visitor.list(1);
        }
        fn unflatten<I: Iterator<Item = L>>(
            _: &mut tree::Unflatten<'_, I>,
        ) -> Result<Self, tree::StructureError> {
            Ok(Wrong)
        }
    }
    tree::structure::<i32, _>(&Wrong);
}

/// A sparse tensor, fetched by the names of its parts.
#[derive(Debug, PartialEq, Pytree)]
struct Sparse<T> {
    indices: T,
    values: T,
    #[pytree(static)]
    rank: usize,
}

#[test]
fn fetches_in_a_derived_container() {
    let fetches = (
        Sparse {
            indices: "i",
            values: "v",
            rank: 2,
        },
        ["v", "loss", "v"],
    );
    let map = FetchMap::new(&fetches);
    assert_eq!(map.unique(), ["i", "v", "loss"]);
    assert_eq!(map.index(), [0, 1, 1, 2, 1]);
    let computed = std::cell::Cell::new(0);
    let results: (Sparse<usize>, [usize; 3]) = map
        .fetch(|names| {
            computed.set(computed.get() + names.len());
            names.iter().map(|name| name.len()).collect()
        })
        .unwrap();
    assert_eq!(computed.get(), 3);
    let sparse = Sparse {
        indices: 1,
        values: 1,
        rank: 2,
    };
    assert_eq!(results, (sparse, [1, 4, 1]));
    assert_eq!(
        map.rebuild::<(Sparse<u8>, [u8; 3]), u8>(&[1, 2])
            .unwrap_err()
            .to_string(),
        "too few leaves for the fetches: expected 3, got 2"
    );
}

#[test]
fn fetches_in_a_container_whose_results_are_of_another_type() {
    /// Asks for the lower and the upper end of what is known of a quantity.
    struct Interval(String);
    /// What has been found.
    #[derive(Debug, PartialEq)]
    struct Width(f64);

    static INTERVAL: NodeType = NodeType::new(
        "Interval",
        module_path!(),
        NodeStyle::Custom,
        ChildKeys::Flat,
    );

    impl Pytree<String> for Interval {
        fn visit<'a, V: tree::Visitor<'a, String>>(&'a self, visitor: &mut V) {
            visitor.structure(&INTERVAL, &[], 2);
            visitor.made_leaf(format!("min {}", self.0));
            visitor.made_leaf(format!("max {}", self.0));
        }
        fn unflatten<I: Iterator<Item = String>>(
            from: &mut tree::Unflatten<'_, I>,
        ) -> Result<Self, tree::StructureError> {
            from.structure(&INTERVAL)?;
            let (min, _max) = (from.leaf()?, from.leaf()?);
            match min.strip_prefix("min ") {
                Some(name) => Ok(Interval(name.to_owned())),
                None => Err(from.leaf_error("the lower end of an interval", &min)),
            }
        }
    }
    impl Pytree<f64> for Width {
        fn visit<'a, V: tree::Visitor<'a, f64>>(&'a self, visitor: &mut V) {
            visitor.structure(&INTERVAL, &[], 2);
            visitor.made_leaf(0.0);
            visitor.made_leaf(self.0);
        }
        fn unflatten<I: Iterator<Item = f64>>(
            from: &mut tree::Unflatten<'_, I>,
        ) -> Result<Self, tree::StructureError> {
            from.structure(&INTERVAL)?;
            let (min, max) = (from.leaf()?, from.leaf()?);
            Ok(Width(max - min))
        }
    }

    let fetches = (Interval("x".into()), vec!["max x".to_string()]);
    let map = FetchMap::new(&fetches);
    assert_eq!(map.unique(), ["min x", "max x"]);
    let results: (Width, Vec<f64>) = map.rebuild(&[1.0, 3.5]).unwrap();
    assert_eq!(results, (Width(2.5), vec![3.5]));
}

#[test]
fn adapters_hold_on_to_their_schemas() {
    let first_call = std::cell::Cell::new(true);
    let fickle = |x: Vec<f64>| if first_call.take() { vec![x[0]] } else { x };
    let (adapter, flat) = TracingAdapter::new(fickle, &vec![1.0, 2.0]);
    assert_eq!(
        adapter.rebuild(vec![1.0]).unwrap_err().to_string(),
        "cannot rebuild outputs: expected the outputs of an earlier call, got none, since the function has not been called"
    );
    assert_eq!(adapter.call(flat.clone()), Ok(vec![1.0]));
    assert_eq!(
        adapter.call(flat).unwrap_err().to_string(),
        "different lengths of list at outputs: expected 1, got 2"
    );
    assert_eq!(
        adapter.call(vec![1.0]).unwrap_err().to_string(),
        "too few leaves for the schema: expected 2, got 1"
    );
    assert_eq!(
        adapter.inputs().structure().to_string(),
        "PyTreeDef([*, *])"
    );
    assert_eq!(adapter.outputs().unwrap().num_dynamic(), 1);
}

#[test]
fn adapters_with_constants() {
    let negative_is_constant = |x: &f64| *x >= 0.0;
    let f = |x: Tree<f64>| Tree::tuple([x.clone(), tree!(-7.0)]);
    let (adapter, flat) =
        TracingAdapter::with_constants(f, &tree!({"x": 1.0, "scale": -2.0}), negative_is_constant);
    assert_eq!(flat, [1.0]);
    assert_eq!(adapter.call(vec![5.0]), Ok(vec![5.0]));
    assert_eq!(
        adapter.rebuild(vec![9.0]).unwrap().to_string(),
        "({'scale': -2, 'x': 9}, -7)"
    );
    let constants: Vec<f64> = adapter.outputs().unwrap().constants().copied().collect();
    assert_eq!(constants, [-2.0, -7.0]);
    // What was an input is a constant now.
    assert_eq!(
        adapter.call(vec![-5.0]).unwrap_err().to_string(),
        "cannot rebuild outputs[0]['x']: expected a dynamic leaf, got a constant"
    );
    let (_, schema) = Schema::split(&[1.0, -1.0], negative_is_constant);
    assert_eq!(
        schema
            .rebuild::<[f64; 2]>(vec![1.0, 2.0])
            .unwrap_err()
            .to_string(),
        "too many leaves for the schema: expected 1"
    );
}

#[test]
fn everything_is_send_and_sync() {
    fn check<T: Send + Sync>() {}
    check::<tree::TreeDef>();
    check::<Tree<i32>>();
    check::<KeyPath>();
    check::<tree::StructureError>();
    check::<tree::AxesError>();
    check::<tree::nest::NestError>();
    check::<tree::FetchMap<i32>>();
    check::<Schema<i32>>();
}
