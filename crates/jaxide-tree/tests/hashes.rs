//! Hashes and the order of keys and structures.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use jaxide_tree::{
    self as tree, ChildKeys, DictKey, Head, Key, KeyText, NodeStyle, NodeType, Pytree, Tree,
    TreeDef,
};
use proptest::prelude::*;

/// A key of a type of one's own, with the methods that the trait has by default.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Named(String);

impl DictKey for Named {
    fn to_key(&self) -> Key {
        Key::from(self.0.clone())
    }
    fn from_key(key: &Key) -> Option<Self> {
        String::from_key(key).map(Named)
    }
}

fn hash(feed: impl FnOnce(&mut DefaultHasher)) -> u64 {
    let mut state = DefaultHasher::new();
    feed(&mut state);
    state.finish()
}

/// Keys that are all different, in ascending order where Python has one.
fn keys() -> Vec<Key> {
    let tuple = |keys: &[Key]| Key::Tuple(keys.into());
    let (a, b) = (Key::from("a"), Key::from("b"));
    vec![
        Key::Int(i128::MIN),
        Key::Int(-1 << 64),
        Key::Int(-1),
        Key::Bool(false),
        Key::Int(0),
        Key::Bool(true),
        Key::Int(1),
        Key::Int(2),
        Key::Int(1 << 64),
        Key::Int(1 << 65),
        Key::Int(i128::MAX),
        Key::from(""),
        a.clone(),
        Key::from("aa"),
        Key::from("aaaaaaaa"),
        Key::from("aaaaaaaaa"),
        b.clone(),
        tuple(&[]),
        tuple(&[tuple(&[])]),
        tuple(&[tuple(std::slice::from_ref(&a))]),
        tuple(&[tuple(std::slice::from_ref(&a)), b.clone()]),
        tuple(&[tuple(&[a.clone(), b.clone()])]),
    ]
}

#[test]
fn different_keys_have_different_hashes() {
    let hashes: HashSet<u64> = keys()
        .iter()
        .map(|key| hash(|state| key.hash(state)))
        .collect();
    assert_eq!(hashes.len(), keys().len());
    let text = |text: KeyText| hash(|state| text.hash(state));
    assert_eq!(text("a".into()), text("a".to_string().into()));
    assert_ne!(text("a".into()), text("b".into()));
}

#[test]
fn keys_are_ordered() {
    let keys = keys();
    for (i, a) in keys.iter().enumerate() {
        for (j, b) in keys.iter().enumerate() {
            assert_eq!(a.partial_cmp(b), Some(a.cmp(b)));
            assert_eq!(a.cmp(b) == Ordering::Equal, i == j, "{a} and {b}");
            // Python has an order among numbers, and among strings.
            if i.max(j) < 11 || (11..17).contains(&i) && (11..17).contains(&j) {
                assert_eq!(
                    (a.cmp(b), a.order(b)),
                    (i.cmp(&j), Some(i.cmp(&j))),
                    "{a} and {b}"
                );
            }
        }
    }
    let (a, b): (KeyText, KeyText) = ("a".into(), "b".to_string().into());
    assert_eq!([a < b, b < a], [true, false]);
}

#[test]
fn keys_of_a_type_of_ones_own() {
    let [a, b] = ["a", "b"].map(|name| Named(name.into()));
    assert!(a.is_key(&Key::from("a")) && !a.is_key(&Key::from("b")));
    assert!(!a.is_key(&Key::from(1)));
    assert_eq!(
        hash(|state| a.hash_key(state)),
        hash(|state| Key::from("a").hash(state))
    );

    let value = BTreeMap::from([(a.clone(), 1), (b, 2)]);
    let (leaves, treedef) = tree::flatten(&value);
    assert_eq!(
        treedef,
        tree::structure::<i32, _>(&HashMap::from([("a", 0), ("b", 0)]))
    );
    assert!(treedef.matches::<i32, _>(&value));
    assert!(!treedef.matches::<i32, _>(&BTreeMap::from([(a, 1), (Named("c".into()), 2)])));
    assert_eq!(
        tree::structure_hash::<i32, _>(&value),
        treedef.structural_hash()
    );
    assert_eq!(treedef.unflatten(leaves), Ok(value));
}

#[test]
fn a_key_is_a_key_itself() {
    for key in keys() {
        assert_eq!(Key::from_key(&key).as_ref(), Some(&key));
        assert_eq!(keys().iter().filter(|other| key.is_key(other)).count(), 1);
    }
    let value: BTreeMap<Key, i32> = [Key::from(2), Key::from(1)].into_iter().zip(1..).collect();
    let (leaves, treedef) = tree::flatten(&value);
    assert!(treedef.matches::<i32, _>(&value));
    assert_eq!(treedef.unflatten(leaves), Ok(value));
}

/// A type with static fields of the kinds that the standard library hashes in ways of their own.
#[derive(Clone, Debug, PartialEq, Pytree)]
struct Statics {
    leaf: f32,
    #[pytree(static)]
    small: (u8, i16, u32),
    #[pytree(static)]
    large: (i64, u128, usize),
    #[pytree(static)]
    other: (char, bool, Option<String>),
}

#[test]
fn different_structures_have_different_hashes() {
    static A: NodeType = NodeType::new("T", "hashes", NodeStyle::Custom, ChildKeys::Flat);
    static B: NodeType = NodeType::new("T", "hashes", NodeStyle::Custom, ChildKeys::Flat);
    struct Of(&'static NodeType, Vec<f32>);
    impl Pytree<f32> for Of {
        fn visit<'a, V: tree::Visitor<'a, f32>>(&'a self, visitor: &mut V) {
            visitor.structure(self.0, &[], self.1.len());
            self.1.iter().for_each(|leaf| visitor.leaf(leaf));
        }
        fn unflatten<I: Iterator<Item = f32>>(
            from: &mut tree::Unflatten<'_, I>,
        ) -> Result<Self, tree::StructureError> {
            let (which, node) = from.variant(&[&A, &B])?;
            let leaves = (0..node.len())
                .map(|_| from.leaf())
                .collect::<Result<_, _>>()?;
            Ok(Of([&A, &B][which], leaves))
        }
    }

    let statics = Statics {
        leaf: 0.0,
        small: (0, 0, 0),
        large: (0, 0, 0),
        other: ('a', false, None),
    };
    let with = |change: &dyn Fn(&mut Statics)| {
        let mut changed = statics.clone();
        change(&mut changed);
        tree::structure::<f32, _>(&changed)
    };
    let dynamic = |name: &'static str, keys| {
        let ty = NodeType::dynamic(name, "hashes", NodeStyle::Custom, keys);
        Tree::node(
            Head::dynamic(ty, Vec::new()),
            [Tree::<f32>::none(), Tree::none()],
        )
        .structure()
    };
    let mut defs = vec![
        TreeDef::leaf(),
        tree::structure::<f32, _>(&()),
        tree::structure::<f32, _>(&[0.0; 0]),
        Tree::<f32>::none().structure(),
        tree::structure::<f32, _>(&(None::<f32>, None::<f32>)),
        tree::structure::<f32, _>(&[[0.0; 1]; 1]),
        tree::structure::<f32, _>(&[0.0; 2]),
        tree::structure::<f32, _>(&(0.0, 0.0)),
        tree::structure::<f32, _>(&Of(&A, vec![])),
        tree::structure::<f32, _>(&Of(&B, vec![])),
        tree::structure::<f32, _>(&Of(&A, vec![1.0])),
        dynamic("A", ChildKeys::Seq),
        dynamic("B", ChildKeys::Seq),
        dynamic("A", ChildKeys::Flat),
        dynamic(
            "A",
            ChildKeys::Items(vec![Key::from(0), Key::from(1)].into()),
        ),
        dynamic(
            "A",
            ChildKeys::Items(vec![Key::from(0), Key::from(2)].into()),
        ),
        with(&|_| {}),
        with(&|s| s.small.0 = 1),
        with(&|s| s.small.1 = -1),
        with(&|s| s.small.2 = 1 << 31),
        with(&|s| s.small.2 = 1),
        with(&|s| s.large.0 = -1),
        with(&|s| s.large.1 = 1 << 100),
        with(&|s| s.large.1 = 1),
        with(&|s| s.large.2 = 1),
        with(&|s| s.other.0 = 'b'),
        with(&|s| s.other.1 = true),
        with(&|s| s.other.2 = Some(String::new())),
        with(&|s| s.other.2 = Some("a".into())),
    ];
    for key in keys() {
        let items = [(key, Tree::Leaf(0.0))];
        defs.push(Tree::ordered_dict(items.clone()).structure());
        defs.push(Tree::dict(items).unwrap().structure());
    }
    let hashes: HashSet<u64> = defs.iter().map(TreeDef::structural_hash).collect();
    assert_eq!(hashes.len(), defs.len());
    for (i, a) in defs.iter().enumerate() {
        assert!(defs[..i].iter().all(|b| a != b), "{a}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    /// Hash tables take the lowest bits of a hash for the place and the highest ones to tell entries apart.
    #[test]
    fn hashes_of_structures_are_spread_evenly(seed in any::<u64>()) {
        let defs: Vec<TreeDef> = (0..4096)
            .map(|i| {
                let key = Key::Int(i128::from(seed) << 12 | i);
                Tree::dict([(key, Tree::Leaf(0))]).unwrap().structure()
            })
            .collect();
        let distinct = |bits: &dyn Fn(u64) -> u64| {
            defs.iter().map(|def| bits(def.structural_hash())).collect::<HashSet<u64>>().len()
        };
        prop_assert_eq!(distinct(&|hash| hash), 4096);
        // 4096 random numbers below 4096 have 2589 different values, give or take 25.
        prop_assert!(distinct(&|hash| hash & 0xfff) > 2300);
        prop_assert!(distinct(&|hash| hash >> 52) > 2300);
    }
}
