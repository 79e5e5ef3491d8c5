//! Writers that were stopped and overtaken: after they continue, they cannot write any more.
#![cfg(all(feature = "project", target_os = "linux"))]

use std::fs::{self, File, TryLockError};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use autonoe_core::ledger::{DeliverableId, LedgerStore, UpdateError};
use autonoe_core::project::FileDeliverableRepository;
use autonoe_core::run::take_over;
use autonoe_core::time::{Epoch, SystemClock};
use autonoe_core::{Deliverable, DeliverableRepository, Mode, Project};
use tokio::runtime::Runtime;

/// The environment variables that make this test program a writer.
const DIR: &str = "AUTONOE_TEST_OVERTAKEN_DIR";
const EPOCH: &str = "AUTONOE_TEST_OVERTAKEN_EPOCH";

/// The number of rounds of a torture run.
const ROUNDS: &str = "AUTONOE_TORTURE_ROUNDS";

/// Longer than anything here takes, however busy the machine is.
const DEADLINE: Duration = Duration::from_secs(60);

async fn create(store: &LedgerStore, id: &str) -> Result<(), UpdateError> {
    let id = DeliverableId::new(id).expect("an id");
    store
        .update(|state, today| {
            let item = Deliverable::new(id.clone(), "a thing", ["it works"])?;
            state.ledger.create([item], today)?;
            Ok(())
        })
        .await
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build()
        .expect("a runtime")
}

fn repository(project: &Project) -> Arc<dyn DeliverableRepository> {
    Arc::new(FileDeliverableRepository::open(project).expect("writable"))
}

/// Runs in another process: writes until it cannot, and prints each write and the end.
#[test]
fn child_process_writes_until_overtaken() {
    let (Some(dir), Ok(epoch)) = (std::env::var_os(DIR), std::env::var(EPOCH)) else {
        return;
    };
    let project = Project::find(dir.as_ref(), None).expect("it is there");
    let epoch = Epoch(epoch.parse().expect("a number"));
    let store = LedgerStore::new(repository(&project), Arc::new(SystemClock), epoch);
    let runtime = runtime();
    let mut out = std::io::stdout().lock();
    for number in 0.. {
        let id = format!("OLD-{number}");
        let started = Instant::now();
        match runtime.block_on(create(&store, &id)) {
            Ok(()) => writeln!(out, "done {id}").expect("the receiver is open"),
            // The new owner saves concurrently; that is no loss.
            Err(UpdateError::Repository(error)) if error.is_retryable() => {}
            Err(UpdateError::Repository(error)) => {
                writeln!(out, "done with {}", error.code()).expect("the receiver is open");
                return;
            }
            Err(error) => panic!("{error}"),
        }
        out.flush().expect("the receiver is open");
        // Agents think between two writes; without a rest, each stop would hit a write.
        thread::sleep(started.elapsed().max(Duration::from_millis(1)));
    }
}

/// A writer in another process, killed at the latest when it is dropped.
struct Writer {
    process: Child,
    output_lines: Receiver<String>,
}

impl Writer {
    fn start(project: &Project, epoch: Epoch) -> Self {
        let mut process = Command::new(std::env::current_exe().expect("this program"))
            .args([
                "takeover::child_process_writes_until_overtaken",
                "--exact",
                "--nocapture",
            ])
            .env(DIR, project.root())
            .env(EPOCH, epoch.0.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let output = process.stdout.take().expect("piped");
        let (sender, output_lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let Some((_, id)) = line.split_once("done ") else {
                    continue;
                };
                if sender.send(id.to_owned()).is_err() {
                    return;
                }
            }
        });
        Self {
            process,
            output_lines,
        }
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill")
            .args([signal, &self.process.id().to_string()])
            .status()
            .expect("kill is there");
        assert!(status.success(), "{signal} did not reach the writer");
    }

    /// Stops it, and returns once all its threads are stopped.
    fn stop(&self) {
        self.signal("-STOP");
        let tasks = format!("/proc/{}/task", self.process.id());
        let started = Instant::now();
        while !all_stopped(&tasks) {
            assert!(started.elapsed() < DEADLINE, "the writer does not stop");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits for its next output line.
    fn next(&self) -> String {
        let line = self.output_lines.recv_timeout(DEADLINE);
        line.expect("the writer continues")
    }

    /// Waits until it ends by itself, and returns its remaining output.
    fn ended(mut self) -> Vec<String> {
        let started = Instant::now();
        while self.process.try_wait().expect("ours").is_none() {
            assert!(started.elapsed() < DEADLINE, "the writer does not end");
            thread::sleep(Duration::from_millis(1));
        }
        self.output_lines.iter().collect()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // It may have exited already, which is fine.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns whether every thread in the folder `tasks` of the system is stopped.
fn all_stopped(tasks: &str) -> bool {
    let stats = fs::read_dir(tasks).expect("the writer lives").map(|task| {
        let path = task.expect("readable").path().join("stat");
        fs::read_to_string(path).unwrap_or_default()
    });
    stats.collect::<Vec<_>>().iter().all(|stat| {
        stat.rsplit_once(')')
            .is_some_and(|(_, rest)| rest.starts_with(" T"))
    })
}

/// Whether the takeover happened while the old writer was stopped.
#[derive(PartialEq, Eq)]
enum Takeover {
    WhileStopped,
    /// The old writer was stopped in the middle of a write: no other one can take over until it is
    /// done.
    AfterItsWrite,
}

/// Returns whether a process holds the write lock of the ledger of `project`.
fn is_being_written(project: &Project) -> bool {
    let lock = File::open(project.state_dir().join("status.lock")).expect("it is there");
    match lock.try_lock() {
        Ok(()) => false,
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(error)) => panic!("{error}"),
    }
}

fn round(runtime: &Runtime, number: u64) -> Takeover {
    let folder = tempfile::tempdir().expect("a folder");
    let project = Project::find(folder.path(), None).expect("it is there");
    let repository = repository(&project);
    let first = runtime.block_on(take_over(repository.clone(), SystemClock, Mode::Run));
    let old = Writer::start(&project, first.expect("the takeover succeeds").0.epoch());
    let mut acknowledged: Vec<_> = (0..=number % 3).map(|_| old.next()).collect();
    // Never at the same point of a write.
    thread::sleep(Duration::from_micros(number * 7919 % 3000));

    old.stop();
    let takeover = if is_being_written(&project) {
        Takeover::AfterItsWrite
    } else {
        Takeover::WhileStopped
    };
    let taking = runtime.spawn(take_over(repository.clone(), SystemClock, Mode::Run));
    if takeover == Takeover::AfterItsWrite {
        // Most of the time, the takeover waits for the lock when the old writer continues.
        thread::sleep(Duration::from_millis(50));
        old.signal("-CONT");
    }
    let result = runtime.block_on(async { tokio::time::timeout(DEADLINE, taking).await });
    let result = result.expect("the takeover ends").expect("no panic");
    let (store, found) = result.expect("one of the tries succeeds");
    let write = |id: &str| {
        runtime
            .block_on(create(&store, id))
            .expect("it is ours now");
    };
    write("NEW-0");
    old.signal("-CONT");
    write("NEW-1");
    acknowledged.extend(old.ended());
    write("NEW-2");

    assert_eq!(
        acknowledged.pop().as_deref(),
        Some("with ledger_fenced"),
        "round {number}"
    );
    let state = runtime
        .block_on(store.read())
        .expect("readable")
        .expect("saved");
    let (new, old): (Vec<_>, Vec<_>) = state
        .ledger
        .deliverables()
        .iter()
        .map(|item| item.id().as_str())
        .partition(|id| id.starts_with("NEW"));
    assert_eq!(new, ["NEW-0", "NEW-1", "NEW-2"], "round {number}");
    assert_eq!(
        old.len(),
        found.counts.total,
        "a stale write in round {number}"
    );
    // A stop between a write and its acknowledgement is no loss.
    let lost: Vec<_> = acknowledged
        .iter()
        .filter(|id| !old.contains(&id.as_str()))
        .collect();
    assert!(lost.is_empty(), "lost in round {number}: {lost:?}");
    takeover
}

#[test]
fn stopped_writer_writes_nothing_after_takeover() {
    let rounds: u64 = std::env::var(ROUNDS)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(10);
    let runtime = runtime();

    let (mut done, mut stopped) = (0, 0);
    // A stop may hit a write by chance. If every stop did, more rounds follow.
    while done < rounds || (stopped == 0 && done < 10 * rounds) {
        if round(&runtime, done) == Takeover::WhileStopped {
            stopped += 1;
        }
        done += 1;
    }

    println!(
        "takeovers: {done} rounds, {stopped} while the old writer stood still and the others \
         after its write, no stale write, no acknowledged update lost"
    );
    assert!(stopped > 0, "no takeover of a stopped writer shows nothing");
}
