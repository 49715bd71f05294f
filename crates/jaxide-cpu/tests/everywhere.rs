//! Runs a program in every way there is, for tests of how programs are planned.

use jaxide_core::{ClosedJaxpr, Tensor, eval, parse};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, Executable, compile, plan};
use jaxide_testing::arrays::{Numbers, arguments};
use jaxide_testing::compare::{Nearness, compare};

/// How a program was planned on the best instruction set.
pub(crate) struct Planned {
    /// Bytes of its temporaries.
    pub(crate) arena: usize,
    /// Its loops, printed.
    pub(crate) loops: String,
}

/// Runs a program on every instruction set: with one thread near the interpreter's results; with several, and with each access looked at,
/// the same bits.
pub(crate) fn everywhere(text: &str, nearness: Nearness) -> Planned {
    let jaxpr = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let args = arguments(&jaxpr, Numbers::Tame, 7);
    let want = eval::eval(&jaxpr, &args).unwrap();
    let mut first = None;
    for isa in Isa::available() {
        let run = |threads: usize, checked: bool| -> (Vec<Tensor>, Executable) {
            let options = CompileOptions {
                threads: Some(threads),
                isa: Some(isa),
                checked,
                ..CompileOptions::default()
            };
            let program = compile(&jaxpr, &options).unwrap();
            let results = program
                .run(&args)
                .unwrap_or_else(|error| panic!("{} {error}\n{}", isa.name(), program.loops_text()));
            (results, program)
        };
        let (one, program) = run(1, false);
        let loops = program.loops_text();
        compare(&one, &want, nearness)
            .unwrap_or_else(|why| panic!("{}: {why}\n{loops}", isa.name()));
        for (threads, checked) in [(2, false), (3, false), (8, false), (1, true)] {
            let (again, _) = run(threads, checked);
            compare(&again, &one, Nearness::Bits)
                .unwrap_or_else(|why| panic!("{}, {threads} threads: {why}\n{loops}", isa.name()));
        }
        let arena = program.stats().arena;
        first.get_or_insert(Planned { arena, loops });
    }
    first.expect("an instruction set")
}

/// Runs a program on as many threads as a limit of memory has room for: of each case, there is room for `.0` more than one, and `.1` are taken. The
/// plan says what each takes, and results are the same bits.
pub(crate) fn threads_within_a_limit(jaxpr: &ClosedJaxpr, cases: &[(usize, usize)]) {
    let plan = plan(jaxpr).unwrap();
    assert!(plan.for_each_thread > 0);
    let args = arguments(jaxpr, Numbers::Tame, 5);
    let run = |more: usize| {
        let options = CompileOptions {
            threads: Some(8),
            memory_limit: Some(plan.total() + more * plan.for_each_thread),
            ..CompileOptions::default()
        };
        let program = compile(jaxpr, &options).unwrap();
        (program.stats().memory, program.run(&args).unwrap())
    };
    let (_, one) = run(0);
    for &(more, taken) in cases {
        let (memory, results) = run(more);
        assert_eq!(memory, plan.total() + taken * plan.for_each_thread);
        compare(&results, &one, Nearness::Bits).unwrap();
    }
}
