//! Smaller programs that fail in the same way.

use super::check::{Check, Verdict, check};
use super::program::{Block, Id, Kind, Line, Op, Place, Program, Ty};

/// The smallest program found that fails this check, and what is wrong with it.
pub(crate) fn shrunk(program: &Program, failing: Check, message: String) -> (Program, String) {
    let mut best = (program.clone(), message);
    let mut attempts = 0;
    loop {
        let mut smaller = None;
        for change in changes(&best.0) {
            attempts += 1;
            if attempts > 4000 {
                return best;
            }
            if let Verdict::Failed(_, message) = check(&change, &[failing]) {
                smaller = Some((change, message));
                break;
            }
        }
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// Programs that are a little smaller: fewer results, lines that are constants or earlier values, no lines that nothing
/// uses.
fn changes(program: &Program) -> Vec<Program> {
    let mut out = Vec::new();
    let results = program.block.results.len();
    for kept in (0..results).filter(|_| results > 1) {
        let mut smaller = program.clone();
        smaller.block.results = vec![program.block.results[kept]];
        out.push(smaller);
    }
    let lines = count(&program.block);
    for line in (0..lines).rev() {
        let mut place = line;
        let mut smaller = program.clone();
        if remove(&mut smaller.block, &mut place) {
            out.push(smaller);
        }
    }
    for line in (0..lines).rev() {
        out.extend(merged(program, line));
        for with in [Place::Captured, Place::Temporary] {
            let mut place = line;
            let mut smaller = program.clone();
            if replace(&mut smaller.block, &mut place, with) {
                out.push(smaller);
            }
        }
    }
    out
}

fn count(block: &Block) -> usize {
    let mut count = 0;
    block.each_line(&mut |_| count += 1);
    count
}

/// Calls `f` with the block and the position there of a line, by its number in order of `each_line`.
fn with_line<T>(
    block: &mut Block,
    number: &mut usize,
    f: &mut impl FnMut(&mut Block, usize) -> T,
) -> Option<T> {
    for position in 0..block.lines.len() {
        if *number == 0 {
            return Some(f(block, position));
        }
        *number -= 1;
        if let Op::Staged(staged) = &mut block.lines[position].op {
            for inner in &mut staged.blocks {
                if let Some(found) = with_line(inner, number, f) {
                    return Some(found);
                }
            }
        }
    }
    None
}

/// Leaves a line out that nothing uses.
fn remove(block: &mut Block, number: &mut usize) -> bool {
    let removed = with_line(block, number, &mut |block, position| {
        block.lines.remove(position)
    });
    let Some(line) = removed else { return false };
    let mut used = false;
    block.each_use(&mut |id| used |= line.outs.iter().any(|(out, _)| out == id));
    !used
}

/// Constants in place of a line.
fn replace(block: &mut Block, number: &mut usize, place: Place) -> bool {
    let replaced = with_line(block, number, &mut |block, position| {
        if matches!(block.lines[position].op, Op::Constant(..)) {
            return false;
        }
        let outs = block.lines.remove(position).outs;
        for (offset, out) in outs.into_iter().enumerate() {
            let op = Op::Constant(ones(&out.1), place);
            let outs = vec![out];
            block.lines.insert(position + offset, Line { outs, op });
        }
        true
    });
    replaced == Some(true)
}

fn ones(ty: &Ty) -> Vec<f64> {
    let one = |at: usize| match ty.kind {
        Kind::F32 | Kind::F64 => 0.5 + at as f64 / 4.0,
        _ => 1.0,
    };
    (0..ty.size()).map(one).collect()
}

/// Operands of the same type in place of what a line makes.
fn merged(program: &Program, line: usize) -> Vec<Program> {
    let (mut place, mut whole) = (line, program.block.clone());
    let found = with_line(&mut whole, &mut place, &mut |block, position| {
        let line = &block.lines[position];
        (line.clone(), block.inputs.clone())
    });
    let Some((line, inputs)) = found else {
        return Vec::new();
    };
    let Some((out, ty)) = line.outs.first().filter(|_| line.outs.len() == 1) else {
        return Vec::new();
    };
    let mut operands: Vec<Id> = Vec::new();
    let mut op = line.op.clone();
    if let Op::Staged(staged) = &op {
        operands.extend(&staged.operands);
    } else {
        op.each_use(&mut |id| operands.push(*id));
    }
    operands.extend(inputs.iter().map(|(id, _)| *id));
    let same = operands
        .into_iter()
        .filter(|&id| type_of(program, id).as_ref() == Some(ty));
    same.filter_map(|id| {
        let mut smaller = program.clone();
        let mut changed = false;
        smaller.block.each_use(&mut |used| {
            if used == out {
                *used = id;
                changed = true;
            }
        });
        changed.then_some(smaller)
    })
    .collect()
}

fn type_of(program: &Program, id: Id) -> Option<Ty> {
    fn look(block: &Block, id: Id) -> Option<Ty> {
        let inputs = block.inputs.iter();
        let outs = block.lines.iter().flat_map(|line| &line.outs);
        let mut own = inputs.chain(outs);
        own.find(|(own, _)| *own == id)
            .map(|(_, ty)| ty.clone())
            .or_else(|| {
                block.lines.iter().find_map(|line| match &line.op {
                    Op::Staged(staged) => staged.blocks.iter().find_map(|block| look(block, id)),
                    _ => None,
                })
            })
    }
    look(&program.block, id)
}
