//! `.npy` files, sound ones and others.

use crate::random::Random;

/// A file, and whether it is sound.
pub(crate) fn file(random: &mut Random) -> (Vec<u8>, bool) {
    if random.one_in(2) {
        (sound(random), true)
    } else {
        (odd(random), false)
    }
}

const TYPES: &[(&str, usize)] = &[
    ("|b1", 1),
    ("|i1", 1),
    ("<i2", 2),
    (">i4", 4),
    ("<i8", 8),
    ("|u1", 1),
    (">u2", 2),
    ("<u4", 4),
    (">u8", 8),
    ("<f2", 2),
    ("<f4", 4),
    (">f8", 8),
    ("<c8", 8),
    (">c16", 16),
    ("|V2", 2),
];

/// A file that NumPy could have written.
pub(crate) fn sound(random: &mut Random) -> Vec<u8> {
    let (descr, size) = random.pick(TYPES);
    let shape: Vec<usize> = (0..random.below(4)).map(|_| random.below(9)).collect();
    let order = random.pick(&["True", "False"]);
    let lengths: String = shape.iter().map(|length| format!("{length}, ")).collect();
    let header =
        format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({lengths}), }}");
    let header = header.replace("(, )", "()");
    let version = random.pick(&[1, 2, 3]);
    let mut bytes = start(version, header.len() as u64);
    bytes.extend(header.as_bytes());
    let count: usize = shape.iter().product::<usize>() * size;
    bytes.extend((0..count).map(|_| random.next() as u8));
    bytes
}

fn start(version: u8, length: u64) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    let width = if version == 1 { 2 } else { 4 };
    bytes.extend(&length.to_le_bytes()[..width]);
    bytes
}

/// A file that says something that is not so, or has no meaning.
pub(crate) fn odd(random: &mut Random) -> Vec<u8> {
    let descr = match random.below(3) {
        0 => format!("'{}'", random.pick(TYPES).0),
        1 => random
            .pick(&[
                "'<f16'",
                "'|O'",
                "'<U8'",
                "'<M8[ns]'",
                "'|V99999999999'",
                "''",
                "'é'",
                "[('x', '<f4')]",
                "None",
                "'",
                "\"<f4\"",
                "'<f4\0'",
                "{'descr': '<f4'}",
            ])
            .to_owned(),
        _ => format!("'{}'", "<".repeat(random.below(70_000))),
    };
    let order = random.pick(&["True", "False", "false", "1", "", "Falsey"]);
    let shape: Vec<String> = (0..random.below(5))
        .map(|_| match random.below(5) {
            0 => format!("-{}", random.odd_number()),
            1 => format!("{}L", random.below(5)),
            2 => random
                .pick(&[
                    "1.5",
                    "x",
                    "",
                    "+3",
                    "0x10",
                    "99999999999999999999999",
                    "é",
                    "()",
                ])
                .to_owned(),
            _ => random.odd_number().to_string(),
        })
        .collect();
    let shape = match random.below(12) {
        0 => "(".repeat(random.below(3000)),
        1 => format!("({})", "1,".repeat(random.below(30_000))),
        2 => "[2, 3]".to_owned(),
        _ => format!("({},)", shape.join(", ")),
    };
    let mut entries = vec![
        format!("'descr': {descr}"),
        format!("'fortran_order': {order}"),
        format!("'shape': {shape}"),
    ];
    if random.one_in(4) {
        let place = random.below(3);
        entries.swap(0, place);
    }
    if random.one_in(6) {
        entries.pop();
    }
    if random.one_in(6) {
        entries.push(
            random
                .pick(&["'shape': (1,)", "'x': 1", "", "'descr': '<f4'", "}"])
                .to_owned(),
        );
    }
    let mut header = format!("{{{}}}", entries.join(", "));
    if random.one_in(8) {
        header.push_str(random.pick(&["x", "\0", "}", " \n"]));
    }
    let version = random.pick(&[1, 1, 1, 2, 3, 0, 4, 255]);
    let length = match random.below(4) {
        0 => random.odd_number(),
        _ => header.len() as u64,
    };
    let mut bytes = start(version, length);
    bytes.extend(header.as_bytes());
    let count = random.below(3000);
    bytes.extend((0..count).map(|_| random.next() as u8));
    bytes
}
