//! How a program is cut into steps, at sizes around those that decide it: results are the interpreter's, on every instruction set, with any
//! number of threads, and with each access looked at.

use crate::everywhere::{Planned, everywhere};
use jaxide_core::jaxpr::parse::parse;
use jaxide_core::{DType, Tensor, eval};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};
use jaxide_testing::compare::{Nearness, compare};

/// Rows that several nests go through together, one of which makes a few elements alone.
#[test]
fn nests_of_a_few_elements_run_by_rows_with_others() {
    for (rows, n) in [(2, 9000), (3, 7001), (4, 4096), (5, 17), (64, 300)] {
        let rest = n - 1;
        let text = format!(
            "{{ lambda ; a:f32[{rows},{n}]. let
                b:f32[{rows},{n}] = sin a
                d:f32[{rows},{rest}] = slice[limit_indices=({rows}, {n}) start_indices=(0, 1) strides=None] b
                e:f32[{rows},{rest}] = slice[limit_indices=({rows}, {rest}) start_indices=(0, 0) strides=None] b
                c:f32[{rows},{rest}] = sub d e
                f:f32[{rows},{rest}] = cumsum[axis=1 reverse=False] c
                g:f32[{rows},1] = slice[limit_indices=({rows}, 1) start_indices=(0, 0) strides=None] b
                i:f32[{rows},{rest}] = add d f
                j:f32[{rows},{n}] = concatenate[dimension=1] g i
              in (j,) }}"
        );
        everywhere(&text, Nearness::Relative(1e-4));
    }
}

/// Products of vectors in a loop, one of which is also written, at lengths around those that nests sum.
#[test]
fn products_of_vectors_are_summed_in_loops() {
    for float in ["f32", "f64"] {
        for n in [1, 2, 15, 16, 17, 31, 33, 90, 1000, 2048, 2049] {
            let dot = format!(
                "dot_general[dimension_numbers=(([0], [0]), ([], [])) preferred_element_type={}]",
                if float == "f32" { "float32" } else { "float64" }
            );
            let text = format!(
                "{{ lambda ; w:{float}[{n}] b:{float}[{n}] x:{float}[20]. let
                    v:{float}[{n}] c:{float}[{n}] y:{float}[20] = scan[
                      ft_in=((), (None, None), (None,)) ft_out=((None, None), (None,))
                      jaxpr={{ lambda ; w:{float}[{n}] b:{float}[{n}] x:{float}[]. let
                          t:{float}[1] = broadcast_in_dim x
                          c:{float}[{n}] = dynamic_update_slice b t 0:i32[]
                          k:{float}[] = {dot} w c
                          o:{float}[] = {dot} c c
                          p:{float}[] = add o 1.0:{float}[]
                          e:{float}[] = sub x k
                          q:{float}[] = div e p
                          s:{float}[{n}] = mul c q
                          u:{float}[{n}] = mul s 0.1:{float}[]
                          v:{float}[{n}] = add w u
                          d:{float}[{n}] = rev[dimensions=(0,)] c
                        in (v, d, k) }}
                      length=20 reverse=False unroll=1
                    ] w b x
                  in (v, c, y) }}"
            );
            let near = if float == "f32" { 1e-3 } else { 1e-10 };
            let Planned { loops, .. } = everywhere(&text, Nearness::Relative(near));
            let calls = loops.contains("call dot_general");
            assert_eq!(calls, n > 2048, "{n}\n{loops}");
        }
    }
}

/// Costly terms of short sums, for few results and for many.
#[test]
fn short_sums_of_costly_terms() {
    for rows in [1, 3, 7, 16, 17, 100] {
        for terms in [2, 5, 6, 16, 17] {
            let text = format!(
                "{{ lambda ; a:f32[{rows},{terms}]. let
                    b:f32[{rows},{terms}] = sin a
                    c:f32[{rows},{terms}] = exp b
                    d:f32[{rows}] = reduce_sum[axes=(1,) out_sharding=None] c
                    e:f32[] = reduce_sum[axes=(0,) out_sharding=None] d
                    f:f32[{rows},{terms}] = mul a e
                    g:f32[{rows}] = cos d
                  in (f, g) }}"
            );
            everywhere(&text, Nearness::Relative(1e-4));
        }
    }
}

/// One window in every turn, inside and outside of the array, at lengths around those for which the kernel is called.
#[test]
fn single_windows_are_written_in_loops() {
    let numbers = "dimension_numbers=ScatterDimensionNumbers(update_window_dims=(0,), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,), operand_batching_dims=(), scatter_indices_batching_dims=())";
    for (dtype, n) in [
        ("f32", 1),
        ("f32", 3),
        ("i8", 4),
        ("f32", 14),
        ("f64", 17),
        ("f16", 33),
        ("c64", 9),
        ("f32", 511),
        ("f32", 512),
        ("i16", 513),
        ("f32", 2000),
    ] {
        for mode in ["FILL_OR_DROP", "CLIP"] {
            for (name, add) in [("scatter", false), ("scatter-add", true)] {
                let update = if !add {
                    "None".to_owned()
                } else {
                    format!(
                        "{{ lambda ; x:{dtype}[] y:{dtype}[]. let z:{dtype}[] = add x y in (z,) }}"
                    )
                };
                let text = format!(
                    "{{ lambda ; a:{dtype}[5,{n}] u:{dtype}[{n}] i:i32[12]. let
                        b:{dtype}[5,{n}] = scan[
                          ft_in=((None,), (None,), (None,)) ft_out=((None,), ())
                          jaxpr={{ lambda ; u:{dtype}[{n}] a:{dtype}[5,{n}] i:i32[]. let
                              k:i32[1] = broadcast_in_dim i
                              b:{dtype}[5,{n}] = {name}[{numbers} indices_are_sorted=True mode=GatherScatterMode.{mode} unique_indices=True update_consts=() update_jaxpr={update}] a k u
                            in (b,) }}
                          length=12 reverse=False unroll=1
                        ] u a i
                      in (b,) }}"
                );
                everywhere(&text, Nearness::Relative(1e-2));
            }
        }
    }
}

/// Sums over windows of complex numbers, whose parts are added apart.
#[test]
fn windows_of_complex_numbers_are_summed() {
    for dtype in ["c64", "c128"] {
        for (n, size) in [(10, 3), (100, 7), (300, 64), (65, 64)] {
            let left = n - size + 1;
            let text = format!(
                "{{ lambda ; a:{dtype}[{n}]. let b:{dtype}[{left}] = reduce_window_sum[base_dilation=(1,) padding=((0, 0),) window_dilation=(1,) \
                 window_dimensions=({size},) window_strides=(1,)] a in (b,) }}"
            );
            everywhere(&text, Nearness::Relative(1e-4));
        }
    }
}

/// What indices outside of complex arrays read by themselves: NaN, and an imaginary part of zero.
#[test]
fn complex_numbers_outside_are_real() {
    let text = "{ lambda ; a:c64[4] i:i32[3,1]. let b:c64[3] = gather[\
        dimension_numbers=GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,), operand_batching_dims=(), start_indices_batching_dims=()) \
        fill_value=None indices_are_sorted=False mode=GatherScatterMode.FILL_OR_DROP slice_sizes=(1,) unique_indices=False] a i in (b,) }";
    let jaxpr = parse(text).unwrap();
    let a: Vec<f32> = (0..8).map(|k| k as f32).collect();
    let args = [
        Tensor::from_bytes(&[4], DType::C64, bytemuck::cast_slice(&a)).unwrap(),
        Tensor::from_bytes(&[3, 1], DType::I32, bytemuck::cast_slice(&[1i32, 9, -1])).unwrap(),
    ];
    let want = eval::eval(&jaxpr, &args).unwrap();
    for isa in Isa::available() {
        let options = CompileOptions {
            isa: Some(isa),
            ..CompileOptions::default()
        };
        let got = compile(&jaxpr, &options).unwrap().run(&args).unwrap();
        compare(&got, &want, Nearness::Bits).unwrap_or_else(|why| panic!("{}: {why}", isa.name()));
        let parts: &[f32] = bytemuck::cast_slice(got[0].bytes());
        assert_eq!(
            [parts[0], parts[1], parts[3], parts[5]],
            [2.0, 3.0, 0.0, 0.0]
        );
        assert!(parts[2].is_nan() && parts[4].is_nan());
    }
}

/// A divisor that is known behind the questions that `jax.numpy` asks about it is a constant of the loop.
#[test]
fn known_divisors_are_constants() {
    let text = "{ lambda ; a:u32[70] n:i32[]. let
        b:u32[70] = scan[
          ft_in=((None,), (None,), ()) ft_out=((None,), ())
          jaxpr={ lambda ; n:i32[] a:u32[70]. let
              c:u32[] = convert_element_type[new_dtype=uint32 weak_type=False] 65521:i32[]
              d:bool[] = eq c 0:u32[]
              e:u32[] = select_n d c 1:u32[]
              s:u32[70] = mul a a
              f:u32[70] = rem s e
            in (f,) }
          length=9 reverse=False unroll=1
        ] n a
      in (b,) }";
    let Planned { loops, .. } = everywhere(text, Nearness::Bits);
    assert!(
        loops.contains("mul_hi") && !loops.contains("rem_u"),
        "{loops}"
    );
}

/// The indices that `jax.numpy` counts from the end of an axis of `n`, of the numbers `r`, as equations that name them `i` and `s`.
fn counted_from_end(r: &str, windows: usize, n: usize) -> String {
    format!(
        "l:bool[{windows}] = lt {r} 0:i32[]; m:i32[{windows}] = add {r} {n}:i32[]; s:i32[{windows}] = select_n l {r} m; \
         i:i32[{windows},1] = broadcast_in_dim[broadcast_dimensions=(0,)] s"
    )
}

/// A sum of ones into an array of integers at indices that count from the end of an axis.
fn add_ones(x: &str, i: &str, windows: usize, n: usize) -> String {
    format!(
        "o:i32[{windows}] = broadcast_in_dim 1:i32[]; z:i32[{n}] = scatter-add[\
         dimension_numbers=ScatterDimensionNumbers(update_window_dims=(), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,), operand_batching_dims=(), scatter_indices_batching_dims=()) \
         indices_are_sorted=False mode=GatherScatterMode.FILL_OR_DROP unique_indices=False update_consts=() \
         update_jaxpr={{ lambda ; x:i32[] y:i32[]. let z:i32[] = add x y in (z,) }}] {x} {i} o"
    )
}

/// What a scatter reads of indices that it counts itself is not overwritten before it, and not what it writes.
#[test]
fn indices_are_read_before_they_are_overwritten() {
    for n in [20, 31, 32, 33, 100, 600, 1000] {
        let counted = counted_from_end("r", n, n);
        let scatter = add_ones("x", "i", n, n);
        // The next indices are made where these are, or written into them, and the counted ones are kept.
        let next = format!(
            "b:i32[{n}] = mul r 5:i32[]; c:i32[{n}] = add b 1:i32[]; d:i32[{n}] = rem c {n}:i32[]"
        );
        let part = format!(
            "b:i32[1] = slice[limit_indices=(1,) start_indices=(0,) strides=None] x; d:i32[{n}] = dynamic_update_slice r b 3:i32[]"
        );
        for next in [&next, &part] {
            for body in [
                format!("{counted}; {scatter}; {next}"),
                format!("{next}; {counted}; {scatter}"),
            ] {
                let text = format!(
                    "{{ lambda ; r:i32[{n}] x:i32[{n}]. let
                        e:i32[{n}] w:i32[{n}] v:i32[4,{n}] = scan[
                          ft_in=((), (None, None), ()) ft_out=((None, None), (None,))
                          jaxpr={{ lambda ; r:i32[{n}] x:i32[{n}]. let {body} in (d, z, s) }}
                          length=4 reverse=False unroll=1
                        ] r x
                      in (e, w, v) }}"
                );
                everywhere(&text, Nearness::Bits);
            }
        }
        // The array is its own indices.
        let own = add_ones("r", "i", n, n);
        let text = format!(
            "{{ lambda ; x:i32[{n}]. let a:i32[{n}] = mul x 7:i32[]; b:i32[{n}] = add a 3:i32[]; r:i32[{n}] = rem b {n}:i32[]; {counted}; {own} in (z,) }}"
        );
        everywhere(&text, Nearness::Bits);
        // And in a branch, moved about.
        let of_branch = add_ones("b", "i", n, n);
        for moved in ["rev[dimensions=(0,)] b", "neg b", "copy b"] {
            let text = format!(
                "{{ lambda ; p:i32[] a:i32[{n}]. let
                    t:i32[{n}] = mul a 5:i32[]; u:i32[{n}] = add t 3:i32[]; b:i32[{n}] = rem u {n}:i32[]
                    r:i32[{n}] = {moved}
                    y:i32[{n}] = cond[branches=(
                        {{ lambda ; b:i32[{n}] r:i32[{n}]. let in (b,) }}
                        {{ lambda ; b:i32[{n}] r:i32[{n}]. let {counted}; {of_branch} in (z,) }}
                      )] p b r
                  in (y,) }}"
            );
            for isa in Isa::available() {
                for p in [0, 1] {
                    let jaxpr = parse(&text).unwrap();
                    let a: Vec<i32> = (0..n as i32).collect();
                    let args = [
                        Tensor::from_bytes(&[], DType::I32, bytemuck::bytes_of(&p)).unwrap(),
                        Tensor::from_bytes(&[n], DType::I32, bytemuck::cast_slice(&a)).unwrap(),
                    ];
                    let want = eval::eval(&jaxpr, &args).unwrap();
                    let options = CompileOptions {
                        isa: Some(isa),
                        ..CompileOptions::default()
                    };
                    let program = compile(&jaxpr, &options).unwrap();
                    let got = program.run(&args).unwrap();
                    compare(&got, &want, Nearness::Bits).unwrap_or_else(|why| {
                        panic!("{}: {why}\n{}", isa.name(), program.loops_text())
                    });
                }
            }
        }
    }
}

/// Windows that meet at different places along their last axis follow each other in all of it, however few lanes vectors have.
#[test]
fn windows_that_meet_follow_each_other() {
    for width in [3, 4, 7, 9, 17, 40] {
        for windows in [1, 2, 5, 31, 40] {
            let n = width + 6;
            // Of every second element, so that a window is no run.
            let text = format!(
                "{{ lambda ; a:i32[{n},2] i:i32[{windows},1] u:i32[{windows},{width}]. let
                    k:i32[{windows},1] = rem i 7:i32[]
                    b:i32[{n},2] = scatter[dimension_numbers=ScatterDimensionNumbers(update_window_dims=(1,), inserted_window_dims=(1,), \
                      scatter_dims_to_operand_dims=(0,), operand_batching_dims=(), scatter_indices_batching_dims=()) \
                      indices_are_sorted=False mode=GatherScatterMode.CLIP unique_indices=False update_consts=() update_jaxpr=None] a k u
                  in (b,) }}"
            );
            everywhere(&text, Nearness::Bits);
        }
    }
}

/// A matrix of short rows that each turn changes by an outer product, after a product with a vector: recursive least squares.
#[test]
fn small_matrices_are_carried() {
    for (float, near) in [("f32", 1e-3), ("f64", 1e-10), ("bf16", 0.2)] {
        for n in [1, 2, 3, 5, 7, 8, 9, 12, 13, 15, 16, 17, 20] {
            let dtype = match float {
                "f32" => "float32",
                "f64" => "float64",
                _ => "bfloat16",
            };
            let text = format!(
                "{{ lambda ; p:{float}[{n},{n}] xs:{float}[6,{n}]. let
                    q:{float}[{n},{n}] ys:{float}[6,{n}] = scan[
                      ft_in=((), (None,), (None,)) ft_out=((None,), (None,))
                      jaxpr={{ lambda ; p:{float}[{n},{n}] x:{float}[{n}]. let
                          px:{float}[{n}] = dot_general[
                            dimension_numbers=(([1], [0]), ([], [])) preferred_element_type={dtype}
                          ] p x
                          k:{float}[{n}] = mul px 0.01:{float}[]
                          c:{float}[{n},1] = broadcast_in_dim[broadcast_dimensions=(0,)] k
                          r:{float}[1,{n}] = broadcast_in_dim[broadcast_dimensions=(1,)] px
                          o:{float}[{n},{n}] = mul c r
                          s:{float}[{n},{n}] = sub p o
                          t:{float}[{n},{n}] = div s 1.1:{float}[]
                        in (t, px) }}
                      length=6 reverse=False unroll=1
                    ] p xs
                  in (q, ys) }}"
            );
            everywhere(&text, Nearness::Relative(near));
        }
    }
}

/// One query and more in arrays that ascend and arrays that do not, with NaN and equal elements, in a loop that changes the array.
#[test]
fn few_queries_are_searched_for() {
    for (k, ty) in [
        "f32", "f64", "i32", "u32", "i64", "u64", "f16", "bf16", "i8", "u16", "c64", "c128",
    ]
    .into_iter()
    .enumerate()
    {
        for (j, length) in [1, 2, 5, 31, 64, 300].into_iter().enumerate() {
            for queries in [1, 3, 4, 5, 9, 10, 40] {
                let side = ["left", "right"][(k + j + queries) % 2];
                let text = format!(
                    "{{ lambda ; a:{ty}[{length}] b:{ty}[{queries}]. let
                        c:{ty}[{length}] = sort[dimension=0 is_stable=True num_keys=1] a
                        d:i32[{queries}] = SearchSorted[side={side} dimension=0 batch_dims=0 method=scan] c b
                        e:i32[{queries}] = SearchSorted[side={side} dimension=0 batch_dims=0 method=scan] a b
                        f:{ty}[1] = slice[limit_indices=(1,) start_indices=(0,) strides=None] a
                        g:{ty}[] = squeeze[dimensions=(0,)] f
                        h:i32[] = SearchSorted[side={side} dimension=0 batch_dims=0 method=scan] c g
                      in (d, e, h) }}"
                );
                everywhere(&text, Nearness::Bits);
            }
        }
    }
}

/// One query and more in each of many rows: short ones, whose elements are counted, and longer ones; some do not ascend. Rows that lie across
/// memory too.
#[test]
fn few_queries_are_searched_for_in_rows() {
    for (k, length) in [1, 2, 8, 15, 16, 17, 40].into_iter().enumerate() {
        for (rows, queries) in [
            (1, 1),
            (7, 1),
            (201, 1),
            (2050, 1),
            (60, 2),
            (33, 4),
            (20, 5),
        ] {
            let side = ["left", "right"][k % 2];
            let text = format!(
                "{{ lambda ; a:f32[{rows},{length}] b:f32[{rows},{queries}] p:i32[{length},{rows}] q:i32[{queries}]. let
                    c:f32[{rows},{length}] = sort[dimension=1 is_stable=True num_keys=1] a
                    d:i32[{rows},{queries}] = SearchSorted[side={side} dimension=1 batch_dims=1 method=scan] c b
                    e:i32[{rows},{queries}] = SearchSorted[side={side} dimension=1 batch_dims=1 method=scan] a b
                    f:i32[{rows},{queries}] = SearchSorted[side={side} dimension=0 batch_dims=0 method=scan] p q
                  in (d, e, f) }}"
            );
            everywhere(&text, Nearness::Bits);
        }
    }
}

/// Few lanes of which each has much to do, which threads share; each result is one lane's.
#[test]
fn few_costly_lanes_are_shared() {
    for lanes in [1, 63, 64, 65, 100, 128, 130, 250, 257, 300] {
        let text = format!(
            "{{ lambda ; a:f32[{lanes}] b:f32[300]. let
                c:f32[{lanes},1] = broadcast_in_dim[broadcast_dimensions=(0,)] a
                d:f32[1,300] = broadcast_in_dim[broadcast_dimensions=(1,)] b
                e:f32[{lanes},300] = sub c d
                f:f32[{lanes},300] = integer_pow[y=2] e
                g:f32[{lanes},300] = neg f
                h:f32[{lanes},300] = exp g
                i:f32[{lanes}] = reduce_sum[axes=(1,) out_sharding=None] h
              in (i,) }}"
        );
        everywhere(&text, Nearness::Relative(1e-4));
        let text = format!(
            "{{ lambda ; a:f32[{lanes}]. let
                b:f32[{lanes}] = scan[
                  ft_in=((), (None,), ()) ft_out=((None,), ())
                  jaxpr={{ lambda ; c:f32[{lanes}]. let
                      d:f32[{lanes}] = sin c
                      e:f32[{lanes}] = exp d
                      f:f32[{lanes}] = mul e 0.3:f32[]
                    in (f,) }}
                  length=200 reverse=False unroll=1
                ] a
              in (b,) }}"
        );
        everywhere(&text, Nearness::Relative(1e-4));
    }
}

/// Costly values that are repeated along a short last axis, one of length 1 before or none.
#[test]
fn costly_values_along_short_axes() {
    for short in [1, 2, 5, 15, 16, 17] {
        for (rows, columns) in [(1, 1), (1, 3), (12, 12), (40, 7)] {
            for (own, dims) in [
                (format!("{rows},{columns},1"), "0, 1, 2"),
                (format!("{rows},{columns}"), "0, 1"),
            ] {
                let text = format!(
                    "{{ lambda ; w:f32[{rows},{columns},{short}] a:f32[{own}] xs:f32[3,{short}]. let
                        v:f32[{rows},{columns},{short}] = scan[
                          ft_in=((None,), (None,), (None,)) ft_out=((None,), ())
                          jaxpr={{ lambda ; a:f32[{own}] w:f32[{rows},{columns},{short}] x:f32[{short}]. let
                              s:f32[] = reduce_max[axes=(0,) out_sharding=None] x
                              m:f32[{own}] = mul a s
                              e:f32[{own}] = exp m
                              t:f32[{own}] = tanh e
                              h:f32[{rows},{columns},{short}] = broadcast_in_dim[
                                broadcast_dimensions=({dims}) shape=({rows}, {columns}, {short}) sharding=None
                              ] t
                              y:f32[{rows},{columns},{short}] = broadcast_in_dim[
                                broadcast_dimensions=(2,) shape=({rows}, {columns}, {short}) sharding=None
                              ] x
                              d:f32[{rows},{columns},{short}] = sub y w
                              p:f32[{rows},{columns},{short}] = mul h d
                              u:f32[{rows},{columns},{short}] = add w p
                            in (u,) }}
                          length=3 reverse=False unroll=1
                        ] a w xs
                      in (v,) }}"
                );
                everywhere(&text, Nearness::Relative(1e-4));
            }
        }
    }
}

/// Short reductions whose results several broadcasts repeat, each of them a few times: of blocks, as an image is made larger.
#[test]
fn repeated_blocks_are_reduced_once() {
    for (ty, reduce, join) in [
        ("bool", "reduce_or", "and"),
        ("f32", "reduce_sum", "mul"),
        ("i16", "reduce_max", "sub"),
    ] {
        for (times, blocks, columns) in [
            (2, 3, 9),
            (3, 3, 9),
            (3, 7, 1),
            (4, 5, 17),
            (3, 20, 33),
            (3, 0, 9),
            (3, 3, 0),
        ] {
            let rows = times * blocks;
            let text = format!(
                "{{ lambda ; a:{ty}[{rows},{rows},{columns}]. let
                    b:{ty}[{blocks},{times},{blocks},{times},{columns}] = reshape[
                      dimensions=None new_sizes=({blocks}, {times}, {blocks}, {times}, {columns}) sharding=None
                    ] a
                    c:{ty}[{blocks},{blocks},{columns}] = {reduce}[axes=(1, 3) out_sharding=None] b
                    d:{ty}[{blocks},{times},{blocks},{columns}] = broadcast_in_dim[
                      broadcast_dimensions=(0, 2, 3) shape=({blocks}, {times}, {blocks}, {columns}) sharding=None
                    ] c
                    e:{ty}[{rows},{blocks},{columns}] = reshape[
                      dimensions=None new_sizes=({rows}, {blocks}, {columns}) sharding=None
                    ] d
                    f:{ty}[{rows},{blocks},{times},{columns}] = broadcast_in_dim[
                      broadcast_dimensions=(0, 1, 3) shape=({rows}, {blocks}, {times}, {columns}) sharding=None
                    ] e
                    g:{ty}[{rows},{rows},{columns}] = reshape[
                      dimensions=None new_sizes=({rows}, {rows}, {columns}) sharding=None
                    ] f
                    h:{ty}[{rows},{rows},{columns}] = {join} a g
                  in (h,) }}"
            );
            let planned = everywhere(&text, Nearness::Relative(1e-5));
            let worth = columns >= 9 && times >= 3 && blocks > 0;
            assert!(!worth || planned.arena > 0, "{}", planned.loops);
        }
    }
}
