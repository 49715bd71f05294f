//! Compiling takes memory in proportion to the length of a program, and not much of it.

use jaxide_core::parse;
use jaxide_cpu::{CompileOptions, compile};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's memory, with what is in use, and the most that was.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does what is asked for; counting changes nothing of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(live, Relaxed);
        // SAFETY: promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most memory that reading and compiling take for a chain of so many matrix products, each with a `tanh` behind it.
fn most(products: usize) -> usize {
    let ty = "f32[16,16]";
    let mut text = format!("{{ lambda ; w:{ty} x:{ty}. let\n");
    let mut before = "x".to_owned();
    for k in 0..products {
        let dot =
            "dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=float32]";
        writeln!(text, "d{k}:{ty} = {dot} {before} w").unwrap();
        writeln!(text, "t{k}:{ty} = tanh d{k}").unwrap();
        before = format!("t{k}");
    }
    writeln!(text, "in ({before},) }}").unwrap();
    let start = LIVE.load(Relaxed);
    MOST.store(start, Relaxed);
    compile(&parse(&text).unwrap(), &CompileOptions::default()).unwrap();
    MOST.load(Relaxed) - start
}

#[test]
fn chains_of_products_take_at_most_3_kb_an_equation() {
    let (short, long) = (most(1000), most(3000));
    let equations = 2 * (3000 - 1000);
    let each = (long - short) / equations;
    assert!(each < 3000, "{each} bytes an equation");
}
