package clientip_test

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/clientip"
)

func TestOnlyTrustedProxiesCount(t *testing.T) {
	t.Parallel()
	proxies, err := clientip.ParseProxies([]string{"10.0.0.0/8", "192.0.2.7", "2001:db8::/32"})
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		remote    string
		forwarded []string
		want      string
	}{
		"a direct caller":                      {"203.0.113.5:1234", nil, "203.0.113.5"},
		"a direct caller with a forged header": {"203.0.113.5:1234", []string{"198.51.100.1"}, "203.0.113.5"},
		"behind a proxy":                       {"10.1.2.3:1234", []string{"198.51.100.1"}, "198.51.100.1"},
		"behind two":                           {"10.1.2.3:1234", []string{"198.51.100.1, 192.0.2.7"}, "198.51.100.1"},
		"a forged entry before the proxies":    {"10.1.2.3:1234", []string{"1.1.1.1", "198.51.100.1"}, "198.51.100.1"},
		"nonsense from a proxy":                {"10.1.2.3:1234", []string{"unknown"}, "10.1.2.3"},
		"a proxy without the header":           {"10.1.2.3:1234", nil, "10.1.2.3"},
		"a proxy that writes ports":            {"10.1.2.3:1234", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		"proxies only":                         {"10.1.2.3:1234", []string{"10.9.9.9"}, "10.9.9.9"},
		"version 6":                            {"[2001:db8::1]:1234", []string{"2606:4700::1"}, "2606:4700::/64"},
		"version 4 in version 6":               {"[::ffff:10.1.2.3]:1234", []string{"198.51.100.1"}, "198.51.100.1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
			r.RemoteAddr = tc.remote
			r.Header["X-Forwarded-For"] = tc.forwarded
			require.Equal(t, tc.want, proxies.Of(r))
		})
	}
	_, err = clientip.ParseProxies([]string{"the load balancer"})
	require.Error(t, err)
}
