//! Reductions by functions of two elements: those that are one of the operations with names, in every way in which they may be written,
//! and others beside them; alone, with an array beside, and over windows.

use crate::everywhere::everywhere;
use jaxide_testing::compare::Nearness;

/// Functions of two integers `c` and `d`, whose result is `f`.
const OF_INTEGERS: [&str; 13] = [
    "f:T[] = add c d",
    "f:T[] = mul d c",
    "f:T[] = max c d",
    "f:T[] = min d c",
    "f:T[] = and c d",
    "f:T[] = or c d",
    "f:T[] = xor c d",
    "e:bool[] = gt c d\nf:T[] = select_n e d c",
    "e:bool[] = lt c d\nf:T[] = select_n e d c",
    "e:bool[] = ge d c\nf:T[] = select_n e d c",
    "e:bool[] = le d c\nf:T[] = select_n e d c",
    // None of them.
    "e:bool[] = eq c d\nf:T[] = select_n e d c",
    "e:T[] = max c d\nf:T[] = add e e",
];

/// Functions of two truth values: of the sixteen that there are, those whose order does not count, and some others.
const OF_TRUTH: [&str; 12] = [
    "f:bool[] = or c d",
    "f:bool[] = and c d",
    "f:bool[] = xor c d",
    "f:bool[] = max c d",
    "f:bool[] = ne c d",
    "e:bool[] = gt c d\nf:bool[] = select_n e d c",
    "e:bool[] = lt c d\nf:bool[] = select_n e d c",
    "e:bool[] = not c\ng:bool[] = not d\nh:bool[] = and e g\nf:bool[] = not h",
    "f:bool[] = select_n c d c",
    "f:bool[] = select_n c c d",
    // Neither commutes.
    "e:bool[] = not d\nf:bool[] = and c e",
    "f:bool[] = le c d",
];

fn reduction(ty: &str, function: &str, length: usize, first: &str) -> String {
    let function = function.replace('T', ty);
    format!(
        "{{ lambda ; a:{ty}[{length},3]. let
            b:{ty}[3] = reduce[
              computation=f dimensions=(0,)
              jaxpr={{ lambda ; c:{ty}[] d:{ty}[]. let {function} in (f,) }}
            ] a {first}:{ty}[]
          in (b,) }}"
    )
}

fn windows(ty: &str, function: &str, length: usize, size: usize, first: &str) -> String {
    let function = function.replace('T', ty);
    format!(
        "{{ lambda ; a:{ty}[{length}]. let
            b:{ty}[{length}] = reduce_window[
              base_dilation=(1,) consts=()
              jaxpr={{ lambda ; c:{ty}[] d:{ty}[]. let {function} in (f,) }}
              padding=(({}, {}),) window_dilation=(1,) window_dimensions=({size},) window_strides=(1,)
            ] a {first}:{ty}[]
          in (b,) }}",
        size / 2,
        size - 1 - size / 2,
    )
}

#[test]
fn functions_of_integers() {
    for (k, ty) in ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]
        .into_iter()
        .enumerate()
    {
        for (j, function) in OF_INTEGERS.into_iter().enumerate() {
            for length in [2, 17, 40] {
                let first = ["0", "3", "1"][(k + j + length) % 3];
                everywhere(&reduction(ty, function, length, first), Nearness::Bits);
            }
            let size = [2, 5, 9, 40][(k + j) % 4];
            everywhere(&windows(ty, function, 70, size, "3"), Nearness::Bits);
        }
    }
}

#[test]
fn functions_of_truth_values() {
    for function in OF_TRUTH {
        for first in ["False", "True"] {
            for length in [2, 17, 70] {
                everywhere(&reduction("bool", function, length, first), Nearness::Bits);
                everywhere(&windows("bool", function, length, 5, first), Nearness::Bits);
            }
        }
    }
}

/// The first largest element and what is beside it, one after the other: at lengths around those of which a loop has several in a turn.
#[test]
fn pairs_one_after_the_other() {
    for (ty, least) in [
        ("bool", "False"),
        ("i32", "-99"),
        ("u8", "0"),
        ("f32", "-99.0"),
        ("bf16", "-99.0"),
    ] {
        for length in [2, 3, 15, 16, 17, 18, 19, 20, 21, 63, 64, 65, 66, 67] {
            let text = format!(
                "{{ lambda ; a:{ty}[{length}] b:i32[{length}]. let
                    c:{ty}[] d:i32[] = reduce[
                      computation=f dimensions=(0,)
                      jaxpr={{ lambda ; e:{ty}[] f:i32[] g:{ty}[] h:i32[]. let
                          i:bool[] = ge e g
                          j:{ty}[] = select_n i g e
                          k:i32[] = select_n i h f
                        in (j, k) }}
                    ] a b {least}:{ty}[] 0:i32[]
                  in (c, d) }}"
            );
            everywhere(&text, Nearness::Bits);
        }
    }
}

/// Many elements for few results, combined in parts: the first largest and what is beside it, and sums with a number to begin with that is not
/// neutral, at lengths around those of which all parts have as many.
#[test]
fn long_runs_in_parts() {
    let pair = "i:bool[] = ge e g
        j:T[] = select_n i g e
        k:i32[] = select_n i h f";
    let sums = "j:T[] = add e g
        i:i32[] = mul f 2:i32[]
        l:i32[] = add i h
        k:i32[] = sub l f";
    for (ty, least, one) in [
        ("bool", "False", ""),
        ("i8", "-9", "3"),
        ("i32", "-99", "3"),
        ("f32", "-99.0", "3.0"),
        ("f64", "-99.0", ""),
        ("bf16", "-99.0", ""),
    ] {
        for (shape, axes, kept) in [
            ("1023", "0,", ""),
            ("1024", "0,", ""),
            ("1025", "0,", ""),
            ("1055", "0,", ""),
            ("5,1056", "1,", "5"),
            ("3,40,30", "1,2", "3"),
            ("2,1,1100", "2,", "2,1"),
            ("20,1024", "1,", "20"),
            ("1100,2", "0,", "2"),
        ] {
            for (function, first) in [(pair, least), (sums, one)] {
                if first.is_empty() {
                    continue;
                }
                let function = function.replace('T', ty);
                let text = format!(
                    "{{ lambda ; a:{ty}[{shape}] b:i32[{shape}]. let
                        c:{ty}[{kept}] d:i32[{kept}] = reduce[
                          computation=f dimensions=({axes})
                          jaxpr={{ lambda ; e:{ty}[] f:i32[] g:{ty}[] h:i32[]. let
                              {function}
                            in (j, k) }}
                        ] a b {first}:{ty}[] 7:i32[]
                      in (c, d) }}"
                );
                everywhere(&text, Nearness::Relative(1e-4));
            }
        }
    }
}

/// States that one turn hands to the next, exchanged on the way, so that none is read after it was replaced.
#[test]
fn states_that_change_places() {
    for length in [1, 2, 15, 16, 17, 18, 19, 33, 64, 65] {
        let text = format!(
            "{{ lambda ; a:i32[] b:i32[] x:i32[{length}]. let
                c:i32[] d:i32[] y:i32[{length}] = scan[
                  ft_in=((), (None, None), (None,)) ft_out=((None, None), (None,))
                  jaxpr={{ lambda ; a:i32[] b:i32[] x:i32[]. let
                      m:bool[] = lt a b
                      p:i32[] = select_n m b a
                      q:i32[] = add p x
                    in (b, q, a) }}
                  length={length} reverse=False unroll=1
                ] a b x
              in (c, d, y) }}"
        );
        everywhere(&text, Nearness::Bits);
    }
}
