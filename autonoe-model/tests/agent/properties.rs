//! Whatever happens, a turn ends, disposes of everything and counts every token once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use autonoe_core::{AgentClientFactory, Budget, ToolError, ToolErrorCode, ToolOutput};
use autonoe_model::{ModelError, ModelErrorCode, Part};
use proptest::prelude::*;
use serde_json::json;

use crate::setting::{Answer, ScriptedModel, TestTool, agents, reply, says, spec, turn_of, used};

/// What the model does when it is asked.
#[derive(Clone, Debug)]
enum Move {
    Says,
    /// Calls tools: each takes so many seconds and then succeeds, fails or panics.
    Calls(Vec<(Kind, u64, End)>),
    Fails(usize),
    Hangs,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Looks,
    Changes,
    Refused,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Ok,
    Error,
    Panic,
    Never,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let kind = prop_oneof![Just(Kind::Looks), Just(Kind::Changes), Just(Kind::Refused)];
    let end = prop_oneof![
        6 => Just(End::Ok),
        2 => Just(End::Error),
        1 => Just(End::Panic),
        1 => Just(End::Never),
    ];
    let calls = prop::collection::vec((kind, 0..5_u64, end), 1..5);
    let one = prop_oneof![
        2 => Just(Move::Says),
        8 => calls.prop_map(Move::Calls),
        3 => (0..ModelErrorCode::ALL.len()).prop_map(Move::Fails),
        1 => Just(Move::Hangs),
    ];
    prop::collection::vec(one, 0..8)
}

/// What is done from outside, and when.
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

/// Counts who is at work.
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

async fn plays(moves: Vec<Move>, meddling: Meddling) {
    let at_work = Arc::new(AtomicU64::new(0));
    let spent = Arc::new(AtomicU64::new(0));
    let tool = |name: &str, at_work: &Arc<AtomicU64>| {
        let at_work = at_work.clone();
        let does = move |input: serde_json::Value, _| {
            let at_work = at_work.clone();
            async move {
                let _here = AtWork::new(&at_work);
                let seconds = input["seconds"].as_u64().unwrap_or_default();
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                match input["end"].as_str() {
                    Some("Error") => Err(ToolError::new(ToolErrorCode::IO_ERROR, "no")),
                    Some("Panic") => panic!("on purpose"),
                    Some("Never") => futures::future::pending().await,
                    _ => Ok(ToolOutput::new("yes")),
                }
            }
        };
        match name {
            "Look" => TestTool::reads(name, does),
            _ => TestTool::writes(name, does),
        }
    };
    let mut script = moves.into_iter();
    let (mut number, counted) = (0, spent.clone());
    let model = ScriptedModel::following(move |_| {
        number += 1;
        let next = script.next().unwrap_or(Move::Says);
        match next {
            Move::Says => {
                counted.fetch_add(20, Ordering::SeqCst);
                says("Well.")
            }
            Move::Calls(calls) => {
                counted.fetch_add(20, Ordering::SeqCst);
                reply(
                    calls
                        .iter()
                        .enumerate()
                        .map(|(index, (kind, seconds, end))| {
                            let name = match kind {
                                Kind::Looks => "Look",
                                Kind::Changes => "Change",
                                Kind::Refused => "Forbidden",
                            };
                            let input = json!({"seconds": seconds, "end": format!("{end:?}")});
                            Part::tool_call(format!("{number}-{index}"), name, input)
                        }),
                )
            }
            Move::Fails(code) => {
                counted.fetch_add(6, Ordering::SeqCst);
                let code = ModelErrorCode::ALL[code];
                Answer::Fails(ModelError::new(code, "it failed").with_usage(used(3)))
            }
            Move::Hangs => Answer::Hangs,
        }
    });
    let tools = [tool("Look", &at_work), tool("Change", &at_work)];
    let agents = agents(&model, tools, |_| {});
    let mut client = agents
        .create(spec(Budget::default()))
        .expect("it can be made");
    let control = client.control();

    let after = |seconds| tokio::time::sleep(Duration::from_secs(seconds));
    // What would never end by itself is stopped by a person in the end.
    let meddled = async {
        match meddling {
            Meddling::Interrupts(seconds) => {
                after(seconds).await;
                control.interrupt().await.expect("it can be");
            }
            Meddling::Steers(seconds) => {
                after(seconds).await;
                // It may be over.
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

    client.dispose().await.expect("it ends");
    assert_eq!(at_work.load(Ordering::SeqCst), 0, "a tool is still at work");
    if !matches!(meddling, Meddling::Drops(_)) {
        let turn = turn.expect("it ended");
        assert_eq!(turn.tokens(), spent.load(Ordering::SeqCst));
    }
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
