//! [`PricedBackend`]: adds costs to a backend that only reports tokens.

use std::fmt;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use autonoe_core::agent::{Prompt, SessionControl, Support, TokenUsage};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, CostUsd, MessageStream, SessionSpec,
    StreamEvent,
};
use futures::{StreamExt, stream};

use super::{Price, PriceTable};
use crate::contract::ModelIdentity;

/// Precision of the token counts that a backend reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenCounts {
    /// Each report is about one model call and is complete, so its cost is known. Codex reports
    /// this way.
    EachCall,
    /// A report may be about several calls, or omit something, such as cached or thinking tokens.
    /// Its cost is a lower bound. Gemini CLI and other agents of the Agent Client Protocol report
    /// this way.
    Partial,
}

/// Wraps any backend and adds the cost of its tokens if the backend does not report it.
///
/// Costs that the backend reports are unchanged. The cost is unknown, and never zero, for a model
/// that is not in the table, and for a session whose model is unknown. With
/// [partial](TokenCounts::Partial) token counts, the cost of a session is a lower bound.
///
/// A run with a cost budget starts only if every model that it uses has a price and tokens are
/// reported for each call. Sessions without a model use that of the backend, which
/// [`for_model`](Self::for_model) sets.
///
/// ```
/// use autonoe_core::agent::Support;
/// use autonoe_core::AgentClientFactory;
/// use autonoe_model::price::TokenCounts;
/// use autonoe_model::{PriceTable, PricedBackend};
///
/// fn with_prices(codex: impl AgentClientFactory + 'static) -> PricedBackend {
///     PricedBackend::new(codex, PriceTable::built_in(), TokenCounts::EachCall)
///         .by_provider("openai")
///         .for_model("gpt-5.5")
/// }
/// # use autonoe_testkit::ScriptedBackend;
/// # let agents = with_prices(ScriptedBackend::new([]));
/// assert_eq!(agents.cost_of("gpt-5.5"), Some(Support::Yes));
/// assert_eq!(agents.cost_of("somebody-elses-model"), Some(Support::No));
/// ```
#[derive(Clone)]
pub struct PricedBackend {
    inner: Arc<dyn AgentClientFactory>,
    pricing: Arc<Pricing>,
    model: Option<String>,
    /// Cost support of the backend itself, after its probe.
    backend_support: Arc<OnceLock<Support>>,
}

/// Data to calculate the cost of a report.
#[derive(Clone, Debug)]
pub(super) struct Pricing {
    prices: PriceTable,
    provider: String,
    pub(super) counts: TokenCounts,
}

impl PricedBackend {
    /// Wraps `inner` with these prices.
    pub fn new(
        inner: impl AgentClientFactory + 'static,
        prices: PriceTable,
        counts: TokenCounts,
    ) -> Self {
        let provider = String::new();
        Self {
            inner: Arc::new(inner),
            pricing: Arc::new(Pricing {
                prices,
                provider,
                counts,
            }),
            model: None,
            backend_support: Arc::default(),
        }
    }

    /// Sets the provider of the models, for prices by `provider/model`.
    #[must_use]
    pub fn by_provider(mut self, provider: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.pricing).provider = provider.into();
        self
    }

    /// Sets the backend's configured default model.
    #[must_use]
    pub fn for_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Returns whether the cost of sessions on `model` is known.
    fn is_priced(&self, model: &str) -> bool {
        self.pricing.counts == TokenCounts::EachCall && self.pricing.price(model).is_some()
    }
}

impl Pricing {
    /// Returns the price of a model, by the backend's name of it: `gpt-5.5`, but also
    /// `models/gemini-2.5-flash` and `openai/gpt-5.5`.
    pub(super) fn price(&self, model: &str) -> Option<&Price> {
        let name = model.strip_prefix("models/").unwrap_or(model);
        let named = |provider: &str, model: &str| {
            let identity = ModelIdentity::new(provider, model);
            self.prices.price(&identity)
        };
        named(&self.provider, name).or_else(|| {
            let (provider, model) = name.split_once('/')?;
            named(provider, model)
        })
    }

    /// Returns the cost of one model call, or `None` if unknown.
    pub(super) fn cost(&self, model: &str, tokens: &TokenUsage) -> Option<CostUsd> {
        // A call with zero tokens was not counted.
        let is_counted = self.counts == TokenCounts::EachCall && tokens.total() > 0;
        let price = is_counted.then(|| self.price(model))?;
        price.map(|price| price.cost(tokens))
    }
}

#[async_trait]
impl AgentClientFactory for PricedBackend {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        let capabilities = self.inner.probe().await?;
        let _ = self.backend_support.set(capabilities.cost);
        let is_known = capabilities.cost.is_yes()
            || self
                .model
                .as_deref()
                .is_some_and(|model| self.is_priced(model));
        Ok(capabilities.with_cost(if is_known { Support::Yes } else { Support::No }))
    }

    fn cost_of(&self, model: &str) -> Option<Support> {
        match self.inner.cost_of(model) {
            Some(Support::Yes) => Some(Support::Yes),
            _ if self.is_priced(model) => Some(Support::Yes),
            // Our own capability is about the backend's default model, and says nothing about this
            // one.
            None if self.backend_support.get() != Some(&Support::Yes) => Some(Support::No),
            backend_support => backend_support,
        }
    }

    fn create(&self, mut spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        let pricing = self.pricing.clone();
        spec.events = spec
            .events
            .with_costs(Arc::new(move |model, tokens| pricing.cost(model, tokens)));
        let model = spec.model.clone().or_else(|| self.model.clone());
        Ok(Box::new(PricedClient {
            inner: self.inner.create(spec)?,
            pricing: self.pricing.clone(),
            requested_model: model,
        }))
    }
}

impl fmt::Debug for PricedBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PricedBackend")
            .field("inner", &self.inner)
            .field("counts", &self.pricing.counts)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// Session whose tokens have a price.
pub(super) struct PricedClient {
    inner: Box<dyn AgentClient>,
    pricing: Arc<Pricing>,
    /// Requested model of the session.
    requested_model: Option<String>,
}

#[async_trait]
impl AgentClient for PricedClient {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        let (pricing, mut model) = (self.pricing.clone(), self.requested_model.clone());
        self.inner
            .query(prompt)
            .flat_map(move |item| {
                if let Ok(StreamEvent::Started {
                    model: Some(reported),
                    ..
                }) = &item
                {
                    model = Some(reported.clone());
                }
                let items = match item {
                    Ok(StreamEvent::Usage {
                        tokens, cost: None, ..
                    }) => {
                        let events = priced(&pricing, model.as_deref(), tokens);
                        events.into_iter().map(Ok).collect()
                    }
                    other => vec![other],
                };
                stream::iter(items)
            })
            .boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        self.inner.control()
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        self.inner.dispose().await
    }
}

/// Returns the events for a token report without a cost, of a session on `model`.
///
/// The first event contains the known cost. If it is incomplete, a second event without tokens adds
/// an unknown cost.
pub(super) fn priced(
    pricing: &Pricing,
    model: Option<&str>,
    tokens: TokenUsage,
) -> Vec<StreamEvent> {
    let Some(price) = model.and_then(|model| pricing.price(model)) else {
        return vec![StreamEvent::usage(tokens, None)];
    };
    match pricing.counts {
        _ if tokens.total() == 0 => vec![StreamEvent::usage(tokens, None)],
        TokenCounts::EachCall => vec![StreamEvent::usage(tokens, Some(price.cost(&tokens)))],
        TokenCounts::Partial => vec![
            StreamEvent::usage(tokens, Some(price.least(&tokens))),
            StreamEvent::usage(TokenUsage::default(), None),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_found_by_the_names_that_backends_have_for_it() {
        let prices: PriceTable = serde_json::from_str(
            r#"{"gpt-5.5": {"input": "5", "output": "30"},
                "gemini-2.5-flash": {"input": "0.3", "output": "2.5"},
                "acme/gpt-5.5": {"input": "1", "output": "6"}}"#,
        )
        .expect("prices");
        for (provider, name, input) in [
            ("", "gpt-5.5", Some("5")),
            ("openai", "gpt-5.5", Some("5")),
            ("openai", "gpt-5.5-2026-04-23", Some("5")),
            ("acme", "gpt-5.5", Some("1")),
            ("", "acme/gpt-5.5", Some("1")),
            ("", "openai/gpt-5.5", Some("5")),
            ("google", "models/gemini-2.5-flash", Some("0.3")),
            ("google", "auto", None),
            ("google", "auto-gemini-2.5", None),
            ("openai", "gpt-5.5-mini", None),
            ("openai", "gpt-5.5/high", None),
            ("openai", "unknown", None),
            ("", "", None),
        ] {
            let pricing = Pricing {
                prices: prices.clone(),
                provider: provider.to_owned(),
                counts: TokenCounts::EachCall,
            };

            let found = pricing.price(name).map(|price| price.input);

            let expected = input.map(|input| input.parse().expect("an amount"));
            assert_eq!(found, expected, "{provider} {name}");
        }
    }
}
