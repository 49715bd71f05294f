//! What a compiled program shows of itself.

use jaxide_core::parse;
use jaxide_cpu::{CompileOptions, Executable, compile};

fn compiled(keep_text: bool) -> Executable {
    let text = "{ lambda ; a:f32[1000]. let b:f32[1000] = sin a; c:f32[1000] = sort[dimension=0 is_stable=True num_keys=1] b in (c,) }";
    let options = CompileOptions {
        keep_text,
        ..CompileOptions::default()
    };
    compile(&parse(text).unwrap(), &options).unwrap()
}

#[test]
fn the_function_in_the_form_of_cranelift_is_kept_where_it_is_wanted() {
    assert_eq!(compiled(false).clif_text(), "");
    let program = compiled(true);
    let text = program.clif_text();
    assert!(text.starts_with("; program\n"), "{text}");
    assert!(text.contains(" is call0 sort\n"), "{text}");
    assert!(text.contains(" is jaxide_call\n"), "{text}");
    assert!(text.contains("\nfunction "), "{text}");
    assert!(text.trim_end().ends_with('}'), "{text}");
}

#[test]
fn the_machine_code_is_shown_byte_by_byte() {
    let program = compiled(false);
    let text = program.asm_text();
    let names = text.lines().filter(|line| line.ends_with(':'));
    assert!(names.clone().any(|name| name == "program:"), "{text}");
    assert_eq!(
        names.clone().filter(|name| name.starts_with('k')).count(),
        program.stats().kernels
    );
    let bytes = text.lines().filter(|line| !line.ends_with(':'));
    let bytes: usize = bytes.map(|line| line.split_whitespace().count()).sum();
    assert_eq!(bytes, program.stats().code);
}
