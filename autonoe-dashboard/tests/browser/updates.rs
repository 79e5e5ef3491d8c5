//! Tests of page updates when the fleet or the server changes.

use autonoe_dashboard::{Dashboard, FleetPhase, MemberRow, MemberRowStatus, Progress};

use crate::browser::fixture::{Fixture, serve_at};
use crate::browser::sample::{fleet, member};

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_the_fleet_and_changes_without_being_loaded_again() {
    let mut setting = Fixture::seen(fleet()).await;
    for text in [
        "Build the shop",
        "parallel",
        "1h 5s",
        "1 of 4",
        "≥ $1.70",
        "12.3K",
        "api",
        "claude · sonnet",
        "Write the handlers",
        "45%",
        "$1.50",
        "pages",
        "99%",
        "≥ $0.20",
        "tests",
        "unknown",
        "the model is gone",
        "five times the same",
        "docs",
        "100%",
        "stuck (tests): five times the same",
    ] {
        setting.browser.until_shown(text);
    }
    setting
        .browser
        .evaluate("window.mark = 1; document.querySelector('details').open = true");

    setting.feed.update(|fleet| {
        fleet.phase = FleetPhase::Succeeded;
        fleet.members[0].progress = Progress::new(0.75);
        fleet.members[0].task = Some("Write the tests".to_owned());
        fleet.members.remove(1);
        fleet.members.push(MemberRow::new("late", "gemini"));
        fleet.update_totals();
    });

    for text in ["succeeded", "75%", "Write the tests", "late"] {
        setting.browser.until_shown(text);
    }
    let gone = "!document.body.innerText.includes('Draw the pages')";
    setting.browser.until(gone);
    let bar = "document.querySelector('progress').value === 0.75";
    setting.browser.until(bar);
    assert_eq!(
        setting.browser.evaluate("window.mark"),
        1,
        "it was not loaded again"
    );
    assert_eq!(
        setting
            .browser
            .evaluate("document.querySelector('details').open"),
        true
    );
    assert_eq!(
        setting.browser.complaints(),
        Vec::<&serde_json::Value>::new()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_the_question_of_an_agent_until_it_is_answered() {
    let mut setting = Fixture::seen(fleet()).await;
    assert!(!setting.browser.text().contains("asks:"));

    setting
        .feed
        .update(|fleet| fleet.members[0].question = Some("Which port?".to_owned()));

    setting.browser.until_shown("asks: Which port?");
    let row = "[...document.querySelectorAll('#members tr')]
        .find(row => row.innerText.includes('asks: Which port?'))";
    let member = setting
        .browser
        .evaluate(&format!("{row}.querySelector('th div').innerText"));
    assert_eq!(member, "api");
    let resume = "document.querySelector(\"[aria-label='Resume api']\")";
    let is_hidden = setting.browser.evaluate(&format!("{resume}.hidden"));
    assert_eq!(is_hidden, false);

    setting
        .feed
        .update(|fleet| fleet.members[0].question = None);

    setting
        .browser
        .until("!document.body.innerText.includes('asks:')");
    let is_hidden = setting.browser.evaluate(&format!("{resume}.hidden"));
    assert_eq!(is_hidden, true);
}

#[tokio::test(flavor = "multi_thread")]
async fn secret_is_hidden_from_address_and_scripts() {
    let mut setting = Fixture::seen(fleet()).await;

    let address = setting.address();
    let shown = setting.browser.evaluate("location.href");
    let shown = shown.as_str().expect("an address").to_owned();
    assert!(shown.starts_with(&format!("{address}v/")), "{shown}");
    assert!(!setting.server.url().contains(&shown), "{shown}");
    assert!(!shown.contains("token"), "{shown}");
    assert_eq!(setting.browser.evaluate("document.cookie"), "");

    // The cookie is sufficient from now on.
    setting.browser.open(&shown);
    setting.browser.until_shown("Write the handlers");
    let elsewhere: Vec<_> = setting.browser.requests();
    let ours = |asked: &&str| asked.starts_with(&address) || asked.starts_with("data:");
    assert!(elsewhere.iter().all(ours), "{elsewhere:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_secret_shows_nothing() {
    let mut setting = Fixture::start(fleet()).await;
    let address = setting.address();

    for wrong in [format!("{address}?token=wrong"), address] {
        setting.browser.open(&wrong);

        let seen = setting.browser.text();
        assert!(seen.contains("the token is missing or wrong"), "{seen}");
        for told in ["Build the shop", "api", "Members"] {
            assert!(!seen.contains(told), "{seen}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_server_is_seen_and_its_return_too() {
    let setting = Fixture::seen(fleet()).await;
    let Fixture {
        server,
        feed,
        mut browser,
        ..
    } = setting;
    let address = server.address();
    browser.evaluate("window.mark = 1");

    server.shutdown().await;

    browser.until_shown("disconnected");
    let seen = browser.text();
    assert!(
        seen.contains("Write the handlers"),
        "what was seen stays: {seen}"
    );

    feed.update(|fleet| fleet.objective = "Build two shops".to_owned());
    let (_server, _asked) = serve_at(address, &feed).await;

    browser.until_shown("live");
    browser.until_shown("Build two shops");
    assert_eq!(
        browser.evaluate("window.mark"),
        1,
        "it was not loaded again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn hundreds_of_members_are_shown_and_found() {
    let many = (0..600).map(|n| member(&format!("m{n:03}"), MemberRowStatus::Running, 0.5));
    let mut setting =
        Fixture::seen(Dashboard::new("Much", "parallel").with_members(many.collect())).await;
    let rows = "document.querySelectorAll('#members tr').length";
    assert_eq!(setting.browser.evaluate(rows), 600);

    setting.feed.update(|fleet| {
        for member in &mut fleet.members {
            member.progress = Progress::new(0.9);
        }
    });
    setting.browser.until(
        "[...document.querySelectorAll('#members progress')].every(bar => bar.value === 0.9)",
    );

    setting
        .browser
        .evaluate("filter.value = 'm59'; filter.dispatchEvent(new Event('input'))");
    setting.browser.until_shown("10 of 600");
    let shown = "[...document.querySelectorAll('#members tr')].filter(row => !row.hidden).length";
    assert_eq!(setting.browser.evaluate(shown), 10);
}
