//! Every crate compiles with any one of its features.

use crate::cargo::Cargo;
use crate::failure::Failure;
use crate::metadata;

/// Compiles each of our crates without features, with each alone, and with all.
pub(super) fn check(cargo: &Cargo) -> Result<(), Failure> {
    let mut failed = Vec::new();
    for package in metadata::ours(cargo)? {
        for selection in selections(&package.features) {
            let args = ["check", "--quiet", "-p", &package.name];
            let selection = selection.iter().map(String::as_str);
            if let Err(failure) = cargo.run(args.into_iter().chain(selection)) {
                failed.push(failure.to_string());
            }
        }
    }
    Failure::unless_empty("not every combination compiles", &failed)
}

/// Returns the arguments for each combination worth compiling.
fn selections(features: &[String]) -> Vec<Vec<String>> {
    let alone = features.iter().map(|feature| {
        let selection = ["--no-default-features", "--features", feature];
        selection.map(str::to_owned).to_vec()
    });
    let mut selections = vec![vec!["--no-default-features".to_owned()]];
    selections.extend(alone);
    selections.push(vec!["--all-features".to_owned()]);
    selections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_feature_is_tried_alone() {
        let selections = selections(&["default".to_owned(), "serde".to_owned()]);

        assert_eq!(
            selections,
            [
                vec!["--no-default-features"],
                vec!["--no-default-features", "--features", "default"],
                vec!["--no-default-features", "--features", "serde"],
                vec!["--all-features"],
            ]
        );
    }
}
