//! Alerts of a sub-harness.

use super::{FolderError, HarnessFolder};
use crate::{Alert, AlertError, AlertLog};

impl HarnessFolder {
    /// Returns the log of alerts of the sub-harness, `alerts.log`.
    pub fn alert_log(&self) -> AlertLog {
        AlertLog::new(self.file("alerts.log"))
    }

    /// Returns the alerts of the sub-harness in their order. A line that is no alert, such as one
    /// that is being written, is left out and traced.
    ///
    /// # Errors
    ///
    /// The file is there and cannot be read.
    pub fn alerts(&self) -> Result<Vec<Alert>, FolderError> {
        let history = self.alert_log().read().map_err(|error| match error {
            AlertError::Failed { path, source, .. } | AlertError::NotPaused { path, source } => {
                FolderError::Unreadable { path, source }
            }
        })?;
        for odd in &history.unreadable {
            tracing::debug!(line = odd.line, reason = %odd.reason, "a line is no alert");
        }
        Ok(history.alerts)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use jiff::Timestamp;

    use super::*;
    use crate::{HarnessId, Severity};

    #[test]
    fn alerts_are_read_and_a_line_that_is_none_hides_no_other() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = HarnessFolder::of(root.path(), &HarnessId::new("a")).expect("an id");
        fs::create_dir_all(folder.path()).expect("writable");
        let alert = |kind| Alert::new(kind, Severity::Warning, "Look.", Timestamp::UNIX_EPOCH);
        let written = |kind| serde_json::to_string(&alert(kind)).expect("it serialises");
        let (first, second) = (written("no_progress"), written("done"));
        let lines = format!("{first}\nhalf a li\n\n{second}\n{{\"type\":");
        fs::write(folder.path().join("alerts.log"), lines).expect("writable");

        let alerts = folder.alerts().expect("readable");

        assert_eq!(alerts, [alert("no_progress"), alert("done")]);
    }
}
