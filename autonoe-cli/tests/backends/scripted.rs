//! Runs a script on scripted agents: the gate decides about their calls, and the test performs the
//! allowed ones for real.

use std::fs;
use std::path::Path;
use std::process::Command;

use autonoe_core::agent::AgentErrorKind;
use autonoe_testkit::{Expectation, SessionScript, ToolUse};
use serde_json::json;

use crate::backends::run_script::{Call, Effect, End, Session};

/// Returns the script of an agent for a session in the project `root`.
pub(crate) fn script(session: &Session, root: &Path) -> SessionScript {
    let script = SessionScript::new("as the script says");
    let script = session.steps.iter().fold(script, |script, calls| {
        let uses = calls.iter().map(|call| tool_use(call, root));
        let script = script.calls_at_once(uses);
        let allowed = calls.iter().filter(|call| call.expect == Expectation::Runs);
        allowed.fold(script, |script, call| {
            let effect = call.effect.clone();
            script.performs(move |root| perform(&effect, root))
        })
    });
    match session.end {
        End::Text(text) => script.says(text).ends(),
        End::QuotaSpent => script.hits_quota(None),
        End::LoginRefused => script.fails(AgentErrorKind::Authentication, "it is not known"),
        End::ModelUnknown => script.fails(AgentErrorKind::Configuration, "it is not there"),
        End::Unpaid => script.fails(AgentErrorKind::Billing, "nobody pays"),
    }
}

fn tool_use(call: &Call, root: &Path) -> ToolUse {
    let tool = match &call.effect {
        Effect::Tool { name, input } => {
            ToolUse::new(format!("mcp__autonoe__{name}"), input.clone())
        }
        Effect::Write { file, text } => {
            let input = json!({"file_path": root.join(file), "content": text});
            ToolUse::new("Write", input)
        }
        Effect::Edit { file, old, new } => {
            let path = root.join(file);
            let input = json!({"file_path": path, "old_string": old, "new_string": new});
            ToolUse::new("Edit", input)
        }
        Effect::Read { file } => ToolUse::new("Read", json!({"file_path": root.join(file)})),
        Effect::Command(command) => ToolUse::new("Bash", json!({"command": command})),
        Effect::Mcp {
            server,
            tool,
            input,
        } => ToolUse::new(format!("mcp__{server}__{tool}"), input.clone()),
        Effect::Claude { tool, input } => ToolUse::new(*tool, input.clone()),
    };
    tool.expecting(call.expect.clone())
}

fn perform(effect: &Effect, root: &Path) {
    match effect {
        // The call has already had its effect, or has none on the disk.
        Effect::Tool { .. } | Effect::Read { .. } | Effect::Mcp { .. } | Effect::Claude { .. } => {}
        Effect::Write { file, text } => {
            let path = root.join(file);
            fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
            fs::write(path, text).expect("it can be written");
        }
        Effect::Edit { file, old, new } => {
            let path = root.join(file);
            let text = fs::read_to_string(&path).expect("it can be read");
            fs::write(path, text.replacen(old, new, 1)).expect("it can be written");
        }
        Effect::Command(command) => {
            let shell = Command::new("bash")
                .args(["-c", command])
                .current_dir(root)
                .status();
            assert!(shell.expect("it starts").success(), "{command}");
        }
    }
}
