package locate_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/gateway/internal/locate"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// cells are the services of some cells. The outcome of a call in a cell is what its function returns; without one, the cell does
// not know the record.
type cells struct {
	grpc.ClientConnInterface

	letters  []string
	outcomes outcomes
	called   []string
	lists    int
}

func (c *cells) Invoke(ctx context.Context, _ string, _, _ any, _ ...grpc.CallOption) error {
	c.called = append(c.called, caller.CellOf(ctx))
	if outcome := c.outcomes[caller.CellOf(ctx)]; outcome != nil {
		return outcome()
	}
	return problem.RecordNotFound()
}

func (c *cells) list(context.Context) []string {
	c.lists++
	return slices.Clone(c.letters)
}

// outcomes of calls, by the letter of the cell.
type outcomes = map[string]func() error

func found() error { return nil }

func unavailable() error { return problem.Unavailable() }

func (c *cells) claim(ctx context.Context, token string) error {
	conn := &locate.Conn{ClientConnInterface: c, Letters: c.list, Hold: 3 * time.Second}
	_, err := linksv1.NewGiftSiteServiceClient(conn).ClaimLink(ctx, &linksv1.ClaimLinkRequest{Token: token})
	return err
}

func TestTheCellOfATokenIsAskedFirst(t *testing.T) {
	t.Parallel()
	refusal := problem.New(problem.OutOfStock, "x")
	refuse := func() error { return refusal }
	for name, tc := range map[string]struct {
		token    string
		outcomes outcomes
		want     error
		called   []string
		lists    int
	}{
		"made in the first cell":          {"atoken", outcomes{"a": found}, nil, []string{"a"}, 0},
		"made in another cell":            {"btoken", outcomes{"b": found}, nil, []string{"b"}, 1},
		"its tenant has moved":            {"btoken", outcomes{"c": found}, nil, []string{"b", "a", "c"}, 2},
		"its tenant has moved from a":     {"atoken", outcomes{"b": found}, nil, []string{"a", "b"}, 1},
		"of a cell that does not exist":   {"ztoken", outcomes{"a": found}, nil, []string{"a"}, 1},
		"without a letter":                {"Qtoken", outcomes{"a": found}, nil, []string{"a"}, 0},
		"unknown everywhere":              {"btoken", nil, problem.RecordNotFound(), []string{"b", "a", "c"}, 2},
		"refused":                         {"btoken", outcomes{"b": refuse}, refusal, []string{"b"}, 1},
		"refused by the cell that has it": {"atoken", outcomes{"b": refuse}, refusal, []string{"a", "b"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &cells{letters: []string{"a", "b", "c"}, outcomes: tc.outcomes}
			require.Equal(t, tc.want, c.claim(t.Context(), tc.token))
			require.Equal(t, tc.called, c.called)
			require.Equal(t, tc.lists, c.lists)
		})
	}
}

func TestWithOneCellThereIsOneCallAndNoWait(t *testing.T) {
	t.Parallel()
	for _, outcome := range []error{problem.RecordNotFound(), problem.Unavailable(), errors.New("other")} {
		synctest.Test(t, func(t *testing.T) {
			c := &cells{letters: []string{"a"}, outcomes: outcomes{"a": func() error { return outcome }}}
			began := time.Now()
			require.Equal(t, outcome, c.claim(t.Context(), "btoken"))
			require.Equal(t, []string{"a"}, c.called)
			require.Zero(t, time.Since(began))
		})
	}
}

// During a move the old cell refuses changes before the new cell has the tenant.
func TestAClaimDuringAMoveIsHeldUntilTheNewCellHasTheTenant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		moved := func() error {
			if time.Since(began) < 2*time.Second {
				return problem.RecordNotFound()
			}
			return nil
		}
		c := &cells{letters: []string{"a", "b"}, outcomes: outcomes{"a": unavailable, "b": moved}}
		require.NoError(t, c.claim(t.Context(), "atoken"))
		require.Equal(t, 2*time.Second, time.Since(began))
		require.Len(t, c.called, 22, "both cells, every 200 ms")
	})
}

func TestAClaimGoesOnInTheOldCellIfTheMoveWasGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		c := &cells{letters: []string{"a", "b"}, outcomes: outcomes{"a": func() error {
			if calls++; calls == 1 {
				return problem.Unavailable()
			}
			return nil
		}}}
		require.NoError(t, c.claim(t.Context(), "atoken"))
		require.Equal(t, []string{"a", "b", "a"}, c.called)
	})
}

func TestTheSearchEndsAfterThreeSeconds(t *testing.T) {
	t.Parallel()
	for name, outcomes := range map[string]outcomes{
		"the old cell refuses changes": {"a": unavailable},
		"a cell does not answer":       {"b": unavailable},
		"no cell answers":              {"a": unavailable, "b": unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := &cells{letters: []string{"a", "b"}, outcomes: outcomes}
				began := time.Now()
				require.True(t, problem.Is(c.claim(t.Context(), "atoken"), problem.ServiceUnavailable))
				require.Equal(t, 3*time.Second, time.Since(began))
			})
		})
	}
}

func TestTheSearchEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		c := &cells{letters: []string{"a", "b"}, outcomes: outcomes{"a": unavailable}}
		began := time.Now()
		require.Error(t, c.claim(ctx, "atoken"))
		require.Equal(t, time.Second, time.Since(began))
	})
}

func TestAnImageIsInTheFirstCellOrInAnother(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		outcomes outcomes
		want     error
		called   []string
	}{
		"the first one": {outcomes{"a": found}, nil, []string{"a"}},
		"another one":   {outcomes{"c": found}, nil, []string{"a", "b", "c"}},
		"none":          {nil, problem.RecordNotFound(), []string{"a", "b", "c"}},
		"one that does not answer, and no wait": {
			outcomes{"b": unavailable}, problem.Unavailable(), []string{"a", "b", "c"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &cells{letters: []string{"a", "b", "c"}, outcomes: tc.outcomes}
			images := catalogv1.NewImagesServiceClient(&locate.Conn{ClientConnInterface: c, Letters: c.list})
			_, err := images.GetImage(t.Context(), &catalogv1.GetImageRequest{FileId: "bimage"})
			require.Equal(t, tc.want, err)
			require.Equal(t, tc.called, c.called)
		})
	}
}
