//! Losses of sequences whose labels say nothing of where they stand.

use jaxide::{Array, DType, Error, nn, numpy, raise, scan};

/// The negative logarithm of the probability that sequences of labels are read from sequences of scores, wherever each label may stand (Graves
/// et al., 2006), one for each sequence.
///
/// `logits` are `[batch, time, classes]`, of which class 0 is none (a blank), `labels` `[batch, length]`; paddings, of the shapes of
/// `logits` without classes and of `labels`, are 1.0 behind the end of a sequence and 0.0 within. Where a sequence cannot be read, the loss is
/// about `1e5`.
///
/// ```
/// use jaxide_nnx::optim::losses::ctc_loss;
/// use jaxide::{Array, DType};
/// // Two moments, one label: it is read at the first, at the second, or at both.
/// let logits = Array::zeros([1, 2, 2], DType::F32);
/// let loss = ctc_loss(&logits, &Array::zeros([1, 2], DType::F32), &Array::from([[1]]), &Array::zeros([1, 1], DType::F32), 0);
/// assert!((loss.sum().item::<f32>() - -(0.75f32.ln())).abs() < 1e-6);
/// ```
///
/// # Panics
/// When shapes do not fit.
#[track_caller]
pub fn ctc_loss(
    logits: &Array,
    logit_paddings: &Array,
    labels: &Array,
    label_paddings: &Array,
    blank: usize,
) -> Array {
    ctc_loss_with_forward_probs(logits, logit_paddings, labels, label_paddings, blank, -1e5).0
}

/// [`ctc_loss`], and logarithms of what the sums of probabilities are after each moment: `[time, batch, length + 1]` of those that end with
/// a blank behind so many labels, and `[time, batch, length]` of those that end with a label. `log_epsilon` stands for the logarithm of 0.
///
/// # Panics
/// When shapes do not fit.
#[track_caller]
pub fn ctc_loss_with_forward_probs(
    logits: &Array,
    logit_paddings: &Array,
    labels: &Array,
    label_paddings: &Array,
    blank: usize,
    log_epsilon: f64,
) -> (Array, Array, Array) {
    let (&[batch, time, classes], &[labelled, length]) = (logits.shape(), labels.shape()) else {
        mistake(format!(
            "scores `[batch, time, classes]` and labels `[batch, length]` are needed, not {} and {}",
            logits.aval(),
            labels.aval()
        ));
    };
    let fits = batch == labelled
        && logit_paddings.shape() == [batch, time]
        && label_paddings.shape() == [batch, length]
        && blank < classes
        && time > 0;
    if !fits {
        mistake(format!(
            "scores {}, their padding {}, labels {}, their padding {} and the blank {blank} do not fit",
            logits.aval(),
            logit_paddings.aval(),
            labels.aval(),
            label_paddings.aval()
        ));
    }
    let dtype = logits.dtype();
    let chances = nn::log_softmax(logits, -1);
    let of_blank = chances.index(jaxide::idx![.., .., blank..blank + 1]);
    let of_label = numpy::einsum(
        "btk,bnk->tbn",
        &[chances.clone(), nn::one_hot(labels, classes, dtype)],
        (),
    );
    let of_blank = of_blank.transpose([1, 0, 2]);

    // Whether the same label follows, so that a blank must stand between.
    let same = numpy::equal(
        labels.index(jaxide::idx![.., ..-1]),
        labels.index(jaxide::idx![.., 1..]),
    );
    let no = Array::zeros([batch, 1], DType::Bool);
    let again = if length > 0 {
        numpy::concatenate(&[same, no], 1)
    } else {
        same
    }
    .astype(dtype);

    let step = Step {
        again,
        log_epsilon,
        batch,
    };
    let never = |shape: [usize; 2]| numpy::full(shape, log_epsilon, dtype);
    let begin = numpy::concatenate(
        &[Array::zeros([batch, 1], dtype), never([batch, length])],
        1,
    );
    let paddings = logit_paddings.astype(dtype).transpose([1, 0]);
    let (_, (blanks, emitted)) = scan(
        |before: (Array, Array), (of_label, of_blank, padding): (Array, Array, Array)| {
            let after = step.next(&before, &of_label, &of_blank, &padding);
            (after.clone(), after)
        },
        (begin, never([batch, length])),
        (of_label, of_blank, paddings),
        None,
    );

    let last = add_behind_first(&blanks.index(-1), &emitted.index(-1));
    let lengths = length as i64 - label_paddings.sum_axes(1).astype(DType::I32);
    let chosen = nn::one_hot(&lengths, length + 1, dtype);
    let loss = -(&last * chosen).sum_axes(1);
    (loss, blanks.at(-1).set(&last), emitted)
}

#[track_caller]
fn mistake(text: String) -> ! {
    raise(Error::shape(text).in_operation("ctc_loss"))
}

/// Adds probabilities, given by logarithms, to all but the first.
fn add_behind_first(scores: &Array, more: &Array) -> Array {
    let first = scores.index(jaxide::idx![.., ..1]);
    let rest = numpy::logaddexp(scores.index(jaxide::idx![.., 1..]), more);
    numpy::concatenate(&[first, rest], 1)
}

/// A moment of the recurrence.
struct Step {
    again: Array,
    log_epsilon: f64,
    batch: usize,
}

impl Step {
    /// The probabilities after a moment, of those before it.
    fn next(
        &self,
        (blanks, emitted): &(Array, Array),
        of_label: &Array,
        of_blank: &Array,
        padding: &Array,
    ) -> (Array, Array) {
        let direct = add_behind_first(blanks, &(emitted + self.log_epsilon * &self.again));
        let before_last = direct.index(jaxide::idx![.., ..-1]);
        let next_emitted = numpy::logaddexp(before_last + of_label, emitted + of_label);
        let through_blank = emitted + of_blank + self.log_epsilon * (1.0 - &self.again);
        let next_blanks = add_behind_first(&(&direct + of_blank), &through_blank);
        let padding = padding.reshape([self.batch, 1]);
        let keep = |old: &Array, new: Array| &padding * old + (1.0 - &padding) * new;
        (keep(blanks, next_blanks), keep(emitted, next_emitted))
    }
}
