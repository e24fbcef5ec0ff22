package tenants_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/tenants"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const interval = tenants.VersionLease / 2

// changesOf is a directory whose ListChanges takes a millisecond.
type changesOf struct {
	tenantsv1.DirectoryServiceClient

	since []string
	next  *tenantsv1.ListChangesResponse
	err   error
}

func (d *changesOf) ListChanges(
	_ context.Context, req *tenantsv1.ListChangesRequest, _ ...grpc.CallOption,
) (*tenantsv1.ListChangesResponse, error) {
	d.since = append(d.since, req.GetSince())
	next, err := d.next, d.err
	time.Sleep(time.Millisecond) //nolint:forbidigo // The clock of the test.
	return next, err
}

// cached has a copy of a tenant at version 5, which was read after the first call.
type cached struct {
	*tenants.Copies

	directory changesOf
	copied    tenants.Copy
}

func newCached(t *testing.T) *cached {
	t.Helper()
	c := &cached{directory: changesOf{next: &tenantsv1.ListChangesResponse{Until: "1", Any: true}}}
	c.Copies = tenants.NewCopies(&c.directory, time.Now, func(renew func(*tenants.Copy)) { renew(&c.copied) })
	c.ask(t)
	c.copied = c.read(5)
	c.directory.next = &tenantsv1.ListChangesResponse{Until: "2"}
	return c
}

func (c *cached) read(version int64) tenants.Copy {
	copied := c.Begin()
	copied.TenantID, copied.Version = "t", version
	return copied
}

// ask waits until a call is due and has been answered.
func (c *cached) ask(t *testing.T) {
	t.Helper()
	time.Sleep(interval) //nolint:forbidigo // The clock of the test.
	c.Used(t.Context())
	c.answered()
}

func (c *cached) answered() {
	time.Sleep(10 * time.Millisecond) //nolint:forbidigo // The clock of the test.
	synctest.Wait()
}

// age is how long ago the copy was confirmed.
func (c *cached) age() time.Duration { return time.Since(c.copied.ConfirmedAt) }

func TestACopyIsConfirmedUnlessItsTenantHasChanged(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		changes   *tenantsv1.ListChangesResponse
		err       error
		confirmed bool
	}{
		"nothing changed":        {&tenantsv1.ListChangesResponse{}, nil, true},
		"another tenant changed": {&tenantsv1.ListChangesResponse{Versions: map[string]int64{"u": 6}}, nil, true},
		"it changed before":      {&tenantsv1.ListChangesResponse{Versions: map[string]int64{"t": 5}}, nil, true},
		"it changed":             {&tenantsv1.ListChangesResponse{Versions: map[string]int64{"t": 6}}, nil, false},
		"any may have changed":   {&tenantsv1.ListChangesResponse{Any: true}, nil, false},
		"no answer":              {nil, errors.New("down"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCached(t)
				c.directory.next, c.directory.err = tc.changes, tc.err
				c.ask(t)
				require.Equal(t, tc.confirmed, c.age() < interval)
			})
		})
	}
}

func TestWhileACacheIsUsedItAsksTwiceInALease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCached(t)
		for range 100 {
			require.Less(t, c.age(), tenants.VersionLease)
			c.Used(t.Context())
			time.Sleep(interval / 10) //nolint:forbidigo // The clock of the test.
			synctest.Wait()
		}
		require.InDelta(t, 11, len(c.directory.since), 1)
		require.Equal(t, []string{"", "1", "2", "2"}, c.directory.since[:4])
	})
}

// The next call returns what has changed since the last one that was answered.
func TestAfterACallThatFailedTheNextOneConfirms(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCached(t)
		c.directory.err = errors.New("down")
		c.ask(t)
		c.directory.err = nil
		c.ask(t)
		require.Less(t, c.age(), interval)
		require.Equal(t, []string{"", "1", "1"}, c.directory.since)
	})
}

// The copy may be as of before a change that the call in progress returns. The next call does not return it again.
func TestACopyThatWasReadDuringACallIsNotConfirmed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCached(t)
		time.Sleep(interval) //nolint:forbidigo // The clock of the test.
		c.Used(t.Context())
		read := c.read(5)
		c.answered()
		c.copied = read
		for range 3 {
			c.ask(t)
			require.Equal(t, read, c.copied)
		}
	})
}

func TestACopyIsNotConfirmedAfterAPauseOrForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCached(t)
		time.Sleep(time.Minute) //nolint:forbidigo // The clock of the test.
		c.directory.next = &tenantsv1.ListChangesResponse{Until: "2", Any: true}
		c.ask(t)
		require.Equal(t, []string{"", ""}, c.directory.since)
		require.Greater(t, c.age(), time.Minute)

		c.copied = c.read(5)
		c.directory.next = &tenantsv1.ListChangesResponse{Until: "3"}
		read := time.Now()
		for time.Since(read) < 11*time.Minute {
			c.ask(t)
		}
		require.WithinDuration(t, read.Add(10*time.Minute), c.copied.ConfirmedAt, tenants.VersionLease)
	})
}
