//! The address that a model is asked at, in one form, without what may be secret in it.

/// The form of a base URL that is stored and compared: scheme and host in lower case, without user, password, query, fragment and the
/// slashes at its end.
#[must_use]
pub fn address(url: &str) -> String {
    let url = url.trim().split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = host.rsplit('@').next().unwrap_or_default();
    let scheme = if scheme.is_empty() { String::new() } else { format!("{}://", scheme.to_lowercase()) };
    format!("{scheme}{}{}", host.to_lowercase(), path.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn forms_of_one_address_are_one_and_secrets_are_left_out() {
        for url in [
            "https://api.example.com/v1",
            " https://API.example.com/v1/ ",
            "HTTPS://api.example.com/v1//?key=secret",
            "https://me:secret@api.example.com/v1#x",
            "https://me:p@ss@api.example.com/v1",
        ] {
            assert_eq!(address(url), "https://api.example.com/v1", "{url}");
        }
        assert_eq!(address("localhost:8000"), "localhost:8000");
        assert_eq!(address(""), "");
        assert_ne!(address("http://a/v1"), address("http://a/V1"), "a path has cases");
    }
}
