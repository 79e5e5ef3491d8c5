//! Metrics of runs.

use std::time::Instant;

use super::metrics::{metrics, sum};
use super::receiver::Receiver;
use super::{exported, script};
use crate::runs::support::autonoe::CommandOutput;
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, calls_model, creates, ends, hits_short_quota, sets};

fn assert_approx(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

// Shows: framework/models/export-to-receiver
#[test]
fn a_run_is_measured() {
    let (project, receiver) = (Project::new(), Receiver::start());

    let ended = CommandOutput::run(exported(&project, &script(), &receiver));

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let metrics = metrics(&receiver);
    assert_approx(
        sum(
            &metrics["autonoe.sessions"],
            "autonoe.session.end",
            "completed",
        ),
        2.0,
    );
    assert_approx(
        sum(&metrics["autonoe.sessions"], "gen_ai.agent.name", "coding"),
        1.0,
    );
    assert_approx(
        sum(&metrics["autonoe.tool.denied"], "gen_ai.tool.name", "Bash"),
        1.0,
    );
    assert_approx(
        sum(
            &metrics["autonoe.cost"],
            "gen_ai.operation.name",
            "invoke_agent",
        ),
        0.5,
    );
    let tokens = &metrics["gen_ai.client.token.usage"];
    assert_approx(sum(tokens, "gen_ai.token.type", "input"), 10.0);
    assert_approx(sum(tokens, "gen_ai.token.type", "output"), 5.0);
    assert_approx(sum(tokens, "gen_ai.provider.name", "scripted"), 15.0);
    let durations = &metrics["gen_ai.client.operation.duration"];
    for (operation, count) in [("chat", 1), ("invoke_agent", 2), ("execute_tool", 3)] {
        let of_it = durations
            .iter()
            .filter(|(attributes, ..)| attributes["gen_ai.operation.name"] == operation);
        let found: u64 = of_it.map(|(_, count, _)| count).sum();
        assert_eq!(found, count, "{operation}");
    }
    let failed = durations
        .iter()
        .filter(|(attributes, ..)| attributes.contains_key("error.type"));
    assert_eq!(failed.count(), 1, "{durations:?}");
}

#[test]
fn waits_are_measured_by_what_they_are_for() {
    let (project, receiver) = (Project::new(), Receiver::start());
    let script = Script::new()
        .session([hits_short_quota()])
        .session([calls_model("a-model", "now"), creates(&["DL-001"]), ends()])
        .session([sets("DL-001", "passed"), ends()]);
    let mut command = exported(&project, &script, &receiver);
    command.arg("--wait-for-quota");
    let begun = Instant::now();

    let ended = CommandOutput::run(command);

    let elapsed = begun.elapsed().as_secs_f64();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let waits = &metrics(&receiver)["autonoe.wait.duration"];
    let waited = sum(waits, "autonoe.wait.reason", "quota");
    assert!(waited > 0.0 && waited < elapsed, "{waits:?}");
}
