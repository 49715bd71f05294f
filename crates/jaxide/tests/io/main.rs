//! Arrays and trees in files, beside files that NumPy wrote (`record.py`).

mod hostile;

use std::collections::BTreeMap;
use std::path::PathBuf;

use half::bf16;
use jaxide::io::{self, Archive};
use jaxide::prelude::*;
use jaxide::{ErrorKind, random};
use jaxide_core::{Scalar, Tensor};

/// A file that is removed at the end.
pub(crate) struct Temporary(PathBuf);

impl Temporary {
    pub(crate) fn new(name: &str) -> Self {
        Temporary(std::env::temp_dir().join(format!("jaxide-{}-{name}", std::process::id())))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn file(name: &str) -> String {
    format!("{}/tests/io/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[derive(Clone, Debug, Pytree)]
struct Layer {
    weight: Array,
    bias: Array,
}

#[derive(Clone, Debug, Pytree)]
struct Model {
    layers: Vec<Layer>,
    step: Array,
    flags: Option<Array>,
    #[pytree(static)]
    name: String,
}

/// The types of the model that NumPy wrote.
fn model() -> Model {
    let layer = |weight: [usize; 2], bias, width: usize| Layer {
        weight: Array::spec(DType::F32, weight),
        bias: Array::spec(bias, width),
    };
    Model {
        layers: vec![
            layer([2, 3], DType::BF16, 2),
            layer([3, 2], DType::F64, 300),
        ],
        step: Array::spec(DType::I32, ()),
        flags: Some(Array::spec(DType::Bool, 3)),
        name: "net".into(),
    }
}

fn check(read: &Model) {
    let [first, second] = &read.layers[..] else {
        panic!("two layers")
    };
    assert_eq!(first.weight.to_vec::<f32>(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(first.bias.to_vec::<bf16>(), [0.5, -0.5].map(bf16::from_f64));
    assert_eq!(
        second.weight.to_vec::<f32>(),
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    );
    assert_eq!(second.bias.to_vec::<f64>(), [0.0; 300]);
    assert_eq!(read.step.item::<i32>(), 7);
    assert_eq!(read.flags.as_ref().unwrap().to_bools(), [true, false, true]);
    assert_eq!(read.name, "net");
}

#[test]
fn trees_are_read_from_what_numpy_wrote() {
    check(&io::load_npz(file("compressed.npz"), &model()).unwrap());
    let small = io::read_npy(file("big_endian.npy")).unwrap();
    assert_eq!(small.to_vec::<i32>(), [-2, -1, 0, 1, 2]);
}

#[test]
fn trees_survive_both_formats() {
    let read = io::load_npz(file("compressed.npz"), &model()).unwrap();
    let (npz, safetensors) = (
        Temporary::new("tree.npz"),
        Temporary::new("tree.safetensors"),
    );
    io::save_npz(&npz.0, &read).unwrap();
    check(&io::load_npz(&npz.0, &model()).unwrap());
    io::save_safetensors(&safetensors.0, &read).unwrap();
    check(&io::load_safetensors(&safetensors.0, &model()).unwrap());
    let names = [
        "layers.0.weight",
        "layers.0.bias",
        "layers.1.weight",
        "layers.1.bias",
        "step",
        "flags",
    ];
    let archive = Archive::read_npz(&npz.0).unwrap();
    assert_eq!(archive.names().collect::<Vec<_>>(), names);
    let mut stored = Archive::read_safetensors(&safetensors.0).unwrap();
    assert_eq!(stored.len(), 6);
    assert_eq!(stored.get("layers.0.bias").unwrap().dtype(), DType::BF16);
    assert_eq!(stored.remove("step").unwrap().item::<i32>(), 7);
    assert!(stored.get("step").is_none());
}

/// Some bits of every element type; those that a file has no name for come back through the type that is expected.
#[test]
fn arrays_of_every_element_type_survive_both_formats() {
    for &dtype in DType::ALL {
        let array = if dtype.is_key() {
            let words: Vec<u8> = (0..6 * dtype.size())
                .map(|byte| (byte * 37) as u8)
                .collect();
            Tensor::from_bytes(&[2, 3], dtype, &words).unwrap()
        } else {
            Tensor::full(&[2, 3], dtype, Scalar::Int(1)).unwrap()
        };
        let archive: Archive = [("x", array.clone())].into_iter().collect();
        if dtype == DType::Float0 {
            assert_eq!(archive.to_npz().unwrap_err().kind(), ErrorKind::Unsupported);
            assert_eq!(
                archive.to_safetensors().unwrap_err().kind(),
                ErrorKind::Unsupported
            );
            continue;
        }
        for read in [
            Archive::from_npz(&archive.to_npz().unwrap()).unwrap(),
            Archive::from_safetensors(&archive.to_safetensors().unwrap()).unwrap(),
        ] {
            assert_eq!(read.value("x", &array.aval()).unwrap(), array, "{dtype}");
        }
    }
}

#[test]
fn random_keys_are_stored_as_words() {
    let keys = random::split(&random::key(42), 3);
    let archive = Archive::from_tree(&keys).unwrap();
    assert_eq!(archive.names().collect::<Vec<_>>(), ["value"]);
    let read = Archive::from_safetensors(&archive.to_safetensors().unwrap()).unwrap();
    assert_eq!(read.get("value").unwrap().aval().to_string(), "u32[3,2]");
    let back = read.to_tree(&keys).unwrap();
    let draw = |keys: &Array| random::normal(&keys.index(1), 4, DType::F32).to_vec::<f32>();
    assert_eq!(draw(&back), draw(&keys));
}

/// The bytes of a `.safetensors` file by its specification.
#[test]
fn safetensors_are_what_their_specification_says() {
    let header = r#"{"b":{"dtype":"F16","shape":[2],"data_offsets":[12,16]},"a":{"dtype":"I32","shape":[3,1],"data_offsets":[0,12]},"__metadata__":{"by":"hand"}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend([1i32, -2, 3].iter().flat_map(|x| x.to_le_bytes()));
    bytes.extend([0x3c00u16, 0xc000].iter().flat_map(|x| x.to_le_bytes()));
    let read = Archive::from_safetensors(&bytes).unwrap();
    assert_eq!(format!("{read:?}"), r#"{"a": "i32[3,1]", "b": "f16[2]"}"#);
    assert_eq!(read.get("a").unwrap().to_vec::<i32>(), [1, -2, 3]);
    assert_eq!(
        read.get("b").unwrap().astype(DType::F32).to_vec::<f32>(),
        [1.0, -2.0]
    );

    let written = read.to_safetensors().unwrap();
    let length = u64::from_le_bytes(written[..8].try_into().unwrap()) as usize;
    let header = str::from_utf8(&written[8..8 + length]).unwrap();
    assert!(
        header.contains(r#""a":{"dtype":"I32","shape":[3,1],"data_offsets":[0,12]}"#),
        "{header}"
    );
    assert_eq!(written[8 + length..], bytes[bytes.len() - 16..]);
}

#[test]
fn names_may_be_any_text() {
    let names = ["a/b", "..", "ü", "", "x.npy", "a b"];
    let tree: BTreeMap<String, Array> = names
        .iter()
        .zip(1..)
        .map(|(name, n)| (name.to_string(), Array::scalar(n)))
        .collect();
    let archive = Archive::from_tree(&tree).unwrap();
    let npz = Archive::from_npz(&archive.to_npz().unwrap()).unwrap();
    let stored = Archive::from_safetensors(&archive.to_safetensors().unwrap()).unwrap();
    for read in [npz, stored] {
        let back = read.to_tree(&tree).unwrap();
        assert_eq!(back["ü"].item::<i32>(), 3);
        assert_eq!(back[""].item::<i32>(), 4);
        assert_eq!(back["x.npy"].item::<i32>(), 5);
    }
}

fn said<T>(result: Result<T>) -> (Option<String>, String) {
    let error = result.map(|_| ()).unwrap_err();
    (error.path().map(str::to_owned), error.message().to_owned())
}

#[test]
fn mistakes_name_the_path() {
    let archive = Archive::read_npz(file("compressed.npz")).unwrap();
    let mut like = model();
    like.layers[1].weight = Array::spec(DType::F32, (2, 2));
    assert_eq!(
        said(archive.to_tree(&like)),
        (
            Some(".layers[1].weight".into()),
            "member `layers.1.weight`: the array is f32[3,2], and f32[2,2] is expected".into()
        )
    );
    like = model();
    like.step = Array::spec(DType::U32, ());
    assert_eq!(said(archive.to_tree(&like)).0.as_deref(), Some(".step"));
    // Bits are no numbers: `i32` is not what `f32` is stored as.
    like.step = Array::spec(DType::F32, ());
    assert_eq!(said(archive.to_tree(&like)).0.as_deref(), Some(".step"));

    let mut missing = archive.clone();
    missing.remove("layers.0.bias");
    let (path, message) = said(missing.to_tree(&model()));
    assert_eq!(path.as_deref(), Some(".layers[0].bias"));
    assert!(
        message.starts_with("there is no member `layers.0.bias`, only layers.0.weight, "),
        "{message}"
    );

    like = model();
    like.flags = None;
    assert_eq!(
        said(archive.to_tree(&like)),
        (None, "the tree has no place for flags".into())
    );

    use jaxide::tree::Tree;
    let leaf = |n: i32| Tree::Leaf(Array::from(n));
    let clash = Tree::dict([("a", Tree::list([leaf(1)])), ("a.0", leaf(2))]).unwrap();
    assert_eq!(
        said(Archive::from_tree(&clash)),
        (
            Some("['a.0']".into()),
            "`a.0` is the name of the array at ['a'][0] too".into()
        )
    );

    // Of many names, eight are told.
    for (count, told) in [
        (0, "only none"),
        (1, "only m0"),
        (8, "only m0, m1, m2, m3, m4, m5, m6, m7"),
        (9, "only m0, m1, m2, m3, m4, m5, m6, m7 and 1 more"),
        (20, "only m0, m1, m2, m3, m4, m5, m6, m7 and 12 more"),
    ] {
        let mut many = Archive::new();
        for k in 0..count {
            many.insert(format!("m{k}"), &Array::from([k])).unwrap();
        }
        assert_eq!(many.len(), count as usize);
        let wanted = BTreeMap::from([("z".to_owned(), Array::from([0]))]);
        let (_, message) = said(many.to_tree(&wanted));
        assert_eq!(message, format!("there is no member `z`, {told}"));
    }

    let (_, message) = said(io::load_npz("no/such.npz", &model()));
    assert!(message.starts_with("no/such.npz: "), "{message}");
    let error = make_jaxpr(|x: Array| {
        assert_eq!(
            said(Archive::from_tree(&vec![x.clone()])).0.as_deref(),
            Some("[0]")
        );
        x
    });
    error(Array::spec(DType::F32, ())).unwrap();
}

#[test]
fn arrays_are_written_as_npy() {
    let path = Temporary::new("x.npy");
    for x in [
        Array::from([[1.5f64, 2.5]]),
        Array::scalar(true),
        Array::zeros([0, 3], DType::C64),
        Array::from(3),
    ] {
        io::write_npy(&path.0, &x).unwrap();
        let read = io::read_npy(&path.0).unwrap();
        assert_eq!(read.value(), x.value());
    }
}

#[test]
fn archives_are_maps_in_order() {
    let empty: Archive = std::iter::empty::<(String, jaxide_core::Tensor)>().collect();
    assert!(empty.is_empty());
    assert_eq!(empty.len(), 0);
    assert!(
        Archive::from_npz(&empty.to_npz().unwrap())
            .unwrap()
            .is_empty()
    );
    let mut two: Archive = [("b", 1i32), ("a", 2)]
        .map(|(name, number)| (name, jaxide_core::Tensor::scalar(number)))
        .into_iter()
        .collect();
    assert_eq!(two.names().collect::<Vec<_>>(), ["b", "a"]);
    assert!(!two.is_empty() && two.len() == 2);
    assert_eq!(two.remove("b").unwrap().item::<i32>(), 1);
    assert!(two.remove("b").is_none() && two.len() == 1);
}

/// What is stored as bits is read as bits where no file has the type itself; numbers are never bits of others.
#[test]
fn bits_are_read_where_files_have_no_such_type() {
    let read = |stored: Tensor, dtype: DType| {
        let archive: Archive = [("x", stored)].into_iter().collect();
        let like = BTreeMap::from([("x".to_owned(), Array::spec(dtype, &[2]))]);
        archive
            .to_tree(&like)
            .map(|mut tree| tree.remove("x").unwrap())
    };
    let zeros = |dtype: DType, shape: &[usize]| Tensor::zeros(shape, dtype).unwrap();
    for (dtype, bits) in [
        (DType::Bool, DType::U8),
        (DType::I8, DType::U8),
        (DType::I16, DType::U16),
        (DType::I32, DType::U32),
        (DType::I64, DType::U64),
        (DType::F16, DType::U16),
        (DType::F32, DType::U32),
        (DType::F64, DType::U64),
    ] {
        assert!(read(zeros(bits, &[2]), dtype).is_err(), "{dtype}");
        assert!(read(zeros(dtype, &[2]), dtype).is_ok(), "{dtype}");
    }
    assert!(read(zeros(DType::F32, &[2, 2]), DType::C64).is_err());
    assert!(read(zeros(DType::F64, &[2, 2]), DType::C128).is_ok());
    assert!(read(zeros(DType::U16, &[2]), DType::BF16).is_ok());
    assert!(read(zeros(DType::U8, &[2]), DType::F8E5M2).is_ok());
    assert!(read(zeros(DType::U16, &[3]), DType::BF16).is_err());
    // Narrow integers are bytes that have to fit.
    let bytes = |numbers: [i8; 2]| Tensor::from_vec(&[2], numbers.to_vec()).unwrap();
    for (dtype, low, high) in [(DType::I4, -8i8, 7i8), (DType::I2, -2, 1)] {
        let kept = read(bytes([low, high]), dtype).unwrap();
        assert_eq!(kept.astype(DType::I8).to_vec::<i8>(), [low, high]);
        assert!(read(bytes([0, high + 1]), dtype).is_err(), "{dtype}");
        assert!(read(bytes([low - 1, 0]), dtype).is_err(), "{dtype}");
    }
    let bytes = |numbers: [u8; 2]| Tensor::from_vec(&[2], numbers.to_vec()).unwrap();
    for (dtype, high) in [(DType::U4, 15u8), (DType::U2, 3)] {
        let kept = read(bytes([0, high]), dtype).unwrap();
        assert_eq!(kept.astype(DType::U8).to_vec::<u8>(), [0, high]);
        assert!(read(bytes([0, high + 1]), dtype).is_err(), "{dtype}");
    }
}

#[test]
fn small_members_have_plain_headers() {
    let archive: Archive = [("x", Tensor::scalar(1i32))].into_iter().collect();
    let bytes = archive.to_npz().unwrap();
    // The version of the format that a reader needs: 4.5 is that of members of 4 GiB.
    assert_eq!(&bytes[..4], b"PK\x03\x04");
    assert!(bytes[4] < 45, "{}", bytes[4]);
}
