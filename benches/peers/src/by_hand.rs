//! The families by hand: loops over `ndarray`, decompositions of `faer`, transforms of `rustfft`.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use ndarray::{Array1, Array2, ArrayView2, Axis, Zip};
use rustfft::FftPlanner;
use rustfft::num_complex::Complex32;

use crate::{Array, Program, gelu, inverse2};

fn matrix(array: &Array) -> Array2<f32> {
    let columns = array.shape.last().copied().unwrap_or(1);
    let rows = array.data.len() / columns.max(1);
    Array2::from_shape_vec((rows, columns), array.data.clone())
        .expect("as many numbers as the shape has")
}

fn vector(array: &Array) -> Array1<f32> {
    Array1::from_vec(array.data.clone())
}

fn made<D: ndarray::Dimension + 'static>(
    f: impl Fn() -> ndarray::Array<f32, D> + 'static,
) -> Option<Program> {
    Some(Program::new(f, |array| array.iter().copied().collect()))
}

/// All states, the first included.
fn states(w: &Array2<f32>, c: &Array1<f32>, xs: &Array2<f32>) -> Vec<Array1<f32>> {
    let mut states = vec![c.clone()];
    for x in xs.rows() {
        let mut next = states[states.len() - 1].dot(w);
        Zip::from(&mut next)
            .and(x)
            .for_each(|c, &x| *c = (*c + x).tanh());
        states.push(next);
    }
    states
}

fn gradient(w: &Array2<f32>, c: &Array1<f32>, xs: &Array2<f32>) -> Array2<f32> {
    let states = states(w, c, xs);
    let mut total = Array2::zeros(w.dim());
    let mut back = &states[xs.nrows()] * 2.0;
    for step in (0..xs.nrows()).rev() {
        Zip::from(&mut back)
            .and(&states[step + 1])
            .for_each(|b, &c| *b *= 1.0 - c * c);
        for (row, &c) in states[step].iter().enumerate() {
            total.row_mut(row).scaled_add(c, &back);
        }
        back = w.dot(&back);
    }
    total
}

/// The patches of an image below a window of 3 × 3, a row each.
fn patches(x: &ArrayView2<f32>, side: usize, channels: usize) -> Array2<f32> {
    let mut rows = Array2::zeros((side * side, 9 * channels));
    for i in 0..side {
        for j in 0..side {
            let mut row = rows.row_mut(i * side + j);
            for (tap, (di, dj)) in (0..3)
                .flat_map(|di| (0..3).map(move |dj| (di, dj)))
                .enumerate()
            {
                let (Some(a), Some(b)) = ((i + di).checked_sub(1), (j + dj).checked_sub(1)) else {
                    continue;
                };
                if a < side && b < side {
                    let from = x.row(a * side + b);
                    row.slice_mut(ndarray::s![tap * channels..(tap + 1) * channels])
                        .assign(&from);
                }
            }
        }
    }
    rows
}

fn n_body(x: &Array2<f32>, m: &Array1<f32>) -> Array2<f32> {
    let mut forces = Array2::zeros(x.dim());
    for i in 0..x.nrows() {
        let mut force = [0.0f32; 3];
        for j in 0..x.nrows() {
            let d = [0, 1, 2].map(|k| x[(j, k)] - x[(i, k)]);
            let r = d.iter().map(|d| d * d).sum::<f32>() + 0.01;
            let f = m[j] / (r * r.sqrt());
            for k in 0..3 {
                force[k] += d[k] * f;
            }
        }
        for k in 0..3 {
            forces[(i, k)] = force[k];
        }
    }
    forces
}

fn kalman(t: &[Array2<f32>]) -> Array1<f32> {
    let (f, h) = (&t[0], &t[1]);
    let (mut x, mut p) = (t[2].row(0).to_owned(), t[3].clone());
    for z in t[4].rows() {
        x = f.dot(&x);
        p = f.dot(&p).dot(&f.t());
        p.diag_mut().mapv_inplace(|v| v + 0.01);
        let hp = h.dot(&p);
        let s = hp.dot(&h.t());
        let inverse = inverse2([[s[(0, 0)] + 0.1, s[(0, 1)]], [s[(1, 0)], s[(1, 1)] + 0.1]]);
        let k = ndarray::arr2(&inverse).dot(&hp);
        let rest = &z - &h.dot(&x);
        x = x + k.t().dot(&rest);
        p = p - k.t().dot(&hp);
    }
    x
}

fn process(x: &Array2<f32>, y: &Array1<f32>) -> f32 {
    let n = x.nrows();
    let kernel = Mat::from_fn(n, n, |i, j| {
        let d = (0..3).map(|k| (x[(i, k)] - x[(j, k)]).powi(2)).sum::<f32>();
        (-0.5 * d).exp() + if i == j { 0.1 } else { 0.0 }
    });
    let factor = kernel.llt(Side::Lower).expect("positive definite");
    let a = factor.solve(Mat::from_fn(n, 1, |i, _| y[i]));
    let lower = factor.L();
    let (product, logs) = (0..n).fold((0.0, 0.0), |(p, l), i| {
        (p + y[i] * a[(i, 0)], l + lower[(i, i)].ln())
    });
    0.5 * product + logs
}

/// The program of a family.
pub fn program(family: &str, arrays: &[Array]) -> Option<Program> {
    let t: Vec<Array2<f32>> = arrays.iter().map(matrix).collect();
    match family {
        "rnn" => {
            let c = vector(&arrays[1]);
            made(move || states(&t[0], &c, &t[2]).pop().expect("a state"))
        }
        "rnn_gradient" => {
            let c = vector(&arrays[1]);
            made(move || gradient(&t[0], &c, &t[2]))
        }
        "mlp" => made(move || {
            t[1..]
                .iter()
                .fold(t[0].clone(), |x, w| x.dot(w).mapv_into(gelu))
        }),
        "product_chain" => {
            made(move || (0..10).fold(t[1].clone(), |c, _| c.dot(&t[0]).mapv_into(|v| v + 0.5)))
        }
        "convolution" => {
            let (side, channels) = (arrays[0].shape[1], arrays[0].shape[3]);
            made(move || {
                let mut out = patches(&t[0].view(), side, channels).dot(&t[1]);
                out += &t[2];
                out.mapv_into(|v| v.max(0.0))
            })
        }
        "attention" => {
            let scale = 1.0 / (arrays[0].shape[1] as f32).sqrt();
            made(move || {
                let mut scores = t[0].dot(&t[1].t());
                for mut row in scores.rows_mut() {
                    let most = row.fold(f32::NEG_INFINITY, |a, &b| a.max(b));
                    row.mapv_inplace(|v| ((v - most) * scale).exp());
                    let sum = row.sum();
                    row.mapv_inplace(|v| v / sum);
                }
                scores.dot(&t[2])
            })
        }
        "n_body" => {
            let m = vector(&arrays[1]);
            made(move || n_body(&t[0], &m))
        }
        "ode" => {
            let y = vector(&arrays[1]);
            made(move || {
                let f = |y: &Array1<f32>| t[0].dot(y).mapv_into(f32::tanh);
                (0..20).fold(y.clone(), |y, _| {
                    let k1 = f(&y);
                    let k2 = f(&(&y + &(&k1 * 0.005)));
                    let k3 = f(&(&y + &(&k2 * 0.005)));
                    let k4 = f(&(&y + &(&k3 * 0.01)));
                    y + (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (0.01 / 6.0)
                })
            })
        }
        "kalman_filter" => made(move || kalman(&t)),
        "gaussian_process" => {
            let y = vector(&arrays[1]);
            made(move || ndarray::arr0(process(&t[0], &y)))
        }
        "small_solves" => {
            let n = arrays[1].shape[1];
            made(move || {
                let mut out = t[1].clone();
                for (k, mut row) in out.axis_iter_mut(Axis(0)).enumerate() {
                    let a = Mat::from_fn(n, n, |i, j| t[0][(k * n + i, j)]);
                    let x = a.partial_piv_lu().solve(Mat::from_fn(n, 1, |i, _| row[i]));
                    row.iter_mut().enumerate().for_each(|(i, v)| *v = x[(i, 0)]);
                }
                out
            })
        }
        "sort" => made(move || {
            let mut out = t[0].clone();
            for mut row in out.rows_mut() {
                row.as_slice_mut()
                    .expect("rows are dense")
                    .sort_unstable_by(f32::total_cmp);
            }
            out
        }),
        "fft" => {
            let n = arrays[0].shape[1];
            let fft = FftPlanner::<f32>::new().plan_fft_forward(n);
            let numbers: Vec<Complex32> = arrays[0]
                .data
                .chunks_exact(2)
                .map(|c| Complex32::new(c[0], c[1]))
                .collect();
            let transformed = move || {
                let mut out = numbers.clone();
                fft.process(&mut out);
                out
            };
            Some(Program::new(transformed, |out| {
                out.iter().flat_map(|c| [c.re, c.im]).collect()
            }))
        }
        _ => None,
    }
}
