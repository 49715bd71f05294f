//! Random numbers are those of JAX, and their programs print as JAX prints them.

mod goldens;
mod moments;

use jaxide::core::Literal;
use jaxide::core::jaxpr::text_compare::normalise;
use jaxide::prelude::*;
use jaxide::random;

#[track_caller]
fn check(jaxpr: Result<ClosedJaxpr>, name: &str) {
    let text = jaxpr.map_or_else(|error| panic!("{error}"), |jaxpr| jaxpr.to_string());
    let path = format!("{}/tests/random/{name}.jaxpr", env!("CARGO_MANIFEST_DIR"));
    let want = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        normalise(text.trim_end()),
        normalise(want.trim_end()),
        "{name}"
    );
}

/// A sampler prints as JAX's does, and gives JAX's numbers for the key of 0.
#[track_caller]
fn samples<T>(name: &str, sampler: fn(&Array) -> Array, want: &[T])
where
    T: jaxide::core::Element + PartialEq + std::fmt::Debug,
{
    let key = random::key(0);
    check(
        make_jaxpr(move |key: Array| sampler(&key))(key.clone()),
        name,
    );
    assert_eq!(sampler(&key).to_vec::<T>(), want, "{name}, at once");
    let native = jit(move |key: Array| sampler(&key));
    assert_eq!(native(key).to_vec::<T>(), want, "{name}, compiled");
}

#[track_caller]
fn near(name: &str, sampler: fn(&Array) -> Array, want: &[f32]) {
    let key = random::key(0);
    check(
        make_jaxpr(move |key: Array| sampler(&key))(key.clone()),
        name,
    );
    let native = jit(move |key: Array| sampler(&key));
    for got in [sampler(&key), native(key)] {
        for (got, want) in got.to_vec::<f32>().iter().zip(want) {
            assert!(
                (got - want).abs() <= 4e-6 * want.abs().max(1.0),
                "{name}: {got}, not {want}"
            );
        }
    }
}

#[test]
fn keys_split_and_take_in_numbers() {
    samples::<u32>(
        "split",
        |key| {
            let second = random::split(key, 3).index(1);
            random::key_data(&random::fold_in(&second, 7))
        },
        &[3820244711, 2120015096],
    );
}

#[test]
fn uniform_samples() {
    let bits = |x: Array, dtype| jaxide::lax::bitcast_convert_type(&x, dtype);
    near(
        "uniform",
        |key| random::uniform(key, &[3], DType::F32, -1.0, 2.0),
        &[1.843_001, 1.935_739_6, -0.003_125_548_4],
    );
    let key = random::key(0);
    let half = random::uniform(&key, &[3], DType::F16, 0.0, 1.0);
    assert_eq!(
        bits(half, DType::U16).to_vec::<u16>(),
        [0x34f8, 0x32d0, 0x2b00]
    );
    let brain = random::uniform(&key, &[3], DType::BF16, 0.0, 1.0);
    assert_eq!(
        bits(brain, DType::U16).to_vec::<u16>(),
        [0x3f26, 0x3f12, 0x3e20]
    );
    let of = |dtype| move |key: Array| random::uniform(&key, &[3], dtype, 0.0, 1.0);
    check(make_jaxpr(of(DType::F16))(key.clone()), "uniform_half");
    check(make_jaxpr(of(DType::BF16))(key), "uniform_brain");
}

#[test]
fn samples_of_other_distributions() {
    near(
        "normal",
        |key| random::normal(key, &[3], DType::F32),
        &[1.622_642_2, 2.025_264_7, -0.433_594_44],
    );
    near(
        "exponential",
        |key| random::exponential(key, &[3], DType::F32),
        &[2.950_128, 3.843_424_6, 0.403_903_54],
    );
    near(
        "laplace",
        |key| random::laplace(key, &[3], DType::F32),
        &[-2.256_981_6, -3.150_278_8, 0.408_595_44],
    );
    near(
        "logistic",
        |key| random::logistic(key, &[3], DType::F32),
        &[2.896_376, 3.821_771_6, -0.697_839_2],
    );
    near(
        "cauchy",
        |key| random::cauchy(key, &[3], DType::F32),
        &[6.027_494_4, 14.837_895, -0.581_722_26],
    );
    near(
        "gumbel",
        |key| random::gumbel(key, &[3], DType::F32),
        &[2.923_372_5, 3.832_617_8, -0.096_893_24],
    );
}

#[test]
fn whole_numbers() {
    samples::<i32>(
        "randint",
        |key| random::randint(key, &[3], 0, 10, DType::I32),
        &[9, 0, 2],
    );
    samples::<i8>(
        "randint_i8",
        |key| random::randint(key, &[6], 0, 100, DType::I8),
        &[89, 0, 12, 73, 71, 47],
    );
    samples::<i32>(
        "rademacher",
        |key| random::rademacher(key, &[3], DType::I32),
        &[-1, -1, 1],
    );
    let key = random::key(0);
    let heads = |key: Array| random::bernoulli(&key, 0.3, &[3]);
    check(make_jaxpr(heads)(key.clone()), "bernoulli");
    assert_eq!(heads(key.clone()).to_bools(), [false; 3]);
    let categorical = |key: Array, logits: Array| random::categorical(&key, &logits, -1);
    let logits = Array::zeros(&[4, 3], DType::F32);
    check(
        make_jaxpr(categorical)(key.clone(), logits.clone()),
        "categorical",
    );
    assert_eq!(categorical(key, logits).to_vec::<i32>(), [1, 1, 2, 1]);
}

#[test]
fn bounds_of_types_are_reached() {
    let bytes = random::randint(&random::key(0), &[2000], 0, 256, DType::U8).to_vec::<u8>();
    assert!(bytes.contains(&0) && bytes.contains(&255));
    // An empty range gives its start.
    let empty = random::randint(&random::key(0), &[3], 5, 5, DType::I32);
    assert_eq!(empty.to_vec::<i32>(), [5, 5, 5]);
}

#[test]
fn orders_and_choices() {
    samples::<i32>(
        "permutation",
        |key| random::permutation(key, 10, ()),
        &[0, 1, 8, 5, 6, 4, 3, 2, 7, 9],
    );
    let key = random::key(0);
    let x = Array::from((0..12).map(|x| x as f32).collect::<Vec<_>>()).reshape(&[4, 3]);
    let permuted = |key: Array, x: Array| random::permutation(&key, &x, ());
    check(make_jaxpr(permuted)(key.clone(), x.clone()), "permuted");
    assert_eq!(
        permuted(key.clone(), x.clone()).index(2).to_vec::<f32>(),
        [9.0, 10.0, 11.0]
    );
    let choice = |key: Array, x: Array| random::choice(&key, &x, &[2]);
    check(make_jaxpr(choice)(key.clone(), x.clone()), "choice");
    assert_eq!(
        choice(key, x).to_vec::<f32>(),
        [3.0, 4.0, 5.0, 0.0, 1.0, 2.0]
    );
}

#[test]
fn keys_are_mapped_over() {
    let keys = random::split(&random::key(3), 4);
    let draw = |key: Array| random::normal(&key, &[2], DType::F32);
    let all = jit(vmap(draw))(keys.clone());
    for k in 0..4 {
        assert_eq!(
            all.index(k).to_vec::<f32>(),
            jit(draw)(keys.index(k)).to_vec::<f32>()
        );
    }
}

#[test]
fn mistakes_are_named() {
    let sampler = jit(|key: Array| random::normal(&key, &[2], DType::I32));
    let error = sampler.try_call((random::key(0),)).unwrap_err();
    assert_eq!(error.operation(), Some("normal"));
    let sampler = jit(|key: Array| random::uniform(&key, &[2], DType::F32, [0.0f32; 3], 1.0));
    let error = sampler.try_call((random::key(0),)).unwrap_err();
    assert_eq!(error.operation(), Some("uniform"));
}

/// Numbers in the recorded programs are those that the element type has, as they are printed.
#[test]
fn numbers_of_samplers_are_of_their_types() {
    type Sampler = fn(&Array, DType) -> Array;
    let samplers: [Sampler; 7] = [
        |key, dtype| random::uniform(key, &[2], dtype, 0.0, 1.0),
        |key, dtype| random::normal(key, &[2], dtype),
        |key, dtype| random::laplace(key, &[2], dtype),
        |key, dtype| random::logistic(key, &[2], dtype),
        |key, dtype| random::gumbel(key, &[2], dtype),
        |key, dtype| random::cauchy(key, &[2], dtype),
        |key, dtype| random::exponential(key, &[2], dtype),
    ];
    fn each_literal(jaxpr: &ClosedJaxpr, see: &mut dyn FnMut(Literal)) {
        for eqn in &jaxpr.jaxpr.eqns {
            eqn.inputs
                .iter()
                .filter_map(|atom| atom.literal())
                .for_each(&mut *see);
            eqn.prim.visit(&mut |inner| each_literal(inner, see));
        }
    }
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let mut numbers = 0;
        for sampler in samplers {
            let f = move |key: Array| sampler(&key, dtype);
            let jaxpr = make_jaxpr(f)(random::key(0)).unwrap();
            each_literal(&jaxpr, &mut |literal| {
                if literal.dtype == dtype {
                    let exact = literal.value.as_f64().unwrap();
                    let rounded = Array::scalar(exact).astype(dtype).astype(DType::F64);
                    assert_eq!(rounded.item::<f64>(), exact, "{dtype:?} {jaxpr}");
                    numbers += 1;
                }
            });
        }
        assert!(numbers > 10, "{dtype:?}: {numbers}");
    }
}

#[test]
fn nothing_is_drawn_from_nothing() {
    let key = random::key(1);
    let empty = Array::from_vec(&[0, 2], Vec::<f32>::new());
    for (nothing, message) in [
        (Array::from(1.0f32), "the value of a traced array"),
        (empty, "has nothing to draw"),
    ] {
        let key = key.clone();
        let f = jit(move |x: Array| random::choice(&key, &x, &[3]));
        let said = f.try_call((nothing,)).unwrap_err().to_string();
        assert!(said.contains(message), "{said}");
    }
}

/// Vectors are shuffled themselves, slices by their numbers.
#[test]
fn orders_are_drawn_as_in_jax() {
    let text = |shape: &[usize]| {
        let f = |x: Array| random::permutation(&random::key(0), &x, ());
        make_jaxpr(f)(Array::spec(DType::F32, shape))
            .unwrap()
            .to_string()
    };
    assert!(text(&[4]).contains("_shuffle") && !text(&[4]).contains("gather"));
    assert!(text(&[4, 2]).contains("_shuffle") && text(&[4, 2]).contains("gather"));
    let none = jit(|x: Array| random::permutation(&random::key(0), &x, ()));
    let said = none.try_call((Array::from(1.0),)).unwrap_err().to_string();
    assert!(said.contains("a count is an integer"), "{said}");
}
