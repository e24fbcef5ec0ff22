package webhookclient

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestTheSecretOfBeforeStopsAtItsTime(t *testing.T) {
	t.Parallel()
	rotated := &tenantsv1.Endpoint{Secret: "b", PreviousSecret: "a", PreviousSignsFor: durationpb.New(time.Hour)}
	for name, c := range map[string]struct {
		endpoint *tenantsv1.Endpoint
		age      time.Duration
		want     []string
	}{
		"never rotated":             {&tenantsv1.Endpoint{Secret: "b"}, 0, []string{"b"}},
		"during the overlap":        {rotated, 59 * time.Minute, []string{"a", "b"}},
		"after it":                  {rotated, time.Hour, []string{"b"}},
		"an overlap without an end": {&tenantsv1.Endpoint{Secret: "b", PreviousSecret: "a"}, 0, []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, SecretsOf(c.endpoint, time.Now().Add(-c.age)).active())
		})
	}
}
