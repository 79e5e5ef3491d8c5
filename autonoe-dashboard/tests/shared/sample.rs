//! Sample fleet for tests.

use std::time::Duration;

use autonoe_core::CostUsd;
use autonoe_core::agent::{CostTotal, TokenUsage};
use autonoe_dashboard::{
    AlertLine, AlertSeverity, Dashboard, FleetPhase, MemberRow, MemberRowStatus, Progress,
};

/// Text that a malicious agent could write.
pub(crate) const EVIL: &str = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>\u{1b}]0;owned\u{7}\u{1b}[2J";

pub(crate) fn member(id: &str, status: MemberRowStatus, progress: f64) -> MemberRow {
    let mut member = MemberRow::new(id, "claude");
    member.status = status;
    member.progress = Progress::new(progress);
    member
}

/// Returns four members with different statuses, and two alerts.
pub(crate) fn fleet() -> Dashboard {
    let at = "2026-01-31T18:00:05Z".parse().expect("a time");

    let mut api = member("api", MemberRowStatus::Running, 0.45);
    api.model = Some("sonnet".to_owned());
    api.task = Some("Write the handlers".to_owned());
    api.iteration = 3;
    api.cost = CostTotal::known(CostUsd::from_cents(150));
    api.tokens = TokenUsage {
        input: 12_000,
        output: 345,
        ..TokenUsage::default()
    };
    api.log = vec!["read src/lib.rs".to_owned(), "wrote src/api.rs".to_owned()];

    let mut pages = member("pages", MemberRowStatus::Paused, 0.999);
    pages.backend = "codex".to_owned();
    pages.task = Some("Draw the pages".to_owned());
    pages.cost = CostTotal::at_least(CostUsd::from_cents(20));

    let mut tests = member("tests", MemberRowStatus::Failed, 0.1);
    tests.backend = "gemini".to_owned();
    tests.cost = CostTotal::unknown();
    tests.error = Some("the model is gone".to_owned());
    let stuck = AlertLine::new(AlertSeverity::Critical, "stuck", "five times the same", at);
    tests.last_alert = Some(stuck.clone().member("tests"));

    let docs = member("docs", MemberRowStatus::Completed, 1.0);

    let mut fleet =
        Dashboard::new("Build the shop", "parallel").with_members(vec![api, pages, tests, docs]);
    fleet.phase = FleetPhase::Running;
    fleet.started_at = Some("2026-01-31T17:00:00Z".parse().expect("a time"));
    fleet.elapsed = Duration::from_secs(3605);
    let began = AlertLine::new(AlertSeverity::Info, "began", "four agents", at);
    fleet.alerts = vec![stuck.member("tests"), began];
    fleet
}
