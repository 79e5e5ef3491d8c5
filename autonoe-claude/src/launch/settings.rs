//! The settings that the program is started with, and whether they are in force.

use autonoe_core::Sandbox;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The settings that the program is started with.
///
/// One wrong field makes an older build drop all of them without a word, so they
/// are typed, and what is in force is asked for afterwards.
#[derive(Debug, Serialize)]
pub(super) struct Settings<'a> {
    pub(super) sandbox: SandboxSettings,
    pub(super) permissions: Permissions<'a>,
}

#[derive(Debug, Serialize)]
pub(super) struct Permissions<'a> {
    pub(super) deny: &'a [String],
}

/// How the program keeps shell commands in a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SandboxSettings {
    enabled: bool,
    auto_allow_bash_if_sandboxed: bool,
    fail_if_unavailable: bool,
    allow_unsandboxed_commands: bool,
}

impl Default for SandboxSettings {
    /// What the program does when it is told nothing.
    fn default() -> Self {
        Self {
            enabled: false,
            auto_allow_bash_if_sandboxed: true,
            fail_if_unavailable: false,
            allow_unsandboxed_commands: true,
        }
    }
}

impl SandboxSettings {
    /// Makes the settings for what a session asks for.
    pub(crate) fn of(sandbox: Sandbox) -> Self {
        let enabled = sandbox == Sandbox::Required;
        Self {
            enabled,
            // The gate decides; a sandbox is no reason to let a command run.
            auto_allow_bash_if_sandboxed: false,
            fail_if_unavailable: enabled,
            allow_unsandboxed_commands: false,
        }
    }

    /// Tells whether these are in force, by what the program says about its settings.
    pub(crate) fn are_in_force(self, told: &Value) -> bool {
        let sandbox = &told["effective"]["sandbox"];
        serde_json::from_value(sandbox.clone()).is_ok_and(|told: Self| told == self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_in_force_when_all_of_them_are() {
        let all = json!({"effective": {"sandbox": {
            "enabled": true,
            "failIfUnavailable": true,
            "autoAllowBashIfSandboxed": false,
            "allowUnsandboxedCommands": false,
        }}});
        let asked = SandboxSettings::of(Sandbox::Required);

        assert!(asked.are_in_force(&all));
        for field in ["enabled", "failIfUnavailable", "autoAllowBashIfSandboxed"] {
            let mut less = all.clone();
            less["effective"]["sandbox"]
                .as_object_mut()
                .expect("an object")
                .remove(field);
            assert!(!asked.are_in_force(&less), "{field}");
        }
        assert!(!asked.are_in_force(&json!({"effective": {}})));
        assert!(!asked.are_in_force(&json!(null)));
        assert!(!SandboxSettings::of(Sandbox::Off).are_in_force(&all));
    }
}
