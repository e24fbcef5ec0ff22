package server_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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

const insertMany = `INSERT INTO links
  (tenant_id, id, brand_id, batch_id, batch_index, status, claim_url_sealed, created_at, updated_at)
SELECT $1, id, gen_random_uuid(), gen_random_uuid(), 0, 'ACTIVE', sealed, at, at
FROM unnest($2::uuid[], $3::bytea[], $4::timestamptz[]) AS made (id, sealed, at)`

// many inserts n links, five for each instant, so that pages end between links of equal time.
func (f *fixture) many(n int) []string {
	f.t.Helper()
	ids, sealed, times := make([]string, n), make([][]byte, n), make([]time.Time, n)
	for i := range n {
		ids[i], times[i] = newID(), epoch.Add(time.Duration(i/5)*time.Second)
		sealed[i] = f.ring.Seal([]byte("https://gifts.example.com/c/x"), ids[i])
	}
	_, err := f.pool.Exec(f.t.Context(), insertMany, f.tenant, ids, sealed, times)
	require.NoError(f.t, err)
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

func TestACursorBelongsToItsTenantAndFilters(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.many(5)
	pagetest.RequireBound(t, &linksv1.ListPersonalLinksRequest{Limit: new(int32(2))},
		func(req *linksv1.ListPersonalLinksRequest) (string, error) {
			resp, err := f.list(req)
			return resp.GetNextCursor(), err
		}, nil)
	first, err := f.list(&linksv1.ListPersonalLinksRequest{Limit: new(int32(2))})
	require.NoError(t, err)
	other := f.everyBrand()
	other.TenantID = newID()
	_, err = f.client.ListPersonalLinks(f.keyContext(other), &linksv1.ListPersonalLinksRequest{After: first.NextCursor})
	requireViolations(t, err, "after invalid")
}
