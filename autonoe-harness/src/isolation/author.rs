//! In whose name work is committed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In whose name the work of an agent is committed. The settings of the user are not looked at.
///
/// ```
/// use autonoe_harness::Author;
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
    /// The address.
    pub email: String,
}

impl Author {
    /// Makes an author of a name and an address.
    pub fn new(name: impl Into<String>, email: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            email: email.into(),
        }
    }

    /// Returns the settings of git that make it the author.
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
