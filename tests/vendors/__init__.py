"""Model vendors, as far as a test needs them: `rules` has what each publishes of its requests, `server` enforces it over a socket."""
