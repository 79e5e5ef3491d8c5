//! Tests of page updates when the fleet or the server changes.

use autonoe_dashboard::{Dashboard, FleetPhase, MemberRow, MemberRowStatus, Progress};

use crate::browser::fixture::{Fixture, serve_at};
use crate::browser::sample::{fleet, member};

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_the_fleet_and_updates_without_a_reload() {
    let mut fixture = Fixture::seen(fleet()).await;
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
        fixture.browser.wait_for_text(text);
    }
    fixture
        .browser
        .evaluate("window.mark = 1; document.querySelector('details').open = true");

    fixture.feed.update(|fleet| {
        fleet.phase = FleetPhase::Succeeded;
        fleet.members[0].progress = Progress::new(0.75);
        fleet.members[0].task = Some("Write the tests".to_owned());
        fleet.members.remove(1);
        fleet.members.push(MemberRow::new("late", "gemini"));
        fleet.update_totals();
    });

    for text in ["succeeded", "75%", "Write the tests", "late"] {
        fixture.browser.wait_for_text(text);
    }
    let is_removed = "!document.body.innerText.includes('Draw the pages')";
    fixture.browser.wait_until(is_removed);
    let bar = "document.querySelector('progress').value === 0.75";
    fixture.browser.wait_until(bar);
    assert_eq!(
        fixture.browser.evaluate("window.mark"),
        1,
        "it was not loaded again"
    );
    assert_eq!(
        fixture
            .browser
            .evaluate("document.querySelector('details').open"),
        true
    );
    assert_eq!(
        fixture.browser.logged_errors(),
        Vec::<&serde_json::Value>::new()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_the_question_of_an_agent_until_it_is_answered() {
    let mut fixture = Fixture::seen(fleet()).await;
    assert!(!fixture.browser.text().contains("asks:"));

    fixture
        .feed
        .update(|fleet| fleet.members[0].question = Some("Which port?".to_owned()));

    fixture.browser.wait_for_text("asks: Which port?");
    let row = "[...document.querySelectorAll('#members tr')]
        .find(row => row.innerText.includes('asks: Which port?'))";
    let member = fixture
        .browser
        .evaluate(&format!("{row}.querySelector('th div').innerText"));
    assert_eq!(member, "api");
    let resume = "document.querySelector(\"[aria-label='Resume api']\")";
    let is_hidden = fixture.browser.evaluate(&format!("{resume}.hidden"));
    assert_eq!(is_hidden, false);

    fixture
        .feed
        .update(|fleet| fleet.members[0].question = None);

    fixture
        .browser
        .wait_until("!document.body.innerText.includes('asks:')");
    let is_hidden = fixture.browser.evaluate(&format!("{resume}.hidden"));
    assert_eq!(is_hidden, true);
}

#[tokio::test(flavor = "multi_thread")]
async fn secret_is_hidden_from_address_and_scripts() {
    let mut fixture = Fixture::seen(fleet()).await;

    let address = fixture.address();
    let href = fixture
        .browser
        .evaluate("location.href")
        .as_str()
        .expect("an address")
        .to_owned();
    assert!(href.starts_with(&format!("{address}v/")), "{href}");
    assert!(!fixture.server.url().contains(&href), "{href}");
    assert!(!href.contains("token"), "{href}");
    assert_eq!(fixture.browser.evaluate("document.cookie"), "");

    // The cookie is sufficient from now on.
    fixture.browser.open(&href);
    fixture.browser.wait_for_text("Write the handlers");
    let requests: Vec<_> = fixture.browser.requests();
    let is_local = |url: &&str| url.starts_with(&address) || url.starts_with("data:");
    assert!(requests.iter().all(is_local), "{requests:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_secret_reveals_nothing() {
    let mut fixture = Fixture::start(fleet()).await;
    let address = fixture.address();

    for wrong in [format!("{address}?token=wrong"), address] {
        fixture.browser.open(&wrong);

        let seen = fixture.browser.text();
        assert!(seen.contains("the token is missing or wrong"), "{seen}");
        for text in ["Build the shop", "api", "Members"] {
            assert!(!seen.contains(text), "{seen}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_the_loss_and_the_return_of_the_server() {
    let fixture = Fixture::seen(fleet()).await;
    let Fixture {
        server,
        feed,
        mut browser,
        ..
    } = fixture;
    let address = server.address();
    browser.evaluate("window.mark = 1");

    server.shutdown().await;

    browser.wait_for_text("disconnected");
    let seen = browser.text();
    assert!(
        seen.contains("Write the handlers"),
        "what was seen stays: {seen}"
    );

    feed.update(|fleet| fleet.objective = "Build two shops".to_owned());
    let (_server, _intents) = serve_at(address, &feed).await;

    browser.wait_for_text("live");
    browser.wait_for_text("Build two shops");
    assert_eq!(
        browser.evaluate("window.mark"),
        1,
        "it was not loaded again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn hundreds_of_members_are_listed_and_can_be_filtered() {
    let many = (0..600).map(|n| member(&format!("m{n:03}"), MemberRowStatus::Running, 0.5));
    let mut fixture =
        Fixture::seen(Dashboard::new("Much", "parallel").with_members(many.collect())).await;
    let rows = "document.querySelectorAll('#members tr').length";
    assert_eq!(fixture.browser.evaluate(rows), 600);

    fixture.feed.update(|fleet| {
        for member in &mut fleet.members {
            member.progress = Progress::new(0.9);
        }
    });
    fixture.browser.wait_until(
        "[...document.querySelectorAll('#members progress')].every(bar => bar.value === 0.9)",
    );

    fixture
        .browser
        .evaluate("filter.value = 'm59'; filter.dispatchEvent(new Event('input'))");
    fixture.browser.wait_for_text("10 of 600");
    let visible_rows =
        "[...document.querySelectorAll('#members tr')].filter(row => !row.hidden).length";
    assert_eq!(fixture.browser.evaluate(visible_rows), 10);
}
