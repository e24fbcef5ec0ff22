package server_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/page/pagetest"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

// own is a fixture for the calls about the deliveries of the calling key.
type own struct {
	*fixture
	deliveries
}

func setupOwn(t *testing.T) *own {
	t.Helper()
	f := setup(t, 5*time.Second)
	webhooktest.RequireConsistentRows(t, f.pool)
	webhooktest.Twin(t, f.pool)
	return &own{fixture: f, deliveries: deliveries{t: t, store: store.New(f.pool)}}
}

// keyContext returns the context of a call of a key.
func (o *own) keyContext(keyID int32, tenantID string) context.Context {
	return o.call(keyID, tenantID, caller.Request{})
}

// keyed is a call with an Idempotency-Key.
func (o *own) keyed(idempotencyKey, fingerprint string) context.Context {
	return o.call(key, tenant, caller.Request{IdempotencyKey: idempotencyKey, Fingerprint: []byte(fingerprint)})
}

func (o *own) call(keyID int32, tenantID string, r caller.Request) context.Context {
	return o.callOf(caller.Principal{TenantID: tenantID, KeyID: keyID, AllBrands: true, Scopes: []commonv1.Scope{orders, links}}, r)
}

func (o *own) callOf(p caller.Principal, r caller.Request) context.Context {
	o.fixture.t.Helper()
	ctx, err := caller.Outgoing(context.WithoutCancel(o.fixture.t.Context()), p, r)
	require.NoError(o.fixture.t, err)
	return ctx
}

const (
	orders = commonv1.Scope_SCOPE_ORDERS
	links  = commonv1.Scope_SCOPE_PERSONAL_LINKS
)

func (o *own) list(req *webhookv1.ListWebhookDeliveriesRequest) *webhookv1.ListWebhookDeliveriesResponse {
	o.fixture.t.Helper()
	got, err := o.client.ListWebhookDeliveries(o.keyContext(key, tenant), req)
	require.NoError(o.fixture.t, err)
	return got
}

func TestACursorOfTheListBelongsToItsFilters(t *testing.T) {
	t.Parallel()
	o := setupOwn(t)
	o.add(key)
	o.add(key)
	base := &webhookv1.ListWebhookDeliveriesRequest{Limit: proto.Int32(1)}
	pagetest.RequireBound(t, base, func(req *webhookv1.ListWebhookDeliveriesRequest) (string, error) {
		resp, err := o.client.ListWebhookDeliveries(o.keyContext(key, tenant), req)
		return resp.GetNextCursor(), err
	}, map[protoreflect.Name]any{"type": "order.created"})
}

// violated are the fields of a refusal.
func violated(t *testing.T, err error) (fields []string) {
	t.Helper()
	p, ok := problem.As(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, problem.InvalidRequest, p.Code)
	for _, v := range p.Violations {
		fields = append(fields, v.Field)
	}
	return fields
}

func TestAnyResponseIsShownAsText(t *testing.T) {
	t.Parallel()
	o := setupOwn(t)
	for name, c := range map[string]struct {
		body []byte
		want string
	}{
		"empty":                        {nil, ""},
		"text":                         {[]byte("räksmörgås\x00\n"), "räksmörgås\x00\n"},
		"other bytes":                  {[]byte("a\xff\xfeb\xc3"), "a\uFFFDb"},
		"the beginning of a character": {[]byte("a\xf0\x9f\x8e"), "a"},
		"only one":                     {[]byte("\xe2\x82"), ""},
		"a whole last character":       {[]byte("a🎁"), "a🎁"},
	} {
		t.Run(name, func(t *testing.T) {
			event := o.add(key)
			o.respond(delivered, rules.Answered(200), c.body)
			got := o.list(&webhookv1.ListWebhookDeliveriesRequest{EventId: &event}).GetItems()[0].GetAttempts()[0]
			require.NotNil(t, got.ResponseBody)
			require.Equal(t, c.want, got.GetResponseBody())
		})
	}
	t.Run("no response", func(t *testing.T) {
		event := o.add(key)
		o.respond(failed, rules.Unanswered(context.DeadlineExceeded), nil)
		got := o.list(&webhookv1.ListWebhookDeliveriesRequest{EventId: &event}).GetItems()[0].GetAttempts()[0]
		require.Nil(t, got.ResponseBody)
		require.Nil(t, got.Status)
		require.NotEmpty(t, got.GetError())
	})
}

// The scopes and brands of a key may have been reduced since its deliveries were stored.
func TestAKeyFindsOnlyDeliveriesThatItMaySeeNow(t *testing.T) {
	t.Parallel()
	const second = "0190bbbb-0000-7000-8000-000000000002"
	for name, c := range map[string]struct {
		scopes []commonv1.Scope
		brands []string
		want   []int
	}{
		"one scope":  {[]commonv1.Scope{links}, []string{brand, second}, []int{2}},
		"no scope":   {[]commonv1.Scope{commonv1.Scope_SCOPE_CATALOG}, []string{brand, second}, nil},
		"one brand":  {[]commonv1.Scope{orders, links}, []string{second}, []int{1}},
		"everything": {[]commonv1.Scope{orders, links}, []string{brand, second}, []int{0, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := setupOwn(t)
			events := []string{
				o.addOf("order.created", brand, key), o.addOf("order.message_posted", second, key),
				o.addOf("personal_link.claimed", brand, key),
			}
			o.attempt(failed, rules.Answered(500))
			p := caller.Principal{TenantID: tenant, KeyID: key, Scopes: c.scopes, BrandIDs: c.brands}
			var want []string
			for _, i := range c.want {
				want = append(want, events[i])
			}

			page, err := o.client.ListWebhookDeliveries(o.callOf(p, caller.Request{}), &webhookv1.ListWebhookDeliveriesRequest{})
			require.NoError(t, err)
			var listed []string
			for _, d := range page.GetItems() {
				listed = append(listed, d.GetEventId())
			}
			require.ElementsMatch(t, want, listed)

			for _, types := range [][]string{nil, rules.EventTypes} {
				resp, err := o.client.ReplayWebhooks(o.callOf(p, caller.Request{}), lately(types...))
				require.NoError(t, err)
				require.EqualValues(t, len(want), resp.GetDeliveries())
				require.Equal(t, len(want), o.due())
				o.attempt(failed, rules.Answered(500))
			}
			for _, event := range events {
				_, err := o.client.ResendWebhookDelivery(
					o.callOf(p, caller.Request{}), &webhookv1.ResendWebhookDeliveryRequest{DeliveryId: rules.DeliveryID(key, event)})
				require.Equal(t, !slices.Contains(want, event), problem.Is(err, problem.NotFound), "%v", err)
			}
			require.Equal(t, len(want), o.due())
		})
	}
}
