package giftsite

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric/noop"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/pkg/problem"
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
	linksv1.GiftSiteServiceClient

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
	// claims are the claims that were made, reads the tokens that were read.
	claims []*linksv1.ClaimLinkRequest
	reads  []string
}

func (f *fixture) GetClaimPage(ctx context.Context, r *linksv1.GetClaimPageRequest, _ ...grpc.CallOption) (*linksv1.GetClaimPageResponse, error) {
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

func (f *fixture) ClaimLink(ctx context.Context, r *linksv1.ClaimLinkRequest, _ ...grpc.CallOption) (*linksv1.ClaimLinkResponse, error) {
	_, bounded := ctx.Deadline()
	require.True(f.t, bounded)
	_, err := proto.Marshal(r)
	require.NoError(f.t, err, "invalid text must be rejected before the call")
	f.claims = append(f.claims, r)
	if f.failure != nil && (f.failures == 0 || len(f.claims) <= f.failures) {
		return nil, f.failure
	}
	return f.claimed, nil
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
		t: t, now: time.Now(), page: openPage(),
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
	}, Config{PublicURL: public})
	require.NoError(t, err)
	f.site = site
	return f
}

func openPage() *linksv1.GetClaimPageResponse {
	return &linksv1.GetClaimPageResponse{
		State: linksv1.ClaimState_CLAIM_STATE_OPEN, Locale: "en-US", Label: "Astrid <3", Message: proto.String("Five years & counting"),
		Brand: &linksv1.ClaimBrand{
			Name: "Nordlys Casino", PrimaryColour: proto.String("#1B4B8F"), LogoUrl: proto.String("https://gifts.example/api/public/v1/catalog/images/logo"),
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
	rec := httptest.NewRecorder()
	rec.Header().Set("Request-Id", "a-request")
	f.site.ServeHTTP(rec, r)
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

// filled is a valid form. Changes are pairs of name and value.
func filled(changes ...string) url.Values {
	values := url.Values{
		"step": {"send"}, "gift": {"truffles"}, "name": {"Astrid Lindqvist"}, "street": {"Storgatan 1"}, "postalCode": {"111 22"},
		"city": {"Visby"}, "country": {"SE"}, "phone": {"+46701234567"}, "email": {""},
	}
	for pair := range slices.Chunk(changes, 2) {
		values.Set(pair[0], pair[1])
	}
	return values
}
