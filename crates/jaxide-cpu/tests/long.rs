//! Programs much longer than what one function, one nest or one plan holds.

use std::fmt::Write;

use jaxide_core::{ClosedJaxpr, Tensor, eval, parse};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};
use jaxide_testing::Random;
use jaxide_testing::arrays::{Numbers, arguments};

/// Operations of integers, so that every order of them has the same bits.
const OPERATIONS: [&str; 6] = ["add", "sub", "mul", "max", "xor", "min"];

/// A variable's name.
fn name(number: usize) -> String {
    let mut rest = number;
    let mut name = String::from("v");
    loop {
        name.push(char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
        if rest == 0 {
            return name;
        }
    }
}

/// `length` equations on arrays of a type, each of a value at most `near` back and one at most `far` back; every 97th value is a result.
fn program(ty: &str, length: usize, back: (usize, usize), seed: u64) -> ClosedJaxpr {
    parse(&text(ty, length, back, seed)).unwrap()
}

fn text(ty: &str, length: usize, (near, far): (usize, usize), seed: u64) -> String {
    let mut random = Random(seed);
    let mut text = format!("{{ lambda ; {}:{ty} {}:{ty}. let\n", name(0), name(1));
    let mut results = Vec::new();
    for k in 2..length + 2 {
        let mut back = |most: usize| k - 1 - random.below(most.min(k));
        let (a, b) = (back(near), back(far));
        let operation = OPERATIONS[random.below(OPERATIONS.len())];
        writeln!(
            text,
            "{}:{ty} = {operation} {} {}",
            name(k),
            name(a),
            name(b)
        )
        .unwrap();
        if k % 97 == 0 || k == length + 1 {
            results.push(name(k));
        }
    }
    writeln!(text, "in ({},) }}", results.join(", ")).unwrap();
    text
}

/// The same bits in the interpreter and on every instruction set.
fn agree(jaxpr: &ClosedJaxpr) {
    let args = arguments(jaxpr, Numbers::Hostile, 1);
    let want = eval::eval(jaxpr, &args).unwrap();
    for isa in Isa::available() {
        let options = CompileOptions {
            isa: Some(isa),
            ..CompileOptions::default()
        };
        let got = compile(jaxpr, &options).unwrap().run(&args).unwrap();
        let bytes = |tensors: &[Tensor]| -> Vec<Vec<u8>> {
            tensors.iter().map(|x| x.bytes().to_vec()).collect()
        };
        assert!(bytes(&got) == bytes(&want), "{isa:?}");
    }
}

#[test]
fn scalars() {
    agree(&program("i32[]", 3000, (1, 3), 1));
    agree(&program("i32[]", 3000, (40, 3000), 2));
}

#[test]
fn arrays() {
    agree(&program("i32[19]", 3000, (1, 2), 3));
    agree(&program("i32[19]", 3000, (30, 3000), 4));
    agree(&program("i32[3,5]", 1500, (1500, 1500), 5));
}

/// Loops whose bodies are long.
#[test]
fn bodies() {
    for (ty, back) in [
        ("i32[]", (1, 3)),
        ("i32[]", (40, 2000)),
        ("i32[19]", (20, 300)),
    ] {
        let body = text(ty, 2000, back, 6);
        let last = name(2001);
        let (start, results) = body.rsplit_once("in (").unwrap();
        assert!(results.contains(&last));
        let text = format!(
            "{{ lambda ; x:{ty} y:{ty}. let
                z:{ty} w:{ty} = scan[
                  ft_in=((), (None, None), ())
                  ft_out=((None, None), ())
                  jaxpr={start} in ({last}, {})
                  }}
                  length=3
                  reverse=False
                  unroll=1
                ] x y
              in (z, w) }}",
            name(0)
        );
        agree(&parse(&text).unwrap());
    }
}

/// More steps than a function has, so that it is cut; each reads what the one before made.
#[test]
fn calls() {
    let ty = "i32[3,3]";
    let mut text = format!("{{ lambda ; {}:{ty} {}:{ty}. let\n", name(0), name(1));
    let last = 1400;
    for k in (2..last).step_by(2) {
        writeln!(
            text,
            "{}:{ty} = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=int32] {} {}\n{}:{ty} = xor {} {}",
            name(k), name(k - 1), name(0), name(k + 1), name(k), name(1)
        )
        .unwrap();
    }
    writeln!(text, "in ({}, {}) }}", name(last - 1), name(last / 2)).unwrap();
    agree(&parse(&text).unwrap());
}

/// Equal lane programs have their code once.
#[test]
fn repeated_code_is_shared() {
    let code = |repeated: usize| {
        let mut text = String::from("{ lambda ; a:f32[64]. let\n");
        let mut before = "a".to_owned();
        for k in 0..repeated {
            let (sorted, next) = (name(2 * k), name(2 * k + 1));
            writeln!(
                text,
                "{sorted}:f32[64] = sort[dimension=0 is_stable=True num_keys=1] {before}\n{next}:f32[64] = tanh {sorted}"
            )
            .unwrap();
            before = next;
        }
        writeln!(text, "in ({before},) }}").unwrap();
        let program = compile(&parse(&text).unwrap(), &CompileOptions::default()).unwrap();
        assert_eq!(program.stats().kernels, repeated);
        program.stats().code
    };
    let (few, many) = (code(10), code(50));
    assert!(many < few + 40 * 200, "{few} bytes become {many}");
}

/// What is copied behind a loop stands in the function of the loop.
#[test]
fn loops_with_very_many_values() {
    for count in [255, 256, 700] {
        let names: Vec<String> = (0..6 * count).map(name).collect();
        let list = |part: usize, ty: &str| {
            let names = &names[part * count..(part + 1) * count];
            names
                .iter()
                .map(|name| format!("{name}{ty} "))
                .collect::<String>()
        };
        let tuple = |part: usize| list(part, ",");
        let mut body = String::new();
        for (from, to) in names[count..].iter().zip(&names[2 * count..3 * count]) {
            writeln!(body, "{to}:i32[] = add {from} 1:i32[]").unwrap();
        }
        let text = format!(
            "{{ lambda ; {}. let
                {} = while[
                  body_jaxpr={{ lambda ; {}. let {body} in ({}) }}
                  body_nconsts=0
                  cond_jaxpr={{ lambda ; {}. let z:bool[] = lt {} 5:i32[] in (z,) }}
                  cond_nconsts=0
                ] {}
              in ({}) }}",
            list(0, ":i32[]"),
            list(3, ":i32[]"),
            list(1, ":i32[]"),
            tuple(2),
            list(4, ":i32[]"),
            names[4 * count],
            list(0, ""),
            tuple(3),
        );
        let args: Vec<Tensor> = (0..count).map(|k| Tensor::scalar(k as i32 % 7)).collect();
        let jaxpr = parse(&text).unwrap();
        let program = compile(&jaxpr, &CompileOptions::default()).unwrap();
        assert_eq!(
            program.run(&args).unwrap(),
            eval::eval(&jaxpr, &args).unwrap()
        );
    }
}
