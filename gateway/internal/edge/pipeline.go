// Package edge handles API requests in the gateway. A request passes the steps of Handler.steps in pipeline.go, one after
// another:
//
//	access          401, 429  package access: API key, rate limit
//	admit           429       package admission: requests in flight
//	forceLimit      429       forced.go: Sandbox-Fault, in the sandbox only
//	findOperation   404, 405  operation.go
//	checkScope      403       operation.go
//	checkAccept     406       operation.go
//	checkMediaType  415       operation.go
//	readBody        413, 503  body.go; also 401, 403 if the body arrives slowly
//	readKey         400       body.go: Idempotency-Key
//	forceAnswer     any       forced.go: Sandbox-Fault
//	readQuery       400       body.go: fingerprint of a POST, parameters of a GET
//	readConditions            conditional.go: If-Match, If-None-Match
//	callService     304       service.go: JSON to gRPC and back; moving.go: cells; conditional.go: ETag
//
// The owning service decides the rest, beginning with the look-up of the Idempotency-Key. Because authentication comes first,
// an unauthenticated caller learns nothing about the paths.
package edge

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/gateway/docs"
	"github.com/partnergifting/platform/gateway/internal/access"
	"github.com/partnergifting/platform/gateway/internal/admission"
	"github.com/partnergifting/platform/gateway/internal/console"
	"github.com/partnergifting/platform/gateway/internal/feedwait"
	"github.com/partnergifting/platform/gateway/internal/giftsite"
	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/gateway/internal/idempotent"
	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/gateway/internal/operation"
	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
)

const (
	// BasePath is the prefix of every path of the API.
	BasePath = "/api/public/v1"
	// ImagesPath is the prefix of the path of an image inside BasePath. The id of the image follows.
	ImagesPath = "/catalog/images/"
)

// Deps are what a Handler works with.
type Deps struct {
	Access        *access.Checker
	Gate          *admission.Gate
	Operations    *operation.Table
	Fingerprinter idempotent.Fingerprinter
	Errors        httperror.Writer
	// Services decodes a request and calls the owning service.
	Services http.Handler
	// Images, Docs, GiftSite and Console serve the paths that need no API key. Production has no Console.
	Images, GiftSite, Console http.Handler
	Docs                      *docs.Site
	// Pages bounds what an address reads of GiftSite, Docs and Console.
	Pages        *limits.Window
	ClientIP     func(r *http.Request) string
	Deprecations *openapi.Notices
	Waits        *feedwait.Waits
	// Letters returns the letters of all cells.
	Letters  func(ctx context.Context) []string
	Observer *Observer
	// ShuttingDown is closed when the gateway begins to shut down.
	ShuttingDown <-chan struct{}
	Log          *slog.Logger
}

// Config of a Handler. HTTPS means that callers reach the API by HTTPS. Sandbox means that callers may force answers.
type Config struct {
	HTTPS, Sandbox bool
}

// Handler serves the public API.
type Handler struct {
	Deps

	cfg      Config
	steps    []func(*call) error
	timeouts forcedTimeouts
}

// New makes a Handler.
func New(deps Deps, cfg Config) *Handler {
	h := &Handler{Deps: deps, cfg: cfg, timeouts: forcedTimeouts{keys: map[int32]int{}}}
	h.steps = []func(*call) error{
		h.checkAccess,
		h.admit,
		h.forceLimit,
		h.findOperation,
		h.checkScope,
		h.checkAccept,
		h.checkMediaType,
		h.readBody,
		h.readKey,
		h.forceAnswer,
		h.readQuery,
		h.readConditions,
		h.callService,
	}
	return h
}

// call is a request with the results of the steps so far.
type call struct {
	http.ResponseWriter

	handler *Handler
	// status and bytes are those of the response.
	status, bytes int

	r     *http.Request
	span  trace.Span
	began time.Time
	// route is the template of the path, for metrics and logs.
	route string
	// path is the path below BasePath.
	path      string
	op        *operation.Operation
	principal caller.Principal
	pass      *admission.Pass
	forced    forcedAnswer
	request   caller.Request
	body      []byte
	// ignored are the names of parameters of the query that mean nothing to the operation.
	ignored []string
	// ifNoneMatch is the condition of a read; nil if there is none.
	ifNoneMatch *caller.Condition
	// state is the state of the record that was read, for its ETag.
	state string
	// err is the error that is answered.
	err     error
	waiting waiting
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{ResponseWriter: w, handler: h, route: "none", began: time.Now()}
	ctx, span := h.Observer.startSpan(r)
	c.r, c.span = r.WithContext(ctx), span
	c.request.ID = span.SpanContext().TraceID().String()
	h.writeHeaders(w.Header(), c.request.ID)
	defer func() { h.finish(c, recover()) }()
	h.dispatch(c)
}

// finish observes the end of a call, whose handler may have panicked.
func (h *Handler) finish(c *call, panicked any) {
	err, _ := panicked.(error)
	aborted := errors.Is(err, http.ErrAbortHandler)
	if panicked != nil && !aborted {
		h.Log.ErrorContext(c.r.Context(), "panic", "value", panicked, "stack", string(debug.Stack()))
		if c.status == 0 {
			h.Errors.Write(c.r.Context(), c, problem.Internal())
		}
	}
	if aborted && c.status == 0 {
		c.status = h.abortedStatus()
	}
	h.Observer.observe(c)
	if aborted {
		panic(http.ErrAbortHandler) // The server closes the connection.
	}
}

// statusGone is what proxies log for a caller who has left before the answer. No answer has it. Callers often leave while GET
// /events holds their call, so this must not count as a failure of the platform.
const statusGone = 499

// abortedStatus is what is logged and counted for a request that was aborted without an answer: its caller has left or sends
// its body too slowly, or the shutdown of the gateway has cut it off.
func (h *Handler) abortedStatus() int {
	select {
	case <-h.ShuttingDown:
		return http.StatusServiceUnavailable
	default:
		return statusGone
	}
}

// writeHeaders adds headers for browsers that might show a response: do not guess types, show no frames, run no scripts, send
// no referrer and, if the API is reached by HTTPS, use only HTTPS for a year. Handlers of HTML pages set their own policy.
func (h *Handler) writeHeaders(header http.Header, requestID string) {
	header.Set("Request-Id", requestID)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	if h.cfg.HTTPS {
		header.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

func (h *Handler) dispatch(c *call) {
	path, inside := strings.CutPrefix(c.r.URL.Path, BasePath)
	switch {
	case strings.HasPrefix(c.r.URL.Path, giftsite.Prefix):
		c.route = giftsite.Route
		h.GiftSite.ServeHTTP(c, c.r) // It has limits of its own, whose refusal players can read.
	case h.Console != nil && console.Serves(c.r.URL.Path):
		c.route = console.Path
		h.servePage(c, h.Console)
	case inside && strings.HasPrefix(path, ImagesPath):
		c.route = ImagesPath + "{file_id}"
		h.Images.ServeHTTP(c, c.r)
	case h.Docs.Serves(c.r.URL.Path):
		if h.Docs.Has(c.r.URL.Path) {
			c.route = path
		}
		h.servePage(c, h.Docs)
	default:
		c.path = path
		h.serveAPI(c)
	}
}

// servePage serves what needs no API key, up to a limit for each address.
func (h *Handler) servePage(c *call, site http.Handler) {
	if verdict := h.Pages.Take(h.ClientIP(c.r)); !verdict.Allowed {
		h.writeError(c, httperror.RateLimited("This address has read too many pages in the last minute.", verdict.Reset))
		return
	}
	site.ServeHTTP(c, c.r)
}

func (h *Handler) serveAPI(c *call) {
	left := c.r.Context().Done()
	defer h.release(c)
	if c.err = h.runSteps(c); c.err != nil {
		h.writeError(c, c.err)
	}
	h.dropAnswer(c, left)
}

// runSteps runs the steps until one of them fails.
func (h *Handler) runSteps(c *call) error {
	for _, step := range h.steps {
		if err := step(c); err != nil {
			return err
		}
	}
	return nil
}

// release frees what the call holds.
func (h *Handler) release(c *call) {
	c.pass.Release()
	if c.forced.countsAsTimeout {
		h.timeouts.remove(c.principal.KeyID)
	}
}

func (h *Handler) checkAccess(c *call) (err error) {
	c.principal, err = h.Access.Check(c.Header(), c.r)
	return err
}

// recheck checks key and scope again, for a call that was accepted a while ago.
func (h *Handler) recheck(c *call) error {
	principal, err := h.Access.Recheck(c.r)
	if err != nil {
		return err
	}
	c.principal = principal
	if c.waiting.waiter != nil {
		c.waiting.waiter.Update(principal)
	}
	return h.checkScope(c)
}

func (h *Handler) admit(c *call) (err error) {
	c.pass, err = h.Gate.Admit(c.principal.TenantID, c.principal.KeyID)
	return err
}

// WriteHeader implements http.ResponseWriter.
func (c *call) WriteHeader(status int) {
	if c.status == 0 {
		c.handler.deprecate(c, status)
		writeIgnoredMembers(c, status)
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (c *call) Write(p []byte) (int, error) {
	if c.status == 0 {
		c.WriteHeader(http.StatusOK)
	}
	n, err := c.ResponseWriter.Write(p)
	c.bytes += n
	return n, err
}
