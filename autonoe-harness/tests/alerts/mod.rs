//! Tests of alerts: recording, delivery and broken sinks.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::RunId;
use autonoe_core::engine::{JobContext, JobRunner, RunOutcome, RunSpec};
use autonoe_harness::alert::{Alert, AlertLog, AlertManager, AlertSink, Severity};
use autonoe_harness::folder::{FolderError, MemberFolder, MemberStatus};
use autonoe_harness::strategy::MemberId;
use autonoe_harness::{MemberHandle, MemberServer};
use autonoe_testkit::VirtualClock;
use jiff::Timestamp;
use serde_json::json;
use tokio::time::Instant;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

fn alert(kind: &str, severity: Severity) -> Alert {
    let at = "2026-01-31T12:00:00Z".parse::<Timestamp>().expect("a time");
    Alert::new(kind, severity, "something happened", at).iteration(3)
}

/// Records the alerts that it receives.
#[derive(Clone, Default)]
struct AlertRecorder(Arc<Mutex<Vec<String>>>);

impl AlertRecorder {
    fn kinds(&self) -> Vec<String> {
        self.0.lock().expect("not poisoned").clone()
    }

    fn sink(&self) -> impl AlertSink + use<> {
        let kinds = Arc::clone(&self.0);
        move |alert: &Alert| kinds.lock().expect("not poisoned").push(alert.kind.clone())
    }
}

/// A sink that misbehaves.
#[derive(Clone, Copy, Debug)]
enum Broken {
    Refuses,
    Panics,
    Hangs,
}

#[async_trait]
impl AlertSink for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    async fn deliver(&self, _: &Alert) -> Result<(), BoxError> {
        match self {
            Self::Refuses => Err("not now".into()),
            Self::Panics => panic!("it breaks"),
            Self::Hangs => std::future::pending().await,
        }
    }
}

#[tokio::test]
async fn an_alert_is_in_the_log_of_its_member_and_in_the_shared_log() {
    let dir = tempfile::tempdir().expect("a folder");
    let (own, all) = (
        dir.path().join("a/alerts.log"),
        dir.path().join("alerts.log"),
    );
    let one = AlertManager::new(&own).shared_log(&all);
    let other = AlertManager::new(dir.path().join("b/alerts.log")).shared_log(&all);
    let first = alert("stuck", Severity::Error).member(MemberId::new("a"));
    let first = first.detail("score", json!([1, null]));
    let second = alert("done", Severity::Success).member(MemberId::new("b"));

    one.alert(first.clone()).await.expect("kept");
    other.alert(second.clone()).await.expect("kept");

    let of_one = AlertLog::new(&own).read().expect("read").alerts;
    let of_all = AlertLog::new(&all).read().expect("read").alerts;
    assert_eq!(of_one, of_all[..1]);
    assert_eq!(of_all, [first, second]);
    let line = fs::read_to_string(&own).expect("readable");
    let json: serde_json::Value = serde_json::from_str(&line).expect("one line of JSON");
    let expected = json!({
        "type": "stuck", "severity": "ERROR", "message": "something happened",
        "timestamp": "2026-01-31T12:00:00Z", "iteration": 3,
        "context": {"score": [1, null]}, "member": "a",
    });
    assert_eq!(json, expected);
}

#[tokio::test]
async fn alerts_are_written_with_the_severities_of_the_specification() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("alerts.log");
    let alerts = AlertManager::new(&path);
    for severity in Severity::ALL {
        alerts.alert(alert("k", severity)).await.expect("kept");
    }

    let text = fs::read_to_string(&path).expect("readable");

    let words = ["INFO", "WARNING", "CRITICAL", "SUCCESS", "ERROR"];
    assert_eq!(text.lines().count(), words.len());
    for (line, word) in text.lines().zip(words) {
        assert!(line.contains(&format!("\"severity\":\"{word}\"")), "{line}");
    }
    let read = AlertLog::new(&path).read().expect("read").alerts;
    let severities: Vec<_> = read.iter().map(|alert| alert.severity).collect();
    assert_eq!(severities, Severity::ALL);
}

#[tokio::test]
async fn alerts_are_found_by_severity_and_by_how_recent_they_are() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("alerts.log");
    let alerts = AlertManager::new(&path);
    for (number, severity) in Severity::ALL.into_iter().cycle().take(12).enumerate() {
        let kind = format!("k{number}");
        alerts.alert(alert(&kind, severity)).await.expect("kept");
    }

    let history = AlertLog::new(&path).read().expect("readable");

    let warnings = history.by_severity(Severity::Warning);
    let warnings: Vec<_> = warnings.map(|alert| alert.kind.as_str()).collect();
    assert_eq!(warnings, ["k1", "k6", "k11"]);
    let recent = history.recent(3).iter();
    let recent: Vec<_> = recent.map(|alert| alert.kind.as_str()).collect();
    assert_eq!(recent, ["k9", "k10", "k11"]);
    assert_eq!(history.alerts.len(), 12);
    assert_eq!(history.recent(100), history.alerts);
}

fn folder(root: &Path, id: &str) -> MemberFolder {
    let folder = MemberFolder::new(root, &MemberId::new(id)).expect("an id");
    let order = RunSpec::new(RunId::new(id), "work", json!(null));
    folder.submit(&order).expect("writable");
    folder
}

#[tokio::test]
async fn only_a_critical_alert_pauses_the_run_and_only_if_configured() {
    let dir = tempfile::tempdir().expect("a folder");
    let (paused, untouched) = (folder(dir.path(), "a"), folder(dir.path(), "b"));
    let is_paused = |folder: &MemberFolder| folder.is_pause_requested().expect("readable");
    let alerts = AlertManager::new(dir.path().join("a.log")).pausing_on_critical(&paused);
    let unconfigured = AlertManager::new(dir.path().join("b.log"));
    for severity in Severity::ALL {
        if severity != Severity::Critical {
            alerts.alert(alert("k", severity)).await.expect("kept");
        }
    }
    assert!(!is_paused(&paused));

    alerts
        .alert(alert("runaway", Severity::Critical))
        .await
        .expect("kept");
    let critical = alert("runaway", Severity::Critical);
    unconfigured.alert(critical).await.expect("kept");

    assert!(is_paused(&paused));
    assert!(!is_paused(&untouched));
}

/// Raises a critical alert, and then waits until it is cancelled.
struct Alarming(AlertManager);

#[async_trait]
impl JobRunner for Alarming {
    async fn run(&self, _: &RunSpec, context: &JobContext) -> RunOutcome {
        let raised = self.0.alert(alert("runaway", Severity::Critical)).await;
        raised.expect("it is kept");
        context.control().cancelled().await;
        RunOutcome::cancelled("")
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_by_an_alert_is_visible_and_can_be_undone() {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = folder(dir.path(), "a");
    let alerts = AlertManager::new(dir.path().join("a.log")).pausing_on_critical(&folder);
    let serving = MemberServer::new(folder.clone(), Arc::new(Alarming(alerts)));
    let served = tokio::spawn(serving.clock(Arc::new(VirtualClock::new())).run());
    let handle = MemberHandle::open(folder).expect("it is there");
    let assert_status = async |status| {
        while handle.refresh().await.expect("readable").status != status {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };

    assert_status(MemberStatus::Paused).await;
    handle.resume().await.expect("it is there");
    assert_status(MemberStatus::Running).await;

    handle.stop("enough").await.expect("it is there");
    served.await.expect("no panic").expect("it is served");
}

#[tokio::test]
async fn a_run_that_cannot_be_paused_is_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let missing = MemberFolder::new(&dir.path().join("gone"), &MemberId::new("a")).expect("an id");
    let alerts = AlertManager::new(dir.path().join("a.log")).pausing_on_critical(&missing);

    let raised = alerts.alert(alert("runaway", Severity::Critical)).await;

    assert!(
        matches!(&raised, Err(FolderError::Unwritable { path, .. }) if path.starts_with(missing.path())),
        "{raised:?}"
    );
    let history = AlertLog::new(dir.path().join("a.log")).read();
    assert_eq!(history.expect("readable").alerts.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_failing_or_hanging_sink_loses_and_blocks_nothing() {
    for broken in [Broken::Refuses, Broken::Panics, Broken::Hangs] {
        let dir = tempfile::tempdir().expect("a folder");
        let recorded = AlertRecorder::default();
        let path = dir.path().join("alerts.log");
        let alerts = AlertManager::new(&path)
            .deadline(Duration::from_secs(30))
            .sink(broken)
            .sink(recorded.sink());

        let started = Instant::now();
        for kind in ["one", "two"] {
            alerts
                .alert(alert(kind, Severity::Info))
                .await
                .expect("kept");
        }
        let raised_after = started.elapsed();
        alerts.flush().await;

        assert_eq!(raised_after, Duration::ZERO, "{broken:?}");
        assert_eq!(recorded.kinds(), ["one", "two"], "{broken:?}");
        let history = AlertLog::new(&path).read().expect("readable");
        assert_eq!(history.alerts.len(), 2);
        let limit = Duration::from_secs(61);
        assert!(
            started.elapsed() < limit,
            "{broken:?}: {:?}",
            started.elapsed()
        );
    }
}

#[tokio::test]
async fn a_log_that_cannot_be_written_is_an_error_and_everything_else_is_done() {
    let dir = tempfile::tempdir().expect("a folder");
    let (recorded, folder) = (AlertRecorder::default(), folder(dir.path(), "a"));
    let all = dir.path().join("alerts.log");
    let alerts = AlertManager::new(dir.path())
        .shared_log(&all)
        .sink(recorded.sink())
        .pausing_on_critical(&folder);

    let recorded_alert = alerts.alert(alert("runaway", Severity::Critical)).await;
    alerts.flush().await;

    assert!(recorded_alert.is_err(), "a folder stands in its place");
    assert_eq!(recorded.kinds(), ["runaway"]);
    assert_eq!(AlertLog::new(&all).read().expect("read").alerts.len(), 1);
    assert!(folder.is_pause_requested().expect("readable"));
}

#[test]
fn concurrent_writers_tear_no_line() {
    const WRITERS: usize = 8;
    const ALERTS: usize = 25;
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("alerts.log");

    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let path: &Path = &path;
            scope.spawn(move || {
                for number in 0..ALERTS {
                    let alert = alert(&format!("{writer}"), Severity::Info).detail("n", number);
                    AlertLog::new(path).append(&alert).expect("writable");
                }
            });
        }
    });

    let history = AlertLog::new(&path).read().expect("readable");
    assert_eq!(history.unreadable, []);
    for writer in 0..WRITERS {
        let own = history
            .alerts
            .iter()
            .filter(|alert| alert.kind == writer.to_string());
        let numbers: Vec<_> = own.map(|alert| alert.context["n"].clone()).collect();
        let expected: Vec<_> = (0..ALERTS).map(|number| json!(number)).collect();
        assert_eq!(numbers, expected);
    }
}

#[test]
fn a_locked_log_does_not_block_writers_for_long() {
    let dir = tempfile::tempdir().expect("a folder");
    let log = AlertLog::new(dir.path().join("alerts.log"));
    let holder = fs::File::create(log.path()).expect("writable");
    holder.lock().expect("it is unlocked");

    log.append(&alert("stuck", Severity::Error))
        .expect("writable");

    assert_eq!(log.read().expect("readable").alerts.len(), 1);
}
