package giftsite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// previews are the pages that Preview can show: how each is reached.
var previews = []struct {
	name string
	show func(s *Site, p *sample, v *visit)
}{
	{"greeting", func(s *Site, _ *sample, v *visit) { s.render(v.w, http.StatusOK, pageGreeting, s.greetingView(v.link)) }},
	{"choose", func(s *Site, _ *sample, v *visit) { s.render(v.w, http.StatusOK, pageList, s.listView(v)) }},
	{"gift", func(s *Site, p *sample, v *visit) {
		s.openStep(v, stepGift, fieldGift, p.draft.GetGift().GetProductId())
	}},
	{"address", func(s *Site, p *sample, v *visit) { p.draft.Recipient = nil; s.openStep(v, stepAddress) }},
	{"address-errors", func(s *Site, p *sample, v *visit) { p.draft.Answer = sampleErrors(); s.openStep(v, stepAddress) }},
	{"review", func(s *Site, _ *sample, v *visit) { s.openStep(v, stepReview) }},
	{"thanks", claimedAs(linksv1.ClaimProgress_CLAIM_PROGRESS_PREPARING, true)},
	{"sent", claimedAs(linksv1.ClaimProgress_CLAIM_PROGRESS_SENT, true)},
	{"delivered", claimedAs(linksv1.ClaimProgress_CLAIM_PROGRESS_DELIVERED, true)},
	{"cancelled", claimedAs(linksv1.ClaimProgress_CLAIM_PROGRESS_CANCELLED, true)},
	{"claimed", claimedAs(linksv1.ClaimProgress_CLAIM_PROGRESS_PREPARING, false)},
	{stateWaiting, stateOf(linksv1.ClaimState_CLAIM_STATE_WAITING)},
	{stateExpired, stateOf(linksv1.ClaimState_CLAIM_STATE_EXPIRED)},
	{stateUnknown, messageOf(stateUnknown)},
	{stateFailing, messageOf(stateFailing)},
	{stateLimited, messageOf(stateLimited)},
	{stateRefused, messageOf(stateRefused)},
}

// Previews lists the pages that Preview can show.
func Previews() []string {
	names := make([]string, len(previews))
	for i, p := range previews {
		names[i] = p.name
	}
	return names
}

// ErrNoPreview means that there is no such page, or that the link has no gift to show on it.
var ErrNoPreview = errors.New("cannot be shown")

// Preview renders a page of a link that does not exist, with a made-up recipient. It reads and writes nothing.
func Preview(name string, page *linksv1.GetClaimPageResponse, cfg Config) ([]byte, error) {
	p := &sample{page: proto.CloneOf(page)}
	p.page.State = linksv1.ClaimState_CLAIM_STATE_OPEN
	site, err := New(Deps{Links: p, Clock: time.Now, Log: slog.New(slog.DiscardHandler)}, cfg)
	if err != nil {
		return nil, err
	}
	if err := p.choose(); err != nil {
		return nil, err
	}
	for _, known := range previews {
		if known.name != name {
			continue
		}
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, Prefix+"preview", http.NoBody)
		if err != nil {
			return nil, fmt.Errorf("preview: %w", err)
		}
		r.Header.Set("Accept-Language", page.GetLocale())
		w := &recorder{header: http.Header{}}
		known.show(site, p, &visit{w: w, r: r, token: "preview", nonce: newNonce(), link: p.page, draft: p.draft})
		if w.content.Len() == 0 {
			return nil, fmt.Errorf("page %s %w", name, ErrNoPreview)
		}
		return w.content.Bytes(), nil
	}
	return nil, fmt.Errorf("page %q %w: it is one of %s", name, ErrNoPreview, strings.Join(Previews(), ", "))
}

// openStep shows a page of an open link as a browser gets it that has entered the draft.
func (s *Site) openStep(v *visit, step string, pairs ...string) {
	query := url.Values{fieldStep: {step}}
	for i := 0; i+1 < len(pairs); i += 2 {
		query.Set(pairs[i], pairs[i+1])
	}
	v.r.URL.RawQuery = query.Encode()
	s.getOpen(v)
}

func claimedAs(progress linksv1.ClaimProgress, own bool) func(*Site, *sample, *visit) {
	return func(s *Site, p *sample, v *visit) {
		p.page.State, p.progress, p.own = linksv1.ClaimState_CLAIM_STATE_CLAIMED, progress, own
		s.get(v)
	}
}

func stateOf(state linksv1.ClaimState) func(*Site, *sample, *visit) {
	return func(s *Site, p *sample, v *visit) {
		p.page.State = state
		s.get(v)
	}
}

func messageOf(state string) func(*Site, *sample, *visit) {
	return func(s *Site, _ *sample, v *visit) { s.renderMessage(v.w, v.r, http.StatusOK, state) }
}

// sample is the service behind a preview. It has one link, whose player has entered a draft.
type sample struct {
	linksv1.GiftSiteServiceClient // Nil: a preview calls nothing that changes a link.

	page     *linksv1.GetClaimPageResponse
	draft    *linksv1.ClaimDraft
	gift     *linksv1.ClaimGift
	progress linksv1.ClaimProgress
	own      bool
}

// choose makes the draft: the first gift that is left, sent to its first country.
func (p *sample) choose() error {
	for _, g := range p.page.GetGifts() {
		if !g.GetOutOfStock() && len(g.GetCountries()) > 0 {
			p.gift = g
			break
		}
	}
	if p.gift == nil {
		return fmt.Errorf("the gift site %w: it offers no gift", ErrNoPreview)
	}
	picked := map[string]string{}
	for _, d := range p.gift.GetVariations() {
		picked[d.GetDimension()] = d.GetValues()[0]
	}
	if len(p.gift.GetChoices()) > 0 {
		picked = p.gift.GetChoices()[0].GetVariations()
	}
	p.draft = &linksv1.ClaimDraft{
		Version: 1, Gift: &linksv1.ClaimChoiceOfGift{ProductId: p.gift.GetProductId(), Variations: picked},
		Recipient: &linksv1.ClaimRecipient{
			Name: "Alex Morgan", Phone: "+46701234567", Street: "Main Street 1", City: "Springfield", PostalCode: proto.String("12345"),
			Region: proto.String("North"), Country: p.gift.GetCountries()[0],
		},
	}
	return nil
}

func sampleErrors() *linksv1.ClaimAnswer {
	answer := &linksv1.ClaimAnswer{Code: string(problem.InvalidRequest)}
	for field, code := range map[string]string{
		"recipient.name": problem.FieldRequired, "recipient.phone": problem.FieldInvalid, "recipient.city": problem.FieldTooLong,
	} {
		answer.Violations = append(answer.Violations, &commonv1.Violation{Field: field, Code: code})
	}
	return answer
}

// GetClaimDraft implements GiftSiteServiceClient.
func (p *sample) GetClaimDraft(
	context.Context, *linksv1.GetClaimDraftRequest, ...grpc.CallOption,
) (*linksv1.GetClaimDraftResponse, error) {
	return &linksv1.GetClaimDraftResponse{State: p.page.GetState(), Draft: p.draft}, nil
}

// GetClaimedGift implements GiftSiteServiceClient.
func (p *sample) GetClaimedGift(
	context.Context, *linksv1.GetClaimedGiftRequest, ...grpc.CallOption,
) (*linksv1.GetClaimedGiftResponse, error) {
	resp := &linksv1.GetClaimedGiftResponse{Progress: p.progress}
	if !p.own {
		return resp, nil
	}
	resp.Gift = &linksv1.ClaimedGift{
		Reference: "PREVIEW-1", ProductName: p.gift.GetName(), Variations: p.draft.GetGift().GetVariations(), ClaimedAt: timestamppb.Now(), Shown: p.gift,
		MaskedRecipient: &linksv1.ClaimRecipient{
			Name: "A••• M•••", Phone: "+46 •••• 67", Street: "M••• 1", City: "S•••", PostalCode: proto.String("1••••"),
			Country: p.draft.GetRecipient().GetCountry(),
		},
	}
	switch p.progress {
	case linksv1.ClaimProgress_CLAIM_PROGRESS_PREPARING:
		resp.Gift.CorrectableVersion = proto.Int64(1)
	case linksv1.ClaimProgress_CLAIM_PROGRESS_SENT, linksv1.ClaimProgress_CLAIM_PROGRESS_DELIVERED:
		resp.Gift.Carrier, resp.Gift.TrackingReference = "PostNord", "0012345678"
	default:
	}
	return resp, nil
}

// recorder keeps the content of a response.
type recorder struct {
	header  http.Header
	content bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) Write(content []byte) (int, error) { return r.content.Write(content) }

func (r *recorder) WriteHeader(int) {}
