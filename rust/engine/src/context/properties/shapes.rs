//! Every shape that the two vendors document: read, counted as it is sent, rendered for both.

use super::super::testing::WordCounter;
use super::super::*;
use super::recount;
use super::session::{FRAMING, OPTIONS, Session, check_anthropic};
use crate::models::Model;
use crate::tokens::CachedCounter;

fn parse(raw: &str) -> Message {
    Message::parse(raw.as_bytes(), None, Arguments::MustBeJson).unwrap_or_else(|error| panic!("{raw}: {error}"))
}

const OPENAI: &[&str] = &[
    r#"{"role":"user","content":"plain \ud83d\ude00 text"}"#,
    r#"{"role":"user","name":"ada","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}"#,
    r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x/y.png","detail":"low"}},{"type":"text","text":"what?"}]}"#,
    r#"{"role":"assistant","content":null,"refusal":"I will not.","annotations":[],"audio":null,"function_call":null,"tool_calls":null}"#,
    r#"{"role":"assistant","content":"wait","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\": 1}"}},{"id":"b","type":"function","function":{"name":"g","arguments":""}}]}"#,
    r#"{"role":"tool","tool_call_id":"a","content":"ok"}"#,
    r#"{"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}"#,
    r#"{"role":"developer","content":"be brief"}"#,
    r#"{"role":"assistant","content":[{"type":"text","text":"done"}]}"#,
];

const ANTHROPIC: &[&str] = &[
    r#"{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzk"}},{"type":"text","text":"look"}]}"#,
    r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig=="},{"type":"text","text":"I look"},{"type":"tool_use","id":"t1","name":"f","input":{"b":1.0,"a":[]}}]}"#,
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"no"},{"type":"image","source":{"type":"url","url":"https://x/y.png"}}]},{"type":"text","text":"go on"}]}"#,
    r#"{"role":"assistant","content":[{"type":"redacted_thinking","data":"xyz"},{"type":"text","text":"sorry"}]}"#,
    r#"{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"a text"},"title":"T","citations":{"enabled":true}},{"type":"text","text":"read"}]}"#,
];

#[test]
fn every_shape_is_read_counted_and_rendered() {
    let mut session = Session::new(1, 50_000, Budget::default(), true);
    for raw in OPENAI {
        session.add(parse(raw));
    }
    let prompt = session.assemble_with(&[]);
    assert_eq!(prompt.segments.len(), OPENAI.len() + 2);
    let mut session = Session::new(1, 50_000, Budget::default(), true);
    for raw in ANTHROPIC {
        session.add(parse(raw));
    }
    let prompt = compose(&session.inputs(Volatile::Fresh(&[]))).unwrap();
    let body = render::to_anthropic(&prompt, OPTIONS);
    check_anthropic(&body);
    let body = String::from_utf8(body).unwrap();
    for kept in
        [r#""thinking":"hm","signature":"sig==""#, r#""data":"xyz""#, r#""input":{"b":1.0,"a":[]}"#, r#""citations":{"enabled":true}"#]
    {
        assert!(body.contains(kept), "{kept}");
    }
    assert!(!body.contains("is_error"), "Anthropic takes no image in a result that is marked");
    let openai = String::from_utf8(render::to_openai(&prompt, OPTIONS)).unwrap();
    assert!(!openai.contains("sig==") && !openai.contains("redacted_thinking"), "signed thinking goes to its vendor only");
    assert!(openai.contains(r#""arguments":"{\"b\":1.0,\"a\":[]}""#));
}

#[test]
fn messages_of_the_one_are_sent_to_the_other() {
    let mut session = Session::new(1, 50_000, Budget::default(), true);
    for raw in OPENAI {
        session.add(parse(raw));
    }
    let prompt = compose(&session.inputs(Volatile::Fresh(&[]))).unwrap();
    let body = render::to_anthropic(&prompt, OPTIONS);
    check_anthropic(&body);
    let body = String::from_utf8(body).unwrap();
    assert!(body.contains(r#""input":{"x": 1}"#) && body.contains(r#""name":"g","input":{}"#) && body.contains("<from name=\\\"ada\\\"/>"));
    assert!(body.contains(r#""input_schema":{"type":"object""#) && body.contains("<system_message>"));
    assert_eq!(prompt.total_tokens, recount::openai(&render::to_openai(&prompt, OPTIONS), &WordCounter));
}

#[test]
fn bad_input_is_a_typed_error_with_its_place() {
    for (raw, part) in [
        ("", "one JSON object"),
        ("[]", "one JSON object"),
        (r#"{"role":"bot","content":"x"}"#, "\"bot\""),
        (r#"{"role":"function","content":"x"}"#, "use \"tool\""),
        (r#"{"content":"x"}"#, "\"role\" must be present"),
        (r#"{"role":7,"content":"x"}"#, "\"role\" must be a string"),
        (r#"{"role":"user"}"#, "must have content"),
        (r#"{"role":"user","content":null}"#, "must have content"),
        (r#"{"role":"assistant","content":null,"tool_calls":[]}"#, "must have content"),
        (r#"{"role":"user","content":7}"#, "a string or a list"),
        (r#"{"role":"user","content":[{"type":"text"}]}"#, "content[0]"),
        (r#"{"role":"user","content":[{"type":"text","text":"x"},{"type":"hologram"}]}"#, "content[1]"),
        (r#"{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{oops"}}]}"#, "must be JSON"),
        (r#"{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}"#, "tool_calls[0]"),
        (r#"{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"a","function":{"name":"f"}}]}"#, "must differ"),
        (r#"{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}"#, "retired"),
        (r#"{"role":"tool","content":"x"}"#, "\"tool_call_id\" must be present"),
        (r#"{"role":"user","content":"\ud800"}"#, "a string or a list"),
        (r#"{"role":"assistant","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}"#, "tool results come from"),
        (r#"{"role":"user","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#, "only an assistant"),
        (r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":"x"}]}"#, "\"input\" must be an object"),
    ] {
        let error = Message::parse(raw.as_bytes(), None, Arguments::MustBeJson).unwrap_err();
        assert!(error.message().contains(part), "{raw}\n{error}");
        assert!(error.message().starts_with("cannot read a message: "), "{error}");
    }
    assert!(Message::parse(&[0xFF, 0xFE], None, Arguments::MustBeJson).is_err());
}

#[test]
fn a_reply_that_was_cut_off_is_kept() {
    let raw = r#"{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\": \"unfini"}}]}"#;
    let message = Message::parse(raw.as_bytes(), None, Arguments::Keep).unwrap();
    let mut session = Session::new(1, 5_000, Budget::default(), true);
    session.add(Message::text(Role::User, "x"));
    session.add(message);
    let prompt = session.assemble_with(&[]);
    let body = String::from_utf8(render::to_anthropic(&prompt, OPTIONS)).unwrap();
    assert!(body.contains(r#""input":{"input":"{\"x\": \"unfini"}"#), "{body}");
}

/// A reply was paid for.
#[test]
fn a_reply_keeps_parts_that_nobody_here_knows() {
    let thinking = r#"{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}"#;
    let chat = format!(r#"{{"role":"assistant","content":[{thinking},{{"type":"hologram"}},{{"type":"text","text":"4"}}]}}"#);
    let claude = r#"{"role":"assistant","content":[{"type":"text","text":"four"},{"type":"future_block","x":1}]}"#;
    let read = |raw: &str, format| Message::parse(raw.as_bytes(), Some(format), Arguments::Keep);
    let mut session = Session::new(1, 5_000, Budget::default(), true);
    for message in [read(&chat, Format::OpenAi).unwrap(), read(claude, Format::Anthropic).unwrap()] {
        session.add(Message::text(Role::User, "2+2"));
        session.add(message);
    }
    session.add(Message::text(Role::User, "again"));
    let prompt = compose(&session.inputs(Volatile::Fresh(&[]))).unwrap();
    for (dialect, is_sent) in [("mistral", true), ("openai", false), ("deepseek", false), ("vllm", false)] {
        let body = sent_to(&prompt, dialect);
        assert_eq!((body.contains(thinking), body.contains("hologram"), body.contains("future_block")), (is_sent, false, false));
    }
    let body = String::from_utf8(render::to_anthropic(&prompt, OPTIONS)).unwrap();
    assert!(body.contains(r#"{"type":"future_block","x":1}"#) && !body.contains("hologram") && !body.contains("hm"), "{body}");
    assert_eq!(Format::of(chat.as_bytes()).unwrap(), Format::Anthropic, "the hologram might be Anthropic's");
    assert_eq!(Format::of(chat.replace(r#"{"type":"hologram"},"#, "").as_bytes()).unwrap(), Format::OpenAi);
    for (raw, format) in [
        (r#"{"role":"user","content":[{"type":"hologram"}]}"#, Format::OpenAi),
        (r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#, Format::OpenAi),
        (r#"{"role":"assistant","content":[{"type":"output_text","text":"x"}]}"#, Format::Anthropic),
    ] {
        assert!(read(raw, format).is_err(), "{raw}");
    }
    assert!(Message::parse(claude.as_bytes(), None, Arguments::MustBeJson).is_err(), "a caller's message is checked");
    let found =
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"tool_reference","tool_name":"f"}]}]}"#;
    assert!(Message::parse(found.as_bytes(), None, Arguments::MustBeJson).is_ok());
}

fn sent_to(prompt: &Prompt, dialect: &str) -> String {
    let options = render::RequestOptions { dialect: Some(crate::models::dialect(dialect).unwrap()), ..OPTIONS };
    String::from_utf8(render::to_openai(prompt, options)).unwrap()
}

#[test]
fn what_stands_beside_the_content_goes_to_the_server_that_wants_it_back() {
    let call = r#""tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"U0lH"}}}]"#;
    let raw = format!(r#"{{"role":"assistant","content":null,"reasoning_content":"I need it",{call}}}"#);
    let whole = Message::parse_whole(raw.as_bytes(), None, Arguments::MustBeJson).unwrap();
    assert!(whole.beside().eq(["extra_content", "reasoning_content"]));
    assert_eq!(parse(&raw), whole.clone().without_beside());
    let mut session = Session::new(1, 5_000, Budget::default(), true);
    session.add(Message::text(Role::User, "x"));
    session.add(whole);
    session.add(Message::tool_result("c1", "ok", false));
    let prompt = compose(&session.inputs(Volatile::Fresh(&[]))).unwrap();
    let (thinking, signed) =
        (r#""content":null,"reasoning_content":"I need it","tool_calls""#, r#""extra_content":{"google":{"thought_signature":"U0lH"}}}]"#);
    for dialect in crate::models::dialects() {
        let body = sent_to(&prompt, &dialect.name);
        let thinks = matches!(&*dialect.name, "deepseek" | "moonshot");
        assert_eq!((body.contains(thinking), body.contains(signed)), (thinks, &*dialect.name == "gemini"), "{}", dialect.name);
        assert_eq!((body.contains("reasoning_content"), body.contains("extra_content")), (thinks, &*dialect.name == "gemini"));
    }
    for format in [Format::Anthropic, Format::Responses, Format::Gemini] {
        let body = String::from_utf8(render::to_json(&prompt, format, OPTIONS)).unwrap();
        assert!(!body.contains("I need it") && !body.contains("U0lH"), "{body}");
    }
    for (value, is_sent) in [("\"\\u0041}\"", true), ("\"\"", true), ("{\"a\":1}", false), ("5", false), ("[\"x\"]", false)] {
        let raw = format!(r#"{{"role":"assistant","content":null,"reasoning_content":{value},{call}}}"#);
        let mut session = Session::new(1, 5_000, Budget::default(), true);
        session.add(Message::text(Role::User, "x"));
        session.add(Message::parse_whole(raw.as_bytes(), None, Arguments::MustBeJson).unwrap());
        session.add(Message::tool_result("c1", "ok", false));
        let body = sent_to(&compose(&session.inputs(Volatile::Fresh(&[]))).unwrap(), "deepseek");
        assert_eq!(body.contains(&format!(r#""reasoning_content":{value},"#)), is_sent, "{body}");
        assert_eq!(body.contains(r#""reasoning_content":"","#), !is_sent || value == "\"\"", "a call has the field: {body}");
    }
    let silent = r#"{"role":"user","content":null,"reasoning_content":"x"}"#;
    assert!(Message::parse_whole(silent.as_bytes(), None, Arguments::MustBeJson).is_err());
}

/// `DeepSeek` answers 400 to a call without the field, Moonshot also where it is empty; both think by default.
#[test]
fn a_call_without_thinking_has_what_its_server_takes_in_its_place() {
    let call = r#""tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]"#;
    let sent = |given: &str, dialect: &str| {
        let mut session = Session::new(1, 5_000, Budget::default(), true);
        session.add(Message::text(Role::User, "x"));
        session.add(Message::parse_whole(given.as_bytes(), None, Arguments::MustBeJson).unwrap());
        if given.contains("tool_calls") {
            session.add(Message::tool_result("c1", "ok", false));
        }
        let body = sent_to(&compose(&session.inputs(Volatile::Fresh(&[]))).unwrap(), dialect);
        let (_, behind) = body.split_once(r#""reasoning_content":"#)?;
        behind.split_once(['}', ',']).map(|(value, _)| value.to_owned())
    };
    for own in ["", r#""reasoning_content":null,"#, r#""reasoning_content":"","#] {
        let given = format!(r#"{{"role":"assistant","content":null,{own}{call}}}"#);
        for dialect in crate::models::dialects() {
            let wanted = match &*dialect.name {
                "deepseek" => Some(r#""""#.to_owned()),
                "moonshot" => Some(r#"" ""#.to_owned()),
                _ => None,
            };
            assert_eq!(sent(&given, &dialect.name), wanted, "{} {own:?}", dialect.name);
        }
        let silent = format!(r#"{{"role":"assistant",{own}"content":"Done."}}"#);
        assert!(["deepseek", "moonshot"].iter().all(|dialect| sent(&silent, dialect).is_none()), "nothing was called");
    }
    let thinks = format!(r#"{{"role":"assistant","content":null,"reasoning_content":"I need it",{call}}}"#);
    assert_eq!(sent(&thinks, "deepseek").as_deref(), Some(r#""I need it""#));
}

#[test]
fn images_of_a_result_go_back_to_the_responses_api_and_are_counted() {
    const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzk";
    let photo = format!("data:image/png;base64,{PNG}");
    let result = |parts: &str| {
        let given = format!(r#"{{"type":"function_call_output","call_id":"c1","output":{parts}}}"#);
        Message::parse(given.as_bytes(), None, Arguments::MustBeJson).unwrap()
    };
    let image = format!(r#"{{"type":"input_image","image_url":"{photo}","detail":"low"}}"#);
    let mixed = format!(r#"[{{"type":"input_text","text":"the page"}},{image}]"#);
    let sent = |message: &Message, format: Format| {
        let mut session = Session::new(1, 5_000, Budget::default(), true);
        session.add(Message::text(Role::User, "look"));
        session.add(parse(
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}"#,
        ));
        session.add(message.clone());
        let prompt = compose(&session.inputs(Volatile::Fresh(&[]))).unwrap();
        String::from_utf8(render::to_json(&prompt, format, OPTIONS)).unwrap()
    };
    let whole = result(&mixed);
    assert!(sent(&whole, Format::Responses).contains(&format!(r#""output":{mixed}"#)), "{}", sent(&whole, Format::Responses));
    assert!(sent(&result(r#"[{"type":"input_text","text":"the page"}]"#), Format::Responses).contains(r#""output":"the page""#));
    assert!(sent(&whole.clone().without_beside(), Format::Responses).contains(r#""output":"the page\n[image]""#), "as it was counted");
    for format in [Format::OpenAi, Format::Gemini] {
        let body = sent(&whole, format);
        assert!(body.contains("[image]") && !body.contains(PNG), "{body}");
    }
    assert!(sent(&whole, Format::Anthropic).contains(PNG));
    let said = parse(&format!(r#"{{"role":"user","content":[{{"type":"image_url","image_url":{{"url":"{photo}","detail":"low"}}}}]}}"#));
    for model in ["gpt-4o", "claude-sonnet-4-5"] {
        let model = Model::named(model).unwrap();
        let counter = CachedCounter::new(model.encoding);
        let cost = |message: &Message| model.framing.message(message, &counter).tokens;
        let alone = result(r#"[{"type":"input_text","text":"the page"}]"#);
        let image = cost(&said) - model.framing.frame(Role::User, None, &counter);
        assert!(cost(&whole) >= cost(&alone) + image, "{}", model.name);
        let is_anthropics = model.framing.format == Format::Anthropic;
        assert_eq!(cost(&whole.clone().without_beside()) == cost(&whole), is_anthropics, "{}", model.name);
    }
}

/// "Echo the assistant message exactly as received" (Anthropic, "Interleaved thinking").
#[test]
fn a_reply_of_claudes_goes_back_as_it_came() {
    let block = |kind: &str| {
        match kind {
        "A" | "B" => format!(r#"{{"type":"thinking","thinking":"","signature":"{kind}"}}"#),
        "say" => r#"{"type":"text","text":"I look."}"#.to_owned(),
        "cite" => r#"{"type":"text","text":"It is so.","citations":[{"type":"web_search_result_location","url":"https://x","encrypted_index":"E"}]}"#.to_owned(),
        "quote" => r#"{"type":"text","text":"Quoted.","citations":[{"type":"char_location","document_index":0}]}"#.to_owned(),
        "c1" => r#"{"type":"tool_use","id":"c1","name":"f","input":{"tool_id":1},"caller":{"type":"direct"}}"#.to_owned(),
        "c2" => r#"{"type":"tool_use","id":"c2","name":"f","input":{},"caller":{"type":"code_execution_20260120","tool_id":"srvtoolu_9"}}"#.to_owned(),
        "srv" => r#"{"type":"server_tool_use","id":"srvtoolu_9","name":"code_execution","input":{}}"#.to_owned(),
        other => panic!("{other}"),
    }
    };
    let sent = |kinds: &[&str], options| {
        let content = kinds.iter().map(|kind| block(kind)).collect::<Vec<_>>().join(",");
        let given = format!(r#"{{"role":"assistant","content":[{content}]}}"#);
        let mut session = Session::new(1, 5_000, Budget::default(), true);
        session.add(Message::text(Role::User, "x"));
        session.add(Message::parse_whole(given.as_bytes(), Some(Format::Anthropic), Arguments::Keep).unwrap());
        for call in kinds.iter().filter(|kind| kind.starts_with('c') && kind.len() == 2) {
            session.add(Message::tool_result(call, "ok", false));
        }
        let prompt = compose(&session.inputs(Volatile::Fresh(&[]))).unwrap();
        let body: serde_json::Value = serde_json::from_slice(&render::to_anthropic(&prompt, options)).unwrap();
        let mut blocks = body["messages"][1]["content"].as_array().unwrap().clone();
        for block in &mut blocks {
            block.as_object_mut().unwrap().remove("cache_control");
        }
        blocks
    };
    let as_given =
        |kinds: &[&str]| kinds.iter().map(|kind| serde_json::from_str(&block(kind)).unwrap()).collect::<Vec<serde_json::Value>>();
    for kinds in [&["A", "say", "c2", "B"][..], &["srv", "c2", "cite"], &["A", "cite", "srv", "c2"], &["cite", "c2"]] {
        assert_eq!(sent(kinds, OPTIONS), as_given(kinds), "{kinds:?}");
    }
    let order = |kinds: &[&str]| {
        let place =
            |block: &serde_json::Value| ["signature", "id", "type"].iter().find_map(|key| block[key].as_str().map(str::to_owned)).unwrap();
        sent(kinds, OPTIONS).iter().map(place).collect::<Vec<_>>()
    };
    assert_eq!(order(&["A", "say", "c1", "B", "c2"]), ["A", "text", "c1", "B", "c2"]);
    assert_eq!(order(&["c1", "say", "c2"]), ["text", "c1", "c2"], "nothing of it is signed");
    let [plain, quoted] = [sent(&["A", "c1"], OPTIONS), sent(&["quote"], OPTIONS)];
    assert!(
        plain[1].get("caller").is_none() && quoted[0].get("citations").is_none(),
        "the default, and places in documents that may be gone"
    );
    let bedrock = render::RequestOptions { dialect: Some(crate::models::dialect("bedrock").unwrap()), ..OPTIONS };
    let converse = sent(&["cite", "c2"], bedrock);
    assert!(converse[0].get("citations").is_none() && converse[1].get("caller").is_none(), "Converse has no such fields");
}

/// `OpenAI` answers 400 to reasoning for a model that does not reason, and nobody else reads what it encrypted.
#[test]
fn items_of_openais_own_go_to_its_models() {
    let reply = r#"{"role":"assistant","output":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},
        {"type":"web_search_call","id":"ws_1","status":"completed"},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}]}"#;
    let shot = r#"{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"page"},{"type":"input_image","image_url":"https://x/a.png"}]}"#;
    let mut session = Session::new(1, 5_000, Budget::default(), true);
    session.add(Message::text(Role::User, "x"));
    session.add(Message::parse(reply.as_bytes(), None, Arguments::Keep).unwrap());
    session.add(parse(shot));
    let prompt = compose(&session.inputs(Volatile::Fresh(&[]))).unwrap();
    for (model, wanted) in [
        ("gpt-5", [true, true, true]),
        ("gpt-4o", [false, true, true]),
        ("gpt-4.1", [false, true, true]),
        ("qwen3-max", [false; 3]),
        ("grok-4.6", [false; 3]),
    ] {
        let responses = crate::models::get(model).unwrap().responses();
        let options = render::RequestOptions { responses, ..OPTIONS };
        let body = String::from_utf8(render::to_json(&prompt, Format::Responses, options)).unwrap();
        let sent = [r#""encrypted_content":"gAAA""#, "ws_1", "https://x/a.png"].map(|part| body.contains(part));
        assert_eq!(sent, wanted, "{model}: {body}");
        assert_eq!(body.contains(r#""output":"page\n[image]""#), !wanted[2], "{body}");
    }
    let unknown = String::from_utf8(render::to_json(&prompt, Format::Responses, OPTIONS)).unwrap();
    assert!(["gAAA", "ws_1", "https://x/a.png"].iter().all(|part| unknown.contains(part)), "it may be anybody's");
}

#[test]
fn a_file_by_id_goes_back_to_openai_and_is_named_elsewhere() {
    let sent = |parts: &str, of_result: bool, format: Format| {
        let mut session = Session::new(1, 5_000, Budget::default(), true);
        if of_result {
            session.add(Message::text(Role::User, "look"));
            session.add(parse(r#"{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}"#));
            session.add(parse(&format!(r#"{{"type":"function_call_output","call_id":"c1","output":[{parts}]}}"#)));
        } else {
            session.add(parse(&format!(r#"{{"role":"user","content":[{parts}]}}"#)));
        }
        let prompt = compose(&session.inputs(Volatile::Fresh(&[]))).unwrap();
        String::from_utf8(render::to_json(&prompt, format, OPTIONS)).unwrap()
    };
    for (kind, name) in [("input_image", "[image]"), ("input_file", "[file]")] {
        let part = format!(r#"{{"type":"{kind}","file_id":"file-1"}}"#);
        let mixed = format!(r#"{{"type":"input_text","text":"page"}},{part}"#);
        for of_result in [false, true] {
            let back = sent(&mixed, of_result, Format::Responses);
            assert!(back.contains(&format!("[{mixed}]")), "{back}");
            for format in [Format::OpenAi, Format::Anthropic, Format::Gemini] {
                let body = sent(&part, of_result, format);
                assert!(body.contains(name) && !body.contains("file-1") && !body.contains("Nothing was said"), "{body}");
            }
        }
    }
}

#[test]
fn a_file_of_gemini_keeps_its_type() {
    let raw =
        r#"{"role":"user","parts":[{"fileData":{"mimeType":"image/png","fileUri":"https://x.org/files/abc"}},{"text":"what is it?"}]}"#;
    let mut session = Session::new(1, 5_000, Budget::default(), false);
    session.add(Message::parse_whole(raw.as_bytes(), None, Arguments::MustBeJson).unwrap());
    let prompt = compose(&session.inputs(Volatile::Fresh(&[]))).unwrap();
    let body = String::from_utf8(render::to_json(&prompt, Format::Gemini, OPTIONS)).unwrap();
    assert!(
        body.contains(r#"[{"file_data":{"file_uri":"https://x.org/files/abc","mime_type":"image/png"}},{"text":"what is it?"}]"#),
        "{body}"
    );
    assert!(!String::from_utf8(render::to_openai(&prompt, OPTIONS)).unwrap().contains("mime"));
    let told = raw.replace("files/abc", "files/abc.png");
    assert_eq!(Message::parse_whole(told.as_bytes(), None, Arguments::MustBeJson).unwrap().beside().count(), 0, "its address tells it");
}

/// Only the parser makes fields beside the content, whatever a part of Google's own is called. Its digest is that of before.
#[test]
fn a_part_of_geminis_own_is_sent_whatever_it_begins_with() {
    let file = r#"{"fileData":{"mimeType":"image/png","fileUri":"https://x.org/files/abc"}}"#;
    let own = [
        r#"{"mimeType":"x"}"#,
        r#"{"extra_content":1}"#,
        r#"{"mimeType":"x","reasoning_content":"}"}"#,
        r#"{"executableCode":{"code":"1"},"thoughtSignature":"U0lH"}"#,
    ];
    let raw = format!(r#"{{"role":"model","parts":[{{"text":"A"}},{},{file},{}]}}"#, own.join(","), own[0]);
    let whole = Message::parse_whole(raw.as_bytes(), None, Arguments::Keep).unwrap();
    assert!(whole.beside().eq(["mimeType"]), "{whole:?}");
    let as_before = Message {
        parts: whole
            .parts
            .iter()
            .map(|part| match part {
                Part::Beside { format, raw, .. } => Part::Vendor { format: *format, raw: raw.clone() },
                part => part.clone(),
            })
            .collect(),
        ..whole.clone()
    };
    assert!(as_before != whole && as_before.digest() == whole.digest());
    let mut session = Session::new(1, 5_000, Budget::default(), false);
    session.add(Message::text(Role::User, "x"));
    session.add(whole);
    let prompt = compose(&session.inputs(Volatile::Fresh(&[]))).unwrap();
    let body = String::from_utf8(render::to_json(&prompt, Format::Gemini, OPTIONS)).unwrap();
    let sent = r#"{"file_data":{"file_uri":"https://x.org/files/abc","mime_type":"image/png"}}"#;
    assert!(body.contains(&format!(r#"[{{"text":"A"}},{},{sent},{}]"#, own.join(","), own[0])), "{body}");
}

/// Anthropic refuses an id without a character.
#[test]
fn an_empty_id_of_a_call_is_a_hash() {
    let mut session = Session::new(1, 5_000, Budget::default(), true);
    session.add(Message::text(Role::User, "x"));
    session.add(parse(r#"{"role":"assistant","tool_calls":[{"id":"","type":"function","function":{"name":"f","arguments":"{}"}}]}"#));
    session.add(Message::tool_result("", "ok", false));
    let prompt = compose(&session.inputs(Volatile::Fresh(&[]))).unwrap();
    let body = render::to_anthropic(&prompt, OPTIONS);
    check_anthropic(&body);
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let id = body["messages"][1]["content"][0]["id"].as_str().unwrap();
    assert!(!id.is_empty() && body["messages"][2]["content"][0]["tool_use_id"] == id, "{body}");
}

#[test]
fn late_results_are_refused_with_the_reason() {
    let mut session = Session::new(1, 5_000, Budget::default(), true);
    session.add(Message::text(Role::User, "x"));
    session.add(parse(r#"{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"f","arguments":"{}"}}]}"#));
    session.add(Message::tool_result("a", "ok", false));
    let mut push = |id: &str| session.transcript.push(Message::tool_result(id, "late", false), &FRAMING, &WordCounter).unwrap_err();
    assert_eq!(push("a").kind(), crate::ErrorKind::ToolCallClosed);
    assert_eq!(push("nobody").kind(), crate::ErrorKind::InvalidInput);
    session.add(Message::text(Role::User, "never mind"));
    let mut push = |id: &str| session.transcript.push(Message::tool_result(id, "late", false), &FRAMING, &WordCounter).unwrap_err();
    assert_eq!(push("b").kind(), crate::ErrorKind::ToolCallClosed);
    let prompt = session.assemble_with(&[]);
    let body = String::from_utf8(render::to_openai(&prompt, OPTIONS)).unwrap();
    assert_eq!(body.matches(turns::INTERRUPTED).count(), 1);
}

/// Ten thousand tools, an image of 20 MB, an item of 10 MB.
#[test]
fn large_inputs_are_taken_or_refused_in_good_order() {
    let tools: Vec<String> =
        (0..10_000).map(|n| format!(r#"{{"name":"t{n}","input_schema":{{"type":"object","properties":{{}}}}}}"#)).collect();
    let tools = Tools::parse(format!("[{}]", tools.join(",")).as_bytes()).unwrap().unwrap();
    assert!(FRAMING.tools(&tools, &WordCounter) > 70_000);
    let data = "A".repeat(20 << 20);
    let raw = format!(
        r#"{{"role":"user","content":[{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{data}","detail":"low"}}}}]}}"#
    );
    assert_eq!(FRAMING.message(&parse(&raw), &WordCounter).tokens, 3 + 1 + 85);
    let mut session = Session::new(1, 5_000, Budget::default(), false);
    session.add(Message::text(Role::User, "x"));
    let huge = super::session::item("retrieved", &"word ".repeat(2 << 20), 0, None);
    let prompt = session.assemble_with(&[huge, super::session::item("retrieved", "small", 1, None)]);
    assert_eq!(prompt.block.map(|block| block.items.len()), Some(1));
    assert!(prompt.explained.iter().any(|line| matches!(line.why, Why::OverCeiling { .. })));
}
