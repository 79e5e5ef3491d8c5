//! Search path of a prompt.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::definition::{PromptPaths, PromptRef};

/// Place where a prompt was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PromptOrigin {
    /// At the reference itself.
    Reference,
    /// At a fallback of the reference.
    Fallback,
    /// In the fallback folder, which is searched last.
    Global,
}

/// A possible location of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    pub(crate) origin: PromptOrigin,
}

/// Returns the locations of the prompt `reference` in search order: the reference, its fallbacks,
/// the fallback folder.
pub(crate) fn candidates(reference: &PromptRef, places: &PromptPaths) -> Vec<Candidate> {
    let base = places.base.as_path();
    let chain: Vec<PathBuf> = std::iter::successors(Some(reference), |it| it.fallback())
        .map(|reference| reference.file(base))
        .collect();
    let mut found: Vec<Candidate> = Vec::new();
    for (index, path) in chain.iter().enumerate() {
        let origin = match index {
            0 => PromptOrigin::Reference,
            _ => PromptOrigin::Fallback,
        };
        found.push(Candidate {
            path: path.clone(),
            origin,
        });
    }
    if let Some(global) = &places.fallback_dir {
        let in_global = chain.iter().map(|path| Candidate {
            path: global.as_path().join(below_base(path, base)),
            origin: PromptOrigin::Global,
        });
        found.extend(in_global);
    }
    found
}

/// Returns `path` relative to `base`, or unchanged if it is not below `base`.
fn below_base<'a>(path: &'a Path, base: &Path) -> &'a Path {
    path.strip_prefix(base).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn prompt_folders_are_searched_in_the_order_of_the_contract() {
        let reference: PromptRef = serde_json::from_value(json!({
            "c1": "write", "c2": "draft", "c3": "issue", "edition": "new", "adaptation": "short",
            "fallback": {"c1": "write", "c2": "draft", "c3": "issue",
                         "fallback": "prompts/draft.md"},
        }))
        .expect("a reference");
        let places: PromptPaths =
            serde_json::from_value(json!({"fallbackDir": "shared"})).expect("places");

        let found = candidates(&reference, &places);

        let locations: Vec<_> = found
            .iter()
            .map(|it| (it.path.to_str().expect("text"), it.origin))
            .collect();
        assert_eq!(
            locations,
            [
                (
                    "prompts/write/draft/issue/f_new_short.md",
                    PromptOrigin::Reference
                ),
                (
                    "prompts/write/draft/issue/f_default.md",
                    PromptOrigin::Fallback
                ),
                ("prompts/draft.md", PromptOrigin::Fallback),
                (
                    "shared/write/draft/issue/f_new_short.md",
                    PromptOrigin::Global
                ),
                (
                    "shared/write/draft/issue/f_default.md",
                    PromptOrigin::Global
                ),
                ("shared/draft.md", PromptOrigin::Global),
            ]
        );
    }
}
