//! Requests to a run in another process.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::Arc;

use autonoe_core::event::{Events, RunEventKind};
use autonoe_core::project::{
    OperatorRequest, RequestFolder, RequestForwarder, RunLock, RunLockHolder,
};
use autonoe_core::run::RunRequest;
use autonoe_core::time::{SeededIds, SystemClock};
use autonoe_core::{Mode, RunControl, RunId, RunObserver};
use autonoe_testkit::TempProject;
use jiff::Timestamp;

const EPOCH: Timestamp = Timestamp::UNIX_EPOCH;

/// A project with a running run, which is in this process.
struct Fixture {
    project: TempProject,
    lock: Option<RunLock>,
    folder: RequestFolder,
    forwarder: Arc<RequestForwarder>,
    control: RunControl,
    run: RunId,
}

impl Fixture {
    fn new() -> Self {
        let project = TempProject::new();
        let lock = RunLock::acquire(project.project(), EPOCH).expect("it is free");
        let fixture = Self {
            folder: RequestFolder::new(project.project()),
            forwarder: Arc::new(RequestForwarder::new(project.project())),
            control: RunControl::new(),
            run: RunId::new("shop"),
            lock: Some(lock),
            project,
        };
        fixture.emit(RunEventKind::RunStarted {
            run: &fixture.run,
            mode: Mode::Run,
        });
        fixture
    }

    fn emit(&self, kind: RunEventKind<'_>) {
        let observers: Vec<Arc<dyn RunObserver>> = vec![self.forwarder.clone()];
        Events::new(observers, SystemClock, SeededIds::new(1)).emit(kind);
    }

    fn own(&self) -> RunLockHolder {
        RunLockHolder {
            pid: std::process::id(),
            started_at: EPOCH,
        }
    }

    fn send(&self, request: OperatorRequest) {
        let sent = self
            .folder
            .send(&self.own(), &self.run, request, Timestamp::now());
        sent.expect("it is sent");
    }

    /// Forwards what is pending, and returns the requests of the run by name.
    fn forwarded(&self) -> Vec<String> {
        self.forwarder
            .forward_pending(&self.control)
            .expect("the folder is readable");
        let mut names = Vec::new();
        while let Some(request) = self.control.try_next_request() {
            names.push(match request {
                RunRequest::Pause => "pause".to_owned(),
                RunRequest::Resume => "resume".to_owned(),
                RunRequest::Instruct(message) => {
                    let name = format!("message: {}", message.text());
                    message.acknowledge();
                    name
                }
            });
        }
        names
    }

    fn pending(&self) -> usize {
        self.folder.pending().expect("readable").len()
    }
}

fn message(text: &str) -> OperatorRequest {
    OperatorRequest::Instruct {
        text: text.to_owned(),
    }
}

#[test]
fn requests_reach_the_run_in_their_order_and_are_settled() {
    let fixture = Fixture::new();
    fixture.send(message("Use tabs."));
    fixture.send(OperatorRequest::Pause);
    fixture.send(OperatorRequest::Resume);
    fixture.send(message("And semicolons."));

    let forwarded = fixture.forwarded();

    let expected = [
        "message: Use tabs.",
        "pause",
        "resume",
        "message: And semicolons.",
    ];
    assert_eq!(forwarded, expected);
    assert_eq!(fixture.pending(), 0);
    assert!(fixture.forwarded().is_empty());
}

#[test]
fn a_pause_stays_visible_until_the_run_has_paused() {
    let fixture = Fixture::new();
    fixture.send(OperatorRequest::Pause);

    assert_eq!(fixture.forwarded(), ["pause"]);
    assert_eq!((fixture.forwarded(), fixture.pending()), (Vec::new(), 1));
    fixture.emit(RunEventKind::Paused);
    assert_eq!((fixture.forwarded(), fixture.pending()), (Vec::new(), 0));

    fixture.send(OperatorRequest::Resume);
    assert_eq!(fixture.forwarded(), ["resume"]);
}

#[test]
fn a_stop_cancels_the_run() {
    let fixture = Fixture::new();
    fixture.send(OperatorRequest::Stop);

    fixture.forwarded();

    assert!(fixture.control.is_cancelled());
    assert_eq!(fixture.pending(), 0);
}

#[test]
fn requests_to_an_earlier_process_are_deleted_but_its_messages_are_delivered() {
    let fixture = Fixture::new();
    let earlier = RunLockHolder {
        pid: std::process::id(),
        started_at: "2020-01-01T00:00:00Z".parse().expect("a time"),
    };
    for request in [
        OperatorRequest::Stop,
        OperatorRequest::Pause,
        message("Hello."),
    ] {
        let sent = fixture
            .folder
            .send(&earlier, &fixture.run, request, Timestamp::now());
        sent.expect("it is sent");
    }

    assert_eq!(fixture.forwarded(), ["message: Hello."]);
    assert!(!fixture.control.is_cancelled());
    assert_eq!(fixture.pending(), 0);
}

#[test]
fn a_message_to_another_run_is_deleted() {
    let fixture = Fixture::new();
    let other = RunId::new("other");
    let sent = fixture
        .folder
        .send(&fixture.own(), &other, message("Hello."), Timestamp::now());
    sent.expect("it is sent");

    assert!(fixture.forwarded().is_empty());
    assert_eq!(fixture.pending(), 0);
}

#[test]
fn a_message_that_no_agent_received_is_pending_for_the_next_process() {
    let fixture = Fixture::new();
    fixture.send(message("Hello."));
    let killed = RunControl::new();
    fixture
        .forwarder
        .forward_pending(&killed)
        .expect("readable");

    let next = Arc::new(RequestForwarder::new(fixture.project.project()));
    let next = Fixture {
        forwarder: next,
        control: RunControl::new(),
        ..fixture
    };
    next.emit(RunEventKind::RunStarted {
        run: &next.run,
        mode: Mode::Run,
    });

    assert_eq!(next.forwarded(), ["message: Hello."]);
    assert_eq!(next.pending(), 0);
}

#[test]
fn a_run_that_was_paused_by_an_earlier_process_is_resumed() {
    let fixture = Fixture::new();
    fixture.emit(RunEventKind::Paused);

    assert_eq!(fixture.forwarded(), ["resume"]);
    assert!(fixture.forwarded().is_empty());
}

#[test]
fn without_the_lock_nothing_is_forwarded() {
    let mut fixture = Fixture::new();
    fixture.send(OperatorRequest::Stop);
    fixture.lock = None;

    assert!(fixture.forwarded().is_empty());
    assert!(!fixture.control.is_cancelled());
}

#[test]
fn files_that_are_no_requests_are_ignored() {
    let fixture = Fixture::new();
    fixture.send(message("Hello."));
    let dir = fixture.project.project().requests_dir();
    let request = fs::read_dir(&dir)
        .expect("readable")
        .next()
        .expect("one file")
        .expect("readable")
        .path();
    fs::write(dir.join("1.json"), "nonsense").expect("writable");
    fs::write(dir.join("2.json"), " ".repeat(1 << 20)).expect("writable");
    fs::create_dir(dir.join("3.json")).expect("writable");
    symlink(&request, dir.join("4.json")).expect("writable");
    let status = Command::new("mkfifo").arg(dir.join("5.json")).status();
    assert!(status.expect("mkfifo is there").success());

    assert_eq!(fixture.forwarded(), ["message: Hello."]);
}

#[test]
fn a_folder_behind_a_symlink_is_neither_read_nor_written() {
    let fixture = Fixture::new();
    let outside = tempfile::tempdir().expect("a folder");
    symlink(outside.path(), fixture.project.project().requests_dir()).expect("writable");

    let sent = fixture.folder.send(
        &fixture.own(),
        &fixture.run,
        OperatorRequest::Stop,
        Timestamp::now(),
    );

    assert!(sent.is_err());
    assert!(fixture.folder.pending().is_err());
    let written = fs::read_dir(outside.path()).expect("readable").count();
    assert_eq!(written, 0);
}

#[test]
fn a_message_that_is_too_large_is_refused() {
    let fixture = Fixture::new();

    let sent = fixture.folder.send(
        &fixture.own(),
        &fixture.run,
        message(&"x".repeat(1 << 20)),
        Timestamp::now(),
    );

    assert!(sent.is_err());
    assert_eq!(fixture.pending(), 0);
}

#[test]
fn concurrent_senders_lose_nothing() {
    let fixture = Fixture::new();

    std::thread::scope(|scope| {
        for sender in 0..4 {
            let fixture = &fixture;
            scope.spawn(move || {
                for number in 0..10 {
                    fixture.send(message(&format!("{sender} {number}")));
                }
            });
        }
    });

    let forwarded = fixture.forwarded();
    assert_eq!(forwarded.len(), 40);
    let of_first = forwarded
        .iter()
        .filter(|text| text.starts_with("message: 0 "));
    assert!(of_first.is_sorted());
}
