package rpc

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/identitytest"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

func TestTheEndOfTheCertificateIsMeasured(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	request := identitytest.Request(identity.Orders)
	cfg := identitytest.New(t).Files(t, t.TempDir(), request)
	// A process opens its files for the server and for each service it calls.
	for range 2 {
		_, err := openIdentity(cfg, tel.Telemetry)
		require.NoError(t, err)
	}
	got := tel.Values(t, "gifting.certificate.not_after")
	require.Len(t, got, 1)
	require.WithinDuration(t, request.Until, time.Unix(int64(got[""]), 0), time.Second)
}
