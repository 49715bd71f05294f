//! Scatters of every operation, element type, kind of window and way to be outside, at numbers of windows around those at which another way is
//! taken: the same elements as in the interpreter, on every instruction set.

use jaxide_core::jaxpr::parse::parse;
use jaxide_core::{Aval, DType, Scalar, Tensor, eval};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};

/// Small integers, of which few sums and products are rounded by no type; indices reach outside on both sides.
fn sample(aval: &Aval, seed: usize) -> Tensor {
    let mut state = (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut number = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        i64::try_from(state >> 61).unwrap()
    };
    let mut bytes = Vec::new();
    for at in 0..aval.size() {
        let value = match aval.dtype {
            DType::Bool => Scalar::Bool(number() < 4),
            dtype if dtype.is_unsigned_integer() => Scalar::Int(number()),
            dtype if dtype.is_integer() => Scalar::Int(number() - 1),
            dtype if dtype.is_complex() => {
                Scalar::Complex(number() as f64 / 4.0 - 1.0, number() as f64 / 4.0)
            }
            _ if at % 97 == 96 => Scalar::Float(f64::NAN),
            _ => Scalar::Float(number() as f64 / 4.0 - 1.0),
        };
        bytes.extend(value.to_bytes(aval.dtype).unwrap());
    }
    Tensor::from_bytes(&aval.shape, aval.dtype, &bytes).unwrap()
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance * b.abs()
}

/// Whether elements are equal; products of complex numbers and sums of 16-bit floats may be rounded otherwise.
fn same(a: Scalar, b: Scalar, tolerance: f64) -> bool {
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => near(a, b, tolerance),
        (Scalar::Complex(a, c), Scalar::Complex(b, d)) => {
            near(a, b, tolerance) && near(c, d, tolerance)
        }
        (a, b) => a == b,
    }
}

/// Windows of an array: its shape, how many numbers an index has, the shape of a window in the updates, and the dimension numbers.
struct Kind {
    array: &'static str,
    components: usize,
    window: &'static str,
    numbers: &'static str,
}

const KINDS: [Kind; 10] = [
    Kind {
        array: "[7]",
        components: 1,
        window: "",
        numbers: "update_window_dims=(), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)",
    },
    Kind {
        array: "[5,6]",
        components: 2,
        window: "",
        numbers: "update_window_dims=(), inserted_window_dims=(0, 1), scatter_dims_to_operand_dims=(0, 1)",
    },
    Kind {
        array: "[5,3]",
        components: 1,
        window: ",3",
        numbers: "update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)",
    },
    Kind {
        array: "[4,19]",
        components: 1,
        window: ",19",
        numbers: "update_window_dims=(1,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)",
    },
    // Boxes, whose rows are apart.
    Kind {
        array: "[5,6]",
        components: 2,
        window: ",2,3",
        numbers: "update_window_dims=(1, 2), inserted_window_dims=(), scatter_dims_to_operand_dims=(1, 0)",
    },
    // Elements and rows at indices of more numbers than two.
    Kind {
        array: "[4,3,5]",
        components: 3,
        window: "",
        numbers: "update_window_dims=(), inserted_window_dims=(0, 1, 2), scatter_dims_to_operand_dims=(0, 1, 2)",
    },
    Kind {
        array: "[2,3,4,5]",
        components: 4,
        window: "",
        numbers: "update_window_dims=(), inserted_window_dims=(0, 1, 2, 3), scatter_dims_to_operand_dims=(1, 0, 3, 2)",
    },
    Kind {
        array: "[3,2,4,3]",
        components: 3,
        window: ",3",
        numbers: "update_window_dims=(1,), inserted_window_dims=(0, 1, 2), scatter_dims_to_operand_dims=(0, 1, 2)",
    },
    Kind {
        array: "[2,3,2,4,3]",
        components: 5,
        window: "",
        numbers: "update_window_dims=(), inserted_window_dims=(0, 1, 2, 3, 4), scatter_dims_to_operand_dims=(0, 1, 2, 3, 4)",
    },
    // Columns.
    Kind {
        array: "[3,6]",
        components: 1,
        window: ",3",
        numbers: "update_window_dims=(1,), inserted_window_dims=(1,), scatter_dims_to_operand_dims=(1,)",
    },
];

fn check(kind: &Kind, op: &str, mode: &str, dtype: &str, index: &str, count: usize) {
    let Kind {
        array,
        components,
        window,
        numbers,
    } = kind;
    let scatter = format!(
        "{op}[dimension_numbers=ScatterDimensionNumbers({numbers}, operand_batching_dims=(), scatter_indices_batching_dims=()) indices_are_sorted=False mode=GatherScatterMode.{mode} unique_indices=False update_consts=() update_jaxpr=None]"
    );
    let given = format!(
        "{{ lambda ; a:{dtype}{array} b:{index}[{count},{components}] c:{dtype}[{count}{window}]. let d:{dtype}{array} = {scatter} a b c in (d,) }}"
    );
    let shape: Vec<String> = std::iter::once(count.to_string())
        .chain(window.split(',').skip(1).map(str::to_owned))
        .collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let one = if dtype == "bool" {
        "True:bool[]".to_owned()
    } else {
        format!("1:{dtype}[]")
    };
    let splat = format!(
        "{{ lambda ; a:{dtype}{array} b:{index}[{count},{components}]. let c:{dtype}[{count}{window}] = broadcast_in_dim[broadcast_dimensions=() shape=({}{comma}) sharding=None] {one}; d:{dtype}{array} = {scatter} a b c in (d,) }}",
        shape.join(", ")
    );
    for text in [given, splat] {
        let jaxpr = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let avals = jaxpr.in_avals();
        let args: Vec<Tensor> = (avals.iter().enumerate())
            .map(|(k, aval)| sample(aval, k))
            .collect();
        let want = eval::eval(&jaxpr, &args).unwrap_or_else(|error| panic!("{error}\n{text}"));
        for isa in Isa::available() {
            let options = CompileOptions {
                isa: Some(isa),
                ..CompileOptions::default()
            };
            let program = compile(&jaxpr, &options).unwrap();
            let got = program.run(&args).unwrap();
            let tolerance = match dtype {
                "bf16" => 1e-2,
                "f16" => 2e-3,
                "c64" => 1e-5,
                _ => 0.0,
            };
            for i in 0..want[0].len() {
                let (a, b) = (got[0].scalar_at(i).unwrap(), want[0].scalar_at(i).unwrap());
                assert!(
                    same(a, b, tolerance),
                    "{isa:?}, element {i}: {a} and not {b}\n{text}"
                );
            }
        }
    }
}

const OPERATIONS: [&str; 6] = [
    "scatter",
    "scatter-add",
    "scatter-sub",
    "scatter-mul",
    "scatter-min",
    "scatter-max",
];

#[test]
fn of_every_type_and_operation() {
    for dtype in [
        "bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64",
        "c64", "c128",
    ] {
        for op in OPERATIONS {
            if dtype == "bool" && op == "scatter-sub" {
                continue;
            }
            check(&KINDS[1], op, "FILL_OR_DROP", dtype, "i32", 33);
            check(&KINDS[2], op, "CLIP", dtype, "i32", 40);
        }
    }
}

#[test]
fn of_every_kind_of_window_and_number() {
    for kind in &KINDS {
        for mode in ["CLIP", "FILL_OR_DROP"] {
            for count in [1, 31, 32, 511, 513] {
                check(kind, "scatter-add", mode, "i32", "i32", count);
                check(kind, "scatter", mode, "f32", "i32", count);
            }
        }
    }
}

#[test]
fn by_indices_of_every_type() {
    for index in ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"] {
        check(&KINDS[0], "scatter-add", "CLIP", "f32", index, 60);
        check(&KINDS[4], "scatter-max", "FILL_OR_DROP", "i16", index, 60);
        check(&KINDS[5], "scatter-add", "FILL_OR_DROP", "f32", index, 60);
        check(&KINDS[6], "scatter-add", "CLIP", "f32", index, 60);
    }
}
