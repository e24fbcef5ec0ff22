package server

import (
	"context"
	"net/http"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// ValidateOrder says what would become of an order of the calling key: POST /orders:validate, the dry run of PlaceOrder. It writes
// and reserves nothing, so it stores no answer either.
func (s *Server) ValidateOrder(ctx context.Context, req *ordersv1.PlaceOrderRequest) (*ordersv1.ValidateOrderResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	e, err := s.examine(ctx, p, req)
	if err != nil {
		return nil, err
	}
	preview := &itemPreview{}
	e.ask = func() (*catalogv1.CheckItemResponse, []error) {
		return nil, preview.read(s.catalog.PreviewItem(ctx, &catalogv1.PreviewItemRequest{
			Item: e.itemRequest(), Currency: e.settings.GetTenant().GetCurrency(),
		}))
	}
	resp := &ordersv1.ValidateOrderResponse{
		Status: rules.FirstStatus(e.placement.ApprovalRequired), ReceivedOutsideActiveHours: !s.hours.Open(s.now()),
		Ignored: caller.RequestFrom(ctx).IgnoredMembers,
	}
	for err := range e.errors() {
		if err := report(resp, err); err != nil {
			return nil, err
		}
	}
	// Placing meets these two only when it takes the unit and the external id, as its last steps.
	found := e.possible(preview.unstocked)
	if !e.errs.Touches(externalID) {
		_, conflict := s.findConflict(ctx, p, req.GetExternalOrderId())
		found = append(found, some(conflict)...)
	}
	for _, err := range found {
		if err := report(resp, err); err != nil {
			return nil, err
		}
	}
	resp.Valid = len(resp.GetProblems()) == 0
	resp.Estimate, resp.EstimateEur = preview.estimate, preview.estimateEUR
	return resp, nil
}

// itemPreview is what the catalog says about the item of an order.
type itemPreview struct {
	estimate, estimateEUR *commonv1.Money
	// unstocked is out_of_stock if the order would meet no stock.
	unstocked error
}

// read returns the errors that placing would meet before it takes stock.
func (i *itemPreview) read(resp *catalogv1.PreviewItemResponse, err error) (found []error) {
	if err != nil {
		return some(err)
	}
	i.estimate, i.estimateEUR = resp.GetEstimate(), resp.GetEstimateEur()
	for _, reported := range resp.GetProblems() {
		p := problem.New(problem.Code(reported.GetCode()), "%s", reported.GetDetail())
		for _, v := range reported.GetViolations() {
			p.Violations = append(p.Violations, problem.Violation{Field: v.GetField(), Code: v.GetCode(), Message: v.GetMessage()})
		}
		if p.Code == problem.OutOfStock {
			i.unstocked = p
			continue
		}
		found = append(found, p)
	}
	return found
}

// report adds an error for which placing would refuse the order. It returns errors of another kind, such as that of a service that
// does not answer.
func report(resp *ordersv1.ValidateOrderResponse, err error) error {
	p, ok := problem.As(err)
	if !ok || problem.Lookup(p.Code).Status >= http.StatusInternalServerError {
		return err
	}
	out := &ordersv1.OrderProblem{Code: string(p.Code), Detail: p.Detail}
	for _, v := range p.Violations {
		out.Errors = append(out.Errors, &commonv1.Violation{Field: v.Field, Code: v.Code, Message: v.Message})
	}
	if p.OrderID != "" {
		out.OrderId = &p.OrderID
	}
	resp.Problems = append(resp.Problems, out)
	return nil
}
