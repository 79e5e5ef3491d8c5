//! Tests of `autonoe flow import`.

use serde_json::Value;

use crate::commands::fixture::Fixture;

const AGENT: &str = r#"{
  "version": "1.12.0",
  "name": "auditor",
  "parameters": {"ticket": {"type": "number", "required": true, "cli": "--ticket"}},
  "runner": {
    "flow": {"systemPromptPath": "prompts/system.md", "prompts": {"registry": "steps_registry.json"}},
    "verdict": {"type": "poll:state", "config": {"maxIterations": 40}},
    "boundaries": {"allowedTools": ["Read"], "permissionMode": "acceptEdits"},
    "logging": {"directory": "logs"}
  }
}"#;

const STEPS: &str = r#"{
  "agentId": "auditor",
  "c1": "steps",
  "entryStep": "look",
  "steps": {
    "look": {
      "stepId": "look", "c2": "look", "c3": "ticket", "edition": "default",
      "structuredGate": {"allowedIntents": ["next", "repeat"], "fallbackIntent": "next"},
      "transitions": {"next": {"target": "close"}, "repeat": {"target": "look"}}
    },
    "close": {"stepId": "close", "c2": "close", "c3": "ticket", "transitions": {"closing": {"target": null}}}
  }
}"#;

/// A project that contains an agent of climpt.
fn with_agent() -> Fixture {
    Fixture::new()
        .file("agents/auditor/agent.json", AGENT)
        .file("agents/auditor/steps_registry.json", STEPS)
        .file("agents/auditor/prompts/system.md", "You audit.\n")
        .file(
            "agents/auditor/prompts/steps/look/ticket/f_default.md",
            "---\nname: Look\n---\n\nRead ticket {uv-ticket}.\n",
        )
        .file(
            "agents/auditor/prompts/steps/close/ticket/f_default.md",
            "Write the result.\n",
        )
}

#[test]
fn an_import_lists_changed_and_dropped_parts() {
    let fixture = with_agent();

    let output = fixture.autonoe(&["flow", "import", "agents/auditor"]);

    assert_eq!(output.code, 0, "{}", output.screen());
    for expected in [
        "changed: the flow is complete at the end of its steps, not by `poll:state`: flows do not \
         read states of GitHub or of a service\n  --> agent.json /runner/verdict/config\n",
        "dropped: runs are recorded in .autonoe\n  --> agent.json /runner/logging\n",
        "dropped: the front matter is removed\n  --> prompts/steps/look/ticket/f_default.md\n",
        "auditor: valid",
        ".autonoe/flows/auditor\n",
    ] {
        assert!(output.stdout.contains(expected), "{}", output.screen());
    }
    let files = fixture.files();
    let hidden = files.iter().filter(|file| file.contains(".auditor"));
    assert_eq!(hidden.count(), 0, "{files:?}");
}

#[test]
fn an_imported_flow_runs_and_follows_the_intents_of_its_agent() {
    let agents = r#"{"sessions": [
        {"name": "1", "steps": [{"uses": {"tool": "mcp__autonoe__set_outputs", "input": {"intent": "repeat"}}}, {"says": "Once more."}, "ends"]},
        {"name": "2", "steps": [{"uses": {"tool": "mcp__autonoe__set_outputs", "input": {"intent": "next"}}}, {"says": "I have read it."}, "ends"]},
        {"name": "3", "steps": [{"says": "Closed."}, "ends"]}]}"#;
    let fixture = with_agent()
        .file("agents.json", agents)
        .file(".autonoe/agent.json", "{\"mcpServers\": {}}");
    fixture.autonoe(&["flow", "import", "agents/auditor", "--name", "audit-2"]);

    let output = fixture.autonoe(&[
        "flow",
        "run",
        "audit-2",
        "--backend=scripted:agents.json",
        "--json",
        "--ticket",
        "7",
    ]);

    assert_eq!(output.code, 0, "{}", output.screen());
    let result: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let iterations = result["iterations"].as_array().expect("a list");
    let steps: Vec<_> = iterations.iter().map(|it| it["step"].as_str()).collect();
    assert_eq!(steps, [Some("look"), Some("look"), Some("close")]);
}

#[test]
fn a_flow_is_replaced_only_by_force() {
    let fixture = with_agent().file(".autonoe/flows/auditor/note.txt", "mine");

    let refused = fixture.autonoe(&["flow", "import", "agents/auditor"]);
    assert_eq!(refused.code, 2, "{}", refused.screen());
    assert!(refused.stderr.contains("--force"), "{}", refused.screen());
    assert_eq!(fixture.read(".autonoe/flows/auditor/note.txt"), "mine");

    let forced = fixture.autonoe(&["flow", "import", "agents/auditor", "--force"]);
    assert_eq!(forced.code, 0, "{}", forced.screen());
    let files = fixture.files();
    let notes = files.iter().filter(|file| file.ends_with("note.txt"));
    assert_eq!(notes.count(), 0, "{files:?}");
}

#[test]
fn an_interrupted_import_keeps_the_flow_that_it_was_to_replace() {
    // The state after a kill between the two renames.
    let fixture = with_agent()
        .file(".autonoe/flows/.auditor.old/note.txt", "mine")
        .file(".autonoe/flows/.auditor.new/agent.json", "{");

    let refused = fixture.autonoe(&["flow", "import", "agents/auditor"]);

    assert_eq!(refused.code, 2, "{}", refused.screen());
    assert_eq!(fixture.read(".autonoe/flows/auditor/note.txt"), "mine");

    let forced = fixture.autonoe(&["flow", "import", "agents/auditor", "--force"]);
    assert_eq!(forced.code, 0, "{}", forced.screen());
    let files = fixture.files();
    let hidden = files.iter().filter(|file| file.contains(".auditor"));
    assert_eq!(hidden.count(), 0, "{files:?}");
}

#[cfg(unix)]
#[test]
fn an_import_does_not_write_through_a_symlink_in_the_place_of_the_state_directory() {
    let fixture = with_agent();
    let (state, target) = (
        fixture.project().join(".autonoe"),
        fixture.project().join("elsewhere"),
    );
    std::fs::create_dir(&target).expect("made");
    std::os::unix::fs::symlink(&target, &state).expect("linked");

    let refused = fixture.autonoe(&["flow", "import", "agents/auditor"]);

    assert_eq!(refused.code, 1, "{}", refused.screen());
    assert_eq!(std::fs::read_dir(target).expect("readable").count(), 0);
}

#[test]
fn an_invalid_imported_flow_is_written_for_repair() {
    let fixture = with_agent().file(
        "agents/auditor/steps_registry.json",
        STEPS.replace("\"close\"}", "\"clos\"}"),
    );

    let output = fixture.autonoe(&["flow", "import", "agents/auditor"]);

    assert_eq!(output.code, 1, "{}", output.screen());
    assert!(
        output.stdout.contains("unknown_step"),
        "{}",
        output.screen()
    );
    let steps = fixture.read(".autonoe/flows/auditor/steps_registry.json");
    assert!(steps.contains("clos"), "{steps}");
}

#[test]
fn a_folder_without_an_agent_is_not_imported() {
    let output = Fixture::new().autonoe(&["flow", "import", "nothing"]);

    assert_eq!(output.code, 1, "{}", output.screen());
    assert!(
        output.stderr.contains("the agent cannot be imported"),
        "{}",
        output.screen()
    );
}
