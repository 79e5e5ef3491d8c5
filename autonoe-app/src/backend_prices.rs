//! Prices for backends that report tokens and no cost.

use std::sync::Arc;

use autonoe_core::AgentClientFactory;
use autonoe_model::price::TokenCounts;
use autonoe_model::{PriceTable, PricedBackend};
use serde_json::Value;

use crate::ModelsFile;

/// Adds prices to the backend with `tag` and `fields`, if it reports only tokens.
pub(crate) fn add_prices(
    tag: &str,
    fields: &Value,
    models: &ModelsFile,
    agents: Arc<dyn AgentClientFactory>,
) -> Arc<dyn AgentClientFactory> {
    let (provider, counts) = match tag {
        "codex" => (Some("openai"), TokenCounts::EachCall),
        "gemini" => (Some("google"), TokenCounts::Partial),
        // The provider of its model is unknown.
        "acp" => (None, TokenCounts::Partial),
        _ => return agents,
    };
    let prices = PriceTable::built_in().with(models.prices.clone());
    let mut priced = PricedBackend::new(agents, prices, counts);
    if let Some(provider) = provider {
        priced = priced.by_provider(provider);
    }
    if let Some(model) = fields["model"].as_str() {
        priced = priced.for_model(model);
    }
    Arc::new(priced)
}
