//! In-memory client and provider, optionally with a fault.

mod answer;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_model::conformance::{
    ModelHarness, NotStaged, ProviderScenario, Replayed, StagedProvider,
};
use autonoe_model::contract::{AssistantMessage, ModelIdentity};
use autonoe_model::{Message, ModelClient, ModelErrorCode, ModelRequest, ModelStream};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};

use self::answer::item;
use crate::conformance::faulty::Fault;

pub(crate) use self::answer::failure;

pub(crate) const KEY: &str = "sk-in-memory-123";
const PROTOCOL: &str = "memory";

/// Clients with one fault, or none.
pub(crate) struct InMemory(pub(crate) Fault);

#[async_trait]
impl ModelHarness for InMemory {
    async fn stage(
        &self,
        scenario: &ProviderScenario,
    ) -> Result<Box<dyn StagedProvider>, NotStaged> {
        use ModelErrorCode::{ProviderNotConfigured, ProviderNotSupported};
        if let ProviderScenario::Refuses { code } = scenario
            && matches!(code, ProviderNotConfigured | ProviderNotSupported)
        {
            return Err(self.0.changes(failure(*code)).into());
        }
        Ok(Box::new(MemoryStage(Arc::new(Memory {
            identity: ModelIdentity::new("memory", "model"),
            scenario: scenario.clone(),
            fault: self.0,
            requests: Mutex::default(),
            left: Notify::new(),
            one_at_a_time: Arc::new(Semaphore::new(1)),
        }))))
    }

    fn key(&self) -> &str {
        KEY
    }

    fn printed(&self) -> Vec<String> {
        vec![match self.0 {
            Fault::ShowsKeys => format!("InMemory {{ key: {KEY:?} }}"),
            _ => "InMemory { key: [redacted] }".to_owned(),
        }]
    }
}

struct MemoryStage(Arc<Memory>);

struct Memory {
    identity: ModelIdentity,
    scenario: ProviderScenario,
    fault: Fault,
    requests: Mutex<Vec<Value>>,
    left: Notify,
    one_at_a_time: Arc<Semaphore>,
}

#[async_trait]
impl StagedProvider for MemoryStage {
    fn model(&self) -> Arc<dyn ModelClient> {
        Arc::new(Client(self.0.clone()))
    }

    fn requests(&self) -> Vec<Value> {
        self.0.requests.lock().expect("no panic").clone()
    }

    async fn wait_for_disconnect(&self) {
        self.0.left.notified().await;
    }

    fn replayed(&self) -> Option<Replayed> {
        let ProviderScenario::Answers { message, .. } = &self.0.scenario else {
            return None;
        };
        let last = self.requests().pop()?;
        Some(Replayed {
            received: message.parts.iter().map(item).collect(),
            sent_back: last["messages"][1].clone(),
        })
    }
}

struct Client(Arc<Memory>);

impl ModelClient for Client {
    fn identity(&self) -> &ModelIdentity {
        &self.0.identity
    }

    fn stream(&self, request: &ModelRequest) -> ModelStream {
        let memory = self.0.clone();
        let request = request.clone();
        if memory.fault == Fault::SendsAtOnce {
            memory.send(&request);
        }
        let answer = async move {
            memory.log(&request);
            if memory.fault != Fault::SendsAtOnce {
                memory.send(&request);
            }
            let turn = match memory.fault {
                Fault::OneAtATime => memory.one_at_a_time.clone().acquire_owned().await.ok(),
                _ => None,
            };
            let answer = memory.answer();
            let answer = memory.fault.changes_stream(answer);
            match memory.fault {
                Fault::ContinuesWhenDropped => answer,
                _ => {
                    let call = (turn, Call(memory));
                    let held = answer.inspect(move |_| {
                        let _call = &call;
                    });
                    held.boxed()
                }
            }
        };
        stream::once(answer).flatten().boxed()
    }
}

/// A call in progress, whose end the provider observes.
struct Call(Arc<Memory>);

impl Drop for Call {
    fn drop(&mut self) {
        self.0.left.notify_one();
    }
}

impl Memory {
    fn log(&self, request: &ModelRequest) {
        match self.fault {
            Fault::LogsKeys => tracing::trace!(key = KEY, "asks"),
            Fault::LogsPrompts => tracing::debug!(?request, "asks"),
            _ => tracing::trace!(?request, "asks"),
        }
    }

    fn send(&self, request: &ModelRequest) {
        let messages = request.messages.iter().map(|message| match message {
            Message::Assistant(answer) => self.sent_back(answer),
            other => serde_json::to_value(other).expect("it can be written"),
        });
        let tools: Vec<_> = request
            .tools
            .iter()
            .map(|it| json!([it.name, it.description]))
            .collect();
        let mut body = json!({
            "system": request.system, "messages": messages.collect::<Vec<_>>(), "tools": tools,
        });
        match self.fault {
            Fault::ForgetsTheSystemPrompt => body["system"] = Value::Null,
            Fault::ForgetsResults => {
                let messages = body["messages"].as_array_mut().expect("messages");
                messages.truncate(2);
            }
            _ => {}
        }
        let mut requests = self.requests.lock().expect("no panic");
        let is_limited = matches!(self.scenario, ProviderScenario::Limits { .. });
        if self.fault == Fault::SendsTwice && is_limited {
            requests.push(body.clone());
        }
        requests.push(body);
    }

    /// Returns an answer as it is in the request, in its original form.
    fn sent_back(&self, answer: &AssistantMessage) -> Value {
        let parts = answer
            .parts
            .iter()
            .filter_map(|part| part.wire_item(PROTOCOL).cloned());
        parts
            .map(|mut item| {
                let is_dropped = match self.fault {
                    Fault::DropsSignatures => item["what"]["part"] == "thinking",
                    Fault::DropsAllSignatures => true,
                    _ => false,
                };
                if is_dropped {
                    item["signature"] = Value::Null;
                }
                item
            })
            .collect()
    }
}
