package server

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/testenv"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/events/internal/store"
)

var today = time.Date(2026, 3, 10, 12, 0, 0, 123456000, time.UTC)

func TestMain(m *testing.M) { testenv.AtMidnightToo(m, &today) }

type fixture struct {
	*Server
	pool   *pgxpool.Pool
	store  *store.Store
	tenant string
	brand  string
	offset int64
	// clock is the store's.
	clock time.Time
}

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{pool: pgtest.New(t, store.Migrations()), tenant: uuid.NewString(), brand: uuid.NewString()}
	f.store = store.NewAt(f.pool, func() time.Time { return f.clock })
	require.NoError(t, store.Offsets{Store: f.store}.Move(t.Context(), 0, -1, 0))
	f.Server = New(f.store, nil, apikey.Sandbox)
	return f
}

// addEvents appends n events on a day and returns their ids.
func (f *fixture) addEvents(t *testing.T, day time.Time, n int, set func(i int, c *eventsv1.Change)) []string {
	t.Helper()
	f.clock = day
	b := store.Batch{Retention: 30 * 24 * time.Hour}
	var ids []string
	for i := range n {
		c := &eventsv1.Change{
			EventId: uuid.NewString(), Type: "order.created", TenantId: f.tenant, BrandId: f.brand, SubjectId: uuid.NewString(),
			OccurredAt: timestamppb.New(today), RecordedAt: timestamppb.New(day), Data: []byte(`{"id":  "spaces stay"}`),
		}
		if set != nil {
			set(i, c)
		}
		ids = append(ids, c.GetEventId())
		b.Changes = append(b.Changes, store.Change{Offset: f.offset, Change: c})
		f.offset++
	}
	_, err := f.store.Append(t.Context(), b)
	require.NoError(t, err)
	return ids
}

func (f *fixture) keyContext(t *testing.T, change func(p *caller.Principal)) context.Context {
	t.Helper()
	p := caller.Principal{TenantID: f.tenant, KeyID: 1, AllBrands: true, Scopes: []commonv1.Scope{
		commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_PERSONAL_LINKS,
	}}
	if change != nil {
		change(&p)
	}
	return caller.WithPrincipal(t.Context(), p)
}

func (f *fixture) list(ctx context.Context, t *testing.T, after *string, limit int32) *eventsv1.ListEventsResponse {
	t.Helper()
	req := &eventsv1.ListEventsRequest{After: after}
	if limit > 0 {
		req.Limit = &limit
	}
	resp, err := f.ListEvents(ctx, req)
	require.NoError(t, err)
	return resp
}

// withEnd returns a context of a gRPC call, and whether its answer was marked as the end of the feed.
func withEnd(ctx context.Context) (called context.Context, end func() bool) {
	s := &headers{}
	return grpc.NewContextWithServerTransportStream(ctx, s), func() bool { return len(s.md.Get(caller.FeedEndHeader)) > 0 }
}

// headers is a call that keeps the headers of its answer.
type headers struct {
	grpc.ServerTransportStream

	md metadata.MD
}

func (h *headers) SetHeader(md metadata.MD) error {
	h.md = metadata.Join(h.md, md)
	return nil
}

func ids(resp *eventsv1.ListEventsResponse) []string {
	return postgres.Column(resp.GetItems(), (*eventsv1.Event).GetId)
}

func TestListEvents(t *testing.T) {
	t.Parallel()
	t.Run("another tenant's events are not in the feed", func(t *testing.T) {
		f := setup(t)
		f.addEvents(t, today, 2, func(_ int, c *eventsv1.Change) { c.TenantId = uuid.NewString() })
		require.Empty(t, f.list(f.keyContext(t, nil), t, nil, 0).GetItems())
	})

	t.Run("events that a key may not see advance its cursor", func(t *testing.T) {
		f := setup(t)
		other := uuid.NewString()
		f.addEvents(t, today, 30, nil)
		hidden := f.list(f.keyContext(t, func(p *caller.Principal) { p.AllBrands, p.BrandIDs = false, []string{other} }), t, nil, 0)
		require.Empty(t, hidden.GetItems())
		require.NotNil(t, proto.String(hidden.GetNextCursor()))
		next := f.list(f.keyContext(t, nil), t, proto.String(hidden.GetNextCursor()), 0)
		require.Empty(t, next.GetItems(), "the cursor is behind all of them")
	})

	t.Run("a scan through hidden events is bounded and eventually finds the visible ones", func(t *testing.T) {
		f := setup(t)
		var want []string
		all := f.addEvents(t, today, 2*maxScan+500, func(i int, c *eventsv1.Change) {
			if i%9000 == 0 {
				c.Type = "personal_link.created"
			}
		})
		for i := 0; i < len(all); i += 9000 {
			want = append(want, all[i])
		}
		ctx := f.keyContext(t, func(p *caller.Principal) { p.Scopes = p.Scopes[1:] })
		var got []string
		var after *string
		for page := range 3 {
			called, end := withEnd(ctx)
			resp := f.list(called, t, after, 10)
			got = append(got, ids(resp)...)
			require.NotEqual(t, proto.String(resp.GetNextCursor()), after)
			require.Equal(t, page == 2, end())
			after = resp.NextCursor
		}
		require.Equal(t, want, got)
	})

	t.Run("a page ends at its limit, not at the end of the scan", func(t *testing.T) {
		f := setup(t)
		want := f.addEvents(t, today, 40, func(i int, c *eventsv1.Change) {
			if i%2 == 0 {
				c.Type, c.OriginKeyId = "order.message_posted", 1
			}
		})
		ctx := f.keyContext(t, nil)
		first := f.list(ctx, t, nil, 3)
		require.Equal(t, []string{want[1], want[3], want[5]}, ids(first))
		require.Equal(t, []string{want[7]}, ids(f.list(ctx, t, first.NextCursor, 1)))
	})
}

func TestListEventsAfterRetention(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ctx := f.keyContext(t, nil)
	f.addEvents(t, today, 2, nil)
	early := f.list(ctx, t, nil, 1).NextCursor
	quiet := f.list(ctx, t, nil, 2).NextCursor

	drop := func(day time.Time) {
		f.clock = day
		_, err := f.store.DropOlder(t.Context(), 0)
		require.NoError(t, err)
	}
	drop(today.AddDate(0, 0, 2))

	t.Run("a cursor is refused if later events were dropped", func(t *testing.T) {
		_, err := f.ListEvents(ctx, &eventsv1.ListEventsRequest{After: early, Limit: proto.Int32(0)})
		require.Equal(t, map[string]string{
			"limit": "must be an integer from 1 to 100", "after": lostEvents,
		}, violations(t, err))
	})

	t.Run("a feed that is empty again returns no cursor but accepts the last one", func(t *testing.T) {
		require.Nil(t, f.list(ctx, t, nil, 0).NextCursor)
		require.Equal(t, *quiet, f.list(ctx, t, quiet, 0).GetNextCursor())
	})

	t.Run("a cursor of a tenant without new events stays valid", func(t *testing.T) {
		late := f.addEvents(t, today.AddDate(0, 0, 50), 1, nil)
		require.Equal(t, late, ids(f.list(ctx, t, quiet, 0)))
		require.Equal(t, late, ids(f.list(ctx, t, nil, 0)))
	})
}

func TestThePageThatEndsTheFeedSaysSo(t *testing.T) {
	t.Parallel()
	f := setup(t)
	requireEnd := func(why string, p *eventsv1.ListEventsRequest, change func(p *caller.Principal)) *string {
		t.Helper()
		ctx, end := withEnd(f.keyContext(t, change))
		resp, err := f.ListEvents(ctx, p)
		require.NoError(t, err)
		require.True(t, end(), why)
		return resp.NextCursor
	}
	noScopes := func(p *caller.Principal) { p.Scopes = nil }
	requireEnd("an empty feed", &eventsv1.ListEventsRequest{}, nil)
	f.addEvents(t, today, 3, nil)
	requireEnd("the last event is on the page", &eventsv1.ListEventsRequest{Limit: proto.Int32(3)}, nil)
	requireEnd("the key sees nothing", &eventsv1.ListEventsRequest{}, noScopes)
	cursor := requireEnd("from the end", &eventsv1.ListEventsRequest{From: proto.String("end")}, nil)
	ctx, end := withEnd(f.keyContext(t, nil))
	_, err := f.ListEvents(ctx, &eventsv1.ListEventsRequest{Limit: proto.Int32(2)})
	require.NoError(t, err)
	require.False(t, end(), "an event follows")

	f.clock = today.AddDate(0, 0, 2)
	_, err = f.store.DropOlder(t.Context(), 0)
	require.NoError(t, err)
	requireEnd("all events are dropped", &eventsv1.ListEventsRequest{}, nil)
	requireEnd("all events are dropped, after the last", &eventsv1.ListEventsRequest{After: cursor}, nil)
	requireEnd("all events are dropped, from the end", &eventsv1.ListEventsRequest{From: proto.String("end")}, nil)
}

func TestAListFromTheEndIsEmptyAndHasACursor(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ctx := f.keyContext(t, nil)
	fromEnd := func(wait int32) (*string, bool) {
		t.Helper()
		s := &headers{}
		req := &eventsv1.ListEventsRequest{From: proto.String("end"), Wait: &wait}
		resp, err := f.ListEvents(grpc.NewContextWithServerTransportStream(ctx, s), req)
		require.NoError(t, err)
		require.Empty(t, resp.GetItems())
		require.NotNil(t, resp.NextCursor)
		return resp.NextCursor, len(s.md.Get(caller.FeedWaitHeader)) > 0
	}
	f.clock = today
	first, waits := fromEnd(0)
	require.False(t, waits)
	_, waits = fromEnd(1)
	require.True(t, waits)
	require.Equal(t, *first, f.list(ctx, t, first, 0).GetNextCursor(), "the cursor of an empty feed is taken and kept")
	early := f.addEvents(t, today, 2, nil)
	second, _ := fromEnd(0)
	late := f.addEvents(t, today.AddDate(0, 0, 1), 1, nil)
	require.Equal(t, append(early, late...), ids(f.list(ctx, t, first, 0)))
	require.Equal(t, late, ids(f.list(ctx, t, second, 0)))
	require.Equal(t, append(early, late...), ids(f.list(ctx, t, nil, 0)))

	f.beginEpoch(t)
	f.clock = today.AddDate(0, 0, 1)
	after := f.addEvents(t, today, 1, nil)
	require.Equal(t, append(late, after...), ids(f.list(ctx, t, second, 0)))
	f.clock = today.AddDate(0, 0, 9)
	_, err := f.store.DropOlder(t.Context(), 0)
	require.NoError(t, err)
	for _, lost := range []*string{first, second} {
		_, err := f.ListEvents(ctx, &eventsv1.ListEventsRequest{After: lost})
		requireLost(t, err, lostEvents)
	}
}

// racing drops a day right before one of the scans.
type racing struct {
	*store.Store
	scans int
	at    int
	drop  func()
}

func (r *racing) Scan(
	ctx context.Context, tenant string, after store.Position, flt store.Filter, limit int,
) ([]store.Row, store.Bounds, error) {
	if r.scans++; r.scans == r.at {
		r.drop()
	}
	return r.Store.Scan(ctx, tenant, after, flt, limit)
}

func TestListEventsWhileADayIsDropped(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T, at int) (*fixture, context.Context, *string) {
		f := setup(t)
		ctx := f.keyContext(t, nil)
		f.addEvents(t, today, 30, func(i int, c *eventsv1.Change) {
			if i > 0 {
				c.Type = "hidden"
			}
		})
		f.addEvents(t, today.AddDate(0, 0, 1), 5, nil)
		cursor := f.list(ctx, t, nil, 1).NextCursor
		f.feed = &racing{Store: f.store, at: at, drop: func() {
			f.clock = today.AddDate(0, 0, 1)
			_, err := f.store.DropOlder(t.Context(), 0)
			require.NoError(t, err)
		}}
		return f, ctx, cursor
	}

	t.Run("before the first scan: the cursor is refused", func(t *testing.T) {
		f, ctx, cursor := begin(t, 1)
		_, err := f.ListEvents(ctx, &eventsv1.ListEventsRequest{After: cursor})
		requireLost(t, err, lostEvents)
	})

	t.Run("between two scans: the page ends and the next is refused", func(t *testing.T) {
		f, ctx, cursor := begin(t, 2)
		_, err := f.ListEvents(ctx, &eventsv1.ListEventsRequest{After: cursor, Limit: proto.Int32(4)})
		requireLost(t, err, lostEvents)
	})

	t.Run("without a cursor, between two scans: the page's own cursor is refused", func(t *testing.T) {
		f, ctx, _ := begin(t, 2)
		page := f.list(ctx, t, nil, 4)
		require.Len(t, page.GetItems(), 1)
		_, err := f.ListEvents(ctx, &eventsv1.ListEventsRequest{After: page.NextCursor})
		requireLost(t, err, lostEvents)
	})
}

func TestListEventsRefuses(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.addEvents(t, today, 1, nil)
	ctx := f.keyContext(t, nil)

	t.Run("a cursor of another tenant, an empty and a forged one", func(t *testing.T) {
		b := binding(f.tenant)
		for _, cursor := range []string{
			f.list(ctx, t, nil, 0).GetNextCursor() + "A", "", "äöü", encode(binding(uuid.NewString()), store.Position{Number: 1}),
			b.Encode(nil), b.Encode([]byte("\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01")),
		} {
			_, err := f.ListEvents(ctx, &eventsv1.ListEventsRequest{After: &cursor})
			require.Error(t, err, "%q", cursor)
			require.Contains(t, violations(t, err), "after", cursor)
		}
	})

	t.Run("a cursor after the tenant's last event", func(t *testing.T) {
		p, err := f.store.End(t.Context(), f.tenant)
		require.NoError(t, err)
		p.Number++
		cursor := encode(binding(f.tenant), p)
		_, err = f.ListEvents(ctx, &eventsv1.ListEventsRequest{After: &cursor})
		requireLost(t, err, restoredFeed)
	})
}

func requireLost(t *testing.T, err error, message string) {
	t.Helper()
	p, ok := problem.As(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, []problem.Violation{{Field: "after", Code: "events_lost", Message: message}}, p.Violations)
}

func violations(t *testing.T, err error) map[string]string {
	t.Helper()
	p, ok := problem.As(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, problem.InvalidRequest, p.Code)
	out := map[string]string{}
	for _, v := range p.Violations {
		out[v.Field] = v.Message
	}
	return out
}
