//! What validation found.

use std::fmt;

use serde::Serialize;
use serde::ser::SerializeStruct;

use super::validate;
use crate::error::{FlowError, FlowErrorKind};
use crate::finding::Finding;
use crate::load::FlowDefinition;

/// What validation found. A definition is valid exactly when there are no errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidationReport {
    /// What keeps the flow from being started, in the order of the files.
    pub errors: Vec<Finding>,
    /// What is odd and may be meant, in the order of the files.
    pub warnings: Vec<Finding>,
}

impl ValidationReport {
    /// Tells whether there are no errors.
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }
}

impl Serialize for ValidationReport {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = to.serialize_struct("ValidationReport", 3)?;
        fields.serialize_field("valid", &self.is_valid())?;
        fields.serialize_field("errors", &self.errors)?;
        fields.serialize_field("warnings", &self.warnings)?;
        fields.end()
    }
}

impl fmt::Display for ValidationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = self.errors.iter().map(|finding| ("error", finding));
        let warnings = self.warnings.iter().map(|finding| ("warning", finding));
        for (index, (what, finding)) in errors.chain(warnings).enumerate() {
            let line_end = if index > 0 { "\n" } else { "" };
            write!(f, "{line_end}{what}: {finding}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ValidationReport {}

impl From<ValidationReport> for FlowError {
    fn from(report: ValidationReport) -> Self {
        let message = match report.errors.len() {
            1 => "the definition of the flow has an error".to_owned(),
            number => format!("the definition of the flow has {number} errors"),
        };
        Self::new(FlowErrorKind::ConfigurationValidation, message).because(report)
    }
}

/// A definition that was found to be valid. There is no other way to make one.
#[derive(Debug)]
pub struct ValidatedFlow {
    definition: FlowDefinition,
    warnings: Vec<Finding>,
}

impl FlowDefinition {
    /// Validates the definition, and keeps it if it is valid.
    ///
    /// # Errors
    ///
    /// It has errors; the report tells them, and the warnings too.
    pub fn validated(self) -> Result<ValidatedFlow, ValidationReport> {
        let report = validate(&self);
        match report.is_valid() {
            true => Ok(ValidatedFlow {
                definition: self,
                warnings: report.warnings,
            }),
            false => Err(report),
        }
    }
}

impl ValidatedFlow {
    /// Returns the definition.
    pub fn definition(&self) -> &FlowDefinition {
        &self.definition
    }

    /// Returns what is odd and may be meant.
    pub fn warnings(&self) -> &[Finding] {
        &self.warnings
    }
}
