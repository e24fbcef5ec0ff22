package conformance_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/e2e/conformance"
)

// root of the repository, from this package.
const root = "../../.."

func TestEveryPromiseHasATestAndEveryTestAPromise(t *testing.T) {
	sections, err := conformance.List()
	require.NoError(t, err)
	shown, err := conformance.Check(root, sections)
	require.NoError(t, err)

	var written bytes.Buffer
	require.NoError(t, conformance.Document(&written, sections, shown))
	committed, err := os.ReadFile("../conformance.md")
	require.NoError(t, err)
	require.Equal(t, string(committed), written.String(), "run `make promises`")
}
