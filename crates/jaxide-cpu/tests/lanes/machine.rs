//! Runs a body by the evaluator and by every emitter of this machine, and compares what they leave in memory.

use jaxide_cpu::codegen::lanes::{Isa, compile};
use jaxide_cpu::lanes::{Body, MemTy, Memory};

/// A region of memory and the type of its elements, for comparison.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    pub(crate) ty: MemTy,
    pub(crate) bytes: Vec<u8>,
}

impl Region {
    pub(crate) fn new(ty: MemTy, elements: impl IntoIterator<Item = u64>) -> Region {
        let size = ty.size() as usize;
        Region {
            ty,
            bytes: elements
                .into_iter()
                .flat_map(|e| e.to_le_bytes()[..size].to_vec())
                .collect(),
        }
    }

    pub(crate) fn f32(values: impl IntoIterator<Item = f32>) -> Region {
        Region::new(
            MemTy::F32,
            values.into_iter().map(|v| u64::from(v.to_bits())),
        )
    }

    pub(crate) fn f64(values: impl IntoIterator<Item = f64>) -> Region {
        Region::new(MemTy::F64, values.into_iter().map(f64::to_bits))
    }

    pub(crate) fn zeros(ty: MemTy, len: usize) -> Region {
        Region::new(ty, std::iter::repeat_n(0, len))
    }

    pub(crate) fn elements(&self) -> Vec<u64> {
        let element = |c: &[u8]| c.iter().rev().fold(0, |bits, &b| bits << 8 | u64::from(b));
        self.bytes
            .chunks(self.ty.size() as usize)
            .map(element)
            .collect()
    }

    pub(crate) fn to_f32(&self) -> Vec<f32> {
        self.elements()
            .iter()
            .map(|&e| f32::from_bits(e as u32))
            .collect()
    }
}

/// Arguments of a run besides memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Args {
    pub(crate) outer: Vec<i64>,
}

/// Runs `body` for lanes `start..end` by everything, checks that the results agree, and gives those of the evaluator.
pub(crate) fn check(
    body: &Body,
    regions: &[Region],
    args: &Args,
    start: i64,
    end: i64,
) -> Vec<Region> {
    let eval = |body: &Body| {
        let mut expected = regions.to_vec();
        let mut slices: Vec<&mut [u8]> = expected
            .iter_mut()
            .map(|r| r.bytes.as_mut_slice())
            .collect();
        body.eval(&mut Memory::new(&mut slices), &args.outer, start, end)
            .unwrap_or_else(|e| panic!("{e}\n{body}"));
        expected
    };
    let (plain, multiplied) = (eval(body), eval(&body.multiplied()));
    for isa in Isa::available() {
        let expected = match isa {
            Isa::Portable => &plain,
            Isa::Avx2 | Isa::Avx512 => &multiplied,
        };
        let compiled = compile(body, isa).unwrap_or_else(|e| panic!("{e}\n{body}"));
        let mut actual = regions.to_vec();
        let pointers: Vec<*mut u8> = actual.iter_mut().map(|r| r.bytes.as_mut_ptr()).collect();
        // SAFETY: the evaluator has checked that all accesses are inside the regions.
        unsafe { compiled.run(&pointers, &args.outer, start, end) };
        for (k, (e, a)) in expected.iter().zip(&actual).enumerate() {
            for (i, (x, y)) in e.elements().into_iter().zip(a.elements()).enumerate() {
                assert!(
                    same(e.ty, x, y),
                    "{}: region {k}, element {i}: {x:#x} expected, got {y:#x}\n{body}",
                    isa.name()
                );
            }
        }
    }
    plain
}

/// Equal bits, or both NaN.
pub(crate) fn same(ty: MemTy, a: u64, b: u64) -> bool {
    let is_nan = |x: u64| match ty {
        MemTy::F32 => f32::from_bits(x as u32).is_nan(),
        MemTy::F64 => f64::from_bits(x).is_nan(),
        MemTy::F16 => x & 0x7fff > 0x7c00,
        MemTy::Bf16 => x & 0x7fff > 0x7f80,
        _ => false,
    };
    a == b || is_nan(a) && is_nan(b)
}

/// A small generator of reproducible numbers (SplitMix64).
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// Interesting values of a memory type: corner cases, then random bits.
pub(crate) fn samples(ty: MemTy, len: usize, rng: &mut Rng) -> Region {
    let corner: Vec<u64> = match ty {
        MemTy::F32 => {
            let f = [
                0.0,
                1.0,
                0.5,
                1.5,
                2.5,
                3.0,
                0.1,
                1e-40,
                f32::MIN_POSITIVE,
                8388609.0,
                16777217.0,
                2147483648.0,
                4294967296.0,
            ];
            let g = [
                9.3e18,
                1.9e19,
                1e30,
                f32::MAX,
                f32::INFINITY,
                65504.0,
                65519.99,
                65520.0,
                6e-8,
                1e-5,
            ];
            signed(
                f.iter().chain(&g).map(|x| u64::from(x.to_bits())),
                31,
                u64::from(f32::NAN.to_bits()),
            )
        }
        MemTy::F64 => {
            let f = [
                0.0,
                1.0,
                0.5,
                1.5,
                2.5,
                3.0,
                0.1,
                1e-310,
                f64::MIN_POSITIVE,
                4503599627370497.0,
                9007199254740993.0,
                2147483648.0,
            ];
            let g = [
                4294967296.0,
                9.3e18,
                1.9e19,
                1e300,
                f64::MAX,
                f64::INFINITY,
                1e-40,
                1e39,
                3.4028235677973366e38,
            ];
            signed(
                f.iter().chain(&g).map(|x| x.to_bits()),
                63,
                f64::NAN.to_bits(),
            )
        }
        MemTy::I32 => vec![
            0,
            1,
            2,
            3,
            5,
            31,
            32,
            33,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            0xffff_fffe,
            16777217,
        ],
        MemTy::I64 => vec![
            0,
            1,
            2,
            3,
            5,
            63,
            64,
            65,
            1 << 32,
            u64::MAX >> 1,
            1 << 63,
            u64::MAX,
            u64::MAX - 1,
            9007199254740993,
        ],
        MemTy::Bool => vec![0, 1],
        MemTy::F16 | MemTy::Bf16 | MemTy::I8 | MemTy::U8 | MemTy::I16 | MemTy::U16 => {
            vec![0, 1, 0x7f, 0x80, 0xff]
        }
    };
    let limit = |x: u64| if ty == MemTy::Bool { x & 1 } else { x };
    let random = |rng: &mut Rng| {
        let x = rng.next();
        // Moderate floats and integers as well as arbitrary bits.
        match (ty, rng.below(3)) {
            (MemTy::F32, 0) => u64::from((((x % 20001) as f32 - 10000.0) / 512.0).to_bits()),
            (MemTy::F64, 0) => (((x % 20001) as f64 - 10000.0) / 512.0).to_bits(),
            (MemTy::I32 | MemTy::I64, 0) => (x % 41).wrapping_sub(20),
            _ => x,
        }
    };
    let elements: Vec<u64> = (0..len)
        .map(|_| {
            if rng.below(4) == 0 {
                corner[rng.below(corner.len())]
            } else {
                limit(random(rng))
            }
        })
        .collect();
    Region::new(ty, elements)
}

fn signed(values: impl Iterator<Item = u64>, sign: u32, nan: u64) -> Vec<u64> {
    values
        .flat_map(|v| [v, v ^ 1 << sign])
        .chain([nan])
        .collect()
}
