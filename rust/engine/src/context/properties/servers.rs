//! The parts that a server of chat completions is sent, by its dialect: each vendor's own go to that vendor alone.

use std::sync::Arc;

use super::super::image::ImageRule;
use super::super::testing::WordCounter;
use super::super::*;
use super::session::{FRAMING, OPTIONS, Session};
use crate::models;

/// The body of a request to a server, with the model's images as `images` say.
fn sent_to(prompt: &Prompt, dialect: &str, images: ImageRule) -> serde_json::Value {
    let options = render::RequestOptions { dialect: Some(crate::models::dialect(dialect).unwrap()), ..OPTIONS };
    let prompt = Prompt { images, ..prompt.clone() };
    serde_json::from_slice(&render::to_openai(&prompt, options)).unwrap()
}

fn prompt_of(messages: &[&str]) -> Prompt {
    let mut session = Session::new(1, 5_000, Budget::default(), false);
    for given in messages {
        session.add(Message::parse_whole(given.as_bytes(), None, Arguments::Keep).unwrap());
    }
    compose(&session.inputs(Volatile::Fresh(&[]))).unwrap()
}

/// Gemini 3 answers 400 to a turn of calls whose first has no signature.
#[test]
fn a_call_of_another_model_says_to_google_that_it_has_no_signature() {
    let call = |id: &str, extra: &str| format!(r#"{{"id":"{id}","type":"function","function":{{"name":"f","arguments":"{{}}"}}{extra}}}"#);
    let signed = r#","extra_content":{"google":{"thought_signature":"U0lH"}}"#;
    let reply = |calls: &[String]| format!(r#"{{"role":"assistant","content":null,"tool_calls":[{}]}}"#, calls.join(","));
    let result = |id: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"ok"}}"#);
    let all = [
        r#"{"role":"user","content":"go"}"#.to_owned(),
        reply(&[call("a", ""), call("b", "")]),
        result("a"),
        result("b"),
        reply(&[call("c", signed), call("d", "")]),
        result("c"),
        result("d"),
    ];
    let prompt = prompt_of(&all.iter().map(String::as_str).collect::<Vec<_>>());
    let signatures = |dialect: &str, images| {
        let body = sent_to(&prompt, dialect, images);
        let calls: Vec<_> =
            body["messages"].as_array().unwrap().iter().filter_map(|message| message["tool_calls"].as_array()).flatten().cloned().collect();
        calls.iter().map(|call| call["extra_content"]["google"]["thought_signature"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let skip = Some("skip_thought_signature_validator".to_owned());
    assert_eq!(signatures("gemini", ImageRule::GeminiResolution), [skip, None, Some("U0lH".to_owned()), None]);
    assert_eq!(signatures("gemini", ImageRule::GeminiTiles), [None, None, Some("U0lH".to_owned()), None], "up to 2.5 none is needed");
    for dialect in models::dialects().iter().filter(|dialect| &*dialect.name != "gemini") {
        assert_eq!(signatures(&dialect.name, ImageRule::GeminiResolution), [None, None, None, None], "{}", dialect.name);
    }
}

#[test]
fn a_refusal_is_a_text_but_for_openai() {
    let refusal = r#"{"role":"assistant","content":null,"refusal":"I will not."}"#;
    let prompt = prompt_of(&[r#"{"role":"user","content":"x"}"#, refusal, r#"{"role":"user","content":"y"}"#]);
    for dialect in models::dialects() {
        let body = sent_to(&prompt, &dialect.name, FRAMING.images);
        let assistant = body["messages"].as_array().unwrap().iter().find(|message| message["role"] == "assistant").unwrap();
        let content = &assistant["content"];
        if &*dialect.name == "openai" {
            assert_eq!(content[0]["type"], "refusal");
        } else {
            assert_eq!(content, "I will not.", "{}", dialect.name);
        }
    }
}

#[test]
fn tools_of_openais_go_to_openai_alone() {
    let given = |tool: &str| {
        let tools = Tools::parse(format!(r#"[{tool},{{"type":"function","function":{{"name":"f"}}}}]"#).as_bytes()).unwrap().unwrap();
        let tools = FixedTools::new(Arc::clone(&tools), &FRAMING, &WordCounter);
        let mut session = Session::new(1, 5_000, Budget::default(), false);
        session.fixed.tools = Some(tools);
        session.add(Message::text(Role::User, "x"));
        let prompt = compose(&session.inputs(Volatile::Fresh(&[]))).unwrap();
        let is_sent = |name: &str| sent_to(&prompt, name, FRAMING.images)["tools"].as_array().unwrap().len() == 2;
        models::dialects().iter().map(|dialect| &*dialect.name).filter(|name| is_sent(name)).collect::<Vec<_>>()
    };
    for tool in [
        r#"{"type":"web_search"}"#,
        r#"{"type":"web_search_preview_2025_03_11"}"#,
        r#"{"type":"mcp","server_label":"x","server_url":"https://x"}"#,
        r#"{"type":"tool_search"}"#,
        r#"{"type":"shell"}"#,
        r#"{"type":"apply_patch"}"#,
        r#"{"type":"custom","custom":{"name":"grep"}}"#,
    ] {
        assert_eq!(given(tool), ["openai"], "{tool}");
    }
    assert_eq!(given(r#"{"type":"code_interpreter"}"#), ["openai", "groq"]);
    let everywhere = models::dialects().len();
    for tool in [
        r#"{"type":"web_search","web_search":{"enable":true}}"#,
        r#"{"type":"builtin_function","function":{"name":"web_search"}}"#,
        r#"{"type":"browser_search"}"#,
        r#"{"type":"openrouter:web_search"}"#,
    ] {
        assert_eq!(given(tool).len(), everywhere, "{tool} may be anybody's");
    }
    for tool in [r#"{"type":"mcp_toolset","mcp_server_name":"x"}"#, r#"{"type":"computer_toolset_20260801"}"#] {
        assert!(given(tool).is_empty(), "{tool} is Anthropic's");
    }
}
