//! Tests against hostile text from agents, and against pages of other origins.

use autonoe_dashboard::AlertLine;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::browser::fixture::Fixture;
use crate::browser::sample::{EVIL, fleet};

#[tokio::test(flavor = "multi_thread")]
async fn markup_from_agents_is_not_executed() {
    let mut fleet = fleet();
    fleet.objective = EVIL.to_owned();
    fleet.strategy = EVIL.to_owned();
    for alert in &mut fleet.alerts {
        alert.message = EVIL.to_owned();
        alert.kind = EVIL.to_owned();
    }
    for (number, member) in fleet.members.iter_mut().enumerate() {
        member.id = format!("{number} {EVIL}").into();
        member.backend = EVIL.to_owned();
        member.model = Some(EVIL.to_owned());
        member.task = Some(EVIL.to_owned());
        member.error = Some(EVIL.to_owned());
        member.question = Some(EVIL.to_owned());
        member.log = vec![EVIL.to_owned()];
        member.last_alert = fleet
            .alerts
            .first()
            .cloned()
            .map(|alert: AlertLine| alert.member(EVIL));
    }
    let mut fixture = Fixture::seen(fleet.clone()).await;
    let seen = fixture.browser.text();
    assert!(
        seen.contains("<script>document.title='owned'</script>"),
        "{seen}"
    );
    assert!(seen.contains("<img src=x onerror="), "{seen}");

    // The kill confirmation shows the text, too.
    fixture
        .browser
        .click("#members button[data-action=kill]:not([hidden])");
    fixture.browser.wait_until("ask.open");
    fixture.browser.click("#yes");

    let killed = fixture.next_intent().await;
    assert_eq!(
        killed.member, fleet.members[0].id,
        "any name finds its member"
    );
    assert_eq!(fixture.browser.evaluate("document.images.length"), 0);
    assert_eq!(fixture.browser.evaluate("document.scripts.length"), 1);
    let title = fixture.browser.evaluate("document.title");
    assert!(
        title
            .as_str()
            .is_some_and(|title| title.starts_with("running: ")),
        "{title}"
    );
    assert_eq!(fixture.browser.logged_errors(), Vec::<&Value>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn content_policy_blocks_injected_scripts() {
    let mut fixture = Fixture::seen(fleet()).await;

    let tried = fixture.browser.evaluate(
        "(() => { \
            try { document.body.innerHTML += '<img src=x onerror=\"window.owned=1\">'; } catch (e) { return e.name; } \
            return 'it was let in'; })()",
    );

    assert_eq!(tried, "TypeError");
    let script = "(() => { const s = document.createElement('script'); \
        try { s.textContent = 'window.owned = 1'; document.body.append(s); } catch {} return !!window.owned; })()";
    assert_eq!(fixture.browser.evaluate(script), false);
}

/// Serves an empty page of another origin on this machine.
async fn page_of_another_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("it has one");
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let _ = connection.read(&mut request).await;
            let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n";
            let _ = connection.write_all(page.as_bytes()).await;
        }
    });
    format!("http://{address}/")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_on_another_port_never_sees_the_cookie() {
    let mut fixture = Fixture::seen(fleet()).await;
    let other = page_of_another_port().await;

    for address in [
        other.clone(),
        format!("{other}api/dashboard"),
        format!("{other}v/"),
    ] {
        fixture.browser.open(&address);

        let sent = "Network.requestWillBeSentExtraInfo";
        fixture.browser.until_events(sent, 1, |_| true);
        let sent = fixture.browser.events(sent);
        assert!(!sent.is_empty());
        assert!(
            sent.iter()
                .all(|request| request["headers"]["Cookie"].is_null()),
            "{sent:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_another_port_is_refused_even_with_the_cookie() {
    let mut fixture = Fixture::seen(fleet()).await;
    // As if the page had learnt the unguessable folder.
    let target = fixture
        .browser
        .evaluate("location.href")
        .as_str()
        .expect("an address")
        .to_owned();
    let other = page_of_another_port().await;
    fixture.browser.open(&other);

    let read = fixture.browser.evaluate(&format!(
        "fetch('{target}api/dashboard', {{credentials: 'include'}}).then(a => a.text()).catch(() => 'failed')"
    ));
    let watched = fixture.browser.evaluate(&format!(
        "new Promise(done => {{ const e = new EventSource('{target}api/events', {{withCredentials: true}}); \
         e.addEventListener('snapshot', () => done('read')); e.onerror = () => {{ e.close(); done('failed'); }}; }})"
    ));
    fixture.browser.evaluate(&format!(
        "fetch('{target}api/members/api/kill', {{method: 'POST', mode: 'no-cors', credentials: 'include'}}).catch(() => 'not told')"
    ));

    assert_eq!((read, watched), ("failed".into(), "failed".into()));
    assert!(fixture.intents.try_recv().is_err(), "nothing was asked for");
    // All three requests were sent with the valid cookie, and were refused.
    let (sent, received) = (
        "Network.requestWillBeSentExtraInfo",
        "Network.responseReceivedExtraInfo",
    );
    let with_cookie = |event: &Value| event["headers"]["Cookie"].is_string();
    let refused = |event: &Value| event["statusCode"] == 403;
    fixture.browser.until_events(sent, 3, with_cookie);
    fixture.browser.until_events(received, 3, refused);
    let sent = fixture.browser.events(sent);
    let received = fixture.browser.events(received);
    let counts = (
        sent.iter().filter(|event| with_cookie(event)).count(),
        received.iter().filter(|event| refused(event)).count(),
    );
    assert_eq!(counts, (3, 3), "{sent:?} {received:?}");
}
