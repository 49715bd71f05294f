//! What is said where trees differ, and where leaves are too few or too many.

use std::collections::BTreeMap;
use std::error::Error;

use jaxide_tree::nest::{self, CheckTypes};
use jaxide_tree::{
    self as tree, AxesError, Axis, ChildKeys, DictKey, FetchMap, Head, Key, KeyPath, NodeStyle,
    NodeType, Schema, StructureErrorKind, Tree, TreeDef, axes, tree,
};
use proptest::prelude::*;

fn lines<E: ToString>(errors: &[E]) -> Vec<String> {
    errors.iter().map(E::to_string).collect()
}

#[test]
fn every_place_where_a_prefix_ends_too_late() {
    let prefix = tree!([1, (2, 3), {"k": [4]}, [5, 6]]);
    let full = tree!([(1, 2), 3, {"k": 4}, [5, 6, 7]]);
    assert_eq!(
        lines(&tree::prefix_errors::<i32, _, i32, _>(&prefix, &full)),
        [
            "different types at tree[1]: expected tuple, got a leaf of type i32",
            "different types at tree[2]['k']: expected list, got a leaf of type i32",
            "different lengths of list at tree[3]: expected 2, got 3",
        ]
    );
    // Leaves are counted over the whole tree.
    let errors = prefix.structure().prefix_errors(&full.structure());
    let named: Vec<_> = errors
        .iter()
        .map(|error| {
            error
                .clone()
                .name_leaf(|leaf| format!("number {leaf}"))
                .got()
        })
        .collect();
    assert_eq!(named, ["number 2", "number 3", "3"]);
    assert_eq!(
        lines(&full.structure().differences(&full.structure())),
        [""; 0]
    );
    assert_eq!(
        lines(&full.structure().differences(&prefix.structure())),
        [
            "different types at tree[0]: expected tuple, got a leaf",
            "different lengths of list at tree[3]: expected 3, got 2",
            "different types at tree[1]: expected leaf, got tuple",
            "different types at tree[2]['k']: expected leaf, got list",
        ]
    );
}

#[test]
fn maps_with_other_keys() {
    let map = |keys: &[&'static str]| {
        Tree::dict(keys.iter().map(|key| (*key, Tree::Leaf(0))))
            .unwrap()
            .structure()
    };
    let errors = map(&["a", "b", "c"]).prefix_errors(&map(&["b", "d"]));
    assert_eq!(
        lines(&errors),
        [
            "different numbers of children of dict at tree: expected 3 (['a'] ['b'] ['c']), \
          got 2 (['b'] ['d']); only one of them has ['a'] ['c'] ['d']"
        ]
    );
    let difference: Vec<String> = errors[0]
        .difference()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(difference, ["['a']", "['c']", "['d']"]);
    assert!(matches!(errors[0].kind(), StructureErrorKind::Keys { .. }));
    let errors = map(&["a", "b"]).prefix_errors(&map(&["a", "c"]));
    assert_eq!(
        lines(&errors),
        ["different metadata of dict at tree: expected ('a', 'b'), got ('a', 'c')"]
    );
    assert_eq!(errors[0].difference(), []);
}

#[test]
fn as_many_leaves_as_places() {
    let prefix = tree!([1, (2, 3)]).structure();
    let full = tree!([(1, 2), (3, [4])]).structure();
    let fetches = FetchMap::new(&["a", "b", "a"]);
    let (_, schema) = Schema::split(&[1, -1, 2], |x| *x > 0);
    for got in 0..6 {
        let leaves: Vec<i32> = (0..got).collect();
        let message = |expected: i32, subject: &str| match got - expected {
            0 => None,
            ..0 => Some(format!(
                "too few leaves for {subject}: expected {expected}, got {got}"
            )),
            _ => Some(format!(
                "too many leaves for {subject}: expected {expected}"
            )),
        };
        let text = |error: Option<tree::StructureError>| error.map(|error| error.to_string());
        assert_eq!(
            text(prefix.broadcast(&leaves, &full).err()),
            message(3, "tree")
        );
        assert_eq!(
            text(prefix.unflatten::<Tree<i32>, _>(leaves.clone()).err()),
            message(3, "tree")
        );
        assert_eq!(
            text(fetches.rebuild::<[i32; 3], _>(&leaves).err()),
            message(2, "the fetches")
        );
        assert_eq!(
            text(schema.rebuild::<[i32; 3]>(leaves).err()),
            message(2, "the schema")
        );
    }
}

#[test]
fn names_of_types_in_messages() {
    #[allow(non_camel_case_types)]
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct With_Underscore<T>(T);
    impl<T> DictKey for With_Underscore<T> {
        fn to_key(&self) -> Key {
            Key::from(0)
        }
        fn from_key(_: &Key) -> Option<Self> {
            None
        }
    }
    type Map = BTreeMap<With_Underscore<(String, Vec<std::sync::Arc<str>>)>, i32>;
    assert_eq!(
        tree!({"a": 1})
            .structure()
            .unflatten::<Map, _>([1])
            .unwrap_err()
            .to_string(),
        "cannot rebuild tree: expected keys of type With_Underscore<(String, Vec<Arc<str>>)>, got the key 'a'"
    );
}

#[test]
fn the_number_of_children_that_a_head_fixes() {
    let arity = |tree: Tree<i32>| tree.head().unwrap().arity();
    assert_eq!(arity(tree!(None)), Some(0));
    assert_eq!(arity(tree!((1, 2))), None);
    assert_eq!(arity(tree!([1, 2])), None);
    assert_eq!(arity(tree!({"a": 1, "b": 2})), Some(2));
    assert_eq!(arity(Tree::ordered_dict([("a", tree!(1))])), Some(1));
    assert_eq!(arity(tree!(P { x: 1, y: 2, z: 3 })), Some(3));
    let of = |keys| {
        let ty = NodeType::dynamic("T", "tests", NodeStyle::Custom, keys);
        Head::dynamic(ty, Vec::new()).arity()
    };
    assert_eq!(
        of(ChildKeys::Items(vec![Key::from(1), Key::from("b")].into())),
        Some(2)
    );
    assert_eq!((of(ChildKeys::Seq), of(ChildKeys::Flat)), (None, None));
}

#[test]
fn a_leaf_and_nothing_else_is_strictly_a_leaf() {
    let check = |tree: Tree<i32>, strict, leaf| {
        let def = tree.structure();
        assert_eq!(
            (def.is_strict_leaf(), def.is_leaf()),
            (strict, leaf),
            "{tree}"
        );
    };
    check(tree!(1), true, true);
    check(tree!(None), false, true);
    check(tree!([]), false, true);
    check(tree!([1]), false, false);
}

#[test]
fn what_is_wrong_with_axes() {
    let here = KeyPath::root();
    let message = |axis: i32, shape: &[usize]| {
        Axis(Some(axis))
            .normalized(shape, &here)
            .map_err(|error| error.to_string())
    };
    assert_eq!(message(0, &[7]), Ok(Some(0)));
    assert_eq!(message(-1, &[7]), Ok(Some(0)));
    let error = |axis: i32, rank: usize, shape: &str| {
        Err(format!(
            "axis {axis} of the array of shape {shape} does not exist: its rank must be at least {rank}, but is {}",
            usize::from(shape != "[]")
        ))
    };
    assert_eq!(message(0, &[]), error(0, 1, "[]"));
    assert_eq!(message(-1, &[]), error(-1, 1, "[]"));
    assert_eq!(message(1, &[7]), error(1, 2, "[7]"));
    assert_eq!(message(-2, &[7]), error(-2, 2, "[7]"));
    assert_eq!(
        [Axis::NONE, Axis(Some(0)), Axis(Some(-2))].map(|axis| axis.to_string()),
        ["None", "0", "-2"]
    );

    let (root, entry) = (
        KeyPath::root(),
        tree!([0]).structure().key_paths().remove(0),
    );
    let arrays = [
        (Axis(Some(0)), &[2][..], &root),
        (Axis(Some(0)), &[3][..], &entry),
        (Axis(None), &[4][..], &entry),
    ];
    let sizes = axes::mapped_size(arrays).unwrap_err();
    assert_eq!(
        sizes.to_string(),
        "the mapped axes have different sizes:\n  size 2 at the value\n  size 3 at [0]"
    );
    assert!(sizes.source().is_none());

    let axes = axes!([0, [1]]);
    let error = axes::flatten("in_axes", &axes, &tree!([1, 2]).structure()).unwrap_err();
    let first = axes
        .structure()
        .prefix_errors(&tree!([1, 2]).structure())
        .remove(0);
    assert_eq!(error.source().unwrap().to_string(), first.to_string());
    assert!(AxesError::NothingMapped.source().is_none());
}

#[test]
fn tuples_with_named_fields_are_compared_by_names() {
    fn of(ty: &'static NodeType) -> Tree<i32> {
        Tree::from_value(&Pair(ty, 1, 2))
    }
    fn fields(names: &'static [&'static str]) -> ChildKeys {
        ChildKeys::Attrs(
            names
                .iter()
                .map(|name| (*name).into())
                .collect::<Vec<_>>()
                .into(),
        )
    }
    fn leaked(
        name: &'static str,
        style: NodeStyle,
        names: &'static [&'static str],
    ) -> &'static NodeType {
        Box::leak(Box::new(NodeType::dynamic(
            name,
            "tests",
            style,
            fields(names),
        )))
    }
    struct Pair(&'static NodeType, i32, i32);
    impl tree::Pytree<i32> for Pair {
        fn visit<'a, V: tree::Visitor<'a, i32>>(&'a self, visitor: &mut V) {
            visitor.structure(self.0, &[], 2);
            visitor.leaf(&self.1);
            visitor.leaf(&self.2);
        }
        fn unflatten<I: Iterator<Item = i32>>(
            from: &mut tree::Unflatten<'_, I>,
        ) -> Result<Self, tree::StructureError> {
            Err(from.leaf_error("nothing", "a pair"))
        }
    }
    use NodeStyle::{NamedTuple, Struct};
    let point = of(leaked("Point", NamedTuple, &["x", "y"]));
    let again = of(leaked("Point", NamedTuple, &["x", "y"]));
    let renamed = of(leaked("Pixel", NamedTuple, &["x", "y"]));
    let other_fields = of(leaked("Point", NamedTuple, &["x", "z"]));
    let as_struct = of(leaked("Point", Struct, &["x", "y"]));
    let other_struct = of(leaked("Point", Struct, &["x", "y"]));
    let same = |a: &Tree<i32>, b: &Tree<i32>| {
        assert_eq!(nest::assert_same_structure(a, b, CheckTypes::No), Ok(()));
        nest::assert_same_structure(a, b, CheckTypes::Yes).is_ok()
    };
    assert!(same(&point, &point) && same(&point, &again));
    assert!(!same(&point, &renamed));
    assert!(!same(&point, &other_fields));
    assert!(!same(&point, &as_struct) && !same(&as_struct, &point));
    assert!(same(&as_struct, &as_struct) && !same(&as_struct, &other_struct));
    assert!(same(&tree!((1, 2)), &tree!((3, 4))) && !same(&tree!((1, 2)), &tree!([3, 4])));
}

#[test]
fn mappings_stand_for_mappings_alone() {
    let ordered = Tree::ordered_dict([("a", Tree::Leaf(1))]);
    let up_to = |shallow: &Tree<i32>, deep: &Tree<i32>| {
        let flat = nest::flatten_up_to(shallow, deep, CheckTypes::Yes);
        flat.map(|parts| parts.len())
            .map_err(|error| error.to_string())
    };
    assert_eq!(up_to(&tree!({"a": 1}), &ordered), Ok(1));
    assert_eq!(up_to(&ordered, &tree!({"a": 1})), Ok(1));
    for (shallow, deep) in [
        (tree!({"a": 1}), tree!([1])),
        (tree!([1]), tree!({"a": 1})),
        (ordered, tree!((1,))),
        (tree!([1]), tree!((1,))),
    ] {
        let error = nest::flatten_up_to(&shallow, &deep, CheckTypes::Yes).unwrap_err();
        assert!(
            matches!(error.kind(), nest::NestErrorKind::Type { .. }),
            "{error}"
        );
    }
}

#[test]
fn debug_text_is_the_text() {
    let tree: Tree<i32> = tree!([(1, None), {"a": P { x: 2 }}]);
    let def: TreeDef = tree.structure();
    assert_eq!(format!("{def:?}"), def.to_string());
    let heads = |tree: &Tree<i32>| format!("{:?}", tree.head().unwrap());
    assert_eq!(heads(&tree), "list");
    assert_eq!(heads(&tree!(())), "tuple");
    assert_eq!(heads(&Tree::none()), "NoneType");
    assert_eq!(heads(&tree!({"a": 1})), "dict[('a',)]");
    assert_eq!(heads(&tree!(P { x: 1 })), "P[()]");
    let point = Tree::named_tuple("Point", [("x", Tree::Leaf(1))]);
    assert_eq!(heads(&point), "namedtuple[Point]");
    let Some(Head::Struct(head)) = point.head() else {
        panic!("{point}")
    };
    assert_eq!(
        format!("{head:?} {:?}", head.node_type()),
        "namedtuple[Point] Point"
    );
    assert_eq!(
        format!("{:?}", tree::KeyText::from("it's \"a\"")),
        r#""it's \"a\"""#
    );
    assert_eq!(tree::Static(3).to_string(), "3");
}

#[test]
fn static_values_in_text() {
    let width: std::sync::Arc<dyn tree::StaticValue> = std::sync::Arc::new(3);
    let of = |style, statics| {
        let ty = NodeType::dynamic("T", "tests", style, ChildKeys::Seq);
        Tree::node(Head::dynamic(ty, statics), [Tree::Leaf(1)]).to_string()
    };
    assert_eq!(of(NodeStyle::Struct, vec![width.clone()]), "T(1; (3,))");
    assert_eq!(of(NodeStyle::Custom, vec![width.clone()]), "T(1; 3)");
    assert_eq!(of(NodeStyle::Custom, vec![]), "T(1)");
    assert_eq!(of(NodeStyle::Struct, vec![]), "T(1)");
    assert_eq!(of(NodeStyle::NamedTuple, vec![]), "T(1)");
}

proptest! {
    /// Leaves are combined in order, in a tree whose depth is the logarithm of their number.
    #[test]
    fn associative_reductions_are_balanced(leaves in prop::collection::vec("[a-z]", 1..70)) {
        let (count, text) = (leaves.len(), leaves.concat());
        let leaves: Vec<(String, u32)> = leaves.into_iter().map(|text| (text, 0)).collect();
        let tree = Tree::list(leaves.into_iter().map(Tree::Leaf));
        let (all, depth) = tree::reduce_associative(
            |(a, i): (String, u32), (b, j)| (a + &b, i.max(j) + 1),
            &tree,
        ).unwrap();
        prop_assert_eq!(all, text);
        prop_assert_eq!(depth, count.next_power_of_two().ilog2());
    }
}
