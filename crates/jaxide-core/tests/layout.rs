//! Layout and names in places that the conformance texts hardly visit.

use std::fmt::Write;

use jaxide_core::{PrintOptions, parse};

fn check(text: &str) {
    let jaxpr = parse(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(jaxpr.to_string(), text);
}

/// Calls, branches, loops, a hoisted body, long lists: laid out in `width` columns.
fn narrow(width: usize) -> String {
    let text = "\
let f = { lambda ; a:f32[2] b:f32[2]. let c:f32[2] = add a b in (c,) } in
{ lambda a:f32[2]; b:f32[2] c:f32[2] d:i32[]. let
    e:f32[2] = jit[name=f jaxpr=f] a b
    g:f32[2] = jit[name=f jaxpr=f] e c
    h:f32[2] i:f32[] = cond[
      branches=(
        { lambda ; j:f32[2]. let k:f32[2] = sin j in (k, 1.0:f32[]) }
        { lambda ; j:f32[2]. let k:f32[2] = cos j in (k, inf:f32[]) }
      )
    ] d g
    l:f32[12] = concatenate[dimension=0] b c e g h b
    m:i32[2] = iota[dimension=0 dtype=int32 shape=(2,) sharding=None] 
  in (l, h, i, m) }";
    let options = PrintOptions {
        width,
        ..PrintOptions::default()
    };
    parse(text).unwrap().display(&options).to_string()
}

#[test]
fn groups_break_where_the_width_says() {
    for width in [24, 48, 80, 200] {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../../../snapshots/layout");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(format!("width_{width}"), narrow(width)));
    }
}

#[test]
fn every_width_is_read_back() {
    let jaxpr = parse(&narrow(80)).unwrap();
    for width in 0..200 {
        assert_eq!(parse(&narrow(width)).as_ref(), Ok(&jaxpr), "{width}");
    }
}

#[test]
fn references_are_indexed_in_every_form() {
    check(
        "\
{ lambda ; a:f32[3,4] b:i32[] c:i32[2]. let
    d:Ref{f32[3,4]} = new_ref[kind=None memory_space=None pin=False] a
    e:f32[3,4] <- d[...]
    f:f32[3,4] <- d[:,:]
    g:f32[4] <- d[0,:]
    h:f32[4] <- d[b,:]
    i:f32[3,2] <- d[:,1:3]
    j:f32[] <- d[b,1]
    k:f32[2,4] <- d[c,:]
    d[0,0] <- 1.0:f32[]
    l:f32[1,4] = slice[limit_indices=(1, 4) start_indices=(0, 0) strides=None] a
    m:f32[4] = squeeze[dimensions=(0,)] l
    d[b,:] <- m
    n:f32[2] <- d[0,:][1:3]
    o:f32[] <- d[1:,b][b]
    p:f32[2,4] <- d[b:b+2,:]
    q:f32[4] <- d[-1,:]
    r:f32[], d[0,1] <- d[0,1], 2.0:f32[]
    s:f32[2,4] = slice[limit_indices=(2, 4) start_indices=(0, 0) strides=None] a
    d[b:b+2,:] += s
    d[:,:] += a
    _:f32[2] <- d[c,c]
    t:f32[3,2] <- d[:,c]
  in (e, f, g, h, i, k, j, n, o, p, q, r, t) }",
    );
}

#[test]
fn strides_of_references_are_shown() {
    // JAX leaves them out, and what it prints reads as a slice without gaps.
    check(
        "\
{ lambda ; a:f32[8]. let
    b:Ref{f32[8]} = new_ref[kind=None memory_space=None pin=False] a
    c:f32[3] <- b[1:4:2]
  in (c,) }",
    );
}

#[test]
fn results_of_a_call_are_named_when_the_inner_ones_are_matched() {
    check(
        "\
{ lambda ; a:f32[] b:f32[]. let
    c:f32[] e:f32[] d:f32[] = jit[
      name=<lambda>
      jaxpr={ lambda ; a:f32[] c:f32[]. let d:f32[] = add a c in (c, a, d) }
    ] a 2.0:f32[]
  in (c, e, d) }",
    );
}

#[test]
fn an_unused_result_of_a_call_is_unnamed_inside_too() {
    check(
        "\
{ lambda ; a:f32[]. let
    b:f32[] _:f32[] = jit[
      name=g
      jaxpr={ lambda ; a:f32[]. let b:f32[] = sin a; _:f32[] = cos a in (b, _) }
    ] a
  in (b,) }",
    );
    // Several are told apart by the types of the results.
    check(
        "\
{ lambda ; a:f32[]. let
    _:i32[] _:f32[] = jit[
      name=g
      jaxpr={ lambda ; a:f32[]. let
          _:f32[] = cos a
          _:i32[] = convert_element_type[new_dtype=int32 weak_type=False] a
        in (_, _) }
    ] a
  in (a,) }",
    );
    let jaxpr = parse(
        "{ lambda ; a:f32[]. let _:i32[] _:f32[] = jit[name=g jaxpr={ lambda ; a:f32[]. let _:f32[] = cos a; \
         _:i32[] = convert_element_type[new_dtype=int32 weak_type=False] a in (_, _) }] a in (a,) }",
    );
    assert_eq!(jaxide_core::check(&jaxpr.unwrap()), Ok(()));
}

#[test]
fn a_variable_may_be_called_in() {
    // Number 221 in letters; before a complex number it looks like the end of the equations.
    let names: Vec<String> = (0..222)
        .map(|number: usize| match (number / 26, number % 26) {
            (0, low) => char::from(b'a' + low as u8).to_string(),
            (high, low) => format!(
                "{}{}",
                char::from(b'a' + high as u8),
                char::from(b'a' + low as u8)
            ),
        })
        .collect();
    assert_eq!(names[221], "in");
    let mut text = String::from("{ lambda ; a:c64[]. let\n");
    for pair in names.windows(2) {
        writeln!(text, "    {}:c64[] = sin {}", pair[1], pair[0]).unwrap();
    }
    check(&format!(
        "{text}    io:c64[] = mul in (1+2j):c64[]\n    ip:c64[] = mul io in\n  in (ip,) }}"
    ));
    check(&format!(
        "{text}    io:c64[] = mul in (1+2j):c64[]\n  in (in, (1+2j):c64[], io) }}"
    ));
}

#[test]
fn numbers_that_look_like_binders_continue_a_line() {
    let operands = ["a"; 36].join(" ");
    check(&format!(
        "{{ lambda ; a:f32[1]. let\n    b:f32[37] = concatenate[dimension=0] {}\n      {}\n  in (b,) }}",
        ["a"; 20].join(" "),
        ["a"; 17].join(" ")
    ));
    // A line that begins with `nan:f32[]` belongs to the equation above it when it is indented deeper.
    let text = format!(
        "{{ lambda ; a:f32[]. let\n    b:f32[] = polynomial {operands}\n      nan:f32[] inf:f32[]\n  in (b,) }}"
    );
    assert_eq!(parse(&text).unwrap().jaxpr.eqns[0].inputs.len(), 38);
}

#[test]
fn definitions_of_one_name_are_numbered() {
    let body = |index: usize| format!("{{ lambda ; a:f32[{index}]. let  in (a,) }}");
    let mut calls = String::new();
    let mut definitions = String::new();
    for (index, name) in ["f", "f", "<lambda>", "f1", "f"].iter().enumerate() {
        definitions += &format!("let d{index} = {} in\n", body(index));
        calls += &format!("_:f32[{index}] = jit[name={name} jaxpr=d{index}] 0.0:f32[];").repeat(2);
    }
    let printed = parse(&format!("{definitions}{{ lambda ; . let {calls} in () }}"))
        .unwrap()
        .to_string();
    let names: Vec<&str> = printed
        .lines()
        .filter_map(|line| line.strip_prefix("let ")?.split(' ').next())
        .collect();
    assert_eq!(names, ["f", "f1", "lambda", "f11", "f2"]);
}

#[test]
fn values_without_meaning_are_laid_out_by_their_length() {
    // Those of JAX's own primitives end at the next parameter, whatever brackets they hold.
    for value in [
        "None",
        "<f at 0x1>",
        "<f (x b=1]>",
        "f(axis=(1, 2))",
        "<f {a b=1)>",
    ] {
        check(&format!(
            "{{ lambda ; a:f32[2]. let\n    b:f32[] = reduce_sum[axes=(0,) out_sharding={value}] a\n  in (b,) }}"
        ));
    }
}
