//go:build manifests

package chart_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/partnergifting/platform/deploy/tests/chart"
)

// changed copies the chart and replaces the text once in a file of it.
func changed(t *testing.T, file, text, by string) string {
	t.Helper()
	copied := t.TempDir()
	require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
	path := filepath.Join(copied, file)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(content), text)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(content), text, by, 1)), 0o600))
	return copied
}

// lean returns the values of production without rules and dashboards, whose checks take long.
func lean(t *testing.T) map[string]any {
	t.Helper()
	without := map[string]any{"monitoring": map[string]any{
		"rules": map[string]any{"enabled": false}, "dashboards": map[string]any{"enabled": false},
	}}
	return chartutil.CoalesceTables(without, read(t, "production"))
}

// Each of these charts can be installed, but is broken or insecure.
func TestMutationsOfTheChartAreFound(t *testing.T) {
	t.Parallel()
	const (
		deployments = "templates/deployments.yaml"
		services    = "templates/services.yaml"
		network     = "templates/networkpolicies.yaml"
		environment = "templates/_environment.tpl"
		components  = "templates/_components.tpl"
		pod         = "templates/_pod.tpl"
		selector    = `include "gifting.selector" $program`
		another     = `include "gifting.selector" (dict "root" $ "name" "orders")`
	)
	objects, err := chart.Render(dir, lean(t))
	require.NoError(t, err)
	all := strconv.Itoa(len(chart.Environments(objects)))
	for name, tc := range map[string]struct{ file, text, by, problem string }{
		"a service that selects another program":        {services, selector, another, "the certificate lacks the name"},
		"a service that selects nothing":                {services, selector, `include "gifting.selector" (dict "root" $ "name" "order")`, "Service gifting-tenants selects the pods of 0 owners"},
		"a service without a port":                      {services, "targetPort: metrics", "targetPort: metric", "leads to the port metric"},
		"a deployment that selects another program":     {deployments, selector, another, "Deployment gifting-tenants selects the pods of Deployment gifting-orders"},
		"a deployment that selects everything":          {deployments, selector, `include "gifting.releaseSelector" $`, "Deployment gifting-tenants selects the pods of " + all + " owners"},
		"a budget that selects everything":              {"templates/disruptionbudgets.yaml", `include "gifting.selector" (dict "root" $ "name" $name)`, `include "gifting.releaseSelector" $`, "PodDisruptionBudget gifting-tenants selects the pods of " + all + " owners"},
		"a monitor that selects no service":             {"templates/monitoring.yaml", `include "gifting.releaseSelector" .`, `include "gifting.selector" (dict "root" . "name" "all")`, "ServiceMonitor gifting does not select Service gifting-tenants"},
		"a monitor of another port":                     {"templates/monitoring.yaml", "port: metrics", "port: http", "ServiceMonitor gifting uses the port http"},
		"an autoscaler of nothing":                      {"templates/autoscalers.yaml", `name: {{ include "gifting.fullname" $ }}-{{ $name }}` + "\n  minReplicas", "name: {{ $name }}\n  minReplicas", "scales the Deployment tenants, which does not exist"},
		"an autoscaler and a number":                    {pod, "if not .values.autoscaling.enabled", "if true", "has a number of replicas and an autoscaler"},
		"a route to another port":                       {"templates/httproute.yaml", `port: {{ include "gifting.portNumber" "gateway" }}`, "port: 80", "HTTPRoute gifting-gateway leads to port 80"},
		"a database password in the environment":        {environment, "  valueFrom:\n    secretKeyRef:\n      name: {{ $reference.name }}\n      key: {{ $reference.key }}\n", "  value: postgres://orders:hunter2@db/orders\n", "GIFTING_DATABASE_URL is a secret in plain text"},
		"a secret without a form":                       {environment, "  valueFrom:\n    secretKeyRef:\n      name: {{ $reference.name }}\n      key: {{ $reference.key }}\n", "  value: none\n", "GIFTING_SEAL_KEYS is a secret in plain text"},
		"a password of Kafka in the environment":        {environment, "  valueFrom:\n    secretKeyRef:\n      name: {{ $reference.name }}\n      key: {{ $reference.key }}\n", "  value: hunter2\n", "GIFTING_KAFKA_SASL_PASSWORD is a secret in plain text"},
		"authorities of Kafka that are not mounted":     {deployments, `{{- with include "gifting.kafkaMounts" $program }}`, `{{- with "" }}`, "names /etc/gifting/kafka-ca/ca.crt, which is not mounted"},
		"an environment from a whole secret":            {deployments, "ports:\n            - name: {{ include", "envFrom:\n            - secretRef:\n                name: gifting\n          ports:\n            - name: {{ include", "takes its environment from a whole Secret"},
		"an unknown setting":                            {environment, "GIFTING_LAME_DUCK", "GIFTING_LAMEDUCK", "GIFTING_LAMEDUCK is not a setting of orders"},
		"a setting that is missing":                     {components, "settings: [ENVIRONMENT, IMAGES_URL, PUBLIC_URL]", "settings: [ENVIRONMENT, PUBLIC_URL]", "catalog lacks GIFTING_IMAGES_URL"},
		"a program that is called and not reached":      {components, "calls: [tenants, catalog, personal-links, events]\n", "calls: [tenants]\n", "orders lacks GIFTING_CATALOG_ADDR"},
		"an address of no service":                      {environment, `printf "%s-%s:%s" (include "gifting.fullname" $.root)`, `printf "%s-%s:%s" "other"`, "calls other-tenants:9000, which is not a service"},
		"a policy that lets a stranger in":              {network, `{{- include "gifting.callers" $program | nindent 8 }}`, "- podSelector:\n            matchLabels:\n              {{- include \"gifting.selector\" (dict \"root\" $ \"name\" \"webhook\") | nindent 14 }}", "Deployment gifting-webhook -> Deployment gifting-orders: is let in but not called"},
		"a policy that does not let a program out":      {network, "{{- range $component.calls }}", "{{- range list }}", "Deployment gifting-orders -> Deployment gifting-tenants: is called but not let out"},
		"no default denial":                             {network, `include "gifting.releaseSelector" .`, `include "gifting.selector" (dict "root" . "name" "orders")`, "no NetworkPolicy denies everything"},
		"webhooks to the cloud's metadata":              {"templates/_network.tpl", "      - 169.254.0.0/16\n", "", "lets webhooks out to 169.254.0.0/16"},
		"webhooks to neighbours over IPv6":              {"templates/_network.tpl", "      - 2002::/16\n", "", "lets webhooks out to 2002::/16"},
		"pods that cannot resolve names":                {network, `{{- include "gifting.egressToDNS" $ | nindent 4 }}`, "", "Deployment gifting-orders cannot resolve names"},
		"a container that writes to its root":           {pod, "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "container orders writes to its root"},
		"a pod with a token":                            {pod, "automountServiceAccountToken: false", "automountServiceAccountToken: true", "has a token of the API server"},
		"a probe of a port that is not there":           {pod, "path: /readyz\n    port: metrics", "path: /readyz\n    port: grcp", "the readiness probe uses the port grcp"},
		"a pod that is killed too early":                {pod, ".Values.termination.drainSeconds 15", "0", "is killed before it finishes its calls"},
		"a certificate of another program":              {"templates/certificates.yaml", "spiffe://{{ $.Values.tls.trustDomain }}/{{ $name }}", "spiffe://{{ $.Values.tls.trustDomain }}/gateway", "has the certificate of [spiffe://gifting.partnergifting.example/gateway]"},
		"a certificate under a path that never changes": {deployments, "mountPath: /etc/gifting/tls\n", "mountPath: /etc/gifting/tls\n              subPath: tls\n", "is not mounted read-only as a folder"},
		"a migration after the installation":            {"templates/migrations.yaml", "helm.sh/hook: pre-install,pre-upgrade\n    helm.sh/hook-weight: \"-10\"", "helm.sh/hook: post-install\n    helm.sh/hook-weight: \"-10\"", "Job gifting-migrate-orders is not a hook before"},
		"a migration that helm does not wait for":       {"templates/migrations.yaml", "{{ $.Values.migrations.deadlineSeconds }}", "300", "Job gifting-migrate-orders may still run when helm no longer waits for it"},
		"an account that goes before its migration":     {"templates/migrations.yaml", "delete-policy: before-hook-creation\n", "delete-policy: before-hook-creation,hook-succeeded\n", "ServiceAccount gifting-migration may be deleted while Job gifting-migrate-orders runs"},
		"a migration before its account":                {"templates/migrations.yaml", `helm.sh/hook-weight: "-10"`, `helm.sh/hook-weight: "-30"`, "ServiceAccount gifting-migration does not exist before Job"},
		"a database that is not migrated":               {"templates/migrations.yaml", `hasKey $component.secrets "DATABASE_URL"`, `hasKey $component.secrets "SEAL_KEYS"`, "the database of catalog is not migrated"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, err := chart.Render(changed(t, tc.file, tc.text, tc.by), lean(t))
			require.NoError(t, err)
			require.Contains(t, strings.Join(chart.Check(objects), "\n"), tc.problem)
		})
	}
}

func TestRenewalsAfterTheAlertOfACertificateAreFound(t *testing.T) {
	t.Parallel()
	late := changed(t, "templates/certificates.yaml", "renewBefore: {{ $.Values.tls.certManager.renewBefore }}", "renewBefore: 8h")
	over := map[string]any{"monitoring": map[string]any{"dashboards": map[string]any{"enabled": false}}}
	objects, err := chart.Render(late, chartutil.CoalesceTables(over, read(t, "production")))
	require.NoError(t, err)
	require.Contains(t, chart.Check(objects), "Certificate gifting-orders is renewed after the alert on its expiry")
}

func TestSecretsInAConfigMapAreFound(t *testing.T) {
	t.Parallel()
	for name, secret := range map[string]string{
		"a database URL": "postgres://orders:hunter2@db.internal/orders",
		"a password":     "host=db password=hunter2",
		"a key":          "-----BEGIN EC PRIVATE KEY-----",
		"a seal key":     "k1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
		"an access key":  "AKIAIOSFODNN7EXAMPLE",
		"a bearer token": "authorization=Bearer abcdef0123456789",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			leaking := changed(t, "templates/services.yaml", "---\n",
				"---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ $name }}\ndata:\n  note: \"be careful: "+secret+"\"\n---\n")
			objects, err := chart.Render(leaking, lean(t))
			require.NoError(t, err)
			require.Contains(t, strings.Join(chart.Check(objects), "\n"), "ConfigMap orders holds a")
		})
	}
}

func TestObjectsThatKubernetesDoesNotKnowAreRejected(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ file, text, by, problem string }{
		"a field of another name":     {"templates/deployments.yaml", "revisionHistoryLimit", "revisionHistory", `Deployment gifting-catalog: error unmarshaling JSON: while decoding JSON: json: unknown field "revisionHistory"`},
		"a secret made by the chart":  {"templates/services.yaml", "kind: Service", "kind: Secret", "no objects of this kind"},
		"a value that does not exist": {"templates/deployments.yaml", "$.Values.image.pullPolicy", "$.Values.image.pullPolice", "pullPolice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := chart.Render(changed(t, tc.file, tc.text, tc.by), lean(t))
			require.ErrorContains(t, err, tc.problem)
		})
	}
}
