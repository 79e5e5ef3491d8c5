//! Tests of attachments in the requests of each protocol.

use std::sync::Arc;

use autonoe_core::agent::Sandbox;
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::time::SessionKey;
use autonoe_core::tool::Toolbox;
use autonoe_core::{AgentClientFactory, RunId, SessionSpec, Tool, ToolContext};
use autonoe_model::provider::{ProviderContext, provider_spec};
use autonoe_model::{ModelAgentOptions, ModelBackend};
use autonoe_testkit::model_server::{MainRequests, ModelScript, Turn};
use autonoe_testkit::program::{PhotoTool, collect_events};
use serde_json::{Value, json};

use crate::conformance::scripted::{Api, KEY, ScriptedProvider};

const APIS: [Api; 4] = [Api::Anthropic, Api::Responses, Api::Chat, Api::Google];

/// Lets an agent take one photo, and returns the request with the result and the context of the
/// call.
async fn photo(api: Api, input: Value) -> (String, ToolContext) {
    let turns = [
        Turn::tool("mcp__autonoe__photo", input),
        Turn::text("Seen."),
    ];
    let server = api.serve(ModelScript::new(turns).with_main_requests(MainRequests::All));
    let spec = ScriptedProvider(api).spec(&server.base_url(), &json!({}));
    let context =
        ProviderContext::new(api.tag()).with_environment([("THE_KEY".into(), KEY.into())]);
    let provider = provider_spec(&spec).expect("a spec").build(&context);
    let options = ModelAgentOptions::new(provider.expect("it builds"), "model-x");
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let camera = PhotoTool::new();
    let tools = Toolbox::new([camera.clone() as Arc<dyn Tool>]);
    let gate = Gate::new(
        ProjectPaths::new("/srv/project"),
        Grants::none().with_toolbox(&tools),
    );
    let mut spec = SessionSpec::new(key, "/srv/project", gate, tools);
    spec.sandbox = Sandbox::Off;
    let mut client = ModelBackend::new(options)
        .create(spec)
        .expect("it can be made");

    let (events, error) = collect_events(client.as_mut(), "Take a photo.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{api:?}: {error:?} {events:?}");
    let requests = server.log().main_requests();
    assert_eq!(requests.len(), 2, "{api:?}");
    let [context] = &camera.contexts()[..] else {
        panic!("{api:?}: {:?}", camera.contexts());
    };
    (requests[1].raw.to_string(), context.clone())
}

// Shows: framework/tools/result.attachments
#[tokio::test]
async fn a_picture_of_a_tool_reaches_the_model() {
    for api in APIS {
        let (request, _) = photo(api, json!({})).await;

        assert!(
            request.contains("the photo is attached"),
            "{api:?}: {request}"
        );
        assert!(request.contains(PhotoTool::BASE64), "{api:?}: {request}");
    }
}

// Shows: framework/tools/result.attachments, framework/tools/pictures-of-failures
#[tokio::test]
async fn a_picture_of_a_failed_call_reaches_the_model() {
    for api in APIS {
        let (request, _) = photo(api, json!({"fails": true})).await;

        assert!(
            request.contains("the film is full after this photo"),
            "{api:?}: {request}"
        );
        let expected = match api {
            Api::Anthropic => "attached file photo.png (image/png), 70 bytes",
            Api::Responses | Api::Chat | Api::Google => PhotoTool::BASE64,
        };
        assert!(request.contains(expected), "{api:?}: {request}");
    }
}

// Shows: framework/tools/context-session-id-message-id
#[tokio::test]
async fn a_tool_gets_the_ids_of_its_call_and_answer_and_no_agent() {
    for api in APIS {
        let (_, context) = photo(api, json!({})).await;

        let (call, message) = (context.call_id, context.message_id);
        assert!(call.is_some_and(|id| !id.is_empty()), "{api:?}");
        assert!(message.is_some_and(|id| !id.is_empty()), "{api:?}");
        assert_eq!(context.agent, None, "{api:?}");
    }
}
