//! Text made to hurt: an error or a jaxpr in little time, never a panic, an overflow of the stack or much memory.

use std::time::{Duration, Instant};

use jaxide_core::{ParseError, parse};

/// Reads `text`, prints what is read, and gives the error's text. Takes little time for its length.
fn check(text: &str) -> Option<String> {
    let start = Instant::now();
    let result = parse(text).map(|jaxpr| jaxpr.to_string());
    let error = result.err().map(|error: ParseError| error.to_string());
    let limit =
        Duration::from_millis(500) + Duration::from_micros(20) * u32::try_from(text.len()).unwrap();
    assert!(
        start.elapsed() < limit,
        "{} bytes took {:?}",
        text.len(),
        start.elapsed()
    );
    error
}

fn expect_error(text: &str, message: &str) {
    let error = check(text).unwrap_or_else(|| panic!("`{message}` is expected"));
    assert!(error.contains(message), "{error}");
}

/// A jaxpr with a parameter that holds a jaxpr that holds ...
fn nested(depth: usize) -> String {
    let open = "{ lambda ; a:f32[]. let b:f32[] = jit[name=f jaxpr=";
    let close = "] a in (b,) }";
    format!(
        "{}{{ lambda ; a:f32[]. let  in (a,) }}{}",
        open.repeat(depth),
        close.repeat(depth)
    )
}

/// Definitions of which each uses the next `uses` times.
fn chain(length: usize, uses: usize) -> String {
    let mut text = String::new();
    for index in 0..length {
        let call =
            format!("_:f32[] = jit[name=f{} jaxpr=f{}] a;", index + 1, index + 1).repeat(uses);
        text += &format!("let f{index} = {{ lambda ; a:f32[]. let {call} in (a,) }} in\n");
    }
    text + &format!(
        "let f{length} = {{ lambda ; a:f32[]. let  in (a,) }} in\n\
         {{ lambda ; a:f32[]. let b:f32[] = jit[name=f jaxpr=f0] a in (b,) }}"
    )
}

#[test]
fn deep_nesting_is_an_error() {
    assert_eq!(check(&nested(60)), None);
    expect_error(&nested(10_000), "nested more than");
    assert_eq!(check(&chain(60, 1)), None);
    expect_error(&chain(10_000, 1), "nested more than");
}

#[test]
fn depths_of_definitions_and_of_text_add_up() {
    let inner = nested(40);
    let outer = nested(40).replacen("{ lambda ; a:f32[]. let  in (a,) }", "f", 1);
    expect_error(&format!("let f = {inner} in\n{outer}"), "nested more than");
}

#[test]
fn definitions_used_twice_by_each_other_are_not_copied() {
    let text = chain(60, 2);
    assert_eq!(check(&text), None);
    let jaxpr = parse(&text).unwrap();
    assert_eq!(parse(&text).unwrap(), jaxpr);
    assert_ne!(
        parse(&text.replacen("in (a,)", "in ()", 60)).unwrap(),
        jaxpr
    );
    assert_eq!(jaxide_core::check(&jaxpr), Ok(()));
}

#[test]
fn circular_definitions_are_an_error() {
    let call =
        |f: &str| format!("{{ lambda ; a:f32[]. let b:f32[] = jit[name=f jaxpr={f}] a in (b,) }}");
    let text = format!(
        "let f = {} in\nlet g = {} in\n{}",
        call("g"),
        call("f"),
        call("f")
    );
    expect_error(&text, "uses itself");
}

#[test]
fn deep_values_are_kept_as_text() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("f(", ")"),
        ("f(a=", ")"),
        ("{", "}"),
    ] {
        let value = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        let text = |key: &str| {
            format!(
                "{{ lambda ; a:f32[2]. let b:f32[2] = sharding_constraint[{key}={value}] a in (b,) }}"
            )
        };
        assert_eq!(check(&text("layout")), None);
        assert_eq!(check(&text("unknown")), None);
    }
}

#[test]
fn programs_in_reprs_are_bounded() {
    let mut inner = "{ lambda ; a:f32[2]. let  in (a,) }".to_owned();
    for _ in 0..12 {
        inner = format!(
            "{{ lambda ; a:f32[2]. let b:f32[2] = custom_linear_solve[const_lengths=_LinearSolveTuple(matvec=0, \
             vecmat=0, solve=0, transpose_solve=0) jaxprs=_LinearSolveTuple(matvec={{ lambda ; a:f32[2]. let  in (a,) \
             }}, vecmat=None, solve={inner}, transpose_solve=None)] a in (b,) }}"
        );
    }
    expect_error(&inner, "deep");
}

#[test]
fn large_shapes_and_numbers_are_errors() {
    let jaxpr = |aval: &str| format!("{{ lambda ; a:{aval}. let  in (a,) }}");
    expect_error(
        &jaxpr("f32[4294967296,4294967296]"),
        "more elements than can be addressed",
    );
    expect_error(&jaxpr("f32[99999999999999999999]"), "does not fit 64 bits");
    assert_eq!(check(&jaxpr("f32[0,4294967296,4294967296]")), None);
    expect_error(
        "{ lambda ; . let  in (99999999999999999999:i64[],) }",
        "not a number",
    );
    let scan = "{ lambda ; a:f32[]. let b:f32[] = scan[length=3 jaxpr={ lambda ; a:f32[]. let  in (a,) } \
                num_consts=9000000000000000000 num_carry=9000000000000000000 reverse=False] a in (b,) }";
    expect_error(scan, "do not fit 1 operands");
}

#[test]
fn long_texts_take_time_in_proportion() {
    let count = 5_000;
    let mut equations = String::from("{ lambda ; a:f32[]. let\n");
    let mut wide = String::from("{ lambda ; a:f32[]. let b:f32[] = concatenate[dimension=0]");
    let mut errors = String::from("{ lambda ; a:f32[]. let\n");
    let mut unicode = String::from("{ lambda ; a:f32[]. let ");
    for index in 0..count {
        equations += &format!("    x{index}:f32[] = sin a\n");
        errors += &format!("    x{index}:f32[] = sin ?\n");
        unicode += &format!("_:f32[] = name[name=é{index}] a; ");
        wide += " a";
    }
    for text in [&equations, &wide, &errors, &unicode] {
        check(&format!("{text} in (a,) }}"));
        check(text);
    }
    for piece in [
        "'\\",
        "\"'",
        "(",
        "[",
        "{",
        "let ",
        "in (",
        "a:",
        "np.",
        "np.int64(",
        "<function ",
        " at 0x",
        "é",
        "\n",
        "#",
        ";",
        "=",
    ] {
        let garbage = piece.repeat(20_000);
        check(&garbage);
        check(&format!(
            "{{ lambda ; a:f32[2]. let b:f32[2] = sharding_constraint[layout=({garbage} a in (b,) }}"
        ));
        check(&format!(
            "{{ lambda ; a:f32[2]. let b:f32[2] = name[name={garbage}] a in (b,) }}"
        ));
        check(&format!("{{ lambda ; a:f32[2]. let {garbage} in (b,) }}"));
        check(&format!(
            "{{ lambda ; a:f32[2]. let b:f32[2] = odd[k=({garbage} a in (b,) }}"
        ));
        check(&format!(
            "{{ lambda ; a:f32[2]. let b:f32[2] = odd[\n k={garbage}\n ] a in (b,) }}"
        ));
        check(&format!("{{ lambda ; a:{garbage}. let  in (a,) }}"));
    }
}

/// A foreign primitive with a tuple that holds a jaxpr with a foreign primitive that ...
#[test]
fn foreign_parameters_are_bounded() {
    let nested = |depth: usize, open: &str, close: &str| {
        let (open, close) = (open.repeat(depth), close.repeat(depth));
        format!("{open}{{ lambda ; a:f32[]. let  in (a,) }}{close}")
    };
    let jaxpr = ("{ lambda ; a:f32[]. let b:f32[] = odd[k=", "] a in (b,) }");
    let tuple = (
        "{ lambda ; a:f32[]. let b:f32[] = odd[k=(",
        ", 3)] a in (b,) }",
    );
    let other = (
        "{ lambda ; a:f32[]. let b:f32[] = odd[k=(3, ",
        ")] a in (b,) }",
    );
    for (open, close) in [jaxpr, tuple, other] {
        assert_eq!(check(&nested(60, open, close)), None, "{open}");
    }
    expect_error(&nested(10_000, jaxpr.0, jaxpr.1), "nested more than");
    expect_error(&nested(10_000, tuple.0, tuple.1), "nested more than");
    assert_eq!(check(&nested(10_000, other.0, other.1)), None);
    let parameters = "k=( l=1 ".repeat(5_000);
    check(&format!(
        "{{ lambda ; a:f32[2]. let b:f32[2] = odd[{parameters}] a in (b,) }}"
    ));
    let lines = "\n  k=(".repeat(5_000);
    check(&format!(
        "{{ lambda ; a:f32[2]. let b:f32[2] = odd[{lines}\n ] a in (b,) }}"
    ));
}

/// Names that definitions use and do not bind.
#[test]
fn many_variables_of_enclosing_scopes_are_read_in_time() {
    let (mut uses, mut bound) = (String::new(), String::new());
    for index in 0..5_000 {
        uses += &format!("_:f32[] = sin x{index}; ");
        bound += &format!(" x{index}:f32[]");
    }
    let of = |bound: &str| {
        format!(
            "let f = {{ lambda ; . let {uses} in () }} in\n{{ lambda ;{bound}. let jit[name=f jaxpr=f] in () }}"
        )
    };
    assert_eq!(check(&of(&bound)), None);
    expect_error(&of(""), "the variable `x0` is not bound");
}

#[test]
fn definitions_of_one_name_and_numbers_do_not_collide() {
    // Real names that look like numbered ones, then many functions of one name.
    let mut text = String::new();
    let mut calls = String::new();
    for index in 0..500 {
        text += &format!("let d{index} = {{ lambda ; a:f32[{index}]. let  in (a,) }} in\n");
        let name = if index < 250 {
            format!("f{}", index + 1)
        } else {
            "f".to_owned()
        };
        let call = format!("_:f32[{index}] = jit[name={name} jaxpr=d{index}] 0.0:f32[];");
        calls += &call.repeat(2);
    }
    text += &format!("{{ lambda ; . let {calls} in () }}");
    let jaxpr = parse(&text).unwrap();
    assert_eq!(parse(&jaxpr.to_string()).unwrap(), jaxpr);
}
