//! Failed runs, and failing receivers.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::json;

use super::metrics::{metrics, sum};
use super::receiver::{Answer, Receiver};
use super::spans::spans;
use super::{exported, script};
use crate::runs::support::autonoe::{CommandOutput, RunningCommand, scripted_command};
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, creates, hangs};

/// Longer than a run takes on a busy machine, and shorter than the time limit of an export.
const SOON: Duration = Duration::from_secs(300);

/// The time limit of an export, in milliseconds.
const LIMIT: &str = "600000";

#[test]
fn a_failing_telemetry_receiver_causes_one_warning() {
    // A port at which nothing listens.
    let unused_address = TcpListener::bind("127.0.0.1:0")
        .and_then(|it| it.local_addr())
        .expect("a port");
    let silent = Receiver::answering(Answer::Nothing);
    let refusing = Receiver::answering(Answer::Status(401));
    let broken = Receiver::answering(Answer::Status(503));
    // The time limits of single signals do not change the wait of two seconds at the end of the
    // run.
    let of_signals = &[
        "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
        "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT",
    ][..];
    // The time limit of all signals extends that wait: the answer arrives before its end.
    let of_all = &["OTEL_EXPORTER_OTLP_TIMEOUT"][..];
    for (url, limits, expected) in [
        (
            format!("http://{unused_address}"),
            of_all,
            "onnection refused",
        ),
        (silent.url(), of_signals, "longer than 2s"),
        (refusing.url(), of_all, "the receiver responded with 401"),
        (broken.url(), of_all, "the receiver responded with 503"),
    ] {
        let project = Project::new();
        let mut command = scripted_command(&project, &script(), &["run"]);
        command
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", url)
            .envs(limits.iter().map(|limit| (limit, LIMIT)));
        let started_at = Instant::now();

        let ended = CommandOutput::run(command);

        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(
            started_at.elapsed() < SOON,
            "{expected}: {:?}",
            started_at.elapsed()
        );
        let mut lines = ended
            .stderr
            .lines()
            .filter(|line| line.contains("telemetry"));
        let line = lines.next().expect("it is told");
        assert!(line.contains(expected), "{line}");
        assert_eq!(lines.next(), None, "{ended:?}");
        assert!(
            ended.stdout.contains("1 of 1 deliverables passed"),
            "{ended:?}"
        );
    }
}

#[test]
fn telemetry_uses_the_certificate_authorities_of_models() {
    let project = Project::new();
    let models = json!({"trust": {"system": "ignored", "pem": "no certificate"}});
    project.write(".autonoe/models.json", &models.to_string());
    let mut command = scripted_command(&project, &script(), &["run"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "https://127.0.0.1:9");

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let expected = "telemetry is off: no certificate can be trusted: `pem` contains no PEM";
    assert!(ended.stderr.contains(expected), "{ended:?}");
}

#[test]
fn an_impossible_request_is_reported_and_the_run_continues() {
    let receiver = Receiver::start();
    for (variable, value) in [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_TRACES_EXPORTER", "zipkin"),
    ] {
        let project = Project::new();
        let mut command = exported(&project, &script(), &receiver);
        command.env(variable, value);

        let ended = CommandOutput::run(command);

        assert_eq!(ended.code, Some(0), "{ended:?}");
        let expected = "telemetry is off";
        assert!(ended.stderr.contains(expected), "{variable}: {ended:?}");
    }
    assert!(receiver.requests().is_empty());
}

#[test]
fn disabled_telemetry_exports_nothing() {
    for (variable, value, paths) in [
        ("OTEL_SDK_DISABLED", "true", &[][..]),
        ("OTEL_TRACES_EXPORTER", "none", &["/v1/metrics"]),
        ("OTEL_METRICS_EXPORTER", "none", &["/v1/traces"]),
    ] {
        let (project, receiver) = (Project::new(), Receiver::start());
        let mut command = exported(&project, &script(), &receiver);
        command.env(variable, value);

        let ended = CommandOutput::run(command);

        assert_eq!(ended.code, Some(0), "{ended:?}");
        let mut paths_received: Vec<_> =
            receiver.requests().into_iter().map(|it| it.path).collect();
        paths_received.dedup();
        assert_eq!(paths_received, paths, "{variable}");
    }
}

#[test]
fn other_commands_export_nothing() {
    let (project, receiver) = (Project::new(), Receiver::start());
    for command in ["status", "log"] {
        let mut command = crate::runs::support::autonoe::autonoe(&project, &[command]);
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url());

        let ended = CommandOutput::run(command);

        assert_eq!(ended.code, Some(0), "{ended:?}");
    }
    assert!(receiver.requests().is_empty());
}

#[test]
fn a_run_that_fails_is_exported_with_the_reason() {
    let (project, receiver) = (Project::new(), Receiver::start());
    let script = Script::new().session([json!({"endsWithError": "it broke"})]);
    let mut command = exported(&project, &script, &receiver);
    command.arg("--max-retries=0");

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(7), "{ended:?}");
    let spans = spans(&receiver);
    let [run, session] = &spans[..] else {
        panic!("{spans:?}");
    };
    assert!(run.is_error && session.is_error, "{spans:?}");
    assert_eq!(run.attributes["error.type"], "max_retries_exceeded");
    let sessions = &metrics(&receiver)["autonoe.sessions"];
    assert!((sum(sessions, "autonoe.session.end", "execution_error") - 1.0).abs() < 1e-9);
}

#[test]
fn a_run_that_is_interrupted_is_exported_with_all_that_was_open() {
    let (project, receiver) = (Project::new(), Receiver::start());
    let script = Script::new().session([creates(&["DL-001"]), hangs()]);
    let command = exported(&project, &script, &receiver);
    let ledger = project.path(".autonoe/status.json");
    let run = RunningCommand::until_file_has(command, &ledger, "DL-001");

    run.interrupt();
    let (code, written) = run.end();

    assert_eq!(code, Some(130), "{written}");
    let spans = spans(&receiver);
    let names: Vec<_> = spans.iter().map(|span| &*span.name).collect();
    assert_eq!(
        names,
        [
            "invoke_workflow run",
            "invoke_agent initializer",
            "execute_tool mcp__autonoe__create"
        ]
    );
    assert_eq!(spans[1].parent, spans[0].id);
    assert_eq!(spans[2].parent, spans[1].id);
    assert_eq!(spans[0].attributes["autonoe.run.exit"], "interrupted");
}
