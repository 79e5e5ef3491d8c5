//! The languages of a project.

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A language whose commands an agent may run.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Profile {
    /// Node.js: `npm`, `vitest`, `tsc` ...
    Node,
    /// Bun.
    Bun,
    /// Python: `pytest`, `uv`, `ruff` ...
    Python,
    /// Ruby: `bundle`, `rspec`, `rails` ...
    Ruby,
    /// Go: `go`, `golangci-lint` ...
    Go,
    /// Rust: `cargo`, `rustc` ...
    Rust,
    /// PHP: `composer`, `phpunit` ...
    Php,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 7] = [
        Self::Node,
        Self::Bun,
        Self::Python,
        Self::Ruby,
        Self::Go,
        Self::Rust,
        Self::Php,
    ];

    /// Returns the name, as it stands in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Bun => "bun",
            Self::Python => "python",
            Self::Ruby => "ruby",
            Self::Go => "go",
            Self::Rust => "rust",
            Self::Php => "php",
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The profiles of a project: one, or a list.
///
/// ```
/// use autonoe_core::{Profile, Profiles};
///
/// let one: Profiles = serde_json::from_str(r#""node""#)?;
/// let two: Profiles = serde_json::from_str(r#"["python", "node"]"#)?;
///
/// assert_eq!(Vec::from_iter(one.selected()), [Profile::Node]);
/// assert_eq!(Vec::from_iter(two.selected()), [Profile::Node, Profile::Python]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Profiles {
    /// One.
    One(Profile),
    /// Several; none of them leaves the commands that every project has.
    Several(BTreeSet<Profile>),
}

impl Profiles {
    /// Returns the profiles, each once.
    pub fn selected(&self) -> BTreeSet<Profile> {
        match self {
            Self::One(profile) => BTreeSet::from([*profile]),
            Self::Several(profiles) => profiles.clone(),
        }
    }
}
