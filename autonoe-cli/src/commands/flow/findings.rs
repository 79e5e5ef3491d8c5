//! Validation findings of a flow, and their text output.

use std::path::Path;

use autonoe_app::text::{pluralize, sanitize_line};
use autonoe_flow::{DefinitionFinding, FlowDefinition, load, validate};
use schemars::JsonSchema;
use serde::Serialize;

use super::folders::FlowFolder;

/// The findings about a flow.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FlowFindings {
    /// The name or path that selected the flow.
    pub(super) name: String,
    /// The folder of the flow.
    folder: String,
    /// Whether the flow has no errors.
    pub(super) valid: bool,
    /// Errors, which prevent the flow from starting.
    pub(super) errors: Vec<DefinitionFinding>,
    /// Warnings: unusual settings that may be intended.
    pub(super) warnings: Vec<DefinitionFinding>,
}

/// Loads and validates a flow. A flow that cannot be loaded yields an error and no definition.
pub(super) fn load_and_validate(folder: &FlowFolder) -> (FlowFindings, Option<FlowDefinition>) {
    let (errors, warnings, definition) = match load(&folder.path) {
        Ok(definition) => {
            let report = validate(&definition);
            (report.errors, report.warnings, Some(definition))
        }
        Err(error) => (vec![error.finding().clone()], Vec::new(), None),
    };
    // Some findings name files relative to the folder of the flow. Output needs full paths.
    let with_full_path = |finding: DefinitionFinding| {
        let mut finding = finding;
        finding.file = folder.path.join(&finding.file);
        finding
    };
    let findings = FlowFindings {
        name: folder.name.clone(),
        folder: folder.path.display().to_string(),
        valid: errors.is_empty(),
        errors: errors.into_iter().map(with_full_path).collect(),
        warnings: warnings.into_iter().map(with_full_path).collect(),
    };
    (findings, definition)
}

impl FlowFindings {
    /// Summarises the findings: `valid`, or `2 errors, 1 warning`.
    pub(super) fn verdict(&self) -> String {
        let counted = |found: &[DefinitionFinding], severity: &str| {
            let count = found.len() as u64;
            (count > 0).then(|| pluralize(count, severity))
        };
        let errors = counted(&self.errors, "error").unwrap_or_else(|| "valid".to_owned());
        let warnings = counted(&self.warnings, "warning");
        let parts: Vec<_> = std::iter::once(errors).chain(warnings).collect();
        parts.join(", ")
    }

    /// Formats all findings as text, with paths relative to `here`.
    pub(super) fn format(&self, here: &Path) -> String {
        let errors = self.errors.iter().map(|finding| ("error", finding));
        let warnings = self.warnings.iter().map(|finding| ("warning", finding));
        let mut text = String::new();
        for (severity, finding) in errors.chain(warnings) {
            text.push_str(&format_finding(severity, finding, here));
            text.push('\n');
        }
        text.push_str(&format!("{}: {}\n", self.name, self.verdict()));
        text
    }
}

/// Formats a finding: message, location and hint.
pub(super) fn format_finding(severity: &str, finding: &DefinitionFinding, here: &Path) -> String {
    let file = finding.file.strip_prefix(here).unwrap_or(&finding.file);
    let mut place = file.display().to_string();
    if let (Some(line), Some(column)) = (finding.line, finding.column) {
        place = format!("{place}:{line}:{column}");
    }
    let (code, message) = (finding.kind.code(), sanitize_line(&finding.message));
    let mut text = format!(
        "{severity}[{code}]: {message}\n  --> {}\n",
        sanitize_line(&place)
    );
    for (name, value) in [("at", &finding.pointer), ("hint", &finding.hint)] {
        if !value.is_empty() {
            text.push_str(&format!("  {name}: {}\n", sanitize_line(value)));
        }
    }
    text
}
