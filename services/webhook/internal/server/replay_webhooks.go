package server

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

const (
	// maxReplaySpan is the longest time span of a replay.
	maxReplaySpan = 30 * 24 * time.Hour
	// maxReplayTypes bounds the types of a replay, which may be repeated.
	maxReplayTypes = 100
	// replayRetryAfter is about how long a receiver that answers takes for some hundred deliveries.
	replayRetryAfter = 30 * time.Second
)

type replayEffect = idempotency.Effect[*webhookv1.ReplayWebhooksResponse]

// ReplayWebhooks makes the finished deliveries of the calling key in a time span due again, once per Idempotency-Key. They are sent
// like all others, within the key's concurrency. While the key has very many pending deliveries, more are refused.
func (s *Server) ReplayWebhooks(
	ctx context.Context, req *webhookv1.ReplayWebhooksRequest,
) (*webhookv1.ReplayWebhooksResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	if resp, found, err := idempotency.Replay[*webhookv1.ReplayWebhooksResponse](ctx, s.deps.Pool); found || err != nil {
		return resp, err
	}
	errs := caller.RequestErrors(ctx)
	from, to := replaySpan(req, errs)
	visibility := visibilityOf(p)
	visibility.Types = replayTypes(req.GetTypes(), visibility.Types, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if to.Sub(from) > maxReplaySpan {
		refusal := problem.New(problem.ReplayTooLarge, "A replay spans at most 30 days.")
		return idempotency.Refuse[*webhookv1.ReplayWebhooksResponse](ctx, s.deps.Pool, refusal, idempotency.Record{})
	}
	span := store.Span{From: rules.FirstEventAt(from), Before: rules.FirstEventAt(to)}
	replay := s.deps.Store.NewReplay(store.Endpoint{TenantID: p.TenantID, KeyID: p.KeyID}, span, visibility)
	resp, err := idempotency.RunInTx(ctx, s.deps.Pool, replay.QueueRead, func() (effect replayEffect, err error) {
		switch {
		case replay.Busy:
			e := problem.New(problem.RateLimited, "The key has %d or more pending deliveries; replay when there are fewer.",
				store.MaxReplayed)
			e.RetryAfter = replayRetryAfter
			return effect, e
		case replay.TooLong:
			return effect, problem.New(problem.ReplayTooLarge, "The span has more than %d deliveries of any type and state.",
				store.MaxReplaySpan)
		case replay.Deliveries > store.MaxReplayed:
			return effect, problem.New(problem.ReplayTooLarge, "The span has more than %d deliveries to send again.", store.MaxReplayed)
		}
		effect.Answer = &webhookv1.ReplayWebhooksResponse{Deliveries: int32(replay.Deliveries)} //nolint:gosec // At most MaxReplayed.
		effect.Queue = replay.QueueUpdate
		return effect, nil
	})
	if err != nil {
		return nil, err
	}
	s.deps.Wake()
	return resp, nil
}

func replaySpan(req *webhookv1.ReplayWebhooksRequest, errs *fields.Errors) (from, to time.Time) {
	from, to = instant("from", req.GetFrom(), errs), instant("to", req.GetTo(), errs)
	if !errs.Has("from") && !errs.Has("to") && !from.Before(to) {
		errs.Add("to", problem.FieldInvalid, "must be later than from")
	}
	return from, to
}

// replayTypes are those of the requested types that the key may see, or all that it may see; nil for all types.
func replayTypes(types, visible []string, errs *fields.Errors) []string {
	if len(types) > maxReplayTypes {
		errs.Add("types", problem.FieldTooLong, "has too many entries")
		return nil
	}
	for i := range types {
		typeFilter(fmt.Sprintf("types[%d]", i), &types[i], errs)
	}
	if len(types) == 0 {
		return visible
	}
	if visible == nil {
		visible = rules.EventTypes
	}
	return slices.DeleteFunc(slices.Clone(visible), func(t string) bool { return !slices.Contains(types, t) })
}
