// Package privacy erases and exports what the platform stores about a person.
//
// A request is recorded with the ids of the person's records before anything is erased. Each step may be repeated, so after a crash
// any instance continues. Links are erased before orders: an open link is cancelled by that, so no claim can place another order
// afterwards, and an order that a claim has placed meanwhile is added. Events are erased last, when all of the records are stored.
//
// An order in flight cannot be erased, because it could not be delivered. A request with such an order is refused as a whole. If an
// order gets in flight after the request was recorded, the request stays pending until the order is completed or cancelled.
package privacy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// The kinds of subjects.
const (
	ExternalRecipient = "EXTERNAL_RECIPIENT"
	Order             = "ORDER"
	PersonalLink      = "PERSONAL_LINK"
)

// Subject names a person of a tenant.
type Subject struct {
	TenantID, Kind, ID string
}

// maxRecords is how many orders or links a person may have: each service erases them in one transaction.
const maxRecords = 2000

// personRecords are a person's records.
type personRecords struct {
	links, orders, inFlight []string
}

// findRecords follows links to their orders and orders to their links until nothing is new.
func (c *Coordinator) findRecords(ctx context.Context, s Subject) (f personRecords, err error) {
	req := &privacyv1.FindPersonRecordsRequest{TenantId: s.TenantID}
	switch s.Kind {
	case ExternalRecipient:
		req.ExternalRecipientId = &s.ID
	case Order:
		req.OrderIds = []string{s.ID}
	default:
		req.PersonalLinkIds = []string{s.ID}
	}
	for known := -1; known != len(req.GetOrderIds())+len(req.GetPersonalLinkIds()); {
		known = len(req.GetOrderIds()) + len(req.GetPersonalLinkIds())
		f = personRecords{}
		links, err := c.deps.Links.FindPersonRecords(ctx, req)
		if err != nil {
			return f, fmt.Errorf("find links: %w", err)
		}
		orders, err := c.deps.Orders.FindPersonRecords(ctx, req)
		if err != nil {
			return f, fmt.Errorf("find orders: %w", err)
		}
		for _, r := range links.GetRecords() {
			f.links = append(f.links, r.GetPersonalLinkId())
			req.OrderIds = addID(req.GetOrderIds(), r.GetOrderId())
			req.PersonalLinkIds = addID(req.GetPersonalLinkIds(), r.GetPersonalLinkId())
		}
		for _, r := range orders.GetRecords() {
			f.orders = append(f.orders, r.GetOrderId())
			if r.GetInFlight() {
				f.inFlight = append(f.inFlight, r.GetOrderId())
			}
			req.OrderIds = addID(req.GetOrderIds(), r.GetOrderId())
			req.PersonalLinkIds = addID(req.GetPersonalLinkIds(), r.GetPersonalLinkId())
		}
		if len(req.GetOrderIds()) > maxRecords || len(req.GetPersonalLinkIds()) > maxRecords {
			return f, problem.New(problem.PayloadTooLarge,
				"The person has more than %d orders or links: name them one by one.", maxRecords)
		}
	}
	if s.Kind == Order && !slices.Contains(f.orders, s.ID) || s.Kind == PersonalLink && !slices.Contains(f.links, s.ID) {
		return f, problem.New(problem.NotFound, "The tenant has no such record.")
	}
	return f, nil
}

// addID adds the id, unless it is empty or known.
func addID(ids []string, id string) []string {
	if id == "" || slices.Contains(ids, id) {
		return ids
	}
	return append(ids, id)
}

// refuseInFlight names the orders whose details are still needed.
func (f personRecords) refuseInFlight() error {
	if len(f.inFlight) == 0 {
		return nil
	}
	p := problem.New(problem.NotEditable, "Orders still have to be delivered. Complete or cancel them first: %s.",
		strings.Join(f.inFlight, ", "))
	p.OrderID = f.inFlight[0]
	return p
}

// maxDocument has room in a gRPC message.
const maxDocument = 16 << 20

type document struct {
	TenantID      string          `json:"tenantId"`
	ExportedAt    time.Time       `json:"exportedAt"`
	Orders        json.RawMessage `json:"orders"`
	PersonalLinks json.RawMessage `json:"personalLinks"`
}

// Export returns everything that is stored about a person as one JSON document. It commits the audit row before it reads, and
// returns nothing to an actor who has lost the permission meanwhile.
func (c *Coordinator) Export(ctx context.Context, s Subject, by store.Authorization) ([]byte, error) {
	ctx, err := c.inCellOf(ctx, s.TenantID)
	if err != nil {
		return nil, err
	}
	f, err := c.findRecords(ctx, s)
	if err != nil {
		return nil, err
	}
	request := c.request(s, uuid.Must(uuid.NewV7()).String(), store.ExportPerson, f)
	if err := c.deps.Store.RecordPersonRequest(ctx, by, request, retryAfter); err != nil {
		return nil, err
	}
	links, err := c.deps.Links.ExportPersonRecords(ctx, &privacyv1.ExportPersonRecordsRequest{
		TenantId: s.TenantID, RequestedBy: by.Actor, RecordIds: f.links,
	})
	if err != nil {
		return nil, fmt.Errorf("export links: %w", err)
	}
	orders, err := c.deps.Orders.ExportPersonRecords(ctx, &privacyv1.ExportPersonRecordsRequest{
		TenantId: s.TenantID, RequestedBy: by.Actor, RecordIds: f.orders,
	})
	if err != nil {
		return nil, fmt.Errorf("export orders: %w", err)
	}
	if err := errors.Join(c.stillIn(ctx, s.TenantID), c.deps.Store.Permit(ctx, s.TenantID, by)); err != nil {
		return nil, err
	}
	out, err := json.Marshal(document{
		TenantID: s.TenantID, ExportedAt: c.deps.Now().UTC(), Orders: orders.GetDocument(), PersonalLinks: links.GetDocument(),
	})
	if err == nil && len(out) > maxDocument {
		return nil, problem.New(problem.PayloadTooLarge, "The export is too large: export the orders and links one by one.")
	}
	return out, err
}

// Worker is the part that continues pending erasures. Its metric says for how long the oldest one has been pending.
func Worker(c *Coordinator, tel *telemetry.Telemetry) (daemon.Part, error) {
	oldest := telemetry.NewSample(c.deps.Store.OldestPendingErasure, time.Now, tel.Logger)
	meter := tel.Meters.Meter("github.com/partnergifting/platform/services/tenants")
	_, err := meter.Float64ObservableGauge("gifting.erasures.pending_age",
		metric.WithUnit("s"), metric.WithDescription("How long ago the oldest erasure of a person that is not completed was requested."),
		metric.WithFloat64Callback(func(ctx context.Context, o metric.Float64Observer) error {
			if age, ok := oldest.Get(ctx); ok {
				o.Observe(age.Seconds())
			}
			return nil
		}))
	if err != nil {
		return daemon.Part{}, fmt.Errorf("metric of erasures: %w", err)
	}
	return daemon.Every("erasures", retryAfter, tel, c.ContinuePending), nil
}
