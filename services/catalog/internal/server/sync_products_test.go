package server_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// mirror keeps a copy of the catalog by the documented procedure.
type mirror struct {
	f      *fixture
	size   int32
	gifts  map[string]string
	newest time.Time
	// since is nil in a load.
	since *timestamppb.Timestamp
	after *string
}

// copyOf reads the whole catalog.
func (f *fixture) copyOf(size int32) *mirror {
	f.t.Helper()
	m := f.mirror(size)
	m.read()
	return m
}

func (f *fixture) mirror(size int32) *mirror {
	return &mirror{f: f, size: size, gifts: map[string]string{}}
}

// read reads all pages of a load or sync.
func (m *mirror) read() {
	m.f.t.Helper()
	for !m.page() {
	}
}

// sync reads the changes since the newest one of the copy, as integrators do: minus five minutes.
func (m *mirror) sync() {
	m.f.t.Helper()
	m.since = timestamppb.New(m.newest.Add(-5 * time.Minute))
	m.read()
}

// page reads the next page and reports whether it was the last.
func (m *mirror) page() (last bool) {
	m.f.t.Helper()
	page := call(m.f, m.f.catalog.ListProducts, &catalogv1.ListProductsRequest{
		Country: "SE", UpdatedSince: m.since, After: m.after, Limit: &m.size,
	})
	for _, e := range page.GetItems() {
		at := e.GetUnlisted().GetUpdatedAt()
		if p := e.GetProduct(); p != nil {
			m.gifts[p.GetId()] = p.String()
			at = p.GetUpdatedAt()
		} else {
			delete(m.gifts, e.GetUnlisted().GetId())
		}
		if at.AsTime().After(m.newest) {
			m.newest = at.AsTime()
		}
	}
	m.after = page.NextCursor
	return m.after == nil
}

// change puts one of the gifts with another name and archives every fourth. In the sandbox the tenant changes gifts for itself,
// too.
func (f *fixture) change(ctx context.Context, random *rand.Rand, all []string) error {
	if f.sandboxed && random.IntN(2) == 0 {
		return f.changeForTenant(random, all[random.IntN(len(all))])
	}
	_, err := f.ops.PutProduct(ctx, gift(func(p *catalogv1.PutProductRequest) {
		p.Id, p.Name = all[random.IntN(len(all))], fmt.Sprintf("Gift %d", random.Int32())
		if random.IntN(4) == 0 {
			p.State = archived
		}
	}))
	return err
}

// changeMuch makes all kinds of changes of gifts and regions.
func (f *fixture) changeMuch(ctx context.Context, random *rand.Rand, all []string, changes int) error {
	for i := range changes {
		var err error
		if f.sandboxed && random.IntN(3) == 0 {
			err = f.changeForTenant(random, all[random.IntN(len(all))])
		} else if random.IntN(8) == 0 {
			region := []string{"NORDICS", "GERMANY"}[random.IntN(2)]
			_, err = f.ops.PutRegion(ctx, &catalogv1.PutRegionRequest{Code: region, Countries: []string{"SE"}})
		} else {
			_, err = f.ops.PutProduct(ctx, gift(func(p *catalogv1.PutProductRequest) {
				p.Id = all[random.IntN(len(all))]
				p.Name = fmt.Sprintf("Gift %d", random.IntN(3))
				p.State = catalogv1.ProductState(1 + random.IntN(4))
				if i%2 == 0 {
					p.State = published
					p.Prices = []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: fmt.Sprint(1 + random.IntN(3))}}
				}
			}))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A reader reads while writers change the catalog. After the first sync it asks for changes since the newest one it has,
// without the overlap of five minutes. Changes become visible in the order of updatedAt, so even this reader misses none.
func TestAReaderThatSyncsMissesNothing(t *testing.T) {
	t.Parallel()
	for name, setup := range environments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireNothingMissed(t, setup(t))
		})
	}
}

func requireNothingMissed(t *testing.T, f *fixture) {
	t.Helper()
	const writers, changesEach, gifts = 4, 50, 30
	f.putRegion("NORDICS", "SE", "FI")
	f.putRegion("GERMANY", "DE")
	all := f.putGifts(gifts)
	var group errgroup.Group
	for w := range writers {
		group.Go(func() error { return f.changeMuch(t.Context(), rand.New(rand.NewPCG(1, uint64(w))), all, changesEach) })
	}
	done := make(chan error, 1)
	go func() { done <- group.Wait() }()

	m := f.copyOf(7)
	m.sync()
	syncs, writing := 0, true
	for writing {
		select {
		case err := <-done:
			require.NoError(t, err)
			writing = false
		default:
		}
		m.since = timestamppb.New(m.newest)
		m.read()
		syncs++
	}
	require.Greater(t, syncs, 3, "the reader must have run beside the writers")
	require.Equal(t, f.copyOf(7).gifts, m.gifts)
}

// A load may take an hour while the catalog changes and its clock is set back. The sync after the load
// still brings the copy up to date.
func TestASlowLoadAndTheNextSyncMissNothing(t *testing.T) {
	t.Parallel()
	for name, setup := range environments {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireLoadsAreCompleted(t, setup(t))
		})
	}
}

func requireLoadsAreCompleted(t *testing.T, f *fixture) {
	t.Helper()
	const runs, gifts, size = 12, 20, 4
	move := f.moveableClock()
	all := f.putGifts(gifts)
	for run := range runs {
		t.Run(fmt.Sprintf("run %d", run), func(t *testing.T) {
			random := rand.New(rand.NewPCG(7, uint64(run)))
			move(time.Hour) // Now all earlier changes are old.
			m := f.mirror(size)
			for last := false; !last; last = m.page() {
				for range random.IntN(4) {
					require.NoError(t, f.change(t.Context(), random, all))
					move(time.Duration(random.IntN(14)-3) * time.Minute)
				}
			}
			require.NotEmpty(t, m.gifts)
			m.sync()
			require.Equal(t, f.copyOf(size).gifts, m.gifts)
		})
	}
}

func TestALoadShowsGiftsThatChangeShortlyBeforeTheirPage(t *testing.T) {
	t.Parallel()
	f := setup(t)
	move := f.moveableClock()
	all := f.putGifts(12)
	move(24 * time.Hour)
	m := f.mirror(4)
	require.False(t, m.page())
	for _, id := range all {
		f.put(gift(func(p *catalogv1.PutProductRequest) { p.Id, p.Name = id, "Renamed" }))
	}
	m.read()
	require.Len(t, m.gifts, len(all), "no gift is left out, though each changed after the load began")
}

func TestChangesComeInTheirOrder(t *testing.T) {
	t.Parallel()
	f := setup(t)
	a, b, c := gift(), gift(), gift()
	neverPublished := []*catalogv1.PutProductRequest{gift(withState(draft)), gift(withState(internal)), gift(withState(archived))}
	for _, p := range append(neverPublished, a, b, c) {
		f.put(p)
	}
	a.Name = "Changed"
	last := f.put(a)
	require.Equal(t, []string{b.GetId(), c.GetId(), a.GetId()}, ids(f.changedSince(time.Unix(0, 0))))
	require.Equal(t, []string{a.GetId()}, ids(f.changedSince(last)), "the instant is inclusive")
	require.Empty(t, f.changedSince(last.Add(time.Nanosecond)))
}

func TestUpdatedAtChangesOnlyWithWhatReadersCanSee(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.putRegion("NORDICS", "SE")
	f.putRegion("EMPTY")
	f.putCategory("HOME", "TEXTILES")
	fileID := f.upload(png)
	p := gift(func(p *catalogv1.PutProductRequest) { p.AvailableCountries = []string{"SE", "FI"} })
	last := f.put(p)
	prices := func(region, amount string) func() {
		return func() { p.Prices = []*catalogv1.RegionPrice{{Region: region, AmountEur: amount}} }
	}
	translated := func(name, description string) func() {
		return func() {
			p.Translations = []*catalogv1.ProductTranslation{{Locale: "sv-SE", Name: name, Description: description}}
		}
	}
	for _, step := range []struct {
		name   string
		change func()
		moves  bool
	}{
		{"nothing changes", func() {}, false},
		{"countries in another order", func() { p.AvailableCountries = []string{"FI", "SE", "FI"} }, false},
		{"a country is removed", func() { p.AvailableCountries = []string{"SE"} }, true},
		{"a name changes", func() { p.Name = "Thick blanket" }, true},
		{"a translation with the same text", translated("Thick blanket", ""), false},
		{"a translation", translated("Tjock filt", ""), true},
		{"a description that was the fallback", translated("Tjock filt", "Warm."), false},
		{"a price in a region without countries", prices("EMPTY", "5"), false},
		{"a price", prices("NORDICS", "5"), true},
		{"the same price in another spelling", prices("NORDICS", "5.00"), false},
		{"another price", prices("NORDICS", "5.01"), true},
		{"a category", func() { p.Categories = []string{"HOME__TEXTILES"} }, true},
		{"an image", func() { p.ImageFileIds = []string{fileID} }, true},
		{"a variation's values in another order", func() { p.Variations[0].Values = []string{"M", "S"} }, true},
		{"customization", func() { p.CustomizationAvailable = true }, true},
		{"gift set", func() { p.GiftSet = true }, true},
		{"ready to send", func() { p.ReadyToSend = true }, true},
		{"the gift is archived", func() { p.State = archived }, true},
		{"an archived gift changes", func() { p.Name = "Old blanket" }, false},
		{"an archived gift becomes internal", func() { p.State = internal }, false},
		{"the gift comes back", func() { p.State = published }, true},
	} {
		step.change()
		now := f.put(p)
		require.Equal(t, step.moves, now.After(last), step.name)
		require.Equal(t, step.moves, !now.Equal(last), step.name)
		last = now
		require.Equal(t, now, f.put(p), "%s: repeated", step.name)
	}
}

func TestARegionThatGainsOrLosesACountryChangesTheGiftsPricedThere(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.putRegion("NORDICS", "SE", "FI")
	f.putRegion("BALTICS", "EE")
	put := func(region, amount string) (id string, at time.Time) {
		p := gift(func(p *catalogv1.PutProductRequest) {
			if region != "" {
				p.Prices = []*catalogv1.RegionPrice{{Region: region, AmountEur: amount}}
			}
		})
		return p.GetId(), f.put(p)
	}
	put("", "")
	nordic, _ := put("NORDICS", "7")
	_, last := put("", "")
	next := func() []string { return ids(f.changedSince(last.Add(time.Microsecond))) }

	f.putRegion("NORDICS", "FI", "SE")
	require.Empty(t, next(), "the same countries")
	f.putRegion("BALTICS", "EE", "LT")
	require.Empty(t, next(), "a region without prices")
	f.putRegion("BALTICS", "EE", "LT", "FI")
	require.Equal(t, []string{nordic}, next(), "Finland lost its price")
	got := call(f, f.catalog.GetProduct, &catalogv1.GetProductRequest{ProductId: nordic, Country: "FI"})
	require.False(t, got.GetProduct().GetPriced())
}

// A change must read the clock only after the previous change can be read. The test holds the lock as a change would.
func TestAChangeReadsTheClockAfterThePreviousOneIsCommitted(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.putRegion("NORDICS", "SE")
	p := gift(func(p *catalogv1.PutProductRequest) {
		p.Prices = []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: "1"}}
	})
	f.put(p)
	for name, change := range map[string]func() error{
		"a gift": func() error {
			p.Name += "!"
			_, err := f.ops.PutProduct(t.Context(), p)
			return err
		},
		"a region": func() error {
			_, err := f.ops.PutRegion(t.Context(), &catalogv1.PutRegionRequest{Code: "NORDICS"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := f.db.Begin(t.Context())
			require.NoError(t, err)
			defer func() { _ = before.Rollback(context.WithoutCancel(t.Context())) }()
			pgtest.Exec(t, before, `SELECT pg_advisory_xact_lock(4713001)`)
			changed := make(chan error, 1)
			go func() { changed <- change() }()
			pgtest.AwaitLock(t, f.db)
			committed := pgtest.Value[time.Time](t, before, `SELECT clock_timestamp()`)
			require.NoError(t, before.Commit(t.Context()))
			require.NoError(t, <-changed)

			entries := f.changedSince(committed)
			require.Len(t, entries, 1)
			require.True(t, entries[0].GetProduct().GetUpdatedAt().AsTime().After(committed))
		})
	}
}
