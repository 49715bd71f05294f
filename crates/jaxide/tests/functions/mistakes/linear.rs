//! Wrong calls: `numpy::linalg`, `numpy::fft`.

use jaxide::numpy;

use super::{b, c, f, rows};

rows! {
    "jnp.linalg.cholesky(f(2, 3))" => numpy::linalg::cholesky(&f([2, 3]), ());
    "jnp.linalg.cholesky(f(2))" => numpy::linalg::cholesky(&f([2]), ());
    "jnp.linalg.det(f(2, 3))" => numpy::linalg::det(&f([2, 3]));
    "jnp.linalg.det(f(2))" => numpy::linalg::det(&f([2]));
    "jnp.linalg.slogdet(f(2, 3))" => numpy::linalg::slogdet(&f([2, 3]), ());
    "jnp.linalg.inv(f(2, 3))" => numpy::linalg::inv(&f([2, 3]));
    "jnp.linalg.pinv(f(3))" => numpy::linalg::pinv(&f([3]), ());
    "jnp.linalg.eig(f(2, 3))" => numpy::linalg::eig(&f([2, 3]));
    "jnp.linalg.eigh(f(2, 3))" => numpy::linalg::eigh(&f([2, 3]), ());
    "jnp.linalg.eigvals(f(3))" => numpy::linalg::eigvals(&f([3]));
    "jnp.linalg.eigvalsh(f(3))" => numpy::linalg::eigvalsh(&f([3]), ());
    "jnp.linalg.qr(f(3))" => numpy::linalg::qr(&f([3]), ());
    "jnp.linalg.svd(f(3))" => numpy::linalg::svd(&f([3]), ());
    "jnp.linalg.svdvals(f())" => numpy::linalg::svdvals(&f([]));
    "jnp.linalg.solve(f(2, 3), f(2))" => numpy::linalg::solve(&f([2, 3]), &f([2]));
    "jnp.linalg.solve(f(2, 2), f(3))" => numpy::linalg::solve(&f([2, 2]), &f([3]));
    "jnp.linalg.solve(f(2), f(2))" => numpy::linalg::solve(&f([2]), &f([2]));
    "jnp.linalg.lstsq(f(2, 3), f(3))" => numpy::linalg::lstsq(&f([2, 3]), &f([3]), ());
    "jnp.linalg.lstsq(f(2), f(2))" => numpy::linalg::lstsq(&f([2]), &f([2]), ());
    "jnp.linalg.matrix_power(f(2, 3), 2)" => numpy::linalg::matrix_power(&f([2, 3]), 2);
    "jnp.linalg.matrix_rank(f())" => numpy::linalg::matrix_rank(&f([]), ());
    "jnp.linalg.matrix_norm(f(3))" => numpy::linalg::matrix_norm(&f([3]), ());
    "jnp.linalg.norm(f(2, 2, 2), ord=2)" => numpy::linalg::norm(&f([2, 2, 2]), 2.0);
    "jnp.linalg.norm(f(2, 2), axis=2)" => numpy::linalg::norm(&f([2, 2]), numpy::linalg::Norm::new().axis(2));
    "jnp.linalg.vector_norm(f(2), axis=1)" => numpy::linalg::vector_norm(&f([2]), numpy::linalg::VectorNorm::new().axis(1));
    "jnp.linalg.cond(f(2, 3), p=1)" => numpy::linalg::cond(&f([2, 3]), 1.0);
    "jnp.linalg.cond(f(3))" => numpy::linalg::cond(&f([3]), ());
    "jnp.linalg.multi_dot([f(2, 3)])" => numpy::linalg::multi_dot(&[f([2, 3])], ());
    "jnp.linalg.multi_dot([f(2, 3), f(2, 3)])" => numpy::linalg::multi_dot(&[f([2, 3]), f([2, 3])], ());
    "jnp.linalg.tensorinv(f(2, 3), ind=1)" => numpy::linalg::tensorinv(&f([2, 3]), 1);
    "jnp.linalg.tensorinv(f(2, 2), ind=0)" => numpy::linalg::tensorinv(&f([2, 2]), 0);
    "jnp.linalg.tensorsolve(f(2, 3), f(3))" => numpy::linalg::tensorsolve(&f([2, 3]), &f([3]), ());
    "jnp.linalg.outer(f(2, 2), f(2))" => numpy::linalg::outer(&f([2, 2]), &f([2]));
    "jnp.linalg.cross(f(2), f(2))" => numpy::linalg::cross(&f([2]), &f([2]), ());
    "jnp.linalg.matrix_transpose(f(2))" => numpy::linalg::matrix_transpose(&f([2]));
    "jnp.linalg.trace(f(2))" => numpy::linalg::trace(&f([2]), ());
    "jnp.fft.fft(f(2), axis=1)" => numpy::fft::fft(&f([2]), numpy::fft::Fft::new().axis(1));
    "jnp.fft.fft(f(2), n=0)" => numpy::fft::fft(&f([2]), 0);
    "jnp.fft.fft(f())" => numpy::fft::fft(&f([]), ());
    "jnp.fft.fft(f(0))" => numpy::fft::fft(&f([0]), ());
    "jnp.fft.rfft(c(4))" => numpy::fft::rfft(&c([4]), ());
    "jnp.fft.irfft(c(1))" => numpy::fft::irfft(&c([1]), ());
    "jnp.fft.fft2(f(4))" => numpy::fft::fft2(&f([4]), ());
    "jnp.fft.fftn(f(4, 4), axes=(0, 2))" => numpy::fft::fftn(&f([4, 4]), numpy::fft::Fftn::new().axes((0, 2)));
    "jnp.fft.fftn(f(4, 4), s=(2,), axes=(0, 1))" => numpy::fft::fftn(&f([4, 4]), numpy::fft::Fftn::new().s(2).axes((0, 1)));
    "jnp.fft.rfftn(c(4, 4))" => numpy::fft::rfftn(&c([4, 4]), ());
    "jnp.fft.hfft(c(4), axis=2)" => numpy::fft::hfft(&c([4]), numpy::fft::Fft::new().axis(2));
    "jnp.fft.fftshift(f(4), axes=1)" => numpy::fft::fftshift(&f([4]), 1);
    "jnp.fft.fftfreq(0)" => numpy::fft::fftfreq(0, ());
    "jnp.fft.fft(b(4))" => numpy::fft::fft(&b([4]), ());
}
