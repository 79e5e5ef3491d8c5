//! The languages of a project.

use std::collections::BTreeSet;

use autonoe_security::Profile;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

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
    One(#[schemars(schema_with = "profile_schema")] Profile),
    /// Several; none of them leaves the commands that every project has.
    Several(#[schemars(schema_with = "profiles_schema")] BTreeSet<Profile>),
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

fn profile_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "description": "A language whose commands an agent may run.",
        "type": "string",
        "enum": Profile::ALL.map(Profile::name),
    })
}

fn profiles_schema(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": profile_schema(generator),
        "uniqueItems": true,
    })
}
