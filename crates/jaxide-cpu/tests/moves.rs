//! Elements that are moved by a pattern, of every size and at lengths around those of vectors: the same bits as in the interpreter, on every
//! instruction set, alone and with something computed of them.

use crate::everywhere::everywhere;
use jaxide_core::jaxpr::parse::parse;
use jaxide_core::{Aval, DType, Tensor, eval};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};
use jaxide_testing::Random;
use jaxide_testing::compare::Nearness;

const LENGTHS: [usize; 7] = [1, 7, 8, 16, 17, 33, 130];

/// Bytes in no order; those of truth values are 0 and 1, and those of floats are finite.
fn sample(aval: &Aval, seed: usize) -> Tensor {
    let size = aval.dtype.size();
    let mut state = (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let bytes: Vec<u8> = (0..aval.size() * size)
        .map(|at| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let byte = (state >> 56) as u8;
            match aval.dtype {
                DType::Bool => byte & 1,
                // The exponent's upper bits.
                _ if at % 4 == 3 || size == 2 && at % 2 == 1 => byte & 0x3f,
                _ => byte,
            }
        })
        .collect();
    Tensor::from_bytes(&aval.shape, aval.dtype, &bytes).unwrap()
}

/// Compares a program of one operation, and one that computes something of its result.
fn check(dtype: &str, inputs: &[String], result: &str, equation: &str) {
    let names = &["a", "b", "c", "d"][..inputs.len()];
    let inputs: Vec<String> = names
        .iter()
        .zip(inputs)
        .map(|(name, shape)| format!("{name}:{dtype}{shape}"))
        .collect();
    let inputs = inputs.join(" ");
    let operands = names.join(" ");
    let last = if dtype == "bool" { "not" } else { "neg" };
    let moved =
        format!("{{ lambda ; {inputs}. let y:{dtype}{result} = {equation} {operands} in (y,) }}");
    let computed = format!(
        "{{ lambda ; {inputs}. let y:{dtype}{result} = {equation} {operands}; z:{dtype}{result} = {last} y in (z,) }}"
    );
    for text in [moved, computed] {
        let jaxpr = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let avals = jaxpr.in_avals();
        let args: Vec<Tensor> = (avals.iter().enumerate())
            .map(|(k, aval)| sample(aval, k))
            .collect();
        let want = eval::eval(&jaxpr, &args).unwrap();
        for isa in Isa::available() {
            let options = CompileOptions {
                isa: Some(isa),
                ..CompileOptions::default()
            };
            let program = compile(&jaxpr, &options).unwrap();
            let got = program.run(&args).unwrap();
            assert_eq!(
                got[0].bytes(),
                want[0].bytes(),
                "{isa:?}\n{text}\n{}",
                program.loops_text()
            );
        }
    }
}

fn each(run: impl Fn(&str, usize)) {
    for dtype in ["bool", "i8", "bf16", "u16", "f32", "i64", "c64", "c128"] {
        LENGTHS.iter().for_each(|&n| run(dtype, n));
    }
}

#[test]
fn reversals() {
    each(|dtype, n| {
        let shape = format!("[{n}]");
        check(
            dtype,
            std::slice::from_ref(&shape),
            &shape,
            "rev[dimensions=(0,)]",
        );
        for short in [2, 3, 5] {
            let shape = format!("[{n},{short}]");
            check(
                dtype,
                std::slice::from_ref(&shape),
                &shape,
                "rev[dimensions=(1,)]",
            );
        }
    });
}

#[test]
fn every_other_element() {
    each(|dtype, n| {
        for stride in [2, 3, 4, 5] {
            let (from, to) = (
                format!("[{}]", n * stride),
                format!("[{}]", (n * stride - 1).div_ceil(stride)),
            );
            let equation = format!(
                "slice[limit_indices=({},) start_indices=(1,) strides=({stride},)]",
                n * stride
            );
            check(dtype, &[from], &to, &equation);
        }
        let columns = format!("slice[limit_indices=(5, {n}) start_indices=(0, 0) strides=None]");
        check(
            dtype,
            &[format!("[5,{}]", n + 3)],
            &format!("[5,{n}]"),
            &columns,
        );
    });
}

#[test]
fn elements_beside_each_other() {
    each(|dtype, n| {
        for count in [2, 3, 4] {
            let columns = vec![format!("[{n},1]"); count];
            check(
                dtype,
                &columns,
                &format!("[{n},{count}]"),
                "concatenate[dimension=1]",
            );
            let (wide, tall) = (format!("[{count},{n}]"), format!("[{n},{count}]"));
            let equation = "transpose[permutation=(1, 0)]";
            check(dtype, std::slice::from_ref(&wide), &tall, equation);
            check(dtype, &[tall], &wide, equation);
        }
    });
}

/// Slices of what was put together, of what got edges, and of slices: read where the elements come from, or from both sides of a seam.
#[test]
fn slices_of_what_was_made_of_parts() {
    let mut random = Random(11);
    let mut below = |bound: usize| random.below(bound);
    for turn in 0..60 {
        let (rows, columns) = (1 + below(4), 1 + below(20));
        let mut eqns = Vec::new();
        let mut shape = [rows, columns];
        // Four steps of which each is made of the one before, all in one text.
        let mut last = "a".to_owned();
        for step in 0..4 {
            let name = ["p", "q", "r", "s"][step];
            let shown = |shape: &[usize; 2]| format!("f32[{},{}]", shape[0], shape[1]);
            match below(3) {
                0 => {
                    let axis = below(2);
                    shape[axis] *= 3;
                    eqns.push(format!(
                        "{name}:{} = concatenate[dimension={axis}] {last} {last} {last}",
                        shown(&shape)
                    ));
                }
                1 => {
                    let edges = [below(3), below(3), below(3), below(3)];
                    shape = [
                        shape[0] + edges[0] + edges[1],
                        shape[1] + edges[2] + edges[3],
                    ];
                    eqns.push(format!(
                        "{name}:{} = pad[padding_config=(({}, {}, 0), ({}, {}, 0))] {last} 7.0:f32[]",
                        shown(&shape), edges[0], edges[1], edges[2], edges[3]
                    ));
                }
                _ => {
                    let start = [below(shape[0]), below(shape[1])];
                    let limit = [
                        start[0] + 1 + below(shape[0] - start[0]),
                        start[1] + 1 + below(shape[1] - start[1]),
                    ];
                    let stride = [1 + below(2), 1 + below(3)];
                    shape = [0, 1].map(|axis| (limit[axis] - start[axis]).div_ceil(stride[axis]));
                    eqns.push(format!(
                        "{name}:{} = slice[limit_indices=({}, {}) start_indices=({}, {}) strides=({}, {})] {last}",
                        shown(&shape), limit[0], limit[1], start[0], start[1], stride[0], stride[1]
                    ));
                }
            }
            last = name.to_owned();
        }
        let text = format!(
            "{{ lambda ; a:f32[{rows},{columns}]. let {}; y:f32[{},{}] = neg {last} in (y, {last}) }}",
            eqns.join("; "),
            shape[0],
            shape[1]
        );
        let jaxpr = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let args = [sample(&jaxpr.in_avals()[0], turn)];
        let want = eval::eval(&jaxpr, &args).unwrap();
        for isa in Isa::available() {
            let options = CompileOptions {
                isa: Some(isa),
                ..CompileOptions::default()
            };
            let got = compile(&jaxpr, &options).unwrap().run(&args).unwrap();
            for (got, want) in got.iter().zip(&want) {
                assert_eq!(got.bytes(), want.bytes(), "{isa:?}\n{text}");
            }
        }
    }
}

/// Of an array with numbers in between of which a few elements are kept, these alone are made.
#[test]
fn little_of_an_array_with_numbers_between() {
    let text = "{ lambda ; . let
        a:i32[1073741824] = iota[dimension=0 dtype=int32 shape=(1073741824,) sharding=None]
        b:i32[5] = pad[padding_config=((-3, -2147483639, 1),)] a 7:i32[]
      in (b,) }";
    let jaxpr = parse(text).unwrap();
    let program = compile(&jaxpr, &CompileOptions::default()).unwrap();
    assert_eq!(program.stats().arena, 0);
    let results = program.run(&[]).unwrap();
    assert_eq!(results[0].to_vec::<i32>().unwrap(), [7, 2, 7, 3, 7]);
}

/// Rows and columns at indices, of elements that fill sixteen bytes together, as they are and with something computed of them; and rows that are stored so far
/// apart.
#[test]
fn sixteen_bytes_at_a_time() {
    let gather = |at: usize, sizes: &str| {
        format!(
            "gather[dimension_numbers=GatherDimensionNumbers(offset_dims=({},), collapsed_slice_dims=({at},), start_index_map=({at},), operand_batching_dims=(), start_indices_batching_dims=()) fill_value=None indices_are_sorted=False mode=GatherScatterMode.CLIP slice_sizes=({sizes}) unique_indices=False]",
            1 - at
        )
    };
    for (k, &n) in LENGTHS.iter().enumerate() {
        for (ty, width) in [
            ("f32", 4),
            ("i32", 8),
            ("f64", 2),
            ("i64", 4),
            ("c64", 2),
            ("c128", 1),
            ("c128", 3),
        ] {
            let m = LENGTHS[(k + width) % LENGTHS.len()] + 1;
            let rows = gather(0, &format!("1, {width}"));
            let columns = gather(1, "3, 1");
            let text = format!(
                "{{ lambda ; a:{ty}[{m},{width}] i:i32[{n},1] b:{ty}[3,{m}] c:{ty}[{width},{n}]. let
                    d:{ty}[{n},{width}] = {rows} a i
                    e:{ty}[{n},{width}] = mul d d
                    f:{ty}[{n}] = reduce_sum[axes=(1,) out_sharding=None] e
                    g:{ty}[3,{n}] = {columns} b i
                    h:{ty}[{n},{width}] = transpose[permutation=(1, 0)] c
                    j:{ty}[{n},{width}] = neg h
                    k:{ty}[{n},{width}] = add e h
                  in (f, g, h, j, k) }}"
            );
            everywhere(&text, Nearness::Relative(1e-5));
        }
    }
}

/// Gathers at indices whose numbers are computed and put side by side: of one element and of a row, several that share numbers, with an array of
/// indices that is a result too.
#[test]
fn indices_side_by_side() {
    for count in [1, 5, 16, 33, 130] {
        for (row, slice) in [(1, ""), (3, ",3"), (20, ",20")] {
            let offset = if row == 1 { "" } else { "1," };
            let size = if row == 1 {
                String::new()
            } else {
                format!(", {row}")
            };
            let column =
                "broadcast_in_dim[broadcast_dimensions=(0,) shape=(COUNT, 1) sharding=None]";
            let number = |name: &str, of: &str, bound: usize| {
                format!(
                    "{name}0:f32[COUNT] = mul {of} 3.0:f32[]
                     {name}1:f32[COUNT] = floor {name}0
                     {name}2:i32[COUNT] = convert_element_type[new_dtype=int32 weak_type=False] {name}1
                     {name}3:i32[COUNT] = clamp 0:i32[] {name}2 {bound}:i32[]
                     {name}4:i32[COUNT] = add {name}3 1:i32[]
                     {name}5:i32[COUNT,1] = {column} {name}3
                     {name}6:i32[COUNT,1] = {column} {name}4\n"
                )
            };
            let gather = |name: &str, i: &str, j: &str| {
                format!(
                    "{name}0:i32[COUNT,2] = concatenate[dimension=1] {i} {j}
                     {name}:f32[COUNT{slice}] = gather[
                       dimension_numbers=GatherDimensionNumbers(offset_dims=({offset}), collapsed_slice_dims=(0, 1), start_index_map=(0, 1), operand_batching_dims=(), start_indices_batching_dims=())
                       fill_value=None
                       indices_are_sorted=False
                       mode=GatherScatterMode.FILL_OR_DROP
                       slice_sizes=(1, 1{size})
                       unique_indices=False
                     ] a {name}0\n"
                )
            };
            let text = format!(
                "{{ lambda ; a:f32[13,17{slice}] b:f32[COUNT] c:f32[COUNT]. let
                    {}{}{}{}{}{}
                    g:f32[COUNT{slice}] = add p q
                    h:f32[COUNT{slice}] = mul g r
                    l:f32[COUNT{slice}] = sub h s
                  in (l, r0) }}",
                number("i", "b", 12),
                number("j", "c", 16),
                gather("p", "i5", "j5"),
                gather("q", "i6", "j5"),
                gather("r", "i5", "j6"),
                gather("s", "i6", "j6"),
            );
            let text = text.replace("COUNT", &count.to_string());
            everywhere(&text, Nearness::Relative(1e-5));
        }
    }
}
