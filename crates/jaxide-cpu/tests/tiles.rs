//! Nests that run together, block by block of their rows: which ones they are, and that results are the interpreter's for any number of threads.

use crate::everywhere::{everywhere, threads_within_a_limit};
use jaxide_core::parse;
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

/// Attractions of points, each by all others: the strength for each pair is made once for its coordinates, whose number stands last.
fn attractions(points: usize, dims: usize, of: &str) -> String {
    let n = points;
    let pairs = format!("{n},{n},{dims}");
    format!(
        "{{ lambda ; x:f32[{n},{dims}] m:f32[{n}]. let
            {of}
            d:f32[1,{n},{dims}] = broadcast_in_dim[broadcast_dimensions=(1, 2) shape=(1, {n}, {dims}) sharding=None] y
            e:f32[{n},1,{dims}] = broadcast_in_dim[broadcast_dimensions=(0, 2) shape=({n}, 1, {dims}) sharding=None] y
            f:f32[{pairs}] = sub d e
            g:f32[{pairs}] = mul f f
            h:f32[{n},{n}] = reduce_sum[axes=(2,) out_sharding=None] g
            i:f32[{n},{n}] = add h 0.5:f32[]
            j:f32[1,{n}] = broadcast_in_dim[broadcast_dimensions=(1,) shape=(1, {n}) sharding=None] m
            k:f32[{n},{n}] = pow i -1.5:f32[]
            l:f32[{n},{n}] = mul j k
            o:f32[{n},{n},1] = broadcast_in_dim[broadcast_dimensions=(0, 1) shape=({n}, {n}, 1) sharding=None] l
            p:f32[{pairs}] = mul f o
            q:f32[{n},{dims}] = reduce_sum[axes=(1,) out_sharding=None] p
          in (q,) }}"
    )
}

/// Of what one nest leaves for the next, row by row, there is memory for a block of rows alone.
#[test]
fn blocks_in_the_place_of_the_last() {
    for (points, dims) in [(90, 3), (300, 3), (521, 2), (600, 3)] {
        let text = attractions(points, dims, &format!("y:f32[{points},{dims}] = neg x"));
        let planned = everywhere(&text, Nearness::Relative(1e-4));
        let pairs = 4 * points * points;
        if pairs > 1 << 20 {
            assert!(planned.loops.contains(" rows\n"), "{}", planned.loops);
            assert!(2 * planned.arena < pairs, "{}", planned.loops);
        }
    }
}

/// The same in the turns of a loop, which threads share out or not.
#[test]
fn blocks_in_loops() {
    for (turns, n) in [(3, 400), (40, 300)] {
        let inside = attractions(n, 3, &format!("y:f32[{n},3] = neg x"));
        for carried in [false, true] {
            let (own, numbers) = if carried {
                ("init", "num_carry=1 num_consts=1")
            } else {
                ("xs", "num_carry=0 num_consts=1")
            };
            let (start, result) = if carried {
                (format!("init:f32[{n},3]"), format!("f32[{n},3]"))
            } else {
                (
                    format!("xs:f32[{turns},{n},3]"),
                    format!("f32[{turns},{n},3]"),
                )
            };
            let text = format!(
                "{{ lambda ; m:f32[{n}] {start}. let
                    r:{result} = scan[_split_transpose=False jaxpr={{ lambda ; m:f32[{n}] x:f32[{n},3]. let
                        s:f32[{n},3] = jit[name=inside jaxpr={inside}] x m
                        u:f32[{n},3] = mul s 0.001:f32[]
                        t:f32[{n},3] = tanh u
                      in (t,) }} length={turns} linear=(False, False) {numbers} reverse=False unroll=1] m {own}
                  in (r,) }}"
            );
            everywhere(&text, Nearness::Relative(1e-3));
        }
    }
}

/// Three values that stay for a row, of which two are read again behind a reduction of the third.
#[test]
fn several_blocks_at_once() {
    for (rows, columns) in [
        (40, 1000),
        (129, 1024),
        (700, 701),
        (1300, 300),
        (3, 70_000),
    ] {
        let ty = format!("f32[{rows},{columns}]");
        let spread =
            format!("broadcast_in_dim[broadcast_dimensions=(0,) shape=({rows}, 1) sharding=None]");
        let text = format!(
            "{{ lambda ; x:{ty}. let
                a:{ty} = sin x
                b:f32[{rows}] = reduce_max[axes=(1,) out_sharding=None] a
                c:f32[{rows},1] = {spread} b
                d:{ty} = sub a c
                e:{ty} = exp d
                f:f32[{rows}] = reduce_sum[axes=(1,) out_sharding=None] e
                g:f32[{rows},1] = {spread} f
                h:{ty} = div e g
                i:{ty} = mul h a
                j:f32[{rows}] = reduce_sum[axes=(1,) out_sharding=None] i
              in (j,) }}"
        );
        let planned = everywhere(&text, Nearness::Relative(1e-4));
        if rows >= 129 {
            assert!(planned.arena < rows * columns * 4, "{}", planned.loops);
        }
    }
}

/// Threads have blocks of their own, as many as the limit of memory has room for; the others wait.
#[test]
fn blocks_within_a_limit() {
    let jaxpr = parse(&attractions(600, 3, "y:f32[600,3] = neg x")).unwrap();
    threads_within_a_limit(&jaxpr, &[(0, 0), (1, 1), (3, 3), (20, 7)]);
}

/// A value that is broadcast is in memory once, by whatever shapes it goes there, and what is computed from it costs a load: neither copies nor
/// the differences of all pairs are in memory.
#[test]
fn views_of_what_is_in_memory() {
    let n = 200;
    let ways = [
        format!("y:f32[{n},3] = sin x"),
        format!(
            "z:f32[{n},3] = sin x\n w:f32[600] = reshape[dimensions=None new_sizes=(600,) sharding=None] z\n y:f32[{n},3] = reshape[dimensions=None new_sizes=({n}, 3) sharding=None] w"
        ),
        format!(
            "w:f32[600] = reshape[dimensions=None new_sizes=(600,) sharding=None] x\n z:f32[600] = sin w\n y:f32[{n},3] = reshape[dimensions=None new_sizes=({n}, 3) sharding=None] z"
        ),
        format!(
            "w:f32[1,{n},3] = broadcast_in_dim[broadcast_dimensions=(1, 2) shape=(1, {n}, 3) sharding=None] x\n z:f32[1,{n},3] = sin w\n y:f32[{n},3] = reshape[dimensions=None new_sizes=({n}, 3) sharding=None] z"
        ),
    ];
    for way in ways {
        let planned = everywhere(&attractions(n, 3, &way), Nearness::Relative(1e-4));
        assert!(planned.arena < 4 * n * n + (8 << 10), "{}", planned.loops);
    }
}
