//! The families in candle.

use candle_core::{D, Device, Result, Tensor, Var};

use crate::{Array, Program, inverse2};

fn tensor(array: &Array) -> Tensor {
    Tensor::from_vec(array.data.clone(), array.shape.clone(), &Device::Cpu)
        .expect("as many numbers as the shape has")
}

fn made(f: impl Fn() -> Result<Tensor> + 'static) -> Option<Program> {
    let flat = |tensor: Tensor| {
        let tensor = tensor.contiguous().and_then(|tensor| tensor.flatten_all());
        tensor
            .and_then(|tensor| tensor.to_vec1())
            .expect("an array of f32")
    };
    Some(Program::new(move || f().expect("operations fit"), flat))
}

fn recurrence(w: &Tensor, c: &Tensor, xs: &Tensor) -> Result<Tensor> {
    let mut c = c.unsqueeze(0)?;
    for step in 0..xs.dim(0)? {
        c = (c.matmul(w)? + xs.narrow(0, step, 1)?)?.tanh()?;
    }
    c.squeeze(0)
}

fn softmax(x: &Tensor) -> Result<Tensor> {
    let e = x.broadcast_sub(&x.max_keepdim(D::Minus1)?)?.exp()?;
    e.broadcast_div(&e.sum_keepdim(D::Minus1)?)
}

/// The program of a family; none of those that need decompositions or transforms, which candle has not.
pub fn program(family: &str, arrays: &[Array]) -> Option<Program> {
    let t: Vec<Tensor> = arrays.iter().map(tensor).collect();
    match family {
        "rnn" => made(move || recurrence(&t[0], &t[1], &t[2])),
        "rnn_gradient" => {
            let w = Var::from_tensor(&t[0]).ok()?;
            made(move || {
                let loss = recurrence(w.as_tensor(), &t[1], &t[2])?.sqr()?.sum_all()?;
                let gradients = loss.backward()?;
                Ok(gradients.get(&w).expect("the loss depends on it").clone())
            })
        }
        "mlp" => made(move || {
            t[1..]
                .iter()
                .try_fold(t[0].clone(), |x, w| x.matmul(w)?.gelu())
        }),
        "product_chain" => {
            made(move || (0..10).try_fold(t[1].clone(), |c, _| c.matmul(&t[0])? + 0.5))
        }
        "convolution" => {
            // The layouts that candle has.
            let x = t[0]
                .permute((0, 3, 1, 2))
                .and_then(|x| x.contiguous())
                .ok()?;
            let w = t[1]
                .permute((3, 2, 0, 1))
                .and_then(|w| w.contiguous())
                .ok()?;
            let b = t[2].reshape((1, t[2].dim(0).ok()?, 1, 1)).ok()?;
            made(move || {
                x.conv2d(&w, 1, 1, 1, 1)?
                    .broadcast_add(&b)?
                    .relu()?
                    .permute((0, 2, 3, 1))
            })
        }
        "attention" => {
            let scale = 1.0 / (arrays[0].shape[1] as f64).sqrt();
            made(move || softmax(&(t[0].matmul(&t[1].t()?)? * scale)?)?.matmul(&t[2]))
        }
        "n_body" => made(move || {
            let d = t[0].unsqueeze(0)?.broadcast_sub(&t[0].unsqueeze(1)?)?;
            let r = (d.sqr()?.sum(2)? + 0.01)?;
            let f = r.powf(-1.5)?.broadcast_mul(&t[1].unsqueeze(0)?)?;
            d.broadcast_mul(&f.unsqueeze(2)?)?.sum(1)
        }),
        "ode" => {
            let y = t[1].unsqueeze(1).ok()?;
            made(move || {
                let f = |y: &Tensor| t[0].matmul(y)?.tanh();
                let step = |y: Tensor| {
                    let k1 = f(&y)?;
                    let k2 = f(&(&y + (&k1 * 0.005)?)?)?;
                    let k3 = f(&(&y + (&k2 * 0.005)?)?)?;
                    let k4 = f(&(&y + (&k3 * 0.01)?)?)?;
                    y + ((k1 + (k2 * 2.0)? + (k3 * 2.0)? + k4)? * (0.01 / 6.0))?
                };
                (0..20).try_fold(y.clone(), |y, _| step(y))?.squeeze(1)
            })
        }
        "kalman_filter" => made(move || {
            let (f, h) = (&t[0], &t[1]);
            let n = f.dim(0)?;
            let noise = (Tensor::eye(n, f.dtype(), f.device())? * 0.01)?;
            let (mut x, mut p) = (t[2].unsqueeze(1)?, t[3].clone());
            for step in 0..t[4].dim(0)? {
                x = f.matmul(&x)?;
                p = (f.matmul(&p)?.matmul(&f.t()?)? + &noise)?;
                let hp = h.matmul(&p)?;
                let s = (hp.matmul(&h.t()?)? + (Tensor::eye(2, f.dtype(), f.device())? * 0.1)?)?
                    .to_vec2::<f32>()?;
                let inverse = Tensor::new(
                    &inverse2([[s[0][0], s[0][1]], [s[1][0], s[1][1]]]),
                    f.device(),
                )?;
                let k = inverse.matmul(&hp)?.t()?.contiguous()?;
                let z = t[4].get(step)?.unsqueeze(1)?;
                x = (&x + k.matmul(&(z - h.matmul(&x)?)?)?)?;
                p = (&p - k.matmul(&hp)?)?;
            }
            x.squeeze(1)
        }),
        "sort" => made(move || Ok(t[0].sort_last_dim(true)?.0)),
        _ => None,
    }
}
