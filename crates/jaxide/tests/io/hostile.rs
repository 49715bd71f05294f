//! Damaged and malicious files are errors, found before memory is taken.

use jaxide::io::Archive;
use jaxide::prelude::*;
use jaxide_core::Tensor;

fn archive() -> Archive {
    [
        ("a", Tensor::from_vec(&[3], vec![1.0f32, 2.0, 3.0]).unwrap()),
        ("b", Tensor::scalar(7i64)),
        ("c", Tensor::bool(true)),
    ]
    .into_iter()
    .collect()
}

/// Cut short, or with any byte changed, a file gives arrays or an error.
fn survives_damage(whole: &[u8], parse: fn(&[u8]) -> Result<Archive>) {
    assert!(parse(whole).is_ok());
    for length in 0..whole.len() {
        assert!(parse(&whole[..length]).is_err(), "{length} bytes");
    }
    for index in 0..whole.len() {
        for change in [1u8, 0x20, 0x80, 0xff] {
            let mut damaged = whole.to_vec();
            damaged[index] ^= change;
            if let Ok(archive) = parse(&damaged) {
                assert!(archive.len() <= 3, "byte {index}");
            }
        }
    }
}

#[test]
fn damaged_archives_are_errors() {
    survives_damage(&archive().to_npz().unwrap(), Archive::from_npz);
    let compressed = include_bytes!("compressed.npz");
    for index in 0..compressed.len() {
        let mut damaged = compressed.to_vec();
        damaged[index] ^= 0x55;
        let _ = Archive::from_npz(&damaged).map(|archive| assert!(archive.len() <= 6));
    }
}

#[test]
fn damaged_safetensors_are_errors() {
    survives_damage(
        &archive().to_safetensors().unwrap(),
        Archive::from_safetensors,
    );
}

fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn absurd_safetensors_are_errors() {
    let cases = [
        safetensors("{", &[]),
        safetensors("[]", &[]),
        safetensors(
            r#"{"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4]}}"#,
            &[0; 4],
        ),
        safetensors(
            r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}"#,
            &[0; 4],
        ),
        safetensors(
            r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#,
            &[0; 4],
        ),
        safetensors(
            r#"{"a":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}}"#,
            &[0; 1],
        ),
        safetensors(
            r#"{"a":{"dtype":"Q8","shape":[1],"data_offsets":[0,1]}}"#,
            &[0; 1],
        ),
        u64::MAX.to_le_bytes().to_vec(),
        (1u64 << 40).to_le_bytes().to_vec(),
    ];
    for (number, bytes) in cases.iter().enumerate() {
        assert!(Archive::from_safetensors(bytes).is_err(), "{number}");
    }
    let odd = safetensors(
        r#"{"a":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}}"#,
        &[7, 0],
    );
    let read = Archive::from_safetensors(&odd).unwrap();
    assert_eq!(read.get("a").unwrap().to_bools(), [true, false]);
}

/// Sizes in a directory that no data can have are refused at once.
#[test]
fn archives_that_claim_to_be_huge_are_errors() {
    let whole = include_bytes!("compressed.npz");
    // The sizes in the directory: behind each signature, at 24.
    let entries: Vec<usize> = (0..whole.len() - 4)
        .filter(|&at| whole[at..].starts_with(b"PK\x01\x02"))
        .collect();
    assert_eq!(entries.len(), 6);
    for at in entries {
        let mut claimed = whole.to_vec();
        claimed[at + 24..at + 28].copy_from_slice(&0xffff_fff0u32.to_le_bytes());
        let error = Archive::from_npz(&claimed).unwrap_err();
        assert!(
            error.message().contains("member") || error.message().contains("damaged"),
            "{error}"
        );
    }
}

/// Members that share their data would grow a small file without end.
#[test]
fn members_that_overlap_are_errors() {
    let whole = archive().to_npz().unwrap();
    let directory: Vec<usize> = (0..whole.len() - 4)
        .filter(|&at| whole[at..].starts_with(b"PK\x01\x02"))
        .collect();
    let end = (0..whole.len() - 4)
        .find(|&at| whole[at..].starts_with(b"PK\x05\x06"))
        .unwrap();
    let first = &whole[directory[0]..directory[1]];
    let copies = 50u16;
    let mut bytes = whole[..directory[0]].to_vec();
    for copy in 0..copies {
        let mut entry = first.to_vec();
        entry[46] = b'A' + copy as u8;
        bytes.extend(entry);
    }
    let mut tail = whole[end..].to_vec();
    tail[8..10].copy_from_slice(&copies.to_le_bytes());
    tail[10..12].copy_from_slice(&copies.to_le_bytes());
    tail[12..16].copy_from_slice(&(copies as u32 * first.len() as u32).to_le_bytes());
    bytes.extend(tail);
    let error = Archive::from_npz(&bytes).unwrap_err();
    assert!(
        error.message().contains("overlap") || error.message().contains("damaged"),
        "{error}"
    );
}
