//! Changes of bytes that know nothing of formats, but what formats are made of.

use crate::random::Random;

/// A few changes.
pub(crate) fn mutated(random: &mut Random, mut bytes: Vec<u8>) -> Vec<u8> {
    for _ in 0..1 + random.below(4) {
        if bytes.is_empty() {
            return bytes;
        }
        change(random, &mut bytes);
    }
    bytes
}

/// What stands at the beginning of parts of files.
const SIGNATURES: &[&[u8]] = &[
    b"PK\x03\x04",
    b"PK\x01\x02",
    b"PK\x05\x06",
    b"PK\x06\x06",
    b"PK\x06\x07",
    b"PK\x07\x08",
    b"\x93NUMPY",
    b"'shape': (",
    b"\"data_offsets\":[",
    b"\"shape\":[",
];

fn change(random: &mut Random, bytes: &mut Vec<u8>) {
    let length = bytes.len();
    // Most changes near what has a meaning: elements may be anything.
    let ends = [0..length.min(20_000), length.saturating_sub(20_000)..length];
    let mut places = Vec::new();
    for signature in SIGNATURES {
        for part in ends.clone() {
            let windows = bytes[part.clone()].windows(signature.len()).enumerate();
            let found = windows.filter(|(_, window)| window == signature);
            places.extend(found.map(|(at, _)| part.start + at).take(100));
        }
    }
    let at = match places.is_empty() || random.one_in(4) {
        true => random.below(length),
        false => (random.pick(&places) + random.below(56)).min(length - 1),
    };
    match random.below(10) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.next() as u8,
        2 => bytes.truncate(at),
        3 => {
            let end = (at + random.below(40)).min(length);
            bytes.drain(at..end);
        }
        4 => {
            let end = (at + random.below(200)).min(length);
            let copy = bytes[at..end].to_vec();
            let target = random.below(length);
            bytes.splice(target..target, copy);
        }
        5 => {
            let signature = random.pick(SIGNATURES);
            bytes.splice(at..at, signature.iter().copied());
        }
        6 => {
            let more = random.below(30);
            let more: Vec<u8> = (0..more).map(|_| random.next() as u8).collect();
            bytes.extend(more);
        }
        7 => bytes[at] = random.pick(b"0123456789-+,()[]{}':\"LTF \x00\xff"),
        _ => {
            let number = random.odd_number().to_le_bytes();
            let width = random.pick(&[2, 4, 8]).min(length - at);
            bytes[at..at + width].copy_from_slice(&number[..width]);
        }
    }
}
