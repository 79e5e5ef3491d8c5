//! Built-in Playwright MCP server and its granted tools.

use std::collections::BTreeMap;

use crate::gate::PermissionRule;
use crate::tool::McpServer;

/// The name of the built-in MCP server.
pub(super) const PLAYWRIGHT: &str = "playwright";

/// The tools of the Playwright MCP server that are granted when a run has it.
///
/// The built-in server offers all of them; the assertions and `browser_generate_locator` need its
/// option `--caps=testing`. `browser_run_code_unsafe` is not granted: it runs code in the process
/// of the server, where no guard sees it. `browser_evaluate` runs in the page.
pub const PLAYWRIGHT_MCP_TOOLS: &[&str] = &[
    "mcp__playwright__browser_navigate",
    "mcp__playwright__browser_navigate_back",
    "mcp__playwright__browser_snapshot",
    "mcp__playwright__browser_find",
    "mcp__playwright__browser_take_screenshot",
    "mcp__playwright__browser_click",
    "mcp__playwright__browser_hover",
    "mcp__playwright__browser_drag",
    "mcp__playwright__browser_drop",
    "mcp__playwright__browser_type",
    "mcp__playwright__browser_press_key",
    "mcp__playwright__browser_fill_form",
    "mcp__playwright__browser_select_option",
    "mcp__playwright__browser_file_upload",
    "mcp__playwright__browser_handle_dialog",
    "mcp__playwright__browser_wait_for",
    "mcp__playwright__browser_evaluate",
    "mcp__playwright__browser_console_messages",
    "mcp__playwright__browser_network_requests",
    "mcp__playwright__browser_network_request",
    "mcp__playwright__browser_resize",
    "mcp__playwright__browser_emulate_media",
    "mcp__playwright__browser_tabs",
    "mcp__playwright__browser_close",
    "mcp__playwright__browser_generate_locator",
    "mcp__playwright__browser_verify_element_visible",
    "mcp__playwright__browser_verify_text_visible",
    "mcp__playwright__browser_verify_list_visible",
    "mcp__playwright__browser_verify_value",
];

/// The arguments of `npx` for the built-in server: no window, a fresh profile for each session, and
/// the tools that verify a page.
const ARGUMENTS: [&str; 4] = [
    "@playwright/mcp@latest",
    "--headless",
    "--isolated",
    "--caps=testing",
];

/// Returns the built-in server.
pub(super) fn server() -> McpServer {
    McpServer::Stdio {
        command: "npx".to_owned(),
        args: ARGUMENTS.map(str::to_owned).to_vec(),
        env: BTreeMap::new(),
        transport: None,
    }
}

/// Returns the rules that grant the tools of the server.
pub(super) fn rules() -> impl Iterator<Item = PermissionRule> {
    PLAYWRIGHT_MCP_TOOLS
        .iter()
        .filter_map(|tool| tool.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_a_rule() {
        assert_eq!(rules().count(), PLAYWRIGHT_MCP_TOOLS.len());
    }
}
