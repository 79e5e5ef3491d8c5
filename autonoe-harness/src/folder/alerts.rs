//! Alerts of a sub-harness, as others wrote them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::file::read_bytes;
use super::{FolderError, HarnessFolder};

/// An alert, as it stands in `alerts.log`. What a line does not say is empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct HarnessAlert {
    /// Its type, for example `no_progress`.
    #[serde(rename = "type")]
    pub kind: String,
    /// How bad it is, for example `critical`.
    pub severity: String,
    /// A sentence for people.
    pub message: String,
    /// When it was raised, as it was written.
    pub timestamp: String,
    /// The iteration in which it was.
    pub iteration: u64,
    /// What else is known.
    pub context: Map<String, Value>,
}

impl HarnessFolder {
    /// Returns the alerts of the sub-harness in their order. A line that is no alert, such as one
    /// that is being written, is left out and traced.
    ///
    /// # Errors
    ///
    /// The file is there and cannot be read.
    pub fn alerts(&self) -> Result<Vec<HarnessAlert>, FolderError> {
        let path = self.file("alerts.log");
        let bytes = read_bytes(&path)?.unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !line.is_empty());
        let alerts = lines.filter_map(|line| {
            let read = serde_json::from_slice(line);
            read.inspect_err(|error| tracing::debug!(%error, "a line is no alert"))
                .ok()
        });
        Ok(alerts.collect())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::HarnessId;

    #[test]
    fn alerts_are_read_and_a_line_that_is_none_hides_no_other() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = HarnessFolder::of(root.path(), &HarnessId::new("a")).expect("an id");
        fs::create_dir_all(folder.path()).expect("writable");
        let lines = "{\"type\":\"no_progress\",\"severity\":\"warning\",\"message\":\"Two.\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"iteration\":2,\"context\":{\"task\":\"T-001\"},\"new\":1}\n\
            half a li\n\n{\"type\":\"done\"}\n{\"type\":";
        fs::write(folder.path().join("alerts.log"), lines).expect("writable");

        let alerts = folder.alerts().expect("readable");

        let kinds: Vec<_> = alerts.iter().map(|alert| &*alert.kind).collect();
        assert_eq!(kinds, ["no_progress", "done"]);
        assert_eq!(alerts[0].iteration, 2);
        assert_eq!(alerts[0].context["task"], "T-001");
    }
}
