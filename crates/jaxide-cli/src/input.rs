//! Reading of texts, which may be anything: too long, in another encoding, no file at all.

use std::io::Read;
use std::path::Path;

use jaxide_core::{Error, ErrorKind, Result, memory};

/// A text takes at most so many times its size when it is read.
const EXPANSION: usize = 64;

/// No text that means something is larger: it would have a million equations.
const LARGEST: usize = 64 << 20;

/// Shorter texts are not held against what memory is free: asking would take longer than reading them.
const SHORT: usize = 64 << 10;

/// The bytes of a file, or of standard input for `-`.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>> {
    let read = if path == Path::new("-") {
        bounded(&mut std::io::stdin().lock())
    } else {
        of_file(path)
    };
    read.map_err(|error| Error::new(error.kind(), format!("{}: {}", name(path), error.message())))
}

/// The text of a file, in UTF-8 with or without a mark in front that says so.
pub(crate) fn text(path: &Path) -> Result<String> {
    let bytes = bytes(path)?;
    let text = jaxide_core::jaxpr::parse::decode(&bytes);
    text.map(str::to_owned).map_err(|error| {
        let what = error.diagnostics().first();
        let what = what.map_or_else(String::new, |first| first.message.clone());
        Error::new(ErrorKind::Io, format!("{}: {what}", name(path)))
    })
}

/// What a file is called in messages.
pub(crate) fn name(path: &Path) -> String {
    if path == Path::new("-") {
        "<stdin>".to_owned()
    } else {
        path.display().to_string()
    }
}

fn of_file(path: &Path) -> Result<Vec<u8>> {
    let io = |message: &str| Error::new(ErrorKind::Io, message);
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(io("it is a directory"));
    }
    // Opening a pipe in a folder waits until somebody writes to it, and for ever if nobody does. Those of shells, `<(...)`,
    // are open on both sides, and stand in no folder.
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_fifo(&kind) && path.canonicalize().is_ok() {
        return Err(
            io("it is a named pipe").note("give what comes out of it as `-`, standard input")
        );
    }
    bounded(&mut std::fs::File::open(path)?)
}

/// All bytes, if they are not too many.
fn bounded(reader: &mut impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if memory::stated().is_none() {
        reader.by_ref().take(SHORT as u64).read_to_end(&mut bytes)?;
        if bytes.len() < SHORT {
            return Ok(bytes);
        }
    }
    let most = (memory::limit() / EXPANSION).min(LARGEST);
    let rest = (most as u64 + 1).saturating_sub(bytes.len() as u64);
    reader.take(rest).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        return Err(Error::new(
            ErrorKind::TooLarge,
            format!("the text is larger than {most} bytes, the most that are read"),
        ));
    }
    Ok(bytes)
}
