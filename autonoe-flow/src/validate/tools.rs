//! Validates the allowed tools of the agent.

use autonoe_core::gate::PermissionRule;

use super::findings::{Findings, In};
use crate::finding::FindingKind::Tool;

pub(super) fn check(found: &mut Findings<'_>) {
    for (index, text) in found.agent.behavior.allowed_tools.iter().enumerate() {
        if let Err(invalid) = text.parse::<PermissionRule>() {
            let pointer = format!("/behavior/allowedTools/{index}");
            let hint = "use the name of a tool, or a rule like Read(./docs/**) or Bash(npm run *)";
            found.error_in(In::Agent, Tool, pointer, invalid.to_string(), hint);
        }
    }
}
