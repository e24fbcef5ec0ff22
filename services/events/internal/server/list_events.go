package server

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/seal"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/events/internal/store"
)

const (
	// maxScan bounds how many events one call reads if the key may see few of them. The page may then be short or empty
	// although more events follow, but its cursor advances.
	maxScan = 10_000
	// maxWait is how many seconds a caller may wait for an event.
	maxWait = 30
	// maxSkipped is how many events that the key may not see an empty page may pass and still be one to wait for. Further on, the
	// caller should have the cursor, so that no call reads them again.
	maxSkipped = 1000
	// chunkGrowth makes each scan of a call larger than the last one.
	chunkGrowth = 3

	lostEvents = "events after this cursor are no longer retained, so some were lost: " +
		"do a full sync, then read the feed without this parameter"

	restoredFeed = "the feed was restored to a state before this cursor, so some events may be lost: " +
		"do a full sync, then read the feed without this parameter"
)

// ListEvents returns the tenant's events after a cursor, in the order in which they were committed. It sets caller.FeedEndHeader
// if none follow that had been committed when the page was read, and caller.FeedWaitHeader if the caller should wait for an event.
// An event that cannot be opened is never skipped: the page ends before it, and a page that begins with it is service_unavailable.
func (s *Server) ListEvents(ctx context.Context, req *eventsv1.ListEventsRequest) (*eventsv1.ListEventsResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	list := listing{tenantID: p.TenantID, filter: filterOf(p), limit: page.Limit(req.Limit, errs)}
	if req.After != nil {
		list.after, err = decode(binding(p.TenantID), req.GetAfter())
		if err != nil {
			errs.Add("after", problem.FieldInvalid, "is not a cursor of this list")
		}
	}
	if w := req.GetWait(); w < 0 || w > maxWait {
		errs.Add("wait", problem.FieldInvalid, fmt.Sprintf("must be from 0 to %d", maxWait))
	}
	checkFrom(req, errs)
	if req.GetFrom() == fromEnd && errs.Err() == nil {
		list.atEnd = true
		list.after, err = s.feed.End(ctx, p.TenantID)
	} else {
		err = s.readPage(ctx, &list, errs)
	}
	if err != nil {
		return nil, err
	}
	// It fails only outside of a gRPC call, as in a test.
	_ = grpc.SetHeader(ctx, list.headers(req.GetWait() > 0))
	return s.response(list), nil
}

// The values of the parameter from.
const (
	fromStart = "start"
	fromEnd   = "end"
)

func checkFrom(req *eventsv1.ListEventsRequest, errs *fields.Errors) {
	switch from := req.GetFrom(); {
	case req.From == nil:
	case req.After != nil || errs.Has("after"): // The gateway clears a cursor that it refuses.
		errs.Add("from", problem.FieldInvalid, "cannot be given together with after")
	case from != fromStart && from != fromEnd:
		errs.Add("from", problem.FieldInvalid, "must be start or end")
	}
}

// headers are the response headers about the page.
func (p *listing) headers(waits bool) metadata.MD {
	md := metadata.MD{}
	if p.atEnd {
		md.Set(caller.FeedEndHeader, "true")
	}
	if waits && len(p.rows) == 0 && p.skipped < maxSkipped && !p.nextLost {
		md.Set(caller.FeedWaitHeader, "true")
	}
	return md
}

// readPage fills the page and opens its events, unless the request has errors.
func (s *Server) readPage(ctx context.Context, list *listing, errs *fields.Errors) error {
	if errs.Err() != nil {
		bounds, err := s.feed.Bounds(ctx, list.tenantID, list.after.Epoch)
		if err != nil {
			return err
		}
		addLostError(list.after, bounds, errs)
		return errs.Err()
	}
	if err := s.fillPage(ctx, list, errs); err != nil {
		return err
	}
	return s.openEvents(ctx, list)
}

func filterOf(p caller.Principal) store.Filter {
	return store.Filter{
		Orders:        p.HasScope(commonv1.Scope_SCOPE_ORDERS),
		PersonalLinks: p.HasScope(commonv1.Scope_SCOPE_PERSONAL_LINKS),
		AllBrands:     p.AllBrands,
		BrandIDs:      p.BrandIDs,
		KeyID:         p.KeyID,
	}
}

// listing is a page that is being filled.
type listing struct {
	tenantID string
	filter   store.Filter
	limit    int
	// after is the last position read. It starts at the cursor, or at zero without one.
	after store.Position
	rows  []store.Row
	// atEnd means that no event was after the last position when it was read.
	atEnd bool
	// skipped counts events that the key may not see.
	skipped int
	// nextLost means that the next events have been lost, so that the cursor will be refused.
	nextLost bool
}

// eventsLost reports whether events after a cursor were dropped. Without a cursor nothing is lost, because the list starts with the
// oldest retained event.
func eventsLost(after store.Position, b store.Bounds) bool {
	return after != store.Position{} && after.Number < b.Dropped
}

// addLostError adds an error if events after a cursor were lost.
func addLostError(after store.Position, b store.Bounds, errs *fields.Errors) {
	switch {
	case !b.Holds(after):
		errs.Add("after", problem.FieldEventsLost, restoredFeed)
	case eventsLost(after, b):
		errs.Add("after", problem.FieldEventsLost, lostEvents)
	}
}

// fillPage scans until the page is full, the feed ends or the call has read maxScan events.
func (s *Server) fillPage(ctx context.Context, p *listing, errs *fields.Errors) error {
	begin, chunk := p.after, p.limit
	for budget := maxScan; budget > 0; chunk *= chunkGrowth {
		chunk = min(chunk, budget)
		rows, bounds, err := s.scan(ctx, p, chunk)
		switch {
		case err != nil:
			return err
		case eventsLost(begin, bounds) || p.after == begin && !bounds.Holds(begin):
			addLostError(begin, bounds, errs)
			return errs.Err()
		case eventsLost(p.after, bounds) || !bounds.Holds(p.after):
			// Dropped or set back while this page was filled: the page ends before the lost events, and its cursor will be refused.
			p.nextLost = true
			return nil
		}
		full := p.addRows(rows)
		p.atEnd = bounds.Last <= max(p.after.Number, bounds.Dropped)
		if full || len(rows) < chunk {
			return nil
		}
		budget -= len(rows)
	}
	return nil
}

// scan reads events after the last position. If that is of an earlier epoch, its day was that of a server whose clock may have
// been ahead, so the scan begins a day earlier. The epoch is known from the last scan; if it has changed since, the events are
// read again.
func (s *Server) scan(ctx context.Context, p *listing, limit int) ([]store.Row, store.Bounds, error) {
	for {
		from, epoch := p.after, s.epoch.Load()
		if from.Epoch != epoch && !from.Day.IsZero() {
			from.Day = from.Day.AddDate(0, 0, -1)
		}
		rows, bounds, err := s.feed.Scan(ctx, p.tenantID, from, p.filter, limit)
		if err != nil || bounds.Epoch == epoch {
			return rows, bounds, err
		}
		s.epoch.Store(bounds.Epoch)
		if p.after.Epoch != epoch {
			return rows, bounds, err // It began early enough.
		}
	}
}

// addRows adds rows to the page until it is full.
func (p *listing) addRows(rows []store.Row) (full bool) {
	p.rows = slices.Grow(p.rows, min(len(rows), p.limit-len(p.rows)))
	for _, r := range rows {
		p.after = r.Position
		if r.Visible {
			p.rows = append(p.rows, r)
		} else {
			p.skipped++
		}
		if len(p.rows) == p.limit {
			return true
		}
	}
	return false
}

// openEvents opens the events of the page, or ends it before the first event that cannot be opened.
func (s *Server) openEvents(ctx context.Context, p *listing) error {
	for i, r := range p.rows {
		data, err := s.reader.Open(ctx, seal.EventRef{TenantID: p.tenantID, EventID: r.ID}, r.Data)
		switch {
		case err == nil:
			p.rows[i].Data = data
		case i == 0:
			return problem.Unavailable()
		default:
			p.rows, p.after, p.atEnd = p.rows[:i], p.rows[i-1].Position, false
			return nil
		}
	}
	return nil
}

func (s *Server) response(p listing) *eventsv1.ListEventsResponse {
	resp := &eventsv1.ListEventsResponse{Items: make([]*eventsv1.Event, len(p.rows))}
	for i, r := range p.rows {
		resp.Items[i] = &eventsv1.Event{
			Id:          r.ID,
			Type:        r.Type,
			OccurredAt:  timestamppb.New(r.OccurredAt),
			Environment: string(s.environment),
			Data:        r.Data,
		}
	}
	if p.after != (store.Position{}) {
		next := encode(binding(p.tenantID), p.after)
		resp.NextCursor = &next
	}
	return resp
}
