//! What the commits of a run say about it.

use autonoe_core::{Epoch, RunId};

const RUN: &str = "Autonoe-Run";
const EPOCH: &str = "Autonoe-Epoch";
const CLAIM: &str = "Autonoe-Claim";
const SESSION: &str = "Autonoe-Session";
const HEAD: &str = "Autonoe-Head";

/// What a commit of a run says about it, in the last lines of its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) run: RunId,
    /// The epoch of the host that made the commit.
    pub(super) epoch: Epoch,
    /// A number that nobody else has. Without it two hosts could make the same commit in the same
    /// second, and to both of them the remote would say that it is there.
    pub(super) claim: String,
    /// The session after which it was made, if it was.
    pub(super) session: Option<u32>,
    /// The commit that agents are at. It is an ancestor of the one that says so.
    pub(super) head: String,
}

impl Stamp {
    /// Returns a message with that first line.
    pub(super) fn message(&self, subject: &str) -> String {
        let Self {
            run,
            epoch: Epoch(epoch),
            claim,
            session,
            head,
        } = self;
        let session = session.map(|number| format!("{SESSION}: {number}\n"));
        let session = session.unwrap_or_default();
        format!(
            "{subject}\n\n{RUN}: {run}\n{EPOCH}: {epoch}\n{CLAIM}: {claim}\n{session}{HEAD}: {head}\n"
        )
    }

    /// Reads the message of a commit; `None` if it is not of `run`.
    ///
    /// The last paragraph is read, and each line of it once: who writes one twice is not us.
    pub(super) fn read(message: &str, run: &RunId) -> Option<Self> {
        let (_, last) = message.trim_end().rsplit_once("\n\n")?;
        let value = |name: &str| {
            let mut values = last.lines().filter_map(|line| {
                let (said, value) = line.split_once(": ")?;
                (said == name).then_some(value)
            });
            values.next().filter(|_| values.next().is_none())
        };
        if value(RUN)? != run.as_str() {
            return None;
        }
        let session = match value(SESSION) {
            None => None,
            Some(number) => Some(number.parse().ok()?),
        };
        let head = value(HEAD).filter(|head| head.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        Some(Self {
            run: run.clone(),
            epoch: Epoch(value(EPOCH)?.parse().ok()?),
            claim: value(CLAIM)?.to_owned(),
            session,
            head: head.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(session: Option<u32>) -> Stamp {
        Stamp {
            run: RunId::new("shop"),
            epoch: Epoch(7),
            claim: "c1".to_owned(),
            session,
            head: "ab12".to_owned(),
        }
    }

    #[test]
    fn what_was_written_is_read() {
        for stamp in [stamp(None), stamp(Some(3))] {
            let message = stamp.message("Keep what session 3 did");

            assert_eq!(Stamp::read(&message, &stamp.run), Some(stamp));
        }
    }

    #[test]
    fn what_somebody_else_wrote_is_not_ours() {
        let ours = stamp(None).message("Take over");
        for message in [
            "Fix a typo".to_owned(),
            ours.replace("shop", "other"),
            format!("{ours}\nSigned-off-by: Ada"),
            ours.replace("Epoch: 7", "Epoch: seven"),
            ours.replace("ab12", "--all"),
            format!("{ours}Autonoe-Epoch: 9\n"),
        ] {
            assert_eq!(
                Stamp::read(&message, &RunId::new("shop")),
                None,
                "{message}"
            );
        }
    }
}
