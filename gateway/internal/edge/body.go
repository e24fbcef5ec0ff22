package edge

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"

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
	// Refused here, a large body costs nothing: the server closes the connection instead of reading it.
	if err := c.pass.Expect(c.r.Context(), max(c.r.ContentLength, 0)); err != nil {
		return err
	}
	err := c.readAll(http.MaxBytesReader(c, c.r.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge
	}
	if err != nil {
		return err
	}
	return c.pass.Process(c.r.Context())
}

// readAll reads the body into c.body, whose capacity grows with what has arrived and is admitted before it grows. So a caller
// that announces a large body and sends nothing keeps no room from others.
func (c *call) readAll(from io.Reader) error {
	for {
		if len(c.body) == cap(c.body) {
			if err := c.growBody(); err != nil {
				return err
			}
		}
		n, err := from.Read(c.body[len(c.body):cap(c.body)])
		c.body = c.body[:len(c.body)+n]
		switch _, tooLarge := errors.AsType[*http.MaxBytesError](err); {
		case err == nil:
		case errors.Is(err, io.EOF):
			return nil
		case tooLarge:
			return err
		default:
			return problem.Invalid(problem.Violation{Code: problem.FieldInvalid, Message: "the body ended before it was complete"})
		}
	}
}

// growBody doubles the capacity of the body, up to its length if that is known. The byte beyond it is where its end is read.
func (c *call) growBody() error {
	const least = 4 << 10
	size := min(max(2*cap(c.body), least), maxBody+1)
	if c.r.ContentLength >= 0 {
		size = min(size, max(int(c.r.ContentLength), len(c.body))+1)
	}
	if err := c.pass.Reserve(c.r.Context(), int64(size-cap(c.body))); err != nil {
		return err
	}
	grown := make([]byte, len(c.body), size)
	copy(grown, c.body)
	c.body = grown
	return nil
}

func (h *Handler) readKey(c *call) (err error) {
	if c.takesKey() {
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
		c.ignored = slices.Sorted(maps.Keys(query))
		h.fingerprint(c, query)
	case err == nil:
		request := c.op.Request.New().Interface()
		c.request.Violations = restjson.UnmarshalQuery(query, request, c.op.PathFields...)
		c.ignored = restjson.IgnoredParameters(query, request, c.op.PathFields...)
		c.wait = waitOf(request)
	case c.isPost():
		// The look-up of the Idempotency-Key comes first, so the service reports the violation with those of the body.
		h.fingerprint(c, url.Values{"": {c.r.URL.RawQuery}})
		c.request.Violations = []problem.Violation{malformed}
	default:
		return problem.Invalid(malformed)
	}
	return nil
}

func (h *Handler) fingerprint(c *call, query url.Values) {
	if !c.takesKey() {
		return
	}
	c.request.Fingerprint, c.request.OtherFingerprints = h.Fingerprinter.Of(c.op.Method, c.path, query, c.body)
}
