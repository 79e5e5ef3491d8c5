//! One session whose tokens have a price.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{AgentClient, AgentError, MessageStream, Prompt, SessionControl, StreamEvent};
use futures::{StreamExt, stream};

use super::priced_agents::Pricing;
use super::report::priced;

/// One session whose tokens have a price.
pub(super) struct PricedClient {
    inner: Box<dyn AgentClient>,
    pricing: Arc<Pricing>,
    /// The model that the session was asked for.
    asked: Option<String>,
}

impl PricedClient {
    pub(super) fn new(
        inner: Box<dyn AgentClient>,
        pricing: Arc<Pricing>,
        asked: Option<String>,
    ) -> Self {
        Self {
            inner,
            pricing,
            asked,
        }
    }
}

#[async_trait]
impl AgentClient for PricedClient {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        let (pricing, mut model) = (self.pricing.clone(), self.asked.clone());
        self.inner
            .query(prompt)
            .flat_map(move |item| {
                if let Ok(StreamEvent::Started {
                    model: Some(told), ..
                }) = &item
                {
                    model = Some(told.clone());
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
