//! Ways to be hostile that are known, each with the message that says what is wrong.

use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::Instant;

use jaxide::io::{self, Archive, Reader};
use jaxide::{Array, DType, ErrorKind};
use jaxide_core::{Aval, memory};

use crate::zip_file::{End, Member, crc, deflated, zip};
use crate::{Format, LIMIT, TIME, examine, folder};

/// A file in a folder of its own.
fn file(name: &str, bytes: &[u8]) -> PathBuf {
    memory::set_limit(Some(LIMIT));
    let path = folder("known").join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn small() -> Vec<u8> {
    npy("<f4", "(2,)", &[0, 0, 128, 63, 0, 0, 0, 64])
}

/// A file is refused as a whole, soon, in little memory and with this message behind its name.
#[track_caller]
fn refused(name: &str, bytes: &[u8], message: &str) {
    let path = file(name, bytes);
    let format = match path.extension().unwrap().to_str().unwrap() {
        "npz" => Format::Npz,
        "npy" => Format::Npy,
        _ => Format::Safetensors,
    };
    let error = examine(&path, format).unwrap().all.unwrap_err();
    assert_eq!(error.message(), format!("{}: {message}", path.display()));
}

#[test]
fn damaged_members_are_named() {
    let one = |change: &dyn Fn(&mut Member)| {
        let mut member = Member::stored("b.npy", &small());
        change(&mut member);
        zip(
            &[Member::stored("a.npy", &small()), member],
            &End::default(),
        )
    };
    let path = file("sound.npz", &one(&|_| {}));
    let read = Archive::read_npz(&path).unwrap();
    assert_eq!(read.get("b").unwrap().to_vec::<f32>(), [1.0, 2.0]);

    refused(
        "crc.npz",
        &one(&|member| member.crc ^= 1),
        "member `b`: the data are damaged: Invalid checksum",
    );
    refused(
        "encrypted.npz",
        &one(&|member| member.flags = 1),
        "member `b`: the archive cannot be read: Password required to decrypt file",
    );
    refused(
        "method.npz",
        &one(&|member| member.method = 12),
        "member `b`: the header cannot be read: compression method not supported: 12",
    );
    refused(
        "folder.npz",
        &one(&|member| member.name = b"sub/".to_vec()),
        "member `sub/`: it is a folder, and no array",
    );
    refused(
        "twice.npz",
        &one(&|member| member.name = b"a".to_vec()),
        "member `a`: it is there twice",
    );
    refused(
        "same.npz",
        &one(&|member| member.name = b"a.npy".to_vec()),
        "two members of the archive have one name",
    );
    refused(
        "overlap.npz",
        &one(&|member| member.offset = Some(0)),
        "member `a`: it overlaps with what follows",
    );
    refused(
        "size.npz",
        &one(&|member| member.size += 1),
        "member `b`: it claims 76 bytes, which its 75 bytes in the archive cannot hold",
    );
    refused(
        "long.npz",
        &one(&|member| {
            member.data.push(0);
            member.crc = crc(&member.data);
            (member.size, member.compressed) = (76, 76);
        }),
        "member `b`: it has 76 bytes, and its header declares 75",
    );
    let data = |data: Vec<u8>| zip(&[Member::stored("x.npy", &data)], &End::default());
    let shapes = [
        ("(-2,)", "member `x`: `-2` is no length of an axis"),
        (
            "(2, 18446744073709551616)",
            "member `x`: `18446744073709551616` is no length of an axis",
        ),
        (
            "(9999999999, 9999999999)",
            "member `x`: shape [9999999999, 9999999999] has more elements than can be addressed",
        ),
        (
            "(4000000000,)",
            "member `x`: it has 84 bytes, and its header declares 16000000076",
        ),
    ];
    for (shape, message) in shapes {
        refused("shape.npz", &data(npy("<f4", shape, &[0; 8])), message);
    }
    refused(
        "dtype.npz",
        &data(npy("<M8[s]", "(1,)", &[0; 8])),
        "member `x`: arrays of dtype `<M8[s]` cannot be read",
    );
    refused(
        "none.npz",
        &data(b"hello, what is this".to_vec()),
        "member `x`: the data are no array: they do not begin as one",
    );
    refused(
        "empty.npz",
        &data(Vec::new()),
        "member `x`: the header of the array ends early",
    );
    let sound = one(&|_| {});
    for length in [0, 1, 50, sound.len() - 1] {
        let path = file("cut.npz", &sound[..length]);
        let message = Archive::read_npz(&path).unwrap_err().message().to_owned();
        assert!(
            message.contains("cut.npz: the archive is damaged"),
            "{message}"
        );
    }
}

/// One megabyte that twenty thousand members claim to be theirs.
#[test]
fn members_that_share_their_data_are_refused_at_once() {
    let large = npy("|u1", "(1000000,)", &vec![1; 1_000_000]);
    let first = Member::stored("m0.npy", &large);
    let others = (1..20_000).map(|number| {
        let mut member = Member {
            data: Vec::new(),
            ..first.clone()
        };
        member.name = format!("m{number}.npy").into_bytes();
        member.offset = Some(0);
        member
    });
    let members: Vec<Member> = std::iter::once(first.clone()).chain(others).collect();
    let path = file("shared.npz", &zip(&members, &End::default()));
    let outcome = examine(&path, Format::Npz).unwrap();
    let message = outcome.all.unwrap_err().message().to_owned();
    assert!(
        message.contains("it overlaps with what follows"),
        "{message}"
    );
    assert!(Reader::open_npz(&path).is_err());
}

/// A quarter of a gigabyte in a quarter of a megabyte: it is neither what is wanted, nor is there memory for it.
#[test]
fn what_grows_is_refused_before_it_does() {
    let count = 256 << 20;
    let mut data = npy("|u1", &format!("({count},)"), &[]);
    data.resize(data.len() + count, 0);
    let packed = deflated(&data);
    let bomb = Member {
        size: data.len() as u64,
        compressed: packed.len() as u64,
        crc: 0,
        data: packed,
        method: 8,
        ..Member::stored("bomb.npy", &[])
    };
    drop(data);
    let path = file(
        "bomb.npz",
        &zip(&[bomb, Member::stored("x.npy", &small())], &End::default()),
    );
    let start = Instant::now();
    let allocated = allocation_counter::measure(|| {
        let mut reader = Reader::open_npz(&path).unwrap();
        let wanted = Aval::new(DType::F32, &[2]);
        assert_eq!(
            reader.value("x", &wanted).unwrap().to_vec::<f32>().unwrap(),
            [1.0, 2.0]
        );
        assert_eq!(reader.aval("bomb").unwrap(), Aval::new(DType::U8, &[count]));
        let error = reader.value("bomb", &wanted).unwrap_err();
        assert!(
            error.message().ends_with(
                "bomb.npz: member `bomb`: the array is u8[268435456], and f32[2] is expected"
            ),
            "{error}"
        );
        let error = reader.read("bomb").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(error.message().ends_with(
            "bomb.npz: member `bomb`: 268435456 bytes of memory are needed, and 67108864 may be taken"
        ), "{error}");
        let like = vec![Array::spec(DType::F32, 2)];
        assert!(io::load_npz(&path, &like).is_err());
        assert!(Archive::read_npz(&path).is_err());
    });
    assert!(start.elapsed() < TIME, "{:?}", start.elapsed());
    assert!(allocated.bytes_max < 1 << 20, "{}", allocated.bytes_max);
}

/// Directories that claim a billion members, in files that seem to have room for them and are holes.
#[test]
fn directories_are_as_large_as_their_file_really_is() {
    let path = file("sparse.npz", &[]);
    let mut sparse = std::fs::File::create(&path).unwrap();
    let size = 64u64 << 30;
    for (members, length) in [(1_000_000_000, 44), (0, size - 200)] {
        let end = End {
            members: Some(members),
            size: Some(members * 46),
            offset: Some(0),
            wide: Some(length),
            ..End::default()
        };
        let mut tail = zip(&[], &end);
        let at = size - tail.len() as u64;
        // Where the record is, which the locator names.
        let named = tail.len() - 22 - 20 + 8;
        let record = if length == 44 { at } else { 100 };
        tail[named..named + 8].copy_from_slice(&record.to_le_bytes());
        sparse.set_len(size).unwrap();
        sparse.seek(SeekFrom::Start(at)).unwrap();
        sparse.write_all(&tail).unwrap();
        if record != at {
            sparse.seek(SeekFrom::Start(record)).unwrap();
            sparse.write_all(&tail[..56]).unwrap();
        }
        let error = examine(&path, Format::Npz).unwrap().all.unwrap_err();
        assert!(
            error.message().contains("sparse.npz: its directory claims"),
            "{error}"
        );
    }
    // Without an end, the file is not searched for one from end to end.
    sparse.set_len(0).unwrap();
    sparse.set_len(size).unwrap();
    assert!(examine(&path, Format::Npz).unwrap().all.is_err());
    assert!(examine(&path, Format::Npy).unwrap().all.is_err());
    assert!(examine(&path, Format::Safetensors).unwrap().all.is_err());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn damaged_headers_of_safetensors_are_explained() {
    let made = |header: &str, data: usize| {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.resize(bytes.len() + data, 0);
        bytes
    };
    let entry = |name: &str, dtype: &str, shape: &str, start: usize, end: usize| {
        format!(
            "\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":[{shape}],\"data_offsets\":[{start},{end}]}}"
        )
    };
    let of = |entries: &[String], data: usize| made(&format!("{{{}}}", entries.join(",")), data);
    let name = "x.safetensors";
    refused(name, b"abc", "the file is too short for a header");
    refused(
        name,
        &u64::MAX.to_le_bytes(),
        "the header claims 18446744073709551615 bytes, and the file has 8",
    );
    refused(
        name,
        &of(
            &[entry("a", "F32", "1", 0, 4), entry("b", "F32", "1", 2, 6)],
            6,
        ),
        "member `b`: its data are at 2 to 6, where 4 is free: an overlap",
    );
    refused(
        name,
        &of(
            &[entry("a", "F32", "1", 0, 4), entry("b", "F32", "1", 8, 12)],
            12,
        ),
        "member `b`: its data are at 8 to 12, where 4 is free: a gap",
    );
    refused(
        name,
        &of(&[entry("a", "F32", "3", 0, 8)], 8),
        "member `a`: its 8 bytes are not those of F32 with shape [3]",
    );
    refused(
        name,
        &of(&[entry("a", "F32", "4611686018427387904,8", 0, 8)], 8),
        "member `a`: shape [4611686018427387904, 8] has more elements than can be addressed",
    );
    refused(
        name,
        &of(
            &[entry("a", "F32", "1", 0, 4), entry("a", "F32", "0", 4, 4)],
            4,
        ),
        "member `a`: it is there twice",
    );
    refused(
        name,
        &of(&[entry("a", "F32", "1", 0, 4)], 5),
        "the header declares 4 bytes of data, and the file has 5",
    );
    refused(
        name,
        &of(&[entry("a", "F4", "2", 0, 1)], 1),
        "member `a`: arrays of element type F4 cannot be read",
    );
    let path = file(name, &made(&format!("{{\"a\":{}", "[".repeat(1 << 20)), 0));
    let error = examine(&path, Format::Safetensors)
        .unwrap()
        .all
        .unwrap_err();
    assert!(
        error
            .message()
            .contains("the header is damaged: member `a`: "),
        "{error}"
    );
    let mut huge = (17u64 << 20).to_le_bytes().to_vec();
    huge.resize(18 << 20, b' ');
    refused(
        name,
        &huge,
        "the header claims 17825792 bytes, and 2097152 are the most",
    );
}

/// A limit holds for all arrays of a file together, and for those that are there twice while they are read.
#[test]
fn arrays_are_added_up() {
    memory::set_limit(Some(LIMIT));
    let part = npy("|u1", "(24000000,)", &vec![0; 24_000_000]);
    let members: Vec<Member> = (0..3)
        .map(|n| Member::stored(&format!("m{n}.npy"), &part))
        .collect();
    let path = file("three.npz", &zip(&members, &End::default()));
    let mut reader = Reader::open_npz(&path).unwrap();
    assert_eq!(reader.read("m2").unwrap().len(), 24_000_000);
    let error = reader.read_all().unwrap_err();
    assert!(
        error
            .message()
            .ends_with("three.npz: 72000000 bytes of memory are needed, and 67108864 may be taken"),
        "{error}"
    );
    let mut turned = npy("|u1", "(2, 20000000)", &vec![0; 40_000_000]);
    let at = turned
        .windows(5)
        .position(|bytes| bytes == b"False")
        .unwrap();
    turned[at..at + 5].copy_from_slice(b"True ");
    let path = file("turned.npy", &turned);
    let error = io::read_npy(&path).unwrap_err();
    assert!(
        error.message().ends_with(
            "turned.npy: 80000000 bytes of memory are needed, and 67108864 may be taken"
        ),
        "{error}"
    );
    std::fs::remove_file(path).unwrap();
}

/// What is no file of bytes in any order is refused, and not waited for.
#[cfg(unix)]
#[test]
fn folders_pipes_and_devices_are_no_archives() {
    let pipe = folder("known").join("pipe");
    let _ = std::fs::remove_file(&pipe);
    let made = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .unwrap();
    assert!(made.success());
    for (path, what) in [
        (folder("known"), "it is a directory"),
        (
            pipe.clone(),
            "it is no regular file: arrays are not read in order",
        ),
        (
            "/dev/zero".into(),
            "it is no regular file: arrays are not read in order",
        ),
        (
            "/dev/null".into(),
            "it is no regular file: arrays are not read in order",
        ),
        ("no/such".into(), "No such file or directory (os error 2)"),
    ] {
        for format in [Format::Npy, Format::Npz, Format::Safetensors] {
            let error = examine(&path, format).unwrap().all.unwrap_err();
            assert_eq!(error.message(), format!("{}: {what}", path.display()));
        }
    }
    std::fs::remove_file(pipe).unwrap();
}
