//! PHP tools in sync mode.

use crate::check::commands::tool_options::Tool;

pub(super) fn verifies(tool: &Tool<'_, '_, '_, '_>) -> bool {
    let first = tool.first();
    match tool.name {
        "phpunit" | "pest" | "phpcs" | "phpstan" => true,
        "codeception" => first == Some("run"),
        "psalm" => !tool.has_option_like(&["--al", "--set-b", "--upd"]),
        "php-cs-fixer" => first == Some("check") || (first == Some("fix") && tool.has("--dry-run")),
        "php" => match tool.args {
            [flag] => flag.is("-v"),
            [flag, file] if flag.is("-l") => !file.text.starts_with('-'),
            [script, action, ..] if script.is("artisan") => {
                matches!(action.known(), Some("test" | "route:list" | "about"))
            }
            _ => false,
        },
        "artisan" => first == Some("test"),
        _ => false,
    }
}
