package kafka

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// publishAsRelay meets the requirements for callers: it repeats the same messages until they are written, and only then
// publishes newer ones.
func publishAsRelay(t *testing.T, p *Producer, msgs []Message, step int) (failures int) {
	t.Helper()
	for len(msgs) > 0 {
		step := min(step, len(msgs))
		for p.Publish(t.Context(), msgs[:step]) != nil {
			failures++
			require.NoError(t, t.Context().Err())
		}
		msgs = msgs[step:]
	}
	return failures
}

func TestAFailedBatchIsNotOvertakenByTheNextOne(t *testing.T) {
	t.Parallel()
	cluster, cfg, topic := setupFake(t, 1)
	p := newProducer(t, cfg, topic)
	p.limits.messages = 3
	msgs := numbered(9, 1)
	cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotEnoughReplicas})
	require.Equal(t, 1, publishAsRelay(t, p, msgs, len(msgs)))
	require.Equal(t, expected(msgs), firstSeen(readLog(t, cfg, topic)))
}

func TestOrderUnderManyFailures(t *testing.T) {
	t.Parallel()
	const partitions = 3
	cluster, cfg, topic := setupFake(t, partitions)
	random := rand.New(rand.NewPCG(1, 2))
	var cuts atomic.Int64
	// One request in twenty loses its connection before it is written. The broker
	// calls this function from one goroutine.
	cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if random.IntN(20) == 0 {
			cuts.Add(1)
			return nil, errors.New("connection cut"), true
		}
		return nil, nil, false
	})
	// Others are refused, or written and nevertheless answered with an error.
	var failures []*kfake.FaultHandle
	for _, e := range []*kerr.Error{kerr.NotEnoughReplicas, kerr.RequestTimedOut, kerr.NotEnoughReplicasAfterAppend} {
		failures = append(failures, cluster.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Produce}, Err: e, Count: -1,
			When: func(kmsg.Request) bool { return random.IntN(50) == 0 },
		}))
	}

	p := newProducer(t, cfg, topic)
	p.limits.messages = 5
	msgs := numbered(3000, 11)
	failed := publishAsRelay(t, p, msgs, 40)

	log := readLog(t, cfg, topic)
	total := 0
	for _, m := range log {
		total += len(m)
	}
	t.Logf("%d publishes failed, %d messages are in the log %d times", failed, len(msgs), total)
	require.Equal(t, expected(msgs), firstSeen(log))
	require.Positive(t, cuts.Load())
	for _, f := range failures {
		require.Positive(t, f.Hits())
	}
	require.Greater(t, total, len(msgs), "the failures made duplicates")
}
