//! Factorisations, solvers and transforms by the laws that define them.

use jaxide_core::Tensor;
use num_complex::Complex;
use proptest::prelude::*;

use super::run;

type C = Complex<f64>;

/// A matrix as rows.
type Rows = Vec<Vec<C>>;

const ZERO: C = Complex::new(0.0, 0.0);

fn rows(tensor: &Tensor) -> Rows {
    let columns = *tensor.shape().last().unwrap();
    let elements: Vec<C> = match tensor.to_vec::<f64>() {
        Ok(real) => real.into_iter().map(C::from).collect(),
        Err(_) => tensor.to_vec::<C>().unwrap(),
    };
    elements.chunks(columns).map(<[C]>::to_vec).collect()
}

fn product(a: &Rows, b: &Rows) -> Rows {
    let entry = |row: &[C], j: usize| row.iter().zip(b).map(|(x, row)| x * row[j]).sum();
    a.iter()
        .map(|row| (0..b[0].len()).map(|j| entry(row, j)).collect())
        .collect()
}

fn adjoint(a: &Rows) -> Rows {
    (0..a[0].len())
        .map(|j| a.iter().map(|row| row[j].conj()).collect())
        .collect()
}

fn diagonal(values: &[C], rows: usize, columns: usize) -> Rows {
    let entry = |i: usize, j: usize| if i == j { values[i] } else { ZERO };
    (0..rows)
        .map(|i| (0..columns).map(|j| entry(i, j)).collect())
        .collect()
}

fn largest(a: &Rows) -> f64 {
    a.iter().flatten().map(|x| x.norm()).fold(0.0, f64::max)
}

/// Whether the entries are equal, up to the rounding of entries as large as `scale`.
fn near(a: &Rows, b: &Rows, scale: f64) -> Result<(), TestCaseError> {
    let far = a
        .iter()
        .flatten()
        .zip(b.iter().flatten())
        .map(|(x, y)| (x - y).norm());
    let far = far.fold(0.0, |far: f64, d| if d.is_nan() { d } else { far.max(d) });
    prop_assert!(
        far <= 1e-11 * scale,
        "{far} apart, of {scale}: {a:?} and {b:?}"
    );
    Ok(())
}

fn is_unitary(q: &Rows) -> Result<(), TestCaseError> {
    let n = q[0].len();
    near(
        &product(&adjoint(q), q),
        &diagonal(&vec![1.0.into(); n], n, n),
        1.0,
    )
}

/// The traces of the first three powers, which similar matrices have in common.
fn traces(a: &Rows) -> Rows {
    let square = product(a, a);
    let trace = |a: &Rows| (0..a.len()).map(|i| a[i][i]).sum();
    vec![vec![trace(a), trace(&square), trace(&product(&square, a))]]
}

/// Square matrices of many kinds: full, sparse, of small integers (with equal eigenvalues), rotations, badly scaled.
fn squares() -> impl Strategy<Value = Vec<Vec<f64>>> {
    (1usize..10, 0..5, any::<u64>()).prop_map(|(n, kind, seed)| {
        let mut state = seed | 1;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let mut entry = |i: usize, j: usize| match kind {
            0 => next(),
            1 => (next() * 3.0).round(),
            2 if next() < 0.2 => 0.0,
            2 => next() * 10.0,
            // A permutation and a little: eigenvalues on a circle.
            3 => f64::from(u8::from((i + 1) % n == j)) + next() * 1e-3,
            _ => next() * 10f64.powi(i as i32 - j as i32),
        };
        (0..n)
            .map(|i| (0..n).map(|j| entry(i, j)).collect())
            .collect()
    })
}

fn tensor(a: &[Vec<f64>]) -> Tensor {
    Tensor::from_vec(&[a.len(), a[0].len()], a.concat()).unwrap()
}

/// Whether the real Schur form of `a` is one, and of `a`.
fn is_schur(a: &[Vec<f64>]) -> Result<(), TestCaseError> {
    let n = a.len();
    let results = run(
        &format!(
            "{{ lambda ; a:f64[{n},{n}]. let b:f64[{n},{n}] c:f64[{n},{n}] = schur[compute_schur_vectors=True \
                select_callable=None sort_eig_vals=False] a in (b, c) }}"
        ),
        &[tensor(a)],
    );
    let (a, t, z) = (rows(&tensor(a)), rows(&results[0]), rows(&results[1]));
    is_unitary(&z)?;
    near(&product(&product(&z, &t), &adjoint(&z)), &a, largest(&a))?;
    for i in 0..n {
        prop_assert!((0..i.saturating_sub(1)).all(|j| t[i][j] == ZERO));
        if i > 0 && t[i][i - 1] != ZERO {
            // A block of a pair of complex eigenvalues, in the standard form.
            prop_assert!(i == 1 || t[i - 1][i - 2] == ZERO);
            prop_assert!((t[i][i] - t[i - 1][i - 1]).norm() <= 1e-12 * largest(&t));
            prop_assert!((t[i][i - 1] * t[i - 1][i]).re < 0.0);
        }
    }
    Ok(())
}

#[test]
fn schur_of_nearly_equal_eigenvalues() {
    for power in 0..24 {
        let small = 1e-17 * 2f64.powi(power);
        for (b, c) in [
            (1.0, small),
            (small, 1.0),
            (1.0, -small),
            (-small, -1.0),
            (small, small),
        ] {
            for difference in [0.0, small, -1e-8] {
                is_schur(&[vec![1.0, b], vec![c, 1.0 + difference]]).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn schur(a in squares()) {
        is_schur(&a)?;
    }

    #[test]
    fn eig(a in squares()) {
        let n = a.len();
        let results = run(
            &format!("{{ lambda ; a:f64[{n},{n}]. let b:c128[{n}] c:c128[{n},{n}] d:c128[{n},{n}] = eig[\
                compute_left_eigenvectors=True compute_right_eigenvectors=True enable_eigvec_derivs=False \
                implementation=None] a in (b, c, d) }}"),
            &[tensor(&a)],
        );
        let a = rows(&tensor(&a));
        let values = diagonal(&results[0].to_vec::<C>().unwrap(), n, n);
        let (left, right) = (rows(&results[1]), rows(&results[2]));
        let scale = largest(&a) * n as f64;
        near(&product(&a, &right), &product(&right, &values), scale)?;
        near(&product(&adjoint(&left), &a), &product(&values, &adjoint(&left)), scale)?;
        for vectors in [left, right] {
            for column in adjoint(&vectors) {
                let norm = column.iter().map(C::norm_sqr).sum::<f64>();
                prop_assert!((norm - 1.0).abs() < 1e-10, "{norm}");
            }
        }
    }

    #[test]
    fn singular_values(a in squares(), columns in 1usize..10) {
        let n = a.len();
        let a: Vec<Vec<f64>> = a.iter().map(|row| row.iter().cycle().take(columns).copied().collect()).collect();
        let results = run(
            &format!("{{ lambda ; a:f64[{n},{columns}]. let b:f64[{k}] c:f64[{n},{n}] d:f64[{columns},{columns}] = svd[\
                algorithm=None compute_uv=True full_matrices=True subset_by_index=None] a in (b, c, d) }}",
                k = n.min(columns)),
            &[tensor(&a)],
        );
        let values = results[0].to_vec::<f64>().unwrap();
        let sorted = values.windows(2).all(|pair| pair[0] >= pair[1]);
        prop_assert!(sorted && values.iter().all(|s| *s >= 0.0), "{values:?}");
        let values: Vec<C> = values.into_iter().map(C::from).collect();
        let (u, vt) = (rows(&results[1]), rows(&results[2]));
        is_unitary(&u)?;
        is_unitary(&vt)?;
        let a = rows(&tensor(&a));
        near(&product(&product(&u, &diagonal(&values, n, columns)), &vt), &a, largest(&a))?;
    }

    #[test]
    fn triangular_factors(a in squares(), columns in 1usize..10) {
        let n = a.len();
        let a: Vec<Vec<f64>> = a.iter().map(|row| row.iter().cycle().take(columns).copied().collect()).collect();
        let k = n.min(columns);
        let lu = run(
            &format!("{{ lambda ; a:f64[{n},{columns}]. let b:f64[{n},{columns}] c:i32[{k}] d:i32[{n}] = lu a in (b, c, d) }}"),
            &[tensor(&a)],
        );
        let (packed, order) = (rows(&lu[0]), lu[2].to_vec::<i32>().unwrap());
        let mut swapped: Vec<i32> = (0..n as i32).collect();
        for (i, with) in lu[1].to_vec::<i32>().unwrap().into_iter().enumerate() {
            swapped.swap(i, with as usize);
        }
        prop_assert_eq!(&swapped, &order);
        let lower = |i: usize, j: usize| match i.cmp(&j) {
            std::cmp::Ordering::Less => ZERO,
            std::cmp::Ordering::Equal => 1.0.into(),
            std::cmp::Ordering::Greater => packed[i][j],
        };
        let l: Rows = (0..n).map(|i| (0..k).map(|j| lower(i, j)).collect()).collect();
        prop_assert!(largest(&l) <= 1.0 + 1e-12, "the largest entry of a column is its pivot");
        let u: Rows = (0..k).map(|i| (0..columns).map(|j| if i > j { ZERO } else { packed[i][j] }).collect()).collect();
        let permuted: Rows = order.iter().map(|i| rows(&tensor(&a))[*i as usize].clone()).collect();
        near(&product(&l, &u), &permuted, largest(&permuted) * 100.0)?;

        let qr = run(
            &format!("{{ lambda ; a:f64[{n},{columns}]. let b:f64[{n},{n}] c:f64[{n},{columns}] d:i32[{columns}] = qr[\
                full_matrices=True pivoting=True use_magma=None] a in (b, c, d) }}"),
            &[tensor(&a)],
        );
        let (q, r, order) = (rows(&qr[0]), rows(&qr[1]), qr[2].to_vec::<i32>().unwrap());
        is_unitary(&q)?;
        let permuted: Rows = rows(&tensor(&a)).iter().map(|row| order.iter().map(|j| row[*j as usize]).collect()).collect();
        near(&product(&q, &r), &permuted, largest(&permuted))?;
        let scale = 1e-12 * largest(&r);
        for i in 0..k {
            prop_assert!((0..i).all(|j| r[i][j] == ZERO));
            // Each pivot is the longest column that is left.
            for j in i..columns {
                let length = (i..n).map(|i| r[i][j].norm_sqr()).sum::<f64>().sqrt();
                prop_assert!(length <= r[i][i].norm() * (1.0 + 1e-9) + scale, "{length} at {i}, {j} of {r:?}");
            }
        }
    }

    #[test]
    fn condensed_forms(a in squares(), lower in any::<bool>()) {
        let n = a.len();
        let results = run(
            &format!("{{ lambda ; a:f64[{n},{n}]. let b:f64[{n},{n}] c:f64[{}] = hessenberg a in (b, c) }}", n - 1),
            &[tensor(&a)],
        );
        let whole = rows(&tensor(&a));
        let packed = rows(&results[0]);
        let h: Rows = (0..n).map(|i| (0..n).map(|j| if i > j + 1 { ZERO } else { packed[i][j] }).collect()).collect();
        let scale = 1.0 + largest(&whole).powi(3) * n as f64;
        near(&traces(&h), &traces(&whole), scale)?;

        let symmetric: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| a[i][j] + a[j][i]).collect()).collect();
        let results = run(
            &format!("{{ lambda ; a:f64[{n},{n}]. let b:f64[{n},{n}] c:f64[{n}] d:f64[{m}] e:f64[{m}] = tridiagonal[\
                lower={}] a in (b, c, d, e) }}", if lower { "True" } else { "False" }, m = n - 1),
            &[tensor(&symmetric)],
        );
        let (d, e) = (results[1].to_vec::<f64>().unwrap(), results[2].to_vec::<f64>().unwrap());
        let entry = |i: usize, j: usize| match i.abs_diff(j) {
            0 => d[i].into(),
            1 => e[i.min(j)].into(),
            _ => ZERO,
        };
        let t: Rows = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
        near(&traces(&t), &traces(&rows(&tensor(&symmetric))), scale * 100.0)?;
    }

    #[test]
    fn tridiagonal_systems(a in squares(), columns in 1usize..4) {
        let n = a.len();
        // What is subtracted from the diagonal keeps the system well away from a singular one.
        let band = |offset: i64| -> Vec<f64> {
            (0..n as i64).map(|i| {
                let j = i + offset;
                if !(0..n as i64).contains(&j) { 0.0 } else if offset == 0 { 300.0 + a[i as usize][0].signum() } else {
                    (a[i as usize][j as usize]).clamp(-99.0, 99.0)
                }
            }).collect()
        };
        let bands = [band(-1), band(0), band(1)];
        let right: Vec<f64> = (0..n * columns).map(|i| (i * i % 7) as f64 - 3.0).collect();
        let vector = |x: &Vec<f64>| Tensor::from_vec(&[n], x.clone()).unwrap();
        let b = Tensor::from_vec(&[n, columns], right).unwrap();
        let x = run(
            &format!("{{ lambda ; a:f64[{n}] b:f64[{n}] c:f64[{n}] d:f64[{n},{columns}]. let e:f64[{n},{columns}] = \
                tridiagonal_solve[perturb_singular=False] a b c d in (e,) }}"),
            &[vector(&bands[0]), vector(&bands[1]), vector(&bands[2]), b.clone()],
        );
        let entry = |i: usize, j: usize| match (j + 1).checked_sub(i) {
            Some(band @ 0..3) => bands[band][i].into(),
            _ => ZERO,
        };
        let whole: Rows = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
        near(&product(&whole, &rows(&x[0])), &rows(&b), 3.0)?;
    }
}

/// The sums that define the transforms.
#[test]
fn fourier_transforms() {
    for n in (1..40).chain([49, 64, 67, 121, 134]) {
        let x: Vec<C> = (0..n)
            .map(|i| C::new((i * i % 11) as f64 - 4.0, (i * 7 % 5) as f64))
            .collect();
        let sum = |x: &[C], sign: f64, k: usize| -> C {
            let root =
                |j: usize| C::cis(sign * std::f64::consts::TAU * ((j * k) % n) as f64 / n as f64);
            x.iter().enumerate().map(|(j, x)| x * root(j)).sum()
        };
        let transform = |x: Tensor, from: &str, to: &str, kind: usize| {
            let text = format!(
                "{{ lambda ; a:{from}. let b:{to} = fft[fft_lengths=({n},) fft_type={kind}] a in (b,) }}"
            );
            rows(&run(&text, &[x])[0]).concat()
        };
        #[track_caller]
        fn close(got: &[C], want: &[C]) {
            let n = want.len();
            assert_eq!(got.len(), n);
            for (got, want) in got.iter().zip(want) {
                assert!(
                    (got - want).norm() < 1e-10 * n as f64,
                    "{got} for {want} of {n}"
                );
            }
        }
        let all = |x: &[C], sign| (0..n).map(|k| sum(x, sign, k)).collect::<Vec<C>>();
        let (c, f, half) = (format!("c128[{n}]"), format!("f64[{n}]"), n / 2 + 1);
        let h = format!("c128[{half}]");
        let complex = |x: &[C]| Tensor::from_vec(&[x.len()], x.to_vec()).unwrap();
        close(&transform(complex(&x), &c, &c, 0), &all(&x, -1.0));
        let inverse: Vec<C> = all(&x, 1.0).iter().map(|x| x / n as f64).collect();
        close(&transform(complex(&x), &c, &c, 1), &inverse);
        let real: Vec<f64> = x.iter().map(|x| x.re).collect();
        let spectrum = all(&real.iter().map(|x| C::from(*x)).collect::<Vec<_>>(), -1.0);
        let of_real = Tensor::from_vec(&[n], real.clone()).unwrap();
        close(&transform(of_real, &f, &h, 2), &spectrum[..half]);
        let back: Vec<C> = real.into_iter().map(C::from).collect();
        close(&transform(complex(&spectrum[..half]), &h, &f, 3), &back);
    }
}
