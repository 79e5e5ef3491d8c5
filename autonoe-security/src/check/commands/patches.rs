//! `apply_patch` and `patch`: literal patches that add and change files.
//!
//! The patch must be in the text. Patches that delete or rename a file are denied, and so is
//! everything that is not a plain patch, because `patch` also reads scripts of `ed`.

use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::path;
use crate::check::text::has_only;
use crate::check::write_target::Root;
use crate::{Denial, Rule};

/// Checks `apply_patch`, whose patch is its input or its only argument.
pub(super) fn apply_patch(call: &Call<'_, '_, '_>) -> Checked {
    let patch = match call.args {
        [] => call.input,
        [only] => only.known(),
        _ => None,
    };
    let Some(patch) = patch else {
        return Err(unknown(call));
    };
    let lines: Vec<&str> = patch.trim().lines().collect();
    let [first, lines @ .., last] = &lines[..] else {
        return Err(unknown(call));
    };
    if first.trim() != "*** Begin Patch" || last.trim() != "*** End Patch" {
        return Err(unknown(call));
    }
    for line in lines {
        // The program ignores blanks around a mark.
        let Some(mark) = line.trim().strip_prefix("***") else {
            continue;
        };
        let mark = mark.trim();
        let file = ["Add File:", "Update File:"]
            .iter()
            .find_map(|start| mark.strip_prefix(start));
        match file {
            Some(file) => check_file(call, file.trim())?,
            None if mark == "End of File" => {}
            None => {
                let reason = format!("'*** {mark}' does not only add or change a file");
                return Err(call
                    .deny(Rule::R105, reason)
                    .instead("use Add File and Update File; git rm and git mv for tracked files"));
            }
        }
    }
    Ok(())
}

/// Flags of `patch` under which it only changes the files that the patch names. Missing are `-R` and
/// `-t`, which may reverse the creation of a file.
const FLAGS: &[&str] = words!(
    "-N -f -l -s -u --dry-run --force --forward --ignore-whitespace --quiet --silent --unified",
    "--verbose",
);

/// Checks `patch` with a here-document.
pub(super) fn patch(call: &Call<'_, '_, '_>) -> Checked {
    let mut strip = None;
    let mut target = None;
    let mut args = call.args.iter();
    while let Some(arg) = args.next() {
        let text = arg.known().ok_or_else(|| call.deny_dynamic(arg))?;
        let count = match text {
            "-p" | "--strip" => args.next().and_then(Arg::known),
            _ => text
                .strip_prefix("--strip=")
                .or_else(|| text.strip_prefix("-p")),
        };
        match count.map(str::parse) {
            Some(Ok(count)) if strip.is_none() => strip = Some(count),
            None if FLAGS.contains(&text) => {}
            None if !text.starts_with('-') && target.is_none() => target = Some(text),
            _ => {
                return Err(call
                    .deny_flag(Rule::R105, text, arg.span)
                    .instead("use patch -p1 with a here-document, or git apply FILE"));
            }
        }
    }
    let names = call
        .input
        .and_then(named_files)
        .ok_or_else(|| unknown(call))?;
    if let Some(target) = target {
        return check_file(call, target);
    }
    for name in names {
        match strip {
            Some(count) => check_file(call, stripped(name, count))?,
            // It takes the last name, or the path if there is such a file.
            None => {
                check_file(call, path::file_name(name))?;
                check_file(call, name)?;
            }
        }
    }
    Ok(())
}

fn check_file(call: &Call<'_, '_, '_>, file: &str) -> Checked {
    if file.starts_with('~') {
        return Err(unknown(call));
    }
    call.check_write_target(&Arg::plain(file.to_owned(), call.span), Root::Refused)
}

fn unknown(call: &Call<'_, '_, '_>) -> Denial {
    call.deny(Rule::R105, "the patch is not plain text of this command")
        .instead("write it as a here-document with a quoted delimiter, or use git apply FILE")
}

/// Returns a path without its first `count` folders.
fn stripped(path: &str, count: usize) -> &str {
    let mut rest = path;
    for _ in 0..count {
        rest = match rest.split_once('/') {
            Some((_, rest)) => rest.trim_start_matches('/'),
            None => return rest,
        };
    }
    rest
}

/// Returns the files that a unified diff names; `None` if it is none, or deletes or renames a file.
fn named_files(patch: &str) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut lines = patch.lines();
    while let Some(line) = lines.next() {
        if let Some(hunk) = line.strip_prefix("@@ ") {
            skip_hunk(hunk, &mut lines)?;
            continue;
        }
        if line.starts_with("\\ ") || line.is_empty() || is_plain_header(line) {
            continue;
        }
        // Without the lines below, these names count.
        if let Some(pair) = line.strip_prefix("diff --git ") {
            let (old, new) = pair.split_once(' ')?;
            names.extend([old, new]);
            if !has_only(pair, "_./+@- ") || new.contains(' ') {
                return None;
            }
            continue;
        }
        let name = line
            .strip_prefix("--- ")
            .map(|name| (name, true))
            .or_else(|| line.strip_prefix("+++ ").map(|name| (name, false)));
        let (name, is_old) = name?;
        let (name, time) = name.split_once('\t').unwrap_or((name, ""));
        // A file of the beginning of time does not exist.
        if !has_only(name, "_./+@-") || time.contains("19") {
            return None;
        }
        match (name, is_old) {
            ("/dev/null", true) => {}
            ("/dev/null", false) => return None,
            _ => names.push(name),
        }
    }
    (!names.is_empty()).then_some(names)
}

/// Returns whether a line of git in front of the names of a file neither deletes nor renames it.
fn is_plain_header(line: &str) -> bool {
    line == "new file mode 100644"
        || line.strip_prefix("index ").is_some_and(|rest| {
            rest.bytes()
                .all(|it| it.is_ascii_hexdigit() || b". ".contains(&it))
        })
}

/// Reads the lines of a hunk; `None` if they are not as many as its head says.
fn skip_hunk<'t>(head: &str, lines: &mut impl Iterator<Item = &'t str>) -> Option<()> {
    let mut ranges = head.split(' ');
    let mut count = |sign: char| -> Option<usize> {
        let range = ranges.next()?.strip_prefix(sign)?;
        let (start, count) = range.split_once(',').unwrap_or((range, "1"));
        start.parse::<usize>().ok()?;
        count.parse().ok()
    };
    let (mut old, mut new) = (count('-')?, count('+')?);
    while old > 0 || new > 0 {
        let line = lines.next()?;
        match line.as_bytes().first() {
            None | Some(b' ') => {
                old = old.checked_sub(1)?;
                new = new.checked_sub(1)?;
            }
            Some(b'-') => old = old.checked_sub(1)?,
            Some(b'+') => new = new.checked_sub(1)?,
            Some(b'\\') => {}
            _ => return None,
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_unified_diffs_name_files() {
        let diff = "--- a/x.go\n+++ b/x.go\n@@ -1,2 +1,3 @@ func x\n a\n+b\n c\n";
        assert_eq!(named_files(diff), Some(vec!["a/x.go", "b/x.go"]));
        let new = "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n\\ No newline at end of file\n";
        assert_eq!(named_files(new), Some(vec!["b/x"]));
        for other in [
            "",
            "1d\n",
            "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
            "--- a/x\n+++ b/x\t1970-01-01 00:00:00\n@@ -1 +0,0 @@\n-a\n",
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n 1d\n",
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n --- /etc/x\n",
            "rename from x\nrename to y\n",
            "diff --git a/x b/y z\nnew file mode 100644\n",
            "Index: x\n",
            "--- \"a x\"\n",
        ] {
            assert_eq!(named_files(other), None, "{other}");
        }
    }

    #[test]
    fn folders_are_stripped_from_the_front() {
        assert_eq!(stripped("a/b/c", 1), "b/c");
        assert_eq!(stripped("a//b/c", 1), "b/c");
        assert_eq!(stripped("c", 1), "c");
        assert_eq!(stripped("a/b", 0), "a/b");
    }
}
