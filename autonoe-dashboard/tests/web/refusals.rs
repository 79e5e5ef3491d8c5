//! Tests of refused requests.

use std::sync::Arc;

use autonoe_dashboard::DashboardFeed;
use autonoe_dashboard::web::{ServeError, ViewToken, serve};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::sample::fleet;
use crate::web::fixture::Fixture;

#[tokio::test]
async fn a_port_that_other_machines_reach_is_not_served() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        let Ok(listener) = TcpListener::bind(address).await else {
            assert_ne!(address, "0.0.0.0:0", "there is always such a port");
            continue;
        };
        let (intents, _receiver) = mpsc::channel(1);
        let token = ViewToken::random().expect("there is randomness");
        let source = Arc::new(DashboardFeed::new(fleet()));

        let refused = serve(listener, token, source, intents);

        assert!(
            matches!(refused, Err(ServeError::NotLoopback(_))),
            "{refused:?}"
        );
    }
}

const COOKIE: &str = "Cookie: autonoe-dashboard={secret}";
const BEARER: &str = "Authorization: Bearer {secret}";

#[tokio::test]
async fn invalid_requests_get_their_status() {
    let mut fixture = Fixture::new().await;
    for (status, head) in [
        // Without the secret, for any path.
        (401, &["GET / HTTP/1.1", "Host: {host}"][..]),
        (401, &["GET /?token=wrong HTTP/1.1", "Host: {host}"]),
        (401, &["GET /?token=wrong HTTP/1.1", "Host: {host}", COOKIE]),
        (401, &["GET /api/dashboard HTTP/1.1", "Host: {host}"]),
        (
            401,
            &["GET /api/dashboard?token={secret} HTTP/1.1", "Host: {host}"],
        ),
        (
            401,
            &[
                "GET /api/events HTTP/1.1",
                "Host: {host}",
                "Cookie: autonoe-dashboard={secret}",
            ],
        ),
        (401, &["GET /nothing HTTP/1.1", "Host: {host}"]),
        (
            401,
            &[
                "POST /api/members/api/pause HTTP/1.1",
                "Host: {host}",
                "Origin: http://{host}",
            ],
        ),
        (
            401,
            &[
                "GET / HTTP/1.1",
                "Host: {host}",
                "Authorization: Bearer wrong",
                COOKIE,
            ],
        ),
        // With another host name, as after DNS rebinding.
        (403, &["GET / HTTP/1.1", "Host: evil.example", BEARER]),
        (
            403,
            &["GET /?token={secret} HTTP/1.1", "Host: evil.example:{port}"],
        ),
        (403, &["GET / HTTP/1.0", BEARER]),
        // From a page of another site or port.
        (
            403,
            &[
                "POST {folder}/api/members/api/pause HTTP/1.1",
                "Host: {host}",
                COOKIE,
            ],
        ),
        (
            403,
            &[
                "POST {folder}/api/members/api/pause HTTP/1.1",
                "Host: {host}",
                COOKIE,
                "Origin: null",
            ],
        ),
        (
            403,
            &[
                "POST {folder}/api/members/api/pause HTTP/1.1",
                "Host: {host}",
                COOKIE,
                "Origin: http://127.0.0.1:1",
            ],
        ),
        (
            403,
            &[
                "POST /api/members/api/pause HTTP/1.1",
                "Host: {host}",
                BEARER,
                "Origin: http://evil.example",
            ],
        ),
        (
            403,
            &[
                "GET {folder}/api/dashboard HTTP/1.1",
                "Host: {host}",
                COOKIE,
                "Sec-Fetch-Site: same-site",
            ],
        ),
        // Unknown addresses.
        (404, &["GET /nothing HTTP/1.1", "Host: {host}", BEARER]),
        (
            404,
            &["GET {folder}/page.html HTTP/1.1", "Host: {host}", COOKIE],
        ),
        (
            404,
            &[
                "POST /api/members/api/explode HTTP/1.1",
                "Host: {host}",
                BEARER,
            ],
        ),
        (
            404,
            &[
                "POST /api/members/nobody/pause HTTP/1.1",
                "Host: {host}",
                BEARER,
            ],
        ),
        (405, &["POST / HTTP/1.1", "Host: {host}", BEARER]),
        (
            405,
            &["PUT /api/dashboard HTTP/1.1", "Host: {host}", BEARER],
        ),
        (
            405,
            &["GET /api/members/api/kill HTTP/1.1", "Host: {host}", BEARER],
        ),
        // Invalid requests.
        (
            409,
            &[
                "POST /api/members/api/resume HTTP/1.1",
                "Host: {host}",
                BEARER,
            ],
        ),
        (
            409,
            &[
                "POST /api/members/docs/kill HTTP/1.1",
                "Host: {host}",
                BEARER,
            ],
        ),
        (
            415,
            &[
                "POST /api/members/api/instruct HTTP/1.1",
                "Host: {host}",
                BEARER,
            ],
        ),
    ] {
        let answer = fixture.request(head, "").await;

        assert_eq!(answer.status, status, "{head:?}: {answer:?}");
        for text in ["Build the shop", "api", "<title>"] {
            assert!(!answer.body.contains(text), "{head:?}: {answer:?}");
        }
        assert_eq!(answer.header("set-cookie"), None, "{head:?}");
    }
    assert!(fixture.intents.try_recv().is_err(), "nothing was asked for");
}

#[tokio::test]
async fn any_bytes_leave_the_server_as_it_was() {
    let fixture = Fixture::new().await;
    let mut state = 7_u64;
    for round in 0..64 {
        let mut request = String::from(if round % 2 == 0 { "" } else { "GET /" });
        for _ in 0..200 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            request.push(char::from((state >> 33) as u8 & 0x7f));
        }
        drop(fixture.send(&request).await);
    }

    let answer = fixture.ask_as_program("GET /api/dashboard", "").await;

    assert_eq!(answer.status, 200);
}
