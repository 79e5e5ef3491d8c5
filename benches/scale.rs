//! A thousand concurrent runs in one process, and ten thousand sessions in a row with flat memory.
//!
//! `cargo bench -p autonoe-benches --bench scale`

#![allow(clippy::print_stdout)] // A benchmark prints its table.

use std::time::{Duration, Instant};

use autonoe_benches::whole_run;
use tokio::runtime::Builder;

const RUNS: usize = 1_000;
const SESSIONS_PER_RUN: usize = 8;

fn main() {
    // `cargo test --benches` runs this too: then once, with small sizes.
    let testing = !std::env::args().any(|argument| argument == "--bench");
    let (runs, in_a_row) = if testing { (10, 100) } else { (RUNS, 10_000) };
    println!("| what | figure |");
    println!("| --- | --- |");
    many_at_once(runs);
    many_in_a_row(in_a_row);
}

/// Starts all runs together and waits for the last one.
fn many_at_once(runs: usize) {
    let runtime = Builder::new_multi_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let before = resident_kib();
    let started = Instant::now();
    let sessions: u32 = runtime.block_on(async {
        let tasks: Vec<_> = (0..runs)
            .map(|_| tokio::spawn(whole_run(SESSIONS_PER_RUN)))
            .collect();
        let mut sessions = 0;
        for task in tasks {
            sessions += task.await.expect("no run panics").sessions;
        }
        sessions
    });
    let elapsed = started.elapsed();
    println!(
        "| {runs} concurrent runs, {sessions} sessions in all | {} |",
        millis(elapsed)
    );
    println!(
        "| per session, wall clock | {} |",
        micros(elapsed, sessions)
    );
    if let (Some(before), Some(after)) = (before, resident_kib()) {
        let per_run = after.saturating_sub(before) / runs.max(1) as u64;
        println!("| resident memory, before and after | {before} KiB, {after} KiB |");
        println!("| per run that was under way | at most {per_run} KiB |");
    }
}

/// Runs sessions one after another and measures the memory in between.
fn many_in_a_row(sessions: usize) {
    const PER_RUN: usize = 100;
    let runtime = Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let started = Instant::now();
    let mut done = 0;
    let mut memory = Vec::new();
    while done < sessions {
        runtime.block_on(whole_run(PER_RUN - 2));
        done += PER_RUN;
        if done % (sessions / 5) == 0 {
            memory.push(resident_kib().map_or("unknown".to_owned(), |kib| kib.to_string()));
        }
    }
    let elapsed = started.elapsed();
    let per_session = micros(elapsed, u32::try_from(done).unwrap_or(u32::MAX));
    println!(
        "| {done} sessions in a row | {}, {per_session} each |",
        millis(elapsed)
    );
    println!(
        "| resident KiB after each fifth of them | {} |",
        memory.join(", ")
    );
}

fn millis(duration: Duration) -> String {
    format!("{:.0} ms", duration.as_secs_f64() * 1e3)
}

fn micros(duration: Duration, parts: u32) -> String {
    format!(
        "{:.1} us",
        duration.as_secs_f64() * 1e6 / f64::from(parts.max(1))
    )
}

/// Returns the resident memory of this process; `None` if the system does not report it.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
