package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// moveableClock lets the test set the catalog's clock ahead or back.
func (s *stack) moveableClock() (move func(by time.Duration)) {
	s.t.Helper()
	_, err := s.db.Exec(s.t.Context(), `CREATE TABLE test_clock (ahead interval NOT NULL);
INSERT INTO test_clock VALUES ('0');
CREATE OR REPLACE FUNCTION catalog_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS
'SELECT clock_timestamp() + (SELECT ahead FROM test_clock)'`)
	require.NoError(s.t, err)
	return func(by time.Duration) {
		_, err := s.db.Exec(s.t.Context(), `UPDATE test_clock SET ahead = ahead + $1`, by)
		require.NoError(s.t, err)
	}
}

// follower keeps a copy by the documented procedure, one page at a time.
type follower struct {
	s      *stack
	gifts  map[string]string
	newest time.Time
	// since is nil while it loads.
	since *timestamppb.Timestamp
	after *string
}

// page reads the next page, and begins the next sync after the last one.
func (f *follower) page() (last bool) {
	req := &catalogv1.ListProductsRequest{Country: "SE", UpdatedSince: f.since, After: f.after, Limit: limit(4)}
	page, err := f.s.catalog.ListProducts(f.s.as(1), req)
	require.NoError(f.s.t, err)
	for _, e := range page.GetItems() {
		f.take(e)
	}
	f.after = page.NextCursor
	if f.after != nil {
		return false
	}
	if len(f.gifts) > 0 {
		f.since = timestamppb.New(f.newest.Add(-5 * time.Minute))
	}
	return true
}

func (f *follower) take(e *catalogv1.ProductEntry) {
	at := e.GetUnlisted().GetUpdatedAt()
	if p := e.GetProduct(); p != nil {
		f.gifts[p.GetId()] = p.String()
		at = p.GetUpdatedAt()
	} else {
		delete(f.gifts, e.GetUnlisted().GetId())
	}
	if at.AsTime().After(f.newest) {
		f.newest = at.AsTime()
	}
}

// A load may take an hour and the catalog change all the while; the clock may be set back. The sync
// after the load must bring the copy up to date all the same.
func TestASlowLoadAndTheSyncAfterItMissNothing(t *testing.T) {
	const runs, gifts = 12, 20
	s := setup(t)
	move := s.moveableClock()
	all := make([]string, gifts)
	for i := range all {
		p := gift()
		all[i] = p.GetId()
		s.put(p)
	}
	for run := range runs {
		t.Run(fmt.Sprintf("run %d", run), func(t *testing.T) {
			random := rand.New(rand.NewPCG(7, uint64(run)))
			move(time.Hour) // All that was changed before is old.
			f := &follower{s: s, gifts: map[string]string{}}
			for last := false; !last; last = f.page() {
				for range random.IntN(4) {
					s.put(changed(random, all))
					move(time.Duration(random.IntN(14)-3) * time.Minute)
				}
			}
			require.NotNil(t, f.since, "the load showed nothing")
			for last := false; !last; {
				last = f.page()
			}
			truth := &follower{s: s, gifts: map[string]string{}}
			for last := false; !last; {
				last = truth.page()
			}
			require.Equal(t, truth.gifts, f.gifts)
		})
	}
}

// changed is one of the gifts with another name, mostly published.
func changed(random *rand.Rand, all []string) *catalogv1.PutProductRequest {
	return gift(func(p *catalogv1.PutProductRequest) {
		p.Id, p.Name = all[random.IntN(len(all))], fmt.Sprintf("Gift %d", random.Int32())
		if random.IntN(4) == 0 {
			p.State = catalogv1.ProductState_PRODUCT_STATE_ARCHIVED
		}
	})
}

func TestALoadShowsGiftsThatChangeShortlyBeforeTheirPage(t *testing.T) {
	s := setup(t)
	move := s.moveableClock()
	var all []*catalogv1.PutProductRequest
	for range 12 {
		p := gift()
		s.put(p)
		all = append(all, p)
	}
	move(24 * time.Hour)
	f := &follower{s: s, gifts: map[string]string{}}
	f.page()
	for _, p := range all {
		p.Name = "Renamed"
		s.put(p)
	}
	f.page()
	f.page()
	require.Nil(t, f.after)
	require.Len(t, f.gifts, len(all), "no gift is left out, though each changed after the load began")
}

func TestAClockSetBackDoesNotReorderChanges(t *testing.T) {
	s := setup(t)
	move := s.moveableClock()
	a, b := gift(), gift()
	first := s.put(a)
	move(-time.Hour)
	second := s.put(b)
	require.True(t, second.After(first))
	require.Equal(t, []string{b.GetId()}, ids(s.changedSince(first.Add(time.Microsecond))))
	move(2 * time.Hour)
	a.Name = "Later"
	require.True(t, s.put(a).After(second.Add(30*time.Minute)), "the clock counts again once it is ahead")
}
