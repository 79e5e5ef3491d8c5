//! JSON Schema of hooks.

use schemars::{Schema, SchemaGenerator};
use serde_json::json;

use crate::spec::{SpecPort, spec_schema};

/// Returns the schema of a list of the hooks that this program knows.
pub(super) fn hooks_schema(generator: &mut SchemaGenerator) -> Schema {
    let hook = spec_schema(SpecPort::Hook, generator).to_value();
    Schema::try_from(json!({"type": "array", "items": hook})).unwrap_or_default()
}
