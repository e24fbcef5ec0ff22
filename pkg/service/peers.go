package service

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// peersInterval is how often a program that waits for its peers checks them.
const peersInterval = time.Second

// peers delays the readiness of a program until every instance of each service that it calls has the contract level that it needs.
// An upgrade that waits for new instances to be ready therefore replaces the services first, whatever was begun first. Peers that
// go back later change nothing: an older release of them must not end a program that serves.
type peers struct {
	tel   *telemetry.Telemetry
	all   []*rpc.Peer
	ready chan struct{}
	// reason is why the program is not ready.
	reason atomic.Pointer[error]
}

var errPeersUnchecked = errors.New("the contract levels of the peers are not checked yet")

func newPeers(tel *telemetry.Telemetry) *peers {
	p := &peers{tel: tel, ready: make(chan struct{})}
	p.reason.Store(&errPeersUnchecked)
	return p
}

func (p *peers) part() daemon.Part { return daemon.Part{Name: "peers", Run: p.run} }

// run checks the peers until they have the levels.
func (p *peers) run(ctx context.Context) error {
	ticker := time.NewTicker(peersInterval)
	defer ticker.Stop()
	for {
		err := p.check(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			break
		}
		if err.Error() != (*p.reason.Load()).Error() {
			p.tel.Logger.WarnContext(ctx, "not ready: waiting for the upgrade of a peer", "error", err)
		}
		p.reason.Store(&err)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
	close(p.ready)
	<-ctx.Done()
	return nil
}

func (p *peers) check(ctx context.Context) error {
	failed := make(chan error, len(p.all))
	for _, peer := range p.all {
		go func() { failed <- peer.Check(ctx, identity.Name(p.tel.Service)) }()
	}
	var errs []error
	for range p.all {
		errs = append(errs, <-failed)
	}
	return errors.Join(errs...)
}

// checkReady returns why the program is not ready, until it is.
func (p *peers) checkReady(context.Context) error {
	select {
	case <-p.ready:
		return nil
	default:
		return *p.reason.Load()
	}
}
