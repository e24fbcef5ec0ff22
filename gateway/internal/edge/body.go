package edge

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/partnergifting/platform/gateway/internal/idempotent"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
)

// maxBody is the largest request body: 10 MB.
const maxBody = 10 << 20

// slowBody is the time since the request began after which the key is checked again: it may have been revoked while the body
// arrived, or waited because it is large.
const slowBody = time.Second

func (h *Handler) readBody(c *call) error {
	if !c.isPost() {
		return nil
	}
	tooLarge := problem.New(problem.PayloadTooLarge, "The body is larger than 10 MB.")
	if c.r.ContentLength > maxBody {
		return tooLarge
	}
	// Refused here, a large body costs nothing: the server closes the connection instead of reading it.
	if err := c.pass.Expect(max(c.r.ContentLength, 0)); err != nil {
		return err
	}
	err := c.readAll(http.MaxBytesReader(c, c.r.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge
	}
	if err != nil {
		return err
	}
	if err := c.pass.Process(c.r.Context()); err != nil || time.Since(c.began) < slowBody {
		return err
	}
	return h.recheck(c)
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
		case errors.Is(err, os.ErrDeadlineExceeded):
			panic(http.ErrAbortHandler) // The body came too slowly. An answer 400 would tell the caller not to repeat the request.
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
	if err := c.pass.Reserve(int64(size - cap(c.body))); err != nil {
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
		found := restjson.UnmarshalQuery(query, request, c.op.PathFields...)
		c.request.Violations, c.ignored = found.Violations, found.Ignored
		c.waiting.asked = waitOf(request)
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

// maxIgnoredMembers bounds the header Ignored-Members, in bytes.
const maxIgnoredMembers = 1 << 10

// writeIgnoredMembers names the members of the body that mean nothing to the operation in a header, as a list of strings of RFC
// 8941. What such a string cannot hold is percent-encoded, and so is the percent sign. Only a success, or a refusal of what the
// body says, has the header.
func writeIgnoredMembers(c *call, status int) {
	switch status {
	case http.StatusBadRequest, http.StatusConflict, http.StatusPreconditionFailed, http.StatusUnprocessableEntity:
	default:
		if status >= http.StatusMultipleChoices {
			return
		}
	}
	var list strings.Builder
	for _, path := range c.request.IgnoredMembers {
		item := quoted(path)
		if list.Len() > 0 {
			item = ", " + item
		}
		if list.Len()+len(item) > maxIgnoredMembers {
			break
		}
		list.WriteString(item)
	}
	if list.Len() > 0 {
		c.Header().Set("Ignored-Members", list.String())
	}
}

func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, octet := range []byte(text) {
		switch {
		case octet < ' ' || octet > '~' || octet == '%':
			fmt.Fprintf(&b, "%%%02X", octet)
		case octet == '"' || octet == '\\':
			b.WriteByte('\\')
			fallthrough
		default:
			b.WriteByte(octet)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// namesOf lists the first names of parameters in a header. They are encoded as in the query, so that they have no separators.
func namesOf(parameters []string) string {
	const most, longest = 10, 64
	var names []string
	for _, name := range parameters[:min(len(parameters), most)] {
		names = append(names, url.QueryEscape(name[:min(len(name), longest)]))
	}
	return strings.Join(names, ", ")
}
