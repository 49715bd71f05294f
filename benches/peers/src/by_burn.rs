//! The families in burn, on its CPU backend.

use burn::backend::{Autodiff, Flex};
use burn::tensor::activation::{relu, softmax};
use burn::tensor::backend::Backend;
use burn::tensor::module::conv2d;
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Tensor, TensorData};

use crate::{Array, Program, inverse2};

type Plain = Flex;

fn tensor<B: Backend, const R: usize>(array: &Array) -> Tensor<B, R> {
    Tensor::from_data(
        TensorData::new(array.data.clone(), array.shape.clone()),
        &B::Device::default(),
    )
}

fn flat<const R: usize>(tensor: Tensor<Plain, R>) -> Vec<f32> {
    tensor.into_data().to_vec().expect("an array of f32")
}

fn made<const R: usize>(f: impl Fn() -> Tensor<Plain, R> + 'static) -> Option<Program> {
    Some(Program::new(f, flat))
}

fn recurrence<B: Backend>(w: &Tensor<B, 2>, c: &Tensor<B, 1>, xs: &Tensor<B, 2>) -> Tensor<B, 2> {
    let mut c: Tensor<B, 2> = c.clone().unsqueeze();
    for step in 0..xs.dims()[0] {
        c = (c.matmul(w.clone()) + xs.clone().narrow(0, step, 1)).tanh();
    }
    c
}

fn gelu(x: Tensor<Plain, 2>) -> Tensor<Plain, 2> {
    let cubic = x.clone() * x.clone() * x.clone() * 0.044_715 + x.clone();
    x * ((cubic * 0.797_884_6).tanh() + 1.0) * 0.5
}

/// The program of a family; none of those that need decompositions or complex transforms, which burn has not.
pub fn program(family: &str, arrays: &[Array]) -> Option<Program> {
    let matrix = |k: usize| tensor::<Plain, 2>(&arrays[k]);
    match family {
        "rnn" => {
            let (w, c, xs) = (matrix(0), tensor::<Plain, 1>(&arrays[1]), matrix(2));
            made(move || recurrence(&w, &c, &xs))
        }
        "rnn_gradient" => {
            type Recording = Autodiff<Plain>;
            let w = tensor::<Recording, 2>(&arrays[0]).require_grad();
            let (c, xs) = (
                tensor::<Recording, 1>(&arrays[1]),
                tensor::<Recording, 2>(&arrays[2]),
            );
            made(move || {
                let end = recurrence(&w, &c, &xs);
                let gradients = (end.clone() * end).sum().backward();
                w.grad(&gradients).expect("the loss depends on it")
            })
        }
        "mlp" => {
            let t: Vec<_> = (0..arrays.len()).map(matrix).collect();
            made(move || {
                t[1..]
                    .iter()
                    .fold(t[0].clone(), |x, w| gelu(x.matmul(w.clone())))
            })
        }
        "product_chain" => {
            let (w, c) = (matrix(0), matrix(1));
            made(move || (0..10).fold(c.clone(), |c, _| c.matmul(w.clone()) + 0.5))
        }
        "convolution" => {
            // The layouts that burn has.
            let x = tensor::<Plain, 4>(&arrays[0]).permute([0, 3, 1, 2]) * 1.0;
            let w = tensor::<Plain, 4>(&arrays[1]).permute([3, 2, 0, 1]) * 1.0;
            let b = tensor::<Plain, 1>(&arrays[2]);
            made(move || {
                let options = ConvOptions::new([1, 1], [1, 1], [1, 1], 1);
                relu(conv2d(x.clone(), w.clone(), Some(b.clone()), options)).permute([0, 2, 3, 1])
            })
        }
        "attention" => {
            let (q, k, v) = (matrix(0), matrix(1), matrix(2));
            let scale = 1.0 / (arrays[0].shape[1] as f32).sqrt();
            made(move || {
                softmax(q.clone().matmul(k.clone().transpose()) * scale, 1).matmul(v.clone())
            })
        }
        "n_body" => {
            let (x, m) = (matrix(0), tensor::<Plain, 1>(&arrays[1]));
            made(move || {
                let d: Tensor<Plain, 3> =
                    x.clone().unsqueeze_dim::<3>(0) - x.clone().unsqueeze_dim::<3>(1);
                let r = (d.clone() * d.clone()).sum_dim(2) + 0.01;
                let f = r.powf_scalar(-1.5) * m.clone().reshape([1, -1, 1]);
                (d * f).sum_dim(1)
            })
        }
        "ode" => {
            let (w, y) = (
                matrix(0),
                tensor::<Plain, 1>(&arrays[1]).unsqueeze_dim::<2>(1),
            );
            made(move || {
                let f = |y: Tensor<Plain, 2>| w.clone().matmul(y).tanh();
                (0..20).fold(y.clone(), |y, _| {
                    let k1 = f(y.clone());
                    let k2 = f(y.clone() + k1.clone() * 0.005);
                    let k3 = f(y.clone() + k2.clone() * 0.005);
                    let k4 = f(y.clone() + k3.clone() * 0.01);
                    y + (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (0.01 / 6.0)
                })
            })
        }
        "kalman_filter" => {
            let (f, h, p0, zs) = (matrix(0), matrix(1), matrix(3), matrix(4));
            let x0 = tensor::<Plain, 1>(&arrays[2]).unsqueeze_dim::<2>(1);
            made(move || {
                let device = Default::default();
                let noise = Tensor::<Plain, 2>::eye(f.dims()[0], &device) * 0.01;
                let (mut x, mut p) = (x0.clone(), p0.clone());
                for step in 0..zs.dims()[0] {
                    x = f.clone().matmul(x);
                    p = f.clone().matmul(p).matmul(f.clone().transpose()) + noise.clone();
                    let hp = h.clone().matmul(p.clone());
                    let s = hp.clone().matmul(h.clone().transpose())
                        + Tensor::<Plain, 2>::eye(2, &device) * 0.1;
                    let s: Vec<f32> = flat(s);
                    let inverse = Tensor::<Plain, 2>::from_data(
                        inverse2([[s[0], s[1]], [s[2], s[3]]]),
                        &device,
                    );
                    let k = inverse.matmul(hp.clone()).transpose();
                    let z = zs.clone().narrow(0, step, 1).transpose();
                    x = x.clone() + k.clone().matmul(z - h.clone().matmul(x));
                    p = p - k.matmul(hp);
                }
                x
            })
        }
        "sort" => {
            let x = matrix(0);
            made(move || x.clone().sort(1))
        }
        _ => None,
    }
}
