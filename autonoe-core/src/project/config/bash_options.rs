//! What a configuration says about shell commands.

use autonoe_security::{
    AllowCommands, Destructive, Mode as PolicyMode, Policy, PolicyConfig, PolicyError, Profile,
};
use std::collections::BTreeSet;

use crate::domain::Mode;
use crate::port::Places;

/// What a configuration says about shell commands.
///
/// ```
/// use std::path::Path;
///
/// use autonoe_core::{
///     AgentConfig, BashSecurity, BashValidator, EffectiveConfig, Mode, Places, SandboxSwitch,
/// };
///
/// let text = r#"{"profile": "rust", "allowCommands": ["just"]}"#;
/// let config = AgentConfig::parse(text, Path::new(".autonoe/agent.json"))?;
/// let effective = EffectiveConfig::merge(Some(config), Mode::Run, SandboxSwitch::default())?;
///
/// let policy = effective.bash().policy(&Places::new("/srv/project"))?;
///
/// let validator = BashValidator::new(policy);
/// assert!(validator.check("just build && cargo test").is_allowed());
/// assert!(!validator.check("npm test").is_allowed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BashOptions {
    /// What the run is for.
    pub mode: Mode,
    /// The languages whose commands are open, beside those that every project has.
    pub profiles: BTreeSet<Profile>,
    /// Commands that the configuration adds, in whichever mode.
    pub allow_commands: AllowCommands,
    /// Processes that the configuration lets `pkill` end, beside those of the profiles.
    pub pkill_targets: BTreeSet<String>,
    /// Whether `rm`, `mv`, `git clean` and `git push --force` are allowed.
    pub destructive: Destructive,
}

impl BashOptions {
    /// Returns the commands that the configuration adds in this mode, by name.
    pub fn commands(&self) -> BTreeSet<String> {
        self.allow_commands.in_mode(self.policy_mode())
    }

    fn policy_mode(&self) -> PolicyMode {
        match self.mode {
            Mode::Run => PolicyMode::Run,
            Mode::Sync => PolicyMode::Sync,
        }
    }

    /// Builds the Bash policy for the project of `places`.
    ///
    /// # Errors
    ///
    /// The project directory is not an absolute path.
    pub fn policy(&self, places: &Places) -> Result<Policy, PolicyError> {
        let link = places.project_link.as_deref();
        let home = places.home.as_deref();
        Policy::new(PolicyConfig {
            project_link: link.map(|link| link.to_string_lossy().into_owned()),
            home: home.map(|home| home.to_string_lossy().into_owned()),
            mode: self.policy_mode(),
            profiles: Some(self.profiles.clone()),
            allow_commands: self.allow_commands.clone(),
            allow_pkill_targets: self.pkill_targets.clone(),
            destructive: self.destructive,
            ..PolicyConfig::new(places.project.to_string_lossy())
        })
    }
}

/// Says what is wrong with `name` as the name of a command or a process.
pub(super) fn name_problem(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() {
        Some("it is blank; write a name or remove it")
    } else if name.contains(|c: char| c.is_whitespace() || c.is_control()) {
        Some("it must be one word, without arguments")
    } else {
        None
    }
}

/// Says what is wrong with `name` as a command that the configuration adds.
pub(super) fn command_problem(name: &str) -> Option<&'static str> {
    let is_destructive = matches!(name.rsplit('/').next(), Some("rm" | "mv"));
    match name_problem(name) {
        None if is_destructive => {
            Some("it cannot be added; `--allow-destructive` allows rm and mv inside the project")
        }
        None if AllowCommands::refuses(name) => {
            Some("it cannot be added, because it changes what other commands mean")
        }
        problem => problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_delete_or_change_others_cannot_be_added() {
        for name in ["rm", "mv", "/bin/rm", "eval", "source", ".", "alias", ""] {
            assert!(command_problem(name).is_some(), "{name}");
        }
        for name in ["docker", "just", "./rm.sh", "rmdir"] {
            assert_eq!(command_problem(name), None, "{name}");
        }
    }
}
