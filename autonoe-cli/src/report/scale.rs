//! Scales, axes, grids and legends of figures.
//!
//! Shapes stretch to the width of the page. Labels are HTML text, so that they stay readable on a
//! phone and in print.

use std::time::Duration;

use autonoe_core::time::format_duration;
use jiff::Timestamp;
use maud::{Markup, html};

/// Width of a figure, in its own units.
pub(super) const WIDTH: f64 = 1000.0;

/// Maps the time of a run to horizontal positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeScale {
    from: Timestamp,
    length: Duration,
}

/// Tick of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    /// Position, from 0 to 1.
    pub(super) at: f64,
    pub(super) label: String,
}

impl TimeScale {
    pub(super) fn new(from: Timestamp, until: Timestamp) -> Self {
        Self {
            from,
            length: since(from, until).max(Duration::from_secs(1)),
        }
    }

    /// Returns the position of a time, in units of a figure.
    pub(super) fn x(&self, at: Timestamp) -> f64 {
        let part = since(self.from, at).as_secs_f64() / self.length.as_secs_f64();
        part.clamp(0.0, 1.0) * WIDTH
    }

    /// Returns at most six ticks at round times since the start.
    fn ticks(&self) -> Vec<Tick> {
        const STEPS: [u64; 18] = [
            1,
            2,
            5,
            10,
            20,
            30,
            60,
            2 * 60,
            5 * 60,
            10 * 60,
            20 * 60,
            30 * 60,
            3600,
            2 * 3600,
            4 * 3600,
            8 * 3600,
            24 * 3600,
            2 * 24 * 3600,
        ];
        const MOST: u64 = 5;
        let seconds = self.length.as_secs();
        let fits = STEPS.into_iter().find(|step| seconds / step <= MOST);
        let step = fits.unwrap_or_else(|| (seconds / MOST / 86_400 + 1) * 86_400);
        let marks = (0..=seconds / step).map(|count| {
            let offset = Duration::from_secs(count * step);
            Tick {
                at: offset.as_secs_f64() / self.length.as_secs_f64(),
                label: axis_time(offset),
            }
        });
        marks.collect()
    }
}

/// Returns the duration between two times; zero if `until` is before `from`.
pub(super) fn since(from: Timestamp, until: Timestamp) -> Duration {
    Duration::try_from(until.duration_since(from)).unwrap_or_default()
}

fn axis_time(offset: Duration) -> String {
    let seconds = offset.as_secs();
    match (seconds, seconds % 86_400) {
        (0, _) => "0".to_owned(),
        (_, 0) => format!("{}d", seconds / 86_400),
        _ => format_duration(offset),
    }
}

/// Returns three to five round values from 0 to at least `most`; 0 and 1 if `most` is not positive
/// and finite.
pub(super) fn value_steps(most: f64) -> Vec<f64> {
    if !most.is_finite() || most <= 0.0 {
        return vec![0.0, 1.0];
    }
    let magnitude = 10_f64.powf((most / 4.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * magnitude)
        .into_iter()
        .find(|step| most / step <= 4.0)
        .unwrap_or(most);
    let count = (most / step - 1e-9).ceil().max(1.0);
    let mut steps = vec![0.0];
    while steps.len() as f64 <= count {
        steps.push(step * steps.len() as f64);
    }
    steps
}

/// Formats a coordinate with at most two decimals, so that files are small and reproducible.
pub(super) fn coordinate(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// Meaning of a colour in a figure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) class: &'static str,
    pub(super) label: &'static str,
}

/// Renders the labels of the time axis.
pub(super) fn time_axis(scale: &TimeScale) -> Markup {
    html! {
        div.xaxis aria-hidden="true" {
            @for (index, tick) in scale.ticks().iter().enumerate() {
                span.first[index == 0].last[tick.at > 0.9] style=(left(tick)) { (tick.label) }
            }
        }
    }
}

/// Renders the labels of the value axis.
pub(super) fn value_axis(ticks: &[Tick]) -> Markup {
    html! {
        div.yaxis aria-hidden="true" {
            @for tick in ticks {
                span style={ "bottom:" (coordinate(tick.at * 100.0)) "%" } { (tick.label) }
            }
        }
    }
}

/// Renders grid lines at the ticks, for a figure of this height.
pub(super) fn grid(scale: &TimeScale, values: &[Tick], height: f64) -> Markup {
    html! {
        @for tick in scale.ticks() {
            @let x = coordinate(tick.at * WIDTH);
            line.grid x1=(x) x2=(x) y1="0" y2=(coordinate(height)) {}
        }
        @for tick in values {
            @let y = coordinate(height - tick.at * height);
            line.grid x1="0" x2=(coordinate(WIDTH)) y1=(y) y2=(y) {}
        }
    }
}

pub(super) fn legend(keys: &[Key]) -> Markup {
    html! {
        ul.legend {
            @for key in keys {
                li { span class={ "swatch " (key.class) } {} (key.label) }
            }
        }
    }
}

fn left(tick: &Tick) -> String {
    format!("left:{}%", coordinate(tick.at * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_767_225_600 + seconds).expect("a time")
    }

    #[test]
    fn ticks_are_at_round_times_for_runs_of_any_length() {
        for (seconds, labels) in [
            (0, "0 1s"),
            (4, "0 1s 2s 3s 4s"),
            (95, "0 20s 40s 1m 1m 20s"),
            (3600, "0 20m 40m 1h"),
            (5 * 3600 + 60, "0 1h 2h 3h 4h 5h"),
            (86_400 * 3, "0 1d 2d 3d"),
            (86_400 * 100, "0 21d 42d 63d 84d"),
        ] {
            let ticks = TimeScale::new(after(0), after(seconds)).ticks();

            let found: Vec<_> = ticks.iter().map(|tick| tick.label.as_str()).collect();
            assert_eq!(found.join(" "), labels, "{seconds}");
            assert!(ticks.iter().all(|tick| (0.0..=1.0).contains(&tick.at)));
        }
    }

    #[test]
    fn times_outside_of_the_run_are_clamped_to_the_edges() {
        let scale = TimeScale::new(after(0), after(100));

        let places = [-5, 0, 25, 100, 1000].map(|seconds| scale.x(after(seconds)));

        assert_eq!(places, [0.0, 0.0, 250.0, 1000.0, 1000.0]);
    }

    #[test]
    fn value_steps_are_round_and_reach_the_maximum() {
        for (most, steps) in [
            (0.0, vec![0.0, 1.0]),
            (f64::NAN, vec![0.0, 1.0]),
            (1.0, vec![0.0, 0.5, 1.0]),
            (3.0, vec![0.0, 1.0, 2.0, 3.0]),
            (17.0, vec![0.0, 5.0, 10.0, 15.0, 20.0]),
            (1000.0, vec![0.0, 500.0, 1000.0]),
        ] {
            assert_eq!(value_steps(most), steps, "{most}");
        }
    }

    #[test]
    fn coordinates_are_short() {
        for (value, text) in [(0.0, "0"), (-0.001, "0"), (12.5, "12.5"), (1000.0, "1000")] {
            assert_eq!(coordinate(value), text);
        }
    }
}
