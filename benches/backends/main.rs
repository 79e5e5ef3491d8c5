//! Latency and memory of each backend compared with the bare program, offline: the time from a
//! prompt to the first event and through a session with one tool call, and the memory of a session.
//!
//! `cargo bench -p autonoe-benches --bench backends [-- ROUNDS]`
//!
//! `cargo xtask clis` installs the programs. Our backend and the bare program run alternately
//! against the same scripted model, which is a separate process so that its memory does not count
//! as ours.

#![allow(clippy::print_stdout)] // A benchmark prints its tables.

mod backend;
mod bare;
mod growth;
mod memory;
mod model;
mod ours;
#[path = "../../autonoe-cli/tests/backends/programs.rs"]
mod programs;
mod stats;
mod table;
mod workspace;

use std::fs;

use backend::Backend;
use stats::{Rounds, Session};
use tokio::runtime::{Builder, Runtime};
use workspace::Workspace;

/// Rounds that count, unless the command line sets another number.
const ROUNDS: usize = 7;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    match arguments.as_slice() {
        [mode, rest @ ..] if mode == model::SERVE => return model::serve(rest),
        [mode, name] if mode == growth::GROW => return growth::print(&runtime, name),
        _ => {}
    }
    // `cargo test --benches` runs this too: then once, without a warm-up round.
    let testing = !arguments.iter().any(|argument| argument == "--bench");
    let wanted = arguments.iter().find_map(|argument| argument.parse().ok());
    let (first, rounds) = if testing {
        (0, 1)
    } else {
        (1, wanted.unwrap_or(ROUNDS))
    };
    println!("{rounds} rounds; load before: {}", load());
    let measured: Vec<_> = Backend::ALL
        .map(|backend| (backend, measure(&runtime, backend, first, rounds)))
        .into();
    println!("load after: {}\n", load());
    println!("{}", table::times(&measured));
    println!("{}", table::memory(&measured));
}

/// Measures a backend and its bare program alternately, so that both run under the same machine
/// load.
fn measure(runtime: &Runtime, backend: Backend, first: usize, rounds: usize) -> Rounds {
    let place = Workspace::new();
    let mut measured = Rounds {
        growth_kib: growth::measure_in_child(backend),
        ..Rounds::default()
    };
    for round in 0..first + rounds {
        let with = |runtime: &Runtime| runtime.block_on(ours::session(backend, &place));
        let alone = |runtime: &Runtime| runtime.block_on(bare::session(backend, &place));
        let (ours, bare): (Session, Option<Session>) = if round % 2 == 0 {
            let ours = with(runtime);
            (ours, alone(runtime))
        } else {
            let bare = alone(runtime);
            (with(runtime), bare)
        };
        if round >= first {
            measured.ours.push(ours);
            measured.bare.extend(bare);
        }
    }
    measured
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}
