//! Serialises the ledger as the indented text of `status.json`.

use serde::Serialize;

use crate::ledger::{Deliverable, DeliverableStatus, LedgerState};
use crate::time::Epoch;

/// The typical length of a deliverable in bytes.
const TYPICAL: usize = 320;

/// Writes the text that [`StatusRecord`](super::StatusRecord) reads, directly from `state`.
///
/// The deliverables, of which there can be thousands, are written by hand: that takes a quarter of
/// the time of the serialiser, and less than a copy of the state would. The serialiser writes
/// everything else.
pub(super) fn status_text(
    state: &LedgerState,
    epoch: Epoch,
    writes: u64,
) -> serde_json::Result<Vec<u8>> {
    let ledger = &state.ledger;
    let mut text = Text(Vec::with_capacity(
        TYPICAL * (1 + ledger.deliverables().len()),
    ));
    text.push_str("{");
    if let Some(day) = ledger.created_at() {
        text.field("\n  ", "createdAt", &day)?;
    }
    if let Some(day) = ledger.updated_at() {
        text.field("\n  ", "updatedAt", &day)?;
    }
    text.name("\n  ", "deliverables")?;
    text.list("\n  ", ledger.deliverables(), Text::deliverable)?;
    for (name, value) in ledger.unknown() {
        // A ledger that was read alone, without its metadata, has these as unknown fields.
        if !["verification", "epoch", "revision"].contains(&name.as_str()) {
            text.field("\n  ", name, value)?;
        }
    }
    if !state.verification.is_empty() {
        text.field("\n  ", "verification", &state.verification)?;
    }
    text.field("\n  ", "epoch", &epoch)?;
    text.field("\n  ", "revision", &writes)?;
    text.push_str("\n}\n");
    Ok(text.0)
}

/// A growing text. A `line` is a line break with the indentation of the next line.
struct Text(Vec<u8>);

impl Text {
    fn deliverable(&mut self, deliverable: &Deliverable) -> serde_json::Result<()> {
        self.push_str("\n    {\n      \"id\": ");
        self.string(deliverable.id().as_str())?;
        self.push_str(",\n      \"description\": ");
        self.string(deliverable.description())?;
        self.push_str(",\n      \"acceptanceCriteria\": ");
        self.list(
            "\n      ",
            deliverable.acceptance_criteria(),
            |text, criterion| {
                text.push_str("\n        ");
                text.string(criterion)
            },
        )?;
        self.push_str(match deliverable.status() {
            DeliverableStatus::Pending => ",\n      \"passed\": false,\n      \"blocked\": false",
            DeliverableStatus::Passed => ",\n      \"passed\": true,\n      \"blocked\": false",
            DeliverableStatus::Blocked => ",\n      \"passed\": false,\n      \"blocked\": true",
        });
        if let Some(day) = deliverable.deprecated_at() {
            self.field("\n      ", "deprecatedAt", &day)?;
        }
        for (name, value) in deliverable.unknown() {
            self.field("\n      ", name, value)?;
        }
        self.push_str("\n    }");
        Ok(())
    }

    /// Writes items, each of which starts its own line.
    fn list<T>(
        &mut self,
        line: &str,
        items: &[T],
        write: impl Fn(&mut Self, &T) -> serde_json::Result<()>,
    ) -> serde_json::Result<()> {
        self.push_str("[");
        for (number, item) in items.iter().enumerate() {
            if number > 0 {
                self.push_str(",");
            }
            write(self, item)?;
        }
        if !items.is_empty() {
            self.push_str(line);
        }
        self.push_str("]");
        Ok(())
    }

    fn field(&mut self, line: &str, name: &str, value: &impl Serialize) -> serde_json::Result<()> {
        self.name(line, name)?;
        // No JSON string contains a line break, so all of them are between values.
        self.push_str(&serde_json::to_string_pretty(value)?.replace('\n', line));
        Ok(())
    }

    fn name(&mut self, line: &str, name: &str) -> serde_json::Result<()> {
        if self.0.last() != Some(&b'{') {
            self.push_str(",");
        }
        self.push_str(line);
        self.string(name)?;
        self.push_str(": ");
        Ok(())
    }

    fn string(&mut self, string: &str) -> serde_json::Result<()> {
        // Without an early exit from the loop, so that many bytes can be checked at once.
        let plain = string.bytes().fold(true, |plain, byte| {
            plain & (byte >= b' ') & (byte != b'"') & (byte != b'\\')
        });
        if !plain {
            return serde_json::to_writer(&mut self.0, string);
        }
        self.push_str("\"");
        self.push_str(string);
        self.push_str("\"");
        Ok(())
    }

    fn push_str(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::project::StatusRecord;

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<i32>().prop_map(|eighths| Value::from(f64::from(eighths) / 8.0)),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            let list = prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from);
            let object = prop::collection::hash_map(any::<String>(), inner, 0..4)
                .prop_map(|fields| fields.into_iter().collect());
            prop_oneof![list, object]
        })
    }

    fn add(object: &mut Value, fields: HashMap<String, Value>) {
        object.as_object_mut().expect("an object").extend(fields);
    }

    fn deliverable(number: usize) -> impl Strategy<Value = Value> {
        let flags = prop_oneof![
            Just((false, false)),
            Just((true, false)),
            Just((false, true))
        ];
        let unknown = prop::collection::hash_map("x[a-z\"\n]*", json_value(), 0..3);
        let criteria = prop::collection::vec(any::<String>(), 0..4);
        let texts = (any::<String>(), criteria, any::<bool>());
        (texts, flags, unknown).prop_map(move |(texts, (passed, blocked), unknown)| {
            let (description, criteria, deprecated) = texts;
            let mut fields = json!({
                "id": format!("DL-\"{number}\""),
                "description": description,
                "acceptanceCriteria": criteria,
                "passed": passed,
                "blocked": blocked,
                "deprecatedAt": deprecated.then_some("2026-01-31"),
            });
            add(&mut fields, unknown);
            fields
        })
    }

    fn ledger_state() -> impl Strategy<Value = LedgerState> {
        let deliverables = prop_oneof![
            Just(vec![]).boxed(),
            deliverable(1).prop_map(|one| vec![one]).boxed(),
            (deliverable(1), deliverable(2))
                .prop_map(|(one, two)| vec![one, two])
                .boxed(),
        ];
        let unknown = prop::collection::hash_map("x[a-z\"\n]*", json_value(), 0..3);
        let verified = prop::collection::btree_set("[A-Z\"]{1,9}", 0..4);
        let day = prop::option::of(Just("2026-02-28"));
        (deliverables, unknown, verified, day).prop_map(|(deliverables, unknown, verified, day)| {
            let mut ledger = json!({"deliverables": deliverables, "createdAt": day});
            add(&mut ledger, unknown);
            let state = json!({"ledger": ledger, "verification": {"verified": verified}});
            serde_json::from_value(state).expect("it is valid")
        })
    }

    proptest! {
        #[test]
        fn status_text_equals_the_serialised_record(
            state in ledger_state(), epoch: u64, writes: u64,
        ) {
            let text = status_text(&state, Epoch(epoch), writes).expect("it can be written");

            let record: StatusRecord = serde_json::from_slice(&text).expect("it is a record");
            let mut serialised = serde_json::to_vec_pretty(&record).expect("it can be written");
            serialised.push(b'\n');
            prop_assert_eq!(String::from_utf8(text.clone()), String::from_utf8(serialised));
            let snapshot = StatusRecord::parse(&text).expect("it is valid");
            prop_assert_eq!(snapshot.state, state);
            prop_assert_eq!(snapshot.epoch, Epoch(epoch));
        }
    }

    #[test]
    fn an_existing_metadata_field_is_not_written_twice() {
        let state: LedgerState = serde_json::from_value(json!({
            "ledger": {"deliverables": [], "epoch": 7, "revision": 8, "verification": {}, "x": 1},
            "verification": {"verified": []},
        }))
        .expect("it is valid");

        let text = status_text(&state, Epoch(2), 3).expect("it can be written");

        let written: Value = serde_json::from_slice(&text).expect("it is JSON");
        assert_eq!(
            written,
            json!({"deliverables": [], "x": 1, "epoch": 2, "revision": 3})
        );
        assert!(StatusRecord::parse(&text).is_ok());
    }
}
