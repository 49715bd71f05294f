//! Where machine code goes: a Cranelift module.
//!
//! Code is generated into any [`Module`]: functions call others, kernels and constants by name. [`Jit`] is the module in the memory of this process; its
//! pages can be written or executed, never both, and are given back when the program is dropped.

use super::error::CompileError;
use crate::runtime::call_kernel;
use crate::runtime::checked::run_check;
use crate::runtime::launch::{copy, launch, launch_tiles};
use crate::runtime::profile;
use crate::runtime::turns::run_turns;
use cranelift_codegen::CompiledCode;
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, LibCall, types};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable, SetError};
use cranelift_frontend::FunctionBuilder;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{DataId, FuncId, Linkage, Module, default_libcall_names};
use rustc_hash::FxHashMap as HashMap;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What generated code calls of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Import {
    /// Runs a nest.
    Launch,
    /// Runs a group of nests.
    LaunchTiles,
    /// Runs a loop whose turns are shared out.
    Turns,
    /// Copies an array.
    Copy,
    /// Runs a kernel.
    Call,
    /// Runs a step of a checked program.
    Check,
    /// Before a step whose time is taken.
    ProfileEnter,
    /// Behind it.
    ProfileLeave,
}

impl Import {
    const ALL: [Import; 8] = [
        Import::Launch,
        Import::LaunchTiles,
        Import::Turns,
        Import::Copy,
        Import::Call,
        Import::Check,
        Import::ProfileEnter,
        Import::ProfileLeave,
    ];

    fn symbol(self) -> &'static str {
        match self {
            Import::Launch => "jaxide_launch",
            Import::LaunchTiles => "jaxide_launch_tiles",
            Import::Turns => "jaxide_turns",
            Import::Copy => "jaxide_copy",
            Import::Call => "jaxide_call",
            Import::Check => "jaxide_check",
            Import::ProfileEnter => "jaxide_profile_enter",
            Import::ProfileLeave => "jaxide_profile_leave",
        }
    }

    /// How many arguments it has, and whether it gives a status.
    fn signature(self) -> (usize, bool) {
        match self {
            Import::Launch | Import::LaunchTiles => (3, false),
            Import::Copy => (4, false),
            Import::Turns | Import::Call => (3, true),
            Import::Check => (4, true),
            Import::ProfileEnter => (0, false),
            Import::ProfileLeave => (3, false),
        }
    }

    fn address(self) -> usize {
        match self {
            Import::Launch => launch as *const () as usize,
            Import::LaunchTiles => launch_tiles as *const () as usize,
            Import::Turns => run_turns as *const () as usize,
            Import::Copy => copy as *const () as usize,
            Import::Call => call_kernel as *const () as usize,
            Import::Check => run_check as *const () as usize,
            Import::ProfileEnter => profile::enter as *const () as usize,
            Import::ProfileLeave => profile::leave as *const () as usize,
        }
    }
}

/// The runtime's functions as a module knows them.
pub(super) struct Imports([FuncId; Import::ALL.len()]);

impl Imports {
    /// # Errors
    /// When the module has something else by one of the names.
    pub(super) fn declare(module: &mut dyn Module) -> Result<Imports, CompileError> {
        let mut ids = Vec::with_capacity(Import::ALL.len());
        for import in Import::ALL {
            let (arguments, status) = import.signature();
            let signature = signature(module, arguments, status);
            ids.push(module.declare_function(import.symbol(), Linkage::Import, &signature)?);
        }
        let ids = ids.try_into();
        Ok(Imports(
            ids.unwrap_or_else(|_| unreachable!("one for each")),
        ))
    }

    pub(super) fn id(&self, import: Import) -> FuncId {
        self.0[import as usize]
    }
}

/// The signature of a function of so many words, with a status or without.
pub(super) fn signature(module: &dyn Module, arguments: usize, status: bool) -> ir::Signature {
    let mut signature = module.make_signature();
    let word = AbiParam::new(types::I64);
    signature.params.extend((0..arguments).map(|_| word));
    if status {
        signature.returns.push(AbiParam::new(types::I32));
    }
    signature
}

/// The address of a constant, or of what has a name, where `fb` is.
pub(super) fn address_of(
    module: &dyn Module,
    fb: &mut FunctionBuilder<'_>,
    id: DataId,
) -> ir::Value {
    let symbol = module.declare_data_in_func(id, fb.func);
    // Pages of the module of this process may be far from each other.
    if !module.isa().flags().is_pic()
        && let ir::GlobalValueData::Symbol { colocated, .. } = &mut fb.func.global_values[symbol]
    {
        *colocated = false;
    }
    fb.ins().symbol_value(types::I64, symbol)
}

/// Addresses of what a program refers to by name, beside the runtime's functions.
#[derive(Clone, Default)]
pub(super) struct Symbols(Arc<Mutex<HashMap<String, usize>>>);

impl Symbols {
    /// Gives something a name. It must stay in its place as long as the code lives.
    pub(super) fn name<T>(&self, name: String, it: &T) {
        let address = std::ptr::from_ref(it).expose_provenance();
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.insert(name, address);
    }

    fn find(&self, name: &str) -> Option<usize> {
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.get(name).copied()
    }
}

/// The module in this process.
pub(super) struct Jit {
    module: ManuallyDrop<JITModule>,
    pub(super) symbols: Symbols,
}

impl Jit {
    /// # Errors
    /// When Cranelift does not know this machine.
    pub(super) fn new() -> Result<Jit, CompileError> {
        let symbols = Symbols::default();
        let mut builder = JITBuilder::with_isa(native_isa()?, default_libcall_names());
        let named = symbols.clone();
        builder.symbol_lookup_fn(Box::new(move |name| {
            let imports = || {
                Import::ALL
                    .into_iter()
                    .find(|import| import.symbol() == name)
            };
            let address = (named.find(name))
                .or_else(|| imports().map(Import::address))
                .or_else(|| library_function(name))?;
            Some(std::ptr::with_exposed_provenance(address))
        }));
        Ok(Jit {
            module: ManuallyDrop::new(JITModule::new(builder)),
            symbols,
        })
    }

    pub(super) fn module(&mut self) -> &mut dyn Module {
        &mut *self.module
    }

    /// Fills in addresses, and makes the code executable.
    ///
    /// # Errors
    /// When the system does not let it be executed.
    pub(super) fn finish(mut self) -> Result<Placed, CompileError> {
        self.module.finalize_definitions()?;
        Ok(Placed(self))
    }
}

impl Drop for Jit {
    fn drop(&mut self) {
        // SAFETY: the module is not used any more, and whoever calls the code holds it, so that nothing runs in these pages.
        unsafe { ManuallyDrop::take(&mut self.module).free_memory() };
    }
}

/// Machine code that can be executed.
pub(super) struct Placed(Jit);

// SAFETY: the module is only asked for addresses, which are settled, until it is dropped.
unsafe impl Sync for Placed {}

impl Placed {
    /// The address of a function that was defined.
    pub(super) fn address(&self, function: FuncId) -> *const u8 {
        self.0.module.get_finalized_function(function)
    }

    /// The first `length` bytes of a function.
    ///
    /// # Safety
    /// It has so many.
    pub(super) unsafe fn code(&self, function: FuncId, length: usize) -> &[u8] {
        // SAFETY: promised by the caller; the pages are readable as long as `self` lives, and nothing writes to them.
        unsafe { std::slice::from_raw_parts(self.address(function), length) }
    }
}

impl fmt::Debug for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Placed")
    }
}

/// Bytes of stack that a call of compiled code takes, but for what it calls.
pub(super) fn frame(compiled: &CompiledCode) -> usize {
    // The return address and the caller's frame pointer lie above.
    let layout = compiled.buffer.frame_layout();
    layout.map_or(0, |layout| layout.frame_to_fp_offset as usize) + 16
}

/// Cranelift for this machine, tuned for speed of the code.
fn native_isa() -> Result<OwnedTargetIsa, CompileError> {
    static ISA: OnceLock<Result<OwnedTargetIsa, String>> = OnceLock::new();
    let isa = ISA.get_or_init(|| make_native_isa().map_err(|error| error.to_string()));
    isa.clone().map_err(CompileError::Codegen)
}

fn make_native_isa() -> Result<OwnedTargetIsa, CompileError> {
    let failed = |e: &dyn fmt::Display| CompileError::Codegen(e.to_string());
    let mut flags = settings::builder();
    tune(&mut flags, false).map_err(|e| failed(&e))?;
    let builder = cranelift_native::builder().map_err(|e| failed(&e))?;
    builder
        .finish(settings::Flags::new(flags))
        .map_err(|e| failed(&e))
}

/// Settings for speed of the code; it can stand anywhere if it is `movable`.
pub(super) fn tune(flags: &mut settings::Builder, movable: bool) -> Result<(), SetError> {
    for (name, value) in [
        ("opt_level", "speed"),
        ("is_pic", if movable { "true" } else { "false" }),
        // The guard page of a stack is not jumped over.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("use_colocated_libcalls", "false"),
        (
            "enable_verifier",
            if cfg!(debug_assertions) {
                "true"
            } else {
                "false"
            },
        ),
    ] {
        flags.set(name, value)?;
    }
    Ok(())
}

/// What Cranelift calls where the machine lacks an instruction, by the name that C gives it.
fn library_function(name: &str) -> Option<usize> {
    extern "C" fn fma_f32(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
    extern "C" fn fma_f64(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }
    let names = default_libcall_names();
    if name == names(LibCall::FmaF32) {
        Some(fma_f32 as *const () as usize)
    } else if name == names(LibCall::FmaF64) {
        Some(fma_f64 as *const () as usize)
    } else {
        None
    }
}
