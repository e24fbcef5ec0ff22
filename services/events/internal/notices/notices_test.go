package notices

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

const (
	waitLimit = 30 * time.Second
)

func change(tenant string) *eventsv1.Change {
	return &eventsv1.Change{TenantId: tenant, BrandId: uuid.NewString(), Type: "order.created", OriginKeyId: 7}
}

func TestASubscriptionGetsEachNoticeOfItsTenantOnce(t *testing.T) {
	t.Parallel()
	var hub Hub
	one, all := hub.Subscribe("a"), hub.Subscribe("")
	notice := Of(change("a"))
	hub.Publish([]Notice{notice, notice, Of(change("b"))})
	<-one.Due()
	found, missed := one.Drain()
	require.Equal(t, []Notice{notice}, found)
	require.False(t, missed)
	<-all.Due()
	found, _ = all.Drain()
	require.Len(t, found, 2)
	one.Close()
	hub.Publish([]Notice{notice})
	require.Empty(t, one.Due())
	all.Close()
	require.Empty(t, hub.byTenant)
}

func TestTooManyNoticesBecomeOne(t *testing.T) {
	t.Parallel()
	var hub Hub
	s := hub.Subscribe("a")
	for range maxPending + 10 {
		hub.Publish([]Notice{Of(change("a"))})
	}
	found, missed := s.Drain()
	require.Empty(t, found)
	require.True(t, missed)
}

func TestPayloadsHoldAllNotices(t *testing.T) {
	t.Parallel()
	sender, sent := uuid.New(), []Notice{}
	for range 2*perPayload + 1 {
		sent = append(sent, Notice{
			TenantID: uuid.NewString(), BrandID: uuid.NewString(), Scope: commonv1.Scope_SCOPE_PERSONAL_LINKS, HiddenFrom: rand.Int32(),
		})
	}
	var arrived []Notice
	for _, payload := range encode(sender, sent, false) {
		require.Less(t, len(payload), 8000)
		from, found, err := decode(payload)
		require.NoError(t, err)
		require.Equal(t, sender, from)
		arrived = append(arrived, found...)
	}
	require.Equal(t, sent, arrived)
	_, found, err := decode(encode(sender, nil, true)[0])
	require.NoError(t, err)
	require.Empty(t, found)
	for _, malformed := range []string{"", "x", "?", encode(sender, sent[:1], false)[0][:40]} {
		_, _, err := decode(malformed)
		require.ErrorIs(t, err, errPayload)
	}
}

// instance is a process of the service.
type instance struct {
	*Announcer

	hub *Hub
}

func start(t *testing.T, pool *pgxpool.Pool) instance {
	t.Helper()
	i := instance{hub: &Hub{}}
	i.Announcer = NewAnnouncer(i.hub, pool, telemetry.Discard().Logger)
	ready := i.hub.Subscribe("")
	defer ready.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var parts sync.WaitGroup
	parts.Go(func() { _ = i.Run(ctx) })
	parts.Go(func() { _ = i.Listen(ctx) })
	t.Cleanup(func() {
		cancel()
		parts.Wait()
	})
	<-ready.Due() // It listens.
	return i
}

func TestOtherInstancesAreTold(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	a, b := start(t, pool), start(t, pool)
	tenant := uuid.NewString()
	here, there := a.hub.Subscribe(tenant), b.hub.Subscribe(tenant)
	c := change(tenant)
	a.Announce([]*eventsv1.Change{c})
	for _, s := range []*Subscription{here, there} {
		<-s.Due()
		found, missed := s.Drain()
		require.Equal(t, []Notice{Of(c)}, found)
		require.False(t, missed)
	}
	require.NoError(t, AnnounceMissed(t.Context(), pool))
	for _, s := range []*Subscription{here, there} {
		<-s.Due()
		_, missed := s.Drain()
		require.True(t, missed)
	}
	b.Missed()
	<-here.Due()
	_, missed := here.Drain()
	require.True(t, missed)
}

func TestALostConnectionMeansMissedNotices(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	a := start(t, pool)
	s := a.hub.Subscribe(uuid.NewString())
	pgtest.Exec(t, pool, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND query LIKE 'LISTEN%'`)
	<-s.Due()
	_, missed := s.Drain()
	require.True(t, missed)
}

func TestANotificationThatFailsIsSentAgain(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	broken, err := postgres.Open(t.Context(), postgres.Config{URL: pool.Config().ConnString()})
	require.NoError(t, err)
	broken.Close()
	b := start(t, pool)
	tenant := uuid.NewString()
	s := b.hub.Subscribe(tenant)
	a := NewAnnouncer(&Hub{}, broken, telemetry.Discard().Logger)
	c := change(tenant)
	a.Announce([]*eventsv1.Change{c})
	require.Equal(t, notifyPause, a.flush(t.Context()))
	a.pool = pool
	a.flush(t.Context())
	<-s.Due()
	found, _ := s.Drain()
	require.Equal(t, []Notice{Of(c)}, found)
}

func TestAnInstanceThatEndsTellsTheOthersFirst(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	b := start(t, pool)
	tenant := uuid.NewString()
	s := b.hub.Subscribe(tenant)
	ended, end := context.WithCancel(t.Context())
	end()
	for range 20 { // Whichever of its reasons to wake Run sees first.
		a := NewAnnouncer(&Hub{}, pool, telemetry.Discard().Logger)
		c := change(tenant)
		a.Announce([]*eventsv1.Change{c})
		require.NoError(t, a.Run(ended))
		<-s.Due()
		found, _ := s.Drain()
		require.Equal(t, []Notice{Of(c)}, found)
	}
}

// A reader subscribes, reads, and waits for a notice. Whatever the interleaving with writers that commit and then announce, it gets
// every event, without a timeout.
func TestAReaderThatSubscribesBeforeItReadsMissesNothing(t *testing.T) {
	t.Parallel()
	const writers, each = 4, 50
	var (
		hub       Hub
		committed atomic.Int64 // The feed.
		group     sync.WaitGroup
	)
	for range writers {
		group.Go(func() {
			for range each {
				committed.Add(1)
				hub.Publish([]Notice{{TenantID: "a"}})
			}
		})
	}
	deadline := time.After(waitLimit)
	for seen := int64(0); seen < writers*each; {
		// Each turn is a new call, as of a reader that polls.
		s := hub.Subscribe("a")
		for at := committed.Load(); ; at = committed.Load() {
			if at > seen {
				seen = at
				break
			}
			select {
			case <-s.Due():
			case <-deadline:
				t.Fatalf("stuck at %d of %d", seen, writers*each)
			}
		}
		s.Close()
	}
	group.Wait()
}
