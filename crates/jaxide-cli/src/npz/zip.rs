//! ZIP archives, as far as `.npz` files use them: members stored or deflated, ZIP64 where they are large.
//!
//! The format is that of PKWARE's APPNOTE.TXT. Reading trusts no number in the file: everything is checked against its
//! length, and a deflated member may not grow beyond what its directory entry says.

use std::borrow::Cow;

use jaxide_core::{Error, ErrorKind, Result, check_allocatable};

const LOCAL_HEADER: u32 = 0x0403_4b50;
const DIRECTORY_ENTRY: u32 = 0x0201_4b50;
const END_OF_DIRECTORY: u32 = 0x0605_4b50;
const END_OF_DIRECTORY_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;

/// The compression methods that are understood.
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// More than this many times its compressed size no deflated stream can grow.
const LARGEST_EXPANSION: u64 = 1032;

/// A member of an archive.
pub(super) struct Member<'a> {
    /// The name, with its folders.
    pub(super) name: String,
    method: u16,
    compressed: &'a [u8],
    size: u64,
    checksum: u32,
}

impl<'a> Member<'a> {
    /// The contents, decompressed.
    ///
    /// # Errors
    /// When they are damaged, or too large.
    pub(super) fn contents(&self) -> Result<Cow<'a, [u8]>> {
        let contents = match self.method {
            STORED => Cow::Borrowed(self.compressed),
            DEFLATED => {
                if self.size / LARGEST_EXPANSION > self.compressed.len() as u64 {
                    return Err(broken("a compressed member claims an impossible size"));
                }
                let size =
                    usize::try_from(self.size).map_err(|_| broken("a member is too large"))?;
                check_allocatable(size)?;
                let contents =
                    miniz_oxide::inflate::decompress_to_vec_with_limit(self.compressed, size)
                        .map_err(|_| broken("compressed data are damaged"))?;
                Cow::Owned(contents)
            }
            other => return Err(broken(&format!("compression method {other} is not known"))),
        };
        if contents.len() as u64 != self.size {
            return Err(broken("a member does not have the size it claims"));
        }
        if crc32(&contents) != self.checksum {
            return Err(broken("the checksum of a member is wrong"));
        }
        Ok(contents)
    }
}

/// The members of an archive, in the order of its directory.
pub(super) fn read(archive: &[u8]) -> Result<Vec<Member<'_>>> {
    let (count, offset) = directory(archive)?;
    let mut reader = Reader {
        bytes: archive,
        at: offset,
    };
    let mut members = Vec::new();
    for _ in 0..count {
        members.push(entry(archive, &mut reader)?);
    }
    Ok(members)
}

/// The number of entries of the directory, and where it starts.
fn directory(archive: &[u8]) -> Result<(u64, usize)> {
    const SIZE: usize = 22;
    let missing = || broken("the directory of the archive is missing");
    // A comment of up to 65535 bytes may follow.
    let last = archive.len().checked_sub(SIZE).ok_or_else(missing)?;
    let end = (last.saturating_sub(0xffff)..=last)
        .rev()
        .find(|&at| archive[at..].starts_with(&END_OF_DIRECTORY.to_le_bytes()))
        .ok_or_else(missing)?;
    let mut reader = Reader {
        bytes: archive,
        at: end + 10,
    };
    let (count, _size, offset) = (reader.u16()?, reader.u32()?, reader.u32()?);
    if count != u16::MAX && offset != u32::MAX {
        return Ok((count.into(), offset as usize));
    }
    let mut locator = Reader {
        bytes: archive,
        at: end.checked_sub(20).ok_or_else(missing)?,
    };
    if locator.u32()? != LOCATOR_64 {
        return Ok((count.into(), offset as usize));
    }
    locator.skip(4)?;
    let at = usize::try_from(locator.u64()?).map_err(|_| missing())?;
    let mut end = Reader { bytes: archive, at };
    if end.u32()? != END_OF_DIRECTORY_64 {
        return Err(missing());
    }
    end.skip(28)?;
    let (count, _size, offset) = (end.u64()?, end.u64()?, end.u64()?);
    Ok((count, usize::try_from(offset).map_err(|_| missing())?))
}

/// One entry of the directory, and the data it points to.
fn entry<'a>(archive: &'a [u8], reader: &mut Reader<'a>) -> Result<Member<'a>> {
    if reader.u32()? != DIRECTORY_ENTRY {
        return Err(broken("an entry of the directory is damaged"));
    }
    reader.skip(4)?;
    let flags = reader.u16()?;
    if flags & 1 != 0 {
        return Err(broken("a member is encrypted"));
    }
    let method = reader.u16()?;
    reader.skip(4)?;
    let checksum = reader.u32()?;
    let (mut compressed, mut size) = (u64::from(reader.u32()?), u64::from(reader.u32()?));
    let (name, extra, comment) = (reader.u16()?, reader.u16()?, reader.u16()?);
    reader.skip(8)?;
    let mut offset = u64::from(reader.u32()?);
    let name = String::from_utf8_lossy(reader.take(name.into())?).into_owned();
    let mut extra = Reader {
        bytes: reader.take(extra.into())?,
        at: 0,
    };
    reader.skip(comment.into())?;
    // The ZIP64 field holds the numbers that do not fit above, in this order.
    while extra.bytes.len() - extra.at >= 4 {
        let (tag, length) = (extra.u16()?, extra.u16()?);
        let mut field = Reader {
            bytes: extra.take(length.into())?,
            at: 0,
        };
        if tag == 1 {
            for number in [&mut size, &mut compressed, &mut offset] {
                if *number == u64::from(u32::MAX) {
                    *number = field.u64()?;
                }
            }
        }
    }
    let outside = |_| broken("a member lies outside the archive");
    let mut local = Reader {
        bytes: archive,
        at: usize::try_from(offset).map_err(outside)?,
    };
    if local.u32()? != LOCAL_HEADER {
        return Err(broken("the header of a member is damaged"));
    }
    local.skip(22)?;
    let (local_name, local_extra) = (local.u16()?, local.u16()?);
    local.skip(usize::from(local_name) + usize::from(local_extra))?;
    Ok(Member {
        name,
        method,
        compressed: local.take(usize::try_from(compressed).map_err(outside)?)?,
        size,
        checksum,
    })
}

/// An archive of stored members.
///
/// # Errors
/// When it would need ZIP64: more than 65 534 members or 4 GiB.
pub(super) fn write(members: &[(String, Vec<u8>)]) -> Result<Vec<u8>> {
    let too_large = |_| {
        Error::new(
            ErrorKind::TooLarge,
            "an archive of this size cannot be written",
        )
    };
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, contents) in members {
        let offset = u32::try_from(archive.len()).map_err(too_large)?;
        let size = u32::try_from(contents.len()).map_err(too_large)?;
        let name_length = u16::try_from(name.len()).map_err(too_large)?;
        // What both headers share: version, flags, method, time and date (1 January 1980), checksum, sizes, name.
        let mut shared = Vec::new();
        for number in [20, 0, STORED, 0, 0x21] {
            shared.extend(number.to_le_bytes());
        }
        for number in [crc32(contents), size, size] {
            shared.extend(number.to_le_bytes());
        }
        shared.extend(name_length.to_le_bytes());
        shared.extend(0u16.to_le_bytes());
        archive.extend(LOCAL_HEADER.to_le_bytes());
        archive.extend(&shared);
        archive.extend(name.as_bytes());
        archive.extend(contents);
        directory.extend(DIRECTORY_ENTRY.to_le_bytes());
        directory.extend(20u16.to_le_bytes());
        directory.extend(&shared);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let count = u16::try_from(members.len())
        .ok()
        .filter(|&count| count < u16::MAX);
    let count =
        count.ok_or_else(|| Error::new(ErrorKind::TooLarge, "an archive has too many members"))?;
    let offset = u32::try_from(archive.len()).map_err(too_large)?;
    let size = u32::try_from(directory.len()).map_err(too_large)?;
    archive.extend(directory);
    archive.extend(END_OF_DIRECTORY.to_le_bytes());
    for number in [0, 0, count, count] {
        archive.extend(number.to_le_bytes());
    }
    archive.extend(size.to_le_bytes());
    archive.extend(offset.to_le_bytes());
    archive.extend(0u16.to_le_bytes());
    Ok(archive)
}

/// Little-endian numbers from bytes.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let bytes = self
            .at
            .checked_add(length)
            .and_then(|end| self.bytes.get(self.at..end))
            .ok_or_else(|| broken("the archive ends too early"))?;
        self.at += length;
        Ok(bytes)
    }

    fn skip(&mut self, length: usize) -> Result<()> {
        self.take(length).map(|_| ())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.take(N)?
            .try_into()
            .map_err(|_| broken("the archive ends too early"))
    }

    fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

fn broken(message: &str) -> Error {
    Error::new(ErrorKind::Io, message)
}

/// The checksum of ZIP: CRC-32 with the reversed polynomial 0xEDB88320.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut index = 0;
        while index < 256 {
            let mut value = index as u32;
            let mut bit = 0;
            while bit < 8 {
                value = if value & 1 == 1 {
                    value >> 1 ^ 0xedb8_8320
                } else {
                    value >> 1
                };
                bit += 1;
            }
            table[index] = value;
            index += 1;
        }
        table
    };
    !bytes.iter().fold(!0, |crc: u32, &byte| {
        TABLE[(crc as u8 ^ byte) as usize] ^ crc >> 8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_of_the_check_string() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn deflated_members_are_read() {
        let text = b"aaaaaaaaaabbbbbbbbbbaaaaaaaaaa";
        let member = Member {
            name: String::new(),
            method: DEFLATED,
            compressed: &miniz_oxide::deflate::compress_to_vec(text, 6),
            size: text.len() as u64,
            checksum: crc32(text),
        };
        assert_eq!(member.contents().unwrap().as_ref(), text);
    }

    #[test]
    fn impossible_sizes_are_refused_before_anything_is_allocated() {
        let member = Member {
            name: String::new(),
            method: DEFLATED,
            compressed: &[0; 8],
            size: 1 << 60,
            checksum: 0,
        };
        let error = member.contents().unwrap_err();
        assert_eq!(
            error.message(),
            "a compressed member claims an impossible size"
        );
    }
}
