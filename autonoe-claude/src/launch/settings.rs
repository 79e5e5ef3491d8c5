//! Settings passed to Claude Code, and the check that they are in force.

use std::path::Path;

use autonoe_core::{AgentError, ProjectPaths, Sandbox, SessionSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ClaudeOptions;
use super::deny_rules::deny_rules;

/// The settings that Claude Code is started with.
///
/// One wrong field makes an older build ignore all of them without an error. So they are typed,
/// and a session requests the settings in force before its first turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Settings {
    sandbox: SandboxSettings,
    permissions: Permissions,
    /// The gate decides about addresses. Without this setting, Claude Code queries a service of its
    /// vendor about every host.
    #[serde(rename = "skipWebFetchPreflight")]
    skip_web_fetch_preflight: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Permissions {
    deny: Vec<String>,
}

/// The answer of Claude Code to a request for its settings.
#[derive(Debug, Deserialize)]
struct SettingsReport {
    effective: Settings,
}

impl Settings {
    /// Creates the settings of a session whose temporary files are in `temporary`.
    ///
    /// # Errors
    ///
    /// Claude Code has no equivalent of a deny rule.
    pub(crate) fn new(
        options: &ClaudeOptions,
        spec: &SessionSpec,
        temporary: &Path,
    ) -> Result<Self, AgentError> {
        let sandbox = match own_sandbox(spec) {
            Sandbox::Required => SandboxSettings::required(&spec.cwd, temporary),
            Sandbox::Off => SandboxSettings::off(),
        };
        Ok(Self {
            sandbox,
            permissions: Permissions {
                deny: deny_rules(&options.deny)?,
            },
            skip_web_fetch_preflight: true,
        })
    }

    /// Returns the JSON for the command line.
    pub(super) fn to_json(&self) -> String {
        // Not through a `Value`: the order of its keys depends on a feature that another crate can
        // enable.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns what is not in force of these settings, if anything, by the `report` of Claude Code.
    pub(crate) fn not_in_force(&self, report: &Value) -> Option<&'static str> {
        let Ok(SettingsReport { effective }) = SettingsReport::deserialize(report) else {
            return Some("it does not report its settings");
        };
        if !effective.sandbox.covers(&self.sandbox) {
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

/// Returns whether Claude Code must create its own sandbox.
///
/// It cannot create one inside bubblewrap: the kernel forbids mounting `/proc` there, and denies
/// root even a namespace. Then the outer sandbox contains Claude Code as a whole.
pub(super) fn own_sandbox(spec: &SessionSpec) -> Sandbox {
    match &spec.outer_sandbox {
        Some(outer) if outer.is_bubblewrap() => Sandbox::Off,
        _ => spec.sandbox,
    }
}

/// Sandbox of Claude Code for shell commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SandboxSettings {
    enabled: bool,
    auto_allow_bash_if_sandboxed: bool,
    fail_if_unavailable: bool,
    allow_unsandboxed_commands: bool,
    #[serde(skip_serializing_if = "Filesystem::is_empty")]
    filesystem: Filesystem,
}

/// Paths that are writable in the sandbox beside the project, and paths that are not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Filesystem {
    allow_write: Vec<String>,
    deny_write: Vec<String>,
}

impl Filesystem {
    fn is_empty(&self) -> bool {
        self.allow_write.is_empty() && self.deny_write.is_empty()
    }
}

impl Default for SandboxSettings {
    /// Returns the defaults of Claude Code, for fields that its report omits.
    fn default() -> Self {
        Self {
            enabled: false,
            auto_allow_bash_if_sandboxed: true,
            fail_if_unavailable: false,
            allow_unsandboxed_commands: true,
            filesystem: Filesystem::default(),
        }
    }
}

impl SandboxSettings {
    fn off() -> Self {
        Self {
            enabled: false,
            // The gate decides; a sandbox is no reason to let a command run.
            auto_allow_bash_if_sandboxed: false,
            fail_if_unavailable: false,
            allow_unsandboxed_commands: false,
            filesystem: Filesystem::default(),
        }
    }

    /// Makes `temporary` writable and the state of runs and fleets in `project` read-only.
    ///
    /// Claude Code itself makes hooks and configuration of Git repositories read-only.
    fn required(project: &Path, temporary: &Path) -> Self {
        let text = |path: &Path| path.display().to_string();
        Self {
            enabled: true,
            fail_if_unavailable: true,
            filesystem: Filesystem {
                allow_write: vec![text(temporary)],
                deny_write: ProjectPaths::STATE_FOLDERS
                    .map(|name| text(&project.join(name)))
                    .into(),
            },
            ..Self::off()
        }
    }

    /// Returns whether these settings are at least as strict as `requested`.
    ///
    /// Settings files of the project may add paths to both lists. An additional denied path is
    /// harmless, and an additional allowed path does not open a denied one.
    fn covers(&self, requested: &Self) -> bool {
        let contains = |all: &[String], some: &[String]| some.iter().all(|path| all.contains(path));
        let without_paths = |settings: &Self| Self {
            filesystem: Filesystem::default(),
            ..settings.clone()
        };
        without_paths(self) == without_paths(requested)
            && contains(
                &self.filesystem.allow_write,
                &requested.filesystem.allow_write,
            )
            && contains(
                &self.filesystem.deny_write,
                &requested.filesystem.deny_write,
            )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn requested(sandbox: Sandbox) -> Settings {
        let [project, temporary] = ["/srv/project", "/tmp/session/tmp"].map(Path::new);
        Settings {
            sandbox: match sandbox {
                Sandbox::Required => SandboxSettings::required(project, temporary),
                Sandbox::Off => SandboxSettings::off(),
            },
            permissions: Permissions {
                deny: vec!["Edit(./secret/**)".into(), "Read(~/.ssh/**)".into()],
            },
            skip_web_fetch_preflight: true,
        }
    }

    fn report() -> Value {
        json!({"effective": {
            "sandbox": {
                "enabled": true,
                "failIfUnavailable": true,
                "autoAllowBashIfSandboxed": false,
                "allowUnsandboxedCommands": false,
                "filesystem": {
                    "allowWrite": ["/tmp/session/tmp", "./build"],
                    "denyWrite": ["/srv/project/.autonoe", "/srv/project/.harness"],
                },
            },
            "permissions": {
                "deny": ["Edit(./secret/**)", "WebFetch", "Read(~/.ssh/**)"],
            },
        }})
    }

    // Shows: spec/5.5/auto-allow
    #[test]
    fn settings_are_in_force_when_all_of_them_are() {
        assert_eq!(requested(Sandbox::Required).not_in_force(&report()), None);
        assert!(requested(Sandbox::Off).not_in_force(&report()).is_some());
        for nothing in [json!({"effective": {}}), json!({}), json!(null)] {
            assert!(
                requested(Sandbox::Required)
                    .not_in_force(&nothing)
                    .is_some()
            );
        }
    }

    #[test]
    fn a_setting_of_the_sandbox_that_was_dropped_is_noticed() {
        for field in [
            "enabled",
            "failIfUnavailable",
            "autoAllowBashIfSandboxed",
            "allowUnsandboxedCommands",
            "filesystem",
        ] {
            let mut less = report();
            let sandbox = less["effective"]["sandbox"].as_object_mut();
            sandbox.expect("an object").remove(field);

            let missing = requested(Sandbox::Required).not_in_force(&less);
            assert!(
                missing.is_some_and(|what| what.contains("sandbox")),
                "{field}"
            );
        }
    }

    #[test]
    fn a_rule_that_was_dropped_is_noticed() {
        let mut less = report();
        less["effective"]["permissions"]["deny"] = json!(["Edit(./secret/**)"]);

        let missing = requested(Sandbox::Required).not_in_force(&less);

        assert!(missing.is_some_and(|what| what.contains("rule")));
    }
}
