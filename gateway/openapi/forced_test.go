package openapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/apikey"
)

func TestAnswersAreForcedOnEveryPathOfTheSandboxThatNeedsAKey(t *testing.T) {
	t.Parallel()
	for environment, want := range map[apikey.Environment]int{apikey.Sandbox: 1, apikey.Production: 0} {
		d := loadOf(t, environment)
		for path, item := range d.object(d.root["paths"]) {
			parameters, _ := d.object(item)["parameters"].([]any)
			if path == imagesPath {
				require.Empty(t, parameters)
				continue
			}
			require.Len(t, parameters, want, path)
			if want > 0 {
				require.Equal(t, "Sandbox-Fault", d.object(parameters[0])["name"])
			}
		}
	}
}
