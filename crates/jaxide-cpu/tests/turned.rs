//! Products of which the transpose alone is wanted: made that way, with the interpreter's results.

use crate::everywhere::everywhere;
use jaxide_testing::compare::Nearness;

fn loops_of(text: &str) -> String {
    everywhere(text, Nearness::Relative(1e-3)).loops
}

/// `transpose(a b)` over contracted axes in front, with `more` behind and the given results.
fn gradient(rows: usize, columns: usize, more: &str, results: &str) -> String {
    format!(
        "{{ lambda ; a:f32[70,{rows}] b:f32[70,{columns}]. let
           c:f32[{rows},{columns}] = dot_general[dimension_numbers=(([0], [0]), ([], [])) preferred_element_type=float32] a b
           d:f32[{columns},{rows}] = transpose[permutation=(1, 0)] c
           {more}
         in ({results},) }}"
    )
}

#[test]
fn transposes_of_products_are_products() {
    for (rows, columns) in [(31, 90), (32, 90), (33, 5), (100, 100)] {
        let loops = loops_of(&gradient(rows, columns, "", "d"));
        assert_eq!(rows < 32, loops.contains("transpose"), "{loops}");
        assert!(loops.contains("dot_general"), "{loops}");
    }
}

#[test]
fn products_that_are_wanted_as_they_are_stay() {
    for text in [
        gradient(40, 50, "", "d, c"),
        gradient(40, 50, "e:f32[40,50] = sin c", "d, e"),
    ] {
        let loops = loops_of(&text);
        assert_eq!(loops.matches("call dot_general").count(), 1, "{loops}");
    }
}

/// Batches, several axes on each side, other permutations, and other types on the two sides.
#[test]
fn axes_of_products() {
    let product = |numbers: &str| {
        format!("dot_general[dimension_numbers={numbers} preferred_element_type=float32]")
    };
    for (permutation, shape, turned) in [
        ("0, 3, 1, 2", "3,33,4,34", true),
        ("0, 3, 2, 1", "3,33,34,4", false),
        ("0, 1, 3, 2", "3,4,33,34", false),
        ("3, 0, 1, 2", "33,3,4,34", false),
    ] {
        let loops = loops_of(&format!(
            "{{ lambda ; a:f32[4,34,3,5] b:f32[3,5,33]. let
               c:f32[3,4,34,33] = {} a b
               d:f32[{shape}] = transpose[permutation=({permutation})] c
             in (d,) }}",
            product("(([3], [1]), ([2], [0]))")
        ));
        let alone = !loops.contains("call transpose") && !loops.contains("nest");
        assert_eq!(turned, alone, "{loops}");
    }
    let loops = loops_of(&format!(
        "{{ lambda ; a:bf16[60,50] b:bf16[40,50]. let
           c:f32[60,40] = {} a b
           d:f32[40,60] = transpose[permutation=(1, 0)] c
         in (d,) }}",
        product("(([1], [1]), ([], []))")
    ));
    assert!(!loops.contains("transpose"), "{loops}");
}

/// In the body of a loop, of what is made there and of what is made before it.
#[test]
fn inside_of_loops() {
    let loops = loops_of(
        "{ lambda ; a:f32[50,40] b:f32[50,40] x:f32[9,50,40]. let
           p:f32[40,40] = dot_general[dimension_numbers=(([0], [0]), ([], [])) preferred_element_type=float32] a b
           c:f32[40,40] y:f32[9,40,40] = scan[
             _split_transpose=False
             jaxpr={ lambda ; p:f32[40,40] b:f32[50,40] c:f32[40,40] x:f32[50,40]. let
               q:f32[40,40] = dot_general[dimension_numbers=(([0], [0]), ([], [])) preferred_element_type=float32] x b
               r:f32[40,40] = transpose[permutation=(1, 0)] q
               s:f32[40,40] = transpose[permutation=(1, 0)] p
               t:f32[40,40] = add r s
               u:f32[40,40] = mul c 0.5:f32[]
               v:f32[40,40] = add u t
             in (v, r) }
             length=9
             linear=(False, False, False, False)
             num_carry=1
             num_consts=2
             reverse=False
             unroll=1
           ] p b p x
         in (c, y) }",
    );
    assert!(loops.contains("dot_general"), "{loops}");
}
