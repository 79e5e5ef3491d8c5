//! Property tests: every turn ends, releases everything and counts every token once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::tool::{ToolDefinition, ToolErrorCode};
use autonoe_core::{AgentClientFactory, Budget, CostUsd, Tool, ToolContext, ToolError, ToolOutput};
use autonoe_model::{MessagePart, ModelAgentOptions, ModelError, ModelErrorCode, ModelRequest};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::agent::fixture::{
    Answer, ScriptedModel, TestTool, Turn, agents, reply, spec, text_reply, turn_of, used,
};

/// Behaviour of the model on a request.
#[derive(Clone, Debug)]
enum Move {
    Answers,
    /// Calls tools: each takes this many seconds and then succeeds, fails or panics.
    Calls(Vec<(Kind, u64, End)>),
    Fails(usize),
    /// Reports its usage so far, and fails.
    BreaksOff,
    /// Reports its usage so far, and hangs.
    Hangs,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Reads,
    Changes,
    Refused,
    /// Requests help from the model.
    Assisted,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Ok,
    /// Succeeds with so much output that the conversation must be compacted soon.
    Much,
    Error,
    Panic,
    Never,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let kind = prop_oneof![
        3 => Just(Kind::Reads),
        3 => Just(Kind::Changes),
        1 => Just(Kind::Refused),
        2 => Just(Kind::Assisted),
    ];
    let end = prop_oneof![
        6 => Just(End::Ok),
        4 => Just(End::Much),
        2 => Just(End::Error),
        1 => Just(End::Panic),
        1 => Just(End::Never),
    ];
    let calls = prop::collection::vec((kind, 0..5_u64, end), 1..5);
    let one = prop_oneof![
        2 => Just(Move::Answers),
        10 => calls.prop_map(Move::Calls),
        3 => (0..ModelErrorCode::ALL.len()).prop_map(Move::Fails),
        1 => Just(Move::BreaksOff),
        1 => Just(Move::Hangs),
    ];
    prop::collection::vec(one, 0..12)
}

/// Interference from outside, with its time.
#[derive(Clone, Copy, Debug)]
enum Meddling {
    Nothing,
    Interrupts(u64),
    Steers(u64),
    Drops(u64),
}

fn meddling() -> impl Strategy<Value = Meddling> {
    prop_oneof![
        Just(Meddling::Nothing),
        (0..30_u64).prop_map(Meddling::Interrupts),
        (0..30_u64).prop_map(Meddling::Steers),
        (0..30_u64).prop_map(Meddling::Drops),
    ]
}

/// Counts running calls.
struct AtWork(Arc<AtomicU64>);

impl AtWork {
    fn new(count: &Arc<AtomicU64>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count.clone())
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Behaviour of a tool for `input`.
async fn works(input: Value, at_work: Arc<AtomicU64>) -> Result<ToolOutput, ToolError> {
    let _here = AtWork::new(&at_work);
    let seconds = input["seconds"].as_u64().unwrap_or_default();
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    match input["end"].as_str() {
        Some("Much") => Ok(ToolOutput::new("word ".repeat(300))),
        Some("Error") => Err(ToolError::new(ToolErrorCode::IO_ERROR, "no")),
        Some("Panic") => panic!("on purpose"),
        Some("Never") => futures::future::pending().await,
        _ => Ok(ToolOutput::new("yes")),
    }
}

/// A tool that works only with the help of the model.
struct Assisted {
    definition: ToolDefinition,
    at_work: Arc<AtomicU64>,
}

#[async_trait]
impl Tool for Assisted {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, _: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let _here = AtWork::new(&self.at_work);
        Err(ToolError::assist("What is it?", "I do not know"))
    }

    async fn assisted(
        &self,
        input: Value,
        _: String,
        _: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        works(input, self.at_work.clone()).await
    }
}

fn tools(at_work: &Arc<AtomicU64>) -> [Arc<dyn Tool>; 3] {
    let does = || {
        let at_work = at_work.clone();
        move |input, _| works(input, at_work.clone())
    };
    let definition = ToolDefinition::new("Slow", "For a test.", json!({"type": "object"}));
    let assisted = Assisted {
        definition: definition.read_only(),
        at_work: at_work.clone(),
    };
    [
        TestTool::reads("Look", does()),
        TestTool::writes("Change", does()),
        Arc::new(assisted),
    ]
}

/// A model that performs these moves in turn, and adds their usage to `spent`. Prompts are counted
/// like a provider does, so that a conversation becomes too long.
fn model(moves: Vec<Move>, spent: &Arc<AtomicU64>) -> Arc<ScriptedModel> {
    let mut script = moves.into_iter();
    let (mut number, spent) = (0, spent.clone());
    ScriptedModel::following(move |request: &ModelRequest| {
        number += 1;
        let uses = |tokens: u64| spent.fetch_add(2 * tokens, Ordering::SeqCst);
        let length = serde_json::to_string(&request.messages).expect("it can be written");
        let size = length.len() as u64 / 8;
        let counted = |answer: Answer| {
            uses(size);
            crate::agent::fixture::with_usage(answer, used(size))
        };
        match script.next().unwrap_or(Move::Answers) {
            // Requests of tools, and those for a summary, offer no tools.
            Move::Calls(calls) if !request.tools.is_empty() => {
                let calls = calls.iter().enumerate();
                counted(reply(calls.map(|(index, (kind, seconds, end))| {
                    let name = match kind {
                        Kind::Reads => "Look",
                        Kind::Changes => "Change",
                        Kind::Refused => "Forbidden",
                        Kind::Assisted => "Slow",
                    };
                    let input = json!({"seconds": seconds, "end": format!("{end:?}")});
                    MessagePart::tool_call(format!("{number}-{index}"), name, input)
                })))
            }
            Move::Answers | Move::Calls(_) => counted(text_reply("Well.")),
            Move::Fails(code) => {
                uses(3);
                let code = ModelErrorCode::ALL[code];
                Answer::Fails(ModelError::new(code, "it failed").with_usage(used(3)))
            }
            Move::BreaksOff => {
                uses(4);
                let cut = ModelError::new(ModelErrorCode::NetworkError, "it is incomplete");
                Answer::FailsAfter(used(4), cut)
            }
            Move::Hangs => {
                uses(5);
                Answer::HangsAfter(used(5))
            }
        }
    })
}

fn small(options: &mut ModelAgentOptions) {
    let limits = r#"{"model": {"context": 2500, "output": 300}}"#;
    options.limits = serde_json::from_str(limits).expect("limits");
    // A dollar per million tokens.
    let prices = r#"{"scripted/model": {"input": "1", "output": "1"}}"#;
    options.prices = serde_json::from_str(prices).expect("prices");
}

fn cost(turn: &Turn) -> Option<CostUsd> {
    match turn.events.last() {
        Some(autonoe_core::StreamEvent::End { cost, .. }) => *cost,
        _ => None,
    }
}

/// Plays `moves`, and returns whether the conversation was compacted.
async fn plays(moves: Vec<Move>, meddling: Meddling) -> bool {
    let at_work = Arc::new(AtomicU64::new(0));
    let spent = Arc::new(AtomicU64::new(0));
    let all_counted = !moves
        .iter()
        .any(|it| matches!(it, Move::Fails(_) | Move::BreaksOff | Move::Hangs));
    let model = model(moves, &spent);
    let agents = agents(&model, tools(&at_work), small);
    let mut client = agents
        .create(spec(Budget::default()))
        .expect("it can be made");
    let control = client.control();

    let after = |seconds| tokio::time::sleep(Duration::from_secs(seconds));
    // A play that would never end is interrupted at the end.
    let meddled = async {
        match meddling {
            Meddling::Interrupts(seconds) => {
                after(seconds).await;
                control.interrupt().await.expect("it can be");
            }
            Meddling::Steers(seconds) => {
                after(seconds).await;
                // The turn may be over.
                let _ = control.steer("Hurry.").await;
            }
            Meddling::Nothing | Meddling::Drops(_) => {}
        }
        after(3_600).await;
        control.interrupt().await.expect("it can be");
        futures::future::pending::<()>().await;
    };
    let limit = match meddling {
        Meddling::Drops(seconds) => seconds,
        _ => 100_000,
    };
    let turn = tokio::select! {
        turn = turn_of(client.as_mut(), "Work.") => Some(turn),
        () = meddled => None,
        () = after(limit) => None,
    };
    let is_dropped = turn.is_none();
    let may_drop = matches!(meddling, Meddling::Drops(_));
    assert!(!is_dropped || may_drop, "it did not end");
    let stopped = async {
        after(7_200).await;
        control.interrupt().await.expect("it can be");
        futures::future::pending::<()>().await;
    };
    // The session has one account, including turns that were not read to their end.
    let reported = turn.as_ref().map_or(0, Turn::tokens);
    let unreported = spent.load(Ordering::SeqCst) - reported;
    let next = tokio::select! {
        turn = turn_of(client.as_mut(), "Go on.") => turn,
        () = stopped => panic!("it did not end"),
    };
    assert_eq!(
        next.tokens(),
        spent.load(Ordering::SeqCst) - reported - unreported
    );
    assert!(
        is_dropped || unreported == 0,
        "{unreported} tokens were not reported"
    );
    if let Some(cost) = cost(&next) {
        let micros = spent.load(Ordering::SeqCst);
        assert_eq!(cost.picos(), micros * 1_000_000, "of all turns");
    } else {
        let is_stopped = matches!(meddling, Meddling::Interrupts(_)) || is_dropped;
        assert!(
            !all_counted || is_stopped || next.error.is_some(),
            "{next:?}"
        );
    }

    client.dispose().await.expect("it ends");
    assert_eq!(at_work.load(Ordering::SeqCst), 0, "a tool is still at work");
    let turns = turn.iter().chain([&next]);
    turns
        .flat_map(Turn::warnings)
        .any(|it| it.contains("became too long"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_interleaving_ends_disposes_and_counts_every_token_once(
        moves in moves(),
        meddling in meddling(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(plays(moves, meddling));
    }
}

#[tokio::test(start_paused = true)]
async fn assisted_calls_force_a_compaction() {
    let assisted_calls = || Move::Calls(vec![(Kind::Assisted, 1, End::Much); 4]);

    assert!(
        plays(
            vec![
                assisted_calls(),
                Move::Answers,
                assisted_calls(),
                assisted_calls()
            ],
            Meddling::Nothing
        )
        .await
    );
}
