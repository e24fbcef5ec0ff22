package edge

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/gateway/internal/feedwait"
	"github.com/partnergifting/platform/gateway/internal/parking"
	"github.com/partnergifting/platform/pkg/caller"
)

// waitHeader says in an answer how long the call could be held, if that is less than the caller wanted.
const waitHeader = "Wait"

// statusGone is what proxies log for a caller who has left before the answer. No answer has it. That callers leave held calls is usual,
// so it must not count as a failure of the platform.
const statusGone = 499

// errWait is the outcome of a call whose answer is a page to wait for. Nothing of the answer was written.
var errWait = errors.New("the caller waits for an event")

// errParked is the outcome of a call that is to be held: its connection is parked, and its answer comes later.
var errParked = errors.New("the call is held")

// mostKept bounds what a held call keeps of its request, in bytes.
const mostKept = 4 << 10

// waiting is the part of a call that waits for an event.
type waiting struct {
	// wait is how long the caller would wait, and until the end of it.
	wait  time.Duration
	until time.Time
	// waiter is woken by events, and place is the permission to hold the call. parked is its connection while it is held, answered the
	// header of the answer so far, and authorization that of the request.
	waiter        *feedwait.Waiter
	place         *feedwait.Place
	parked        *parking.Conn
	answered      keptHeader
	authorization string
	// outcome is why the call was held no longer. heldSince is when that began, and held how long all of it was.
	outcome   feedwait.Outcome
	heldSince time.Time
	held      time.Duration
}

// callWaiting calls the service. If the answer is one to wait for, it lets the call be held.
func (h *Handler) callWaiting(c *call) error {
	c.waiter = h.Waits.Register(c.principal)
	if err := h.callUnlessWait(c, true); !errors.Is(err, errWait) {
		return err
	}
	if c.canBeHeld() {
		c.place = h.Waits.Enter(c.r.Context(), c.principal, c.wait)
	}
	if c.place == nil {
		c.Header().Set(waitHeader, "0")
		h.closeIfEnding(c)
		return h.callUnlessWait(c, false)
	}
	c.until = time.Now().Add(c.wait)
	return h.park(c)
}

// canBeHeld reports whether a later answer only needs what a held call keeps of its request.
func (c *call) canBeHeld() bool {
	kept := len(c.r.RequestURI) + len(c.r.Host) + len(c.r.Header.Get("Authorization"))
	return c.r.ContentLength == 0 && kept <= mostKept && !c.forced.withheld()
}

// park takes the connection from the server. What is held is no request under way, and keeps as little as possible.
func (h *Handler) park(c *call) (err error) {
	c.answered = keepHeader(c.Header())
	if c.parked, err = parking.Park(c.ResponseWriter, c.r); err != nil {
		return err
	}
	c.ResponseWriter, c.err = nil, nil
	c.authorization = c.r.Header.Get("Authorization")
	c.r = keep(c.r).WithContext(trace.ContextWithSpan(context.Background(), c.span))
	c.pass.Pause()
	c.heldSince = time.Now()
	return errParked
}

// keep returns what a held call needs of its request, without its header: also a map of one name takes 400 bytes.
func keep(r *http.Request) *http.Request {
	return &http.Request{
		Method: r.Method, URL: r.URL, Host: r.Host, Proto: r.Proto, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor, Close: r.Close,
	}
}

// keptHeader is a header that takes little room: names, each with a value after it. The values of a name follow each other.
type keptHeader []string

func keepHeader(header http.Header) keptHeader {
	kept := make(keptHeader, 0, 2*len(header))
	for name, values := range header {
		for _, value := range values {
			kept = append(kept, name, value)
		}
	}
	return kept
}

// restore replaces what the header has of the same names.
func (k keptHeader) restore(header http.Header) {
	for pair := range slices.Chunk(k, 2) {
		delete(header, pair[0])
	}
	for pair := range slices.Chunk(k, 2) {
		header[pair[0]] = append(header[pair[0]], pair[1])
	}
}

// await holds a call whose connection is parked. Then it gives the connection back to the server, which resumes the call.
func (h *Handler) await(c *call) {
	c.outcome = c.waiter.Wait(c.parked, c.until)
	c.pass.Resume()
	c.held += time.Since(c.heldSince)
	if c.outcome != feedwait.Gone && h.Parked.GiveBack(c.parked, c) {
		return
	}
	if c.status = statusGone; c.outcome != feedwait.Gone {
		c.status = http.StatusServiceUnavailable // The server has ended.
	}
	_ = c.parked.Close() // Nobody reads from it.
	h.leave(c)
	h.Observer.end(c)
}

// resume continues a call that was held as the request of a connection that was given back.
func (c *call) resume(w http.ResponseWriter, r *http.Request) {
	c.parked = nil
	c.ResponseWriter = w
	c.answered.restore(w.Header())
	c.r = c.r.WithContext(trace.ContextWithSpan(r.Context(), c.span))
	c.r.Header = http.Header{"Authorization": {c.authorization}}
}

// goOn answers a call that was held, or lets it be held again.
func (h *Handler) goOn(c *call) { h.take(c, h.confirm, h.callAgain) }

// confirm checks the key again.
func (h *Handler) confirm(c *call) error {
	principal, err := h.Access.Confirm(c.r)
	if err != nil {
		return err
	}
	c.principal = principal
	c.waiter.Update(principal)
	return nil
}

func (h *Handler) callAgain(c *call) error {
	h.closeIfEnding(c)
	err := h.callUnlessWait(c, c.outcome == feedwait.Noticed)
	if errors.Is(err, errWait) {
		return h.park(c)
	}
	return err
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

// waitFrom makes a call that begins at the end of the feed wait for the first event after the end that the answer names.
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
