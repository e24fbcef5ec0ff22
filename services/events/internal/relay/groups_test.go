package relay

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// tenantOf returns a tenant of a group.
func tenantOf(group int) string {
	id := uuid.New()
	id[len(id)-1] = byte(rand.IntN(256/groupCount)*groupCount + group)
	return id.String()
}

// addOf commits one event of a tenant and returns its subject.
func (f *fixture) addOf(t *testing.T, source int, tenant string) string {
	t.Helper()
	e := event(uuid.NewString())
	e.TenantID = tenant
	require.NoError(t, postgres.Pipeline(t.Context(), f.owners[source], func(b *pgx.Batch) {
		outbox.Append(t.Context(), b, e)
	}))
	return e.SubjectID
}

func TestARelayPublishesTheGroupsThatItLeads(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{}, telemetry.Discard())
	f.assign([]int32{1, 5})
	var mine, others []string
	for range 3 {
		for group := range groupCount {
			subject := f.addOf(t, group%2, tenantOf(group))
			if group == 1 || group == 5 {
				mine = append(mine, subject)
			} else {
				others = append(others, subject)
			}
		}
	}
	require.Equal(t, len(mine), f.publish(t))
	require.Equal(t, mine, f.published.subjects(t))
	require.Equal(t, len(others), f.left(t))
	require.Zero(t, f.publish(t))

	t.Run("rows of others are not read again", func(t *testing.T) {
		require.Empty(t, f.windows[0].gaps)
		require.Empty(t, f.windows[1].gaps)
	})
	t.Run("after it has given up a group it publishes no more of it", func(t *testing.T) {
		f.assign([]int32{1})
		late := f.addOf(t, 0, tenantOf(5))
		require.Zero(t, f.publish(t))
		others = append(others, late)
	})
	t.Run("after it has gained groups it publishes all of their rows", func(t *testing.T) {
		f.assign(allGroups().groups)
		require.Equal(t, len(others), f.publish(t))
		require.Equal(t, append(mine, others...), f.published.subjects(t))
		require.Zero(t, f.left(t))
	})
}

func TestEachGroupHasTenants(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{}, telemetry.Discard())
	var groups int
	require.NoError(t, f.owners[0].QueryRow(t.Context(),
		fmt.Sprintf(`SELECT count(DISTINCT %s) FROM (SELECT gen_random_uuid() AS tenant_id FROM generate_series(1, 1000)) t`, groupOf)).Scan(&groups))
	require.Equal(t, groupCount, groups)
}

// TestOrderUnderWritersWithSeveralRelays ends sessions, and stops and starts relays, while many writers of several tenants write to
// two databases.
func TestOrderUnderWritersWithSeveralRelays(t *testing.T) {
	t.Parallel()
	f := setup(t, Config{BatchSize: 20}, telemetry.Discard())
	f.published.fail = func(n int) int {
		if rand.IntN(10) > 0 {
			return -1
		}
		return rand.IntN(n)
	}
	var tenants []string
	for group := range groupCount {
		tenants = append(tenants, tenantOf(group))
	}
	stop, ended := make(chan struct{}), make(chan error, 1)
	second, third := f.another(t), f.another(t)
	second.start(t)
	go func() {
		var errs []error
		for n := 0; ; n++ {
			select {
			case <-stop:
				ended <- errors.Join(errs...)
				return
			case <-time.After(time.Duration(300+rand.IntN(900)) * time.Millisecond):
			}
			if n%3 > 0 {
				errs = append(errs, endSessions(t.Context(), f.owners[0], f.cfg.LeaderURL, 1+rand.IntN(2)))
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			errs = append(errs, third.Run(ctx))
			cancel()
		}
	}()
	published, all := f.write(t, 8*time.Second, tenants)
	close(stop)
	require.NoError(t, <-ended)
	t.Logf("%d changes, published %d times", len(all), len(published))
	require.Greater(t, len(all), 5*writers)
	require.Greater(t, len(published), len(all), "the failures made duplicates")
	require.Empty(t, violations(published, all))
}

// another makes a relay of the same outboxes and topic.
func (f *fixture) another(t *testing.T) *fixture {
	t.Helper()
	relay, err := New(t.Context(), Deps{Publisher: f.published, Readers: f.readers, Telemetry: telemetry.Discard()}, f.cfg)
	require.NoError(t, err)
	t.Cleanup(relay.Close)
	return &fixture{Relay: relay, published: f.published, owners: f.owners}
}
