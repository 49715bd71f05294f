//! That no public function is left out: their names are read from the source.

use std::collections::BTreeSet;
use std::path::Path;

/// Functions without cases of their own, and why.
const WITHOUT_CASES: [(&str, &str); 1] = [(
    "at",
    "the place alone has no value; its cases are those of `at_set` and the like",
)];

/// Methods of arrays that no case calls, and why.
const METHODS_WITHOUT_CASES: [(&str, &str); 4] = [
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
    let functions = public_functions(&source.join("numpy"));
    assert!(functions.contains("floor_divide") && functions.contains("concatenate"));
    covered(&functions, &with_cases, &WITHOUT_CASES);

    let methods = public_functions_in(&source.join("array/methods.rs"));
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

fn covered(public: &BTreeSet<String>, with_cases: &BTreeSet<String>, reasons: &[(&str, &str)]) {
    for name in public {
        let reason = reasons.iter().find(|(own, _)| own == name);
        assert_ne!(
            with_cases.contains(name),
            reason.is_some(),
            "`{name}` needs cases in record.py, or a reason why not: exactly one of them"
        );
    }
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
            public_functions_in(&path)
        });
    }
    names
}

/// The names behind `pub fn`, and the first words of the rows of macro calls, which define a function each.
fn public_functions_in(path: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut names = BTreeSet::new();
    // The macro whose rows these are.
    let mut table: Option<&str> = None;
    for line in text.lines() {
        if let Some(name) = line.strip_suffix("! {")
            && !name.starts_with([' ', '/'])
            && !name.starts_with("macro_rules")
        {
            table = Some(name);
        } else if line == "}" {
            table = None;
        }
        let function = line.trim_start().strip_prefix("pub fn ").map(|rest| {
            let end = rest.find(['(', '<']).unwrap_or(rest.len());
            &rest[..end]
        });
        let row = line
            .strip_prefix("    ")
            .filter(|row| {
                table.is_some() && row.starts_with(|first: char| first.is_ascii_lowercase())
            })
            .and_then(|row| row.split(' ').next());
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
