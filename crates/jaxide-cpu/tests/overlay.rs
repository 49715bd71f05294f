//! Temporaries that lie over others: how much memory is planned, and that results are the interpreter's, on every instruction set and with
//! each access looked at.

use crate::everywhere::{Planned, everywhere};
use jaxide_testing::compare::Nearness;

fn product(result: &str, shape: [usize; 2], operands: &str) -> String {
    let [rows, columns] = shape;
    format!(
        "{result}:f32[{rows},{columns}] = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=float32] {operands}"
    )
}

/// Rows of scores are made probabilities where they are.
#[test]
fn scores_are_one_matrix() {
    for n in [1, 7, 16, 17, 64, 129, 256] {
        let text = format!(
            "{{ lambda ; a:f32[{n},8] b:f32[8,{n}] c:f32[{n},8]. let
                {}
                e:f32[{n}] = reduce_max[axes=(1,) out_sharding=None] d
                f:f32[{n},1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=({n}, 1) sharding=None] e
                g:f32[{n},{n}] = sub d f
                h:f32[{n},{n}] = exp g
                i:f32[{n}] = reduce_sum[axes=(1,) out_sharding=None] h
                j:f32[{n},1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=({n}, 1) sharding=None] i
                k:f32[{n},{n}] = div h j
                {}
              in (l,) }}",
            product("d", [n, n], "a b"),
            product("l", [n, 8], "k c"),
        );
        let Planned { arena, loops } = everywhere(&text, Nearness::Relative(1e-4));
        assert!(arena <= 4 * n * n + 8 * n + 512, "{n}: {arena}\n{loops}");
    }
}

/// What reads other points than it writes has memory of its own: a transposed matrix, neighbours, a row for all rows.
#[test]
fn other_points_are_not_overwritten() {
    for n in [2, 8, 17, 40, 130] {
        let m = n - 1;
        let shifted = format!(
            "s:f32[{m},{n}] = slice[limit_indices=({n}, {n}) start_indices=(1, 0) strides=None] d
             p:f32[{n},{n}] = pad[padding_config=((1, 0, 0), (0, 0, 0))] s 0.5:f32[]
             x:f32[{n},{n}] = add d p"
        );
        let turned = format!(
            "s:f32[{n},{n}] = transpose[permutation=(1, 0)] d
             x:f32[{n},{n}] = sub d s"
        );
        let reversed = format!(
            "s:f32[{n},{n}] = rev[dimensions=(1,)] d
             x:f32[{n},{n}] = mul d s"
        );
        let first_row = format!(
            "s:f32[1,{n}] = slice[limit_indices=(1, {n}) start_indices=(0, 0) strides=None] d
             x:f32[{n},{n}] = sub d s"
        );
        for between in [shifted, turned, reversed, first_row] {
            let text = format!(
                "{{ lambda ; a:f32[{n},{n}] b:f32[{n},{n}]. let {}\n {between}\n {} in (l,) }}",
                product("d", [n, n], "a b"),
                product("l", [n, n], "x b"),
            );
            everywhere(&text, Nearness::Relative(1e-3));
        }
    }
}

/// A temporary that is read again later stays as it was.
#[test]
fn what_is_needed_later_stays() {
    let text = format!(
        "{{ lambda ; a:f32[40,40] b:f32[40,40]. let
            {}\n e:f32[40,40] = tanh d\n {}\n {}\n g:f32[40,40] = mul f h in (g,) }}",
        product("d", [40, 40], "a b"),
        product("f", [40, 40], "e b"),
        product("h", [40, 40], "d b"),
    );
    everywhere(&text, Nearness::Relative(1e-3));
}

/// A product whose result is only scaled is made where the scaled one will be.
#[test]
fn a_call_writes_where_its_reader_does() {
    let text = format!(
        "{{ lambda ; a:f32[100,30] b:f32[30,100]. let {}\n e:f32[100,100] = mul d 0.5:f32[] in (e,) }}",
        product("d", [100, 100], "a b"),
    );
    let Planned { arena, loops } = everywhere(&text, Nearness::Relative(1e-4));
    assert_eq!(arena, 0, "{loops}");
}

/// Sums down columns go on from what earlier rows left in memory, and the first rows read there what nobody wrote.
#[test]
fn sums_of_many_rows() {
    for rows in [511, 540, 1030] {
        let text = format!(
            "{{ lambda ; a:f32[{rows},4] b:f32[4,540]. let {}
               e:f32[540] = reduce_sum[axes=(0,) out_sharding=None] d
               f:f32[{rows},540] = broadcast_in_dim[broadcast_dimensions=(1,) shape=({rows}, 540) sharding=None] e
               g:f32[{rows},540] = sub d f
             in (g,) }}",
            product("d", [rows, 540], "a b"),
        );
        everywhere(&text, Nearness::Relative(1e-3));
    }
}
