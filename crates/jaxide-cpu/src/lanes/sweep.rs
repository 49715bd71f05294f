//! Removal of what no store, output or reduction needs, and dense numbering of the rest.

use super::body::*;

/// The body without unused values, carries and loops, its values numbered in order of appearance.
pub(super) fn sweep(body: &Body) -> Body {
    let live = Liveness::of(body);
    let mut order = Vec::new();
    let mut renumber = Renumber {
        body,
        live: &live,
        order: &mut order,
    };
    renumber.block(BlockId::PROLOGUE);
    for a in body.reductions.iter().flat_map(|r| &r.accumulators) {
        renumber.define(a.param);
    }
    renumber.block(BlockId::LANES);
    for r in &body.reductions {
        for a in &r.accumulators {
            renumber.define(a.pair.0);
            renumber.define(a.pair.1);
        }
        renumber.block(r.combine);
    }
    let mut new = vec![None; body.values.len()];
    for (k, v) in order.iter().enumerate() {
        new[v.index()] = Some(Value(k as u32));
    }
    let map = |v: Value| new[v.index()].expect("a live statement uses live values");
    let values = order.iter().map(|v| {
        let data = &body.values[v.index()];
        ValueData {
            ty: data.ty,
            inst: map_inst(&data.inst, &map),
            block: data.block,
        }
    });
    let blocks = body.blocks.iter().map(|b| {
        let stmts = b
            .stmts
            .iter()
            .filter(|s| live.keeps(s))
            .map(|s| map_stmt(s, &live, &map))
            .collect();
        Block {
            stmts,
            parent: b.parent,
        }
    });
    Body {
        values: values.collect(),
        blocks: blocks.collect(),
        reductions: body
            .reductions
            .iter()
            .map(|r| map_reduction(r, &map))
            .collect(),
        ..body.clone()
    }
}

/// Which values anything visible depends on.
struct Liveness {
    values: Vec<bool>,
    /// Blocks that store, directly or inside.
    stores: Vec<bool>,
}

impl Liveness {
    fn of(body: &Body) -> Liveness {
        let mut stores = vec![false; body.blocks.len()];
        for (k, block) in body.blocks.iter().enumerate() {
            if block.stmts.iter().any(|s| matches!(s, Stmt::Store { .. })) {
                let mut at = Some(BlockId(k as u32));
                while let Some(b) = at {
                    stores[b.index()] = true;
                    at = body.blocks[b.index()].parent;
                }
            }
        }
        // What a value defined by a structured statement depends on.
        let mut sources: Vec<Vec<Value>> = vec![Vec::new(); body.values.len()];
        let mut todo: Vec<Value> = Vec::new();
        for stmt in body.blocks.iter().flat_map(|b| &b.stmts) {
            match stmt {
                Stmt::Let(_) => {}
                Stmt::Store { addr, value, .. } => {
                    todo.push(*value);
                    addr.operands(|v| todo.push(v));
                }
                Stmt::For(f) => {
                    for c in &f.carries {
                        sources[c.param.index()] = vec![c.init, c.next];
                        sources[c.result.index()] = vec![c.init, c.next, c.param];
                    }
                }
                Stmt::While(w) => {
                    for c in &w.carries {
                        sources[c.param.index()] = vec![c.init, c.next, w.cond];
                        sources[c.result.index()] = vec![c.init, c.next, c.param, w.cond];
                    }
                    if stores[w.head.index()] {
                        todo.push(w.cond);
                    }
                }
                Stmt::If(i) => {
                    for a in &i.arms {
                        sources[a.result.index()] = vec![a.then, a.otherwise, i.cond];
                    }
                    if stores[i.then.index()] || stores[i.otherwise.index()] {
                        todo.push(i.cond);
                    }
                }
            }
        }
        for a in body.reductions.iter().flat_map(|r| &r.accumulators) {
            todo.extend([a.init, a.param, a.next, a.pair.0, a.pair.1, a.combined]);
        }
        let mut values = vec![false; body.values.len()];
        while let Some(v) = todo.pop() {
            if !std::mem::replace(&mut values[v.index()], true) {
                body.inst(v).operands(|o| todo.push(o));
                todo.extend(&sources[v.index()]);
            }
        }
        Liveness { values, stores }
    }

    fn has(&self, v: Value) -> bool {
        self.values[v.index()]
    }

    fn carries<'a>(&self, carries: &'a [Carry]) -> impl Iterator<Item = &'a Carry> {
        carries
            .iter()
            .filter(|c| self.has(c.param) || self.has(c.result))
    }

    fn keeps(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Let(v) => self.has(*v),
            Stmt::Store { .. } => true,
            Stmt::For(f) => {
                self.stores[f.body.index()] || self.carries(&f.carries).next().is_some()
            }
            Stmt::While(w) => {
                self.stores[w.head.index()] || self.carries(&w.carries).next().is_some()
            }
            Stmt::If(i) => {
                self.stores[i.then.index()]
                    || self.stores[i.otherwise.index()]
                    || i.arms.iter().any(|a| self.has(a.result))
            }
        }
    }
}

/// Lists the live values in order of appearance.
struct Renumber<'a> {
    body: &'a Body,
    live: &'a Liveness,
    order: &'a mut Vec<Value>,
}

impl Renumber<'_> {
    fn define(&mut self, v: Value) {
        self.order.push(v);
    }

    fn block(&mut self, id: BlockId) {
        for stmt in self.body.blocks[id.index()]
            .stmts
            .iter()
            .filter(|s| self.live.keeps(s))
        {
            match stmt {
                Stmt::Let(v) => self.define(*v),
                Stmt::Store { .. } => {}
                Stmt::For(f) => {
                    self.live
                        .carries(&f.carries)
                        .for_each(|c| self.order.push(c.param));
                    self.block(f.body);
                    self.live
                        .carries(&f.carries)
                        .for_each(|c| self.order.push(c.result));
                }
                Stmt::While(w) => {
                    self.live
                        .carries(&w.carries)
                        .for_each(|c| self.order.push(c.param));
                    self.block(w.head);
                    self.block(w.body);
                    self.live
                        .carries(&w.carries)
                        .for_each(|c| self.order.push(c.result));
                }
                Stmt::If(i) => {
                    self.block(i.then);
                    self.block(i.otherwise);
                    let arms = i.arms.iter().filter(|a| self.live.has(a.result));
                    arms.for_each(|a| self.order.push(a.result));
                }
            }
        }
    }
}

pub(super) fn map_inst(inst: &Inst, map: &impl Fn(Value) -> Value) -> Inst {
    match inst {
        Inst::Un(op, a) => Inst::Un(*op, map(*a)),
        Inst::Bin(op, a, b) => Inst::Bin(*op, map(*a), map(*b)),
        Inst::Ter(op, a, b, c) => Inst::Ter(*op, map(*a), map(*b), map(*c)),
        Inst::Lookup(table, a) => Inst::Lookup(*table, map(*a)),
        Inst::Load(ty, addr) => Inst::Load(*ty, map_addr(addr, map).into()),
        Inst::Const(_) | Inst::Index(_) | Inst::Carried | Inst::Result => inst.clone(),
    }
}

pub(super) fn map_addr(addr: &Addr, map: &impl Fn(Value) -> Value) -> Addr {
    let lane = match addr.lane {
        LaneStep::Gather(index, scale) => LaneStep::Gather(map(index), scale),
        LaneStep::Uniform | LaneStep::Stride(_) => addr.lane,
    };
    Addr {
        lane,
        ..addr.clone()
    }
}

fn map_carries(carries: &[Carry], live: &Liveness, map: &impl Fn(Value) -> Value) -> Vec<Carry> {
    // A carry whose result is not used keeps its place: the result is then numbered all the same.
    let carry = |c: &Carry| Carry {
        init: map(c.init),
        param: map(c.param),
        next: map(c.next),
        result: map(c.result),
    };
    live.carries(carries).map(carry).collect()
}

fn map_stmt(stmt: &Stmt, live: &Liveness, map: &impl Fn(Value) -> Value) -> Stmt {
    match stmt {
        Stmt::Let(v) => Stmt::Let(map(*v)),
        Stmt::Store { ty, addr, value } => Stmt::Store {
            ty: *ty,
            addr: map_addr(addr, map).into(),
            value: map(*value),
        },
        Stmt::For(f) => Stmt::For(Box::new(For {
            carries: map_carries(&f.carries, live, map),
            ..f.as_ref().clone()
        })),
        Stmt::While(w) => Stmt::While(Box::new(While {
            carries: map_carries(&w.carries, live, map),
            cond: map(w.cond),
            ..w.as_ref().clone()
        })),
        Stmt::If(i) => {
            let arm = |a: &Arm| Arm {
                then: map(a.then),
                otherwise: map(a.otherwise),
                result: map(a.result),
            };
            let arms = i
                .arms
                .iter()
                .filter(|a| live.has(a.result))
                .map(arm)
                .collect();
            Stmt::If(Box::new(If {
                cond: map(i.cond),
                arms,
                ..i.as_ref().clone()
            }))
        }
    }
}

fn map_reduction(reduction: &Reduction, map: &impl Fn(Value) -> Value) -> Reduction {
    let accumulator = |a: &Accumulator| Accumulator {
        init: map(a.init),
        param: map(a.param),
        next: map(a.next),
        pair: (map(a.pair.0), map(a.pair.1)),
        combined: map(a.combined),
        dest: a.dest.clone(),
        ty: a.ty,
    };
    Reduction {
        accumulators: reduction.accumulators.iter().map(accumulator).collect(),
        combine: reduction.combine,
    }
}
