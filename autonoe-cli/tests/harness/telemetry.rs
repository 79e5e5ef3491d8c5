//! Fleets whose telemetry is exported to an OpenTelemetry receiver.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use autonoe_harness::folder::MemberFolder;
use autonoe_harness::strategy::MemberId;
use serde_json::json;

use crate::harness::fixture::{Fixture, RunningCommand, ends, run as run_with, session, writes};
use crate::runs::support::script::calls_model;
use crate::runs::telemetry::EXPORT_LIMIT;
use crate::runs::telemetry::metrics::{Metrics, metrics_of_processes, sum};
use crate::runs::telemetry::receiver::Receiver;
use crate::runs::telemetry::spans::{Span, spans};

const FLEET: &str = "invoke_workflow roadmap";

/// Two independent tasks.
const ROADMAP: &str = "\
# A calculator

## Objective
A calculator for the terminal.

## Tasks
- [ ] **good**: Read sums.
  - success: `test -f good.txt`
- [ ] **bad**: Write about it.
  - success: `test -f bad.txt`
";

fn fixture(roadmap: &str) -> Fixture {
    let fixture = Fixture::new();
    fixture.write("ROADMAP.md", roadmap);
    fixture.git(&[
        "commit",
        "-q",
        "-a",
        "--allow-empty",
        "-m",
        "Another roadmap",
    ]);
    fixture
}

/// Prepares `autonoe harness run` with an export to `receiver`.
fn exported(fixture: &Fixture, receiver: &Receiver, options: &[&str]) -> Command {
    let mut command = fixture.command(&run_with(options));
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url())
        .envs([EXPORT_LIMIT]);
    command
}

fn named<'s>(spans: &'s [Span], name: &str) -> Vec<&'s Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

fn only<'s>(spans: &'s [Span], name: &str) -> &'s Span {
    match named(spans, name)[..] {
        [span] => span,
        ref others => panic!("{} spans {name}: {spans:#?}", others.len()),
    }
}

/// Returns the names of the ancestors of a span, from its parent to the root.
fn ancestors<'s>(spans: &'s [Span], span: &Span) -> Vec<&'s str> {
    let mut names = Vec::new();
    let mut parent = span.parent.clone();
    while !parent.is_empty() {
        let found = spans.iter().find(|other| other.id == parent);
        let found = found.unwrap_or_else(|| panic!("no parent of {span:?} came"));
        names.push(found.name.as_str());
        parent.clone_from(&found.parent);
    }
    names
}

/// Sums the series of a metric with this attribute over all processes.
fn total(metrics: &[Metrics], metric: &str, attribute: &str, value: &str) -> f64 {
    let series = metrics.iter().filter_map(|metrics| metrics.get(metric));
    series.map(|series| sum(series, attribute, value)).sum()
}

// Shows: framework/models/export-to-receiver
#[test]
fn a_fleet_is_received_as_one_tree_and_its_metrics_add_up() {
    let (fixture, receiver) = (fixture(ROADMAP), Receiver::start());
    let agents = fixture.agents(
        "agents",
        &[
            session(
                "good",
                [
                    calls_model("a-model", "yes"),
                    writes("good.txt", "it"),
                    ends(),
                ],
            ),
            session("bad", [calls_model("a-model", "no"), ends()]),
        ],
    );
    let options = ["--backend", &agents, "--max-iterations", "1"];

    let ended = RunningCommand::start(exported(&fixture, &receiver, &options)).end();

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(!ended.stderr.contains("telemetry"), "{ended:?}");
    let spans = spans(&receiver);
    let fleet = only(&spans, FLEET);
    assert_eq!(fleet.parent, "");
    assert!(fleet.is_error, "{fleet:?}");
    assert_eq!(fleet.attributes["autonoe.fleet.strategy"], "graph");
    for (member, outcome, is_error) in [("good", "succeeded", false), ("bad", "failed", true)] {
        let span = only(&spans, &format!("invoke_agent {member}"));
        assert_eq!(span.parent, fleet.id);
        assert_eq!(span.attributes["autonoe.member.outcome"], outcome);
        assert_eq!(span.is_error, is_error, "{span:?}");
    }
    let chats = named(&spans, "chat a-model");
    let chats_of = |member: &str| {
        let member = format!("invoke_agent {member}");
        let ancestors = chats.iter().map(|chat| ancestors(&spans, chat));
        ancestors
            .filter(|ancestors| ancestors.ends_with(&[&member, FLEET]))
            .count()
    };
    assert_eq!((chats.len(), chats_of("good"), chats_of("bad")), (2, 1, 1));
    for span in &spans {
        assert_eq!(span.trace, fleet.trace);
        let ancestors = ancestors(&spans, span);
        assert!(
            span.id == fleet.id || ancestors.ends_with(&[FLEET]),
            "{ancestors:?}"
        );
    }

    let processes = metrics_of_processes(&receiver);
    assert_eq!(processes.len(), 3, "{:?}", processes.keys());
    let metrics: Vec<_> = processes.into_values().collect();
    let members = |outcome| {
        total(
            &metrics,
            "autonoe.members",
            "autonoe.member.outcome",
            outcome,
        )
    };
    assert_eq!((members("succeeded"), members("failed")), (1.0, 1.0));
    let sessions = total(
        &metrics,
        "autonoe.sessions",
        "autonoe.session.end",
        "completed",
    );
    assert_eq!(sessions, 2.0);
    let cost = total(
        &metrics,
        "autonoe.cost",
        "gen_ai.operation.name",
        "invoke_agent",
    );
    assert!((cost - 0.5).abs() < 1e-9, "{cost}");
}

#[test]
fn a_restarted_member_has_one_span_for_both_processes() {
    let (fixture, receiver) = (Fixture::new(), Receiver::start());
    let agents = fixture.usual_agents(&[("parser", "go")]);
    let run = RunningCommand::start(exported(&fixture, &receiver, &["--backend", &agents]));
    fixture.until_log_has("parser", "Session 1 started");
    let folder = fixture.project().join(".harness");
    let folder = MemberFolder::new(&folder, &MemberId::new("roadmap.parser")).expect("a folder");
    let pid = folder.view().expect("readable").pid.expect("it is served");
    let pid = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);

    rustix::process::kill_process(pid.expect("a process"), rustix::process::Signal::KILL)
        .expect("it is ours");
    fixture.release("go");
    let ended = run.end();

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let spans = spans(&receiver);
    let parser = only(&spans, "invoke_agent parser");
    assert_eq!(parser.parent, only(&spans, FLEET).id);
    let below = spans.iter().filter(|span| span.parent == parser.id);
    assert_eq!(below.count(), 1, "{spans:#?}");
    for span in &spans {
        assert_eq!(span.trace, parser.trace);
        ancestors(&spans, span);
    }
}

#[test]
fn a_resumed_fleet_is_in_the_trace_of_the_first_coordinator_and_below_its_span() {
    let (fixture, receiver) = (Fixture::new(), Receiver::start());
    let agents = fixture.usual_agents(&[("parser", "go")]);
    let options = ["--backend", &agents];
    let run = RunningCommand::start(exported(&fixture, &receiver, &options));
    fixture.until_log_has("parser", "Session 1 started");
    fixture.until_member_is("docs", "completed");
    run.interrupt();
    assert_eq!(run.end().code, Some(130));
    fixture.release("go");

    let ended = RunningCommand::start(exported(&fixture, &receiver, &options)).end();

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let spans = spans(&receiver);
    let [first, second] = named(&spans, FLEET)[..] else {
        panic!("{spans:#?}")
    };
    assert_eq!((first.parent.as_str(), &second.parent), ("", &first.id));
    assert!(spans.iter().all(|span| span.trace == first.trace));
    for (member, coordinators) in [("docs", 1), ("parser", 2), ("shell", 1)] {
        let found = named(&spans, &format!("invoke_agent {member}"));
        assert_eq!(found.len(), coordinators, "{member}: {spans:#?}");
    }
    let metrics: Vec<_> = metrics_of_processes(&receiver).into_values().collect();
    let counted = total(
        &metrics,
        "autonoe.members",
        "autonoe.member.outcome",
        "succeeded",
    );
    assert_eq!(counted, 2.0, "docs had ended before");
}

#[test]
fn members_get_the_headers_of_the_exporter_and_agents_do_not() {
    let (fixture, receiver) = (fixture(ROADMAP), Receiver::start());
    let (program, seen) = (fixture.sibling_path("claude"), fixture.sibling_path("seen"));
    let script = format!(
        "#!/bin/sh\ncase \"$1\" in --version) echo '2.1.325 (Claude Code)'; exit 0;; esac\n\
         env > '{}'\nexit 1\n",
        seen.display()
    );
    fs::write(&program, script).expect("writable");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("ours");
    let backend = json!({"type": "claude", "program": program}).to_string();
    let telemetry =
        json!({"headers": {"x-token": {"env": "THE_TOKEN"}}, "endpoint": receiver.url()});
    fixture.write(
        ".autonoe/models.json",
        &json!({"telemetry": telemetry}).to_string(),
    );
    let options = [
        "--backend",
        &backend,
        "--no-sandbox",
        "--max-iterations",
        "1",
    ];
    let mut command = fixture.command(&run_with(&options));
    command
        .envs([EXPORT_LIMIT])
        .env("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20it")
        .env("THE_TOKEN", "a private token")
        .env("ANTHROPIC_API_KEY", "nobody checks it");

    let ended = RunningCommand::start(command).end();

    assert_eq!(ended.code, Some(1), "{ended:?}");
    let of_members = spans(&receiver).into_iter().filter(|span| {
        let instance = span.resource.get("service.instance.id");
        instance.is_some_and(|it| it.starts_with("roadmap.good-"))
    });
    assert_ne!(of_members.count(), 0, "{ended:?}");
    for request in receiver.requests() {
        assert_eq!(request.headers["authorization"], "Bearer it");
        assert_eq!(request.headers["x-token"], "a private token");
    }
    let seen = fs::read_to_string(seen).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    assert!(seen.contains("TRACEPARENT=00-"), "{seen}");
    for private in [
        "OTEL_EXPORTER_OTLP_HEADERS",
        "THE_TOKEN",
        "private token",
        "Bearer",
    ] {
        assert!(!seen.contains(private), "{private}: {seen}");
    }
}

#[test]
fn a_missing_receiver_causes_one_warning_and_no_other_change() {
    let fixture = Fixture::new();
    let agents = fixture.usual_agents(&[]);
    let mut command = fixture.command(&run_with(&["--backend", &agents]));
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");

    let ended = RunningCommand::start(command).end();

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let warnings = ended.stderr.matches("telemetry: ").count();
    assert_eq!(warnings, 1, "{ended:?}");
    let log = fixture.read(".harness/roadmap.docs/harness.log");
    assert!(log.contains("telemetry: "), "{log}");
}
