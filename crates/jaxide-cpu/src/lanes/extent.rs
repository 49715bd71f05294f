//! Which memory a lane program may touch, as far as indices tell.
//!
//! Integers are linear forms of indices and of values about which only an interval is known. What conditions around an
//! access say holds forms in intervals too; a form is bounded by those that it contains a multiple of, and by the ranges of
//! what is left.

use super::body::*;
use super::op::{BinOp, TerOp, UnOp};
use super::types::{MemTy, Ty};
use rustc_hash::FxHashMap as HashMap;

/// How far the indices of the calls of a lane program go.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    /// Lanes are below this.
    pub(crate) lanes: usize,
    /// Each outer index is below this.
    pub(crate) outer: Vec<usize>,
    /// The outer indices that are the first of some rows and their number, and how many rows there are.
    pub(crate) rows: Option<(u32, u32, usize)>,
}

/// The bytes behind a pointer that an access touches at most: from the first to behind the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) pointer: Pointer,
    pub(crate) first: i128,
    pub(crate) end: i128,
    pub(crate) store: bool,
}

/// All accesses of a body on a domain.
pub(crate) fn extents(body: &Body, domain: &Domain) -> Vec<Extent> {
    let (mut arms, mut carries) = (HashMap::default(), Vec::new());
    let mut trips = vec![None; body.loops as usize];
    for stmt in body.blocks.iter().flat_map(|block| &block.stmts) {
        match stmt {
            Stmt::If(i) => arms.extend(i.arms.iter().map(|arm| (arm.result, (i.cond, *arm)))),
            Stmt::For(f) => {
                trips[f.id.index()] = Some(f.trip);
                carries.extend(f.carries.iter().filter(|c| body.ty(c.param).is_int()));
            }
            Stmt::Let(_) | Stmt::Store { .. } | Stmt::While(_) => {}
        }
    }
    let mut walk = Walk {
        body,
        domain,
        arms,
        carries: (carries.iter())
            .flat_map(|&&carry| [(carry.param, carry), (carry.result, carry)])
            .collect(),
        trips,
        shifted: HashMap::default(),
        unsure: Vec::new(),
        known: Vec::new(),
        extents: Vec::new(),
        same: same_values(body),
        plain: Vec::new(),
        depth: 0,
        conditions: 0,
        memos: vec![Memo::default()],
    };
    walk.plain_ranges();
    walk.rows();
    walk.quotients();
    walk.memos = vec![Memo::default()];
    walk.block(BlockId::PROLOGUE);
    walk.block(BlockId::LANES);
    for reduction in &body.reductions {
        for accumulator in &reduction.accumulators {
            walk.access(accumulator.ty, &accumulator.dest, true);
        }
        walk.block(reduction.combine);
    }
    walk.extents
}

/// Smallest and largest value.
type Range = (i128, i128);

/// Farther than any integer of a program.
const FAR: i128 = 1 << 100;

/// What a form adds multiples of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Atom {
    Index(Index),
    Value(Value),
}

/// `sum of atom * factor + constant`, ordered by atom, factors not 0.
#[derive(Clone, Debug, Default, PartialEq)]
struct Form {
    terms: Vec<(Atom, i128)>,
    constant: i128,
}

impl Form {
    fn constant(constant: i128) -> Form {
        Form {
            terms: Vec::new(),
            constant,
        }
    }

    fn atom(atom: Atom) -> Form {
        Form {
            terms: vec![(atom, 1)],
            constant: 0,
        }
    }

    fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// `self + other * factor`.
    fn plus(mut self, other: &Form, factor: i128) -> Form {
        for &(atom, own) in &other.terms {
            match self.terms.binary_search_by_key(&atom, |term| term.0) {
                Ok(at) => self.terms[at].1 += own * factor,
                Err(at) => self.terms.insert(at, (atom, own * factor)),
            }
        }
        self.terms.retain(|term| term.1 != 0);
        self.constant += other.constant * factor;
        self
    }
}

/// A form without constant that lies in an interval.
struct Known {
    terms: Vec<(Atom, i128)>,
    range: Range,
}

impl Known {
    /// Conditions that contradict each other: nothing happens here.
    const NOTHING: Known = Known {
        terms: Vec::new(),
        range: (1, 0),
    };
}

struct Walk<'a> {
    body: &'a Body,
    domain: &'a Domain,
    /// What the results of branches are.
    arms: HashMap<Value, (Value, Arm)>,
    /// Integers that loops carry, by what they are in a turn, and after the last.
    carries: HashMap<Value, Carry>,
    trips: Vec<Option<Trip>>,
    /// Logical shifts to the right, by operand and count.
    shifted: HashMap<(Value, i128), Value>,
    /// Quotients, with dividend and divisor, of what may be negative where no condition says otherwise.
    unsure: Vec<(Value, Value, i128)>,
    /// What the conditions around say.
    known: Vec<Known>,
    extents: Vec<Extent>,
    /// The first value that is computed in the same way.
    same: Vec<Value>,
    /// Ranges of values whatever the conditions, by the ranges of their operands.
    plain: Vec<Range>,
    /// How many values are being followed into each other.
    depth: usize,
    /// How many conditions of values inside each other are looked at.
    conditions: usize,
    /// What was found out where as much is known as now, and where less was.
    memos: Vec<Memo>,
}

/// What was found out of values.
#[derive(Default)]
struct Memo {
    forms: HashMap<Value, Form>,
    ranges: HashMap<Value, Range>,
}

/// So many known forms are used after each other.
const MOST_STEPS: usize = 3;

/// So many of the known forms are tried on another.
const MOST_USES: usize = 8;

/// So many values are followed into each other.
const DEEPEST: usize = 60;

/// So often what loops carry is followed, before nothing is said of it.
const MOST_ROUNDS: usize = 4;

/// So many conditions around each other are taken into account: with each, all that hangs on it is followed anew.
const MOST_CONDITIONS: usize = 6;

impl Walk<'_> {
    /// The first row of a call and the number of one in it are below the number of rows together.
    fn rows(&mut self) {
        let Some((first, count, rows)) = self.domain.rows else {
            return;
        };
        for (k, trip) in self.trips.iter().enumerate() {
            if *trip == Some(Trip::Outer(count)) {
                let first = Atom::Index(Index::Outer(first));
                let turn = Atom::Index(Index::Loop(LoopId(crate::narrow(k))));
                self.known.push(Known {
                    terms: vec![(first, 1), (turn, 1)],
                    range: (0, rows as i128 - 1),
                });
            }
        }
    }

    /// A number that is not negative is its quotient times the divisor and a remainder below that.
    fn quotients(&mut self) {
        let addressed = self.addressed();
        for (k, &addressed) in addressed.iter().enumerate() {
            let value = Value::from_index(k);
            let Some((x, divisor)) = self.quotient(value) else {
                continue;
            };
            if self.same[k] != value {
                continue;
            }
            let x = self.same[x.index()];
            if let Inst::Bin(BinOp::ShrU, _, _) = self.body.inst(value) {
                self.shifted.insert((x, divisor), value);
            }
            if !self.relate(value, x, divisor) && addressed {
                self.unsure.push((value, x, divisor));
            }
        }
    }

    /// The values that addresses are computed from.
    fn addressed(&self) -> Vec<bool> {
        let body = self.body;
        let mut behind = Vec::new();
        for stmt in body.blocks.iter().flat_map(|block| &block.stmts) {
            if let Stmt::Store { addr, .. } = stmt {
                addr.operands(|index| behind.push(index));
            }
        }
        for value in &body.values {
            if let Inst::Load(_, addr) = &value.inst {
                addr.operands(|index| behind.push(index));
            }
        }
        let mut addressed = vec![false; body.values.len()];
        while let Some(value) = behind.pop() {
            let value = self.same[value.index()];
            if std::mem::replace(&mut addressed[value.index()], true) {
                continue;
            }
            body.inst(value).operands(|operand| behind.push(operand));
            if let Some((_, arm)) = self.arms.get(&value) {
                behind.extend([arm.then, arm.otherwise]);
            }
        }
        addressed
    }

    /// Notes what a quotient says of its dividend, if that is not negative here.
    fn relate(&mut self, quotient: Value, x: Value, divisor: i128) -> bool {
        let form = self.form(x);
        if self.range(&form).0 < 0 {
            return false;
        }
        let rest = form.plus(&Form::atom(Atom::Value(quotient)), -divisor);
        self.known.push(Known {
            range: (-rest.constant, divisor - 1 - rest.constant),
            terms: rest.terms,
        });
        true
    }

    /// The dividend and the divisor, a constant, of an unsigned quotient, also where it is a shift or a product.
    fn quotient(&self, value: Value) -> Option<(Value, i128)> {
        let body = self.body;
        let constant = |value: Value| match *body.inst(value) {
            Inst::Const(bits) => Some(u128::from(bits & body.ty(value).bit_mask())),
            _ => None,
        };
        match *body.inst(value) {
            Inst::Bin(BinOp::DivU, x, by) => {
                let by = constant(by).filter(|&by| by > 0)?;
                Some((x, i128::try_from(by).ok()?))
            }
            Inst::Bin(BinOp::ShrU, x, by) => {
                let by = constant(by).filter(|by| (1..31).contains(by))?;
                let product = self.divided(x, by + 1);
                product.or(Some((x, 1 << by)))
            }
            _ => None,
        }
    }

    /// `n` and `d`, where `sum` is the last step but a shift of the quotient by a constant of so many bits: the high half `q` of
    /// a product, plus half of `n - q`.
    fn divided(&self, sum: Value, bits: u128) -> Option<(Value, i128)> {
        let body = self.body;
        let Inst::Bin(BinOp::Add, half, high) = *body.inst(sum) else {
            return None;
        };
        let parts = |half: Value, high: Value| {
            let &Inst::Bin(BinOp::ShrU, rest, one) = body.inst(half) else {
                return None;
            };
            let (&Inst::Bin(BinOp::Sub, n, q), &Inst::Const(1)) = (body.inst(rest), body.inst(one))
            else {
                return None;
            };
            let &Inst::Bin(BinOp::MulHiU, x, y) = body.inst(high) else {
                return None;
            };
            let multiplier = match (x == n, body.inst(y), body.inst(x)) {
                (true, &Inst::Const(m), _) => m,
                (_, _, &Inst::Const(m)) if y == n => m,
                _ => return None,
            };
            (q == high).then_some((n, multiplier))
        };
        let (n, multiplier) = parts(half, high).or_else(|| parts(high, half))?;
        let width = body.ty(sum).bits();
        let multiplier = u128::from(multiplier & body.ty(sum).bit_mask());
        // Of the divisors with so many bits, the one that has this multiplier.
        let near = (1u128 << bits << width) / ((1u128 << width) + multiplier);
        let of = |d: u128| (1u128 << width) * ((1u128 << bits) - d) / d + 1;
        let divisor = [near, near + 1]
            .into_iter()
            .find(|&d| d > 1 && d <= 1 << bits && of(d) == multiplier)?;
        Some((n, i128::try_from(divisor).ok()?))
    }

    fn block(&mut self, id: BlockId) {
        let body = self.body;
        for stmt in &body.blocks[id.index()].stmts {
            match stmt {
                Stmt::Let(v) => {
                    if let Inst::Load(ty, addr) = body.inst(*v) {
                        self.access(*ty, addr, false);
                    }
                }
                Stmt::Store { ty, addr, .. } => self.access(*ty, addr, true),
                Stmt::For(f) if f.trip == Trip::Const(0) => {}
                Stmt::For(f) => self.block(f.body),
                Stmt::While(w) => {
                    self.block(w.head);
                    self.branch(w.cond, true, w.body);
                }
                Stmt::If(i) => {
                    self.branch(i.cond, true, i.then);
                    self.branch(i.cond, false, i.otherwise);
                }
            }
        }
    }

    /// A block that is run where a condition holds, or does not.
    fn branch(&mut self, cond: Value, holds: bool, block: BlockId) {
        self.under(cond, holds, |walk| {
            for k in 0..walk.unsure.len() {
                let (quotient, x, divisor) = walk.unsure[k];
                if walk.relate(quotient, x, divisor)
                    && let Some(memo) = walk.memos.last_mut()
                {
                    *memo = Memo::default();
                }
            }
            walk.block(block);
        });
    }

    /// Does something where a condition holds, or does not.
    fn under<R>(&mut self, cond: Value, holds: bool, then: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.known.len();
        self.memos.push(Memo::default());
        self.assume(cond, holds);
        // What was found on the way is less than what is known now.
        self.memos.pop();
        self.memos.push(Memo::default());
        let result = then(self);
        self.memos.pop();
        self.known.truncate(before);
        result
    }

    /// As [`under`](Self::under), for one of two values; what conditions inside each other say is looked at to some depth alone.
    fn either<R>(&mut self, cond: Value, holds: bool, then: impl FnOnce(&mut Self) -> R) -> R {
        if self.conditions >= MOST_CONDITIONS {
            return then(self);
        }
        self.conditions += 1;
        let result = self.under(cond, holds, then);
        self.conditions -= 1;
        result
    }

    fn access(&mut self, ty: MemTy, addr: &Addr, store: bool) {
        let mut form = Form::constant(addr.offset.into());
        for &(index, stride) in &addr.terms {
            form = form.plus(&Form::atom(Atom::Index(index)), stride.into());
        }
        match addr.lane {
            LaneStep::Uniform => {}
            LaneStep::Stride(stride) => {
                form = form.plus(&Form::atom(Atom::Index(Index::Lane)), stride.into());
            }
            LaneStep::Gather(index, scale) => {
                let index = self.form(index);
                form = form.plus(&index, scale.into());
            }
        }
        let (first, last) = self.range(&form);
        // Conditions that contradict each other: this is never run.
        if first <= last {
            self.extents.push(Extent {
                pointer: addr.pointer,
                first,
                end: last + i128::from(ty.size()),
                store,
            });
        }
    }

    /// Notes what follows from a condition.
    fn assume(&mut self, cond: Value, holds: bool) {
        let body = self.body;
        match *body.inst(cond) {
            Inst::Un(UnOp::Not, inner) => self.assume(inner, !holds),
            Inst::Bin(BinOp::And, a, b) if holds => {
                self.assume(a, true);
                self.assume(b, true);
            }
            Inst::Bin(BinOp::Or, a, b) if !holds => {
                self.assume(a, false);
                self.assume(b, false);
            }
            // One of the two, if the other is not so anyway.
            Inst::Bin(BinOp::And | BinOp::Or, a, b) => {
                for (this, other) in [(a, b), (b, a)] {
                    if self.decided(this) == Some(!holds) {
                        self.assume(other, holds);
                    }
                }
            }
            Inst::Const(bits) if (bits != 0) != holds => self.at_most(&Form::constant(1), 0),
            Inst::Bin(op, a, b) if body.ty(a).is_int() => self.assume_order(op, a, b, holds),
            _ => {}
        }
    }

    /// What a comparison of integers gives, where it always gives the same.
    fn decided(&mut self, cond: Value) -> Option<bool> {
        let body = self.body;
        let Inst::Bin(op @ (BinOp::Lt | BinOp::Le), a, b) = *body.inst(cond) else {
            return None;
        };
        if !body.ty(a).is_int() {
            return None;
        }
        let difference = self.form(a).plus(&self.form(b), -1);
        let (low, high) = self.range(&difference);
        let most = if op == BinOp::Lt { -1 } else { 0 };
        if high <= most {
            Some(true)
        } else {
            (low > most).then_some(false)
        }
    }

    fn assume_order(&mut self, op: BinOp, a: Value, b: Value, holds: bool) {
        let (x, y) = (self.form(a), self.form(b));
        let difference = x.clone().plus(&y, -1);
        let opposite = y.clone().plus(&x, -1);
        match (op, holds) {
            (BinOp::Lt, true) => self.at_most(&difference, -1),
            (BinOp::Le, true) => self.at_most(&difference, 0),
            (BinOp::Lt, false) => self.at_most(&opposite, 0),
            (BinOp::Le, false) => self.at_most(&opposite, -1),
            (BinOp::Eq, true) | (BinOp::Ne, false) => {
                self.at_most(&difference, 0);
                self.at_most(&opposite, 0);
            }
            // Below a number that is not negative nothing negative is, as unsigned integers.
            (BinOp::LtU | BinOp::LeU, true) if self.range(&y).0 >= 0 => {
                self.at_most(&Form::default().plus(&x, -1), 0);
                self.at_most(&difference, if op == BinOp::LtU { -1 } else { 0 });
            }
            _ => {}
        }
    }

    /// Notes that a form is not above a bound.
    fn at_most(&mut self, form: &Form, bound: i128) {
        let Some(&(_, first)) = form.terms.first() else {
            if form.constant > bound {
                self.known.push(Known::NOTHING);
            }
            return;
        };
        let bound = bound - form.constant;
        // Multiples of the common divisor: the bound is one, too.
        let divisor = form
            .terms
            .iter()
            .fold(0, |divisor, term| gcd(divisor, term.1));
        let bound = bound.div_euclid(divisor);
        let (sign, range) = if first > 0 {
            (1, (-FAR, bound))
        } else {
            (-1, (-bound, FAR))
        };
        let terms: Vec<(Atom, i128)> = (form.terms.iter())
            .map(|&(atom, factor)| (atom, factor / divisor * sign))
            .collect();
        let same = self.known.iter().rev().find(|known| known.terms == terms);
        let (low, high) = same.map_or((-FAR, FAR), |known| known.range);
        let range = (low.max(range.0), high.min(range.1));
        self.known.push(if range.0 > range.1 {
            Known::NOTHING
        } else {
            Known { terms, range }
        });
    }

    /// The smallest and largest value of a form.
    fn range(&mut self, form: &Form) -> Range {
        if self.known.iter().any(|known| known.terms.is_empty()) {
            return (1, 0);
        }
        let mut followed: Vec<(Atom, Range)> = Vec::new();
        for &(atom, _) in &form.terms {
            followed.push((atom, self.atom_range(atom)));
        }
        self.bounds(form, MOST_STEPS, &followed)
    }

    /// The range by the atoms, and by what is known with what it leaves of the form: all of them hold. Only the atoms that the
    /// form had at first are followed, since another may hang on the value that is asked for.
    fn bounds(&self, form: &Form, depth: usize, followed: &[(Atom, Range)]) -> Range {
        let mut best = (form.constant, form.constant);
        for &(atom, factor) in &form.terms {
            let found = followed.iter().find(|(own, _)| *own == atom);
            let range = match (found, atom) {
                (Some(&(_, range)), _) => range,
                (None, Atom::Value(value)) => self.plain[value.index()],
                (None, Atom::Index(index)) => self.index_range(index),
            };
            best = sum(best, scaled(self.restricted(atom, range), factor));
        }
        if depth == 0 || form.terms.is_empty() {
            return best;
        }
        // Which known form, by how much, and what the form is multiplied by before.
        let mut uses: Vec<(usize, i128, i128)> = Vec::new();
        for (k, known) in self.known.iter().enumerate().rev() {
            for &(atom, own) in &known.terms {
                let Ok(at) = form.terms.binary_search_by_key(&atom, |term| term.0) else {
                    continue;
                };
                let factor = form.terms[at].1;
                let common = gcd(factor, own);
                let step = (k, factor / common * own.signum(), own.abs() / common);
                if !uses.contains(&step) {
                    uses.push(step);
                }
            }
        }
        // Those that leave least come first.
        let mut rests: Vec<(Form, Range, i128)> = Vec::new();
        // Conditions on an atom alone, of which there may be many, do not hide the others.
        let mut alone = 0;
        for (k, factor, scale) in uses {
            if self.known[k].terms.len() == 1 {
                alone += 1;
                if alone > MOST_USES / 2 {
                    continue;
                }
            }
            let known = Form {
                terms: self.known[k].terms.clone(),
                constant: 0,
            };
            let rest = Form::default().plus(form, scale).plus(&known, -factor);
            if rest.terms.len() <= form.terms.len() {
                rests.push((rest, scaled(self.known[k].range, factor), scale));
            }
        }
        rests.sort_by_key(|(rest, _, _)| rest.terms.len());
        for (rest, by_known, scale) in rests.into_iter().take(MOST_USES) {
            let total = sum(by_known, self.bounds(&rest, depth - 1, followed));
            let (low, high) = (total.0.div_euclid(scale), total.1.div_euclid(scale));
            let low = if low * scale == total.0 { low } else { low + 1 };
            best = (best.0.max(low), best.1.min(high));
        }
        // The form is its constant and a multiple of what all factors have in common.
        let step = form.terms.iter().fold(0, |step, term| gcd(step, term.1));
        let low = -(form.constant - best.0).div_euclid(step);
        let high = (best.1 - form.constant).div_euclid(step);
        (form.constant + low * step, form.constant + high * step)
    }

    fn atom_range(&mut self, atom: Atom) -> Range {
        match atom {
            Atom::Index(index) => self.index_range(index),
            Atom::Value(value) => self.value_range(value),
        }
    }

    fn index_range(&self, index: Index) -> Range {
        let below = |count: usize| (0, (count.max(1) - 1) as i128);
        match index {
            Index::Lane => below(self.domain.lanes),
            Index::Outer(k) => below(self.domain.outer[k as usize]),
            Index::Loop(id) => match self.trips[id.index()] {
                Some(Trip::Const(turns)) => (0, i128::from(turns.max(1)) - 1),
                Some(Trip::Outer(k)) => below(self.domain.outer[k as usize].max(1) - 1),
                None => (0, 0),
            },
        }
    }

    /// What is known of an atom alone.
    fn restricted(&self, atom: Atom, range: Range) -> Range {
        let single = [(atom, 1)];
        let known = self.known.iter().filter(|known| known.terms == single);
        known.fold(range, |(low, high), known| {
            (low.max(known.range.0), high.min(known.range.1))
        })
    }

    /// The form of an integer, where no step to it can wrap around here; else itself.
    fn form(&mut self, value: Value) -> Form {
        let value = self.same[value.index()];
        if let Some(form) = self.memos.last().and_then(|memo| memo.forms.get(&value)) {
            return form.clone();
        }
        let own = Form::atom(Atom::Value(value));
        if self.depth > DEEPEST {
            return own;
        }
        self.depth += 1;
        let form = match self.linear(value) {
            Some(form) if within(self.range(&form), all(self.body.ty(value))) => form,
            _ => own,
        };
        self.depth -= 1;
        if let Some(memo) = self.memos.last_mut() {
            memo.forms.insert(value, form.clone());
        }
        form
    }

    fn linear(&mut self, value: Value) -> Option<Form> {
        let body = self.body;
        let ty = body.ty(value);
        Some(match *body.inst(value) {
            Inst::Const(bits) => Form::constant(signed(ty, bits)?),
            Inst::Index(index) => Form::atom(Atom::Index(index)),
            Inst::Un(UnOp::SExt | UnOp::Low, a) => self.form(a),
            Inst::Un(UnOp::ZExt, a) => {
                let form = self.form(a);
                (self.range(&form).0 >= 0).then_some(form)?
            }
            Inst::Un(UnOp::Neg, a) if ty.is_int() => Form::default().plus(&self.form(a), -1),
            Inst::Bin(BinOp::Add, a, b) if ty.is_int() => self.form(a).plus(&self.form(b), 1),
            Inst::Bin(BinOp::Sub, a, b) if ty.is_int() => self.form(a).plus(&self.form(b), -1),
            Inst::Bin(BinOp::Mul, a, b) if ty.is_int() => {
                let (x, y) = (self.form(a), self.form(b));
                match (x.as_constant(), y.as_constant()) {
                    (Some(factor), _) => Form::default().plus(&y, factor),
                    (_, Some(factor)) => Form::default().plus(&x, factor),
                    _ => return None,
                }
            }
            // The low bits are what a shift leaves out.
            Inst::Bin(BinOp::And, a, b) => {
                let x = self.form(a);
                let divisor = self.form(b).as_constant()? + 1;
                let quotient = *self.shifted.get(&(self.same[a.index()], divisor))?;
                if self.range(&x).0 < 0 {
                    return None;
                }
                x.plus(&Form::atom(Atom::Value(quotient)), -divisor)
            }
            Inst::Bin(BinOp::Shl, a, b) => {
                let count = self
                    .form(b)
                    .as_constant()
                    .filter(|count| (0..32).contains(count))?;
                Form::default().plus(&self.form(a), 1 << count)
            }
            _ => return None,
        })
    }

    /// What an integer that is no form can be.
    fn value_range(&mut self, value: Value) -> Range {
        if let Some(&range) = self.memos.last().and_then(|memo| memo.ranges.get(&value)) {
            return range;
        }
        let plain = self.plain[value.index()];
        if self.depth > DEEPEST {
            return plain;
        }
        self.depth += 1;
        let (low, high) = self.computed_range(value).unwrap_or(plain);
        self.depth -= 1;
        let range = (low.max(plain.0), high.min(plain.1));
        if let Some(memo) = self.memos.last_mut() {
            memo.ranges.insert(value, range);
        }
        range
    }

    /// Ranges by the ranges of operands: values stand behind their operands, except for what loops carry. That is first taken to stay
    /// what it is before the first turn, and more where a turn says so, until none does.
    fn plain_ranges(&mut self) {
        let mut taken: HashMap<Value, Range> = HashMap::default();
        for round in 0.. {
            self.plain.clear();
            for k in 0..self.body.values.len() {
                let value = Value::from_index(k);
                let full = all(self.body.ty(value));
                let found = self.plain_range(value, &taken);
                self.plain
                    .push(found.filter(|&r| within(r, full)).unwrap_or(full));
            }
            let mut holds = true;
            for (&value, carry) in &self.carries {
                let (before, next) = (self.plain[value.index()], self.plain[carry.next.index()]);
                if value == carry.param && !within(next, before) {
                    let widened = round >= MOST_ROUNDS;
                    let full = || all(self.body.ty(value));
                    taken.insert(value, if widened { full() } else { union(before, next) });
                    holds = false;
                }
            }
            if holds {
                break;
            }
        }
    }

    fn plain_range(&self, value: Value, taken: &HashMap<Value, Range>) -> Option<Range> {
        let body = self.body;
        let ty = body.ty(value);
        let of = |walk: &Self, value: Value| walk.plain.get(value.index()).copied();
        match *body.inst(value) {
            Inst::Const(bits) => signed(ty, bits).map(|number| (number, number)),
            Inst::Index(index) => Some(self.index_range(index)),
            Inst::Un(UnOp::SExt | UnOp::Low, a) => of(self, a),
            Inst::Un(UnOp::ZExt, a) => of(self, a)
                .filter(|range| range.0 >= 0)
                .or(Some((0, u32::MAX.into()))),
            Inst::Un(UnOp::Neg, a) if ty.is_int() => Some(scaled(of(self, a)?, -1)),
            Inst::Bin(op, a, b) if body.ty(a).is_int() => {
                let (x, y) = (of(self, a)?, of(self, b)?);
                match op {
                    BinOp::Add => Some(sum(x, y)),
                    BinOp::Sub => Some(sum(x, scaled(y, -1))),
                    BinOp::Mul => Some(union(scaled(x, y.0), scaled(x, y.1))),
                    BinOp::Shl if y.0 >= 0 && y.1 < 32 => {
                        Some(union(scaled(x, 1 << y.0), scaled(x, 1 << y.1)))
                    }
                    _ => match self.quotient(value).map(|(x, by)| (of(self, x), by)) {
                        Some((Some((low, high)), by)) if low >= 0 => Some((low / by, high / by)),
                        _ => binary_range(op, x, y),
                    },
                }
            }
            Inst::Ter(TerOp::Select, _, a, b) => Some(union(of(self, a)?, of(self, b)?)),
            Inst::Result | Inst::Carried => match (self.arms.get(&value), self.carries.get(&value))
            {
                (Some((_, arm)), _) => Some(union(of(self, arm.then)?, of(self, arm.otherwise)?)),
                (None, Some(carry)) if value == carry.param => {
                    let init = of(self, carry.init)?;
                    Some(taken.get(&value).map_or(init, |&range| union(range, init)))
                }
                (None, Some(carry)) => Some(union(of(self, carry.init)?, of(self, carry.next)?)),
                (None, None) => None,
            },
            Inst::Un(UnOp::Clz | UnOp::Popcount, _) => Some((0, 64)),
            Inst::Load(ty, _) => loaded_range(ty),
            _ => None,
        }
    }

    fn computed_range(&mut self, value: Value) -> Option<Range> {
        let body = self.body;
        let of = |walk: &mut Self, value: Value| {
            let form = walk.form(value);
            walk.range(&form)
        };
        if let Some((x, divisor)) = self.quotient(value) {
            let (low, high) = of(self, x);
            if low >= 0 {
                return Some((low / divisor, high / divisor));
            }
        }
        match *body.inst(value) {
            Inst::Bin(op, a, b) => {
                let (x, y) = (of(self, a), of(self, b));
                binary_range(op, x, y)
            }
            Inst::Ter(TerOp::Select, cond, a, b) => {
                let x = self.either(cond, true, |walk| of(walk, a));
                let y = self.either(cond, false, |walk| of(walk, b));
                Some(union(x, y))
            }
            Inst::Result => {
                let (cond, arm) = *self.arms.get(&value)?;
                let x = self.either(cond, true, |walk| of(walk, arm.then));
                let y = self.either(cond, false, |walk| of(walk, arm.otherwise));
                Some(union(x, y))
            }
            Inst::Un(UnOp::SExt, a) => Some(of(self, a)),
            Inst::Un(UnOp::Low, a) => {
                Some(of(self, a)).filter(|&range| within(range, all(body.ty(value))))
            }
            Inst::Un(UnOp::ZExt, a) => Some(of(self, a))
                .filter(|range| range.0 >= 0)
                .or(Some((0, u32::MAX.into()))),
            Inst::Un(UnOp::Clz | UnOp::Popcount, _) => Some((0, 64)),
            Inst::Load(ty, _) => loaded_range(ty),
            _ => None,
        }
    }
}

/// For each value the first one that is computed in the same way from the same.
fn same_values(body: &Body) -> Vec<Value> {
    let (mut same, mut first): (Vec<Value>, HashMap<(Inst, Ty), Value>) = Default::default();
    for k in 0..body.values.len() {
        let value = Value::from_index(k);
        let of = |same: &[Value], value: Value| same.get(value.index()).copied().unwrap_or(value);
        let inst = match body.inst(value) {
            Inst::Const(_) | Inst::Index(_) => body.inst(value).clone(),
            Inst::Un(op, a) => Inst::Un(*op, of(&same, *a)),
            Inst::Bin(op, a, b) => Inst::Bin(*op, of(&same, *a), of(&same, *b)),
            Inst::Ter(op, a, b, c) => Inst::Ter(*op, of(&same, *a), of(&same, *b), of(&same, *c)),
            Inst::Lookup(..) | Inst::Load(..) | Inst::Carried | Inst::Result => {
                same.push(value);
                continue;
            }
        };
        same.push(*first.entry((inst, body.ty(value))).or_insert(value));
    }
    same
}

/// What narrow elements can be.
fn loaded_range(ty: MemTy) -> Option<Range> {
    match ty {
        MemTy::Bool => Some((0, 1)),
        MemTy::I8 => Some((i8::MIN.into(), i8::MAX.into())),
        MemTy::U8 => Some((0, u8::MAX.into())),
        MemTy::I16 => Some((i16::MIN.into(), i16::MAX.into())),
        MemTy::U16 => Some((0, u16::MAX.into())),
        _ => None,
    }
}

/// What an operation gives for operands in ranges, where that is a range of the integers.
fn binary_range(op: BinOp, x: Range, y: Range) -> Option<Range> {
    let natural = x.0 >= 0 && y.0 >= 0;
    let divisor = (y.0 == y.1 && y.0 > 0).then_some(y.0);
    match op {
        BinOp::MinS => Some((x.0.min(y.0), x.1.min(y.1))),
        BinOp::MaxS => Some((x.0.max(y.0), x.1.max(y.1))),
        BinOp::MinU if natural => Some((x.0.min(y.0), x.1.min(y.1))),
        BinOp::MaxU if natural => Some((x.0.max(y.0), x.1.max(y.1))),
        // As unsigned integers negative ones are above all others.
        BinOp::MinU if y.0 >= 0 => Some((0, y.1)),
        BinOp::MinU if x.0 >= 0 => Some((0, x.1)),
        BinOp::DivU if x.0 >= 0 => divisor.map(|by| (x.0 / by, x.1 / by)),
        BinOp::RemU => divisor.map(|by| {
            if x.0 >= 0 {
                (0, x.1.min(by - 1))
            } else {
                (0, by - 1)
            }
        }),
        BinOp::DivS => divisor.map(|by| (x.0 / by, x.1 / by)),
        BinOp::RemS => divisor.map(|by| {
            let low = if x.0 >= 0 { 0 } else { (x.0).max(1 - by) };
            (low, if x.1 < 0 { 0 } else { x.1.min(by - 1) })
        }),
        BinOp::And if x.0 >= 0 && y.0 >= 0 => Some((0, x.1.min(y.1))),
        BinOp::And if y.0 >= 0 => Some((0, y.1)),
        BinOp::And if x.0 >= 0 => Some((0, x.1)),
        BinOp::ShrU if natural => Some((x.0 >> y.1.min(63), x.1 >> y.0.min(63))),
        BinOp::ShrS if y.0 >= 0 => {
            let ends = [x.0, x.1].map(|end| [end >> y.0.min(63), end >> y.1.min(63)]);
            let ends = ends.concat();
            Some((*ends.iter().min()?, *ends.iter().max()?))
        }
        _ => None,
    }
}

/// The greatest common divisor, not negative.
fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

fn scaled((low, high): Range, factor: i128) -> Range {
    let (a, b) = (low.saturating_mul(factor), high.saturating_mul(factor));
    (a.min(b), a.max(b))
}

fn sum(x: Range, y: Range) -> Range {
    (x.0.saturating_add(y.0), x.1.saturating_add(y.1))
}

fn union(x: Range, y: Range) -> Range {
    match (x.0 > x.1, y.0 > y.1) {
        (true, _) => y,
        (_, true) => x,
        _ => (x.0.min(y.0), x.1.max(y.1)),
    }
}

fn within(inner: Range, outer: Range) -> bool {
    inner.0 >= outer.0 && inner.1 <= outer.1
}

/// All integers of a type; anything for others.
fn all(ty: Ty) -> Range {
    match ty {
        Ty::I32 => (i32::MIN.into(), i32::MAX.into()),
        Ty::I64 => (i64::MIN.into(), i64::MAX.into()),
        Ty::F32 | Ty::F64 | Ty::Mask => (-FAR, FAR),
    }
}

/// The integer with these bits.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the type tells how many bits there are"
)]
fn signed(ty: Ty, bits: u64) -> Option<i128> {
    match ty {
        Ty::I32 => Some((bits as i32).into()),
        Ty::I64 => Some((bits as i64).into()),
        Ty::F32 | Ty::F64 | Ty::Mask => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Access, Builder};

    fn domain(lanes: usize) -> Domain {
        Domain {
            lanes,
            outer: Vec::new(),
            rows: None,
        }
    }

    /// The digits of a number, put together again.
    #[test]
    fn digits_make_their_number() {
        let mut b = Builder::new("digits");
        let (x, y) = (b.pointer(Access::ReadOnly), b.pointer(Access::ReadWrite));
        let mut rest = b.index(Ty::I32, Index::Lane);
        let (mut digits, mut weight) = (Vec::new(), 1);
        for bits in [1, 1, 1, 3] {
            let low = b.i32((1 << bits) - 1);
            let (count, scale) = (b.i32(bits), b.i32(weight));
            let digit = b.and(rest, low);
            digits.push(b.mul(digit, scale));
            rest = b.shr_u(rest, count);
            weight <<= bits;
        }
        let scale = b.i32(weight);
        let mut sum = b.mul(rest, scale);
        for digit in digits.into_iter().rev() {
            sum = b.add(sum, digit);
        }
        let v = b.load(MemTy::F64, Addr::gather(x, sum, 8));
        b.store(MemTy::F64, Addr::contiguous(y, MemTy::F64), v);
        let body = b.finish().unwrap();
        for lanes in [1, 3, 64, 128, 1000] {
            let found = extents(&body, &domain(lanes));
            let end = 8 * lanes as i128;
            assert!(
                found
                    .iter()
                    .all(|extent| (extent.first, extent.end) == (0, end)),
                "{found:?}"
            );
        }
    }

    /// What one load of doubles at `index(lane)` under conditions touches.
    fn touched(
        lanes: usize,
        conditions: impl Fn(&mut Builder, Value) -> Vec<Value>,
        index: impl Fn(&mut Builder, Value) -> Value,
    ) -> (i128, i128) {
        fn inside(
            b: &mut Builder,
            conditions: &[Value],
            load: &dyn Fn(&mut Builder) -> Value,
        ) -> Value {
            let Some((&cond, rest)) = conditions.split_first() else {
                return load(b);
            };
            let then = |b: &mut Builder| vec![inside(b, rest, load)];
            b.if_lanes(cond, then, |b| vec![b.f64(0.0)])[0]
        }
        let mut b = Builder::new("touched");
        let (x, y) = (b.pointer(Access::ReadOnly), b.pointer(Access::ReadWrite));
        let lane = b.index(Ty::I32, Index::Lane);
        let conditions = conditions(&mut b, lane);
        let load = |b: &mut Builder| {
            let at = index(b, lane);
            b.load(MemTy::F64, Addr::gather(x, at, 8))
        };
        let v = inside(&mut b, &conditions, &load);
        b.store(MemTy::F64, Addr::contiguous(y, MemTy::F64), v);
        let found = extents(&b.finish().unwrap(), &domain(lanes));
        let load = found.iter().find(|extent| !extent.store).unwrap();
        (load.first / 8, load.end / 8)
    }

    /// x mod 4 of x = lane - 1.
    fn remainder(b: &mut Builder, lane: Value) -> Value {
        let (one, two, four) = (b.i32(1), b.i32(2), b.i32(4));
        let x = b.sub(lane, one);
        let quotient = b.shr_u(x, two);
        let whole = b.mul(quotient, four);
        b.sub(x, whole)
    }

    #[test]
    fn what_is_natural_under_a_condition_has_a_remainder() {
        let positive = |b: &mut Builder, lane: Value| {
            let zero = b.i32(0);
            vec![b.lt(zero, lane)]
        };
        assert_eq!(touched(13, positive, remainder), (0, 4));
        // Of -1 as a quotient of unsigned integers nothing is known.
        let found = touched(13, |_, _| Vec::new(), remainder);
        assert!(found.0 < 0 && found.1 >= 4, "{found:?}");
    }

    #[test]
    fn many_conditions_on_an_index_hide_nothing() {
        let many = |b: &mut Builder, lane: Value| {
            let zero = b.i32(0);
            let mut conditions = vec![b.lt(zero, lane)];
            for k in 1..10 {
                let (number, most) = (b.i32(k), b.i32(15));
                let moved = b.add(lane, number);
                conditions.push(b.le(moved, most));
            }
            conditions
        };
        assert_eq!(touched(13, many, remainder), (0, 4));
    }

    #[test]
    fn multiples_stay_multiples() {
        // 3 lane <= 17, so that lane <= 5.
        let thrice = |b: &mut Builder, lane: Value| {
            let (three, most) = (b.i32(3), b.i32(17));
            let times = b.mul(lane, three);
            vec![b.le(times, most)]
        };
        assert_eq!(touched(64, thrice, |_, lane| lane), (0, 6));
        // 8 (lane mod 4) + lane / 4 <= 20: the load is at 8 (lane mod 4), at most 16.
        let both = |b: &mut Builder, lane: Value| {
            let (two, three, eight, most) = (b.i32(2), b.i32(3), b.i32(8), b.i32(20));
            let (high, low) = (b.shr_u(lane, two), b.and(lane, three));
            let low = b.mul(low, eight);
            let sum = b.add(low, high);
            vec![b.le(sum, most)]
        };
        let at = |b: &mut Builder, lane: Value| {
            let (three, eight) = (b.i32(3), b.i32(8));
            let low = b.and(lane, three);
            b.mul(low, eight)
        };
        assert_eq!(touched(64, both, at), (0, 17));
    }

    /// What a loop chooses among the indices of its turns is one of them; of what grows from turn to turn nothing is known.
    #[test]
    fn what_loops_choose_is_between_their_indices() {
        let touched = |grows: bool| {
            touched(
                3,
                |_, _| Vec::new(),
                |b, lane| {
                    let zero = b.i32(0);
                    let outer = b.for_loop(Trip::Const(5), &[zero], |b, turn, outer| {
                        b.for_loop(Trip::Const(4), outer, |b, inner, chosen| {
                            let (turn, inner) = (b.index(Ty::I32, turn), b.index(Ty::I32, inner));
                            let at = b.add(turn, inner);
                            let chooses = b.lt(lane, at);
                            let (kept, other) = if grows {
                                (chosen[0], b.add(chosen[0], at))
                            } else {
                                (chosen[0], at)
                            };
                            vec![b.select(chooses, kept, other)]
                        })
                    });
                    outer[0]
                },
            )
        };
        assert_eq!(touched(false), (0, 8));
        let (least, most) = touched(true);
        assert!(least < 0 && most > 1 << 20, "{least}..{most}");
    }

    /// What is said of an operation's results holds of all of them, and no less is said than is known.
    #[test]
    fn ranges_hold_all_results() {
        use BinOp::*;
        let ranges = |low: i64, high: i64| {
            (low..=high).flat_map(move |a| (a..=high).map(move |b| (i128::from(a), i128::from(b))))
        };
        let operations = [
            Add, Sub, Mul, DivS, DivU, RemS, RemU, MulHiS, MulHiU, MinS, MaxS, MinU, MaxU, And, Or,
            Xor, Shl, ShrS, ShrU,
        ];
        for op in operations {
            for (x, y) in ranges(-5, 9).flat_map(|x| ranges(-4, 6).map(move |y| (x, y))) {
                let Some(said) = binary_range(op, x, y) else {
                    continue;
                };
                let results = (x.0..=x.1).flat_map(|a| {
                    (y.0..=y.1).map(move |b| {
                        let bits = op.eval(Ty::I64, a as i64 as u64, b as i64 as u64);
                        i128::from(bits as i64)
                    })
                });
                let (least, most) = (results.clone().min(), results.max());
                let got = (least.unwrap(), most.unwrap());
                assert!(
                    within(got, said),
                    "{op:?} of {x:?} and {y:?}: {got:?}, not {said:?}"
                );
                // The remainder of a range that is no whole turn, and single bits, are said roughly.
                if !matches!(op, RemS | RemU | And | MinU) {
                    assert_eq!(got, said, "{op:?} of {x:?} and {y:?}");
                }
            }
        }
        for (op, x, y, said) in [
            (RemS, (-20, 20), (7, 7), Some((-6, 6))),
            (RemS, (2, 4), (7, 7), Some((0, 4))),
            (RemS, (-4, -2), (7, 7), Some((-4, 0))),
            (RemU, (2, 4), (7, 7), Some((0, 4))),
            (RemU, (2, 20), (7, 7), Some((0, 6))),
            (RemU, (-2, 20), (7, 7), Some((0, 6))),
            (And, (2, 20), (3, 7), Some((0, 7))),
            (And, (-2, 20), (3, 7), Some((0, 7))),
            (And, (2, 5), (-3, 7), Some((0, 5))),
            (And, (-2, 5), (-3, 7), None),
            (MinU, (-2, 5), (3, 7), Some((0, 7))),
            (MinU, (2, 5), (-3, 7), Some((0, 5))),
            (MinU, (2, 5), (3, 4), Some((2, 4))),
            (MinU, (-2, 5), (-3, 7), None),
        ] {
            assert_eq!(binary_range(op, x, y), said, "{op:?} of {x:?} and {y:?}");
        }
    }
}
