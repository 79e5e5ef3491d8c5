//! Tests of user actions in the page.

use autonoe_dashboard::{FleetAction, FleetIntent, MemberRowStatus};
use serde_json::{Value, json};

use crate::browser::fixture::Fixture;
use crate::browser::sample::fleet;

fn intent(member: &str, action: FleetAction) -> FleetIntent {
    FleetIntent {
        member: member.into(),
        action,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_on_pause_arrives() {
    let mut fixture = Fixture::seen(fleet()).await;

    fixture.browser.click("[aria-label='Pause api']");

    assert_eq!(
        fixture.next_intent().await,
        intent("api", FleetAction::Pause)
    );
    fixture.browser.wait_for_text("sent to api: pause");
    // The member is paused when the fleet says so, and can be resumed then.
    fixture
        .feed
        .update(|fleet| fleet.members[0].status = MemberRowStatus::Paused);
    fixture
        .browser
        .wait_until("!document.querySelector(\"[aria-label='Resume api']\").hidden");
    fixture.browser.click("[aria-label='Resume api']");
    assert_eq!(
        fixture.next_intent().await,
        intent("api", FleetAction::Resume)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_requires_confirmation() {
    let mut fixture = Fixture::seen(fleet()).await;

    fixture.browser.click("[aria-label='Kill api']");
    fixture
        .browser
        .wait_for_text("Kill api and all its processes? Unsaved work is lost.");
    fixture.browser.click("#no");
    fixture.browser.wait_until("!ask.open");
    fixture.browser.click("[aria-label='Kill pages']");
    fixture
        .browser
        .wait_for_text("Kill pages and all its processes? Unsaved work is lost.");
    fixture.browser.click("#yes");

    assert_eq!(
        fixture.next_intent().await,
        intent("pages", FleetAction::Kill)
    );
    assert!(
        fixture.intents.try_recv().is_err(),
        "the other one was not killed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn instruction_text_reaches_the_fleet() {
    let mut fixture = Fixture::seen(fleet()).await;
    let text = "Use \"postgres\" <b>ü</b>";

    fixture.browser.click("[aria-label='Instruct api']");
    fixture.browser.wait_until("ask.open");
    fixture.browser.click("#text");
    fixture
        .browser
        .call("Input.insertText", &json!({ "text": text }));
    fixture.browser.click("#yes");

    let text = text.to_owned();
    assert_eq!(
        fixture.next_intent().await,
        intent("api", FleetAction::Instruct { text })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_actions_show_errors_and_invalid_ones_are_hidden() {
    let mut fixture = Fixture::seen(fleet()).await;
    let offered =
        |label: &str| format!("!document.querySelector(\"[aria-label='{label}']\").hidden");
    for (label, expected) in [
        ("Pause api", true),
        ("Resume api", false),
        ("Resume pages", true),
        ("Kill docs", false),
        ("Stop tests", false),
    ] {
        let found = fixture.browser.evaluate(&offered(label));
        assert_eq!(found, Value::from(expected), "{label}");
    }

    fixture.intents.close();
    fixture.browser.click("[aria-label='Stop api']");

    fixture
        .browser
        .wait_for_text("not sent: the fleet accepts no more requests");
}
