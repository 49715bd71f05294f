//! Signals and limits of time that end the program: it ends as it would without them, and leaves no half-written files.

use std::time::Duration;

use jaxide_core::Cancel;

use crate::output::complain;

/// The exit status when the time is over that `--time-limit` gives, as that of `timeout`.
pub(crate) const OUT_OF_TIME: u8 = 124;

/// What ends by itself when its time is over has so much more to do it, with a better message.
const GRACE: Duration = Duration::from_millis(500);

/// Ends the program some time from now, whatever it does then: first what `cancel` ends.
pub(crate) fn end_after(limit: Duration, cancel: Cancel) {
    let end = move || {
        std::thread::sleep(limit);
        cancel.cancel();
        std::thread::sleep(GRACE);
        jaxide::io::abandon_writes();
        complain(format_args!(
            "error: the command took longer than {limit:?}"
        ));
        std::process::exit(OUT_OF_TIME.into());
    };
    // Where there is no thread to be had, what looks at the clock itself ends in time all the same.
    let _ = std::thread::Builder::new()
        .name("time limit".to_owned())
        .spawn(end);
}

/// Begins to listen. Where that is impossible, signals do what they do anyway.
#[cfg(unix)]
pub(crate) fn listen() {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    // Files that become larger than allowed are then errors of writing.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    // Who started the program may have had it ignore some, as `nohup` does.
    let ignored = ignored();
    let heard = [SIGINT, SIGTERM, SIGHUP].into_iter();
    let heard = heard.filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let Ok(mut signals) = Signals::new(heard) else {
        return;
    };
    let listener = move || {
        if let Some(signal) = signals.forever().next() {
            jaxide::io::abandon_writes();
            let _ = emulate_default_handler(signal);
        }
    };
    let _ = std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(listener);
}

/// Begins to listen. Where that is impossible, signals do what they do anyway.
#[cfg(not(unix))]
pub(crate) fn listen() {}

/// The signals that the process ignores, one per bit, as far as the system tells.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
