//! Connectionist temporal classification (Graves et al., 2006).

use jaxide::{Array, DType, Error, nn, numpy, raise};

/// What [`ctc_loss`] takes.
#[derive(Clone, Copy, Debug)]
pub struct Ctc {
    /// The class that stands for nothing.
    pub blank_id: usize,
    /// What counts as the logarithm of 0.
    pub log_epsilon: f64,
}

impl Default for Ctc {
    fn default() -> Self {
        Ctc {
            blank_id: 0,
            log_epsilon: -1e5,
        }
    }
}

/// That the shapes fit: logits `[batch, time, classes]`, their paddings `[batch, time]`, labels and theirs `[batch, labels]`.
#[track_caller]
fn check(logits: &Array, logit_paddings: &Array, labels: &Array, label_paddings: &Array, o: Ctc) {
    let (l, p) = (logits.shape(), logit_paddings.shape());
    let (n, q) = (labels.shape(), label_paddings.shape());
    let fits = l.len() == 3 && p == &l[..2] && n.len() == 2 && n == q && n[0] == l[0];
    if !fits {
        raise(Error::shape(format!(
            "logits {l:?} with paddings {p:?} and labels {n:?} with paddings {q:?} are not [batch, time, classes], \
             [batch, time], [batch, labels] and [batch, labels]"
        )).in_operation("ctc_loss"));
    }
    if o.blank_id >= l[2] || l[1] == 0 {
        let message = format!(
            "there are {} classes at {} times: no class {}",
            l[2], l[1], o.blank_id
        );
        raise(Error::parameter(message).in_operation("ctc_loss"));
    }
}

/// `phi` with something added behind the first column, in logarithms.
fn more(phi: &Array, added: &Array) -> Array {
    let rest = numpy::logaddexp(phi.index(jaxide::idx![.., 1..]), added);
    numpy::concatenate(&[phi.index(jaxide::idx![.., ..1]), rest], 1)
}

/// [`ctc_loss`], and the logarithms of the chances of all beginnings of the labels: `[time, batch, labels + 1]` that end in a
/// blank, and `[time, batch, labels]` that end in a label.
///
/// # Panics
/// As [`ctc_loss`].
#[track_caller]
pub fn ctc_loss_with_forward_probs(
    logits: &Array,
    logit_paddings: &Array,
    labels: &Array,
    label_paddings: &Array,
    o: Ctc,
) -> (Array, Array, Array) {
    check(logits, logit_paddings, labels, label_paddings, o);
    let (batch, classes) = (logits.shape()[0], logits.shape()[2]);
    let (length, dtype) = (labels.shape()[1], logits.dtype());
    let no = o.log_epsilon;
    let log_probs = nn::log_softmax(logits, ());
    let lengths = length as i64 - label_paddings.sum_axes(1).astype(DType::I32);
    // Whether the next label is the same.
    let next = numpy::equal(
        labels.index(jaxide::idx![.., 1..]),
        labels.index(jaxide::idx![.., ..-1]),
    );
    let last = Array::zeros([batch, length.min(1)], dtype);
    let repeat = &numpy::concatenate(&[next.astype(dtype), last], 1);
    let changes: &Array = &(1.0 - repeat);
    let blank = o.blank_id as i64;
    let of_blank = log_probs.index(jaxide::idx![.., .., blank..blank + 1]);
    let one_hot = nn::one_hot(labels, classes, ()).astype(dtype);
    let of_labels = numpy::einsum("btk,bnk->tbn", &[log_probs.clone(), one_hot], ());
    let times = (
        of_labels,
        numpy::transpose(&of_blank, [1, 0, 2]),
        numpy::transpose(
            &numpy::expand_dims(&logit_paddings.astype(dtype), -1),
            [1, 0, 2],
        ),
    );
    let begun = Array::zeros([batch, 1], dtype);
    let nothing = numpy::full([batch, length], no, dtype);
    let init = (numpy::concatenate(&[begun, nothing.clone()], 1), nothing);
    let (_, (phi, emit)) = jaxide::scan(
        |(phi, emit): (Array, Array), (of_labels, of_blank, pad): (Array, Array, Array)| {
            let after = more(&phi, &(&emit + no * repeat));
            let begins = after.index(jaxide::idx![.., ..-1]) + &of_labels;
            let next_emit = numpy::logaddexp(begins, &emit + &of_labels);
            let next_phi = more(&(after + &of_blank), &(&emit + &of_blank + no * changes));
            let here: Array = 1.0 - &pad;
            let next_emit = &pad * emit + &here * next_emit;
            let next_phi = &pad * phi + here * next_phi;
            let next = (next_phi, next_emit);
            (next.clone(), next)
        },
        init,
        times,
        None,
    );
    let ends = more(&phi.index(-1), &emit.index(-1));
    let phi = numpy::concatenate(
        &[phi.index(jaxide::idx![..-1]), numpy::expand_dims(&ends, 0)],
        0,
    );
    let at_end = nn::one_hot(&lengths, length + 1, ()).astype(dtype);
    (-(ends * at_end).sum_axes(1), phi, emit)
}

/// The negative logarithms of the chances that logits in time, `[batch, time, classes]`, are read as labels, `[batch, labels]`, with
/// blanks between and repetitions. Paddings are 1 where there is nothing: `[batch, time]` and `[batch, labels]`.
///
/// # Panics
/// When the shapes do not fit each other.
///
/// ```
/// use jaxide_nnx::optim::losses::{Ctc, ctc_loss};
/// use jaxide::{Array, DType};
/// let logits = Array::zeros([1, 2, 2], DType::F32);
/// let loss = ctc_loss(&logits, &Array::from([[0.0f32, 0.0]]), &Array::from([[1]]), &Array::from([[0.0f32]]), Ctc::default());
/// // Of four ways of two times, three are read as the label.
/// assert!((loss.item::<f32>() + 0.75f32.ln()).abs() < 1e-6);
/// ```
#[track_caller]
pub fn ctc_loss(
    logits: &Array,
    logit_paddings: &Array,
    labels: &Array,
    label_paddings: &Array,
    o: Ctc,
) -> Array {
    ctc_loss_with_forward_probs(logits, logit_paddings, labels, label_paddings, o).0
}
