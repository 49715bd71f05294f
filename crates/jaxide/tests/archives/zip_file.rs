//! ZIP files by hand, each field of which may be what it should not.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::npy;
use crate::random::Random;

/// An archive, and whether it is sound.
pub(crate) fn archive(random: &mut Random) -> (Vec<u8>, bool) {
    if random.one_in(3) {
        (written(random), true)
    } else {
        (odd(random), false)
    }
}

/// An archive that a library wrote.
fn written(random: &mut Random) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for number in 0..random.below(6) {
        let method = random.pick(&[CompressionMethod::Stored, CompressionMethod::Deflated]);
        let large = random.one_in(3);
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .large_file(large);
        zip.start_file(format!("arr_{number}.npy"), options)
            .unwrap();
        zip.write_all(&npy::sound(random)).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// One member: its data and what its headers say.
#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) name: Vec<u8>,
    pub(crate) data: Vec<u8>,
    pub(crate) method: u16,
    pub(crate) flags: u16,
    pub(crate) crc: u32,
    pub(crate) size: u64,
    pub(crate) compressed: u64,
    pub(crate) extra: Vec<u8>,
    /// What the header in front of the data says in the place of the sizes.
    pub(crate) local: Option<(u64, u64)>,
    /// Where the directory says that the member is.
    pub(crate) offset: Option<u64>,
}

impl Member {
    /// A member without compression.
    pub(crate) fn stored(name: &str, data: &[u8]) -> Self {
        Member {
            name: name.as_bytes().to_vec(),
            data: data.to_vec(),
            method: 0,
            flags: 0,
            crc: crc(data),
            size: data.len() as u64,
            compressed: data.len() as u64,
            extra: Vec::new(),
            local: None,
            offset: None,
        }
    }
}

/// What stands at the end of a file.
#[derive(Clone, Default)]
pub(crate) struct End {
    pub(crate) members: Option<u64>,
    pub(crate) size: Option<u64>,
    pub(crate) offset: Option<u64>,
    pub(crate) comment: Vec<u8>,
    /// Whether there is a record with 64-bit numbers, and what it says of its own length.
    pub(crate) wide: Option<u64>,
}

fn low16(number: u64) -> [u8; 2] {
    (number.min(0xffff) as u16).to_le_bytes()
}

fn low32(number: u64) -> [u8; 4] {
    (number.min(0xffff_ffff) as u32).to_le_bytes()
}

/// The file of members.
pub(crate) fn zip(members: &[Member], end: &End) -> Vec<u8> {
    let (mut bytes, mut places) = (Vec::new(), Vec::new());
    for member in members {
        places.push(bytes.len() as u64);
        let (size, compressed) = member.local.unwrap_or((member.size, member.compressed));
        bytes.extend(b"PK\x03\x04");
        fields(&mut bytes, member, size, compressed);
        bytes.extend(low16(member.extra.len() as u64));
        bytes.extend(&member.name);
        bytes.extend(&member.extra);
        bytes.extend(&member.data);
    }
    let directory = bytes.len() as u64;
    for (member, place) in members.iter().zip(places) {
        bytes.extend(b"PK\x01\x02\x14\x03");
        fields(&mut bytes, member, member.size, member.compressed);
        bytes.extend(low16(member.extra.len() as u64));
        bytes.extend([0; 10]);
        bytes.extend(low32(member.offset.unwrap_or(place)));
        bytes.extend(&member.name);
        bytes.extend(&member.extra);
    }
    let size = end.size.unwrap_or(bytes.len() as u64 - directory);
    let (count, offset) = (
        end.members.unwrap_or(members.len() as u64),
        end.offset.unwrap_or(directory),
    );
    let wide = bytes.len() as u64;
    if let Some(length) = end.wide {
        bytes.extend(b"PK\x06\x06");
        bytes.extend(length.to_le_bytes());
        bytes.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for number in [count, count, size, offset] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(b"PK\x06\x07\0\0\0\0");
        bytes.extend(wide.to_le_bytes());
        bytes.extend([1, 0, 0, 0]);
    }
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    let (count, size, offset) = match end.wide {
        Some(_) => (u64::MAX, u64::MAX, u64::MAX),
        None => (count, size, offset),
    };
    bytes.extend([low16(count), low16(count)].concat());
    bytes.extend([low32(size), low32(offset)].concat());
    bytes.extend(low16(end.comment.len() as u64));
    bytes.extend(&end.comment);
    bytes
}

/// What both headers of a member have, up to the length of its name.
fn fields(bytes: &mut Vec<u8>, member: &Member, size: u64, compressed: u64) {
    bytes.extend([20, 0]);
    bytes.extend(member.flags.to_le_bytes());
    bytes.extend(member.method.to_le_bytes());
    bytes.extend([0, 0, 0x21, 0]);
    bytes.extend(member.crc.to_le_bytes());
    bytes.extend(low32(compressed));
    bytes.extend(low32(size));
    bytes.extend(low16(member.name.len() as u64));
}

/// CRC-32 of the ZIP format.
pub(crate) fn crc(bytes: &[u8]) -> u32 {
    let bits = |start: u32| {
        (0..8).fold(start, |crc, _| {
            crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 }
        })
    };
    let table: Vec<u32> = (0..256).map(bits).collect();
    let mut crc = !0u32;
    for &byte in bytes {
        crc = crc >> 8 ^ table[usize::from(crc as u8 ^ byte)];
    }
    !crc
}

/// Bytes deflated.
pub(crate) fn deflated(data: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    zip.start_file("", options).unwrap();
    zip.write_all(data).unwrap();
    let bytes = zip.finish().unwrap().into_inner();
    let directory = bytes
        .windows(4)
        .rposition(|window| window == b"PK\x01\x02")
        .unwrap();
    bytes[30..directory].to_vec()
}

fn odd(random: &mut Random) -> Vec<u8> {
    let mut members = Vec::new();
    for number in 0..random.below(5) {
        let data = match random.below(6) {
            0 => npy::odd(random),
            1 => bomb(random),
            _ => npy::sound(random),
        };
        let mut member = Member::stored(&format!("m{number}.npy"), &data);
        if random.one_in(3) {
            member.data = deflated(&data);
            member.compressed = member.data.len() as u64;
            member.method = 8;
        }
        members.push(member);
    }
    for _ in 0..random.below(4) {
        if members.is_empty() {
            break;
        }
        let place = random.below(members.len());
        let other = members[random.below(members.len())].clone();
        let member = &mut members[place];
        match random.below(12) {
            0 => member.name = other.name,
            1 => {
                member.name = random
                    .pick(&[
                        &b"folder/"[..],
                        b"",
                        b"../x.npy",
                        b"\xff\xfe",
                        b"a/b.npy",
                        b".npy",
                        b"m0",
                    ])
                    .to_vec()
            }
            2 => member.name = vec![b'n'; random.below(65_000)],
            3 => member.method = random.pick(&[1, 6, 8, 9, 12, 14, 93, 95, 98, 99, 0xffff]),
            4 => member.flags = random.pick(&[1, 8, 0x40, 0x800, 0x2000, 0xffff]),
            5 => member.crc ^= random.next() as u32,
            6 => member.size = random.odd_number(),
            7 => member.compressed = random.odd_number(),
            8 => member.local = Some((random.odd_number(), random.odd_number())),
            9 => {
                member.offset = {
                    let odd = random.odd_number();
                    Some(random.pick(&[0, 1, other.data.len() as u64, odd]))
                }
            }
            10 => {
                let numbers = [
                    random.odd_number(),
                    random.odd_number(),
                    random.odd_number(),
                ];
                let numbers: Vec<u8> = numbers
                    .iter()
                    .flat_map(|number| number.to_le_bytes())
                    .collect();
                let length = random.below(numbers.len() + 1);
                let claimed = if random.one_in(3) {
                    random.odd_number() as u16
                } else {
                    length as u16
                };
                member.extra = [&[1, 0][..], &claimed.to_le_bytes(), &numbers[..length]].concat();
                member.size = 0xffff_ffff;
            }
            _ => {
                member.extra = (0..random.below(60)).map(|_| random.next() as u8).collect();
            }
        }
    }
    let mut end = End::default();
    for _ in 0..random.below(3) {
        match random.below(6) {
            0 => end.members = Some(random.odd_number()),
            1 => end.size = Some(random.odd_number()),
            2 => end.offset = Some(random.odd_number()),
            3 => {
                let part = random.pick(&[
                    &b"PK\x05\x06"[..],
                    b"PK\x06\x07\0\0\0\0",
                    b"x",
                    b"PK\x06\x06",
                ]);
                end.comment = part.repeat(random.below(60_000 / part.len()));
            }
            4 => end.wide = Some(44),
            _ => end.wide = Some(random.odd_number()),
        }
    }
    zip(&members, &end)
}

/// An array that is much larger than its file once it is deflated.
fn bomb(random: &mut Random) -> Vec<u8> {
    let count = random.pick(&[1 << 16, 1 << 18, 1 << 20]);
    let claimed = random.pick(&[count, count, count + 1, count * 1000, 10]);
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({claimed},), }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.resize(bytes.len() + count, 0);
    bytes
}
