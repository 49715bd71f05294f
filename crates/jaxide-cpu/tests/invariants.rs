//! What does not change in a loop is computed once, outside of it; equal loops are one; and the results are the interpreter's.

use jaxide_core::jaxpr::parse::parse;
use jaxide_core::{Tensor, eval};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};
use proptest::prelude::*;

fn loops_of(text: &str) -> String {
    let jaxpr = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let program = compile(&jaxpr, &CompileOptions::default()).unwrap();
    program.loops_text()
}

/// How many loops of this kind a program has, and how deep each is in others.
fn depths(loops: &str, kind: &str) -> Vec<usize> {
    let mut depths: Vec<usize> = loops
        .lines()
        .filter(|line| {
            let code = line.trim_start();
            code.starts_with(kind) || code.contains(&format!("= {kind}"))
        })
        .map(|line| line.len() - line.trim_start().len())
        .collect();
    depths.sort_unstable();
    depths
}

/// A loop of `body` until `c` reaches `bound`.
fn growth(result: &str, from: &str, bound: &str, step: &str) -> String {
    format!(
        "{result}:f32[] = while[
          body_jaxpr={{ lambda ; c:f32[]. let d:f32[] = {step} c 1.5:f32[] in (d,) }}
          body_nconsts=0
          cond_jaxpr={{ lambda ; b:f32[] c:f32[]. let d:bool[] = lt c b in (d,) }}
          cond_nconsts=1
        ] {bound} {from}"
    )
}

/// A scan over `a` with this body, whose slice is `a` and whose carry is `h`; `t` is what is stacked.
fn scan_of(body: &str) -> String {
    format!(
        "{{ lambda ; a:f32[7] p:f32[]. let
          z:f32[] y:f32[7] = scan[
            ft_in=((None,), (None,), (None,))
            ft_out=((None,), (None,))
            jaxpr={{ lambda ; p:f32[] h:f32[] a:f32[]. let
              {body}
              g:f32[] = add t h
            in (g, t) }}
            length=7
            reverse=False
            unroll=1
          ] p 0.0:f32[] a
        in (z, y) }}"
    )
}

#[test]
fn factors_may_be_swapped() {
    let first = growth("q", "a", "9.0:f32[]", "mul");
    let second = growth("e", "a", "q", "add");
    let one = loops_of(&scan_of(&format!("{first}\n{second}\nt:f32[] = mul q e")));
    let other = loops_of(&scan_of(&format!("{first}\n{second}\nt:f32[] = mul e q")));
    assert_eq!(depths(&one, "while"), depths(&other, "while"));
    // Both loops stand beside each other in the scan, and no more than once.
    assert_eq!(depths(&one, "while"), [4, 4], "{one}");
}

#[test]
fn invariant_loops_leave_loops() {
    // `q` depends on nothing that the scan changes.
    let first = growth("q", "p", "9.0:f32[]", "mul");
    let second = growth("e", "a", "q", "add");
    let loops = loops_of(&scan_of(&format!("{first}\n{second}\nt:f32[] = mul e q")));
    assert_eq!(depths(&loops, "while"), [2, 4], "{loops}");
}

#[test]
fn what_a_condition_needs_is_computed_before_the_loop() {
    let text = "{ lambda ; p:f32[] a:f32[]. let
        l:f32[] = exp p
        e:f32[] = while[
          body_jaxpr={ lambda ; l:f32[] c:f32[]. let m:f32[] = sin l; d:f32[] = add c m in (d,) }
          body_nconsts=1
          cond_jaxpr={ lambda ; l:f32[] c:f32[]. let k:f32[] = cos l; d:bool[] = lt c k in (d,) }
          cond_nconsts=1
        ] l l a
      in (e,) }";
    let loops = loops_of(text);
    let inside = loops.split("while").nth(1).unwrap();
    let inside = inside.split("yield").next().unwrap();
    // A comparison and a sum.
    assert_eq!(inside.matches(" = ").count(), 3, "{loops}");
}

#[test]
fn sums_in_a_turn_that_do_not_change_leave_the_loop() {
    let text = "{ lambda ; w:f32[40] a:f32[]. let
        z:f32[] = scan[
          ft_in=((None,), (None,), ())
          ft_out=((None,), ())
          jaxpr={ lambda ; w:f32[40] h:f32[]. let
            k:f32[] = exp h
            e:f32[] = while[
              body_jaxpr={ lambda ; w:f32[40] k:f32[] c:f32[]. let
                  u:f32[40] = mul w k
                  s:f32[] = reduce_sum[axes=(0,) out_sharding=None] u
                  d:f32[] = add c s
                in (d,) }
              body_nconsts=2
              cond_jaxpr={ lambda ; c:f32[]. let
                  d:bool[] = lt c 5.0:f32[]
                in (d,) }
              cond_nconsts=0
            ] w k h
          in (e,) }
          length=4
          reverse=False
          unroll=1
        ] w a
      in (z,) }";
    let loops = loops_of(text);
    let turns = loops.split("= while").nth(1).unwrap();
    let turns = turns.split("yield").next().unwrap();
    assert!(!turns.contains("for "), "{loops}");
    // The steps of the scan, and the sum in each.
    assert_eq!(depths(&loops, "for").len(), 2, "{loops}");
}

#[test]
fn equal_loops_are_one() {
    let first = growth("q", "p", "9.0:f32[]", "mul");
    let again = growth("e", "p", "9.0:f32[]", "mul");
    let other = growth("k", "p", "8.0:f32[]", "mul");
    let text = |second: &str, name: &str| {
        format!("{{ lambda ; p:f32[]. let\n{first}\n{second}\nt:f32[] = sub q {name} in (t,) }}")
    };
    assert_eq!(depths(&loops_of(&text(&again, "e")), "while").len(), 1);
    assert_eq!(depths(&loops_of(&text(&other, "k")), "while").len(), 2);
    // Also where one of them is inside of another loop.
    let inner = scan_of(&format!("{again}\nt:f32[] = mul e a"));
    let jaxpr = inner.replacen("let", &format!("let\n{first}"), 1);
    let jaxpr = jaxpr.replace("in (z, y) }", "in (z, y, q) }");
    let loops = loops_of(&jaxpr);
    assert_eq!(depths(&loops, "while").len(), 1, "{loops}");
}

/// Equations with jaxprs inside, of `a` and to a result; each has one loop.
fn equation(kind: &str, result: &str) -> String {
    let newton = growth("m", "k", "9.0:f32[]", "mul");
    match kind {
        "jit" => format!(
            "{result}:f32[] = jit[name=f jaxpr={{ lambda ; k:f32[]. let {newton} in (m,) }}] a"
        ),
        "CustomRoot" => format!(
            "{result}:f32[] = CustomRoot[
              solve_jaxpr={{ lambda ; k:f32[] l:f32[]. let {newton} in (m,) }}
              has_aux=False
            ] a 1.0:f32[] a a"
        ),
        "custom_linear_solve" => {
            let jaxpr = format!("{{ lambda ; n:f32[] k:f32[]. let {newton} in (m,) }}");
            format!(
                "{result}:f32[] = custom_linear_solve[
                  const_lengths=_LinearSolveTuple(matvec=1, vecmat=1, solve=1, transpose_solve=1)
                  jaxprs=_LinearSolveTuple(matvec={jaxpr}, vecmat={jaxpr}, solve={jaxpr}, transpose_solve={jaxpr})
                ] a a a a a"
            )
        }
        "scan" => format!(
            "{result}:f32[] = scan[
              ft_in=((), (None,), ())
              ft_out=((None,), ())
              jaxpr={{ lambda ; k:f32[]. let m:f32[] = sin k in (m,) }}
              length=9
              reverse=False
              unroll=1
            ] a"
        ),
        _ => format!(
            "g{result}:i32[] = convert_element_type[new_dtype=int32 weak_type=False] a
             {result}:f32[] = cond[ branches=(
              {{ lambda ; k:f32[]. let {newton} in (m,) }}
              {{ lambda ; k:f32[]. let in (k,) }}
            ) ] g{result} a"
        ),
    }
}

#[test]
fn equal_equations_with_jaxprs_inside_are_one() {
    for kind in ["jit", "CustomRoot", "custom_linear_solve", "scan", "cond"] {
        let one = format!(
            "{{ lambda ; a:f32[]. let {}; t:f32[] = mul q 3.0:f32[] in (t,) }}",
            equation(kind, "q")
        );
        let two = format!(
            "{{ lambda ; a:f32[]. let {}\n{}; e:f32[] = mul q 2.0:f32[]; t:f32[] = add e p in (t,) }}",
            equation(kind, "q"),
            equation(kind, "p")
        );
        let count = |text: &str| {
            let loops = loops_of(text);
            (
                depths(&loops, "while").len() + depths(&loops, "for").len(),
                loops,
            )
        };
        let ((want, first), (got, loops)) = (count(&one), count(&two));
        assert_eq!(want, 1, "{kind}\n{first}");
        assert_eq!(got, want, "{kind}\n{loops}");
    }
}

#[test]
fn a_loop_without_turns_does_not_run_what_may_not_end() {
    // The inner loop does not end for numbers that are not positive; the outer one then has no turn.
    let inner = "m:f32[] = while[
          body_jaxpr={ lambda ; c:f32[]. let d:f32[] = mul c 2.0:f32[] in (d,) }
          body_nconsts=0
          cond_jaxpr={ lambda ; c:f32[]. let d:bool[] = lt c 9.0:f32[] in (d,) }
          cond_nconsts=0
        ] p";
    let text = format!(
        "{{ lambda ; p:f32[] a:f32[]. let
          e:f32[] = while[
            body_jaxpr={{ lambda ; p:f32[] c:f32[]. let {inner}; d:f32[] = add c m in (d,) }}
            body_nconsts=1
            cond_jaxpr={{ lambda ; p:f32[] c:f32[]. let l:f32[] = mul p 30.0:f32[]; d:bool[] = lt c l in (d,) }}
            cond_nconsts=1
          ] p p a
          in (e,) }}"
    );
    let jaxpr = parse(&text).unwrap();
    let program = compile(&jaxpr, &CompileOptions::default()).unwrap();
    let run = |p: f32| {
        let args = [Tensor::scalar(p), Tensor::scalar(1.0f32)];
        let got = program.run(&args).unwrap()[0].as_slice::<f32>().unwrap()[0];
        let want = eval::eval(&jaxpr, &args).unwrap()[0]
            .as_slice::<f32>()
            .unwrap()[0];
        assert_eq!(got, want);
        got
    };
    assert_eq!(run(-1.0), 1.0);
    // 1 + 5 * 16 > 75: from 2.5 the inner loop gives 10.
    assert_eq!(run(2.5), 81.0);
    // It runs before the outer loop, not in each of its turns.
    let loops = program.loops_text();
    let depths = depths(&loops, "while");
    assert!(depths.len() == 2 && depths[0] == depths[1], "{loops}");
}

/// Random programs of integers with loops and branches in the conditions and bodies of others.
struct Texts {
    state: u64,
    names: usize,
}

/// The last equations of a jaxpr, and its results, from the names that are known.
type Last<'a> = &'a dyn Fn(&mut Texts, &[String]) -> (String, Vec<String>);

impl Texts {
    fn below(&mut self, bound: usize) -> usize {
        self.state = self
            .state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.state >> 33) as usize % bound
    }

    fn name(&mut self) -> String {
        self.names += 1;
        let mut name = String::new();
        let mut rest = self.names + 26;
        while rest > 0 {
            name.insert(0, (b'a' + (rest % 26) as u8) as char);
            rest /= 26;
        }
        // Not a word of the language.
        format!("{name}_")
    }

    fn pick(&mut self, names: &[String]) -> String {
        let k = self.below(names.len());
        names[k].clone()
    }

    /// A jaxpr with these parameters, of which `keep` gives the results.
    fn jaxpr(&mut self, params: usize, depth: usize, keep: Last<'_>) -> String {
        let params: Vec<String> = (0..params).map(|_| self.name()).collect();
        let mut known = params.clone();
        let mut text = String::new();
        for _ in 0..1 + self.below(3) {
            text += &self.equation(&mut known, depth);
        }
        let (last, results) = keep(self, &known);
        let typed: Vec<String> = params.iter().map(|name| format!("{name}:i32[]")).collect();
        format!(
            "{{ lambda ; {}. let\n{text}{last} in ({},) }}",
            typed.join(" "),
            results.join(", ")
        )
    }

    fn equation(&mut self, known: &mut Vec<String>, depth: usize) -> String {
        let result = self.name();
        let captured = known.join(" ");
        let count = known.len();
        let one = |texts: &mut Texts, known: &[String]| {
            let sum = texts.name();
            let (a, b) = (texts.pick(known), texts.pick(known));
            (format!("{sum}:i32[] = add {a} {b}\n"), vec![sum])
        };
        let text = match if depth == 0 { 0 } else { self.below(5) } {
            // From 0 up to a number below 4 that the condition computes; the second carry is free.
            1 | 2 => {
                let cond = self.jaxpr(count + 2, depth - 1, &|texts, known| {
                    let (few, less) = (texts.name(), texts.name());
                    let any = texts.pick(known);
                    let text = format!(
                        "{few}:i32[] = and {any} 3:i32[]\n{less}:bool[] = lt {} {few}\n",
                        known[count]
                    );
                    (text, vec![less])
                });
                let body = self.jaxpr(count + 2, depth - 1, &|texts, known| {
                    let next = texts.name();
                    let (text, mut results) = one(texts, known);
                    results.insert(0, next.clone());
                    (
                        format!("{next}:i32[] = add {} 1:i32[]\n{text}", known[count]),
                        results,
                    )
                });
                let (turns, start) = (self.name(), self.pick(known));
                let text = format!(
                    "{turns}:i32[] {result}:i32[] = while[ body_jaxpr={body} body_nconsts={count} cond_jaxpr={cond} cond_nconsts={count} ] {captured} {captured} 0:i32[] {start}\n"
                );
                known.push(turns);
                text
            }
            3 => {
                let body = self.jaxpr(count + 1, depth - 1, &one);
                let (length, start) = (self.below(4), self.pick(known));
                let consts = "None, ".repeat(count);
                format!(
                    "{result}:i32[] = scan[ ft_in=(({consts}), (None,), ()) ft_out=((None,), ()) jaxpr={body} length={length} reverse=False unroll=1 ] {captured} {start}\n"
                )
            }
            4 => {
                let branches: Vec<String> = (0..2 + self.below(2))
                    .map(|_| self.jaxpr(count, depth - 1, &one))
                    .collect();
                let index = self.pick(known);
                format!(
                    "{result}:i32[] = cond[ branches=( {} ) ] {index} {captured}\n",
                    branches.join(" ")
                )
            }
            _ => {
                let op = ["add", "sub", "mul", "max", "xor"][self.below(5)];
                let (a, b) = (self.pick(known), self.pick(known));
                format!("{result}:i32[] = {op} {a} {b}\n")
            }
        };
        known.push(result);
        text
    }
}

fn random_text(seed: u64) -> String {
    let mut texts = Texts {
        state: seed,
        names: 0,
    };
    texts.jaxpr(3, 3, &|texts, known| {
        let product = texts.name();
        let (a, b) = (texts.pick(known), texts.pick(known));
        let last = known[known.len() - 1].clone();
        (
            format!("{product}:i32[] = mul {a} {b}\n"),
            vec![product, last],
        )
    })
}

proptest! {
    #![proptest_config(jaxide_testing::config(200))]

    #[test]
    fn loops_in_loops_give_what_the_interpreter_gives(seed: u64, args in prop::array::uniform3(-9i32..9)) {
        let text = random_text(seed);
        let jaxpr = parse(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        let args = args.map(Tensor::scalar);
        let want = eval::eval(&jaxpr, &args).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let program = compile(&jaxpr, &CompileOptions::default()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let got = program.run(&args).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&got, &want, "{}\n{}", text, program.loops_text());
    }
}

#[test]
fn conditions_leave_the_state_as_it_is() {
    // The condition writes into the array that it looks at, which the loop then returns.
    let updates = [
        "e:f32[3] = scatter-add[dimension_numbers=ScatterDimensionNumbers(update_window_dims=(), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,), operand_batching_dims=(), scatter_indices_batching_dims=()) indices_are_sorted=False mode=GatherScatterMode.FILL_OR_DROP unique_indices=False update_consts=() update_jaxpr={ lambda ; q:f32[] r:f32[]. let s:f32[] = add q r in (s,) }] d i u",
        "e:f32[3] = dynamic_update_slice d u 1:i32[]",
    ];
    for (update, next) in updates
        .iter()
        .flat_map(|update| [(update, "f"), (update, "x"), (update, "g")])
    {
        let text = format!(
            "{{ lambda ; x:f32[3] i:i32[2,1] u:f32[2]. let
                _:i32[] r:f32[3] = while[
                  body_jaxpr={{ lambda ; x:f32[3] k:i32[] f:f32[3]. let
                      l:i32[] = add k 1:i32[]
                      g:f32[3] = neg f
                    in (l, {next}) }}
                  body_nconsts=1
                  cond_jaxpr={{ lambda ; i:i32[2,1] u:f32[2] k:i32[] d:f32[3]. let
                      {update}
                      s:f32[] = reduce_sum[axes=(0,) out_sharding=None] e
                      p:bool[] = lt k 3:i32[]
                      q:bool[] = ge s -99.0:f32[]
                      t:bool[] = and p q
                    in (t,) }}
                  cond_nconsts=2
                ] i u x 0:i32[] x
              in (r,) }}"
        );
        let closed = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let args = [
            Tensor::from_vec(&[3], vec![1.0f32, 2.0, 3.0]).unwrap(),
            Tensor::from_vec(&[2, 1], vec![0i32, 2]).unwrap(),
            Tensor::from_vec(&[2], vec![7.0f32, 7.0]).unwrap(),
        ];
        let want = eval::eval(&closed, &args).unwrap();
        for isa in Isa::available() {
            let options = CompileOptions {
                isa: Some(isa),
                ..CompileOptions::default()
            };
            let got = compile(&closed, &options).unwrap().run(&args).unwrap();
            assert_eq!(got, want, "{isa:?}: {text}");
        }
    }
}
