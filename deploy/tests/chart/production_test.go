//go:build manifests

package chart_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"

	"github.com/partnergifting/platform/deploy/bootstrap"
	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/deploy/tests/chart"
)

// TestTheValuesOfProductionReadTheSecretsThatBootstrapMakes compares the page deploy/production with the chart.
func TestTheValuesOfProductionReadTheSecretsThatBootstrapMakes(t *testing.T) {
	t.Parallel()
	values, err := chartutil.ReadValuesFile("../../production/values.yaml")
	require.NoError(t, err)
	require.NoError(t, chart.Lint(dir, values))
	requireNoProblems(t, values)
	objects, err := chart.Render(dir, values)
	require.NoError(t, err)
	read, mounted := references(objects)
	// The page makes these two apart: with the credentials of the bucket, and from the certificates.
	for _, key := range []string{"access-key-id", "secret-access-key"} {
		require.True(t, read["gifting-storage/"+key])
		delete(read, "gifting-storage/"+key)
	}
	var certificates []string
	for _, p := range programs.All() {
		certificates = append(certificates, "gifting-"+string(p.Name)+"-tls")
	}
	require.Subset(t, slices.Collect(maps.Keys(mounted)), certificates)
	secrets := t.TempDir()
	made, err := bootstrap.WriteSecrets(secrets, bootstrap.Stores{Postgres: "db:5432", Redis: "rediss://redis:6379"})
	require.NoError(t, err)
	for i, path := range made {
		made[i], err = filepath.Rel(secrets, path)
		require.NoError(t, err)
	}
	require.ElementsMatch(t, made, slices.Collect(maps.Keys(read)))
}

// references returns name/key of the Secrets of variables, and the names of those in volumes.
func references(objects chart.Objects) (read, mounted map[string]bool) {
	read, mounted = map[string]bool{}, map[string]bool{}
	for _, object := range objects {
		switch o := object.(type) {
		case *apps.Deployment:
			collectReferences(o.Spec.Template.Spec, read, mounted)
		case *batch.Job:
			collectReferences(o.Spec.Template.Spec, read, mounted)
		}
	}
	return read, mounted
}

func collectReferences(pod core.PodSpec, read, mounted map[string]bool) {
	for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
		for _, variable := range container.Env {
			if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil {
				read[variable.ValueFrom.SecretKeyRef.Name+"/"+variable.ValueFrom.SecretKeyRef.Key] = true
			}
		}
	}
	for _, volume := range pod.Volumes {
		if volume.Secret != nil {
			mounted[volume.Secret.SecretName] = true
		}
		if volume.Projected != nil {
			for _, source := range volume.Projected.Sources {
				if source.Secret != nil && strings.HasSuffix(source.Secret.Name, "-tls") {
					mounted[source.Secret.Name] = true
				}
			}
		}
	}
}
