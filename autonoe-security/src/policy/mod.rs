//! Policies: the programs and arguments that an agent may use.

mod config;
mod error;
mod profile;
mod scope;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

pub use config::{AllowCommands, Destructive, Examples, PolicyConfig, TieredCommands};
pub use error::PolicyError;
pub use profile::Profile;
pub use scope::{Mode, PolicyScope, ScopeMismatch};

use crate::check::{Known, Names, built_in_commands, may_contain_credentials, path};

/// A policy that is ready to judge commands.
///
/// Two policies are equal if they are built for equal runs from equal configurations. Its `Display`
/// summarizes in a few lines what is allowed.
#[derive(Clone)]
pub struct Policy {
    scope: PolicyScope,
    config: PolicyConfig,
    project: String,
    project_link: Option<String>,
    home: Option<String>,
    /// Whether a credential location may be inside the project.
    holds_credentials: bool,
    active: BTreeSet<Profile>,
    extensions: BTreeSet<String>,
    pkill_targets: BTreeSet<String>,
    commands: Names<Known>,
}

impl Policy {
    /// Builds a policy from `config` for the runs of `scope`, and checks its examples.
    ///
    /// # Errors
    ///
    /// If the directory is not absolute, the name of a command or process is not one word, or an
    /// example gets another verdict than required.
    pub fn new(scope: impl Into<PolicyScope>, config: PolicyConfig) -> Result<Self, PolicyError> {
        let scope = scope.into();
        let paths = [Some(&scope.project_dir), scope.project_link.as_ref()];
        if let Some(path) = paths
            .into_iter()
            .flatten()
            .find(|path| !path.starts_with('/'))
        {
            return Err(PolicyError::RelativeProject(path.clone()));
        }
        let active = match &config.profiles {
            Some(profiles) => profiles.clone(),
            None => Profile::ALL.into(),
        };
        let extensions = config.allow_commands.in_mode(scope.mode);
        let mut pkill_targets = config.allow_pkill_targets.clone();
        for name in extensions.iter().chain(&pkill_targets) {
            if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
                return Err(PolicyError::NotAWord(name.clone()));
            }
        }
        let targets = active.iter().flat_map(|profile| profile.pkill_targets());
        pkill_targets.extend(targets.map(|target| (*target).to_owned()));
        let normal = |path: &str| path::normalize(path).into_owned();
        let project = normal(&scope.project_dir);
        let home = scope.known_home().map(Cow::into_owned);
        let policy = Self {
            holds_credentials: may_contain_credentials(&project, home.as_deref()),
            project,
            home,
            project_link: scope.project_link.as_deref().map(normal),
            scope,
            config,
            active,
            extensions,
            pkill_targets,
            commands: built_in_commands(),
        };
        policy.check_examples()?;
        Ok(policy)
    }

    fn check_examples(&self) -> Result<(), PolicyError> {
        let Examples { allow, deny } = &self.config.examples;
        for command in allow {
            if let Some(denial) = crate::check::check(self, None, command).denial() {
                return Err(PolicyError::ExampleDenied {
                    command: command.clone(),
                    denial: Box::new(denial.clone()),
                });
            }
        }
        for command in deny {
            if crate::check::check(self, None, command).is_allowed() {
                return Err(PolicyError::ExampleAllowed(command.clone()));
            }
        }
        Ok(())
    }

    /// Returns the configuration.
    pub fn config(&self) -> &PolicyConfig {
        &self.config
    }

    /// Returns the run that the policy applies to.
    pub fn scope(&self) -> &PolicyScope {
        &self.scope
    }

    /// Returns the mode of the run.
    pub fn mode(&self) -> Mode {
        self.scope.mode
    }

    /// Returns whether the commands of `profile` are allowed.
    pub fn is_active(&self, profile: Profile) -> bool {
        self.active.contains(&profile)
    }

    /// Returns whether code of the project may run: a language is active, and the mode is not sync.
    pub(crate) fn runs_code(&self) -> bool {
        self.mode() == Mode::Run && !self.active.is_empty()
    }

    /// Returns whether `rm`, `mv`, `git clean` and `git push --force` are allowed.
    pub fn allows_destructive(&self) -> bool {
        self.mode() == Mode::Run && self.config.destructive == Destructive::Allowed
    }

    /// Returns the project directory, normalized.
    pub fn project_dir(&self) -> &str {
        &self.project
    }

    /// Returns the symlink to the project whose paths count as paths of the project, normalized.
    pub fn project_link(&self) -> Option<&str> {
        self.project_link.as_deref()
    }

    /// Returns the home of the user, normalized.
    pub(crate) fn home(&self) -> Option<&str> {
        self.home.as_deref()
    }

    /// Returns whether a credential location may be inside the project, because it is a home.
    pub(crate) fn project_holds_credentials(&self) -> bool {
        self.holds_credentials
    }

    /// Returns the commands that the user adds in this mode.
    pub fn extensions(&self) -> &BTreeSet<String> {
        &self.extensions
    }

    /// Returns the processes that `pkill` may kill.
    pub fn pkill_targets(&self) -> &BTreeSet<String> {
        &self.pkill_targets
    }

    /// Returns the entry of the built-in command `name`.
    pub(crate) fn known(&self, name: &str) -> Option<&Known> {
        self.commands.get(name)
    }
}

impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        self.scope == other.scope && self.config == other.config
    }
}

impl Eq for Policy {}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("scope", &self.scope)
            .field("config", &self.config)
            .finish()
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "project: {}", self.project)?;
        if let Some(link) = &self.project_link {
            writeln!(f, "link to the project: {link}")?;
        }
        writeln!(f, "mode: {}", self.mode())?;
        writeln!(
            f,
            "profiles: {}",
            listed(self.active.iter().map(|profile| profile.name()))
        )?;
        writeln!(
            f,
            "added commands: {}",
            listed(self.extensions.iter().map(String::as_str))
        )?;
        writeln!(
            f,
            "pkill: {}",
            listed(self.pkill_targets.iter().map(String::as_str))
        )?;
        let destructive = if self.allows_destructive() {
            "inside the project"
        } else {
            "no"
        };
        write!(f, "rm and mv: {destructive}")
    }
}

fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    match names[..] {
        [] => "none".to_owned(),
        _ => names.join(" "),
    }
}
