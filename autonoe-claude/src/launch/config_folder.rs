//! Where the program keeps its login, its settings and its conversations.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the program keeps its login, its settings and its conversations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ConfigFolder {
    /// Where the environment says: the login of the person who runs it is there.
    ///
    /// Its settings files count only as far as
    /// [`SettingSources`](super::SettingSources) says.
    #[default]
    OfTheUser,
    /// A fresh folder for each session, removed with it. The credentials must be in the
    /// environment then, and no conversation can be resumed.
    PerSession,
    /// This folder, which is kept.
    Kept(PathBuf),
}
