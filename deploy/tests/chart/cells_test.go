//go:build manifests

package chart_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	networking "k8s.io/api/networking/v1"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/deploy/tests/chart"
)

// reaches returns the programs whose policies let the pods of a namespace call, and those whose policies let them call these pods.
func reaches(objects chart.Objects, namespace string) (in, out []string) {
	has := func(peers []networking.NetworkPolicyPeer) bool {
		return slices.ContainsFunc(peers, func(p networking.NetworkPolicyPeer) bool {
			return p.NamespaceSelector != nil && p.NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"] == namespace
		})
	}
	for _, object := range objects {
		policy, ok := object.(*networking.NetworkPolicy)
		if !ok {
			continue
		}
		name := policy.Labels["app.kubernetes.io/component"]
		for _, rule := range policy.Spec.Ingress {
			if has(rule.From) && rule.Ports[0].Port.StrVal == "grpc" {
				in = append(in, name)
			}
		}
		for _, rule := range policy.Spec.Egress {
			if has(rule.To) && rule.Ports[0].Port.IntVal == 9000 {
				out = append(out, name)
			}
		}
	}
	return in, out
}

func TestAFurtherCellHasTheServicesThatEveryCellHas(t *testing.T) {
	t.Parallel()
	var services, deployed []string
	for _, p := range programs.All() {
		if p.Name.InCells() {
			services = append(services, string(p.Name))
		}
	}
	objects := readExample(t, "second-cell").render(t)
	for _, object := range objects {
		if d, ok := object.(*apps.Deployment); ok {
			deployed = append(deployed, d.Labels["app.kubernetes.io/component"])
		}
	}
	require.ElementsMatch(t, services, deployed)
	for _, environment := range chart.Environments(objects) {
		set := values(environment)
		require.Equal(t, "b", set["GIFTING_CELL"], environment.Owner)
		require.Equal(t, "gifting-tenants.gifting:9000", set["GIFTING_TENANTS_ADDR"], environment.Owner)
	}
	in, out := reaches(objects, "gifting")
	require.ElementsMatch(t, services, in, "the first cell calls them")
	require.ElementsMatch(t, services, out, "they call the tenants service")
}

func TestTheFirstCellCallsTheOthersAndLetsThemCallTenants(t *testing.T) {
	t.Parallel()
	objects := readExample(t, "first-cell").render(t)
	in, out := reaches(objects, "gifting-b")
	require.Equal(t, []string{"tenants"}, in)
	require.ElementsMatch(t, []string{"gateway", "tenants"}, out)
	for _, environment := range chart.Environments(objects) {
		require.NotContains(t, values(environment), "GIFTING_CELL", environment.Owner)
	}
	read, _ := references(objects)
	require.True(t, read["gifting-tenants/cell-databases"])
}
