package reconcile

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/enumname"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// compareEvents compares the last change of each order with the newest event of the order in the feed, tenant by tenant.
func (r *run) compareEvents(ctx context.Context) error {
	tenants, err := r.Store.Tenants(ctx)
	if err != nil {
		return err
	}
	var retained time.Time
	inFeed := &stream[string]{pace: r.pace, limit: pageSize, read: func(ctx context.Context, after string) ([]string, error) {
		req := &eventsv1.ListFeedTenantsRequest{Limit: pageSize}
		if after != "" {
			req.AfterTenantId = &after
		}
		resp, err := r.Feed.ListFeedTenants(ctx, req)
		retained = resp.GetRetainedFrom().AsTime()
		return resp.GetTenantIds(), err
	}}
	err = inFeed.each(ctx, func(tenant string) error {
		tenants = append(tenants, tenant)
		return nil
	})
	if err != nil {
		return err
	}
	// The events of older changes are not lost: retention has dropped them.
	if r.report.EventsFrom = r.cfg.From; r.report.EventsFrom.Before(retained) {
		r.report.EventsFrom = retained
	}
	slices.Sort(tenants)
	for _, tenant := range slices.Compact(tenants) {
		if err := r.compareTenant(ctx, tenant); err != nil {
			return err
		}
	}
	return nil
}

// feed is what the feed says of a tenant's orders.
type feed struct {
	tenantID string
	newest   map[uuid.UUID]newest
	next     *eventsv1.FeedPosition
}

// newest is the newest event of an order. It is small, because there is one for each order that changed.
type newest struct {
	// at is the order's last change according to the event, in microseconds.
	at int64
	// day, in seconds, and number are the position of the event.
	day, number int64
	// compared means that the order was read and compared.
	compared bool
}

// clockSkew is how much older than its change an event may be by the clock of the feed.
const clockSkew = 24 * time.Hour

// catchUpTimeout is that of a call that waits for the feed. The server waits for up to half of it until the feed has stored what
// Kafka has.
const catchUpTimeout = time.Minute

// readFeed reads what the feed has after what was read before, and notes if the feed is behind. A feed that was behind once counts
// as behind for the rest of the run: it may take hours to catch up.
func (r *run) readFeed(ctx context.Context, f *feed, check bool) error {
	check = check && r.report.FeedBehind == ""
	for {
		if err := r.pace.wait(ctx); err != nil {
			return err
		}
		resp, err := r.listEvents(ctx, &eventsv1.ListOrderEventsRequest{
			TenantId: f.tenantID, From: timestamppb.New(r.report.EventsFrom.Add(-clockSkew)), After: f.next, Limit: eventPage,
			CheckComplete: check,
		})
		if err != nil {
			return err
		}
		for _, e := range resp.GetEvents() {
			id, err := uuid.Parse(e.GetOrderId())
			if err != nil {
				return err
			}
			last, at := f.newest[id], e.GetOccurredAt().AsTime().UnixMicro()
			if at >= last.at {
				last.at, last.day, last.number = at, e.GetPosition().GetDay().GetSeconds(), e.GetPosition().GetNumber()
			}
			f.newest[id] = last
		}
		r.pace.bar.Add(len(resp.GetEvents()))
		f.next, r.report.Compared.Events = resp.GetNext(), r.report.Compared.Events+len(resp.GetEvents())
		if !resp.GetEnd() {
			continue
		}
		if check && !resp.GetComplete() {
			r.report.FeedBehind = cmp.Or(resp.GetIncompleteReason(), "the events service does not say what it has stored")
		}
		return nil
	}
}

func (r *run) listEvents(ctx context.Context, req *eventsv1.ListOrderEventsRequest) (*eventsv1.ListOrderEventsResponse, error) {
	if req.GetCheckComplete() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, catchUpTimeout)
		defer cancel()
	}
	return r.Feed.ListOrderEvents(ctx, req)
}

func (r *run) compareTenant(ctx context.Context, tenantID string) error {
	f := &feed{tenantID: tenantID, newest: map[uuid.UUID]newest{}}
	if err := r.readFeed(ctx, f, false); err != nil {
		return err
	}
	suspects := &batch[string]{limit: checkSize, check: func(ctx context.Context, ids []string) error {
		return r.checkEvents(ctx, f, ids)
	}}
	orders := &stream[store.ChangedOrder]{
		pace: r.pace, limit: pageSize, read: func(ctx context.Context, after store.ChangedOrder) ([]store.ChangedOrder, error) {
			if after.ID == "" {
				after = store.ChangedOrder{ID: uuid.Nil.String(), At: r.report.EventsFrom}
			}
			return r.Store.ChangedOrders(ctx, tenantID, after, pageSize)
		},
	}
	err := orders.each(ctx, func(order store.ChangedOrder) error {
		id := uuid.MustParse(order.ID)
		last, known := f.newest[id]
		if known {
			last.compared = true
			f.newest[id] = last
		}
		if last.at == order.At.UnixMicro() {
			return nil
		}
		return suspects.add(ctx, order.ID)
	})
	r.report.Compared.Orders += orders.count
	if err != nil {
		return err
	}
	// Events of orders that were not read: they do not exist, or are older than the period.
	for id, last := range f.newest {
		if last.compared {
			continue
		}
		if err := suspects.add(ctx, id.String()); err != nil {
			return err
		}
	}
	return suspects.flush(ctx)
}

// checkEvents reads possible differences again: first the orders and the outbox, then what the feed got since, then the orders
// again. An event is confirmed in the outbox, or leaves it, only after the feed has it. So if it was not in the outbox and the feed
// has stored all that Kafka had then, it is in the feed or lost. A feed that is behind may read it yet.
func (r *run) checkEvents(ctx context.Context, f *feed, ids []string) error {
	before, err := r.changed(ctx, f.tenantID, ids)
	if err != nil {
		return err
	}
	outbox, err := r.inOutbox(ctx, before)
	if err != nil {
		return err
	}
	if err := r.readFeed(ctx, f, true); err != nil {
		return err
	}
	after, err := r.changed(ctx, f.tenantID, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		at, exists := after[id]
		last, known := f.newest[uuid.MustParse(id)]
		confirmed, inOutbox := outbox[id]
		d := Difference{TenantID: f.tenantID, OrderID: id}
		switch {
		case !at.Equal(before[id]):
			// It changes now, so its events are on their way.
		case !exists && !known:
			// It was listed, and has been erased with its tenant since.
		case !exists:
			d.Kind = EventNoOrder
			r.add(ctx, d, nil)
		case last.at > at.UnixMicro():
			d.Kind = EventAfterOrder
			d.Detail = "the event is of " + time.UnixMicro(last.at).UTC().Format(time.RFC3339Nano)
			r.add(ctx, d, nil)
		case last.at == at.UnixMicro() || at.Before(r.report.EventsFrom):
		case inOutbox && !confirmed:
			r.report.Unpublished++
		case r.report.FeedBehind != "":
			r.report.Unread++
		case inOutbox:
			d.Kind = EventMissing
			r.add(ctx, d, func() (string, error) {
				return "its event is in the outbox: events redrive --outbox brings it back", nil
			})
		default:
			d.Kind = EventMissing
			r.add(ctx, d, func() (string, error) { return r.reportAgain(ctx, f, id, at) })
		}
	}
	return nil
}

// inOutbox says of the orders whose last event is in the outbox whether the readers had stored it.
func (r *run) inOutbox(ctx context.Context, changed map[string]time.Time) (map[string]bool, error) {
	var last []store.ChangedOrder
	for id, at := range changed {
		last = append(last, store.ChangedOrder{ID: id, At: at})
	}
	found, err := r.Store.EventsInOutbox(ctx, last)
	confirmed := map[string]bool{}
	for _, event := range found {
		confirmed[event.OrderID] = event.Confirmed
	}
	return confirmed, err
}

func (r *run) changed(ctx context.Context, tenantID string, ids []string) (map[string]time.Time, error) {
	found, err := r.Store.ChangedOrdersOf(ctx, tenantID, ids)
	changed := map[string]time.Time{}
	for _, order := range found {
		changed[order.ID] = order.At
	}
	return changed, err
}

func (r *run) reportAgain(ctx context.Context, f *feed, id string, at time.Time) (left string, err error) {
	status, err := r.lastStatus(ctx, f, id)
	if err != nil {
		return "", err
	}
	done, err := r.Store.ReportAgain(ctx, f.tenantID, store.ChangedOrder{ID: id, At: at}, status)
	if err == nil && !done {
		return outdated, nil
	}
	return "", err
}

// lastStatus returns the status of the order in its newest event in the feed; unspecified if it has none.
func (r *run) lastStatus(ctx context.Context, f *feed, id string) (status ordersv1.OrderStatus, err error) {
	last, known := f.newest[uuid.MustParse(id)]
	if !known {
		return status, nil
	}
	resp, err := r.Feed.ListOrderEvents(ctx, &eventsv1.ListOrderEventsRequest{
		TenantId: f.tenantID, Limit: 1, WithStatus: true,
		After: &eventsv1.FeedPosition{Day: &timestamppb.Timestamp{Seconds: last.day}, Number: last.number - 1},
	})
	for _, e := range resp.GetEvents() {
		if e.GetOrderId() == id {
			status, _ = enumname.Parse[ordersv1.OrderStatus](e.GetStatus())
		}
	}
	return status, err
}
