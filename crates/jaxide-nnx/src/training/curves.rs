//! Curves as a picture.

use std::path::Path;

use jaxide::core::ErrorKind;
use jaxide::{Error, Result, io};
use plotters::prelude::*;
use plotters::style::{FontFamily, FontStyle};

/// What was measured on the way, by name, for a picture.
///
/// ```
/// use jaxide_nnx::training::Curves;
/// let mut curves = Curves::new("digits");
/// for step in 0..10 {
///     curves.note("loss", f64::from(step), 1.0 / f64::from(step + 1));
///     curves.note("accuracy", f64::from(step), 1.0 - 0.5 / f64::from(step + 1));
/// }
/// assert!(curves.svg()?.contains("accuracy"));
/// # Ok::<(), jaxide::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Curves {
    title: String,
    curves: Vec<Curve>,
}

#[derive(Clone, Debug)]
struct Curve {
    name: String,
    points: Vec<(f64, f64)>,
}

/// Width of a picture, and height of each of its curves, in pixels.
const SIZE: (u32, u32) = (720, 220);

impl Curves {
    /// No curves yet.
    pub fn new(title: impl Into<String>) -> Self {
        Curves {
            title: title.into(),
            curves: Vec::new(),
        }
    }

    /// A point more on the curve of that name. Values that are not finite leave a gap.
    pub fn note(&mut self, name: &str, step: f64, value: f64) {
        match self.curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push((step, value)),
            None => self.curves.push(Curve {
                name: name.to_owned(),
                points: vec![(step, value)],
            }),
        }
    }

    /// The picture as SVG: a panel for each curve, one below the other, each with axes of its own.
    ///
    /// # Errors
    /// When nothing was noted.
    pub fn svg(&self) -> Result<String> {
        if self.curves.is_empty() {
            return Err(Error::parameter("nothing was noted").in_operation("Curves::svg"));
        }
        let mut text = String::new();
        let height = SIZE.1 * self.curves.len() as u32 + 30;
        let root = SVGBackend::with_string(&mut text, (SIZE.0, height)).into_drawing_area();
        let drawn = self.draw(&root);
        drop(root);
        drawn.map_err(|error| Error::new(ErrorKind::Parameter, error.to_string()))?;
        Ok(text)
    }

    /// Writes the picture, to a file that is there as a whole or not at all.
    ///
    /// # Errors
    /// When nothing was noted, or the file cannot be written.
    pub fn write_svg(&self, path: impl AsRef<Path>) -> Result<()> {
        io::write_file(path, self.svg()?.as_bytes())
    }

    fn draw<'a>(
        &self,
        root: &DrawingArea<SVGBackend<'a>, plotters::coord::Shift>,
    ) -> std::result::Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>
    {
        root.fill(&WHITE)?;
        let panels = root
            .titled(&self.title, font(18))?
            .split_evenly((self.curves.len(), 1));
        for (place, (curve, panel)) in self.curves.iter().zip(&panels).enumerate() {
            let mut chart = ChartBuilder::on(panel)
                .caption(&curve.name, font(14))
                .margin_right(16)
                .x_label_area_size(24)
                .y_label_area_size(64)
                .build_cartesian_2d(
                    around(curve.points.iter().map(|point| point.0)),
                    around(curve.points.iter().map(|point| point.1)),
                )?;
            chart
                .configure_mesh()
                .light_line_style(TRANSPARENT)
                .bold_line_style(BLACK.mix(0.1))
                .x_label_formatter(&short)
                .y_label_formatter(&short)
                .y_labels(5)
                .label_style(font(11))
                .draw()?;
            let color = Palette99::pick(place).stroke_width(2);
            for part in curve.points.split(|point| !point.1.is_finite()) {
                chart.draw_series(LineSeries::new(part.iter().copied(), color))?;
            }
        }
        root.present()
    }
}

fn font(size: i32) -> TextStyle<'static> {
    FontDesc::new(FontFamily::SansSerif, f64::from(size), FontStyle::Normal).into()
}

/// A number of an axis, with four digits at most.
fn short(value: &f64) -> String {
    let digits = if value.abs() < 1.0 { 4 } else { 2 };
    let text = format!("{value:.digits$}");
    match text.split_once('.') {
        Some((whole, part)) if part.bytes().all(|digit| digit == b'0') => whole.to_owned(),
        Some(_) => text.trim_end_matches('0').to_owned(),
        None => text,
    }
}

/// From the least to the greatest of the finite values, and never nothing.
fn around(values: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (least, greatest) = values.filter(|value| value.is_finite()).fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(least, greatest), value| (least.min(value), greatest.max(value)),
    );
    if least < greatest {
        least..greatest
    } else if least == greatest {
        let half = least.abs().max(1.0) / 2.0;
        least - half..least + half
    } else {
        0.0..1.0
    }
}
