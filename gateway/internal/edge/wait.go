package edge

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"

	"github.com/partnergifting/platform/gateway/internal/feedwait"
	"github.com/partnergifting/platform/pkg/caller"
)

// waitHeader says in an answer how long the call could be held, if that is less than the caller wanted.
const waitHeader = "Wait"

// statusGone is what proxies log for a caller who has left before the answer. No answer has it. That callers leave held calls is usual,
// so it must not count as a failure of the platform.
const statusGone = 499

// errWait is the outcome of a call whose answer is a page to wait for. Nothing of the answer was written.
var errWait = errors.New("the caller waits for an event")

// callWaiting calls the service until there is an answer that is not one to wait for, or the time is over. In between the call is
// held, and the stack of grpc-gateway is not.
func (h *Handler) callWaiting(c *call) error {
	waiter := h.Waits.Register(c.principal)
	defer waiter.Leave()
	if err := h.callUnlessWait(c, true); !errors.Is(err, errWait) {
		return err
	}
	if c.place = h.Waits.Enter(c.r.Context(), c.principal, c.wait); c.place == nil {
		c.Header().Set(waitHeader, "0")
		h.closeIfEnding(c)
		return h.callUnlessWait(c, false)
	}
	defer c.place.Leave(c.r.Context())
	timer := time.NewTimer(c.wait)
	defer timer.Stop()
	for {
		outcome := h.hold(c, waiter, timer)
		if outcome == feedwait.Gone {
			c.status = statusGone
			panic(http.ErrAbortHandler)
		}
		principal, err := h.Access.Confirm(c.r)
		if err != nil {
			return err
		}
		c.principal = principal
		waiter.Update(principal)
		h.closeIfEnding(c)
		if err := h.callUnlessWait(c, outcome == feedwait.Noticed); !errors.Is(err, errWait) {
			return err
		}
	}
}

// hold waits. Meanwhile the request does not count as one under way, and its time not as that of the answer.
func (h *Handler) hold(c *call, waiter *feedwait.Waiter, timer *time.Timer) feedwait.Outcome {
	began := time.Now()
	c.pass.Pause()
	defer func() {
		c.pass.Resume()
		c.held += time.Since(began)
	}()
	return waiter.Wait(c.r.Context(), timer)
}

// callUnlessWait calls the service. If the caller waits and the page is one to wait for, the outcome is errWait.
func (h *Handler) callUnlessWait(c *call, waits bool) error {
	c.waits, c.err = waits, nil
	return h.call(c)
}

// closeIfEnding does for a held call what the server does for a call that begins when it is shutting down.
func (h *Handler) closeIfEnding(c *call) {
	if h.Waits.Ending() {
		c.Header().Set("Connection", "close")
	}
}

// mustWait reports whether the answer is a page to wait for.
func mustWait(ctx context.Context) bool {
	c := callFrom(ctx)
	if c == nil || !c.waits {
		return false
	}
	md, ok := runtime.ServerMetadataFromContext(ctx)
	return ok && len(md.HeaderMD.Get(caller.FeedWaitHeader)) > 0
}

// waitOf returns how long the caller of an operation would wait for an event.
func waitOf(request any) time.Duration {
	waiting, ok := request.(interface{ GetWait() int32 })
	if !ok {
		return 0
	}
	return time.Duration(waiting.GetWait()) * time.Second
}
