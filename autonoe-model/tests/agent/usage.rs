//! Tests of usage accounting: reported once, and unknown where the provider does not report it.

use autonoe_core::agent::SessionOutcome;
use autonoe_core::{AgentClientFactory, Budget, CostUsd, StreamEvent};
use autonoe_model::contract::{AssistantMessage, CallUsage};
use autonoe_model::{ModelAgentOptions, ModelError, ModelErrorCode, ModelReply, StopReason};
use serde_json::json;

use crate::agent::fixture::{
    Answer, ScriptedModel, Turn, agents, calls, echo, one_turn, spec, text_reply, turn_of, used,
    with_stop, with_usage,
};

/// A dollar per million tokens.
fn priced(options: &mut ModelAgentOptions) {
    let prices = r#"{"scripted/model": {"input": "1", "output": "1"}}"#;
    options.prices = serde_json::from_str(prices).expect("prices");
}

fn cost(turn: &Turn) -> Option<CostUsd> {
    match turn.events.last() {
        Some(StreamEvent::End { cost, .. }) => *cost,
        other => panic!("{other:?}"),
    }
}

fn broke_off() -> ModelError {
    ModelError::new(ModelErrorCode::NetworkError, "the answer is incomplete")
}

#[tokio::test(start_paused = true)]
async fn uncounted_answer_has_unknown_cost() {
    let uncounted = ModelReply::new(AssistantMessage::text("Done."));
    let model = ScriptedModel::new([Answer::Replies(uncounted)]);

    let turn = one_turn(&agents(&model, [], priced), "Do it.").await;

    assert_eq!(cost(&turn), None);
    let warned = turn.warnings();
    assert!(
        matches!(warned[..], [warning] if warning.contains("does not report how many tokens")),
        "{warned:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_the_agent_cannot_count_ends_the_session() {
    for budget in [
        Budget::default().with_cost(CostUsd::from_cents(100)),
        Budget::default().with_tokens(1_000_000),
    ] {
        let model = ScriptedModel::following(|_| {
            let call = calls(&[("c", "Echo", json!({"text": "x"}))]);
            with_usage(call, CallUsage::UNKNOWN)
        });
        let agents = agents(&model, [echo()], priced);

        let mut client = agents.create(spec(budget)).expect("it can be made");
        let turn = turn_of(client.as_mut(), "For ever.").await;

        let spent = Some(&SessionOutcome::BudgetExceeded);
        assert_eq!(turn.outcome(), spent, "{budget:?}");
        assert_eq!(model.requests().len(), 4, "{budget:?}");
        assert_eq!(cost(&turn), None, "{budget:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn interrupted_answer_makes_cost_unknown() {
    let known = ModelError::new(ModelErrorCode::Timeout, "it took too long").with_usage(used(4));
    // Reported as a rate limit, but after the answer had started.
    let limited = ModelError::new(ModelErrorCode::RateLimited, "too many calls");
    for (answer, tokens) in [
        (Answer::Fails(broke_off()), 0),
        (Answer::Fails(known), 8),
        (Answer::FailsAfter(used(3), broke_off()), 6),
        (Answer::FailsAfter(used(3), limited), 6),
    ] {
        let model = ScriptedModel::new([answer, text_reply("At last.")]);

        let turn = one_turn(&agents(&model, [], priced), "Try.").await;

        assert_eq!(turn.outcome(), Some(&SessionOutcome::Completed));
        assert_eq!(cost(&turn), None);
        assert_eq!(turn.tokens(), tokens + 20);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_refused_used_nothing() {
    let limited = ModelError::new(ModelErrorCode::RateLimited, "too many calls");
    let model = ScriptedModel::new([Answer::Fails(limited), text_reply("At last.")]);

    let turn = one_turn(&agents(&model, [], priced), "Try.").await;

    assert_eq!(cost(&turn), Some("0.00002".parse().expect("an amount")));
    assert_eq!(turn.tokens(), 20);
}

#[tokio::test(start_paused = true)]
async fn usage_of_interrupted_answers_counts_against_budget() {
    let cut = || Answer::FailsAfter(used(250_000), broke_off());
    let model = ScriptedModel::new([cut(), cut()]);
    let agents = agents(&model, [], |options| {
        priced(options);
        options.retry.tries = 3;
    });
    let budget = Budget::default().with_cost(CostUsd::from_cents(100));

    let mut client = agents.create(spec(budget)).expect("it can be made");
    let mut stream = client.query("Try.".into());
    let mut tokens = 0;
    while let Some(Ok(event)) = futures::StreamExt::next(&mut stream).await {
        if let StreamEvent::Usage { tokens: used, .. } = event {
            tokens += used.total();
        }
        if tokens == 1_000_000 {
            break;
        }
    }
    drop(stream);
    let next = turn_of(client.as_mut(), "Again.").await;

    assert_eq!(next.outcome(), Some(&SessionOutcome::BudgetExceeded));
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn usage_of_abandoned_answer_is_counted() {
    let model = ScriptedModel::new([Answer::HangsAfter(used(5)), text_reply("Here.")]);
    let agents = agents(&model, [], priced);
    let mut client = agents
        .create(spec(Budget::default().with_tokens(30)))
        .expect("it can be made");
    {
        let mut stream = client.query("Wait.".into());
        let minute = std::time::Duration::from_secs(60);
        let drain = async { while futures::StreamExt::next(&mut stream).await.is_some() {} };
        assert!(tokio::time::timeout(minute, drain).await.is_err());
    }

    let turn = turn_of(client.as_mut(), "And now?").await;
    let next = turn_of(client.as_mut(), "And then?").await;

    assert_eq!((turn.tokens(), cost(&turn)), (20, None));
    let spent = Some(&SessionOutcome::BudgetExceeded);
    assert_eq!(
        next.outcome(),
        spent,
        "10 of the first and 20 of the second"
    );
}

#[tokio::test(start_paused = true)]
async fn spent_budget_prevents_compaction() {
    let tool = crate::agent::fixture::TestTool::reads("Look", async |_, _| {
        Ok(autonoe_core::ToolOutput::new("y"))
    });
    let model = ScriptedModel::new([
        calls(&[("c1", "Look", json!({}))]),
        with_stop(text_reply("half"), StopReason::ContextFull),
    ]);
    let agents = agents(&model, [tool], |_| {});
    let budget = Budget::default().with_tokens(40);

    let mut client = agents.create(spec(budget)).expect("it can be made");
    let turn = turn_of(client.as_mut(), "Go.").await;

    assert_eq!(turn.outcome(), Some(&SessionOutcome::BudgetExceeded));
    assert_eq!(turn.tokens(), 40);
}
