//! Large matrices that are made and used some rows at a time: how much memory is planned, and that results are the interpreter's, on every
//! instruction set, for any number of threads, with each access looked at.

use crate::everywhere::{Planned, everywhere};
use jaxide_testing::compare::Nearness;

fn shape(lengths: &[usize]) -> String {
    let lengths: Vec<String> = lengths.iter().map(usize::to_string).collect();
    format!("f32[{}]", lengths.join(","))
}

fn tuple(lengths: &[usize]) -> String {
    lengths.iter().map(|length| format!("{length},")).collect()
}

/// The softmax of `d`, whose last axis is reduced, as `k`.
fn softmax(lengths: &[usize]) -> String {
    let (last, before) = lengths.split_last().unwrap();
    let rank = before.len();
    let column: Vec<usize> = before.iter().copied().chain([1]).collect();
    let axes: Vec<usize> = (0..rank).collect();
    let (all, rows, column_, axes) = (shape(lengths), shape(before), shape(&column), tuple(&axes));
    let column = tuple(&column);
    assert!(*last > 0);
    format!(
        "e:{rows} = reduce_max[axes=({rank},) out_sharding=None] d
         f:{column_} = broadcast_in_dim[broadcast_dimensions=({axes}) shape=({column}) sharding=None] e
         g:{all} = sub d f
         h:{all} = exp g
         i:{rows} = reduce_sum[axes=({rank},) out_sharding=None] h
         j:{column_} = broadcast_in_dim[broadcast_dimensions=({axes}) shape=({column}) sharding=None] i
         k:{all} = div h j"
    )
}

fn product(result: &str, numbers: &str, operands: &str) -> String {
    format!(
        "{result} = dot_general[dimension_numbers={numbers} preferred_element_type=float32] {operands}"
    )
}

/// Attention of one head: lengths around those where loops begin, with and without rows left over.
#[test]
fn scores_are_in_memory_by_blocks() {
    for n in [723, 724, 725, 757, 1021] {
        let [narrow, all] = [shape(&[n, 4]), shape(&[n, n])];
        let text = format!(
            "{{ lambda ; a:{narrow} b:{narrow} c:{narrow}. let {}\n {}\n {} in (l,) }}",
            product(&format!("d:{all}"), "(([1], [1]), ([], []))", "a b"),
            softmax(&[n, n]),
            product(&format!("l:{narrow}"), "(([1], [0]), ([], []))", "k c"),
        );
        let Planned { arena, loops } = everywhere(&text, Nearness::Relative(1e-3));
        assert_eq!(n >= 725, loops.contains("for i0 in"), "{n}\n{loops}");
        assert!(n < 1000 || arena <= 2 * n * n, "{n}: {arena}\n{loops}");
    }
}

/// Several heads, a causal mask that counts rows, the product with the values from the left and turned, as `einsum` writes it.
#[test]
fn masks_and_batches() {
    for [batch, heads, n] in [[1, 3, 725], [3, 2, 430], [1, 1, 730], [2, 1, 725]] {
        let narrow = shape(&[batch, n, heads, 4]);
        let all = [batch, heads, n, n];
        let (scores, square) = (shape(&all), format!("[{n},{n}]"));
        let text = format!(
            "{{ lambda ; a:{narrow} b:{narrow} c:{narrow}. let
               m:{scores} {}
               p:i32{square} = iota[dimension=0 dtype=int32 shape=({n}, {n}) sharding=None]
               q:i32{square} = iota[dimension=1 dtype=int32 shape=({n}, {n}) sharding=None]
               r:bool{square} = ge p q
               s:bool{scores_} = broadcast_in_dim[broadcast_dimensions=(2, 3) shape=({shape_}) sharding=None] r
               t:{scores} = broadcast_in_dim[broadcast_dimensions=() shape=({shape_}) sharding=None] -100.0:f32[]
               d:{scores} = select_n s t m
               {}
               {}
               o:{narrow} = transpose[permutation=(0, 3, 1, 2)] l
             in (o,) }}",
            product("", "(([3], [3]), ([0, 2], [0, 2]))", "a b"),
            softmax(&all),
            product(
                &format!("l:{}", shape(&[batch, heads, 4, n])),
                "(([1], [3]), ([0, 2], [0, 1]))",
                "c k"
            ),
            scores_ = &scores[3..],
            shape_ = tuple(&all),
        );
        let Planned { arena, loops } = everywhere(&text, Nearness::Relative(1e-3));
        assert!(loops.contains("for i0 in"), "{all:?}\n{loops}");
        let whole = 4 * batch * heads * n * n;
        assert!(arena < whole * 3 / 4, "{all:?}: {arena}\n{loops}");
    }
}

/// The nearest of many points: distances are made and forgotten, inside a loop too.
#[test]
fn least_distances() {
    for n in [750, 900, 1451] {
        let text = format!(
            "{{ lambda ; a:f32[{n},3] b:f32[700,3]. let
               c:f32[{n},700] = dot_general[dimension_numbers=(([1], [1]), ([], [])) preferred_element_type=float32] a b
               d:f32[700,3] = mul b b
               e:f32[700] = reduce_sum[axes=(1,) out_sharding=None] d
               f:f32[1,700] = broadcast_in_dim[broadcast_dimensions=(1,) shape=(1, 700) sharding=None] e
               g:f32[{n},700] = mul c -2.0:f32[]
               h:f32[{n},700] = add g f
               i:i32[{n}] = argmin[axes=(1,) index_dtype=int32] h
             in (i,) }}"
        );
        let Planned { arena, loops } = everywhere(&text, Nearness::Relative(1e-3));
        assert!(loops.contains("for i0 in"), "{n}\n{loops}");
        assert!(arena < 1200 << 10, "{n}: {arena}\n{loops}");
    }
}

/// What is wanted whole, or needs other rows, stays whole.
#[test]
fn matrices_that_are_needed_stay() {
    let n = 740;
    let [narrow, all] = [shape(&[n, 4]), shape(&[n, n])];
    let scores = product(&format!("d:{all}"), "(([1], [1]), ([], []))", "a b");
    let sum = product(&format!("l:{narrow}"), "(([1], [0]), ([], []))", "k c");
    let turned = product(&format!("l:{narrow}"), "(([0], [0]), ([], []))", "k c");
    let columns = format!(
        "e:f32[{n}] = reduce_sum[axes=(0,) out_sharding=None] d
         f:{all} = broadcast_in_dim[broadcast_dimensions=(1,) shape=({n}, {n}) sharding=None] e
         k:{all} = sub d f"
    );
    let shifted = format!(
        "e:f32[{n},{m}] = slice[limit_indices=({n}, {n}) start_indices=(0, 1) strides=None] d
         f:{all} = pad[padding_config=((0, 0, 0), (1, 0, 0))] e 0.5:f32[]
         g:{all} = rev[dimensions=(0,)] f
         k:{all} = add d g",
        m = n - 1,
    );
    for (between, last, results) in [
        (softmax(&[n, n]), &sum, "l, k"),
        (softmax(&[n, n]), &turned, "l"),
        (columns, &sum, "l"),
        (shifted, &sum, "l"),
    ] {
        let text = format!(
            "{{ lambda ; a:{narrow} b:{narrow} c:{narrow}. let {scores}\n {between}\n {last} in ({results},) }}"
        );
        let loops = everywhere(&text, Nearness::Relative(1e-3)).loops;
        assert!(!loops.contains("for i0 in"), "{loops}");
    }
}

/// Axes that are moved, joined, cut, padded and turned beside the rows.
#[test]
fn rows_among_other_axes() {
    let n = 730;
    let text = format!(
        "{{ lambda ; a:f32[{n},4] b:f32[{n},4] c:f32[{n},4] m:f32[{n}]. let
           x:f32[{n},{n}] = dot_general[dimension_numbers=(([1], [1]), ([], [])) preferred_element_type=float32] a b
           y:f32[{n},2,365] = reshape[dimensions=None new_sizes=({n}, 2, 365) sharding=None] x
           z:f32[2,{n},365] = transpose[permutation=(1, 0, 2)] y
           p:f32[2,{n},365] = rev[dimensions=(0, 2)] z
           q:f32[1,{n},365] = slice[limit_indices=(1, {n}, 365) start_indices=(0, 0, 0) strides=None] p
           r:f32[3,{n},365] = concatenate[dimension=0] p q
           s:f32[3,{n},370] = pad[padding_config=((0, 0, 0), (0, 0, 0), (5, 0, 0))] r 0.25:f32[]
           t:f32[{n},370] = reduce_max[axes=(0,) out_sharding=None] s
           u:f32[{n},1] = reshape[dimensions=None new_sizes=({n}, 1) sharding=None] m
           v:f32[{n},370] = mul t u
           w:f32[{n}] = reduce_sum[axes=(1,) out_sharding=None] v
         in (w,) }}"
    );
    let Planned { arena, loops } = everywhere(&text, Nearness::Relative(1e-3));
    assert!(loops.contains("for i0 in"), "{loops}");
    assert!(arena < 4 * n * n, "{arena}\n{loops}");
}
