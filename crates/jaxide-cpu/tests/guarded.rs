//! Updates in loops that a condition keeps or drops, `where(p, x.at[i].set(v), x)`: results are the interpreter's, for indices inside and outside,
//! and what is dropped costs nothing.

use crate::everywhere::everywhere;
use jaxide_testing::compare::Nearness;

/// A loop over indices, answers and numbers, with a body that makes `r` of the carried `x`, an index `j:i32[]`, an answer `p:bool[]` and a number `v`.
fn looped(shape: &str, dtype: &str, places: usize, body: &str) -> String {
    format!(
        "{{ lambda ; x:{dtype}[{shape}] i:i32[21] w:{dtype}[21]. let
            y:{dtype}[{shape}] = scan[
              ft_in=((), (None,), (None, None)) ft_out=((None,), ())
              jaxpr={{ lambda ; x:{dtype}[{shape}] i:i32[] v:{dtype}[]. let
                  h:i32[] = rem i {places}:i32[]
                  j:i32[] = sub h 1:i32[]
                  o:i32[] = and i 3:i32[]
                  p:bool[] = ne o 1:i32[]
                  {body}
                in (r,) }}
              length=21 reverse=False unroll=1
            ] x i w
          in (y,) }}"
    )
}

fn scatter(op: &str, mode: &str) -> String {
    format!(
        "{op}[dimension_numbers=ScatterDimensionNumbers(update_window_dims=(), inserted_window_dims=(0,), \
         scatter_dims_to_operand_dims=(0,), operand_batching_dims=(), scatter_indices_batching_dims=()) indices_are_sorted=True \
         mode=GatherScatterMode.{mode} unique_indices=True update_consts=() update_jaxpr=None]"
    )
}

#[test]
fn one_element() {
    for dtype in ["f32", "i64", "u8", "bf16", "c64"] {
        for n in [1, 2, 8, 17, 300] {
            for mode in ["FILL_OR_DROP", "CLIP", "PROMISE_IN_BOUNDS"] {
                for op in ["scatter", "scatter-add", "scatter-mul"] {
                    for choice in ["p x s", "p s x"] {
                        // Promised indices are kept.
                        let index = if mode == "PROMISE_IN_BOUNDS" {
                            format!("m:i32[] = max j 0:i32[]\n k:i32[] = min m {}:i32[]", n - 1)
                        } else {
                            "k:i32[] = add j 0:i32[]".to_owned()
                        };
                        let scatter = scatter(op, mode);
                        let body = format!(
                            "{index}\n t:i32[1] = broadcast_in_dim k\n s:{dtype}[{n}] = {scatter} x t v\n r:{dtype}[{n}] = select_n {choice}"
                        );
                        let text = looped(&n.to_string(), dtype, n + 2, &body);
                        let planned = everywhere(&text, Nearness::Relative(1e-2));
                        // No choice between arrays is left.
                        let in_place = mode != "CLIP" && n > 1;
                        let lanes = format!("lanes {n}");
                        assert!(
                            !in_place || !planned.loops.contains(&lanes),
                            "{}",
                            planned.loops
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn boxes() {
    for dtype in ["f32", "i16", "bool"] {
        for (n, width) in [(5, 1), (17, 3), (300, 40), (300, 300)] {
            for choice in ["p x s", "p s x"] {
                let body = format!(
                    "t:{dtype}[{width}] = broadcast_in_dim v\n s:{dtype}[{n}] = dynamic_update_slice x t j\n r:{dtype}[{n}] = select_n {choice}"
                );
                everywhere(&looped(&n.to_string(), dtype, n + 2, &body), Nearness::Bits);
            }
        }
    }
}

/// A condition for each row, and an update in each row.
#[test]
fn rows_with_a_condition_each() {
    let dims = "dimension_numbers=ScatterDimensionNumbers(update_window_dims=(), inserted_window_dims=(1,), \
                scatter_dims_to_operand_dims=(1,), operand_batching_dims=(0,), scatter_indices_batching_dims=(0,))";
    for (rows, n) in [(1, 7), (3, 8), (9, 33)] {
        for choice in ["q x s", "q s x"] {
            let body = format!(
                "a:i32[{rows}] = iota[dimension=0 dtype=int32 shape=({rows},) sharding=None]
                 b:i32[{rows}] = add a j
                 c:i32[{rows},1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=({rows}, 1) sharding=None] b
                 d:i32[{rows}] = and b o
                 e:bool[{rows}] = eq d 0:i32[]
                 q:bool[{rows},{n}] = broadcast_in_dim[broadcast_dimensions=(0,) shape=({rows}, {n}) sharding=None] e
                 u:f32[{rows}] = broadcast_in_dim v
                 s:f32[{rows},{n}] = scatter[{dims} indices_are_sorted=True mode=GatherScatterMode.FILL_OR_DROP unique_indices=True \
                   update_consts=() update_jaxpr=None] x c u
                 r:f32[{rows},{n}] = select_n {choice}"
            );
            everywhere(
                &looped(&format!("{rows},{n}"), "f32", n + 2, &body),
                Nearness::Bits,
            );
        }
    }
}

/// What is updated is used besides, before the choice and after it.
#[test]
fn arrays_with_other_uses() {
    let scatter = scatter("scatter", "FILL_OR_DROP");
    for (n, after) in [(9, "s"), (9, "x"), (40, "s"), (40, "x")] {
        let body = format!(
            "t:i32[1] = broadcast_in_dim j
             s:f32[{n}] = {scatter} x t v
             c:f32[{n}] = select_n p x s
             d:f32[{n}] = rev[dimensions=(0,)] {after}
             e:f32[{n}] = mul d 0.5:f32[]
             r:f32[{n}] = add c e"
        );
        everywhere(
            &looped(&n.to_string(), "f32", n + 2, &body),
            Nearness::Relative(1e-5),
        );
    }
}

/// Indices of a type that has no number outside of the array.
#[test]
fn indices_without_an_outside() {
    for n in [255, 256, 257] {
        let scatter = scatter("scatter", "FILL_OR_DROP");
        let body = format!(
            "k:u8[] = convert_element_type[new_dtype=uint8 weak_type=False] i
             t:u8[1] = broadcast_in_dim k
             s:f32[{n}] = {scatter} x t v
             r:f32[{n}] = select_n p x s"
        );
        everywhere(&looped(&n.to_string(), "f32", n + 2, &body), Nearness::Bits);
    }
}

/// Indices that name no axis.
#[test]
fn updates_at_a_fixed_place() {
    let scatter = "scatter-add[dimension_numbers=ScatterDimensionNumbers(update_window_dims=(0,), inserted_window_dims=(), \
                   scatter_dims_to_operand_dims=(), operand_batching_dims=(), scatter_indices_batching_dims=()) indices_are_sorted=False \
                   mode=GatherScatterMode.FILL_OR_DROP unique_indices=False update_consts=() update_jaxpr=None]";
    for choice in ["p x s", "p s x"] {
        let body = format!(
            "t:i32[0] = broadcast_in_dim j
             u:f32[3] = broadcast_in_dim v
             s:f32[8] = {scatter} x t u
             r:f32[8] = select_n {choice}"
        );
        everywhere(&looped("8", "f32", 10, &body), Nearness::Relative(1e-5));
    }
}
