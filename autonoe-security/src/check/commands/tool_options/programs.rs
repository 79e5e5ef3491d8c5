//! Options that name a program, load code from the network, or publish.

use super::own_args::own_args;
use super::spelling::matches_option;
use super::{Tool, option_name};
use crate::check::arg::Arg;
use crate::check::assignments;
use crate::check::builtins::is_identifier;
use crate::check::call::Checked;
use crate::check::commands::server_url::{
    Server, is_local_host, is_local_url, is_web_address, names_foreign_host,
};
use crate::check::text::is_digits;
use crate::check::write_target::escapes;
use crate::policy::Mode;
use crate::{Denial, Rule};

/// Returns the options of `tool` that start a program, serve code to others or publish.
fn refused(tool: &str) -> &'static [&'static str] {
    match tool {
        "npm" | "npx" => words!(
            "--browser --editor --git --node-gyp --onload-script --python --script-shell --shell",
            "--viewer",
        ),
        "pnpm" => words!("--script-shell --node-options --use-node-version --global-pnpmfile"),
        "yarn" => words!("--script-shell --use-yarnrc"),
        // The plugin xdist starts the programs that it names, also on other machines.
        "pytest" => words!("--pastebin --px --rsyncdir --tx"),
        "ginkgo" => words!("--after-run-hook --afterSuiteHook"),
        "http.server" => words!("--cgi"),
        "pdb" => words!("-c --command -p --pid"),
        // The archive names the files that it writes.
        "tarfile" | "zipfile" => words!("-e --extract"),
        // It installs packages whose names the text does not show.
        "mypy" => words!("--install-types"),
        "cucumber" => words!("--publish --drb"),
        "rspec" => words!("--drb -X"),
        "rollup" => words!(
            "--watch.onStart --watch.onBundleStart --watch.onBundleEnd --watch.onEnd",
            "--watch.onError",
        ),
        "tsup" => words!("--onSuccess"),
        "vitest" => words!("--typecheck.checker"),
        "gunicorn" => words!("--spew"),
        // Arguments for pip, a manual, the deletion of an environment, a report with variables of
        // the environment, and packages of the system.
        "pipenv" => words!("--extra-pip-args --man --rm --support --system"),
        _ => &[],
    }
}

/// Options that load code, for all interpreters.
const LOADING: &[&str] = words!(
    "-r --require --import --loader --experimental-loader --preload --import-map --config -c -f",
    "--eval-file",
    "--plugin -n --node-option",
);

/// Checks that no option starts a program, and that no code comes from the network.
pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let own = own_args(tool.name, tool.args);
    for arg in own {
        let text = arg.text.as_ref();
        if !text.starts_with('-') {
            continue;
        }
        let name = option_name(text);
        let is_setting = tool.name == "pnpm" && name.starts_with("--config.");
        let is_off = tool.name.starts_with("np") && text == "--browser=false";
        let is_refused = refused(tool.name)
            .iter()
            .any(|option| matches_option(tool.name, name, option));
        if (is_refused || is_setting) && !is_off {
            let denial = tool.call.deny_flag(Rule::R92, name, arg.span);
            return Err(match tool.name {
                "mypy" => {
                    denial.instead("install the stubs by their names: pip install types-NAME")
                }
                _ => denial,
            });
        }
    }
    if let ("rake", Some(task)) = (tool.name, tool.operands().find(|arg| is_release(arg))) {
        return Err(tool
            .call
            .deny(Rule::R51, format!("'rake {}' publishes", task.text))
            .at(task.span.range())
            .instead("leave it to the user"));
    }
    let of_tool = Tool { args: own, ..*tool };
    adds_no_program(&of_tool)?;
    debugs_locally(&of_tool)?;
    names_own_interpreter(tool, &of_tool)?;
    changes_no_machine(tool)?;
    loads_no_foreign_code(tool)?;
    sets_no_variable(tool)?;
    opens_local_pages(tool)?;
    loads_no_address(tool, own)
}

/// Subcommands of Playwright that open a page.
const OPENING: &[&str] = words!("codegen cr ff open pdf screenshot wk");

/// Endings of files that Playwright opens or writes. An operand with another dot may be a host.
const PAGE_FILES: &[&str] = words!(".har .htm .html .jpeg .jpg .js .json .pdf .png .ts .zip");

/// Checks that Playwright opens pages of this machine only. It reads `HOST` as a URL.
fn opens_local_pages(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let is_browser = matches!(tool.name, "playwright" | "playwright-core");
    let is_subcommand = |arg: &Arg<'_>| arg.known().is_some_and(|word| OPENING.contains(&word));
    let Some(at) = tool
        .args
        .iter()
        .position(is_subcommand)
        .filter(|_| is_browser)
    else {
        return Ok(());
    };
    let is_foreign = |arg: &&Arg<'_>| {
        let text = arg.text.as_ref();
        let is_whole = arg.is_static() && !arg.is_pattern();
        let is_file = PAGE_FILES.iter().any(|end| text.ends_with(end)) && !text.contains(':');
        let is_here = Server::parse(text)
            .or_else(|| Server::parse_authority(text))
            .is_some_and(|server| server.is_local() && (is_whole || server.is_closed));
        let may_be_host = text.contains(['.', ':', '\\']) || text.contains("//") || !is_whole;
        !text.starts_with('-') && text != "about:blank" && may_be_host && !is_file && !is_here
    };
    match tool.args[at + 1..].iter().find(is_foreign) {
        Some(page) => {
            let reason = format!("'{}' may be a page of another machine", page.text);
            Err(Denial::by(Rule::R92, page.span, reason)
                .instead("open a page of localhost: http://localhost:PORT/"))
        }
        None => Ok(()),
    }
}

/// Checks that settings of pytest in the command line do not add such options.
fn adds_no_program(own: &Tool<'_, '_, '_, '_>) -> Checked {
    if own.name != "pytest" {
        return Ok(());
    }
    for setting in own
        .values_of(words!("-o --override-ini"))
        .into_iter()
        .flatten()
    {
        let text = setting.text.trim_start();
        let is_empty = text
            .split_once('=')
            .is_some_and(|(_, value)| setting.is_static() && value.trim().is_empty());
        if text.starts_with("addopts") && !is_empty {
            return Err(own.call.deny_flag(Rule::R92, text, setting.span));
        }
    }
    Ok(())
}

/// Checks that a debugger listens on this machine only, because it runs any code.
fn debugs_locally(own: &Tool<'_, '_, '_, '_>) -> Checked {
    let inspectors = own.args.iter().filter_map(|arg| {
        let name = option_name(&arg.text);
        let has_value = name.starts_with("--inspect") && name.len() < arg.text.len();
        has_value.then(|| arg.without_first(name.len() + 1))
    });
    let listen = match own.name {
        "dlv" => own.values_of(words!("-l --listen")),
        _ => Vec::new(),
    };
    let is_local = |address: &Arg<'_>| {
        let text = address.text.as_ref();
        let is_port = |text: &str| is_digits(text);
        match text.rsplit_once(':') {
            Some((host, port)) => is_local_host(host) && is_port(port),
            None => is_local_host(text) || is_port(text) || matches!(text, "true" | "false"),
        }
    };
    let mut addresses = inspectors.chain(listen.into_iter().flatten());
    match addresses.find(|address| !is_local(address)) {
        Some(address) => {
            let reason = format!("'{}' lets other machines debug", address.text);
            Err(Denial::by(Rule::R92, address.span, reason).instead("listen on 127.0.0.1"))
        }
        None => Ok(()),
    }
}

/// Options of Python's tools that name an interpreter.
fn interpreters(tool: &str) -> &'static [&'static str] {
    match tool {
        "pip" | "pip3" | "pipenv" | "pipx" => words!("--python"),
        "uv" | "uvx" | "virtualenv" => words!("-p --python"),
        "mypy" => words!("--python-executable"),
        "nox" => words!("--extra-python --force-python"),
        "pyright" | "basedpyright" => words!("--pythonpath"),
        "tox" => words!("--discover"),
        _ => &[],
    }
}

/// Checks that an interpreter belongs to the project or to the system.
fn names_own_interpreter<'s>(tool: &Tool<'_, '_, '_, 's>, own: &Tool<'_, '_, '_, 's>) -> Checked {
    let is_known = |text: &str| {
        let system = [
            "/usr/",
            "/opt/homebrew/",
            "/opt/local/",
            "/opt/python/",
            "/bin/",
        ];
        !text.contains('/')
            || own.call.is_in_project(text)
            || (system.iter().any(|folder| text.starts_with(folder)) && !text.contains(".."))
    };
    let options = own.values_of(interpreters(own.name)).into_iter().flatten();
    // `poetry env use PATH`, `pdm use PATH`
    let is_chosen = matches!(own.name, "pdm" | "poetry") && tool.has("use");
    let operands = tool.operands().filter(|_| is_chosen).cloned();
    let mut values = options.chain(operands);
    match values.find(|value| value.tilde || !is_known(&value.text)) {
        Some(value) => Err(escapes(&value, Rule::R92)),
        None => Ok(()),
    }
}

/// Checks that a tool does not install system packages, replace itself or change kernels of Jupyter.
fn changes_no_machine(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let words: &[&str] = match tool.name {
        "playwright" | "playwright-core" => words!("install-deps uninstall --with-deps"),
        "php-cs-fixer" => words!("self-update selfupdate"),
        "ipykernel" if !tool.has_option_like(&["--sys-prefix", "--prefix"]) => words!("install"),
        _ => return Ok(()),
    };
    let is_denied = |arg: &&Arg<'_>| arg.known().is_some_and(|word| words.contains(&word));
    match tool.args.iter().find(is_denied) {
        Some(arg) => Err(tool
            .call
            .deny(
                Rule::R52,
                format!("'{} {}' changes the machine", tool.name, arg.text),
            )
            .at(arg.span.range())
            .instead("change the project only")),
        None => Ok(()),
    }
}

/// Settings of PHP whose value is code, a program or another host.
const REFUSED_SETTINGS: &[&str] = words!(
    "allow_url_include mail.force_extra_parameters sendmail_path xdebug.cloud_id",
    "xdebug.discover_client_host xdebug.connect_back xdebug.remote_connect_back",
);

/// Settings of PHP whose value is the host of a debugger.
const DEBUGGER_HOSTS: &[&str] = words!("xdebug.client_host xdebug.remote_host");

/// Settings of PHP whose value is code.
const LIBRARIES: &[&str] = words!("extension extension_dir zend_extension");

/// Settings of PHP whose value is a file that it runs, or a place to which it writes.
const FILES: &[&str] = words!(
    "auto_append_file auto_prepend_file curl.cainfo ffi.preload include_path mail.log openssl.cafile",
    "opcache.file_cache opcache.preload session.save_path soap.wsdl_cache_dir sys_temp_dir",
    "upload_tmp_dir user_dir",
);

/// Checks that PHP loads no code from outside of the project, and starts no program.
fn loads_no_foreign_code(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let options = match tool.name {
        "php" => words!("-d --define"),
        "pest" | "paratest" | "phpcbf" | "phpcs" | "phpunit" => words!("-d"),
        _ => return Ok(()),
    };
    let own = Tool {
        args: own_args(tool.name, tool.args),
        ..*tool
    };
    for setting in own.values_of(options).into_iter().flatten() {
        let (key, value) = setting.text.split_once('=').unwrap_or((&setting.text, ""));
        let key = key.trim().to_ascii_lowercase();
        let key = key.as_str();
        let value = value.trim().trim_matches(['"', '\'']);
        let is_off = matches!(value, "0" | "off" | "Off" | "false" | "no");
        let is_outside = |path: &str| !path.is_empty() && !own.call.is_in_reach(path);
        // Without a value, a setting is on.
        let is_refused = (REFUSED_SETTINGS.contains(&key) && !is_off)
            || (DEBUGGER_HOSTS.contains(&key) && !is_local_host(value))
            || (LIBRARIES.contains(&key) && value.contains('/') && !own.call.is_in_project(value))
            || (FILES.contains(&key)
                && value
                    .split([':', ';'])
                    .any(|path| is_outside(path) && !path.starts_with("/usr/")))
            || (FILES.contains(&key) && value.is_empty() && !setting.is_static())
            || names_foreign_host(value, setting.is_static());
        if is_refused {
            return Err(escapes(&setting, Rule::R92));
        }
    }
    if tool.name == "php" {
        for library in own
            .values_of(words!("-z --zend-extension"))
            .into_iter()
            .flatten()
        {
            if library.text.contains('/') && !own.call.is_in_project(&library.text) {
                return Err(escapes(&library, Rule::R92));
            }
        }
        for file in own.values_of(words!("-c --php-ini")).into_iter().flatten() {
            if file.is_in_home() || !own.call.is_in_reach(&file.text) {
                return Err(escapes(&file, Rule::R92));
            }
        }
    }
    Ok(())
}

/// Checks operands `NAME=value`, which rake and similar tools add to the environment.
fn sets_no_variable(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    if !matches!(tool.name, "rake" | "rails" | "cucumber") {
        return Ok(());
    }
    for arg in tool.operands() {
        let Some((name, _)) = arg
            .text
            .split_once('=')
            .filter(|(name, _)| is_identifier(name))
        else {
            continue;
        };
        if name == "LOCATION" && is_web_address(&arg.text[name.len() + 1..]) {
            return Err(from_network(tool, arg));
        }
        if !matches!(name, "TEST" | "SPEC") {
            assignments::check_argument(tool.call, arg, name)?;
            continue;
        }
        // The files to run.
        let files = arg.without_first(name.len() + 1);
        let is_inside = |files: &str| match tool.call.mode() {
            Mode::Run => tool.call.is_in_reach(files),
            Mode::Sync => tool.call.is_in_project(files),
        };
        if !files.is_static() || !is_inside(&files.text) {
            return Err(escapes(&files, Rule::R92));
        }
    }
    Ok(())
}

/// Returns whether a task of rake releases a gem.
fn is_release(task: &Arg<'_>) -> bool {
    let name = task.text.split(['[', ':']).next().unwrap_or_default();
    name == "release"
}

/// Checks that code is not loaded from a URL.
fn loads_no_address(tool: &Tool<'_, '_, '_, '_>, own: &[Arg<'_>]) -> Checked {
    let loads =
        words!("node ts-node tsx deno bun mocha go goreleaser eslint vitest jest rails yarn")
            .contains(&tool.name);
    if !loads {
        return Ok(());
    }
    let mut before = "";
    for arg in tool.args.iter().take(own.len() + 1) {
        let text = arg.text.as_ref();
        let (name, value) = match text.split_once('=') {
            Some((name, value)) if text.starts_with('-') => (name, value),
            _ => (before, text),
        };
        let is_address_of_page = matches!(before, "--location" | "--reload");
        let is_program = tool.name == "deno" && !text.starts_with('-') && !is_address_of_page;
        let is_short = tool.name == "rails" && text.starts_with("-m");
        let is_long = name.len() > 3 && "--template".starts_with(name);
        let is_template = is_short || (tool.name == "rails" && (before == "-m" || is_long));
        let is_plugin = tool.name == "yarn" && before == "import";
        let is_profile = tool.name == "go" && tool.has("pprof") && !name.ends_with("-http");
        if is_profile && names_other_server(value, arg.is_static()) {
            return Err(from_network(tool, arg));
        }
        let is_loaded = is_program || is_template || is_plugin || LOADING.contains(&name);
        let value = text
            .strip_prefix("-m")
            .filter(|_| is_short)
            .unwrap_or(value);
        if is_loaded && value.split('=').any(is_web_address) {
            return Err(from_network(tool, arg));
        }
        before = text;
    }
    Ok(())
}

fn from_network(tool: &Tool<'_, '_, '_, '_>, arg: &Arg<'_>) -> Denial {
    tool.call
        .deny(
            Rule::R92,
            format!("'{}' is code from the network", arg.text),
        )
        .at(arg.span.range())
        .instead("install it as a dependency of the project")
}

/// Returns whether `go tool pprof` may fetch `profile` from another machine. It reads `HOST:PORT`
/// as a URL.
fn names_other_server(profile: &str, is_whole: bool) -> bool {
    let is_file = !profile.contains([':', '\\']) && !profile.starts_with("//");
    !is_file && !is_local_url(profile, is_whole)
}
