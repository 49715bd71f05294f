//! Keys and samples beside recorded ones (`goldens.json`, from JAX 0.12 with its default generator).

use jaxide::Tensor;
use jaxide::prelude::*;
use jaxide::random;
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter()
        .map(|x| {
            x.as_f64()
                .or_else(|| x.as_bool().map(f64::from))
                .expect("a number")
        })
        .collect()
}

fn lengths(case: &Value) -> Vec<usize> {
    numbers(&case["shape"])
        .into_iter()
        .map(|x| x as usize)
        .collect()
}

fn key_of(words: &Value) -> Array {
    let words: Vec<u32> = numbers(words).into_iter().map(|x| x as u32).collect();
    random::wrap_key_data(&Array::from(words))
}

/// Keys as a list of pairs of words.
fn words(keys: &Array) -> Vec<f64> {
    let words = random::key_data(keys).to_vec::<u32>();
    words.into_iter().map(f64::from).collect()
}

/// Numbers of arrays of any type.
fn elements(array: &Array) -> Vec<f64> {
    let value: Tensor = array.value();
    (0..value.len())
        .map(|at| value.scalar_at(at).unwrap().as_f64().unwrap())
        .collect()
}

/// A named stream of keys: the next key of a stream folds in how many it has given. A name that is not there shares `default`.
struct Streams(Vec<(String, Array, usize)>);

impl Streams {
    fn of(seeds: &[(&str, i64)]) -> Self {
        let streams = seeds.iter();
        Streams(
            streams
                .map(|(name, seed)| ((*name).to_owned(), random::key(*seed), 0))
                .collect(),
        )
    }

    fn next(&mut self, name: &str) -> Array {
        let own = self.0.iter().position(|(own, ..)| own == name);
        let default = self.0.iter().position(|(own, ..)| own == "default");
        let (_, key, count) = &mut self.0[own.or(default).unwrap()];
        *count += 1;
        random::fold_in(key, *count - 1)
    }
}

/// What a case gives: samples, or the words of keys.
fn result(case: &Value) -> Array {
    let number = |name: &str| case[name].as_f64().unwrap();
    let key = || key_of(&case["key"]);
    match case["op"].as_str().unwrap() {
        "key" => random::key(case["seed"].as_i64().unwrap()),
        "split" => random::split(&key(), number("num") as usize),
        "split_shape" => random::split(&key(), lengths(case)),
        "fold_in" => random::fold_in(&key(), case["data"].as_i64().unwrap()),
        "chain_fold3_split_second_fold7" => {
            let [_, second] = random::split(&random::fold_in(&key(), 3), 2).unpack();
            random::fold_in(&second, 7)
        }
        "threefry2x32_block" => {
            let pair = |name: &str| {
                let words = numbers(&case[name]);
                [0, 1].map(|at| Array::scalar(words[at] as u32))
            };
            let (key, counter) = (pair("key"), pair("counter"));
            let out = random::threefry2x32([&key[0], &key[1]], [&counter[0], &counter[1]]);
            jaxide::numpy::stack(&out, 0)
        }
        "bits" => {
            let dtype = match case["dtype"].as_str().unwrap() {
                "uint8" => DType::U8,
                "uint16" => DType::U16,
                _ => DType::U32,
            };
            random::bits(&key(), lengths(case), dtype)
        }
        "uniform" => {
            let (min, max) = (number("minval"), number("maxval"));
            random::uniform(&key(), lengths(case), DType::F32, min, max)
        }
        "normal" => random::normal(&key(), lengths(case), DType::F32),
        "gumbel" => random::gumbel(&key(), lengths(case), DType::F32),
        "exponential" => random::exponential(&key(), lengths(case), DType::F32),
        "laplace" => random::laplace(&key(), lengths(case), DType::F32),
        "truncated_normal" => {
            let (lower, upper) = (number("lower"), number("upper"));
            random::truncated_normal(&key(), lower, upper, lengths(case))
        }
        "bernoulli" => random::bernoulli(&key(), number("p"), lengths(case)),
        "rademacher" => random::rademacher(&key(), lengths(case), DType::I32),
        "randint" => {
            let dtype = match case["dtype"].as_str().unwrap() {
                "int8" => DType::I8,
                "uint8" => DType::U8,
                "int16" => DType::I16,
                "uint16" => DType::U16,
                "uint32" => DType::U32,
                "int32" => DType::I32,
                other => panic!("{other}"),
            };
            let bound = |name: &str| case[name].as_i64().unwrap();
            random::randint(
                &key(),
                lengths(case),
                bound("minval"),
                bound("maxval"),
                dtype,
            )
        }
        "permutation" => random::permutation(&key(), number("n") as usize, ()),
        "permutation_rows" => {
            let shape = lengths(case);
            let count: usize = shape.iter().product();
            let rows: Vec<f32> = (0..count).map(|x| x as f32).collect();
            random::permutation(&key(), Array::from(rows).reshape(&shape), ())
        }
        "categorical" => {
            let logits = match case["logits"].as_str() {
                Some("zeros(3,4), axis -1") => Array::zeros([3, 4], DType::F32),
                Some(other) => panic!("{other}"),
                None => Array::from(numbers(&case["logits"])).astype(DType::F32),
            };
            let shape = random::Categorical::new().shape(lengths(case));
            random::categorical(&key(), logits, shape)
        }
        "choice_replace" => random::choice(&key(), number("n") as usize, lengths(case)),
        "choice_no_replace" => {
            let options = random::Choice::new().shape(lengths(case)).replace(false);
            random::choice(&key(), number("n") as usize, options)
        }
        "vmapped_uniform_over_split" => {
            let draw = |key: Array| random::uniform(&key, 2, DType::F32, 0.0, 1.0);
            vmap(draw)(random::split(&key(), 3))
        }
        "rngs_stream" => {
            let seed = case["seed"].as_i64().unwrap();
            let mut streams = match case["streams"].as_object() {
                None => Streams::of(&[("default", seed)]),
                Some(seeds) => {
                    let seeds = seeds
                        .iter()
                        .map(|(name, seed)| (&**name, seed.as_i64().unwrap()));
                    Streams::of(&seeds.collect::<Vec<_>>())
                }
            };
            let calls = case["calls"].as_array().unwrap().iter();
            let keys: Vec<Array> = calls
                .map(|name| streams.next(name.as_str().unwrap()))
                .collect();
            jaxide::lax::stack(&keys, 0)
        }
        "rngs_method" => {
            let mut streams = Streams::of(&[("default", case["seed"].as_i64().unwrap())]);
            let mut last = None;
            for call in case["calls"].as_array().unwrap() {
                let key = streams.next("default");
                last = match call.as_str().unwrap() {
                    "uniform (3,)" => Some(random::uniform(&key, 3, DType::F32, 0.0, 1.0)),
                    "normal (3,)" => Some(random::normal(&key, 3, DType::F32)),
                    _ => last,
                };
            }
            last.unwrap()
        }
        "moments" => {
            let count = number("n") as usize;
            let x = match case["sampler"].as_str().unwrap() {
                "uniform" => random::uniform(&key(), count, DType::F32, 0.0, 1.0),
                "normal" => random::normal(&key(), count, DType::F32),
                "gumbel" => random::gumbel(&key(), count, DType::F32),
                "exponential" => random::exponential(&key(), count, DType::F32),
                other => panic!("{other}"),
            };
            let x = x.astype(DType::F64);
            let mean = x.mean();
            let variance = (&x - &mean).square().mean();
            jaxide::numpy::stack(&[mean, variance], 0)
        }
        other => panic!("{other}"),
    }
}

#[test]
fn samples_are_the_recorded_ones() {
    let file: Value = serde_json::from_str(include_str!("goldens.json")).unwrap();
    let cases = file["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 224);
    for case in cases {
        let (id, want) = (&case["id"], &case["expect"]);
        let result = result(case);
        let got = match result.dtype().is_key() {
            true => words(&result),
            false => elements(&result),
        };
        let flat = |value: &Value| -> Vec<f64> {
            let rows = value.as_array().unwrap().iter();
            rows.flat_map(|row| match row.as_array() {
                Some(_) => numbers(row),
                None => numbers(&Value::Array(vec![row.clone()])),
            })
            .collect()
        };
        let want = match want.as_object().unwrap() {
            fields if fields.contains_key("key") => flat(&want["key"]),
            fields if fields.contains_key("keys") => flat(&want["keys"]),
            fields if fields.contains_key("out") => flat(&want["out"]),
            fields if fields.contains_key("mean") => {
                vec![
                    want["mean"].as_f64().unwrap(),
                    want["var"].as_f64().unwrap(),
                ]
            }
            _ => {
                assert_eq!(result.shape(), lengths(want), "{id}");
                flat(&want["data"])
            }
        };
        assert_eq!(got.len(), want.len(), "{id}");
        let exact = case["exact"].as_bool().unwrap();
        if let (true, Some(bits)) = (exact, case["expect"]["bits"].as_array()) {
            let got = result.to_vec::<f32>().into_iter().map(f32::to_bits);
            let bits = bits.iter().map(|bits| bits.as_u64().unwrap() as u32);
            assert!(got.eq(bits), "{id}");
            continue;
        }
        let tolerance = if exact {
            0.0
        } else {
            case["rtol"].as_f64().unwrap()
        };
        // Means of samples with a deviation of about 1, rounded to `f32` in the record: as exact as a sample, however near to zero.
        let moments = case["op"] == "moments";
        let (tolerance, least) = if moments {
            (2e-7, 1.0)
        } else {
            (tolerance, 0.0)
        };
        for (got, want) in got.iter().zip(&want) {
            let difference = (got - want).abs();
            assert!(
                difference <= tolerance * want.abs().max(least),
                "{id}: {got}, not {want}"
            );
        }
    }
}
