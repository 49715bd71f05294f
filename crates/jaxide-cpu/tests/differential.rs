//! Native code against the interpreter, on programs written as text.

use jaxide_core::jaxpr::parse::parse;
use jaxide_core::{Aval, DType, Scalar, Tensor, eval};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};

/// An array of varied numbers; integers stay small, so that indices are often in range.
fn sample(aval: &Aval, seed: usize) -> Tensor {
    let mut bytes = Vec::new();
    let mut state = (seed as u64)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(12345);
    for _ in 0..aval.size() {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let unit = (state >> 40) as f64 / (1u64 << 24) as f64;
        let value = match aval.dtype {
            DType::Bool => Scalar::Bool(unit < 0.5),
            dtype if dtype.is_unsigned_integer() => Scalar::Int((unit * 9.0) as i64),
            dtype if dtype.is_integer() => Scalar::Int((unit * 12.0) as i64 - 4),
            dtype if dtype.is_complex() => Scalar::Complex(unit * 4.0 - 2.0, 1.0 - unit),
            _ => Scalar::Float(unit * 4.0 - 2.0),
        };
        bytes.extend(value.to_bytes(aval.dtype).unwrap());
    }
    Tensor::from_bytes(&aval.shape, aval.dtype, &bytes).unwrap()
}

fn close(a: Scalar, b: Scalar, tolerance: f64) -> bool {
    let near = |a: f64, b: f64| {
        a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * b.abs().max(1.0)
    };
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => near(a, b),
        (Scalar::Complex(a, c), Scalar::Complex(b, d)) => near(a, b) && near(c, d),
        (a, b) => a == b,
    }
}

/// Runs a program by the interpreter and as native code for each instruction set, on the same inputs.
fn check(text: &str) {
    for isa in Isa::available() {
        check_on(isa, false, text);
        check_on(isa, true, text);
    }
}

fn check_on(isa: Isa, checked: bool, text: &str) {
    let options = CompileOptions {
        isa: Some(isa),
        checked,
        ..CompileOptions::default()
    };
    let jaxpr = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    for seed in 0..3 {
        let args: Vec<Tensor> = jaxpr
            .in_avals()
            .iter()
            .enumerate()
            .map(|(k, aval)| sample(aval, seed * 10 + k))
            .collect();
        let want = eval::eval(&jaxpr, &args).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let program = compile(&jaxpr, &options).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let got = program.run(&args).unwrap();
        for (k, (got, want)) in got.iter().zip(&want).enumerate() {
            assert_eq!(got.aval(), want.aval(), "{text}");
            let tolerance = match want.dtype() {
                DType::F64 | DType::C128 => 1e-12,
                DType::F16 => 2e-3,
                DType::BF16 => 1e-2,
                _ => 1e-5,
            };
            for i in 0..want.len() {
                let (a, b) = (got.scalar_at(i).unwrap(), want.scalar_at(i).unwrap());
                assert!(
                    close(a, b, tolerance),
                    "{isa:?}, result {k}, element {i}: {a} and not {b}\n{text}\n{}",
                    program.loops_text()
                );
            }
        }
    }
}

/// The reciprocal of a power that overflows is zero, also where a wider type would hold the power.
#[test]
fn reciprocals_of_powers_that_overflow_are_zero() {
    for (dtype, x, y) in [
        (DType::F32, 4e21, -2),
        (DType::BF16, -4e21, -3),
        (DType::F64, 1e200, -2),
    ] {
        let text =
            format!("{{ lambda ; a:{dtype}[1]. let b:{dtype}[1] = integer_pow[y={y}] a in (b,) }}");
        let jaxpr = parse(&text).unwrap();
        let bytes = Scalar::Float(x).to_bytes(dtype).unwrap();
        let arg = Tensor::from_bytes(&[1], dtype, &bytes).unwrap();
        let zero = |got: Vec<Tensor>| match got[0].scalar_at(0) {
            Some(Scalar::Float(got)) => assert_eq!(got, 0.0, "{dtype}"),
            other => panic!("{other:?} of {dtype}"),
        };
        zero(eval::eval(&jaxpr, std::slice::from_ref(&arg)).unwrap());
        for isa in Isa::available() {
            let options = CompileOptions {
                isa: Some(isa),
                ..CompileOptions::default()
            };
            zero(
                compile(&jaxpr, &options)
                    .unwrap()
                    .run(std::slice::from_ref(&arg))
                    .unwrap(),
            );
        }
    }
}

/// One operation on an array.
fn unary(op: &str, from: &str, to: &str) {
    check(&format!(
        "{{ lambda ; a:{from}. let b:{to} = {op} a in (b,) }}"
    ));
}

fn binary(op: &str, from: &str, to: &str) {
    check(&format!(
        "{{ lambda ; a:{from} b:{from}. let c:{to} = {op} a b in (c,) }}"
    ));
}

#[test]
fn elementwise_functions_of_floats() {
    for op in [
        "neg",
        "sign",
        "abs",
        "floor",
        "ceil",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log1p",
        "sqrt",
        "rsqrt",
        "cbrt",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "logistic",
        "square",
        "erf",
        "erfc",
        "lgamma",
        "digamma",
        "integer_pow[y=3]",
        "integer_pow[y=-2]",
        "round[rounding_method=0]",
        "round[rounding_method=1]",
    ] {
        for ty in ["f32[37]", "f64[5,3]", "f32[]", "bf16[9]", "f16[9]"] {
            unary(op, ty, ty);
        }
    }
    unary("erf_inv", "f32[19]", "f32[19]");
    unary("is_finite", "f32[19]", "bool[19]");
    unary(
        "reduce_precision[exponent_bits=5 mantissa_bits=10]",
        "f32[19]",
        "f32[19]",
    );
    unary(
        "reduce_precision[exponent_bits=8 mantissa_bits=7]",
        "f64[19]",
        "f64[19]",
    );
}

#[test]
fn elementwise_functions_of_two() {
    for op in [
        "add", "sub", "mul", "div", "rem", "max", "min", "pow", "atan2",
    ] {
        for ty in ["f32[37]", "f64[5,3]", "f32[]", "bf16[9]", "f16[9]"] {
            binary(op, ty, ty);
        }
    }
    binary("nextafter", "f32[9]", "f32[9]");
    for op in ["eq", "ne", "lt", "le", "gt", "ge"] {
        for ty in ["f32", "i32", "u8", "f64", "i64", "bool"] {
            binary(op, &format!("{ty}[21]"), "bool[21]");
        }
    }
}

/// Of truth values `add_any` says whether either holds.
#[test]
fn sums_of_truth_values() {
    binary("add_any", "bool[21]", "bool[21]");
    let jaxpr = parse("{ lambda ; a:bool[4] b:bool[4]. let c:bool[4] = add_any a b in (c,) }");
    let truths = |values: [u8; 4]| Tensor::from_bytes(&[4], DType::Bool, &values).unwrap();
    let operands = [truths([0, 1, 0, 1]), truths([0, 0, 1, 1])];
    let jaxpr = jaxpr.unwrap();
    assert_eq!(
        eval::eval(&jaxpr, &operands).unwrap(),
        [truths([0, 1, 1, 1])]
    );
    for isa in Isa::available() {
        let options = CompileOptions {
            isa: Some(isa),
            ..CompileOptions::default()
        };
        let program = compile(&jaxpr, &options).unwrap();
        assert_eq!(
            program.run(&operands).unwrap(),
            [truths([0, 1, 1, 1])],
            "{isa:?}"
        );
    }
}

#[test]
fn integers() {
    for ty in ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"] {
        let ty = format!("{ty}[33]");
        for op in [
            "add",
            "sub",
            "mul",
            "div",
            "rem",
            "max",
            "min",
            "and",
            "or",
            "xor",
            "shift_left",
            "shift_right_logical",
            "shift_right_arithmetic",
        ] {
            binary(op, &ty, &ty);
        }
        for op in [
            "neg",
            "sign",
            "abs",
            "not",
            "population_count",
            "clz",
            "square",
            "integer_pow[y=5]",
        ] {
            unary(op, &ty, &ty);
        }
    }
}

#[test]
fn conversions() {
    let types = [
        "bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64",
    ];
    let names = [
        "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
        "float16", "bfloat16", "float32", "float64",
    ];
    for from in types {
        for (to, name) in types.iter().zip(names) {
            unary(
                &format!("convert_element_type[new_dtype={name} weak_type=False]"),
                &format!("{from}[19]"),
                &format!("{to}[19]"),
            );
        }
    }
    unary(
        "convert_element_type[new_dtype=complex64 weak_type=False]",
        "f32[7]",
        "c64[7]",
    );
}

#[test]
fn complex_numbers() {
    for op in ["add", "sub", "mul"] {
        binary(op, "c64[11]", "c64[11]");
        binary(op, "c128[11]", "c128[11]");
    }
    for op in [
        "neg",
        "conj[input_dtype=complex64]",
        "square",
        "integer_pow[y=3]",
    ] {
        unary(op, "c64[11]", "c64[11]");
    }
    unary("real", "c64[11]", "f32[11]");
    unary("imag", "c64[11]", "f32[11]");
}

#[test]
fn index_maps() {
    check("{ lambda ; a:f32[4,6]. let b:f32[6,4] = transpose[permutation=(1, 0)] a in (b,) }");
    check(
        "{ lambda ; a:f32[4,6]. let b:f32[8,3] = reshape[dimensions=None new_sizes=(8, 3) sharding=None] a in (b,) }",
    );
    check(
        "{ lambda ; a:f32[4,6]. let b:f32[6,4] = transpose[permutation=(1, 0)] a; c:f32[3,8] = reshape[dimensions=None new_sizes=(3, 8) sharding=None] b in (c,) }",
    );
    check(
        "{ lambda ; a:f32[7,6]. let b:f32[3,2] = slice[limit_indices=(7, 5) start_indices=(1, 1) strides=(2, 3)] a in (b,) }",
    );
    check(
        "{ lambda ; a:f32[7,6]. let b:f32[7,6] = rev[dimensions=(0, 1)] a; c:f32[7,6] = add a b in (c,) }",
    );
    check(
        "{ lambda ; a:f32[3,4] b:f32[]. let c:f32[8,6] = pad[padding_config=((1, 2, 1), (3, -1, 0))] a b in (c,) }",
    );
    check(
        "{ lambda ; a:f32[3,4] b:f32[3,2]. let c:f32[3,6] = concatenate[dimension=1] a b; d:f32[3,6] = sin c in (d, c) }",
    );
    check(
        "{ lambda ; . let a:i32[3,4] = iota[dimension=1 dtype=int32 shape=(3, 4) sharding=None]  in (a,) }",
    );
    check(
        "{ lambda ; a:f32[4]. let b:f32[3,4] = broadcast_in_dim[broadcast_dimensions=(1,)] a; c:f32[12] = reshape[dimensions=None new_sizes=(12,) sharding=None] b in (c,) }",
    );
    check("{ lambda ; a:f32[2,3]. let b:f32[4,9] = tile[reps=(2, 3)] a in (b,) }");
    check(
        "{ lambda ; a:f32[2,3] b:f32[2,3]. let c:f32[2,2,3] = stack[axis=1] a b; d:f32[2,3] e:f32[2,3] = unstack[axis=1] c in (c, d, e) }",
    );
}

#[test]
fn reductions() {
    for op in [
        "reduce_sum[axes=AXES out_sharding=None]",
        "reduce_max[axes=AXES out_sharding=None]",
        "reduce_min[axes=AXES out_sharding=None]",
        "reduce_prod[axes=AXES]",
    ] {
        for (axes, from, to) in [
            ("(0,)", "f32[70]", "f32[]"),
            ("(1,)", "f32[5,70]", "f32[5]"),
            ("(0,)", "f32[70,5]", "f32[5]"),
            ("(0, 1)", "f32[7,30]", "f32[]"),
            ("(0, 2)", "f32[7,3,30]", "f32[3]"),
            ("(1,)", "i32[50,3]", "i32[50]"),
            ("(0,)", "f64[129]", "f64[]"),
        ] {
            unary(&op.replace("AXES", axes), from, to);
        }
    }
    unary("reduce_and[axes=(0,)]", "bool[40]", "bool[]");
    unary("reduce_or[axes=(1,)]", "bool[4,40]", "bool[4]");
    for op in ["argmax", "argmin"] {
        unary(
            &format!("{op}[axes=(0,) index_dtype=int32]"),
            "f32[70]",
            "i32[]",
        );
        unary(
            &format!("{op}[axes=(1,) index_dtype=int32]"),
            "f32[70,9]",
            "i32[70]",
        );
        unary(
            &format!("{op}[axes=(0,) index_dtype=int64]"),
            "i32[70,9]",
            "i64[9]",
        );
    }
}

#[test]
fn fused_rows() {
    check(
        "{ lambda ; a:f32[12,100]. let
    b:f32[12] = reduce_max[axes=(1,) out_sharding=None] a
    c:f32[12] = max -inf:f32[] b
    d:f32[12,1] = broadcast_in_dim[broadcast_dimensions=(0,)] c
    f:f32[12,100] = sub a d
    g:f32[12,100] = exp f
    h:f32[12] = reduce_sum[axes=(1,) out_sharding=None] g
    i:f32[12,1] = broadcast_in_dim[broadcast_dimensions=(0,)] h
    j:f32[12,100] = div g i
  in (j,) }",
    );
}

#[test]
fn loops_in_registers() {
    check(
        "{ lambda ; a:f32[]. let
    _:i32[] b:f32[] = scan[
      ft_in=((), (None, None), ())
      ft_out=((None, None), ())
      jaxpr={ lambda ; c:i32[] d:f32[]. let
          e:i32[] = add c 1:i32[]
          f:f32[] = mul 0.7:f32[] d
          g:f32[] = sub 1.0:f32[] d
          h:f32[] = mul f g
        in (e, h) }
      length=50
      reverse=False
      unroll=1
    ] 0:i32[] a
  in (b,) }",
    );
    check(
        "{ lambda ; a:f32[40]. let
    b:i32[40] = broadcast_in_dim 0:i32[]
    c:f32[40] d:i32[40] = while[
      body_jaxpr={ lambda ; d:f32[40] e:f32[40] f:i32[40]. let
          g:f32[40] = div d e
          h:f32[40] = add e g
          i:f32[40] = mul 0.5:f32[] h
          j:i32[40] = add f 1:i32[]
        in (i, j) }
      body_nconsts=1
      cond_jaxpr={ lambda ; k:f32[40] l:f32[40] m:i32[40]. let
          n:f32[40] = mul l l
          o:f32[40] = sub n k
          p:f32[40] = abs o
          r:bool[40] = gt p 0.001:f32[]
          s:bool[40] = lt m 100:i32[]
          u:bool[40] = and r s
        in (u,) }
      cond_nconsts=1
    ] a a a b
  in (c, d) }",
    );
    check(
        "{ lambda ; a:f32[10,3] b:f32[3]. let
    c:f32[3] d:f32[10,3] = scan[
      ft_in=((), (None,), (None,))
      ft_out=((None,), (None,))
      jaxpr={ lambda ; c:f32[3] d:f32[3]. let
          e:f32[3] = rev[dimensions=(0,)] c
          f:f32[3] = mul 0.5:f32[] e
          g:f32[3] = add f d
        in (g, f) }
      length=10
      reverse=True
      unroll=1
    ] b a
  in (c, d) }",
    );
}

#[test]
fn loops_in_memory() {
    check(
        "{ lambda ; a:f32[300] b:f32[5,300]. let
    c:i32[] d:f32[300] e:f32[5,300] = scan[
      ft_in=((), (None, None), (None,))
      ft_out=((None, None), (None,))
      jaxpr={ lambda ; c:i32[] d:f32[300] e:f32[300]. let
          f:i32[] = add c 1:i32[]
          g:f32[300] = rev[dimensions=(0,)] d
          h:f32[300] = add g e
          i:f32[] = reduce_sum[axes=(0,) out_sharding=None] h
          j:f32[300] = div h i
        in (f, j, h) }
      length=5
      reverse=False
      unroll=1
    ] 0:i32[] a b
  in (c, d, e) }",
    );
    check(
        "{ lambda ; a:f32[300]. let
    b:i32[] c:f32[300] = while[
      body_jaxpr={ lambda ; d:i32[] e:f32[300]. let
          f:i32[] = add d 1:i32[]
          g:f32[300] = rev[dimensions=(0,)] e
          h:f32[300] = add g e
        in (f, h) }
      body_nconsts=0
      cond_jaxpr={ lambda ; d:i32[] e:f32[300]. let
          f:f32[] = reduce_max[axes=(0,) out_sharding=None] e
          g:bool[] = lt f 1000.0:f32[]
          h:bool[] = lt d 7:i32[]
          i:bool[] = and g h
        in (i,) }
      cond_nconsts=0
    ] 0:i32[] a
  in (b, c) }",
    );
    check(
        "{ lambda ; a:f32[300]. let
    b:i32[] c:f32[300] = scan[
      ft_in=((), (None, None), ())
      ft_out=((None, None), ())
      jaxpr={ lambda ; d:i32[] e:f32[300]. let
          f:i32[] = add d 1:i32[]
          g:f32[1] = dynamic_slice[slice_sizes=(1,)] e d
          h:f32[1] = mul g 2.0:f32[]
          i:f32[300] = dynamic_update_slice e h f
        in (f, i) }
      length=299
      reverse=False
      unroll=1
    ] 0:i32[] a
  in (b, c) }",
    );
}

#[test]
fn branches() {
    check(
        "{ lambda ; a:i32[] b:f32[4]. let
    c:i32[] = clamp 0:i32[] a 2:i32[]
    d:f32[4] = cond[
      branches=(
        { lambda ; e:f32[4]. let f:f32[4] = sin e in (f,) }
        { lambda ; e:f32[4]. let  in (e,) }
        { lambda ; e:f32[4]. let f:f32[4] = rev[dimensions=(0,)] e in (f,) }
      )
    ] c b
  in (d,) }",
    );
    check(
        "{ lambda ; a:bool[] b:f32[400]. let
    c:i32[] = convert_element_type[new_dtype=int32 weak_type=False] a
    d:f32[400] e:f32[400] = cond[
      branches=(
        { lambda ; e:f32[400]. let f:f32[400] = sin e in (f, e) }
        { lambda ; e:f32[400]. let f:f32[400] = rev[dimensions=(0,)] e in (f, f) }
      )
    ] c b
  in (d, e) }",
    );
}

#[test]
fn indexing() {
    check(
        "{ lambda ; a:f32[9,4] b:i32[] c:i32[]. let d:f32[3,4] = dynamic_slice[slice_sizes=(3, 4)] a b c in (d,) }",
    );
    check(
        "{ lambda ; a:f32[9,4] b:i32[] c:i32[] d:f32[2,2]. let e:f32[9,4] = dynamic_update_slice a d b c in (e,) }",
    );
    for mode in ["CLIP", "FILL_OR_DROP", "PROMISE_IN_BOUNDS"] {
        let indices = if mode == "PROMISE_IN_BOUNDS" {
            "u8"
        } else {
            "i32"
        };
        check(&format!(
            "{{ lambda ; a:f32[9,4] b:{indices}[5,1]. let c:f32[5,4] = gather[dimension_numbers=GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,), operand_batching_dims=(), start_indices_batching_dims=()) fill_value=None indices_are_sorted=False mode=GatherScatterMode.{mode} slice_sizes=(1, 4) unique_indices=False] a b in (c,) }}"
        ));
    }
    for (op, mode) in [
        ("scatter-add", "CLIP"),
        ("scatter-add", "FILL_OR_DROP"),
        ("scatter-mul", "FILL_OR_DROP"),
        ("scatter-max", "CLIP"),
        ("scatter", "FILL_OR_DROP"),
    ] {
        check(&format!(
            "{{ lambda ; a:f32[9,4] b:i32[5,1] c:f32[5,4]. let d:f32[9,4] = {op}[dimension_numbers=ScatterDimensionNumbers(update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,), operand_batching_dims=(), scatter_indices_batching_dims=()) indices_are_sorted=False mode=GatherScatterMode.{mode} unique_indices=False update_consts=() update_jaxpr=None] a b c in (d,) }}"
        ));
    }
}

#[test]
fn windows() {
    for op in [
        "reduce_window_sum",
        "reduce_window_max",
        "reduce_window_min",
    ] {
        unary(
            &format!(
                "{op}[base_dilation=(1, 1) padding=((0, 1), (1, 0)) window_dilation=(1, 2) window_dimensions=(2, 2) window_strides=(1, 2)]"
            ),
            "f32[5,7]",
            "f32[5,3]",
        );
        unary(
            &format!(
                "{op}[base_dilation=(2,) padding=((1, 1),) window_dilation=(1,) window_dimensions=(3,) window_strides=(2,)]"
            ),
            "f32[8]",
            "f32[8]",
        );
    }
    check(
        "{ lambda ; a:f32[4] b:f32[8]. let c:f32[8] = select_and_scatter_add[padding=((0, 0),) select_prim=ge window_dimensions=(2,) window_strides=(2,)] a b in (c,) }",
    );
}

#[test]
fn windows_with_padding_that_is_not_neutral() {
    check(
        "{ lambda ; a:f32[5]. let b:f32[5] = reduce_window[base_dilation=(1,) consts=() jaxpr={ lambda ; c:f32[] d:f32[]. let e:f32[] = mul c d in (e,) } padding=((1, 1),) window_dilation=(1,) window_dimensions=(3,) window_strides=(1,)] a 3.0:f32[] in (b,) }",
    );
    check(
        "{ lambda ; a:f32[3] b:f32[5]. let c:f32[5] = select_and_scatter_add[padding=((1, 1),) select_prim=le window_dimensions=(2,) window_strides=(2,)] a b in (c,) }",
    );
}

#[test]
fn floats_of_eight_bits_and_less() {
    for dtype in [
        "f4_e2m1fn",
        "f8_e4m3fn",
        "f8_e5m2",
        "f8_e3m4",
        "f8_e4m3b11fnuz",
    ] {
        let (matrix, row, scalar) = (
            format!("{dtype}[3,5]"),
            format!("{dtype}[5]"),
            format!("{dtype}[]"),
        );
        for op in ["add", "mul", "max", "sub"] {
            binary(op, &matrix, &matrix);
        }
        unary("reduce_sum[axes=(0,) out_sharding=None]", &matrix, &row);
        unary(
            "reduce_max[axes=(0, 1) out_sharding=None]",
            &matrix,
            &scalar,
        );
        unary("reduce_min[axes=(0,) out_sharding=None]", &matrix, &row);
        unary("argmax[axes=(0,) index_dtype=int32]", &matrix, "i32[5]");
        unary(
            "convert_element_type[new_dtype=int8 weak_type=False]",
            &row,
            "i8[5]",
        );
        unary(
            "convert_element_type[new_dtype=complex64 weak_type=False]",
            &row,
            "c64[5]",
        );
        unary(
            "reduce_window_max[base_dilation=(1, 1) padding=((0, 1), (1, 0)) window_dilation=(1, 1) window_dimensions=(2, 2) window_strides=(1, 1)]",
            &matrix,
            &matrix,
        );
        check(&format!(
            "{{ lambda ; a:{matrix} b:{scalar}. let c:{row} = reduce[computation=<f> dimensions=(0,) jaxpr={{ lambda ; d:{scalar} e:{scalar}. let f:{scalar} = max d e in (f,) }}] a b in (c,) }}"
        ));
        check(&format!(
            "{{ lambda ; a:{row} b:i32[4,1] c:{dtype}[4]. let d:{row} = scatter-add[dimension_numbers=ScatterDimensionNumbers(update_window_dims=(), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,), operand_batching_dims=(), scatter_indices_batching_dims=()) indices_are_sorted=False mode=GatherScatterMode.FILL_OR_DROP unique_indices=False update_consts=() update_jaxpr=None] a b c in (d,) }}"
        ));
    }
}

/// Indices are negative, repeated and out of range.
#[test]
fn references_indexed_by_arrays() {
    for index in ["b,:,:", "b,:,b", "b,0:2,b", ":,b,:", "b,b,b", ":,b,1:3"] {
        let shape: Vec<String> = match index {
            "b,:,:" => vec!["6".into(), "2".into(), "4".into()],
            "b,:,b" | "b,0:2,b" => vec!["6".into(), "2".into()],
            ":,b,:" => vec!["3".into(), "6".into(), "4".into()],
            "b,b,b" => vec!["6".into()],
            _ => vec!["3".into(), "6".into(), "2".into()],
        };
        let part = format!("f32[{}]", shape.join(","));
        let reference = "c:Ref{f32[3,2,4]} = new_ref[kind=None memory_space=None pin=False] a";
        check(&format!(
            "{{ lambda ; a:f32[3,2,4] b:i32[6]. let\n    {reference}\n    d:{part} <- c[{index}]\n  in (d,) }}"
        ));
        check(&format!(
            "{{ lambda ; a:f32[3,2,4] b:i32[6] d:{part}. let\n    {reference}\n    c[{index}] += d\n    e:f32[3,2,4] <- c[...]\n  in (e,) }}"
        ));
        check(&format!(
            "{{ lambda ; a:f32[3,2,4] b:i32[6] d:{part}. let\n    {reference}\n    e:{part}, c[{index}] <- c[{index}], d\n    f:f32[3,2,4] <- c[...]\n  in (e, f) }}"
        ));
    }
    check(
        "{ lambda ; a:f32[5,4] b:i32[] d:f32[2,4]. let\n    c:Ref{f32[5,4]} = new_ref[kind=None memory_space=None pin=False] a\n    c[b:b+2,:] <- d\n    e:f32[4] <- c[b,:]\n    f:f32[5,4] <- c[...]\n  in (e, f) }",
    );
}

/// A view of a view of an array that only a later use puts into memory.
#[test]
fn views_of_what_is_stored_later() {
    let gather = "gather[dimension_numbers=GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,), operand_batching_dims=(), start_indices_batching_dims=()) fill_value=None indices_are_sorted=False mode=GatherScatterMode.CLIP slice_sizes=(1,) unique_indices=False]";
    check(&format!(
        "{{ lambda ; a:f32[18] b:i32[18,1] c:i32[6,1]. let
    d:f32[18] = {gather} a b
    e:f32[1] = slice[limit_indices=(1,) start_indices=(0,) strides=None] d
    f:f32[] = squeeze[dimensions=(0,)] e
    g:bool[18] = eq d f
    h:i32[18] = convert_element_type[new_dtype=int32 weak_type=False] g
    i:i32[] = reduce_sum[axes=(0,) out_sharding=None] h
    j:f32[6] = {gather} d c
  in (j, i) }}"
    ));
}

/// A reduction of an array to a result of this type.
fn reduction(op: &str, axes: &str, from: &str, to: &str) {
    let sharding = if op.starts_with("arg") {
        "index_dtype=int32"
    } else {
        "out_sharding=None"
    };
    check(&format!(
        "{{ lambda ; a:{from}. let b:{to} = {op}[axes=({axes}) {sharding}] a in (b,) }}"
    ));
}

#[test]
fn reductions_over_long_rows_go_on_chunk_by_chunk() {
    for rows in [16, 37] {
        for (op, dtype) in [
            ("reduce_sum", "f64"),
            ("reduce_sum", "i32"),
            ("reduce_max", "f32"),
            ("reduce_min", "f16"),
            ("reduce_sum", "c128"),
            ("reduce_or", "bool"),
        ] {
            reduction(
                op,
                "0,",
                &format!("{dtype}[{rows},700]"),
                &format!("{dtype}[700]"),
            );
        }
        reduction("argmax", "0,", &format!("f32[{rows},700]"), "i32[700]");
        reduction("argmin", "0,", &format!("f64[{rows},700]"), "i32[700]");
        reduction(
            "reduce_sum",
            "1,",
            &format!("f64[3,{rows},700]"),
            "f64[3,700]",
        );
    }
}

#[test]
fn reductions_of_many_elements_are_made_in_parts() {
    for (op, dtype) in [
        ("reduce_sum", "f64"),
        ("reduce_sum", "i32"),
        ("reduce_max", "f32"),
        ("reduce_and", "bool"),
        ("reduce_sum", "c128"),
    ] {
        reduction(op, "0,", &format!("{dtype}[70001]"), &format!("{dtype}[]"));
        reduction(
            op,
            "1,",
            &format!("{dtype}[2,66000]"),
            &format!("{dtype}[2]"),
        );
        reduction(
            op,
            "0,",
            &format!("{dtype}[9001,17]"),
            &format!("{dtype}[17]"),
        );
    }
    reduction("argmax", "0,", "f32[70001]", "i32[]");
    reduction("argmin", "0,", "f32[9001,17]", "i32[17]");
}

/// On both sides of the lengths from which on the lanes are what is reduced.
#[test]
fn reductions_over_short_rows() {
    for (dtype, lengths) in [
        ("f32", [7, 8, 9, 31, 32, 33]),
        ("f64", [7, 8, 9, 31, 32, 33]),
        ("i32", [7, 8, 9, 31, 32, 33]),
        ("i8", [3, 4, 7, 8, 9, 16]),
        ("bf16", [3, 4, 7, 8, 9, 16]),
        ("bool", [3, 4, 7, 8, 9, 16]),
    ] {
        let sum = if dtype == "bool" {
            "reduce_or"
        } else {
            "reduce_sum"
        };
        for length in lengths {
            let from = format!("{dtype}[45,{length}]");
            reduction(sum, "1,", &from, &format!("{dtype}[45]"));
            reduction("argmax", "1,", &from, "i32[45]");
        }
    }
}

/// Where nothing is beyond the least or largest number, the first element is the result.
#[test]
fn extremes_of_equal_elements() {
    for (dtype, least, most) in [
        ("f32", "-inf", "inf"),
        ("f64", "-inf", "inf"),
        ("i8", "-128", "127"),
        ("u8", "0", "255"),
        ("i32", "-2147483648", "2147483647"),
        ("bool", "False", "True"),
    ] {
        for length in [5, 40, 70001] {
            check(&format!(
                "{{ lambda ; . let
                    a:{dtype}[{length}] = broadcast_in_dim[broadcast_dimensions=() shape=({length},) sharding=None] {least}:{dtype}[]
                    b:{dtype}[{length}] = broadcast_in_dim[broadcast_dimensions=() shape=({length},) sharding=None] {most}:{dtype}[]
                    c:i32[] = argmax[axes=(0,) index_dtype=int32] a
                    d:i64[] = argmin[axes=(0,) index_dtype=int64] b
                  in (c, d) }}"
            ));
        }
    }
}

#[test]
fn nests_over_the_same_rows_run_together() {
    check(
        "{ lambda ; a:f64[90,300] b:f64[300]. let
            c:f64[90] = reduce_max[axes=(1,) out_sharding=None] a
            d:f64[90,1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=(90, 1) sharding=None] c
            e:f64[90,300] = sub a d
            f:f64[90,300] = exp e
            g:f64[90] = reduce_sum[axes=(1,) out_sharding=None] f
            h:f64[90,1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=(90, 1) sharding=None] g
            i:f64[90,300] = div f h
            j:f64[1,300] = broadcast_in_dim[broadcast_dimensions=(1,) shape=(1, 300) sharding=None] b
            k:f64[90,300] = mul i j
            l:f64[300] = reduce_sum[axes=(0,) out_sharding=None] k
          in (k, l, g) }",
    );
}

#[test]
fn updates_may_read_their_indices_from_their_operand() {
    check(
        "{ lambda ; a:i32[3]. let
            b:i32[3] = mul a a
            c:i32[3] = rem b 3:i32[]
            d:i32[3,1] = reshape[dimensions=None new_sizes=(3, 1) sharding=None] c
            e:i32[3,1] = reshape[dimensions=None new_sizes=(3, 1) sharding=None] c
            f:i32[3] = scatter-add[
              dimension_numbers=ScatterDimensionNumbers(update_window_dims=(1,), inserted_window_dims=(), scatter_dims_to_operand_dims=(0,), operand_batching_dims=(), scatter_indices_batching_dims=())
              indices_are_sorted=False
              mode=GatherScatterMode.CLIP
              unique_indices=False
              update_consts=()
              update_jaxpr=None
            ] c d e
          in (f,) }",
    );
}

#[test]
fn stacks_made_by_a_loop_outlive_what_its_turns_need() {
    // Each turn multiplies, so that temporaries of the turn stand beside the stack, which is read after the loop only.
    check(
        "{ lambda ; a:f64[32,64] b:f64[1,32] c:f64[5,1,32]. let
            _:f64[1,32] d:f64[5,1,32] = scan[
              jaxpr={ lambda ; a:f64[32,64] b:f64[1,32] c:f64[1,32]. let
                  d:f64[1,64] = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=float64] b a
                  e:f64[1,64] = tanh d
                  f:f64[1,32] g:f64[1,32] = split[axis=1 sizes=(32, 32)] e
                  h:f64[1,32] = mul f c
                  i:f64[1,32] = add h g
                in (i, h) }
              length=5
              linear=(False, False, False)
              num_carry=1
              num_consts=1
              reverse=False
              unroll=1
            ] a b c
            e:f64[] = reduce_sum[axes=(0, 1, 2) out_sharding=None] d
          in (e,) }",
    );
}

#[test]
fn batched_scatters_need_no_index_components() {
    check(
        "{ lambda ; a:i32[2,0] b:f64[2,2] c:f64[2,2]. let
            d:f64[2,2] = scatter-add[
              dimension_numbers=ScatterDimensionNumbers(update_window_dims=(1,), inserted_window_dims=(), scatter_dims_to_operand_dims=(), operand_batching_dims=(1,), scatter_indices_batching_dims=(0,))
              indices_are_sorted=False
              mode=GatherScatterMode.CLIP
              unique_indices=False
              update_consts=()
              update_jaxpr={ lambda ; a:f64[] b:f64[]. let c:f64[] = add a b in (c,) }
            ] b a c
          in (d,) }",
    );
}
