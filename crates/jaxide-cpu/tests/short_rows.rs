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
