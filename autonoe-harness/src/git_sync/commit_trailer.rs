//! Trailers in the commit messages of a run.

use autonoe_core::RunId;
use autonoe_core::time::Epoch;

const RUN: &str = "Autonoe-Run";
const EPOCH: &str = "Autonoe-Epoch";
const CLAIM: &str = "Autonoe-Claim";
const SESSION: &str = "Autonoe-Session";
const HEAD: &str = "Autonoe-Head";

/// Metadata of a run in a commit, as trailers of its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommitTrailer {
    pub(super) run: RunId,
    /// The epoch of the host that created the commit.
    pub(super) epoch: Epoch,
    /// A unique ID. Without it, two hosts could create the same commit in the same second, and both
    /// would see it on the remote as their own.
    pub(super) claim: String,
    /// The session after which the commit was created, if any.
    pub(super) session: Option<u32>,
    /// The commit of the agents' repository. It is an ancestor of this commit.
    pub(super) head: String,
}

impl CommitTrailer {
    /// Returns a commit message with this subject.
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

    /// Parses the message of a commit; `None` if it does not belong to `run`.
    ///
    /// Only the last paragraph is read, and each trailer must occur once: a repeated trailer was
    /// written by someone else.
    pub(super) fn parse(message: &str, run: &RunId) -> Option<Self> {
        let (_, last) = message.trim_end().rsplit_once("\n\n")?;
        let value = |name: &str| {
            let mut values = last.lines().filter_map(|line| {
                let (key, value) = line.split_once(": ")?;
                (key == name).then_some(value)
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

    fn stamp(session: Option<u32>) -> CommitTrailer {
        CommitTrailer {
            run: RunId::new("shop"),
            epoch: Epoch(7),
            claim: "c1".to_owned(),
            session,
            head: "ab12".to_owned(),
        }
    }

    #[test]
    fn trailers_survive_a_round_trip() {
        for stamp in [stamp(None), stamp(Some(3))] {
            let message = stamp.message("Keep what session 3 did");

            assert_eq!(CommitTrailer::parse(&message, &stamp.run), Some(stamp));
        }
    }

    #[test]
    fn foreign_trailers_are_refused() {
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
                CommitTrailer::parse(&message, &RunId::new("shop")),
                None,
                "{message}"
            );
        }
    }
}
