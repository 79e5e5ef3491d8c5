//! `source` and `.`: only the activation of a virtual environment.

use crate::Rule;
use crate::check::call::{Call, Checked};
use crate::check::path;
use crate::policy::Profile;

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let is_fine = match call.args {
        [script] => script.known().is_some_and(|script| {
            script.ends_with("/bin/activate")
                && call.is_in_project(script)
                && !path::is_protected(path::below(script, call.policy().project_dir()))
                && call.policy().is_active(Profile::Python)
        }),
        _ => false,
    };
    if is_fine {
        Ok(())
    } else {
        Err(call
            .deny(
                Rule::R11,
                "only bin/activate of a virtual environment may be sourced",
            )
            .instead("run the script's commands directly"))
    }
}
