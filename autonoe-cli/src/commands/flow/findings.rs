//! What is wrong with a flow.

use std::path::Path;

use autonoe_flow::{Finding, FlowDefinition, load, validate};
use schemars::JsonSchema;
use serde::Serialize;

use super::folders::FlowFolder;
use crate::present::harmless_line;

/// What was found out about a flow.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Examined {
    /// What the flow was asked for by.
    name: String,
    /// The folder of the flow.
    folder: String,
    /// Whether there are no errors.
    valid: bool,
    /// What keeps the flow from being started.
    errors: Vec<Finding>,
    /// What is odd and may be meant.
    warnings: Vec<Finding>,
}

/// Loads and validates a flow. What could not be loaded is told as an error and is `None`.
pub(super) fn examine(folder: &FlowFolder) -> (Examined, Option<FlowDefinition>) {
    let (errors, warnings, definition) = match load(&folder.path) {
        Ok(definition) => {
            let report = validate(&definition);
            (report.errors, report.warnings, Some(definition))
        }
        Err(error) => (vec![error.finding().clone()], Vec::new(), None),
    };
    // Some are told from the folder of the flow, and people stand elsewhere.
    let whole = |finding: Finding| {
        let mut finding = finding;
        finding.file = folder.path.join(&finding.file);
        finding
    };
    let examined = Examined {
        name: folder.name.clone(),
        folder: folder.path.display().to_string(),
        valid: errors.is_empty(),
        errors: errors.into_iter().map(whole).collect(),
        warnings: warnings.into_iter().map(whole).collect(),
    };
    (examined, definition)
}

impl Examined {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn is_valid(&self) -> bool {
        self.valid
    }

    pub(super) fn errors(&self) -> &[Finding] {
        &self.errors
    }

    pub(super) fn warnings(&self) -> &[Finding] {
        &self.warnings
    }

    /// Says in a few words how it is: `valid`, `2 errors, 1 warning`.
    pub(super) fn verdict(&self) -> String {
        let counted = |found: &[Finding], what: &str| match found.len() {
            0 => None,
            1 => Some(format!("1 {what}")),
            number => Some(format!("{number} {what}s")),
        };
        let errors = counted(&self.errors, "error").unwrap_or_else(|| "valid".to_owned());
        let warnings = counted(&self.warnings, "warning");
        let parts: Vec<_> = std::iter::once(errors).chain(warnings).collect();
        parts.join(", ")
    }

    /// Writes all that was found for people who stand in `here`.
    pub(super) fn shown(&self, here: &Path) -> String {
        let errors = self.errors.iter().map(|finding| ("error", finding));
        let warnings = self.warnings.iter().map(|finding| ("warning", finding));
        let mut text = String::new();
        for (what, finding) in errors.chain(warnings) {
            text.push_str(&shown(what, finding, here));
            text.push('\n');
        }
        text.push_str(&format!("{}: {}\n", self.name, self.verdict()));
        text
    }
}

/// Writes a finding: what is wrong, where it stands, how to mend it.
pub(super) fn shown(what: &str, finding: &Finding, here: &Path) -> String {
    let file = finding.file.strip_prefix(here).unwrap_or(&finding.file);
    let mut place = file.display().to_string();
    if let (Some(line), Some(column)) = (finding.line, finding.column) {
        place = format!("{place}:{line}:{column}");
    }
    let (code, message) = (finding.kind.code(), harmless_line(&finding.message));
    let mut text = format!(
        "{what}[{code}]: {message}\n  --> {}\n",
        harmless_line(&place)
    );
    for (name, value) in [("at", &finding.pointer), ("hint", &finding.hint)] {
        if !value.is_empty() {
            text.push_str(&format!("  {name}: {}\n", harmless_line(value)));
        }
    }
    text
}
