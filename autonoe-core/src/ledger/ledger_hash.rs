//! [`LedgerHash`], a hash of a ledger's deliverables.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::ledger::Ledger;
use crate::text::content_hash::content_hash;

/// Hash of a ledger's deliverables, by which the next run detects an edit between runs.
///
/// Verification progress and the epoch are not included, because a takeover changes them before
/// anything is recorded. The hash is not keyed, so it does not detect deliberate forgery.
/// Serialised as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LedgerHash(u64);

impl Ledger {
    /// Returns the hash of the deliverables, the dates and all unknown fields of the ledger.
    pub fn content_hash(&self) -> LedgerHash {
        // A ledger only has string keys, so serialisation cannot fail.
        let text = serde_json::to_vec(self).unwrap_or_default();
        LedgerHash(content_hash(&text))
    }
}

impl fmt::Display for LedgerHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl From<LedgerHash> for String {
    fn from(hash: LedgerHash) -> Self {
        hash.to_string()
    }
}

impl TryFrom<String> for LedgerHash {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        u64::from_str_radix(&text, 16).map(Self)
    }
}

impl JsonSchema for LedgerHash {
    fn schema_name() -> Cow<'static, str> {
        "LedgerHash".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Hash of the deliverables of a ledger.",
            "type": "string",
            "pattern": "^[0-9a-f]{16}$",
        })
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use serde_json::json;

    use super::*;
    use crate::ledger::{Deliverable, DeliverableId, DeliverableStatus};

    #[test]
    fn the_hash_follows_the_status() {
        let today = date(2026, 1, 31);
        let id = DeliverableId::new("A").expect("valid");
        let login = Deliverable::new(id.clone(), "Login", ["it works"]).expect("valid");
        let mut ledger = Ledger::new(today);
        ledger.create([login], today).expect("new");
        let pending = ledger.content_hash();

        let mut set = |status| {
            ledger
                .set_status(&id, status, today)
                .map(|_| ledger.content_hash())
        };

        let passed = set(DeliverableStatus::Passed).expect("there");
        assert_ne!(passed, pending);
        assert_eq!(set(DeliverableStatus::Pending).expect("there"), pending);
    }

    #[test]
    fn a_hash_is_written_as_16_digits_and_read_again() {
        let hash = LedgerHash(0x2a);

        let written = serde_json::to_value(hash).expect("a string");

        assert_eq!(written, json!("000000000000002a"));
        assert_eq!(
            serde_json::from_value::<LedgerHash>(written).ok(),
            Some(hash)
        );
        assert!(serde_json::from_value::<LedgerHash>(json!("other")).is_err());
    }
}
