//! Factors, and results of loops, that nothing reads.

use crate::everywhere::everywhere;
use jaxide_testing::compare::Nearness;

/// R alone is that of the whole factorisation, of every shape and type, and no Q is made for it.
#[test]
fn upper_factors_alone() {
    let shapes = [
        "0,3",
        "3,0",
        "1,1",
        "2,3",
        "3,2",
        "8,8",
        "17,16",
        "16,17",
        "33,33",
        "40,7",
        "7,40",
        "0,4,4",
        "1,5,5",
        "3,5,4",
        "2,33,32",
        "2,3,32,33",
    ];
    let types = [
        ("f32", Nearness::Relative(1e-4)),
        ("f64", Nearness::Relative(1e-11)),
        ("c64", Nearness::Relative(1e-4)),
        ("c128", Nearness::Relative(1e-11)),
    ];
    for (k, shape) in shapes.into_iter().enumerate() {
        let lengths: Vec<usize> = shape.split(',').map(|x| x.parse().unwrap()).collect();
        let (batch, matrix) = lengths.split_at(lengths.len() - 2);
        let (m, n) = (matrix[0], matrix[1]);
        for (t, (ty, nearness)) in types.into_iter().enumerate() {
            let full = (k + t) % 2 == 0;
            let common = if full { m } else { m.min(n) };
            let with = |a: usize, b: usize| {
                let all = batch.iter().copied().chain([a, b]);
                let all: Vec<String> = all.map(|length| length.to_string()).collect();
                all.join(",")
            };
            let (q, r) = (with(m, common), with(common, n));
            let name = if full { "True" } else { "False" };
            let factor = format!(
                "_:{ty}[{q}] r:{ty}[{r}] = qr[full_matrices={name} pivoting=False use_magma=None] a"
            );
            let alone = everywhere(
                &format!("{{ lambda ; a:{ty}[{shape}]. let {factor} in (r,) }}"),
                nearness,
            );
            let single = batch.iter().product::<usize>() == 1;
            if single && m * n > 0 {
                assert!(alone.loops.contains("call geqrf"), "{}", alone.loops);
            }
            // In a loop too.
            everywhere(
                &format!(
                    "{{ lambda ; a:{ty}[{shape}] b:{ty}[{r}]. let
                        c:{ty}[{r}] = scan[_split_transpose=False jaxpr={{ lambda ; a:{ty}[{shape}] c:{ty}[{r}]. let
                            {factor}
                            d:{ty}[{r}] = add c r
                          in (d,) }} length=3 linear=(False, False) num_carry=1 num_consts=1 reverse=False unroll=1] a b
                      in (c,) }}"
                ),
                nearness,
            );
        }
    }
}

/// What a loop stacks or carries and nothing reads has no memory, in a loop inside of another one too.
#[test]
fn what_loops_give_for_nothing() {
    let scan = "_:f32[200,1000] = scan[_split_transpose=False jaxpr={ lambda ; c:f32[1000] d:f32[1000]. let
            e:f32[1000] = mul c 0.5:f32[]
            f:f32[1000] = sin d
            g:f32[1000] = add f c
          in (e, g, f) } length=200 linear=(False, False) num_carry=2 num_consts=0 reverse=False unroll=1]";
    let whole = everywhere(
        &format!("{{ lambda ; a:f32[1000]. let b:f32[1000] _:f32[1000] {scan} a a in (b,) }}"),
        Nearness::Bits,
    );
    assert!(whole.arena <= 8000, "{}\n{}", whole.arena, whole.loops);
    let inner = everywhere(
        &format!(
            "{{ lambda ; a:f32[1000]. let
                b:f32[1000] = scan[_split_transpose=False jaxpr={{ lambda ; a:f32[1000]. let
                    b:f32[1000] _:f32[1000] {scan} a a
                  in (b,) }} length=3 linear=(False,) num_carry=1 num_consts=0 reverse=False unroll=1] a
              in (b,) }}"
        ),
        Nearness::Bits,
    );
    assert!(inner.arena <= 16_000, "{}\n{}", inner.arena, inner.loops);
}
