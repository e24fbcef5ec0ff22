package server

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/problem"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// ListWebhookDeliveries lists the deliveries of the calling key.
func (s *Server) ListWebhookDeliveries(
	ctx context.Context, req *webhookv1.ListWebhookDeliveriesRequest,
) (*webhookv1.ListWebhookDeliveriesResponse, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	q := store.KeyLogQuery{
		Endpoint: store.Endpoint{TenantID: p.TenantID, KeyID: p.KeyID}, Visibility: visibilityOf(p),
		State: stateFilter(req.State, errs), Type: typeFilter("type", req.Type, errs),
		EventID: errs.OptionalUUID("eventId", req.EventId), Since: sinceFilter(req.GetSince(), errs),
		Limit: page.Limit(req.Limit, errs),
	}
	binding := page.Bind("webhook-deliveries", q.TenantID, strconv.Itoa(int(q.KeyID)),
		string(q.State), page.Part(q.Type), page.Part(q.EventID), q.Since)
	if after := page.After(req.After, binding, errs); after != nil {
		q.Before = after.ID
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	found, err := s.deps.Store.KeyLog(ctx, q)
	if err != nil {
		return nil, err
	}
	resp := &webhookv1.ListWebhookDeliveriesResponse{}
	for _, d := range found.Deliveries {
		resp.Items = append(resp.Items, ownDelivery(q.KeyID, d))
	}
	if found.Next != "" {
		resp.NextCursor = new(binding.EncodePosition(page.Position{Time: rules.EventAt(found.Next), ID: found.Next}))
	}
	return resp, nil
}

// visibilityOf is what the key may see by its present scopes and brands.
func visibilityOf(p caller.Principal) store.Visibility {
	visibility := store.Visibility{Types: rules.TypesOf(p.Scopes)}
	if !p.AllBrands {
		visibility.Brands = append([]string{}, p.BrandIDs...)
	}
	return visibility
}

// states are the public names of the states of deliveries.
var states = map[webhookv1.WebhookDeliveryState]rules.State{
	webhookv1.WebhookDeliveryState_WEBHOOK_DELIVERY_STATE_PENDING:   rules.Pending,
	webhookv1.WebhookDeliveryState_WEBHOOK_DELIVERY_STATE_DELIVERED: rules.Delivered,
	webhookv1.WebhookDeliveryState_WEBHOOK_DELIVERY_STATE_EXHAUSTED: rules.Failed,
	webhookv1.WebhookDeliveryState_WEBHOOK_DELIVERY_STATE_DROPPED:   rules.Dropped,
}

func publicState(state rules.State) webhookv1.WebhookDeliveryState {
	for public, s := range states {
		if s == state {
			return public
		}
	}
	return webhookv1.WebhookDeliveryState_WEBHOOK_DELIVERY_STATE_UNSPECIFIED
}

func stateFilter(state *webhookv1.WebhookDeliveryState, errs *fields.Errors) rules.State {
	if state == nil {
		return ""
	}
	known, ok := states[*state]
	if !ok {
		errs.Add("state", problem.FieldInvalid, "must be a state of a delivery")
	}
	return known
}

func typeFilter(field string, eventType *string, errs *fields.Errors) *string {
	if eventType != nil && !slices.Contains(rules.EventTypes, *eventType) {
		errs.Add(field, problem.FieldInvalid, "must be the type of an event")
	}
	return eventType
}

// sinceFilter is the lowest id of an event that was recorded at the time or later.
func sinceFilter(since *timestamppb.Timestamp, errs *fields.Errors) string {
	switch {
	case since == nil:
		return ""
	case !since.IsValid():
		errs.Add("since", problem.FieldInvalid, "must be an instant")
		return ""
	default:
		return rules.FirstEventAt(latest(since.AsTime(), time.Unix(0, 0)))
	}
}

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// ownDelivery is a delivery as its key sees it.
func ownDelivery(keyID int32, d store.KeyLogEntry) *webhookv1.WebhookDelivery {
	shown := &webhookv1.WebhookDelivery{
		Id: rules.DeliveryID(keyID, d.EventID), EventId: d.EventID, Type: d.EventType,
		OccurredAt: timestamppb.New(rules.OccurredAt(d.EventID, d.EnvelopeHead)),
		State:      publicState(d.State), NextAttemptAt: timestamp(d.NextAttemptAt),
	}
	for _, a := range d.Attempts {
		shown.Attempts = append(shown.Attempts, &webhookv1.WebhookDeliveryAttempt{
			At: timestamppb.New(a.StartedAt), DurationMs: a.DurationMS, Status: a.ResponseStatus, Error: a.Problem,
			ResponseBody: responseText(a),
		})
	}
	return shown
}

// responseText is the beginning of the response as text, nil if there was none. The receiver may have sent any bytes, and the log
// may have ended within a character.
func responseText(a store.LoggedAttempt) *string {
	if a.ResponseStatus == nil {
		return nil
	}
	body := a.ResponseBody
	for n := 1; n < utf8.UTFMax && n <= len(body); n++ {
		if start := body[len(body)-n:]; utf8.RuneStart(start[0]) {
			if !utf8.FullRune(start) {
				body = body[:len(body)-n]
			}
			break
		}
	}
	return new(strings.ToValidUTF8(string(body), string(utf8.RuneError)))
}
