//go:build manifests

package chart_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/partnergifting/platform/deploy/tests/chart"
)

// Kubernetes or a program would refuse these only after the installation has begun, or do something else than was meant.
func TestValuesThatAreNoNamesOrAddressesAreRejected(t *testing.T) {
	t.Parallel()
	requireRejected(t, map[string]map[string]string{
		"/kafka/brokers": {
			"a port above 65535": `{"kafka": {"brokers": ["kafka:99999"]}}`,
			"a broker twice":     `{"kafka": {"brokers": ["kafka:9092", "kafka:9092"]}}`,
			"a scheme":           `{"kafka": {"brokers": ["http://kafka:9092"]}}`,
		},
		"/kafka/topic":          {"a topic that Kafka does not have": `{"kafka": {"topic": ".."}}`},
		"/kafka/tls/serverName": {"a scheme": `{"kafka": {"tls": {"serverName": "https://kafka"}}}`},
		"/kafka/tls/ca/name":    {"no name of an object": `{"kafka": {"tls": {"ca": {"name": "Upper_Case"}}}}`},
		"/publicUrl": {
			"a port above 65535": `{"publicUrl": "https://api.example.com:99999/api/public/v1"}`,
			"another path":       `{"publicUrl": "https://api.example.com/v1"}`,
		},
		"/telemetry/otlpEndpoint": {
			"a port above 65535": `{"telemetry": {"otlpEndpoint": "http://collector:99999"}}`,
			"no scheme":          `{"telemetry": {"otlpEndpoint": "collector:4317"}}`,
		},
		"/image/repository": {
			"upper case": `{"image": {"repository": "Partner/Platform"}}`,
			"a tag":      `{"image": {"repository": "partner/platform:1.0"}}`,
		},
		"/image/registry": {"a scheme": `{"image": {"registry": "https://registry.example.com"}}`},
		"/image/digest":   {"a digest that is too short": `{"image": {"digest": "sha256:abc"}}`},
		"/ingress/hosts": {
			"a scheme":     `{"ingress": {"enabled": true, "className": "nginx", "hosts": ["https://api.example.com"]}}`,
			"a port":       `{"ingress": {"enabled": true, "className": "nginx", "hosts": ["api.example.com:443"]}}`,
			"a host twice": `{"ingress": {"enabled": true, "className": "nginx", "hosts": ["api.example.com", "api.example.com"]}}`,
		},
		"/gatewayApi/hostnames/0":                {"a scheme": `{"gatewayApi": {"hostnames": ["https://api.example.com"]}}`, "an IP address": `{"gatewayApi": {"hostnames": ["10.0.0.1"]}}`},
		"/gatewayApi/parentRefs/0":               {"a port above 65535": `{"gatewayApi": {"parentRefs": [{"name": "public", "port": 99999}]}}`},
		"/orders/secrets/databaseUrl":            {"no name": `{"orders": {"secrets": {"databaseUrl": {"name": "A_b"}}}}`, "no key": `{"orders": {"secrets": {"databaseUrl": {"key": "a key"}}}}`},
		"/authorities/secret/key":                {"a path": `{"authorities": {"secret": {"name": "a", "key": "a/b"}}}`},
		"/authorities/inline":                    {"no base64": `{"authorities": {"inline": "-----BEGIN CERTIFICATE-----\nnot base64!\n-----END CERTIFICATE-----"}}`},
		"/monitoring/rules/runbooks":             {"a space": `{"monitoring": {"rules": {"runbooks": "https://a b/"}}}`},
		"/monitoring/labels":                     {"no label": `{"monitoring": {"labels": {"a b": "c"}}}`},
		"/commonLabels/team":                     {"no value of a label": `{"commonLabels": {"team": "a b"}}`},
		"/podAnnotations":                        {"no annotation": `{"podAnnotations": {"a b": "c"}}`},
		"/topologySpread/keys":                   {"no label": `{"topologySpread": {"keys": ["a b"]}}`, "a label twice": `{"topologySpread": {"keys": ["zone", "zone"]}}`},
		"/networkPolicy/postgresql/to/0/ipBlock": {"no IPv6 address": `{"networkPolicy": {"postgresql": {"to": [{"ipBlock": {"cidr": "12345::/64"}}]}}}`},
		"/networkPolicy/postgresql/to/0": {
			"an address and a selector":       `{"networkPolicy": {"postgresql": {"to": [{"ipBlock": {"cidr": "10.0.0.0/24"}, "podSelector": {}}]}}}`,
			"an operator that does not exist": `{"networkPolicy": {"postgresql": {"to": [{"podSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}}]}}}`,
		},
	})
}

func TestNumbersAndQuantitiesOutOfBoundsAreRejected(t *testing.T) {
	t.Parallel()
	requireRejected(t, map[string]map[string]string{
		"/orders/replicas":                    {"none": `{"orders": {"replicas": 0}}`, "a number with a digit too many": `{"orders": {"replicas": 1000000}}`},
		"/orders/resources/limits/memory":     {"GB": `{"orders": {"resources": {"limits": {"memory": "1GB"}}}}`},
		"/orders/resources/requests/cpu":      {"memory": `{"orders": {"resources": {"requests": {"cpu": "1Gi"}}}}`, "none": `{"orders": {"resources": {"requests": {"cpu": "0"}}}}`},
		"/tls/certManager/duration":           {"no unit": `{"tls": {"certManager": {"duration": "720"}}}`},
		"/monitoring/serviceMonitor/interval": {"none": `{"monitoring": {"serviceMonitor": {"interval": "0s"}}}`, "one in which an alert comes late": `{"monitoring": {"serviceMonitor": {"interval": "2m"}}}`},
	})
}

func TestAdditionsThatKubernetesRefusesAreRejected(t *testing.T) {
	t.Parallel()
	requireRejected(t, map[string]map[string]string{
		"/extraEnv/0":                 {"a variable without a value": `{"extraEnv": [{"name": "A"}]}`, "a source that does not exist": `{"extraEnv": [{"name": "A", "valueFrom": {"secretRef": {}}}]}`},
		"/extraEnvFrom/0":             {"a source that does not exist": `{"extraEnvFrom": [{"configMap": {"name": "a"}}]}`},
		"/extraVolumes/0":             {"a folder of the host": `{"extraVolumes": [{"name": "a", "hostPath": {"path": "/"}}]}`, "no source": `{"extraVolumes": [{"name": "a"}]}`, "a mistyped source": `{"extraVolumes": [{"name": "a", "emptydir": {}}]}`},
		"/extraVolumeMounts/0":        {"a folder of the chart": `{"extraVolumes": [{"name": "a", "emptyDir": {}}], "extraVolumeMounts": [{"name": "a", "mountPath": "/etc/gifting/tls"}]}`},
		"/extraEgress/0/ports/0":      {"a port above 65535": `{"extraEgress": [{"to": [{"podSelector": {}}], "ports": [{"port": 99999}]}]}`, "any port": `{"extraEgress": [{"to": [{"podSelector": {}}], "ports": [{"protocol": "TCP"}]}]}`, "lower case": `{"extraEgress": [{"to": [{"podSelector": {}}], "ports": [{"protocol": "tcp", "port": 1}]}]}`},
		"/tolerations/0":              {"Exists with a value": `{"tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]}`, "a time without NoExecute": `{"tolerations": [{"key": "a", "effect": "NoSchedule", "tolerationSeconds": 5}]}`, "no key": `{"tolerations": [{"effect": "NoSchedule"}]}`},
		"extraEnv: GOMEMLIMIT":        {"a variable of the chart": `{"extraEnv": [{"name": "GOMEMLIMIT", "value": "1GiB"}]}`},
		"orders.extraEnv: A is":       {"a variable twice": `{"orders": {"extraEnv": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}}`},
		"extraEnv: SSL_CERT_DIR":      {"the authorities of the chart": `{"authorities": {"configMap": {"name": "a"}}, "extraEnv": [{"name": "SSL_CERT_DIR", "value": "/x"}]}`},
		"extraVolumes: there are two": {"a volume twice": `{"extraVolumes": [{"name": "a", "emptyDir": {}}, {"name": "a", "emptyDir": {}}]}`},
		"orders.extraVolumeMounts: there are two with the mountPath /a": {"a mount twice": `{"orders": {"extraVolumes": [{"name": "a", "emptyDir": {}}], "extraVolumeMounts": [{"name": "a", "mountPath": "/a"}, {"name": "a", "mountPath": "/a"}]}}`},
		"extraVolumeMounts: extraVolumes has no volume missing":         {"a mount of nothing": `{"extraVolumeMounts": [{"name": "missing", "mountPath": "/a"}]}`},
	})
}

func TestValuesThatContradictOthersAreRejected(t *testing.T) {
	t.Parallel()
	requireRejected(t, map[string]map[string]string{
		"tls.certManager.renewBefore is not more than 168h":              {"renewals after the alert": `{"tls": {"certManager": {"renewBefore": "100h"}}, "monitoring": {"rules": {"enabled": true}}}`},
		"orders.resources.requests.memory 2Gi is more than":              {"a request above its limit": `{"orders": {"resources": {"requests": {"memory": "2Gi"}}}}`},
		"migrations.resources.requests.memory 1Gi is more than":          {"a request of migrations above its limit": `{"migrations": {"resources": {"requests": {"memory": "1Gi"}}}}`},
		"orders.resources.requests.cpu 2 is more than limits.cpu 100m":   {"cores above their limit": `{"orders": {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "100m"}}}}`},
		"orders.resources.limits.memory 31Mi is less than 32Mi":          {"too little memory": `{"orders": {"resources": {"requests": {"memory": "1Mi"}, "limits": {"memory": "31Mi"}}}}`},
		"GIFTING_KAFKA_WEBHOOK_GROUP is mine in webhook.settings":        {"groups that differ": `{"webhook": {"settings": {"GIFTING_KAFKA_WEBHOOK_GROUP": "mine"}}}`},
		"are both gifting-webhook, but each needs its own":               {"groups that are the same": `{"events": {"settings": {"GIFTING_KAFKA_FEED_GROUP": "gifting-webhook"}}}`},
		"kafka.tls.certificates needs a Secret for events and":           {"one certificate for Kafka": `{"kafka": {"tls": {"certificates": {"events": "a"}}}}`},
		"catalog.secrets.databaseUrl and orders.secrets.databaseUrl are": {"a database of two services": `{"catalog": {"secrets": {"databaseUrl": {"name": "db"}}}, "orders": {"secrets": {"databaseUrl": {"name": "db"}}}}`},
		"events.settings.GIFTING_KAFKA_REPLICATION is 1":                 {"one replica of the topic": `{"events": {"settings": {"GIFTING_KAFKA_REPLICATION": "1"}}}`},
		"GIFTING_TRUSTED_PROXIES: 0.0.0.0/0 trusts every address":        {"a proxy at any address": `{"gateway": {"settings": {"GIFTING_TRUSTED_PROXIES": "10.0.0.0/8, 0.0.0.0/0"}}}`},
		"GIFTING_TRUSTED_PROXIES: ::/0 trusts every address":             {"a proxy at any IPv6 address": `{"gateway": {"settings": {"GIFTING_TRUSTED_PROXIES": "::/0"}}}`},
		"publicUrl begins with http:":                                    {"keys in plain text": `{"publicUrl": "http://api.example.com/api/public/v1"}`},
		"claimUrl begins with http:":                                     {"claim links in plain text": `{"claimUrl": "http://gifts.example.com/c"}`},
		"authorities.inline has an incomplete certificate":               {"a second certificate that is cut off": `{"authorities": {"inline": "` + bundle + `-----BEGIN CERTIFICATE-----\nMIIB"}}`},
		`orders.settings.GIFTING_OPENING_HOURS: "8-18" is not like`:      {"hours of another form": `{"orders": {"settings": {"GIFTING_OPENING_HOURS": "8-18"}}}`},
		"catalog.images.url is not s3:// with the name of a bucket":      {"a folder of a bucket": `{"catalog": {"images": {"url": "s3://images/folder?region=x"}}}`, "a bucket that cannot exist": `{"catalog": {"images": {"url": "s3://Images_1?region=x"}}}`},
		`catalog.images.url has the parameter "regoin"`:                  {"a mistyped parameter": `{"catalog": {"images": {"url": "s3://images?regoin=x"}}}`},
		`the endpoint "storage:9000" is not http or https with a host`:   {"an endpoint without a scheme": `{"catalog": {"images": {"url": "s3://images?endpoint=storage:9000"}}}`},
		`the endpoint "https://storage:99999" has no port of 1 to 65535`: {"an endpoint with a port above 65535": `{"catalog": {"images": {"url": "s3://images?endpoint=https://storage:99999"}}}`},
		"catalog.images.credentialsSecret needs a catalog.images.url":    {"credentials of a folder": `{"catalog": {"images": {"url": "file:///var/lib/gifting/images", "existingClaim": "a", "credentialsSecret": "b"}}}`},
		"catalog.images.url is not in /var/lib/gifting/images":           {"a folder beside the volume": `{"catalog": {"images": {"url": "file:///var/lib/gifting/images/../a", "existingClaim": "a"}}}`},
	})
}

func TestAPrefixHasNoBitsBehindItsLength(t *testing.T) {
	t.Parallel()
	const values = `{"networkPolicy": {"postgresql": {"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}, {"ipBlock": {"cidr": "%s"}}]}}}`
	for cidr, network := range map[string]bool{
		"10.0.0.1/8": false, "10.1.0.0/15": false, "10.2.0.0/15": true, "10.0.0.129/25": false, "10.0.0.128/25": true, "10.0.0.1/32": true,
		"1.0.0.0/0": false, "0.0.0.0/0": true, "2001:db8::1/64": false, "2001:db8::/64": true, "2001:db8:0:8000::/49": true,
		"2001:db8:0:8000::/48": false, "::1/127": false, "::1/128": true, "8000::/1": true, "::/0": true, "fe80::/8": false, "fe80::/9": true, "1:2:3:4:5:6:7:ff00/120": true,
	} {
		t.Run(cidr, func(t *testing.T) {
			t.Parallel()
			_, err := chart.Render(dir, changedValues(t, fmt.Sprintf(values, cidr)))
			if network {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, "networkPolicy.postgresql: the cidr "+cidr+" has bits behind its prefix")
			}
		})
	}
	requireRejected(t, map[string]map[string]string{
		"networkPolicy.gateway: the cidr":   {"a source": `{"networkPolicy": {"gateway": {"from": [{"ipBlock": {"cidr": "10.0.0.1/8"}}]}}}`},
		"networkPolicy.receivers: the cidr": {"an exception": `{"networkPolicy": {"receivers": {"to": [{"ipBlock": {"cidr": "::/0", "except": ["10.0.0.1/8"]}}]}}}`},
		"extraEgress: the cidr":             {"an addition": `{"extraEgress": [{"to": [{"ipBlock": {"cidr": "10.0.0.1/8"}}], "ports": [{"port": 443}]}]}`},
		"orders.extraEgress: the cidr":      {"an addition to a program": `{"orders": {"extraEgress": [{"to": [{"ipBlock": {"cidr": "10.0.0.1/8"}}], "ports": [{"port": 443}]}]}}`},
	})
}

// requireRejected renders every value below its message, which names the path.
func requireRejected(t *testing.T, messages map[string]map[string]string) {
	t.Helper()
	for message, tests := range messages {
		for name, values := range tests {
			t.Run(message+" "+name, func(t *testing.T) {
				t.Parallel()
				_, err := chart.Render(dir, changedValues(t, values))
				require.ErrorContains(t, err, message)
			})
		}
	}
}

// validate checks the values against the schema only.
func validate(t *testing.T, values map[string]any) error {
	t.Helper()
	loaded, err := loader.LoadDir(dir)
	require.NoError(t, err)
	return chartutil.ValidateAgainstSchema(loaded, values)
}

// filled returns the values with another in place of each that has another type, and adds their paths to places.
func filled(path string, value, by any, places *[]string) any {
	inner, ok := value.(map[string]any)
	if !ok {
		if kind(value) != kind(by) {
			*places = append(*places, path)
			return by
		}
		return value
	}
	all := map[string]any{}
	for key, one := range inner {
		all[key] = filled(path+"/"+key, one, by, places)
	}
	return all
}

// kind is the type of a value in JSON.
func kind(value any) string {
	switch value.(type) {
	case string:
		return "text"
	case bool:
		return "switch"
	case []any:
		return "list"
	case map[string]any:
		return "map"
	default:
		return "number"
	}
}

func defaults(t *testing.T) map[string]any {
	t.Helper()
	values, err := chartutil.ReadValuesFile(filepath.Join(dir, "values.yaml"))
	require.NoError(t, err)
	return values
}

func TestValuesOfAnotherTypeAreRejectedAtEveryLevel(t *testing.T) {
	t.Parallel()
	for _, other := range []any{7.5, true, "a text", []any{7}, map[string]any{"a": 7}} {
		t.Run(kind(other), func(t *testing.T) {
			t.Parallel()
			var places []string
			err := validate(t, filled("", defaults(t), other, &places).(map[string]any)) //nolint:forcetypeassert // It stays a map.
			require.Error(t, err)
			require.Greater(t, len(places), 50)
			for _, place := range places {
				require.Contains(t, err.Error(), "'"+place, place)
			}
		})
	}
}

func TestMistypedNamesAreRejectedAtEveryLevel(t *testing.T) {
	t.Parallel()
	levels := 0
	var misspell func(path string, values map[string]any)
	values, mistyped := defaults(t), map[string][]string{}
	misspell = func(path string, values map[string]any) {
		for key, value := range values {
			if inner, ok := value.(map[string]any); ok {
				misspell(path+"/"+key, inner)
			}
		}
		levels++
		values["mistyped"] = 7
		mistyped[path] = nil
	}
	misspell("", values)
	err := validate(t, values)
	require.Greater(t, levels, 50)
	for path := range mistyped {
		named := strings.Contains(err.Error(), "at '"+path+"': additional properties 'mistyped'") || strings.Contains(err.Error(), "'"+path+"/mistyped'")
		require.True(t, named, "%s: %v", path, err)
	}
}
