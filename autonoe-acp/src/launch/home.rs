//! Where an agent keeps its login, its settings and its conversations.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where an agent keeps its login, its settings and its conversations: its `HOME`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum HomeFolder {
    /// Where the environment says: the login of the person who runs it is there.
    ///
    /// In an outer sandbox it can be read and not written.
    #[default]
    OfTheUser,
    /// A fresh folder for each session, removed with it. The credentials must be in the
    /// environment then, and no conversation can be resumed.
    PerSession,
    /// This folder, which is kept, and can be written in an outer sandbox as well.
    Kept(PathBuf),
}
