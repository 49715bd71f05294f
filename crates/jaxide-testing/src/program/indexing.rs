//! Genes that move elements by computed indices.

use jaxide_core::prims::*;
use jaxide_core::{Atom, Aval, DType, Dims};

use super::Profile;
use super::scope::{Scope, length};
use crate::draw::Draw;

/// Which axes of an operand windows lie along.
struct Windows {
    /// Lengths of the window by axis.
    sizes: Dims,
    /// Axes that the result does not have.
    collapsed: Dims,
    /// The axis that each component of an index moves along.
    map: Dims,
    /// Axes that run together with the indices.
    batching: Dims,
    /// Shape of the indices without their components; axes of `batching` come first.
    lanes: Dims,
}

impl Windows {
    fn draw(draw: &mut Draw<'_>, shape: &[usize]) -> Self {
        let mut windows = Windows {
            sizes: Dims::new(),
            collapsed: Dims::new(),
            map: Dims::new(),
            batching: Dims::new(),
            lanes: Dims::new(),
        };
        for (axis, &length) in shape.iter().enumerate() {
            match draw.below(5) {
                0 if length > 0 => {
                    windows.sizes.push(1);
                    windows.collapsed.push(axis);
                    windows.map.push(axis);
                }
                1 if length > 0 => {
                    windows.sizes.push(1);
                    windows.batching.push(axis);
                    windows.lanes.push(length);
                }
                2 => {
                    windows.sizes.push(draw.below(length + 1));
                    windows.map.push(axis);
                }
                _ => windows.sizes.push(length),
            }
        }
        for _ in 0..draw.choose(&[1, 0, 2]) {
            windows.lanes.push(length(draw));
        }
        if draw.flag() {
            windows.map.reverse();
        }
        windows
    }

    /// Shape of the windows for all lanes, with the lanes first, and which axes run over the window.
    fn result(&self) -> (Dims, Dims) {
        let mut shape = self.lanes.clone();
        let mut window = Dims::new();
        for (axis, &size) in self.sizes.iter().enumerate() {
            if !self.collapsed.contains(&axis) && !self.batching.contains(&axis) {
                window.push(shape.len());
                shape.push(size);
            }
        }
        (shape, window)
    }

    /// The first axes of the indices, one per axis of `batching`.
    fn index_batching(&self) -> Dims {
        (0..self.batching.len()).collect()
    }
}

impl Scope {
    /// A box that is read or written.
    pub(super) fn index(&mut self, draw: &mut Draw<'_>) {
        let x = self.pick(draw);
        let x = self.array(x);
        let aval = self.b.aval(x);
        let sizes: Dims = aval.shape.iter().map(|&n| draw.below(n + 1)).collect();
        let mut starts: Vec<Atom> = Vec::new();
        let start = self.integer(draw);
        let dtype = self.b.dtype(start);
        let many = draw.flag();
        for axis in 0..aval.rank() {
            let value = match (axis, many) {
                (0, _) => start,
                (_, false) => self.like(start, 1.0),
                (_, true) => self.integer(draw),
            };
            let value = self.to_dtype(value, dtype);
            starts.push(self.to_shape(value, &[]));
        }
        if draw.flag() {
            let update = self.pick_like(draw, &aval.with_shape(&sizes));
            let operands: Vec<Atom> = [x, update].into_iter().chain(starts).collect();
            self.emit(DynamicUpdateSlice, &operands);
        } else {
            let operands: Vec<Atom> = std::iter::once(x).chain(starts).collect();
            self.emit(DynamicSlice { slice_sizes: sizes }, &operands);
        }
    }

    /// Windows that are read or written.
    pub(super) fn gather_or_scatter(&mut self, draw: &mut Draw<'_>) {
        let x = self.pick(draw);
        let x = self.array(x);
        let aval = self.b.aval(x);
        let windows = Windows::draw(draw, &aval.shape);
        let (shape, window_axes) = windows.result();
        let mut index_shape = windows.lanes.clone();
        index_shape.push(windows.map.len());
        if !self.fits(&shape) || !self.fits(&index_shape) {
            return;
        }
        let index_dtype = draw.choose(&[DType::I32, DType::I64, DType::U8, DType::I32]);
        let indices = self.integer(draw);
        let indices = self.to_dtype(indices, index_dtype);
        let indices = self.to_shape(indices, &index_shape);
        let mode = draw.choose(&[GatherScatterMode::Clip, GatherScatterMode::FillOrDrop]);
        // What XLA does with updates that no index places has no derivative of its own.
        if draw.flag() && !windows.map.is_empty() {
            let updates = self.pick_like(draw, &aval.with_shape(&shape));
            return self.scatter(draw, &windows, window_axes, mode, [x, indices, updates]);
        }
        let dimension_numbers = GatherDimensionNumbers {
            offset_dims: window_axes,
            start_indices_batching_dims: windows.index_batching(),
            collapsed_slice_dims: windows.collapsed,
            start_index_map: windows.map,
            operand_batching_dims: windows.batching,
        };
        let prim = Gather {
            dimension_numbers,
            fill_value: None,
            indices_are_sorted: false,
            mode,
            slice_sizes: windows.sizes,
            unique_indices: false,
        };
        self.emit(prim, &[x, indices]);
    }

    fn scatter(
        &mut self,
        draw: &mut Draw<'_>,
        windows: &Windows,
        update_window_dims: Dims,
        mode: GatherScatterMode,
        operands: [Atom; 3],
    ) {
        let dimension_numbers = ScatterDimensionNumbers {
            update_window_dims,
            inserted_window_dims: windows.collapsed.clone(),
            scatter_dims_to_operand_dims: windows.map.clone(),
            operand_batching_dims: windows.batching.clone(),
            scatter_indices_batching_dims: windows.index_batching(),
        };
        macro_rules! scatter {
            ($prim:ident) => {
                Prim::from($prim {
                    dimension_numbers: dimension_numbers.clone(),
                    indices_are_sorted: false,
                    mode,
                    unique_indices: false,
                    update_consts: NoConsts,
                    update_jaxpr: OptionalJaxpr(None),
                })
            };
        }
        let mut forms = vec![scatter!(Scatter)];
        let aval: Aval = self.b.aval(operands[0]);
        let sums = match self.profile {
            Profile::Exact => aval.dtype.is_integer(),
            _ => aval.dtype != DType::Bool,
        };
        if sums {
            forms.extend([scatter!(ScatterAdd), scatter!(ScatterSub)]);
        }
        // Those below have derivatives for unique indices only.
        if sums && self.profile.smooth().is_none() {
            forms.push(scatter!(ScatterMul));
        }
        if self.profile.smooth().is_none() && aval.dtype != DType::Bool && !aval.dtype.is_complex()
        {
            forms.extend([scatter!(ScatterMin), scatter!(ScatterMax)]);
        }
        let prim = draw.choose(&forms);
        self.emit(prim, &operands);
    }
}
