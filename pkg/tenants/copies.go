package tenants

import (
	"context"
	"sync"
	"time"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	// askInterval leaves the other half of the lease for a call that is slow.
	askInterval = VersionLease / 2
	askTimeout  = VersionLease / 2
	// maxMomentAge is less than ListChanges demands.
	maxMomentAge = time.Minute
	// maxConfirmed is how long a copy is confirmed before it is read anew.
	maxConfirmed = 10 * time.Minute
)

// Copies renews the leases of all copies in a cache. While the cache is used, it asks the tenants service twice in a lease which
// tenants have changed. This is one call for all tenants, instead of one for each copy whose lease ends.
type Copies struct {
	directory tenantsv1.DirectoryServiceClient
	clock     func() time.Time
	each      func(renew func(*Copy))

	mu sync.Mutex
	// asking means that a call is in progress. The last one began at asked.
	asking bool
	asked  time.Time
	// moment is that of the last call that succeeded, which began at momentAt, and round the number of such calls.
	moment   string
	momentAt time.Time
	round    int64
}

// Copy is the lease of a copy.
type Copy struct {
	TenantID string
	Version  int64
	// ConfirmedAt is a time at which the copy was right: before it was read, or before the last call that found no change.
	ConfirmedAt time.Time

	readAt time.Time
	// round is the last call that was finished when the copy was read or confirmed.
	round int64
}

// NewCopies makes a Copies of the cache that calls a function with each of its copies. The function may change it.
func NewCopies(directory tenantsv1.DirectoryServiceClient, clock func() time.Time, each func(renew func(*Copy))) *Copies {
	return &Copies{directory: directory, clock: clock, each: each}
}

// Begin returns the lease of a copy that is to be read now. The caller then sets its tenant and version.
func (c *Copies) Begin() Copy {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock()
	return Copy{ConfirmedAt: now, readAt: now, round: c.round}
}

// Used is to be called whenever the cache is used. It does not wait.
func (c *Copies) Used(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock()
	if c.asking || now.Sub(c.asked) < askInterval {
		return
	}
	if now.Sub(c.momentAt) >= maxMomentAge {
		c.moment = ""
	}
	c.asking, c.asked = true, now
	go c.ask(context.WithoutCancel(ctx), c.moment, now)
}

func (c *Copies) ask(ctx context.Context, since string, at time.Time) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	changes, err := c.directory.ListChanges(ctx, &tenantsv1.ListChangesRequest{Since: since})
	if err == nil {
		c.renew(changes, at)
	} // Otherwise copies are read one by one, which reports why the service does not answer.
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asking = false
}

func (c *Copies) renew(changes *tenantsv1.ListChangesResponse, at time.Time) {
	c.mu.Lock()
	previous := c.round
	c.moment, c.momentAt, c.round = changes.GetUntil(), at, previous+1
	c.mu.Unlock()
	if changes.GetAny() {
		return
	}
	c.each(func(copied *Copy) {
		// A copy that was read before the previous call had ended may lack a change which that call has returned.
		known := copied.round == previous && at.Sub(copied.readAt) < maxConfirmed
		if known && copied.Version >= changes.GetVersions()[copied.TenantID] {
			copied.ConfirmedAt, copied.round = at, previous+1
		}
	})
}
