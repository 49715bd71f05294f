//! Looking inside of modules: tables, and what parts give on the way.

use jaxide::{Array, DType, make_jaxpr, nn};
use jaxide_nnx::{
    self as nnx, BatchNorm, Dropout, Intermediate, Linear, List, Module, RNN, Rngs, SimpleCell,
    module, observed,
};

#[derive(Clone, Module)]
struct Block {
    linear: Linear,
    bn: BatchNorm,
    dropout: Dropout,
}

impl Block {
    fn new(inputs: usize, outputs: usize, rngs: &Rngs) -> Self {
        Block {
            linear: Linear::new(inputs, outputs, rngs, ()),
            bn: BatchNorm::new(outputs, rngs, ()),
            dropout: Dropout::new(0.2, rngs, ()),
        }
    }

    #[observed]
    fn call(&self, x: &Array) -> Array {
        nn::relu(&self.dropout.call(&self.bn.call(&self.linear.call(x))))
    }
}

module! {
    struct Foo(rngs: &Rngs) {
        blocks: List<Block> = [Block::new(32, 128, rngs), Block::new(128, 10, rngs)].into_iter().collect(),
    }

    #[observed]
    fn call(&self, x: &Array) -> Array {
        self.blocks.iter().fold(x.clone(), |x, block| block.call(&x))
    }
}

/// The sizes are those of Flax's table of the same model.
#[test]
fn a_table_has_the_sizes_of_flax() {
    let foo = Foo::new(&Rngs::new(0));
    let x = Array::spec(DType::F32, [1, 32]);
    let table = nnx::tabulate(&foo, |foo: &Foo, x: Array| foo.call(&x), x).unwrap();
    let text = table.to_string();
    let row = |path: &str, kind: &str| {
        let line = text.lines().find(|line| {
            let cells: Vec<&str> = line.split('┆').map(str::trim).collect();
            cells.len() > 2 && cells[0].trim_start_matches('│').trim() == path && cells[1] == kind
        });
        line.unwrap_or_else(|| panic!("{path}: {text}"))
    };
    let has = |line: &str, parts: &[&str]| {
        for part in parts {
            assert!(line.contains(part), "{part}: {text}");
        }
    };
    has(
        row("", "Foo"),
        &[
            "float32[1,32]",
            "float32[1,10]",
            "276 (1.1 KB)",
            "5,790 (23.2 KB)",
        ],
    );
    has(
        row("blocks/0", "Block"),
        &["float32[1,128]", "256 (1.0 KB)", "4,480 (17.9 KB)"],
    );
    has(
        row("blocks/1", "Block"),
        &["float32[1,128]", "20 (80 B)", "1,310 (5.2 KB)"],
    );
    has(row("blocks/1/linear", "Linear"), &["bias: float32[10]"]);
    has(
        row("blocks/0/bn", "BatchNorm"),
        &["mean: float32[128]", "bias: float32[128]"],
    );
    assert!(text.contains("kernel: float32[32,128]"), "{text}");
    assert!(!text.contains("RngStream"), "{text}");
    assert_eq!(table.parameters(), 276 + 5790 + 4);
    assert_eq!(table.flops("blocks/0/linear"), Some(2 * 32 * 128 + 128));
    let parts: u64 = ["blocks/0", "blocks/1"]
        .map(|path| table.flops(path).unwrap())
        .iter()
        .sum();
    assert_eq!(table.flops(""), Some(parts));
}

/// A cell counts once for each step, the network around it all steps.
#[test]
fn steps_of_a_scan_are_counted() {
    let rnn = RNN::new(SimpleCell::new(3, 4, &Rngs::new(0), ()), ());
    let x = Array::spec(DType::F32, [2, 5, 3]);
    let table = nnx::tabulate(&rnn, |rnn: &RNN<SimpleCell>, x: Array| rnn.call(&x), x).unwrap();
    assert!(
        table.flops("").unwrap() >= 5 * 2 * (2 * 3 * 4 + 2 * 4 * 4),
        "{table}"
    );
}

#[test]
fn a_table_changes_nothing_and_knows_errors() {
    let foo = Foo::new(&Rngs::new(0));
    let before = nnx::state(&foo, ..).unwrap().to_string();
    let x = |features| Array::spec(DType::F32, [1, features]);
    nnx::tabulate(&foo, |foo: &Foo, x: Array| foo.call(&x), x(32)).unwrap();
    let error = nnx::tabulate(&foo, |foo: &Foo, x: Array| foo.call(&x), x(31)).unwrap_err();
    assert!(error.to_string().contains("32"), "{error}");
    assert_eq!(before, nnx::state(&foo, ..).unwrap().to_string());
}

#[test]
fn outputs_of_parts_are_captured_in_and_outside_of_traces() {
    let foo = Foo::new(&Rngs::new(0));
    foo.eval();
    let x = Array::ones([3, 32], DType::F32);
    let ((), nothing) = nnx::capture_outputs(&foo, |_| ());
    assert!(nothing.is_empty());
    let (twice, given) = nnx::capture_outputs(&foo, |foo| [foo.call(&x), foo.call(&x)]);
    assert_eq!(given.filter(Intermediate).unwrap().len(), given.len());
    let paths: Vec<String> = given.paths().map(ToString::to_string).collect();
    let parts = ["bn/call", "call", "dropout/call", "linear/call"];
    let expected = ["0", "1"]
        .iter()
        .flat_map(|block| parts.map(|part| format!("blocks/{block}/{part}")));
    assert_eq!(
        paths,
        expected.chain(["call".to_owned()]).collect::<Vec<_>>()
    );
    let calls = given.get("call").unwrap().arrays();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[1].to_vec::<f32>(), twice[1].to_vec::<f32>());

    let jitted = nnx::jit(|foo: Foo, x: Array| {
        let (y, given) = nnx::capture_outputs(&foo, |foo| foo.call(&x));
        (y, given.array("blocks/0/linear/call").unwrap())
    });
    let (y, hidden) = jitted(foo.clone(), x.clone());
    assert_eq!(hidden.shape(), [3, 128]);
    let difference = (y - &twice[0]).abs().max().item::<f32>();
    assert!(difference < 1e-5, "{difference}");
}

/// Nobody looks: then calls leave no names.
#[test]
fn calls_that_nobody_sees_are_as_they_were() {
    let foo = Foo::new(&Rngs::new(0));
    foo.eval();
    let jaxpr = make_jaxpr(move |x: Array| foo.call(&x))(Array::spec(DType::F32, [1, 32])).unwrap();
    assert!(
        jaxpr
            .jaxpr
            .eqns
            .iter()
            .all(|eqn| eqn.source.scope().is_none())
    );
}

/// The picture of the chapter on modules is that of its model; with `JAXIDE_WRITE_PICTURES=1` this test draws it.
#[test]
fn the_picture_of_the_chapter() {
    module! {
        struct Model(rngs: &Rngs) {
            linear: Linear = Linear::new(2, 64, rngs, ()),
            norm: BatchNorm = BatchNorm::new(64, rngs, ()),
            out: Linear = Linear::new(64, 1, rngs, ()),
            tied: nnx::Variable<nnx::Param> = linear.kernel.clone(),
        }
    }
    let drawn = nnx::picture(&Model::new(&Rngs::new(0)));
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/modules.svg");
    if std::env::var_os("JAXIDE_WRITE_PICTURES").is_some() {
        std::fs::write(&path, &drawn).expect("the picture can be written");
    }
    let kept = std::fs::read_to_string(&path).expect("the chapter has a picture");
    assert_eq!(drawn, kept, "the picture is drawn differently now");
}

/// What stands twice is drawn as such, and has one entry in the state.
#[test]
fn pictures_join_what_is_shared() {
    let shared = std::sync::Arc::new(Linear::new(1, 2, &Rngs::new(0), ()));
    let pair = List(vec![shared.clone(), shared]);
    let svg = nnx::picture(&pair);
    assert_eq!(svg.matches("class=\"same\"").count(), 1);
    assert_eq!(svg.matches(">bias: f32[2]<").count(), 1);
    assert_eq!(svg.matches(">1: the same as #0<").count(), 2);
    assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
}
