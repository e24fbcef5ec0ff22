//go:build manifests

package chart_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"

	"github.com/partnergifting/platform/deploy/tests/chart"
)

func render(t *testing.T, values string) chart.Objects {
	t.Helper()
	objects, err := chart.Render(dir, changedValues(t, values))
	require.NoError(t, err)
	return objects
}

// templates returns the pod template of every Deployment and Job, by name.
func templates(objects chart.Objects) map[string]core.PodTemplateSpec {
	found := map[string]core.PodTemplateSpec{}
	for _, object := range objects {
		switch o := object.(type) {
		case *apps.Deployment:
			found[o.Name] = o.Spec.Template
		case *batch.Job:
			found[o.Name] = o.Spec.Template
		}
	}
	return found
}

const bundle = `-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n`

func TestEveryPodTrustsPrivateAuthorities(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		values string
		files  []string
	}{
		"from values":      {`{"inline": "` + bundle + `"}`, []string{"inline.crt"}},
		"from a ConfigMap": {`{"configMap": {"name": "company-ca"}}`, []string{"configmap.crt"}},
		"from a Secret":    {`{"secret": {"name": "company-ca", "key": "root.pem"}}`, []string{"secret.crt"}},
		"from all three": {
			`{"inline": "` + bundle + `", "configMap": {"name": "a"}, "secret": {"name": "b"}}`,
			[]string{"inline.crt", "configmap.crt", "secret.crt"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values := `{"authorities": ` + tc.values + `}`
			requireNoProblems(t, changedValues(t, values))
			for owner, template := range templates(render(t, values)) {
				at := slices.IndexFunc(template.Spec.Volumes, func(v core.Volume) bool { return v.Name == "authorities" })
				require.GreaterOrEqual(t, at, 0, owner)
				var files []string
				for _, source := range template.Spec.Volumes[at].Projected.Sources {
					if source.ConfigMap != nil {
						files = append(files, source.ConfigMap.Items[0].Path)
					} else {
						files = append(files, source.Secret.Items[0].Path)
					}
				}
				require.Equal(t, tc.files, files, owner)
			}
		})
	}
}

func TestAChangeOfTheAuthoritiesRestartsThePods(t *testing.T) {
	t.Parallel()
	of := func(values string) map[string]string {
		return templates(render(t, values))["gifting-orders"].Annotations
	}
	first := of(`{"authorities": {"inline": "` + bundle + `"}}`)
	require.NotEmpty(t, first)
	require.Equal(t, first, of(`{"authorities": {"inline": "`+bundle+`"}}`))
	require.NotEqual(t, first, of(`{"authorities": {"inline": "`+bundle+bundle+`"}}`))
	require.NotEqual(t, of(`{}`), of(`{"restartedAt": "2026-11-23"}`))
}

// everyExtra has a value for each way to add to the pods, for all programs and for orders. The gateway has no migration.
const everyExtra = `
podLabels: {mesh: "on"}
podAnnotations: {mesh/inject: "true"}
nodeSelector: {pool: all}
tolerations: [{key: all, operator: Exists}]
affinity:
  nodeAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 1, preference: {matchExpressions: [{key: arm, operator: DoesNotExist}]}}
extraEnv: [{name: HTTPS_PROXY, value: "http://proxy:3128"}]
extraVolumes: [{name: shared, emptyDir: {}}]
extraVolumeMounts: [{name: shared, mountPath: /shared}]
extraEgress: [{to: [{ipBlock: {cidr: 10.9.0.0/24}}], ports: [{protocol: TCP, port: 3128}]}]
extraObjects:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: map}, data: {release: "{{ .Release.Name }}"}}
  - "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: text\ndata:\n  release: {{ .Release.Name }}\n"
orders:
  podLabels: {mesh: orders}
  podAnnotations: {only: orders}
  nodeSelector: {pool: orders}
  tolerations: [{key: orders, operator: Exists}]
  affinity: {podAntiAffinity: {}}
  topologySpread: {keys: [rack]}
  extraEnv: [{name: GODEBUG, value: netdns=go}]
  extraVolumes: [{name: own, emptyDir: {}}]
  extraVolumeMounts: [{name: own, mountPath: /own}]
  extraEgress: [{to: [{ipBlock: {cidr: 10.9.1.0/24}}], ports: [{protocol: TCP, port: 443}]}]
gateway:
  extraEgress: [{to: [{ipBlock: {cidr: 10.9.2.0/24}}], ports: [{protocol: TCP, port: 443}]}]
`

func TestWhatIsAddedReachesEveryPodAndItsOwn(t *testing.T) {
	t.Parallel()
	requireNoProblems(t, changedValues(t, everyExtra))
	objects := render(t, everyExtra)
	for owner, template := range templates(objects) {
		own := strings.HasSuffix(owner, "-orders")
		spec, container := template.Spec, template.Spec.Containers[0]
		choose := func(other, orders string) string {
			if own {
				return orders
			}
			return other
		}
		require.Equal(t, choose("on", "orders"), template.Labels["mesh"], owner)
		require.Equal(t, "true", template.Annotations["mesh/inject"], owner)
		require.Equal(t, choose("", "orders"), template.Annotations["only"], owner)
		require.Equal(t, map[string]string{"pool": choose("all", "orders")}, spec.NodeSelector, owner)
		require.Equal(t, choose("all", "orders"), spec.Tolerations[0].Key, owner)
		require.Equal(t, own, spec.Affinity.NodeAffinity == nil, owner)
		for name, where := range map[string]string{"shared": "/shared", "own": "/own"} {
			wanted := name == "shared" || own
			require.Equal(t, wanted, slices.ContainsFunc(spec.Volumes, func(v core.Volume) bool { return v.Name == name }), owner)
			require.Equal(t, wanted, slices.Contains(container.VolumeMounts, core.VolumeMount{Name: name, MountPath: where}), owner)
		}
		require.Contains(t, container.Env, core.EnvVar{Name: "HTTPS_PROXY", Value: "http://proxy:3128"}, owner)
		require.Equal(t, own, slices.Contains(container.Env, core.EnvVar{Name: "GODEBUG", Value: "netdns=go"}), owner)
		if owner == "gifting-orders" {
			require.Len(t, spec.TopologySpreadConstraints, 1)
			require.Equal(t, "rack", spec.TopologySpreadConstraints[0].TopologyKey)
		}
	}
	reached, made := map[string][]string{}, map[string]string{}
	for _, object := range objects {
		switch o := object.(type) {
		case *networking.NetworkPolicy:
			for _, rule := range o.Spec.Egress {
				for _, peer := range rule.To {
					if peer.IPBlock != nil && strings.HasPrefix(peer.IPBlock.CIDR, "10.9.") {
						reached[o.Name] = append(reached[o.Name], peer.IPBlock.CIDR)
					}
				}
			}
		case *core.ConfigMap:
			made[o.Name] = o.Data["release"]
		}
	}
	require.Equal(t, []string{"10.9.0.0/24", "10.9.1.0/24"}, reached["gifting-migration"])
	require.Equal(t, []string{"10.9.0.0/24"}, reached["gifting-webhook"])
	require.Equal(t, []string{"10.9.0.0/24", "10.9.2.0/24"}, reached["gifting-gateway"])
	require.Equal(t, []string{"10.9.0.0/24", "10.9.1.0/24"}, reached["gifting-orders"])
	require.Equal(t, map[string]string{"map": "gifting", "text": "gifting"}, made)
}

func TestAnEmptyValueOfAProgramReplacesTheCommonOne(t *testing.T) {
	t.Parallel()
	template := templates(render(t, `
podLabels: {mesh: "on"}
podAnnotations: {mesh/inject: "true"}
nodeSelector: {pool: all}
tolerations: [{key: all, operator: Exists}]
affinity: {podAntiAffinity: {}}
orders:
  podLabels: {mesh: ""}
  podAnnotations: {mesh/inject: ""}
  nodeSelector: {}
  tolerations: []
  affinity: {}
  topologySpread: {keys: []}`))["gifting-orders"]
	require.Empty(t, template.Labels["mesh"])
	require.Empty(t, template.Annotations["mesh/inject"])
	require.Empty(t, template.Spec.NodeSelector)
	require.Empty(t, template.Spec.Tolerations)
	require.Nil(t, template.Spec.Affinity)
	require.Empty(t, template.Spec.TopologySpreadConstraints)
}

func TestAnEnvironmentCanComeFromAWholeObject(t *testing.T) {
	t.Parallel()
	all := templates(render(t, `{
		"extraEnvFrom": [{"configMapRef": {"name": "all"}}], "orders": {"extraEnvFrom": [{"secretRef": {"name": "orders"}}]}
	}`))
	for owner, template := range all {
		from := template.Spec.Containers[0].EnvFrom
		require.Equal(t, "all", from[0].ConfigMapRef.Name, owner)
		require.Equal(t, strings.HasSuffix(owner, "-orders"), len(from) == 2, owner)
	}
}

// longestRelease is how long helm lets the name of a release be.
const longestRelease = 53

func TestNamesBeginWithALetterWhateverTheReleaseIsCalled(t *testing.T) {
	t.Parallel()
	for release, want := range map[string]string{
		"gifting": "gifting", "prod": "prod-gifting", "eu.prod": "eu-prod-gifting",
		"2026": "gifting-2026", "2gifting": "gifting-2gifting",
		strings.Repeat("9", longestRelease): "gifting-99999999",
		strings.Repeat("a", longestRelease): "aaaaaaaa",
		strings.Repeat("a-", 26) + "a":      "a-a-a-a-",
	} {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			objects, err := chart.RenderAs(dir, release, changedValues(t, `{"monitoring": {"rules": {"enabled": true}}}`))
			require.NoError(t, err)
			problems := chart.Check(objects)
			require.Empty(t, problems, strings.Join(problems, "\n"))
			for _, object := range objects {
				require.True(t, strings.HasPrefix(object.GetName(), want), object.GetName())
			}
		})
	}
}

// ports returns the numbers of the ports to which a network policy lets pods out.
func ports(objects chart.Objects, name string) []int {
	var open []int
	for _, object := range objects {
		policy, ok := object.(*networking.NetworkPolicy)
		if !ok || policy.Name != name {
			continue
		}
		for _, rule := range policy.Spec.Egress {
			for _, port := range rule.Ports {
				if port.Port != nil {
					open = append(open, port.Port.IntValue())
				}
			}
		}
	}
	return open
}

func TestAnAttemptToDeliverAWebhookMayEnd(t *testing.T) {
	t.Parallel()
	pods := templates(render(t, `termination: {lameDuckSeconds: 0, drainSeconds: 1}`))
	require.EqualValues(t, 16, *pods["gifting-orders"].Spec.TerminationGracePeriodSeconds)
	require.EqualValues(t, 25, *pods["gifting-webhook"].Spec.TerminationGracePeriodSeconds, "the timeout is 10 s by default")
}
