//! Tests that secrets and messages do not leak into logs.

use autonoe_core::tool::McpServer;
use autonoe_mcp::{HttpToolServer, TOKEN_VARIABLE, bridge_stdio};
use autonoe_testkit::CapturedLogs;
use serde_json::json;

use crate::fixture::{named, serve, soon};
use crate::raw::{head, request, status};

#[tokio::test]
async fn logs_and_debug_output_hide_secrets_and_content() {
    let logs = CapturedLogs::start();
    let server = HttpToolServer::new();
    let (served, _) = serve(&server, "mine").await;
    let (url, secret) = named(&served);
    let token = secret.strip_prefix("Bearer ").expect("a bearer");
    let call = request(
        "tools/call",
        &json!({"name": "act", "arguments": {"do": "say", "text": "opensesame"}}),
    );
    let with = |secret: &str, body: &str| {
        let head = head(&url, secret);
        format!("{head}content-length: {}\r\n\r\n{body}", body.len())
    };

    let mut statuses = Vec::new();
    for request in [
        with(&secret, &call),
        with(&format!("{secret}0"), &call),
        with(&secret, "{\"opensesame"),
        with(&secret, &call).replace("application/json", "text/opensesame"),
    ] {
        statuses.push(soon(status(&url, &request)).await);
    }
    let by_command = HttpToolServer::new().by_command("autonoe");
    let (bridged, _) = serve(&by_command, "mine").await;
    let McpServer::Stdio { args, env, .. } = &bridged.server else {
        panic!("it is configured as a command");
    };
    let mut output = Vec::new();
    let crossed = bridge_stdio(&args[2], &env[TOKEN_VARIABLE], call.as_bytes(), &mut output);
    soon(crossed).await.expect("it ends well");

    assert_eq!(statuses, [200, 401, 400, 415]);
    assert!(String::from_utf8_lossy(&output).contains("opensesame"));
    let logged = format!("{:?}", logs.lines());
    assert!(logged.contains("refused"), "something is logged: {logged}");
    let formatted = format!(
        "{logged} {server:?} {served:?} {:?} {:?}",
        served.server, bridged.server
    );
    for hidden in [token, env[TOKEN_VARIABLE].as_str(), "opensesame"] {
        assert!(!formatted.contains(hidden), "{formatted}");
    }
}
