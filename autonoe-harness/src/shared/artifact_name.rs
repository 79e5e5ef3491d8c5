//! The name of a file that is shared.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How long a name may be: what file systems take.
const LONGEST: usize = 200;

/// Names a file that harnesses share, for example `report.json`.
///
/// It is the name of one file in a folder: it has no separators, is not hidden, and leads nowhere
/// else.
///
/// ```
/// use autonoe_harness::ArtifactName;
///
/// assert!("report.json".parse::<ArtifactName>().is_ok());
/// assert!("../report.json".parse::<ArtifactName>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ArtifactName(String);

impl ArtifactName {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ArtifactName {
    type Err = InvalidArtifactName;

    fn from_str(text: &str) -> Result<Self, InvalidArtifactName> {
        let is_odd = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':');
        let ends_oddly = text.ends_with(['.', ' ']) || text.starts_with(['.', ' ']);
        match text.is_empty() || text.len() > LONGEST || ends_oddly || text.contains(is_odd) {
            true => Err(InvalidArtifactName(text.to_owned())),
            false => Ok(Self(text.to_owned())),
        }
    }
}

impl TryFrom<String> for ArtifactName {
    type Error = InvalidArtifactName;

    fn try_from(text: String) -> Result<Self, InvalidArtifactName> {
        text.parse()
    }
}

impl From<ArtifactName> for String {
    fn from(name: ArtifactName) -> Self {
        name.0
    }
}

impl fmt::Display for ArtifactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that cannot name a file that is shared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} cannot name an artifact: it must be the plain name of a file, without separators, \
     and neither begin nor end with a full stop or a blank"
)]
pub struct InvalidArtifactName(String);

#[cfg(test)]
mod tests {
    use std::path::{Component, Path};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_that_would_leave_its_folder_is_none() {
        for text in [
            "",
            ".",
            "..",
            "/etc/passwd",
            "a/b",
            "a\\b",
            "../a",
            "a/..",
            "C:a",
            "a\0b",
            "a\n",
            ".hidden",
            "a.",
            " a",
            "a ",
        ] {
            assert!(text.parse::<ArtifactName>().is_err(), "{text:?}");
        }
        for text in ["a", "report.json", "a b", "\u{e9}.tar.gz"] {
            assert!(text.parse::<ArtifactName>().is_ok(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_name_is_one_plain_part_of_a_path(text in "[./\\\\a-c:\u{0}\u{e9} ]{0,8}") {
            if let Ok(name) = text.parse::<ArtifactName>() {
                let parts: Vec<_> = Path::new(name.as_str()).components().collect();
                prop_assert!(matches!(parts.as_slice(), [Component::Normal(_)]), "{parts:?}");
            }
        }
    }
}
