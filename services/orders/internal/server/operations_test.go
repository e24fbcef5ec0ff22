package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestOnlyAdministratorsAndCoordinatorsApprove(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	approve := func(t *testing.T, a *commonv1.Actor) error {
		order := f.in(t, requestedStatus)
		_, err := f.ApproveOrder(t.Context(), &ordersv1.ApproveOrderRequest{Actor: a, TenantId: tenantID, OrderId: order.GetId()})
		if err != nil {
			require.True(t, proto.Equal(order, f.read(t, order.GetId())))
			require.Empty(t, f.auditOf(t, order.GetId()), "a refused operation is not audited")
		} else {
			require.Equal(t, processingStatus, f.read(t, order.GetId()).GetStatus())
		}
		return err
	}
	require.NoError(t, approve(t, person(anAdministrator)))
	require.NoError(t, approve(t, person(aCoordinator)))
	for name, a := range map[string]*commonv1.Actor{
		"a member": person(aMember), "a client": aClient(),
		"the operator": operator(), "the platform": theSystem(),
	} {
		t.Run(name+" does not", func(t *testing.T) {
			require.True(t, problem.Is(approve(t, a), problem.InsufficientScope))
		})
	}
	t.Run("for a stranger there is no order", func(t *testing.T) {
		require.True(t, problem.Is(approve(t, person(newID())), problem.NotFound))
	})
	t.Run("a person who lost the role cannot, immediately", func(t *testing.T) {
		f.tenants.ChangeTenant(tenantID, func(s *tenantstest.Settings) { s.Team[2].Role = tenantsv1.TeamRole_TEAM_ROLE_MEMBER })
		require.True(t, problem.Is(approve(t, person(aCoordinator)), problem.InsufficientScope))
	})
}

func TestAnOrderOfAnotherTenantIsNotFound(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	order := f.in(t, processingStatus)
	other := otherBrand // Any other id.
	_, err := f.DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{
		Actor: operator(), TenantId: other, OrderId: order.GetId(), Shipment: parcel("T"),
	})
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	_, err = f.ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{Actor: operator(), TenantId: other, OrderId: order.GetId()})
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	_, err = f.CorrectStatus(t.Context(), &ordersv1.CorrectStatusRequest{
		Actor: operator(), TenantId: other, OrderId: order.GetId(), Status: completedStatus,
	})
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	require.Len(t, f.auditOf(t, order.GetId()), 1, "only its approval")
}

func TestAllErrorsOfAnOperationAreReportedTogether(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	_, err := f.DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{OrderId: "1"})
	require.Equal(t, []string{"shipment required", "actor required", "tenantId required", "orderId invalid"}, violationsOf(t, err))
}

func TestOfManyConcurrentDispatchesOneIsAccepted(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	order := f.in(t, processingStatus)
	var group errgroup.Group
	outcomes := make(chan error, 16)
	for i := range 16 {
		shipment := parcel([]string{"T-1", "T-2"}[i%2])
		group.Go(func() error {
			_, err := f.DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{
				Actor: operator(), TenantId: tenantID, OrderId: order.GetId(), Shipment: shipment,
			})
			outcomes <- err
			return nil
		})
	}
	require.NoError(t, group.Wait())
	close(outcomes)
	accepted := 0
	for err := range outcomes {
		if err == nil {
			accepted++
			continue
		}
		require.True(t, problem.Is(err, problem.NotEditable), "%v", err)
	}
	require.Equal(t, 8, accepted, "the first, and those with the same shipment")
	require.Equal(t, order.GetVersion()+1, f.read(t, order.GetId()).GetVersion())
	require.Equal(t, []string{"order.created", changed, changed}, f.eventsOf(t, order.GetId()))
}

func TestASecondCallReturnsTheOrderUnchanged(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	order := f.in(t, completedStatus)
	resp, err := f.DeliverOrder(t.Context(),
		&ordersv1.DeliverOrderRequest{Actor: operator(), TenantId: tenantID, OrderId: order.GetId()})
	require.NoError(t, err)
	require.True(t, proto.Equal(order, resp.GetOrder()))
	require.Len(t, f.eventsOf(t, order.GetId()), 4)
}

func TestPersonsCorrectDeliveriesByTheSameRules(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	order := f.in(t, processingStatus)
	correct := func(change func(r *ordersv1.CorrectDeliveryRequest)) error {
		r := &ordersv1.CorrectDeliveryRequest{
			Actor: operator(), TenantId: tenantID, OrderId: order.GetId(), ExpectedVersion: new(order.GetVersion()),
		}
		change(r)
		_, err := f.CorrectDelivery(t.Context(), r)
		return err
	}
	require.NoError(t, correct(func(*ordersv1.CorrectDeliveryRequest) {}), "nothing changes")
	require.Equal(t, order.GetVersion(), f.read(t, order.GetId()).GetVersion())
	for name, tc := range map[string]struct {
		change func(r *ordersv1.CorrectDeliveryRequest)
		want   problem.Code
	}{
		"a stale version": {func(r *ordersv1.CorrectDeliveryRequest) { r.ExpectedVersion = new(int64(0)) }, problem.VersionConflict},
		"no version":      {func(r *ordersv1.CorrectDeliveryRequest) { r.ExpectedVersion = nil }, problem.InvalidRequest},
		"a blank name": {func(r *ordersv1.CorrectDeliveryRequest) {
			r.Recipient = &ordersv1.DeliveryCorrection{Name: new(" ")}
		}, problem.InvalidRequest},
		"another country": {func(r *ordersv1.CorrectDeliveryRequest) {
			r.Recipient = &ordersv1.DeliveryCorrection{Address: &ordersv1.AddressCorrection{Country: new("NO")}}
		}, problem.CountryChangeNotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			require.True(t, problem.Is(correct(tc.change), tc.want))
		})
	}
	require.NoError(t, correct(func(r *ordersv1.CorrectDeliveryRequest) {
		r.Recipient = &ordersv1.DeliveryCorrection{Name: new("Somebody Else")}
	}))
	file, err := f.ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{Actor: operator(), TenantId: tenantID, OrderId: order.GetId()})
	require.NoError(t, err)
	require.Equal(t, "Somebody Else", file.GetDetails().GetRecipient().GetName())
	require.Equal(t, "+46701234567", file.GetDetails().GetRecipient().GetPhone())
}
