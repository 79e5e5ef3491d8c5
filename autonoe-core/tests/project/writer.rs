//! Writers in processes of their own, which tell what was acknowledged to them.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use autonoe_core::{
    Durability, Epoch, FileDeliverableRepository, FileJournal, InstructionName, JournalLine,
    LedgerBook, Project, RunId, RunJournal, SessionKey, SystemClock, ToolContext, Toolbox,
    deliverable_tools,
};
use jiff::Timestamp;
use serde_json::json;

/// The environment variables that turn this test program into a writer.
const DIR: &str = "AUTONOE_TEST_WRITER_DIR";
const NAME: &str = "AUTONOE_TEST_WRITER_NAME";

/// What a writer does, by the name of the test that does it.
pub(crate) const CREATES_DELIVERABLES: &str =
    "project::writer::creates_deliverables_when_it_is_told_to";
pub(crate) const APPENDS_TO_THE_JOURNAL: &str =
    "project::writer::appends_to_the_journal_when_it_is_told_to";

/// Returns the project and the name, in a process that is to write.
fn told() -> Option<(Project, String)> {
    let (dir, name) = (std::env::var_os(DIR)?, std::env::var(NAME).ok()?);
    let project = Project::find(dir.as_ref(), None).expect("it is there");
    Some((project, name))
}

fn tell(id: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "done {id}")
        .and_then(|()| out.flush())
        .expect("somebody listens");
}

/// Runs in a process of its own: creates deliverables one after another and
/// tells each one on standard output once the tool said that it is created.
#[test]
fn creates_deliverables_when_it_is_told_to() {
    let Some((project, name)) = told() else {
        return;
    };
    let repository = FileDeliverableRepository::open(&project).expect("writable");
    let book = LedgerBook::new(Arc::new(repository), Arc::new(SystemClock), Epoch(1));
    let tools = Toolbox::new(deliverable_tools(&book, &InstructionName::Initializer));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    for number in 0.. {
        // Whoever started this is gone, and its folder with it.
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
        // Others save in between all the time; that is no loss.
        if runtime
            .block_on(tools.call("create", input, context))
            .is_ok()
        {
            tell(&id);
        }
    }
}

/// Runs in a process of its own: appends numbered lines and tells those that are synced, every
/// third one, until one cannot be kept.
#[test]
fn appends_to_the_journal_when_it_is_told_to() {
    let Some((project, name)) = told() else {
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
            tell(&format!("{name}-{number}"));
        }
    }
}

/// A writer, and what was acknowledged to it so far.
pub(crate) struct Writer {
    child: Child,
    acknowledged: Arc<Mutex<Vec<String>>>,
    listener: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts a process that does `what` in `project` under a name that no other one has.
    pub(crate) fn start(what: &str, project: &Project, name: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args([what, "--exact", "--nocapture"])
            .env(DIR, project.root())
            .env(NAME, name)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let acknowledged: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = acknowledged.clone();
        let listener = std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if let Some((_, id)) = line.split_once("done ") {
                    told.lock().expect("not poisoned").push(id.to_owned());
                }
            }
        });
        Self {
            child,
            acknowledged,
            listener: Some(listener),
        }
    }

    /// Returns what was acknowledged to it so far.
    pub(crate) fn acknowledged(&self) -> Vec<String> {
        self.acknowledged.lock().expect("not poisoned").clone()
    }

    /// Kills it and returns everything that was acknowledged to it.
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

/// Waits until `count` more updates were acknowledged: a blow without one in between shows nothing.
pub(crate) fn wait_for_updates(writers: &[Writer], count: usize) {
    let count_of = |writer: &Writer| writer.acknowledged.lock().expect("not poisoned").len();
    let updates = || writers.iter().map(count_of).sum::<usize>();
    let (before, begun) = (updates(), Instant::now());
    while updates() < before + count {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "nobody writes anything"
        );
        std::thread::sleep(Duration::from_micros(200));
    }
}
