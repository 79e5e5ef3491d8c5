//! Whether an agent is in the outer sandbox that its backend claims to make.

use autonoe_core::Support;

use super::played::play;
use super::sessions::runs;
use super::stand::GateIs;
use super::subject::Subject;
use super::survey::missing;
use crate::conformance::checks::{Finding, Flaw};
use crate::conformance::marker::Marker;

/// Lets an agent run a command that writes into the project and beside it: the first shows that
/// it ran.
pub(super) async fn an_agent_is_kept_in(subject: &Subject<'_>, claimed: Support) -> Finding {
    if !claimed.is_yes() {
        let why = "the backend makes no outer sandbox";
        return Err(Flaw::Untestable(why.to_owned()));
    }
    let project = subject.harness.project();
    let beside = project.parent().filter(|folder| folder.parent().is_some());
    let beside = beside.ok_or_else(|| {
        Flaw::Untestable("the project is in no folder that could be written to".to_owned())
    })?;
    let (inside, outside) = (Marker::in_dir(&project), Marker::in_dir(beside));
    let scenario = runs(&format!("{}; {}", inside.touch(), outside.touch()));

    let session = play(subject, "enclosed", &scenario, GateIs::OpenInWalls).await;

    outside.is_absent()?;
    let Ok(played) = &session else {
        return Err(missing(&session));
    };
    ensure!(
        inside.is_absent().is_err(),
        "the command did not run in the outer sandbox: {:?}",
        played.responses()
    );
    Ok(())
}
