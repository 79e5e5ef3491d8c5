//! A whole run on each provider: planning, real edits, a real command, denied calls, and the end.

use autonoe_testkit::model_server::{ReceivedPrompt, Turn};
use serde_json::{Value, json};

use crate::models::fixture::{Fixture, KEY, passes, plans};
use crate::models::vendor::Vendor;

/// The turns of a model that covers all parts of a run.
fn turns(root: &str) -> Vec<Turn> {
    let greeting = format!("{root}/greeting.txt");
    let command =
        "cat greeting.txt && echo \"key=[$THE_KEY] home=[$HOME]\" && echo made > made.txt";
    vec![
        plans(),
        Turn::text("It is planned."),
        Turn::tool(
            "Write",
            json!({"file_path": greeting, "content": "Hello, moon.\n"}),
        ),
        Turn::tool(
            "Edit",
            json!({"file_path": greeting, "old_string": "moon", "new_string": "world"}),
        ),
        Turn::tool("Bash", json!({"command": command})),
        Turn::tool("Bash", json!({"command": "curl https://example.com"})),
        Turn::tool(
            "Write",
            json!({"file_path": format!("{root}/.autonoe/models.json"), "content": "{}"}),
        ),
        passes(),
        Turn::text("It is done."),
    ]
}

/// Returns the tool results in the last request, and whether they are errors.
fn results(prompts: &[ReceivedPrompt]) -> Vec<(bool, String)> {
    let last = prompts.last().expect("somebody asked");
    let results = last.tool_results().into_iter();
    results
        .map(|result| (result.is_error, result.text.clone()))
        .collect()
}

#[test]
fn a_run_on_every_provider_plans_works_is_guarded_and_passes() {
    for vendor in Vendor::ALL {
        // The folder must exist before the server, because the model's turns contain its path.
        let fixture = Fixture::new();
        let server = vendor.serve(turns(&fixture.root().display().to_string()));
        let models = json!({"providers": {"scripted": vendor.spec(&server)}}).to_string();
        fixture.write(".autonoe/models.json", &models);

        let output = fixture.run(vendor, &[]);

        assert_eq!(output.code, Some(0), "{vendor:?}: {output:?}");
        let lines: Vec<_> = output.stdout.lines().collect();
        assert!(
            lines[0].ends_with("ended: all achievable deliverables passed"),
            "{vendor:?}: {output:?}"
        );
        assert!(
            lines[1].starts_with("1 of 1 deliverables passed; 2 iterations"),
            "{vendor:?}: {output:?}"
        );
        for expected in [
            "Session 1 started (initializer)",
            "Session 2 started (coding)",
            "Denied Bash: curl",
            "Denied Write: ",
            "/.autonoe/models.json — ",
            "[PASS] The greeting (DL-001)",
        ] {
            assert!(
                output.stderr.contains(expected),
                "{vendor:?} {expected}: {output:?}"
            );
        }
        assert_eq!(
            fixture.read("greeting.txt"),
            "Hello, world.\n",
            "{vendor:?}"
        );
        assert_eq!(fixture.read("made.txt"), "made\n", "{vendor:?}");
        assert_eq!(fixture.read(".autonoe/models.json"), models, "{vendor:?}");
        server.verify();
        let prompts = server.log().main_requests();
        let results = results(&prompts);
        let errors: Vec<_> = results.iter().map(|(is_error, _)| *is_error).collect();
        // The APIs of Gemini and OpenAI have no flag for errors. There, the text contains the
        // error.
        let flags = [false, false, false, true, true, false];
        if vendor == Vendor::Anthropic {
            assert_eq!(errors, flags, "{results:?}");
        }
        assert_eq!(results.len(), flags.len(), "{vendor:?}: {results:?}");
        let command = &results[2].1;
        assert!(
            command.contains("Hello, world.") && command.contains("key=[] home=[/tmp]"),
            "{vendor:?}: {command}"
        );
        assert!(results[3].1.contains("curl"), "{vendor:?}: {results:?}");
        assert!(results[4].1.contains(".autonoe"), "{vendor:?}: {results:?}");
        let offered: Vec<_> = prompts[0].tools.iter().map(|tool| &tool.name).collect();
        for tool in ["Read", "Write", "Edit", "Glob", "Grep", "Bash"] {
            assert!(offered.iter().any(|name| *name == tool), "{offered:?}");
        }
    }
}

#[test]
fn run_reports_its_cost_and_models() {
    let vendor = Vendor::Anthropic;
    let server = vendor.serve([
        plans(),
        Turn::text("Planned."),
        passes(),
        Turn::text("Done."),
    ]);
    let fixture = Fixture::on(vendor, &server);

    let output = fixture.run(vendor, &["--output=json", "--plan-model=claude-opus-4-5"]);

    assert_eq!(output.code, Some(0), "{output:?}");
    let events: Vec<Value> = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("an event"))
        .collect();
    let report = &events.last().expect("events")["report"];
    assert_eq!(report["exitReason"], "all_passed", "{report}");
    assert_eq!(report["totalCost"]["unknownParts"], 0, "{report}");
    assert_ne!(report["totalCost"]["knownUsd"], "0", "{report}");
    let models: Vec<_> = server
        .log()
        .main_requests()
        .iter()
        .map(|prompt| prompt.raw["model"].as_str().map(str::to_owned))
        .collect();
    let [planning, coding] =
        ["claude-opus-4-5", "claude-sonnet-4-5"].map(|name| Some(name.to_owned()));
    assert_eq!(models, [planning.clone(), planning, coding.clone(), coding]);
    assert!(!output.stdout.contains(KEY), "the key is told");
}

#[test]
fn a_sync_runs_on_a_model_too() {
    let vendor = Vendor::Chat;
    let server = vendor.serve([
        plans(),
        Turn::text("In line."),
        Turn::tool("mcp__autonoe__verify", json!({"deliverableId": "DL-001"})),
        passes(),
        Turn::text("Verified."),
    ]);
    let fixture = Fixture::on(vendor, &server);
    let backend = format!("--backend=model:scripted/{}", vendor.model());

    let output = fixture.autonoe(&["sync", "--pause=0s", &backend]);

    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(!output.stderr.contains("browser"), "{output:?}");
    server.verify();
}
