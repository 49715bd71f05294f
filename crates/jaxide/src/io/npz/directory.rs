//! The directory of an archive, which is read before anything is known of it.

use std::io::{Error, Read, Result, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::{broken, largest_description};

/// An entry of the directory has at least so many bytes.
const SMALLEST_ENTRY: u64 = 46;

/// So much is read around a directory: what may be its end, several times.
const AROUND: u64 = 1 << 20;

/// A source that refuses to be read for more than a directory can have, until it is stopped to be watched.
pub(super) struct Metered<R> {
    source: R,
    left: Arc<AtomicU64>,
}

/// What may still be read of a source.
pub(super) struct Meter(Arc<AtomicU64>);

impl Meter {
    /// Lets everything be read.
    pub(super) fn stop(self) {
        self.0.store(u64::MAX, Ordering::Relaxed);
    }
}

impl<R> Metered<R> {
    pub(super) fn new(source: R) -> Self {
        Metered {
            source,
            left: Arc::new(AtomicU64::new(largest_description() + AROUND)),
        }
    }

    pub(super) fn meter(&self) -> Meter {
        Meter(self.left.clone())
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let left = self.left.load(Ordering::Relaxed);
        if left == u64::MAX {
            return self.source.read(bytes);
        }
        let count = self.source.read(bytes)?;
        match left.checked_sub(count as u64) {
            Some(left) => self.left.store(left, Ordering::Relaxed),
            None => {
                let message = "its directory is too large for the memory that may be taken";
                return Err(Error::other(message));
            }
        }
        Ok(count)
    }
}

impl<R: Seek> Seek for Metered<R> {
    fn seek(&mut self, position: SeekFrom) -> Result<u64> {
        self.source.seek(position)
    }
}

/// Refuses directories that claim to be larger than any is, before memory is taken for what they claim.
///
/// Only the 64-bit records at the end of an archive can: each that could be taken for one is looked at, since which one is
/// taken is decided later.
pub(super) fn check(source: &mut (impl Read + Seek)) -> jaxide_core::Result<()> {
    const COMMENT: u64 = 1 << 16;
    const END_RECORD: u64 = 22;
    const LOCATOR: u64 = 20;
    let largest = largest_description();
    let size = source.seek(SeekFrom::End(0))?;
    source.seek(SeekFrom::Start(
        size.saturating_sub(COMMENT + END_RECORD + LOCATOR + 4),
    ))?;
    let mut tail = Vec::new();
    source
        .take(COMMENT + END_RECORD + LOCATOR + 4)
        .read_to_end(&mut tail)?;
    let mut seen = std::collections::HashSet::new();
    for locator in tail
        .windows(16)
        .filter(|bytes| bytes.starts_with(b"PK\x06\x07"))
    {
        let place = word(locator, 8);
        if place >= size || !seen.insert(place) {
            continue;
        }
        source.seek(SeekFrom::Start(place))?;
        let mut record = Vec::new();
        source.take(56).read_to_end(&mut record)?;
        if record.len() < 56 || !record.starts_with(b"PK\x06\x06") {
            continue;
        }
        let (length, members, bytes) = (word(&record, 4), word(&record, 32), word(&record, 40));
        if length > largest || bytes > largest || members > largest / SMALLEST_ENTRY {
            return Err(broken(format!(
                "its directory claims {members} members in {bytes} bytes, and {largest} bytes are the most"
            )));
        }
    }
    Ok(())
}

/// The 64-bit number at a place.
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8]
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}
