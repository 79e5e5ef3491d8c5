//! Long runs, stalled runs and cancelled runs.

use serde_json::Value;

use crate::backends::backend::Backend;
use crate::backends::run_script::{
    End, RunScript, Session, lists, plans_goals, runs, sets, writes,
};
use crate::everyday::findings::Findings;
use crate::everyday::whole_run::{check_commits, commits};
use crate::everyday::workplace::{Workplace, deliverable_id};
use crate::runs::support::autonoe::{CommandOutput, RunningCommand};

const DONE: End = End::Text("That is all for now.");

/// Returns the report of the last run from the journal.
fn report(workplace: &Workplace) -> Value {
    let journal = workplace.journal();
    let ended = journal.iter().rfind(|entry| entry["line"] == "run_ended");
    ended.map_or(Value::Null, |entry| entry["report"].clone())
}

/// Runs an agent that plans `count` deliverables and then passes one per session.
pub(crate) fn each_deliverable_takes_one_session(backend: Backend, count: usize) {
    let goals = Vec::from_iter((1..=count).map(|number| format!("Page {number} is there")));
    let planning = Session::new([plans_goals(goals.iter().map(String::as_str))], DONE);
    let working = goals.iter().enumerate().map(|(index, goal)| {
        let id = deliverable_id(index);
        let page = writes(format!("pages/{id}.txt"), format!("page {id}\n"));
        Session::new([lists(), page, commits(goal), sets(&id, "passed")], DONE)
    });
    let run_script = RunScript::new([planning].into_iter().chain(working));
    let workplace = Workplace::new(backend, "project");
    workplace.start_repository();
    let server = workplace.serve(&run_script).unverified();

    let ended = CommandOutput::run(workplace.run(&server, &[]));

    let mut findings = Findings::default();
    findings.same("exit code", ended.code, Some(0));
    let report = report(&workplace);
    findings.same("exit reason", &report["exitReason"], "all_passed");
    findings.same("sessions", &report["sessions"], count + 1);
    let ids = Vec::from_iter((0..count).map(deliverable_id));
    for id in &ids {
        let page = workplace.read(&format!("pages/{id}.txt"));
        findings.same(id, page.as_str(), format!("page {id}\n"));
    }
    findings.same("deliverables", workplace.deliverables(), (ids, Vec::new()));
    let log = workplace.log();
    findings.same("passed in the log", log.matches("[PASS]").count(), count);
    check_commits(&workplace, goals.iter().map(String::as_str), &mut findings);
    for problem in server.problems() {
        findings.add(problem);
    }
    workplace.wait_for_processes();
    findings.report(&format!("{ended:?}"));
}

/// Runs an agent that looks around in every session and never sets a status.
pub(crate) fn an_agent_that_stalls_is_stopped(backend: Backend) {
    let planning = Session::new([plans_goals(["There is a greeting"])], DONE);
    let idle = || Session::new([runs("ls -la"), lists()], DONE);
    let run_script = RunScript::new([planning].into_iter().chain((0..5).map(|_| idle())));
    let workplace = Workplace::new(backend, "project");
    workplace.start_repository();
    let server = workplace.serve(&run_script).unverified();

    // Without the limit on stalled sessions, this limit ends the run.
    let ended = CommandOutput::run(workplace.run(&server, &["--max-iterations=8"]));

    let mut findings = Findings::default();
    findings.same("exit code", ended.code, Some(8));
    let report = report(&workplace);
    findings.same("exit reason", &report["exitReason"], "stalled");
    findings.same("sessions", &report["sessions"], 6);
    let pending = (Vec::new(), vec![deliverable_id(0)]);
    findings.same("deliverables", workplace.deliverables(), pending);
    let reason = "the last 5 sessions changed nothing: no deliverable, no commit, no file";
    findings.contains("standard output", &ended.stdout, reason);
    findings.contains("the log", &workplace.log(), reason);
    let names = [".git", ".gitignore", "SPEC.md"];
    findings.same("entries", workplace.names(), names);
    check_commits(&workplace, [], &mut findings);
    for problem in server.problems() {
        findings.add(problem);
    }
    workplace.wait_for_processes();
    findings.report(&format!("{ended:?}"));
}

/// Interrupts a session while one of its commands runs, and starts `autonoe run` again.
pub(crate) fn an_interrupted_run_is_continued(backend: Backend) {
    let workplace = Workplace::new(backend, "project");
    workplace.start_repository();
    let goals = ["There is a greeting", "There is a farewell"];
    workplace.plan(goals);
    let interrupted = Session::new(
        [
            writes("greeting.txt", "hello\n"),
            commits(goals[0]),
            sets("DL-001", "passed"),
            // Longer than the test waits for processes to end.
            runs("echo started > started.txt && sleep 3600"),
        ],
        DONE,
    );
    let run_script = RunScript::new([interrupted]);
    let server = workplace.serve(&run_script).unverified();
    let run = workplace.run(&server, &[]);
    let started = workplace.root().join("started.txt");
    let run = RunningCommand::until_file_has(run, &started, "started");

    run.interrupt();
    let (code, output) = run.end();

    let mut findings = Findings::default();
    findings.same("exit code", code, Some(130));
    workplace.wait_for_processes();
    let half = (vec![deliverable_id(0)], vec![deliverable_id(1)]);
    findings.same("deliverables", workplace.deliverables(), half);
    findings.contains("the log", &workplace.log(), "it was cancelled");
    findings.same(
        "commits",
        workplace.commits(),
        [format!("Ada: {}", goals[0])],
    );
    drop(server);

    let farewell = Session::new(
        [
            writes("farewell.txt", "bye\n"),
            commits(goals[1]),
            sets("DL-002", "passed"),
        ],
        DONE,
    );
    let server = workplace.serve(&RunScript::new([farewell])).unverified();
    let ended = CommandOutput::run(workplace.run(&server, &[]));

    findings.same("exit code of the next run", ended.code, Some(0));
    let both = (vec![deliverable_id(0), deliverable_id(1)], Vec::new());
    findings.same("deliverables at the end", workplace.deliverables(), both);
    for (name, text) in [("greeting.txt", "hello\n"), ("farewell.txt", "bye\n")] {
        findings.same(name, workplace.read(name).as_str(), text);
    }
    let line = "[PASS] There is a farewell (DL-002)";
    findings.contains("the log", &workplace.log(), line);
    check_commits(&workplace, goals, &mut findings);
    for problem in server.problems() {
        findings.add(problem);
    }
    workplace.wait_for_processes();
    findings.report(&format!("{output}\n{ended:?}"));
}
