//! Mapping of model errors to session outcomes and agent errors.

use autonoe_core::AgentError;
use autonoe_core::agent::{AgentErrorKind, SessionOutcome};
use jiff::{SignedDuration, Timestamp};

use crate::contract::{ModelError, ModelErrorCode};
use crate::retry::RetryPolicy;

/// Maps a failed model call to the outcome or the error of the session.
///
/// A rate limit with a wait longer than the policy's maximum is an exceeded quota with a reset
/// time. Everything else is an error.
pub(super) fn session_outcome(
    error: &ModelError,
    policy: &RetryPolicy,
    now: Timestamp,
) -> Result<SessionOutcome, AgentError> {
    if error.code == ModelErrorCode::RateLimited
        && let Some(wait) = error.retry_after
        && wait > policy.max_retry_after()
    {
        let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
        return Ok(SessionOutcome::QuotaExceeded {
            message: error.message.clone(),
            resets_at: now.checked_add(wait).ok(),
        });
    }
    let failed = agent_error(error);
    Err(match error.retry_after {
        Some(wait) => failed.with_retry_after(wait),
        None => failed,
    })
}

/// Maps a model error to the agent error of a session.
pub(super) fn agent_error(error: &ModelError) -> AgentError {
    let failed = AgentError::new(kind_of(error), error.message.clone());
    match remedy(error) {
        Some(remedy) => failed.with_remedy(remedy),
        None => failed,
    }
}

/// Returns what the operator can do, for errors that waiting does not fix.
fn remedy(error: &ModelError) -> Option<&'static str> {
    Some(match (error.code, kind_of(error)) {
        (_, AgentErrorKind::Billing) => "add credit at the provider, or use another one",
        (_, AgentErrorKind::Authentication) => {
            "check that the key of the provider is complete, not revoked, and for this service"
        }
        (ModelErrorCode::ModelNotFound, _) => {
            "check the name of the model, and that the key may use it"
        }
        _ => return None,
    })
}

fn kind_of(error: &ModelError) -> AgentErrorKind {
    match error.code {
        ModelErrorCode::AuthenticationError if is_billing_error(error) => AgentErrorKind::Billing,
        ModelErrorCode::AuthenticationError => AgentErrorKind::Authentication,
        ModelErrorCode::ProviderNotConfigured
        | ModelErrorCode::ProviderNotSupported
        | ModelErrorCode::ModelNotFound => AgentErrorKind::Configuration,
        ModelErrorCode::RateLimited | ModelErrorCode::NetworkError => AgentErrorKind::Overloaded,
        ModelErrorCode::Timeout => AgentErrorKind::Timeout,
        ModelErrorCode::InvalidResponse => AgentErrorKind::Protocol,
        ModelErrorCode::ContextLengthExceeded | ModelErrorCode::Unknown => AgentErrorKind::Other,
    }
}

fn is_billing_error(error: &ModelError) -> bool {
    const REASONS: [&str; 4] = [
        "insufficient_quota",
        "billing_error",
        "billing_hard_limit_reached",
        // Google sends this with status 403.
        "BILLING_DISABLED",
    ];
    let reason = error.reason.as_deref();
    error.status == Some(402) || reason.is_some_and(|reason| REASONS.contains(&reason))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn kind(error: &ModelError) -> &'static str {
        let result = session_outcome(error, &RetryPolicy::default(), Timestamp::UNIX_EPOCH);
        result.expect_err("it is an error").code()
    }

    #[test]
    fn every_failure_of_a_model_is_one_of_the_session() {
        use ModelErrorCode::*;
        for (code, expected) in [
            (ProviderNotConfigured, "configuration"),
            (ProviderNotSupported, "configuration"),
            (AuthenticationError, "authentication"),
            (RateLimited, "overloaded"),
            (ModelNotFound, "configuration"),
            (ContextLengthExceeded, "other"),
            (NetworkError, "overloaded"),
            (Timeout, "timeout"),
            (InvalidResponse, "protocol"),
            (Unknown, "other"),
        ] {
            assert_eq!(
                kind(&ModelError::new(code, "it failed")),
                expected,
                "{code}"
            );
        }
    }

    #[test]
    fn an_account_that_cannot_pay_is_a_matter_of_money() {
        let refused = || ModelError::new(ModelErrorCode::AuthenticationError, "no");

        assert_eq!(kind(&refused().with_status(402)), "billing");
        for reason in ["insufficient_quota", "BILLING_DISABLED"] {
            let spent = refused().with_reason(reason.to_owned());
            assert_eq!(kind(&spent), "billing", "{reason}");
        }
        assert_eq!(kind(&refused().with_status(401)), "authentication");
    }

    // Shows: framework/models/long-delays
    #[test]
    fn a_long_wait_is_a_quota_and_a_short_one_is_not() {
        let limited = |seconds| {
            let error = ModelError::new(ModelErrorCode::RateLimited, "slow down")
                .with_retry_after(Duration::from_secs(seconds));
            session_outcome(&error, &RetryPolicy::default(), Timestamp::UNIX_EPOCH)
        };

        let quota = limited(3_600).expect("it is an outcome");
        let expected = SessionOutcome::QuotaExceeded {
            message: "slow down".into(),
            resets_at: Some("1970-01-01T01:00:00Z".parse().expect("a time")),
        };
        assert_eq!(quota, expected);
        let error = limited(60).expect_err("it is an error");
        assert_eq!(error.delay(), Some(Duration::from_secs(60)));
        assert!(matches!(
            limited(u64::MAX),
            Ok(SessionOutcome::QuotaExceeded {
                resets_at: None,
                ..
            })
        ));
    }
}
