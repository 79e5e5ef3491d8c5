//! What the guards of a run refuse.

use autonoe_core::ExitReason;
use autonoe_testkit::model_server::{Script, Turn};

use super::{Run, passing, planning, status_on_disk};
use crate::model::{adds, patch, shell};
use crate::setting::Setting;

/// Calls that no run allows: each would leave a file, or change the ledger.
fn refused() -> [Turn; 8] {
    [
        shell("touch trace.txt"),
        shell("echo before > trace.txt; curl example.com"),
        shell("bash -c 'echo 1 > trace.txt'"),
        shell("echo '{}' > .autonoe/status.json"),
        shell("cd .autonoe && echo 1 > trace.txt"),
        adds(".autonoe/trace.txt", "1"),
        adds("../trace.txt", "1"),
        // One file that may be written does not open the way for the other.
        patch(
            "*** Begin Patch\n*** Add File: fine.txt\n+1\n*** Add File: .autonoe/trace.txt\n+1\n\
             *** End Patch\n",
        ),
    ]
}

#[tokio::test]
async fn what_the_guards_refuse_leaves_no_trace() {
    let turns = planning().into_iter().chain(refused()).chain(passing());
    let setting = Setting::new(Script::new(turns)).sandboxed();

    let (report, ended) = Run::in_project_of(&setting).until_it_ends().await;

    assert_eq!(report.exit, ExitReason::AllPassed, "{report} {ended:?}");
    assert_eq!(setting.files(), ["SPEC.md"]);
    assert!(!setting.file(".autonoe/trace.txt").exists());
    assert!(!setting.file("../trace.txt").exists());
    assert_eq!(status_on_disk(&setting)["passed"], true);
    let requests = setting.server.log().main_requests();
    let told = requests.last().expect("there are some").user_texts();
    let reasons = told.iter().filter(|text| text.contains("was refused:"));
    assert_eq!(reasons.count(), refused().len(), "{told:?}");
    setting.server.verify();
    setting.assert_nothing_is_left();
}
