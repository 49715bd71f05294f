//! Wrong calls: `random`.

use jaxide::prelude::*;
use jaxide::random;

use super::{f, i, k, rows, u};

rows! {
    "jax.random.normal(k(), (2,), jnp.int32)" => random::normal(&k(), 2, DType::I32);
    "jax.random.normal(k(), (-1,))" => random::normal(&k(), -1, DType::F32);
    "jax.random.normal(f(2), (2,))" => random::normal(&f([2]), 2, DType::F32);
    "jax.random.normal(jax.random.split(k()), (2,))" => random::normal(&random::split(&k(), 2), 2, DType::F32);
    "jax.random.uniform(k(), (2,), jnp.int32)" => random::uniform(&k(), 2, DType::I32, 0, 1);
    "jax.random.uniform(k(), (2,), jnp.float32, f(3), 1.0)" => random::uniform(&k(), 2, DType::F32, f([3]), 1.0);
    "jax.random.bits(k(), (2,), jnp.int32)" => random::bits(&k(), 2, DType::I32);
    "jax.random.randint(k(), (2,), 0, 10, jnp.float32)" => random::randint(&k(), 2, 0, 10, DType::F32);
    "jax.random.randint(k(), (2,), 0.0, 10.0, jnp.int32)" => random::randint(&k(), 2, 0.0, 10.0, DType::I32);
    "jax.random.randint(k(), (2,), i(3), 10, jnp.int32)" => random::randint(&k(), 2, i([3]), 10, DType::I32);
    "jax.random.randint(k(), (2,), 10, 0, jnp.int32)" => random::randint(&k(), 2, 10, 0, DType::I32);
    "jax.random.bernoulli(k(), f(3), (2,))" => random::bernoulli(&k(), f([3]), 2);
    "jax.random.bernoulli(k(), i(3))" => random::bernoulli(&k(), i([3]), ());
    "jax.random.beta(k(), f(2), f(3))" => random::beta(&k(), f([2]), f([3]), ());
    "jax.random.gamma(k(), f(2), (3,))" => random::gamma(&k(), f([2]), 3);
    "jax.random.gamma(k(), 1.0, (3,), jnp.int32)" => random::gamma(&k(), 1.0, random::Gamma::new().shape(3).dtype(DType::I32));
    "jax.random.poisson(k(), 1.0, (3,), jnp.float32)" => random::poisson(&k(), 1.0, random::Gamma::new().shape(3).dtype(DType::F32));
    "jax.random.dirichlet(k(), f())" => random::dirichlet(&k(), f([]), ());
    "jax.random.dirichlet(k(), f(3), (2, 3))" => random::dirichlet(&k(), f([3]), (2, 3));
    "jax.random.categorical(k(), f(2, 3), shape=(4,))" => random::categorical(&k(), f([2, 3]), 4);
    "jax.random.categorical(k(), f(3), axis=1)" => random::categorical(&k(), f([3]), random::Categorical::new().axis(1));
    "jax.random.categorical(k(), f(3), shape=(5,), replace=False)" => random::categorical(&k(), f([3]), random::Categorical::new().shape(5).replace(false));
    "jax.random.choice(k(), 3, (5,), replace=False)" => random::choice(&k(), 3, random::Choice::new().shape(5).replace(false));
    "jax.random.choice(k(), 0, (5,))" => random::choice(&k(), 0, 5);
    "jax.random.choice(k(), f(3), (2,), p=f(2))" => random::choice(&k(), f([3]), random::Choice::new().shape(2).p(f([2])));
    "jax.random.choice(k(), f(3), (2,), axis=1)" => random::choice(&k(), f([3]), random::Choice::new().shape(2).axis(1));
    "jax.random.choice(k(), f(), (2,))" => random::choice(&k(), f([]), 2);
    "jax.random.permutation(k(), f(3), axis=1)" => random::permutation(&k(), f([3]), 1);
    "jax.random.permutation(k(), f())" => random::permutation(&k(), f([]), ());
    "jax.random.multivariate_normal(k(), f(2), f(3, 3))" => random::multivariate_normal(&k(), f([2]), f([3, 3]), ());
    "jax.random.multivariate_normal(k(), f(), f(2, 2))" => random::multivariate_normal(&k(), f([]), f([2, 2]), ());
    "jax.random.multivariate_normal(k(), f(2), f(2))" => random::multivariate_normal(&k(), f([2]), f([2]), ());
    "jax.random.multinomial(k(), 3.0, f())" => random::multinomial(&k(), 3.0, f([]), ());
    "jax.random.truncated_normal(k(), f(2), f(3))" => random::truncated_normal(&k(), f([2]), f([3]), ());
    "jax.random.truncated_normal(k(), 0.0, 1.0, (2,), jnp.int32)" => random::truncated_normal(&k(), 0.0, 1.0, random::Sample::new().shape(2).dtype(DType::I32));
    "jax.random.orthogonal(k(), 2, dtype=jnp.int32)" => random::orthogonal(&k(), 2, random::Orthogonal::new().dtype(DType::I32));
    "jax.random.split(k(), -1)" => random::split(&k(), -1);
    "jax.random.split(jax.random.split(k()), 2)" => random::split(&random::split(&k(), 2), 2);
    "jax.random.split(f(2))" => random::split(&f([2]), 2);
    "jax.random.fold_in(k(), i(2))" => random::fold_in(&k(), i([2]));
    "jax.random.fold_in(jax.random.split(k()), 2)" => random::fold_in(&random::split(&k(), 2), 2);
    "jax.random.key(f(2))" => random::key(f([2]));
    "jax.random.key(i(2))" => random::key(i([2]));
    "jax.random.key(1.5)" => random::key(1.5);
    "jax.random.wrap_key_data(u(3))" => random::wrap_key_data(&u([3]));
    "jax.random.wrap_key_data(i(2))" => random::wrap_key_data(&i([2]));
    "jax.random.key_data(f(2))" => random::key_data(&f([2]));
    "jax.random.rademacher(k(), (2,), jnp.bool_)" => random::rademacher(&k(), 2, DType::Bool);
    "jax.random.exponential(k(), (2,), jnp.complex64)" => random::exponential(&k(), 2, DType::C64);
    "jax.random.gumbel(k(), (2,), jnp.int32)" => random::gumbel(&k(), 2, DType::I32);
    "jax.random.ball(k(), 0)" => random::ball(&k(), 0, 2.0, ());
    "jax.random.t(k(), f(2), (3,))" => random::t(&k(), f([2]), 3);
    "jax.random.triangular(k(), f(2), f(3), 1.0)" => random::triangular(&k(), f([2]), f([3]), 1.0, ());
    "jax.random.binomial(k(), f(2), f(3))" => random::binomial(&k(), f([2]), f([3]), ());
}
