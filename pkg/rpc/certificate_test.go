package rpc

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/identitytest"
	"github.com/partnergifting/platform/pkg/telemetry"
)

func TestTheEndOfTheCertificateIsMeasured(t *testing.T) {
	t.Parallel()
	reader, tel := sdkmetric.NewManualReader(), telemetry.Discard()
	tel.Meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	request := identitytest.Request(identity.Orders)
	cfg := identitytest.New(t).Files(t, t.TempDir(), request)
	// A process opens its files for the server and for each service it calls.
	for range 2 {
		_, err := openIdentity(cfg, tel)
		require.NoError(t, err)
	}
	var got metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &got))
	require.Len(t, got.ScopeMetrics, 1)
	require.Len(t, got.ScopeMetrics[0].Metrics, 1)
	require.Equal(t, "gifting.certificate.not_after", got.ScopeMetrics[0].Metrics[0].Name)
	gauge, ok := got.ScopeMetrics[0].Metrics[0].Data.(metricdata.Gauge[float64])
	require.True(t, ok)
	require.Len(t, gauge.DataPoints, 1)
	require.WithinDuration(t, request.Until, time.Unix(int64(gauge.DataPoints[0].Value), 0), time.Second)
}
