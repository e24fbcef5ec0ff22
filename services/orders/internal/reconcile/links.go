package reconcile

import (
	"cmp"
	"context"
	"strings"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/enumname"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

const (
	linkRequested = linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_REQUESTED
	linkActive    = linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_ACTIVE
	linkClaimed   = linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_CLAIMED
)

// linkName identifies a link.
type linkName struct{ tenantID, id string }

func nameOf(r *linksv1.ClaimRecord) linkName {
	return linkName{r.GetLink().GetTenantId(), r.GetLink().GetLinkId()}
}

// compareLinks compares the orders of links with the claimed links.
func (r *run) compareLinks(ctx context.Context) error {
	orders := &stream[store.LinkOrder]{
		pace: r.pace, limit: pageSize, read: func(ctx context.Context, after store.LinkOrder) ([]store.LinkOrder, error) {
			if after.LinkID == "" {
				after.TenantID, after.LinkID = uuid.Nil.String(), uuid.Nil.String()
			}
			return r.Store.LinkOrders(ctx, after, pageSize)
		},
	}
	claims := &stream[*linksv1.ClaimRecord]{
		pace: r.pace, limit: pageSize, read: func(ctx context.Context, after *linksv1.ClaimRecord) ([]*linksv1.ClaimRecord, error) {
			resp, err := r.Links.ListClaimRecords(ctx, &linksv1.ListClaimRecordsRequest{Limit: pageSize, After: after.GetLink()})
			return resp.GetRecords(), err
		},
	}
	suspects := &batch[linkName]{limit: checkSize, check: r.checkLinks}
	err := merge(ctx, orders, claims, compareLink, func(a *store.LinkOrder, b **linksv1.ClaimRecord) error {
		switch {
		case b == nil:
			return suspects.add(ctx, linkName{a.TenantID, a.LinkID})
		case a == nil || a.OrderID != (*b).GetOrderId():
			return suspects.add(ctx, nameOf(*b))
		}
		return nil
	})
	r.report.Compared.LinkOrders, r.report.Compared.ClaimedLinks = orders.count, claims.count
	if err != nil {
		return err
	}
	return suspects.flush(ctx)
}

func compareLink(a store.LinkOrder, b *linksv1.ClaimRecord) int {
	return cmp.Or(strings.Compare(a.TenantID, b.GetLink().GetTenantId()), strings.Compare(a.LinkID, b.GetLink().GetLinkId()))
}

// checkLinks reads possible differences again. An order of a link is never removed, and a claim is in flight while its order is
// placed. So if a link has the same order before and after the read of the links, it had it during it.
func (r *run) checkLinks(ctx context.Context, links []linkName) error {
	before, err := r.linkOrders(ctx, links)
	if err != nil {
		return err
	}
	req := &linksv1.ListClaimRecordsRequest{}
	for _, link := range links {
		req.Links = append(req.Links, &linksv1.LinkName{TenantId: link.tenantID, LinkId: link.id})
	}
	resp, err := r.Links.ListClaimRecords(ctx, req)
	if err != nil {
		return err
	}
	records := map[linkName]*linksv1.ClaimRecord{}
	for _, record := range resp.GetRecords() {
		records[nameOf(record)] = record
	}
	after, err := r.linkOrders(ctx, links)
	if err != nil {
		return err
	}
	for _, link := range links {
		if order := after[link]; before[link].OrderID == order.OrderID && !records[link].GetInFlight() {
			if err := r.checkLink(ctx, link, order, records[link]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) linkOrders(ctx context.Context, links []linkName) (map[linkName]store.LinkOrder, error) {
	names := make([]store.LinkOrder, len(links))
	for i, link := range links {
		names[i] = store.LinkOrder{TenantID: link.tenantID, LinkID: link.id}
	}
	found, err := r.Store.LinkOrdersOf(ctx, names)
	orders := map[linkName]store.LinkOrder{}
	for _, o := range found {
		orders[linkName{o.TenantID, o.LinkID}] = o
	}
	return orders, err
}

// checkLink reports the difference of a link whose order is the zero value if it has none.
func (r *run) checkLink(ctx context.Context, link linkName, order store.LinkOrder, record *linksv1.ClaimRecord) error {
	d := Difference{TenantID: link.tenantID, LinkID: link.id, OrderID: cmp.Or(order.OrderID, record.GetOrderId())}
	status := record.GetStatus()
	switch {
	case record == nil && order.OrderID != "":
		d.Kind = LinkMissing
		r.add(ctx, d, nil)
	case status == linkClaimed && order.OrderID == "":
		d.Kind = LinkNoOrder
		r.add(ctx, d, nil)
	case status == linkClaimed && order.OrderID != record.GetOrderId():
		d.Kind, d.Detail = LinkOtherOrder, "the link has order "+record.GetOrderId()
		other, err := r.Store.ChangedOrdersOf(ctx, link.tenantID, []string{record.GetOrderId()})
		if err != nil {
			return err
		}
		if len(other) > 0 {
			r.add(ctx, d, nil)
			return nil
		}
		r.add(ctx, d, r.restoreClaim(ctx, order, record.OrderId))
	case status != linkClaimed && order.OrderID != "":
		d.Kind, d.Detail = LinkNotClaimed, "the link is "+enumname.String(status)
		if status != linkRequested && status != linkActive {
			r.add(ctx, d, nil)
			return nil
		}
		r.add(ctx, d, r.restoreClaim(ctx, order, nil))
	}
	return nil
}

func (r *run) restoreClaim(ctx context.Context, order store.LinkOrder, lost *string) func() (string, error) {
	return func() (string, error) {
		resp, err := r.Links.RestoreClaim(ctx, &linksv1.RestoreClaimRequest{
			Link: &linksv1.LinkName{TenantId: order.TenantID, LinkId: order.LinkID}, OrderId: order.OrderID,
			PlacedAt: timestamppb.New(order.PlacedAt), LostOrderId: lost,
		})
		if err == nil && resp.GetRecord().GetOrderId() != order.OrderID {
			return outdated, nil
		}
		return "", err
	}
}
