//! What a project is called where there are several.

use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of a project, the same on every host: a path below the folder of its projects.
///
/// Names have one or several parts with `/` between them. A part has letters, digits, `-`, `_` and
/// `.`, and does not begin with `.` or `-`. So a name leads nowhere but down.
///
/// ```
/// use std::path::Path;
///
/// use autonoe_core::ProjectName;
///
/// let shop = ProjectName::new("team/shop")?;
///
/// assert_eq!(shop.below(Path::new("/srv")), Path::new("/srv/team/shop"));
/// assert!(ProjectName::new("../shop").is_err());
/// # Ok::<(), autonoe_core::ProjectNameError>(())
/// ```
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct ProjectName(String);

/// Why a text is no name of a project.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no name of a project: it has parts of letters, digits, `-`, `_` and `.` with `/` \
     between them, none of which begins with `.` or `-`"
)]
pub struct ProjectNameError(String);

/// Longer names make paths that systems refuse.
const LONGEST: usize = 200;

impl ProjectName {
    /// Takes a text for a name.
    ///
    /// # Errors
    ///
    /// It is none.
    pub fn new(name: impl Into<String>) -> Result<Self, ProjectNameError> {
        let name = name.into();
        match name.len() <= LONGEST && name.split('/').all(is_part) {
            true => Ok(Self(name)),
            false => Err(ProjectNameError(name)),
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns where the project is, below the folder of all.
    pub fn below(&self, root: &Path) -> PathBuf {
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
        assert!(ProjectName::new("a".repeat(LONGEST + 1)).is_err());
    }
}
