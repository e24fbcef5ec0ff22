package edge

import "net/http"

// secure sets what every answer tells a browser, should one ever show it: no guessing of types, no
// frames, no scripts, no referrer, and HTTPS for a year where the API is reached by it. A handler
// that answers with pages of its own sets a policy of its own.
func (h *Handler) secure(header http.Header) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	if h.HTTPS {
		header.Set("Strict-Transport-Security", "max-age=31536000")
	}
}
