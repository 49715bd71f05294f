//! The Pochhammer symbol and hypergeometric functions.

use super::*;

pub(super) const RULES: [LibraryRule; 3] = [
    LibraryRule {
        names: ("poch", "jvp"),
        arity: (2, 1),
        equations: Some(&["eq", "add", "jit", "lgamma", "exp", "mul", "jit"]),
        derivative: Derivative::Whole(|b, call, x, t| {
            let y = again(b, call, x)?;
            let (z, m) = (x[0], x[1]);
            let digamma = |x: Atom| b.op(Digamma, &[x]);
            let end = digamma(b.add(z, m));
            let slope = b.sub(end, digamma(z));
            let by_z = b.mul(slope, again(b, call, x)?[0]);
            let first = b.mul(by_z, t[0]);
            let end = digamma(b.add(z, m));
            let by_m = b.mul(end, again(b, call, x)?[0]);
            let second = b.mul(by_m, t[1]);
            Ok(vec![y[0], b.add_any(first, second)])
        }),
    },
    LibraryRule {
        names: ("hyp1f1", "jvp"),
        arity: (3, 1),
        equations: COMPILED,
        derivative: Derivative::Whole(|b, call, x, t| hypergeometric(b, call, x, t, 1)),
    },
    LibraryRule {
        names: ("hyp2f1", "jvp"),
        arity: (4, 1),
        equations: COMPILED,
        derivative: Derivative::Whole(|b, call, x, t| hypergeometric(b, call, x, t, 2)),
    },
];

/// A hypergeometric function of `numerators` upper parameters, one lower parameter and the argument, with its tangent:
/// by the argument `Π aᵢ / c F(aᵢ + 1; c + 1; x)`, by the parameters series whose terms are those of the function times
/// differences of digamma functions.
fn hypergeometric(
    b: &Builder,
    call: &CustomJvpCall,
    args: &[Atom],
    t: &[Atom],
    numerators: usize,
) -> Result<Vec<Atom>> {
    let y = again(b, call, args)?;
    let mut sum = None;
    let add = |sum: Option<Atom>, term: Atom| Some(sum.map_or(term, |sum| b.add_any(sum, term)));
    for (parameter, &tangent) in t[..=numerators].iter().enumerate() {
        let slope = parameter_slope(b, args, numerators, parameter)?;
        sum = add(sum, b.mul(slope, tangent));
    }
    let one = like(b, args[0], 1.0);
    let mut next: Vec<Atom> = args[..=numerators].iter().map(|&p| b.add(p, one)).collect();
    next.push(args[numerators + 1]);
    let factor = first_factor(b, args, numerators);
    let slope = b.mul(factor, again(b, call, &next)?[0]);
    sum = add(sum, b.mul(slope, t[numerators + 1]));
    Ok(y.into_iter().chain(sum).collect())
}

/// `Π aᵢ / c`.
fn first_factor(b: &Builder, args: &[Atom], numerators: usize) -> Atom {
    let product = args[1..numerators]
        .iter()
        .fold(args[0], |product, &a| b.mul(product, a));
    b.div(product, args[numerators])
}

/// The derivative by one parameter: `Σ (ψ(p + k) - ψ(p)) termₖ`, of the lower parameter with the other sign. The loop
/// carries the arguments, the sum, the index and the term.
fn parameter_slope(
    b: &Builder,
    args: &[Atom],
    numerators: usize,
    parameter: usize,
) -> Result<Atom> {
    let count = args.len();
    let first = b.mul(first_factor(b, args, numerators), args[count - 1]);
    let aval = b.aval(first);
    let (zeros, ones) = (b.zeros(&aval), b.full(&aval.shape, 1.0, aval.dtype));
    let start = [args, &[zeros, ones, first]].concat();
    let with_state = |write: &dyn Fn(&Builder, &[Atom]) -> Vec<Atom>| {
        let inner = b.nested();
        let state: Vec<Atom> = start
            .iter()
            .map(|&atom| inner.input(b.aval(atom)))
            .collect();
        let results = write(&inner, &state);
        inner.finish(&results)
    };
    let cond_jaxpr = with_state(&|b, state| {
        let axes = (0..aval.rank()).collect();
        vec![b.op(ReduceOr { axes }, &[unfinished(b, &state[count..])])]
    })?;
    let body_jaxpr = with_state(&|b, state| {
        let (args, series) = state.split_at(count);
        let next = next_term(b, args, series, numerators, parameter);
        [args, &next].concat()
    })?;
    let prim = While {
        body_jaxpr,
        body_nconsts: 0,
        cond_jaxpr,
        cond_nconsts: 0,
    };
    Ok(b.emit(prim, &start)?[count])
}

/// Where the series of sum, index and term goes on: the term still counts.
fn unfinished(b: &Builder, series: &[Atom]) -> Atom {
    const TERMS: f64 = 250.0;
    let [sum, k, term] = [series[0], series[1], series[2]];
    let few = b.lt(k, like(b, k, TERMS));
    let share = b.div(b.abs(term), b.abs(sum));
    let counts = b.gt(share, like(b, k, epsilon(b.dtype(k))));
    b.and(few, counts)
}

/// Sum, index and term after another step, unchanged where the series has ended.
fn next_term(
    b: &Builder,
    args: &[Atom],
    series: &[Atom],
    numerators: usize,
    parameter: usize,
) -> [Atom; 3] {
    let [sum, k, term] = [series[0], series[1], series[2]];
    let active = unfinished(b, series);
    let p = args[parameter];
    let (at_k, at_start) = (b.op(Digamma, &[b.add(p, k)]), b.op(Digamma, &[p]));
    let difference = if parameter < numerators {
        b.sub(at_k, at_start)
    } else {
        b.sub(at_start, at_k)
    };
    let next_sum = b.add(sum, b.mul(term, difference));
    let mut product = b.mul(term, args[args.len() - 1]);
    for &a in &args[..numerators] {
        product = b.mul(product, b.add(a, k));
    }
    let next_k = b.add(k, like(b, k, 1.0));
    let divisor = b.mul(b.add(args[numerators], k), next_k);
    let product = b.div(product, divisor);
    [(next_sum, sum), (next_k, k), (product, term)].map(|(new, old)| b.select(active, new, old))
}
