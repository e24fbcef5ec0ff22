// Package problemtest has what tests of refused calls share.
package problemtest

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/problem"
)

// AtOnce makes n calls at the same time, and returns how many succeed. The others must be refused with one of the codes.
func AtOnce(t testing.TB, n int, call func(i int) error, refusals ...problem.Code) int {
	t.Helper()
	var succeeded atomic.Int32
	var group errgroup.Group
	for i := range n {
		group.Go(func() error {
			err := call(i)
			if err == nil {
				succeeded.Add(1)
			}
			if slices.ContainsFunc(refusals, func(code problem.Code) bool { return problem.Is(err, code) }) {
				return nil
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	return int(succeeded.Load())
}
