//! [`Writer`], a writer in another process that reports its acknowledged updates.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use autonoe_core::event::InstructionName;
use autonoe_core::ledger::{LedgerStore, deliverable_tools};
use autonoe_core::project::{
    AppendLog, FileDeliverableRepository, FileJournal, LogEntry, LogWriters,
};
use autonoe_core::run::{Durability, JournalLine, RunJournal};
use autonoe_core::time::{Epoch, SessionKey, SystemClock};
use autonoe_core::tool::Toolbox;
use autonoe_core::{Project, RunId, ToolContext};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The environment variables that make this test program a writer.
const DIR: &str = "AUTONOE_TEST_WRITER_DIR";
const NAME: &str = "AUTONOE_TEST_WRITER_NAME";

/// The tasks of a writer, by the names of the tests that perform them.
pub(crate) const CREATES_DELIVERABLES: &str = "project::writer::child_process_creates_deliverables";
pub(crate) const APPENDS_TO_THE_JOURNAL: &str = "project::writer::child_process_appends_to_journal";

pub(crate) const APPENDS_TO_A_SHARED_LOG: &str =
    "project::writer::child_process_appends_to_shared_log";

/// An entry of a log that several writers share.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SharedEntry {
    pub(crate) id: String,
}

impl LogEntry for SharedEntry {
    const STARTS: &'static [&'static [u8]] = &[b"{\"id\":"];
}

/// Returns the path of the shared log.
pub(crate) fn shared_log(project: &Project) -> PathBuf {
    project.root().join("shared.jsonl")
}

/// Fails if an acknowledged entry of the shared log is missing, or a line is not whole.
pub(crate) fn assert_no_shared_entry_is_lost(project: &Project, acknowledged: &[String]) {
    let entries = AppendLog::<SharedEntry>::read(&shared_log(project)).expect("whole lines");
    let present: HashSet<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    let lost: Vec<_> = acknowledged
        .iter()
        .filter(|id| !present.contains(id.as_str()))
        .collect();
    assert!(lost.is_empty(), "acknowledged entries are lost: {lost:?}");
}

/// Returns the project and the name, if this process is a writer.
fn writer_task() -> Option<(Project, String)> {
    let (dir, name) = (std::env::var_os(DIR)?, std::env::var(NAME).ok()?);
    let project = Project::find(dir.as_ref(), None).expect("it is there");
    Some((project, name))
}

fn print_id(id: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "done {id}")
        .and_then(|()| out.flush())
        .expect("the receiver is open");
}

/// Runs in another process: creates deliverables one after another and prints each one to standard
/// output once the tool has created it.
#[test]
fn child_process_creates_deliverables() {
    let Some((project, name)) = writer_task() else {
        return;
    };
    let repository = FileDeliverableRepository::open(&project).expect("writable");
    let store = LedgerStore::new(Arc::new(repository), Arc::new(SystemClock), Epoch(1));
    let tools = Toolbox::new(deliverable_tools(&store, &InstructionName::Initializer));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    for number in 0.. {
        // The process that started this one has exited, and its folder is deleted.
        if !project.root().exists() {
            return;
        }
        let id = format!("{name}-{number}");
        let input = json!({"deliverables": [
            {"id": id, "description": "a thing", "acceptanceCriteria": ["it works"]},
        ]});
        let context = ToolContext::new(SessionKey {
            run: RunId::new("run"),
            number: 1,
        });
        // Other writers save concurrently; that is no loss.
        if runtime
            .block_on(tools.call("create", input, context))
            .is_ok()
        {
            print_id(&id);
        }
    }
}

/// Runs in another process: appends numbered lines and prints the synced ones, every third one,
/// until a line cannot be written.
#[test]
fn child_process_appends_to_journal() {
    let Some((project, name)) = writer_task() else {
        return;
    };
    let journal = FileJournal::open(&project).expect("writable");
    for number in 0.. {
        let line = JournalLine::RunResumed {
            epoch: Epoch(number),
        };
        let durability = match number % 3 {
            2 => Durability::Synced,
            _ => Durability::Written,
        };
        let run = RunId::new(&name);
        if journal
            .append(&run, Timestamp::UNIX_EPOCH, &line, durability)
            .is_err()
        {
            return;
        }
        if durability == Durability::Synced {
            print_id(&format!("{name}-{number}"));
        }
    }
}

/// Runs in another process: appends entries to a log that other processes append to, and prints
/// them, until one cannot be written.
#[test]
fn child_process_appends_to_shared_log() {
    let Some((project, name)) = writer_task() else {
        return;
    };
    let log = AppendLog::open_for(LogWriters::Several, &shared_log(&project)).expect("writable");
    for number in 0.. {
        let id = format!("{name}-{number}");
        let entry = SharedEntry { id: id.clone() };
        if log.append(&entry, Durability::Synced).is_err() {
            return;
        }
        print_id(&id);
    }
}

/// A writer process, and its acknowledged updates so far.
pub(crate) struct Writer {
    child: Child,
    acknowledged: Arc<Mutex<Vec<String>>>,
    listener: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts a process that does `test` in `project` under a unique name.
    pub(crate) fn start(test: &str, project: &Project, name: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args([test, "--exact", "--nocapture"])
            .env(DIR, project.root())
            .env(NAME, name)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let acknowledged: Arc<Mutex<Vec<String>>> = Arc::default();
        let updates = acknowledged.clone();
        let listener = std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if let Some((_, id)) = line.split_once("done ") {
                    updates.lock().expect("not poisoned").push(id.to_owned());
                }
            }
        });
        Self {
            child,
            acknowledged,
            listener: Some(listener),
        }
    }

    /// Returns the acknowledged updates so far.
    pub(crate) fn acknowledged(&self) -> Vec<String> {
        self.acknowledged.lock().expect("not poisoned").clone()
    }

    /// Kills it and returns all its acknowledged updates.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().expect("ours");
        self.child.wait().expect("ours");
        let listener = self.listener.take().expect("it is killed once");
        listener.join().expect("it only listens");
        self.acknowledged()
    }
}

impl Drop for Writer {
    /// Leaves no process behind when the test fails.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until `count` more updates were acknowledged: a kill without one in between proves
/// nothing.
pub(crate) fn wait_for_updates(writers: &[Writer], count: usize) {
    let count_of = |writer: &Writer| writer.acknowledged.lock().expect("not poisoned").len();
    let updates = || writers.iter().map(count_of).sum::<usize>();
    let (before, started) = (updates(), Instant::now());
    while updates() < before + count {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "nothing is written"
        );
        std::thread::sleep(Duration::from_micros(200));
    }
}
