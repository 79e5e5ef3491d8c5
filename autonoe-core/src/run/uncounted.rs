//! What nobody could count: sessions that do not say what they cost.

use crate::domain::{Failure, Models, Phase};
use crate::port::{Capabilities, Support};

/// Returns why a run that limits money must not start on a backend, or `None` if it may.
///
/// `cost_of` is what the backend says of a model. Sessions that name none are told by its
/// capabilities, and so are all where it does not tell models apart.
pub(super) fn refuse_money_limit(
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
        return Some(Failure::permanent(
            "cost_not_reported",
            format!("{message}, so the money budget cannot be kept; limit tokens or time instead"),
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_limited_only_where_every_session_says_what_it_costs() {
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
            // The model of the backend itself is not used.
            (Support::No, None, Some("priced"), None),
            (Support::No, Some("priced"), Some("priced"), None),
            (
                Support::No,
                Some("priced"),
                None,
                Some("report what it costs"),
            ),
            // It does not tell models apart.
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

            let refusal = refuse_money_limit(&capabilities, &models, cost_of);

            let said = refusal.as_ref().map(|refusal| refusal.message.as_str());
            let fits = match (said, expected) {
                (Some(said), Some(expected)) => said.contains(expected),
                (said, expected) => said == expected,
            };
            assert!(fits, "{cost:?} {models:?}: {said:?}");
        }
    }
}
