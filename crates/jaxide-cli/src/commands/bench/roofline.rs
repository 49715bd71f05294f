//! The picture of a profile: operations in a second over operations for a byte, below the roof that the machine is.

use std::fmt::Write;

use super::profile::{Profile, Step, size};

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 520.0;
/// Where the axes begin and end, from the left and from above.
const X: (f64, f64) = (70.0, 600.0);
const Y: (f64, f64) = (50.0, 460.0);
/// Powers of two of operations for a byte.
const INTENSITY: (f64, f64) = (-6.0, 10.0);
/// Steps that are named beside the picture.
const NAMED: usize = 24;

/// The picture as SVG.
pub(super) fn svg(profile: &Profile, title: &str) -> String {
    let machine = &profile.machine;
    let top = machine.flops.log10().ceil();
    let bottom = top - 6.0;
    let x = |intensity: f64| {
        let at = (intensity.max(1e-9).log2().clamp(INTENSITY.0, INTENSITY.1) - INTENSITY.0)
            / (INTENSITY.1 - INTENSITY.0);
        X.0 + at * (X.1 - X.0)
    };
    let y = |rate: f64| {
        let at = (rate.max(1.0).log10().clamp(bottom, top) - bottom) / (top - bottom);
        Y.1 - at * (Y.1 - Y.0)
    };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    let mut text = |at: (f64, f64), anchor: &str, size: u32, words: &str| {
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\">{}</text>",
            at.0,
            at.1,
            escaped(words)
        );
    };
    let heading = format!(
        "{title}: kernels below the roof of this machine, {} threads",
        profile.threads
    );
    text((X.0, 24.0), "start", 14, &heading);
    text(
        ((X.0 + X.1) / 2.0, Y.1 + 38.0),
        "middle",
        11,
        "operations on floats for a byte",
    );
    text((X.0, Y.0 - 8.0), "middle", 11, "GFLOP/s");
    let mut lines = String::new();
    let mut line = |from: (f64, f64), to: (f64, f64), style: &str| {
        let _ = writeln!(
            lines,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {style}/>",
            from.0, from.1, to.0, to.1
        );
    };
    for power in 0..=6 {
        let rate = 10f64.powf(bottom + f64::from(power));
        line((X.0, y(rate)), (X.1, y(rate)), "stroke=\"#dddddd\"");
        text(
            (X.0 - 6.0, y(rate) + 4.0),
            "end",
            11,
            &format!("{}", rate / 1e9),
        );
    }
    for power in (-6..=10).step_by(2) {
        let at = x(2f64.powi(power));
        line((at, Y.0), (at, Y.1), "stroke=\"#eeeeee\"");
        let words = if power < 0 {
            format!("1/{}", 1 << -power)
        } else {
            format!("{}", 1 << power)
        };
        text((at, Y.1 + 18.0), "middle", 11, &words);
    }
    // The roof: level at the peak, and down to the left as far as each memory goes.
    for (level, &(bytes, rate)) in machine.bandwidth.iter().enumerate() {
        let ridge = machine.flops / rate;
        let low = 2f64.powf(INTENSITY.0);
        let style = format!(
            "stroke=\"{}\" stroke-width=\"1.5\" stroke-dasharray=\"{}\"",
            "#555555",
            2 + 3 * level
        );
        line(
            (x(low), y(low * rate)),
            (x(ridge), y(machine.flops)),
            &style,
        );
        let at = 2f64.powf(INTENSITY.0 + 0.3 + 1.4 * level as f64);
        text(
            (x(at), y(at * rate) - 4.0),
            "start",
            9,
            &format!("copy of {}", size(bytes)),
        );
    }
    let ridge = machine
        .bandwidth
        .iter()
        .map(|level| machine.flops / level.1)
        .fold(f64::INFINITY, f64::min);
    line(
        (x(ridge), y(machine.flops)),
        (X.1, y(machine.flops)),
        "stroke=\"#555555\" stroke-width=\"1.5\"",
    );
    let peak = format!("{:.0} GFLOP/s", machine.flops / 1e9);
    text((X.1, y(machine.flops) - 5.0), "end", 10, &peak);
    let mut points = String::new();
    for (number, step) in profile.steps.iter().enumerate().rev() {
        let at = (x(step.intensity()), y(height(step)));
        let _ = writeln!(
            points,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\" fill=\"{}\" stroke=\"white\"><title>{}</title></circle>",
            at.0,
            at.1,
            colour(step.of_roof()),
            escaped(&format!(
                "{}: {:.0} % of its roof",
                step.name,
                100.0 * step.of_roof()
            ))
        );
        if number < NAMED {
            text(
                (at.0 + 7.0, at.1 + 4.0),
                "start",
                10,
                &format!("{}", number + 1),
            );
        }
    }
    text(
        (X.1 + 24.0, Y.0),
        "start",
        11,
        "the longest first: % of its roof",
    );
    for (number, step) in profile.steps.iter().take(NAMED).enumerate() {
        let words = format!(
            "{} {}: {:.0} %",
            number + 1,
            step.name,
            100.0 * step.of_roof()
        );
        text(
            (X.1 + 24.0, Y.0 + 18.0 + 16.0 * number as f64),
            "start",
            11,
            &words,
        );
    }
    out + &lines + &points + "</svg>\n"
}

/// How high a step stands. One without operations moves bytes alone: it stands at the left edge, below the roof of its memory.
fn height(step: &Step) -> f64 {
    let low = 2f64.powf(INTENSITY.0);
    if step.intensity() < low {
        step.byte_rate() * low
    } else {
        step.flop_rate()
    }
}

fn colour(part: f64) -> &'static str {
    match part {
        0.5.. => "#0072b2",
        0.2..0.5 => "#e69f00",
        _ => "#d55e00",
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
