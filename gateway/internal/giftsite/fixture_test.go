package giftsite

import (
	"bytes"
	"context"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric/noop"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/pkg/phone"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

const (
	token = "Q2hvb3NlLWEtZ2lmdC10b2"
	// unknown begins every token that has no link.
	unknown = "unknown-token-"
	public  = "https://gifts.example/api/public/v1"
)

// fixture is a site with one link, whose page is page. A claim returns claimed, or failure if it is set.
type fixture struct {
	linksv1.GiftSiteServiceClient // Nil: players do not preview.

	t    *testing.T
	site *Site
	log  bytes.Buffer

	// now is the time of look-ups.
	now time.Time

	page    *linksv1.GetClaimPageResponse
	pageErr error
	claimed *linksv1.ClaimLinkResponse
	failure error
	// failures is how many claims fail; 0: all.
	failures int
	// saveErr is the result of saving a draft.
	saveErr error
	// drafts are what is kept, by nonce.
	drafts map[string]*linksv1.ClaimDraft
	// claimedBy is the nonce of the form that has claimed the link, order what it sees of the order.
	claimedBy string
	order     *linksv1.GetClaimedGiftResponse
	orderErr  error
	// corrections are those that were made; correctErr is the result of the next ones.
	corrections []*linksv1.CorrectClaimedGiftRequest
	correctErr  error
	// thanks are the texts that were sent; thankErr is the result of the next one.
	thanks   []string
	thankErr error
	// digits are those that were tried; reopenErr is the result of the next ones. reopenedBy is the nonce that knew them.
	digits     []string
	reopenErr  error
	reopenedBy string
	// triesLeft is how many tries are left after digits that are wrong.
	triesLeft int32
	// claims are the claims that were made, saves the drafts that were saved, reads the tokens that were read.
	claims []*linksv1.ClaimLinkRequest
	saves  []*linksv1.SaveClaimDraftRequest
	reads  []string
	// nonce is the cookie of the browser; empty: it has none.
	nonce string
}

func (f *fixture) GetClaimPage(
	ctx context.Context, r *linksv1.GetClaimPageRequest, _ ...grpc.CallOption,
) (*linksv1.GetClaimPageResponse, error) {
	_, bounded := ctx.Deadline()
	require.True(f.t, bounded)
	f.reads = append(f.reads, r.GetToken())
	if f.pageErr != nil {
		return nil, f.pageErr
	}
	if strings.HasPrefix(r.GetToken(), unknown) {
		return nil, problem.RecordNotFound()
	}
	return f.page, nil
}

func (f *fixture) ClaimLink(
	ctx context.Context, r *linksv1.ClaimLinkRequest, _ ...grpc.CallOption,
) (*linksv1.ClaimLinkResponse, error) {
	_, bounded := ctx.Deadline()
	require.True(f.t, bounded)
	_, err := proto.Marshal(r)
	require.NoError(f.t, err, "invalid text must be rejected before the call")
	f.claims = append(f.claims, r)
	if f.failure != nil && (f.failures == 0 || len(f.claims) <= f.failures) {
		return nil, f.failure
	}
	if f.page.GetState() == linksv1.ClaimState_CLAIM_STATE_OPEN {
		f.page.State, f.page.Gifts, f.claimedBy, f.drafts = f.claimed.GetState(), nil, r.GetFormNonce(), map[string]*linksv1.ClaimDraft{
			r.GetFormNonce(): {Recipient: r.GetRecipient()},
		}
	}
	return f.claimed, nil
}

// hasDraft is the rule of the service.
func (f *fixture) hasDraft(nonce string) bool {
	return f.page.GetState() == linksv1.ClaimState_CLAIM_STATE_OPEN || f.claimedBy != "" && nonce == f.claimedBy
}

func (f *fixture) GetClaimDraft(
	_ context.Context, r *linksv1.GetClaimDraftRequest, _ ...grpc.CallOption,
) (*linksv1.GetClaimDraftResponse, error) {
	resp := &linksv1.GetClaimDraftResponse{State: f.page.GetState()}
	if f.hasDraft(r.GetFormNonce()) {
		resp.Draft = proto.CloneOf(f.drafts[r.GetFormNonce()])
	}
	return resp, f.saveErr
}

func (f *fixture) SaveClaimDraft(
	_ context.Context, r *linksv1.SaveClaimDraftRequest, _ ...grpc.CallOption,
) (*linksv1.SaveClaimDraftResponse, error) {
	_, err := proto.Marshal(r)
	require.NoError(f.t, err, "invalid text must be rejected before the call")
	f.saves = append(f.saves, proto.CloneOf(r))
	if f.saveErr != nil {
		return nil, f.saveErr
	}
	resp := &linksv1.SaveClaimDraftResponse{State: f.page.GetState()}
	if !f.hasDraft(r.GetFormNonce()) {
		return resp, nil
	}
	draft := proto.CloneOf(f.drafts[r.GetFormNonce()])
	if draft == nil {
		draft = &linksv1.ClaimDraft{}
	}
	if r.GetGift() != nil || r.GetRecipient() != nil {
		if draft.GetVersion() == 0 {
			draft.Ordered = draft.GetRecipient()
		}
		draft.Version++
	}
	if r.GetGift() != nil {
		draft.Gift = r.GetGift()
	}
	if r.GetRecipient() != nil {
		draft.Recipient = proto.CloneOf(r.GetRecipient())
		if number, ok := phone.ParseIn(r.GetRecipient().GetPhone(), r.GetRecipient().GetCountry()); ok {
			draft.Recipient.Phone = phone.Spaced(number)
		}
	}
	draft.Answer = r.GetAnswer()
	if r.GetCheckRecipient() {
		draft.Answer = checked(draft.GetRecipient(), r.GetAnswer())
	}
	if strings.Contains(draft.GetGift().GetInitials(), "_") {
		draft.Answer = &linksv1.ClaimAnswer{Code: string(problem.InvalidRequest), Violations: append(
			draft.GetAnswer().GetViolations(), &commonv1.Violation{Field: fieldInitials, Code: problem.FieldInvalid},
		)}
	}
	f.drafts[r.GetFormNonce()] = draft
	resp.Draft = proto.CloneOf(draft)
	return resp, nil
}

// checked finds some of the errors that the service finds.
func checked(r *linksv1.ClaimRecipient, found *linksv1.ClaimAnswer) *linksv1.ClaimAnswer {
	answer := &linksv1.ClaimAnswer{Code: string(problem.InvalidRequest), Violations: found.GetViolations()}
	add := func(field, code string) {
		answer.Violations = append(answer.Violations, &commonv1.Violation{Field: "recipient." + field, Code: code})
	}
	for field, text := range map[string]string{
		"name":    r.GetName(),
		"street":  r.GetStreet(),
		"city":    r.GetCity(),
		"phone":   r.GetPhone(),
		"country": r.GetCountry(),
	} {
		if text == "" {
			add(field, problem.FieldRequired)
		}
	}
	if r.GetPhone() != "" && !strings.HasPrefix(r.GetPhone(), "+") {
		add("phone", problem.FieldInvalid)
	}
	if len(answer.GetViolations()) == 0 {
		return nil
	}
	return answer
}

func (f *fixture) GetClaimedGift(
	_ context.Context, r *linksv1.GetClaimedGiftRequest, _ ...grpc.CallOption,
) (*linksv1.GetClaimedGiftResponse, error) {
	if f.orderErr != nil {
		return nil, f.orderErr
	}
	if f.page.GetState() != linksv1.ClaimState_CLAIM_STATE_CLAIMED {
		return nil, problem.RecordNotFound()
	}
	resp := proto.CloneOf(f.order)
	switch {
	case f.claimedBy != "" && r.GetFormNonce() == f.claimedBy:
	case f.reopenedBy != "" && r.GetFormNonce() == f.reopenedBy:
		resp.Gift.MaskedRecipient, resp.Gift.Thanks, resp.Gift.AcceptsThanks, resp.Gift.CorrectableVersion = nil, "", false, nil
	default:
		resp.Gift = nil
	}
	return resp, nil
}

func (f *fixture) ReopenClaimedGift(
	_ context.Context, r *linksv1.ReopenClaimedGiftRequest, _ ...grpc.CallOption,
) (*linksv1.ReopenClaimedGiftResponse, error) {
	f.digits = append(f.digits, r.GetPhoneDigits())
	if f.reopenErr != nil {
		return nil, f.reopenErr
	}
	if r.GetPhoneDigits() != "4567" {
		resp := &linksv1.ReopenClaimedGiftResponse{TriesLeft: f.triesLeft}
		if f.triesLeft == 0 {
			resp.Pause = durationpb.New(time.Hour)
		}
		return resp, nil
	}
	f.reopenedBy = r.GetFormNonce()
	return &linksv1.ReopenClaimedGiftResponse{Reopened: true}, nil
}

func (f *fixture) CorrectClaimedGift(
	_ context.Context, r *linksv1.CorrectClaimedGiftRequest, _ ...grpc.CallOption,
) (*linksv1.CorrectClaimedGiftResponse, error) {
	f.corrections = append(f.corrections, r)
	if f.claimedBy == "" || r.GetFormNonce() != f.claimedBy {
		return nil, problem.RecordNotFound()
	}
	if f.correctErr != nil {
		return nil, f.correctErr
	}
	delete(f.drafts, r.GetFormNonce())
	return &linksv1.CorrectClaimedGiftResponse{}, nil
}

func (f *fixture) ThankForClaimedGift(
	_ context.Context, r *linksv1.ThankForClaimedGiftRequest, _ ...grpc.CallOption,
) (*linksv1.ThankForClaimedGiftResponse, error) {
	_, err := proto.Marshal(r)
	require.NoError(f.t, err, "invalid text must be rejected before the call")
	f.thanks = append(f.thanks, r.GetText())
	if f.claimedBy == "" || r.GetFormNonce() != f.claimedBy {
		return nil, problem.RecordNotFound()
	}
	if f.thankErr == nil {
		f.order.Gift.Thanks, f.order.Gift.AcceptsThanks = r.GetText(), false
	}
	return &linksv1.ThankForClaimedGiftResponse{}, f.thankErr
}

// The limits of the site in the tests.
const (
	maxVisits     = 50
	maxClaims     = 20
	maxLinkVisits = 30
	maxLinkClaims = 10
)

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		t: t, now: time.Now(), page: openPage(), drafts: map[string]*linksv1.ClaimDraft{}, order: placedOrder(),
		claimed: &linksv1.ClaimLinkResponse{State: linksv1.ClaimState_CLAIM_STATE_CLAIMED, OrderReference: proto.String("NP-1")},
	}
	limited := func(name string, address, link int) Limits {
		policy := limits.Policy{Name: name, Limit: address, Window: time.Minute}
		l, err := limits.New(limits.Deps{Meter: noop.Meter{}, Clock: time.Now}, limits.Config{Policy: policy})
		require.NoError(t, err)
		return Limits{Address: l, Link: limits.NewWindow(limits.Policy{Limit: link, Window: time.Minute}, time.Now)}
	}
	site, err := New(Deps{
		Links: f, Visits: limited("visits", maxVisits, maxLinkVisits), Claims: limited("claims", maxClaims, maxLinkClaims),
		ClientIP: func(r *http.Request) string { return r.RemoteAddr },
		Clock:    func() time.Time { return f.now },
		Log:      slog.New(slog.NewJSONHandler(&f.log, nil)),
	}, Config{PublicURL: public, ImagesPath: "/catalog/images/"})
	require.NoError(t, err)
	f.site = site
	return f
}

func openPage() *linksv1.GetClaimPageResponse {
	return &linksv1.GetClaimPageResponse{
		State: linksv1.ClaimState_CLAIM_STATE_OPEN, Locale: "en-US", Label: "Astrid <3", Message: proto.String("Five years & counting"),
		Brand: &linksv1.ClaimBrand{
			Name: "Nordlys Casino", PrimaryColour: proto.String("#1B4B8F"),
			LogoUrl: proto.String("https://gifts.example/api/public/v1/catalog/images/logo"),
		},
		Gifts: []*linksv1.ClaimGift{
			{
				ProductId: "truffles", Name: "Dark truffles", Description: "With 70 % cocoa.", Countries: []string{"SE", "DE"},
				Images: []*linksv1.ClaimImage{
					{Url: public + "/catalog/images/t320", Width: proto.Int32(320)},
					{Url: public + "/catalog/images/t"},
					{Url: public + "/catalog/images/second"},
				},
			},
			{
				ProductId: "shirt", Name: "Sweatshirt", Countries: []string{"SE", "IE"},
				Variations: []*linksv1.ClaimVariation{
					{Dimension: "Size", Values: []string{"S", "M"}}, {Dimension: "Colour", Values: []string{"Navy", "Grey"}},
				},
				Choices: []*linksv1.ClaimChoice{
					{Variations: map[string]string{"Size": "S", "Colour": "Navy"}}, {Variations: map[string]string{"Size": "M", "Colour": "Grey"}},
				},
			},
			{ProductId: "vase", Name: "Glass vase", Countries: []string{"SE"}, OutOfStock: true},
		},
	}
}

// placedOrder is what the player sees of an order that is being packed.
func placedOrder() *linksv1.GetClaimedGiftResponse {
	return &linksv1.GetClaimedGiftResponse{
		Progress: linksv1.ClaimProgress_CLAIM_PROGRESS_PREPARING,
		Gift: &linksv1.ClaimedGift{
			Reference: "NP-1", ProductName: "Dark truffles", CorrectableVersion: proto.Int64(3),
			MaskedRecipient: &linksv1.ClaimRecipient{Name: "A••• L•••", Phone: "•••67", Street: "St•••", City: "Visby", Country: "SE"},
		},
	}
}

// answer is a response.
type answer struct {
	*httptest.ResponseRecorder

	body string
}

// do sends a request. Headers are pairs of name and value.
func (f *fixture) do(method, target, body string, headers ...string) answer {
	f.t.Helper()
	r := httptest.NewRequestWithContext(f.t.Context(), method, "https://gifts.example"+target, strings.NewReader(body))
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	if f.nonce != "" && r.Header.Get("Cookie") == "" {
		r.Header.Set("Cookie", formCookie+"="+f.nonce)
	}
	rec := httptest.NewRecorder()
	rec.Header().Set("Request-Id", "a-request")
	f.site.ServeHTTP(rec, r)
	for _, cookie := range rec.Result().Cookies() {
		if cookie.Name == formCookie {
			f.nonce = cookie.Value
		}
	}
	return answer{ResponseRecorder: rec, body: rec.Body.String()}
}

func (f *fixture) get(query string) answer {
	f.t.Helper()
	return f.do(http.MethodGet, "/c/"+token+query, "")
}

// send posts a form like a page of the site.
func (f *fixture) send(values url.Values) answer {
	f.t.Helper()
	return f.sendTo(token, values)
}

func (f *fixture) sendTo(token string, values url.Values) answer {
	f.t.Helper()
	return f.do(http.MethodPost, "/c/"+token, values.Encode(),
		"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "Origin", "null")
}

// follow sends a form and shows the page to which it redirects.
func (f *fixture) follow(values url.Values) answer {
	f.t.Helper()
	sent := f.send(values)
	require.Equal(f.t, http.StatusSeeOther, sent.Code, sent.body)
	require.Empty(f.t, sent.body)
	got := f.do(http.MethodGet, sent.Header().Get("Location"), "")
	for range 3 {
		if got.Code != http.StatusSeeOther {
			break
		}
		got = f.do(http.MethodGet, got.Header().Get("Location"), "")
	}
	require.NotEqual(f.t, http.StatusSeeOther, got.Code)
	return got
}

// choose is the form of a gift. Pairs of name and value are its choices.
func choose(gift string, choices ...string) url.Values {
	values := url.Values{"step": {stepGift}, "gift": {gift}}
	for pair := range slices.Chunk(choices, 2) {
		values.Set(pair[0], pair[1])
	}
	return values
}

// filled is a valid address. Changes are pairs of name and value.
func filled(changes ...string) url.Values {
	values := url.Values{
		"step": {stepAddress}, "name": {"Astrid Lindqvist"}, "street": {"Storgatan 1"}, "postalCode": {"111 22"},
		"city": {"Visby"}, "country": {"SE"}, "phone": {"+46701234567"}, "email": {""},
	}
	for pair := range slices.Chunk(changes, 2) {
		values.Set(pair[0], pair[1])
	}
	return values
}

var hiddenInput = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// again is what the button of a page sends that could not keep a form.
func (a answer) again() url.Values {
	values := url.Values{}
	for _, in := range hiddenInput.FindAllStringSubmatch(a.body, -1) {
		values.Add(html.UnescapeString(in[1]), html.UnescapeString(in[2]))
	}
	return values
}

// review fills the forms up to the review.
func (f *fixture) review() {
	f.t.Helper()
	f.follow(choose("truffles"))
	require.Contains(f.t, f.follow(filled()).body, "Is everything right?")
}

// confirm is the form of the review that the browser sees now.
func (f *fixture) confirm() url.Values {
	return url.Values{"step": {stepReview}, "version": {strconv.FormatInt(f.drafts[f.nonce].GetVersion(), 10)}}
}
