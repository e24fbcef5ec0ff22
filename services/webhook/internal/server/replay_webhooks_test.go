package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// lately is a span around now.
func lately(types ...string) *webhookv1.ReplayWebhooksRequest {
	now := time.Now()
	return &webhookv1.ReplayWebhooksRequest{
		From: timestamppb.New(now.Add(-time.Hour)), To: timestamppb.New(now.Add(time.Hour)), Types: types,
	}
}

func (o *own) replay(idempotencyKey string, req *webhookv1.ReplayWebhooksRequest) (int, error) {
	resp, err := o.client.ReplayWebhooks(o.keyed(idempotencyKey, req.String()), req)
	return int(resp.GetDeliveries()), err
}

func (o *own) replayed(idempotencyKey string, req *webhookv1.ReplayWebhooksRequest) int {
	o.fixture.t.Helper()
	n, err := o.replay(idempotencyKey, req)
	require.NoError(o.fixture.t, err)
	return n
}

// fill stores finished deliveries of the key with events of the last minutes.
func (o *own) fill(number int) {
	o.fixture.t.Helper()
	const step = 2000 // Each statement is short, also on a busy machine.
	for ; number > 0; number -= step {
		pgtest.Exec(o.fixture.t, o.pool, `
WITH n AS (
  SELECT overlay(overlay($3::text PLACING '7000-8000' FROM 15) PLACING lpad(to_hex(n), 12, '0') FROM 25)::uuid AS id
    FROM generate_series(1, $1::int) n
), e AS (
  INSERT INTO events (tenant_id, event_id, type, brand_id, subject_id, body, created_at)
  SELECT $2, id, 'order.created', $2, id, '{}', now() FROM n
)
INSERT INTO deliveries (tenant_id, event_id, key_id, next_attempt_at, created_at) SELECT $2, id, $4, now(), now() FROM n`,
			min(number, step), tenant, uuid.Must(uuid.NewV7()).String(), key)
		pgtest.Exec(o.fixture.t, o.pool, `UPDATE deliveries
   SET state = 'FAILED', attempts = 8, next_attempt_at = NULL, finished_at = now()
 WHERE tenant_id = $1 AND key_id = $2 AND state = 'PENDING'`, tenant, key)
	}
}

// deleteFirst deletes the first delivery of the key that is not of the event.
func (o *own) deleteFirst(except string) {
	o.fixture.t.Helper()
	pgtest.Exec(o.fixture.t, o.pool, `DELETE FROM deliveries WHERE tenant_id = $1 AND key_id = $2 AND event_id = (
  SELECT min(event_id::text)::uuid FROM deliveries WHERE tenant_id = $1 AND event_id <> $3)`, tenant, key, except)
}

func TestAReplayLeavesPendingDeliveriesAndOtherKeysAlone(t *testing.T) {
	t.Parallel()
	o := setupOwn(t)
	at := rules.EventAt(o.add(key, key+1))
	o.attempt(failed, rules.Answered(500))
	span := func(from, to time.Time) *webhookv1.ReplayWebhooksRequest {
		return &webhookv1.ReplayWebhooksRequest{From: timestamppb.New(from), To: timestamppb.New(to)}
	}
	require.Zero(t, o.replayed("before", span(at.Add(-time.Hour), at)))
	require.Zero(t, o.replayed("after", span(at.Add(time.Millisecond), at.Add(time.Hour))))
	waiting := &webhookv1.ListWebhookDeliveriesRequest{EventId: new(o.add(key))}
	before := o.list(waiting).GetItems()[0].String()
	woken := o.woken.Load()
	require.Equal(t, 1, o.replayed("k1", span(at, at.Add(time.Millisecond))))
	require.Equal(t, 2, o.due())
	require.Equal(t, woken+1, o.woken.Load())
	require.Equal(t, before, o.list(waiting).GetItems()[0].String())
	_, err := o.replay("k2", lately(make([]string, 101)...))
	require.Equal(t, []string{"types"}, violated(t, err), "too many types")
}

func TestAReplayIsBounded(t *testing.T) {
	t.Parallel()
	t.Run("in time", func(t *testing.T) {
		t.Parallel()
		o := setupOwn(t)
		o.fill(1)
		from := time.Now().Add(-time.Hour)
		month := &webhookv1.ReplayWebhooksRequest{
			From: timestamppb.New(from), To: timestamppb.New(from.Add(30*24*time.Hour + time.Microsecond)),
		}
		for range 2 {
			_, err := o.replay("k", month)
			require.True(t, problem.Is(err, problem.ReplayTooLarge), "%v", err)
		}
		require.Zero(t, o.due())
		month.To = timestamppb.New(from.Add(30 * 24 * time.Hour))
		require.Equal(t, 1, o.replayed("l", month))
	})
	t.Run("in deliveries of other types", func(t *testing.T) {
		t.Parallel()
		o := setupOwn(t)
		for range store.MaxReplaySpan / store.MaxReplayed {
			o.fill(store.MaxReplayed)
		}
		rare := o.addOf("order.updated", brand, key)
		o.attempt(delivered, rules.Answered(200))
		_, err := o.replay("k", lately("order.updated"))
		refused, ok := problem.As(err)
		require.True(t, ok, "%v", err)
		require.Equal(t, problem.ReplayTooLarge, refused.Code)
		require.Equal(t, "The span has more than 100000 deliveries of any type and state.", refused.Detail)
		require.Zero(t, o.due())
		o.deleteFirst(rare)
		require.Equal(t, 1, o.replayed("l", lately("order.updated")), "of as many deliveries as a span may have")
		require.Equal(t, webhookv1.WebhookDeliveryState_WEBHOOK_DELIVERY_STATE_PENDING,
			o.list(&webhookv1.ListWebhookDeliveriesRequest{EventId: &rare}).GetItems()[0].GetState())
	})
	t.Run("in deliveries", func(t *testing.T) {
		t.Parallel()
		o := setupOwn(t)
		o.fill(store.MaxReplayed + 1)
		_, err := o.replay("k", lately())
		require.True(t, problem.Is(err, problem.ReplayTooLarge), "%v", err)
		require.Zero(t, o.due())
		o.deleteFirst(uuid.NewString())
		require.Equal(t, store.MaxReplayed, o.replayed("l", lately()))

		// While so many are pending, more must wait.
		_, err = o.replay("m", lately())
		refused, ok := problem.As(err)
		require.True(t, ok)
		require.Equal(t, problem.RateLimited, refused.Code)
		require.Positive(t, refused.RetryAfter)
		require.Equal(t, store.MaxReplayed, int(o.health().GetPending()))
	})
}

func TestConcurrentReplaysSendEachDeliveryOnce(t *testing.T) {
	t.Parallel()
	o := setupOwn(t)
	o.fill(500)
	req := lately()
	counts := make([]int, 4)
	var group errgroup.Group
	for i := range counts {
		group.Go(func() (err error) {
			counts[i], err = o.replay(fmt.Sprint(i), req)
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.Equal(t, 500, counts[0]+counts[1]+counts[2]+counts[3])
	require.Equal(t, 500, o.due())
}

func TestAReplayBesideAFanOutSendsEachDeliveryOnce(t *testing.T) {
	t.Parallel()
	const finished, added, replays = 200, 60, 20
	o := setupOwn(t)
	o.fill(finished)
	var group errgroup.Group
	group.Go(func() error {
		for range added {
			o.add(key, key+1)
		}
		return nil
	})
	counts := make([]int, replays)
	group.Go(func() (err error) {
		for i := range counts {
			if counts[i], err = o.replay(fmt.Sprint(i), lately()); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, group.Wait())
	require.Equal(t, finished, counts[0], "those that were finished")
	require.Equal(t, make([]int, replays-1), counts[1:], "what is fanned out is pending")
	require.Equal(t, finished+added, o.due())
}
