package production

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAUnitWithAMistakeIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a mistyped directive":             "[Service]\nProtectSytem=strict\n",
		"a directive in the wrong section": "[Unit]\nRestart=always\n",
		"a directive before any section":   "Restart=always\n",
		"a line that is none":              "[Service]\nRestart always\n",
		"a section that does not exist":    "[Services]\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseUnit(text)
			require.Error(t, err)
		})
	}
	unit, err := parseUnit("# why\n[Service]\nEnvironment=A=1\nEnvironment=B=2\n")
	require.NoError(t, err)
	require.Equal(t, []string{"A=1", "B=2"}, unit.Service["Environment"])
}
