//! `#[derive(Pytree)]` on structs and enums.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::Arc;

use indexmap::IndexMap;
use jaxide_tree::{self as tree, Pytree, StructureError};

/// Stands for an array: anything that is not a number.
#[derive(Clone, Debug, PartialEq, Pytree)]
#[pytree(leaf)]
struct Array(&'static str);

#[derive(Clone, Debug, PartialEq, Pytree)]
struct Linear<T = Array> {
    w: T,
    b: Option<T>,
    #[pytree(static)]
    width: usize,
    #[pytree(static)]
    name: &'static str,
}

fn linear(w: &'static str, b: Option<&'static str>) -> Linear {
    Linear {
        w: Array(w),
        b: b.map(Array),
        width: 3,
        name: "dense",
    }
}

#[derive(Clone, Debug, PartialEq, Pytree)]
struct Mlp {
    layers: Vec<Linear>,
    scale: (Array,),
}

fn mlp() -> Mlp {
    Mlp {
        layers: vec![linear("w0", Some("b0")), linear("w1", None)],
        scale: (Array("s"),),
    }
}

/// Takes the value apart and together again; compares the structure in all the ways there are.
#[track_caller]
fn check<L, T>(value: &T, structure: &str, paths: &[&str])
where
    L: Clone + Debug + PartialEq,
    T: Pytree<L> + Clone + Debug + PartialEq,
{
    let (leaves, treedef) = tree::flatten::<L, T>(value);
    assert_eq!(treedef.to_string(), format!("PyTreeDef({structure})"));
    assert_eq!(
        treedef
            .key_paths()
            .iter()
            .map(|p| p.to_string())
            .collect::<Vec<_>>(),
        paths
    );
    assert_eq!(treedef.num_leaves(), leaves.len());
    assert!(treedef.matches::<L, T>(value));
    assert_eq!(treedef, tree::structure::<L, T>(value));
    let mut moved = Vec::new();
    value.clone().into_leaves(&mut moved);
    assert_eq!(moved, leaves);
    assert_eq!(treedef.unflatten::<T, L>(leaves).as_ref(), Ok(value));
}

#[test]
fn structs() {
    check::<Array, _>(
        &linear("w", None),
        "CustomNode(Linear[(3, 'dense')], [*, None])",
        &[".w"],
    );
    check::<Array, _>(
        &mlp(),
        "CustomNode(Mlp[()], [[CustomNode(Linear[(3, 'dense')], [*, *]), \
         CustomNode(Linear[(3, 'dense')], [*, None])], (*,)])",
        &[".layers[0].w", ".layers[0].b", ".layers[1].w", ".scale[0]"],
    );
}

#[test]
fn tuple_structs_and_unit_structs() {
    #[derive(Clone, Debug, PartialEq, Pytree)]
    struct Triple(Array, #[pytree(static)] bool, Array);
    #[derive(Clone, Debug, PartialEq, Pytree)]
    struct Unit;

    check::<Array, _>(
        &Triple(Array("a"), true, Array("b")),
        "CustomNode(Triple[(True,)], [*, *])",
        &[".0", ".2"],
    );
    check::<f32, _>(&Unit, "CustomNode(Unit[()], [])", &[]);
    check::<Array, _>(&Unit, "CustomNode(Unit[()], [])", &[]);
}

#[test]
fn named_tuples() {
    #[derive(Clone, Debug, PartialEq, Pytree)]
    #[pytree(named_tuple)]
    struct Moments<T> {
        mean: T,
        square: (T, Option<T>),
    }

    let moments = Moments {
        mean: 1.0f32,
        square: (2.0, None),
    };
    check::<f32, _>(
        &moments,
        "CustomNode(namedtuple[Moments], [*, (*, None)])",
        &[".mean", ".square[0]"],
    );
    assert_eq!(
        tree::structure::<f32, _>(&moments).legacy(),
        "PyTreeDef(namedtuple[<class 'derive.Moments'>], [*,PyTreeDef(tuple, [*,PyTreeDef(None, [])])])"
    );
}

#[test]
fn static_values_print_as_in_python() {
    #[derive(Clone, Debug, PartialEq, Pytree)]
    struct Norm {
        scale: f32,
        #[pytree(static)]
        axes: Vec<String>,
        #[pytree(static)]
        group: Option<(bool, &'static str)>,
        #[pytree(static)]
        seed: Option<u64>,
    }
    check::<f32, _>(
        &Norm {
            scale: 1.0,
            axes: vec!["batch".into(), "it's".into()],
            group: Some((true, "g")),
            seed: None,
        },
        "CustomNode(Norm[(['batch', \"it's\"], (True, 'g'), None)], [*])",
        &[".scale"],
    );
}

#[test]
fn enums() {
    #[derive(Clone, Debug, PartialEq, Pytree)]
    enum Cell {
        Empty,
        Simple(f32),
        Gated {
            gate: Vec<f32>,
            #[pytree(static)]
            kind: Activation,
        },
    }
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pytree)]
    #[pytree(static)]
    enum Activation {
        Relu,
        Tanh,
    }

    check::<f32, _>(&Cell::Empty, "CustomNode(Cell::Empty[()], [])", &[]);
    check::<f32, _>(
        &Cell::Simple(1.0),
        "CustomNode(Cell::Simple[()], [*])",
        &[".0"],
    );
    let gated = Cell::Gated {
        gate: vec![1.0, 2.0],
        kind: Activation::Relu,
    };
    check::<f32, _>(
        &gated,
        "CustomNode(Cell::Gated[(Relu,)], [[*, *]])",
        &[".gate[0]", ".gate[1]"],
    );
    check::<f32, _>(
        &(Activation::Tanh, 1.0f32),
        "(CustomNode(Activation[Tanh], []), *)",
        &["[1]"],
    );
    assert_ne!(
        tree::structure::<f32, _>(&Activation::Relu),
        tree::structure::<f32, _>(&Activation::Tanh)
    );
}

#[test]
fn types_that_contain_themselves() {
    #[derive(Clone, Debug, PartialEq, Pytree)]
    struct Chain {
        value: Array,
        next: Option<Box<Chain>>,
    }
    #[derive(Clone, Debug, PartialEq, Pytree)]
    #[pytree(leaves = "Array")]
    struct Odd(Array, Vec<Even>);
    #[derive(Clone, Debug, PartialEq, Pytree)]
    #[pytree(leaves = "Array")]
    struct Even(Option<Box<Odd>>);

    let chain = Chain {
        value: Array("a"),
        next: Some(Box::new(Chain {
            value: Array("b"),
            next: None,
        })),
    };
    check::<Array, _>(
        &chain,
        "CustomNode(Chain[()], [*, CustomNode(Chain[()], [*, None])])",
        &[".value", ".next.value"],
    );
    let odd = Odd(
        Array("a"),
        vec![Even(None), Even(Some(Box::new(Odd(Array("b"), vec![]))))],
    );
    check::<Array, _>(
        &odd,
        "CustomNode(Odd[()], [*, [CustomNode(Even[()], [None]), \
         CustomNode(Even[()], [CustomNode(Odd[()], [*, []])])]])",
        &[".0", ".1[1].0.0"],
    );
}

#[test]
fn generic_structs_are_one_type_whatever_their_leaves() {
    let axes = Linear {
        w: Some(0),
        b: Some(Some(1)),
        width: 3,
        name: "dense",
    };
    let arrays = linear("w", Some("b"));
    assert_eq!(
        tree::structure::<i32, _>(&axes),
        tree::structure::<Array, _>(&arrays)
    );

    let lengths: Linear<usize> = tree::map_to(|a: &Array| a.0.len(), &arrays).unwrap();
    assert_eq!(
        lengths,
        Linear {
            w: 1,
            b: Some(1),
            width: 3,
            name: "dense"
        }
    );
}

#[test]
fn types_of_one_name_are_two_types() {
    mod other {
        #[derive(super::Pytree)]
        pub(super) struct Chain {
            pub(super) value: f32,
        }
    }
    #[derive(Pytree)]
    struct Chain {
        value: f32,
    }
    let (a, b) = (Chain { value: 1.0 }, other::Chain { value: 1.0 });
    let (a, b) = (tree::structure::<f32, _>(&a), tree::structure::<f32, _>(&b));
    assert_eq!(a.to_string(), b.to_string());
    assert_ne!(a, b);
}

/// Compiles without a warning, though its field's type is less public than itself.
#[derive(Clone, Debug, PartialEq, Pytree)]
pub struct Public {
    hidden: Vec<Hidden>,
}

#[derive(Clone, Debug, PartialEq, Pytree)]
struct Hidden(f32);

#[test]
fn private_fields() {
    check::<f32, _>(
        &Public {
            hidden: vec![Hidden(1.0)],
        },
        "CustomNode(Public[()], [[CustomNode(Hidden[()], [*])]])",
        &[".hidden[0].0"],
    );
}

#[test]
fn the_crate_under_another_path() {
    mod facade {
        pub(crate) use jaxide_tree as trees;
    }
    #[derive(Clone, Debug, PartialEq, Pytree)]
    #[pytree(crate = "facade::trees")]
    struct Scale(f32);

    check::<f32, _>(&Scale(1.0), "CustomNode(Scale[()], [*])", &[".0"]);
}

#[test]
fn generic_fields_and_lifetimes_of_static_fields() {
    #[derive(Clone, Debug, PartialEq, Pytree)]
    struct Named<T, N, const K: usize>
    where
        T: Clone,
    {
        values: [T; K],
        #[pytree(static)]
        name: N,
        marker: std::marker::PhantomData<fn() -> N>,
    }
    let named = |name| Named {
        values: [1.0f32, 2.0],
        name,
        marker: std::marker::PhantomData,
    };
    check::<f32, _>(
        &named("n"),
        "CustomNode(Named[('n',)], [[*, *], ()])",
        &[".values[0]", ".values[1]"],
    );
    // Two instances of one generic struct: the static value says which.
    let treedef = tree::structure::<f32, _>(&named("n"));
    let other: Result<Named<f32, u8, 2>, _> = treedef.unflatten([1.0, 2.0]);
    assert_eq!(
        other.unwrap_err().to_string(),
        "cannot rebuild tree: expected a static value of type u8, got \"n\""
    );
}

#[test]
fn containers() {
    check::<f32, _>(&vec![vec![1.0f32], vec![]], "[[*], []]", &["[0][0]"]);
    check::<f32, _>(
        &[[1.0f32, 2.0], [3.0, 4.0]],
        "[[*, *], [*, *]]",
        &["[0][0]", "[0][1]", "[1][0]", "[1][1]"],
    );
    check::<f32, _>(
        &(1.0f32, (), (2.0f32,), None::<f32>, Some(Some(3.0f32))),
        "(*, (), (*,), None, *)",
        &["[0]", "[2][0]", "[4]"],
    );
    check::<i32, _>(
        &BTreeMap::from([("b".to_string(), 1), ("a".to_string(), 2)]),
        "{'a': *, 'b': *}",
        &["['a']", "['b']"],
    );
    check::<f32, _>(
        &HashMap::from([(10, 1.0), (9, 2.0), (-1, 3.0)]),
        "{-1: *, 9: *, 10: *}",
        &["[-1]", "[9]", "[10]"],
    );
    check::<i32, _>(
        &IndexMap::<_, _>::from_iter([("b", 1), ("a", 2)]),
        "CustomNode(OrderedDict[('b', 'a')], [*, *])",
        &["['b']", "['a']"],
    );
    check::<i32, _>(
        &HashMap::from([((1, true), 1)]),
        "{(1, True): *}",
        &["[(1, True)]"],
    );
    check::<f32, _>(
        &(Box::new(1.0f32), Arc::new(vec![2.0f32])),
        "(*, [*])",
        &["[0]", "[1][0]"],
    );
}

#[test]
fn twelve_elements() {
    let value = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    assert_eq!(tree::leaves::<i32, _>(&value), (1..=12).collect::<Vec<_>>());
}

#[test]
fn errors_name_the_place() {
    #[track_caller]
    fn check<T: Pytree<Array> + Debug>(leaves: usize, message: &str) {
        let treedef = tree::structure::<Array, _>(&(mlp(), vec![Array("x")]));
        let result: Result<T, StructureError> = treedef.unflatten(vec![Array("y"); leaves]);
        assert_eq!(result.unwrap_err().to_string(), message);
    }
    check::<(Mlp, Vec<Array>)>(4, "too few leaves for tree: expected 5, got 4");
    check::<(Mlp, Vec<Array>)>(6, "too many leaves for tree: expected 5");
    check::<(Mlp, Vec<Array>, ())>(5, "different lengths of tuple at tree: expected 3, got 2");
    check::<(Mlp, [Array; 2])>(5, "different lengths of list at tree[1]: expected 2, got 1");
    check::<(Mlp, BTreeMap<u8, Array>)>(5, "different types at tree[1]: expected dict, got list");
    check::<((Array, Array), Vec<Array>)>(5, "different types at tree[0]: expected tuple, got Mlp");
    check::<(Mlp, Vec<(Array,)>)>(
        5,
        "different types at tree[1][0]: expected tuple, got a leaf of type Array",
    );
    check::<(Mlp, Array)>(5, "cannot rebuild tree[1]: expected a leaf, got list");
}

#[test]
fn rebuilding_does_not_run_constructors() {
    #[derive(Debug, Pytree)]
    struct Positive<T> {
        value: T,
    }
    impl Positive<f32> {
        fn new(value: f32) -> Self {
            assert!(value > 0.0);
            Positive { value }
        }
    }
    let treedef = tree::structure::<f32, _>(&Positive::new(1.0));
    assert_eq!(
        treedef.unflatten::<Positive<f32>, _>([-1.0]).unwrap().value,
        -1.0
    );
    let placeholder: Positive<&str> = treedef.unflatten(["nothing yet"]).unwrap();
    assert_eq!(placeholder.value, "nothing yet");
}
