//go:build manifests

package chart_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/deploy/tests/chart"
)

func TestInvalidValuesAreRejected(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ values, path string }{
		"a whole program that does not exist":               {`{"order": {"autoscaling": {"enabled": false, "min": 1, "max": 1, "cpuPercent": 1}, "resources": {"requests": {"cpu": "1m", "memory": "1Mi"}, "limits": {"memory": "1Mi"}}, "settings": {}, "secrets": {}}}`, "there is no program order"},
		"a secret of another program":                       {`{"catalog": {"secrets": {"sealKeys": {"name": "x", "key": "x"}}}}`, "catalog has no secret sealKeys"},
		"images of another program":                         {`{"orders": {"images": {"url": "s3://images"}}}`, "images"},
		"a setting that does not exist":                     {`{"orders": {"settings": {"GIFTING_OPENING_HOUR": "x"}}}`, "GIFTING_OPENING_HOUR"},
		"a setting of another program":                      {`{"catalog": {"settings": {"GIFTING_OPENING_HOURS": "x"}}}`, "GIFTING_OPENING_HOURS"},
		"a secret as a setting":                             {`{"orders": {"settings": {"GIFTING_SEAL_KEYS": "k:x"}}}`, "GIFTING_SEAL_KEYS"},
		"a secret without a name":                           {`{"orders": {"secrets": {"databaseUrl": {"name": ""}}}}`, "name"},
		"a setting without its prefix":                      {`{"orders": {"settings": {"LOG_LEVEL": "DEBUG"}}}`, "/orders/settings"},
		"a setting for development":                         {`{"webhook": {"settings": {"GIFTING_ALLOW_LOOPBACK_WEBHOOKS": "true"}}}`, "GIFTING_ALLOW_LOOPBACK_WEBHOOKS"},
		"an environment that does not exist":                {`{"environment": "staging"}`, "environment"},
		"an image that is not pinned":                       {`{"image": {"tag": "latest"}}`, "tag"},
		"a login without TLS":                               {`{"kafka": {"tls": {"enabled": false, "ca": {"name": ""}}}}`, "kafka.sasl needs kafka.tls.enabled"},
		"a login without a password":                        {`{"webhook": {"secrets": {"kafkaPassword": {"name": ""}}}}`, "needs webhook.secrets.kafkaPassword.name"},
		"a login without a user":                            {`{"kafka": {"sasl": {"users": {"events": ""}}}}`, "kafka.sasl.users.events"},
		"a password without a mechanism":                    {`{"kafka": {"sasl": {"mechanism": ""}}}`, "events.secrets.kafkaPassword needs kafka.sasl.mechanism"},
		"a mechanism that does not exist":                   {`{"kafka": {"sasl": {"mechanism": "GSSAPI"}}}`, "mechanism"},
		"authorities without TLS":                           {`{"kafka": {"tls": {"enabled": false}, "sasl": {"mechanism": ""}}}`, "kafka.tls has other values but is not enabled"},
		"no brokers":                                        {`{"kafka": {"brokers": []}}`, "brokers"},
		"a lame duck that no program accepts":               {`{"termination": {"lameDuckSeconds": 301}}`, "lameDuckSeconds"},
		"no address of the API":                             {`{"publicUrl": ""}`, "publicUrl"},
		"more instances at least than at most":              {`{"orders": {"autoscaling": {"min": 9, "max": 3}}}`, "orders.autoscaling: min 9 is more than max 3"},
		"a certificate that is renewed before it is issued": {`{"tls": {"certManager": {"duration": "24h", "renewBefore": "48h"}}}`, "tls.certManager.renewBefore is not between"},
		"a lease that ends before an attempt":               {`{"webhook": {"settings": {"GIFTING_WEBHOOK_LEASE": "12s"}}}`, "GIFTING_WEBHOOK_LEASE, 12s, must be at least 5s longer than GIFTING_WEBHOOK_TIMEOUT, 10s"},
		"an attempt that outlasts its lease":                {`{"webhook": {"settings": {"GIFTING_WEBHOOK_TIMEOUT": "26s"}}}`, "GIFTING_WEBHOOK_LEASE, 30s, must be at least 5s longer than GIFTING_WEBHOOK_TIMEOUT, 26s"},
		"a log level that does not exist":                   {`{"orders": {"settings": {"GIFTING_LOG_LEVEL": "LOUD"}}}`, `orders.settings.GIFTING_LOG_LEVEL: "LOUD" is not DEBUG, INFO, WARN or ERROR`},
		"days":                                              {`{"orders": {"settings": {"GIFTING_DETAILS_RETENTION": "90d"}}}`, `orders.settings.GIFTING_DETAILS_RETENTION: "90d" is not a duration`},
		"a number that is a word":                           {`{"orders": {"settings": {"GIFTING_DATABASE_MAX_CONNS": "abc"}}}`, `orders.settings.GIFTING_DATABASE_MAX_CONNS: "abc" is not a whole number`},
		"a number below its bound":                          {`{"orders": {"settings": {"GIFTING_DATABASE_MAX_CONNS": "0"}}}`, `"0" is not at least 1`},
		"a duration above its bound":                        {`{"gateway": {"settings": {"GIFTING_KEY_STALE": "25h"}}}`, `"25h" is not at most 86400s`},
		"a proxy that is a name":                            {`{"gateway": {"settings": {"GIFTING_TRUSTED_PROXIES": "foo"}}}`, `"foo" is not a list of IP addresses`},
		"a peer with a wrong prefix":                        {`{"networkPolicy": {"postgresql": {"to": [{"ipBlock": {"cidr": "10.0.0.0/99"}}]}}}`, "cidr"},
		"a store without a peer":                            {`{"networkPolicy": {"postgresql": {"to": []}}}`, "networkPolicy.postgresql.to names no peer"},
		"object storage without a peer":                     {`{"networkPolicy": {"objectStorage": {"internet": false}}}`, "networkPolicy.objectStorage.to names no peer"},
		"a port of Kafka beside its addresses":              {`{"networkPolicy": {"kafka": {"port": 9092}}}`, "port"},
		"a collector without a port":                        {`{"telemetry": {"otlpEndpoint": "http://collector"}}`, "otlpEndpoint"},
		"an address of the API without a path":              {`{"publicUrl": "https://api.example.com"}`, "publicUrl"},
		"an address of the gift site without a path":        {`{"claimUrl": "https://gifts.example.com"}`, "claimUrl"},
		"images in a folder of the pod":                     {`{"catalog": {"images": {"url": "file:///var/lib/gifting/images"}}}`, "catalog.images.existingClaim names no volume"},
		"images beside their volume":                        {`{"catalog": {"images": {"url": "file:///images", "existingClaim": "images"}}}`, "is not in /var/lib/gifting/images"},
		"a volume for images in S3":                         {`{"catalog": {"images": {"existingClaim": "images"}}}`, "needs a catalog.images.url with file://"},
		"a setting as another variable":                     {`{"extraEnv": [{"name": "GIFTING_LOG_LEVEL", "value": "DEBUG"}]}`, "extraEnv"},
		"a label of the chart":                              {`{"podLabels": {"app.kubernetes.io/component": "mine"}}`, "/podLabels"},
		"a way out to everything":                           {`{"extraEgress": [{"ports": [{"port": 443}]}]}`, "to"},
		"a private key among the authorities":               {`{"authorities": {"inline": "-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----"}}`, "inline"},
		"a volume of the chart":                             {`{"extraVolumes": [{"name": "tls", "emptyDir": {}}]}`, "extraVolumes"},
		"a test that places orders in production":           {`{"test": {"apiKey": {"name": "key"}}}`, "it needs the environment sandbox"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := chart.Render(dir, changedValues(t, tc.values))
			require.ErrorContains(t, err, tc.path)
		})
	}
}

func TestValuesThatEveryProgramNeedsCannotBeRemoved(t *testing.T) {
	t.Parallel()
	for _, removed := range []map[string]any{
		{"webhook": nil},
		{"orders": map[string]any{"secrets": map[string]any{"sealKeys": nil}}},
	} {
		values := lean(t)
		maps.Copy(values, removed)
		_, err := chart.Render(dir, values)
		require.Error(t, err)
	}
}

// setByTheChart are the settings that the chart sets from other values, and one that is only for a single machine.
var setByTheChart = []string{
	"GIFTING_GRPC_ADDR", "GIFTING_HTTP_ADDR", "GIFTING_METRICS_ADDR", "GIFTING_LAME_DUCK", "GIFTING_DRAIN_TIMEOUT",
	"GIFTING_TLS_CERT_FILE", "GIFTING_TLS_KEY_FILE", "GIFTING_TLS_CA_FILE", "GIFTING_TLS_TRUST_DOMAIN",
	"GIFTING_ENVIRONMENT", "GIFTING_PUBLIC_URL", "GIFTING_CLAIM_URL", "GIFTING_IMAGES_URL",
	"GIFTING_KAFKA_BROKERS", "GIFTING_KAFKA_CLIENT_ID", "GIFTING_KAFKA_TOPIC",
	"GIFTING_KAFKA_TLS_ENABLED", "GIFTING_KAFKA_TLS_CA_FILE", "GIFTING_KAFKA_TLS_CERT_FILE", "GIFTING_KAFKA_TLS_KEY_FILE",
	"GIFTING_KAFKA_TLS_SERVER_NAME", "GIFTING_KAFKA_SASL_MECHANISM", "GIFTING_KAFKA_SASL_USER",
	"GIFTING_ALLOW_LOOPBACK_WEBHOOKS",
}

// valuesOf returns the name of a program in values.yaml.
func valuesOf(p programs.Program) string {
	first, second, _ := strings.Cut(string(p.Name), "-")
	if second == "" {
		return first
	}
	return first + strings.ToUpper(second[:1]) + second[1:]
}

func TestAProgramAcceptsItsSettingsThatAreNotSecretAndNoOthers(t *testing.T) {
	t.Parallel()
	excluded, everything := slices.Clone(setByTheChart), map[string]bool{}
	for _, p := range programs.All() {
		excluded = append(excluded, "GIFTING_"+p.Peer())
		for variable := range p.Settings {
			everything[variable] = true
		}
	}
	render := func(p programs.Program, settings map[string]any) error {
		own := map[string]any{valuesOf(p): map[string]any{"settings": maps.Clone(settings)}}
		_, err := chart.Render(dir, chartutil.CoalesceTables(own, read(t, "small")))
		return err
	}
	for _, p := range programs.All() {
		accepted, others := map[string]any{}, map[string]any{}
		for variable := range everything {
			field, known := p.Settings[variable]
			if known && !field.Secret && !slices.Contains(excluded, variable) {
				accepted[variable] = field.Default
			} else {
				others[variable] = "1"
			}
		}
		require.NoError(t, render(p, accepted), p.Name)
		err := render(p, others)
		for variable := range others {
			require.ErrorContains(t, err, valuesOf(p)+" has no setting "+variable)
		}
	}
}
