//! Throughput of the ledger and the journal: a durable ledger update compared with the bare write,
//! sync and rename of the same bytes on the same disk in the same run, journal lines per second,
//! and loading a large ledger.
//!
//! `cargo bench -p autonoe-benches --bench ledger`

#![allow(clippy::print_stdout)] // A benchmark prints its table.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use autonoe_core::ledger::{DeliverableId, Fence, LedgerState, Revision};
use autonoe_core::project::{FileDeliverableRepository, FileJournal};
use autonoe_core::run::{Durability, JournalLine, RunJournal, RunLimits};
use autonoe_core::time::Epoch;
use autonoe_core::{Deliverable, DeliverableRepository, DeliverableStatus, Mode, Project, RunId};
use jiff::Timestamp;
use jiff::civil::date;

fn main() {
    // `cargo test --benches` runs this too: then once, with small sizes.
    let testing = !std::env::args().any(|argument| argument == "--bench");
    let (sizes, rounds) = if testing {
        (vec![10], 3)
    } else {
        (vec![10, 1_000, 10_000], 60)
    };
    println!("| deliverables | bytes | durable update | bare floor | ratio | load |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for size in sizes {
        updates(size, rounds);
    }
    println!();
    println!("| journal | lines/s |");
    println!("| --- | --- |");
    journal(Durability::Written, if testing { 10 } else { 20_000 });
    journal(Durability::Synced, if testing { 3 } else { 500 });
}

fn ledger(size: usize) -> LedgerState {
    let today = date(2026, 1, 1);
    let mut state = LedgerState::new(today);
    let batch = (0..size).map(|number| {
        let id = DeliverableId::new(format!("DL-{number:05}")).expect("an id");
        let criteria = [
            "a user can see it",
            "it survives a reload",
            "errors are shown",
        ];
        Deliverable::new(id, format!("Feature number {number} of the shop"), criteria)
            .expect("valid")
    });
    state.ledger.create(batch, today).expect("new ids");
    state
}

fn updates(size: usize, rounds: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let project = Project::find(folder.path(), None).expect("it is there");
    let repository = FileDeliverableRepository::open(&project).expect("writable");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let mut state = ledger(size);
    let save = |state: &LedgerState, base: Option<Revision>| {
        let fence = Fence {
            base,
            epoch: Epoch(1),
        };
        runtime
            .block_on(repository.save(state, fence))
            .expect("nobody else saves")
    };
    let mut revision = save(&state, None);
    let bytes = fs::read(project.status_path()).expect("readable");
    let (mut autonoe, mut floor, mut load) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        let id = state.ledger.deliverables()[round % size].id().clone();
        let status = match round / size % 2 {
            0 => DeliverableStatus::Passed,
            _ => DeliverableStatus::Pending,
        };
        state
            .ledger
            .set_status(&id, status, date(2026, 1, 2))
            .expect("legal");
        // Interleaved, so that both run under the same disk load.
        autonoe.push(timed(|| revision = save(&state, Some(revision.clone()))));
        floor.push(timed(|| write_sync_rename(folder.path(), &bytes)));
        load.push(timed(|| {
            runtime
                .block_on(repository.load())
                .expect("whole")
                .expect("saved");
        }));
    }
    let (autonoe, floor, load) = (median(&mut autonoe), median(&mut floor), median(&mut load));
    println!(
        "| {size} | {} | {} | {} | {:.2} | {} |",
        bytes.len(),
        millis(autonoe),
        millis(floor),
        autonoe.as_secs_f64() / floor.as_secs_f64(),
        millis(load),
    );
}

/// The minimal durable replacement of a file.
fn write_sync_rename(folder: &Path, bytes: &[u8]) {
    let (temporary, path) = (folder.join("floor.tmp"), folder.join("floor"));
    let mut file = File::create(&temporary).expect("writable");
    file.write_all(bytes).expect("writable");
    file.sync_all().expect("writable");
    fs::rename(&temporary, &path).expect("writable");
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .expect("writable");
}

fn journal(durability: Durability, lines: u32) {
    let folder = tempfile::tempdir().expect("a folder");
    let project = Project::find(folder.path(), None).expect("it is there");
    let journal = FileJournal::open(&project).expect("writable");
    let run = RunId::new("run");
    let line = JournalLine::RunStarted {
        limits: RunLimits::new(Mode::Run),
        epoch: Epoch(1),
    };
    let elapsed = timed(|| {
        for _ in 0..lines {
            journal
                .append(&run, Timestamp::UNIX_EPOCH, &line, durability)
                .expect("writable");
        }
    });
    println!(
        "| {durability:?} | {:.0} |",
        f64::from(lines) / elapsed.as_secs_f64()
    );
}

fn timed(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn millis(duration: Duration) -> String {
    format!("{:.2} ms", duration.as_secs_f64() * 1e3)
}
