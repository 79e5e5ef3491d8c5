//! Charts of the cost and the deliverables over time.

use autonoe_core::Mode;
use autonoe_core::ledger::LedgerView;
use jiff::Timestamp;
use maud::{Markup, html};

use super::facts::Facts;
use super::format::{thousands, total};
use super::scale::{
    Key, Tick, TimeScale, WIDTH, coordinate, grid, legend, time_axis, value_axis, value_steps,
};

/// Height of a chart, in its own units.
const HEIGHT: f64 = 300.0;

/// Value of a curve from a time until the next step.
type Step = (Timestamp, f64);

pub(super) fn cost(facts: &Facts) -> Markup {
    let timeline = &facts.timeline;
    const PICOS: f64 = 1e12;
    let mut steps: Vec<Step> = vec![(timeline.from, 0.0)];
    let known = timeline.cost.iter();
    steps.extend(known.map(|point| (point.at, point.total.known_usd.picos() as f64 / PICOS)));
    let max_value = steps.last().map_or(0.0, |(_, dollars)| *dollars);
    let marks = value_steps(max_value);
    let decimals = if marks[1] < 0.01 { 4 } else { 2 };
    let top = marks.last().copied().unwrap_or(1.0);
    let values = ticks(&marks, |value| format!("${value:.decimals$}"));
    let spent = timeline
        .cost
        .last()
        .map(|point| point.total)
        .unwrap_or_default();
    let summary = format!(
        "The cost grows from $0.00 to {} over the run.",
        total(spent)
    );
    let keys = [Key {
        class: "cost",
        label: "total cost of ended sessions",
    }];
    let bands = [Band {
        class: "cost",
        upper: steps,
    }];
    chart(
        facts,
        ("cost", "Cost"),
        &summary,
        &values,
        top,
        &bands,
        &keys,
    )
}

pub(super) fn deliverables(facts: &Facts) -> Markup {
    let timeline = &facts.timeline;
    let is_sync = timeline.mode == Mode::Sync;
    let curve = |value: fn(&LedgerView) -> usize| -> Vec<Step> {
        let points = timeline.progress.iter();
        points
            .map(|point| (point.at, value(&point.ledger) as f64))
            .collect()
    };
    let max_value = timeline
        .progress
        .iter()
        .map(|point| point.ledger.counts.total)
        .max()
        .unwrap_or(0);
    let marks = match max_value {
        0..4 => (0..=max_value.max(1)).map(|value| value as f64).collect(),
        max_value => value_steps(max_value as f64),
    };
    let top = marks.last().copied().unwrap_or(1.0);
    let values = ticks(&marks, |value| thousands(value as u64));
    let last = timeline
        .progress
        .last()
        .map(|point| point.ledger)
        .unwrap_or_default();
    let counts = last.counts;
    // From back to front: each band covers a part of the previous one.
    let layers: &[Layer] = if is_sync {
        &[
            ("pending", "to be verified", |ledger| ledger.counts.total),
            ("passed", "verified", |ledger| ledger.verified),
        ]
    } else {
        &[
            ("pending", "open", |ledger| ledger.counts.total),
            ("blocked", "blocked", |ledger| {
                ledger.counts.passed + ledger.counts.blocked
            }),
            ("passed", "passed", |ledger| ledger.counts.passed),
        ]
    };
    let bands: Vec<_> = layers
        .iter()
        .map(|&(class, _, value)| Band {
            class,
            upper: curve(value),
        })
        .collect();
    let keys: Vec<_> = layers
        .iter()
        .rev()
        .map(|&(class, label, _)| Key { class, label })
        .collect();
    let summary = if is_sync {
        format!(
            "At the end: {} of {} deliverables verified.",
            last.verified, counts.total
        )
    } else {
        format!(
            "At the end: {} of {} deliverables passed, {} blocked, {} open.",
            counts.passed,
            counts.total,
            counts.blocked,
            counts.pending()
        )
    };
    let name = ("progress", "Deliverables");
    chart(facts, name, &summary, &values, top, &bands, &keys)
}

/// Class, label and value of a band in the chart of deliverables.
type Layer = (&'static str, &'static str, fn(&LedgerView) -> usize);

/// Returns the ticks of an axis at these values, which end at its top.
fn ticks(values: &[f64], label: impl Fn(f64) -> String) -> Vec<Tick> {
    let top = values.last().copied().unwrap_or(1.0);
    let ticks = values.iter().map(|value| Tick {
        at: value / top,
        label: label(*value),
    });
    ticks.collect()
}

/// Area between zero and a curve.
struct Band {
    class: &'static str,
    upper: Vec<Step>,
}

fn chart(
    facts: &Facts,
    (id, name): (&str, &str),
    summary: &str,
    values: &[Tick],
    top: f64,
    bands: &[Band],
    keys: &[Key],
) -> Markup {
    let timeline = &facts.timeline;
    let scale = TimeScale::new(timeline.from, timeline.until);
    html! {
        section.panel aria-labelledby=(id) {
            h2 id=(id) { (name) " over time" }
            figure {
                div.chart role="img" aria-label=(summary) {
                    (value_axis(values))
                    svg viewBox={ "0 0 " (coordinate(WIDTH)) " " (coordinate(HEIGHT)) }
                        preserveAspectRatio="none" aria-hidden="true" {
                        (grid(&scale, values, HEIGHT))
                        @for band in bands {
                            @let line = step_curve(&scale, &band.upper, top, timeline.until);
                            @if let (Some(first), Some(last)) = (line.first(), line.last()) {
                                path class={ "area " (band.class) }
                                    d={ "M" (coordinate(first.0)) " " (coordinate(HEIGHT)) (path(&line, 'L'))
                                        "L" (coordinate(last.0)) " " (coordinate(HEIGHT)) "Z" } {}
                                path class={ "curve " (band.class) } d=(path(&line, 'M')) {}
                            }
                        }
                    }
                    (time_axis(&scale))
                }
                figcaption { p { (summary) } (legend(keys)) }
            }
        }
    }
}

/// Builds a step curve, which jumps at each step and stays level until the next.
fn step_curve(scale: &TimeScale, steps: &[Step], top: f64, until: Timestamp) -> Vec<(f64, f64)> {
    let mut line: Vec<(f64, f64)> = Vec::new();
    for (at, value) in steps {
        let (x, y) = (scale.x(*at), HEIGHT - value / top * HEIGHT);
        if let Some((_, before)) = line.last().copied() {
            line.push((x, before));
        }
        line.push((x, y));
    }
    if let Some((_, y)) = line.last().copied() {
        line.push((scale.x(until), y));
    }
    line
}

fn path(line: &[(f64, f64)], first: char) -> String {
    let points = line.iter().enumerate().map(|(index, (x, y))| {
        let command = if index == 0 { first } else { 'L' };
        format!("{command}{} {}", coordinate(*x), coordinate(*y))
    });
    points.collect()
}
