//! The guide `docs/adding-a-primitive.md` works as it is written: its blocks are applied to a copy of the sources, the copy
//! is built, and `program.rs` tries the primitive there.
//!
//! The copy stays under `target` and only files that differ are written, so that cargo builds again what changed; what does not belong to the
//! workspace has been built already, for the tests themselves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the new primitive and its functions need. The last is for tests: nobody builds it here, but manifests name it.
const CRATES: [&str; 6] = [
    "jaxide",
    "jaxide-core",
    "jaxide-cpu",
    "jaxide-derive",
    "jaxide-tree",
    "jaxide-testing",
];

/// Where the copy has its crates. Cargo names what it builds by the path from the top of a workspace: at the same one, the copy
/// would overwrite what belongs to the repository.
const FOLDER: &str = "copies";

/// The crate that tries it.
const MANIFEST: &str = r#"[package]
name = "new-primitive"
version = "0.0.0"
edition.workspace = true
publish = false

[dependencies]
jaxide.workspace = true
jaxide-cpu.workspace = true
"#;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Texts by their paths from the top of the repository.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Adds a file, or all files in a folder.
fn gather(files: &mut Files, path: &Path) {
    let full = repository().join(path);
    if full.is_dir() {
        for entry in std::fs::read_dir(full).unwrap() {
            gather(files, &path.join(entry.unwrap().file_name()));
        }
    } else {
        files.insert(path.to_owned(), std::fs::read(full).unwrap());
    }
}

/// The sources that are copied.
fn sources() -> Files {
    let mut files = Files::new();
    for name in CRATES {
        let folder = Path::new("crates").join(name);
        for part in ["Cargo.toml", "src"] {
            gather(&mut files, &folder.join(part));
        }
    }
    // The sample that the guide adds, and what sources include.
    for part in [
        "Cargo.toml",
        "Cargo.lock",
        "crates/jaxide-cpu/tests/laws.rs",
    ] {
        gather(&mut files, Path::new(part));
    }
    files
}

/// Lines that stand in a file, and those that shall.
struct Hunk {
    file: String,
    before: String,
    after: String,
}

/// The blocks of the guide. In a block, `---` names a file, `@@` begins another place in it; of the other lines, those with `+`
/// are added, those with `-` go, and the rest says where.
fn hunks(guide: &str) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let blocks = guide.split("```diff\n").skip(1);
    for line in blocks.flat_map(|block| block.split("```").next().unwrap().lines()) {
        let file = match line.strip_prefix("--- ") {
            Some(file) => Some(file.to_owned()),
            None => (line == "@@").then(|| hunks.last().unwrap().file.clone()),
        };
        if let Some(file) = file {
            let (before, after) = (String::new(), String::new());
            hunks.push(Hunk {
                file,
                before,
                after,
            });
            continue;
        }
        let Hunk { before, after, .. } = hunks.last_mut().expect("a block names its file");
        let (sign, text) = line.split_at(line.len().min(1));
        if sign != "+" {
            *before += &format!("{text}\n");
        }
        if sign != "-" {
            *after += &format!("{text}\n");
        }
    }
    hunks
}

/// Does what the guide says.
fn apply(guide: &str, files: &mut Files) {
    let hunks = hunks(guide);
    assert!(hunks.len() > 10, "the guide has lost blocks");
    for Hunk {
        file,
        before,
        after,
    } in hunks
    {
        let bytes = files.get_mut(Path::new(&file));
        let bytes = bytes.unwrap_or_else(|| panic!("the guide names `{file}`, which is not there"));
        let text = format!("\n{}", String::from_utf8(bytes.clone()).unwrap());
        let places = text.matches(&format!("\n{before}")).count();
        assert_eq!(
            places, 1,
            "these lines of the guide stand {places} times in {file}:\n{before}"
        );
        let text = text.replacen(&format!("\n{before}"), &format!("\n{after}"), 1);
        *bytes = text.as_bytes()[1..].to_vec();
    }
}

/// The files with crates in another folder, and manifests that say so. Targets beside the libraries are left out: their files are not there.
fn moved(files: Files) -> Files {
    let targets = ["[[example]]", "[[test]]", "[[bench]]"];
    let is_kept = |section: &&str| !targets.iter().any(|target| section.starts_with(target));
    let file = |(path, bytes): (PathBuf, Vec<u8>)| {
        let path = match path.strip_prefix("crates") {
            Ok(rest) => Path::new(FOLDER).join(rest),
            Err(_) => path,
        };
        if !path.ends_with("Cargo.toml") {
            return (path, bytes);
        }
        let text = String::from_utf8(bytes).unwrap();
        let text = text.replace("crates/", &format!("{FOLDER}/"));
        // The examples, members beside the crates, are not copied.
        let members = |line: &str| match line.split_once(", \"examples\"") {
            Some((crates, _)) => format!("{crates}]\n"),
            None => format!("{line}\n"),
        };
        let text: String = text.lines().map(members).collect();
        let kept: Vec<&str> = text.split("\n\n").filter(is_kept).collect();
        (path, kept.join("\n\n").into_bytes())
    };
    files.into_iter().map(file).collect()
}

/// Makes a folder hold these files and no others, and leaves alone what is as it should be.
fn write(folder: &Path, files: &Files) {
    for (path, bytes) in files {
        let path = folder.join(path);
        if std::fs::read(&path).ok().as_ref() != Some(bytes) {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
    }
    remove_others(folder, Path::new(""), files);
}

fn remove_others(folder: &Path, path: &Path, files: &Files) {
    for entry in std::fs::read_dir(folder.join(path)).unwrap() {
        let path = path.join(entry.unwrap().file_name());
        let full = folder.join(&path);
        if full.is_dir() {
            remove_others(folder, &path, files);
        } else if !files.contains_key(&path) && path != Path::new("Cargo.lock") {
            std::fs::remove_file(full).unwrap();
        }
    }
}

#[test]
fn the_guide_adds_a_primitive() {
    let guide = repository().join("docs/adding-a-primitive.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let mut files = sources();
    apply(&guide, &mut files);
    let mut files = moved(files);
    let own = Path::new(FOLDER).join("new-primitive");
    files.insert(own.join("Cargo.toml"), MANIFEST.as_bytes().to_vec());
    let program = include_bytes!("program.rs").to_vec();
    files.insert(own.join("src/main.rs"), program);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new_primitive");
    // Cargo takes out of the lock file what the copy does not use: that is no change.
    let lock = files.remove(Path::new("Cargo.lock")).unwrap();
    let original = folder.join("Cargo.lock.original");
    if std::fs::read(&original).ok().as_ref() != Some(&lock) {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("Cargo.lock"), &lock).unwrap();
    }
    files.insert("Cargo.lock.original".into(), lock);
    write(&folder, &files);

    // Where this test was built: `target/debug/deps`.
    let here = std::env::current_exe().unwrap();
    let built = here.ancestors().nth(2).unwrap();
    let profile = match built.file_name().unwrap().to_str().unwrap() {
        "debug" => "dev",
        other => other,
    };
    let output = Command::new(env!("CARGO"))
        .current_dir(&folder)
        .args(["run", "--quiet", "--offline", "-p", "new-primitive"])
        .args(["--profile", profile, "--target-dir"])
        .arg(built.parent().unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(output.stdout, b"sinc is right\n", "{said}");
}
