//! Sample tool calls of every kind, including unusual ones.

use std::path::PathBuf;

use autonoe_core::time::SessionKey;
use autonoe_core::{Mode, RunId, ToolCall, ToolKind};
use serde_json::{Value, json};

use crate::conformance::checks::Marker;

/// A call to pass to a hook.
pub(super) struct SampleCall {
    pub(super) label: String,
    pub(super) call: ToolCall,
}

/// Returns all calls. Those with side effects would create the file at `marker`.
pub(super) fn all(marker: &Marker) -> Vec<SampleCall> {
    let mut all = Vec::new();
    for (label, call) in plain().into_iter().chain(traces(marker)) {
        for mode in [Mode::Run, Mode::Sync] {
            for cwd in ["/srv/project", "/", "relative", ""] {
                let call = call.clone().in_mode(mode).in_dir(cwd);
                all.push(SampleCall {
                    label: format!("{label} ({mode}, in {cwd:?})"),
                    call,
                });
            }
        }
    }
    for (label, call) in unusual_calls() {
        all.push(SampleCall { label, call });
    }
    // Ids are unique within a session, and a hook may rely on it.
    for (number, sample) in all.iter_mut().enumerate() {
        sample.call.id = format!("call-{number}");
    }
    all
}

fn labelled(calls: impl IntoIterator<Item = (&'static str, Value)>) -> Vec<(String, ToolCall)> {
    calls
        .into_iter()
        .map(|(name, input)| (format!("{name} {input}"), ToolCall::new(name, input)))
        .collect()
}

/// Everyday calls of agents.
fn plain() -> Vec<(String, ToolCall)> {
    labelled([
        ("Bash", json!({"command": "ls -la"})),
        (
            "Bash",
            json!({"command": "npm test && git commit -m 'x' | tee log > out 2>&1"}),
        ),
        ("Bash", json!({"command": "rm -rf / --no-preserve-root"})),
        (
            "Write",
            json!({"file_path": "src/main.rs", "content": "fn main() {}"}),
        ),
        (
            "Edit",
            json!({"file_path": "../outside", "old_string": "a", "new_string": "b"}),
        ),
        (
            "MultiEdit",
            json!({"file_path": ".autonoe/status.json", "edits": []}),
        ),
        (
            "NotebookEdit",
            json!({"notebook_path": "~/x.ipynb", "new_source": ""}),
        ),
        ("Read", json!({"file_path": "/etc/passwd"})),
        ("Glob", json!({"pattern": "../**/*.rs"})),
        ("Grep", json!({"pattern": "(", "path": "src"})),
        ("LS", json!({})),
        (
            "WebFetch",
            json!({"url": "https://example.com/a?b=c#d", "prompt": "x"}),
        ),
        ("Task", json!({"prompt": "do it all"})),
        ("mcp__autonoe__list", json!({})),
        (
            "mcp__other__thing",
            json!({"a": [1, 2.5, null, true, {"b": "c"}]}),
        ),
    ])
}

/// Calls that would create a file if a hook executed them.
fn traces(marker: &Marker) -> Vec<(String, ToolCall)> {
    let path = marker.path().to_string_lossy();
    vec![
        (
            "touch".into(),
            ToolCall::new("Bash", json!({"command": marker.touch()})),
        ),
        (
            "write".into(),
            ToolCall::new("Write", json!({"file_path": path, "content": "x"})),
        ),
    ]
}

/// Calls that no agent should make, and that some agent will make.
fn unusual_calls() -> Vec<(String, ToolCall)> {
    let mut unusual_calls = labelled([
        ("", json!(null)),
        (" ", json!({})),
        ("Bash", json!({"command": ""})),
        ("Bash", json!({"command": " \n\t"})),
        ("Bash", json!({"command": "ls \u{0} rm"})),
        ("Bash", json!({"command": "echo 'never closed"})),
        (
            "Bash",
            json!({"command": "echo \u{202e}🦀 e\u{301} \u{feff}\u{fffd} 漢字"}),
        ),
        ("Bash", json!({"command": ["ls"]})),
        ("Bash", json!("ls")),
        ("Write", json!({})),
        ("Write", json!({"file_path": ""})),
        ("Write", json!({"file_path": "a\u{0}b"})),
        ("Write", json!({"file_path": "/////../..//./"})),
        ("Read", json!({"file_path": "~nobody/../../x"})),
        ("Glob", json!({"pattern": "[", "path": 3})),
        ("WebFetch", json!({"url": ""})),
        ("WebFetch", json!({"url": "http://[::1"})),
        ("WebFetch", json!({"url": "javascript:\u{0}"})),
        ("mcp____", json!({})),
        ("mcp__a__b__c", json!([])),
        ("名前", json!({"🦀": "\u{0}"})),
    ]);
    let path = |path: &str| vec![PathBuf::from(path)];
    let many: Vec<PathBuf> = (0..200).map(|n| format!("src/{n}").into()).collect();
    let of_kind = [
        (
            "an empty shell command",
            ToolKind::Shell {
                command: String::new(),
            },
        ),
        (
            "a huge shell command",
            ToolKind::Shell {
                command: "echo a; ".repeat(1 << 12),
            },
        ),
        ("a write of nothing", ToolKind::Write { paths: Vec::new() }),
        (
            "a write of many files",
            ToolKind::Write {
                paths: many.clone(),
            },
        ),
        (
            "a write to an empty path",
            ToolKind::Write { paths: path("") },
        ),
        (
            "a write to a long path",
            ToolKind::Write {
                paths: path(&"a/".repeat(1 << 14)),
            },
        ),
        ("a read of nothing", ToolKind::Read { paths: Vec::new() }),
        ("a read of many files", ToolKind::Read { paths: many }),
        (
            "a read that climbs",
            ToolKind::Read {
                paths: path(&"../".repeat(1 << 10)),
            },
        ),
        (
            "a fetch of a huge address",
            ToolKind::Fetch {
                url: "x".repeat(1 << 20),
            },
        ),
        (
            "a nameless tool of a server",
            ToolKind::Mcp {
                server: String::new(),
                tool: String::new(),
            },
        ),
        ("something else", ToolKind::Other),
        (
            "something malformed",
            ToolKind::Malformed {
                reason: "nobody knows".into(),
            },
        ),
        (
            "something malformed without a reason",
            ToolKind::Malformed {
                reason: String::new(),
            },
        ),
    ];
    for (label, kind) in of_kind {
        // The vendor's name is unrelated to the kind.
        unusual_calls.push((
            label.to_owned(),
            ToolCall::new("vendor_tool", json!({})).with_kind(kind),
        ));
    }
    unusual_calls.push((
        "a huge input".into(),
        ToolCall::new("Task", json!({"a": "x".repeat(1 << 20)})),
    ));
    unusual_calls.push(("a deep input".into(), ToolCall::new("mcp__a__b", deep())));
    let other = SessionKey {
        run: RunId::new(""),
        number: u32::MAX,
    };
    let by_another = ToolCall::new("Bash", json!({"command": "ls"}))
        .in_session(other)
        .by_agent("");
    unusual_calls.push(("a call of a nameless sub-agent".into(), by_another));
    unusual_calls
}

/// The deepest possible JSON: parsers reject deeper values.
fn deep() -> Value {
    (0..126).fold(json!(".autonoe"), |inner, depth| {
        if depth % 2 == 0 {
            json!([inner])
        } else {
            json!({ "a": inner })
        }
    })
}
