//! Lists of free blocks, in every order in which threads may take and keep: none is lost, doubled or miscounted.

use jaxide_models::free::Free;
use loom::sync::Arc;
use loom::thread;

const BYTES: usize = 10;

/// Takes a thing of one of two classes, or makes one, and gives it back. What it could not give back.
fn take_and_keep(free: &Free<usize>, class: usize, own: usize) -> Option<usize> {
    let thing = free.take(class, BYTES).unwrap_or(own);
    free.keep(class, BYTES, thing)
}

/// All that is kept, and whether as much is counted.
fn kept(free: &Free<usize>) -> Vec<usize> {
    let counted = free.retained();
    let all: Vec<usize> = (0..2)
        .flat_map(|class| free.take_all(class, BYTES))
        .collect();
    assert_eq!(counted, all.len() * BYTES);
    assert_eq!(free.retained(), 0);
    all
}

fn threads(limit: usize, classes: [usize; 2], release: bool) {
    loom::model(move || {
        let free = Arc::new(Free::new(2, limit));
        assert_eq!(free.keep(0, BYTES, 100), None);
        let workers: Vec<_> = (classes.into_iter().enumerate())
            .map(|(own, class)| {
                let free = free.clone();
                thread::spawn(move || take_and_keep(&free, class, own))
            })
            .collect();
        let mut all = if release {
            free.take_all(0, BYTES)
        } else {
            Vec::new()
        };
        all.extend(
            workers
                .into_iter()
                .filter_map(|worker| worker.join().unwrap()),
        );
        let rest = kept(&free);
        assert!(rest.len() * BYTES <= limit);
        all.extend(rest);
        // The one from the beginning is somewhere, and everything is where it is once.
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert!(all.contains(&100) && count <= 3);
    });
}

#[test]
fn two_threads_share_a_list() {
    threads(100, [0, 0], false);
}

#[test]
fn a_limit_is_kept() {
    threads(BYTES, [0, 0], false);
    threads(BYTES, [0, 1], false);
}

#[test]
fn what_is_released_meanwhile_is_released_once() {
    threads(100, [0, 0], true);
}
