package edge

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/problem"
)

func (h *Handler) findOperation(c *call) error {
	var allowed []string
	// No id contains a slash or bytes that are not text.
	if utf8.ValidString(c.path) && !strings.Contains(strings.ToLower(c.r.URL.RawPath), "%2f") {
		c.op, allowed = h.Operations.Find(c.r.Method, c.path)
	}
	switch {
	case c.op != nil:
		c.route, c.path = c.op.Path, c.op.Canonical(c.path)
		if c.op.Sandbox != "" {
			c.Header().Set(sandboxHeader, c.op.Sandbox)
		}
		return nil
	case len(allowed) > 0:
		c.Header().Set("Allow", strings.Join(allowed, ", "))
		return problem.New(problem.MethodNotAllowed, "This path exists, but not with this method.")
	default:
		return problem.New(problem.NotFound, "There is no such path.")
	}
}

func (h *Handler) checkScope(c *call) error {
	if c.op.Scope != 0 && !c.principal.HasScope(c.op.Scope) {
		return problem.New(problem.InsufficientScope, "This key lacks the scope %s.", enumname.String(c.op.Scope))
	}
	return nil
}

// isPost reports whether the operation is a POST, which has a body.
func (c *call) isPost() bool { return c.op.Method == http.MethodPost }

// takesKey reports whether the request needs an Idempotency-Key.
func (c *call) takesKey() bool { return c.isPost() && !c.op.KeyIgnored }

// deprecate adds the headers of what the call used that will go away.
func (h *Handler) deprecate(c *call, status int) {
	use := openapi.Usage{RawQuery: c.r.URL.RawQuery, Body: c.body, Status: status, Err: c.err}
	if c.op != nil {
		use.Method, use.Path = c.op.Method, c.op.Path
	}
	h.Deprecations.Deprecate(c.Header(), &use)
}

func (h *Handler) checkAccept(c *call) error {
	if !acceptsJSON(c.r.Header) {
		return problem.New(problem.NotAcceptable, "Responses are application/json, which Accept excludes.")
	}
	return nil
}

// acceptsJSON reports whether the Accept headers allow application/json (RFC 9110, section 12.5.1). The most specific range
// that covers it decides.
func acceptsJSON(h http.Header) bool {
	values := h.Values("Accept")
	if strings.TrimSpace(strings.Join(values, "")) == "" {
		return true
	}
	best, quality := -1, 0.0
	for _, part := range splitList(strings.Join(values, ",")) {
		specificity, q, ok := jsonRange(part)
		if ok && (specificity > best || specificity == best && q > quality) {
			best, quality = specificity, q
		}
	}
	return quality > 0
}

// splitList splits a list at its commas, except those in quotes.
func splitList(list string) (parts []string) {
	quoted, begin := false, 0
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && c == ',':
			parts = append(parts, list[begin:i])
			begin = i + 1
		}
	}
	return append(parts, list[begin:])
}

// jsonRange reads one media range and returns how specifically it covers application/json.
func jsonRange(part string) (specificity int, quality float64, ok bool) {
	media, params, err := mime.ParseMediaType(strings.TrimSpace(part))
	if err != nil {
		return 0, 0, false
	}
	quality = 1
	if q, given := params["q"]; given {
		if quality, err = strconv.ParseFloat(q, 64); err != nil {
			return 0, 0, false
		}
	}
	for i, covering := range []string{"*/*", "application/*", "application/json"} {
		if media == covering {
			return i, quality, true
		}
	}
	return 0, 0, false
}

// checkMediaType refuses the body of a POST that is not plain JSON.
func (h *Handler) checkMediaType(c *call) error {
	if !c.isPost() {
		return nil
	}
	if isEncoded(c.r.Header.Values("Content-Encoding")) {
		c.Header().Set("Accept-Encoding", "identity")
		return problem.New(problem.UnsupportedMediaType, "A body must not be compressed: send it without Content-Encoding.")
	}
	if c.op.EmptyBody && c.hasEmptyBody() {
		return nil
	}
	if len(c.r.Header.Values("Content-Type")) > 1 {
		return problem.New(problem.UnsupportedMediaType, "Content-Type must be sent once.")
	}
	media, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return problem.New(problem.UnsupportedMediaType, "A POST body must be application/json.")
	}
	return nil
}

// hasEmptyBody reports whether the body is empty, which is only seen by reading if its length is not known.
func (c *call) hasEmptyBody() bool {
	if c.r.ContentLength >= 0 {
		return c.r.ContentLength == 0
	}
	buffered := bufio.NewReader(c.r.Body)
	_, err := buffered.Peek(1)
	c.r.Body = struct {
		io.Reader
		io.Closer
	}{buffered, c.r.Body}
	return errors.Is(err, io.EOF)
}

// isEncoded reports whether a body has a content coding. A compressed body could unpack to a thousand times its size.
func isEncoded(codings []string) bool {
	for coding := range strings.SplitSeq(strings.Join(codings, ","), ",") {
		if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
			return true
		}
	}
	return false
}
