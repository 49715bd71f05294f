//! The values that a gene can use, and how they are made to fit.

use jaxide_core::prims::Prim;
use jaxide_core::{Atom, Aval, Builder, ClosedJaxpr, DType};
use smallvec::SmallVec;

use super::{Extent, Profile};
use crate::draw::{Draw, Gene};

/// A function that is being written.
pub(super) struct Scope {
    pub(super) b: Builder,
    pub(super) profile: Profile,
    pub(super) extent: Extent,
    /// How many functions this one is in.
    pub(super) depth: usize,
    values: Vec<Atom>,
}

/// The length of an axis.
pub(super) fn length(draw: &mut Draw<'_>) -> usize {
    draw.choose(&[2, 3, 1, 4, 5, 7, 3, 2, 17, 1, 0, 8, 33, 4, 2, 3])
}

impl Scope {
    pub(super) fn new(profile: Profile, extent: Extent, depth: usize) -> Self {
        Scope {
            b: Builder::new(),
            profile,
            extent,
            depth,
            values: Vec::new(),
        }
    }

    /// Whether an array of this shape is made.
    pub(super) fn fits(&self, shape: &[usize]) -> bool {
        let size = (shape.iter()).try_fold(1usize, |size, &length| size.checked_mul(length));
        size.is_some_and(|size| size <= self.extent.largest()) && shape.len() <= 6
    }

    /// A shape of rank 0 to 5 that fits; some axes are empty.
    pub(super) fn shape(&self, draw: &mut Draw<'_>) -> Vec<usize> {
        let rank = draw.choose(&[1, 2, 0, 3, 2, 1, 4, 0, 2, 3, 5]);
        let mut shape: Vec<usize> = (0..rank).map(|_| length(draw)).collect();
        if self.extent == Extent::Large && rank > 0 {
            let axis = draw.below(rank);
            shape[axis] *= draw.choose(&[1000, 257, 30, 4097, 1, 16, 64, 555]);
        }
        while shape.iter().product::<usize>() > self.extent.largest() {
            let largest = shape.iter_mut().max().expect("some axis");
            *largest = largest.div_ceil(2);
        }
        shape
    }

    /// An argument.
    pub(super) fn input(&mut self, aval: Aval) -> Atom {
        let atom = self.b.input(aval);
        self.add(atom);
        atom
    }

    /// The argument with this number.
    pub(super) fn argument(&self, index: usize) -> Atom {
        self.values[index]
    }

    /// Makes a value usable by later genes.
    pub(super) fn add(&mut self, value: Atom) {
        self.values.push(value);
    }

    /// Applies a primitive and adds its results, unless one is larger than arrays are made.
    ///
    /// # Panics
    /// When the builder refuses: a mistake of the generator.
    pub(super) fn emit(&mut self, prim: impl Into<Prim>, operands: &[Atom]) {
        let prim = prim.into();
        let results = self.apply(prim, operands);
        for value in results {
            self.add(value);
        }
    }

    /// Applies a primitive.
    ///
    /// # Panics
    /// When the builder refuses: a mistake of the generator.
    pub(super) fn apply(&self, prim: impl Into<Prim>, operands: &[Atom]) -> SmallVec<[Atom; 3]> {
        let prim = prim.into();
        let shown = format!("{prim:?}");
        let avals: Vec<Aval> = operands.iter().map(|&atom| self.b.aval(atom)).collect();
        self.b
            .emit(prim, operands)
            .unwrap_or_else(|error| panic!("{error}\n{shown}\n{avals:?}"))
    }

    /// Reads all genes.
    pub(super) fn write(&mut self, mut genes: &[Gene]) {
        while let Some((gene, rest)) = genes.split_first() {
            genes = self.gene(&mut Draw::new(gene), rest);
        }
    }

    /// Reads one gene; gives those that are left.
    fn gene<'g>(&mut self, draw: &mut Draw<'_>, rest: &'g [Gene]) -> &'g [Gene] {
        match draw.below(16) {
            0..=2 => self.elementwise(draw),
            3 => self.select(draw),
            4 => self.convert(draw),
            5 | 6 => self.rearrange(draw),
            7 => self.join_or_cut(draw),
            8 => self.index(draw),
            9 => self.gather_or_scatter(draw),
            10 | 11 => self.reduce(draw),
            12 => self.product(draw),
            13 => self.create(draw),
            _ => return self.control(draw, rest),
        }
        rest
    }

    /// The function of these results.
    ///
    /// # Panics
    /// When the builder kept a mistake: one of the generator.
    pub(super) fn finish(self, results: &[Atom]) -> ClosedJaxpr {
        self.b.finish(results).expect("a legal program")
    }

    /// A value, the last one first.
    pub(super) fn pick(&mut self, draw: &mut Draw<'_>) -> Atom {
        match self.values.len() {
            0 => self.number(draw),
            count => self.values[count - 1 - back(draw, count)],
        }
    }

    /// A literal.
    fn number(&mut self, draw: &mut Draw<'_>) -> Atom {
        let dtype = draw.choose(&self.profile.dtypes());
        let value = draw.choose(&[1.0, 0.0, 2.0, -1.0, 0.5, 3.0]);
        self.b.number(value, dtype)
    }

    /// A value whose element type satisfies `accepts`, converted if none does.
    pub(super) fn pick_where(
        &mut self,
        draw: &mut Draw<'_>,
        accepts: impl Fn(DType) -> bool,
        otherwise: DType,
    ) -> Atom {
        let of_type: Vec<Atom> = (self.values.iter().copied())
            .filter(|&atom| accepts(self.b.dtype(atom)))
            .collect();
        let place = back(draw, of_type.len());
        if let Some(index) = of_type.len().checked_sub(1 + place) {
            return of_type[index];
        }
        if self.profile.smooth().is_some() && !otherwise.is_float() {
            // Floats do not become integers or truth values here.
            let value = draw.choose(&[1.0, 0.0, 2.0]);
            let number = self.b.number(value, otherwise);
            return self.b.broadcast_in_dim(number, &[3], &[]);
        }
        let any = self.pick(draw);
        self.to_dtype(any, otherwise)
    }

    /// A float.
    pub(super) fn float(&mut self, draw: &mut Draw<'_>) -> Atom {
        let otherwise = self.profile.smooth().unwrap_or(DType::F32);
        self.pick_where(draw, DType::is_float, otherwise)
    }

    /// A number: no truth value.
    pub(super) fn numeric(&mut self, draw: &mut Draw<'_>) -> Atom {
        let otherwise = self.profile.smooth().unwrap_or(DType::I32);
        self.pick_where(draw, |dtype| dtype != DType::Bool, otherwise)
    }

    /// A value whose sum does not depend on the order: no float where bits count.
    pub(super) fn summable(&mut self, draw: &mut Draw<'_>) -> Atom {
        if self.profile == Profile::Exact {
            self.integer(draw)
        } else {
            self.numeric(draw)
        }
    }

    /// A real number or truth value.
    pub(super) fn ordered(&mut self, draw: &mut Draw<'_>) -> Atom {
        let otherwise = self.profile.smooth().unwrap_or(DType::I32);
        self.pick_where(draw, |dtype| !dtype.is_complex(), otherwise)
    }

    /// An integer.
    pub(super) fn integer(&mut self, draw: &mut Draw<'_>) -> Atom {
        self.pick_where(draw, DType::is_integer, DType::I32)
    }

    /// A truth value or integer.
    pub(super) fn bits(&mut self, draw: &mut Draw<'_>) -> Atom {
        self.pick_where(
            draw,
            |dtype| dtype == DType::Bool || dtype.is_integer(),
            DType::I32,
        )
    }

    /// A value of this type.
    pub(super) fn pick_like(&mut self, draw: &mut Draw<'_>, aval: &Aval) -> Atom {
        let value = self.pick_where(draw, |dtype| dtype == aval.dtype, aval.dtype);
        self.to_shape(value, &aval.shape)
    }

    /// The value with another element type. Smooth programs ask for this only where the type is not less.
    pub(super) fn to_dtype(&self, value: Atom, dtype: DType) -> Atom {
        let value = if self.b.dtype(value).is_complex() && !dtype.is_complex() {
            self.b.real(value)
        } else {
            value
        };
        self.b.convert(value, dtype)
    }

    /// The value with another shape: repeated from rank 0, otherwise its elements in order, cut or filled with zeros.
    pub(super) fn to_shape(&self, value: Atom, shape: &[usize]) -> Atom {
        let b = &self.b;
        let own = b.shape(value);
        if own.as_slice() == shape {
            return value;
        }
        if own.is_empty() {
            return b.broadcast_in_dim(value, shape, &[]);
        }
        let (have, want): (usize, usize) = (own.iter().product(), shape.iter().product());
        let flat = b.reshape(value, &[have]);
        let flat = match have.cmp(&want) {
            std::cmp::Ordering::Equal => flat,
            std::cmp::Ordering::Greater => b.slice(flat, &[0], &[want]),
            std::cmp::Ordering::Less => {
                let zero = b.number(0.0, b.dtype(flat));
                b.pad(flat, zero, &[(0, (want - have) as i64, 0)])
            }
        };
        b.reshape(flat, shape)
    }

    /// The value with rank at least 1.
    pub(super) fn array(&self, value: Atom) -> Atom {
        if self.b.rank(value) == 0 {
            self.b.broadcast_in_dim(value, &[3], &[])
        } else {
            value
        }
    }

    /// One of the axes of a value that has some.
    pub(super) fn axis(&self, draw: &mut Draw<'_>, value: Atom) -> usize {
        draw.below(self.b.rank(value))
    }
}

/// How far back a value is picked among `count`: in long programs mostly among the last ones, so that chains become long.
fn back(draw: &mut Draw<'_>, count: usize) -> usize {
    let near = count > 16 && draw.below(8) > 0;
    draw.below(if near { 5 } else { count })
}
