//! Runs of checked programs: with a shadow of everything that they access.

use super::{Executable, Surroundings, out_of_memory};
use crate::lower::program::{OutputSource, Program};
use crate::runtime::PoolBuffer;
use crate::runtime::checked::WRITTEN;
use jaxide_core::{Error, ErrorKind, Result, byte_size};

/// Shadows start at multiples of this.
const ALIGNMENT: usize = 64;
/// What temporary memory and results hold before something is written: no number that goes unnoticed.
const POISON: u8 = 0xff;

/// Where the shadows of arrays are.
struct Shadows {
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    consts: Vec<usize>,
    /// Bytes of all.
    total: usize,
}

impl Shadows {
    fn of(program: &Program) -> Result<Shadows> {
        let mut total = 0usize;
        let mut place = |bytes: usize| -> Result<usize> {
            let start = total;
            total = bytes
                .checked_next_multiple_of(ALIGNMENT)
                .and_then(|bytes| total.checked_add(bytes))
                .ok_or_else(|| Error::new(ErrorKind::TooLarge, "shadows cannot be addressed"))?;
            Ok(start)
        };
        let inputs = program.inputs.iter();
        let inputs = inputs.map(|(dtype, shape)| place(byte_size(shape, *dtype)?));
        let inputs = inputs.collect::<Result<_>>()?;
        let outputs = program.outputs.iter();
        let outputs = outputs.map(|output| place(byte_size(&output.shape, output.dtype)?));
        let outputs = outputs.collect::<Result<_>>()?;
        let consts = program.consts.iter();
        let consts = consts.map(|array| place(array.bytes().len()));
        let consts = consts.collect::<Result<_>>()?;
        Ok(Shadows {
            inputs,
            outputs,
            consts,
            total,
        })
    }
}

/// Bytes that a run takes for shadows.
pub(super) fn shadow_memory(program: &Program) -> Result<usize> {
    Ok(Shadows::of(program)?.total.saturating_add(program.arena))
}

impl Executable {
    /// Calls checked code.
    ///
    /// # Safety
    /// As for [`enter`](Self::enter).
    pub(super) unsafe fn enter_checked(
        &self,
        around: Surroundings<'_>,
        inputs: &[*const u8],
        outputs: &[*mut u8],
        consts: &[*const u8],
    ) -> Result<()> {
        let program = &self.program;
        let at = Shadows::of(program)?;
        let mut shadows = PoolBuffer::new(at.total).map_err(out_of_memory)?;
        shadows.bytes_mut().fill(WRITTEN);
        for (k, (output, &start)) in program.outputs.iter().zip(&at.outputs).enumerate() {
            if output.source == OutputSource::Computed {
                let bytes = byte_size(&output.shape, output.dtype)?;
                shadows.bytes_mut()[start..start + bytes].fill(0);
                // SAFETY: the caller promises memory of the result's size.
                unsafe { outputs[k].write_bytes(POISON, bytes) };
            }
        }
        let mut arena = PoolBuffer::new(2 * program.arena).map_err(out_of_memory)?;
        let (own, shadow) = arena.bytes_mut().split_at_mut(program.arena);
        own.fill(POISON);
        shadow.fill(0);
        let first = shadows.as_mut_ptr();
        let shadow = |starts: &[usize]| -> Vec<*mut u8> {
            starts
                .iter()
                .map(|&start| first.wrapping_add(start))
                .collect()
        };
        let (mut inputs, mut consts) = (inputs.to_vec(), consts.to_vec());
        let mut outputs = outputs.to_vec();
        inputs.extend(shadow(&at.inputs).into_iter().map(<*mut u8>::cast_const));
        outputs.extend(shadow(&at.outputs));
        consts.extend(shadow(&at.consts).into_iter().map(<*mut u8>::cast_const));
        // SAFETY: the caller's promise; shadows have the sizes of what they are for, and that of the arena is behind it.
        unsafe { self.call(around, [&inputs, &consts], &outputs, arena.as_mut_ptr(), 1)? };
        for (k, (output, &start)) in program.outputs.iter().zip(&at.outputs).enumerate() {
            let bytes = byte_size(&output.shape, output.dtype)?;
            let own = &shadows.bytes()[start..start + bytes];
            if let Some(byte) = own.iter().position(|&byte| byte != WRITTEN) {
                return Err(Error::new(
                    ErrorKind::Internal,
                    format!("nothing was written at byte {byte} of result {k}"),
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Isa;
    use crate::lower::lower;
    use crate::lower::program::{LibraryCall, Stmt};
    use crate::options::CompileOptions;
    use crate::runtime::{Buffers, Context, Kernel, KernelCall, KernelError, Signature};
    use crate::stages::StageTimes;
    use jaxide_core::{Tensor, parse};

    /// in0, in1 -> k0 -> t0 -> sort -> t1 -> k1 -> out1 -> k2 -> out0
    const STEPS: &str = "{ lambda ; a:f32[10] b:i32[]. let
        c:f32[10] = neg a
        d:f32[10] = sort[dimension=0 is_stable=True num_keys=1] c
        e:f32[4] = dynamic_slice[slice_sizes=(4,)] d b
        f:f32[] = reduce_sum[axes=(0,) out_sharding=None] e
        h:f32[10] = rev[dimensions=(0,)] d
        g:f32[10] = mul h f
      in (g, f) }";

    const LOOPS: &str = "{ lambda ; a:f32[64]. let
        b:i32[] c:f32[64] = while[
          body_jaxpr={ lambda ; a:i32[] b:f32[64]. let
              c:i32[] = add a 1:i32[]
              d:f32[64] = sort[dimension=0 is_stable=True num_keys=1] b
              e:f32[64] = rev[dimensions=(0,)] b
              f:f32[64] = add e d
            in (c, f) }
          body_nconsts=0
          cond_jaxpr={ lambda ; a:i32[] b:f32[64]. let c:bool[] = lt a 3:i32[] in (c,) }
          cond_nconsts=0
        ] 0:i32[] a
      in (c,) }";

    /// Runs a program after a mistake was put into it: what is said on every instruction set, and whether the mistake is seen
    /// without running it.
    fn run(text: &str, mistake: impl Fn(&mut Program)) -> (Result<Vec<Tensor>>, bool) {
        let closed = parse(text).unwrap();
        let mut said: Vec<Result<Vec<Tensor>>> = Vec::new();
        let mut seen = false;
        for isa in Isa::available() {
            let options = CompileOptions {
                isa: Some(isa),
                checked: true,
                ..CompileOptions::default()
            };
            let mut times = StageTimes::default();
            let mut program = lower(&closed, &[], true, true, &mut times).unwrap();
            mistake(&mut program);
            seen = program.verify().is_err();
            let executable = Executable::new(program, 0, &options, times).unwrap();
            let args: Vec<Tensor> = (closed.in_avals().iter())
                .map(|aval| match aval.shape.as_slice() {
                    [] => Tensor::scalar(100i32),
                    shape => Tensor::from_vec(shape, vec![1.5f32; shape[0]]).unwrap(),
                })
                .collect();
            said.push(executable.run(&args));
        }
        for other in &said[1..] {
            let [first, other] = [&said[0], other].map(|said| format!("{said:?}"));
            assert_eq!(first, other, "instruction sets say different things");
        }
        (said.remove(0), seen)
    }

    fn says(text: &str, seen: bool, message: &str, mistake: impl Fn(&mut Program)) {
        let (said, verified) = run(text, mistake);
        let error = said.expect_err(message);
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Internal, message)
        );
        assert_eq!(verified, seen, "{message}: seen before it runs");
    }

    /// The operands of the statement at a position.
    fn operands(program: &mut Program, at: usize) -> &mut Vec<crate::lower::program::Place> {
        match &mut program.body[at] {
            Stmt::Nest { operands, .. } | Stmt::Call { operands, .. } => operands,
            other => panic!("{other:?} has no operands"),
        }
    }

    #[test]
    fn right_programs_run() {
        for text in [STEPS, LOOPS] {
            let (results, seen) = run(text, |_| {});
            assert!(results.is_ok() && !seen, "{results:?}");
        }
    }

    #[test]
    fn accesses_outside_are_named() {
        says(
            STEPS,
            true,
            "kernel k0 for equation 0 (neg, 2:9) loads f32 at in0+4+36, byte 40 of an array of 40 bytes",
            |program| operands(program, 0)[0].offset = 4,
        );
        says(
            STEPS,
            true,
            "kernel k0 for equation 0 (neg, 2:9) stores f32 at t0-4+0, byte -4 of an array of 40 bytes",
            |program| operands(program, 0)[1].offset = -4,
        );
        says(
            STEPS,
            true,
            "sort for equation 1 (sort, 3:9) writes 40 bytes at t1+8, from byte 8 of an array of 40",
            |program| operands(program, 1)[1].offset = 8,
        );
        // The index is 100.
        says(
            STEPS,
            true,
            "kernel k1 for equation 2 (dynamic_slice, 4:9), equation 3 (reduce_sum, 5:9) loads f32 at \
             t1+clamp(in1, 7)*4+12, byte 40 of an array of 40 bytes",
            |program| operands(program, 2)[0].dynamic[0].most = 7,
        );
    }

    #[test]
    fn reads_of_what_was_not_written_are_named() {
        says(
            STEPS,
            false,
            "sort for equation 1 (sort, 3:9) reads 40 bytes at t0, and nothing was written at 0 of them",
            |program| drop(program.body.remove(0)),
        );
        says(
            STEPS,
            false,
            "kernel k1 for equation 2 (dynamic_slice, 4:9), equation 3 (reduce_sum, 5:9) loads f32 at \
             t1+clamp(in1, 6)*4+12, where nothing was written",
            |program| drop(program.body.remove(1)),
        );
        says(
            STEPS,
            false,
            "nothing was written at byte 0 of result 0",
            |program| {
                drop(program.body.remove(3));
            },
        );
        // Both temporaries in one place: what sorts writes over what it reads.
        says(
            STEPS,
            false,
            "kernel k1 for equation 2 (dynamic_slice, 4:9), equation 3 (reduce_sum, 5:9) loads f32 at t0+clamp(in1, 6)*4+12, \
             where nothing was written",
            |program| {
                program.offsets[1] = program.offsets[0];
                let first = operands(program, 0)[1].clone();
                operands(program, 2)[0].base = first.base;
            },
        );
    }

    #[test]
    fn loops_look_at_what_changes_places() {
        let slots = |program: &mut Program,
                     change: &dyn Fn(&mut Vec<crate::lower::program::Slot>)| {
            for stmt in &mut program.body {
                if let Stmt::While { slots, .. } = stmt {
                    change(slots);
                }
            }
        };
        let (said, seen) = run(LOOPS, |program| {
            slots(program, &|slots| {
                for slot in slots {
                    slot.buffers.iter_mut().for_each(|place| place.offset += 32);
                }
            });
        });
        let message = said.unwrap_err().to_string();
        assert!(seen && message.contains("while"), "{message}");
        let (said, _) = run(LOOPS, |program| {
            let at = program
                .body
                .iter()
                .position(|stmt| matches!(stmt, Stmt::Copy { .. }));
            program
                .body
                .remove(at.expect("the state is copied before the loop"));
        });
        let message = said.unwrap_err().to_string();
        assert!(message.contains("where nothing was written"), "{message}");
    }

    /// Writes a byte behind its result.
    struct Rogue;

    impl Kernel for Rogue {
        fn signature(&self) -> Signature {
            Signature::of(&[(10, 4)], &[(10, 4)])
        }

        fn run(
            &self,
            buffers: &mut Buffers<'_>,
            _: &Context<'_>,
        ) -> std::result::Result<(), KernelError> {
            let to = buffers.output::<u8>(0);
            to.fill(0);
            // SAFETY: the fence is there.
            unsafe { to.as_mut_ptr().add(to.len() + 3).write(1) };
            Ok(())
        }
    }

    #[test]
    fn fences_are_looked_at() {
        says(
            STEPS,
            false,
            "rogue for equation 1 (sort, 3:9) writes 3 bytes behind t1",
            |program| {
                program.calls[0] = LibraryCall {
                    name: "rogue".to_owned(),
                    call: KernelCall::new(Rogue),
                    recipe: program.calls[0].recipe.clone(),
                    flops: 0,
                };
            },
        );
    }
}
