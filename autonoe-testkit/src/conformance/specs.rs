//! Conformance suite for registered specs.

use autonoe_core::spec::{BackendSpec, HookSpec, SpecEntry, SpecPort, registered_specs};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::checks::{CheckOutcome, Checks, Conformance, Flaw};

/// Checks every [`HookSpec`] and [`BackendSpec`] that is registered in this program.
///
/// A crate that is never named in code is not linked: write `use that_crate as _;` in the test,
/// otherwise its specs are not checked.
///
/// ```
/// use autonoe_testkit::conformance;
///
/// conformance::specs().assert();
/// ```
pub fn specs() -> Conformance {
    let mut checks = Checks::new("specs");
    port::<dyn HookSpec>(&mut checks, SpecPort::Hook);
    port::<dyn BackendSpec>(&mut checks, SpecPort::Backend);
    checks.finish()
}

fn port<S: Serialize + ?Sized>(checks: &mut Checks, port: SpecPort)
where
    Box<S>: DeserializeOwned,
{
    let specs = registered_specs(port);
    let named = |check: &str| format!("{port:?}: {check}");
    let each = || specs.iter().copied();

    checks.each(
        &named("tags are unique"),
        specs.windows(2),
        |pair| match pair {
            [one, other] if one.tag == other.tag => {
                Err(Flaw::Failed(format!("{:?} is registered twice", one.tag)))
            }
            _ => Ok(()),
        },
    );
    checks.each(&named("tags have the form crate-thing"), each(), |spec| {
        let may_be = reads_crate_thing(spec.tag) || is_own(spec.port, spec.tag, spec.module);
        ensure!(may_be, "{:?} does not have this form", spec.tag);
        Ok(())
    });
    checks.each(&named("an example names its tag"), each(), |spec| {
        let named = &(spec.example)()["type"];
        ensure!(
            named == spec.tag,
            "the example of {:?} is of type {named}",
            spec.tag
        );
        Ok(())
    });
    checks.each(&named("an example can be read"), each(), |spec| {
        read::<S>(spec, &(spec.example)()).map(drop)
    });
    checks.each(
        &named("a spec survives being written and read"),
        each(),
        survives::<S>,
    );
    checks.each(&named("a schema describes an object"), each(), |spec| {
        let schema = (spec.schema)().to_value();
        ensure!(
            describes_object(&schema),
            "the schema of {:?} is {schema}",
            spec.tag
        );
        Ok(())
    });
    checks.run_sync(
        &named("the error about an unknown tag lists the known ones"),
        || {
            let unknown = json!({"type": "conformance-no-such-spec"});
            let Err(error) = serde_json::from_value::<Box<S>>(unknown) else {
                return Err(Flaw::Failed("an unknown tag was read".into()));
            };
            let error = error.to_string();
            for spec in &specs {
                ensure!(
                    error.contains(spec.tag),
                    "{:?} is not in: {error}",
                    spec.tag
                );
            }
            Ok(())
        },
    );
}

fn reads_crate_thing(tag: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    tag.contains('-') && tag.split('-').all(is_word)
}

/// Tags of Autonoe's own backends. They are short because people type them.
const OUR_BACKENDS: [&str; 6] = ["acp", "claude", "codex", "gemini", "model", "scripted"];

/// Returns whether a spec is one of Autonoe's own, which may have a short tag.
fn is_own(port: SpecPort, tag: &str, module: &str) -> bool {
    let of_autonoe = module.starts_with("autonoe_");
    port == SpecPort::Backend && of_autonoe && OUR_BACKENDS.contains(&tag)
}

fn describes_object(schema: &Value) -> bool {
    // An enum of several variants must be an object in each of them.
    let shapes = schema
        .get("oneOf")
        .or_else(|| schema.get("anyOf"))
        .and_then(Value::as_array);
    schema["type"] == "object" || shapes.is_some_and(|shapes| shapes.iter().all(describes_object))
}

fn read<S: ?Sized>(spec: &SpecEntry, json: &Value) -> CheckOutcome<Box<S>>
where
    Box<S>: DeserializeOwned,
{
    Box::<S>::deserialize(json)
        .map_err(|error| Flaw::Failed(format!("{:?} cannot be read: {error}\n{json}", spec.tag)))
}

fn survives<S: Serialize + ?Sized>(spec: &SpecEntry) -> CheckOutcome
where
    Box<S>: DeserializeOwned,
{
    let write = |it: &S| {
        serde_json::to_value(it)
            .map_err(|error| format!("{:?} cannot be written: {error}", spec.tag))
    };
    // Another check reports an unreadable example.
    let Ok(first) = read::<S>(spec, &(spec.example)()) else {
        return Ok(());
    };
    let written = write(first.as_ref())?;
    let rewritten = write(read::<S>(spec, &written)?.as_ref())?;
    ensure!(written == rewritten, "first {written}\nthen {rewritten}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_consumers_read_crate_thing_and_only_our_backends_have_short_ones() {
        const OWN: &str = "autonoe_model::backend";
        const FOREIGN: &str = "team_agents::backend";
        for (port, tag, module, is_fine) in [
            (SpecPort::Backend, "team-agent", FOREIGN, true),
            (
                SpecPort::Hook,
                "core-deny-tool",
                "autonoe_core::hooks",
                true,
            ),
            (SpecPort::Backend, "model", OWN, true),
            (SpecPort::Backend, "model", FOREIGN, false),
            (SpecPort::Backend, "agent", FOREIGN, false),
            (SpecPort::Backend, "agent", OWN, false),
            (SpecPort::Hook, "model", OWN, false),
            (SpecPort::Backend, "Team-agent", FOREIGN, false),
            (SpecPort::Backend, "team-", FOREIGN, false),
            (SpecPort::Backend, "", OWN, false),
        ] {
            let may_be = reads_crate_thing(tag) || is_own(port, tag, module);

            assert_eq!(may_be, is_fine, "{port:?} {tag:?} of {module}");
        }
    }
}
