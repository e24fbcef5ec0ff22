package edge

import (
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/partnergifting/platform/gateway/internal/idempotent"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
)

// maxBody is the largest request body: 10 MB.
const maxBody = 10 << 20

func (h *Handler) readBody(c *call) error {
	if !c.isPost() {
		return nil
	}
	tooLarge := problem.New(problem.PayloadTooLarge, "The body is larger than 10 MB.")
	if c.r.ContentLength > maxBody {
		return tooLarge
	}
	raw, err := io.ReadAll(http.MaxBytesReader(c, c.r.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge
	}
	if err != nil {
		return problem.Invalid(problem.Violation{Code: problem.FieldInvalid, Message: "the body ended before it was complete"})
	}
	c.body = raw
	return nil
}

func (h *Handler) readKey(c *call) (err error) {
	if c.isPost() {
		c.request.IdempotencyKey, err = idempotent.Key(c.r.Header)
	}
	return err
}

// readQuery reads the parameters of a GET. A POST takes none: its query only counts towards the fingerprint.
func (h *Handler) readQuery(c *call) error {
	query, err := url.ParseQuery(c.r.URL.RawQuery)
	malformed := problem.Violation{Code: problem.FieldInvalid, Message: "the query string is malformed"}
	switch {
	case err == nil && c.isPost():
		c.request.Fingerprint = h.Fingerprinter.Of(c.op.Method, c.path, query, c.body)
	case err == nil:
		c.request.Violations = restjson.UnmarshalQuery(query, c.op.Request.New().Interface(), c.op.PathFields...)
	case c.isPost():
		// The look-up of the Idempotency-Key comes first, so the service reports the violation with those of the body.
		c.request.Fingerprint = h.Fingerprinter.Of(c.op.Method, c.path, url.Values{"": {c.r.URL.RawQuery}}, c.body)
		c.request.Violations = []problem.Violation{malformed}
	default:
		return problem.Invalid(malformed)
	}
	return nil
}
