package server_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/page/pagetest"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// walk follows the cursors to the end and calls between after every page.
func (f *fixture) walk(
	t *testing.T, req *linksv1.ListPersonalLinksRequest, between func(page int),
) (items []*linksv1.PersonalLink) {
	t.Helper()
	req = proto.CloneOf(req)
	for page := 0; ; page++ {
		resp, err := f.list(req)
		require.NoError(t, err)
		require.LessOrEqual(t, len(resp.GetItems()), int(req.GetLimit()))
		items = append(items, resp.GetItems()...)
		if resp.NextCursor == nil {
			return items
		}
		require.Len(t, resp.GetItems(), int(req.GetLimit()), "only the last page is short")
		req.After = resp.NextCursor
		between(page)
	}
}

func idsOf(items []*linksv1.PersonalLink) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = item.GetId()
	}
	return out
}

// many inserts n links, five for each instant, so that pages end between links of equal time.
func (f *fixture) many(n int) []string {
	f.t.Helper()
	ids := make([]string, n)
	for i := range n {
		r := f.link(i / 5)
		ids[i] = r.id
		f.insert(r)
	}
	return ids
}

func TestPagesHaveNoGapAndNoDuplicate(t *testing.T) {
	t.Parallel()
	f := setup(t)
	oldestFirst := f.many(53)
	newestFirst := slices.Clone(oldestFirst)
	slices.Reverse(newestFirst)
	nothing := func(int) {}
	for _, limit := range []int32{3, 53} {
		newest := f.walk(t, &linksv1.ListPersonalLinksRequest{Limit: &limit}, nothing)
		require.Equal(t, newestFirst, idsOf(newest))
		changed := f.walk(t, &linksv1.ListPersonalLinksRequest{Limit: &limit, UpdatedSince: timestamppb.New(epoch)}, nothing)
		require.Equal(t, oldestFirst, idsOf(changed))
	}
}

func TestPagesHaveNoGapWhileLinksAreInserted(t *testing.T) {
	t.Parallel()
	f := setup(t)
	before := f.many(60)
	// The reader continues only after the writer has inserted something, and stops the writer at its end.
	ctx, stop := context.WithCancel(t.Context())
	wrote := make(chan struct{})
	var writer errgroup.Group
	writer.Go(func() error {
		for n := 100; ctx.Err() == nil; n++ {
			if err := f.tryInsert(context.WithoutCancel(t.Context()), f.link(n)); err != nil {
				return err
			}
			select {
			case wrote <- struct{}{}:
			case <-ctx.Done():
			}
		}
		return nil
	})
	t.Cleanup(func() {
		stop()
		require.NoError(t, writer.Wait())
	})
	meanwhile := func(int) { <-wrote }
	meanwhile(0)

	t.Run("newest first: existing links are listed once, new ones are not", func(t *testing.T) {
		items := f.walk(t, &linksv1.ListPersonalLinksRequest{Limit: new(int32(7))}, meanwhile)
		old := slices.DeleteFunc(idsOf(items), func(id string) bool { return !slices.Contains(before, id) })
		slices.Reverse(old)
		require.Equal(t, before, old)
		requireDistinct(t, items)
		require.True(t, slices.IsSortedFunc(items, func(x, y *linksv1.PersonalLink) int {
			return y.GetCreatedAt().AsTime().Compare(x.GetCreatedAt().AsTime())
		}))
	})
	t.Run("by last change: new links follow", func(t *testing.T) {
		req := &linksv1.ListPersonalLinksRequest{Limit: new(int32(7)), UpdatedSince: timestamppb.New(epoch)}
		resp := f.walk(t, req, func(page int) {
			if page < 5 {
				meanwhile(page)
			}
		})
		require.Equal(t, before, idsOf(resp)[:len(before)])
		require.Greater(t, len(resp), len(before), "links inserted while reading are listed")
		requireDistinct(t, resp)
	})
}

func requireDistinct(t *testing.T, items []*linksv1.PersonalLink) {
	t.Helper()
	seen := map[string]struct{}{}
	for _, item := range items {
		seen[item.GetId()] = struct{}{}
	}
	require.Len(t, seen, len(items))
}

func TestALinkThatChangesWhileReadingByChangeIsNotLost(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	ids := f.many(20)
	items := f.walk(t, &linksv1.ListPersonalLinksRequest{
		Limit: new(int32(4)), UpdatedSince: timestamppb.New(epoch),
	}, func(page int) {
		if page == 0 { // One that was already read and one that was not yet read move to the end.
			_, err := f.pool.Exec(t.Context(), `UPDATE links SET updated_at = $2 WHERE id = ANY($1)`,
				[]string{ids[0], ids[10]}, epoch.Add(time.Hour))
			require.NoError(t, err)
		}
	})
	got := idsOf(items)
	require.Len(t, got, 21, "the one already read is listed again, with its change")
	require.ElementsMatch(t, []string{ids[0], ids[10]}, got[19:])
	for _, id := range ids {
		require.Contains(t, got, id)
	}
}

func TestACursorBelongsToItsTenantFiltersAndOrder(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.many(5)
	first, err := f.list(&linksv1.ListPersonalLinksRequest{Limit: new(int32(2))})
	require.NoError(t, err)
	after := first.NextCursor
	require.NotNil(t, after)

	pagetest.RequireBound(t, &linksv1.ListPersonalLinksRequest{Limit: new(int32(2))},
		func(req *linksv1.ListPersonalLinksRequest) (string, error) {
			resp, err := f.list(req)
			return resp.GetNextCursor(), err
		}, nil)
	t.Run("another limit may follow", func(t *testing.T) {
		resp, err := f.list(&linksv1.ListPersonalLinksRequest{Limit: new(int32(100)), After: after})
		require.NoError(t, err)
		require.Len(t, resp.GetItems(), 3)
	})
	t.Run("not to an empty recipient", func(t *testing.T) {
		_, err := f.list(&linksv1.ListPersonalLinksRequest{ExternalRecipientId: new(""), After: after})
		requireViolations(t, err, "after invalid")
	})
	t.Run("not to another tenant", func(t *testing.T) {
		other := f.everyBrand()
		other.TenantID = newID()
		_, err := f.client.ListPersonalLinks(f.keyContext(other), &linksv1.ListPersonalLinksRequest{After: after})
		requireViolations(t, err, "after invalid")
	})
}
