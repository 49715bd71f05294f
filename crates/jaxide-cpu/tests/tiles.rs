//! Nests that run together, block by block of their rows: which ones they are, and that results are the interpreter's for any number of threads.

use crate::everywhere::everywhere;
use jaxide_testing::compare::Nearness;

/// A loop in which each element becomes a mean of itself and of neighbours, round the edges: down and right, and up too if it is to be `wide`.
fn stencil(rows: usize, columns: usize, wide: bool) -> String {
    let part = |name: &str, [r0, c0]: [usize; 2], [r1, c1]: [usize; 2]| {
        format!(
            "{name}:f32[{},{}] = slice[limit_indices=({r1}, {c1}) start_indices=({r0}, {c0}) strides=None] a\n",
            r1 - r0,
            c1 - c0
        )
    };
    let ty = format!("f32[{rows},{columns}]");
    let mut body = part("top", [0, 0], [1, columns]);
    body += &part("below", [1, 0], [rows, columns]);
    body += &part("left", [0, 0], [rows, 1]);
    body += &part("right", [0, 1], [rows, columns]);
    body += &format!("down:{ty} = concatenate[dimension=0] below top\n");
    body += &format!("side:{ty} = concatenate[dimension=1] right left\n");
    body += &format!("b:{ty} = add down side\n c:{ty} = add a b\n");
    let sum = if wide {
        body += &part("last", [rows - 1, 0], [rows, columns]);
        body += &part("above", [0, 0], [rows - 1, columns]);
        body += &format!("up:{ty} = concatenate[dimension=0] last above\n d:{ty} = add c up\n");
        "d"
    } else {
        "c"
    };
    format!(
        "{{ lambda ; x:{ty}. let
            y:{ty} = scan[_split_transpose=False jaxpr={{ lambda ; a:{ty}. let
                {body}
                e:{ty} = mul {sum} 0.3:f32[]
              in (e,) }} length=6 linear=(False,) num_carry=1 num_consts=0 reverse=False unroll=1] x
          in (y,) }}"
    )
}

/// The edges of a stencil are made together with the rows that they belong to, where arrays are large enough that threads share them out.
#[test]
fn stencils_with_their_edges() {
    for (rows, columns) in [
        (2, 2),
        (2, 300),
        (3, 5),
        (40, 2),
        (63, 130),
        (129, 128),
        (200, 170),
        (257, 256),
        (700, 40),
    ] {
        for wide in [false, true] {
            let planned = everywhere(&stencil(rows, columns, wide), Nearness::Relative(1e-5));
            let large = rows.min(columns) > 100 && 4 * rows * columns > 128 << 10;
            assert!(
                !large || planned.loops.contains(" rows:\n"),
                "{rows} {columns}\n{}",
                planned.loops
            );
        }
    }
}

/// Rows of which each is a lane, in a loop of its own length, and a nest after it that goes through the same rows: vectors are full whatever the
/// number of threads.
#[test]
fn rows_that_are_lanes() {
    for rows in [1, 2, 7, 16, 17, 33, 101] {
        let text = format!(
            "{{ lambda ; x:f32[{rows},90] s:f32[{rows}]. let
                z:i32[{rows}] = broadcast_in_dim[broadcast_dimensions=() shape=({rows},) sharding=None] 0:i32[]
                t:f32[{rows}] n:i32[{rows}] = while[
                  body_jaxpr={{ lambda ; x:f32[{rows},90] t:f32[{rows}] n:i32[{rows}]. let
                      p:f32[{rows},1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=({rows}, 1) sharding=None] t
                      q:f32[{rows},90] = mul x p
                      e:f32[{rows},90] = sin q
                      g:f32[{rows}] = reduce_sum[axes=(1,) out_sharding=None] e
                      h:f32[{rows}] = mul g 0.01:f32[]
                      u:f32[{rows}] = add t h
                      m:i32[{rows}] = add n 1:i32[]
                      k:f32[{rows}] = abs t
                      b:bool[{rows}] = lt k 2.0:f32[]
                      c:bool[{rows}] = lt n 5:i32[]
                      d:bool[{rows}] = and b c
                      u1:f32[{rows}] = select_n d t u
                      m1:i32[{rows}] = select_n d n m
                    in (u1, m1) }}
                  body_nconsts=1
                  cond_jaxpr={{ lambda ; t:f32[{rows}] n:i32[{rows}]. let
                      k:f32[{rows}] = abs t
                      b:bool[{rows}] = lt k 2.0:f32[]
                      c:bool[{rows}] = lt n 5:i32[]
                      d:bool[{rows}] = and b c
                      r:bool[] = reduce_or[axes=(0,) out_sharding=None] d
                    in (r,) }}
                  cond_nconsts=0
                ] x s z
                p:f32[{rows},1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=({rows}, 1) sharding=None] t
                q:f32[{rows},90] = mul x p
                e:f32[{rows},90] = cos q
                f:f32[{rows}] = reduce_sum[axes=(1,) out_sharding=None] e
              in (t, n, f) }}"
        );
        everywhere(&text, Nearness::Relative(1e-4));
    }
}
