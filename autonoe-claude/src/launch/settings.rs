//! Settings passed to Claude Code, and the check that they are in force.

use std::path::{Path, PathBuf};

use autonoe_core::agent::Sandbox;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::{AgentError, SessionSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ClaudeOptions;
use super::tools::deny_rules;

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
    /// Creates the settings of a session. All folders of sessions are in one of `parents`, and its
    /// own temporary files in `temporary`.
    ///
    /// # Errors
    ///
    /// Claude Code has no equivalent of a deny rule.
    pub(crate) fn new(
        options: &ClaudeOptions,
        spec: &SessionSpec,
        parents: &[PathBuf],
        temporary: &Path,
    ) -> Result<Self, AgentError> {
        let sandbox = match own_sandbox(spec) {
            Sandbox::Required => SandboxSettings::required(&spec.cwd, parents, temporary),
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
        // A settings file of the project may deny more.
        let denied = &effective.permissions.deny;
        let all = self
            .permissions
            .deny
            .iter()
            .all(|rule| denied.contains(rule));
        (!all).then_some("a deny rule is not in force")
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

/// Returns whether all protected folders keep their place if the whole of `/tmp` is writable.
///
/// The sandbox makes folders read-only by mounts, which cannot be moved. The folders around a mount
/// can be moved, and others put in their place. So the project, whose state is protected, must not
/// be in `/tmp`, and a parent of sessions must be directly in it, or elsewhere.
fn stays_in_place(project: &Path, parents: &[PathBuf]) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let temporary = real(Path::new(ProjectPaths::TEMPORARY));
    let is_inside = |path: &Path| path.starts_with(&temporary);
    let keeps_place = |parent: &PathBuf| {
        let parent = real(parent);
        !is_inside(&parent) || parent.parent() == Some(&temporary)
    };
    !is_inside(&real(project)) && parents.iter().all(keeps_place)
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
            // The gate decides; a sandbox alone does not allow a command.
            auto_allow_bash_if_sandboxed: false,
            fail_if_unavailable: false,
            allow_unsandboxed_commands: false,
            filesystem: Filesystem::default(),
        }
    }

    /// Makes `/tmp` and `temporary` writable, and read-only: the state of runs and fleets in
    /// `project`, and the `parents` of all folders of sessions.
    ///
    /// Claude Code itself makes hooks and configuration of Git repositories read-only.
    fn required(project: &Path, parents: &[PathBuf], temporary: &Path) -> Self {
        let text = |path: &Path| path.display().to_string();
        let is_shared = stays_in_place(project, parents);
        let shared = is_shared.then(|| ProjectPaths::TEMPORARY.to_owned());
        let parents = parents.iter().map(|parent| text(parent));
        let state = ProjectPaths::STATE_FOLDERS.map(|name| text(&project.join(name)));
        Self {
            enabled: true,
            fail_if_unavailable: true,
            filesystem: Filesystem {
                allow_write: shared.into_iter().chain([text(temporary)]).collect(),
                deny_write: state.into_iter().chain(parents).collect(),
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
        let [project, temporary] = ["/srv/project", "/tmp/session"].map(Path::new);
        let parents = [PathBuf::from("/tmp/autonoe-1000")];
        Settings {
            sandbox: match sandbox {
                Sandbox::Required => SandboxSettings::required(project, &parents, temporary),
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
                    "allowWrite": ["/tmp", "/tmp/session", "./build"],
                    "denyWrite": [
                        "/srv/project/.autonoe",
                        "/srv/project/.harness",
                        "/tmp/autonoe-1000",
                    ],
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
                missing.is_some_and(|problem| problem.contains("sandbox")),
                "{field}"
            );
        }
    }

    #[test]
    fn all_of_tmp_is_writable_only_if_protected_folders_cannot_move() {
        for (project, parent, is_writable) in [
            ("/no-srv/project", "/tmp/autonoe-1000", true),
            ("/no-srv/project", "/no-var/autonoe-1000", true),
            ("/tmp/project", "/tmp/autonoe-1000", false),
            ("/tmp/x/project", "/tmp/autonoe-1000", false),
            ("/no-srv/project", "/tmp/x/autonoe-1000", false),
        ] {
            let parents = ["/tmp/autonoe-1000", parent].map(PathBuf::from);
            let [project, temporary] = [project, "/t"].map(Path::new);
            let paths = SandboxSettings::required(project, &parents, temporary).filesystem;

            let expected: &[&str] = if is_writable {
                &["/tmp", "/t"]
            } else {
                &["/t"]
            };
            assert_eq!(paths.allow_write, expected, "{project:?} {parent}");
            assert!(paths.deny_write.contains(&parent.to_owned()), "{parent}");
        }
    }

    #[test]
    fn a_denied_folder_of_sessions_that_was_dropped_is_noticed() {
        let mut less = report();
        let denied = less["effective"]["sandbox"]["filesystem"]["denyWrite"].as_array_mut();
        denied.expect("a list").pop();

        assert!(requested(Sandbox::Required).not_in_force(&less).is_some());
    }

    #[test]
    fn a_rule_that_was_dropped_is_noticed() {
        let mut less = report();
        less["effective"]["permissions"]["deny"] = json!(["Edit(./secret/**)"]);

        let missing = requested(Sandbox::Required).not_in_force(&less);

        assert!(missing.is_some_and(|problem| problem.contains("rule")));
    }
}
