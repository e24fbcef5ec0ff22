package edge

import (
	"net/http"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
)

// readConditions reads the condition of a read, or that of a change for the owning service, which reports its errors with those of
// the body. If-Match is not part of the fingerprint: a repeated request gets the stored answer whatever the record has become.
//
// If-None-Match only saves work, so a malformed one is ignored. If-Match protects a record, so no action ignores it: an operation
// that does not obey it refuses the request. Reads ignore it, as they change nothing.
func (h *Handler) readConditions(c *call) error {
	if !c.isPost() {
		if c.op.Conditional {
			c.ifNoneMatch, _ = caller.ParseCondition(c.r.Header.Values("If-None-Match"))
		}
		return nil
	}
	condition, ok := caller.ParseCondition(c.r.Header.Values("If-Match"))
	wrong := ""
	switch {
	case condition == nil && ok:
	case !c.op.Conditional:
		wrong = "is not obeyed by this operation: leave it out"
	case !ok:
		wrong = "must be * or a list of 1 to 100 entity tags in quotes"
	default:
		c.request.IfMatch = condition
	}
	if wrong != "" {
		c.request.Violations = append(c.request.Violations,
			problem.Violation{Field: "If-Match", Code: problem.FieldInvalid, Message: wrong})
	}
	return nil
}

// responseWriter is where the owning service's answer is written.
func (c *call) responseWriter() http.ResponseWriter {
	if c.op.Conditional && !c.isPost() {
		return tagWriter{c}
	}
	return c
}

// tagWriter adds an ETag to the answer of a read, or answers 304 instead. It needs the whole body in one Write, and none for an
// error: grpc-gateway writes the body of a success at once, and keepError writes nothing.
type tagWriter struct{ *call }

// Write implements http.ResponseWriter.
func (w tagWriter) Write(body []byte) (int, error) {
	tag := caller.NewETag(w.state, body)
	w.Header().Set("ETag", tag)
	if !w.ifNoneMatch.HasWeakly(tag) {
		return w.call.Write(body)
	}
	w.Header().Del("Content-Type")
	w.Header().Del("Content-Length")
	w.WriteHeader(http.StatusNotModified)
	return len(body), nil
}
