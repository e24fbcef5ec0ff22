package edge

import (
	"context"
	"time"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
)

const (
	// moveTimeout is how long a call is tried again while its tenant moves, after its first answer. It is longer than a move takes
	// that refuses changes.
	moveTimeout = 10 * time.Second
	movePause   = 100 * time.Millisecond
)

// callCell forwards the call to the cell of its tenant. While the tenant moves to another cell, the old one refuses changes for
// some seconds with service_unavailable. Such a call is held: its key is looked up and the call is forwarded again, until the
// tenant's cell accepts it. It counts as a request in flight meanwhile.
func (h *Handler) callCell(c *call) error {
	defer h.Observer.countKey(c.r.Context(), c)
	request := c.request
	var until time.Time
	for {
		err := h.forward(c)
		if until.IsZero() {
			until = time.Now().Add(moveTimeout)
		}
		if err == nil || !time.Now().Before(until) {
			return err
		}
		again, failure := h.awaitMove(c, err)
		if failure != nil {
			return failure
		}
		if !again {
			return err
		}
		c.reset(request)
	}
}

// awaitMove reports whether a call with this error is to be forwarded again, because its tenant moves or has just moved.
func (h *Handler) awaitMove(c *call, err error) (again bool, failure error) {
	called := c.principal
	refused := problem.Is(err, problem.ServiceUnavailable)
	switch {
	case refused && called.Moving:
		if err := pause(c.r.Context()); err != nil {
			return false, err
		}
	case refused && len(h.Letters(c.r.Context())) > 1: // The move may have begun after the key was looked up.
	case called.Moving && problem.Is(err, problem.NotFound): // A cell finds nothing of a tenant that has left it.
	default:
		return false, nil
	}
	if failure := h.recheck(c); failure != nil {
		if called.Moving {
			return false, failure
		}
		return false, nil
	}
	moving := called.Moving || c.principal.Moving
	return c.principal.Cell != called.Cell || refused && moving, nil
}

func pause(ctx context.Context) error {
	timer := time.NewTimer(movePause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reset makes the call as it was before it was forwarded, when this was its request.
func (c *call) reset(request caller.Request) {
	c.request, c.err = request, nil
	c.Header().Del(replayedHeader)
	c.Header().Del(positionHeader)
	c.Header().Del(sandboxHeader)
	if c.op.Sandbox != "" {
		c.Header().Set(sandboxHeader, c.op.Sandbox)
	}
}
