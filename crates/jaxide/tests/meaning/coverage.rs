//! That no public function is left out: their names are read from the source.

use std::collections::BTreeSet;
use std::path::Path;

/// Functions without cases of their own, and why.
const WITHOUT_CASES: &[(&str, &str)] = &[
    (
        "average_returned",
        "its cases are those of `average+returned`",
    ),
    (
        "at_subtract",
        "its cases are among those of indices: `at.subtract`",
    ),
    ("fix", "is `trunc`"),
    (
        "mod_",
        "its cases are those of `mod`, which is a word of Rust",
    ),
    ("array_repr", "gives text: that of `{:?}`"),
    ("array_str", "gives text: that of `{}`"),
    ("can_cast", "a question to element types"),
    ("finfo", "a question to element types"),
    ("iinfo", "a question to element types"),
    ("isdtype", "a question to element types"),
    ("issubdtype", "a question to element types"),
    ("promote_types", "a question to element types"),
    ("result_type", "a question to element types"),
    ("ndim", "a number of the array's type"),
    ("shape", "the array's type"),
    ("size", "a number of the array's type"),
];

/// Methods of arrays that no case calls, and why.
const METHODS_WITHOUT_CASES: [(&str, &str); 5] = [
    ("mt", "is the function of `numpy::linalg`"),
    (
        "transpose",
        "moves elements only; the primitive is tested for itself",
    ),
    ("unpack", "the same as `index` at 0, 1, ..."),
    ("zeros", "is the function of `numpy`"),
    ("ones", "is the function of `numpy`"),
];

/// Fails when a function of `numpy` or a method of arrays has neither cases nor a reason, or a reason is out of date.
pub(crate) fn check(files: &[&str]) {
    let lines = files.iter().flat_map(|text| text.lines());
    let with_cases: BTreeSet<String> = lines
        .filter_map(|line| line.split(' ').next())
        .map(str::to_owned)
        .collect();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut functions = public_functions(&source.join("numpy"));
    assert!(functions.contains("floor_divide") && functions.contains("concatenate"));
    let elsewhere = recorded_functions();
    functions.retain(|name| !elsewhere.contains(name));
    covered(&functions, &with_cases, WITHOUT_CASES);

    let methods = public_functions_in(&source.join("array/methods.rs"), true);
    assert!(methods.contains("sin") && methods.contains("sum_axes"));
    let calls = include_str!("functions.rs");
    let called = |name: &&String| {
        calls.contains(&format!(".{name}("))
            || calls.contains(&format!(" {name} "))
            || calls.contains(&format!(" {name};"))
    };
    let called: BTreeSet<String> = methods.iter().filter(called).cloned().collect();
    covered(&methods, &called, &METHODS_WITHOUT_CASES);
}

/// The functions that the cases of `tests/functions` are about, without their modules.
fn recorded_functions() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/functions/cases");
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in text.lines() {
            let mut words = line.split(' ');
            let name = words.find(|word| !matches!(*word, "vmap" | "grad"));
            let last = name.and_then(|name| name.rsplit('.').next());
            names.extend(last.map(str::to_owned));
        }
    }
    names
}

fn covered(public: &BTreeSet<String>, with_cases: &BTreeSet<String>, reasons: &[(&str, &str)]) {
    let has_reason = |name: &str| reasons.iter().any(|(own, _)| *own == name);
    let wrong = |name: &&String| with_cases.contains(*name) == has_reason(name);
    let wrong: Vec<&String> = public.iter().filter(wrong).collect();
    assert!(
        wrong.is_empty(),
        "these need cases in record.py, or a reason why not, and exactly one of them: {wrong:?}"
    );
    for (name, _) in reasons {
        assert!(public.contains(*name), "there is no `{name}`");
    }
}

/// The names of the public functions in the files of a folder and its folders.
fn public_functions(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        names.extend(if path.is_dir() {
            public_functions(&path)
        } else {
            public_functions_in(&path, false)
        });
    }
    names
}

/// The names behind `pub fn`, of methods or of functions of the module, and the first words of the rows of macro calls, which define a
/// function each.
fn public_functions_in(path: &Path, methods: bool) -> BTreeSet<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut names = BTreeSet::new();
    // The macro whose rows these are.
    let mut table: Option<&str> = None;
    for line in text.lines() {
        if let Some(name) = line.strip_suffix("! {")
            && !name.starts_with([' ', '/'])
            && !name.starts_with("macro_rules")
            && !matches!(name, "options" | "thread_local")
        {
            table = Some(name);
        } else if line == "}" {
            table = None;
        }
        let start = if methods { "    pub fn " } else { "pub fn " };
        let function = line.strip_prefix(start).map(|rest| {
            let end = rest.find(['(', '<']).unwrap_or(rest.len());
            &rest[..end]
        });
        let row = line
            .strip_prefix("    ")
            .filter(|row| {
                table.is_some() && row.starts_with(|first: char| first.is_ascii_lowercase())
            })
            .and_then(|row| row.split(' ').next())
            .filter(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'))
            .filter(|name| *name != "let");
        match (function, row) {
            // The name of a macro's function is a variable.
            (Some(name), _) if !name.starts_with('$') => names.insert(name.to_owned()),
            (None, Some(name)) if table == Some("updates") => names.insert(format!("at_{name}")),
            (None, Some(name)) => names.insert(name.to_owned()),
            _ => false,
        };
    }
    names
}
