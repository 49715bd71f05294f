//! Loops over counters and a table, as algorithms of tables are written: in each turn some numbers are computed, change places, choose a
//! branch, or say where the table is read and written. Random ones, on every instruction set, have the interpreter's bits.

use crate::everywhere::everywhere;
use jaxide_testing::compare::Nearness;
use proptest::prelude::*;
use std::fmt::Write;

/// Carried numbers.
const NUMBERS: usize = 4;
/// Carried numbers, a float and the table.
const STATE: [&str; NUMBERS + 2] = ["i32[]", "i32[]", "i32[]", "i32[]", "f32[]", ""];

#[derive(Clone, Debug)]
enum Step {
    /// A number becomes that of two others, by one of [`OPERATIONS`].
    Compute(usize, usize, usize, usize),
    /// A number becomes a constant.
    Set(usize, i32),
    Exchange(usize, usize),
    /// A number becomes what is in the table, at two others.
    Read(usize, usize, usize),
    /// What is in the table becomes a number, by one of [`WRITES`].
    Write(usize, usize, usize, usize),
    /// The float is increased by a number.
    Count(usize),
    /// A vector is made of two numbers, and a number of it.
    Pair(usize, usize, usize),
    /// All of the table changes.
    Shift(usize),
    Repeat(usize, Vec<Step>),
    /// While a number is less than a constant, but no longer than so many turns.
    While(usize, i32, usize, Vec<Step>),
    Choose(usize, Vec<Step>, Vec<Step>),
}

const OPERATIONS: [&str; 6] = ["add", "sub", "max", "min", "xor", "and"];
const WRITES: usize = 4;

fn step() -> impl Strategy<Value = Step> {
    let number = || 0..NUMBERS;
    let leaf = prop_oneof![
        4 => (number(), 0..OPERATIONS.len(), number(), number()).prop_map(|(to, op, a, b)| Step::Compute(to, op, a, b)),
        2 => (number(), -3..9).prop_map(|(to, value)| Step::Set(to, value)),
        2 => (number(), number()).prop_map(|(a, b)| Step::Exchange(a, b)),
        2 => (number(), number(), number()).prop_map(|(to, i, j)| Step::Read(to, i, j)),
        3 => (0..WRITES, number(), number(), number()).prop_map(|(how, i, j, of)| Step::Write(how, i, j, of)),
        1 => number().prop_map(Step::Count),
        1 => (number(), number(), number()).prop_map(|(to, a, b)| Step::Pair(to, a, b)),
        1 => number().prop_map(Step::Shift),
    ];
    leaf.prop_recursive(3, 24, 5, move |inner| {
        let steps = || prop::collection::vec(inner.clone(), 1..5);
        prop_oneof![
            3 => (1..7usize, steps()).prop_map(|(turns, steps)| Step::Repeat(turns, steps)),
            2 => (number(), 0..40, 1..7usize, steps()).prop_map(|(of, most, turns, steps)| Step::While(of, most, turns, steps)),
            1 => (number(), steps(), steps()).prop_map(|(on, a, b)| Step::Choose(on, a, b)),
        ]
    })
}

/// The text of a program, and the table's type.
struct Text {
    table: String,
    shape: [usize; 2],
    names: usize,
}

impl Text {
    /// A new name, which is no word of the language.
    fn name(&mut self) -> String {
        self.names += 1;
        let mut rest = self.names;
        let mut name = String::from("v");
        while rest > 0 {
            name.push((b'a' + (rest % 26) as u8) as char);
            rest /= 26;
        }
        name
    }

    fn state(&mut self) -> Vec<String> {
        STATE.iter().map(|_| self.name()).collect()
    }

    fn typed(&self, names: &[String]) -> String {
        let types = STATE
            .iter()
            .map(|ty| if ty.is_empty() { &self.table } else { *ty });
        let each = names
            .iter()
            .zip(types)
            .map(|(name, ty)| format!("{name}:{ty}"));
        each.collect::<Vec<_>>().join(" ")
    }

    /// Equations of steps; gives the state behind them.
    fn steps(&mut self, steps: &[Step], mut state: Vec<String>, out: &mut String) -> Vec<String> {
        for step in steps {
            self.step(step, &mut state, out);
        }
        state
    }

    /// A jaxpr from state to state.
    fn body(&mut self, steps: &[Step]) -> String {
        let params = self.state();
        let mut equations = String::new();
        let results = self.steps(steps, params.clone(), &mut equations);
        let (params, results) = (self.typed(&params), results.join(", "));
        format!("{{ lambda ; {params}. let\n{equations}in ({results}) }}")
    }

    fn equation(&mut self, ty: &str, operation: &str, out: &mut String) -> String {
        let name = self.name();
        writeln!(out, "{name}:{ty} = {operation}").unwrap();
        name
    }

    fn step(&mut self, step: &Step, state: &mut Vec<String>, out: &mut String) {
        let table = self.table.clone();
        let last = NUMBERS + 1;
        match step {
            Step::Compute(to, op, a, b) => {
                let operation = format!("{} {} {}", OPERATIONS[*op], state[*a], state[*b]);
                state[*to] = self.equation("i32[]", &operation, out);
            }
            Step::Set(to, value) => {
                let operation = format!("max {value}:i32[] {value}:i32[]");
                state[*to] = self.equation("i32[]", &operation, out);
            }
            Step::Exchange(a, b) => state.swap(*a, *b),
            Step::Read(to, i, j) => {
                let (x, i, j) = (&state[last], &state[*i], &state[*j]);
                let slice = format!("dynamic_slice[slice_sizes=(1, 1)] {x} {i} {j}");
                let slice = self.equation("i32[1,1]", &slice, out);
                let number = format!("squeeze[dimensions=(0, 1)] {slice}");
                state[*to] = self.equation("i32[]", &number, out);
            }
            Step::Write(0, i, j, of) => {
                let update = format!("broadcast_in_dim {}", state[*of]);
                let update = self.equation("i32[1,1]", &update, out);
                let (x, i, j) = (&state[last], &state[*i], &state[*j]);
                let operation = format!("dynamic_update_slice {x} {update} {i} {j}");
                state[last] = self.equation(&table, &operation, out);
            }
            Step::Write(how, i, j, of) => {
                let index = self.pair(&state[*i].clone(), &state[*j].clone(), out);
                let (operation, mode, update) = match how {
                    1 => ("scatter", "FILL_OR_DROP", "None".to_owned()),
                    2 => ("scatter", "CLIP", "None".to_owned()),
                    _ => {
                        let [a, b, c] = [(); 3].map(|()| self.name());
                        let sum = format!(
                            "{{ lambda ; {a}:i32[] {b}:i32[]. let {c}:i32[] = add {a} {b} in ({c},) }}"
                        );
                        ("scatter-add", "FILL_OR_DROP", sum)
                    }
                };
                let operation = format!(
                    "{operation}[
                      dimension_numbers=ScatterDimensionNumbers(update_window_dims=(), inserted_window_dims=(0, 1), scatter_dims_to_operand_dims=(0, 1), operand_batching_dims=(), scatter_indices_batching_dims=())
                      indices_are_sorted=True
                      mode=GatherScatterMode.{mode}
                      unique_indices=True
                      update_consts=()
                      update_jaxpr={update}
                    ] {} {index} {}",
                    state[last], state[*of]
                );
                state[last] = self.equation(&table, &operation, out);
            }
            Step::Count(of) => {
                let bounded = format!("clamp -99:i32[] {} 99:i32[]", state[*of]);
                let bounded = self.equation("i32[]", &bounded, out);
                let float =
                    format!("convert_element_type[new_dtype=float32 weak_type=False] {bounded}");
                let float = self.equation("f32[]", &float, out);
                let sum = format!("add {} {float}", state[NUMBERS]);
                state[NUMBERS] = self.equation("f32[]", &sum, out);
            }
            Step::Pair(to, a, b) => {
                let pair = self.pair(&state[*a].clone(), &state[*b].clone(), out);
                let turned = self.equation("i32[2]", &format!("rev[dimensions=(0,)] {pair}"), out);
                let first =
                    format!("slice[limit_indices=(1,) start_indices=(0,) strides=None] {turned}");
                let first = self.equation("i32[1]", &first, out);
                state[*to] =
                    self.equation("i32[]", &format!("squeeze[dimensions=(0,)] {first}"), out);
            }
            Step::Shift(by) => {
                let operation = format!("add {} {}", state[last], state[*by]);
                state[last] = self.equation(&table, &operation, out);
            }
            Step::Repeat(turns, steps) => {
                let body = self.body(steps);
                let results = self.state();
                let nones = vec!["None"; STATE.len()].join(", ");
                writeln!(
                    out,
                    "{} = scan[ft_in=((), ({nones}), ()) ft_out=(({nones}), ()) jaxpr={body} length={turns} reverse=False unroll=1] {}",
                    self.typed(&results),
                    state.join(" ")
                )
                .unwrap();
                *state = results;
            }
            Step::While(of, most, turns, steps) => {
                let [counter, next, less, enough, both] = [(); 5].map(|()| self.name());
                let params = self.state();
                let mut equations = String::new();
                let bodies = self.steps(steps, params.clone(), &mut equations);
                let tested = self.state();
                let results = self.state();
                let used = self.name();
                writeln!(
                    out,
                    "{used}:i32[] {} = while[
                      body_jaxpr={{ lambda ; {counter}:i32[] {}. let
                        {equations}{next}:i32[] = add {counter} 1:i32[]
                        in ({next}, {}) }}
                      body_nconsts=0
                      cond_jaxpr={{ lambda ; {counter}:i32[] {}. let
                        {less}:bool[] = lt {} {most}:i32[]
                        {enough}:bool[] = lt {counter} {turns}:i32[]
                        {both}:bool[] = and {less} {enough}
                        in ({both},) }}
                      cond_nconsts=0
                    ] 0:i32[] {}",
                    self.typed(&results),
                    self.typed(&params),
                    bodies.join(", "),
                    self.typed(&tested),
                    tested[*of],
                    state.join(" ")
                )
                .unwrap();
                *state = results;
            }
            Step::Choose(on, first, second) => {
                let branches = [self.body(first), self.body(second)].join("\n");
                let results = self.state();
                writeln!(
                    out,
                    "{} = cond[branches=({branches})] {} {}",
                    self.typed(&results),
                    state[*on],
                    state.join(" ")
                )
                .unwrap();
                *state = results;
            }
        }
    }

    /// A vector of two numbers.
    fn pair(&mut self, a: &str, b: &str, out: &mut String) -> String {
        let [a, b] =
            [a, b].map(|of| self.equation("i32[1]", &format!("broadcast_in_dim {of}"), out));
        self.equation("i32[2]", &format!("concatenate[dimension=0] {a} {b}"), out)
    }

    fn program(&mut self, steps: &[Step]) -> String {
        let body = self.body(steps);
        let [rows, columns] = self.shape;
        assert_eq!(self.table, format!("i32[{rows},{columns}]"));
        body
    }
}

fn text(steps: &[Step], shape: [usize; 2]) -> String {
    let [rows, columns] = shape;
    let table = format!("i32[{rows},{columns}]");
    let names = 0;
    Text {
        table,
        shape,
        names,
    }
    .program(steps)
}

fn steps(shape: [usize; 2], turns: usize, body: &[Step]) {
    everywhere(
        &text(&[Step::Repeat(turns, body.to_vec())], shape),
        Nearness::Bits,
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn loops_over_tables(
        rows in 1..4usize,
        columns in prop_oneof![Just(1), Just(2), 3..6usize, Just(40), Just(300)],
        turns in 1..9usize,
        body in prop::collection::vec(step(), 1..7),
    ) {
        steps([rows, columns], turns, &body);
    }
}

/// Numbers that change places in each turn of loops inside each other: the pointers to them do too.
#[test]
fn numbers_change_places() {
    let exchange = [
        Step::Exchange(0, 1),
        Step::Compute(2, 0, 0, 2),
        Step::Exchange(1, 2),
    ];
    for turns in 1..6 {
        steps([2, 5], turns, &exchange);
        let inner = Step::Repeat(turns, exchange.to_vec());
        steps(
            [2, 5],
            3,
            &[inner.clone(), Step::Exchange(0, 3), Step::Write(1, 0, 1, 2)],
        );
        let whiles = Step::While(1, 30, turns, exchange.to_vec());
        steps([2, 5], 3, &[whiles, Step::Read(3, 0, 2), inner]);
    }
}

/// A number that a loop inside leaves, and a branch that changes it or not.
#[test]
fn numbers_are_left_by_loops_and_branches() {
    let inner = Step::Repeat(3, vec![Step::Compute(0, 0, 0, 1), Step::Write(3, 0, 1, 0)]);
    let choose = Step::Choose(0, vec![Step::Set(1, 4)], vec![inner.clone()]);
    steps(
        [3, 4],
        4,
        &[inner.clone(), Step::Compute(1, 1, 1, 0), choose.clone()],
    );
    steps([3, 4], 4, &[choose, Step::Shift(0), inner]);
}

/// The table of common subsequences, where each element is computed from three neighbours: one nest that writes one element.
#[test]
fn an_element_and_its_index_are_computed_where_it_is_written() {
    let body = [
        Step::Set(3, 1),
        Step::Compute(1, 1, 0, 3),
        Step::Read(2, 1, 0),
        Step::Read(1, 0, 1),
        Step::Compute(2, 2, 2, 1),
        Step::Write(1, 0, 1, 2),
        Step::Compute(0, 0, 0, 3),
    ];
    let program = text(&[Step::Repeat(20, body.to_vec())], [3, 40]);
    let planned = everywhere(&program, Nearness::Bits);
    let in_loop = planned.loops.split("for i0").nth(1).unwrap();
    let in_loop = in_loop.split("\n\n").next().unwrap();
    assert!(in_loop.matches("nest").count() <= 3, "{}", planned.loops);
}

/// Rows that a loop inside stacks in a small array, of which numbers are read behind it: each row is copied to a place of its own.
#[test]
fn rows_are_stacked_in_small_arrays() {
    for rows in 1..6usize {
        let last = rows - 1;
        let text = format!(
            "{{ lambda ; va:f32[] vt:f32[50,50]. let
              vac:i32[9] = iota[dimension=0 dtype=int32 shape=(9,) sharding=None] 
              vb:f32[] vu:f32[50,50] vc:f32[9] = scan[
                ft_in=((), (None, None), (None,))
                ft_out=((None, None), (None,))
                jaxpr={{ lambda ; vd:f32[] vv:f32[50,50] vi:i32[]. let
                    vad:i32[{rows}] = iota[dimension=0 dtype=int32 shape=({rows},) sharding=None] 
                    ve:f32[] vw:f32[50,50] vf:f32[{rows}] = scan[
                      ft_in=((), (None, None), (None,))
                      ft_out=((None, None), (None,))
                      jaxpr={{ lambda ; vg:f32[] vx:f32[50,50] vk:i32[]. let
                          vh:f32[1,1] = dynamic_slice[slice_sizes=(1, 1)] vx vk vk
                          vj:f32[] = squeeze[dimensions=(0, 1)] vh
                          vl:f32[] = add vj vg
                          vm:f32[1,1] = broadcast_in_dim vg
                          vy:f32[50,50] = dynamic_update_slice vx vm vk vk
                        in (vl, vy, vg) }}
                      length={rows}
                      reverse=False
                      unroll=1
                    ] vd vv vad
                    vn:f32[1] = slice[limit_indices=({rows},) start_indices=({last},) strides=None] vf
                    vo:f32[] = squeeze[dimensions=(0,)] vn
                    vp:f32[1] = slice[limit_indices=(1,) start_indices=(0,) strides=None] vf
                    vq:f32[] = squeeze[dimensions=(0,)] vp
                    vr:f32[] = sub vo vq
                    vs:f32[] = add vr ve
                    vaa:f32[1,1] = broadcast_in_dim vo
                    vab:f32[50,50] = dynamic_update_slice vw vaa vi 3:i32[]
                  in (vs, vab, vq) }}
                length=9
                reverse=False
                unroll=1
              ] va vt vac
            in (vb, vu, vc) }}"
        );
        everywhere(&text, Nearness::Relative(1e-5));
    }
}
