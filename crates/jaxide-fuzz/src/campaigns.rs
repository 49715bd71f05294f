//! Tests that choose at random, and go on for as long as they are told to.

/// A test that takes its choices from seeds.
pub struct Campaign {
    /// Its name on the command line.
    pub name: &'static str,
    /// What must hold.
    pub about: &'static str,
    /// What `cargo test` is told to find it.
    pub test: &'static [&'static str],
    /// The environment variable of the number of cases.
    pub count: &'static str,
    /// The environment variable of the first seed.
    pub seed: &'static str,
    /// Whether a case has a seed of its own, or all have one.
    pub seed_each: bool,
    /// As many cases as take about a quarter of a minute.
    pub round: u64,
}

/// All of them.
pub const CAMPAIGNS: &[Campaign] = &[
    Campaign {
        name: "differences",
        about: "typed programs over all primitives mean the same in the interpreter and on every instruction set",
        test: &[
            "-p",
            "jaxide-cpu",
            "--test",
            "differences",
            "what_check_accepts",
        ],
        count: "JAXIDE_CASES",
        seed: "JAXIDE_SEED",
        seed_each: false,
        round: 1000,
    },
    Campaign {
        name: "closures",
        about: "programs written against the public API are right in every way to run them",
        test: &["-p", "jaxide", "--test", "closures", "in_every_way"],
        count: "JAXIDE_CLOSURES",
        seed: "JAXIDE_CLOSURES_SEED",
        seed_each: true,
        round: 2000,
    },
    Campaign {
        name: "archives",
        about: "hostile archives are read or refused, soon and within the limit of memory",
        test: &[
            "-p",
            "jaxide",
            "--features",
            "npz,safetensors",
            "--test",
            "archives",
            "random_archives",
        ],
        count: "JAXIDE_ARCHIVES",
        seed: "JAXIDE_ARCHIVES_SEED",
        seed_each: true,
        round: 2000,
    },
    Campaign {
        name: "command-lines",
        about: "command lines are done or refused with the exit status and the words that are documented",
        test: &[
            "-p",
            "jaxide-cli",
            "--test",
            "arguments",
            "random_command_lines",
        ],
        count: "JAXIDE_COMMAND_LINES",
        seed: "JAXIDE_COMMAND_LINES_SEED",
        seed_each: true,
        round: 1000,
    },
];
