//! Order and outcome of a member: two files that never change.

use autonoe_core::engine::{RunEnding, RunOutcome, RunSpec};
use jiff::Timestamp;
use serde_json::Value;

use super::file::{create_json, make_folder, make_private_folder, read_bytes, read_json, to_bytes};
use super::{FolderError, MemberFolder};

/// Result of submitting an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubmitOutcome {
    /// The order is new.
    New,
    /// The same order exists already.
    Duplicate,
    /// Another order exists.
    Conflict,
}

impl MemberFolder {
    /// Records the order, durably. Submitting the same order again changes nothing.
    ///
    /// # Errors
    ///
    /// [`FolderError::Id`] if the order has another ID than the folder, [`FolderError::Corrupt`] if
    /// another order exists, or the folder cannot be written.
    pub fn submit(&self, order: &RunSpec) -> Result<(), FolderError> {
        match self.submit_once(order)? {
            SubmitOutcome::New | SubmitOutcome::Duplicate => Ok(()),
            SubmitOutcome::Conflict => {
                let path = self.file("order.json");
                Err(FolderError::corrupt(&path, "it contains another order"))
            }
        }
    }

    pub(crate) fn submit_once(&self, order: &RunSpec) -> Result<SubmitOutcome, FolderError> {
        if order.id.as_str() != self.id().as_str() {
            return Err(FolderError::Id {
                id: order.id.as_str().to_owned(),
                reason: "the folder belongs to another member",
            });
        }
        make_private_folder(self.path())?;
        make_folder(&self.file("inbox"))?;
        make_folder(&self.file("taken"))?;
        if create_json(&self.file("order.json"), order)? {
            return Ok(SubmitOutcome::New);
        }
        // Compare the text first: a parsed floating-point number may differ in the last digit from
        // the one that was written.
        let path = self.file("order.json");
        let is_same_text = read_bytes(&path)? == Some(to_bytes(&path, order)?);
        Ok(if is_same_text || self.order()? == *order {
            SubmitOutcome::Duplicate
        } else {
            SubmitOutcome::Conflict
        })
    }

    /// Returns the order.
    ///
    /// # Errors
    ///
    /// [`FolderError::NoOrder`], or it cannot be read or parsed.
    pub fn order(&self) -> Result<RunSpec, FolderError> {
        let path = self.path().to_owned();
        read_json(&self.file("order.json"))?.ok_or(FolderError::NoOrder { path })
    }

    /// Returns the outcome of the run, once it has ended. It never changes afterwards.
    ///
    /// # Errors
    ///
    /// It cannot be read or parsed.
    pub fn outcome(&self) -> Result<Option<RunOutcome>, FolderError> {
        read_json(&self.file("outcome.json"))
    }

    /// Records the outcome of the run, durably, and returns the first outcome that was recorded.
    /// Texts in its output that are too long are cut to their end.
    ///
    /// The journal decides which outcome is the first; `outcome.json` is a copy. If the journal
    /// cannot be written, the file alone counts, so that finished work is not repeated.
    ///
    /// # Errors
    ///
    /// Neither can be written, or the file cannot be read.
    pub fn record_outcome(
        &self,
        outcome: &RunOutcome,
        now: Timestamp,
    ) -> Result<RunOutcome, FolderError> {
        if let Some(first) = self.outcome()? {
            return Ok(first);
        }
        let outcome = truncated(outcome);
        let first = self.record_end(&outcome, now).unwrap_or_else(|error| {
            tracing::error!(%error, "cannot record the end of a member in its journal");
            outcome
        });
        self.write_outcome(&first)
    }

    /// Writes `outcome.json` unless it exists, and returns its content.
    pub(super) fn write_outcome(&self, outcome: &RunOutcome) -> Result<RunOutcome, FolderError> {
        let path = self.file("outcome.json");
        if create_json(&path, outcome)? {
            return Ok(outcome.clone());
        }
        let missing = || FolderError::corrupt(&path, "it was removed meanwhile");
        self.outcome()?.ok_or_else(missing)
    }
}

/// Maximum length of a text in an output, in bytes. The outcome of one member becomes part of the
/// order of another and of the outcome of the fleet, so this is far below the maximum file size.
const LONGEST: usize = 1024 * 1024;

/// Maximum size of a whole output, in bytes.
const LARGEST_OUTPUT: usize = 16 * 1024 * 1024;

/// Returns the outcome in a size that can be stored: long texts are cut to their end, which
/// describes the result. An output that is still too large is replaced by a note.
fn truncated(outcome: &RunOutcome) -> RunOutcome {
    let mut outcome = outcome.clone();
    match &mut outcome.ending {
        RunEnding::Failed { failure } => cut(&mut failure.message),
        RunEnding::Cancelled { reason } => cut(reason),
        RunEnding::Succeeded => {}
    }
    cut_all(&mut outcome.output);
    let size = size(&outcome.output);
    if size > LARGEST_OUTPUT {
        outcome.output = Value::String(format!("[an output of {size} bytes was left out]"));
    }
    outcome
}

fn cut_all(value: &mut Value) {
    match value {
        Value::String(text) => cut(text),
        Value::Array(values) => values.iter_mut().for_each(cut_all),
        Value::Object(values) => values.values_mut().for_each(cut_all),
        _ => {}
    }
}

fn cut(text: &mut String) {
    if text.len() <= LONGEST {
        return;
    }
    let mut from = text.len() - LONGEST;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    *text = format!(
        "[{from} bytes before this were left out]\n{}",
        &text[from..]
    );
}

/// Returns the approximate size of a value in bytes.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(values) => values.iter().map(|value| size(value) + 2).sum(),
        Value::Object(values) => {
            let each = values.iter();
            each.map(|(name, value)| name.len() + size(value) + 6).sum()
        }
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use autonoe_core::RunId;
    use serde_json::json;

    use super::*;
    use crate::strategy::MemberId;

    fn folder(root: &Path) -> MemberFolder {
        MemberFolder::new(root, &MemberId::new("a")).expect("an id")
    }

    #[test]
    fn the_same_order_with_a_fraction_is_the_same() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        // A number that differs after a round trip, if there is any.
        let mut fractions = (1..10_000).map(|n| 1.0 / f64::from(n));
        let is_read_otherwise = |number: &f64| {
            let text = serde_json::to_string(number).expect("a number");
            serde_json::from_str::<f64>(&text).expect("a number") != *number
        };
        let weight = fractions.find(is_read_otherwise).unwrap_or(0.1);
        let order = RunSpec::new(RunId::new("a"), "work", json!({"weight": weight}));
        let other = RunSpec::new(RunId::new("a"), "work", json!({"weight": 2}));

        folder.submit(&order).expect("writable");

        folder.submit(&order).expect("it is the same");
        assert!(folder.submit(&other).is_err());
    }

    #[test]
    fn an_order_of_another_id_is_refused_and_the_folder_is_private() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        let order = |id: &str| RunSpec::new(RunId::new(id), "work", json!(null));

        let refused = folder.submit(&order("b"));
        folder.submit(&order("a")).expect("its own");

        assert!(matches!(refused, Err(FolderError::Id { .. })));
        let mode = fs::metadata(folder.path()).expect("there").permissions();
        assert_eq!(mode.mode() & 0o777, 0o700);
    }

    #[test]
    fn an_outcome_of_any_size_can_be_read() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        let order = RunSpec::new(RunId::new("a"), "work", json!(null));
        folder.submit(&order).expect("writable");
        let output = json!({"output": "x".repeat(70 * 1024 * 1024)});

        let settled = folder.record_outcome(&RunOutcome::succeeded(output), Timestamp::UNIX_EPOCH);

        let settled = settled.expect("writable");
        assert_eq!(folder.outcome().expect("readable"), Some(settled));
        assert!(folder.view().expect("readable").outcome.is_some());
    }

    #[test]
    fn a_long_text_is_cut_to_its_end_and_a_short_one_is_unchanged() {
        let short = RunOutcome::succeeded(json!({"output": "done"}));
        let long = format!("{}the end", "ä".repeat(LONGEST));
        let outcome = RunOutcome::succeeded(json!({"output": long, "id": "a"}));

        assert_eq!(truncated(&short), short);
        let truncated_outcome = truncated(&outcome);
        let text = truncated_outcome.output["output"].as_str().expect("a text");
        assert!(text.len() < LONGEST + 100 && text.ends_with("ääthe end"));
        assert!(text.starts_with('['));
        assert_eq!(truncated_outcome.output["id"], "a");
    }

    #[test]
    fn an_output_that_is_too_large_is_replaced() {
        let many: Vec<String> = vec!["x".repeat(LONGEST); 20];

        let truncated_outcome = truncated(&RunOutcome::succeeded(json!(many)));

        assert!(truncated_outcome.is_success());
        assert!(
            truncated_outcome
                .output
                .as_str()
                .is_some_and(|text| text.contains("left out"))
        );
    }
}
