//! Workers in processes of their own, which tell what was acknowledged to them.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use autonoe_harness::{Claimant, NewHarnessEvent, SqliteState, StateStore, TaskEnd};
use jiff::Timestamp;

/// The environment variables that turn this test program into a worker.
const FILE: &str = "AUTONOE_TEST_STATE_FILE";
const NAME: &str = "AUTONOE_TEST_STATE_WORKER";

/// How long a worker may be silent.
const LEASE: Duration = Duration::from_secs(2);

/// What a worker does, by the name of the test that does it.
pub(crate) const WORKS_ON_TASKS: &str = "state::worker::works_on_tasks_when_it_is_told_to";

/// Runs in a process of its own: works on tasks until none is left.
#[test]
fn works_on_tasks_when_it_is_told_to() {
    let Some((file, name)) = orders() else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(work(&file, &name));
}

/// Returns the file and the name, in a process that is to work.
pub(crate) fn orders() -> Option<(PathBuf, String)> {
    let (file, name) = (std::env::var_os(FILE)?, std::env::var(NAME).ok()?);
    Some((file.into(), name))
}

async fn work(file: &Path, name: &str) {
    let state = SqliteState::open(file).await.expect("it opens");
    let me = Claimant::new(name).with_lease(LEASE);
    loop {
        let claimed = state.claim_next(&me, Timestamp::now()).await;
        let Some(claim) = claimed.expect("it is asked") else {
            let left = state.get_incomplete_tasks().await.expect("it is read");
            if left.is_empty() {
                return;
            }
            // What is left is somebody else's for now.
            tokio::time::sleep(Duration::from_millis(3)).await;
            continue;
        };
        tell(&format!("begun {} {}", claim.id(), claim.epoch));
        for _ in 0..3 {
            let event = NewHarnessEvent::new("progress", Timestamp::now());
            state.append_event(&event).await.expect("it is kept");
        }
        let end = TaskEnd::completed(name);
        match state.finish(&claim, &end, Timestamp::now()).await {
            Ok(()) => tell(&format!("done {} {}", claim.id(), claim.epoch)),
            Err(_) => tell(&format!("fenced {} {}", claim.id(), claim.epoch)),
        }
    }
}

pub(crate) fn tell(what: &str) {
    let mut out = std::io::stdout().lock();
    // Who started this may be gone; then nobody needs to know.
    let _ = writeln!(out, "worker: {what}").and_then(|()| out.flush());
}

/// A worker, and what it told so far.
pub(crate) struct Worker {
    pub(crate) name: String,
    child: Child,
    told: Arc<Mutex<Vec<String>>>,
    listener: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts a process that does `what`, which is the name of a test, with a file under a name.
    pub(crate) fn start(what: &str, file: &Path, name: String) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args([what, "--exact", "--nocapture"])
            .env(FILE, file)
            .env(NAME, &name)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&told);
        let listener = std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if let Some((_, what)) = line.split_once("worker: ") {
                    heard.lock().expect("not poisoned").push(what.to_owned());
                }
            }
        });
        Self {
            name,
            child,
            told,
            listener: Some(listener),
        }
    }

    /// Returns how much it told.
    pub(crate) fn told(&self) -> usize {
        self.told.lock().expect("not poisoned").len()
    }

    /// Kills it and returns what it told.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().expect("ours");
        self.end()
    }

    /// Waits for its end and returns what it told.
    pub(crate) fn wait(mut self) -> Vec<String> {
        let begun = Instant::now();
        while self.child.try_wait().expect("ours").is_none() {
            assert!(
                begun.elapsed() < Duration::from_secs(120),
                "it does not end"
            );
            std::thread::sleep(Duration::from_millis(2));
        }
        self.end()
    }

    fn end(&mut self) -> Vec<String> {
        self.child.wait().expect("ours");
        let listener = self.listener.take().expect("it ends once");
        listener.join().expect("it only listens");
        self.told.lock().expect("not poisoned").clone()
    }
}

impl Drop for Worker {
    /// Leaves no process behind when the test fails.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
