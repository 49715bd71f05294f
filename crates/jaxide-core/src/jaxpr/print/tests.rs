//! Small programs and their texts; the layout rules on real programs are tested with the conformance texts.

use crate::jaxpr::{Aval, Builder, PrintOptions};
use crate::prims::{CustomJvpCall, Jit, Name, Rule};
use crate::{ClosedJaxpr, DType};

fn call(name: &str, jaxpr: &ClosedJaxpr) -> Jit {
    Jit::new(Name::new(name), jaxpr.clone())
}

fn sine() -> ClosedJaxpr {
    let b = Builder::new();
    let x = b.input(Aval::new(DType::F32, &[4]));
    let y = b.sin(x);
    b.finish(&[y]).unwrap()
}

#[test]
fn a_program_without_equations_has_two_blanks() {
    let b = Builder::new();
    let x = b.input(Aval::scalar(DType::F32));
    let text = b.finish(&[x]).unwrap().to_string();
    assert_eq!(text, "{ lambda ; a:f32[]. let  in (a,) }");
}

#[test]
fn the_body_of_a_call_has_the_letters_of_the_call() {
    let b = Builder::new();
    let x = b.input(Aval::new(DType::F32, &[4]));
    let y = b.push(
        call("g", &sine()).into(),
        &[x],
        &[Aval::new(DType::F32, &[4])],
    );
    assert_eq!(
        b.finish(&y).unwrap().to_string(),
        "\
{ lambda ; a:f32[4]. let
    b:f32[4] = jit[
      name=g
      jaxpr={ lambda ; a:f32[4]. let b:f32[4] = sin a in (b,) }
    ] a
  in (b,) }"
    );
}

#[test]
fn a_body_used_twice_is_printed_first() {
    let (sine, aval) = (sine(), Aval::new(DType::F32, &[4]));
    let b = Builder::new();
    let x = b.input(aval.clone());
    let y = b.push(
        call("<lambda>", &sine).into(),
        &[x],
        std::slice::from_ref(&aval),
    );
    b.push(call("<lambda>", &sine).into(), &y, &[aval]);
    assert_eq!(
        b.finish(&[]).unwrap().to_string(),
        "\
let lambda = { lambda ; a:f32[4]. let b:f32[4] = sin a in (b,) } in
{ lambda ; c:f32[4]. let
    d:f32[4] = jit[name=<lambda> jaxpr=lambda] c
    _:f32[4] = jit[name=<lambda> jaxpr=lambda] d
  in () }"
    );
}

#[test]
fn the_name_of_a_custom_rule_is_not_the_name_of_its_definition() {
    let (sine, aval) = (sine(), Aval::new(DType::F32, &[4]));
    let b = Builder::new();
    let x = b.input(aval.clone());
    for _ in 0..2 {
        let rule = CustomJvpCall {
            name: Name::new("f"),
            call_jaxpr: sine.clone(),
            jvp: Rule {
                name: Name::new("f_jvp"),
                make: None,
            },
            num_consts: 0,
            symbolic_zeros: false,
        };
        b.push(rule.into(), &[x], std::slice::from_ref(&aval));
    }
    let text = b.finish(&[]).unwrap().to_string();
    assert!(text.starts_with("let jaxpr = {"), "{text}");
}

#[test]
fn the_classic_form_has_no_types() {
    let b = Builder::new();
    let x = b.input(Aval::new(DType::F32, &[8]));
    let y = b.mul(b.sin(x), b.number(3.0, DType::F32));
    let jaxpr = b.finish(&[y]).unwrap();
    let classic = |width| {
        let options = PrintOptions {
            classic: true,
            width,
            ..PrintOptions::default()
        };
        jaxpr.display(&options).to_string()
    };
    assert_eq!(
        classic(80),
        "{ lambda ; a. let b = sin a; c = mul b 3.0 in (c,) }"
    );
    assert_eq!(
        classic(40),
        "{ lambda ; a.\n  let b = sin a\n      c = mul b 3.0\n  in (c,) }"
    );
}

#[test]
fn sources_are_comments_in_one_column() {
    let b = Builder::new();
    let x = b.input(Aval::new(DType::F32, &[8]));
    b.set_source(crate::Source::Text { line: 2, column: 5 });
    let y = b.sin(x);
    b.set_source(crate::Source::Text { line: 3, column: 5 });
    let z = b.mul(y, x);
    let jaxpr = b.finish(&[z]).unwrap();
    let sources = |width| {
        let options = PrintOptions {
            sources: true,
            width,
            ..PrintOptions::default()
        };
        jaxpr.display(&options).to_string()
    };
    assert_eq!(
        sources(40),
        "\
{ lambda ; a:f32[8]. let
    b:f32[8] = sin a   # 2:5
    c:f32[8] = mul b a # 3:5
  in (c,) }"
    );
    assert_eq!(
        sources(80),
        "\
{ lambda ; a:f32[8]. let b:f32[8] = sin a; c:f32[8] = mul b a in (c,) } # 2:5
                                                                        # 3:5"
    );
}

#[test]
fn colours_are_those_of_jax() {
    let b = Builder::new();
    let x = b.input(Aval::scalar(DType::F32));
    let options = PrintOptions {
        color: true,
        ..PrintOptions::default()
    };
    assert_eq!(
        b.finish(&[x]).unwrap().display(&options).to_string(),
        "{ \x1b[34;1mlambda \x1b[39;22m; a\x1b[35m:f32[]\x1b[39m. \x1b[34;1mlet\x1b[39;22m  \x1b[34;1min \x1b[39;22m(a,) }"
    );
}
