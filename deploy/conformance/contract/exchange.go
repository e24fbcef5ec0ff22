package contract

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	faults "github.com/pb33f/libopenapi-validator/errors"
	"github.com/pb33f/libopenapi-validator/helpers"
	"github.com/pb33f/libopenapi-validator/schema_validation"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
)

const (
	jsonType    = "application/json"
	problemType = "application/problem+json"
)

// Exchange is a request and its answer, with their bodies in full.
type Exchange struct {
	Method string
	URL    *url.URL
	Header http.Header
	Sent   []byte

	Status       int
	AnswerHeader http.Header
	Received     []byte
}

// request is the exchange's request; HEAD is judged as GET.
func (e Exchange) request() *http.Request {
	method := e.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return &http.Request{Method: method, URL: e.URL, Header: e.Header, Body: body(e.Sent), ContentLength: int64(len(e.Sent))}
}

// Check gives what in the exchange breaks the document, or nil.
func (c *Contract) Check(e Exchange) error {
	if err := c.check(e); err != nil {
		return fmt.Errorf("%s %s answered %d: %w", e.Method, e.URL.Path, e.Status, err)
	}
	return nil
}

func (c *Contract) check(e Exchange) error {
	if err := e.shape(); err != nil {
		return err
	}
	op := c.find(e.request())
	if op == nil {
		return c.refusal(e)
	}
	if e.Status < http.StatusMultipleChoices {
		if err := c.accepted(e, op); err != nil {
			return err
		}
	}
	if e.Method == http.MethodHead {
		return nil // There is no body to hold against the schema.
	}
	answer := &http.Response{StatusCode: e.Status, Header: e.AnswerHeader, Body: body(e.Received)}
	_, found := c.answers.ValidateHttpResponse(e.request(), answer)
	return broken(found)
}

// accepted judges a request that was not refused. The validator neither reads what the document says of security at its
// top, nor lets a body be left out that need not be sent.
func (c *Contract) accepted(e Exchange, op *v3.Operation) error {
	if op.Security == nil && len(c.model.Security) > 0 && e.Header.Get("Authorization") == "" {
		return fmt.Errorf("%w: it was answered without a key", ErrBroken)
	}
	_, found := c.requests.ValidateHttpRequestSync(e.request())
	if len(e.Sent) == 0 && op.RequestBody != nil && (op.RequestBody.Required == nil || !*op.RequestBody.Required) {
		found = slices.DeleteFunc(found, func(f *faults.ValidationError) bool {
			return f.ValidationType == helpers.RequestBodyValidation
		})
	}
	return broken(found)
}

// shape checks what the validator lets pass: a body that is empty or null.
func (e Exchange) shape() error {
	kind := e.AnswerHeader.Get("Content-Type")
	if kind != jsonType && kind != problemType || e.Method == http.MethodHead {
		return nil
	}
	if content := bytes.TrimSpace(e.Received); len(content) == 0 || string(content) == "null" {
		return fmt.Errorf("%w: a body of %q as %s", ErrBroken, content, kind)
	}
	return nil
}

// refusal judges the answer to a request that the document does not have: it must be a problem.
func (c *Contract) refusal(e Exchange) error {
	kind := e.AnswerHeader.Get("Content-Type")
	if e.Status < http.StatusBadRequest || kind != problemType {
		return fmt.Errorf("%w: it is not in the document, yet it answers %q and no problem", ErrBroken, kind)
	}
	if e.AnswerHeader.Get("Request-Id") == "" {
		return fmt.Errorf("%w: no Request-Id", ErrBroken)
	}
	if e.Method == http.MethodHead {
		return nil
	}
	_, found := schema_validation.NewSchemaValidator().ValidateSchemaBytes(c.problem, e.Received)
	return broken(found)
}

// Webhook gives what in a delivery of the event type breaks the document, or nil.
func (c *Contract) Webhook(eventType string, header http.Header, content []byte) error {
	target := &url.URL{Path: "/" + strings.TrimPrefix(eventType, "/")}
	r := &http.Request{Method: http.MethodPost, URL: target, Header: header, Body: body(content), ContentLength: int64(len(content))}
	if _, found := c.webhooks.ValidateHttpRequestSync(r); len(found) > 0 {
		return fmt.Errorf("webhook %s: %w", eventType, broken(found))
	}
	return nil
}
