//! Implementations of `Pytree` that are written by hand: leaves made on the fly, and mistakes.

use jaxide_tree::{
    self as tree, ChildKeys, NodeStyle, NodeType, Pytree, StructureError, Unflatten, Visitor,
};

static SPAN: NodeType = NodeType::new("Span", module_path!(), NodeStyle::Custom, ChildKeys::Seq);

/// `start`, `start + 1` and so on: numbers that are made when somebody asks for them.
#[derive(Clone, Debug, PartialEq)]
struct Count {
    start: i64,
    len: usize,
}

impl Pytree<i64> for Count {
    fn visit<'a, V: Visitor<'a, i64>>(&'a self, visitor: &mut V) {
        visitor.structure(&SPAN, &[&self.len], self.len);
        (self.start..)
            .take(self.len)
            .for_each(|i| visitor.made_leaf(i));
    }
    fn unflatten<I: Iterator<Item = i64>>(
        from: &mut Unflatten<'_, I>,
    ) -> Result<Self, StructureError> {
        let node = from.structure(&SPAN)?;
        let len = *node.value(0)?;
        assert_eq!(node.len(), len);
        let leaves: Vec<i64> = (0..node.len())
            .map(|_| from.leaf())
            .collect::<Result<_, _>>()?;
        let start = leaves.first().copied().unwrap_or(0);
        for (i, leaf) in leaves.iter().enumerate() {
            if *leaf != start + i as i64 {
                return Err(from.leaf_error("the next number", &leaf.to_string()));
            }
        }
        Ok(Count { start, len })
    }
}

fn counts() -> (Count, Vec<Count>) {
    let count = |start, len| Count { start, len };
    (count(1, 3), vec![count(10, 2), count(0, 0), count(20, 1)])
}

#[test]
fn leaves_that_are_made_are_leaves() {
    let value = counts();
    let expected = [1, 2, 3, 10, 11, 20];
    assert_eq!(tree::leaves(&value), expected);
    let refs = tree::leaf_refs(&value);
    assert_eq!(
        refs.iter().map(|leaf| **leaf).collect::<Vec<i64>>(),
        expected
    );
    let mut seen = Vec::new();
    tree::for_each(|leaf: &i64| seen.push(*leaf), &value);
    assert_eq!(seen, expected);
    let mut moved = vec![-1];
    value.clone().into_leaves(&mut moved);
    assert_eq!((moved[0], &moved[1..]), (-1, &expected[..]));
    assert_eq!(tree::fold(|sum, leaf: &i64| sum + leaf, &value, 0), 47);
    let with_paths: Vec<String> = tree::leaves_with_path(&value)
        .iter()
        .map(|(path, leaf)| format!("{path} = {leaf}"))
        .collect();
    assert_eq!(
        with_paths,
        [
            "[0][0] = 1",
            "[0][1] = 2",
            "[0][2] = 3",
            "[1][0][0] = 10",
            "[1][0][1] = 11",
            "[1][2][0] = 20"
        ]
    );
}

#[test]
fn structures_of_leaves_that_are_made() {
    let value = counts();
    let (leaves, treedef) = tree::flatten(&value);
    assert_eq!(treedef, tree::structure::<i64, _>(&value));
    assert_eq!(treedef.num_leaves(), leaves.len());
    assert!(treedef.matches::<i64, _>(&value));
    assert_eq!(
        tree::structure_hash::<i64, _>(&value),
        treedef.structural_hash()
    );
    assert_eq!(
        treedef.to_string(),
        "PyTreeDef((CustomNode(Span[3], [*, *, *]), [CustomNode(Span[2], [*, *]), \
         CustomNode(Span[0], []), CustomNode(Span[1], [*])]))"
    );
    assert_eq!(treedef.unflatten(leaves), Ok(value.clone()));

    let mut shorter = value.clone();
    shorter.1[2].len = 2;
    assert!(!treedef.matches::<i64, _>(&shorter));
    assert_ne!(
        tree::structure_hash::<i64, _>(&shorter),
        treedef.structural_hash()
    );

    let shifted = tree::map(|leaf| leaf + 5, &value).unwrap();
    assert_eq!(
        (shifted.0.start, shifted.1[0].start, shifted.1[2].start),
        (6, 15, 25)
    );
    let error = tree::map(|leaf| leaf * 2, &value).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot rebuild tree[0][2]: expected the next number, got 4"
    );
}

/// Says that it is one leaf, and reports and asks for as many as it holds.
#[derive(Debug)]
struct Miscounted(Vec<i64>);

impl Pytree<i64> for Miscounted {
    fn visit<'a, V: Visitor<'a, i64>>(&'a self, visitor: &mut V) {
        self.0.iter().for_each(|leaf| visitor.leaf(leaf));
    }
    fn unflatten<I: Iterator<Item = i64>>(
        from: &mut Unflatten<'_, I>,
    ) -> Result<Self, StructureError> {
        Ok(Miscounted(vec![from.leaf()?, from.leaf()?]))
    }
}

#[test]
fn more_nodes_than_a_treedef_has_are_noticed() {
    let treedef = tree::TreeDef::leaf();
    assert!(treedef.matches::<i64, _>(&Miscounted(vec![1])));
    assert!(!treedef.matches::<i64, _>(&Miscounted(vec![])));
    assert!(!treedef.matches::<i64, _>(&Miscounted(vec![1, 2])));
    assert!(!treedef.matches::<i64, _>(&Miscounted(vec![1, 2, 3])));
    assert_eq!(
        treedef
            .unflatten::<Miscounted, _>([1, 2])
            .unwrap_err()
            .to_string(),
        "too few leaves for tree: expected 1, got 1"
    );
    let error = tree::structure::<i64, _>(&[0; 3]).unflatten::<Miscounted, _>([1, 2, 3]);
    assert_eq!(
        error.unwrap_err().to_string(),
        "cannot rebuild tree: expected a leaf, got list"
    );
}
