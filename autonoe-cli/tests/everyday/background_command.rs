//! Background processes that an agent leaves running.

use serde_json::json;

use crate::backends::backend::Backend;
use crate::backends::run_script::{End, RunScript, Session, runs, sets, uses, writes};
use crate::build::{Build, on_newer_build};
use crate::everyday::chore::Chore;
use crate::everyday::findings::Findings;
use crate::everyday::whole_run::{check_commits, commits};
use crate::everyday::workplace::{Workplace, deliverable_id};
use crate::runs::support::autonoe::CommandOutput;

const DONE: End = End::Text("Done.");

/// Leaves a background command of Claude Code running, and continues in the next session.
async fn a_background_command_ends_with_its_session(build: Build) {
    let goals = ["There is a greeting", "There is a farewell"];
    let serve = json!({
        "command": "echo serving > served.txt && sleep 3600",
        "description": "Serve the files", "run_in_background": true,
    });
    let run_script = RunScript::new([
        Session::new(
            [
                uses("Bash", serve),
                writes("greeting.txt", "hello\n"),
                runs("until test -e served.txt; do sleep 0.1; done"),
                commits(goals[0]),
                sets("DL-001", "passed"),
            ],
            DONE,
        ),
        Session::new(
            [
                writes("farewell.txt", "bye\n"),
                commits(goals[1]),
                sets("DL-002", "passed"),
            ],
            DONE,
        ),
    ]);
    let workplace = Workplace::new(Backend::Claude(build.version), "project");
    workplace.start_repository();
    workplace.plan(goals);
    let server = workplace.serve(&run_script).unverified();

    let ended = CommandOutput::run(workplace.run(&server, &[]));

    let mut findings = Findings::default();
    findings.same("exit code", ended.code, Some(0));
    let stopped = "stopped a background command";
    findings.same("reports", ended.stderr.matches(stopped).count(), 1);
    findings.contains("standard error", &ended.stderr, ": Serve the files");
    let both = (vec![deliverable_id(0), deliverable_id(1)], Vec::new());
    findings.same("deliverables", workplace.deliverables(), both);
    let log = workplace.log();
    for started in ["Session 1 started", "Session 2 started"] {
        findings.same(started, log.matches(started).count(), 1);
    }
    check_commits(&workplace, goals, &mut findings);
    for problem in server.problems() {
        findings.add(problem);
    }
    workplace.wait_for_processes();
    findings.report(&format!("{ended:?}"));
}

/// Starts a daemon in its own session and with an empty environment.
const DAEMON: &str = "const { spawn } = require('child_process');
// Longer than the test waits for the end of processes.
const daemon = ['-c', 'echo started > daemon.log; exec sleep 3600'];
spawn('sh', daemon, { detached: true, stdio: 'ignore', env: {} }).unref();
";

/// Leaves a daemon running, without the sandbox that would end it.
pub(crate) fn daemon() -> Chore {
    let calls = [
        writes("start.js", DAEMON),
        runs("node start.js"),
        runs("until test -s daemon.log; do sleep 0.1; done; cat daemon.log")
            .expects_text("started"),
    ];
    Chore::new("The daemon runs", calls)
        .flag("--no-sandbox")
        .prints("warning: the sandbox is switched off")
        .leaves(["daemon.log", "start.js"])
}

on_newer_build![a_background_command_ends_with_its_session];
