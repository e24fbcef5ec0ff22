package edge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/partnergifting/platform/gateway/internal/access"
	"github.com/partnergifting/platform/gateway/internal/docs"
	"github.com/partnergifting/platform/gateway/internal/giftsite"
	"github.com/partnergifting/platform/gateway/internal/idempotent"
	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/gateway/internal/operation"
	"github.com/partnergifting/platform/gateway/internal/problems"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
)

const (
	// BasePath is the prefix of every path of the API.
	BasePath = "/api/public/v1"
	// maxBody is the largest request body: 10 MB.
	maxBody = 10 << 20
	// callTimeout bounds a call of the owning service. A webhook test waits for a stranger's
	// server, which takes the most.
	callTimeout = 12 * time.Second
)

// Handler answers the public API.
type Handler struct {
	Operations    *operation.Table
	Keys          *access.Keys
	Limiter       *limits.Limiter
	Failures      *limits.Window
	Proxies       Proxies
	Fingerprinter idempotent.Fingerprinter
	Problems      problems.Writer
	// Next decodes the request and calls the owning service.
	Next http.Handler
	// Images and Docs answer the paths that need no key.
	Images http.Handler
	Docs   http.Handler
	// GiftSite answers the players' pages, which are no part of the API.
	GiftSite http.Handler
	// HTTPS says that callers reach the API by it, and are to stay with it.
	HTTPS    bool
	Observer *Observer
	Log      *slog.Logger
}

// ImagesPath is what the path of an image begins with, inside BasePath; its id follows.
const ImagesPath = "/catalog/images/"

// ServeHTTP runs the checks and passes on what survives them.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	ctx, span := h.Observer.begin(r)
	requestID := span.SpanContext().TraceID().String()
	w.Header().Set("Request-Id", requestID)
	h.secure(w.Header())
	rec := &recorder{ResponseWriter: w}
	r = r.WithContext(ctx)
	route := "none"
	var c *call
	defer func() {
		if value := recover(); value != nil {
			h.Log.ErrorContext(ctx, "panic", "value", value, "stack", string(debug.Stack()))
			rec.problem(h.Problems, requestID, problem.Internal())
		}
		h.Observer.end(ctx, span, r.Method, route, rec.status, c, time.Since(began))
		h.logAccess(ctx, r.Method, route, rec, c, time.Since(began))
	}()
	if strings.HasPrefix(r.URL.Path, giftsite.Prefix) {
		route = giftsite.Route
		h.GiftSite.ServeHTTP(rec, r)
		return
	}
	path, inside := strings.CutPrefix(r.URL.Path, BasePath)
	if inside && strings.HasPrefix(path, ImagesPath) {
		route = ImagesPath + "{file_id}"
		h.Images.ServeHTTP(rec, r)
		return
	}
	if inside && docs.Serves(path) {
		route = path
		http.StripPrefix(BasePath, h.Docs).ServeHTTP(rec, r)
		return
	}
	c, err := h.check(rec, r, path, inside, requestID)
	if c.op != nil {
		route = c.op.Path
	}
	if err != nil {
		h.refuse(rec, r, requestID, err)
		return
	}
	h.forward(rec, r, path, c)
}

// knownMethod bounds the values of a metric: a caller may send any word as a method.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "_OTHER"
}

// refuse answers with the problem err stands for; anything else is a fault of ours.
func (h *Handler) refuse(w *recorder, r *http.Request, requestID string, err error) {
	p, ok := problem.As(err)
	if !ok {
		p = problem.Internal()
	}
	if p.Code == problem.InternalError || p.Code == problem.ServiceUnavailable {
		h.Log.ErrorContext(r.Context(), "request failed", "error", err)
	}
	w.problem(h.Problems, requestID, p)
}

// check runs everything up to the owning service's own checks, in the contract's order.
func (h *Handler) check(w http.ResponseWriter, r *http.Request, path string, inside bool, requestID string) (*call, error) {
	c := &call{}
	c.request.ID = requestID
	if err := h.authenticate(w, r, c); err != nil {
		return c, err
	}
	if err := h.route(w, r, path, inside, c); err != nil {
		return c, err
	}
	if c.op.Scope != 0 && !c.principal.HasScope(c.op.Scope) {
		scope := strings.TrimPrefix(c.op.Scope.String(), "SCOPE_")
		return c, problem.New(problem.InsufficientScope, "This key lacks the scope %s.", scope)
	}
	if !acceptsJSON(r.Header) {
		return c, problem.New(problem.NotAcceptable, "Answers are application/json, which Accept excludes.")
	}
	if err := checkMediaType(w, r, c.op); err != nil {
		return c, err
	}
	if err := h.readBody(w, r, c); err != nil {
		return c, err
	}
	return c, h.readRequest(r, path, c)
}

func (h *Handler) route(w http.ResponseWriter, r *http.Request, path string, inside bool, c *call) error {
	var allowed []string
	// An id with a slash in it, or with bytes that are no text, is the id of nothing.
	if inside && utf8.ValidString(path) && !strings.Contains(strings.ToLower(r.URL.RawPath), "%2f") {
		c.op, allowed = h.Operations.Find(r.Method, path)
	}
	switch {
	case c.op != nil:
		return nil
	case len(allowed) > 0:
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		return problem.New(problem.MethodNotAllowed, "This path exists but not with this method.")
	default:
		return problem.New(problem.NotFound, "There is no such path.")
	}
}

func (h *Handler) readBody(w http.ResponseWriter, r *http.Request, c *call) error {
	if c.op.Method != http.MethodPost {
		return nil
	}
	tooLarge := problem.New(problem.PayloadTooLarge, "The body is larger than 10 MB.")
	if r.ContentLength > maxBody {
		return tooLarge
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge
	}
	if err != nil {
		return problem.Invalid(problem.Violation{Code: problem.FieldInvalid, Message: "the body ended before it was complete"})
	}
	c.body = raw
	return nil
}

// readRequest reads what the owning service decides with: query, idempotency key, fingerprint.
func (h *Handler) readRequest(r *http.Request, path string, c *call) error {
	if c.op.Method == http.MethodPost {
		key, err := idempotent.Key(r.Header)
		if err != nil {
			return err
		}
		c.request.IdempotencyKey = key
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	malformed := problem.Violation{Code: problem.FieldInvalid, Message: "the query string is malformed"}
	switch {
	case err == nil && c.op.Method == http.MethodPost:
		c.request.Fingerprint = h.Fingerprinter.Of(c.op.Method, path, query, c.body)
	case err == nil:
		c.request.Violations = restjson.UnmarshalQuery(query, c.op.Request.New().Interface(), c.op.PathFields...)
	case c.op.Method == http.MethodPost:
		// The look-up of the idempotency key comes first; the fault goes along with those of the body.
		c.request.Fingerprint = h.Fingerprinter.Of(c.op.Method, path, url.Values{"": {r.URL.RawQuery}}, c.body)
		c.request.Violations = []problem.Violation{malformed}
	default:
		return problem.Invalid(malformed)
	}
	return nil
}

func (h *Handler) forward(w http.ResponseWriter, r *http.Request, path string, c *call) {
	ctx, cancel := context.WithTimeout(r.Context(), callTimeout)
	defer cancel()
	// Nothing the caller wrote goes on but path, query and body: the services are told the
	// principal, never the key, and no header of the caller's sets a deadline.
	out := (&http.Request{
		Method:        c.op.Method,
		URL:           &url.URL{Path: path, RawQuery: r.URL.RawQuery},
		Host:          r.Host,
		Proto:         r.Proto,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          &body{reader: bytes.NewReader(c.body), call: c},
		ContentLength: int64(len(c.body)),
	}).WithContext(withCall(ctx, c))
	if c.op.Method == http.MethodPost {
		out.URL.RawQuery = "" // A POST takes its fields from path and body alone.
	}
	h.Next.ServeHTTP(w, out)
	h.Observer.countKey(ctx, c, w.Header())
}
