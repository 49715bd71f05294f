//! The parts of `nest` that have no recorded cases.

use jaxide_tree::nest::{self, CheckTypes, Order};
use jaxide_tree::{Tree, tree};

fn structure() -> Tree<i32> {
    tree!([(1, 2), [3], {"a": 4}])
}

#[test]
fn traversal_visits_containers_before_or_after_their_parts() {
    let visited = |order| {
        let mut visited = Vec::new();
        let same = nest::traverse_with_path(
            |path, part| {
                visited.push(format!("{}: {part}", path.simple("/")));
                None
            },
            &structure(),
            order,
        );
        assert_eq!(same.unwrap(), structure());
        visited
    };
    assert_eq!(
        visited(Order::TopDown),
        [
            ": [(1, 2), [3], {'a': 4}]",
            "0: (1, 2)",
            "0/0: 1",
            "0/1: 2",
            "1: [3]",
            "1/0: 3",
            "2: {'a': 4}",
            "2/a: 4",
        ]
    );
    assert_eq!(
        visited(Order::BottomUp),
        [
            "0/0: 1",
            "0/1: 2",
            "0: (1, 2)",
            "1/0: 3",
            "1: [3]",
            "2/a: 4",
            "2: {'a': 4}",
            ": [(1, 2), [3], {'a': 4}]",
        ]
    );
}

#[test]
fn traversal_replaces_what_it_is_given_something_for() {
    let mut seen = 0;
    let replace = |part: &Tree<i32>| {
        seen += 1;
        (part.children().len() == 2).then(Tree::none)
    };
    let result = nest::traverse(replace, &structure(), Order::TopDown).unwrap();
    assert_eq!(result, tree!([None, [3], {"a": 4}]));
    // The parts of the tuple were not visited.
    assert_eq!(seen, 6);

    let sum = |part: &Tree<i32>| {
        let sum = part.leaves().into_iter().sum();
        (!part.is_leaf()).then_some(Tree::Leaf(sum))
    };
    assert_eq!(
        nest::traverse(sum, &structure(), Order::BottomUp).unwrap(),
        Tree::Leaf(10)
    );
}

#[test]
fn ordered_maps_are_visited_sorted_and_keep_their_order() {
    let map = Tree::ordered_dict([("b", Tree::Leaf(1)), ("a", Tree::Leaf(2))]);
    let mut count = 0;
    let numbered = nest::map_structure(
        |_| {
            count += 1;
            Tree::Leaf(count)
        },
        &[&map],
        CheckTypes::Yes,
    );
    assert_eq!(
        numbered.unwrap(),
        Tree::ordered_dict([("b", Tree::Leaf(2)), ("a", Tree::Leaf(1))])
    );
}

/// As dm-tree does, whose answers these are.
#[test]
fn which_structures_are_the_same() {
    #[track_caller]
    fn check(a: Tree<i32>, b: Tree<i32>, check_types: CheckTypes, expected: Result<(), &str>) {
        let message = nest::assert_same_structure(&a, &b, check_types)
            .err()
            .map(|e| e.to_string());
        let first_line = message
            .as_deref()
            .and_then(|message| message.lines().next());
        assert_eq!(first_line, expected.err());
    }
    let ordered = || Tree::ordered_dict([("a", Tree::Leaf(1))]);
    let point = || Tree::named_tuple("P", [("x", Tree::Leaf(1)), ("y", Tree::Leaf(2))]);
    check(tree!({"a": 1}), ordered(), CheckTypes::Yes, Ok(()));
    check(tree!({"a": 1}), tree!({"b": 1}), CheckTypes::No, Ok(()));
    check(tree!([1]), tree!({"a": 1}), CheckTypes::No, Ok(()));
    check(point(), tree!((1, 2)), CheckTypes::No, Ok(()));
    check(
        tree!({"a": 1}),
        tree!({"a": 1, "b": 2}),
        CheckTypes::Yes,
        Err("different keys at structure: expected ['a'], got ['a', 'b']"),
    );
    check(
        tree!({"a": 1}),
        tree!({"a": 1, "b": 2}),
        CheckTypes::No,
        Err("different lengths at structure: expected 1, got 2"),
    );
    check(
        tree!((1, 2)),
        point(),
        CheckTypes::Yes,
        Err("different types at structure: expected tuple, got P"),
    );
    check(
        tree!([[1], 2]),
        tree!([(1,), 2, 3]),
        CheckTypes::Yes,
        Err("different types at structure[0]: expected list, got tuple"),
    );
    check(
        tree!(None),
        tree!([]),
        CheckTypes::Yes,
        Err("at structure one is a list, the other a leaf of type NoneType"),
    );
}

/// As dm-tree does, whose answers these are.
#[test]
fn which_structures_are_shallow_ones_of_others() {
    #[track_caller]
    fn check(
        shallow: Tree<i32>,
        deep: Tree<i32>,
        check_types: CheckTypes,
        expected: Result<&str, &str>,
    ) {
        let parts = nest::flatten_up_to(&shallow, &deep, check_types);
        let parts = parts.map(|parts| Tree::list(parts.into_iter().cloned()).to_string());
        let parts = parts.map_err(|error| error.to_string());
        assert_eq!(parts.as_deref().map_err(|error| error.as_str()), expected);
    }
    let point = || Tree::named_tuple("P", [("x", Tree::Leaf(1)), ("y", Tree::Leaf(2))]);
    check(tree!(0), tree!([1, 2]), CheckTypes::Yes, Ok("[[1, 2]]"));
    check(tree!(None), tree!([1, 2]), CheckTypes::Yes, Ok("[[1, 2]]"));
    check(
        tree!({"a": 0}),
        Tree::ordered_dict([("a", tree!([1]))]),
        CheckTypes::Yes,
        Ok("[[1]]"),
    );
    check(tree!({0: 0}), tree!([5]), CheckTypes::No, Ok("[5]"));
    check(tree!([0]), tree!({0: 5}), CheckTypes::No, Ok("[5]"));
    check(
        tree!([0]),
        tree!({"a": 5}),
        CheckTypes::No,
        Err("missing keys at structure: [0]"),
    );
    check(
        point(),
        tree!((1, 2)),
        CheckTypes::Yes,
        Err("different types at structure: expected P, got tuple"),
    );
    // A tuple with named fields is a tuple, but its children have other keys.
    check(
        tree!((0, 0)),
        point(),
        CheckTypes::Yes,
        Err("missing keys at structure: [0]"),
    );
}

/// As dm-tree does: only what the first structure has is looked up in the others.
#[test]
fn mapping_with_paths_does_not_compare_the_structures() {
    let f = |path: &jaxide_tree::KeyPath, args: &[&Tree<i32>]| {
        let args: Vec<_> = args.iter().map(ToString::to_string).collect();
        Tree::Leaf(format!("{}:{}", path.simple("/"), args.join("+")))
    };
    let result = |a: Tree<i32>, b: Tree<i32>| {
        let result = nest::map_structure_with_path(f, &[&a, &b]);
        result
            .map(|tree| tree.to_string())
            .map_err(|error| error.to_string())
    };
    assert_eq!(
        result(tree!({"a": 1}), tree!({"a": 2, "b": 3})),
        Ok("{'a': a:1+2}".into())
    );
    assert_eq!(
        result(tree!([1, 2]), tree!((3, 4, 5))),
        Ok("[0:1+3, 1:2+4]".into())
    );
    assert_eq!(
        result(tree!([1, 2]), tree!([3])),
        Err("missing keys at structure: [1]".into())
    );
    assert_eq!(
        result(tree!({"a": 1}), tree!({"b": 2})),
        Err("missing keys at structure: ['a']".into())
    );
    assert_eq!(
        nest::map_structure_with_path(f, &[])
            .unwrap_err()
            .to_string(),
        "there must be at least one structure"
    );
}
