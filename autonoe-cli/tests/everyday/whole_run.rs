//! A run of chores from the plan to the last deliverable, and all checks on it.

use std::collections::BTreeSet;

use autonoe_testkit::Expectation;
use autonoe_testkit::model_server::ToolResult;
use serde_json::{Value, json};

use crate::backends::backend::Backend;
use crate::backends::served::Server;
use crate::backends::story::{Call, End, Session, Story, What, plans_goals, sets};
use crate::everyday::chore::Chore;
use crate::everyday::findings::Findings;
use crate::everyday::workplace::{Workplace, deliverable_id};
use crate::runs::support::autonoe::Ended;

/// Runs chores in a project with a plain name.
pub(crate) fn run_chores(backend: Backend, chores: impl IntoIterator<Item = Chore>) {
    run_chores_in("project", backend, chores);
}

/// Runs chores: one session plans a deliverable for each, the next one does all of them.
pub(crate) fn run_chores_in(
    project: &str,
    backend: Backend,
    chores: impl IntoIterator<Item = Chore>,
) {
    let chores: Vec<_> = chores.into_iter().collect();
    let workplace = Workplace::new(backend, project);
    workplace.configure(&merged_settings(&chores));
    for (name, text) in chores.iter().flat_map(|chore| &chore.files) {
        workplace.write(name, text);
    }
    let story = story(&chores);
    let server = backend.serve(&story, &workplace.root()).unverified();
    let flags: BTreeSet<_> = chores.iter().flat_map(|chore| &chore.flags).collect();
    let flags: Vec<_> = flags.into_iter().copied().collect();

    let ended = Ended::of(workplace.run(&server, &flags));

    let mut findings = Findings::default();
    findings.same("exit code", ended.code, Some(0));
    for problem in server.problems() {
        findings.add(problem);
    }
    check_calls(&story, backend, &server, &mut findings);
    check_records(&chores, &story, &workplace, &mut findings);
    let names = chores.iter().flat_map(|chore| &chore.leaves).copied();
    let mut names: Vec<&str> = names.chain(["SPEC.md"]).collect();
    names.sort_unstable();
    findings.same("entries of the project", workplace.names(), names);
    for chore in &chores {
        (chore.check)(&workplace, &mut findings);
    }
    workplace.wait_for_processes();
    findings.report(&format!(
        "stdout: {}\nstderr: {}",
        ended.stdout, ended.stderr
    ));
}

fn story(chores: &[Chore]) -> Story {
    let goals = chores.iter().map(|chore| chore.goal);
    let planning = Session::new([plans_goals(goals)], End::Says("The plan is ready."));
    let mut working = Session::new([], End::Says("All done."));
    for (index, chore) in chores.iter().enumerate() {
        working.steps.extend(chore.steps.iter().cloned());
        working
            .steps
            .push(vec![sets(&deliverable_id(index), "passed")]);
    }
    Story::new([planning, working])
}

/// Merges the settings of chores: lists are joined, objects united.
fn merged_settings(chores: &[Chore]) -> Value {
    let mut merged = json!({});
    for chore in chores {
        merge(&mut merged, &chore.settings);
    }
    merged
}

fn merge(into: &mut Value, other: &Value) {
    match (into, other) {
        (Value::Object(into), Value::Object(other)) => {
            for (name, value) in other {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (Value::Array(into), Value::Array(other)) => into.extend(other.iter().cloned()),
        (into, other) => *into = other.clone(),
    }
}

/// Compares the result of every call with its expectation.
pub(crate) fn check_calls(
    story: &Story,
    backend: Backend,
    server: &Server,
    findings: &mut Findings,
) {
    let results = results(server);
    for call in calls(story) {
        let result = results.iter().find(|result| result.tool_use_id == call.id);
        let Some(result) = result else {
            findings.add(format!("{:?} has no result", call.what));
            continue;
        };
        let is_failure = backend.dialect().is_failure(result);
        if is_failure == (call.expect == Expectation::Runs) {
            let (what, expect) = (&call.what, call.expect);
            let text: String = result.text.chars().take(800).collect();
            findings.add(format!("{what:?}, expected {expect:?}: {text}"));
            continue;
        }
        for text in &call.shows {
            findings.contains(&format!("{:?}", call.what), &result.text, text);
        }
    }
}

/// Returns the results of all calls. A conversation repeats those of earlier requests.
pub(crate) fn results(server: &Server) -> Vec<ToolResult> {
    let mut results: Vec<ToolResult> = Vec::new();
    for request in server.log().main_requests() {
        for result in request.tool_results() {
            if !results
                .iter()
                .any(|seen| seen.tool_use_id == result.tool_use_id)
            {
                results.push(result.clone());
            }
        }
    }
    results
}

fn calls(story: &Story) -> impl Iterator<Item = &Call> {
    let steps = story.sessions.iter().flat_map(|session| &session.steps);
    steps.flatten()
}

/// Checks the ledger and what `autonoe log` prints.
fn check_records(chores: &[Chore], story: &Story, workplace: &Workplace, findings: &mut Findings) {
    let ids: Vec<_> = (0..chores.len()).map(deliverable_id).collect();
    findings.same("deliverables", workplace.deliverables(), (ids, Vec::new()));
    let log = workplace.log();
    for (index, chore) in chores.iter().enumerate() {
        let passed = format!("[PASS] {} ({})", chore.goal, deliverable_id(index));
        findings.contains("the log", &log, &passed);
    }
    findings.contains("the log", &log, "all achievable deliverables passed");
    check_denials(story, &workplace.journal(), findings);
}

/// Compares the denials of the journal with the calls that must be denied.
pub(crate) fn check_denials(story: &Story, journal: &[Value], findings: &mut Findings) {
    let mut denials: Vec<_> = journal
        .iter()
        .filter(|entry| entry["line"] == "denied")
        .collect();
    for call in calls(story).filter(|call| call.expect == Expectation::Denied) {
        let target = target(&call.what);
        let is_it = |entry: &&Value| {
            let of_entry = [&entry["tool"], &entry["target"]];
            of_entry
                .iter()
                .any(|it| it.as_str().is_some_and(|it| it.contains(&target)))
        };
        match denials.iter().position(is_it) {
            Some(index) => {
                denials.remove(index);
            }
            None => findings.add(format!("no denial of {target} in the journal: {denials:?}")),
        }
    }
    for denial in denials {
        findings.add(format!("denied: {denial}"));
    }
}

/// Returns the text that identifies a denial of the call in the journal: its target or its tool.
fn target(what: &What) -> String {
    match what {
        What::Write { file, .. } | What::Edit { file, .. } | What::Read { file } => file.clone(),
        What::Command(command) => command.clone(),
        What::Claude { input, .. } => {
            let target = ["url", "notebook_path", "command"]
                .iter()
                .find_map(|name| input[*name].as_str());
            target.unwrap_or_default().to_owned()
        }
        What::Tool { name, .. } | What::Mcp { tool: name, .. } => (*name).to_owned(),
    }
}
