package conformance

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The skips below stand in the text of suites that are made up, for Check to find. No test here skips.
func TestWhatIsHiddenOrSkippedShowsNothing(t *testing.T) {
	const ran = `t.Run("a name in the call", func(t *testing.T) {})`
	section := func(replaced, by string) string {
		require.Contains(t, suiteSource, replaced)
		return strings.Replace(suiteSource, replaced, by, 1)
	}
	const helpers = `
func (o *other) quiet(t *testing.T) { t.Log() }
func (p *platform) quiet(t *testing.T) { if p.elsewhere { t.Skipf("not here") } }
func (p *platform) leaveOut(t *testing.T) { t.Skip() }
`
	for name, c := range map[string]struct {
		suite string
		want  error
	}{
		"a build tag":              {"//go:build faults\n\n" + suiteSource, ErrMissing},
		"a skip":                   {section(ran, `t.Run("a name in the call", func(t *testing.T) { t.SkipNow() })`), ErrSkips},
		"a skip of what it is in":  {section(ran, "t.Skip()\n"+ran), ErrSkips},
		"a skip of a part":         {section(ran, `t.Run("a name in the call", func(t *testing.T) { t.Run(x(), func(t *testing.T) { t.Skip() }) })`), ErrSkips},
		"a skip in a helper":       {section(ran, `t.Run("a name in the call", func(t *testing.T) { p.quiet(t) })`) + helpers, ErrSkips},
		"a helper as the test":     {section(ran, `t.Run("a name in the call", p.quiet)`) + helpers, ErrSkips},
		"a skip that is told":      {section(ran, `t.Run("a name in the call", func(t *testing.T) { p.leaveOut(t) })`) + helpers, nil},
		"a section behind a skip":  {section(`t.Run("conformance", p.testConformance)`, `p.quiet(t); t.Run("conformance", p.testConformance)`) + helpers, ErrSkips},
		"a section that is left":   {section(`t.Run("order", p.promisesOfOrders)`, `p.leaveOut(t); t.Run("order", p.promisesOfOrders)`) + helpers, nil},
		"a skip nobody gets to":    {suiteSource + helpers, nil},
		"a skip of the whole test": {section("p := start(t)", "p := start(t); t.Skip()"), ErrSkips},
	} {
		t.Run(name, func(t *testing.T) {
			sections, err := parse(suiteList)
			require.NoError(t, err)
			root := repository(t, c.suite)
			if errors.Is(c.want, ErrMissing) {
				// Its package has a test that is there.
				plain := filepath.Join(root, filepath.FromSlash(suitePackage), "plain_test.go")
				require.NoError(t, os.WriteFile(plain, []byte("package e2e_test\n\nfunc TestPlatform(t *testing.T) {}\n"), 0o600))
			}
			_, err = Check(root, sections)
			require.ErrorIs(t, err, c.want)
		})
	}
}

func TestASkipTakesNothingFromTheTestsBeside(t *testing.T) {
	sections, err := parse(suiteList)
	require.NoError(t, err)
	suite := strings.Replace(suiteSource, `t.Run("below", nil)`, `t.Run("below", func(t *testing.T) { t.Skip() })`, 1)
	_, err = Check(repository(t, suite), sections)
	require.ErrorIs(t, err, ErrSkips)
	require.ErrorContains(t, err, "o-5: ")
	require.NotContains(t, err.Error(), "o-1: ")
}

func TestWhatNoTestOfTheSuiteShowsIsUnchecked(t *testing.T) {
	root := repository(t, suiteSource)
	dir := filepath.Join(root, "pkg", "alone")
	require.NoError(t, os.MkdirAll(dir, 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "alone_test.go"), []byte("package alone\n\nfunc TestAlone(t *testing.T) {}\n"), 0o600))
	sections, err := parse(suiteList + "o-9 shown by its package alone\n    pkg/alone TestAlone\n")
	require.NoError(t, err)
	shown, err := Check(root, sections)
	require.NoError(t, err)
	unchecked := Unchecked(sections, shown, nil)
	require.Len(t, unchecked, 1)
	require.Equal(t, "o-9", unchecked[0].ID)
}

func TestWhatARunLeftOutIsUnchecked(t *testing.T) {
	sections, err := parse(suiteList)
	require.NoError(t, err)
	shown, err := Check(repository(t, suiteSource), sections)
	require.NoError(t, err)
	for left, want := range map[string][]string{
		"TestPlatform/conformance/order/an_argument/below":  {"o-5"},
		"TestPlatform/conformance/order/a_name_in_the_call": {"o-1", "o-8"},
		"TestPlatform/conformance/order":                    {"o-1", "o-2", "o-3", "o-4", "o-5", "o-6", "o-7", "o-8"},
		"TestPlatform/conformance/order/a_name_in":          nil,
		"TestPlatform/something_that_is_no_promise":         nil,
	} {
		var got []string
		for _, promise := range Unchecked(sections, shown, []string{left}) {
			got = append(got, promise.ID)
		}
		require.Equal(t, want, got, left)
	}
}
