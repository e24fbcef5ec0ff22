package giftsite

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/gateway/internal/giftsite/addressform"
	"github.com/partnergifting/platform/pkg/phone"
	"github.com/partnergifting/platform/pkg/problem"
	giftsitev1 "github.com/partnergifting/platform/proto/gen/gifting/giftsite/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Preview is a page of a link that does not exist, with a made-up player.
type Preview struct {
	Page giftsitev1.PreviewPage
	Link *linksv1.GetClaimPageResponse
	// Device is the scheme that the player's device prefers, LIGHT or DARK. It counts if the theme leaves the scheme to the device.
	// Unspecified: the device that shows the document decides.
	Device tenantsv1.ColourScheme
	// Picture returns an image of the catalog as a data URL of at most limit bytes; empty: there is none.
	Picture func(ctx context.Context, address string, limit int) (string, error)
}

var errNoPreview = errors.New("not a page of the gift site")

// maxPreviewGifts bounds the pictures of a preview.
const maxPreviewGifts = 24

// Preview renders the page as one document of at most MaxPreview bytes that loads nothing and leads nowhere. It calls nothing but
// Picture. It returns no_products if the page shows a gift and the link has none that can be chosen.
func (s *Site) Preview(ctx context.Context, p Preview) ([]byte, error) {
	link := proto.CloneOf(p.Link)
	link.Gifts = link.GetGifts()[:min(len(link.GetGifts()), maxPreviewGifts)]
	link.State, link.Label = linksv1.ClaimState_CLAIM_STATE_OPEN, "Alex"
	page, err := s.previewDocument(ctx, p, link)
	if err != nil {
		return nil, err
	}
	embedded, err := page.embed(ctx, p.Picture)
	if err != nil {
		return nil, err
	}
	s.keepEmbedded(link, embedded)
	if page, err = s.previewDocument(ctx, p, link); err != nil {
		return nil, err
	}
	content, err := page.selfContained(embedded)
	if err == nil && len(content) > MaxPreview {
		err = problem.New(problem.PayloadTooLarge, "The page is too large for a preview.")
	}
	return content, err
}

// previewPage says how a page is reached.
type previewPage struct {
	// gift means that the page shows a gift that can be chosen.
	gift bool
	show func(s *Site, p *sample, v *visit)
}

var previews = map[giftsitev1.PreviewPage]previewPage{
	giftsitev1.PreviewPage_PREVIEW_PAGE_GREETING: {false, func(s *Site, _ *sample, v *visit) {
		s.render(v.w, http.StatusOK, pageGreeting, s.greetingView(v.link))
	}},
	giftsitev1.PreviewPage_PREVIEW_PAGE_CHOOSE: {false, func(s *Site, _ *sample, v *visit) {
		v.draft = &linksv1.ClaimDraft{}
		if v.link.GetGreeting() != "" { // It has a page of its own.
			v.setQuery(stepChoose)
		}
		s.showGifts(v)
	}},
	giftsitev1.PreviewPage_PREVIEW_PAGE_GIFT: {true, func(s *Site, p *sample, v *visit) {
		v.setQuery(stepGift, fieldGift, p.gift.GetProductId())
		s.getOpen(v)
	}},
	giftsitev1.PreviewPage_PREVIEW_PAGE_ADDRESS: {true, func(s *Site, p *sample, v *visit) {
		p.draft.Recipient = &linksv1.ClaimRecipient{Country: p.draft.GetRecipient().GetCountry()}
		v.setQuery(stepAddress)
		s.getOpen(v)
	}},
	giftsitev1.PreviewPage_PREVIEW_PAGE_ADDRESS_ERRORS: {true, func(s *Site, p *sample, v *visit) {
		p.draft.Recipient.Name, p.draft.Recipient.Phone, p.draft.Recipient.City = "", "070", ""
		p.draft.Answer = sampleErrors()
		v.setQuery(stepAddress)
		s.getOpen(v)
	}},
	giftsitev1.PreviewPage_PREVIEW_PAGE_REVIEW: {true, func(s *Site, _ *sample, v *visit) {
		v.setQuery(stepReview)
		s.getOpen(v)
	}},
	giftsitev1.PreviewPage_PREVIEW_PAGE_THANKS:    {true, claimedAs(linksv1.ClaimProgress_CLAIM_PROGRESS_PREPARING, true)},
	giftsitev1.PreviewPage_PREVIEW_PAGE_SENT:      {true, claimedAs(linksv1.ClaimProgress_CLAIM_PROGRESS_SENT, true)},
	giftsitev1.PreviewPage_PREVIEW_PAGE_DELIVERED: {true, claimedAs(linksv1.ClaimProgress_CLAIM_PROGRESS_DELIVERED, true)},
	giftsitev1.PreviewPage_PREVIEW_PAGE_CANCELLED: {true, claimedAs(linksv1.ClaimProgress_CLAIM_PROGRESS_CANCELLED, true)},
	giftsitev1.PreviewPage_PREVIEW_PAGE_CLAIMED:   {false, claimedAs(linksv1.ClaimProgress_CLAIM_PROGRESS_PREPARING, false)},
	giftsitev1.PreviewPage_PREVIEW_PAGE_WAITING:   {false, stateOf(linksv1.ClaimState_CLAIM_STATE_WAITING)},
	giftsitev1.PreviewPage_PREVIEW_PAGE_EXPIRED:   {false, stateOf(linksv1.ClaimState_CLAIM_STATE_EXPIRED)},
	giftsitev1.PreviewPage_PREVIEW_PAGE_UNKNOWN:   {false, messageOf(stateUnknown)},
	giftsitev1.PreviewPage_PREVIEW_PAGE_FAILING:   {false, messageOf(stateFailing)},
	giftsitev1.PreviewPage_PREVIEW_PAGE_LIMITED:   {false, messageOf(stateLimited)},
	giftsitev1.PreviewPage_PREVIEW_PAGE_REFUSED:   {false, messageOf(stateRefused)},
	giftsitev1.PreviewPage_PREVIEW_PAGE_NONE_LEFT: {false, func(s *Site, p *sample, v *visit) {
		for _, g := range p.page.GetGifts() {
			g.OutOfStock = true
		}
		p.draft = &linksv1.ClaimDraft{}
		v.setQuery(stepChoose)
		s.getOpen(v)
	}},
	giftsitev1.PreviewPage_PREVIEW_PAGE_TAKEN: {true, func(s *Site, p *sample, v *visit) {
		p.gift.OutOfStock = true
		v.setQuery(stepChoose)
		s.getOpen(v)
	}},
	giftsitev1.PreviewPage_PREVIEW_PAGE_REVIEW_ERROR: {true, func(s *Site, p *sample, v *visit) {
		p.draft.Answer = &linksv1.ClaimAnswer{Code: string(problem.ServiceUnavailable)}
		v.setQuery(stepReview)
		s.getOpen(v)
	}},
	giftsitev1.PreviewPage_PREVIEW_PAGE_CORRECT: {true, func(s *Site, p *sample, v *visit) {
		v.setQuery(stepCorrect)
		claimedAs(linksv1.ClaimProgress_CLAIM_PROGRESS_PREPARING, true)(s, p, v)
	}},
	giftsitev1.PreviewPage_PREVIEW_PAGE_CORRECTED: {true, func(s *Site, p *sample, v *visit) {
		v.setQuery(stepCorrected)
		claimedAs(linksv1.ClaimProgress_CLAIM_PROGRESS_PREPARING, true)(s, p, v)
	}},
}

// previewDocument renders the page as a browser gets it.
func (s *Site) previewDocument(ctx context.Context, preview Preview, link *linksv1.GetClaimPageResponse) (*document, error) {
	known, ok := previews[preview.Page]
	if !ok {
		return nil, fmt.Errorf("%w: %s", errNoPreview, preview.Page)
	}
	p := &sample{page: proto.CloneOf(link)}
	p.fillDraft()
	noGift := problem.New(problem.NoProducts, "The page shows a gift, and the campaign has none that can be chosen.")
	if known.gift && p.gift == nil {
		return nil, noGift
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, Prefix+"preview", http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("preview: %w", err)
	}
	r.Header.Set("Accept-Language", link.GetLocale())
	w, previewSite := &recorder{header: http.Header{}}, *s
	previewSite.Links = p
	known.show(&previewSite, p, &visit{w: w, r: r, token: "preview", nonce: newNonce(), link: p.page, draft: p.draft})
	if w.content.Len() == 0 { // A redirect to the step where something is missing.
		return nil, noGift
	}
	return newDocument(w.content.Bytes(), preview.Device)
}

// setQuery says which page of the link is read.
func (v *visit) setQuery(step string, pairs ...string) {
	v.r.URL.RawQuery = strings.TrimPrefix(stepQuery(step, pairs...), "?")
}

func claimedAs(progress linksv1.ClaimProgress, own bool) func(*Site, *sample, *visit) {
	return func(s *Site, p *sample, v *visit) {
		p.page.State, p.progress, p.own = linksv1.ClaimState_CLAIM_STATE_CLAIMED, progress, own
		p.draft.Version, p.draft.OrderVersion = 0, 1 // The browser sees what is stored.
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

	page  *linksv1.GetClaimPageResponse
	draft *linksv1.ClaimDraft
	// gift is nil if none can be chosen.
	gift     *linksv1.ClaimGift
	progress linksv1.ClaimProgress
	own      bool
}

// towns are the places of the postal codes that the address form shows as examples, with their region where the form requires it.
var towns = map[string][2]string{
	"AT": {"Wien"}, "AU": {"North Sydney", "NSW"}, "BE": {"Liège"}, "BG": {"Sofia"}, "CA": {"Westmount", "QC"}, "CH": {"Bettlach"},
	"CZ": {"Praha"}, "DE": {"Oldenburg"}, "DK": {"Skanderborg"}, "ES": {"Madrid", "Madrid"}, "FI": {"Helsinki"}, "FR": {"Biganos"},
	"GB": {"London"}, "HR": {"Zagreb"}, "HU": {"Budapest"}, "IT": {"Roma", "RM"}, "LT": {"Vilnius"}, "LU": {"Pétange"}, "LV": {"Rīga"},
	"NL": {"Amsterdam"}, "NO": {"Oslo"}, "NZ": {"Wellington"}, "PL": {"Warszawa"}, "PT": {"Sintra"}, "RO": {"București"},
	"SE": {"Stockholm"}, "SI": {"Kranj"}, "SK": {"Žilina"}, "US": {"Cupertino", "CA"},
}

// sampleAddress is an address in the country, made of the examples of its form as far as it has them.
func sampleAddress(country string) *linksv1.ClaimRecipient {
	form := addressform.For(country, "")
	street, _ := form.Field(addressform.Street)
	code, _ := form.Field(addressform.PostalCode)
	town, known := towns[country]
	if !known {
		town = [2]string{"Springfield", "North"}
	}
	return &linksv1.ClaimRecipient{
		Name: "Alex Morgan", Phone: cmp.Or(phone.Example(country), "+46 70 123 45 67"), Street: cmp.Or(street.Example, "Main Street 1"),
		City: town[0], Region: unlessEmpty(town[1]), PostalCode: proto.String(cmp.Or(code.Example, "12345")), Country: country,
	}
}

// maskedSample hides of a sampleAddress what the orders service hides of an address.
func maskedSample(r *linksv1.ClaimRecipient) *linksv1.ClaimRecipient {
	const hidden = "•••"
	beginning := func(text string) string {
		return string([]rune(text)[:min(2, utf8.RuneCountInString(text)/2)]) + hidden
	}
	return &linksv1.ClaimRecipient{
		Name: "A••• M•••", Phone: hidden + r.GetPhone()[len(r.GetPhone())-2:], Street: beginning(r.GetStreet()),
		City: asClaimed(r).GetCity(), PostalCode: proto.String(beginning(r.GetPostalCode())), Country: r.GetCountry(),
	}
}

// fillDraft makes the draft: the first gift that can be chosen, sent to the country of the link's locale or else its first country.
func (p *sample) fillDraft() {
	p.draft = &linksv1.ClaimDraft{}
	for _, g := range p.page.GetGifts() {
		picked, ok := firstChoice(g)
		if !ok {
			continue
		}
		p.gift = g
		p.draft = &linksv1.ClaimDraft{
			Version: 1, Gift: &linksv1.ClaimChoiceOfGift{ProductId: g.GetProductId(), Variations: picked},
			Recipient: sampleAddress(cmp.Or(likelyCountry(g.GetCountries(), p.page.GetLocale(), ""), g.GetCountries()[0])),
		}
		if g.GetTakesInitials() {
			p.draft.Gift.Initials = "A M" // As the hint writes them.
		}
		return
	}
}

// firstChoice chooses the first value of each dimension, or the first combination that is left.
func firstChoice(g *linksv1.ClaimGift) (picked map[string]string, ok bool) {
	if g.GetOutOfStock() || len(g.GetCountries()) == 0 {
		return nil, false
	}
	if len(g.GetChoices()) > 0 {
		return g.GetChoices()[0].GetVariations(), true
	}
	picked = map[string]string{}
	for _, d := range g.GetVariations() {
		if len(d.GetValues()) == 0 {
			return nil, false
		}
		picked[d.GetDimension()] = d.GetValues()[0]
	}
	return picked, true
}

func sampleErrors() *linksv1.ClaimAnswer {
	return answerOf(problem.InvalidRequest, []problem.Violation{
		{Field: "recipient.name", Code: problem.FieldRequired},
		{Field: "recipient.phone", Code: problem.FieldInvalid},
		{Field: "recipient.city", Code: problem.FieldRequired},
	})
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
		Reference: "PREVIEW-1", ProductName: p.gift.GetName(), Variations: p.draft.GetGift().GetVariations(),
		ClaimedAt: daysAgo(0), Shown: p.gift, AcceptsThanks: true,
		Initials: p.draft.GetGift().GetInitials(), MaskedRecipient: maskedSample(p.draft.GetRecipient()),
	}
	switch p.progress {
	case linksv1.ClaimProgress_CLAIM_PROGRESS_PREPARING:
		resp.Gift.CorrectableVersion = proto.Int64(1)
		return resp, nil
	case linksv1.ClaimProgress_CLAIM_PROGRESS_SENT:
		resp.Gift.ClaimedAt, resp.Gift.SentAt = daysAgo(1), daysAgo(0)
	case linksv1.ClaimProgress_CLAIM_PROGRESS_DELIVERED:
		resp.Gift.ClaimedAt, resp.Gift.SentAt, resp.Gift.DeliveredAt = daysAgo(4), daysAgo(3), daysAgo(0)
	default:
		return resp, nil
	}
	resp.Gift.Carrier, resp.Gift.TrackingReference = "DHL", "0012345678" // It delivers in every country.
	resp.Gift.TrackingUrl = "https://carrier.example/0012345678"
	return resp, nil
}

func daysAgo(days int) *timestamppb.Timestamp {
	return timestamppb.New(time.Now().AddDate(0, 0, -days))
}

// recorder keeps the content of a response.
type recorder struct {
	header  http.Header
	content bytes.Buffer
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) Write(content []byte) (int, error) { return r.content.Write(content) }

func (r *recorder) WriteHeader(int) {}
