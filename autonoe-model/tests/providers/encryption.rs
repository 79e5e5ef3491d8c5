//! Tests of encrypted connections: trusted and untrusted certificates, and the errors.

use std::process::Command;
use std::sync::Arc;

use autonoe_model::ModelErrorCode::{InvalidResponse, ProviderNotConfigured};
use autonoe_model::provider::{ProviderContext, provider_spec};
use autonoe_model::transport::{SystemAuthorities, Trust};
use autonoe_model::{ModelClient, ModelRequest};
use futures::FutureExt;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::providers::raw_server::{ENDED, MESSAGE_START, RawServer, stream};
use crate::providers::support::{KEY, call, failure, model, tried_twice};
use crate::providers::tls_front::{Flaw, TlsFront};

async fn answering() -> RawServer {
    RawServer::once([stream(&format!("{MESSAGE_START}{ENDED}"))]).await
}

async fn answer(model: &Arc<dyn ModelClient>) -> String {
    let (_, end) = call(model, &ModelRequest::prompt("Hi.")).await;
    end.expect("it answers").message.to_text()
}

/// Returns a model at `url` with the certificate authorities of its context.
fn trusting(url: &str, context: &ProviderContext) -> Arc<dyn ModelClient> {
    let spec = json!({"type": "anthropic", "baseUrl": url, "key": {"value": KEY}});
    let provider = provider_spec(&spec).expect("a spec").build(context);
    provider.expect("it builds").model("model-x").expect("one")
}

#[tokio::test]
async fn a_server_with_a_configured_authority_is_trusted() {
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("authority.pem");
    for kind in ["text", "file"] {
        for system in ["trusted", "ignored"] {
            let server = answering().await;
            let front = TlsFront::before(&server.url(), Flaw::None).await;
            std::fs::write(&file, front.authority()).expect("writable");
            let trust = match kind {
                "text" => json!({"pem": front.authority(), "system": system}),
                _ => json!({"files": [file], "system": system}),
            };
            let model = model("anthropic", &front.url(), &json!({"trust": trust}));

            assert_eq!(answer(&model).await, "Hi.", "{kind} {system}");
            assert_eq!(server.requests()[0].header("x-api-key"), Some(KEY));
        }
    }
}

#[tokio::test]
async fn a_server_with_an_unknown_authority_gets_no_key_and_no_retry() {
    let server = answering().await;
    let front = TlsFront::before(&server.url(), Flaw::None).await;
    let other = TlsFront::before(&server.url(), Flaw::None).await;
    for trust in [
        json!({"pem": other.authority(), "system": "ignored"}),
        json!({"pem": other.authority()}),
    ] {
        let before = front.connections();
        let model = model("anthropic", &front.url(), &json!({"trust": trust}));

        let error = failure(&tried_twice(model)).await;

        assert_eq!(error.code, ProviderNotConfigured, "{error:?}");
        let expected = "the certificate of 127.0.0.1:";
        assert!(error.message.starts_with(expected), "{error}");
        assert!(error.message.contains("UnknownIssuer"), "{error}");
        assert!(error.message.contains("`trust`"), "{error}");
        assert_eq!(front.connections() - before, 1);
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_certificate_of_another_place_or_time_is_refused() {
    let server = answering().await;
    for (flaw, words) in [
        (Flaw::AnotherName, "not valid for name"),
        (Flaw::Expired, "expired"),
    ] {
        let front = TlsFront::before(&server.url(), flaw).await;
        let trust = json!({"trust": {"pem": front.authority()}});
        let model = model("anthropic", &front.url(), &trust);

        let error = failure(&tried_twice(model)).await;

        assert_eq!(error.code, ProviderNotConfigured, "{error:?}");
        assert!(error.message.contains(words), "{error}");
        assert_eq!(front.connections(), 1);
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_failed_handshake_falls_back_to_no_plain_connection_and_is_not_retried() {
    let server = answering().await;
    let front = TlsFront::before(&server.url(), Flaw::None).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let plain = tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.expect("a client");
        let mut seen = vec![0; 4096];
        let length = client.read(&mut seen).await.expect("readable");
        let answer = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
        client.write_all(answer).await.expect("writable");
        (
            String::from_utf8_lossy(&seen[..length]).into_owned(),
            listener,
        )
    });
    let trust = json!({"trust": {"pem": front.authority(), "system": "ignored"}});
    let model = model("anthropic", &format!("https://{address}"), &trust);

    let error = failure(&tried_twice(model)).await;

    assert_eq!(error.code, InvalidResponse, "{error:?}");
    let expected = format!("the connection to {address} cannot be encrypted");
    assert!(error.message.starts_with(&expected), "{error}");
    let (seen, listener) = plain.await.expect("it was asked");
    assert!(!seen.contains("POST") && !seen.contains(KEY), "{seen}");
    assert!(
        listener.accept().now_or_never().is_none(),
        "nobody comes again"
    );
}

#[tokio::test]
async fn all_providers_trust_whom_their_context_does() {
    let server = answering().await;
    let front = TlsFront::before(&server.url(), Flaw::None).await;
    let trust = Trust {
        system: SystemAuthorities::Ignored,
        pem: Some(front.authority().into()),
        ..Trust::default()
    };
    let context = ProviderContext::new("work").with_trust(trust);

    assert_eq!(answer(&trusting(&front.url(), &context)).await, "Hi.");
}

#[tokio::test]
async fn environment_selects_system_certificates() {
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("bundle.pem");
    for (name, value) in [
        ("SSL_CERT_FILE", file.as_os_str()),
        ("SSL_CERT_DIR", place.path().as_os_str()),
    ] {
        let server = answering().await;
        let front = TlsFront::before(&server.url(), Flaw::None).await;
        std::fs::write(&file, front.authority()).expect("writable");
        let context =
            ProviderContext::new("work").with_environment([(name.into(), value.to_owned())]);

        assert_eq!(answer(&trusting(&front.url(), &context)).await, "Hi.");
    }
}

#[tokio::test]
async fn the_environment_of_the_process_is_ignored() {
    const SERVER: &str = "AUTONOE_TEST_SERVER";
    let server = answering().await;
    let other = TlsFront::before(&server.url(), Flaw::None).await;
    let trust = json!({"trust": {"pem": other.authority()}});
    if let Ok(url) = std::env::var(SERVER) {
        // This is the child process. Its environment contains the authority of the server.
        let error = failure(&model("anthropic", &url, &trust)).await;
        assert_eq!(error.code, ProviderNotConfigured, "{error:?}");
        return;
    }
    let front = TlsFront::before(&server.url(), Flaw::None).await;
    let place = tempfile::tempdir().expect("a directory");
    let file = place.path().join("authority.pem");
    std::fs::write(&file, front.authority()).expect("writable");

    let mut child = Command::new(std::env::current_exe().expect("this program"));
    child
        .arg("--exact")
        .arg("providers::encryption::the_environment_of_the_process_is_ignored")
        .env(SERVER, front.url())
        .env("SSL_CERT_FILE", file)
        .env("SSL_CERT_DIR", place.path());
    let ended = tokio::task::spawn_blocking(move || child.output()).await;

    let ended = ended.expect("no panic").expect("it runs");
    let output = String::from_utf8_lossy(&ended.stdout);
    assert!(
        ended.status.success() && output.contains("1 passed"),
        "{output}"
    );
    assert_eq!(front.connections(), 1);
}
