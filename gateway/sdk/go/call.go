package gifting

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// call is one operation with all its attempts.
type call struct {
	method, path string
	query        url.Values
	body         []byte
	header       http.Header
	// wait is how long the server may hold the call.
	wait time.Duration
	// response is set by WithResponse.
	response *Response
}

// CallOption changes one call.
type CallOption func(*call)

// WithIdempotencyKey sets the key of a POST, at most 255 characters. Without it each call has a new random one. Store your own key
// with what the call is for, and you may repeat the call after a crash.
func WithIdempotencyKey(key string) CallOption { return WithHeader("Idempotency-Key", key) }

// WithIfMatch makes an action on an order depend on the ETag with which you read it: otherwise CodePreconditionFailed.
func WithIfMatch(etag string) CallOption { return WithHeader("If-Match", etag) }

// WithIfNoneMatch makes a read return [ErrNotModified] if the record still has the ETag.
func WithIfNoneMatch(etag string) CallOption { return WithHeader("If-None-Match", etag) }

// WithHeader sets a header of the request.
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

	errTooLarge = errors.New("the response is too large")
	errAnswer   = errors.New("the response is not what the API answers")
)

// maxResponse is more than any response of the API has.
const maxResponse = 64 << 20

// Call sends any request, also one that this version has no method for: body is sent as JSON unless it is nil, and the response
// is decoded into result unless it is nil. It retries like all calls. The path begins with a slash and may have a query.
func (c *Client) Call(ctx context.Context, method, path string, body, result any, options ...CallOption) error {
	made := &call{method: method, path: path, header: http.Header{}}
	if body != nil {
		content, err := json.Marshal(body)
		if err != nil {
			return &CallError{Method: method, Path: path, Err: err}
		}
		made.body = content
		made.header.Set("Content-Type", "application/json")
	}
	return c.do(ctx, made, result, options)
}

func get[T any](ctx context.Context, c *Client, path string, query url.Values, options []CallOption) (*T, error) {
	result := new(T)
	err := c.do(ctx, &call{method: http.MethodGet, path: path, query: query, header: http.Header{}}, result, options)
	if err != nil {
		return nil, err
	}
	return result, nil
}

func post[T any](ctx context.Context, c *Client, path string, body any, options []CallOption) (*T, error) {
	result := new(T)
	if err := c.Call(ctx, http.MethodPost, path, body, result, options...); err != nil {
		return nil, err
	}
	return result, nil
}

// at puts ids into the places {} of a path. Without an id, or with dots, the path would be that of another operation; it becomes one
// that no record has.
func at(path string, ids ...string) string {
	for _, id := range ids {
		if id == "" || id == "." || id == ".." {
			id = "-"
		}
		path = strings.Replace(path, "{}", url.PathEscape(id), 1)
	}
	return path
}

// do sends a call until it is answered, refused, or has used up its attempts or its time.
func (c *Client) do(ctx context.Context, made *call, result any, options []CallOption) error {
	if made.method == http.MethodPost {
		made.header.Set("Idempotency-Key", rand.Text())
	}
	for _, option := range options {
		option(made)
	}
	limited, cancel := context.WithTimeout(ctx, c.total+made.wait)
	defer cancel()
	for attempt := 1; ; attempt++ {
		answer, err := c.attempt(limited, made)
		if made.response != nil {
			*made.response = Response{Status: answer.status, Header: answer.header, Attempts: attempt}
		}
		if err == nil {
			err = answer.decode(result)
		}
		if err == nil {
			return nil
		}
		if attempt == c.attempts || !retryable(err) || !pause(limited, delay(err, attempt)) {
			return made.failed(ctx, err, attempt)
		}
	}
}

// failed says how the call failed. If its context ended, that is part of the reason.
func (c *call) failed(ctx context.Context, err error, attempts int) error {
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		err = errors.Join(ended, err)
	}
	path, _, _ := strings.Cut(c.path, "?")
	return &CallError{Method: c.method, Path: path, Attempts: attempts, IdempotencyKey: c.header.Get("Idempotency-Key"), Err: err}
}

// answer is a response that has been read.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// attempt sends a call once. Its error is a Problem if there was an answer.
func (c *Client) attempt(ctx context.Context, made *call) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout+made.wait)
	defer cancel()
	req, err := c.request(ctx, made)
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
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	got := answer{status: resp.StatusCode, header: resp.Header, body: body}
	switch {
	case err != nil:
		return got, fmt.Errorf("the response broke off: %w", err)
	case len(body) > maxResponse:
		return got, &permanent{errTooLarge}
	case resp.StatusCode == http.StatusNotModified:
		return got, ErrNotModified
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return got, problemOf(resp.StatusCode, resp.Header, body)
	}
	return got, nil
}

func (c *Client) request(ctx context.Context, made *call) (*http.Request, error) {
	target := c.base + made.path
	if len(made.query) > 0 {
		target += "?" + made.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, made.method, target, bytes.NewReader(made.body))
	if err != nil {
		return nil, err
	}
	req.Header = made.header.Clone()
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("User-Agent", c.agent)
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	return req, nil
}

// decode reads the body into a result; an *Image takes it as it is.
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
