//! Power cuts during writes: acknowledged data is on the disk.
//!
//! A real file system is shut down under its writers and mounted again. That needs root and a loop
//! device; the simulated disk beside the code that replaces a file needs neither.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::process::{Command, Output};
use std::time::Duration;

use autonoe_core::Project;
use autonoe_core::project::{FileJournal, Journal};
use autonoe_core::run::JournalLine;

use crate::project::file_system::FileSystem;
use crate::project::invariants::assert_nothing_is_lost;
use crate::project::rounds;
use crate::project::writer::{
    APPENDS_TO_A_SHARED_LOG, APPENDS_TO_THE_JOURNAL, CREATES_DELIVERABLES, Writer,
    assert_no_shared_entry_is_lost, wait_for_updates,
};

/// The environment variable that marks a process with its own mount namespace.
const OWN_MOUNTS: &str = "AUTONOE_TEST_OWN_MOUNTS";

/// The prefix of the figures of a run.
const FIGURES: &str = "power cuts: ";

/// Runs a test of this program in a process with its own mount namespace, which ends with it.
fn with_own_mounts(test: &str) -> Result<String, String> {
    let output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "--"])
        .arg(std::env::current_exe().expect("this program"))
        .args([test, "--exact", "--nocapture"])
        .env(OWN_MOUNTS, "1")
        // An error is reported in one sentence.
        .env("RUST_BACKTRACE", "0")
        .output()
        .map_err(|error| format!("unshare: {error}"))?;
    let Output {
        status,
        stdout,
        stderr,
    } = output;
    if status.success() {
        return Ok(String::from_utf8_lossy(&stdout).into_owned());
    }
    Err(String::from_utf8_lossy(&stderr).trim().to_owned())
}

/// One project on a file system, and the acknowledged updates of its writers.
struct Generation {
    file_system: FileSystem,
    project: Project,
    deliverables: Vec<String>,
    lines: Vec<String>,
    shared: Vec<String>,
    unsynced_lost: usize,
    _dir: tempfile::TempDir,
}

impl Generation {
    fn start() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let file_system = FileSystem::create(dir.path());
        let project = Project::find(file_system.root(), None).expect("it is there");
        Self {
            file_system,
            project,
            deliverables: Vec::new(),
            lines: Vec::new(),
            shared: Vec::new(),
            unsynced_lost: 0,
            _dir: dir,
        }
    }

    /// Lets eight writers write and cuts the power in the middle.
    async fn round(&mut self, round: usize) {
        let start = |test, number| {
            let name = format!("R{round}W{number}");
            Writer::start(test, &self.project, &name)
        };
        // Not each time: its syncs would compensate for missing syncs of other writers.
        let journal = round
            .is_multiple_of(3)
            .then(|| start(APPENDS_TO_THE_JOURNAL, 0));
        let is_shared = round % 3 == 1;
        let shared: Vec<_> = (8..10)
            .filter(|_| is_shared)
            .map(|number| start(APPENDS_TO_A_SHARED_LOG, number))
            .collect();
        let ledger: Vec<_> = (usize::from(journal.is_some())..8)
            .map(|number| start(CREATES_DELIVERABLES, number))
            .collect();
        wait_for_updates(&ledger, 20);
        if let Some(journal) = &journal {
            wait_for_updates(std::slice::from_ref(journal), 1);
        }
        if is_shared {
            wait_for_updates(&shared, 2);
        }
        let switch = self.file_system.switch();
        // At an arbitrary point of their next write, never at the same one.
        std::thread::sleep(Duration::from_micros((round * 7919 % 3000) as u64));

        // Read before the cut: a file system that was shut down may report anything to a writer.
        let (lines, deliverables) = (journal.iter(), ledger.iter());
        self.lines.extend(lines.flat_map(Writer::acknowledged));
        self.deliverables
            .extend(deliverables.flat_map(Writer::acknowledged));
        let shared_entries = shared.iter().flat_map(Writer::acknowledged);
        self.shared.extend(shared_entries);
        switch.cut();
        drop((journal, ledger, shared));
        self.file_system.restart();

        self.unsynced_lost += usize::from(self.file_system.lost_unsynced_data());
        let files = [".gitignore", "journal.jsonl", "status.json", "status.lock"];
        assert_nothing_is_lost(&self.project, &self.deliverables, &files).await;
        self.assert_no_line_is_lost();
        assert_no_shared_entry_is_lost(&self.project, &self.shared);
    }

    /// Fails if a synced line is missing, or one in the middle.
    fn assert_no_line_is_lost(&self) {
        let journal = Journal::read(&self.project.journal_path()).expect("whole lines");
        let mut next: HashMap<&str, u64> = HashMap::new();
        let mut present = HashSet::new();
        for entry in journal.entries() {
            let JournalLine::RunResumed { epoch } = entry.line else {
                panic!("nobody wrote {entry:?}");
            };
            let expected = next.entry(entry.run.as_str()).or_default();
            assert_eq!(epoch.0, *expected, "a line is missing before {entry:?}");
            *expected += 1;
            present.insert(format!("{}-{}", entry.run.as_str(), epoch.0));
        }
        let lost: Vec<_> = self
            .lines
            .iter()
            .filter(|id| !present.contains(*id))
            .collect();
        assert!(lost.is_empty(), "synced lines are lost: {lost:?}");
        FileJournal::open(&self.project).expect("a torn line is repaired");
    }
}

/// Runs in a process with its own mount namespace.
#[test]
fn child_process_cuts_power_once() {
    if std::env::var_os(OWN_MOUNTS).is_none() {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let file_system = FileSystem::create(dir.path());

    file_system.switch().cut();

    file_system.restart();
}

/// Runs in a process with its own mount namespace.
#[tokio::test]
async fn child_process_cuts_power_repeatedly() {
    const ROUNDS_PER_FILE_SYSTEM: usize = 6;
    if std::env::var_os(OWN_MOUNTS).is_none() {
        return;
    }
    let rounds = rounds().unwrap_or(3);
    let (mut done, mut deliverables, mut unsynced_lost) = (0, 0, 0);
    let (mut lines, mut shared) = (0, 0);

    while done < rounds {
        let mut generation = Generation::start();
        for round in done..rounds.min(done + ROUNDS_PER_FILE_SYSTEM) {
            generation.round(round).await;
        }
        done += ROUNDS_PER_FILE_SYSTEM;
        deliverables += generation.deliverables.len();
        lines += generation.lines.len();
        shared += generation.shared.len();
        unsynced_lost += generation.unsynced_lost;
    }

    println!(
        "\n{FIGURES}{rounds} rounds, {deliverables} updates, {lines} synced lines and {shared} \
         entries of a shared log acknowledged, none lost; of {rounds} files that nobody synced, {unsynced_lost} lost"
    );
    assert!(
        deliverables > rounds && lines > rounds && shared > 0,
        "nothing was written"
    );
    assert!(unsynced_lost > 0, "cuts that lose nothing show nothing");
}

#[test]
fn acknowledged_writes_survive_power_cuts() {
    if let Err(reason) = with_own_mounts("project::power_cut::child_process_cuts_power_once") {
        let sentence =
            format!("power cuts need root, a loop device, mkfs.ext4 and python3: {reason}");
        assert!(rounds().is_none(), "{sentence}");
        // Printed past the captured output, so that a skipped test is not taken for a proof.
        writeln!(std::io::stderr(), "left out, nothing was shown: {sentence}").expect("a terminal");
        return;
    }

    let output = with_own_mounts("project::power_cut::child_process_cuts_power_repeatedly");

    let output = output.unwrap_or_else(|reason| panic!("{reason}"));
    let figures = output.lines().find(|line| line.starts_with(FIGURES));
    println!("{}", figures.expect("it came to its end"));
}
