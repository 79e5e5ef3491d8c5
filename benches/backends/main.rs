//! Latency and memory of each backend compared with the bare program, offline: the time from a
//! prompt to the first event and through a session with one tool call, and the memory of a session.
//!
//! `cargo bench -p autonoe-benches --bench backends [-- ROUNDS]`
//!
//! `cargo xtask clis` installs the programs. Our backend, the bare program and the program in a
//! sandbox take turns against the same scripted model, which is a separate process so that
//! its memory does not count as ours.

#![allow(clippy::print_stdout)] // A benchmark prints its tables.

mod autonoe;
mod backend;
mod bare;
mod growth;
mod memory;
mod model;
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
    let requested = arguments.iter().find_map(|argument| argument.parse().ok());
    let (first, rounds) = if testing {
        (0, 1)
    } else {
        (1, requested.unwrap_or(ROUNDS))
    };
    println!("{rounds} rounds; load before: {}", load());
    let measured: Vec<_> = Backend::ALL
        .map(|backend| (backend, measure(&runtime, backend, first, rounds)))
        .into();
    println!("load after: {}\n", load());
    println!("{}", table::times(&measured));
    println!("{}", table::memory(&measured));
}

/// Measures a backend and its program in turns, so that all run under the same machine load.
fn measure(runtime: &Runtime, backend: Backend, first: usize, rounds: usize) -> Rounds {
    let place = Workspace::new();
    let mut all = Rounds {
        growth_kib: growth::measure_in_child(backend),
        ..Rounds::default()
    };
    for round in 0..first + rounds {
        let mut measured = Rounds::default();
        for turn in 0..3 {
            match (round + turn) % 3 {
                0 => measured
                    .autonoe
                    .push(runtime.block_on(autonoe::session(backend, &place))),
                1 => measured
                    .bare
                    .extend(bare_session(runtime, backend, false, &place)),
                _ => measured
                    .sandboxed
                    .extend(bare_session(runtime, backend, true, &place)),
            }
        }
        if round >= first {
            all.autonoe.extend(measured.autonoe);
            all.bare.extend(measured.bare);
            all.sandboxed.extend(measured.sandboxed);
        }
    }
    all
}

fn bare_session(
    runtime: &Runtime,
    backend: Backend,
    is_sandboxed: bool,
    place: &Workspace,
) -> Option<Session> {
    runtime.block_on(bare::session(backend, is_sandboxed, place))
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}
