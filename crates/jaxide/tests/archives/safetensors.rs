//! `.safetensors` files, sound ones and others.

use crate::random::Random;

const TYPES: &[(&str, usize)] = &[
    ("BOOL", 1),
    ("U8", 1),
    ("I8", 1),
    ("F8_E4M3", 1),
    ("F8_E5M2", 1),
    ("I16", 2),
    ("BF16", 2),
    ("F16", 2),
    ("I32", 4),
    ("F32", 4),
    ("C64", 8),
    ("F64", 8),
    ("U64", 8),
];

/// A file, and whether it is sound.
pub(crate) fn file(random: &mut Random) -> (Vec<u8>, bool) {
    if random.one_in(2) {
        (sound(random), true)
    } else {
        (odd(random), false)
    }
}

fn sound(random: &mut Random) -> Vec<u8> {
    let (mut entries, mut end) = (Vec::new(), 0);
    for number in 0..random.below(6) {
        let (dtype, size) = random.pick(TYPES);
        let shape: Vec<usize> = (0..random.below(4)).map(|_| random.below(9)).collect();
        let start = end;
        end += size * shape.iter().product::<usize>();
        entries.push(format!(
            "\"layer.{number}\":{{\"dtype\":\"{dtype}\",\"shape\":{shape:?},\"data_offsets\":[{start},{end}]}}"
        ));
    }
    if random.one_in(3) {
        entries.push("\"__metadata__\":{\"by\":\"hand\"}".to_owned());
    }
    if entries.len() > 1 {
        let place = random.below(entries.len());
        entries.swap(0, place);
    }
    let header = format!("{{{}}}", entries.join(","));
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend((0..end).map(|_| random.next() as u8));
    bytes
}

fn odd(random: &mut Random) -> Vec<u8> {
    let mut entries = Vec::new();
    for _ in 0..random.below(5) {
        let name = random
            .pick(&["a", "b", "", "__metadata__", "\\u0000", "é", "\\ud800"])
            .to_owned();
        let dtype = match random.below(4) {
            0 => random.pick(&["F4", "F6_E2M3", "Q8", "", "f32", "F8_E8M0"]),
            _ => random.pick(TYPES).0,
        };
        let number = |random: &mut Random| match random.below(8) {
            0 => format!("-{}", random.below(10)),
            1 => "1e3".to_owned(),
            2 => "1.5".to_owned(),
            3 => "null".to_owned(),
            4 => random.odd_number().to_string(),
            _ => random.below(20).to_string(),
        };
        let shape: Vec<String> = match random.below(20) {
            0 => vec!["1".to_owned(); random.below(200_000)],
            _ => (0..random.below(4)).map(|_| number(random)).collect(),
        };
        let (start, end) = (number(random), number(random));
        let more = random.pick(&["", ",\"x\":1", ",\"dtype\":\"F32\"", ",\"shape\":[]"]);
        entries.push(match random.below(10) {
            0 => format!("\"{name}\":{}", "[".repeat(random.below(100_000))),
            1 => format!("\"{name}\":{}", number(random)),
            _ => format!(
                "\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":[{}],\"data_offsets\":[{start},{end}]{more}}}",
                shape.join(",")
            ),
        });
    }
    let mut header = match random.below(8) {
        0 => format!("[{}]", entries.join(",")),
        1 => "{".repeat(random.below(100_000)),
        _ => format!("{{{}}}", entries.join(",")),
    };
    if random.one_in(8) {
        header.push_str(&" ".repeat(random.below(1 << 20)));
    }
    let length = match random.below(4) {
        0 => random.odd_number(),
        _ => header.len() as u64,
    };
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    let count = random.below(200);
    bytes.extend((0..count).map(|_| random.next() as u8));
    bytes
}
