//! The settings that the program is started with, and whether they are in force.

use autonoe_core::{AgentError, Sandbox, SessionSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ClaudeOptions;
use super::deny_rules::deny_rules;

/// The settings that the program is started with.
///
/// One wrong field makes an older build drop all of them without a word, so they
/// are typed, and what is in force is asked for afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Settings {
    sandbox: SandboxSettings,
    permissions: Permissions,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Permissions {
    deny: Vec<String>,
}

/// What a program says about its settings.
#[derive(Debug, Deserialize)]
struct Told {
    effective: Settings,
}

impl Settings {
    /// Makes the settings for a session.
    ///
    /// # Errors
    ///
    /// The program cannot be told about one of the rules.
    pub(crate) fn of(options: &ClaudeOptions, spec: &SessionSpec) -> Result<Self, AgentError> {
        Ok(Self {
            sandbox: SandboxSettings::of(own_sandbox(spec)),
            permissions: Permissions {
                deny: deny_rules(&options.deny)?,
            },
        })
    }

    /// Writes them as the program reads them.
    pub(super) fn to_json(&self) -> String {
        // Not by way of a `Value`: whether those are sorted is a feature that others switch on.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Says which of these are not in force, by what the program tells about its settings.
    pub(crate) fn not_in_force(&self, told: &Value) -> Option<&'static str> {
        let Ok(Told { effective }) = Told::deserialize(told) else {
            return Some("it does not tell its settings");
        };
        if effective.sandbox != self.sandbox {
            return Some("the settings of the sandbox are not in force");
        }
        // A settings file of the project may refuse more.
        let denied = &effective.permissions.deny;
        let all = self
            .permissions
            .deny
            .iter()
            .all(|rule| denied.contains(rule));
        (!all).then_some("a rule that refuses calls is not in force")
    }
}

/// Says whether the program is to make a sandbox itself.
///
/// Inside of bubblewrap it cannot: the system lets nobody mount a list of processes there, and root
/// not even make a namespace. All of the program is in a sandbox then.
fn own_sandbox(spec: &SessionSpec) -> Sandbox {
    match &spec.outer_sandbox {
        Some(outer) if outer.is_bubblewrap() => Sandbox::Off,
        _ => spec.sandbox,
    }
}

/// How the program keeps shell commands in a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SandboxSettings {
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
    fn of(sandbox: Sandbox) -> Self {
        let enabled = sandbox == Sandbox::Required;
        Self {
            enabled,
            // The gate decides; a sandbox is no reason to let a command run.
            auto_allow_bash_if_sandboxed: false,
            fail_if_unavailable: enabled,
            allow_unsandboxed_commands: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(sandbox: Sandbox) -> Settings {
        Settings {
            sandbox: SandboxSettings::of(sandbox),
            permissions: Permissions {
                deny: vec!["Edit(./.autonoe/**)".into(), "Read(~/.ssh/**)".into()],
            },
        }
    }

    fn told() -> Value {
        json!({"effective": {
            "sandbox": {
                "enabled": true,
                "failIfUnavailable": true,
                "autoAllowBashIfSandboxed": false,
                "allowUnsandboxedCommands": false,
            },
            "permissions": {
                "deny": ["Edit(./.autonoe/**)", "WebFetch", "Read(~/.ssh/**)"],
            },
        }})
    }

    #[test]
    fn settings_are_in_force_when_all_of_them_are() {
        assert_eq!(asked(Sandbox::Required).not_in_force(&told()), None);
        assert!(asked(Sandbox::Off).not_in_force(&told()).is_some());
        for nothing in [json!({"effective": {}}), json!({}), json!(null)] {
            assert!(asked(Sandbox::Required).not_in_force(&nothing).is_some());
        }
    }

    #[test]
    fn a_setting_of_the_sandbox_that_was_dropped_is_noticed() {
        for field in [
            "enabled",
            "failIfUnavailable",
            "autoAllowBashIfSandboxed",
            "allowUnsandboxedCommands",
        ] {
            let mut less = told();
            let sandbox = less["effective"]["sandbox"].as_object_mut();
            sandbox.expect("an object").remove(field);

            let missing = asked(Sandbox::Required).not_in_force(&less);
            assert!(
                missing.is_some_and(|what| what.contains("sandbox")),
                "{field}"
            );
        }
    }

    #[test]
    fn a_rule_that_was_dropped_is_noticed() {
        let mut less = told();
        less["effective"]["permissions"]["deny"] = json!(["Edit(./.autonoe/**)"]);

        let missing = asked(Sandbox::Required).not_in_force(&less);

        assert!(missing.is_some_and(|what| what.contains("rule")));
    }
}
