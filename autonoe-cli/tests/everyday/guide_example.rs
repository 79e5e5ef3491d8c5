//! The example of `agent.json` in the configuration guide, in a run.

use autonoe_testkit::model_server::{ModelScript, Turn};
use serde_json::Value;

use crate::backends::backend::Backend;
use crate::backends::run_script::{Call, runs, sets, uses};
use crate::build::{Build, on_newer_build};
use crate::everyday::findings::Findings;
use crate::everyday::workplace::{Workplace, deliverable_id};
use crate::runs::support::autonoe::CommandOutput;

const GUIDE: &str = include_str!("../../../docs/guides/configuration.md");

/// Returns the first example of the guide.
fn example() -> Value {
    let (_, rest) = GUIDE.split_once("```json\n").expect("an example");
    let (text, _) = rest.split_once("```").expect("its end");
    serde_json::from_str(text).expect("JSON")
}

/// Tools that the example grants beyond the default ones, with both names of `Task`.
const GRANTED: [&[&str]; 3] = [&["Task", "Agent"], &["WebSearch"], &["WebFetch"]];

async fn the_example_of_the_guide_grants_the_named_tools(build: Build) {
    let backend = Backend::Claude(build.version);
    let workplace = Workplace::new(backend, "project");
    workplace.configure(&example());
    workplace.plan(["There is a greeting"]);
    let turn = |call: Call| backend.dialect().turn(&[call], &workplace.root());
    let fetch = |url: &str| {
        uses(
            "WebFetch",
            serde_json::json!({"url": url, "prompt": "Read it."}),
        )
    };
    let script = ModelScript::new([
        // There is no network, so the granted call fails after the gate.
        turn(fetch("https://api.example.com/v1")),
        turn(fetch("https://elsewhere.example.com/")),
        turn(runs("git push origin main")),
        turn(sets("DL-001", "passed")),
        Turn::text("Done."),
    ]);
    let server = backend.serve_script(script).unverified();

    let ended = CommandOutput::run(workplace.run(&server, &[]));

    let mut findings = Findings::default();
    findings.same("exit code", ended.code, Some(0));
    let requests = server.log().main_requests();
    for names in GRANTED {
        let is_offered = names
            .iter()
            .any(|name| requests.iter().all(|request| request.tool(name).is_some()));
        findings.same(names[0], is_offered, true);
    }
    let journal = workplace.journal();
    let denied = journal.iter().filter(|entry| entry["line"] == "denied");
    let targets: Vec<_> = denied.map(|entry| entry["target"].clone()).collect();
    let expected = ["https://elsewhere.example.com/", "git push origin main"];
    findings.same("denied", targets, expected);
    let passed = (vec![deliverable_id(0)], Vec::new());
    findings.same("deliverables", workplace.deliverables(), passed);
    for problem in server.problems() {
        findings.add(problem);
    }
    workplace.wait_for_processes();
    findings.report(&format!("{ended:?}\n{}", server.log().render()));
}

on_newer_build![the_example_of_the_guide_grants_the_named_tools];
