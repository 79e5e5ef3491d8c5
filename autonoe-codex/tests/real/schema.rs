//! Checks our types against the protocol schema that the installed program generates.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use autonoe_codex::Effort;
use autonoe_codex::wire::{Decision, Outgoing, RequestId, ThreadSettings, TurnRef};
use autonoe_core::tool::Attachment;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::build::program;

/// Lets the program write its schema.
pub(crate) fn generated() -> TempDir {
    let folder = tempfile::tempdir().expect("a directory can be made");
    let done = Command::new(program())
        .args([
            "app-server",
            "generate-json-schema",
            "--experimental",
            "--out",
        ])
        .arg(folder.path())
        .env_clear()
        .env("HOME", folder.path())
        .env("CODEX_HOME", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(done.expect("it starts").success());
    folder
}

pub(crate) fn schema(folder: &Path, name: &str) -> Value {
    let text = fs::read_to_string(folder.join(format!("{name}.json"))).expect(name);
    serde_json::from_str(&text).expect("JSON")
}

#[track_caller]
pub(crate) fn assert_valid(schema: &Value, value: &Value) {
    let validator = jsonschema::validator_for(schema).expect("a schema");
    let problems: Vec<_> = validator
        .iter_errors(value)
        .map(|error| error.to_string())
        .collect();
    assert!(problems.is_empty(), "{value}\n{problems:?}");
}

fn settings() -> ThreadSettings {
    ThreadSettings {
        cwd: "/srv/project".into(),
        model: Some("gpt-5.5".to_owned()),
        developer_instructions: Some("Be kind.".to_owned()),
        config: json!({"mcp_servers": {"other": {"command": "serve"}}}),
        tools: vec![json!({
            "type": "namespace", "name": "autonoe", "description": "Tools.",
            "tools": [{
                "type": "function", "name": "list", "description": "Lists.",
                "inputSchema": {"type": "object"},
            }],
        })],
        ..ThreadSettings::default()
    }
}

fn picture() -> Attachment {
    Attachment {
        media_type: "image/png".to_owned(),
        name: None,
        data: [1, 2].as_slice().into(),
    }
}

#[test]
fn requests_of_the_host_are_in_the_schema() {
    let folder = generated();
    let requests = schema(folder.path(), "ClientRequest");
    let session = TurnRef {
        thread: "t".to_owned(),
        turn: "u".to_owned(),
    };
    let steered = RequestId::Text("steer-1".to_owned());
    for request in [
        Outgoing::initialize(1),
        Outgoing::start_thread(2, &settings()),
        Outgoing::resume_thread(3, "t", &settings()),
        Outgoing::start_turn(4, "t", "Hello.", Some(Effort::High)),
        Outgoing::steer(&steered, &session, "Hurry up."),
        Outgoing::interrupt(5, &session),
        Outgoing::clean_terminals(6, "t"),
    ] {
        assert_valid(&requests, request.as_value());
    }
    assert_valid(
        &schema(folder.path(), "ClientNotification"),
        Outgoing::initialized().as_value(),
    );
}

/// The program would ignore unknown fields of a message.
#[test]
fn requests_of_the_host_have_no_unknown_fields() {
    let folder = generated();
    for (name, request) in [
        (
            "v2/ThreadStartParams",
            Outgoing::start_thread(2, &settings()),
        ),
        (
            "v2/ThreadResumeParams",
            Outgoing::resume_thread(3, "t", &settings()),
        ),
        (
            "v2/TurnStartParams",
            Outgoing::start_turn(4, "t", "Hello.", Some(Effort::High)),
        ),
    ] {
        let schema = schema(folder.path(), name);
        for member in request.as_value()["params"]
            .as_object()
            .expect("members")
            .keys()
        {
            assert!(
                schema["properties"].get(member).is_some(),
                "{name} has no {member}"
            );
        }
    }
}

#[test]
fn answers_of_the_host_are_in_the_schema() {
    let folder = generated();
    let id = RequestId::Number(1);
    for decision in [Decision::Accept, Decision::Decline] {
        for (name, answer) in [
            (
                "CommandExecutionRequestApprovalResponse",
                Outgoing::approval(&id, decision),
            ),
            (
                "FileChangeRequestApprovalResponse",
                Outgoing::approval(&id, decision),
            ),
            (
                "McpServerElicitationRequestResponse",
                Outgoing::elicitation(&id, decision),
            ),
            (
                "DynamicToolCallResponse",
                Outgoing::tool_output(&id, "done", &[picture()], true),
            ),
        ] {
            assert_valid(&schema(folder.path(), name), &answer.as_value()["result"]);
        }
    }
}

/// Fields that our types read, by their place in the schema.
const READ: &[(&str, &str, &[&str])] = &[
    (
        "CommandExecutionRequestApprovalParams",
        "",
        &[
            "itemId",
            "turnId",
            "kind",
            "command",
            "cwd",
            "additionalPermissions",
            "networkApprovalContext",
        ],
    ),
    (
        "FileChangeRequestApprovalParams",
        "",
        &["itemId", "turnId", "grantRoot"],
    ),
    (
        "McpServerElicitationRequestParams",
        "",
        &["serverName", "turnId"],
    ),
    (
        "DynamicToolCallParams",
        "",
        &["callId", "turnId", "namespace", "tool", "arguments"],
    ),
    ("v2/TurnCompletedNotification", "", &["turn"]),
    (
        "v2/TurnCompletedNotification",
        "Turn",
        &["id", "status", "error"],
    ),
    (
        "v2/TurnCompletedNotification",
        "TurnError",
        &["message", "codexErrorInfo", "additionalDetails"],
    ),
    ("v2/ErrorNotification", "", &["error", "willRetry"]),
    (
        "v2/ThreadTokenUsageUpdatedNotification",
        "",
        &["threadId", "turnId", "tokenUsage"],
    ),
    (
        "v2/ThreadTokenUsageUpdatedNotification",
        "ThreadTokenUsage",
        &["total", "last"],
    ),
    (
        "v2/ThreadTokenUsageUpdatedNotification",
        "TokenUsageBreakdown",
        &[
            "inputTokens",
            "cachedInputTokens",
            "cacheWriteInputTokens",
            "outputTokens",
            "reasoningOutputTokens",
        ],
    ),
    (
        "v2/AccountRateLimitsUpdatedNotification",
        "RateLimitSnapshot",
        &["primary", "secondary"],
    ),
    (
        "v2/AccountRateLimitsUpdatedNotification",
        "RateLimitWindow",
        &["usedPercent", "windowDurationMins", "resetsAt"],
    ),
    ("v2/AgentMessageDeltaNotification", "", &["itemId", "delta"]),
    ("v2/ItemStartedNotification", "", &["item"]),
    (
        "v2/ItemStartedNotification",
        "FileUpdateChange",
        &["path", "kind", "diff"],
    ),
    (
        "v2/ThreadStartResponse",
        "",
        &[
            "thread",
            "model",
            "approvalPolicy",
            "approvalsReviewer",
            "sandbox",
        ],
    ),
    (
        "v2/ThreadResumeResponse",
        "",
        &[
            "thread",
            "model",
            "approvalPolicy",
            "approvalsReviewer",
            "sandbox",
        ],
    ),
];

/// Fields of items that our types read.
const ITEMS: &[(&str, &[&str])] = &[
    ("agentMessage", &["id", "text"]),
    ("reasoning", &["id", "summary", "content"]),
    (
        "commandExecution",
        &[
            "id",
            "command",
            "cwd",
            "status",
            "aggregatedOutput",
            "exitCode",
        ],
    ),
    ("fileChange", &["id", "changes", "status"]),
    (
        "mcpToolCall",
        &[
            "id",
            "server",
            "tool",
            "arguments",
            "status",
            "result",
            "error",
        ],
    ),
    (
        "dynamicToolCall",
        &[
            "id",
            "namespace",
            "tool",
            "arguments",
            "status",
            "contentItems",
            "success",
        ],
    ),
];

#[test]
fn fields_of_our_types_are_in_the_schema() {
    let folder = generated();
    for (name, definition, members) in READ {
        let schema = schema(folder.path(), name);
        let object = if definition.is_empty() {
            &schema
        } else {
            &schema["definitions"][definition]
        };
        for member in *members {
            assert!(
                object["properties"].get(member).is_some(),
                "{name} {definition} has no {member}"
            );
        }
    }
    let items = schema(folder.path(), "v2/ItemCompletedNotification");
    let variants = items["definitions"]["ThreadItem"]["oneOf"]
        .as_array()
        .expect("variants");
    for (kind, members) in ITEMS {
        let of_kind = |variant: &&Value| variant["properties"]["type"]["enum"][0] == json!(kind);
        let variant = variants
            .iter()
            .find(of_kind)
            .unwrap_or_else(|| panic!("there is no {kind}"));
        for member in *members {
            assert!(
                variant["properties"].get(member).is_some(),
                "{kind} has no {member}"
            );
        }
    }
}

#[test]
fn the_names_of_errors_and_statuses_are_in_the_schema() {
    let folder = generated();
    let text = fs::read_to_string(folder.path().join("v2/TurnCompletedNotification.json"))
        .expect("it is there");
    for name in [
        "usageLimitExceeded",
        "sessionBudgetExceeded",
        "unauthorized",
        "modelNotFound",
        "rateLimitExceeded",
        "serverOverloaded",
        "flexUnavailable",
        "policyCapacityUnavailable",
        "internalServerError",
        "httpConnectionFailed",
        "responseStreamConnectionFailed",
        "responseStreamDisconnected",
        "responseTooManyFailedAttempts",
        "other",
        "completed",
        "interrupted",
        "failed",
        "inProgress",
        "declined",
    ] {
        assert!(text.contains(&format!("\"{name}\"")), "{name}");
    }
}

/// The recorded lines of other tests must be valid in this protocol.
#[test]
fn the_recorded_notices_are_in_the_schema() {
    let folder = generated();
    let validator =
        jsonschema::validator_for(&schema(folder.path(), "ServerNotification")).expect("a schema");
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let mut seen = 0;
    for entry in fs::read_dir(recorded).expect("it is there").flatten() {
        let text = fs::read_to_string(entry.path()).expect("readable");
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let got = &line["got"];
            if got.get("method").is_some() && got.get("id").is_none() {
                assert!(validator.is_valid(got), "{got}");
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "{seen}");
}
