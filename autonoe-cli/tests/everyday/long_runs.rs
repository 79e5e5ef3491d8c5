//! Runs of many sessions, stalled runs, and interrupted runs.

use serde_json::Value;

use crate::backends::backend::Backend;
use crate::backends::on_models::Api;
use crate::backends::story::{End, Session, Story, lists, plans_goals, runs, sets, writes};
use crate::build::{Build, on_both_builds};
use crate::everyday::workplace::{Workplace, deliverable_id};
use crate::runs::support::autonoe::Ended;
use crate::runs::support::killed::UnderWay;

const DONE: End = End::Says("That is all for now.");

/// Returns the report of the run from its journal.
fn report(journal: &[Value]) -> &Value {
    let ended = journal.iter().find(|entry| entry["line"] == "run_ended");
    &ended.expect("the run ended")["report"]
}

fn thirty_deliverables_take_thirty_one_sessions_on(backend: Backend) {
    let goals: Vec<_> = (1..=30)
        .map(|number| format!("Page {number} is there"))
        .collect();
    let planning = Session::new([plans_goals(goals.iter().map(String::as_str))], DONE);
    let working = (0..30).map(|index| {
        let id = deliverable_id(index);
        let page = writes(format!("pages/{id}.txt"), format!("page {id}\n"));
        Session::new([lists(), page, sets(&id, "passed")], DONE)
    });
    let story = Story::new([planning].into_iter().chain(working));
    let workplace = Workplace::new(backend, "project");
    let server = backend.serve(&story, &workplace.root());

    let ended = Ended::of(workplace.run(&server, &[]));

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let journal = workplace.journal();
    assert_eq!(report(&journal)["exitReason"], "all_passed", "{ended:?}");
    assert_eq!(report(&journal)["sessions"], 31, "{ended:?}");
    let (passed, others) = workplace.deliverables();
    assert_eq!((passed.len(), others.len()), (30, 0), "{ended:?}");
    for id in passed {
        let text = workplace.read(&format!("pages/{id}.txt"));
        assert_eq!(text, format!("page {id}\n"));
    }
    let log = workplace.log();
    assert_eq!(log.matches("[PASS]").count(), 30, "{log}");
    server.verify();
    workplace.wait_for_processes();
}

#[test]
fn thirty_deliverables_take_thirty_one_sessions_on_claude_code() {
    thirty_deliverables_take_thirty_one_sessions_on(Backend::Claude(Build::NEWER.version));
}

#[test]
fn thirty_deliverables_take_thirty_one_sessions_on_a_model() {
    thirty_deliverables_take_thirty_one_sessions_on(Backend::Model(Api::Messages));
}

/// Lists files in every session and never changes a deliverable.
fn an_agent_that_stalls_is_stopped_on(backend: Backend) {
    let planning = Session::new([plans_goals(["There is a greeting"])], DONE);
    let idle = || Session::new([runs("ls -la"), lists()], DONE);
    let story = Story::new([planning].into_iter().chain((0..5).map(|_| idle())));
    let workplace = Workplace::new(backend, "project");
    let server = backend.serve(&story, &workplace.root()).unverified();

    // Without the limit on stalled sessions, this limit ends the run.
    let ended = Ended::of(workplace.run(&server, &["--max-iterations=8"]));

    let journal = workplace.journal();
    let report = report(&journal);
    assert_eq!(report["exitReason"], "stalled", "{ended:?}");
    assert_eq!(report["sessions"], 6, "{ended:?}");
    assert_eq!(ended.code, Some(8), "{ended:?}");
    let deliverables = (Vec::new(), vec![deliverable_id(0)]);
    assert_eq!(workplace.deliverables(), deliverables);
    assert!(
        workplace.log().contains("5 sessions"),
        "{}",
        workplace.log()
    );
    assert_eq!(workplace.names(), ["SPEC.md"]);
    server.verify();
    workplace.wait_for_processes();
}

#[test]
fn an_agent_that_stalls_is_stopped_on_claude_code() {
    an_agent_that_stalls_is_stopped_on(Backend::Claude(Build::NEWER.version));
}

#[test]
fn an_agent_that_stalls_is_stopped_on_a_model() {
    an_agent_that_stalls_is_stopped_on(Backend::Model(Api::Messages));
}

/// Interrupts a session while one of its commands runs, and starts `autonoe run` again.
async fn the_next_run_continues_after_an_interruption(build: Build) {
    let backend = Backend::Claude(build.version);
    let workplace = Workplace::new(backend, "project");
    let goals = ["There is a greeting", "There is a farewell"];
    let planning = Session::new([plans_goals(goals)], DONE);
    let interrupted = Session::new(
        [
            writes("greeting.txt", "hello\n"),
            sets("DL-001", "passed"),
            runs("echo started > started.txt && sleep 600"),
        ],
        DONE,
    );
    let story = Story::new([planning, interrupted]);
    let server = backend.serve(&story, &workplace.root()).unverified();
    let run = workplace.run(&server, &[]);
    let started = workplace.root().join("started.txt");
    let run = UnderWay::until_file_has(run, &started, "started");

    run.interrupt();
    let (code, output) = run.end();

    assert_eq!(code, Some(130), "{output}");
    workplace.wait_for_processes();
    let half = (vec![deliverable_id(0)], vec![deliverable_id(1)]);
    assert_eq!(workplace.deliverables(), half, "{output}");
    let log = workplace.log();
    assert!(log.contains("interrupted"), "{log}");
    drop(server);

    let farewell = Session::new(
        [writes("farewell.txt", "bye\n"), sets("DL-002", "passed")],
        DONE,
    );
    let server = backend.serve(&Story::new([farewell]), &workplace.root());
    let ended = Ended::of(workplace.run(&server, &[]));

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let both = (vec![deliverable_id(0), deliverable_id(1)], Vec::new());
    assert_eq!(workplace.deliverables(), both);
    let names = ["SPEC.md", "farewell.txt", "greeting.txt", "started.txt"];
    assert_eq!(workplace.names(), names);
    server.verify();
    workplace.wait_for_processes();
}

on_both_builds![the_next_run_continues_after_an_interruption];
