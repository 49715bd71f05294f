//! What the builder rewrites: by its results, that every bit stays, and by its text, that nothing is forgotten.
//!
//! The oracle knows no rewriting: an operation whose operands are all inputs of the body, a different one each, has
//! nothing to fold. A program is right if it gives what its operations give when each is a body of its own.

use super::machine::{Rng, same};
use super::ops::{BINARY, TYPES, UNARY, memory_type};
use jaxide_cpu::lanes::{
    Access, Addr, BinOp, BlockId, Body, Builder, Index, Inst, Memory, Stmt, TerOp, Ty, UnOp, Value,
};
use std::fmt::Write;
use std::path::Path;

/// An operation and the types of its operands.
#[derive(Clone, Debug)]
enum Op {
    Un(UnOp, Ty, Ty),
    Bin(BinOp, Ty),
    Ter(TerOp, Ty),
}

impl Op {
    fn operands(&self) -> Vec<Ty> {
        match *self {
            Op::Un(_, from, _) => vec![from],
            Op::Bin(_, ty) => vec![ty, ty],
            Op::Ter(TerOp::Fma, ty) => vec![ty, ty, ty],
            Op::Ter(TerOp::Select, ty) => vec![Ty::Mask, ty, ty],
        }
    }

    fn result(&self) -> Ty {
        match *self {
            Op::Un(_, _, to) => to,
            Op::Bin(op, ty) => op.result(ty),
            Op::Ter(_, ty) => ty,
        }
    }

    fn build(&self, b: &mut Builder, a: &[Value]) -> Value {
        match *self {
            Op::Un(op, _, to) => b.un(op, to, a[0]),
            Op::Bin(op, _) => b.bin(op, a[0], a[1]),
            Op::Ter(op, _) => b.ter(op, a[0], a[1], a[2]),
        }
    }

    fn name(&self) -> String {
        match *self {
            Op::Un(op, from, to) => un_name(op, from, to),
            Op::Bin(op, _) => op.name().to_owned(),
            Op::Ter(op, _) => op.name().to_owned(),
        }
    }

    /// The body that does this and nothing else.
    fn alone(&self) -> Body {
        body(|b| {
            let params: Vec<Value> = self.operands().iter().map(|&ty| input(b, ty)).collect();
            self.build(b, &params)
        })
    }
}

fn unary() -> impl Iterator<Item = Op> {
    let types = |op: UnOp| {
        let pairs = TYPES
            .into_iter()
            .flat_map(|from| TYPES.map(|to| (from, to)));
        pairs.filter(move |&(from, to)| op.accepts(from, to))
    };
    UNARY
        .into_iter()
        .flat_map(move |op| types(op).map(move |(from, to)| Op::Un(op, from, to)))
}

fn binary() -> impl Iterator<Item = Op> {
    BINARY.into_iter().flat_map(|op| {
        let types = TYPES.into_iter().filter(move |&ty| op.accepts(ty));
        types.map(move |ty| Op::Bin(op, ty))
    })
}

fn ternary() -> impl Iterator<Item = Op> {
    let fma = [Ty::F32, Ty::F64].map(|ty| Op::Ter(TerOp::Fma, ty));
    fma.into_iter()
        .chain(TYPES.map(|ty| Op::Ter(TerOp::Select, ty)))
}

/// A body that stores one element for each lane.
fn body(f: impl FnOnce(&mut Builder) -> Value) -> Body {
    let mut b = Builder::new("folding");
    let value = f(&mut b);
    let (to, ty) = (b.pointer(Access::ReadWrite), memory_type(b.ty(value)));
    b.store(ty, Addr::contiguous(to, ty), value);
    b.finish().unwrap()
}

/// One more input: the elements of an array of its own.
fn input(b: &mut Builder, ty: Ty) -> Value {
    let (from, ty) = (b.pointer(Access::ReadOnly), memory_type(ty));
    b.load(ty, Addr::contiguous(from, ty))
}

/// What a body stores.
fn stored(body: &Body) -> Value {
    let lanes = &body.blocks()[BlockId::LANES.index()].stmts;
    match lanes.last() {
        Some(Stmt::Store { value, .. }) => *value,
        other => panic!("no store: {other:?}\n{body}"),
    }
}

fn run(body: &Body, args: &[u64]) -> u64 {
    let mut regions: Vec<[u8; 8]> = args.iter().map(|arg| arg.to_le_bytes()).collect();
    regions.push([0; 8]);
    let mut slices: Vec<&mut [u8]> = regions.iter_mut().map(|bytes| &mut bytes[..]).collect();
    body.eval(&mut Memory::new(&mut slices), &[], 0, 1)
        .unwrap_or_else(|e| panic!("{e}\n{body}"));
    u64::from_le_bytes(regions[args.len()])
}

/// A float constant in `ty`.
fn float(ty: Ty, x: f64) -> u64 {
    match ty {
        Ty::F32 => u64::from((x as f32).to_bits()),
        _ => x.to_bits(),
    }
}

/// The bits of 2ⁿ, which may be subnormal.
fn power(ty: Ty, n: i32) -> u64 {
    match ty {
        Ty::F32 => u64::from((2f64.powi(n) as f32).to_bits()),
        _ => (2f64.powi(n / 2) * 2f64.powi(n - n / 2)).to_bits(),
    }
}

/// Constants that a law may be about, and their neighbours.
fn constants(ty: Ty) -> Vec<u64> {
    let (least, most) = match ty {
        Ty::F32 => (-126, 127),
        _ => (-1022, 1023),
    };
    let sign = 1 << (ty.bits() - 1);
    match ty {
        Ty::F32 | Ty::F64 => {
            let plain = [0.0, 1.0, 2.0, 0.5, 3.0, 0.1, f64::INFINITY, f64::NAN];
            let mut all: Vec<u64> = plain.iter().map(|&x| float(ty, x)).collect();
            all.extend([most, most - 1, least, least + 1, least - 1].map(|n| power(ty, n)));
            // The least number; the one after the least normal number; the greatest finite one.
            all.extend([1, power(ty, least) + 1, float(ty, f64::INFINITY) - 1]);
            all.iter().flat_map(|&x| [x, x ^ sign]).collect()
        }
        Ty::I32 | Ty::I64 => {
            let mut all: Vec<u64> = (0..13).collect();
            all.extend([
                25,
                31,
                32,
                33,
                63,
                64,
                65,
                100,
                127,
                128,
                641,
                1 << 20,
                99999,
            ]);
            let top = [sign, sign >> 1, sign >> 2];
            all.extend(top.iter().flat_map(|&x| [x - 1, x, x + 1]));
            let negative: Vec<u64> = all.iter().map(|x| x.wrapping_neg()).collect();
            all.extend(negative);
            all.iter_mut().for_each(|x| *x &= ty.bit_mask());
            all.sort_unstable();
            all.dedup();
            all
        }
        Ty::Mask => vec![0, 1],
    }
}

/// The constants of the table of laws.
fn telling(ty: Ty) -> Vec<u64> {
    let sign = 1 << (ty.bits() - 1);
    match ty {
        Ty::F32 | Ty::F64 => {
            let (least, most) = if ty == Ty::F32 {
                (-126, 127)
            } else {
                (-1022, 1023)
            };
            let plain = [0.0, -0.0, 1.0, -1.0, 2.0, 3.0, f64::INFINITY, f64::NAN];
            let mut all: Vec<u64> = plain.iter().map(|&x| float(ty, x)).collect();
            all.extend([most, most - 1, least, least + 1, least - 1].map(|n| power(ty, n)));
            all
        }
        Ty::I32 | Ty::I64 => {
            let width = i64::from(ty.bits());
            let small = [
                0,
                1,
                2,
                3,
                8,
                10,
                -1,
                -2,
                -3,
                -8,
                width - 1,
                width,
                width + 1,
            ];
            let mut all: Vec<u64> = small.iter().map(|&x| x as u64 & ty.bit_mask()).collect();
            all.push(sign);
            all
        }
        Ty::Mask => vec![0, 1],
    }
}

/// Values for inputs: the constants, and others.
fn inputs(ty: Ty, rng: &mut Rng) -> Vec<u64> {
    let mut all = constants(ty);
    if ty != Ty::Mask {
        all.extend((0..12).map(|_| rng.next() & ty.bit_mask()));
        // Small integers; as floats, these are subnormal.
        all.extend((0..4).map(|_| rng.next() % 64));
    }
    all
}

/// Checks one operation whose operands are constants where `given` has them, on many values of the others.
fn check_given(op: &Op, alone: &Body, given: &[Option<u64>], rng: &mut Rng) {
    let types = op.operands();
    let folded = body(|b| {
        let mut operands = Vec::new();
        for (&ty, given) in types.iter().zip(given) {
            operands.push(match given {
                Some(bits) => b.constant(ty, *bits),
                None => input(b, ty),
            });
        }
        op.build(b, &operands)
    });
    let result = stored(&folded);
    assert_eq!(folded.ty(result), op.result(), "{op:?} of {given:x?}");
    if given.iter().all(Option::is_some) {
        let inst = folded.inst(result);
        assert!(matches!(inst, Inst::Const(_)), "{op:?} of {given:x?}");
    }
    let free: Vec<usize> = (0..given.len()).filter(|&i| given[i].is_none()).collect();
    // All values of one free operand; of more, so many that each meets many.
    let values: Vec<Vec<u64>> = free.iter().map(|&i| inputs(types[i], rng)).collect();
    let runs = match free.len() {
        0 => 1,
        1 => values[0].len(),
        _ => 4 * values[0].len(),
    };
    for turn in 0..runs {
        let args: Vec<u64> = match values.as_slice() {
            [only] => vec![only[turn]],
            all => all.iter().map(|v| v[rng.below(v.len())]).collect(),
        };
        let mut every: Vec<u64> = given.iter().map(|g| g.unwrap_or(0)).collect();
        free.iter().zip(&args).for_each(|(&i, &a)| every[i] = a);
        let (expected, actual) = (run(alone, &every), run(&folded, &args));
        assert!(
            same(memory_type(op.result()), expected, actual),
            "{op:?} of {every:x?}: {expected:#x} expected, got {actual:#x} from\n{folded}"
        );
    }
}

/// Every choice of operands that are constants, with every constant.
fn check_constants(op: &Op, rng: &mut Rng) {
    let (alone, types) = (op.alone(), op.operands());
    for chosen in 1u32..1 << types.len() {
        let mut choices: Vec<Vec<Option<u64>>> = vec![Vec::new()];
        for (i, &ty) in types.iter().enumerate() {
            let options: Vec<Option<u64>> = if chosen >> i & 1 == 1 {
                constants(ty).into_iter().map(Some).collect()
            } else {
                vec![None]
            };
            choices = choices
                .iter()
                .flat_map(|c| options.iter().map(|&o| [c.as_slice(), &[o]].concat()))
                .collect();
        }
        // Of the thousands of triples, some.
        let wanted = |rng: &mut Rng| choices.len() < 1500 || rng.below(choices.len()) < 1500;
        for given in &choices {
            if wanted(rng) {
                check_given(op, &alone, given, rng);
            }
        }
    }
}

#[test]
fn constants_change_no_bit_of_unary_and_binary_operations() {
    let mut rng = Rng(11);
    for op in unary().chain(binary()) {
        check_constants(&op, &mut rng);
    }
}

#[test]
fn constants_change_no_bit_of_ternary_operations() {
    let mut rng = Rng(12);
    for op in ternary() {
        check_constants(&op, &mut rng);
    }
}

#[test]
fn division_by_any_constant_is_exact() {
    use BinOp::*;
    let mut rng = Rng(13);
    for ty in [Ty::I32, Ty::I64] {
        let alone = [DivU, DivS, RemU, RemS].map(|op| (Op::Bin(op, ty), Op::Bin(op, ty).alone()));
        for _ in 0..300 {
            // As many divisors of each length.
            let divisor = rng.next() & ty.bit_mask();
            let divisor = divisor >> rng.below(ty.bits() as usize);
            for (op, alone) in &alone {
                check_given(op, alone, &[None, Some(divisor)], &mut rng);
            }
        }
    }
}

#[test]
fn an_operand_twice_changes_no_bit() {
    let mut rng = Rng(14);
    for op in binary() {
        let ty = op.operands()[0];
        let folded = body(|b| {
            let x = input(b, ty);
            op.build(b, &[x, x])
        });
        let alone = op.alone();
        for x in inputs(ty, &mut rng) {
            let (expected, actual) = (run(&alone, &[x, x]), run(&folded, &[x]));
            assert!(
                same(memory_type(op.result()), expected, actual),
                "{op:?} of {x:#x} twice: {expected:#x} expected, got {actual:#x} from\n{folded}"
            );
        }
    }
    for ty in TYPES {
        let folded = body(|b| {
            let (m, x) = (input(b, Ty::Mask), input(b, ty));
            b.select(m, x, x)
        });
        for x in inputs(ty, &mut rng) {
            assert_eq!(run(&folded, &[0, x]), x, "select of {x:#x} twice\n{folded}");
            assert_eq!(run(&folded, &[1, x]), x, "select of {x:#x} twice\n{folded}");
        }
    }
}

#[test]
fn an_operation_on_an_operation_changes_no_bit() {
    let mut rng = Rng(15);
    let all = || unary().chain(binary()).chain(ternary());
    for outer in all() {
        let types = outer.operands();
        let alone = outer.alone();
        for (place, &ty) in types.iter().enumerate() {
            for inner in unary().filter(|inner| inner.result() == ty) {
                let inner_alone = inner.alone();
                let folded = body(|b| {
                    let mut operands: Vec<Value> = Vec::new();
                    for (i, &ty) in types.iter().enumerate() {
                        let param = input(b, if i == place { inner.operands()[0] } else { ty });
                        operands.push(if i == place {
                            inner.build(b, &[param])
                        } else {
                            param
                        });
                    }
                    outer.build(b, &operands)
                });
                for x in inputs(inner.operands()[0], &mut rng) {
                    let mut args: Vec<u64> = Vec::new();
                    for (i, &ty) in types.iter().enumerate() {
                        let values = inputs(ty, &mut rng);
                        args.push(if i == place {
                            x
                        } else {
                            values[rng.below(values.len())]
                        });
                    }
                    let actual = run(&folded, &args);
                    args[place] = run(&inner_alone, &[x]);
                    let expected = run(&alone, &args);
                    assert!(
                        same(memory_type(outer.result()), expected, actual),
                        "{outer:?} of {inner:?} of {x:#x}: {expected:#x} expected, got {actual:#x} from\n{folded}"
                    );
                }
            }
        }
    }
}

/// The value as an expression of the inputs, which are called x, y and z.
fn expression(body: &Body, v: Value) -> String {
    let call = |name: &str, operands: &[Value]| {
        let operands: Vec<String> = operands.iter().map(|&v| expression(body, v)).collect();
        format!("{name}({})", operands.join(", "))
    };
    match body.inst(v) {
        Inst::Load(_, addr) => ["x", "y", "z"][addr.pointer.index()].to_owned(),
        Inst::Const(bits) => constant(body.ty(v), *bits),
        Inst::Index(i) => format!("index_{}({i})", body.ty(v)),
        Inst::Un(op, a) => call(&un_name(*op, body.ty(*a), body.ty(v)), &[*a]),
        Inst::Bin(op, a, b) => call(op.name(), &[*a, *b]),
        Inst::Ter(op, a, b, c) => call(op.name(), &[*a, *b, *c]),
        inst => panic!("no operation: {inst:?}"),
    }
}

fn un_name(op: UnOp, from: Ty, to: Ty) -> String {
    if from == to {
        op.name().to_owned()
    } else {
        format!("{}_{to}", op.name())
    }
}

fn constant(ty: Ty, bits: u64) -> String {
    match ty {
        Ty::F32 => format!("{:e}", f32::from_bits(bits as u32)),
        Ty::F64 => format!("{:e}", f64::from_bits(bits)),
        Ty::I32 => (bits as u32 as i32).to_string(),
        Ty::I64 => (bits as i64).to_string(),
        Ty::Mask => (bits != 0).to_string(),
    }
}

/// One operand of an operation as written.
#[derive(Clone, Copy)]
enum Operand {
    /// An input: 0 for x.
    Input(usize),
    Constant(u64),
}

/// What is written and what it becomes, if that is something else.
fn law(out: &mut String, op: &Op, operands: &[Operand]) {
    let types = op.operands();
    let inputs = ["x", "y", "z"];
    let written: Vec<String> = (operands.iter().zip(&types))
        .map(|(operand, &ty)| match *operand {
            Operand::Input(i) => inputs[i].to_owned(),
            Operand::Constant(bits) => constant(ty, bits),
        })
        .collect();
    let became = body(|b| {
        let mut params: Vec<Value> = Vec::new();
        let mut values = Vec::new();
        for (operand, &ty) in operands.iter().zip(&types) {
            values.push(match *operand {
                Operand::Constant(bits) => b.constant(ty, bits),
                Operand::Input(i) if i < params.len() => params[i],
                Operand::Input(_) => {
                    params.push(input(b, ty));
                    params[params.len() - 1]
                }
            });
        }
        op.build(b, &values)
    });
    line(
        out,
        &format!("{}({})", op.name(), written.join(", ")),
        &expression(&became, stored(&became)),
        types[types.len() - 1],
    );
}

fn line(out: &mut String, written: &str, became: &str, ty: Ty) {
    if written != became {
        writeln!(out, "{ty:<4} {written} = {became}").unwrap();
    }
}

/// The laws, one a line: all operations with the constants that some law is about.
#[test]
fn the_laws() {
    use Operand::{Constant, Input};
    let (x, y) = (Input(0), Input(1));
    let mut out = String::new();
    for op in binary() {
        let ty = op.operands()[0];
        law(&mut out, &op, &[x, x]);
        for c in telling(ty) {
            law(&mut out, &op, &[x, Constant(c)]);
            if !matches!(op, Op::Bin(op, _) if op.commutes()) {
                law(&mut out, &op, &[Constant(c), x]);
            }
        }
    }
    for op in ternary() {
        let types = op.operands();
        if let Op::Ter(TerOp::Select, _) = op {
            law(&mut out, &op, &[x, y, y]);
        }
        let constant = |i: usize| telling(types[i]).into_iter().map(Constant);
        for c in constant(0) {
            law(&mut out, &op, &[c, x, y]);
        }
        for c in constant(1) {
            law(&mut out, &op, &[x, c, y]);
        }
        for c in constant(2) {
            law(&mut out, &op, &[x, y, c]);
        }
        for a in constant(0) {
            for b in constant(1) {
                law(&mut out, &op, &[a, b, x]);
            }
        }
        if op.result() == Ty::Mask {
            for b in constant(1) {
                for c in constant(2) {
                    law(&mut out, &op, &[x, b, c]);
                }
            }
        }
    }
    for outer in unary() {
        for inner in unary().filter(|inner| inner.result() == outer.operands()[0]) {
            let became = body(|b| {
                let x = input(b, inner.operands()[0]);
                let value = inner.build(b, &[x]);
                outer.build(b, &[value])
            });
            let written = format!("{}({}(x))", outer.name(), inner.name());
            let became = expression(&became, stored(&became));
            line(&mut out, &written, &became, inner.operands()[0]);
        }
    }
    for ty in TYPES {
        let became = body(|b| {
            let (m, x, y) = (input(b, Ty::Mask), input(b, ty), input(b, ty));
            let not = b.not(m);
            b.select(not, x, y)
        });
        line(
            &mut out,
            "select(not(x), y, z)",
            &expression(&became, stored(&became)),
            ty,
        );
    }
    let became = body(|b| {
        let lane = b.index(Ty::I64, Index::Lane);
        b.un(UnOp::Low, Ty::I32, lane)
    });
    line(
        &mut out,
        "low_i32(index_i64(lane))",
        &expression(&became, stored(&became)),
        Ty::I64,
    );
    let mut settings = insta::Settings::clone_current();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    settings.set_snapshot_path(here.join("../../snapshots/lanes"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("laws_of_folding", out));
}

/// Where sums of products are contracted, a law that leaves a sum keeps it from the product that it adds: that was rounded.
#[test]
fn a_rounded_product_stays_rounded() {
    for ty in [Ty::F32, Ty::F64] {
        let became = body(|b| {
            b.contract_fma(true);
            let (x, y, z) = (input(b, ty), input(b, ty), input(b, ty));
            let one = b.float(ty, 1.0);
            let product = b.mul(x, y);
            b.ter(TerOp::Fma, product, one, z)
        });
        let shown = expression(&became, stored(&became));
        assert_eq!(shown, "add(z, mul(x, y))");
        let became = body(|b| {
            b.contract_fma(true);
            let (x, y) = (input(b, ty), input(b, ty));
            let (four, half) = (b.float(ty, 4.0), b.float(ty, 0.5));
            let product = b.mul(x, y);
            b.ter(TerOp::Fma, four, half, product)
        });
        let shown = expression(&became, stored(&became));
        assert_eq!(
            shown,
            format!("add(mul(x, y), {})", constant(ty, float(ty, 2.0)))
        );
        let became = body(|b| {
            b.contract_fma(true);
            let (x, y) = (input(b, ty), input(b, ty));
            let zero = b.float(ty, 0.0);
            let product = b.mul(x, y);
            b.max(product, zero)
        });
        let zero = constant(ty, 0);
        let shown = expression(&became, stored(&became));
        assert_eq!(shown, format!("add(pick_gt({zero}, mul(x, y)), {zero})"));
    }
}
