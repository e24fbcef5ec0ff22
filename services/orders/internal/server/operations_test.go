package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestOnlyAdministratorsAndCoordinatorsApprove(t *testing.T) {
	d := openDesk(t)
	approve := func(t *testing.T, a *commonv1.Actor) error {
		order := d.in(t, requestedStatus)
		_, err := d.ApproveOrder(t.Context(), &ordersv1.ApproveOrderRequest{Actor: a, TenantId: tenantID, OrderId: order.GetId()})
		if err != nil {
			require.True(t, proto.Equal(order, d.read(t, order.GetId())))
			require.Empty(t, d.auditOf(t, order.GetId()), "a refusal is no operation")
		} else {
			require.Equal(t, processingStatus, d.read(t, order.GetId()).GetStatus())
		}
		return err
	}
	require.NoError(t, approve(t, person(anAdministrator)))
	require.NoError(t, approve(t, person(aCoordinator)))
	for name, a := range map[string]*commonv1.Actor{
		"a member": person(aPlainMember), "a stranger": person(newID()), "a client": aClient(),
		"the operator": operator(), "the platform": theSystem(),
	} {
		t.Run(name+" does not", func(t *testing.T) {
			require.True(t, problem.Is(approve(t, a), problem.InsufficientScope))
		})
	}
	t.Run("who lost the role does not, from that moment on", func(t *testing.T) {
		settings := proto.CloneOf(d.tenants.settings)
		settings.Version++
		settings.Team[2].Role = tenantsv1.TeamRole_TEAM_ROLE_MEMBER
		d.tenants.settings = settings
		require.True(t, problem.Is(approve(t, person(aCoordinator)), problem.InsufficientScope))
	})
}

func TestAnOrderOfAnotherTenantDoesNotExist(t *testing.T) {
	d := openDesk(t)
	order := d.in(t, processingStatus)
	other := otherBrand // Any other id.
	_, err := d.DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{
		Actor: operator(), TenantId: other, OrderId: order.GetId(), Shipment: parcel("T"),
	})
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	_, err = d.ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{Actor: operator(), TenantId: other, OrderId: order.GetId()})
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	_, err = d.correctAs(t, other, order.GetId())
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	require.Len(t, d.auditOf(t, order.GetId()), 1, "only its approval")
}

func (d *desk) correctAs(t *testing.T, tenant, id string) (*ordersv1.CorrectStatusResponse, error) {
	t.Helper()
	return d.CorrectStatus(t.Context(), &ordersv1.CorrectStatusRequest{
		Actor: operator(), TenantId: tenant, OrderId: id, Status: completedStatus,
	})
}

func TestAllFaultsOfAnOperationAreReportedTogether(t *testing.T) {
	d := openDesk(t)
	_, err := d.DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{OrderId: "1"})
	p, ok := problem.As(err)
	require.True(t, ok)
	var got []string
	for _, v := range p.Violations {
		got = append(got, v.Field+" "+v.Code)
	}
	require.Equal(t, []string{"shipment required", "actor required", "tenantId required", "orderId invalid"}, got)
}

func TestTwoDispatchesAtOnceAreOne(t *testing.T) {
	d := openDesk(t)
	order := d.in(t, processingStatus)
	var group errgroup.Group
	outcomes := make(chan error, 16)
	for i := range 16 {
		shipment := parcel([]string{"T-1", "T-2"}[i%2])
		group.Go(func() error {
			_, err := d.DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{
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
	require.Equal(t, 8, accepted, "the first, and those that ask for the same shipment")
	require.Equal(t, order.GetVersion()+1, d.read(t, order.GetId()).GetVersion())
	require.Equal(t, []string{"order.created", changed, changed}, d.eventsOf(t, order.GetId()))
}

func TestASecondCallAnswersTheOrderAsItIs(t *testing.T) {
	d := openDesk(t)
	order := d.in(t, completedStatus)
	resp, err := d.DeliverOrder(t.Context(), &ordersv1.DeliverOrderRequest{Actor: operator(), TenantId: tenantID, OrderId: order.GetId()})
	require.NoError(t, err)
	require.True(t, proto.Equal(order, resp.GetOrder()))
	require.Len(t, d.eventsOf(t, order.GetId()), 4)
}

func TestTheSpecialRulesOfADeliveryCorrectionHoldHereToo(t *testing.T) {
	d := openDesk(t)
	order := d.in(t, processingStatus)
	correct := func(change func(r *ordersv1.CorrectDeliveryRequest)) error {
		r := &ordersv1.CorrectDeliveryRequest{
			Actor: operator(), TenantId: tenantID, OrderId: order.GetId(), ExpectedVersion: proto.Int64(order.GetVersion()),
		}
		change(r)
		_, err := d.CorrectDelivery(t.Context(), r)
		return err
	}
	require.NoError(t, correct(func(*ordersv1.CorrectDeliveryRequest) {}), "nothing changes")
	require.Equal(t, order.GetVersion(), d.read(t, order.GetId()).GetVersion())
	for name, tc := range map[string]struct {
		change func(r *ordersv1.CorrectDeliveryRequest)
		want   problem.Code
	}{
		"a stale version": {func(r *ordersv1.CorrectDeliveryRequest) { r.ExpectedVersion = proto.Int64(0) }, problem.VersionConflict},
		"no version":      {func(r *ordersv1.CorrectDeliveryRequest) { r.ExpectedVersion = nil }, problem.InvalidRequest},
		"a blank name": {func(r *ordersv1.CorrectDeliveryRequest) {
			r.Recipient = &ordersv1.DeliveryCorrection{Name: proto.String(" ")}
		}, problem.InvalidRequest},
		"another country": {func(r *ordersv1.CorrectDeliveryRequest) {
			r.Recipient = &ordersv1.DeliveryCorrection{Address: &ordersv1.AddressCorrection{Country: proto.String("NO")}}
		}, problem.CountryChangeNotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			require.True(t, problem.Is(correct(tc.change), tc.want))
		})
	}
	require.NoError(t, correct(func(r *ordersv1.CorrectDeliveryRequest) {
		r.Recipient = &ordersv1.DeliveryCorrection{Name: proto.String("Somebody Else")}
	}))
	file, err := d.ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{Actor: operator(), TenantId: tenantID, OrderId: order.GetId()})
	require.NoError(t, err)
	require.Equal(t, "Somebody Else", file.GetDetails().GetRecipient().GetName())
	require.Equal(t, "+46701234567", file.GetDetails().GetRecipient().GetPhone())
}
