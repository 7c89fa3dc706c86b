//! The real count in the refusal of a request that was too long: a sample of the truth that costs nothing.
//!
//! Wordings, as the APIs of 2024 to 2026 have them: Anthropic `prompt is too long: 213462 tokens > 200000 maximum`; `OpenAI` `This model's
//! maximum context length is 128000 tokens. However, your messages resulted in 130482 tokens` and `you requested 132482 tokens (128482 in
//! the messages, 4000 in the completion)`; Gemini `The input token count (1048600) exceeds the maximum number of tokens allowed (1048576)`.

/// What a refusal says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong {
    /// What the request really was.
    pub tokens: u64,
    /// What it may be.
    pub limit: u64,
}

/// The counts in an error's message; `None` if it does not say that a request was too long.
#[must_use]
pub fn too_long(message: &str) -> Option<TooLong> {
    let found = [anthropic, openai, gemini].into_iter().find_map(|read| read(message))?;
    (found.tokens > found.limit && found.limit > 0).then_some(found)
}

fn anthropic(message: &str) -> Option<TooLong> {
    let rest = after(message, "prompt is too long:")?;
    let (tokens, rest) = rest.split_once('>')?;
    Some(TooLong { tokens: number(tokens)?, limit: number(rest)? })
}

fn openai(message: &str) -> Option<TooLong> {
    let limit = number(after(message, "maximum context length is")?)?;
    let tokens = after(message, "resulted in").and_then(number);
    // Here the completion is counted in: the messages' own number stands in the brackets.
    let requested = || after(message, "you requested").and_then(|rest| number(after(rest, "(").unwrap_or(rest)));
    let tokens = tokens.or_else(requested)?;
    // A request that was only too long together with its reply says nothing of the prompt's limit.
    Some(TooLong { tokens, limit })
}

fn gemini(message: &str) -> Option<TooLong> {
    let tokens = number(after(message, "input token count")?)?;
    Some(TooLong { tokens, limit: number(after(message, "tokens allowed")?)? })
}

fn after<'a>(message: &'a str, words: &str) -> Option<&'a str> {
    message.find(words).map(|at| &message[at + words.len()..])
}

/// The first number within a few characters; commas may group its digits.
fn number(text: &str) -> Option<u64> {
    let start = text.char_indices().take(4).find(|(_, character)| character.is_ascii_digit())?.0;
    let digits = text[start..].bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b',').filter(u8::is_ascii_digit);
    digits.take(16).fold(None, |value: Option<u64>, digit| Some(value.unwrap_or(0) * 10 + u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_each_vendor_are_read() {
        for (message, tokens, limit) in [
            ("prompt is too long: 213462 tokens > 200000 maximum", 213_462, 200_000),
            ("400 invalid_request_error: prompt is too long: 1,000,001 tokens > 1,000,000 maximum.", 1_000_001, 1_000_000),
            (
                "This model's maximum context length is 128000 tokens. However, your messages resulted in 130482 tokens. Please reduce the length.",
                130_482,
                128_000,
            ),
            (
                "This model's maximum context length is 8192 tokens. However, you requested 10000 tokens (9000 in the messages, 1000 in the completion).",
                9_000,
                8_192,
            ),
            ("The input token count (1048600) exceeds the maximum number of tokens allowed (1048576).", 1_048_600, 1_048_576),
        ] {
            assert_eq!(too_long(message), Some(TooLong { tokens, limit }), "{message}");
        }
    }

    #[test]
    fn other_errors_are_not() {
        for message in [
            "",
            "rate limit exceeded: 200000 tokens > 100000 tokens per minute",
            "prompt is too long",
            "prompt is too long: many tokens > 200000 maximum",
            "prompt is too long: 5 tokens > 200000 maximum",
            "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).",
            "prompt is too long: 99999999999999999999999999999 tokens > 0 maximum",
            "é prompt is too long:é > é",
        ] {
            assert_eq!(too_long(message), None, "{message}");
        }
    }
}
