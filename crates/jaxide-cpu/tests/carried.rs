//! What loops carry: how often it is there, and that results are the interpreter's, on every instruction set and with each access looked
//! at.

use crate::everywhere::{Planned, everywhere};
use jaxide_testing::compare::Nearness;

/// The parameters of a `while` in the text, with `cond` over `i`, and of a `scan` of as many turns.
fn loops(n: usize, state: usize, body: &str, next: &str) -> [String; 2] {
    let name = |prefix: &str| -> String {
        (0..state)
            .map(|k| format!(" {prefix}{k}:i32[{n}]"))
            .collect()
    };
    let names = |prefix: &str| -> String { (0..state).map(|k| format!(" {prefix}{k}")).collect() };
    let results: Vec<String> = (0..state).map(|k| format!("y{k}")).collect();
    let results = results.join(", ");
    let comma = if state == 1 { "," } else { "" };
    let nones = "None, ".repeat(state);
    let while_loop = format!(
        "{{ lambda ; m:i32[]{inputs}. let
            _:i32[]{ys} = while[
              body_jaxpr={{ lambda ; i:i32[]{xs}. let
                  j:i32[] = add i 1:i32[]
                  {body}
                in (j, {next}) }}
              body_nconsts=0
              cond_jaxpr={{ lambda ; l:i32[] i:i32[]{xs}. let
                  p:bool[] = lt i l
                in (p,) }}
              cond_nconsts=1
            ] m 0:i32[]{given}
          in ({results}{comma}) }}",
        inputs = name("a"),
        ys = name("y"),
        xs = name("x"),
        given = names("a"),
    );
    let scan = format!(
        "{{ lambda ; m:i32[]{inputs}. let
            {ys} = scan[
              ft_in=((), ({nones}), ()) ft_out=(({nones}), ())
              jaxpr={{ lambda ;{xs}. let
                  {body}
                in ({next}{comma}) }}
              length=5 reverse=False unroll=1
            ]{given}
          in ({results}{comma}) }}",
        inputs = name("a"),
        ys = name("y"),
        xs = name("x"),
        given = names("a"),
    );
    [while_loop, scan]
}

fn product(n: usize, result: &str, operand: &str) -> String {
    // A cumulative sum reads other points, and is a call.
    format!("{result}:i32[{n}] = cumsum[axis=0 reverse=False] {operand}")
}

const SIZES: [usize; 6] = [1, 2, 16, 17, 300, 5000];

/// A next array that reads this turn's only where it is written lies where that does; and so does one that is made when this turn's is
/// read no more.
#[test]
fn one_array_is_enough() {
    for n in SIZES {
        let elementwise = format!(
            "{}
             c:i32[{n}] = mul b 3:i32[]
             d:i32[{n}] = sub x0 c
             e:i32[{n}] = not d",
            product(n, "b", "x0"),
        );
        let late = format!(
            "{}
             c:i32[{n}] = mul b 5:i32[]
             {}
             e:i32[{n}] = not d",
            product(n, "b", "x0"),
            product(n, "d", "c"),
        );
        for (body, spare) in [(elementwise, 1), (late, 2)] {
            for text in loops(n, 1, &body, "e") {
                let Planned { arena, loops } = everywhere(&text, Nearness::Bits);
                let most = 4 * n * (1 + spare) + 1024;
                assert!(arena <= most, "{n}: {arena} > {most}\n{text}\n{loops}");
            }
        }
    }
}

/// Arrays that change places, are carried twice, are read after others were made, or at other points.
#[test]
fn states_that_need_each_other() {
    for n in SIZES {
        let sum = product(n, "b", "x0");
        let half = "half:i32[] = copy 9:i32[]";
        let bodies = [
            // Changed places, with a product that keeps the loop in memory.
            (
                format!("{sum}\n c:i32[{n}] = mul b 7:i32[]\n d:i32[{n}] = add c x1"),
                "d, x0",
            ),
            (
                format!("{sum}\n c:i32[{n}] = mul b 7:i32[]\n d:i32[{n}] = add c x1"),
                "x1, d",
            ),
            (
                format!("{sum}\n c:i32[{n}] = mul b 7:i32[]\n d:i32[{n}] = sub c x1"),
                "d, d",
            ),
            // Each reads both.
            (
                format!(
                    "{sum}\n c:i32[{n}] = mul b 7:i32[]\n d:i32[{n}] = sub c x1\n e:i32[{n}] = sub x0 x1\n f:i32[{n}] = mul e 9:i32[]"
                ),
                "d, f",
            ),
            (
                format!(
                    "{sum}\n c:i32[{n}] = mul b 7:i32[]\n d:i32[{n}] = sub c x1\n e:i32[{n}] = sub x0 x1\n f:i32[{n}] = mul e 9:i32[]"
                ),
                "f, d",
            ),
            // The second reads what the first has left.
            (
                format!(
                    "{sum}\n c:i32[{n}] = mul b 7:i32[]\n d:i32[{n}] = add c x0\n {}\n f:i32[{n}] = sub e x1\n g:i32[{n}] = mul f 11:i32[]",
                    product(n, "e", "d"),
                ),
                "d, g",
            ),
            // Other points.
            (
                format!(
                    "{half}\n {sum}\n c:i32[{n}] = rev[dimensions=(0,)] x0\n d:i32[{n}] = mul b c\n e:i32[{n}] = not d\n f:i32[{n}] = mul x1 half"
                ),
                "e, f",
            ),
            (
                format!(
                    "{sum}\n c:i32[{n}] = rev[dimensions=(0,)] x1\n d:i32[{n}] = neg b\n f:i32[{n}] = sub x1 c"
                ),
                "d, f",
            ),
            // Read after the other is made.
            (
                format!(
                    "d:i32[{n}] = neg x1\n {}\n f:i32[{n}] = mul e 7:i32[]\n g:i32[{n}] = add f x0",
                    product(n, "e", "d")
                ),
                "d, g",
            ),
            (
                format!(
                    "d:i32[{n}] = neg x1\n {}\n f:i32[{n}] = mul e 7:i32[]\n g:i32[{n}] = add f x1",
                    product(n, "e", "d")
                ),
                "g, d",
            ),
        ];
        for (body, next) in bodies {
            for text in loops(n, 2, &body, next) {
                everywhere(&text, Nearness::Bits);
            }
        }
    }
}

/// A state of which a part is written, and which is read as it was, before or behind that in the text: it is updated in its place all the same,
/// and nothing is copied in a turn.
#[test]
fn what_is_read_as_it_was_is_read_first() {
    for n in [1, 5, 40, 1000] {
        for reads_first in [false, true] {
            let update = format!("f:i32[{n},4] = dynamic_update_slice c x i 0:i32[]");
            let read = "g:i32[1,4] = dynamic_slice[slice_sizes=(1, 4)] c j 0:i32[]; s:i32[] = reduce_sum[axes=(0, 1) out_sharding=None] g";
            let both = if reads_first {
                format!("{read}; {update}")
            } else {
                format!("{update}; {read}")
            };
            let text = format!(
                "{{ lambda ; a:i32[{n},4] b:i32[30,1,4]. let d:i32[{n},4] k:i32[] e:i32[30] = scan[_split_transpose=False \
                 jaxpr={{ lambda ; c:i32[{n},4] i:i32[] x:i32[1,4]. let j:i32[] = sub {n}:i32[] i; {both}; h:i32[] = add i 1:i32[] in (f, h, s) }} \
                 length=30 linear=(False, False, False) num_carry=2 num_consts=0 reverse=False unroll=1] a 0:i32[] b in (d, k, e) }}"
            );
            let Planned { loops, .. } = everywhere(&text, Nearness::Bits);
            assert!(!loops.contains("\n  copy"), "{loops}");
        }
    }
}

/// The equations of a branch, and its results.
type Branch<'a> = (&'a str, &'a str);

/// A state that branches update, or leave as it is, in every turn: in its place where nothing else is read of it.
#[test]
fn branches_update_in_place() {
    for n in [1, 40] {
        let row = |x: &str, out: &str| {
            format!(
                "{out}s:i32[1] = dynamic_slice[slice_sizes=(1,)] {x} k; {out}t:i32[1] = sub {out}s 3:i32[]; {out}:i32[{n}] = dynamic_update_slice {x} {out}t k"
            )
        };
        let scattered = |x: &str, out: &str| {
            format!(
                "{out}i:i32[1] = broadcast_in_dim k; {out}s:i32[] = reduce_max[axes=(0,) out_sharding=None] {x}; {out}:i32[{n}] = scatter[\
                 dimension_numbers=ScatterDimensionNumbers(update_window_dims=(), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,), operand_batching_dims=(), scatter_indices_batching_dims=()) \
                 indices_are_sorted=True mode=GatherScatterMode.FILL_OR_DROP unique_indices=True update_consts=() update_jaxpr=None] {x} {out}i {out}s"
            )
        };
        let branches = |index: &str, first: Branch<'_>, second: Branch<'_>| {
            let one = |(body, results): Branch<'_>| {
                format!("{{ lambda ; a:i32[{n}] b:i32[{n}] k:i32[]. let {body} in ({results}) }}")
            };
            format!("cond[branches=({} {})] {index} ", one(first), one(second))
        };
        let (u, v) = (row("a", "u"), scattered("b", "v"));
        let both = format!("{u}; {v}");
        let twice = format!("{u}; {}", row("u", "w"));
        let read = format!("{u}; h:i32[{n}] = add u a");
        let around = format!("{}; {}", row("a", "c"), row("b", "d"));
        let nested = format!(
            "e:i32[{n}] f:i32[{n}] = {} c d k",
            branches("k", ("", "a, b"), (&u, "u, b"))
        );
        let nested = format!("{around}; {nested}");
        // And whether nothing is copied in a turn.
        let pairs: [(Branch<'_>, Branch<'_>, bool); 11] = [
            (("", "a, b"), (&u, "u, b"), true),
            (("", "a, b"), (&both, "u, v"), true),
            ((&u, "u, b"), (&twice, "w, b"), true),
            ((&v, "a, v"), (&u, "u, b"), true),
            (("", "a, b"), (&nested, "e, f"), true),
            (("", "a, b"), (&read, "u, h"), false),
            (("", "a, b"), ("", "b, a"), false),
            (("", "a, a"), (&u, "u, u"), false),
            (("", "a, b"), (&u, "u, a"), false),
            ((&u, "b, u"), (&both, "u, v"), false),
            ((&both, "v, u"), (&v, "v, a"), false),
        ];
        let picked = "most:i32[] = reduce_max[axes=(0,) out_sharding=None] x1; q:i32[] = and most 1:i32[]; k:i32[] = rem most 7:i32[]";
        for (first, second, stays) in pairs {
            let cond = branches("q", first, second);
            let step = format!("{picked}; y:i32[{n}] z:i32[{n}] = {cond} x0 x1 k");
            let more = [
                (step.clone(), "y, z", stays),
                (step.clone(), "z, y", false),
                (format!("{step}; p:i32[{n}] = add z x0"), "y, p", false),
                (format!("{step}; {}", row("y", "p")), "p, z", stays),
            ];
            let few = if n == 1 { 1 } else { more.len() };
            for (body, next, stays) in more.into_iter().take(few) {
                for text in loops(n, 2, &body, next) {
                    let Planned { loops, .. } = everywhere(&text, Nearness::Bits);
                    let whole = format!("copy {} bytes", 4 * n);
                    let copies =
                        |line: &str| n > 1 && line.starts_with(' ') && line.contains(&whole);
                    assert!(!stays || !loops.lines().any(copies), "{text}\n{loops}");
                }
            }
        }
    }
}
