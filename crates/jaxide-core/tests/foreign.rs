//! Texts with primitives and element types that are not JAX's own (`tests/files/foreign`): each is printed back as it
//! stands, by name in what is noted and refused. The snapshots show text, notes and refusals side by side.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jaxide_core::eval::eval;
use jaxide_core::jaxpr::notes;
use jaxide_core::prims::Name;
use jaxide_core::simplify::{dce, rewrite};
use jaxide_core::transform::{Step, apply};
use jaxide_core::{ClosedJaxpr, Error, Tensor, check, parse};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Name and text of every file.
fn texts() -> Vec<(String, String)> {
    let mut texts: Vec<(String, String)> =
        std::fs::read_dir(repository().join("tests/files/foreign"))
            .unwrap()
            .map(|file| {
                let path = file.unwrap().path();
                let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
                (name, std::fs::read_to_string(&path).unwrap())
            })
            .collect();
    texts.sort();
    assert!(texts.len() > 30, "texts are missing");
    texts
}

/// Zeros of the types of the arguments; opaque ones get numbers, which are refused.
fn zeros(jaxpr: &ClosedJaxpr) -> Vec<Tensor> {
    let zero = |aval: &jaxide_core::Aval| Tensor::zeros(&aval.shape, aval.dtype).unwrap();
    jaxpr.in_avals().iter().map(zero).collect()
}

/// The steps by their names, for a function of this type.
fn steps(jaxpr: &ClosedJaxpr) -> Vec<(&'static str, Step)> {
    let floats = |avals: Vec<jaxide_core::Aval>| {
        let numbered = avals.into_iter().enumerate();
        let floats = numbered.filter(|(_, aval)| aval.dtype.is_inexact());
        floats.map(|(index, _)| index).collect::<Vec<_>>()
    };
    let (argnums, outs) = (floats(jaxpr.in_avals()), floats(jaxpr.out_avals()));
    let vmap = Step::Vmap {
        in_axes: vec![Some(0); jaxpr.in_avals().len()],
        out_axes: 0,
        axis_size: 2,
        axis_name: Some(Name::new("i")),
    };
    vec![
        (
            "jvp",
            Step::Jvp {
                argnums: argnums.clone(),
                tangent_outs: outs.clone(),
            },
        ),
        (
            "linearize",
            Step::Linearize {
                argnums: argnums.clone(),
                tangent_outs: outs.clone(),
            },
        ),
        (
            "vjp",
            Step::Vjp {
                argnums,
                cotangent_outs: outs,
            },
        ),
        ("vmap", vmap),
    ]
}

fn outcome<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => "possible".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn texts_are_printed_back_as_they_stand() {
    for (name, text) in texts() {
        let jaxpr = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(format!("{jaxpr}\n"), text, "{name}");
        assert_eq!(parse(&jaxpr.to_string()).unwrap(), jaxpr, "{name}");
        assert_eq!(check(&jaxpr), Ok(()), "{name}");
    }
}

#[test]
fn what_is_noted_and_refused() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(repository().join("snapshots/foreign"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (name, text) in texts() {
        let mut jaxpr = parse(&text).unwrap();
        let notes: Vec<String> = notes(&jaxpr)
            .iter()
            .map(|note| format!("note: {note}\n"))
            .collect();
        assert!(!notes.is_empty(), "{name}");
        let consts = jaxpr.jaxpr.const_avals();
        jaxpr.consts = consts
            .iter()
            .map(|aval| Tensor::zeros(&aval.shape, aval.dtype).unwrap())
            .collect();
        let mut refusals = vec![format!("eval: {}", outcome(eval(&jaxpr, &zeros(&jaxpr))))];
        for (step, request) in steps(&jaxpr) {
            refusals.push(format!("{step}: {}", outcome(apply(&jaxpr, &request))));
        }
        let shown = format!("{text}\n{}\n{}", notes.concat(), refusals.join("\n"));
        settings.bind(|| insta::assert_snapshot!(name, shown));
    }
}

/// A foreign equation is refused by name wherever its meaning is needed; the file, with the line, is known.
#[test]
fn refusals_have_a_name_and_a_line() {
    let text = "{ lambda ; a:f32[3]. let\n    b:f32[3] = odd[k=1] a\n  in (b,) }";
    let jaxpr = parse(text).unwrap();
    let mut refused = vec![eval(&jaxpr, &zeros(&jaxpr)).unwrap_err()];
    for (_, step) in steps(&jaxpr) {
        refused.push(apply(&jaxpr, &step).unwrap_err());
    }
    for error in refused {
        assert_eq!(error.operation(), Some("primitive `odd`"), "{error}");
        assert_eq!(error.place().to_string(), "2:5", "{error}");
    }
}

/// What a transformation does not touch stays as it is.
#[test]
fn equations_that_are_not_touched_stay() {
    let text =
        "{ lambda ; a:f32[3] b:f32[3]. let c:f32[3] = odd[k=1] a; d:f32[3] = mul b c in (d,) }";
    let jaxpr = parse(text).unwrap();
    let jvp = Step::Jvp {
        argnums: vec![1],
        tangent_outs: vec![0],
    };
    let expected = "{ lambda ; a:f32[3] b:f32[3] c:f32[3]. let
    d:f32[3] = odd[k=1] a
    e:f32[3] = mul b d
    f:f32[3] = mul c d
  in (e, f) }";
    assert_eq!(apply(&jaxpr, &jvp).unwrap().to_string(), expected);
    let vmap = |axis_name: Option<&str>| Step::Vmap {
        in_axes: vec![None, Some(0)],
        out_axes: 0,
        axis_size: 2,
        axis_name: axis_name.map(Name::new),
    };
    let batched = apply(&jaxpr, &vmap(None)).unwrap().to_string();
    assert!(batched.contains("odd[k=1] a\n"), "{batched}");
    // It may communicate along an axis that its parameters name.
    let named = parse(&text.replace("k=1", "axes=('k',)")).unwrap();
    assert!(apply(&named, &vmap(Some("j"))).is_ok());
    assert!(apply(&named, &vmap(Some("k"))).is_err());
}

/// Without results, or with references, an equation is there for its effect; others go where nothing uses their results.
#[test]
fn dead_equations() {
    let after = |text: &str| rewrite(&dce(&parse(text).unwrap()).unwrap()).to_string();
    let dead = "{ lambda ; a:f32[]. let b:f32[] = odd a; effect a in (a,) }";
    assert_eq!(after(dead), "{ lambda ; a:f32[]. let effect a in (a,) }");
    let inner = "{ lambda ; a:f32[]. let b:f32[] = odd[jaxpr={ lambda ; c:f32[]. let effect c in (c,) }] a in (a,) }";
    assert!(after(inner).contains("odd["));
    let state = "{ lambda ; a:Ref{f32[]} c:f32[]. let _:f32[] = odd a in (c,) }";
    assert!(after(state).contains("odd a"));
}

/// The name of a known primitive or type that is near is said, and no other.
#[test]
fn near_names_are_suggested() {
    let help = |text: &str| {
        let notes = notes(&parse(text).unwrap());
        notes.into_iter().map(|note| note.help).collect::<Vec<_>>()
    };
    let of = |word: &str| format!("{{ lambda ; a:f32[]. let b:f32[] = {word} a in (b,) }}");
    assert_eq!(help(&of("snih")), [Some("did you mean `sinh`?".to_owned())]);
    assert_eq!(help(&of("frobnicate")), [None]);
    assert!(help(&of("sinh")).is_empty());
    let types = "{ lambda ; a:float64[2] b:quaternion[]. let  in () }";
    assert_eq!(help(types), [Some("did you mean `f64`?".to_owned()), None]);
}

/// Each primitive and type is noted once, at the first equation that has it, inner ones included.
#[test]
fn notes_name_each_word_once() {
    let (_, text) = texts()
        .into_iter()
        .find(|(name, _)| name == "several_jaxprs")
        .unwrap();
    let twice = text.replace("cos", "odder").replace("sin", "odder");
    let found: BTreeSet<(String, String)> = notes(&parse(&twice).unwrap())
        .into_iter()
        .map(|note| {
            let word = note.message.split('`').nth(1).unwrap().to_owned();
            (word, note.source.to_string())
        })
        .collect();
    let expected = [("odd", "2:5"), ("odder", "5:13")];
    let expected = expected.map(|(word, place)| (word.to_owned(), place.to_owned()));
    assert_eq!(found, BTreeSet::from(expected));
}

/// A definition may use variables of the jaxprs around all its uses, and of no others.
#[test]
fn definitions_use_variables_around_them() {
    let text = |argument: &str, result: &str| {
        format!(
            "let f = {{ lambda ; a:f32[]. let b:f32[] = mul a c in (b,) }} in\n{{ lambda ; d:f32[] {argument}:f32[]. let e:f32[] = jit[name=f jaxpr=f] d in ({result},) }}"
        )
    };
    let unbound = parse(&text("g", "e")).unwrap_err();
    assert_eq!(
        unbound.diagnostics()[0].message,
        "the variable `c` is not bound"
    );
    let elsewhere = "let f = { lambda ; a:f32[]. let b:f32[] = mul a c in (b,) } in
let g = { lambda ; c:f32[]. let d:f32[] = sin c in (d,) } in
{ lambda ; e:f32[]. let f:f32[] = jit[name=f jaxpr=f] e; g:f32[] = jit[name=g jaxpr=g] f in (g,) }";
    let errors = check(&parse(elsewhere).unwrap()).unwrap_err();
    assert!(
        errors[0]
            .message()
            .contains("neither this jaxpr binds nor one around it"),
        "{}",
        errors[0]
    );
    let later = "let f = { lambda ; a:f32[]. let b:f32[] = mul a c in (b,) } in
{ lambda ; d:f32[]. let e:f32[] = jit[name=f jaxpr=f] d; c:f32[] = sin e in (c,) }";
    assert!(check(&parse(later).unwrap()).is_err());
}

/// Texts that are not laid out as they are printed are read back as the same program: where a value of unknown meaning
/// ends depends on the layout around it.
#[test]
fn other_layouts_are_read_back() {
    let equation = |params: &str| {
        format!("{{ lambda ; a:f32[3]. let\n    b:f32[3] = odd[{params}] a\n  in (b,) }}")
    };
    // One value that looks like two on one line; lines that start where printed parameters do, inside brackets and not.
    let long = "o".repeat(70);
    let texts = [
        equation("\n      x=1 b=2\n    "),
        equation("\n     x=1\n      b=2\n    "),
        equation(&format!("\n     x=1\n      b={long}\n    ")),
        equation(&format!(
            "\n        x=F(\n      b={long}\n{long}\n{long}\n)\n    "
        )),
        equation("x=(1,\n      b=2) y=3"),
    ];
    for text in texts {
        let jaxpr = parse(&text).unwrap();
        let printed = jaxpr.to_string();
        assert_eq!(parse(&printed).unwrap(), jaxpr, "{text}\n{printed}");
        assert_eq!(parse(&printed).unwrap().to_string(), printed);
    }
}

/// A text with the name of a definition is that name, unless the definition would use itself: there it is text, and
/// where neither is meant the definition gets another name.
#[test]
fn words_and_definitions_are_told_apart() {
    let body = "{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }";
    let use_twice = "c:f32[] = jit[name=f jaxpr=f] z; d:f32[] = jit[name=f jaxpr=f] c";
    let named = format!(
        "let f = {body} in\n{{ lambda ; z:f32[]. let {use_twice}; e:f32[] = odd[how=f] d in (e,) }}"
    );
    let jaxpr = parse(&named).unwrap();
    let mut inner = 0;
    jaxpr.jaxpr.eqns[2].prim.visit(&mut |_| inner += 1);
    assert_eq!(inner, 1);
    // The call's name is no definition's before printing makes it one.
    let long = (0..12)
        .map(|k| format!("v{k}:f32[] = sin a;"))
        .collect::<String>();
    let text = format!(
        "{{ lambda ; z:f32[]. let c:f32[] = jit[name=f jaxpr={{ lambda ; a:f32[]. let {long} b:f32[] = cos a in (b,) }}] z; e:f32[] = odd[how=f] c in (e,) }}"
    );
    let jaxpr = parse(&text).unwrap();
    let printed = jaxpr.to_string();
    assert!(printed.starts_with("let f1 = "), "{printed}");
    assert_eq!(parse(&printed).unwrap(), jaxpr);
    // `g` uses `f`, whose text is the name of `g`.
    let around = "let g = { lambda ; a:f32[]. let b:f32[] = jit[name=f jaxpr=f] a; c:f32[] = jit[name=f jaxpr=f] b in (c,) } in\nlet f = { lambda ; d:f32[]. let e:f32[] = odd[how=g] d in (e,) } in\n{ lambda ; h:f32[]. let i:f32[] = jit[name=g jaxpr=g] h; j:f32[] = jit[name=g jaxpr=g] i in (j,) }";
    let jaxpr = parse(around).unwrap();
    assert_eq!(parse(&jaxpr.to_string()).unwrap(), jaxpr);
    // Known primitives leave no doubt.
    let error = parse(&around.replace("odd[how=g]", "jit[name=x jaxpr=g]")).unwrap_err();
    assert!(error.to_string().contains("uses itself"), "{error}");
}

/// A definition with variables of the jaxprs around it stays one however short it is and seldom used, and what only a
/// jaxpr inside it binds is none of them.
#[test]
fn variables_around_a_definition_stay_bound() {
    let text = "let f = { lambda ; a:f32[]. let b:f32[] = mul a c in (b,) } in
{ lambda ; d:f32[] c:f32[]. let e:f32[] = jit[name=f jaxpr=f] d in (e,) }";
    let jaxpr = parse(text).unwrap();
    assert_eq!(parse(&jaxpr.to_string()).unwrap(), jaxpr, "{jaxpr}");
    let inner = "let f = { lambda ; a:f32[]. let
    b:f32[] = jit[name=g jaxpr={ lambda ; a:f32[]. let c:f32[] = sin a in (c,) }] a
    d:f32[] = mul b c
  in (d,) } in
{ lambda ; e:f32[]. let f:f32[] = jit[name=f jaxpr=f] e in (f,) }";
    assert!(parse(inner).is_err());
}

/// Several operands called `_` are read back as those that were meant, or printed by name.
#[test]
fn unused_results_that_are_used_are_read_back() {
    let text = "{ lambda ; a:f32[2] b:f32[2]. let
    _:f32[2] _:f32[2] = jit[
      name=f
      jaxpr={ lambda ; a:f32[2] b:f32[2]. let
          _:f32[2] = sin a
          _:f32[2] = cos b
          _:f32[2] = odd _
        in (_, _) }
    ] a b
  in () }";
    let jaxpr = parse(text).unwrap();
    let printed = jaxpr.to_string();
    assert_eq!(parse(&printed).unwrap(), jaxpr, "{printed}");
}
