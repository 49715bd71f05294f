//! Failures that are known, with their reasons.

use std::path::Path;

use jaxide_core::{Error, ErrorKind, Result};

use super::checks::{Check, How};
use crate::program::Backend;

/// Lines `CHECK CASE REASON ...`; `#` begins a comment. A check may name its backends: `eval:native,objects`.
pub(super) struct Known {
    lines: Vec<(String, String, String)>,
    backend: &'static str,
}

/// The list that belongs to this program.
const LIST: &str = include_str!("known_failures.txt");

impl Known {
    /// From a file, or the list that belongs to this program.
    ///
    /// # Errors
    /// When the file cannot be read or a line has no reason.
    pub(super) fn read(path: Option<&Path>, how: &How) -> Result<Self> {
        let backend = match how {
            How::Here(Backend::Eval) => "eval",
            How::Here(Backend::Native(_)) => "native",
            How::Objects(_) => "objects",
        };
        let Some(path) = path else {
            return Self::parse(LIST, backend);
        };
        let io = |message: &dyn std::fmt::Display| {
            Error::new(ErrorKind::Io, format!("{}: {message}", path.display()))
        };
        let text = crate::input::text(path)?;
        Self::parse(&text, backend).map_err(|error| io(&error.message()))
    }

    fn parse(text: &str, backend: &'static str) -> Result<Self> {
        let lines = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let lines = lines.map(|line| {
            let mut parts = line.splitn(3, ' ').map(str::trim);
            match (parts.next(), parts.next(), parts.next()) {
                (Some(check), Some(case), Some(reason)) if !reason.is_empty() => {
                    Ok((check.to_owned(), case.to_owned(), reason.to_owned()))
                }
                _ => Err(Error::new(
                    ErrorKind::Io,
                    format!("`{line}` is not a check, a case and a reason"),
                )),
            }
        });
        Ok(Known {
            lines: lines.collect::<Result<_>>()?,
            backend,
        })
    }

    /// Why a case is known to fail a check.
    pub(super) fn reason(&self, check: Check, case: &str) -> Option<&str> {
        let applies = |name: &str| match name.split_once(':') {
            None => name == check.name(),
            Some((own, backends)) => {
                own == check.name() && backends.split(',').any(|one| one == self.backend)
            }
        };
        self.lines
            .iter()
            .find(|(name, listed, _)| applies(name) && listed == case)
            .map(|(_, _, reason)| reason.as_str())
    }
}
