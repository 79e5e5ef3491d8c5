//! Common parts of figures: axes, grid and legend.
//!
//! Shapes stretch to the width of the page. Labels are HTML text, so that they stay readable on a
//! phone and in print.

use maud::{Markup, html};

use super::scale::{Tick, TimeScale, coordinate};

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
            @let x = coordinate(tick.at * super::scale::WIDTH);
            line.grid x1=(x) x2=(x) y1="0" y2=(coordinate(height)) {}
        }
        @for tick in values {
            @let y = coordinate(height - tick.at * height);
            line.grid x1="0" x2=(coordinate(super::scale::WIDTH)) y1=(y) y2=(y) {}
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
