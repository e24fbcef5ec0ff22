package contract

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	validation "github.com/pb33f/libopenapi-validator/errors"
	"github.com/pb33f/libopenapi-validator/helpers"
	"github.com/pb33f/libopenapi-validator/schema_validation"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
)

const (
	jsonType    = "application/json"
	problemType = "application/problem+json"
)

// Exchange is a request and its response, with their whole bodies.
type Exchange struct {
	Method string
	URL    *url.URL
	Header http.Header
	Sent   []byte

	Status       int
	AnswerHeader http.Header
	Received     []byte
}

// request is the exchange's request; HEAD is validated as GET.
func (e Exchange) request() *http.Request {
	method := e.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return &http.Request{Method: method, URL: e.URL, Header: e.Header, Body: body(e.Sent), ContentLength: int64(len(e.Sent))}
}

// Check returns an error if the exchange does not follow the document.
func (c *Contract) Check(e Exchange) error {
	c.validating.Lock()
	defer c.validating.Unlock()
	if err := c.check(e); err != nil {
		return fmt.Errorf("%s %s answered %d: %w", e.Method, e.URL.Path, e.Status, err)
	}
	return nil
}

func (c *Contract) check(e Exchange) error {
	if err := e.checkBody(); err != nil {
		return err
	}
	op := c.find(e.request())
	if op == nil {
		return c.checkRefusal(e)
	}
	if e.Status < http.StatusMultipleChoices {
		if err := c.checkRequest(e, op); err != nil {
			return err
		}
	}
	if e.Method == http.MethodHead {
		return nil // There is no body to validate.
	}
	answer := &http.Response{StatusCode: e.Status, Header: e.AnswerHeader, Body: body(e.Received)}
	_, found := c.answers.ValidateHttpResponse(e.request(), answer)
	return invalid(found)
}

// checkRequest validates a request that was not refused. It works around two limits of the validator, which ignores the security of
// the whole document and requires optional bodies.
func (c *Contract) checkRequest(e Exchange, op *v3.Operation) error {
	if op.Security == nil && len(c.model.Security) > 0 && e.Header.Get("Authorization") == "" {
		return fmt.Errorf("%w: it was answered without a key", ErrInvalid)
	}
	_, found := c.requests.ValidateHttpRequestSync(e.request())
	if len(e.Sent) == 0 && op.RequestBody != nil && (op.RequestBody.Required == nil || !*op.RequestBody.Required) {
		found = slices.DeleteFunc(found, func(f *validation.ValidationError) bool {
			return f.ValidationType == helpers.RequestBodyValidation
		})
	}
	return invalid(found)
}

// checkBody refuses an empty body and null, which the validator accepts.
func (e Exchange) checkBody() error {
	kind := e.AnswerHeader.Get("Content-Type")
	if kind != jsonType && kind != problemType || e.Method == http.MethodHead {
		return nil
	}
	if content := bytes.TrimSpace(e.Received); len(content) == 0 || string(content) == "null" {
		return fmt.Errorf("%w: a body of %q as %s", ErrInvalid, content, kind)
	}
	return nil
}

// checkRefusal validates the response to a request that is not in the document: it must be a problem.
func (c *Contract) checkRefusal(e Exchange) error {
	kind := e.AnswerHeader.Get("Content-Type")
	if e.Status < http.StatusBadRequest || kind != problemType {
		return fmt.Errorf("%w: it is not in the document, yet it answers %q and no problem", ErrInvalid, kind)
	}
	if e.AnswerHeader.Get("Request-Id") == "" {
		return fmt.Errorf("%w: no Request-Id", ErrInvalid)
	}
	if e.Method == http.MethodHead {
		return nil
	}
	_, found := schema_validation.NewSchemaValidator().ValidateSchemaBytes(c.problem, e.Received)
	return invalid(found)
}

// Webhook returns an error if a delivery of the event type does not follow the document.
func (c *Contract) Webhook(eventType string, header http.Header, content []byte) error {
	target := &url.URL{Path: "/" + strings.TrimPrefix(eventType, "/")}
	r := &http.Request{Method: http.MethodPost, URL: target, Header: header, Body: body(content), ContentLength: int64(len(content))}
	c.validating.Lock()
	defer c.validating.Unlock()
	if _, found := c.webhooks.ValidateHttpRequestSync(r); len(found) > 0 {
		return fmt.Errorf("webhook %s: %w", eventType, invalid(found))
	}
	return nil
}
