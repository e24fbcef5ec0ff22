package settings_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/settings"
)

func TestAFieldDescribesItsValues(t *testing.T) {
	t.Parallel()
	fields, err := settings.Fields(&settingsWithRules{})
	require.NoError(t, err)
	described := map[string]string{}
	for _, f := range fields {
		text, err := json.Marshal(f.Schema())
		require.NoError(t, err)
		described[f.Variable] = string(text)
	}
	for name, want := range map[string]string{
		"LISTEN": `{"type": "listen"}`,
		"PEERS":  `{"type": "hostports"}`,
		"URL":    `{"type": "url", "words": ["postgres", "postgresql"]}`,
		"WAIT":   `{"type": "duration", "min": 1, "max": 3600}`,
		"COUNT":  `{"type": "number", "min": 1, "max": 2147483647}`,
		"WORD":   `{"type": "oneof", "words": ["production", "sandbox"]}`,
		"FLAG":   `{"type": "bool"}`,
		"LEVEL":  `{"type": "level"}`,
		"ZONE":   `{"type": "zone"}`,
	} {
		require.JSONEq(t, want, described["GIFTING_"+name], name)
	}
}
