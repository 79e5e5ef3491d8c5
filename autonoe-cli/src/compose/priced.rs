//! What agents cost that tell their tokens and no money.

use std::sync::Arc;

use autonoe_core::AgentClientFactory;
use autonoe_model::{PriceTable, PricedAgents, TokenCounts};
use serde_json::Value;

use super::ModelsFile;

/// Gives prices to the backend with `tag`, if it tells only tokens. `fields` is what is said of it.
pub(super) fn priced(
    tag: &str,
    fields: &Value,
    models: &ModelsFile,
    agents: Arc<dyn AgentClientFactory>,
) -> Arc<dyn AgentClientFactory> {
    let (provider, counts) = match tag {
        "codex" => (Some("openai"), TokenCounts::EachCall),
        "gemini" => (Some("google"), TokenCounts::Partial),
        // Whose model it asks is not ours to know.
        "acp" => (None, TokenCounts::Partial),
        _ => return agents,
    };
    let prices = PriceTable::built_in().with(models.prices.clone());
    let mut priced = PricedAgents::new(agents, prices, counts);
    if let Some(provider) = provider {
        priced = priced.by_provider(provider);
    }
    if let Some(model) = fields["model"].as_str() {
        priced = priced.for_model(model);
    }
    Arc::new(priced)
}
