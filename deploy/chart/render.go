//go:build manifests

package chart

import (
	"errors"
	"fmt"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
)

// KubeVersion is the oldest Kubernetes that the chart is rendered and linted for.
const kubeVersion = "v1.30.0"

const (
	releaseName = "gifting"
	namespace   = "gifting"
)

// Render renders the chart in the folder with the values, which its schema has to admit, and decodes every object.
func Render(dir string, values map[string]any) (Objects, error) {
	loaded, err := loader.LoadDir(dir)
	if err != nil {
		return nil, err
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = chartutil.KubeVersion{Version: kubeVersion, Major: "1", Minor: "30"}
	release := chartutil.ReleaseOptions{Name: releaseName, Namespace: namespace, Revision: 1, IsInstall: true}
	complete, err := chartutil.ToRenderValues(loaded, values, release, capabilities)
	if err != nil {
		return nil, err
	}
	// Strict: a value that does not exist is a fault and not an empty text.
	files, err := engine.Engine{Strict: true}.Render(loaded, complete)
	if err != nil {
		return nil, err
	}
	var all Objects
	for file, text := range files {
		if strings.HasSuffix(file, ".txt") {
			continue
		}
		objects, err := decode(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, objects...)
	}
	return all, nil
}

// Lint runs Helm's own linter. What it only informs of is left out.
func Lint(dir string, values map[string]any) error {
	var faults []error
	version := &chartutil.KubeVersion{Version: kubeVersion, Major: "1", Minor: "30"}
	linter := lint.AllWithKubeVersion(dir, values, namespace, version)
	for _, message := range linter.Messages {
		if message.Severity > support.InfoSev {
			faults = append(faults, message)
		}
	}
	return errors.Join(faults...)
}
