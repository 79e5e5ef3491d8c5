//! The figures of all rounds as a table.

use super::clients::{Client, Figures};
use crate::failure::Failure;

/// One line of the table.
struct Row {
    measurement: &'static str,
    place: &'static str,
    decimals: usize,
    aim: Option<Aim>,
}

/// Required advantage over the SDKs.
#[derive(Clone, Copy)]
struct Aim {
    better: Better,
    than_typescript: f64,
    than_python: f64,
}

#[derive(Clone, Copy)]
enum Better {
    More,
    Less,
}

const fn row(measurement: &'static str, place: &'static str, decimals: usize) -> Row {
    Row {
        measurement,
        place,
        decimals,
        aim: None,
    }
}

impl Row {
    const fn aims(mut self, better: Better, than_typescript: f64, than_python: f64) -> Self {
        self.aim = Some(Aim {
            better,
            than_typescript,
            than_python,
        });
        self
    }
}

const ROWS: [Row; 12] = [
    row("messages/s", "/host/messages_per_s", 0).aims(Better::More, 1.5, 4.0),
    row("hook round trips/s, 1 in flight", "/fake/hooks/per_s", 0).aims(Better::More, 1.5, 5.0),
    row("hook round trip, median us", "/fake/hooks/p50_us", 1),
    row("hook round trip, 99 % us", "/fake/hooks/p99_us", 1),
    row(
        "hook round trips/s, 32 in flight",
        "/fake/many_hooks/per_s",
        0,
    )
    .aims(Better::More, 1.5, 5.0),
    row("MCP calls/s", "/fake/calls/per_s", 0).aims(Better::More, 3.0, 20.0),
    row("MCP call, median us", "/fake/calls/p50_us", 1),
    row("MCP call, 99 % us", "/fake/calls/p99_us", 1),
    row("loading the library, s", "/host/load_s", 2),
    row("query to first message, ms", "/host/first_message_ms", 1),
    row("peak memory of the host, MiB", "/host/peak_rss_mib", 1).aims(Better::Less, 10.0, 10.0),
    row("CPU of the host, s", "/host/cpu_s", 2),
];

/// Makes the table of all rounds, which are in the order of [`Client::ALL`].
pub(super) fn render(measured: &[Vec<Figures>; Client::ALL.len()]) -> Result<String, Failure> {
    let rounds = measured[0].len();
    let heads = Client::ALL.iter().zip(measured).map(|(client, figures)| {
        let version = figures.first().map_or("", Figures::version);
        format!("{} {version}", client.name())
    });
    let mut lines = vec![
        format!(
            "| median [least..most] of {rounds} rounds | {} | against TypeScript | against Python |",
            heads.collect::<Vec<_>>().join(" | ")
        ),
        "| --- | --- | --- | --- | --- | --- |".to_owned(),
    ];
    for row in &ROWS {
        lines.push(line(row, measured)?);
    }
    Ok(lines.join("\n"))
}

fn line(row: &Row, measured: &[Vec<Figures>; Client::ALL.len()]) -> Result<String, Failure> {
    let numbers = |figures: &Vec<Figures>| -> Result<Vec<f64>, Failure> {
        let numbers = figures.iter().map(|figures| figures.number(row.place));
        numbers
            .collect::<Option<_>>()
            .ok_or_else(|| Failure::new(format!("a client has no figure {}", row.place)))
    };
    let [autonoe, typescript, python] = measured;
    let (autonoe, typescript, python) = (numbers(autonoe)?, numbers(typescript)?, numbers(python)?);
    let mut cells = vec![row.measurement.to_owned()];
    cells.extend([&autonoe, &typescript, &python].map(|numbers| spread(numbers, row.decimals)));
    cells.extend(match row.aim {
        None => [String::new(), String::new()],
        Some(aim) => [
            verdict(aim.better, &autonoe, &typescript, aim.than_typescript),
            verdict(aim.better, &autonoe, &python, aim.than_python),
        ],
    });
    Ok(format!("| {} |", cells.join(" | ")))
}

/// Says how many times better we are, and whether that is what we want.
///
/// The clients of one round met the same load, so the rounds are compared, not the medians.
fn verdict(better: Better, autonoe: &[f64], others: &[f64], aim: f64) -> String {
    let pairs = autonoe.iter().zip(others);
    let ratios: Vec<f64> = pairs
        .map(|(autonoe, others)| match better {
            Better::More => autonoe / others,
            Better::Less => others / autonoe,
        })
        .collect();
    let reached = if median(&ratios) >= aim {
        "ok"
    } else {
        "missed"
    };
    let less = match better {
        Better::More => "",
        Better::Less => " less",
    };
    format!("{}x{less}, aim {aim}x: {reached}", spread(&ratios, 1))
}

fn spread(numbers: &[f64], decimals: usize) -> String {
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let [median, least, most] =
        [median(numbers), least, most].map(|number| grouped(number, decimals));
    format!("{median} [{least}..{most}]")
}

fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// Writes a number with commas between its thousands.
fn grouped(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    let whole = text.find('.').unwrap_or(text.len());
    let mut grouped = String::new();
    for (place, digit) in text.char_indices() {
        if place > 0 && place < whole && (whole - place) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn numbers_are_written_for_people() {
        for (number, decimals, written) in [
            (0.04, 1, "0.0"),
            (7.25, 1, "7.2"),
            (999.0, 0, "999"),
            (1000.0, 0, "1,000"),
            (1_234_567.89, 1, "1,234,567.9"),
        ] {
            assert_eq!(grouped(number, decimals), written);
        }
        assert_eq!(spread(&[2500.0, 1000.0, 12.0], 0), "1,000 [12..2,500]");
    }

    #[test]
    fn an_aim_is_judged_by_the_median_of_the_rounds() {
        let autonoe = [300.0, 100.0, 240.0];

        for (better, others, aim, expected) in [
            (
                Better::More,
                [100.0, 100.0, 100.0],
                1.5,
                "2.4 [1.0..3.0]x, aim 1.5x: ok",
            ),
            (
                Better::More,
                [100.0, 100.0, 200.0],
                1.5,
                "1.2 [1.0..3.0]x, aim 1.5x: missed",
            ),
            (
                Better::Less,
                [3000.0, 1000.0, 1200.0],
                10.0,
                "10.0 [5.0..10.0]x less, aim 10x: ok",
            ),
        ] {
            assert_eq!(verdict(better, &autonoe, &others, aim), expected);
        }
    }

    #[test]
    fn every_client_has_its_column_in_every_line() {
        let host = |rate: f64| {
            format!(
                r#"{{"version":"1.0","messages_per_s":{rate},"load_s":0,"first_message_ms":1,"peak_rss_mib":2,"cpu_s":3}}"#
            )
        };
        let trips = r#"{"per_s":4,"p50_us":5,"p99_us":6}"#;
        let fake = format!(r#"{{"hooks":{trips},"many_hooks":{trips},"calls":{trips}}}"#);
        let figures = |rate| vec![Figures::read(&host(rate), &fake).expect("figures")];

        let table = render(&[figures(8000.0), figures(4000.0), figures(1000.0)]).expect("a table");

        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(
            lines[0],
            "| median [least..most] of 1 rounds | autonoe-claude 1.0 | TypeScript SDK 1.0 \
             | Python SDK 1.0 | against TypeScript | against Python |"
        );
        assert_eq!(
            lines[2],
            "| messages/s | 8,000 [8,000..8,000] | 4,000 [4,000..4,000] | 1,000 [1,000..1,000] \
             | 2.0 [2.0..2.0]x, aim 1.5x: ok | 8.0 [8.0..8.0]x, aim 4x: ok |"
        );
        assert!(lines.iter().all(|line| line.matches('|').count() == 7));
        assert_eq!(lines.len(), 2 + ROWS.len());
    }
}
