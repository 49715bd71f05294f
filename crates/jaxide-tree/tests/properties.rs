//! Laws that hold for every tree.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use jaxide_tree::nest::{self, CheckTypes};
use jaxide_tree::{self as tree, ChildKeys, Head, Key, NodeStyle, NodeType, Pytree, Tree, TreeDef};
use proptest::prelude::*;
use proptest::sample::Index;

/// Trees with containers of every kind.
fn trees() -> impl Strategy<Value = Tree<u16>> {
    let leaf = prop_oneof![4 => any::<u16>().prop_map(Tree::Leaf), 1 => Just(Tree::none())];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let children = prop::collection::vec(inner, 0..4);
        (children, 0..8, any::<bool>())
            .prop_map(|(children, kind, flag)| container(kind, flag, children))
    })
}

fn container(kind: i32, flag: bool, children: Vec<Tree<u16>>) -> Tree<u16> {
    let names = ["z", "a", "m", "k"].into_iter();
    let numbered = (0i32..).map(|i| Key::from(i - 1));
    match kind {
        0 => Tree::list(children),
        1 => Tree::tuple(children),
        2 => Tree::dict(names.zip(children)).unwrap(),
        3 => Tree::dict(numbered.zip(children)).unwrap(),
        4 => Tree::ordered_dict(names.zip(children)),
        5 => Tree::structure_of("S", names.zip(children), vec![Arc::new(flag)]),
        6 => Tree::named_tuple(if flag { "P" } else { "Q" }, names.zip(children)),
        _ => {
            let keys = if flag {
                ChildKeys::Seq
            } else {
                ChildKeys::Flat
            };
            let ty = NodeType::dynamic("C", "tests", NodeStyle::Custom, keys);
            Tree::node(Head::dynamic(ty, Vec::new()), children)
        }
    }
}

/// Two trees that are often equal in structure, and otherwise often nearly so.
fn pairs() -> impl Strategy<Value = (Tree<u16>, Tree<u16>)> {
    (trees(), trees(), any::<Index>(), 0..3).prop_map(|(a, b, at, how)| match how {
        0 => (a, b),
        1 => {
            let same = a.map(|x| x.wrapping_add(1));
            (a, same)
        }
        _ => {
            let grafted = graft(&a, &b, at);
            (a, grafted)
        }
    })
}

/// The tree with another one in the place of one of its leaves, if it has any.
fn graft(tree: &Tree<u16>, other: &Tree<u16>, at: Index) -> Tree<u16> {
    let count = tree.leaves().len();
    let chosen = (count > 0).then(|| at.index(count));
    let mut i = 0;
    let grafted = tree.map(|leaf| {
        i += 1;
        if Some(i - 1) == chosen {
            other.clone()
        } else {
            Tree::Leaf(*leaf)
        }
    });
    grafted.join()
}

/// A tree and a prefix of it: the tree, cut off at some of its containers.
fn prefixes() -> impl Strategy<Value = (Tree<()>, Tree<u16>)> {
    (
        trees(),
        prop::collection::vec(prop::bool::weighted(0.3), 40),
    )
        .prop_map(|(full, cuts)| {
            let mut cuts = cuts.into_iter().cycle();
            let prefix = full.cut(|_| cuts.next().unwrap()).map(|_| ());
            (prefix, full)
        })
}

/// A type with static fields that contains itself.
#[derive(Clone, Debug, PartialEq, Pytree)]
struct Block {
    value: Option<u16>,
    items: BTreeMap<String, Vec<u16>>,
    blocks: Vec<Block>,
    #[pytree(static)]
    name: u8,
}

fn blocks() -> impl Strategy<Value = Block> {
    let items =
        || prop::collection::btree_map("[a-c]", prop::collection::vec(any::<u16>(), 0..3), 0..3);
    let block = move |blocks: BoxedStrategy<Vec<Block>>| {
        (any::<Option<u16>>(), items(), blocks, 0..2u8).prop_map(|(value, items, blocks, name)| {
            Block {
                value,
                items,
                blocks,
                name,
            }
        })
    };
    block(Just(Vec::new()).boxed()).prop_recursive(3, 12, 3, move |inner| {
        block(prop::collection::vec(inner, 0..3).boxed())
    })
}

/// The value with every leaf the same: what is left is structure and static values.
fn blank(block: &Block) -> Block {
    tree::map(|_| 0, block).unwrap()
}

proptest! {
    #[test]
    fn typed_values_are_trees_too(a in blocks(), b in blocks(), offset in any::<u16>()) {
        let (leaves, a_def) = tree::flatten::<u16, _>(&a);
        let b_def = tree::structure::<u16, _>(&b);
        prop_assert_eq!(&a_def.unflatten::<Block, u16>(leaves).unwrap(), &a);
        let same = blank(&a) == blank(&b);
        prop_assert_eq!(a_def == b_def, same);
        prop_assert_eq!(a_def.matches::<u16, _>(&b), same);
        let hash = |value| tree::structure_hash::<u16, Block>(value);
        prop_assert_eq!(hash(&a) == hash(&b), same);
        prop_assert_eq!(hash(&a), a_def.structural_hash());
        let shifted = tree::map(|x| x.wrapping_add(offset), &a).unwrap();
        prop_assert_eq!(&tree::structure::<u16, _>(&shifted), &a_def);
        // The tree without a type has the same structure, and becomes the value again.
        let dynamic: Tree<u16> = Tree::from_value(&a);
        prop_assert_eq!(&dynamic.structure(), &a_def);
        prop_assert_eq!(dynamic.to_value::<Block>().unwrap(), a);
    }

    #[test]
    fn flattening_and_rebuilding_is_the_identity(value in trees()) {
        let (leaves, treedef) = tree::flatten::<u16, _>(&value);
        prop_assert_eq!(treedef.num_leaves(), leaves.len());
        prop_assert!(treedef.matches::<u16, _>(&value));
        prop_assert_eq!(treedef.unflatten::<Tree<u16>, u16>(leaves.clone()).unwrap(), value.clone());
        let mut moved = Vec::new();
        tree::Pytree::into_leaves(value, &mut moved);
        prop_assert_eq!(moved, leaves);
    }

    #[test]
    fn treedefs_are_equal_when_the_structures_are((a, b) in pairs()) {
        let same = a.map(|_| ()) == b.map(|_| ());
        let (a_def, b_def) = (a.structure(), b.structure());
        prop_assert_eq!(a_def == b_def, same);
        prop_assert_eq!(a_def.matches::<u16, _>(&b), same);
        // A treedef that was taken apart is equal to one that was never whole.
        if let Some(head) = a_def.node_data() {
            let rebuilt = TreeDef::node(head, &a_def.children());
            prop_assert_eq!(&rebuilt, &a_def);
            prop_assert_eq!(rebuilt == b_def, same);
        }
    }

    #[test]
    fn equal_treedefs_hash_equally((a, b) in pairs()) {
        let (a_def, b_def) = (a.structure(), b.structure());
        let state = RandomState::new();
        let structural = |value| tree::structure_hash::<u16, Tree<u16>>(value);
        if a_def == b_def {
            prop_assert_eq!(state.hash_one(&a_def), state.hash_one(&b_def));
            prop_assert_eq!(structural(&a), structural(&b));
        } else {
            // 64 bits: a collision among these would be a mistake in the hash.
            prop_assert_ne!(structural(&a), structural(&b));
        }
        // Treedefs that know their hashes, too.
        prop_assert_eq!((a_def.structural_hash(), b_def.structural_hash()), (structural(&a), structural(&b)));
        prop_assert_eq!(a_def == b_def, a.map(|_| ()) == b.map(|_| ()));
        let rebuilt = a_def.unflatten::<Tree<u16>, u16>(a.leaves().into_iter().copied()).unwrap();
        prop_assert_eq!(structural(&rebuilt), structural(&a));
    }

    #[test]
    fn a_prefix_can_be_broadcast((prefix, full) in prefixes()) {
        let (prefix_def, full_def) = (prefix.structure(), full.structure());
        prop_assert!(prefix_def.is_prefix_of(&full_def));
        prop_assert_eq!(prefix_def.prefix_errors(&full_def), vec![]);
        // Each leaf of the prefix goes to the leaves of the subtree at its place.
        let numbers: Vec<usize> = (0..prefix_def.num_leaves()).collect();
        let flat = prefix_def.broadcast(&numbers, &full_def).unwrap();
        let subtrees = prefix_def.subtrees(&full).unwrap();
        let expected = subtrees.iter().enumerate().flat_map(|(i, s)| vec![i; s.leaves().len()]);
        prop_assert_eq!(flat, expected.collect::<Vec<_>>());
        let spans = prefix_def.flatten_up_to(&full_def).unwrap();
        let defs: Vec<TreeDef> = spans.iter().map(|span| full_def.at_span(*span)).collect();
        prop_assert_eq!(defs, subtrees.iter().map(|s| s.structure()).collect::<Vec<_>>());
        let mut leaf = 0;
        for (span, subtree) in spans.iter().zip(&subtrees) {
            prop_assert_eq!((span.leaf, span.leaves), (leaf, subtree.leaves().len()));
            leaf += span.leaves;
        }
    }

    #[test]
    fn is_prefix_of_agrees_with_broadcast((a, b) in pairs()) {
        let (a_def, b_def) = (a.structure(), b.structure());
        let numbers = vec![0; a_def.num_leaves()];
        let prefix = a_def.is_prefix_of(&b_def);
        prop_assert_eq!(a_def.broadcast(&numbers, &b_def).is_ok(), prefix);
        prop_assert_eq!(a_def.subtrees(&b).is_ok(), prefix);
        prop_assert_eq!(a_def.prefix_errors(&b_def).is_empty(), prefix);
        prop_assert_eq!(prefix && b_def.is_prefix_of(&a_def), a_def == b_def);
        for error in a_def.prefix_errors(&b_def) {
            // Each error is of a place that both have.
            prop_assert!(a.get(error.path()).is_some() && b.get(error.path()).is_some());
        }
    }

    #[test]
    fn transposing_twice_is_the_identity(outer in trees(), inner in trees()) {
        let (outer_def, inner_def) = (outer.structure(), inner.structure());
        let composed = outer_def.compose(&inner_def);
        let count = outer_def.num_leaves() * inner_def.num_leaves();
        prop_assert_eq!(composed.num_leaves(), count);
        let value: Tree<usize> = composed.unflatten(0..count).unwrap();
        let transposed = value.transpose(&outer_def, Some(&inner_def)).unwrap();
        prop_assert_eq!(transposed.structure(), inner_def.compose(&outer_def));
        prop_assert_eq!(transposed.transpose(&inner_def, Some(&outer_def)).unwrap(), value);
    }

    #[test]
    fn composition_is_associative(a in trees(), b in trees(), c in trees()) {
        let [a, b, c] = [a, b, c].map(|tree| tree.structure());
        prop_assert_eq!(a.compose(&b).compose(&c), a.compose(&b.compose(&c)));
        prop_assert_eq!(&a.compose(&TreeDef::leaf()), &a);
        prop_assert_eq!(&TreeDef::leaf().compose(&a), &a);
    }

    #[test]
    fn paths_lead_to_the_leaves(value in trees()) {
        let paths = value.structure().key_paths();
        prop_assert_eq!(paths.len(), value.leaves().len());
        for (path, leaf) in paths.iter().zip(value.leaves()) {
            prop_assert_eq!(value.get(path), Some(&Tree::Leaf(*leaf)));
        }
        let texts: HashSet<String> = paths.iter().map(ToString::to_string).collect();
        prop_assert_eq!(texts.len(), paths.len());
    }

    #[test]
    fn joining_undoes_cutting(value in trees(), cuts in prop::collection::vec(any::<bool>(), 40)) {
        let mut cuts = cuts.into_iter().cycle();
        let cut = value.cut(|_| cuts.next().unwrap());
        prop_assert_eq!(cut.map(|part| (*part).clone()).join(), value);
    }

    #[test]
    fn packing_undoes_flattening_of_nests(value in trees()) {
        let leaves: Vec<Tree<u16>> = nest::flatten(&value).unwrap().into_iter().cloned().collect();
        prop_assert_eq!(&nest::pack_sequence_as(&value, leaves).unwrap(), &value);
        prop_assert_eq!(nest::assert_same_structure(&value, &value, CheckTypes::Yes), Ok(()));
        let same = nest::map_structure(|x| x[0].clone(), &[&value, &value], CheckTypes::Yes).unwrap();
        prop_assert_eq!(same, value);
    }
}
