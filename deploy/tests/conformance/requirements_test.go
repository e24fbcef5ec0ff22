package conformance_test

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
)

//go:embed requirements.txt
var requirementsText string

var requirements = newChecklist(requirementsText)

// requirement checks a requirement in a subtest. It counts as shown if the check, with all its subtests, passes and skips
// nothing.
func requirement(t *testing.T, id string, check func(t *testing.T)) {
	t.Helper()
	requirements.check(t, id, check)
}

// leaveOut skips a check that cannot be made on a remote platform. Nothing else in this package may skip.
func leaveOut(t *testing.T, p *platform, why string) {
	t.Helper()
	require.True(t, p.Remote(), "a platform of this process must show everything: %s", why)
	requirements.skipped.Store(t.Name(), why)
	t.Skip(why) // This happens only on a remote platform; the run prints at its end what was not checked.
}

// entry is a requirement of requirements.txt.
type entry struct {
	id, words string
	// coveredBy lists other requirements that together cover this one.
	coveredBy []string
	// tests lists tests of other packages that show the requirement: the folder and the function.
	tests [][2]string
	// begun and passed count the checks of this run.
	begun, passed int
}

type checklist struct {
	entries []*entry
	byID    map[string]*entry
	// skipped has the names of the tests that were left out.
	skipped sync.Map
	lock    sync.Mutex
}

func newChecklist(text string) *checklist {
	c := &checklist{byID: map[string]*entry{}}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "#":
		case !strings.HasPrefix(line, " "):
			e := &entry{id: words[0], words: strings.Join(words[1:], " ")}
			if c.byID[e.id] != nil {
				panic("requirements.txt has two requirements " + e.id)
			}
			c.entries, c.byID[e.id] = append(c.entries, e), e
		case words[0] == "as":
			last := c.entries[len(c.entries)-1]
			last.coveredBy = append(last.coveredBy, words[1:]...)
		case words[0] == "in" && len(words) == 3:
			last := c.entries[len(c.entries)-1]
			last.tests = append(last.tests, [2]string{words[1], words[2]})
		default:
			panic("requirements.txt: " + line)
		}
	}
	return c
}

func (c *checklist) check(t *testing.T, id string, check func(t *testing.T)) {
	t.Helper()
	e := c.byID[id]
	require.NotNil(t, e, "requirements.txt has no %s", id)
	c.count(&e.begun)
	t.Run(id+" "+e.words, func(t *testing.T) {
		t.Cleanup(func() {
			if !t.Failed() && !t.Skipped() && !c.skippedBelow(t.Name()) {
				c.count(&e.passed)
			}
		})
		check(t)
	})
}

func (c *checklist) count(n *int) {
	c.lock.Lock()
	defer c.lock.Unlock()
	*n++
}

func (c *checklist) skippedBelow(name string) (found bool) {
	c.skipped.Range(func(skipped, _ any) bool {
		found = found || strings.HasPrefix(skipped.(string), name+"/")
		return !found
	})
	return found
}

// missing are the requirements that this run has not shown. Tests of other packages show nothing of a remote platform.
func (c *checklist) missing(remote bool) []*entry {
	return slices.DeleteFunc(slices.Clone(c.entries), func(e *entry) bool { return c.shown(e, remote) })
}

func (c *checklist) shown(e *entry, remote bool) bool {
	switch {
	case e.begun > 0:
		return e.passed == e.begun
	case len(e.tests) > 0:
		return !remote
	default:
		return len(e.coveredBy) > 0 && !slices.ContainsFunc(e.coveredBy, func(id string) bool { return !c.shown(c.byID[id], remote) })
	}
}

// finish fails a run that has not shown a requirement. For a remote platform it prints these requirements and the skipped
// checks instead.
func (c *checklist) finish(t *testing.T, remote bool) {
	t.Helper()
	if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return // Only some sections were run.
	}
	for _, e := range c.missing(remote) {
		if remote {
			fmt.Println("NOT CHECKED:", e.id, e.words) // go test does not print the log of a test that passes.
		} else {
			t.Errorf("%s needs a call of requirement that passes, in a section of TestPlatform: %s", e.id, e.words)
		}
	}
	c.skipped.Range(func(name, why any) bool {
		fmt.Printf("NOT RUN: %s: %s\n", name, why)
		return true
	})
}

func TestARequirementWithoutAPassingCheckIsMissing(t *testing.T) {
	t.Parallel()
	c := newChecklist(`# section
X-1 passes
X-2 has no check
X-3 skips
X-4 has a subtest that skips
X-5 says two
    as X-1 X-2
X-6 says one
    as X-1
X-7 is shown elsewhere
    in pkg/page TestLimits
X-8 passes once and skips once
`)
	skip := func(t *testing.T) {
		c.skipped.Store(t.Name(), "")
		t.Skip("as tested") // The test shows that a skipped check does not count.
	}
	pass := func(*testing.T) {}
	c.check(t, "X-1", pass)
	c.check(t, "X-3", skip)
	c.check(t, "X-4", func(t *testing.T) { t.Run("below", skip) })
	c.check(t, "X-8", pass)
	c.check(t, "X-8", skip)
	missing := func(remote bool) (ids []string) {
		for _, e := range c.missing(remote) {
			ids = append(ids, e.id)
		}
		return ids
	}
	require.Equal(t, []string{"X-2", "X-3", "X-4", "X-5", "X-8"}, missing(false))
	require.Equal(t, []string{"X-2", "X-3", "X-4", "X-5", "X-7", "X-8"}, missing(true))
}

var (
	skips    = regexp.MustCompile(`\.Skip(f|Now)?\(`)
	tagged   = regexp.MustCompile(`(?m)^//go:build `)
	function = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
)

// A test that skips or has a build tag shows nothing.
func TestTheListedTestsOfOtherPackagesExist(t *testing.T) {
	t.Parallel()
	found := map[string][]string{}
	for _, e := range requirements.entries {
		for _, test := range e.tests {
			folder, name := test[0], test[1]
			if _, ok := found[folder]; !ok {
				found[folder] = testsIn(t, "../../../"+folder)
			}
			if !slices.Contains(found[folder], name) {
				t.Errorf("%s: %s has no test %s", e.id, folder, name)
			}
		}
		for _, id := range e.coveredBy {
			require.NotNil(t, requirements.byID[id], "%s: as %s", e.id, id)
		}
	}
}

func TestOnlyLeaveOutSkips(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, path := range paths {
		if content, err := os.ReadFile(path); path != "requirements_test.go" {
			require.NoError(t, err)
			require.NotRegexp(t, skips, string(content), path)
		}
	}
}

func testsIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(folder + "/*_test.go")
	require.NoError(t, err)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		if tagged.Match(content) {
			continue
		}
		require.NotRegexp(t, skips, string(content), path)
		for _, match := range function.FindAllSubmatch(content, -1) {
			names = append(names, string(match[1]))
		}
	}
	return names
}

type (
	platform = harness.Platform
	call     = harness.Call
	answer   = harness.Answer
	event    = harness.Event
)

// TestPlatform checks every requirement of requirements.txt, by section. Each section makes its own tenants.
func TestPlatform(t *testing.T) {
	t.Parallel()
	p := harness.Open(t)
	t.Cleanup(func() { requirements.finish(t, p.Remote()) })
	t.Run("products", func(t *testing.T) { testProductLists(t, p) }) // It runs alone, because all tenants share one catalog.
	for name, section := range map[string]func(t *testing.T, p *platform){
		"general": testGeneral, "tenant": testTenants, "key": testKeys, "brand": testBrands, "product": testProducts,
		"images":   testImages,
		"campaign": testCampaigns, "campaign states": testCampaignStates, "order": testOrders, "order states": testOrderStates,
		"placing": testPlacing, "orders": testOrderLists, "correcting": testCorrecting, "cancelling": testCancelling,
		"messages": testMessages, "link": testLinks, "link states": testLinkStates, "batch": testBatches, "links": testLinkLists,
		"conventions": testConventions, "scopes": testScopes, "authentication": testAuthentication, "events": testEvents,
		"delivery": testDelivery, "feed": testFeed, "webhook test": testWebhookTests, "own deliveries": testOwnDeliveries,
		"own rotation": testOwnRotation, "problems": testProblems, "codes": testCodes,
		"limits": testLimits, "versions": testVersions, "choices": testChoices, "stock": testStock, "idempotency": testIdempotency,
		"order of checks": testOrderOfChecks, "invalid input": testInvalidInput,
		"sandbox orders": testSandboxOrders,
		"changes":        testChanges,
		"forced answers": testForcedAnswers,
		"sandbox links":  testSandboxLinks, "sandbox catalog": testSandboxCatalog,
		"console":           testConsole,
		"conditional reads": testConditionalReads, "dry run": testDryRun, "ignored": testIgnored, "waiting feed": testWait,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			section(t, p)
		})
	}
}
