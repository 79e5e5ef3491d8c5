//! Arguments whose values are unknown until the tool runs.

use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::check::commands::tool_options::Tool;
use crate::check::commands::tools::is_one_word;
use crate::syntax::Part;

/// Options that accept any value: names of tests and packages.
fn filters(tool: &str) -> &'static [&'static str] {
    match tool {
        "npm" => words!("-w --workspace"),
        "pnpm" => words!("-F --filter"),
        "pytest" => words!("-k -m -n"),
        "python" | "python3" | "nox" => words!("-k"),
        "tox" => words!("-e"),
        "vitest" => words!("-t --testNamePattern --project"),
        "jest" => words!("-t --testNamePattern --testPathPattern"),
        "mocha" => words!("-g --grep -f --fgrep"),
        "playwright" => words!("-g --grep --project"),
        "cypress" => words!("--spec"),
        "node" => words!("--test-name-pattern"),
        "go" => words!("-run -bench -skip -timeout -tags -count"),
        "cargo" => words!("-p --package --test --example --features"),
        "rspec" => words!("-e --example -t --tag"),
        "cucumber" => words!("-n --name -t --tags"),
        "rails" => words!("-n --name"),
        "phpunit" | "pest" => words!("--filter --group --testsuite"),
        "php" | "artisan" => words!("--filter"),
        _ => &[],
    }
}

/// Denies arguments that may turn into options.
pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    // Inserted by find and xargs: a file below this directory, or anything.
    let is_given = |arg: &&Arg<'_>| {
        let is_unknown = arg.unknown.is_some_and(|unknown| unknown.part.is_none());
        is_unknown && !arg.text.starts_with("./")
    };
    if let Some(arg) = tool.args.iter().find(is_given) {
        return Err(tool.call.deny_dynamic(arg));
    }
    // `./$f` may be `./../../tmp/x`.
    let may_leave = |arg: &&Arg<'_>| {
        let part = arg.unknown.and_then(|unknown| unknown.part);
        let words = part.and_then(|it| tool.call.context.scope.loop_words(it, arg.span.start()));
        let is_set = match part {
            Some(Part::Parameter(it)) => tool
                .call
                .context
                .scope
                .survey()
                .variable(&it.name)
                .is_some(),
            _ => false,
        };
        is_set
            && arg.text.starts_with(['.', '/'])
            && words.is_none()
            && tool.call.with_plain_names(arg).is_none()
    };
    if let Some(arg) = tool.args.iter().find(may_leave) {
        return Err(tool.call.deny_dynamic(arg));
    }
    let filters = filters(tool.name);
    let mut is_value = false;
    for arg in tool.args.iter().take_while(|arg| !arg.is("--")) {
        if std::mem::take(&mut is_value) && is_one_word(arg) {
            continue;
        }
        is_value = arg.known().is_some_and(|text| filters.contains(&text));
        let has_name = arg.text.starts_with("--") && arg.text.contains('=');
        if !arg.is_static() && !has_name && !tool.call.is_option_safe(arg) {
            return Err(tool.call.deny_dynamic(arg));
        }
    }
    Ok(())
}
