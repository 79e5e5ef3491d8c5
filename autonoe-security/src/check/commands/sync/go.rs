//! Go tools in sync mode.

use crate::check::commands::tool_options::Tool;

pub(super) fn verifies(tool: &Tool<'_, '_, '_, '_>) -> bool {
    let (first, second) = (tool.first(), tool.second());
    match tool.name {
        "go" => match first {
            // It adds missing modules to `go.mod`.
            _ if tool
                .values_of(&["-mod", "--mod"])
                .into_iter()
                .flatten()
                .any(|it| it.text == "mod") =>
            {
                false
            }
            Some("test" | "build" | "vet" | "list" | "version" | "doc") => true,
            Some("env") => !tool.has_option(&["-w", "-u", "--w", "--u"]),
            Some("mod") => matches!(second, Some("verify" | "graph" | "why")),
            _ => false,
        },
        "gofmt" | "goimports" => {
            (tool.has("-l") || tool.has("-d")) && !tool.has_option(&["-w", "--w"])
        }
        // Without arguments it prints its help.
        "golangci-lint" if tool.args.is_empty() => true,
        "golangci-lint" => first == Some("run") && !tool.has_option(&["--fix"]),
        "staticcheck" | "golint" => true,
        "goreleaser" => first == Some("check"),
        _ => false,
    }
}
