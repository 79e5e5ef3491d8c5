//! A story as scripted agents play it: their calls are put to the gate, and what it allows
//! is done for real.

use std::fs;
use std::path::Path;
use std::process::Command;

use autonoe_core::AgentErrorKind;
use autonoe_testkit::{Expectation, SessionScript, ToolUse};
use serde_json::json;

use crate::backends::story::{Call, End, Session, What};

/// Returns what a scripted agent does in a session in the project `root`.
pub(crate) fn script(session: &Session, root: &Path) -> SessionScript {
    let script = SessionScript::new("as the story says");
    let script = session.steps.iter().fold(script, |script, calls| {
        let uses = calls.iter().map(|call| tool_use(call, root));
        let script = script.calls_at_once(uses);
        let allowed = calls.iter().filter(|call| call.expect == Expectation::Runs);
        allowed.fold(script, |script, call| {
            let what = call.what.clone();
            script.does(move |root| do_for_real(&what, root))
        })
    });
    match session.end {
        End::Says(text) => script.says(text).ends(),
        End::QuotaSpent => script.hits_quota(None),
        End::LoginRefused => script.fails(AgentErrorKind::Authentication, "it is not known"),
        End::ModelUnknown => script.fails(AgentErrorKind::Configuration, "it is not there"),
        End::Unpaid => script.fails(AgentErrorKind::Billing, "nobody pays"),
    }
}

fn tool_use(call: &Call, root: &Path) -> ToolUse {
    let tool = match &call.what {
        What::Tool { name, input } => ToolUse::new(format!("mcp__autonoe__{name}"), input.clone()),
        What::Write { file, text } => {
            let input = json!({"file_path": root.join(file), "content": text});
            ToolUse::new("Write", input)
        }
        What::Edit { file, old, new } => {
            let path = root.join(file);
            let input = json!({"file_path": path, "old_string": old, "new_string": new});
            ToolUse::new("Edit", input)
        }
        What::Read { file } => ToolUse::new("Read", json!({"file_path": root.join(file)})),
        What::Command(command) => ToolUse::new("Bash", json!({"command": command})),
        What::Mcp {
            server,
            tool,
            input,
        } => ToolUse::new(format!("mcp__{server}__{tool}"), input.clone()),
        What::Claude { tool, input } => ToolUse::new(*tool, input.clone()),
    };
    tool.expecting(call.expect.clone())
}

fn do_for_real(what: &What, root: &Path) {
    match what {
        // The call had its effect already, or has none on the disk.
        What::Tool { .. } | What::Read { .. } | What::Mcp { .. } | What::Claude { .. } => {}
        What::Write { file, text } => {
            let path = root.join(file);
            fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
            fs::write(path, text).expect("it can be written");
        }
        What::Edit { file, old, new } => {
            let path = root.join(file);
            let text = fs::read_to_string(&path).expect("it can be read");
            fs::write(path, text.replacen(old, new, 1)).expect("it can be written");
        }
        What::Command(command) => {
            let shell = Command::new("bash")
                .args(["-c", command])
                .current_dir(root)
                .status();
            assert!(shell.expect("it starts").success(), "{command}");
        }
    }
}
