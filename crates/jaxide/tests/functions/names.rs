//! Names of JAX and those of this library: writes `docs/functions.md`, and checks that it is current.
//!
//! `names/jax.txt` has JAX's names (`record/names.py` writes it). A name that is public in the module of the same name here is found in
//! the source; `names/elsewhere.txt` tells where the others are, or why they are not there. `names/arguments.txt` tells the same of
//! arguments that are written in another way, of those in `names/jax-arguments.txt`. `paths.rs` imports every path of the
//! table, so that none is of something that does not exist. With `JAXIDE_UPDATE=1` in the environment both files are written.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const JAX: &str = include_str!("names/jax.txt");
const ELSEWHERE: &str = include_str!("names/elsewhere.txt");
const JAX_ARGUMENTS: &str = include_str!("names/jax-arguments.txt");
const ARGUMENTS: &str = include_str!("names/arguments.txt");

/// Modules of JAX, with the modules here whose names are looked up, the first that has it; and their source.
const MODULES: &[(&str, &[(&str, &str)])] = &[
    ("jax.numpy", &[("numpy", "src/numpy")]),
    ("jax.numpy.linalg", &[("numpy::linalg", "src/numpy/linalg")]),
    ("jax.numpy.fft", &[("numpy::fft", "src/numpy/fft")]),
    (
        "jax.lax",
        &[("lax", "src/lax"), ("", "src/control"), ("", "src/api")],
    ),
    ("jax.lax.linalg", &[("lax::linalg", "src/lax/linalg")]),
    ("jax.nn", &[("nn", "src/nn")]),
    (
        "jax.nn.initializers",
        &[("nn::initializers", "src/nn/initializers")],
    ),
    ("jax.random", &[("random", "src/random")]),
    ("jax.ops", &[("ops", "src/ops")]),
    ("jax.image", &[("image", "src/image")]),
    (
        "jax.scipy.cluster.vq",
        &[("scipy::cluster::vq", "src/scipy/cluster/vq")],
    ),
    ("jax.scipy.fft", &[("scipy::fft", "src/scipy/fft")]),
    (
        "jax.scipy.integrate",
        &[("scipy::integrate", "src/scipy/integrate")],
    ),
    (
        "jax.scipy.interpolate",
        &[("scipy::interpolate", "src/scipy/interpolate")],
    ),
    ("jax.scipy.linalg", &[("scipy::linalg", "src/scipy/linalg")]),
    (
        "jax.scipy.ndimage",
        &[("scipy::ndimage", "src/scipy/ndimage")],
    ),
    (
        "jax.scipy.optimize",
        &[("scipy::optimize", "src/scipy/optimize")],
    ),
    ("jax.scipy.signal", &[("scipy::signal", "src/scipy/signal")]),
    (
        "jax.scipy.sparse.linalg",
        &[("scipy::sparse::linalg", "src/scipy/sparse/linalg")],
    ),
    (
        "jax.scipy.spatial.transform",
        &[("scipy::spatial::transform", "src/scipy/spatial/transform")],
    ),
    (
        "jax.scipy.special",
        &[("scipy::special", "src/scipy/special")],
    ),
    ("jax.scipy.stats", &[("scipy::stats", "src/scipy/stats")]),
    (
        "jax.tree",
        &[("tree", "../jaxide-tree/src"), ("tree", "src/tree")],
    ),
    (
        "jax.tree_util",
        &[("tree", "../jaxide-tree/src"), ("tree", "src/tree")],
    ),
    ("jax.flatten_util", &[("flatten_util", "src/flatten_util")]),
];

/// Where a name of JAX is.
enum Place<'a> {
    /// A path in this crate.
    Path(String),
    /// What to write instead.
    Instead(&'a str),
    /// It is not there, for this reason.
    Missing(&'a str),
}

#[test]
fn the_table_of_names_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let elsewhere: BTreeMap<&str, Place> = ELSEWHERE
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(elsewhere)
        .collect();
    let mut used = BTreeSet::new();
    let mut tables = String::new();
    let mut paths = BTreeSet::new();
    let mut unknown = Vec::new();
    let (mut all, mut found) = (0, 0);
    for line in JAX.lines() {
        let mut words = line.split(' ');
        let module = words.next().unwrap();
        let (_, places) = MODULES.iter().find(|(own, _)| *own == module).unwrap();
        let public: Vec<(&str, BTreeSet<String>)> = places
            .iter()
            .map(|(path, source)| (*path, public_names(&root.join(source))))
            .collect();
        let mut rows = String::new();
        let (mut of_module, mut there) = (0, 0);
        for name in words {
            of_module += 1;
            let full = format!("{module}.{name}");
            let own = if matches!(name, "where" | "static" | "ref") {
                format!("{name}_")
            } else {
                name.replace('.', "::")
            };
            let here = public.iter().find(|(_, names)| names.contains(&own));
            let written;
            let place = match (elsewhere.get_key_value(full.as_str()), here) {
                (Some((key, place)), _) => {
                    used.insert(*key);
                    place
                }
                (None, Some((path, _))) => {
                    let head = if path.is_empty() {
                        String::new()
                    } else {
                        format!("{path}::")
                    };
                    written = Place::Path(format!("{head}{own}"));
                    &written
                }
                (None, None) => {
                    unknown.push(full.clone());
                    &Place::Missing("not written yet")
                }
            };
            let text = match place {
                Place::Path(path) => {
                    there += 1;
                    paths.insert(path.clone());
                    format!("`{path}`")
                }
                Place::Instead(text) => {
                    there += 1;
                    (*text).to_owned()
                }
                Place::Missing(reason) => format!("missing: {reason}"),
            };
            let _ = writeln!(rows, "| `{full}` | {text} |");
        }
        let _ = write!(
            tables,
            "\n## `{module}`\n\n{there} of {of_module}\n\n| JAX | jaxide |\n|---|---|\n{rows}"
        );
        all += of_module;
        found += there;
    }
    let share = 100.0 * f64::from(found) / f64::from(all);
    let page = format!(
        "# Functions\n\nWhere the names of JAX are found, and why some are not: {found} of {all} names, {share:.1} %. What stands in the \
         right column is a path in the crate `jaxide`, or what is written instead. Made by `JAXIDE_UPDATE=1 cargo test -p jaxide --test \
         functions names`.\n{tables}{}",
        arguments(&mut paths)
    );
    let mut imports = String::from(
        "//! Every path of the table of names exists. Written by `names.rs`.\n\n#![expect(unused_imports)]\n\n",
    );
    for path in &paths {
        let _ = writeln!(imports, "use jaxide::{path} as _;");
    }
    current(&root.join("../../docs/functions.md"), &page);
    current(&root.join("tests/functions/paths.rs"), &imports);
    let stale: Vec<&&str> = elsewhere
        .keys()
        .filter(|key| !used.contains(*key))
        .collect();
    assert!(stale.is_empty(), "JAX has no {stale:?}");
    assert!(unknown.is_empty(), "{} names: {unknown:?}", unknown.len());
    assert!(share >= 97.0, "{share:.1} %");
}

/// A line is `name = path`, `name -> text` or `name: reason`.
fn elsewhere(line: &str) -> (&str, Place<'_>) {
    if let Some((name, path)) = line.split_once(" = ") {
        (name, Place::Path(path.to_owned()))
    } else if let Some((name, text)) = line.split_once(" -> ") {
        (name, Place::Instead(text))
    } else {
        let (name, reason) = line.split_once(": ").unwrap_or_else(|| panic!("{line}"));
        (name, Place::Missing(reason))
    }
}

/// The table of arguments; paths in it are added to `paths`.
fn arguments(paths: &mut BTreeSet<String>) -> String {
    let known: BTreeMap<&str, Vec<&str>> = JAX_ARGUMENTS
        .lines()
        .map(|line| {
            let mut words = line.split(' ');
            (words.next().unwrap(), words.collect())
        })
        .collect();
    let mut table = String::from(
        "\n## Arguments\n\nThose of JAX with a default have methods of the same name on a struct of options here, \
         but for these. What is missing everywhere: `out`, `copy`, `order`, `overwrite_a` and the like (results are new arrays), \
         `check_finite` (an argument of SciPy that JAX does not use), `where` of functions of elements (JAX refuses it), `accuracy` \
         (what compilers of accelerators choose by), `device`, `sharding` and `out_sharding` (there is one device), `is_leaf` and \
         `is_leaf_takes_path` (types say what is a leaf).\n\n| JAX | jaxide |\n|---|---|\n",
    );
    let mut unknown = Vec::new();
    let lines = ARGUMENTS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    for (name, place) in lines.map(elsewhere) {
        let (function, argument) = name.split_once('(').unwrap_or_else(|| panic!("{name}"));
        let argument = argument.trim_end_matches(')');
        let has = known
            .get(function)
            .is_some_and(|own| own.contains(&argument));
        if !has {
            unknown.push(name);
        }
        let text = match place {
            Place::Path(path) => {
                let text = format!("`{path}`");
                paths.insert(path);
                text
            }
            Place::Instead(text) => text.to_owned(),
            Place::Missing(reason) => format!("missing: {reason}"),
        };
        let _ = writeln!(table, "| `{name}` | {text} |");
    }
    assert!(unknown.is_empty(), "JAX has no {unknown:?}");
    table
}

/// A file has this text, or gets it.
fn current(path: &Path, text: &str) {
    if std::env::var_os("JAXIDE_UPDATE").is_some() {
        std::fs::write(path, text).unwrap();
    }
    let own = std::fs::read_to_string(path).unwrap_or_default();
    assert!(own == text, "{} is not current", path.display());
}

/// The public names of a module: of the file `path.rs`, or of the files of the folder `path`. Names of modules inside, which are
/// files or folders of their own, stand with their path.
fn public_names(path: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let file = path.with_extension("rs");
    if file.is_file() {
        scan(&file, &mut names);
    }
    for entry in std::fs::read_dir(path).into_iter().flatten() {
        let entry: PathBuf = entry.unwrap().path();
        let stem = entry.file_stem().unwrap().to_str().unwrap().to_owned();
        if entry.is_dir() || stem != "mod" {
            let inner = public_names(&entry.with_extension(""));
            names.extend(inner.iter().map(|name| format!("{stem}::{name}")));
            names.extend(inner);
        } else {
            scan(&entry, &mut names);
        }
    }
    names
}

/// The names behind `pub fn`, `pub struct`, `pub enum`, `pub const` and `pub use`, and the first words of the rows of macro calls.
fn scan(path: &Path, names: &mut BTreeSet<String>) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut table = false;
    for line in text.lines() {
        if line.ends_with("! {") && !line.starts_with([' ', '/']) {
            table = !line.starts_with("macro_rules");
        } else if line == "}" {
            table = false;
        }
        let rest = |keyword: &str| line.trim_start().strip_prefix(keyword);
        let item = [
            "pub fn ",
            "pub struct ",
            "pub enum ",
            "pub const fn ",
            "pub const ",
            "pub type ",
        ]
        .iter()
        .find_map(|keyword| rest(keyword));
        if let Some(item) = item {
            // Functions of a type are not those of the module.
            if line.starts_with("pub ") || table || line.starts_with("        pub fn") {
                let end = item.find(|c: char| !c.is_alphanumeric() && c != '_');
                names.insert(item[..end.unwrap_or(item.len())].to_owned());
            }
        } else if let Some(row) = line.strip_prefix("    ")
            && table
            && row.starts_with(|first: char| first.is_ascii_lowercase())
        {
            let end = row.find(|c: char| !c.is_alphanumeric() && c != '_');
            names.insert(row[..end.unwrap_or(row.len())].to_owned());
        }
    }
    for used in text.split("\npub use ").skip(1) {
        let list = used.split(';').next().unwrap();
        for item in list.split(['{', '}', ',']) {
            let item = item.trim();
            let name = item.rsplit(" as ").next().unwrap();
            let name = name.rsplit("::").next().unwrap().trim();
            if !name.is_empty() && name != "*" {
                names.insert(name.to_owned());
            }
        }
    }
}
