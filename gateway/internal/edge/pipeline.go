// Package edge handles API requests in the gateway. A request passes the steps of Handler.steps in pipeline.go, one after
// another:
//
//	access          401, 429  package access: API key, rate limit
//	admit           429       package admission: requests under way
//	forceLimit      429       forced.go: Sandbox-Fault, in the sandbox only
//	findOperation   404, 405  operation.go
//	checkScope      403       operation.go
//	checkAccept     406       negotiate.go
//	checkMediaType  415       negotiate.go
//	readBody        413, 503  body.go
//	readKey         400       body.go: Idempotency-Key
//	forceAnswer     any       forced.go: Sandbox-Fault
//	readQuery       400       body.go: fingerprint of a POST, parameters of a GET
//	readConditions            conditional.go: If-Match, If-None-Match
//	callService     304       service.go: JSON to gRPC and back; conditional.go: ETag
//
// The owning service decides the rest, beginning with the look-up of the Idempotency-Key. Because authentication comes first,
// an unauthenticated caller learns nothing about the paths.
package edge

import (
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
	Observer     *Observer
	// Ending is closed when the gateway begins to shut down.
	Ending <-chan struct{}
	Log    *slog.Logger
}

// Config of a Handler. HTTPS means that callers reach the API by HTTPS. Sandbox means that callers may force answers.
type Config struct {
	HTTPS, Sandbox bool
}

// Handler serves the public API.
type Handler struct {
	Deps

	cfg   Config
	steps []func(*call) error
	held  holds
}

// New makes a Handler.
func New(deps Deps, cfg Config) *Handler {
	h := &Handler{Deps: deps, cfg: cfg, held: holds{keys: map[int32]int{}}}
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
	recorder

	r     *http.Request
	span  trace.Span
	began time.Time
	// route is the template of the path, for metrics and logs.
	route string
	// path is the path below BasePath; it is empty if the request is outside of the API.
	path      string
	op        *operation.Operation
	principal caller.Principal
	pass      *admission.Pass
	forced    forcing
	request   caller.Request
	body      []byte
	// ignored are the names of parameters of the query that mean nothing to the operation.
	ignored []string
	// ifNoneMatch is the condition of a read; nil if there is none.
	ifNoneMatch *caller.Condition
	// state is the state of the record that was read, for its ETag.
	state string
	// err is the error that is answered.
	err error
	// wait is how long the caller would wait for an event, and waits that the answer is one to wait for, if it is a page without
	// events.
	wait  time.Duration
	waits bool
	// waiter is woken by events, slot is the permission to hold the call, and held how long it was held.
	waiter *feedwait.Waiter
	slot   *feedwait.Slot
	held   time.Duration
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{recorder: recorder{ResponseWriter: w}, route: "none", began: time.Now()}
	ctx, span := h.Observer.begin(r)
	c.r, c.span = r.WithContext(ctx), span
	c.request.ID = span.SpanContext().TraceID().String()
	h.writeHeaders(w.Header(), c.request.ID)
	c.beforeHeader = func(status int) {
		h.deprecate(c, status)
		if saysIgnored(status) {
			nameIgnored(c)
		}
	}
	h.serve(c)
}

// serve answers the call, and observes its end.
func (h *Handler) serve(c *call) {
	defer func() {
		value := recover()
		err, _ := value.(error)
		aborted := errors.Is(err, http.ErrAbortHandler)
		if value != nil && !aborted {
			h.Log.ErrorContext(c.r.Context(), "panic", "value", value, "stack", string(debug.Stack()))
			if c.status == 0 {
				h.Errors.Write(c.r.Context(), c, problem.Internal())
			}
		}
		if aborted && c.status == 0 {
			c.status = h.abortedStatus()
		}
		h.Observer.end(c)
		if aborted {
			panic(http.ErrAbortHandler) // The server closes the connection.
		}
	}()
	h.dispatch(c)
}

// statusGone is what proxies log for a caller who has left before the answer. No answer has it. That callers leave held calls is
// usual, so it must not count as a failure of the platform.
const statusGone = 499

// abortedStatus is what is logged and counted for a request that was aborted without an answer: its caller has left, or the end of
// the gateway has cut it off.
func (h *Handler) abortedStatus() int {
	select {
	case <-h.Ending:
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
		if inside {
			c.path = path
		}
		h.serveAPI(c)
	}
}

// servePage serves what needs no API key, so much of it as people can want.
func (h *Handler) servePage(c *call, site http.Handler) {
	if verdict := h.Pages.Take(h.ClientIP(c.r)); !verdict.Allowed {
		h.writeError(c, httperror.RateLimited("This address has read too many pages in the last minute.", verdict.Reset))
		return
	}
	site.ServeHTTP(c, c.r)
}

// serveAPI runs the steps until one of them fails.
func (h *Handler) serveAPI(c *call) {
	gone := c.r.Context().Done()
	defer func() {
		c.pass.Leave()
		h.held.leave(c)
	}()
	for _, step := range h.steps {
		if err := step(c); err != nil {
			c.err = err
			h.writeError(c, err)
			break
		}
	}
	h.withhold(c, gone)
}

func (h *Handler) checkAccess(c *call) (err error) {
	c.principal, err = h.Access.Check(c.Header(), c.r)
	return err
}

func (h *Handler) admit(c *call) (err error) {
	c.pass, err = h.Gate.Enter(c.r.Context(), c.principal.TenantID, c.principal.KeyID)
	return err
}

// recorder records the status and the size of a response.
type recorder struct {
	http.ResponseWriter
	// beforeHeader is called when the status is known and headers may still be added.
	beforeHeader func(status int)
	status       int
	bytes        int
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.beforeHeader(status)
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	n, err := r.ResponseWriter.Write(p)
	r.bytes += n
	return n, err
}
