package operation_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/operation"
	"github.com/partnergifting/platform/pkg/apikey"
)

func TestPathsAndMethods(t *testing.T) {
	t.Parallel()
	table, err := operation.New(apikey.Production)
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		method, path string
		want         string
		allowed      []string
	}{
		"a list":                    {http.MethodGet, "/orders", "/gifting.orders.v1.OrdersService/ListOrders", nil},
		"the same path by POST":     {http.MethodPost, "/orders", "/gifting.orders.v1.OrdersService/PlaceOrder", nil},
		"HEAD counts as GET":        {http.MethodHead, "/me", "/gifting.tenants.v1.TenantsService/GetMe", nil},
		"an id":                     {http.MethodGet, "/orders/abc", "/gifting.orders.v1.OrdersService/GetOrder", nil},
		"an action on a collection": {http.MethodPost, "/webhooks:test", "/gifting.webhook.v1.WebhookService/TestWebhook", nil},
		"another method":            {http.MethodDelete, "/orders", "", []string{"GET", "HEAD", "POST"}},
		"a method of another path":  {http.MethodPost, "/me", "", []string{"GET", "HEAD"}},
		"an unknown path":           {http.MethodGet, "/nothing", "", nil},
		"an unknown action":         {http.MethodPost, "/orders/abc:explode", "", nil},
		"a bare colon":              {http.MethodGet, "/orders/abc:", "", nil},
		"an empty id":               {http.MethodGet, "/orders/", "", nil},
		"a slash too many":          {http.MethodGet, "/me/", "", nil},
		"a template is no path":     {http.MethodGet, "/{order_id}", "", nil},
		"segments below an id":      {http.MethodGet, "/orders/a/b", "", nil},
		"the empty path":            {http.MethodGet, "", "", nil},
		"a path that only begins with the name of a list": {http.MethodGet, "/ordersx", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			op, allowed := table.Find(tc.method, tc.path)
			require.Equal(t, tc.allowed, allowed)
			if tc.want == "" {
				require.Nil(t, op)
				return
			}
			require.Equal(t, tc.want, op.Name)
		})
	}
}

func TestThePathOfAnOperationHasItsIDsInLowerCase(t *testing.T) {
	t.Parallel()
	table, err := operation.New(apikey.Sandbox)
	require.NoError(t, err)
	const id, other = "0198f2e4-7a2b-7152-9c0a-7d11e4b6f083", "O-1"
	for _, op := range table.All() {
		filled := func(value string) string {
			path := op.Path
			for _, name := range op.PathFields {
				path = strings.ReplaceAll(path, "{"+name+"}", value)
			}
			return path
		}
		require.Equal(t, filled(id), op.Canonical(filled(strings.ToUpper(id))), op.Path)
		require.Equal(t, filled(other), op.Canonical(filled(other)), op.Path)
	}
}

func TestTheOwnerOfAnOperationIsThePackageOfItsService(t *testing.T) {
	t.Parallel()
	table, err := operation.New(apikey.Production)
	require.NoError(t, err)
	for path, owner := range map[string]string{"/orders": "gifting.orders.v1", "/webhooks:test": "gifting.webhook.v1"} {
		op, _ := table.Find(http.MethodPost, path)
		require.Equal(t, owner, op.Owner)
	}
}
