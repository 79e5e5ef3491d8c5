//! Renders the result tables.

use crate::backend::Backend;
use crate::stats::{Rounds, Session, Spread};

type Measured = [(Backend, Rounds)];

/// Renders the times, in milliseconds.
pub(crate) fn times(measured: &Measured) -> String {
    let first = |session: &Session| session.first_event.as_secs_f64() * 1e3;
    let whole = |session: &Session| session.whole.as_secs_f64() * 1e3;
    let first = compared("first event, ms", measured, first);
    let whole = compared("session with a tool call, ms", measured, whole);
    format!("{first}\n{whole}")
}

/// Renders one figure of every backend, beside that of its program in and outside of a sandbox.
fn compared(title: &str, measured: &Measured, figure: impl Fn(&Session) -> f64) -> String {
    let mut table = format!(
        "| {title}, median (quartiles) | ours | program in a sandbox | ratio | bare program \
         | ratio |\n| --- | --- | --- | --- | --- | --- |\n"
    );
    for (backend, rounds) in measured {
        let autonoe = short(rounds.of_autonoe(&figure));
        let sandboxed = cells(rounds.compare(&rounds.sandboxed, &figure));
        let bare = cells(rounds.compare(&rounds.bare, &figure));
        table += &format!(
            "| {} | {autonoe} | {sandboxed} | {bare} |\n",
            backend.name()
        );
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
        let mebibytes = |session: &Session| session.tree_kib as f64 / 1024.0;
        let autonoe = rounds.of_autonoe(mebibytes);
        let autonoe = if autonoe.upper == 0.0 {
            "none".to_owned()
        } else {
            short(autonoe)
        };
        let bare = cells(rounds.compare(&rounds.bare, mebibytes));
        let growth = rounds.growth_kib;
        table += &format!("| {} | {autonoe} | {bare} | {growth} |\n", backend.name());
    }
    table
}

/// Renders the measurement of a program and the ratio of ours to it.
fn cells(compared: Option<(Spread, Spread)>) -> String {
    compared.map_or_else(
        || " | ".to_owned(),
        |(program, ratio)| format!("{} | {}", short(program), precise(ratio)),
    )
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
