//! [`PolicyConfig`]: a policy as data.

use std::collections::BTreeSet;

use super::{Mode, Profile};

/// The contents of a policy, besides the [run](super::PolicyScope) that it applies to. Everything
/// has a default: all profiles, no extensions, no destructive commands.
///
/// ```
/// use autonoe_security::{AllowCommands, Policy, PolicyConfig, Profile};
///
/// let config = PolicyConfig {
///     profiles: Some([Profile::Rust].into()),
///     allow_commands: AllowCommands::List(["just".into()].into()),
///     ..PolicyConfig::default()
/// };
///
/// let policy = Policy::new("/srv/shop", config)?;
/// println!("{policy}");
/// # Ok::<(), autonoe_security::PolicyError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(rename_all = "camelCase", default, deny_unknown_fields)
)]
pub struct PolicyConfig {
    /// The active languages, whose commands are allowed; `None` activates all of them.
    pub profiles: Option<BTreeSet<Profile>>,
    /// Commands that the user adds.
    pub allow_commands: AllowCommands,
    /// Processes that the user allows `pkill` to kill, besides those of the profiles.
    pub allow_pkill_targets: BTreeSet<String>,
    /// Whether run mode allows `rm`, `mv`, `git clean` and `git push --force`.
    pub destructive: Destructive,
    /// Commands with required verdicts, checked when the policy is built.
    pub examples: Examples,
}

/// Whether `rm`, `mv`, `git clean` and `git push --force` are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Destructive {
    /// They are denied.
    #[default]
    Forbidden,
    /// They are allowed in run mode; `rm` and `mv` strictly inside the project.
    Allowed,
}

/// Commands that the user adds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum AllowCommands {
    /// In run mode only.
    List(BTreeSet<String>),
    /// In both modes and in each.
    Tiered(TieredCommands),
}

impl Default for AllowCommands {
    fn default() -> Self {
        Self::List(BTreeSet::new())
    }
}

impl AllowCommands {
    /// Returns the commands added in `mode`.
    pub fn in_mode(&self, mode: Mode) -> BTreeSet<String> {
        match (self, mode) {
            (Self::List(list), Mode::Run) => list.clone(),
            (Self::List(_), Mode::Sync) => BTreeSet::new(),
            (Self::Tiered(tiers), mode) => {
                let own = match mode {
                    Mode::Run => &tiers.run,
                    Mode::Sync => &tiers.sync,
                };
                tiers.base.union(own).cloned().collect()
            }
        }
    }
}

impl AllowCommands {
    /// Returns whether the command `name` can never be added: it deletes or moves files, or it
    /// changes the meaning of other commands. A policy ignores such an entry; a configuration
    /// should reject it.
    ///
    /// ```
    /// use autonoe_security::AllowCommands;
    ///
    /// assert!(AllowCommands::refuses("rm"));
    /// assert!(AllowCommands::refuses("/bin/rm"));
    /// assert!(!AllowCommands::refuses("docker"));
    /// ```
    pub fn refuses(name: &str) -> bool {
        crate::check::cannot_be_added(name)
    }

    /// Returns whether `name` is added in any mode.
    pub fn is_listed(&self, name: &str) -> bool {
        match self {
            Self::List(list) => list.contains(name),
            Self::Tiered(TieredCommands { base, run, sync }) => [base, run, sync]
                .into_iter()
                .any(|tier| tier.contains(name)),
        }
    }
}

/// Commands that the user adds, by mode.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct TieredCommands {
    /// In both modes.
    pub base: BTreeSet<String>,
    /// In run mode.
    pub run: BTreeSet<String>,
    /// In sync mode.
    pub sync: BTreeSet<String>,
}

/// Commands with required verdicts.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Examples {
    /// Commands that must be allowed.
    pub allow: Vec<String>,
    /// Commands that must be denied.
    pub deny: Vec<String>,
}
