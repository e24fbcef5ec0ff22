package conformance

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// suiteSource is a suite with subtests under every kind of name that is found.
const suiteSource = `package e2e_test

func TestPlatform(t *testing.T) {
	p := start(t)
	t.Run("conformance", p.testConformance)
}

func (p *platform) testConformance(t *testing.T) {
	t.Run("order", p.promisesOfOrders)
}

func (p *platform) promisesOfOrders(t *testing.T) {
	t.Run("a name in the call", func(t *testing.T) {})
	for name := range map[string]int{"a key of a table": 1} {
		t.Run(name, func(t *testing.T) {})
	}
	for _, c := range []struct{ code, promise string }{{"x", "a member of a table"}, {promise: "a named member"}} {
		t.Run(c.promise, func(t *testing.T) {})
	}
	p.holds(t, "an argument")
	for _, kind := range []string{"text", "tick"} {
		t.Run("a "+kind+" within a name", func(t *testing.T) {})
	}
}

func (p *platform) holds(t *testing.T, promise string) {
	t.Run(promise, func(t *testing.T) { t.Run("below", nil) })
}
`

const suiteList = `# order | Order
o-1 a name in the call
o-2 a key of a table
o-3 a member of a table
o-4 a named member
o-5 an argument
    deploy/e2e TestPlatform > conformance > order > an argument > below
o-6 a text within a name
o-7 a tick within a name
o-8 something said twice
    as o-1
`

// repository gives the root of one that has this suite.
func repository(t *testing.T, suite string) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, filepath.FromSlash(suitePackage))
	require.NoError(t, os.MkdirAll(dir, 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "suite_test.go"), []byte(suite), 0o600))
	return root
}

func TestSubtestsAreFoundByTheirNames(t *testing.T) {
	sections, err := parse(suiteList)
	require.NoError(t, err)
	shown, err := Check(repository(t, suiteSource), sections)
	require.NoError(t, err)
	require.Len(t, shown["o-5"], 2)
	require.Equal(t, shown["o-1"], shown["o-8"])
}

func TestWhatDoesNotFitIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		list string
		want error
	}{
		"a promise without a test":    {suiteList + "o-9 nobody looks\n", ErrUntested},
		"a test that is not there":    {suiteList + "    deploy/e2e TestGone\n", ErrMissing},
		"a subtest that is not there": {suiteList + "    deploy/e2e TestPlatform > gone\n", ErrMissing},
		"a promise that is none":      {suiteList + "    as o-99\n", ErrUnknown},
		"a test without a promise":    {"# order | Order\no-1 a name in the call\n", ErrUnlisted},
	} {
		t.Run(name, func(t *testing.T) {
			sections, err := parse(c.list)
			require.NoError(t, err)
			_, err = Check(repository(t, suiteSource), sections)
			require.ErrorIs(t, err, c.want)
		})
	}
	t.Run("a section of tests that the list does not have", func(t *testing.T) {
		sections, err := parse("# link | Link\nl-1 x\n    deploy/e2e TestPlatform\n")
		require.NoError(t, err)
		_, err = Check(repository(t, suiteSource), sections)
		require.ErrorIs(t, err, ErrUnlisted)
	})
	for _, list := range []string{"o-1 before any section\n", "# no title\n", "# order | Order\nword\n", "# order | Order\n    as o-1\n"} {
		_, err := parse(list)
		require.ErrorIs(t, err, errLine, list)
	}
	_, err := parse("# order | Order\no-1 x\no-1 y\n")
	require.ErrorIs(t, err, errTwice)
}
