package identity_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/identity/authority"
	"github.com/partnergifting/platform/pkg/identity/identitytest"
	"github.com/partnergifting/platform/pkg/settings"
)

func TestSettings(t *testing.T) {
	t.Run("come from the environment under the prefix of transport security", func(t *testing.T) {
		t.Setenv("GIFTING_TLS_CERT_FILE", "c")
		t.Setenv("GIFTING_TLS_KEY_FILE", "k")
		t.Setenv("GIFTING_TLS_CA_FILE", "a")
		var cfg struct {
			TLS identity.Config `envPrefix:"TLS_"`
		}
		require.NoError(t, settings.Load(&cfg))
		require.Equal(t, identity.Config{CertFile: "c", KeyFile: "k", CAFile: "a", TrustDomain: "partner-gifting"}, cfg.TLS)
		require.NoError(t, cfg.TLS.Validate())
		require.True(t, cfg.TLS.Secure())
	})
	t.Run("without files are good, and mean plain text", func(t *testing.T) {
		require.NoError(t, identity.Config{TrustDomain: "example.org"}.Validate())
		require.False(t, identity.Config{}.Secure())
	})
	for missing, cfg := range map[string]identity.Config{
		"TLS_CERT_FILE": {KeyFile: "k", CAFile: "a"},
		"TLS_KEY_FILE":  {CertFile: "c", CAFile: "a"},
		"TLS_CA_FILE":   {CertFile: "c", KeyFile: "k", TrustDomain: "example.org"},
	} {
		t.Run("with some of the files only name the missing one: "+missing, func(t *testing.T) {
			require.ErrorContains(t, cfg.Validate(), missing)
			require.False(t, cfg.Secure())
		})
	}
	t.Run("with a trust domain that no URI can hold are refused", func(t *testing.T) {
		require.ErrorContains(t, identity.Config{TrustDomain: "Example/org"}.Validate(), "TLS_TRUST_DOMAIN")
	})
}

func TestFilesThatMakeNoIdentityAreRefusedAtStart(t *testing.T) {
	t.Parallel()
	signer := identitytest.New(t)
	now := time.Now()
	for name, c := range map[string]struct {
		change func(r *authority.Request)
		want   string
	}{
		"no URI SAN": {func(r *authority.Request) { r.URIs = nil }, "0 URI SANs"},
		"two URI SANs": {
			func(r *authority.Request) { r.URIs = append(r.URIs, identity.Gateway.URI("partner-gifting")) }, "2 URI SANs",
		},
		"another trust domain": {
			func(r *authority.Request) { r.URIs = []string{identity.Orders.URI("elsewhere")} }, "spiffe://partner-gifting/<name>",
		},
		"a longer path": {
			func(r *authority.Request) { r.URIs = []string{"spiffe://partner-gifting/ns/orders"} }, "spiffe://partner-gifting/<name>",
		},
		"another scheme": {
			func(r *authority.Request) { r.URIs = []string{"https://partner-gifting/orders"} }, "spiffe://partner-gifting/<name>",
		},
		"a query": {
			func(r *authority.Request) { r.URIs = []string{"spiffe://partner-gifting/orders?a=b"} }, "spiffe://partner-gifting/<name>",
		},
		"the past":   {func(r *authority.Request) { r.Until = now.Add(-time.Minute) }, "not valid now"},
		"the future": {func(r *authority.Request) { r.From = now.Add(time.Minute) }, "not valid now"},
	} {
		t.Run(name, func(t *testing.T) {
			r := identitytest.Request(identity.Orders)
			c.change(&r)
			_, err := identity.Open(signer.Files(t, t.TempDir(), r), time.Now, slog.New(slog.DiscardHandler))
			require.ErrorContains(t, err, c.want)
		})
	}
	t.Run("a key of another certificate", func(t *testing.T) {
		cfg, other := signer.Config(t, identity.Orders), signer.Config(t, identity.Orders)
		cfg.KeyFile = other.KeyFile
		_, err := identity.Open(cfg, time.Now, slog.New(slog.DiscardHandler))
		require.ErrorContains(t, err, "certificate and key")
	})
	t.Run("no authorities", func(t *testing.T) {
		cfg := signer.Config(t, identity.Orders)
		cfg.CAFile = cfg.KeyFile
		_, err := identity.Open(cfg, time.Now, slog.New(slog.DiscardHandler))
		require.ErrorContains(t, err, "holds no certificate")
	})
	t.Run("no file", func(t *testing.T) {
		cfg := signer.Config(t, identity.Orders)
		cfg.CAFile += ".gone"
		_, err := identity.Open(cfg, time.Now, slog.New(slog.DiscardHandler))
		require.ErrorContains(t, err, ".gone")
	})
}
