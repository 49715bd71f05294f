//! Reductions to few results of elements that take long to compute: they are made in partial results from fewer elements on, so that threads have
//! something to do. Lengths are around the limits; results are the interpreter's, and the same bits on all threads.

use crate::everywhere::everywhere;
use jaxide_testing::compare::Nearness;

/// Elements that take some dozens of operations.
fn costly(shape: &str) -> String {
    format!(
        "b:f32[{shape}] = sin a
         c:f32[{shape}] = exp b
         d:f32[{shape}] = tanh c"
    )
}

#[test]
fn of_one_axis() {
    for n in [1000, 4095, 8191, 8192, 8193, 16384, 20_001, 65_537] {
        let chain = costly(&n.to_string());
        let text = format!(
            "{{ lambda ; a:f32[{n}]. let {chain}
                e:f32[] = reduce_sum[axes=(0,) out_sharding=None] d
                f:f32[] = reduce_max[axes=(0,) out_sharding=None] d
                g:i32[] = argmax[axes=(0,) index_dtype=int32] a
              in (e, f, g) }}"
        );
        everywhere(&text, Nearness::Relative(1e-4));
    }
}

#[test]
fn of_rows_and_columns() {
    for (rows, columns) in [
        (90, 91),
        (128, 128),
        (181, 181),
        (5000, 3),
        (3, 9001),
        (2, 16_384),
    ] {
        let shape = format!("{rows},{columns}");
        let text = format!(
            "{{ lambda ; x:f32[{rows}] y:f32[{columns}]. let
                p:f32[{shape}] = broadcast_in_dim[broadcast_dimensions=(0,) shape=({rows}, {columns}) sharding=None] x
                q:f32[{shape}] = broadcast_in_dim[broadcast_dimensions=(1,) shape=({rows}, {columns}) sharding=None] y
                a:f32[{shape}] = mul p q
                {}
                e:f32[] = reduce_sum[axes=(0, 1) out_sharding=None] d
                f:f32[{columns}] = reduce_sum[axes=(0,) out_sharding=None] d
                g:f32[{rows}] = reduce_min[axes=(1,) out_sharding=None] d
              in (e, f, g) }}",
            costly(&shape)
        );
        everywhere(&text, Nearness::Relative(1e-4));
    }
}

/// Three axes that memory does not treat as one, of which the longest is the first, the second or the last.
#[test]
fn of_three_axes() {
    for [i, j, k] in [
        [60, 7, 40],
        [7, 60, 40],
        [5, 40, 200],
        [300, 6, 5],
        [2, 30, 400],
    ] {
        let shape = format!("{i},{j},{k}");
        let spread = |axis: usize, x: &str| {
            format!(
                "broadcast_in_dim[broadcast_dimensions=({axis},) shape=({i}, {j}, {k}) sharding=None] {x}"
            )
        };
        let text = format!(
            "{{ lambda ; x:f32[{i}] y:f32[{j}] z:f32[{k}]. let
                p:f32[{shape}] = {}
                q:f32[{shape}] = {}
                r:f32[{shape}] = {}
                s:f32[{shape}] = mul p q
                a:f32[{shape}] = sub s r
                {}
                e:f32[] = reduce_sum[axes=(0, 1, 2) out_sharding=None] d
                f:f32[{j}] = reduce_sum[axes=(0, 2) out_sharding=None] d
                g:i32[{i},{k}] = argmax[axes=(1,) index_dtype=int32] s
              in (e, f, g) }}",
            spread(0, "x"),
            spread(1, "y"),
            spread(2, "z"),
            costly(&shape)
        );
        everywhere(&text, Nearness::Relative(1e-4));
    }
}
