//! Products with small matrices in loops, their derivatives and batches, at sizes around the thresholds: as the interpreter, on
//! every instruction set, and the same bits for any number of threads.

use crate::everywhere::everywhere;
use jaxide_core::jaxpr::parse::parse;
use jaxide_core::transform::{Step, apply};
use jaxide_core::{ClosedJaxpr, Error, eval};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};
use jaxide_testing::arrays::{Numbers, arguments};
use jaxide_testing::compare::{Nearness, compare};
use jaxide_testing::laws::vjp;
use proptest::prelude::*;

/// `c = tanh(c @ w * s + a)`, or with the matrix's axes the other way round, from a first state that may be a batch.
#[derive(Clone, Debug)]
struct Recurrence {
    width: usize,
    batch: Option<usize>,
    steps: usize,
    /// Which axis of the matrix is contracted.
    axis: usize,
    matrix_first: bool,
    reverse: bool,
    /// The matrix is carried along instead of captured.
    carried: bool,
    /// A second product with the same matrix in each step.
    twice: bool,
    dtype: &'static str,
}

impl Recurrence {
    fn text(&self) -> String {
        let (n, t) = (self.width, self.dtype);
        let steps = self.steps;
        let state = match self.batch {
            Some(batch) => format!("{t}[{batch},{n}]"),
            None => format!("{t}[{n}]"),
        };
        let inputs = state.replace('[', &format!("[{steps},"));
        let own = usize::from(self.batch.is_some());
        // The result's axes are those of the first operand, then those of the second.
        let product = |result: &str, state_: &str| {
            if self.matrix_first && self.batch.is_none() {
                format!(
                    "{result}:{state} = dot_general[dimension_numbers=(([{}], [0]), ([], [])) preferred_element_type={}] w {state_}",
                    self.axis,
                    long(t)
                )
            } else {
                format!(
                    "{result}:{state} = dot_general[dimension_numbers=(([{own}], [{}]), ([], [])) preferred_element_type={}] {state_} w",
                    self.axis,
                    long(t)
                )
            }
        };
        let again = if self.twice {
            format!("{}\n k:{state} = sub j g", product("j", "i"))
        } else {
            format!("k:{state} = sub g i")
        };
        let body = format!(
            "{}\n h:{state} = mul g 0.25:{t}[]\n e:{state} = add h a\n i:{state} = tanh e\n {again}\n l:{state} = mul k 0.5:{t}[]",
            product("g", "c")
        );
        let w = format!("{t}[{n},{n}]");
        let (consts, carries, first, more) = if self.carried {
            ("", "None, None", format!("w:{w} c:{state}"), "w, ")
        } else {
            ("None, ", "None,", format!("w:{w} c:{state}"), "")
        };
        let (outs, results) = if self.carried {
            ("None, None", format!("m:{w} y:{state} z:{inputs}"))
        } else {
            ("None,", format!("y:{state} z:{inputs}"))
        };
        format!(
            "{{ lambda ; w:{w} c:{state} x:{inputs}. let
              {results} = scan[
                ft_in=(({consts}), ({carries}), (None,))
                ft_out=(({outs}), (None,))
                jaxpr={{ lambda ; {first} a:{state}. let
                  {body}
                in ({more}l, i) }}
                length={steps}
                reverse={}
                unroll=1
              ] w c x
            in (y, z) }}",
            if self.reverse { "True" } else { "False" }
        )
    }
}

fn long(dtype: &str) -> &'static str {
    if dtype == "f32" { "float32" } else { "float64" }
}

fn recurrences() -> impl Strategy<Value = Recurrence> {
    let width = prop::sample::select(vec![
        1, 2, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 64, 65, 96, 100,
    ]);
    let batch = prop::sample::select(vec![None, None, Some(1), Some(3), Some(8), Some(17)]);
    (
        width,
        batch,
        2usize..6,
        0usize..2,
        any::<[bool; 4]>(),
        any::<bool>(),
    )
        .prop_map(
            |(width, batch, steps, axis, [matrix_first, reverse, carried, twice], wide)| {
                Recurrence {
                    width,
                    batch,
                    steps,
                    axis,
                    matrix_first,
                    reverse,
                    carried,
                    twice,
                    dtype: if wide { "f64" } else { "f32" },
                }
            },
        )
}

fn agree(jaxpr: &ClosedJaxpr, seed: u64, nearness: Nearness) -> Result<(), TestCaseError> {
    let fail = |message: String| TestCaseError::fail(format!("{message}\n{jaxpr}"));
    let args = arguments(jaxpr, Numbers::Tame, seed);
    let want = eval::eval(jaxpr, &args).map_err(|error| fail(error.to_string()))?;
    for isa in Isa::available() {
        let run = |threads: usize| {
            let options = CompileOptions {
                threads: Some(threads),
                isa: Some(isa),
                ..CompileOptions::default()
            };
            let program = compile(jaxpr, &options)?;
            Ok((program.run(&args)?, program.loops_text()))
        };
        let run = |threads| run(threads).map_err(|error: Error| fail(error.to_string()));
        let ((one, loops), (three, _)) = (run(1)?, run(3)?);
        let fail = |message: String| fail(format!("{} {message}\n{loops}", isa.name()));
        compare(&one, &want, nearness).map_err(fail)?;
        compare(&three, &one, Nearness::Bits).map_err(fail)?;
    }
    Ok(())
}

fn nearness(recurrence: &Recurrence) -> Nearness {
    Nearness::Relative(if recurrence.dtype == "f32" {
        1e-3
    } else {
        1e-10
    })
}

proptest! {
    #![proptest_config(jaxide_testing::config(24))]

    #[test]
    fn steps_agree(recurrence in recurrences(), seed: u64) {
        let jaxpr = parse(&recurrence.text()).map_err(|error| TestCaseError::fail(format!("{error}\n{}", recurrence.text())))?;
        agree(&jaxpr, seed, nearness(&recurrence))?;
    }

    #[test]
    fn gradients_agree(recurrence in recurrences(), seed: u64) {
        let jaxpr = parse(&recurrence.text()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let gradient = apply(&jaxpr, &vjp(&jaxpr)).map_err(|error| TestCaseError::fail(error.to_string()))?;
        agree(&gradient, seed, nearness(&recurrence))?;
    }

    #[test]
    fn gradients_of_examples_agree(recurrence in recurrences(), seed: u64, count in 2usize..20) {
        let recurrence = Recurrence { batch: None, ..recurrence };
        let jaxpr = parse(&recurrence.text()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let gradient = apply(&jaxpr, &vjp(&jaxpr)).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut in_axes = vec![Some(0); gradient.in_avals().len()];
        in_axes[0] = None;
        let step = Step::Vmap { in_axes, out_axes: 0, axis_size: count, axis_name: None };
        let each = apply(&gradient, &step).map_err(|error| TestCaseError::fail(error.to_string()))?;
        agree(&each, seed, nearness(&recurrence))?;
    }
}

/// The gradient of a matrix is one product after the loop: no step adds to an array of its size.
#[test]
fn gradients_of_weights_are_summed_after_the_loop() {
    let recurrence = Recurrence {
        width: 24,
        batch: None,
        steps: 40,
        axis: 0,
        matrix_first: false,
        reverse: false,
        carried: false,
        twice: true,
        dtype: "f32",
    };
    let jaxpr = parse(&recurrence.text()).unwrap();
    let gradient = apply(&jaxpr, &vjp(&jaxpr)).unwrap();
    let program = compile(&gradient, &CompileOptions::default()).unwrap();
    let loops = program.loops_text();
    let in_loops = loops
        .lines()
        .filter(|line| line.starts_with("  ") && line.contains("dot_general"))
        .count();
    assert_eq!(in_loops, 0, "{loops}");
    // Both uses of the matrix.
    assert_eq!(
        loops
            .lines()
            .filter(|line| line.starts_with("call dot_general"))
            .count(),
        2,
        "{loops}"
    );
}

/// A carry that every turn passes on is known to the loop as what it is.
#[test]
fn carried_matrices_are_constants_of_the_loop() {
    let mut recurrence = Recurrence {
        width: 32,
        batch: None,
        steps: 9,
        axis: 1,
        matrix_first: false,
        reverse: false,
        carried: true,
        twice: false,
        dtype: "f32",
    };
    let loops = |recurrence: &Recurrence| {
        compile(
            &parse(&recurrence.text()).unwrap(),
            &CompileOptions::default(),
        )
        .unwrap()
        .loops_text()
    };
    let carried = loops(&recurrence);
    recurrence.carried = false;
    assert_eq!(carried, loops(&recurrence));
}

/// A small system of equations has its state in registers; a network of the same number of steps works on vectors in memory.
#[test]
fn small_states_are_in_registers() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let text =
        std::fs::read_to_string(here.join("../../benches/programs/pendulum_rk4.jaxpr")).unwrap();
    let loops = |text: &str| {
        let program = compile(&parse(text).unwrap(), &CompileOptions::default()).unwrap();
        program.loops_text()
    };
    let in_memory = |loops: &str| loops.lines().any(|line| line.starts_with("for "));
    let pendulum = loops(&text);
    assert!(!in_memory(&pendulum), "{pendulum}");
    let network = Recurrence {
        width: 16,
        batch: None,
        steps: 50,
        axis: 0,
        matrix_first: false,
        reverse: false,
        carried: false,
        twice: false,
        dtype: "f32",
    };
    let network = loops(&network.text());
    assert!(
        in_memory(&network) && !network.contains("call"),
        "{network}"
    );
}

#[test]
fn many_products_of_inputs_are_made_in_blocks_of_steps() {
    // Numbers of steps with and without divisors; both directions; a carry that is passed on, an index that counts, and two products.
    for (steps, reverse, blocks) in [
        (48, false, true),
        (60, true, true),
        (53, false, false),
        (6, true, false),
    ] {
        let (rows, width) = (3_000_000 / steps / 4 / 128, 128);
        let text = format!(
            "{{ lambda ; w:f32[7,{width}] v:f32[7,{width}] h:f32[{rows},{width}] q:f32[{width}] n:i32[] x:f32[{steps},{rows},7] y:f32[{steps},{width}]. let
                r:f32[{rows},{width}] s:f32[{width}] m:i32[] z:f32[{steps},{rows}] k:i32[{steps}] = scan[
                  ft_in=((None, None), (None, None, None), (None, None))
                  ft_out=((None, None, None), (None, None))
                  jaxpr={{ lambda ; w:f32[7,{width}] v:f32[7,{width}] h:f32[{rows},{width}] q:f32[{width}] n:i32[] x:f32[{rows},7] y:f32[{width}]. let
                      a:f32[{rows},{width}] = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=float32] x w
                      b:f32[{rows},{width}] = dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=float32] x v
                      c:f32[{rows},{width}] = mul a h
                      d:f32[{rows},{width}] = add c b
                      e:f32[1,{width}] = reshape[dimensions=None new_sizes=(1, {width}) sharding=None] y
                      f:f32[{rows},{width}] = add d e
                      g:f32[{rows},{width}] = tanh f
                      i:f32[{rows}] = reduce_sum[axes=(1,) out_sharding=None] g
                      j:i32[] = add n 1:i32[]
                    in (g, q, j, i, n) }}
                  length={steps} reverse={} unroll=1
                ] w v h q n x y
              in (r, s, m, z, k) }}",
            if reverse { "True" } else { "False" }
        );
        let planned = everywhere(&text, Nearness::Relative(1e-4));
        assert_eq!(
            planned.arena < 1_500_000,
            blocks,
            "{steps} steps take {} bytes\n{}",
            planned.arena,
            planned.loops
        );
    }
}
