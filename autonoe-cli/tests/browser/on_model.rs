//! Runs on a model that have a browser, without any program of a vendor.

use autonoe_testkit::model_server::{MainRequests, Script};

use crate::browser::chromium;
use crate::browser::runs::{ledger, looks_at, saw_the_page};
use crate::browser::setting::Setting;
use crate::browser::site::Site;
use crate::build::Build;

const ON_MODEL: &str = "--backend=model:scripted/claude-sonnet-4-5";

/// Commands of the agent are in their sandbox; the browser is outside of it. Only the download is
/// played: what stands in for `npx` is the server that it would fetch.
#[test]
fn a_run_on_a_model_sees_the_page_with_the_built_in_server() {
    let site = Site::open();
    let script = Script::new(looks_at(&site)).with_main_requests(MainRequests::All);
    let setting = Setting::new(Build::NEWER, &ledger(false), script).models();
    setting.server_called("npx");
    let setting = setting
        .variable("PLAYWRIGHT_MCP_EXECUTABLE_PATH", chromium::program())
        .variable("PLAYWRIGHT_MCP_SANDBOX", "false");

    let output = setting.autonoe(&["run", ON_MODEL]);

    saw_the_page(&setting, &output);
    assert_eq!(
        setting.calls(),
        ["@playwright/mcp@latest --headless --isolated --caps=testing"]
    );
}
