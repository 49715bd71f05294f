//! Choices that are the same in all lanes, which are branches where what they choose between is long: as the interpreter has them, for both
//! answers.

use crate::everywhere::everywhere;
use jaxide_testing::compare::Nearness;

const LENGTHS: [usize; 6] = [1, 8, 15, 16, 33, 1000];

/// Runs a program of `a`, positive numbers, and `q`, an answer for all of them; then with the other answer.
fn check(n: usize, equations: &str, result: &str, branches: bool) {
    for answer in ["and p p", "not p"] {
        let text = format!(
            "{{ lambda ; p:bool[] x:f32[{n}]. let r:bool[] = {answer}; y:f32[{n}] = abs x; a:f32[{n}] = add y 0.3:f32[]; \
             q:bool[{n}] = broadcast_in_dim[broadcast_dimensions=() shape=({n},) sharding=None] r; {equations} in ({result},) }}"
        );
        let loops = everywhere(&text, Nearness::Steps(3.0)).loops;
        // A single element is computed before the lanes.
        assert!(n == 1 || loops.contains(" = if ") == branches, "{loops}");
    }
}

#[test]
fn a_choice_between_long_and_short() {
    for n in LENGTHS {
        for (no, yes) in [("a", "c"), ("c", "a"), ("c", "d")] {
            let equations = format!(
                "b:f32[{n}] = log a; c:f32[{n}] = mul b b; d:f32[{n}] = cbrt a; e:f32[{n}] = select_n q {no} {yes}"
            );
            check(n, &equations, "e", true);
        }
    }
}

#[test]
fn what_is_needed_anyway_stays() {
    let equations = "b:f32[40] = atan a; e:f32[40] = select_n q a b; f:f32[40] = add e b";
    check(40, equations, "f", false);
}

#[test]
fn masks_of_long_conditions() {
    for n in LENGTHS {
        for op in ["and", "or"] {
            let equations = format!(
                "b:f32[{n}] = log a; c:f32[{n}] = sin b; d:bool[{n}] = gt c 0.1:f32[]; e:bool[{n}] = {op} q d; \
                 g:f32[{n}] = broadcast_in_dim[broadcast_dimensions=() shape=({n},) sharding=None] 2.0:f32[]; f:f32[{n}] = select_n e a g"
            );
            check(n, &equations, "f", true);
        }
    }
}

/// Of a function that has branches and loops of its own, and of a choice inside of a choice.
#[test]
fn of_what_has_branches() {
    for n in LENGTHS {
        let equations = format!(
            "b:f32[{n}] = digamma a; c:f32[{n}] = sin a; d:f32[{n}] = select_n q b c; e:f32[{n}] = exp d; f:f32[{n}] = select_n q a e"
        );
        check(n, &equations, "f", true);
    }
}
