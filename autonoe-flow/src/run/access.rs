//! What the agent of a flow may do.

use autonoe_core::{Grants, SessionAccess};

use crate::definition::{Behavior, PermissionMode};

/// Returns what the agent of a flow may do: what is allowed by name, and what the mode adds.
///
/// Guards and hooks judge every call whatever is allowed here.
pub(super) fn access(behavior: &Behavior) -> SessionAccess {
    let named = behavior.allowed_tools.iter();
    let named = named.fold(Grants::none(), Grants::with_tool);
    match behavior.permission_mode {
        PermissionMode::Default => SessionAccess::Only(named),
        PermissionMode::AcceptEdits => {
            const EDITS: [&str; 2] = ["Edit(./**)", "Write(./**)"];
            SessionAccess::Only(EDITS.into_iter().fold(named, Grants::with_tool))
        }
        PermissionMode::Plan => SessionAccess::ReadOnly(named),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_permission_mode_adds_edits_or_takes_all_that_changes() {
        let access_of = |mode: &str| {
            let behavior = json!({
                "completionType": "stepMachine",
                "allowedTools": ["Grep", "Bash(npm test)"],
                "permissionMode": mode,
            });
            access(&serde_json::from_value(behavior).expect("a behavior"))
        };
        let named = Grants::none().with_tool("Grep").with_tool("Bash(npm test)");
        let rules = |grants: &Grants| grants.rules().count();

        assert_eq!(access_of("default"), SessionAccess::Only(named.clone()));
        assert_eq!(access_of("plan"), SessionAccess::ReadOnly(named.clone()));
        match access_of("acceptEdits") {
            SessionAccess::Only(grants) => assert_eq!(rules(&grants), rules(&named) + 2),
            other => panic!("{other:?}"),
        }
    }
}
