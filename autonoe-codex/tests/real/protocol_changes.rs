//! Checks that a new version of the program adds no request, item or field unnoticed.

use autonoe_codex::wire::{Outgoing, ProgramRequest, RequestId};
use serde_json::{Value, json};

use crate::schema::{assert_valid, generated, schema};

/// Requests of the program, and the schemas of their answers.
const REQUESTS: &[(&str, &str)] = &[
    (
        "item/commandExecution/requestApproval",
        "CommandExecutionRequestApprovalResponse",
    ),
    (
        "item/fileChange/requestApproval",
        "FileChangeRequestApprovalResponse",
    ),
    ("item/tool/requestUserInput", "ToolRequestUserInputResponse"),
    (
        "mcpServer/elicitation/request",
        "McpServerElicitationRequestResponse",
    ),
    (
        "item/permissions/requestApproval",
        "PermissionsRequestApprovalResponse",
    ),
    ("item/tool/call", "DynamicToolCallResponse"),
    (
        "account/chatgptAuthTokens/refresh",
        "ChatgptAuthTokensRefreshResponse",
    ),
    ("attestation/generate", "AttestationGenerateResponse"),
    ("currentTime/read", "CurrentTimeReadResponse"),
    ("applyPatchApproval", "ApplyPatchApprovalResponse"),
    ("execCommandApproval", "ExecCommandApprovalResponse"),
];

/// A new kind of request must not be added unnoticed, and each has a refusal that the program
/// understands.
#[test]
fn every_request_of_the_program_can_be_refused() {
    let folder = generated();
    let requests = schema(folder.path(), "ServerRequest");
    let variants = requests["oneOf"].as_array().expect("variants");
    let names: Vec<_> = variants
        .iter()
        .map(|variant| variant["properties"]["method"]["enum"][0].as_str())
        .collect();
    let known: Vec<_> = REQUESTS.iter().map(|(name, _)| Some(*name)).collect();
    assert_eq!(names, known);
    for (name, answer) in REQUESTS {
        let refusal = Outgoing::refusal(&RequestId::Number(1), name);
        match refusal.as_value().get("result") {
            Some(result) => assert_valid(&schema(folder.path(), answer), result),
            None => assert_eq!(refusal.as_value()["error"]["code"], -32601, "{name}"),
        }
    }
}

/// A new kind of item could be a tool without permission requests.
#[test]
fn the_kinds_of_items_are_these() {
    let folder = generated();
    let items = schema(folder.path(), "v2/ItemCompletedNotification");
    let variants = items["definitions"]["ThreadItem"]["oneOf"].as_array();
    let kinds: Vec<_> = variants
        .expect("variants")
        .iter()
        .map(|variant| variant["properties"]["type"]["enum"][0].as_str())
        .collect();
    let known = [
        "userMessage",
        "hookPrompt",
        "agentMessage",
        "functionCallOutput",
        "plan",
        "reasoning",
        "commandExecution",
        "fileChange",
        "mcpToolCall",
        "dynamicToolCall",
        "collabAgentToolCall",
        "subAgentActivity",
        "webSearch",
        "imageView",
        "sleep",
        "imageGeneration",
        "enteredReviewMode",
        "exitedReviewMode",
        "contextCompaction",
    ];
    assert_eq!(kinds, known.map(Some));
}

/// Otherwise the target of a moved file would go unnoticed.
#[test]
fn changes_of_a_patch_are_in_the_schema() {
    let folder = generated();
    let items = schema(folder.path(), "v2/ItemStartedNotification");
    let kinds = &items["definitions"]["PatchChangeKind"]["oneOf"];
    let members: Vec<_> = kinds
        .as_array()
        .expect("variants")
        .iter()
        .map(|kind| {
            let members = kind["properties"].as_object().expect("members");
            (
                kind["properties"]["type"]["enum"][0].clone(),
                members.keys().cloned().collect::<Vec<_>>(),
            )
        })
        .collect();
    let only_type = vec!["type".to_owned()];
    let mut moved = vec!["move_path".to_owned(), "type".to_owned()];
    moved.sort();
    assert_eq!(
        members,
        [
            (json!("add"), only_type.clone()),
            (json!("delete"), only_type),
            (json!("update"), moved),
        ]
    );
}

/// A new field of a request could ask for more than the call. Such requests are refused, so a
/// version that has one must be reviewed.
#[test]
fn requests_about_calls_have_no_unknown_fields() {
    let folder = generated();
    let example = |name: &str| {
        let schema = schema(folder.path(), name);
        let members = schema["properties"].as_object().expect("members");
        let mut example: serde_json::Map<_, _> = members
            .keys()
            .map(|member| (member.clone(), json!("text")))
            .collect();
        for field in [
            "additionalPermissions",
            "approvalId",
            "environmentId",
            "grantRoot",
            "kind",
            "networkApprovalContext",
        ] {
            example.remove(field);
        }
        Value::Object(example)
    };

    let command = ProgramRequest::parse(
        "item/commandExecution/requestApproval",
        &example("CommandExecutionRequestApprovalParams"),
    );
    let patch = ProgramRequest::parse(
        "item/fileChange/requestApproval",
        &example("FileChangeRequestApprovalParams"),
    );

    assert!(
        matches!(&command, ProgramRequest::Command(it) if it.is_plain()),
        "{command:?}"
    );
    assert!(
        matches!(&patch, ProgramRequest::FileChange(it) if it.is_plain()),
        "{patch:?}"
    );
}
