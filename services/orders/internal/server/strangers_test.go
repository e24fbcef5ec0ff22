package server_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

func TestStrangersReadAndChangeNoOrder(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	foreign, stranger := newID(), newID()
	f.tenants.SetTenant(&tenantstest.Settings{
		Tenant: &tenantsv1.Tenant{Id: foreign, Currency: "SEK"},
		Team:   []*tenantsv1.TeamMember{{Id: stranger, Role: tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, Active: true}},
	})
	order := f.placeInStatus(t, processingStatus)
	for name, tc := range map[string]struct {
		by     *commonv1.Actor
		tenant string
	}{
		"an Administrator of another tenant":    {person(stranger), tenantID},
		"a made-up Administrator":               {person(newID()), tenantID},
		"an Administrator, in the other tenant": {person(stranger), foreign},
	} {
		for number, label := range ordersv1.Operation_name {
			op := ordersv1.Operation(number)
			another := op == ordersv1.Operation_OPERATION_SEARCH || op == ordersv1.Operation_OPERATION_PLACE
			if len(rules.PermissionOf(op).Team) == 0 || another && tc.tenant == foreign {
				continue
			}
			t.Run(label+" by "+name, func(t *testing.T) {
				err := f.operateIn(t.Context(), tc.tenant, op, tc.by, order)
				require.True(t, problem.Is(err, problem.NotFound), "%v", err)
			})
		}
	}
	require.Len(t, f.auditOf(t, order.GetId()), 1, "only its approval")
}

func TestEachMethodIsForThePeopleOfItsOperation(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	order := f.placeInStatus(t, processingStatus)
	team := []*tenantsv1.TeamMember{{Id: aMember, Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER, Active: true}}
	for who, by := range map[string]*commonv1.Actor{
		"a Member": person(aMember), "a client": aClient(), "an operator": operator(), "the system": theSystem(),
	} {
		for number, label := range ordersv1.Operation_name {
			op := ordersv1.Operation(number)
			permission := rules.PermissionOf(op)
			ofTable := permission.Operator || len(permission.Team) > 0
			if !ofTable || permission.Check(by, team) == nil {
				continue
			}
			t.Run(label+" by "+who, func(t *testing.T) {
				err := f.operate(t.Context(), op, by, order)
				require.True(t, problem.Is(err, problem.InsufficientScope), "%v", err)
			})
		}
	}
	require.Len(t, f.auditOf(t, order.GetId()), 1, "only its approval")
}

// Orders of other brands and tenants do not exist for a key, whatever is wrong with its request.
func TestAKeyActsOnlyOnItsOrders(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	order := f.placeOne(t, "o-1").GetId()
	ofTenant := caller.WithPrincipal(f.keyContext(t, "k"), caller.Principal{TenantID: productID, AllBrands: true})
	for name, tc := range map[string]struct {
		ctx context.Context
		id  string
	}{
		"another brand":  {f.keyContext(t, "k", otherBrand), order},
		"another tenant": {ofTenant, order},
		"no such order":  {f.keyContext(t, "k"), tenantID},
		"an invalid id":  {f.keyContext(t, "k"), "x"},
	} {
		for action, act := range map[string]func() error{
			"read": func() error {
				_, err := f.GetOrder(tc.ctx, &ordersv1.GetOrderRequest{OrderId: tc.id})
				return err
			},
			"cancel": func() error {
				_, err := f.CancelOrder(tc.ctx, cancel(tc.id, " "))
				return err
			},
			"correct the delivery": func() error {
				_, err := f.UpdateDelivery(tc.ctx, &ordersv1.UpdateDeliveryRequest{OrderId: tc.id})
				return err
			},
			"post a message": func() error {
				_, err := f.PostOrderMessage(tc.ctx, &ordersv1.PostOrderMessageRequest{OrderId: tc.id, Body: " "})
				return err
			},
			"list messages": func() error {
				_, err := f.ListOrderMessages(tc.ctx, &ordersv1.ListOrderMessagesRequest{OrderId: tc.id})
				return err
			},
			"approve in the sandbox": func() error {
				_, err := f.ApproveSandboxOrder(tc.ctx, approval(tc.id))
				return err
			},
		} {
			t.Run(action+" of "+name, func(t *testing.T) {
				err := act()
				require.True(t, problem.Is(err, problem.NotFound), "%v", err)
			})
		}
		list, err := f.ListOrders(tc.ctx, &ordersv1.ListOrdersRequest{})
		require.NoError(t, err)
		require.Equal(t, tc.id != order, len(list.GetItems()) == 1, name)
	}
	require.Equal(t, 1, f.count(t, "outbox"))
}

func TestOneClientTakesPartInAConversation(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	order := f.placeInStatus(t, requestedStatus)
	stranger := &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT, Id: "made-up", Name: "Mallory"}
	list := func(by *commonv1.Actor) (*ordersv1.ListConversationResponse, error) {
		return f.ListConversation(t.Context(), &ordersv1.ListConversationRequest{Actor: by, TenantId: tenantID, OrderId: order.GetId()})
	}
	_, err := f.PostMessageAs(t.Context(), message(person(aMember), order.GetId(), "confidential"))
	require.NoError(t, err)
	_, err = list(stranger)
	require.True(t, problem.Is(err, problem.NotFound), "who has not written reads nothing: %v", err)

	_, err = f.PostMessageAs(t.Context(), message(aClient(), order.GetId(), "hello"))
	require.NoError(t, err)
	mine, err := list(aClient())
	require.NoError(t, err)
	require.Len(t, mine.GetEntries(), 2)
	_, err = f.PostMessageAs(t.Context(), message(stranger, order.GetId(), "let me in"))
	require.True(t, problem.Is(err, problem.NotFound), "another client has written: %v", err)
	_, err = list(stranger)
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	_, err = f.PostMessageAs(t.Context(), message(aClient(), order.GetId(), "again"))
	require.NoError(t, err)
	require.Len(t, f.messages(t, order.GetId()), 3)
}
