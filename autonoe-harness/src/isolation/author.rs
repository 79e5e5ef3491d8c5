//! Author of commits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Author of the commits of an agent's work. The user's git configuration is ignored.
///
/// ```
/// use autonoe_harness::isolation::Author;
///
/// let author = Author::new("Autonoe", "autonoe@localhost");
///
/// assert_eq!(author, Author::default());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Author {
    /// The name.
    pub name: String,
    /// The email address.
    pub email: String,
}

impl Author {
    /// Creates an author from a name and an email address.
    pub fn new(name: impl Into<String>, email: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            email: email.into(),
        }
    }

    /// Returns the git options that set the author.
    pub(crate) fn settings(&self) -> [String; 4] {
        [
            "-c".to_owned(),
            format!("user.name={}", self.name),
            "-c".to_owned(),
            format!("user.email={}", self.email),
        ]
    }
}

impl Default for Author {
    fn default() -> Self {
        Self::new("Autonoe", "autonoe@localhost")
    }
}
