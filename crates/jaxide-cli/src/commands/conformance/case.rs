//! Cases: rows of a `manifest.jsonl` with their files.

use std::path::{Path, PathBuf};

use jaxide_core::prims::Name;
use jaxide_core::transform::Step;
use jaxide_core::{Error, ErrorKind, Result};
use serde_json::Value as Json;

/// One row of a manifest.
pub(super) struct Case {
    folder: PathBuf,
    group: String,
    /// The name of its files.
    pub(super) name: String,
    row: Json,
}

impl Case {
    /// All cases of a folder and of the folders in it, in alphabetical order of folders.
    ///
    /// # Errors
    /// When there is no manifest, or one cannot be read.
    pub(super) fn all(folder: &Path) -> Result<Vec<Self>> {
        let mut cases = Vec::new();
        let mut folders = vec![folder.to_owned()];
        let mut manifests = 0;
        while let Some(folder) = folders.pop() {
            let manifest = folder.join("manifest.jsonl");
            if manifest.is_file() {
                manifests += 1;
                cases.extend(Self::of_manifest(&folder, &manifest)?);
            }
            let entries = std::fs::read_dir(&folder).map_err(|error| io(&folder, &error))?;
            for entry in entries {
                let entry = entry.map_err(|error| io(&folder, &error))?;
                // Links are not followed: they may lead in circles.
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(entry.path());
                }
            }
            folders.sort_by(|a, b| b.cmp(a));
        }
        if manifests == 0 {
            return Err(Error::new(
                ErrorKind::Io,
                format!("{}: there is no manifest.jsonl in it", folder.display()),
            ));
        }
        Ok(cases)
    }

    fn of_manifest(folder: &Path, manifest: &Path) -> Result<Vec<Self>> {
        let text = crate::input::text(manifest)?;
        let lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(number, line)| {
                let broken = |message: &str| {
                    Error::new(
                        ErrorKind::Io,
                        format!("{}:{}: {message}", manifest.display(), number + 1),
                    )
                };
                let row: Json =
                    serde_json::from_str(line).map_err(|error| broken(&error.to_string()))?;
                let name = row["name"]
                    .as_str()
                    .ok_or_else(|| broken("the row has no name"))?;
                let group = folder
                    .file_name()
                    .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
                Ok(Case {
                    folder: folder.to_owned(),
                    group: row["group"].as_str().map_or(group, str::to_owned),
                    name: name.to_owned(),
                    row,
                })
            })
            .collect()
    }

    /// Folder and name, as reports write them.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.group, self.name)
    }

    /// A file of this case, or of another of the same folder.
    pub(super) fn file(&self, name: &str, extension: &str) -> PathBuf {
        self.folder.join(format!("{name}.{extension}"))
    }

    /// The case this one is a transformation of.
    pub(super) fn base(&self) -> Option<&str> {
        self.row["base"].as_str()
    }

    /// A field that is `true` or `false`.
    pub(super) fn flag(&self, field: &str) -> Option<bool> {
        self.row[field].as_bool()
    }

    /// Whether the list `field` has this entry.
    pub(super) fn lists(&self, field: &str, entry: &str) -> bool {
        self.row[field]
            .as_array()
            .is_some_and(|list| list.iter().any(|item| item == entry))
    }

    /// How results are compared: `allclose` or `nonunique`.
    pub(super) fn compare(&self) -> &str {
        self.row["compare"].as_str().unwrap_or("allclose")
    }

    /// Members of the archive for the arguments, in order.
    pub(super) fn arguments(&self) -> Vec<String> {
        let list = self.row["arg_order"].as_array();
        let names = list.into_iter().flatten().filter_map(Json::as_str);
        names.map(str::to_owned).collect()
    }

    /// Relative and absolute tolerance of result `index`; `[0, 0]` when nothing is said.
    pub(super) fn tolerance(&self, index: usize) -> (f64, f64) {
        let pair = &self.row["tol"][index];
        (
            pair[0].as_f64().unwrap_or(0.0),
            pair[1].as_f64().unwrap_or(0.0),
        )
    }

    /// The transformations, innermost first.
    ///
    /// # Errors
    /// When one is not known.
    pub(super) fn steps(&self) -> Result<Vec<Step>> {
        self.row["transforms"]
            .as_array()
            .into_iter()
            .flatten()
            .map(step)
            .collect()
    }
}

fn step(step: &Json) -> Result<Step> {
    let numbers = |field: &str| -> Vec<usize> {
        let list = step[field].as_array().into_iter().flatten();
        list.filter_map(|number| usize::try_from(number.as_u64()?).ok())
            .collect()
    };
    let argnums = numbers("argnums");
    Ok(match step["op"].as_str().unwrap_or("") {
        "jvp" => Step::Jvp {
            argnums,
            tangent_outs: numbers("tangent_outs"),
        },
        "linearize" => Step::Linearize {
            argnums,
            tangent_outs: numbers("tangent_outs"),
        },
        "vjp" => Step::Vjp {
            argnums,
            cotangent_outs: numbers("cotangent_outs"),
        },
        "grad" => Step::Grad { argnums },
        "value_and_grad" => Step::ValueAndGrad { argnums },
        "jacfwd" => Step::Jacfwd { argnums },
        "jacrev" => Step::Jacrev { argnums },
        "hessian" => Step::Hessian { argnums },
        "vmap" => Step::Vmap {
            in_axes: step["in_axes"]
                .as_array()
                .into_iter()
                .flatten()
                .map(Json::as_i64)
                .collect(),
            out_axes: step["out_axes"].as_i64().unwrap_or(0),
            axis_size: usize::try_from(step["axis_size"].as_u64().unwrap_or(0)).unwrap_or(0),
            axis_name: step["axis_name"].as_str().map(Name::new),
        },
        "jit" => Step::Jit {
            name: Name::new("g"),
        },
        "checkpoint" => Step::Checkpoint,
        other => {
            return Err(Error::unsupported(format!(
                "the transformation `{other}` is not known"
            )));
        }
    })
}

fn io(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("{}: {error}", path.display()))
}
