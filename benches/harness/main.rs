//! Overhead of a fleet beside the work of its members: coordination, state on disk, memory.
//!
//! `cargo bench -p autonoe-benches --bench harness [-- PART]`, where a part is `overhead`, `state`,
//! `memory` or `thousand`; all of them by default.
//!
//! Our code and its peer run alternately, so that both run under the same machine load.

#![allow(clippy::print_stdout)] // A benchmark prints its tables.

mod child_process;
mod memory;
mod overhead;
mod peers;
mod raw;
mod resident;
mod state;
mod stats;
mod thousand;

use std::fs;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [role, folder] if role == child_process::SERVE => return child_process::serve(folder),
        [role] if role == child_process::IDLE => return child_process::idle(),
        [role, kind, count] if role == memory::GROW => return memory::print_growth(kind, count),
        _ => {}
    }
    // `cargo test --benches` runs this too: then once, with small sizes.
    let testing = !arguments.iter().any(|argument| argument == "--bench");
    let mut names = arguments.iter().filter(|one| !one.starts_with('-'));
    let part = names.next().map_or("all", String::as_str);
    type Part = (&'static str, fn(bool));
    let parts: [Part; 4] = [
        ("overhead", overhead::measure),
        ("state", state::measure),
        ("memory", memory::measure),
        ("thousand", thousand::measure),
    ];
    println!("load before: {}", load());
    for (name, measure) in parts {
        if [name, "all"].contains(&part) {
            println!("\n{name}:\n");
            measure(testing);
        }
    }
    println!("\nload after: {}", load());
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}
