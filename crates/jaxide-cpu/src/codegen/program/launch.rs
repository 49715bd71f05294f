//! Nests and groups of nests as constant data: how each is run over its domain.

use crate::lower::emit::{Kernel, Partials};
use crate::lower::program::work::kernel_nanoseconds;
use crate::lower::program::{RowsOf, TileGroup};
use crate::runtime::launch::{
    CALL, Flag, KeptRows, Launch, NONE, PartialsOf, Split, TileLaunch, TileRows, TileRun,
    lane_unit, pieces_for,
};
use crate::runtime::stack::ASSUMED;

/// A nest that calls its lane program.
pub(super) struct Scheduled {
    launch: Launch,
    /// Lengths of the loops around the lane program.
    outer: Vec<usize>,
    /// Whether it takes more stack than helpers have.
    alone: bool,
    /// Nanoseconds for all, roughly.
    work: f64,
}

impl Scheduled {
    /// A nest whose lane program takes so many bytes of stack.
    pub(super) fn new(kernel: &Kernel, stack: usize) -> Scheduled {
        let schedule = &kernel.schedule;
        let combinations: usize = schedule.outer.iter().product();
        let work = kernel_nanoseconds(kernel);
        let reduces = !kernel.body.reductions().is_empty();
        let partial_count = schedule.partial_count();
        let unit = lane_unit(schedule.lanes, work);
        let (split, most) = if partial_count > 1 {
            (Split::Partials, partial_count)
        } else if combinations > 1 {
            (Split::Outer, combinations)
        } else if let (Some(rows), None) = (schedule.rows, schedule.chunk) {
            (Split::Rows, rows)
        } else if reduces {
            (Split::Lanes, 1)
        } else {
            (Split::Lanes, schedule.lanes.div_ceil(unit))
        };
        let alone = schedule.alone || stack > ASSUMED;
        let pieces = if alone {
            1
        } else {
            pieces_for(work).min(most.max(1))
        };
        let (partials, partial_lanes) = match schedule.partials {
            None => (PartialsOf::Nothing, 0),
            Some(Partials::Chunks) => (PartialsOf::Chunks, 0),
            Some(Partials::Lanes(lanes)) => (PartialsOf::Lanes, lanes),
        };
        let turns = kernel.calls().turns.map(|_| kernel.body.outer());
        let launch = Launch {
            entry: None,
            outer: std::ptr::null(),
            axes: schedule.outer.len(),
            rows: schedule.rows.unwrap_or(NONE),
            chunk: schedule.chunk.unwrap_or(NONE),
            partials,
            partial_lanes,
            partial_count,
            lanes: schedule.lanes,
            unit,
            reduces: Flag::is(reduces),
            at_once: Flag::is(schedule.runs_at_once()),
            turns: turns.unwrap_or(NONE),
            split,
            pieces,
        };
        Scheduled {
            launch,
            outer: schedule.outer.clone(),
            alone,
            work,
        }
    }

    /// The data of the nest.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.launch.bytes(&self.outer)
    }

    /// Whether one call of the lane program without outer loops does it all.
    pub(super) fn is_direct(&self) -> bool {
        let launch = &self.launch;
        let short = launch.reduces == Flag::Yes || launch.lanes <= CALL;
        launch.axes == 0
            && launch.rows == NONE
            && launch.partial_count == 1
            && launch.pieces == 1
            && short
    }
}

/// The data of a group; `pointers` is how many each kernel's lane program has.
pub(super) fn group(
    group: &TileGroup,
    nests: &[Option<Scheduled>],
    pointers: impl Fn(usize) -> usize,
) -> Vec<u8> {
    let (mut runs, mut table, mut work, mut alone) = (Vec::new(), 0, 0.0, false);
    for nest in &group.nests {
        let kernel = nest.kernel as usize;
        let scheduled = nests[kernel]
            .as_ref()
            .expect("nests of groups have code of their own");
        let (rows, scale) = match nest.rows {
            RowsOf::Outer => {
                let inner = scheduled.outer.iter().skip(1);
                (TileRows::Outer, inner.product())
            }
            RowsOf::Inner => (TileRows::Inner, 1),
            RowsOf::Lanes(lanes) => (TileRows::Lanes, lanes),
        };
        runs.push(TileRun::new(rows, scale, table));
        table += pointers(kernel);
        work += scheduled.work;
        alone |= scheduled.alone;
    }
    let pieces = if alone || group.alone {
        1
    } else {
        pieces_for(work).min(group.rows.div_ceil(group.unit))
    };
    let (starts, kept_bytes) = group.layout();
    let kept: Vec<KeptRows> = (group.kept_operands())
        .map(|(entry, k)| KeptRows {
            entry,
            row: group.kept[k].row,
            start: starts[k],
        })
        .collect();
    let launch = TileLaunch {
        rows: group.rows,
        block: group.block,
        unit: group.unit,
        pieces,
        runs: runs.len(),
        pointers: table,
        kept: kept.len(),
        kept_bytes,
        threads: group.threads,
    };
    launch.bytes(&runs, &kept)
}
