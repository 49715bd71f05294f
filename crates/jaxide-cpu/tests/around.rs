//! Loops around lanes, which the code of a lane program runs itself: one, two and three axes that do not become one, of lengths around those of
//! vectors and of what is written out, split over threads between and inside of the innermost.

use crate::everywhere::everywhere;
use jaxide_testing::Random;
use jaxide_testing::compare::Nearness;

/// Lengths of rows: what is left over is nothing, one lane, and whole registers without a last one.
const ROWS: [usize; 11] = [64, 65, 79, 97, 128, 129, 192, 255, 257, 320, 513];
const AROUND: [usize; 7] = [1, 2, 3, 5, 6, 11, 40];

fn shape(lengths: &[usize]) -> String {
    let lengths: Vec<String> = lengths.iter().map(ToString::to_string).collect();
    format!("[{}]", lengths.join(","))
}

/// A part of an array with one element less at each end of each axis, a vector along each axis, and what is reversed: nothing that memory
/// goes through in one loop.
fn program(ty: &str, lengths: &[usize]) -> String {
    let rank = lengths.len();
    let outer: Vec<usize> = lengths.iter().map(|n| n + 2).collect();
    let [own, around] = [lengths, &outer].map(shape);
    let list = |f: &dyn Fn(usize) -> usize| -> String {
        (0..rank).map(|k| format!("{},", f(k))).collect()
    };
    let (limits, starts) = (list(&|k| lengths[k] + 1), list(&|_| 1));
    let (last, first) = (rank - 1, lengths[0]);
    let row = lengths[last];
    format!(
        "{{ lambda ; a:{ty}{around} b:{ty}[{row}] c:{ty}[{first}]. let
            d:{ty}{own} = slice[limit_indices=({limits}) start_indices=({starts}) strides=None] a
            e:{ty}{own} = broadcast_in_dim[broadcast_dimensions=({last},) shape=({}) sharding=None] b
            f:{ty}{own} = broadcast_in_dim[broadcast_dimensions=(0,) shape=({}) sharding=None] c
            g:{ty}{own} = rev[dimensions=(0,)] d
            h:{ty}{own} = mul d e
            i:{ty}{own} = add h f
            j:{ty}{own} = sub i g
            k:{ty}{} = reduce_sum[axes=({last},) out_sharding=None] j
            l:{ty}{} = reduce_max[axes=({last},) out_sharding=None] g
          in (j, g, k, l) }}",
        list(&|k| lengths[k]),
        list(&|k| lengths[k]),
        shape(&lengths[..last]),
        shape(&lengths[..last]),
    )
}

#[test]
fn loops_of_every_length() {
    let random = &mut Random(19);
    let exact = ["i32", "u8", "i16", "i64"];
    for k in 0..66 {
        let rank = 2 + k % 3;
        let mut lengths: Vec<usize> = (1..rank)
            .map(|_| AROUND[random.below(AROUND.len())])
            .collect();
        lengths.push(ROWS[k % ROWS.len()]);
        if lengths.iter().product::<usize>() > 60_000 {
            lengths[0] = 2;
        }
        match k % 6 {
            0 => everywhere(&program("f32", &lengths), Nearness::Relative(1e-4)),
            1 => everywhere(&program("f64", &lengths), Nearness::Relative(1e-9)),
            _ => everywhere(&program(exact[k % 4], &lengths), Nearness::Bits),
        };
    }
}

/// A long reduction is made in two nests, of which the second goes on with the extremes and the places of the first: beside other arrays, of one of which
/// only the first reads.
#[test]
fn places_of_extremes_in_two_nests() {
    for (ty, rows, primitive) in [
        ("i32", 544, "argmax"),
        ("f32", 541, "argmin"),
        ("i16", 546, "argmax"),
    ] {
        let all = rows + 2;
        everywhere(
            &format!(
                "{{ lambda ; a:{ty}[{rows},576] b:{ty}[2,576]. let
                    c:{ty}[{rows},576] = cumsum[axis=0 reverse=False] a
                    d:{ty}[{all},576] = concatenate[dimension=0] c b
                    e:i32[576] = {primitive}[axes=(0,) index_dtype=int32] d
                  in (e,) }}"
            ),
            Nearness::Bits,
        );
        everywhere(
            &format!(
                "{{ lambda ; a:{ty}[{all},3,192]. let
                    b:i32[3,192] = {primitive}[axes=(0,) index_dtype=int32] a
                  in (b,) }}"
            ),
            Nearness::Bits,
        );
    }
}

/// So much work that threads have a part of an axis each, and calls are for parts of it.
#[test]
fn loops_that_are_shared_out() {
    for lengths in [
        &[700, 401][..],
        &[3, 331, 130],
        &[331, 3, 257],
        &[2, 90, 5, 129],
    ] {
        everywhere(&program("i32", lengths), Nearness::Bits);
    }
}

/// Axes in another order, and rows beside each other in a result.
#[test]
fn loops_in_another_order() {
    for (k, &row) in ROWS.iter().enumerate() {
        let (n, m) = (AROUND[k % AROUND.len()], AROUND[(k + 3) % AROUND.len()]);
        let text = format!(
            "{{ lambda ; a:i32[{n},{m},{row}] b:i32[{m},{n},{row}]. let
                c:i32[{m},{n},{row}] = transpose[permutation=(1, 0, 2)] a
                d:i32[{m},{n},{row}] = add b c
                e:i32[{m},{n},{}] = concatenate[dimension=2] d b
                f:i32[{m},{row},{n}] = transpose[permutation=(0, 2, 1)] d
                g:i32[{m},{n},{}] = pad[padding_config=((0, 0, 0), (0, 0, 0), (3, 2, 0))] c 7:i32[]
              in (e, f, g) }}",
            2 * row,
            row + 5,
        );
        everywhere(&text, Nearness::Bits);
    }
}
