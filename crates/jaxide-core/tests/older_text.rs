//! Text that earlier versions of JAX printed is read as what today's version prints.

use jaxide_core::parse;

fn check(older: &str, today: &str) {
    let jaxpr = parse(older).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(jaxpr.to_string(), today);
}

#[test]
fn pjit_is_jit() {
    check(
        "{ lambda ; a:f32[4]. let
    b:f32[4] = pjit[
      name=f
      donated_invars=(False,)
      in_positional_semantics=(<_PositionalSemantics.GLOBAL: 1>,)
      jaxpr={ lambda ; c:f32[4]. let d:f32[4] = sin c in (d,) }
      keep_unused=False
      resource_env=None
    ] a
  in (b,) }",
        "\
{ lambda ; a:f32[4]. let
    b:f32[4] = jit[
      name=f
      donated_invars=(False,)
      jaxpr={ lambda ; a:f32[4]. let b:f32[4] = sin a in (b,) }
    ] a
  in (b,) }",
    );
    check(
        "{ lambda ; a:f32[4]. let
    b:f32[4] = xla_call[
      call_jaxpr={ lambda ; c:f32[4]. let d:f32[4] = sin c in (d,) }
      name=f
    ] a
  in (b,) }",
        "\
{ lambda ; a:f32[4]. let
    b:f32[4] = jit[
      name=f
      jaxpr={ lambda ; a:f32[4]. let b:f32[4] = sin a in (b,) }
    ] a
  in (b,) }",
    );
}

#[test]
fn counts_of_scan_become_flat_trees() {
    check(
        "{ lambda ; a:f32[] b:f32[3]. let
    c:f32[] d:f32[3] = scan[
      _split_transpose=False
      jaxpr={ lambda ; e:f32[] f:f32[] g:f32[]. let
          h:f32[] = mul e f
          i:f32[] = add h g
        in (i, h) }
      length=3
      linear=(False, False, False)
      num_carry=1
      num_consts=1
      reverse=False
      unroll=1
    ] a 0.0:f32[] b
  in (c, d) }",
        "\
{ lambda ; a:f32[] b:f32[3]. let
    c:f32[] d:f32[3] = scan[
      ft_in=((None,), (None,), (None,))
      ft_out=((None,), (None,))
      jaxpr={ lambda ; e:f32[] f:f32[] g:f32[]. let
          h:f32[] = mul e f
          i:f32[] = add h g
        in (i, h) }
      length=3
      reverse=False
      unroll=1
    ] a 0.0:f32[] b
  in (c, d) }",
    );
}

#[test]
fn parameters_that_are_not_printed_today_are_ignored() {
    check(
        "{ lambda ; a:f32[3] b:f32[3,2]. let
    c:f32[2,3] = broadcast_in_dim[
      broadcast_dimensions=(1,)
      shape=(2, 3)
      sharding=None
    ] a
    d:f32[2,2] = dot_general[
      dimension_numbers=(([1], [0]), ([], []))
      out_sharding=None
      precision=None
      preferred_element_type=None
    ] c b
    e:i32[2,2] = convert_element_type[
      new_dtype=int32
      sharding=None
      weak_type=False
    ] d
    f:f32[] = reduce_sum[axes=(0, 1)] d
    g:f32[6] = reshape[dimensions=None new_sizes=(6,)] b
  in (e, f, g) }",
        "\
{ lambda ; a:f32[3] b:f32[3,2]. let
    c:f32[2,3] = broadcast_in_dim[broadcast_dimensions=(1,)] a
    d:f32[2,2] = dot_general[dimension_numbers=(([1], [0]), ([], []))] c b
    e:i32[2,2] = convert_element_type[new_dtype=int32 weak_type=False] d
    f:f32[] = reduce_sum[axes=(0, 1) out_sharding=None] d
    g:f32[6] = reshape[dimensions=None new_sizes=(6,) sharding=None] b
  in (e, f, g) }",
    );
}

#[test]
fn checkpoint_and_closed_calls_keep_their_body() {
    check(
        "{ lambda ; a:f32[]. let
    b:f32[] = checkpoint[
      differentiated=False
      jaxpr={ lambda ; c:f32[]. let d:f32[] = sin c in (d,) }
      policy=None
      prevent_cse=True
    ] a
    e:f32[] = remat[
      jaxpr={ lambda ; c:f32[]. let d:f32[] = cos c in (d,) }
      policy=None
      prevent_cse=True
    ] b
    f:f32[] = core_closed_call[
      call_jaxpr={ lambda ; c:f32[]. let d:f32[] = tan c in (d,) }
    ] e
  in (f,) }",
        "\
{ lambda ; a:f32[]. let
    b:f32[] = remat2[
      differentiated=False
      jaxpr={ lambda ; c:f32[]. let d:f32[] = sin c in (d,) }
      policy=None
      prevent_cse=True
    ] a
    e:f32[] = remat2[
      differentiated=False
      jaxpr={ lambda ; f:f32[]. let g:f32[] = cos f in (g,) }
      policy=None
      prevent_cse=True
    ] b
    h:f32[] = closed_call[
      call_jaxpr={ lambda ; i:f32[]. let j:f32[] = tan i in (j,) }
    ] e
  in (h,) }",
    );
}

#[test]
fn gather_without_batching_dimensions_has_none() {
    let dims = "offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,)";
    let text = |dims: &str| {
        format!(
            "{{ lambda ; a:f32[4] b:i32[2,1]. let
    c:f32[2] = gather[
      dimension_numbers=GatherDimensionNumbers({dims})
      fill_value=None
      indices_are_sorted=False
      mode=GatherScatterMode.CLIP
      slice_sizes=(1,)
      unique_indices=False
    ] a b
  in (c,) }}"
        )
    };
    let today = format!("{dims}, operand_batching_dims=(), start_indices_batching_dims=()");
    check(&text(dims), &text(&today));
}

#[test]
fn rules_of_custom_derivatives_are_kept_by_name() {
    check(
        "{ lambda ; a:f32[]. let
    b:f32[] = custom_jvp_call[
      name=f
      call_jaxpr={ lambda ; c:f32[]. let d:f32[] = sin c in (d,) }
      jvp_jaxpr_fun=f_jvp
      num_consts=0
      symbolic_zeros=False
    ] a
    e:f32[] = custom_vjp_call_jaxpr[
      bwd=<function g_bwd at 0x7f00>
      fun_jaxpr={ lambda ; f:f32[]. let g:f32[] = cos f in (g,) }
      fwd_jaxpr_thunk=<function g_fwd at 0x7f01>
      num_consts=0
      out_trees=<function h at 0x7f02>
    ] b
  in (e,) }",
        "\
{ lambda ; a:f32[]. let
    b:f32[] = custom_jvp_call[
      name=f
      call_jaxpr={ lambda ; c:f32[]. let d:f32[] = sin c in (d,) }
      jvp=f_jvp
      symbolic_zeros=False
    ] a
    e:f32[] = custom_vjp_call[
      name=f
      bwd=<g_bwd>
      call_jaxpr={ lambda ; f:f32[]. let g:f32[] = cos f in (g,) }
      fwd=<g_fwd>
      symbolic_zeros=False
    ] b
  in (e,) }",
    );
}

#[test]
fn text_that_is_indented_otherwise_is_read_too() {
    check(
        "# a comment
{lambda; a:f32[] b:f32[]. let c:f32[] = add a b   # and another
            d:f32[] = mul c 2.0:f32[]
      e:f32[] = sub
          d
          nan:f32[]
in (e ,)}",
        "{ lambda ; a:f32[] b:f32[]. let
    c:f32[] = add a b
    d:f32[] = mul c 2.0:f32[]
    e:f32[] = sub d nan:f32[]
  in (e,) }",
    );
}
