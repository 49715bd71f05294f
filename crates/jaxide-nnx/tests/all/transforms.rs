//! Transformations that carry changes back.

use jaxide::core::ErrorKind;
use jaxide::{Array, DType, numpy, random};
use jaxide_nnx::{
    self as nnx, BatchStat, Carried, DiffState, Dropout, GRUCell, Intermediate, Linear, Module,
    Optimizer, Param, RNN, RngState, Rngs, StateAxes, Variable, optim,
};

/// Counts its calls.
#[derive(Clone, Debug, Module)]
struct Counter {
    count: Variable<BatchStat>,
    weight: Variable<Param>,
    seen: Variable<Intermediate>,
}

impl Counter {
    fn new() -> Self {
        Counter {
            count: Variable::new(0),
            weight: Variable::new(2.0f32),
            seen: Variable::absent(),
        }
    }

    fn call(&self, x: &Array) -> Array {
        self.count.update(|count| count + 1);
        let y = x * self.weight.get();
        self.seen.sow(&y.sum());
        y
    }

    fn counted(&self) -> i32 {
        self.count.get().item()
    }
}

#[test]
fn jit_carries_back() {
    let counter = Counter::new();
    let f = nnx::jit(|counter: Counter, x: Array| counter.call(&x).sum());
    for turn in 1..4 {
        assert_eq!(
            f(counter.clone(), Array::from([1.0f32, 2.0])).item::<f32>(),
            6.0
        );
        assert_eq!(counter.counted(), turn);
        // What is noted changes the structure of the next call.
        assert_eq!(counter.seen.value().arrays().len() as i32, turn);
    }
}

/// Two arguments that have a variable in common have one inside too.
#[test]
fn arguments_share() {
    let counter = Counter::new();
    let f = nnx::jit(|a: Counter, b: Counter| {
        a.call(&Array::from(1.0f32));
        b.call(&Array::from(1.0f32));
        a.count.get()
    });
    assert_eq!(f(counter.clone(), counter.clone()).item::<i32>(), 2);
    assert_eq!(counter.counted(), 2);
    assert_eq!(f(counter.clone(), Counter::new()).item::<i32>(), 3);
}

#[test]
fn grad_carries_back() {
    let counter = Counter::new();
    let loss = |counter: Counter, x: Array| counter.call(&x).sum();
    let x = Array::from([1.0f32, 2.0]);
    let (value, gradient) = nnx::value_and_grad_of(&loss, (counter.clone(), x.clone()));
    assert_eq!(
        (
            value.item::<f32>(),
            gradient.array("weight").unwrap().item::<f32>()
        ),
        (6.0, 3.0)
    );
    assert_eq!(
        (
            gradient.len(),
            counter.counted(),
            counter.seen.value().arrays().len()
        ),
        (1, 1, 1)
    );
    let with_aux = |counter: Counter, x: Array| (counter.call(&x).sum(), counter.count.get());
    let ((_, count), _) = nnx::value_and_grad_with_aux(with_aux)(counter.clone(), x.clone());
    assert_eq!((count.item::<i32>(), counter.counted()), (2, 2));
    let of_input = nnx::grad(loss)
        .wrt(DiffState::new(1, ..))
        .call((counter, x));
    assert_eq!(of_input.array("").unwrap().to_vec::<f32>(), [2.0, 2.0]);
}

/// Gradients inside of compiled functions, inside of others.
#[test]
fn nested() {
    let counter = Counter::new();
    let f = nnx::jit(|counter: Counter, x: Array| {
        let loss = nnx::remat(|counter: Counter, x: Array| counter.call(&x).square().sum());
        nnx::grad(loss)(counter.clone(), x)
    });
    let gradient = f(counter.clone(), Array::from([1.0f32]));
    assert_eq!(gradient.array("weight").unwrap().item::<f32>(), 4.0);
    assert_eq!(counter.counted(), 1);
}

#[test]
fn vmap_maps_state() {
    let make = nnx::vmap(|rngs: Rngs| (Linear::new(2, 3, &rngs, ()), Dropout::new(0.5, &rngs, ())));
    let (layers, dropout) = make(Rngs::new(0).split(4));
    assert_eq!(layers.kernel.get().shape(), [4, 2, 3]);
    assert_eq!(dropout.rngs.count().get().shape(), [4]);
    let axes = StateAxes::new().with(RngState, 0);
    let apply = nnx::vmap(|dropout: Dropout, x: Array| dropout.call(&x)).in_axes((axes, None));
    let y = apply(dropout.clone(), Array::ones([8], DType::F32));
    assert_eq!(y.shape(), [4, 8]);
    assert_eq!(dropout.rngs.count().get().to_vec::<u32>(), [1; 4]);

    // What is broadcast may be read, and not be changed by each lane.
    let counter = Counter::new();
    let each = nnx::vmap(|counter: Counter, x: Array| counter.call(&x)).in_axes((None, 0));
    assert_eq!(
        each(counter.clone(), Array::from([1.0f32, 2.0])).to_vec::<f32>(),
        [2.0, 4.0]
    );
    assert_eq!(counter.counted(), 1);
    assert_eq!(counter.seen.value().arrays()[0].shape(), [2]);
    let bad = |counter: Counter, x: Array| counter.count.set(x);
    let each = nnx::vmap(bad).in_axes((None, 0));
    let error = jaxide::jit(move |x: Array| {
        let counter = Counter::new();
        each(counter, x.clone());
        x
    })
    .try_call((Array::from([1, 2]),))
    .unwrap_err();
    assert_eq!(error.operation(), Some("vmap"), "{error}");
}

/// A module that a mapped function makes has the axes that were stated for the parts of its state.
#[test]
fn results_are_mapped_by_their_state() {
    let axes = StateAxes::new().with(Param, 1).with(nnx::RngKey, 0);
    let make = nnx::vmap(|rngs: Rngs| (Linear::new(2, 3, &rngs, ()), Dropout::new(0.5, &rngs, ())));
    let (layers, dropout) = make.out_state_axes(axes.clone())(Rngs::new(0).split(4));
    assert_eq!(layers.kernel.get().shape(), [2, 4, 3]);
    assert_eq!(dropout.rngs.key().get().shape(), [4]);
    assert_eq!(dropout.rngs.count().get().shape(), [0; 0]);
    let plain = nnx::vmap(|rngs: Rngs| Linear::new(2, 3, &rngs, ()))(Rngs::new(0).split(4));
    let moved = numpy::moveaxis(&plain.kernel.get(), 0, 1);
    assert_eq!(layers.kernel.get().to_vec::<f32>(), moved.to_vec::<f32>());
    let apply = nnx::vmap(|layer: Linear, x: Array| layer.call(&x)).in_axes((axes, None));
    assert_eq!(apply(layers, Array::ones([2], DType::F32)).shape(), [4, 3]);
}

#[test]
fn scan_over_layers() {
    let layers = nnx::vmap(|rngs: Rngs| Linear::new(3, 3, &rngs, ()))(Rngs::new(0).split(5));
    let x = random::normal(&random::key(1), [3], DType::F32);
    let mut expected = x.clone();
    for layer in 0..5 {
        let kernel = layers.kernel.get().index(layer);
        expected = expected.dot(&kernel).tanh();
    }
    let axes = StateAxes::new().with(Param, 0);
    let step = |layer: &Linear, x: Array, (): ()| (layer.call(&x).tanh(), ());
    let (y, ()) = nnx::scan(step, &layers, &axes, x, (), None);
    assert!(numpy::allclose(&y, &expected, ()).truth());
}

#[test]
fn scan_carries_and_stacks() {
    #[derive(Clone, Module)]
    struct Both {
        total: Variable<BatchStat>,
        last: Variable<Param>,
        fixed: Variable<nnx::Cache>,
    }
    let both = Both {
        total: Variable::new(0.0f32),
        last: Variable::new(Array::zeros([2, 3], DType::F32)),
        fixed: Variable::new(10.0f32),
    };
    let axes = StateAxes::new()
        .with(BatchStat, Carried::Carry)
        .with(Param, 1);
    let xs = Array::from([1.0f32, 2.0, 3.0]);
    let step = |both: &Both, carry: Array, x: Array| {
        both.total.update(|total| total + &x);
        both.last.set(both.last.get() + &x);
        (carry * &x, both.fixed.get() + x)
    };
    let (product, ys) = nnx::scan(step, &both, &axes, Array::from(1.0f32), xs.clone(), None);
    assert_eq!(
        (product.item::<f32>(), ys.to_vec::<f32>()),
        (6.0, vec![11.0, 12.0, 13.0])
    );
    assert_eq!(both.total.get().item::<f32>(), 6.0);
    assert_eq!(
        both.last.get().to_vec::<f32>(),
        [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]
    );

    let f = jaxide::jit(move |xs: Array| {
        let both = Both {
            total: Variable::new(0.0f32),
            last: Variable::new(Array::zeros([2, 3], DType::F32)),
            fixed: Variable::new(10.0f32),
        };
        let step = |both: &Both, (): (), x: Array| {
            both.fixed.set(x);
            ((), ())
        };
        nnx::scan(step, &both, &StateAxes::new(), (), xs.clone(), None);
        xs
    });
    let error = f.try_call((xs,)).unwrap_err();
    assert_eq!(
        (error.operation(), error.path()),
        (Some("scan"), Some("fixed")),
        "{error}"
    );
}

#[test]
fn branches_and_loops() {
    let counter = Counter::new();
    counter.seen.sow(&Array::from(0.0f32));
    let f = nnx::jit(|go: Array, counter: Counter| {
        let count = |counter: Counter| {
            counter.count.update(|count| count + 5);
            counter.count.get()
        };
        nnx::cond(
            go,
            count,
            |counter: Counter| counter.count.get() * 2,
            counter,
        )
    });
    assert_eq!(f(Array::from(true), counter.clone()).item::<i32>(), 5);
    assert_eq!(f(Array::from(false), counter.clone()).item::<i32>(), 10);
    assert_eq!(counter.counted(), 5);
    let last = nnx::while_loop(
        |counter: Counter| counter.count.get().lt(9),
        |counter| {
            counter.count.update(|count| count + 1);
            counter
        },
        counter.clone(),
    );
    assert_eq!((last.counted(), counter.counted()), (9, 9));
}

/// A module that is captured is read alone, in every transformation, and nothing is changed by the attempt.
#[test]
fn captured_modules_are_refused() {
    let counter = Counter::new();
    let x = Array::from([1.0f32, 2.0]);
    let captured = counter.clone();
    let call = move |x: Array| captured.call(&x).sum();
    let errors = [
        jaxide::jit(call.clone())
            .try_call((x.clone(),))
            .unwrap_err(),
        jaxide::grad(call.clone())
            .try_call((x.clone(),))
            .unwrap_err(),
        jaxide::vmap(call.clone())
            .try_call((x.clone(),))
            .unwrap_err(),
        jaxide::jit(jaxide::checkpoint(call.clone()))
            .try_call((x.clone(),))
            .unwrap_err(),
        jaxide::jit(nnx::remat(call.clone()))
            .try_call((x.clone(),))
            .unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::LeakedTracer);
        assert!(
            error
                .message()
                .contains("cannot change a `BatchStat` from a different trace level"),
            "{error}"
        );
    }
    assert_eq!(counter.counted(), 0);
    assert!(counter.seen.value().arrays().is_empty());
    let captured = counter.clone();
    let read = jaxide::jit(move |x: Array| x * captured.weight.get());
    assert_eq!(read(x).to_vec::<f32>(), [2.0, 4.0]);
}

/// Mistakes are reported at lines of the user, under the name of what was called, with the path in the module.
#[test]
fn mistakes_name_the_line_of_the_user() {
    let x = Array::from([1.0f32, 2.0]);
    let message = |f: &dyn Fn()| -> String {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
        let payload = caught.expect_err("it is a mistake");
        payload
            .downcast_ref::<String>()
            .cloned()
            .unwrap_or_default()
    };
    let not_scalar = message(&|| {
        nnx::grad(|counter: Counter, x: Array| counter.call(&x))(Counter::new(), x.clone());
    });
    let no_argument = message(&|| {
        let by = DiffState::new(3, Param);
        nnx::grad(|counter: Counter, x: Array| counter.call(&x).sum())
            .wrt(by)
            .call((Counter::new(), x.clone()));
    });
    let no_axis = message(&|| {
        let axes = StateAxes::new().with(Param, 0);
        let each = nnx::vmap(|counter: Counter, x: Array| counter.call(&x)).in_axes((axes, 0));
        each(Counter::new(), x.clone());
    });
    let other_size = message(&|| {
        let each = nnx::vmap(|x: Array, y: Array| x + y);
        each(x.clone(), Array::from([1.0f32, 2.0, 3.0]));
    });
    let other_features = message(&|| {
        let rnn = RNN::new(GRUCell::new(3, 4, &Rngs::new(0), ()), ());
        rnn.call(&Array::ones([2, 5, 2], DType::F32));
    });
    let noted = message(&|| {
        let note = |counter: Counter| counter.call(&Array::from(1.0f32));
        let f = nnx::jit(move |go: Array, counter: Counter| {
            nnx::cond(go, note, |counter: Counter| counter.weight.get(), counter)
        });
        f(Array::from(true), Counter::new());
    });
    for (message, starts) in [
        (
            not_scalar,
            "grad: a real scalar result is needed, and the function gives f32[2]",
        ),
        (no_argument, "grad: there is no argument 3: there are 2"),
        (
            no_axis,
            "vmap: f32[] has no axis 0 to be mapped (at weight)",
        ),
        (other_size, "vmap: "),
        (
            other_features,
            "RNN: the last axis of f32[2,2] must have length 3",
        ),
        (
            noted,
            "cond: the Intermediate holds another number of arrays afterwards (at seen)",
        ),
    ] {
        assert!(message.starts_with(starts), "{message}");
        assert!(message.contains("tests/all/transforms.rs:"), "{message}");
    }
}

/// A compiled step is compiled once, and its optimiser's state survives `split` and `merge`.
#[test]
fn training_resumes() {
    let model = Linear::new(2, 1, &Rngs::new(0), ());
    let optimizer = Optimizer::new(&model, optim::adam(0.1), Param).unwrap();
    let traces = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = traces.clone();
    let step = nnx::jit(move |model: Linear, optimizer: Optimizer, x: Array| {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let gradient = nnx::grad_of(
            &|model: Linear, x: Array| model.call(&x).square().sum(),
            (model.clone(), x),
        );
        optimizer.update(&model, &gradient);
    });
    let x = random::normal(&random::key(1), [4, 2], DType::F32);
    for _ in 0..3 {
        step(model.clone(), optimizer.clone(), x.clone());
    }
    assert_eq!(traces.load(std::sync::atomic::Ordering::Relaxed), 1);
    let (copy, other) = (nnx::clone(&model).unwrap(), nnx::clone(&optimizer).unwrap());
    step(model.clone(), optimizer.clone(), x.clone());
    step(copy.clone(), other, x);
    assert_eq!(
        model.kernel.get().to_vec::<f32>(),
        copy.kernel.get().to_vec::<f32>()
    );
}

/// An optimiser that was made elsewhere is refused before the model is changed.
#[test]
fn a_foreign_optimiser_changes_nothing() {
    let model = Linear::new(2, 1, &Rngs::new(0), ());
    let outside = Optimizer::new(&model, optim::adam(0.1), Param).unwrap();
    let step = jaxide::jit(move |x: Array| {
        let model = Linear::new(2, 1, &Rngs::new(0), ());
        let before = model.kernel.any().value().arrays()[0].clone();
        let gradient = nnx::state(&model, Param).unwrap();
        let update = || outside.update(&model, &gradient);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(update));
        assert!(caught.is_err());
        let same = numpy::equal(&model.kernel.get(), &before).all();
        numpy::where_(same, x, 0.0)
    });
    assert_eq!(step(Array::from([1.0f32])).to_vec::<f32>(), [1.0]);
}

/// A model, its statistics, keys and optimiser go through a file to the same bits; of a mistake nothing is changed.
#[cfg(feature = "safetensors")]
#[test]
fn saved_and_resumed() {
    #[derive(Clone, Module)]
    struct All {
        linear: Linear,
        dropout: Dropout,
        optimizer: Optimizer,
    }
    let make = |seed: i64, width: usize| {
        let rngs = Rngs::new(seed);
        let linear = Linear::new(2, width, &rngs, ());
        let dropout = Dropout::new(0.5, &rngs, ());
        let optimizer = Optimizer::new(&linear, optim::adam(0.1), Param).unwrap();
        All {
            linear,
            dropout,
            optimizer,
        }
    };
    let step = nnx::jit(|all: All, x: Array| {
        let loss = |linear: Linear, x: Array| linear.call(&x).square().sum();
        let gradient = nnx::grad_of(&loss, (all.linear.clone(), all.dropout.call(&x)));
        all.optimizer.update(&all.linear, &gradient);
    });
    let path = std::env::temp_dir().join(format!("nnx-{}.safetensors", std::process::id()));
    let x = Array::ones([4, 2], DType::F32);
    let (first, second) = (make(0, 3), make(1, 3));
    step(first.clone(), x.clone());
    nnx::save_state(&path, &nnx::state(&first, ..).unwrap()).unwrap();
    nnx::load_state(&path, &second).unwrap();
    step(first.clone(), x.clone());
    step(second.clone(), x);
    let text = |all: &All| nnx::state(all, ..).unwrap().to_string();
    assert_eq!(text(&first), text(&second));

    let other = make(2, 4);
    let before = text(&other);
    let error = nnx::load_state(&path, &other).unwrap_err();
    assert_eq!(error.path(), Some("linear/bias"), "{error}");
    let error = nnx::load_state(&path, &other.linear).unwrap_err();
    assert_eq!(error.path(), Some("bias"), "{error}");
    assert_eq!(text(&other), before);
    std::fs::remove_file(&path).unwrap();
}

/// A module that comes back out of a function is the caller's.
#[test]
fn returned_modules_are_the_same() {
    let linear = Linear::new(2, 2, &Rngs::new(0), ());
    let double = |linear: Linear| {
        linear.kernel.update(|kernel| kernel * 2.0);
        (linear.clone(), Linear::new(2, 2, &Rngs::new(1), ()), linear)
    };
    let before = linear.kernel.get();
    let (back, other, again) = nnx::jit(double)(linear.clone());
    assert!(back.kernel.is_same(&linear.kernel) && again.kernel.is_same(&linear.kernel));
    assert!(!other.kernel.is_same(&linear.kernel));
    assert_eq!(
        back.kernel.get().to_vec::<f32>(),
        (before * 2.0).to_vec::<f32>()
    );
    let (back, ..) = nnx::remat(double)(linear.clone());
    assert!(back.kernel.is_same(&linear.kernel));
    let loss = |linear: Linear| (linear.kernel.get().sum(), linear.clone());
    let (_, back) = nnx::grad_with_aux_of(&loss, (linear.clone(),));
    assert!(back.kernel.is_same(&linear.kernel));
}
