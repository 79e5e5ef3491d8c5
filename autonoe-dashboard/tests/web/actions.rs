//! Tests of intents over HTTP.

use autonoe_dashboard::{FleetAction, FleetIntent};

use crate::web::fixture::Fixture;

#[tokio::test]
async fn accepted_actions_are_delivered_and_confirmed() {
    let mut fixture = Fixture::new().await;
    let instruct = FleetAction::Instruct {
        text: "Use \"postgres\"\nplease".to_owned(),
    };
    for (line, body, member, action) in [
        ("POST /api/members/api/pause", "", "api", FleetAction::Pause),
        (
            "POST /api/members/api/pause",
            "{}",
            "api",
            FleetAction::Pause,
        ),
        (
            "POST /api/members/pages/resume",
            "",
            "pages",
            FleetAction::Resume,
        ),
        ("POST /api/members/api/stop", "", "api", FleetAction::Stop),
        (
            "POST /api/members/p%61ges/kill",
            "",
            "pages",
            FleetAction::Kill,
        ),
        (
            "POST /api/members/api/instruct",
            r#"{"text": "Use \"postgres\"\nplease"}"#,
            "api",
            instruct,
        ),
    ] {
        let answer = fixture.ask_as_program(line, body).await;

        assert_eq!(answer.status, 202, "{line}: {answer:?}");
        let expected = FleetIntent {
            member: member.into(),
            action,
        };
        let accepted: FleetIntent = serde_json::from_str(&answer.body).expect("an intent");
        assert_eq!(accepted, expected, "{line}");
        assert_eq!(fixture.intents.recv().await, Some(expected), "{line}");
    }
}

#[tokio::test]
async fn a_page_of_this_server_may_ask_with_its_cookie() {
    let mut fixture = Fixture::new().await;
    let head = [
        "POST {folder}/api/members/api/pause HTTP/1.1",
        "Host: {host}",
        "Origin: http://{host}",
        "Sec-Fetch-Site: same-origin",
        "Cookie: autonoe-dashboard={secret}",
        "Content-Length: 0",
    ];

    assert_eq!(fixture.request(&head, "").await.status, 202);

    let intent = fixture.intents.recv().await.expect("it was asked for");
    assert_eq!(
        (intent.member.as_str(), intent.action),
        ("api", FleetAction::Pause)
    );
}

#[tokio::test]
async fn bodies_that_do_not_fit_are_refused() {
    let mut fixture = Fixture::new().await;
    let long = format!(r#"{{"text": "{}"}}"#, "x".repeat(70_000));
    for (line, body, status) in [
        ("POST /api/members/api/pause", "now", 400),
        ("POST /api/members/api/kill", r#"{"really": true}"#, 400),
        ("POST /api/members/api/instruct", "", 400),
        ("POST /api/members/api/instruct", "{}", 400),
        ("POST /api/members/api/instruct", r#"{"text": "  \n"}"#, 400),
        ("POST /api/members/api/instruct", r#"{"text": 5}"#, 400),
        (
            "POST /api/members/api/instruct",
            r#"{"text": "a", "as": "root"}"#,
            400,
        ),
        ("POST /api/members/api/instruct", "{", 400),
    ] {
        let answer = fixture.ask_as_program(line, body).await;
        assert_eq!(answer.status, status, "{line} {body}: {answer:?}");
    }
    // A declared length above the limit is refused without reading the body.
    let head = [
        "POST /api/members/api/instruct HTTP/1.1",
        "Host: {host}",
        "Authorization: Bearer {secret}",
        "Content-Type: application/json",
        "Content-Length: 70010",
    ];
    assert_eq!(fixture.request(&head, "").await.status, 413);
    // A body without a declared length is read up to the limit.
    let head = [&head[..4], &["Transfer-Encoding: chunked"]].concat();
    let chunk = format!("{}\r\n\r\n{:x}\r\n{long}", head.join("\r\n"), long.len());
    let mut events = fixture.send_and_read(&chunk).await;
    assert!(events.until("413").await);
    assert!(fixture.intents.try_recv().is_err(), "nothing was asked for");
}

#[tokio::test]
async fn undelivered_actions_are_answered_with_503() {
    let mut fixture = Fixture::new().await;
    for expected in [202, 202, 503] {
        let answer = fixture
            .ask_as_program("POST /api/members/api/pause", "")
            .await;
        assert_eq!(answer.status, expected, "there is room for two: {answer:?}");
    }

    fixture.intents.close();
    let answer = fixture
        .ask_as_program("POST /api/members/api/pause", "")
        .await;

    assert_eq!(answer.status, 503);
    assert!(
        answer.body.contains("the fleet accepts no more requests"),
        "{answer:?}"
    );
}
