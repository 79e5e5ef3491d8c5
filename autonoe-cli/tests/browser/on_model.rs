//! Runs on a model with a browser, without any program of a vendor.

use autonoe_testkit::model_server::{MainRequests, ModelScript};

use crate::browser::chromium;
use crate::browser::fixture::Fixture;
use crate::browser::runs::{assert_page_seen, ledger, page_turns};
use crate::browser::site::Site;
use crate::build::Build;

const ON_MODEL: &str = "--backend=model:scripted/claude-sonnet-4-5";

/// Commands of the agent run in their sandbox, the browser outside of it. Only the download is
/// simulated: the replacement of `npx` is the server that it would fetch.
#[test]
fn a_run_on_a_model_sees_the_page_with_the_built_in_server() {
    let site = Site::open();
    let script = ModelScript::new(page_turns(&site)).with_main_requests(MainRequests::All);
    let setting = Fixture::new(Build::NEWER, &ledger(false), script).models();
    setting.install_server("npx");
    let setting = setting
        .variable("PLAYWRIGHT_MCP_EXECUTABLE_PATH", chromium::program())
        .variable("PLAYWRIGHT_MCP_SANDBOX", "false");

    let output = setting.autonoe(&["run", ON_MODEL]);

    assert_page_seen(&setting, &output);
    assert_eq!(
        setting.calls(),
        ["@playwright/mcp@latest --headless --isolated --caps=testing"]
    );
}
