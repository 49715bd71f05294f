//! Ending runs from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Result};

/// A handle that ends runs: the interpreter at the next equation, native code at the next turn of a loop or the next
/// kernel. Clones are the same handle; once cancelled it stays so.
///
/// ```
/// use jaxide_core::{Cancel, ErrorKind, Tensor, eval, parse};
/// let forever = parse(
///     "{ lambda ; a:i32[]. let
///         b:i32[] = while[
///           body_jaxpr={ lambda ; c:i32[]. let d:i32[] = add c 1:i32[] in (d,) }
///           body_nconsts=0
///           cond_jaxpr={ lambda ; c:i32[]. let d:bool[] = eq c c in (d,) }
///           cond_nconsts=0
///         ] a
///       in (b,) }",
/// )
/// .unwrap();
/// let cancel = Cancel::new();
/// let other = cancel.clone();
/// let run = std::thread::spawn(move || eval::eval_with(&forever, &[Tensor::scalar(0)], &other));
/// cancel.cancel();
/// assert_eq!(run.join().unwrap().unwrap_err().kind(), ErrorKind::Cancelled);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    deadline: Option<(Instant, Duration)>,
}

impl Cancel {
    /// A handle that nobody has cancelled.
    pub fn new() -> Self {
        Cancel::default()
    }

    /// A handle that is cancelled after this time, counted from now, if not before.
    #[must_use]
    pub fn after(limit: Duration) -> Self {
        Cancel {
            flag: Arc::default(),
            deadline: Instant::now()
                .checked_add(limit)
                .map(|deadline| (deadline, limit)),
        }
    }

    /// The same handle for who need not look at the clock, because somebody else cancels it in time.
    #[must_use]
    pub fn without_deadline(&self) -> Self {
        Cancel {
            flag: self.flag.clone(),
            deadline: None,
        }
    }

    /// Ends the runs that have this handle. It may be called from a signal handler.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Whether it was cancelled, or its time is over.
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed) || self.time_left().is_some_and(|left| left.is_zero())
    }

    /// The time that is left, if that is limited.
    pub fn time_left(&self) -> Option<Duration> {
        let (deadline, _) = self.deadline?;
        Some(deadline.saturating_duration_since(Instant::now()))
    }

    /// What [`Self::cancel`] sets.
    pub fn flag(&self) -> &AtomicBool {
        &self.flag
    }

    /// # Errors
    /// When it was cancelled, or its time is over; the message says which.
    pub fn check(&self) -> Result<()> {
        if !self.is_cancelled() {
            return Ok(());
        }
        let message = match self.deadline {
            Some((deadline, limit)) if Instant::now() >= deadline => {
                format!("the run took longer than {limit:?}")
            }
            _ => "the run was cancelled".to_owned(),
        };
        Err(Error::new(ErrorKind::Cancelled, message))
    }
}
