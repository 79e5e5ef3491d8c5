//! [`Selection`]: files that a search includes.

use std::path::{Path, PathBuf};

use autonoe_core::ToolError;
use globset::{GlobBuilder, GlobMatcher};
use ignore::types::{Types, TypesBuilder};

use super::GrepInput;
use crate::tools::failure::invalid;

/// Files that a search includes, by their paths relative to the root of the workspace.
#[derive(Debug)]
pub(super) struct Selection {
    base: PathBuf,
    names: Option<(GlobMatcher, NamesOnly)>,
    types: Option<Types>,
}

/// Whether a pattern applies to file names instead of paths.
type NamesOnly = bool;

impl Selection {
    pub(super) fn new(input: &GrepInput, base: &Path) -> Result<Self, ToolError> {
        Ok(Self {
            base: base.to_owned(),
            names: input.glob.as_deref().map(names).transpose()?,
            types: input.file_type.as_deref().map(types).transpose()?,
        })
    }

    pub(super) fn has(&self, path: &Path) -> bool {
        let below = path.strip_prefix(&self.base).unwrap_or(path);
        let name = path.file_name().map_or(path, Path::new);
        let named = self.names.as_ref().is_none_or(|(names, names_only)| {
            names.is_match(if *names_only { name } else { below })
        });
        let typed = |types: &Types| types.matched(path, false).is_whitelist();
        named && self.types.as_ref().is_none_or(typed)
    }
}

fn names(glob: &str) -> Result<(GlobMatcher, NamesOnly), ToolError> {
    let text = glob.trim();
    let text = text.strip_prefix("./").unwrap_or(text);
    let built = GlobBuilder::new(text).literal_separator(true).build();
    let glob =
        built.map_err(|error| invalid(format!("{text:?} is not a pattern: {}", error.kind())))?;
    Ok((glob.compile_matcher(), !text.contains('/')))
}

fn types(name: &str) -> Result<Types, ToolError> {
    let built = TypesBuilder::new().add_defaults().select(name).build();
    built.map_err(|_| invalid(format!("there is no file type {name:?}; use glob instead")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(glob: Option<&str>, file_type: Option<&str>, base: &str, path: &str) -> bool {
        let input = GrepInput {
            glob: glob.map(str::to_owned),
            file_type: file_type.map(str::to_owned),
            ..GrepInput::default()
        };
        let selection = Selection::new(&input, Path::new(base)).expect("it makes sense");
        selection.has(Path::new(path))
    }

    #[test]
    fn files_are_selected_by_name_and_type() {
        assert!(has(None, None, "", "any"));
        assert!(has(Some("*.rs"), None, "", "src/a.rs"));
        assert!(has(Some("src/*.rs"), None, "", "src/a.rs"));
        assert!(has(Some("a/*.rs"), None, "src", "src/a/b.rs"));
        assert!(!has(Some("*.rs"), None, "", "src/a.ts"));
        assert!(has(None, Some("rust"), "", "src/a.rs"));
        assert!(!has(None, Some("rust"), "", "src/a.ts"));
        assert!(!has(Some("b*"), Some("rust"), "", "src/a.rs"));
    }

    #[test]
    fn invalid_type_or_glob_is_refused() {
        for input in [
            GrepInput {
                file_type: Some("nonsense".into()),
                ..GrepInput::default()
            },
            GrepInput {
                glob: Some("{a".into()),
                ..GrepInput::default()
            },
        ] {
            Selection::new(&input, Path::new("")).expect_err("refused");
        }
    }
}
