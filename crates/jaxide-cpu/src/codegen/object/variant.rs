//! The code for one processor, in a module that has the code for others too.

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir;
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_module::{
    DataDescription, DataId, FuncId, FuncOrDataId, Linkage, Module, ModuleDeclarations,
    ModuleReloc, ModuleResult,
};
use cranelift_object::ObjectModule;

/// A module whose functions are compiled for a processor, and whose local names have a prefix.
pub(super) struct Variant<'a> {
    module: &'a mut ObjectModule,
    isa: OwnedTargetIsa,
    prefix: String,
}

impl<'a> Variant<'a> {
    pub(super) fn new(
        module: &'a mut ObjectModule,
        isa: OwnedTargetIsa,
        prefix: String,
    ) -> Variant<'a> {
        Variant {
            module,
            isa,
            prefix,
        }
    }

    fn name(&self, name: &str, linkage: Linkage) -> String {
        match linkage {
            Linkage::Local => format!("{}{name}", self.prefix),
            Linkage::Import | Linkage::Preemptible | Linkage::Hidden | Linkage::Export => {
                name.to_owned()
            }
        }
    }
}

impl Module for Variant<'_> {
    fn isa(&self) -> &dyn TargetIsa {
        &*self.isa
    }

    fn declarations(&self) -> &ModuleDeclarations {
        self.module.declarations()
    }

    fn get_name(&self, name: &str) -> Option<FuncOrDataId> {
        self.module.get_name(&self.name(name, Linkage::Local))
    }

    fn declare_function(
        &mut self,
        name: &str,
        linkage: Linkage,
        signature: &ir::Signature,
    ) -> ModuleResult<FuncId> {
        let name = self.name(name, linkage);
        self.module.declare_function(&name, linkage, signature)
    }

    fn declare_anonymous_function(&mut self, signature: &ir::Signature) -> ModuleResult<FuncId> {
        self.module.declare_anonymous_function(signature)
    }

    fn declare_data(
        &mut self,
        name: &str,
        linkage: Linkage,
        writable: bool,
        tls: bool,
    ) -> ModuleResult<DataId> {
        let name = self.name(name, linkage);
        self.module.declare_data(&name, linkage, writable, tls)
    }

    fn declare_anonymous_data(&mut self, writable: bool, tls: bool) -> ModuleResult<DataId> {
        self.module.declare_anonymous_data(writable, tls)
    }

    fn define_function_with_control_plane(
        &mut self,
        function: FuncId,
        context: &mut Context,
        control: &mut ControlPlane,
    ) -> ModuleResult<()> {
        context.compile(&*self.isa, control)?;
        let compiled = context.compiled_code().expect("it was compiled");
        let buffer = &compiled.buffer;
        let relocs: Vec<ModuleReloc> = (buffer.relocs().iter())
            .map(|reloc| ModuleReloc::from_mach_reloc(reloc, &context.func, function))
            .collect();
        let alignment = u64::from(buffer.alignment);
        self.module
            .define_function_bytes(function, alignment, buffer.data(), &relocs)
    }

    fn define_function_bytes(
        &mut self,
        function: FuncId,
        alignment: u64,
        bytes: &[u8],
        relocs: &[ModuleReloc],
    ) -> ModuleResult<()> {
        self.module
            .define_function_bytes(function, alignment, bytes, relocs)
    }

    fn define_data(&mut self, data: DataId, description: &DataDescription) -> ModuleResult<()> {
        self.module.define_data(data, description)
    }
}
