package edge

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
)

const (
	// faultHeader of a request in the sandbox forces its answer, so that callers can test what they do then.
	faultHeader = "Sandbox-Fault"
	// sandboxHeader of an answer says what the sandbox did: the name of an action, or "fault" and the value of faultHeader.
	sandboxHeader = "Sandbox"
)

// The values of faultHeader. A timeout and a lost answer withhold the answer to a request that takes effect.
const (
	forceRateLimited = "429"
	forceInternal    = "500"
	forceUnavailable = "503"
	forceInProgress  = "in-progress"
	forceTimeout     = "timeout"
	forceLost        = "lost"
)

var faults = []string{forceRateLimited, forceInternal, forceUnavailable, forceTimeout, forceLost, forceInProgress}

const (
	// heldFor is the time since a request began after which a forced timeout closes its connection.
	heldFor = 30 * time.Second
	// heldPerKey are the forced timeouts that a key may have at once on one gateway, because each keeps a connection.
	heldPerKey = 10
)

// forcing is what a request wants to be forced.
type forcing struct {
	// fault is the value of faultHeader, or nothing.
	fault string
	// done means that the answer is forced, holds that the request counts as a forced timeout of its key.
	done, holds bool
}

// answered reports whether the answer is one of the gateway, and no service was called.
func (f forcing) answered() bool { return f.done && !f.withheld() }

// withheld reports whether the request takes effect and its caller gets no answer.
func (f forcing) withheld() bool { return f.done && (f.fault == forceTimeout || f.fault == forceLost) }

// forceLimit reads faultHeader and decides what belongs to the rate limit. Production ignores the header.
func (h *Handler) forceLimit(c *call) error {
	if !h.cfg.Sandbox {
		return nil
	}
	c.forced.fault = strings.Join(c.r.Header.Values(faultHeader), ", ")
	switch c.forced.fault {
	case forceRateLimited:
		return c.force(httperror.RateLimited("This answer was forced by Sandbox-Fault.", time.Second))
	case forceTimeout:
		if c.forced.holds = h.held.enter(c.principal.KeyID); !c.forced.holds {
			return httperror.RateLimited("This key has too many forced timeouts under way.", heldFor)
		}
	}
	return nil
}

// forceAnswer decides the rest, where a service would look up the Idempotency-Key.
func (h *Handler) forceAnswer(c *call) error {
	switch fault := c.forced.fault; {
	case fault == "":
		return nil
	case !slices.Contains(faults, fault):
		return invalidFault("must be one of " + strings.Join(faults, ", "))
	case fault == forceInternal:
		return c.force(problem.Internal())
	case fault == forceUnavailable:
		return c.force(problem.Unavailable())
	case fault == forceInProgress && c.takesKey():
		return c.force(idempotency.InProgress())
	case fault == forceInProgress:
		return invalidFault("in-progress is only for requests that need an Idempotency-Key")
	}
	c.forced.done = true
	c.ResponseWriter = unsent{header: http.Header{}}
	// The request takes effect even if its caller does not wait.
	c.r = c.r.WithContext(context.WithoutCancel(c.r.Context()))
	return nil
}

func invalidFault(message string) error {
	return problem.Invalid(problem.Violation{Field: faultHeader, Code: problem.FieldInvalid, Message: message})
}

// force marks the answer as forced and returns its error.
func (c *call) force(err error) error {
	c.forced.done = true
	c.Header().Set(sandboxHeader, "fault "+c.forced.fault)
	return err
}

// writeError writes an answer that is an error. A forced one is not logged as an error.
func (h *Handler) writeError(c *call, err error) {
	writer := h.Errors
	if c.forced.answered() {
		writer.Log = slog.New(slog.DiscardHandler)
	}
	writer.Write(c.r.Context(), c, err)
}

// withhold ends a request whose answer is withheld: it closes the connection. A forced timeout is held first, until its time is over,
// the caller is gone or the gateway shuts down. What is held is no request under way, and keeps no body.
func (h *Handler) withhold(c *call, gone <-chan struct{}) {
	if !c.forced.withheld() {
		return
	}
	if c.forced.fault == forceTimeout {
		c.pass.Leave()
		c.pass, c.body = nil, nil
		over := time.NewTimer(time.Until(c.began.Add(heldFor)))
		defer over.Stop()
		select {
		case <-over.C:
		case <-gone:
		case <-h.Ending:
		}
	}
	panic(http.ErrAbortHandler)
}

// unsent is an answer that is not sent.
type unsent struct{ header http.Header }

// Header implements http.ResponseWriter.
func (u unsent) Header() http.Header { return u.header }

// WriteHeader implements http.ResponseWriter.
func (unsent) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (unsent) Write(p []byte) (int, error) { return len(p), nil }

// holds counts the forced timeouts of each key.
type holds struct {
	mu   sync.Mutex
	keys map[int32]int
}

func (h *holds) enter(key int32) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.keys[key] >= heldPerKey {
		return false
	}
	h.keys[key]++
	return true
}

func (h *holds) leave(c *call) {
	if !c.forced.holds {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.keys[c.principal.KeyID]--; h.keys[c.principal.KeyID] == 0 {
		delete(h.keys, c.principal.KeyID)
	}
}
