//! Outputs that fail.

use std::io::{Error, ErrorKind, Result, Seek, SeekFrom, Write};

use super::super::replace::Output;

/// An output that, once it has failed, only does as if it were written: a writer of archives that is dropped then tries to end
/// its archive all the same, and complains on standard error where that fails again.
pub(super) struct UntilFailure<'a> {
    output: &'a mut dyn Output,
    failed: bool,
    at: u64,
    end: u64,
}

impl<'a> UntilFailure<'a> {
    /// An output that is empty.
    pub(super) fn new(output: &'a mut dyn Output) -> Self {
        UntilFailure {
            output,
            failed: false,
            at: 0,
            end: 0,
        }
    }
}

impl Write for UntilFailure<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut count = bytes.len();
        if !self.failed {
            let written = self.output.write(bytes);
            let is_failure = |error: &Error| error.kind() != ErrorKind::Interrupted;
            self.failed = written.as_ref().is_err_and(is_failure);
            count = written?;
        }
        self.at = self.at.saturating_add(count as u64);
        self.end = self.end.max(self.at);
        Ok(count)
    }

    fn flush(&mut self) -> Result<()> {
        if self.failed {
            return Ok(());
        }
        let flushed = self.output.flush();
        self.failed = flushed.is_err();
        flushed
    }
}

impl Seek for UntilFailure<'_> {
    fn seek(&mut self, position: SeekFrom) -> Result<u64> {
        self.at = if self.failed {
            let at = match position {
                SeekFrom::Start(at) => Some(at),
                SeekFrom::Current(by) => self.at.checked_add_signed(by),
                SeekFrom::End(by) => self.end.checked_add_signed(by),
            };
            at.ok_or(ErrorKind::InvalidInput)?
        } else {
            let at = self.output.seek(position);
            self.failed = at.is_err();
            at?
        };
        Ok(self.at)
    }
}
