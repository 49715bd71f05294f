//! Programs that once broke something (`tests/files/reproducers`), each with its right outcome in the interpreter and on
//! every instruction set.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jaxide_core::jaxpr::text_compare::{normalise, same_up_to_names};
use jaxide_core::{ClosedJaxpr, DType, Scalar, Tensor, check, eval, parse};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};
use jaxide_testing::arrays::{Numbers, arguments};
use jaxide_testing::compare::{Nearness, compare};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/reproducers")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(folder().join(name).with_extension("jaxpr")).unwrap()
}

fn read(name: &str) -> ClosedJaxpr {
    parse(&text(name)).unwrap()
}

fn everywhere() -> impl Iterator<Item = CompileOptions> {
    Isa::available().into_iter().map(|isa| CompileOptions {
        isa: Some(isa),
        ..CompileOptions::default()
    })
}

/// What the interpreter and native code of every instruction set give, the same bits.
fn results(name: &str, args: &[Tensor]) -> Vec<Tensor> {
    let jaxpr = read(name);
    check(&jaxpr).unwrap_or_else(|errors| panic!("{name}: {}", errors[0]));
    let want = eval::eval(&jaxpr, args).unwrap_or_else(|error| panic!("{name}: {error}"));
    for options in everywhere() {
        let program = compile(&jaxpr, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
        let got = program
            .run(args)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        compare(&got, &want, Nearness::Bits)
            .unwrap_or_else(|message| panic!("{name}, {:?}: {message}", options.isa));
    }
    want
}

/// The single result as numbers, from arguments of these numbers.
fn numbers(name: &str, args: &[&[f64]]) -> Vec<f64> {
    let avals = read(name).in_avals();
    let args: Vec<Tensor> = (avals.iter().zip(args))
        .map(|(aval, numbers)| {
            let bytes: Vec<u8> = (numbers.iter())
                .flat_map(|&number| Scalar::Float(number).to_bytes(aval.dtype).unwrap())
                .collect();
            Tensor::from_bytes(&aval.shape, aval.dtype, &bytes).unwrap()
        })
        .collect();
    let result = &results(name, &args)[0];
    let number = |place| result.scalar_at(place).unwrap().as_complex().0;
    (0..result.len()).map(number).collect()
}

/// Why `check` refuses a program.
fn refusal(name: &str) -> String {
    let errors = check(&read(name)).expect_err(name);
    errors[0].to_string()
}

#[test]
fn every_file_has_a_test() {
    let own = include_str!("reproducers.rs");
    let files: BTreeSet<String> = (std::fs::read_dir(folder()).unwrap())
        .map(|file| {
            file.unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let missing: Vec<&String> = (files.iter())
        .filter(|name| !own.contains(&format!("\"{name}\"")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(files.len(), 23);
}

#[test]
fn extrema_of_small_floats_are_found_among_nan() {
    let jaxpr = read("argmax_of_small_floats");
    for dtype in DType::ALL.iter().filter(|dtype| dtype.is_float()) {
        for op in ["argmax", "argmin"] {
            let text = text("argmax_of_small_floats")
                .replace("f8_e4m3fn", dtype.short_name())
                .replace("argmax", op);
            let jaxpr = parse(&text).unwrap();
            let args = arguments(&jaxpr, Numbers::Hostile, 7);
            let want = eval::eval(&jaxpr, &args).unwrap();
            for options in everywhere() {
                let got = compile(&jaxpr, &options).unwrap().run(&args).unwrap();
                compare(&got, &want, Nearness::Bits)
                    .unwrap_or_else(|message| panic!("{dtype}: {message}"));
            }
        }
    }
    let args = arguments(&jaxpr, Numbers::Hostile, 7);
    let (x, found) = (&args[0], &results("argmax_of_small_floats", &args)[0]);
    // The first NaN of four, or else the first of the largest.
    for place in 0..found.len() {
        let number = |k: usize| {
            let at = place / 5 * 20 + k * 5 + place % 5;
            x.scalar_at(at).unwrap().as_complex().0
        };
        let key = |k: usize| {
            if number(k).is_nan() {
                f64::INFINITY
            } else {
                number(k)
            }
        };
        let first = (0..4).rev().max_by(|&a, &b| key(a).total_cmp(&key(b)));
        assert_eq!(found.scalar_at(place), first.map(|k| Scalar::Int(k as i64)));
    }
}

/// As JAX 0.12 has it.
#[test]
fn elements_come_out_as_in_jax() {
    let nan = f64::NAN;
    let convolved = numbers(
        "convolution_with_nan",
        &[&[1., 2., 3., 4., 5., 6., 7.], &[nan, 2., 3.]],
    );
    assert!(convolved.iter().all(|x| x.is_nan()), "{convolved:?}");
    assert_eq!(
        numbers("mulhi_of_two_bits", &[&[3., 2.], &[3., 2.]]),
        [2., 1.]
    );
    let product = numbers(
        "ragged_product_of_mixed_types",
        &[&[1.; 8], &[1.; 6], &[2.]],
    );
    assert_eq!(product, [2., 2., 2., 2., 2., 2., 0., 0., 0., 0., 0., 0.]);
    let gathered = numbers(
        "select_and_gather_integers",
        &[&[1., 2., 3., 4.], &[4., 1., 3., 2.]],
    );
    assert_eq!(gathered, [1., 3., 3.]);

    let complex = |parts: &[(f64, f64)]| {
        let bytes: Vec<u8> = (parts.iter())
            .flat_map(|&(re, im)| Scalar::Complex(re, im).to_bytes(DType::C64).unwrap())
            .collect();
        Tensor::from_bytes(&[parts.len()], DType::C64, &bytes).unwrap()
    };
    let least = results(
        "complex_window_minimum",
        &[complex(&[(1., 2.), (3., -1.), (0., 0.)])],
    );
    assert_eq!(least[0], complex(&[(1., 2.), (1., 2.), (0., 0.), (0., 0.)]));
    // Comparisons begin with (inf, 0), and with NaN they are false.
    let inf = f64::INFINITY;
    let least = results(
        "complex_window_minimum",
        &[complex(&[(inf, 5.), (inf, -5.), (nan, 1.)])],
    );
    let want = complex(&[(inf, 0.), (inf, -5.), (nan, 1.), (nan, 1.)]);
    compare(&least, &[want], Nearness::Bits).unwrap();
}

#[test]
fn selection_works_on_every_ordered_type() {
    for &dtype in DType::ALL {
        let text = text("select_and_gather_integers").replace("i32", dtype.short_name());
        let jaxpr = parse(&text).unwrap();
        let ordered = dtype == DType::Bool || dtype.is_integer() || dtype.is_float();
        assert_eq!(check(&jaxpr).is_ok(), ordered, "{dtype}");
        if !ordered {
            continue;
        }
        for seed in 0..20 {
            let args = arguments(&jaxpr, Numbers::Hostile, seed);
            let want = eval::eval(&jaxpr, &args).unwrap();
            for options in everywhere() {
                let got = compile(&jaxpr, &options).unwrap().run(&args).unwrap();
                compare(&got, &want, Nearness::Bits)
                    .unwrap_or_else(|message| panic!("{dtype}, {seed}: {message}"));
            }
        }
    }
    for name in [
        "select_and_gather_complex",
        "select_and_gather_keys",
        "select_and_gather_float0",
    ] {
        let message = refusal(name);
        assert!(message.contains("no order to be selected by"), "{message}");
    }
}

#[test]
fn what_is_no_number_is_not_convolved() {
    for &dtype in DType::ALL {
        let ty = dtype.short_name();
        let text = format!(
            "{{ lambda ; a:{ty}[1,2,5] b:{ty}[2,2,3]. let
                 c:{ty}[1,2,5] = conv_general_dilated[
                   batch_group_count=1
                   dimension_numbers=ConvDimensionNumbers(lhs_spec=(0, 1, 2), rhs_spec=(0, 1, 2), out_spec=(0, 1, 2))
                   feature_group_count=1
                   lhs_dilation=(1,)
                   out_sharding=None
                   padding=((1, 1),)
                   precision=None
                   preferred_element_type=None
                   rhs_dilation=(1,)
                   window_strides=(1,)
                 ] a b
               in (c,) }}"
        );
        let jaxpr = parse(&text).unwrap();
        let number = !dtype.is_key() && dtype != DType::Float0;
        match check(&jaxpr) {
            Ok(()) => assert!(number, "{dtype}"),
            Err(errors) => {
                assert!(!number, "{dtype}: {errors:?}");
                let message = errors[0].to_string();
                assert!(message.contains("cannot be convolved"), "{message}");
            }
        }
    }
}

#[test]
fn loops_over_nothing_end() {
    for name in ["while_over_no_lanes", "while_over_no_rows"] {
        let args = arguments(&read(name), Numbers::Tame, 1);
        assert!(results(name, &args).iter().all(Tensor::is_empty));
    }
}

#[test]
fn keys_are_found_in_a_table() {
    let words = |words: &[u32]| {
        words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let table =
        Tensor::from_bytes(&[1, 4], DType::KeyFry, &words(&[1, 2, 3, 4, 5, 6, 7, 8])).unwrap();
    let wanted =
        Tensor::from_bytes(&[4], DType::KeyFry, &words(&[3, 4, 4, 3, 0, 0, 5, 6])).unwrap();
    let found = &results("keys_in_a_table", &[table, wanted])[0];
    assert_eq!(found.bytes(), [0, 1, 1, 0]);
}

#[test]
fn transforms_are_planned_when_they_run() {
    let empty = results(
        "fft_of_nothing",
        &[Tensor::zeros(&[0], DType::I32).unwrap()],
    );
    assert!(empty[0].is_empty());
    for name in ["fft_of_30_bits", "fft_of_32_bits"] {
        let jaxpr = read(name);
        for options in everywhere() {
            let start = Instant::now();
            compile(&jaxpr, &options).unwrap();
            assert!(start.elapsed() < Duration::from_secs(2), "{name}");
        }
    }
}

#[test]
fn results_are_counted_before_they_are_made() {
    let message = refusal("unstack_of_many");
    assert!(message.contains("at most 1048576"), "{message}");
}

/// Functions that combine elements, and compute what has no form per element.
#[test]
fn combiners_may_call_the_library() {
    let args = arguments(&read("window_of_igammac"), Numbers::Tame, 3);
    assert_eq!(results("window_of_igammac", &args).len(), 8);
    for name in [
        "reduce_by_igammac",
        "scatter_by_igamma",
        "select_and_scatter_by_igamma",
    ] {
        for seed in 0..3 {
            let args = arguments(&read(name), Numbers::Tame, seed);
            let result = &results(name, &args)[0];
            let first = result.scalar_at(0).unwrap();
            let differ = (1..result.len()).any(|k| result.scalar_at(k).unwrap() != first);
            assert!(differ, "{name} computes nothing");
        }
    }
}

/// A kernel that is run for rows reduces over all of another axis, and not over chunks of it besides.
#[test]
fn rows_are_summed_in_one_run() {
    for seed in 0..3 {
        let args = arguments(&read("sum_of_centred_rows"), Numbers::Tame, seed);
        results("sum_of_centred_rows", &args);
    }
}

#[test]
fn counts_of_scans_may_stand_in_any_order() {
    for name in ["scan_counts_turned_around", "scan_counts_with_definition"] {
        let text = text(name);
        assert_eq!(normalise(&text), text, "{name}");
        assert!(same_up_to_names(&text, &text));
    }
}
