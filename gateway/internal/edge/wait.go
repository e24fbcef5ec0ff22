package edge

import (
	"context"
	"errors"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/gateway/internal/feedwait"
	"github.com/partnergifting/platform/pkg/caller"
)

// waitHeader says in an answer how long the call could be held, if that is less than the caller wanted.
const waitHeader = "Wait"

// errWait is the outcome of a call whose answer is a page to wait for. Nothing of the answer was written.
var errWait = errors.New("the caller waits for an event")

// waiting is what a call that waits for an event has.
type waiting struct {
	// asked is how long the caller would wait.
	asked time.Duration
	// holdEmpty means that a page without events is not answered: the call is held.
	holdEmpty bool
	// waiter is woken by events, slot is the permission to hold the call, and held how long it was held.
	waiter *feedwait.Waiter
	slot   *feedwait.Slot
	held   time.Duration
}

// answerHeld calls the service. If the answer is one to wait for, it holds the call until an event of the key is committed or the
// time is over, and then calls again.
func (h *Handler) answerHeld(c *call) error {
	c.waiting.waiter = h.Waits.Register(c.principal)
	defer c.waiting.waiter.Unregister()
	if err := h.readFeed(c, true); !errors.Is(err, errWait) {
		return err
	}
	if c.mayBeHeld() {
		c.waiting.slot = h.Waits.Acquire(c.r.Context(), c.principal, c.waiting.asked)
	}
	if c.waiting.slot == nil {
		c.Header().Set(waitHeader, "0")
		h.closeIfShuttingDown(c)
		return h.readFeed(c, false)
	}
	defer c.waiting.slot.Release(c.r.Context())
	for until := time.Now().Add(c.waiting.asked); ; {
		noticed, err := h.hold(c, until)
		if err != nil {
			return err
		}
		h.closeIfShuttingDown(c)
		if err := h.recheck(c); err != nil {
			return err
		}
		if err := h.readFeed(c, noticed); !errors.Is(err, errWait) {
			return err
		}
	}
}

// mayBeHeld reports whether the call may be held: the server must notice if its caller leaves. It notices this only after it has
// read the whole request, so a call with a body is not held: the feed does not read it.
func (c *call) mayBeHeld() bool { return c.r.ContentLength == 0 && !c.forced.dropped() }

// hold waits for an event. Meanwhile the call does not count as a request in flight.
func (h *Handler) hold(c *call, until time.Time) (noticed bool, err error) {
	began := time.Now()
	c.pass.Pause()
	defer func() {
		c.pass.Resume()
		c.waiting.held += time.Since(began)
	}()
	return c.waiting.waiter.Wait(c.r.Context(), until)
}

// readFeed calls the service. With holdEmpty, the outcome is errWait if the page is one to wait for.
func (h *Handler) readFeed(c *call, holdEmpty bool) error {
	c.waiting.holdEmpty, c.err = holdEmpty, nil
	return h.callCell(c)
}

// closeIfShuttingDown does for a held call what the server does for a call that begins when it is shutting down.
func (h *Handler) closeIfShuttingDown(c *call) {
	if h.Waits.ShuttingDown() {
		c.Header().Set("Connection", "close")
	}
}

// mustWait reports whether the answer is a page to wait for.
func mustWait(ctx context.Context) bool {
	c := callFrom(ctx)
	if c == nil || !c.waiting.holdEmpty {
		return false
	}
	md, ok := runtime.ServerMetadataFromContext(ctx)
	return ok && len(md.HeaderMD.Get(caller.FeedWaitHeader)) > 0
}

// waitFrom makes a call that begins at the end of the feed wait for the first event after that end, which the answer names.
func (c *call) waitFrom(answer proto.Message) {
	page, ok := answer.(interface{ GetNextCursor() string })
	query := c.r.URL.Query()
	if !ok || !query.Has("from") || query.Has("after") || page.GetNextCursor() == "" {
		return
	}
	query.Del("from")
	query.Set("after", page.GetNextCursor())
	end := *c.r.URL
	end.RawQuery = query.Encode()
	c.r.URL = &end
}

// waitOf returns how long the caller of an operation would wait for an event.
func waitOf(request any) time.Duration {
	waiting, ok := request.(interface{ GetWait() int32 })
	if !ok {
		return 0
	}
	return time.Duration(waiting.GetWait()) * time.Second
}
