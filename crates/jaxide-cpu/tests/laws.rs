//! The laws that every primitive keeps: the text of a program reads back; native code gives what the interpreter gives; the
//! derivative is the limit of differences; transposition keeps inner products; lanes of a batch are calls one by one.

use std::collections::BTreeSet;

use jaxide_core::jaxpr::parse::parse;
use jaxide_core::prims::Prim;
use jaxide_core::transform::{Step, apply};
use jaxide_core::{ClosedJaxpr, DType, ErrorKind, Scalar, Tensor, check, eval};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};
use jaxide_testing::arrays::{self, Numbers};
use jaxide_testing::compare::{Nearness, compare};
use jaxide_testing::{laws, samples};

/// A program of one primitive, in which `F` is a type of floats and `I` one of integers, and where its arguments lie.
struct Sample {
    primitive: &'static str,
    text: String,
    domain: [f64; 2],
}

const ANY: [f64; 2] = [-2.0, 2.0];
const POSITIVE: [f64; 2] = [0.3, 2.5];

/// Functions of one float.
const UNARY: &[(&str, [f64; 2])] = &[
    ("neg", ANY),
    ("sin", ANY),
    ("cos", ANY),
    ("tan", [-1.2, 1.2]),
    ("tanh", ANY),
    ("exp", ANY),
    ("log", POSITIVE),
    ("log1p", POSITIVE),
    ("expm1", ANY),
    ("sqrt", POSITIVE),
    ("rsqrt", POSITIVE),
    ("square", ANY),
    ("abs", POSITIVE),
    ("sign", POSITIVE),
    ("floor", [0.1, 0.9]),
    ("ceil", [0.1, 0.9]),
    ("erf", ANY),
    ("logistic", ANY),
    ("copy", ANY),
    ("stop_gradient", ANY),
    ("round[rounding_method=1]", [0.6, 0.9]),
    ("integer_pow[y=3]", ANY),
];

/// Functions of two floats.
const BINARY: &[(&str, [f64; 2])] = &[
    ("add", ANY),
    ("sub", ANY),
    ("mul", ANY),
    ("div", POSITIVE),
    ("pow", POSITIVE),
    ("max", ANY),
    ("min", ANY),
    ("atan2", POSITIVE),
];

/// Functions of two integers.
const INTEGER: &[&str] = &[
    "add", "sub", "mul", "max", "min", "and", "or", "xor", "div", "rem",
];

const COMPARISONS: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge"];

/// Programs with parameters and shapes of their own.
const SHAPED: &[(&str, &str)] = &[
    (
        "rem",
        "{ lambda ; a:F[3]. let b:F[3] = rem a 7.0:F[] in (b,) }",
    ),
    (
        "is_finite",
        "{ lambda ; a:F[3]. let b:bool[3] = is_finite a in (b,) }",
    ),
    (
        "select_n",
        "{ lambda ; a:bool[3] b:F[3] c:F[3]. let d:F[3] = select_n a b c in (d,) }",
    ),
    (
        "clamp",
        "{ lambda ; a:F[3]. let b:F[3] = clamp -9.0:F[] a 9.0:F[] in (b,) }",
    ),
    (
        "not",
        "{ lambda ; a:bool[3]. let b:bool[3] = not a in (b,) }",
    ),
    (
        "convert_element_type",
        "{ lambda ; a:F[3]. let b:F[3] = convert_element_type[new_dtype=F weak_type=False] a in (b,) }",
    ),
    (
        "iota",
        "{ lambda ; a:F[3]. let b:F[3] = iota[dimension=0 dtype=F shape=(3,) sharding=None]; c:F[3] = mul a b in (c,) }",
    ),
    (
        "broadcast_in_dim",
        "{ lambda ; a:F[3]. let b:F[2,3] = broadcast_in_dim[broadcast_dimensions=(1,) shape=(2, 3) sharding=None] a in (b,) }",
    ),
    (
        "reshape",
        "{ lambda ; a:F[2,3]. let b:F[6] = reshape[dimensions=None new_sizes=(6,) sharding=None] a in (b,) }",
    ),
    (
        "transpose",
        "{ lambda ; a:F[2,3]. let b:F[3,2] = transpose[permutation=(1, 0)] a in (b,) }",
    ),
    (
        "squeeze",
        "{ lambda ; a:F[1,3]. let b:F[3] = squeeze[dimensions=(0,)] a in (b,) }",
    ),
    (
        "slice",
        "{ lambda ; a:F[5]. let b:F[2] = slice[limit_indices=(5,) start_indices=(1,) strides=(2,)] a in (b,) }",
    ),
    (
        "pad",
        "{ lambda ; a:F[3] b:F[]. let c:F[7] = pad[padding_config=((1, 1, 1),)] a b in (c,) }",
    ),
    (
        "rev",
        "{ lambda ; a:F[2,3]. let b:F[2,3] = rev[dimensions=(1,)] a in (b,) }",
    ),
    (
        "concatenate",
        "{ lambda ; a:F[2] b:F[3]. let c:F[5] = concatenate[dimension=0] a b in (c,) }",
    ),
    (
        "split",
        "{ lambda ; a:F[5]. let b:F[2] c:F[3] = split[axis=0 sizes=(2, 3)] a in (b, c) }",
    ),
    (
        "dynamic_slice",
        "{ lambda ; a:F[5] i:I[]. let b:F[2] = dynamic_slice[slice_sizes=(2,)] a i in (b,) }",
    ),
    (
        "dynamic_update_slice",
        "{ lambda ; a:F[5] b:F[2] i:I[]. let c:F[5] = dynamic_update_slice a b i in (c,) }",
    ),
    (
        "reduce_sum",
        "{ lambda ; a:F[2,3]. let b:F[2] = reduce_sum[axes=(1,) out_sharding=None] a in (b,) }",
    ),
    (
        "reduce_max",
        "{ lambda ; a:F[2,3]. let b:F[3] = reduce_max[axes=(0,) out_sharding=None] a in (b,) }",
    ),
    (
        "reduce_min",
        "{ lambda ; a:F[2,3]. let b:F[3] = reduce_min[axes=(0,) out_sharding=None] a in (b,) }",
    ),
    (
        "reduce_prod",
        "{ lambda ; a:F[2,3]. let b:F[2] = reduce_prod[axes=(1,) out_sharding=None] a in (b,) }",
    ),
    (
        "reduce_and",
        "{ lambda ; a:bool[2,3]. let b:bool[2] = reduce_and[axes=(1,) out_sharding=None] a in (b,) }",
    ),
    (
        "reduce_or",
        "{ lambda ; a:bool[2,3]. let b:bool[2] = reduce_or[axes=(1,) out_sharding=None] a in (b,) }",
    ),
    (
        "argmax",
        "{ lambda ; a:F[2,3]. let b:I[2] = argmax[axes=(1,) index_dtype=I] a in (b,) }",
    ),
    (
        "argmin",
        "{ lambda ; a:F[2,3]. let b:I[2] = argmin[axes=(1,) index_dtype=I] a in (b,) }",
    ),
    (
        "cumsum",
        "{ lambda ; a:F[2,3]. let b:F[2,3] = cumsum[axis=1 reverse=False] a in (b,) }",
    ),
    (
        "sort",
        "{ lambda ; a:F[5]. let b:F[5] = sort[dimension=0 is_stable=True num_keys=1] a in (b,) }",
    ),
    (
        "dot_general",
        "{ lambda ; a:F[2,3] b:F[3,4]. let c:F[2,4] = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=F] a b in (c,) }",
    ),
    (
        "jit",
        "{ lambda ; a:F[3]. let b:F[3] = jit[name=f jaxpr={ lambda ; a:F[3]. let b:F[3] = sin a in (b,) }] a in (b,) }",
    ),
    (
        "cond",
        "{ lambda ; i:i32[] a:F[3]. let b:F[3] = cond[branches=({ lambda ; a:F[3]. let b:F[3] = sin a in (b,) } { lambda ; a:F[3]. let b:F[3] = mul a a in (b,) })] i a in (b,) }",
    ),
    (
        "scan",
        "{ lambda ; a:F[] x:F[4]. let b:F[] y:F[4] = scan[_split_transpose=False jaxpr={ lambda ; a:F[] x:F[]. let b:F[] = mul a x; c:F[] = sin b in (b, c) } length=4 linear=(False, False) num_carry=1 num_consts=0 reverse=False unroll=1] a x in (b, y) }",
    ),
    (
        "stack",
        "{ lambda ; a:F[2,3] b:F[2,3]. let c:F[2,2,3] = stack[axis=1] a b in (c,) }",
    ),
    (
        "gather",
        "{ lambda ; a:F[9,5] i:I[2,3,1]. let c:F[2,3,5] = gather[dimension_numbers=GatherDimensionNumbers(offset_dims=(2,), collapsed_slice_dims=(0,), start_index_map=(0,), operand_batching_dims=(), start_indices_batching_dims=()) fill_value=None indices_are_sorted=False mode=GatherScatterMode.CLIP slice_sizes=(1, 5) unique_indices=False] a i in (c,) }",
    ),
    (
        "scatter-add",
        "{ lambda ; a:F[4,5] i:I[4,1] c:F[4]. let d:F[4,5] = scatter-add[dimension_numbers=ScatterDimensionNumbers(update_window_dims=(), inserted_window_dims=(1,), scatter_dims_to_operand_dims=(1,), operand_batching_dims=(0,), scatter_indices_batching_dims=(0,)) indices_are_sorted=False mode=GatherScatterMode.FILL_OR_DROP unique_indices=False update_consts=() update_jaxpr={ lambda ; e:F[] f:F[]. let g:F[] = add e f in (g,) }] a i c in (d,) }",
    ),
    (
        "while",
        "{ lambda ; a:F[4] b:F[4]. let c:i32[] d:F[4] = while[body_jaxpr={ lambda ; e:F[4] f:i32[] g:F[4]. let h:i32[] = add f 1:i32[]; i:F[4] = mul g e in (h, i) } body_nconsts=1 cond_jaxpr={ lambda ; j:i32[] k:F[4]. let l:bool[] = lt j 5:i32[] in (l,) } cond_nconsts=0] b 0:i32[] a in (c, d) }",
    ),
    (
        "custom_jvp_call",
        "{ lambda ; a:F[2,4]. let b:F[2,4] = custom_jvp_call[name=relu call_jaxpr={ lambda ; f:F[2,4]. let g:F[2,4] = max f 0.0:F[] in (g,) } jvp=jvp symbolic_zeros=False] a in (b,) }",
    ),
];

/// Programs that JAX's texts do not show, with primitives that have no derivative.
const OTHERS: &[(&str, &str)] = &[
    (
        "copy_p",
        "{ lambda ; a:f64[3]. let b:f64[3] = copy_p a in (b,) }",
    ),
    (
        "geqrf",
        "{ lambda ; a:f64[4,3]. let b:f64[4,3] c:f64[3] = geqrf a in (b, c) }",
    ),
    (
        "geqp3",
        "{ lambda ; a:f64[4,3] b:i32[3]. let c:i32[3] = mul b 0:i32[]; d:f64[4,3] e:i32[3] f:f64[3] = geqp3[use_magma=None] a c in (d, e, f) }",
    ),
    (
        "broadcast_to",
        "{ lambda ; a:f64[1,3]. let b:f64[2,4,3] = broadcast_to[shape=(2, 4, 3)] a in (b,) }",
    ),
    (
        "closed_call",
        "{ lambda ; a:f64[3]. let b:f64[3] = closed_call[call_jaxpr={ lambda ; a:f64[3]. let b:f64[3] = sin a in (b,) }] a in (b,) }",
    ),
    (
        "threefry4x32",
        "{ lambda ; a:u32[] b:u32[5]. let c:u32[5] d:u32[5] e:u32[5] f:u32[5] = threefry4x32 a 1:u32[] a b b a b 7:u32[] in (c, d, e, f) }",
    ),
    (
        "philox4x32",
        "{ lambda ; a:u32[] b:u32[2,3]. let c:u32[2,3] d:u32[2,3] e:u32[2,3] f:u32[2,3] = philox4x32 a 3:u32[] b b a b in (c, d, e, f) }",
    ),
    (
        "philox2x32",
        "{ lambda ; a:u32[] b:u32[4]. let c:u32[4] d:u32[4] = philox2x32 a b b in (c, d) }",
    ),
    (
        "iota_2x32_shape",
        "{ lambda ; a:u32[2,3]. let b:u32[2,3] c:u32[2,3] = iota_2x32_shape[shape=(2, 3)] ; d:u32[2,3] = add a c in (b, d) }",
    ),
    (
        "remat_opt",
        "{ lambda ; a:f64[3]. let b:f64[3] c:f64[3] = remat_opt[fun_jaxpr_thunk=<f> fwd_jaxpr={ lambda ; c:f64[3]. let d:f64[3] = sin c; e:f64[3] = cos c in (e, d) } num_consts=0 num_res=1] a; d:f64[3] = mul b c in (c, d) }",
    ),
    (
        "xla_metadata_call",
        "{ lambda ; a:f64[3]. let b:f64[3] = xla_metadata_call[ad_metadata=(('a', 'c'),) jaxpr={ lambda ; c:f64[3]. let d:f64[3] = sin c in (d,) } xla_metadata=(('a', 'b'),)] a in (b,) }",
    ),
    (
        "xla_metadata_value",
        "{ lambda ; a:f64[3]. let b:f64[3] = sin a; c:f64[3] = xla_metadata_value[xla_metadata_kvs=(('a', 'b'),)] b in (c,) }",
    ),
    (
        "xla_pmap",
        "{ lambda ; a:f64[2,3]. let b:f64[2,3] = xla_pmap[axis_name=i axis_size=2 call_jaxpr={ lambda ; a:f64[3]. let b:f64[3] = psum[axes=('i',) axis_index_groups=None] a in (b,) } in_axes=(0,) name=f out_axes=(0,)] a in (b,) }",
    ),
];

fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    let mut add = |call: &'static str, text: String, domain| {
        let primitive = call.split('[').next().unwrap_or(call);
        samples.push(Sample {
            primitive,
            text,
            domain,
        });
    };
    for shape in ["", "0", "7", "3,5"] {
        for &(call, domain) in UNARY {
            add(
                call,
                format!("{{ lambda ; a:F[{shape}]. let b:F[{shape}] = {call} a in (b,) }}"),
                domain,
            );
        }
        for &(call, domain) in BINARY {
            add(
                call,
                format!(
                    "{{ lambda ; a:F[{shape}] b:F[{shape}]. let c:F[{shape}] = {call} a b in (c,) }}"
                ),
                domain,
            );
        }
        for &call in INTEGER {
            add(
                call,
                format!(
                    "{{ lambda ; a:I[{shape}] b:I[{shape}]. let c:I[{shape}] = {call} a b in (c,) }}"
                ),
                ANY,
            );
        }
        for &call in COMPARISONS {
            add(
                call,
                format!(
                    "{{ lambda ; a:F[{shape}] b:F[{shape}]. let c:bool[{shape}] = {call} a b in (c,) }}"
                ),
                ANY,
            );
        }
    }
    for &(primitive, text) in SHAPED {
        add(primitive, text.to_owned(), ANY);
    }
    samples
}

/// Distinct numbers in a domain: no two closer than the steps of the differences, so that extrema and orders stay.
fn array(shape: &[usize], dtype: DType, [low, high]: [f64; 2], seed: usize) -> Tensor {
    let size: usize = shape.iter().product();
    let mut bytes = Vec::new();
    for i in 0..size {
        let unit = ((i * 37 + seed * 11 + 5) % 101) as f64 / 101.0;
        let value = match dtype {
            DType::Bool => Scalar::Bool(unit < 0.5),
            dtype if dtype.is_integer() => Scalar::Int(1 + (unit * 8.0) as i64),
            _ => Scalar::Float(low + (high - low) * unit),
        };
        bytes.extend(value.to_bytes(dtype).unwrap());
    }
    Tensor::from_bytes(shape, dtype, &bytes).unwrap()
}

fn arguments(jaxpr: &ClosedJaxpr, domain: [f64; 2], seed: usize) -> Vec<Tensor> {
    let avals = jaxpr.in_avals();
    (avals.iter().enumerate())
        .map(|(k, aval)| array(&aval.shape, aval.dtype, domain, seed + 7 * k))
        .collect()
}

fn numbers(array: &Tensor) -> Vec<f64> {
    (0..array.len())
        .map(|i| array.scalar_at(i).unwrap().as_complex().0)
        .collect()
}

#[track_caller]
fn near(what: &str, text: &str, got: &[f64], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len(), "{what}: {text}");
    for (a, b) in got.iter().zip(want) {
        let same = a == b || (a.is_nan() && b.is_nan());
        assert!(
            same || (a - b).abs() <= tolerance * b.abs().max(1.0),
            "{what}: {a}, not {b}: {text}"
        );
    }
}

fn run(jaxpr: &ClosedJaxpr, args: &[Tensor], text: &str) -> Vec<Tensor> {
    eval::eval(jaxpr, args).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn transformed(jaxpr: &ClosedJaxpr, step: &Step, text: &str) -> ClosedJaxpr {
    apply(jaxpr, step).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Native code for each instruction set gives what the interpreter gives.
fn runs_natively(jaxpr: &ClosedJaxpr, args: &[Tensor], tolerance: f64, text: &str) {
    let want = run(jaxpr, args, text);
    for isa in Isa::available() {
        let options = CompileOptions {
            isa: Some(isa),
            ..CompileOptions::default()
        };
        let program = compile(jaxpr, &options).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let got = program.run(args).unwrap();
        for (got, want) in got.iter().zip(&want) {
            assert_eq!(got.aval(), want.aval(), "{text}");
            near(isa.name(), text, &numbers(got), &numbers(want), tolerance);
        }
    }
}

fn floats(avals: &[jaxide_core::Aval]) -> Vec<usize> {
    (0..avals.len())
        .filter(|&k| avals[k].dtype.is_float())
        .collect()
}

/// Derivatives against differences, and inner products against derivatives.
fn derives(sample: &Sample, jaxpr: &ClosedJaxpr, args: &[Tensor], text: &str) {
    let (argnums, outs) = (floats(&jaxpr.in_avals()), floats(&jaxpr.out_avals()));
    if argnums.is_empty() || outs.is_empty() {
        return;
    }
    let tangents: Vec<Tensor> = (argnums.iter())
        .map(|&k| array(args[k].shape(), DType::F64, [-1.0, 1.0], 50 + k))
        .collect();
    let jvp = transformed(
        jaxpr,
        &Step::Jvp {
            argnums: argnums.clone(),
            tangent_outs: outs.clone(),
        },
        text,
    );
    let all: Vec<Tensor> = args.iter().chain(&tangents).cloned().collect();
    runs_natively(&jvp, &all, 1e-11, text);
    let pushed = run(&jvp, &all, text).split_off(jaxpr.out_avals().len());
    let moved = |h: f64| {
        let mut args = args.to_vec();
        for (&k, tangent) in argnums.iter().zip(&tangents) {
            let moved = numbers(&args[k])
                .iter()
                .zip(numbers(tangent))
                .map(|(x, t)| x + h * t)
                .collect();
            args[k] = Tensor::from_vec::<f64>(args[k].shape(), moved).unwrap();
        }
        run(jaxpr, &args, text)
    };
    let h = 1e-5;
    let (above, below) = (moved(h), moved(-h));
    for (&k, pushed) in outs.iter().zip(&pushed) {
        let differences: Vec<f64> = (numbers(&above[k]).iter().zip(numbers(&below[k])))
            .map(|(a, b)| {
                if sample.primitive == "stop_gradient" {
                    0.0
                } else {
                    (a - b) / (2.0 * h)
                }
            })
            .collect();
        near("jvp", text, &numbers(pushed), &differences, 1e-6);
    }
    if sample.primitive == "while" {
        // A loop of unknown length keeps no residuals: it has forward derivatives only.
        return;
    }
    let vjp = transformed(
        jaxpr,
        &Step::Vjp {
            argnums,
            cotangent_outs: outs.clone(),
        },
        text,
    );
    let cotangents: Vec<Tensor> = (outs.iter())
        .map(|&k| array(&jaxpr.out_avals()[k].shape, DType::F64, [-1.0, 1.0], 90 + k))
        .collect();
    let all: Vec<Tensor> = args.iter().chain(&cotangents).cloned().collect();
    runs_natively(&vjp, &all, 1e-11, text);
    let pulled = run(&vjp, &all, text).split_off(jaxpr.out_avals().len());
    let product = |a: &[Tensor], b: &[Tensor]| -> f64 {
        (a.iter().zip(b))
            .flat_map(|(a, b)| numbers(a).into_iter().zip(numbers(b)))
            .map(|(a, b)| a * b)
            .sum()
    };
    near(
        "transpose",
        text,
        &[product(&pulled, &tangents)],
        &[product(&cotangents, &pushed)],
        1e-10,
    );
}

/// Lanes of a batch are calls one by one.
fn batches(sample: &Sample, jaxpr: &ClosedJaxpr, tolerance: f64, text: &str) {
    const LANES: usize = 3;
    let step = Step::Vmap {
        in_axes: vec![Some(0); jaxpr.in_avals().len()],
        out_axes: 0,
        axis_size: LANES,
        axis_name: None,
    };
    let batched = transformed(jaxpr, &step, text);
    let args = arguments(&batched, sample.domain, 3);
    runs_natively(&batched, &args, tolerance, text);
    let together = run(&batched, &args, text);
    for lane in 0..LANES {
        let own: Vec<Tensor> = (args.iter())
            .map(|array| {
                let size = array.bytes().len() / LANES;
                let bytes = &array.bytes()[lane * size..(lane + 1) * size];
                Tensor::from_bytes(&array.shape()[1..], array.dtype(), bytes).unwrap()
            })
            .collect();
        for (all, one) in together.iter().zip(run(jaxpr, &own, text)) {
            let all = numbers(all);
            let size = all.len() / LANES;
            near(
                "batch",
                text,
                &all[lane * size..(lane + 1) * size],
                &numbers(&one),
                tolerance,
            );
        }
    }
}

/// Primitives without a sample, and why.
const WITHOUT_SAMPLE: &[(&str, &str)] = &[
    (
        "call_exported",
        "calls a serialized program, which no text carries",
    ),
    (
        "debug_callback",
        "calls a function of the host, which no text carries",
    ),
    (
        "custom_lin",
        "stands in programs that are being linearized only",
    ),
    (
        "freeze",
        "JAX prints it inside `run_state` only, which has samples",
    ),
    (
        "get",
        "references print as indexing; `new_ref` samples read them",
    ),
    (
        "swap",
        "references print as indexing; `new_ref` samples write them",
    ),
    (
        "addupdate",
        "references print as indexing; `new_ref` samples add to them",
    ),
];

#[test]
fn every_primitive_has_a_sample() {
    let mut known: BTreeSet<&str> = samples().iter().map(|sample| sample.primitive).collect();
    known.extend(OTHERS.iter().map(|(name, _)| name));
    let programs = samples::samples();
    for sample in &programs {
        known.extend(sample.primitives.keys().map(String::as_str));
    }
    for info in Prim::ALL {
        let excused = WITHOUT_SAMPLE.iter().any(|(name, _)| *name == info.name);
        let shown = known.remove(info.name);
        assert!(
            shown || excused,
            "{}: a sample, or a reason why there is none",
            info.name
        );
    }
    assert!(known.is_empty(), "unknown primitives: {known:?}");
}

/// The programs of JAX that show a primitive: those of no other, and the smallest with others.
fn programs_of_jax() -> Vec<samples::Sample> {
    let mut shown: BTreeSet<String> = BTreeSet::new();
    let mut programs = samples::samples();
    programs.retain(|sample| {
        let fresh = sample.primitives.keys().any(|name| !shown.contains(name));
        let alone = sample.primitives.len() == 1;
        if fresh || alone {
            shown.extend(sample.primitives.keys().cloned());
        }
        fresh || alone
    });
    programs
}

/// The same program with 64-bit floats, where it has a meaning.
fn in_double(text: &str) -> Option<ClosedJaxpr> {
    let text = (text.replace("f32[", "f64[").replace("float32", "float64"))
        .replace("c64[", "c128[")
        .replace("complex64", "complex128");
    parse(&text).ok().filter(|jaxpr| check(jaxpr).is_ok())
}

/// Whether a transformation is refused for a reason, not by mistake.
fn refused(error: &jaxide_core::Error) -> bool {
    matches!(error.kind(), ErrorKind::NoRule | ErrorKind::Unsupported)
}

#[test]
fn programs_of_jax_keep_the_laws() {
    let mut programs = programs_of_jax();
    // Values of constants are not in the text, and inner texts of callbacks mean nothing here.
    // The bit generator makes other numbers for all lanes at once than for each alone, in JAX too.
    programs.retain(|sample| {
        sample.jaxpr.jaxpr.constvars.is_empty() && !sample.text.contains("key<urbg>")
    });
    let mut broken = Vec::new();
    for sample in &programs {
        if let Some(jaxpr) = in_double(&sample.text)
            && let Err(message) = keeps_the_laws(&jaxpr)
        {
            broken.push(format!("{}: {message}", sample.name));
        }
    }
    for (name, text) in OTHERS {
        if let Err(message) = keeps_the_laws(&parse(text).unwrap()) {
            broken.push(format!("{name}: {message}"));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n\n"));
}

/// Primitives whose derivative is not the limit of differences, and why.
const WITHOUT_DIFFERENCES: &[(&str, &str)] = &[
    ("stop_gradient", "its derivative is zero by definition"),
    (
        "eigh",
        "one triangle is read, and the derivative takes the matrix as Hermitian",
    ),
];

/// Whether numbers are rounded to fewer digits on the way: derivatives do not see that.
fn has_narrow_floats(jaxpr: &ClosedJaxpr) -> bool {
    jaxpr.jaxpr.eqns.iter().any(|eqn| {
        let mut outputs = eqn.outputs.iter();
        let mut found = outputs.any(|&var| {
            let dtype = jaxpr.jaxpr.aval_of(var).dtype;
            dtype.is_inexact() && dtype.real() != DType::F64
        });
        eqn.prim.visit(&mut |sub| found |= has_narrow_floats(sub));
        found
    })
}

fn has(jaxpr: &ClosedJaxpr, name: &str) -> bool {
    jaxpr.jaxpr.eqns.iter().any(|eqn| {
        let mut found = eqn.prim.name() == name;
        eqn.prim.visit(&mut |sub| found |= has(sub, name));
        found
    })
}

/// How near native code is to the interpreter: as near as the coarsest floats of arguments and results.
fn nearness(jaxpr: &ClosedJaxpr) -> Nearness {
    let avals = (jaxpr.in_avals().into_iter()).chain(jaxpr.out_avals());
    let inexact = avals.filter(|aval| aval.dtype.is_inexact());
    Nearness::Relative(match inexact.map(|aval| aval.dtype.real().bits()).min() {
        Some(..=16) => 4e-2,
        Some(17..=32) => 1e-4,
        _ => 1e-8,
    })
}

fn keeps_the_laws(jaxpr: &ClosedJaxpr) -> Result<(), String> {
    if eval::eval(jaxpr, &tame(jaxpr)).is_err() {
        return Ok(());
    }
    let rounds = has_narrow_floats(jaxpr) || has(jaxpr, "reduce_precision");
    if laws::is_double(jaxpr) && !rounds {
        match apply(jaxpr, &laws::jvp(jaxpr)) {
            Err(error) if refused(&error) => {}
            _ if WITHOUT_DIFFERENCES.iter().any(|(name, _)| has(jaxpr, name)) => {}
            _ => laws::derivative_is_a_limit(jaxpr, 1)?,
        }
        match apply(jaxpr, &laws::vjp(jaxpr)) {
            Err(error) if refused(&error) => {}
            _ => laws::transposed_keeps_products(jaxpr, 1)?,
        }
    }
    lanes_are_calls(jaxpr)
}

/// Arguments between -2 and 2.
fn tame(jaxpr: &ClosedJaxpr) -> Vec<Tensor> {
    arrays::arguments(jaxpr, Numbers::Tame, 1)
}

/// Lanes of a batch are calls one by one, in the interpreter and in native code.
fn lanes_are_calls(jaxpr: &ClosedJaxpr) -> Result<(), String> {
    const LANES: usize = 2;
    let step = Step::Vmap {
        in_axes: vec![Some(0); jaxpr.in_avals().len()],
        out_axes: 0,
        axis_size: LANES,
        axis_name: None,
    };
    let batched = match apply(jaxpr, &step) {
        Err(error) if refused(&error) => return Ok(()),
        batched => batched.map_err(|error| error.to_string())?,
    };
    let args = tame(&batched);
    let together = laws::run(&batched, &args)?;
    let native =
        compile(&batched, &CompileOptions::default()).and_then(|program| program.run(&args));
    let nearness = nearness(jaxpr);
    match native {
        Err(error) if refused(&error) => {}
        native => compare(
            &native.map_err(|error| error.to_string())?,
            &together,
            nearness,
        )
        .map_err(|message| format!("native: {message}\n{batched}"))?,
    }
    for index in 0..LANES {
        let own: Vec<Tensor> = args
            .iter()
            .map(|array| arrays::lane(array, 0, index))
            .collect();
        let got: Vec<Tensor> = (together.iter())
            .map(|array| arrays::lane(array, 0, index))
            .collect();
        compare(&got, &laws::run(jaxpr, &own)?, nearness)
            .map_err(|message| format!("lane {index}: {message}\n{jaxpr}\n{batched}"))?;
    }
    Ok(())
}

#[test]
fn primitives_keep_the_laws() {
    for sample in samples() {
        for (float, integer, tolerance) in [("f32", "i32", 1e-5), ("f64", "i64", 1e-11)] {
            let mut text = (sample.text)
                .replace(":F[", &format!(":{float}["))
                .replace(":I[", &format!(":{integer}["));
            for (short, name) in [("float", &float[1..]), ("int", &integer[1..])] {
                let letter = short[..1].to_uppercase();
                for end in [" ", "]"] {
                    text = text.replace(
                        &format!("dtype={letter}{end}"),
                        &format!("dtype={short}{name}{end}"),
                    );
                    text = text.replace(
                        &format!("type={letter}{end}"),
                        &format!("type={short}{name}{end}"),
                    );
                }
            }
            let jaxpr = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let printed = jaxpr.to_string();
            assert_eq!(parse(&printed).unwrap().to_string(), printed);
            let args = arguments(&jaxpr, sample.domain, 1);
            runs_natively(&jaxpr, &args, tolerance, &text);
            batches(&sample, &jaxpr, tolerance, &text);
            if float == "f64" {
                derives(&sample, &jaxpr, &args, &text);
            }
        }
    }
}
