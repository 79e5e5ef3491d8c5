//! Variables of CMake in the command line: `-DNAME=VALUE`.

use super::compiler;
use crate::check::arg::Arg;
use crate::check::assignments;
use crate::check::call::{Call, Checked};
use crate::check::commands::server_url::names_foreign_host;
use crate::check::commands::strict_options::{
    check_text, is_code, is_in_reach, is_of_system, paths,
};
use crate::check::path;
use crate::check::text::{has_only, is_digits};
use crate::check::write_target::{Root, escapes};
use crate::{Denial, Rule};

/// Variables of CMake that take a plain word.
const WORDS: &[&str] = words!(
    "ARCHITECTURES BUILD_TYPE BUILD_WITH_INSTALL_RPATH COLOR_DIAGNOSTICS COLOR_MAKEFILE",
    "COMPILE_WARNING_AS_ERROR CONFIGURATION_TYPES CROSS_CONFIGS CUDA_ARCHITECTURES CUDA_STANDARD",
    "CXX_EXTENSIONS CXX_SCAN_FOR_MODULES CXX_STANDARD CXX_STANDARD_REQUIRED CXX_VISIBILITY_PRESET",
    "C_EXTENSIONS C_STANDARD C_STANDARD_REQUIRED C_VISIBILITY_PRESET DEBUG_POSTFIX",
    "DEFAULT_BUILD_TYPE ERROR_DEPRECATED EXPORT_COMPILE_COMMANDS",
    "FIND_DEBUG_MODE FIND_PACKAGE_PREFER_CONFIG FIND_USE_PACKAGE_REGISTRY GENERATOR",
    "INSTALL_BINDIR INSTALL_INCLUDEDIR INSTALL_LIBDIR INTERPROCEDURAL_OPTIMIZATION",
    "LINK_WHAT_YOU_USE MESSAGE_LOG_LEVEL OSX_ARCHITECTURES OSX_DEPLOYMENT_TARGET",
    "POLICY_VERSION_MINIMUM POSITION_INDEPENDENT_CODE SKIP_INSTALL_RULES SKIP_RPATH",
    "SUPPRESS_DEVELOPER_WARNINGS SYSTEM_NAME SYSTEM_PROCESSOR TRY_COMPILE_TARGET_TYPE UNITY_BUILD",
    "UNITY_BUILD_BATCH_SIZE VERBOSE_MAKEFILE VISIBILITY_INLINES_HIDDEN WARN_DEPRECATED",
);

/// Variables of CMake that take a list of folders or files to read.
const PATHS: &[&str] = words!(
    "FIND_ROOT_PATH FRAMEWORK_PATH INCLUDE_PATH LIBRARY_PATH MODULE_PATH OSX_SYSROOT PREFIX_PATH",
    "SYSROOT TOOLCHAIN_FILE",
);

/// Variables of CMake that take a folder to write to.
const OUTPUTS: &[&str] = words!(
    "ARCHIVE_OUTPUT_DIRECTORY INSTALL_PREFIX LIBRARY_OUTPUT_DIRECTORY PDB_OUTPUT_DIRECTORY",
    "RUNTIME_OUTPUT_DIRECTORY",
);

/// Beginnings of variables of CMake and its modules. Of these, only the listed ones are allowed.
const RESERVED: &[&str] = words!("CMAKE_ CPACK_ CTEST_ DART_ FETCHCONTENT_ _CMAKE_ CPM_");

/// Words in names of variables whose value is a program, code or a login.
const SENSITIVE_WORDS: &[&str] = words!(
    "AR CLANG_TIDY COMMAND COMPILER CPPCHECK EMULATOR EXE EXECUTABLE INTERPRETER LAUNCHER LD LINKER",
    "NM PASSWORD PROGRAM RANLIB RUNNER SHELL TOKEN TOOL WRAPPER",
);

/// Checks `NAME=VALUE` or `NAME:TYPE=VALUE`.
pub(super) fn check_variable(call: &Call<'_, '_, '_>, definition: &Arg<'_>) -> Checked {
    let text = definition.text.as_ref();
    let deny = |name: &str| {
        let reason = format!("the variable '{name}' of CMake may change what runs, or where");
        Err(Denial::by(Rule::R101, definition.span, reason)
            .instead("leave it out, or set it in CMakeLists.txt or CMakePresets.json"))
    };
    let Some((left, value)) = text.split_once('=') else {
        return deny(text);
    };
    let name = left.split(':').next().unwrap_or(left);
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if !is_name {
        return deny(name);
    }
    check_text(call, definition)?;
    let is_known = definition.is_static();
    if !is_known
        && PATHS
            .iter()
            .any(|own| name.strip_prefix("CMAKE_") == Some(own))
    {
        // `-DCMAKE_PREFIX_PATH="$PWD/deps"`
        let folders = paths(&definition.without_first(left.len() + 1), call);
        let is_of_project = |folders: Vec<String>| folders.iter().all(|path| is_code(call, path));
        return if folders.is_some_and(is_of_project) {
            Ok(())
        } else {
            Err(call.deny_dynamic(definition))
        };
    }
    if let Some(own) = name.strip_prefix("CMAKE_") {
        let is_fine = is_known && is_own_value(call, own, value, definition)?;
        return if is_fine { Ok(()) } else { deny(name) };
    }
    if let Some(own) = name.strip_prefix("FETCHCONTENT_") {
        let is_switch = matches!(own, "FULLY_DISCONNECTED" | "QUIET" | "UPDATES_DISCONNECTED");
        return if is_switch && is_known && is_word(value) {
            Ok(())
        } else {
            deny(name)
        };
    }
    let upper = name.to_ascii_uppercase();
    let is_reserved = RESERVED.iter().any(|start| upper.starts_with(start));
    let is_sensitive = upper
        .split(['_', '-'])
        .any(|word| SENSITIVE_WORDS.contains(&word))
        || upper.contains("CLANG_TIDY");
    let is_switch = is_known
        && matches!(
            value.to_ascii_uppercase().as_str(),
            "" | "ON" | "OFF" | "TRUE" | "FALSE" | "YES" | "NO" | "0" | "1"
        );
    let is_python = upper.ends_with("_EXECUTABLE")
        && is_known
        && is_of_system(value)
        && path::file_name(value).starts_with("python");
    if is_reserved || (is_sensitive && !is_switch && !is_python) {
        return deny(name);
    }
    if upper.contains("FLAGS") || upper.contains("OPTIONS") {
        let is_fine = is_known && (is_word(value) || are_options(value));
        return if is_fine { Ok(()) } else { deny(name) };
    }
    let names_host = names_foreign_host(value, is_known);
    if !has_only(value, " _.+-,:;=/@#") || value.starts_with('-') || names_host {
        return deny(name);
    }
    if !is_known && (value.is_empty() || value.contains('/')) {
        return Err(call.deny_dynamic(definition));
    }
    for piece in value.split([';', ':', ' ', '=']) {
        let is_path = piece.starts_with(['/', '~']) || piece.split('/').any(|it| it == "..");
        if path::is_protected(piece) || (is_path && !is_code(call, piece)) {
            return Err(escapes(definition, Rule::R101));
        }
    }
    Ok(())
}

/// Returns whether the variable `CMAKE_NAME` may have a value.
fn is_own_value(
    call: &Call<'_, '_, '_>,
    name: &str,
    value: &str,
    definition: &Arg<'_>,
) -> Result<bool, Denial> {
    let is_language = |name: &str| matches!(name, "C" | "CXX" | "OBJC" | "OBJCXX" | "CUDA" | "ASM");
    let language = |end: &str| name.strip_suffix(end).is_some_and(is_language);
    if WORDS.contains(&name)
        || name.starts_with("POLICY_DEFAULT_CMP")
        || name.starts_with("DISABLE_FIND_PACKAGE_")
        || name.starts_with("REQUIRE_FIND_PACKAGE_")
    {
        return Ok(has_only(value, " _.+-;"));
    }
    if language("_COMPILER") {
        return Ok(is_compiler(value));
    }
    if language("_COMPILER_LAUNCHER") {
        return Ok(matches!(value, "" | "ccache" | "sccache"));
    }
    let flags = name
        .split_once("_FLAGS")
        .map(|(tool, configuration)| (tool, configuration.trim_start_matches('_')));
    if let Some((tool, configuration)) = flags {
        let is_linker = matches!(tool, "EXE_LINKER" | "SHARED_LINKER" | "MODULE_LINKER");
        let is_configuration = matches!(
            configuration,
            "" | "DEBUG" | "RELEASE" | "RELWITHDEBINFO" | "MINSIZEREL"
        );
        return Ok((is_linker || is_language(tool)) && is_configuration && are_options(value));
    }
    if PATHS.contains(&name) {
        return Ok(value.split(';').all(|path| is_code(call, path)));
    }
    if OUTPUTS.contains(&name) {
        let folder = Arg::plain(value.to_owned(), definition.span);
        call.check_write_target(&folder, Root::Accepted)?;
        return Ok(is_in_reach(call, value));
    }
    Ok(false)
}

fn is_word(value: &str) -> bool {
    has_only(value, "_.")
}

fn are_options(value: &str) -> bool {
    assignments::are_compiler_options(value)
}

/// Returns whether a value is a usual compiler, also with a version or in a folder of the system.
fn is_compiler(value: &str) -> bool {
    let name = match value.rsplit_once('/') {
        Some(("/usr/bin" | "/usr/local/bin" | "/opt/homebrew/bin", name)) => name,
        Some(_) => return false,
        None => value,
    };
    let (name, version) = match name.rsplit_once('-') {
        Some((name, version)) => (name, version),
        None => (name, ""),
    };
    compiler::NAMES.contains(&name) && is_digits(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_usual_compilers_are_known() {
        for value in ["gcc", "clang++", "clang-17", "/usr/bin/gcc-13"] {
            assert!(is_compiler(value), "{value}");
        }
        for value in ["/tmp/gcc", "./gcc", "evil", "gcc-x", "sh"] {
            assert!(!is_compiler(value), "{value}");
        }
    }
}
