//! Writers that are killed in the middle: the file is always whole, and nothing acknowledged is lost.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use autonoe_core::{
    DeliverableRepository, Epoch, Fence, FileDeliverableRepository, InstructionName, LedgerBook,
    Project, RunId, SessionKey, SystemClock, ToolContext, Toolbox, deliverable_tools,
};
use serde_json::json;

/// The environment variables that turn this test program into a writer.
const WRITE: &str = "AUTONOE_TEST_WRITER_DIR";
const NAME: &str = "AUTONOE_TEST_WRITER_NAME";

/// How many kill rounds the test command runs; the torture run sets more.
const ROUNDS: &str = "AUTONOE_TORTURE_ROUNDS";

/// Runs in a process of its own: creates deliverables one after another and
/// tells each one on standard output once the tool said that it is created.
#[test]
fn writes_when_it_is_told_to() {
    let (Some(dir), Ok(name)) = (std::env::var_os(WRITE), std::env::var(NAME)) else {
        return;
    };
    let project = Project::find(dir.as_ref(), None).expect("it is there");
    let repository = FileDeliverableRepository::open(&project).expect("writable");
    let book = LedgerBook::new(Arc::new(repository), Arc::new(SystemClock), Epoch(1));
    let tools = Toolbox::new(deliverable_tools(&book, &InstructionName::Initializer));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let mut out = std::io::stdout().lock();
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
            writeln!(out, "done {id}")
                .and_then(|()| out.flush())
                .expect("somebody listens");
        }
    }
}

/// A writer, and what it was told so far.
struct Writer {
    child: Child,
    acknowledged: Arc<Mutex<Vec<String>>>,
    listener: Option<JoinHandle<()>>,
}

impl Writer {
    fn start(project: &Project, name: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["kill::writes_when_it_is_told_to", "--exact", "--nocapture"])
            .env(WRITE, project.root())
            .env(NAME, name)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
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

    fn updates(&self) -> usize {
        self.acknowledged.lock().expect("not poisoned").len()
    }

    /// Kills it and returns everything that it was told.
    fn kill(mut self) -> Vec<String> {
        self.child.kill().expect("ours");
        self.child.wait().expect("ours");
        let listener = self.listener.take().expect("it is killed once");
        listener.join().expect("it only listens");
        std::mem::take(&mut *self.acknowledged.lock().expect("not poisoned"))
    }
}

impl Drop for Writer {
    /// Leaves no process behind when the test fails.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The writers of one folder, and what they were told.
struct Generation {
    project: Project,
    writers: Vec<Writer>,
    started: usize,
    acknowledged: Vec<String>,
    _folder: tempfile::TempDir,
}

impl Generation {
    fn start(writers: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let project = Project::find(folder.path(), None).expect("it is there");
        let mut generation = Self {
            project,
            writers: Vec::new(),
            started: 0,
            acknowledged: Vec::new(),
            _folder: folder,
        };
        for _ in 0..writers {
            let writer = generation.new_writer();
            generation.writers.push(writer);
        }
        generation
    }

    fn new_writer(&mut self) -> Writer {
        self.started += 1;
        Writer::start(&self.project, &format!("W{}", self.started))
    }

    /// Waits until a writer was told of another update: kills without one in between show nothing.
    fn wait_for_an_update(&self) {
        let updates = || self.writers.iter().map(Writer::updates).sum::<usize>();
        let (before, begun) = (updates(), Instant::now());
        while updates() == before {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "nobody writes anything"
            );
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    fn replace(&mut self, index: usize) {
        let writer = self.new_writer();
        let killed = std::mem::replace(&mut self.writers[index], writer);
        self.acknowledged.extend(killed.kill());
    }

    /// Kills all writers and fails if an acknowledged update is missing or anything was left behind.
    async fn end(mut self) -> usize {
        for writer in std::mem::take(&mut self.writers) {
            self.acknowledged.extend(writer.kill());
        }
        let repository = FileDeliverableRepository::open(&self.project).expect("writable");
        let snapshot = repository
            .load()
            .await
            .expect("the file is whole")
            .expect("something was saved");
        let present: HashSet<&str> = snapshot
            .state
            .ledger
            .deliverables()
            .iter()
            .map(|item| item.id().as_str())
            .collect();
        let lost: Vec<_> = self
            .acknowledged
            .iter()
            .filter(|id| !present.contains(id.as_str()))
            .collect();
        assert!(lost.is_empty(), "acknowledged updates are lost: {lost:?}");
        let fence = Fence {
            base: Some(snapshot.revision),
            epoch: snapshot.epoch,
        };
        repository
            .save(&snapshot.state, fence)
            .await
            .expect("nobody else saves");
        let mut left: Vec<_> = fs::read_dir(self.project.state_dir())
            .expect("readable")
            .map(|entry| entry.expect("readable").file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["status.json", "status.lock"]);
        self.acknowledged.len()
    }
}

#[tokio::test]
async fn eight_writers_that_are_killed_at_random_lose_nothing() {
    const WRITERS: usize = 8;
    const ROUNDS_PER_FOLDER: usize = 100;
    let rounds: usize = std::env::var(ROUNDS)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(200);
    let (mut done, mut updates) = (0, 0);

    while done < rounds {
        let mut generation = Generation::start(WRITERS);
        let repository = FileDeliverableRepository::open(&generation.project).expect("writable");
        for round in done..rounds.min(done + ROUNDS_PER_FOLDER) {
            generation.wait_for_an_update();
            // Somewhere in the middle of what they do next, never at the same place.
            let pause = (round * 7919) % 3000;
            std::thread::sleep(Duration::from_micros(pause as u64));
            if round % 10 == 9 {
                (0..WRITERS).for_each(|index| generation.replace(index));
            } else {
                generation.replace(round * 31 % WRITERS);
            }
            // A reader takes no lock and sees a whole ledger each time.
            repository.load().await.expect("the file is whole");
        }
        done += ROUNDS_PER_FOLDER;
        updates += generation.end().await;
    }

    assert!(
        updates >= rounds,
        "only {updates} updates in {rounds} rounds show nothing"
    );
}
