//! Renders the result tables.

use crate::backend::Backend;
use crate::stats::{Rounds, Session, Spread};

type Measured = [(Backend, Rounds)];

/// Renders the times, in milliseconds.
pub(crate) fn times(measured: &Measured) -> String {
    let mut table = String::from(
        "| ms, median (quartiles) | first event | bare program | ratio | session with a tool call \
         | bare program | ratio |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (backend, rounds) in measured {
        let first = cells(rounds, |session| session.first_event.as_secs_f64() * 1e3);
        let whole = cells(rounds, |session| session.whole.as_secs_f64() * 1e3);
        table += &format!("| {} | {first} | {whole} |\n", backend.name());
    }
    table
}

/// Renders the memory of programs in MiB, and that of our process in KiB.
pub(crate) fn memory(measured: &Measured) -> String {
    let mut table = String::from(
        "| memory of a session | processes of the program, MiB PSS | bare program | ratio \
         | added to our process, KiB RSS |\n| --- | --- | --- | --- | --- |\n",
    );
    for (backend, rounds) in measured {
        let tree = cells(rounds, |session| session.tree_kib as f64 / 1024.0);
        let growth = rounds.growth_kib;
        table += &format!("| {} | {tree} | {growth} |\n", backend.name());
    }
    table
}

/// Renders our measurement, that of the bare program, and their ratio.
fn cells(rounds: &Rounds, figure: impl Fn(&Session) -> f64) -> String {
    match rounds.compare(figure) {
        (ours, Some((bare, ratio))) => {
            format!("{} | {} | {}", short(ours), short(bare), precise(ratio))
        }
        (ours, None) if ours.upper == 0.0 => "none |  | ".to_owned(),
        (ours, None) => format!("{} |  | ", short(ours)),
    }
}

fn short(spread: Spread) -> String {
    let Spread {
        lower,
        median,
        upper,
    } = spread;
    if median < 10.0 {
        return precise(spread);
    }
    format!("{median:.0} ({lower:.0} to {upper:.0})")
}

fn precise(spread: Spread) -> String {
    let Spread {
        lower,
        median,
        upper,
    } = spread;
    format!("{median:.2} ({lower:.2} to {upper:.2})")
}
