package gifting

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// The headers that only some calls take. optionalHeaders has the options that set them.
const (
	idempotencyKey = "Idempotency-Key"
	ifMatch        = "If-Match"
	ifNoneMatch    = "If-None-Match"
)

var optionalHeaders = map[string]string{
	idempotencyKey: "WithIdempotencyKey", ifMatch: "WithIfMatch", ifNoneMatch: "WithIfNoneMatch",
}

const sandboxFault = "Sandbox-Fault"

// call is one operation with all its attempts.
type call struct {
	method string
	route
	query  url.Values
	body   any
	header http.Header
	// accepts are the optional headers of the operation. If it has no method here, it is unlisted and gets all.
	accepts  []string
	unlisted bool
	// image means that no key is sent, and that the answer is no JSON.
	image bool
	// attempts, unless it is 0, replaces that of the client.
	attempts int
	// wait is how long the server may hold the call.
	wait time.Duration
	// response is set by WithResponse.
	response *Response
}

// route is a path, and what the document calls it.
type route struct{ path, template string }

// routeTo puts ids into the places {…} of a path. Without an id, or with dots, the path would be that of another operation: then it
// stays empty, and the call fails before anything is sent.
func routeTo(template string, ids ...string) route {
	path := template
	for _, id := range ids {
		if id == "" || id == "." || id == ".." {
			return route{"", template}
		}
		before, rest, _ := strings.Cut(path, "{")
		_, after, _ := strings.Cut(rest, "}")
		path = before + url.PathEscape(id) + after
	}
	return route{path, template}
}

// CallOption changes one call. An option that does not apply to a call makes it fail, before anything is sent.
type CallOption func(*call)

// WithIdempotencyKey sets the key of a POST, at most 255 characters. Without it each call has a new random one. Store your own key
// with what the call is for, and you may repeat the call after a crash.
func WithIdempotencyKey(key string) CallOption { return WithHeader(idempotencyKey, key) }

// WithIfMatch makes an action on an order depend on the ETag with which you read it: otherwise CodePreconditionFailed.
func WithIfMatch(etag string) CallOption { return WithHeader(ifMatch, etag) }

// WithIfNoneMatch makes a read that has an ETag return [ErrNotModified] if the record still has it.
func WithIfNoneMatch(etag string) CallOption { return WithHeader(ifNoneMatch, etag) }

// WithSandboxFault forces the first answer, to see what your code does then: one of 429, 500, 503, timeout, lost and in-progress.
// The next attempt is answered as usual. Only in the sandbox.
func WithSandboxFault(fault string) CallOption { return WithHeader(sandboxFault, fault) }

// WithHeader sets a header of the request, except those that the client sets itself.
func WithHeader(name, value string) CallOption {
	return func(c *call) { c.header.Set(name, value) }
}

// WithResponse stores what came with the response.
func WithResponse(response *Response) CallOption {
	return func(c *call) { c.response = response }
}

// Response is what came with the last response of a call.
type Response struct {
	Status int
	Header http.Header
	// Body is as it was received.
	Body []byte
	// Attempts is how often the call was sent.
	Attempts int
}

// RequestID names the request. Quote it when you ask about it.
func (r *Response) RequestID() string { return r.Header.Get("Request-Id") }

// ETag of the record that was read.
func (r *Response) ETag() string { return r.Header.Get("ETag") }

// Replayed reports that an earlier request with the same Idempotency-Key had the effect.
func (r *Response) Replayed() bool { return r.Header.Get("Idempotent-Replayed") == "true" }

var (
	// ErrNotModified is the answer to a read whose ETag is current.
	ErrNotModified = errors.New("the record has not changed")

	errOption   = errors.New("does not apply to this call")
	errID       = errors.New("the id is empty or consists of dots")
	errTooLarge = errors.New("the response is too large")
	errAnswer   = errors.New("the response is not what the API answers")
)

// maxResponse is more than any response of the API has.
const maxResponse = 64 << 20

// Call sends any request, also one that this version has no method for: body is sent as JSON unless it is nil, and the response is
// decoded into result unless it is nil. It retries like all calls. The path begins with a slash and may have a query. Call does not
// know what the request takes, so it sends every option and leaves it to the API to refuse one. To wait at the end of the feed, use
// [Events.List]: Call would repeat the request from a later end.
func (c *Client) Call(ctx context.Context, method, path string, body, result any, options ...CallOption) error {
	plain, _, _ := strings.Cut(path, "?")
	return c.do(ctx, &call{method: method, route: route{path, plain}, body: body, unlisted: true}, result, options)
}

func send[T any](ctx context.Context, c *Client, made *call, options []CallOption) (*T, error) {
	result := new(T)
	if err := c.do(ctx, made, result, options); err != nil {
		return nil, err
	}
	return result, nil
}

// get reads what has an ETag.
func get[T any](ctx context.Context, c *Client, from route, query url.Values, options []CallOption) (*T, error) {
	return send[T](ctx, c, &call{method: http.MethodGet, route: from, query: query, accepts: []string{ifNoneMatch}}, options)
}

func post[T any](ctx context.Context, c *Client, to route, body any, options []CallOption) (*T, error) {
	return send[T](ctx, c, &call{method: http.MethodPost, route: to, body: body, accepts: []string{idempotencyKey}}, options)
}

// postAction posts an action on an order.
func postAction[T any](ctx context.Context, c *Client, to route, body any, options []CallOption) (*T, error) {
	return send[T](ctx, c, &call{method: http.MethodPost, route: to, body: body, accepts: []string{idempotencyKey, ifMatch}}, options)
}

// items are those of a list that has no pages.
func items[T any](all *[]T, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	return *all, nil
}

// prepare applies the options, and refuses those that mean nothing to the call.
func (c *call) prepare(options []CallOption) (body []byte, err error) {
	c.header = http.Header{}
	for _, option := range options {
		option(c)
	}
	if c.path == "" {
		return nil, errID
	}
	for header, option := range optionalHeaders {
		value, given := c.header[header]
		switch {
		case !given:
		case !c.unlisted && !slices.Contains(c.accepts, header):
			return nil, fmt.Errorf("%s %w", option, errOption)
		case value[0] == "":
			return nil, fmt.Errorf("%s %w", option, errEmpty)
		}
	}
	_, own := c.header[idempotencyKey]
	if !own && c.method == http.MethodPost && (c.unlisted || slices.Contains(c.accepts, idempotencyKey)) {
		c.header.Set(idempotencyKey, rand.Text())
	}
	if c.body == nil {
		return nil, nil
	}
	c.header.Set("Content-Type", "application/json")
	return json.Marshal(c.body)
}

// do sends a call until it is answered, refused, or has used up its attempts or its time.
func (c *Client) do(ctx context.Context, made *call, result any, options []CallOption) error {
	body, err := made.prepare(options)
	if err != nil {
		return made.failed(ctx, err, 0)
	}
	limited, cancel := context.WithTimeout(ctx, c.total+made.wait)
	defer cancel()
	for attempt := 1; ; attempt++ {
		answer, err := c.attempt(limited, made, body)
		c.ignored.report(made.method+" "+made.template, answer.header)
		if made.response != nil {
			*made.response = Response{Status: answer.status, Header: answer.header, Body: answer.body, Attempts: attempt}
		}
		if err == nil {
			err = answer.decode(result)
		}
		if err == nil {
			return nil
		}
		if attempt == cmp.Or(made.attempts, c.attempts) || !retryable(err) || !pause(limited, delay(err, attempt)) {
			return made.failed(ctx, err, attempt)
		}
		made.header.Del(sandboxFault) // The next attempt shows the recovery.
	}
}

// failed says how the call failed. If its context ended, that is part of the reason.
func (c *call) failed(ctx context.Context, err error, attempts int) error {
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		err = errors.Join(ended, err)
	}
	path, _, _ := strings.Cut(cmp.Or(c.path, c.template), "?")
	return &CallError{Method: c.method, Path: path, Attempts: attempts, IdempotencyKey: c.header.Get(idempotencyKey), Err: err}
}

// answer is a response that has been read.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// attempt sends a call once. Its error is a Problem if there was an answer.
func (c *Client) attempt(ctx context.Context, made *call, body []byte) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout+made.wait)
	defer cancel()
	req, err := c.request(ctx, made, body)
	if err != nil {
		return answer{}, &permanent{err}
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if withURL, ok := errors.AsType[*url.Error](err); ok {
			err = withURL.Err // The CallError names the path.
		}
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	got := answer{status: resp.StatusCode, header: resp.Header, body: content}
	switch {
	case err != nil:
		return got, fmt.Errorf("the response broke off: %w", err)
	case len(content) > maxResponse:
		return got, &permanent{errTooLarge}
	case resp.StatusCode == http.StatusNotModified:
		return got, ErrNotModified
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return got, problemOf(resp.StatusCode, resp.Header, content)
	}
	return got, nil
}

func (c *Client) request(ctx context.Context, made *call, body []byte) (*http.Request, error) {
	target := c.base + made.path
	if len(made.query) > 0 {
		target += "?" + made.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, made.method, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = made.header.Clone()
	req.Header.Set("User-Agent", c.agent)
	if !made.image {
		req.Header.Set("Accept", "application/json")
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	return req, nil
}

// decode reads the body into a result; an *ImageFile takes it as it is.
func (a answer) decode(result any) error {
	switch to := result.(type) {
	case nil:
		return nil
	case *ImageFile:
		to.ContentType, to.Content = a.header.Get("Content-Type"), a.body
		return nil
	case *EventPage:
		to.AtEnd = a.header.Get("Feed-Position") == "end"
	}
	if err := json.Unmarshal(a.body, result); err != nil {
		return &permanent{fmt.Errorf("%w: %w", errAnswer, err)}
	}
	return nil
}
