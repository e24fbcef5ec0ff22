package idempotency_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
)

func TestEveryStoredAnswerIsRewrittenOnce(t *testing.T) {
	t.Parallel()
	pool, r := setupRegister(t)
	ask := func(keyID int32, key string) (*answer, error) {
		return run(request(t.Context(), keyID, key, "f"), pool, effect(fmt.Sprint(keyID, key), "old"))
	}
	for _, keyID := range []int32{1, 2} {
		_, err := ask(keyID, "asked")
		require.NoError(t, err)
	}
	// More than two batches.
	_, err := pool.Exec(t.Context(), `INSERT INTO idempotency_answers (key_id, idempotency_key, fingerprint, answer)
SELECT 3 + n % 7, 'k' || n, fingerprint, answer FROM idempotency_answers, generate_series(1, 1200) AS n WHERE key_id = 1`)
	require.NoError(t, err)
	refused := func() (*answer, error) {
		return run(request(t.Context(), 1, "refused", "f"), pool, func(context.Context) (e idempotency.Effect[*answer], err error) {
			return e, problem.New(problem.OutOfStock, "none")
		})
	}
	_, first := refused()
	require.Error(t, first)
	require.NoError(t, r.claim(t.Context(), "f"), "a claim without an answer")

	seen := map[int32]int{}
	rewrite := func(keep int32) int {
		n, err := idempotency.Rewrite(t.Context(), pool, func(keyID int32, stored proto.Message) (bool, error) {
			seen[keyID]++
			stored.(*answer).Error = proto.String("new")
			return keyID != keep, nil
		})
		require.NoError(t, err)
		return n
	}
	require.Equal(t, 1201, rewrite(2))
	require.Equal(t, map[int32]int{1: 1, 2: 1, 3: 171, 4: 172, 5: 172, 6: 172, 7: 171, 8: 171, 9: 171}, seen)
	for keyID, want := range map[int32]string{1: "new", 2: "old"} {
		got, err := ask(keyID, "asked")
		require.NoError(t, err)
		require.Equal(t, want, got.GetError())
	}
	_, again := refused()
	require.Equal(t, first.Error(), again.Error())
}

func TestLargeAnswersAreReadAFewAtATime(t *testing.T) { //nolint:paralleltest // It measures the memory of the process.
	pool := setup(t)
	_, err := run(request(t.Context(), 1, "k", "f"), pool, effect("e", strings.Repeat("x", 1<<20)))
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `INSERT INTO idempotency_answers (key_id, idempotency_key, fingerprint, answer)
SELECT 1, 'k' || n, fingerprint, answer FROM idempotency_answers, generate_series(1, 40) AS n`)
	require.NoError(t, err)
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	seen := 0
	_, err = idempotency.RewriteOf(t.Context(), pool, []int32{1}, func(int32, proto.Message) (bool, error) {
		if seen++; seen%10 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			require.Less(t, now.HeapAlloc, before.HeapAlloc+20<<20)
		}
		return false, nil
	})
	require.NoError(t, err)
	require.Equal(t, 41, seen)
}

func TestTwoRewritesOfOneAnswerBothTakePlace(t *testing.T) {
	t.Parallel()
	pool := setup(t)
	_, err := run(request(t.Context(), 1, "k", "f"), pool, effect("e", "Ann and Bo"))
	require.NoError(t, err)
	erase := func(name string, meanwhile func()) {
		_, err := idempotency.RewriteOf(t.Context(), pool, []int32{1}, func(_ int32, stored proto.Message) (bool, error) {
			meanwhile()
			meanwhile = func() {}
			text := stored.(*answer).GetError()
			stored.(*answer).Error = proto.String(strings.ReplaceAll(text, name, "[erased]"))
			return strings.Contains(text, name), nil
		})
		require.NoError(t, err)
	}
	erase("Ann", func() { erase("Bo", func() {}) })
	got, err := run(request(t.Context(), 1, "k", "f"), pool, effect("e", "Ann and Bo"))
	require.NoError(t, err)
	require.Equal(t, "[erased] and [erased]", got.GetError())
}
