//! Loops whose turns threads share out: which ones they are, and that results are the interpreter's for any number of threads.

use crate::everywhere::{everywhere, threads_within_a_limit};
use jaxide_core::{Cancel, parse};
use jaxide_cpu::{CompileOptions, compile};
use jaxide_testing::arrays::{Numbers, arguments};
use jaxide_testing::compare::Nearness;

fn loops_of(text: &str) -> String {
    everywhere(text, Nearness::Relative(1e-4)).loops
}

/// A loop over rows of `x` whose turns have this body, of `row` and the captured `table`, and give `out`.
fn map(turns: usize, reverse: bool, body: &str) -> String {
    let (start, rest) = ("{ lambda ;", "in (out,) }");
    let reverse = if reverse { "True" } else { "False" };
    format!(
        "{start} x:f32[{turns},40] table:f32[40,40]. let
           y:f32[{turns},40] = scan[
             _split_transpose=False
             jaxpr={start} table:f32[40,40] row:f32[40]. let
               {body}
             {rest}
             length={turns}
             linear=(False, False)
             num_carry=0
             num_consts=1
             reverse={reverse}
             unroll=1
           ] table x
         in (y,) }}"
    )
}

const PRODUCT: &str = "o:f32[40] = dot_general[dimension_numbers=(([0], [0]), ([], [])) preferred_element_type=float32] row table
    p:f32[40] = mul o 0.05:f32[]";
const SORT: &str = "s:f32[40] = sort[dimension=0 is_stable=True num_keys=1] p";
const INVERSE: &str = "a:f32[40,40] = mul table 0.01:f32[]
    b:f32[40,1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=(40, 1) sharding=None] row
    c:f32[40,40] = add a b
    d:f32[40,40] = sort[dimension=1 is_stable=True num_keys=1] c
    e:f32[40] = reduce_max[axes=(0,) out_sharding=None] d";

/// Turns with calls of the runtime, nests and temporaries between them; numbers of turns around those of threads; backwards too.
#[test]
fn turns_in_any_order() {
    for (turns, reverse) in [
        (2, false),
        (3, false),
        (4, true),
        (7, false),
        (31, true),
        (300, false),
    ] {
        let body = format!("{PRODUCT}\n{SORT}\n{INVERSE}\n out:f32[40] = add s e");
        let loops = loops_of(&map(turns, reverse, &body));
        assert_eq!(
            turns > 20,
            loops.contains("parallel for"),
            "{turns}\n{loops}"
        );
    }
}

/// Loops and branches inside the turns, with state of their own.
#[test]
fn loops_and_branches_in_turns() {
    let body = format!(
        "{PRODUCT}
         q:f32[40] = logistic p
         n:i32[] u:f32[40] = while[
           body_jaxpr={{ lambda ; table:f32[40,40] i:i32[] v:f32[40]. let
             j:i32[] = add i 1:i32[]
             w:f32[40] = dot_general[dimension_numbers=(([0], [0]), ([], [])) preferred_element_type=float32] v table
             y:f32[40] = mul w 0.05:f32[]
             z:f32[40] = tanh y
             k:f32[40] = sort[dimension=0 is_stable=True num_keys=1] z
           in (j, k) }}
           body_nconsts=1
           cond_jaxpr={{ lambda ; i:i32[] v:f32[40]. let b:bool[] = lt i 9:i32[] in (b,) }}
           cond_nconsts=0
         ] table 0:i32[] q
         f:f32[] = reduce_sum[axes=(0,) out_sharding=None] u
         g:bool[] = lt f 0.5:f32[]
         h:i32[] = convert_element_type[new_dtype=int32 weak_type=False] g
         out:f32[40] = cond[
           branches=(
             {{ lambda ; a:f32[40]. let b:f32[40] = sort[dimension=0 is_stable=True num_keys=1] a in (b,) }}
             {{ lambda ; a:f32[40]. let b:f32[40] = rev[dimensions=(0,)] a in (b,) }}
           )
         ] h u"
    );
    for turns in [5, 64] {
        let loops = loops_of(&map(turns, false, &body));
        assert!(loops.contains("parallel for"), "{turns}\n{loops}");
        assert!(loops.contains("loop"), "{loops}");
    }
}

/// A loop in a loop, whose state changes its place from turn to turn.
#[test]
fn inside_of_a_loop_with_state() {
    let body = format!("{PRODUCT}\n{SORT}\n{INVERSE}\n out:f32[40] = sub s e");
    let inner = map(24, false, &body);
    let inner = inner
        .trim_start_matches("{ lambda ;")
        .trim_end_matches("in (y,) }")
        .split_once(". let")
        .unwrap()
        .1
        .replace("] table x", "] t x");
    let text = format!(
        "{{ lambda ; x:f32[24,40] t:f32[40,40] deltas:f32[6,24,40]. let
           last:f32[24,40] all:f32[6,24,40] = scan[
             _split_transpose=False
             jaxpr={{ lambda ; t:f32[40,40] x:f32[24,40] delta:f32[24,40]. let
               {inner}
               n:f32[24,40] = tanh y
               m:f32[24,40] = add n delta
             in (m, y) }}
             length=6
             linear=(False, False, False)
             num_carry=1
             num_consts=1
             reverse=False
             unroll=1
           ] t x deltas
         in (last, all) }}"
    );
    let loops = loops_of(&text);
    assert!(loops.contains("parallel for"), "{loops}");
}

/// Loops that carry something, take next to no time or print stay in order.
#[test]
fn turns_in_order() {
    let carried = "{ lambda ; x:f32[300,40] table:f32[40,40]. let
        c:f32[40] y:f32[300,40] = scan[
          _split_transpose=False
          jaxpr={ lambda ; table:f32[40,40] c:f32[40] row:f32[40]. let
            a:f32[40] = add c row
            o:f32[40] = dot_general[dimension_numbers=(([0], [0]), ([], [])) preferred_element_type=float32] a table
            p:f32[40] = mul o 0.05:f32[]
            s:f32[40] = sort[dimension=0 is_stable=True num_keys=1] p
            t:f32[40] = tanh s
          in (t, s) }
          length=300
          linear=(False, False, False)
          num_carry=1
          num_consts=1
          reverse=False
          unroll=1
        ] table 0.0:f32[40] x
      in (c, y) }"
        .replace("0.0:f32[40] x", "b x")
        .replace("let\n        c:f32[40] y", "let\n        b:f32[40] = broadcast_in_dim[broadcast_dimensions=() shape=(40,) sharding=None] 0.0:f32[]\n        c:f32[40] y");
    let short = map(
        2,
        false,
        "out:f32[40] = sort[dimension=0 is_stable=True num_keys=1] row",
    );
    for text in [carried, short] {
        let loops = loops_of(&text);
        assert!(!loops.contains("parallel for"), "{loops}");
    }
}

/// Threads that have no room under the limit are left out, and the plan says what each takes.
#[test]
fn threads_that_have_no_room() {
    let body = format!("{PRODUCT}\n{SORT}\n{INVERSE}\n out:f32[40] = add s e");
    let jaxpr = parse(&map(100, false, &body)).unwrap();
    threads_within_a_limit(&jaxpr, &[(0, 0), (1, 1), (2, 2), (7, 7), (20, 7)]);
}

/// A run that is cancelled ends in the middle of its turns.
#[test]
fn cancelled_turns() {
    let body = format!("{PRODUCT}\n{SORT}\n{INVERSE}\n out:f32[40] = add s e");
    let jaxpr = parse(&map(50_000, false, &body)).unwrap();
    let program = compile(&jaxpr, &CompileOptions::default()).unwrap();
    assert!(program.loops_text().contains("parallel for"));
    let args = arguments(&jaxpr, Numbers::Tame, 5);
    let cancel = Cancel::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            cancel.cancel();
        });
        assert!(program.run_with(&args, &cancel).is_err());
    });
}
