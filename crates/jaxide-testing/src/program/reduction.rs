//! Genes that combine elements along axes, sort and search.

use jaxide_core::prims::*;
use jaxide_core::{Atom, DType, Dims};

use super::Profile;
use super::scope::Scope;
use crate::draw::Draw;

impl Scope {
    /// A reduction, a cumulative one, a sort or a search.
    pub(super) fn reduce(&mut self, draw: &mut Draw<'_>) {
        match draw.below(8) {
            0 | 1 => self.reduce_axes(draw),
            2 | 3 => self.cumulate(draw),
            4 => self.sort(draw),
            5 => self.top(draw),
            6 => self.window(draw),
            _ => self.extremum_index(draw),
        }
    }

    fn axes(&self, draw: &mut Draw<'_>, x: Atom) -> Dims {
        let mask = draw.mask();
        (0..self.b.rank(x)).filter(|k| mask >> k & 1 == 0).collect()
    }

    fn reduce_axes(&mut self, draw: &mut Draw<'_>) {
        match draw.below(5) {
            0 | 1 => {
                let x = self.summable(draw);
                let axes = self.axes(draw, x);
                let sum = ReduceSum {
                    axes: axes.clone(),
                    out_sharding: Opaque::none(),
                };
                let prim = draw.choose(&[Prim::from(sum), ReduceProd { axes }.into()]);
                self.emit(prim, &[x]);
            }
            2 | 3 => {
                let x = self.ordered(draw);
                let axes = self.axes(draw, x);
                if axes.iter().any(|&axis| self.b.shape(x)[axis] == 0) {
                    return;
                }
                let max = ReduceMax {
                    axes: axes.clone(),
                    out_sharding: Opaque::none(),
                };
                let min = ReduceMin {
                    axes,
                    out_sharding: Opaque::none(),
                };
                let prim = draw.choose(&[Prim::from(max), min.into()]);
                self.emit(prim, &[x]);
            }
            _ => {
                let x = self.bits(draw);
                let axes = self.axes(draw, x);
                let prim = draw.choose(&[
                    Prim::from(ReduceAnd { axes: axes.clone() }),
                    ReduceOr { axes: axes.clone() }.into(),
                    ReduceXor { axes }.into(),
                ]);
                self.emit(prim, &[x]);
            }
        }
    }

    fn cumulate(&mut self, draw: &mut Draw<'_>) {
        let kind = draw.below(5);
        let reverse = draw.flag();
        let x = match kind {
            0 | 1 => self.summable(draw),
            4 if self.profile != Profile::Exact => self.float(draw),
            _ => self.ordered(draw),
        };
        if self.b.dtype(x) == DType::Bool {
            return;
        }
        let x = self.array(x);
        let axis = self.axis(draw, x);
        let prim: Prim = match kind {
            0 => Cumsum { axis, reverse }.into(),
            1 => Cumprod { axis, reverse }.into(),
            4 if self.profile != Profile::Exact => Cumlogsumexp { axis, reverse }.into(),
            2 => Cummax { axis, reverse }.into(),
            _ => Cummin { axis, reverse }.into(),
        };
        self.emit(prim, &[x]);
    }

    fn sort(&mut self, draw: &mut Draw<'_>) {
        let x = self.ordered(draw);
        let x = self.array(x);
        let shape = self.b.shape(x);
        let count = draw.between(1, 3);
        let mut operands = vec![x];
        for _ in 1..count {
            let other = self.ordered(draw);
            operands.push(self.to_shape(other, &shape));
        }
        let prim = Sort {
            dimension: self.axis(draw, x),
            is_stable: true,
            num_keys: draw.between(1, count),
        };
        self.emit(prim, &operands);
    }

    fn top(&mut self, draw: &mut Draw<'_>) {
        let x = self.ordered(draw);
        if self.b.dtype(x) == DType::Bool {
            return;
        }
        let x = self.array(x);
        let axis = self.b.rank(x) - 1;
        let k = draw.below(self.b.shape(x)[axis] + 1);
        let prim = TopK {
            axis,
            is_stable: true,
            k,
        };
        self.emit(prim, &[x]);
    }

    fn extremum_index(&mut self, draw: &mut Draw<'_>) {
        let x = if self.profile.smooth().is_some() {
            self.integer(draw)
        } else {
            self.ordered(draw)
        };
        let x = self.array(x);
        let axis = self.axis(draw, x);
        if self.b.shape(x)[axis] == 0 {
            return;
        }
        let axes = Dims::from_slice(&[axis]);
        let index_dtype = draw.choose(&[DType::I32, DType::I64, DType::U32]);
        let max = Argmax {
            axes: axes.clone(),
            index_dtype,
        };
        let prim = draw.choose(&[Prim::from(max), Argmin { axes, index_dtype }.into()]);
        self.emit(prim, &[x]);
    }

    fn window(&mut self, draw: &mut Draw<'_>) {
        let sums = draw.flag();
        let x = if sums {
            self.summable(draw)
        } else {
            self.ordered(draw)
        };
        if self.b.dtype(x) == DType::Bool {
            return;
        }
        let x = self.array(x);
        let shape = self.b.shape(x);
        if shape.len() > 3 {
            return;
        }
        let mut window_dimensions = Dims::new();
        let mut window_strides = Dims::new();
        let mut base_dilation = Dims::new();
        let mut window_dilation = Dims::new();
        let mut padding = Vec::new();
        for _ in &shape {
            window_dimensions.push(draw.between(1, 3));
            window_strides.push(draw.between(1, 2));
            padding.push((draw.choose(&[0, 1]), draw.choose(&[0, 1])));
            base_dilation.push(draw.choose(&[1, 1, 2]));
            // The gradient of an extremum knows windows without holes only.
            let holes = sums || self.profile.smooth().is_none();
            window_dilation.push(if holes { draw.choose(&[1, 1, 2]) } else { 1 });
        }
        let grown: Vec<usize> = shape.iter().map(|&length| 2 * length + 2).collect();
        if !self.fits(&grown) && shape.len() > 1 {
            return;
        }
        macro_rules! window {
            ($prim:ident) => {
                Prim::from($prim {
                    base_dilation,
                    padding,
                    window_dilation,
                    window_dimensions,
                    window_strides,
                })
            };
        }
        let prim = match (sums, draw.flag()) {
            (true, _) => window!(ReduceWindowSum),
            (false, false) => window!(ReduceWindowMax),
            (false, true) => window!(ReduceWindowMin),
        };
        self.emit(prim, &[x]);
    }
}
