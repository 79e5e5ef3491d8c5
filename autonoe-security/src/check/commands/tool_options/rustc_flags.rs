//! Options of rustc that name another program or an output file.

use super::Tool;
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::assignments;
use crate::check::call::Checked;
use crate::check::write_target::Root;

/// Codegen options that load plugins or write files by themselves.
const REFUSED: &[&str] = words!("save-temps llvm-args passes dlltool codegen-backend");

/// Codegen options whose value is a file or folder to write.
const OUTPUTS: &[&str] = words!("incremental profile-generate remark-dir");

/// Checks the options of rustc, also after `cargo rustc --`.
pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let is_rustc = match tool.name {
        "rustc" | "rustdoc" => true,
        "cargo" => tool
            .args
            .iter()
            .any(|arg| arg.is("rustc") || arg.is("rustdoc")),
        _ => false,
    };
    if !is_rustc {
        return Ok(());
    }
    let mut before = "";
    for arg in tool.args {
        let text = arg.text.as_ref();
        let codegen = match before {
            "-C" | "--codegen" => Some(arg.clone()),
            _ => text
                .strip_prefix("-C")
                .or_else(|| text.strip_prefix("--codegen="))
                .filter(|rest| !rest.is_empty())
                .map(|rest| arg.without_first(text.len() - rest.len())),
        };
        if let Some(option) = codegen {
            codegen_option(tool, arg, &option)?;
        }
        let written = match (before, tool.name) {
            ("-o" | "--out-dir", "cargo") => Some(arg.clone()),
            (_, "cargo") => text
                .strip_prefix("--out-dir=")
                .or_else(|| text.strip_prefix("-o"))
                .filter(|rest| !rest.is_empty())
                .map(|rest| arg.without_first(text.len() - rest.len())),
            _ => None,
        };
        if let Some(target) = written {
            tool.call.check_output(&target)?;
        }
        let emitted = match before {
            "--emit" | "--print" => Some(arg.clone()),
            _ if text.starts_with("--emit=") => Some(arg.without_first("--emit=".len())),
            _ if text.starts_with("--print=") => Some(arg.without_first("--print=".len())),
            _ => None,
        };
        if let Some(kinds) = emitted {
            for kind in kinds.text.split(',') {
                if let Some((_, file)) = kind.split_once('=') {
                    let file = Arg {
                        text: file.to_owned().into(),
                        ..kinds.clone()
                    };
                    tool.call.check_output(&file)?;
                }
            }
        }
        before = text;
    }
    Ok(())
}

fn codegen_option(tool: &Tool<'_, '_, '_, '_>, arg: &Arg<'_>, option: &Arg<'_>) -> Checked {
    let (name, value) = match option.text.split_once('=') {
        Some((name, _)) => (name, option.without_first(name.len() + 1)),
        None => (option.text.as_ref(), Arg::plain("", option.span)),
    };
    if OUTPUTS.contains(&name) && !value.text.is_empty() {
        return tool.call.check_write_target(&value, Root::Refused);
    }
    let links = matches!(
        name,
        "link-arg" | "link-args" | "pre-link-arg" | "pre-link-args"
    );
    let is_harmless =
        |value: &Arg<'_>| value.known().is_some_and(assignments::are_compiler_options);
    if REFUSED.contains(&name) || (links && !is_harmless(&value)) {
        return Err(tool.call.deny_flag(Rule::R92, name, arg.span));
    }
    Ok(())
}
