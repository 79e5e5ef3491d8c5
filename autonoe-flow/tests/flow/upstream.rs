//! Folders with agents of climpt, in each format that it has had.

use std::fs;
use std::path::{Path, PathBuf};

use autonoe_flow::import::{ImportNoteKind, ImportedFlow};
use autonoe_flow::{import, load, validate};
use serde_json::{Value, json};

/// A climpt folder that is deleted at the end of the test.
pub(crate) struct Upstream {
    pub(crate) outer: tempfile::TempDir,
}

impl Upstream {
    pub(crate) fn new(agent: &Value, registry: &Value) -> Self {
        let outer = tempfile::tempdir().expect("a folder");
        let upstream = Self { outer };
        upstream.write("agent.json", &agent.to_string());
        upstream.write("steps_registry.json", &registry.to_string());
        upstream
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.outer.path().join("auditor")
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        write(&self.dir(), Path::new(file), text);
    }

    pub(crate) fn import(&self) -> ImportedFlow {
        import(&self.dir()).expect("it can be imported")
    }

    /// Writes the imported flow to its own folder, and returns its findings.
    pub(crate) fn findings(&self, imported: &ImportedFlow) -> Vec<String> {
        let dir = self.outer.path().join("flows").join(imported.name.as_str());
        for (file, text) in &imported.files {
            write(&dir, file, text);
        }
        let definition = load(&dir).expect("it can be loaded");
        let report = validate(&definition);
        let found = report.errors.iter().chain(&report.warnings);
        found
            .map(|finding| format!("{}: {}", finding.kind.code(), finding.message))
            .collect()
    }
}

fn write(dir: &Path, file: &Path, text: &str) {
    let path = dir.join(file);
    fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
    fs::write(path, text).expect("writable");
}

/// Formats the notes, one line for each place.
pub(crate) fn notes(imported: &ImportedFlow) -> String {
    let mut text = String::new();
    for note in &imported.notes {
        let kind = match note.kind {
            ImportNoteKind::Changed => "changed",
            ImportNoteKind::Dropped => "dropped",
        };
        for place in &note.places {
            let (file, pointer) = (place.file.display(), &place.pointer);
            text.push_str(&format!("{kind} {file} {pointer}: {}\n", note.message));
        }
    }
    text
}

pub(crate) fn json_file(imported: &ImportedFlow, file: &str) -> Value {
    serde_json::from_str(&imported.files[Path::new(file)]).expect("JSON")
}

/// The newer format of both files.
pub(crate) fn newer() -> Upstream {
    let agent = json!({
        "$schema": "../../schemas/agent.schema.json",
        "version": "2.0.0",
        "name": "Auditor",
        "displayName": "The auditor",
        "description": "Compares the code with a ticket",
        "parameters": {
            "ticket": {"type": "number", "description": "Which one", "required": true, "cli": "--ticket"},
            "rounds": {"type": "number", "required": true, "default": 3, "cli": "--rounds"},
        },
        "runner": {
            "flow": {
                "systemPromptPath": "prompts/system.md",
                "prompts": {"registry": "steps_registry.json", "fallbackDir": "prompts/"},
                "defaultModel": "opus",
            },
            "verdict": {
                "type": "poll:state",
                "config": {"type": "issueClose", "issueParam": "ticket", "maxIterations": 40},
            },
            "boundaries": {
                "allowedTools": ["Read", "Glob", "Bash"],
                "permissionMode": "bypassPermissions",
            },
            "integrations": {"github": {"enabled": true}},
            "actions": {"enabled": true, "types": ["audit-action"]},
            "execution": {"worktree": {"enabled": true}},
            "logging": {"directory": "logs", "format": "jsonl"},
        },
    });
    let gate = |intents: &[&str], fallback: &str| {
        json!({
            "allowedIntents": intents,
            "intentField": "next_action.action",
            "fallbackIntent": fallback,
            "handoffFields": ["audit.findings"],
        })
    };
    let registry = json!({
        "agentId": "auditor",
        "version": "3.0.0",
        "c1": "steps",
        "pathTemplate": "{c1}/{c2}/{c3}/f_{edition}_{adaptation}.md",
        "pathTemplateNoAdaptation": "{c1}/{c2}/{c3}/f_{edition}.md",
        "entryStepMapping": {"poll:state": "initial.ticket", "count:iteration": "initial.plain"},
        "failurePatterns": {"dirty": {"edition": "failed", "adaptation": "dirty"}},
        "validators": {
            "clean": {"type": "command", "command": "git status --porcelain", "successWhen": "empty",
                      "failurePattern": "dirty"},
            "tests": {"type": "command", "command": "make test | tail", "successWhen": "exitCode:0"},
            "odd": {"type": "command", "command": "date", "successWhen": "contains:Monday"},
        },
        "validationSteps": {
            "closure.audit": {
                "stepId": "closure.audit", "c2": "retry", "c3": "audit",
                "validationConditions": [
                    {"validator": "clean"}, {"validator": "tests"}, {"validator": "odd"},
                ],
                "onFailure": {"action": "retry", "maxAttempts": 2},
            },
            "closure.gone": {"validationConditions": [{"validator": "clean"}]},
        },
        "steps": {
            "initial.ticket": {
                "stepId": "initial.ticket", "name": "Look at the ticket", "stepKind": "work",
                "c2": "initial", "c3": "ticket", "edition": "default", "uvVariables": ["ticket"],
                "usesStdin": false,
                "structuredGate": gate(&["next", "repeat", "handoff", "escalate"], "next"),
                "transitions": {
                    "next": {"target": "continuation.ticket"},
                    "repeat": {"target": "initial.ticket"},
                    "handoff": {"target": "closure.audit"},
                },
            },
            "continuation.ticket": {
                "stepId": "continuation.ticket", "name": "Continue", "stepKind": "work",
                "c2": "continuation", "c3": "ticket", "edition": "short", "adaptation": "empty",
                "uvVariables": [],
                "structuredGate": gate(&["next"], "next"),
                "transitions": {"next": {"target": "closure.audit"}},
            },
            "closure.audit": {
                "stepId": "closure.audit", "name": "Close", "type": "prompt", "stepKind": "closure",
                "c2": "closure", "c3": "audit", "uvVariables": [],
                "structuredGate": gate(&["closing", "repeat"], "closing"),
                "transitions": {"closing": {"target": null}},
            },
            "initial.plain": {"c2": "initial", "c3": "plain"},
        },
    });
    let upstream = Upstream::new(&agent, &registry);
    upstream.write("prompts/system.md", "# Auditor\n\nYou audit.\n");
    upstream.write(
        "prompts/steps/initial/ticket/f_default.md",
        "---\nstepId: initial.ticket\nuvVariables:\n  - ticket\ncustomVariables:\n  - ticket_text\n---\n\n{ticket_text}Read ticket {uv-ticket}.\n",
    );
    upstream.write(
        "prompts/steps/continuation/ticket/f_short_empty.md",
        "Go on.\n",
    );
    upstream.write(
        "prompts/steps/closure/audit/f_default.md",
        "---\nname: Close\n---\nClose.\n",
    );
    upstream
}

/// The format in which steps have an `address` and a `kind`.
pub(crate) fn addressed() -> Upstream {
    let agent = json!({
        "version": "3.0.0",
        "name": "publisher",
        "description": "Writes release notes",
        "runner": {
            "flow": {
                "systemPromptPath": "prompts/system.md",
                "prompts": {"registry": "steps_registry.json", "fallbackDir": "prompts/"},
            },
            "verdict": {"type": "poll:state", "config": {"maxIterations": 12}},
            "boundaries": {"allowedTools": ["Read"], "permissionMode": "acceptEdits"},
        },
    });
    let validator = |phase: &str, command: &str| json!({"type": "command", "phase": phase, "command": command, "successWhen": "exitCode:0"});
    let address = |c2: &str| json!({"c1": "stages", "c2": c2, "c3": "notes", "edition": "default"});
    let mut brief = address("continuation");
    brief["edition"] = "short".into();
    brief["adaptation"] = "brief".into();
    let registry = json!({
        "agentId": "publisher",
        "version": "4.0.0",
        "c1": "steps",
        "entryStepMapping": {
            "poll:state": {"initial": "initial.notes", "continuation": "continuation.notes"},
            "count:iteration": {"initial": "initial.notes", "continuation": "initial.notes"},
        },
        "validators": {
            "built": validator("postllm", "make"),
            "linted": validator("postllm", "make lint"),
            "ready": validator("preflight", "test -d out"),
            "shaped": {"type": "schema", "phase": "postllm", "schema": "notes.schema.json"},
            "spare": validator("postllm", "true"),
        },
        "validationSteps": {
            "closure.notes": {
                "stepId": "closure.notes", "name": "Check",
                "address": address("retry"),
                "preflightConditions": [{"validator": "ready"}],
                "postLLMConditions": [
                    {"validator": "built", "params": {}},
                    {"validator": "linted", "params": {"strict": true}},
                    {"validator": "shaped"},
                    {"validator": "gone"},
                ],
                "onFailure": {"action": "wait", "maxAttempts": 2, "delay": 5},
            },
            "initial.notes": {
                "stepId": "initial.notes",
                "preflightConditions": [],
                "postLLMConditions": [{"validator": "built", "params": {}}],
                "onFailure": {"action": "retry"},
            },
        },
        "steps": {
            "initial.notes": {
                "stepId": "initial.notes", "name": "Collect", "kind": "work",
                "address": address("initial"), "uvVariables": [],
                "structuredGate": {"allowedIntents": ["next"], "intentField": "next_action.action"},
                "transitions": {"next": {"target": "continuation.notes"}},
            },
            "continuation.notes": {
                "stepId": "continuation.notes", "kind": "work", "address": brief,
                "transitions": {"next": {"target": "closure.notes"}},
            },
            "closure.notes": {
                "stepId": "closure.notes", "kind": "closure", "address": address("closure"),
                "transitions": {"closing": {"target": null}},
            },
        },
    });
    let upstream = Upstream::new(&agent, &registry);
    upstream.write("prompts/system.md", "You write release notes.\n");
    upstream.write("prompts/stages/initial/notes/f_default.md", "Collect.\n");
    upstream.write(
        "prompts/stages/continuation/notes/f_short_brief.md",
        "Go on.\n",
    );
    upstream.write("prompts/stages/closure/notes/f_default.md", "Finish.\n");
    upstream.write("schemas/notes.schema.json", "{}");
    upstream.write("config.json", "{}");
    upstream
}

/// An agent whose completion is a composite of `conditions`.
pub(crate) fn composite(conditions: &Value) -> Upstream {
    let agent = json!({"version": "1", "name": "auditor", "behavior": {
        "completionType": "composite",
        "completionConfig": {"operator": "or", "conditions": conditions},
        "allowedTools": ["Read"],
    }});
    let steps = json!({"entryStep": "a", "steps": {
        "a": {"prompt": "prompts/a.md", "transition": {"next": "end"}},
    }});
    let upstream = Upstream::new(&agent, &steps);
    upstream.write("prompts/a.md", "Go. Say DONE.");
    upstream
}
