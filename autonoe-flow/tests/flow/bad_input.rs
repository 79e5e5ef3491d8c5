//! Error messages for authors of invalid flows.

use std::fmt::Write;

use autonoe_flow::load;
use autonoe_flow::load::AGENT_FILE;

use crate::support::{Folder, full, mutations};

const REGISTRY: &str = "steps_registry.json";

/// Returns the error for `text` in `file`, or `None` if it is valid.
fn finding(folder: &Folder, file: &str, text: &str) -> Option<String> {
    folder.write(file, text);
    let error = load(&folder.dir).err()?;
    Some(folder.without_place(&error.to_string()))
}

/// Lists the errors of all mutations of `file`.
fn every_violation(file: &str) -> String {
    let mut listed = String::new();
    let folder = Folder::new();
    for mutation in mutations(&full(file)) {
        let text = serde_json::to_string_pretty(&mutation.value).expect("JSON");
        if let Some(message) = finding(&folder, file, &text) {
            let _ = writeln!(listed, "{}\n    {message}", mutation.description);
        }
    }
    listed
}

#[test]
fn agent_schema_violations_match_snapshot() {
    insta::assert_snapshot!(every_violation(AGENT_FILE));
}

#[test]
fn steps_schema_violations_match_snapshot() {
    insta::assert_snapshot!(every_violation(REGISTRY));
}

#[test]
fn malformed_files_are_reported_with_position() {
    let folder = Folder::new();
    let mut listed = String::new();
    for (label, file, text) in [
        ("empty", AGENT_FILE, ""),
        ("blank", REGISTRY, " \n"),
        ("cut off", REGISTRY, "{\n  \"entryStep\": \"a\",\n  \"ste"),
        (
            "a comment",
            AGENT_FILE,
            "{\n  // the name\n  \"name\": \"x\"}",
        ),
        ("single quotes", AGENT_FILE, "{'name': 'x'}"),
        ("a comma too many", AGENT_FILE, "{\"name\": \"x\",\n}"),
        ("two objects", AGENT_FILE, "{} {}"),
        ("a list", AGENT_FILE, "[]"),
        (
            "a step twice",
            REGISTRY,
            "{\"entryStep\": \"a\", \"steps\": {\n  \"a\": {},\n  \"a\": {}}}",
        ),
        (
            "a field twice",
            AGENT_FILE,
            "{\"name\": \"a\",\n \"name\": \"b\"}",
        ),
        (
            "a slip in a field",
            REGISTRY,
            "{\"entryStep\": \"a\", \"steps\": {\"a\": {\n  \"promt\": \"a.md\"}}}",
        ),
        (
            "a slip in a type",
            REGISTRY,
            "{\"entryStep\": \"a\", \"steps\": {\"a\": {\"type\": \"gatway\"}}}",
        ),
        (
            "a prompt of a gateway",
            REGISTRY,
            "{\"entryStep\": \"a\", \"steps\": {\"a\": {\"type\": \"gateway\",\n \"prompt\": \"a.md\"}}}",
        ),
        (
            "a retry where a step passed",
            REGISTRY,
            "{\"entryStep\": \"a\", \"steps\": {\"a\": {\"check\": {\"type\": \"keyword\", \"keywords\": [\"x\"], \"onPass\": {\"retry\": true}}}}}",
        ),
        (
            "sub-steps at the same time",
            REGISTRY,
            "{\"entryStep\": \"a\", \"steps\": {\"a\": {\"subSteps\": [\"b\"], \"sequential\": false}}}",
        ),
        (
            "a path upwards",
            REGISTRY,
            "{\"entryStep\": \"a\", \"steps\": {\"a\": {\"prompt\": \"../../secret.md\"}}}",
        ),
        (
            "a part of the scheme upwards",
            REGISTRY,
            "{\"entryStep\": \"a\", \"steps\": {\"a\": {\"prompt\": {\"c1\": \"..\", \"c2\": \"b\", \"c3\": \"c\"}}}}",
        ),
        (
            "two questions",
            REGISTRY,
            "{\"entryStep\": \"a\", \"steps\": {\"a\": {\"type\": \"gateway\", \"branches\": [{\"when\": {\"data\": \"/context/step\", \"equals\": 1, \"exists\": true}, \"next\": \"end\"}]}}}",
        ),
        (
            "a place that no data have",
            REGISTRY,
            "{\"entryStep\": \"a\", \"steps\": {\"a\": {\"type\": \"gateway\", \"branches\": [{\"when\": {\"data\": \"review.verdict\", \"equals\": 1}, \"next\": \"end\"}]}}}",
        ),
        (
            "guards switched off",
            AGENT_FILE,
            "{\"version\": \"1\", \"name\": \"x\", \"behavior\": {\"completionType\": \"stepMachine\", \"permissionMode\": \"bypassPermissions\"}}",
        ),
        (
            "an unknown completion",
            AGENT_FILE,
            "{\"version\": \"1\", \"name\": \"x\", \"behavior\": {\"completionType\": \"stepmachine\"}}",
        ),
        (
            "a completion without its object",
            AGENT_FILE,
            "{\"version\": \"1\", \"name\": \"x\", \"behavior\": {\"completionType\": \"iterationBudget\"}}",
        ),
        (
            "an unknown condition of somebody's own",
            AGENT_FILE,
            "{\"version\": \"1\", \"name\": \"x\", \"behavior\": {\"completionType\": \"custom\",\n \"completionConfig\": {\"type\": \"acme-moon\"}}}",
        ),
        (
            "a condition of somebody's own without its name",
            AGENT_FILE,
            "{\"version\": \"1\", \"name\": \"x\", \"behavior\": {\"completionType\": \"custom\", \"completionConfig\": {}}}",
        ),
        (
            "a condition deep inside",
            AGENT_FILE,
            "{\"version\": \"1\", \"name\": \"x\", \"behavior\": {\"completionType\": \"composite\", \"completionConfig\": {\"mode\": \"all\", \"conditions\": [\n  {\"type\": \"composite\", \"config\": {\"mode\": \"any\", \"conditions\": [\n    {\"type\": \"checkBudget\", \"config\": {\"maxCheks\": 3}}]}}]}}}",
        ),
        (
            "a folder as a name",
            AGENT_FILE,
            "{\"version\": \"1\", \"name\": \"../x\", \"behavior\": {\"completionType\": \"stepMachine\"}}",
        ),
    ] {
        let message = finding(&folder, file, text).expect("it is refused");
        let _ = writeln!(listed, "{label}\n    {message}");
        folder.write(
            AGENT_FILE,
            &crate::support::agent(serde_json::json!({})).to_string(),
        );
        folder.write(REGISTRY, &crate::support::one_step().to_string());
    }

    insta::assert_snapshot!(listed);
}

#[test]
fn a_definition_that_was_cut_off_anywhere_is_an_error_and_never_a_smaller_one() {
    let folder = Folder::new();
    for file in [AGENT_FILE, REGISTRY] {
        let whole = std::fs::read_to_string(folder.dir.join(file)).expect("it is there");
        for length in 0..whole.len() {
            let refused = finding(&folder, file, &whole[..length]);

            assert!(refused.is_some(), "{file} {length}");
        }
        folder.write(file, &whole);
    }
}
