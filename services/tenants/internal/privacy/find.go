package privacy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/partnergifting/platform/pkg/problem"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
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

// found is a person's records.
type found struct {
	links, orders, inFlight []string
}

// find follows links to their orders and orders to their links until nothing is new.
func (c *Coordinator) find(ctx context.Context, s Subject) (f found, err error) {
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
		f = found{}
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
			req.OrderIds, req.PersonalLinkIds = add(req.GetOrderIds(), r.GetOrderId()), add(req.GetPersonalLinkIds(), r.GetPersonalLinkId())
		}
		for _, r := range orders.GetRecords() {
			f.orders = append(f.orders, r.GetOrderId())
			if r.GetInFlight() {
				f.inFlight = append(f.inFlight, r.GetOrderId())
			}
			req.OrderIds, req.PersonalLinkIds = add(req.GetOrderIds(), r.GetOrderId()), add(req.GetPersonalLinkIds(), r.GetPersonalLinkId())
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

// add adds the id, unless it is empty or known.
func add(ids []string, id string) []string {
	if id == "" || slices.Contains(ids, id) {
		return ids
	}
	return append(ids, id)
}

// refuseInFlight names the orders whose details are still needed.
func (f found) refuseInFlight() error {
	if len(f.inFlight) == 0 {
		return nil
	}
	p := problem.New(problem.NotEditable, "Orders still have to be delivered. Complete or cancel them first: %s.",
		strings.Join(f.inFlight, ", "))
	p.OrderID = f.inFlight[0]
	return p
}
