use jaxide_tree::Pytree;

#[derive(Pytree)]
union Bits {
    int: u32,
    float: f32,
}

#[derive(Pytree)]
enum Never {}

fn main() {}
