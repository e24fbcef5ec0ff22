package webhookclient_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/webhookclient"
)

func TestTheNewestSecretIsTheLast(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		endpoint *tenantsv1.Endpoint
		want     []string
	}{
		"never rotated":     {&tenantsv1.Endpoint{Secret: "c"}, []string{"c"}},
		"rotated":           {&tenantsv1.Endpoint{Secret: "c", PreviousSecret: "b", PreviousSecrets: []string{"b", "a"}}, []string{"a", "b", "c"}},
		"by an old service": {&tenantsv1.Endpoint{Secret: "c", PreviousSecret: "b"}, []string{"b", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, webhookclient.Secrets(c.endpoint))
		})
	}
}
