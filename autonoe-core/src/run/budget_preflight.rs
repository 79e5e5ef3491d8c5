//! Refuses cost and token budgets on backends that do not report cost or tokens.

use crate::agent::{Capabilities, Support, TokenReports};
use crate::event::{Failure, Phase};
use crate::run::Models;

/// Returns the reason why a run with a cost budget must not start on a backend, or `None` if it
/// may.
///
/// `cost_of` returns the backend's cost support for a model. The capabilities apply to sessions
/// without a model, and to all sessions of a backend that does not distinguish models.
pub(super) fn refuse_cost_limit(
    capabilities: &Capabilities,
    models: &Models,
    cost_of: impl Fn(&str) -> Option<Support>,
) -> Option<Failure> {
    let backend = &capabilities.backend;
    for phase in [Phase::Planning, Phase::Implementation] {
        let model = models.for_phase(phase);
        let message = match model.and_then(|model| Some((model, cost_of(model)?))) {
            Some((_, Support::Yes)) => continue,
            Some((model, Support::No)) => {
                format!("{backend} does not report what the model {model} costs")
            }
            None if capabilities.cost.is_yes() => continue,
            None => format!("{backend} does not report what it costs"),
        };
        let instead = match capabilities.tokens {
            TokenReports::None => "time",
            TokenReports::EachTurn | TokenReports::EachCall => "tokens or time",
        };
        return Some(Failure::permanent(
            "cost_not_reported",
            format!("{message}, so the cost budget cannot be enforced; limit {instead} instead"),
        ));
    }
    None
}

/// Returns the reason why a run with a token budget must not start on a backend, or `None` if it
/// may.
pub(super) fn refuse_token_limit(capabilities: &Capabilities) -> Option<Failure> {
    let backend = &capabilities.backend;
    (capabilities.tokens == TokenReports::None).then(|| {
        let message = format!(
            "{backend} does not report reliably how many tokens a session uses, so the token \
             budget cannot be enforced; limit time instead"
        );
        Failure::permanent("tokens_not_reported", message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_limited_only_where_they_are_reported() {
        for (tokens, refused) in [
            (TokenReports::None, true),
            (TokenReports::EachTurn, false),
            (TokenReports::EachCall, false),
        ] {
            let capabilities = Capabilities::new("agent").with_tokens(tokens);

            let refusal = refuse_token_limit(&capabilities);

            assert_eq!(refusal.is_some(), refused, "{tokens:?}");
        }
    }

    #[test]
    fn a_refusal_names_only_limits_that_could_be_kept() {
        for (tokens, limits) in [
            (TokenReports::None, "limit time instead"),
            (TokenReports::EachTurn, "limit tokens or time instead"),
        ] {
            let capabilities = Capabilities::new("agent").with_tokens(tokens);

            let refusal = refuse_cost_limit(&capabilities, &Models::default(), |_| None);

            let message = refusal.expect("it tells no money").message;
            assert!(message.ends_with(limits), "{message}");
        }
    }

    #[test]
    fn cost_is_limited_only_if_every_session_reports_its_cost() {
        let cost_of = |model: &str| match model {
            "priced" => Some(Support::Yes),
            "unpriced" => Some(Support::No),
            _ => None,
        };
        for (cost, planning, implementation, expected) in [
            (Support::Yes, None, None, None),
            (Support::No, None, None, Some("report what it costs")),
            (Support::Yes, None, Some("unpriced"), Some("unpriced costs")),
            (Support::Yes, Some("unpriced"), None, Some("unpriced costs")),
            (
                Support::Yes,
                Some("unpriced"),
                Some("priced"),
                Some("unpriced costs"),
            ),
            (
                Support::Yes,
                Some("priced"),
                Some("unpriced"),
                Some("unpriced costs"),
            ),
            // The backend's own model is not used.
            (Support::No, None, Some("priced"), None),
            (Support::No, Some("priced"), Some("priced"), None),
            (
                Support::No,
                Some("priced"),
                None,
                Some("report what it costs"),
            ),
            // The backend does not distinguish models.
            (Support::Yes, Some("other"), None, None),
            (
                Support::No,
                None,
                Some("other"),
                Some("report what it costs"),
            ),
        ] {
            let capabilities = Capabilities::new("agent").with_cost(cost);
            let [planning, implementation] =
                [planning, implementation].map(|model| model.map(str::to_owned));
            let models = Models {
                planning,
                implementation,
            };

            let refusal = refuse_cost_limit(&capabilities, &models, cost_of);

            let message = refusal.as_ref().map(|refusal| refusal.message.as_str());
            let fits = match (message, expected) {
                (Some(message), Some(expected)) => message.contains(expected),
                (message, expected) => message == expected,
            };
            assert!(fits, "{cost:?} {models:?}: {message:?}");
        }
    }
}
