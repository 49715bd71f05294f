//! Programs of extreme sizes: they run as the interpreter does, or are refused with a reason; nothing overflows.

use jaxide_core::eval::eval;
use jaxide_core::{ErrorKind, Tensor, parse};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, Executable, compile};
use jaxide_testing::Random;

fn compiled(text: &str, isa: Isa) -> jaxide_core::Result<Executable> {
    let options = CompileOptions {
        isa: Some(isa),
        ..CompileOptions::default()
    };
    compile(&parse(text).expect(text), &options)
}

/// Compiled for each instruction set, a program gives what the interpreter gives.
fn agrees(text: &str, args: &[Tensor]) {
    let want = eval(&parse(text).expect(text), args).unwrap();
    for isa in Isa::available() {
        let got = compiled(text, isa).unwrap().run(args).unwrap();
        assert_eq!(got.len(), want.len());
        for (got, want) in got.iter().zip(&want) {
            assert_eq!(got, want, "{isa:?}: {}", &text[..text.len().min(200)]);
        }
    }
}

/// No instruction set takes a program; each says that it is too large.
fn too_large(text: &str) {
    for isa in Isa::available() {
        match compiled(text, isa) {
            Ok(_) => panic!("compiled for {isa:?}: {text}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}"),
        }
    }
}

#[test]
fn a_reduction_in_more_parts_than_32_bits_count_is_compiled() {
    for length in [1usize << 31, (1 << 32) + 5, 1_000_000_000_000_000, 1 << 58] {
        let text = format!(
            "{{ lambda ; a:f32[]. let
                b:f32[{length}] = broadcast_in_dim[broadcast_dimensions=() shape=({length},) sharding=None] a
                c:f32[] = reduce_sum[axes=(0,) out_sharding=None] b
              in (c,) }}"
        );
        for isa in Isa::available() {
            let program = compiled(&text, isa).unwrap();
            // The partial results of the reduction, and no more.
            assert!(program.stats().arena < 1 << 26, "{}", program.stats().arena);
        }
    }
}

#[test]
fn results_of_rows_beyond_32_bits_go_on() {
    // Column sums, whose rows are reduced chunk by chunk.
    let text = "{ lambda ; a:i64[]. let
        b:i64[4294967304] = iota[dimension=0 dtype=int64 shape=(4294967304,) sharding=None]
        c:i64[4294967304] = shift_right_logical b 31:i64[]
        d:i64[4294967304] = add c a
        e:i64[] = reduce_max[axes=(0,) out_sharding=None] d
      in (e,) }";
    for isa in Isa::available() {
        let got = compiled(text, isa).unwrap().run(&[Tensor::scalar(5i64)]);
        assert_eq!(got.unwrap()[0], Tensor::scalar(7i64));
    }
}

/// `count` operands of one number each, joined.
fn joined(count: usize) -> (String, Vec<Tensor>) {
    let names: Vec<String> = (0..count).map(|k| format!("x{k}")).collect();
    let binders: Vec<String> = names.iter().map(|name| format!("{name}:f32[1]")).collect();
    let text = format!(
        "{{ lambda ; {}. let y:f32[{count}] = concatenate[dimension=0] {}; z:f32[{count}] = add y 1.0:f32[] in (z,) }}",
        binders.join(" "),
        names.join(" ")
    );
    let args = (0..count).map(|k| Tensor::from_vec(&[1], vec![k as f32]).unwrap());
    (text, args.collect())
}

#[test]
fn thousands_of_arrays_are_joined_on_a_small_stack() {
    for count in [2, 3, 8, 9, 12, 13, 100, 700] {
        let (text, args) = joined(count);
        agrees(&text, &args);
        for isa in Isa::available() {
            let stack = compiled(&text, isa).unwrap().stats().stack;
            assert!(
                stack < 128 * (count + 64),
                "{count} operands, {isa:?}: {stack}"
            );
        }
    }
}

#[test]
fn thousands_of_branches_are_a_table() {
    let count = 300;
    let branches: Vec<String> = (0..count)
        .map(|k| format!("{{ lambda ; a:f32[3]. let b:f32[3] = add a {k}.0:f32[] in (b,) }}"))
        .collect();
    let text = format!(
        "{{ lambda ; i:i32[] x:f32[3]. let y:f32[3] = cond[branches=( {} )] i x in (y,) }}",
        branches.join(" ")
    );
    for index in [-1, 0, 1, 1234, count - 1, count] {
        let x = Tensor::from_vec(&[3], vec![0.5f32, 1.5, -2.0]).unwrap();
        agrees(&text, &[Tensor::scalar(index), x]);
    }
}

#[test]
fn long_chains_compile_on_a_small_stack() {
    let mut text = "{ lambda ; x0:f32[7]. let\n".to_owned();
    let count = 2100;
    for k in 0..count {
        let op = if k % 3 == 0 { "neg" } else { "sin" };
        text.push_str(&format!("x{}:f32[7] = {op} x{k}\n", k + 1));
    }
    text.push_str(&format!("in (x{count},) }}"));
    for isa in Isa::available() {
        let x = Tensor::from_vec(&[7], vec![0.5f32; 7]).unwrap();
        let got = compiled(&text, isa).unwrap().run(&[x]).unwrap();
        assert!(got[0].to_vec::<f32>().unwrap()[0].abs() < 0.5);
    }
}

#[test]
fn long_programs_that_read_far_back_compile() {
    // Operands are among so many equations before: each of them alone leads far back.
    for (far, shape) in [(2, ""), (2, "33"), (40, "33"), (4000, "33")] {
        let mut random = Random(far as u64);
        let mut text = format!("{{ lambda ; x0:i32[{shape}]. let\n");
        let count = 4000;
        for k in 0..count {
            let op = random.pick(&["add", "sub", "mul", "xor", "max"]);
            let mut operand = || k - random.below(far.min(k + 1));
            let (a, b) = match far {
                2 => (k, k.saturating_sub(1)),
                _ => (operand(), operand()),
            };
            text.push_str(&format!("x{}:i32[{shape}] = {op} x{a} x{b}\n", k + 1));
        }
        text.push_str(&format!("in (x{count}, x{}) }}", count - 1));
        let x = match shape {
            "" => Tensor::scalar(12_345),
            _ => Tensor::from_vec(&[33], (-16..17).collect::<Vec<i32>>()).unwrap(),
        };
        agrees(&text, &[x]);
    }
}

#[test]
fn numbers_of_windows_do_not_wrap_around() {
    // Steps and paddings beyond 32 bits over small arrays.
    for text in [
        "{ lambda ; a:f32[1] b:f32[]. let c:f32[4] = pad[padding_config=((0, 3, 1099511627776),)] a b in (c,) }",
        "{ lambda ; a:f32[3] b:f32[]. let c:f32[2] = pad[padding_config=((0, -8589934593, 4294967296),)] a b in (c,) }",
        "{ lambda ; a:f32[3]. let c:f32[2] = reduce_window_max[base_dilation=(4294967296,) padding=((0, 0),) window_dilation=(1,) window_dimensions=(2,) window_strides=(8589934591,)] a in (c,) }",
        "{ lambda ; a:f32[3]. let c:f32[3] = reduce_window_sum[base_dilation=(1,) padding=((4294967296, 4294967296),) window_dilation=(1,) window_dimensions=(1,) window_strides=(4294967297,)] a in (c,) }",
    ] {
        let closed = parse(text).expect(text);
        let args: Vec<Tensor> = closed
            .in_avals()
            .iter()
            .map(|aval| {
                let n: usize = aval.shape.iter().product();
                Tensor::from_vec(&aval.shape, (0..n).map(|k| k as f32 - 1.0).collect()).unwrap()
            })
            .collect();
        agrees(text, &args);
    }
}

#[test]
fn what_no_address_reaches_is_refused() {
    too_large(
        "{ lambda ; a:f32[]. let
            b:f32[1073741824,1073741824] = broadcast_in_dim[broadcast_dimensions=() shape=(1073741824, 1073741824) sharding=None] a
            c:f32[] = reduce_sum[axes=(0, 1) out_sharding=None] b
          in (c,) }",
    );
    too_large(
        "{ lambda ; a:f32[2147483648,1] b:f32[1,2147483648]. let
            c:f32[2147483648,2147483648] = mul a b
            d:f32[2147483648] = reduce_sum[axes=(0,) out_sharding=None] c
          in (d,) }",
    );
    too_large(
        "{ lambda ; a:f32[0,1099511627776,1099511627776]. let b:f32[0,1099511627776,1099511627776] = neg a in (b,) }",
    );
    too_large(
        "{ lambda ; a:f32[2] b:f32[]. let c:f32[1] = pad[padding_config=((-4611686018427387904, 0, 4611686018427387903),)] a b in (c,) }",
    );
}
