package e2e_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/e2e/conformance"
)

// leaveOut skips a test of what a platform elsewhere does not show. No other function of this package skips, so that
// nothing is left out untold; with a stack of this process nothing is left out at all.
func (p *platform) leaveOut(t *testing.T, why string) {
	t.Helper()
	require.NotEmpty(t, os.Getenv("GIFTING_URL"), "a stack of this process shows everything: %s", why)
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.left == nil {
		p.left = map[string]string{}
	}
	p.left[t.Name()] = why
	t.Skip(why) // It is told at the end of the run, and the promises with it.
}

// tellUnchecked ends a run with what it has not checked. It writes to the output itself: the log of a test that passes is
// not shown.
func (p *platform) tellUnchecked(t *testing.T) {
	t.Helper()
	sections, err := conformance.List()
	require.NoError(t, err)
	shown, err := conformance.Check("../..", sections)
	require.NoError(t, err)
	for _, promise := range conformance.Unchecked(sections, shown, slices.Collect(maps.Keys(p.left))) {
		fmt.Println("NOT CHECKED:", promise.ID, promise.Words)
	}
	for _, name := range slices.Sorted(maps.Keys(p.left)) {
		fmt.Printf("NOT RUN: %s: %s\n", name, p.left[name])
	}
}
