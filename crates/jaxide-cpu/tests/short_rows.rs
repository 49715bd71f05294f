//! Reductions of short rows, of which each lane has its own: every type, lengths around what is loaded together and what is written out, and
//! numbers of rows around those of a vector.

use crate::everywhere::everywhere;
use jaxide_testing::compare::Nearness;

const ROWS: [usize; 6] = [1, 9, 33, 64, 100, 515];
const LENGTHS: [usize; 16] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 24, 31, 33];

fn reduced(ty: &str, primitive: &str, rows: usize, length: usize) -> String {
    format!(
        "{{ lambda ; a:{ty}[{rows},{length}]. let
            b:{ty}[{rows}] = {primitive}[axes=(1,) out_sharding=None] a
          in (b,) }}"
    )
}

#[test]
fn reductions_of_every_type() {
    let types = [
        ("f32", "reduce_sum", Nearness::Relative(1e-5)),
        ("f64", "reduce_max", Nearness::Bits),
        ("i32", "reduce_prod", Nearness::Bits),
        ("i64", "reduce_sum", Nearness::Bits),
        ("bf16", "reduce_max", Nearness::Bits),
        ("f16", "reduce_min", Nearness::Bits),
        ("i8", "reduce_sum", Nearness::Bits),
        ("u8", "reduce_max", Nearness::Bits),
        ("i16", "reduce_min", Nearness::Bits),
        ("u16", "reduce_sum", Nearness::Bits),
        ("bool", "reduce_xor", Nearness::Bits),
        ("c64", "reduce_sum", Nearness::Relative(1e-5)),
    ];
    for (k, &length) in LENGTHS.iter().enumerate() {
        for (j, &(ty, primitive, nearness)) in types.iter().enumerate() {
            let rows = ROWS[(k + j) % ROWS.len()];
            everywhere(&reduced(ty, primitive, rows, length), nearness);
        }
    }
}

/// Rows of several arrays, a part of each row, rows from their end, and the places of elements.
#[test]
fn rows_are_read_as_they_stand() {
    for (k, &length) in LENGTHS.iter().enumerate() {
        let rows = ROWS[k % ROWS.len()];
        let wide = length + 3;
        let several = format!(
            "{{ lambda ; a:f32[{rows},{length}] b:f32[{rows},{length}]. let
                c:f32[{rows},{length}] = mul a b
                d:f32[{rows}] = reduce_sum[axes=(1,) out_sharding=None] c
                e:f32[{rows}] = reduce_max[axes=(1,) out_sharding=None] a
                f:i32[{rows}] = argmax[axes=(1,) index_dtype=int32] b
              in (d, e, f) }}"
        );
        let part = format!(
            "{{ lambda ; a:f32[{rows},{wide}]. let
                b:f32[{rows},{length}] = slice[limit_indices=({rows}, {}) start_indices=(0, 2) strides=None] a
                c:f32[{rows},{length}] = rev[dimensions=(0,)] b
                d:f32[{rows}] = reduce_min[axes=(1,) out_sharding=None] c
              in (d,) }}",
            length + 2
        );
        let backward = format!(
            "{{ lambda ; a:u8[{rows},{wide}]. let
                b:u8[{rows},{wide}] = rev[dimensions=(1,)] a
                c:u8[{rows}] = reduce_max[axes=(1,) out_sharding=None] b
                d:i32[{rows}] = argmin[axes=(1,) index_dtype=int32] a
              in (c, d) }}"
        );
        for text in [several, part, backward] {
            everywhere(&text, Nearness::Relative(1e-5));
        }
    }
}

/// Probabilities of few classes, as the last layer of a classifier has them.
#[test]
fn few_classes() {
    for (rows, classes) in [(1, 10), (40, 10), (77, 7), (1000, 10), (130, 26)] {
        let text = format!(
            "{{ lambda ; d:f32[{rows},{classes}]. let
                e:f32[{rows}] = reduce_max[axes=(1,) out_sharding=None] d
                f:f32[{rows},1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=({rows}, 1) sharding=None] e
                g:f32[{rows},{classes}] = sub d f
                h:f32[{rows},{classes}] = exp g
                i:f32[{rows}] = reduce_sum[axes=(1,) out_sharding=None] h
                j:f32[{rows},1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=({rows}, 1) sharding=None] i
                k:f32[{rows},{classes}] = div h j
              in (k,) }}"
        );
        everywhere(&text, Nearness::Relative(1e-5));
    }
}

/// Statistics of groups of channels: a short last axis is combined with others, and one between them is kept.
#[test]
fn groups_of_channels() {
    let kinds = [
        ("f32", "reduce_sum", Nearness::Relative(1e-4)),
        ("i32", "reduce_sum", Nearness::Bits),
        ("f64", "reduce_max", Nearness::Bits),
        ("bf16", "reduce_sum", Nearness::Relative(1e-2)),
        ("i8", "reduce_prod", Nearness::Bits),
        ("bool", "reduce_or", Nearness::Bits),
    ];
    for (k, channels) in [1, 2, 3, 8, 16, 17, 63, 64, 65].into_iter().enumerate() {
        for (j, &(ty, primitive, nearness)) in kinds.iter().enumerate() {
            let (rows, groups) = ([1, 15, 16, 40][(k + j) % 4], [1, 2, 5][(k + 2 * j) % 3]);
            let text = format!(
                "{{ lambda ; a:{ty}[2,{rows},3,{groups},{channels}]. let
                    b:{ty}[2,{groups}] = {primitive}[axes=(1, 2, 4) out_sharding=None] a
                    c:{ty}[3] = {primitive}[axes=(0, 1, 3, 4) out_sharding=None] a
                  in (b, c) }}"
            );
            everywhere(&text, nearness);
        }
    }
}

/// Windows of rows at places that are known only when the program runs.
#[test]
fn rows_at_places_of_their_own() {
    for row in [1, 3, 8, 16, 20, 64, 100] {
        for ty in ["f32", "f64", "i8", "bf16", "c64"] {
            let text = format!(
                "{{ lambda ; a:{ty}[40,{row}] b:i32[9] c:i32[] d:{ty}[{row}]. let
                    e:i32[9,1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=(9, 1) sharding=None] b
                    f:{ty}[9,{row}] = gather[
                      dimension_numbers=GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,), operand_batching_dims=(), start_indices_batching_dims=())
                      fill_value=None indices_are_sorted=False mode=GatherScatterMode.CLIP slice_sizes=(1, {row}) unique_indices=False
                    ] a e
                    g:{ty}[9,{row}] = add f f
                    h:{ty}[5,{row}] = dynamic_slice[slice_sizes=(5, {row})] a c 0:i32[]
                    i:{ty}[5,{row}] = add h h
                    j:{ty}[1,{row}] = broadcast_in_dim[broadcast_dimensions=(1,) shape=(1, {row}) sharding=None] d
                    k:{ty}[40,{row}] = dynamic_update_slice a j c 0:i32[]
                    l:{ty}[40,{row}] = add k k
                  in (g, i, l) }}"
            );
            everywhere(&text, Nearness::Bits);
        }
    }
}

/// Rows that become columns of few lanes, alone and carried from turn to turn, where sizes are around those that are written out.
#[test]
fn small_matrices_are_turned() {
    for ty in ["f32", "f64", "i32", "i16", "u8", "c64", "bf16"] {
        for (rows, columns) in [
            (2, 9),
            (4, 4),
            (5, 8),
            (8, 5),
            (8, 8),
            (9, 16),
            (16, 16),
            (16, 17),
            (17, 16),
            (16, 3),
        ] {
            let once = format!(
                "{{ lambda ; a:{ty}[{rows},{columns}] b:{ty}[{columns},{rows}]. let
                    c:{ty}[{columns},{rows}] = transpose[permutation=(1, 0)] a
                    d:{ty}[{columns},{rows}] = add c b
                  in (d,) }}"
            );
            everywhere(&once, Nearness::Bits);
        }
        for side in [3, 5, 8, 15, 16, 17] {
            let turns = format!(
                "{{ lambda ; a:{ty}[{side},{side}] b:{ty}[6,{side}]. let
                    c:{ty}[{side},{side}] = scan[
                      ft_in=((), (None,), (None,)) ft_out=((None,), ())
                      jaxpr={{ lambda ; a:{ty}[{side},{side}] b:{ty}[{side}]. let
                          c:{ty}[{side},1] = broadcast_in_dim[broadcast_dimensions=(0,)] b
                          d:{ty}[{side},{side}] = sub a c
                          e:{ty}[{side},{side}] = transpose[permutation=(1, 0)] d
                          f:{ty}[{side},{side}] = add d e
                        in (f,) }}
                      length=6 reverse=False unroll=1
                    ] a b
                  in (c,) }}"
            );
            everywhere(&turns, Nearness::Relative(1e-2));
        }
    }
}
