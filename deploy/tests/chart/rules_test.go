//go:build manifests

package chart_test

import (
	"fmt"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/deploy/tests/chart"
)

func TestTheRulesKnowTheirEnvironmentEvenIfNothingOfItRuns(t *testing.T) {
	t.Parallel()
	objects, err := chart.Render(dir, read(t, "production"))
	require.NoError(t, err)
	var found []monitoring.Rule
	for _, object := range objects {
		if rules, ok := object.(*monitoring.PrometheusRule); ok {
			for _, group := range rules.Spec.Groups {
				for _, rule := range group.Rules {
					if rule.Record == "gifting:environment:programs" {
						found = append(found, rule)
					}
				}
			}
		}
	}
	require.Len(t, found, 1)
	require.Equal(t, fmt.Sprintf("vector(%d)", len(programs.All())), found[0].Expr.String())
	require.Equal(t, map[string]string{"namespace": chart.Release}, found[0].Labels)
}
