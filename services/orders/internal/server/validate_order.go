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
	if e.asksCatalog() {
		resp, err := s.Catalog.PreviewItem(ctx, &catalogv1.PreviewItemRequest{
			Item: e.itemRequest(), Currency: e.settings.GetTenant().GetCurrency(),
		})
		preview = readPreview(resp, err)
	}
	// No stock and a used external id come last: placing finds them only when it takes the unit and the external id.
	found := append(e.problems(preview.problems), e.dropConsequences(preview.outOfStock)...)
	if !e.errs.Touches(externalIDPath) {
		if _, conflict := s.findConflict(ctx, p, req.GetExternalOrderId()); conflict != nil {
			found = append(found, conflict)
		}
	}
	resp := &ordersv1.ValidateOrderResponse{
		Status: rules.FirstStatus(e.placement.ApprovalRequired), ReceivedOutsideActiveHours: !s.Hours.Open(s.now()),
		Ignored: caller.RequestFrom(ctx).IgnoredMembers, Estimate: preview.estimate, EstimateEur: preview.estimateEUR,
	}
	for _, err := range found {
		if err := addProblem(resp, err); err != nil {
			return nil, err
		}
	}
	resp.Valid = len(resp.GetProblems()) == 0
	return resp, nil
}

// itemPreview is what the catalog says about the item of an order.
type itemPreview struct {
	estimate, estimateEUR *commonv1.Money
	// problems are the errors that placing finds before it takes stock.
	problems []error
	// outOfStock has out_of_stock if there would be no stock for the order.
	outOfStock []error
}

func readPreview(resp *catalogv1.PreviewItemResponse, err error) *itemPreview {
	if err != nil {
		return &itemPreview{problems: []error{err}}
	}
	preview := &itemPreview{estimate: resp.GetEstimate(), estimateEUR: resp.GetEstimateEur()}
	for _, reported := range resp.GetProblems() {
		p := problem.New(problem.Code(reported.GetCode()), "%s", reported.GetDetail())
		for _, v := range reported.GetViolations() {
			p.Violations = append(p.Violations, problem.Violation{Field: v.GetField(), Code: v.GetCode(), Message: v.GetMessage()})
		}
		if p.Code == problem.OutOfStock {
			preview.outOfStock = []error{p}
			continue
		}
		preview.problems = append(preview.problems, p)
	}
	return preview
}

// addProblem adds an error for which placing would refuse the order. It returns errors of another kind, such as that of a service
// that does not answer.
func addProblem(resp *ordersv1.ValidateOrderResponse, err error) error {
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
