//! A policy as data.

use std::collections::BTreeSet;

use super::{Mode, Profile};

/// What a policy is made of, beside the [run](super::PolicyScope) that it is for. Everything has a
/// default: all profiles, no extensions, nothing destructive.
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
    /// The languages whose commands are open; `None` opens all of them.
    pub profiles: Option<BTreeSet<Profile>>,
    /// Commands that the user adds.
    pub allow_commands: AllowCommands,
    /// Processes that the user lets `pkill` end, beside those of the profiles.
    pub allow_pkill_targets: BTreeSet<String>,
    /// Whether run mode allows `rm`, `mv`, `git clean` and `git push --force`.
    pub destructive: Destructive,
    /// Commands that the policy must judge as said, checked when it is made.
    pub examples: Examples,
}

/// Whether `rm`, `mv`, `git clean` and `git push --force` are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Destructive {
    /// They are not.
    #[default]
    Forbidden,
    /// They are, in run mode; `rm` and `mv` strictly inside the project.
    Allowed,
}

/// Commands that the user adds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum AllowCommands {
    /// For run mode only.
    List(BTreeSet<String>),
    /// For both modes and for each.
    Tiered(TieredCommands),
}

impl Default for AllowCommands {
    fn default() -> Self {
        Self::List(BTreeSet::new())
    }
}

impl AllowCommands {
    /// Returns the commands that are added in `mode`.
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
    /// Returns whether the command `name` can never be added: it deletes or moves files, or it changes
    /// what other commands mean. A policy ignores such an entry; a configuration should refuse it.
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

    /// Tells whether `name` is added in any mode.
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

/// Commands that a policy must judge as said.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Examples {
    /// They must be allowed.
    pub allow: Vec<String>,
    /// They must be denied.
    pub deny: Vec<String>,
}
