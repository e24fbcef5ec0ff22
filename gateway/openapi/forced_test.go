package openapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/apikey"
)

func TestAnswersAreForcedOnEveryOperationOfTheSandboxThatNeedsAKey(t *testing.T) {
	t.Parallel()
	values := []string{"429", "500", "503", "timeout", "lost"}
	for environment, has := range map[apikey.Environment]bool{apikey.Sandbox: true, apikey.Production: false} {
		d := loadOf(t, environment)
		d.each("paths", func(path, method string, op object) {
			var found []string
			needsKey := false
			parameters, _ := op["parameters"].([]any)
			for _, p := range parameters {
				switch parameter := d.object(p); parameter["name"] {
				case "Sandbox-Fault":
					found = texts(d.object(parameter["schema"])["enum"])
				case "Idempotency-Key":
					needsKey = parameter["required"] == true
				}
			}
			var want []string
			if has && path != imagesPath {
				want = values
			}
			if want != nil && needsKey {
				want = append(want[:len(want):len(want)], "in-progress")
			}
			require.Equal(t, want, found, "%s %s", method, path)
		})
	}
}
