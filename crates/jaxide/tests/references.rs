//! Mutable references against elements written one by one.

use jaxide::prelude::*;
use jaxide::{Ref, RefAt, numpy};
use proptest::prelude::*;

/// An index of one axis, in numbers below its length and beyond.
#[derive(Clone, Debug)]
enum At {
    Number(usize),
    Computed(usize),
    Range(usize, usize),
    All,
}

#[derive(Clone, Debug)]
enum Act {
    Get,
    Set,
    Swap,
    Add,
    SetAll,
    GetAll,
}

impl At {
    /// The index, and the positions that it names along an axis of this length, and whether the axis stays.
    fn on(&self, length: usize) -> (RefAt, Vec<usize>, bool) {
        match *self {
            At::Number(n) => ((n % length).into(), vec![n % length], false),
            At::Computed(n) => {
                let index = Array::from((n % length) as i32) + 0;
                (index.into(), vec![n % length], false)
            }
            At::Range(a, b) => {
                let (a, b) = (a % (length + 1), b % (length + 1));
                let range = a.min(b)..a.max(b);
                (range.clone().into(), range.collect(), true)
            }
            At::All => ((..).into(), (0..length).collect(), true),
        }
    }
}

/// Places in row-major order, and the shape of what stands there.
fn places(shape: &[usize], at: &[At]) -> (Vec<RefAt>, Vec<usize>, Vec<usize>) {
    let mut refs = Vec::new();
    let (mut places, mut part) = (vec![0], Vec::new());
    for (axis, &length) in shape.iter().enumerate() {
        let (positions, stays) = match at.get(axis) {
            Some(at) => {
                let (index, positions, stays) = at.on(length);
                refs.push(index);
                (positions, stays)
            }
            None => ((0..length).collect(), true),
        };
        if stays {
            part.push(positions.len());
        }
        places = places
            .iter()
            .flat_map(|&place| positions.iter().map(move |&k| place * length + k))
            .collect();
    }
    (refs, places, part)
}

fn at() -> impl Strategy<Value = At> {
    prop_oneof![
        (0usize..20).prop_map(At::Number),
        (0usize..20).prop_map(At::Computed),
        (0usize..20, 0usize..20).prop_map(|(a, b)| At::Range(a, b)),
        Just(At::All),
    ]
}

fn acts() -> impl Strategy<Value = Vec<(Act, Vec<At>)>> {
    let act = prop_oneof![
        Just(Act::Get),
        Just(Act::Set),
        Just(Act::Swap),
        Just(Act::Add),
        Just(Act::SetAll),
        Just(Act::GetAll),
    ];
    prop::collection::vec((act, prop::collection::vec(at(), 0..4)), 1..6)
}

/// What is read on the way and what is left, by references.
fn by_references(x: &Array, acts: &[(Act, Vec<At>)]) -> Vec<Array> {
    let cell = Ref::new(x);
    let mut seen = Vec::new();
    for (number, (act, at)) in acts.iter().enumerate() {
        let (at, _, part) = places(x.shape(), &at[..at.len().min(x.ndim())]);
        let value = |shape: &[usize]| numpy::ones(shape, DType::F32) * (number as f32 + 0.5);
        match act {
            Act::Get => seen.push(cell.get_at(&at)),
            Act::Set => cell.set_at(&at, &value(&part)),
            Act::Swap => seen.push(cell.swap_at(&at, &value(&part))),
            Act::Add => cell.add_at(&at, &value(&part)),
            Act::SetAll => cell.set(&value(x.shape())),
            Act::GetAll => seen.push(cell.clone().get()),
        }
    }
    seen.push(cell.freeze());
    seen
}

fn by_elements(shape: &[usize], x: &[f32], acts: &[(Act, Vec<At>)]) -> Vec<(Vec<usize>, Vec<f32>)> {
    let mut cell = x.to_vec();
    let mut seen = Vec::new();
    for (number, (act, at)) in acts.iter().enumerate() {
        let (_, places, part) = places(shape, &at[..at.len().min(shape.len())]);
        let value = number as f32 + 0.5;
        let read = |cell: &[f32]| places.iter().map(|&place| cell[place]).collect();
        match act {
            Act::Get => seen.push((part, read(&cell))),
            Act::Set => places.iter().for_each(|&place| cell[place] = value),
            Act::Swap => {
                seen.push((part, read(&cell)));
                places.iter().for_each(|&place| cell[place] = value);
            }
            Act::Add => places.iter().for_each(|&place| cell[place] += value),
            Act::SetAll => cell.fill(value),
            Act::GetAll => seen.push((shape.to_vec(), cell.clone())),
        }
    }
    seen.push((shape.to_vec(), cell));
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn references_are_arrays_of_elements(shape in prop::collection::vec(1usize..4, 0..4), acts in acts()) {
        let size: usize = shape.iter().product();
        let elements: Vec<f32> = (0..size).map(|k| k as f32).collect();
        let x = Array::from_vec(&shape, elements.clone());
        let want = by_elements(&shape, &elements, &acts);
        let got = jit(move |x: Array| by_references(&x, &acts))(x);
        let got: Vec<_> = got.iter().map(|y| (y.shape().to_vec(), y.to_vec::<f32>())).collect();
        prop_assert_eq!(got, want);
    }
}

/// What the function on a reference to a 3 x 2 matrix says.
#[track_caller]
fn refusal(f: impl Fn(&Ref) + Send + Sync + 'static) -> String {
    let traced = jit(move |x: Array| {
        let cell = Ref::new(&x);
        f(&cell);
        cell.freeze()
    });
    let x = numpy::ones(&[3, 2], DType::F32);
    traced.try_call((x,)).unwrap_err().to_string()
}

#[test]
fn indices_out_of_bounds_are_refused() {
    // At the ends of an axis nothing is out of bounds yet.
    let empty = jit(|x: Array| {
        let cell = Ref::new(&x);
        (
            cell.get_at(&[(3..3).into()]),
            cell.get_at(&[(0..3).into(), (1..2).into()]),
        )
    });
    let (none, column) = empty(numpy::ones(&[3, 2], DType::F32));
    assert_eq!((none.shape(), column.shape()), (&[0, 2][..], &[3, 1][..]));
    for (range, text) in [(0..4, "0..4"), (4..4, "4..4")] {
        let said = refusal(move |cell| drop(cell.get_at(&[range.clone().into()])));
        assert!(
            said.contains(&format!("{text} is not within axis 0")),
            "{said}"
        );
    }
    let said = refusal(|cell| drop(cell.get_at(&[RefAt::Range(2, 1)])));
    assert!(said.contains("2..1 is not within axis 0"), "{said}");
    let said = refusal(|cell| cell.set_at(&[RefAt::All, RefAt::Range(1, 3)], &Array::from(0.0f32)));
    assert!(said.contains("1..3 is not within axis 1"), "{said}");
    let said = refusal(|cell| drop(cell.get_at(&[RefAt::All, RefAt::All, RefAt::All])));
    assert!(said.contains("3 indices are given for"), "{said}");
    let said = refusal(|cell| cell.set(&Array::from([1.0f32])));
    assert!(said.contains("f32[1]"), "{said}");
}
