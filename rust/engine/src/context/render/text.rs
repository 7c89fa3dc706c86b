//! The neutral view for people: roles as headings, texts as they are sent.

use std::fmt::Write as _;

use super::super::lower::{Piece, pieces, result_pieces};
use super::super::message::{Format, Message};
use super::super::prompt::Prompt;
use super::super::segment::{Body, SegmentKind};

/// The prompt as text.
#[must_use]
pub fn to_text(prompt: &Prompt) -> String {
    let mut out = String::new();
    for segment in &prompt.segments {
        match &segment.body {
            Body::Tools(tools) => tools.tools.tools.iter().for_each(|tool| heading(&mut out, "tool", &tool.given)),
            Body::Text(text) if segment.kind == SegmentKind::System => heading(&mut out, "system", &text.text),
            Body::Text(text) => heading(&mut out, "memory", &text.text),
            Body::Block(block) => heading(&mut out, "context", &block.text),
            Body::Message(_, stored) => write_message(&mut out, &stored.message),
        }
    }
    out
}

fn heading(out: &mut String, title: &str, text: &str) {
    write!(out, "--- {title}\n{}\n", text.trim_end()).expect("writing to a String cannot fail");
}

fn write_message(out: &mut String, message: &Message) {
    for piece in pieces(message, Format::OpenAi) {
        match piece {
            Piece::Call(call) => heading(out, &format!("{} calls {} ({})", message.role.name(), call.name, call.id), &call.arguments),
            Piece::Result(result) => {
                let texts: Vec<String> = result_pieces(result, Format::OpenAi).map(|piece| shown(&piece)).collect();
                heading(out, &format!("result ({})", result.call_id), &texts.join("\n"));
            }
            other => heading(out, message.role.name(), &shown(&other)),
        }
    }
}

fn shown(piece: &Piece<'_>) -> String {
    match piece {
        Piece::Text(text) => text.to_string(),
        Piece::Refusal(text) => (*text).to_owned(),
        Piece::Image(_) => "[image]".to_owned(),
        Piece::Document(document) => format!("[{}]", document.title.as_deref().unwrap_or("document")),
        Piece::Vendor(raw) | Piece::Beside(_, raw) => format!("[{} bytes of the vendor's own]", raw.len()),
        Piece::Call(_) | Piece::Result(_) => String::new(),
    }
}
