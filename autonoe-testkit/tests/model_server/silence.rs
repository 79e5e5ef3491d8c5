//! Servers that stop responding, and servers that are stopped.

use autonoe_testkit::model_server::Ending;
use autonoe_testkit::model_server::anthropic::{
    AnthropicServer, FaultPosition, ScriptedMessage, StreamFault, Turn,
};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use crate::model_server::client::{TIMEOUT, open, streamed};

async fn send_request(server: &AnthropicServer) -> TcpStream {
    let body = streamed("go").to_string();
    open(server, "POST", "/v1/messages", &body).await
}

/// Silence from the start, and silence in the middle of a stream.
fn silences() -> [Turn; 2] {
    let message = ScriptedMessage::new().says("I was about to");
    [
        Turn::hang(),
        message
            .breaks(FaultPosition::InBlock(0), StreamFault::Hang)
            .into(),
    ]
}

#[tokio::test]
async fn silence_lasts_until_the_client_leaves() {
    for turn in silences() {
        let server = AnthropicServer::start([turn.clone()]);
        let client = send_request(&server).await;

        let under_way = server.log().wait_for(TIMEOUT, |seen| seen.number == 1);
        assert_eq!(under_way.await.unwrap().ending, None, "{turn:?}");
        drop(client);

        let ended = server.log().wait_for(TIMEOUT, |seen| seen.ending.is_some());
        assert_eq!(
            ended.await.unwrap().ending,
            Some(Ending::PeerLeft),
            "{turn:?}"
        );
    }
}

#[tokio::test]
async fn text_before_silence_arrives() {
    let [_, in_a_block] = silences();
    let server = AnthropicServer::start([in_a_block]);
    let mut client = send_request(&server).await;

    let mut response = String::new();
    while !response.contains("I was about to") {
        let mut piece = [0; 1024];
        let read = tokio::time::timeout(TIMEOUT, client.read(&mut piece)).await;
        let length = read.expect("it comes in time").unwrap();
        assert_ne!(length, 0, "closed after {response}");
        response.push_str(&String::from_utf8_lossy(&piece[..length]));
    }

    assert_eq!(server.log().exchanges()[0].ending, None);
}

#[tokio::test]
async fn a_dropped_server_closes_its_connections_and_its_port() {
    for turn in silences() {
        let server = AnthropicServer::start([turn.clone()]);
        let (log, address) = (server.log().clone(), server.address());
        let mut client = send_request(&server).await;
        log.wait_for(TIMEOUT, |seen| seen.number == 1)
            .await
            .unwrap();

        drop(server);

        assert_eq!(log.exchanges()[0].ending, Some(Ending::Stopped), "{turn:?}");
        let mut rest = Vec::new();
        let end = tokio::time::timeout(TIMEOUT, client.read_to_end(&mut rest)).await;
        end.expect("the connection ends").ok();
        assert!(
            TcpStream::connect(address).await.is_err(),
            "the port is closed"
        );
    }
}

#[test]
fn a_server_needs_no_runtime_of_the_test() {
    let server = AnthropicServer::start([Turn::text("done")]).unverified();

    assert_eq!(
        server.url(),
        format!("http://127.0.0.1:{}", server.address().port())
    );
    assert!(std::net::TcpStream::connect(server.address()).is_ok());
}
