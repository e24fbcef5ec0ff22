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

// The values of faultHeader. With timeout and lost, the request takes effect and its answer is dropped.
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
	// timeoutAfter is the time since a request began after which a forced timeout closes its connection.
	timeoutAfter = 30 * time.Second
	// timeoutsPerKey are the forced timeouts that a key may have at once on one gateway, because each keeps a connection.
	timeoutsPerKey = 10
)

// forcedAnswer is what a request asks to be forced.
type forcedAnswer struct {
	// fault is the value of faultHeader, or nothing.
	fault string
	// applied means that the answer is forced, countsAsTimeout that the request counts as a forced timeout of its key.
	applied, countsAsTimeout bool
}

// dropped reports whether the request takes effect and its caller gets no answer.
func (f forcedAnswer) dropped() bool {
	return f.applied && (f.fault == forceTimeout || f.fault == forceLost)
}

// forceLimit reads faultHeader, forces a 429 and limits the forced timeouts of a key. Production ignores the header.
func (h *Handler) forceLimit(c *call) error {
	if !h.cfg.Sandbox {
		return nil
	}
	c.forced.fault = strings.Join(c.r.Header.Values(faultHeader), ", ")
	switch c.forced.fault {
	case forceRateLimited:
		return c.force(httperror.RateLimited("This answer was forced by Sandbox-Fault.", time.Second))
	case forceTimeout:
		if c.forced.countsAsTimeout = h.timeouts.add(c.principal.KeyID); !c.forced.countsAsTimeout {
			return httperror.RateLimited("This key has too many forced timeouts under way.", timeoutAfter)
		}
	}
	return nil
}

// forceAnswer forces all other answers. Its place among the steps is where a service would look up the Idempotency-Key.
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
	c.forced.applied = true
	c.ResponseWriter = discard{header: http.Header{}}
	// The request takes effect even if its caller does not wait.
	c.r = c.r.WithContext(context.WithoutCancel(c.r.Context()))
	return nil
}

func invalidFault(message string) error {
	return problem.Invalid(problem.Violation{Field: faultHeader, Code: problem.FieldInvalid, Message: message})
}

// force marks the answer as forced and returns its error.
func (c *call) force(err error) error {
	c.forced.applied = true
	c.Header().Set(sandboxHeader, "fault "+c.forced.fault)
	return err
}

// writeError writes an answer that is an error. A forced one is not logged as an error.
func (h *Handler) writeError(c *call, err error) {
	writer := h.Errors
	if c.forced.applied && !c.forced.dropped() {
		writer.Log = slog.New(slog.DiscardHandler)
	}
	writer.Write(c.r.Context(), c, err)
}

// dropAnswer ends a request whose answer is dropped: it closes the connection. A forced timeout is held first, until its time is
// over, its caller has left or the gateway shuts down. Meanwhile it does not count as a request in flight, and keeps no body.
func (h *Handler) dropAnswer(c *call, left <-chan struct{}) {
	if !c.forced.dropped() {
		return
	}
	if c.forced.fault == forceTimeout {
		c.pass.Release()
		c.pass, c.body = nil, nil
		over := time.NewTimer(time.Until(c.began.Add(timeoutAfter)))
		defer over.Stop()
		select {
		case <-over.C:
		case <-left:
		case <-h.ShuttingDown:
		}
	}
	panic(http.ErrAbortHandler)
}

// discard is an answer that is not sent.
type discard struct{ header http.Header }

// Header implements http.ResponseWriter.
func (d discard) Header() http.Header { return d.header }

// WriteHeader implements http.ResponseWriter.
func (discard) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (discard) Write(p []byte) (int, error) { return len(p), nil }

// forcedTimeouts counts the forced timeouts of each key.
type forcedTimeouts struct {
	mu   sync.Mutex
	keys map[int32]int
}

func (t *forcedTimeouts) add(key int32) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.keys[key] >= timeoutsPerKey {
		return false
	}
	t.keys[key]++
	return true
}

func (t *forcedTimeouts) remove(key int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.keys[key]--; t.keys[key] == 0 {
		delete(t.keys, key)
	}
}
