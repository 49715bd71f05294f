//! What a thread runs ends when it is told to, in every way to run it, and nothing else changes.

use std::time::{Duration, Instant};

use jaxide::prelude::*;
use jaxide::{Cancel, ErrorKind, debug_nans, with_cancel, with_interpreter};

const LIMIT: Duration = Duration::from_millis(30);

/// More than any of the runs here may take to notice.
const SOON: Duration = Duration::from_secs(10);

fn limit() -> Cancel {
    Cancel::after(LIMIT)
}

/// Goes on while its argument is not negative.
fn forever(x: Array) -> Array {
    while_loop(|x: Array| x.min().ge(0.0), |x: Array| x * 0.5, x)
}

/// Never returns, and asks for no value.
fn chain(x: Array) -> Array {
    let mut y = x;
    loop {
        y = (y * 0.5).sin();
    }
}

fn x() -> Array {
    Array::ones(100, DType::F32)
}

#[test]
fn endless_work_ends_in_time() {
    type Work = (&'static str, fn() -> Array);
    let works: [Work; 12] = [
        ("jit", || jit(forever)(x())),
        ("no jit", || forever(x())),
        ("large", || jit(forever)(Array::ones(200_000, DType::F32))),
        ("scalar", || jit(forever)(Array::from(1.0f32))),
        ("interpreter", || with_interpreter(|| forever(x()))),
        ("interpreted jit", || with_interpreter(|| jit(forever)(x()))),
        ("vmap", || {
            jit(vmap(forever))(Array::ones((3, 4), DType::F32))
        }),
        ("jvp", || jvp(forever, (x(),), (x(),)).1),
        ("operations", || chain(x())),
        ("recorded operations", || jit(chain)(x())),
        ("recorded operations of a derivative", || {
            grad(|x: Array| chain(x).sum())(x())
        }),
        ("checked", || debug_nans(|| forever(x()))),
    ];
    for (name, work) in works {
        let start = Instant::now();
        let error = with_cancel(&limit(), work).expect_err(name);
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{name}: {error}");
        assert_eq!(error.message(), "the run took longer than 30ms", "{name}");
        assert!(start.elapsed() < SOON, "{name}");
    }
}

#[test]
fn another_thread_ends_it() {
    let cancel = Cancel::new();
    std::thread::scope(|scope| {
        let work = scope.spawn(|| with_cancel(&cancel, || jit(forever)(x())));
        std::thread::sleep(LIMIT);
        assert!(!work.is_finished());
        cancel.cancel();
        let error = work.join().unwrap().unwrap_err();
        assert_eq!(error.message(), "the run was cancelled");
    });
    // It stays cancelled, and nothing is begun.
    let error = with_cancel(&cancel, || x() + 1.0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}

#[test]
fn what_ends_by_itself_is_as_it_was() {
    let f = jit(|x: Array| (x.sin() * 2.0).sum());
    let want = f(x()).item::<f32>();
    let hour = Cancel::after(Duration::from_secs(3600));
    for handle in [hour.clone(), Cancel::new()] {
        let got = with_cancel(&handle, || {
            (f(x()).item::<f32>(), (x().sin() * 2.0).sum().item::<f32>())
        });
        assert_eq!(got.unwrap(), (want, want));
        assert!(!handle.is_cancelled());
    }
    // Other mistakes are what they are.
    let error = with_cancel(&hour, || x() + Array::ones(7, DType::F32)).unwrap_err();
    assert_eq!(
        (error.kind(), error.operation()),
        (ErrorKind::Shape, Some("add"))
    );
    // Behind the scope there is no limit.
    assert!(with_cancel(&limit(), || forever(x())).is_err());
    assert_eq!(f(x()).item::<f32>(), want);
}

/// Within each other, both count.
#[test]
fn scopes_add_up() {
    let hour = || Cancel::after(Duration::from_secs(3600));
    let start = Instant::now();
    let inner = with_cancel(&hour(), || with_cancel(&limit(), || forever(x())));
    assert_eq!(
        inner.unwrap().unwrap_err().message(),
        "the run took longer than 30ms"
    );
    let own = hour();
    // The inner scope hands on why its work ended, and what follows in the outer one is over too.
    let outer = with_cancel(&limit(), || {
        let inner = with_cancel(&own, || forever(x())).unwrap_err();
        assert_eq!(inner.message(), "the run took longer than 30ms");
        x() + 1.0
    });
    assert_eq!(outer.unwrap_err().kind(), ErrorKind::Cancelled);
    assert!(!own.is_cancelled());
    let cancel = Cancel::new();
    let other = cancel.clone();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(LIMIT);
            other.cancel();
        });
        let ended = with_cancel(&cancel, || {
            with_cancel(&Cancel::new(), || forever(x())).map(drop)
        });
        assert_eq!(
            ended.unwrap().unwrap_err().message(),
            "the run was cancelled"
        );
    });
    assert!(start.elapsed() < SOON);
}

#[test]
fn panics_leave_the_scope() {
    let cancel = Cancel::new();
    let broken = || {
        with_cancel(&cancel, || -> Array {
            std::panic::resume_unwind(Box::new(7))
        })
    };
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(broken)).unwrap_err();
    assert_eq!(payload.downcast_ref::<i32>(), Some(&7));
    cancel.cancel();
    assert_eq!((x() + 1.0).sum().item::<f32>(), 200.0);
}
