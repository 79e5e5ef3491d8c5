//! `cargo xtask bench sdk`: our client of Claude Code against the SDKs of the vendor.
//!
//! Every client talks to the same fake program, one after the other, in rounds that each begin
//! with another client. Figures that miss an aim are shown, not refused; a client that fails or
//! has not seen everything is a failure.

mod clients;
mod programs;
mod table;

use std::path::PathBuf;
use std::{fs, thread};

use crate::cargo::Cargo;
use crate::failure::Failure;

use clients::{Client, Figures};
use programs::{Programs, Sdks};

/// Installs what is needed, runs the rounds and prints the table.
pub(crate) fn run(cargo: &Cargo, rounds: usize) -> Result<(), Failure> {
    let folder = sdks_dir(cargo);
    let sdks = Sdks::install(&cargo.root().join("benches/sdk/clients"), &folder)?;
    let programs = Programs::build(cargo)?;
    let report = folder.join("figures.json");

    let mut measured: [Vec<Figures>; Client::ALL.len()] = Default::default();
    for round in 0..rounds {
        for turn in 0..Client::ALL.len() {
            let place = (round + turn) % Client::ALL.len();
            let client = Client::ALL[place];
            println!("round {} of {rounds}: {}", round + 1, client.name());
            let command = client.command(&sdks, &programs);
            measured[place].push(clients::measure(client, command, &report)?);
        }
    }
    println!("\n{}", table::render(&measured)?);
    println!("{} {}", cores(), clients::runtimes(&measured));
    Ok(())
}

/// Returns where the SDKs are: a fixed folder, wherever cargo puts what it builds.
fn sdks_dir(cargo: &Cargo) -> PathBuf {
    cargo.root().join("target").join("sdks")
}

fn cores() -> String {
    match thread::available_parallelism() {
        Ok(count) => format!("{count} cores,"),
        Err(_) => String::new(),
    }
}

/// Reads a file that belongs to the bench.
fn read(path: &std::path::Path) -> Result<String, Failure> {
    fs::read_to_string(path)
        .map_err(|source| Failure::new(format!("cannot read {}: {source}", path.display())))
}
