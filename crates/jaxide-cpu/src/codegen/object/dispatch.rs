//! One name for the code of several processors: an indirect function, which the loader asks once which of them it is.
//!
//! What the loader calls is a few instructions that ask the processor (`cpuid`) for the features of each level, and the system (`xgetbv`) for the
//! registers that these need. It needs nothing else of the program, which is not initialised yet.

use super::cpu::{Cpu, Variant};
use crate::codegen::error::CompileError;
use crate::narrow;
use cranelift_codegen::binemit::Reloc;
use cranelift_module::{FuncId, Linkage, Module, ModuleReloc, ModuleRelocTarget};
use cranelift_object::object::SymbolFlags;
use cranelift_object::object::elf::{STB_GLOBAL, STT_GNU_IFUNC, STV_DEFAULT};
use cranelift_object::object::write::Object;

/// Bits of `ecx` of leaf 1: FMA, MOVBE, OSXSAVE, AVX, F16C.
const LEAF_1: u32 = 1 << 12 | 1 << 22 | 1 << 27 | 1 << 28 | 1 << 29;
/// Bits of `ebx` of leaf 7: BMI1, AVX2, BMI2.
const LEAF_7: u32 = 1 << 3 | 1 << 5 | 1 << 8;
/// Bits of `ebx` of leaf 7: AVX-512 F, DQ, CD, BW, VL.
const LEAF_7_WIDE: u32 = 1 << 16 | 1 << 17 | 1 << 28 | 1 << 30 | 1 << 31;
/// Bits of `ecx` of the first extended leaf: LZCNT.
const LEAF_EXTENDED: u32 = 1 << 5;
/// Registers that the system keeps: those of SSE and AVX.
const STATE: u32 = 0b110;
/// And masks, and the rest of vectors of 512 bits.
const STATE_WIDE: u32 = 0b1110_0110;

/// Where `cpuid` gives something.
enum Register {
    Ebx,
    Ecx,
}

/// Machine code that is being written.
#[derive(Default)]
struct Code {
    bytes: Vec<u8>,
    relocs: Vec<ModuleReloc>,
    /// Where jumps to the end have their distance.
    to_end: Vec<usize>,
}

impl Code {
    /// Goes to the end unless the processor has all of some features.
    fn feature(&mut self, leaf: u32, register: Register, bits: u32) {
        // mov eax, leaf; xor ecx, ecx; cpuid
        self.bytes.push(0xb8);
        self.bytes.extend(leaf.to_le_bytes());
        self.bytes.extend([0x31, 0xc9, 0x0f, 0xa2]);
        // and register, bits; cmp register, bits
        let (and, cmp) = match register {
            Register::Ebx => ([0x81, 0xe3], [0x81, 0xfb]),
            Register::Ecx => ([0x81, 0xe1], [0x81, 0xf9]),
        };
        self.bytes.extend(and);
        self.bytes.extend(bits.to_le_bytes());
        self.bytes.extend(cmp);
        self.bytes.extend(bits.to_le_bytes());
        self.leave();
    }

    /// Goes to the end unless the system keeps all of some registers.
    fn state(&mut self, bits: u32) {
        // xor ecx, ecx; xgetbv; and eax, bits; cmp eax, bits
        self.bytes.extend([0x31, 0xc9, 0x0f, 0x01, 0xd0, 0x25]);
        self.bytes.extend(bits.to_le_bytes());
        self.bytes.push(0x3d);
        self.bytes.extend(bits.to_le_bytes());
        self.leave();
    }

    /// jne end
    fn leave(&mut self) {
        self.bytes.extend([0x0f, 0x85]);
        self.to_end.push(self.bytes.len());
        self.bytes.extend([0; 4]);
    }

    /// lea r8, [rip + function]
    fn choose(&mut self, function: FuncId) {
        self.bytes.extend([0x4c, 0x8d, 0x05]);
        self.relocs.push(ModuleReloc {
            kind: Reloc::X86PCRel4,
            offset: narrow(self.bytes.len()),
            name: ModuleRelocTarget::user(0, function.as_u32()),
            addend: -4,
        });
        self.bytes.extend([0; 4]);
    }

    fn end(&mut self) {
        let end = self.bytes.len();
        for &at in &self.to_end {
            let distance: i32 = narrow(end - at - 4);
            self.bytes[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
    }
}

/// Defines what the loader calls: it gives the address of the last of `functions` whose processor this machine has. Those of `variants` have more features from
/// one to the next, and the first is taken for granted.
pub(super) fn define(
    module: &mut dyn Module,
    name: &str,
    variants: &[Variant],
    functions: &[FuncId],
) -> Result<(), CompileError> {
    let mut code = Code::default();
    // push rbx, which cpuid changes
    code.bytes.push(0x53);
    code.choose(functions[0]);
    let mut has_v3 = false;
    for (variant, &function) in variants.iter().zip(functions).skip(1) {
        if !has_v3 {
            code.feature(1, Register::Ecx, LEAF_1);
            code.state(STATE);
            code.feature(7, Register::Ebx, LEAF_7);
            code.feature(0x8000_0001, Register::Ecx, LEAF_EXTENDED);
            has_v3 = true;
        }
        if variant.cpu == Some(Cpu::V4) {
            code.state(STATE_WIDE);
            code.feature(7, Register::Ebx, LEAF_7_WIDE);
        }
        code.choose(function);
    }
    code.end();
    // pop rbx; mov rax, r8; ret
    code.bytes.extend([0x5b, 0x4c, 0x89, 0xc0, 0xc3]);
    let signature = module.declarations().get_function_decl(functions[0]);
    let signature = signature.signature.clone();
    let resolver = module.declare_function(name, Linkage::Export, &signature)?;
    module.define_function_bytes(resolver, 16, &code.bytes, &code.relocs)?;
    Ok(())
}

/// Says in the object that the function by this name gives the address of the one that is meant.
pub(super) fn mark(object: &mut Object<'_>, name: &str) {
    if let Some(symbol) = object.symbol_id(name.as_bytes()) {
        object.symbol_mut(symbol).flags = SymbolFlags::Elf {
            st_info: STB_GLOBAL << 4 | STT_GNU_IFUNC,
            st_other: STV_DEFAULT,
        };
    }
}
