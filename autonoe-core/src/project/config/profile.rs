//! [`Profiles`], the languages of a project.

use std::collections::BTreeSet;

use autonoe_security::Profile;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::field_values::one_of;
use super::json_part::read_part;

/// The profiles of a project: one, or a list.
///
/// ```
/// use autonoe_core::gate::policy::Profile;
/// use autonoe_core::project::Profiles;
///
/// let one: Profiles = serde_json::from_str(r#""node""#)?;
/// let two: Profiles = serde_json::from_str(r#"["python", "node"]"#)?;
///
/// assert_eq!(Vec::from_iter(one.selected()), [Profile::Node]);
/// assert_eq!(Vec::from_iter(two.selected()), [Profile::Node, Profile::Python]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Profiles {
    /// One profile.
    One(#[schemars(schema_with = "profile_schema")] Profile),
    /// Several profiles. An empty list leaves the commands that every project has.
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

impl<'de> Deserialize<'de> for Profiles {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        one_of(
            from,
            "a profile or a list of profiles",
            |value| match value {
                Value::String(_) => Some(read_part(value).map(Self::One)),
                Value::Array(_) => Some(read_part(value).map(Self::Several)),
                _ => None,
            },
        )
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
