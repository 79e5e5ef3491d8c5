//! Verdicts and denials of a validator of Bash commands.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::Rule;
use crate::syntax::Span;

/// The answer about one command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[must_use = "a verdict has no effect unless the caller applies it"]
pub enum Verdict {
    /// Every command in the text may run.
    Allow,
    /// At least one command in the text may not run.
    Deny(Denial),
}

impl Verdict {
    /// Returns whether the command may run.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow)
    }

    /// Returns the denial, or `None` when the command may run.
    pub fn denial(&self) -> Option<&Denial> {
        match self {
            Self::Allow => None,
            Self::Deny(denial) => Some(denial),
        }
    }
}

/// Reason for a denial, with advice for the agent and a remedy for the operator.
///
/// Its `Display` is one line for the agent, without the remedy: an agent cannot change settings.
///
/// ```
/// use autonoe_security::{Denial, Layer};
///
/// let denial = Denial::new("R7", Layer::Profile, "Command 'curl' is not in the allowlist")
///     .rationale("only listed commands run")
///     .at(0..4)
///     .instead("test the server from the project's test suite")
///     .remedy("add \"allowCommands\": [\"curl\"] to agent.json");
///
/// assert_eq!(
///     denial.to_string(),
///     "Command 'curl' is not in the allowlist: only listed commands run; \
///      test the server from the project's test suite (rule R7)",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Denial {
    /// The stable id of the rule that decided.
    pub rule: Cow<'static, str>,
    /// A stable word for what the rule is about, for programs; empty when there is none.
    #[cfg_attr(feature = "serde", serde(default))]
    pub code: Cow<'static, str>,
    /// The bytes of the command that the rule objects to, when it can tell.
    pub span: Option<Range<usize>>,
    /// The layer that the rule belongs to.
    pub layer: Layer,
    /// Forbidden action, in one sentence.
    pub reason: Cow<'static, str>,
    /// Reason for the rule as a clause, if the rule has one.
    #[cfg_attr(feature = "serde", serde(default))]
    pub rationale: Option<Cow<'static, str>>,
    /// Advice for the agent, if the rule has any.
    pub instead: Option<Cow<'static, str>>,
    /// The setting with which the operator can allow the command, if there is one.
    #[cfg_attr(feature = "serde", serde(default))]
    pub remedy: Option<Cow<'static, str>>,
}

impl Denial {
    /// Creates a denial by `rule` for `reason`.
    pub fn new(
        rule: impl Into<Cow<'static, str>>,
        layer: Layer,
        reason: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            rule: rule.into(),
            code: Cow::Borrowed(""),
            span: None,
            layer,
            reason: reason.into(),
            rationale: None,
            instead: None,
            remedy: None,
        }
    }

    /// Creates a denial by a rule of the policy.
    ///
    /// Control characters of arguments that the reason cites become blanks, so that it is one line.
    pub(crate) fn by(rule: Rule, span: Span, reason: impl Into<Cow<'static, str>>) -> Self {
        let reason = match reason.into() {
            Cow::Owned(cited) => Cow::Owned(cited.replace(char::is_control, " ")),
            fixed => fixed,
        };
        Self::new(rule.id(), rule.layer(), reason)
            .code(rule.code())
            .rationale(rule.rationale())
            .at(span.range())
    }

    /// Sets the stable code for the subject of the rule.
    #[must_use]
    pub fn code(mut self, code: impl Into<Cow<'static, str>>) -> Self {
        self.code = code.into();
        self
    }

    /// Sets the rationale.
    #[must_use]
    pub fn rationale(mut self, rationale: impl Into<Cow<'static, str>>) -> Self {
        self.rationale = Some(rationale.into());
        self
    }

    /// Sets the bytes of the command that caused the denial.
    #[must_use]
    pub fn at(mut self, span: Range<usize>) -> Self {
        self.span = Some(span);
        self
    }

    /// Sets the alternative for the agent.
    #[must_use]
    pub fn instead(mut self, instead: impl Into<Cow<'static, str>>) -> Self {
        self.instead = Some(instead.into());
        self
    }

    /// Sets the setting with which the operator can allow the command.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<Cow<'static, str>>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        if let Some(rationale) = &self.rationale {
            write!(f, ": {rationale}")?;
        }
        if let Some(instead) = &self.instead {
            write!(f, "; {instead}")?;
        }
        write!(f, " (rule {})", self.rule)
    }
}

impl std::error::Error for Denial {}

/// The layer of a policy that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Layer {
    /// The text is not understood as Bash.
    Grammar,
    /// A rule that holds for every project.
    Baseline,
    /// The language profiles of the project.
    Profile,
    /// The mode, run or sync.
    Mode,
    /// The user's own rules.
    User,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_without_a_remedy_reads_as_reason_and_rule() {
        let denial = Denial::new("R3", Layer::Grammar, "the quote is never closed");

        assert_eq!(denial.to_string(), "the quote is never closed (rule R3)");
    }

    // Shows: interfaces/hooks/validation-result.allowed-reason
    #[cfg(feature = "serde")]
    #[test]
    fn a_verdict_survives_json() {
        let verdict = Verdict::Deny(
            Denial::new("R7", Layer::Profile, "no")
                .at(1..3)
                .instead("ask"),
        );

        let json = serde_json::to_string(&verdict).expect("it serialises");

        assert_eq!(
            serde_json::from_str::<Verdict>(&json).expect("it parses"),
            verdict
        );
    }
}
