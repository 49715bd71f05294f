use jaxide_tree::Pytree;

#[derive(Pytree)]
struct UnknownOnField {
    #[pytree(meta)]
    width: usize,
}

#[derive(Pytree)]
#[pytree(dynamic)]
struct UnknownOnType(f32);

#[derive(Pytree)]
struct Empty {
    #[pytree()]
    width: usize,
}

#[derive(Pytree)]
struct Twice {
    #[pytree(static, static)]
    width: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Pytree)]
#[pytree(static, leaf)]
struct Both;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Pytree)]
#[pytree(static)]
struct StaticTwice {
    #[pytree(static)]
    width: usize,
}

#[derive(Pytree)]
enum OnVariant {
    #[pytree(static)]
    A,
}

#[derive(Pytree)]
#[pytree(named_tuple)]
struct NamedTupleWithStatic {
    x: f32,
    #[pytree(static)]
    width: usize,
}

#[derive(Pytree)]
#[pytree(named_tuple)]
enum NamedTupleEnum {
    A(f32),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Pytree)]
#[pytree(static, named_tuple)]
struct StaticNamedTuple;

fn main() {}
