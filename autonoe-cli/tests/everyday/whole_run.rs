//! Runs planned chores to the last deliverable, and checks every run.

use std::collections::BTreeSet;

use autonoe_testkit::Expectation;
use autonoe_testkit::model_server::PromptToolResult;
use serde_json::{Value, json};

use crate::backends::backend::Backend;
use crate::backends::model_server::{CONTINUED, Server};
use crate::backends::run_script::{Call, Effect, End, RunScript, Session, runs, sets};
use crate::everyday::chore::Chore;
use crate::everyday::findings::Findings;
use crate::everyday::workplace::{Workplace, deliverable_id};
use crate::runs::support::autonoe::CommandOutput;

/// Runs chores in a repository.
pub(crate) fn run_chores(backend: Backend, chores: impl IntoIterator<Item = Chore>) {
    let workplace = Workplace::new(backend, "project");
    run(&workplace, Repository::Started, &Vec::from_iter(chores));
}

/// Runs chores in a project of this name that is not a repository.
pub(crate) fn run_chores_without_repository(
    project: &str,
    backend: Backend,
    chores: impl IntoIterator<Item = Chore>,
) {
    let workplace = Workplace::new(backend, project);
    run(&workplace, Repository::None, &Vec::from_iter(chores));
}

/// Whether the project is a repository before the run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repository {
    Started,
    None,
}

/// Runs chores: one session does all deliverables of the plan, one per chore.
fn run(workplace: &Workplace, repository: Repository, chores: &[Chore]) {
    workplace.configure(&merged_settings(chores));
    for (name, text) in chores.iter().flat_map(|chore| &chore.files) {
        workplace.write(name, text);
    }
    if repository == Repository::Started {
        workplace.start_repository();
    }
    workplace.plan(chores.iter().map(|chore| chore.goal));
    let run_script = run_script(chores, repository);
    let server = workplace.serve(&run_script).unverified();
    let flags: BTreeSet<_> = chores.iter().flat_map(|chore| &chore.flags).collect();
    let flags: Vec<_> = flags.into_iter().copied().collect();
    let mut command = workplace.run(&server, &flags);
    for (name, value) in chores.iter().flat_map(|chore| &chore.environment) {
        command.env(name, value);
    }

    let ended = CommandOutput::run(command);

    let mut findings = Findings::default();
    findings.same("exit code", ended.code, Some(0));
    for problem in server.problems() {
        findings.add(problem);
    }
    check_calls(&run_script, workplace.backend(), &server, &mut findings);
    for text in chores.iter().flat_map(|chore| &chore.prints) {
        findings.contains("standard error", &ended.stderr, text);
    }
    check_denials(&run_script, workplace, &ended, &mut findings);
    check_log(chores, workplace, &mut findings);
    let names = chores.iter().flat_map(|chore| &chore.leaves).copied();
    let mut names: Vec<&str> = names.chain(["SPEC.md"]).collect();
    if repository == Repository::Started {
        names.extend([".git", ".gitignore"]);
        let committed = chores.iter().filter(|chore| !chore.leaves.is_empty());
        check_commits(workplace, committed.map(|chore| chore.goal), &mut findings);
    }
    names.sort_unstable();
    findings.same("entries of the project", workplace.names(), names);
    let ids = Vec::from_iter((0..chores.len()).map(deliverable_id));
    findings.same("deliverables", workplace.deliverables(), (ids, Vec::new()));
    for chore in chores {
        (chore.check)(workplace, &mut findings);
    }
    workplace.wait_for_processes();
    findings.report(&format!(
        "stdout: {}\nstderr: {}",
        ended.stdout, ended.stderr
    ));
}

fn run_script(chores: &[Chore], repository: Repository) -> RunScript {
    let mut working = Session::new([], End::Text("All done."));
    for (index, chore) in chores.iter().enumerate() {
        working.steps.extend(chore.steps.iter().cloned());
        if repository == Repository::Started && !chore.leaves.is_empty() {
            working.steps.push(vec![commits(chore.goal)]);
        }
        let passes = sets(&deliverable_id(index), "passed");
        working.steps.push(vec![passes]);
    }
    RunScript::new([working])
}

/// Commits everything in the project.
pub(crate) fn commits(subject: &str) -> Call {
    runs(format!("git add -A && git commit -m \"{subject}\"")).expects_text(subject)
}

/// Merges the settings of chores: concatenates lists, and merges objects.
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
fn check_calls(run_script: &RunScript, backend: Backend, server: &Server, findings: &mut Findings) {
    let results = results(server);
    for call in calls(run_script) {
        let Some(result) = result(&call.id, &results) else {
            findings.add(format!("{:?} has no result", call.effect));
            continue;
        };
        let is_failure = backend.dialect().is_failure(&result);
        if is_failure == (call.expect == Expectation::Runs) {
            let (effect, expect) = (&call.effect, &call.expect);
            let text: String = result.text.chars().take(800).collect();
            findings.add(format!("{effect:?}, expected {expect:?}: {text}"));
            continue;
        }
        for text in &call.shows {
            findings.contains(&format!("{:?}", call.effect), &result.text, text);
        }
    }
}

/// Returns the result of a call, including the output of a command that continued in the
/// background.
fn result(id: &str, results: &[PromptToolResult]) -> Option<PromptToolResult> {
    let mut result = results.iter().find(|it| it.tool_use_id == id)?.clone();
    let prefix = format!("{id}{CONTINUED}");
    let continued = results
        .iter()
        .filter(|it| it.tool_use_id.starts_with(&prefix));
    for more in continued {
        result.text.push_str(&more.text);
    }
    Some(result)
}

/// Returns the results of all calls. A conversation repeats those of earlier requests.
fn results(server: &Server) -> Vec<PromptToolResult> {
    let mut results: Vec<PromptToolResult> = Vec::new();
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

fn calls(run_script: &RunScript) -> impl Iterator<Item = &Call> {
    let steps = run_script
        .sessions
        .iter()
        .flat_map(|session| &session.steps);
    steps.flatten()
}

/// Checks the output of `autonoe log` about the deliverables.
fn check_log(chores: &[Chore], workplace: &Workplace, findings: &mut Findings) {
    let log = workplace.log();
    for (index, chore) in chores.iter().enumerate() {
        let passed = format!("[PASS] {} ({})", chore.goal, deliverable_id(index));
        findings.contains("the log", &log, &passed);
    }
    findings.contains("the log", &log, "all achievable deliverables passed");
}

/// Checks that the agent made these commits, as the user, and left nothing uncommitted.
pub(crate) fn check_commits<'a>(
    workplace: &Workplace,
    subjects: impl IntoIterator<Item = &'a str>,
    findings: &mut Findings,
) {
    let subjects = subjects
        .into_iter()
        .map(|subject| format!("Ada: {subject}"));
    findings.same("git log", workplace.commits(), Vec::from_iter(subjects));
    findings.same("uncommitted", workplace.uncommitted().as_str(), "");
}

/// Compares the denials in the journal with the calls that must be denied, and checks that the
/// screen and the log show each of them.
fn check_denials(
    run_script: &RunScript,
    workplace: &Workplace,
    ended: &CommandOutput,
    findings: &mut Findings,
) {
    let journal = workplace.journal();
    let log = workplace.log();
    let mut denials: Vec<_> = journal
        .iter()
        .filter(|entry| entry["line"] == "denied")
        .collect();
    for call in calls(run_script).filter(|call| call.expect == Expectation::Denied) {
        let target = target(&call.effect);
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
        for (place, text, mark) in [
            ("standard error", &ended.stderr, "Denied "),
            ("the log", &log, "[DENIED] "),
        ] {
            let mut lines = text.lines().filter(|line| line.contains(mark));
            if !lines.any(|line| line.contains(&target)) {
                findings.add(format!("no denial of {target} in {place}: {text}"));
            }
        }
    }
    for denial in denials {
        findings.add(format!("denied: {denial}"));
    }
}

/// Returns the text that identifies a denial of the call in the journal: its target or its tool.
fn target(effect: &Effect) -> String {
    match effect {
        Effect::Write { file, .. } | Effect::Edit { file, .. } | Effect::Read { file } => {
            file.clone()
        }
        Effect::Command(command) => command.clone(),
        Effect::Claude { input, .. } => {
            let target = ["url", "notebook_path", "command"]
                .iter()
                .find_map(|name| input[*name].as_str());
            target.unwrap_or_default().to_owned()
        }
        Effect::Tool { name, .. } | Effect::Mcp { tool: name, .. } => (*name).to_owned(),
    }
}
