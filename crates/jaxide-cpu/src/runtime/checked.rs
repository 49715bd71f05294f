//! Steps of checked programs: before and after each, its operands are looked at.
//!
//! Generated code describes every operand by an [`Operand`], and calls [`run_check`] for every step. Accesses of nests are looked
//! at one by one, by guarded lane programs; calls of the runtime take whole arrays, so that arrays and the fences behind temporaries are
//! looked at around the call.

use super::launch::{copy, launch, launch_tiles};
use super::{Context, KernelCall, KernelError, call_kernel};
use crate::lanes::guard::{BOUNDS, OUTSIDE, Report, Site};

/// Bytes between temporaries of a checked program, and behind the last.
pub(crate) const FENCE: usize = 64;
/// What shadows hold of arrays that are not temporaries, once a byte is written.
pub(crate) const WRITTEN: u8 = 0xff;
/// What fences hold while somebody could write over them.
const POST: u8 = 0xfd;
/// Words of an [`Operand`].
pub(crate) const WORDS: usize = 5;

/// An operand of a step, as generated code describes it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Operand {
    address: *mut u8,
    /// The first byte of its array.
    start: *mut u8,
    /// Bytes of the array.
    length: usize,
    /// The first byte of the array's shadow.
    shadow: *mut u8,
    /// What the shadow holds where this array was written, in each byte.
    tag: u64,
}

const _: () = assert!(size_of::<Operand>() == 8 * WORDS);

/// A step as generated code refers to it.
pub(crate) struct Check {
    step: Step,
    /// Its operands as the loop IR names them.
    operands: Vec<String>,
}

/// What a step does. What it runs is an argument of [`run_check`].
pub(crate) enum Step {
    Nest(Guarded),
    Tiles(Vec<Guarded>),
    Call(String),
    Copy(usize),
    /// Generated code reads so many bytes itself, for this purpose.
    Read(usize, &'static str),
}

/// A nest of a step, guarded.
#[derive(Clone)]
pub(crate) struct Guarded {
    /// `kernel k3: equation 2 (mul), equation 3 (reduce_sum)`.
    pub(crate) name: String,
    pub(crate) sites: Vec<Site>,
    pub(crate) operands: usize,
}

impl Check {
    /// A step with its operands as the loop IR names them.
    pub(crate) fn new(step: Step, operands: Vec<String>) -> Check {
        Check { step, operands }
    }

    fn name(&self, operand: usize) -> &str {
        self.operands.get(operand).map_or("?", String::as_str)
    }
}

impl Operand {
    /// Bytes of the array before the operand.
    fn before(&self) -> i64 {
        self.address.addr().wrapping_sub(self.start.addr()) as i64
    }

    /// The shadow of the operand's first byte.
    fn shadow(&self) -> *mut u8 {
        let before = self.address.addr().wrapping_sub(self.start.addr());
        self.shadow.wrapping_add(before)
    }

    fn holds(&self, bytes: usize) -> bool {
        let before = usize::try_from(self.before()).ok();
        let end = before.and_then(|before| before.checked_add(bytes));
        bytes == 0 || end.is_some_and(|end| end <= self.length)
    }

    /// The first of so many bytes that was not written.
    ///
    /// # Safety
    /// The operand describes an array that has them, and its shadow.
    unsafe fn unwritten(&self, bytes: usize) -> Option<usize> {
        // SAFETY: promised by the caller.
        let shadow = unsafe { slice(self.shadow(), bytes) };
        shadow.iter().position(|&byte| byte != self.byte())
    }

    /// Marks so many bytes as written.
    ///
    /// # Safety
    /// As for [`unwritten`](Self::unwritten).
    unsafe fn mark(&self, bytes: usize) {
        // SAFETY: promised by the caller; a write of no bytes may have any address.
        unsafe { self.shadow().write_bytes(self.byte(), bytes) };
    }

    /// The fence behind a temporary; nothing behind other arrays.
    fn fence(&self) -> Option<*mut u8> {
        (self.byte() != WRITTEN).then(|| self.start.wrapping_add(self.length))
    }

    fn byte(&self) -> u8 {
        self.tag.to_le_bytes()[0]
    }
}

/// # Safety
/// The bytes are there and nobody writes them.
unsafe fn slice<'a>(start: *const u8, bytes: usize) -> &'a [u8] {
    if bytes == 0 {
        return &[];
    }
    // SAFETY: promised by the caller.
    unsafe { std::slice::from_raw_parts(start, bytes) }
}

/// Runs a step; called by generated code. Gives 0, or 1 after putting an error into the context.
///
/// # Safety
/// All are live; `subject` is the launch of a nest, the launch of a group or the call of a kernel, for a step that has one; there is an
/// operand for each that the step has, and describes an array and a shadow that are valid.
pub(crate) unsafe extern "C" fn run_check(
    check: *const Check,
    subject: *const u8,
    operands: *const Operand,
    context: *const Context<'_>,
) -> u32 {
    // SAFETY: the caller promises live values.
    let (check, context) = unsafe { (&*check, &*context) };
    // SAFETY: the caller promises as many operands.
    let operands = unsafe { std::slice::from_raw_parts(operands, check.operands.len()) };
    // SAFETY: the caller's promises are those of `run`.
    match unsafe { check.run(subject, operands, context) } {
        Ok(status) => status,
        Err(why) => {
            context.fail(KernelError::new(why));
            1
        }
    }
}

impl Check {
    /// # Safety
    /// As for [`run_check`].
    unsafe fn run(
        &self,
        subject: *const u8,
        operands: &[Operand],
        context: &Context<'_>,
    ) -> Result<u32, String> {
        // SAFETY: the caller's promises; what is accessed is looked at before.
        unsafe {
            match &self.step {
                Step::Nest(guarded) => {
                    self.nests(std::slice::from_ref(guarded), operands, |table| {
                        launch(subject.cast(), table, context)
                    })?;
                    Ok(0)
                }
                Step::Tiles(nests) => {
                    self.nests(nests, operands, |table| {
                        launch_tiles(subject.cast(), table, context)
                    })?;
                    Ok(0)
                }
                Step::Call(name) => self.call(subject.cast(), name, operands, context),
                Step::Copy(bytes) => {
                    self.read(0, &operands[0], *bytes, "a copy")?;
                    self.write(1, &operands[1], *bytes, "a copy")?;
                    copy(operands[0].address, operands[1].address, *bytes, context);
                    operands[1].mark(*bytes);
                    Ok(0)
                }
                Step::Read(bytes, what) => {
                    self.read(0, &operands[0], *bytes, what)?;
                    Ok(0)
                }
            }
        }
    }

    /// Runs guarded lane programs with what they look at.
    ///
    /// # Safety
    /// As for [`run_check`].
    unsafe fn nests(
        &self,
        nests: &[Guarded],
        operands: &[Operand],
        run: impl FnOnce(*const *mut u8),
    ) -> Result<(), String> {
        let mut bounds: Vec<[i64; BOUNDS / 8]> = Vec::with_capacity(operands.len());
        for operand in operands {
            let length = operand.length as i64;
            bounds.push([operand.before(), length, operand.tag as i64]);
        }
        let mut reports = vec![Report::default(); nests.len()];
        let reported = reports.as_mut_ptr();
        let (mut table, mut first) = (Vec::new(), 0);
        for (k, nest) in nests.iter().enumerate() {
            let own = &operands[first..first + nest.operands];
            table.extend(own.iter().map(|operand| operand.address));
            table.extend(own.iter().map(Operand::shadow));
            table.push(bounds[first..].as_ptr().cast_mut().cast());
            table.push(reported.wrapping_add(k).cast());
            first += nest.operands;
        }
        run(table.as_ptr());
        // SAFETY: lane programs wrote into these elements through the pointers of the table.
        let reports = unsafe { std::slice::from_raw_parts(reported, nests.len()) };
        let mut first = 0;
        for (nest, report) in nests.iter().zip(reports) {
            if report.code != 0 {
                return Err(self.wrong(nest, *report, first, operands));
            }
            first += nest.operands;
        }
        Ok(())
    }

    fn wrong(&self, nest: &Guarded, report: Report, first: usize, operands: &[Operand]) -> String {
        let number = (report.code - 1) / 2;
        let site = nest.sites[number as usize];
        let operand = first + site.pointer.index();
        let (verb, ty, place) = (
            if site.store { "stores" } else { "loads" },
            site.ty,
            self.name(operand),
        );
        let at = format!("{} {verb} {ty} at {place}{:+}", nest.name, report.offset);
        let Operand { length, .. } = operands[operand];
        let position = operands[operand].before().wrapping_add(report.offset);
        if (report.code - 1) % 2 + 1 == OUTSIDE {
            format!("{at}, byte {position} of an array of {length} bytes")
        } else {
            format!("{at}, where nothing was written")
        }
    }

    /// # Safety
    /// As for [`run_check`].
    unsafe fn call(
        &self,
        call: *const KernelCall,
        name: &str,
        operands: &[Operand],
        context: &Context<'_>,
    ) -> Result<u32, String> {
        // SAFETY: the caller promises live values, and arrays of the sizes that operands state; those that the call reads and
        // writes are compared with them first.
        unsafe {
            let signature = (*call).signature();
            let (inputs, outputs) = operands.split_at(signature.inputs.len());
            for (k, (operand, &bytes)) in inputs.iter().zip(&signature.inputs).enumerate() {
                self.read(k, operand, bytes, name)?;
            }
            for (k, (operand, &bytes)) in outputs.iter().zip(&signature.outputs).enumerate() {
                self.write(inputs.len() + k, operand, bytes, name)?;
            }
            let fences = outputs.iter().filter_map(Operand::fence);
            fences.for_each(|fence| fence.write_bytes(POST, FENCE));
            let addresses: Vec<*mut u8> = operands.iter().map(|operand| operand.address).collect();
            let status = call_kernel(call, addresses.as_ptr(), context);
            for (k, (operand, &bytes)) in outputs.iter().zip(&signature.outputs).enumerate() {
                operand.mark(bytes);
                let Some(fence) = operand.fence() else {
                    continue;
                };
                if let Some(at) = slice(fence, FENCE).iter().position(|&byte| byte != POST) {
                    let place = self.name(inputs.len() + k);
                    return Err(format!("{name} writes {at} bytes behind {place}"));
                }
            }
            Ok(status)
        }
    }

    /// # Safety
    /// As for [`run_check`].
    unsafe fn read(
        &self,
        k: usize,
        operand: &Operand,
        bytes: usize,
        what: &str,
    ) -> Result<(), String> {
        if !operand.holds(bytes) {
            return Err(self.outside(k, operand, bytes, what, "reads"));
        }
        // SAFETY: the operand has the bytes; the rest is the caller's promise.
        match unsafe { operand.unwritten(bytes) } {
            None => Ok(()),
            Some(at) => Err(format!(
                "{what} reads {bytes} bytes at {}, and nothing was written at {at} of them",
                self.name(k)
            )),
        }
    }

    fn write(&self, k: usize, operand: &Operand, bytes: usize, what: &str) -> Result<(), String> {
        if operand.holds(bytes) {
            return Ok(());
        }
        Err(self.outside(k, operand, bytes, what, "writes"))
    }

    fn outside(&self, k: usize, operand: &Operand, bytes: usize, what: &str, verb: &str) -> String {
        format!(
            "{what} {verb} {bytes} bytes at {}, from byte {} of an array of {}",
            self.name(k),
            operand.before(),
            operand.length
        )
    }
}
