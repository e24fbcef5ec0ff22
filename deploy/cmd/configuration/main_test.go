package main

import (
	"encoding/base64"
	"errors"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/settings"
)

// working are settings that every program accepts.
var working = map[string]string{
	"ENVIRONMENT": "sandbox",
	"GRPC_ADDR":   "127.0.0.1:9000", "DATABASE_URL": "postgres://h/db", "TENANTS_ADDR": "tenants:9000", "CATALOG_ADDR": "catalog:9000",
	"ORDERS_ADDR": "127.0.0.1:1,127.0.0.1:2", "PERSONAL_LINKS_ADDR": "links:9000",
	"EVENTS_ADDR": "events:9000", "WEBHOOK_ADDR": "webhook:9000",
	"SEAL_KEYS":       "k1:" + base64.StdEncoding.EncodeToString(make([]byte, 32)),
	"EVENT_KEYS":      "k1:" + base64.StdEncoding.EncodeToString(make([]byte, 32)),
	"FINGERPRINT_KEY": base64.StdEncoding.EncodeToString(make([]byte, 32)),
	"IMAGES_URL":      "s3://bucket?region=eu-north-1",
	"PUBLIC_URL":      "https://api.example.com/v1", "CLAIM_URL": "https://gifts.example.com/c",
	"KAFKA_BROKERS": "k1:9092,k2:9092", "OUTBOX_SOURCES": "orders=postgres://h/orders,links=postgres://h/links",
}

// load lets the program read the working settings, with changes.
func load(p programs.Program, changes map[string]string) error {
	env := map[string]string{}
	for name, value := range working {
		env[settings.Prefix+name] = value
	}
	maps.Copy(env, changes)
	return p.Load(env)
}

func TestAProgramReportsEveryMissingSetting(t *testing.T) {
	t.Parallel()
	for _, p := range programs.All() {
		require.NoError(t, load(p, nil), p.Name)
		err := p.Load(nil)
		for _, f := range p.Fields {
			if f.Required {
				require.ErrorContains(t, err, f.Variable+": is required")
			}
		}
	}
}

func TestNoProgramStartsWithoutItsEnvironment(t *testing.T) {
	t.Parallel()
	for _, p := range programs.All() {
		requireInvalid(t, string(p.Name), "GIFTING_ENVIRONMENT", map[string]string{"GIFTING_ENVIRONMENT": ""})
	}
}

func TestInvalidSettingsAreRejected(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ program, variable, value string }{
		{"gateway", "HTTP_ADDR", "8080"},
		{"gateway", "PUBLIC_URL", "api.example.com"},
		{"gateway", "ENVIRONMENT", "staging"},
		{"gateway", "REDIS_URL", "redis://h:many"},
		{"gateway", "TRUSTED_PROXIES", "the-balancer"},
		{"gateway", "FINGERPRINT_KEY", "YWJj"},
		{"gateway", "FINGERPRINT_KEY", working["FINGERPRINT_KEY"] + ",YWJj"},
		{"gateway", "REDIS_BUDGET", "50"},
		{"gateway", "LAME_DUCK", "-1s"},
		{"gateway", "ORDERS_ADDR", "http://orders"},
		{"tenants", "SEAL_KEYS", "k1:YWJj"},
		{"tenants", "DATABASE_URL", "postgres://h:none/db"},
		{"tenants", "DATABASE_MAX_CONNS", "0"},
		{"tenants", "LOG_LEVEL", "LOUD"},
		{"catalog", "IMAGES_URL", "ftp://images"},
		{"catalog", "RESERVATION_TTL", "1s"},
		{"catalog", "AUDIT_RETENTION", "24h"},
		{"orders", "SEAL_KEYS", "k1"},
		{"orders", "EVENT_KEYS", "k1"},
		{"orders", "OPENING_HOURS", "always"},
		{"orders", "OPENING_ZONE", "Europe/Visby"},
		{"orders", "IDEMPOTENCY_RETENTION", "1h"},
		{"personal-links", "CLAIM_URL", "https://gifts.example.com/c?x=y"},
		{"events", "KAFKA_BROKERS", "k1"},
		{"events", "OUTBOX_SOURCES", "postgres://h/orders"},
		{"webhook", "WEBHOOK_PER_ENDPOINT", "none"},
		{"webhook", "WEBHOOK_LEASE", "10s"},
		{"webhook", "WEBHOOK_LOG_RETENTION", "1h"},
	} {
		t.Run(tc.program+" "+tc.variable, func(t *testing.T) {
			t.Parallel()
			requireInvalid(t, tc.program, settings.Prefix+tc.variable, map[string]string{settings.Prefix + tc.variable: tc.value})
		})
	}
	for _, service := range []string{"tenants", "webhook"} {
		requireInvalid(t, service, "GIFTING_ALLOW_LOOPBACK_WEBHOOKS", map[string]string{
			"GIFTING_ENVIRONMENT": "production", "GIFTING_ALLOW_LOOPBACK_WEBHOOKS": "true",
		})
	}
}

// requireInvalid demands that the program rejects the variable and no other.
func requireInvalid(t *testing.T, name, variable string, changes map[string]string) {
	t.Helper()
	errs, ok := errors.AsType[settings.VariableErrors](load(programs.Named(identity.Name(name)), changes))
	require.True(t, ok)
	require.Len(t, errs, 1, "%v", errs)
	err, ok := errors.AsType[*settings.VariableError](errs[0])
	require.True(t, ok)
	require.Equal(t, variable, err.Variable)
}

func TestTheReferenceExplainsEverySettingOnce(t *testing.T) {
	t.Parallel()
	text := reference()
	for _, p := range programs.All() {
		require.Contains(t, text, "\n## "+string(p.Name)+"\n")
		require.Len(t, p.Settings, len(p.Fields), "%s reads a variable twice", p.Name)
		for _, f := range p.Fields {
			require.NotEmpty(t, f.Doc, "%s %s", p.Name, f.Variable)
			require.Contains(t, text, "| `"+f.Variable+"` |")
		}
	}
	require.Contains(t, text, "| `GIFTING_DATABASE_URL` | **required** | URL postgres://… or postgresql://…; **secret** | The ")
	require.Contains(t, text, "| `GIFTING_KAFKA_PARTITIONS` | `12` | number, at least 1, at most 1000 |")
}
