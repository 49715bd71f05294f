//! Writing files so that there is the old one or the new one at any time, and never half of one.

use std::collections::BTreeSet;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{BufWriter, Cursor, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jaxide_core::{Error, ErrorKind, Result};
use tempfile::{Builder, NamedTempFile};

use super::in_file;

/// What files are written to.
pub(super) trait Output: Write + Seek {}

impl<T: Write + Seek> Output for T {}

/// Writes a file: to a temporary one in the same folder, which takes the place of `path` when everything is written.
///
/// Whatever happens on the way, full disks and the end of the process included, there is the old file or the new one, with
/// the permissions of the old one and behind the symbolic links that lead to it. A file that may not be written is not
/// replaced. Devices and pipes are written to as they are.
///
/// # Errors
/// When the file or its folder cannot be written: with the path. Then the file is as it was.
///
/// ```
/// use jaxide::io;
/// let path = std::env::temp_dir().join(format!("text-{}", std::process::id()));
/// io::write_file(&path, b"old")?;
/// io::write_file(&path, b"new")?;
/// assert_eq!(std::fs::read(&path)?, b"new");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), jaxide::Error>(())
/// ```
pub fn write_file(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    replace(path.as_ref(), |file| Ok(file.write_all(bytes)?))
}

/// Removes the temporary files of writes that are under way, and lets no other begin: what a handler of signals does
/// last before the process ends.
pub fn abandon_writes() {
    if let Some(paths) = under_way().take() {
        for path in paths {
            // It may have been renamed meanwhile.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The temporary files of this process; `None` when there may be no others.
fn under_way() -> MutexGuard<'static, Option<BTreeSet<PathBuf>>> {
    static PATHS: Mutex<Option<BTreeSet<PathBuf>>> = Mutex::new(Some(BTreeSet::new()));
    PATHS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As [`write_file`], with what `write` writes.
pub(super) fn replace(
    path: &Path,
    write: impl FnOnce(&mut dyn Output) -> Result<()>,
) -> Result<()> {
    let written = || {
        let target = behind_links(path)?;
        let old = match std::fs::metadata(&target) {
            Ok(old) => Some(old),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        match &old {
            Some(old) if old.is_dir() => Err(Error::new(ErrorKind::Io, "it is a directory")),
            Some(old) if !old.is_file() => write_through(&target, write),
            _ => write_beside(&target, old.as_ref(), write),
        }
    };
    written().map_err(|error| in_file(path, &error))
}

/// The file that a path leads to, which need not exist.
fn behind_links(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    // So many links the system follows too.
    for _ in 0..40 {
        let is_link = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
        // What is behind the links of `/proc/self/fd` has no path where it is no file.
        if !is_link || std::fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Ok(path);
        }
        let link = std::fs::read_link(&path)?;
        path = path.parent().unwrap_or(Path::new("")).join(link);
    }
    Err(Error::new(ErrorKind::Io, "too many links lead on from it"))
}

/// Writes to what is no file: a device or a pipe, where one cannot go back.
fn write_through(target: &Path, write: impl FnOnce(&mut dyn Output) -> Result<()>) -> Result<()> {
    let mut bytes = Cursor::new(Vec::new());
    write(&mut bytes)?;
    let mut output = OpenOptions::new().write(true).open(target)?;
    output.write_all(bytes.get_ref())?;
    Ok(output.flush()?)
}

fn write_beside(
    target: &Path,
    old: Option<&Metadata>,
    write: impl FnOnce(&mut dyn Output) -> Result<()>,
) -> Result<()> {
    if old.is_some() {
        // A rename asks nobody whether the file may be written.
        OpenOptions::new().write(true).open(target)?;
    }
    let mut temporary = Temporary::beside(target)?;
    if let Some(old) = old {
        take_over(temporary.file.as_file(), old)?;
    }
    let mut file = BufWriter::with_capacity(1 << 16, temporary.file.as_file_mut());
    write(&mut file)?;
    file.flush()?;
    drop(file);
    // Some disks say only now that they are full.
    temporary.file.as_file().sync_all()?;
    temporary.persist(target)
}

/// Gives a file the owner and the permissions of another.
fn take_over(file: &File, old: &Metadata) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
            // Only some may give files away; others keep them.
            let _ = fchown(file, Some(old.uid()), Some(old.gid()));
        }
    }
    Ok(file.set_permissions(old.permissions())?)
}

/// A temporary file, which is gone when this is.
struct Temporary {
    file: NamedTempFile,
    // After the file, so that it is known until it is removed.
    known: Known,
}

/// The path of a temporary file among those of the process.
struct Known(PathBuf);

impl Drop for Known {
    fn drop(&mut self) {
        if let Some(paths) = under_way().as_mut() {
            paths.remove(&self.0);
        }
    }
}

impl Temporary {
    /// A new file in the folder of another, with the permissions that new files have.
    fn beside(target: &Path) -> Result<Self> {
        let folder = match target.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut refused = None;
        let create = |path: &Path| {
            let mut paths = under_way();
            let Some(paths) = paths.as_mut() else {
                return Err(std::io::Error::other("the process is about to end"));
            };
            let mut options = OpenOptions::new();
            match options.read(true).write(true).create_new(true).open(path) {
                Ok(file) => {
                    paths.insert(path.to_owned());
                    Ok((file, Known(path.to_owned())))
                }
                Err(error) => {
                    refused = Some(error.to_string());
                    Err(error)
                }
            }
        };
        match Builder::new().prefix(".jaxide-").make_in(folder, create) {
            Ok(made) => {
                let ((file, known), path) = made.into_parts();
                let file = NamedTempFile::from_parts(file, path);
                Ok(Temporary { file, known })
            }
            // Without the name of the temporary file, which says nothing.
            Err(error) => {
                let why = refused.unwrap_or_else(|| error.to_string());
                let message = format!("no file can be made in its folder: {why}");
                Err(Error::new(ErrorKind::Io, message))
            }
        }
    }

    /// Puts the file in the place of another.
    fn persist(self, target: &Path) -> Result<()> {
        let Temporary { file, known } = self;
        let renamed = file.persist(target);
        drop(known);
        renamed.map(drop).map_err(|error| error.error.into())
    }
}
