//! Wrong calls: `lax`.

use jaxide::lax;
use jaxide::prelude::*;

use super::{b, c, f, i, rows, u8};

rows! {
    "lax.add(f(2), i(2))" => lax::add(&f([2]), &i([2]));
    "lax.add(f(2), f(3))" => lax::add(&f([2]), &f([3]));
    "lax.add(f(2, 3), f(3))" => lax::add(&f([2, 3]), &f([3]));
    "lax.sub(b(2), b(2))" => lax::sub(&b([2]), &b([2]));
    "lax.sin(i(2))" => lax::sin(&i([2]));
    "lax.neg(b(2))" => lax::neg(&b([2]));
    "lax.exp(b(2))" => lax::exp(&b([2]));
    "lax.floor(i(2))" => lax::floor(&i([2]));
    "lax.erf(c(2))" => lax::erf(&c([2]));
    "lax.bitwise_and(f(2), f(2))" => lax::bitwise_and(&f([2]), &f([2]));
    "lax.shift_left(f(2), f(2))" => lax::shift_left(&f([2]), &f([2]));
    "lax.real(f(2))" => lax::real(&f([2]));
    "lax.complex(i(2), i(2))" => lax::complex(&i([2]), &i([2]));
    "lax.lt(c(2), c(2))" => lax::lt(&c([2]), &c([2]));
    "lax.atan2(f(2), f(3))" => lax::atan2(&f([2]), &f([3]));
    "lax.integer_pow(i(2), -1)" => lax::integer_pow(&i([2]), -1);
    "lax.clamp(f(2), f(3), f(3))" => lax::clamp(&f([2]), &f([3]), &f([3]));
    "lax.clamp(i(), f(3), f())" => lax::clamp(&i([]), &f([3]), &f([]));
    "lax.select(b(2), f(3), f(3))" => lax::select(&b([2]), &f([3]), &f([3]));
    "lax.select(b(2), f(2), i(2))" => lax::select(&b([2]), &f([2]), &i([2]));
    "lax.select(f(2), f(2), f(2))" => lax::select(&f([2]), &f([2]), &f([2]));
    "lax.select_n(i(2), f(2), f(3))" => lax::select_n(&i([2]), &[f([2]), f([3])]);
    "lax.broadcast_in_dim(f(3), (2, 4), (1,))" => lax::broadcast_in_dim(&f([3]), (2, 4), 1);
    "lax.broadcast_in_dim(f(3), (2, 3), (2,))" => lax::broadcast_in_dim(&f([3]), (2, 3), 2);
    "lax.broadcast_in_dim(f(3, 3), (3, 3), (1, 0))" => lax::broadcast_in_dim(&f([3, 3]), (3, 3), (1, 0));
    "lax.broadcast(f(3), (-1,))" => lax::broadcast(&f([3]), -1);
    "lax.reshape(f(2, 3), (5,))" => lax::reshape(&f([2, 3]), 5);
    "lax.reshape(f(2, 3), (-1, -2))" => lax::reshape(&f([2, 3]), (-1, -2));
    "lax.transpose(f(2, 3), (1,))" => lax::transpose(&f([2, 3]), 1);
    "lax.squeeze(f(2, 1), (0,))" => lax::squeeze(&f([2, 1]), 0);
    "lax.expand_dims(f(2), (4,))" => lax::expand_dims(&f([2]), 4);
    "lax.rev(f(2), (1,))" => lax::rev(&f([2]), 1);
    "lax.rev(f(2, 2), (0, 0))" => lax::rev(&f([2, 2]), (0, 0));
    "lax.slice(f(3), (1,), (5,))" => lax::slice(&f([3]), 1, 5, None);
    "lax.slice(f(3), (2,), (1,))" => lax::slice(&f([3]), 2, 1, None);
    "lax.slice(f(3), (0, 0), (1, 1))" => lax::slice(&f([3]), (0, 0), (1, 1), None);
    "lax.slice(f(3), (0,), (3,), (0,))" => lax::slice(&f([3]), 0, 3, Some(&[0]));
    "lax.slice_in_dim(f(3), 0, 2, 1, 1)" => lax::slice_in_dim(&f([3]), 0, 2, 1, 1);
    "lax.index_in_dim(f(3), 4)" => lax::index_in_dim(&f([3]), 4, ());
    "lax.dynamic_slice(f(3), (0,), (4,))" => lax::dynamic_slice(&f([3]), &[0.into()], 4);
    "lax.dynamic_slice(f(3), (0, 0), (1,))" => lax::dynamic_slice(&f([3]), &[0.into(), 0.into()], 1);
    "lax.dynamic_slice(f(3), (0.5,), (1,))" => lax::dynamic_slice(&f([3]), &[0.5.into()], 1);
    "lax.dynamic_update_slice(f(3), f(4), (0,))" => lax::dynamic_update_slice(&f([3]), &f([4]), &[0.into()]);
    "lax.dynamic_update_slice(f(3), i(2), (0,))" => lax::dynamic_update_slice(&f([3]), &i([2]), &[0.into()]);
    "lax.dynamic_update_slice(f(3), f(2, 2), (0,))" => lax::dynamic_update_slice(&f([3]), &f([2, 2]), &[0.into()]);
    "lax.pad(f(3), 0.0, ((1, 1, 0), (1, 1, 0)))" => lax::pad(&f([3]), 0.0, &[(1, 1, 0), (1, 1, 0)]);
    "lax.pad(f(3), i(), ((1, 1, 0),))" => lax::pad(&f([3]), i([]), &[(1, 1, 0)]);
    "lax.pad(f(3), 0.0, ((-2, -2, 0),))" => lax::pad(&f([3]), 0.0, &[(-2, -2, 0)]);
    "lax.pad(f(3), 0.0, ((0, 0, -1),))" => lax::pad(&f([3]), 0.0, &[(0, 0, -1)]);
    "lax.concatenate([f(2, 2), f(3, 2)], 1)" => lax::concatenate(&[f([2, 2]), f([3, 2])], 1);
    "lax.concatenate([f(2), i(2)], 0)" => lax::concatenate(&[f([2]), i([2])], 0);
    "lax.concatenate([f(2)], 1)" => lax::concatenate(&[f([2])], 1);
    "lax.concatenate([], 0)" => lax::concatenate(&[], 0);
    "lax.dot_general(f(2, 3), f(4, 5), (((1,), (0,)), ((), ())))" => lax::dot_general(&f([2, 3]), &f([4, 5]), contract(1, 0), None, None);
    "lax.dot(f(2, 3), f(2, 3))" => lax::dot(&f([2, 3]), &f([2, 3]), ());
    "lax.batch_matmul(f(2, 3), f(3))" => lax::batch_matmul(&f([2, 3]), &f([3]), None);
    "lax.iota(jnp.float32, -1)" => lax::iota(DType::F32, -1, 0);
    "lax.broadcasted_iota(jnp.int32, (2,), 1)" => lax::broadcasted_iota(DType::I32, 2, 1);
    "lax.broadcasted_iota(jnp.bool_, (2,), 0)" => lax::broadcasted_iota(DType::Bool, 2, 0);
    "lax.reduce_sum(f(2), axes=(1,))" => lax::reduce_sum(&f([2]), 1);
    "lax.reduce_max(c(2), axes=(0,))" => lax::reduce_max(&c([2]), 0);
    "lax.argmax(f(2, 0), 1, jnp.int32)" => lax::argmax(&f([2, 0]), 1, DType::I32);
    "lax.argmax(f(2), 0, jnp.float32)" => lax::argmax(&f([2]), 0, DType::F32);
    "lax.cumsum(f(2), 1)" => lax::cumsum(&f([2]), 1, false);
    "lax.cumsum(f(2), -1)" => lax::cumsum(&f([2]), -1, false);
    "lax.cummax(c(2), 0)" => lax::cummax(&c([2]), 0, false);
    "lax.sort((f(2), f(3)), dimension=0)" => lax::sort(&[f([2]), f([3])], 0, 1);
    "lax.sort((f(2), f(2)), dimension=0, num_keys=3)" => lax::sort(&[f([2]), f([2])], 0, 3);
    "lax.top_k(f(3), 4)" => lax::top_k(&f([3]), 4);
    "lax.top_k(f(), 1)" => lax::top_k(&f([]), 1);
    "lax.top_k(c(3), 1)" => lax::top_k(&c([3]), 1);
    "lax.conv(f(1, 2, 4), f(1, 3, 2), (1,), \"VALID\")" => lax::conv(&f([1, 2, 4]), &f([1, 3, 2]), 1, lax::Padding::Valid);
    "lax.conv(f(1, 2, 4), f(1, 2, 2, 2), (1,), \"VALID\")" => lax::conv(&f([1, 2, 4]), &f([1, 2, 2, 2]), 1, lax::Padding::Valid);
    "lax.conv(f(1, 2, 4), f(1, 2, 2), (1, 1), \"VALID\")" => lax::conv(&f([1, 2, 4]), &f([1, 2, 2]), (1, 1), lax::Padding::Valid);
    "lax.conv(i(1, 2, 4), f(1, 2, 2), (1,), \"VALID\")" => lax::conv(&i([1, 2, 4]), &f([1, 2, 2]), 1, lax::Padding::Valid);
    "lax.bitcast_convert_type(f(3), jnp.int16)" => lax::bitcast_convert_type(&f([3]), DType::I16);
    "lax.bitcast_convert_type(u8(3), jnp.int16)" => lax::bitcast_convert_type(&u8([3]), DType::I16);
    "lax.collapse(f(2, 3), 2, 1)" => lax::collapse(&f([2, 3]), 2, 1);
    "lax.tile(f(2, 3), (2,))" => lax::tile(&f([2, 3]), 2);
    "lax.split(f(5), (2, 2))" => lax::split(&f([5]), (2, 2), 0);
    "lax.linalg.cholesky(f(2, 3))" => lax::linalg::cholesky(&f([2, 3]), true);
    "lax.linalg.cholesky(i(2, 2))" => lax::linalg::cholesky(&i([2, 2]), true);
    "lax.linalg.eigh(f(2, 3))" => lax::linalg::eigh(&f([2, 3]), true, true);
    "lax.linalg.lu(f(3))" => lax::linalg::lu(&f([3]));
    "lax.linalg.triangular_solve(f(2, 2), f(3, 2), left_side=True)" => lax::linalg::triangular_solve(&f([2, 2]), &f([3, 2]), lax::linalg::Triangular { left_side: true, ..Default::default() });
    "lax.linalg.tridiagonal_solve(f(3), f(3), f(2), f(3, 1))" => lax::linalg::tridiagonal_solve(&f([3]), &f([3]), &f([2]), &f([3, 1]));
    "lax.reduce_precision(f(2), 0, 3)" => lax::reduce_precision(&f([2]), 0, 3);
    "lax.convert_element_type(c(2), jnp.float32)" => lax::convert_element_type(&c([2]), DType::F32);
}

fn contract(lhs: i64, rhs: i64) -> lax::DotDimensionNumbers {
    lax::DotDimensionNumbers {
        lhs_contracting: [lhs as usize].into_iter().collect(),
        rhs_contracting: [rhs as usize].into_iter().collect(),
        ..Default::default()
    }
}
