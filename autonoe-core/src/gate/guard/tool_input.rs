//! File names in the input of tools that declare no files.

use std::path::PathBuf;

use serde_json::Value;

use super::autonoe_guard::{NON_WRITING_TOOLS, SERVER};
use crate::gate::lexical_path::{percent_decoded, strip_invisible};
use crate::tool::{ToolCall, ToolKind};

/// Maximum length of a text that may be a path.
const MAX_PATH_LEN: usize = 4096;

/// A file named in the input of a tool.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NamedFile {
    /// A URL that a browser opens.
    Url(PathBuf),
    /// A text that may be a path.
    Path(PathBuf),
}

/// Returns the files named in the input of `call`: `file:` URLs, and texts that can be paths.
pub(super) fn named_files(call: &ToolCall) -> Vec<NamedFile> {
    let is_text = match &call.kind {
        ToolKind::Other => NON_WRITING_TOOLS.contains(&call.name.as_str()),
        kind => kind.unambiguous_server() == Some(SERVER),
    };
    let mut files = Vec::new();
    if !is_text {
        collect(&call.input, &mut files);
    }
    files
}

fn collect(input: &Value, files: &mut Vec<NamedFile>) {
    match input {
        Value::String(text) => {
            files.extend(file_urls(text).into_iter().map(NamedFile::Url));
            files.extend(path_in(text).map(NamedFile::Path));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, files)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            // Most keys are field names.
            if key.contains(['/', '\\', ':', '~']) {
                collect(&Value::String(key.clone()), files);
            }
            collect(value, files);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns `text` as a path, unless it is a sentence or a URL.
fn path_in(text: &str) -> Option<PathBuf> {
    let text = strip_invisible(text);
    let text = text.trim();
    let is_one_word = !text.contains(char::is_whitespace);
    let is_path = text.starts_with(['/', '~', '\\']) && !text.contains('\n');
    let fits = !text.is_empty() && text.len() <= MAX_PATH_LEN && !text.contains("://");
    (fits && (is_one_word || is_path)).then(|| PathBuf::from(text))
}

/// Returns the paths of all `file:` URLs in `text`, as a browser reads them.
fn file_urls(text: &str) -> Vec<PathBuf> {
    // Browsers drop these characters at any position.
    let text = strip_invisible(text).replace(['\t', '\r', '\n'], "");
    let lower = text.to_ascii_lowercase();
    let is_whole = |at: usize| {
        let start = lower[..at].trim_start();
        matches!(start, "" | "view-source:") && !lower.trim().contains(' ')
    };
    let mut urls = Vec::new();
    for (at, scheme) in lower.match_indices("file:") {
        let before = lower[..at].chars().next_back();
        let rest = &text[at + scheme.len()..];
        let is_url = rest.starts_with(['/', '\\', '%']) || (is_whole(at) && !rest.is_empty());
        if is_url && !before.is_some_and(char::is_alphanumeric) {
            urls.push(path_of_url(rest));
        }
    }
    urls
}

/// Returns the absolute path of the URL `file:REST`.
fn path_of_url(rest: &str) -> PathBuf {
    let ends = |c: char| c.is_whitespace() || "\"'`<>?#".contains(c);
    let rest = rest.split(ends).next().unwrap_or_default();
    let decoded = percent_decoded(rest).replace('\\', "/");
    let path = match decoded.strip_prefix("//") {
        // A host may precede the path.
        Some(with_host) => with_host.split_once('/').map_or("", |(_, path)| path),
        None => &decoded,
    };
    PathBuf::from(format!("/{}", path.trim_start_matches('/')))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn urls(text: &str) -> Vec<String> {
        let paths = file_urls(text).into_iter();
        paths.map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn file_urls_are_found_in_every_spelling() {
        for (text, path) in [
            ("file:///etc/shadow", "/etc/shadow"),
            (" FILE:/etc/shadow", "/etc/shadow"),
            ("file:etc/shadow", "/etc/shadow"),
            ("file://localhost/etc/shadow", "/etc/shadow"),
            ("file:\\\\\\etc\\shadow", "/etc/shadow"),
            ("fi\tle:///etc/shadow", "/etc/shadow"),
            ("\u{200b}file:///etc/shadow", "/etc/shadow"),
            ("view-source:file:///etc/shadow", "/etc/shadow"),
            ("file:///%65tc/sh%61dow#x", "/etc/shadow"),
            ("() => fetch('file:///etc/shadow')", "/etc/shadow"),
            ("file:///", "/"),
        ] {
            assert_eq!(urls(text), [path], "{text}");
        }
        for text in [
            "https://example.com/file:x",
            "http://localhost:3000",
            "the file: report",
            "profile:///x",
            "file:",
            "",
        ] {
            assert_eq!(urls(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn texts_that_can_be_paths_are_found_at_any_depth() {
        let input = json!({
            "paths": ["/home/u/.ssh/id_rsa", "a b"],
            "n": 1,
            "x": {"y": " ~/k "},
            "~/.netrc": true,
        });
        let call = ToolCall::new("mcp__playwright__browser_file_upload", input.clone());

        let expected = ["/home/u/.ssh/id_rsa", "~/k", "~/.netrc"];
        assert_eq!(
            named_files(&call),
            expected.map(|path| NamedFile::Path(path.into()))
        );
        for own in ["mcp__autonoe__create", "Task"] {
            assert_eq!(named_files(&ToolCall::new(own, input.clone())), [], "{own}");
        }
    }
}
