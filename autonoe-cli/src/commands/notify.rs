//! Last deliveries of notifications, and alerts about commands that could not start.

use std::sync::Arc;
use std::time::Duration;

use autonoe_app::text::sanitize_line;
use autonoe_app::{AlertSource, ModelsFile, Notifications, RunAlerts};
use autonoe_core::{Project, RunControl};
use jiff::Timestamp;

use crate::args::NotifyArgs;
use crate::cli_env::CliEnv;
use crate::error::CliError;
use crate::present::Presenter;

/// Time limit for the last deliveries.
const FINISH_LIMIT: Duration = Duration::from_secs(30);

/// Time limit for the last deliveries of a command that the operator has interrupted.
const INTERRUPTED_LIMIT: Duration = Duration::from_secs(2);

/// Time after which a message announces the wait.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns the alerts of a run or a flow; `None` without a channel. Prints warnings.
pub(super) fn run_alerts(
    args: &NotifyArgs,
    source: AlertSource,
    project: &Project,
    models: &ModelsFile,
    env: &CliEnv,
) -> Result<Option<Arc<RunAlerts>>, CliError> {
    let notifications = notifications(args, source, project, models, env)?;
    if notifications.is_empty() {
        return Ok(None);
    }
    let alerts = RunAlerts::new(Arc::new(notifications), project);
    Ok(Some(Arc::new(alerts)))
}

/// Returns the channels for alerts. Prints warnings.
pub(super) fn notifications(
    args: &NotifyArgs,
    source: AlertSource,
    project: &Project,
    models: &ModelsFile,
    env: &CliEnv,
) -> Result<Notifications, CliError> {
    let notifications = Notifications::new(&args.options(), source, project, models, env)?;
    for warning in notifications.warnings() {
        env.print_note(&format!("warning: {}", sanitize_line(warning)));
    }
    Ok(notifications)
}

/// Waits for the last deliveries of a run, until the operator interrupts.
pub(super) async fn finish_run(
    notifications: &Notifications,
    control: &RunControl,
    presenter: &Presenter,
) {
    let is_interrupted = control.is_cancelled();
    let print = |text: &str| presenter.print(text);
    let late = tokio::select! {
        biased;
        late = finish(notifications, is_interrupted, print) => late,
        () = control.cancelled(), if !is_interrupted => None,
    };
    if let Some(late) = late {
        presenter.warn(&late);
    }
}

/// Waits for the last deliveries, in bounded time. Returns a warning if there was not enough.
pub(super) async fn finish(
    notifications: &Notifications,
    is_interrupted: bool,
    print: impl Fn(&str),
) -> Option<String> {
    if is_interrupted {
        return notifications.finish(INTERRUPTED_LIMIT).await;
    }
    notifications.finish(NOTIFY_TIMEOUT).await?;
    print("waiting for the last notifications; interrupt to skip them");
    notifications.finish(FINISH_LIMIT - NOTIFY_TIMEOUT).await
}

/// Sends the error of a command as an alert, unless a run has ended before.
pub(super) fn report_error<T>(
    result: &Result<T, CliError>,
    alerts: Option<&Arc<RunAlerts>>,
    env: &CliEnv,
) {
    if let (Err(error), Some(alerts)) = (result, alerts)
        && alerts.report_error(error, Timestamp::now())
    {
        deliver_now(alerts.notifications(), env);
    }
}

/// Delivers the queued alerts, without a run in progress.
pub(super) fn deliver_now(notifications: &Notifications, env: &CliEnv) {
    let print = |text: &str| env.print_note(&sanitize_line(text));
    let warn = {
        let env = env.clone();
        move |text: &str| env.print_note(&format!("warning: {}", sanitize_line(text)))
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else { return };
    let late = runtime.block_on(async {
        notifications.start(warn.clone());
        finish(notifications, false, print).await
    });
    if let Some(late) = late {
        warn(&late);
    }
}
