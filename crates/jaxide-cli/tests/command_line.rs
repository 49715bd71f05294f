//! What the program says about its command line: help, completions, suggestions, and what is wrong with others.

mod run;

use run::{Folder, parts};

const SINE: &str = "{ lambda ; a:f32[]. let b:f32[] = sin a in (b,) }\n";

/// What a command line that is asked for help or the like prints.
fn told(folder: &Folder, words: &[&str]) -> String {
    let mut command = folder.command(env!("CARGO_BIN_EXE_jaxide"));
    let (status, text, message) = parts(&command.args(words).output().unwrap());
    assert_eq!((status, message), (Some(0), String::new()), "{words:?}");
    text
}

/// The commands that the help lists, `help` itself not.
fn commands(folder: &Folder) -> Vec<String> {
    let help = told(folder, &["help"]);
    let list = help.split("Commands:\n").nth(1).unwrap();
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.map(|line| line.split_whitespace().next().unwrap().to_owned());
    names.filter(|name| name != "help").collect()
}

#[test]
fn every_command_has_its_help() {
    let folder = Folder::new("help");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../../snapshots/help");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let shown = |name: &str, words: [&[&str]; 3]| {
        let texts = words.map(|words| told(&folder, words));
        assert!(texts.iter().all(|text| *text == texts[0]), "{name}");
        settings.bind(|| insta::assert_snapshot!(name, texts[0]));
    };
    shown("jaxide", [&["help"], &["--help"], &["-h"]]);
    let commands = commands(&folder);
    assert!(commands.len() > 7, "{commands:?}");
    for name in commands.iter().map(String::as_str) {
        // Whatever else is asked for, and wrong.
        let late = &[name, "--threads=1", "--time-limit=1", "--help"];
        let words = if ["eval", "lower", "bench"].contains(&name) {
            late
        } else {
            &late[2..]
        };
        let words = [&[name][..], words].concat();
        let last = if words.len() == 5 {
            &words[1..]
        } else {
            &words
        };
        shown(name, [&["help", name], &[name, "-h"], last]);
    }
}

#[test]
fn shells_complete_every_word() {
    let folder = Folder::new("completions");
    let commands = commands(&folder);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = told(&folder, &["completions", shell]);
        for command in &commands {
            assert!(script.contains(command), "{shell}: {command}");
            let help = told(&folder, &["help", command]);
            let options = help.lines().filter_map(|line| {
                let (_, rest) = line.split_once("--")?;
                let is_option = line.starts_with("  ") && !line.contains("jaxide ");
                is_option.then(|| rest.split([' ', '[', '=']).next().unwrap_or_default())
            });
            for option in options {
                // fish has them without dashes.
                assert!(script.contains(option), "{shell}: {command} --{option}");
            }
        }
    }
}

/// A shell really does complete with the script.
#[cfg(unix)]
#[test]
fn bash_completes() {
    let folder = Folder::new("bash");
    let completed = |words: &str| {
        let script = format!(
            "source <(\"$0\" completions bash); COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _jaxide jaxide \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        let mut bash = folder.command("bash");
        bash.args(["-c", &script, env!("CARGO_BIN_EXE_jaxide")]);
        // Where there is no bash there is nothing to complete.
        bash.output().ok().map(|output| parts(&output))
    };
    for (words, expected) in [
        ("jaxide co", "compile conformance completions"),
        ("jaxide lower --emit l", "loops lanes"),
        ("jaxide transform f.jaxpr --jac", "--jacfwd --jacrev"),
        ("jaxide completions z", "zsh"),
    ] {
        let Some((status, text, message)) = completed(words) else {
            return;
        };
        let said = (status, text.trim(), message.as_str());
        assert_eq!(said, (Some(0), expected, ""), "{words}");
    }
}

#[test]
fn misspelt_words_are_recognised() {
    let folder = Folder::new("suggestions");
    folder.write("f.jaxpr", SINE);
    for (line, suggestion) in [
        ("chek f.jaxpr", "a similar subcommand exists: 'check'"),
        (
            "tranform f.jaxpr",
            "a similar subcommand exists: 'transform'",
        ),
        (
            "eval f.jaxpr --thraeds 2",
            "a similar argument exists: '--threads'",
        ),
        (
            "fmt f.jaxpr --clasic",
            "a similar argument exists: '--classic'",
        ),
        (
            "check f.jaxpr --time-limt 1",
            "a similar argument exists: '--time-limit'",
        ),
        (
            "transform f.jaxpr --vamp",
            "a similar argument exists: '--vmap'",
        ),
        (
            "transform f.jaxpr --gard argnums=0",
            "a similar argument exists: '--grad'",
        ),
        (
            "eval f.jaxpr --backend nativ",
            "a similar value exists: 'native'",
        ),
        (
            "lower f.jaxpr --emit loop",
            "a similar value exists: 'loops'",
        ),
        ("completions bahs", "a similar value exists: 'bash'"),
    ] {
        let (status, text, message) = parts(&folder.run(line));
        assert_eq!((status, text.as_str()), (Some(2), ""), "{line}");
        let tip = format!("\n\n  tip: {suggestion}\n\n");
        assert!(message.contains(&tip), "{line}: {message}");
    }
}

/// How each kind of mistake ends, and how what is said of it begins.
#[test]
fn mistakes_have_their_exit_status() {
    let folder = Folder::new("statuses");
    folder.write("f.jaxpr", SINE);
    folder.write(
        "wrong.jaxpr",
        "{ lambda ; a:f32[2]. let b:f32[3] = sin a in (b,) }\n",
    );
    folder.write("text.jaxpr", "{ lambda ; a:f32[2]. let");
    folder.write("wide.jaxpr", SINE.replace("; ", ";\n"));
    let long = "{ lambda ; a:f32[1048576]. let b:f32[] = reduce_sum[axes=(0,) out_sharding=None] a in (b,) }\n";
    folder.write("long.jaxpr", long);
    let missing = "error: the following required arguments were not provided:\n  <";
    let empty = "error: a value is required for '";
    let once = "' cannot be used multiple times\n";
    for (status, line, begins, says) in [
        // All is well.
        (0, "", "jaxide 0.1.0\n", "-V"),
        (0, "", "jaxide 0.1.0\n", "--version"),
        (0, "check f.jaxpr", "", ""),
        (0, "check --memory 1G --time-limit 60 f.jaxpr", "", ""),
        (0, "--memory=1G --time-limit=60 check f.jaxpr", "", ""),
        (0, "check -- f.jaxpr", "", ""),
        // Something failed.
        (1, "check none.jaxpr", "error: none.jaxpr: No such file", ""),
        (1, "check .", "error: .: it is a directory\n", ""),
        (1, "check text.jaxpr", "error: ", "--> text.jaxpr:1:"),
        (1, "check wrong.jaxpr", "error: sin: ", "--> wrong.jaxpr:1:"),
        (1, "check f.jaxpr wrong.jaxpr", "error: sin: ", ""),
        (1, "eval wrong.jaxpr", "error: sin: ", ""),
        (
            1,
            "eval f.jaxpr",
            "error: the program takes 1 arguments",
            "",
        ),
        (
            1,
            "eval f.jaxpr --inputs none.npz",
            "error: none.npz: No such",
            "",
        ),
        (
            1,
            "bench long.jaxpr --memory 1M",
            "error: 4194304 bytes of memory",
            "",
        ),
        (
            1,
            "transform f.jaxpr --grad argnums=1",
            "error: argument 1 is",
            "",
        ),
        (1, "conformance none", "error: none", ""),
        // The command line makes no sense.
        (2, "", "error: 'jaxide' requires a subcommand", ""),
        (
            2,
            "--memory 1G",
            "error: 'jaxide' requires a subcommand",
            "",
        ),
        (
            2,
            "frobnicate",
            "error: unrecognized subcommand 'frobnicate'\n",
            "",
        ),
        (2, "FMT", "error: unrecognized subcommand 'FMT'\n", ""),
        (2, "-x", "error: unexpected argument '-x' found\n", ""),
        (2, "check", missing, "<FILE>...\n"),
        (2, "eval", missing, "<FILE>\n"),
        (2, "transform", missing, "<FILE>\n"),
        (2, "lower", missing, "<FILE>\n"),
        (2, "bench", missing, "<FILE>\n"),
        (2, "conformance", missing, "<DIR>\n"),
        (2, "completions", missing, "<SHELL>\n"),
        (2, "fmt --write", missing, "<FILE>...\n"),
        (
            2,
            "fmt --write -",
            "error: --write changes a FILE, and standard input is none\n",
            "",
        ),
        (
            2,
            "fmt -w f.jaxpr -",
            "error: --write changes a FILE, and standard input is none\n",
            "",
        ),
        (
            2,
            "fmt --check --write f.jaxpr",
            "error: the argument '--check' cannot be used with '--write'\n",
            "",
        ),
        (
            2,
            "fmt -w --check f.jaxpr",
            "error: the argument '--write' cannot be used with '--check'\n",
            "",
        ),
        (
            2,
            "fmt --repeat",
            "error: unexpected argument '--repeat' found\n",
            "",
        ),
        (
            2,
            "eval f.jaxpr f.jaxpr",
            "error: unexpected argument 'f.jaxpr' found\n",
            "",
        ),
        (
            2,
            "conformance a b",
            "error: unexpected argument 'b' found\n",
            "",
        ),
        (2, "eval f.jaxpr --output", empty, "--output <Y.npz>'"),
        (2, "eval f.jaxpr --inputs=", empty, "--inputs <X.npz>'"),
        (2, "eval f.jaxpr --threads", empty, "--threads <N>'"),
        (2, "check --memory", empty, "--memory <BYTES>'"),
        (
            2,
            "bench f.jaxpr --json=1",
            "error: unexpected value '1' for '--json' found",
            "",
        ),
        (
            2,
            "bench f.jaxpr --json --json",
            "error: the argument '--json",
            once,
        ),
        (
            2,
            "eval f.jaxpr --threads 1 --threads 2",
            "error: the argument '--threads <N>",
            once,
        ),
        (
            2,
            "transform --memory 1G --memory 1G f.jaxpr",
            "error: the argument '--memory <BYTES>",
            once,
        ),
        (
            2,
            "check --time-limit=1 --time-limit=1 f.jaxpr",
            "error: the argument '--time-limit <SECONDS>",
            once,
        ),
        (
            2,
            "eval f.jaxpr --backend gpu",
            "error: invalid value 'gpu' for '--backend <BACKEND>'\n",
            "native-portable-checked]",
        ),
        (
            2,
            "lower f.jaxpr --emit jaxp",
            "error: invalid value 'jaxp' for '--emit <STAGE>'\n",
            "[possible values: jaxpr, simplified, graph,",
        ),
        (
            2,
            "transform f.jaxpr --grad argnums=x",
            "error: argnums is a list of numbers from 0\n",
            "",
        ),
        (
            2,
            "transform f.jaxpr --vmap in_axes=0",
            "error: --vmap needs axis_size\n",
            "",
        ),
        (
            2,
            "transform f.jaxpr -grad",
            "error: unexpected argument '-g' found\n",
            "",
        ),
        // The time was over.
        (
            124,
            "bench f.jaxpr --seconds 100 --time-limit 0.2",
            "error: ",
            "",
        ),
    ] {
        let words = if status == 0 && line.is_empty() {
            says
        } else {
            line
        };
        let (code, text, message) = parts(&folder.run(words));
        assert_eq!(code, Some(status), "{words}: {message}");
        if status == 0 {
            assert_eq!((text.as_str(), message.as_str()), (begins, ""), "{words}");
            continue;
        }
        assert!(
            message.starts_with(begins) && message.contains(says),
            "{words}: {message}"
        );
        let hint = "\n\nFor more information, try '--help'.\n";
        assert_eq!(message.ends_with(hint), status == 2, "{words}: {message}");
        assert_eq!(text, "", "{words}");
    }
    // Names that are empty are none.
    for words in [
        &["check", ""][..],
        &["conformance", ""],
        &["eval", "f.jaxpr", "--output", ""],
    ] {
        let mut command = folder.command(env!("CARGO_BIN_EXE_jaxide"));
        let (status, _, message) = parts(&command.args(words).output().unwrap());
        assert_eq!(status, Some(2), "{words:?}");
        assert!(message.starts_with(empty), "{words:?}: {message}");
    }
    // So is an environment that makes no sense, but for help.
    let run = |words: &[&str]| {
        let mut command = folder.command(env!("CARGO_BIN_EXE_jaxide"));
        command.args(words).env("JAXIDE_MEMORY", "much");
        parts(&command.output().unwrap())
    };
    let said = "error: JAXIDE_MEMORY: `much` is no number of bytes, such as 500M or 4G\n\nFor more information, try '--help'.\n";
    assert_eq!(
        run(&["check", "f.jaxpr"]),
        (Some(2), String::new(), said.to_owned())
    );
    assert_eq!(run(&["check", "--help"]).0, Some(0));
}

/// Settings stand behind a `=` or in the next word, and steps are applied in the order in which they are given.
#[test]
fn steps_keep_their_order_and_settings() {
    let folder = Folder::new("steps");
    folder.write(
        "f.jaxpr",
        "{ lambda ; a:f32[] b:f32[]. let c:f32[] = mul a b in (c,) }\n",
    );
    let transformed = |words: &str| {
        told(
            &folder,
            &[&["transform"], &words.split(' ').collect::<Vec<_>>()[..]].concat(),
        )
    };
    let joined = transformed("f.jaxpr --grad=argnums=1 --jit=name=g");
    assert!(joined.contains("name=g"), "{joined}");
    for same in [
        "f.jaxpr --grad argnums=1 --jit name=g",
        "--grad argnums=1 f.jaxpr --jit name=g",
        "--grad argnums=1 --jit name=g -- f.jaxpr",
        "--grad argnums=1 --time-limit 60 --jit name=g f.jaxpr",
    ] {
        assert_eq!(transformed(same), joined, "{same}");
    }
    assert_ne!(transformed("--jit name=g --grad argnums=1 f.jaxpr"), joined);
    assert_ne!(transformed("--grad --jit name=g f.jaxpr"), joined);
    assert_eq!(
        transformed("f.jaxpr --value-and-grad argnums=0,1"),
        transformed("f.jaxpr --value_and_grad argnums=0,1")
    );
    // Three steps, of which two are of one kind, and its settings differ.
    let nested =
        transformed("f.jaxpr --jit name=inner --vmap in_axes=0,None,axis_size=2 --jit name=outer");
    let (inner, outer) = (nested.find("name=inner"), nested.find("name=outer"));
    assert!(outer.is_some() && outer < inner, "{nested}");
    assert!(nested.contains("a:f32[2] b:f32[]"), "{nested}");
}
