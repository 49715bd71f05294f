//! What a `while` goes on for is known in its turns, and nowhere else: the same expressions of numbers from outside in a loop and behind it.

use jaxide_core::{Tensor, eval, parse};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};

/// Python's `//` and `%` by a number, as JAX writes them: lines of a jaxpr that give `{name}q` and `{name}r`.
fn floor(x: &str, by: i32, name: &str) -> String {
    format!(
        "{name}a:i32[] = div {x} {by}:i32[]
         {name}b:i32[] = sign {x}
         {name}c:bool[] = ne {name}b 1:i32[]
         {name}d:i32[] = rem {x} {by}:i32[]
         {name}e:bool[] = ne {name}d 0:i32[]
         {name}f:bool[] = and {name}c {name}e
         {name}g:i32[] = sub {name}a 1:i32[]
         {name}q:i32[] = select_n {name}f {name}a {name}g
         {name}h:bool[] = lt {name}d 0:i32[]
         {name}i:bool[] = and {name}h {name}e
         {name}j:i32[] = add {name}d {by}:i32[]
         {name}r:i32[] = select_n {name}i {name}d {name}j"
    )
}

/// A loop of up to three turns for each number, in which what `lines` give is summed, and which goes on while `cond` holds; then the same lines.
fn program(cond: &str, lines: impl Fn(&str, &str) -> String, result: &str) -> String {
    let (inside, behind) = (lines("v", "k"), lines("s", "m"));
    format!(
        "{{ lambda ; p:i32[40]. let
           q:i32[40] r:i32[40] = scan[
             ft_in=((), (), (None,))
             ft_out=((), (RightsOnly(Right(None)), RightsOnly(Right(None))))
             jaxpr={{ lambda ; s:i32[]. let
                 t:i32[] u:i32[] = while[
                   body_jaxpr={{ lambda ; v:i32[] w:i32[] x:i32[]. let
                       y:i32[] = add w 1:i32[]
                       {inside}
                       z:i32[] = add x k{result}
                     in (y, z) }}
                   body_nconsts=1
                   cond_jaxpr={{ lambda ; v:i32[] w:i32[] x:i32[]. let
                       a:bool[] = {cond}
                       b:bool[] = lt w 3:i32[]
                       c:bool[] = and a b
                     in (c,) }}
                   cond_nconsts=1
                 ] s s 0:i32[] 0:i32[]
                 {behind}
               in (u, m{result}) }}
             length=40
             reverse=False
             unroll=1
           ] p
         in (q, r) }}"
    )
}

/// Compares with the interpreter, for numbers of both signs.
fn check(text: &str) {
    let jaxpr = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let numbers: Vec<u8> = (0..40i32)
        .map(|k| match k {
            0 => i32::MIN,
            1 => i32::MAX,
            _ => (k - 21) * 7 % 61,
        })
        .flat_map(i32::to_le_bytes)
        .collect();
    let args = [Tensor::from_bytes(&[40], jaxpr.in_avals()[0].dtype, &numbers).unwrap()];
    let want = eval::eval(&jaxpr, &args).unwrap();
    for isa in Isa::available() {
        let options = CompileOptions {
            isa: Some(isa),
            ..CompileOptions::default()
        };
        let program = compile(&jaxpr, &options).unwrap();
        let got = program.run(&args).unwrap();
        for (k, (got, want)) in got.iter().zip(&want).enumerate() {
            assert!(
                got.bytes() == want.bytes(),
                "{isa:?}, result {k}: {got:?} and not {want:?}\n{text}\n{}",
                program.loops_text()
            );
        }
    }
}

#[test]
fn divisions_in_a_loop_and_behind_it() {
    for cond in [
        "gt v 0:i32[]",
        "ge v 0:i32[]",
        "lt v 0:i32[]",
        "ne v 0:i32[]",
    ] {
        for by in [2, 7, 8, 10, 1000] {
            for result in ["q", "r", "a", "d"] {
                check(&program(cond, |x, name| floor(x, by, name), result));
            }
        }
    }
}

#[test]
fn comparisons_in_a_loop_and_behind_it() {
    let conds = ["gt", "ge", "lt", "le", "eq", "ne"];
    for cond in conds {
        for op in conds {
            let lines = |x: &str, name: &str| {
                format!(
                    "{name}a:bool[] = {op} {x} 3:i32[]
                     {name}b:i32[] = add {x} 10:i32[]
                     {name}c:i32[] = select_n {name}a {x} {name}b"
                )
            };
            check(&program(&format!("{cond} v 3:i32[]"), lines, "c"));
        }
    }
}

/// Behind a loop, in which a number has no sign, a division without signs says nothing of one with signs.
#[test]
fn what_is_left_without_signs() {
    let lines = |x: &str, name: &str| {
        if name == "k" {
            return format!("{name}g:i32[] = rem {x} 8:i32[]");
        }
        format!(
            "{name}a:i32[] = shift_right_logical {x} 3:i32[]
             {name}b:i32[] = shift_left {name}a 3:i32[]
             {name}c:i32[] = sub {x} {name}b
             {name}d:bool[] = lt {name}c 0:i32[]
             {name}e:i32[] = sub {name}a 1:i32[]
             {name}f:i32[] = select_n {name}d {name}a {name}e
             {name}h:bool[] = le {x} 0:i32[]
             {name}i:bool[] = ne {name}c 0:i32[]
             {name}j:bool[] = and {name}h {name}i
             {name}g:i32[] = select_n {name}j {name}f 77:i32[]"
        )
    };
    check(&program("gt v 0:i32[]", lines, "g"));
}
