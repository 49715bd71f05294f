//! A program as functions of an object: nests are loops, constants stand beside the code, and kernels are called by their text.

use super::code::{Around, Callees, Linked, Nest, inline};
use super::launch::Scheduled;
use super::{Functions, LanePrograms, deepest, looped};
use crate::codegen::clif;
use crate::codegen::lanes::{CompileError, Defined, Vectors};
use crate::codegen::module::{address_of, signature};
use crate::lower::program::{OutputSource, Program};
use crate::narrow;
use cranelift_codegen::Context;
use cranelift_codegen::ir::{
    self, AbiParam, BlockArg, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind,
    condcodes::IntCC, types,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{DataDescription, DataId, FuncId, Linkage, Module};
use jaxide_core::byte_size;

/// The function of the runtime library that runs a kernel: it takes a text, the length of that, and the addresses of inputs and results, and
/// gives 0, or another number where it fails.
pub(crate) const RUN_KERNEL: &str = "jaxide_rt_run";

/// Constants are aligned for the widest vectors.
const ALIGNMENT: u64 = 64;

/// What all variants of a program in an object share.
pub(crate) struct SharedData {
    consts: Vec<DataId>,
    /// Texts of kernels, and their lengths.
    calls: Vec<(DataId, usize)>,
    never: DataId,
}

impl SharedData {
    /// Defines constants and the texts of kernels.
    ///
    /// # Errors
    /// When the module has something else by one of the names.
    pub(crate) fn define(
        module: &mut dyn Module,
        program: &Program,
        kernels: &[String],
    ) -> Result<SharedData, CompileError> {
        let mut data = |name: String, bytes: &[u8], alignment| {
            let id = module.declare_data(&name, Linkage::Local, false, false)?;
            let mut data = DataDescription::new();
            data.define(bytes.into());
            data.set_align(alignment);
            module.define_data(id, &data)?;
            Ok::<_, CompileError>(id)
        };
        let consts = program.consts.iter().enumerate();
        let consts = consts
            .map(|(k, tensor)| data(format!("data.const{k}"), tensor.bytes(), ALIGNMENT))
            .collect::<Result<_, _>>()?;
        let calls = kernels.iter().enumerate();
        let calls = calls
            .map(|(k, text)| {
                Ok((
                    data(format!("data.call{k}"), text.as_bytes(), 1)?,
                    text.len(),
                ))
            })
            .collect::<Result<_, CompileError>>()?;
        Ok(SharedData {
            consts,
            calls,
            never: data("data.never".to_owned(), &[0], 1)?,
        })
    }
}

/// Defines a program by the name `name`, as a function of the addresses of arguments, results and temporary memory that gives 0, or another number where
/// a kernel failed. Gives the bytes of stack that it takes, but for what the runtime takes.
///
/// # Errors
/// When the code generator refuses.
pub(crate) fn define(
    module: &mut dyn Module,
    program: &Program,
    vectors: Vectors,
    shared: &SharedData,
    (name, linkage): (&str, Linkage),
) -> Result<(FuncId, usize), CompileError> {
    let mut functions = Functions::new(false);
    let mut lane_programs = LanePrograms::new(vectors);
    let inline = inline(program, vectors);
    let mut nests = Vec::with_capacity(program.kernels.len());
    let mut frame = 0;
    for (k, kernel) in program.kernels.iter().enumerate() {
        if inline[k] {
            clif::define_tables(module, &kernel.body)?;
            nests.push(Nest::Inline);
            continue;
        }
        let code = lane_programs.of(module, k, &kernel.body, kernel.calls())?;
        let (_, lanes, defined) = lane_programs.functions[code];
        let in_group = (program.tiles.iter().flat_map(|group| &group.nests))
            .any(|nest| nest.kernel as usize == k);
        if !in_group && Scheduled::new(kernel, defined.stack).is_direct() {
            nests.push(Nest::Direct(lanes, kernel.schedule.lanes));
            continue;
        }
        let context = (&mut functions.context, &mut functions.frontend);
        let callees = (lanes, shared.never);
        let (nest, defined) =
            looped::define(module, context, &format!("nest{k}"), kernel, callees)?;
        frame = frame.max(defined.stack);
        nests.push(Nest::Looped(nest));
    }
    let kernel = if shared.calls.is_empty() {
        None
    } else {
        let signature = signature(module, 3, true);
        Some(module.declare_function(RUN_KERNEL, Linkage::Import, &signature)?)
    };
    let context = (&mut functions.context, &mut functions.frontend);
    let linked = Linked {
        never: shared.never,
        copy: define_copy(module, context)?,
        kernel,
        calls: shared.calls.clone(),
        consts: shared.consts.clone(),
    };
    let callees = Callees {
        program,
        nests: &nests,
        turns: &[],
        around: Around::Object(&linked),
        guards: None,
        profile: None,
    };
    let (main, own) = functions.whole(module, callees)?;
    let context = (&mut functions.context, &mut functions.frontend);
    let (entry, defined) = define_entry(module, context, program, &linked, main, (name, linkage))?;
    let stack = defined.stack + own + frame + deepest(&lane_programs.functions);
    Ok((entry, stack))
}

/// Defines the function that copies bytes: to, from, their number.
fn define_copy(
    module: &mut dyn Module,
    (context, frontend): (&mut Context, &mut FunctionBuilderContext),
) -> Result<FuncId, CompileError> {
    context.clear();
    let signature = signature(module, 3, false);
    let id = module.declare_function("copy", Linkage::Local, &signature)?;
    context.func.signature = signature;
    let mut fb = FunctionBuilder::new(&mut context.func, frontend);
    let entry = fb.create_block();
    fb.append_block_params_for_function_params(entry);
    fb.switch_to_block(entry);
    fb.seal_block(entry);
    let [to, from, bytes] = *fb.block_params(entry) else {
        unreachable!("three parameters")
    };
    let mut at = fb.ins().iconst(types::I64, 0);
    for (ty, count) in [(types::I8X16, 4), (types::I8, 1)] {
        at = copy_by(&mut fb, (to, from, bytes), at, (ty, count));
    }
    fb.ins().return_(&[]);
    fb.finalize(module.target_config());
    module.define_function(id, context)?;
    Ok(id)
}

/// A loop that copies so many values of a type in a turn, as long as there are as many bytes from `first` on; gives where it ended.
fn copy_by(
    fb: &mut FunctionBuilder<'_>,
    (to, from, bytes): (ir::Value, ir::Value, ir::Value),
    first: ir::Value,
    (ty, count): (ir::Type, u32),
) -> ir::Value {
    let (head, turn, exit) = (fb.create_block(), fb.create_block(), fb.create_block());
    let at = fb.append_block_param(head, types::I64);
    fb.ins().jump(head, &[BlockArg::Value(first)]);
    fb.switch_to_block(head);
    let after = fb.ins().iadd_imm_s(at, i64::from(count * ty.bytes()));
    let fits = fb.ins().icmp(IntCC::UnsignedLessThanOrEqual, after, bytes);
    fb.ins().brif(fits, turn, &[], exit, &[]);
    fb.seal_block(turn);
    fb.switch_to_block(turn);
    let flags = MemFlagsData::new().with_trap_code(None);
    let (from, to) = (fb.ins().iadd(from, at), fb.ins().iadd(to, at));
    let offset = |k: u32| narrow::<_, i32>(k * ty.bytes());
    let values: Vec<ir::Value> = (0..count)
        .map(|k| fb.ins().load(ty, flags, from, offset(k)))
        .collect();
    for (k, value) in (0..).zip(values) {
        fb.ins().store(flags, value, to, offset(k));
    }
    fb.ins().jump(head, &[BlockArg::Value(after)]);
    fb.seal_block(head);
    fb.seal_block(exit);
    fb.switch_to_block(exit);
    at
}

/// Defines the function that users call: it collects addresses in tables, runs the program, and copies results that it does not compute.
fn define_entry(
    module: &mut dyn Module,
    (context, frontend): (&mut Context, &mut FunctionBuilderContext),
    program: &Program,
    linked: &Linked,
    main: FuncId,
    (name, linkage): (&str, Linkage),
) -> Result<(FuncId, Defined), CompileError> {
    context.clear();
    let (inputs, outputs) = (program.inputs.len(), program.outputs.len());
    let mut signature = signature(module, inputs + outputs + 1, false);
    signature.returns.push(AbiParam::new(types::I32));
    let id = module.declare_function(name, linkage, &signature)?;
    context.func.signature = signature;
    let main = module.declare_func_in_func(main, &mut context.func);
    let copy = module.declare_func_in_func(linked.copy, &mut context.func);
    let mut fb = FunctionBuilder::new(&mut context.func, frontend);
    let entry = fb.create_block();
    fb.append_block_params_for_function_params(entry);
    fb.switch_to_block(entry);
    fb.seal_block(entry);
    let params = fb.block_params(entry).to_vec();
    let (arguments, rest) = params.split_at(inputs);
    let (results, scratch) = rest.split_at(outputs);
    let mut table = |values: &[ir::Value]| {
        let bytes = narrow(8 * values.len());
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
        let slot = fb.create_sized_stack_slot(slot);
        for (k, &value) in values.iter().enumerate() {
            fb.ins()
                .stack_store(types::I64, value, slot, narrow::<_, i32>(8 * k));
        }
        fb.ins().stack_addr(types::I64, slot, 0)
    };
    let tables = [arguments, results].map(&mut table);
    let nothing = fb.ins().iconst(types::I64, 0);
    let args = [tables[0], tables[1], nothing, scratch[0], nothing];
    let call = fb.ins().call(main, &args);
    let status = fb.inst_results(call)[0];
    for (output, &to) in program.outputs.iter().zip(results) {
        let from = match output.source {
            OutputSource::Computed => continue,
            OutputSource::Input(k) | OutputSource::Donated(k) => arguments[k as usize],
            OutputSource::Const(k) => address_of(module, &mut fb, linked.consts[k as usize]),
            OutputSource::Same(k) => results[k as usize],
        };
        let bytes = byte_size(&output.shape, output.dtype).unwrap_or(usize::MAX);
        let bytes = fb.ins().iconst(types::I64, bytes as i64);
        fb.ins().call(copy, &[to, from, bytes]);
    }
    fb.ins().return_(&[status]);
    fb.finalize(module.target_config());
    module.define_function(id, context)?;
    let defined = Defined::by_cranelift(context);
    Ok((id, defined))
}
