//! [`McpLog`], the program's log of an MCP server.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use tokio::time::{Instant, sleep};

/// The bytes that are read from the end of a log.
const TAIL_BYTES: u64 = 256 * 1024;

/// The longest name that the program derives from a path without shortening it.
const MAX_NAME_LEN: usize = 200;

/// The longest wait for the program's log. The program writes it once per second.
const LIMIT: Duration = Duration::from_secs(5);

/// The time between two reads of the log.
const PAUSE: Duration = Duration::from_millis(100);

/// The program's log of an MCP server that failed.
///
/// The program reports neither the standard error of a server nor the HTTP status, but it writes
/// both to a file in its cache folder. The format is not documented, so a log that cannot be
/// found or read counts as empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct McpLog {
    pub(super) http_status: Option<u16>,
    pub(super) stderr: Option<String>,
}

impl McpLog {
    /// Waits until the failure of `server` is in its log, and reads the log.
    ///
    /// The program works in `directory` with `environment`, and started after `since`.
    pub(super) async fn read(
        environment: &BTreeMap<OsString, OsString>,
        directory: &Path,
        server: &str,
        since: SystemTime,
    ) -> Self {
        let Some(folder) = folder(environment, directory, server) else {
            return Self::default();
        };
        let deadline = Instant::now() + LIMIT;
        loop {
            let text = newest_file(&folder, since).and_then(|file| tail(&file));
            let found = text.as_deref().and_then(Self::parse);
            match found {
                Some(log) => return log,
                None if Instant::now() >= deadline => return Self::default(),
                None => sleep(PAUSE).await,
            }
        }
    }

    /// Parses the text of a log; `None` while the failure is not in it.
    fn parse(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Entry {
            #[serde(alias = "debug")]
            error: Option<String>,
        }
        let mut log = Self::default();
        let mut has_failed = false;
        for line in text.lines() {
            let entry = serde_json::from_str::<Entry>(line).ok();
            let Some(entry) = entry.and_then(|entry| entry.error) else {
                continue;
            };
            if let Some(stderr) = entry.strip_prefix("Server stderr: ") {
                log.stderr = Some(stderr.to_owned());
            }
            has_failed |= entry.starts_with("Connection failed")
                || entry.starts_with("Authentication required");
            log.http_status = http_status(&entry).or(log.http_status);
        }
        has_failed.then_some(log)
    }
}

/// Finds the HTTP status in the report of a failed connection.
fn http_status(entry: &str) -> Option<u16> {
    let report = entry.split_once("onnection failed")?.1;
    // `.. (code: 500, errno: none)` in one build, `Connection failed (500): ..` in another.
    let mut numbers = report.split('(').skip(1).filter_map(|part| {
        let part = part.strip_prefix("code: ").unwrap_or(part);
        let number = part.split([',', ')']).next()?;
        number.parse().ok()
    });
    numbers.find(|status| (100..600).contains(status))
}

/// Returns the folder with the program's logs of `server`.
fn folder(
    environment: &BTreeMap<OsString, OsString>,
    directory: &Path,
    server: &str,
) -> Option<PathBuf> {
    let variable = |name: &str| {
        let path = environment.get(OsStr::new(name)).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let home = variable("HOME");
    let caches = if cfg!(target_os = "macos") {
        home?.join("Library/Caches")
    } else {
        variable("XDG_CACHE_HOME").or_else(|| Some(home?.join(".cache")))?
    };
    let project = file_name(directory.to_str()?)?;
    let server = file_name(server)?;
    let of_project = caches.join("claude-cli-nodejs").join(project);
    Some(of_project.join(format!("mcp-logs-{server}")))
}

/// Returns the file name that the program derives from a text.
fn file_name(text: &str) -> Option<String> {
    let plain = |unit: u16| match char::from_u32(unit.into()) {
        Some(letter) if letter.is_ascii_alphanumeric() => letter,
        _ => '-',
    };
    // The program counts in UTF-16.
    let name: String = text.encode_utf16().map(plain).collect();
    (name.len() <= MAX_NAME_LEN).then_some(name)
}

/// Returns the newest log that was written after `since`. Its name is a time.
fn newest_file(folder: &Path, since: SystemTime) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let is_new = |entry: &fs::DirEntry| {
        let written = entry.metadata().and_then(|found| found.modified());
        written.is_ok_and(|written| written >= since)
    };
    entries.filter(is_new).map(|entry| entry.path()).max()
}

/// Reads the end of a file.
fn tail(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let start = file.metadata().ok()?.len().saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_and_the_standard_error_are_read_from_the_logs_of_both_builds() {
        for (text, expected) in [
            ("", None),
            (
                "{\"debug\":\"Starting connection with timeout of 30000ms\"}\n",
                None,
            ),
            (
                // 2.1.197
                "{\"error\":\"Server stderr: cannot open\\nthe file\\n\",\"cwd\":\"/p\"}\n\
                 {\"debug\":\"Connection failed after 79ms: MCP error -32000: Connection closed\"}\n\
                 {\"error\":\"Connection failed: MCP error -32000: Connection closed\"}\n",
                Some((None, Some("cannot open\nthe file\n"))),
            ),
            (
                "{\"debug\":\"HTTP Connection failed after 108ms: Streamable HTTP error: \
                 Error POSTing to endpoint: why (not) (code: 500, errno: none)\"}\n\
                 {\"error\":\"Connection failed: Streamable HTTP error: why\"}\n",
                Some((Some(500), None)),
            ),
            (
                "{\"debug\":\"HTTP Connection failed after 96ms: x (code: 403, errno: none)\"}\n\
                 {\"debug\":\"Authentication required for HTTP server\"}\n",
                Some((Some(403), None)),
            ),
            (
                // 2.1.325
                "not json\n\
                 {\"debug\":\"stderr of the stdio server before restarting it: first\"}\n\
                 {\"error\":\"Server stderr: second\"}\n\
                 {\"error\":\"Connection failed (CONNECTION_CLOSED): Connection closed\"}\n",
                Some((None, Some("second"))),
            ),
            (
                "{\"debug\":\"HTTP Connection failed after 93ms: x (code: \
                 CLIENT_HTTP_NOT_IMPLEMENTED, errno: none)\"}\n\
                 {\"error\":\"Connection failed (502): Error POSTing to endpoint: x\"}\n",
                Some((Some(502), None)),
            ),
        ] {
            let expected = expected.map(|(http_status, stderr): (_, Option<&str>)| McpLog {
                http_status,
                stderr: stderr.map(str::to_owned),
            });
            assert_eq!(McpLog::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn the_log_is_in_the_cache_folder_under_the_names_of_project_and_server() {
        let variables = |list: &[(&str, &str)]| -> BTreeMap<OsString, OsString> {
            let pair = |(name, value): &(&str, &str)| (name.into(), value.into());
            list.iter().map(pair).collect()
        };
        let project = Path::new("/srv/my_shöp.x");
        let found = |list: &[(&str, &str)], path| folder(&variables(list), path, "my_db");
        let below = "claude-cli-nodejs/-srv-my-sh-p-x/mcp-logs-my-db";

        let of_home = if cfg!(target_os = "macos") {
            "/home/me/Library/Caches"
        } else {
            "/home/me/.cache"
        };
        let home = ("HOME", "/home/me");
        assert_eq!(
            found(&[home], project),
            Some(Path::new(of_home).join(below))
        );
        if cfg!(target_os = "linux") {
            let caches = found(&[home, ("XDG_CACHE_HOME", "/c")], project);
            assert_eq!(caches, Some(Path::new("/c").join(below)));
        }
        assert_eq!(found(&[], project), None);
        let long = format!("/{}", "a".repeat(300));
        assert_eq!(found(&[home], Path::new(&long)), None);
    }

    #[test]
    fn only_a_log_of_this_session_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let now = SystemTime::now();
        for name in [
            "2026-01-01T00-00-00-000Z.jsonl",
            "2026-01-02T00-00-00-000Z.jsonl",
        ] {
            fs::write(folder.path().join(name), "").expect("writable");
        }

        let before = newest_file(folder.path(), now - Duration::from_secs(60));
        assert!(before.is_some_and(|file| file.ends_with("2026-01-02T00-00-00-000Z.jsonl")));
        assert_eq!(
            newest_file(folder.path(), now + Duration::from_secs(60)),
            None
        );
        assert_eq!(newest_file(Path::new("/nowhere"), now), None);
    }
}
