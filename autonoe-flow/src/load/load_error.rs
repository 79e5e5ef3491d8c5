//! Why a definition could not be loaded.

use std::fmt;

use crate::error::{FlowError, FlowErrorKind};
use crate::finding::{Finding, FindingKind};

/// Why a definition could not be loaded.
#[derive(Debug)]
pub struct LoadError {
    finding: Box<Finding>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl LoadError {
    pub(crate) fn new(finding: Finding) -> Self {
        Self {
            finding: Box::new(finding),
            source: None,
        }
    }

    pub(crate) fn because(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns what is wrong, where it stands and how to mend it.
    pub fn finding(&self) -> &Finding {
        &self.finding
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.finding.fmt(f)
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.source {
            Some(source) => Some(source.as_ref()),
            None => None,
        }
    }
}

impl From<LoadError> for FlowError {
    fn from(error: LoadError) -> Self {
        let kind = match error.finding.kind {
            FindingKind::NotFound => FlowErrorKind::ConfigurationNotFound,
            _ => FlowErrorKind::ConfigurationParse,
        };
        Self::new(kind, "the definition of the flow cannot be loaded").because(error)
    }
}
