package edge

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/partnergifting/platform/gateway/internal/operation"
	"github.com/partnergifting/platform/pkg/problem"
)

// acceptsJSON says whether the Accept headers take application/json (RFC 9110, section 12.5.1).
// The most specific range that covers it decides.
func acceptsJSON(h http.Header) bool {
	values := h.Values("Accept")
	if strings.TrimSpace(strings.Join(values, "")) == "" {
		return true
	}
	best, quality := -1, 0.0
	for _, part := range elements(strings.Join(values, ",")) {
		specificity, q, ok := jsonRange(part)
		if ok && (specificity > best || specificity == best && q > quality) {
			best, quality = specificity, q
		}
	}
	return quality > 0
}

// elements splits a list at its commas, but for those in quotes.
func elements(list string) (parts []string) {
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

// jsonRange reads one media range and says how specifically it covers application/json.
func jsonRange(part string) (specificity int, quality float64, ok bool) {
	ranged, params, err := mime.ParseMediaType(strings.TrimSpace(part))
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
		if ranged == covering {
			return i, quality, true
		}
	}
	return 0, 0, false
}

// checkMediaType answers unsupported_media_type to a POST whose body is not plain JSON.
func checkMediaType(w http.ResponseWriter, r *http.Request, op *operation.Operation) error {
	if r.Method != http.MethodPost {
		return nil
	}
	if !plain(r.Header.Values("Content-Encoding")) {
		w.Header().Set("Accept-Encoding", "identity")
		return problem.New(problem.UnsupportedMediaType, "A body must not be compressed: send it without Content-Encoding.")
	}
	if len(r.Header.Values("Content-Type")) > 1 {
		return problem.New(problem.UnsupportedMediaType, "Content-Type must stand once.")
	}
	given := r.Header.Get("Content-Type")
	if given == "" && op.BodyOptional && r.ContentLength == 0 {
		return nil
	}
	media, _, err := mime.ParseMediaType(given)
	if err != nil || media != "application/json" {
		return problem.New(problem.UnsupportedMediaType, "A POST body must be application/json.")
	}
	return nil
}

// plain says whether no coding was applied to a body: one that is unpacked here could be a thousand
// times what its sender paid for.
func plain(codings []string) bool {
	for coding := range strings.SplitSeq(strings.Join(codings, ","), ",") {
		if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
			return false
		}
	}
	return true
}
