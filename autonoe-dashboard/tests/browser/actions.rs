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
    let mut setting = Fixture::seen(fleet()).await;

    setting.browser.click("[aria-label='Pause api']");

    assert_eq!(
        setting.next_intent().await,
        intent("api", FleetAction::Pause)
    );
    setting.browser.until_shown("sent to api: pause");
    // The member is paused when the fleet says so, and can be resumed then.
    setting
        .feed
        .update(|fleet| fleet.members[0].status = MemberRowStatus::Paused);
    setting
        .browser
        .until("!document.querySelector(\"[aria-label='Resume api']\").hidden");
    setting.browser.click("[aria-label='Resume api']");
    assert_eq!(
        setting.next_intent().await,
        intent("api", FleetAction::Resume)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_requires_confirmation() {
    let mut setting = Fixture::seen(fleet()).await;

    setting.browser.click("[aria-label='Kill api']");
    setting
        .browser
        .until_shown("Kill api and all its processes? Unsaved work is lost.");
    setting.browser.click("#no");
    setting.browser.until("!ask.open");
    setting.browser.click("[aria-label='Kill pages']");
    setting
        .browser
        .until_shown("Kill pages and all its processes? Unsaved work is lost.");
    setting.browser.click("#yes");

    assert_eq!(
        setting.next_intent().await,
        intent("pages", FleetAction::Kill)
    );
    assert!(
        setting.asked.try_recv().is_err(),
        "the other one was not killed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn instruction_text_reaches_the_fleet() {
    let mut setting = Fixture::seen(fleet()).await;
    let text = "Use \"postgres\" <b>ü</b>";

    setting.browser.click("[aria-label='Instruct api']");
    setting.browser.until("ask.open");
    setting.browser.click("#text");
    setting
        .browser
        .call("Input.insertText", &json!({ "text": text }));
    setting.browser.click("#yes");

    let text = text.to_owned();
    assert_eq!(
        setting.next_intent().await,
        intent("api", FleetAction::Instruct { text })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_actions_show_errors_and_invalid_ones_are_hidden() {
    let mut setting = Fixture::seen(fleet()).await;
    let offered =
        |label: &str| format!("!document.querySelector(\"[aria-label='{label}']\").hidden");
    for (label, expected) in [
        ("Pause api", true),
        ("Resume api", false),
        ("Resume pages", true),
        ("Kill docs", false),
        ("Stop tests", false),
    ] {
        let found = setting.browser.evaluate(&offered(label));
        assert_eq!(found, Value::from(expected), "{label}");
    }

    setting.asked.close();
    setting.browser.click("[aria-label='Stop api']");

    setting
        .browser
        .until_shown("not sent: the fleet accepts no more requests");
}
