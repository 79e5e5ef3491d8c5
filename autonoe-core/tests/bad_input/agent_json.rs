//! Defects of the configuration, `.autonoe/agent.json`.

use crate::bad_input::attempt::Attempt::{self, Config, Run};
use crate::bad_input::case::Case;
use crate::bad_input::other_process::Limits;

const FILE: &str = ".autonoe/agent.json";
const ATTEMPTS: [Attempt; 2] = [Config, Run];

pub(crate) fn cases() -> Vec<Case> {
    let texts = TEXTS.iter().map(|(defect, text)| {
        Case::new(format!("agent.json {defect}"), ATTEMPTS, |folder| {
            folder.write(FILE, text.as_bytes());
        })
    });
    texts.chain(others()).collect()
}

const TEXTS: &[(&str, &str)] = &[
    ("is empty", ""),
    ("is blank", " \n"),
    ("is corrupt", "hello"),
    ("is truncated", "{\n  \"profile\": \"node\",\n  \"hoo"),
    ("is followed by something", "{}\nhello\n"),
    ("is a list", "[]"),
    (
        "has a field that would forbid something",
        "{\n  \"denyCommands\": [\"curl\"]\n}\n",
    ),
    ("has a misspelt field", "{\n  \"profil\": \"node\"\n}\n"),
    (
        "has a misspelt field further down",
        "{\n  \"mcpServers\": {\n    \"docs\": {\"comand\": \"x\"}\n  }\n}\n",
    ),
    (
        "has a field twice",
        "{\n  \"profile\": \"node\",\n  \"profile\": \"go\"\n}\n",
    ),
    ("has a field of the wrong type", "{\n  \"profile\": 7\n}\n"),
    (
        "has a text in the place of a list",
        "{\n  \"allowCommands\": \"docker\"\n}\n",
    ),
    (
        "has an item of the wrong type",
        "{\n  \"permissions\": {\n    \"allow\": [\"Task\", {}]\n  }\n}\n",
    ),
    (
        "has a rule that is none",
        "{\n  \"permissions\": {\n    \"allow\": [\"Reed(./**)\"]\n  }\n}\n",
    ),
    (
        "has a hook that is not known",
        "{\n  \"hooks\": [\n    {\"type\": \"slack-notify\"}\n  ]\n}\n",
    ),
    (
        "has a misspelt hook",
        "{\n  \"hooks\": [\n    {\"type\": \"core-dney-tool\", \"rule\": \"Task\", \"reason\": \"x\"}\n  ]\n}\n",
    ),
    (
        "has a hook without a type",
        "{\n  \"hooks\": [\n    {\"rule\": \"Task\"}\n  ]\n}\n",
    ),
    (
        "has a hook with a field of the wrong type",
        "{\n  \"hooks\": [\n    {\"type\": \"core-deny-tool\", \"rule\": 1, \"reason\": \"x\"}\n  ]\n}\n",
    ),
];

fn others() -> Vec<Case> {
    vec![
        Case::new(
            "agent.json has a hook that cannot be built",
            [Run],
            |folder| {
                let text = "{\n  \"hooks\": [\n    {\"type\": \"core-deny-tool\", \"rule\": \"Task\", \"reason\": \" \"}\n  ]\n}\n";
                folder.write(FILE, text.as_bytes());
            },
        ),
        Case::new("agent.json is not UTF-8", ATTEMPTS, |folder| {
            folder.write(FILE, b"{\n  \"profile\": \"\xff\"\n}\n");
        }),
        Case::new("agent.json is nested too deeply", ATTEMPTS, |folder| {
            folder.write(FILE, "[".repeat(300_000).as_bytes());
        }),
        Case::new("agent.json is huge", ATTEMPTS, |folder| {
            folder.make_huge(FILE, 64 << 30);
        })
        .within(Limits::Memory(4 << 20)),
        Case::new("agent.json is a folder", ATTEMPTS, |folder| {
            folder.put_folder(FILE);
        }),
        Case::new("agent.json is a pipe", ATTEMPTS, |folder| {
            folder.put_pipe(FILE);
        }),
        Case::new("agent.json is a socket", ATTEMPTS, |folder| {
            folder.put_socket(FILE);
        }),
        Case::new(
            "agent.json is a symlink that leads nowhere",
            ATTEMPTS,
            |folder| {
                folder.put_symlink(FILE, "gone");
            },
        ),
        Case::new("agent.json cannot be read", ATTEMPTS, |_| {})
            .forbidding(|folder| folder.allow(FILE, 0o000)),
    ]
}
