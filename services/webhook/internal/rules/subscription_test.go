package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

func TestAChangeGoesToTheKeysThatMaySeeIt(t *testing.T) {
	t.Parallel()
	const (
		orders = commonv1.Scope_SCOPE_ORDERS
		links  = commonv1.Scope_SCOPE_PERSONAL_LINKS
	)
	key := func(brands []string, scopes ...commonv1.Scope) *tenantsv1.EndpointSubscription {
		return &tenantsv1.EndpointSubscription{KeyId: 7, Scopes: scopes, AllBrands: brands == nil, BrandIds: brands}
	}
	for name, c := range map[string]struct {
		key    *tenantsv1.EndpointSubscription
		typ    string
		origin int32
		want   bool
	}{
		"a key of all brands with the scope":           {key(nil, orders), "order.created", 1, true},
		"a change that no key made":                    {key(nil, orders), "order.created", 0, true},
		"a link event with its scope":                  {key(nil, links), "personal_link.claimed", 1, true},
		"not the key whose request made the change":    {key(nil, orders), "order.created", 7, false},
		"not a key with the other scope only":          {key(nil, links), "order.created", 1, false},
		"not a link event to a key for orders":         {key(nil, orders), "personal_link.created", 1, false},
		"not a key without a scope":                    {key(nil), "order.created", 1, false},
		"a key of the brand":                           {key([]string{"b2", "b1"}, orders), "order.updated", 1, true},
		"not a key of other brands":                    {key([]string{"b2"}, orders), "order.updated", 1, false},
		"not a key of no brand":                        {key([]string{}, orders), "order.updated", 1, false},
		"not a type of a family that has no scope yet": {key(nil, orders, links), "invoice.created", 1, false},
		"not a ping": {key(nil, orders, links), "ping", 1, false},
		"not a type that only begins like a family": {key(nil, orders, links), "orders.created", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			change := &eventsv1.Change{Type: c.typ, BrandId: "b1", OriginKeyId: c.origin}
			require.Equal(t, c.want, rules.Receives(c.key, change))
		})
	}
}
