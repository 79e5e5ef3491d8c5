//! Plots the cost of long texts.

use std::path::Path;

use plotters::prelude::*;

use crate::long_texts::{Cost, SIZES};

/// Maximum cost of any text, in milliseconds.
const LIMIT: f64 = 5.0;

/// Draws one line per construct on logarithmic axes; linear cost rises like the grey line.
pub(crate) fn draw(costs: &[Cost], file: &Path) {
    let root = SVGBackend::new(file, (900, 560)).into_drawing_area();
    root.fill(&WHITE).expect("drawable");
    let mut chart = ChartBuilder::on(&root)
        .caption(
            "A verdict on one long text, by construct",
            ("sans-serif", 20),
        )
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d((1.0..128.0).log_scale(), (0.001..10.0).log_scale())
        .expect("axes");
    chart
        .configure_mesh()
        .x_desc("length of the text in KiB")
        .y_desc("best time in ms")
        .x_label_formatter(&|size| format!("{size:.0}"))
        .y_label_formatter(&|time| format!("{time}"))
        .draw()
        .expect("a mesh");
    let limit = [(1.0, LIMIT), (128.0, LIMIT)];
    chart
        .draw_series(LineSeries::new(limit, RED.stroke_width(2)))
        .expect("the limit");
    let linear = [(1.0, 0.02), (128.0, 0.02 * 128.0)];
    chart
        .draw_series(LineSeries::new(linear, BLACK.mix(0.3).stroke_width(6)))
        .expect("a line");
    for (number, cost) in costs.iter().enumerate() {
        let times = cost.times.iter().map(|time| time.as_secs_f64() * 1e3);
        let points = SIZES.iter().map(|size| *size as f64).zip(times);
        let color = Palette99::pick(number).mix(0.8);
        chart
            .draw_series(LineSeries::new(points, &color))
            .expect("a construct");
    }
    root.present().expect("writable");
}
