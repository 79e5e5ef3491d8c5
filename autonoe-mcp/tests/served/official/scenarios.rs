//! Applicability of the official scenarios.

/// Scenarios that must pass.
pub(super) const APPLY: &[&str] = &[
    "dns-rebinding-protection",
    "ping",
    "server-initialize",
    "server-sse-multiple-streams",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-error",
    "tools-call-image",
    "tools-call-mixed-content",
    "tools-call-simple-text",
    "tools-call-with-progress",
    "tools-list",
];

const NO_LOGGING: &str = "the server offers no logging; tools tell their progress";
const NO_QUESTIONS: &str = "the server asks its client nothing: nobody would answer unattended";
const NO_PROMPTS: &str = "the server offers no prompts and so completes none";
const NO_RESOURCES: &str = "the server offers no resources, only tools";

/// Scenarios for features that the server does not offer, with the reasons.
pub(super) const DO_NOT_APPLY: &[(&str, &str)] = &[
    ("completion-complete", NO_PROMPTS),
    ("elicitation-sep1034-defaults", NO_QUESTIONS),
    ("elicitation-sep1330-enums", NO_QUESTIONS),
    (
        "json-schema-2020-12",
        "schemas are written out on purpose: not all agents understand references",
    ),
    ("logging-set-level", NO_LOGGING),
    ("prompts-get-embedded-resource", NO_PROMPTS),
    ("prompts-get-simple", NO_PROMPTS),
    ("prompts-get-with-args", NO_PROMPTS),
    ("prompts-get-with-image", NO_PROMPTS),
    ("prompts-list", NO_PROMPTS),
    ("resources-list", NO_RESOURCES),
    ("resources-read-binary", NO_RESOURCES),
    ("resources-read-text", NO_RESOURCES),
    ("resources-subscribe", NO_RESOURCES),
    ("resources-templates-read", NO_RESOURCES),
    ("resources-unsubscribe", NO_RESOURCES),
    (
        "server-sse-polling",
        "answers cannot be taken up again: who hangs up has cancelled the call",
    ),
    ("tools-call-elicitation", NO_QUESTIONS),
    ("tools-call-sampling", NO_QUESTIONS),
    ("tools-call-with-logging", NO_LOGGING),
];
