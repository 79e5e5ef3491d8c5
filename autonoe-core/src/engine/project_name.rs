//! [`ProjectName`], the host-independent name of a project.

use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of a project, the same on every host: a path below the host's project folder.
///
/// A name has one or more parts, separated by `/`. A part consists of letters, digits, `-`, `_` and
/// `.`, and does not begin with `.` or `-`. So a name cannot lead out of the project folder.
///
/// ```
/// use std::path::Path;
///
/// use autonoe_core::engine::ProjectName;
///
/// let shop = ProjectName::new("team/shop")?;
///
/// assert_eq!(shop.path_below(Path::new("/srv")), Path::new("/srv/team/shop"));
/// assert!(ProjectName::new("../shop").is_err());
/// # Ok::<(), autonoe_core::engine::ProjectNameError>(())
/// ```
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct ProjectName(String);

/// A text that is not a valid project name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a valid project name: use parts of letters, digits, `-`, `_` and `.`, \
     separated by `/`; no part may begin with `.` or `-`"
)]
pub struct ProjectNameError(String);

/// The maximum length in bytes. Longer names lead to paths that operating systems refuse.
const MAX_LEN: usize = 200;

impl ProjectName {
    /// Parses a project name.
    ///
    /// # Errors
    ///
    /// The text is not a valid name.
    pub fn new(name: impl Into<String>) -> Result<Self, ProjectNameError> {
        let name = name.into();
        if name.len() <= MAX_LEN && name.split('/').all(is_part) {
            Ok(Self(name))
        } else {
            Err(ProjectNameError(name))
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path of the project below `root`, the folder of all projects.
    pub fn path_below(&self, root: &Path) -> PathBuf {
        root.join(&self.0)
    }
}

fn is_part(part: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !part.is_empty() && !part.starts_with(['.', '-']) && part.chars().all(is_plain)
}

impl TryFrom<String> for ProjectName {
    type Error = ProjectNameError;

    fn try_from(name: String) -> Result<Self, ProjectNameError> {
        Self::new(name)
    }
}

impl From<ProjectName> for String {
    fn from(name: ProjectName) -> Self {
        name.0
    }
}

impl fmt::Display for ProjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_nowhere_but_down() {
        for name in ["shop", "team/shop", "Shop_2.0", "a-b/c.d"] {
            assert!(ProjectName::new(name).is_ok(), "{name:?}");
        }
        let wrong = [
            "",
            "/",
            "/shop",
            "shop/",
            "a//b",
            ".",
            "..",
            "a/..",
            "a/../b",
            ".git",
            "a/.autonoe",
            "-v",
            "a b",
            "a\\b",
            "a\nb",
            "a\0b",
            "~",
            "ä",
        ];
        for name in wrong {
            assert!(ProjectName::new(name).is_err(), "{name:?}");
        }
        assert!(ProjectName::new("a".repeat(MAX_LEN + 1)).is_err());
    }
}
