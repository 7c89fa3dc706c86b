//! The images and documents that each API takes, by their media types.
//!
//! A request with one that it does not take is refused, and so is every later one, because the message stays in the conversation. A text is
//! sent as one then, whatever file it came in; the rest becomes a short text that names it. A type that an API refuses for its spelling is
//! written as the API wants it.
//!
//! Sources: Anthropic API reference, "Messages": images are JPEG, PNG, GIF and WebP, documents PDF and plain text, both by web address too.
//! `OpenAI`, "File inputs": chat completions take PDF alone, responses most documents; no page lists SVG among images, and servers that
//! speak chat completions read the others. Gemini API, "Image understanding", "Document understanding": texts and PDF, and no office files;
//! it answers 400 to `image/jpg` (ogkalu2/comic-translate pull request 399) and to SVG (google/adk-python issue 5693).

use std::borrow::Cow;

use super::message::{Document, Format, Image, Shape, Source};
use crate::units::base64;

pub(super) const JPEG: &str = "image/jpeg";
pub(super) const PDF: &str = "application/pdf";
/// The base64 of `%PDF-`.
const PDF_BEGINS: &str = "JVBERi0";
const LONGEST_KIND: usize = 100;
/// Texts whose type does not begin with `text/`.
const TEXTS: [&str; 14] = [
    "application/json",
    "application/jsonl",
    "application/x-ndjson",
    "application/xml",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/sql",
    "application/graphql",
    "application/javascript",
    "application/x-javascript",
    "application/typescript",
    "application/x-python",
    "application/x-sh",
];

/// The form in which a document is sent.
#[derive(Debug)]
pub(super) enum Sent<'a> {
    /// As a document.
    File(Cow<'a, Document>),
    /// Its text alone.
    Text(String),
    /// A text that names it.
    Named,
}

/// The image as the API takes it; `None` where it does not.
pub(super) fn image(image: &Image, shape: Shape) -> Option<Cow<'_, Image>> {
    let (media_type, data) = match &image.source {
        Source::Base64 { media_type, data } => (media_type, data),
        Source::Url(url) => return takes_address(url, shape).then_some(Cow::Borrowed(image)),
        Source::Text(_) => return None,
    };
    let kind = kind(media_type);
    let spelled = if matches!(&*kind, "image/jpg" | "image/pjpeg") { JPEG } else { &kind };
    let spells = match shape.format {
        Format::Anthropic if shape.converse => false,
        Format::Anthropic if !matches!(spelled, "image/jpeg" | "image/png" | "image/gif" | "image/webp") => return None,
        Format::OpenAi | Format::Responses | Format::Gemini if spelled.starts_with("image/svg") => return None,
        Format::Anthropic | Format::Gemini => spelled != &**media_type,
        Format::OpenAi | Format::Responses => false,
    };
    Some(if spells { Cow::Owned(Image { source: in_base64(spelled, data), ..image.clone() }) } else { Cow::Borrowed(image) })
}

/// Bytes in a `data:` URL that is not base64 have no address, and Anthropic fetches nothing but web pages.
fn takes_address(url: &str, shape: Shape) -> bool {
    let begins = |scheme: &str| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    match shape.format {
        Format::Anthropic if shape.converse => true,
        Format::Anthropic => begins("https://") || begins("http://"),
        Format::OpenAi | Format::Responses | Format::Gemini => !begins("data:"),
    }
}

/// The document as the API takes it. A model that takes none is not asked.
pub(super) fn document(document: &Document, shape: Shape) -> Sent<'_> {
    let (media_type, data) = match &document.source {
        Source::Base64 { media_type, data } => (media_type, data),
        Source::Url(url) if !takes_address(url, shape) => return Sent::Named,
        Source::Url(_) | Source::Text(_) => return Sent::File(Cow::Borrowed(document)),
    };
    let kind = kind(media_type);
    let with = |source| Sent::File(Cow::Owned(Document { source, ..document.clone() }));
    match shape.format {
        Format::Responses => Sent::File(Cow::Borrowed(document)),
        Format::Anthropic if shape.converse => Sent::File(Cow::Borrowed(document)),
        _ if &**media_type == PDF => Sent::File(Cow::Borrowed(document)),
        _ if kind == PDF || data.starts_with(PDF_BEGINS) => with(in_base64(PDF, data)),
        Format::Gemini if is_geminis(&kind) => Sent::File(Cow::Borrowed(document)),
        Format::Anthropic => text_of(&kind, data).map_or(Sent::Named, |text| with(Source::Text(text.into()))),
        Format::OpenAi | Format::Gemini => text_of(&kind, data).map_or(Sent::Named, Sent::Text),
    }
}

fn is_geminis(kind: &str) -> bool {
    let begins = ["text/", "image/", "audio/", "video/"].into_iter().any(|family| kind.starts_with(family));
    begins && !kind.starts_with("image/svg") || matches!(kind, "application/rtf" | "application/x-javascript" | "application/x-python")
}

/// The text of a file that is one, in UTF-8.
fn text_of(kind: &str, data: &str) -> Option<String> {
    if !(kind.starts_with("text/") || kind.ends_with("+json") || kind.ends_with("+xml") || TEXTS.contains(&kind)) {
        return None;
    }
    let mut digits: String = data.chars().filter(|character| !character.is_ascii_whitespace() && *character != '=').collect();
    while !digits.len().is_multiple_of(4) {
        digits.push('=');
    }
    let text = String::from_utf8(base64::decode(&digits)?).ok()?;
    let said = text.trim_start_matches('\u{feff}');
    (!said.trim().is_empty()).then(|| said.to_owned())
}

/// The media type that the name of a file at a web address tells, for the images and documents that models take.
pub(super) fn of_address(url: &str) -> Option<&'static str> {
    let (_, file) = url.split(['?', '#']).next()?.rsplit_once('/')?;
    match &*file.rsplit_once('.')?.1.to_ascii_lowercase() {
        "jpg" | "jpeg" => Some(JPEG),
        "png" => Some("image/png"),
        "webp" => Some("image/webp"),
        "gif" => Some("image/gif"),
        "heic" => Some("image/heic"),
        "heif" => Some("image/heif"),
        "pdf" => Some(PDF),
        _ => None,
    }
}

/// The kind of a thing that is named, for people.
pub(super) fn described(what: &'static str, source: &Source) -> Cow<'static, str> {
    let Source::Base64 { media_type, .. } = source else { return what.into() };
    let kind = kind(media_type);
    let shows = !kind.is_empty() && kind.len() <= LONGEST_KIND && kind.bytes().all(|byte| byte.is_ascii_graphic());
    if shows { format!("{what} of the type {kind}").into() } else { what.into() }
}

fn in_base64(media_type: &str, data: &std::sync::Arc<str>) -> Source {
    Source::Base64 { media_type: media_type.into(), data: data.clone() }
}

/// A media type without its parameters, in lower case.
fn kind(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::super::message::Detail;
    use super::*;

    fn shapes() -> [Shape; 5] {
        let [chat, anthropic, responses, gemini] = Format::ALL.map(Shape::from);
        [chat, responses, gemini, anthropic, Shape { converse: true, ..anthropic }]
    }

    fn file(media_type: &str, data: &str) -> Document {
        Document { source: in_base64(media_type, &data.into()), title: None, context: None, citations: None }
    }

    /// `f` a file as it is, `F` one that is changed, `t` a text, `-` a name.
    fn sent(media_type: &str, data: &str) -> String {
        let given = file(media_type, data);
        let letter = |shape| match document(&given, shape) {
            Sent::File(Cow::Borrowed(_)) => 'f',
            Sent::File(Cow::Owned(_)) => 'F',
            Sent::Text(_) => 't',
            Sent::Named => '-',
        };
        shapes().map(letter).iter().collect()
    }

    #[test]
    fn every_api_is_sent_the_documents_that_it_takes() {
        for (media_type, data, all) in [
            ("application/pdf", "JVBERi0=", "fffff"),
            ("application/octet-stream", "JVBERi0xLjQK", "FfFFf"),
            ("Application/PDF; x=1", "AAAA", "FfFFf"),
            ("text/plain", "aGVsbG8=", "tffFf"),
            ("text/csv; charset=utf-8", "aGVs\nbG8", "tffFf"),
            ("application/ld+json", "e30=", "tftFf"),
            ("application/msword", "aGVsbG8=", "-f--f"),
            ("", "aGVsbG8=", "-f--f"),
            ("text/plain", "/////w==", "-ff-f"),
            ("text/plain", "ICAg", "-ff-f"),
            ("text/plain", "no base64!", "-ff-f"),
            ("video/mp4", "AAAA", "-ff-f"),
        ] {
            assert_eq!(sent(media_type, data), all, "{media_type} {data}");
        }
        let bom = file("text/plain", "77u/aGk=");
        assert!(matches!(document(&bom, Format::OpenAi.into()), Sent::Text(text) if text == "hi"));
    }

    #[test]
    fn every_api_is_sent_the_images_that_it_takes() {
        let picture = |source| Image { source, detail: Detail::Auto, size: None };
        let sent = |source: Source| -> String {
            let given = picture(source);
            let letter = |shape| image(&given, shape).map_or('-', |sent| if matches!(sent, Cow::Borrowed(_)) { 'f' } else { 'F' });
            shapes().map(letter).iter().collect()
        };
        for (media_type, all) in [
            ("image/png", "fffff"),
            ("image/jpg", "ffFFf"),
            ("IMAGE/PNG; q=1", "ffFFf"),
            ("image/bmp", "fff-f"),
            ("image/svg+xml", "----f"),
        ] {
            assert_eq!(sent(in_base64(media_type, &"AAAA".into())), all, "{media_type}");
        }
        for (url, all) in [("https://x/y.png", "fffff"), ("gs://x/y.png", "fff-f"), ("data:image/svg+xml,<svg/>", "----f")] {
            assert_eq!(sent(Source::Url(url.into())), all, "{url}");
        }
        let jpg = picture(in_base64("image/jpg", &"AAAA".into()));
        let sent = image(&jpg, Format::Anthropic.into()).unwrap();
        assert_eq!(sent.source, in_base64("image/jpeg", &"AAAA".into()));
    }

    #[test]
    fn an_address_tells_the_type_of_its_file() {
        for (url, told) in [
            ("https://x.org/a/chart.PNG", Some("image/png")),
            ("https://x.org/a.webp?size=1.gif", Some("image/webp")),
            ("gs://bucket/a.b.heic#c", Some("image/heic")),
            ("https://x.org/a.jpeg", Some(JPEG)),
            ("https://x.org/report.pdf", Some(PDF)),
            ("https://x.org/v1.png/files/abc", None),
            ("https://x.org/?file=a.png", None),
            ("https://x.org/page.html", None),
            ("", None),
        ] {
            assert_eq!(of_address(url), told, "{url}");
        }
    }

    #[test]
    fn a_type_is_shown_where_it_reads_as_one() {
        let shown = |media_type: &str| described("document", &in_base64(media_type, &"".into()));
        assert_eq!(shown("Application/MSWord; a=b"), "document of the type application/msword");
        assert_eq!([shown(""), shown("a b"), shown(&"x".repeat(101))], ["document", "document", "document"].map(Cow::Borrowed));
    }
}
