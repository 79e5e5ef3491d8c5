//! Official MCP conformance checks for servers, as far as they run without a network.

mod auth_proxy;
mod runner;
mod scenarios;
mod tools;

use autonoe_core::tool::ToolServer;
use autonoe_mcp::HttpToolServer;

use self::auth_proxy::AuthProxy;
use self::runner::Runner;
use self::scenarios::{APPLY, DO_NOT_APPLY};
use crate::fixture::{key, named};

#[tokio::test]
async fn every_scenario_is_known_to_apply_or_not() {
    let mut known: Vec<&str> = APPLY.to_vec();
    known.extend(DO_NOT_APPLY.iter().map(|(scenario, _)| *scenario));
    known.sort_unstable();

    let mut there = Runner::new().list().await;
    there.sort_unstable();

    assert_eq!(there, known);
}

#[tokio::test]
async fn the_scenarios_that_apply_pass() {
    let server = HttpToolServer::new();
    let served = server
        .serve(&key(1), tools::toolbox())
        .await
        .expect("it serves");
    let (url, secret) = named(&served);
    let open = AuthProxy::start(&url, &secret).await;
    let runner = Runner::new();

    for scenario in APPLY {
        let checks = runner.run(scenario, &open.url).await;

        let passed = checks.iter().filter(|check| check.status == "SUCCESS");
        assert!(passed.count() > 0, "{scenario}: {checks:#?}");
        let wrong: Vec<_> = checks
            .iter()
            .filter(|check| !["SUCCESS", "INFO"].contains(&check.status.as_str()))
            .collect();
        assert!(wrong.is_empty(), "{scenario}: {wrong:#?}");
    }
}
