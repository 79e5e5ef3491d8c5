//! `cargo xtask corpus`: the number of cases in each file of the Bash corpus, in `counts.json`.
//!
//! A test compares the numbers, so a lost case is visible in review.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::cargo::Cargo;
use crate::failure::Failure;

/// The folder of the corpus.
const FOLDER: &str = "autonoe-security/corpus";

/// The file with the numbers.
const COUNTS: &str = "counts.json";

/// Counts the cases and writes the numbers.
pub(crate) fn update(cargo: &Cargo) -> Result<(), Failure> {
    let folder = cargo.root().join(FOLDER);
    let text = count(&folder)?;
    let path = folder.join(COUNTS);
    fs::write(&path, &text)
        .map_err(|source| Failure::new(format!("cannot write {}: {source}", path.display())))?;
    print!("{text}");
    Ok(())
}

/// Returns the numbers of cases by file and expected verdict, as the text of `counts.json`.
fn count(folder: &Path) -> Result<String, Failure> {
    let unreadable = |source| Failure::new(format!("cannot read {}: {source}", folder.display()));
    let mut files = BTreeMap::new();
    let mut total = [0; 2];
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let text = fs::read_to_string(&path).map_err(unreadable)?;
        let counts = count_verdicts(&name, &text)?;
        total = [total[0] + counts[0], total[1] + counts[1]];
        files.insert(name.into_owned(), counts_json(counts));
    }
    let counts = json!({"files": files, "total": counts_json(total)});
    Ok(format!("{counts:#}\n"))
}

fn counts_json([allow, deny]: [usize; 2]) -> Value {
    json!({"allow": allow, "deny": deny})
}

/// Returns how many lines of `text` expect `allow` and how many `deny`.
fn count_verdicts(name: &str, text: &str) -> Result<[usize; 2], Failure> {
    let mut counts = [0; 2];
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let case: Value = serde_json::from_str(line)
            .map_err(|source| Failure::new(format!("{name}.jsonl:{number}: {source}")))?;
        match case["expect"].as_str() {
            Some("allow") => counts[0] += 1,
            Some("deny") => counts[1] += 1,
            _ => {
                let problem = "`expect` is neither allow nor deny";
                return Err(Failure::new(format!("{name}.jsonl:{number}: {problem}")));
            }
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_numbers_are_those_of_the_corpus() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let folder = root.join(FOLDER);

        let committed = fs::read_to_string(folder.join(COUNTS)).unwrap();

        let counted = count(&folder).unwrap();
        assert_eq!(committed, counted, "run `cargo xtask corpus`");
    }

    #[test]
    fn verdicts_are_counted_and_others_refused() {
        let text = "{\"expect\": \"deny\"}\n{\"expect\": \"allow\"}\n{\"expect\": \"deny\"}\n";

        assert_eq!(count_verdicts("git", text), Ok([1, 2]));
        for (line, problem) in [
            (
                "{\"expect\": \"ask\"}",
                "git.jsonl:1: `expect` is neither allow nor deny",
            ),
            ("", ""),
        ] {
            let text = count_verdicts("git", line).map_err(|failure| failure.to_string());
            assert_eq!(text.err().unwrap_or_default(), problem);
        }
        assert!(count_verdicts("git", "no JSON").is_err());
    }
}
